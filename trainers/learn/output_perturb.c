/* output_perturb.c - trains logistic regression with output perturbation.
 *
 * Wu et al., Bolt-on Differential Privacy for Scalable Stochastic Gradient Descent-based Analytics,
 * SIGMOD 2017, Algorithm 2 with batches of one record. Replacing one record moves the final weights
 * by at most 4 / (gamma n), because
 * - every record is visited exactly once in each pass, so that the two training runs differ in
 *   one step of each pass; the order within a pass is arbitrary, but independent of the data;
 * - the loss of a record is gamma-strongly convex: all weights are regularised, including the
 *   bias, which is a feature that is always 1;
 * - its gradient has norm at most 2: rows have norm at most 1, bias included, and weights
 *   stay within the radius 1 / gamma, so that the regulariser contributes at most 1;
 * - no step is longer than 1 / (1 + gamma), one over the smoothness of the loss, so that
 *   steps on equal records contract the difference by 1 - gamma * step. With steps
 *   1 / (gamma t), a difference made at step t shrinks to 2 * 2 / (gamma t) * t / (n passes),
 *   and there are `passes` of them; projection never increases the difference;
 * - the number of passes is fixed in advance, and the last weights are the result: stopping
 *   that depends on the data is not covered. */
#include "trainers/learn/learn.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	NORMALISE_STEPS = 1024, /* often enough to keep rounding errors of squared_norm small */
	NORMALS_BATCH = 64
};
/* Above it, 1 - step * gamma is lost in rounding. Weights are shorter than 1 / gamma, so that they
 * stay at 0 there: noise alone is private, too. */
#define GAMMA_MAX 0x1p50

/* The weights are multiplier * v, so that shrinking and projecting take one multiplication. */
struct scaled_weights {
	size_t n;
	double *v;
	double multiplier;
	double squared_norm; /* |v|^2 */
};

struct output_descent {
	const struct output_perturbation *settings;
	const struct sparse_rows *rows;
	struct scaled_weights weights;
	uint64_t step; /* t, over all passes */
};

/* Returns (row i, 1) . v; *squares becomes the squared norm of (row i, 1). */
static double row_dot(const struct sparse_rows *rows, uint32_t i, const double *v, double *squares)
{
	double sum = v[rows->nfeatures];
	uint64_t k = rows->start[i], end = rows->start[i + 1];

	*squares = 1 + (double)(end - k);
	if (!rows->value) {
		for (; k < end; k++)
			sum += v[rows->index[k]];
		return sum;
	}
	*squares = 1;
	for (; k < end; k++) {
		double x = rows->value[k];

		sum += v[rows->index[k]] * x;
		*squares += x * x;
	}
	return sum;
}

/* v -= c * (row i, 1) */
static void row_subtract_scaled(const struct sparse_rows *rows, uint32_t i, double c, double *v)
{
	uint64_t end = rows->start[i + 1];

	for (uint64_t k = rows->start[i]; k < end; k++)
		v[rows->index[k]] -= rows->value ? c * rows->value[k] : c;
	v[rows->nfeatures] -= c;
}

static void output_step(struct output_descent *d, uint32_t i)
{
	struct scaled_weights *w = &d->weights;
	double gamma = d->settings->regularization, radius = 1 / gamma, factor, squares, dot, step,
	       slope, c;

	d->step++;
	step = fmin(1 / (1 + gamma), 1 / (gamma * (double)d->step));
	dot = row_dot(d->rows, i, w->v, &squares);
	/* A row longer than the public bound is scaled down to it, by a factor of that row
	 * alone. */
	factor = fmin(d->settings->row_scale, 1 / sqrt(squares));
	slope = 1 / (1 + exp(-w->multiplier * factor * dot)) - d->rows->label[i];
	w->multiplier *= 1 - step * gamma;
	c = step * slope * factor / w->multiplier;
	row_subtract_scaled(d->rows, i, c, w->v);
	w->squared_norm += c * (c * squares - 2 * dot);
	if (w->multiplier * w->multiplier * w->squared_norm > radius * radius)
		w->multiplier = radius / sqrt(w->squared_norm);
	if (d->step % NORMALISE_STEPS != 0)
		return;
	w->squared_norm = 0;
	for (size_t k = 0; k < w->n; k++) {
		w->v[k] *= w->multiplier;
		w->squared_norm += w->v[k] * w->v[k];
	}
	w->multiplier = 1;
}

static int run_passes(struct output_descent *d, struct lot_sampler *order,
		      struct training_progress *progress, struct dp_err *err)
{
	for (uint32_t pass = 0; pass < d->settings->passes; pass++) {
		uint32_t n, since = 0;
		const uint32_t *ids = lot_sampler_next(order, &n); /* all records, in a new order */

		for (uint32_t i = 0; i < n; i++) {
			output_step(d, ids[i]);
			if (++since < NORMALISE_STEPS && i + 1 < n)
				continue;
			if (!training_progress_tick(progress, since))
				return dp_fail(err, DP_E_INTERRUPTED, "the training was stopped");
			since = 0;
		}
	}
	return DP_OK;
}

/* Adds noise to every weight. Scaling the weights instead of future rows is postprocessing. */
static void output_release_weights(const struct output_descent *d, struct noise_stream *noise,
				   float *out)
{
	float z[NORMALS_BATCH];

	for (size_t k = 0; k < d->weights.n; k++) {
		double x;

		if (k % NORMALS_BATCH == 0)
			noise_fill_normals(noise, z, NORMALS_BATCH);
		x = (d->weights.multiplier * d->weights.v[k] +
		     d->settings->sigma * z[k % NORMALS_BATCH]) *
		    d->settings->row_scale;
		out[k] = isnan(x) ? 0 : (float)fmin(fmax(x, -(double)FLT_MAX), (double)FLT_MAX);
	}
}

int output_perturbation_train(const struct output_perturbation *o, const struct sparse_rows *train,
			      const struct noise_stream *order, struct noise_stream *noise,
			      struct training_progress *progress, float *w, struct dp_err *err)
{
	const struct sgd everything = { .lot_size = train->n };
	struct output_descent d = { .settings = o, .rows = train };
	struct lot_sampler lots = { .order = NULL };
	int code;

	d.weights.n = (size_t)train->nfeatures + 1;
	d.weights.multiplier = 1;
	d.weights.v = dp_calloc(d.weights.n, sizeof *d.weights.v);
	memset(w, 0, linear_count_weights(train->nfeatures) * sizeof *w);
	code = lot_sampler_init(&lots, order, train->n, &everything, err);
	if (code == DP_OK && o->regularization <= GAMMA_MAX)
		code = run_passes(&d, &lots, progress, err);
	if (code == DP_OK)
		output_release_weights(&d, noise, w);
	lot_sampler_free(&lots);
	free(d.weights.v);
	return code;
}
