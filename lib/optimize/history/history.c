/* history.c - converts a study's results into the observations that proposers take. */
#include "optimize/history/history.h"

#include "policy/policy.h"
#include "study/learning_curve.h"

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

/* Observations of a trial without results: its checkpoints, then its final result. */
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

/* Results of an ended trial: its checkpoints, whatever its outcome, then its final result. */
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

size_t dp_history_count_results(const struct dp_study_state *s)
{
	size_t n = s->nimported;

	if (s->spec->trainer.learning_curve.points == 0)
		return n + s->ok + s->diverged;
	for (uint32_t i = 0; i < s->ntrials; i++)
		n += dp_trial_list_results(s, s->trials[i], true, NULL);
	return n;
}

/* True if one of `steps` even steps through n items ends at item i. */
static bool is_sampled_position(size_t i, size_t n, size_t steps)
{
	return steps >= n || i * steps / n != (i + 1) * steps / n;
}

/* Whether a result is in the subset, and its position there. */
struct subset_candidate {
	bool is_taken;
	size_t position;
};

struct dp_history_subset dp_history_subset_load(struct dp_study_state *s)
{
	size_t all = dp_history_count_results(s), steps = all, own = 0, of_front = 0, seen = 0;
	struct dp_result_id *ids = dp_malloc((all + 1) * sizeof *ids);
	struct subset_candidate *list = dp_calloc(all + 1, sizeof *list), **front;
	size_t *first = dp_malloc(((size_t)s->ntrials + 1) * sizeof *first);
	struct dp_history_subset out = { 0 };

	dp_state_update_front(s);
	for (uint32_t i = 0; i < s->ntrials; i++) {
		first[i] = own;
		own += dp_trial_list_results(s, s->trials[i], true, ids + own);
	}
	/* take the front, or a sample if it is too large */
	front = dp_malloc((s->nfront + 1) * sizeof *front);
	for (uint32_t i = 0; i < s->nfront; i++) {
		size_t k = first[s->front[i].trial];

		while (ids[k].checkpoint != s->front[i].checkpoint)
			k++;
		front[i] = &list[k];
		front[i]->is_taken = is_sampled_position(i, s->nfront, DP_HISTORY_SUBSET_MAX);
		of_front += front[i]->is_taken;
	}
	if (all > DP_HISTORY_SUBSET_MAX)
		steps = DP_HISTORY_SUBSET_MAX - of_front;
	out.known = dp_calloc(steps + of_front + 1, sizeof *out.known);
	out.ids = dp_calloc(steps + of_front + 1, sizeof *out.ids);
	out.front = dp_calloc(of_front + 1, sizeof *out.front);
	for (uint32_t i = 0; i < s->nimported; i++)
		if (is_sampled_position(seen++, all, steps))
			load_imported_result(s, &s->imported[i], &out.known[out.n++]);
	out.nimported = out.n;
	for (size_t i = 0; i < own; i++) {
		list[i].is_taken |= is_sampled_position(seen++, all, steps);
		if (!list[i].is_taken)
			continue;
		list[i].position = out.n;
		out.ids[out.n] = ids[i];
		load_result(s, ids[i], &out.known[out.n++]);
	}
	for (uint32_t i = 0; i < s->nfront; i++)
		if (front[i]->is_taken)
			out.front[out.nfront++] = front[i]->position;
	free(ids);
	free(list);
	free(first);
	free(front);
	return out;
}

void dp_history_subset_free(struct dp_history_subset *r)
{
	free(r->known);
	free(r->ids);
	free(r->front);
	*r = (struct dp_history_subset){ 0 };
}
