/* objective_transform.c - transforms objectives to model space: smooth, unbounded, minimised. */
#include "optimize/propose/proposer_internal.h"

#include <math.h>

/* logit(1) is infinite, and logit(1 - 1e-9) an outlier that would spoil a fit. */
static const double logit_clip = 1e-3;
/* Limits for log, as multiples of the reference point: epsilon of a hopeless corner is capped. */
static const double log_cap = 1e3, log_floor = 1e-12;

enum dp__distribution dp__objective_distribution(const struct dp_objective *o)
{
	switch (o->transform) {
	case DP_TRANSFORM_LOG:
		return o->maximize ? DP__DIST_LOGNORMAL_MAX : DP__DIST_LOGNORMAL;
	case DP_TRANSFORM_LOGIT:
		return o->maximize ? DP__DIST_LOGITNORMAL_MAX : DP__DIST_LOGITNORMAL;
	case DP_TRANSFORM_NONE:
		break;
	}
	return DP__DIST_NORMAL;
}

static double clip_natural(const struct dp_objective *o, double y)
{
	double scale = fabs(o->anti_ideal) > 0 ? fabs(o->anti_ideal) : 1;

	if (o->transform == DP_TRANSFORM_LOGIT)
		return fmin(fmax(y, logit_clip), 1 - logit_clip);
	if (o->transform == DP_TRANSFORM_LOG)
		return fmin(fmax(y, log_floor * scale), log_cap * scale);
	return y;
}

double dp__objective_to_model(const struct dp_objective *o, double y)
{
	double z;

	if (isnan(y))
		return y;
	y = clip_natural(o, y);
	z = o->transform == DP_TRANSFORM_LOG     ? log(y)
	    : o->transform == DP_TRANSFORM_LOGIT ? log(y / (1 - y))
						 : y;
	return o->maximize ? -z : z;
}

double dp__objective_from_model(const struct dp_objective *o, double z)
{
	if (o->maximize)
		z = -z;
	return o->transform == DP_TRANSFORM_LOG     ? exp(z)
	       : o->transform == DP_TRANSFORM_LOGIT ? 1 / (1 + exp(-z))
						    : z;
}

double dp__objective_to_model_slope(const struct dp_objective *o, double y)
{
	y = clip_natural(o, y);
	return o->transform == DP_TRANSFORM_LOG     ? 1 / y
	       : o->transform == DP_TRANSFORM_LOGIT ? 1 / (y * (1 - y))
						    : 1;
}

double dp__objective_to_min(const struct dp_objective *o, double y)
{
	return o->maximize ? -y : y;
}

double dp__distribution_to_min(enum dp__distribution s, double z)
{
	switch (s) {
	case DP__DIST_NORMAL:
		return z;
	case DP__DIST_LOGNORMAL:
		return exp(z);
	case DP__DIST_LOGNORMAL_MAX:
		return -exp(-z);
	case DP__DIST_LOGITNORMAL:
		return 1 / (1 + exp(-z));
	case DP__DIST_LOGITNORMAL_MAX:
		return -1 / (1 + exp(z));
	}
	return z;
}

double dp__distribution_to_min_slope(enum dp__distribution s, double z)
{
	double e;

	switch (s) {
	case DP__DIST_NORMAL:
		return 1;
	case DP__DIST_LOGNORMAL:
		return exp(z);
	case DP__DIST_LOGNORMAL_MAX:
		return exp(-z);
	case DP__DIST_LOGITNORMAL:
	case DP__DIST_LOGITNORMAL_MAX:
		e = exp(-fabs(z));
		return e / ((1 + e) * (1 + e));
	}
	return 1;
}

double dp__distribution_from_min(enum dp__distribution s, double t)
{
	switch (s) {
	case DP__DIST_NORMAL:
		return t;
	case DP__DIST_LOGNORMAL:
		return t > 0 ? log(t) : -INFINITY;
	case DP__DIST_LOGNORMAL_MAX:
		return t < 0 ? -log(-t) : INFINITY;
	case DP__DIST_LOGITNORMAL:
		return t <= 0 ? -INFINITY : t >= 1 ? INFINITY : log(t / (1 - t));
	case DP__DIST_LOGITNORMAL_MAX: /* t = -y, z = log((1 - y) / y) */
		return t <= -1 ? -INFINITY : t >= 0 ? INFINITY : log((1 + t) / -t);
	}
	return t;
}
