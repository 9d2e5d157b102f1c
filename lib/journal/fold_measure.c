/* fold_measure.c - folds what is measured again, and how a study that had come to its end
 * goes back there. */
#include "journal/state_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dp__measures_free(struct dp_measures *m)
{
	for (uint32_t i = 0; i < m->ntrials; i++)
		dp__trial_free(m->trials[i]);
	free(m->trials);
	free(m->list);
	free(m->rest_reason);
	free(m->end_reason);
}

/* ---- the end that it goes back to ---- */

static bool measure_is_end(enum dp_study_status s)
{
	return s == DP_STUDY_FINISHED || s == DP_STUDY_FAILED || s == DP_STUDY_STOPPED;
}

int dp__measure_wake(struct dp_study_state *st, struct dp_err *err)
{
	struct dp_measures *m = &st->measured;

	if (m->rests || !measure_is_end(st->status))
		return DP_OK;
	if (dp__fold_text(&m->rest_reason, st->reason))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	m->rests = true;
	m->rest = st->status;
	m->rest_by_failures = st->by_failures;
	return DP_OK;
}

/* A study that is set running while it runs has been resumed: it searches on. One that
 * was paused only goes on with what it did. */
void dp__measure_moved(struct dp_study_state *st, enum dp_study_status to)
{
	if (measure_is_end(to) || (to == DP_STUDY_RUNNING && st->status == DP_STUDY_RUNNING))
		dp__measure_searches(st);
}

void dp__measure_searches(struct dp_study_state *st)
{
	st->measured.rests = false;
	free(st->measured.rest_reason);
	st->measured.rest_reason = NULL;
}

/* ---- what is asked for ---- */

/* search.remeasure has asked for all of the front. */
static int measure_end_asked(struct dp_study_state *st, const struct dp_event *e,
			     struct dp_err *err)
{
	if (dp__fold_text(&st->measured.end_reason, e->reason))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	st->measured.end_asked = true;
	st->measured.end_version = st->results_version;
	return DP_OK;
}

static bool measure_fits(const struct dp_study_state *st, const struct dp_event *e)
{
	return dp__fold_point_ok(st->spec, e) && e->asked <= DP_MEASURE_RUNS_MAX &&
	       e->trial >= dp_study_next_measuring(st) && e->trial < 2 * DP_MEASURING &&
	       (isnan(e->of) || (e->of >= 0 && e->of < st->ntrials)) &&
	       (isnan(e->of_at) || (!isnan(e->of) && st->spec->trainer.path.points > 0));
}

/* Room for a measurement of n trials; what is there is left as it is. */
static bool measure_room(struct dp_measures *m, uint32_t n)
{
	struct dp_trial **trials = realloc(m->trials, ((size_t)m->ntrials + n) * sizeof *trials);
	struct dp_measure *list;

	if (!trials)
		return false;
	m->trials = trials;
	list = realloc(m->list, ((size_t)m->n + 1) * sizeof *list);
	if (!list)
		return false;
	m->list = list;
	return true;
}

/* Its trials, behind those that count already: of trainer.runs runs, the last of the
 * rest. */
static int measure_trials(struct dp_study_state *st, const struct dp_event *e, uint32_t n,
			  struct dp_err *err)
{
	struct dp_trial **new = st->measured.trials + st->measured.ntrials;
	uint32_t runs = (uint32_t)st->spec->trainer.runs, made = 0;
	int code = DP_OK;

	while (made < n) {
		code = dp__trial_new(st, e, e->trial + made, &new[made], err);
		if (code != DP_OK)
			break;
		new[made++]->at = e->of_at;
	}
	if (code == DP_OK)
		new[n - 1]->runs = e->asked - runs *(n - 1);
	while (code != DP_OK && made > 0)
		dp__trial_free(new[--made]);
	return code;
}

int dp__fold_measure(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	struct dp_measures *m = &st->measured;
	uint32_t runs = (uint32_t)st->spec->trainer.runs;
	uint32_t n = e->asked / runs + (e->asked % runs > 0);
	bool first = !dp_study_measures(st);
	int code;

	if (e->asked == 0)
		return measure_end_asked(st, e, err);
	if (!measure_fits(st, e))
		return dp_fail(err, DP_E_CORRUPT,
			       "a point of study %u is measured out of turn, too often, "
			       "or is none",
			       st->id);
	if (!measure_room(m, n))
		return dp_fail(err, DP_E_NOMEM, "no memory for a measurement");
	code = measure_trials(st, e, n, err);
	if (code != DP_OK)
		return code;
	code = dp__measure_wake(st, err);
	if (code != DP_OK) {
		for (uint32_t i = 0; i < n; i++)
			dp__trial_free(m->trials[m->ntrials + i]);
		return code;
	}
	m->list[m->n] = (struct dp_measure){
		.of = e->of, .of_at = e->of_at, .runs = e->asked, .first = m->ntrials, .n = n
	};
	snprintf(m->list[m->n].why, sizeof m->list[m->n].why, "%s", e->source ? e->source : "");
	if (first)
		m->batch = m->n;
	m->n++;
	m->ntrials += n;
	m->waiting += n;
	return DP_OK;
}

/* ---- ends ---- */

void dp__measure_reached(struct dp_study_state *st, const struct dp_trial *t)
{
	struct dp_measures *m = &st->measured;

	while (m->reached < m->ntrials && m->trials[m->reached]->number <= t->number)
		m->reached++;
}

void dp__measure_ended(struct dp_study_state *st, const struct dp_trial *t)
{
	struct dp_measures *m = &st->measured;

	while (m->first_live < m->ntrials && m->trials[m->first_live]->status >= DP_TRIAL_OK)
		m->first_live++;
	if (t->status == DP_TRIAL_FAILED)
		m->failures_in_row++;
	else if (t->status != DP_TRIAL_CANCELLED)
		m->failures_in_row = 0;
}

void dp__measure_retried(struct dp_study_state *st, const struct dp_trial *t)
{
	struct dp_measures *m = &st->measured;

	while (m->first_live > 0 && m->trials[m->first_live - 1]->number >= t->number)
		m->first_live--;
}
