/* test_report_model.c - the facts of a report against hand computations. */
#include "tests/unit/support/made_journal.h"
#include "privacy/privacy.h"
#include "study/accounting.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#define COMPOSED  "privacy/0/composed/"
#define CHECK     "front/0/checks/epsilon/"
#define STATEMENT "front/0/statements/epsilon"

/* ---- numbers ---- */

static void test_headline(void **state)
{
	(void)state;
	begin(gaussian);
	evaluate(0, 50, 0.5, 0.5, 0.5);   /* epsilon below 0.1 */
	evaluate(1, 8, 0.7, 0.8, 0.9);    /* about 0.5 */
	evaluate(2, 7, 0.6, 0.6, 0.6);    /* more epsilon, less accuracy */
	evaluate(3, 2, 0.85, 0.85, 0.85); /* about 2 */
	evaluate(4, 0.2, 1, 1, 1);        /* beyond 10 */
	load(false);
	find_facts();
	assert_int_equal(json_array_size(fact("headline")), 6);
	assert_near(fact_number("headline/0/epsilon"), 0.1, 0);
	assert_int_equal(fact_count("headline/0/trial"), 0);
	assert_int_equal(fact_count("headline/2/trial"), 1); /* at most 1 */
	assert_near(fact_number("headline/2/value"), 0.2, 1e-12);
	assert_near(fact_number("headline/2/spent"), epsilon_at_order(8), 0);
	assert_int_equal(fact_count("headline/5/trial"), 3); /* at most 10 */
}

static void test_nothing_that_private(void **state)
{
	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.5, 0.5, 0.5);
	load(false);
	find_facts();
	assert_true(json_is_null(fact("headline/0/trial")));
	assert_null(json_object_get(fact("headline/0"), "value"));
	assert_null(json_object_get(fact("headline/0"), "runs"));
}

static void test_spread(void **state)
{
	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.7, 0.8);
	load(false);
	find_facts();
	assert_near(fact_number("front/0/runs/error/least"), 0.1, 1e-12);
	assert_near(fact_number("front/0/runs/error/most"), 0.3, 1e-12);
	assert_near(fact_number("front/0/runs/error/mean"), 0.2, 1e-12);
	assert_near(fact_number("front/0/runs/error/sd"), 0.1, 1e-12);
	assert_near(fact_number("front/0/runs/error/standard_error"), 0.1 / sqrt(3), 1e-12);
}

static void test_waypoints(void **state)
{
	static const struct {
		int64_t trial, at;
		double error;
	} front[] = { { 0, 1, 0.4 }, { 1, 4, 0.15 }, { 0, -1, 0.1 } };

	(void)state;
	walk_facts();
	assert_int_equal(json_array_size(fact("front")), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *p = json_array_get(fact("front"), i), *objectives, *check;
		double at = front[i].at < 0 ? 64 : (double)front[i].at;

		objectives = get_json(p, "objectives");
		check = get_json(get_json(p, "checks"), "epsilon");
		assert_int_equal(get_count(p, "trial"), front[i].trial);
		assert_int_equal(get_count(p, "at"), front[i].at);
		assert_near(get_number(objectives, "epsilon"), epsilon_at_order(at), 0);
		assert_true(get_bool(check, "holds"));
		assert_near(get_number(check, "rdp_improved"), epsilon_at_order(at), 1e-12);
		assert_near(get_number(objectives, "error"), front[i].error, 1e-12);
		assert_near(get_number(get_json(p, "parameters"), "epochs"), at, 0);
	}
	/* 0.6, 0.5, 0.7: only mean and sd are kept */
	assert_true(isnan(fact_number("front/0/runs/error/least")));
	assert_true(isnan(fact_number("front/0/runs/error/most")));
	assert_near(fact_number("front/0/runs/error/mean"), 0.4, 1e-12);
	assert_near(fact_number("front/0/runs/error/sd"), 0.1, 1e-12);
	assert_near(fact_number("front/0/runs/error/standard_error"), 0.1 / sqrt(3), 1e-12);
	assert_int_equal(fact_count("optimism/chosen_from"), 5);
	assert_int_equal(fact_count("optimism/trials"), 2);
	assert_int_equal(fact_count("failures/waypoints_kept"), 2);
	assert_near(fact_number("spent/walked"), 96, 0);
	assert_string_equal(fact_text("settings/path/parameter"), "epochs");
	assert_int_equal(fact_count("settings/path/points"), 6);
	assert_string_equal(fact_text("settings/cost"), "path");
	assert_near(fact_number("settings/max_cost"), 300, 0);
}

/* Each training in full, also the one that ran out of time, and nothing twice. */
static void test_waypoints_are_free(void **state)
{
	double x[] = { 64, 32 }, v[2][DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item items[2];
	struct dp_epsilon e;

	(void)state;
	walk_facts();
	for (int i = 0; i < 2; i++) {
		dp_mechanism_use_values(spec, spec->objectives[0].privacy->uses, &x[i], NAN, v[i]);
		items[i] =
			(struct dp_composition_item){ spec->objectives[0].privacy->uses->mechanism,
						      v[i], 3 };
	}
	assert_int_equal(dp_privacy_compose(items, 2, 1e-5, false, &e, NULL), DP_OK);
	assert_int_equal(fact_count(COMPOSED "evaluations"), 2);
	assert_int_equal(fact_count(COMPOSED "trainings"), 6);
	assert_near(fact_number(COMPOSED "if_fixed"), e.epsilon, 1e-9);
	assert_string_equal(fact_text(COMPOSED "proof"), "odometer");
	assert_true(fact_number(COMPOSED "epsilon") > fact_number(COMPOSED "if_fixed"));
}

/* A study of an older version whose epsilon falls along the path: it still reads, and a
 * run counts with its costliest checkpoint. */
static void test_falling_path(void **state)
{
	double if_fixed;

	(void)state;
	begin(falling);
	propose(0, 64);
	attempt(0, 0, DP_END_OK, (double[]){ 0.9, 0.9, 0.9 }, NULL);
	ended(0, "ok", 0.06, 0.1); /* what it claimed: gaussian at sigma 64 */
	load(false);
	find_facts();
	if_fixed = fact_number(COMPOSED "if_fixed");
	assert_near(epsilon_at_order(64), epsilon_at_order(1), 0);
	assert_int_equal(fact_count(COMPOSED "trainings"), 3);
	assert_true(if_fixed > epsilon_at_order(1) && isfinite(if_fixed));
	assert_true(fact_number(COMPOSED "epsilon") > if_fixed);
	assert_true(json_is_false(fact("front/0/checks/epsilon/holds")));
	assert_non_null(strstr(fact_text(STATEMENT), "sigma = 1"));
}

static void test_sampling_error(void **state)
{
	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.8, 0.8, 0.8);
	load(false);
	find_facts();
	assert_near(fact_number("optimism/objectives/0/sampling/records"), 400, 0);
	assert_near(fact_number("optimism/objectives/0/sampling/error"), 0.4 / 20, 1e-12);
	assert_near(fact_number("optimism/objectives/0/sampling/error_at_10000"), 0.4 / 100, 1e-12);
}

/* Everything that may have looked at the records counts, with all its runs. */
static void test_composition_counts(void **state)
{
	static const double bad[] = { NAN, 0.5, 0.5 };
	struct dp_composition_item items[4];
	double values[4][DP_PRIVACY_KEYS_MAX];
	static const double sigma[] = { 2, 3, 4, 5 }, times[] = { 3, 9, 3, 3 };
	struct dp_epsilon expected;
	double if_fixed;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	propose(1, 3); /* two retries, then failed */
	attempt(1, 0, DP_END_SIGNAL, NULL, "a");
	attempt(1, 1, DP_END_LOST, NULL, "b");
	attempt(1, 2, DP_END_EXIT_CODE, NULL, "c");
	ended(1, "failed", NAN, NAN);
	propose(2, 4);
	attempt(2, 0, DP_END_DIVERGED, bad, NULL);
	ended(2, "diverged", epsilon_at_order(4), NAN);
	evaluate(3, 5, 0.1, 0.1, 0.1);
	propose(4, 6); /* could not even start */
	attempt(4, 0, DP_END_NOT_STARTED, NULL, "d");
	load(false);
	find_facts();
	if_fixed = fact_number(COMPOSED "if_fixed");
	assert_int_equal(fact_count(COMPOSED "trainings"), 18);
	assert_int_equal(fact_count(COMPOSED "evaluations"), 4);
	assert_int_equal(fact_count(COMPOSED "not_started"), 1);
	for (int i = 0; i < 4; i++) {
		dp_mechanism_use_values(spec, spec->objectives[0].privacy->uses, &sigma[i], NAN,
					values[i]);
		items[i] =
			(struct dp_composition_item){ spec->objectives[0].privacy->uses->mechanism,
						      values[i], times[i] };
	}
	assert_int_equal(dp_privacy_compose(items, 4, 1e-5, false, &expected, NULL), DP_OK);
	assert_near(if_fixed, expected.epsilon, 1e-12);
	assert_near(fact_number(COMPOSED "delta"), 1e-5, 0);
	/* a retry is nothing that was fixed beforehand */
	assert_string_equal(fact_text(COMPOSED "proof"), "odometer");
	assert_true(fact_number(COMPOSED "epsilon") > if_fixed);
	/* no less than the exact Gaussian of all that noise */
	double all = 1 / sqrt(3 / 4. + 9 / 9. + 3 / 16. + 3 / 25.);
	assert_true(if_fixed >= epsilon_at_order(all));
	assert_true(if_fixed < 1.2 * epsilon_at_order(all));
}

static void test_pure_composition(void **state)
{
	(void)state;
	begin(svt);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	evaluate(1, 10, 0.5, 0.5, 0.5);
	load(false);
	find_facts();
	assert_near(fact_number(COMPOSED "delta"), 0, 0);
	assert_near(fact_number(COMPOSED "epsilon"),
		    3 * (epsilon_at_order(2) + epsilon_at_order(10)), 1e-9);
}

static void test_second_accountant(void **state)
{
	const struct study_data *s = &report.studies[0];
	struct accountant_check check;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	evaluate(1, 4, 0.5, 0.5, 0.5);
	load(false);
	s = &report.studies[0];
	check = check_result_epsilon(s, (struct dp_result_id){ 0, DP_CHECKPOINT_FINAL }, 0);
	assert_true(check.holds);
	assert_near(check.rdp_improved, epsilon_at_order(1.2), 1e-12);
	assert_true(check.pld < check.rdp_improved);
	assert_true(check.rdp_improved < check.rdp_classic);
	s->state->trials[0]->objectives[0] *= 0.99; /* a number that is too good */
	check = check_result_epsilon(s, (struct dp_result_id){ 0, DP_CHECKPOINT_FINAL }, 0);
	assert_false(check.recomputed);
	assert_false(check.holds);
}

static void test_statement(void **state)
{
	static const char *const words[] = {
		"one training record", "add or remove one", "poisson",   "10000",   "1e-05",
		"Theorem 4",           "clipping norm L",   "200 steps", "holdout", "All 3 runs"
	};
	const char *text;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	find_facts();
	text = fact_text(STATEMENT);
	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (!strstr(text, words[i]))
			fail_msg("no '%s' in %s", words[i], text);
}

/* Whom it holds for, and that noise on utilities covers test records. */
static void test_statement_of_persons(void **state)
{
	const char *text;

	(void)state;
	begin(persons);
	evaluate(0, 50, 0.9, 0.9, 0.9);
	load(false);
	find_facts();
	text = fact_text(STATEMENT);
	assert_non_null(strstr(text, "Unit of privacy: all training records of one "
				     "person, up to 3.\n"));
	assert_non_null(strstr(text, "for which there is no guarantee"));
	assert_string_equal(fact_text("privacy/0/unit"),
			    "all training records of one person, up to 3");
	report.studies[0].state->spec->objectives[1].release =
		(struct dp_metric_release){ .records = 100, .sigma = 0.1 };
	find_facts();
	text = fact_text(STATEMENT);
	assert_null(strstr(text, "no guarantee"));
	assert_non_null(strstr(text, "the noise on utilities covers"));
}

/* A composition is explained part by part, and added up by both accountants. */
static void test_composed_objective(void **state)
{
	static const char *const words[] = { "(gaussian x 3 and dp-sgd)",
					     "Part gaussian:",
					     "Part dp-sgd:",
					     "sigma = 20",
					     "200 steps",
					     "replace",
					     "Training records: 10000",
					     "All 3 runs",
					     "NOT SECRET",
					     "of all parts" };
	double sigma = 1.2, if_fixed;
	struct dp_composition_items uses;
	struct dp_epsilon e;
	const char *text;

	(void)state;
	begin(pipeline);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	find_facts();
	assert_string_equal(fact_text("privacy/0/mechanism"), "composition");
	assert_int_equal(json_array_size(fact("privacy/0/parts")), 2);
	assert_near(fact_number("privacy/0/parts/0/times"), 3, 0);
	assert_near(fact_number("privacy/0/records"), 10000, 0);
	assert_string_equal(fact_text("privacy/0/parts/1/mechanism"), "dp-sgd");
	assert_true(json_is_true(fact(CHECK "holds")) && json_is_true(fact(CHECK "recomputed")));
	assert_true(fact_number(CHECK "pld") < fact_number(CHECK "rdp_improved"));
	text = fact_text(STATEMENT);
	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (!strstr(text, words[i]))
			fail_msg("no '%s' in %s", words[i], text);
	if_fixed = fact_number(COMPOSED "if_fixed");
	assert_true(fact_number(COMPOSED "epsilon") > epsilon_at_order(1.2));
	/* curves of the pair that dominates lots without replacement are the tighter ones
	 */
	assert_int_equal(dp_accounting_items(spec, 0, &sigma, NAN, &uses, NULL), DP_OK);
	for (size_t i = 0; i < uses.n; i++)
		uses.items[i].times *= 3;
	assert_int_equal(dp_privacy_compose(uses.items, uses.n, 1e-5, false, &e, NULL), DP_OK);
	assert_true(if_fixed < e.epsilon);
	assert_true(if_fixed < fact_number(COMPOSED "epsilon"));
}

/* Whose number it is: a composition of Gaussian mechanisms alone is their closed form,
 * and what the table says is by Renyi divergences is by them. */
static void test_composed_gaussians(void **state)
{
	double exact = 10.122494583907487; /* two of sigma 0.7, delta 1e-5; mpmath */
	double renyi = 10.857937305871785; /* of which Renyi divergences prove this */

	(void)state;
	begin(gaussians);
	evaluate(0, 0.7, 0.9, 0.9, 0.9);
	load(false);
	find_facts();
	assert_near(fact_number("front/0/objectives/epsilon"), exact, 1e-10);
	assert_near(fact_number(CHECK "pld"), exact, 1e-10);
	assert_near(fact_number(CHECK "rdp_improved"), renyi, 1e-4);
	assert_true(json_is_true(fact(CHECK "holds")) && json_is_true(fact(CHECK "recomputed")));
	assert_non_null(strstr(fact_text(STATEMENT),
			       "Accountant: the closed form of one Gaussian mechanism"));
	assert_string_equal(fact_text("privacy/0/accountant"), "closed-form");
	assert_non_null(strstr(fact_text("privacy/0/accountant_text"), "Gaussian mechanism"));
}

/* Older versions added up Renyi divergences; their number is an upper bound as well. */
static void test_composed_gaussians_before(void **state)
{
	static const double good[] = { 0.9, 0.9, 0.9 };
	static const struct {
		double epsilon;
		bool holds;
	} journaled[] = { { 10.857937305871785, true }, { 10.1, false }, { 10.9, false } };

	(void)state;
	begin(gaussians);
	for (uint32_t i = 0; i < DP_COUNT(journaled); i++) {
		propose(i, 0.7);
		attempt(i, 0, DP_END_OK, good, NULL);
		ended(i, "ok", journaled[i].epsilon, 0.1 + 0.1 / (1 + i));
	}
	load(false);
	for (uint32_t i = 0; i < DP_COUNT(journaled); i++)
		assert_int_equal(
			check_result_epsilon(report.studies,
					     (struct dp_result_id){ i, DP_CHECKPOINT_FINAL }, 0)
				.holds,
			journaled[i].holds);
}

/* A program's number is its own, and nobody knows what a whole study costs by it. */
static void test_program_objective(void **state)
{
	const char *text;

	(void)state;
	begin(program);
	propose(0, 1.2);
	attempt(0, 0, DP_END_OK, (double[]){ 0.9, 0.9, 0.9 }, NULL);
	ended(0, "ok", 0.75, 0.9);
	load(false);
	find_facts();
	assert_string_equal(fact_text("privacy/0/mechanism"), "program");
	assert_string_equal(fact_text("privacy/0/command/1"), "-q");
	assert_int_equal(fact_count(COMPOSED "trainings"), 3);
	assert_non_null(fact_text(COMPOSED "why"));
	text = fact_text(STATEMENT);
	assert_non_null(strstr(text, "is (0.75, 1e-05)-differentially private"));
	assert_non_null(strstr(text, "accountant"));
	assert_non_null(strstr(text, "has not checked it"));
}

static void test_rounding_is_upward(void **state)
{
	static const struct {
		double x;
		const char *text;
	} cases[] = { { 1.00001, "1.001" }, { 0.25, "0.25" },    { 0.123412, "0.1235" },
		      { 91876.5, "91880" }, { INFINITY, "inf" }, { 0, "0" },
		      { 9.9999, "10" } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_buf b = DP_BUF_INIT;

		number_append_rounded_up(cases[i].x, 4, &b);
		assert_string_equal(dp_buf_text(&b), cases[i].text);
		dp_buf_free(&b);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, finish)
	const struct CMUnitTest tests[] = {
		T(test_headline),
		T(test_nothing_that_private),
		T(test_spread),
		T(test_waypoints),
		T(test_waypoints_are_free),
		T(test_falling_path),
		T(test_sampling_error),
		T(test_composition_counts),
		T(test_pure_composition),
		T(test_second_accountant),
		T(test_statement),
		T(test_statement_of_persons),
		T(test_composed_objective),
		T(test_composed_gaussians),
		T(test_composed_gaussians_before),
		T(test_program_objective),
		cmocka_unit_test(test_rounding_is_upward),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
