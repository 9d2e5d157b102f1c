/* linear_even.c - margins and gradients of binary rows that are about equally long.
 *
 * Rows are made equally long by entries that point to a weight nobody uses, always 0.
 * Then no loop ends where the processor did not expect it, and no row crosses a cache
 * line. Sums have the order of linear_index.c, and so the same bits. */
#include "trainers/learn/linear_internal.h"

#include <stdlib.h>

#ifdef __clang__
#define UNROLL /* of itself where the length is a constant, and elsewhere it warns */
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum {
	ADULT = 14,    /* the length of Adult's rows, whose loops are unrolled */
	LONGEST = 64,  /* entries: a cache line */
	WASTE_MOST = 4 /* at most one entry in so many is added */
};

struct linear_even {
	uint32_t length; /* entries of a row, an even number */
	uint32_t stride; /* from row to row: a power of two, so that none crosses a cache
			    line */
	uint8_t unused;  /* the weight that is always 0 */
	uint8_t *index;
};

static const uint8_t *even_row(const struct linear_even *e, uint32_t i)
{
	return e->index + (size_t)i * e->stride;
}

static void fetch_even(const struct linear_rows *r, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(even_row(r->even, ids[i]));
}

/* Where the length is a constant the loops over entries are unrolled. */
static inline __attribute__((always_inline)) void margins_of(const struct linear_rows *r,
							     const float *w, const uint32_t *ids,
							     uint32_t n, float *restrict margin,
							     size_t length)
{
	const float bias = w[r->rows->nfeatures];

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *row = even_row(r->even, ids[i]);
		float even = bias, odd = 0;

		UNROLL
		for (size_t k = 0; k < length; k += 2) {
			even += w[row[k]];
			odd += w[row[k + 1]];
		}
		margin[i] = even + odd;
	}
}

static inline __attribute__((always_inline)) void add_of(const struct linear_rows *r,
							 const float *slope, const uint32_t *ids,
							 uint32_t n, float *restrict g,
							 size_t length)
{
	float bias = g[r->rows->nfeatures];

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *row = even_row(r->even, ids[i]);
		float s = slope[i];

		UNROLL
		for (size_t k = 0; k < length; k++)
			g[row[k]] += s;
		bias += s;
	}
	g[r->rows->nfeatures] = bias;
	g[r->even->unused] = 0;
}

static void margins_even(const struct linear_rows *r, const float *w, const uint32_t *ids,
			 uint32_t n, float *margin)
{
	if (r->even->length == ADULT)
		margins_of(r, w, ids, n, margin, ADULT);
	else
		margins_of(r, w, ids, n, margin, r->even->length);
}

static void add_even(const struct linear_rows *r, const float *slope, const uint32_t *ids,
		     uint32_t n, float *g)
{
	if (r->even->length == ADULT)
		add_of(r, slope, ids, n, g, ADULT);
	else
		add_of(r, slope, ids, n, g, r->even->length);
}

static void fill_row(const struct rows *rows, uint32_t i, const struct linear_even *e)
{
	uint64_t start = rows->start[i], n = rows->start[i + 1] - start;
	uint8_t *out = e->index + (size_t)i * e->stride;

	for (uint32_t k = 0; k < e->length; k++)
		out[k] = k < n ? (uint8_t)rows->index[start + k] : e->unused;
}

static bool fits(const struct rows *rows, uint64_t length)
{
	uint64_t entries = rows->start[rows->n] - rows->start[0], all = length * rows->n;

	return length > 0 && length <= LONGEST && (all - entries) * WASTE_MOST <= all &&
	       rows->nfeatures < UINT8_MAX &&
	       linear_weights(rows->nfeatures) > (size_t)rows->nfeatures + 1;
}

int linear_even_new(const struct rows *rows, struct linear_even **out, struct dp_err *err)
{
	uint64_t length = rows->value ? 0 : ((uint64_t)rows->row_max + 1) / 2 * 2;
	struct linear_even *e;

	*out = NULL;
	if (!fits(rows, length))
		return DP_OK;
	e = malloc(sizeof *e);
	if (!e)
		return dp_fail(err, DP_E_NOMEM, "no memory for rows");
	*e = (struct linear_even){ .length = (uint32_t)length,
				   .stride = 2,
				   .unused = (uint8_t)(rows->nfeatures + 1) };
	while (e->stride < e->length)
		e->stride *= 2;
	e->index =
		aligned_alloc(64, ((size_t)rows->n * e->stride * sizeof *e->index + 63) / 64 * 64);
	if (!e->index) {
		free(e);
		return dp_fail(err, DP_E_NOMEM, "no memory for %u rows", (unsigned)rows->n);
	}
	for (uint32_t i = 0; i < rows->n; i++)
		fill_row(rows, i, e);
	*out = e;
	return DP_OK;
}

void linear_even_free(struct linear_even *e)
{
	if (e)
		free(e->index);
	free(e);
}

const struct linear_kernel linear_by_even = { "even", fetch_even, margins_even, add_even };
