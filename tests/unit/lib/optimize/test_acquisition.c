/* test_acquisition.c - acquisitions against Monte Carlo and finite differences, cells
 * against the hypervolume. */
#include "base/rng.h"
#include "tests/unit/support/dominates.h"
#include "optimize/pareto/pareto.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	POINTS = 7,
	DRAWS = 200000
};

static void random_front(struct dp_rng *r, size_t p, size_t n, double *y)
{
	for (size_t i = 0; i < n * p; i++)
		y[i] = dp_rng_uniform(r);
}

static void cells_fill_the_region(void **state)
{
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 5, DP_RNG_TEST, 1, 0);
	for (int round = 0; round < 60; round++) {
		size_t p = 1 + (size_t)round % 4, n = dp_rng_below(&r, 25);
		double y[25 * 4], ref[4] = { 0.9, 0.8, 0.95, 0.7 }, v, sum = 0, box = 1;
		struct dp_box_decomposition c;

		random_front(&r, p, n, y);
		if (n > 3) /* ties and repeats */
			memcpy(y + p, y, p * sizeof *y);
		assert_int_equal(dp_box_decompose(y, n, p, ref, 100000, &c), DP_OK);
		v = dp_hypervolume(y, n, p, ref);
		for (size_t j = 0; j < p; j++)
			box *= ref[j];
		for (size_t i = 0; i < c.count; i++) {
			double one = 1;

			for (size_t j = 0; j < p; j++)
				one *= c.upper[i * p + j] - fmax(0, c.lower[i * p + j]);
			sum += one;
		}
		assert_true(fabs(sum + v - box) < 1e-12);
		for (int k = 0; k < 200; k++) { /* every point in exactly one, or dominated */
			double z[4];
			size_t in = 0, below = 0;

			for (size_t j = 0; j < p; j++)
				z[j] = ref[j] * dp_rng_uniform(&r);
			for (size_t i = 0; i < c.count; i++) {
				size_t j = 0;

				while (j < p && z[j] > c.lower[i * p + j] &&
				       z[j] <= c.upper[i * p + j])
					j++;
				in += j == p;
			}
			for (size_t i = 0; i < n && !below; i++)
				below = dominates(y + i * p, z, p);
			assert_int_equal(in, below ? 0 : 1);
		}
		if (p == 2 && n == 0)
			assert_int_equal(c.count, 1);
		dp_box_decomposition_free(&c);
	}
	{
		double y[2] = { 0.5, 0.5 }, ref[2] = { 1, 1 };
		struct dp_box_decomposition c;

		assert_int_equal(dp_box_decompose(y, 1, 2, ref, 1, &c), DP_E_LIMIT);
	}
}

/* Gain of one value over the front, by the hypervolume itself. */
static double gain(const double *front, size_t n, size_t p, const double *ref, const double *z)
{
	double all[(POINTS + 1) * 3], with, without;

	memcpy(all, front, n * p * sizeof *all);
	memcpy(all + n * p, z, p * sizeof *all);
	without = dp_hypervolume(all, n, p, ref);
	with = dp_hypervolume(all, n + 1, p, ref);
	return with - without;
}

static const struct dp__acquisition *named(enum dp_acquisition a)
{
	struct dp_study s;

	memset(&s, 0, sizeof s);
	s.search.acquisition = a;
	return dp__acquisition_get(&s);
}

struct scene {
	size_t p;
	enum dp__distribution shapes[3];
	double front[POINTS * 3], ref[3];
	struct dp__normal f[3];
	struct dp__box_partitioning t;
};

/* Natural values to minimise in 0..1 (or -1..0 for what is maximised). */
static void make_scene(struct scene *s, struct dp_rng *r, size_t p,
		       const enum dp__distribution *shapes)
{
	memset(s, 0, sizeof *s);
	s->p = p;
	memcpy(s->shapes, shapes, p * sizeof *shapes);
	for (size_t j = 0; j < p; j++) {
		bool max = shapes[j] == DP__DIST_LOGNORMAL_MAX ||
			   shapes[j] == DP__DIST_LOGITNORMAL_MAX;

		for (size_t i = 0; i < POINTS; i++)
			s->front[i * p + j] = dp_rng_uniform(r) * 0.9 - max;
		s->ref[j] = 0.95 - max;
		s->f[j].mean =
			dp__distribution_from_min(shapes[j], 0.1 + 0.5 * dp_rng_uniform(r) - max);
		s->f[j].sd =
			(shapes[j] == DP__DIST_NORMAL ? 0.2 : 0.7) * (0.02 + dp_rng_uniform(r));
	}
	dp__box_partitioning_init(&s->t, p, shapes, s->front, POINTS, s->ref, false);
}

static const enum dp__distribution shape_sets[][3] = {
	{ DP__DIST_LOGNORMAL, DP__DIST_LOGITNORMAL, DP__DIST_NORMAL },
	{ DP__DIST_NORMAL, DP__DIST_NORMAL, DP__DIST_LOGNORMAL },
	{ DP__DIST_LOGITNORMAL_MAX, DP__DIST_LOGNORMAL_MAX, DP__DIST_LOGITNORMAL },
};

static void expectations_are_monte_carlo(void **state)
{
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 9, DP_RNG_TEST, 2, 0);
	for (size_t p = 2; p <= 3; p++) {
		for (size_t k = 0; k < DP_COUNT(shape_sets); k++) {
			double sum = 0, square = 0, hits = 0, z[3], error, se, poi;
			struct scene s;

			make_scene(&s, &r, p, shape_sets[k]);
			for (int i = 0; i < DRAWS; i++) {
				double g;

				for (size_t j = 0; j < p; j++)
					z[j] = dp__distribution_to_min(
						s.shapes[j],
						s.f[j].mean + s.f[j].sd * dp_rng_normal(&r));
				g = gain(s.front, POINTS, p, s.ref, z);
				sum += g;
				square += g * g;
				hits += g > 1e-12; /* less is rounding */
			}
			sum /= DRAWS;
			hits /= DRAWS;
			se = sqrt((square / DRAWS - sum * sum) / DRAWS);
			error = exp(named(DP_ACQUISITION_EHVI)->log_value(&s.t, s.f, NULL)) - sum;
			assert_true(fabs(error) < 4.5 * se + 1e-12);
			poi = exp(named(DP_ACQUISITION_POI)->log_value(&s.t, s.f, NULL));
			assert_true(fabs(poi - hits) <
				    4.5 * sqrt(hits * (1 - hits) / DRAWS) + 2e-5);
			/* hvpoi: that probability times the gain of the median */
			for (size_t j = 0; j < p; j++)
				z[j] = dp__distribution_to_min(s.shapes[j], s.f[j].mean);
			error = exp(named(DP_ACQUISITION_HVPOI)->log_value(&s.t, s.f, NULL)) -
				poi * gain(s.front, POINTS, p, s.ref, z);
			assert_true(fabs(error) < 1e-12);
			dp__box_partitioning_free(&s.t);
		}
	}
}

static void check_slopes(struct scene *s, const struct dp__acquisition *a)
{
	double g[6], value = a->log_value(&s->t, s->f, g);

	if (isinf(value))
		return;
	for (size_t j = 0; j < 2 * s->p; j++) {
		struct dp__normal lo[3], hi[3];
		double step = 1e-6, slope;

		memcpy(lo, s->f, sizeof lo);
		memcpy(hi, s->f, sizeof hi);
		if (j < s->p) {
			lo[j].mean -= step;
			hi[j].mean += step;
		} else {
			lo[j - s->p].sd -= step;
			hi[j - s->p].sd += step;
		}
		slope = (a->log_value(&s->t, hi, NULL) - a->log_value(&s->t, lo, NULL)) /
			(2 * step);
		assert_true(fabs(slope - g[j]) < 2e-4 * (1 + fabs(g[j])));
	}
}

static void slopes_are_finite_differences(void **state)
{
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 10, DP_RNG_TEST, 3, 0);
	for (int round = 0; round < 30; round++) {
		struct scene s;

		make_scene(&s, &r, 2 + (size_t)round % 2,
			   shape_sets[(size_t)round % DP_COUNT(shape_sets)]);
		check_slopes(&s, named(DP_ACQUISITION_EHVI));
		check_slopes(&s, named(DP_ACQUISITION_POI));
		check_slopes(&s, named(DP_ACQUISITION_HVPOI));
		s.t.gain_in_model_space = true;
		check_slopes(&s, named(DP_ACQUISITION_HVPOI));
		dp__box_partitioning_free(&s.t);
	}
}

/* With zero variance the expected gain is the gain, and the small-sd forms meet the
 * others. */
static void exact_values_and_small_sds(void **state)
{
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 12, DP_RNG_TEST, 4, 0);
	for (size_t k = 0; k < DP_COUNT(shape_sets); k++) {
		double z[3], want, got, a, b;
		struct scene s;

		make_scene(&s, &r, 2, shape_sets[k]);
		for (size_t j = 0; j < 2; j++) {
			s.f[j].sd = 0;
			z[j] = dp__distribution_to_min(s.shapes[j], s.f[j].mean);
		}
		want = gain(s.front, POINTS, 2, s.ref, z);
		got = exp(named(DP_ACQUISITION_EHVI)->log_value(&s.t, s.f, NULL));
		assert_true(fabs(got - want) < 1e-12);
		for (size_t j = 0; j < 2; j++)
			s.f[j].sd = 0.03 - 1e-9;
		a = exp(named(DP_ACQUISITION_EHVI)->log_value(&s.t, s.f, NULL));
		for (size_t j = 0; j < 2; j++)
			s.f[j].sd = 0.03 + 1e-9;
		b = exp(named(DP_ACQUISITION_EHVI)->log_value(&s.t, s.f, NULL));
		assert_true(fabs(a - b) < 2e-9);
		dp__box_partitioning_free(&s.t);
	}
}

/* gain: model on a front whose area is plain to see: steps at (0, 2), (1, 1), (2, 0)
 * below the reference (3, 3), in model space. */
static void a_gain_in_model_space_by_hand(void **state)
{
	const double steps[4][2] = { { 0, 2 }, { 1, 1 }, { 2, 0 }, { 3, 3 } };
	const struct dp__normal f[2] = { { 0.5, 0.8 }, { 0.5, 0.6 } };
	const double area = 1.25; /* (3 - 0.5)^2 less the 5 that is dominated */
	double y[4][2], below[4], at[4], want, got;

	(void)state;
	for (size_t k = 0; k < DP_COUNT(shape_sets); k++) {
		struct dp__box_partitioning t;

		for (size_t i = 0; i < 8; i++)
			y[i / 2][i % 2] =
				dp__distribution_to_min(shape_sets[k][i % 2], steps[i / 2][i % 2]);
		dp__box_partitioning_init(&t, 2, shape_sets[k], y[0], 3, y[3], true);
		for (size_t i = 0; i < 4; i++) {
			below[i] = 0.5 * erfc((0.5 - (double)i) / 0.8 / sqrt(2));
			at[i] = 0.5 * erfc((0.5 - (double)i) / 0.6 / sqrt(2));
		}
		want = below[0] * at[3] + (below[1] - below[0]) * at[2] +
		       (below[2] - below[1]) * at[1] + (below[3] - below[2]) * at[0];
		got = exp(named(DP_ACQUISITION_HVPOI)->log_value(&t, f, NULL));
		assert_true(fabs(got - area * want) < 1e-12);
		dp__box_partitioning_free(&t);
	}
}

/* The same on any front: the hypervolume of transformed values is the oracle. */
static void a_gain_in_model_space_is_the_hypervolume(void **state)
{
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 13, DP_RNG_TEST, 5, 0);
	for (int round = 0; round < 30; round++) {
		size_t p = 2 + (size_t)round % 2;
		double z[POINTS * 3], ref[3], m[3], want, got;
		struct scene s;

		make_scene(&s, &r, p, shape_sets[(size_t)round % DP_COUNT(shape_sets)]);
		for (size_t i = 0; i < POINTS * p; i++)
			z[i] = dp__distribution_from_min(s.shapes[i % p], s.front[i]);
		for (size_t j = 0; j < p; j++) {
			ref[j] = dp__distribution_from_min(s.shapes[j], s.ref[j]);
			m[j] = s.f[j].mean;
		}
		s.t.gain_in_model_space = true;
		want = gain(z, POINTS, p, ref, m) *
		       exp(named(DP_ACQUISITION_POI)->log_value(&s.t, s.f, NULL));
		got = exp(named(DP_ACQUISITION_HVPOI)->log_value(&s.t, s.f, NULL));
		assert_true(fabs(got - want) < 1e-10 * (1 + want));
		dp__box_partitioning_free(&s.t);
	}
}

static void beyond_the_reference_nothing_is_gained(void **state)
{
	const enum dp__distribution shapes[2] = { DP__DIST_LOGNORMAL, DP__DIST_LOGITNORMAL };
	double front[2] = { 1, 0.3 }, ref[2] = { 10, 1 };
	struct dp__normal f[2] = { { 2.5, 0 }, { -1, 0.2 } }; /* epsilon 12.2, exact */
	struct dp__box_partitioning t;

	(void)state;
	dp__box_partitioning_init(&t, 2, shapes, front, 1, ref, false);
	assert_true(isinf(named(DP_ACQUISITION_EHVI)->log_value(&t, f, NULL)));
	assert_true(isinf(named(DP_ACQUISITION_HVPOI)->log_value(&t, f, NULL)));
	f[0].mean = -50; /* next to nothing of epsilon: finite, whatever the sd */
	f[1] = (struct dp__normal){ 300, 40 };
	assert_true(isfinite(named(DP_ACQUISITION_EHVI)->log_value(&t, f, NULL)));
	dp__box_partitioning_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_fill_the_region),
		cmocka_unit_test(expectations_are_monte_carlo),
		cmocka_unit_test(slopes_are_finite_differences),
		cmocka_unit_test(exact_values_and_small_sds),
		cmocka_unit_test(a_gain_in_model_space_by_hand),
		cmocka_unit_test(a_gain_in_model_space_is_the_hypervolume),
		cmocka_unit_test(beyond_the_reference_nothing_is_gained),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
