/* discrete_gaussian.c - the discrete Gaussian mechanism on integers.
 *
 * Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020: P(z)
 * is proportional to exp(-z^2 / (2 sigma^2)) for integer z, and can be drawn exactly. Renyi
 * divergences are at most those of the real Gaussian (Theorem 4). For one number that changes by s
 * at most, exactly (Theorem 7):
 *   delta(x) = P(Y > x sigma^2/s - s/2) - exp(x) P(Y > x sigma^2/s + s/2).
 * That is the maximum over m of P(Y >= m) - exp(x) P(Y >= m + s), since the likelihood ratio grows.
 * So it grows with s, and smaller changes are covered. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
	SIGMA,
	DELTA,
	SENSITIVITY,
	GROUP
};

/* The table of tails ends where doubles underflow. Where it would be too long, or every epsilon is
 * in the hundreds, there is none, and Renyi divergences answer. */
#define TABLE_REACH 37.5 /* standard deviations */
#define TABLE_SIGMA 2e4
#define TABLE_MU    20.0
#define TABLE_LOST  1e-300 /* above all the probability beyond its end */

static const struct dp_privacy_key keys[] = {
	[SIGMA] = { .name = "sigma",
		    DP__KEY_POSITIVE,
		    DP__KEY_REQUIRED,
		    .short_help = "standard deviation of the noise",
		    .help = "The noise is z with probability in proportion to "
			    "exp(-z^2 / (2 sigma^2))." },
	[DELTA] = DP__KEY_DELTA_REQUIRED,
	[SENSITIVITY] = { .name = "sensitivity",
			  DP__KEY_COUNT,
			  .default_value = 1,
			  .short_help = "of the result",
			  .help = "The most that one record changes the result, one "
				  "whole number." },
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

/* ---- component of a composition; mu = sensitivity / sigma, shape = sensitivity ---- */

static double discrete_sigma(const struct dp_privacy_component *p)
{
	return p->shape / p->mu;
}

static bool discrete_has_table(const struct dp_privacy_component *p)
{
	return discrete_sigma(p) <= TABLE_SIGMA && p->mu <= TABLE_MU;
}

/* exp(-z^2 / (2 sigma^2)) to the last place: restores what the product loses. */
static double discrete_weight(double half, double z)
{
	double e = z * z * half, lost = fma(z * z, half, -e);

	return exp(-e) * (1 - lost);
}

/* table[m] = sum of the weights of m, m + 1, ... */
static void discrete_table_open(struct dp_privacy_component *p)
{
	double sigma = discrete_sigma(p), half = 0.5 / (sigma * sigma);
	long double sum = 0;

	if (!discrete_has_table(p))
		return;
	p->ntable = (size_t)(TABLE_REACH * sigma) + 2;
	p->table = dp_malloc(p->ntable * sizeof *p->table);
	for (size_t i = p->ntable; i-- > 0;) {
		sum += discrete_weight(half, (double)i);
		p->table[i] = (double)sum;
	}
}

static void discrete_table_close(struct dp_privacy_component *p)
{
	free(p->table);
	p->table = NULL;
}

static double discrete_total_weight(const struct dp_privacy_component *p)
{
	return 2 * p->table[0] - 1;
}

static double discrete_tail(const struct dp_privacy_component *p, double m)
{
	double mirrored = 1 - m;

	if (m >= 0)
		return m < (double)p->ntable ? p->table[(size_t)m] : 0;
	return discrete_total_weight(p) -
	       (mirrored < (double)p->ntable ? p->table[(size_t)mirrored] : 0);
}

/* The least m with a loss above x. */
static double discrete_threshold(const struct dp_privacy_component *p, double x)
{
	return floor(x * discrete_sigma(p) / p->mu - 0.5 * p->shape) + 1;
}

static double discrete_delta(const struct dp_privacy_component *p, double x, double m)
{
	double other = discrete_tail(p, m + p->shape);

	return discrete_tail(p, m) - (x < 600 ? exp(x) * other : exp(x + log(other)));
}

static double discrete_profile(const struct dp_privacy_component *p, enum dp__direction d, double x,
			       double *slack)
{
	double m, v = 0, all, sigma = discrete_sigma(p), far;

	(void)d;
	*slack = TABLE_LOST;
	if (!p->table)
		return 1;
	/* rounding may miss the threshold by one, where it makes no difference */
	m = discrete_threshold(p, x);
	all = discrete_total_weight(p);
	for (int i = -1; i <= 1; i++)
		v = fmax(v, discrete_delta(p, x, m + i));
	/* exponents multiply the rounding error of x, and of sigma in both tails */
	far = (fabs(m) + p->shape) / sigma;
	*slack += DBL_EPSILON * (32 + fabs(x) + 8 * far * far) * discrete_tail(p, m) / all;
	return v / all;
}

static double discrete_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
			   double order)
{
	(void)tables;
	return 0.5 * order * (order - 1) * p->mu * p->mu;
}

/* delta(x) is at most the probability of a larger loss, and the noise is subgaussian: P(Y >= m) <=
 * exp(-m^2 / (2 sigma^2)). */
static double discrete_tail_cutoff(const struct dp_privacy_component *p, enum dp__direction d,
				   double log_tail)
{
	(void)d;
	return p->mu * (sqrt(-2 * fmin(log_tail, 0)) + 0.5 * p->mu);
}

static void discrete_rough_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
				  enum dp__direction d, double end)
{
	double sigma = discrete_sigma(p), half = 0.5 / (sigma * sigma);
	double most = ceil(12 * sigma), step = fmax(ceil(most / 800), 1);
	double all = p->table ? discrete_total_weight(p) : 1;

	(void)d;
	for (double z = -most; z <= most; z += step)
		dp__loss_points_add(s, p->mu * (z / sigma + 0.5 * p->mu),
				    discrete_weight(half, z) * step / all, end);
}

static double discrete_max_loss(const struct dp_privacy_component *p, enum dp__direction d)
{
	(void)p;
	(void)d;
	return INFINITY;
}

/* Without a table: too large for any grid. */
static double discrete_loss_scale(const struct dp_privacy_component *p)
{
	return discrete_has_table(p) ? p->mu * p->mu : fmax(p->mu * p->mu, 1e7);
}

/* It tries three sets. */
static double discrete_profile_cost(const struct dp_privacy_component *p)
{
	(void)p;
	return 2;
}

/* The root of delta(x) = `delta`. delta is convex and piecewise linear in exp(x), one piece for
 * each m, so Newton steps from below reach the root after finitely many. */
static double discrete_solve_epsilon(const struct dp_privacy_component *p, double delta)
{
	double x = 0, goal = delta * discrete_total_weight(p);

	for (int i = 0; i < 10000; i++) {
		double m = discrete_threshold(p, x);
		double next = log((discrete_tail(p, m) - goal) / discrete_tail(p, m + p->shape));

		if (!(next > x))
			break;
		x = next;
	}
	return x;
}

static double discrete_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	double x, slack;

	if (p->count != 1 || !p->table)
		return NAN;
	x = discrete_solve_epsilon(p, delta);
	/* the last digits are rounding noise; raise x until the bound holds */
	for (double step = DBL_EPSILON * fmax(x, DBL_MIN); isfinite(x); step *= 2) {
		if (discrete_profile(p, DP__DIRECTION_REMOVE, x, &slack) + slack <= delta)
			return x;
		x += step;
	}
	return INFINITY;
}

static const struct dp__component_kind discrete_loss = {
	.cgf = discrete_cgf,
	.profile = discrete_profile,
	.tail_cutoff = discrete_tail_cutoff,
	.rough_points = discrete_rough_points,
	.max_loss = discrete_max_loss,
	.loss_scale = discrete_loss_scale,
	.exact_epsilon = discrete_exact_epsilon,
	.profile_cost = discrete_profile_cost,
	.table_open = discrete_table_open,
	.table_close = discrete_table_close,
};

static int discrete_component(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	double moved = v[SENSITIVITY] * v[GROUP];

	if (moved > 0x1p53)
		return dp_fail(err, DP_E_INVALID,
			       "'sensitivity' x 'group' is %g: that is beyond whole "
			       "numbers as this program has them",
			       moved);
	*out = (struct dp_privacy_component){
		.kind = &discrete_loss,
		.q = 1,
		.mu = moved / v[SIGMA],
		.count = 1,
		.relation = DP__RELATION_ANY,
		.group_size = v[GROUP],
		.shape = moved,
	};
	return DP_OK;
}

static double discrete_curve_cgf(void *ctx, double order)
{
	return discrete_cgf(ctx, NULL, order);
}

/* The answer where a table cannot give it, or gives more. */
static void discrete_rdp_epsilon(struct dp_privacy_component *p, struct dp_epsilon *out)
{
	struct dp__rdp_curve curve = { discrete_curve_cgf, p, true };
	double order, epsilon = dp__rdp_curve_epsilon(&curve, DP_PRIVACY_CONVERSION_IMPROVED,
						      log(out->delta), &order);

	if (!(epsilon < out->epsilon))
		return;
	out->epsilon = epsilon;
	out->order = order;
	out->accountant = dp_privacy_accountants[DP_PRIVACY_RDP];
	out->error = 0;
}

static int discrete_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_epsilon e = dp__closed_form(INFINITY, v[DELTA], 0);
	struct dp_privacy_component p;
	double slack;
	int code = discrete_component(v, &p, err);

	if (code != DP_OK)
		return code;
	discrete_table_open(&p);
	if (p.table) {
		e.epsilon = discrete_exact_epsilon(&p, v[DELTA]);
		discrete_profile(&p, DP__DIRECTION_REMOVE, e.epsilon, &slack);
		e.error = e.epsilon - discrete_solve_epsilon(&p, v[DELTA] + 4 * slack);
	}
	discrete_table_close(&p);
	if (!p.ntable || isinf(e.epsilon))
		discrete_rdp_epsilon(&p, &e);
	*out = e;
	return DP_OK;
}

const struct dp_mechanism dp__discrete_gaussian = {
	.name = "discrete-gaussian",
	.summary = "Discrete Gaussian noise on a whole number, such as a count.",
	.relation = "whatever relation the sensitivity is stated for",
	.source = "Canonne, Kamath and Steinke, The Discrete Gaussian for Differential "
		  "Privacy, NeurIPS 2020, Theorems 4 and 7",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[SIGMA],
	.epsilon = discrete_epsilon,
	.cost = dp__cost_closed_form,
	.component = discrete_component,
};
