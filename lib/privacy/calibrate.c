/* calibrate.c - the other way round: noise, delta, or the most steps for a target
 * epsilon; epsilon over delta. */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6
/* Beyond these no mechanism makes sense, and doubles still have room. */
#define NOISE_LEAST 1e-9
#define NOISE_MOST  1e12
/* Of steps and the like, and of shares. */
#define MOST_TRIED  1e12
#define LEAST_TRIED 1e-12

/* Below 1e-100 delta is beyond every purpose, and 1 is no bound at all. */
#define DELTA_LEAST 1e-100
#define DELTA_MOST  (1 - 1e-9)

/* A number of which epsilon gets less the more there is of it: noise, delta. */
struct calibration {
	int (*ask)(void *ctx, double value, struct dp_epsilon *out, struct dp_err *err);
	void *ctx;
	double least, most, start; /* logs of the values that are tried */
	double step;               /* the first, from the start */
	double target;
	const char *none; /* whose fault it is if nothing is enough */
};

/* log of epsilon over target at exp(x). */
static int try_value(struct calibration *c, double x, double *miss, struct dp_err *err)
{
	struct dp_epsilon e;
	int code = c->ask(c->ctx, exp(x), &e, err);

	if (code != DP_OK)
		return code;
	*miss = e.epsilon <= c->target ? -50 : 50;
	if (e.epsilon > 0 && c->target > 0)
		*miss = fmax(log(e.epsilon / c->target), -50);
	return DP_OK;
}

/* Two values, one too small and one enough. */
static int value_bracket(struct calibration *c, double *lo, double *f_lo, double *hi,
			 double *f_hi, struct dp_err *err)
{
	double f, step = c->step;
	int code = try_value(c, c->start, &f, err);

	*lo = *hi = c->start;
	*f_lo = *f_hi = f;
	while (code == DP_OK && *f_hi > 0) {
		if (*hi >= c->most)
			return dp_fail(err, DP_E_INVALID,
				       "%s brings epsilon down to %g here", c->none,
				       c->target);
		*lo = *hi;
		*f_lo = *f_hi;
		*hi = fmin(*hi + step, c->most);
		step *= step < 1 ? 3 : 1.5;
		code = try_value(c, *hi, f_hi, err);
	}
	while (code == DP_OK && *f_lo <= 0 && *lo > c->least) {
		*hi = *lo;
		*f_hi = *f_lo;
		*lo = fmax(*lo - step, c->least);
		step *= step < 1 ? 3 : 1.5;
		code = try_value(c, *lo, f_lo, err);
	}
	if (code == DP_OK && *f_lo <= 0) { /* the least that is tried will do */
		*hi = *lo;
		*f_hi = *f_lo;
	}
	return code;
}

/* Regula falsi with the Illinois rule; what is kept at the upper end always holds. */
static int value_narrow(struct calibration *c, double *value, struct dp_err *err)
{
	double lo, hi, f_lo, f_hi, x, f;
	int code = value_bracket(c, &lo, &f_lo, &hi, &f_hi, err), last = 0;

	for (int i = 0; code == DP_OK && i < 80 && hi - lo > TOLERANCE && f_lo > 0; i++) {
		x = i % 3 == 2 || !isfinite(f_lo) ? 0.5 * (lo + hi)
						  : hi - f_hi * (hi - lo) / (f_hi - f_lo);
		/* aim a little to the side that keeps the target, else one end stays */
		x = fmin(fmax(x + 0.3 * TOLERANCE, lo + 0.1 * TOLERANCE),
			 hi - 0.1 * TOLERANCE);
		code = try_value(c, x, &f, err);
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
	*value = exp(hi);
	return code;
}

/* The value found, and the answer at that very value. */
static int calibrate(struct calibration *c, double *value, struct dp_epsilon *at,
		     struct dp_err *err)
{
	struct dp_epsilon e;
	double best;
	int code = value_narrow(c, &best, err);

	if (code == DP_OK)
		code = c->ask(c->ctx, best, &e, err);
	if (code == DP_OK && !(e.epsilon <= c->target))
		code = dp_fail(err, DP_E_FAILED, "the value found does not keep epsilon");
	if (code == DP_OK) {
		*value = best;
		*at = e;
	}
	return code;
}

/* ---- a mechanism with one of its keys open ---- */

struct asked {
	const struct dp_mechanism *mechanism;
	struct dp_privacy_prepared *prepared;
	double values[DP_PRIVACY_KEYS_MAX];
	size_t key;
};

static int ask_key(void *ctx, double value, struct dp_epsilon *out, struct dp_err *err)
{
	struct asked *a = ctx;

	a->values[a->key] = value;
	return dp_privacy_eval(a->prepared, a->values, out, err);
}

void dp_privacy_set(const struct dp_mechanism *m, double *values,
		    const struct dp_privacy_key *k, double value)
{
	for (size_t i = 0; i < m->nkeys; i++)
		if (k->group && m->keys[i].group == k->group)
			values[i] = NAN;
	values[dp_privacy_key_place(m, k)] = value;
}

/* False without memory; free a->prepared in either case. */
static bool asked_open(struct asked *a, const struct dp_mechanism *m,
		       const double *values, const struct dp_privacy_key *k)
{
	a->mechanism = m;
	a->key = dp_privacy_key_place(m, k);
	memcpy(a->values, values, m->nkeys * sizeof *values);
	dp_privacy_set(m, a->values, k, NAN);
	a->prepared = dp_privacy_prepare(m);
	return a->prepared;
}

/* Where loss distributions answer, the Renyi accountant is asked first: it takes a
 * thousandth of the time, its epsilon is never less, and what keeps the target there is
 * close to what is sought. False: there is no such accountant, or it was not chosen. */
static bool rough_values(const struct dp_mechanism *m, const double *values,
			 double rough[DP_PRIVACY_KEYS_MAX])
{
	double chosen = dp_privacy_value(m, values, m->accountant);

	if (!m->accountant)
		return false;
	if (isnan(chosen))
		chosen = m->accountant->otherwise;
	if (chosen != DP_PRIVACY_PLD)
		return false;
	memcpy(rough, values, m->nkeys * sizeof *rough);
	rough[dp_privacy_key_place(m, m->accountant)] = DP_PRIVACY_RDP;
	return true;
}

int dp_privacy_noise(const struct dp_mechanism *m, const double *values, double target,
		     double *noise, struct dp_epsilon *at, struct dp_err *err)
{
	struct asked a = { 0 };
	struct calibration c = {
		.ask = ask_key,
		.ctx = &a,
		.least = log(NOISE_LEAST),
		.target = target,
		.none = "no amount of noise",
		.step = 1,
	};
	double rough[DP_PRIVACY_KEYS_MAX], near;
	int code;

	if (!(target > 0) || isinf(target))
		return dp_fail(err, DP_E_INVALID, "the target epsilon must be above 0");
	if (!m->noise)
		return dp_fail(err, DP_E_INVALID, "mechanism %s has no noise to choose",
			       m->name);
	c.most = log(fmin(m->noise->hi, NOISE_MOST));
	c.start = fmin(c.most, 0);
	if (rough_values(m, values, rough) &&
	    dp_privacy_noise(m, rough, target, &near, at, NULL) == DP_OK) {
		c.start = fmin(fmax(log(near), c.least), c.most);
		c.step = 0.05;
	}
	code = asked_open(&a, m, values, m->noise)
		       ? calibrate(&c, noise, at, err)
		       : dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	dp_privacy_prepared_free(a.prepared);
	return code;
}

void dp_privacy_set_noise(const struct dp_mechanism *m, double *values, double noise)
{
	dp_privacy_set(m, values, m->noise, noise);
}

/* ---- delta at an epsilon ---- */

static int check_epsilon(double epsilon, struct dp_err *err)
{
	return epsilon >= 0 && isfinite(epsilon)
		       ? DP_OK
		       : dp_fail(err, DP_E_INVALID,
				 "epsilon must be a number, 0 or above");
}

static int calibrate_delta(struct calibration *c, struct dp_epsilon *at,
			   struct dp_err *err)
{
	double delta;

	c->least = log(DELTA_LEAST);
	c->most = log(DELTA_MOST);
	c->start = log(1e-6);
	c->step = 1;
	c->none = "no delta below 1";
	return calibrate(c, &delta, at, err);
}

int dp_privacy_delta(const struct dp_mechanism *m, const double *values, double epsilon,
		     struct dp_epsilon *at, struct dp_err *err)
{
	struct asked a = { 0 };
	struct calibration c = { .ask = ask_key, .ctx = &a, .target = epsilon };
	struct dp_epsilon pure = { .epsilon = INFINITY };
	int code = check_epsilon(epsilon, err);

	if (code != DP_OK)
		return code;
	if (!m->delta)
		return dp_fail(err, DP_E_INVALID, "mechanism %s has no delta", m->name);
	if (!asked_open(&a, m, values, m->delta))
		code = dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	else if (!m->delta->needed)
		code = ask_key(&a, 0, &pure, err);
	if (code == DP_OK && pure.epsilon <= epsilon)
		*at = pure;
	else if (code == DP_OK && m->delta->hi == 0)
		code = dp_fail(err, DP_E_INVALID,
			       "mechanism %s is purely private with epsilon %g: at a "
			       "smaller one its delta is not known",
			       m->name, pure.epsilon);
	else if (code == DP_OK)
		code = calibrate_delta(&c, at, err);
	dp_privacy_prepared_free(a.prepared);
	return code;
}

static int ask_composition(void *ctx, double delta, struct dp_epsilon *out,
			   struct dp_err *err)
{
	struct dp_privacy_composition c = *(const struct dp_privacy_composition *)ctx;

	c.delta = delta;
	return dp_privacy_composition_epsilon(&c, out, err);
}

int dp_privacy_composition_delta(const struct dp_privacy_composition *list,
				 double epsilon, struct dp_epsilon *at,
				 struct dp_err *err)
{
	struct calibration c = { .ask = ask_composition,
				 .ctx = (void *)list,
				 .target = epsilon };
	struct dp_epsilon pure;
	int code = check_epsilon(epsilon, err);

	if (code != DP_OK)
		return code;
	if (ask_composition(c.ctx, 0, &pure, NULL) == DP_OK && pure.epsilon <= epsilon) {
		*at = pure;
		return DP_OK;
	}
	return calibrate_delta(&c, at, err);
}

/* ---- the most of what costs ---- */

/* A value that was tried, and its epsilon; what the mechanism refuses is too much. */
struct tried {
	double value, epsilon;
};

static int try_most(struct asked *a, double value, struct tried *t, struct dp_epsilon *e,
		    struct dp_err *err)
{
	int code = ask_key(a, value, e, err);

	*t = (struct tried){ value, code == DP_OK ? e->epsilon : INFINITY };
	return code == DP_E_INVALID ? DP_OK : code;
}

/* The next value between two: where log epsilon, as a line in the log of the value, meets
 * the target; every third time the middle, so that it ends. */
static double most_between(const struct tried *lo, const struct tried *hi, double target,
			   bool whole, int round)
{
	double part = log(target / lo->epsilon) / log(hi->epsilon / lo->epsilon), x;
	double room = whole ? 1 : 0.4 * TOLERANCE * hi->value;

	if (round % 3 == 2 || !(part >= 0 && part <= 1))
		x = 0.5 * (lo->value + hi->value);
	else
		x = lo->value * exp(part * log(hi->value / lo->value));
	/* on either side of the line in turn, or one end would stay */
	x += (round % 3 == 1 ? 1 : -1) * (whole ? 0.5 : 0.3 * TOLERANCE * x);
	x = whole ? floor(x + 0.5) : x;
	return fmin(fmax(x, lo->value + room), hi->value - room);
}

/* From `lo`, which keeps the target, up to where the next no longer does: a whole number
 * or, where fractions are allowed, to a relative 1e-6. */
static int most_search(struct asked *a, struct tried lo, double factor, double target,
		       double *value, struct dp_epsilon *at, struct dp_err *err)
{
	const struct dp_privacy_key *k = &a->mechanism->keys[a->key];
	bool whole = dp_privacy_key_whole(a->mechanism, a->values, k);
	double most = fmin(k->hi, MOST_TRIED);
	struct tried hi = lo, mid;
	struct dp_epsilon e;
	int code = DP_OK;

	while (code == DP_OK && hi.epsilon <= target && hi.value < most) {
		double next = fmax(factor * hi.value, whole ? hi.value + 1 : 0);

		lo = hi;
		factor = fmax(factor, fmin(factor * factor, 2));
		code = try_most(a, fmin(whole ? floor(next) : next, most), &hi, &e, err);
		if (code == DP_OK && hi.epsilon <= target)
			*at = e;
	}
	if (hi.epsilon <= target)
		lo = hi;
	for (int i = 0;
	     code == DP_OK && hi.value - lo.value > (whole ? 1 : TOLERANCE * hi.value);
	     i++) {
		double next = most_between(&lo, &hi, target, whole, i);

		code = try_most(a, next, &mid, &e, err);
		if (code == DP_OK && mid.epsilon <= target)
			*at = e;
		*(mid.epsilon <= target ? &lo : &hi) = mid;
	}
	*value = lo.value;
	return code;
}

static int most_from(struct asked *a, const struct dp_privacy_key *k, double target,
		     struct tried *from, struct dp_epsilon *at, struct dp_err *err)
{
	double least = k->lo;
	int code;

	if (k->lo_open)
		least = dp_privacy_key_whole(a->mechanism, a->values, k) ? 1
									 : LEAST_TRIED;
	code = ask_key(a, least, at, err);
	*from = (struct tried){ least, at->epsilon };
	if (code == DP_OK && at->epsilon > target)
		code = dp_fail(err, DP_E_INVALID,
			       "even with %s %g epsilon is %g, more than %g", k->name,
			       least, at->epsilon, target);
	return code;
}

int dp_privacy_most(const struct dp_mechanism *m, const double *values,
		    const struct dp_privacy_key *k, double target, double *value,
		    struct dp_epsilon *at, struct dp_err *err)
{
	double rough[DP_PRIVACY_KEYS_MAX], near = NAN, factor = 2;
	struct tried from = { 0 };
	struct asked a = { 0 };
	int code = DP_OK;

	if (!(target > 0) || isinf(target))
		return dp_fail(err, DP_E_INVALID, "the target epsilon must be above 0");
	if (!k->costs)
		return dp_fail(err, DP_E_INVALID,
			       "'%s' is not solved for: more of it does not always cost "
			       "more",
			       k->name);
	if (!asked_open(&a, m, values, k)) {
		dp_privacy_prepared_free(a.prepared);
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	}
	if (rough_values(m, values, rough) &&
	    dp_privacy_most(m, rough, k, target, &near, at, NULL) == DP_OK)
		code = try_most(&a, near, &from, at, err);
	if (code == DP_OK && from.value > 0 && from.epsilon <= target)
		factor = 1.05;
	else if (code == DP_OK)
		code = most_from(&a, k, target, &from, at, err);
	if (code == DP_OK)
		code = most_search(&a, from, factor, target, value, at, err);
	dp_privacy_prepared_free(a.prepared);
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
