/* sgd.c - the parts of DP-SGD and DP-Adam that do not depend on the model. */
#include "trainers/learn/learn.h"

#include "linalg/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ADAM_BETA1        0.9
#define ADAM_BETA2        0.999
#define ADAM_KAPPA        1e-8
#define NEGLIGIBLE_MOMENT 1e-30f

/* Limits within which single precision cannot overflow. A float 2^25 times an addend does not
 * change when it is added, so that a sum of terms up to x stays below 2^26 x for any number of
 * terms. With these limits a sum of gradients stays below 2^66, a step of SGD below 2^99 and a
 * weight below 2^126, for any records. */
#define LEARNING_RATE_MAX 0x1p32
#define CLIP_MAX          0x1p40
#define CLIP_MIN          0x1p-100 /* products with subnormal results are inaccurate */
#define NOISE_SD_MAX      0x1p50

/* As in the accountant: rounds half to even, the current rounding mode. */
static uint64_t epoch_steps(const struct sgd *s, uint32_t n)
{
	double steps = rint((double)n / s->lot_size);

	return steps < 1 ? 1 : (uint64_t)steps;
}

uint64_t sgd_total_steps(const struct sgd *s, uint32_t n)
{
	return s->epochs * epoch_steps(s, n);
}

int sgd_run_with_checkpoints(const struct sgd *s, uint32_t n,
			     int (*leg)(void *training, uint64_t steps, struct dp_err *err),
			     void *training, struct dp_err *err)
{
	const struct training_checkpoints *checkpoints = s->checkpoints;
	size_t waypoints = checkpoints ? checkpoints->n : 0;
	uint64_t an_epoch = epoch_steps(s, n);
	uint32_t done = 0;
	int code = DP_OK;

	for (size_t i = 0; i < waypoints && code == DP_OK; i++) {
		uint32_t to = checkpoints->epochs[i];

		code = leg(training, (to - done) * an_epoch, err);
		if (code == DP_OK)
			code = checkpoints->on_checkpoint(checkpoints->arg, to, err);
		done = to;
	}
	return code == DP_OK ? leg(training, (s->epochs - done) * an_epoch, err) : code;
}

double sgd_noise_sd(const struct sgd *s)
{
	double clip = isinf(s->clip) ? s->noise_clip : s->clip;

	if (s->noise_multiplier == 0) /* avoids 0 times infinity */
		return 0;
	return s->noise_multiplier * clip * (s->is_poisson ? 1 : 2);
}

double sgd_clip_norm(const struct sgd *s)
{
	return isinf(s->clip) ? CLIP_MAX : s->clip;
}

bool sgd_in_range(const struct sgd *s)
{
	double sd = sgd_noise_sd(s), unit = s->learning_rate / s->lot_size;

	if (s->learning_rate > LEARNING_RATE_MAX || sgd_clip_norm(s) > CLIP_MAX ||
	    sgd_clip_norm(s) < CLIP_MIN)
		return false;
	if (s->learning_rate > 0 && unit < (double)FLT_MIN)
		return false;
	if (s->noise_multiplier == 0)
		return true;
	/* subnormal noise could be smaller than accounted for */
	return sd <= NOISE_SD_MAX && sd >= (double)FLT_MIN &&
	       (s->learning_rate == 0 || unit * sd >= (double)FLT_MIN);
}

static int sgd_skip_steps(void *pulse, uint64_t steps, struct dp_err *err)
{
	if (training_progress_tick(pulse, steps))
		return DP_OK;
	return dp_fail(err, DP_E_INTERRUPTED, "the training was stopped");
}

int sgd_fill_diverged(const struct sgd *s, uint32_t records, struct training_progress *progress,
		      float *w, size_t n, struct dp_err *err)
{
	for (size_t i = 0; i < n; i++)
		w[i] = NAN;
	return sgd_run_with_checkpoints(s, records, sgd_skip_steps, progress, err);
}

float sgd_clip_factor(double clip, double squares, double slack)
{
	/* a division, a root and two products in double, each correct to half a unit */
	const double ours = 1 - 4 * DBL_EPSILON;
	double limit;
	float rounded;

	if (!isfinite(squares))
		return 0;
	limit = clip / sqrt(squares) * (ours * sqrt(1 - slack));
	rounded = (float)limit;
	return rounded > limit ? nextafterf(rounded, 0) : rounded;
}

void adam_init(struct adam *a, size_t n)
{
	*a = (struct adam){ .n = n, .first_bias = 1, .second_bias = 1 };
	a->first_moment = dp_calloc(n, sizeof *a->first_moment);
	a->second_moment = dp_calloc(n, sizeof *a->second_moment);
}

void adam_free(struct adam *a)
{
	free(a->first_moment);
	free(a->second_moment);
	a->first_moment = a->second_moment = NULL;
}

DP_SIMD_BEGIN

/* w -= rate * mean / (root * sqrt(square) + kappa). rate and root include the corrections for the
 * start at zero. gcc vectorises it only with -fno-math-errno. */
DP_SIMD
static void adam_update_weights(size_t n, float rate, float root, float scale,
				const float *restrict g, float *restrict mean,
				float *restrict square, float *restrict w)
{
	for (size_t i = 0; i < n; i++) {
		float x = scale * g[i];
		float mu = (float)ADAM_BETA1 * mean[i] + (float)(1 - ADAM_BETA1) * x;
		float nu = (float)ADAM_BETA2 * square[i] + (float)(1 - ADAM_BETA2) * (x * x);

		/* without noise, the mean of an unused feature would become subnormal */
		mean[i] = fabsf(mu) < NEGLIGIBLE_MOMENT ? 0 : mu;
		square[i] = nu;
		w[i] -= rate * mu / (root * sqrtf(nu) + (float)ADAM_KAPPA);
	}
}

DP_SIMD_END

/* Multiplies x by beta; 0 once x is negligible against 1, since subnormal numbers are slow. */
static double decay_bias(double x, double beta)
{
	return x > 0x1p-60 ? x * beta : 0;
}

void adam_step(struct adam *a, double rate, double scale, const float *g, float *w)
{
	a->first_bias = decay_bias(a->first_bias, ADAM_BETA1);
	a->second_bias = decay_bias(a->second_bias, ADAM_BETA2);
	adam_update_weights(a->n, (float)(rate / (1 - a->first_bias)),
			    (float)(1 / sqrt(1 - a->second_bias)), (float)scale, g, a->first_moment,
			    a->second_moment, w);
}

bool weights_are_finite(const float *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(w[i]))
			return false;
	return true;
}
