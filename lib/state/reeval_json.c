/* reeval_json.c - re-evaluated points as JSON. */
#include "state/state_json.h"

#include "base/json.h"
#include "study/space.h"

#include <math.h>
#include <stdlib.h>

/* {"error":0.15} for the objectives that are metrics; null: unknown. */
static json_t *metric_objectives_json(const struct dp_study_state *s, const double *values)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->spec->nobjectives; i++)
		if (s->spec->objectives[i].metric)
			json_object_set_new(o, s->spec->objectives[i].name,
					    isfinite(values[i]) ? json_real(values[i])
								: json_null());
	return o;
}

json_t *dp_result_reeval_json(struct dp_public_state v, struct dp_result_id p)
{
	const struct dp_study_state *s = v.state;
	struct dp_reeval_stats stats;

	if (dp_state_find_trial(s, p.trial)->kind == DP_TRIAL_REEVAL ||
	    !dp_result_compute_reeval_stats(s, p, &stats))
		return json_null();
	return json_pack("{s:I, s:o, s:o, s:o}", "runs", (json_int_t)stats.runs, "objectives",
			 dp_objectives_json(s->spec, stats.objectives), "low",
			 metric_objectives_json(s, stats.low), "high",
			 metric_objectives_json(s, stats.high));
}

void dp_front_json_add_reevals(struct dp_public_state v, json_t *result)
{
	const struct dp_study_state *s = v.state;
	json_t *front = json_object_get(result, "front"), *rows = json_array(), *row;
	struct dp_result_id *points = dp_malloc((json_array_size(front) + 1) * sizeof *points);
	double volume;
	size_t i, n = 0;

	json_array_foreach (front, i, row) {
		const json_t *at = json_object_get(row, "at");
		json_t *copy = json_copy(row);
		bool found = dp_state_find_result(
			s, (uint32_t)dp_json_int(row, "trial", UINT32_MAX),
			json_is_integer(at) ? (double)json_integer_value(at) : NAN, &points[n]);

		json_object_set_new(copy, "remeasured",
				    found ? dp_result_reeval_json(v, points[n]) : json_null());
		json_array_append_new(rows, copy);
		n += found;
	}
	volume = dp_results_reeval_hypervolume(s, points, n);
	if (!isnan(volume))
		json_object_set_new(result, "hypervolume_remeasured", dp_json_real(volume));
	json_object_set_new(result, "front", rows);
	free(points);
}

json_t *dp_state_reeval_progress_json(struct dp_public_state v)
{
	const struct dp_study_state *s = v.state;
	const struct dp_reevals *m = &s->reevals;
	json_int_t points = 0, done = 0, runs = 0, made = 0;
	const char *reason;
	uint32_t ok, failed;

	if (!dp_state_has_pending_reevals(s))
		return json_null();
	for (uint32_t i = m->batch_start; i < m->count; i++) {
		points++;
		done += dp_reeval_get_status(s, &m->items[i], &reason) >= DP_TRIAL_OK;
		dp_reeval_count_runs(s, &m->items[i], &ok, &failed);
		runs += m->items[i].runs;
		made += ok + failed;
	}
	return json_pack("{s:I, s:I, s:I, s:I}", "points", points, "done", done, "runs", runs,
			 "runs_done", made);
}

/* The statistics so far; all null if there are none. */
static json_t *reeval_values_json(const struct dp_study_state *s, const struct dp_reeval *m)
{
	struct dp_reeval_stats stats;

	if (!dp_reeval_compute_stats(s, m, &stats))
		return json_pack("{s:n, s:n, s:n, s:n}", "objectives", "low", "high", "sd");
	return json_pack(
		"{s:o, s:o, s:o, s:o}", "objectives", dp_objectives_json(s->spec, stats.objectives),
		"low", metric_objectives_json(s, stats.low), "high",
		metric_objectives_json(s, stats.high), "sd", metric_objectives_json(s, stats.sd));
}

json_t *dp_reeval_json(struct dp_public_state v, uint32_t i)
{
	const struct dp_study_state *s = v.state;
	const struct dp_reeval *m = &s->reevals.items[i];
	const struct dp_trial *t = s->reevals.trials[m->first_trial];
	enum dp_trial_status status;
	uint32_t done, failed;
	const char *reason;
	json_t *o;

	dp_reeval_count_runs(s, m, &done, &failed);
	status = dp_reeval_get_status(s, m, &reason);
	o = json_pack("{s:I, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:s, s:o, s:[I, I]}", "measure",
		      (json_int_t)i, "why", m->source, "trial",
		      isnan(m->trial) ? json_null() : json_integer((json_int_t)m->trial), "at",
		      dp_checkpoint_value_json(m->checkpoint_value), "parameters",
		      dp_space_to_json_at(s->spec, t->x, t->stop_at), "runs", (json_int_t)m->runs,
		      "done", (json_int_t)done, "failed", (json_int_t)failed, "state",
		      dp_trial_status_text(status), "reason", dp_text_json(reason), "trials",
		      (json_int_t)t->number, (json_int_t)(t->number + m->ntrials - 1));
	json_object_update_new(o, reeval_values_json(s, m));
	return o;
}
