/* reducer_reeval.c - applies re-evaluation events and restores the former status after them. */
#include "state/state_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dp__reevals_free(struct dp_reevals *m)
{
	for (uint32_t i = 0; i < m->ntrials; i++)
		dp__trial_free(m->trials[i]);
	free(m->trials);
	free(m->items);
	free(m->resume_reason);
	free(m->final_reason);
}

static bool is_end_status(enum dp_study_status s)
{
	return s == DP_STUDY_FINISHED || s == DP_STUDY_FAILED || s == DP_STUDY_STOPPED;
}

int dp__reevals_save_resume_state(struct dp_study_state *st, struct dp_err *err)
{
	struct dp_reevals *m = &st->reevals;

	if (m->has_resume_state || !is_end_status(st->status))
		return DP_OK;
	if (dp__replace_string(&m->resume_reason, st->reason))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	m->has_resume_state = true;
	m->resume_state = st->status;
	m->resume_by_failures = st->moved_by_failures;
	return DP_OK;
}

/* A study that is set running while it runs has been resumed, so its search continues. A study that
 * was paused only continues its re-evaluations. */
void dp__reevals_on_study_moved(struct dp_study_state *st, enum dp_study_status to)
{
	if (is_end_status(to) || (to == DP_STUDY_RUNNING && st->status == DP_STUDY_RUNNING))
		dp__reevals_clear_resume_state(st);
}

void dp__reevals_clear_resume_state(struct dp_study_state *st)
{
	st->reevals.has_resume_state = false;
	free(st->reevals.resume_reason);
	st->reevals.resume_reason = NULL;
}

/* search.remeasure has requested the whole front. */
static int reduce_final_reeval_asked(struct dp_study_state *st, const struct dp_event *e,
				     struct dp_err *err)
{
	if (dp__replace_string(&st->reevals.final_reason, e->reason))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	st->reevals.final_requested = true;
	st->reevals.final_results_version = st->results_version;
	return DP_OK;
}

static bool is_reeval_event_valid(const struct dp_study_state *st, const struct dp_event *e)
{
	return dp__params_are_valid(st->spec, e->measure_asked.point.params,
				    e->measure_asked.point.nparams) &&
	       e->measure_asked.runs <= DP_REEVALUATE_RUNS_MAX &&
	       e->trial >= dp_state_next_reeval_trial(st) && e->trial < 2 * DP_REEVAL_TRIAL_FIRST &&
	       (isnan(e->measure_asked.result_trial) ||
		(e->measure_asked.result_trial >= 0 &&
		 e->measure_asked.result_trial < st->ntrials)) &&
	       (isnan(e->measure_asked.result_checkpoint) ||
		(!isnan(e->measure_asked.result_trial) &&
		 st->spec->trainer.learning_curve.points > 0));
}

/* Allocates room for one more re-evaluation with n trials; changes nothing else. */
static bool reevals_reserve(struct dp_reevals *m, uint32_t n)
{
	struct dp_trial **trials = dp_realloc(m->trials, ((size_t)m->ntrials + n) * sizeof *trials);
	struct dp_reeval *list;

	m->trials = trials;
	list = dp_realloc(m->items, ((size_t)m->count + 1) * sizeof *list);
	m->items = list;
	return true;
}

/* Appends trials, not yet counted: trainer.runs runs each, the last one the remainder. */
static int add_reeval_trials(struct dp_study_state *st, const struct dp_event *e, uint32_t n,
			     struct dp_err *err)
{
	struct dp_trial **new = st->reevals.trials + st->reevals.ntrials;
	uint32_t runs = (uint32_t)st->spec->trainer.runs, made = 0;
	int code = DP_OK;

	while (made < n) {
		code = dp__trial_new(st, &e->measure_asked.point, e, e->trial + made, &new[made],
				     err);
		if (code != DP_OK)
			break;
		new[made++]->stop_at = e->measure_asked.result_checkpoint;
	}
	if (code == DP_OK)
		new[n - 1]->runs = e->measure_asked.runs - runs *(n - 1);
	while (code != DP_OK && made > 0)
		dp__trial_free(new[--made]);
	return code;
}

int dp__reduce_measure_asked(struct dp_study_state *st, const struct dp_event *e,
			     struct dp_err *err)
{
	struct dp_reevals *m = &st->reevals;
	uint32_t runs = (uint32_t)st->spec->trainer.runs;
	uint32_t n = e->measure_asked.runs / runs + (e->measure_asked.runs % runs > 0);
	bool first = !dp_state_has_pending_reevals(st);
	int code;

	if (e->measure_asked.runs == 0)
		return reduce_final_reeval_asked(st, e, err);
	if (!is_reeval_event_valid(st, e))
		return dp_fail(err, DP_E_CORRUPT,
			       "a point of study %u is measured out of turn, too often, "
			       "or is none",
			       st->id);
	if (!reevals_reserve(m, n))
		return dp_fail(err, DP_E_NOMEM, "no memory for a measurement");
	code = add_reeval_trials(st, e, n, err);
	if (code != DP_OK)
		return code;
	code = dp__reevals_save_resume_state(st, err);
	if (code != DP_OK) {
		for (uint32_t i = 0; i < n; i++)
			dp__trial_free(m->trials[m->ntrials + i]);
		return code;
	}
	m->items[m->count] =
		(struct dp_reeval){ .trial = e->measure_asked.result_trial,
				    .checkpoint_value = e->measure_asked.result_checkpoint,
				    .runs = e->measure_asked.runs,
				    .first_trial = m->ntrials,
				    .ntrials = n };
	snprintf(m->items[m->count].source, sizeof m->items[m->count].source, "%s",
		 e->measure_asked.point.source ? e->measure_asked.point.source : "");
	if (first)
		m->batch_start = m->count;
	m->count++;
	m->ntrials += n;
	m->waiting_trials += n;
	return DP_OK;
}

void dp__reevals_on_trial_event(struct dp_study_state *st, const struct dp_trial *t)
{
	struct dp_reevals *m = &st->reevals;

	while (m->first_untouched < m->ntrials &&
	       m->trials[m->first_untouched]->number <= t->number)
		m->first_untouched++;
}

void dp__reevals_on_trial_ended(struct dp_study_state *st, const struct dp_trial *t)
{
	struct dp_reevals *m = &st->reevals;

	while (m->first_unfinished < m->ntrials &&
	       m->trials[m->first_unfinished]->status >= DP_TRIAL_OK)
		m->first_unfinished++;
	if (t->status == DP_TRIAL_FAILED)
		m->consecutive_failures++;
	else if (t->status != DP_TRIAL_CANCELLED)
		m->consecutive_failures = 0;
}

void dp__reevals_on_trial_retried(struct dp_study_state *st, const struct dp_trial *t)
{
	struct dp_reevals *m = &st->reevals;

	while (m->first_unfinished > 0 && m->trials[m->first_unfinished - 1]->number >= t->number)
		m->first_unfinished--;
}
