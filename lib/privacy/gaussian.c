/* gaussian.c - the Gaussian mechanism, exactly.
 *
 * Balle and Wang, Improving the Gaussian Mechanism for Differential Privacy:
 * Analytical Calibration and Optimal Denoising, ICML 2018, Theorem 8. The neighbouring
 * relation is the one that the caller's sensitivity is meant for. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

/* Log of Phi(a) - exp(epsilon) Phi(b), with a = mu/2 - epsilon/mu and b = a - mu. The
 * second term is phi(a) times Mills' ratio at -b: no overflow, little cancellation. */
static double log_delta_at(double mu, double a)
{
	double tail = dp__mills(mu - a);

	if (a < 0)
		return -0.5 * a * a - LOG_SQRT_2PI + log(dp__mills(-a) - tail);
	return log(dp__normal_cdf(a) - exp(-0.5 * a * a - LOG_SQRT_2PI) * tail);
}

double dp__gaussian_delta(double mu, double epsilon)
{
	return exp(log_delta_at(mu, 0.5 * mu - epsilon / mu));
}

struct target {
	double mu, log_delta;
};

static double gaussian_miss(void *ctx, double a)
{
	const struct target *t = ctx;

	return log_delta_at(t->mu, a) - t->log_delta;
}

double dp__gaussian_epsilon(double mu, double log_delta)
{
	struct target t = { mu, log_delta };
	double epsilon, lo = -40, step = DBL_EPSILON;

	if (!(mu * mu < 1e300))
		return INFINITY;
	if (log_delta >= 0 || gaussian_miss(&t, 0.5 * mu) <= 0)
		return 0;
	while (gaussian_miss(&t, lo) > 0)
		lo *= 2;
	epsilon = mu * (0.5 * mu - dp__root(gaussian_miss, &t, lo, 0.5 * mu));
	/* the last digits of the root are luck; what is handed out must hold */
	epsilon = fmax(epsilon, 0);
	while (step < 1e-9 && gaussian_miss(&t, 0.5 * mu - epsilon / mu) > 0) {
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
		    .worse = -1,
		    .kind = DP_PRIVACY_NUMBER,
		    .needed = true,
		    .otherwise = NAN,
		    .lo = 0,
		    .lo_open = true,
		    .hi = INFINITY,
		    .hi_open = true,
		    .brief = "standard deviation of the noise",
		    .help = "Standard deviation of the noise." },
	[DELTA] = DP__KEY_DELTA_ABOVE_0,
	[SENSITIVITY] = { .name = "sensitivity",
			  .worse = 1,
			  .kind = DP_PRIVACY_NUMBER,
			  .otherwise = 1,
			  .lo = 0,
			  .lo_open = true,
			  .hi = INFINITY,
			  .hi_open = true,
			  .brief = "of the result",
			  .help = "The most that one record changes the result, in L2 "
				  "norm." },
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

static double gaussian_mu(const double *v)
{
	return v[SENSITIVITY] * v[GROUP] / v[SIGMA];
}

static int gaussian_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_epsilon){
		.epsilon = dp__gaussian_epsilon(gaussian_mu(v), log(v[DELTA])),
		.delta = v[DELTA],
		.order = NAN,
		.accountant = "closed-form",
		.error_proved = true,
	};
	return DP_OK;
}

static int gaussian_part(const double *v, struct dp_privacy_part *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_part){
		.kind = &dp__part_wor,
		.q = 1,
		.mu = gaussian_mu(v),
		.count = 1,
		.relation = DP__ANY_RELATION,
		.group = v[GROUP],
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
	.cost = dp__closed_form,
	.part = gaussian_part,
};
