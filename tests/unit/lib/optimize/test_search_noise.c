/* test_search_noise.c - what the search makes of noise: where it is, what it may tell,
 * and when a point is measured again. */
#include "base/rng.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "tests/unit/support/propose_once.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	MOST = 80,
	INITIAL = 10
};

static struct dp_study *noise_study(int runs, const char *space)
{
	char text[1024];
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	int len = snprintf(text, sizeof text,
			   "study: t\nseed: 3\ntrainer: {command: [none], runs: %d}\n"
			   "parameters:\n%s"
			   "objectives:\n  e: {metric: e, transform: log}\n"
			   "  u: {metric: u, transform: logit}\n"
			   "anti_ideal: {e: 20, u: 1}\n"
			   "search: {method: dpareto, evaluations: 80, initial: %d}\n",
			   runs, space, INITIAL);

	if (dp_study_parse(text, (size_t)len, "t", "/", &s, &wrong, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&wrong);
	return s;
}

static const char square[] = "  a: {type: float, range: [0, 1]}\n"
			     "  b: {type: float, range: [0, 1]}\n";
static const char steps[] = "  a: {type: int, range: [0, 30]}\n"
			    "  b: {type: int, range: [0, 30]}\n";

/* One run's error of sd `noise`, or a rough landscape without any. */
struct trainer {
	double noise, rough;
	int runs;
};

static void measure(const struct trainer *t, struct dp_observation *k)
{
	double span = k->x[0] > 1 || k->x[1] > 1 ? 30 : 1, a = k->x[0] / span;
	double b = k->x[1] / span, u, sum = 0, square_sum = 0;
	struct dp_rng r;

	dp_rng_init(&r, 8, DP_RNG_TEST, k->trial, 0);
	u = 0.5 - 0.35 * a + 0.4 * (b - 0.6) * (b - 0.6) + t->rough * sin(300 * a) * sin(270 * b);
	for (int i = 0; i < t->runs; i++) {
		double one = fmin(fmax(u + t->noise * dp_rng_normal(&r), 0.001), 0.999);

		sum += one;
		square_sum += one * one;
	}
	k->y[0] = 0.1 + 10 * a;
	k->y[1] = sum / t->runs;
	k->var[0] = NAN;
	k->var[1] = t->runs > 1 ? fmax(0, square_sum / t->runs - k->y[1] * k->y[1]) / (t->runs - 1)
				: NAN;
}

struct course {
	struct dp_observation known[MOST];
	bool rerun[MOST];
};

/* Trials from..to-1; p NULL: each without a memory. */
static void go(struct course *c, const struct dp_study *s, struct dp_proposer *p,
	       const struct trainer *t, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct dp_history h = { .observations = c->known, .n = i };
		struct dp_observation *k = &c->known[i];
		struct dp_proposal out;
		struct dp_err err;
		int code = p ? dp_proposer_propose(p, &h, (uint32_t)i, NULL, &out, &err)
			     : propose_once(s, &h, (uint32_t)i, NULL, &out, &err);

		if (code != DP_OK)
			fail_msg("%s", err.msg);
		*k = (struct dp_observation){ .trial = (uint32_t)i };
		memcpy(k->x, out.x, sizeof out.x);
		c->rerun[i] = strcmp(out.source, "re-run") == 0;
		measure(t, k);
	}
}

static size_t count_at(const struct course *c, size_t n, const double *x)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += c->known[i].x[0] == x[0] && c->known[i].x[1] == x[1];
	return count;
}

static size_t count_replicates(const struct course *c, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += c->rerun[i];
	return count;
}

/* With much noise and one run: now and then a point again, none a third time, nothing
 * else twice; and all of it repeats. */
static void points_are_measured_again(void **state)
{
	const struct trainer t = { .noise = 0.1, .runs = 1 };
	struct dp_study *s = noise_study(1, square);
	struct dp_proposer *p = dp_proposer_new(s);
	static struct course c, cold, resumed;
	size_t n = 64, lost = 41;

	(void)state;
	go(&c, s, p, &t, 0, n);
	assert_true(count_replicates(&c, n) >= 2 && count_replicates(&c, n) <= n / 16);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(count_at(&c, i, c.known[i].x), c.rerun[i] ? 1 : 0);
		assert_true(count_replicates(&c, i) <= i / 16);
	}
	go(&cold, s, NULL, &t, 0, n);
	go(&resumed, s, NULL, &t, 0, lost);
	dp_proposer_free(p);
	p = dp_proposer_new(s);
	go(&resumed, s, p, &t, lost, n);
	assert_memory_equal(&c, &cold, sizeof c);
	assert_memory_equal(&c, &resumed, sizeof c);
	dp_proposer_free(p);
	dp_study_free(s);
}

/* Where runs tell the noise, or points are few, nothing is measured again. */
static void no_point_twice_without_need(void **state)
{
	const struct trainer several = { .noise = 0.1, .runs = 4 };
	const struct trainer one = { .noise = 0.1, .runs = 1 };
	const struct trainer smooth = { .runs = 1 };
	static struct course c;

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct dp_study *s = noise_study(k == 0 ? 4 : 1, k == 1 ? steps : square);
		struct dp_proposer *p = dp_proposer_new(s);

		go(&c, s, p, k == 0 ? &several : k == 1 ? &one : &smooth, 0, 48);
		for (size_t i = 0; i < 48; i++)
			assert_int_equal(count_at(&c, i, c.known[i].x), 0);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* A rough function passes for noise until a point repeats to the last bit: from then on
 * there is none, and the front is what was observed. */
static void equal_bits_end_the_doubt(void **state)
{
	const struct trainer t = { .rough = 0.15, .runs = 1 };
	struct dp_study *s = noise_study(1, square);
	struct dp_proposer *p = dp_proposer_new(s);
	static struct course c;
	struct dp_history h = { .observations = c.known, .n = MOST };
	size_t index[MOST], n;
	double y[MOST * 2];
	struct dp_err err;

	(void)state;
	go(&c, s, p, &t, 0, MOST);
	assert_true(count_replicates(&c, MOST) >= 1 && count_replicates(&c, MOST) <= 2);
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	assert_true(p->output[1].is_deterministic && dp__noise_is_negligible(p, 1));
	n = dp_surrogate_posterior_front(p, &h, index, y);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(y + 2 * i, c.known[index[i]].y, 2 * sizeof *y);
	dp_proposer_free(p);
	dp_study_free(s);
}

/* Random points of the square, measured. */
static void sample(struct dp_observation *known, size_t n, const struct trainer *t)
{
	struct dp_rng r;

	dp_rng_init(&r, 4, DP_RNG_TEST, 1, 0);
	for (size_t i = 0; i < n; i++) {
		known[i] = (struct dp_observation){ .trial = (uint32_t)i };
		known[i].x[0] = dp_rng_uniform(&r);
		known[i].x[1] = dp_rng_uniform(&r);
		measure(t, &known[i]);
	}
}

/* Results of a study with a wider range are not measured again where this one ends. */
static void no_rerun_outside_of_the_ranges(void **state)
{
	const struct trainer t = { .noise = 0.05, .runs = 1 };
	struct dp_study *s = noise_study(1, square);
	static struct dp_observation known[MOST];
	struct dp_history h = { .observations = known, .n = 48 };
	struct dp_proposal out;
	struct dp_err err;

	(void)state;
	sample(known, 48, &t);
	assert_int_equal(propose_once(s, &h, 48, NULL, &out, &err), DP_OK);
	assert_string_equal(out.source, "re-run");
	for (size_t i = 0; i < 48; i++)
		known[i].x[1] += 1;
	assert_int_equal(propose_once(s, &h, 48, NULL, &out, &err), DP_OK);
	assert_string_equal(out.source, "ehvi");
	assert_true(out.x[1] >= 0 && out.x[1] <= 1);
	dp_study_free(s);
}

/* Runs that spread ten times as much at one end: the noise of a result is near the one
 * of its like, not near the mean of all. */
static void noise_follows_the_value(void **state)
{
	const struct trainer t = { .noise = 0.01, .runs = 4 };
	struct dp_study *s = noise_study(4, square);
	struct dp_proposer *p = dp_proposer_new(s);
	static struct dp_observation known[MOST];
	struct dp_history h = { .observations = known, .n = MOST };
	double unit, low, high;
	struct dp_err err;

	(void)state;
	sample(known, MOST, &t);
	for (size_t i = 0; i < MOST; i++)
		if (known[i].y[1] > 0.35)
			known[i].var[1] *= 100;
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	unit = p->output[1].scale * p->output[1].scale;
	low = dp__noise_variance(p, 1, NULL, log(0.22 / 0.78)) * unit;
	high = dp__noise_variance(p, 1, NULL, log(0.5)) * unit;
	/* a variance of 1e-4 / 4, or 1e-2 / 4, times the slope's square */
	assert_true(low < 6 * 2.5e-5 / pow(0.22 * 0.78, 2));
	assert_true(low > 2.5e-5 / pow(0.22 * 0.78, 2) / 6);
	assert_true(high < 3 * 2.5e-3 * 20.25 && high > 2.5e-3 * 20.25 / 3);
	dp_proposer_free(p);
	dp_study_free(s);
}

/* Runs that differ by rounding only: nothing is known of the noise, and nothing has to be
 * taken away. */
static void runs_that_hardly_differ_are_equal(void **state)
{
	const struct trainer t = { .noise = 1e-12, .runs = 4 };
	struct dp_study *s = noise_study(4, square);
	struct dp_proposer *p = dp_proposer_new(s);
	static struct dp_observation known[MOST];
	struct dp_history h = { .observations = known, .n = MOST };
	struct dp_err err;

	(void)state;
	sample(known, MOST, &t);
	for (size_t i = 0; i < MOST; i++)
		known[i].var[1] = fmax(known[i].var[1], 1e-25);
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	assert_true(!p->output[1].noise_curve.is_known && dp__noise_is_negligible(p, 1));
	dp_proposer_free(p);
	dp_study_free(s);
}

/* What was added to a released metric is known, however smooth the rest looks. */
static void released_noise_is_known(void **state)
{
	const struct trainer t = { .noise = 0, .runs = 1 };
	struct dp_study *s = noise_study(1, square);
	static struct dp_observation known[MOST];
	struct dp_history h = { .observations = known, .n = MOST };
	double told[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct dp_proposer *p = dp_proposer_new(s);
		struct dp_err err;

		sample(known, MOST, &t);
		assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
		assert_int_equal(dp__noise_is_negligible(p, 1), k == 0);
		told[k] = dp__noise_variance(p, 1, NULL, 0) * pow(p->output[1].scale, 2);
		dp_proposer_free(p);
		s->objectives[1].release = (struct dp_metric_release){ 100, 0.1 };
	}
	/* the slope of the logit is 4 there */
	assert_true(told[0] < 0.01 * 16 / 10);
	assert_true(told[1] >= 0.01 * 16 && told[1] < 0.01 * 16 * 1.5);
	dp_study_free(s);
}

/* One run a point: errors of a constant size are larger where the logit is steep, and
 * the fit finds that out. */
static void learned_noise_leans(void **state)
{
	struct dp_study *s = noise_study(1, square);
	static struct dp_observation known[MOST];
	struct dp_history h = { .observations = known, .n = MOST };
	double lean[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		const struct trainer t = { .noise = 0.04, .runs = 1 };
		struct dp_proposer *p = dp_proposer_new(s);
		struct dp_rng r;
		struct dp_err err;

		sample(known, MOST, k ? &t : &(struct trainer){ .runs = 1 });
		dp_rng_init(&r, 9, DP_RNG_TEST, 2, 0);
		for (size_t i = 0; i < MOST; i++) { /* spread the values out */
			double z = log(known[i].y[1] / (1 - known[i].y[1]));

			z = 2.5 * z + 1 + (k ? 0 : 0.4 * dp_rng_normal(&r));
			known[i].y[1] = 1 / (1 + exp(-z));
			if (k)
				known[i].y[1] += 0.04 * dp_rng_normal(&r);
			known[i].y[1] = fmin(fmax(known[i].y[1], 0.001), 0.999);
		}
		assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
		lean[k] = p->output[1].hyper.noise_exponent;
		dp_proposer_free(p);
	}
	assert_true(fabs(lean[0]) < 0.25); /* constant in model space */
	assert_true(lean[1] > 0.4);
	dp_study_free(s);
}

/* The same sd is worth less where noise would hide what it promises. */
static void noise_takes_from_a_gain(void **state)
{
	double gain[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		const struct trainer t = { .noise = 0.002, .runs = 4 };
		struct dp_study *s = noise_study(4, square);
		struct dp_proposer *p = dp_proposer_new(s);
		static struct dp_observation known[MOST];
		struct dp_history h = { .observations = known, .n = 8 };
		struct dp__normal f[2];
		double u[2] = { 0.9, 0.05 }, score;
		struct dp_err err;

		sample(known, 8, &t);
		assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
		if (k) /* the models stay, what a next result would tell does not */
			for (size_t i = 0; i < DP__NOISE_CURVE_POINTS; i++)
				p->output[1].noise_curve.variance[i] *= 1e4;
		dp__acquisition_eval(p, u, 1, 1, true, &score, f, NULL);
		gain[k] = score;
		dp_proposer_free(p);
		dp_study_free(s);
	}
	assert_true(isfinite(gain[0]) && gain[1] < gain[0] - 0.1);
}

/* ---- the variances of the runs ---- */

enum {
	RUNS = 10 /* results in the tests of noise */
};

/* Solves a v = b (n x n) by Gaussian elimination with pivots; a and b are used up. */
static void solve(double (*a)[RUNS], double *b, double *v)
{
	for (size_t c = 0; c < RUNS; c++) {
		size_t best = c;

		for (size_t i = c; i < RUNS; i++)
			best = fabs(a[i][c]) > fabs(a[best][c]) ? i : best;
		for (size_t j = 0; j < RUNS; j++) {
			double swap = a[c][j];

			a[c][j] = a[best][j];
			a[best][j] = swap;
		}
		v[c] = b[best];
		b[best] = b[c];
		b[c] = v[c];
		for (size_t i = c + 1; i < RUNS; i++) {
			double f = a[i][c] / a[c][c];

			for (size_t j = c; j < RUNS; j++)
				a[i][j] -= f * a[c][j];
			b[i] -= f * b[c];
		}
	}
	for (size_t c = RUNS; c-- > 0;) {
		v[c] = b[c];
		for (size_t j = c + 1; j < RUNS; j++)
			v[c] -= a[c][j] * v[j];
		v[c] /= a[c][c];
	}
}

static double logit(double y)
{
	return log(y / (1 - y));
}

/* Matern 5/2 of two places of the one input there is. */
static double covariance(const struct dp_gp_hyper *h, double a, double b)
{
	double c = h->warp[0], r;

	if (fabs(c) > 1e-9) {
		a = expm1(c * a) / expm1(c);
		b = expm1(c * b) / expm1(c);
	}
	r = sqrt(5) * fabs(a - b) / h->length[0];
	return h->signal * (1 + r + r * r / 3) * exp(-r);
}

/* A study of one parameter, its results and the variance of each one's mean. */
static struct dp_study *noisy(struct dp_observation *k)
{
	for (size_t i = 0; i < RUNS; i++) {
		double x = 0.05 + 0.1 * (double)i;

		k[i] = (struct dp_observation){ .trial = (uint32_t)i, .x = { x } };
		k[i].y[0] = 1 + 3 * x + 0.2 * (double)(i % 3);
		k[i].y[1] = 0.8 - 0.6 * x + 0.03 * (double)(i % 4);
		k[i].var[0] = 0.01 * (double)(1 + i * i);
		k[i].var[1] = i % 5 == 1 ? 0 : 1e-3 * (double)(1 + i % 4);
	}
	return noise_study(4, "  x: {type: float, range: [0, 1]}\n");
}

/* K^-1 (y - mean), the mean being that of generalised least squares, which is returned.
 */
static double solve_for_values(double (*a)[RUNS], const double *y, double *w)
{
	double copy[RUNS][RUNS], b[RUNS], one[RUNS], top = 0, sum = 0;

	memcpy(copy, a, sizeof copy);
	memcpy(b, y, sizeof b);
	solve(copy, b, w);
	memcpy(copy, a, sizeof copy);
	for (size_t i = 0; i < RUNS; i++)
		b[i] = 1;
	solve(copy, b, one);
	for (size_t i = 0; i < RUNS; i++) {
		top += w[i];
		sum += one[i];
	}
	for (size_t i = 0; i < RUNS; i++)
		w[i] -= top / sum * one[i];
	return top / sum;
}

/* What standardised values y are around: a model of medium lengths with a noise of a
 * tenth, by the book. */
static void smooth_directly(const struct dp_observation *k, const double *y, double *around)
{
	struct dp_gp_hyper h = { .length = { 0.7 }, .signal = 1 };
	double a[RUNS][RUNS], w[RUNS], mean;

	for (size_t i = 0; i < RUNS; i++)
		for (size_t j = 0; j < RUNS; j++)
			a[i][j] = covariance(&h, k[i].x[0], k[j].x[0]) + (i == j ? 0.1 : 0);
	mean = solve_for_values(a, y, w);
	for (size_t i = 0; i < RUNS; i++) {
		around[i] = mean;
		for (size_t j = 0; j < RUNS; j++)
			around[i] += covariance(&h, k[i].x[0], k[j].x[0]) * w[j];
	}
}

/* The mean run variance near a place, linear between 33 even steps. */
static double mean_nearby(const struct dp_observation *k, size_t o, const double *around, double at)
{
	double lo = INFINITY, hi = -INFINITY, mean[2], step;

	for (size_t i = 0; i < RUNS; i++) {
		lo = fmin(lo, around[i]);
		hi = fmax(hi, around[i]);
	}
	step = (hi - lo) / 32;
	at = fmin((at - lo) / step, 31.999999999);
	for (size_t e = 0; e < 2; e++) {
		double place = lo + (floor(at) + (double)e) * step, sum = 0, weight = 0;

		for (size_t i = 0; i < RUNS; i++) {
			double d = (around[i] - place) / 0.5, w = exp(-d * d / 2) + 1e-9;

			sum += w * k[i].var[o];
			weight += w;
		}
		mean[e] = sum / weight;
	}
	return mean[0] + (at - floor(at)) * (mean[1] - mean[0]);
}

/* Mean and variance at `at` of objective o, from the hyperparameters alone; noise: by
 * the delta method around smooth values, each shrunk to the mean of results of a like
 * value with 3 and 4 degrees of freedom (4 runs). */
static void direct(const struct dp__surrogate_output *out, size_t o, const struct dp_observation *k,
		   double at, double *mean, double *var)
{
	double z[RUNS], y[RUNS], around[RUNS], m = 0, s = 0, kx[RUNS];
	double a[RUNS][RUNS], b[RUNS], w[RUNS], wx[RUNS];

	for (size_t i = 0; i < RUNS; i++) {
		z[i] = o ? logit(k[i].y[o]) : log(k[i].y[o]);
		m += z[i] / RUNS;
	}
	for (size_t i = 0; i < RUNS; i++)
		s += (z[i] - m) * (z[i] - m) / RUNS;
	for (size_t i = 0; i < RUNS; i++)
		y[i] = (z[i] - m) / sqrt(s);
	smooth_directly(k, y, around);
	for (size_t i = 0; i < RUNS; i++) {
		double v = m + sqrt(s) * around[i], u = o ? 1 / (1 + exp(-v)) : exp(v);
		double slope = o ? 1 / (u * (1 - u)) : 1 / u, noise;

		noise = (3 * k[i].var[o] + 4 * mean_nearby(k, o, around, around[i])) / 7 * slope *
			slope / s;
		b[i] = kx[i] = covariance(&out->hyper, k[i].x[0], at);
		for (size_t j = 0; j < RUNS; j++)
			a[i][j] = covariance(&out->hyper, k[i].x[0], k[j].x[0]) +
				  (i == j ? noise : 0);
	}
	*mean = solve_for_values(a, y, w);
	solve(a, b, wx);
	*var = out->hyper.signal;
	for (size_t i = 0; i < RUNS; i++) {
		*mean += kx[i] * w[i];
		*var -= kx[i] * wx[i];
	}
	*mean = m + sqrt(s) * *mean;
	*var *= s;
}

static void run_variances_are_the_noise(void **state)
{
	struct dp_observation k[RUNS];
	struct dp_history h = { .observations = k, .n = RUNS };
	struct dp_study *s = noisy(k);
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_prediction f[2];
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	assert_int_equal(p->n_fitted, RUNS);
	for (double x = 0; x <= 1; x += 0.125) {
		dp_surrogate_predict(p, &x, 1, f, NULL, NULL);
		for (size_t o = 0; o < 2; o++) {
			double mean, var;

			assert_true(p->output[o].gp.jitter == 0);
			direct(&p->output[o], o, k, x, &mean, &var);
			assert_true(fabs(f[o].model_mean - mean) < 1e-9);
			assert_true(fabs(f[o].model_sd * f[o].model_sd - var) < 1e-9);
		}
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

/* Predictions at the results themselves, after a proposal. */
static void predict_noisy(const struct dp_study *s, const struct dp_observation *k,
			  struct dp_prediction (*f)[2])
{
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_history h = { .observations = k, .n = RUNS };
	struct dp_proposal out;
	struct dp_err err;

	assert_int_equal(dp_proposer_propose(p, &h, RUNS, NULL, &out, &err), DP_OK);
	assert_true(out.has_prediction && out.x[0] >= 0 && out.x[0] <= 1);
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	for (size_t i = 0; i < RUNS; i++)
		dp_surrogate_predict(p, k[i].x, 1, f[i], NULL, NULL);
	dp_proposer_free(p);
}

/* Runs that agree to the last digit: all of them tell nothing of the noise, some have
 * the noise of the others. */
static void identical_runs_are_not_exact(void **state)
{
	struct dp_observation k[RUNS];
	struct dp_study *s = noisy(k);
	struct dp_prediction all[RUNS][2], unknown[RUNS][2], some[RUNS][2];

	(void)state;
	for (size_t i = 0; i < RUNS; i++)
		k[i].var[0] = k[i].var[1] = 0;
	predict_noisy(s, k, all);
	for (size_t i = 0; i < RUNS; i++)
		k[i].var[0] = k[i].var[1] = NAN;
	predict_noisy(s, k, unknown);
	assert_memory_equal(all, unknown, sizeof all);
	for (size_t i = 0; i < RUNS; i++)
		k[i].var[0] = k[i].var[1] = i % 2 ? 0.002 : 0;
	predict_noisy(s, k, some);
	for (size_t i = 0; i < RUNS; i++)
		for (size_t o = 0; o < 2; o++) {
			assert_true(isfinite(all[i][o].model_mean) && all[i][o].model_sd > 1e-6);
			assert_true(isfinite(some[i][o].model_mean) && some[i][o].model_sd > 3e-3);
		}
	dp_study_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_measured_again),
		cmocka_unit_test(no_point_twice_without_need),
		cmocka_unit_test(equal_bits_end_the_doubt),
		cmocka_unit_test(no_rerun_outside_of_the_ranges),
		cmocka_unit_test(noise_follows_the_value),
		cmocka_unit_test(runs_that_hardly_differ_are_equal),
		cmocka_unit_test(released_noise_is_known),
		cmocka_unit_test(learned_noise_leans),
		cmocka_unit_test(noise_takes_from_a_gain),
		cmocka_unit_test(run_variances_are_the_noise),
		cmocka_unit_test(identical_runs_are_not_exact),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
