/* release_cost.c - the privacy loss of all noisy releases of a study. */
#include "optimize/history/release_cost.h"
#include "study/accounting.h"
#include "study/metric_release.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>

#define DEFAULT_RELEASE_DELTA 1e-5

static bool any_known(const double *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++)
		if (!isnan(v[i]))
			return true;
	return false;
}

static uint64_t count_released(const struct dp_study_state *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		const struct dp_checkpoints *checkpoints = t->checkpoints;

		n += any_known(t->metrics, t->nmetrics);
		for (uint32_t w = 0; checkpoints && w < checkpoints->count; w++) {
			const double *all = checkpoints->run_metrics ? checkpoints->run_metrics
								     : checkpoints->metric_means;

			n += all &&
			     any_known(all + w * checkpoints->nmetrics, checkpoints->nmetrics);
		}
	}
	return n;
}

/* Without `evaluations` in the file, the number of runs depends on the budget. A user who raises
 * `evaluations` has seen results, even if it is lowered again later. */
static double max_released_results(const struct dp_study_state *s)
{
	const struct dp_search *search = &s->spec->search;

	if (search->evaluations == DP_EVALUATIONS_MAX || s->evaluations > search->evaluations ||
	    s->ntrials > search->evaluations)
		return INFINITY;
	return (double)search->evaluations * (1.0 + s->spec->trainer.learning_curve.points);
}

static double released_delta(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_accounting_spec *o = spec->objectives[i].privacy;

		if (o && dp_accounting_delta(o) > 0)
			return dp_accounting_delta(o);
	}
	return DEFAULT_RELEASE_DELTA;
}

/* Every result releases each metric once. Gaussian mechanisms compose by the sum of mu^2. */
static double fixed_release_epsilon(const struct dp_study *spec, double n, double delta)
{
	double squares = 0;

	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_metric_release *r = &spec->objectives[i].release;

		if (r->records > 0)
			squares += pow(
				dp_noisy_release_mu(dp_metric_release_records(r), r->sigma, n), 2);
	}
	return squares > 0 ? dp_noisy_release_epsilon(1, 1 / sqrt(squares), 1, delta) : 0;
}

static double odometer_release_epsilon(const struct dp_study *spec, double n, double delta)
{
	double sum[DP_RENYI_ORDERS_MAX] = { 0 }, k[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;

	dp_odometer_init_default(&o);
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_metric_release *r = &spec->objectives[i].release;

		if (r->records == 0)
			continue;
		dp_noisy_release_renyi(dp_metric_release_records(r), r->sigma, o.order, o.n, k);
		for (size_t a = 0; a < o.n; a++)
			sum[a] = dp_renyi_add(sum[a], dp_renyi_multiply(n, k[a]));
	}
	return dp_odometer_epsilon(&o, sum, delta, NULL);
}

bool dp_release_cost_compute(const struct dp_study_state *s, struct dp_release_cost *out)
{
	if (!dp_study_has_metric_release(s->spec))
		return false;
	*out = (struct dp_release_cost){ .released_results = count_released(s),
					 .max_results = max_released_results(s),
					 .delta = released_delta(s->spec) };
	out->proof = isinf(out->max_results) ? DP_RELEASE_COST_ODOMETER : DP_RELEASE_COST_FIXED;
	out->epsilon = out->proof == DP_RELEASE_COST_FIXED
			       ? fixed_release_epsilon(s->spec, out->max_results, out->delta)
			       : odometer_release_epsilon(s->spec, (double)out->released_results,
							  out->delta);
	return true;
}
