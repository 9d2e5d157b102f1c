/* linear_padded.c - linear kernel for binary rows of similar length.
 *
 * Rows are padded to equal length with entries for an unused weight that is always 0. So loops have
 * a predictable length and no row crosses a cache line. Sums have the same order as in
 * linear_sparse.c, and so the same bits. */
#include "trainers/learn/linear_internal.h"

#include <stdlib.h>

#ifdef __clang__
#define UNROLL /* implied if the length is constant; otherwise clang warns */
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum {
	ADULT_ROW_LENGTH = 14, /* length of Adult's rows, whose loops are unrolled */
	ROW_LENGTH_MAX = 64,   /* entries: a cache line */
	PADDING_DIVISOR = 4    /* padding may be at most this fraction of the entries */
};

struct linear_padded {
	uint32_t length; /* entries per row, an even number */
	uint32_t stride; /* a power of two, so that no row crosses a cache line */
	uint8_t zero_weight;
	uint8_t *index;
};

static const uint8_t *padded_get_row(const struct linear_padded *e, uint32_t i)
{
	return e->index + (size_t)i * e->stride;
}

static void padded_prefetch(const struct linear_kernel_rows *r, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(padded_get_row(r->padded, ids[i]));
}

/* The loops over entries are unrolled if the length is a constant. */
static inline __attribute__((always_inline)) void
padded_margins_length(const struct linear_kernel_rows *r, const float *w, const uint32_t *ids,
		      uint32_t n, float *restrict margin, size_t length)
{
	const float bias = w[r->rows->nfeatures];

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *row = padded_get_row(r->padded, ids[i]);
		float even = bias, odd = 0;

		UNROLL
		for (size_t k = 0; k < length; k += 2) {
			even += w[row[k]];
			odd += w[row[k + 1]];
		}
		margin[i] = even + odd;
	}
}

static inline __attribute__((always_inline)) void
padded_add_gradient_length(const struct linear_kernel_rows *r, const float *slope,
			   const uint32_t *ids, uint32_t n, float *restrict g, size_t length)
{
	float bias = g[r->rows->nfeatures];

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *row = padded_get_row(r->padded, ids[i]);
		float s = slope[i];

		UNROLL
		for (size_t k = 0; k < length; k++)
			g[row[k]] += s;
		bias += s;
	}
	g[r->rows->nfeatures] = bias;
	g[r->padded->zero_weight] = 0;
}

static void padded_margins(const struct linear_kernel_rows *r, const float *w, const uint32_t *ids,
			   uint32_t n, float *margin)
{
	if (r->padded->length == ADULT_ROW_LENGTH)
		padded_margins_length(r, w, ids, n, margin, ADULT_ROW_LENGTH);
	else
		padded_margins_length(r, w, ids, n, margin, r->padded->length);
}

static void padded_add_gradient(const struct linear_kernel_rows *r, const float *slope,
				const uint32_t *ids, uint32_t n, float *g)
{
	if (r->padded->length == ADULT_ROW_LENGTH)
		padded_add_gradient_length(r, slope, ids, n, g, ADULT_ROW_LENGTH);
	else
		padded_add_gradient_length(r, slope, ids, n, g, r->padded->length);
}

struct linear_padded *linear_padded_new(const struct sparse_rows *rows)
{
	uint64_t length = rows->value ? 0 : ((uint64_t)rows->max_row_entries + 1) / 2 * 2;
	uint64_t entries = rows->start[rows->n] - rows->start[0], all = length * rows->n;
	struct linear_padded *e;

	if (length == 0 || length > ROW_LENGTH_MAX || (all - entries) * PADDING_DIVISOR > all ||
	    rows->nfeatures >= UINT8_MAX ||
	    linear_count_weights(rows->nfeatures) == (size_t)rows->nfeatures + 1)
		return NULL;
	e = dp_malloc(sizeof *e);
	*e = (struct linear_padded){ .length = (uint32_t)length,
				     .stride = 2,
				     .zero_weight = (uint8_t)(rows->nfeatures + 1) };
	while (e->stride < e->length)
		e->stride *= 2;
	e->index = dp_aligned_alloc((size_t)rows->n * e->stride);
	for (uint32_t i = 0; i < rows->n; i++) {
		uint64_t start = rows->start[i], n = rows->start[i + 1] - start;
		uint8_t *out = e->index + (size_t)i * e->stride;

		for (uint32_t k = 0; k < e->length; k++)
			out[k] = k < n ? (uint8_t)rows->index[start + k] : e->zero_weight;
	}
	return e;
}

void linear_padded_free(struct linear_padded *e)
{
	if (e)
		free(e->index);
	free(e);
}

const struct linear_kernel linear_kernel_padded = { "even", padded_prefetch, padded_margins,
						    padded_add_gradient };
