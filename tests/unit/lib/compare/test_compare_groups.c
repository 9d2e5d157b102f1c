/* test_compare_groups.c - groups of studies compared: how they are written, parts, values,
 * tests, and the answer as JSON. */
#include "base/json.h"
#include "compare/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- as people write them ---- */

static void a_group_is_read(void **state)
{
	struct dp_group_spec m;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_group_spec_parse("My group=a,long/256,b", &m, &err), DP_OK);
	assert_string_equal(m.name, "My group");
	assert_int_equal(m.n, 3);
	assert_string_equal(m.list[1].study, "long");
	assert_int_equal(m.list[1].part_size, 256);
	assert_int_equal(m.list[2].part_size, 0);
	dp_group_spec_free(&m);
	assert_int_equal(dp_group_spec_parse("long/2", &m, &err), DP_OK);
	assert_string_equal(m.name, "long/2");
	assert_string_equal(m.list[0].study, "long");
	dp_group_spec_free(&m);
}

static void what_is_no_group_is_refused(void **state)
{
	static const char *const wrong[] = { "=a", "g=", "g=a,,b", "g=a/0", "g=a/x", "a/-1" };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(wrong); i++) {
		struct dp_group_spec m;
		struct dp_err err = { 0 };

		assert_int_equal(dp_group_spec_parse(wrong[i], &m, &err), DP_E_USAGE);
		assert_true(strlen(err.msg) > 10);
		dp_group_spec_free(&m);
	}
}

/* ---- numbers ---- */

static const double long_y[] = { 1, 5, 2, 4, 3, 3, 4, 2, 5, 1 }; /* 5 results, */
static const uint32_t long_trials[] = { 0, 1, 1, 3, 4 };         /* trial 2 has none */
static const struct dp_compare_study long_study = { "long", long_y, long_trials, 5, 6, 5 };
static const double one_y[] = { 1, 1 };
static const uint32_t one_trials[] = { 0 };
static const struct dp_compare_study one_study = { "one", one_y, one_trials, 1, 1, 1 };

static struct dp_comparison made_contest(void)
{
	struct dp_comparison c = { .nobjectives = 2,
				   .sign = { 1, 1 },
				   .reference_point = { 10, 10 } };

	c.objectives[0] = strdup("epsilon");
	c.objectives[1] = strdup("error");
	return c;
}

static void parts_and_their_values(void **state)
{
	const struct dp_compare_query volume = { .is_hypervolume = true };
	struct dp_comparison c = made_contest();
	struct dp_compare_answers at = { 0 };
	struct dp_compare_answer a;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_comparison_add_group(&c, "one", &err), DP_OK);
	assert_int_equal(dp_comparison_add_study(&c, &one_study, 0, &err), DP_OK);
	assert_int_equal(dp_comparison_add_group(&c, "parts", &err), DP_OK);
	assert_int_equal(dp_comparison_add_study(&c, &long_study, 2, &err), DP_OK);
	assert_int_equal(c.groups[1].n, 2); /* trials 0 and 1, 2 and 3; the rest is left */
	assert_int_equal(dp_compare_count_leftover_trials(&long_study, 2), 2);
	assert_string_equal(c.groups[1].members[1].name, "long/2#2");
	assert_int_equal(c.groups[1].members[1].n, 1);
	assert_int_equal(c.groups[1].members[1].first_trial, 2);
	a = dp_comparison_answer(&c, &volume);
	/* (1,5), (2,4), (3,3) below (10,10): 45 + 8 + 7; (4,2) alone: 48 */
	assert_true(dp_compare_group_values(&c, &a, 0)[0] == 81);
	assert_true(dp_compare_group_values(&c, &a, 1)[0] == 60);
	assert_true(dp_compare_group_values(&c, &a, 1)[1] == 48);
	assert_true(a.samples[1].mean == 54);
	assert_int_equal(a.tests[1].kind, DP_T_TEST_ONE_SAMPLE);
	assert_true(a.tests[1].difference == 27);
	dp_compare_answer_free(&a);
	assert_int_equal(dp_comparison_answer_at(&c, "epsilon=2,4", &at, &err), DP_OK);
	assert_int_equal(at.n, 2);
	assert_true(dp_compare_group_values(&c, &at.list[0], 1)[0] == 4);
	assert_true(isnan(dp_compare_group_values(&c, &at.list[0], 1)[1]));
	assert_true(dp_compare_group_values(&c, &at.list[1], 1)[1] == 2);
	dp_compare_answers_free(&at);
	dp_comparison_free(&c);
}

static void refusals(void **state)
{
	struct dp_comparison c = made_contest();
	struct dp_compare_answers at = { 0 };
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_comparison_add_group(&c, "g", &err), DP_OK);
	assert_int_equal(dp_comparison_add_group(&c, "g", &err), DP_E_USAGE);
	assert_int_equal(dp_comparison_add_study(&c, &one_study, 0, &err), DP_OK);
	assert_int_equal(dp_comparison_add_study(&c, &one_study, 0, &err), DP_E_USAGE);
	assert_non_null(strstr(err.msg, "twice"));
	assert_int_equal(dp_comparison_add_study(&c, &long_study, 6, &err), DP_E_INVALID);
	assert_int_equal(dp_comparison_answer_at(&c, "loss=1", &at, &err), DP_E_USAGE);
	assert_non_null(strstr(err.hint, "epsilon, error"));
	assert_int_equal(dp_comparison_answer_at(&c, "epsilon", &at, &err), DP_E_USAGE);
	assert_int_equal(dp_comparison_answer_at(&c, "epsilon=1,nan", &at, &err), DP_E_USAGE);
	dp_compare_answers_free(&at);
	dp_comparison_free(&c);
}

/* Followed: the last point up to a bound counts, not the best. */
static void what_is_followed_is_not_chosen_again(void **state)
{
	const struct dp_compare_query at = { .bounded_objective = 0,
					     .target_objective = 1,
					     .bound = 3 };
	static const double y[] = { 1, 3, 2, 5 };
	static const uint32_t trials[] = { 0, 1 };
	const struct dp_compare_study front = { "f", y, trials, 2, 2, 2 };
	struct dp_comparison c = made_contest();
	struct dp_compare_answer a;
	struct dp_err err;

	(void)state;
	c.is_realised = true;
	assert_int_equal(dp_comparison_add_group(&c, "f", &err), DP_OK);
	assert_int_equal(dp_comparison_add_study(&c, &front, 0, &err), DP_OK);
	a = dp_comparison_answer(&c, &at);
	assert_true(a.values[0] == 5);
	dp_compare_answer_free(&a);
	dp_comparison_free(&c);
}

/* ---- from a group specification to JSON ---- */

static int compare_once(void *arg)
{
	const struct dp_compare_query volume = { .is_hypervolume = true };
	struct dp_comparison c = { .nobjectives = 2,
				   .sign = { 1, 1 },
				   .reference_point = { 10, 10 } };
	struct dp_group_spec m = { 0 };
	struct dp_compare_answers at = { 0 };
	struct dp_compare_answer a = { 0 };
	struct dp_err err = { 0 };
	json_t *json = NULL;
	int code;

	c.objectives[0] = strdup("epsilon");
	c.objectives[1] = strdup("error");
	code = dp_group_spec_parse("g=one,long/2", &m, &err);
	if (code == DP_OK)
		code = dp_comparison_add_group(&c, m.name, &err);
	if (code == DP_OK)
		code = dp_comparison_add_study(&c, &one_study, m.list[0].part_size, &err);
	if (code == DP_OK)
		code = dp_comparison_add_group(&c, "other", &err);
	if (code == DP_OK)
		code = dp_comparison_add_study(&c, &long_study, m.list[1].part_size, &err);
	if (code == DP_OK)
		a = dp_comparison_answer(&c, &volume);
	if (code == DP_OK)
		code = dp_comparison_answer_at(&c, "epsilon=1", &at, &err);
	if (code == DP_OK)
		json = dp_compare_json(&c, "observed", &a, &at);
	if (code == DP_OK && arg)
		*(json_t **)arg = json_incref(json);
	json_decref(json);
	dp_compare_answer_free(&a);
	dp_compare_answers_free(&at);
	dp_group_spec_free(&m);
	dp_comparison_free(&c);
	return code;
}

static void as_the_contract_has_it(void **state)
{
	static const char expected[] =
		"{\"version\":1,\"by\":\"observed\",\"anti_ideal\":{\"epsilon\":10,"
		"\"error\":10},\"groups\":[{\"name\":\"g\",\"studies\":[\"one\"],"
		"\"hypervolume\":{\"values\":[81],\"mean\":81,\"sd\":null,\"low\":null,"
		"\"high\":null}}";
	struct dp_buf text = DP_BUF_INIT;
	json_t *json = NULL;

	(void)state;
	assert_int_equal(compare_once(&json), DP_OK);
	dp_json_dump(&text, json, 0);
	assert_memory_equal(dp_buf_text(&text), expected, sizeof expected - 1);
	assert_non_null(strstr(dp_buf_text(&text), "\"kind\":\"one-sample\",\"why\":null}"));
	assert_non_null(
		strstr(dp_buf_text(&text), "\"at\":[{\"epsilon\":1,\"objective\":\"error\""));
	dp_buf_free(&text);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_read),
		cmocka_unit_test(what_is_no_group_is_refused),
		cmocka_unit_test(parts_and_their_values),
		cmocka_unit_test(refusals),
		cmocka_unit_test(what_is_followed_is_not_chosen_again),
		cmocka_unit_test(as_the_contract_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
