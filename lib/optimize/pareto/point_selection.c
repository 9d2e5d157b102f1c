/* point_selection.c - rules that select one point of a front. */
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True if the row is finite and nowhere worse than ref. */
static bool is_within_reference(const double *row, size_t p, const double *ref)
{
	for (size_t j = 0; j < p; j++)
		if (!isfinite(row[j]) || !(row[j] <= ref[j]))
			return false;
	return true;
}

/* The sum of the coordinates scaled to 0..1 between lo and hi, the ends of the front: 1 on the
 * plane through the ends, less below it. */
static double sum_scaled_coordinates(const double *row, size_t p, const double *lo,
				     const double *hi)
{
	double sum = 0;

	for (size_t j = 0; j < p; j++)
		sum += hi[j] > lo[j] ? (row[j] - lo[j]) / (hi[j] - lo[j]) : 0;
	return sum;
}

size_t dp_pareto_find_knee(const double *y, size_t n, size_t p, const double *ref)
{
	double *ends = dp_malloc((2 * p + 1) * sizeof *ends), *lo = ends, *hi = ends + p;
	double least = INFINITY;
	size_t knee = SIZE_MAX;

	for (size_t j = 0; j < p; j++) {
		lo[j] = INFINITY;
		hi[j] = -INFINITY;
		for (size_t i = 0; i < n; i++) {
			if (!is_within_reference(y + i * p, p, ref))
				continue;
			lo[j] = fmin(lo[j], y[i * p + j]);
			hi[j] = fmax(hi[j], y[i * p + j]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		double sum = is_within_reference(y + i * p, p, ref)
				     ? sum_scaled_coordinates(y + i * p, p, lo, hi)
				     : INFINITY;

		if (sum < least) {
			least = sum;
			knee = i;
		}
	}
	free(ends);
	return knee;
}

size_t dp_pareto_find_min(const double *y, size_t n, size_t p, size_t j)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < n; i++)
		if (!isnan(y[i * p + j]) && (least == SIZE_MAX || y[i * p + j] < y[least * p + j]))
			least = i;
	return least;
}

size_t dp_pareto_find_one_se(const double *y, size_t n, size_t p, size_t j, double error)
{
	size_t best = dp_pareto_find_min(y, n, p, j), found = best;

	for (size_t i = 0; best != SIZE_MAX && i < n; i++)
		if (y[i * p + j] <= y[best * p + j] + error && y[i * p] < y[found * p])
			found = i;
	return found;
}

const char *dp_point_rule_name(enum dp_point_rule rule)
{
	static const char *const names[] = { [DP_POINT_NONE] = NULL,
					     [DP_POINT_ONE_SE] = "one-se",
					     [DP_POINT_KNEE] = "knee",
					     [DP_POINT_BEST] = "best" };

	return names[rule];
}

double dp_pareto_max_cost(double reference, bool is_epsilon)
{
	return is_epsilon ? fmin(reference, DP_MAX_MEANINGFUL_EPSILON) : reference;
}

size_t dp_pareto_limit_cost(double *plane, size_t n, double max)
{
	size_t over = 0;

	for (size_t i = 0; i < n; i++)
		over += plane[2 * i] > max;
	for (size_t i = 0; i < n && over < n; i++)
		if (plane[2 * i] > max)
			plane[2 * i + 1] = NAN;
	return n - over;
}

size_t dp_pareto_recommend(const double *plane, const double *error, const double *y, size_t n,
			   size_t p, const double *ref, enum dp_point_rule *rule)
{
	size_t best = dp_pareto_find_min(plane, n, 2, 1), knee;
	double *allowed;

	*rule = best == SIZE_MAX ? DP_POINT_NONE : DP_POINT_ONE_SE;
	if (best == SIZE_MAX)
		return best;
	if (!isnan(error[best]))
		return dp_pareto_find_one_se(plane, n, 2, 1, error[best]);
	allowed = dp_malloc(n * p * sizeof *allowed + 1);
	memcpy(allowed, y, n * p * sizeof *allowed);
	for (size_t i = 0; i < n; i++)
		if (isnan(plane[2 * i + 1]))
			allowed[i * p] = INFINITY; /* excluded: not within ref */
	knee = dp_pareto_find_knee(allowed, n, p, ref);
	free(allowed);
	*rule = knee == SIZE_MAX ? DP_POINT_BEST : DP_POINT_KNEE;
	return knee == SIZE_MAX ? best : knee;
}
