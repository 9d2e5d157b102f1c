/* view.c - the state as JSON, for the control protocol and for reports. */
#include "journal/view.h"

#include "base/json.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/student.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Adds a value, whose reference is taken. Without memory for it or for what came before
 * the whole becomes NULL: a view that lacks something would be taken for the truth. */
static void view_set(json_t **object, const char *key, json_t *value)
{
	if (json_object_set_new(*object, key, value) == 0)
		return;
	json_decref(*object);
	*object = NULL;
}

static void view_push(json_t **array, json_t *value)
{
	if (json_array_append_new(*array, value) == 0)
		return;
	json_decref(*array);
	*array = NULL;
}

/* The same with all that another object has. */
static void view_merge(json_t **object, json_t *more)
{
	if (*object && more && json_object_update(*object, more) == 0) {
		json_decref(more);
		return;
	}
	json_decref(more);
	json_decref(*object);
	*object = NULL;
}

json_t *dp_view_time(int64_t us)
{
	char text[DP_NUM_LEN];

	return us ? json_string(dp_time_text(us, text)) : json_null();
}

json_t *dp_view_text(const char *text)
{
	return text && dp_utf8_ok(text) ? json_string(text) : json_null();
}

const char *dp_reason_text(const char *reason, const char *by, char out[DP_REASON_LEN])
{
	static const char request[] = "by request";
	size_t n = reason ? strlen(reason) : 0, end = sizeof request - 1;
	int len;

	if (!by || n < end || strcmp(reason + n - end, request) != 0)
		return reason;
	len = snprintf(out, DP_REASON_LEN, "%.*sby %s", (int)(n - end), reason, by);
	return len < DP_REASON_LEN ? out : reason; /* a journal may hold anything */
}

json_t *dp_view_reason(const char *reason, const char *by)
{
	char text[DP_REASON_LEN];

	return dp_view_text(dp_reason_text(reason, by, text));
}

void dp_attempt_folder(uint32_t trial, int32_t run, uint32_t attempt, char out[64])
{
	if (run == DP_RUN_ALL)
		snprintf(out, 64, "trials/%u/%u", trial, attempt);
	else
		snprintf(out, 64, "trials/%u/%d-%u", trial, run, attempt);
}

static json_t *number_or_null(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *dp_view_objectives(const struct dp_study_state *s, const double *objectives)
{
	json_t *o;

	if (!objectives)
		return json_null();
	o = json_object();
	for (size_t i = 0; i < s->spec->nobjectives; i++)
		view_set(&o, s->spec->objectives[i].name, dp_json_real(objectives[i]));
	return o;
}

static json_t *anti_ideal(const struct dp_study_state *s)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->spec->nobjectives; i++)
		view_set(&o, s->spec->objectives[i].name,
			 dp_json_real(s->spec->objectives[i].anti_ideal));
	return o;
}

/* Hypervolume and front may have to be computed. */
static json_t *hypervolume(struct dp_study_state *s)
{
	return dp_study_front(s, NULL) == DP_OK ? dp_json_real(s->hypervolume) : NULL;
}

json_t *dp_view_at(double at)
{
	return isnan(at) ? json_null() : json_integer((json_int_t)at);
}

json_t *dp_view_spread(const struct dp_study *spec, uint32_t runs, const double *y,
		       const double *var)
{
	json_t *all = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++) {
		double error = sqrt(var[i]), wide = dp_t95(runs - 1) * error;

		if (spec->objectives[i].metric)
			view_set(&all, spec->objectives[i].name,
				 json_pack("{s:I, s:o, s:o, s:o}", "runs", (json_int_t)runs, "sd",
					   number_or_null(error * sqrt(runs)), "low",
					   number_or_null(y[i] - wide), "high",
					   number_or_null(y[i] + wide)));
	}
	return all;
}

json_t *dp_view_point_spread(const struct dp_study_state *s, struct dp_point p)
{
	const double *y = dp_point_objectives(s, p);
	double var[DP_OBJECTIVES_MAX];

	for (size_t i = 0; i < s->spec->nobjectives; i++) {
		const char *metric = s->spec->objectives[i].metric;

		var[i] = metric ? dp_point_mean_variance(s, p, dp_study_metric(s, metric)) : NAN;
	}
	return y ? dp_view_spread(s->spec, dp_study_trial(s, p.trial)->runs, y, var) : json_null();
}

json_t *dp_view_point(const struct dp_study_state *s, struct dp_point p)
{
	double at = dp_point_at(s, p);

	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "trial", (json_int_t)p.trial, "at",
			 dp_view_at(at), "parameters",
			 dp_space_json_at(s->spec, dp_study_trial(s, p.trial)->x, at), "objectives",
			 dp_view_objectives(s, dp_point_objectives(s, p)), "spread",
			 dp_view_point_spread(s, p), "remeasured", dp_view_remeasured(s, p));
}

json_t *dp_view_metrics(const struct dp_study_state *s, struct dp_point p)
{
	json_t *metrics = json_object();

	for (uint32_t k = 0; k < s->nmetrics; k++)
		view_set(&metrics, s->metrics[k], dp_json_real(dp_point_mean(s, p, (int)k)));
	return metrics;
}

/* A number of trials, or null where that is secret. */
static json_t *count_json(const struct dp_study_state *s, uint32_t n)
{
	return dp_study_hides(s) ? json_null() : json_integer((json_int_t)n);
}

/* The whole object with the front of the result, whose reference is taken; NaN for a
 * hypervolume that it does not have. */
static json_t *result_json(struct dp_study_state *s, double denoised, double remeasured,
			   json_t *front)
{
	json_t *o = json_pack(
		"{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "version", 1, "study", s->spec->name,
		"state", dp_study_status_text(s->status), "reason", dp_view_text(s->reason),
		"evaluations", count_json(s, dp_study_ended(s)), "failed", count_json(s, s->failed),
		"diverged", count_json(s, s->diverged), "hypervolume", hypervolume(s));

	if (!isnan(denoised))
		view_set(&o, "hypervolume_denoised", dp_json_real(denoised));
	if (!isnan(remeasured))
		view_set(&o, "hypervolume_remeasured", dp_json_real(remeasured));
	view_set(&o, "anti_ideal", anti_ideal(s));
	view_set(&o, "front", front);
	return o;
}

json_t *dp_view_result_denoised(struct dp_study_state *s, double volume, json_t *front)
{
	return result_json(s, volume, NAN, front);
}

json_t *dp_view_result(struct dp_study_state *s)
{
	return dp_view_result_part(s, UINT32_MAX);
}

json_t *dp_view_result_part(struct dp_study_state *s, uint32_t most)
{
	json_t *front = json_array(), *more, *o;
	double again;

	if (dp_study_front(s, NULL) != DP_OK ||
	    dp_points_remeasured_volume(s, s->front, s->nfront, &again) != DP_OK) {
		json_decref(front);
		return NULL;
	}
	for (uint32_t i = 0; i < s->nfront && i < most; i++)
		view_push(&front, dp_view_point(s, s->front[i]));
	o = result_json(s, NAN, again, front);
	if (s->nfront <= most)
		return o;
	more = json_array();
	for (uint32_t i = most; i < s->nfront; i++)
		view_push(&more, json_pack("[I, o]", (json_int_t)s->front[i].trial,
					   dp_view_at(dp_point_at(s, s->front[i]))));
	view_set(&o, "more", more);
	return o;
}

json_t *dp_view_selection(const struct dp_select_cost *c)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:s}", "epsilon",
			 dp_json_real(c->epsilon), "delta", dp_json_real(c->delta), "trained",
			 dp_json_real(c->trained), "measured", dp_json_real(c->measured),
			 "one_training", dp_json_real(c->one), "composed",
			 dp_json_real(c->composed), "law", c->law, "mean", dp_json_real(c->mean),
			 "order", dp_json_real(c->order), "theorem", c->theorem);
}

/* {"epochs":132}, or null without trainer.path. */
static json_t *trained_json(const struct dp_study_state *s)
{
	const struct dp_path *path = &s->spec->trainer.path;

	return path->points ? json_pack("{s:I}", s->spec->params[path->param].name,
					(json_int_t)dp_study_walked(s))
			    : json_null();
}

/* {"spent":82,"most":100}, or null without search.max_cost. */
static json_t *cost_json(const struct dp_study_state *s)
{
	double most = s->spec->search.max_cost;

	return most > 0 ? json_pack("{s:o, s:o}", "spent", dp_json_real(dp_study_cost_spent(s)),
				    "most", dp_json_real(most))
			: json_null();
}

/* {"epsilon":4,"delta":1e-5,"order":9,"spent":0.6,"most":2.1}, or null without
 * search.budget; before its filter is chosen the last three are null. */
static json_t *budget_json(const struct dp_study_state *s)
{
	const struct dp_budget *b = &s->spec->search.budget;
	double spent, most;
	bool known = dp_study_budget_spent(s, &spent, &most);

	if (b->epsilon == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "epsilon", dp_json_real(b->epsilon), "delta",
			 dp_json_real(b->delta), "order",
			 known ? dp_json_real(s->accounting->filter.order) : json_null(), "spent",
			 known ? dp_json_real(spent) : json_null(), "most",
			 known ? dp_json_real(most) : json_null());
}

/* Whose number a privacy objective is, if it is that of an oracle program: {"epsilon":
 * "python3 accountant.py"}; null: of none. */
static json_t *programs_json(const struct dp_study *spec)
{
	json_t *o = NULL;

	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_oracle *from = spec->objectives[i].privacy;
		struct dp_buf text = DP_BUF_INIT;

		if (!from || from->kind != DP_ORACLE_PROGRAM)
			continue;
		for (char **a = from->argv; *a; a++)
			dp_buf_printf(&text, "%s%s", a == from->argv ? "" : " ", *a);
		if (!o)
			o = json_object();
		view_set(&o, spec->objectives[i].name, dp_view_text(dp_buf_text(&text)));
		dp_buf_free(&text);
	}
	return o ? o : json_null();
}

/* {"epsilon":1e-05}: of each privacy objective; null where a parameter sets it. */
static json_t *deltas_json(const struct dp_study *spec)
{
	json_t *o = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy)
			view_set(&o, spec->objectives[i].name,
				 number_or_null(dp_oracle_delta(spec->objectives[i].privacy)));
	return o;
}

static const char *goal_text(bool maximize)
{
	return maximize ? "maximize" : "minimize";
}

/* Which way a reported metric is better: NULL if no objective and no constraint is of
 * it. */
static const char *metric_goal(const struct dp_study *spec, const char *metric)
{
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_objective *o = &spec->objectives[i];

		if (o->metric && strcmp(o->metric, metric) == 0)
			return goal_text(o->maximize != o->one_minus);
	}
	for (size_t i = 0; i < spec->nconstraints; i++)
		if (strcmp(spec->constraints[i].metric, metric) == 0)
			return goal_text(spec->constraints[i].at_least);
	return NULL;
}

/* What the objectives are, each list in their order: their names, which way is better,
 * the scale that they are modelled on, those of privacy; and the metrics that trainers
 * reported, with their goals. */
static json_t *objectives_json(const struct dp_study_state *s)
{
	json_t *names = json_array(), *goals = json_array(), *scales = json_array(),
	       *privacy = json_array(), *metrics = json_object();

	for (size_t i = 0; i < s->spec->nobjectives; i++) {
		const struct dp_objective *objective = &s->spec->objectives[i];

		view_push(&names, json_string(objective->name));
		view_push(&goals, json_string(goal_text(objective->maximize)));
		view_push(&scales, json_string(dp_transform_text(objective->transform)));
		if (objective->privacy)
			view_push(&privacy, json_string(objective->name));
	}
	for (uint32_t k = 0; k < s->nmetrics; k++)
		view_set(&metrics, s->metrics[k],
			 dp_view_text(metric_goal(s->spec, s->metrics[k])));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "objectives", names, "goals", goals,
			 "transforms", scales, "privacy", privacy, "metrics", metrics);
}

json_t *dp_view_summary(struct dp_study_state *s)
{
	bool halted = s->status == DP_STUDY_PAUSED || s->status == DP_STUDY_STOPPED;
	const char *by = halted ? s->by : NULL;
	json_t *volume = hypervolume(s), *o;

	o = json_pack("{s:I, s:s, s:s, s:o, s:o, s:b, s:s, s:i, s:I, s:o}", "id", (json_int_t)s->id,
		      "name", s->spec->name, "state", dp_study_status_text(s->status), "reason",
		      dp_view_reason(s->reason, by), "by", dp_view_text(by), "by_failures",
		      s->by_failures, "method", dp_method_text(s->spec->search.method), "priority",
		      s->priority, "parallel", (json_int_t)s->parallel, "evaluations",
		      count_json(s, s->evaluations));
	view_merge(&o, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s}", "ended",
				 count_json(s, dp_study_ended(s)), "ok", count_json(s, s->ok),
				 "diverged", count_json(s, s->diverged), "failed",
				 count_json(s, s->failed), "running",
				 count_json(s, s->apart ? 0 : dp_study_open(s)), "trained",
				 trained_json(s), "cost", cost_json(s), "hypervolume", volume,
				 "anti_ideal", anti_ideal(s), "front", (json_int_t)s->nfront,
				 "front_of", dp_front_text(s->spec)));
	view_merge(&o, objectives_json(s));
	view_merge(&o,
		   json_pack("{s:s, s:s, s:s?}", "data", s->now->public_data ? "public" : "private",
			     "seeds", dp_seeds_text(dp_study_seeds(s->now)), "seeds_warning",
			     dp_state_seeds_warning(s)));
	view_merge(&o, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "measuring",
				 dp_view_measuring(s), "budget", budget_json(s), "programs",
				 programs_json(s->spec), "deltas", deltas_json(s->spec), "created",
				 dp_view_time(s->created), "updated",
				 dp_view_time(dp_study_hides(s) ? 0 : s->updated), "version",
				 (json_int_t)s->seq, "file", dp_view_text(s->path)));
	return o;
}

static json_t *attempt_json(const struct dp_study_state *s, const struct dp_trial *t,
			    const struct dp_attempt *a, const char *study_folder)
{
	char below[64], folder[4096];
	/* where only noisy values are kept, these are not kept either */
	bool known = a->exit_kind != DP_EXIT_MISSING && !dp_study_releases(s->spec);
	json_t *o;

	if (dp_study_hides(s))
		snprintf(below, sizeof below, "%s", DP_SELECTED);
	else
		dp_attempt_folder(t->number, a->run, a->number, below);
	snprintf(folder, sizeof folder, "%s/%s", study_folder, below);
	o = json_pack("{s:I, s:o, s:o, s:o}", "attempt", (json_int_t)a->number, "run",
		      a->run == DP_RUN_ALL ? json_null() : json_integer(a->run), "end",
		      a->end ? json_string(dp_end_text(a->end)) : json_null(), "message",
		      dp_view_text(a->message));
	if (a->place)
		view_set(&o, "job", dp_view_text(a->place));
	view_set(&o, "exit_code",
		 a->exit_kind == DP_EXIT_CODE ? json_integer(a->exit_value) : json_null());
	view_set(&o, "signal",
		 a->exit_kind == DP_EXIT_SIGNAL ? json_integer(a->exit_value) : json_null());
	view_set(&o, "slot",
		 a->slot < 0 || dp_study_hides(s) ? json_null() : json_integer(a->slot));
	view_set(&o, "planned", dp_view_time(a->planned));
	view_set(&o, "started", dp_view_time(a->started));
	view_set(&o, "ended", dp_view_time(a->ended));
	view_set(&o, "cpu_seconds", known ? json_real((double)a->cpu_seconds) : json_null());
	view_set(&o, "peak_memory", known ? json_integer((json_int_t)a->peak_memory) : json_null());
	view_set(&o, "directory", dp_view_text(folder));
	return o;
}

/* Null where it is secret: who knows it can compute the noise of the run. */
static json_t *seed_json(const struct dp_study_state *s, uint32_t trial, uint32_t run)
{
	return dp_study_seeds(s->spec) == DP_SEEDS_SECRET
		       ? json_null()
		       : json_integer((json_int_t)dp_study_run_seed(s->spec, trial, run));
}

static json_t *runs_json(const struct dp_study_state *s, const struct dp_trial *t, uint32_t from,
			 uint32_t end)
{
	json_t *runs = json_array();
	bool released = dp_study_releases(s->spec); /* nothing of a single run is */

	for (uint32_t i = from; i < end; i++) {
		json_t *metrics = json_object();
		bool known = t->metrics && !released && dp_trial_run_known(t, i);

		for (uint32_t k = 0; known && k < t->nmetrics; k++)
			view_set(&metrics, s->metrics[k],
				 dp_json_real(t->metrics[i * t->nmetrics + k]));
		view_push(&runs, json_pack("{s:I, s:o, s:o}", "run", (json_int_t)i, "seed",
					   seed_json(s, t->number, i), "metrics", metrics));
	}
	return runs;
}

static json_t *way_metrics(const struct dp_study_state *s, const struct dp_way *way, uint32_t w)
{
	json_t *metrics = json_object();

	for (uint32_t k = 0; k < way->nmetrics; k++)
		view_set(&metrics, s->metrics[k], dp_json_real(way->means[w * way->nmetrics + k]));
	return metrics;
}

/* What a trial that has ended reached on its way, and what of it is no result. */
static json_t *way_json(const struct dp_study_state *s, const struct dp_trial *t)
{
	const struct dp_way *way = t->way;
	size_t m = s->spec->nobjectives;
	json_t *list = json_array();

	for (uint32_t w = 0; way->means && w < way->n; w++) {
		view_push(&list,
			  json_pack("{s:I, s:b, s:o, s:o, s:o}", "at", (json_int_t)way->at[w],
				    "dropped", !dp_way_stands(s, way, w), "objectives",
				    dp_view_objectives(s, way->objectives + w * m), "spread",
				    dp_view_point_spread(
					    s, (struct dp_point){ t->number, (int32_t)w }),
				    "metrics", way_metrics(s, way, w)));
	}
	return list;
}

/* Does it meet the constraints? Null of what is no result. */
static json_t *feasible_json(const struct dp_study_state *s, struct dp_point p,
			     enum dp_trial_status status)
{
	if (status != DP_TRIAL_OK || !dp_point_objectives(s, p))
		return json_null();
	return json_boolean(dp_point_feasible(s, p));
}

/* What the rows of a trial and of its waypoints begin with. */
static json_t *view_row(struct dp_study_state *s, struct dp_point p, enum dp_trial_status status)
{
	const struct dp_trial *t = dp_study_trial(s, p.trial);
	double at = dp_is_measuring(p.trial) ? t->at : dp_point_at(s, p);

	if (dp_study_front(s, NULL) != DP_OK)
		return NULL;
	return json_pack(
		"{s:I, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "trial",
		(json_int_t)t->number, "at", dp_view_at(at), "state", dp_trial_status_text(status),
		"source", t->source, "parameters", dp_space_json_at(s->spec, t->x, at),
		"objectives", dp_view_objectives(s, dp_point_objectives(s, p)), "spread",
		dp_view_point_spread(s, p), "feasible", feasible_json(s, p, status), "on_front",
		dp_study_on_front(s, p), "remeasured", dp_view_remeasured(s, p));
}

/* Journals of earlier versions have "cancelled" as the reason of a cancelled trial. */
static json_t *reason_json(const struct dp_trial *t)
{
	const char *state = dp_trial_status_text(t->status);

	return dp_view_text(t->reason && strcmp(t->reason, state) == 0 ? NULL : t->reason);
}

static json_t *trial_json(struct dp_study_state *s, const struct dp_trial *t)
{
	const struct dp_attempt *first = t->nattempts ? &t->attempts[0] : NULL;
	const struct dp_attempt *last = t->nattempts ? &t->attempts[t->nattempts - 1] : NULL;
	int64_t started = first ? (first->started ? first->started : first->planned) : 0;
	bool over = t->status >= DP_TRIAL_OK;
	double seconds = over ? dp_trial_took(t) : 0;
	json_t *o = view_row(s, (struct dp_point){ t->number, DP_OWN }, t->status);

	view_merge(&o, json_pack("{s:I, s:o, s:o, s:o, s:o}", "attempts", (json_int_t)t->nattempts,
				 "started", dp_view_time(started), "ended",
				 dp_view_time(over && last ? last->ended : 0), "seconds",
				 seconds > 0 ? json_real(seconds) : json_null(), "reason",
				 reason_json(t)));
	return o;
}

json_t *dp_view_waypoint(struct dp_study_state *s, struct dp_point p, bool full)
{
	json_t *o = view_row(s, p, DP_TRIAL_OK);

	/* attempts and times are the training's, and stand in its own row */
	view_set(&o, "attempts", full ? json_array() : json_null());
	view_merge(&o, json_pack("{s:n, s:n, s:n, s:n}", "started", "ended", "seconds", "reason"));
	if (!full)
		return o;
	view_set(&o, "runs", json_array());
	view_set(&o, "metrics", way_metrics(s, s->trials[p.trial]->way, (uint32_t)p.way));
	return o;
}

/* What is released of a trial, by metric. */
static json_t *released_json(const struct dp_study_state *s, const struct dp_trial *t)
{
	json_t *metrics = json_object();

	for (uint32_t k = 0; t->metrics && k < t->nmetrics; k++)
		view_set(&metrics, s->metrics[k], dp_json_real(t->metrics[k]));
	return metrics;
}

/* Where a part of n things that begins at `from` ends. */
static uint32_t part_end(uint32_t from, uint32_t most, uint32_t n)
{
	return from < n && most < n - from ? from + most : n;
}

json_t *dp_view_trial_part(struct dp_study_state *s, const struct dp_trial *t, const char *folder,
			   uint32_t from, uint32_t most)
{
	uint32_t runs = t->runs;
	uint32_t attempts_end = part_end(from, most, t->nattempts);
	uint32_t runs_end = part_end(from, most, runs);
	json_t *o = trial_json(s, t), *attempts = json_array();

	for (uint32_t i = from; i < attempts_end; i++)
		view_push(&attempts, attempt_json(s, t, &t->attempts[i], folder));
	view_set(&o, "attempts", attempts);
	view_set(&o, "runs", runs_json(s, t, from, runs_end));
	if (dp_study_releases(s->spec))
		view_set(&o, "released", released_json(s, t));
	if (t->way && from == 0)
		view_set(&o, "waypoints", way_json(s, t));
	view_set(&o, "basis", json_integer(t->basis));
	if (attempts_end < t->nattempts || runs_end < runs)
		view_set(&o, "next", json_integer((json_int_t)from + most));
	return o;
}

json_t *dp_view_trial(struct dp_study_state *s, const struct dp_trial *t, bool full,
		      const char *folder)
{
	return full ? dp_view_trial_part(s, t, folder, 0, UINT32_MAX) : trial_json(s, t);
}
