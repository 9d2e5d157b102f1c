/* space.c - points of a study's parameter space: drawn, on a grid, as JSON.
 *
 * Whole numbers are rounded to the nearest, halves to the even one (rint). */
#include "study/study_internal.h"

#include "base/json.h"
#include "base/num.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum {
	DRAWS_MAX = 1000000 /* more only if accept is nearly impossible */
};

/* The place t (0 to 1) of the way from lo to hi, on the scale. */
static double on_scale(double lo, double hi, bool log_scale, double t)
{
	double x = log_scale ? lo * pow(hi / lo, t) : lo + t * (hi - lo);

	return fmin(fmax(x, lo), hi);
}

/* ---- random points ---- */

static double draw_scale(const struct dp_param *p, struct dp_rng *r)
{
	if (p->kind == DP_PARAM_FLOAT)
		return on_scale(p->lo, p->hi, p->log, dp_rng_uniform(r));
	if (!p->log)
		return p->lo + (double)dp_rng_below(r, (uint64_t)(p->hi - p->lo) + 1);
	/* every whole number gets the stretch of the scale around it */
	return rint(on_scale(p->lo - 0.5, p->hi + 0.5, true, dp_rng_uniform(r)));
}

static double sample_param(const struct dp_param *p, struct dp_rng *r)
{
	double x = 0;

	switch (p->dist) {
	case DP_DIST_SCALE:
		x = draw_scale(p, r);
		break;
	case DP_DIST_UNIFORM:
		x = on_scale(p->a, p->b, false, dp_rng_uniform(r));
		break;
	case DP_DIST_NORMAL:
		x = p->a + p->b * dp_rng_normal(r);
		break;
	case DP_DIST_EXPONENTIAL:
		x = p->b + dp_rng_exponential(r) / p->a;
		break;
	}
	return p->kind == DP_PARAM_INT ? rint(x) : x;
}

/* What a draw must lie in. */
struct accepted {
	double lo, hi; /* of a whole number whole */
};

static struct accepted accepted_of(const struct dp_param *p, bool with_range)
{
	struct accepted a = { p->accept_lo, p->accept_hi };

	if (with_range) {
		a.lo = fmax(a.lo, p->lo);
		a.hi = fmin(a.hi, p->hi);
	}
	if (p->kind == DP_PARAM_INT) {
		a.lo = ceil(a.lo);
		a.hi = floor(a.hi);
	}
	return a.lo <= a.hi ? a : (struct accepted){ p->lo, p->hi };
}

static double sample_number(const struct dp_param *p, bool with_range, struct dp_rng *r)
{
	struct accepted a = accepted_of(p, with_range);
	double x = 0;

	for (int i = 0; i < DRAWS_MAX; i++) {
		x = sample_param(p, r);
		if (x >= a.lo && x <= a.hi)
			return x;
	}
	return fmin(fmax(x, a.lo), a.hi);
}

void dp_space_sample(const struct dp_study *s, uint32_t trial, bool with_range, double *x)
{
	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_param *p = &s->params[i];
		struct dp_rng r;

		/* a stream for each parameter: one more does not move the others */
		if (s->secret && s->seeds != DP_SEEDS_SECRET) /* select, before 0.3 */
			dp_rng_init_secret(&r, s->secret, DP_RNG_SAMPLE, trial, (uint32_t)i);
		else
			dp_study_stream(s, DP_RNG_SAMPLE, trial, (uint32_t)i, &r);
		if (p->kind == DP_PARAM_FIXED)
			x[i] = 0;
		else if (p->kind == DP_PARAM_CALIBRATED)
			x[i] = NAN;
		else if (p->kind == DP_PARAM_CATEGORICAL)
			x[i] = (double)dp_rng_below(&r, json_array_size(p->values));
		else
			x[i] = sample_number(p, with_range, &r);
	}
}

/* P(z <= a standard normal <= w), without cancellation in the upper tail. */
static double normal_between(double z, double w)
{
	if (z > 0)
		return 0.5 * (erfc(z * M_SQRT1_2) - erfc(w * M_SQRT1_2));
	return 0.5 * (erfc(-w * M_SQRT1_2) - erfc(-z * M_SQRT1_2));
}

double dp__accept_probability(const struct dp_param *p, double lo, double hi)
{
	if (p->kind == DP_PARAM_INT) { /* what rounds into it */
		lo = ceil(lo) - 0.5;
		hi = floor(hi) + 0.5;
	}
	if (!(lo <= hi))
		return 0;
	switch (p->dist) {
	case DP_DIST_SCALE:
		break;
	case DP_DIST_UNIFORM:
		return fmax(0, (fmin(hi, p->b) - fmax(lo, p->a)) / (p->b - p->a));
	case DP_DIST_NORMAL:
		return normal_between((lo - p->a) / p->b, (hi - p->a) / p->b);
	case DP_DIST_EXPONENTIAL:
		lo = fmax(0, lo - p->b);
		hi = fmax(0, hi - p->b);
		return exp(-p->a * lo) - exp(-p->a * hi);
	}
	return 1;
}

/* ---- quantiles ---- */

/* Where the share t of what a normal distribution has between lo and hi is below. */
static double normal_quantile(const struct dp_param *p, double lo, double hi, double t)
{
	double z = (lo - p->a) / p->b, w = (hi - p->a) / p->b, from = lo;
	double below = t * normal_between(z, w);

	for (int i = 0; i < 60 && from < hi; i++) {
		double middle = from + (hi - from) / 2;

		if (normal_between(z, (middle - p->a) / p->b) < below)
			from = middle;
		else
			hi = middle;
	}
	return hi;
}

/* The same of an exponential one, by its closed form. */
static double exponential_quantile(const struct dp_param *p, double lo, double hi, double t)
{
	double first = exp(-p->a * fmax(0, lo - p->b)), last = exp(-p->a * fmax(0, hi - p->b));

	return p->b - log(first - t * (first - last)) / p->a;
}

double dp_space_quantile(const struct dp_study *s, size_t param, double t)
{
	const struct dp_param *p = &s->params[param];
	struct accepted a = accepted_of(p, true);
	/* a whole number gets what rounds to it */
	double half = p->kind == DP_PARAM_INT ? 0.5 : 0, x = 0;
	double lo = a.lo - half, hi = a.hi + half;

	if (p->kind == DP_PARAM_FIXED)
		return 0;
	if (p->kind == DP_PARAM_CALIBRATED)
		return NAN;
	if (p->kind == DP_PARAM_CATEGORICAL)
		return fmin(floor(t * (double)json_array_size(p->values)),
			    (double)json_array_size(p->values) - 1);
	switch (p->dist) {
	case DP_DIST_SCALE:
		x = on_scale(lo, hi, p->log, t);
		break;
	case DP_DIST_UNIFORM:
		x = on_scale(fmax(lo, p->a), fmin(hi, p->b), false, t);
		break;
	case DP_DIST_NORMAL:
		x = normal_quantile(p, lo, hi, t);
		break;
	case DP_DIST_EXPONENTIAL:
		x = exponential_quantile(p, lo, hi, t);
		break;
	}
	return fmin(fmax(half > 0 ? rint(x) : x, a.lo), a.hi);
}

/* ---- the grid ---- */

/* One axis; for whole numbers lo and hi are whole. */
struct axis {
	double lo, hi;
	uint64_t n; /* points asked for */
	bool log, whole;
};

static struct axis axis_of(const struct dp_study *s, const struct dp_param *p)
{
	struct axis a = { p->accept_lo, p->accept_hi, 1, p->log, p->kind == DP_PARAM_INT };

	if (p->kind != DP_PARAM_FLOAT && p->kind != DP_PARAM_INT) {
		/* the points are the indices of the values */
		a.n = p->kind == DP_PARAM_CATEGORICAL ? json_array_size(p->values) : 1;
		a.lo = 0;
		a.hi = (double)a.n - 1;
		a.log = false;
		a.whole = true;
		return a;
	}
	if (p->grid > 0)
		a.n = (uint64_t)p->grid;
	else if (s->search.grid > 0)
		a.n = (uint64_t)s->search.grid;
	if (a.whole) {
		a.lo = ceil(a.lo);
		a.hi = floor(a.hi);
		if (a.hi - a.lo + 1 < (double)a.n && !a.log)
			a.n = (uint64_t)(a.hi - a.lo) + 1;
	}
	return a;
}

static double asked_point(const struct axis *a, uint64_t k)
{
	double t = a->n == 1 ? 0.5 : (double)k / (double)(a->n - 1);
	double x = on_scale(a->lo, a->hi, a->log, t);

	return a->whole ? rint(x) : x;
}

/* Only whole numbers on a log scale can fall together: on a linear one the step is
 * at least 1, because axis_of() asks for no more points than there are. */
static uint64_t axis_points(const struct axis *a)
{
	uint64_t n = 1;

	if (!a->whole || !a->log)
		return a->n;
	for (uint64_t k = 1; k < a->n; k++)
		n += asked_point(a, k) != asked_point(a, k - 1);
	return n;
}

/* The index-th of the different points. */
static double axis_point(const struct axis *a, uint64_t index)
{
	uint64_t k = 0;

	if (!a->whole || !a->log)
		return asked_point(a, index);
	while (index > 0 && k + 1 < a->n) {
		k++;
		index -= asked_point(a, k) != asked_point(a, k - 1);
	}
	return asked_point(a, k);
}

double dp__grid_points(const struct dp_study *s)
{
	double points = 1;

	for (size_t i = 0; i < s->nparams; i++) {
		struct axis a = axis_of(s, &s->params[i]);

		/* already too many: no need to look which fall together */
		points *= (double)(points > DP_GRID_MAX ? a.n : axis_points(&a));
	}
	return points;
}

uint64_t dp_space_grid_size(const struct dp_study *s)
{
	double points = dp__grid_points(s);

	return points > DP_GRID_MAX ? (uint64_t)DP_GRID_MAX + 1 : (uint64_t)points;
}

void dp_space_grid_point(const struct dp_study *s, uint64_t index, double *x)
{
	for (size_t i = s->nparams; i-- > 0;) {
		struct axis a = axis_of(s, &s->params[i]);
		uint64_t n = axis_points(&a);

		x[i] = axis_point(&a, index % n);
		index /= n;
	}
	dp_space_underive(s, x);
}

/* ---- as JSON and as text ---- */

static json_t *value_json(const struct dp_param *p, double v)
{
	switch (p->kind) {
	case DP_PARAM_FLOAT:
	case DP_PARAM_CALIBRATED:
		return dp_json_real(v);
	case DP_PARAM_INT:
		return json_integer((json_int_t)v);
	case DP_PARAM_CATEGORICAL:
		return json_incref(json_array_get(p->values, (size_t)v));
	case DP_PARAM_FIXED:
		return json_incref(p->values);
	}
	return NULL;
}

json_t *dp_space_json(const struct dp_study *s, const double *x)
{
	return dp_space_json_at(s, x, NAN);
}

json_t *dp_space_json_at(const struct dp_study *s, const double *x, double at)
{
	json_t *all = json_object();

	for (size_t i = 0; all && i < s->nparams; i++) {
		bool walked = !isnan(at) && i == s->trainer.path.param;

		if (json_object_set_new(all, s->params[i].name,
					walked ? json_integer((json_int_t)at)
					       : value_json(&s->params[i], x[i])) < 0) {
			json_decref(all);
			all = NULL;
		}
	}
	return all;
}

/* The position of a categorical value, or -1. */
static int category_index(const struct dp_param *p, const json_t *v)
{
	for (size_t i = 0; i < json_array_size(p->values); i++)
		if (json_equal(json_array_get(p->values, i), v))
			return (int)i;
	return -1;
}

static int read_param(const struct dp_param *p, const json_t *v, double *x, struct dp_err *err)
{
	char lo[DP_NUM_LEN], hi[DP_NUM_LEN];
	double number;

	if (p->kind == DP_PARAM_CATEGORICAL) {
		int i = category_index(p, v);

		if (i < 0)
			return dp_fail(err, DP_E_INVALID,
				       "parameter '%s' has no such value; 'dparetoctl trials' "
				       "shows what it can be",
				       p->name);
		*x = i;
		return DP_OK;
	}
	number = json_number_value(v);
	if (p->kind == DP_PARAM_CALIBRATED) {
		if (!json_is_number(v) || !(number > 0))
			return dp_fail(err, DP_E_INVALID,
				       "parameter '%s' must be a number above 0; it is "
				       "calibrated, so it can be left out",
				       p->name);
		*x = number;
		return DP_OK;
	}
	if (!json_is_number(v) || !(number >= p->lo && number <= p->hi) ||
	    (p->kind == DP_PARAM_INT && number != rint(number)))
		return dp_fail(err, DP_E_INVALID, "parameter '%s' must be a %snumber from %s to %s",
			       p->name, p->kind == DP_PARAM_INT ? "whole " : "",
			       dp_num_text(p->lo, lo), dp_num_text(p->hi, hi));
	*x = number;
	return DP_OK;
}

int dp_space_from_json(const struct dp_study *s, const json_t *values, double *x,
		       struct dp_err *err)
{
	const char *names[DP_PARAMS_MAX + 1] = { NULL }, *key, *near;
	json_t *v;

	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_param *p = &s->params[i];
		int code = DP_OK;

		names[i] = p->name;
		x[i] = 0;
		v = json_object_get(values, p->name);
		if (p->kind == DP_PARAM_CALIBRATED && !v)
			x[i] = NAN;
		if (p->kind == DP_PARAM_FIXED || isnan(x[i]))
			continue;
		code = v ? read_param(p, v, &x[i], err)
			 : dp_fail(err, DP_E_INVALID, "parameter '%s' is missing", p->name);
		if (code != DP_OK)
			return code;
	}
	json_object_foreach ((json_t *)values, key, v) {
		size_t i = 0;

		while (i < s->nparams && strcmp(s->params[i].name, key) != 0)
			i++;
		if (i < s->nparams &&
		    (s->params[i].kind != DP_PARAM_FIXED || json_equal(s->params[i].values, v)))
			continue;
		if (i < s->nparams)
			return dp_fail(err, DP_E_INVALID, "parameter '%s' is fixed", key);
		near = dp_nearest(key, names);
		return dp_fail(err, DP_E_INVALID, "there is no parameter '%.64s'%s%s%s", key,
			       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	return DP_OK;
}

void dp_space_text(const struct dp_study *s, size_t param, double v, struct dp_buf *out)
{
	const struct dp_param *p = &s->params[param];
	json_t *value;

	if (p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_CALIBRATED) {
		dp_buf_printf(out, "%.5g", v);
		return;
	}
	value = value_json(p, v);
	if (json_is_string(value))
		dp_buf_puts(out, json_string_value(value));
	else if (value)
		dp_json_dump(out, value, 0);
	json_decref(value);
}

double dp_space_value(const struct dp_study *s, size_t param, const double *x)
{
	const struct dp_param *p = &s->params[param];

	return p->kind == DP_PARAM_FIXED ? json_number_value(p->values) : x[param];
}
