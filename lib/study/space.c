/* space.c - points of a study's parameter space: random, on a grid, as JSON and as text.
 *
 * Rounds integers to the nearest, halves to even (rint). */
#include "study/parse/study_parse_internal.h"

#include "base/json.h"
#include "base/units.h"
#include "base/rng.h"
#include "study/seeds.h"
#include "study/space.h"

#include <math.h>
#include <string.h>

enum {
	REJECTION_DRAWS_MAX = 1000000 /* enough unless accept is nearly impossible */
};

/* Interpolates from lo to hi on the scale, t from 0 to 1. */
static double interpolate_on_scale(double lo, double hi, bool log_scale, double t)
{
	double x = log_scale ? lo * pow(hi / lo, t) : lo + t * (hi - lo);

	return fmin(fmax(x, lo), hi);
}

/* ---- random points ---- */

static double draw_uniform_on_scale(const struct dp_param *p, struct dp_rng *r)
{
	if (p->kind == DP_PARAM_FLOAT)
		return interpolate_on_scale(p->lo, p->hi, p->log_scale, dp_rng_uniform(r));
	if (!p->log_scale)
		return p->lo + (double)dp_rng_below(r, (uint64_t)(p->hi - p->lo) + 1);
	/* every integer gets the part of the scale around it */
	return rint(interpolate_on_scale(p->lo - 0.5, p->hi + 0.5, true, dp_rng_uniform(r)));
}

static double draw_from_distribution(const struct dp_param *p, struct dp_rng *r)
{
	double x = 0;

	switch (p->dist) {
	case DP_DIST_SCALE:
		x = draw_uniform_on_scale(p, r);
		break;
	case DP_DIST_UNIFORM:
		x = interpolate_on_scale(p->dist_a, p->dist_b, false, dp_rng_uniform(r));
		break;
	case DP_DIST_NORMAL:
		x = p->dist_a + p->dist_b * dp_rng_normal(r);
		break;
	case DP_DIST_EXPONENTIAL:
		x = p->dist_b + dp_rng_exponential(r) / p->dist_a;
		break;
	}
	return p->kind == DP_PARAM_INT ? rint(x) : x;
}

struct accepted_range {
	double lo, hi; /* integers for an integer parameter */
};

static struct accepted_range param_accepted_range(const struct dp_param *p, bool with_range)
{
	struct accepted_range a = { p->accept_lo, p->accept_hi };

	if (with_range) {
		a.lo = fmax(a.lo, p->lo);
		a.hi = fmin(a.hi, p->hi);
	}
	if (p->kind == DP_PARAM_INT) {
		a.lo = ceil(a.lo);
		a.hi = floor(a.hi);
	}
	return a.lo <= a.hi ? a : (struct accepted_range){ p->lo, p->hi };
}

static double draw_accepted(const struct dp_param *p, bool with_range, struct dp_rng *r)
{
	struct accepted_range a = param_accepted_range(p, with_range);
	double x = 0;

	for (int i = 0; i < REJECTION_DRAWS_MAX; i++) {
		x = draw_from_distribution(p, r);
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

		/* one stream per parameter: a new parameter leaves the others as they were */
		if (s->secret && s->seeds != DP_SEEDS_SECRET) /* select, before 0.3 */
			dp_rng_init_secret(&r, s->secret, DP_RNG_SAMPLE, trial, (uint32_t)i);
		else
			dp_study_rng_init(s, DP_RNG_SAMPLE, trial, (uint32_t)i, &r);
		if (p->kind == DP_PARAM_FIXED)
			x[i] = 0;
		else if (p->kind == DP_PARAM_CALIBRATED)
			x[i] = NAN;
		else if (p->kind == DP_PARAM_CATEGORICAL)
			x[i] = (double)dp_rng_below(&r, json_array_size(p->values));
		else
			x[i] = draw_accepted(p, with_range, &r);
	}
}

/* P(z <= a standard normal <= w), without cancellation in the upper tail. */
static double normal_probability_between(double z, double w)
{
	if (z > 0)
		return 0.5 * (erfc(z * M_SQRT1_2) - erfc(w * M_SQRT1_2));
	return 0.5 * (erfc(-w * M_SQRT1_2) - erfc(-z * M_SQRT1_2));
}

double dp__accept_probability(const struct dp_param *p, double lo, double hi)
{
	if (p->kind == DP_PARAM_INT) { /* values that round into the range */
		lo = ceil(lo) - 0.5;
		hi = floor(hi) + 0.5;
	}
	if (!(lo <= hi))
		return 0;
	switch (p->dist) {
	case DP_DIST_SCALE:
		break;
	case DP_DIST_UNIFORM:
		return fmax(0,
			    (fmin(hi, p->dist_b) - fmax(lo, p->dist_a)) / (p->dist_b - p->dist_a));
	case DP_DIST_NORMAL:
		return normal_probability_between((lo - p->dist_a) / p->dist_b,
						  (hi - p->dist_a) / p->dist_b);
	case DP_DIST_EXPONENTIAL:
		lo = fmax(0, lo - p->dist_b);
		hi = fmax(0, hi - p->dist_b);
		return exp(-p->dist_a * lo) - exp(-p->dist_a * hi);
	}
	return 1;
}

/* ---- quantiles ---- */

/* The quantile t of a normal distribution truncated to [lo, hi]. */
static double truncated_normal_quantile(const struct dp_param *p, double lo, double hi, double t)
{
	double z = (lo - p->dist_a) / p->dist_b, w = (hi - p->dist_a) / p->dist_b, from = lo;
	double below = t * normal_probability_between(z, w);

	for (int i = 0; i < 60 && from < hi; i++) {
		double middle = from + (hi - from) / 2;

		if (normal_probability_between(z, (middle - p->dist_a) / p->dist_b) < below)
			from = middle;
		else
			hi = middle;
	}
	return hi;
}

/* The same for an exponential distribution, in closed form. */
static double truncated_exp_quantile(const struct dp_param *p, double lo, double hi, double t)
{
	double first = exp(-p->dist_a * fmax(0, lo - p->dist_b)),
	       last = exp(-p->dist_a * fmax(0, hi - p->dist_b));

	return p->dist_b - log(first - t * (first - last)) / p->dist_a;
}

double dp_space_quantile(const struct dp_study *s, size_t param, double t)
{
	const struct dp_param *p = &s->params[param];
	struct accepted_range a = param_accepted_range(p, true);
	/* an integer has the probability of all that rounds to it */
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
		x = interpolate_on_scale(lo, hi, p->log_scale, t);
		break;
	case DP_DIST_UNIFORM:
		x = interpolate_on_scale(fmax(lo, p->dist_a), fmin(hi, p->dist_b), false, t);
		break;
	case DP_DIST_NORMAL:
		x = truncated_normal_quantile(p, lo, hi, t);
		break;
	case DP_DIST_EXPONENTIAL:
		x = truncated_exp_quantile(p, lo, hi, t);
		break;
	}
	return fmin(fmax(half > 0 ? rint(x) : x, a.lo), a.hi);
}

/* ---- the grid ---- */

/* One axis. lo and hi are integers for an integer parameter. */
struct grid_axis {
	double lo, hi;
	uint64_t n_points; /* requested points */
	bool log_scale, is_integer;
};

static struct grid_axis grid_axis_of(const struct dp_study *s, const struct dp_param *p)
{
	struct grid_axis a = { p->accept_lo, p->accept_hi, 1, p->log_scale,
			       p->kind == DP_PARAM_INT };

	if (p->kind != DP_PARAM_FLOAT && p->kind != DP_PARAM_INT) {
		/* points are value indices */
		a.n_points = p->kind == DP_PARAM_CATEGORICAL ? json_array_size(p->values) : 1;
		a.lo = 0;
		a.hi = (double)a.n_points - 1;
		a.log_scale = false;
		a.is_integer = true;
		return a;
	}
	if (p->grid_points > 0)
		a.n_points = (uint64_t)p->grid_points;
	else if (s->search.grid > 0)
		a.n_points = (uint64_t)s->search.grid;
	if (a.is_integer) {
		a.lo = ceil(a.lo);
		a.hi = floor(a.hi);
		if (a.hi - a.lo + 1 < (double)a.n_points && !a.log_scale)
			a.n_points = (uint64_t)(a.hi - a.lo) + 1;
	}
	return a;
}

static double grid_axis_raw_point(const struct grid_axis *a, uint64_t k)
{
	double t = a->n_points == 1 ? 0.5 : (double)k / (double)(a->n_points - 1);
	double x = interpolate_on_scale(a->lo, a->hi, a->log_scale, t);

	return a->is_integer ? rint(x) : x;
}

/* Only integers on a log scale can coincide. On a linear scale the step is at least 1, because
 * grid_axis_of() requests no more points than there are. */
static uint64_t grid_axis_count(const struct grid_axis *a)
{
	uint64_t n = 1;

	if (!a->is_integer || !a->log_scale)
		return a->n_points;
	for (uint64_t k = 1; k < a->n_points; k++)
		n += grid_axis_raw_point(a, k) != grid_axis_raw_point(a, k - 1);
	return n;
}

/* The index-th distinct point. */
static double grid_axis_point(const struct grid_axis *a, uint64_t index)
{
	uint64_t k = 0;

	if (!a->is_integer || !a->log_scale)
		return grid_axis_raw_point(a, index);
	while (index > 0 && k + 1 < a->n_points) {
		k++;
		index -= grid_axis_raw_point(a, k) != grid_axis_raw_point(a, k - 1);
	}
	return grid_axis_raw_point(a, k);
}

double dp__grid_point_count(const struct dp_study *s)
{
	double points = 1;

	for (size_t i = 0; i < s->nparams; i++) {
		struct grid_axis a = grid_axis_of(s, &s->params[i]);

		/* already too many: duplicates no longer matter */
		points *= (double)(points > DP_GRID_MAX ? a.n_points : grid_axis_count(&a));
	}
	return points;
}

uint64_t dp_space_grid_size(const struct dp_study *s)
{
	double points = dp__grid_point_count(s);

	return points > DP_GRID_MAX ? (uint64_t)DP_GRID_MAX + 1 : (uint64_t)points;
}

void dp_space_clear_calibrated(const struct dp_study *s, double *x)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].kind == DP_PARAM_CALIBRATED)
			x[i] = NAN;
}

void dp_space_grid_point(const struct dp_study *s, uint64_t index, double *x)
{
	for (size_t i = s->nparams; i-- > 0;) {
		struct grid_axis a = grid_axis_of(s, &s->params[i]);
		uint64_t n = grid_axis_count(&a);

		x[i] = grid_axis_point(&a, index % n);
		index /= n;
	}
	dp_space_clear_calibrated(s, x);
}

/* ---- as JSON and as text ---- */

static json_t *param_value_to_json(const struct dp_param *p, double v)
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

json_t *dp_space_to_json(const struct dp_study *s, const double *x)
{
	return dp_space_to_json_at(s, x, NAN);
}

json_t *dp_space_to_json_at(const struct dp_study *s, const double *x, double at)
{
	json_t *all = json_object();

	for (size_t i = 0; i < s->nparams; i++) {
		bool walked = !isnan(at) && i == s->trainer.learning_curve.param;

		json_object_set_new(all, s->params[i].name,
				    walked ? json_integer((json_int_t)at)
					   : param_value_to_json(&s->params[i], x[i]));
	}
	return all;
}

static int find_category_index(const struct dp_param *p, const json_t *v)
{
	for (size_t i = 0; i < json_array_size(p->values); i++)
		if (json_equal(json_array_get(p->values, i), v))
			return (int)i;
	return -1;
}

static int param_value_from_json(const struct dp_param *p, const json_t *v, double *x,
				 struct dp_err *err)
{
	char lo[DP_NUM_LEN], hi[DP_NUM_LEN];
	double number;

	if (p->kind == DP_PARAM_CATEGORICAL) {
		int i = find_category_index(p, v);

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
		code = v ? param_value_from_json(p, v, &x[i], err)
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
		near = dp_nearest_word(key, names);
		return dp_fail(err, DP_E_INVALID, "there is no parameter '%.64s'%s%s%s", key,
			       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	return DP_OK;
}

void dp_space_format_value(const struct dp_study *s, size_t param, double v, struct dp_buf *out)
{
	const struct dp_param *p = &s->params[param];
	json_t *value;

	if (p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_CALIBRATED) {
		dp_buf_printf(out, "%.5g", v);
		return;
	}
	value = param_value_to_json(p, v);
	if (json_is_string(value))
		dp_buf_puts(out, json_string_value(value));
	else
		dp_json_dump(out, value, 0);
	json_decref(value);
}

double dp_space_value(const struct dp_study *s, size_t param, const double *x)
{
	const struct dp_param *p = &s->params[param];

	return p->kind == DP_PARAM_FIXED ? json_number_value(p->values) : x[param];
}
