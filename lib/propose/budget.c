/* budget.c - search.budget in a proposal: what a training takes of it, and what still
 * fits. */
#include "propose/propose_internal.h"

#include <math.h>
#include <string.h>

enum {
	PULLS = 30 /* halvings of the way to the cheapest point */
};
static const double design_share = 0.5; /* of the budget, for the initial design */

bool dp__budgeted(const struct dp_proposer *p)
{
	return p->history && p->history->budget_order > 0 && p->renyi;
}

double dp__budget_k(const struct dp_proposer *p, const double *x)
{
	const struct dp__inputs *in = &p->inputs;
	double at = in->nwaypoints ? x[in->in[in->path].param] : NAN, k;
	double own[DP_PARAMS_MAX];

	memcpy(own, x, p->study->nparams * sizeof *own);
	if (dp__derive(p, own, NULL) != DP_OK ||
	    dp_study_renyi(p->study, p->renyi, dp_budget_objective(p->study), own, at,
			   &p->history->budget_order, 1, &k, NULL) != DP_OK)
		return INFINITY;
	return k;
}

static double budget_log_at(const struct dp_proposer *p, size_t objective, const double *x)
{
	(void)objective; /* there is one */
	return log(dp__budget_k(p, x));
}

double dp__budget_log(const struct dp_proposer *p, const double *u, double *gradient)
{
	double at[DP_PARAMS_MAX], x[DP_PARAMS_MAX] = { 0 };

	if (gradient)
		return dp__exact_slope(p, budget_log_at, 0, u, gradient);
	memcpy(at, u, p->inputs.d * sizeof *at);
	dp__snap(&p->inputs, at);
	dp__to_x(&p->inputs, at, x);
	return budget_log_at(p, 0, x);
}

bool dp__budget_fits(const struct dp_proposer *p, const double *x)
{
	return !dp__budgeted(p) || dp__budget_k(p, x) <= p->history->budget_left;
}

double dp__budget_design(const struct dp_proposer *p, uint32_t trial)
{
	uint32_t initial = p->study->search.initial;
	double left = p->history->budget_left;

	if (dp_study_cost(p->study) != DP_COST_PRIVACY || trial >= initial)
		return left;
	/* an even part of the share, of which `trial` parts are gone; retries are kept
	 * room for in what is left */
	return fmin(left, left * (1 + p->study->trainer.retries) * design_share /
				  (initial - design_share * trial));
}

/* ---- cheaper points ---- */

static double budget_log_with(const struct dp_proposer *p, double *u, size_t k, double place)
{
	double kept = u[k], value;

	u[k] = place;
	value = dp__budget_log(p, u, NULL);
	u[k] = kept;
	return value;
}

/* The place of one input, with the others as they are in u, where a training is cheapest:
 * one of its ends, or any of the categories. Where it has no say it stays. */
static double cheapest_place(const struct dp_proposer *p, double *u, size_t k)
{
	const struct dp__input *in = &p->inputs.in[k];
	double best = u[k], least = budget_log_with(p, u, k, best);
	size_t places = in->kind == DP__CATEGORY ? (size_t)in->values : 2;

	for (size_t i = 0; i < places && in->values > 1; i++) {
		double value = budget_log_with(p, u, k, (double)i);

		if (value < least) {
			least = value;
			best = (double)i;
		}
	}
	return best;
}

/* The point of the space that is so far on the way from `cheap` to `dear`; categories
 * are those of the cheap one. */
static void point_between(const struct dp_proposer *p, const double *cheap, const double *dear,
			  double far, double *u)
{
	for (size_t k = 0; k < p->inputs.d; k++)
		u[k] = p->inputs.in[k].kind == DP__CATEGORY ? cheap[k]
							    : cheap[k] + far * (dear[k] - cheap[k]);
	dp__snap(&p->inputs, u);
}

bool dp__budget_pull(const struct dp_proposer *p, double most, double *u)
{
	double cheap[DP_PARAMS_MAX], dear[DP_PARAMS_MAX], lo = 0, hi = 1;
	double limit = log(most);

	if (dp__budget_log(p, u, NULL) <= limit)
		return true;
	memcpy(dear, u, p->inputs.d * sizeof *dear);
	for (size_t k = 0; k < p->inputs.d; k++)
		cheap[k] = p->inputs.in[k].pinned ? u[k] : cheapest_place(p, dear, k);
	if (!(dp__budget_log(p, cheap, NULL) <= limit))
		return false;
	memcpy(u, cheap, p->inputs.d * sizeof *cheap);
	for (int i = 0; i < PULLS; i++) {
		double middle = 0.5 * (lo + hi), at[DP_PARAMS_MAX];

		point_between(p, cheap, dear, middle, at);
		if (dp__budget_log(p, at, NULL) <= limit) {
			memcpy(u, at, p->inputs.d * sizeof *at);
			lo = middle;
		} else {
			hi = middle;
		}
	}
	return true;
}
