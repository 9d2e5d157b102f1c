/* selection.c - the report of a private selection (method select): what was published,
 * and what that costs. It is a report of its own, because everything else that a report
 * tells is about trainings that nobody may know of. */
#include "reports/text/report_format.h"

#include "base/units.h"
#include "state/state_json.h"

#include <math.h>
#include <string.h>

static const char *format_selection_statement(const struct study_data *s,
					      const struct dp_select_cost *c,
					      struct report_arena *arena)
{
	const struct dp_study *spec = s->state->spec;
	struct dp_composition_items uses;
	struct dp_buf out = DP_BUF_INIT;
	char delta[DP_NUM_LEN], mean[DP_NUM_LEN];
	const char *text;

	if (study_data_mechanisms_at(s, s->points[0], dp_select_privacy_objective(spec), &uses,
				     NULL) != DP_OK)
		return NULL;
	dp_buf_puts(&out, "The setting, its utility and its model, which are all that is "
			  "published of study ");
	dp_buf_printf(&out, "%s, are together (", spec->name);
	number_append_rounded_up(c->epsilon, 4, &out);
	dp_buf_printf(&out,
		      ", %s)-differentially private.\n"
		      "They are the best of a secret number of trainings (%s, %s on "
		      "average), with settings drawn independently of the data and of "
		      "each other.\n"
		      "For records that are trained on: epsilon ",
		      dp_num_text(c->delta, delta), c->law, dp_num_text(c->mean_trainings, mean));
	number_append_rounded_up(c->train_data_epsilon, 4, &out);
	dp_buf_puts(&out, "; for records that the utility is measured on: epsilon ");
	number_append_rounded_up(c->eval_data_epsilon, 4, &out);
	dp_buf_printf(&out,
		      ". A record is one or the other.\n"
		      "Unit of privacy: %s, or one record that is measured on.\n"
		      "Neighbouring relation: %s.\n"
		      "Theorem: %s, with the Renyi divergences of the worst setting that "
		      "can be drawn.\n"
		      "It holds as long as nobody learns how many trainings there were, "
		      "anything of the others, or what the noise was drawn from.\n",
		      privacy_unit_text(uses.items->mechanism, uses.values[0], arena),
		      neighbouring_relation_text(&uses), c->theorem);
	text = report_arena_strdup(arena, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}

int report_model_selection(const struct study_data *s, struct report_arena *arena,
			   const struct report_selection **out, struct dp_err *err)
{
	struct report_selection found = { 0 };
	int code;

	if (!s->view.hides_search)
		return DP_OK;
	code = dp_select_compute_cost(s->state->spec, &found.cost, err);
	if (code != DP_OK)
		return code;
	if (s->npoints)
		found.statement = format_selection_statement(s, &found.cost, arena);
	*out = report_arena_dup(arena, &found, sizeof found);
	return DP_OK;
}

/* ---- report.json ---- */

/* What `run` prints, and more. */
json_t *selection_report_build_json(const struct report_model *report)
{
	json_t *out = dp_state_result_json(report->study.view);
	json_t *more = json_pack(
		"{s:b, s:s, s:s, s:s?, s:s?, s:s?, s:o, s:s?, s:[], s:{s:s?, s:s}}", "public",
		report->public, "data", report->data, "seeds", report->seeds, "seeds_warning",
		report->seeds_warning, "privacy_objective", report->privacy_objective,
		"utility_objective", report->utility_objective, "selection",
		dp_selection_cost_json(&report->selection->cost), "statement",
		report->selection->statement, "figures", "reproduce", "study_file",
		report->reproduce.study_file, "dpareto", report->reproduce.versions.dpareto);

	if (!out || !more || json_object_update(out, more) != 0) {
		json_decref(out);
		out = NULL;
	}
	json_decref(more);
	return out;
}

/* ---- words ---- */

static void write_selected_point(struct doc *d, const struct report_model *report)
{
	const struct report_study *s = &report->study;
	const struct study_data *study = report->front ? report->front[0].study : NULL;

	doc_section(d, "short", "In short");
	doc_paragraph(d, "The study is %s%s%s.", s->state, *s->reason ? ": " : "", s->reason);
	if (report->nfront == 0) {
		doc_paragraph(d, "Nothing has been selected.");
		return;
	}
	doc_paragraph(d, "This was selected, as the best of a secret number of trainings:");
	doc_table_begin(d);
	doc_column(d, "what", false);
	doc_column(d, "value", true);
	for (size_t i = 0; i < study->state->spec->nparams; i++) {
		struct dp_buf value = DP_BUF_INIT;

		dp_space_format_value(study->state->spec, i,
				      study->state->trials[report->front[0].point.trial]->x[i],
				      &value);
		doc_cell(d, "%s", study->state->spec->params[i].name);
		doc_cell(d, "%s", dp_buf_text(&value));
		dp_buf_free(&value);
	}
	for (size_t i = 0; i < report->nobjectives; i++) {
		const struct report_point_objective *o = &report->front[0].objectives[i];
		bool privacy = strcmp(report->objectives[i].kind, "privacy") == 0;
		char text[FORMAT_LEN];

		doc_cell(d, "%s%s", o->name, privacy ? " of one training" : "");
		doc_cell(d, "%s",
			 privacy ? format_rounded_up(o->value, text)
				 : format_short(o->value, text));
	}
	doc_table_end(d);
}

static void write_selection_cost(struct doc *d, const struct report_model *report)
{
	const struct dp_select_cost *c = &report->selection->cost;
	char e[FORMAT_LEN], t[FORMAT_LEN], m[FORMAT_LEN], delta[DP_NUM_LEN];

	doc_section(d, "private", "What may be published, and what it costs");
	doc_warning(d,
		    "The selected setting, its utility as it stands here and its model may "
		    "be published: together they cost epsilon %s at delta %s.",
		    format_rounded_up(c->epsilon, e), dp_num_text(c->delta, delta));
	doc_paragraph(d,
		      "For records that are trained on it is %s, for those that the "
		      "utility is measured on %s; a record is one or the other. %s.",
		      format_rounded_up(c->train_data_epsilon, t),
		      format_rounded_up(c->eval_data_epsilon, m), c->theorem);
	doc_labelled_item(d, "One training",
			  "epsilon %s, with all its runs, at the worst setting "
			  "that can be drawn",
			  format_rounded_up(c->training_epsilon, e));
	doc_labelled_item(d, "The selection", "epsilon %s", format_rounded_up(c->epsilon, e));
	doc_labelled_item(d, "For comparison",
			  "publishing %s trainings, as many as there are on average, would cost "
			  "epsilon %s",
			  format_short(ceil(c->mean_trainings), m),
			  format_rounded_up(c->composed_epsilon, e));
	doc_paragraph(d, "It holds only as long as nobody learns how many trainings there were "
			 "or anything of the others. So this report says nothing of them, and no "
			 "command does. What tells of them all the same is yours to keep secret: "
			 "the journal, the folders of the trainings, the daemon's own figures, "
			 "and how long the study took.");
	if (report->selection->statement) {
		doc_heading(d, "To copy");
		doc_code(d, "text", report->selection->statement);
	}
}

void write_selection(struct doc *d, const struct report_model *report)
{
	write_selected_point(d, report);
	write_selection_cost(d, report);
	doc_section(d, "reproduce", "The study");
	doc_paragraph(d, "Everything is drawn from a secret, so that the study file gives "
			 "another selection each time; each costs as much.");
	doc_labelled_item(d, "Version", "DPareto %s", report->reproduce.versions.dpareto);
	if (report->reproduce.study_file)
		doc_code(d, "yaml", report->reproduce.study_file);
}
