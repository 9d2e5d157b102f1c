/* result_table.c - formats trials and fronts as tables and CSV. */
#include "ctl/ui/result_table.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_id.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"
#include "study/study.h"
#include "ctl/study_status.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* CSV columns besides objectives and parameters: keys of TRIAL. */
static const char *const before[] = { "trial", "at", "state", NULL };
static const char *const after[] = { "on_front", "source",  "attempts", "started",
				     "ended",    "seconds", "reason",   NULL };

void ctl_result_columns_clear(struct ctl_result_columns *cols)
{
	json_decref(cols->objectives);
	json_decref(cols->parameters);
	json_decref(cols->metric_objectives);
	json_decref(cols->metrics);
	json_decref(cols->reevaluated);
	memset(cols, 0, sizeof *cols);
}

json_t *ctl_json_keys(const json_t *object)
{
	json_t *keys = json_array(), *value;
	const char *key;

	json_object_foreach ((json_t *)object, key, value)
		json_array_append_new(keys, json_string(key));
	return keys;
}

static bool string_list_has(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

bool ctl_json_array_has(const json_t *array, const char *text)
{
	const json_t *v;
	size_t i;

	json_array_foreach (array, i, v)
		if (strcmp(json_string_value(v), text) == 0)
			return true;
	return false;
}

void ctl_result_columns_from_study(const json_t *summary, struct ctl_result_columns *cols)
{
	const json_t *name;
	size_t i;

	cols->objectives = json_incref(json_object_get(summary, "objectives"));
	cols->metric_objectives = json_array();
	json_array_foreach (cols->objectives, i, name)
		if (!ctl_json_array_has(json_object_get(summary, "privacy"),
					json_string_value(name)))
			json_array_append(cols->metric_objectives, (json_t *)name);
}

/* Adds a column name, with a prefix only if the name would appear twice. */
static void csv_add_column_name(struct dp_buf *out, const char *prefix, const char *name,
				const json_t *taken)
{
	bool twice = string_list_has(before, name) || string_list_has(after, name) ||
		     ctl_json_array_has(taken, name);
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_printf(&text, "%s%s%s", twice ? prefix : "", twice ? "." : "", name);
	ctl_append_csv_field(out, dp_buf_text(&text), false);
	dp_buf_free(&text);
}

/* Members of a point chosen by models: smoothed values and their 95 % intervals. */
static const char *const by_models[] = { "denoised", "denoised_low", "denoised_high", NULL };
static const char *const of_spread[] = { "runs", "sd", "low", "high", NULL };
/* Columns of a re-evaluated point besides its runs: member and column name. */
static const struct {
	const char *member, *column;
} of_again[] = { { "objectives", "remeasured" },
		 { "low", "remeasured_low" },
		 { "high", "remeasured_high" } };

static void csv_add_joined_name(struct dp_buf *out, const char *left, const char *right)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_printf(&text, "%s.%s", left, right);
	ctl_append_csv_field(out, dp_buf_text(&text), false);
	dp_buf_free(&text);
}

/* Adds the last columns: smoothed values, spread of runs, re-evaluations, metrics. */
static void csv_add_extra_names(const struct ctl_result_columns *cols, struct dp_buf *out)
{
	const json_t *name;
	size_t i, k;

	for (k = 0; cols->with_smoothed && by_models[k]; k++)
		json_array_foreach (cols->objectives, i, name)
			csv_add_joined_name(out, by_models[k], json_string_value(name));
	json_array_foreach (cols->metric_objectives, i, name)
		for (k = 0; of_spread[k]; k++)
			csv_add_joined_name(out, json_string_value(name), of_spread[k]);
	if (cols->reevaluated)
		ctl_append_csv_field(out, "remeasured.runs", false);
	for (k = 0; cols->reevaluated && k < DP_COUNT(of_again); k++)
		json_array_foreach (cols->reevaluated, i, name)
			csv_add_joined_name(out, of_again[k].column, json_string_value(name));
	json_array_foreach (cols->metrics, i, name)
		csv_add_joined_name(out, "metric", json_string_value(name));
	dp_buf_putc(out, '\n');
}

void ctl_trial_csv_header(const struct ctl_result_columns *cols, struct dp_buf *out)
{
	const json_t *name;
	size_t i;

	for (i = 0; before[i]; i++)
		ctl_append_csv_field(out, before[i], i == 0);
	json_array_foreach (cols->objectives, i, name)
		csv_add_column_name(out, "objective", json_string_value(name), NULL);
	json_array_foreach (cols->parameters, i, name)
		csv_add_column_name(out, "parameter", json_string_value(name), cols->objectives);
	for (i = 0; after[i]; i++)
		ctl_append_csv_field(out, after[i], false);
	csv_add_extra_names(cols, out);
}

static void csv_add_value(struct dp_buf *out, const json_t *value, bool first)
{
	struct dp_buf text = DP_BUF_INIT;

	ctl_format_exact_value(value, &text);
	ctl_append_csv_field(out, dp_buf_text(&text), first);
	dp_buf_free(&text);
}

static void csv_add_members(struct dp_buf *out, const json_t *object, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		csv_add_value(out, json_object_get(object, json_string_value(name)), false);
}

static void csv_add_extra_values(const struct ctl_result_columns *cols, const json_t *row,
				 struct dp_buf *out)
{
	const json_t *spread = json_object_get(row, "spread"), *name,
		     *again = json_object_get(row, "remeasured");
	size_t i, k;

	for (k = 0; cols->with_smoothed && by_models[k]; k++)
		csv_add_members(out, json_object_get(row, by_models[k]), cols->objectives);
	json_array_foreach (cols->metric_objectives, i, name)
		for (k = 0; of_spread[k]; k++)
			csv_add_value(
				out,
				json_object_get(json_object_get(spread, json_string_value(name)),
						of_spread[k]),
				false);
	if (cols->reevaluated)
		csv_add_value(out, json_object_get(again, "runs"), false);
	for (k = 0; cols->reevaluated && k < DP_COUNT(of_again); k++)
		csv_add_members(out, json_object_get(again, of_again[k].member), cols->reevaluated);
	csv_add_members(out, json_object_get(row, "metrics"), cols->metrics);
	dp_buf_putc(out, '\n');
}

void ctl_trial_csv_row(const json_t *trial, const struct ctl_result_columns *cols,
		       struct dp_buf *out)
{
	const json_t *value;

	for (size_t i = 0; before[i]; i++)
		csv_add_value(out, json_object_get(trial, before[i]), i == 0);
	csv_add_members(out, json_object_get(trial, "objectives"), cols->objectives);
	csv_add_members(out, json_object_get(trial, "parameters"), cols->parameters);
	for (size_t i = 0; after[i]; i++) {
		value = json_object_get(trial, after[i]);
		if (json_is_array(value)) { /* attempts of a full trial */
			dp_buf_printf(out, ",%zu", json_array_size(value));
			continue;
		}
		csv_add_value(out, value, false);
	}
	csv_add_extra_values(cols, trial, out);
}

json_t *ctl_reevaluated_objectives(const json_t *points)
{
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point) {
		const json_t *again = json_object_get(point, "remeasured");

		if (json_is_object(again))
			return ctl_json_keys(json_object_get(again, "low"));
	}
	return NULL;
}

size_t ctl_count_reevaluated(const json_t *points)
{
	const json_t *point;
	size_t i, n = 0;

	json_array_foreach (points, i, point)
		n += json_is_object(json_object_get(point, "remeasured"));
	return n;
}

void ctl_result_columns_from_front(const json_t *front, const json_t *points,
				   struct ctl_result_columns *cols)
{

	cols->objectives = ctl_json_keys(json_object_get(front, "anti_ideal"));
	cols->parameters = ctl_json_keys(json_object_get(json_array_get(points, 0), "parameters"));
	cols->metric_objectives =
		ctl_json_keys(json_object_get(json_array_get(points, 0), "spread"));
	cols->metrics = NULL;
	cols->with_smoothed = json_object_get(front, "hypervolume_denoised") != NULL;
	cols->reevaluated = ctl_reevaluated_objectives(points);
}

/* A table column: an observed or smoothed objective, and whether an interval follows. */
struct front_column {
	const char *name;
	bool is_smoothed, has_interval;
};

static const json_t *get_nested(const json_t *object, const char *key, const char *name)
{
	return json_object_get(json_object_get(object, key), name);
}

/* Plans at most `room` columns of objectives and returns their number. The interval belongs to the
 * value that put the point on the front. */
static size_t front_plan_columns(const json_t *points, const struct ctl_result_columns *cols,
				 struct front_column *plan, size_t room)
{
	const json_t *name, *point;
	size_t n = 0, i, k;

	for (int smoothed = 0; smoothed <= cols->with_smoothed; smoothed++)
		json_array_foreach (cols->objectives, i, name) {
			const char *key = json_string_value(name);
			bool differs = false, interval = false;

			/* for an epsilon, the smoothed value equals the observed one */
			json_array_foreach (points, k, point) {
				differs |= cols->with_smoothed &&
					   !json_equal(get_nested(point, "objectives", key),
						       get_nested(point, "denoised", key));
				interval |= !isnan(
					ctl_interval_half_width(point, key, cols->with_smoothed));
			}
			if (n < room && (!smoothed || differs))
				plan[n++] =
					(struct front_column){ key, smoothed,
							       smoothed == differs && interval };
		}
	return n;
}

/* Adds a column "PREFIX NAME" and one for its interval. */
static void add_value_columns(struct ctl_table *t, const char *prefix, const char *name,
			      bool interval)
{
	struct dp_buf title = DP_BUF_INIT;

	dp_buf_printf(&title, "%s%s%s", prefix, *prefix ? " " : "", name);
	ctl_table_add_column(t, dp_buf_text(&title), CTL_RIGHT);
	if (interval)
		ctl_table_add_column(t, "95%", CTL_LEFT);
	dp_buf_free(&title);
}

static void add_half_width_cell(struct ctl *ctl, struct ctl_table *t, double half)
{
	if (isnan(half))
		ctl_table_add_text(t, "-");
	else
		ctl_table_add_cell(t, CTL_NORMAL, "%s%.2g", ctl->utf8 ? "±" : "+-", half);
}

static void table_add_columns(struct ctl_table *t, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		ctl_table_add_column(t, json_string_value(name), CTL_RIGHT);
}

static void table_add_cells(struct ctl_table *t, const json_t *object, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		ctl_table_add_value(t, json_object_get(object, json_string_value(name)));
}

void ctl_front_print_table(struct ctl *ctl, const json_t *front,
			   const struct ctl_result_columns *cols)
{
	const json_t *points = json_object_get(front, "front"), *point, *name;
	struct front_column plan[2 * DP_OBJECTIVES_MAX];
	size_t n = front_plan_columns(points, cols, plan, DP_COUNT(plan)), i, k;
	struct ctl_table *t = ctl_table_new("TRIAL>");
	char text[CTL_TEXT_LEN];

	for (k = 0; k < n; k++)
		add_value_columns(t, plan[k].is_smoothed ? "denoised" : "", plan[k].name,
				  plan[k].has_interval);
	json_array_foreach (cols->reevaluated, k, name)
		add_value_columns(t, "remeasured", json_string_value(name), true);
	table_add_columns(t, cols->metrics);
	table_add_columns(t, cols->parameters);
	json_array_foreach (points, i, point) {
		ctl_table_add_text(t, ctl_format_result_id(point, text));
		for (k = 0; k < n; k++) {
			const struct front_column *c = &plan[k];
			const json_t *value = get_nested(
				point, c->is_smoothed ? "denoised" : "objectives", c->name);

			ctl_table_add_cell(t, CTL_BOLD, "%s",
					   ctl_format_objective(point, c->name, value, text));
			if (c->has_interval)
				add_half_width_cell(ctl, t,
						    ctl_interval_half_width(point, c->name,
									    cols->with_smoothed));
		}
		json_array_foreach (cols->reevaluated, k, name) {
			const json_t *again = json_object_get(point, "remeasured");
			const char *key = json_string_value(name);
			double low, high, half = NAN;

			ctl_table_add_cell(
				t, CTL_BOLD, "%s",
				ctl_format_value(get_nested(again, "objectives", key), text));
			if (dp_json_to_real(get_nested(again, "low", key), &low) &&
			    dp_json_to_real(get_nested(again, "high", key), &high))
				half = (high - low) / 2;
			add_half_width_cell(ctl, t, half);
		}
		table_add_cells(t, json_object_get(point, "metrics"), cols->metrics);
		table_add_cells(t, json_object_get(point, "parameters"), cols->parameters);
	}
	ctl_table_print(ctl, t);
}

const char *ctl_front_empty_reason(const json_t *front)
{
	int64_t without = dp_json_int(front, "failed", 0) + dp_json_int(front, "diverged", 0);

	if (ctl_study_hides_trials(front))
		return "nothing is selected yet, or nothing was";
	return dp_json_int(front, "evaluations", 0) > without
		       ? "no result meets the constraints with finite values"
		       : "no trial has given a result";
}

void ctl_front_print_csv(struct ctl *ctl, const json_t *front,
			 const struct ctl_result_columns *cols)
{
	const json_t *point, *name;
	struct dp_buf out = DP_BUF_INIT;
	size_t i;

	dp_buf_puts(&out, "trial,at");
	json_array_foreach (cols->objectives, i, name)
		csv_add_column_name(&out, "objective", json_string_value(name), NULL);
	json_array_foreach (cols->parameters, i, name)
		csv_add_column_name(&out, "parameter", json_string_value(name), cols->objectives);
	csv_add_extra_names(cols, &out);
	json_array_foreach (json_object_get(front, "front"), i, point) {
		csv_add_value(&out, json_object_get(point, "trial"), true);
		csv_add_value(&out, json_object_get(point, "at"), false);
		csv_add_members(&out, json_object_get(point, "objectives"), cols->objectives);
		csv_add_members(&out, json_object_get(point, "parameters"), cols->parameters);
		csv_add_extra_values(cols, point, &out);
	}
	ctl_print_buf(ctl, &out);
}
