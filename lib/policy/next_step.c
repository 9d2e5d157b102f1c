/* next_step.c - computes the next step of a study. */
#include "policy/policy_internal.h"

#include "base/units.h"
#include "optimize/propose/proposer.h"
#include "study/metric_release.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIME_NOTE_SECONDS  60.0 /* at most one time-noted in this time, */
#define TIME_NOTE_FRACTION 0.01 /* and in this fraction of max_time */

enum {
	FIRST_FAILURES_MAX = 3, /* in a row before any result: the trainer does not work */
	REEVAL_FAILURES_MAX = 3 /* in a row; these points have worked before */
};

/* ---- records of steps ---- */

struct dp_event dp_step_event(const struct dp_step *step)
{
	struct dp_event e = { .type = step->record,
			      .trial = step->trial,
			      .run = step->run,
			      .attempt = step->attempt,
			      .reason = step->reason[0] ? step->reason : NULL };

	switch (step->record) {
	case DP_EV_TRIAL_ENDED:
		e.trial_ended.status = dp_trial_status_text(step->trial_status);
		e.trial_ended.objectives = step->nobjectives ? step->objectives : NULL;
		e.trial_ended.nobjectives = step->nobjectives;
		return e;
	case DP_EV_STUDY_MOVED:
		e.study_moved.state = dp_study_status_text(step->study_status);
		e.study_moved.by_failures = step->by_failures;
		return e;
	case DP_EV_TIME_NOTED:
		e.time_noted.daemon_ran = true;
		return e;
	case DP_EV_ACCOUNTING_FIXED:
		return dp_policy_accounting_event(&step->odometer, &(struct dp_filter){ 0 });
	default:
		return e;
	}
}

/* step->reason is set by the caller or "". */
static bool step_change_study_status(struct dp_step *step, enum dp_study_status to,
				     bool by_failures)
{
	step->kind = DP_STEP_RECORD;
	step->record = DP_EV_STUDY_MOVED;
	step->study_status = to;
	step->by_failures = by_failures;
	return true;
}

/* ---- time ---- */

bool dp_policy_is_time_limited(const struct dp_study_state *s)
{
	return s->status == DP_STUDY_RUNNING && s->current_spec->search.max_time > 0 &&
	       !dp_state_is_search_over(s);
}

int64_t dp_policy_active_us(const struct dp_study_state *s, int64_t now)
{
	return s->status == DP_STUDY_RUNNING && !dp_state_is_search_over(s) && now > s->updated_us
		       ? s->active_us + (now - s->updated_us)
		       : s->active_us;
}

/* When max_time will be used up if the study keeps running. */
static int64_t max_time_deadline_us(const struct dp_study_state *s)
{
	int64_t max = (int64_t)(s->current_spec->search.max_time * 1e6);

	/* re-evaluations do not use it, and a search that has ended stays ended */
	if (max > 0 && s->status == DP_STUDY_RUNNING && dp_state_is_search_over(s))
		return s->active_us < max ? INT64_MAX : 0;
	if (!dp_policy_is_time_limited(s))
		return INT64_MAX;
	return s->updated_us + (s->active_us < max ? max - s->active_us : 0);
}

/* A killed daemon loses at most the time since the newest record. So a note is due after a minute
 * without records; to keep the journal small, not before a hundredth of the limit. */
static int64_t next_time_note_us(const struct dp_study_state *s)
{
	double seconds =
		fmax(TIME_NOTE_SECONDS, s->current_spec->search.max_time * TIME_NOTE_FRACTION);
	int64_t due = s->updated_us + (int64_t)(seconds * 1e6);

	return dp_policy_is_time_limited(s) && due < max_time_deadline_us(s) ? due : INT64_MAX;
}

static bool step_record_time(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	if (now < next_time_note_us(s) || now >= max_time_deadline_us(s))
		return false;
	step->kind = DP_STEP_RECORD;
	step->record = DP_EV_TIME_NOTED;
	return true;
}

/* ---- pauses after failures ---- */

/* Trials that the method and `evaluations` leave, ignoring time. */
static uint32_t proposals_left(const struct dp_study_state *s)
{
	uint64_t limit = dp_propose_max_trials(s->spec);

	if (limit > s->evaluations)
		limit = s->evaluations;
	return s->ntrials < limit ? (uint32_t)(limit - s->ntrials) : 0;
}

uint32_t dp_policy_count_proposals_left(const struct dp_study_state *s, int64_t now)
{
	return s->status == DP_STUDY_RUNNING && !s->reevals.has_resume_state &&
			       now < max_time_deadline_us(s)
		       ? proposals_left(s)
		       : 0;
}

/* The trial that failed last, by the time of its end, or NULL. */
static const struct dp_trial *find_last_failed_trial(struct dp_trial *const *trials, uint32_t n)
{
	const struct dp_trial *last = NULL;

	for (uint32_t i = n; i-- > 0;)
		if (trials[i]->status == DP_TRIAL_FAILED &&
		    (!last || trials[i]->ended_us > last->ended_us))
			last = trials[i];
	return last;
}

static const char *get_failure_reason(const struct dp_trial *t)
{
	return t->reason ? t->reason : "no reason is known";
}

static bool step_pause_on_blocked_trial(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_trial *t = dp_state_find_trial(s, (uint32_t)s->blocked_trial);
	const char *why = "a trainer cannot be started";

	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].end_class == DP_END_NOT_STARTED && t->attempts[i].message)
			why = t->attempts[i].message;
	snprintf(step->reason, sizeof step->reason,
		 "%.700s; put it right, then 'dparetoctl resume %s'", why, s->spec->name);
	return step_change_study_status(step, DP_STUDY_PAUSED, true);
}

/* Pauses if the first trials failed in a row without any result, and more would follow. */
static bool step_pause_on_first_failures(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_trial *last;
	char logs[DP_NAME_MAX + 64] = "";

	if (s->consecutive_failures < FIRST_FAILURES_MAX || s->diverged > 0 ||
	    dp_state_has_results(s))
		return false;
	if (!proposals_left(s) && !s->waiting_trials && !s->open_attempts)
		return false; /* the study ends anyway */
	last = find_last_failed_trial(s->trials, s->ntrials);
	if (!last)
		return false;
	/* with noisy releases stderr is not kept */
	if (!dp_study_has_metric_release(s->spec))
		snprintf(logs, sizeof logs, "'dparetoctl logs %s %u' shows its stderr; ",
			 s->spec->name, last->number);
	snprintf(step->reason, sizeof step->reason,
		 "the first trials all failed, %u in a row; trial %u: %.400s; %s"
		 "put it right, then 'dparetoctl retry %s --failed', or 'dparetoctl "
		 "resume %s' to leave them failed",
		 s->consecutive_failures, last->number, get_failure_reason(last), logs,
		 s->spec->name, s->spec->name);
	return step_change_study_status(step, DP_STUDY_PAUSED, true);
}

static bool step_pause_on_reeval_failures(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_reevals *m = &s->reevals;
	const struct dp_trial *last;
	char name[DP_TRIAL_NAME_LEN];

	if (m->consecutive_failures < REEVAL_FAILURES_MAX)
		return false;
	last = find_last_failed_trial(m->trials, m->ntrials);
	if (!last)
		return false; /* they are being retried */
	dp_trial_format_name(last->number, name);
	snprintf(step->reason, sizeof step->reason,
		 "%u trials in a row that measure points again failed; trial %s: %.400s; "
		 "'dparetoctl logs %s %s' shows its stderr; put it right, then "
		 "'dparetoctl resume %s'",
		 m->consecutive_failures, name, get_failure_reason(last), s->spec->name, name,
		 s->spec->name);
	return step_change_study_status(step, DP_STUDY_PAUSED, true);
}

/* Pauses a study whose trainers do not work until a user acts. A private selection is not paused
 * for failed trials, because the pause would reveal how many of its runs failed. */
static bool step_pause_on_failures(const struct dp_study_state *s, struct dp_step *step)
{
	char trials[DP_PLURAL_LEN];

	if (s->blocked_trial >= 0)
		return step_pause_on_blocked_trial(s, step);
	if (dp_state_is_private_selection(s))
		return false;
	if (step_pause_on_reeval_failures(s, step))
		return true;
	if (s->reevals.has_resume_state)
		return false; /* only re-evaluations run */
	if (s->consecutive_failures < (uint32_t)s->current_spec->trainer.max_failures)
		return step_pause_on_first_failures(s, step);
	snprintf(step->reason, sizeof step->reason,
		 "%s failed%s (trainer.max_failures); the last one is the newest in "
		 "'dparetoctl status %s'",
		 dp_plural_text(s->consecutive_failures, "trial", trials),
		 s->consecutive_failures == 1 ? "" : " in a row", s->spec->name);
	return step_change_study_status(step, DP_STUDY_PAUSED, true);
}

/* ---- the study's end ---- */

/* max_time is over: cancels trials that wait for another attempt. */
static bool step_cancel_waiting_trial(const struct dp_study_state *s, struct dp_step *step)
{
	for (uint32_t i = s->first_unfinished; i < s->ntrials; i++) {
		if (s->trials[i]->status != DP_TRIAL_WAITING)
			continue;
		snprintf(step->reason, sizeof step->reason, "search.max_time was over");
		dp__step_end_trial(s, s->trials[i], DP_TRIAL_CANCELLED, step);
		return true;
	}
	return false;
}

static bool step_fail(const struct dp_study_state *s, bool late, struct dp_step *step)
{
	const struct dp_trial *last = s->ntrials ? s->trials[s->ntrials - 1] : NULL;
	const char *why = late ? "search.max_time was over" : s->budget_end_reason;

	if (s->diverged && !s->failed)
		snprintf(step->reason, sizeof step->reason,
			 "not one evaluation succeeded: all %u diverged; trial %u: %.400s",
			 s->diverged, last->number, get_failure_reason(last));
	else if (last)
		snprintf(step->reason, sizeof step->reason,
			 "not one evaluation succeeded: %u diverged, %u failed; trial "
			 "%u: %.400s",
			 s->diverged, s->failed, last->number, get_failure_reason(last));
	else
		snprintf(step->reason, sizeof step->reason, "not one evaluation was made%s%.400s",
			 why ? ": " : "", why ? why : "");
	return step_change_study_status(step, DP_STUDY_FAILED, true);
}

/* The reason must reveal no more than that nothing was selected. */
static bool step_finish_selection(const struct dp_study_state *s, struct dp_step *step)
{
	if (s->ok > 0)
		return step_change_study_status(step, DP_STUDY_FINISHED, false);
	snprintf(step->reason, sizeof step->reason,
		 "nothing was selected: no training came to a result%s",
		 s->spec->search.rounds.poisson > 0
			 ? ", or there was none, as can be with 'poisson'"
			 : "");
	return step_change_study_status(step, DP_STUDY_FAILED, true);
}

/* True if search.remeasure has requested the current front. */
static bool is_final_reeval_requested(const struct dp_study_state *s)
{
	return s->reevals.final_requested && s->reevals.final_results_version == s->results_version;
}

static bool step_finish(const struct dp_study_state *s, bool late, struct dp_step *step)
{
	char points[DP_PLURAL_LEN];

	if (dp_state_is_private_selection(s))
		return step_finish_selection(s, step);
	if (!dp_state_has_results(s))
		return step_fail(s, late, step);
	if (s->ok == 0)
		snprintf(step->reason, sizeof step->reason,
			 "no training came to its end (%u diverged, %u failed or were "
			 "cancelled), but their waypoints are results",
			 s->diverged, s->failed);
	else if (late && proposals_left(s))
		snprintf(step->reason, sizeof step->reason, "search.max_time was over");
	else if (s->budget_end_reason)
		snprintf(step->reason, sizeof step->reason, "%.800s", s->budget_end_reason);
	else if (s->reevals.final_reason && is_final_reeval_requested(s))
		snprintf(step->reason, sizeof step->reason, "%.800s", s->reevals.final_reason);
	else if (dp_propose_max_trials(s->spec) < s->evaluations)
		snprintf(step->reason, sizeof step->reason, "%s has only %s",
			 s->spec->search.method == DP_METHOD_GRID ? "the grid" : "the space",
			 dp_plural_text(s->ntrials, "point", points));
	return step_change_study_status(step, DP_STUDY_FINISHED, false);
}

static bool step_restore_study_status(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_reevals *m = &s->reevals;

	if (dp_state_has_pending_reevals(s))
		return false;
	if (m->resume_reason)
		snprintf(step->reason, sizeof step->reason, "%s", m->resume_reason);
	return step_change_study_status(step, m->resume_state, m->resume_by_failures);
}

static bool step_study_status(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	bool late = now >= max_time_deadline_us(s);

	if (s->status != DP_STUDY_RUNNING)
		return false;
	if (step_pause_on_failures(s, step))
		return true;
	if (s->reevals.has_resume_state)
		return step_restore_study_status(s, step);
	if (s->open_attempts || (!late && proposals_left(s)))
		return false;
	if (late && step_cancel_waiting_trial(s, step))
		return true;
	if (s->waiting_trials)
		return false;
	if (s->spec->search.reevaluate_runs && dp_state_has_results(s) &&
	    !is_final_reeval_requested(s)) {
		step->kind = DP_STEP_REEVALUATE_FRONT;
		return true;
	}
	return dp_state_has_pending_reevals(s) ? false : step_finish(s, late, step);
}

/* ---- work ---- */

static double backoff_seconds(int failures)
{
	return failures <= 0 ? 0 : failures > 4 ? 32 : 0.5 * (double)(1 << (2 * (failures - 1)));
}

/* The time before which the trial is not retried. */
static int64_t backoff_until(const struct dp_trial *t)
{
	int64_t until = 0;

	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];
		int64_t then;

		if (!a->charged || !dp_end_class_is_retryable(a->end_class))
			continue;
		then = a->recorded_us +
		       (int64_t)(1e6 * backoff_seconds(dp__count_retryable_failures(t, a->run, i)));
		until = then > until ? then : until;
	}
	return until;
}

/* Plans the first attempt of trials[from..to) that is due. Counts trials that wait for their retry
 * in *backing_off, and lowers step->until_us to the earliest of their times. */
static bool step_first_due_attempt(const struct dp_study_state *s, struct dp_trial *const *trials,
				   uint32_t from, uint32_t to, int64_t now, struct dp_step *step,
				   uint32_t *backing_off)
{
	int32_t run;

	for (uint32_t i = from; i < to; i++) {
		const struct dp_trial *t = trials[i];
		int64_t until;

		if (!dp__trial_next_run(s, t, &run) ||
		    dp__check_attempt_budget(s, t, run, NULL) != DP_OK)
			continue;
		until = backoff_until(t);
		if (until > now) {
			*backing_off += 1;
			step->until_us = until < step->until_us ? until : step->until_us;
			continue;
		}
		step->kind = DP_STEP_ATTEMPT;
		step->record = DP_EV_ATTEMPT_PLANNED;
		step->trial = t->number;
		step->run = run;
		for (uint32_t k = 0; k < t->nattempts; k++)
			step->attempt += t->attempts[k].run == run;
		return true;
	}
	return false;
}

/* While the search has work, re-evaluations get half of the slots: neither starves the other. */
static bool step_reeval_attempt(const struct dp_study_state *s, int64_t now, bool all_slots,
				struct dp_step *step)
{
	const struct dp_reevals *m = &s->reevals;
	uint32_t backing_off = 0;

	if (!dp_state_has_pending_reevals(s) ||
	    (!all_slots && m->open_attempts >= (s->parallel + 1) / 2))
		return false;
	return step_first_due_attempt(s, m->trials, m->first_unfinished,
				      dp__reevals_end_position(m), now, step, &backing_off);
}

uint32_t dp_policy_visible_trials(const struct dp_study_state *s)
{
	if (!s->spec->search.deterministic_order)
		return s->ntrials;
	return s->ntrials >= s->parallel ? s->ntrials - s->parallel + 1 : 0;
}

/* True if the next proposal depends on a missing result. */
static bool is_blocked_by_order(const struct dp_study_state *s)
{
	const struct dp_search *search = &s->spec->search;

	return search->deterministic_order && search->method == DP_METHOD_DPARETO &&
	       s->ntrials >= search->initial && s->first_unfinished < dp_policy_visible_trials(s);
}

static bool step_fix_accounting(const struct dp_study_state *s, struct dp_step *step)
{
	if (!dp__needs_accounting_fixed(s))
		return false;
	if (s->spec->search.budget.epsilon > 0) {
		step->kind = DP_STEP_CHOOSE_FILTER;
		return true;
	}
	dp_odometer_init_default(&step->odometer);
	step->kind = DP_STEP_RECORD;
	step->record = DP_EV_ACCOUNTING_FIXED;
	return true;
}

static void step_propose_or_wait(const struct dp_study_state *s, bool late, uint32_t backing_off,
				 struct dp_step *step)
{
	if (s->reevals.has_resume_state || late || proposals_left(s) == 0) {
		step->wait_reason = backing_off ? DP_WAIT_RETRY
				    : dp_state_has_pending_reevals(s) && s->open_attempts == 0
					    ? DP_WAIT_REEVALS
					    : DP_WAIT_RUNNING_TRIALS;
	} else if (s->open_attempts + backing_off >= s->parallel) {
		/* a retried trial keeps its slot: with `parallel: 1` the next proposal knows its
		 * result */
		step->wait_reason = DP_WAIT_RETRY;
	} else if (is_blocked_by_order(s)) {
		step->wait_reason = DP_WAIT_ORDER;
		step->trial = s->first_unfinished;
	} else {
		step->kind = DP_STEP_PROPOSE;
	}
}

static void step_start_work(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	/* a running trial can take another attempt only with one process per run */
	uint32_t from = s->spec->trainer.run_per_process ? s->first_unfinished : s->first_waiting;
	int64_t deadline = max_time_deadline_us(s), note = next_time_note_us(s);
	bool late = now >= deadline;
	uint32_t backing_off = 0;

	if (!late)
		step->until_us = note < deadline ? note : deadline;
	if (dp_state_count_open_attempts(s) >= s->parallel) {
		step->wait_reason = DP_WAIT_PARALLEL;
		return;
	}
	if (!late && !s->reevals.has_resume_state &&
	    step_first_due_attempt(s, s->trials, from, s->ntrials, now, step, &backing_off))
		return;
	if (step_reeval_attempt(s, now, false, step))
		return;
	step_propose_or_wait(s, late, backing_off, step);
	if (step->kind == DP_STEP_WAIT) /* the search does not need its slots */
		step_reeval_attempt(s, now, true, step);
}

void dp_policy_next_step(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	*step = (struct dp_step){ .kind = DP_STEP_WAIT, .until_us = INT64_MAX };
	if (dp__step_end_first_decided(s, step) || step_study_status(s, now, step) ||
	    s->status != DP_STUDY_RUNNING || step_fix_accounting(s, step) ||
	    step_record_time(s, now, step))
		return;
	step_start_work(s, now, step);
}
