/* transitions.c - what a person may ask of a study in which state, and what a proposer may say
 * of it; and what is journaled for that. */
#include "policy/policy_internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void transition_add_event(struct dp_transition_events *out, enum dp_event_type type)
{
	out->events[out->count++] = (struct dp_event){ .type = type };
}

static void transition_add_status(struct dp_transition_events *out, enum dp_study_status to,
				  const char *reason)
{
	transition_add_event(out, DP_EV_STUDY_MOVED);
	out->events[out->count - 1].study_moved.state = dp_study_status_text(to);
	out->events[out->count - 1].reason = reason;
}

/* Every evaluation is given out: what to do about it. */
static int hint_evaluations_used_up(const struct dp_study_state *s, struct dp_err *err)
{
	if (s->budget_end_reason && s->spec->search.budget.epsilon > 0)
		return dp_hint(err,
			       "another study can begin where it ended, with "
			       "'search.initial_from: %s'; on the same data its trainings "
			       "come on top of this budget",
			       s->spec->name);
	if (s->budget_end_reason)
		return dp_hint(err,
			       "another study can begin where it ended, with "
			       "'search.initial_from: %s'",
			       s->spec->name);
	return dp_hint(err, "raise its budget with 'dparetoctl set %s evaluations=N'",
		       s->spec->name);
}

/* What would tell of a private selection's trainings, or change the law that they are
 * drawn by. */
static int check_selection_transition(const struct dp_study_state *s, const struct dp_transition *a,
				      struct dp_err *err)
{
	bool made = s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED;

	switch (a->kind) {
	case DP_TRANSITION_RETRY:
	case DP_TRANSITION_RETRY_FAILED:
	case DP_TRANSITION_CANCEL:
	case DP_TRANSITION_ENQUEUE:
	case DP_TRANSITION_IMPORT:
	case DP_TRANSITION_REEVALUATE:
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: its trainings are "
			       "drawn by chance, and each counts whatever becomes of it",
			       s->spec->name);
	case DP_TRANSITION_SET:
		if (isnan(a->evaluations))
			return DP_OK;
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: how many trainings "
			       "it makes is drawn in secret",
			       s->spec->name);
	case DP_TRANSITION_RESUME:
		if (!made && s->status != DP_STUDY_STOPPED)
			return DP_OK;
		return dp_fail(err, DP_E_INVALID, "study '%s' is %s: %s", s->spec->name,
			       dp_study_status_text(s->status),
			       made ? "its selection is made"
				    : "a selection that was broken off is none, and "
				      "cannot go on");
	default:
		return DP_OK;
	}
}

static int transition_pause(const struct dp_study_state *s, struct dp_transition_events *out,
			    struct dp_err *err)
{
	if (s->status == DP_STUDY_PAUSED)
		return DP_OK;
	if (s->status != DP_STUDY_RUNNING)
		return dp_fail(err, DP_E_INVALID, "study '%s' is %s, so it cannot be paused",
			       s->spec->name, dp_study_status_text(s->status));
	transition_add_status(out, DP_STUDY_PAUSED, "paused by request");
	return DP_OK;
}

/* "all 80 evaluations are", or "its only evaluation is" */
static char *format_all_evaluations(const struct dp_study_state *s, char out[DP_PLURAL_LEN])
{
	if (s->evaluations == 1)
		return strcpy(out, "its only evaluation is");
	snprintf(out, DP_PLURAL_LEN, "all %u evaluations are", s->evaluations);
	return out;
}

static int transition_resume(const struct dp_study_state *s, struct dp_transition_events *out,
			     struct dp_err *err)
{
	bool search = s->waiting_trials || s->open_attempts || s->ntrials < s->evaluations;
	bool more = search || dp_state_has_pending_reevals(s);
	char all[DP_PLURAL_LEN];

	/* one that is only measured, and was stopped before, searches on */
	if (s->status == DP_STUDY_RUNNING &&
	    !(s->reevals.has_resume_state && s->reevals.resume_state == DP_STUDY_STOPPED && search))
		return DP_OK;
	if (s->status != DP_STUDY_PAUSED && !more) {
		dp_fail(err, DP_E_INVALID, "study '%s' is %s: %s made%s%s", s->spec->name,
			dp_study_status_text(s->status), format_all_evaluations(s, all),
			s->budget_end_reason ? "; " : "",
			s->budget_end_reason ? s->budget_end_reason : "");
		return hint_evaluations_used_up(s, err);
	}
	transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int transition_stop(const struct dp_study_state *s, struct dp_transition_events *out)
{
	/* one that is only measured has ended already: whoever asks cancels what
	 * measures, and it goes back there */
	if (s->reevals.has_resume_state && s->status == DP_STUDY_PAUSED)
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	else if (!s->reevals.has_resume_state &&
		 (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED))
		transition_add_status(out, DP_STUDY_STOPPED, "stopped by request");
	return DP_OK;
}

/* The study with the changes that are asked for, as a copy by value. */
static int apply_requested_changes(const struct dp_study_state *s, const struct dp_transition *a,
				   struct dp_study *wanted, struct dp_err *err)
{
	int code = DP_OK;

	*wanted = *s->current_spec;
	for (uint32_t i = 0; code == DP_OK && i < a->nchanges; i++)
		code = dp_study_apply_change(wanted, a->changes[i], err);
	return code;
}

/* Did it end, before what is measured again now, because its max_time was over, which it
 * no longer is? */
static bool is_max_time_lifted(const struct dp_study_state *s, const struct dp_study *wanted,
			       double evaluations)
{
	double was = s->current_spec->search.max_time * 1e6, is = wanted->search.max_time * 1e6;
	bool only_measures = s->reevals.has_resume_state && s->status == DP_STUDY_RUNNING;
	enum dp_study_status ended = only_measures ? s->reevals.resume_state : s->status;

	return (ended == DP_STUDY_FINISHED || ended == DP_STUDY_FAILED) && was > 0 &&
	       (double)s->active_us >= was && (is == 0 || (double)s->active_us < is) &&
	       s->ntrials < (isnan(evaluations) ? s->evaluations : evaluations);
}

static int transition_set(const struct dp_study_state *s, const struct dp_transition *a,
			  struct dp_transition_events *out, struct dp_err *err)
{
	struct dp_study wanted;
	int code = apply_requested_changes(s, a, &wanted, err);

	if (code != DP_OK)
		return code;
	if (isnan(a->evaluations) && isnan(a->parallel) && isnan(a->priority) && a->nchanges == 0 &&
	    !a->text)
		return dp_fail(err, DP_E_USAGE, "nothing to set");
	if (s->budget_end_reason && s->spec->search.budget.epsilon > 0 &&
	    a->evaluations > s->evaluations) {
		dp_fail(err, DP_E_LIMIT, "no number of evaluations can be larger than %u: %s",
			s->evaluations, s->budget_end_reason);
		return hint_evaluations_used_up(s, err);
	}
	transition_add_event(out, DP_EV_STUDY_AMENDED);
	out->events[0].study_amended.evaluations = a->evaluations;
	out->events[0].study_amended.parallel = a->parallel;
	out->events[0].study_amended.priority = a->priority;
	out->events[0].study_amended.changes = a->changes;
	out->events[0].study_amended.nchanges = a->nchanges;
	out->events[0].study_amended.text = a->text;
	out->events[0].study_amended.path = a->path;
	out->events[0].study_amended.dir = a->dir;
	/* a larger budget, or more time, wakes a study that had used up its own */
	if (is_max_time_lifted(s, &wanted, a->evaluations) ||
	    (s->status == DP_STUDY_FINISHED && s->ntrials < a->evaluations))
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int transition_retry(const struct dp_study_state *s, const struct dp_trial *t,
			    struct dp_transition_events *out, struct dp_err *err)
{
	char name[DP_TRIAL_NAME_LEN];

	if (t->status != DP_TRIAL_FAILED && t->status != DP_TRIAL_CANCELLED)
		return dp_fail(err, DP_E_INVALID,
			       "trial %s is %s; only failed or cancelled trials can be retried",
			       dp_trial_format_name(t->number, name),
			       dp_trial_status_text(t->status));
	if (!t->refusal_reason && dp_policy_check_budget(s, t->renyi_per_run, err) != DP_OK)
		return hint_evaluations_used_up(s, err);
	transition_add_event(out, DP_EV_TRIAL_RETRY_ASKED);
	out->events[0].trial = t->number;
	if (s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED ||
	    (s->status == DP_STUDY_STOPPED && dp_trial_is_reeval(t->number)))
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

/* A trial that a privacy oracle refused would be refused again. k: K of a training that
 * is tried again anyhow; `left`: the most that search.budget has room for. */
static bool can_retry_trial(const struct dp_trial *t, double k, double left)
{
	return t->status == DP_TRIAL_FAILED && !t->refusal_reason &&
	       (isinf(left) || dp_renyi_add(k, t->renyi_per_run) <= left);
}

static uint32_t find_retryable_trial(const struct dp_study_state *s, uint32_t from, double k)
{
	double left = dp_policy_budget_per_run(s, s->ntrials);

	while (from < s->ntrials && !can_retry_trial(s->trials[from], k, left))
		from++;
	return from;
}

/* One trial after the other; the last time the study goes on, too, unless a person has
 * paused or stopped it. */
static int transition_retry_failed(const struct dp_study_state *s, uint32_t from,
				   struct dp_transition_events *out, struct dp_err *err)
{
	uint32_t trial = find_retryable_trial(s, from, 0);

	if (trial >= s->ntrials) {
		dp_fail(err, DP_E_INVALID,
			"study '%s' has no failed trial that can be tried again%s", s->spec->name,
			s->spec->search.budget.epsilon > 0 ? " within its search.budget" : "");
		return dp_hint(err,
			       "'dparetoctl trials %s --status failed' lists those "
			       "that failed",
			       s->spec->name);
	}
	transition_add_event(out, DP_EV_TRIAL_RETRY_ASKED);
	out->events[0].trial = trial;
	out->next_trial = find_retryable_trial(s, trial + 1, s->trials[trial]->renyi_per_run);
	out->has_more = out->next_trial < s->ntrials;
	if (!out->has_more && (s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED ||
			       (s->status == DP_STUDY_PAUSED && s->moved_by_failures)))
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int transition_cancel(const struct dp_trial *t, struct dp_transition_events *out,
			     struct dp_err *err)
{
	char name[DP_TRIAL_NAME_LEN];

	if (t->status >= DP_TRIAL_OK)
		return dp_fail(err, DP_E_INVALID, "trial %s has ended: it is %s",
			       dp_trial_format_name(t->number, name),
			       dp_trial_status_text(t->status));
	if (t->cancel_requested)
		return DP_OK;
	transition_add_event(out, DP_EV_TRIAL_CANCEL_ASKED);
	out->events[0].trial = t->number;
	return DP_OK;
}

/* The point itself is journaled once its epsilon is known: no orders. */
static int transition_enqueue(const struct dp_study_state *s, struct dp_err *err)
{
	char all[DP_PLURAL_LEN];

	if (s->ntrials < s->evaluations)
		return DP_OK;
	dp_fail(err, DP_E_LIMIT, "study '%s' takes no more points: %s given out%s%s", s->spec->name,
		format_all_evaluations(s, all), s->budget_end_reason ? "; " : "",
		s->budget_end_reason ? s->budget_end_reason : "");
	return hint_evaluations_used_up(s, err);
}

/* Results of others are for those that learn from them, as with search.initial_from. */
static int transition_import(const struct dp_study_state *s, struct dp_err *err)
{
	if (s->spec->search.method != DP_METHOD_DPARETO)
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' searches by '%s', which learns from no result",
			       s->spec->name, dp_method_text(s->spec->search.method));
	if (dp_study_has_metric_release(s->spec))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' releases noisy values: what was released "
			       "elsewhere, or is exact, is not accounted for in it",
			       s->spec->name);
	return DP_OK;
}

/* The points themselves are journaled before what is ordered here. */
static int transition_reevaluate(const struct dp_study_state *s, struct dp_transition_events *out,
				 struct dp_err *err)
{
	if (dp_study_has_metric_release(s->spec))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' shows its results with noise ('release'): a "
			       "point that is measured again would be one more release, "
			       "which nothing accounts for",
			       s->spec->name);
	if (s->spec->search.budget.epsilon > 0 && !s->accounting)
		return dp_fail(err, DP_E_BUSY,
			       "the filter of its search.budget is not chosen yet, which "
			       "the study does as soon as it runs; try again then");
	if (s->status != DP_STUDY_RUNNING && s->status != DP_STUDY_PAUSED)
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int transition_delete(const struct dp_study_state *s, bool now,
			     struct dp_transition_events *out, struct dp_err *err)
{
	if (dp_state_count_open_attempts(s) && !now) {
		if (dp_state_is_private_selection(s))
			dp_fail(err, DP_E_BUSY, "trainers of it still run");
		else
			dp_fail(err, DP_E_BUSY, "%u of its trainers still run",
				dp_state_count_open_attempts(s));
		return dp_hint(err, "wait for them, or end them with 'dparetoctl delete --now'");
	}
	if (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED)
		transition_add_status(out, DP_STUDY_STOPPED, "being deleted");
	return DP_OK;
}

int dp_policy_find_trial(const struct dp_study_state *s, int64_t number, struct dp_trial **t,
			 struct dp_err *err)
{
	*t = number >= 0 && number <= UINT32_MAX ? dp_state_find_trial(s, (uint32_t)number) : NULL;
	if (*t)
		return DP_OK;
	if (number >= DP_REEVAL_TRIAL_FIRST)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "study '%s' has no trial m%lld that measures a point "
			       "again",
			       s->spec->name, (long long)number - DP_REEVAL_TRIAL_FIRST);
	if (s->ntrials == 0)
		return dp_fail(err, DP_E_NOT_FOUND, "study '%s' has no trials yet", s->spec->name);
	return dp_fail(err, DP_E_NOT_FOUND, "study '%s' has no trial %lld; it has 0 to %u",
		       s->spec->name, (long long)number, s->ntrials - 1);
}

/* "1, 2, 4": the values of the trial's waypoints that are results. */
static void format_checkpoint_values(const struct dp_study_state *s, const struct dp_trial *t,
				     char *out, size_t room)
{
	size_t n = 0;

	for (uint32_t w = 0; w < t->checkpoints->count && n < room; w++)
		if (dp_checkpoint_is_result(s, t->checkpoints, w))
			n += (size_t)snprintf(out + n, room - n, "%s%.0f", n ? ", " : "",
					      t->checkpoints->values[w]);
}

/* Why there is no such waypoint. */
static int fail_no_checkpoint(const struct dp_study_state *s, const struct dp_trial *t, int64_t at,
			      struct dp_err *err)
{
	char there[500] = "";

	if (s->spec->trainer.learning_curve.points == 0)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "trial %u has no waypoints: study '%s' has no "
			       "trainer.path",
			       t->number, s->spec->name);
	if (t->status < DP_TRIAL_OK)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "trial %u is %s: its waypoints are known once it has ended",
			       t->number, dp_trial_status_text(t->status));
	if (!dp_trial_has_checkpoint_results(s, t))
		return dp_fail(err, DP_E_NOT_FOUND, "trial %u came to no waypoint that is a result",
			       t->number);
	format_checkpoint_values(s, t, there, sizeof there);
	dp_fail(err, DP_E_NOT_FOUND, "trial %u has no waypoint %lld that is a result; it has %s",
		t->number, (long long)at, there);
	return at == (int64_t)dp_learning_curve_end(s->spec, t->x)
		       ? dp_hint(err, "its own result, at %lld, is just %u", (long long)at,
				 t->number)
		       : err->code;
}

int dp_policy_find_checkpoint(const struct dp_study_state *s, const struct dp_trial *t, int64_t at,
			      struct dp_result_id *p, struct dp_err *err)
{
	for (uint32_t w = 0; t->checkpoints && w < t->checkpoints->count; w++)
		if (t->checkpoints->values[w] == (double)at &&
		    dp_checkpoint_is_result(s, t->checkpoints, w)) {
			*p = (struct dp_result_id){ t->number, (int32_t)w };
			return DP_OK;
		}
	return fail_no_checkpoint(s, t, at, err);
}

int dp_policy_plan_transition(const struct dp_study_state *s, const struct dp_transition *a,
			      struct dp_transition_events *out, struct dp_err *err)
{
	struct dp_trial *t = NULL;
	int code = DP_OK;

	out->count = 0;
	out->has_more = false;
	out->next_trial = 0;
	if (dp_state_is_private_selection(s))
		code = check_selection_transition(s, a, err);
	if (code == DP_OK && (a->kind == DP_TRANSITION_RETRY || a->kind == DP_TRANSITION_CANCEL))
		code = dp_policy_find_trial(s, a->trial, &t, err);
	if (code != DP_OK)
		return code;
	switch (a->kind) {
	case DP_TRANSITION_PAUSE:
		return transition_pause(s, out, err);
	case DP_TRANSITION_RESUME:
		return transition_resume(s, out, err);
	case DP_TRANSITION_STOP:
		return transition_stop(s, out);
	case DP_TRANSITION_SET:
		return transition_set(s, a, out, err);
	case DP_TRANSITION_RETRY:
		return transition_retry(s, t, out, err);
	case DP_TRANSITION_RETRY_FAILED:
		return transition_retry_failed(s, a->trial, out, err);
	case DP_TRANSITION_CANCEL:
		return transition_cancel(t, out, err);
	case DP_TRANSITION_ENQUEUE:
		return transition_enqueue(s, err);
	case DP_TRANSITION_IMPORT:
		return transition_import(s, err);
	case DP_TRANSITION_REEVALUATE:
		return transition_reevaluate(s, out, err);
	case DP_TRANSITION_DELETE:
		return transition_delete(s, a->force, out, err);
	}
	return DP_OK;
}

void dp_policy_on_no_proposal(const struct dp_study_state *s, const struct dp_err *why,
			      struct dp_transition_events *out)
{
	out->count = 0;
	if (why->code == DP_E_INTERRUPTED || s->status != DP_STUDY_RUNNING ||
	    dp_policy_can_propose_later(s, why))
		return; /* it is asked again when it fits */
	if (why->code != DP_E_LIMIT) {
		transition_add_status(out,
				      why->code == DP_E_ORACLE ? DP_STUDY_PAUSED : DP_STUDY_FAILED,
				      why->msg);
		out->events[0].study_moved.by_failures = true;
		return;
	}
	transition_add_event(out, DP_EV_STUDY_AMENDED);
	out->events[0].study_amended.evaluations = s->ntrials;
	out->events[0].study_amended.parallel = out->events[0].study_amended.priority = NAN;
	out->events[0].reason = why->msg;
}
