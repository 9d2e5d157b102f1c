/* test_transitions.c - what people may ask of a study in every state, and what is
 * journaled for it; what a proposer without a point means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"
#include "tests/unit/support/policy_requests.h"

/* ---- what people ask for ---- */

/* The orders for an ask in a few words, or the sentence that refuses it. */
static const char *ask(enum policy_request what)
{
	static char out[800];
	struct dp_transition_events orders;
	uint32_t trial = 0;
	struct dp_err err;

	if (policy_request(st, what, &trial, 7, &orders, &err) != DP_OK) {
		snprintf(out, sizeof out, "no: %s", err.msg);
		return out;
	}
	out[0] = '\0';
	for (unsigned i = 0; i < orders.count; i++)
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s%s%s", i ? ", " : "",
			 dp_event_type_name(orders.events[i].type),
			 orders.events[i].type == DP_EV_STUDY_MOVED ? " " : "",
			 orders.events[i].type == DP_EV_STUDY_MOVED
				 ? orders.events[i].study_moved.state
				 : "");
	return out;
}

/* A study in this state whose trial 0 has failed, or waits. */
static void in_state(const char *status, bool failed)
{
	begin("", "search: {method: random, evaluations: 1}");
	propose(NULL);
	if (failed) {
		attempted(0, DP_END_EXIT_CODE, true);
		assert_true(record_step());
	}
	if (strcmp(status, "running") != 0)
		move(status);
}

static void asked_in_every_state(void **s)
{
	static const struct {
		enum policy_request ask;
		bool failed; /* trial 0 has */
		const char *expected[5];
	} rows[] = {
		{ REQUEST_PAUSE,
		  false,
		  { "study-moved paused", "", "no: study 's' is finished, so it cannot be paused",
		    "no: study 's' is failed, so it cannot be paused",
		    "no: study 's' is stopped, so it cannot be paused" } },
		{ REQUEST_RESUME,
		  true,
		  { "", "study-moved running",
		    "no: study 's' is finished: its only evaluation is made",
		    "no: study 's' is failed: its only evaluation is made",
		    "no: study 's' is stopped: its only evaluation is made" } },
		{ REQUEST_RESUME,
		  false,
		  { "", "study-moved running", "study-moved running", "study-moved running",
		    "study-moved running" } },
		{ REQUEST_STOP,
		  false,
		  { "study-moved stopped", "study-moved stopped", "", "", "" } },
		{ REQUEST_AMEND,
		  true,
		  { "study-amended", "study-amended", "study-amended, study-moved running",
		    "study-amended", "study-amended" } },
		{ REQUEST_RETRY,
		  true,
		  { "trial-retry-asked", "trial-retry-asked",
		    "trial-retry-asked, study-moved running",
		    "trial-retry-asked, study-moved running", "trial-retry-asked" } },
		{ REQUEST_RETRY,
		  false,
		  { "no: trial 0 is waiting; only failed or cancelled trials can be "
		    "retried",
		    SAME, SAME, SAME, SAME } },
		{ REQUEST_RETRY_FAILED,
		  true,
		  { "trial-retry-asked", "trial-retry-asked",
		    "trial-retry-asked, study-moved running",
		    "trial-retry-asked, study-moved running", "trial-retry-asked" } },
		{ REQUEST_RETRY_FAILED,
		  false,
		  { "no: study 's' has no failed trial that can be tried again", SAME, SAME, SAME,
		    SAME } },
		{ REQUEST_CANCEL, false, { "trial-cancel-asked", SAME, SAME, SAME, SAME } },
		{ REQUEST_CANCEL,
		  true,
		  { "no: trial 0 has ended: it is failed", SAME, SAME, SAME, SAME } },
		{ REQUEST_DELETE,
		  false,
		  { "study-moved stopped", "study-moved stopped", "", "", "" } },
		{ REQUEST_ENQUEUE,
		  true,
		  { "no: study 's' takes no more points: its only evaluation is given "
		    "out",
		    SAME, SAME, SAME, SAME } },
	};

	(void)s;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		const char *expected = NULL;

		for (size_t k = 0; k < DP_COUNT(statuses); k++) {
			in_state(statuses[k], rows[i].failed);
			if (rows[i].expected[k])
				expected = rows[i].expected[k];
			if (strcmp(ask(rows[i].ask), expected) != 0)
				fail_msg("row %zu, %s: %s, not %s", i, statuses[k],
					 ask(rows[i].ask), expected);
		}
	}
}

/* As the daemon asks: until there is no more. */
static void retry_all_failed(void)
{
	struct dp_transition_events orders;
	uint32_t trial = 0;
	bool has_more;

	do {
		assert_int_equal(dp_policy_retry_failed(st, &trial, &has_more, &orders, NULL),
				 DP_OK);
		for (unsigned i = 0; i < orders.count; i++)
			apply(orders.events[i]);
	} while (has_more);
}

static void all_that_failed_is_tried_again(void **s)
{
	static const enum dp_trial_status after[] = { DP_TRIAL_WAITING, DP_TRIAL_FAILED,
						      DP_TRIAL_CANCELLED, DP_TRIAL_OK,
						      DP_TRIAL_WAITING };

	(void)s;
	begin(", max_failures: 2", "search: {method: random, evaluations: 9}");
	whole_trial(DP_END_EXIT_CODE);
	propose("no epsilon at this point"); /* nor will there be one */
	settle();
	move("running");
	propose(NULL);
	apply((struct dp_event){ .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = 2 });
	assert_true(record_step());
	whole_trial(DP_END_OK);
	whole_trial(DP_END_EXIT_CODE);
	retry_all_failed();
	for (uint32_t i = 0; i < DP_COUNT(after); i++)
		assert_int_equal(st->trials[i]->status, after[i]);
	assert_int_equal(st->failed, 2);
	NEXT("attempt 0/-1/1");
}

/* What paused the study is forgiven with it; a pause of a person's own is not. */
static void a_study_paused_by_failures_goes_on(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9}");
	for (int i = 0; i < 3; i++)
		whole_trial(DP_END_EXIT_CODE);
	settle();
	assert_true(st->status == DP_STUDY_PAUSED && st->moved_by_failures);
	retry_all_failed();
	assert_int_equal(st->status, DP_STUDY_RUNNING);
	assert_int_equal(st->waiting_trials, 3);
	NEXT("attempt 0/-1/1");
	attempted(0, DP_END_EXIT_CODE, true);
	attempted(1, DP_END_EXIT_CODE, true);
	settle();
	NEXT("attempt 2/-1/1"); /* three more, not one */
	move("paused");
	retry_all_failed();
	assert_int_equal(st->status, DP_STUDY_PAUSED);
	NEXT("wait");
}

static void asked_for_what_is_not_there(void **s)
{
	struct dp_ev_study_amended nothing = { .evaluations = NAN,
					       .parallel = NAN,
					       .priority = NAN };
	struct dp_transition_events orders;
	struct dp_err err;

	(void)s;
	begin("", "search: {method: random, evaluations: 2}");
	assert_string_equal(ask(REQUEST_RETRY), "no: study 's' has no trials yet");
	assert_string_equal(ask(REQUEST_ENQUEUE), "");
	assert_string_equal(ask(REQUEST_IMPORT), "no: study 's' searches by 'random', which "
						 "learns from no result");
	assert_int_equal(dp_policy_amend(st, &nothing, &orders, &err), DP_E_USAGE);
	propose(NULL);
	assert_int_equal(dp_policy_cancel(st, 5, &orders, &err), DP_E_NOT_FOUND);
	assert_string_equal(err.msg, "study 's' has no trial 5; it has 0 to 0");
	cancel_asked();
	assert_string_equal(ask(REQUEST_CANCEL), ""); /* it is so already */
}

static void a_proposer_without_a_point(void **s)
{
	struct dp_transition_events orders;
	struct dp_err why;

	(void)s;
	begin("", "search: {method: random, evaluations: 9}");
	whole_trial(DP_END_OK);
	dp_fail(&why, DP_E_INTERRUPTED, "stopped");
	dp_policy_on_no_proposal(st, &why, &orders);
	assert_int_equal(orders.count, 0); /* it is asked again */
	dp_fail(&why, DP_E_FAILED, "a bug");
	dp_policy_on_no_proposal(st, &why, &orders);
	assert_int_equal(orders.count, 1);
	assert_string_equal(orders.events[0].study_moved.state, "failed");
	assert_true(orders.events[0].study_moved.by_failures);
	dp_fail(&why, DP_E_LIMIT, "every point is taken");
	dp_policy_on_no_proposal(st, &why, &orders);
	apply(orders.events[0]);
	assert_int_equal(st->evaluations, 1);
	NEXT("finished: every point is taken");
	dp_fail(&why, DP_E_FAILED, "a bug");
	settle();
	dp_policy_on_no_proposal(st, &why, &orders);
	assert_int_equal(orders.count, 0); /* of a study that has ended */
	/* deletion: not while trainers run, unless it is wanted now */
	begin("", "search: {method: random, evaluations: 9}");
	running();
	assert_string_equal(ask(REQUEST_DELETE), "no: 1 of its trainers still run");
}

#define CASE(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(asked_in_every_state),
		CASE(all_that_failed_is_tried_again),
		CASE(a_study_paused_by_failures_goes_on),
		CASE(asked_for_what_is_not_there),
		CASE(a_proposer_without_a_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
