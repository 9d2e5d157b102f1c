/* selection_report.c - the report of a private selection (method select): the published result and
 * its cost.
 *
 * It is separate because every other report describes runs that must stay private. */
#include "reports/text/sections.h"
#include "study/space.h"

#include <math.h>
#include <string.h>

static void write_selected_point(struct doc *d, const struct report_model *report)
{
	const struct study_data *s = report->study;
	const struct dp_study *spec = s->state->spec;
	const char *reason = get_text(report->json, "reason");
	struct dp_result_id selected;

	doc_section(d, "short", "In short");
	doc_paragraph(d, "The study is %s%s%s.", get_text(report->json, "state"),
		      reason && *reason ? ": " : "", reason ? reason : "");
	if (study_data_front_size(s) == 0) {
		doc_paragraph(d, "Nothing has been selected.");
		return;
	}
	doc_paragraph(d, "This was selected, as the best of a secret number of trainings:");
	doc_table_begin(d, NULL);
	doc_column(d, "what", false);
	doc_column(d, "value", true);
	selected = study_data_front_point(s, 0);
	for (size_t i = 0; i < spec->nparams; i++) {
		struct dp_buf value = DP_BUF_INIT;

		dp_space_format_value(spec, i, s->state->trials[selected.trial]->x[i], &value);
		doc_cell(d, "%s", spec->params[i].name);
		doc_cell(d, "%s", dp_buf_text(&value));
		dp_buf_free(&value);
	}
	for (size_t i = 0; i < spec->nobjectives; i++) {
		double value = dp_result_get_objectives(s->state, selected)[i];
		bool privacy = !spec->objectives[i].metric;
		char text[FORMAT_LEN];

		doc_cell(d, "%s%s", spec->objectives[i].name, privacy ? " of one training" : "");
		doc_cell(d, "%s",
			 privacy ? format_rounded_up(value, text) : format_short(value, text));
	}
	doc_table_end(d);
}

static void write_selection_cost(struct doc *d, const struct report_model *report)
{
	const json_t *cost = get_json(report->json, "selection");
	const char *statement = get_text(report->json, "statement");
	char e[FORMAT_LEN], t[FORMAT_LEN], m[FORMAT_LEN], delta[DP_NUM_LEN];

	format_rounded_up(get_number(cost, "epsilon"), e);
	doc_section(d, "private", "What may be published, and what it costs");
	doc_warning(d,
		    "The selected setting, its utility as it stands here and its model may "
		    "be published: together they cost epsilon %s at delta %s.",
		    e, dp_num_text(get_number(cost, "delta"), delta));
	doc_paragraph(d,
		      "For records that are trained on it is %s, for those that the "
		      "utility is measured on %s; a record is one or the other. %s.",
		      format_rounded_up(get_number(cost, "trained"), t),
		      format_rounded_up(get_number(cost, "measured"), m),
		      get_text(cost, "theorem"));
	doc_labelled_item(d, "One training",
			  "epsilon %s, with all its runs, at the worst setting that can be drawn",
			  format_rounded_up(get_number(cost, "one_training"), t));
	doc_labelled_item(d, "The selection", "epsilon %s", e);
	doc_labelled_item(d, "For comparison",
			  "publishing %s trainings, as many as there are on average, would cost "
			  "epsilon %s",
			  format_short(ceil(get_number(cost, "mean")), m),
			  format_rounded_up(get_number(cost, "composed"), t));
	doc_paragraph(d, "It holds only as long as nobody learns how many trainings there were "
			 "or anything of the others. So this report says nothing of them, and no "
			 "command does. What tells of them all the same is yours to keep secret: "
			 "the journal, the folders of the trainings, the daemon's own figures, "
			 "and how long the study took.");
	if (statement) {
		doc_heading(d, "To copy");
		doc_code(d, "text", statement);
	}
}

void write_selection(struct doc *d, const struct report_model *report)
{
	const json_t *r = get_json(report->json, "reproduce");

	write_selected_point(d, report);
	write_selection_cost(d, report);
	doc_section(d, "reproduce", "The study");
	doc_paragraph(d, "Everything is drawn from a secret, so that the study file gives "
			 "another selection each time; each costs as much.");
	doc_labelled_item(d, "Version", "DPareto %s", get_text(r, "dpareto"));
	if (get_text(r, "study_file"))
		doc_code(d, "yaml", get_text(r, "study_file"));
}
