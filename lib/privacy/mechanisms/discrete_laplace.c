/* discrete_laplace.c - the discrete Laplace mechanism on integers: two-sided geometric noise.
 *
 * Ghosh, Roughgarden and Sundararajan, Universally Utility-maximizing Privacy Mechanisms, STOC
 * 2009: P(z) is proportional to exp(-|z| / b) for integer z. Unlike real Laplace noise it can be
 * drawn exactly, so floating point leaks nothing. Pure: epsilon = sensitivity / b.
 *
 * At delta > 0, exactly: the likelihood ratio of the noise and the noise shifted by s falls, so the
 * worst sets of outcomes are {z <= m}, and
 *   delta(x) = max over m of F(m) - exp(x) F(m - s), F being the distribution function.
 * It grows with s, so smaller changes are covered. With h = 1/b and 0 <= m < s
 *   delta = [1 - exp(x - (s - m) h) + exp(-h) (1 - exp(-m h))] / (1 + exp(-h)). */
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
		    DP__KEY_POSITIVE,
		    DP__KEY_REQUIRED,
		    .short_help = "scale of the noise",
		    .help = "Scale b: the noise is z with probability in proportion to "
			    "exp(-|z| / b)." },
	[SENSITIVITY] = { .name = "sensitivity",
			  DP__KEY_COUNT,
			  .default_value = 1,
			  .short_help = "of the result",
			  .help = "The most that one record changes the result, a whole "
				  "number; with delta 0 also that of several, in L1 "
				  "norm." },
	[DELTA] = DP__KEY_DELTA(""),
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

/* ---- component of a composition; mu = sensitivity / scale, shape = sensitivity ---- */

/* exp K is a sum of geometric series: loss mu for z <= 0, then down to -mu in steps of 2h. Pure
 * epsilon gives order (order - 1) mu^2 / 2, free of rounding (Bun and Steinke 2016, Proposition
 * 3.3). */
static double geometric_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
			    double order)
{
	double gap = order - 1, h = p->mu / p->shape, pure = 0.5 * order * gap * p->mu;
	double r = (2 * order - 1) * h, below = exp(-p->mu) * exp(-2 * gap * p->mu);
	double between = expm1(-h) * exp(-r) * expm1(-r * (p->shape - 1)) / expm1(-r);
	double k = gap * p->mu + log((1 - between + below) / (1 + exp(-h)));
	double slack = 16 * DBL_EPSILON * (1 + gap * p->mu);

	(void)tables;
	return k + slack < pure * p->mu ? k + slack : pure * p->mu;
}

/* delta at the loss x for the set {z <= m}. No set exceeds the best. */
static double geometric_delta(const struct dp_privacy_component *p, double x, double m)
{
	double h = p->mu / p->shape, left = p->shape - m;

	return (-expm1(-fma(left, h, -x)) - exp(-h) * expm1(-m * h)) / (1 + exp(-h));
}

static double geometric_profile(const struct dp_privacy_component *p, enum dp__direction d,
				double x, double *slack)
{
	double v = 0, m = ceil(0.5 * (p->shape - x * p->shape / p->mu)) - 1;

	(void)d;
	/* the best m may be off by one where losses are nearly equal */
	for (double i = fmax(m - 1, 0); x < p->mu && i <= fmin(m + 1, p->shape - 1); i++)
		v = fmax(v, geometric_delta(p, x, i));
	*slack = 8 * DBL_EPSILON * v;
	return v;
}

static void geometric_rough_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
				   enum dp__direction d, double end)
{
	double h = p->mu / p->shape, all = 1 + exp(-h);
	double step = fmax(ceil(p->shape / 512), 1);

	(void)d;
	(void)end;
	dp__loss_points_add(s, p->mu, 1 / all, INFINITY);
	dp__loss_points_add(s, -p->mu, exp(-p->mu) / all, INFINITY);
	for (double z = 1; z < p->shape; z += step)
		dp__loss_points_add(s, p->mu - 2 * z * h, exp(-z * h) * -expm1(-step * h) / all,
				    INFINITY);
}

/* It tries three sets. */
static double geometric_profile_cost(const struct dp_privacy_component *p)
{
	(void)p;
	return 2;
}

struct geometric_target {
	const struct dp_privacy_component *p;
	double delta;
};

static double geometric_delta_excess(void *ctx, double x)
{
	const struct geometric_target *t = ctx;
	double slack, v = geometric_profile(t->p, DP__DIRECTION_REMOVE, x, &slack);

	return v + slack - t->delta;
}

/* The profile falls from x = 0 to mu. */
static double geometric_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	struct geometric_target t = { p, delta };
	double x;

	if (p->count != 1)
		return NAN;
	if (!(delta > 0) || !(p->mu < DP__MU2_MAX))
		return p->mu;
	if (geometric_delta_excess(&t, 0) <= 0)
		return 0;
	x = dp__find_root(geometric_delta_excess, &t, 0, p->mu);
	/* the last digits of the root are rounding noise; raise x until the bound holds */
	for (double step = DBL_EPSILON * p->mu; geometric_delta_excess(&t, x) > 0; step *= 2)
		x = fmin(x + step, p->mu);
	return x;
}

static const struct dp__component_kind geometric_loss = {
	.cgf = geometric_cgf,
	.profile = geometric_profile,
	.tail_cutoff = dp__bounded_tail_cutoff,
	.rough_points = geometric_rough_points,
	.max_loss = dp__bounded_max_loss,
	.loss_scale = dp__bounded_loss_scale,
	.exact_epsilon = geometric_exact_epsilon,
	.profile_cost = geometric_profile_cost,
	.is_pure = true,
};

static int geometric_component(const double *v, struct dp_privacy_component *out,
			       struct dp_err *err)
{
	double moved = v[SENSITIVITY] * v[GROUP];

	if (moved > 0x1p53)
		return dp_fail(err, DP_E_INVALID,
			       "'sensitivity' x 'group' is %g: that is beyond whole "
			       "numbers as this program has them",
			       moved);
	*out = (struct dp_privacy_component){
		.kind = &geometric_loss,
		.q = 1,
		.mu = moved / v[SCALE] * (1 + 2 * DBL_EPSILON), /* rounded up */
		.count = 1,
		.relation = DP__RELATION_ANY,
		.group_size = v[GROUP],
		.shape = moved,
	};
	return DP_OK;
}

static int geometric_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_privacy_component p;
	int code = geometric_component(v, &p, err);

	if (code != DP_OK)
		return code;
	*out = dp__closed_form(geometric_exact_epsilon(&p, v[DELTA]), v[DELTA],
			       isfinite(p.mu) ? 64 * DBL_EPSILON * (1 + p.mu) : 0);
	return DP_OK;
}

const struct dp_mechanism dp__discrete_laplace = {
	.name = "discrete-laplace",
	.summary = "Two-sided geometric noise on a whole number, such as a count.",
	.relation = "whatever relation the sensitivity is stated for",
	.source = "Ghosh, Roughgarden and Sundararajan, Universally Utility-maximizing "
		  "Privacy Mechanisms, STOC 2009; delta > 0: the exact profile",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[SCALE],
	.epsilon = geometric_epsilon,
	.cost = dp__cost_closed_form,
	.component = geometric_component,
};
