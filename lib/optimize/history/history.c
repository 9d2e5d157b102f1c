/* history.c - a study's results as a proposer takes them. */
#include "optimize/history/history.h"

#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void clear_observation(struct dp_observation *k)
{
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++)
		k->y[i] = k->var[i] = NAN;
	for (size_t i = 0; i < DP_CONSTRAINTS_MAX; i++)
		k->metrics[i] = NAN;
	k->checkpoint = k->seconds = 0;
}

static enum dp_observation_status observation_status(const struct dp_trial *t)
{
	if (t->status < DP_TRIAL_OK)
		return DP_OBSERVATION_PENDING;
	if (t->status == DP_TRIAL_OK)
		return DP_OBSERVATION_OK;
	return t->status == DP_TRIAL_DIVERGED ? DP_OBSERVATION_DIVERGED : DP_OBSERVATION_FAILED;
}

static bool observation_has_result(const struct dp_observation *k)
{
	return k->status == DP_OBSERVATION_OK || k->status == DP_OBSERVATION_DIVERGED;
}

/* What was measured at a point. */
static void load_result_values(const struct dp_study_state *s, struct dp_result_id p,
			       struct dp_observation *k)
{
	const double *y = dp_result_get_objectives(s, p);
	const struct dp_study *spec = s->spec;

	for (size_t i = 0; y && i < spec->nobjectives; i++) {
		k->y[i] = y[i];
		if (spec->objectives[i].metric)
			k->var[i] = dp_result_metric_mean_variance(
				s, p, dp_state_metric_column(s, spec->objectives[i].metric));
	}
	for (size_t i = 0; i < spec->nconstraints; i++)
		k->metrics[i] = dp_result_metric_mean(
			s, p, dp_state_metric_column(s, spec->constraints[i].metric));
}

/* A result of an ended trial. */
static void load_result(const struct dp_study_state *s, struct dp_result_id p,
			struct dp_observation *k)
{
	const struct dp_trial *t = s->trials[p.trial];

	clear_observation(k);
	k->trial = p.trial;
	dp_result_get_params(s, p, k->x);
	k->status = p.checkpoint == DP_CHECKPOINT_FINAL ? observation_status(t) : DP_OBSERVATION_OK;
	if (p.checkpoint != DP_CHECKPOINT_FINAL)
		k->checkpoint = dp_result_checkpoint_value(s, p);
	else if (observation_has_result(k))
		k->seconds = dp_trial_result_seconds(t);
	if (observation_has_result(k))
		load_result_values(s, p, k);
}

/* A training whose results are not known yet: its waypoints, then its own. */
static struct dp_observation *load_pending_trial(const struct dp_study_state *s,
						 const struct dp_trial *t, struct dp_observation *k)
{
	const struct dp_learning_curve *path = &s->spec->trainer.learning_curve;
	double at[DP_CHECKPOINTS_MAX];
	size_t n = dp_learning_curve_checkpoints(s->spec, t->x, at);

	for (size_t i = 0; i <= n; i++, k++) {
		clear_observation(k);
		k->trial = t->number;
		k->status = DP_OBSERVATION_PENDING;
		memcpy(k->x, t->x, s->spec->nparams * sizeof *t->x);
		if (path->points)
			k->x[path->param] = i < n ? at[i] : dp_learning_curve_end(s->spec, t->x);
		k->checkpoint = i < n ? at[i] : 0;
	}
	return k;
}

/* What a trial that has ended came to: its waypoints, whatever became of it, then its
 * own. */
static struct dp_observation *load_ended_trial(const struct dp_study_state *s,
					       const struct dp_trial *t, struct dp_observation *k)
{
	for (uint32_t w = 0; t->checkpoints && w < t->checkpoints->count; w++)
		if (dp_checkpoint_is_result(s, t->checkpoints, w))
			load_result(s, (struct dp_result_id){ t->number, (int32_t)w }, k++);
	load_result(s, (struct dp_result_id){ t->number, DP_CHECKPOINT_FINAL }, k++);
	return k;
}

static void load_imported_result(const struct dp_study_state *s,
				 const struct dp_imported_result *from, struct dp_observation *k)
{
	const struct dp_learning_curve *path = &s->spec->trainer.learning_curve;
	bool whole = true;

	memcpy(k->x, from->x, s->spec->nparams * sizeof *k->x);
	if (path->points)
		k->x[path->param] = dp_learning_curve_end(s->spec, from->x);
	clear_observation(k);
	for (size_t j = 0; j < s->spec->nobjectives; j++) {
		k->y[j] = from->objectives[j];
		whole &= isfinite(k->y[j]);
	}
	k->status = whole ? DP_OBSERVATION_OK : DP_OBSERVATION_DIVERGED;
}

static size_t count_observations_max(const struct dp_study_state *s)
{
	size_t n = (size_t)s->nimported + 1, most = (size_t)s->spec->trainer.learning_curve.points;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_checkpoints *checkpoints = s->trials[i]->checkpoints;

		n += 1 + (checkpoints && checkpoints->count > most ? checkpoints->count : most);
	}
	return n;
}

struct dp_observation *dp_history_load(const struct dp_study_state *s, bool for_proposal, size_t *n)
{
	struct dp_observation *known = dp_calloc(count_observations_max(s), sizeof *known),
			      *k = known;
	uint32_t window = for_proposal ? dp_policy_visible_trials(s) : s->ntrials;

	*n = 0;
	for (uint32_t i = 0; i < s->nimported; i++)
		load_imported_result(s, &s->imported[i], k++);
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		k = i >= window || t->status < DP_TRIAL_OK ? load_pending_trial(s, t, k)
							   : load_ended_trial(s, t, k);
	}
	*n = (size_t)(k - known);
	return known;
}

/* ---- for people ---- */

/* All results in the order of dp_history_load(), those of diverged trials too. */
struct results_list {
	struct dp_result_id *ids; /* (n) */
	size_t n, *first;         /* (ntrials + 1) where those of a trial begin */
};

static bool trial_has_objectives(const struct dp_trial *t)
{
	return t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED;
}

/* How many results a trial has. point: gets them, or NULL. */
static size_t list_trial_results(const struct dp_study_state *s, const struct dp_trial *t,
				 struct dp_result_id *point)
{
	size_t n = 0;

	for (uint32_t w = 0; t->checkpoints && w < t->checkpoints->count; w++) {
		if (!dp_checkpoint_is_result(s, t->checkpoints, w))
			continue;
		if (point)
			point[n] = (struct dp_result_id){ t->number, (int32_t)w };
		n++;
	}
	if (!trial_has_objectives(t))
		return n;
	if (point)
		point[n] = (struct dp_result_id){ t->number, DP_CHECKPOINT_FINAL };
	return n + 1;
}

size_t dp_history_count_results(const struct dp_study_state *s)
{
	size_t n = s->nimported;

	if (s->spec->trainer.learning_curve.points == 0)
		return n + s->ok + s->diverged;
	for (uint32_t i = 0; i < s->ntrials; i++)
		n += list_trial_results(s, s->trials[i], NULL);
	return n;
}

static void results_list_free(struct results_list *l)
{
	free(l->ids);
	free(l->first);
}

static bool results_list_new(const struct dp_study_state *s, struct results_list *l)
{
	l->n = 0;
	l->ids = dp_malloc((dp_history_count_results(s) + 1) * sizeof *l->ids);
	l->first = dp_malloc(((size_t)s->ntrials + 1) * sizeof *l->first);
	for (uint32_t i = 0; l->ids && l->first && i < s->ntrials; i++) {
		l->first[i] = l->n;
		l->n += list_trial_results(s, s->trials[i], l->ids + l->n);
	}
	return l->ids && l->first;
}

/* Where a result is in the list; it is there. */
static size_t result_list_find(const struct results_list *l, struct dp_result_id p)
{
	size_t i = l->first[p.trial];

	while (l->ids[i].checkpoint != p.checkpoint)
		i++;
	return i;
}

/* Does one of `steps` even steps through n things end at the i-th? */
static bool is_sampled_position(size_t i, size_t n, size_t steps)
{
	return steps >= n || i * steps / n != (i + 1) * steps / n;
}

/* Marks the results of the observed front that are taken; how many. */
static size_t mark_front_results(const struct dp_study_state *s, const struct results_list *l,
				 bool *taken)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->nfront; i++) {
		bool take = is_sampled_position(i, s->nfront, DP_HISTORY_SUBSET_MAX);

		taken[result_list_find(l, s->front[i])] = take;
		n += take;
	}
	return n;
}

/* place: where the results of the list are among those that are taken; -1: not there. */
static void fill_front_positions(const struct dp_study_state *s, const struct results_list *l,
				 const int64_t *place, struct dp_history_subset *out)
{
	for (uint32_t i = 0; i < s->nfront; i++) {
		int64_t at = place[result_list_find(l, s->front[i])];

		if (at >= 0)
			out->front[out->nfront++] = (size_t)at;
	}
}

static void load_marked_results(const struct dp_study_state *s, const struct results_list *l,
				const bool *taken, size_t steps, int64_t *place,
				struct dp_history_subset *out)
{
	size_t all = s->nimported + l->n, seen = 0;

	for (uint32_t i = 0; i < s->nimported; i++)
		if (is_sampled_position(seen++, all, steps))
			load_imported_result(s, &s->imported[i], &out->known[out->n++]);
	out->nimported = out->n;
	for (size_t i = 0; i < l->n; i++) {
		place[i] = -1;
		if (!(is_sampled_position(seen++, all, steps) || taken[i]))
			continue;
		place[i] = (int64_t)out->n;
		load_result(s, l->ids[i], &out->known[out->n++]);
	}
}

/* Fills the results from the list of all. */
static int fill_history_subset(const struct dp_study_state *s, const struct results_list *l,
			       struct dp_history_subset *out)
{
	size_t all = s->nimported + l->n, steps = all, of_front = 0;
	bool *taken = dp_calloc(l->n + 1, sizeof *taken);
	int64_t *place = dp_calloc(l->n + 1, sizeof *place);

	if (taken && place) {
		of_front = mark_front_results(s, l, taken);
		if (all > DP_HISTORY_SUBSET_MAX)
			steps = DP_HISTORY_SUBSET_MAX - of_front;
		out->known = dp_calloc(steps + of_front + 1, sizeof *out->known);
		out->front = dp_calloc(of_front + 1, sizeof *out->front);
	}
	if (out->known && out->front) {
		load_marked_results(s, l, taken, steps, place, out);
		fill_front_positions(s, l, place, out);
	}
	free(taken);
	free(place);
	return out->known && out->front ? DP_OK : DP_E_NOMEM;
}

int dp_history_subset_load(struct dp_study_state *s, struct dp_history_subset *out,
			   struct dp_err *err)
{
	struct results_list list;
	int code = dp_state_update_front(s, err);

	*out = (struct dp_history_subset){ 0 };
	if (code != DP_OK)
		return code;
	code = results_list_new(s, &list) ? fill_history_subset(s, &list, out) : DP_E_NOMEM;
	results_list_free(&list);
	if (code == DP_OK)
		return DP_OK;
	dp_history_subset_free(out);
	return dp_fail(err, code, "no memory for the results of a study");
}

void dp_history_subset_free(struct dp_history_subset *r)
{
	free(r->known);
	free(r->front);
	*r = (struct dp_history_subset){ 0 };
}
