/* test_t_distribution.c - Student's t, samples and tests of means (lib/base/t_distribution.h). */
#include "base/t_distribution.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_near(double x, double known, double tolerance)
{
	if (!(fabs(x - known) <= tolerance * fabs(known)))
		fail_msg("%.17g is not %.17g", x, known);
}

/* Against mpmath (tests/ref/student.py), from 1 down to 1e-300. */
static void probabilities_are_exact(void **state)
{
	const char *dir = getenv("srcdir");
	char path[4096], line[256];
	double t, freedom, p;
	int rows = 0;
	FILE *f;

	(void)state;
	snprintf(path, sizeof path, "%s/tests/ref/student.tsv", dir ? dir : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lf %lf %lf", &t, &freedom, &p) != 3)
			continue;
		assert_near(dp_t_two_sided_p(t, freedom), p, 1e-10);
		assert_near(dp_t_two_sided_p(-t, freedom), p, 1e-10);
		rows++;
	}
	fclose(f);
	assert_true(rows > 150);
}

static void ends_of_the_distribution(void **state)
{
	(void)state;
	assert_true(isnan(dp_t_two_sided_p(1, 0)));
	assert_true(isnan(dp_t_two_sided_p(1, NAN)));
	assert_true(isnan(dp_t_two_sided_p(NAN, 3)));
	assert_true(dp_t_two_sided_p(INFINITY, 3) == 0);
	assert_true(dp_t_two_sided_p(1e9, 1e6) == 0); /* less than a double can say */
	assert_near(dp_t_two_sided_p(2, INFINITY), 0.045500263896358414, 1e-14);
	assert_true(isnan(dp_t_critical_value(0, 3)));
	assert_true(isnan(dp_t_critical_value(1, 3)));
	assert_true(isnan(dp_t_critical_95(0)));
}

/* Against roots of mpmath's probabilities; those of scipy 1.10 have ten digits. */
static void quantiles_of_95_percent(void **state)
{
	static const double known[][2] = {
		{ 0.5, 164.55767348048853312 },      { 1, 12.706204736174704646 },
		{ 2.7, 3.3921483831737523264 },      { 9, 2.2621571627982055426 },
		{ 18, 2.1009220402410384881 },       { 21, 2.0796138447276803951 },
		{ 99, 1.9842169515864174951 },       { 1e6, 1.9599663568141070353 },
		{ INFINITY, 1.9599639845400542355 },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(known); i++)
		assert_near(dp_t_critical_95(known[i][0]), known[i][1], 1e-11);
}

static void quantiles_lead_back(void **state)
{
	static const double p[] = { 1 - 1e-12, 0.999, 0.5, 0.05, 1e-3, 1e-20, 1e-290 };
	static const double freedom[] = { 0.5, 1, 3.3, 18, 200, 1e4, 1e6 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(p); i++)
		for (size_t k = 0; k < DP_COUNT(freedom); k++) {
			double t = dp_t_critical_value(p[i], freedom[k]);

			if (t < 1e300) /* half a degree needs 1e579 for 1e-290 */
				assert_near(dp_t_two_sided_p(t, freedom[k]), p[i], 1e-9);
		}
}

static const double few[] = { 8.31, 8.36, 8.35, 8.4 };
static const double more[] = { 8.1, 8.25, 8.0, 8.3, 8.22, 8.19 };

/* Against mpmath. */
static void samples_have_an_interval(void **state)
{
	struct dp_sample_stats s = dp_sample_stats_compute(more, DP_COUNT(more));

	(void)state;
	assert_near(s.mean, 8.176666666666668, 1e-14);
	assert_near(s.sd, 0.10930080817023596, 1e-12);
	assert_near(s.ci_low, 8.06196250310338707, 1e-12);
	assert_near(s.ci_high, 8.29137083022994626, 1e-12);
}

static void small_samples_say_what_they_can(void **state)
{
	static const double same[] = { 0.1, 0.1, 0.1 };
	struct dp_sample_stats none = dp_sample_stats_compute(NULL, 0),
			       one = dp_sample_stats_compute(more, 1);
	struct dp_sample_stats equal = dp_sample_stats_compute(same, 3);

	(void)state;
	assert_true(isnan(none.mean) && isnan(none.sd) && isnan(none.ci_low));
	assert_true(one.mean == 8.1 && isnan(one.sd) && isnan(one.ci_high));
	assert_true(equal.sd == 0 && equal.ci_low == equal.ci_high);
}

/* As scipy.stats.ttest_ind(equal_var=False) has it; more digits and the interval are
 * mpmath's. */
static void two_samples_by_welch(void **state)
{
	struct dp_sample_stats a = dp_sample_stats_compute(few, DP_COUNT(few));
	struct dp_sample_stats b = dp_sample_stats_compute(more, DP_COUNT(more));
	struct dp_t_test ab = dp_t_test_means(&a, &b), ba = dp_t_test_means(&b, &a);

	(void)state;
	assert_int_equal(ab.kind, DP_T_TEST_WELCH);
	assert_near(ab.t, 3.692290327021146, 1e-11);
	assert_near(ab.df, 6.542128782374372, 1e-11);
	assert_near(ab.p, 0.0087226773381152323, 1e-10);
	assert_near(ab.difference, 0.1783333333333328, 1e-12);
	assert_near(ab.ci_low, 0.0624841996771322671, 1e-10);
	assert_near(ab.ci_high, 0.2941824669895344, 1e-10);
	assert_true(ba.t == -ab.t && ba.p == ab.p && ba.ci_low == -ab.ci_high);
}

/* Against scipy.stats.ttest_1samp(more, 8.35). */
static void one_sample_against_a_fixed_value(void **state)
{
	static const double fixed = 8.35;
	struct dp_sample_stats a = dp_sample_stats_compute(&fixed, 1);
	struct dp_sample_stats b = dp_sample_stats_compute(more, DP_COUNT(more));
	struct dp_t_test test = dp_t_test_means(&a, &b);

	(void)state;
	assert_int_equal(test.kind, DP_T_TEST_ONE_SAMPLE);
	assert_near(test.t, 3.8844929803367405, 1e-11);
	assert_near(test.p, 0.011589184002534093, 1e-10);
	assert_true(test.df == 5);
}

/* A row of the paper's Table 2: between one study and 19 parts of a random one lies
 * 0.158, with 95 % (0.053, 0.264). Made-up parts of that mean and spread lead there, to
 * all the digits that it has, and to a p of 0.006. */
static void a_row_of_the_paper(void **state)
{
	double parts[19], fixed = 8.35, spread = 0.1055 / 2.1009220402410385 * sqrt(19);
	struct dp_sample_stats a = dp_sample_stats_compute(&fixed, 1), b;
	struct dp_t_test test;

	(void)state;
	for (int i = 0; i < 19; i++) /* -9 to 9 have the variance 190/6 */
		parts[i] = fixed - 0.158 + (i - 9) * spread / sqrt(190.0 / 6);
	b = dp_sample_stats_compute(parts, 19);
	test = dp_t_test_means(&a, &b);
	assert_near(test.difference, 0.158, 1e-12);
	assert_near(test.ci_low, 0.0525, 1e-10);
	assert_near(test.ci_high, 0.2635, 1e-10);
	assert_true(test.df == 18);
	assert_true(test.p > 0.0055 && test.p < 0.0065);
}

/* Nothing that could tell chance from difference: no p is made up. */
static void without_a_spread_there_is_no_test(void **state)
{
	static const double same[] = { 2, 2, 2 }, wild[] = { 1, INFINITY };
	struct dp_sample_stats one = dp_sample_stats_compute(few, 1),
			       equal = dp_sample_stats_compute(same, 3);
	struct dp_sample_stats endless = dp_sample_stats_compute(wild, 2),
			       none = dp_sample_stats_compute(NULL, 0);
	struct dp_sample_stats b = dp_sample_stats_compute(more, DP_COUNT(more));
	struct dp_t_test tests[] = { dp_t_test_means(&one, &equal), dp_t_test_means(&equal, &equal),
				     dp_t_test_means(&one, &one), dp_t_test_means(&endless, &b),
				     dp_t_test_means(&none, &b) };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(tests); i++) {
		assert_int_equal(tests[i].kind, DP_T_TEST_NONE);
		assert_true(isnan(tests[i].p) && isnan(tests[i].t) && isnan(tests[i].df) &&
			    isnan(tests[i].ci_low));
	}
	assert_near(tests[0].difference, 6.31, 1e-14);
	/* one that has none beside one that has: the other's degrees of freedom */
	assert_true(dp_t_test_means(&equal, &b).df == 5);
	assert_int_equal(dp_t_test_means(&equal, &b).kind, DP_T_TEST_WELCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probabilities_are_exact),
		cmocka_unit_test(ends_of_the_distribution),
		cmocka_unit_test(quantiles_of_95_percent),
		cmocka_unit_test(quantiles_lead_back),
		cmocka_unit_test(samples_have_an_interval),
		cmocka_unit_test(small_samples_say_what_they_can),
		cmocka_unit_test(two_samples_by_welch),
		cmocka_unit_test(one_sample_against_a_fixed_value),
		cmocka_unit_test(a_row_of_the_paper),
		cmocka_unit_test(without_a_spread_there_is_no_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
