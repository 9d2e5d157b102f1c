/* rdp_wor.c - Renyi divergence of Gaussian noise on a lot drawn without replacement.
 *
 * Wang, Balle and Kasiviswanathan, Subsampled Renyi Differential Privacy and Analytical Moments
 * Accountant, AISTATS 2019: Theorem 9 for any mechanism ("general"), Theorem 27 with the ternary
 * divergences of the Gaussian ("tight"). Neighbours: one record replaced by another. sigma is the
 * noise's standard deviation over the L2 sensitivity under that relation (2L for gradients clipped
 * to L). */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quadrature in units of sigma: the integrand is a pair of peaks no narrower than sigma / sqrt(2),
 * so steps of a third make the trapezoid rule exact in double. */
#define STEP  (1.0 / 3)
#define REACH 9.5 /* half width of a peak, beyond which it is below 1e-19 */

struct dp__rdp_wor {
	double sigma, slope; /* slope = 1 / (2 sigma^2) */
	bool tight;
	/* log c_j by j and log B(l) by l / 2; NaN until computed */
	double *log_c, *log_b;
	size_t n_orders;
	/* log|exp((x - 1/2) / sigma^2) - 1| at x = k STEP sigma by k, for both signs */
	double *positive_nodes, *negative_nodes;
	size_t positive_capacity, negative_capacity, n_positive, n_negative; /* allocated, filled */
	double work; /* total, in grid cells */
};

struct dp__rdp_wor *dp__rdp_wor_new(void)
{
	return dp_calloc(1, sizeof(struct dp__rdp_wor));
}

void dp__rdp_wor_free(struct dp__rdp_wor *w)
{
	if (!w)
		return;
	free(w->log_c);
	free(w->log_b);
	free(w->positive_nodes);
	free(w->negative_nodes);
	free(w);
}

/* New entries are NaN. */
static void wor_grow_array(double **array, size_t have, size_t want)
{
	*array = dp_realloc(*array, want * sizeof **array);
	for (size_t i = have; i < want; i++)
		(*array)[i] = NAN;
}

static void wor_grow_orders(struct dp__rdp_wor *w, size_t j)
{
	size_t want = 256;

	while (want <= j + 2)
		want *= 2;
	if (want <= w->n_orders)
		return;
	wor_grow_array(&w->log_c, w->n_orders, want);
	wor_grow_array(&w->log_b, w->n_orders, want);
	w->n_orders = want;
}

void dp__wor_worked(struct dp__rdp_wor *w, double work)
{
	if (w)
		w->work += work;
}

double dp__wor_work(const struct dp__rdp_wor *w)
{
	return w ? w->work : 0;
}

void dp__rdp_wor_set_noise(struct dp__rdp_wor *w, double sigma, bool tight)
{
	if (w->n_orders == 0)
		wor_grow_orders(w, 0);
	if (w->sigma == sigma && w->tight == tight)
		return;
	for (size_t i = 0; i < w->n_orders; i++)
		w->log_c[i] = w->log_b[i] = NAN;
	w->sigma = sigma;
	w->slope = 0.5 / (sigma * sigma);
	w->tight = tight;
	w->n_positive = w->n_negative = 0;
}

static double wor_compute_node(const struct dp__rdp_wor *w, bool negative, size_t k)
{
	double x = (double)k * STEP * w->sigma;
	double u = ((negative ? -x : x) - 0.5) * 2 * w->slope;

	return u > 40 ? u : log(fabs(expm1(u)));
}

/* Fills nodes 0..k of one side. */
static void wor_fill_nodes(struct dp__rdp_wor *w, bool negative, size_t k)
{
	double **a = negative ? &w->negative_nodes : &w->positive_nodes;
	size_t *room = negative ? &w->negative_capacity : &w->positive_capacity;
	size_t *have = negative ? &w->n_negative : &w->n_positive, want = 256;

	while (want <= k)
		want *= 2;
	if (want > *room) {
		wor_grow_array(a, *room, want);
		*room = want;
	}
	for (; *have <= k; ++*have)
		(*a)[*have] = wor_compute_node(w, negative, *have);
}

/* log of the sum of one side's peak: exp(l log|...| - x^2 / (2 sigma^2)). False if it would take
 * too long. Two peaks on one side (0 < x < 1/2 and beyond) merge well within REACH. */
static bool wor_integrate_side(struct dp__rdp_wor *w, bool negative, double l, double *out)
{
	const double *a;
	/* the peak lies within (0, l + sigma sqrt(l) + 1/2) on the positive side and within sigma
	 * sqrt(l) on the other; both in units of STEP sigma */
	double far = (negative ? sqrt(l) : sqrt(l) + (l + 0.5) / w->sigma) / STEP;
	double reach = REACH / STEP, g = 0.5 * STEP * STEP, top = -INFINITY, sum = 0;
	size_t lo = 0, hi, k;

	if (far + reach > 1e7)
		return false;
	wor_fill_nodes(w, negative, (size_t)(far + reach + 2));
	a = negative ? w->negative_nodes : w->positive_nodes;
	hi = (size_t)(far + 1);
	/* climbs while the next node is higher; the peak is log-concave past x = 1/2 */
	if (!negative)
		lo = (size_t)(0.5 / (w->sigma * STEP)) + 1;
	hi = hi > lo ? hi : lo;
	while (lo < hi) {
		k = (lo + hi) / 2;
		if (l * (a[k + 1] - a[k]) > g * (double)(2 * k + 1))
			lo = k + 1;
		else
			hi = k;
	}
	hi = lo + (size_t)reach;
	k = lo > (size_t)reach ? lo - (size_t)reach : 0;
	top = l * a[lo] - g * (double)lo * (double)lo;
	k = negative && k == 0 ? 1 : k; /* x = 0 is counted once */
	w->work += 0.1 * (double)(hi - k);
	for (; k <= hi; k++) {
		double e = l * a[k] - g * (double)k * (double)k;

		if (e > top - 45)
			sum += exp(e - top);
	}
	*out = top + log(sum);
	return true;
}

/* log B(l) for even l: the l-th central-type moment of the likelihood ratio, as a positive
 * integral. An alternating sum would lose every digit. */
static bool wor_log_moment(struct dp__rdp_wor *w, uint32_t l, double *out)
{
	double *cached = &w->log_b[l / 2], up, down;

	if (isnan(*cached)) {
		if (!wor_integrate_side(w, false, l, &up) || !wor_integrate_side(w, true, l, &down))
			return false;
		*cached = dp__log_add(up, down) + log(STEP / sqrt(2 * M_PI));
	}
	*out = *cached;
	return true;
}

/* True if B(l) is certainly at least half of M_l, by Bernoulli's inequality under the measure
 * tilted by l. Then 2 M_j is the smaller bound and no quadrature is needed. */
static bool wor_moment_is_tight(const struct dp__rdp_wor *w, double l)
{
	return log(l) - (l - 1) * 2 * w->slope <= -M_LN2;
}

static double wor_log_coefficient(void *ctx, uint32_t j)
{
	struct dp__rdp_wor *w = ctx;
	uint32_t even = j & ~1u, next = even + 2 * (j & 1);
	double moment = M_LN2 + (double)j * ((double)j - 1) * w->slope, a, b;

	w->work += 0.5;
	if (j == 2)
		return fmin(moment, 2 * M_LN2 + 2 * w->slope + log(-expm1(-2 * w->slope)));
	if (!w->tight || (wor_moment_is_tight(w, even) && wor_moment_is_tight(w, next)))
		return moment;
	if (j + 2 >= w->n_orders)
		wor_grow_orders(w, j);
	if (!isnan(w->log_c[j]))
		return w->log_c[j];
	if (!wor_log_moment(w, even, &a) || !wor_log_moment(w, next, &b))
		return moment;
	return w->log_c[j] = fmin(moment, 2 * M_LN2 + 0.5 * (a + b));
}

static double wor_cgf_integer(struct dp__rdp_wor *w, double q, uint32_t order)
{
	double sum;

	if (q >= 1)
		return (double)order * ((double)order - 1) * w->slope;
	sum = dp__log_binomial_sum(order, log(q), w->slope, wor_log_coefficient, w);
	return sum > 36 ? sum : log1p(exp(sum));
}

/* Between integers the bound is the chord: K is convex (WBK, Corollary 10). */
double dp__rdp_wor_cgf(struct dp__rdp_wor *w, double q, double order)
{
	uint32_t below = (uint32_t)order;
	double part = order - below;

	if (order <= 2)
		return (order - 1) * wor_cgf_integer(w, q, 2);
	if (part == 0)
		return wor_cgf_integer(w, q, below);
	return (1 - part) * wor_cgf_integer(w, q, below) + part * wor_cgf_integer(w, q, below + 1);
}
