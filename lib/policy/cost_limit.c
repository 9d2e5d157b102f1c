/* cost_limit.c - search.max_cost: decides whether one more run may start. */
#include "policy/policy.h"

#include <math.h>

/* Mean seconds of the trials with a result; 0: there are none. */
static double mean_seconds(const struct dp_study_state *s)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		double seconds = dp_trial_result_seconds(s->trials[i]);

		sum += seconds;
		n += seconds > 0;
	}
	return n ? sum / n : 0;
}

static double expected_cost(const struct dp_study_state *s, const struct dp_expected_cost *e)
{
	uint32_t pending = 0;

	if (dp_study_cost(s->spec) == DP_COST_PATH)
		return e->spent + e->next; /* `spent` includes pending trials */
	if (!isnan(e->next))
		return e->spent + e->pending + e->next;
	for (uint32_t i = s->first_unfinished; i < s->ntrials; i++)
		pending += s->trials[i]->status < DP_TRIAL_OK;
	return e->spent + mean_seconds(s) * (1 + pending);
}

int dp_policy_check_max_cost(const struct dp_study_state *s, const struct dp_expected_cost *e,
			     struct dp_err *err)
{
	const struct dp_study *spec = s->spec;
	bool path = dp_study_cost(spec) == DP_COST_PATH; /* printed as whole numbers */
	double max = spec->search.max_cost, sum = max == 0 ? 0 : expected_cost(s, e);

	if (sum <= max)
		return DP_OK;
	return dp_fail(err, DP_E_LIMIT,
		       "search.max_cost: %.15g %s would be %.*g with the next training", max,
		       path ? spec->params[spec->trainer.learning_curve.param].name : "seconds",
		       path ? 15 : 7, sum);
}
