/* pld_internal.h - loss points and loss grids of the accountant by loss distributions. */
#ifndef DP_PRIVACY_ACCOUNTANTS_PLD_INTERNAL_H
#define DP_PRIVACY_ACCOUNTANTS_PLD_INTERNAL_H
#include "privacy/privacy_internal.h"

/* An approximation of one use's loss: weighted points at every scale. It chooses tilt, window and
 * grid; no bound depends on it. */
enum {
	DP__LOSS_POINTS_MAX = 4096
};
struct dp__loss_points {
	size_t n;
	double zero_mass; /* probability of loss zero */
	double x[DP__LOSS_POINTS_MAX], log_w[DP__LOSS_POINTS_MAX];
};
void dp__loss_points_fill(struct dp__loss_points *s, const struct dp_privacy_component *p,
			  enum dp__direction d, double end);
/* Cumulants 0..order (at most 2) of the tilted loss of one use. [0] is log E exp. */
void dp__loss_points_cumulants(const struct dp__loss_points *s, double tilt, int order,
			       double k[3]);
/* How much a grid of width h adds to cumulant 0 at this tilt (connect the dots). */
double dp__loss_points_grid_excess(const struct dp__loss_points *s, double tilt, double h);

/* The discretised loss of one use on the grid i h. First probabilities, then tilted: entry i holds
 * P(i) exp(tilt i h - shift), and all sum to one. h has so few digits that every i h is exact. */
struct dp__loss_grid {
	double width, tilt;
	size_t n_upper, n_lower;
	double *upper, *lower;             /* upper[i]: at i h; lower[i]: at -i h, index 0 unused */
	double *upper_slack, *lower_slack; /* bounds of the absolute rounding errors of both */
	double log_mgf;                    /* log of the moment generating function at the tilt */
	double log_mgf_raised;             /* the same at tilt + theta, minus shift */
	double infinite_mass;              /* probability of an infinite loss, a lower bound */
	double slack;                      /* bound of the rounding error of all entries together */
};
/* Discretises pessimistically. The caller provides the arrays for both sides and their slacks.
 * Lowers the size of the lower side where both sides are equal. */
void dp__loss_grid_fill(struct dp__loss_grid *g, const struct dp_privacy_component *p,
			enum dp__direction d, double theta, double about_shift,
			double about_chernoff);
/* For kinds that fill only the upper side: P(-x) = exp(-x) P(x). Deeper losses stay at the end. */
void dp__loss_grid_mirror(struct dp__loss_grid *g);

#endif
