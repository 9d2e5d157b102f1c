/* mlp_train.c - trains multi-layer perceptrons by DP-SGD or DP-Adam. */
#include "trainers/learn/mlp_internal.h"
#include "linalg/simd.h"

#include <math.h>
#include <stdlib.h>

/* Weights times records of a lot; takes about a millisecond. */
#define TICK_WORK 3e7

size_t mlp_count_weights(const struct mlp_shape *m)
{
	size_t n = 0;

	for (size_t l = 0; l < m->nlayers; l++)
		n += ((size_t)m->width[l] + 1) * m->width[l + 1];
	return n;
}

/* He et al. 2015: normal with variance 2 / inputs, which preserves the scale of activations through
 * a rectifier that zeroes half of them. No rectifier follows the last layer: 1 / inputs. Biases are
 * 0. From zero weights, all units of a hidden layer would have the same gradient forever. */
static void init_weights(const struct mlp_shape *m, struct noise_stream *start, float *w)
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

int mlp__training_init(struct mlp_training *d, const struct mlp_shape *m, enum mlp_input_mode path,
		       const struct mlp_kernels *kernels, const struct noise_stream *lots,
		       struct dp_err *err)
{
	int code = lot_sampler_init(&d->lots, lots, d->train->n, d->sgd, err);

	if (code != DP_OK)
		return code;
	mlp__net_init(&d->net, m, path, kernels, d->train,
		      d->sgd->is_poisson ? d->train->n : d->sgd->lot_size);
	if (d->sgd->optimizer == OPTIMIZER_ADAM)
		adam_init(&d->adam, d->net.n_weights);
	d->panel_weights = mlp__alloc_floats(d->net.n_weights);
	d->gradient_sum = mlp__alloc_floats(d->net.n_weights);
	return DP_OK;
}

void mlp__training_free(struct mlp_training *d)
{
	lot_sampler_free(&d->lots);
	mlp__net_free(&d->net);
	adam_free(&d->adam);
	free(d->panel_weights);
	free(d->gradient_sum);
}

static inline void phase_ends(const struct mlp_training *d, enum mlp_phase phase)
{
	if (d->on_phase)
		d->on_phase(d->phase_arg, phase);
}

DP_SIMD_BEGIN

DP_SIMD
static void vec_add(float *restrict w, const float *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w[i] += x[i];
}

DP_SIMD_END

/* One step, in chunks of similar size. Weights only ever depend on the noisy gradient sum. */
bool mlp__training_step(struct mlp_training *d)
{
	const struct sgd *sgd = d->sgd;
	bool adam = sgd->optimizer == OPTIMIZER_ADAM;
	/* factor of a record's gradient in the sum */
	double unit = adam ? 1 : -sgd->learning_rate / sgd->lot_size;
	struct mlp_noise noise = { d->noise, (float)(unit * sgd_noise_sd(sgd)) }, none = { 0 };
	uint32_t count, capacity = (uint32_t)d->net.capacity;
	const uint32_t *number = lot_sampler_next(&d->lots, &count);
	uint32_t chunks = count <= capacity ? 1 : (count + capacity - 1) / capacity;

	mlp__net_transpose(&d->net, d->panel_weights);
	phase_ends(d, MLP_PHASE_BACKWARD);
	for (uint32_t i = 0; i < chunks; i++) {
		uint32_t n = (count + chunks - 1 - i) / chunks;

		if (i > 0 && !training_progress_tick(d->progress, 0))
			return false;
		mlp__input_load(&d->net.input, d->train, number, n);
		phase_ends(d, MLP_PHASE_LOAD);
		mlp__net_forward(&d->net, d->panel_weights);
		phase_ends(d, MLP_PHASE_FORWARD);
		mlp__net_backward(&d->net, d->train, number, sgd_clip_norm(sgd), unit);
		phase_ends(d, MLP_PHASE_BACKWARD);
		mlp__net_gradient(&d->net, d->gradient_sum, i > 0,
				  i == chunks - 1 ? &noise : &none);
		phase_ends(d, MLP_PHASE_GRADIENT);
		number += n;
	}
	if (adam)
		adam_step(&d->adam, sgd->learning_rate, 1.0 / sgd->lot_size, d->gradient_sum,
			  d->panel_weights);
	else
		vec_add(d->panel_weights, d->gradient_sum, d->net.n_weights);
	phase_ends(d, MLP_PHASE_GRADIENT);
	return true;
}

static int mlp_steps(void *training, uint64_t total, struct dp_err *err)
{
	struct mlp_training *d = training;
	uint64_t untold = 0;
	double work = (double)d->net.n_weights * (d->sgd->lot_size + 16.0);
	uint64_t every = work < TICK_WORK ? (uint64_t)(TICK_WORK / work) : 1;

	for (uint64_t i = 1; i <= total; i++) {
		bool on = mlp__training_step(d);

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
	int code = mlp__training_init(&d, m, path, kernels, lots, err);

	if (code == DP_OK && !sgd_in_range(sgd)) {
		code = sgd_fill_diverged(sgd, train->n, progress, w, mlp_count_weights(m), err);
	} else if (code == DP_OK) {
		mlp__net_pack(&d.net, w, d.panel_weights);
		code = sgd_run_with_checkpoints(sgd, train->n, mlp_steps, &d, err);
	}
	mlp__training_free(&d);
	return code;
}

int mlp_train(const struct mlp_shape *m, enum mlp_input_mode path, const struct sparse_rows *train,
	      const struct sgd *sgd, struct noise_stream *start, const struct noise_stream *lots,
	      struct noise_stream *noise, struct training_progress *progress, float *w,
	      struct dp_err *err)
{
	init_weights(m, start, w);
	return mlp__train_from(m, path, mlp__kernels_select(NULL), train, sgd, lots, noise,
			       progress, w, err);
}
