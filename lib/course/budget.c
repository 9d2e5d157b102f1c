/* budget.c - search.budget: may one more training begin? And what is fixed before the
 * first.
 *
 * Everything here is a pure function of the journal: K of a training at the filter's
 * order is a field of its trial's proposal. What has begun counts for good, whatever
 * became of it: a trainer that was killed has seen the data. */
#include "course/course_internal.h"

#include <math.h>

static bool has_budget(const struct dp_study_state *s)
{
	return s->spec->search.budget.epsilon > 0;
}

/* ---- what is fixed ---- */

static bool any_adds_up(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy && dp_study_adds_up(spec, i, NULL) == DP_OK)
			return true;
	return false;
}

bool dp__accounting_due(const struct dp_study_state *s)
{
	if (s->accounting || s->ntrials)
		return false;
	return has_budget(s) ||
	       ((dp_study_adapts(s->spec) || s->spec->search.remeasure) && any_adds_up(s->spec));
}

struct dp_event dp_course_fixed(const struct dp_odometer *o, const struct dp_filter *filter)
{
	return (struct dp_event){ .type = DP_EV_ACCOUNTING_FIXED,
				  .orders = o->order,
				  .norders = (uint32_t)o->n,
				  .weights = o->weight,
				  .nweights = (uint32_t)o->n,
				  .filter = *filter };
}

/* ---- what is spent ---- */

/* Trainings of a new trial if each run fails as often as it may be tried. */
static uint32_t worst_case(const struct dp_study *spec)
{
	return (uint32_t)spec->trainer.runs * (1 + (uint32_t)spec->trainer.retries);
}

static bool has_open(const struct dp_trial *t, int32_t run)
{
	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].run == run && t->attempts[i].end == DP_END_NONE)
			return true;
	return false;
}

/* Attempts of this run that may still begin. */
static uint32_t may_begin(const struct dp_study_state *s, const struct dp_trial *t, int32_t run)
{
	int left = 1 + s->now->trainer.retries - dp__mendable_failures(t, run, t->nattempts) -
		   has_open(t, run);

	if (left <= 0 || dp_trial_run_known(t, run == DP_RUN_ALL ? 0 : (uint32_t)run))
		return 0;
	return (uint32_t)left;
}

/* Trainings that may still begin for a trial. */
static uint32_t may_follow(const struct dp_study_state *s, const struct dp_trial *t)
{
	uint32_t runs = t->runs, n = 0;

	if (t->status >= DP_TRIAL_OK || t->refused || t->cancel_asked)
		return 0;
	if (!s->spec->trainer.run_per_process)
		return runs * may_begin(s, t, DP_RUN_ALL);
	for (uint32_t r = 0; r < runs; r++)
		n += may_begin(s, t, (int32_t)r);
	return n;
}

void dp_course_spending(const struct dp_study_state *s, uint32_t window, struct dp_spending *out)
{
	*out = (struct dp_spending){ 0 };
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		uint32_t made = dp_trial_trainings(t), most = made + may_follow(s, t);

		if (i >= window && !t->refused && most < worst_case(s->now))
			most = worst_case(s->now);
		out->spent = dp_renyi_add(out->spent, dp_renyi_times(made, t->renyi));
		out->most = dp_renyi_add(out->most, dp_renyi_times(most, t->renyi));
	}
	for (uint32_t i = 0; i < s->measured.ntrials; i++) {
		const struct dp_trial *t = s->measured.trials[i];
		uint32_t made = dp_trial_trainings(t), most = made + may_follow(s, t);

		out->spent = dp_renyi_add(out->spent, dp_renyi_times(made, t->renyi));
		out->most = dp_renyi_add(out->most, dp_renyi_times(most, t->renyi));
	}
}

/* ---- what fits ---- */

/* The study's filter; before it is journaled one that allows nothing. */
static const struct dp_filter *budget_filter(const struct dp_study_state *s)
{
	static const struct dp_filter nothing = { .order = 2 };

	return s->accounting ? &s->accounting->filter : &nothing;
}

double dp_course_left(const struct dp_study_state *s, uint32_t window)
{
	struct dp_spending now;

	if (!has_budget(s))
		return INFINITY;
	dp_course_spending(s, window, &now);
	/* a little less, for those who compare logarithms */
	return dp_filter_left(budget_filter(s), now.most, 0) / worst_case(s->now) * (1 - 1e-12);
}

static int budget_spent(const struct dp_study_state *s, double would, struct dp_err *err)
{
	const struct dp_filter *f = budget_filter(s);

	return dp_fail(err, DP_E_LIMIT,
		       "search.budget: epsilon %g at delta %g would be exceeded: the "
		       "Renyi divergence of order %g would be %.4g of at most %.4g",
		       s->spec->search.budget.epsilon, s->spec->search.budget.delta, f->order,
		       would / (f->order - 1), f->limit / (f->order - 1));
}

int dp_course_budget(const struct dp_study_state *s, double k, struct dp_err *err)
{
	struct dp_spending now;
	double next = dp_renyi_times(worst_case(s->now), k);

	if (!has_budget(s))
		return DP_OK;
	dp_course_spending(s, s->ntrials, &now);
	return dp_filter_allows(budget_filter(s), now.most, 0, next)
		       ? DP_OK
		       : budget_spent(s, dp_renyi_add(now.most, next), err);
}

int dp_course_measure_fits(const struct dp_study_state *s, double k, uint32_t runs,
			   struct dp_err *err)
{
	int tries = 1 + s->now->trainer.retries;
	double next = dp_renyi_times((double)tries * runs, k), left;
	struct dp_spending now;

	if (!has_budget(s))
		return DP_OK;
	dp_course_spending(s, s->ntrials, &now);
	if (dp_filter_allows(budget_filter(s), now.most, 0, next))
		return DP_OK;
	left = floor(dp_filter_left(budget_filter(s), now.most, 0) / tries / k * (1 - 1e-12));
	budget_spent(s, dp_renyi_add(now.most, next), err);
	return left >= 1 ? dp_hint(err, "it has room for %.0f run%s of each point", left,
				   left == 1 ? "" : "s")
			 : dp_hint(err, "it has no room for a single run of each point");
}

int dp__attempt_fits(const struct dp_study_state *s, const struct dp_trial *t, int32_t run,
		     struct dp_err *err)
{
	int runs = run == DP_RUN_ALL ? (int)t->runs : 1;
	double next = dp_renyi_times(runs, t->renyi);
	struct dp_spending now;

	/* what was planned is nearly always what is spent, and needs no adding up */
	if (!has_budget(s) || dp_filter_allows(budget_filter(s), s->begun, 0, next))
		return DP_OK;
	dp_course_spending(s, s->ntrials, &now);
	return dp_filter_allows(budget_filter(s), now.spent, 0, next)
		       ? DP_OK
		       : budget_spent(s, dp_renyi_add(now.spent, next), err);
}

bool dp_course_waits(const struct dp_study_state *s, const struct dp_err *why)
{
	return why->code == DP_E_LIMIT && has_budget(s) &&
	       (s->open || s->waiting || dp_study_measures(s));
}
