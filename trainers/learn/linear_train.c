/* linear_train.c - trains and scores logistic regression and linear SVMs (DP-SGD, DP-Adam).
 *
 * The gradient of one record is slope * (row, 1). Its norm follows without forming it, so that
 * clipping is a bound on the slope. The bias is a weight like the others: it counts in the norm and
 * gets noise. */
#include "trainers/learn/linear_internal.h"

#include "linalg/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	WEIGHTS_MULTIPLE = 16,
	TICK_RECORDS = 32768 /* about a millisecond */
};

size_t linear_count_weights(uint32_t nfeatures)
{
	size_t n = (size_t)nfeatures + 1;

	return (n + WEIGHTS_MULTIPLE - 1) / WEIGHTS_MULTIPLE * WEIGHTS_MULTIPLE;
}

/* ---- the loss of one record ---- */

DP_SIMD_BEGIN

/* exp(x) to 2 units in the last place, x clamped to +-87. See dp__exp(). */
static inline float exp_float(float x)
{
	const float magic = 0x1.8p23f;
	float a = x < -87 ? -87 : x > 87 ? 87 : x;
	float kf = a * 1.44269504f + magic, k = kf - magic, r, p, scale;
	uint32_t bits;

	r = (a - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
	p = 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1;
	p = p * r + 1;
	memcpy(&bits, &kf, sizeof bits);
	bits = (bits << 23) + (UINT32_C(127) << 23);
	memcpy(&scale, &bits, sizeof scale);
	return p * scale;
}

static inline float clamp_abs(float x, float limit)
{
	return x > limit ? limit : x < -limit ? -limit : x;
}

DP_SIMD
static void logistic_slopes(const struct linear_record *restrict records, uint32_t n,
			    float *restrict slope)
{
	for (uint32_t i = 0; i < n; i++) {
		float s = 1 / (1 + exp_float(-slope[i])) - records[i].target;

		/* a margin of inf - inf has no slope */
		slope[i] = clamp_abs(s == s ? s : 0, records[i].max_slope);
	}
}

DP_SIMD
static void hinge_slopes(const struct linear_record *restrict records, uint32_t n,
			 float *restrict slope)
{
	for (uint32_t i = 0; i < n; i++) {
		float t = records[i].target, s = t * slope[i] < 1 ? -t : 0;

		slope[i] = clamp_abs(s, records[i].max_slope);
	}
}

DP_SIMD_END

void linear_loss_slopes(enum linear_loss loss, const struct linear_record *records, uint32_t n,
			float *slope)
{
	if (loss == LINEAR_LOGISTIC)
		logistic_slopes(records, n, slope);
	else
		hinge_slopes(records, n, slope);
}

float linear_max_slope(const struct sparse_rows *rows, uint32_t i, double clip)
{
	uint64_t start = rows->start[i], n = rows->start[i + 1] - start;
	double squares = 1; /* the bias */

	if (!rows->value)
		return sgd_clip_factor(clip, squares + (double)n, 0);
	for (uint64_t k = start; k < start + n; k++)
		squares += (double)rows->value[k] * rows->value[k];
	/* squares of floats are exact in double; each addition is correct to half a unit */
	return sgd_clip_factor(clip, squares, (double)n * DBL_EPSILON);
}

/* ---- training ---- */

struct linear_training {
	enum linear_loss loss;
	const struct sgd *sgd;
	const struct linear_kernel *kernel;
	struct linear_kernel_rows rows;
	struct linear_bitmask *bitmask;
	struct linear_padded *padded;
	struct linear_record *records; /* (n) */
	struct lot_sampler lots;
	struct adam adam;
	size_t n_weights;    /* without padding */
	size_t padded_width; /* with padding */
	float *gradient_sum; /* (padded_width) */
	double noise_sd;
	struct noise_stream *noise;
	struct training_progress *progress;
	float *weights;
	const uint32_t *lot_ids; /* the next lot */
	uint32_t lot_count;
};

/* Selects the kernel by name, or the fastest that accepts the rows. */
static int choose_kernel(struct linear_training *t, const char *name, struct dp_err *err)
{
	const struct sparse_rows *rows = t->rows.rows;

	t->kernel = rows->value ? &linear_by_value : &linear_by_index;
	if (!name || strcmp(name, linear_kernel_bitmask.name) == 0)
		t->rows.bitmask = t->bitmask = linear_bitmask_new(rows);
	if (!t->bitmask && (!name || strcmp(name, linear_kernel_padded.name) == 0))
		t->rows.padded = t->padded = linear_padded_new(rows);
	if (t->bitmask)
		t->kernel = &linear_kernel_bitmask;
	else if (t->padded)
		t->kernel = &linear_kernel_padded;
	return !name || strcmp(name, t->kernel->name) == 0
		       ? DP_OK
		       : dp_fail(err, DP_E_INVALID, "the kernel '%s' cannot take these rows", name);
}

static int linear_training_init(struct linear_training *t, const char *kernel,
				const struct noise_stream *lots, struct dp_err *err)
{
	const struct sparse_rows *rows = t->rows.rows;
	int code = lot_sampler_init(&t->lots, lots, rows->n, t->sgd, err);

	if (code == DP_OK)
		code = choose_kernel(t, kernel, err);
	if (code != DP_OK)
		return code;
	t->n_weights = (size_t)rows->nfeatures + 1;
	t->padded_width = linear_count_weights(rows->nfeatures);
	t->noise_sd = sgd_noise_sd(t->sgd);
	t->records = dp_malloc(rows->n * sizeof *t->records);
	for (uint32_t i = 0; i < rows->n; i++) {
		float label = rows->label[i];

		t->records[i] = (struct linear_record){
			.target = t->loss == LINEAR_HINGE ? 2 * label - 1 : label,
			.max_slope = linear_max_slope(rows, i, sgd_clip_norm(t->sgd)),
		};
	}
	if (t->sgd->optimizer == OPTIMIZER_ADAM)
		adam_init(&t->adam, t->padded_width);
	/* vectors that cross cache lines are slow */
	t->gradient_sum = dp_aligned_alloc(t->padded_width * sizeof *t->gradient_sum);
	return DP_OK;
}

static void linear_training_free(struct linear_training *t)
{
	free(t->records);
	free(t->bitmask);
	linear_padded_free(t->padded);
	free(t->gradient_sum);
	lot_sampler_free(&t->lots);
	adam_free(&t->adam);
}

/* The loop over lots is compiled for SIMD, too: a step of eight records takes 0.3 us. */
DP_SIMD_BEGIN

DP_SIMD
static void add_scaled(size_t n, float a, const float *restrict x, float *restrict y)
{
	for (size_t i = 0; i < n; i++)
		y[i] += a * x[i];
}

static void linear_sum_gradients(struct linear_training *t, const uint32_t *ids, uint32_t count)
{
	float slope[LINEAR_BLOCK];
	struct linear_record records[LINEAR_BLOCK];

	memset(t->gradient_sum, 0, t->padded_width * sizeof *t->gradient_sum);
	while (count > 0) {
		uint32_t n = count < LINEAR_BLOCK ? count : LINEAR_BLOCK;

		t->kernel->margins(&t->rows, t->weights, ids, n, slope);
		for (uint32_t i = 0; i < n; i++)
			records[i] = t->records[ids[i]];
		linear_loss_slopes(t->loss, records, n, slope);
		t->kernel->add_gradient(&t->rows, slope, ids, n, t->gradient_sum);
		ids += n;
		count -= n;
	}
}

/* Noise is added to the gradient sum, so that weights only ever depend on a private value. Poisson
 * sampling also divides by the expected lot size: the actual size is secret. */
static void linear_update(struct linear_training *t)
{
	double rate = t->sgd->learning_rate, lot = t->sgd->lot_size;

	if (t->noise_sd != 0) { /* whole vectors are faster; padding must stay 0 */
		noise_add_normals(t->noise, (float)t->noise_sd, t->gradient_sum, t->padded_width);
		for (size_t k = t->n_weights; k < t->padded_width; k++)
			t->gradient_sum[k] = 0;
	}
	if (t->sgd->optimizer == OPTIMIZER_ADAM)
		adam_step(&t->adam, rate, 1 / lot, t->gradient_sum, t->weights);
	else
		add_scaled(t->padded_width, (float)(-rate / lot), t->gradient_sum, t->weights);
}

/* Draws the next lot before the noise of this step is generated, to prefetch its rows meanwhile. */
static const uint32_t *linear_next_lot(struct linear_training *t, uint32_t *count)
{
	const uint32_t *ids = lot_sampler_next(&t->lots, count);
	uint32_t n = *count < LINEAR_BLOCK ? *count : LINEAR_BLOCK;

	t->kernel->prefetch(&t->rows, ids, n);
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(&t->records[ids[i]]);
	return ids;
}

static int linear_run_steps(void *training, uint64_t steps, struct dp_err *err)
{
	struct linear_training *t = training;
	uint64_t beat = 1 + TICK_RECORDS / t->sgd->lot_size, since = 0;
	const uint32_t *ids = t->lot_ids;
	uint32_t count = t->lot_count;

	for (uint64_t i = 0; i < steps; i++) {
		linear_sum_gradients(t, ids, count);
		ids = linear_next_lot(t, &count);
		linear_update(t);
		if (++since < beat && i + 1 < steps)
			continue;
		if (!training_progress_tick(t->progress, since))
			return dp_fail(err, DP_E_INTERRUPTED, "the training was stopped");
		since = 0;
	}
	t->lot_ids = ids;
	t->lot_count = count;
	return DP_OK;
}

DP_SIMD_END

int linear_train_with_kernel(const char *kernel, enum linear_loss loss,
			     const struct sparse_rows *train, const struct sgd *sgd,
			     const struct noise_stream *lots, struct noise_stream *noise,
			     struct training_progress *progress, float *w, struct dp_err *err)
{
	struct linear_training t = { .loss = loss,
				     .sgd = sgd,
				     .rows.rows = train,
				     .noise = noise,
				     .progress = progress,
				     .weights = w };
	size_t width = linear_count_weights(train->nfeatures);
	int code = linear_training_init(&t, kernel, lots, err);

	memset(w, 0, width * sizeof *w);
	if (code == DP_OK && !sgd_in_range(sgd)) {
		linear_training_free(&t);
		return sgd_fill_diverged(sgd, train->n, progress, w, width, err);
	}
	if (code == DP_OK) {
		t.lot_ids = linear_next_lot(&t, &t.lot_count);
		code = sgd_run_with_checkpoints(sgd, train->n, linear_run_steps, &t, err);
	}
	linear_training_free(&t);
	return code;
}

int linear_train(enum linear_loss loss, const struct sparse_rows *train, const struct sgd *sgd,
		 const struct noise_stream *lots, struct noise_stream *noise,
		 struct training_progress *progress, float *w, struct dp_err *err)
{
	return linear_train_with_kernel(NULL, loss, train, sgd, lots, noise, progress, w, err);
}

/* ---- scoring ---- */

static double linear_margin(const struct sparse_rows *rows, uint32_t i, const float *w)
{
	const struct linear_kernel *kernel = rows->value ? &linear_by_value : &linear_by_index;
	const struct linear_kernel_rows all = { .rows = rows };
	double sum = w[rows->nfeatures];
	float margin;

	kernel->margins(&all, w, &i, 1, &margin);
	if (isfinite(margin))
		return margin;
	/* in double, where sums of products of floats cannot overflow */
	for (uint64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
		sum += (double)w[rows->index[k]] * (rows->value ? rows->value[k] : 1);
	return sum;
}

void linear_score(enum linear_loss loss, const struct sparse_rows *rows, const float *w,
		  struct model_score *out)
{
	double sum = 0;
	uint32_t right = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		double margin = linear_margin(rows, i, w);
		int label = rows->label[i] != 0;

		right += (margin > 0) == label;
		margin = label ? margin : -margin;
		if (loss == LINEAR_HINGE)
			sum += margin >= 1 ? 0 : 1 - margin; /* NaN stays NaN */
		else /* log(1 + exp(-margin)) without overflow */
			sum += margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
	}
	*out = (struct model_score){ .accuracy = (double)right / rows->n, .loss = sum / rows->n };
}

double linear_fairness_gap(const struct sparse_rows *rows, uint32_t feature, const float *w)
{
	uint32_t n[2] = { 0 }, right[2] = { 0 };

	for (uint32_t i = 0; i < rows->n; i++) {
		bool has = sparse_rows_has_feature(rows, i, feature);

		n[has]++;
		right[has] += (linear_margin(rows, i, w) > 0) == (rows->label[i] != 0);
	}
	return fabs((double)right[true] / n[true] - (double)right[false] / n[false]);
}
