/* summary.c - the first screen of a report: study, recommendation and how far to trust it. */
#include "reports/text/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	BADGE_LEN = 200
};

static struct doc_badge trust_badge(const struct report_model *report, char text[BADGE_LEN])
{
	const struct report_choice *taken = report->recommendation->recommended;
	const char *y = report->study->state->spec->objectives[report->study->y_obj].name;
	const json_t *again = choice_reevaluation(taken);
	const json_t *optimism = get_json(report->json, "optimism");
	enum doc_badge_tone tone = DOC_BADGE_NEUTRAL;
	char runs[DP_PLURAL_LEN];

	if (again) {
		bool agrees = !(optional_number(get_json(again, "low"), y) > taken->high) &&
			      !(optional_number(get_json(again, "high"), y) < taken->low);

		tone = agrees ? DOC_BADGE_GOOD : DOC_BADGE_BAD;
		snprintf(text, BADGE_LEN, "trust: %s with fresh seeds",
			 agrees ? "good, measured again"
				: "poor, measured again it is not the same");
	} else if (taken->source) {
		bool models = strcmp(taken->source, "models") == 0 &&
			      find_by_text(get_json(report->json, "models"), "objective", y);

		dp_plural_text((size_t)get_count(optimism, "runs"), "run", runs);
		if (!models && get_json(report->json, "released"))
			snprintf(text, BADGE_LEN,
				 "trust: fair, the noise on utilities is known, "
				 "not measured again");
		else
			snprintf(text, BADGE_LEN,
				 "trust: fair, %s per point, %s, not measured again", runs,
				 models                            ? "models that predict well"
				 : get_text(optimism, "no_models") ? "no models"
								   : "models do not predict well");
	} else if (json_object_get(get_json(taken->point, "runs"), y)) {
		tone = DOC_BADGE_BAD;
		snprintf(text, BADGE_LEN, "trust: poor, one run per point, noise unknown");
	} else {
		snprintf(text, BADGE_LEN, "computed, no noise");
	}
	return (struct doc_badge){ tone, text };
}

static void write_badges(struct doc *d, const struct report_model *report)
{
	const json_t *s = report->json;
	bool warning = get_text(s, "seeds_warning") != NULL;
	bool finished = strcmp(get_text(s, "state"), "finished") == 0;
	long long failed = get_count(s, "failed"), diverged = get_count(s, "diverged");
	char data[BADGE_LEN], trust[BADGE_LEN];
	struct dp_buf state = DP_BUF_INIT;
	struct doc_badge list[3] = { { finished ? DOC_BADGE_GOOD : DOC_BADGE_BAD, NULL },
				     { warning ? DOC_BADGE_BAD : DOC_BADGE_NEUTRAL, data } };
	size_t n = 2;

	dp_buf_printf(&state, "%s, %lld of %lld evaluations", get_text(s, "state"),
		      (long long)get_count(s, "evaluations"), (long long)get_count(s, "budget"));
	if (failed)
		dp_buf_printf(&state, ", %lld failed", failed);
	if (diverged)
		dp_buf_printf(&state, ", %lld diverged", diverged);
	list[0].text = dp_buf_text(&state);
	snprintf(data, sizeof data, "%s data%s", get_text(report->json, "data"),
		 warning ? ", fixed seeds" : "");
	if (report->recommendation && report->recommendation->recommended)
		list[n++] = trust_badge(report, trust);
	doc_badges(d, list, n);
	dp_buf_free(&state);
}

/* "strict", "recommended and loose": all choices of the row that starts here. NULL: an earlier row
 * includes this choice. */
static const char *format_choice_names(const struct report_recommendation *r, size_t i,
				       char out[BADGE_LEN])
{
	for (size_t k = 0; k < i; k++)
		if (r->choices[k].point == r->choices[i].point)
			return NULL;
	snprintf(out, BADGE_LEN, "%s", r->choices[i].name);
	for (size_t k = i + 1; k < r->nchoices; k++)
		if (r->choices[k].point == r->choices[i].point)
			snprintf(out + strlen(out), BADGE_LEN - strlen(out), ", %s",
				 r->choices[k].name);
	return out;
}

static void choice_table(struct doc *d, const struct report_model *report)
{
	const struct report_recommendation *r = report->recommendation;
	const json_t *objectives = get_json(report->json, "objectives"), *o;
	size_t x = report->study->x_obj, y = report->study->y_obj, i;
	char name[BADGE_LEN], a[FORMAT_LEN], b[FORMAT_LEN];
	struct dp_buf settings = DP_BUF_INIT;

	doc_table_begin(d, "Points to take");
	doc_column(d, "take", false);
	doc_column(d, "trial", true);
	json_array_foreach (objectives, i, o) {
		table_add_value_column(d, o, get_text(o, "name"));
		if (i == y)
			doc_column(d, "95 %", true);
	}
	doc_column(d, "settings", false);
	for (size_t k = 0; k < r->nchoices; k++) {
		const struct report_choice *c = &r->choices[k];
		const json_t *values = get_json(c->point, "objectives");
		double error = choice_display_error(c);

		if (!format_choice_names(r, k, name))
			continue;
		doc_cell(d, "%s", name);
		doc_cell(d, "%s", point_name(c->point, a));
		json_array_foreach (objectives, i, o) {
			double value = i == y ? c->value : get_number(values, get_text(o, "name"));

			doc_cell(d, "%s%s%s",
				 format_objective_number(o, value, i == y ? error : 0, a),
				 i == x && c->meaningless ? " (no meaningful guarantee)" : "",
				 i == y && c->no_better ? " (as guessing)" : "");
			if (i == y && c->source)
				doc_cell(d, "%s to %s",
					 format_objective_number(o, c->low, error, a),
					 format_objective_number(o, c->high, error, b));
			else if (i == y)
				doc_cell(d, "-");
		}
		dp_buf_clear(&settings);
		format_parameter_list(get_json(c->point, "parameters"), &settings);
		doc_cell(d, "%s", dp_buf_text(&settings));
	}
	doc_table_end(d);
	dp_buf_free(&settings);
}

/* One training command for each row; all but the recommended one are in a fold. */
static void choice_commands(struct doc *d, const struct report_model *report)
{
	const struct report_recommendation *r = report->recommendation;
	const json_t *rows = get_json(report->json, "rows");
	struct dp_buf others = DP_BUF_INIT;
	char name[BADGE_LEN];

	doc_code(d, "sh", get_text(get_json(report->json, "recommendation"), "command"));
	for (size_t i = 0; i < r->nchoices; i++)
		if (r->choices[i].point != r->recommended->point && format_choice_names(r, i, name))
			dp_buf_printf(&others, "# %s\n%s\n", name,
				      get_text(json_array_get(rows, i), "command"));
	if (others.len) {
		doc_folded_box(d, "Commands that train the others");
		doc_code(d, "sh", dp_buf_text(&others));
		doc_box_end(d);
	}
	dp_buf_free(&others);
}

void write_summary(struct doc *d, const struct report_model *report)
{
	const json_t *recommendation = get_json(report->json, "recommendation");
	const char *warning = get_text(report->json, "seeds_warning");
	const char *state = get_text(report->json, "state");
	const char *reason = get_text(report->json, "reason");
	const char *updated = get_text(get_json(report->json, "reproduce"), "updated");

	doc_box(d, "first");
	write_badges(d, report);
	if (warning)
		doc_warning(d, "%s", warning);
	if (reason && *reason)
		doc_warning(d, "Why it is %s: %s.", state, reason);
	if (strcmp(state, "running") == 0 || strcmp(state, "paused") == 0)
		doc_warning(d, "The study has not ended%s%.19s%s.",
			    updated ? ": this is what was known at " : "", updated ? updated : "",
			    updated ? "Z" : "");
	if (!recommendation) { /* no front: say why, and stop */
		doc_paragraph(d, "%s, so there is no front.",
			      get_count(get_json(report->json, "optimism"), "chosen_from")
				      ? "No result meets the constraints with finite values"
				      : "No trial has given a result");
		if (json_array_size(get_json(get_json(report->json, "failures"), "groups")))
			write_failure_list(d, report);
		doc_box_end(d);
		return;
	}
	doc_box(d, "lead");
	doc_paragraph(d, "%s", get_text(recommendation, "sentence"));
	doc_box_end(d);
	for (size_t i = 0; i < report->nfigures; i++)
		if (report->figures[i].figure->on_first_screen &&
		    rendered_figure_is_drawn(&report->figures[i])) {
			write_figure(d, &report->figures[i]);
			break;
		}
	choice_table(d, report);
	write_search_cost(d, report);
	choice_commands(d, report);
	doc_box_end(d);
}
