/* released.c - how often a study's test records were looked at, and what that costs. */
#include "recall/released.h"

#include <math.h>

#define DELTA_OTHERWISE 1e-5

/* One of `n` values that is there. */
static bool any_known(const double *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++)
		if (!isnan(v[i]))
			return true;
	return false;
}

/* Results that were released, whatever became of their trials. */
static uint64_t count_released(const struct dp_study_state *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		const struct dp_way *way = t->way;

		n += any_known(t->metrics, t->nmetrics);
		for (uint32_t w = 0; way && w < way->n; w++) {
			const double *all = way->runs ? way->runs : way->means;

			n += all && any_known(all + w * way->nmetrics, way->nmetrics);
		}
	}
	return n;
}

/* A file without a number of its own may train as often as its budget affords, and
 * whoever raises it has seen results, even if it is lowered again. */
static double most_released(const struct dp_study_state *s)
{
	const struct dp_search *search = &s->spec->search;

	if (search->evaluations == DP_EVALUATIONS_MAX || s->evaluations > search->evaluations ||
	    s->ntrials > search->evaluations)
		return INFINITY;
	return (double)search->evaluations * (1.0 + s->spec->trainer.path.points);
}

static double released_delta(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_oracle *o = spec->objectives[i].privacy;

		if (o && dp_oracle_delta(o) > 0)
			return dp_oracle_delta(o);
	}
	return DELTA_OTHERWISE;
}

/* Every result releases each metric once, and Gaussian mechanisms add up in mu^2. */
static double released_fixed(const struct dp_study *spec, double n, double delta)
{
	double squares = 0;

	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_release *r = &spec->objectives[i].release;

		if (r->records > 0)
			squares += pow(dp_release_mu(dp_release_records(r), r->sigma, n), 2);
	}
	return squares > 0 ? dp_release_epsilon(1, 1 / sqrt(squares), 1, delta) : 0;
}

static double released_odometer(const struct dp_study *spec, double n, double delta)
{
	double sum[DP_RENYI_ORDERS_MAX] = { 0 }, k[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;

	dp_odometer_standard(&o);
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_release *r = &spec->objectives[i].release;

		if (r->records == 0)
			continue;
		dp_release_renyi(dp_release_records(r), r->sigma, o.order, o.n, k);
		for (size_t a = 0; a < o.n; a++)
			sum[a] = dp_renyi_add(sum[a], dp_renyi_times(n, k[a]));
	}
	return dp_odometer_epsilon(&o, sum, delta, NULL);
}

bool dp_released_find(const struct dp_study_state *s, struct dp_released *out)
{
	if (!dp_study_releases(s->spec))
		return false;
	*out = (struct dp_released){ .points = count_released(s),
				     .most = most_released(s),
				     .delta = released_delta(s->spec) };
	out->proof = isinf(out->most) ? DP_RELEASED_ODOMETER : DP_RELEASED_FIXED;
	out->epsilon = out->proof == DP_RELEASED_FIXED
			       ? released_fixed(s->spec, out->most, out->delta)
			       : released_odometer(s->spec, (double)out->points, out->delta);
	return true;
}
