/* objective.c - the value of an objective at a point. */
#include "study/study.h"

#include <math.h>

/* A parameter at the waypoint `at` on the way to x; NaN: at x itself. */
static double param_value(const struct dp_study *s, size_t i, const double *x, double at)
{
	const struct dp_param *p = &s->params[i];

	if (!isnan(at) && i == s->trainer.path.param)
		return at;
	return p->kind == DP_PARAM_FIXED ? json_number_value(p->values) : x[i];
}

int dp_objective_values_at(const struct dp_study *s, size_t objective, const double *x,
			   double at, double values[DP_PRIVACY_KEYS_MAX],
			   struct dp_err *err)
{
	const struct dp_objective *o = &s->objectives[objective];

	if (!o->mechanism)
		return dp_fail(err, DP_E_INVALID,
			       "objective '%s' is a metric: only the trainer knows it",
			       o->name);
	for (size_t i = 0; i < o->mechanism->nkeys; i++)
		values[i] = o->param[i] < 0 ? o->constant[i]
					    : param_value(s, (size_t)o->param[i], x, at);
	return DP_OK;
}

int dp_objective_values(const struct dp_study *s, size_t objective, const double *x,
			double values[DP_PRIVACY_KEYS_MAX], struct dp_err *err)
{
	return dp_objective_values_at(s, objective, x, NAN, values, err);
}

static int privacy_at(const struct dp_study *s, size_t objective, const double *x,
		      double at, struct dp_epsilon *out, struct dp_err *err)
{
	double values[DP_PRIVACY_KEYS_MAX];
	int code = dp_objective_values_at(s, objective, x, at, values, err);

	if (code != DP_OK)
		return code;
	return dp_privacy_epsilon(s->objectives[objective].mechanism, values, out, err);
}

int dp_objective_privacy(const struct dp_study *s, size_t objective, const double *x,
			 struct dp_epsilon *out, struct dp_err *err)
{
	return privacy_at(s, objective, x, NAN, out, err);
}

int dp_objectives_privacy(const struct dp_study *s, const double *x, double *y,
			  struct dp_err *err)
{
	return dp_objectives_privacy_at(s, x, NAN, y, err);
}

int dp_objectives_privacy_at(const struct dp_study *s, const double *x, double at,
			     double *y, struct dp_err *err)
{
	struct dp_epsilon cost;
	int code;

	for (size_t i = 0; i < s->nobjectives; i++) {
		y[i] = NAN;
		if (!s->objectives[i].mechanism)
			continue;
		code = privacy_at(s, i, x, at, &cost, err);
		if (code != DP_OK) {
			dp_err_prefix(err, "objective '%s'", s->objectives[i].name);
			return code;
		}
		y[i] = cost.epsilon;
	}
	return DP_OK;
}

int dp_objective_declared(const struct dp_study *s, size_t objective, const double *x,
			  const struct dp_privacy_declared *declared,
			  char warning[DP_PRIVACY_WARNING_LEN], struct dp_err *err)
{
	double values[DP_PRIVACY_KEYS_MAX];
	int code = dp_objective_values(s, objective, x, values, err);

	if (code != DP_OK)
		return code;
	return dp_privacy_declared_check(s->objectives[objective].mechanism, values,
					 declared, warning, err);
}

double dp_objective_metric(const struct dp_objective *o, double mean)
{
	return o->one_minus ? 1 - mean : mean;
}

bool dp_study_accounts(const struct dp_study *s)
{
	for (size_t i = 0; i < s->nobjectives; i++)
		if (s->objectives[i].mechanism)
			return true;
	return false;
}
