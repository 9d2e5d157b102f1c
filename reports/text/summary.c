/* summary.c - the first screen of a report: what it is, what it recommends, and what
 * that rests on. */
#include "reports/text/report_format.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	BADGE_LEN = 200,
	REASON_LEN = 120, /* fits into one */
};

/* ---- badges ---- */

static struct doc_badge state_badge(const struct report_model *report, char text[BADGE_LEN])
{
	const struct report_study *s = &report->study;
	bool ended = strcmp(s->state, "finished") == 0;
	int n = snprintf(text, BADGE_LEN, "%s, %lld of %lld evaluations", s->state,
			 (long long)s->evaluations, (long long)report->budget);

	if (s->failed)
		n += snprintf(text + n, (size_t)(BADGE_LEN - n), ", %lld failed",
			      (long long)s->failed);
	if (s->diverged)
		snprintf(text + n, (size_t)(BADGE_LEN - n), ", %lld diverged",
			 (long long)s->diverged);
	return (struct doc_badge){ ended ? DOC_BADGE_GOOD : DOC_BADGE_BAD, text };
}

/* The model of what is recommended by; NULL: there is none. */
static const struct report_surrogate *find_utility_surrogate(const struct report_model *report)
{
	const char *name = report->objectives[report->recommendation->y_obj].name;

	for (size_t i = 0; i < report->nmodels; i++)
		if (strcmp(report->models[i].objective, name) == 0)
			return &report->models[i];
	return NULL;
}

/* What fresh seeds gave at the point, with an interval; else NULL. */
static const struct dp_reeval_stats *choice_reevaluation(const struct report_choice *c)
{
	const struct dp_reeval_stats *m = c->point->reevaluated;

	return m && m->runs > 1 ? m : NULL;
}

/* Do fresh seeds agree with what is told? */
static bool reevaluation_agrees(const struct report_choice *c, size_t y)
{
	const struct dp_reeval_stats *m = choice_reevaluation(c);

	return !(m->low[y] > c->high) && !(m->high[y] < c->low);
}

/* What the values rest on that were not measured again. */
static void trust_reason(const struct report_model *report, char out[REASON_LEN])
{
	const struct report_choice *taken = report->recommendation->recommended;
	char runs[DP_PLURAL_LEN];

	dp_plural_text((size_t)report->optimism.runs, "run", runs);
	if (strcmp(taken->source, "models") == 0 && find_utility_surrogate(report))
		snprintf(out, REASON_LEN, "%s per point, models that predict well", runs);
	else if (report->released)
		snprintf(out, REASON_LEN, "the noise on utilities is known");
	else
		snprintf(out, REASON_LEN, "%s per point, %s", runs,
			 report->optimism.no_models ? "no models" : "models do not predict well");
}

/* How far to trust the recommendation, and why. */
static struct doc_badge trust_badge(const struct report_model *report, char text[BADGE_LEN])
{
	const struct report_recommendation *r = report->recommendation;
	const struct report_choice *taken = r->recommended;
	enum doc_badge_tone tone = DOC_BADGE_NEUTRAL;
	char reason[REASON_LEN];

	if (choice_reevaluation(taken)) {
		bool agrees = reevaluation_agrees(taken, r->y_obj);

		tone = agrees ? DOC_BADGE_GOOD : DOC_BADGE_BAD;
		snprintf(text, BADGE_LEN, "trust: %s with fresh seeds",
			 agrees ? "good, measured again"
				: "poor, measured again it is not the same");
	} else if (taken->source) {
		trust_reason(report, reason);
		snprintf(text, BADGE_LEN, "trust: fair, %s, not measured again", reason);
	} else if (taken->point->objectives[r->y_obj].runs) {
		tone = DOC_BADGE_BAD;
		snprintf(text, BADGE_LEN, "trust: poor, one run per point, noise unknown");
	} else {
		snprintf(text, BADGE_LEN, "computed, no noise");
	}
	return (struct doc_badge){ tone, text };
}

static void write_badges(struct doc *d, const struct report_model *report)
{
	char state[BADGE_LEN], data[BADGE_LEN], trust[BADGE_LEN];
	struct doc_badge list[3] = { state_badge(report, state), { DOC_BADGE_NEUTRAL, data } };
	size_t n = 2;

	snprintf(data, sizeof data, "%s data%s", report->data,
		 report->seeds_warning ? ", fixed seeds" : "");
	if (report->seeds_warning)
		list[1].tone = DOC_BADGE_BAD;
	if (report->recommendation && report->recommendation->recommended)
		list[n++] = trust_badge(report, trust);
	doc_badges(d, list, n);
}

/* ---- the recommendation ---- */

/* What digits go by: half of the interval, where there is one. */
static double choice_display_error(const struct report_choice *c)
{
	double error = (c->high - c->low) / 2;

	return error > 0 ? error : 2 * c->std_error;
}

/* " (95 %: 15.5 to 16.0, by the models; observed 15.5 %)" */
static void summary_write_interval(const struct report_objective *y, const struct report_choice *c,
				   double observed, struct dp_buf *out)
{
	double error = choice_display_error(c);
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (!c->source)
		return;
	dp_buf_printf(out, " (95 %%: %s to %s, by the %s",
		      format_objective_number(y, c->low, error, a),
		      format_objective_number(y, c->high, error, b), c->source);
	if (strcmp(format_objective_value(y, observed, error, a),
		   format_objective_value(y, c->value, error, b)) != 0)
		dp_buf_printf(out, "; observed %s", a);
	dp_buf_putc(out, ')');
}

/* What a point costs: rounded up, or to the digits that its runs leave. */
static const char *format_choice_cost(const struct report_model *report,
				      const struct report_choice *c, char out[FORMAT_LEN])
{
	size_t x = report->recommendation->x_obj;
	const struct report_spread *runs = c->point->objectives[x].runs;

	return format_objective_value(&report->objectives[x], c->cost,
				      runs ? 2 * runs->standard_error : 0, out);
}

/* "At epsilon 0.42 the error is 15.5 % (...)." */
static void summary_write_recommended(const struct report_model *report,
				      const struct report_recommendation *r, struct dp_buf *out)
{
	const struct report_objective *x = &report->objectives[r->x_obj],
				      *y = &report->objectives[r->y_obj];
	const struct report_choice *c = r->recommended;
	const struct dp_reeval_stats *m = choice_reevaluation(c);
	char a[FORMAT_LEN], b[FORMAT_LEN], v[FORMAT_LEN];

	dp_buf_printf(out, "At %s %s the %s is %s", x->name, format_choice_cost(report, c, a),
		      y->name, format_objective_value(y, c->value, choice_display_error(c), b));
	summary_write_interval(y, c, c->point->objectives[r->y_obj].value, out);
	dp_buf_printf(out, "%s%s.",
		      c->no_better ? ", no better than always guessing the commonest class" : "",
		      c->meaningless ? ", but such an epsilon is no meaningful guarantee" : "");
	if (m) {
		double error = (m->high[r->y_obj] - m->low[r->y_obj]) / 2;

		dp_buf_printf(out, " Measured again it is %s (%s to %s).",
			      format_objective_value(y, m->objectives[r->y_obj], error, v),
			      format_objective_number(y, m->low[r->y_obj], error, a),
			      format_objective_number(y, m->high[r->y_obj], error, b));
	}
}

/* What cannot see so small a difference, if anything. */
static void summary_write_resolution(const struct report_model *report,
				     const struct report_utility_gain *step, struct dp_buf *out)
{
	const struct report_objective *y = &report->objectives[report->recommendation->y_obj];
	bool runs = step->gain <= step->noise, test = step->gain <= step->sampling;
	double unit = y->share ? 100 : 1;
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (runs)
		dp_buf_printf(out, ", less than the %s can resolve (%s)",
			      report->optimism.runs == 1 ? "models" : "runs",
			      format_error(unit * step->noise, a));
	if (test)
		dp_buf_printf(out, "%s less than %.0f test records can (%s)", runs ? " and" : ",",
			      step->records, format_error(unit * step->sampling, b));
	if (!runs && !test)
		dp_buf_puts(out, isnan(step->noise) ? "; whether that is luck is not known"
						    : ", more than the noise");
}

static bool choice_costs_more(const struct report_objective *x, const struct report_choice *a,
			      const struct report_choice *b)
{
	return strcmp(x->goal, "maximize") == 0 ? a->cost < b->cost : a->cost > b->cost;
}

/* "Going up to epsilon 10 buys 0.3 percentage points, less than ..." */
static void summary_write_higher_cost(const struct report_model *report,
				      const struct report_recommendation *r, struct dp_buf *out)
{
	const struct report_objective *x = &report->objectives[r->x_obj],
				      *y = &report->objectives[r->y_obj];
	const struct report_choice *to = r->best_utility;
	char a[FORMAT_LEN], b[FORMAT_LEN];

	/* of three objectives the knee may cost more */
	if (choice_costs_more(x, r->recommended, to)) {
		dp_buf_printf(out, " At %s %s it is %s.", x->name,
			      format_choice_cost(report, to, a),
			      format_objective_value(y, to->value, choice_display_error(to), b));
		return;
	}
	dp_buf_printf(out, " Going %sto %s %s buys ",
		      strcmp(x->goal, "maximize") == 0 ? "down " : "up ", x->name,
		      format_choice_cost(report, to, a));
	if (r->gain_to_best->gain <= 0) {
		dp_buf_puts(out, "nothing.");
		return;
	}
	dp_buf_puts(out, format_objective_difference(y, r->gain_to_best->gain, 0, b));
	summary_write_resolution(report, r->gain_to_best, out);
	dp_buf_putc(out, '.');
}

/* What is recommended is the best: what does less cost? */
static void summary_write_lower_cost(const struct report_model *report,
				     const struct report_recommendation *r, struct dp_buf *out)
{
	const struct report_objective *x = &report->objectives[r->x_obj],
				      *y = &report->objectives[r->y_obj];
	const struct report_choice *from = r->cheaper_equivalent;
	char a[FORMAT_LEN], b[FORMAT_LEN], by[FORMAT_LEN];

	if (strcmp(x->kind, "privacy") == 0)
		dp_buf_printf(out, " No larger %s%s%s that was tested is better.", x->name,
			      r->best_over_limit ? " up to " : "",
			      r->best_over_limit ? format_objective_value(x, r->max_cost, 0, a)
						 : "");
	if (!from || !(r->gain_from_cheaper->gain > 0))
		return;
	dp_buf_printf(out, " At %s %s it is %s already: %s apart", x->name,
		      format_choice_cost(report, from, a),
		      format_objective_value(y, from->value, choice_display_error(from), b),
		      format_objective_difference(y, r->gain_from_cheaper->gain, 0, by));
	summary_write_resolution(report, r->gain_from_cheaper, out);
	dp_buf_putc(out, '.');
}

/* Why what is better still is not recommended. */
static void summary_write_over_limit(const struct report_model *report,
				     const struct report_recommendation *r, struct dp_buf *out)
{
	const struct report_objective *x = &report->objectives[r->x_obj],
				      *y = &report->objectives[r->y_obj];
	const struct report_choice *c = r->best_over_limit;
	char a[FORMAT_LEN], b[FORMAT_LEN], limit[FORMAT_LEN];

	dp_buf_printf(out, " Beyond %s %s%s the best is %s, at %s %s%s.", x->name,
		      format_objective_value(x, r->max_cost, 0, limit),
		      r->max_cost == x->anti_ideal ? ", the anti-ideal," : "",
		      format_objective_value(y, c->value, choice_display_error(c), a), x->name,
		      format_choice_cost(report, c, b),
		      c->meaningless ? ": no meaningful guarantee" : "");
}

/* How much better than a line the best of the front is, by the values told; NaN: it is
 * not. */
static double max_gain_over_line(const struct report_model *report,
				 const struct report_recommendation *r, double line)
{
	bool up = strcmp(report->objectives[r->y_obj].goal, "maximize") == 0;
	double most = NAN;

	for (size_t i = 0; i < r->nchoices; i++) {
		double by = up ? r->choices[i].value - line : line - r->choices[i].value;

		if (by > 0)
			most = fmax(by, isnan(most) ? by : most);
	}
	return most;
}

/* What of a difference to a line may be noise, of runs and test records. */
static double baseline_noise(const struct report_model *report,
			     const struct report_recommendation *r)
{
	double noise = isnan(r->recommended->std_error) ? 0 : 2 * r->recommended->std_error;

	for (size_t i = 0; i < report->optimism.nobjectives; i++) {
		const struct report_utility_trust *t = &report->optimism.objectives[i];

		if (strcmp(t->objective, report->objectives[r->y_obj].name) == 0 && t->sampling &&
		    !isnan(t->sampling->error))
			noise = fmax(noise, 2 * t->sampling->error);
	}
	return noise;
}

/* The lines of the picture: what guessing gives, and what no privacy does. */
static void summary_write_baselines(const struct report_model *report,
				    const struct report_recommendation *r, struct dp_buf *out)
{
	const struct report_objective *y = &report->objectives[r->y_obj];
	bool utility = report->utility_objective && strcmp(report->utility_objective, y->name) == 0;
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (report->majority && utility)
		dp_buf_printf(out, " Always guessing the commonest class: %s.",
			      format_objective_value(y, report->majority->value, 0, a));
	for (size_t i = 0; i < report->nbaselines && utility; i++) {
		double line = report->baselines[i].value,
		       beyond = max_gain_over_line(report, r, line);
		double noise = baseline_noise(report, r);

		dp_buf_printf(out, " %s: %s", report->baselines[i].label,
			      format_objective_value(y, line, 0, a));
		if (beyond > 0)
			dp_buf_printf(out, "; the front is better by %s, %s",
				      format_objective_difference(y, beyond, 0, b),
				      beyond <= noise ? "within the noise of runs and test set"
						      : "more than its noise: was that measured on "
							"the same records, and trained as well?");
		dp_buf_putc(out, '.');
	}
	if (report->nbaselines == 0 && utility && report->privacy_objective)
		dp_buf_puts(out, " Without privacy: not measured.");
}

void summary_write_recommendation(const struct report_model *report, struct dp_buf *out)
{
	const struct report_recommendation *r = report->recommendation;

	summary_write_recommended(report, r, out);
	if (r->gain_to_best)
		summary_write_higher_cost(report, r, out);
	else
		summary_write_lower_cost(report, r, out);
	if (r->best_over_limit)
		summary_write_over_limit(report, r, out);
	summary_write_baselines(report, r, out);
	if (strcmp(r->rule, "knee") == 0)
		dp_buf_puts(out, " With one run per point the noise of the best is not "
				 "known, so this is the front's knee, where more begins "
				 "to buy less.");
	if (report->nobjectives > 2)
		dp_buf_printf(out, " Of %zu objectives this weighs %s and %s only.",
			      report->nobjectives, report->objectives[r->x_obj].name,
			      report->objectives[r->y_obj].name);
}

/* ---- three points ---- */

/* "strict", "recommended and loose": what the row stands for that begins here; NULL: it
 * was told already. */
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

static void choice_cells(struct doc *d, const struct report_model *report,
			 const struct report_choice *c)
{
	const struct report_recommendation *r = report->recommendation;
	struct dp_buf settings = DP_BUF_INIT;
	char a[FORMAT_LEN], b[FORMAT_LEN], point[RESULT_NAME_LEN];

	doc_cell(d, "%s", result_format_name(c->trial, c->at, point));
	for (size_t i = 0; i < report->nobjectives; i++) {
		const struct report_objective *o = &report->objectives[i];
		bool shown = i == r->y_obj;

		doc_cell(d, "%s%s%s",
			 format_objective_number(o,
						 shown ? c->value : c->point->objectives[i].value,
						 shown ? choice_display_error(c) : 0, a),
			 i == r->x_obj && c->meaningless ? " (no meaningful guarantee)" : "",
			 shown && c->no_better ? " (as guessing)" : "");
		if (!shown)
			continue;
		if (c->source)
			doc_cell(d, "%s to %s",
				 format_objective_number(o, c->low, choice_display_error(c), a),
				 format_objective_number(o, c->high, choice_display_error(c), b));
		else
			doc_cell(d, "-");
	}
	format_parameter_list(c->point->parameters, &settings);
	doc_cell(d, "%s", dp_buf_text(&settings));
	dp_buf_free(&settings);
}

static void choice_table(struct doc *d, const struct report_model *report)
{
	const struct report_recommendation *r = report->recommendation;
	char name[BADGE_LEN];

	doc_table_begin(d);
	doc_caption(d, "Points to take");
	doc_column(d, "take", false);
	doc_column(d, "trial", true);
	for (size_t i = 0; i < report->nobjectives; i++) {
		table_add_value_column(d, &report->objectives[i], report->objectives[i].name);
		if (i == r->y_obj)
			doc_column(d, "95 %", true);
	}
	doc_column(d, "settings", false);
	for (size_t i = 0; i < r->nchoices; i++) {
		if (!format_choice_names(r, i, name))
			continue;
		doc_cell(d, "%s", name);
		choice_cells(d, report, &r->choices[i]);
	}
	doc_table_end(d);
}

/* One for each row, those that are not recommended in a fold. */
static void choice_commands(struct doc *d, const struct report_model *report)
{
	const struct report_recommendation *r = report->recommendation;
	struct dp_buf others = DP_BUF_INIT;
	char name[BADGE_LEN];

	doc_code(d, "sh", r->recommended->command);
	for (size_t i = 0; i < r->nchoices; i++)
		if (r->choices[i].point != r->recommended->point && format_choice_names(r, i, name))
			dp_buf_printf(&others, "# %s\n%s\n", name, r->choices[i].command);
	if (others.len) {
		doc_folded_box(d, "Commands that train the others");
		doc_code(d, "sh", dp_buf_text(&others));
		doc_box_end(d);
	}
	dp_buf_free(&others);
}

/* ---- all of it ---- */

/* The picture that belongs here; NULL: it was not drawn. */
static const struct rendered_figure *find_first_screen_figure(const struct report_model *report)
{
	for (size_t i = 0; i < report->nfigures; i++)
		if (report->figures[i].figure->on_first_screen &&
		    rendered_figure_is_drawn(&report->figures[i]))
			return &report->figures[i];
	return NULL;
}

static void summary_write_unfinished(struct doc *d, const struct report_model *report)
{
	const struct report_study *s = &report->study;

	if (*s->reason)
		doc_warning(d, "Why it is %s: %s.", s->state, s->reason);
	if (strcmp(s->state, "running") == 0 || strcmp(s->state, "paused") == 0)
		doc_warning(d, "The study has not ended%s%.19s%s.",
			    report->reproduce.updated ? ": this is what was known at " : "",
			    report->reproduce.updated ? report->reproduce.updated : "",
			    report->reproduce.updated ? "Z" : "");
}

/* A study without a front: why, and nothing else. */
static void summary_write_no_front(struct doc *d, const struct report_model *report)
{
	doc_paragraph(d, "%s, so there is no front.",
		      report->optimism.chosen_from
			      ? "No result meets the constraints with finite values"
			      : "No trial has given a result");
	if (report->failures.ngroups)
		write_failure_list(d, report);
}

void write_summary(struct doc *d, const struct report_model *report)
{
	const struct rendered_figure *front = find_first_screen_figure(report);

	doc_box(d, "first");
	write_badges(d, report);
	if (report->seeds_warning)
		doc_warning(d, "%s", report->seeds_warning);
	summary_write_unfinished(d, report);
	if (!report->recommendation || !report->recommendation->recommended) {
		summary_write_no_front(d, report);
		doc_box_end(d);
		return;
	}
	doc_box(d, "lead");
	doc_paragraph(d, "%s", report->recommendation->sentence);
	doc_box_end(d);
	if (front)
		write_figure(d, front);
	choice_table(d, report);
	write_search_cost(d, report);
	choice_commands(d, report);
	doc_box_end(d);
}
