/* part_gaussian.c - Gaussian noise on sampled lots, as a part of a composition.
 *
 * Without replacement, replace-one: for x >= 0 amplification by subsampling gives
 * delta(x) = q delta_G(log(1 + (exp(x) - 1) / q)) (Balle, Barthe and Gaboardi 2018,
 * Theorem 2 with advanced joint convexity: the complements of the two sampled
 * mechanisms are neighbours as well, so the same divergence bounds both). Replace-one
 * is symmetric, so for x < 0 delta(x) = 1 - exp(x) + exp(x) delta(-x) (Zhu et al.,
 * Proposition 30 pieces them together). The pieced curve is a profile of some pair
 * because, in y = exp(x), it is convex, falling and at least (1 - y)+: at the seam the
 * slope is -c on the right and -1 + q (1 - 2c) + c <= -c on the left, c = Phi(-mu/2).
 *
 * Poisson, add or remove one: the mixture (1-q) N(0, s^2) + q N(1, s^2) against
 * N(0, s^2), and the other way round, dominate (Zhu et al., Theorem 11). */
#include "privacy/pld_internal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

/* ---- Renyi ---- */

static double poisson_part_cgf(const struct dp_privacy_part *p, struct dp__wor *tables,
			       double order)
{
	struct dp__poisson poisson = { p->q, 1 / p->mu };

	(void)tables;
	return dp__poisson_cgf(&poisson, order);
}

static bool wor_part_set(const struct dp_privacy_part *p, struct dp__wor *tables)
{
	return p->q >= 1 || dp__wor_set(tables, 1 / p->mu, p->tight);
}

static double wor_part_cgf(const struct dp_privacy_part *p, struct dp__wor *tables, double order)
{
	return p->q < 1
		       ? fmin(dp__wor_cgf(tables, p->q, order), dp__sampled_cgf(p->q, p->mu, order))
		       : 0.5 * order * (order - 1) * p->mu * p->mu;
}

/* ---- loss distribution ---- */

/* delta of the plain Gaussian mechanism; e may be negative. */
static double plain_profile(double mu, double e, double *slack)
{
	double a = 0.5 * mu - e / mu, cdf, d;

	if (e == INFINITY) {
		*slack = 0;
		return 0;
	}
	cdf = dp__normal_cdf(a);
	if (a < mu) /* the usual case; else Mills' ratio would overflow */
		d = cdf - exp(-0.5 * a * a - LOG_SQRT_2PI) * dp__mills(mu - a);
	else
		d = cdf - exp(e) * dp__normal_cdf(a - mu);
	/* Both terms share the rounding of a; those of erfc, exp and Mills' ratio go
	 * with the squares of their arguments. */
	*slack = 4 * DBL_EPSILON * (8 + fabs(e) + mu * mu + a * a) * cdf;
	return fmax(d, 0);
}

static double lot_profile(double q, double mu, double x, double *slack)
{
	double e = x > 600 ? x - log(q) : log1p(expm1(x) / q), d;

	d = q * plain_profile(mu, e, slack);
	*slack *= q;
	return d;
}

/* The other direction: N(0) against the mixture. */
static double added_profile(double q, double mu, double x, double *slack)
{
	double y = q - (1 - q) * expm1(x), d;

	*slack = 0;
	if (!(y > 0))
		return 0;
	d = y * plain_profile(mu, log(q / y) + x, slack);
	*slack = *slack * y + 8 * DBL_EPSILON * d * (1 + q / y);
	return d;
}

static double wor_part_profile(const struct dp_privacy_part *p, enum dp__direction d, double x,
			       double *slack)
{
	(void)d;
	return lot_profile(p->q, p->mu, x, slack);
}

static double poisson_part_profile(const struct dp_privacy_part *p, enum dp__direction d, double x,
				   double *slack)
{
	return d == DP__ADD ? added_profile(p->q, p->mu, x, slack)
			    : lot_profile(p->q, p->mu, x, slack);
}

static double wor_part_end(const struct dp_privacy_part *p, enum dp__direction d, double log_tail)
{
	double e = dp__gaussian_epsilon(p->mu, fmin(log_tail - log(p->q), 0));

	(void)d;
	return e > 600 ? e + log(p->q) : log1p(p->q * expm1(e));
}

static double poisson_part_end(const struct dp_privacy_part *p, enum dp__direction d,
			       double log_tail)
{
	double lo = 0, hi = -log1p(-p->q), slack;

	if (d == DP__REMOVE)
		return wor_part_end(p, d, log_tail);
	if (!(hi > 0))
		return hi;
	for (int i = 0; i < 50; i++) {
		double mid = 0.5 * (lo + hi);
		double v = added_profile(p->q, p->mu, mid, &slack);

		*(v > exp(log_tail) ? &lo : &hi) = mid;
	}
	return hi;
}

/* Weight of the i-th point of a trapezoid rule that starts at a cut, in steps: with
 * Gregory's corrections up to fifth differences. A million steps multiply the error of
 * the cut, so a plain half weight would not do. */
static double start_weight(int i)
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

/* Points of the Gaussian from `from` standard deviations to `to`; `cut`: the range
 * begins within the hill. */
static void gaussian_points(struct dp__points *s, const struct dp_privacy_part *p,
			    enum dp__direction d, double from, double to, bool cut, double end)
{
	double q = p->q, mu = p->mu, step;

	/* losses grow with mu z: keep them close where the noise is low, too; but there
	 * is room for a quarter of the points only, two sides of two hills */
	step = fmax(1 / fmin(16 * fmax(mu, 1), 40), 4 * (to - from) / DP__POINTS_MAX);

	for (int i = 0; from + i * step < to; i++) {
		double z = from + i * step, u = mu * (z - 0.5 * mu);
		double x = u > 600 ? u + log(q) : log1p(q * expm1(u));
		double h = step * (cut ? start_weight(i) : 1);
		double n0 = exp(-0.5 * z * z - LOG_SQRT_2PI) * h;
		double n1 = exp(-0.5 * (z - mu) * (z - mu) - LOG_SQRT_2PI) * h;
		double w = (1 - q) * n0 + q * n1;

		if (p->kind->sided) {
			dp__points_add(s, d == DP__ADD ? -x : x, d == DP__ADD ? n0 : w, end);
		} else {
			dp__points_add(s, x, w, end);
			dp__points_add(s, -x, n0, end);
		}
	}
}

/* Without replacement the losses above zero and their mirror images, else all. Where
 * the two hills of low noise are far apart, what lies between them is left out. */
static void gaussian_picture(struct dp__points *s, const struct dp_privacy_part *p,
			     enum dp__direction d, double end)
{
	bool cut = !p->kind->sided;
	double mu = p->mu, reach, from;

	/* as far as the grid goes, and past 11 standard deviations */
	reach = (end > 600 ? end - log(p->q) : log1p(expm1(end) / p->q)) / mu - 0.5 * mu;
	reach = fmin(fmax(reach + 1, 11), 36);
	from = cut ? 0.5 * mu : -reach;

	if (mu - reach > fmax(from, reach)) {
		gaussian_points(s, p, d, from, reach, cut, end);
		gaussian_points(s, p, d, mu - reach, mu + reach, false, end);
	} else {
		gaussian_points(s, p, d, from, mu + reach, cut, end);
	}
}

static double wor_part_most(const struct dp_privacy_part *p, enum dp__direction d)
{
	(void)p;
	(void)d;
	return INFINITY;
}

static double poisson_part_most(const struct dp_privacy_part *p, enum dp__direction d)
{
	return d == DP__REMOVE ? INFINITY : -log1p(-p->q);
}

/* That of normal noise grows with the square of mu. */
static double gaussian_size(const struct dp_privacy_part *p)
{
	return p->mu * p->mu;
}

/* Lots of all records any number of times, or one use: no grid is needed. */
static double gaussian_alone(const struct dp_privacy_part *p, double delta)
{
	double log_delta = log(delta), epsilon;

	if (p->q >= 1)
		return dp__gaussian_epsilon(p->mu * sqrt(p->count) *
						    (p->count == 1 ? 1 : 1 + 4 * DBL_EPSILON),
					    log_delta);
	if (p->count != 1)
		return NAN;
	epsilon = p->kind->end(p, DP__REMOVE, log_delta);
	return p->kind->sided ? fmax(epsilon, p->kind->end(p, DP__ADD, log_delta))
			      : fmax(epsilon, 0);
}

const struct dp__part_kind dp__part_wor = {
	.set = wor_part_set,
	.cgf = wor_part_cgf,
	.profile = wor_part_profile,
	.end = wor_part_end,
	.picture = gaussian_picture,
	.most = wor_part_most,
	.size = gaussian_size,
	.alone = gaussian_alone,
	.cells = dp__gaussian_cells,
};

const struct dp__part_kind dp__part_poisson = {
	.cgf = poisson_part_cgf,
	.profile = poisson_part_profile,
	.end = poisson_part_end,
	.picture = gaussian_picture,
	.most = poisson_part_most,
	.size = gaussian_size,
	.alone = gaussian_alone,
	.cells = dp__gaussian_cells,
	.sided = true,
};
