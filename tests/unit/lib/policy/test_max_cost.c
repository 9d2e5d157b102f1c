/* test_max_cost.c - search.max_cost: what trainings cost so far, which one is too
 * much, and how a study ends by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"

/* Why another training cannot be had; "" if it can. */
static const char *affords(double pending, double next)
{
	struct dp_expected_cost e = { dp_state_cost_spent(st), pending, next };
	static struct dp_err err;
	int code = dp_policy_check_max_cost(st, &e, &err);

	assert_true(code == DP_OK || code == DP_E_LIMIT);
	return code == DP_OK ? "" : err.msg;
}

/* The study's next point costs so much: orders as the daemon gives them. */
static void offer_word(double next)
{
	struct dp_expected_cost e = { .spent = dp_state_cost_spent(st), .next = next };
	struct dp_transition_events orders;
	struct dp_err err;

	assert_int_equal(dp_policy_check_max_cost(st, &e, &err), DP_E_LIMIT);
	dp_policy_on_no_proposal(st, &err, &orders);
	for (unsigned i = 0; i < orders.count; i++)
		apply(orders.events[i]);
}

/* An attempt of a new trial that took so many seconds, and the trial's end. */
static void took(double seconds, enum dp_end_class how)
{
	static const char *const names[] = { "f1" };
	const uint32_t run = 0;
	const double f1 = 0.25;
	double from = (double)now * 1e-6;

	propose(NULL);
	plan(st->ntrials - 1, DP_RUN_ALL, 0);
	now += (int64_t)(seconds * 1e6) + SECOND;
	apply((struct dp_event){
		.type = DP_EV_ATTEMPT_ENDED,
		.trial = st->ntrials - 1,
		.run = DP_RUN_ALL,
		.attempt_ended = { .end_class = how,
				   .charged = true,
				   .exit = { .start_seconds = from, .end_seconds = from + seconds },
				   .metric_names = names,
				   .nmetrics = 1,
				   .runs = &run,
				   .nruns = 1,
				   .metrics = &f1 } });
	settle();
}

/* Every proposal of the story costs 3. */
static void by_path(void **s)
{
	(void)s;
	begin(", path: C", "search: {method: random, max_cost: 30}");
	assert_int_equal(st->evaluations, 30); /* the cheapest costs 1 */
	assert_true(dp_state_cost_spent(st) == 0);
	propose(NULL);
	whole_trial(DP_END_OK);
	propose("an oracle says no"); /* is never trained */
	assert_true(dp_state_cost_spent(st) == 6);
	/* what is pending has been counted */
	assert_string_equal(affords(3, 24), "");
	assert_string_equal(affords(3, 25), "search.max_cost: 30 C would be 31 with the "
					    "next training");
	/* whatever becomes of them */
	cancel_asked();
	settle();
	assert_true(dp_state_cost_spent(st) == 6);
}

static void what_does_not_count(void **s)
{
	(void)s;
	begin(", path: C", "search: {method: random, evaluations: 9}");
	propose(NULL);
	assert_true(dp_state_cost_spent(st) == 3);
	assert_string_equal(affords(0, 1e9), ""); /* without a limit */
	begin("", "search: {method: random, evaluations: 9}");
	propose(NULL);
	assert_true(dp_state_cost_spent(st) == 0);
}

static void by_seconds(void **s)
{
	(void)s;
	begin(", retries: 0",
	      "search: {method: random, evaluations: 9, cost: seconds, max_cost: 10}");
	propose(NULL);
	assert_string_equal(affords(NAN, NAN), ""); /* nothing is known yet */
	took(2, DP_END_OK);
	took(1, DP_END_DIVERGED);
	took(3, DP_END_SIGNAL);
	assert_true(fabs(dp_state_cost_spent(st) - 6) < 1e-3);
	assert_true(fabs(dp_trial_result_seconds(st->trials[1]) - 2) < 1e-3);
	assert_true(dp_trial_result_seconds(st->trials[3]) == 0);
	/* with trial 0 pending, each as long as the mean of those with a result, 1.5 s */
	assert_string_equal(affords(NAN, NAN), "");
	propose(NULL);
	assert_non_null(strstr(affords(NAN, NAN), "search.max_cost: 10 seconds would be "
						  "10.5"));
	/* by what is expected of them */
	assert_string_equal(affords(1, 2.9), "");
	assert_non_null(strstr(affords(1, 3.1), "search.max_cost: 10 seconds would be "
						"10.1"));
}

static const char *resumed(void)
{
	struct dp_transition_events orders;
	static struct dp_err err;

	assert_int_equal(dp_policy_resume(st, &orders, &err), DP_E_INVALID);
	return err.msg;
}

static void ends_and_says_why(void **s)
{
	static const char why[] =
		"finished: search.max_cost: 30 C would be 36 with the next training";
	struct dp_ev_study_amended more = { .evaluations = 50, .parallel = NAN, .priority = NAN };
	struct dp_transition_events orders;
	struct dp_err err;

	(void)s;
	begin(", path: C", "search: {method: random, max_cost: 30, parallel: 2}");
	whole_trial(DP_END_OK);
	propose(NULL);
	plan(1, DP_RUN_ALL, 0);
	NEXT("propose");
	offer_word(30);
	NEXT("wait last"); /* for the one that runs */
	end(1, DP_RUN_ALL, 0, DP_END_OK, true, 0.5);
	assert_true(record_step());
	NEXT(why);
	settle();
	assert_string_equal(resumed(), "study 's' is finished: all 2 evaluations are "
				       "made; search.max_cost: 30 C would be 36 with "
				       "the next training");
	/* a larger number of evaluations wakes it, and it ends for the same reason */
	assert_int_equal(dp_policy_amend(st, &more, &orders, &err), DP_OK);
	for (unsigned i = 0; i < orders.count; i++)
		apply(orders.events[i]);
	NEXT("propose");
	assert_null(st->budget_end_reason);
	offer_word(30);
	NEXT(why);
}

/* Not even the first training fits. */
static void ends_at_once(void **s)
{
	(void)s;
	begin(", path: C", "search: {method: random, max_cost: 5}");
	NEXT("propose");
	offer_word(9);
	NEXT("(failures) failed: not one evaluation was made: search.max_cost: 5 C would "
	     "be 9 with the next training");
}

#define CASE(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(by_path),           CASE(what_does_not_count), CASE(by_seconds),
		CASE(ends_and_says_why), CASE(ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
