/* test_linear.c - linear models: gradients against finite differences, whole trainings
 * against a plain one in double precision, the paths against each other, the noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/made_rows.h"
#include "trainers/learn/linear_internal.h"
#include "trainers/trainers.h"

enum {
	FEATURES = 123,
	WEIGHTS = FEATURES + 1,
	WIDTH = 128
};

static const enum linear_loss losses[] = { LINEAR_LOGISTIC, LINEAR_HINGE };

/* ---- a plain implementation ---- */

static double plain_loss(enum linear_loss loss, const double *x, const double *w, size_t n,
			 int label)
{
	double margin = 0;

	for (size_t k = 0; k < n; k++)
		margin += x[k] * w[k];
	margin *= label ? 1 : -1;
	return loss == LINEAR_HINGE ? fmax(0, 1 - margin) : log(1 + exp(-margin));
}

static double plain_slope(enum linear_loss loss, double margin, int label)
{
	if (loss == LINEAR_HINGE)
		return label ? (margin < 1 ? -1 : 0) : (margin > -1 ? 1 : 0);
	return 1 / (1 + exp(-margin)) - label;
}

/* Adds the clipped gradient of a record. */
static void plain_gradient(enum linear_loss loss, const struct sparse_rows *r, uint32_t i,
			   double clip, const double *w, double *sum)
{
	size_t n = (size_t)r->nfeatures + 1;
	double *x = calloc(n, sizeof *x), margin = 0, norm = 0, slope;

	dense_row(r, i, x);
	for (size_t k = 0; k < n; k++)
		margin += x[k] * w[k];
	slope = plain_slope(loss, margin, r->label[i]);
	for (size_t k = 0; k < n; k++)
		norm += slope * x[k] * slope * x[k];
	norm = sqrt(norm);
	for (size_t k = 0; k < n; k++)
		sum[k] += slope * x[k] * (norm > clip ? clip / norm : 1);
	free(x);
}

/* Algorithms 3 and 4 as they are printed, without noise. */
static void plain_train(enum linear_loss loss, const struct sparse_rows *r, const struct sgd *how,
			const struct noise_stream *stream, double *w)
{
	size_t n = (size_t)r->nfeatures + 1;
	double *g = calloc(n, sizeof *g), *mu = calloc(n, sizeof *mu), *nu = calloc(n, sizeof *nu);
	struct lot_sampler lots;
	int i = 0;

	memset(w, 0, n * sizeof *w);
	assert_int_equal(lot_sampler_init(&lots, stream, r->n, how, NULL), DP_OK);
	for (uint32_t t = 0; t < how->epochs; t++) {
		for (int k = 0; k < (int)nearbyint((double)r->n / how->lot_size); k++) {
			uint32_t m;
			const uint32_t *ids = lot_sampler_next(&lots, &m);

			memset(g, 0, n * sizeof *g);
			for (uint32_t j = 0; j < m; j++)
				plain_gradient(loss, r, ids[j], how->clip, w, g);
			i++;
			for (size_t f = 0; f < n; f++) {
				g[f] /= how->lot_size;
				if (how->optimizer == OPTIMIZER_SGD) {
					w[f] -= how->learning_rate * g[f];
					continue;
				}
				mu[f] = 0.9 * mu[f] + 0.1 * g[f];
				nu[f] = 0.999 * nu[f] + 0.001 * g[f] * g[f];
				w[f] -= how->learning_rate * mu[f] / (1 - pow(0.9, i)) /
					(sqrt(nu[f] / (1 - pow(0.999, i))) + 1e-8);
			}
		}
	}
	lot_sampler_free(&lots);
	free(g);
	free(mu);
	free(nu);
}

/* ---- the code under test ---- */

static void train_by(const char *kernel, enum linear_loss loss, const struct sparse_rows *r,
		     const struct sgd *how, uint64_t seed, float *w)
{
	struct noise_stream lots, noise;
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	struct dp_err err;

	noise_stream_init_seeded(&lots, seed, NOISE_LOTS);
	noise_stream_init_seeded(&noise, seed, NOISE_GRADIENT);
	if (linear_train_with_kernel(kernel, loss, r, how, &lots, &noise, &pulse, w, &err) != 0)
		fail_msg("%s", err.msg);
}

static bool have_bits(const struct sparse_rows *r)
{
	struct linear_bitmask *bits;

	bits = linear_bitmask_new(r);
	free(bits);
	return bits != NULL;
}

/* The gradient of record i at w, by a kernel. */
static void gradient_by(const struct linear_kernel *kernel, const struct linear_kernel_rows *r,
			enum linear_loss loss, uint32_t i, double clip, const float *w, float *g)
{
	float label = r->rows->label[i], slope;
	struct linear_record record = {
		.target = loss == LINEAR_HINGE ? 2 * label - 1 : label,
		.max_slope = linear_max_slope(r->rows, i, clip),
	};

	memset(g, 0, WIDTH * sizeof *g);
	kernel->margins(r, w, &i, 1, &slope);
	linear_loss_slopes(loss, &record, 1, &slope);
	kernel->add_gradient(r, &slope, &i, 1, g);
}

static void random_weights(uint64_t seed, float *w)
{
	struct dp_rng rng;

	dp_rng_init(&rng, seed, DP_RNG_TEST, 1, 0);
	memset(w, 0, WIDTH * sizeof *w);
	for (size_t k = 0; k < WEIGHTS; k++)
		w[k] = (float)(0.5 * dp_rng_normal(&rng));
}

/* Central differences of the loss, in double precision. */
static void check_differences(enum linear_loss loss, const struct sparse_rows *r, uint32_t i,
			      const float *w, const float *g)
{
	double x[WEIGHTS], v[WEIGHTS], margin = 0, h = 1e-5;

	dense_row(r, i, x);
	for (size_t k = 0; k < WEIGHTS; k++) {
		v[k] = w[k];
		margin += x[k] * v[k];
	}
	if (loss == LINEAR_HINGE && fabs(fabs(margin) - 1) < 1e-3)
		return; /* a kink has no gradient */
	for (size_t k = 0; k < WEIGHTS; k++) {
		double up, down;

		v[k] = w[k] + h;
		up = plain_loss(loss, x, v, WEIGHTS, r->label[i]);
		v[k] = w[k] - h;
		down = plain_loss(loss, x, v, WEIGHTS, r->label[i]);
		v[k] = w[k];
		assert_true(fabs(g[k] - (up - down) / (2 * h)) < 1e-6);
	}
}

static void test_gradients(void **state)
{
	(void)state;
	for (int values = 0; values < 2; values++) {
		struct sparse_rows r = made_rows(60, FEATURES, 14, values, 3);
		struct linear_kernel_rows by = { .rows = &r };
		float w[WIDTH], g[WIDTH];

		for (size_t l = 0; l < DP_COUNT(losses); l++) {
			for (uint32_t i = 0; i < r.n; i++) {
				random_weights(i, w);
				gradient_by(values ? &linear_by_value : &linear_by_index, &by,
					    losses[l], i, INFINITY, w, g);
				check_differences(losses[l], &r, i, w, g);
			}
		}
		free_rows(&r);
	}
}

static double norm_of(const float *g)
{
	double sum = 0;

	for (size_t k = 0; k < WEIGHTS; k++)
		sum += (double)g[k] * g[k];
	return sqrt(sum);
}

/* One record: its clipped gradient is the whole one, or points the same way with norm
 * L; never longer. */
static void check_clipped(const struct linear_kernel *kernel, const struct linear_kernel_rows *by,
			  enum linear_loss loss, uint32_t i, double clip, const float *w)
{
	float whole[WIDTH], clipped[WIDTH];
	double norm, factor;

	gradient_by(kernel, by, loss, i, INFINITY, w, whole);
	gradient_by(kernel, by, loss, i, clip, w, clipped);
	norm = norm_of(whole);
	factor = norm > clip ? clip / norm : 1;
	/* products with values are rounded one by one; slopes are rounded down */
	assert_true(norm_of(clipped) <= clip * (1 + (by->rows->value ? 1e-7 : 1e-15)));
	for (size_t k = 0; k < WEIGHTS; k++)
		assert_true(fabs(clipped[k] - factor * whole[k]) <= 3e-7 * clip);
}

static void test_clipping(void **state)
{
	static const double clips[] = { 0.1, 0.37, 1, 2, 4, 1e-3 };

	(void)state;
	for (int values = 0; values < 2; values++) {
		struct sparse_rows r = made_rows(100, FEATURES, 14, values, 4);
		struct linear_kernel_rows by = { .rows = &r };
		float w[WIDTH];

		for (uint32_t i = 0; i < r.n; i++) {
			random_weights(i, w);
			for (size_t c = 0; c < DP_COUNT(clips); c++)
				for (size_t l = 0; l < DP_COUNT(losses); l++)
					check_clipped(values ? &linear_by_value : &linear_by_index,
						      &by, losses[l], i, clips[c], w);
		}
		free_rows(&r);
	}
}

/* The limit times the length of (row, 1), in arithmetic that is exact beside that of
 * the trainer: never above L, and hardly below. */
static void test_clip_is_a_bound(void **state)
{
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 12, DP_RNG_TEST, 0, 0);
	for (int values = 0; values < 2; values++) {
		struct sparse_rows r = made_rows(20000, FEATURES, 14, values, 9);

		for (uint32_t i = 0; i < r.n; i++) {
			double clip = i % 4 ? exp(8 * dp_rng_uniform(&rng) - 6) : 0.5;
			long double squares = 1, after;

			for (uint64_t k = r.start[i]; k < r.start[i + 1]; k++)
				squares += values ? (long double)r.value[k] * r.value[k] : 1;
			after = linear_max_slope(&r, i, clip) * sqrtl(squares);
			assert_true(after <= clip);
			assert_true(after >= clip * (1 - 2.5e-7L));
		}
		free_rows(&r);
	}
}

static void check_against_plain(const char *kernel, enum linear_loss loss,
				const struct sparse_rows *r, const struct sgd *how)
{
	size_t width = linear_count_weights(r->nfeatures), n = (size_t)r->nfeatures + 1;
	float *w = calloc(width, sizeof *w);
	double *plain = calloc(n, sizeof *plain), size = 0, worst = 0;
	struct noise_stream stream;

	noise_stream_init_seeded(&stream, 77, NOISE_LOTS);
	plain_train(loss, r, how, &stream, plain);
	train_by(kernel, loss, r, how, 77, w);
	for (size_t k = 0; k < n; k++) {
		size = fmax(size, fabs(plain[k]));
		worst = fmax(worst, fabs(plain[k] - w[k]));
	}
	if (!(size > 0.01 && worst < 2e-5 * size))
		fail_msg("%s, loss %d, optimizer %d, poisson %d, lot %u: %g of %g off",
			 kernel ? kernel : "auto", loss, how->optimizer, how->is_poisson,
			 how->lot_size, worst, size);
	for (size_t k = n; k < width; k++)
		assert_true(w[k] == 0);
	free(w);
	free(plain);
}

/* A rate that keeps the margins of the hinge off its kink, where rounding decides. */
#define SGD_RATE 0.1937

/* Every loss, optimiser, sampling, with and without clipping, in lots smaller and
 * larger than a block. */
static void test_against_plain(void **state)
{
	struct sparse_rows binary = made_rows(700, FEATURES, 14, false, 5);
	struct sparse_rows real = made_rows(700, 40, 9, true, 6), wide;

	(void)state;
	wide = made_rows(300, 300, 20, false, 7);
	for (unsigned c = 0; c < 32; c++) {
		struct sgd how = { .optimizer = c & 1 ? OPTIMIZER_ADAM : OPTIMIZER_SGD,
				   .epochs = 3,
				   .lot_size = c & 2 ? 300 : 17,
				   .learning_rate = c & 1 ? 0.01 : SGD_RATE,
				   .is_poisson = c & 4,
				   .clip = c & 8 ? 0.8 : INFINITY };
		enum linear_loss loss = c & 16 ? LINEAR_HINGE : LINEAR_LOGISTIC;

		check_against_plain("index", loss, &binary, &how);
		check_against_plain(NULL, loss, &binary, &how);
		check_against_plain("value", loss, &real, &how);
		check_against_plain(NULL, loss, &wide, &how);
	}
	free_rows(&binary);
	free_rows(&real);
	free_rows(&wide);
}

/* With noise, too: the same lots and the same noise, so only rounding differs. */
static void test_paths_agree(void **state)
{
	struct sparse_rows r = made_rows(2000, FEATURES, 14, false, 8), ones = r;
	float *one = malloc(2000 * 14 * sizeof *one), a[WIDTH], b[WIDTH], c[WIDTH];
	struct sgd how = { .epochs = 4,
			   .lot_size = 32,
			   .learning_rate = 0.05,
			   .clip = 0.7,
			   .noise_multiplier = 1.5 };

	(void)state;
	for (size_t k = 0; k < 2000 * 14; k++)
		one[k] = 1;
	ones.value = one;
	train_by("index", LINEAR_LOGISTIC, &r, &how, 9, a);
	train_by("value", LINEAR_LOGISTIC, &ones, &how, 9, b);
	for (size_t k = 0; k < WEIGHTS; k++)
		assert_true(fabsf(a[k] - b[k]) < 1e-5f);
	if (have_bits(&r)) {
		train_by("bits", LINEAR_LOGISTIC, &r, &how, 9, c);
		for (size_t k = 0; k < WEIGHTS; k++)
			assert_true(fabsf(a[k] - c[k]) < 1e-5f);
	} else {
		print_message("bit masks skipped: no AVX-512\n");
	}
	free(one);
	free_rows(&r);
}

/* Gives each row `most` entries, or one or two less. */
static void lengthen(struct sparse_rows *r, uint32_t most)
{
	uint16_t *index = (uint16_t *)r->index; /* made_rows() made it, with room */
	uint64_t *start = (uint64_t *)r->start, to = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		for (uint32_t k = 0; k < most - i % 3; k++)
			index[to++] = (uint16_t)((i + k * (r->nfeatures / most)) % r->nfeatures);
		start[i + 1] = to;
	}
	r->max_row_entries = most;
}

/* Rows made equally long give the same bits as those that are not, whatever the length.
 */
static void test_even_rows(void **state)
{
	static const unsigned lengths[] = { 14, 13, 11, 8 };

	(void)state;
	for (unsigned c = 0; c < DP_COUNT(lengths) * 4; c++) {
		struct sparse_rows r = made_rows(900, FEATURES, lengths[c / 4], false, 20 + c);
		struct sgd how = { .optimizer = c & 1 ? OPTIMIZER_ADAM : OPTIMIZER_SGD,
				   .epochs = 3,
				   .lot_size = 300,
				   .learning_rate = 0.05,
				   .clip = 0.7,
				   .noise_multiplier = 1.5 };
		enum linear_loss loss = c & 2 ? LINEAR_HINGE : LINEAR_LOGISTIC;
		float a[WIDTH], b[WIDTH];

		lengthen(&r, lengths[c / 4]);
		train_by("index", loss, &r, &how, 9, a);
		train_by("even", loss, &r, &how, 9, b);
		assert_memory_equal(a, b, sizeof a);
		free_rows(&r);
	}
}

/* Not by this kernel: rows of very different lengths, too many features, no weight to
 * spare, rows longer than a cache line. */
static void test_uneven_rows(void **state)
{
	struct sparse_rows some[] = { made_rows(9, FEATURES, 8, false, 1),
				      made_rows(9, 300, 8, false, 2),
				      made_rows(9, 127, 8, false, 3),
				      made_rows(9, FEATURES, 70, false, 4) };

	(void)state;
	for (unsigned i = 1; i < DP_COUNT(some); i++)
		lengthen(&some[i], i < 3 ? 8 : 70);
	some[0].max_row_entries = 16;
	for (unsigned i = 0; i < DP_COUNT(some); i++) {
		assert_null(linear_padded_new(&some[i]));
		free_rows(&some[i]);
	}
}

static void test_wrong_kernel(void **state)
{
	struct sparse_rows r = made_rows(50, 200, 9, true, 8);
	struct sgd how = { .epochs = 1, .lot_size = 5, .learning_rate = 1, .clip = 1 };
	struct training_progress pulse = { .fd = -1 };
	struct noise_stream s;
	float w[256];

	(void)state;
	noise_stream_init_seeded(&s, 1, NOISE_LOTS);
	assert_int_equal(linear_train_with_kernel("bits", LINEAR_LOGISTIC, &r, &how, &s, &s, &pulse,
						  w, NULL),
			 DP_E_INVALID);
	assert_int_equal(linear_train_with_kernel("index", LINEAR_LOGISTIC, &r, &how, &s, &s,
						  &pulse, w, NULL),
			 DP_E_INVALID);
	free_rows(&r);
}

static void test_repeats(void **state)
{
	struct sparse_rows r = made_rows(500, FEATURES, 14, false, 10);
	struct sgd how = { .optimizer = OPTIMIZER_ADAM,
			   .epochs = 3,
			   .lot_size = 20,
			   .learning_rate = 0.01,
			   .clip = 1,
			   .noise_multiplier = 1 };
	float a[WIDTH], b[WIDTH];

	(void)state;
	train_by(NULL, LINEAR_HINGE, &r, &how, 1, a);
	train_by(NULL, LINEAR_HINGE, &r, &how, 1, b);
	assert_memory_equal(a, b, sizeof a);
	train_by(NULL, LINEAR_HINGE, &r, &how, 2, b);
	assert_memory_not_equal(a, b, sizeof a);
	free_rows(&r);
}

/* ---- noise ---- */

enum {
	WIDE = 60000 /* features: as many samples of the noise in one step */
};

/* What one step with noise differs by from one without, over its expected size. */
static void check_noise(const struct sgd *how, double expect)
{
	struct sparse_rows r = made_rows(40, WIDE, 20, false, 11);
	size_t width = linear_count_weights(WIDE);
	float *with = calloc(width, sizeof *with), *without = calloc(width, sizeof *with);
	struct sgd quiet = *how;
	double sum = 0, squares = 0;

	quiet.noise_multiplier = 0;
	train_by(NULL, LINEAR_LOGISTIC, &r, how, 12, with);
	train_by(NULL, LINEAR_LOGISTIC, &r, &quiet, 12, without);
	for (size_t k = 0; k <= WIDE; k++) {
		double z = ((double)with[k] - without[k]) / expect;

		sum += z;
		squares += z * z;
	}
	assert_true(fabs(sum / WIDE) < 4 / sqrt(WIDE));
	assert_true(fabs(squares / WIDE - 1) < 4 * sqrt(2.0 / WIDE) + 1e-4);
	/* the bias has its own; padding has none */
	assert_true(with[WIDE] != without[WIDE]);
	for (size_t k = WIDE + 1; k < width; k++)
		assert_true(with[k] == 0);
	free(with);
	free(without);
	free_rows(&r);
}

static void test_noise(void **state)
{
	struct sgd how = { .epochs = 1,
			   .lot_size = 40,
			   .learning_rate = 0.3,
			   .clip = 0.5,
			   .noise_multiplier = 1.7 };

	(void)state;
	check_noise(&how, 0.3 * 2 * 0.5 * 1.7 / 40);
	how.is_poisson = true;
	check_noise(&how, 0.3 * 0.5 * 1.7 / 40);
	how.is_poisson = false;
	how.noise_clip = 2; /* noise only */
	how.clip = INFINITY;
	check_noise(&how, 0.3 * 2 * 2 * 1.7 / 40);
}

/* Algorithm 4's first step is the rate times the sign of the noisy gradient; without a
 * gradient to speak of, that of the noise. */
static void test_adam_noise(void **state)
{
	struct sparse_rows r = made_rows(40, WIDE, 20, false, 11);
	struct sgd how = { .optimizer = OPTIMIZER_ADAM,
			   .epochs = 1,
			   .lot_size = 40,
			   .learning_rate = 0.25,
			   .clip = 1e-3,
			   .noise_multiplier = 100 };
	float *w = calloc(linear_count_weights(WIDE), sizeof *w);
	double up = 0, near_rate = 0;

	(void)state;
	train_by(NULL, LINEAR_LOGISTIC, &r, &how, 13, w);
	for (size_t k = 0; k <= WIDE; k++) {
		near_rate += fabs(fabs(w[k]) - 0.25) < 1e-3;
		up += w[k] > 0;
	}
	assert_true(near_rate / WIDE > 0.998); /* kappa is felt by the smallest */
	assert_true(fabs(up / WIDE - 0.5) < 2 / sqrt(WIDE));
	free(w);
	free_rows(&r);
}

/* ---- the rest ---- */

static void test_steps(void **state)
{
	static const struct {
		uint32_t n, lot, epochs;
		uint64_t steps;
	} cases[] = { { 30956, 64, 3, 1452 }, { 10, 4, 1, 2 },  { 14, 4, 5, 20 },
		      { 6, 4, 1, 2 },         { 10, 10, 7, 7 }, { 60000, 16, 400, 1500000 },
		      { 11, 10, 1, 1 } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct sgd how = { .lot_size = cases[i].lot, .epochs = cases[i].epochs };

		assert_int_equal(sgd_total_steps(&how, cases[i].n), cases[i].steps);
	}
}

static void test_noise_sd(void **state)
{
	struct sgd how = { .clip = 0.5, .noise_multiplier = 3, .noise_clip = 7 };

	(void)state;
	assert_true(sgd_noise_sd(&how) == 3);
	how.is_poisson = true;
	assert_true(sgd_noise_sd(&how) == 1.5);
	how.clip = INFINITY;
	assert_true(sgd_noise_sd(&how) == 21);
	how.noise_multiplier = 0;
	assert_true(sgd_noise_sd(&how) == 0);
}

static void test_score(void **state)
{
	const uint64_t start[] = { 0, 1, 2, 3, 3 };
	const uint16_t index[] = { 0, 1, 1 };
	const uint8_t label[] = { 1, 0, 1, 0 };
	struct sparse_rows r = { .n = 4,
				 .nfeatures = 2,
				 .nclasses = 2,
				 .start = start,
				 .index = index,
				 .label = label };
	float w[16] = { 1.5f, -2, 0.25f }; /* margins 1.75, -1.75, -1.75, 0.25 */
	struct model_score s;

	(void)state;
	linear_score(LINEAR_LOGISTIC, &r, w, &s);
	assert_true(s.accuracy == 0.5);
	assert_true(fabs(s.loss -
			 (2 * log1p(exp(-1.75)) + log1p(exp(1.75)) + log1p(exp(0.25))) / 4) < 1e-7);
	linear_score(LINEAR_HINGE, &r, w, &s);
	assert_true(s.accuracy == 0.5);
	assert_true(fabs(s.loss - (2.75 + 1.25) / 4) < 1e-7);
	w[0] = 1e30f;
	w[1] = -1e30f;
	linear_score(LINEAR_LOGISTIC, &r, w, &s);
	assert_true(isfinite(s.loss) && s.loss > 1e29);
	w[0] = NAN;
	for (size_t l = 0; l < DP_COUNT(losses); l++) {
		linear_score(losses[l], &r, w, &s);
		assert_true(isnan(s.loss));
	}
}

/* By hand: of five records two of three with the feature 1 are right, and one of two
 * without it. An entry that is 0 is none. */
static void test_gap(void **state)
{
	const uint64_t start[] = { 0, 2, 3, 4, 5, 7 };
	const uint16_t index[] = { 0, 1, 1, 1, 0, 0, 1 };
	const float value[] = { 1, 2, 1, 1, 1, -1, 0 };
	const uint8_t label[] = { 1, 0, 1, 1, 1 };
	struct sparse_rows r = { .n = 5,
				 .nfeatures = 3,
				 .nclasses = 2,
				 .start = start,
				 .index = index,
				 .value = value,
				 .label = label };
	float w[16] = { 4, -1, 9, 0.25f }; /* margins 2.25, -0.75, -0.75, 4.25, -3.75 */
	struct fairness_gap g;
	struct dp_err err;

	(void)state;
	assert_true(fabs(linear_fairness_gap(&r, 1, w) - (2.0 / 3 - 1.0 / 2)) < 1e-15);
	assert_true(fabs(linear_fairness_gap(&r, 0, w) - (2.0 / 3 - 1.0 / 2)) < 1e-15);
	assert_int_equal(fairness_gap_parse(NULL, 3, &g, NULL), DP_OK);
	assert_false(g.is_requested);
	assert_int_equal(fairness_gap_parse("gap:2", 3, &g, NULL), DP_OK);
	assert_true(g.is_requested && g.feature == 1);
	assert_string_equal(g.metric_name, "gap_2");
	assert_int_equal(fairness_gap_check(&g, &r, NULL), DP_OK);
	assert_int_equal(fairness_gap_parse("gap:3", 3, &g, NULL), DP_OK);
	assert_int_equal(fairness_gap_check(&g, &r, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "none of the 5 records"));
	r.n = 1;
	g.feature = 1;
	assert_int_equal(fairness_gap_check(&g, &r, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "every one of the 1 record"));
	assert_int_equal(fairness_gap_parse("gap:4", 3, &g, &err), DP_E_USAGE);
	assert_non_null(strstr(err.msg, "have 3 features"));
}

/* TERM waits while a pulse goes, stops the training, and can still be met after. */
static void test_stop(void **state)
{
	struct sparse_rows r = made_rows(500, FEATURES, 14, false, 14);
	struct sgd how = { .epochs = 1000000, .lot_size = 1, .learning_rate = 0.1, .clip = 1 };
	struct noise_stream s;
	struct training_progress pulse;
	sigset_t term;
	float w[WIDTH];

	(void)state;
	noise_stream_init_seeded(&s, 1, NOISE_LOTS);
	training_progress_start(&pulse, -1, 100);
	assert_true(training_progress_tick(&pulse, 3));
	raise(SIGTERM);
	assert_false(training_progress_tick(&pulse, 1));
	assert_int_equal(pulse.steps_done, 4);
	assert_int_equal(linear_train(LINEAR_LOGISTIC, &r, &how, &s, &s, &pulse, w, NULL),
			 DP_E_INTERRUPTED);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(sigwaitinfo(&term, NULL), SIGTERM);
	training_progress_end(&pulse);
	free_rows(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradients),
		cmocka_unit_test(test_clipping),
		cmocka_unit_test(test_clip_is_a_bound),
		cmocka_unit_test(test_against_plain),
		cmocka_unit_test(test_paths_agree),
		cmocka_unit_test(test_even_rows),
		cmocka_unit_test(test_uneven_rows),
		cmocka_unit_test(test_wrong_kernel),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_adam_noise),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_noise_sd),
		cmocka_unit_test(test_score),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
