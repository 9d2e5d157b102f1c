/* selection.c - the report of a private selection (method select): what was published,
 * and what that costs. It is a report of its own, because everything else that a report
 * tells is about trainings that nobody may know of. */
#include "reports/words.h"

#include "base/num.h"
#include "journal/view.h"

#include <math.h>
#include <string.h>

static const char *say_selection(const struct subject *s, const struct dp_select_cost *c,
				 struct facts_memory *m)
{
	const struct dp_study *spec = s->s->spec;
	struct dp_uses uses;
	struct dp_buf out = DP_BUF_INIT;
	char delta[DP_NUM_LEN], mean[DP_NUM_LEN];
	const char *text;

	if (facts_uses(s, s->points[0], dp_select_privacy(spec), &uses, NULL) != DP_OK)
		return NULL;
	dp_buf_puts(&out, "The setting, its utility and its model, which are all that is "
			  "published of study ");
	dp_buf_printf(&out, "%s, are together (", spec->name);
	facts_round_up(c->epsilon, 4, &out);
	dp_buf_printf(&out,
		      ", %s)-differentially private.\n"
		      "They are the best of a secret number of trainings (%s, %s on "
		      "average), with settings drawn independently of the data and of "
		      "each other.\n"
		      "For records that are trained on: epsilon ",
		      dp_num_text(c->delta, delta), c->law, dp_num_text(c->mean, mean));
	facts_round_up(c->trained, 4, &out);
	dp_buf_puts(&out, "; for records that the utility is measured on: epsilon ");
	facts_round_up(c->measured, 4, &out);
	dp_buf_printf(&out,
		      ". A record is one or the other.\n"
		      "Unit of privacy: %s, or one record that is measured on.\n"
		      "Neighbouring relation: %s.\n"
		      "Theorem: %s, with the Renyi divergences of the worst setting that "
		      "can be drawn.\n"
		      "It holds as long as nobody learns how many trainings there were, "
		      "anything of the others, or what the noise was drawn from.\n",
		      facts_unit(uses.item->mechanism, uses.values[0], m), facts_relation(&uses),
		      c->theorem);
	text = facts_text(m, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}

int facts_selection(const struct subject *s, struct facts_memory *m,
		    const struct fact_selection **out, struct dp_err *err)
{
	struct fact_selection found = { 0 };
	int code;

	if (!dp_study_hides(s->s))
		return DP_OK;
	code = dp_select_cost(s->s->spec, &found.cost, err);
	if (code != DP_OK)
		return code;
	if (s->npoints)
		found.statement = say_selection(s, &found.cost, m);
	*out = facts_keep(m, &found, sizeof found);
	return DP_OK;
}

/* ---- report.json ---- */

/* What `run` prints, and more. */
json_t *selection_report_json(const struct facts *f)
{
	json_t *out = dp_view_result(f->study.s);
	json_t *more = json_pack(
		"{s:b, s:s, s:s, s:s?, s:s?, s:s?, s:o, s:s?, s:[], s:{s:s?, s:s}}", "public",
		f->public, "data", f->data, "seeds", f->seeds, "seeds_warning", f->seeds_warning,
		"privacy_objective", f->privacy_objective, "utility_objective",
		f->utility_objective, "selection", dp_view_selection(&f->selection->cost),
		"statement", f->selection->statement, "figures", "reproduce", "study_file",
		f->reproduce.study_file, "dpareto", f->reproduce.versions.dpareto);

	if (!out || !more || json_object_update(out, more) != 0) {
		json_decref(out);
		out = NULL;
	}
	json_decref(more);
	return out;
}

/* ---- words ---- */

static void say_selected(struct doc *d, const struct facts *f)
{
	const struct fact_study *s = &f->study;
	const struct subject *subject = f->front ? f->front[0].s : NULL;

	doc_section(d, "short", "In short");
	doc_paragraph(d, "The study is %s%s%s.", s->state, *s->reason ? ": " : "", s->reason);
	if (f->nfront == 0) {
		doc_paragraph(d, "Nothing has been selected.");
		return;
	}
	doc_paragraph(d, "This was selected, as the best of a secret number of trainings:");
	doc_table(d);
	doc_column(d, "what", false);
	doc_column(d, "value", true);
	for (size_t i = 0; i < subject->s->spec->nparams; i++) {
		struct dp_buf value = DP_BUF_INIT;

		dp_space_text(subject->s->spec, i,
			      subject->s->trials[f->front[0].point.trial]->x[i], &value);
		doc_cell(d, "%s", subject->s->spec->params[i].name);
		doc_cell(d, "%s", dp_buf_text(&value));
		dp_buf_free(&value);
	}
	for (size_t i = 0; i < f->nobjectives; i++) {
		const struct fact_point_objective *o = &f->front[0].of[i];
		bool privacy = strcmp(f->objectives[i].kind, "privacy") == 0;
		char text[SHORT_LEN];

		doc_cell(d, "%s%s", o->name, privacy ? " of one training" : "");
		doc_cell(d, "%s", privacy ? up_text(o->value, text) : short_text(o->value, text));
	}
	doc_table_end(d);
}

static void say_price(struct doc *d, const struct facts *f)
{
	const struct dp_select_cost *c = &f->selection->cost;
	char e[SHORT_LEN], t[SHORT_LEN], m[SHORT_LEN], delta[DP_NUM_LEN];

	doc_section(d, "private", "What may be published, and what it costs");
	doc_note(d,
		 "The selected setting, its utility as it stands here and its model may "
		 "be published: together they cost epsilon %s at delta %s.",
		 up_text(c->epsilon, e), dp_num_text(c->delta, delta));
	doc_paragraph(d,
		      "For records that are trained on it is %s, for those that the "
		      "utility is measured on %s; a record is one or the other. %s.",
		      up_text(c->trained, t), up_text(c->measured, m), c->theorem);
	doc_field(d, "One training",
		  "epsilon %s, with all its runs, at the worst setting "
		  "that can be drawn",
		  up_text(c->one, e));
	doc_field(d, "The selection", "epsilon %s", up_text(c->epsilon, e));
	doc_field(d, "For comparison",
		  "publishing %s trainings, as many as there are on average, would cost "
		  "epsilon %s",
		  short_text(ceil(c->mean), m), up_text(c->composed, e));
	doc_paragraph(d, "It holds only as long as nobody learns how many trainings there were "
			 "or anything of the others. So this report says nothing of them, and no "
			 "command does. What tells of them all the same is yours to keep secret: "
			 "the journal, the folders of the trainings, the daemon's own figures, "
			 "and how long the study took.");
	if (f->selection->statement) {
		doc_heading(d, "To copy");
		doc_code(d, "text", f->selection->statement);
	}
}

void write_selection(struct doc *d, const struct facts *f)
{
	say_selected(d, f);
	say_price(d, f);
	doc_section(d, "reproduce", "The study");
	doc_paragraph(d, "Everything is drawn from a secret, so that the study file gives "
			 "another selection each time; each costs as much.");
	doc_field(d, "Version", "DPareto %s", f->reproduce.versions.dpareto);
	if (f->reproduce.study_file)
		doc_code(d, "yaml", f->reproduce.study_file);
}
