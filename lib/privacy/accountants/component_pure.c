/* component_pure.c - any pure epsilon-DP mechanism, as a component of a composition.
 *
 * Randomised response dominates it. The component's mu is the epsilon. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

/* log [p exp(t) + (1 - p) exp(-t)] with p = 1 / (1 + exp(-mu)). For small t, sums the difference
 * from 1 separately, so that no digit is lost. */
static double pure_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
		       double order)
{
	double t = (order - 1) * p->mu, half = sinh(0.5 * t);
	double yes = -log1p(exp(-p->mu));

	(void)tables;
	if (t <= 1)
		return log1p(2 * half * half + tanh(0.5 * p->mu) * sinh(t));
	return dp__log_add(yes + t, yes - order * p->mu);
}

static double pure_profile(const struct dp_privacy_component *p, enum dp__direction d, double x,
			   double *slack)
{
	double v = x < p->mu ? -expm1(x - p->mu) / (1 + exp(-p->mu)) : 0;

	(void)d;
	*slack = 8 * DBL_EPSILON * v;
	return v;
}

double dp__bounded_tail_cutoff(const struct dp_privacy_component *p, enum dp__direction d,
			       double log_tail)
{
	(void)d;
	(void)log_tail;
	return p->mu;
}

static void pure_rough_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
			      enum dp__direction d, double end)
{
	(void)d;
	(void)end;
	dp__loss_points_add(s, p->mu, 1 / (1 + exp(-p->mu)), INFINITY);
	dp__loss_points_add(s, -p->mu, 1 / (1 + exp(p->mu)), INFINITY);
}

double dp__bounded_max_loss(const struct dp_privacy_component *p, enum dp__direction d)
{
	(void)d;
	return p->mu;
}

double dp__bounded_loss_scale(const struct dp_privacy_component *p)
{
	return p->mu;
}

/* Rounds up at every step, and the share of delta down. */
static double pure_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	double share = delta * (1 + exp(-p->mu)) * (1 - 8 * DBL_EPSILON), less;

	if (p->count != 1)
		return NAN;
	if (share >= 1)
		return 0;
	less = log1p(-share) * (1 - 8 * DBL_EPSILON);
	return fmax(fmin(nextafter(p->mu + less, INFINITY), p->mu), 0);
}

const struct dp__component_kind dp__component_pure = {
	.cgf = pure_cgf,
	.profile = pure_profile,
	.tail_cutoff = dp__bounded_tail_cutoff,
	.rough_points = pure_rough_points,
	.max_loss = dp__bounded_max_loss,
	.loss_scale = dp__bounded_loss_scale,
	.exact_epsilon = pure_exact_epsilon,
	.is_pure = true,
};
