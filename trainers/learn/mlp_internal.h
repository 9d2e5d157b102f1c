/* mlp_internal.h - declarations shared by the files of the multi-layer perceptron.
 *
 * Weights of a layer are stored in panels of MLP_PANEL_OUTPUTS outputs. A panel is a row-major
 * matrix with one row per input and a last row for the bias, the weight of an input that is always
 * 1. Panels, and the rows of all other matrices, are padded to whole vectors and tiles; the padding
 * is never used. */
#ifndef DP_MLP_INTERNAL_H
#define DP_MLP_INTERNAL_H
#include "trainers/learn/learn.h"

enum {
	MLP_LANES = 16,         /* floats; rows of matrices are aligned to 64 bytes */
	MLP_PANEL_OUTPUTS = 64, /* outputs */
	MLP_TILE_ROWS = 6,      /* rows of a dense product per tile */
	MLP_GROUP_ROWS = 4,
	MLP_ROW_MULTIPLE = 12, /* row counts are rounded up to whole tiles and groups */
	/* records per pass of the gradient, so that their deltas stay in the L1 cache */
	MLP_DENSE_BLOCK = 64,
	MLP_SPARSE_BLOCK = 128,
};

/* ---- mlp_kernels.c ---- */

/* Loops over accumulators must be unrolled, or these are not kept in registers. */
#if defined(__clang__)
#define MLP_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MLP_UNROLL _Pragma("GCC unroll 24")
#endif

/* C = A B, or C += A B. B is a panel of `width` columns, a multiple of MLP_LANES. Rows of C are
 * c_stride apart. C is computed in whole tiles: up to MLP_TILE_ROWS - 1 extra rows. */
struct mlp_product {
	const float *b;
	float *c;
	size_t rows, width, c_stride;
	bool accumulate;
};
/* A(i, k) is data[i * row_stride + k * column_stride], k < depth. */
struct mlp_dense {
	const float *data;
	size_t row_stride, column_stride, depth;
};
/* A in groups of MLP_GROUP_ROWS rows: group g has the columns index[from[g]] .. index[to[g]], and a
 * value per row for each. */
struct mlp_sparse {
	const uint32_t *from, *to;
	const uint16_t *index;
	const float *value;
};
struct mlp_kernels {
	const char *name;
	size_t lanes; /* floats in a register, and partial sums of squares */
	void (*dense)(const struct mlp_product *p, const struct mlp_dense *a);
	void (*sparse)(const struct mlp_product *p, const struct mlp_sparse *a);
	float (*sum_squares)(const float *x, size_t n); /* any n, any alignment */
	/* From here on, widths are multiples of MLP_LANES and x is aligned. x = max(x, 0), keeping
	 * NaN; returns the sum of squares. */
	float (*relu)(float *x, size_t width);
	/* x = 0 where y is not positive; returns the sum of squares. */
	float (*relu_backward)(float *x, const float *y, size_t width);
	void (*scale)(float *out, const float *x, float factor, size_t width);
};
/* The kernels of this name, or the fastest (NULL). NULL if the machine cannot run them. */
const struct mlp_kernels *mlp__kernels_select(const char *name);

/* ---- mlp_input.c: input of the first layer ---- */

size_t mlp__round_up(size_t n, size_t to);
/* n floats, aligned to 64 bytes and set to 0; the caller calls free(). */
float *mlp__alloc_floats(size_t n);
/* Stride in floats for records with `width` columns and a constant 1: an odd number of cache lines,
 * because a power of two would map a column to few cache sets. */
size_t mlp__record_stride(size_t width);

struct mlp_groups { /* storage of a struct mlp_sparse */
	size_t n;
	uint32_t *from, *to;
	uint16_t *index;
	float *value;
};
/* The inputs of some records as the matrix X, each with a constant 1 at the end. */
struct mlp_input {
	const struct mlp_kernels *kernels;
	bool sparse;
	bool forward_only;         /* gradients are not needed */
	size_t features, capacity; /* capacity: records */
	size_t first, count;       /* current records, a range of the loaded ones */
	float *squared_norm;       /* |x|^2 of each, without the constant */
	float *x;                  /* dense: X, with rows x_stride apart */
	size_t x_stride;
	struct mlp_groups by_record;  /* sparse: X */
	struct mlp_groups by_feature; /* sparse: X', for each MLP_SPARSE_BLOCK records */
	/* Sparse: all zero between calls. x is one row, group_values MLP_GROUP_ROWS rows side by
	 * side; row_bits and group_bits are the sets of their features. */
	float *group_values;
	uint64_t *row_bits, *group_bits;
};
void mlp__input_init(struct mlp_input *in, const struct sparse_rows *rows, size_t features,
		     size_t capacity, bool sparse, bool forward_only,
		     const struct mlp_kernels *kernels);
void mlp__input_free(struct mlp_input *in);
/* Upper bound for the bytes of a record with forward_only. */
size_t mlp__input_bytes(const struct sparse_rows *rows, size_t features, bool sparse);
/* Loads the rows with the given numbers, at most in->capacity. */
void mlp__input_load(struct mlp_input *in, const struct sparse_rows *rows, const uint32_t *number,
		     size_t count);
/* C = X B */
void mlp__input_forward(const struct mlp_input *in, const struct mlp_product *p);
/* C = X' B or C += X' B */
void mlp__input_gradient(const struct mlp_input *in, struct mlp_product *p);
/* C = A' B or C += A' B for `count` rows of A, a_row apart. */
void mlp__dense_gradient(const struct mlp_kernels *k, const float *a, size_t a_row, size_t count,
			 struct mlp_product *p);

/* ---- mlp_net.c: activations, deltas and gradients ---- */

struct mlp_layer {
	size_t n_inputs, n_outputs;
	size_t panel_rows;     /* of a panel: n_inputs + 1, rounded up */
	size_t panel_columns;  /* of all panels: n_outputs, rounded up */
	size_t weights_offset; /* first panel in the vector of weights */
	float *transposed;     /* weights transposed, in panels of inputs; unused in layer 0 */
	size_t record_stride;  /* floats between records in: */
	float *activation;     /* rectified outputs, then 1; in the last layer, logits */
	float *delta;          /* derivatives of the loss by the outputs before rectifying */
	float *squared_norm;   /* |activation|^2 of each record */
};
struct mlp_net {
	const struct mlp_kernels *kernels;
	size_t n_layers, n_weights; /* weights in panels, with padding */
	size_t capacity;            /* records per forward pass */
	struct mlp_layer layer[MLP_LAYERS_MAX];
	struct mlp_input input;
	float *clip_factor;    /* factor of each record's deltas */
	float *rounding_bound; /* of each record: sum over layers of (|a|^2 + 1) n_outputs */
	float *scaled_delta;   /* deltas of one panel times their factors */
};
/* For at most records_max records at a time; fewer if they would take much memory. */
void mlp__net_init(struct mlp_net *net, const struct mlp_shape *m, enum mlp_input_mode path,
		   const struct mlp_kernels *kernels, const struct sparse_rows *rows,
		   size_t records_max);
/* For scoring. The input has room for all rows unless they take more than `bytes`. If one pass
 * cannot process all rows, `capacity` is a multiple of MLP_GROUP_ROWS. */
void mlp__net_init_forward(struct mlp_net *net, const struct mlp_shape *m,
			   const struct mlp_kernels *kernels, const struct sparse_rows *rows,
			   size_t bytes);
void mlp__net_free(struct mlp_net *net);
/* Converts weights between the layout of learn.h and panels. */
void mlp__net_pack(const struct mlp_net *net, const float *w, float *panels);
void mlp__net_unpack(const struct mlp_net *net, const float *panels, float *w);
/* Computes the logits of the loaded records; with forward_only, of input.count records from
 * input.first on, a multiple of MLP_GROUP_ROWS. */
void mlp__net_forward(struct mlp_net *net, const float *panels);
/* Call after every change of the weights, before mlp__net_backward(). */
void mlp__net_transpose(struct mlp_net *net, const float *panels);
/* Computes deltas and factors of the current records. The factor is `unit`, reduced if the gradient
 * is longer than `clip`, or 0 if its norm is not finite. */
void mlp__net_backward(struct mlp_net *net, const struct sparse_rows *rows, const uint32_t *number,
		       double clip, double unit);
/* Noise of a step; sd 0: none. */
struct mlp_noise {
	struct noise_stream *stream;
	float sd;
};
/* sum = factors times gradients, or sum += them, plus noise. */
void mlp__net_gradient(const struct mlp_net *net, float *sum, bool add,
		       const struct mlp_noise *noise);

/* ---- mlp_train.c ---- */

/* mlp_train() from the weights in w instead of a random start. */
DP_MUSTCHECK int mlp__train_from(const struct mlp_shape *m, enum mlp_input_mode path,
				 const struct mlp_kernels *kernels, const struct sparse_rows *train,
				 const struct sgd *sgd, const struct noise_stream *lots,
				 struct noise_stream *noise, struct training_progress *progress,
				 float *w, struct dp_err *err);

/* State of a training run. A benchmark uses it to time the phases of a step. */
struct mlp_training {
	const struct sparse_rows *train;
	const struct sgd *sgd;
	struct mlp_net net;
	struct lot_sampler lots;
	struct adam adam;
	float *panel_weights;
	float *gradient_sum; /* gradients of a lot plus noise, in panels */
	struct noise_stream *noise;
	struct training_progress *progress;
	float *flat_weights;                          /* set after each leg, layout of learn.h */
	void (*on_phase)(void *phase_arg, int phase); /* called after each phase; may be NULL */
	void *phase_arg;
};
enum mlp_phase {
	MLP_PHASE_LOAD,
	MLP_PHASE_FORWARD,
	MLP_PHASE_BACKWARD,
	MLP_PHASE_GRADIENT, /* includes the noise */
	MLP_PHASES
};
/* The caller has set train, sgd, noise and progress. Weights start at 0. */
DP_MUSTCHECK int mlp__training_init(struct mlp_training *d, const struct mlp_shape *m,
				    enum mlp_input_mode path, const struct mlp_kernels *kernels,
				    const struct noise_stream *lots, struct dp_err *err);
void mlp__training_free(struct mlp_training *d);
/* Processes one lot. False if TERM was received. */
DP_MUSTCHECK bool mlp__training_step(struct mlp_training *d);

#endif
