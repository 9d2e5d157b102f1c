/* front_estimates.c - best estimate and 95% interval of an objective at each point of the front. */
#include "reports/model/study_data.h"

#include "base/t_distribution.h"
#include "study/metric_release.h"

#include <math.h>
#include <stdlib.h>

double study_data_front_std_error(const struct study_data *s, size_t i, size_t objective)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	size_t k = i * s->state->spec->nobjectives + objective;
	double variance;

	if (!o->metric)
		return 0;
	variance = dp_result_metric_mean_variance(s->state, study_data_front_point(s, i),
						  dp_state_metric_column(s->state, o->metric));
	if (!isnan(variance))
		return sqrt(variance);
	return s->uses_smoothed_front && s->smoothed.lo
		       ? (s->smoothed.hi[k] - s->smoothed.lo[k]) / (2 * DP_NORMAL_CRITICAL_95)
		       : NAN;
}

double study_data_test_records(const struct study_data *s)
{
	int column = dp_state_metric_column(s->state, "test_records");

	return column >= 0 && s->npoints ? dp_result_metric_mean(s->state, s->points[0], column)
					 : NAN;
}

struct dp_prediction *study_data_predict_front(const struct study_data *s)
{
	const struct dp_study *spec = s->state->spec;
	size_t n = study_data_front_size(s);
	struct dp_prediction *out;
	double *x;

	if (!s->surrogates)
		return NULL;
	x = dp_calloc(n * spec->nparams + 1, sizeof *x);
	out = dp_calloc(n * spec->nobjectives + 1, sizeof *out);
	for (size_t i = 0; i < n; i++)
		dp_result_get_params(s->state, study_data_front_point(s, i), x + i * spec->nparams);
	dp_surrogate_predict(s->surrogates, x, n, out, NULL, NULL);
	free(x);
	return out;
}

/* The observed value at the i-th point of the front, with a 95% interval if its runs have a
 * spread. */
static struct estimate estimate_from_runs(const struct study_data *s, size_t i, size_t objective)
{
	struct dp_result_id p = study_data_front_point(s, i);
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	double y = dp_result_get_objectives(s->state, p)[objective], wide = NAN;
	int runs = dp_study_reported_runs(s->state->spec);

	if (o->metric)
		wide = sqrt(dp_result_metric_mean_variance(
			s->state, p, dp_state_metric_column(s->state, o->metric)));
	/* the variance of noisy releases is known: no t distribution */
	wide *= o->release.records > 0 ? DP_NORMAL_CRITICAL_95 : dp_t_critical_95(runs - 1);
	return (struct estimate){ .value = y,
				  .low = y - wide,
				  .high = y + wide,
				  .source = isnan(wide) ? ESTIMATE_OBSERVED : ESTIMATE_RUNS };
}

void study_data_estimate_front(const struct study_data *s, size_t objective, struct estimate *out)
{
	const struct dp_study *spec = s->state->spec;
	bool modelled = spec->objectives[objective].metric && s->surrogates &&
			study_data_trusts_surrogate(s, objective);
	struct dp_prediction *p = modelled ? study_data_predict_front(s) : NULL;

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		const struct dp_prediction *v = p ? &p[i * spec->nobjectives + objective] : NULL;

		if (v)
			out[i] = (struct estimate){
				.value = s->uses_smoothed_front
						 ? study_data_front_value(s, i, objective)
						 : v->value,
				.low = v->lo,
				.high = v->hi,
				.source = ESTIMATE_SMOOTHED,
			};
		else
			out[i] = estimate_from_runs(s, i, objective);
		if (!study_data_is_percent(s, objective))
			continue;
		/* models and intervals can leave the range of a share, 0 to 1 */
		out[i].value = fmin(fmax(out[i].value, 0), 1);
		if (!isnan(out[i].low)) {
			out[i].low = fmin(fmax(out[i].low, 0), 1);
			out[i].high = fmin(fmax(out[i].high, 0), 1);
		}
	}
	free(p);
}
