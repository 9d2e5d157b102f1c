/* smoothed_front.c - the front of a study by what models make of its results. */
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

static int smoothed_front_fail_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for the denoised front");
}

/* ---- who may stand on the front ---- */

struct candidate_setting {
	const double *x;
	size_t n, index;
};

static int compare_settings(const void *a, const void *b)
{
	const struct candidate_setting *u = a, *v = b;

	for (size_t k = 0; k < u->n; k++)
		if (u->x[k] != v->x[k])
			return u->x[k] < v->x[k] ? -1 : 1;
	return u->index < v->index ? -1 : 1;
}

static bool is_same_setting(const struct candidate_setting *a, const struct candidate_setting *b)
{
	for (size_t k = 0; k < a->n; k++)
		if (a->x[k] != b->x[k])
			return false;
	return true;
}

/* Does the result have a place of its own on a front of trials? */
static bool is_candidate(const struct dp_study *study, const struct dp_history_subset *r, size_t i)
{
	return i >= r->nimported && r->known[i].status == DP_OBSERVATION_OK &&
	       dp_observation_is_feasible(study, &r->known[i]);
}

/* The results with only those still ok that are asked for: not what is another study's or
 * breaks a constraint, and of trials at one place, whose posterior differs by nothing but
 * rounding, only the first. The others stay results, so that the models see the same. */
static struct dp_observation *select_front_candidates(const struct dp_study *study,
						      const struct dp_history_subset *r)
{
	struct dp_observation *known = dp_malloc((r->n + 1) * sizeof *known);
	struct candidate_setting *places = dp_malloc((r->n + 1) * sizeof *places);
	size_t n = 0;

	for (size_t i = 0; known && places && i < r->n; i++) {
		known[i] = r->known[i];
		if (is_candidate(study, r, i))
			places[n++] =
				(struct candidate_setting){ r->known[i].x, study->nparams, i };
		else
			known[i].status = DP_OBSERVATION_DIVERGED;
	}
	if (known && places)
		qsort(places, n, sizeof *places, compare_settings);
	for (size_t i = 1; known && places && i < n; i++)
		if (is_same_setting(&places[i - 1], &places[i]))
			known[places[i].index].status = DP_OBSERVATION_DIVERGED;
	if (!places) {
		free(known);
		known = NULL;
	}
	free(places);
	return known;
}

/* ---- their values ---- */

/* What is computed from the point needs no model. */
static void restore_computed(const struct dp_study *study, const struct dp_observation *k,
			     double *y)
{
	for (size_t j = 0; j < study->nobjectives; j++)
		if (study->objectives[j].privacy)
			y[j] = k->y[j];
}

static int smoothed_front_from_models(struct dp_proposer *p, const struct dp_study *study,
				      const struct dp_history_subset *r,
				      struct dp_smoothed_front *out, struct dp_err *err)
{
	struct dp_observation *known = select_front_candidates(study, r);
	struct dp_history h = { .observations = known, .n = r->n };
	int code;

	if (!known)
		return smoothed_front_fail_nomem(err);
	code = dp_surrogate_posterior_front(p, &h, out->result_index, out->y, &out->n, err);
	for (size_t i = 0; code == DP_OK && i < out->n; i++)
		restore_computed(study, &r->known[out->result_index[i]],
				 out->y + i * study->nobjectives);
	out->is_modelled = true;
	free(known);
	return code;
}

static void smoothed_front_as_observed(const struct dp_study *study,
				       const struct dp_history_subset *r,
				       struct dp_smoothed_front *out)
{
	size_t p = study->nobjectives;

	for (size_t i = 0; i < r->nfront; i++) {
		out->result_index[i] = r->front[i];
		memcpy(out->y + i * p, r->known[r->front[i]].y, p * sizeof *out->y);
	}
	out->n = r->nfront;
}

/* ---- the front of these ---- */

/* The first objective, the best first, then the order of the results. */
static bool comes_before(const struct dp_study *study, const struct dp_smoothed_front *d, size_t a,
			 size_t b)
{
	double u = d->y[a * study->nobjectives], v = d->y[b * study->nobjectives];

	if (u != v)
		return study->objectives[0].maximize ? u > v : u < v;
	return d->result_index[a] < d->result_index[b];
}

/* Rows as the front library takes them, and the reference point. */
static double *rows_to_minimize(const struct dp_study *study, const struct dp_smoothed_front *d,
				double *ref)
{
	size_t p = study->nobjectives;
	double *rows = dp_malloc((d->n * p + 1) * sizeof *rows);

	for (size_t j = 0; rows && j < p; j++) {
		double sign = study->objectives[j].maximize ? -1 : 1;

		ref[j] = sign * study->objectives[j].anti_ideal;
		for (size_t i = 0; i < d->n; i++)
			rows[i * p + j] = sign * d->y[i * p + j];
	}
	return rows;
}

/* Puts the points in `order` (n of them) in the place of all. */
static int smoothed_front_keep_points(const struct dp_study *study, struct dp_smoothed_front *d,
				      const size_t *order, size_t n)
{
	size_t p = study->nobjectives;
	size_t *index = dp_malloc((n + 1) * sizeof *index);
	double *y = dp_malloc((n * p + 1) * sizeof *y);

	for (size_t i = 0; index && y && i < n; i++) {
		index[i] = d->result_index[order[i]];
		memcpy(y + i * p, d->y + order[i] * p, p * sizeof *y);
	}
	if (!index || !y) {
		free(index);
		free(y);
		return DP_E_NOMEM;
	}
	free(d->result_index);
	free(d->y);
	d->result_index = index;
	d->y = y;
	d->n = n;
	return DP_OK;
}

/* Leaves those that no other dominates, in the contract's order. */
static int smoothed_front_drop_dominated(const struct dp_study *study, struct dp_smoothed_front *d,
					 struct dp_err *err)
{
	double ref[DP_OBJECTIVES_MAX], *rows = rows_to_minimize(study, d, ref);
	size_t *front = dp_malloc((d->n + 1) * sizeof *front), n = 0;
	int code = rows && front ? DP_OK : DP_E_NOMEM;

	if (code == DP_OK)
		code = dp_pareto_find_front(rows, d->n, study->nobjectives, front, &n);
	if (code == DP_OK)
		code = dp_hypervolume(rows, d->n, study->nobjectives, ref, &d->hypervolume);
	for (size_t i = 1; code == DP_OK && i < n; i++)
		for (size_t k = i; k > 0 && comes_before(study, d, front[k], front[k - 1]); k--) {
			size_t t = front[k];

			front[k] = front[k - 1];
			front[k - 1] = t;
		}
	if (code == DP_OK)
		code = smoothed_front_keep_points(study, d, front, n);
	free(rows);
	free(front);
	return code == DP_OK ? DP_OK : smoothed_front_fail_nomem(err);
}

/* ---- how sure that is ---- */

/* Where the models say that the values of the front lie; x and said have room for it. */
static int predict_front_intervals(struct dp_proposer *p, const struct dp_study *study,
				   const struct dp_history_subset *r, struct dp_smoothed_front *d,
				   double *x, struct dp_prediction *said, struct dp_err *err)
{
	size_t m = study->nobjectives, nx = study->nparams;
	int code;

	for (size_t i = 0; i < d->n; i++)
		memcpy(x + i * nx, r->known[d->result_index[i]].x, nx * sizeof *x);
	code = dp_surrogate_predict(p, x, d->n, said, NULL, NULL, err);
	for (size_t i = 0; code == DP_OK && i < d->n * m; i++) {
		bool computed = study->objectives[i % m].privacy != NULL;

		d->lo[i] = computed ? d->y[i] : fmin(said[i].lo, d->y[i]);
		d->hi[i] = computed ? d->y[i] : fmax(said[i].hi, d->y[i]);
	}
	return code;
}

static int smoothed_front_add_intervals(struct dp_proposer *p, const struct dp_study *study,
					const struct dp_history_subset *r,
					struct dp_smoothed_front *d, struct dp_err *err)
{
	size_t values = d->n * study->nobjectives + 1;
	double *x = dp_malloc((d->n * study->nparams + 1) * sizeof *x);
	struct dp_prediction *said = dp_malloc(values * sizeof *said);
	int code;

	d->lo = dp_malloc(values * sizeof *d->lo);
	d->hi = dp_malloc(values * sizeof *d->hi);
	code = x && said && d->lo && d->hi ? predict_front_intervals(p, study, r, d, x, said, err)
					   : smoothed_front_fail_nomem(err);
	free(x);
	free(said);
	return code;
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
	code = out->result_index && out->y ? dp_surrogate_fit(p, &h, cancel, err)
					   : smoothed_front_fail_nomem(err);
	if (code == DP_OK) {
		code = smoothed_front_from_models(p, study, r, out, err);
	} else if (code == DP_E_FAILED) { /* too little is known */
		smoothed_front_as_observed(study, r, out);
		code = DP_OK;
	}
	if (code == DP_OK)
		code = smoothed_front_drop_dominated(study, out, err);
	if (code == DP_OK && out->is_modelled)
		code = smoothed_front_add_intervals(p, study, r, out, err);
	if (code != DP_OK)
		dp_smoothed_front_free(out);
	return code;
}

/* ---- as JSON ---- */

/* Null for no values. */
static json_t *smoothed_values_json(const struct dp_study *study, const double *y)
{
	json_t *o = y ? json_object() : json_null();

	for (size_t j = 0; y && o && j < study->nobjectives; j++)
		if (json_object_set_new(o, study->objectives[j].name, dp_json_real(y[j])) != 0) {
			json_decref(o);
			o = NULL;
		}
	return o;
}

static json_t *smoothed_row_json(const struct dp_study *study, const struct dp_observation *k,
				 const struct dp_smoothed_front *d, size_t i)
{
	double at = k->checkpoint > 0 ? k->checkpoint : NAN;
	size_t from = i * study->nobjectives;

	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:n, s:o, s:o, s:o}", "trial",
			 (json_int_t)k->trial, "at", dp_checkpoint_value_json(at), "parameters",
			 dp_space_to_json_at(study, k->x, at), "objectives",
			 smoothed_values_json(study, k->y), "spread",
			 dp_spread_json(study, (uint32_t)study->trainer.runs, k->y, k->var),
			 "remeasured", "denoised", smoothed_values_json(study, d->y + from),
			 "denoised_low", smoothed_values_json(study, d->lo ? d->lo + from : NULL),
			 "denoised_high", smoothed_values_json(study, d->hi ? d->hi + from : NULL));
}

json_t *dp_smoothed_front_json(const struct dp_study *study, const struct dp_history_subset *r,
			       const struct dp_smoothed_front *d)
{
	json_t *rows = json_array();

	for (size_t i = 0; rows && i < d->n; i++) {
		json_t *row = smoothed_row_json(study, &r->known[d->result_index[i]], d, i);

		if (json_array_append_new(rows, row) != 0) {
			json_decref(rows);
			rows = NULL;
		}
	}
	return rows;
}
