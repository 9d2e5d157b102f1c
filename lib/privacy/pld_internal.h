/* pld_internal.h - between the two files of the loss-distribution accountant. */
#ifndef DP_PLD_INTERNAL_H
#define DP_PLD_INTERNAL_H
#include "privacy/privacy_internal.h"

/* A pair of data sets can be told apart in two directions. For all parts but Poisson
 * sampling they are alike. */
enum dp__direction {
	DP__REMOVE,
	DP__ADD
};

/* delta(x) of one use of a part for x >= 0: how much probability the loss carries
 * beyond x. *slack bounds the rounding error of the value. */
double dp__part_profile(const struct dp__part *p, enum dp__direction d, double x,
			double *slack);
/* A loss beyond which delta(x) <= exp(log_tail). */
double dp__part_end(const struct dp__part *p, enum dp__direction d, double log_tail);

/* A rough picture of the loss of one use: weighted points at every scale. It steers
 * the accountant and answers estimates; no bound rests on it. */
enum {
	DP__POINTS_MAX = 2048
};
struct dp__points {
	const struct dp__part *part;
	size_t n;
	double rest; /* probability left at loss zero */
	double x[DP__POINTS_MAX], w[DP__POINTS_MAX];
};
void dp__points_fill(struct dp__points *s, const struct dp__part *p, enum dp__direction d,
		     double end);
/* Cumulants 0..order (at most 4) of the tilted loss of one use; [0] is log E exp. */
void dp__points_cumulants(const struct dp__points *s, double tilt, int order,
			  double k[5]);
/* How much connecting the dots at distance h adds to cumulant 0 at this tilt. */
double dp__points_spread(const struct dp__points *s, double tilt, double h);

/* The tilted mass that a grid of width h puts elsewhere than at zero, roughly. */
double dp__points_outside(const struct dp__points *s, double tilt, double h);

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
void dp__grid_fill(struct dp__grid *g, const struct dp__part *p, enum dp__direction d,
		   double theta, double about_shift, double about_chernoff);

#endif
