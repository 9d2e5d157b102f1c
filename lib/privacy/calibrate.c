/* calibrate.c - solves for noise, delta or the largest value of a key at a target epsilon. */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6
/* The range of noise: wide enough for every mechanism, and safe for doubles. */
#define NOISE_MIN 1e-9
#define NOISE_MAX 1e12
/* The range of steps and the like, and of rates. */
#define VALUE_MAX 1e12
#define VALUE_MIN 1e-12

/* The range of delta. Smaller ones have no use, and 1 is no bound. */
#define DELTA_MIN 1e-100
#define DELTA_MAX (1 - 1e-9)

/* The work limit of one solve (dp__prepared_work()), about 1.2 seconds; the last evaluation may
 * exceed it. Counted, so that answers do not depend on the machine. Most solves take a tenth. */
#define WORK_MOST DP__WORK_MOST
/* From this work on, a relative 1e-3 is enough for a starting value. */
#define WORK_ROUGH 4e6
#define ROUGH      1e-3
/* Expensive evaluations use this share of the cells first. */
#define SHARE (1 / 8.0)
/* Assumed number of doublings until a value is too large. */
#define STEPS_UP 50
/* If that is too much work, divide by this from the largest value down. */
#define FROM_ABOVE 8

/* The work of a solve, over all accountants that it uses. */
struct effort {
	double (*done)(const void *ctx); /* of the current accountant */
	double before;                   /* of earlier accountants */
	double last;                     /* of the last evaluation */
	double rough;                    /* work from which ROUGH precision is enough */
	double most;                     /* limit */
	bool start;                      /* computes a starting value for another accountant */
	/* True if a limit made the accountant's grids coarser. NULL: no limit. */
	bool (*limited)(const void *ctx);
};

static double effort_done(const struct effort *e, const void *ctx)
{
	return e->before + e->done(ctx);
}

/* An answer on coarser grids only starts the search on full grids, which also needs work. */
static bool effort_coarse(const struct effort *e, const void *ctx)
{
	return e->limited && e->limited(ctx);
}

/* True if one more evaluation would exceed the limit. `gap`: relative width of the bracket. */
static bool effort_spent(const struct effort *e, const void *ctx, double gap)
{
	double left = e->most - e->before;
	double most = e->before + (effort_coarse(e, ctx) ? 0.4 : 1) * left;

	/* the ends may have cost far more than values between, and are poor starting values */
	if (e->start)
		return effort_done(e, ctx) > (gap > 0.05 ? 0.6 * WORK_MOST : most);
	return effort_done(e, ctx) + e->last > most;
}

static double effort_tolerance(const struct effort *e, const void *ctx)
{
	return effort_coarse(e, ctx) || effort_done(e, ctx) > e->rough ? ROUGH : TOLERANCE;
}

/* A search for a value with decreasing epsilon: noise or delta. */
struct value_search {
	int (*epsilon_at)(void *ctx, double value, struct dp_epsilon *out, struct dp_err *err);
	void *ctx;
	double log_min, log_max, log_start; /* logs of the range and the first value */
	double log_step;                    /* the first step */
	double target;
	const char *failure_subject; /* what to blame if no value suffices */
	struct effort effort;
	bool follow;          /* the first step is the error of the start */
	double kept;          /* least log so far that meets the target; NaN: none */
	struct dp_epsilon at; /* the answer there */
};

/* log(epsilon / target) at exp(x). */
static int value_search_try(struct value_search *c, double x, double *miss, struct dp_err *err)
{
	struct dp_epsilon e;
	double before = effort_done(&c->effort, c->ctx);
	int code = c->epsilon_at(c->ctx, exp(x), &e, err);

	if (code != DP_OK)
		return code;
	c->effort.last = effort_done(&c->effort, c->ctx) - before;
	if (e.epsilon <= c->target && !(c->kept <= x)) {
		c->kept = x;
		c->at = e;
	}
	*miss = e.epsilon <= c->target ? -50 : 50;
	if (e.epsilon > 0 && c->target > 0)
		*miss = fmax(log(e.epsilon / c->target), -50);
	return DP_OK;
}

/* Finds two values, one too small and one sufficient. */
static int value_search_bracket(struct value_search *c, double *lo, double *f_lo, double *hi,
				double *f_hi, struct dp_err *err)
{
	double f, step = c->log_step;
	int code = value_search_try(c, c->log_start, &f, err);

	*lo = *hi = c->log_start;
	*f_lo = *f_hi = f;
	if (c->follow && code == DP_OK)
		step = fmin(fmax(1.2 * fabs(f), 2 * TOLERANCE), 0.5);
	while (code == DP_OK && *f_hi > 0) {
		if (*hi >= c->log_max)
			return dp_fail(err, DP_E_INVALID, "%s brings epsilon down to %g here",
				       c->failure_subject, c->target);
		*lo = *hi;
		*f_lo = *f_hi;
		*hi = fmin(*hi + step, c->log_max);
		step *= step < 1 ? 3 : 1.5;
		code = value_search_try(c, *hi, f_hi, err);
	}
	while (code == DP_OK && *f_lo <= 0 && *lo > c->log_min &&
	       !effort_spent(&c->effort, c->ctx, INFINITY)) {
		*hi = *lo;
		*f_hi = *f_lo;
		*lo = fmax(*lo - step, c->log_min);
		step *= step < 1 ? 3 : 1.5;
		code = value_search_try(c, *lo, f_lo, err);
	}
	if (code == DP_OK && *f_lo <= 0) { /* the least value suffices */
		*hi = *lo;
		*f_hi = *f_lo;
	}
	return code;
}

/* Regula falsi with the Illinois rule. The upper end always meets the target. */
static int value_search_narrow(struct value_search *c, double *value, struct dp_err *err)
{
	double lo, hi, f_lo, f_hi, x, f;
	int code = value_search_bracket(c, &lo, &f_lo, &hi, &f_hi, err), last = 0;

	for (int i = 0; code == DP_OK && i < 80 && f_lo > 0 &&
			hi - lo > effort_tolerance(&c->effort, c->ctx) &&
			!effort_spent(&c->effort, c->ctx, hi - lo);
	     i++) {
		double near = effort_tolerance(&c->effort, c->ctx);

		x = i % 3 == 2 || !isfinite(f_lo) ? 0.5 * (lo + hi)
						  : hi - f_hi * (hi - lo) / (f_hi - f_lo);
		/* aim slightly at the side that meets the target, or one end never moves */
		x = fmin(fmax(x + 0.3 * near, lo + 0.1 * near), hi - 0.1 * near);
		code = value_search_try(c, x, &f, err);
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

/* The value, and the answer at exactly that value. */
static int value_search_solve(struct value_search *c, double *value, struct dp_epsilon *at,
			      struct dp_err *err)
{
	double best;
	int code;

	c->kept = NAN;
	code = value_search_narrow(c, &best, err);
	if (code == DP_OK && exp(c->kept) != best)
		code = dp_fail(err, DP_E_FAILED, "the value found does not keep epsilon");
	if (code == DP_OK) {
		*value = best;
		*at = c->at;
	}
	return code;
}

/* Limits grids to a share of their cells, and reports whether one became coarser. */
struct limiter {
	void (*limit)(void *ctx, double share);
	bool (*limited)(const void *ctx);
};

/* For expensive evaluations: solves on coarser grids, which never give a smaller epsilon, then from
 * there on full grids within the work limit. If no grid became coarser, the first answer is
 * final. */
static int calibrate_in_turn(struct value_search *c, const struct limiter *l, double *value,
			     struct dp_epsilon *at, struct dp_err *err)
{
	int code;

	l->limit(c->ctx, SHARE);
	c->effort.limited = l->limited;
	code = value_search_solve(c, value, at, err);
	if (!l->limited(c->ctx))
		return code;
	if (code != DP_OK && code != DP_E_INVALID)
		return code;
	c->follow = code == DP_OK;
	c->log_start = code == DP_OK ? c->kept : c->log_max; /* log_max: no value sufficed */
	c->effort.limited = NULL;
	c->effort.last = 0;
	l->limit(c->ctx, 1);
	return value_search_solve(c, value, at, err);
}

/* ---- a mechanism with one free key ---- */

struct open_key {
	const struct dp_mechanism *mechanism;
	struct dp_mechanism_cache *cache;
	double values[DP_PRIVACY_KEYS_MAX];
	size_t key;
};

static int open_key_epsilon(void *ctx, double value, struct dp_epsilon *out, struct dp_err *err)
{
	struct open_key *a = ctx;

	a->values[a->key] = value;
	return dp_mechanism_cache_epsilon(a->cache, a->values, out, err);
}

static double key_work(const void *ctx)
{
	return dp__prepared_work(((const struct open_key *)ctx)->cache);
}

static void key_limit(void *ctx, double share)
{
	dp__prepared_limit(((struct open_key *)ctx)->cache, share);
}

static bool key_limited(const void *ctx)
{
	return dp__prepared_limited(((const struct open_key *)ctx)->cache);
}

static const struct limiter key_limiter = { key_limit, key_limited };

void dp_privacy_set_value(const struct dp_mechanism *m, double *values,
			  const struct dp_privacy_key *k, double value)
{
	for (size_t i = 0; i < m->nkeys; i++)
		if (k->alternatives_group && m->keys[i].alternatives_group == k->alternatives_group)
			values[i] = NAN;
	values[dp_privacy_key_index(m, k)] = value;
}

/* Free a->cache afterwards. */
static void open_key_init(struct open_key *a, const struct dp_mechanism *m, const double *values,
			  const struct dp_privacy_key *k)
{
	a->mechanism = m;
	a->key = dp_privacy_key_index(m, k);
	memcpy(a->values, values, m->nkeys * sizeof *values);
	dp_privacy_set_value(m, a->values, k, NAN);
	a->cache = dp_mechanism_cache_new(m);
}

/* For loss distributions, solves with the Renyi accountant first: it takes a thousandth of the
 * time, its epsilon is never smaller, and its solution is close. False if there is no such
 * accountant or it was not requested. */
static bool rdp_starting_values(const struct dp_mechanism *m, const double *values,
				double rough[DP_PRIVACY_KEYS_MAX])
{
	double chosen = dp_privacy_value(m, values, m->accountant);

	if (!m->accountant)
		return false;
	if (isnan(chosen))
		chosen = m->accountant->default_value;
	if (chosen != DP_PRIVACY_PLD)
		return false;
	memcpy(rough, values, m->nkeys * sizeof *rough);
	rough[dp_privacy_key_index(m, m->accountant)] = DP_PRIVACY_RDP;
	return true;
}

/* The work limits of a whole solve, or of one that computes a starting value. */
static struct effort effort_of(bool start, double before)
{
	/* an expensive starting value leaves enough work all the same */
	double most = fmax(WORK_MOST, before + 0.6 * WORK_MOST);

	return (struct effort){
		.done = key_work,
		.before = before,
		.rough = start ? WORK_ROUGH : most,
		.most = start ? 2 * WORK_ROUGH : most,
		.start = start,
	};
}

/* `start`: for a starting value. *work: of all accountants. */
static int solve_noise(const struct dp_mechanism *m, const double *values, double target,
		       bool start, double *work, double *noise, struct dp_epsilon *at,
		       struct dp_err *err)
{
	struct open_key a = { 0 };
	struct value_search c = {
		.epsilon_at = open_key_epsilon,
		.ctx = &a,
		.log_min = log(NOISE_MIN),
		.target = target,
		.failure_subject = "no amount of noise",
		.log_step = 1,
	};
	double rough[DP_PRIVACY_KEYS_MAX], near;
	int code;

	c.log_max = log(fmin(m->noise->hi, NOISE_MAX));
	c.log_start = fmin(c.log_max, 0);
	if (rdp_starting_values(m, values, rough) &&
	    solve_noise(m, rough, target, true, work, &near, at, NULL) == DP_OK) {
		c.log_start = fmin(fmax(log(near), c.log_min), c.log_max);
		c.log_step = 0.05;
	}
	c.effort = effort_of(start, *work);
	open_key_init(&a, m, values, m->noise);
	code = calibrate_in_turn(&c, &key_limiter, noise, at, err);
	*work += key_work(&a);
	dp_mechanism_cache_free(a.cache);
	return code;
}

int dp_privacy_solve_noise(const struct dp_mechanism *m, const double *values, double target,
			   double *noise, struct dp_epsilon *at, struct dp_err *err)
{
	double work = 0;

	if (!(target > 0) || isinf(target))
		return dp_fail(err, DP_E_INVALID, "the target epsilon must be above 0");
	if (!m->noise)
		return dp_fail(err, DP_E_INVALID, "mechanism %s has no noise to choose", m->name);
	return solve_noise(m, values, target, false, &work, noise, at, err);
}

/* ---- delta at an epsilon ---- */

static int check_target_epsilon(double epsilon, struct dp_err *err)
{
	return epsilon >= 0 && isfinite(epsilon)
		       ? DP_OK
		       : dp_fail(err, DP_E_INVALID, "epsilon must be a number, 0 or above");
}

static int value_search_solve_delta(struct value_search *c, const struct limiter *l,
				    struct dp_epsilon *at, struct dp_err *err)
{
	double delta;

	c->log_min = log(DELTA_MIN);
	c->log_max = log(DELTA_MAX);
	c->log_start = log(1e-6);
	c->log_step = 1;
	c->failure_subject = "no delta below 1";
	c->effort.rough = c->effort.most = WORK_MOST;
	return calibrate_in_turn(c, l, &delta, at, err);
}

int dp_privacy_solve_delta(const struct dp_mechanism *m, const double *values, double epsilon,
			   struct dp_epsilon *at, struct dp_err *err)
{
	struct open_key a = { 0 };
	struct value_search c = { .epsilon_at = open_key_epsilon,
				  .ctx = &a,
				  .target = epsilon,
				  .effort.done = key_work };
	struct dp_epsilon pure = { .epsilon = INFINITY };
	int code = check_target_epsilon(epsilon, err);

	if (code != DP_OK)
		return code;
	if (!m->delta)
		return dp_fail(err, DP_E_INVALID, "mechanism %s has no delta", m->name);
	open_key_init(&a, m, values, m->delta);
	if (!m->delta->required)
		code = open_key_epsilon(&a, 0, &pure, err);
	if (code == DP_OK && pure.epsilon <= epsilon)
		*at = pure;
	else if (code == DP_OK && m->delta->hi == 0)
		code = dp_fail(err, DP_E_INVALID,
			       "mechanism %s is purely private with epsilon %g: at a "
			       "smaller one its delta is not known",
			       m->name, pure.epsilon);
	else if (code == DP_OK)
		code = value_search_solve_delta(&c, &key_limiter, at, err);
	dp_mechanism_cache_free(a.cache);
	return code;
}

struct asked_composition {
	const struct dp_privacy_composition *list;
	struct dp__work work;
};

static int composition_epsilon_at(void *ctx, double delta, struct dp_epsilon *out,
				  struct dp_err *err)
{
	struct asked_composition *a = ctx;

	return dp__compose(a->list->items, a->list->n, delta, a->list->pld, &a->work, out, err);
}

static double composition_work(const void *ctx)
{
	return ((const struct asked_composition *)ctx)->work.done;
}

static void composition_limit(void *ctx, double share)
{
	struct asked_composition *a = ctx;

	a->work.share = share;
	a->work.limited = false;
}

static bool composition_limited(const void *ctx)
{
	return ((const struct asked_composition *)ctx)->work.limited;
}

int dp_privacy_composition_delta(const struct dp_privacy_composition *list, double epsilon,
				 struct dp_epsilon *at, struct dp_err *err)
{
	static const struct limiter limiter = { composition_limit, composition_limited };
	struct asked_composition a = { .list = list };
	struct value_search c = { .epsilon_at = composition_epsilon_at,
				  .ctx = &a,
				  .target = epsilon,
				  .effort.done = composition_work };
	struct dp_epsilon pure;
	int code = check_target_epsilon(epsilon, err);

	if (code != DP_OK)
		return code;
	if (composition_epsilon_at(c.ctx, 0, &pure, NULL) == DP_OK && pure.epsilon <= epsilon) {
		*at = pure;
		return DP_OK;
	}
	return value_search_solve_delta(&c, &limiter, at, err);
}

/* ---- the largest value of a key ---- */

/* A value and its epsilon. A value that the mechanism refuses is too large. */
struct probe {
	double value, epsilon;
};

static int max_search_try(struct open_key *a, double value, struct probe *t, struct dp_epsilon *e,
			  struct dp_err *err)
{
	int code = open_key_epsilon(a, value, e, err);

	*t = (struct probe){ value, code == DP_OK ? e->epsilon : INFINITY };
	return code == DP_E_INVALID ? DP_OK : code;
}

/* The next value between two: where log epsilon, linear in the log of the value, meets the target.
 * Every third time the middle, so that the search ends. */
static double max_search_next(const struct probe *lo, const struct probe *hi, double target,
			      bool whole, int round, double near)
{
	double part = log(target / lo->epsilon) / log(hi->epsilon / lo->epsilon), x;
	double room = whole ? 1 : 0.4 * TOLERANCE * hi->value;

	if (round % 3 == 2 || !(part >= 0 && part <= 1))
		x = hi->value > 4 * lo->value ? sqrt(lo->value * hi->value)
					      : 0.5 * (lo->value + hi->value);
	else
		x = lo->value * exp(part * log(hi->value / lo->value));
	/* alternate sides of the line, or one end never moves */
	if (near > TOLERANCE) /* the side that meets the target, by no more than that */
		x -= 0.3 * near * x;
	else
		x += (round % 3 == 1 ? 1 : -1) * (whole ? 0.5 : 0.3 * TOLERANCE * x);
	x = whole ? floor(x + 0.5) : x;
	return fmin(fmax(x, lo->value + room), hi->value - room);
}

/* The distance of the two ends at which a search may stop. */
static double most_gap(const struct effort *effort, const struct open_key *a, bool whole,
		       double value)
{
	double gap = effort_tolerance(effort, a) * value;

	return !whole ? gap : effort_tolerance(effort, a) > TOLERANCE ? fmax(gap, 1) : 1;
}

static int most_ask(struct open_key *a, struct effort *effort, double value, struct probe *t,
		    struct dp_epsilon *e, struct dp_err *err)
{
	double before = effort_done(effort, a);
	int code = max_search_try(a, value, t, e, err);

	effort->last = effort_done(effort, a) - before;
	return code;
}

/* From `lo`, which meets the target, up to the largest value that does: an integer or, where
 * fractions are allowed, to a relative 1e-6; or to the work limit. Skipped values lie between
 * *value and *above. */
static int max_search_solve(struct open_key *a, struct effort *effort, struct probe lo,
			    double factor, double target, double *value, double *above,
			    struct dp_epsilon *at, struct dp_err *err)
{
	const struct dp_privacy_key *k = &a->mechanism->keys[a->key];
	bool whole = dp_privacy_key_is_integer(a->mechanism, a->values, k);
	double most = fmin(k->hi, VALUE_MAX);
	struct probe hi = lo, mid;
	struct dp_epsilon e;
	int code = DP_OK;

	while (code == DP_OK && hi.epsilon <= target && hi.value < most &&
	       !effort_spent(effort, a, INFINITY)) {
		double next = fmax(factor * hi.value, whole ? hi.value + 1 : 0);

		lo = hi;
		if (STEPS_UP * effort->last > effort->most) /* fewer, longer steps */
			factor = factor * factor;
		else
			factor = fmax(factor, fmin(factor * factor, 2));
		code = most_ask(a, effort, fmin(whole ? floor(next) : next, most), &hi, &e, err);
		if (code == DP_OK && hi.epsilon <= target)
			*at = e;
	}
	*above = hi.epsilon <= target && hi.value < most ? INFINITY : hi.value;
	if (hi.epsilon <= target)
		lo = hi;
	for (int i = 0;
	     code == DP_OK && hi.value - lo.value > most_gap(effort, a, whole, hi.value) &&
	     !effort_spent(effort, a, hi.value / lo.value - 1);
	     i++) {
		double next =
			max_search_next(&lo, &hi, target, whole, i, effort_tolerance(effort, a));

		code = most_ask(a, effort, next, &mid, &e, err);
		if (code == DP_OK && mid.epsilon <= target)
			*at = e;
		*(mid.epsilon <= target ? &lo : &hi) = mid;
	}
	*value = lo.value;
	if (isfinite(*above))
		*above = hi.value;
	if (*above - lo.value <= (whole ? 1 : TOLERANCE * hi.value))
		*above = lo.value; /* nothing in between */
	return code;
}

static int max_search_start(struct open_key *a, const struct dp_privacy_key *k, double target,
			    struct probe *from, struct dp_epsilon *at, struct dp_err *err)
{
	double least = k->lo;
	int code;

	if (k->lo_open)
		least = dp_privacy_key_is_integer(a->mechanism, a->values, k) ? 1 : VALUE_MIN;
	code = open_key_epsilon(a, least, at, err);
	*from = (struct probe){ least, at->epsilon };
	if (code == DP_OK && at->epsilon > target)
		code = dp_fail(err, DP_E_INVALID, "even with %s %g epsilon is %g, more than %g",
			       k->name, least, at->epsilon, target);
	return code;
}

/* For an expensive least value, in *from: most values above the answer are cheaper. */
static int most_from_above(struct open_key *a, const struct dp_privacy_key *k, double target,
			   struct effort *effort, struct probe *from, struct dp_epsilon *at,
			   struct dp_err *err)
{
	bool whole = dp_privacy_key_is_integer(a->mechanism, a->values, k);
	double value = fmin(k->hi, VALUE_MAX);
	struct dp_epsilon e;
	struct probe t;
	int code = DP_OK;

	for (value /= FROM_ABOVE; value > FROM_ABOVE * from->value; value /= FROM_ABOVE) {
		value = whole ? floor(value) : value;
		code = most_ask(a, effort, value, &t, &e, err);
		if (code != DP_OK || t.epsilon <= target)
			break;
	}
	if (code == DP_OK && value > FROM_ABOVE * from->value) {
		*from = t;
		*at = e;
	}
	return code;
}

/* Starts at `near` if it is a number that meets the target, else at the least value. */
static int most_near(struct open_key *a, const struct dp_privacy_key *k, double near, double factor,
		     double target, struct effort *effort, double *value, double *above,
		     struct dp_epsilon *at, struct dp_err *err)
{
	struct probe from = { 0 };
	int code = DP_OK;

	if (!isnan(near))
		code = most_ask(a, effort, near, &from, at, err);
	if (code == DP_OK && !(from.value > 0 && from.epsilon <= target)) {
		double before = effort_done(effort, a);

		factor = 2;
		code = max_search_start(a, k, target, &from, at, err);
		effort->last = effort_done(effort, a) - before;
		if (code == DP_OK && STEPS_UP * effort->last > effort->most) {
			factor = FROM_ABOVE;
			code = most_from_above(a, k, target, effort, &from, at, err);
		}
	}
	return code == DP_OK
		       ? max_search_solve(a, effort, from, factor, target, value, above, at, err)
		       : code;
}

/* For expensive evaluations, on coarser grids first, as in calibrate_in_turn(). */
static int most_in_turn(struct open_key *a, const struct dp_privacy_key *k, double near,
			double target, struct effort *effort, double *value, double *above,
			struct dp_epsilon *at, struct dp_err *err)
{
	int code;

	key_limit(a, SHARE);
	effort->limited = key_limited;
	code = most_near(a, k, near, 1.05, target, effort, value, above, at, err);
	if (!key_limited(a) || (code != DP_OK && code != DP_E_INVALID))
		return code;
	if (code == DP_OK)
		near = *value;
	effort->limited = NULL;
	effort->last = 0;
	key_limit(a, 1);
	return most_near(a, k, near, 1.005, target, effort, value, above, at, err);
}

/* `start`: for a starting value of another accountant. */
static int solve_most(const struct dp_mechanism *m, const double *values,
		      const struct dp_privacy_key *k, double target, bool start, double *work,
		      double *value, double *above, struct dp_epsilon *at, struct dp_err *err)
{
	double rough[DP_PRIVACY_KEYS_MAX], near = NAN;
	struct effort effort;
	struct open_key a = { 0 };
	int code;

	if (rdp_starting_values(m, values, rough) &&
	    solve_most(m, rough, k, target, true, work, &near, above, at, NULL) != DP_OK)
		near = NAN;
	effort = effort_of(start, *work);
	open_key_init(&a, m, values, k);
	code = most_in_turn(&a, k, near, target, &effort, value, above, at, err);
	*work += key_work(&a);
	dp_mechanism_cache_free(a.cache);
	return code;
}

int dp__most(const struct dp_mechanism *m, const double *values, const struct dp_privacy_key *k,
	     double target, double *value, double *above, double *work, struct dp_epsilon *at,
	     struct dp_err *err)
{
	if (!(target > 0) || isinf(target))
		return dp_fail(err, DP_E_INVALID, "the target epsilon must be above 0");
	if (!k->can_solve_max)
		return dp_fail(err, DP_E_INVALID,
			       "'%s' is not solved for: more of it does not always cost "
			       "more",
			       k->name);
	return solve_most(m, values, k, target, false, work, value, above, at, err);
}

int dp_privacy_solve_max(const struct dp_mechanism *m, const double *values,
			 const struct dp_privacy_key *k, double target, double *value,
			 struct dp_epsilon *at, struct dp_err *err)
{
	double above, work = 0;

	return dp__most(m, values, k, target, value, &above, &work, at, err);
}

int dp_privacy_epsilon_curve(const struct dp_mechanism *m, const double *values,
			     const double *deltas, size_t n, struct dp_epsilon *out,
			     struct dp_err *err)
{
	struct dp_mechanism_cache *p;
	double v[DP_PRIVACY_KEYS_MAX];
	int code = DP_OK;

	if (!m->delta)
		return dp_fail(err, DP_E_INVALID, "mechanism %s has no delta", m->name);
	p = dp_mechanism_cache_new(m);
	memcpy(v, values, m->nkeys * sizeof *v);
	for (size_t i = 0; code == DP_OK && i < n; i++) {
		v[dp_privacy_key_index(m, m->delta)] = deltas[i];
		code = dp_mechanism_cache_epsilon(p, v, &out[i], err);
	}
	dp_mechanism_cache_free(p);
	return code;
}
