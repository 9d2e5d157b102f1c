/* attainment.c - what several sets of points attain: empirical attainment of two
 * objectives (Fonseca, Guerreiro, Lopez-Ibanez and Paquete 2011). */
#include "front/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp_attained_free(struct dp_attained *a)
{
	free(a->x);
	free(a->y);
	*a = (struct dp_attained){ 0 };
}

static int attained_order(const void *a, const void *b)
{
	double u = *(const double *)a, v = *(const double *)b;

	return u < v ? -1 : u > v;
}

/* The rows of all sets that can be placed; every x where something may change. */
static int attained_places(const struct dp_rows *sets, size_t m, struct dp_attained *out)
{
	size_t rows = 0, n = 0;

	for (size_t i = 0; i < m; i++)
		rows += sets[i].n;
	*out = (struct dp_attained){ .m = m,
				     .x = malloc(rows * sizeof(double) + 1),
				     .y = malloc(rows * m * sizeof(double) + 1) };
	if (!out->x || !out->y)
		return DP_E_NOMEM;
	for (size_t i = 0; i < m; i++)
		for (size_t k = 0; k < sets[i].n; k++)
			if (!isnan(sets[i].y[2 * k]) && !isnan(sets[i].y[2 * k + 1]))
				out->x[n++] = sets[i].y[2 * k];
	qsort(out->x, n, sizeof *out->x, attained_order);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || out->x[i] != out->x[i - 1])
			out->x[out->n++] = out->x[i];
	return DP_OK;
}

/* The least y of a set's rows up to x; +inf: it has none. */
static double attained_by(const struct dp_rows *set, double x)
{
	double least = INFINITY;

	for (size_t i = 0; i < set->n; i++)
		if (set->y[2 * i] <= x && set->y[2 * i + 1] < least)
			least = set->y[2 * i + 1];
	return least;
}

int dp_attained(const struct dp_rows *sets, size_t m, struct dp_attained *out)
{
	if (attained_places(sets, m, out) != DP_OK) {
		dp_attained_free(out);
		return DP_E_NOMEM;
	}
	for (size_t i = 0; i < out->n; i++) {
		double *y = out->y + i * m;

		for (size_t k = 0; k < m; k++)
			y[k] = attained_by(&sets[k], out->x[i]);
		qsort(y, m, sizeof *y, attained_order);
	}
	return DP_OK;
}

size_t dp_attained_rank(size_t m, double share)
{
	/* a share of 0.1 of 10 sets is one of them, whatever 10 x 0.1 is */
	size_t k = (size_t)ceil(share * (double)m - 1e-9);

	return k < 1 ? 0 : k > m ? m - 1 : k - 1;
}
