/* mlp_internal.h - what the files of the multi-layer perceptron share.
 *
 * Weights of a layer are kept in panels of MLP_PANEL_OUTPUTS outputs: a panel is a row-major matrix
 * with one row for each input and a last one for the bias, so that a bias is the weight of an input
 * that is always 1. Panels, and the rows of all other matrices, are padded to whole vectors and
 * tiles; what the padding holds is never used. */
#ifndef DP_MLP_INTERNAL_H
#define DP_MLP_INTERNAL_H
#include "trainers/learn/learn.h"

enum {
	MLP_LANES = 16,         /* floats: rows of matrices begin on 64-byte boundaries */
	MLP_PANEL_OUTPUTS = 64, /* outputs */
	MLP_TILE_ROWS = 6,      /* rows of a product that are made at a time; of a sparse one: */
	MLP_GROUP_ROWS = 4,
	MLP_ROW_MULTIPLE = 12, /* numbers of rows are rounded up to whole tiles and groups */
	/* records whose deltas stay in the innermost cache while gradients are summed */
	MLP_DENSE_BLOCK = 64,
	MLP_SPARSE_BLOCK = 128,
};

/* ---- mlp_kernels.c: products with one panel ---- */

/* Before a loop over sums: it has to go, or the sums are not in registers. */
#if defined(__clang__)
#define MLP_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MLP_UNROLL _Pragma("GCC unroll 24")
#endif

/* C = A B, or C += A B: B is a panel of `width` columns, a multiple of MLP_LANES. Rows of C are
 * c_row apart. Whole tiles of C are made: up to MLP_TILE_ROWS - 1 rows more. */
struct mlp_product {
	const float *b;
	float *c;
	size_t rows, width, c_stride;
	bool accumulate;
};
/* A(i, k) is at[i * row + k * column], k < depth. */
struct mlp_dense {
	const float *data;
	size_t row_stride, column_stride, depth;
};
/* Rows in groups of MLP_GROUP_ROWS: group g has the columns index[from[g]] .. index[to[g]], and
 * MLP_GROUP_ROWS values for each. */
struct mlp_sparse {
	const uint32_t *from, *to;
	const uint16_t *index;
	const float *value;
};
struct mlp_kernels {
	const char *name;
	size_t lanes; /* floats in a register: sums of squares have as many parts */
	void (*dense)(const struct mlp_product *p, const struct mlp_dense *a);
	void (*sparse)(const struct mlp_product *p, const struct mlp_sparse *a);
	float (*sum_squares)(const float *x, size_t n); /* the sum of squares, any n and x */
	/* Widths are multiples of MLP_LANES from here, and x on a boundary. x = max(x, 0), keeping
	 * NaN; the sum of squares. */
	float (*relu)(float *x, size_t width);
	/* x = 0 where y is not positive; the sum of squares. */
	float (*relu_backward)(float *x, const float *y, size_t width);
	void (*scale)(float *out, const float *x, float factor, size_t width);
};
/* The best of this machine, or the one so named ("avx512", "avx2", "portable"); NULL where the
 * machine cannot. */
const struct mlp_kernels *mlp__kernels_select(const char *name);

/* ---- mlp_input.c: the first layer's input ---- */

size_t mlp__round_up(size_t n, size_t to);
/* n floats on a 64-byte boundary, set to 0; free() them. */
float *mlp__alloc_floats(size_t n);
/* Floats from one record to the next in a matrix with so many columns, and one more that is 1: an
 * odd number of cache lines, for a power of two would put a column into few places of the cache. */
size_t mlp__record_stride(size_t width);

struct mlp_groups { /* a struct mlp_sparse in the making */
	size_t n;
	uint32_t *from, *to;
	uint16_t *index;
	float *value;
};
/* The inputs of some records, each with a last one that is 1, as the matrix X. */
struct mlp_input {
	const struct mlp_kernels *kernels;
	bool sparse;
	bool forward_only;         /* there will be no gradient */
	size_t features, capacity; /* records */
	size_t first, count;       /* records now, of those that were taken */
	float *squared_norm;       /* |x|^2 of each, without the 1 */
	float *x;                  /* dense: X, rows x_row apart */
	size_t x_stride;
	struct mlp_groups by_record;  /* sparse: X */
	struct mlp_groups by_feature; /* and X', for each MLP_SPARSE_BLOCK records */
	/* sparse: zeros between calls; x is one row, column MLP_GROUP_ROWS rows side by side, has
	 * and seen hold a bit for each feature they have */
	float *group_values;
	uint64_t *row_bits, *group_bits;
};
void mlp__input_init(struct mlp_input *in, const struct sparse_rows *rows, size_t features,
		     size_t capacity, bool sparse, bool forward_only,
		     const struct mlp_kernels *kernels);
void mlp__input_free(struct mlp_input *in);
/* Bytes that a record takes at most, where there will be no gradient. */
size_t mlp__input_bytes(const struct sparse_rows *rows, size_t features, bool sparse);
/* Takes the rows with these numbers, at most in->capacity. */
void mlp__input_load(struct mlp_input *in, const struct sparse_rows *rows, const uint32_t *number,
		     size_t count);
/* C = X B */
void mlp__input_forward(const struct mlp_input *in, const struct mlp_product *p);
/* C = X' B or C += X' B */
void mlp__input_gradient(const struct mlp_input *in, struct mlp_product *p);
/* C = A' B or C += A' B for `count` rows of A, a_row apart. */
void mlp__dense_gradient(const struct mlp_kernels *k, const float *a, size_t a_row, size_t count,
			 struct mlp_product *p);

/* ---- mlp_net.c: activations, deltas and gradients of some records ---- */

struct mlp_layer {
	size_t n_inputs, n_outputs;
	size_t panel_rows;     /* of a panel: in + 1, rounded up */
	size_t panel_columns;  /* of all panels: out, rounded up */
	size_t weights_offset; /* its first panel in the vector of weights */
	float *transposed;     /* weights transposed, in panels of inputs; not of layer 0 */
	size_t record_stride;  /* floats from one record to the next: */
	float *activation;     /* outputs, rectified, then 1; of the last layer: logits */
	float *delta;          /* derivatives of the loss by the outputs before that */
	float *squared_norm;   /* |act|^2 of each record */
};
struct mlp_net {
	const struct mlp_kernels *kernels;
	size_t n_layers, n_weights; /* weights in panels, with padding */
	size_t capacity;            /* records that go forward at a time */
	struct mlp_layer layer[MLP_LAYERS_MAX];
	struct mlp_input input;
	float *clip_factor;    /* what each record's deltas are multiplied by */
	float *rounding_bound; /* the sum over layers of (|a|^2 + 1) times outputs, of each record
				*/
	float *scaled_delta;   /* deltas of one panel, multiplied */
};
/* For up to so many records at a time; fewer where they would take much memory. */
void mlp__net_init(struct mlp_net *net, const struct mlp_shape *m, enum mlp_input_mode path,
		   const struct mlp_kernels *kernels, const struct sparse_rows *rows,
		   size_t records_max);
/* To go forward only: its input has room for all of the rows, unless they take more than so many
 * bytes. Where they do not go forward at once, `capacity` is whole groups. */
void mlp__net_init_forward(struct mlp_net *net, const struct mlp_shape *m,
			   const struct mlp_kernels *kernels, const struct sparse_rows *rows,
			   size_t bytes);
void mlp__net_free(struct mlp_net *net);
/* Between weights row by row, as learn.h has them, and panels. */
void mlp__net_pack(const struct mlp_net *net, const float *w, float *panels);
void mlp__net_unpack(const struct mlp_net *net, const float *panels, float *w);
/* Logits of the records that net->input took; with forward_only, of input.count of them from
 * input.first on, a multiple of MLP_GROUP_ROWS. */
void mlp__net_forward(struct mlp_net *net, const float *panels);
/* Call it whenever the weights changed, before mlp__net_backward(). */
void mlp__net_transpose(struct mlp_net *net, const float *panels);
/* Deltas of the records that went forward, and their factors: `unit`, less where a gradient is
 * longer than `clip`, 0 where its length is not finite. */
void mlp__net_backward(struct mlp_net *net, const struct sparse_rows *rows, const uint32_t *number,
		       double clip, double unit);
/* Where the noise of a step comes from; sd 0: none. */
struct mlp_noise {
	struct noise_stream *stream;
	float sd;
};
/* sum = the gradients multiplied by their factors, or sum += them, plus noise. */
void mlp__net_gradient(const struct mlp_net *net, float *sum, bool add,
		       const struct mlp_noise *noise);

/* ---- mlp_train.c ---- */

/* mlp_train() without its random start: from the weights in w. */
DP_MUSTCHECK int mlp__train_from(const struct mlp_shape *m, enum mlp_input_mode path,
				 const struct mlp_kernels *kernels, const struct sparse_rows *train,
				 const struct sgd *sgd, const struct noise_stream *lots,
				 struct noise_stream *noise, struct training_progress *progress,
				 float *w, struct dp_err *err);

/* The state of a training, for a benchmark that times the phases of its steps. */
struct mlp_training {
	const struct sparse_rows *train;
	const struct sgd *sgd;
	struct mlp_net net;
	struct lot_sampler lots;
	struct adam adam;
	float *panel_weights; /* in panels */
	float *gradient_sum;  /* of a lot's gradients and its noise, in panels */
	struct noise_stream *noise;
	struct training_progress *progress;
	float *flat_weights; /* the weights after each leg, as learn.h has them */
	void (*on_phase)(void *phase_arg, int phase); /* after each phase of a step, or NULL */
	void *phase_arg;
};
enum mlp_phase {
	MLP_PHASE_LOAD,
	MLP_PHASE_FORWARD,
	MLP_PHASE_BACKWARD,
	MLP_PHASE_GRADIENT, /* and its noise */
	MLP_PHASES
};
/* d->train, sgd, noise and progress are the caller's; the weights are 0. */
DP_MUSTCHECK int mlp__training_init(struct mlp_training *d, const struct mlp_shape *m,
				    enum mlp_input_mode path, const struct mlp_kernels *kernels,
				    const struct noise_stream *lots, struct dp_err *err);
void mlp__training_free(struct mlp_training *d);
/* One lot; false if asked to stop. */
DP_MUSTCHECK bool mlp__training_step(struct mlp_training *d);

#endif
