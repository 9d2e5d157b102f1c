/* trials.c - trials and fronts as tables and CSV. */
#include "ctl/trials.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/daemon.h"
#include "ctl/memory.h"
#include "ctl/output.h"
#include "ctl/point.h"
#include "ctl/table.h"
#include "ctl/text.h"
#include "ctl/view.h"
#include "study/study.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Columns of a CSV of trials beside objectives and parameters: the keys of TRIAL. */
static const char *const before[] = { "trial", "at", "state", NULL };
static const char *const after[] = { "on_front", "source",  "attempts", "started",
				     "ended",    "seconds", "reason",   NULL };

void ctl_columns_clear(struct ctl_columns *cols)
{
	json_decref(cols->objectives);
	json_decref(cols->parameters);
	json_decref(cols->measured);
	json_decref(cols->metrics);
	json_decref(cols->remeasured);
	memset(cols, 0, sizeof *cols);
}

json_t *ctl_keys(const json_t *object)
{
	json_t *keys = json_array(), *value;
	const char *key;

	json_object_foreach ((json_t *)object, key, value)
		json_array_append_new(keys, json_string(key));
	return keys;
}

static bool in_list(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

bool ctl_in_array(const json_t *array, const char *text)
{
	const json_t *v;
	size_t i;

	json_array_foreach (array, i, v)
		if (strcmp(json_string_value(v), text) == 0)
			return true;
	return false;
}

bool ctl_trial_over(const json_t *row)
{
	const char *state = dp_json_str(row, "state", "waiting");

	return strcmp(state, "waiting") != 0 && strcmp(state, "running") != 0;
}

void ctl_study_columns(const json_t *summary, struct ctl_columns *cols)
{
	const json_t *name;
	size_t i;

	cols->objectives = json_incref(json_object_get(summary, "objectives"));
	cols->measured = json_array();
	json_array_foreach (cols->objectives, i, name)
		if (!ctl_in_array(json_object_get(summary, "privacy"), json_string_value(name)))
			json_array_append(cols->measured, (json_t *)name);
}

/* A name gets a prefix only where it would stand twice in the first line. */
static void column_name(struct dp_buf *out, const char *prefix, const char *name,
			const json_t *taken)
{
	bool twice = in_list(before, name) || in_list(after, name) || ctl_in_array(taken, name);
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_printf(&text, "%s%s%s", twice ? prefix : "", twice ? "." : "", name);
	ctl_csv_field(out, dp_buf_text(&text), false);
	dp_buf_free(&text);
}

/* The keys of a point that models chose: their values, and where these lie with 95 %. */
static const char *const by_models[] = { "denoised", "denoised_low", "denoised_high", NULL };
/* What is told of the spread of an objective's runs. */
static const char *const of_spread[] = { "runs", "sd", "low", "high", NULL };
/* What is told of a point that was measured again, beside its runs: the member, and what
 * its columns are called. */
static const struct {
	const char *member, *column;
} of_again[] = { { "objectives", "remeasured" },
		 { "low", "remeasured_low" },
		 { "high", "remeasured_high" } };

/* A column called LEFT.RIGHT. */
static void joined_name(struct dp_buf *out, const char *left, const char *right)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_printf(&text, "%s.%s", left, right);
	ctl_csv_field(out, dp_buf_text(&text), false);
	dp_buf_free(&text);
}

/* The last columns: what models say, how far runs lie apart, what was measured again, and
 * metrics. */
static void last_names(const struct ctl_columns *cols, struct dp_buf *out)
{
	const json_t *name;
	size_t i, k;

	for (k = 0; cols->denoised && by_models[k]; k++)
		json_array_foreach (cols->objectives, i, name)
			joined_name(out, by_models[k], json_string_value(name));
	json_array_foreach (cols->measured, i, name)
		for (k = 0; of_spread[k]; k++)
			joined_name(out, json_string_value(name), of_spread[k]);
	if (cols->remeasured)
		ctl_csv_field(out, "remeasured.runs", false);
	for (k = 0; cols->remeasured && k < DP_COUNT(of_again); k++)
		json_array_foreach (cols->remeasured, i, name)
			joined_name(out, of_again[k].column, json_string_value(name));
	json_array_foreach (cols->metrics, i, name)
		joined_name(out, "metric", json_string_value(name));
	dp_buf_putc(out, '\n');
}

void ctl_trial_csv_head(const struct ctl_columns *cols, struct dp_buf *out)
{
	const json_t *name;
	size_t i;

	for (i = 0; before[i]; i++)
		ctl_csv_field(out, before[i], i == 0);
	json_array_foreach (cols->objectives, i, name)
		column_name(out, "objective", json_string_value(name), NULL);
	json_array_foreach (cols->parameters, i, name)
		column_name(out, "parameter", json_string_value(name), cols->objectives);
	for (i = 0; after[i]; i++)
		ctl_csv_field(out, after[i], false);
	last_names(cols, out);
}

static void csv_value(struct dp_buf *out, const json_t *value, bool first)
{
	struct dp_buf text = DP_BUF_INIT;

	ctl_value_exact(value, &text);
	ctl_csv_field(out, dp_buf_text(&text), first);
	dp_buf_free(&text);
}

static void csv_members(struct dp_buf *out, const json_t *object, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		csv_value(out, json_object_get(object, json_string_value(name)), false);
}

static void last_values(const struct ctl_columns *cols, const json_t *row, struct dp_buf *out)
{
	const json_t *spread = json_object_get(row, "spread"), *name,
		     *again = json_object_get(row, "remeasured");
	size_t i, k;

	for (k = 0; cols->denoised && by_models[k]; k++)
		csv_members(out, json_object_get(row, by_models[k]), cols->objectives);
	json_array_foreach (cols->measured, i, name)
		for (k = 0; of_spread[k]; k++)
			csv_value(out,
				  json_object_get(json_object_get(spread, json_string_value(name)),
						  of_spread[k]),
				  false);
	if (cols->remeasured)
		csv_value(out, json_object_get(again, "runs"), false);
	for (k = 0; cols->remeasured && k < DP_COUNT(of_again); k++)
		csv_members(out, json_object_get(again, of_again[k].member), cols->remeasured);
	csv_members(out, json_object_get(row, "metrics"), cols->metrics);
	dp_buf_putc(out, '\n');
}

void ctl_trial_csv(const json_t *trial, const struct ctl_columns *cols, struct dp_buf *out)
{
	const json_t *value;

	for (size_t i = 0; before[i]; i++)
		csv_value(out, json_object_get(trial, before[i]), i == 0);
	csv_members(out, json_object_get(trial, "objectives"), cols->objectives);
	csv_members(out, json_object_get(trial, "parameters"), cols->parameters);
	for (size_t i = 0; after[i]; i++) {
		value = json_object_get(trial, after[i]);
		if (json_is_array(value)) { /* attempts, of a trial in full */
			dp_buf_printf(out, ",%zu", json_array_size(value));
			continue;
		}
		csv_value(out, value, false);
	}
	last_values(cols, trial, out);
}

json_t *ctl_remeasured_names(const json_t *points)
{
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point) {
		const json_t *again = json_object_get(point, "remeasured");

		if (json_is_object(again))
			return ctl_keys(json_object_get(again, "low"));
	}
	return NULL;
}

size_t ctl_remeasured_count(const json_t *points)
{
	const json_t *point;
	size_t i, n = 0;

	json_array_foreach (points, i, point)
		n += json_is_object(json_object_get(point, "remeasured"));
	return n;
}

void ctl_front_columns(const json_t *front, struct ctl_columns *cols)
{
	const json_t *points = json_object_get(front, "front");

	cols->objectives = ctl_keys(json_object_get(front, "anti_ideal"));
	cols->parameters = ctl_keys(json_object_get(json_array_get(points, 0), "parameters"));
	cols->measured = ctl_keys(json_object_get(json_array_get(points, 0), "spread"));
	cols->metrics = NULL;
	cols->denoised = json_object_get(front, "hypervolume_denoised") != NULL;
	cols->remeasured = ctl_remeasured_names(points);
}

/* Do the models say something else than what was observed? Of an epsilon they do not. */
static bool differs_denoised(const json_t *points, const char *name)
{
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (!json_equal(json_object_get(json_object_get(point, "objectives"), name),
				json_object_get(json_object_get(point, "denoised"), name)))
			return true;
	return false;
}

/* Does a point of the front have this objective's interval? By the models, where the
 * column is theirs. */
static bool has_interval(const json_t *points, const char *name, bool denoised)
{
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (!isnan(ctl_half_width(point, name, denoised)))
			return true;
	return false;
}

/* A column of the table: of an objective as observed, or by the models, and whether its
 * interval stands beside it. */
struct front_column {
	const char *name;
	bool denoised, interval;
};

/* The columns of the objectives, at most `room`; how many. The interval is that of the
 * value that put the point on the front. */
static size_t front_plan(const json_t *points, const struct ctl_columns *cols,
			 struct front_column *plan, size_t room)
{
	const json_t *name;
	size_t n = 0, i;

	for (int by_models_too = 0; by_models_too <= cols->denoised; by_models_too++)
		json_array_foreach (cols->objectives, i, name) {
			struct front_column c = { .name = json_string_value(name),
						  .denoised = by_models_too };
			bool differs = cols->denoised && differs_denoised(points, c.name);

			if (n == room || (c.denoised && !differs))
				continue;
			c.interval = c.denoised == differs &&
				     has_interval(points, c.name, cols->denoised);
			plan[n++] = c;
		}
	return n;
}

static void plan_head(struct ctl_table *t, const struct front_column *c)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_printf(&text, "%s%s", c->denoised ? "denoised " : "", c->name);
	ctl_table_column(t, dp_buf_text(&text), CTL_RIGHT);
	if (c->interval)
		ctl_table_column(t, "95%", CTL_LEFT);
	dp_buf_free(&text);
}

static void half_cell(struct ctl *ctl, struct ctl_table *t, double half)
{
	if (isnan(half))
		ctl_cell(t, CTL_NORMAL, "-");
	else
		ctl_cell(t, CTL_NORMAL, "%s%.2g", ctl->utf8 ? "±" : "+-", half);
}

static void plan_cells(struct ctl *ctl, struct ctl_table *t, const json_t *point,
		       const struct front_column *c, bool denoised)
{
	const json_t *values = json_object_get(point, c->denoised ? "denoised" : "objectives");
	double half = ctl_half_width(point, c->name, denoised);
	char text[CTL_TEXT_LEN];

	ctl_cell(t, CTL_BOLD, "%s",
		 ctl_objective(point, c->name, json_object_get(values, c->name), text));
	if (c->interval)
		half_cell(ctl, t, half);
}

static void table_columns(struct ctl_table *t, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		ctl_table_column(t, json_string_value(name), CTL_RIGHT);
}

static void table_cells(struct ctl_table *t, const json_t *object, const json_t *names)
{
	char text[CTL_TEXT_LEN];
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		ctl_cell(t, CTL_NORMAL, "%s",
			 ctl_value(json_object_get(object, json_string_value(name)), text));
}

/* What was measured again, and half of its interval. */
static void again_heads(struct ctl_table *t, const json_t *names)
{
	struct dp_buf text = DP_BUF_INIT;
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name) {
		dp_buf_clear(&text);
		dp_buf_printf(&text, "remeasured %s", json_string_value(name));
		ctl_table_column(t, dp_buf_text(&text), CTL_RIGHT);
		ctl_table_column(t, "95%", CTL_LEFT);
	}
	dp_buf_free(&text);
}

static void again_cells(struct ctl *ctl, struct ctl_table *t, const json_t *again,
			const json_t *names)
{
	char text[CTL_TEXT_LEN];
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name) {
		const char *key = json_string_value(name);
		double low, high, half = NAN;

		ctl_cell(t, CTL_BOLD, "%s",
			 ctl_value(json_object_get(json_object_get(again, "objectives"), key),
				   text));
		if (dp_json_to_real(json_object_get(json_object_get(again, "low"), key), &low) &&
		    dp_json_to_real(json_object_get(json_object_get(again, "high"), key), &high))
			half = (high - low) / 2;
		half_cell(ctl, t, half);
	}
}

void ctl_front_table(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols)
{
	const json_t *points = json_object_get(front, "front"), *point;
	struct front_column plan[2 * DP_OBJECTIVES_MAX];
	size_t n = front_plan(points, cols, plan, DP_COUNT(plan)), i, k;
	struct ctl_table *t = ctl_table_new();
	char name[CTL_TEXT_LEN];

	ctl_table_column(t, "TRIAL", CTL_RIGHT);
	for (k = 0; k < n; k++)
		plan_head(t, &plan[k]);
	again_heads(t, cols->remeasured);
	table_columns(t, cols->metrics);
	table_columns(t, cols->parameters);
	json_array_foreach (points, i, point) {
		ctl_cell(t, CTL_NORMAL, "%s", ctl_point_text(point, name));
		for (k = 0; k < n; k++)
			plan_cells(ctl, t, point, &plan[k], cols->denoised);
		again_cells(ctl, t, json_object_get(point, "remeasured"), cols->remeasured);
		table_cells(t, json_object_get(point, "metrics"), cols->metrics);
		table_cells(t, json_object_get(point, "parameters"), cols->parameters);
	}
	ctl_table_print(ctl, t);
}

const char *ctl_front_empty(const json_t *front)
{
	int64_t without = dp_json_int(front, "failed", 0) + dp_json_int(front, "diverged", 0);

	if (ctl_is_hidden(front))
		return "nothing is selected yet, or nothing was";
	return dp_json_int(front, "evaluations", 0) > without
		       ? "no result meets the constraints with finite values"
		       : "no trial has given a result";
}

void ctl_front_csv(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols)
{
	const json_t *point, *name;
	struct dp_buf out = DP_BUF_INIT;
	size_t i;

	dp_buf_puts(&out, "trial,at");
	json_array_foreach (cols->objectives, i, name)
		column_name(&out, "objective", json_string_value(name), NULL);
	json_array_foreach (cols->parameters, i, name)
		column_name(&out, "parameter", json_string_value(name), cols->objectives);
	last_names(cols, &out);
	json_array_foreach (json_object_get(front, "front"), i, point) {
		csv_value(&out, json_object_get(point, "trial"), true);
		csv_value(&out, json_object_get(point, "at"), false);
		csv_members(&out, json_object_get(point, "objectives"), cols->objectives);
		csv_members(&out, json_object_get(point, "parameters"), cols->parameters);
		last_values(cols, point, &out);
	}
	ctl_put_buf(ctl, &out);
}

/* ---- results that are on the models' front ---- */

int ctl_front_marks(struct ctl *ctl, const json_t *summary, json_t **marks, struct dp_err *err)
{
	const json_t *point;
	json_t *front;
	size_t i;
	int code;

	*marks = NULL;
	if (strcmp(dp_json_str(summary, "front_of", ""), "denoised") != 0)
		return DP_OK;
	code = ctl_call_front(ctl, dp_json_str(summary, "name", ""), NULL, &front, err);
	if (code != DP_OK)
		return code;
	*marks = json_object();
	json_array_foreach (json_object_get(front, "front"), i, point) {
		char name[CTL_TEXT_LEN];

		if (json_object_set(*marks, ctl_point_text(point, name), (json_t *)point) != 0)
			ctl_die_nomem();
	}
	json_decref(front);
	return DP_OK;
}

void ctl_mark_trial(json_t *trial, const json_t *marks)
{
	char name[CTL_TEXT_LEN];
	json_t *point;
	bool whole;

	if (!marks)
		return;
	point = json_object_get(marks, ctl_point_text(trial, name));
	whole = json_object_set_new(trial, "on_front", json_boolean(point != NULL)) == 0;
	for (size_t i = 0; by_models[i]; i++) {
		json_t *values = json_object_get(point, by_models[i]);

		whole &= json_object_set_new(trial, by_models[i],
					     values ? json_incref(values) : json_null()) == 0;
	}
	if (!whole)
		ctl_die_nomem();
}
