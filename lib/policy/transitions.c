/* transitions.c - user requests: which are possible in a state, and the events to journal. */
#include "policy/policy_internal.h"

#include "base/units.h"
#include "study/learning_curve.h"
#include "study/metric_release.h"
#include "study/study_change.h"
#include "privacy/composition/adaptive_composition.h"

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

/* Refuses what would reveal how runs of a private selection ended, or bias its draw. */
static int check_not_selection(const struct dp_study_state *s, struct dp_err *err)
{
	if (!dp_state_is_private_selection(s))
		return DP_OK;
	return dp_fail(err, DP_E_INVALID,
		       "study '%s' is a private selection: its trainings are "
		       "drawn by chance, and each counts whatever becomes of it",
		       s->spec->name);
}

int dp_policy_pause(const struct dp_study_state *s, struct dp_transition_events *out,
		    struct dp_err *err)
{
	out->count = 0;
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

int dp_policy_resume(const struct dp_study_state *s, struct dp_transition_events *out,
		     struct dp_err *err)
{
	bool has_ended = s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED;
	bool search = s->waiting_trials || s->open_attempts || s->ntrials < s->evaluations;
	bool more = search || dp_state_has_pending_reevals(s);
	char all[DP_PLURAL_LEN];

	out->count = 0;
	if (dp_state_is_private_selection(s) && (has_ended || s->status == DP_STUDY_STOPPED))
		return dp_fail(err, DP_E_INVALID, "study '%s' is %s: %s", s->spec->name,
			       dp_study_status_text(s->status),
			       has_ended ? "its selection is made"
					 : "a selection that was broken off is none, and "
					   "cannot go on");
	/* a stopped study that only runs re-evaluations resumes its search */
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

void dp_policy_stop(const struct dp_study_state *s, struct dp_transition_events *out)
{
	out->count = 0;
	/* A study that only runs re-evaluations has ended: the caller cancels them, then it returns
	 * to its former status. */
	if (s->reevals.has_resume_state && s->status == DP_STUDY_PAUSED)
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	else if (!s->reevals.has_resume_state &&
		 (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED))
		transition_add_status(out, DP_STUDY_STOPPED, "stopped by request");
}

/* True if the search ended because of a max_time that `wanted` raises enough. */
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

int dp_policy_amend(const struct dp_study_state *s, const struct dp_ev_study_amended *changes,
		    struct dp_transition_events *out, struct dp_err *err)
{
	struct dp_study wanted = *s->current_spec;
	double evaluations = changes->evaluations;
	int code = DP_OK;

	out->count = 0;
	if (dp_state_is_private_selection(s) && !isnan(evaluations))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: how many trainings "
			       "it makes is drawn in secret",
			       s->spec->name);
	for (uint32_t i = 0; code == DP_OK && i < changes->nchanges; i++)
		code = dp_study_apply_change(&wanted, changes->changes[i], err);
	if (code != DP_OK)
		return code;
	if (isnan(evaluations) && isnan(changes->parallel) && isnan(changes->priority) &&
	    changes->nchanges == 0 && !changes->text)
		return dp_fail(err, DP_E_USAGE, "nothing to set");
	if (s->budget_end_reason && s->spec->search.budget.epsilon > 0 &&
	    evaluations > s->evaluations) {
		dp_fail(err, DP_E_LIMIT, "no number of evaluations can be larger than %u: %s",
			s->evaluations, s->budget_end_reason);
		return hint_evaluations_used_up(s, err);
	}
	transition_add_event(out, DP_EV_STUDY_AMENDED);
	out->events[0].study_amended = *changes;
	/* a larger budget or more time resumes a study that had used up its own */
	if (is_max_time_lifted(s, &wanted, evaluations) ||
	    (s->status == DP_STUDY_FINISHED && s->ntrials < evaluations))
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

/* A trial that a user may retry or cancel: those of a private selection are hidden. */
static int find_search_trial(const struct dp_study_state *s, uint32_t trial, struct dp_trial **t,
			     struct dp_err *err)
{
	if (check_not_selection(s, err) != DP_OK)
		return DP_E_INVALID;
	return dp_policy_find_trial(s, trial, t, err) == DP_OK ? DP_OK : DP_E_NOT_FOUND;
}

int dp_policy_retry(const struct dp_study_state *s, uint32_t trial,
		    struct dp_transition_events *out, struct dp_err *err)
{
	char name[DP_TRIAL_NAME_LEN];
	struct dp_trial *t;
	int code = find_search_trial(s, trial, &t, err);

	out->count = 0;
	if (code != DP_OK)
		return code;

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
	    (s->status == DP_STUDY_STOPPED && t->kind == DP_TRIAL_REEVAL))
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

/* The first trial from `from` on that can be retried together with a trial of divergence k. Trials
 * that an accountant refused would be refused again. */
static uint32_t find_retryable_trial(const struct dp_study_state *s, uint32_t from, double k)
{
	double left = dp_policy_budget_per_run(s, s->ntrials);

	for (; from < s->ntrials; from++) {
		const struct dp_trial *t = s->trials[from];

		if (t->status == DP_TRIAL_FAILED && !t->refusal_reason &&
		    (isinf(left) || dp_renyi_add(k, t->renyi_per_run) <= left))
			break;
	}
	return from;
}

/* With the last trial the study resumes, too, unless a user has paused or stopped it. */
int dp_policy_retry_failed(const struct dp_study_state *s, uint32_t *trial, bool *has_more,
			   struct dp_transition_events *out, struct dp_err *err)
{
	uint32_t first = find_retryable_trial(s, *trial, 0);

	out->count = 0;
	if (check_not_selection(s, err) != DP_OK)
		return DP_E_INVALID;
	if (first >= s->ntrials) {
		dp_fail(err, DP_E_INVALID,
			"study '%s' has no failed trial that can be tried again%s", s->spec->name,
			s->spec->search.budget.epsilon > 0 ? " within its search.budget" : "");
		return dp_hint(err,
			       "'dparetoctl trials %s --status failed' lists those "
			       "that failed",
			       s->spec->name);
	}
	transition_add_event(out, DP_EV_TRIAL_RETRY_ASKED);
	out->events[0].trial = first;
	*trial = find_retryable_trial(s, first + 1, s->trials[first]->renyi_per_run);
	*has_more = *trial < s->ntrials;
	if (!*has_more && (s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED ||
			   (s->status == DP_STUDY_PAUSED && s->moved_by_failures)))
		transition_add_status(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

int dp_policy_cancel(const struct dp_study_state *s, uint32_t trial,
		     struct dp_transition_events *out, struct dp_err *err)
{
	char name[DP_TRIAL_NAME_LEN];
	struct dp_trial *t;
	int code = find_search_trial(s, trial, &t, err);

	out->count = 0;
	if (code != DP_OK)
		return code;

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

int dp_policy_check_enqueue(const struct dp_study_state *s, struct dp_err *err)
{
	char all[DP_PLURAL_LEN];

	if (check_not_selection(s, err) != DP_OK)
		return DP_E_INVALID;
	if (s->ntrials < s->evaluations)
		return DP_OK;
	dp_fail(err, DP_E_LIMIT, "study '%s' takes no more points: %s given out%s%s", s->spec->name,
		format_all_evaluations(s, all), s->budget_end_reason ? "; " : "",
		s->budget_end_reason ? s->budget_end_reason : "");
	return hint_evaluations_used_up(s, err);
}

/* Only for methods that learn from results, as with search.initial_from. */
int dp_policy_check_import(const struct dp_study_state *s, struct dp_err *err)
{
	if (check_not_selection(s, err) != DP_OK)
		return DP_E_INVALID;
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

int dp_policy_reevaluate(const struct dp_study_state *s, struct dp_transition_events *out,
			 struct dp_err *err)
{
	out->count = 0;
	if (check_not_selection(s, err) != DP_OK)
		return DP_E_INVALID;
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

int dp_policy_delete(const struct dp_study_state *s, bool now, struct dp_transition_events *out,
		     struct dp_err *err)
{
	out->count = 0;
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
	bool is_number = number >= 0 && number <= UINT32_MAX;
	char name[DP_TRIAL_NAME_LEN];

	*t = is_number ? dp_state_find_trial(s, (uint32_t)number) : NULL;
	if (*t)
		return DP_OK;
	if (is_number && dp_trial_number_kind((uint32_t)number) == DP_TRIAL_REEVAL)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "study '%s' has no trial %s that measures a point "
			       "again",
			       s->spec->name, dp_trial_format_name((uint32_t)number, name));
	if (s->ntrials == 0)
		return dp_fail(err, DP_E_NOT_FOUND, "study '%s' has no trials yet", s->spec->name);
	return dp_fail(err, DP_E_NOT_FOUND, "study '%s' has no trial %lld; it has 0 to %u",
		       s->spec->name, (long long)number, s->ntrials - 1);
}

static int fail_no_checkpoint(const struct dp_study_state *s, const struct dp_trial *t, int64_t at,
			      struct dp_err *err)
{
	char there[500] = "";
	size_t n = 0;

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
	for (uint32_t w = 0; w < t->checkpoints->count && n < sizeof there; w++)
		if (dp_checkpoint_is_result(s, t->checkpoints, w))
			n += (size_t)snprintf(there + n, sizeof there - n, "%s%.0f", n ? ", " : "",
					      t->checkpoints->values[w]);
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

void dp_policy_on_no_proposal(const struct dp_study_state *s, const struct dp_err *why,
			      struct dp_transition_events *out)
{
	out->count = 0;
	if (why->code == DP_E_INTERRUPTED || s->status != DP_STUDY_RUNNING ||
	    dp_policy_can_propose_later(s, why))
		return; /* the next step will propose again */
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
