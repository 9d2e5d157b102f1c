/* mlp.c - multi-layer perceptrons by private gradient descent. */
#include "trainers/learn/mlp_internal.h"
#include "linalg/simd.h"

#include <math.h>
#include <stdlib.h>

/* Weights times records of a lot: about a millisecond of work. */
#define TICK_WORK 3e7

size_t mlp_count_weights(const struct mlp_shape *m)
{
	size_t n = 0;

	for (size_t l = 0; l < m->nlayers; l++)
		n += ((size_t)m->width[l] + 1) * m->width[l + 1];
	return n;
}

int mlp__check_shape(const struct mlp_shape *m, const struct sparse_rows *rows, struct dp_err *err)
{
	if (m->nlayers < 1 || m->nlayers > MLP_LAYERS_MAX)
		return dp_fail(err, DP_E_INVALID, "a network has 1 to %d layers, not %zu",
			       MLP_LAYERS_MAX, m->nlayers);
	for (size_t l = 0; l <= m->nlayers; l++)
		if (m->width[l] < 1 || m->width[l] > UINT16_MAX)
			return dp_fail(err, DP_E_INVALID, "a layer has 1 to %d units, not %u",
				       UINT16_MAX, (unsigned)m->width[l]);
	if (rows->nfeatures > m->width[0] || rows->nclasses > m->width[m->nlayers])
		return dp_fail(err, DP_E_INVALID,
			       "records of %u features and %u classes do not fit a "
			       "network of %u inputs and %u outputs",
			       (unsigned)rows->nfeatures, (unsigned)rows->nclasses,
			       (unsigned)m->width[0], (unsigned)m->width[m->nlayers]);
	return DP_OK;
}

/* He et al. 2015: normal with variance 2 / inputs, which keeps the size of what passes
 * through a rectifier that cuts off half of it. Nothing is cut off behind the last
 * layer: 1 / inputs. Biases start at 0. With all weights at 0, as linear models start,
 * the units of a hidden layer would have the same gradient for ever. */
static void mlp_init_weights(const struct mlp_shape *m, struct noise_stream *start, float *w)
{
	for (size_t l = 0; l < m->nlayers; l++) {
		size_t out = m->width[l + 1], n = (size_t)m->width[l] * out;
		float sd = sqrtf((l == m->nlayers - 1 ? 1.0f : 2.0f) / (float)m->width[l]);

		noise_fill_normals(start, w, n);
		for (size_t i = 0; i < n; i++)
			w[i] *= sd;
		for (size_t i = 0; i < out; i++)
			w[n + i] = 0;
		w += n + out;
	}
}

/* ---- descent ---- */

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
};

static int mlp_training_init(struct mlp_training *d, const struct mlp_shape *m,
			     enum mlp_input_mode path, const struct mlp_kernels *kernels,
			     const struct noise_stream *lots, struct dp_err *err)
{
	size_t most = d->sgd->is_poisson ? d->train->n : d->sgd->lot_size;
	bool adam = d->sgd->optimizer == OPTIMIZER_ADAM;
	int code = lot_sampler_init(&d->lots, lots, d->train->n, d->sgd, err);

	if (code == DP_OK)
		code = mlp__net_init(&d->net, m, path, kernels, d->train, most, err);
	if (code == DP_OK && adam)
		code = adam_init(&d->adam, d->net.n_weights, err);
	if (code != DP_OK)
		return code;
	d->panel_weights = mlp__alloc_floats(d->net.n_weights);
	d->gradient_sum = mlp__alloc_floats(d->net.n_weights);
	if (d->panel_weights && d->gradient_sum)
		return DP_OK;
	return dp_fail(err, DP_E_NOMEM, "no memory for %zu weights", mlp_count_weights(m));
}

static void mlp_training_free(struct mlp_training *d)
{
	lot_sampler_free(&d->lots);
	mlp__net_free(&d->net);
	adam_free(&d->adam);
	free(d->panel_weights);
	free(d->gradient_sum);
}

DP_SIMD_BEGIN

DP_SIMD
static void vec_add(float *restrict w, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w[i] += x[i];
}

DP_SIMD_END

/* One lot, in chunks of like size; false if asked to stop. Noise goes onto the sum, so
 * that the weights only ever see a private value. */
static bool mlp_step(struct mlp_training *d)
{
	const struct sgd *sgd = d->sgd;
	bool adam = sgd->optimizer == OPTIMIZER_ADAM;
	/* what a unit of a record's gradient is in the sum */
	double unit = adam ? 1 : -sgd->learning_rate / sgd->lot_size;
	struct mlp_noise noise = { d->noise, (float)(unit * sgd_noise_sd(sgd)) }, none = { 0 };
	uint32_t count, capacity = (uint32_t)d->net.capacity;
	const uint32_t *number = lot_sampler_next(&d->lots, &count);
	uint32_t chunks = count <= capacity ? 1 : (count + capacity - 1) / capacity;

	mlp__net_transpose(&d->net, d->panel_weights);
	for (uint32_t i = 0; i < chunks; i++) {
		uint32_t n = (count + chunks - 1 - i) / chunks;

		if (i > 0 && !training_progress_tick(d->progress, 0))
			return false;
		mlp__input_load(&d->net.input, d->train, number, n);
		mlp__net_forward(&d->net, d->panel_weights);
		mlp__net_backward(&d->net, d->train, number, sgd_clip_norm(sgd), unit);
		mlp__net_gradient(&d->net, d->gradient_sum, i > 0,
				  i == chunks - 1 ? &noise : &none);
		number += n;
	}
	if (adam)
		adam_step(&d->adam, sgd->learning_rate, 1.0 / sgd->lot_size, d->gradient_sum,
			  d->panel_weights);
	else
		vec_add(d->panel_weights, d->gradient_sum, d->net.n_weights);
	return true;
}

static int mlp_steps(void *training, uint64_t total, struct dp_err *err)
{
	struct mlp_training *d = training;
	uint64_t untold = 0;
	double work = (double)d->net.n_weights * (d->sgd->lot_size + 16.0);
	uint64_t every = work < TICK_WORK ? (uint64_t)(TICK_WORK / work) : 1;

	for (uint64_t i = 1; i <= total; i++) {
		bool on = mlp_step(d);

		if (on && (++untold == every || i == total)) {
			on = training_progress_tick(d->progress, untold);
			untold = 0;
		}
		if (!on)
			return dp_fail(err, DP_E_INTERRUPTED, "the training was asked to stop");
	}
	mlp__net_unpack(&d->net, d->panel_weights, d->flat_weights);
	return DP_OK;
}

int mlp__train_from(const struct mlp_shape *m, enum mlp_input_mode path,
		    const struct mlp_kernels *kernels, const struct sparse_rows *train,
		    const struct sgd *sgd, const struct noise_stream *lots,
		    struct noise_stream *noise, struct training_progress *progress, float *w,
		    struct dp_err *err)
{
	struct mlp_training d = {
		.train = train, .sgd = sgd, .noise = noise, .progress = progress, .flat_weights = w
	};
	int code = mlp__check_shape(m, train, err);

	if (code == DP_OK)
		code = mlp_training_init(&d, m, path, kernels, lots, err);
	if (code == DP_OK && !sgd_in_range(sgd)) {
		code = sgd_fill_diverged(sgd, train->n, progress, w, mlp_count_weights(m), err);
	} else if (code == DP_OK) {
		mlp__net_pack(&d.net, w, d.panel_weights);
		code = sgd_run_with_checkpoints(sgd, train->n, mlp_steps, &d, err);
	}
	mlp_training_free(&d);
	return code;
}

int mlp_train(const struct mlp_shape *m, enum mlp_input_mode path, const struct sparse_rows *train,
	      const struct sgd *sgd, struct noise_stream *start, const struct noise_stream *lots,
	      struct noise_stream *noise, struct training_progress *progress, float *w,
	      struct dp_err *err)
{
	int code = mlp__check_shape(m, train, err);

	if (code != DP_OK)
		return code;
	mlp_init_weights(m, start, w);
	return mlp__train_from(m, path, mlp__kernels_select(NULL), train, sgd, lots, noise,
			       progress, w, err);
}
