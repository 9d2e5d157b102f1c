/* mlp_input.c - stores the input of the first layer, dense or in sparse groups of rows.
 *
 * A sparse product takes MLP_GROUP_ROWS rows at a time and the columns where any of them is not 0:
 * a row of the other matrix is then read once per group. In a forward pass, a group consists of
 * records. For the gradient it consists of neighbouring features, which in images are often 0
 * together. */
#include "trainers/learn/mlp_internal.h"

#include <stdlib.h>
#include <string.h>

size_t mlp__round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

size_t mlp__record_stride(size_t width)
{
	size_t lines = mlp__round_up(width + MLP_ROW_MULTIPLE, MLP_LANES) / MLP_LANES;

	return (lines | 1) * MLP_LANES;
}

float *mlp__alloc_floats(size_t n)
{
	size_t bytes = mlp__round_up(n * sizeof(float), 64);

	return memset(dp_aligned_alloc(bytes), 0, bytes);
}

static size_t feature_groups(const struct mlp_input *in)
{
	return in->features / MLP_GROUP_ROWS + 1; /* with the constant 1 */
}

/* n groups with room for `entries` entries each, not initialised: unused memory stays untouched. */
static void groups_init(struct mlp_groups *g, size_t n, size_t entries)
{
	size_t bytes = n * entries * MLP_GROUP_ROWS * sizeof *g->value;

	g->n = n;
	g->from = dp_calloc(n, sizeof *g->from);
	g->to = dp_calloc(n, sizeof *g->to);
	g->index = dp_calloc(n * entries, sizeof *g->index);
	g->value = dp_aligned_alloc(mlp__round_up(bytes, 64));
	for (size_t i = 0; i < n; i++)
		g->from[i] = (uint32_t)(i * entries);
}

/* Maximum number of distinct features of MLP_GROUP_ROWS rows, constant included. */
static size_t max_union_features(size_t features, size_t row_max)
{
	size_t n = (row_max + 1) * MLP_GROUP_ROWS;

	return n < features + 1 ? n : features + 1;
}

size_t mlp__input_bytes(const struct sparse_rows *rows, size_t features, bool sparse)
{
	if (!sparse)
		return mlp__record_stride(features) * sizeof(float);
	/* a value, and a share of the index */
	return max_union_features(features, rows->max_row_entries) * (sizeof(float) + 1);
}

void mlp__input_init(struct mlp_input *in, const struct sparse_rows *rows, size_t features,
		     size_t capacity, bool sparse, bool forward_only,
		     const struct mlp_kernels *kernels)
{
	size_t blocks = mlp__round_up(capacity, MLP_SPARSE_BLOCK) / MLP_SPARSE_BLOCK;

	*in = (struct mlp_input){ .kernels = kernels,
				  .sparse = sparse,
				  .forward_only = forward_only,
				  .features = features,
				  .capacity = capacity };
	in->squared_norm = mlp__alloc_floats(capacity);
	if (!sparse) {
		in->x_stride = mlp__record_stride(features);
		in->x = mlp__alloc_floats(mlp__round_up(capacity, MLP_ROW_MULTIPLE) * in->x_stride);
		return;
	}
	in->group_values = mlp__alloc_floats((features + 1) * MLP_GROUP_ROWS);
	in->x = mlp__alloc_floats(mlp__round_up(features + 1, MLP_GROUP_ROWS));
	in->row_bits = dp_calloc(features / 64 + 1, sizeof *in->row_bits);
	in->group_bits = dp_calloc(features / 64 + 1, sizeof *in->group_bits);
	groups_init(&in->by_record, mlp__round_up(capacity, MLP_GROUP_ROWS) / MLP_GROUP_ROWS,
		    max_union_features(features, rows->max_row_entries));
	if (!forward_only) /* these lists fill in parallel: an odd number of cache lines apart */
		groups_init(&in->by_feature, blocks * feature_groups(in),
			    mlp__round_up(blocks > 1 ? MLP_SPARSE_BLOCK : capacity, 8) + 4);
}

static void groups_free(struct mlp_groups *g)
{
	free(g->from);
	free(g->to);
	free(g->index);
	free(g->value);
}

void mlp__input_free(struct mlp_input *in)
{
	free(in->squared_norm);
	free(in->x);
	groups_free(&in->by_record);
	groups_free(&in->by_feature);
	free(in->group_values);
	free(in->row_bits);
	free(in->group_bits);
	*in = (struct mlp_input){ 0 };
}

/* ---- loading ---- */

/* Reads one element of every cache line of the rows. Entries are scattered in memory, and a small
 * loop keeps the misses of many records in flight: dense MNIST rows load in 0.3 us each instead of
 * 0.5. Prefetch instructions had no effect. */
static void prefetch_rows(const struct sparse_rows *rows, const uint32_t *number, size_t count)
{
	const size_t line = 64 / sizeof *rows->value;
	const volatile uint16_t *index = rows->index;
	const volatile float *value = rows->value;

	for (size_t r = 0; r < count; r++) {
		uint64_t end = rows->start[number[r] + 1];

		for (uint64_t e = rows->start[number[r]]; e < end; e += line) {
			(void)index[e];
			if (value)
				(void)value[e];
		}
	}
}

static inline void move_group(float *to, float *from)
{
	memcpy(to, from, MLP_GROUP_ROWS * sizeof *to);
	memset(from, 0, MLP_GROUP_ROWS * sizeof *from);
}

static void load_dense(struct mlp_input *in, const struct sparse_rows *rows, uint32_t number,
		       size_t r)
{
	const size_t start = rows->start[number], n = rows->start[number + 1] - start;
	const uint16_t *index = rows->index + start;
	float *x = in->x + r * in->x_stride;

	memset(x, 0, in->x_stride * sizeof *x);
	for (size_t i = 0; i < n; i++)
		x[index[i]] = rows->value ? rows->value[start + i] : 1;
	x[in->features] = 1;
}

/* Writes a row to x and to column `place` of group_values, and its features to row_bits. */
static void scatter_row(struct mlp_input *in, const struct sparse_rows *rows, uint32_t number,
			size_t place)
{
	const size_t start = rows->start[number], n = rows->start[number + 1] - start;
	const uint16_t *index = rows->index + start;
	float *restrict x = in->x, *restrict column = in->group_values + place;
	uint64_t *restrict has = in->row_bits, bits = 0;
	size_t word = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = index[i];

		x[k] = column[k * MLP_GROUP_ROWS] = rows->value ? rows->value[start + i] : 1;
		if (k / 64 != word) { /* indices ascend: once per word */
			has[word] = bits;
			word = k / 64;
			bits = 0;
		}
		bits |= UINT64_C(1) << k % 64;
	}
	has[word] = bits;
	x[in->features] = column[in->features * MLP_GROUP_ROWS] = 1;
	has[in->features / 64] |= UINT64_C(1) << in->features % 64;
}

/* Moves x to the lists of its feature groups, as row r. */
static void gather_feature_groups(struct mlp_input *in, size_t r)
{
	struct mlp_groups *to = &in->by_feature;
	size_t first = r / MLP_SPARSE_BLOCK * feature_groups(in);
	uint32_t *next = to->to + first;

	for (size_t word = 0; word <= in->features / 64; word++) {
		uint64_t bits = in->row_bits[word];

		in->row_bits[word] = 0;
		in->group_bits[word] |= bits;
		bits |= bits >> 1;
		bits = (bits | bits >> 2) & UINT64_C(0x1111111111111111);
		for (; bits; bits &= bits - 1) {
			size_t g = (word * 64 + (size_t)__builtin_ctzll(bits)) / MLP_GROUP_ROWS;
			size_t at = next[g]++;

			to->index[at] = (uint16_t)(r % MLP_SPARSE_BLOCK);
			move_group(to->value + at * MLP_GROUP_ROWS, in->x + g * MLP_GROUP_ROWS);
		}
	}
}

/* Moves the columns in group_bits to the list of a record group; kept lists are contiguous. */
static void gather_record_group(struct mlp_input *in, size_t group)
{
	struct mlp_groups *to = &in->by_record;
	uint32_t n;

	if (in->forward_only && group > 0)
		to->from[group] = to->to[group - 1];
	n = to->from[group];
	for (size_t word = 0; word <= in->features / 64; word++) {
		uint64_t bits = in->group_bits[word];

		in->group_bits[word] = 0;
		for (; bits; bits &= bits - 1, n++) {
			size_t k = word * 64 + (size_t)__builtin_ctzll(bits);

			to->index[n] = (uint16_t)k;
			move_group(to->value + n * (size_t)MLP_GROUP_ROWS,
				   in->group_values + k * MLP_GROUP_ROWS);
		}
	}
	to->to[group] = n;
}

static void load_sparse(struct mlp_input *in, const struct sparse_rows *rows, uint32_t number,
			size_t r)
{
	scatter_row(in, rows, number, r % MLP_GROUP_ROWS);
	if (!in->forward_only)
		gather_feature_groups(in, r);
	for (size_t word = 0; in->forward_only && word <= in->features / 64; word++) {
		in->group_bits[word] |= in->row_bits[word];
		in->row_bits[word] = 0;
	}
	if (r % MLP_GROUP_ROWS == MLP_GROUP_ROWS - 1 || r == in->count - 1)
		gather_record_group(in, r / MLP_GROUP_ROWS);
}

void mlp__input_load(struct mlp_input *in, const struct sparse_rows *rows, const uint32_t *number,
		     size_t count)
{
	enum {
		PREFETCH_ROWS = 64
	};

	in->first = 0;
	in->count = count;
	if (in->sparse && !in->forward_only)
		memcpy(in->by_feature.to, in->by_feature.from,
		       in->by_feature.n * sizeof *in->by_feature.to);
	for (size_t r = 0; r < count; r++) {
		uint64_t start = rows->start[number[r]], n = rows->start[number[r] + 1] - start;

		if (r % PREFETCH_ROWS == 0)
			prefetch_rows(rows, number + r,
				      count - r < PREFETCH_ROWS ? count - r : PREFETCH_ROWS);
		in->squared_norm[r] =
			rows->value ? in->kernels->sum_squares(rows->value + start, n) : (float)n;
		if (in->sparse)
			load_sparse(in, rows, number[r], r);
		else
			load_dense(in, rows, number[r], r);
	}
}

/* ---- products ---- */

static void sparse_product(const struct mlp_input *in, const struct mlp_groups *g, size_t first,
			   const struct mlp_product *p)
{
	in->kernels->sparse(
		p, &(struct mlp_sparse){ g->from + first, g->to + first, g->index, g->value });
}

void mlp__input_forward(const struct mlp_input *in, const struct mlp_product *p)
{
	if (in->sparse)
		sparse_product(in, &in->by_record, in->first / MLP_GROUP_ROWS, p);
	else
		in->kernels->dense(p, &(struct mlp_dense){ in->x + in->first * in->x_stride,
							   in->x_stride, 1, in->features + 1 });
}

void mlp__dense_gradient(const struct mlp_kernels *k, const float *a, size_t a_row, size_t count,
			 struct mlp_product *p)
{
	for (size_t r = 0; r < count; r += MLP_DENSE_BLOCK) {
		size_t left = count - r;
		size_t n = left < MLP_DENSE_BLOCK ? left : MLP_DENSE_BLOCK;

		k->dense(p, &(struct mlp_dense){ a + r * a_row, 1, a_row, n });
		p->b += n * p->width;
		p->accumulate = true;
	}
}

void mlp__input_gradient(const struct mlp_input *in, struct mlp_product *p)
{
	if (!in->sparse)
		mlp__dense_gradient(in->kernels, in->x, in->x_stride, in->count, p);
	for (size_t r = 0; in->sparse && r < in->count; r += MLP_SPARSE_BLOCK) {
		sparse_product(in, &in->by_feature, r / MLP_SPARSE_BLOCK * feature_groups(in), p);
		p->b += MLP_SPARSE_BLOCK * p->width;
		p->accumulate = true;
	}
}
