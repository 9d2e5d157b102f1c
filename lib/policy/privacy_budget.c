/* privacy_budget.c - search.budget: decides whether one more run may start.
 *
 * A pure function of the journal: K of a run at the filter's order is a field of its trial's
 * proposal. A started run counts for good, however it ended: a killed trainer has seen the data. */
#include "policy/policy_internal.h"
#include "study/search_budget.h"

#include <math.h>

static bool has_budget(const struct dp_study_state *s)
{
	return s->spec->search.budget.epsilon > 0;
}

static bool has_composable_objective(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy &&
		    dp_study_check_composable(spec, i, NULL) == DP_OK)
			return true;
	return false;
}

bool dp__needs_accounting_fixed(const struct dp_study_state *s)
{
	if (s->accounting || s->ntrials)
		return false;
	return has_budget(s) ||
	       ((dp_study_is_adaptive(s->spec) || s->spec->search.reevaluate_runs) &&
		has_composable_objective(s->spec));
}

struct dp_event dp_policy_accounting_event(const struct dp_odometer *o,
					   const struct dp_filter *filter)
{
	return (struct dp_event){ .type = DP_EV_ACCOUNTING_FIXED,
				  .accounting_fixed = { .orders = o->order,
							.norders = (uint32_t)o->n,
							.weights = o->weight,
							.nweights = (uint32_t)o->n,
							.filter = *filter } };
}

/* Runs of a new trial if every run uses all its retries. */
static uint32_t count_worst_case_runs(const struct dp_study *spec)
{
	return (uint32_t)spec->trainer.runs * (1 + (uint32_t)spec->trainer.retries);
}

static bool has_open_attempt(const struct dp_trial *t, int32_t run)
{
	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].run == run && t->attempts[i].end_class == DP_END_NONE)
			return true;
	return false;
}

/* Attempts of this run that may still start. */
static uint32_t count_attempts_left(const struct dp_study_state *s, const struct dp_trial *t,
				    int32_t run)
{
	int left = 1 + s->current_spec->trainer.retries -
		   dp__count_retryable_failures(t, run, t->nattempts) - has_open_attempt(t, run);

	if (left <= 0 || dp_trial_has_run_result(t, run == DP_RUN_ALL ? 0 : (uint32_t)run))
		return 0;
	return (uint32_t)left;
}

/* Runs of a trial that may still start. */
static uint32_t count_runs_left(const struct dp_study_state *s, const struct dp_trial *t)
{
	uint32_t runs = t->runs, n = 0;

	if (t->status >= DP_TRIAL_OK || t->refusal_reason || t->cancel_requested)
		return 0;
	if (!s->spec->trainer.run_per_process)
		return runs * count_attempts_left(s, t, DP_RUN_ALL);
	for (uint32_t r = 0; r < runs; r++)
		n += count_attempts_left(s, t, (int32_t)r);
	return n;
}

void dp_policy_compute_spending(const struct dp_study_state *s, uint32_t window,
				struct dp_privacy_spending *out)
{
	*out = (struct dp_privacy_spending){ 0 };
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		uint32_t made = dp_trial_count_started_runs(t), most = made + count_runs_left(s, t);

		if (i >= window && !t->refusal_reason &&
		    most < count_worst_case_runs(s->current_spec))
			most = count_worst_case_runs(s->current_spec);
		out->spent = dp_renyi_add(out->spent, dp_renyi_multiply(made, t->renyi_per_run));
		out->max = dp_renyi_add(out->max, dp_renyi_multiply(most, t->renyi_per_run));
	}
	for (uint32_t i = 0; i < s->reevals.ntrials; i++) {
		const struct dp_trial *t = s->reevals.trials[i];
		uint32_t made = dp_trial_count_started_runs(t), most = made + count_runs_left(s, t);

		out->spent = dp_renyi_add(out->spent, dp_renyi_multiply(made, t->renyi_per_run));
		out->max = dp_renyi_add(out->max, dp_renyi_multiply(most, t->renyi_per_run));
	}
}

/* The study's filter; before it is journaled, one that allows nothing. */
static const struct dp_filter *budget_filter(const struct dp_study_state *s)
{
	static const struct dp_filter nothing = { .order = 2 };

	return s->accounting ? &s->accounting->filter : &nothing;
}

double dp_policy_budget_per_run(const struct dp_study_state *s, uint32_t window)
{
	struct dp_privacy_spending now;

	if (!has_budget(s))
		return INFINITY;
	dp_policy_compute_spending(s, window, &now);
	/* slightly less, because callers compare logarithms */
	return dp_filter_remaining(budget_filter(s), now.max, 0) /
	       count_worst_case_runs(s->current_spec) * (1 - 1e-12);
}

static int fail_budget_exceeded(const struct dp_study_state *s, double would, struct dp_err *err)
{
	const struct dp_filter *f = budget_filter(s);

	return dp_fail(err, DP_E_LIMIT,
		       "search.budget: epsilon %g at delta %g would be exceeded: the "
		       "Renyi divergence of order %g would be %.4g of at most %.4g",
		       s->spec->search.budget.epsilon, s->spec->search.budget.delta, f->order,
		       would / (f->order - 1), f->limit / (f->order - 1));
}

int dp_policy_check_budget(const struct dp_study_state *s, double k, struct dp_err *err)
{
	struct dp_privacy_spending now;
	double next = dp_renyi_multiply(count_worst_case_runs(s->current_spec), k);

	if (!has_budget(s))
		return DP_OK;
	dp_policy_compute_spending(s, s->ntrials, &now);
	return dp_filter_allows(budget_filter(s), now.max, 0, next)
		       ? DP_OK
		       : fail_budget_exceeded(s, dp_renyi_add(now.max, next), err);
}

int dp_policy_check_reeval_budget(const struct dp_study_state *s, double k, uint32_t runs,
				  struct dp_err *err)
{
	int tries = 1 + s->current_spec->trainer.retries;
	double next = dp_renyi_multiply((double)tries * runs, k), left;
	struct dp_privacy_spending now;

	if (!has_budget(s))
		return DP_OK;
	dp_policy_compute_spending(s, s->ntrials, &now);
	if (dp_filter_allows(budget_filter(s), now.max, 0, next))
		return DP_OK;
	left = floor(dp_filter_remaining(budget_filter(s), now.max, 0) / tries / k * (1 - 1e-12));
	fail_budget_exceeded(s, dp_renyi_add(now.max, next), err);
	return left >= 1 ? dp_hint(err, "it has room for %.0f run%s of each point", left,
				   left == 1 ? "" : "s")
			 : dp_hint(err, "it has no room for a single run of each point");
}

int dp__check_attempt_budget(const struct dp_study_state *s, const struct dp_trial *t, int32_t run,
			     struct dp_err *err)
{
	int runs = run == DP_RUN_ALL ? (int)t->runs : 1;
	double next = dp_renyi_multiply(runs, t->renyi_per_run);
	struct dp_privacy_spending now;

	/* planned_renyi nearly always equals what is spent, and spares the sum */
	if (!has_budget(s) || dp_filter_allows(budget_filter(s), s->planned_renyi, 0, next))
		return DP_OK;
	dp_policy_compute_spending(s, s->ntrials, &now);
	return dp_filter_allows(budget_filter(s), now.spent, 0, next)
		       ? DP_OK
		       : fail_budget_exceeded(s, dp_renyi_add(now.spent, next), err);
}

bool dp_policy_can_propose_later(const struct dp_study_state *s, const struct dp_err *why)
{
	return why->code == DP_E_LIMIT && has_budget(s) &&
	       (s->open_attempts || s->waiting_trials || dp_state_has_pending_reevals(s));
}
