/* test_space.c - random points against their distributions, grids against lists. */
#include "base/units.h"
#include "base/rng.h"
#include "study/diagnostics.h"
#include "study/space.h"
#include "study/study.h"
#include "study/study_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	DRAWS = 20000
};

/* A study with these parameters (flow or block YAML, indented by two). */
static struct dp_study *study(const char *parameters, const char *search)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_diagnostics problems;
	struct dp_study *s = NULL;
	struct dp_err err;

	dp_buf_printf(&text,
		      "study: s\nseed: 7\ntrainer: {command: [p]}\nparameters:\n%s\n"
		      "objectives: {e: {metric: m}, f: {metric: n}}\n"
		      "anti_ideal: {e: 1, f: 1}\nsearch: {%s}\n",
		      parameters, search);
	if (dp_study_parse(text.data, text.len, "t", "/d", &s, &problems, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&problems);
	dp_buf_free(&text);
	return s;
}

#define RANDOM "method: random, evaluations: 5"

static void draw_all(const char *parameter, bool with_range, double *out)
{
	struct dp_study *s = study(parameter, RANDOM);

	for (uint32_t i = 0; i < DRAWS; i++)
		dp_space_sample(s, i, with_range, &out[i]);
	dp_study_free(s);
}

/* ---- distributions, by Kolmogorov and Smirnov ---- */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double phi(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

static double cdf_uniform(double x)
{
	return x;
}

static double cdf_normal(double x)
{
	return phi((x - 1) / 2);
}

static double cdf_exponential(double x)
{
	return x < 0.001 ? 0 : 1 - exp(-10 * (x - 0.001));
}

static double cdf_log(double x)
{
	return log(x);
}

/* The greatest distance between the draws and cdf, cut to [lo, hi]. */
static double distance(const double *x, double (*cdf)(double), double lo, double hi)
{
	double most = 0;

	for (int i = 0; i < DRAWS; i++) {
		double f = (cdf(x[i]) - cdf(lo)) / (cdf(hi) - cdf(lo));

		most = fmax(most, fmax(f - (double)i / DRAWS, (i + 1.0) / DRAWS - f));
	}
	return most;
}

static void test_continuous(void **state)
{
	static const struct {
		const char *parameter;
		bool with_range;
		double (*cdf)(double);
		double lo, hi;
	} cases[] = {
		{ "  a: {type: float, range: [-3, 5]}", false, cdf_uniform, -3, 5 },
		{ "  a: {type: float, range: [0.01, 100], scale: log}", false, cdf_log, 0.01, 100 },
		{ "  a: {type: float, range: [0, 9], sample: {uniform: [0, 10], accept: "
		  "[2, "
		  "5]}}",
		  false, cdf_uniform, 2, 5 },
		{ "  a: {type: float, range: [5, 20], sample: {uniform: [0, 10], accept: "
		  "[2, "
		  "8]}}",
		  false, cdf_uniform, 2, 8 },
		{ "  a: {type: float, range: [5, 20], sample: {uniform: [0, 10], accept: "
		  "[2, "
		  "8]}}",
		  true, cdf_uniform, 5, 8 },
		{ "  a: {type: float, range: [0, 4], sample: {normal: {mean: 1, sd: 2}}}", false,
		  cdf_normal, 0, 4 },
		{ "  a: {type: float, range: [-9, 9], sample: {normal: {mean: 1, sd: 2}, "
		  "accept: [5, 8]}}",
		  false, cdf_normal, 5, 8 },
		{ "  a: {type: float, range: [0.001, 0.5], scale: log,\n"
		  "      sample: {exponential: {rate: 10, shift: 0.001}}}",
		  false, cdf_exponential, 0.001, 0.5 },
	};
	static double x[DRAWS];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		draw_all(cases[i].parameter, cases[i].with_range, x);
		qsort(x, DRAWS, sizeof *x, ascending);
		assert_true(x[0] >= cases[i].lo && x[DRAWS - 1] <= cases[i].hi);
		/* one chance in a thousand to be above, for a right sampler */
		if (distance(x, cases[i].cdf, cases[i].lo, cases[i].hi) > 1.95 / sqrt(DRAWS))
			fail_msg("%s", cases[i].parameter);
	}
}

/* ---- quantiles are those of the draws ---- */

/* The share of sorted values that are at most v. */
static double share_below(const double *x, double v)
{
	size_t lo = 0, hi = DRAWS;

	while (lo < hi) {
		size_t middle = (lo + hi) / 2;

		if (x[middle] <= v)
			lo = middle + 1;
		else
			hi = middle;
	}
	return (double)lo / DRAWS;
}

static void test_quantiles(void **state)
{
	static const char *const cases[] = {
		"  a: {type: float, range: [-3, 5]}",
		"  a: {type: float, range: [0.01, 100], scale: log}",
		"  a: {type: float, range: [5, 20], sample: {uniform: [0, 10], accept: "
		"[2, 8]}}",
		"  a: {type: float, range: [0, 4], sample: {normal: {mean: 1, sd: 2}}}",
		"  a: {type: float, range: [-9, 9], sample: {normal: {mean: 1, sd: 2}, "
		"accept: [5, 8]}}",
		"  a: {type: float, range: [0.001, 0.5], sample: {exponential: {rate: "
		"10, shift: 0.001}}}",
		"  a: {type: int, range: [1, 30]}",
		"  a: {type: int, range: [1, 20], scale: log}",
		"  a: {type: int, range: [1, 9], sample: {normal: {mean: 5, sd: 3}}}",
		"  a: {type: int, range: [0, 9], sample: {uniform: [0, 7]}}",
		"  a: {type: int, range: [0, 9], sample: {exponential: {rate: 0.25, "
		"shift: 2}, accept: [1.6, 7.9]}}",
		"  a: {type: categorical, values: [x, y, 3]}",
	};
	static double x[DRAWS], q[DRAWS];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_study *s = study(cases[i], RANDOM);

		draw_all(cases[i], true, x);
		qsort(x, DRAWS, sizeof *x, ascending);
		for (int k = 0; k < DRAWS; k++) {
			q[k] = dp_space_quantile(s, 0, (k + 0.5) / DRAWS);
			assert_true(k == 0 || q[k] >= q[k - 1]);
		}
		for (int k = 0; k < DRAWS; k++)
			if (fabs(share_below(x, x[k]) - share_below(q, x[k])) > 1.95 / sqrt(DRAWS))
				fail_msg("%s: at %g", cases[i], x[k]);
		dp_study_free(s);
	}
}

/* ---- whole numbers, by chi-square ---- */

static double chi_square(const double *x, int lo, int hi, double (*weight)(double))
{
	double total = 0, sum = 0;

	for (int k = lo; k <= hi; k++)
		total += weight(k);
	for (int k = lo; k <= hi; k++) {
		double expected = DRAWS * weight(k) / total;
		int seen = 0;

		for (int i = 0; i < DRAWS; i++)
			seen += x[i] == k;
		sum += (seen - expected) * (seen - expected) / expected;
	}
	return sum;
}

static double equal(double k)
{
	(void)k;
	return 1;
}

static double stretch(double k)
{
	return log((k + 0.5) / (k - 0.5));
}

static double around_five(double k)
{
	return phi((k + 0.5 - 5) / 3) - phi((k - 0.5 - 5) / 3);
}

static double after_two(double k)
{
	return exp(-0.25 * fmax(0, k - 0.5 - 2)) - exp(-0.25 * (k + 0.5 - 2));
}

static void test_whole(void **state)
{
	static const struct {
		const char *parameter;
		int lo, hi;
		double (*weight)(double);
		double limit; /* one chance in a thousand, hi - lo degrees of freedom */
	} cases[] = {
		{ "  a: {type: int, range: [1, 30]}", 1, 30, equal, 58.30 },
		{ "  a: {type: int, range: [-2, 1]}", -2, 1, equal, 16.27 },
		{ "  a: {type: int, range: [1, 20], scale: log}", 1, 20, stretch, 43.82 },
		{ "  a: {type: int, range: [1, 9], sample: {normal: {mean: 5, sd: 3}}}", 1, 9,
		  around_five, 26.12 },
		/* accept has ends that are not whole: 2 to 7 are inside */
		{ "  a: {type: int, range: [0, 9], sample: {exponential: {rate: 0.25, "
		  "shift: "
		  "2}, accept: [1.6, 7.9]}}",
		  2, 7, after_two, 20.52 },
	};
	static double x[DRAWS];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		draw_all(cases[i].parameter, false, x);
		for (int k = 0; k < DRAWS; k++)
			assert_true(x[k] == floor(x[k]) && x[k] >= cases[i].lo &&
				    x[k] <= cases[i].hi);
		if (chi_square(x, cases[i].lo, cases[i].hi, cases[i].weight) > cases[i].limit)
			fail_msg("%s", cases[i].parameter);
	}
}

static void test_categorical(void **state)
{
	static double x[DRAWS];

	(void)state;
	draw_all("  a: {type: categorical, values: [p, q, r]}", false, x);
	assert_true(chi_square(x, 0, 2, equal) < 13.82);
}

/* ---- repeatable ---- */

static void test_repeats(void **state)
{
	static const char one[] = "  a: {type: float, range: [0.01, 100], scale: log}\n";
	static const char three[] = "  a: {type: float, range: [0.01, 100], scale: log}\n"
				    "  k: {type: int, range: [1, 30]}\n"
				    "  c: {type: categorical, values: [p, q, r]}\n";
	struct dp_study *s = study(one, RANDOM), *t = study(three, RANDOM);
	double x[1], y[3], z[3];
	struct dp_rng r;

	(void)state;
	for (uint32_t trial = 0; trial < 50; trial++) {
		dp_space_sample(s, trial, false, x);
		dp_space_sample(t, trial, false, y);
		dp_space_sample(t, trial, false, z);
		assert_memory_equal(y, z, sizeof y);
		assert_true(x[0] == y[0]); /* more parameters move nothing */
		/* the definition, by hand */
		dp_rng_init(&r, 7, DP_RNG_SAMPLE, trial, 0);
		assert_float_equal(log10(y[0]), -2 + 4 * dp_rng_uniform(&r), 1e-12);
		dp_rng_init(&r, 7, DP_RNG_SAMPLE, trial, 1);
		assert_true(y[1] == 1 + (double)dp_rng_below(&r, 30));
	}
	dp_study_free(s);
	dp_study_free(t);
}

/* The same numbers came out of a second program, in Python, written from the
 * definition of Philox4x32-10 and of the sampler. */
static void test_known_answers(void **state)
{
	static const double known[4][4] = {
		{ 0.070572680173914978, 17, 0.44861965149205152, 1 },
		{ 0.02081637579215467, 13, 1.2790692458758417, 2 },
		{ 0.04975708827150814, 17, 1.5038893258773958, 1 },
		{ 6.7021520898515758, 13, 1.3767683336727878, 1 },
	};
	struct dp_study *s =
		study("  a: {type: float, range: [0.01, 100], scale: log}\n"
		      "  k: {type: int, range: [1, 30]}\n"
		      "  n: {type: float, range: [0, 4], sample: {normal: {mean: 1, sd: 2}}}\n"
		      "  c: {type: categorical, values: [p, q, r]}\n",
		      RANDOM);
	double x[4];

	(void)state;
	for (uint32_t trial = 0; trial < 4; trial++) {
		dp_space_sample(s, trial, false, x);
		for (int i = 0; i < 4; i++)
			assert_float_equal(x[i], known[trial][i], 1e-13 * (1 + fabs(x[i])));
	}
	dp_study_free(s);
}

/* Rounding comes before the test: 0.5 to 0.6 count as 1. */
static void test_rounds_first(void **state)
{
	static double x[DRAWS];

	(void)state;
	draw_all("  a: {type: int, range: [0, 9], sample: {uniform: [0, 0.6], accept: [1, "
		 "2]}}",
		 false, x);
	for (int i = 0; i < DRAWS; i++)
		assert_true(x[i] == 1);
}

/* Even a study that no parser lets through must not hang the sampler. */
static void test_never_hangs(void **state)
{
	struct dp_study *s = study("  a: {type: float, range: [0, 1], sample: {normal: "
				   "{mean: 0, sd: 1}}}",
				   RANDOM);
	double x;

	(void)state;
	s->params[0].accept_lo = 60;
	s->params[0].accept_hi = 61;
	dp_space_sample(s, 0, false, &x);
	assert_true(x == 60);
	dp_space_sample(s, 0, true, &x); /* nothing in common: the range */
	assert_true(x >= 0 && x <= 1);
	dp_study_free(s);
}

/* ---- grids ---- */

static void check_axis(const char *parameter, size_t n, const double *points)
{
	struct dp_study *s = study(parameter, "method: grid, grid: 10");
	double x;

	assert_int_equal(dp_space_grid_size(s), n);
	assert_int_equal(s->search.evaluations, n);
	for (size_t i = 0; i < n; i++) {
		dp_space_grid_point(s, i, &x);
		assert_float_equal(x, points[i], 1e-12 * (1 + fabs(points[i])));
	}
	dp_study_free(s);
}

#define AXIS(parameter, ...)                                                                       \
	do {                                                                                       \
		static const double points_[] = { __VA_ARGS__ };                                   \
		check_axis(parameter, DP_COUNT(points_), points_);                                 \
	} while (0)

static void test_axes(void **state)
{
	(void)state;
	AXIS("  a: {type: int, range: [1, 30]}", 1, 4, 7, 11, 14, 17, 20, 24, 27, 30);
	AXIS("  a: {type: int, range: [1, 3]}", 1, 2, 3);
	AXIS("  a: {type: int, range: [1, 10], scale: log}", 1, 2, 3, 4, 5, 6, 8, 10);
	AXIS("  a: {type: int, range: [1, 1000], scale: log, grid: 4}", 1, 10, 100, 1000);
	AXIS("  a: {type: float, range: [0, 1], grid: 5}", 0, 0.25, 0.5, 0.75, 1);
	AXIS("  a: {type: float, range: [0.01, 100], scale: log, grid: 5}", 0.01, 0.1, 1, 10, 100);
	AXIS("  a: {type: float, range: [0, 10], grid: 1}", 5);
	AXIS("  a: {type: float, range: [0.01, 100], scale: log, grid: 1}", 1);
	AXIS("  a: {type: int, range: [1, 30], grid: 1}", 16);
	AXIS("  a: {type: int, range: [1, 100], scale: log, grid: 1}", 10);
	AXIS("  a: {type: float, range: [0, 9], grid: 3, sample: {uniform: [0, 9], "
	     "accept: "
	     "[2, 4]}}",
	     2, 3, 4);
	AXIS("  a: {type: int, range: [0, 9], sample: {uniform: [0, 9], accept: [2.5, "
	     "5.5]}}",
	     3, 4, 5);
	AXIS("  a: {type: categorical, values: [x, y, z]}", 0, 1, 2);
	AXIS("  a: {fixed: 5}", 0);
}

static void test_grid_order(void **state)
{
	struct dp_study *s = study("  a: {type: int, range: [1, 2]}\n"
				   "  f: {fixed: text}\n"
				   "  b: {type: categorical, values: [true, 7, q]}\n"
				   "  c: {type: float, range: [0, 1], grid: 2}\n",
				   "method: grid, grid: 10, evaluations: 100");
	double x[4];
	size_t index = 0;

	(void)state;
	assert_int_equal(dp_space_grid_size(s), 12);
	assert_int_equal(s->search.evaluations, 12); /* 100 was too many */
	for (int a = 1; a <= 2; a++) {
		for (int b = 0; b < 3; b++) {
			for (int c = 0; c < 2; c++) {
				dp_space_grid_point(s, index++, x);
				assert_true(x[0] == a && x[1] == 0 && x[2] == b && x[3] == c);
			}
		}
	}
	dp_study_free(s);
}

static void test_grid_too_large(void **state)
{
	struct dp_study *s = study("  a: {type: float, range: [0, 1]}\n"
				   "  b: {type: int, range: [1, 1000000], scale: log}\n",
				   RANDOM);

	(void)state;
	s->search.grid = 1000000;
	assert_true(dp_space_grid_size(s) == (uint64_t)DP_GRID_MAX + 1);
	dp_study_free(s);
}

/* ---- JSON and text ---- */

static void test_json(void **state)
{
	struct dp_study *s = study("  a: {type: int, range: [1, 30]}\n"
				   "  b: {type: float, range: [1, 2]}\n"
				   "  c: {type: categorical, values: [x, 2, 2.5, \"2\", false]}\n"
				   "  d: {fixed: 64}\n"
				   "  e: {fixed: \"64\"}\n"
				   "  f: {fixed: 1e-3}\n",
				   RANDOM);
	static const char *const values[] = { "\"x\"", "2", "2.5", "\"2\"", "false" };
	struct dp_buf text = DP_BUF_INIT;
	double x[6] = { 3, 2, 0, 0, 0, 0 };
	char expected[200], *got;
	json_t *v;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(values); i++) {
		x[2] = (double)i;
		v = dp_space_to_json(s, x);
		assert_non_null(v);
		got = json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(6));
		snprintf(expected, sizeof expected,
			 "{\"a\":3,\"b\":2.0,\"c\":%s,\"d\":64,\"e\":\"64\",\"f\":0.001}",
			 values[i]);
		assert_string_equal(got, expected);
		free(got);
		json_decref(v);
	}
	for (size_t i = 0; i < 6; i++) {
		dp_space_format_value(s, i, i == 1 ? 1.23456789 : i == 2 ? 0 : 3, &text);
		dp_buf_putc(&text, ' ');
	}
	assert_string_equal(dp_buf_text(&text), "3 1.2346 x 64 64 0.001 ");
	dp_buf_free(&text);
	dp_study_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_continuous),     cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_whole),          cmocka_unit_test(test_categorical),
		cmocka_unit_test(test_repeats),        cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_rounds_first),   cmocka_unit_test(test_never_hangs),
		cmocka_unit_test(test_axes),           cmocka_unit_test(test_grid_order),
		cmocka_unit_test(test_grid_too_large), cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
