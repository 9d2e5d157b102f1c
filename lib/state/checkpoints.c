/* checkpoints.c - checkpoints of learning curves: gathered per attempt, averaged over runs. */
#include "state/state_internal.h"
#include "study/metric_release.h"
#include "study/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__checkpoints_free(struct dp_checkpoints *checkpoints)
{
	if (!checkpoints)
		return;
	free(checkpoints->values);
	free(checkpoints->objectives);
	free(checkpoints->run_metrics);
	free(checkpoints->metric_means);
	free(checkpoints->metric_variances);
	free(checkpoints);
}

static double *new_nan_array(size_t n)
{
	double *v = dp_malloc(n * sizeof *v + 1);

	for (size_t i = 0; v && i < n; i++)
		v[i] = NAN;
	return v;
}

static size_t count_privacy_objectives(const struct dp_study *spec)
{
	size_t n = 0;

	for (size_t i = 0; i < spec->nobjectives; i++)
		n += spec->objectives[i].privacy != NULL;
	return n;
}

/* True if the checkpoints of a record are consistent with the study and with earlier attempts. */
static bool are_event_checkpoints_valid(const struct dp_study_state *st, const struct dp_trial *t,
					const struct dp_event *e)
{
	uint64_t n = e->attempt_ended.ncheckpoints;

	if (st->spec->trainer.learning_curve.points == 0 || n > DP_CHECKPOINTS_MAX ||
	    e->attempt_ended.ncheckpoint_metrics !=
		    n * e->attempt_ended.nruns * e->attempt_ended.nmetrics)
		return false;
	if (e->attempt_ended.ncheckpoint_epsilons &&
	    e->attempt_ended.ncheckpoint_epsilons != n * count_privacy_objectives(st->spec))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!(fabs(e->attempt_ended.checkpoints[i]) <= 0x1p53) ||
		    (i > 0 &&
		     !(e->attempt_ended.checkpoints[i] > e->attempt_ended.checkpoints[i - 1])))
			return false;
	if (!t->checkpoints)
		return true;
	return t->checkpoints->count == n &&
	       memcmp(t->checkpoints->values, e->attempt_ended.checkpoints,
		      n * sizeof *e->attempt_ended.checkpoints) == 0;
}

static struct dp_checkpoints *checkpoints_new(const struct dp_study_state *st,
					      const struct dp_event *e)
{
	struct dp_checkpoints *checkpoints = dp_calloc(1, sizeof *checkpoints);
	size_t n = e->attempt_ended.ncheckpoints;

	checkpoints->count = e->attempt_ended.ncheckpoints;
	checkpoints->values = dp_malloc(n * sizeof *checkpoints->values);
	checkpoints->objectives = new_nan_array(n * st->spec->nobjectives);
	if (!checkpoints->values || !checkpoints->objectives) {
		dp__checkpoints_free(checkpoints);
		return NULL;
	}
	memcpy(checkpoints->values, e->attempt_ended.checkpoints, n * sizeof *checkpoints->values);
	return checkpoints;
}

static void checkpoints_store_event(const struct dp_study_state *st,
				    struct dp_checkpoints *checkpoints, const struct dp_event *e)
{
	size_t runs = (size_t)dp_study_reported_runs(st->spec), m = st->spec->nobjectives;
	const double *v = e->attempt_ended.checkpoint_metrics,
		     *epsilon = e->attempt_ended.checkpoint_epsilons;

	for (uint32_t w = 0; w < checkpoints->count; w++)
		for (uint32_t i = 0; i < e->attempt_ended.nruns; i++)
			for (uint32_t k = 0; k < e->attempt_ended.nmetrics; k++, v++) {
				int column = dp_state_metric_column(
					st, e->attempt_ended.metric_names[k]);

				/* NaN does not overwrite the value of an earlier attempt. */
				if (e->attempt_ended.runs[i] < runs && !isnan(*v))
					checkpoints->run_metrics[(w * runs +
								  e->attempt_ended.runs[i]) *
									 checkpoints->nmetrics +
								 (uint32_t)column] = *v;
			}
	for (size_t w = 0; e->attempt_ended.ncheckpoint_epsilons && w < checkpoints->count; w++)
		for (size_t k = 0; k < m; k++)
			if (st->spec->objectives[k].privacy) {
				/* NaN does not overwrite a known epsilon. */
				if (!isnan(*epsilon))
					checkpoints->objectives[w * m + k] = *epsilon;
				epsilon++;
			}
}

int dp__checkpoints_add_attempt(struct dp_study_state *st, struct dp_trial *t,
				const struct dp_event *e, struct dp_err *err)
{
	size_t rows =
		(size_t)e->attempt_ended.ncheckpoints * (size_t)dp_study_reported_runs(st->spec);
	struct dp_checkpoints *checkpoints = t->checkpoints;

	if (e->attempt_ended.ncheckpoints == 0)
		return DP_OK;
	if (!are_event_checkpoints_valid(st, t, e))
		return dp_fail(err, DP_E_CORRUPT,
			       "the waypoints of trial %u of study %u do not fit it", t->number,
			       st->id);
	for (uint32_t k = 0; k < e->attempt_ended.nmetrics; k++)
		if (dp__metric_find_or_add(st, e->attempt_ended.metric_names[k]) < 0)
			return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	if (!checkpoints)
		checkpoints = t->checkpoints = checkpoints_new(st, e);
	if (!checkpoints ||
	    dp__table_widen(&checkpoints->run_metrics, rows, &checkpoints->nmetrics, st->nmetrics))
		return dp_fail(err, DP_E_NOMEM, "no memory for waypoints");
	checkpoints_store_event(st, checkpoints, e);
	return DP_OK;
}

static void checkpoint_compute_result(const struct dp_study_state *st,
				      struct dp_checkpoints *checkpoints, uint32_t w)
{
	size_t runs = (size_t)dp_study_reported_runs(st->spec), wide = checkpoints->nmetrics;
	const struct dp_study *spec = st->spec;

	for (size_t k = 0; k < wide; k++) {
		const double *first = checkpoints->run_metrics + w * runs * wide + k;

		checkpoints->metric_means[w * wide + k] = dp__runs_mean(first, wide, (int)runs);
		checkpoints->metric_variances[w * wide + k] =
			dp__runs_mean_variance(first, wide, (int)runs);
	}
	for (size_t k = 0; k < spec->nobjectives; k++) {
		const struct dp_objective *o = &spec->objectives[k];
		int column = o->metric ? dp_state_metric_column(st, o->metric) : -1;

		if (column >= 0 && (size_t)column < wide)
			checkpoints->objectives[w * spec->nobjectives + k] =
				dp_objective_from_metric(
					o, checkpoints->metric_means[w * wide + (size_t)column]);
	}
}

void dp__checkpoints_clear_results(struct dp_checkpoints *checkpoints)
{
	if (!checkpoints)
		return;
	free(checkpoints->metric_means);
	free(checkpoints->metric_variances);
	checkpoints->metric_means = checkpoints->metric_variances = NULL;
}

int dp__checkpoints_compute_results(const struct dp_study_state *st, struct dp_trial *t,
				    bool for_good, struct dp_err *err)
{
	struct dp_checkpoints *checkpoints = t->checkpoints;
	size_t size;

	if (!checkpoints || !checkpoints->run_metrics)
		return DP_OK;
	size = (size_t)checkpoints->count * checkpoints->nmetrics;
	checkpoints->metric_means = new_nan_array(size);
	checkpoints->metric_variances = new_nan_array(size);
	if (!checkpoints->metric_means || !checkpoints->metric_variances) {
		dp__checkpoints_clear_results(checkpoints);
		return dp_fail(err, DP_E_NOMEM, "no memory for waypoints");
	}
	for (uint32_t w = 0; w < checkpoints->count; w++)
		checkpoint_compute_result(st, checkpoints, w);
	if (for_good) {
		free(checkpoints->run_metrics);
		checkpoints->run_metrics = NULL;
	}
	return DP_OK;
}

bool dp_checkpoints_have_epsilons(const struct dp_study_state *s,
				  const struct dp_checkpoints *checkpoints)
{
	size_t m = s->spec->nobjectives;

	for (size_t i = 0; i < checkpoints->count * m; i++)
		if (s->spec->objectives[i % m].privacy && isnan(checkpoints->objectives[i]))
			return false;
	return true;
}

bool dp_checkpoint_is_result(const struct dp_study_state *s,
			     const struct dp_checkpoints *checkpoints, uint32_t w)
{
	size_t m = s->spec->nobjectives;

	for (size_t k = 0; k < m; k++)
		if (!isfinite(checkpoints->objectives[w * m + k]))
			return false;
	return checkpoints->metric_means != NULL;
}
