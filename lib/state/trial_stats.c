/* trial_stats.c - statistics of a trial: metric means, durations, cost and privacy spending. */
#include "state/state_internal.h"
#include "study/learning_curve.h"
#include "study/metric_release.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int dp_state_metric_column(const struct dp_study_state *s, const char *name)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (strcmp(s->metrics[i], name) == 0)
			return (int)i;
	return -1;
}

double dp__runs_mean(const double *first, size_t stride, int runs)
{
	double sum = 0, scaled = 0;

	for (int i = 0; i < runs; i++) {
		double v = first[(size_t)i * stride];

		sum += v;
		scaled += v / runs; /* cannot overflow unless a value does */
	}
	if (isfinite(sum))
		return sum / runs;
	return isfinite(scaled) ? scaled : NAN;
}

double dp__runs_mean_variance(const double *first, size_t stride, int runs)
{
	double mean = dp__runs_mean(first, stride, runs), sum = 0;
	bool differ = false;

	if (isnan(mean) || runs < 2)
		return NAN;
	for (int i = 0; i < runs; i++) {
		double v = first[(size_t)i * stride];

		sum += (v - mean) * (v - mean);
		differ |= v != *first;
	}
	/* Equal values have no spread, although rounding moves their mean. */
	return differ ? sum / (runs - 1) / runs : 0;
}

int dp_trial_values_per_metric(const struct dp_study_state *s, const struct dp_trial *t)
{
	return dp_study_has_metric_release(s->spec) ? 1 : (int)t->runs;
}

static bool trial_has_metric(const struct dp_trial *t, int metric)
{
	return metric >= 0 && t->metrics && (uint32_t)metric < t->nmetrics;
}

double dp_trial_metric_mean(const struct dp_study_state *s, const struct dp_trial *t, int metric)
{
	return trial_has_metric(t, metric) ? dp__runs_mean(t->metrics + metric, t->nmetrics,
							   dp_trial_values_per_metric(s, t))
					   : NAN;
}

double dp_trial_metric_mean_variance(const struct dp_study_state *s, const struct dp_trial *t,
				     int metric)
{
	return trial_has_metric(t, metric)
		       ? dp__runs_mean_variance(t->metrics + metric, t->nmetrics,
						dp_trial_values_per_metric(s, t))
		       : NAN;
}

static bool attempt_has_result(const struct dp_attempt *a)
{
	return a->end_class == DP_END_OK || a->end_class == DP_END_DIVERGED;
}

double dp_attempt_seconds(const struct dp_attempt *a)
{
	return a->started_us && a->ended_us > a->started_us
		       ? (double)(a->ended_us - a->started_us) / 1e6
		       : 0;
}

double dp_trial_result_seconds(const struct dp_trial *t)
{
	double sum = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		if (attempt_has_result(&t->attempts[i]))
			sum += dp_attempt_seconds(&t->attempts[i]);
	return sum;
}

static double sum_attempt_seconds(const struct dp_trial *t)
{
	double sum = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		sum += dp_attempt_seconds(&t->attempts[i]);
	return sum;
}

double dp_trial_duration_seconds(const struct dp_trial *t)
{
	double seconds = dp_trial_result_seconds(t);

	return seconds > 0 ? seconds : sum_attempt_seconds(t);
}

static double trial_cost(const struct dp_study_state *s, const struct dp_trial *t)
{
	if (dp_study_cost(s->spec) == DP_COST_PATH)
		return t->refusal_reason ? 0 : dp_learning_curve_end(s->spec, t->x);
	return sum_attempt_seconds(t);
}

double dp_state_cost_spent(const struct dp_study_state *s)
{
	double sum = 0;

	if (dp_study_cost(s->spec) == DP_COST_NONE)
		return 0;
	for (uint32_t i = 0; i < s->ntrials; i++)
		sum += trial_cost(s, s->trials[i]);
	return sum;
}

bool dp_attempt_may_have_run(const struct dp_attempt *a)
{
	return a->end_class != DP_END_NOT_STARTED && !a->never_ran;
}

uint32_t dp_trial_count_started_runs(const struct dp_trial *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		if (dp_attempt_may_have_run(&t->attempts[i]))
			n += t->attempts[i].run == DP_RUN_ALL ? t->runs : 1;
	return n;
}

/* K of all runs that were started for these trials. */
static double sum_renyi_of_trials(struct dp_trial *const *trials, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum = dp_renyi_add(sum, dp_renyi_multiply(dp_trial_count_started_runs(trials[i]),
							  trials[i]->renyi_per_run));
	return sum;
}

bool dp_state_budget_spent(const struct dp_study_state *s, double *spent, double *limit)
{
	const struct dp_filter *f = s->accounting ? &s->accounting->filter : NULL;
	double sum;

	if (!f || !(f->limit > 0))
		return false;
	sum = dp_renyi_add(sum_renyi_of_trials(s->trials, s->ntrials),
			   sum_renyi_of_trials(s->reevals.trials, s->reevals.ntrials));
	*spent = sum / (f->order - 1);
	*limit = f->limit / (f->order - 1);
	return true;
}

bool dp_trial_has_run_result(const struct dp_trial *t, uint32_t run)
{
	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];

		if ((a->run == DP_RUN_ALL || a->run == (int32_t)run) && attempt_has_result(a))
			return true;
	}
	return false;
}
