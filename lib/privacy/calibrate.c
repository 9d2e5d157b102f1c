/* calibrate.c - the other way round: noise for a target epsilon, epsilon over delta. */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6
/* Beyond these no mechanism makes sense, and doubles still have room. */
#define NOISE_LEAST 1e-9
#define NOISE_MOST  1e12

struct calibration {
	struct dp_privacy_prepared *prepared;
	double values[DP_PRIVACY_KEYS_MAX];
	size_t key; /* place of the noise */
	double target;
	struct dp_epsilon at; /* of the last noise that kept the target */
};

/* log of epsilon over target at exp(log_noise); remembers answers within it. */
static int try_noise(struct calibration *c, double log_noise, double *miss,
		     struct dp_err *err)
{
	struct dp_epsilon e;
	int code;

	c->values[c->key] = exp(log_noise);
	code = dp_privacy_eval(c->prepared, c->values, &e, err);
	if (code != DP_OK)
		return code;
	*miss = fmax(log(e.epsilon / c->target), -50);
	if (e.epsilon <= c->target)
		c->at = e;
	return DP_OK;
}

/* Two noises, one too small and one enough. */
static int noise_bracket(struct calibration *c, double *lo, double *f_lo, double *hi,
			 double *f_hi, struct dp_err *err)
{
	const double least = log(NOISE_LEAST), most = log(NOISE_MOST);
	double x = 0, f, step = 1;
	int code = try_noise(c, x, &f, err);

	*lo = *hi = x;
	*f_lo = *f_hi = f;
	while (code == DP_OK && *f_hi > 0) {
		if (*hi > most)
			return dp_fail(
				err, DP_E_INVALID,
				"no amount of noise brings epsilon down to %g here",
				c->target);
		*lo = *hi;
		*f_lo = *f_hi;
		*hi += step;
		step *= 1.5;
		code = try_noise(c, *hi, f_hi, err);
	}
	while (code == DP_OK && *f_lo <= 0 && *lo > least) {
		*hi = *lo;
		*f_hi = *f_lo;
		*lo -= step;
		step *= 1.5;
		code = try_noise(c, *lo, f_lo, err);
	}
	return code;
}

/* Regula falsi with the Illinois rule; what is kept at the upper end always holds. */
static int noise_narrow(struct calibration *c, double *noise, struct dp_err *err)
{
	double lo, hi, f_lo, f_hi, x, f;
	int code = noise_bracket(c, &lo, &f_lo, &hi, &f_hi, err), last = 0;

	for (int i = 0; code == DP_OK && i < 80 && hi - lo > TOLERANCE && f_lo > 0; i++) {
		x = i % 3 == 2 || !isfinite(f_lo) ? 0.5 * (lo + hi)
						  : hi - f_hi * (hi - lo) / (f_hi - f_lo);
		/* aim a little to the side that keeps the target, else one end stays */
		x = fmin(fmax(x + 0.3 * TOLERANCE, lo + 0.1 * TOLERANCE),
			 hi - 0.1 * TOLERANCE);
		code = try_noise(c, x, &f, err);
		if (f <= 0) {
			hi = x, f_hi = f;
			f_lo *= last == 1 ? 0.5 : 1;
			last = 1;
		} else {
			lo = x, f_lo = f;
			f_hi *= last == -1 ? 0.5 : 1;
			last = -1;
		}
	}
	*noise = exp(hi);
	return code;
}

void dp_privacy_set_noise(const struct dp_mechanism *m, double *values, double noise)
{
	for (size_t i = 0; i < m->nkeys; i++)
		if (m->noise->group && m->keys[i].group == m->noise->group)
			values[i] = NAN;
	values[dp_privacy_key_place(m, m->noise)] = noise;
}

int dp_privacy_noise(const struct dp_mechanism *m, const double *values, double target,
		     double *noise, struct dp_epsilon *at, struct dp_err *err)
{
	struct calibration c = { .target = target };
	double best;
	int code;

	if (!(target > 0) || isinf(target))
		return dp_fail(err, DP_E_INVALID, "the target epsilon must be above 0");
	if (!m->noise)
		return dp_fail(err, DP_E_INVALID, "mechanism %s has no noise to choose",
			       m->name);
	c.key = dp_privacy_key_place(m, m->noise);
	c.prepared = dp_privacy_prepare(m);
	if (!c.prepared)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	memcpy(c.values, values, m->nkeys * sizeof *values);
	dp_privacy_set_noise(m, c.values, 1);
	code = noise_narrow(&c, &best, err);
	if (code == DP_OK) { /* what is handed out is what was evaluated */
		c.values[c.key] = best;
		code = dp_privacy_epsilon(m, c.values, &c.at, err);
	}
	if (code == DP_OK && c.at.epsilon > target)
		code = dp_fail(err, DP_E_FAILED, "the noise found does not keep epsilon");
	if (code == DP_OK) {
		*noise = best;
		*at = c.at;
	}
	dp_privacy_prepared_free(c.prepared);
	return code;
}

int dp_privacy_curve(const struct dp_mechanism *m, const double *values,
		     const double *deltas, size_t n, struct dp_epsilon *out,
		     struct dp_err *err)
{
	struct dp_privacy_prepared *p;
	double v[DP_PRIVACY_KEYS_MAX];
	int code = DP_OK;

	if (!m->delta)
		return dp_fail(err, DP_E_INVALID, "mechanism %s has no delta", m->name);
	p = dp_privacy_prepare(m);
	if (!p)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	memcpy(v, values, m->nkeys * sizeof *v);
	for (size_t i = 0; code == DP_OK && i < n; i++) {
		v[dp_privacy_key_place(m, m->delta)] = deltas[i];
		code = dp_privacy_eval(p, v, &out[i], err);
	}
	dp_privacy_prepared_free(p);
	return code;
}
