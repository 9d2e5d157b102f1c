/* way.c - the waypoints of a training: gathered while its attempts end, and what they
 * come to once the trial has. */
#include "journal/state_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__way_free(struct dp_way *way)
{
	if (!way)
		return;
	free(way->at);
	free(way->objectives);
	free(way->runs);
	free(way->means);
	free(way->variances);
	free(way);
}

static double *way_unknown(size_t n)
{
	double *v = malloc(n * sizeof *v + 1);

	for (size_t i = 0; v && i < n; i++)
		v[i] = NAN;
	return v;
}

static size_t way_accounted(const struct dp_study *spec)
{
	size_t n = 0;

	for (size_t i = 0; i < spec->nobjectives; i++)
		n += spec->objectives[i].privacy != NULL;
	return n;
}

/* Do the waypoints of a record fit the study, themselves and what is known already? */
static bool way_fits(const struct dp_study_state *st, const struct dp_trial *t,
		     const struct dp_event *e)
{
	uint64_t n = e->nwaypoints;

	if (st->spec->trainer.path.points == 0 || n > DP_WAYPOINTS_MAX ||
	    e->nways != n * e->nruns * e->nmetrics)
		return false;
	if (e->nway_privacy && e->nway_privacy != n * way_accounted(st->spec))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!(fabs(e->waypoints[i]) <= 0x1p53) ||
		    (i > 0 && !(e->waypoints[i] > e->waypoints[i - 1])))
			return false;
	if (!t->way)
		return true;
	return t->way->n == n && memcmp(t->way->at, e->waypoints, n * sizeof *e->waypoints) == 0;
}

static struct dp_way *way_new(const struct dp_study_state *st, const struct dp_event *e)
{
	struct dp_way *way = calloc(1, sizeof *way);
	size_t n = e->nwaypoints;

	if (!way)
		return NULL;
	way->n = e->nwaypoints;
	way->at = malloc(n * sizeof *way->at);
	way->objectives = way_unknown(n * st->spec->nobjectives);
	if (!way->at || !way->objectives) {
		dp__way_free(way);
		return NULL;
	}
	memcpy(way->at, e->waypoints, n * sizeof *way->at);
	return way;
}

static void way_take(const struct dp_study_state *st, struct dp_way *way, const struct dp_event *e)
{
	size_t runs = (size_t)dp_study_told_runs(st->spec), m = st->spec->nobjectives;
	const double *v = e->ways, *epsilon = e->way_privacy;

	for (uint32_t w = 0; w < way->n; w++)
		for (uint32_t i = 0; i < e->nruns; i++)
			for (uint32_t k = 0; k < e->nmetrics; k++, v++) {
				int column = dp_study_metric(st, e->metric_names[k]);

				/* what an attempt before it reached stays */
				if (e->runs[i] < runs && !isnan(*v))
					way->runs[(w * runs + e->runs[i]) * way->nmetrics +
						  (uint32_t)column] = *v;
			}
	for (size_t w = 0; e->nway_privacy && w < way->n; w++)
		for (size_t k = 0; k < m; k++)
			if (st->spec->objectives[k].privacy) {
				/* one that did not reach it takes no epsilon away */
				if (!isnan(*epsilon))
					way->objectives[w * m + k] = *epsilon;
				epsilon++;
			}
}

int dp__way_add(struct dp_study_state *st, struct dp_trial *t, const struct dp_event *e,
		struct dp_err *err)
{
	size_t rows = (size_t)e->nwaypoints * (size_t)dp_study_told_runs(st->spec);
	struct dp_way *way = t->way;

	if (e->nwaypoints == 0)
		return DP_OK;
	if (!way_fits(st, t, e))
		return dp_fail(err, DP_E_CORRUPT,
			       "the waypoints of trial %u of study %u do not fit it", t->number,
			       st->id);
	for (uint32_t k = 0; k < e->nmetrics; k++)
		if (dp__metric_column(st, e->metric_names[k]) < 0)
			return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	if (!way)
		way = t->way = way_new(st, e);
	if (!way || dp__widen(&way->runs, rows, &way->nmetrics, st->nmetrics))
		return dp_fail(err, DP_E_NOMEM, "no memory for waypoints");
	way_take(st, way, e);
	return DP_OK;
}

/* What the runs come to at the w-th waypoint. */
static void way_settle_one(const struct dp_study_state *st, struct dp_way *way, uint32_t w)
{
	size_t runs = (size_t)dp_study_told_runs(st->spec), wide = way->nmetrics;
	const struct dp_study *spec = st->spec;

	for (size_t k = 0; k < wide; k++) {
		const double *first = way->runs + w * runs * wide + k;

		way->means[w * wide + k] = dp__runs_mean(first, wide, (int)runs);
		way->variances[w * wide + k] = dp__runs_mean_variance(first, wide, (int)runs);
	}
	for (size_t k = 0; k < spec->nobjectives; k++) {
		const struct dp_objective *o = &spec->objectives[k];
		int column = o->metric ? dp_study_metric(st, o->metric) : -1;

		if (column >= 0 && (size_t)column < wide)
			way->objectives[w * spec->nobjectives + k] =
				dp_objective_metric(o, way->means[w * wide + (size_t)column]);
	}
}

void dp__way_reopen(struct dp_way *way)
{
	if (!way)
		return;
	free(way->means);
	free(way->variances);
	way->means = way->variances = NULL;
}

int dp__way_settle(const struct dp_study_state *st, struct dp_trial *t, bool for_good,
		   struct dp_err *err)
{
	struct dp_way *way = t->way;
	size_t size;

	if (!way || !way->runs)
		return DP_OK;
	size = (size_t)way->n * way->nmetrics;
	way->means = way_unknown(size);
	way->variances = way_unknown(size);
	if (!way->means || !way->variances) {
		dp__way_reopen(way);
		return dp_fail(err, DP_E_NOMEM, "no memory for waypoints");
	}
	for (uint32_t w = 0; w < way->n; w++)
		way_settle_one(st, way, w);
	if (for_good) {
		free(way->runs);
		way->runs = NULL;
	}
	return DP_OK;
}

bool dp_way_accounted(const struct dp_study_state *s, const struct dp_way *way)
{
	size_t m = s->spec->nobjectives;

	for (size_t i = 0; i < way->n * m; i++)
		if (s->spec->objectives[i % m].privacy && isnan(way->objectives[i]))
			return false;
	return true;
}

bool dp_way_stands(const struct dp_study_state *s, const struct dp_way *way, uint32_t w)
{
	size_t m = s->spec->nobjectives;

	for (size_t k = 0; k < m; k++)
		if (!isfinite(way->objectives[w * m + k]))
			return false;
	return way->means != NULL;
}
