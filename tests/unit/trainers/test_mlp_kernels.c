/* test_mlp_kernels.c - the inner loops of networks, of every kind of register. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/support/mlp_plain.h"

/* ---- kernels ---- */

enum {
	ROWS = 24,
	DEPTH = 37
};

struct product_case {
	float a[DEPTH][ROWS]; /* A' */
	float b[DEPTH * MLP_PANEL_OUTPUTS] __attribute__((aligned(64)));
	float c[ROWS * (MLP_PANEL_OUTPUTS + 16)] __attribute__((aligned(64)));
	double expected[ROWS * (MLP_PANEL_OUTPUTS + 16)];
};

static void make_product(struct product_case *t, size_t width, bool add)
{
	struct dp_rng rng;

	dp_rng_init(&rng, width, DP_RNG_TEST, add, 0);
	for (size_t k = 0; k < DEPTH; k++)
		for (size_t i = 0; i < ROWS; i++)
			t->a[k][i] = dp_rng_uniform(&rng) < 0.6 ? 0 : (float)dp_rng_normal(&rng);
	for (size_t i = 0; i < DP_COUNT(t->b); i++)
		t->b[i] = (float)dp_rng_normal(&rng);
	for (size_t i = 0; i < DP_COUNT(t->c); i++)
		t->expected[i] = t->c[i] = (float)dp_rng_normal(&rng);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < width; j++) {
			double *x = &t->expected[i * (MLP_PANEL_OUTPUTS + 16) + j];

			*x = add ? *x : 0;
			for (size_t k = 0; k < DEPTH; k++)
				*x += (double)t->a[k][i] * t->b[k * width + j];
		}
}

static void sparse_product(const struct mlp_kernels *k, const struct mlp_product *p,
			   const struct product_case *t)
{
	uint32_t from[ROWS / MLP_GROUP_ROWS], to[ROWS / MLP_GROUP_ROWS], n = 0;
	float value[ROWS * DEPTH];
	uint16_t index[ROWS * DEPTH];

	for (size_t g = 0; g < ROWS / MLP_GROUP_ROWS; g++) {
		from[g] = n;
		for (uint16_t d = 0; d < DEPTH; d++) {
			const float *x = &t->a[d][g * MLP_GROUP_ROWS];

			if (x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 0)
				continue;
			index[n] = d;
			memcpy(value + n++ * (size_t)MLP_GROUP_ROWS, x, MLP_GROUP_ROWS * sizeof *x);
		}
		to[g] = n;
	}
	k->sparse(p, &(struct mlp_sparse){ from, to, index, value });
}

static void check_products(const struct mlp_kernels *k, size_t width, bool add)
{
	struct product_case t;
	struct mlp_product p = { .b = t.b,
				 .c = t.c,
				 .rows = ROWS,
				 .width = width,
				 .c_stride = MLP_PANEL_OUTPUTS + 16,
				 .accumulate = add };

	make_product(&t, width, add);
	k->dense(&p, &(struct mlp_dense){ t.a[0], 1, ROWS, DEPTH });
	assert_close(t.c, t.expected, DP_COUNT(t.c), 1e-6);
	make_product(&t, width, add);
	sparse_product(k, &p, &t);
	assert_close(t.c, t.expected, DP_COUNT(t.c), 1e-6);
}

static void check_rows(const struct mlp_kernels *k)
{
	float x[32] __attribute__((aligned(64))), y[32] __attribute__((aligned(64)));
	double sum = 0;

	for (int i = 0; i < 32; i++)
		x[i] = y[i] = (float)(i % 2 ? i : -i);
	assert_float_equal(k->sum_squares(x + 1, 29), 29 * 30 * 59 / 6.0, 1e-2);
	for (int i = 1; i < 32; i += 2)
		sum += i * i;
	assert_float_equal(k->relu(x, 32), sum, 1e-2);
	for (int i = 0; i < 32; i++)
		assert_true(x[i] == (i % 2 ? i : 0));
	assert_float_equal(k->relu_backward(y, x, 32), sum, 1e-2);
	assert_memory_equal(x, y, sizeof x);
	x[3] = NAN;
	assert_true(isnan(k->relu(x, 32)) && isnan(x[3]));
	k->scale(y, y, 2, 16);
	for (int i = 1; i < 32; i += 2)
		assert_true(y[i] == (i < 16 ? 2 * i : i));
}

static void test_kernels(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(kernels); i++) {
		const struct mlp_kernels *k = mlp__kernels_select(kernels[i]);

		if (!k) {
			print_message("%s skipped: not on this machine\n", kernels[i]);
			continue;
		}
		for (size_t width = 16; width <= MLP_PANEL_OUTPUTS; width += 16) {
			check_products(k, width, false);
			check_products(k, width, true);
		}
		check_rows(k);
	}
	assert_null(mlp__kernels_select("mmx"));
	assert_non_null(mlp__kernels_select("portable"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
