/* asked.c - what a person may ask of a study in which state, and what a proposer may say
 * of it; and what is journaled for that. */
#include "course/course_internal.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void order(struct dp_orders *out, enum dp_event_type type)
{
	out->event[out->n++] = (struct dp_event){ .type = type };
}

static void order_move(struct dp_orders *out, enum dp_study_status to, const char *reason)
{
	order(out, DP_EV_STUDY_MOVED);
	out->event[out->n - 1].state = dp_study_status_text(to);
	out->event[out->n - 1].reason = reason;
}

/* Every evaluation is given out: what to do about it. */
static int hint_budget(const struct dp_study_state *s, struct dp_err *err)
{
	if (s->budget_end && s->spec->search.budget.epsilon > 0)
		return dp_hint(err,
			       "another study can begin where it ended, with "
			       "'search.initial_from: %s'; on the same data its trainings "
			       "come on top of this budget",
			       s->spec->name);
	if (s->budget_end)
		return dp_hint(err,
			       "another study can begin where it ended, with "
			       "'search.initial_from: %s'",
			       s->spec->name);
	return dp_hint(err, "raise its budget with 'dparetoctl set %s evaluations=N'",
		       s->spec->name);
}

/* What would tell of a private selection's trainings, or change the law that they are
 * drawn by. */
static int refuse_selection(const struct dp_study_state *s, const struct dp_asked *a,
			    struct dp_err *err)
{
	bool made = s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED;

	switch (a->ask) {
	case DP_ASK_RETRY:
	case DP_ASK_RETRY_FAILED:
	case DP_ASK_CANCEL:
	case DP_ASK_ENQUEUE:
	case DP_ASK_IMPORT:
	case DP_ASK_MEASURE:
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: its trainings are "
			       "drawn by chance, and each counts whatever becomes of it",
			       s->spec->name);
	case DP_ASK_SET:
		if (isnan(a->evaluations))
			return DP_OK;
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: how many trainings "
			       "it makes is drawn in secret",
			       s->spec->name);
	case DP_ASK_RESUME:
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

static int asked_pause(const struct dp_study_state *s, struct dp_orders *out, struct dp_err *err)
{
	if (s->status == DP_STUDY_PAUSED)
		return DP_OK;
	if (s->status != DP_STUDY_RUNNING)
		return dp_fail(err, DP_E_INVALID, "study '%s' is %s, so it cannot be paused",
			       s->spec->name, dp_study_status_text(s->status));
	order_move(out, DP_STUDY_PAUSED, "paused by request");
	return DP_OK;
}

/* "all 80 evaluations are", or "its only evaluation is" */
static char *all_evaluations(const struct dp_study_state *s, char out[DP_COUNT_LEN])
{
	if (s->evaluations == 1)
		return strcpy(out, "its only evaluation is");
	snprintf(out, DP_COUNT_LEN, "all %u evaluations are", s->evaluations);
	return out;
}

static int asked_resume(const struct dp_study_state *s, struct dp_orders *out, struct dp_err *err)
{
	bool search = s->waiting || s->open || s->ntrials < s->evaluations;
	bool more = search || dp_study_measures(s);
	char all[DP_COUNT_LEN];

	/* one that is only measured, and was stopped before, searches on */
	if (s->status == DP_STUDY_RUNNING &&
	    !(s->measured.rests && s->measured.rest == DP_STUDY_STOPPED && search))
		return DP_OK;
	if (s->status != DP_STUDY_PAUSED && !more) {
		dp_fail(err, DP_E_INVALID, "study '%s' is %s: %s made%s%s", s->spec->name,
			dp_study_status_text(s->status), all_evaluations(s, all),
			s->budget_end ? "; " : "", s->budget_end ? s->budget_end : "");
		return hint_budget(s, err);
	}
	order_move(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int asked_stop(const struct dp_study_state *s, struct dp_orders *out)
{
	/* one that is only measured has ended already: whoever asks cancels what
	 * measures, and it goes back there */
	if (s->measured.rests && s->status == DP_STUDY_PAUSED)
		order_move(out, DP_STUDY_RUNNING, NULL);
	else if (!s->measured.rests &&
		 (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED))
		order_move(out, DP_STUDY_STOPPED, "stopped by request");
	return DP_OK;
}

/* The study with the changes that are asked for, as a copy by value. */
static int asked_changes(const struct dp_study_state *s, const struct dp_asked *a,
			 struct dp_study *wanted, struct dp_err *err)
{
	int code = DP_OK;

	*wanted = *s->now;
	for (uint32_t i = 0; code == DP_OK && i < a->nchanges; i++)
		code = dp_study_change_text(wanted, a->changes[i], err);
	return code;
}

/* Did it end, before what is measured again now, because its max_time was over, which it
 * no longer is? */
static bool time_returns(const struct dp_study_state *s, const struct dp_study *wanted,
			 double evaluations)
{
	double was = s->now->search.max_time * 1e6, is = wanted->search.max_time * 1e6;
	bool only_measures = s->measured.rests && s->status == DP_STUDY_RUNNING;
	enum dp_study_status ended = only_measures ? s->measured.rest : s->status;

	return (ended == DP_STUDY_FINISHED || ended == DP_STUDY_FAILED) && was > 0 &&
	       (double)s->active >= was && (is == 0 || (double)s->active < is) &&
	       s->ntrials < (isnan(evaluations) ? s->evaluations : evaluations);
}

static int asked_set(const struct dp_study_state *s, const struct dp_asked *a,
		     struct dp_orders *out, struct dp_err *err)
{
	struct dp_study wanted;
	int code = asked_changes(s, a, &wanted, err);

	if (code != DP_OK)
		return code;
	if (isnan(a->evaluations) && isnan(a->parallel) && isnan(a->priority) && a->nchanges == 0 &&
	    !a->text)
		return dp_fail(err, DP_E_USAGE, "nothing to set");
	if (s->budget_end && s->spec->search.budget.epsilon > 0 &&
	    a->evaluations > s->evaluations) {
		dp_fail(err, DP_E_LIMIT, "no number of evaluations can be larger than %u: %s",
			s->evaluations, s->budget_end);
		return hint_budget(s, err);
	}
	order(out, DP_EV_STUDY_AMENDED);
	out->event[0].evaluations = a->evaluations;
	out->event[0].parallel = a->parallel;
	out->event[0].priority = a->priority;
	out->event[0].changes = a->changes;
	out->event[0].nchanges = a->nchanges;
	out->event[0].text = a->text;
	out->event[0].path = a->path;
	out->event[0].dir = a->dir;
	/* a larger budget, or more time, wakes a study that had used up its own */
	if (time_returns(s, &wanted, a->evaluations) ||
	    (s->status == DP_STUDY_FINISHED && s->ntrials < a->evaluations))
		order_move(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int asked_retry(const struct dp_study_state *s, const struct dp_trial *t,
		       struct dp_orders *out, struct dp_err *err)
{
	char name[DP_TRIAL_NAME];

	if (t->status != DP_TRIAL_FAILED && t->status != DP_TRIAL_CANCELLED)
		return dp_fail(err, DP_E_INVALID,
			       "trial %s is %s; only failed or cancelled trials can be retried",
			       dp_trial_name(t->number, name), dp_trial_status_text(t->status));
	if (!t->refused && dp_course_budget(s, t->renyi, err) != DP_OK)
		return hint_budget(s, err);
	order(out, DP_EV_TRIAL_RETRY_ASKED);
	out->event[0].trial = t->number;
	if (s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED ||
	    (s->status == DP_STUDY_STOPPED && dp_is_measuring(t->number)))
		order_move(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

/* A trial that a privacy oracle refused would be refused again. k: K of a training that
 * is tried again anyhow; `left`: the most that search.budget has room for. */
static bool can_mend(const struct dp_trial *t, double k, double left)
{
	return t->status == DP_TRIAL_FAILED && !t->refused &&
	       (isinf(left) || dp_renyi_add(k, t->renyi) <= left);
}

static uint32_t next_failed(const struct dp_study_state *s, uint32_t from, double k)
{
	double left = dp_course_left(s, s->ntrials);

	while (from < s->ntrials && !can_mend(s->trials[from], k, left))
		from++;
	return from;
}

/* One trial after the other; the last time the study goes on, too, unless a person has
 * paused or stopped it. */
static int asked_retry_failed(const struct dp_study_state *s, uint32_t from, struct dp_orders *out,
			      struct dp_err *err)
{
	uint32_t trial = next_failed(s, from, 0);

	if (trial >= s->ntrials) {
		dp_fail(err, DP_E_INVALID,
			"study '%s' has no failed trial that can be tried again%s", s->spec->name,
			s->spec->search.budget.epsilon > 0 ? " within its search.budget" : "");
		return dp_hint(err,
			       "'dparetoctl trials %s --status failed' lists those "
			       "that failed",
			       s->spec->name);
	}
	order(out, DP_EV_TRIAL_RETRY_ASKED);
	out->event[0].trial = trial;
	out->from = next_failed(s, trial + 1, s->trials[trial]->renyi);
	out->more = out->from < s->ntrials;
	if (!out->more && (s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED ||
			   (s->status == DP_STUDY_PAUSED && s->by_failures)))
		order_move(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int asked_cancel(const struct dp_trial *t, struct dp_orders *out, struct dp_err *err)
{
	char name[DP_TRIAL_NAME];

	if (t->status >= DP_TRIAL_OK)
		return dp_fail(err, DP_E_INVALID, "trial %s has ended: it is %s",
			       dp_trial_name(t->number, name), dp_trial_status_text(t->status));
	if (t->cancel_asked)
		return DP_OK;
	order(out, DP_EV_TRIAL_CANCEL_ASKED);
	out->event[0].trial = t->number;
	return DP_OK;
}

/* The point itself is journaled once its epsilon is known: no orders. */
static int asked_enqueue(const struct dp_study_state *s, struct dp_err *err)
{
	char all[DP_COUNT_LEN];

	if (s->ntrials < s->evaluations)
		return DP_OK;
	dp_fail(err, DP_E_LIMIT, "study '%s' takes no more points: %s given out%s%s", s->spec->name,
		all_evaluations(s, all), s->budget_end ? "; " : "",
		s->budget_end ? s->budget_end : "");
	return hint_budget(s, err);
}

/* Results of others are for those that learn from them, as with search.initial_from. */
static int asked_import(const struct dp_study_state *s, struct dp_err *err)
{
	if (s->spec->search.method != DP_METHOD_DPARETO)
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' searches by '%s', which learns from no result",
			       s->spec->name, dp_method_text(s->spec->search.method));
	if (dp_study_releases(s->spec))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' releases noisy values: what was released "
			       "elsewhere, or is exact, is not accounted for in it",
			       s->spec->name);
	return DP_OK;
}

/* The points themselves are journaled before what is ordered here. */
static int asked_measure(const struct dp_study_state *s, struct dp_orders *out, struct dp_err *err)
{
	if (dp_study_releases(s->spec))
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
		order_move(out, DP_STUDY_RUNNING, NULL);
	return DP_OK;
}

static int asked_delete(const struct dp_study_state *s, bool now, struct dp_orders *out,
			struct dp_err *err)
{
	if (dp_study_open(s) && !now) {
		if (dp_study_hides(s))
			dp_fail(err, DP_E_BUSY, "trainers of it still run");
		else
			dp_fail(err, DP_E_BUSY, "%u of its trainers still run", dp_study_open(s));
		return dp_hint(err, "wait for them, or end them with 'dparetoctl delete --now'");
	}
	if (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED)
		order_move(out, DP_STUDY_STOPPED, "being deleted");
	return DP_OK;
}

int dp_course_trial(const struct dp_study_state *s, int64_t number, struct dp_trial **t,
		    struct dp_err *err)
{
	*t = number >= 0 && number <= UINT32_MAX ? dp_study_trial(s, (uint32_t)number) : NULL;
	if (*t)
		return DP_OK;
	if (number >= DP_MEASURING)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "study '%s' has no trial m%lld that measures a point "
			       "again",
			       s->spec->name, (long long)number - DP_MEASURING);
	if (s->ntrials == 0)
		return dp_fail(err, DP_E_NOT_FOUND, "study '%s' has no trials yet", s->spec->name);
	return dp_fail(err, DP_E_NOT_FOUND, "study '%s' has no trial %lld; it has 0 to %u",
		       s->spec->name, (long long)number, s->ntrials - 1);
}

/* "1, 2, 4": the values of the trial's waypoints that are results. */
static void waypoint_values(const struct dp_study_state *s, const struct dp_trial *t, char *out,
			    size_t room)
{
	size_t n = 0;

	for (uint32_t w = 0; w < t->way->n && n < room; w++)
		if (dp_way_stands(s, t->way, w))
			n += (size_t)snprintf(out + n, room - n, "%s%.0f", n ? ", " : "",
					      t->way->at[w]);
}

/* Why there is no such waypoint. */
static int no_waypoint(const struct dp_study_state *s, const struct dp_trial *t, int64_t at,
		       struct dp_err *err)
{
	char there[500] = "";

	if (s->spec->trainer.path.points == 0)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "trial %u has no waypoints: study '%s' has no "
			       "trainer.path",
			       t->number, s->spec->name);
	if (t->status < DP_TRIAL_OK)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "trial %u is %s: its waypoints are known once it has ended",
			       t->number, dp_trial_status_text(t->status));
	if (!dp_trial_has_way(s, t))
		return dp_fail(err, DP_E_NOT_FOUND, "trial %u came to no waypoint that is a result",
			       t->number);
	waypoint_values(s, t, there, sizeof there);
	dp_fail(err, DP_E_NOT_FOUND, "trial %u has no waypoint %lld that is a result; it has %s",
		t->number, (long long)at, there);
	return at == (int64_t)dp_path_end(s->spec, t->x)
		       ? dp_hint(err, "its own result, at %lld, is just %u", (long long)at,
				 t->number)
		       : err->code;
}

int dp_course_waypoint(const struct dp_study_state *s, const struct dp_trial *t, int64_t at,
		       struct dp_point *p, struct dp_err *err)
{
	for (uint32_t w = 0; t->way && w < t->way->n; w++)
		if (t->way->at[w] == (double)at && dp_way_stands(s, t->way, w)) {
			*p = (struct dp_point){ t->number, (int32_t)w };
			return DP_OK;
		}
	return no_waypoint(s, t, at, err);
}

int dp_course_asked(const struct dp_study_state *s, const struct dp_asked *a, struct dp_orders *out,
		    struct dp_err *err)
{
	struct dp_trial *t = NULL;
	int code = DP_OK;

	out->n = 0;
	out->more = false;
	out->from = 0;
	if (dp_study_hides(s))
		code = refuse_selection(s, a, err);
	if (code == DP_OK && (a->ask == DP_ASK_RETRY || a->ask == DP_ASK_CANCEL))
		code = dp_course_trial(s, a->trial, &t, err);
	if (code != DP_OK)
		return code;
	switch (a->ask) {
	case DP_ASK_PAUSE:
		return asked_pause(s, out, err);
	case DP_ASK_RESUME:
		return asked_resume(s, out, err);
	case DP_ASK_STOP:
		return asked_stop(s, out);
	case DP_ASK_SET:
		return asked_set(s, a, out, err);
	case DP_ASK_RETRY:
		return asked_retry(s, t, out, err);
	case DP_ASK_RETRY_FAILED:
		return asked_retry_failed(s, a->trial, out, err);
	case DP_ASK_CANCEL:
		return asked_cancel(t, out, err);
	case DP_ASK_ENQUEUE:
		return asked_enqueue(s, err);
	case DP_ASK_IMPORT:
		return asked_import(s, err);
	case DP_ASK_MEASURE:
		return asked_measure(s, out, err);
	case DP_ASK_DELETE:
		return asked_delete(s, a->now, out, err);
	}
	return DP_OK;
}

void dp_course_no_point(const struct dp_study_state *s, const struct dp_err *why,
			struct dp_orders *out)
{
	out->n = 0;
	if (why->code == DP_E_INTERRUPTED || s->status != DP_STUDY_RUNNING ||
	    dp_course_waits(s, why))
		return; /* it is asked again when it fits */
	if (why->code != DP_E_LIMIT) {
		order_move(out, why->code == DP_E_ORACLE ? DP_STUDY_PAUSED : DP_STUDY_FAILED,
			   why->msg);
		out->event[0].counted = true;
		return;
	}
	order(out, DP_EV_STUDY_AMENDED);
	out->event[0].evaluations = s->ntrials;
	out->event[0].parallel = out->event[0].priority = NAN;
	out->event[0].reason = why->msg;
}
