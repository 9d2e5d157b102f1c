/* study_data.c - load the results and models of one study for a report. */
#include "reports/model/study_data.h"

#include "base/units.h"
#include "study/accounting.h"
#include "study/metric_release.h"
#include "study/objective.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Computes the smoothed front. The caller owns *models. */
static int load_smoothed_front(struct study_data *s, struct dp_proposer **models,
			       struct dp_err *err)
{
	int code;

	s->results = dp_history_subset_load(s->state);
	*models = dp_proposer_new(s->state->spec);
	code = dp_smoothed_front_compute(*models, s->state->spec, &s->results, NULL, &s->smoothed,
					 err);
	s->uses_smoothed_front = code == DP_OK && dp_study_uses_smoothed_front(s->state->spec);
	return code;
}

static int fit_study_surrogates(struct study_data *s, struct dp_err *err)
{
	struct dp_err why;
	int code = load_smoothed_front(s, &s->surrogates, err);

	if (code != DP_OK)
		return code;
	s->history = (struct dp_history){ .observations = s->results.known, .n = s->results.n };
	if (dp_surrogate_fit(s->surrogates, &s->history, NULL, &why) ==
	    DP_OK) /* for the figures: the models are fitted now */
		return DP_OK;
	snprintf(s->no_surrogates_reason, sizeof s->no_surrogates_reason, "%.255s", why.msg);
	dp_proposer_free(s->surrogates);
	s->surrogates = NULL;
	return DP_OK;
}

size_t study_data_front_size(const struct study_data *s)
{
	return s->uses_smoothed_front ? s->smoothed.n : s->state->nfront;
}

struct dp_result_id study_data_model_result(const struct study_data *s, size_t i)
{
	/* an imported result has no checkpoint in this study */
	return i < s->results.nimported
		       ? (struct dp_result_id){ s->results.known[i].trial, DP_CHECKPOINT_FINAL }
		       : s->results.ids[i];
}

struct dp_result_id study_data_front_point(const struct study_data *s, size_t i)
{
	return s->uses_smoothed_front ? study_data_model_result(s, s->smoothed.result_index[i])
				      : s->state->front[i];
}

double study_data_front_value(const struct study_data *s, size_t i, size_t objective)
{
	return s->uses_smoothed_front
		       ? s->smoothed.y[i * s->state->spec->nobjectives + objective]
		       : dp_result_get_objectives(s->state, s->state->front[i])[objective];
}

/* Shares, such as an error rate, are shown in percent. */
static bool is_percent_objective(const struct study_data *s, size_t objective)
{
	static const char *const shares[] = { "accuracy",  "f1",     "auc",
					      "precision", "recall", "error_rate" };
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	bool percent = o->metric && (o->one_minus || strcmp(o->metric, "error") == 0);

	for (size_t i = 0; o->metric && i < DP_COUNT(shares); i++)
		percent |= strstr(o->metric, shares[i]) != NULL;
	for (size_t i = 0; percent && i < s->npoints; i++) {
		double v = dp_result_get_objectives(s->state, s->points[i])[objective];

		percent = !isfinite(v) || (v >= 0 && v <= 1);
	}
	return percent;
}

bool study_data_is_percent(const struct study_data *s, size_t objective)
{
	return s->is_percent[objective];
}

void study_data_load_results(struct study_data *s)
{
	s->points = dp_state_list_results(s->state, &s->npoints);
	for (size_t i = 0; i < s->state->spec->nobjectives; i++)
		s->is_percent[i] = is_percent_objective(s, i);
}

static void choose_shown_objectives(struct study_data *s)
{
	const struct dp_study *spec = s->state->spec;

	s->privacy_obj = s->utility_obj = -1;
	for (int i = (int)spec->nobjectives; i-- > 0;)
		*(spec->objectives[i].privacy ? &s->privacy_obj : &s->utility_obj) = i;
	s->x_obj = s->privacy_obj >= 0 && s->utility_obj >= 0 ? (size_t)s->privacy_obj : 0;
	s->y_obj = s->privacy_obj >= 0 && s->utility_obj >= 0 ? (size_t)s->utility_obj : 1;
}

int study_data_init(struct study_data *s, struct dp_public_state view, enum surrogate_detail detail,
		    struct dp_err *err)
{
	struct dp_proposer *models = NULL;
	int code = DP_OK;

	s->view = view;
	s->state = view.state;
	choose_shown_objectives(s);
	study_data_load_results(s);
	dp_state_update_front(s->state);
	if (detail == SURROGATES_ALL) {
		code = fit_study_surrogates(s, err);
		return code == DP_OK ? study_data_assess_surrogates(s, err) : code;
	}
	strcpy(s->no_surrogates_reason,
	       "models are shown of the study alone that a report is about");
	/* other studies need only their smoothed front */
	if (detail == SURROGATES_FRONT_ONLY)
		code = load_smoothed_front(s, &models, err);
	dp_proposer_free(models);
	return code;
}

const char *study_data_name(const struct study_data *s)
{
	return s->label ? s->label : s->state->spec->name;
}

void study_data_free(struct study_data *s)
{
	free(s->points);
	dp_proposer_free(s->surrogates);
	dp_history_subset_free(&s->results);
	dp_smoothed_front_free(&s->smoothed);
}

size_t study_data_count_trials(const struct study_data *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->npoints; i++)
		n += i == 0 || s->points[i].trial != s->points[i - 1].trial;
	return n;
}

void study_data_objective_label(const struct study_data *s, size_t objective, struct dp_buf *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	double delta = o->privacy ? dp_accounting_delta(o->privacy) : 0;
	char text[DP_NUM_LEN];

	dp_buf_puts(out, o->name);
	if (o->privacy && delta > 0)
		dp_buf_printf(out, " (δ = %s)", dp_num_text(delta, text));
	else if (o->metric && o->one_minus)
		dp_buf_printf(out, " (1 - %s)", o->metric);
	else if (o->metric && strcmp(o->metric, o->name) != 0)
		dp_buf_printf(out, " (%s)", o->metric);
}

bool study_data_has_checkpoints(const struct study_data *s)
{
	return s->state->spec->trainer.learning_curve.points > 0;
}

int64_t study_data_checkpoint_of(const struct study_data *s, struct dp_result_id p)
{
	return p.checkpoint == DP_CHECKPOINT_FINAL
		       ? -1
		       : (int64_t)dp_result_checkpoint_value(s->state, p);
}

char *result_format_name(int64_t trial, int64_t at, char out[RESULT_NAME_LEN])
{
	if (at < 0)
		snprintf(out, RESULT_NAME_LEN, "%" PRId64, trial);
	else
		snprintf(out, RESULT_NAME_LEN, "%" PRId64 "@%" PRId64, trial, at);
	return out;
}

char *result_format_row_id(int64_t trial, int64_t at, char out[RESULT_ROW_ID_LEN])
{
	if (at < 0)
		snprintf(out, RESULT_ROW_ID_LEN, "trial-%" PRId64, trial);
	else
		snprintf(out, RESULT_ROW_ID_LEN, "trial-%" PRId64 "-%" PRId64, trial, at);
	return out;
}

/* The value of an objective in one run; NaN: unknown. */
static double run_objective_value(const struct study_data *s, struct dp_result_id p,
				  size_t objective, uint32_t run)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	const struct dp_trial *t = s->state->trials[p.trial];
	int column = o->metric ? dp_state_metric_column(s->state, o->metric) : -1;

	/* a single run is the result */
	if (!o->metric ||
	    (p.checkpoint != DP_CHECKPOINT_FINAL && dp_study_reported_runs(s->state->spec) == 1))
		return dp_result_get_objectives(s->state, p)[objective];
	if (p.checkpoint != DP_CHECKPOINT_FINAL || column < 0 || !t->metrics ||
	    (uint32_t)column >= t->nmetrics)
		return NAN;
	return dp_objective_from_metric(o, t->metrics[run * t->nmetrics + (uint32_t)column]);
}

double study_data_run_sd(const struct study_data *s, struct dp_result_id p, size_t objective)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];

	return o->metric ? sqrt(dp_result_metric_mean_variance(
					s->state, p, dp_state_metric_column(s->state, o->metric)) *
				dp_study_reported_runs(s->state->spec))
			 : NAN;
}

bool study_data_run_range(const struct study_data *s, struct dp_result_id p, size_t objective,
			  double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (uint32_t i = 0; i < (uint32_t)dp_study_reported_runs(s->state->spec); i++) {
		double v = run_objective_value(s, p, objective, i);

		if (isnan(v))
			return false;
		*lo = fmin(*lo, v);
		*hi = fmax(*hi, v);
	}
	return true;
}

double study_data_majority_value(const struct study_data *s, size_t objective)
{
	const struct dp_study_state *st = s->state;
	int column = dp_state_metric_column(st, "majority_accuracy");
	const struct dp_objective *o = &st->spec->objectives[objective];
	double sum = 0, accuracy;
	size_t n = 0;

	for (size_t i = 0; i < s->npoints; i++) {
		double mean = dp_result_metric_mean(st, s->points[i], column);

		if (isfinite(mean)) {
			sum += mean;
			n++;
		}
	}
	if (n == 0 || !o->metric)
		return NAN;
	accuracy = sum / (double)n;
	if (strstr(o->metric, "accuracy"))
		return dp_objective_from_metric(o, accuracy);
	if (strstr(o->metric, "error"))
		return dp_objective_from_metric(o, 1 - accuracy);
	return NAN; /* a loss or the like, which has no majority class */
}
