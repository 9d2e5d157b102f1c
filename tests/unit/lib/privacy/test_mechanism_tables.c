/* test_mechanism_tables.c - the mechanisms' tables, their checks, and the closed form of svt. */
#include "privacy/privacy.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int svt(double cutoff, double scale, double delta, struct dp_epsilon *out,
	       struct dp_err *err)
{
	const double values[] = { cutoff, scale, delta };

	return dp_privacy_epsilon(dp_mechanism_find("svt"), values, out, err);
}

/* (1+(2C)^(1/3)) (1+(2C)^(2/3)) / b: where 2C is a cube by hand, the rest with forty
 * digits by Python's decimal module, rounded here to seventeen. */
static void test_svt_values(void **state)
{
	static const struct {
		double cutoff, scale, epsilon;
	} known[] = {
		{ 4, 1, 15 },
		{ 4, 10, 1.5 },
		{ 32, 1, 85 },
		{ 108, 2, 129.5 },
		{ 1, 1, 5.8473221018630726 },
		{ 3, 0.7, 17.312925488181096 },
		{ 30, 0.01, 8024.1056289039924 },
		{ 30, 100, 0.80241056289039926 },
		{ 1000000, 3, 672000.33420822383 },
	};
	struct dp_epsilon e;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(known); i++) {
		assert_int_equal(svt(known[i].cutoff, known[i].scale, NAN, &e, NULL), DP_OK);
		/* an upper bound, and by two units in the last place at most */
		assert_true(e.epsilon >= known[i].epsilon * (1 - 0x1p-53));
		assert_true(e.epsilon <= known[i].epsilon * (1 + 0x1p-51));
		assert_true(e.error >= 0 && e.error <= known[i].epsilon * 1e-15);
		assert_true(e.error_is_proved);
		assert_true(isnan(e.order));
		assert_true(e.delta == 0);
		assert_string_equal(e.accountant, "closed-form");
	}
}

static void test_svt_never_below(void **state)
{
	struct dp_epsilon e;

	(void)state;
	/* exact cases: 15/b with b a power of two */
	for (int k = -20; k <= 20; k++) {
		assert_int_equal(svt(4, ldexp(1, k), NAN, &e, NULL), DP_OK);
		assert_true(e.epsilon >= ldexp(15, -k));
	}
	assert_int_equal(svt(4, 1e-320, NAN, &e, NULL), DP_OK);
	assert_true(isinf(e.epsilon) && e.error == 0);
}

static void test_svt_refuses(void **state)
{
	static const struct {
		double cutoff, scale, delta;
		const char *key;
	} bad[] = {
		{ 0, 1, NAN, "cutoff" },        { 1.5, 1, NAN, "cutoff" },
		{ NAN, 1, NAN, "cutoff" },      { -1, 1, NAN, "cutoff" },
		{ INFINITY, 1, NAN, "cutoff" }, { 1, 0, NAN, "scale" },
		{ 1, -2, NAN, "scale" },        { 1, NAN, NAN, "scale" },
		{ 1, INFINITY, NAN, "scale" },  { 1, 1, 1e-5, "delta" },
	};
	struct dp_epsilon e = { .epsilon = -7 };
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		assert_int_equal(svt(bad[i].cutoff, bad[i].scale, bad[i].delta, &e, &err),
				 DP_E_INVALID);
		assert_non_null(strstr(err.msg, bad[i].key));
		assert_non_null(strstr(err.msg, "svt"));
		assert_true(e.epsilon == -7); /* untouched */
	}
	assert_int_equal(svt(1, 1, 0, &e, &err), DP_OK);
}

/* A role is one of the mechanism's own keys, by the name that study files know it by. */
static void check_role(const struct dp_mechanism *m, const struct dp_privacy_key *role,
		       const char *name)
{
	assert_ptr_equal(dp_privacy_key_find(m, name), role);
	if (role)
		assert_ptr_equal(&m->keys[dp_privacy_key_index(m, role)], role);
}

/* Everything that others ask of a row is there. */
static void check_row(const struct dp_mechanism *m)
{
	double none[DP_PRIVACY_KEYS_MAX];
	struct dp_privacy_description words;
	enum dp_privacy_cost cost;

	for (size_t i = 0; i < m->nkeys; i++)
		none[i] = NAN;
	check_role(m, m->delta, "delta");
	check_role(m, m->records, "records");
	check_role(m, m->accountant, "accountant");
	check_role(m, m->conversion, "conversion");
	if (m->noise)
		check_role(m, m->noise, m->noise->name);
	if (m->accountant)
		assert_ptr_equal(m->accountant->choices, dp_privacy_accountants);
	if (m->conversion)
		assert_ptr_equal(m->conversion->choices, dp_privacy_conversions);
	cost = dp_mechanism_cost(m, none);
	assert_true(cost >= DP_PRIVACY_COST_CLOSED_FORM && cost <= DP_PRIVACY_COST_EXPENSIVE);
	assert_true(cost == DP_PRIVACY_COST_CLOSED_FORM || m->epsilon_cached);
	/* nothing known is nothing said, and no crash */
	dp_privacy_describe(m, none, &words);
	assert_true(words.relation && words.accountant && words.theorem && words.noise_unit);
	assert_string_equal(words.noise, "");
	assert_string_equal(words.sampler, "");
}

static void test_tables(void **state)
{
	char rule[DP_PRIVACY_RANGE_TEXT_LEN], list[DP_MECHANISMS_LEN];

	(void)state;
	assert_null(dp_mechanism_find("nonsense"));
	assert_ptr_equal(strstr(dp_mechanism_names_text(list), "dp-sgd, gaussian, "), list);
	for (size_t i = 0; dp_mechanisms[i]; i++) {
		const struct dp_mechanism *m = dp_mechanisms[i];

		assert_ptr_equal(dp_mechanism_find(m->name), m);
		assert_non_null(strstr(list, m->name));
		assert_true(m->nkeys <= DP_PRIVACY_KEYS_MAX);
		assert_true(m->summary && m->relation && m->source && m->epsilon);
		check_row(m);
		for (size_t k = 0; k < m->nkeys; k++) {
			assert_true(m->keys[k].name && m->keys[k].help && m->keys[k].short_help);
			assert_true(strlen(dp_privacy_key_format_range(&m->keys[k], rule)) > 0);
			if (!isnan(m->keys[k].default_value))
				assert_true(dp_privacy_key_allows(&m->keys[k],
								  m->keys[k].default_value));
		}
	}
}

static void test_rules(void **state)
{
	static const char *const words[] = { "poisson", "shuffle", NULL };
	const struct dp_privacy_key word = { .kind = DP_PRIVACY_CHOICE, .choices = words };
	const struct dp_privacy_key open = {
		.kind = DP_PRIVACY_NUMBER, .lo = 0, .hi = 1, .lo_open = true, .hi_open = true
	};
	char rule[DP_PRIVACY_RANGE_TEXT_LEN];

	(void)state;
	assert_string_equal(dp_privacy_key_format_range(&word, rule), "poisson | shuffle");
	assert_true(dp_privacy_key_allows(&word, 1) && !dp_privacy_key_allows(&word, 2) &&
		    !dp_privacy_key_allows(&word, 0.5) && !dp_privacy_key_allows(&word, -1));
	assert_string_equal(dp_privacy_key_format_range(&open, rule), "number > 0 and < 1");
	assert_true(dp_privacy_key_allows(&open, 0.5) && !dp_privacy_key_allows(&open, 0) &&
		    !dp_privacy_key_allows(&open, 1) && !dp_privacy_key_allows(&open, NAN));
	assert_string_equal(dp_privacy_key_format_range(&dp_mechanism_find("svt")->keys[0], rule),
			    "whole number >= 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_svt_values),  cmocka_unit_test(test_svt_never_below),
		cmocka_unit_test(test_svt_refuses), cmocka_unit_test(test_tables),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
