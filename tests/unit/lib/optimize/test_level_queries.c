/* test_level_queries.c - recommendations of a study: questions read, what was tested, and
 * the answer as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "tests/unit/support/made_space.h"
#include "optimize/history/level_queries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STUDY HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM
#define THREE                                                                                      \
	HEAD "parameters: {x: {type: float, range: [0, 1]}}\n"                                     \
	     "objectives: {a: {metric: a}, b: {metric: b, goal: maximize}, c: {metric: "           \
	     "c}}\nanti_ideal: {a: 10, b: 0, c: 10}\n" RANDOM

/* Of C and b: epsilon, and an error that is least at b = 1. */
static void by_noise(const double *x, double *y)
{
	y[0] = made_svt(x[0], x[1]);
	y[1] = 0.2 + 0.01 * x[0] + 0.1 * fabs(log10(x[1]));
}

static int read_levels(const struct dp_study *s, const char *text, struct dp_level_queries *out)
{
	json_t *levels = json_loads(text, JSON_DECODE_ANY, NULL);
	int code;

	assert_non_null(levels);
	code = dp_level_queries_parse(s, levels, out, &made_err);
	json_decref(levels);
	return code;
}

static void levels_are_read(void **state)
{
	static const char *const wrong[] = { "[1]", "[{}]", "[{\"epsilon\":null}]",
					     "[{\"epsilon\":\"nan\"}]",
					     "[{\"epsilon\":1,\"error\":1}]" };
	const struct dp_study *s = made_study(STUDY)->spec;
	static struct dp_level_queries l;

	(void)state;
	assert_int_equal(read_levels(s, "[{\"error\":0.5},{\"epsilon\":1}]", &l), DP_OK);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.list[0].level.output, 1);
	assert_true(l.list[1].level.value == 1);
	for (size_t i = 0; i < DP_COUNT(wrong); i++)
		assert_int_equal(read_levels(s, wrong[i], &l), DP_E_PROTOCOL);
	assert_int_equal(read_levels(s, "[]", &l), DP_E_USAGE);
	assert_int_equal(read_levels(s, "[{\"epsilonn\":1}]", &l), DP_E_USAGE);
	assert_non_null(strstr(made_err.msg, "did you mean 'epsilon'?"));
	assert_string_equal(made_err.hint, "it has epsilon, error");
}

/* The best of what was observed, the first of equal ones. */
static void the_best_tested_point(void **state)
{
	struct dp_study_state *st = made_study(STUDY);
	static struct dp_level_queries l;

	(void)state;
	TRIAL(V(1, 1), V(0.5, 0.4));
	TRIAL(V(1, 2), V(0.9, 0.3));
	TRIAL(V(1, 3), V(0.8, 0.3));
	TRIAL(V(1, 4), V(1.1, 0.1));
	assert_int_equal(
		read_levels(st->spec, "[{\"epsilon\":1},{\"error\":0.3},{\"epsilon\":0.4}]", &l),
		DP_OK);
	dp_level_queries_find_tested(st, &l);
	assert_true(l.list[0].has_tested && l.list[0].tested.trial == 1);
	assert_true(isnan(l.list[0].tested_checkpoint) && l.list[0].tested_objectives[1] == 0.3);
	assert_true(l.list[1].has_tested && l.list[1].tested.trial == 2);
	assert_false(l.list[2].has_tested);
}

/* Of two others the hypervolume counts, and one that is maximised is held from below. */
static void the_best_of_three_objectives(void **state)
{
	struct dp_study_state *st = made_study(THREE);
	static struct dp_level_queries l;

	(void)state;
	TRIAL(V(0.1), V(1, 5, 9));
	TRIAL(V(0.2), V(1, 4, 5));
	TRIAL(V(0.3), V(4, 6, 5));
	TRIAL(V(0.4), V(1, 20, 11)); /* outside */
	assert_int_equal(read_levels(st->spec, "[{\"a\":2},{\"b\":5}]", &l), DP_OK);
	dp_level_queries_find_tested(st, &l);
	assert_int_equal(l.list[0].tested.trial, 1);
	assert_int_equal(l.list[1].tested.trial, 2);
}

struct question {
	struct dp_study_state *st;
	struct dp_history_subset results;
	struct dp_level_queries levels;
};

static int find_all(const struct question *q, json_t **out)
{
	struct dp_proposer *p = dp_proposer_new(q->st->spec);
	int code;

	*out = NULL;
	code = p ? dp_level_queries_recommend(p, q->st->spec, &q->results, NULL, &q->levels, NULL,
					      out, &made_err)
		 : DP_E_NOMEM;

	dp_proposer_free(p);
	return code;
}

static void the_answer(void **state)
{
	static const char *const keys[] = { "at",        "holds",       "parameters", "objectives",
					    "predicted", "constraints", "tested",     "expected",
					    "nearest",   "trust" };
	static struct question q;
	json_t *all, *one;
	double epsilon;

	(void)state;
	q.st = made_study(STUDY);
	made_scatter(40, by_noise);
	assert_int_equal(read_levels(q.st->spec, "[{\"epsilon\":2},{\"epsilon\":1e-9}]", &q.levels),
			 DP_OK);
	dp_level_queries_find_tested(q.st, &q.levels);
	q.results = dp_history_subset_load(q.st);
	assert_int_equal(find_all(&q, &all), DP_OK);
	assert_int_equal(json_array_size(all), 2);
	one = json_array_get(all, 0);
	assert_int_equal(json_object_size(one), DP_COUNT(keys));
	for (size_t i = 0; i < DP_COUNT(keys); i++)
		assert_non_null(json_object_get(one, keys[i]));
	assert_true(dp_json_to_real(json_object_get(json_object_get(one, "objectives"), "epsilon"),
				    &epsilon));
	assert_true(epsilon <= 2 && epsilon >= 1.998);
	one = json_object_get(json_array_get(all, 1), "error");
	assert_string_equal(dp_json_str(one, "kind", ""), "limit");
	json_decref(all);
	dp_history_subset_free(&q.results);
}

static void too_few_results(void **state)
{
	static struct question q;
	json_t *all;

	(void)state;
	q.st = made_study(STUDY);
	TRIAL(V(1, 1), V(0.5, 0.4));
	assert_int_equal(read_levels(q.st->spec, "[{\"epsilon\":2}]", &q.levels), DP_OK);
	q.results = dp_history_subset_load(q.st);
	assert_int_equal(find_all(&q, &all), DP_E_FAILED);
	assert_non_null(strstr(made_err.msg, "1 result: too few"));
	dp_history_subset_free(&q.results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(levels_are_read, made_free),
		cmocka_unit_test_teardown(the_best_tested_point, made_free),
		cmocka_unit_test_teardown(the_best_of_three_objectives, made_free),
		cmocka_unit_test_teardown(the_answer, made_free),
		cmocka_unit_test_teardown(too_few_results, made_free),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
