/* pld_internal.h - between the two files of the loss-distribution accountant. */
#ifndef DP_PRIVACY_ACCOUNTANTS_PLD_INTERNAL_H
#define DP_PRIVACY_ACCOUNTANTS_PLD_INTERNAL_H
#include "privacy/privacy_internal.h"

/* A rough picture of the loss of one use: weighted points at every scale. It steers
 * the accountant; no bound rests on it. */
enum {
	DP__LOSS_POINTS_MAX = 4096
};
struct dp__loss_points {
	size_t n;
	double zero_mass; /* probability left at loss zero */
	double x[DP__LOSS_POINTS_MAX], log_w[DP__LOSS_POINTS_MAX];
};
void dp__loss_points_fill(struct dp__loss_points *s, const struct dp_privacy_component *p,
			  enum dp__direction d, double end);
/* Cumulants 0..order (at most 2) of the tilted loss of one use; [0] is log E exp. */
void dp__loss_points_cumulants(const struct dp__loss_points *s, double tilt, int order,
			       double k[3]);
/* How much connecting the dots at distance h adds to cumulant 0 at this tilt. */
double dp__loss_points_grid_excess(const struct dp__loss_points *s, double tilt, double h);

/* The discretised loss of one use on the grid i h, i = -nb..na. First probabilities, then
 * tilted: entry i holds P(i) exp(tilt i h - shift), summing to one. The width h has so
 * few digits that every i h is exact. */
struct dp__loss_grid {
	double width, tilt;
	size_t n_upper, n_lower;
	double *upper, *lower;             /* a[i]: at i h; b[i]: at -i h; index 0 of b unused */
	double *upper_slack, *lower_slack; /* absolute rounding errors of a and b, bounded */
	double log_mgf;                    /* log of the moment generating function at the tilt */
	double log_mgf_raised;             /* the same at tilt + theta, minus shift */
	double infinite_mass;              /* probability of an infinite loss, at least */
	double slack;                      /* rounding error of all entries together, bounded */
};
/* Discretises pessimistically; room for a, b and their slacks, na + 1 and nb + 1 each, is
 * the caller's. nb is lowered to na where both sides are the same. */
void dp__loss_grid_fill(struct dp__loss_grid *g, const struct dp_privacy_component *p,
			enum dp__direction d, double theta, double about_shift,
			double about_chernoff);
/* For kinds that fill a alone: P(-x) = exp(-x) P(x). What lies deeper than b stays at its
 * end. */
void dp__loss_grid_mirror(struct dp__loss_grid *g);

#endif
