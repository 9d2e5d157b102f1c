/* linear_sparse.c - linear kernels for any sparse rows, entry by entry. */
#include "trainers/learn/linear_internal.h"

static void sparse_prefetch(const struct linear_kernel_rows *r, const uint32_t *ids, uint32_t n)
{
	const struct sparse_rows *rows = r->rows;

	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(rows->index + rows->start[ids[i]]);
}

/* Two partial sums, so that additions do not wait for each other. */
static void sparse_binary_margins(const struct linear_kernel_rows *r, const float *w,
				  const uint32_t *ids, uint32_t n, float *margin)
{
	const struct sparse_rows *rows = r->rows;

	for (uint32_t i = 0; i < n; i++) {
		const uint16_t *p = rows->index + rows->start[ids[i]];
		const uint16_t *end = rows->index + rows->start[ids[i] + 1];
		float even = w[rows->nfeatures], odd = 0;

		for (; end - p >= 2; p += 2) {
			even += w[p[0]];
			odd += w[p[1]];
		}
		if (p < end)
			even += w[*p];
		margin[i] = even + odd;
	}
}

static void sparse_binary_add_gradient(const struct linear_kernel_rows *r, const float *slope,
				       const uint32_t *ids, uint32_t n, float *g)
{
	const struct sparse_rows *rows = r->rows;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = rows->start[ids[i] + 1];

		for (uint64_t k = rows->start[ids[i]]; k < end; k++)
			g[rows->index[k]] += slope[i];
		g[rows->nfeatures] += slope[i];
	}
}

static void sparse_value_margins(const struct linear_kernel_rows *r, const float *w,
				 const uint32_t *ids, uint32_t n, float *margin)
{
	const struct sparse_rows *rows = r->rows;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = rows->start[ids[i] + 1];
		float sum = w[rows->nfeatures];

		for (uint64_t k = rows->start[ids[i]]; k < end; k++)
			sum += w[rows->index[k]] * rows->value[k];
		margin[i] = sum;
	}
}

static void sparse_value_add_gradient(const struct linear_kernel_rows *r, const float *slope,
				      const uint32_t *ids, uint32_t n, float *g)
{
	const struct sparse_rows *rows = r->rows;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = rows->start[ids[i] + 1];

		for (uint64_t k = rows->start[ids[i]]; k < end; k++)
			g[rows->index[k]] += slope[i] * rows->value[k];
		g[rows->nfeatures] += slope[i];
	}
}

const struct linear_kernel linear_by_index = { "index", sparse_prefetch, sparse_binary_margins,
					       sparse_binary_add_gradient };
const struct linear_kernel linear_by_value = { "value", sparse_prefetch, sparse_value_margins,
					       sparse_value_add_gradient };
