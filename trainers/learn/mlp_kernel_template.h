/* mlp_kernel_template.h - the inner loops of the MLP for one kind of vector register.
 *
 * mlp_kernels.c includes it once per kind, with NAME() to distinguish them, TARGET for the
 * compiler, LANES floats per register, and UNITS: how many columns of a product, in units of
 * MLP_LANES (4 at most), have their sums in registers. */
typedef float NAME(vec) __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t NAME(mask) __attribute__((vector_size(4 * LANES), may_alias));
#define VEC  NAME(vec)
#define MASK NAME(mask)
#define TILE NAME(tile)
#define UNIT (MLP_LANES / LANES) /* registers */

/* Computes the tile of C at c, of nrow rows and nvec registers: the sum over k of A's column at a +
 * k * a_depth, whose elements are a_row apart, times row k (or index[k]) of b. */
TARGET static ALWAYS_INLINE void NAME(tile)(const struct mlp_product *p, const float *b, float *c,
					    const float *a, size_t a_row, size_t a_depth,
					    const uint16_t *index, size_t depth, const int nrow,
					    const int nvec)
{
	VEC sum[MLP_TILE_ROWS][4 * UNIT];

	MLP_UNROLL
	for (int i = 0; i < nrow; i++) {
		MLP_UNROLL
		for (int v = 0; v < nvec; v++)
			sum[i][v] = p->accumulate ? ((VEC *)(c + i * p->c_stride))[v] : (VEC){ 0 };
	}
	for (size_t k = 0; k < depth; k++, a += a_depth) {
		const VEC *bv = (const VEC *)(b + (index ? index[k] : k) * p->width);

		MLP_UNROLL
		for (int i = 0; i < nrow; i++) {
			MLP_UNROLL
			for (int v = 0; v < nvec; v++)
				sum[i][v] += a[i * a_row] * bv[v];
		}
	}
	MLP_UNROLL
	for (int i = 0; i < nrow; i++) {
		MLP_UNROLL
		for (int v = 0; v < nvec; v++)
			((VEC *)(c + i * p->c_stride))[v] = sum[i][v];
	}
}

TARGET static ALWAYS_INLINE void NAME(dense_strip)(const struct mlp_product *p,
						   const struct mlp_dense *a, size_t col,
						   const int nvec)
{
	for (size_t row = 0; row < p->rows; row += MLP_TILE_ROWS)
		TILE(p, p->b + col, p->c + row * p->c_stride + col, a->data + row * a->row_stride,
		     a->row_stride, a->column_stride, NULL, a->depth, MLP_TILE_ROWS, nvec);
}

TARGET static ALWAYS_INLINE void NAME(sparse_strip)(const struct mlp_product *p,
						    const struct mlp_sparse *a, size_t col,
						    const int nvec)
{
	for (size_t row = 0; row < p->rows; row += MLP_GROUP_ROWS) {
		size_t from = a->from[row / MLP_GROUP_ROWS];
		size_t depth = a->to[row / MLP_GROUP_ROWS] - from;

		if (depth == 0 && p->accumulate)
			continue;
		TILE(p, p->b + col, p->c + row * p->c_stride + col,
		     a->value + from * MLP_GROUP_ROWS, 1, MLP_GROUP_ROWS, a->index + from, depth,
		     MLP_GROUP_ROWS, nvec);
	}
}

/* The product in strips of columns whose sums fit in registers. Their number must be constant. */
#define STRIPS(strip)                                                                              \
	for (size_t col = 0, n; col < p->width; col += n * MLP_LANES) {                            \
		n = (p->width - col) / MLP_LANES;                                                  \
		n = n < UNITS ? n : UNITS;                                                         \
		if (UNITS >= 4 && n == 4)                                                          \
			NAME(strip)(p, a, col, 4 * UNIT);                                          \
		else if (UNITS >= 3 && n == 3)                                                     \
			NAME(strip)(p, a, col, 3 * UNIT);                                          \
		else if (UNITS >= 2 && n == 2)                                                     \
			NAME(strip)(p, a, col, 2 * UNIT);                                          \
		else                                                                               \
			NAME(strip)(p, a, col, UNIT);                                              \
	}

TARGET static void NAME(dense)(const struct mlp_product *p, const struct mlp_dense *a)
{
	STRIPS(dense_strip);
}

TARGET static void NAME(sparse)(const struct mlp_product *p, const struct mlp_sparse *a)
{
	STRIPS(sparse_strip);
}

/* In double, so that only the sums of the lanes are rounded more than once. */
TARGET static double NAME(total)(const float *part)
{
	double sum = 0;

	for (int i = 0; i < LANES; i++)
		sum += part[i];
	return sum;
}

TARGET static float NAME(square)(const float *x, size_t n)
{
	VEC squares = { 0 };
	float part[LANES];
	double sum = 0;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		VEC v;

		memcpy(&v, x + i, sizeof v); /* not aligned */
		squares += v * v;
	}
	memcpy(part, &squares, sizeof part);
	for (; i < n; i++)
		sum += (double)x[i] * x[i];
	return (float)(sum + NAME(total)(part));
}

TARGET static float NAME(rectify)(float *x, size_t width)
{
	VEC squares = { 0 }, *xv = (VEC *)x;

	for (size_t i = 0; i < width / LANES; i++) {
		xv[i] = (VEC)((MASK)xv[i] & ~(xv[i] <= 0));
		squares += xv[i] * xv[i];
	}
	return (float)NAME(total)((const float *)&squares);
}

TARGET static float NAME(gate)(float *x, const float *y, size_t width)
{
	const VEC *yv = (const VEC *)y;
	VEC squares = { 0 }, *xv = (VEC *)x;

	for (size_t i = 0; i < width / LANES; i++) {
		xv[i] = (VEC)((MASK)xv[i] & (yv[i] > 0));
		squares += xv[i] * xv[i];
	}
	return (float)NAME(total)((const float *)&squares);
}

TARGET static void NAME(scale)(float *out, const float *x, float factor, size_t width)
{
	const VEC *xv = (const VEC *)x;
	VEC *ov = (VEC *)out;

	for (size_t i = 0; i < width / LANES; i++)
		ov[i] = factor * xv[i];
}

static const struct mlp_kernels NAME(kernels) = {
	.name = KERNELS,
	.lanes = LANES,
	.dense = NAME(dense),
	.sparse = NAME(sparse),
	.sum_squares = NAME(square),
	.relu = NAME(rectify),
	.relu_backward = NAME(gate),
	.scale = NAME(scale),
};

#undef VEC
#undef MASK
#undef TILE
#undef UNIT
#undef STRIPS
#undef NAME
#undef KERNELS
#undef TARGET
#undef LANES
#undef UNITS
