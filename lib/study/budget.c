/* budget.c - search.budget: what all trainings of a study may cost together, and what
 * one of them adds to it. */
#include "study/study_internal.h"

#include <math.h>
#include <stdlib.h>

enum {
	BUDGET_SETTINGS = 64 /* of the space, from which the filter's order is chosen */
};

/* ---- reading ---- */

void dp__read_budget(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	struct dp_budget *b = to;

	(void)k;
	if (!dp__is_map(r, v, "budget", "{epsilon: 4, delta: 1e-5}", SIZE_MAX))
		return;
	dp__read_section(r, DP__BUDGET, v->key_pos, v, to);
	if (b->delta >= 1)
		dp__problem(r, dp__get(v, "delta")->pos, "a number above 0 and below 1",
			    "'budget.delta' is %g, which promises nothing", b->delta);
}

static size_t privacy_objectives(const struct dp_study *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nobjectives; i++)
		n += s->objectives[i].privacy != NULL;
	return n;
}

/* As many evaluations as somebody may want to count, where only the budget ends them. */
static void set_evaluations(struct dp_search *search)
{
	if (!search->evaluations && search->method != DP_METHOD_GRID)
		search->evaluations = DP_EVALUATIONS_MAX;
}

/* What a candidate takes of the budget depends on its noise, and a proposal weighs
 * thousands of them. */
static void refuse_slow_noise(struct dp__read *r, const struct dp__node *budget)
{
	const struct dp_study *s = r->s;
	const struct dp_oracle *o = s->objectives[dp_budget_objective(s)].privacy;

	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_calibration *c = s->params[i].calibrate;

		if (c && dp_study_adapts(s) && dp_oracle_depends(o, i) &&
		    dp_privacy_cost(c->use.mechanism, c->use.constant) == DP_PRIVACY_COSTLY)
			dp__problem(r, budget->key_pos, "accountant: rdp in 'calibrate'",
				    "'budget' needs the noise of every point that method "
				    "dpareto weighs, and by loss distributions '%s' takes "
				    "too long to solve for",
				    s->params[i].name);
	}
}

/* What people should know who are about to rely on it. */
static void warn_budget(struct dp__read *r, const struct dp__node *budget)
{
	const struct dp__node *from = dp__get(r->search, "initial_from");
	int retries = r->s->trainer.retries;

	if (retries > 0)
		dp__warning(r, budget->key_pos, NULL,
			    "'budget' keeps room for the %d time%s that trainer.retries "
			    "lets each evaluation be tried again; with 'retries: 0' more of "
			    "it can be used",
			    retries, retries == 1 ? "" : "s");
	if (from)
		dp__warning(r, from->key_pos, NULL,
			    "'budget' counts the trainings of this study only: what "
			    "those of '%s' cost on the same records comes on top of it",
			    dp_origin_shown(r->s->search.initial_from));
}

void dp__check_budget(struct dp__read *r)
{
	const struct dp__node *v = dp__get(r->search, "budget");
	size_t n = privacy_objectives(r->s);
	struct dp_err err;

	if (!v)
		return;
	if (n != 1 && !r->problems->errors)
		dp__problem(r, v->key_pos, "exactly one objective with 'privacy'",
			    n ? "'budget' can count one privacy objective; the study has "
				"%zu"
			      : "'budget' has nothing to count: no objective has "
				"'privacy'",
			    n);
	if (r->problems->errors)
		return;
	set_evaluations(&r->s->search);
	warn_budget(r, v);
	if (dp_study_adds_up(r->s, dp_budget_objective(r->s), &err) != DP_OK)
		dp__problem(r, v->key_pos, NULL, "'budget' cannot be kept: %s", err.msg);
	else
		refuse_slow_noise(r, v);
}

/* ---- asking ---- */

bool dp_study_adapts(const struct dp_study *s)
{
	return s->search.method == DP_METHOD_DPARETO;
}

size_t dp_budget_objective(const struct dp_study *s)
{
	size_t i = 0;

	while (i < s->nobjectives && !s->objectives[i].privacy)
		i++;
	return i;
}

int dp_study_adds_up(const struct dp_study *s, size_t objective, struct dp_err *err)
{
	double x[DP_PARAMS_MAX];
	struct dp_uses uses;
	int code;

	dp__space_any(s, x);
	code = dp_oracle_uses(s, objective, x, NAN, &uses, err);
	/* any delta: pure mechanisms add up at delta 0, too, but that is not asked here
	 */
	return code == DP_OK ? dp_privacy_composes(uses.item, uses.n, 0.5, err) : code;
}

/* Of the end alone, whatever its checkpoints cost. */
static int end_renyi(const struct dp_study *s, struct dp_renyi_memory *m, size_t objective,
		     const double *x, double at, const double *orders, size_t n, double *k,
		     struct dp_err *err)
{
	struct dp_uses uses;
	int code = dp_oracle_uses(s, objective, x, at, &uses, err);

	if (code == DP_OK)
		return dp_privacy_renyi(m, uses.item, uses.n, orders, n, k, err);
	for (size_t i = 0; i < n; i++)
		k[i] = INFINITY;
	return code;
}

int dp_study_renyi(const struct dp_study *s, struct dp_renyi_memory *m, size_t objective,
		   const double *x, double at, const double *orders, size_t n, double *k,
		   struct dp_err *err)
{
	double before[DP_WAYPOINTS_MAX], one[DP_RENYI_ORDERS_MAX];
	int code = end_renyi(s, m, objective, x, at, orders, n, k, err);
	size_t checkpoints = code == DP_OK ? dp_path_costlier(s, objective, x, at, before) : 0;

	if (checkpoints > 0 && n > DP_RENYI_ORDERS_MAX)
		return dp_fail(err, DP_E_LIMIT, "more than %d orders of a learning curve",
			       DP_RENYI_ORDERS_MAX);
	for (size_t i = 0; i < checkpoints; i++) {
		code = end_renyi(s, m, objective, x, before[i], orders, n, one, err);
		if (code == DP_E_INVALID) /* no result there */
			continue;
		for (size_t j = 0; j < n; j++)
			k[j] = code == DP_OK ? fmax(k[j], one[j]) : INFINITY;
		if (code != DP_OK)
			return code;
	}
	return checkpoints > 0 ? DP_OK : code;
}

/* Curves of the settings, with all their runs; a setting that the oracle refuses can
 * never be trained, and its curve is infinite. */
static int sample_curves(const struct dp_study *s, struct dp_renyi_memory *m,
			 const struct dp_odometer *o, double *k, struct dp_err *err)
{
	size_t objective = dp_budget_objective(s);
	double x[DP_PARAMS_MAX];

	for (uint32_t i = 0; i < BUDGET_SETTINGS; i++) {
		double *curve = k + i * o->n;
		int code;

		dp_space_sample(s, i, true, x);
		code = dp_space_derive(s, x, err);
		if (code == DP_OK || code == DP_E_INVALID)
			code = dp_study_renyi(s, m, objective, x, NAN, o->order, o->n, curve, err);
		if (code != DP_OK && code != DP_E_INVALID)
			return code;
		for (size_t j = 0; j < o->n; j++)
			curve[j] *= s->trainer.runs;
	}
	return DP_OK;
}

int dp_budget_filter(const struct dp_study *s, const struct dp_odometer *o, struct dp_filter *out,
		     struct dp_err *err)
{
	const struct dp_budget *b = &s->search.budget;
	struct dp_renyi_memory *m = dp_renyi_memory_new();
	double *k = malloc(BUDGET_SETTINGS * o->n * sizeof *k);
	int code = DP_E_NOMEM;

	if (m && k)
		code = sample_curves(s, m, o, k, err);
	else
		dp_fail(err, code, "no memory for the privacy accountant");
	if (code == DP_OK)
		code = dp_filter_choose(b->epsilon, b->delta, o->order, o->n, k, BUDGET_SETTINGS,
					out, err);
	if (code == DP_E_LIMIT)
		dp_err_prefix(err, "search.budget");
	free(k);
	dp_renyi_memory_free(m);
	return code;
}
