/* transform.c - objectives as the models see them: on a scale where they are smooth
 * and unbounded, and always to be minimised. */
#include "propose/propose_internal.h"

#include <math.h>

/* logit(1) is infinite and logit(1 - 1e-9) an outlier that would wreck a fit. */
static const double logit_clip = 1e-3;
/* Epsilon of a hopeless corner is capped at this multiple of the anti-ideal. */
static const double log_cap = 1e3, log_floor = 1e-12;

enum dp__shape dp__shape_of(const struct dp_objective *o)
{
	switch (o->transform) {
	case DP_TRANSFORM_LOG:
		return o->maximize ? DP__LOG_MAX : DP__LOG;
	case DP_TRANSFORM_LOGIT:
		return o->maximize ? DP__LOGIT_MAX : DP__LOGIT;
	case DP_TRANSFORM_NONE:
		break;
	}
	return DP__NORMAL;
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

double dp__forward(const struct dp_objective *o, double y)
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

double dp__backward(const struct dp_objective *o, double z)
{
	if (o->maximize)
		z = -z;
	return o->transform == DP_TRANSFORM_LOG     ? exp(z)
	       : o->transform == DP_TRANSFORM_LOGIT ? 1 / (1 + exp(-z))
						    : z;
}

double dp__forward_slope(const struct dp_objective *o, double y)
{
	y = clip_natural(o, y);
	return o->transform == DP_TRANSFORM_LOG     ? 1 / y
	       : o->transform == DP_TRANSFORM_LOGIT ? 1 / (y * (1 - y))
						    : 1;
}

double dp__natural_min(const struct dp_objective *o, double y)
{
	return o->maximize ? -y : y;
}

double dp__shape_value(enum dp__shape s, double z)
{
	switch (s) {
	case DP__NORMAL:
		return z;
	case DP__LOG:
		return exp(z);
	case DP__LOG_MAX:
		return -exp(-z);
	case DP__LOGIT:
		return 1 / (1 + exp(-z));
	case DP__LOGIT_MAX:
		return -1 / (1 + exp(z));
	}
	return z;
}

double dp__shape_slope(enum dp__shape s, double z)
{
	double e;

	switch (s) {
	case DP__NORMAL:
		return 1;
	case DP__LOG:
		return exp(z);
	case DP__LOG_MAX:
		return exp(-z);
	case DP__LOGIT:
	case DP__LOGIT_MAX:
		e = exp(-fabs(z));
		return e / ((1 + e) * (1 + e));
	}
	return 1;
}

double dp__shape_inverse(enum dp__shape s, double t)
{
	switch (s) {
	case DP__NORMAL:
		return t;
	case DP__LOG:
		return t > 0 ? log(t) : -INFINITY;
	case DP__LOG_MAX:
		return t < 0 ? -log(-t) : INFINITY;
	case DP__LOGIT:
		return t <= 0 ? -INFINITY : t >= 1 ? INFINITY : log(t / (1 - t));
	case DP__LOGIT_MAX: /* t = -y, z = log((1 - y) / y) */
		return t <= -1 ? -INFINITY : t >= 0 ? INFINITY : log((1 + t) / -t);
	}
	return t;
}
