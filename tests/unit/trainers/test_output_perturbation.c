/* test_output_perturbation.c - output perturbation: against a plain training in dense vectors, its
 * sensitivity on neighbouring data, and its noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/made_rows.h"
#include "trainers/learn/learn.h"

enum {
	FEATURES = 40,
	WEIGHTS = FEATURES + 1
};

static void train(const struct output_perturbation *o, const struct sparse_rows *r, float *w)
{
	struct noise_stream order, noise;
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };

	noise_stream_init_seeded(&order, 5, NOISE_LOTS);
	noise_stream_init_seeded(&noise, 5, NOISE_GRADIENT);
	assert_int_equal(output_perturbation_train(o, r, &order, &noise, &pulse, w, NULL), DP_OK);
}

/* Algorithm 2 with dense vectors and explicit projections, no noise. */
static void plain_train(const struct output_perturbation *o, const struct sparse_rows *r, double *w)
{
	const struct sgd all = { .lot_size = r->n };
	double gamma = o->regularization;
	struct noise_stream order;
	struct lot_sampler lots;
	long t = 0;

	memset(w, 0, WEIGHTS * sizeof *w);
	noise_stream_init_seeded(&order, 5, NOISE_LOTS);
	assert_int_equal(lot_sampler_init(&lots, &order, r->n, &all, NULL), DP_OK);
	for (uint32_t pass = 0; pass < o->passes; pass++) {
		uint32_t n;
		const uint32_t *ids = lot_sampler_next(&lots, &n);

		for (uint32_t i = 0; i < n; i++) {
			double x[WEIGHTS], eta, margin = 0, norm = 0, shrink, delta;

			dense_row(r, ids[i], x);
			for (size_t k = 0; k < WEIGHTS; k++)
				norm += x[k] * o->row_scale * x[k] * o->row_scale;
			shrink = norm > 1 ? 1 / sqrt(norm) : 1;
			for (size_t k = 0; k < WEIGHTS; k++) {
				x[k] *= o->row_scale * shrink;
				margin += x[k] * w[k];
			}
			eta = fmin(1 / (1 + gamma), 1 / (gamma * (double)++t));
			delta = 1 / (1 + exp(-margin)) - r->label[ids[i]];
			norm = 0;
			for (size_t k = 0; k < WEIGHTS; k++) {
				w[k] -= eta * (delta * x[k] + gamma * w[k]);
				norm += w[k] * w[k];
			}
			for (size_t k = 0; k < WEIGHTS && sqrt(norm) > 1 / gamma; k++)
				w[k] *= 1 / gamma / sqrt(norm);
		}
	}
	lot_sampler_free(&lots);
}

static void test_against_plain(void **state)
{
	static const double gammas[] = { 1e-4, 1e-2, 1, 30 };
	static const double scales[] = { 0.3, 0.9 }; /* the latter too large for most */

	(void)state;
	for (int values = 0; values < 2; values++) {
		struct sparse_rows r = made_rows(900, FEATURES, 8, values, 3);

		for (size_t g = 0; g < DP_COUNT(gammas); g++) {
			for (size_t s = 0; s < DP_COUNT(scales); s++) {
				struct output_perturbation o = { gammas[g], 0, 4, scales[s] };
				double plain[WEIGHTS], size = 0;
				float w[48];

				train(&o, &r, w);
				plain_train(&o, &r, plain);
				for (size_t k = 0; k < WEIGHTS; k++)
					size = fmax(size, fabs(plain[k]));
				for (size_t k = 0; k < WEIGHTS; k++)
					assert_true(fabs(w[k] - o.row_scale * plain[k]) <
						    1e-6 * o.row_scale * size);
				for (size_t k = WEIGHTS; k < 48; k++)
					assert_true(w[k] == 0);
			}
		}
		free_rows(&r);
	}
}

/* Trainings on data that differ in one record end within the promised distance, for
 * every record; and the distance is no smaller than it has to be by much. */
static void check_sensitivity(double gamma, uint32_t passes)
{
	struct sparse_rows a = made_rows(150, FEATURES, 8, false, 4);
	struct output_perturbation o = { gamma, 0, passes, 1.0 / 3 };
	uint8_t *label = (uint8_t *)a.label;
	double bound = 4 / (gamma * a.n), largest = 0;
	float w[48], v[48];

	train(&o, &a, w);
	for (uint32_t i = 0; i < a.n; i++) {
		double sum = 0;

		label[i] ^= 1;
		train(&o, &a, v);
		label[i] ^= 1;
		for (size_t k = 0; k < WEIGHTS; k++)
			sum += pow(((double)w[k] - v[k]) / o.row_scale, 2);
		largest = fmax(largest, sqrt(sum));
	}
	assert_true(largest <= bound);
	assert_true(largest >= bound / 50);
	free_rows(&a);
}

static void test_sensitivity(void **state)
{
	(void)state;
	check_sensitivity(1, 1);
	check_sensitivity(1, 10);
	check_sensitivity(0.1, 10);
	check_sensitivity(10, 3);
}

static void test_noise(void **state)
{
	enum {
		WIDE = 40000
	};
	struct sparse_rows r = made_rows(30, WIDE, 20, false, 6);
	size_t width = linear_count_weights(WIDE);
	float *with = calloc(width, sizeof *with), *without = calloc(width, sizeof *with);
	struct output_perturbation o = { 0.1, 2.5, 2, 0.2 };
	double sum = 0, squares = 0;

	(void)state;
	train(&o, &r, with);
	o.sigma = 0;
	train(&o, &r, without);
	for (size_t k = 0; k <= WIDE; k++) {
		double z = ((double)with[k] - without[k]) / (2.5 * o.row_scale);

		sum += z;
		squares += z * z;
	}
	assert_true(fabs(sum / WIDE) < 4 / sqrt(WIDE));
	assert_true(fabs(squares / WIDE - 1) < 4 * sqrt(2.0 / WIDE) + 1e-4);
	free(with);
	free(without);
	free_rows(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_plain),
		cmocka_unit_test(test_sensitivity),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
