/* trial_outcome.c - decides whether a trial has ended, and how. */
#include "policy/policy_internal.h"
#include "study/objective.h"

#include <stdio.h>

int dp__count_retryable_failures(const struct dp_trial *t, int32_t run, uint32_t last)
{
	int n = 0;

	for (uint32_t i = 0; i <= last && i < t->nattempts; i++)
		n += t->attempts[i].run == run && t->attempts[i].charged &&
		     dp_end_class_is_retryable(t->attempts[i].end_class);
	return n;
}

static bool attempt_fails_trial(const struct dp_study_state *s, const struct dp_trial *t,
				const struct dp_attempt *a)
{
	if (!a->charged || a->end_class == DP_END_NONE || a->end_class == DP_END_OK ||
	    a->end_class == DP_END_DIVERGED)
		return false;
	return !dp_end_class_is_retryable(a->end_class) ||
	       dp__count_retryable_failures(t, a->run, t->nattempts) >
		       s->current_spec->trainer.retries;
}

static bool trial_has_all_runs(const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->runs; i++)
		if (!dp_trial_has_run_result(t, i))
			return false;
	return true;
}

/* The trial's final status; DP_TRIAL_WAITING: needs attempts. *cause: the deciding one, or NULL. */
static enum dp_trial_status decide_trial_outcome(const struct dp_study_state *s,
						 const struct dp_trial *t,
						 const struct dp_attempt **cause)
{
	*cause = NULL;
	if (t->cancel_requested)
		return DP_TRIAL_CANCELLED;
	if (t->refusal_reason)
		return DP_TRIAL_FAILED;
	for (uint32_t i = 0; i < t->nattempts; i++) {
		*cause = &t->attempts[i];
		if (attempt_fails_trial(s, t, *cause))
			return DP_TRIAL_FAILED;
	}
	for (uint32_t i = 0; i < t->nattempts; i++) {
		*cause = &t->attempts[i];
		if ((*cause)->end_class == DP_END_DIVERGED)
			return DP_TRIAL_DIVERGED;
	}
	*cause = NULL;
	return trial_has_all_runs(t) ? DP_TRIAL_OK : DP_TRIAL_WAITING;
}

void dp__step_end_trial(const struct dp_study_state *s, const struct dp_trial *t,
			enum dp_trial_status status, struct dp_step *step)
{
	step->kind = DP_STEP_RECORD;
	step->record = DP_EV_TRIAL_ENDED;
	step->trial = t->number;
	step->trial_status = status;
	if (status != DP_TRIAL_OK && status != DP_TRIAL_DIVERGED)
		return;
	step->nobjectives = (uint32_t)s->spec->nobjectives;
	for (size_t i = 0; i < s->spec->nobjectives; i++) {
		const struct dp_objective *o = &s->spec->objectives[i];
		int column = o->privacy ? -1 : dp_state_metric_column(s, o->metric);

		/* natural units; NaN for a value that a diverged trial lacks */
		step->objectives[i] =
			o->privacy
				? t->privacy[i]
				: dp_objective_from_metric(o, dp_trial_metric_mean(s, t, column));
	}
}

bool dp__trial_next_run(const struct dp_study_state *s, const struct dp_trial *t, int32_t *run)
{
	const struct dp_attempt *cause;
	bool taken;

	if (t->status >= DP_TRIAL_OK || decide_trial_outcome(s, t, &cause) != DP_TRIAL_WAITING)
		return false;
	if (!s->spec->trainer.run_per_process) {
		*run = DP_RUN_ALL;
		return t->open_attempts == 0;
	}
	for (int32_t r = 0; r < (int32_t)t->runs; r++) {
		taken = dp_trial_has_run_result(t, (uint32_t)r);
		for (uint32_t i = 0; i < t->nattempts && !taken; i++)
			taken = t->attempts[i].run == r && t->attempts[i].end_class == DP_END_NONE;
		if (!taken) {
			*run = r;
			return true;
		}
	}
	return false;
}

/* Cancels a trial if search.budget has no room for another attempt: more attempts were lost than
 * the retries that were budgeted, for example because daemons were killed repeatedly. */
static bool step_cancel_unaffordable_trial(const struct dp_study_state *s, const struct dp_trial *t,
					   struct dp_step *step)
{
	struct dp_err why;
	int32_t run;

	if (!dp__trial_next_run(s, t, &run) || dp__check_attempt_budget(s, t, run, &why) == DP_OK)
		return false;
	snprintf(step->reason, sizeof step->reason, "%s", why.msg);
	dp__step_end_trial(s, t, DP_TRIAL_CANCELLED, step);
	return true;
}

static bool step_end_decided_trial(const struct dp_study_state *s, const struct dp_trial *t,
				   struct dp_step *step)
{
	const struct dp_attempt *cause;
	enum dp_trial_status status;

	if (t->open_attempts || t->status >= DP_TRIAL_OK)
		return false;
	status = decide_trial_outcome(s, t, &cause);
	if (status == DP_TRIAL_WAITING)
		return step_cancel_unaffordable_trial(s, t, step);
	if ((status == DP_TRIAL_OK || status == DP_TRIAL_DIVERGED) && !t->privacy &&
	    dp_study_has_privacy(s->spec)) {
		step->kind = DP_STEP_ACCOUNT;
		step->trial = t->number;
		return true;
	}
	if (cause)
		snprintf(step->reason, sizeof step->reason, "%s: %s",
			 dp_end_class_name(cause->end_class),
			 cause->message ? cause->message : "no reason is known");
	else if (status == DP_TRIAL_CANCELLED)
		snprintf(step->reason, sizeof step->reason, "by request");
	else if (status == DP_TRIAL_FAILED)
		snprintf(step->reason, sizeof step->reason, "%s", t->refusal_reason);
	dp__step_end_trial(s, t, status, step);
	return true;
}

uint32_t dp__reevals_end_position(const struct dp_reevals *m)
{
	return m->first_untouched < m->ntrials ? m->first_untouched + 1 : m->ntrials;
}

bool dp__step_end_first_decided(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_reevals *m = &s->reevals;

	for (uint32_t i = s->first_waiting; i < s->ntrials; i++)
		if (step_end_decided_trial(s, s->trials[i], step))
			return true;
	for (uint32_t i = m->first_unfinished; i < dp__reevals_end_position(m); i++)
		if (step_end_decided_trial(s, m->trials[i], step))
			return true;
	return false;
}
