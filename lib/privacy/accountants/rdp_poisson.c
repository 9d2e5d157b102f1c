/* rdp_poisson.c - Renyi divergence of Gaussian noise on a Poisson-sampled lot.
 *
 * Mironov, Talwar and Zhang, Renyi Differential Privacy of the Sampled Gaussian Mechanism, 2019:
 * Theorem 4 (which direction is worse), section 3.3 for integer orders. Neighbours: one record
 * added or removed. sigma is the noise's standard deviation over the sensitivity L under that
 * relation. */
#include "privacy/privacy_internal.h"

#include <math.h>

#define REACH      10.0  /* standard deviations */
#define BLOCKS_MAX 20000 /* limit for one order: a few milliseconds */

static double log_expm1(double x)
{
	return x > 40 ? x : log(expm1(x));
}

struct poisson_terms {
	double slope;
};

static double poisson_log_coefficient(void *ctx, uint32_t j)
{
	const struct poisson_terms *i = ctx;

	return log_expm1((double)j * ((double)j - 1) * i->slope);
}

static double log1p_exp(double x)
{
	return x > 36 ? x : log1p(exp(x));
}

/* A - 1 as a sum of positive terms: the binomial weights sum to one, so each M_j loses one. */
static double poisson_cgf_integer(const struct dp__rdp_poisson *p, uint32_t order)
{
	struct poisson_terms i = { 0.5 / (p->sigma * p->sigma) };
	double odds = log(p->q) - log1p(-p->q);
	double sum = dp__log_binomial_sum(order, odds, i.slope, poisson_log_coefficient, &i);

	return log1p_exp(sum + order * log1p(-p->q));
}

/* Its mean is A - 1, since t has mean zero, and it is never negative. */
double dp__rdp_poisson_log_excess(double lw, double gap)
{
	double sum, term, powers = gap, sign = 1;

	if (fmax(gap, 1) * fabs(lw) < 0.1) {
		sum = 0;
		term = gap * lw;
		for (int m = 2; m < 14; m++) {
			powers *= gap; /* gap^m */
			term *= lw / m;
			sum += term * (powers / gap + sign);
			sign = -sign;
		}
		return lw + log(sum);
	}
	if (gap * lw > 40)
		return lw + gap * lw;
	return lw + log(expm1(gap * lw) + gap * expm1(-lw));
}

/* Log of the integrand at x, without the normal density's constant. */
static double poisson_log_integrand(const struct dp__rdp_poisson *p, double gap, double x)
{
	double var = p->sigma * p->sigma, u = (x - 0.5) / var;
	double lw = u > 600 ? log(p->q) + u : log1p(p->q * expm1(u));
	double f = dp__rdp_poisson_log_excess(lw, gap);

	return isnan(f) ? -INFINITY : f - 0.5 * x * x / var;
}

/* A bound where the integral would take too long, with hardly any noise: K is convex and zero at
 * order one, so a chord bounds it, and so does joint convexity. */
static double poisson_cgf_bound(const struct dp__rdp_poisson *p, double order)
{
	double below = floor(order), part = order - below;
	double low = below > 1 ? poisson_cgf_integer(p, (uint32_t)below) : 0;
	double high = poisson_cgf_integer(p, (uint32_t)below + 1);

	return fmin((1 - part) * low + part * high, dp__rdp_sampled_cgf(p->q, 1 / p->sigma, order));
}

/* Any order by the trapezoid rule. The integrand is analytic in a strip of half width pi sigma^2,
 * and its peaks have width sigma: the step follows the smaller. */
static double poisson_cgf_real(const struct dp__rdp_poisson *p, double order)
{
	enum {
		BLOCK = 8
	};
	double s = p->sigma, step = fmin(s / 8, s * s / 2), gap = order - 1;
	double from = -REACH * s, top = -INFINITY, sum = 0;
	double wanted = ceil((order + 2 * REACH * s) / (BLOCK * step)), left, right;
	long blocks;

	if (!(wanted <= BLOCKS_MAX))
		return poisson_cgf_bound(p, order);
	blocks = (long)wanted;
	for (long b = 0; b <= blocks; b++)
		top = fmax(top, poisson_log_integrand(p, gap, from + (double)(b * BLOCK) * step));
	left = poisson_log_integrand(p, gap, from);
	for (long b = 0; b < blocks; b++) {
		right = poisson_log_integrand(p, gap, from + (double)((b + 1) * BLOCK) * step);
		sum += exp(left - top);
		/* a block with both ends far below the top is negligible */
		for (int i = 1; i < BLOCK && fmax(left, right) > top - 80; i++)
			sum += exp(poisson_log_integrand(p, gap,
							 from + (double)(b * BLOCK + i) * step) -
				   top);
		left = right;
	}
	return log1p_exp(top + log(sum) + log(step / (s * sqrt(2 * M_PI))));
}

double dp__rdp_poisson_cgf(const struct dp__rdp_poisson *p, double order)
{
	double whole = order * (order - 1) * 0.5 / (p->sigma * p->sigma), k;

	if (p->q >= 1)
		return whole;
	k = order >= 2 && order == floor(order) ? poisson_cgf_integer(p, (uint32_t)order)
						: poisson_cgf_real(p, order);
	return fmin(k, whole);
}
