/* trials.c - trials and fronts as tables and CSV. */
#include "ctl/trials.h"

#include "base/buf.h"
#include "base/json.h"
#include "ctl/output.h"
#include "ctl/table.h"
#include "ctl/text.h"

#include <jansson.h>
#include <string.h>

/* Columns of a CSV of trials beside objectives and parameters: the keys of TRIAL. */
static const char *const before[] = { "trial", "state", NULL };
static const char *const after[] = { "on_front", "source",  "attempts", "started",
				     "ended",    "seconds", "reason",   NULL };

void ctl_columns_clear(struct ctl_columns *cols)
{
	json_decref(cols->objectives);
	json_decref(cols->parameters);
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
	dp_buf_putc(out, '\n');
}

void ctl_front_columns(const json_t *front, struct ctl_columns *cols)
{
	const json_t *points = json_object_get(front, "front");

	cols->objectives = ctl_keys(json_object_get(front, "anti_ideal"));
	cols->parameters =
		ctl_keys(json_object_get(json_array_get(points, 0), "parameters"));
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

void ctl_front_table(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols)
{
	const json_t *points = json_object_get(front, "front"), *point;
	struct ctl_table *t = ctl_table_new();
	size_t i;

	ctl_table_column(t, "TRIAL", CTL_RIGHT);
	table_columns(t, cols->objectives);
	table_columns(t, cols->parameters);
	json_array_foreach (points, i, point) {
		ctl_cell(t, CTL_NORMAL, "%d", (int)dp_json_int(point, "trial", 0));
		table_cells(t, json_object_get(point, "objectives"), cols->objectives,
			    CTL_BOLD);
		table_cells(t, json_object_get(point, "parameters"), cols->parameters,
			    CTL_NORMAL);
	}
	ctl_table_print(ctl, t);
}

void ctl_front_csv(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols)
{
	const json_t *point, *name;
	struct dp_buf out = DP_BUF_INIT;
	size_t i;

	dp_buf_puts(&out, "trial");
	json_array_foreach (cols->objectives, i, name)
		column_name(&out, "objective", json_string_value(name), NULL);
	json_array_foreach (cols->parameters, i, name)
		column_name(&out, "parameter", json_string_value(name), cols->objectives);
	dp_buf_putc(&out, '\n');
	json_array_foreach (json_object_get(front, "front"), i, point) {
		csv_value(&out, json_object_get(point, "trial"), true);
		csv_members(&out, json_object_get(point, "objectives"), cols->objectives);
		csv_members(&out, json_object_get(point, "parameters"), cols->parameters);
		dp_buf_putc(&out, '\n');
	}
	ctl_put_buf(ctl, &out);
}
