/* linear.c - logistic regression and linear support vector machines by DP-SGD and
 * DP-Adam.
 *
 * The gradient of one record is slope * (row, 1), so its norm is known without forming
 * it, and clipping is a limit on the slope. The bias is a weight like the others: it
 * counts in the norm and gets its noise. */
#include "trainers/learn/linear_internal.h"

#include "linalg/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	WEIGHTS_MULTIPLE = 16,
	BEAT_RECORDS = 32768 /* about a millisecond */
};

size_t linear_weights(uint32_t nfeatures)
{
	size_t n = (size_t)nfeatures + 1;

	return (n + WEIGHTS_MULTIPLE - 1) / WEIGHTS_MULTIPLE * WEIGHTS_MULTIPLE;
}

/* ---- the loss of one record ---- */

DP_KERNELS

/* exp(x) to 2 units in the last place; x beyond +-87 counts as +-87. See dp__exp(). */
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

static inline float within(float x, float limit)
{
	return x > limit ? limit : x < -limit ? -limit : x;
}

DP_SIMD
static void logistic_slopes(const struct linear_record *restrict records, uint32_t n,
			    float *restrict slope)
{
	for (uint32_t i = 0; i < n; i++) {
		float s = 1 / (1 + exp_float(-slope[i])) - records[i].target;

		/* a margin that is the difference of two infinities has no slope */
		slope[i] = within(s == s ? s : 0, records[i].limit);
	}
}

DP_SIMD
static void hinge_slopes(const struct linear_record *restrict records, uint32_t n,
			 float *restrict slope)
{
	for (uint32_t i = 0; i < n; i++) {
		float t = records[i].target, s = t * slope[i] < 1 ? -t : 0;

		slope[i] = within(s, records[i].limit);
	}
}

DP_KERNELS_END

void linear_slopes(enum linear_loss loss, const struct linear_record *records, uint32_t n,
		   float *slope)
{
	if (loss == LINEAR_LOGISTIC)
		logistic_slopes(records, n, slope);
	else
		hinge_slopes(records, n, slope);
}

float linear_limit(const struct rows *rows, uint32_t i, double clip)
{
	uint64_t start = rows->start[i], n = rows->start[i + 1] - start;
	double squares = 1; /* the bias */

	if (!rows->value)
		return sgd_clip_factor(clip, squares + (double)n, 0);
	for (uint64_t k = start; k < start + n; k++)
		squares += (double)rows->value[k] * rows->value[k];
	/* squares of floats are exact in double, and every sum right to half a unit */
	return sgd_clip_factor(clip, squares, (double)n * DBL_EPSILON);
}

/* ---- training ---- */

struct training {
	enum linear_loss loss;
	const struct sgd *how;
	const struct linear_kernel *kernel;
	struct linear_rows rows;
	struct linear_bits *bits;
	struct linear_even *even;
	struct linear_record *records; /* of all rows */
	struct lots lots;
	struct adam adam;
	size_t nweights; /* without padding */
	size_t width;    /* with it */
	float *g;        /* the sum of a lot's gradients */
	double noise_sd;
	struct noise *noise;
	struct pulse *pulse;
	float *w;
	const uint32_t *ids; /* the next lot */
	uint32_t count;
};

static int note_records(struct training *t, struct dp_err *err)
{
	const struct rows *rows = t->rows.rows;

	t->records = malloc(rows->n * sizeof *t->records);
	if (!t->records)
		return dp_fail(err, DP_E_NOMEM, "no memory for %u records", (unsigned)rows->n);
	for (uint32_t i = 0; i < rows->n; i++) {
		float label = rows->label[i];

		t->records[i] = (struct linear_record){
			.target = t->loss == LINEAR_HINGE ? 2 * label - 1 : label,
			.limit = linear_limit(rows, i, sgd_clip(t->how)),
		};
	}
	return DP_OK;
}

/* Chooses by name, or the fastest that fits. */
static int choose_kernel(struct training *t, const char *name, struct dp_err *err)
{
	const struct rows *rows = t->rows.rows;
	const struct linear_kernel *plain = rows->value ? &linear_by_value : &linear_by_index;
	int code = DP_OK;

	t->kernel = plain;
	if (!name || strcmp(name, linear_by_bits.name) == 0)
		code = linear_bits_new(rows, &t->bits, err);
	if (code == DP_OK && !t->bits && (!name || strcmp(name, linear_by_even.name) == 0))
		code = linear_even_new(rows, &t->even, err);
	t->rows.bits = t->bits;
	t->rows.even = t->even;
	if (t->bits)
		t->kernel = &linear_by_bits;
	else if (t->even)
		t->kernel = &linear_by_even;
	if (code == DP_OK && name && strcmp(name, t->kernel->name) != 0)
		code = dp_fail(err, DP_E_INVALID, "the kernel '%s' cannot take these rows", name);
	return code;
}

static int linear_prepare(struct training *t, const char *kernel, const struct noise *lots,
			  struct dp_err *err)
{
	const struct rows *rows = t->rows.rows;
	int code;

	t->nweights = (size_t)rows->nfeatures + 1;
	t->width = linear_weights(rows->nfeatures);
	t->noise_sd = sgd_noise_sd(t->how);
	code = lots_init(&t->lots, lots, rows->n, t->how, err);
	if (code == DP_OK)
		code = note_records(t, err);
	if (code == DP_OK)
		code = choose_kernel(t, kernel, err);
	if (code == DP_OK && t->how->optimizer == OPTIMIZER_ADAM)
		code = adam_init(&t->adam, t->width, err);
	if (code != DP_OK)
		return code;
	/* vectors that cross cache lines are slow */
	t->g = aligned_alloc(64, t->width * sizeof *t->g);
	return t->g ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for %zu weights", t->width);
}

static void linear_release(struct training *t)
{
	free(t->records);
	free(t->bits);
	linear_even_free(t->even);
	free(t->g);
	lots_free(&t->lots);
	adam_free(&t->adam);
}

/* The loop over lots is a kernel, too: a step of eight records takes 0.3 us. */
DP_KERNELS

/* y += a * x */
DP_SIMD
static void add_scaled(size_t n, float a, const float *restrict x, float *restrict y)
{
	for (size_t i = 0; i < n; i++)
		y[i] += a * x[i];
}

/* The sum of the lot's clipped gradients. */
static void add_up(struct training *t, const uint32_t *ids, uint32_t count)
{
	float slope[LINEAR_BLOCK];
	struct linear_record records[LINEAR_BLOCK];

	memset(t->g, 0, t->width * sizeof *t->g);
	while (count > 0) {
		uint32_t n = count < LINEAR_BLOCK ? count : LINEAR_BLOCK;

		t->kernel->margins(&t->rows, t->w, ids, n, slope);
		for (uint32_t i = 0; i < n; i++)
			records[i] = t->records[ids[i]];
		linear_slopes(t->loss, records, n, slope);
		t->kernel->add(&t->rows, slope, ids, n, t->g);
		ids += n;
		count -= n;
	}
}

/* Noise on all weights; whole vectors are faster, and padding must stay 0. */
static void add_noise(struct training *t, double sd, float *v)
{
	if (sd == 0)
		return;
	noise_add(t->noise, (float)sd, v, t->width);
	for (size_t k = t->nweights; k < t->width; k++)
		v[k] = 0;
}

/* With Poisson sampling, too, the sum is divided by the expected size of a lot: the
 * real one is a secret. */
static void linear_update(struct training *t)
{
	double rate = t->how->rate, lot = t->how->lot;

	/* Noise goes onto the sum, so that the weights only ever see a private value. */
	add_noise(t, t->noise_sd, t->g);
	if (t->how->optimizer == OPTIMIZER_ADAM)
		adam_step(&t->adam, rate, 1 / lot, t->g, t->w);
	else
		add_scaled(t->width, (float)(-rate / lot), t->g, t->w);
}

/* The next lot is drawn before the noise of this step is made, so that its rows are on
 * their way meanwhile. */
static const uint32_t *next_lot(struct training *t, uint32_t *count)
{
	const uint32_t *ids = lots_next(&t->lots, count);
	uint32_t n = *count < LINEAR_BLOCK ? *count : LINEAR_BLOCK;

	t->kernel->fetch(&t->rows, ids, n);
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(&t->records[ids[i]]);
	return ids;
}

static int linear_descend(void *training, uint64_t steps, struct dp_err *err)
{
	struct training *t = training;
	uint64_t beat = 1 + BEAT_RECORDS / t->how->lot, since = 0;
	const uint32_t *ids = t->ids;
	uint32_t count = t->count;

	for (uint64_t i = 0; i < steps; i++) {
		add_up(t, ids, count);
		ids = next_lot(t, &count);
		linear_update(t);
		if (++since < beat && i + 1 < steps)
			continue;
		if (!pulse_beat(t->pulse, since))
			return dp_fail(err, DP_E_INTERRUPTED, "the training was stopped");
		since = 0;
	}
	t->ids = ids;
	t->count = count;
	return DP_OK;
}

DP_KERNELS_END

int linear_train_by(const char *kernel, enum linear_loss loss, const struct rows *train,
		    const struct sgd *how, const struct noise *lots, struct noise *noise,
		    struct pulse *pulse, float *w, struct dp_err *err)
{
	struct training t = {
		.loss = loss, .how = how, .rows.rows = train, .noise = noise, .pulse = pulse, .w = w
	};
	size_t width = linear_weights(train->nfeatures);
	int code = linear_prepare(&t, kernel, lots, err);

	memset(w, 0, width * sizeof *w);
	if (code == DP_OK && !sgd_in_range(how)) {
		linear_release(&t);
		return sgd_diverge(how, train->n, pulse, w, width, err);
	}
	if (code == DP_OK) {
		t.ids = next_lot(&t, &t.count);
		code = sgd_walk(how, train->n, linear_descend, &t, err);
	}
	linear_release(&t);
	return code;
}

int linear_train(enum linear_loss loss, const struct rows *train, const struct sgd *how,
		 const struct noise *lots, struct noise *noise, struct pulse *pulse, float *w,
		 struct dp_err *err)
{
	return linear_train_by(NULL, loss, train, how, lots, noise, pulse, w, err);
}

/* ---- scoring ---- */

/* The loss at a margin that is positive on the right side. */
static double loss_at(enum linear_loss loss, double margin)
{
	if (loss == LINEAR_HINGE)
		return margin >= 1 ? 0 : 1 - margin; /* NaN stays NaN */
	/* log(1 + exp(-margin)), for large negative margins too */
	return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

/* In double, where no sum of products of floats overflows. */
static double wide_margin(const struct rows *rows, uint32_t i, const float *w)
{
	double sum = w[rows->nfeatures];

	for (uint64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
		sum += (double)w[rows->index[k]] * (rows->value ? rows->value[k] : 1);
	return sum;
}

static double margin_of(const struct rows *rows, uint32_t i, const float *w)
{
	const struct linear_kernel *kernel = rows->value ? &linear_by_value : &linear_by_index;
	const struct linear_rows all = { .rows = rows };
	float margin;

	kernel->margins(&all, w, &i, 1, &margin);
	return isfinite(margin) ? margin : wide_margin(rows, i, w);
}

void linear_score(enum linear_loss loss, const struct rows *rows, const float *w, struct score *out)
{
	double sum = 0;
	uint32_t right = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		double margin = margin_of(rows, i, w);
		int label = rows->label[i] != 0;

		right += (margin > 0) == label;
		sum += loss_at(loss, label ? margin : -margin);
	}
	*out = (struct score){ .accuracy = (double)right / rows->n, .loss = sum / rows->n };
}

double linear_gap(const struct rows *rows, uint32_t feature, const float *w)
{
	uint32_t n[2] = { 0 }, right[2] = { 0 };

	for (uint32_t i = 0; i < rows->n; i++) {
		bool has = rows_have(rows, i, feature);

		n[has]++;
		right[has] += (margin_of(rows, i, w) > 0) == (rows->label[i] != 0);
	}
	return fabs((double)right[true] / n[true] - (double)right[false] / n[false]);
}
