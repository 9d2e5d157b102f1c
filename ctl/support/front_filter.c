/* front_filter.c - filters a front by limits and chooses one of its points. */
#include "ctl/support/front_filter.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "base/t_distribution.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ui/result_table.h"
#include "optimize/pareto/pareto.h"
#include "study/objective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	METRICS_BATCH_POINTS = 200 /* the protocol's maximum is 250 */
};

static bool is_objective(const json_t *front, const char *name)
{
	return json_object_get(json_object_get(front, "anti_ideal"), name) != NULL;
}

/* Appends the keys of an object to the array `names`, with n entries so far, and to a text. */
static size_t collect_names(const json_t *object, const char **names, size_t n, size_t room,
			    struct dp_buf *text)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value) {
		if (n + 1 < room)
			names[n++] = key;
		dp_buf_printf(text, "%s%s", text->len ? ", " : "", key);
	}
	return n;
}

static int check_metric_name(const json_t *front, const json_t *summary, const char *name,
			     struct dp_err *err)
{
	const json_t *metrics = json_object_get(summary, "metrics");
	struct dp_buf objectives = DP_BUF_INIT, reported = DP_BUF_INIT;
	const char *names[128] = { 0 }, *near;
	size_t n;

	if (is_objective(front, name) || json_object_get(metrics, name))
		return DP_OK;
	n = collect_names(json_object_get(front, "anti_ideal"), names, 0, DP_COUNT(names),
			  &objectives);
	collect_names(metrics, names, n, DP_COUNT(names), &reported);
	near = dp_nearest_word(name, names);
	dp_fail(err, DP_E_USAGE, "study '%s' has no objective or metric '%s'%s%s%s",
		dp_json_str(front, "study", "?"), name, near ? "; did you mean '" : "",
		near ? near : "", near ? "'?" : "");
	dp_hint(err, "its objectives are %s; its trainers reported %s", dp_buf_text(&objectives),
		reported.len ? dp_buf_text(&reported) : "nothing yet");
	dp_buf_free(&objectives);
	dp_buf_free(&reported);
	return DP_E_USAGE;
}

/* Returns 1 if the value is to be maximised, 0 minimised, -1 unknown. */
static int filter_goal_direction(const json_t *front, const json_t *summary, const char *name)
{
	json_t *names = ctl_json_keys(json_object_get(front, "anti_ideal"));
	const char *goal = dp_json_str(json_object_get(summary, "metrics"), name, NULL);

	for (size_t k = 0; k < json_array_size(names); k++)
		if (strcmp(json_string_value(json_array_get(names, k)), name) == 0)
			goal = json_string_value(
				json_array_get(json_object_get(summary, "goals"), k));
	json_decref(names);
	return goal ? strcmp(goal, "maximize") == 0 : -1;
}

static double json_number_or_nan(const json_t *object, const char *name)
{
	double x;

	return dp_json_to_real(json_object_get(object, name), &x) ? x : NAN;
}

/* Returns the value that put the point on the front: smoothed if the models chose it. */
static double point_objective_value(const json_t *point, const char *name)
{
	const json_t *values = json_object_get(point, "denoised");

	return json_number_or_nan(values ? values : json_object_get(point, "objectives"), name);
}

static double point_metric_value(const json_t *front, const json_t *point, const char *name)
{
	return is_objective(front, name)
		       ? point_objective_value(point, name)
		       : json_number_or_nan(json_object_get(point, "metrics"), name);
}

/* Returns the standard error of an objective at a point: that of the mean of its runs, even if the
 * models chose the point. The models know a mean of hundreds of results more precisely than runs of
 * two points can distinguish them. With one run, uses the model's. NaN: unknown. Computed
 * objectives such as epsilon have 0. */
static double standard_error(const json_t *point, const char *name)
{
	const json_t *spread = json_object_get(point, "spread"),
		     *runs = json_object_get(spread, name);

	if (json_is_object(spread) && !runs)
		return 0;
	if (json_is_number(json_object_get(runs, "sd")))
		return json_number_or_nan(runs, "sd") / sqrt((double)dp_json_int(runs, "runs", 0));
	return (json_number_or_nan(json_object_get(point, "denoised_high"), name) -
		json_number_or_nan(json_object_get(point, "denoised_low"), name)) /
	       (2 * DP_NORMAL_CRITICAL_95);
}

/* ---- metrics, sent only on request ---- */

/* Adds the metrics of at most METRICS_BATCH_POINTS points, starting at `from`. */
static int fetch_point_metrics(struct ctl *ctl, const char *study, json_t *points, size_t from,
			       struct dp_err *err)
{
	size_t end = json_array_size(points);
	json_t *asked = json_array(), *fields, *page;
	int code;

	end = end - from > METRICS_BATCH_POINTS ? from + METRICS_BATCH_POINTS : end;
	for (size_t i = from; i < end; i++) {
		const json_t *p = json_array_get(points, i);

		json_array_append_new(asked, json_pack("[O, O]", json_object_get(p, "trial"),
						       json_object_get(p, "at")));
	}
	code = ctl_pack_fields(&fields, err, "{s:s, s:o, s:b}", "study", study, "points", asked,
			       "metrics", 1);
	if (code == DP_OK)
		code = ctl_call(ctl, "front", fields, &page, err);
	if (code != DP_OK)
		return code;
	/* a retried trial has lost its checkpoints: skip points without an answer */
	for (size_t i = from, k = 0; i < end; i++) {
		const json_t *told = json_array_get(json_object_get(page, "front"), k);
		json_t *p = json_array_get(points, i);

		if (!json_equal(json_object_get(told, "trial"), json_object_get(p, "trial")) ||
		    !json_equal(json_object_get(told, "at"), json_object_get(p, "at")))
			continue;
		json_object_set(p, "metrics", json_object_get(told, "metrics"));
		k++;
	}
	json_decref(page);
	return DP_OK;
}

static int ensure_point_metrics(struct ctl *ctl, json_t *front, struct dp_err *err)
{
	json_t *points = json_object_get(front, "front");
	int code = DP_OK;

	if (json_object_get(json_array_get(points, 0), "metrics"))
		return DP_OK;
	for (size_t i = 0; code == DP_OK && i < json_array_size(points); i += METRICS_BATCH_POINTS)
		code = fetch_point_metrics(ctl, dp_json_str(front, "study", ""), points, i, err);
	return code;
}

/* ---- limits ---- */

static void parse_limit_name(const char *value, char out[DP_NAME_MAX + 1])
{
	snprintf(out, DP_NAME_MAX + 1, "%.*s", (int)strcspn(value, "="), value);
}

static void keep_points_within(json_t *front, json_t *points, const char *name, bool max,
			       double bound)
{
	json_t *left = json_array(), *point;
	size_t i;

	json_array_foreach (points, i, point) {
		double x = point_metric_value(front, point, name);

		if (max ? x <= bound : x >= bound)
			json_array_append(left, point);
	}
	json_object_set_new(front, "front", left);
}

static int apply_limit(struct ctl *ctl, json_t *front, const json_t *summary,
		       const struct ctl_given_option *given, struct dp_err *err)
{
	bool max = strcmp(given->option->name, "max") == 0;
	const char *equals = strchr(given->value, '=');
	json_t *points = json_object_get(front, "front");
	char name[DP_NAME_MAX + 1];
	double bound;
	int code;

	parse_limit_name(given->value, name);
	if (!equals || !dp_num_parse(equals + 1, &bound))
		return dp_fail(err, DP_E_USAGE,
			       "--%s takes NAME=NUMBER, as in --%s epsilon=1, not '%s'",
			       given->option->name, given->option->name, given->value);
	code = check_metric_name(front, summary, name, err);
	if (code == DP_OK && !is_objective(front, name))
		code = ensure_point_metrics(ctl, front, err);
	if (code == DP_OK)
		keep_points_within(front, points, name, max, bound);
	return code;
}

/* ---- choosing one point ---- */

static void keep_single_point(json_t *front, size_t i)
{
	json_t *one = json_array(), *point = json_array_get(json_object_get(front, "front"), i);

	if (point)
		json_array_append(one, point);
	json_object_set_new(front, "front", one);
}

static int keep_best(struct ctl *ctl, json_t *front, const json_t *summary, const char *name,
		     struct dp_err *err)
{
	const json_t *points = json_object_get(front, "front"), *point;
	int goal = filter_goal_direction(front, summary, name),
	    code = check_metric_name(front, summary, name, err);
	size_t best = SIZE_MAX, i;

	if (code == DP_OK && goal < 0)
		code = dp_fail(err, DP_E_USAGE,
			       "no objective and no constraint is of '%s', so whether it "
			       "is to be large or small is not known; use --max or --min",
			       name);
	if (code == DP_OK && !is_objective(front, name))
		code = ensure_point_metrics(ctl, front, err);
	if (code != DP_OK)
		return code;
	json_array_foreach (points, i, point) {
		double x = point_metric_value(front, point, name), y;

		y = point_metric_value(front, json_array_get(points, best), name);
		if (!isnan(x) && (best == SIZE_MAX || (goal ? x > y : x < y)))
			best = i;
	}
	keep_single_point(front, best);
	return DP_OK;
}

/* A front as matrices, all objectives to be minimised. */
struct front_matrix {
	json_t *names;
	size_t n, p;
	double *y, *ref; /* (n x p), (p): the reference point */
};

static void front_matrix_free(struct front_matrix *r)
{
	json_decref(r->names);
	free(r->y);
	free(r->ref);
}

static const char *front_matrix_objective(const struct front_matrix *r, size_t j)
{
	return json_string_value(json_array_get(r->names, j));
}

/* Builds the matrices. scaled: on the objectives' transformed scales, else in natural units. */
static void front_matrix_build(const json_t *front, const json_t *summary, bool scaled,
			       struct front_matrix *r)
{
	const json_t *anti_ideal = json_object_get(front, "anti_ideal"),
		     *points = json_object_get(front, "front"),
		     *scales = json_object_get(summary, "transforms");

	r->names = ctl_json_keys(anti_ideal);
	r->n = json_array_size(points);
	r->p = json_array_size(r->names);
	r->y = dp_calloc(r->n * r->p + 1, sizeof *r->y);
	r->ref = dp_calloc(r->p + 1, sizeof *r->ref);
	for (size_t j = 0; j < r->p; j++) {
		const char *name = front_matrix_objective(r, j),
			   *scale = json_string_value(json_array_get(scales, j));
		bool maximize = filter_goal_direction(front, summary, name) > 0;

		scale = scaled && scale ? scale : "none";
		r->ref[j] = dp_objective_transform(scale, maximize,
						   json_number_or_nan(anti_ideal, name));
		for (size_t i = 0; i < r->n; i++)
			r->y[i * r->p + j] = dp_objective_transform(
				scale, maximize,
				point_objective_value(json_array_get(points, i), name));
	}
}

static void keep_knee(json_t *front, const json_t *summary)
{
	struct front_matrix r;

	front_matrix_build(front, summary, true, &r);
	keep_single_point(front, dp_pareto_find_knee(r.y, r.n, r.p, r.ref));
	front_matrix_free(&r);
}

/* Sets *j to the objective whose best value counts: the one named by --best, else the second. */
static int find_one_se_objective(const struct front_matrix *r, const char *best, size_t *j,
				 struct dp_err *err)
{
	for (*j = best ? 0 : 1; best && *j < r->p; ++*j)
		if (strcmp(front_matrix_objective(r, *j), best) == 0)
			break;
	if (*j > 0 && *j < r->p)
		return DP_OK;
	return dp_fail(err, DP_E_USAGE,
		       "beside --one-se, --best takes an objective other than the first, "
		       "whose standard error is known: not '%s'",
		       best ? best : "");
}

static int keep_one_se(json_t *front, const json_t *summary, const char *best, struct dp_err *err)
{
	const json_t *points = json_object_get(front, "front");
	struct front_matrix r;
	double error = 0;
	size_t j, at;
	int code;

	front_matrix_build(front, summary, false, &r);
	code = find_one_se_objective(&r, best, &j, err);
	at = code == DP_OK ? dp_pareto_find_min(r.y, r.n, r.p, j) : SIZE_MAX;
	if (at != SIZE_MAX)
		error = standard_error(json_array_get(points, at), front_matrix_objective(&r, j));
	if (code == DP_OK && isnan(error)) {
		code = dp_fail(err, DP_E_FAILED,
			       "the standard error of '%s' at its best is not known: that takes "
			       "two runs or more of each trial, or models of enough results",
			       front_matrix_objective(&r, j));
		dp_hint(err, "--denoised goes by the models; trainer.runs in the study "
			     "file makes more runs");
	}
	if (code == DP_OK)
		keep_single_point(front, dp_pareto_find_one_se(r.y, r.n, r.p, j, error));
	front_matrix_free(&r);
	return code;
}

/* Returns the first objective that is (or is not) a privacy objective; -1: none. */
static int find_objective(const json_t *names, const json_t *privacy, bool is_privacy)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		if (ctl_json_array_has(privacy, json_string_value(name)) == is_privacy)
			return (int)i;
	return -1;
}

json_t *ctl_front_recommend(const json_t *front, const json_t *summary)
{
	json_t *points = json_object_get(front, "front"), *found = json_array();
	struct front_matrix natural, scaled;
	enum dp_point_rule rule = DP_POINT_NONE;
	size_t cost = 0, loss = 1, n, within = 0, at = SIZE_MAX;
	double *plane, *error, max = NAN;
	int epsilon, utility;

	front_matrix_build(front, summary, false, &natural);
	front_matrix_build(front, summary, true, &scaled);
	epsilon = find_objective(natural.names, json_object_get(summary, "privacy"), true);
	utility = find_objective(natural.names, json_object_get(summary, "privacy"), false);
	if (epsilon >= 0 && utility >= 0) {
		cost = (size_t)epsilon;
		loss = (size_t)utility;
	}
	n = natural.p > loss ? natural.n : 0;
	plane = dp_calloc(2 * n + 1, sizeof *plane);
	error = dp_calloc(n + 1, sizeof *error);
	for (size_t i = 0; i < n; i++) {
		plane[2 * i] = natural.y[i * natural.p + cost];
		plane[2 * i + 1] = natural.y[i * natural.p + loss];
		error[i] = standard_error(json_array_get(points, i),
					  front_matrix_objective(&natural, loss));
	}
	if (n) {
		max = dp_pareto_max_cost(natural.ref[cost], (int)cost == epsilon);
		within = dp_pareto_limit_cost(plane, n, max);
		at = dp_pareto_recommend(plane, error, scaled.y, n, scaled.p, scaled.ref, &rule);
	}
	if (at != SIZE_MAX)
		json_array_append(found, json_array_get(points, at));
	found = json_pack("{s:s, s:s?, s:o, s:o}", "rule",
			  dp_point_rule_name(rule ? rule : DP_POINT_ONE_SE), "objective",
			  epsilon >= 0 ? front_matrix_objective(&natural, (size_t)epsilon) : NULL,
			  "limit",
			  within > 0 && (int)cost == epsilon ? dp_json_real(max) : json_null(),
			  "front", found);
	free(plane);
	free(error);
	front_matrix_free(&natural);
	front_matrix_free(&scaled);
	return found;
}

static bool is_limit(const struct ctl_given_option *given)
{
	return strcmp(given->option->name, "max") == 0 || strcmp(given->option->name, "min") == 0;
}

json_t *ctl_front_filter_metrics(const struct ctl *ctl, const json_t *front)
{
	json_t *names = json_array();

	for (size_t i = 0; i < ctl->n_given_options; i++) {
		char name[DP_NAME_MAX + 1];

		if (!is_limit(&ctl->given_options[i]) &&
		    strcmp(ctl->given_options[i].option->name, "best") != 0)
			continue;
		parse_limit_name(ctl->given_options[i].value, name);
		if (!is_objective(front, name) && !ctl_json_array_has(names, name))
			json_array_append_new(names, json_string(name));
	}
	return names;
}

bool ctl_front_filter_requested(const struct ctl *ctl)
{
	for (size_t i = 0; i < ctl->n_given_options; i++)
		if (is_limit(&ctl->given_options[i]))
			return true;
	return ctl_get_option(ctl, "best") || ctl_has_option(ctl, "knee") ||
	       ctl_has_option(ctl, "one-se");
}

int ctl_front_filter_apply(struct ctl *ctl, json_t *front, const json_t *summary,
			   struct dp_err *err)
{
	const char *best = ctl_get_option(ctl, "best");
	bool knee = ctl_has_option(ctl, "knee"), one_se = ctl_has_option(ctl, "one-se");
	int code = DP_OK;

	if (knee && (one_se || best))
		return dp_fail(err, DP_E_USAGE,
			       "--knee and --%s ask for two different points; give one of them",
			       one_se ? "one-se" : "best");
	for (size_t i = 0; i < ctl->n_given_options && code == DP_OK; i++)
		if (is_limit(&ctl->given_options[i]))
			code = apply_limit(ctl, front, summary, &ctl->given_options[i], err);
	if (code == DP_OK && knee)
		keep_knee(front, summary);
	else if (code == DP_OK && one_se)
		code = keep_one_se(front, summary, best, err);
	else if (code == DP_OK && best)
		code = keep_best(ctl, front, summary, best, err);
	return code;
}
