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

#include <jansson.h>
#include <string.h>

/* Columns of a CSV of trials beside objectives and parameters: the keys of TRIAL. */
static const char *const before[] = { "trial", "at", "state", NULL };
static const char *const after[] = { "on_front", "source",  "attempts", "started",
				     "ended",    "seconds", "reason",   NULL };

void ctl_columns_clear(struct ctl_columns *cols)
{
	json_decref(cols->objectives);
	json_decref(cols->parameters);
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

static bool in_array(const json_t *array, const char *name)
{
	const json_t *v;
	size_t i;

	json_array_foreach (array, i, v)
		if (strcmp(json_string_value(v), name) == 0)
			return true;
	return false;
}

/* A name gets a prefix only where it would stand twice in the first line. */
static void column_name(struct dp_buf *out, const char *prefix, const char *name,
			const json_t *taken)
{
	bool twice =
		in_list(before, name) || in_list(after, name) || in_array(taken, name);
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_printf(&text, "%s%s%s", twice ? prefix : "", twice ? "." : "", name);
	ctl_csv_field(out, dp_buf_text(&text), false);
	dp_buf_free(&text);
}

/* Names the columns of other values of objectives, `what` and the objective with
 * `between` in the middle, to whoever makes columns of `out`. */
static void more_names(const json_t *objectives, const char *what, char between,
		       void (*add)(void *out, const char *name), void *out)
{
	struct dp_buf text = DP_BUF_INIT;
	const json_t *name;
	size_t i;

	json_array_foreach (objectives, i, name) {
		dp_buf_clear(&text);
		dp_buf_printf(&text, "%s%c%s", what, between, json_string_value(name));
		add(out, dp_buf_text(&text));
	}
	dp_buf_free(&text);
}

static void add_csv_name(void *out, const char *name)
{
	ctl_csv_field(out, name, false);
}

static void add_head(void *out, const char *name)
{
	ctl_table_column(out, name, CTL_RIGHT);
}

/* Columns that stand last, where the study has what is in them. */
static void csv_more_names(const struct ctl_columns *cols, struct dp_buf *out)
{
	if (cols->denoised)
		more_names(cols->objectives, "denoised", '.', add_csv_name, out);
	if (!cols->remeasured)
		return;
	ctl_csv_field(out, "remeasured.runs", false);
	more_names(cols->remeasured, "remeasured", '.', add_csv_name, out);
	more_names(cols->remeasured, "remeasured_low", '.', add_csv_name, out);
	more_names(cols->remeasured, "remeasured_high", '.', add_csv_name, out);
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
	csv_more_names(cols, out);
	dp_buf_putc(out, '\n');
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

static void csv_more(struct dp_buf *out, const json_t *point,
		     const struct ctl_columns *cols)
{
	const json_t *again = json_object_get(point, "remeasured");

	if (cols->denoised)
		csv_members(out, json_object_get(point, "denoised"), cols->objectives);
	if (!cols->remeasured)
		return;
	csv_value(out, json_object_get(again, "runs"), false);
	csv_members(out, json_object_get(again, "objectives"), cols->remeasured);
	csv_members(out, json_object_get(again, "low"), cols->remeasured);
	csv_members(out, json_object_get(again, "high"), cols->remeasured);
}

void ctl_trial_csv(const json_t *trial, const struct ctl_columns *cols,
		   struct dp_buf *out)
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
	csv_more(out, trial, cols);
	dp_buf_putc(out, '\n');
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

void ctl_front_columns(const json_t *front, struct ctl_columns *cols)
{
	const json_t *points = json_object_get(front, "front");

	cols->objectives = ctl_keys(json_object_get(front, "anti_ideal"));
	cols->parameters =
		ctl_keys(json_object_get(json_array_get(points, 0), "parameters"));
	cols->denoised = json_object_get(front, "hypervolume_denoised") != NULL;
	cols->remeasured = ctl_remeasured_names(points);
}

/* Do the models say something else than what was observed? Of an epsilon they do not. */
static bool differs_denoised(const json_t *points, const char *name)
{
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (!json_equal(
			    json_object_get(json_object_get(point, "objectives"), name),
			    json_object_get(json_object_get(point, "denoised"), name)))
			return true;
	return false;
}

static void table_columns(struct ctl_table *t, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		ctl_table_column(t, json_string_value(name), CTL_RIGHT);
}

static void table_cells(struct ctl_table *t, const json_t *object, const json_t *names,
			enum ctl_style style)
{
	char text[CTL_TEXT_LEN];
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		ctl_cell(t, style, "%s",
			 ctl_value(json_object_get(object, json_string_value(name)),
				   text));
}

/* The objectives that get a second column, with the models' values. */
static json_t *denoised_columns(const json_t *points, const struct ctl_columns *cols)
{
	json_t *names = json_array();
	const json_t *name;
	size_t i;

	json_array_foreach (cols->objectives, i, name)
		if (cols->denoised && differs_denoised(points, json_string_value(name)))
			json_array_append(names, (json_t *)name);
	return names;
}

void ctl_front_table(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols)
{
	const json_t *points = json_object_get(front, "front"), *point;
	struct ctl_table *t = ctl_table_new();
	json_t *denoised = denoised_columns(points, cols);
	char name[CTL_TEXT_LEN];
	size_t i;

	ctl_table_column(t, "TRIAL", CTL_RIGHT);
	table_columns(t, cols->objectives);
	more_names(denoised, "denoised", ' ', add_head, t);
	more_names(cols->remeasured, "remeasured", ' ', add_head, t);
	table_columns(t, cols->parameters);
	json_array_foreach (points, i, point) {
		ctl_cell(t, CTL_NORMAL, "%s", ctl_point_text(point, name));
		table_cells(t, json_object_get(point, "objectives"), cols->objectives,
			    CTL_BOLD);
		table_cells(t, json_object_get(point, "denoised"), denoised, CTL_BOLD);
		table_cells(t,
			    json_object_get(json_object_get(point, "remeasured"),
					    "objectives"),
			    cols->remeasured, CTL_BOLD);
		table_cells(t, json_object_get(point, "parameters"), cols->parameters,
			    CTL_NORMAL);
	}
	ctl_table_print(ctl, t);
	json_decref(denoised);
}

const char *ctl_front_empty(const json_t *front)
{
	int64_t without =
		dp_json_int(front, "failed", 0) + dp_json_int(front, "diverged", 0);

	if (ctl_is_hidden(front))
		return "nothing is selected yet, or nothing was";
	return dp_json_int(front, "evaluations", 0) > without
		       ? "no result meets the constraints with finite values"
		       : "no trial has given a result";
}

void ctl_front_volume(const json_t *front, struct dp_buf *out)
{
	const json_t *denoised = json_object_get(front, "hypervolume_denoised");
	const json_t *again = json_object_get(front, "hypervolume_remeasured");
	char text[CTL_TEXT_LEN];

	dp_buf_printf(out, "hypervolume %s%s",
		      ctl_value(json_object_get(front, "hypervolume"), text),
		      denoised || again ? " as observed" : "");
	if (denoised)
		dp_buf_printf(out, ", %s denoised", ctl_value(denoised, text));
	if (again)
		dp_buf_printf(out, ", %s measured again", ctl_value(again, text));
	dp_buf_puts(out, " (anti-ideal: ");
	ctl_anti_ideal(front, out);
	dp_buf_putc(out, ')');
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
	csv_more_names(cols, &out);
	dp_buf_putc(&out, '\n');
	json_array_foreach (json_object_get(front, "front"), i, point) {
		csv_value(&out, json_object_get(point, "trial"), true);
		csv_value(&out, json_object_get(point, "at"), false);
		csv_members(&out, json_object_get(point, "objectives"), cols->objectives);
		csv_members(&out, json_object_get(point, "parameters"), cols->parameters);
		csv_more(&out, point, cols);
		dp_buf_putc(&out, '\n');
	}
	ctl_put_buf(ctl, &out);
}

/* ---- results that are on the models' front ---- */

int ctl_front_marks(struct ctl *ctl, const json_t *summary, json_t **marks,
		    struct dp_err *err)
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

		if (json_object_set(*marks, ctl_point_text(point, name),
				    json_object_get(point, "denoised")) != 0)
			ctl_die_nomem();
	}
	json_decref(front);
	return DP_OK;
}

void ctl_mark_trial(json_t *trial, const json_t *marks)
{
	char name[CTL_TEXT_LEN];
	json_t *values;

	if (!marks)
		return;
	values = json_object_get(marks, ctl_point_text(trial, name));
	if (json_object_set_new(trial, "on_front", json_boolean(values != NULL)) != 0 ||
	    json_object_set_new(trial, "denoised",
				values ? json_incref(values) : json_null()) != 0)
		ctl_die_nomem();
}
