/* state_json.c - the state as JSON, for the control protocol and for reports. */
#include "state/state_json.h"

#include "base/json.h"
#include "base/units.h"
#include "base/rng.h"
#include "base/t_distribution.h"
#include "base/utf8.h"
#include "study/accounting.h"
#include "study/metric_release.h"
#include "study/private_selection.h"
#include "study/seeds.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

json_t *dp_time_json(int64_t us)
{
	char text[DP_NUM_LEN];

	return us ? json_string(dp_time_text(us, text)) : json_null();
}

json_t *dp_text_json(const char *text)
{
	return text && dp_utf8_is_valid(text) ? json_string(text) : json_null();
}

const char *dp_reason_text(const char *reason, const char *by, char out[DP_REASON_LEN])
{
	static const char request[] = "by request";
	size_t n = reason ? strlen(reason) : 0, end = sizeof request - 1;
	int len;

	if (!by || n < end || strcmp(reason + n - end, request) != 0)
		return reason;
	len = snprintf(out, DP_REASON_LEN, "%.*sby %s", (int)(n - end), reason, by);
	return len < DP_REASON_LEN ? out : reason; /* may be longer in a foreign journal */
}

json_t *dp_reason_json(const char *reason, const char *by)
{
	char text[DP_REASON_LEN];

	return dp_text_json(dp_reason_text(reason, by, text));
}

void dp_attempt_format_dir(uint32_t trial, int32_t run, uint32_t attempt, char out[64])
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

json_t *dp_objectives_json(const struct dp_study *spec, const double *objectives)
{
	json_t *o = objectives ? json_object() : json_null();

	for (size_t i = 0; objectives && i < spec->nobjectives; i++)
		json_object_set_new(o, spec->objectives[i].name, dp_json_real(objectives[i]));
	return o;
}

static json_t *reference_point_json(const struct dp_study_state *s)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->spec->nobjectives; i++)
		json_object_set_new(o, s->spec->objectives[i].name,
				    dp_json_real(s->spec->objectives[i].anti_ideal));
	return o;
}

json_t *dp_checkpoint_value_json(double at)
{
	return isnan(at) ? json_null() : json_integer((json_int_t)at);
}

static json_t *spread_json(const struct dp_study *spec, uint32_t runs, const double *y,
			   const double *var)
{
	json_t *all = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++) {
		double error = sqrt(var[i]), wide = dp_t_critical_95(runs - 1) * error;

		if (spec->objectives[i].metric)
			json_object_set_new(all, spec->objectives[i].name,
					    json_pack("{s:I, s:o, s:o, s:o}", "runs",
						      (json_int_t)runs, "sd",
						      number_or_null(error * sqrt(runs)), "low",
						      number_or_null(y[i] - wide), "high",
						      number_or_null(y[i] + wide)));
	}
	return all;
}

/* Variances of the objectives' means; NaN: unknown. */
static void result_variances(const struct dp_study_state *s, struct dp_result_id p, double *var)
{
	for (size_t i = 0; i < s->spec->nobjectives; i++) {
		const char *metric = s->spec->objectives[i].metric;

		var[i] = metric ? dp_result_metric_mean_variance(s, p,
								 dp_state_metric_column(s, metric))
				: NAN;
	}
}

json_t *dp_result_spread_json(struct dp_public_state v, struct dp_result_id p)
{
	const struct dp_study_state *s = v.state;
	const double *y = dp_result_get_objectives(s, p);
	double var[DP_OBJECTIVES_MAX];

	if (!y)
		return json_null();
	result_variances(s, p, var);
	return spread_json(s->spec, dp_state_find_trial(s, p.trial)->runs, y, var);
}

json_t *dp_front_row_json(const struct dp_study *spec, uint32_t trial, double at, const double *x,
			  uint32_t runs, const double *y, const double *var, json_t *reevaluated)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "trial", (json_int_t)trial, "at",
			 dp_checkpoint_value_json(at), "parameters",
			 dp_space_to_json_at(spec, x, at), "objectives",
			 dp_objectives_json(spec, y), "spread", spread_json(spec, runs, y, var),
			 "remeasured", reevaluated);
}

json_t *dp_result_json(struct dp_public_state v, struct dp_result_id p)
{
	const struct dp_study_state *s = v.state;
	const struct dp_trial *t = dp_state_find_trial(s, p.trial);
	double var[DP_OBJECTIVES_MAX];

	result_variances(s, p, var);
	return dp_front_row_json(s->spec, p.trial, dp_result_checkpoint_value(s, p), t->x, t->runs,
				 dp_result_get_objectives(s, p), var, dp_result_reeval_json(v, p));
}

json_t *dp_result_metrics_json(struct dp_public_state v, struct dp_result_id p)
{
	const struct dp_study_state *s = v.state;
	json_t *metrics = json_object();

	for (uint32_t k = 0; k < s->nmetrics; k++)
		json_object_set_new(metrics, s->metrics[k],
				    dp_json_real(dp_result_metric_mean(s, p, (int)k)));
	return metrics;
}

/* A number of trials, or null if it is secret. */
static json_t *redacted_count_json(struct dp_public_state v, uint32_t n)
{
	return v.hides_search ? json_null() : json_integer((json_int_t)n);
}

/* The whole object. Takes the reference to `front`; a hypervolume of NaN is omitted. */
static json_t *result_json(struct dp_public_state v, double smoothed, double reevaluated,
			   json_t *front)
{
	struct dp_study_state *s = v.state;
	json_t *o;

	dp_state_update_front(s);
	o = json_pack(
		"{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "version", 1, "study", s->spec->name,
		"state", dp_study_status_text(s->status), "reason", dp_text_json(s->reason),
		"evaluations", redacted_count_json(v, dp_state_count_ended_trials(s)), "failed",
		redacted_count_json(v, s->failed), "diverged", redacted_count_json(v, s->diverged),
		"hypervolume", dp_json_real(s->hypervolume));
	if (!isnan(smoothed))
		json_object_set_new(o, "hypervolume_denoised", dp_json_real(smoothed));
	if (!isnan(reevaluated))
		json_object_set_new(o, "hypervolume_remeasured", dp_json_real(reevaluated));
	json_object_set_new(o, "anti_ideal", reference_point_json(s));
	json_object_set_new(o, "front", front);
	return o;
}

json_t *dp_state_smoothed_result_json(struct dp_public_state v, double volume, json_t *front)
{
	return result_json(v, volume, NAN, front);
}

json_t *dp_state_result_json(struct dp_public_state v)
{
	return dp_state_result_page_json(v, UINT32_MAX);
}

json_t *dp_state_result_page_json(struct dp_public_state v, uint32_t most)
{
	struct dp_study_state *s = v.state;
	json_t *front = json_array(), *more, *o;

	dp_state_update_front(s);
	for (uint32_t i = 0; i < s->nfront && i < most; i++)
		json_array_append_new(front, dp_result_json(v, s->front[i]));
	o = result_json(v, NAN, dp_results_reeval_hypervolume(s, s->front, s->nfront), front);
	if (s->nfront <= most)
		return o;
	more = json_array();
	for (uint32_t i = most; i < s->nfront; i++)
		json_array_append_new(
			more, json_pack("[I, o]", (json_int_t)s->front[i].trial,
					dp_checkpoint_value_json(
						dp_result_checkpoint_value(s, s->front[i]))));
	json_object_set_new(o, "more", more);
	return o;
}

json_t *dp_selection_cost_json(const struct dp_select_cost *c)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:s}", "epsilon",
			 dp_json_real(c->epsilon), "delta", dp_json_real(c->delta), "trained",
			 dp_json_real(c->train_data_epsilon), "measured",
			 dp_json_real(c->eval_data_epsilon), "one_training",
			 dp_json_real(c->training_epsilon), "composed",
			 dp_json_real(c->composed_epsilon), "law", c->law, "mean",
			 dp_json_real(c->mean_trainings), "order", dp_json_real(c->order),
			 "theorem", c->theorem);
}

/* {"epochs":132}, or null without trainer.path. */
static json_t *path_total_json(const struct dp_study_state *s)
{
	const struct dp_learning_curve *path = &s->spec->trainer.learning_curve;

	return path->points ? json_pack("{s:I}", s->spec->params[path->param].name,
					(json_int_t)dp_state_total_path_value(s))
			    : json_null();
}

/* {"spent":82,"most":100}, or null without search.max_cost. */
static json_t *cost_json(const struct dp_study_state *s)
{
	double most = s->spec->search.max_cost;

	return most > 0 ? json_pack("{s:o, s:o}", "spent", dp_json_real(dp_state_cost_spent(s)),
				    "most", dp_json_real(most))
			: json_null();
}

/* {"epsilon":4,"delta":1e-5,"order":9,"spent":0.6,"most":2.1}, or null without search.budget. The
 * last three are null before the filter is chosen. */
static json_t *budget_json(const struct dp_study_state *s)
{
	const struct dp_budget *b = &s->spec->search.budget;
	double spent, most;
	bool known = dp_state_budget_spent(s, &spent, &most);

	if (b->epsilon == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "epsilon", dp_json_real(b->epsilon), "delta",
			 dp_json_real(b->delta), "order",
			 known ? dp_json_real(s->accounting->filter.order) : json_null(), "spent",
			 known ? dp_json_real(spent) : json_null(), "most",
			 known ? dp_json_real(most) : json_null());
}

/* The external accountants by privacy objective, {"epsilon":"python3 accountant.py"}, or null. */
static json_t *accountant_programs_json(const struct dp_study *spec)
{
	json_t *o = NULL;

	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_accounting_spec *from = spec->objectives[i].privacy;
		struct dp_buf text = DP_BUF_INIT;

		if (!from || from->kind != DP_ACCOUNTING_EXTERNAL)
			continue;
		for (char **a = from->argv; *a; a++)
			dp_buf_printf(&text, "%s%s", a == from->argv ? "" : " ", *a);
		if (!o)
			o = json_object();
		json_object_set_new(o, spec->objectives[i].name, dp_text_json(dp_buf_text(&text)));
		dp_buf_free(&text);
	}
	return o ? o : json_null();
}

/* {"epsilon":1e-05} for each privacy objective; null if a parameter sets it. */
static json_t *deltas_json(const struct dp_study *spec)
{
	json_t *o = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy)
			json_object_set_new(
				o, spec->objectives[i].name,
				number_or_null(dp_accounting_delta(spec->objectives[i].privacy)));
	return o;
}

static const char *goal_text(bool maximize)
{
	return maximize ? "maximize" : "minimize";
}

/* The direction in which a metric is better; NULL if no objective or constraint uses it. */
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

/* Lists in the order of the objectives (names, goals, modelled scales, names of the privacy
 * objectives), and the goals of the reported metrics. */
static json_t *objective_lists_json(const struct dp_study_state *s)
{
	json_t *names = json_array(), *goals = json_array(), *scales = json_array(),
	       *privacy = json_array(), *metrics = json_object();

	for (size_t i = 0; i < s->spec->nobjectives; i++) {
		const struct dp_objective *objective = &s->spec->objectives[i];

		json_array_append_new(names, json_string(objective->name));
		json_array_append_new(goals, json_string(goal_text(objective->maximize)));
		json_array_append_new(scales, json_string(dp_transform_text(objective->transform)));
		if (objective->privacy)
			json_array_append_new(privacy, json_string(objective->name));
	}
	for (uint32_t k = 0; k < s->nmetrics; k++)
		json_object_set_new(metrics, s->metrics[k],
				    dp_text_json(metric_goal(s->spec, s->metrics[k])));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "objectives", names, "goals", goals,
			 "transforms", scales, "privacy", privacy, "metrics", metrics);
}

json_t *dp_state_summary_json(struct dp_public_state v)
{
	struct dp_study_state *s = v.state;
	bool halted = s->status == DP_STUDY_PAUSED || s->status == DP_STUDY_STOPPED;
	const char *by = halted ? s->moved_by : NULL;
	json_t *o;

	dp_state_update_front(s);
	o = json_pack("{s:I, s:s, s:s, s:o, s:o, s:b, s:s, s:i, s:I, s:o}", "id", (json_int_t)s->id,
		      "name", s->spec->name, "state", dp_study_status_text(s->status), "reason",
		      dp_reason_json(s->reason, by), "by", dp_text_json(by), "by_failures",
		      s->moved_by_failures, "method", dp_method_text(s->spec->search.method),
		      "priority", s->priority, "parallel", (json_int_t)s->parallel, "evaluations",
		      redacted_count_json(v, s->evaluations));
	json_object_update_new(
		o, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s}", "ended",
			     redacted_count_json(v, dp_state_count_ended_trials(s)), "ok",
			     redacted_count_json(v, s->ok), "diverged",
			     redacted_count_json(v, s->diverged), "failed",
			     redacted_count_json(v, s->failed), "running",
			     redacted_count_json(
				     v, s->quarantined ? 0 : dp_state_count_open_attempts(s)),
			     "trained", path_total_json(s), "cost", cost_json(s), "hypervolume",
			     dp_json_real(s->hypervolume), "anti_ideal", reference_point_json(s),
			     "front", (json_int_t)s->nfront, "front_of",
			     dp_study_front_text(s->spec)));
	json_object_update_new(o, objective_lists_json(s));
	json_object_update_new(o, json_pack("{s:s, s:s, s:s?}", "data",
					    s->current_spec->public_data ? "public" : "private",
					    "seeds",
					    dp_seed_mode_text(dp_study_seed_mode(s->current_spec)),
					    "seeds_warning", dp_state_seeds_warning(s)));
	json_object_update_new(
		o, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "measuring",
			     dp_state_reeval_progress_json(v), "budget", budget_json(s), "programs",
			     accountant_programs_json(s->spec), "deltas", deltas_json(s->spec),
			     "created", dp_time_json(s->created_us), "updated",
			     dp_time_json(v.hides_search ? 0 : s->updated_us), "version",
			     (json_int_t)s->next_seq, "file", dp_text_json(s->path)));
	return o;
}

static json_t *attempt_json(struct dp_public_state v, const struct dp_trial *t,
			    const struct dp_attempt *a, const char *study_folder)
{
	const struct dp_study_state *s = v.state;
	char below[64], folder[4096];
	/* not kept where only noisy values are */
	bool known = a->exit_kind != DP_EXIT_MISSING && !dp_study_has_metric_release(s->spec);
	json_t *o;

	if (v.hides_search)
		snprintf(below, sizeof below, "%s", DP_SELECTED_LINK);
	else
		dp_attempt_format_dir(t->number, a->run, a->number, below);
	snprintf(folder, sizeof folder, "%s/%s", study_folder, below);
	o = json_pack("{s:I, s:o, s:o, s:o}", "attempt", (json_int_t)a->number, "run",
		      a->run == DP_RUN_ALL ? json_null() : json_integer(a->run), "end",
		      a->end_class ? json_string(dp_end_class_name(a->end_class)) : json_null(),
		      "message", dp_text_json(a->message));
	if (a->job_id)
		json_object_set_new(o, "job", dp_text_json(a->job_id));
	json_object_set_new(o, "exit_code",
			    a->exit_kind == DP_EXIT_CODE ? json_integer(a->exit_value)
							 : json_null());
	json_object_set_new(o, "signal",
			    a->exit_kind == DP_EXIT_SIGNAL ? json_integer(a->exit_value)
							   : json_null());
	json_object_set_new(o, "slot",
			    a->slot < 0 || v.hides_search ? json_null() : json_integer(a->slot));
	json_object_set_new(o, "planned", dp_time_json(a->planned_us));
	json_object_set_new(o, "started", dp_time_json(a->started_us));
	json_object_set_new(o, "ended", dp_time_json(a->ended_us));
	json_object_set_new(o, "cpu_seconds",
			    known ? number_or_null((double)a->cpu_seconds) : json_null());
	json_object_set_new(o, "peak_memory",
			    known ? json_integer((json_int_t)a->peak_memory) : json_null());
	json_object_set_new(o, "directory", dp_text_json(folder));
	return o;
}

/* Null if secret: a reader who knows the seed can compute the noise of the run. */
static json_t *seed_json(const struct dp_study_state *s, uint32_t trial, uint32_t run)
{
	return dp_study_seed_mode(s->spec) == DP_SEEDS_SECRET
		       ? json_null()
		       : json_integer((json_int_t)dp_study_run_seed(s->spec, trial, run));
}

static json_t *runs_json(const struct dp_study_state *s, const struct dp_trial *t, uint32_t from,
			 uint32_t end)
{
	json_t *runs = json_array();
	bool released = dp_study_has_metric_release(s->spec); /* then single runs stay secret */

	for (uint32_t i = from; i < end; i++) {
		json_t *metrics = json_object();
		bool known = t->metrics && !released && dp_trial_has_run_result(t, i);

		for (uint32_t k = 0; known && k < t->nmetrics; k++)
			json_object_set_new(metrics, s->metrics[k],
					    dp_json_real(t->metrics[i * t->nmetrics + k]));
		json_array_append_new(runs,
				      json_pack("{s:I, s:o, s:o}", "run", (json_int_t)i, "seed",
						seed_json(s, t->number, i), "metrics", metrics));
	}
	return runs;
}

static json_t *checkpoint_metrics_json(const struct dp_study_state *s,
				       const struct dp_checkpoints *checkpoints, uint32_t w)
{
	json_t *metrics = json_object();

	for (uint32_t k = 0; k < checkpoints->nmetrics; k++)
		json_object_set_new(
			metrics, s->metrics[k],
			dp_json_real(checkpoints->metric_means[w * checkpoints->nmetrics + k]));
	return metrics;
}

static json_t *checkpoints_json(struct dp_public_state v, const struct dp_trial *t)
{
	const struct dp_study_state *s = v.state;
	const struct dp_checkpoints *checkpoints = t->checkpoints;
	size_t m = s->spec->nobjectives;
	json_t *list = json_array();

	for (uint32_t w = 0; checkpoints->metric_means && w < checkpoints->count; w++) {
		json_array_append_new(
			list,
			json_pack("{s:I, s:b, s:o, s:o, s:o}", "at",
				  (json_int_t)checkpoints->values[w], "dropped",
				  !dp_checkpoint_is_result(s, checkpoints, w), "objectives",
				  dp_objectives_json(s->spec, checkpoints->objectives + w * m),
				  "spread",
				  dp_result_spread_json(
					  v, (struct dp_result_id){ t->number, (int32_t)w }),
				  "metrics", checkpoint_metrics_json(s, checkpoints, w)));
	}
	return list;
}

/* Does it meet the constraints? Null for what is not a result. */
static json_t *feasible_json(const struct dp_study_state *s, struct dp_result_id p,
			     enum dp_trial_status status)
{
	if (status != DP_TRIAL_OK || !dp_result_get_objectives(s, p))
		return json_null();
	return json_boolean(dp_result_is_feasible(s, p));
}

static json_t *result_row_json(struct dp_public_state v, struct dp_result_id p,
			       enum dp_trial_status status)
{
	struct dp_study_state *s = v.state;
	const struct dp_trial *t = dp_state_find_trial(s, p.trial);
	double at = t->kind == DP_TRIAL_REEVAL ? t->stop_at : dp_result_checkpoint_value(s, p);

	dp_state_update_front(s);
	return json_pack("{s:I, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "trial",
			 (json_int_t)t->number, "at", dp_checkpoint_value_json(at), "state",
			 dp_trial_status_text(status), "source", t->source, "parameters",
			 dp_space_to_json_at(s->spec, t->x, at), "objectives",
			 dp_objectives_json(s->spec, dp_result_get_objectives(s, p)), "spread",
			 dp_result_spread_json(v, p), "feasible", feasible_json(s, p, status),
			 "on_front", dp_result_is_on_front(s, p), "remeasured",
			 dp_result_reeval_json(v, p));
}

/* Journals of earlier versions give "cancelled" as the reason of a cancelled trial. */
static json_t *reason_json(const struct dp_trial *t)
{
	const char *state = dp_trial_status_text(t->status);

	return dp_text_json(t->reason && strcmp(t->reason, state) == 0 ? NULL : t->reason);
}

static json_t *trial_row_json(struct dp_public_state v, const struct dp_trial *t)
{
	const struct dp_attempt *first = t->nattempts ? &t->attempts[0] : NULL;
	const struct dp_attempt *last = t->nattempts ? &t->attempts[t->nattempts - 1] : NULL;
	int64_t started = first ? (first->started_us ? first->started_us : first->planned_us) : 0;
	bool over = t->status >= DP_TRIAL_OK;
	double seconds = over ? dp_trial_duration_seconds(t) : 0;
	json_t *o = result_row_json(v, (struct dp_result_id){ t->number, DP_CHECKPOINT_FINAL },
				    t->status);

	json_object_update_new(o,
			       json_pack("{s:I, s:o, s:o, s:o, s:o}", "attempts",
					 (json_int_t)t->nattempts, "started", dp_time_json(started),
					 "ended", dp_time_json(over && last ? last->ended_us : 0),
					 "seconds", seconds > 0 ? json_real(seconds) : json_null(),
					 "reason", reason_json(t)));
	return o;
}

json_t *dp_checkpoint_json(struct dp_public_state v, struct dp_result_id p, bool full)
{
	struct dp_study_state *s = v.state;
	json_t *o = result_row_json(v, p, DP_TRIAL_OK);

	/* attempts and times are in the row of the trial */
	json_object_set_new(o, "attempts", full ? json_array() : json_null());
	json_object_update_new(
		o, json_pack("{s:n, s:n, s:n, s:n}", "started", "ended", "seconds", "reason"));
	if (!full)
		return o;
	json_object_set_new(o, "runs", json_array());
	json_object_set_new(o, "metrics",
			    checkpoint_metrics_json(s, s->trials[p.trial]->checkpoints,
						    (uint32_t)p.checkpoint));
	return o;
}

static json_t *released_json(const struct dp_study_state *s, const struct dp_trial *t)
{
	json_t *metrics = json_object();

	for (uint32_t k = 0; t->metrics && k < t->nmetrics; k++)
		json_object_set_new(metrics, s->metrics[k], dp_json_real(t->metrics[k]));
	return metrics;
}

static uint32_t part_end(uint32_t from, uint32_t most, uint32_t n)
{
	return from < n && most < n - from ? from + most : n;
}

json_t *dp_trial_page_json(struct dp_public_state v, const struct dp_trial *t, const char *folder,
			   uint32_t from, uint32_t most)
{
	struct dp_study_state *s = v.state;
	uint32_t runs = t->runs;
	uint32_t attempts_end = part_end(from, most, t->nattempts);
	uint32_t runs_end = part_end(from, most, runs);
	json_t *o = trial_row_json(v, t), *attempts = json_array();

	for (uint32_t i = from; i < attempts_end; i++)
		json_array_append_new(attempts, attempt_json(v, t, &t->attempts[i], folder));
	json_object_set_new(o, "attempts", attempts);
	json_object_set_new(o, "runs", runs_json(s, t, from, runs_end));
	if (dp_study_has_metric_release(s->spec))
		json_object_set_new(o, "released", released_json(s, t));
	if (t->checkpoints && from == 0)
		json_object_set_new(o, "waypoints", checkpoints_json(v, t));
	json_object_set_new(o, "basis", json_integer(t->conditioned_on));
	if (attempts_end < t->nattempts || runs_end < runs)
		json_object_set_new(o, "next", json_integer((json_int_t)from + most));
	return o;
}

json_t *dp_trial_json(struct dp_public_state v, const struct dp_trial *t, bool full,
		      const char *folder)
{
	return full ? dp_trial_page_json(v, t, folder, 0, UINT32_MAX) : trial_row_json(v, t);
}
