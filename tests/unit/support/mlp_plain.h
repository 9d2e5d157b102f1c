/* mlp_plain.h - networks trained plainly, in double precision, to compare with. */
#ifndef DP_TEST_MLP_PLAIN_H
#define DP_TEST_MLP_PLAIN_H
#include "tests/unit/support/made_rows.h"
#include "trainers/learn/mlp_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum mlp_input_mode paths[] = { MLP_INPUT_DENSE, MLP_INPUT_SPARSE };
static const char *const kernels[] = { "avx512", "avx2", "portable" };

/* ---- a plain implementation ---- */

struct plain {
	const struct mlp_shape *m;
	double *w, *g;                   /* as learn.h has the weights, and one gradient */
	double *act[MLP_LAYERS_MAX + 1]; /* inputs, outputs of each layer */
	double *delta;
};

static inline void plain_init(struct plain *p, const struct mlp_shape *m, const float *w)
{
	p->m = m;
	p->w = calloc(mlp_count_weights(m), sizeof *p->w);
	p->g = calloc(mlp_count_weights(m), sizeof *p->g);
	p->delta = calloc(mlp_count_weights(m), sizeof *p->delta);
	for (size_t l = 0; l <= m->nlayers; l++)
		p->act[l] = calloc(m->width[l] + 1, sizeof **p->act);
	for (size_t i = 0; i < mlp_count_weights(m); i++)
		p->w[i] = w[i];
}

static inline void plain_free(struct plain *p)
{
	free(p->w);
	free(p->g);
	free(p->delta);
	for (size_t l = 0; l <= p->m->nlayers; l++)
		free(p->act[l]);
}

static inline const double *layer_weights(const struct plain *p, size_t l)
{
	struct mlp_shape before = *p->m;

	before.nlayers = l;
	return p->w + mlp_count_weights(&before);
}

/* The loss of record i; outputs are left in p->act. */
static inline double plain_loss(struct plain *p, const struct sparse_rows *r, uint32_t i)
{
	const struct mlp_shape *m = p->m;
	double sum = 0, *logit = p->act[m->nlayers];

	dense_row(r, i, p->act[0]);
	for (size_t l = 0; l < m->nlayers; l++) {
		const double *w = layer_weights(p, l);

		p->act[l][m->width[l]] = 1;
		for (size_t o = 0; o < m->width[l + 1]; o++) {
			double x = 0;

			for (size_t k = 0; k <= m->width[l]; k++)
				x += p->act[l][k] * w[k * m->width[l + 1] + o];
			p->act[l + 1][o] = l + 1 < m->nlayers ? fmax(x, 0) : x;
		}
	}
	for (size_t o = 0; o < m->width[m->nlayers]; o++)
		sum += exp(logit[o]);
	return log(sum) - logit[r->label[i]];
}

/* The gradient of record i into p->g; its length. */
static inline double plain_gradient(struct plain *p, const struct sparse_rows *r, uint32_t i)
{
	const struct mlp_shape *m = p->m;
	double loss = plain_loss(p, r, i), norm = 0, *delta = p->delta;
	size_t classes = m->width[m->nlayers];

	for (size_t o = 0; o < classes; o++)
		delta[o] = exp(p->act[m->nlayers][o] - loss - p->act[m->nlayers][r->label[i]]) -
			   (o == r->label[i]);
	for (size_t l = m->nlayers; l-- > 0;) {
		const double *w = layer_weights(p, l);
		size_t in = m->width[l], out = m->width[l + 1];
		double *before = calloc(in, sizeof *before);

		for (size_t k = 0; k <= in; k++)
			for (size_t o = 0; o < out; o++) {
				double g = p->act[l][k] * delta[o];

				p->g[(size_t)(w - p->w) + k * out + o] = g;
				norm += g * g;
				if (k < in && p->act[l][k] > 0)
					before[k] += w[k * out + o] * delta[o];
			}
		memcpy(delta, before, in * sizeof *before);
		free(before);
	}
	return sqrt(norm);
}

/* Algorithms 3 and 4 as they are printed, without noise; the number of empty lots. */
static inline int plain_train(struct plain *p, const struct sparse_rows *r, const struct sgd *how,
			      const struct noise_stream *stream)
{
	size_t n = mlp_count_weights(p->m);
	double *g = calloc(n, sizeof *g), *mu = calloc(n, sizeof *mu), *nu = calloc(n, sizeof *nu);
	int empty = 0, steps = (int)(how->epochs * nearbyint((double)r->n / how->lot_size));
	struct lot_sampler lots;

	assert_int_equal(lot_sampler_init(&lots, stream, r->n, how, NULL), DP_OK);
	for (int i = 1; i <= steps; i++) {
		uint32_t count;
		const uint32_t *ids = lot_sampler_next(&lots, &count);

		empty += count == 0;
		memset(g, 0, n * sizeof *g);
		for (uint32_t j = 0; j < count; j++) {
			double norm = plain_gradient(p, r, ids[j]);

			for (size_t k = 0; k < n; k++)
				g[k] += p->g[k] * fmin(1, how->clip / norm) / how->lot_size;
		}
		for (size_t k = 0; k < n; k++) {
			if (how->optimizer == OPTIMIZER_SGD) {
				p->w[k] -= how->learning_rate * g[k];
				continue;
			}
			mu[k] = 0.9 * mu[k] + 0.1 * g[k];
			nu[k] = 0.999 * nu[k] + 0.001 * g[k] * g[k];
			p->w[k] -= how->learning_rate * mu[k] / (1 - pow(0.9, i)) /
				   (sqrt(nu[k] / (1 - pow(0.999, i))) + 1e-8);
		}
	}
	lot_sampler_free(&lots);
	free(g);
	free(mu);
	free(nu);
	return empty;
}

/* ---- the code under test ---- */

/* Made-up records of several classes. */
static inline struct sparse_rows class_rows(uint32_t n, uint32_t nfeatures, uint32_t most,
					    bool values, uint32_t nclasses)
{
	struct sparse_rows r = made_rows(n, nfeatures, most, values, 5);
	uint8_t *label = (uint8_t *)r.label;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t sum = i % 2;

		for (uint64_t e = r.start[i]; e < r.start[i + 1]; e++)
			sum += r.index[e] < nfeatures / 2;
		label[i] = (uint8_t)(sum % nclasses);
	}
	r.nclasses = nclasses;
	return r;
}

static inline float *some_weights(const struct mlp_shape *m, uint64_t seed)
{
	float *w = calloc(mlp_count_weights(m), sizeof *w);
	struct dp_rng rng;

	dp_rng_init(&rng, seed, DP_RNG_TEST, 1, 0);
	for (size_t i = 0; i < mlp_count_weights(m); i++)
		w[i] = (float)(0.4 * dp_rng_normal(&rng));
	return w;
}

static inline void descend(const struct mlp_shape *m, enum mlp_input_mode path, const char *kernel,
			   const struct sparse_rows *r, const struct sgd *how, float *w)
{
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	struct noise_stream lots, noise;
	struct dp_err err;

	noise_stream_init_seeded(&lots, 3, NOISE_LOTS);
	noise_stream_init_seeded(&noise, 3, NOISE_GRADIENT);
	if (mlp__train_from(m, path, mlp__kernels_select(kernel), r, how, &lots, &noise, &pulse, w,
			    &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(pulse.steps_done, sgd_total_steps(how, r->n));
}

/* All of a's elements are those of b, to `most` of the largest. */
static inline void assert_close(const float *a, const double *b, size_t n, double most)
{
	double top = 0;

	for (size_t i = 0; i < n; i++)
		top = fmax(top, fabs(b[i]));
	for (size_t i = 0; i < n; i++)
		if (!(fabs(a[i] - b[i]) <= most * top))
			fail_msg("element %zu is %.9g, not %.9g", i, (double)a[i], b[i]);
}

static inline double *doubles(const float *x, size_t n)
{
	double *d = calloc(n, sizeof *d);

	for (size_t i = 0; i < n; i++)
		d[i] = x[i];
	return d;
}

static inline void train(const struct mlp_shape *m, enum mlp_input_mode path,
			 const struct sparse_rows *r, const struct sgd *how, uint64_t seed,
			 float *w)
{
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	struct noise_stream start, lots, noise;
	struct dp_err err;

	noise_stream_init_seeded(&start, seed, NOISE_INIT_WEIGHTS);
	noise_stream_init_seeded(&lots, seed, NOISE_LOTS);
	noise_stream_init_seeded(&noise, seed, NOISE_GRADIENT);
	if (mlp_train(m, path, r, how, &start, &lots, &noise, &pulse, w, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

#endif
