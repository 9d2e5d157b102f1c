/* rdp_dominating_pair.c - Renyi divergence without replacement, from the dominating pair.
 *
 * For one record replaced by another, no hockey-stick divergence of one step exceeds H(y) = q H_G(1
 * + (y - 1) / q) for y >= 1, H_G being that of the Gaussian mechanism, and its mirror image for y <
 * 1 (component_gaussian.c has the proof). exp K is 1 + the f-divergence of f(y) = y^a - 1 - a (y -
 * 1), every f-divergence is an average of hockey-sticks with weights f''(y), and so
 *     exp K - 1 <= a (a - 1) x integral over y > 1 of (y^(a-2) + y^(-a-1)) H(y).
 * With H_G(u) = E[(r - u)+] for the Gaussian's likelihood ratio r and w = 1 + q (r - 1) that is the
 * mean of w^a - 1 - w + w^(1-a) over r > 1, which is
 *     exp K - 1 <= E[w (w^(a-1) - 1) (1 - w^-a) 1(r > 1)].
 * Exact for the pair, at every real order; for q = 1 it is that of the Gaussian mechanism. Wang,
 * Balle and Kasiviswanathan's bound (rdp_wor.c) is about three times as large. */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <stdlib.h>

/* r > 1 where the result is above 1/2. Results are 1/2 + sigma log(1 + exp v): evenly spaced far
 * from 1/2, and dense close to it, where the integrand starts as a square. The trapezoid rule in v
 * is exact up to exp(-2 pi^2 / step), or with pi sigma in place of one pi for low noise, the
 * distance of w = 0 from the axis. */
#define STEP     0.5
#define FIRST    (-12.0) /* exp(3 v) is 2e-16 there */
#define NO_DIGIT 150.0   /* natural log of a ratio */
#define REACH    9.0     /* standard deviations past the last peak, at result = order */

enum {
	DOMINATING_NODES_MAX = 1 << 12 /* nodes; beyond this, other bounds are as good */
};

struct dp__rdp_dominating {
	double q, sigma;
	/* by node: log w, and the log of its probability */
	double *log_w, *log_p;
	size_t n_nodes, capacity;
};

struct dp__rdp_dominating *dp__rdp_dominating_new(void)
{
	return dp_calloc(1, sizeof(struct dp__rdp_dominating));
}

void dp__rdp_dominating_free(struct dp__rdp_dominating *d)
{
	if (!d)
		return;
	free(d->log_w);
	free(d->log_p);
	free(d);
}

void dp__rdp_dominating_set(struct dp__rdp_dominating *d, double q, double sigma)
{
	if (d->q != q || d->sigma != sigma)
		d->n_nodes = 0;
	d->q = q;
	d->sigma = sigma;
}

static double dominating_step(double sigma)
{
	return fmin(STEP, 0.5 * sigma);
}

static double dominating_count_nodes(double sigma, double order)
{
	return ceil((REACH + order / sigma - FIRST) / dominating_step(sigma));
}

static void dominating_compute_node(double q, double sigma, size_t i, double *log_w, double *log_p)
{
	double step = dominating_step(sigma), v = FIRST + (double)i * step;
	double far = v > 36 ? v : log1p(exp(v)), u = far / sigma;
	double z = 0.5 / sigma + far; /* the result in standard deviations */

	*log_w = u > 600 ? log(q) + u : log1p(q * expm1(u));
	*log_p = -0.5 * z * z - log1p(exp(-v)) + log(step / sqrt(2 * M_PI));
}

static void dominating_grow(struct dp__rdp_dominating *d, size_t n)
{
	size_t room = d->capacity ? d->capacity : 128;

	while (room < n)
		room *= 2;
	if (room > d->capacity) {
		d->log_w = dp_realloc(d->log_w, room * sizeof *d->log_w);
		d->log_p = dp_realloc(d->log_p, room * sizeof *d->log_p);
		d->capacity = room;
	}
	for (; d->n_nodes < n; d->n_nodes++)
		dominating_compute_node(d->q, d->sigma, d->n_nodes, &d->log_w[d->n_nodes],
					&d->log_p[d->n_nodes]);
}

/* log(exp(x) - 1) for x > 0. */
static double dominating_log_expm1(double x)
{
	return x > 40 ? x : log(expm1(x));
}

/* A running sum of exponentials. */
struct dominating_sum {
	double top, sum;
};

static void dominating_sum_add(struct dominating_sum *s, double log_w, double log_p, double order)
{
	double term = log_p + log_w + dominating_log_expm1((order - 1) * log_w) +
		      log(-expm1(-order * log_w));

	if (term > s->top) {
		s->sum = s->sum * exp(s->top - term) + 1;
		s->top = term;
	} else if (term > s->top - 45) {
		s->sum += exp(term - s->top);
	}
}

/* A term is at most w^order times its probability. Terms where that is below the result are too
 * small against the largest term to change a digit of the sum: most nodes, at high orders. */
static double dominated_least(const struct dp__rdp_dominating *d, size_t nodes, double order)
{
	struct dominating_sum s = { -INFINITY, 0 };
	double most = -INFINITY;
	size_t at = 0;

	for (size_t i = 0; i < nodes; i++) {
		double bound = d->log_p[i] + order * d->log_w[i];

		if (bound > most) {
			most = bound;
			at = i;
		}
	}
	dominating_sum_add(&s, d->log_w[at], d->log_p[at], order);
	return s.top - NO_DIGIT;
}

double dp__rdp_dominating_cgf(struct dp__rdp_dominating *d, double order)
{
	double nodes = dominating_count_nodes(d->sigma, order), least, e;
	struct dominating_sum s = { -INFINITY, 0 };

	if (!(nodes <= DOMINATING_NODES_MAX))
		return INFINITY;
	dominating_grow(d, (size_t)nodes);
	least = dominated_least(d, (size_t)nodes, order);
	for (size_t i = 0; i < (size_t)nodes; i++)
		if (d->log_p[i] + order * d->log_w[i] > least)
			dominating_sum_add(&s, d->log_w[i], d->log_p[i], order);
	e = s.top + log(s.sum);
	return e > 36 ? e : log1p(exp(e));
}

double dp__rdp_dominating_log_excess(double q, double sigma, double order,
				     struct dp__rdp_wor *tables)
{
	double nodes = dominating_count_nodes(sigma, order), log_w, log_p;
	struct dominating_sum s = { -INFINITY, 0 };

	if (!(nodes <= DOMINATING_NODES_MAX))
		return INFINITY;
	dp__wor_worked(tables, nodes);
	for (size_t i = 0; i < (size_t)nodes; i++) {
		dominating_compute_node(q, sigma, i, &log_w, &log_p);
		dominating_sum_add(&s, log_w, log_p, order);
	}
	return s.top + log(s.sum);
}
