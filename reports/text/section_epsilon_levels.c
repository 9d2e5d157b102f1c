/* section_epsilon_levels.c - section: the best utility at each level of epsilon. */
#include "reports/text/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void table_add_value_column(struct doc *d, const json_t *objective, const char *title)
{
	char text[200];

	snprintf(text, sizeof text, "%.190s%s", title, get_bool(objective, "share") ? ", %" : "");
	doc_column(d, text, true);
}

void table_add_range_cell(struct doc *d, const json_t *objective, const json_t *runs)
{
	double least = runs ? get_number(runs, "least") : NAN, error;
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (isnan(least) || get_count(runs, "runs") <= 1) {
		doc_cell(d, "-");
		return;
	}
	error = get_number(runs, "standard_error");
	doc_cell(d, "%s to %s", format_objective_number(objective, least, error, a),
		 format_objective_number(objective, get_number(runs, "most"), error, b));
}

/* The objective whose values the rows show. */
static const json_t *utility_objective(const struct report_model *report)
{
	return report_objective(report, (size_t)report->study->utility_obj);
}

static double level_std_error(const json_t *row)
{
	const json_t *runs = json_object_get(row, "runs");

	return runs ? get_number(runs, "standard_error") : NAN;
}

/* Whether the row is known to be no better than the majority class. */
static bool level_is_no_better(const struct report_model *report, const json_t *row)
{
	const json_t *majority = get_json(report->json, "majority");

	return majority && json_object_get(row, "runs") &&
	       !beats_majority_class(report->study, (size_t)report->study->utility_obj,
				     get_number(row, "value"), level_std_error(row),
				     get_number(majority, "value"));
}

static void write_levels_table(struct doc *d, const struct report_model *report)
{
	const json_t *o = utility_objective(report), *row;
	bool smoothed = report->study->uses_smoothed_front;
	char s[FORMAT_LEN], point[RESULT_NAME_LEN];
	size_t i;

	doc_table_begin(d, "The best utility with epsilon at most so much");
	doc_column(d, "epsilon at most", true);
	table_add_value_column(d, o, get_text(o, "name"));
	if (smoothed)
		doc_column(d, "as observed", true);
	doc_number_columns(d, "least to most of the runs", "epsilon spent", "trial", NULL);
	json_array_foreach (get_json(report->json, "headline"), i, row) {
		const json_t *runs = json_object_get(row, "runs");
		double error = level_std_error(row), value = optional_number(row, "value");
		double observed = runs ? get_number(runs, "mean") : NAN;

		doc_cell(d, "%s", format_short(get_number(row, "epsilon"), s));
		doc_cell(d, "%s%s", runs ? format_objective_number(o, value, error, s) : "none",
			 level_is_no_better(report, row) ? " (as the commonest class)" : "");
		if (smoothed)
			doc_cell(d, "%s", format_objective_number(o, observed, error, s));
		table_add_range_cell(d, o, runs);
		doc_cell(d, "%s", format_rounded_up(optional_number(row, "spent"), s));
		doc_cell(d, "%s", runs ? point_name(row, point) : "-");
	}
	doc_table_end(d);
}

/* Two standard errors of the difference of two rows, by their runs; NaN: unknown. */
static double level_resolution(const json_t *a, const json_t *b)
{
	return 2 * hypot(level_std_error(a), level_std_error(b));
}

static double level_difference(const json_t *a, const json_t *b)
{
	return fabs(get_number(a, "value") - get_number(b, "value"));
}

static bool levels_are_one_result(const json_t *a, const json_t *b)
{
	return get_count(a, "trial") == get_count(b, "trial") &&
	       get_count(a, "at") == get_count(b, "at");
}

/* Says whether noise can explain the difference. `enough`: the first row that cannot be
 * distinguished from the last. */
static void append_level_resolution(struct dp_buf *out, const json_t *o, const json_t *first,
				    const json_t *enough, const json_t *last)
{
	double resolution = level_resolution(first, last), by = level_difference(first, last);
	char difference[FORMAT_LEN], noise[FORMAT_LEN], from[FORMAT_LEN];

	dp_buf_printf(out, " They differ by %s",
		      format_objective_difference(o, by, resolution / 2, difference));
	if (isnan(resolution)) {
		dp_buf_puts(out, "; whether that is more than luck is not known, since "
				 "nothing is known of the noise of one run.");
		return;
	}
	dp_buf_printf(out, "; two standard errors of that by the runs are %s, so ",
		      format_objective_difference(o, resolution, 0, noise));
	dp_buf_puts(out, by > resolution
				 ? "it is more than their noise."
				 : "these runs do not show that more epsilon buys anything.");
	if (enough != first && !levels_are_one_result(enough, last))
		dp_buf_printf(out,
			      " What is reached with at most %s cannot be told from what "
			      "is reached with more.",
			      format_short(get_number(enough, "epsilon"), from));
}

static void write_levels_summary(struct doc *d, const struct report_model *report)
{
	const json_t *all = get_json(report->json, "headline"), *row;
	const json_t *o = utility_objective(report), *first = NULL, *last = NULL, *enough;
	char a[FORMAT_LEN], b[FORMAT_LEN], from[FORMAT_LEN], to[FORMAT_LEN];
	struct dp_buf noise = DP_BUF_INIT;
	size_t i, from_row = 0;

	json_array_foreach (all, i, row) {
		if (get_count(row, "trial") < 0)
			continue;
		from_row = first ? from_row : i;
		first = first ? first : row;
		last = row;
	}
	if (!first) {
		doc_paragraph(d, "No trial has an epsilon of 10 or less.");
		return;
	}
	format_short(get_number(last, "epsilon"), to);
	format_objective_value(o, get_number(last, "value"), level_std_error(last), b);
	if (levels_are_one_result(first, last)) {
		doc_paragraph(d, "The best %s with an epsilon of %s or less is %s.",
			      get_text(o, "name"), to, b);
		return;
	}
	for (enough = first; level_difference(enough, last) > level_resolution(enough, last);)
		enough = json_array_get(all, ++from_row);
	append_level_resolution(&noise, o, first, enough, last);
	doc_paragraph(
		d,
		"With an epsilon of at most %s the best %s found is %s%s; "
		"allowing %s it is %s.%s%s",
		format_short(get_number(first, "epsilon"), from), get_text(o, "name"),
		format_objective_value(o, get_number(first, "value"), level_std_error(first), a),
		level_is_no_better(report, first) ? ", no better than the commonest class" : "", to,
		b, dp_buf_text(&noise),
		json_array_size(get_json(report->json, "baselines"))
			? ""
			: " What a training without privacy reaches is not "
			  "known here (--baseline tells the report).");
	dp_buf_free(&noise);
}

static void write_best_values(struct doc *d, const struct report_model *report)
{
	char s[FORMAT_LEN], point[RESULT_NAME_LEN];
	const json_t *best;
	size_t i;

	json_array_foreach (get_json(report->json, "bests"), i, best) {
		const json_t *o = find_by_text(get_json(report->json, "objectives"), "name",
					       get_text(best, "objective"));
		size_t objective = 0;
		struct dp_result_id p;
		double value;

		while (report_objective(report, objective) != o)
			objective++;
		study_data_best_on_front(report->study, objective, INFINITY, &p, &value);
		doc_labelled_item(d, get_text(best, "objective"), "at best %s, in trial %s",
				  strcmp(get_text(o, "kind"), "privacy") == 0
					  ? format_rounded_up(value, s)
					  : format_short(value, s),
				  point_name(best, point));
	}
}

/* The majority class value, and rows that are no better. */
static void write_majority_class(struct doc *d, const struct report_model *report)
{
	const json_t *m = get_json(report->json, "majority"), *o;
	char s[FORMAT_LEN], points[DP_PLURAL_LEN];
	int64_t no_better;

	if (!m)
		return;
	o = utility_objective(report);
	no_better = get_count(m, "no_better");
	format_objective_value(o, get_number(m, "value"), 0, s);
	if (no_better == 0)
		doc_paragraph(d,
			      "Always answering the commonest class gives %s; every point of the "
			      "front is better, by more than two standard errors of its runs.",
			      s);
	else
		doc_paragraph(d,
			      "Always answering the commonest class gives %s. That is as good as "
			      "%lld of %s of the front: %s not better by more than two standard "
			      "errors of %s runs, and of no use as far as %s goes.",
			      s, (long long)no_better,
			      dp_plural_text(json_array_size(get_json(report->json, "front")),
					     "point", points),
			      no_better == 1 ? "it is" : "they are",
			      no_better == 1 ? "its" : "their", get_text(o, "name"));
}

void write_epsilon_levels(struct doc *d, const struct report_model *report)
{
	bool levels = json_array_size(get_json(report->json, "headline")) > 0;

	if (levels)
		write_levels_summary(d, report);
	if (report->study->uses_smoothed_front)
		doc_paragraph(d, "The front and these values are what models of all "
				 "results leave when the noise of the runs is taken out: "
				 "a front of observed means is a front of lucky runs.");
	if (levels)
		write_levels_table(d, report);
	else
		write_best_values(d, report);
	write_majority_class(d, report);
}
