/* pld_internal.h - between the two files of the loss-distribution accountant. */
#ifndef DP_PLD_INTERNAL_H
#define DP_PLD_INTERNAL_H
#include "privacy/privacy_internal.h"

/* A rough picture of the loss of one use: weighted points at every scale. It steers
 * the accountant; no bound rests on it. */
enum {
	DP__POINTS_MAX = 2048
};
struct dp__points {
	size_t n;
	double rest; /* probability left at loss zero */
	double x[DP__POINTS_MAX], w[DP__POINTS_MAX];
};
void dp__points_fill(struct dp__points *s, const struct dp_privacy_part *p,
		     enum dp__direction d, double end);
/* Cumulants 0..order (at most 2) of the tilted loss of one use; [0] is log E exp. */
void dp__points_cumulants(const struct dp__points *s, double tilt, int order,
			  double k[3]);
/* How much connecting the dots at distance h adds to cumulant 0 at this tilt. */
double dp__points_spread(const struct dp__points *s, double tilt, double h);

/* The discretised loss of one use on the grid i h, i = -nb..na, tilted: entry i holds
 * P(i) exp(tilt i h - shift), summing to one. */
struct dp__grid {
	double h, tilt;
	size_t na, nb;
	double *a, *b;   /* a[i]: at i h; b[i]: at -i h; index 0 of b unused */
	double shift;    /* log of the moment generating function at the tilt */
	double chernoff; /* the same at tilt + theta, minus shift */
	double infinite; /* probability of an infinite loss */
	double slack;    /* relative rounding error, bounded */
};
/* Discretises pessimistically; room for a and b is the caller's: na + 2 and nb + 2. */
void dp__grid_fill(struct dp__grid *g, const struct dp_privacy_part *p,
		   enum dp__direction d, double theta, double about_shift,
		   double about_chernoff);

#endif
