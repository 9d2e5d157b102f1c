/* test_pareto.c - fronts and hypervolume against definitions, closed forms and
 * counting. */
#include "base/rng.h"
#include "tests/unit/support/dominates.h"
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
	P_MAX = 7
};

static double *make(size_t n, size_t p)
{
	double *y = malloc((n * p + 1) * sizeof *y);

	if (!y)
		abort();
	return y;
}

static double hv(const double *y, size_t n, size_t p, const double *ref)
{
	double v = NAN;

	v = dp_hypervolume(y, n, p, ref);
	return v;
}

static void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not within %g of %.17g", a, tolerance, b);
}

/* ---- dominance ---- */

/* Does u alone stay of the two? Of equal rows it would be v, which is first. */
static bool beats(const double *u, const double *v, size_t p)
{
	size_t front[2], count;
	double y[2 * P_MAX];

	memcpy(y, v, p * sizeof *y);
	memcpy(y + p, u, p * sizeof *y);
	count = dp_pareto_find_front(y, 2, p, front);
	return count == 1 && front[0] == 1;
}

static void test_dominates(void **state)
{
	static const double a[] = { 1, 2 }, b[] = { 1, 3 }, c[] = { 2, 1 };
	static const double nan1[] = { NAN, 0 }, low[] = { -INFINITY, 0 };
	static const double high[] = { INFINITY, INFINITY };
	static const double zero[] = { 0.0, 1 }, minus_zero[] = { -0.0, 1 };

	(void)state;
	assert_true(beats(a, b, 2));
	assert_false(beats(b, a, 2));
	assert_false(beats(a, a, 2));
	assert_false(beats(a, c, 2));
	assert_false(beats(c, a, 2));
	assert_false(beats(nan1, b, 2));
	assert_true(beats(a, nan1, 2)); /* which is on no front at all */
	assert_true(beats(low, a, 2));
	assert_true(beats(a, high, 2));
	assert_false(beats(high, high, 2));
	assert_false(beats(zero, minus_zero, 2));
	assert_true(beats(a, b + 1, 1));
}

static bool equal_rows(const double *u, const double *v, size_t p)
{
	for (size_t j = 0; j < p; j++)
		if (!(u[j] == v[j]))
			return false;
	return true;
}

/* By the definition in pareto.h. */
static bool belongs(const double *y, size_t n, size_t p, size_t i)
{
	for (size_t j = 0; j < p; j++)
		if (isnan(y[i * p + j]))
			return false;
	for (size_t k = 0; k < n; k++)
		if (dominates(y + k * p, y + i * p, p) ||
		    (k < i && equal_rows(y + k * p, y + i * p, p)))
			return false;
	return true;
}

static bool ordered(const double *u, const double *v, size_t p, size_t iu, size_t iv)
{
	for (size_t j = 0; j < p; j++)
		if (u[j] != v[j])
			return u[j] < v[j];
	return iu < iv;
}

static void test_front_by_definition(void **state)
{
	struct dp_rng rng;
	size_t front[64], count;
	double y[64 * 5];

	(void)state;
	dp_rng_init(&rng, 7, DP_RNG_TEST, 0, 0);
	for (int round = 0; round < 3000; round++) {
		size_t p = 1 + dp_rng_below(&rng, 5), n = dp_rng_below(&rng, 64);
		uint64_t levels = 2 + dp_rng_below(&rng, 12); /* few: many ties */
		size_t expected = 0;

		for (size_t i = 0; i < n * p; i++) {
			y[i] = (double)dp_rng_below(&rng, levels);
			if (dp_rng_below(&rng, 40) == 0)
				y[i] = (double[]){ NAN, INFINITY, -INFINITY,
						   -0.0 }[dp_rng_below(&rng, 4)];
		}
		count = dp_pareto_find_front(y, n, p, front);
		for (size_t i = 0; i < n; i++)
			expected += belongs(y, n, p, i);
		assert_int_equal(count, expected);
		for (size_t k = 0; k < count; k++) {
			assert_true(front[k] < n && belongs(y, n, p, front[k]));
			if (k)
				assert_true(ordered(y + front[k - 1] * p, y + front[k] * p, p,
						    front[k - 1], front[k]));
		}
	}
}

/* ---- hypervolume: by inclusion and exclusion over all subsets ---- */

static double by_subsets(const double *y, size_t n, size_t p, const double *ref)
{
	long double sum = 0;

	for (unsigned set = 1; set < 1u << n; set++) {
		long double v = __builtin_popcount(set) % 2 ? 1 : -1;

		for (size_t j = 0; j < p; j++) {
			double worst = -INFINITY;

			for (size_t i = 0; i < n; i++)
				if (set >> i & 1)
					worst = fmax(worst, y[i * p + j]);
			v *= fmax(0, ref[j] - worst);
		}
		sum += v;
	}
	return (double)sum;
}

static void test_inclusion_exclusion(void **state)
{
	struct dp_rng rng;
	double y[10 * P_MAX], ref[P_MAX];

	(void)state;
	dp_rng_init(&rng, 1, DP_RNG_TEST, 1, 0);
	for (int round = 0; round < 400; round++) {
		size_t p = 1 + (size_t)round % P_MAX, n = dp_rng_below(&rng, 11);
		double all = 1;

		for (size_t j = 0; j < p; j++) {
			ref[j] = 0.5 + 0.7 * dp_rng_uniform(&rng);
			all *= ref[j] + 1;
		}
		for (size_t i = 0; i < n * p; i++)
			y[i] = dp_rng_uniform(&rng) - dp_rng_below(&rng, 2);
		/* 2^10 terms of at most `all` each, rounded in long double */
		assert_near(hv(y, n, p, ref), by_subsets(y, n, p, ref), 1e-14 * all);
	}
}

/* ---- by counting cells: integers are exact ---- */

static double by_counting(const double *y, size_t n, size_t p, int side)
{
	uint64_t cells = 1, count = 0;

	for (size_t j = 0; j < p; j++)
		cells *= (uint64_t)side;
	for (uint64_t c = 0; c < cells; c++) {
		double corner[P_MAX];
		uint64_t rest = c;
		bool covered = false;

		for (size_t j = 0; j < p; j++, rest /= (uint64_t)side)
			corner[j] = (double)(rest % (uint64_t)side);
		for (size_t i = 0; i < n && !covered; i++) {
			covered = true;
			for (size_t j = 0; j < p; j++)
				covered &= y[i * p + j] <= corner[j];
		}
		count += covered;
	}
	return (double)count;
}

static void test_counting(void **state)
{
	static const int sides[] = { 0, 100, 40, 16, 9, 6, 4, 4 };
	struct dp_rng rng;
	double y[60 * P_MAX], ref[P_MAX];

	(void)state;
	dp_rng_init(&rng, 2, DP_RNG_TEST, 2, 0);
	for (int round = 0; round < 210; round++) {
		size_t p = 1 + (size_t)round % P_MAX, n = dp_rng_below(&rng, 60);
		int side = sides[p];

		for (size_t j = 0; j < p; j++)
			ref[j] = side;
		for (size_t i = 0; i < n * p; i++) /* some lie on and behind ref */
			y[i] = (double)dp_rng_below(&rng, (uint64_t)side + 2);
		assert_true(hv(y, n, p, ref) == by_counting(y, n, p, side));
	}
}

/* Points on one slope do not dominate each other, so that all of them count. */
static void test_counting_slope(void **state)
{
	struct dp_rng rng;
	double y[200 * 5], ref[] = { 12, 12, 12, 12, 12 };

	(void)state;
	dp_rng_init(&rng, 3, DP_RNG_TEST, 3, 0);
	for (size_t p = 3; p <= 5; p++) {
		size_t n = p == 5 ? 60 : 120;

		for (size_t i = 0; i < n; i++) {
			double left = 18;

			do {
				left = 18;
				for (size_t j = 0; j + 1 < p; j++) {
					y[i * p + j] = (double)dp_rng_below(&rng, 12);
					left -= y[i * p + j];
				}
				y[i * p + p - 1] = left;
			} while (left < 0 || left > 11);
		}
		assert_true(hv(y, n, p, ref) == by_counting(y, n, p, 12));
	}
}

/* ---- by sampling ---- */

static void test_monte_carlo(void **state)
{
	enum {
		SAMPLES = 200000
	};
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 4, DP_RNG_TEST, 4, 0);
	for (size_t p = 4; p <= 6; p++) {
		size_t n = 40;
		double y[40 * 6], ref[6], x[6], v, hit = 0;

		for (size_t j = 0; j < p; j++)
			ref[j] = 1;
		for (size_t i = 0; i < n * p; i++)
			y[i] = dp_rng_uniform(&rng);
		v = hv(y, n, p, ref);
		for (int s = 0; s < SAMPLES; s++) {
			bool covered = false;

			for (size_t j = 0; j < p; j++)
				x[j] = dp_rng_uniform(&rng);
			for (size_t i = 0; i < n && !covered; i++)
				covered = dominates(y + i * p, x, p);
			hit += covered;
		}
		/* five standard errors of the sample */
		assert_near(v, hit / SAMPLES, 5 * sqrt(v * (1 - v) / SAMPLES));
	}
}

/* ---- closed forms ---- */

static void test_staircase(void **state)
{
	size_t n = 100000;
	double *y = make(n, 2), ref[] = { (double)n, (double)n };

	(void)state;
	for (size_t i = 0; i < n; i++) { /* in an odd order: 7919 is coprime to n */
		size_t k = i * 7919 % n;

		y[2 * i] = (double)k;
		y[2 * i + 1] = (double)(n - 1 - k);
	}
	assert_true(hv(y, n, 2, ref) == (double)n * (double)(n + 1) / 2);
	free(y);
}

/* The front of DTLZ2 is the unit sphere's positive part; the volume towards (1,..,1)
 * tends to the cube less the part of the ball, from below. */
static void test_sphere(void **state)
{
	const double half_pi = acos(0), limit2 = 1 - half_pi / 2, limit3 = 1 - half_pi / 3;
	size_t n = 20000, m = 0, side = 50;
	double *y = make(n, 2), *z = make(side * side, 3), ref[] = { 1, 1, 1 }, v;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		y[2 * i] = cos(half_pi * (double)i / (double)(n - 1));
		y[2 * i + 1] = sin(half_pi * (double)i / (double)(n - 1));
	}
	v = hv(y, n, 2, ref);
	assert_true(v < limit2);
	assert_near(v, limit2, 1.0 / (double)n); /* steps of 1/n, one half of each lost */
	for (size_t i = 0; i < side; i++)
		for (size_t k = 0; k < side; k++, m++) {
			double a = half_pi * ((double)i + 0.5) / (double)side;
			double b = half_pi * ((double)k + 0.5) / (double)side;

			z[3 * m] = cos(a) * cos(b);
			z[3 * m + 1] = cos(a) * sin(b);
			z[3 * m + 2] = sin(a);
		}
	v = hv(z, m, 3, ref);
	assert_true(v < limit3);
	assert_near(v, limit3, 2.0 / (double)side);
	free(y);
	free(z);
}

/* One box of p - 1 unit sides and one of height h: easy to tell by hand. */
static void test_two_boxes(void **state)
{
	double y[2 * P_MAX], ref[P_MAX];

	(void)state;
	for (size_t p = 2; p <= P_MAX; p++) {
		for (size_t j = 0; j < p; j++) {
			ref[j] = 0;
			y[j] = -1;
			y[p + j] = -0.5;
		}
		y[2 * p - 1] = -3;
		assert_near(hv(y, 2, p, ref), 1 + 2 * pow(0.5, (double)p - 1), 1e-15);
	}
}

/* ---- policy ---- */

static void test_permutations_and_duplicates(void **state)
{
	struct dp_rng rng;
	double y[80 * 5], ref[] = { 1, 1, 1, 1, 1 };

	(void)state;
	dp_rng_init(&rng, 5, DP_RNG_TEST, 5, 0);
	for (size_t p = 1; p <= 5; p++) {
		double first;

		for (size_t i = 0; i < 40 * p; i++)
			y[i] = dp_rng_uniform(&rng);
		first = hv(y, 40, p, ref);
		memcpy(y + 40 * p, y, 40 * p * sizeof *y);
		assert_true(hv(y, 80, p, ref) == first);
		for (int round = 0; round < 20; round++) {
			for (size_t i = 39; i > 0; i--) {
				size_t k = dp_rng_below(&rng, i + 1);

				for (size_t j = 0; j < p; j++) {
					double t = y[i * p + j];

					y[i * p + j] = y[k * p + j];
					y[k * p + j] = t;
				}
			}
			assert_true(hv(y, 40, p, ref) == first);
		}
	}
}

static void test_special_values(void **state)
{
	(void)state;
	for (size_t p = 1; p <= 5; p++) {
		double y[3 * 5], ref[5], all_high[5], low[3 * 5] = { 0 };

		for (size_t j = 0; j < p; j++) {
			ref[j] = 2;
			all_high[j] = INFINITY;
			y[j] = 1;
			y[p + j] = 1.5;
			y[2 * p + j] = 0.5;
		}
		assert_true(hv(y, 0, p, ref) == 0);
		assert_true(hv(NULL, 0, p, ref) == 0);
		assert_true(hv(y, 1, p, ref) == 1);
		assert_true(hv(y, 2, p, ref) == 1);
		assert_true(hv(ref, 1, p, ref) == 0); /* on ref is not better */
		y[2 * p] = NAN;                       /* adds nothing, though better elsewhere */
		assert_true(hv(y, 3, p, ref) == 1);
		y[2 * p] = 2;
		assert_true(hv(y, 3, p, ref) == 1);
		y[2 * p] = INFINITY;
		assert_true(hv(y, 3, p, ref) == 1);
		y[2 * p] = -INFINITY;
		assert_true(hv(y, 3, p, ref) == INFINITY);
		for (size_t i = 0; i < 3; i++)
			low[i * p + p - 1] = -INFINITY;
		assert_true(hv(low, 3, p, ref) == INFINITY);
		if (p > 1) {
			y[2 * p + 1] = 2; /* no thickness: adds nothing */
			assert_true(hv(y, 3, p, ref) == 1);
		}
		assert_true(hv(y, 1, p, all_high) == INFINITY);
		ref[0] = NAN;
		assert_true(hv(y, 3, p, ref) == 0);
		ref[0] = -INFINITY;
		assert_true(hv(y, 3, p, ref) == 0);
	}
}

/* Wide and narrow coordinates together: no overflow on the way. */
static void test_extreme_scales(void **state)
{
	static const double y[] = { -2e200, -1e200, -3e-200, -1e-200, -1,
				    -1e200, -2e200, -3e-200, -1e-200, -2,
				    -1e200, -1e200, -4e-200, -3e-200, -1 };
	static const double unit[] = { -2, -1, -3, -1, -1, -1, -2, -3, -1, -2, -1, -1, -4, -3, -1 };
	static const double ref[5] = { 0 };
	double expected = by_subsets(unit, 3, 5, ref);

	(void)state;
	assert_near(hv(y, 3, 5, ref), expected, 1e-13 * expected);
	assert_true(hv((double[]){ -1e200, -1e200 }, 1, 2, ref) == INFINITY);
}

/* ---- which point to take ---- */

static size_t knee(const double *y, size_t n, size_t p, const double *ref)
{
	size_t at;

	at = dp_pareto_find_knee(y, n, p, ref);
	return at;
}

/* How far a point is below the line through two others, by its definition. */
static double below_line(const double *a, const double *b, const double *q)
{
	double dx = b[0] - a[0], dy = b[1] - a[1];

	return (dy * (q[0] - a[0]) - dx * (q[1] - a[1])) / hypot(dx, dy);
}

/* Random fronts: the farthest below the line between the ends, however the axes are
 * stretched. */
static void test_knee_by_definition(void **state)
{
	static const double ref[] = { 2, 2 };
	double y[2 * 9];

	(void)state;
	srand(7);
	for (int round = 0; round < 200; round++) {
		size_t best = 0, n = 9, found;

		for (size_t i = 0; i < n; i++) {
			double noise = rand() / (double)RAND_MAX / 9;

			y[2 * i] = ((double)i + 0.9 * noise) / 9;
			y[2 * i + 1] = pow(1 - (double)i / 9, 2) + noise / 9;
		}
		for (size_t i = 0; i < n; i++)
			if (below_line(y, y + 2 * (n - 1), y + 2 * i) >
			    below_line(y, y + 2 * (n - 1), y + 2 * best) + 1e-12)
				best = i;
		found = knee(y, n, 2, ref);
		assert_near(below_line(y, y + 2 * (n - 1), y + 2 * found),
			    below_line(y, y + 2 * (n - 1), y + 2 * best), 1e-12);
		for (size_t i = 0; i < n; i++)
			y[2 * i + 1] = 100 * y[2 * i + 1] - 250;
		assert_int_equal(knee(y, n, 2, ref), found);
	}
}

static void test_knee_special(void **state)
{
	static const double y[] = { 0, 10, 1, 3, 2, 2.5, 10, 0 };
	static const double inf[] = { -INFINITY, 9, 0, 8, 1, 2, 7, 0 };
	static const double bulging[] = { 0, 4, 2, 3.5, 3.5, 2, 4, 0 };
	static const double three[] = { 0, 9, 9, 9, 0, 9, 9, 9, 0, 2, 2, 2, 1, 4, 4 };

	(void)state;
	assert_int_equal(knee(y, 4, 2, (double[]){ 10, 10 }), 1);
	/* without what is beyond the box the ends are others */
	assert_int_equal(knee(y, 4, 2, (double[]){ 9, 5 }), 1); /* two points: the first */
	assert_int_equal(knee(y, 4, 2, (double[]){ 1.5, 5 }), 1);
	assert_int_equal(knee(y, 4, 2, (double[]){ 1, 1 }), SIZE_MAX);
	assert_int_equal(knee(y, 0, 2, (double[]){ 1, 1 }), SIZE_MAX);
	/* what the scale has no number for is no end */
	assert_int_equal(knee(inf, 4, 2, (double[]){ INFINITY, INFINITY }), 2);
	/* nothing is below the line: the first end */
	assert_int_equal(knee(bulging, 4, 2, (double[]){ 10, 10 }), 0);
	assert_int_equal(knee(three, 5, 3, (double[]){ 9, 9, 9 }), 3);
}

static void test_one_standard_error(void **state)
{
	static const double y[] = { 0.1, 0.5, 1, 0.3, 2, 0.22, 4, 0.2, NAN, NAN };

	(void)state;
	assert_int_equal(dp_pareto_find_min(y, 5, 2, 1), 3);
	assert_int_equal(dp_pareto_find_min(y, 5, 2, 0), 0);
	assert_int_equal(dp_pareto_find_min(y, 0, 2, 0), SIZE_MAX);
	assert_int_equal(dp_pareto_find_one_se(y, 5, 2, 1, 0), 3);
	assert_int_equal(dp_pareto_find_one_se(y, 5, 2, 1, 0.03), 2);
	assert_int_equal(dp_pareto_find_one_se(y, 5, 2, 1, 0.11), 1);
	assert_int_equal(dp_pareto_find_one_se(y, 5, 2, 1, 9), 0);
	assert_int_equal(dp_pareto_find_one_se(y, 0, 2, 1, 9), SIZE_MAX);
}

/* A front is followed as it was chosen: the step at 2 counts with what it is worth, not
 * with what the lucky one at 1 is; nothing outside of the reference counts. */
static void following(void **state)
{
	static const double y[] = { 1, 0.2, 2, 0.5, 4, 0.1, 6, 1.5, 12, 0 };
	static const double ref[] = { 10, 1 };
	double volume;

	(void)state;
	assert_float_equal(dp_pareto_realised_volume(y, 5, ref), 1 * 0.8 + 2 * 0.5 + 2 * 0.9,
			   1e-12);
	assert_float_equal(dp_pareto_realised_volume(y, 1, ref), 9 * 0.8, 1e-12);
	assert_float_equal(dp_pareto_realised_volume(y, 0, ref), 0, 0);
	/* the hypervolume takes the best so far at each step */
	volume = dp_hypervolume(y, 5, 2, ref);
	assert_float_equal(volume, 3 * 0.8 + 6 * 0.9, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dominates),
		cmocka_unit_test(test_front_by_definition),
		cmocka_unit_test(test_inclusion_exclusion),
		cmocka_unit_test(test_counting),
		cmocka_unit_test(test_counting_slope),
		cmocka_unit_test(test_monte_carlo),
		cmocka_unit_test(test_staircase),
		cmocka_unit_test(test_sphere),
		cmocka_unit_test(test_two_boxes),
		cmocka_unit_test(test_permutations_and_duplicates),
		cmocka_unit_test(test_special_values),
		cmocka_unit_test(test_extreme_scales),
		cmocka_unit_test(test_knee_by_definition),
		cmocka_unit_test(test_knee_special),
		cmocka_unit_test(test_one_standard_error),
		cmocka_unit_test(following),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
