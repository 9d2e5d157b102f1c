/* attainment_function.c - empirical attainment of several sets with two objectives (Fonseca,
 * Guerreiro, Lopez-Ibanez and Paquete 2011). */
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp_attainment_free(struct dp_attainment *a)
{
	free(a->x);
	free(a->y);
	*a = (struct dp_attainment){ 0 };
}

static int attainment_compare_values(const void *a, const void *b)
{
	double u = *(const double *)a, v = *(const double *)b;

	return u < v ? -1 : u > v;
}

/* Collects every distinct x of rows without NaN, ascending: attainment changes only there. */
static void attainment_collect_x(const struct dp_pareto_points *sets, size_t m,
				 struct dp_attainment *out)
{
	size_t rows = 0, n = 0;

	for (size_t i = 0; i < m; i++)
		rows += sets[i].n;
	*out = (struct dp_attainment){ .n_sets = m,
				       .x = dp_malloc(rows * sizeof(double) + 1),
				       .y = dp_malloc(rows * m * sizeof(double) + 1) };
	for (size_t i = 0; i < m; i++)
		for (size_t k = 0; k < sets[i].n; k++)
			if (!isnan(sets[i].y[2 * k]) && !isnan(sets[i].y[2 * k + 1]))
				out->x[n++] = sets[i].y[2 * k];
	qsort(out->x, n, sizeof *out->x, attainment_compare_values);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || out->x[i] != out->x[i - 1])
			out->x[out->n_places++] = out->x[i];
}

/* The smallest y of the set's rows up to x; +inf: none. */
static double attainment_best_y(const struct dp_pareto_points *set, double x)
{
	double least = INFINITY;

	for (size_t i = 0; i < set->n; i++)
		if (set->y[2 * i] <= x && set->y[2 * i + 1] < least)
			least = set->y[2 * i + 1];
	return least;
}

struct dp_attainment dp_attainment_compute(const struct dp_pareto_points *sets, size_t m)
{
	struct dp_attainment out;

	attainment_collect_x(sets, m, &out);
	for (size_t i = 0; i < out.n_places; i++) {
		double *y = out.y + i * m;

		for (size_t k = 0; k < m; k++)
			y[k] = attainment_best_y(&sets[k], out.x[i]);
		qsort(y, m, sizeof *y, attainment_compare_values);
	}
	return out;
}

size_t dp_attainment_rank(size_t m, double share)
{
	/* 0.1 of 10 sets is one set, even if 10 x 0.1 is rounded up */
	size_t k = (size_t)ceil(share * (double)m - 1e-9);

	return k < 1 ? 0 : k > m ? m - 1 : k - 1;
}
