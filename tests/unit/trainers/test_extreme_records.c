/* test_extreme_records.c - no record, however large or small, breaks clipping, weights or
 * scores: every model, optimiser, sampling and code path over magnitudes that floats can
 * hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/mlp_plain.h"
#include "trainers/learn/linear_internal.h"
#include "trainers/trainers.h"

enum {
	RECORDS = 6,
	EXTREME = 2, /* the record that is varied */
	FEATURES = 3,
	BINARY = 123 /* features of binary records: every kernel takes them */
};

static const float magnitudes[] = { 0, FLT_TRUE_MIN, 1e-38f, 1, 1e18f, 1e38f, 3e38f, FLT_MAX };
/* of weights */
static const float sizes[] = { 1, 0, 1e-30f, 1e9f, 1e20f, 1e38f };

static const struct mlp_shape shapes[] = {
	{ 1, { FEATURES, 2 } },
	{ 2, { FEATURES, 4, 2 } },
	{ 3, { FEATURES, 128, 64, 2 } },
	{ 8, { FEATURES, 5, 5, 5, 5, 5, 5, 5, 2 } },
};

/* RECORDS ordinary records, all but EXTREME, which has the features +-magnitude. */
struct extreme {
	struct sparse_rows rows;
	uint64_t start[RECORDS + 1];
	uint16_t index[RECORDS * FEATURES];
	float value[RECORDS * FEATURES];
	uint8_t label[RECORDS];
};

static void extreme_make(struct extreme *x, float magnitude, unsigned signs)
{
	for (uint16_t k = 0; k < RECORDS * FEATURES; k++) {
		x->index[k] = k % FEATURES;
		x->value[k] = 0.3f * (float)(k % 7) - 0.8f;
		if (k / FEATURES == EXTREME)
			x->value[k] = signs >> k % FEATURES & 1 ? -magnitude : magnitude;
	}
	for (uint32_t i = 0; i <= RECORDS; i++)
		x->start[i] = (uint64_t)i * FEATURES;
	for (uint32_t i = 0; i < RECORDS; i++)
		x->label[i] = i % 3 != 0;
	x->rows = (struct sparse_rows){ .n = RECORDS,
					.nfeatures = FEATURES,
					.nclasses = 2,
					.start = x->start,
					.index = x->index,
					.value = x->value,
					.label = x->label,
					.max_row_entries = FEATURES };
}

static void sized_weights(float *w, size_t n, float size, uint64_t seed)
{
	struct dp_rng rng;

	dp_rng_init(&rng, seed, DP_RNG_TEST, 2, 0);
	for (size_t i = 0; i < n; i++)
		w[i] = size * (float)(2 * dp_rng_uniform(&rng) - 1);
}

static void assert_score(const struct model_score *s)
{
	assert_true(s->accuracy >= 0 && s->accuracy <= 1);
	assert_true(isfinite(s->loss) && s->loss >= 0);
}

static long double length_of(const float *g, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (long double)g[i] * g[i];
	return sqrtl(sum);
}

/* ---- what one record adds to the sum of a lot ---- */

struct mlp_case {
	const struct mlp_shape *m;
	enum mlp_input_mode path;
	const char *kernel;
	float size; /* of weights */
	double clip, unit;
};

/* The sum of the gradients of these records, clipped; the factor of the first. */
static float lot_gradient(const struct mlp_case *c, const struct sparse_rows *rows,
			  const uint32_t *number, uint32_t count, float *g)
{
	size_t n = mlp_count_weights(c->m);
	float *w = calloc(n, sizeof *w), *panels, *sum, first;
	struct mlp_net net;

	mlp__net_init(&net, c->m, c->path, mlp__kernels_select(c->kernel), rows, RECORDS);
	panels = mlp__alloc_floats(net.n_weights);
	sum = mlp__alloc_floats(net.n_weights);
	sized_weights(w, n, c->size, 7);
	mlp__net_pack(&net, w, panels);
	mlp__net_transpose(&net, panels);
	mlp__input_load(&net.input, rows, number, count);
	mlp__net_forward(&net, panels);
	mlp__net_backward(&net, rows, number, c->clip, c->unit);
	first = net.clip_factor[0];
	mlp__net_gradient(&net, sum, false, &(struct mlp_noise){ 0 });
	mlp__net_unpack(&net, sum, g);
	mlp__net_free(&net);
	free(panels);
	free(sum);
	free(w);
	return first;
}

/* Each record's part is finite and within the clip, and a record without a gradient
 * leaves those of the others as they are without it, bit for bit. */
static bool check_lot(const struct mlp_case *c, const struct sparse_rows *rows)
{
	static const uint32_t all[RECORDS] = { 0, 1, 2, 3, 4, 5 },
			      others[RECORDS] = { 0, 1, 3, 4, 5 };
	size_t n = mlp_count_weights(c->m);
	float *g = calloc(n, sizeof *g), *without = calloc(n, sizeof *without);
	bool dropped = false;

	for (uint32_t i = 0; i < RECORDS; i++) {
		float factor = lot_gradient(c, rows, &i, 1, g);

		assert_true(weights_are_finite(g, n));
		assert_true(length_of(g, n) <= (long double)fabs(c->unit) * c->clip);
		if (i == EXTREME)
			dropped = factor == 0;
	}
	lot_gradient(c, rows, all, RECORDS, g);
	assert_true(weights_are_finite(g, n));
	lot_gradient(c, rows, others, RECORDS - 1, without);
	for (size_t k = 0; dropped && k < n; k++)
		assert_true(g[k] == without[k]);
	free(g);
	free(without);
	return dropped;
}

static void test_mlp_contributions(void **state)
{
	static const double clips[] = { 1, 1e-3, 1e-25 }, units[] = { 1, -0.1 };
	int dropped = 0, whole = 0;

	(void)state;
	for (size_t i = 0, s = 0; s < DP_COUNT(shapes); s++)
		for (size_t k = 0; k < DP_COUNT(kernels) * DP_COUNT(paths); k++)
			for (size_t m = 0; m < DP_COUNT(magnitudes); m++)
				for (size_t w = 0; w < DP_COUNT(sizes); w++, i++) {
					struct mlp_case c = { &shapes[s],     paths[k % 2],
							      kernels[k / 2], sizes[w],
							      clips[i % 3],   units[i % 2] };
					struct extreme x;

					if (!mlp__kernels_select(c.kernel))
						continue;
					extreme_make(&x, magnitudes[m], (unsigned)(i % 8));
					if (check_lot(&c, &x.rows))
						dropped++;
					else
						whole++;
				}
	assert_true(dropped > 100 && whole > 100);
}

/* The largest values that files give do not overflow: such a record is clipped, not
 * dropped. */
static void test_largest_value_is_clipped(void **state)
{
	(void)state;
	for (size_t s = 0; s < DP_COUNT(shapes); s++)
		for (size_t k = 0; k < DP_COUNT(kernels) * DP_COUNT(paths); k++) {
			struct mlp_case c = { &shapes[s], paths[k % 2], kernels[k / 2], 1, 1, 1 };
			struct extreme x;

			if (!mlp__kernels_select(c.kernel))
				continue;
			extreme_make(&x, 0x1p45f, 0);
			assert_false(check_lot(&c, &x.rows));
		}
}

/* The squares of its deltas, about e^-60, are 0 in single precision, but not the
 * gradient: it is e^-60 1e18 = 9e-9 long. */
static void test_squares_that_vanish(void **state)
{
	const struct mlp_shape *m = &shapes[0];
	const struct sgd how = { .epochs = 1, .lot_size = 1, .learning_rate = 1, .clip = 1e-12 };

	(void)state;
	for (size_t k = 0; k < DP_COUNT(kernels) * DP_COUNT(paths); k++) {
		float w[(FEATURES + 1) * 2] = { 6e-17f };
		struct extreme x;

		if (!mlp__kernels_select(kernels[k / 2]))
			continue;
		extreme_make(&x, 0, 0);
		x.rows.n = 1;
		x.value[0] = 1e18f;
		x.value[1] = x.value[2] = 0;
		descend(m, paths[k % 2], kernels[k / 2], &x.rows, &how, w);
		w[0] = 0; /* its delta is 0 */
		assert_true(length_of(w, DP_COUNT(w)) <= how.clip);
	}
}

/* The gradient of record i alone; true if it is exactly 0. */
static bool check_linear(const struct linear_kernel *kernel, const struct linear_kernel_rows *r,
			 enum linear_loss loss, uint32_t i, double clip, const float *w)
{
	size_t width = linear_count_weights(r->rows->nfeatures);
	float *g = calloc(width, sizeof *g), label = r->rows->label[i], slope;
	struct linear_record record = { .target = loss == LINEAR_HINGE ? 2 * label - 1 : label,
					.max_slope = linear_max_slope(r->rows, i, clip) };
	long double length;

	kernel->margins(r, w, &i, 1, &slope);
	linear_loss_slopes(loss, &record, 1, &slope);
	kernel->add_gradient(r, &slope, &i, 1, g);
	assert_true(weights_are_finite(g, width));
	/* the product of slope and value is rounded once */
	length = length_of(g, width);
	assert_true(length <= clip * (1 + (r->rows->value ? 0x1p-24L : 0)));
	free(g);
	return length == 0;
}

static void test_linear_contributions(void **state)
{
	static const double clips[] = { 1, 1e-3, 1e-25, 1e10 };
	struct sparse_rows ones = made_rows(RECORDS, BINARY, 14, false, 8);
	struct linear_kernel_rows by = { .rows = &ones };
	struct linear_bitmask *bits;
	struct linear_padded *even;
	float w[128];

	(void)state;
	bits = linear_bitmask_new(&ones);
	even = linear_padded_new(&ones);
	assert_non_null(even);
	by.bitmask = bits;
	by.padded = even;
	for (size_t i = 0; i < DP_COUNT(sizes) * DP_COUNT(magnitudes) * 8; i++) {
		enum linear_loss loss = i / 48 % 2 ? LINEAR_HINGE : LINEAR_LOGISTIC;
		double clip = clips[i / 96];
		struct extreme x;
		struct linear_kernel_rows sparse = { .rows = &x.rows };

		extreme_make(&x, magnitudes[i % 8], (unsigned)(i / 8 % 8));
		memset(w, 0, sizeof w);
		sized_weights(w, FEATURES + 1, sizes[i / 8 % 6], i);
		check_linear(&linear_by_value, &sparse, loss, EXTREME, clip, w);
		/* sums of weights overflow */
		sized_weights(w, BINARY + 1, i % 8 ? FLT_MAX : sizes[i / 8 % 6], i);
		check_linear(&linear_by_index, &by, loss, i % RECORDS, clip, w);
		check_linear(&linear_kernel_padded, &by, loss, i % RECORDS, clip, w);
		if (bits)
			check_linear(&linear_kernel_bitmask, &by, loss, i % RECORDS, clip, w);
	}
	free(bits);
	linear_padded_free(even);
	free_rows(&ones);
}

/* The difference of two infinities has no slope: the record adds exactly 0. */
static void test_undefined_margin(void **state)
{
	float w[16] = { 2, 2, 2 };
	struct extreme x;
	struct linear_kernel_rows r = { .rows = &x.rows };

	(void)state;
	extreme_make(&x, FLT_MAX, 1);
	assert_true(check_linear(&linear_by_value, &r, LINEAR_LOGISTIC, EXTREME, 1, w));
	assert_true(check_linear(&linear_by_value, &r, LINEAR_HINGE, EXTREME, 1, w));
	assert_false(check_linear(&linear_by_value, &r, LINEAR_LOGISTIC, 0, 1, w));
}

/* ---- whole trainings ---- */

/* Ordinary settings, the largest that are trained with, and baselines. */
static const struct sgd settings[] = {
	{ .epochs = 3, .lot_size = 6, .learning_rate = 0.5, .clip = 1, .noise_multiplier = 10 },
	{ .epochs = 40,
	  .lot_size = 2,
	  .learning_rate = 0x1p32,
	  .clip = 0x1p40,
	  .noise_multiplier = 0x1p9 },
	{ .epochs = 40,
	  .lot_size = 2,
	  .learning_rate = 0x1p32,
	  .clip = 1e-3,
	  .noise_multiplier = 1e-3 },
	{ .epochs = 3, .lot_size = 3, .learning_rate = 1e-3, .clip = 1e-20, .noise_multiplier = 1 },
	{ .epochs = 40, .lot_size = 3, .learning_rate = 0x1p32, .clip = INFINITY },
	{ .epochs = 3,
	  .lot_size = 3,
	  .learning_rate = 1,
	  .clip = INFINITY,
	  .noise_multiplier = 1,
	  .noise_clip = 1 },
};

/* Setting i with each optimiser and sampling. */
static struct sgd setting(size_t i)
{
	struct sgd how = settings[i / 4];

	how.optimizer = i & 1 ? OPTIMIZER_ADAM : OPTIMIZER_SGD;
	how.is_poisson = i & 2;
	assert_true(sgd_in_range(&how));
	return how;
}

static void train_linear(const char *kernel, enum linear_loss loss, const struct sparse_rows *rows,
			 const struct sgd *how)
{
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	size_t n = linear_count_weights(rows->nfeatures);
	float *w = aligned_alloc(64, n * sizeof *w);
	struct noise_stream lots, noise;
	struct model_score score;

	noise_stream_init_seeded(&lots, 5, NOISE_LOTS);
	noise_stream_init_seeded(&noise, 5, NOISE_GRADIENT);
	assert_int_equal(
		linear_train_with_kernel(kernel, loss, rows, how, &lots, &noise, &pulse, w, NULL),
		DP_OK);
	assert_true(weights_are_finite(w, n));
	linear_score(loss, rows, w, &score);
	assert_score(&score);
	free(w);
}

static void test_linear_trainings(void **state)
{
	static const char *const names[] = { "index", "even", "bits" };
	struct sparse_rows ones = made_rows(RECORDS, BINARY, 14, false, 8);
	struct linear_bitmask *bits;

	(void)state;
	bits = linear_bitmask_new(&ones);
	for (size_t i = 0; i < 4 * DP_COUNT(settings); i++)
		for (int l = 0; l < 2; l++) {
			enum linear_loss loss = l ? LINEAR_HINGE : LINEAR_LOGISTIC;
			struct sgd how = setting(i);

			for (size_t m = 0; m < DP_COUNT(magnitudes); m++) {
				struct extreme x;

				extreme_make(&x, magnitudes[m], (unsigned)(i + m) % 8);
				train_linear("value", loss, &x.rows, &how);
			}
			for (size_t k = 0; k < DP_COUNT(names); k++)
				if (bits || strcmp(names[k], "bits") != 0)
					train_linear(names[k], loss, &ones, &how);
		}
	free(bits);
	free_rows(&ones);
}

static void test_mlp_trainings(void **state)
{
	static const char *const noises[] = { "vaes512", "vaes256", "aesni", "portable" };
	const char *usual = noise_backend_name();

	(void)state;
	for (size_t i = 0; i < 4 * DP_COUNT(settings); i++)
		for (size_t k = 0; k < DP_COUNT(kernels) * DP_COUNT(magnitudes); k++) {
			const struct mlp_shape *m = &shapes[(i + k) % DP_COUNT(shapes)];
			size_t n = mlp_count_weights(m);
			float *w = calloc(n, sizeof *w);
			struct sgd how = setting(i);
			struct mlp_scorer *scorer;
			struct model_score score;
			struct extreme x;

			if (!mlp__kernels_select(kernels[k % 3]) ||
			    !noise_backend_use(noises[(i + k) % DP_COUNT(noises)])) {
				free(w);
				continue;
			}
			extreme_make(&x, magnitudes[k / 3], (unsigned)(i + k) % 8);
			sized_weights(w, n, 1, i);
			descend(m, paths[(i + k) % 2], kernels[k % 3], &x.rows, &how, w);
			assert_true(weights_are_finite(w, n));
			scorer = mlp_scorer_new(m, &x.rows, MLP_SCORER_CACHE_BYTES);
			mlp_scorer_score(scorer, w, &score);
			assert_score(&score);
			mlp_scorer_free(scorer);
			free(w);
		}
	assert_true(noise_backend_use(usual));
}

/* Settings beyond what single precision holds diverge whatever the records are. */
static void test_settings_out_of_range(void **state)
{
	static const struct sgd beyond[] = {
		{ .epochs = 1,
		  .lot_size = 2,
		  .learning_rate = 0x1.1p32,
		  .clip = 1,
		  .noise_multiplier = 1 },
		{ .epochs = 1,
		  .lot_size = 2,
		  .learning_rate = 1e-45,
		  .clip = 1,
		  .noise_multiplier = 1 },
		{ .epochs = 1, .lot_size = 2, .learning_rate = 1, .clip = 0x1.1p40 },
		{ .epochs = 1,
		  .lot_size = 2,
		  .learning_rate = 1,
		  .clip = 1e-40,
		  .noise_multiplier = 1 },
		{ .epochs = 1,
		  .lot_size = 2,
		  .learning_rate = 1,
		  .clip = 1,
		  .noise_multiplier = 1e16 },
		{ .epochs = 1,
		  .lot_size = 2,
		  .learning_rate = 1,
		  .clip = 1,
		  .noise_multiplier = 1e-200 },
		{ .epochs = 1,
		  .lot_size = 2,
		  .learning_rate = 1e-30,
		  .clip = 1,
		  .noise_multiplier = 1e-10 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * DP_COUNT(beyond); i++) {
		struct training_progress pulse = { .fd = -1, .steps_total = 1 };
		struct noise_stream lots, noise;
		float w[16], v[64];
		struct extreme x;

		noise_stream_init_seeded(&lots, 5, NOISE_LOTS);
		noise_stream_init_seeded(&noise, 5, NOISE_GRADIENT);
		extreme_make(&x, i & 1 ? FLT_MAX : 1, 0);
		assert_false(sgd_in_range(&beyond[i / 2]));
		assert_int_equal(linear_train(LINEAR_LOGISTIC, &x.rows, &beyond[i / 2], &lots,
					      &noise, &pulse, w, NULL),
				 DP_OK);
		for (size_t k = 0; k < DP_COUNT(w); k++)
			assert_true(isnan(w[k]));
		memset(v, 0, sizeof v);
		descend(&shapes[1], MLP_INPUT_AUTO, NULL, &x.rows, &beyond[i / 2], v);
		for (size_t k = 0; k < mlp_count_weights(&shapes[1]); k++)
			assert_true(isnan(v[k]));
	}
}

/* ---- scores ---- */

static void test_scores(void **state)
{
	static const float most[] = { FLT_MAX, 1e38f, 1e20f, 1, FLT_TRUE_MIN, 0 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(most) * DP_COUNT(magnitudes) * 8; i++) {
		const struct mlp_shape *m = &shapes[i % DP_COUNT(shapes)];
		float size = most[i / 8 % DP_COUNT(most)], v[16] = { 0 };
		float *w = calloc(mlp_count_weights(m), sizeof *w);
		struct mlp_scorer *scorer;
		struct model_score score;
		struct extreme x;
		double gap;

		extreme_make(&x, magnitudes[i / 48], (unsigned)i % 8);
		x.value[0] = 0; /* so that records differ in having a feature */
		sized_weights(v, FEATURES + 1, size, i);
		linear_score(LINEAR_LOGISTIC, &x.rows, v, &score);
		assert_score(&score);
		linear_score(LINEAR_HINGE, &x.rows, v, &score);
		assert_score(&score);
		gap = linear_fairness_gap(&x.rows, 0, v);
		assert_true(gap >= 0 && gap <= 1);
		sized_weights(w, mlp_count_weights(m), size, i);
		scorer = mlp_scorer_new(m, &x.rows, MLP_SCORER_CACHE_BYTES);
		mlp_scorer_score(scorer, w, &score);
		assert_score(&score);
		mlp_scorer_free(scorer);
		free(w);
	}
}

/* ---- output perturbation, sparse vector technique ---- */

static void perturb(const struct output_perturbation *o, const struct sparse_rows *rows, float *w)
{
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	struct noise_stream order, noise;

	noise_stream_init_seeded(&order, 9, NOISE_LOTS);
	noise_stream_init_seeded(&noise, 9, NOISE_GRADIENT);
	assert_int_equal(output_perturbation_train(o, rows, &order, &noise, &pulse, w, NULL),
			 DP_OK);
	assert_true(weights_are_finite(w, 16));
}

static void test_output(void **state)
{
	static const double gammas[] = { DBL_TRUE_MIN, 1e-3, 1, 10, 0x1p50, 1e17, DBL_MAX, 1e200 };
	static const double sigmas[] = { DBL_TRUE_MIN, 1, 1e39, DBL_MAX };
	static const double scales[] = { 1e-200, 0.5, 1e39, INFINITY };

	(void)state;
	for (size_t i = 0; i < 8 * DP_COUNT(magnitudes); i++) {
		struct output_perturbation quiet = { gammas[i / 8], 0, 40, 0.5 }, o;
		double bound = 4 / (quiet.regularization * RECORDS), moved = 0;
		float usual[16], w[16];
		struct model_score score;
		struct extreme x;

		extreme_make(&x, 1, 0);
		perturb(&quiet, &x.rows, usual);
		extreme_make(&x, magnitudes[i % 8], (unsigned)(i / 8));
		perturb(&quiet, &x.rows, w);
		for (size_t k = 0; k <= FEATURES; k++)
			moved += pow(((double)w[k] - usual[k]) / quiet.row_scale, 2);
		assert_true(sqrt(moved) <= bound * (1 + 1e-6));
		for (size_t k = 0; k < 16; k++) {
			o = (struct output_perturbation){ quiet.regularization, sigmas[k % 4], 2,
							  scales[k / 4] };
			perturb(&o, &x.rows, w);
			linear_score(LINEAR_LOGISTIC, &x.rows, w, &score);
			assert_score(&score);
		}
	}
}

static void test_svt(void **state)
{
	static const double noises[] = { DBL_TRUE_MIN, 1e-300, 1, 1e300, DBL_MAX };
	static const int64_t cutoffs[] = { 1, 100, INT64_C(1) << 53 };

	(void)state;
	for (size_t i = 0; i < 20 * DP_COUNT(noises) * DP_COUNT(cutoffs); i++) {
		struct svt_params s = { .n_queries = 100,
					.n_ones = 10,
					.cutoff = cutoffs[i % 3],
					.noise_scale = noises[i / 3 % 5] };
		unsigned char answers[100];
		struct dp_rng rng;
		double f1;

		dp_rng_init(&rng, i, DP_RNG_TEST, 0, 0);
		f1 = svt_compute_f1(&s, &rng, answers);
		assert_true(f1 >= 0 && f1 <= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mlp_contributions),
		cmocka_unit_test(test_largest_value_is_clipped),
		cmocka_unit_test(test_squares_that_vanish),
		cmocka_unit_test(test_linear_contributions),
		cmocka_unit_test(test_undefined_margin),
		cmocka_unit_test(test_linear_trainings),
		cmocka_unit_test(test_mlp_trainings),
		cmocka_unit_test(test_settings_out_of_range),
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_svt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
