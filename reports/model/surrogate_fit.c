/* surrogate_fit.c - assess model quality and parameter importance for a report. */
#include "reports/model/report_model.h"

#include "optimize/recommend/recommend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	MIN_FIT_RESULTS = 5 /* results needed to assess a model */
};
/* A correct model covers 95% of the results. One that explains less than half of the variance is
 * too uncertain to plot. */
static const double min_coverage = 0.8, min_variance_explained = 0.5;

static void compute_fit_quality(const struct dp_loo_prediction *all, size_t n,
				struct surrogate_fit *fit)
{
	double mean = 0, varied = 0, missed = 0, squares = 0, within = 0;

	fit->min_observed = INFINITY;
	fit->max_observed = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		mean += all[i].observed_in_model / (double)n;
		fit->min_observed = fmin(fit->min_observed, all[i].observed);
		fit->max_observed = fmax(fit->max_observed, all[i].observed);
	}
	for (size_t i = 0; i < n; i++) {
		double miss = all[i].observed_in_model - all[i].predicted.model_mean;

		varied += (all[i].observed_in_model - mean) * (all[i].observed_in_model - mean);
		missed += miss * miss;
		squares += pow(all[i].observed - all[i].predicted.value, 2);
		within += fabs(miss) <= 1.959964 * all[i].predicted.model_sd;
	}
	fit->n_left_out = n;
	fit->coverage = n ? within / (double)n : 0;
	fit->rmse = n ? sqrt(squares / (double)n) : 0;
	/* constant values: the mean explains them */
	fit->variance_explained = varied > 0 ? 1 - missed / varied : 1;
}

static void classify_fit(const char *name, struct surrogate_fit *fit)
{
	double within = rint(fit->coverage * (double)fit->n_left_out);

	fit->trusted = false;
	if (fit->n_left_out < MIN_FIT_RESULTS)
		snprintf(fit->reason, sizeof fit->reason,
			 "the model of %s has only %zu result%s to go by", name, fit->n_left_out,
			 fit->n_left_out == 1 ? "" : "s");
	else if (fit->coverage < min_coverage)
		snprintf(fit->reason, sizeof fit->reason,
			 "the model of %s is not to be trusted: each left out once, only "
			 "%.0f of %zu results are within its 95 %% intervals",
			 name, within, fit->n_left_out);
	else if (fit->variance_explained < min_variance_explained)
		snprintf(fit->reason, sizeof fit->reason,
			 "the model of %s is not to be trusted: of results that it does "
			 "not know it explains %.0f %% of what varies",
			 name, 100 * fmax(fit->variance_explained, 0));
	else
		fit->trusted = true;
}

static int assess_surrogate(const struct study_data *s, size_t objective, struct surrogate_fit *fit,
			    struct dp_err *err)
{
	struct dp_loo_prediction *all = dp_calloc(s->history.n + 1, sizeof *all);
	size_t n;
	int code = dp_surrogate_leave_one_out(s->surrogates, objective, all, &n, err);

	*fit = (struct surrogate_fit){ .has_model = code == DP_OK };
	if (code == DP_OK) {
		compute_fit_quality(all, n, fit);
		classify_fit(s->state->spec->objectives[objective].name, fit);
	}
	free(all);
	return code == DP_E_FAILED ? DP_OK : code; /* no model */
}

bool study_data_trusts_surrogate(const struct study_data *s, size_t objective)
{
	return s->surrogates && (!s->fit[objective].has_model || s->fit[objective].trusted);
}

const struct surrogate_fit *study_data_find_untrusted(const struct study_data *s)
{
	if (!s->surrogates)
		return NULL;
	if (!study_data_trusts_surrogate(s, s->x_obj))
		return &s->fit[s->x_obj];
	return study_data_trusts_surrogate(s, s->y_obj) ? NULL : &s->fit[s->y_obj];
}

static double sum_total_indices(const struct study_data *s, size_t param)
{
	double sum = 0;

	for (size_t k = 0; k < s->state->spec->nobjectives; k++)
		if (s->importance[k].source != DP_IMPORTANCE_UNKNOWN)
			sum += s->importance[k].total_order[param];
	return sum;
}

/* Stable: equal parameters keep the order of the file. */
static void rank_parameters(struct study_data *s)
{
	s->nranked = 0;
	for (size_t i = 0; i < s->state->spec->nparams; i++) {
		enum dp_param_kind kind = s->state->spec->params[i].kind;
		size_t to = s->nranked;

		if (kind == DP_PARAM_FIXED || kind == DP_PARAM_CALIBRATED)
			continue;
		for (; to > 0 && sum_total_indices(s, s->ranking[to - 1]) < sum_total_indices(s, i);
		     to--)
			s->ranking[to] = s->ranking[to - 1];
		s->ranking[to] = i;
		s->nranked++;
	}
}

int study_data_assess_surrogates(struct study_data *s, struct dp_err *err)
{
	struct dp_proposer *p;
	int code = DP_OK;

	for (size_t k = 0; s->surrogates && k < s->state->spec->nobjectives && code == DP_OK; k++)
		code = assess_surrogate(s, k, &s->fit[k], err);
	if (code != DP_OK)
		return code;
	p = s->surrogates ? s->surrogates : dp_proposer_new(s->state->spec);
	for (size_t k = 0; k < s->state->spec->nobjectives; k++) {
		dp_surrogate_importance(p, k, &s->importance[k]);
		if (s->importance[k].source == DP_IMPORTANCE_MODELLED &&
		    !study_data_trusts_surrogate(s, k))
			s->importance[k].source = DP_IMPORTANCE_UNKNOWN;
	}
	if (!s->surrogates)
		dp_proposer_free(p);
	rank_parameters(s);
	return DP_OK;
}

json_t *surrogates_json(const struct study_data *s)
{
	json_t *list = json_array();

	for (size_t k = 0; k < s->state->spec->nobjectives; k++) {
		const struct surrogate_fit *fit = &s->fit[k];
		json_t *o;

		if (!fit->has_model)
			continue;
		o = json_object();
		put_text(o, "objective", s->state->spec->objectives[k].name);
		put_count(o, "results", (int64_t)fit->n_left_out);
		put_number(o, "coverage", fit->coverage);
		put_number(o, "explained", fit->variance_explained);
		put_number(o, "error", fit->rmse);
		put_bool(o, "trusted", fit->trusted);
		put_text(o, "why", fit->trusted ? NULL : fit->reason);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *importance_json(const struct study_data *s)
{
	const struct dp_study *spec = s->state->spec;
	json_t *ranking = json_array(), *objectives = json_array();

	for (size_t k = 0; k < s->nranked; k++)
		json_array_append_new(ranking, json_string(spec->params[s->ranking[k]].name));
	for (size_t k = 0; k < spec->nobjectives; k++) {
		const struct dp_importance *importance = &s->importance[k];
		json_t *o, *parameters;

		if (importance->source == DP_IMPORTANCE_UNKNOWN)
			continue;
		parameters = json_array();
		for (size_t i = 0; i < s->nranked; i++) {
			size_t param = s->ranking[i];

			o = json_object();
			put_text(o, "parameter", spec->params[param].name);
			put_number(o, "first", importance->first_order[param]);
			put_number(o, "total", importance->total_order[param]);
			json_array_append_new(parameters, o);
		}
		o = json_object();
		put_text(o, "objective", spec->objectives[k].name);
		put_text(o, "source",
			 importance->source == DP_IMPORTANCE_COMPUTED ? "oracle" : "model");
		put_json(o, "parameters", parameters);
		json_array_append_new(objectives, o);
	}
	return json_pack("{s:o, s:o}", "ranking", ranking, "objectives", objectives);
}
