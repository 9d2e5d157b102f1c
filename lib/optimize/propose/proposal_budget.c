/* budget.c - search.budget in a proposal: what a training takes of it, and what still fits. */
#include "optimize/propose/proposer_internal.h"

#include <math.h>
#include <string.h>

enum {
	BUDGET_BISECTIONS = 30 /* halvings of the way to the cheapest point */
};
static const double design_share = 0.5; /* of the budget, for the initial design */

bool dp__budget_is_set(const struct dp_proposer *p)
{
	return p->history && p->history->budget_order > 0 && p->renyi_cache;
}

double dp__budget_renyi_cost(const struct dp_proposer *p, const double *x)
{
	const struct dp__encoding *in = &p->encoding;
	double at = in->n_checkpoints ? x[in->inputs[in->path_input].param] : NAN, k;
	double own[DP_PARAMS_MAX];

	memcpy(own, x, p->study->nparams * sizeof *own);
	if (dp__proposer_calibrate(p, own, NULL) != DP_OK ||
	    dp_study_training_renyi(p->study, p->renyi_cache, dp_budget_objective(p->study), own,
				    at, &p->history->budget_order, 1, &k, NULL) != DP_OK)
		return INFINITY;
	return k;
}

static double budget_log_cost_at(const struct dp_proposer *p, size_t objective, const double *x)
{
	(void)objective; /* there is one */
	return log(dp__budget_renyi_cost(p, x));
}

double dp__budget_log_cost(const struct dp_proposer *p, const double *u, double *gradient)
{
	double at[DP_PARAMS_MAX], x[DP_PARAMS_MAX] = { 0 };

	if (gradient)
		return dp__point_fn_gradient(p, budget_log_cost_at, 0, u, gradient);
	memcpy(at, u, p->encoding.d * sizeof *at);
	dp__encoding_round(&p->encoding, at);
	dp__encoding_decode(&p->encoding, at, x);
	return budget_log_cost_at(p, 0, x);
}

bool dp__budget_can_afford(const struct dp_proposer *p, const double *x)
{
	return !dp__budget_is_set(p) || dp__budget_renyi_cost(p, x) <= p->history->budget_remaining;
}

double dp__budget_initial_share(const struct dp_proposer *p, uint32_t trial)
{
	uint32_t initial = p->study->search.initial;
	double left = p->history->budget_remaining;

	if (dp_study_cost(p->study) != DP_COST_PRIVACY || trial >= initial)
		return left;
	/* an even part of the share, of which `trial` parts are gone; retries are kept room for in
	 * what is left */
	return fmin(left, left * (1 + p->study->trainer.retries) * design_share /
				  (initial - design_share * trial));
}

/* ---- cheaper points ---- */

static double budget_log_cost_with_input(const struct dp_proposer *p, double *u, size_t k,
					 double place)
{
	double kept = u[k], value;

	u[k] = place;
	value = dp__budget_log_cost(p, u, NULL);
	u[k] = kept;
	return value;
}

/* The place of one input, with the others as they are in u, where a training is cheapest: one of
 * its ends, or any of the categories. Where it has no say it stays. */
static double find_cheapest_input(const struct dp_proposer *p, double *u, size_t k)
{
	const struct dp__input *in = &p->encoding.inputs[k];
	double best = u[k], least = budget_log_cost_with_input(p, u, k, best);
	size_t places = in->kind == DP__INPUT_CATEGORY ? (size_t)in->n_values : 2;

	for (size_t i = 0; i < places && in->n_values > 1; i++) {
		double value = budget_log_cost_with_input(p, u, k, (double)i);

		if (value < least) {
			least = value;
			best = (double)i;
		}
	}
	return best;
}

/* The point of the space that is so far on the way from `cheap` to `dear`; categories are those of
 * the cheap one. */
static void interpolate_points(const struct dp_proposer *p, const double *cheap, const double *dear,
			       double far, double *u)
{
	for (size_t k = 0; k < p->encoding.d; k++)
		u[k] = p->encoding.inputs[k].kind == DP__INPUT_CATEGORY
			       ? cheap[k]
			       : cheap[k] + far * (dear[k] - cheap[k]);
	dp__encoding_round(&p->encoding, u);
}

bool dp__budget_move_to_affordable(const struct dp_proposer *p, double most, double *u)
{
	double cheap[DP_PARAMS_MAX], dear[DP_PARAMS_MAX], lo = 0, hi = 1;
	double limit = log(most);

	if (dp__budget_log_cost(p, u, NULL) <= limit)
		return true;
	memcpy(dear, u, p->encoding.d * sizeof *dear);
	for (size_t k = 0; k < p->encoding.d; k++)
		cheap[k] = p->encoding.inputs[k].is_pinned ? u[k] : find_cheapest_input(p, dear, k);
	if (!(dp__budget_log_cost(p, cheap, NULL) <= limit))
		return false;
	memcpy(u, cheap, p->encoding.d * sizeof *cheap);
	for (int i = 0; i < BUDGET_BISECTIONS; i++) {
		double middle = 0.5 * (lo + hi), at[DP_PARAMS_MAX];

		interpolate_points(p, cheap, dear, middle, at);
		if (dp__budget_log_cost(p, at, NULL) <= limit) {
			memcpy(u, at, p->encoding.d * sizeof *at);
			lo = middle;
		} else {
			hi = middle;
		}
	}
	return true;
}
