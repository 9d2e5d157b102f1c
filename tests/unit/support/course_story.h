/* course_story.h - a study without a daemon: events are applied by hand, and what comes
 * next is told in a few words. */
#ifndef DP_TEST_COURSE_STORY_H
#define DP_TEST_COURSE_STORY_H
#include "policy/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000)
#define HEAD                                                                                       \
	"parameters: {C: {type: int, range: [1, 30]}, b: {type: float, range: [1, "                \
	"9]}}\n"                                                                                   \
	"objectives: {epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}},\n"                \
	"  error: {metric: f1}}\n"                                                                 \
	"anti_ideal: {epsilon: 10, error: 1}\n"

static struct dp_state state;
static struct dp_study_state *st;
static uint32_t seq;
static int64_t now;

static inline void apply(struct dp_event e)
{
	struct dp_err err;

	e.study = 1;
	e.seq = seq++;
	e.time_us = now;
	if (dp_state_apply(&state, &e, &err) != DP_OK)
		fail_msg("%s: %s", dp_event_type_name(e.type), err.msg);
}

static inline void begin(const char *trainer, const char *search)
{
	char text[1000];

	snprintf(text, sizeof text, "study: s\ntrainer: {command: [x]%s}\n" HEAD "%s\n", trainer,
		 search);
	dp_state_free(&state);
	seq = 0;
	now = 1000 * SECOND;
	apply((struct dp_event){
		.type = DP_EV_STUDY_CREATED,
		.study_created = { .name = "s", .text = text, .path = "f", .dir = "/" } });
	st = dp_state_get_study(&state, 1);
}

static inline int teardown(void **s)
{
	(void)s;
	dp_state_free(&state);
	return 0;
}

static inline void propose(const char *refused)
{
	const double x[] = { 3, 2 }, y[] = { 0.5, NAN };

	apply((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
				 .trial = st->ntrials,
				 .reason = refused,
				 .trial_proposed = { .point = { .source = "random",
								.params = x,
								.nparams = 2,
								.privacy = y,
								.nprivacy = refused ? 0 : 2 } } });
}

/* As version 0.1 wrote it. */
static inline void propose_old(void)
{
	const double x[] = { 3, 2 };

	apply((struct dp_event){
		.type = DP_EV_TRIAL_PROPOSED,
		.trial = st->ntrials,
		.trial_proposed = { .point = { .source = "random", .params = x, .nparams = 2 } } });
}

static inline void plan(uint32_t trial, int32_t run, uint32_t attempt)
{
	apply((struct dp_event){
		.type = DP_EV_ATTEMPT_PLANNED, .trial = trial, .run = run, .attempt = attempt });
}

static inline void end(uint32_t trial, int32_t run, uint32_t attempt, enum dp_end_class how,
		       bool counted, double f1)
{
	static const char *const names[] = { "f1" };
	uint32_t r = run == DP_RUN_ALL ? 0 : (uint32_t)run;

	apply((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
				 .trial = trial,
				 .run = run,
				 .attempt = attempt,
				 .reason = how == DP_END_OK ? NULL : "because",
				 .attempt_ended = { .end_class = how,
						    .charged = counted,
						    .metric_names = names,
						    .nmetrics = 1,
						    .runs = &r,
						    .nruns = 1,
						    .metrics = &f1 } });
}

static inline void attempted(uint32_t trial, enum dp_end_class how, bool counted)
{
	const struct dp_trial *t = dp_state_find_trial(st, trial);

	plan(trial, DP_RUN_ALL, t->nattempts);
	end(trial, DP_RUN_ALL, t->nattempts - 1, how, counted, how == DP_END_DIVERGED ? NAN : 0.25);
}

static inline void move(const char *to)
{
	apply((struct dp_event){ .type = DP_EV_STUDY_MOVED, .study_moved = { .state = to } });
}

/* A step in a few words. */
static inline const char *words(const struct dp_step *s, char out[1100])
{
	static const char *const waits[] = { "",       " parallel", " retry",
					     " order", " last",     " measures" };

	struct dp_event e = dp_step_event(s);

	switch (s->kind) {
	case DP_STEP_WAIT:
		snprintf(out, 1100, "wait%s", waits[s->wait_reason]);
		break;
	case DP_STEP_ACCOUNT:
		snprintf(out, 1100, "account %u", s->trial);
		break;
	case DP_STEP_ATTEMPT:
		snprintf(out, 1100, "attempt %u/%d/%u", e.trial, e.run, e.attempt);
		break;
	case DP_STEP_CHOOSE_FILTER:
		snprintf(out, 1100, "fix");
		break;
	case DP_STEP_REEVALUATE_FRONT:
		snprintf(out, 1100, "measure the front");
		break;
	case DP_STEP_PROPOSE:
		snprintf(out, 1100, "propose");
		break;
	case DP_STEP_RECORD:
		if (e.type == DP_EV_ACCOUNTING_FIXED)
			snprintf(out, 1100, "accounting of %u orders", e.accounting_fixed.norders);
		else if (e.type == DP_EV_TRIAL_ENDED)
			snprintf(out, 1100, "%u %s%s%s", e.trial, e.trial_ended.status,
				 e.reason ? ": " : "", e.reason ? e.reason : "");
		else if (e.type == DP_EV_STUDY_MOVED)
			snprintf(out, 1100, "%s%s%s%s",
				 e.study_moved.by_failures ? "(failures) " : "",
				 e.study_moved.state, e.reason ? ": " : "",
				 e.reason ? e.reason : "");
		else
			snprintf(out, 1100, "%s", dp_event_type_name(e.type));
		break;
	}
	return out;
}

static inline const char *next(void)
{
	static char out[1100];
	struct dp_step step;

	dp_policy_next_step(st, now, &step);
	return words(&step, out);
}

#define NEXT(expected) assert_string_equal(next(), expected)

/* Does what the step says, if that needs nobody else; false otherwise. */
static inline bool record_step(void)
{
	struct dp_step step;

	dp_policy_next_step(st, now, &step);
	if (step.kind == DP_STEP_RECORD)
		apply(dp_step_event(&step));
	return step.kind == DP_STEP_RECORD;
}

static inline void settle(void)
{
	while (record_step())
		now++;
}

static inline void running(void)
{
	propose(NULL);
	plan(0, DP_RUN_ALL, 0);
}

static inline void cancel_asked(void)
{
	apply((struct dp_event){ .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = 0 });
}

static inline void whole_trial(enum dp_end_class how)
{
	propose(NULL);
	attempted(st->ntrials - 1, how, true);
	assert_true(record_step());
}

/* As in the state before it, in a table over these. */
#define SAME NULL

static const char *const statuses[] = { "running", "paused", "finished", "failed", "stopped" };

#endif
