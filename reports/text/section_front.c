/* section_front.c - the front in tables, and the figures by the questions that they answer.
 */
#include "reports/text/report_format.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- searched, without the noise, measured again ---- */

static void write_front_variant_row(struct doc *d, const char *name, size_t points, double volume,
				    const char *what)
{
	char v[FORMAT_LEN];

	doc_cell(d, "%s", name);
	doc_cell(d, "%zu", points);
	doc_cell(d, "%s", format_short(volume, v));
	doc_cell(d, "%s", what);
}

/* Three fronts that are easily taken for each other. */
static void write_front_variants(struct doc *d, const struct report_model *report)
{
	const struct report_study *s = &report->study;

	doc_table_begin(d);
	doc_caption(d, "Fronts: searched, denoised, measured again");
	doc_column(d, "front", false);
	doc_column(d, "points", true);
	doc_column(d, "hypervolume", true);
	doc_column(d, "what it is", false);
	write_front_variant_row(d, s->uses_smoothed_front ? "searched" : "searched (shown)",
				s->observed_size, s->hypervolume,
				"the best of what was observed, with the luck of the runs");
	if (s->smoothed_size)
		write_front_variant_row(
			d, s->uses_smoothed_front ? "denoised (shown)" : "denoised",
			s->smoothed_size, s->smoothed_hypervolume,
			"the best by models of all results, which take the noise out");
	if (s->reevaluated_size)
		write_front_variant_row(d, "measured again", s->reevaluated_size,
					s->reevaluated_hypervolume,
					"points of the front shown, run again with fresh seeds: "
					"neither luck nor a model");
	doc_table_end(d);
}

/* ---- every point ---- */

/* A text without quotes, else four digits. */
static void value_cell(struct doc *d, const json_t *v)
{
	char s[FORMAT_LEN];
	double x;

	if (json_is_string(v))
		doc_cell(d, "%s", json_string_value(v));
	else if (json_is_boolean(v))
		doc_cell(d, "%s", json_is_true(v) ? "true" : "false");
	else
		doc_cell(d, "%s", dp_json_to_real(v, &x) ? format_short(x, s) : "-");
}

/* Is what was observed of an objective another value than the one that is shown? */
static bool observed_value_differs(const struct report_model *report, size_t objective)
{
	for (size_t i = 0; report->study.uses_smoothed_front && i < report->nfront; i++)
		if (report->front[i].objectives[objective].smoothed !=
		    report->front[i].objectives[objective].value)
			return true;
	return false;
}

static void front_columns(struct doc *d, const struct report_model *report)
{
	const struct report_point *first = &report->front[0];
	const char *name;
	json_t *v;

	doc_caption(d, "Every point of the front");
	doc_column(d, "trial", true);
	for (size_t i = 0; i < report->nobjectives; i++) {
		table_add_value_column(d, &report->objectives[i], report->objectives[i].name);
		if (first->objectives[i].runs) {
			if (observed_value_differs(report, i))
				doc_column(d, "as observed", true);
			doc_column(d, "least to most of the runs", true);
			doc_column(d, "sd", true);
			if (!report->study.uses_smoothed_front)
				doc_column(d, "model says", true);
			if (report->study.reevaluated_size) {
				doc_column(d, "measured again", true);
				doc_column(d, "95 % of that", true);
			}
		}
	}
	json_object_foreach (first->parameters, name, v)
		doc_column(d, name, !json_is_string(v));
}

/* The mean of the runs that measured a point again, and where it lies. */
static void write_reevaluated_cells(struct doc *d, const struct report_objective *o,
				    const struct dp_reeval_stats *again, size_t objective)
{
	char a[FORMAT_LEN], b[FORMAT_LEN];
	double error;

	if (!again) {
		doc_cell(d, "-");
		doc_cell(d, "-");
		return;
	}
	error = (again->high[objective] - again->low[objective]) / 4;
	doc_cell(d, "%s", format_objective_number(o, again->objectives[objective], error, a));
	if (again->runs > 1)
		doc_cell(d, "%s to %s", format_objective_number(o, again->low[objective], error, a),
			 format_objective_number(o, again->high[objective], error, b));
	else
		doc_cell(d, "-");
}

/* What is known of a measured objective at a point. */
static void write_metric_cells(struct doc *d, const struct report_model *report,
			       const struct report_point *p, size_t objective)
{
	const struct report_objective *o = &report->objectives[objective];
	const struct report_point_objective *at = &p->objectives[objective];
	bool denoises = report->study.uses_smoothed_front;
	double error = at->runs->standard_error;
	char a[FORMAT_LEN];

	doc_cell(d, "%s",
		 format_objective_number(o, denoises ? at->smoothed : at->value, error, a));
	if (observed_value_differs(report, objective))
		doc_cell(d, "%s", format_objective_number(o, at->value, error, a));
	table_add_range_cell(d, o, at->runs);
	doc_cell(d, "%s", format_error(o->share ? 100 * at->runs->sd : at->runs->sd, a));
	if (!denoises)
		doc_cell(d, "%s", format_objective_number(o, at->smoothed, error, a));
	if (report->study.reevaluated_size)
		write_reevaluated_cells(d, o, p->reevaluated, objective);
}

static void front_row(struct doc *d, const struct report_model *report,
		      const struct report_point *p)
{
	char a[FORMAT_LEN], point[RESULT_NAME_LEN], row[RESULT_ROW_ID_LEN];
	const char *name;
	json_t *v;

	doc_table_row_id(d, result_format_row_id(p->trial, p->at, row));
	doc_cell(d, "%s", result_format_name(p->trial, p->at, point));
	for (size_t i = 0; i < report->nobjectives; i++) {
		if (p->objectives[i].runs)
			write_metric_cells(d, report, p, i);
		else
			doc_cell(d, "%s", format_rounded_up(p->objectives[i].value, a));
	}
	json_object_foreach (p->parameters, name, v)
		value_cell(d, v);
}

/* What 7@4 is, where there is one. */
static void write_checkpoint_note(struct doc *d, const struct report_model *report)
{
	const struct report_path *path = report->settings.path;
	const struct report_point *found = NULL;
	char point[RESULT_NAME_LEN];

	for (size_t i = 0; !found && i < report->nfront; i++)
		if (report->front[i].at >= 0)
			found = &report->front[i];
	if (!path || !found)
		return;
	doc_paragraph(d,
		      "%s is what the training of trial %lld was at %s = %lld, on its "
		      "way to more: a training in its own right, which cost no other. Of "
		      "the runs at such a waypoint the mean and the standard deviation "
		      "(sd) are kept.",
		      result_format_name(found->trial, found->at, point), (long long)found->trial,
		      path->parameter, (long long)found->at);
}

/* What the table has. */
static void write_front_note(struct doc *d, const struct report_model *report)
{
	const char *each =
		report->settings.path ? "Every trial, and every waypoint of one," : "Every trial";

	if (report->study.uses_smoothed_front)
		doc_paragraph(d,
			      "%s that, by models of all results, no other "
			      "one beats in all objectives; of those with the same "
			      "parameters the first. Values are what the models leave "
			      "when the noise is taken out, beside the means over the "
			      "runs as observed; epsilon is computed, and rounded up.",
			      each);
	else
		doc_paragraph(d,
			      "%s that no other one beats in all objectives. "
			      "Values are means over the runs of a trial%s; epsilon is "
			      "rounded up.",
			      each,
			      report->optimism.no_models ? ""
							 : "; \"model says\" is what is left "
							   "when the models take the noise "
							   "out");
}

/* ---- figures ---- */

void write_figure(struct doc *d, const struct rendered_figure *p)
{
	char file[FIGURE_FILENAME_LEN];

	if (p->has_nothing_to_show)
		doc_paragraph(d, "Not shown: %s.", p->reason);
	else if (!rendered_figure_is_drawn(p))
		doc_paragraph(d, "This figure could not be drawn: %s.", p->reason);
	else
		doc_figure(d, figure_format_filename(p->figure, rendered_figure_extension(p), file),
			   dp_buf_text(&p->alt), dp_buf_text(&p->caption), &p->page_svg);
}

/* Does it belong to the chapter? What is on the first screen does not; of a study without
 * a front that shows an empty plane, which nobody needs to see. */
static bool figure_in_chapter(const struct rendered_figure *p, enum figure_chapter chapter)
{
	return p->figure->chapter == chapter &&
	       !(p->figure->on_first_screen && rendered_figure_is_drawn(p));
}

static size_t count_chapter_figures(const struct report_model *report, enum figure_chapter chapter)
{
	size_t n = 0;

	for (size_t i = 0; i < report->nfigures; i++)
		n += figure_in_chapter(&report->figures[i], chapter);
	return n;
}

static void write_titled(struct doc *d, const struct rendered_figure *p)
{
	doc_box(d, p->is_single_row ? "figure wide flat" : p->is_wide ? "figure wide" : "figure");
	doc_heading(d, p->figure->title);
	write_figure(d, p);
	doc_box_end(d);
}

/* Side by side where there is room. */
static void write_chapter(struct doc *d, const struct report_model *report,
			  enum figure_chapter chapter)
{
	doc_box(d, "figures");
	for (size_t i = 0; i < report->nfigures; i++)
		if (figure_in_chapter(&report->figures[i], chapter))
			write_titled(d, &report->figures[i]);
	doc_box_end(d);
}

void write_all_figures(struct doc *d, const struct report_model *report)
{
	doc_box(d, "figures");
	for (size_t i = 0; i < report->nfigures; i++)
		write_titled(d, &report->figures[i]);
	doc_box_end(d);
}

/* ---- the chapters ---- */

/* "21 points, what each level of epsilon buys" */
static void format_front_abstract(const struct report_model *report, char out[FORMAT_LEN * 2])
{
	snprintf(out, FORMAT_LEN * 2, "%zu point%s%s", report->nfront,
		 plural_suffix((int64_t)report->nfront),
		 report->study.epsilon_levels.n ? "; what each level of epsilon buys" : "");
}

void write_front(struct doc *d, const struct report_model *report)
{
	const char *why = report->optimism.no_models;
	char about[FORMAT_LEN * 2];

	if (report->nfront == 0)
		return;
	format_front_abstract(report, about);
	doc_folded_section(d, "front", "The front", "Front", about);
	write_epsilon_levels(d, report);
	write_front_variants(d, report);
	if (why)
		doc_paragraph(d, "There are no models: %s.", why);
	write_chapter(d, report, FIGURE_CHAPTER_FRONT);
	doc_heading(d, "Every point");
	write_front_note(d, report);
	write_checkpoint_note(d, report);
	doc_table_begin(d);
	front_columns(d, report);
	for (size_t i = 0; i < report->nfront; i++)
		front_row(d, report, &report->front[i]);
	doc_table_end(d);
}

void write_figures(struct doc *d, const struct report_model *report)
{
	static const struct {
		enum figure_chapter chapter;
		const char *id, *title, *brief, *about;
	} folds[] = {
		{ FIGURE_CHAPTER_PARAMETERS, "parameters", "Which parameters matter", "Parameters",
		  "their shares, and how they change along the front" },
		{ FIGURE_CHAPTER_SURROGATES, "models", "How far to trust the models", "Models",
		  "what they foretell, and what they believe" },
		{ FIGURE_CHAPTER_SEARCH, "search", "How the search went", "Search",
		  "progress and time" },
	};

	/* without a front there is no fold for these */
	if (report->nfront == 0 && count_chapter_figures(report, FIGURE_CHAPTER_FRONT)) {
		doc_folded_section(d, "figures", "Figures", "Figures", "what there is to see");
		write_chapter(d, report, FIGURE_CHAPTER_FRONT);
	}
	for (size_t i = 0; i < DP_COUNT(folds); i++) {
		if (count_chapter_figures(report, folds[i].chapter) == 0)
			continue;
		doc_folded_section(d, folds[i].id, folds[i].title, folds[i].brief, folds[i].about);
		write_chapter(d, report, folds[i].chapter);
	}
}
