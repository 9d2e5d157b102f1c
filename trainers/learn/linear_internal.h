/* linear_internal.h - declarations shared by the files of the linear models. */
#ifndef DP_LINEAR_INTERNAL_H
#define DP_LINEAR_INTERNAL_H
#include "trainers/learn/learn.h"

enum {
	LINEAR_BLOCK = 256 /* records per kernel call */
};

/* Data of a record apart from its entries. */
struct linear_record {
	float target;    /* 0 or 1; hinge: -1 or 1 */
	float max_slope; /* largest slope that keeps the gradient's norm within L */
};

struct linear_bitmask;
struct linear_padded;

struct linear_kernel_rows {
	const struct sparse_rows *rows;
	const struct linear_bitmask *bitmask; /* for linear_kernel_bitmask */
	const struct linear_padded *padded;   /* for linear_kernel_padded */
};

/* An implementation of the inner loops. `ids` are `n` record numbers, at most LINEAR_BLOCK. */
struct linear_kernel {
	const char *name;
	void (*prefetch)(const struct linear_kernel_rows *r, const uint32_t *ids, uint32_t n);
	/* margin[i] = w . (row ids[i], 1) */
	void (*margins)(const struct linear_kernel_rows *r, const float *w, const uint32_t *ids,
			uint32_t n, float *margin);
	/* g += slope[i] * (row ids[i], 1) for all i */
	void (*add_gradient)(const struct linear_kernel_rows *r, const float *slope,
			     const uint32_t *ids, uint32_t n, float *g);
};

extern const struct linear_kernel linear_by_index, linear_by_value, linear_kernel_bitmask,
	linear_kernel_padded;
/* Rows as bit masks. NULL if they do not fit or the machine lacks AVX-512. */
struct linear_bitmask *linear_bitmask_new(const struct sparse_rows *rows);
/* Rows padded to one length. NULL if they do not fit. */
struct linear_padded *linear_padded_new(const struct sparse_rows *rows);
void linear_padded_free(struct linear_padded *e);

/* linear_train() with the named kernel, or the fastest (NULL). DP_E_INVALID if it does not fit. */
DP_MUSTCHECK int linear_train_with_kernel(const char *kernel, enum linear_loss loss,
					  const struct sparse_rows *train, const struct sgd *sgd,
					  const struct noise_stream *lots,
					  struct noise_stream *noise,
					  struct training_progress *progress, float *w,
					  struct dp_err *err);
/* Replaces each margin in slope[i] by the slope of the loss there, clamped to max_slope. */
void linear_loss_slopes(enum linear_loss loss, const struct linear_record *records, uint32_t n,
			float *slope);
/* The largest slope that keeps the norm of row i's gradient within `clip`. */
float linear_max_slope(const struct sparse_rows *rows, uint32_t i, double clip);

#endif
