/* test_plot_axes.c - ticks and ranges of axes. */
#include "base/rng.h"
#include "tests/unit/support/made_plots.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- ticks ---- */

struct tick_case {
	double lo, hi;
	size_t most;
	bool whole;
	const char *labels; /* separated by a space */
};

static void join_labels(const struct ticks *t, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < t->n; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "", t->label[i]);
}

static void test_linear_ticks(void **state)
{
	static const struct tick_case cases[] = {
		{ 0, 1, 6, false, "0.0 0.2 0.4 0.6 0.8 1.0" },
		{ 0, 1, 11, false, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0" },
		{ 0, 10, 5, false, "0.0 2.5 5.0 7.5 10.0" },
		{ 0, 10, 6, false, "0 2 4 6 8 10" },
		{ 0, 10, 5, true, "0 5 10" },
		{ 1, 272, 6, false, "50 100 150 200 250" },
		{ -0.3, 0.3, 7, false, "−0.3 −0.2 −0.1 0.0 0.1 0.2 0.3" },
		{ 0.1523, 0.1671, 5, false, "0.155 0.160 0.165" },
		{ 0.1523, 0.1671, 6, false, "0.1525 0.1550 0.1575 0.1600 0.1625 0.1650" },
		{ 0, 99999, 5, false, "0 20000 40000 60000 80000" },
		{ 0, 3e6, 4, false, "0 10⁶ 2×10⁶ 3×10⁶" },
		{ 0, 9e-7, 4, false, "0 2.5×10⁻⁷ 5.0×10⁻⁷ 7.5×10⁻⁷" },
		{ 0, 1.3e-5, 4, false, "0 0.5×10⁻⁵ 1.0×10⁻⁵" },
		{ 0, 3e-4, 4, false, "0.0000 0.0001 0.0002 0.0003" },
		{ 1e9, 1.00002e9, 3, false, "1000000000 1000010000 1000020000" },
		{ 0.2, 0.8, 5, true, "" },
		{ 0.5, 3.5, 9, true, "1 2 3" },
		{ -1e300, 1e300, 3, false, "−10³⁰⁰ 0 10³⁰⁰" },
		{ 1, 1, 5, false, "" },
	};
	struct ticks t;
	char got[1024];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		ticks_linear(&t, cases[i].lo, cases[i].hi, cases[i].most, cases[i].whole);
		join_labels(&t, got, sizeof got);
		assert_string_equal(got, cases[i].labels);
	}
}

static void test_log_ticks(void **state)
{
	static const struct tick_case cases[] = {
		{ 0.001, 1, 8, false, "0.001 0.01 0.1 1" },
		{ 0.01, 100, 8, false, "0.01 0.1 1 10 100" },
		{ 1e-5, 1e5, 11, false, "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1 10 10² 10³ 10⁴ 10⁵" },
		{ 1e-5, 1e5, 5, false, "0.0001 0.01 1 100 10000" },
		{ 1e-5, 1e5, 2, false, "10⁻⁵ 1 10⁵" },
		{ 1e-5, 1e-2, 8, false, "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻²" },
		{ 0.1, 5, 8, false, "0.1 0.2 0.5 1 2 5" },
		{ 0.1, 5, 4, false, "0.1 0.3 1 3" },
		{ 12, 19, 5, false, "12 14 16 18" },
		{ 2e5, 2e6, 8, false, "2×10⁵ 5×10⁵ 10⁶ 2×10⁶" },
		{ 1e-300, 1e300, 8, false, "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 1 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰" },
		{ 0, 1, 8, false, "" },
		{ 3, 3, 8, false, "" },
	};
	struct ticks t;
	char got[1024];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		ticks_log(&t, cases[i].lo, cases[i].hi, cases[i].most);
		join_labels(&t, got, sizeof got);
		assert_string_equal(got, cases[i].labels);
	}
}

/* 2 to 9 times the powers, where no label stands. */
static void test_minor_ticks(void **state)
{
	struct ticks t;

	(void)state;
	ticks_log(&t, 1, 1000, 8);
	assert_int_equal(t.nminor, 24);
	ticks_log(&t, 1, 10, 8);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.nminor, 6);
	ticks_log(&t, 1e-8, 1e8, 9); /* too many for those: the powers between labels */
	assert_int_equal(t.n + t.nminor, 17);
}

static bool is_round(double x)
{
	double m = x / pow(10, floor(log10(x) + 1e-9));

	return fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 || fabs(m - 2.5) < 1e-6 ||
	       fabs(m - 5) < 1e-6;
}

static void check_ticks(const struct ticks *t, double lo, double hi)
{
	double slack = 1e-5 * (hi - lo);

	assert_in_range(t->n, 2, 11);
	for (size_t i = 0; i < t->n; i++) {
		assert_true(t->at[i] >= lo - slack && t->at[i] <= hi + slack);
		assert_true(t->label[i][0]);
		assert_true(i == 0 || t->at[i] > t->at[i - 1]);
		assert_true(i == 0 || strcmp(t->label[i], t->label[i - 1]) != 0);
	}
}

static void test_ticks_of_random_ranges(void **state)
{
	struct dp_rng r;
	struct ticks t;

	(void)state;
	dp_rng_init(&r, 1, DP_RNG_TEST, 6, 0);
	for (int i = 0; i < 20000; i++) {
		double size = pow(10, 40 * dp_rng_uniform(&r) - 20),
		       lo = (dp_rng_uniform(&r) - 0.5) * size,
		       hi = lo + size * (1e-3 + dp_rng_uniform(&r));
		size_t most = 2 + (size_t)(9 * dp_rng_uniform(&r));

		ticks_linear(&t, lo, hi, most, false);
		check_ticks(&t, lo, hi);
		assert_true(is_round(t.at[1] - t.at[0]));
		lo = size;
		hi = lo * pow(10, 0.05 + 12 * dp_rng_uniform(&r));
		ticks_log(&t, lo, hi, most);
		check_ticks(&t, lo, hi);
	}
}

/* ---- ranges ---- */

static void check_range(enum plot_scale scale, bool whole, const double *values, size_t n,
			double want_lo, double want_hi, double lo, double hi)
{
	struct axis *a = calloc(1, sizeof *a);

	assert_non_null(a);
	a->scale = scale;
	a->integer_ticks = whole;
	a->limits[0] = want_lo;
	a->limits[1] = want_hi;
	axis_reset_range(a, false);
	for (size_t i = 0; i < n; i++)
		axis_include_value(a, values[i]);
	axis_finish_range(a);
	assert_true(fabs(a->lo - lo) <= 1e-9 * fabs(lo));
	assert_true(fabs(a->hi - hi) <= 1e-9 * fabs(hi));
	free(a);
}

static void test_ranges(void **state)
{
	static const double spread[] = { 3, 10, NAN, INFINITY, -INFINITY, 1e301 }, one[] = { 5 },
			    zero[] = { 0 }, from_zero[] = { 0, 10 }, below[] = { -10, -0.1 },
			    decades[] = { -1, 0, 0.01, 100 }, close[] = { 1, 1 + 1e-15 };

	(void)state;
	check_range(PLOT_LINEAR, false, spread, 6, NAN, NAN, 3 - 0.28, 10 + 0.28);
	check_range(PLOT_LINEAR, false, spread, 6, 0, NAN, 0, 10 + 0.4);
	check_range(PLOT_LINEAR, false, spread, 6, 0, 20, 0, 20);
	check_range(PLOT_LINEAR, false, spread, 6, 20, 0, 0, 20);
	check_range(PLOT_LINEAR, false, one, 1, NAN, NAN, 4.5, 5.5);
	check_range(PLOT_LINEAR, true, one, 1, NAN, NAN, 4, 6);
	check_range(PLOT_LOG, false, one, 1, NAN, NAN, 5 / sqrt(10), 5 * sqrt(10));
	check_range(PLOT_LINEAR, false, zero, 1, NAN, NAN, -1, 1);
	check_range(PLOT_LINEAR, false, from_zero, 2, NAN, NAN, 0, 10.4);
	check_range(PLOT_LINEAR, false, below, 2, NAN, NAN, -10 - 0.396, 0);
	check_range(PLOT_LOG, false, decades, 4, NAN, NAN, pow(10, -2.16), pow(10, 2.16));
	check_range(PLOT_LOG, false, decades, 4, -5, 1000, pow(10, -2.2), 1000);
	check_range(PLOT_LINEAR, false, close, 2, NAN, NAN, 0.9, 1.1);
	check_range(PLOT_LINEAR, false, NULL, 0, NAN, NAN, 0, 1);
	check_range(PLOT_LOG, false, zero, 1, NAN, NAN, 1, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear_ticks), cmocka_unit_test(test_log_ticks),
		cmocka_unit_test(test_minor_ticks),  cmocka_unit_test(test_ticks_of_random_ranges),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, shutdown_fonts);
}
