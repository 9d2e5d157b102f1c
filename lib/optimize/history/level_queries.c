/* level_queries.c - recommends settings for levels of an objective or constraint. */
#include "optimize/history/level_queries.h"

#include "base/json.h"
#include "state/state_json.h"
#include "study/accounting.h"
#include "study/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int fail_unknown_output(const struct dp_study *s, const char *name, struct dp_err *err)
{
	const char *names[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX + 1] = { 0 }, *near;
	size_t n = s->nobjectives + s->nconstraints;
	struct dp_buf all = DP_BUF_INIT;

	for (size_t o = 0; o < n; o++) {
		names[o] = dp_output_name(s, o);
		dp_buf_printf(&all, "%s%s", o ? ", " : "", names[o]);
		if (o < s->nobjectives && s->objectives[o].metric &&
		    (s->objectives[o].one_minus || strcmp(s->objectives[o].metric, names[o]) != 0))
			dp_buf_printf(&all, " (%s%s)", s->objectives[o].one_minus ? "1 - " : "",
				      s->objectives[o].metric);
	}
	near = dp_nearest_word(name, names);
	dp_fail(err, DP_E_USAGE, "study '%s' has no objective and no constraint '%.64s'%s%s%s",
		s->name, name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	dp_hint(err, "it has %s", dp_buf_text(&all));
	dp_buf_free(&all);
	return DP_E_USAGE;
}

static int read_level(const struct dp_study *s, const json_t *object,
		      struct dp_recommend_level *out, struct dp_err *err)
{
	void *one = json_object_iter((json_t *)object);
	const char *name;

	if (json_object_size(object) != 1 ||
	    !dp_json_to_real(json_object_iter_value(one), &out->value) || !isfinite(out->value))
		return dp_fail(err, DP_E_PROTOCOL,
			       "each of 'levels' must be an object like {\"epsilon\":1}");
	name = json_object_iter_key(one);
	for (out->output = 0; out->output < s->nobjectives + s->nconstraints; out->output++)
		if (strcmp(dp_output_name(s, out->output), name) == 0)
			return DP_OK;
	return fail_unknown_output(s, name, err);
}

int dp_level_queries_parse(const struct dp_study *s, const json_t *levels,
			   struct dp_level_queries *out, struct dp_err *err)
{
	const json_t *one;
	size_t i;

	out->n = json_array_size(levels);
	if (out->n == 0 || out->n > DP_LEVEL_QUERIES_MAX)
		return dp_fail(err, DP_E_USAGE,
			       "settings are recommended for 1 to %d levels at once",
			       DP_LEVEL_QUERIES_MAX);
	json_array_foreach (levels, i, one) {
		int code = read_level(s, one, &out->list[i].level, err);

		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

static double get_observed_output(const struct dp_study_state *s, struct dp_result_id p, size_t o)
{
	const struct dp_study *spec = s->spec;

	if (o < spec->nobjectives)
		return dp_result_get_objectives(s, p)[o];
	return dp_result_metric_mean(
		s, p, dp_state_metric_column(s, spec->constraints[o - spec->nobjectives].metric));
}

static bool meets_level(const struct dp_study *study, const struct dp_recommend_level *level,
			double value)
{
	return dp_output_is_maximized(study, level->output) ? value >= level->value
							    : value <= level->value;
}

void dp_level_queries_find_tested(const struct dp_study_state *s, struct dp_level_queries *l)
{
	size_t n;
	struct dp_result_id *points = dp_state_list_results(s, &n);
	double least[DP_LEVEL_QUERIES_MAX];

	for (size_t k = 0; k < l->n; k++)
		l->list[k].has_tested = false;
	for (size_t i = 0; i < n; i++) {
		const double *y = dp_result_get_objectives(s, points[i]);

		if (!dp_result_is_feasible(s, points[i]))
			continue;
		for (size_t k = 0; k < l->n; k++) {
			struct dp_level_query *q = &l->list[k];
			double cost = dp_recommend_level_cost(s->spec, &q->level, y);

			if (!meets_level(s->spec, &q->level,
					 get_observed_output(s, points[i], q->level.output)) ||
			    (q->has_tested && !(cost < least[k])))
				continue;
			least[k] = cost;
			q->has_tested = true;
			q->tested = points[i];
			q->tested_checkpoint = dp_result_checkpoint_value(s, points[i]);
			memcpy(q->tested_objectives, y, s->spec->nobjectives * sizeof *y);
		}
	}
	free(points);
}

json_t *dp_predicted_json(const struct dp_prediction *q)
{
	return json_pack("{s:o, s:o, s:o}", "value", dp_json_real(q->value), "low",
			 dp_json_real(q->lo), "high", dp_json_real(q->hi));
}

static json_t *intervals_json(const struct dp_study *s, const struct dp_prediction *q)
{
	json_t *o = json_object();

	for (size_t i = 0; i < s->nobjectives; i++)
		if (!dp_output_is_computed(s, i))
			json_object_set_new(o, s->objectives[i].name, dp_predicted_json(&q[i]));
	return o;
}

static json_t *level_json(const struct dp_study *s, const struct dp_recommend_level *level)
{
	return json_pack("{s:o}", dp_output_name(s, level->output), dp_json_real(level->value));
}

/* What the models predict for the best tested point, whose observed values have selection bias. */
struct tested_prediction {
	bool is_known;
	bool is_as_good; /* meets the level, at no higher cost than the recommendation */
	struct dp_prediction output[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];
};

static const struct dp_observation *find_tested(const struct dp_history_subset *r,
						const struct dp_level_query *l)
{
	for (size_t i = r->nimported; i < r->n && l->has_tested; i++)
		if (r->ids[i].trial == l->tested.trial &&
		    r->ids[i].checkpoint == l->tested.checkpoint)
			return &r->known[i];
	return NULL;
}

/* Predicted values of the objectives; computed ones are exact. */
static void predicted_objective_values(const struct dp_study *s, const struct dp_prediction *q,
				       const double *computed, double *y)
{
	for (size_t i = 0; i < s->nobjectives; i++)
		y[i] = dp_output_is_computed(s, i) ? computed[i] : q[i].value;
}

static void compare_tested_with_recommended(struct dp_proposer *p, const struct dp_study *s,
					    const struct dp_history_subset *r,
					    const struct dp_level_query *l,
					    const struct dp_recommendation *found,
					    struct tested_prediction *out)
{
	const struct dp_observation *tested = find_tested(r, l);
	double here[DP_OBJECTIVES_MAX], there[DP_OBJECTIVES_MAX], held;
	size_t o = l->level.output;

	out->is_known = tested;
	if (!tested)
		return;
	dp_recommend_predict_at(p, tested->x, out->output);
	predicted_objective_values(s, out->output, l->tested_objectives, here);
	predicted_objective_values(s, found->predicted, found->privacy, there);
	held = o < s->nobjectives ? here[o] : out->output[o].value;
	out->is_as_good = meets_level(s, &l->level, held) &&
			  dp_recommend_level_cost(s, &l->level, here) <=
				  dp_recommend_level_cost(s, &l->level, there);
}

static json_t *recommended_json(const struct dp_study *s, const struct dp_history_subset *r,
				const struct dp_level_query *l,
				const struct dp_recommendation *found,
				const struct tested_prediction *expected)
{
	const struct dp_model_trust *trust = &found->trust;
	json_t *computed = json_object(), *constraints = json_object(), *tested = json_null(),
	       *nearest = json_null();

	for (size_t i = 0; i < s->nobjectives; i++)
		if (dp_output_is_computed(s, i))
			json_object_set_new(computed, s->objectives[i].name,
					    dp_json_real(found->privacy[i]));
	for (size_t i = 0; i < s->nconstraints; i++)
		json_object_set_new(constraints, s->constraints[i].metric,
				    dp_predicted_json(&found->predicted[s->nobjectives + i]));
	if (l->has_tested)
		tested = json_pack("{s:I, s:o, s:o}", "trial", (json_int_t)l->tested.trial, "at",
				   dp_checkpoint_value_json(l->tested_checkpoint), "objectives",
				   dp_objectives_json(s, l->tested_objectives));
	if (found->nearest_observation < r->n) {
		const struct dp_observation *k = &r->known[found->nearest_observation];

		nearest =
			json_pack("{s:I, s:o, s:o}", "trial", (json_int_t)k->trial, "at",
				  dp_checkpoint_value_json(k->checkpoint > 0 ? k->checkpoint : NAN),
				  "distance", dp_json_real(found->distance));
	}
	return json_pack(
		"{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "at",
		level_json(s, &l->level), "holds",
		dp_output_is_maximized(s, l->level.output) ? "at least" : "at most", "parameters",
		dp_space_to_json(s, found->x), "objectives", computed, "predicted",
		intervals_json(s, found->predicted), "constraints", constraints, "tested", tested,
		"expected",
		expected->is_known
			? json_pack("{s:o, s:b}", "predicted", intervals_json(s, expected->output),
				    "as_good", expected->is_as_good)
			: json_null(),
		"nearest", nearest, "trust",
		json_pack("{s:s, s:o, s:o, s:I, s:b, s:s?}", "of", dp_output_name(s, trust->output),
			  "leave_one_out", dp_json_real(trust->rms_error), "coverage",
			  dp_json_real(trust->coverage), "neighbours",
			  (json_int_t)trust->n_neighbours, "trusted", trust->is_trusted, "why",
			  trust->is_trusted ? NULL : trust->reason));
}

static int fail_too_few(const struct dp_study *s, const struct dp_history_subset *r,
			struct dp_err *err)
{
	dp_fail(err, DP_E_FAILED, "study '%s' has %zu result%s: too few to recommend settings",
		s->name, r->n, r->n == 1 ? "" : "s");
	return dp_hint(err,
		       "models need two at least; 'dparetoctl status %s' shows how "
		       "far it is",
		       s->name);
}

static bool has_no_searched_parameter(const struct dp_study *s)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].kind != DP_PARAM_FIXED && s->params[i].kind != DP_PARAM_CALIBRATED)
			return false;
	return true;
}

static int recommend_level(struct dp_proposer *p, const struct dp_study *study,
			   const struct dp_history_subset *r, const struct dp_level_query *l,
			   const atomic_bool *cancel, json_t **out, struct dp_err *err)
{
	struct dp_recommendation found;
	struct tested_prediction expected;
	int code = dp_recommend(p, &l->level, r->nimported, cancel, &found, err);

	if (code == DP_OK) {
		compare_tested_with_recommended(p, study, r, l, &found, &expected);
		*out = recommended_json(study, r, l, &found, &expected);
	}
	if (code == DP_E_LIMIT)
		*out = json_pack("{s:o, s:o}", "at", level_json(study, &l->level), "error",
				 dp_json_from_error(err));
	else if (code != DP_OK)
		return code;
	return DP_OK;
}

int dp_level_queries_recommend(struct dp_proposer *p, const struct dp_study *study,
			       const struct dp_history_subset *r,
			       const struct dp_external_callback *programs,
			       const struct dp_level_queries *l, const atomic_bool *cancel,
			       json_t **out, struct dp_err *err)
{
	struct dp_history h = { .observations = r->known,
				.n = r->n,
				.external_accountants = programs };
	int code;

	*out = NULL;
	if (has_no_searched_parameter(study))
		return dp_fail(err, DP_E_FAILED,
			       "study '%s' searches no parameter: there is one setting",
			       study->name);
	code = dp_surrogate_fit(p, &h, cancel, err);
	if (code != DP_OK)
		return code == DP_E_FAILED ? fail_too_few(study, r, err) : code;
	*out = json_array();
	for (size_t i = 0; i < l->n && code == DP_OK; i++) {
		json_t *one = NULL;

		code = recommend_level(p, study, r, &l->list[i], cancel, &one, err);
		if (code == DP_OK)
			json_array_append_new(*out, one);
	}
	if (code != DP_OK) {
		json_decref(*out);
		*out = NULL;
	}
	return code;
}
