/* attack.h - what an adversary learns about one record, estimated from many studies.
 *
 * Estimates are exact confidence bounds (Clopper and Pearson 1934), so that a test can
 * say how surely a claim is broken. Toy data sets, a toy training on them and its privacy
 * loss stand beside them: an adversary knows both data sets, all settings and all
 * results, and decides what is trained next and when to stop. */
#ifndef DP_TEST_ATTACK_H
#define DP_TEST_ATTACK_H
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A claim counts as broken only where chance would do it once in a billion times. */
#define ATTACK_SURE 1e-9

/* ---- estimates ---- */

/* In so many of n studies. */
struct attack_count {
	uint64_t hits, n;
};

/* Is P(X >= hits) above alpha, at most 1/4, for X binomial (n, p), 0 < p < 1? */
static inline bool attack_likely(struct attack_count c, double p, double alpha)
{
	double n = (double)c.n, k = (double)c.hits, sum = 0;
	double log_term = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
			  (n - k) * log1p(-p);

	if (k <= floor(n * p)) /* the median is not below that */
		return true;
	for (; k <= n && sum <= alpha && log_term > log(alpha) - 40; k++) {
		sum += exp(log_term);
		log_term += log((n - k) / (k + 1)) + log(p) - log1p(-p);
	}
	return sum > alpha;
}

/* The true probability is above this, or else something happened that happens with
 * probability `alpha` at most. */
static inline double attack_lower(struct attack_count c, double alpha)
{
	double lo = 0, hi = 1;

	if (c.hits == 0)
		return 0;
	for (int i = 0; i < 60; i++) {
		double mid = 0.5 * (lo + hi);

		*(attack_likely(c, mid, alpha) ? &hi : &lo) = mid;
	}
	return lo;
}

static inline double attack_upper(struct attack_count c, double alpha)
{
	struct attack_count misses = { c.n - c.hits, c.n };

	return 1 - attack_lower(misses, alpha);
}

/* Counts one study for the real delta at `epsilon`, which is the mean of (1 -
 * exp(epsilon - loss))+ over what the data set with the record gives, also where epsilon
 * follows from what was seen. A coin of that weight makes it a count. */
static inline void attack_delta(struct attack_count *c, double epsilon, double loss,
				struct dp_rng *r)
{
	c->n++;
	if (loss > epsilon)
		c->hits += dp_rng_uniform(r) < -expm1(epsilon - loss);
}

static inline int attack_by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How many of n are on the side of the threshold that `above` names. */
static inline struct attack_count attack_side(const double *x, size_t n, double threshold,
					      bool above)
{
	struct attack_count c = { 0, n };

	for (size_t i = 0; i < n; i++)
		c.hits += (x[i] > threshold) == above;
	return c;
}

/* P(often) <= exp(epsilon) P(seldom) + delta, solved for epsilon with both at the end of
 * their bounds. */
static inline double attack_ratio(struct attack_count often, struct attack_count seldom,
				  double delta, double alpha)
{
	double p = attack_lower(often, alpha / 2) - delta;

	return p > 0 ? log(p / attack_upper(seldom, alpha / 2)) : -INFINITY;
}

/* Roughly that, to choose a threshold by. */
static inline double attack_guess(struct attack_count often, struct attack_count seldom,
				  double delta)
{
	double a = (double)often.hits, b = (double)seldom.hits;
	double p = (a - 4 * sqrt(a + 1)) / (double)often.n - delta;

	return p > 0 ? log(p * (double)seldom.n / (b + 4 * sqrt(b + 4))) : -INFINITY;
}

/* A lower bound of epsilon at delta from one number of each of n studies on either data
 * set, or else something of probability `alpha` happened. Nothing is known about what the
 * number means: the first half of the studies choose a threshold, the second half count.
 * NaN without memory. */
static inline double attack_epsilon(const double *with, const double *without, size_t n,
				    double delta, double alpha)
{
	enum {
		THRESHOLDS = 64
	};
	size_t half = n / 2, rest = n - half;
	double *sorted = malloc(2 * half * sizeof *sorted), best = -INFINITY, at = 0;
	bool swap = false, above = false;
	struct attack_count a, b;

	if (!sorted)
		return NAN;
	memcpy(sorted, with, half * sizeof *sorted);
	memcpy(sorted + half, without, half * sizeof *sorted);
	qsort(sorted, 2 * half, sizeof *sorted, attack_by_size);
	for (int i = 0; i < 4 * THRESHOLDS; i++) {
		/* thresholds lie closer at both ends, where few are left */
		double share = 0.5 - 0.5 * cos(M_PI * (i / 4 + 0.5) / THRESHOLDS);
		double t = sorted[(size_t)(share * (double)(2 * half))], e;

		a = attack_side(i & 1 ? without : with, half, t, i & 2);
		b = attack_side(i & 1 ? with : without, half, t, i & 2);
		e = attack_guess(a, b, delta);
		if (e > best) {
			best = e;
			at = t;
			swap = i & 1;
			above = i & 2;
		}
	}
	free(sorted);
	a = attack_side((swap ? without : with) + half, rest, at, above);
	b = attack_side((swap ? with : without) + half, rest, at, above);
	return attack_ratio(a, b, delta, alpha);
}

/* ---- two neighbours, and a training ---- */

enum {
	ATTACK_RECORDS = 20
};

/* Replace-one: the first record is 1/2 in one of them and -1/2 in the other. */
struct attack_data {
	double record[ATTACK_RECORDS];
};

static inline struct attack_data attack_data(bool with)
{
	struct attack_data d = { { with ? 0.5 : -0.5 } };

	return d;
}

/* One noisy sum of a lot that is drawn without replacement; one record changes a sum by
 * at most 1. */
struct attack_setting {
	uint32_t lot;
	double sigma;
};

static inline double attack_train(const struct attack_data *d, const struct attack_setting *s,
				  struct dp_rng *r)
{
	uint32_t left = s->lot;
	double sum = 0;

	for (uint32_t i = 0; i < ATTACK_RECORDS && left; i++) {
		uint32_t of = ATTACK_RECORDS - i; /* that are still to be passed */

		if (left < of && dp_rng_below(r, of) >= left)
			continue;
		sum += d->record[i];
		left--;
	}
	return sum + s->sigma * dp_rng_normal(r);
}

/* The log-likelihood ratio of a result: with the record against without. */
static inline double attack_loss(const struct attack_setting *s, double result)
{
	double q = (double)s->lot / ATTACK_RECORDS, var = s->sigma * s->sigma;
	double up = (0.5 * result - 0.125) / var, down = (-0.5 * result - 0.125) / var;

	if (s->lot == ATTACK_RECORDS)
		return up - down;
	return log((1 - q + q * exp(up)) / (1 - q + q * exp(down)));
}

#endif
