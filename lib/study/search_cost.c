/* search_cost.c - search.cost and search.max_cost: the cost of a run, and checks of these keys. */
#include "study/parse/study_parse_internal.h"

#include <math.h>

enum dp_cost dp_study_cost(const struct dp_study *s)
{
	if (s->search.cost != DP_COST_DEFAULT)
		return s->search.cost;
	return s->trainer.learning_curve.points ? DP_COST_PATH : DP_COST_NONE;
}

/* The least and the largest cost of one run. 0: unknown beforehand. */
static void training_cost_range(const struct dp_study *s, double *cheapest, double *dearest)
{
	*cheapest = *dearest = 0;
	if (dp_study_cost(s) != DP_COST_PATH)
		return;
	dp__learning_curve_range(s, cheapest, dearest);
	if (s->params[s->trainer.learning_curve.param].kind == DP_PARAM_FIXED)
		*cheapest = *dearest;
}

/* Without `evaluations`, there are as many as the cheapest runs allow. */
static void check_max_cost(struct dp__study_parser *r, const struct dp__node *most)
{
	struct dp_search *search = &r->study->search;
	double cheapest, dearest;

	training_cost_range(r->study, &cheapest, &dearest);
	if (dp_study_cost(r->study) == DP_COST_PRIVACY) {
		dp__report_error(r, most->key_pos, NULL,
				 "'max_cost' has nothing to count with 'cost: privacy': what "
				 "privacy may cost is 'budget'");
		return;
	}
	if (dp_study_cost(r->study) == DP_COST_NONE) {
		dp__report_error(r, most->key_pos, "cost: path or cost: seconds",
				 "'max_cost' has nothing to count: 'cost' is none%s",
				 search->cost == DP_COST_NONE ? ""
							      : " where there is no trainer.path");
		return;
	}
	if (search->max_cost > 0 && search->max_cost < cheapest)
		dp__report_error(r, most->pos, NULL,
				 "not one training would be made: the cheapest costs %.15g",
				 cheapest);
	else if (search->max_cost > 0 && search->max_cost < dearest)
		dp__report_warning(r, most->pos, NULL,
				   "one training may cost %.15g, so the study can end with the "
				   "first",
				   dearest);
	if (search->evaluations || search->method == DP_METHOD_GRID)
		return;
	search->evaluations = DP_EVALUATIONS_MAX;
	if (cheapest > 0)
		search->evaluations =
			(uint32_t)fmin(floor(search->max_cost / cheapest), DP_EVALUATIONS_MAX);
}

void dp__check_cost(struct dp__study_parser *r)
{
	const struct dp__node *cost = dp__map_get(r->search_node, "cost");
	const struct dp__node *most = dp__map_get(r->search_node, "max_cost");
	const struct dp_search *search = &r->study->search;

	if (search->cost == DP_COST_PATH && !r->learning_curve_node) {
		dp__report_error(r, cost->pos, "none, seconds or privacy, or a trainer.path",
				 "'cost' cannot be path: the study has no trainer.path");
		return;
	}
	if (search->cost == DP_COST_PRIVACY && !dp__map_get(r->search_node, "budget")) {
		dp__report_error(r, cost->pos, "none, path or seconds, or a search.budget",
				 "'cost' cannot be privacy: the study has no search.budget to "
				 "spend");
		return;
	}
	if ((r->learning_curve_node && r->diagnostics->error_count) || (cost && !search->cost))
		return; /* errors of the path or the cost are already reported */
	if (most)
		check_max_cost(r, most);
	else if (cost && search->method != DP_METHOD_DPARETO)
		dp__report_warning(r, cost->key_pos, NULL,
				   "'cost' has a meaning only for method dpareto, or with "
				   "'max_cost'");
	if (search->cost == DP_COST_SECONDS && search->deterministic_order &&
	    (most || search->method == DP_METHOD_DPARETO))
		dp__report_warning(r, cost->pos, NULL,
				   "seconds differ from one run of the study to the next, and "
				   "so will what depends on them, whatever 'order' says");
}
