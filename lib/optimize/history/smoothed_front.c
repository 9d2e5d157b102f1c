/* smoothed_front.c - computes the smoothed front of a study. */
#include "optimize/history/smoothed_front.h"

#include "base/json.h"
#include "optimize/pareto/pareto.h"
#include "state/state_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp_smoothed_front_free(struct dp_smoothed_front *d)
{
	free(d->result_index);
	free(d->y);
	free(d->lo);
	free(d->hi);
	*d = (struct dp_smoothed_front){ 0 };
}

struct candidate_setting {
	const double *x;
	size_t n, index;
};

static int compare_coordinates(const struct candidate_setting *u, const struct candidate_setting *v)
{
	for (size_t k = 0; k < u->n; k++)
		if (u->x[k] != v->x[k])
			return u->x[k] < v->x[k] ? -1 : 1;
	return 0;
}

static int compare_settings(const void *a, const void *b)
{
	const struct candidate_setting *u = a, *v = b;
	int order = compare_coordinates(u, v);

	return order ? order : u->index < v->index ? -1 : 1;
}

/* A copy of the observations in which only candidates for the front are ok. Imported results,
 * infeasible ones, and all but the first trial with equal parameters (their posteriors differ only
 * by rounding) become diverged. They stay results, so that the models do not change. */
static struct dp_observation *select_front_candidates(const struct dp_study *study,
						      const struct dp_history_subset *r)
{
	struct dp_observation *known = dp_malloc((r->n + 1) * sizeof *known);
	struct candidate_setting *settings = dp_malloc((r->n + 1) * sizeof *settings);
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		known[i] = r->known[i];
		if (i >= r->nimported && known[i].status == DP_OBSERVATION_OK &&
		    dp_observation_is_feasible(study, &known[i]))
			settings[n++] =
				(struct candidate_setting){ r->known[i].x, study->nparams, i };
		else
			known[i].status = DP_OBSERVATION_DIVERGED;
	}
	qsort(settings, n, sizeof *settings, compare_settings);
	for (size_t i = 1; i < n; i++)
		if (compare_coordinates(&settings[i - 1], &settings[i]) == 0)
			known[settings[i].index].status = DP_OBSERVATION_DIVERGED;
	free(settings);
	return known;
}

/* Stores all candidates and their posterior means in d, including dominated ones. */
static void load_modelled_values(struct dp_proposer *p, const struct dp_study *study,
				 const struct dp_history_subset *r, struct dp_smoothed_front *d)
{
	struct dp_observation *known = select_front_candidates(study, r);
	struct dp_history h = { .observations = known, .n = r->n };
	size_t m = study->nobjectives;

	d->n = dp_surrogate_posterior_front(p, &h, d->result_index, d->y);
	for (size_t i = 0; i < d->n * m; i++)
		if (study->objectives[i % m].privacy) /* computed: no model needed */
			d->y[i] = r->known[d->result_index[i / m]].y[i % m];
	d->is_modelled = true;
	free(known);
}

static void load_observed_values(const struct dp_study *study, const struct dp_history_subset *r,
				 struct dp_smoothed_front *d)
{
	size_t m = study->nobjectives;

	for (size_t i = 0; i < r->nfront; i++) {
		d->result_index[i] = r->front[i];
		memcpy(d->y + i * m, r->known[r->front[i]].y, m * sizeof *d->y);
	}
	d->n = r->nfront;
}

/* Removes dominated points and sorts the others in the contract's order. */
static void smoothed_front_drop_dominated(const struct dp_study *study, struct dp_smoothed_front *d)
{
	size_t m = study->nobjectives, *front = dp_malloc((d->n + 1) * sizeof *front), n;
	size_t *index = dp_malloc((d->n + 1) * sizeof *index);
	double *rows = dp_malloc((d->n * m + 1) * sizeof *rows), *y;

	memcpy(rows, d->y, d->n * m * sizeof *rows);
	n = dp_study_find_front(study, rows, d->n, d->result_index, front, &d->hypervolume);
	y = dp_malloc((n * m + 1) * sizeof *y);
	for (size_t i = 0; i < n; i++) {
		index[i] = d->result_index[front[i]];
		memcpy(y + i * m, d->y + front[i] * m, m * sizeof *y);
	}
	free(d->result_index);
	free(d->y);
	free(rows);
	free(front);
	d->result_index = index;
	d->y = y;
	d->n = n;
}

static void predict_intervals(struct dp_proposer *p, const struct dp_study *study,
			      const struct dp_history_subset *r, struct dp_smoothed_front *d)
{
	size_t m = study->nobjectives, nx = study->nparams, values = d->n * m;
	double *x = dp_malloc((d->n * nx + 1) * sizeof *x);
	struct dp_prediction *predicted = dp_malloc((values + 1) * sizeof *predicted);

	d->lo = dp_malloc((values + 1) * sizeof *d->lo);
	d->hi = dp_malloc((values + 1) * sizeof *d->hi);
	for (size_t i = 0; i < d->n; i++)
		memcpy(x + i * nx, r->known[d->result_index[i]].x, nx * sizeof *x);
	dp_surrogate_predict(p, x, d->n, predicted, NULL, NULL);
	for (size_t i = 0; i < values; i++) {
		bool computed = study->objectives[i % m].privacy != NULL;

		d->lo[i] = computed ? d->y[i] : fmin(predicted[i].lo, d->y[i]);
		d->hi[i] = computed ? d->y[i] : fmax(predicted[i].hi, d->y[i]);
	}
	free(x);
	free(predicted);
}

int dp_smoothed_front_compute(struct dp_proposer *p, const struct dp_study *study,
			      const struct dp_history_subset *r, const atomic_bool *cancel,
			      struct dp_smoothed_front *out, struct dp_err *err)
{
	struct dp_history h = { .observations = r->known, .n = r->n };
	int code;

	*out = (struct dp_smoothed_front){ 0 };
	out->result_index = dp_malloc((r->n + 1) * sizeof *out->result_index);
	out->y = dp_malloc((r->n * study->nobjectives + 1) * sizeof *out->y);
	code = dp_surrogate_fit(p, &h, cancel, err);
	if (code == DP_OK) {
		load_modelled_values(p, study, r, out);
	} else if (code == DP_E_FAILED) { /* too few results */
		load_observed_values(study, r, out);
	} else {
		dp_smoothed_front_free(out);
		return code;
	}
	smoothed_front_drop_dominated(study, out);
	if (out->is_modelled)
		predict_intervals(p, study, r, out);
	return DP_OK;
}

json_t *dp_smoothed_front_json(const struct dp_study *study, const struct dp_history_subset *r,
			       const struct dp_smoothed_front *d)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct dp_observation *k = &r->known[d->result_index[i]];
		size_t from = i * study->nobjectives;
		json_t *row = dp_front_row_json(
			study, k->trial, k->checkpoint > 0 ? k->checkpoint : NAN, k->x,
			(uint32_t)study->trainer.runs, k->y, k->var, json_null());

		json_object_set_new(row, "denoised", dp_objectives_json(study, d->y + from));
		json_object_set_new(row, "denoised_low",
				    dp_objectives_json(study, d->lo ? d->lo + from : NULL));
		json_object_set_new(row, "denoised_high",
				    dp_objectives_json(study, d->hi ? d->hi + from : NULL));
		json_array_append_new(rows, row);
	}
	return rows;
}
