/* pld_part.c - the privacy loss of one use of a mechanism: profile, picture, grid.
 *
 * A profile is delta as a function of epsilon of a pair of distributions that
 * dominates every pair of neighbours; such pairs compose (Zhu, Dong and Wang, Optimal
 * Accounting of Differential Privacy via Characteristic Function, AISTATS 2022,
 * Theorem 10). Worst-case data sets need not (Lebeda, Regehr, Kamath and Steinke,
 * Avoiding Pitfalls for Privacy Accounting of Subsampled Mechanisms under Composition,
 * 2024), which is why none are composed here.
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

/* delta of the plain Gaussian mechanism; e may be negative. */
static double gaussian(double mu, double e, double *slack)
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
	*slack = 4 * DBL_EPSILON * (2 + fabs(e)) * cdf;
	return fmax(d, 0);
}

static double sampled(double q, double mu, double x, double *slack)
{
	double e = x > 600 ? x - log(q) : log1p(expm1(x) / q), d;

	d = q * gaussian(mu, e, slack);
	*slack *= q;
	return d;
}

/* The other direction: N(0) against the mixture. */
static double unsampled(double q, double mu, double x, double *slack)
{
	double y = q - (1 - q) * expm1(x), d;

	*slack = 0;
	if (!(y > 0))
		return 0;
	d = y * gaussian(mu, log(q / y) + x, slack);
	*slack = *slack * y + 4 * DBL_EPSILON * d * (1 + q / y);
	return d;
}

double dp__part_profile(const struct dp__part *p, enum dp__direction d, double x,
			double *slack)
{
	double v = 0;

	switch (p->kind) {
	case DP__PART_POISSON:
		if (d == DP__ADD)
			return unsampled(p->q, p->mu, x, slack);
		/* fall through */
	case DP__PART_WOR:
		return sampled(p->q, p->mu, x, slack);
	case DP__PART_LAPLACE:
		v = x < p->mu ? -expm1(0.5 * (x - p->mu)) : 0;
		break;
	case DP__PART_PURE: /* randomised response dominates */
		v = x < p->mu ? -expm1(x - p->mu) / (1 + exp(-p->mu)) : 0;
		break;
	}
	*slack = 4 * DBL_EPSILON * v;
	return v;
}

double dp__part_end(const struct dp__part *p, enum dp__direction d, double log_tail)
{
	double lo = 0, hi, e, slack;

	if (p->kind == DP__PART_LAPLACE || p->kind == DP__PART_PURE)
		return p->mu;
	if (p->kind == DP__PART_POISSON && d == DP__ADD) {
		hi = -log1p(-p->q);
		if (!(hi > 0))
			return hi;
		for (int i = 0; i < 50; i++) {
			double mid = 0.5 * (lo + hi);
			double v = dp__part_profile(p, d, mid, &slack);

			*(v > exp(log_tail) ? &lo : &hi) = mid;
		}
		return hi;
	}
	e = dp__gaussian_epsilon(p->mu, fmin(log_tail - log(p->q), 0));
	return e > 600 ? e + log(p->q) : log1p(p->q * expm1(e));
}

static void point(struct dp__points *s, double x, double w, double end)
{
	if (s->n == DP__POINTS_MAX || w < 1e-60 || fabs(x) > end)
		return;
	s->x[s->n] = x;
	s->w[s->n++] = w;
	s->rest -= w;
}

/* Weight of the i-th point of a trapezoid rule that starts at a cut, in steps: with
 * Gregory's corrections up to fifth differences. A million steps multiply the error of
 * the cut, so a plain half weight would not do. */
static double start_weight(int i)
{
	static const double w[] = {
		0.5 - 1 / 12. - 1 / 24. - 19 / 720. - 3 / 160. - 863 / 60480.,
		1 + 1 / 12. + 2 / 24. + 3 * 19 / 720. + 4 * 3 / 160. + 5 * 863 / 60480.,
		1 - 1 / 24. - 3 * 19 / 720. - 6 * 3 / 160. - 10 * 863 / 60480.,
		1 + 19 / 720. + 4 * 3 / 160. + 10 * 863 / 60480.,
		1 - 3 / 160. - 5 * 863 / 60480.,
		1 + 863 / 60480.
	};

	return i < (int)DP_COUNT(w) ? w[i] : 1;
}

/* Points of the Gaussian from `from` standard deviations to `to`; `cut`: the range
 * begins within the hill. */
static void gaussian_points(struct dp__points *s, enum dp__direction d, double from,
			    double to, bool cut, double end)
{
	const struct dp__part *p = s->part;
	/* losses grow with mu z: keep them close where the noise is low, too */
	double q = p->q, mu = p->mu, step = 1 / fmin(16 * fmax(mu, 1), 40);

	for (int i = 0; from + i * step < to; i++) {
		double z = from + i * step, u = mu * (z - 0.5 * mu);
		double x = u > 600 ? u + log(q) : log1p(q * expm1(u));
		double h = step * (cut ? start_weight(i) : 1);
		double n0 = exp(-0.5 * z * z - LOG_SQRT_2PI) * h;
		double n1 = exp(-0.5 * (z - mu) * (z - mu) - LOG_SQRT_2PI) * h;
		double w = (1 - q) * n0 + q * n1;

		if (p->kind == DP__PART_POISSON) {
			point(s, d == DP__ADD ? -x : x, d == DP__ADD ? n0 : w, end);
		} else {
			point(s, x, w, end);
			point(s, -x, n0, end);
		}
	}
}

/* Without replacement the losses above zero and their mirror images, else all. Where
 * the two hills of low noise are far apart, what lies between them is left out. */
static void gaussian_fill(struct dp__points *s, enum dp__direction d, double end)
{
	const double reach = 11;
	double mu = s->part->mu, from = s->part->kind == DP__PART_WOR ? 0.5 * mu : -reach;
	bool cut = s->part->kind == DP__PART_WOR;

	if (mu - reach > fmax(from, reach)) {
		gaussian_points(s, d, from, reach, cut, end);
		gaussian_points(s, d, mu - reach, mu + reach, false, end);
	} else {
		gaussian_points(s, d, from, mu + reach, cut, end);
	}
}

void dp__points_fill(struct dp__points *s, const struct dp__part *p, enum dp__direction d,
		     double end)
{
	s->part = p;
	s->n = 0;
	s->rest = 1;
	switch (p->kind) {
	case DP__PART_WOR:
	case DP__PART_POISSON:
		gaussian_fill(s, d, end);
		break;
	case DP__PART_LAPLACE:
		point(s, p->mu, 0.5, INFINITY);
		point(s, -p->mu, 0.5 * exp(-p->mu), INFINITY);
		for (int i = 0; i < 256; i++) {
			double x = (2 * (i + 0.5) / 256 - 1) * p->mu;

			point(s, x, 0.25 * exp(0.5 * (x - p->mu)) * p->mu / 128,
			      INFINITY);
		}
		break;
	case DP__PART_PURE:
		point(s, p->mu, 1 / (1 + exp(-p->mu)), INFINITY);
		point(s, -p->mu, 1 / (1 + exp(p->mu)), INFINITY);
		break;
	}
}

void dp__points_cumulants(const struct dp__points *s, double tilt, int order, double k[5])
{
	double top = 0, m[5] = { s->rest, 0, 0, 0, 0 }, sum;

	for (size_t i = 0; i < s->n; i++)
		top = fmax(top, tilt * s->x[i]);
	m[0] *= exp(-top);
	for (size_t i = 0; i < s->n; i++) {
		double x = s->x[i], e = tilt * x - top, w;

		if (e < -200)
			continue;
		w = s->w[i] * exp(e);
		for (int j = 0; j <= order; j++, w *= x)
			m[j] += w;
	}
	sum = m[0];
	k[0] = top + log(sum);
	for (int j = 1; j <= order; j++)
		m[j] /= sum;
	k[1] = m[1];
	k[2] = m[2] - m[1] * m[1];
	k[3] = m[3] - 3 * m[1] * m[2] + 2 * m[1] * m[1] * m[1];
	k[4] = m[4] - 4 * m[1] * m[3] - 3 * m[2] * m[2] + 12 * m[1] * m[1] * m[2] -
	       6 * m[1] * m[1] * m[1] * m[1];
}

double dp__points_spread(const struct dp__points *s, double tilt, double h)
{
	double top = 0, sum, added = 0;

	for (size_t i = 0; i < s->n; i++)
		top = fmax(top, tilt * s->x[i]);
	sum = s->rest * exp(-top);
	for (size_t i = 0; i < s->n; i++) {
		double e = tilt * s->x[i] - top, w, part;

		if (e < -60)
			continue;
		w = s->w[i] * exp(e);
		part = s->x[i] / h - floor(s->x[i] / h);
		sum += w;
		added += w * part * (1 - part);
	}
	return 0.5 * tilt * (tilt + 1) * h * h * added / sum;
}

double dp__points_outside(const struct dp__points *s, double tilt, double h)
{
	double k[5], sum = 0;

	dp__points_cumulants(s, tilt, 0, k);
	for (size_t i = 0; i < s->n; i++)
		sum += s->w[i] * exp(tilt * s->x[i] - k[0]) * fmin(fabs(s->x[i]) / h, 1);
	return sum;
}

/* Connect the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022): the pair
 * whose profile is linear in exp(x) between the grid's points dominates. Its mass at
 * x_i, i > 0, from second differences; returns the mass at infinity. */
static double one_side(struct dp__grid *g, double *mass, size_t n,
		       const struct dp__part *p, enum dp__direction d, double *slack)
{
	double eh = exp(g->h), step = expm1(g->h), d0, d1, d2 = 0, s0, s1, s2 = 0;

	d0 = dp__part_profile(p, d, 0, &s0);
	d1 = dp__part_profile(p, d, g->h, &s1);
	for (size_t i = 1; i <= n; i++) {
		double m;

		if (i < n) {
			d2 = dp__part_profile(p, d, (double)(i + 1) * g->h, &s2);
			m = ((d2 - d1) - eh * (d1 - d0)) / step;
			slack[i] = (s2 + (1 + eh) * s1 + eh * s0) / step;
		} else {
			m = eh * (d0 - d1) / step;
			slack[i] = eh * (s0 + s1) / step;
		}
		mass[i] = fmax(m, 0);
		if (i < n) {
			d0 = d1, s0 = s1;
			d1 = d2, s1 = s2;
		}
	}
	return d1;
}

void dp__grid_fill(struct dp__grid *g, const struct dp__part *p, enum dp__direction d,
		   double theta, double about_shift, double about_chernoff)
{
	/* the tail of each array serves as room for the slacks */
	double *sa = g->a + g->na + 2, *sb = g->b + g->nb + 2;
	double zero = 1, sum = 0, raised = 0, slack = 0, loose = 0;
	bool twin = p->kind != DP__PART_POISSON;

	g->infinite = one_side(g, g->a, g->na, p, d, sa);
	if (!twin)
		one_side(g, g->b, g->nb, p, d == DP__ADD ? DP__REMOVE : DP__ADD, sb);
	for (size_t i = 1; i <= g->nb; i++) {
		double x = (double)i * g->h, e = exp(-x);
		double m = (twin ? g->a[i] : g->b[i]) * e,
		       t = exp(-g->tilt * x - about_shift);
		double s = (twin ? sa[i] : sb[i]) * e;

		zero -= m;
		g->b[i] = m * t;
		sum += g->b[i];
		raised += m * exp(-(g->tilt + theta) * x - about_chernoff);
		slack += s * t;
		loose += s;
	}
	for (size_t i = 1; i <= g->na; i++) {
		double x = (double)i * g->h, m = g->a[i];
		double t = exp(g->tilt * x - about_shift);

		zero -= m;
		g->a[i] = m * t;
		sum += g->a[i];
		raised += m * exp((g->tilt + theta) * x - about_chernoff);
		slack += sa[i] * t;
		loose += sa[i];
	}
	zero = fmax(zero - g->infinite, 0);
	g->a[0] = zero * exp(-about_shift);
	sum += g->a[0];
	raised += zero * exp(-about_chernoff);
	slack += (loose + 16 * DBL_EPSILON) * exp(-about_shift);
	g->slack = slack / sum;
	g->shift = about_shift + log(sum);
	g->chernoff = about_chernoff + log(raised) - g->shift;
	for (size_t i = 0; i <= g->na; i++)
		g->a[i] /= sum;
	for (size_t i = 1; i <= g->nb; i++)
		g->b[i] /= sum;
}
