/* section_front.c - section: tables of the front. */
#include "reports/text/sections.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_front_variant_row(struct doc *d, const char *name, const json_t *front,
				    const char *what)
{
	char v[FORMAT_LEN];

	doc_cell(d, "%s", name);
	doc_cell(d, "%lld", (long long)get_count(front, "points"));
	doc_cell(d, "%s", format_short(get_number(front, "hypervolume"), v));
	doc_cell(d, "%s", what);
}

/* Tells the three fronts apart. */
static void write_front_variants(struct doc *d, const struct report_model *report)
{
	const json_t *fronts = get_json(report->json, "fronts");
	const json_t *smoothed = get_json(fronts, "denoised");
	const json_t *again = get_json(fronts, "remeasured");
	bool shows_smoothed = report->study->uses_smoothed_front;

	doc_table_begin(d, "Fronts: searched, denoised, measured again");
	doc_column(d, "front", false);
	doc_number_columns(d, "points", "hypervolume", NULL);
	doc_column(d, "what it is", false);
	write_front_variant_row(d, shows_smoothed ? "searched" : "searched (shown)",
				get_json(fronts, "searched"),
				"the best of what was observed, with the luck of the runs");
	if (smoothed)
		write_front_variant_row(
			d, shows_smoothed ? "denoised (shown)" : "denoised", smoothed,
			"the best by models of all results, which take the noise out");
	if (again)
		write_front_variant_row(d, "measured again", again,
					"points of the front shown, run again with fresh seeds: "
					"neither luck nor a model");
	doc_table_end(d);
}

struct front_table {
	const struct report_model *report;
	bool is_measured[DP_OBJECTIVES_MAX];      /* the runs have a spread */
	bool observed_differs[DP_OBJECTIVES_MAX]; /* shown smoothed, which differs from observed */
	bool shows_model, shows_reevaluated;
};

static struct front_table describe_front_table(const struct report_model *report)
{
	const json_t *front = get_json(report->json, "front"), *point;
	struct front_table t = {
		.report = report,
		.shows_model = !report->study->uses_smoothed_front,
		.shows_reevaluated = get_json(get_json(report->json, "fronts"), "remeasured"),
	};
	size_t i;

	for (size_t k = 0; k < report->study->state->spec->nobjectives; k++) {
		const char *name = get_text(report_objective(report, k), "name");

		t.is_measured[k] = report->study->state->spec->objectives[k].metric != NULL;
		json_array_foreach (front, i, point) {
			if (t.shows_model || t.observed_differs[k])
				break;
			t.observed_differs[k] = get_number(get_json(point, "denoised"), name) !=
						get_number(get_json(point, "objectives"), name);
		}
	}
	return t;
}

static void front_columns(struct doc *d, const struct front_table *t)
{
	json_t *first = json_array_get(get_json(t->report->json, "front"), 0), *objective, *v;
	const char *name;
	size_t i;

	doc_table_begin(d, "Every point of the front");
	doc_column(d, "trial", true);
	json_array_foreach (get_json(t->report->json, "objectives"), i, objective) {
		table_add_value_column(d, objective, get_text(objective, "name"));
		if (!t->is_measured[i])
			continue;
		if (t->observed_differs[i])
			doc_column(d, "as observed", true);
		doc_number_columns(d, "least to most of the runs", "sd", NULL);
		if (t->shows_model)
			doc_column(d, "model says", true);
		if (t->shows_reevaluated) {
			doc_number_columns(d, "measured again", "95 % of that", NULL);
		}
	}
	json_object_foreach (get_json(first, "parameters"), name, v)
		doc_column(d, name, !json_is_string(v));
}

/* A measured objective at a point: best estimate with its interval. Re-evaluated: mean of those
 * runs with its interval. */
static void write_metric_cells(struct doc *d, const struct front_table *t, const json_t *point,
			       size_t i)
{
	const json_t *objective = report_objective(t->report, i);
	const char *name = get_text(objective, "name");
	const json_t *runs = get_json(get_json(point, "runs"), name);
	const json_t *smoothed = get_json(point, "denoised");
	double observed = get_number(get_json(point, "objectives"), name);
	double model = smoothed ? get_number(smoothed, name) : NAN;
	double error = get_number(runs, "standard_error"), sd = get_number(runs, "sd"), low, high;
	const json_t *again = get_json(point, "remeasured");
	char a[FORMAT_LEN], b[FORMAT_LEN];

	doc_cell(d, "%s",
		 format_objective_number(objective, t->shows_model ? observed : model, error, a));
	if (t->observed_differs[i])
		doc_cell(d, "%s", format_objective_number(objective, observed, error, a));
	table_add_range_cell(d, objective, runs);
	doc_cell(d, "%s", format_error(get_bool(objective, "share") ? 100 * sd : sd, a));
	if (t->shows_model)
		doc_cell(d, "%s", format_objective_number(objective, model, error, a));
	if (!t->shows_reevaluated)
		return;
	if (!again) {
		doc_cell(d, "-");
		doc_cell(d, "-");
		return;
	}
	low = optional_number(get_json(again, "low"), name);
	high = optional_number(get_json(again, "high"), name);
	error = (high - low) / 4;
	doc_cell(d, "%s",
		 format_objective_number(objective, get_number(get_json(again, "objectives"), name),
					 error, a));
	if (get_count(again, "runs") > 1)
		doc_cell(d, "%s to %s", format_objective_number(objective, low, error, a),
			 format_objective_number(objective, high, error, b));
	else
		doc_cell(d, "-");
}

static void front_row(struct doc *d, const struct front_table *t, const json_t *point)
{
	char a[FORMAT_LEN], name[RESULT_NAME_LEN], row[RESULT_ROW_ID_LEN];
	json_t *objective, *v;
	const char *key;
	double x;
	size_t i;

	doc_table_row_id(
		d, result_format_row_id(get_count(point, "trial"), get_count(point, "at"), row));
	doc_cell(d, "%s", point_name(point, name));
	json_array_foreach (get_json(t->report->json, "objectives"), i, objective) {
		if (t->is_measured[i])
			write_metric_cells(d, t, point, i);
		else
			doc_cell(d, "%s",
				 format_rounded_up(get_number(get_json(point, "objectives"),
							      get_text(objective, "name")),
						   a));
	}
	json_object_foreach (get_json(point, "parameters"), key, v) {
		if (json_is_string(v))
			doc_cell(d, "%s", json_string_value(v));
		else if (json_is_boolean(v))
			doc_cell(d, "%s", json_is_true(v) ? "true" : "false");
		else
			doc_cell(d, "%s", dp_json_to_real(v, &x) ? format_short(x, a) : "-");
	}
}

/* Explains the notation 7@4 if checkpoints occur. */
static void write_checkpoint_note(struct doc *d, const struct report_model *report)
{
	const json_t *path = get_json(get_json(report->json, "settings"), "path"), *point;
	char name[RESULT_NAME_LEN];
	size_t i;

	json_array_foreach (get_json(report->json, "front"), i, point) {
		long long at = get_count(point, "at");

		if (!path || at < 0)
			continue;
		doc_paragraph(d,
			      "%s is what the training of trial %lld was at %s = %lld, on its "
			      "way to more: a training in its own right, which cost no other. Of "
			      "the runs at such a waypoint the mean and the standard deviation "
			      "(sd) are kept.",
			      point_name(point, name), (long long)get_count(point, "trial"),
			      get_text(path, "parameter"), at);
		return;
	}
}

static void write_front_note(struct doc *d, const struct report_model *report, bool models)
{
	const char *each = study_data_has_checkpoints(report->study)
				   ? "Every trial, and every waypoint of one,"
				   : "Every trial";

	if (report->study->uses_smoothed_front)
		doc_paragraph(d,
			      "%s that, by models of all results, no other one beats in all "
			      "objectives; of those with the same parameters the first. Values are "
			      "what the models leave when the noise is taken out, beside the means "
			      "over the runs as observed; epsilon is computed, and rounded up.",
			      each);
	else
		doc_paragraph(d,
			      "%s that no other one beats in all objectives. Values are means over "
			      "the runs of a trial%s; epsilon is rounded up.",
			      each,
			      models ? "; \"model says\" is what is left when the models take the "
				       "noise out"
				     : "");
}

void write_front(struct doc *d, const struct report_model *report)
{
	const json_t *front = get_json(report->json, "front"), *point;
	const char *why = get_text(get_json(report->json, "optimism"), "no_models");
	struct front_table table;
	char about[FORMAT_LEN * 2];
	size_t i, n = json_array_size(front);

	if (n == 0)
		return;
	snprintf(about, sizeof about, "%zu point%s%s", n, plural_suffix((int64_t)n),
		 json_array_size(get_json(report->json, "headline"))
			 ? "; what each level of epsilon buys"
			 : "");
	doc_folded_section(d, "front", "The front", "Front", about);
	write_epsilon_levels(d, report);
	write_front_variants(d, report);
	if (why)
		doc_paragraph(d, "There are no models: %s.", why);
	write_chapter(d, report, FIGURE_CHAPTER_FRONT);
	doc_heading(d, "Every point");
	write_front_note(d, report, !why);
	write_checkpoint_note(d, report);
	table = describe_front_table(report);
	front_columns(d, &table);
	json_array_foreach (front, i, point)
		front_row(d, &table, point);
	doc_table_end(d);
}
