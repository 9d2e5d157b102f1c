/* box_decomposition.c - the non-dominated region as disjoint boxes.
 *
 * A point y in a box removes the part above it. The rest consists of p disjoint boxes: the j-th has
 * z_i > y_i for i < j and z_j <= y_j. The points that reach into a box split it further. The pivot
 * is the point that removes most. */
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct box_cutter {
	struct dp_box_decomposition *out;
	size_t p, capacity, max_boxes;
	const double *finite_floor; /* replaces -inf when volumes are compared */
};

static int decomposition_append_box(struct box_cutter *c, const double *lower, const double *upper)
{
	struct dp_box_decomposition *o = c->out;
	size_t p = c->p;

	if (o->count == c->max_boxes)
		return DP_E_LIMIT;
	if (o->count == c->capacity) {
		size_t room = 2 * c->capacity + 16;

		o->lower = dp_realloc(o->lower, room * p * sizeof *o->lower);
		o->upper = dp_realloc(o->upper, room * p * sizeof *o->upper);
		c->capacity = room;
	}
	memcpy(o->lower + o->count * p, lower, p * sizeof *lower);
	memcpy(o->upper + o->count * p, upper, p * sizeof *upper);
	o->count++;
	return DP_OK;
}

/* Copies the rows that reach into the box to `to`, clipped to its lower corner and without rows
 * that another one covers. Returns their number. */
static size_t decomposition_clip_points(const struct box_cutter *c, const double *y, size_t n,
					const double *lower, const double *upper, double *to)
{
	size_t p = c->p, kept = 0;

	for (size_t i = 0; i < n; i++) {
		double *row = to + kept * p;
		size_t j = 0, k = 0, moved = 0;

		while (j < p && y[i * p + j] < upper[j]) {
			row[j] = fmax(y[i * p + j], lower[j]);
			j++;
		}
		if (j < p)
			continue;
		while (k < kept) { /* covered by a kept row? */
			for (j = 0; j < p && to[k * p + j] <= row[j]; j++)
				;
			if (j == p)
				break;
			k++;
		}
		if (k < kept)
			continue;
		for (k = 0; k < kept; k++) { /* drop kept rows that it covers */
			for (j = 0; j < p && row[j] <= to[k * p + j]; j++)
				;
			if (j == p)
				continue;
			if (moved < k)
				memmove(to + moved * p, to + k * p, p * sizeof *to);
			moved++;
		}
		memmove(to + moved * p, row, p * sizeof *to);
		kept = moved + 1;
	}
	return kept;
}

static size_t decomposition_choose_pivot(const struct box_cutter *c, const double *y, size_t n,
					 const double *upper)
{
	size_t best = 0;
	double most = -1;

	for (size_t i = 0; i < n; i++) {
		double part = 1;

		for (size_t j = 0; j < c->p; j++)
			part *= upper[j] - fmax(y[i * c->p + j], c->finite_floor[j]);
		if (part > most) {
			most = part;
			best = i;
		}
	}
	return best;
}

static int decomposition_split_box(struct box_cutter *c, const double *y, size_t n,
				   const double *lower, const double *upper)
{
	size_t p = c->p;
	double *rows, *lo, *hi;
	const double *at;
	int code = DP_OK;

	rows = dp_malloc((n + 3) * p * sizeof *rows);
	n = decomposition_clip_points(c, y, n, lower, upper, rows);
	if (n == 0) {
		free(rows);
		return decomposition_append_box(c, lower, upper);
	}
	at = rows + decomposition_choose_pivot(c, rows, n, upper) * p;
	lo = rows + (n + 1) * p;
	hi = lo + p;
	memcpy(lo, lower, p * sizeof *lo);
	memcpy(hi, upper, p * sizeof *hi);
	for (size_t j = 0; j < p && code == DP_OK; j++) {
		hi[j] = at[j];
		if (hi[j] > lo[j])
			code = decomposition_split_box(c, rows, n, lo, hi);
		lo[j] = at[j];
		hi[j] = upper[j];
	}
	free(rows);
	return code;
}

int dp_box_decompose(const double *y, size_t n, size_t p, const double *ref, size_t most,
		     struct dp_box_decomposition *out)
{
	struct box_cutter c = { .out = out, .p = p, .max_boxes = most };
	double *lower = dp_malloc(2 * p * sizeof *lower), *floor;
	int code;

	memset(out, 0, sizeof *out);
	out->p = p;
	floor = lower + p;
	for (size_t j = 0; j < p; j++) {
		lower[j] = -INFINITY;
		floor[j] = ref[j];
		for (size_t i = 0; i < n; i++)
			if (isfinite(y[i * p + j]))
				floor[j] = fmin(floor[j], y[i * p + j]);
		floor[j] -= 0.1 * (ref[j] - floor[j]) + 1e-300;
	}
	c.finite_floor = floor;
	code = decomposition_split_box(&c, y, n, lower, ref);
	if (code != DP_OK)
		dp_box_decomposition_free(out);
	free(lower);
	return code;
}

void dp_box_decomposition_free(struct dp_box_decomposition *c)
{
	free(c->lower);
	free(c->upper);
	memset(c, 0, sizeof *c);
}
