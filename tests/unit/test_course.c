/* test_course.c - what happens next in a study: every state with every event, without a
 * process; back-offs, the deterministic window, time limits, what people may ask for;
 * and that a replayed journal has the same course as the daemon that wrote it. */
#include "base/rng.h"
#include "course/course.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define HEAD                                                                             \
	"parameters: {C: {type: int, range: [1, 30]}, b: {type: float, range: [1, "      \
	"9]}}\n"                                                                         \
	"objectives: {epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}},\n"      \
	"  error: {metric: f1}}\n"                                                       \
	"anti_ideal: {epsilon: 10, error: 1}\n"

static struct dp_state state;
static struct dp_study_state *st;
static uint32_t seq;
static int64_t now;

static void apply(struct dp_event e)
{
	struct dp_err err;

	e.study = 1;
	e.seq = seq++;
	e.time = now;
	if (dp_state_apply(&state, &e, &err) != DP_OK)
		fail_msg("%s: %s", dp_event_name(e.type), err.msg);
}

static void begin(const char *trainer, const char *search)
{
	char text[1000];

	snprintf(text, sizeof text, "study: s\ntrainer: {command: [x]%s}\n" HEAD "%s\n",
		 trainer, search);
	dp_state_free(&state);
	seq = 0;
	now = 1000 * SECOND;
	apply((struct dp_event){ .type = DP_EV_STUDY_CREATED,
				 .name = "s",
				 .text = text,
				 .path = "f",
				 .dir = "/" });
	st = dp_state_by_id(&state, 1);
}

static int teardown(void **s)
{
	(void)s;
	dp_state_free(&state);
	return 0;
}

static void propose(const char *refused)
{
	const double x[] = { 3, 2 }, y[] = { 0.5, NAN };

	apply((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
				 .trial = st->ntrials,
				 .source = "random",
				 .params = x,
				 .nparams = 2,
				 .reason = refused,
				 .objectives = y,
				 .nobjectives = refused ? 0 : 2 });
}

/* As version 0.1 wrote it. */
static void propose_old(void)
{
	const double x[] = { 3, 2 };

	apply((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
				 .trial = st->ntrials,
				 .source = "random",
				 .params = x,
				 .nparams = 2 });
}

static void plan(uint32_t trial, int32_t run, uint32_t attempt)
{
	apply((struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
				 .trial = trial,
				 .run = run,
				 .attempt = attempt });
}

static void end(uint32_t trial, int32_t run, uint32_t attempt, enum dp_end how,
		bool counted, double f1)
{
	static const char *const names[] = { "f1" };
	uint32_t r = run == DP_RUN_ALL ? 0 : (uint32_t)run;

	apply((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
				 .trial = trial,
				 .run = run,
				 .attempt = attempt,
				 .end = how,
				 .counted = counted,
				 .reason = how == DP_END_OK ? NULL : "because",
				 .metric_names = names,
				 .nmetrics = 1,
				 .runs = &r,
				 .nruns = 1,
				 .metrics = &f1 });
}

static void attempted(uint32_t trial, enum dp_end how, bool counted)
{
	const struct dp_trial *t = st->trials[trial];

	plan(trial, DP_RUN_ALL, t->nattempts);
	end(trial, DP_RUN_ALL, t->nattempts - 1, how, counted,
	    how == DP_END_DIVERGED ? NAN : 0.25);
}

static void move(const char *to)
{
	apply((struct dp_event){ .type = DP_EV_STUDY_MOVED, .state = to });
}

/* A step in a few words. */
static const char *words(const struct dp_step *s, char out[1100])
{
	static const char *const waits[] = { "", " parallel", " retry", " order",
					     " last" };

	switch (s->kind) {
	case DP_STEP_WAIT:
		snprintf(out, 1100, "wait%s", waits[s->wait]);
		break;
	case DP_STEP_ACCOUNT:
		snprintf(out, 1100, "account %u", s->event.trial);
		break;
	case DP_STEP_ATTEMPT:
		snprintf(out, 1100, "attempt %u/%d/%u", s->event.trial, s->event.run,
			 s->event.attempt);
		break;
	case DP_STEP_PROPOSE:
		snprintf(out, 1100, "propose");
		break;
	case DP_STEP_RECORD:
		if (s->event.type == DP_EV_TRIAL_ENDED)
			snprintf(out, 1100, "%u %s%s%s", s->event.trial, s->event.state,
				 s->event.reason ? ": " : "",
				 s->event.reason ? s->event.reason : "");
		else
			snprintf(out, 1100, "%s%s%s%s",
				 s->event.counted ? "(failures) " : "", s->event.state,
				 s->event.reason ? ": " : "",
				 s->event.reason ? s->event.reason : "");
		break;
	}
	return out;
}

static const char *next(void)
{
	static char out[1100];
	struct dp_step step;

	dp_course_next(st, now, &step);
	return words(&step, out);
}

#define NEXT(expected) assert_string_equal(next(), expected)

/* Does what the step says, if that needs nobody else; false otherwise. */
static bool record_step(void)
{
	struct dp_step step;

	dp_course_next(st, now, &step);
	if (step.kind == DP_STEP_RECORD)
		apply(step.event);
	return step.kind == DP_STEP_RECORD;
}

static void settle(void)
{
	while (record_step())
		now++;
}

/* ---- every situation of a trial in every state of its study ---- */

static void waiting(void)
{
	propose(NULL);
}

static void running(void)
{
	propose(NULL);
	plan(0, DP_RUN_ALL, 0);
}

static void cancel_asked(void)
{
	apply((struct dp_event){ .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = 0 });
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

static void with_end(enum dp_end how, bool counted)
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

static void cannot_start(void)
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
#define SAME    NULL
#define BECAUSE "because; put it right, then 'dparetoctl resume s'"

static const struct {
	void (*made)(void);
	const char *expected[5]; /* running, paused, finished, failed, stopped */
} situations[] = {
	{ waiting, { "attempt 0/-1/0", "wait", SAME, SAME, SAME } },
	{ running, { "wait parallel", "wait", SAME, SAME, SAME } },
	{ waiting_cancelled, { "0 cancelled: cancelled", SAME, SAME, SAME, SAME } },
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
	{ cannot_start, { "(failures) paused: " BECAUSE, "wait", SAME, SAME, SAME } },
	{ refused, { "0 failed: objective 'epsilon': no", SAME, SAME, SAME, SAME } },
	{ not_accounted, { "account 0", SAME, SAME, SAME, SAME } },
	{ not_accounted_failed,
	  { "0 failed: exit-code: because", SAME, SAME, SAME, SAME } },
};

static const char *const statuses[] = { "running", "paused", "finished", "failed",
					"stopped" };

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
				fail_msg("situation %zu, %s: %s, not %s", i, statuses[k],
					 next(), expected);
		}
	}
}

static void objectives_come_from_the_journal(void **s)
{
	struct dp_step step;

	(void)s;
	begin("", "search: {method: random, evaluations: 3}");
	ended_ok();
	dp_course_next(st, now, &step);
	assert_int_equal(step.event.nobjectives, 2);
	assert_true(step.event.objectives[0] == 0.5);  /* epsilon, as proposed */
	assert_true(step.event.objectives[1] == 0.25); /* the metric's mean */
	/* of version 0.1: once they are accounted for */
	begin("", "search: {method: random, evaluations: 3}");
	not_accounted();
	apply((struct dp_event){ .type = DP_EV_TRIAL_ACCOUNTED,
				 .trial = 0,
				 .objectives = (double[]){ 0.75, NAN },
				 .nobjectives = 2 });
	dp_course_next(st, now, &step);
	assert_true(step.event.objectives[0] == 0.75);
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
		dp_course_next(st, now, &step);
		assert_int_equal(step.kind, DP_STEP_WAIT);
		assert_true(step.until == now + (int64_t)(seconds[i] * 1e6));
		now = step.until - 1;
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

static void whole_trial(enum dp_end how)
{
	propose(NULL);
	attempted(st->ntrials - 1, how, true);
	assert_true(record_step());
}

static void studies_end(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 2}");
	whole_trial(DP_END_OK);
	NEXT("propose");
	whole_trial(DP_END_EXIT_CODE);
	NEXT("finished");
	begin("", "search: {method: random, evaluations: 1}");
	whole_trial(DP_END_DIVERGED);
	NEXT("finished");
	begin("", "search: {method: random, evaluations: 1}");
	whole_trial(DP_END_EXIT_CODE);
	NEXT("(failures) failed: not one evaluation succeeded");
	begin("", "search: {method: grid, grid: 1}");
	apply((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
				 .evaluations = 5,
				 .parallel = NAN,
				 .priority = NAN });
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

static void a_study_that_cannot_start_goes_on_when_told(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9}");
	cannot_start();
	settle();
	assert_int_equal(st->status, DP_STUDY_PAUSED);
	move("running");
	NEXT("attempt 0/-1/1");
}

static void time_is_over(void **s)
{
	struct dp_step step;

	(void)s;
	begin("", "search: {method: random, evaluations: 9, parallel: 2, max_time: 60s}");
	whole_trial(DP_END_OK);
	propose(NULL);
	plan(1, DP_RUN_ALL, 0);
	propose(NULL);
	attempted(2, DP_END_SIGNAL, true);
	dp_course_next(st, now, &step);
	assert_true(step.until <= st->created + 60 * SECOND);
	now = st->created + 60 * SECOND;
	assert_int_equal(dp_course_proposals(st, now - 1), 6);
	assert_int_equal(dp_course_proposals(st, now), 0);
	NEXT("wait last"); /* trial 1 runs to its end */
	end(1, DP_RUN_ALL, 0, DP_END_OK, true, 1);
	NEXT("1 ok");
	assert_true(record_step());
	NEXT("2 cancelled: search.max_time was over");
	assert_true(record_step());
	NEXT("finished: search.max_time was over");
}

/* ---- the deterministic window: one inequality ---- */

static void the_window(void **s)
{
	(void)s;
	begin("", "search: {method: dpareto, evaluations: 20, initial: 2, parallel: 3, "
		  "order: deterministic}");
	for (uint32_t k = 0; k < 8; k++) {
		uint32_t window = k >= 3 ? k - 2 : 0; /* results 0..k-parallel */

		assert_int_equal(st->ntrials, k);
		assert_int_equal(dp_course_window(st), window);
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
	assert_int_equal(dp_course_window(st), 2);
}

/* ---- what people ask for ---- */

/* The orders for an ask in a few words, or the sentence that refuses it. */
static const char *ask(enum dp_ask what)
{
	static char out[800];
	struct dp_asked a = {
		.ask = what, .evaluations = 7, .parallel = NAN, .priority = NAN
	};
	struct dp_orders orders;
	struct dp_err err;

	if (dp_course_asked(st, &a, &orders, &err) != DP_OK) {
		snprintf(out, sizeof out, "no: %s", err.msg);
		return out;
	}
	out[0] = '\0';
	for (unsigned i = 0; i < orders.n; i++)
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s%s%s",
			 i ? ", " : "", dp_event_name(orders.event[i].type),
			 orders.event[i].state ? " " : "",
			 orders.event[i].state ? orders.event[i].state : "");
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
		enum dp_ask ask;
		bool failed; /* trial 0 has */
		const char *expected[5];
	} rows[] = {
		{ DP_ASK_PAUSE,
		  false,
		  { "study-moved paused", "",
		    "no: study 's' is finished, so it cannot be paused",
		    "no: study 's' is failed, so it cannot be paused",
		    "no: study 's' is stopped, so it cannot be paused" } },
		{ DP_ASK_RESUME,
		  true,
		  { "", "study-moved running",
		    "no: study 's' is finished: all 1 evaluations are made",
		    "no: study 's' is failed: all 1 evaluations are made",
		    "no: study 's' is stopped: all 1 evaluations are made" } },
		{ DP_ASK_RESUME,
		  false,
		  { "", "study-moved running", "study-moved running",
		    "study-moved running", "study-moved running" } },
		{ DP_ASK_STOP,
		  false,
		  { "study-moved stopped", "study-moved stopped", "", "", "" } },
		{ DP_ASK_SET,
		  true,
		  { "study-amended", "study-amended",
		    "study-amended, study-moved running", "study-amended",
		    "study-amended" } },
		{ DP_ASK_RETRY,
		  true,
		  { "trial-retry-asked", "trial-retry-asked",
		    "trial-retry-asked, study-moved running",
		    "trial-retry-asked, study-moved running", "trial-retry-asked" } },
		{ DP_ASK_RETRY,
		  false,
		  { "no: trial 0 is waiting; only failed or cancelled trials can be "
		    "retried",
		    SAME, SAME, SAME, SAME } },
		{ DP_ASK_CANCEL,
		  false,
		  { "trial-cancel-asked", SAME, SAME, SAME, SAME } },
		{ DP_ASK_CANCEL,
		  true,
		  { "no: trial 0 has ended: it is failed", SAME, SAME, SAME, SAME } },
		{ DP_ASK_DELETE,
		  false,
		  { "study-moved stopped", "study-moved stopped", "", "", "" } },
		{ DP_ASK_ENQUEUE,
		  true,
		  { "no: all 1 evaluations of study 's' are given out", SAME, SAME, SAME,
		    SAME } },
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

static void asked_for_what_is_not_there(void **s)
{
	struct dp_asked a = {
		.ask = DP_ASK_SET, .evaluations = NAN, .parallel = NAN, .priority = NAN
	};
	struct dp_orders orders;
	struct dp_err err;

	(void)s;
	begin("", "search: {method: random, evaluations: 2}");
	assert_string_equal(ask(DP_ASK_RETRY), "no: study 's' has no trials yet");
	assert_string_equal(ask(DP_ASK_ENQUEUE), "");
	assert_int_equal(dp_course_asked(st, &a, &orders, &err), DP_E_USAGE);
	propose(NULL);
	a = (struct dp_asked){ .ask = DP_ASK_CANCEL, .trial = 5 };
	assert_int_equal(dp_course_asked(st, &a, &orders, &err), DP_E_NOT_FOUND);
	assert_string_equal(err.msg, "study 's' has no trial 5; it has 0 to 0");
	cancel_asked();
	assert_string_equal(ask(DP_ASK_CANCEL), ""); /* it is so already */
}

static void a_proposer_without_a_point(void **s)
{
	struct dp_orders orders;
	struct dp_err why;

	(void)s;
	begin("", "search: {method: random, evaluations: 9}");
	whole_trial(DP_END_OK);
	dp_fail(&why, DP_E_INTERRUPTED, "stopped");
	dp_course_no_point(st, &why, &orders);
	assert_int_equal(orders.n, 0); /* it is asked again */
	dp_fail(&why, DP_E_FAILED, "a bug");
	dp_course_no_point(st, &why, &orders);
	assert_int_equal(orders.n, 1);
	assert_string_equal(orders.event[0].state, "failed");
	assert_true(orders.event[0].counted);
	dp_fail(&why, DP_E_LIMIT, "every point is taken");
	dp_course_no_point(st, &why, &orders);
	apply(orders.event[0]);
	assert_int_equal(st->evaluations, 1);
	NEXT("finished");
	dp_fail(&why, DP_E_FAILED, "a bug");
	settle();
	dp_course_no_point(st, &why, &orders);
	assert_int_equal(orders.n, 0); /* of a study that has ended */
	/* deletion: not while trainers run, unless it is wanted now */
	begin("", "search: {method: random, evaluations: 9}");
	running();
	assert_string_equal(ask(DP_ASK_DELETE), "no: 1 of its trainers still run");
}

/* ---- one course, however often it is interrupted ---- */

struct log {
	struct dp_buf bytes[4000];
	uint32_t n;
};

static void keep(struct log *l, struct dp_event *e)
{
	struct dp_err err;

	e->study = 1;
	e->seq = seq;
	e->time = now;
	assert_true(l->n < DP_COUNT(l->bytes));
	assert_int_equal(dp_event_encode(e, &l->bytes[l->n++], &err), DP_OK);
	apply(*e);
}

/* The step that a daemon takes which has just read the journal. */
static void check_replayed(struct log *l)
{
	struct dp_state fresh = { 0 };
	struct dp_event e = { 0 };
	struct dp_step a, b;
	char one[1100], two[1100];

	for (uint32_t i = 0; i < l->n; i++) {
		assert_int_equal(
			dp_event_decode(l->bytes[i].data, l->bytes[i].len, &e, NULL),
			DP_OK);
		e.study = 1;
		e.seq = i;
		assert_int_equal(dp_state_apply(&fresh, &e, NULL), DP_OK);
	}
	dp_event_clear(&e);
	dp_course_next(st, now, &a);
	dp_course_next(dp_state_by_id(&fresh, 1), now, &b);
	assert_string_equal(words(&a, one), words(&b, two));
	assert_true(a.until == b.until);
	dp_state_free(&fresh);
}

/* Ends the n-th open attempt in some way. */
static void end_some(struct log *l, uint32_t n, uint64_t dice)
{
	static const enum dp_end ends[] = { DP_END_OK,        DP_END_OK,
					    DP_END_OK,        DP_END_OK,
					    DP_END_DIVERGED,  DP_END_SIGNAL,
					    DP_END_LOST,      DP_END_EXIT_CODE,
					    DP_END_CANCELLED, DP_END_NOT_STARTED };
	static const char *const names[] = { "f1" };
	enum dp_end how = ends[dice % DP_COUNT(ends)];
	double f1 = how == DP_END_DIVERGED ? NAN : (double)(dice % 97);
	uint32_t run = 0;

	for (uint32_t i = 0; i < st->ntrials; i++)
		for (uint32_t k = 0; k < st->trials[i]->nattempts; k++) {
			struct dp_attempt *a = &st->trials[i]->attempts[k];
			struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
					      .trial = i,
					      .run = a->run,
					      .attempt = a->number,
					      .end = how,
					      .counted = how != DP_END_CANCELLED &&
							 how != DP_END_NOT_STARTED,
					      .reason = "r",
					      .metric_names = names,
					      .nmetrics = 1,
					      .runs = &run,
					      .nruns = 1,
					      .metrics = &f1 };

			if (a->end != DP_END_NONE || n-- > 0)
				continue;
			run = a->run == DP_RUN_ALL ? 0 : (uint32_t)a->run;
			keep(l, &e);
			return;
		}
}

/* What a person does now and then. */
static void disturb(struct log *l, uint64_t dice)
{
	struct dp_asked a = { .ask = (enum dp_ask)(dice % DP_ASK_DELETE),
			      .trial = st->ntrials ? (uint32_t)(dice / 7 % st->ntrials)
						   : 0,
			      .evaluations = 20 + (double)(dice % 20),
			      .parallel = NAN,
			      .priority = NAN };
	struct dp_orders orders;

	if (dp_course_asked(st, &a, &orders, NULL) != DP_OK)
		return;
	for (unsigned i = 0; i < orders.n; i++)
		keep(l, &orders.event[i]);
}

static void one_life(struct log *l, uint64_t seed)
{
	const double x[] = { 3, 2 }, y[] = { 0.5, NAN };
	struct dp_step step;
	struct dp_rng rng;

	dp_rng_init(&rng, seed, DP_RNG_TEST, 0, 0);
	for (int turn = 0; turn < 300; turn++) {
		uint64_t dice = dp_rng_u64(&rng);

		now += (int64_t)(dice % (3 * SECOND));
		check_replayed(l);
		dp_course_next(st, now, &step);
		if (dice % 29 == 0) {
			disturb(l, dice / 29);
		} else if (step.kind == DP_STEP_RECORD || step.kind == DP_STEP_ATTEMPT) {
			keep(l, &step.event);
		} else if (step.kind == DP_STEP_PROPOSE && dice % 3) {
			struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
					      .trial = st->ntrials,
					      .source = "random",
					      .params = x,
					      .nparams = 2,
					      .objectives = y,
					      .nobjectives = 2 };

			keep(l, &e);
		} else if (st->open) {
			end_some(l, (uint32_t)(dice / 5 % st->open), dice / 11);
		}
		assert_true(st->open <= st->parallel);
		assert_true(st->ntrials <= st->evaluations || dice % 29 == 0 ||
			    st->ntrials <= 40);
	}
}

static void the_same_course_after_every_restart(void **s)
{
	static struct log l;
	static const char *const searches[] = {
		"search: {method: random, evaluations: 30, parallel: 3}",
		"search: {method: random, evaluations: 30}",
		"search: {method: dpareto, evaluations: 30, initial: 4, parallel: 2, "
		"order: deterministic, max_time: 200s}",
	};

	(void)s;
	for (uint64_t seed = 0; seed < 12; seed++) {
		const char *trainer =
			seed % 2 ? ", runs: 2, runs_per_process: 1, max_failures: 3"
				 : ", retries: 1, max_failures: 4";
		struct dp_event e = { .type = DP_EV_STUDY_CREATED,
				      .path = "f",
				      .dir = "/" };

		begin(trainer, searches[seed % DP_COUNT(searches)]);
		e.name = "s";
		e.text = st->text;
		e.study = 1;
		e.time = now;
		assert_int_equal(dp_event_encode(&e, &l.bytes[0], NULL), DP_OK);
		l.n = 1;
		one_life(&l, seed);
		for (uint32_t i = 0; i < l.n; i++)
			dp_buf_free(&l.bytes[i]);
	}
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
		CASE(a_study_that_cannot_start_goes_on_when_told),
		CASE(time_is_over),
		CASE(the_window),
		CASE(asked_in_every_state),
		CASE(asked_for_what_is_not_there),
		CASE(a_proposer_without_a_point),
		CASE(the_same_course_after_every_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
