/* worst_case.c - the largest Renyi curve over all settings of a prior, for method select.
 *
 * The theorems need the curve of one trial, maximised over all settings that can be drawn. Either a
 * parameter has an end that is worst for all values of the others (every mechanism that uses it
 * says so in its keys' `epsilon_trend`), or its values are tried one by one. A continuous parameter
 * without such an end is refused: a sampled maximum is not an upper bound. */
#include "study/parse/study_parse_internal.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/private_selection.h"
#include "study/objective.h"

#include <math.h>

/* Calibrated noise falls as the target grows, but only as smoothly as the accountant: loss
 * distributions vary by about 0.1 % of epsilon. This margin covers every smaller target. */
#define NOISE_MARGIN 0.998

enum {
	WORST_CASE_SETTINGS_MAX = 1024, /* settings tried */
	WORST_CASE_SOLVED_MAX = 64      /* settings tried if each needs a calibration */
};

struct worst_case_axis {
	size_t param;
	double first_value; /* the worst end, or the lowest of `count` integers */
	uint64_t count;
};

struct worst_case {
	size_t objective;
	struct worst_case_axis axes[DP_PARAMS_MAX];
	size_t n_axes;
	uint64_t n_settings, max_settings;
};

/* How often a parameter is used, and the sum of its trends. */
struct trend_votes {
	int n_uses, trend_sum;
};

static void trend_vote(struct trend_votes *w, int worse)
{
	w->n_uses++;
	w->trend_sum += worse;
}

/* 1 or -1 if all uses agree on the worse direction, else 0. */
static int trend_agreed(const struct trend_votes *w)
{
	return w->trend_sum == w->n_uses ? 1 : w->trend_sum == -w->n_uses ? -1 : 0;
}

/* Uses in the privacy objective itself. */
static struct trend_votes trend_of_uses(const struct dp_accounting_spec *o, size_t param)
{
	struct trend_votes w = { 0, 0 };

	for (size_t i = 0; i < o->nuses; i++) {
		const struct dp_mechanism_use *u = &o->uses[i];

		for (size_t k = 0; k < u->mechanism->nkeys; k++)
			if (u->param[k] == (int)param)
				trend_vote(&w, u->mechanism->keys[k].epsilon_trend);
		if (u->times_param == (int)param)
			trend_vote(&w, 1);
	}
	return w;
}

/* True if the parameter is calibrated and epsilon depends on it. */
static bool epsilon_needs_solved_param(const struct dp_study *s, const struct dp_accounting_spec *o,
				       size_t param)
{
	return s->params[param].calibrate && dp_accounting_depends_on(o, param);
}

/* Also counts uses through calibrated parameters: a larger target gives less noise. The trend of
 * their other keys is unknown, because the noise compensates. */
static struct trend_votes trend_of_param(const struct dp_study *s,
					 const struct dp_accounting_spec *o, size_t param)
{
	struct trend_votes w = trend_of_uses(o, param);

	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_calibration *c = s->params[i].calibrate;
		struct trend_votes noise = trend_of_uses(o, i);

		if (!epsilon_needs_solved_param(s, o, i))
			continue;
		if (c->epsilon_param == (int)param)
			trend_vote(&w, -trend_agreed(&noise));
		for (size_t k = 0; k < c->use.mechanism->nkeys; k++)
			if (c->use.param[k] == (int)param)
				trend_vote(&w, 0);
	}
	return w;
}

/* A range that holds every draw; see dp_space_sample(). */
static void param_drawable_range(const struct dp_param *p, double *lo, double *hi)
{
	bool whole = p->kind == DP_PARAM_INT;

	*lo = whole ? ceil(p->accept_lo) : p->accept_lo;
	*hi = whole ? floor(p->accept_hi) : p->accept_hi;
	if (!(*lo <= *hi)) {
		*lo = p->lo;
		*hi = p->hi;
	}
}

static int worst_case_add_axis(const struct dp_study *s, size_t param, struct worst_case *out,
			       struct dp_err *err)
{
	const struct dp_param *p = &s->params[param];
	struct trend_votes w = trend_of_param(s, s->objectives[out->objective].privacy, param);
	struct worst_case_axis *a = &out->axes[out->n_axes++];
	int worse = trend_agreed(&w);
	double lo, hi;

	param_drawable_range(p, &lo, &hi);
	*a = (struct worst_case_axis){ param, worse > 0 ? hi : lo, 1 };
	if (worse)
		return DP_OK;
	if (p->kind != DP_PARAM_INT) {
		dp_fail(err, DP_E_INVALID,
			"the worst epsilon that can be drawn is not known: parameter "
			"'%s' is continuous, and neither end of it is worst whatever "
			"the other parameters are",
			p->name);
		return dp_hint(err, "fix '%s', or make it whole numbers", p->name);
	}
	a->count = (uint64_t)(hi - lo) + 1;
	if (a->count <= out->max_settings / out->n_settings) {
		out->n_settings *= a->count;
		return DP_OK;
	}
	dp_fail(err, DP_E_INVALID,
		"the worst epsilon that can be drawn is among more than %d settings of "
		"the parameters that it depends on, '%s' among them",
		(int)out->max_settings, p->name);
	return dp_hint(err, "fix some of them, or make their ranges smaller");
}

static int worst_case_find_axes(const struct dp_study *s, struct worst_case *out,
				struct dp_err *err)
{
	const struct dp_accounting_spec *o;
	int code = DP_OK;

	*out = (struct worst_case){ .objective = dp_select_privacy_objective(s),
				    .n_settings = 1,
				    .max_settings = WORST_CASE_SETTINGS_MAX };
	o = s->objectives[out->objective].privacy;
	if (o->kind == DP_ACCOUNTING_EXTERNAL)
		return dp_fail(err, DP_E_INVALID,
			       "method select needs Renyi divergences, which a program "
			       "does not tell");
	for (size_t i = 0; i < s->nparams; i++)
		if (epsilon_needs_solved_param(s, o, i))
			out->max_settings = WORST_CASE_SOLVED_MAX;
	for (size_t i = 0; code == DP_OK && i < s->nparams; i++)
		if ((s->params[i].kind == DP_PARAM_FLOAT || s->params[i].kind == DP_PARAM_INT) &&
		    trend_of_param(s, o, i).n_uses > 0)
			code = worst_case_add_axis(s, i, out, err);
	return code;
}

int dp_select_check_worst_case(const struct dp_study *s, struct dp_err *err)
{
	struct worst_case support;

	return worst_case_find_axes(s, &support, err);
}

/* Reduces calibrated noise below that of any target; see NOISE_MARGIN. */
static void worst_case_add_noise_margin(const struct dp_study *s,
					const struct dp_accounting_spec *o, double *x)
{
	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_calibration *c = s->params[i].calibrate;
		struct trend_votes noise = trend_of_uses(o, i);

		if (!epsilon_needs_solved_param(s, o, i) || c->epsilon_param < 0 ||
		    s->params[c->epsilon_param].kind == DP_PARAM_FIXED)
			continue;
		x[i] *= trend_agreed(&noise) > 0 ? 1 / NOISE_MARGIN : NOISE_MARGIN;
	}
}

/* Sets the number-th setting; the last axis varies fastest. Leaves parameters alone on which
 * epsilon does not depend. */
static int worst_case_point(const struct dp_study *s, const struct worst_case *support,
			    uint64_t number, double *x, struct dp_err *err)
{
	const struct dp_accounting_spec *o = s->objectives[support->objective].privacy;
	int code;

	for (size_t i = support->n_axes; i-- > 0;) {
		const struct worst_case_axis *a = &support->axes[i];

		x[a->param] = a->first_value + (double)(number % a->count);
		number /= a->count;
	}
	for (size_t i = 0; i < s->nparams; i++)
		if (epsilon_needs_solved_param(s, o, i))
			x[i] = NAN;
	code = dp_space_solve_calibrated(s, x, err);
	if (code == DP_OK)
		worst_case_add_noise_margin(s, o, x);
	return code;
}

/* Merges the curve of one setting, all runs together, into the maximum. */
static int worst_case_join_curve(const struct dp_study *s, size_t objective, const double *x,
				 struct dp_renyi_cache *m, const double *orders, size_t n,
				 double *k, struct dp_err *err)
{
	double one[DP_RENYI_ORDERS_MAX];
	struct dp_composition_items uses;
	int code = dp_accounting_items(s, objective, x, NAN, &uses, err);

	for (size_t i = 0; code == DP_OK && i < uses.n; i++)
		uses.items[i].times *= s->trainer.runs;
	if (code == DP_OK)
		code = dp_privacy_renyi_curve(m, uses.items, uses.n, orders, n, one, err);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		k[i] = fmax(k[i], one[i]);
	return code;
}

int dp_select_worst_case_renyi(const struct dp_study *s, const double *orders, size_t n, double *k,
			       size_t *settings, struct dp_err *err)
{
	struct worst_case support;
	double x[DP_PARAMS_MAX] = { 0 };
	struct dp_renyi_cache *m;
	int code = worst_case_find_axes(s, &support, err);

	if (code != DP_OK)
		return code;
	if (n > DP_RENYI_ORDERS_MAX)
		return dp_fail(err, DP_E_LIMIT, "a curve has at most %d orders",
			       DP_RENYI_ORDERS_MAX);
	m = dp_renyi_cache_new();
	for (size_t i = 0; i < n; i++)
		k[i] = 0;
	for (uint64_t i = 0; code == DP_OK && i < support.n_settings; i++) {
		code = worst_case_point(s, &support, i, x, err);
		if (code == DP_OK)
			code = worst_case_join_curve(s, support.objective, x, m, orders, n, k, err);
	}
	dp_renyi_cache_free(m);
	if (settings)
		*settings = (size_t)support.n_settings;
	return code;
}
