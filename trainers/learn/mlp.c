/* mlp.c - multi-layer perceptrons by private gradient descent. */
#include "trainers/learn/mlp_internal.h"
#include "linalg/simd.h"

#include <math.h>
#include <stdlib.h>

/* Weights times records of a lot: about a millisecond of work. */
#define BEAT_WORK 3e7

size_t mlp_weights(const struct mlp *m)
{
	size_t n = 0;

	for (size_t l = 0; l < m->nlayers; l++)
		n += ((size_t)m->width[l] + 1) * m->width[l + 1];
	return n;
}

int mlp__check_shape(const struct mlp *m, const struct rows *rows, struct dp_err *err)
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
static void random_start(const struct mlp *m, struct noise *start, float *w)
{
	for (size_t l = 0; l < m->nlayers; l++) {
		size_t out = m->width[l + 1], n = (size_t)m->width[l] * out;
		float sd = sqrtf((l == m->nlayers - 1 ? 1.0f : 2.0f) / (float)m->width[l]);

		noise_normals(start, w, n);
		for (size_t i = 0; i < n; i++)
			w[i] *= sd;
		for (size_t i = 0; i < out; i++)
			w[n + i] = 0;
		w += n + out;
	}
}

/* ---- descent ---- */

struct descent {
	const struct rows *train;
	const struct sgd *how;
	struct mlp_net net;
	struct lots lots;
	struct adam adam;
	float *weights; /* in panels */
	float *sum;     /* of a lot's gradients and its noise, in panels */
	struct noise *noise;
	struct pulse *pulse;
	float *w; /* the weights after each leg, as learn.h has them */
};

static int descent_init(struct descent *d, const struct mlp *m, enum mlp_path path,
			const struct mlp_kernels *kernels, const struct noise *lots,
			struct dp_err *err)
{
	size_t most = d->how->poisson ? d->train->n : d->how->lot;
	bool adam = d->how->optimizer == OPTIMIZER_ADAM;
	int code = lots_init(&d->lots, lots, d->train->n, d->how, err);

	if (code == DP_OK)
		code = mlp__net_init(&d->net, m, path, kernels, d->train, most, err);
	if (code == DP_OK && adam)
		code = adam_init(&d->adam, d->net.nweights, err);
	if (code != DP_OK)
		return code;
	d->weights = mlp__floats(d->net.nweights);
	d->sum = mlp__floats(d->net.nweights);
	if (d->weights && d->sum)
		return DP_OK;
	return dp_fail(err, DP_E_NOMEM, "no memory for %zu weights", mlp_weights(m));
}

static void descent_free(struct descent *d)
{
	lots_free(&d->lots);
	mlp__net_free(&d->net);
	adam_free(&d->adam);
	free(d->weights);
	free(d->sum);
}

DP_KERNELS

DP_SIMD
static void add_to(float *restrict w, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w[i] += x[i];
}

DP_KERNELS_END

/* One lot, in chunks of like size; false if asked to stop. Noise goes onto the sum, so
 * that the weights only ever see a private value. */
static bool mlp_step(struct descent *d)
{
	const struct sgd *how = d->how;
	bool adam = how->optimizer == OPTIMIZER_ADAM;
	/* what a unit of a record's gradient is in the sum */
	double unit = adam ? 1 : -how->rate / how->lot;
	struct mlp_noise noise = { d->noise, (float)(unit * sgd_noise_sd(how)) }, none = { 0 };
	uint32_t count, capacity = (uint32_t)d->net.capacity;
	const uint32_t *number = lots_next(&d->lots, &count);
	uint32_t chunks = count <= capacity ? 1 : (count + capacity - 1) / capacity;

	mlp__net_turn(&d->net, d->weights);
	for (uint32_t i = 0; i < chunks; i++) {
		uint32_t n = (count + chunks - 1 - i) / chunks;

		if (i > 0 && !pulse_beat(d->pulse, 0))
			return false;
		mlp__input_load(&d->net.input, d->train, number, n);
		mlp__net_forward(&d->net, d->weights);
		mlp__net_backward(&d->net, d->train, number, sgd_clip(how), unit);
		mlp__net_gradient(&d->net, d->sum, i > 0, i == chunks - 1 ? &noise : &none);
		number += n;
	}
	if (adam)
		adam_step(&d->adam, how->rate, 1.0 / how->lot, d->sum, d->weights);
	else
		add_to(d->weights, d->sum, d->net.nweights);
	return true;
}

static int mlp_steps(void *training, uint64_t total, struct dp_err *err)
{
	struct descent *d = training;
	uint64_t untold = 0;
	double work = (double)d->net.nweights * (d->how->lot + 16.0);
	uint64_t every = work < BEAT_WORK ? (uint64_t)(BEAT_WORK / work) : 1;

	for (uint64_t i = 1; i <= total; i++) {
		bool on = mlp_step(d);

		if (on && (++untold == every || i == total)) {
			on = pulse_beat(d->pulse, untold);
			untold = 0;
		}
		if (!on)
			return dp_fail(err, DP_E_INTERRUPTED, "the training was asked to stop");
	}
	mlp__net_unpack(&d->net, d->weights, d->w);
	return DP_OK;
}

int mlp__descend(const struct mlp *m, enum mlp_path path, const struct mlp_kernels *kernels,
		 const struct rows *train, const struct sgd *how, const struct noise *lots,
		 struct noise *noise, struct pulse *pulse, float *w, struct dp_err *err)
{
	struct descent d = { .train = train, .how = how, .noise = noise, .pulse = pulse, .w = w };
	int code = mlp__check_shape(m, train, err);

	if (code == DP_OK)
		code = descent_init(&d, m, path, kernels, lots, err);
	if (code == DP_OK && !sgd_in_range(how)) {
		code = sgd_diverge(how, train->n, pulse, w, mlp_weights(m), err);
	} else if (code == DP_OK) {
		mlp__net_pack(&d.net, w, d.weights);
		code = sgd_walk(how, train->n, mlp_steps, &d, err);
	}
	descent_free(&d);
	return code;
}

int mlp_train(const struct mlp *m, enum mlp_path path, const struct rows *train,
	      const struct sgd *how, struct noise *start, const struct noise *lots,
	      struct noise *noise, struct pulse *pulse, float *w, struct dp_err *err)
{
	int code = mlp__check_shape(m, train, err);

	if (code != DP_OK)
		return code;
	random_start(m, start, w);
	return mlp__descend(m, path, mlp__kernels(NULL), train, how, lots, noise, pulse, w, err);
}
