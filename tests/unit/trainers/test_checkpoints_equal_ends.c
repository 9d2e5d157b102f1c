/* test_checkpoints_equal_ends.c - a training on its way is, to the bit, one that ends there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/mlp_plain.h"
#include "trainers/learn/linear_internal.h"

enum {
	EPOCHS = 7,
	SEED = 11
};
static const uint32_t on_the_way[] = { 1, 2, 5 };

/* What was seen on the way. */
struct seen {
	const float *w; /* of the training */
	size_t nweights, n;
	uint32_t epochs[DP_COUNT(on_the_way)];
	float *copy[DP_COUNT(on_the_way)];
	size_t stop_after; /* looks; 0: never */
};

static int note_weights(void *who, uint32_t epochs, struct dp_err *err)
{
	struct seen *s = who;

	assert_true(s->n < DP_COUNT(on_the_way));
	s->epochs[s->n] = epochs;
	s->copy[s->n] = malloc(s->nweights * sizeof *s->w);
	assert_non_null(s->copy[s->n]);
	memcpy(s->copy[s->n++], s->w, s->nweights * sizeof *s->w);
	return s->n == s->stop_after ? dp_fail(err, DP_E_IO, "the disk is full") : DP_OK;
}

/* A training of a kind that is not known here: train(what, how, w). */
typedef void train_fn(const void *what, const struct sgd *how, float *w);

static float *weights_for(size_t n)
{
	float *w = aligned_alloc(64, (n * sizeof *w + 63) / 64 * 64);

	assert_non_null(w);
	return w;
}

/* Trains once along the path, then once for every place of it, and for its end. */
static void compare(train_fn *train_it, const void *what, struct sgd how, size_t n)
{
	float *w = weights_for(n), *alone = weights_for(n);
	struct seen seen = { .w = w, .nweights = n };
	const struct training_checkpoints walk = { on_the_way, DP_COUNT(on_the_way), note_weights,
						   &seen };

	how.epochs = EPOCHS;
	how.checkpoints = &walk;
	train_it(what, &how, w);
	how.checkpoints = NULL;
	train_it(what, &how, alone);
	assert_memory_equal(w, alone, n * sizeof *w);
	assert_int_equal(seen.n, DP_COUNT(on_the_way));
	for (size_t i = 0; i < seen.n; i++) {
		assert_int_equal(seen.epochs[i], on_the_way[i]);
		how.epochs = on_the_way[i];
		train_it(what, &how, alone);
		assert_memory_equal(seen.copy[i], alone, n * sizeof *w);
		assert_memory_not_equal(seen.copy[i], w, n * sizeof *w);
		free(seen.copy[i]);
	}
	free(w);
	free(alone);
}

/* Every optimizer and sampler, with noise and without; lots that do not divide the
 * records. */
static void compare_all(train_fn *train_it, const void *what, size_t n)
{
	for (int i = 0; i < 8; i++) {
		const struct sgd how = { .optimizer = i & 1 ? OPTIMIZER_ADAM : OPTIMIZER_SGD,
					 .is_poisson = i & 2,
					 .noise_multiplier = i & 4 ? 0 : 1,
					 .clip = 0.5,
					 .lot_size = 23,
					 .learning_rate = 0.05 };

		compare(train_it, what, how, n);
	}
}

/* ---- linear models ---- */

struct linear_case {
	const char *kernel;
	enum linear_loss loss;
	const struct sparse_rows *rows;
};

static void train_linear(const void *what, const struct sgd *how, float *w)
{
	const struct linear_case *c = what;
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	struct noise_stream lots, noise;
	struct dp_err err;

	noise_stream_init_seeded(&lots, SEED, NOISE_LOTS);
	noise_stream_init_seeded(&noise, SEED, NOISE_GRADIENT);
	if (linear_train_with_kernel(c->kernel, c->loss, c->rows, how, &lots, &noise, &pulse, w,
				     &err) != DP_OK)
		fail_msg("%s", err.msg);
	/* progress counts every step once, however many legs there are */
	assert_int_equal(pulse.steps_done, sgd_total_steps(how, c->rows->n));
}

/* Rows of 120 binary features take the fastest kernel here, and the plain one by name;
 * rows with values are the dense case. */
static void test_linear_walk(void **state)
{
	struct sparse_rows binary = made_rows(300, 120, 14, false, 1);
	struct sparse_rows dense = made_rows(300, 12, 12, true, 2);
	const struct linear_case cases[] = { { NULL, LINEAR_LOGISTIC, &binary },
					     { "index", LINEAR_LOGISTIC, &binary },
					     { "index", LINEAR_HINGE, &binary },
					     { NULL, LINEAR_LOGISTIC, &dense },
					     { NULL, LINEAR_HINGE, &dense } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++)
		compare_all(train_linear, &cases[i],
			    linear_count_weights(cases[i].rows->nfeatures));
	free_rows(&binary);
	free_rows(&dense);
}

/* ---- networks ---- */

struct mlp_case {
	struct mlp_shape shape;
	enum mlp_input_mode path;
	const struct sparse_rows *rows;
};

static void train_mlp(const void *what, const struct sgd *how, float *w)
{
	const struct mlp_case *c = what;

	train(&c->shape, c->path, c->rows, how, SEED, w);
}

static void test_mlp_walk(void **state)
{
	struct sparse_rows rows = class_rows(150, 40, 10, true, 4);
	const struct mlp_shape shape = { 3, { 40, 70, 20, 4 } };
	const struct mlp_case cases[] = { { shape, MLP_INPUT_SPARSE, &rows },
					  { shape, MLP_INPUT_DENSE, &rows } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++)
		compare_all(train_mlp, &cases[i], mlp_count_weights(&shape));
	free_rows(&rows);
}

/* ---- the walk itself ---- */

/* A result that cannot be written ends the training there, with that error. */
static void test_look_fails(void **state)
{
	struct sparse_rows rows = made_rows(100, 12, 6, true, 3);
	size_t n = linear_count_weights(12);
	float *w = weights_for(n);
	struct seen seen = { .w = w, .nweights = n, .stop_after = 2 };
	const struct training_checkpoints walk = { on_the_way, DP_COUNT(on_the_way), note_weights,
						   &seen };
	const struct sgd how = { .epochs = EPOCHS,
				 .lot_size = 10,
				 .learning_rate = 0.1,
				 .clip = 1,
				 .checkpoints = &walk };
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	struct noise_stream s;
	struct dp_err err;

	(void)state;
	noise_stream_init_seeded(&s, SEED, NOISE_LOTS);
	assert_int_equal(linear_train(LINEAR_LOGISTIC, &rows, &how, &s, &s, &pulse, w, &err),
			 DP_E_IO);
	assert_string_equal(err.msg, "the disk is full");
	assert_int_equal(pulse.steps_done, 2 * 10);
	for (size_t i = 0; i < seen.n; i++)
		free(seen.copy[i]);
	free(w);
	free_rows(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear_walk),
		cmocka_unit_test(test_mlp_walk),
		cmocka_unit_test(test_look_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
