/* reeval_stats.c - progress and statistics of re-evaluations. */
#include "state/state_internal.h"

#include "base/t_distribution.h"
#include "optimize/pareto/pareto.h"
#include "study/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t dp_state_next_reeval_trial(const struct dp_study_state *s)
{
	const struct dp_reevals *m = &s->reevals;

	return m->ntrials ? m->trials[m->ntrials - 1]->number + 1
			  : dp_trial_number_join(DP_TRIAL_REEVAL, 0);
}

bool dp_state_has_pending_reevals(const struct dp_study_state *s)
{
	return s->reevals.first_unfinished < s->reevals.ntrials;
}

bool dp_state_is_search_over(const struct dp_study_state *s)
{
	const struct dp_reevals *m = &s->reevals;

	return m->has_resume_state ||
	       (m->final_requested && m->final_results_version == s->results_version &&
		s->first_unfinished == s->ntrials);
}

bool dp_reeval_is_of_result(const struct dp_study_state *s, const struct dp_reeval *m,
			    struct dp_result_id p)
{
	double at = dp_result_checkpoint_value(s, p);

	return m->trial == p.trial &&
	       (isnan(at) ? isnan(m->checkpoint_value) : m->checkpoint_value == at);
}

void dp_reeval_count_runs(const struct dp_study_state *s, const struct dp_reeval *m, uint32_t *done,
			  uint32_t *failed)
{
	*done = *failed = 0;
	for (uint32_t i = 0; i < m->ntrials; i++) {
		const struct dp_trial *t = s->reevals.trials[m->first_trial + i];

		if (t->status == DP_TRIAL_OK)
			*done += t->runs;
		else if (t->status > DP_TRIAL_OK)
			*failed += t->runs;
	}
}

enum dp_trial_status dp_reeval_get_status(const struct dp_study_state *s, const struct dp_reeval *m,
					  const char **reason)
{
	bool begun = false, ended = true, failed = false;

	*reason = NULL;
	for (uint32_t i = 0; i < m->ntrials; i++) {
		const struct dp_trial *t = s->reevals.trials[m->first_trial + i];

		begun |= t->nattempts > 0;
		ended &= t->status >= DP_TRIAL_OK;
		if (t->status <= DP_TRIAL_OK)
			continue;
		if (!failed)
			*reason = t->reason;
		failed = true;
	}
	if (!ended)
		return begun ? DP_TRIAL_RUNNING : DP_TRIAL_WAITING;
	return failed ? DP_TRIAL_FAILED : DP_TRIAL_OK;
}

/* Pools the runs of ok trials, one objective at a time. */
struct reeval_pool {
	const struct dp_study_state *s;
	const struct dp_trial *any_trial; /* one of the trials, or NULL */
	uint32_t runs;
	int metric_column; /* of the metric that is summed; < 0: none */
	double sum, scaled_sum, mean, sum_squares, min, max;
};

static bool pool_accepts_trial(const struct dp_trial *t)
{
	return t->status == DP_TRIAL_OK && t->objectives && t->metrics;
}

static void pool_visit_reeval(struct reeval_pool *p, const struct dp_reeval *m,
			      void (*add)(struct reeval_pool *p, const struct dp_trial *t))
{
	for (uint32_t i = 0; i < m->ntrials; i++) {
		const struct dp_trial *t = p->s->reevals.trials[m->first_trial + i];

		if (pool_accepts_trial(t))
			add(p, t);
	}
}

static void pool_count_runs(struct reeval_pool *p, const struct dp_trial *t)
{
	p->any_trial = t;
	p->runs += t->runs;
}

static double pool_metric_value(const struct reeval_pool *p, const struct dp_trial *t, uint32_t run)
{
	return (uint32_t)p->metric_column < t->nmetrics
		       ? t->metrics[(size_t)run * t->nmetrics + (uint32_t)p->metric_column]
		       : NAN;
}

static void pool_add_sums(struct reeval_pool *p, const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->runs; i++) {
		double v = pool_metric_value(p, t, i);

		p->sum += v;
		p->scaled_sum += v / p->runs; /* cannot overflow unless a value does */
		p->min = fmin(p->min, v);
		p->max = fmax(p->max, v);
	}
}

static void pool_add_squares(struct reeval_pool *p, const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->runs; i++) {
		double d = pool_metric_value(p, t, i) - p->mean;

		p->sum_squares += d * d;
	}
}

/* What is pooled: one re-evaluation, or all of a result. */
struct reeval_filter {
	const struct dp_reeval *reeval;
	struct dp_result_id result;
};

static void pool_visit_matching(struct reeval_pool *p, const struct reeval_filter *which,
				void (*add)(struct reeval_pool *p, const struct dp_trial *t))
{
	const struct dp_reevals *all = &p->s->reevals;

	if (which->reeval) {
		pool_visit_reeval(p, which->reeval, add);
		return;
	}
	for (uint32_t i = 0; i < all->count; i++)
		if (dp_reeval_is_of_result(p->s, &all->items[i], which->result))
			pool_visit_reeval(p, &all->items[i], add);
}

static void pool_compute_objective(struct reeval_pool *p, const struct reeval_filter *which,
				   size_t k, struct dp_reeval_stats *out)
{
	const struct dp_objective *o = &p->s->spec->objectives[k];
	double wide;

	out->sd[k] = out->low[k] = out->high[k] = NAN;
	p->metric_column = o->metric ? dp_state_metric_column(p->s, o->metric) : -1;
	if (p->metric_column < 0) {
		out->objectives[k] = p->any_trial->objectives[k];
		return;
	}
	p->sum = p->scaled_sum = p->sum_squares = 0;
	p->min = p->max = NAN;
	pool_visit_matching(p, which, pool_add_sums);
	/* equal values: rounding must not change them, as in (0.1 + 0.1 + 0.1) / 3 */
	p->mean = p->min == p->max ? p->min : isfinite(p->sum) ? p->sum / p->runs : p->scaled_sum;
	pool_visit_matching(p, which, pool_add_squares);
	out->objectives[k] = dp_objective_from_metric(o, p->mean);
	if (p->runs < 2)
		return;
	out->sd[k] = sqrt(p->sum_squares / (p->runs - 1));
	wide = dp_t_critical_95(p->runs - 1) * out->sd[k] / sqrt(p->runs);
	out->low[k] = out->objectives[k] - wide;
	out->high[k] = out->objectives[k] + wide;
}

static bool pool_compute_stats(const struct dp_study_state *s, const struct reeval_filter *which,
			       struct dp_reeval_stats *out)
{
	struct reeval_pool p = { .s = s };

	pool_visit_matching(&p, which, pool_count_runs);
	out->runs = p.runs;
	for (size_t k = 0; p.any_trial && k < s->spec->nobjectives; k++)
		pool_compute_objective(&p, which, k, out);
	return p.any_trial != NULL;
}

bool dp_result_compute_reeval_stats(const struct dp_study_state *s, struct dp_result_id p,
				    struct dp_reeval_stats *out)
{
	return pool_compute_stats(s, &(struct reeval_filter){ .result = p }, out);
}

bool dp_reeval_compute_stats(const struct dp_study_state *s, const struct dp_reeval *m,
			     struct dp_reeval_stats *out)
{
	return pool_compute_stats(s, &(struct reeval_filter){ .reeval = m }, out);
}

double dp_results_reeval_hypervolume(const struct dp_study_state *s,
				     const struct dp_result_id *points, size_t n)
{
	size_t m = s->spec->nobjectives, have = 0;
	double *y = dp_malloc((n * m + 1) * sizeof *y), ref[DP_OBJECTIVES_MAX], volume = NAN;
	bool first_is_exact = m == 2 && s->spec->objectives[0].privacy;
	struct dp_reeval_stats v;

	for (size_t i = 0; i < n; i++)
		if (dp_result_compute_reeval_stats(s, points[i], &v))
			memcpy(y + m * have++, v.objectives, m * sizeof *y);
	dp_study_rows_to_minimize(s->spec, y, have, ref);
	if (have)
		volume = first_is_exact ? dp_pareto_realised_volume(y, have, ref)
					: dp_hypervolume(y, have, m, ref);
	free(y);
	return volume;
}
