/* dominance.c - finds the rows that no other row dominates. */
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>

static bool row_has_nan(const double *row, size_t p)
{
	for (size_t j = 0; j < p; j++)
		if (isnan(row[j]))
			return true;
	return false;
}

static bool weakly_dominates(const double *u, const double *v, size_t p)
{
	for (size_t j = 0; j < p; j++)
		if (!(u[j] <= v[j]))
			return false;
	return true;
}

struct row_matrix {
	const double *y;
	size_t p;
};

/* Lexicographic, then by index. */
static int compare_rows_lexicographic(const void *a, const void *b, void *arg)
{
	const struct row_matrix *r = arg;
	size_t ia = *(const size_t *)a, ib = *(const size_t *)b;
	const double *u = r->y + ia * r->p, *v = r->y + ib * r->p;

	for (size_t j = 0; j < r->p; j++)
		if (u[j] != v[j])
			return u[j] < v[j] ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

size_t dp_pareto_find_front(const double *y, size_t n, size_t p, size_t *front)
{
	struct row_matrix rows = { y, p };
	size_t usable = 0, kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!row_has_nan(y + i * p, p))
			front[usable++] = i;
	if (usable)
		qsort_r(front, usable, sizeof *front, compare_rows_lexicographic, &rows);
	/* In this order only an earlier row can dominate or equal a row; with up to two
	 * coordinates, the last kept row decides. */
	for (size_t i = 0; i < usable; i++) {
		const double *row = y + front[i] * p;
		size_t k = p <= 2 && kept ? kept - 1 : 0;

		while (k < kept && !weakly_dominates(y + front[k] * p, row, p))
			k++;
		if (k == kept)
			front[kept++] = front[i];
	}
	return kept;
}
