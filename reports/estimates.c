/* estimates.c - the best that is known of an objective along the front, and how far that
 * can be trusted. */
#include "reports/report.h"

#include "base/student.h"

#include <math.h>
#include <stdlib.h>

double subject_front_error(const struct subject *s, size_t i, size_t objective)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	size_t k = i * s->s->spec->nobjectives + objective;
	double variance;

	if (!o->metric)
		return 0;
	variance = dp_point_mean_variance(s->s, subject_front_point(s, i),
					  dp_study_metric(s->s, o->metric));
	if (!isnan(variance))
		return sqrt(variance);
	return s->denoises && s->denoised.lo
		       ? (s->denoised.hi[k] - s->denoised.lo[k]) / (2 * DP_NORMAL95)
		       : NAN;
}

double subject_test_records(const struct subject *s)
{
	int column = dp_study_metric(s->s, "test_records");

	return column >= 0 && s->npoints ? dp_point_mean(s->s, s->points[0], column) : NAN;
}

int subject_predict_front(const struct subject *s, struct dp_predicted **out, struct dp_err *err)
{
	const struct dp_study *spec = s->s->spec;
	size_t n = subject_front(s);
	double *x = calloc(n * spec->nparams + 1, sizeof *x);
	int code = DP_OK;

	*out = calloc(n * spec->nobjectives + 1, sizeof **out);
	if (!x || !*out)
		code = dp_fail(err, DP_E_NOMEM, "no memory for a report");
	for (size_t i = 0; code == DP_OK && i < n; i++)
		dp_point_x(s->s, subject_front_point(s, i), x + i * spec->nparams);
	if (code == DP_OK && s->models)
		code = dp_surrogate_eval(s->models, x, n, *out, NULL, NULL, err);
	free(x);
	if (code == DP_OK && s->models)
		return DP_OK;
	free(*out);
	*out = NULL;
	/* a model that cannot answer is none */
	return code == DP_E_NOMEM ? code : DP_OK;
}

/* What was observed at the i-th point of the front, with the 95 % of its runs where these
 * have a spread. */
static struct estimate observed_estimate(const struct subject *s, size_t i, size_t objective)
{
	struct dp_point p = subject_front_point(s, i);
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	double y = dp_point_objectives(s->s, p)[objective], wide = NAN;
	int runs = dp_study_told_runs(s->s->spec);

	if (o->metric)
		wide = sqrt(dp_point_mean_variance(s->s, p, dp_study_metric(s->s, o->metric)));
	/* noise on utilities is known, and so needs no runs */
	wide *= o->release.records > 0 ? DP_NORMAL95 : dp_t95(runs - 1);
	return (struct estimate){ .value = y,
				  .low = y - wide,
				  .high = y + wide,
				  .source = isnan(wide) ? ESTIMATE_OBSERVED : ESTIMATE_RUNS };
}

/* Models and intervals of runs do not know that a share is from 0 to 1. */
static void clip_share(struct estimate *e)
{
	e->value = fmin(fmax(e->value, 0), 1);
	if (!isnan(e->low)) {
		e->low = fmin(fmax(e->low, 0), 1);
		e->high = fmin(fmax(e->high, 0), 1);
	}
}

int subject_estimates(const struct subject *s, size_t objective, struct estimate *out,
		      struct dp_err *err)
{
	const struct dp_study *spec = s->s->spec;
	bool share = subject_shares(s, objective);
	bool modelled =
		spec->objectives[objective].metric && s->models && subject_trusts(s, objective);
	struct dp_predicted *p = NULL;
	int code = modelled ? subject_predict_front(s, &p, err) : DP_OK;

	for (size_t i = 0; code == DP_OK && i < subject_front(s); i++) {
		const struct dp_predicted *v = p ? &p[i * spec->nobjectives + objective] : NULL;

		if (v)
			out[i] = (struct estimate){
				.value = s->denoises ? subject_front_value(s, i, objective)
						     : v->value,
				.low = v->lo,
				.high = v->hi,
				.source = ESTIMATE_MODELS,
			};
		else
			out[i] = observed_estimate(s, i, objective);
		if (share)
			clip_share(&out[i]);
	}
	free(p);
	return code;
}
