/* pareto.h - Pareto fronts and hypervolume. All objectives are minimised: callers negate those that
 * are maximised, and their reference point.
 *
 * Points are contiguous rows of p doubles. u dominates v if u_j <= v_j for all j and u_j < v_j for
 * some j. A row with a NaN is on no front, dominates nothing and adds no volume; +inf and -inf are
 * ordinary values for dominance. Of equal rows only the first counts. */
#ifndef DP_OPTIMIZE_PARETO_PARETO_H
#define DP_OPTIMIZE_PARETO_PARETO_H
#include "base/base.h"

/* Stores the indexes of the non-dominated rows of y (n x p) in `front` (room for n), ordered by the
 * coordinates, then by index. Returns their number. */
size_t dp_pareto_find_front(const double *y, size_t n, size_t p, size_t *front);

/* Volume that is dominated by the rows of y (n x p, dominated rows allowed) and bounded by ref.
 * Rows that are not better than ref in every coordinate add nothing; a row of -inf gives +inf.
 * Exact for any p. p = 2: n log n; p = 3: n log n searches and up to n^2 moves; p = 4: a sweep; p >
 * 4: WFG (While, Bradstreet & Barone 2012). */
double dp_hypervolume(const double *y, size_t n, size_t p, const double *ref);

/* The hypervolume after each of `steps` equal parts of n evaluations: volume (steps). ends (n): the
 * number of rows of y up to and including each evaluation. Modifies y. */
void dp_hypervolume_curve(double *y, size_t p, const size_t *ends, size_t n, const double *ref,
			  size_t steps, double *volume);
/* Number of evaluations up to the end of part `step`. */
size_t dp_hypervolume_curve_evaluations(size_t n, size_t steps, size_t step);

/* ---- selection of one point (point_selection.c): row positions, the first of equal rows ---- */

/* The knee: of the finite rows that are nowhere worse than ref, the one farthest below the line (p
 * > 2: the plane) through the ends of the front, the rows that are best in one coordinate.
 * Coordinates are scaled to 0..1 between the best and worst of these rows, so that the plane is
 * where the sum is 1, and the knee has the least sum. If no row is below the plane, it is the first
 * end. SIZE_MAX: no row is within ref. Coordinates are used as they are: callers transform them. */
size_t dp_pareto_find_knee(const double *y, size_t n, size_t p, const double *ref);
/* The row with the smallest coordinate j; SIZE_MAX: none. */
size_t dp_pareto_find_min(const double *y, size_t n, size_t p, size_t j);
/* The one-standard-error rule: of the rows whose coordinate j is within `error` of the smallest,
 * the one with the smallest first coordinate. SIZE_MAX: none. */
size_t dp_pareto_find_one_se(const double *y, size_t n, size_t p, size_t j, double error);

/* A larger epsilon is no useful bound: odds that a record was used may grow by e^20, some 5e8. */
#define DP_MAX_MEANINGFUL_EPSILON 20.0

enum dp_point_rule {
	DP_POINT_NONE,
	DP_POINT_ONE_SE, /* lowest cost within one standard error of the best */
	DP_POINT_KNEE,   /* the noise is unknown */
	DP_POINT_BEST    /* the noise is unknown, and no point is within the reference point */
};
/* "one-se", "knee", "best"; NULL: DP_POINT_NONE. */
const char *dp_point_rule_name(enum dp_point_rule rule);
/* The highest cost of a recommended point: the reference's, at most DP_MAX_MEANINGFUL_EPSILON. */
double dp_pareto_max_cost(double reference, bool is_epsilon);
/* plane (n x 2): cost and loss of points. Excludes points with a cost above `max` by a loss of NaN,
 * unless that would exclude all. Returns the number within. */
size_t dp_pareto_limit_cost(double *plane, size_t n, double max);
/* The recommended point, among those whose loss is not NaN; SIZE_MAX: none. error (n): standard
 * errors of the losses, NaN: unknown. y (n x p), ref: all objectives on the scales of the knee. */
size_t dp_pareto_recommend(const double *plane, const double *error, const double *y, size_t n,
			   size_t p, const double *ref, enum dp_point_rule *rule);

/* The volume that a front of two objectives realises if for each value of the first coordinate the
 * last point up to it is used, and no point is chosen again by the second: y (n x 2), first
 * coordinate ascending. The hypervolume of re-evaluated points would choose again and add selection
 * bias; this value is unbiased. */
double dp_pareto_realised_volume(const double *y, size_t n, const double *ref);

/* ---- attainment of several sets (attainment_function.c) ---- */

struct dp_pareto_points {
	const double *y; /* (n x 2) */
	size_t n;
};
/* A set attains (x, y) if one of its rows is nowhere worse. For each place, from its x to the next:
 * the smallest y of each set, ascending, so that k + 1 sets attain y[i * m + k]; +inf: fewer do.
 * Exact: x has all values of the rows. */
struct dp_attainment {
	size_t n_places, n_sets; /* distinct x, and sets (m) */
	double *x;               /* (n_places) ascending */
	double *y;               /* (n_places x m) */
};
/* Pass fronts only: the time is places times rows. */
struct dp_attainment dp_attainment_compute(const struct dp_pareto_points *sets, size_t m);
void dp_attainment_free(struct dp_attainment *a);
/* The index k for this share of m sets, at least one set. */
size_t dp_attainment_rank(size_t m, double share);

/* The region below ref that no row of y dominates, as disjoint boxes lower < z <= upper; lower may
 * be -inf. */
struct dp_box_decomposition {
	size_t count, p;
	double *lower, *upper; /* (count x p) */
};
/* p = 2 gives one box more than front points, p = 3 a few per point. DP_E_LIMIT beyond `most`. */
DP_MUSTCHECK int dp_box_decompose(const double *y, size_t n, size_t p, const double *ref,
				  size_t most, struct dp_box_decomposition *out);
void dp_box_decomposition_free(struct dp_box_decomposition *c);

#endif
