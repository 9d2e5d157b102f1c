/* ends.c - whether a trial has ended, and how. */
#include "course/course_internal.h"

#include <stdio.h>

/* ---- the verdict on a trial ---- */

int dp__mendable_failures(const struct dp_trial *t, int32_t run, uint32_t last)
{
	int n = 0;

	for (uint32_t i = 0; i <= last && i < t->nattempts; i++)
		n += t->attempts[i].run == run && t->attempts[i].counted &&
		     dp_end_retryable(t->attempts[i].end);
	return n;
}

static bool ends_trial(const struct dp_study_state *s, const struct dp_trial *t,
		       const struct dp_attempt *a)
{
	if (!a->counted || a->end == DP_END_NONE || a->end == DP_END_OK ||
	    a->end == DP_END_DIVERGED)
		return false;
	return !dp_end_retryable(a->end) ||
	       dp__mendable_failures(t, a->run, t->nattempts) > s->now->trainer.retries;
}

static bool all_runs_known(const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->runs; i++)
		if (!dp_trial_run_known(t, i))
			return false;
	return true;
}

/* How the trial stands: its final state, or DP_TRIAL_WAITING while it needs more
 * attempts. *cause is the attempt that decided, or NULL. */
static enum dp_trial_status trial_verdict(const struct dp_study_state *s, const struct dp_trial *t,
					  const struct dp_attempt **cause)
{
	*cause = NULL;
	if (t->cancel_asked)
		return DP_TRIAL_CANCELLED;
	if (t->refused)
		return DP_TRIAL_FAILED;
	for (uint32_t i = 0; i < t->nattempts; i++) {
		*cause = &t->attempts[i];
		if (ends_trial(s, t, *cause))
			return DP_TRIAL_FAILED;
	}
	for (uint32_t i = 0; i < t->nattempts; i++) {
		*cause = &t->attempts[i];
		if ((*cause)->end == DP_END_DIVERGED)
			return DP_TRIAL_DIVERGED;
	}
	*cause = NULL;
	return all_runs_known(t) ? DP_TRIAL_OK : DP_TRIAL_WAITING;
}

/* ---- ends of trials ---- */

/* Natural units; NaN where a diverged trial has no value. */
static void objectives_of(const struct dp_study_state *s, const struct dp_trial *t, double *y)
{
	for (size_t i = 0; i < s->spec->nobjectives; i++) {
		const struct dp_objective *o = &s->spec->objectives[i];

		y[i] = o->privacy ? t->privacy[i]
				  : dp_objective_metric(
					    o, dp_trial_mean(s, t, dp_study_metric(s, o->metric)));
	}
}

void dp__step_event(struct dp_step *step, enum dp_step_kind kind, enum dp_event_type type)
{
	step->kind = kind;
	step->event = (struct dp_event){ .type = type };
}

void dp__step_end_trial(const struct dp_study_state *s, const struct dp_trial *t,
			enum dp_trial_status status, struct dp_step *step)
{
	dp__step_event(step, DP_STEP_RECORD, DP_EV_TRIAL_ENDED);
	step->event.trial = t->number;
	step->event.state = dp_trial_status_text(status);
	step->event.reason = step->reason[0] ? step->reason : NULL;
	if (status != DP_TRIAL_OK && status != DP_TRIAL_DIVERGED)
		return;
	objectives_of(s, t, step->objectives);
	step->event.objectives = step->objectives;
	step->event.nobjectives = (uint32_t)s->spec->nobjectives;
}

bool dp__next_run(const struct dp_study_state *s, const struct dp_trial *t, int32_t *run)
{
	const struct dp_attempt *cause;
	bool taken;

	if (t->status >= DP_TRIAL_OK || trial_verdict(s, t, &cause) != DP_TRIAL_WAITING)
		return false;
	if (!s->spec->trainer.run_per_process) {
		*run = DP_RUN_ALL;
		return t->open == 0;
	}
	for (int32_t r = 0; r < (int32_t)t->runs; r++) {
		taken = dp_trial_run_known(t, (uint32_t)r);
		for (uint32_t i = 0; i < t->nattempts && !taken; i++)
			taken = t->attempts[i].run == r && t->attempts[i].end == DP_END_NONE;
		if (!taken) {
			*run = r;
			return true;
		}
	}
	return false;
}

/* A trial that search.budget does not let be tried once more: more attempts were lost
 * than retries were reckoned with, as where daemons are killed again and again. */
static bool settle_unaffordable(const struct dp_study_state *s, const struct dp_trial *t,
				struct dp_step *step)
{
	struct dp_err why;
	int32_t run;

	if (!dp__next_run(s, t, &run) || dp__attempt_fits(s, t, run, &why) == DP_OK)
		return false;
	snprintf(step->reason, sizeof step->reason, "%s", why.msg);
	dp__step_end_trial(s, t, DP_TRIAL_CANCELLED, step);
	return true;
}

/* A trial without an open attempt ends, if it can. */
static bool settle_trial(const struct dp_study_state *s, const struct dp_trial *t,
			 struct dp_step *step)
{
	const struct dp_attempt *cause;
	enum dp_trial_status status;

	if (t->open || t->status >= DP_TRIAL_OK)
		return false;
	status = trial_verdict(s, t, &cause);
	if (status == DP_TRIAL_WAITING)
		return settle_unaffordable(s, t, step);
	if ((status == DP_TRIAL_OK || status == DP_TRIAL_DIVERGED) && !t->privacy &&
	    dp_study_accounts(s->spec)) {
		dp__step_event(step, DP_STEP_ACCOUNT, DP_EV_TRIAL_ACCOUNTED);
		step->event.trial = t->number;
		return true;
	}
	if (cause)
		snprintf(step->reason, sizeof step->reason, "%s: %s", dp_end_text(cause->end),
			 cause->message ? cause->message : "no reason is known");
	else if (status == DP_TRIAL_CANCELLED)
		snprintf(step->reason, sizeof step->reason, "by request");
	else if (status == DP_TRIAL_FAILED)
		snprintf(step->reason, sizeof step->reason, "%s", t->refused);
	dp__step_end_trial(s, t, status, step);
	return true;
}

uint32_t dp__measures_end(const struct dp_measures *m)
{
	return m->reached < m->ntrials ? m->reached + 1 : m->ntrials;
}

bool dp__settle_trials(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_measures *m = &s->measured;

	for (uint32_t i = s->first_waiting; i < s->ntrials; i++)
		if (settle_trial(s, s->trials[i], step))
			return true;
	for (uint32_t i = m->first_live; i < dp__measures_end(m); i++)
		if (settle_trial(s, m->trials[i], step))
			return true;
	return false;
}
