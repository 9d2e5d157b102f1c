/* fold_trial.c - folds in what happens to a trial: proposed, attempted, ended, retried.
 */
#include "journal/state_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the privacy oracles say of a trial, or why they do not. */
static int fold_accounted(const struct dp_study_state *st, struct dp_trial *t,
			  const struct dp_event *e, struct dp_err *err)
{
	double *privacy = NULL;

	if (e->nobjectives && e->nobjectives != st->spec->nobjectives)
		return dp_fail(err, DP_E_CORRUPT, "trial %u of study %u has %u objectives, not %zu",
			       t->number, st->id, e->nobjectives, st->spec->nobjectives);
	if (e->nobjectives) {
		privacy = malloc(e->nobjectives * sizeof *privacy);
		if (!privacy)
			return dp_fail(err, DP_E_NOMEM, "no memory for a trial");
		memcpy(privacy, e->objectives, e->nobjectives * sizeof *privacy);
	}
	if (dp__fold_text(&t->refused, e->reason)) {
		free(privacy);
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	}
	free(t->privacy);
	t->privacy = privacy;
	return DP_OK;
}

int dp__trial_new(const struct dp_study_state *st, const struct dp_event *e, uint32_t number,
		  struct dp_trial **out, struct dp_err *err)
{
	struct dp_trial *t = calloc(1, sizeof *t);
	int code;

	if (t)
		t->x = malloc(e->nparams * sizeof *t->x + 1);
	if (!t || !t->x) {
		free(t);
		return dp_fail(err, DP_E_NOMEM, "no memory for a trial");
	}
	t->number = number;
	code = fold_accounted(st, t, e, err);
	if (code != DP_OK) {
		dp__trial_free(t);
		return code;
	}
	memcpy(t->x, e->params, e->nparams * sizeof *t->x);
	t->at = NAN;
	t->runs = (uint32_t)st->spec->trainer.runs;
	t->status = DP_TRIAL_WAITING;
	t->basis = e->basis;
	t->sought = isfinite(e->sought) && e->sought > 0 ? e->sought : 0;
	t->renyi = e->nrenyi == 1 ? e->renyi[0] : NAN;
	snprintf(t->source, sizeof t->source, "%s", e->source ? e->source : "");
	t->proposed = e->time;
	*out = t;
	return DP_OK;
}

/* Those that wait: of the search, or of what is measured. */
static uint32_t *fold_waiting(struct dp_study_state *st, const struct dp_trial *t)
{
	return dp_is_measuring(t->number) ? &st->measured.waiting : &st->waiting;
}

static void fold_waits(struct dp_study_state *st, struct dp_trial *t)
{
	t->status = DP_TRIAL_WAITING;
	*fold_waiting(st, t) += 1;
	if (!dp_is_measuring(t->number) && t->number < st->first_waiting)
		st->first_waiting = t->number;
}

static void fold_waits_no_more(struct dp_study_state *st, struct dp_trial *t,
			       enum dp_trial_status status)
{
	t->status = status;
	*fold_waiting(st, t) -= 1;
	if (dp_is_measuring(t->number))
		return;
	if (st->waiting == 0) /* the common case, in which nobody looks for the next */
		st->first_waiting = st->ntrials;
	while (st->first_waiting < st->ntrials &&
	       st->trials[st->first_waiting]->status != DP_TRIAL_WAITING)
		st->first_waiting++;
}

int dp__fold_proposed(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	struct dp_trial *t, **grown;
	int code;

	if (e->trial != st->ntrials || !dp__fold_point_ok(st->spec, e))
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u is proposed out of turn, or at no "
			       "point of its space",
			       e->trial, st->id);
	if (st->ntrials == st->room) {
		uint32_t room = st->room ? 2 * st->room : 32;

		grown = realloc(st->trials, room * sizeof *grown);
		if (!grown)
			return dp_fail(err, DP_E_NOMEM, "no memory for a trial");
		st->trials = grown;
		st->room = room;
	}
	code = dp__trial_new(st, e, e->trial, &t, err);
	if (code != DP_OK)
		return code;
	st->trials[st->ntrials++] = t;
	st->exposed |= dp_study_noise_exposed(st->now);
	fold_waits(st, t);
	return DP_OK;
}

/* The open attempts: of the search, or of what is measured. */
static uint32_t *fold_open(struct dp_study_state *st, const struct dp_trial *t)
{
	return dp_is_measuring(t->number) ? &st->measured.open : &st->open;
}

static int fold_planned(struct dp_study_state *st, struct dp_trial *t, const struct dp_event *e,
			struct dp_err *err)
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
	grown = realloc(t->attempts, (t->nattempts + 1) * sizeof *grown);
	if (!grown)
		return dp_fail(err, DP_E_NOMEM, "no memory for an attempt");
	t->attempts = grown;
	t->attempts[t->nattempts++] = (struct dp_attempt){ .run = e->run,
							   .number = e->attempt,
							   .slot = (int32_t)e->slot - 1,
							   .planned = e->time };
	t->open++;
	*fold_open(st, t) += 1;
	st->begun = dp_renyi_add(st->begun,
				 dp_renyi_times(e->run == DP_RUN_ALL ? (int)t->runs : 1, t->renyi));
	if (t->status == DP_TRIAL_WAITING)
		fold_waits_no_more(st, t, DP_TRIAL_RUNNING);
	return DP_OK;
}

int dp__metric_column(struct dp_study_state *st, const char *name)
{
	char **grown;
	int i = dp_study_metric(st, name);

	if (i >= 0)
		return i;
	grown = realloc(st->metrics, (st->nmetrics + 1) * sizeof *grown);
	if (!grown)
		return -1;
	st->metrics = grown;
	grown[st->nmetrics] = strdup(name);
	if (!grown[st->nmetrics])
		return -1;
	return (int)st->nmetrics++;
}

int dp__widen(double **table, size_t rows, uint32_t *wide, uint32_t to)
{
	size_t from = *table ? *wide : 0;
	double *new;

	if (*table && *wide == to)
		return DP_OK;
	new = malloc(rows * to * sizeof *new + 1);
	if (!new)
		return DP_E_NOMEM;
	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k < to; k++)
			new[i * to + k] = k < from ? (*table)[i * from + k] : NAN;
	free(*table);
	*table = new;
	*wide = to;
	return DP_OK;
}

static int fold_metrics(struct dp_study_state *st, struct dp_trial *t, const struct dp_event *e,
			struct dp_err *err)
{
	size_t runs = (size_t)dp_trial_told_runs(st, t);

	for (uint32_t k = 0; k < e->nmetrics; k++)
		if (dp__metric_column(st, e->metric_names[k]) < 0)
			return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	if (dp__widen(&t->metrics, runs, &t->nmetrics, st->nmetrics))
		return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	for (uint32_t i = 0; i < e->nruns; i++) {
		if (e->runs[i] >= runs)
			continue;
		for (uint32_t k = 0; k < e->nmetrics; k++) {
			int column = dp_study_metric(st, e->metric_names[k]);

			t->metrics[e->runs[i] * t->nmetrics + (uint32_t)column] =
				e->metrics[i * e->nmetrics + k];
		}
	}
	return DP_OK;
}

/* Seconds as a trainer's machine told them, in microseconds; 0 for what is no time. */
static int64_t fold_time(double seconds)
{
	return seconds > 0 && seconds < 9e12 ? (int64_t)(seconds * 1e6) : 0;
}

/* When the trainer began and ended, by its own machine's clock as far as that fits the
 * one of the records: somebody may have set it meanwhile. How long it took is believed as
 * far as there was time for it. */
static void fold_span(struct dp_attempt *a, double start, double end, int64_t recorded)
{
	int64_t room = recorded > a->planned ? recorded - a->planned : 0, took;

	a->started = fold_time(start);
	a->ended = fold_time(end);
	a->recorded = recorded;
	if (!a->ended)
		a->ended = recorded;
	took = a->started && a->ended > a->started ? a->ended - a->started : 0;
	if (a->started >= a->planned && a->ended >= a->started && a->ended <= recorded)
		return;
	if (!a->started && a->ended >= a->planned && a->ended <= recorded)
		return;
	if (a->started)
		a->started = a->planned;
	a->ended = a->planned + (took && took < room ? took : room);
}

static struct dp_attempt *find_attempt(struct dp_trial *t, int32_t run, uint32_t number)
{
	for (uint32_t i = t->nattempts; i-- > 0;)
		if (t->attempts[i].run == run && t->attempts[i].number == number)
			return &t->attempts[i];
	return NULL;
}

/* An attempt was taken by a cluster; a later word replaces an earlier one. */
static int fold_placed(const struct dp_study_state *st, struct dp_trial *t,
		       const struct dp_event *e, struct dp_err *err)
{
	struct dp_attempt *a = find_attempt(t, e->run, e->attempt);
	char *place = NULL;

	if (!a || a->end != DP_END_NONE)
		return dp_fail(err, DP_E_CORRUPT,
			       "attempt %u of trial %u of study %u is placed, but is not "
			       "open",
			       e->attempt, t->number, st->id);
	if (dp__fold_text(&place, e->place))
		return dp_fail(err, DP_E_NOMEM, "no memory for an attempt");
	free(a->place);
	a->place = place;
	return DP_OK;
}

static void fold_declared(struct dp_declarations *all, const struct dp_declared *one)
{
	all->attempts++;
	all->sampling += one->sampling != NULL;
	all->shuffled += one->sampling && strcmp(one->sampling, "shuffle") == 0;
	all->records += !isnan(one->records);
	all->lot += !isnan(one->lot);
	all->steps += !isnan(one->steps);
	all->noise_over_clip += !isnan(one->noise_over_clip);
}

/* Whoever shows the newest failures need not look through all trials for them. */
static void fold_failing(struct dp_study_state *st, uint32_t trial)
{
	uint32_t at = 0;

	while (at < st->nfailing && st->failing[at] > trial)
		at++;
	if (at == DP_FAILING_MAX || (at < st->nfailing && st->failing[at] == trial))
		return;
	if (st->nfailing < DP_FAILING_MAX)
		st->nfailing++;
	memmove(st->failing + at + 1, st->failing + at,
		(st->nfailing - at - 1) * sizeof *st->failing);
	st->failing[at] = trial;
}

static int fold_attempt_ended(struct dp_study_state *st, struct dp_trial *t,
			      const struct dp_event *e, struct dp_err *err)
{
	struct dp_attempt *a = find_attempt(t, e->run, e->attempt);
	bool new_way = !t->way;
	int code;

	if (!a || a->end != DP_END_NONE || e->end == DP_END_NONE)
		return dp_fail(err, DP_E_CORRUPT,
			       "attempt %u of trial %u of study %u ends, but is not open or "
			       "not said how",
			       e->attempt, t->number, st->id);
	code = dp__way_add(st, t, e, err);
	if (code == DP_OK && e->nmetrics && (e->end == DP_END_OK || e->end == DP_END_DIVERGED))
		code = fold_metrics(st, t, e, err);
	if (code == DP_OK && dp__fold_text(&a->message, e->reason))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	if (code != DP_OK) {
		if (new_way) { /* it has none until the record comes again */
			dp__way_free(t->way);
			t->way = NULL;
		}
		return code;
	}
	if (e->end == DP_END_OK || e->end == DP_END_DIVERGED)
		fold_declared(&st->declared, &e->declared);
	a->end = e->end;
	a->counted = e->counted;
	a->unbegun = e->unbegun;
	a->exit_kind = e->exit.kind;
	a->exit_value = e->exit.value;
	fold_span(a, e->exit.start, e->exit.end, e->time);
	a->cpu_seconds = (float)e->exit.cpu;
	a->peak_memory = e->exit.peak_memory;
	if (e->end == DP_END_NOT_STARTED)
		st->blocked = t->number;
	if (e->end != DP_END_OK && !dp_is_measuring(t->number))
		fold_failing(st, t->number);
	t->open--;
	*fold_open(st, t) -= 1;
	if (t->open == 0)
		fold_waits(st, t); /* until trial-ended says otherwise */
	return DP_OK;
}

/* Did it end with what its last attempt reached, not only with what was kept before? */
static bool was_cut_short(const struct dp_study_state *st, const struct dp_trial *t)
{
	uint32_t i = t->nattempts;

	while (i > 0 && t->attempts[i - 1].end == DP_END_OK)
		i--;
	return i > 0 && dp_end_keeps_way(t->attempts[i - 1].end) && dp_trial_has_way(st, t);
}

static void fold_count_ended(struct dp_study_state *st, const struct dp_trial *t)
{
	bool result = t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED;

	if (result)
		*(t->status == DP_TRIAL_OK ? &st->ok : &st->diverged) += 1;
	else
		st->failed++;
	if (result || dp_trial_has_way(st, t))
		dp__results_add(st, t->number);
	if (result || was_cut_short(st, t)) /* it ran out of time, but works */
		st->failures_in_row = 0;
	else if (t->status == DP_TRIAL_FAILED)
		st->failures_in_row++;
}

static int fold_trial_ended(struct dp_study_state *st, struct dp_trial *t, const struct dp_event *e,
			    struct dp_err *err)
{
	int status = dp__trial_status_from(e->state), code;
	bool came = status == DP_TRIAL_OK || status == DP_TRIAL_DIVERGED;
	double *objectives = NULL;
	char *reason = NULL;

	if (status < DP_TRIAL_OK || t->status != DP_TRIAL_WAITING)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u ends while it has not, or as '%s'", t->number,
			       st->id, e->state ? e->state : "");
	if (e->nobjectives && e->nobjectives != st->spec->nobjectives)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u ends with %u objectives, not %zu", t->number,
			       st->id, e->nobjectives, st->spec->nobjectives);
	if (e->nobjectives) {
		objectives = malloc(e->nobjectives * sizeof *objectives);
		if (!objectives)
			return dp_fail(err, DP_E_NOMEM, "no memory for a result");
		memcpy(objectives, e->objectives, e->nobjectives * sizeof *objectives);
	}
	if (dp__fold_text(&reason, e->reason))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	else
		code = dp__way_settle(st, t, came, err); /* last: the rest cannot fail */
	if (code != DP_OK) {
		free(objectives);
		free(reason);
		return code;
	}
	free(t->reason);
	t->reason = reason;
	free(t->objectives);
	t->objectives = objectives;
	if (objectives) { /* they have it */
		free(t->privacy);
		t->privacy = NULL;
	}
	fold_waits_no_more(st, t, (enum dp_trial_status)status);
	t->ended = e->time;
	if (dp_is_measuring(t->number)) {
		dp__measure_ended(st, t);
		return DP_OK;
	}
	while (st->first_live < st->ntrials && st->trials[st->first_live]->status >= DP_TRIAL_OK)
		st->first_live++;
	fold_count_ended(st, t);
	return DP_OK;
}

/* A failed or cancelled trial gets another chance; what it used up is given back. */
static int fold_retry_asked(struct dp_study_state *st, struct dp_trial *t, const struct dp_event *e,
			    struct dp_err *err)
{
	int code = DP_OK;

	(void)e;
	if (t->status != DP_TRIAL_FAILED && t->status != DP_TRIAL_CANCELLED)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u is retried but has not failed", t->number,
			       st->id);
	if (dp_is_measuring(t->number))
		code = dp__measure_wake(st, err);
	if (code != DP_OK)
		return code;
	for (uint32_t i = 0; i < t->nattempts; i++)
		t->attempts[i].counted = false;
	if (dp_trial_has_way(st, t))
		dp__results_change(st);
	dp__way_reopen(t->way); /* a run that it has already does not come by again */
	fold_waits(st, t);
	t->cancel_asked = false;
	t->ended = 0;
	free(t->reason);
	t->reason = NULL;
	if (dp_is_measuring(t->number)) {
		dp__measure_retried(st, t);
		return DP_OK;
	}
	st->failed--;
	if (t->number < st->first_live)
		st->first_live = t->number;
	if (st->measured.rest != DP_STUDY_STOPPED)
		dp__measure_searches(st);
	return DP_OK;
}

int dp__fold_of_trial(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	struct dp_trial *t = dp_study_trial(st, e->trial);

	if (!t)
		return dp_fail(err, DP_E_CORRUPT,
			       "%s names trial %u of study %u, which was "
			       "never proposed",
			       dp_event_name(e->type), e->trial, st->id);
	if (dp_is_measuring(t->number))
		dp__measure_reached(st, t);
	switch (e->type) {
	case DP_EV_ATTEMPT_PLANNED:
		return fold_planned(st, t, e, err);
	case DP_EV_ATTEMPT_PLACED:
		return fold_placed(st, t, e, err);
	case DP_EV_ATTEMPT_ENDED:
		return fold_attempt_ended(st, t, e, err);
	case DP_EV_TRIAL_ENDED:
		return fold_trial_ended(st, t, e, err);
	case DP_EV_TRIAL_ACCOUNTED:
		return fold_accounted(st, t, e, err);
	case DP_EV_TRIAL_CANCEL_ASKED:
		t->cancel_asked = true;
		return DP_OK;
	case DP_EV_TRIAL_RETRY_ASKED:
		return fold_retry_asked(st, t, e, err);
	case DP_EV_ATTEMPT_ADOPTED: /* a note for people; changes nothing */
	default:
		return DP_OK;
	}
}
