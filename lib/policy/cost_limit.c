/* cost.c - search.max_cost: may one more training be made? */
#include "policy/policy.h"

#include <math.h>

/* Seconds of a training that nothing is expected of: the mean of those before it, 0
 * before there is one. */
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

static uint32_t pending_trials(const struct dp_study_state *s)
{
	uint32_t n = 0;

	for (uint32_t i = s->first_unfinished; i < s->ntrials; i++)
		n += s->trials[i]->status < DP_TRIAL_OK;
	return n;
}

double dp_policy_expected_cost(const struct dp_study_state *s, const struct dp_expected_cost *e)
{
	if (dp_study_cost(s->spec) == DP_COST_PATH)
		return e->spent + e->next; /* what is pending is spent */
	if (isnan(e->next))
		return e->spent + mean_seconds(s) * (1 + pending_trials(s));
	return e->spent + e->pending + e->next;
}

int dp_policy_check_max_cost(const struct dp_study_state *s, const struct dp_expected_cost *e,
			     struct dp_err *err)
{
	const struct dp_study *spec = s->spec;
	bool path = dp_study_cost(spec) == DP_COST_PATH; /* whole numbers */
	double most = spec->search.max_cost, sum;

	if (most == 0)
		return DP_OK;
	sum = dp_policy_expected_cost(s, e);
	if (sum <= most)
		return DP_OK;
	return dp_fail(err, DP_E_LIMIT,
		       "search.max_cost: %.15g %s would be %.*g with the next training", most,
		       path ? spec->params[spec->trainer.learning_curve.param].name : "seconds",
		       path ? 15 : 7, sum);
}
