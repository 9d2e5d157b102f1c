/* test_policy.c - what happens next in a study: every situation of a trial in every state
 * of its study, without a process; back-offs, the end of a study, the deterministic
 * window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"

/* ---- every situation of a trial in every state of its study ---- */

static void waiting(void)
{
	propose(NULL);
}

static void waiting_cancelled(void)
{
	waiting();
	cancel_asked();
}

static void running_cancelled(void)
{
	running();
	cancel_asked();
}

static void with_end(enum dp_end_class how, bool counted)
{
	propose(NULL);
	attempted(0, how, counted);
}

static void ended_ok(void)
{
	with_end(DP_END_OK, true);
}

static void ended_diverged(void)
{
	with_end(DP_END_DIVERGED, true);
}

static void ended_signal(void)
{
	with_end(DP_END_SIGNAL, true);
}

static void ended_signal_due(void)
{
	ended_signal();
	now += SECOND;
}

static void ended_lost_uncounted(void)
{
	with_end(DP_END_LOST, false);
}

static void ended_stopped(void)
{
	with_end(DP_END_CANCELLED, false);
}

static void ended_exit_code(void)
{
	with_end(DP_END_EXIT_CODE, true);
}

static void ended_timeout(void)
{
	with_end(DP_END_TIMEOUT, true);
}

static void ended_bad_output(void)
{
	with_end(DP_END_BAD_OUTPUT, true);
}

static void retries_used(void)
{
	propose(NULL);
	for (int i = 0; i < 3; i++)
		attempted(0, DP_END_SIGNAL, true);
}

static void external_explain_no_start(void)
{
	with_end(DP_END_NOT_STARTED, false);
}

static void refused(void)
{
	propose("objective 'epsilon': no");
}

static void not_accounted(void)
{
	propose_old();
	attempted(0, DP_END_OK, true);
}

static void not_accounted_failed(void)
{
	propose_old();
	attempted(0, DP_END_EXIT_CODE, true);
}

/* What the fate of the trial is must not depend on the state of the study, but work is
 * found only for one that runs. SAME: as in the state before it. */
#define BECAUSE "because; put it right, then 'dparetoctl resume s'"

static const struct {
	void (*made)(void);
	const char *expected[5]; /* running, paused, finished, failed, stopped */
} situations[] = {
	{ waiting, { "attempt 0/-1/0", "wait", SAME, SAME, SAME } },
	{ running, { "wait parallel", "wait", SAME, SAME, SAME } },
	{ waiting_cancelled, { "0 cancelled: by request", SAME, SAME, SAME, SAME } },
	{ running_cancelled, { "wait parallel", "wait", SAME, SAME, SAME } },
	{ ended_ok, { "0 ok", SAME, SAME, SAME, SAME } },
	{ ended_diverged, { "0 diverged: diverged: because", SAME, SAME, SAME, SAME } },
	{ ended_signal, { "wait retry", "wait", SAME, SAME, SAME } },
	{ ended_signal_due, { "attempt 0/-1/1", "wait", SAME, SAME, SAME } },
	{ ended_lost_uncounted, { "attempt 0/-1/1", "wait", SAME, SAME, SAME } },
	{ ended_stopped, { "attempt 0/-1/1", "wait", SAME, SAME, SAME } },
	{ ended_exit_code, { "0 failed: exit-code: because", SAME, SAME, SAME, SAME } },
	{ ended_timeout, { "0 failed: timeout: because", SAME, SAME, SAME, SAME } },
	{ ended_bad_output, { "0 failed: bad-output: because", SAME, SAME, SAME, SAME } },
	{ retries_used, { "0 failed: signal: because", SAME, SAME, SAME, SAME } },
	{ external_explain_no_start, { "(failures) paused: " BECAUSE, "wait", SAME, SAME, SAME } },
	{ refused, { "0 failed: objective 'epsilon': no", SAME, SAME, SAME, SAME } },
	{ not_accounted, { "account 0", SAME, SAME, SAME, SAME } },
	{ not_accounted_failed, { "0 failed: exit-code: because", SAME, SAME, SAME, SAME } },
};

static void every_situation_in_every_state(void **s)
{
	(void)s;
	for (size_t i = 0; i < DP_COUNT(situations); i++) {
		const char *expected = NULL;

		for (size_t k = 0; k < DP_COUNT(statuses); k++) {
			begin(", retries: 2", "search: {method: random, evaluations: 3}");
			situations[i].made();
			if (k > 0) /* a move to running would forgive what failed */
				move(statuses[k]);
			if (situations[i].expected[k])
				expected = situations[i].expected[k];
			if (strcmp(next(), expected) != 0)
				fail_msg("situation %zu, %s: %s, not %s", i, statuses[k], next(),
					 expected);
		}
	}
}

static void objectives_come_from_the_journal(void **s)
{
	struct dp_step step;

	(void)s;
	begin("", "search: {method: random, evaluations: 3}");
	ended_ok();
	dp_policy_next_step(st, now, &step);
	assert_int_equal(step.nobjectives, 2);
	assert_true(step.objectives[0] == 0.5);  /* epsilon, as proposed */
	assert_true(step.objectives[1] == 0.25); /* the metric's mean */
	/* of version 0.1: once they are accounted for */
	begin("", "search: {method: random, evaluations: 3}");
	not_accounted();
	apply((struct dp_event){
		.type = DP_EV_TRIAL_ACCOUNTED,
		.trial = 0,
		.trial_accounted = { .privacy = (double[]){ 0.75, NAN }, .nprivacy = 2 } });
	dp_policy_next_step(st, now, &step);
	assert_true(step.objectives[0] == 0.75);
	begin("", "search: {method: random, evaluations: 3}");
	not_accounted();
	apply((struct dp_event){
		.type = DP_EV_TRIAL_ACCOUNTED, .trial = 0, .reason = "no epsilon" });
	NEXT("0 failed: no epsilon");
}

/* ---- retries ---- */

static void retries_wait_longer_each_time(void **s)
{
	const double seconds[] = { 0.5, 2, 8, 32, 32 };
	struct dp_step step;

	(void)s;
	begin(", retries: 5", "search: {method: random, evaluations: 3}");
	propose(NULL);
	for (size_t i = 0; i < DP_COUNT(seconds); i++) {
		attempted(0, DP_END_LOST, true);
		dp_policy_next_step(st, now, &step);
		assert_int_equal(step.kind, DP_STEP_WAIT);
		assert_true(step.until_us == now + (int64_t)(seconds[i] * 1e6));
		now = step.until_us - 1;
		NEXT("wait retry");
		now++;
		assert_memory_equal(next(), "attempt 0", 9);
	}
	attempted(0, DP_END_LOST, true);
	NEXT("0 failed: lost: because");
}

/* A point that is proposed while another one is tried again would not know its result. */
static void a_retry_keeps_its_place(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9, parallel: 2}");
	propose(NULL);
	attempted(0, DP_END_SIGNAL, true);
	NEXT("propose"); /* one place is left */
	propose(NULL);
	NEXT("attempt 1/-1/0");
	plan(1, DP_RUN_ALL, 0);
	NEXT("wait retry"); /* and now none */
	now += SECOND;
	NEXT("attempt 0/-1/1");
	begin("", "search: {method: random, evaluations: 9}");
	propose(NULL);
	attempted(0, DP_END_SIGNAL, true);
	NEXT("wait retry");
}

static void a_person_forgives(void **s)
{
	(void)s;
	begin(", retries: 0", "search: {method: random, evaluations: 1}");
	propose(NULL);
	attempted(0, DP_END_SIGNAL, true);
	settle();
	assert_int_equal(st->status, DP_STUDY_FAILED);
	apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED, .trial = 0 });
	move("running");
	NEXT("attempt 0/-1/1"); /* at once: what failed does not count any more */
}

static void one_run_a_process(void **s)
{
	(void)s;
	begin(", runs: 3, runs_per_process: 1",
	      "search: {method: random, evaluations: 9, parallel: 2}");
	propose(NULL);
	NEXT("attempt 0/0/0");
	plan(0, 0, 0);
	NEXT("attempt 0/1/0");
	plan(0, 1, 0);
	NEXT("wait parallel");
	end(0, 0, 0, DP_END_OK, true, 1);
	NEXT("attempt 0/2/0");
	plan(0, 2, 0);
	end(0, 2, 0, DP_END_OK, true, 1);
	NEXT("propose"); /* run 1 is under way, nothing else of trial 0 is left */
	end(0, 1, 0, DP_END_SIGNAL, true, 1);
	now += SECOND;
	NEXT("attempt 0/1/1");
	plan(0, 1, 1);
	end(0, 1, 1, DP_END_OK, true, 1);
	NEXT("0 ok");
}

/* ---- the end of a study ---- */

static void studies_end(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 2}");
	whole_trial(DP_END_OK);
	NEXT("propose");
	whole_trial(DP_END_EXIT_CODE);
	NEXT("finished");
	begin("", "search: {method: random, evaluations: 2}");
	whole_trial(DP_END_DIVERGED);
	whole_trial(DP_END_DIVERGED);
	NEXT("(failures) failed: not one evaluation succeeded: all 2 diverged; trial 1: "
	     "diverged: because");
	begin("", "search: {method: random, evaluations: 2}");
	whole_trial(DP_END_DIVERGED);
	whole_trial(DP_END_OK);
	NEXT("finished");
	begin("", "search: {method: random, evaluations: 3}");
	whole_trial(DP_END_DIVERGED);
	whole_trial(DP_END_EXIT_CODE);
	whole_trial(DP_END_DIVERGED);
	NEXT("(failures) failed: not one evaluation succeeded: 2 diverged, 1 failed; "
	     "trial 2: diverged: because");
	begin("", "search: {method: random, evaluations: 1}");
	whole_trial(DP_END_EXIT_CODE);
	NEXT("(failures) failed: not one evaluation succeeded: 0 diverged, 1 failed; "
	     "trial 0: exit-code: because");
	begin("", "search: {method: grid, grid: 1}");
	apply((struct dp_event){
		.type = DP_EV_STUDY_AMENDED,
		.study_amended = { .evaluations = 5, .parallel = NAN, .priority = NAN } });
	whole_trial(DP_END_OK);
	NEXT("finished: the grid has only 1 point");
}

static void failures_in_a_row_pause(void **s)
{
	(void)s;
	begin(", max_failures: 2", "search: {method: random, evaluations: 9}");
	whole_trial(DP_END_EXIT_CODE);
	whole_trial(DP_END_OK); /* begins to count anew */
	whole_trial(DP_END_EXIT_CODE);
	NEXT("propose");
	whole_trial(DP_END_EXIT_CODE);
	NEXT("(failures) paused: 2 trials failed in a row (trainer.max_failures); the "
	     "last one is the newest in 'dparetoctl status s'");
	settle();
	NEXT("wait");
	move("running"); /* a person says so */
	NEXT("propose");
}

#define FIRST(trial)                                                                               \
	"(failures) paused: the first trials all failed, 3 in a row; trial " trial                 \
	": exit-code: because; 'dparetoctl logs s " trial                                          \
	"' shows its stderr; put it right, then 'dparetoctl retry s --failed', or "                \
	"'dparetoctl resume s' to leave them failed"

/* Three are enough to see that nothing works, whatever max_failures allows later. */
static void first_failures_pause_early(void **s)
{
	(void)s;
	begin(", max_failures: 50", "search: {method: random, evaluations: 30}");
	whole_trial(DP_END_EXIT_CODE);
	whole_trial(DP_END_EXIT_CODE);
	NEXT("propose");
	whole_trial(DP_END_EXIT_CODE);
	NEXT(FIRST("2"));
	settle();
	assert_int_equal(st->status, DP_STUDY_PAUSED);
	assert_true(st->moved_by_failures);
	/* a person says so: three more, not the same three again */
	move("running");
	whole_trial(DP_END_EXIT_CODE);
	whole_trial(DP_END_EXIT_CODE);
	NEXT("propose");
	whole_trial(DP_END_EXIT_CODE);
	NEXT(FIRST("5"));
	settle();
	move("running");
	/* one result, even a diverged one, and max_failures is the measure */
	whole_trial(DP_END_DIVERGED);
	for (int i = 0; i < 5; i++)
		whole_trial(DP_END_EXIT_CODE);
	NEXT("propose");
}

static void three_failures_of_three_end_the_study(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 3}");
	for (int i = 0; i < 3; i++)
		whole_trial(DP_END_EXIT_CODE);
	NEXT("(failures) failed: not one evaluation succeeded: 0 diverged, 3 failed; "
	     "trial 2: exit-code: because");
}

/* What runs beside the third failure goes on, and its result is taken. */
static void first_failures_leave_what_runs(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 30, parallel: 4}");
	running();
	whole_trial(DP_END_EXIT_CODE);
	whole_trial(DP_END_EXIT_CODE);
	whole_trial(DP_END_EXIT_CODE);
	NEXT(FIRST("3"));
	settle();
	NEXT("wait");
	end(0, DP_RUN_ALL, 0, DP_END_OK, true, 1);
	NEXT("0 ok");
	settle();
	assert_int_equal(st->status, DP_STUDY_PAUSED);
}

static void a_study_that_cannot_start_goes_on_when_told(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9}");
	external_explain_no_start();
	settle();
	assert_int_equal(st->status, DP_STUDY_PAUSED);
	move("running");
	NEXT("attempt 0/-1/1");
}

/* ---- the deterministic window: one inequality ---- */

static void the_window(void **s)
{
	(void)s;
	begin("", "search: {method: dpareto, evaluations: 20, initial: 2, parallel: 3, "
		  "order: deterministic}");
	assert_true(record_step()); /* accounting-fixed */
	for (uint32_t k = 0; k < 8; k++) {
		uint32_t window = k >= 3 ? k - 2 : 0; /* results 0..k-parallel */

		assert_int_equal(st->ntrials, k);
		assert_int_equal(dp_policy_visible_trials(st), window);
		/* all but the newest two of the window have ended */
		NEXT("propose");
		propose(NULL);
		plan(k, DP_RUN_ALL, 0);
		if (k >= 2) {
			end(k - 2, DP_RUN_ALL, 0, DP_END_OK, true, 1);
			assert_true(record_step());
		}
	}
	/* 8 are proposed, 6 and 7 run: the next may know 0..5 */
	NEXT("propose");
	propose(NULL);
	plan(8, DP_RUN_ALL, 0);
	NEXT("wait parallel");
	/* 7 ends before 6, on which the next one depends */
	end(7, DP_RUN_ALL, 0, DP_END_OK, true, 1);
	assert_true(record_step());
	NEXT("wait order");
	end(6, DP_RUN_ALL, 0, DP_END_OK, true, 1);
	assert_true(record_step());
	NEXT("propose");
	/* as soon as possible: whatever is there */
	begin("", "search: {method: dpareto, evaluations: 20, initial: 2, parallel: 3}");
	propose(NULL);
	propose(NULL);
	assert_int_equal(dp_policy_visible_trials(st), 2);
}

#define CASE(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_situation_in_every_state),
		CASE(objectives_come_from_the_journal),
		CASE(retries_wait_longer_each_time),
		CASE(a_retry_keeps_its_place),
		CASE(a_person_forgives),
		CASE(one_run_a_process),
		CASE(studies_end),
		CASE(failures_in_a_row_pause),
		CASE(first_failures_pause_early),
		CASE(first_failures_leave_what_runs),
		CASE(three_failures_of_three_end_the_study),
		CASE(a_study_that_cannot_start_goes_on_when_told),
		CASE(the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
