/* test_trainer_path.c - trainer.path: its forms, and the values at which a training is looked at
 * on its way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/study_text.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/search_budget.h"

/* base with this path, and parameter C as given. */
static struct dp_study *walked(const char *path, const char *c)
{
	char line[200];
	char *text, *both;
	struct dp_study *s;

	snprintf(line, sizeof line, "  runs: 2\n  path: %s\n", path);
	text = edit("  runs: 2\n", line);
	both = replace(text, "{type: int, range: [1, 30]}", c);
	s = good(both);
	free(text);
	free(both);
	return s;
}

static void check_values(const struct dp_study *s, double own, const double *expected, size_t n)
{
	double x[2] = { own, 1 }, values[DP_CHECKPOINTS_MAX];

	assert_int_equal(dp_learning_curve_checkpoints(s, x, values), n);
	for (size_t i = 0; i < n; i++)
		assert_true(values[i] == expected[i]);
}

#define CHECK_VALUES(s, own, ...)                                                                  \
	check_values(s, own, (const double[]){ __VA_ARGS__ },                                      \
		     sizeof(double[]){ __VA_ARGS__ } / sizeof(double))

static void test_forms(void **state)
{
	static const struct {
		const char *path;
		int points;
	} forms[] = { { "C", 12 },
		      { "\"C\"", 12 },
		      { "{parameter: C}", 12 },
		      { "{points: 64, parameter: C}", 64 },
		      { "{parameter: C, points: 1}", 1 } };
	struct dp_study *s = good(base);
	double x[2] = { 30, 1 }, values[DP_CHECKPOINTS_MAX];

	(void)state;
	assert_int_equal(s->trainer.learning_curve.points, 0);
	assert_int_equal(dp_learning_curve_checkpoints(s, x, values), 0);
	dp_study_free(s);
	for (size_t i = 0; i < DP_COUNT(forms); i++) {
		s = walked(forms[i].path, "{type: int, range: [1, 30]}");
		assert_int_equal(s->trainer.learning_curve.points, forms[i].points);
		assert_int_equal(s->trainer.learning_curve.param, 0);
		dp_study_free(s);
	}
}

/* The contract's example: 12 steps from 1 to 64 are powers of the root of two. */
static void test_values(void **state)
{
	struct dp_study *s = walked("C", "{type: int, range: [1, 64]}");

	(void)state;
	CHECK_VALUES(s, 64, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45);
	CHECK_VALUES(s, 16, 1, 2, 3, 4, 6, 8, 11);
	CHECK_VALUES(s, 17, 1, 2, 3, 4, 6, 8, 11, 16);
	CHECK_VALUES(s, 2, 1);
	check_values(s, 1, NULL, 0);
	dp_study_free(s);
	/* a range that begins later, and one that is narrower than the points */
	s = walked("{parameter: C, points: 4}", "{type: int, range: [10, 160]}");
	CHECK_VALUES(s, 160, 10, 20, 40, 80);
	check_values(s, 10, NULL, 0);
	dp_study_free(s);
	s = walked("{parameter: C, points: 64}", "{type: int, range: [1, 3]}");
	CHECK_VALUES(s, 3, 1, 2);
	dp_study_free(s);
	s = walked("{parameter: C, points: 1}", "{type: int, range: [1, 3]}");
	CHECK_VALUES(s, 3, 1);
	dp_study_free(s);
}

/* A fixed parameter is walked up from 1; what a study accepts counts for random points,
 * the range for those of models. */
static void test_whole_range(void **state)
{
	static const char wide[] = "{type: int, range: [4, 64], sample: {uniform: [0, 20], accept: "
				   "[0.5, 16.5]}}";
	struct dp_study *s = walked("{parameter: C, points: 4}", "{fixed: 16}");

	(void)state;
	CHECK_VALUES(s, 0, 1, 2, 4, 8);
	dp_study_free(s);
	s = walked("{parameter: C, points: 4}", wide);
	CHECK_VALUES(s, 16, 1, 2, 4, 8);
	s->search.method = DP_METHOD_DPARETO;
	CHECK_VALUES(s, 64, 4, 8, 16, 32);
	/* an initial point that a person enqueued may lie anywhere */
	CHECK_VALUES(s, 1000, 4, 8, 16, 32);
	check_values(s, 2, NULL, 0);
	dp_study_free(s);
}

/* However wide the range: ascending, whole, below the training's own value, and no more
 * than was asked for. */
static void test_any_range(void **state)
{
	static const double ends[][2] = {
		{ 1, 2 }, { 1, 9007199254740992 }, { 7, 1e6 }, { 1e15, 1e15 + 3 }
	};
	double values[DP_CHECKPOINTS_MAX], x[2] = { 0, 1 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(ends); i++) {
		for (int points = 1; points <= DP_CHECKPOINTS_MAX; points++) {
			char path[60], c[80];
			struct dp_study *s;
			size_t n;

			snprintf(path, sizeof path, "{parameter: C, points: %d}", points);
			snprintf(c, sizeof c, "{type: int, range: [%.0f, %.0f]}", ends[i][0],
				 ends[i][1]);
			s = walked(path, c);
			x[0] = ends[i][1];
			n = dp_learning_curve_checkpoints(s, x, values);
			assert_true(n >= 1 && n <= (size_t)points);
			assert_true(values[0] == ends[i][0]);
			for (size_t k = 0; k < n; k++) {
				assert_true(values[k] == rint(values[k]));
				assert_true(values[k] < x[0]);
				assert_true(k == 0 || values[k] > values[k - 1]);
			}
			dp_study_free(s);
		}
	}
}

/* An oracle asked at a waypoint answers as for a training that ends there, whether the
 * parameter is searched or fixed. */
static void test_privacy(void **state)
{
	struct dp_study *plain = good(base);
	double ends_there[2] = { 4, 10 }, x[2] = { 16, 10 }, y[2], expected[2];

	(void)state;
	assert_int_equal(dp_objectives_epsilon(plain, ends_there, expected, NULL), DP_OK);
	for (int fixed = 0; fixed < 2; fixed++) {
		struct dp_study *s =
			walked("C", fixed ? "{fixed: 16}" : "{type: int, range: [1, 64]}");

		x[0] = fixed ? 0 : 16;
		assert_int_equal(dp_objectives_epsilon_at(s, NULL, x, 4, y, NULL), DP_OK);
		assert_true(y[0] == expected[0] && isnan(y[1]));
		assert_int_equal(dp_objectives_epsilon(s, x, y, NULL), DP_OK);
		assert_true(y[0] > expected[0]);
		dp_study_free(s);
	}
	dp_study_free(plain);
}

/* ---- is it a learning curve? ---- */

#define GAUSSIAN "mechanism: gaussian, sigma: C, delta: 1e-5"
#define OUTPUT                                                                                     \
	"mechanism: output-perturbation, regularization: 0.1, records: C, sigma: b, "              \
	"delta: 1e-5"
#define SGD "mechanism: dp-sgd, sampling: poisson, records: 1000, delta: 1e-5, "

/* base with a path over C and this privacy. */
static struct dp_study *curve(const char *privacy)
{
	char *text = edit("  runs: 2\n", "  runs: 2\n  path: {parameter: C, points: 4}\n");
	char *all = replace(text, "mechanism: svt, cutoff: C, scale: b", privacy);
	struct dp_study *s = good(all);

	free(text);
	free(all);
	return s;
}

/* The cost of a run is the maximum over its checkpoints and its end. */
static void test_falling(void **state)
{
	struct dp_study *s = curve(GAUSSIAN);
	struct dp_renyi_cache *m = dp_renyi_cache_new();
	double x[2] = { 16, 1 }, first[2] = { 1, 1 }, orders[] = { 2, 8 };
	double y[2], expected[2], k[2], k_first[2], at[] = { NAN, 12 };

	(void)state;
	assert_non_null(m);
	assert_int_equal(dp_objectives_epsilon(s, first, expected, NULL), DP_OK);
	assert_int_equal(dp_study_training_renyi(s, m, 0, first, NAN, orders, 2, k_first, NULL),
			 DP_OK);
	for (size_t i = 0; i < DP_COUNT(at); i++) {
		assert_int_equal(dp_objectives_epsilon_at(s, NULL, x, at[i], y, NULL), DP_OK);
		assert_true(y[0] == expected[0]);
		assert_int_equal(dp_study_training_renyi(s, m, 0, x, at[i], orders, 2, k, NULL),
				 DP_OK);
		assert_true(k[0] == k_first[0] && k[1] == k_first[1]);
	}
	dp_renyi_cache_free(m);
	dp_study_free(s);
}

/* A new study is refused where epsilon may fall as the parameter grows. */
static void test_no_learning_curve(void **state)
{
	static const struct {
		const char *privacy, *key; /* key NULL: it is one */
	} cases[] = {
		{ GAUSSIAN, "'sigma' of gaussian" },
		{ OUTPUT, "'records' of output-perturbation" },
		{ SGD "lot: C, steps: 5, noise_multiplier: 2", "'lot' of dp-sgd" },
		{ SGD "lot: 10, epochs: C, noise_multiplier: C", "'noise_multiplier' of dp-sgd" },
		{ "compose: [{mechanism: laplace, scale: 2, times: C}, {mechanism: "
		  "gaussian, sigma: C}], delta: 1e-5",
		  "'sigma' of gaussian" },
		{ SGD "lot: 10, epochs: C, noise_multiplier: 2", NULL },
		{ SGD "lot: 10, steps: C, noise_multiplier: 2", NULL },
		{ "mechanism: svt, cutoff: C, scale: b", NULL },
		{ "compose: [{mechanism: laplace, scale: 2, times: C}], delta: 1e-5", NULL },
		{ "mechanism: gaussian, sigma: 2, delta: 1e-5", NULL },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_study *s = curve(cases[i].privacy);
		struct dp_diagnostics problems = { 0 };
		struct dp_err err = { 0 };
		int code = dp_study_check_learning_curve(s, base, strlen(base), &problems, &err);

		assert_int_equal(code, cases[i].key ? DP_E_INVALID : DP_OK);
		assert_int_equal(problems.error_count, cases[i].key ? 1 : 0);
		if (cases[i].key && !strstr(err.msg, cases[i].key))
			fail_msg("no %s in: %s", cases[i].key, err.msg);
		dp_diagnostics_free(&problems);
		dp_study_free(s);
	}
}

/* ---- what a training costs ---- */

/* base with this path ("": none), parameter C and search. */
static struct result costed(const char *path, const char *c, const char *search)
{
	char line[200];
	char *with_path, *with_c, *all;
	struct result x;

	snprintf(line, sizeof line, "  runs: 2\n%s", path);
	with_path = edit("  runs: 2\n", line);
	with_c = replace(with_path, "{type: int, range: [1, 30]}", c);
	all = replace(with_c, "{method: random, evaluations: 80}", search);
	x = parse(all, strlen(all));
	free(with_path);
	free(with_c);
	free(all);
	return x;
}

#define FROM_2 "{type: int, range: [2, 30]}"

static void test_cost(void **state)
{
	static const struct {
		const char *path, *c, *search, *cost;
		uint32_t evaluations;
	} cases[] = {
		{ "", FROM_2, "{method: random, evaluations: 9}", "none", 9 },
		{ "  path: C\n", FROM_2, "{method: random, evaluations: 9}", "path", 9 },
		{ "  path: C\n", FROM_2, "{method: dpareto, evaluations: 9, cost: none}", "none",
		  9 },
		{ "  path: C\n", FROM_2, "{method: dpareto, evaluations: 9, cost: seconds}",
		  "seconds", 9 },
		/* as many as the cheapest could be, unless there are fewer */
		{ "  path: C\n", FROM_2, "{method: random, max_cost: 65}", "path", 32 },
		{ "  path: C\n", "{fixed: 30}", "{method: random, max_cost: 65}", "path", 2 },
		{ "  path: C\n", FROM_2, "{method: random, max_cost: 65, evaluations: 7}", "path",
		  7 },
		{ "  path: C\n", FROM_2, "{method: grid, grid: 3, max_cost: 65}", "path", 9 },
		{ "", FROM_2, "{method: random, cost: seconds, max_cost: 0.5}", "seconds",
		  DP_EVALUATIONS_MAX },
		{ "  path: C\n", FROM_2, "{method: random, max_cost: 1e300}", "path",
		  DP_EVALUATIONS_MAX },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct result x = costed(cases[i].path, cases[i].c, cases[i].search);

		if (!x.s)
			fail_msg("%s: %s", cases[i].search, x.err.msg);
		assert_int_equal(x.problems.count, 0);
		assert_string_equal(dp_study_cost_text(x.s), cases[i].cost);
		assert_int_equal(x.s->search.evaluations, cases[i].evaluations);
		done(&x);
	}
}

/* What is said of a limit that leaves little room or none. */
static void test_little_cost(void **state)
{
	static const struct {
		const char *c, *search, *message;
		bool warning;
	} cases[] = {
		{ FROM_2, "{method: random, max_cost: 1.5}", "the cheapest costs 2", false },
		{ "{fixed: 30}", "{method: random, max_cost: 29}", "the cheapest costs 30", false },
		{ FROM_2, "{method: random, max_cost: 29}", "one training may cost 30", true },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct result x = costed("  path: C\n", cases[i].c, cases[i].search);

		assert_int_equal(x.problems.count, 1);
		assert_non_null(strstr(x.problems.list[0].message, cases[i].message));
		assert_int_equal(x.problems.list[0].is_warning, cases[i].warning);
		done(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_whole_range),
		cmocka_unit_test(test_any_range),
		cmocka_unit_test(test_privacy),
		cmocka_unit_test(test_falling),
		cmocka_unit_test(test_no_learning_curve),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_little_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
