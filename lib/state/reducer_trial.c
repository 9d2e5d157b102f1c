/* reducer_trial.c - applies events of a trial: proposed, attempted, ended, retried. */
#include "state/state_internal.h"
#include "study/seeds.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int reduce_trial_accounted(const struct dp_study_state *st, struct dp_trial *t,
				  const double *values, uint32_t n, const char *reason,
				  struct dp_err *err)
{
	double *privacy = NULL;

	if (n && n != st->spec->nobjectives)
		return dp_fail(err, DP_E_CORRUPT, "trial %u of study %u has %u objectives, not %zu",
			       t->number, st->id, n, st->spec->nobjectives);
	if (n) {
		privacy = dp_malloc(n * sizeof *privacy);
		memcpy(privacy, values, n * sizeof *privacy);
	}
	if (dp__replace_string(&t->refusal_reason, reason)) {
		free(privacy);
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	}
	free(t->privacy);
	t->privacy = privacy;
	return DP_OK;
}

int dp__trial_new(const struct dp_study_state *st, const struct dp_event_point *point,
		  const struct dp_event *e, uint32_t number, struct dp_trial **out,
		  struct dp_err *err)
{
	struct dp_trial *t = dp_calloc(1, sizeof *t);
	int code;

	if (t)
		t->x = dp_malloc(point->nparams * sizeof *t->x + 1);
	if (!t || !t->x) {
		free(t);
		return dp_fail(err, DP_E_NOMEM, "no memory for a trial");
	}
	t->number = number;
	t->kind = dp_trial_number_kind(number);
	t->index = dp_trial_number_index(number);
	code = reduce_trial_accounted(st, t, point->privacy, point->nprivacy, e->reason, err);
	if (code != DP_OK) {
		dp__trial_free(t);
		return code;
	}
	memcpy(t->x, point->params, point->nparams * sizeof *t->x);
	t->stop_at = NAN;
	t->runs = (uint32_t)st->spec->trainer.runs;
	t->status = DP_TRIAL_WAITING;
	t->renyi_per_run = point->nrenyi == 1 ? point->renyi[0] : NAN;
	snprintf(t->source, sizeof t->source, "%s", point->source ? point->source : "");
	t->proposed_us = e->time_us;
	*out = t;
	return DP_OK;
}

/* Waiting trials are counted separately for the search and for re-evaluations. */
static uint32_t *waiting_trials_counter(struct dp_study_state *st, const struct dp_trial *t)
{
	return t->kind == DP_TRIAL_REEVAL ? &st->reevals.waiting_trials : &st->waiting_trials;
}

static void mark_trial_waiting(struct dp_study_state *st, struct dp_trial *t)
{
	t->status = DP_TRIAL_WAITING;
	*waiting_trials_counter(st, t) += 1;
	if (t->kind == DP_TRIAL_SEARCH && t->number < st->first_waiting)
		st->first_waiting = t->number;
}

static void unmark_trial_waiting(struct dp_study_state *st, struct dp_trial *t,
				 enum dp_trial_status status)
{
	t->status = status;
	*waiting_trials_counter(st, t) -= 1;
	if (t->kind == DP_TRIAL_REEVAL)
		return;
	if (st->waiting_trials == 0) /* the common case: spares the scan */
		st->first_waiting = st->ntrials;
	while (st->first_waiting < st->ntrials &&
	       st->trials[st->first_waiting]->status != DP_TRIAL_WAITING)
		st->first_waiting++;
}

int dp__reduce_trial_proposed(struct dp_study_state *st, const struct dp_event *e,
			      struct dp_err *err)
{
	double seconds = e->trial_proposed.proposal_seconds;
	struct dp_trial *t, **grown;
	int code;

	if (e->trial != st->ntrials ||
	    !dp__params_are_valid(st->spec, e->trial_proposed.point.params,
				  e->trial_proposed.point.nparams))
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u is proposed out of turn, or at no "
			       "point of its space",
			       e->trial, st->id);
	if (st->ntrials == st->capacity) {
		uint32_t room = st->capacity ? 2 * st->capacity : 32;

		grown = dp_realloc(st->trials, room * sizeof *grown);
		st->trials = grown;
		st->capacity = room;
	}
	code = dp__trial_new(st, &e->trial_proposed.point, e, e->trial, &t, err);
	if (code != DP_OK)
		return code;
	t->conditioned_on = e->trial_proposed.conditioned_on;
	t->proposal_seconds = isfinite(seconds) && seconds > 0 ? seconds : 0;
	st->trials[st->ntrials++] = t;
	st->seeds_exposed |= dp_study_noise_exposed(st->current_spec);
	mark_trial_waiting(st, t);
	return DP_OK;
}

static uint32_t *open_attempts_counter(struct dp_study_state *st, const struct dp_trial *t)
{
	return t->kind == DP_TRIAL_REEVAL ? &st->reevals.open_attempts : &st->open_attempts;
}

static int reduce_attempt_planned(struct dp_study_state *st, struct dp_trial *t,
				  const struct dp_event *e, struct dp_err *err)
{
	struct dp_attempt *grown;

	if (t->status != DP_TRIAL_WAITING && t->status != DP_TRIAL_RUNNING)
		return dp_fail(err, DP_E_CORRUPT,
			       "an attempt is planned for trial %u of study %u, which has "
			       "ended",
			       t->number, st->id);
	if (e->run < DP_RUN_ALL || e->run >= (int32_t)t->runs)
		return dp_fail(err, DP_E_CORRUPT,
			       "an attempt is planned for run %d of trial %u of study %u", e->run,
			       t->number, st->id);
	grown = dp_realloc(t->attempts, (t->nattempts + 1) * sizeof *grown);
	t->attempts = grown;
	t->attempts[t->nattempts++] =
		(struct dp_attempt){ .run = e->run,
				     .number = e->attempt,
				     .slot = (int32_t)e->attempt_planned.slot_plus_one - 1,
				     .planned_us = e->time_us };
	t->open_attempts++;
	*open_attempts_counter(st, t) += 1;
	st->planned_renyi = dp_renyi_add(
		st->planned_renyi,
		dp_renyi_multiply(e->run == DP_RUN_ALL ? (int)t->runs : 1, t->renyi_per_run));
	if (t->status == DP_TRIAL_WAITING)
		unmark_trial_waiting(st, t, DP_TRIAL_RUNNING);
	return DP_OK;
}

int dp__metric_find_or_add(struct dp_study_state *st, const char *name)
{
	char **grown;
	int i = dp_state_metric_column(st, name);

	if (i >= 0)
		return i;
	grown = dp_realloc(st->metrics, (st->nmetrics + 1) * sizeof *grown);
	st->metrics = grown;
	grown[st->nmetrics] = dp_strdup(name);
	return (int)st->nmetrics++;
}

int dp__table_widen(double **table, size_t rows, uint32_t *wide, uint32_t to)
{
	size_t from = *table ? *wide : 0;
	double *new;

	if (*table && *wide == to)
		return DP_OK;
	new = dp_malloc(rows * to * sizeof *new + 1);
	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k < to; k++)
			new[i * to + k] = k < from ? (*table)[i * from + k] : NAN;
	free(*table);
	*table = new;
	*wide = to;
	return DP_OK;
}

static int store_attempt_metrics(struct dp_study_state *st, struct dp_trial *t,
				 const struct dp_event *e, struct dp_err *err)
{
	size_t runs = (size_t)dp_trial_values_per_metric(st, t);

	for (uint32_t k = 0; k < e->attempt_ended.nmetrics; k++)
		if (dp__metric_find_or_add(st, e->attempt_ended.metric_names[k]) < 0)
			return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	if (dp__table_widen(&t->metrics, runs, &t->nmetrics, st->nmetrics))
		return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	for (uint32_t i = 0; i < e->attempt_ended.nruns; i++) {
		if (e->attempt_ended.runs[i] >= runs)
			continue;
		for (uint32_t k = 0; k < e->attempt_ended.nmetrics; k++) {
			int column = dp_state_metric_column(st, e->attempt_ended.metric_names[k]);

			t->metrics[e->attempt_ended.runs[i] * t->nmetrics + (uint32_t)column] =
				e->attempt_ended.metrics[i * e->attempt_ended.nmetrics + k];
		}
	}
	return DP_OK;
}

/* Seconds from the trainer's machine, in microseconds; 0 if they are not a valid time. */
static int64_t seconds_to_us(double seconds)
{
	return seconds > 0 && seconds < 9e12 ? (int64_t)(seconds * 1e6) : 0;
}

/* Start and end by the clock of the trainer's machine if they fit the clock of the records, which
 * may have been set meanwhile. Otherwise the duration is kept, limited to the time between the plan
 * and the record. */
static void set_attempt_times(struct dp_attempt *a, double start, double end, int64_t recorded)
{
	int64_t room = recorded > a->planned_us ? recorded - a->planned_us : 0, took;

	a->started_us = seconds_to_us(start);
	a->ended_us = seconds_to_us(end);
	a->recorded_us = recorded;
	if (!a->ended_us)
		a->ended_us = recorded;
	took = a->started_us && a->ended_us > a->started_us ? a->ended_us - a->started_us : 0;
	if (a->started_us >= a->planned_us && a->ended_us >= a->started_us &&
	    a->ended_us <= recorded)
		return;
	if (!a->started_us && a->ended_us >= a->planned_us && a->ended_us <= recorded)
		return;
	if (a->started_us)
		a->started_us = a->planned_us;
	a->ended_us = a->planned_us + (took && took < room ? took : room);
}

static struct dp_attempt *find_attempt(struct dp_trial *t, int32_t run, uint32_t number)
{
	for (uint32_t i = t->nattempts; i-- > 0;)
		if (t->attempts[i].run == run && t->attempts[i].number == number)
			return &t->attempts[i];
	return NULL;
}

/* A cluster has accepted an attempt; a later record replaces an earlier one. */
static int reduce_attempt_placed(const struct dp_study_state *st, struct dp_trial *t,
				 const struct dp_event *e, struct dp_err *err)
{
	struct dp_attempt *a = find_attempt(t, e->run, e->attempt);
	char *place = NULL;

	if (!a || a->end_class != DP_END_NONE)
		return dp_fail(err, DP_E_CORRUPT,
			       "attempt %u of trial %u of study %u is placed, but is not "
			       "open",
			       e->attempt, t->number, st->id);
	if (dp__replace_string(&place, e->attempt_placed.job_id))
		return dp_fail(err, DP_E_NOMEM, "no memory for an attempt");
	free(a->job_id);
	a->job_id = place;
	return DP_OK;
}

static void count_declaration(struct dp_declarations *all, const struct dp_declaration *one)
{
	all->attempts++;
	all->sampling += one->sampling != NULL;
	all->shuffled += one->sampling && strcmp(one->sampling, "shuffle") == 0;
	all->records += !isnan(one->records);
	all->lot += !isnan(one->lot);
	all->steps += !isnan(one->steps);
	all->noise_over_clip += !isnan(one->noise_over_clip);
}

/* Keeps the newest failures, so that showing them needs no scan of all trials. */
static void add_newest_failed(struct dp_study_state *st, uint32_t trial)
{
	uint32_t at = 0;

	while (at < st->nnewest_failed && st->newest_failed[at] > trial)
		at++;
	if (at == DP_FAILED_TRIALS_MAX ||
	    (at < st->nnewest_failed && st->newest_failed[at] == trial))
		return;
	if (st->nnewest_failed < DP_FAILED_TRIALS_MAX)
		st->nnewest_failed++;
	memmove(st->newest_failed + at + 1, st->newest_failed + at,
		(st->nnewest_failed - at - 1) * sizeof *st->newest_failed);
	st->newest_failed[at] = trial;
}

static int reduce_attempt_ended(struct dp_study_state *st, struct dp_trial *t,
				const struct dp_event *e, struct dp_err *err)
{
	struct dp_attempt *a = find_attempt(t, e->run, e->attempt);
	bool new_way = !t->checkpoints;
	int code;

	if (!a || a->end_class != DP_END_NONE || e->attempt_ended.end_class == DP_END_NONE)
		return dp_fail(err, DP_E_CORRUPT,
			       "attempt %u of trial %u of study %u ends, but is not open or "
			       "not said how",
			       e->attempt, t->number, st->id);
	code = dp__checkpoints_add_attempt(st, t, e, err);
	if (code == DP_OK && e->attempt_ended.nmetrics &&
	    (e->attempt_ended.end_class == DP_END_OK ||
	     e->attempt_ended.end_class == DP_END_DIVERGED))
		code = store_attempt_metrics(st, t, e, err);
	if (code == DP_OK && dp__replace_string(&a->message, e->reason))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	if (code != DP_OK) {
		if (new_way) { /* undo: the record will be applied again */
			dp__checkpoints_free(t->checkpoints);
			t->checkpoints = NULL;
		}
		return code;
	}
	if (e->attempt_ended.end_class == DP_END_OK ||
	    e->attempt_ended.end_class == DP_END_DIVERGED)
		count_declaration(&st->declarations, &e->attempt_ended.declaration);
	a->end_class = e->attempt_ended.end_class;
	a->charged = e->attempt_ended.charged;
	a->never_ran = e->attempt_ended.never_ran;
	a->exit_kind = e->attempt_ended.exit.kind;
	a->exit_value = e->attempt_ended.exit.value;
	set_attempt_times(a, e->attempt_ended.exit.start_seconds, e->attempt_ended.exit.end_seconds,
			  e->time_us);
	a->cpu_seconds = (float)e->attempt_ended.exit.cpu_seconds;
	a->peak_memory = e->attempt_ended.exit.peak_memory;
	if (e->attempt_ended.end_class == DP_END_NOT_STARTED)
		st->blocked_trial = t->number;
	if (e->attempt_ended.end_class != DP_END_OK && t->kind == DP_TRIAL_SEARCH)
		add_newest_failed(st, t->number);
	t->open_attempts--;
	*open_attempts_counter(st, t) -= 1;
	if (t->open_attempts == 0)
		mark_trial_waiting(st, t); /* until trial-ended */
	return DP_OK;
}

/* True if the last failed attempt kept its checkpoints, and one of them is a result. */
static bool was_trial_cut_short(const struct dp_study_state *st, const struct dp_trial *t)
{
	uint32_t i = t->nattempts;

	while (i > 0 && t->attempts[i - 1].end_class == DP_END_OK)
		i--;
	return i > 0 && dp_end_class_keeps_checkpoints(t->attempts[i - 1].end_class) &&
	       dp_trial_has_checkpoint_results(st, t);
}

static void count_ended_trial(struct dp_study_state *st, const struct dp_trial *t)
{
	bool result = t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED;

	if (result)
		*(t->status == DP_TRIAL_OK ? &st->ok : &st->diverged) += 1;
	else
		st->failed++;
	if (result || dp_trial_has_checkpoint_results(st, t))
		dp__results_add_trial(st, t->number);
	if (result || was_trial_cut_short(st, t)) /* timed out, but the trainer works */
		st->consecutive_failures = 0;
	else if (t->status == DP_TRIAL_FAILED)
		st->consecutive_failures++;
}

static int reduce_trial_ended(struct dp_study_state *st, struct dp_trial *t,
			      const struct dp_event *e, struct dp_err *err)
{
	int status = dp__trial_status_parse(e->trial_ended.status), code;
	bool came = status == DP_TRIAL_OK || status == DP_TRIAL_DIVERGED;
	double *objectives = NULL;
	char *reason = NULL;

	if (status < DP_TRIAL_OK || t->status != DP_TRIAL_WAITING)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u ends while it has not, or as '%s'", t->number,
			       st->id, e->trial_ended.status ? e->trial_ended.status : "");
	if (e->trial_ended.nobjectives && e->trial_ended.nobjectives != st->spec->nobjectives)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u ends with %u objectives, not %zu", t->number,
			       st->id, e->trial_ended.nobjectives, st->spec->nobjectives);
	if (e->trial_ended.nobjectives) {
		objectives = dp_malloc(e->trial_ended.nobjectives * sizeof *objectives);
		memcpy(objectives, e->trial_ended.objectives,
		       e->trial_ended.nobjectives * sizeof *objectives);
	}
	if (dp__replace_string(&reason, e->reason))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	else
		code = dp__checkpoints_compute_results(st, t, came, err); /* last that can fail */
	if (code != DP_OK) {
		free(objectives);
		free(reason);
		return code;
	}
	free(t->reason);
	t->reason = reason;
	free(t->objectives);
	t->objectives = objectives;
	if (objectives) { /* they include the epsilons */
		free(t->privacy);
		t->privacy = NULL;
	}
	unmark_trial_waiting(st, t, (enum dp_trial_status)status);
	t->ended_us = e->time_us;
	if (t->kind == DP_TRIAL_REEVAL) {
		dp__reevals_on_trial_ended(st, t);
		return DP_OK;
	}
	while (st->first_unfinished < st->ntrials &&
	       st->trials[st->first_unfinished]->status >= DP_TRIAL_OK)
		st->first_unfinished++;
	count_ended_trial(st, t);
	return DP_OK;
}

/* Returns a failed or cancelled trial to waiting, with all its retries. */
static int reduce_trial_retry_asked(struct dp_study_state *st, struct dp_trial *t,
				    const struct dp_event *e, struct dp_err *err)
{
	int code = DP_OK;

	(void)e;
	if (t->status != DP_TRIAL_FAILED && t->status != DP_TRIAL_CANCELLED)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u is retried but has not failed", t->number,
			       st->id);
	if (t->kind == DP_TRIAL_REEVAL)
		code = dp__reevals_save_resume_state(st, err);
	if (code != DP_OK)
		return code;
	for (uint32_t i = 0; i < t->nattempts; i++)
		t->attempts[i].charged = false;
	if (dp_trial_has_checkpoint_results(st, t))
		dp__results_invalidate(st);
	dp__checkpoints_clear_results(t->checkpoints); /* keeps the metrics of completed runs */
	mark_trial_waiting(st, t);
	t->cancel_requested = false;
	t->ended_us = 0;
	free(t->reason);
	t->reason = NULL;
	if (t->kind == DP_TRIAL_REEVAL) {
		dp__reevals_on_trial_retried(st, t);
		return DP_OK;
	}
	st->failed--;
	if (t->number < st->first_unfinished)
		st->first_unfinished = t->number;
	if (st->reevals.resume_state != DP_STUDY_STOPPED)
		dp__reevals_clear_resume_state(st);
	return DP_OK;
}

int dp__reduce_trial_event(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	struct dp_trial *t = dp_state_find_trial(st, e->trial);

	if (!t)
		return dp_fail(err, DP_E_CORRUPT,
			       "%s names trial %u of study %u, which was "
			       "never proposed",
			       dp_event_type_name(e->type), e->trial, st->id);
	if (t->kind == DP_TRIAL_REEVAL)
		dp__reevals_on_trial_event(st, t);
	switch (e->type) {
	case DP_EV_ATTEMPT_PLANNED:
		return reduce_attempt_planned(st, t, e, err);
	case DP_EV_ATTEMPT_PLACED:
		return reduce_attempt_placed(st, t, e, err);
	case DP_EV_ATTEMPT_ENDED:
		return reduce_attempt_ended(st, t, e, err);
	case DP_EV_TRIAL_ENDED:
		return reduce_trial_ended(st, t, e, err);
	case DP_EV_TRIAL_ACCOUNTED:
		return reduce_trial_accounted(st, t, e->trial_accounted.privacy,
					      e->trial_accounted.nprivacy, e->reason, err);
	case DP_EV_TRIAL_CANCEL_ASKED:
		t->cancel_requested = true;
		return DP_OK;
	case DP_EV_TRIAL_RETRY_ASKED:
		return reduce_trial_retry_asked(st, t, e, err);
	case DP_EV_ATTEMPT_ADOPTED: /* information only */
	default:
		return DP_OK;
	}
}
