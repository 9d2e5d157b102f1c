/* component_gaussian.c - Gaussian noise on sampled lots, as a component of a composition.
 *
 * Without replacement, replace-one: for x >= 0 amplification by subsampling gives delta(x) = q
 * delta_G(log(1 + (exp(x) - 1) / q)) (Balle, Barthe and Gaboardi 2018, Theorem 2 with advanced
 * joint convexity: the complements of the two sampled mechanisms are neighbours as well, so the
 * same divergence bounds both). Replace-one is symmetric, so for x < 0 delta(x) = 1 - exp(x) +
 * exp(x) delta(-x) (Zhu et al., Proposition 30 joins both). The joined curve is a profile of some
 * pair because, in y = exp(x), it is convex, falling and at least (1 - y)+: at the seam the slope
 * is -c on the right and -1 + q (1 - 2c) + c <= -c on the left, c = Phi(-mu/2).
 *
 * Poisson, add or remove one: the mixture (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2), and the
 * reverse, dominate (Zhu et al., Theorem 11). */
#include "privacy/accountants/pld_internal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

/* ---- Renyi ---- */

static double poisson_component_cgf(const struct dp_privacy_component *p,
				    struct dp__rdp_wor *tables, double order)
{
	struct dp__rdp_poisson poisson = { p->q, 1 / p->mu };

	(void)tables;
	return dp__rdp_poisson_cgf(&poisson, order);
}

static void wor_component_prepare(const struct dp_privacy_component *p, struct dp__rdp_wor *tables)
{
	if (p->q < 1)
		dp__rdp_wor_set_noise(tables, 1 / p->mu, p->tight_bound);
}

static double wor_component_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
				double order)
{
	return p->q < 1 ? fmin(dp__rdp_wor_cgf(tables, p->q, order),
			       dp__rdp_sampled_cgf(p->q, p->mu, order))
			: 0.5 * order * (order - 1) * p->mu * p->mu;
}

/* ---- loss distribution ---- */

/* delta of the plain Gaussian mechanism. e may be negative. */
static double gaussian_profile(double mu, double e, double *slack)
{
	double a = 0.5 * mu - e / mu, cdf, d;

	if (e == INFINITY) {
		*slack = 0;
		return 0;
	}
	cdf = dp__normal_cdf(a);
	if (a < mu) /* else Mills' ratio would overflow */
		d = cdf - exp(-0.5 * a * a - LOG_SQRT_2PI) * dp__mills_ratio(mu - a);
	else
		d = cdf - exp(e) * dp__normal_cdf(a - mu);
	/* Both terms share the rounding error of a. Errors of erfc, exp and Mills' ratio grow with
	 * the squares of their arguments. */
	*slack = 4 * DBL_EPSILON * (8 + fabs(e) + mu * mu + a * a) * cdf;
	return fmax(d, 0);
}

static double sampled_profile_remove(double q, double mu, double x, double *slack)
{
	double e = x > 600 ? x - log(q) : log1p(expm1(x) / q), d;

	d = q * gaussian_profile(mu, e, slack);
	*slack *= q;
	return d;
}

/* The reverse direction: N(0) against the mixture. */
static double sampled_profile_add(double q, double mu, double x, double *slack)
{
	double y = q - (1 - q) * expm1(x), d;

	*slack = 0;
	if (!(y > 0))
		return 0;
	d = y * gaussian_profile(mu, log(q / y) + x, slack);
	*slack = *slack * y + 8 * DBL_EPSILON * d * (1 + q / y);
	return d;
}

static double wor_component_profile(const struct dp_privacy_component *p, enum dp__direction d,
				    double x, double *slack)
{
	(void)d;
	return sampled_profile_remove(p->q, p->mu, x, slack);
}

static double poisson_component_profile(const struct dp_privacy_component *p, enum dp__direction d,
					double x, double *slack)
{
	return d == DP__DIRECTION_ADD ? sampled_profile_add(p->q, p->mu, x, slack)
				      : sampled_profile_remove(p->q, p->mu, x, slack);
}

static double wor_component_tail_cutoff(const struct dp_privacy_component *p, enum dp__direction d,
					double log_tail)
{
	double e = dp__gaussian_epsilon(p->mu, fmin(log_tail - log(p->q), 0));

	(void)d;
	return e > 600 ? e + log(p->q) : log1p(p->q * expm1(e));
}

static double poisson_component_tail_cutoff(const struct dp_privacy_component *p,
					    enum dp__direction d, double log_tail)
{
	double lo = 0, hi = -log1p(-p->q), slack;

	if (d == DP__DIRECTION_REMOVE)
		return wor_component_tail_cutoff(p, d, log_tail);
	if (!(hi > 0))
		return hi;
	for (int i = 0; i < 50; i++) {
		double mid = 0.5 * (lo + hi);
		double v = sampled_profile_add(p->q, p->mu, mid, &slack);

		*(v > exp(log_tail) ? &lo : &hi) = mid;
	}
	return hi;
}

/* Weight of the i-th point of a trapezoid rule that starts at a cut, in steps: Gregory's
 * corrections up to fifth differences. A million steps multiply the error of the cut, so a plain
 * half weight would not do. */
static double gregory_weight(int i)
{
	static const double w[] = { 0.5 - 1 / 12. - 1 / 24. - 19 / 720. - 3 / 160. - 863 / 60480.,
				    1 + 1 / 12. + 2 / 24. + 3 * 19 / 720. + 4 * 3 / 160. +
					    5 * 863 / 60480.,
				    1 - 1 / 24. - 3 * 19 / 720. - 6 * 3 / 160. - 10 * 863 / 60480.,
				    1 + 19 / 720. + 4 * 3 / 160. + 10 * 863 / 60480.,
				    1 - 3 / 160. - 5 * 863 / 60480.,
				    1 + 863 / 60480. };

	return i < (int)DP_COUNT(w) ? w[i] : 1;
}

/* Points from `from` to `to` standard deviations. `cut`: the range starts inside the peak. */
static void gaussian_add_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
				enum dp__direction d, double from, double to, bool cut, double end)
{
	double q = p->q, mu = p->mu, step;

	/* losses grow with mu z: keep points close for low noise, too, within a quarter of the
	 * array for each side of each of two peaks */
	step = fmax(1 / fmin(16 * fmax(mu, 1), 40), 4 * (to - from) / DP__LOSS_POINTS_MAX);

	for (int i = 0; from + i * step < to; i++) {
		double z = from + i * step, u = mu * (z - 0.5 * mu);
		double x = u > 600 ? u + log(q) : log1p(q * expm1(u));
		double h = step * (cut ? gregory_weight(i) : 1);
		double n0 = exp(-0.5 * z * z - LOG_SQRT_2PI) * h;
		double n1 = exp(-0.5 * (z - mu) * (z - mu) - LOG_SQRT_2PI) * h;
		double w = (1 - q) * n0 + q * n1;

		if (p->kind->is_asymmetric) {
			dp__loss_points_add(s, d == DP__DIRECTION_ADD ? -x : x,
					    d == DP__DIRECTION_ADD ? n0 : w, end);
		} else {
			dp__loss_points_add(s, x, w, end);
			dp__loss_points_add(s, -x, n0, end);
		}
	}
}

/* Without replacement, the losses above zero and their mirror images; else all. For low noise,
 * leaves out the gap between two distant peaks. */
static void gaussian_rough_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
				  enum dp__direction d, double end)
{
	bool cut = !p->kind->is_asymmetric;
	double mu = p->mu, reach, from;

	/* to the end of the grid, and past 11 standard deviations */
	reach = (end > 600 ? end - log(p->q) : log1p(expm1(end) / p->q)) / mu - 0.5 * mu;
	reach = fmin(fmax(reach + 1, 11), 36);
	from = cut ? 0.5 * mu : -reach;

	if (mu - reach > fmax(from, reach)) {
		gaussian_add_points(s, p, d, from, reach, cut, end);
		gaussian_add_points(s, p, d, mu - reach, mu + reach, false, end);
	} else {
		gaussian_add_points(s, p, d, from, mu + reach, cut, end);
	}
}

static double wor_component_max_loss(const struct dp_privacy_component *p, enum dp__direction d)
{
	(void)p;
	(void)d;
	return INFINITY;
}

static double poisson_component_max_loss(const struct dp_privacy_component *p, enum dp__direction d)
{
	return d == DP__DIRECTION_REMOVE ? INFINITY : -log1p(-p->q);
}

/* For Gaussian noise it grows with the square of mu. */
static double gaussian_loss_scale(const struct dp_privacy_component *p)
{
	return p->mu * p->mu;
}

/* Full lots any number of times, or a single use, need no grid. */
static double gaussian_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	double log_delta = log(delta), epsilon;

	if (p->q >= 1)
		return dp__gaussian_epsilon(p->mu * sqrt(p->count) *
						    (p->count == 1 ? 1 : 1 + 4 * DBL_EPSILON),
					    log_delta);
	if (p->count != 1)
		return NAN;
	epsilon = p->kind->tail_cutoff(p, DP__DIRECTION_REMOVE, log_delta);
	return p->kind->is_asymmetric
		       ? fmax(epsilon, p->kind->tail_cutoff(p, DP__DIRECTION_ADD, log_delta))
		       : fmax(epsilon, 0);
}

const struct dp__component_kind dp__component_wor = {
	.prepare_tables = wor_component_prepare,
	.cgf = wor_component_cgf,
	.profile = wor_component_profile,
	.tail_cutoff = wor_component_tail_cutoff,
	.rough_points = gaussian_rough_points,
	.max_loss = wor_component_max_loss,
	.loss_scale = gaussian_loss_scale,
	.exact_epsilon = gaussian_exact_epsilon,
	.discretise = dp__gaussian_discretise,
};

const struct dp__component_kind dp__component_poisson = {
	.cgf = poisson_component_cgf,
	.profile = poisson_component_profile,
	.tail_cutoff = poisson_component_tail_cutoff,
	.rough_points = gaussian_rough_points,
	.max_loss = poisson_component_max_loss,
	.loss_scale = gaussian_loss_scale,
	.exact_epsilon = gaussian_exact_epsilon,
	.discretise = dp__gaussian_discretise,
	.is_asymmetric = true,
};
