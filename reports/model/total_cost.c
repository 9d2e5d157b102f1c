/* total_cost.c - total privacy loss, cost of noisy releases, and the trainer's declarations. */
#include "reports/model/report_model.h"

#include "optimize/history/release_cost.h"
#include "optimize/history/total_privacy_loss.h"
#include "privacy/privacy.h"
#include "study/metric_release.h"

#include <math.h>

/* Returns how many of the trials were started. Counts their attempts, and those that never
 * started. */
static int64_t count_started_trials(struct dp_trial *const *trials, uint32_t n, int64_t *attempts,
				    int64_t *not_started)
{
	int64_t begun = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct dp_trial *t = trials[i];

		*attempts += t->nattempts;
		for (uint32_t k = 0; k < t->nattempts; k++)
			*not_started += !dp_attempt_may_have_run(&t->attempts[k]);
		begun += dp_trial_count_started_runs(t) > 0;
	}
	return begun;
}

json_t *total_cost_json(const struct study_data *s, size_t objective)
{
	int64_t attempts = 0, not_started = 0;
	json_t *o = json_object();
	struct dp_total_privacy whole = { .proof = DP_TOTAL_PRIVACY_UNKNOWN };
	struct dp_err err;

	put_count(
		o, "evaluations",
		count_started_trials(s->state->trials, s->state->ntrials, &attempts, &not_started));
	count_started_trials(s->state->reevals.trials, s->state->reevals.ntrials, &attempts,
			     &not_started);
	if (dp_total_privacy_of_study(s->state, objective, &whole, &err) != DP_OK)
		dp_out_of_memory(); /* its only failure */
	put_count(o, "trainings", (int64_t)whole.started_runs);
	put_count(o, "attempts", attempts);
	put_count(o, "not_started", not_started);
	put_count(o, "imported", s->state->nimported);
	put_text(o, "proof", dp_total_privacy_proof_name(whole.proof));
	put_number(o, "epsilon", whole.epsilon);
	put_number(o, "delta", whole.delta);
	put_number(o, "order", whole.order);
	put_number(o, "spent", whole.renyi_spent);
	put_number(o, "limit", whole.renyi_limit);
	put_number(o, "if_fixed", whole.epsilon_if_fixed);
	if (whole.unknown_reason[0])
		put_text(o, "why", whole.unknown_reason);
	return o;
}

json_t *release_cost_json(const struct study_data *s)
{
	const struct dp_study *spec = s->state->spec;
	json_t *o, *metrics = json_array();
	struct dp_release_cost r;

	if (!dp_release_cost_compute(s->state, &r)) {
		json_decref(metrics);
		return NULL;
	}
	o = json_object();
	put_count(o, "points", (int64_t)r.released_results);
	put_number(o, "most", isinf(r.max_results) ? NAN : r.max_results);
	put_number(o, "delta", r.delta);
	put_number(o, "epsilon", r.epsilon);
	put_text(o, "proof", r.proof == DP_RELEASE_COST_FIXED ? "composition" : "odometer");
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_objective *objective = &spec->objectives[i];

		if (objective->release.records > 0)
			json_array_append_new(
				metrics,
				json_pack("{s:s, s:s, s:o, s:o}", "objective", objective->name,
					  "metric", objective->metric, "records",
					  number_json(objective->release.records), "sigma",
					  number_json(objective->release.sigma)));
	}
	put_json(o, "metrics", metrics);
	return o;
}

/* Whether a declaration could contradict a mechanism. */
static bool has_declarable_mechanism(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_accounting_spec *o = spec->objectives[i].privacy;

		for (size_t k = 0; o && k < o->nuses; k++)
			if (o->uses[k].mechanism->check_declaration)
				return true;
	}
	return false;
}

json_t *declarations_json(const struct study_data *s)
{
	const struct dp_declarations *d = &s->state->declarations;
	json_t *o = json_object();

	put_bool(o, "compared", has_declarable_mechanism(s->state->spec));
	put_bool(o, "kept", !dp_study_has_metric_release(s->state->spec));
	put_count(o, "attempts", d->attempts);
	put_count(o, "sampling", d->sampling);
	put_count(o, "records", d->records);
	put_count(o, "lot", d->lot);
	put_count(o, "steps", d->steps);
	put_count(o, "noise_over_clip", d->noise_over_clip);
	put_count(o, "shuffled", d->shuffled);
	return o;
}
