/* loo_diagnostics.c - judges surrogates by leave-one-out predictions of results. */
#include "optimize/recommend/recommend_internal.h"

#include "base/t_distribution.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NEIGHBOURS_MAX = 16, /* nearest results of a point that are used */
	NEIGHBOURS_MIN = 5   /* fewer cannot judge a model */
};
/* Fewer than 13 of 16 results are within their 95 % intervals with probability 0.01. */
static const double min_coverage = 0.8;
/* Posterior over prior variance: above it, the model knows too little of a point. */
static const double max_variance_share = 0.5;

/* Result i in model space: the observed value and its leave-one-out prediction. */
struct loo_result {
	double observed;
	struct dp__normal prediction;
};

static int compute_loo_predictions(const struct dp_proposer *p, size_t o, struct loo_result *out)
{
	const struct dp__surrogate_output *model = &p->output[o];
	size_t n = p->n_observed;
	double *missed = dp_vec_new(n), *variance = dp_vec_new(n);
	int code = dp_gp_leave_one_out(&model->gp, missed, variance);

	for (size_t i = 0; i < n && code == DP_OK; i++) {
		out[i].observed = model->shift + model->scale * model->y[i];
		out[i].prediction.mean = out[i].observed - model->scale * missed[i];
		out[i].prediction.sd = model->scale * sqrt(variance[i]);
	}
	free(missed);
	free(variance);
	return code;
}

/* ---- all results ---- */

int dp_surrogate_leave_one_out(struct dp_proposer *p, size_t o, struct dp_loo_prediction *out,
			       size_t *count, struct dp_err *err)
{
	const struct dp_history *h = p->history;
	struct loo_result *all;
	size_t seen = 0;
	int code;

	*count = 0;
	if (!h || o >= p->n_outputs || !dp__output_is_modelled(&p->output[o]) ||
	    p->output[o].gp.n != p->n_observed)
		return dp_fail(err, DP_E_FAILED, "there is no model of results alone");
	all = dp_calloc(p->n_observed + 1, sizeof *all);
	code = compute_loo_predictions(p, o, all);
	for (size_t i = 0; i < h->n && code == DP_OK; i++) {
		const struct dp_observation *k = &h->observations[i];
		struct dp_loo_prediction *one = &out[*count];

		if (!dp__observation_is_informative(k) || !dp__observation_is_modelled(p, k))
			continue;
		one->observation = i;
		one->observed_in_model = all[seen].observed;
		one->predicted = dp__predict_to_natural(p->study, o, &all[seen++].prediction);
		one->observed =
			o < p->study->nobjectives ? k->y[o] : k->metrics[o - p->study->nobjectives];
		*count += k->status == DP_OBSERVATION_OK;
	}
	free(all);
	return code == DP_OK ? DP_OK : dp_fail(err, code, "the model's covariance is singular");
}

/* ---- results near a point ---- */

/* Finds the nearest ok results, at most NEIGHBOURS_MAX. Distances are in length scales of the
 * model, so that inputs without effect do not count. */
static size_t find_neighbours(const struct dp_proposer *p, size_t o, const double *u,
			      struct dp__result_distance *list)
{
	const double *length = p->output[o].hyper.length;
	size_t n = 0;

	for (size_t i = 0; i < p->n_observed; i++) {
		double away = 0;

		if (p->observed[i].status != DP_OBSERVATION_OK)
			continue;
		for (size_t k = 0; k < p->spec.d; k++) {
			double apart = p->u[k * p->ldu + i] - u[k];

			if (p->spec.input[k].categorical)
				apart = apart != 0;
			away += apart * apart / (length[k] * length[k]);
		}
		list[n++] = (struct dp__result_distance){ away, i };
	}
	qsort(list, n, sizeof *list, dp__compare_result_distance);
	return n < NEIGHBOURS_MAX ? n : NEIGHBOURS_MAX;
}

static void decide_trust(struct dp_model_trust *t, size_t within, double unknown)
{
	t->is_trusted = false;
	if (t->n_neighbours < NEIGHBOURS_MIN)
		snprintf(t->reason, sizeof t->reason, "only %zu result%s known", t->n_neighbours,
			 t->n_neighbours == 1 ? " is" : "s are");
	else if (unknown > max_variance_share)
		snprintf(t->reason, sizeof t->reason,
			 "nothing was tested near it: there the model knows little");
	else if (t->coverage < min_coverage)
		snprintf(t->reason, sizeof t->reason,
			 "of the %zu results nearest to it only %zu are where the model "
			 "would have expected them",
			 t->n_neighbours, within);
	else
		t->is_trusted = true;
}

int dp__model_trust_at(struct dp_proposer *p, const double *u, struct dp_model_trust *t)
{
	size_t o = t->output, within = 0;
	struct dp__result_distance *near;
	struct loo_result *all;
	double sum = 0, mean, variance;
	int code;

	t->is_trusted = true;
	if (!dp__output_is_modelled(&p->output[o]))
		return DP_OK;
	near = dp_calloc(p->n_observed + 1, sizeof *near);
	all = dp_calloc(p->n_observed + 1, sizeof *all);
	code = compute_loo_predictions(p, o, all);
	dp__predict_reserve(p, 1);
	if (code == DP_OK)
		t->n_neighbours = find_neighbours(p, o, u, near);
	for (size_t i = 0; i < t->n_neighbours && code == DP_OK; i++) {
		const struct loo_result *one = &all[near[i].result];
		struct dp__normal real = { one->observed, 0 };
		double miss = dp__predict_to_natural(p->study, o, &real).value -
			      dp__predict_to_natural(p->study, o, &one->prediction).value;

		sum += miss * miss / (double)t->n_neighbours;
		within += fabs(one->observed - one->prediction.mean) <=
			  DP_NORMAL_CRITICAL_95 * one->prediction.sd;
	}
	if (code == DP_OK) {
		t->rms_error = sqrt(sum);
		t->coverage = t->n_neighbours ? (double)within / (double)t->n_neighbours : 0;
		dp_gp_predict(&p->output[o].gp, u, 1, 1, &mean, &variance, p->work);
		decide_trust(t, within, variance / p->output[o].gp.hyper.signal);
	}
	free(near);
	free(all);
	return code;
}
