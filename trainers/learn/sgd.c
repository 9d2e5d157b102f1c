/* sgd.c - what DP-SGD and DP-Adam have in common, whatever the model. */
#include "trainers/learn/learn.h"

#include "linalg/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define MEAN_DECAY   0.9
#define SQUARE_DECAY 0.999
#define KAPPA        1e-8
#define NEGLIGIBLE   1e-30f

/* Settings that single precision can hold. A float that is 2^25 times an addend does not
 * change when the addend is added, so what grows by additions of at most x stays below
 * 2^26 x, however many there are. With these bounds a sum of gradients stays below 2^66,
 * a step of SGD below 2^99 and a weight below 2^126, for any records. */
#define RATE_MAX  0x1p32
#define CLIP_MAX  0x1p40
#define CLIP_MIN  0x1p-100 /* products with subnormal results are rounded coarsely */
#define NOISE_MAX 0x1p50

/* The accountant's own rule: the current rounding mode is half to even. */
static uint64_t epoch_steps(const struct sgd *s, uint32_t n)
{
	double steps = rint((double)n / s->lot);

	return steps < 1 ? 1 : (uint64_t)steps;
}

uint64_t sgd_steps(const struct sgd *s, uint32_t n)
{
	return s->epochs * epoch_steps(s, n);
}

int sgd_walk(const struct sgd *s, uint32_t n,
	     int (*leg)(void *training, uint64_t steps, struct dp_err *err), void *training,
	     struct dp_err *err)
{
	const struct walk *walk = s->walk;
	size_t waypoints = walk ? walk->n : 0;
	uint64_t an_epoch = epoch_steps(s, n);
	uint32_t done = 0;
	int code = DP_OK;

	for (size_t i = 0; i < waypoints && code == DP_OK; i++) {
		uint32_t to = walk->epochs[i];

		code = leg(training, (to - done) * an_epoch, err);
		if (code == DP_OK)
			code = walk->look(walk->who, to, err);
		done = to;
	}
	return code == DP_OK ? leg(training, (s->epochs - done) * an_epoch, err) : code;
}

double sgd_noise_sd(const struct sgd *s)
{
	double clip = isinf(s->clip) ? s->noise_clip : s->clip;

	if (s->noise == 0) /* and not 0 times infinity */
		return 0;
	return s->noise * clip * (s->poisson ? 1 : 2);
}

double sgd_clip(const struct sgd *s)
{
	return isinf(s->clip) ? CLIP_MAX : s->clip;
}

bool sgd_in_range(const struct sgd *s)
{
	double sd = sgd_noise_sd(s), unit = s->rate / s->lot;

	if (s->rate > RATE_MAX || sgd_clip(s) > CLIP_MAX || sgd_clip(s) < CLIP_MIN)
		return false;
	if (s->rate > 0 && unit < (double)FLT_MIN)
		return false;
	if (s->noise == 0)
		return true;
	/* rounded to a subnormal number, noise could be less than is accounted for */
	return sd <= NOISE_MAX && sd >= (double)FLT_MIN &&
	       (s->rate == 0 || unit * sd >= (double)FLT_MIN);
}

static int skip_steps(void *pulse, uint64_t steps, struct dp_err *err)
{
	if (pulse_beat(pulse, steps))
		return DP_OK;
	return dp_fail(err, DP_E_INTERRUPTED, "the training was stopped");
}

int sgd_diverge(const struct sgd *s, uint32_t records, struct pulse *pulse, float *w, size_t n,
		struct dp_err *err)
{
	for (size_t i = 0; i < n; i++)
		w[i] = NAN;
	return sgd_walk(s, records, skip_steps, pulse, err);
}

float sgd_clip_factor(double clip, double squares, double slack)
{
	/* a division, a root and two products in double, each right to half a unit */
	const double ours = 1 - 4 * DBL_EPSILON;
	double limit;
	float rounded;

	if (!isfinite(squares))
		return 0;
	limit = clip / sqrt(squares) * (ours * sqrt(1 - slack));
	rounded = (float)limit;
	return rounded > limit ? nextafterf(rounded, 0) : rounded;
}

int adam_init(struct adam *a, size_t n, struct dp_err *err)
{
	*a = (struct adam){ .n = n, .mean_bias = 1, .square_bias = 1 };
	a->mean = calloc(n, sizeof *a->mean);
	a->square = calloc(n, sizeof *a->square);
	if (a->mean && a->square)
		return DP_OK;
	adam_free(a);
	return dp_fail(err, DP_E_NOMEM, "no memory for the moments of %zu weights", n);
}

void adam_free(struct adam *a)
{
	free(a->mean);
	free(a->square);
	a->mean = a->square = NULL;
}

DP_KERNELS

/* w -= rate * mean / (root * sqrt(square) + kappa), where rate and root carry the
 * corrections for the start at zero. gcc needs -fno-math-errno to make vectors of it. */
DP_SIMD
static void adam_move(size_t n, float rate, float root, float scale, const float *restrict g,
		      float *restrict mean, float *restrict square, float *restrict w)
{
	for (size_t i = 0; i < n; i++) {
		float x = scale * g[i];
		float mu = (float)MEAN_DECAY * mean[i] + (float)(1 - MEAN_DECAY) * x;
		float nu = (float)SQUARE_DECAY * square[i] + (float)(1 - SQUARE_DECAY) * (x * x);

		/* without noise, the mean of a feature that is not seen again would
		 * become subnormal, too */
		mean[i] = fabsf(mu) < NEGLIGIBLE ? 0 : mu;
		square[i] = nu;
		w[i] -= rate * mu / (root * sqrtf(nu) + (float)KAPPA);
	}
}

DP_KERNELS_END

/* beta to the power of one step more. What no longer counts beside 1 becomes 0, before
 * it is a subnormal number, which are slow. */
static double decayed(double x, double beta)
{
	return x > 0x1p-60 ? x * beta : 0;
}

void adam_step(struct adam *a, double rate, double scale, const float *g, float *w)
{
	a->mean_bias = decayed(a->mean_bias, MEAN_DECAY);
	a->square_bias = decayed(a->square_bias, SQUARE_DECAY);
	adam_move(a->n, (float)(rate / (1 - a->mean_bias)), (float)(1 / sqrt(1 - a->square_bias)),
		  (float)scale, g, a->mean, a->square, w);
}

bool all_finite(const float *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(w[i]))
			return false;
	return true;
}
