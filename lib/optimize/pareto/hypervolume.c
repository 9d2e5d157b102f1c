/* hypervolume.c - the exact volume that a set of points dominates.
 *
 * All functions use z = ref - y > 0: the volume is that of the union of the boxes [0, z]. */
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	RANKED_BOX_SIZE = 5 /* a box in four dimensions and its rank */
};

/* Descending by the last coordinate, then the one before it, ...: sums do not depend on input
 * order. */
static int compare_boxes(const void *a, const void *b, void *arg)
{
	const double *u = a, *v = b;

	for (size_t j = *(const size_t *)arg; j-- > 0;)
		if (u[j] != v[j])
			return u[j] > v[j] ? -1 : 1;
	return 0;
}

static void sort_boxes(double *z, size_t n, size_t p)
{
	qsort_r(z, n, p * sizeof *z, compare_boxes, &p);
}

static double longest_side(const double *z, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, z[i]);
	return most;
}

/* From high to low: each box that is wider than all before it adds a strip. */
static double union_area_2d(double *z, size_t n)
{
	double wide = 0, sum = 0;

	sort_boxes(z, n, 2);
	for (size_t i = 0; i < n; i++) {
		if (z[2 * i] <= wide)
			continue;
		sum += (z[2 * i] - wide) * z[2 * i + 1];
		wide = z[2 * i];
	}
	return sum;
}

/* The union of rectangles [0, x] x [0, y] as corners: x ascends, y descends. */
struct staircase {
	double *x, *y;
	size_t n;
	double area;
};

static void staircase_add_rectangle(struct staircase *s, double x, double y)
{
	size_t lo = 0, hi = s->n, left;
	double right = x, height, added = 0;

	while (lo < hi) { /* find the first corner not left of x */
		size_t mid = lo + (hi - lo) / 2;

		if (s->x[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < s->n && s->y[lo] >= y)
		return;
	height = lo < s->n ? s->y[lo] : 0;
	for (left = lo; left > 0 && s->y[left - 1] <= y; left--) {
		added += (right - s->x[left - 1]) * (y - height);
		right = s->x[left - 1];
		height = s->y[left - 1];
	}
	added += (right - (left > 0 ? s->x[left - 1] : 0)) * (y - height);
	s->area += added;
	/* the new corner replaces the covered ones, left..lo-1 */
	memmove(s->x + left + 1, s->x + lo, (s->n - lo) * sizeof *s->x);
	memmove(s->y + left + 1, s->y + lo, (s->n - lo) * sizeof *s->y);
	s->n = s->n - (lo - left) + 1;
	s->x[left] = x;
	s->y[left] = y;
}

/* Three dimensions: slices of constant area from the top down. Each box costs a binary search and
 * one memmove() of corners. work: room for 2 n. */
static double union_volume_3d(double *z, size_t n, double *work)
{
	struct staircase s = { .x = work, .y = work + n };
	double sum = 0;

	sort_boxes(z, n, 3);
	for (size_t i = 0; i < n; i++) {
		const double *b = z + 3 * i;

		staircase_add_rectangle(&s, b[0], b[1]);
		sum += s.area * (b[2] - (i + 1 < n ? b[3 + 2] : 0));
	}
	return sum;
}

/* The volume that a box shares with higher ones, in the first three coordinates. by_third: (n)
 * four-dimensional boxes with their rank by height, sorted by the third coordinate; only ranks
 * below `rank` take part. work: room for 2 n. */
static double box_overlap_volume(const double *by_third, size_t n, const double *box, double rank,
				 double *work)
{
	struct staircase s = { .x = work, .y = work + n };
	double sum = 0, top = 0;

	for (size_t k = 0; k < n; k++) {
		const double *other = by_third + RANKED_BOX_SIZE * k;
		double height = fmin(box[2], other[2]);

		if (other[4] >= rank)
			continue;
		if (height < top)
			sum += s.area * (top - height);
		top = height;
		staircase_add_rectangle(&s, fmin(box[0], other[0]), fmin(box[1], other[1]));
	}
	return sum + s.area * top;
}

static int compare_third(const void *a, const void *b)
{
	const double *u = a, *v = b;

	return u[2] != v[2] ? (u[2] > v[2] ? -1 : 1) : (u[4] > v[4]) - (u[4] < v[4]);
}

/* Four dimensions: as union_volume_wfg(), but the shared parts are swept in the same order for
 * every box, so they need no sorting and no removal of covered boxes. A thousand boxes take a fifth
 * of the time; small sets, which are frequent in higher dimensions, take more. work: room for
 * (RANKED_BOX_SIZE + 2) n. */
static double union_volume_4d(double *z, size_t n, double *work)
{
	double *by_third = work, *corners = work + RANKED_BOX_SIZE * n, sum = 0;

	sort_boxes(z, n, 4);
	for (size_t i = 0; i < n; i++) {
		memcpy(by_third + RANKED_BOX_SIZE * i, z + 4 * i, 4 * sizeof *z);
		by_third[RANKED_BOX_SIZE * i + 4] = (double)i;
	}
	qsort(by_third, n, RANKED_BOX_SIZE * sizeof *by_third, compare_third);
	for (size_t i = 0; i < n; i++) {
		const double *box = z + 4 * i;
		double shared = box_overlap_volume(by_third, n, box, (double)i, corners);

		sum += box[3] * fmax(0, box[0] * box[1] * box[2] - shared);
	}
	return sum;
}

static bool box_inside(const double *u, const double *v, size_t p)
{
	for (size_t j = 0; j < p; j++)
		if (u[j] > v[j])
			return false;
	return true;
}

/* Adds a box to n boxes, none inside of another; returns the new n. */
static size_t add_maximal_box(double *set, size_t n, const double *box, size_t p)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (box_inside(box, set + i * p, p))
			return n;
	for (size_t i = 0; i < n; i++) {
		if (box_inside(set + i * p, box, p))
			continue;
		if (kept < i)
			memcpy(set + kept * p, set + i * p, p * sizeof *set);
		kept++;
	}
	memmove(set + kept * p, box, p * sizeof *set); /* may overlap */
	return kept + 1;
}

/* WFG (While, Bradstreet & Barone 2012): a box adds its own volume minus what it shares with
 * earlier boxes. These are at least as high in the last coordinate, so the shared part has one
 * dimension less. Modifies z; work: see wfg_workspace_size(). */
static double union_volume_wfg(double *z, size_t n, size_t p, double *work)
{
	size_t q = p - 1;
	double *shared = work, *cut = work + n * q, *rest = cut + q, sum = 0;

	if (p == 3)
		return union_volume_3d(z, n, work);
	sort_boxes(z, n, p);
	for (size_t i = 0; i < n; i++) {
		const double *box = z + i * p;
		double own = 1;
		size_t m = 0;

		for (size_t k = 0; k < i; k++) {
			for (size_t j = 0; j < q; j++)
				cut[j] = fmin(box[j], z[k * p + j]);
			m = add_maximal_box(shared, m, cut, q);
		}
		for (size_t j = 0; j < q; j++)
			own *= box[j];
		sum += box[q] * fmax(0, own - union_volume_wfg(shared, m, q, rest));
	}
	return sum;
}

static size_t wfg_workspace_size(size_t n, size_t p)
{
	size_t room = 2 * n;

	for (size_t q = 3; q < p; q++)
		room += (n + 1) * q;
	return room;
}

/* Stores the boxes of the rows that are better than ref in z; returns their number. */
static size_t boxes_from_points(double *z, const double *y, size_t n, size_t p, const double *ref)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		double *box = z + m * p;
		size_t j = 0;

		while (j < p && y[i * p + j] < ref[j]) { /* false for NaN */
			box[j] = ref[j] - y[i * p + j];
			j++;
		}
		m += j == p;
	}
	return m;
}

/* Divides each coordinate by a power of two, so that products cannot overflow and nothing is
 * rounded. The volume must be multiplied by 2 to the returned power. */
static int scale_boxes_pow2(double *z, size_t n, size_t p)
{
	int total = 0;

	for (size_t j = 0; j < p; j++) {
		double most = 0;
		int e;

		for (size_t i = 0; i < n; i++)
			most = fmax(most, z[i * p + j]);
		frexp(most, &e);
		for (size_t i = 0; i < n; i++)
			z[i * p + j] = ldexp(z[i * p + j], -e);
		total += e;
	}
	return total;
}

/* Three and more dimensions; from four on without boxes inside of others. */
static double union_volume(double *z, size_t n, size_t p)
{
	size_t m = n;
	double *work, volume;

	if (p > 3) {
		sort_boxes(z, n, p); /* wide ones first, so that most are dropped at once */
		m = 0;
		for (size_t i = 0; i < n; i++)
			m = add_maximal_box(z, m, z + i * p, p);
	}
	work = dp_malloc((p == 4 ? (RANKED_BOX_SIZE + 2) * m : wfg_workspace_size(m, p)) *
			 sizeof *work);
	volume = p == 4 ? union_volume_4d(z, m, work) : union_volume_wfg(z, m, p, work);
	free(work);
	return volume;
}

double dp_hypervolume(const double *y, size_t n, size_t p, const double *ref)
{
	double *z = dp_malloc(n * p * sizeof *z + 1), volume = 0;
	size_t m = boxes_from_points(z, y, n, p, ref);

	if (m > 0 && p > 0) {
		if (isinf(longest_side(z, m * p))) { /* also if the length overflows */
			volume = INFINITY;
		} else {
			int e = scale_boxes_pow2(z, m, p);

			volume = p == 1   ? longest_side(z, m)
				 : p == 2 ? union_area_2d(z, m)
					  : union_volume(z, m, p);
			volume = ldexp(volume, e);
		}
	}
	free(z);
	return volume;
}

static int compare_positions(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return (i > k) - (i < k);
}

/* Keeps only the rows of the front, in their order. Returns their number. */
static size_t drop_dominated(double *y, size_t n, size_t p, size_t *front)
{
	size_t count = dp_pareto_find_front(y, n, p, front);

	qsort(front, count, sizeof *front, compare_positions);
	for (size_t i = 0; i < count; i++)
		memmove(y + i * p, y + front[i] * p, p * sizeof *y);
	return count;
}

size_t dp_hypervolume_curve_evaluations(size_t n, size_t steps, size_t step)
{
	return n * (step + 1) / steps;
}

void dp_hypervolume_curve(double *y, size_t p, const size_t *ends, size_t n, const double *ref,
			  size_t steps, double *volume)
{
	size_t *front = dp_malloc((n ? ends[n - 1] : 0) * sizeof *front + 1);
	size_t used = 0, kept = 0; /* rows read so far, and front rows at the start of y */

	for (size_t i = 0; i < steps; i++) {
		size_t end = ends[dp_hypervolume_curve_evaluations(n, steps, i) - 1];

		volume[i] = i ? volume[i - 1] : 0;
		if (end == used)
			continue;
		memmove(y + kept * p, y + used * p, (end - used) * p * sizeof *y);
		kept = drop_dominated(y, kept + end - used, p, front);
		volume[i] = dp_hypervolume(y, kept, p, ref);
		used = end;
	}
	free(front);
}
