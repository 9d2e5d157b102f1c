/* support.c - the worst setting that a prior can draw, for method select.
 *
 * Theorems about private selection want the Renyi curve of one training, the largest over
 * all settings that can be drawn. A parameter on which epsilon depends either has an end
 * that is worst whatever the others are (all mechanisms that use it say so: their keys'
 * `worse`), or its values are tried one by one. A continuous one without such an end is
 * refused: a maximum that was only sampled would be no upper bound. */
#include "study/study_internal.h"

#include <math.h>

/* Noise that is solved for grows while the target falls, but only as evenly as
 * accountants follow noise, which loss distributions do to some 0.1 % of epsilon. So that
 * a smaller target is never met with less noise than was looked at, that is less by this
 * much. */
#define SUPPORT_NOISE_LEFT 0.998

enum {
	SUPPORT_MAX = 1024,      /* settings that are tried */
	SUPPORT_DERIVED_MAX = 64 /* where noise is to be solved for, in each */
};

/* A parameter on which epsilon depends. */
struct axis {
	size_t param;
	double first; /* the worst end, or the lowest of `count` whole numbers */
	uint64_t count;
};

struct support {
	size_t objective;
	struct axis axis[DP_PARAMS_MAX];
	size_t n;
	uint64_t settings, most;
};

/* What is done with a parameter: so often, and the sum of which way is worse. */
struct worse {
	int uses, sum;
};

static void support_count(struct worse *w, int worse)
{
	w->uses++;
	w->sum += worse;
}

/* 1 or -1: which way is worse, if all that is done with it agrees; 0: none. */
static int support_way(const struct worse *w)
{
	return w->sum == w->uses ? 1 : w->sum == -w->uses ? -1 : 0;
}

/* What an oracle itself does with it. */
static struct worse support_used(const struct dp_oracle *o, size_t param)
{
	struct worse w = { 0, 0 };

	for (size_t i = 0; i < o->nuses; i++) {
		const struct dp_use *u = &o->uses[i];

		for (size_t k = 0; k < u->mechanism->nkeys; k++)
			if (u->param[k] == (int)param)
				support_count(&w, u->mechanism->keys[k].worse);
		if (u->times_param == (int)param)
			support_count(&w, 1);
	}
	return w;
}

/* Is this one solved for, and does epsilon depend on it? */
static bool support_derives(const struct dp_study *s, const struct dp_oracle *o, size_t param)
{
	return s->params[param].calibrate && dp_oracle_depends(o, param);
}

/* The same with what it does through parameters that are calibrated: a larger target
 * gives less noise; of the rest nothing is known, since noise makes up for it. */
static struct worse support_worse(const struct dp_study *s, const struct dp_oracle *o, size_t param)
{
	struct worse w = support_used(o, param);

	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_calibration *c = s->params[i].calibrate;
		struct worse noise = support_used(o, i);

		if (!support_derives(s, o, i))
			continue;
		if (c->epsilon_param == (int)param)
			support_count(&w, -support_way(&noise));
		for (size_t k = 0; k < c->use.mechanism->nkeys; k++)
			if (c->use.param[k] == (int)param)
				support_count(&w, 0);
	}
	return w;
}

/* Everything that can be drawn lies within; see dp_space_sample(). */
static void support_range(const struct dp_param *p, double *lo, double *hi)
{
	bool whole = p->kind == DP_PARAM_INT;

	*lo = whole ? ceil(p->accept_lo) : p->accept_lo;
	*hi = whole ? floor(p->accept_hi) : p->accept_hi;
	if (!(*lo <= *hi)) {
		*lo = p->lo;
		*hi = p->hi;
	}
}

static int support_axis(const struct dp_study *s, size_t param, struct support *out,
			struct dp_err *err)
{
	const struct dp_param *p = &s->params[param];
	struct worse w = support_worse(s, s->objectives[out->objective].privacy, param);
	struct axis *a = &out->axis[out->n++];
	int worse = support_way(&w);
	double lo, hi;

	support_range(p, &lo, &hi);
	*a = (struct axis){ param, worse > 0 ? hi : lo, 1 };
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
	if (a->count <= out->most / out->settings) {
		out->settings *= a->count;
		return DP_OK;
	}
	dp_fail(err, DP_E_INVALID,
		"the worst epsilon that can be drawn is among more than %d settings of "
		"the parameters that it depends on, '%s' among them",
		(int)out->most, p->name);
	return dp_hint(err, "fix some of them, or make their ranges smaller");
}

static int support_find(const struct dp_study *s, struct support *out, struct dp_err *err)
{
	const struct dp_oracle *o;
	int code = DP_OK;

	*out = (struct support){ .objective = dp_select_privacy(s),
				 .settings = 1,
				 .most = SUPPORT_MAX };
	o = s->objectives[out->objective].privacy;
	if (o->kind == DP_ORACLE_PROGRAM)
		return dp_fail(err, DP_E_INVALID,
			       "method select needs Renyi divergences, which a program "
			       "does not tell");
	for (size_t i = 0; i < s->nparams; i++)
		if (support_derives(s, o, i))
			out->most = SUPPORT_DERIVED_MAX;
	for (size_t i = 0; code == DP_OK && i < s->nparams; i++)
		if ((s->params[i].kind == DP_PARAM_FLOAT || s->params[i].kind == DP_PARAM_INT) &&
		    support_worse(s, o, i).uses > 0)
			code = support_axis(s, i, out, err);
	return code;
}

int dp_select_covers(const struct dp_study *s, struct dp_err *err)
{
	struct support support;

	return support_find(s, &support, err);
}

/* Beyond what a target that varies can be met with; see SUPPORT_NOISE_LEFT. */
static void support_go_beyond(const struct dp_study *s, const struct dp_oracle *o, double *x)
{
	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_calibration *c = s->params[i].calibrate;
		struct worse noise = support_used(o, i);

		if (!support_derives(s, o, i) || c->epsilon_param < 0 ||
		    s->params[c->epsilon_param].kind == DP_PARAM_FIXED)
			continue;
		x[i] *= support_way(&noise) > 0 ? 1 / SUPPORT_NOISE_LEFT : SUPPORT_NOISE_LEFT;
	}
}

/* The number-th setting, the last axis running fastest. What epsilon does not depend on
 * is left as it is. */
static int support_point(const struct dp_study *s, const struct support *support, uint64_t number,
			 double *x, struct dp_err *err)
{
	const struct dp_oracle *o = s->objectives[support->objective].privacy;
	int code;

	for (size_t i = support->n; i-- > 0;) {
		const struct axis *a = &support->axis[i];

		x[a->param] = a->first + (double)(number % a->count);
		number /= a->count;
	}
	for (size_t i = 0; i < s->nparams; i++)
		if (support_derives(s, o, i))
			x[i] = NAN;
	code = dp_space_derive(s, x, err);
	if (code == DP_OK)
		support_go_beyond(s, o, x);
	return code;
}

/* The curve of one setting, all runs together, joins the largest. */
static int support_join(const struct dp_study *s, size_t objective, const double *x,
			struct dp_renyi_memory *m, const double *orders, size_t n, double *k,
			struct dp_err *err)
{
	double one[DP_RENYI_ORDERS_MAX];
	struct dp_uses uses;
	int code = dp_oracle_uses(s, objective, x, NAN, &uses, err);

	for (size_t i = 0; code == DP_OK && i < uses.n; i++)
		uses.item[i].times *= s->trainer.runs;
	if (code == DP_OK)
		code = dp_privacy_renyi(m, uses.item, uses.n, orders, n, one, err);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		k[i] = fmax(k[i], one[i]);
	return code;
}

int dp_select_curve(const struct dp_study *s, const double *orders, size_t n, double *k,
		    size_t *settings, struct dp_err *err)
{
	struct support support;
	double x[DP_PARAMS_MAX] = { 0 };
	struct dp_renyi_memory *m;
	int code = support_find(s, &support, err);

	if (code != DP_OK)
		return code;
	if (n > DP_RENYI_ORDERS_MAX)
		return dp_fail(err, DP_E_LIMIT, "a curve has at most %d orders",
			       DP_RENYI_ORDERS_MAX);
	m = dp_renyi_memory_new();
	if (!m)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	for (size_t i = 0; i < n; i++)
		k[i] = 0;
	for (uint64_t i = 0; code == DP_OK && i < support.settings; i++) {
		code = support_point(s, &support, i, x, err);
		if (code == DP_OK)
			code = support_join(s, support.objective, x, m, orders, n, k, err);
	}
	dp_renyi_memory_free(m);
	if (settings)
		*settings = (size_t)support.settings;
	return code;
}
