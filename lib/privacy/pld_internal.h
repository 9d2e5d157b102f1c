/* pld_internal.h - between the two files of the loss-distribution accountant. */
#ifndef DP_PLD_INTERNAL_H
#define DP_PLD_INTERNAL_H
#include "privacy/privacy_internal.h"

/* A rough picture of the loss of one use: weighted points at every scale. It steers
 * the accountant; no bound rests on it. */
enum {
	DP__POINTS_MAX = 4096
};
struct dp__points {
	size_t n;
	double rest; /* probability left at loss zero */
	double x[DP__POINTS_MAX], log_w[DP__POINTS_MAX];
};
void dp__points_fill(struct dp__points *s, const struct dp_privacy_part *p, enum dp__direction d,
		     double end);
/* Cumulants 0..order (at most 2) of the tilted loss of one use; [0] is log E exp. */
void dp__points_cumulants(const struct dp__points *s, double tilt, int order, double k[3]);
/* How much connecting the dots at distance h adds to cumulant 0 at this tilt. */
double dp__points_spread(const struct dp__points *s, double tilt, double h);

/* The discretised loss of one use on the grid i h, i = -nb..na. First probabilities, then
 * tilted: entry i holds P(i) exp(tilt i h - shift), summing to one. The width h has so
 * few digits that every i h is exact. */
struct dp__grid {
	double h, tilt;
	size_t na, nb;
	double *a, *b;             /* a[i]: at i h; b[i]: at -i h; index 0 of b unused */
	double *slack_a, *slack_b; /* absolute rounding errors of a and b, bounded */
	double shift;              /* log of the moment generating function at the tilt */
	double chernoff;           /* the same at tilt + theta, minus shift */
	double infinite;           /* probability of an infinite loss, at least */
	double slack;              /* rounding error of all entries together, bounded */
};
/* Discretises pessimistically; room for a, b and their slacks, na + 1 and nb + 1 each, is
 * the caller's. nb is lowered to na where both sides are the same. */
void dp__grid_fill(struct dp__grid *g, const struct dp_privacy_part *p, enum dp__direction d,
		   double theta, double about_shift, double about_chernoff);
/* For kinds that fill a alone: P(-x) = exp(-x) P(x). What lies deeper than b stays at its
 * end. */
void dp__grid_mirror(struct dp__grid *g);

#endif
