/* total_cost.c - what all trainings of a study cost together. */
#include "reports/model/report_model.h"

/* How much work there was; how many of these trials were begun. */
static int64_t count_started_trials(struct dp_trial *const *trials, uint32_t n,
				    struct report_total_cost *out)
{
	int64_t begun = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct dp_trial *t = trials[i];

		out->attempts += t->nattempts;
		for (uint32_t k = 0; k < t->nattempts; k++)
			out->not_started += !dp_attempt_may_have_run(&t->attempts[k]);
		begun += dp_trial_count_started_runs(t) > 0;
	}
	return begun;
}

void report_model_total_cost(const struct study_data *s, size_t objective,
			     struct report_arena *arena, struct report_total_cost *out)
{
	struct dp_total_privacy whole;
	struct dp_err err;

	*out = (struct report_total_cost){ .imported = s->state->nimported };
	out->evaluations = count_started_trials(s->state->trials, s->state->ntrials, out);
	out->has_reevaluations =
		count_started_trials(s->state->reevals.trials, s->state->reevals.ntrials, out) > 0;
	if (dp_total_privacy_of_study(s->state, objective, &whole, &err) != DP_OK) {
		arena->failed = true; /* the one reason there is: no memory */
		return;
	}
	out->trainings = (int64_t)whole.started_runs;
	out->proof_kind = whole.proof;
	out->proof = dp_total_privacy_proof_name(whole.proof);
	out->epsilon = whole.epsilon;
	out->delta = whole.delta;
	out->order = whole.order;
	out->spent = whole.renyi_spent;
	out->limit = whole.renyi_limit;
	out->if_fixed = whole.epsilon_if_fixed;
	out->odometer_recorded = whole.is_accounting_recorded;
	out->why =
		report_arena_strdup(arena, whole.unknown_reason[0] ? whole.unknown_reason : NULL);
}
