/* gaussian.c - the Gaussian mechanism, exactly.
 *
 * Balle and Wang, Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration
 * and Optimal Denoising, ICML 2018, Theorem 8. The neighbouring relation is that of the caller's
 * sensitivity. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

/* Log of Phi(a) - exp(epsilon) Phi(b), with a = mu/2 - epsilon/mu and b = a - mu. The
 * second term is phi(a) times Mills' ratio at -b: no overflow, little cancellation. */
static double gaussian_log_delta(double mu, double a)
{
	double tail = dp__mills_ratio(mu - a);

	if (a < 0)
		return -0.5 * a * a - LOG_SQRT_2PI + log(dp__mills_ratio(-a) - tail);
	return log(dp__normal_cdf(a) - exp(-0.5 * a * a - LOG_SQRT_2PI) * tail);
}

double dp__gaussian_delta(double mu, double epsilon)
{
	return exp(gaussian_log_delta(mu, 0.5 * mu - epsilon / mu));
}

/* Bounds the absolute error of a Mills ratio: erfc() and exp() multiply the rounding of their
 * arguments by the square of these. */
static double mills_slack(double t, double ratio)
{
	return DBL_EPSILON * (8 + 2 * fmin(t * t, 625)) * ratio;
}

/* Mills' ratio at t minus that at t + mu, rounded up. It is the transform of a density, M(t) =
 * integral of exp(-t u - u^2 / 2), so -M' = 1 - t M is convex and the trapezoid rule an upper
 * bound, without cancellation for small mu. */
static double mills_difference_upper(double t, double mu)
{
	double here = dp__mills_ratio(t), there = dp__mills_ratio(t + mu), far = t + mu;
	double off = mills_slack(t, here), far_off = mills_slack(far, there);
	double slope = 1 - t * here + fabs(t) * off + 4 * DBL_EPSILON;
	double far_slope = 1 - far * there + far * far_off + 4 * DBL_EPSILON;

	return fmin(here - there + off + far_off,
		    0.5 * mu * (slope + far_slope) * (1 + 4 * DBL_EPSILON));
}

/* gaussian_log_delta(), rounded up. */
static double gaussian_log_delta_upper(double mu, double a)
{
	/* the roundings of a, of the exponent and of the last logarithm */
	double slack = DBL_EPSILON * (8 + 2 * a * a + 4 * (fabs(a) + 2) * (mu + fabs(a)));
	double density = -0.5 * a * a - LOG_SQRT_2PI, all, tail;

	if (a < 1)
		return density + log(mills_difference_upper(-a, mu)) + slack;
	all = dp__normal_cdf(a);
	tail = exp(density) *
	       (dp__mills_ratio(mu - a) - mills_slack(mu - a, dp__mills_ratio(mu - a)));
	tail *= 1 - DBL_EPSILON * (8 + a * a);
	return log((all - tail) + 8 * DBL_EPSILON * all) + slack;
}

struct gaussian_target {
	double mu, log_delta;
};

static double gaussian_delta_excess(void *ctx, double a)
{
	const struct gaussian_target *t = ctx;

	return gaussian_log_delta_upper(t->mu, a) - t->log_delta;
}

/* delta(0) has its own form without cancellation. */
static bool gaussian_epsilon_is_zero(double mu, double log_delta)
{
	double delta = erf(0.5 * M_SQRT1_2 * mu);

	return log(delta) + 16 * DBL_EPSILON <= log_delta;
}

double dp__gaussian_epsilon(double mu, double log_delta)
{
	struct gaussian_target t = { mu, log_delta };
	double epsilon, lo = -40, step = DBL_EPSILON, a;

	if (!(mu * mu < 1e300))
		return INFINITY;
	t.log_delta -= DBL_EPSILON * fabs(log_delta); /* rounding of the logarithm */
	if (log_delta >= 0 || gaussian_epsilon_is_zero(mu, t.log_delta))
		return 0;
	while (gaussian_delta_excess(&t, lo) > 0)
		lo *= 2;
	a = gaussian_delta_excess(&t, 0.5 * mu) > 0
		    ? dp__find_root(gaussian_delta_excess, &t, lo, 0.5 * mu)
		    : 0.5 * mu;
	/* the last digits of the root are rounding noise; raise epsilon until the bound holds */
	epsilon = fmax(mu * (0.5 * mu - a), 0);
	while (isfinite(epsilon) && gaussian_delta_excess(&t, 0.5 * mu - epsilon / mu) > 0) {
		epsilon += step * fmax(epsilon, DBL_MIN);
		step *= 2;
	}
	return epsilon;
}

enum {
	SIGMA,
	DELTA,
	SENSITIVITY,
	GROUP
};

static const struct dp_privacy_key keys[] = {
	[SIGMA] = { .name = "sigma",
		    .epsilon_trend = -1,
		    DP__KEY_POSITIVE,
		    DP__KEY_REQUIRED,
		    .short_help = "standard deviation of the noise",
		    .help = "Standard deviation of the noise." },
	[DELTA] = DP__KEY_DELTA_REQUIRED,
	[SENSITIVITY] = { .name = "sensitivity",
			  .epsilon_trend = 1,
			  DP__KEY_POSITIVE,
			  .default_value = 1,
			  .short_help = "of the result",
			  .help = "The most that one record changes the result, in L2 "
				  "norm." },
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

static double gaussian_mu(const double *v)
{
	return dp__divide_up(dp__multiply_up(v[SENSITIVITY], v[GROUP]), v[SIGMA]);
}

static int gaussian_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	(void)err;
	*out = dp__closed_form(dp__gaussian_epsilon(gaussian_mu(v), log(v[DELTA])), v[DELTA], 0);
	return DP_OK;
}

static int gaussian_component(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_component){
		.kind = &dp__component_wor,
		.q = 1,
		.mu = gaussian_mu(v),
		.count = 1,
		.relation = DP__RELATION_ANY,
		.group_size = v[GROUP],
	};
	return DP_OK;
}

const struct dp_mechanism dp__gaussian = {
	.name = "gaussian",
	.summary = "Gaussian noise on one result of bounded L2 sensitivity.",
	.relation = "whatever relation the sensitivity is stated for",
	.source = "Balle and Wang, Improving the Gaussian Mechanism for Differential "
		  "Privacy, ICML 2018, Theorem 8",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[SIGMA],
	.epsilon = gaussian_epsilon,
	.cost = dp__cost_closed_form,
	.component = gaussian_component,
};
