/* proposal_budget.c - applies search.budget to proposals. */
#include "optimize/propose/proposer_internal.h"
#include "study/search_budget.h"

#include <math.h>
#include <string.h>

enum {
	BUDGET_BISECTIONS = 30 /* bisections towards the cheapest point */
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
	(void)objective; /* only one objective has a budget */
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
	/* an even part of the design's share, less `trial` parts; the rest covers retries */
	return fmin(left, left * (1 + p->study->trainer.retries) * design_share /
				  (initial - design_share * trial));
}

/* ---- cheaper points ---- */

static double log_cost_at(const void *arg, const double *u)
{
	return dp__budget_log_cost(arg, u, NULL);
}

bool dp__budget_move_to_affordable(const struct dp_proposer *p, double most, double *u)
{
	const struct dp__encoding *in = &p->encoding;
	double cheap[DP_PARAMS_MAX], moved[DP_PARAMS_MAX];
	bool matters;

	if (dp__budget_log_cost(p, u, NULL) <= log(most))
		return true;
	memcpy(moved, u, in->d * sizeof *moved);
	for (size_t k = 0; k < in->d; k++)
		cheap[k] = in->inputs[k].is_pinned
				   ? u[k]
				   : dp__encoding_min_input(in, k, log_cost_at, p, moved, &matters);
	if (!dp__encoding_pull(in, log_cost_at, p, log(most), BUDGET_BISECTIONS, cheap, moved))
		return false;
	memcpy(u, moved, in->d * sizeof *moved);
	return true;
}
