/* test_mlp_streams.c - networks: the random start, repeats, and the noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/mlp_plain.h"

/* ---- streams ---- */

static void test_start(void **state)
{
	const struct mlp_shape m = { 3, { 100, 200, 150, 10 } };
	const struct sgd how = { .epochs = 1, .lot_size = 2, .learning_rate = 0, .clip = 1 };
	struct sparse_rows r = class_rows(4, 100, 20, true, 10);
	float *w = calloc(mlp_count_weights(&m), sizeof *w), *at = w;

	(void)state;
	train(&m, MLP_INPUT_AUTO, &r, &how, 1, w);
	for (size_t l = 0; l < m.nlayers; l++) {
		size_t n = m.width[l] * m.width[l + 1];
		double sum = 0, square = 0, variance = (l == 2 ? 1.0 : 2.0) / m.width[l];

		for (size_t i = 0; i < n; i++) {
			sum += at[i];
			square += at[i] * at[i];
		}
		/* 4 standard errors */
		assert_float_equal(sum / sqrt(n * variance), 0, 4);
		assert_float_equal((square / variance - n) / sqrt(2.0 * n), 0, 4);
		for (size_t i = 0; i < m.width[l + 1]; i++)
			assert_true(at[n + i] == 0);
		at += n + m.width[l + 1];
	}
	free(w);
	free_rows(&r);
}

static void test_repeats(void **state)
{
	const struct mlp_shape m = { 3, { 40, 70, 20, 4 } };
	const struct sgd how = {
		.epochs = 3, .lot_size = 10, .learning_rate = 0.1, .clip = 1, .noise_multiplier = 1
	};
	struct sparse_rows r = class_rows(60, 40, 10, true, 4);
	size_t n = mlp_count_weights(&m);
	float *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
	double *sparse;

	(void)state;
	train(&m, MLP_INPUT_SPARSE, &r, &how, 7, a);
	train(&m, MLP_INPUT_SPARSE, &r, &how, 7, b);
	assert_memory_equal(a, b, n * sizeof *a);
	/* the same lots and the same noise */
	train(&m, MLP_INPUT_DENSE, &r, &how, 7, b);
	sparse = doubles(a, n);
	assert_close(b, sparse, n, 1e-5);
	train(&m, MLP_INPUT_SPARSE, &r, &how, 8, b);
	assert_true(memcmp(a, b, n * sizeof *a) != 0);
	free(a);
	free(b);
	free(sparse);
	free_rows(&r);
}

/* Zeros are skipped where there are many and the first layer is wide. */
static void test_automatic(void **state)
{
	static const struct {
		uint32_t most, width;
		bool sparse;
	} cases[] = { { 10, 1000, true }, { 10, 16, false }, { 30, 1000, false } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		const struct mlp_shape m = { 2, { 50, cases[i].width, 3 } };
		struct sparse_rows r = class_rows(40, 50, cases[i].most, true, 3);
		struct mlp_net net;

		mlp__net_init(&net, &m, MLP_INPUT_AUTO, mlp__kernels_select(NULL), &r, 8);
		assert_int_equal(net.input.sparse, cases[i].sparse);
		mlp__net_free(&net);
		free_rows(&r);
	}
}

/* Weights after one step with next to no gradient, less those before, in the standard
 * deviations that the noise should have. */
static double *noise_of_step(const struct mlp_shape *m, const struct sparse_rows *r,
			     const struct sgd *how, enum mlp_input_mode path)
{
	float *w = calloc(mlp_count_weights(m), sizeof *w);
	double *z, sd = how->learning_rate * how->noise_multiplier * how->clip *
			(how->is_poisson ? 1 : 2) / how->lot_size;

	descend(m, path, NULL, r, how, w);
	z = doubles(w, mlp_count_weights(m));
	for (size_t i = 0; i < mlp_count_weights(m); i++)
		z[i] /= sd;
	free(w);
	return z;
}

static int compare_cost_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Mean, variance, neighbours and Kolmogorov and Smirnov's distance of n normals. */
static void check_normals(double *z, size_t n)
{
	double sum = 0, square = 0, next = 0, distance = 0;

	for (size_t i = 0; i < n; i++) {
		sum += z[i];
		square += z[i] * z[i];
		next += i > 0 ? z[i] * z[i - 1] : 0;
	}
	assert_float_equal(sum / sqrt((double)n), 0, 4);
	assert_float_equal((square - (double)n) / sqrt(2.0 * (double)n), 0, 4);
	assert_float_equal(next / sqrt((double)n), 0, 4);
	qsort(z, n, sizeof *z, compare_cost_doubles);
	for (size_t i = 0; i < n; i++) {
		double below = 0.5 * erfc(-z[i] / M_SQRT2);

		distance = fmax(distance, fmax((double)(i + 1) / n - below, below - (double)i / n));
	}
	assert_true(distance * sqrt((double)n) < 2.2); /* once in 8000 */
}

static void test_noise(void **state)
{
	const struct mlp_shape m = { 3, { 60, 100, 40, 10 } };
	struct sparse_rows r = class_rows(600, 60, 9, true, 10);
	size_t n = mlp_count_weights(&m);

	(void)state;
	for (int i = 0; i < 8; i++) {
		/* the second half: lots of more than a chunk */
		struct sgd how = { .epochs = 1,
				   .lot_size = i < 4 ? 300 : 600,
				   .learning_rate = 0.25,
				   .clip = 1e-4,
				   .noise_multiplier = 1e4,
				   .is_poisson = i % 4 / 2 };
		double *z = noise_of_step(&m, &r, &how, paths[i % 2]), square = 0;

		if (i < 4) { /* two steps */
			for (size_t k = 0; k < n; k++)
				z[k] /= M_SQRT2;
		}
		/* biases of the first and of the last layer have their share */
		for (size_t k = 0; k < 100; k++)
			square += pow(z[60 * 100 + k], 2);
		for (size_t k = n - 10; k < n; k++)
			square += pow(z[k], 2);
		assert_float_equal((square - 110) / sqrt(220), 0, 4.5);
		check_normals(z, n);
		free(z);
	}
	free_rows(&r);
}

/* The first step of Adam is `rate` for every weight, up or down as its noise says. */
static void test_adam_noise(void **state)
{
	const struct mlp_shape m = { 2, { 60, 100, 10 } };
	const struct sgd how = { .optimizer = OPTIMIZER_ADAM,
				 .epochs = 1,
				 .lot_size = 30,
				 .learning_rate = 0.25,
				 .clip = 1e-3,
				 .noise_multiplier = 1e3 };
	struct sparse_rows r = class_rows(30, 60, 9, true, 10);
	size_t n = mlp_count_weights(&m), up = 0;
	float *w = calloc(n, sizeof *w);

	(void)state;
	descend(&m, MLP_INPUT_SPARSE, NULL, &r, &how, w);
	for (size_t i = 0; i < n; i++) {
		assert_float_equal(fabsf(w[i]), 0.25, 1e-4);
		up += w[i] > 0;
	}
	assert_float_equal(((double)up - n / 2.0) / sqrt(n / 4.0), 0, 4);
	free(w);
	free_rows(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),      cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_automatic),  cmocka_unit_test(test_noise),
		cmocka_unit_test(test_adam_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
