/* laplace.c - the Laplace mechanism, pure and approximate.
 *
 * Pure: Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity, TCC 2006, Proposition
 * 1. At delta > 0: the exact profile delta = 1 - exp((epsilon - 1/b) / 2), Balle, Barthe and
 * Gaboardi, Privacy Amplification by Subsampling, NeurIPS 2018, Theorem 3. The neighbouring
 * relation is that of the sensitivity. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

enum {
	SCALE,
	SENSITIVITY,
	DELTA,
	GROUP
};

static const struct dp_privacy_key keys[] = {
	[SCALE] = { .name = "scale",
		    .epsilon_trend = -1,
		    DP__KEY_POSITIVE,
		    DP__KEY_REQUIRED,
		    .short_help = "scale of the noise",
		    .help = "Scale b of the Laplace noise; its standard deviation is "
			    "b times the square root of 2." },
	[SENSITIVITY] = { .name = "sensitivity",
			  .epsilon_trend = 1,
			  DP__KEY_POSITIVE,
			  .default_value = 1,
			  .short_help = "of the result",
			  .help = "The most that one record changes the result, in L1 "
				  "norm." },
	[DELTA] = DP__KEY_DELTA(" (for one-dimensional results)"),
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

/* Rounded up, so that pure epsilon is, too. */
static double laplace_mu(const double *v)
{
	return dp__divide_up(dp__multiply_up(v[SENSITIVITY], v[GROUP]), v[SCALE]);
}

/* Rounded up: for small delta, the last place of epsilon is a large share of it. log1p() is off by
 * a few units in its last place, the sum by half a unit. */
static double laplace_epsilon_at_delta(double mu, double delta)
{
	double less = 2 * log1p(-delta) * (1 - 8 * DBL_EPSILON);

	return fmax(fmin(nextafter(mu + less, INFINITY), mu), 0);
}

static int laplace_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	double pure = laplace_mu(v);

	(void)err;
	*out = dp__closed_form(v[DELTA] > 0 ? laplace_epsilon_at_delta(pure, v[DELTA]) : pure,
			       v[DELTA], 0);
	return DP_OK;
}

/* ---- component of a composition; mu = sensitivity / scale ---- */

/* exp(t) - 1 - t for |t| <= 1, to the last digits: the first terms of exp cancel. */
static double laplace_exp_remainder(double t)
{
	double sum = 1;

	for (int i = 20; i >= 3; i--)
		sum = 1 + t / i * sum;
	return 0.5 * t * t * sum;
}

/* Mironov 2017, Table II. The divergence of large noise is of second order, the added terms of
 * first. Omits them before they cancel, so that scale 1e9 used 1e17 times still gives a result. */
static double laplace_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
			  double order)
{
	double gap = order - 1, both = 2 * order - 1;

	(void)tables;
	if (order * p->mu <= 1)
		return log1p((order * laplace_exp_remainder(gap * p->mu) +
			      gap * laplace_exp_remainder(-order * p->mu)) /
			     both);
	return dp__log_add(log(order / both) + gap * p->mu, log(gap / both) - order * p->mu);
}

static double laplace_profile(const struct dp_privacy_component *p, enum dp__direction d, double x,
			      double *slack)
{
	double v = x < p->mu ? -expm1(0.5 * (x - p->mu)) : 0;

	(void)d;
	*slack = 8 * DBL_EPSILON * v;
	return v;
}

/* Both ends of the loss have probability mass. */
static void laplace_rough_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
				 enum dp__direction d, double end)
{
	(void)d;
	(void)end;
	dp__loss_points_add(s, p->mu, 0.5, INFINITY);
	dp__loss_points_add(s, -p->mu, 0.5 * exp(-p->mu), INFINITY);
	for (int i = 0; i < 256; i++) {
		double x = (2 * (i + 0.5) / 256 - 1) * p->mu;

		dp__loss_points_add(s, x, 0.25 * exp(0.5 * (x - p->mu)) * p->mu / 128, INFINITY);
	}
}

static double laplace_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	return p->count == 1 ? laplace_epsilon_at_delta(p->mu, delta) : NAN;
}

static const struct dp__component_kind laplace_loss = {
	.cgf = laplace_cgf,
	.profile = laplace_profile,
	.tail_cutoff = dp__bounded_tail_cutoff,
	.rough_points = laplace_rough_points,
	.max_loss = dp__bounded_max_loss,
	.loss_scale = dp__bounded_loss_scale,
	.exact_epsilon = laplace_exact_epsilon,
	.is_pure = true,
};

static int laplace_component(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_component){
		.kind = &laplace_loss,
		.q = 1,
		.mu = laplace_mu(v),
		.count = 1,
		.relation = DP__RELATION_ANY,
		.group_size = v[GROUP],
	};
	return DP_OK;
}

const struct dp_mechanism dp__laplace = {
	.name = "laplace",
	.summary = "Laplace noise on one result of bounded L1 sensitivity.",
	.relation = "whatever relation the sensitivity is stated for",
	.source = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in "
		  "Private Data Analysis, TCC 2006, Proposition 1; delta > 0: Balle, "
		  "Barthe and Gaboardi, Privacy Amplification by Subsampling, NeurIPS "
		  "2018, Theorem 3",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[SCALE],
	.epsilon = laplace_epsilon,
	.cost = dp__cost_closed_form,
	.component = laplace_component,
};
