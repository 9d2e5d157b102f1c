/* pareto.h - Pareto fronts and hypervolume. Minimisation throughout: callers negate
 * what is maximised (and the reference point with it).
 *
 * Points are rows of p doubles, contiguous. Policy: u dominates v if u_j <= v_j for
 * all j and u_j < v_j for some j. A row with a NaN is on no front, dominates nothing
 * and adds no volume; +inf and -inf are ordinary values for dominance. Of equal rows
 * only the first counts. */
#ifndef DP_OPTIMIZE_PARETO_PARETO_H
#define DP_OPTIMIZE_PARETO_PARETO_H
#include "base/base.h"

/* Puts the indexes of the non-dominated rows of y (n x p) in `front` (room for n),
 * ordered by the first coordinate, then the second and so on, then the index.
 * Returns how many. */
size_t dp_pareto_find_front(const double *y, size_t n, size_t p, size_t *front);

/* Volume dominated by the rows of y (n x p, any rows, dominated ones too) and bounded
 * by ref. Rows not better than ref in every coordinate add nothing; a row of -inf
 * gives +inf. Exact for any p: p = 1 trivially, p = 2 in n log n, p = 3 in n log n or
 * n^2, more by WFG (While, Bradstreet & Barone 2012). */
double dp_hypervolume(const double *y, size_t n, size_t p, const double *ref);

/* The hypervolume as n evaluations end, at the end of `steps` equal parts of them: volume
 * (steps). ends (n): how many rows of y the evaluations up to this one have. Changes y. */
void dp_hypervolume_curve(double *y, size_t p, const size_t *ends, size_t n, const double *ref,
			  size_t steps, double *volume);
/* How many evaluations the parts up to this one have. */
size_t dp_hypervolume_curve_evaluations(size_t n, size_t steps, size_t step);

/* ---- which point to take (point_selection.c): positions of rows, the first of equals ---- */

/* The knee: of the finite rows that are nowhere worse than ref, the one farthest below
 * the line between the front's ends, those rows that are best in one coordinate; with
 * more than two coordinates below the plane. Each coordinate is scaled to 0..1 between
 * the best and the worst of these rows, so that the plane is where the sum is 1, and the
 * knee the least sum. Where no row is below the plane it is the first end. SIZE_MAX: no
 * row is within ref. Coordinates are judged as they are: callers transform them. */
size_t dp_pareto_find_knee(const double *y, size_t n, size_t p, const double *ref);
/* The row with the least coordinate j; SIZE_MAX: there is none. */
size_t dp_pareto_find_min(const double *y, size_t n, size_t p, size_t j);
/* Of the rows whose coordinate j is within `error` of the least, the one that is best in
 * the first coordinate: what cannot be told from the best, at the least price. SIZE_MAX:
 * there is none. */
size_t dp_pareto_find_one_se(const double *y, size_t n, size_t p, size_t j, double error);

/* An epsilon above this bounds nothing that matters: an observer may be e^20, some 500
 * million, times as sure that a record was among the others. */
#define DP_MAX_MEANINGFUL_EPSILON 20.0

enum dp_point_rule {
	DP_POINT_NONE,
	DP_POINT_ONE_SE, /* the least cost within one standard error of the best */
	DP_POINT_KNEE,   /* nothing is known of the noise */
	DP_POINT_BEST    /* and nothing is within the reference point */
};
/* "one-se", "knee", "best"; NULL: DP_POINT_NONE. */
const char *dp_point_rule_name(enum dp_point_rule rule);
/* The highest cost of points to take: the reference point's, and of an epsilon no more than
 * means anything. */
double dp_pareto_max_cost(double reference, bool is_epsilon);
/* plane (n x 2): cost and loss of points. Those that cost more than `max` are not to be
 * taken, unless all do: their loss becomes NaN. Returns how many are within. */
size_t dp_pareto_limit_cost(double *plane, size_t n, double max);
/* The point of the plane to recommend, among those whose loss is not NaN; SIZE_MAX: there is
 * none. error (n): standard errors of the losses, NaN: not known. y (n x p), ref: all
 * objectives on the scales on which a knee is looked for. */
size_t dp_pareto_recommend(const double *plane, const double *error, const double *y, size_t n,
			   size_t p, const double *ref, enum dp_point_rule *rule);

/* What a front of two objectives holds if at each value of the first coordinate the last
 * point up to there is taken, and nothing is chosen again by the second: y (n x 2), the
 * first coordinate ascending. A hypervolume of fresh measurements of points that are
 * level would go by the luckiest of them once more; this one is right on average. */
double dp_pareto_realised_volume(const double *y, size_t n, const double *ref);

/* ---- what several sets attain (attainment_function.c) ---- */

struct dp_pareto_points {
	const double *y; /* (n x 2) */
	size_t n;
};
/* A set attains (x, y) if one of its rows is nowhere worse. At each x, as far as the next
 * one: what the sets attain there, the least y first, so that y[i * m + k] is attained by
 * k + 1 of them; +inf: by fewer. Exact: x are all that rows have. */
struct dp_attainment {
	size_t n_places, n_sets; /* places, sets */
	double *x;               /* (n) ascending, each once */
	double *y;               /* (n x m) */
};
/* Best given fronts: its time is places times rows. */
struct dp_attainment dp_attainment_compute(const struct dp_pareto_points *sets, size_t m);
void dp_attainment_free(struct dp_attainment *a);
/* The k of what this share of m sets attains, at least one of them. */
size_t dp_attainment_rank(size_t m, double share);

/* The region below ref that no row of y dominates, cut into disjoint boxes. Box i is
 * lower[i*p..] < z <= upper[i*p..]; lower may be -inf. */
struct dp_box_decomposition {
	size_t count, p;
	double *lower, *upper; /* (count x p) */
};
/* For p = 2 there is one box more than front points, for p = 3 a few per point. Gives
 * up with DP_E_LIMIT beyond `most` boxes. */
DP_MUSTCHECK int dp_box_decompose(const double *y, size_t n, size_t p, const double *ref,
				  size_t most, struct dp_box_decomposition *out);
void dp_box_decomposition_free(struct dp_box_decomposition *c);

#endif
