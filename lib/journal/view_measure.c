/* view_measure.c - points that were measured again, as JSON. */
#include "journal/view.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>

/* {"error":0.15} of the objectives that are metrics: null where nothing is known. */
static json_t *metric_values(const struct dp_study_state *s, const double *values)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->spec->nobjectives; i++)
		if (s->spec->objectives[i].metric &&
		    json_object_set_new(o, s->spec->objectives[i].name,
					isfinite(values[i]) ? json_real(values[i]) : json_null()) !=
			    0) {
			json_decref(o);
			return NULL;
		}
	return o;
}

json_t *dp_view_remeasured(const struct dp_study_state *s, struct dp_point p)
{
	struct dp_measured v;

	if (dp_is_measuring(p.trial) || !dp_point_remeasured(s, p, &v))
		return json_null();
	return json_pack("{s:I, s:o, s:o, s:o}", "runs", (json_int_t)v.runs, "objectives",
			 dp_view_objectives(s, v.objectives), "low", metric_values(s, v.low),
			 "high", metric_values(s, v.high));
}

/* A copy of a row with what was measured again of it, which `p` is. */
static json_t *remeasured_row(const struct dp_study_state *s, json_t *row, struct dp_point *p,
			      bool *found)
{
	const json_t *at = json_object_get(row, "at");
	json_t *copy = json_copy(row);

	*found = dp_study_point(s, (uint32_t)dp_json_int(row, "trial", UINT32_MAX),
				json_is_integer(at) ? (double)json_integer_value(at) : NAN, p);
	if (copy && json_object_set_new(copy, "remeasured",
					*found ? dp_view_remeasured(s, *p) : json_null()) == 0)
		return copy;
	json_decref(copy);
	return NULL;
}

bool dp_view_add_remeasured(const struct dp_study_state *s, json_t *result)
{
	json_t *front = json_object_get(result, "front"), *rows = json_array(), *row;
	struct dp_point *points = malloc((json_array_size(front) + 1) * sizeof *points);
	size_t i, n = 0;
	bool ok = rows && points, found;
	double volume;

	json_array_foreach (front, i, row) {
		if (!ok)
			break;
		ok = json_array_append_new(rows, remeasured_row(s, row, &points[n], &found)) == 0;
		n += found;
	}
	ok = ok && dp_points_remeasured_volume(s, points, n, &volume) == DP_OK;
	if (ok && !isnan(volume))
		ok = json_object_set_new(result, "hypervolume_remeasured", dp_json_real(volume)) ==
		     0;
	free(points);
	if (!ok) {
		json_decref(rows);
		return false;
	}
	return json_object_set_new(result, "front", rows) == 0;
}

json_t *dp_view_measuring(const struct dp_study_state *s)
{
	const struct dp_measures *m = &s->measured;
	json_int_t points = 0, done = 0, runs = 0, made = 0;
	const char *reason;
	uint32_t ok, failed;

	if (!dp_study_measures(s))
		return json_null();
	for (uint32_t i = m->batch; i < m->n; i++) {
		points++;
		done += dp_measure_status(s, &m->list[i], &reason) >= DP_TRIAL_OK;
		dp_measure_runs(s, &m->list[i], &ok, &failed);
		runs += m->list[i].runs;
		made += ok + failed;
	}
	return json_pack("{s:I, s:I, s:I, s:I}", "points", points, "done", done, "runs", runs,
			 "runs_done", made);
}

/* What it came to so far: nulls if that is nothing. */
static json_t *measure_values(const struct dp_study_state *s, const struct dp_measure *m)
{
	struct dp_measured v;

	if (!dp_measure_value(s, m, &v))
		return json_pack("{s:n, s:n, s:n, s:n}", "objectives", "low", "high", "sd");
	return json_pack("{s:o, s:o, s:o, s:o}", "objectives", dp_view_objectives(s, v.objectives),
			 "low", metric_values(s, v.low), "high", metric_values(s, v.high), "sd",
			 metric_values(s, v.sd));
}

json_t *dp_view_measure(const struct dp_study_state *s, uint32_t i)
{
	const struct dp_measure *m = &s->measured.list[i];
	const struct dp_trial *t = s->measured.trials[m->first];
	enum dp_trial_status status;
	uint32_t done, failed;
	const char *reason;
	json_t *o, *values = measure_values(s, m);

	dp_measure_runs(s, m, &done, &failed);
	status = dp_measure_status(s, m, &reason);
	o = json_pack("{s:I, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:s, s:o, s:[I, I]}", "measure",
		      (json_int_t)i, "why", m->why, "trial",
		      isnan(m->of) ? json_null() : json_integer((json_int_t)m->of), "at",
		      dp_view_at(m->of_at), "parameters", dp_space_json_at(s->spec, t->x, t->at),
		      "runs", (json_int_t)m->runs, "done", (json_int_t)done, "failed",
		      (json_int_t)failed, "state", dp_trial_status_text(status), "reason",
		      dp_view_text(reason), "trials", (json_int_t)t->number,
		      (json_int_t)(t->number + m->n - 1));
	if (!o || !values || json_object_update(o, values) != 0) {
		json_decref(o);
		o = NULL;
	}
	json_decref(values);
	return o;
}
