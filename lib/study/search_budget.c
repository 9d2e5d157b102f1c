/* search_budget.c - search.budget: its key, the cost of one run, and the privacy filter. */
#include "study/parse/study_parse_internal.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/learning_curve.h"
#include "study/search_budget.h"
#include "study/space.h"
#include "study/warm_start_source.h"
#include "study/objective.h"

#include <math.h>
#include <stdlib.h>

enum {
	BUDGET_SAMPLE_SIZE = 64 /* points of the space, to choose the filter's order */
};

/* ---- reading ---- */

void dp__read_budget(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	struct dp_budget *b = to;

	(void)k;
	if (!dp__expect_map(r, v, "budget", "{epsilon: 4, delta: 1e-5}", SIZE_MAX))
		return;
	dp__read_section(r, DP__BUDGET, v->key_pos, v, to);
	if (b->delta >= 1)
		dp__report_error(r, dp__map_get(v, "delta")->pos, "a number above 0 and below 1",
				 "'budget.delta' is %g, which promises nothing", b->delta);
}

static size_t count_objectives_with_privacy(const struct dp_study *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nobjectives; i++)
		n += s->objectives[i].privacy != NULL;
	return n;
}

/* The largest number of evaluations, where only the budget ends the search. */
static void set_unlimited_evaluations(struct dp_search *search)
{
	if (!search->evaluations && search->method != DP_METHOD_GRID)
		search->evaluations = DP_EVALUATIONS_MAX;
}

/* A candidate's cost depends on its noise, and a proposal evaluates thousands of candidates. */
static void refuse_slow_calibration(struct dp__study_parser *r, const struct dp__node *budget)
{
	const struct dp_study *s = r->study;
	const struct dp_accounting_spec *o = s->objectives[dp_budget_objective(s)].privacy;

	for (size_t i = 0; i < s->nparams; i++) {
		const struct dp_calibration *c = s->params[i].calibrate;

		if (c && dp_study_is_adaptive(s) && dp_accounting_depends_on(o, i) &&
		    dp_mechanism_cost(c->use.mechanism, c->use.constant) ==
			    DP_PRIVACY_COST_EXPENSIVE)
			dp__report_error(r, budget->key_pos, "accountant: rdp in 'calibrate'",
					 "'budget' needs the noise of every point that method "
					 "dpareto weighs, and by loss distributions '%s' takes "
					 "too long to solve for",
					 s->params[i].name);
	}
}

/* Warnings about the limits of the guarantee. */
static void warn_budget_limits(struct dp__study_parser *r, const struct dp__node *budget)
{
	const struct dp__node *from = dp__map_get(r->search_node, "initial_from");
	int retries = r->study->trainer.retries;

	if (retries > 0)
		dp__report_warning(r, budget->key_pos, NULL,
				   "'budget' keeps room for the %d time%s that trainer.retries "
				   "lets each evaluation be tried again; with 'retries: 0' more of "
				   "it can be used",
				   retries, retries == 1 ? "" : "s");
	if (from)
		dp__report_warning(r, from->key_pos, NULL,
				   "'budget' counts the trainings of this study only: what "
				   "those of '%s' cost on the same records comes on top of it",
				   dp_warm_start_display_name(r->study->search.initial_from));
}

void dp__check_budget(struct dp__study_parser *r)
{
	const struct dp__node *v = dp__map_get(r->search_node, "budget");
	size_t n = count_objectives_with_privacy(r->study);
	struct dp_err err;

	if (!v)
		return;
	if (n != 1 && !r->diagnostics->error_count)
		dp__report_error(r, v->key_pos, "exactly one objective with 'privacy'",
				 n ? "'budget' can count one privacy objective; the study has "
				     "%zu"
				   : "'budget' has nothing to count: no objective has "
				     "'privacy'",
				 n);
	if (r->diagnostics->error_count)
		return;
	set_unlimited_evaluations(&r->study->search);
	warn_budget_limits(r, v);
	if (dp_study_check_composable(r->study, dp_budget_objective(r->study), &err) != DP_OK)
		dp__report_error(r, v->key_pos, NULL, "'budget' cannot be kept: %s", err.msg);
	else
		refuse_slow_calibration(r, v);
}

/* ---- queries ---- */

bool dp_study_is_adaptive(const struct dp_study *s)
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

int dp_study_check_composable(const struct dp_study *s, size_t objective, struct dp_err *err)
{
	double x[DP_PARAMS_MAX];
	struct dp_composition_items uses;
	int code;

	dp__space_any_point(s, x);
	code = dp_accounting_items(s, objective, x, NAN, &uses, err);
	/* any delta will do: pure mechanisms also compose at delta 0, which does not matter here */
	return code == DP_OK ? dp_privacy_check_composable(uses.items, uses.n, 0.5, err) : code;
}

/* K at the end alone, without checkpoints. */
static int renyi_at_end(const struct dp_study *s, struct dp_renyi_cache *m, size_t objective,
			const double *x, double at, const double *orders, size_t n, double *k,
			struct dp_err *err)
{
	struct dp_composition_items uses;
	int code = dp_accounting_items(s, objective, x, at, &uses, err);

	if (code == DP_OK)
		return dp_privacy_renyi_curve(m, uses.items, uses.n, orders, n, k, err);
	for (size_t i = 0; i < n; i++)
		k[i] = INFINITY;
	return code;
}

int dp_study_training_renyi(const struct dp_study *s, struct dp_renyi_cache *m, size_t objective,
			    const double *x, double at, const double *orders, size_t n, double *k,
			    struct dp_err *err)
{
	double before[DP_CHECKPOINTS_MAX], one[DP_RENYI_ORDERS_MAX];
	int code = renyi_at_end(s, m, objective, x, at, orders, n, k, err);
	size_t checkpoints =
		code == DP_OK ? dp_learning_curve_costlier(s, objective, x, at, before) : 0;

	if (checkpoints > 0 && n > DP_RENYI_ORDERS_MAX)
		return dp_fail(err, DP_E_LIMIT, "more than %d orders of a learning curve",
			       DP_RENYI_ORDERS_MAX);
	for (size_t i = 0; i < checkpoints; i++) {
		code = renyi_at_end(s, m, objective, x, before[i], orders, n, one, err);
		if (code ==
		    DP_E_INVALID) /* the accountant refuses this checkpoint: it has no result */
			continue;
		for (size_t j = 0; j < n; j++)
			k[j] = code == DP_OK ? fmax(k[j], one[j]) : INFINITY;
		if (code != DP_OK)
			return code;
	}
	return checkpoints > 0 ? DP_OK : code;
}

/* Curves of the settings with all their runs, infinite if the accountant refuses the setting. */
static int sample_renyi_curves(const struct dp_study *s, struct dp_renyi_cache *m,
			       const struct dp_odometer *o, double *k, struct dp_err *err)
{
	size_t objective = dp_budget_objective(s);
	double x[DP_PARAMS_MAX];

	for (uint32_t i = 0; i < BUDGET_SAMPLE_SIZE; i++) {
		double *curve = k + i * o->n;
		int code;

		dp_space_sample(s, i, true, x);
		code = dp_space_solve_calibrated(s, x, err);
		if (code == DP_OK || code == DP_E_INVALID)
			code = dp_study_training_renyi(s, m, objective, x, NAN, o->order, o->n,
						       curve, err);
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
	struct dp_renyi_cache *m = dp_renyi_cache_new();
	double *k = dp_malloc(BUDGET_SAMPLE_SIZE * o->n * sizeof *k);
	int code = sample_renyi_curves(s, m, o, k, err);

	if (code == DP_OK)
		code = dp_filter_choose_order(b->epsilon, b->delta, o->order, o->n, k,
					      BUDGET_SAMPLE_SIZE, out, err);
	if (code == DP_E_LIMIT)
		dp_err_prefix(err, "search.budget");
	free(k);
	dp_renyi_cache_free(m);
	return code;
}
