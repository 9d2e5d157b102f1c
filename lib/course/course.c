/* course.c - the next step of a study. */
#include "course/course_internal.h"

#include "base/num.h"
#include "propose/propose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOTE_SECONDS 60.0 /* time_noted: at most once in this time, */
#define NOTE_SHARE   0.01 /* and in this part of max_time */

enum {
	FIRST_FAILURES = 3,  /* in a row before any result: the trainer does not work */
	MEASURE_FAILURES = 3 /* in a row of trials that measure points that worked once */
};

/* ---- time ---- */

bool dp_course_is_timed(const struct dp_study_state *s)
{
	return s->status == DP_STUDY_RUNNING && s->now->search.max_time > 0 &&
	       !dp_study_searched(s);
}

int64_t dp_course_active(const struct dp_study_state *s, int64_t now)
{
	return s->status == DP_STUDY_RUNNING && !dp_study_searched(s) && now > s->updated
		       ? s->active + (now - s->updated)
		       : s->active;
}

/* When max_time will have been used up, if the study and its daemon go on. */
static int64_t time_limit(const struct dp_study_state *s)
{
	int64_t most = (int64_t)(s->now->search.max_time * 1e6);

	/* while points are measured again it stands still, and what was over stays so */
	if (most > 0 && s->status == DP_STUDY_RUNNING && dp_study_searched(s))
		return s->active < most ? INT64_MAX : 0;
	if (!dp_course_is_timed(s))
		return INT64_MAX;
	return s->updated + (s->active < most ? most - s->active : 0);
}

/* Journaled time is what a daemon that is killed cannot lose: a note is due when nothing
 * else was recorded for a minute or, to keep the journal small, a hundredth of the
 * limit. None is needed once the time is over. */
static int64_t note_due(const struct dp_study_state *s)
{
	double seconds = fmax(NOTE_SECONDS, s->now->search.max_time * NOTE_SHARE);
	int64_t due = s->updated + (int64_t)(seconds * 1e6);

	return dp_course_is_timed(s) && due < time_limit(s) ? due : INT64_MAX;
}

static bool settle_time(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	if (now < note_due(s) || now >= time_limit(s))
		return false;
	dp__step_event(step, DP_STEP_RECORD, DP_EV_TIME_NOTED);
	step->event.counted = true;
	return true;
}

/* ---- the study's own fate ---- */

/* Trials that the method and the budget leave, whatever the time. */
static uint32_t proposals_left(const struct dp_study_state *s)
{
	uint64_t limit = dp_propose_limit(s->spec);

	if (limit > s->evaluations)
		limit = s->evaluations;
	return s->ntrials < limit ? (uint32_t)(limit - s->ntrials) : 0;
}

uint32_t dp_course_proposals(const struct dp_study_state *s, int64_t now)
{
	return s->status == DP_STUDY_RUNNING && !s->measured.rests && now < time_limit(s)
		       ? proposals_left(s)
		       : 0;
}

/* step->reason says why, or is "". */
static bool step_move(struct dp_step *step, enum dp_study_status to, bool by_failures)
{
	dp__step_event(step, DP_STEP_RECORD, DP_EV_STUDY_MOVED);
	step->event.state = dp_study_status_text(to);
	step->event.counted = by_failures;
	step->event.reason = step->reason[0] ? step->reason : NULL;
	return true;
}

/* Why the trainer of the trial that blocks the study could not be started. */
static const char *blocked_why(const struct dp_study_state *s)
{
	const struct dp_trial *t = dp_study_trial(s, (uint32_t)s->blocked);

	for (uint32_t i = t->nattempts; i-- > 0;)
		if (t->attempts[i].end == DP_END_NOT_STARTED && t->attempts[i].message)
			return t->attempts[i].message;
	return "a trainer cannot be started";
}

/* The trial that failed last, by the time of its end; NULL if none has. */
static const struct dp_trial *last_failed(const struct dp_study_state *s)
{
	const struct dp_trial *last = NULL;

	for (uint32_t i = s->ntrials; i-- > 0;)
		if (s->trials[i]->status == DP_TRIAL_FAILED &&
		    (!last || s->trials[i]->ended > last->ended))
			last = s->trials[i];
	return last;
}

static const char *failed_why(const struct dp_trial *t)
{
	return t && t->reason ? t->reason : "no reason is known";
}

/* Not one trial has come to a result yet, so many failed in a row, and others would
 * follow. */
static bool settle_first_failures(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_trial *last;
	char logs[DP_NAME_MAX + 64] = "";

	if (s->failures_in_row < FIRST_FAILURES || s->diverged > 0 || dp_study_has_results(s))
		return false;
	if (!proposals_left(s) && !s->waiting && !s->open)
		return false; /* it ends here anyway */
	last = last_failed(s);
	if (!last)
		return false;
	/* where utilities are released with noise nothing else is kept */
	if (!dp_study_releases(s->spec))
		snprintf(logs, sizeof logs, "'dparetoctl logs %s %u' shows its stderr; ",
			 s->spec->name, last->number);
	snprintf(step->reason, sizeof step->reason,
		 "the first trials all failed, %u in a row; trial %u: %.400s; %s"
		 "put it right, then 'dparetoctl retry %s --failed', or 'dparetoctl "
		 "resume %s' to leave them failed",
		 s->failures_in_row, last->number, failed_why(last), logs, s->spec->name,
		 s->spec->name);
	return step_move(step, DP_STUDY_PAUSED, true);
}

/* So many trials in a row that measure points again failed. */
static bool settle_measure_failures(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_measures *m = &s->measured;
	const struct dp_trial *last = NULL;
	char name[DP_TRIAL_NAME];

	if (m->failures_in_row < MEASURE_FAILURES)
		return false;
	for (uint32_t i = m->ntrials; i-- > 0;)
		if (m->trials[i]->status == DP_TRIAL_FAILED &&
		    (!last || m->trials[i]->ended > last->ended))
			last = m->trials[i];
	if (!last)
		return false; /* they were tried again meanwhile */
	dp_trial_name(last->number, name);
	snprintf(step->reason, sizeof step->reason,
		 "%u trials in a row that measure points again failed; trial %s: %.400s; "
		 "'dparetoctl logs %s %s' shows its stderr; put it right, then "
		 "'dparetoctl resume %s'",
		 m->failures_in_row, name, failed_why(last), s->spec->name, name, s->spec->name);
	return step_move(step, DP_STUDY_PAUSED, true);
}

/* A study whose trainers cannot do their work waits for a person. How many failed has no
 * say in a private selection, which would tell of it by waiting. */
static bool settle_failures(const struct dp_study_state *s, struct dp_step *step)
{
	char trials[DP_COUNT_LEN];

	if (s->blocked >= 0) {
		snprintf(step->reason, sizeof step->reason,
			 "%.700s; put it right, then 'dparetoctl resume %s'", blocked_why(s),
			 s->spec->name);
		return step_move(step, DP_STUDY_PAUSED, true);
	}
	if (dp_study_hides(s))
		return false;
	if (settle_measure_failures(s, step))
		return true;
	if (s->measured.rests)
		return false; /* it is not the search that goes on */
	if (s->failures_in_row < (uint32_t)s->now->trainer.max_failures)
		return settle_first_failures(s, step);
	snprintf(step->reason, sizeof step->reason,
		 "%s failed%s (trainer.max_failures); the last one is the newest in "
		 "'dparetoctl status %s'",
		 dp_count_text(s->failures_in_row, "trial", trials),
		 s->failures_in_row == 1 ? "" : " in a row", s->spec->name);
	return step_move(step, DP_STUDY_PAUSED, true);
}

/* The time is over: trials that wait for another attempt do not get it. */
static bool settle_waiting(const struct dp_study_state *s, struct dp_step *step)
{
	for (uint32_t i = s->first_live; i < s->ntrials; i++) {
		if (s->trials[i]->status != DP_TRIAL_WAITING)
			continue;
		snprintf(step->reason, sizeof step->reason, "search.max_time was over");
		dp__step_end_trial(s, s->trials[i], DP_TRIAL_CANCELLED, step);
		return true;
	}
	return false;
}

/* Nothing is left to do, and nothing came of it. */
static bool step_fail(const struct dp_study_state *s, bool late, struct dp_step *step)
{
	const struct dp_trial *last = s->ntrials ? s->trials[s->ntrials - 1] : NULL;
	const char *why = late ? "search.max_time was over" : s->budget_end;

	if (s->diverged && !s->failed)
		snprintf(step->reason, sizeof step->reason,
			 "not one evaluation succeeded: all %u diverged; trial %u: %.400s",
			 s->diverged, last->number, failed_why(last));
	else if (last)
		snprintf(step->reason, sizeof step->reason,
			 "not one evaluation succeeded: %u diverged, %u failed; trial "
			 "%u: %.400s",
			 s->diverged, s->failed, last->number, failed_why(last));
	else
		snprintf(step->reason, sizeof step->reason, "not one evaluation was made%s%.400s",
			 why ? ": " : "", why ? why : "");
	return step_move(step, DP_STUDY_FAILED, true);
}

/* A private selection is over. That nothing was selected says no more than that. */
static bool step_select(const struct dp_study_state *s, struct dp_step *step)
{
	if (s->ok > 0)
		return step_move(step, DP_STUDY_FINISHED, false);
	snprintf(step->reason, sizeof step->reason,
		 "nothing was selected: no training came to a result%s",
		 s->spec->search.rounds.poisson > 0
			 ? ", or there was none, as can be with 'poisson'"
			 : "");
	return step_move(step, DP_STUDY_FAILED, true);
}

/* ---- points that are measured again ---- */

/* Has search.remeasure asked for the front as it is now? */
static bool end_is_asked(const struct dp_study_state *s)
{
	return s->measured.end_asked && s->measured.end_version == s->results_version;
}

/* The search is over: its front is to be measured, or is being. */
static bool settle_end(const struct dp_study_state *s, struct dp_step *step)
{
	if (s->spec->search.remeasure && dp_study_has_results(s) && !end_is_asked(s)) {
		step->kind = DP_STEP_MEASURE;
		return true;
	}
	return false;
}

/* All points are measured: the study is again what it was before. */
static bool settle_rest(const struct dp_study_state *s, struct dp_step *step)
{
	const struct dp_measures *m = &s->measured;

	if (dp_study_measures(s))
		return false;
	if (m->rest_reason)
		snprintf(step->reason, sizeof step->reason, "%s", m->rest_reason);
	return step_move(step, m->rest, m->rest_by_failures);
}

/* Nothing is left to do: how did it end? */
static bool step_finish(const struct dp_study_state *s, bool late, struct dp_step *step)
{
	char points[DP_COUNT_LEN];

	if (dp_study_hides(s))
		return step_select(s, step);
	if (!dp_study_has_results(s))
		return step_fail(s, late, step);
	if (s->ok == 0)
		snprintf(step->reason, sizeof step->reason,
			 "no training came to its end (%u diverged, %u failed or were "
			 "cancelled), but their waypoints are results",
			 s->diverged, s->failed);
	else if (late && proposals_left(s))
		snprintf(step->reason, sizeof step->reason, "search.max_time was over");
	else if (s->budget_end)
		snprintf(step->reason, sizeof step->reason, "%.800s", s->budget_end);
	else if (s->measured.end_reason && end_is_asked(s))
		snprintf(step->reason, sizeof step->reason, "%.800s", s->measured.end_reason);
	else if (dp_propose_limit(s->spec) < s->evaluations)
		snprintf(step->reason, sizeof step->reason, "%s has only %s",
			 s->spec->search.method == DP_METHOD_GRID ? "the grid" : "the space",
			 dp_count_text(s->ntrials, "point", points));
	return step_move(step, DP_STUDY_FINISHED, false);
}

static bool settle_study(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	bool late = now >= time_limit(s);

	if (s->status != DP_STUDY_RUNNING)
		return false;
	if (settle_failures(s, step))
		return true;
	if (s->measured.rests)
		return settle_rest(s, step);
	if (s->open || (!late && proposals_left(s)))
		return false;
	if (late && settle_waiting(s, step))
		return true;
	if (s->waiting)
		return false;
	if (settle_end(s, step))
		return true;
	return dp_study_measures(s) ? false : step_finish(s, late, step);
}

/* ---- work ---- */

static double backoff_seconds(int failures)
{
	return failures <= 0 ? 0 : failures > 4 ? 32 : 0.5 * (double)(1 << (2 * (failures - 1)));
}

/* The trial is not tried again before this time. */
static int64_t backoff_until(const struct dp_trial *t)
{
	int64_t until = 0;

	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];
		int64_t then;

		if (!a->counted || !dp_end_retryable(a->end))
			continue;
		then = a->recorded +
		       (int64_t)(1e6 * backoff_seconds(dp__mendable_failures(t, a->run, i)));
		until = then > until ? then : until;
	}
	return until;
}

static uint32_t course_next_attempt(const struct dp_trial *t, int32_t run)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		n += t->attempts[i].run == run;
	return n;
}

/* The first of these trials, from position `from` to before `to`, that may have an
 * attempt now. Those that are not due yet are counted in *resting; the earliest of their
 * times is in step->until. */
static bool step_attempt_of(const struct dp_study_state *s, struct dp_trial *const *trials,
			    uint32_t from, uint32_t to, int64_t now, struct dp_step *step,
			    uint32_t *resting)
{
	int64_t due = INT64_MAX;
	int32_t run;

	for (uint32_t i = from; i < to; i++) {
		const struct dp_trial *t = trials[i];
		int64_t until;

		if (!dp__next_run(s, t, &run) || dp__attempt_fits(s, t, run, NULL) != DP_OK)
			continue;
		until = backoff_until(t);
		if (until > now) {
			*resting += 1;
			due = until < due ? until : due;
			continue;
		}
		dp__step_event(step, DP_STEP_ATTEMPT, DP_EV_ATTEMPT_PLANNED);
		step->event.trial = t->number;
		step->event.run = run;
		step->event.attempt = course_next_attempt(t, run);
		return true;
	}
	step->until = due < step->until ? due : step->until;
	return false;
}

static bool step_attempt(const struct dp_study_state *s, int64_t now, struct dp_step *step,
			 uint32_t *resting)
{
	/* one that runs has room for another attempt only where each run has its own */
	uint32_t from = s->spec->trainer.run_per_process ? s->first_live : s->first_waiting;

	return step_attempt_of(s, s->trials, from, s->ntrials, now, step, resting);
}

/* The same of trials that measure points again. While there is something to search for,
 * they have half of the places: neither waits for the other to end. */
static bool step_measure(const struct dp_study_state *s, int64_t now, bool all,
			 struct dp_step *step)
{
	const struct dp_measures *m = &s->measured;
	uint32_t resting = 0;

	if (!dp_study_measures(s) || (!all && m->open >= (s->parallel + 1) / 2))
		return false;
	return step_attempt_of(s, m->trials, m->first_live, dp__measures_end(m), now, step,
			       &resting);
}

uint32_t dp_course_window(const struct dp_study_state *s)
{
	if (!s->spec->search.deterministic)
		return s->ntrials;
	return s->ntrials >= s->parallel ? s->ntrials - s->parallel + 1 : 0;
}

/* Does the next proposal depend on a result that is not there yet? */
static bool order_waits(const struct dp_study_state *s)
{
	const struct dp_search *search = &s->spec->search;

	return search->deterministic && search->method == DP_METHOD_DPARETO &&
	       s->ntrials >= search->initial && s->first_live < dp_course_window(s);
}

static void step_wait(struct dp_step *step, enum dp_wait wait)
{
	step->kind = DP_STEP_WAIT;
	step->wait = wait;
}

/* What must be fixed before the first training, is: at once, or by somebody who takes the
 * time to choose. */
static bool settle_accounting(const struct dp_study_state *s, struct dp_step *step)
{
	if (!dp__accounting_due(s))
		return false;
	if (s->spec->search.budget.epsilon > 0) {
		step->kind = DP_STEP_FIX;
		return true;
	}
	dp_odometer_standard(&step->odometer);
	step->kind = DP_STEP_RECORD;
	step->event = dp_course_fixed(&step->odometer, &(struct dp_filter){ 0 });
	return true;
}

/* What the search does next, if it has a place. */
static void find_search(const struct dp_study_state *s, bool late, uint32_t resting,
			struct dp_step *step)
{
	if (s->measured.rests || late || proposals_left(s) == 0)
		step_wait(step, resting                                ? DP_WAIT_RETRY
				: dp_study_measures(s) && s->open == 0 ? DP_WAIT_MEASURES
								       : DP_WAIT_LAST);
	/* a trial that is tried again keeps its place: with `parallel: 1` the next
	 * proposal knows its result */
	else if (s->open + resting >= s->parallel)
		step_wait(step, DP_WAIT_RETRY);
	else if (order_waits(s)) {
		step_wait(step, DP_WAIT_ORDER);
		step->trial = s->first_live;
	} else
		step->kind = DP_STEP_PROPOSE;
}

static void find_work(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	bool late = now >= time_limit(s), searches = !late && !s->measured.rests;
	uint32_t resting = 0;

	if (!late)
		step->until = note_due(s) < time_limit(s) ? note_due(s) : time_limit(s);
	if (dp_study_open(s) >= s->parallel) {
		step_wait(step, DP_WAIT_PARALLEL);
		return;
	}
	if ((searches && step_attempt(s, now, step, &resting)) || step_measure(s, now, false, step))
		return;
	find_search(s, late, resting, step);
	/* places that the search has no use for */
	if (step->kind == DP_STEP_WAIT)
		step_measure(s, now, true, step);
}

void dp_course_next(const struct dp_study_state *s, int64_t now, struct dp_step *step)
{
	step->kind = DP_STEP_WAIT;
	step->wait = DP_WAIT_NOTHING;
	step->trial = 0;
	step->until = INT64_MAX;
	step->reason[0] = '\0';
	if (dp__settle_trials(s, step) || settle_study(s, now, step) ||
	    s->status != DP_STUDY_RUNNING || settle_accounting(s, step) ||
	    settle_time(s, now, step))
		return;
	find_work(s, now, step);
}
