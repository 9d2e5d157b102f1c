/* section_epsilon_levels.c - what each level of epsilon buys. */
#include "reports/text/report_format.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

void table_add_range_cell(struct doc *d, const struct report_objective *o,
			  const struct report_spread *runs)
{
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (runs && runs->runs > 1 && !isnan(runs->least))
		doc_cell(d, "%s to %s",
			 format_objective_number(o, runs->least, runs->standard_error, a),
			 format_objective_number(o, runs->most, runs->standard_error, b));
	else
		doc_cell(d, "-");
}

/* The objective that rows are of. */
static const struct report_objective *find_utility_objective(const struct report_model *report)
{
	for (size_t i = 0; i < report->nobjectives; i++)
		if (strcmp(report->objectives[i].name, report->utility_objective) == 0)
			return &report->objectives[i];
	return &report->objectives[0];
}

/* The standard error of a row's value by its runs; NaN: unknown. */
static double epsilon_level_std_error(const struct report_epsilon_level *row)
{
	return row->runs ? row->runs->standard_error : NAN;
}

static void write_epsilon_level_row(struct doc *d, const struct report_model *report,
				    const struct report_epsilon_level *row)
{
	const struct report_objective *o = find_utility_objective(report);
	bool none = row->trial < 0;
	char s[FORMAT_LEN], point[RESULT_NAME_LEN];

	doc_cell(d, "%s", format_short(row->epsilon, s));
	doc_cell(d, "%s%s",
		 none ? "none"
		      : format_objective_number(o, row->value, epsilon_level_std_error(row), s),
		 row->no_better ? " (as the commonest class)" : "");
	if (report->study.uses_smoothed_front)
		doc_cell(d, "%s",
			 format_objective_number(o, row->runs ? row->runs->mean : NAN,
						 epsilon_level_std_error(row), s));
	table_add_range_cell(d, o, row->runs);
	doc_cell(d, "%s", format_rounded_up(row->spent, s));
	doc_cell(d, "%s", none ? "-" : result_format_name(row->trial, row->at, point));
}

static void write_epsilon_levels_table(struct doc *d, const struct report_model *report)
{
	doc_table_begin(d);
	doc_caption(d, "The best utility with epsilon at most so much");
	doc_column(d, "epsilon at most", true);
	table_add_value_column(d, find_utility_objective(report), report->utility_objective);
	if (report->study.uses_smoothed_front)
		doc_column(d, "as observed", true);
	doc_column(d, "least to most of the runs", true);
	doc_column(d, "epsilon spent", true);
	doc_column(d, "trial", true);
	for (size_t i = 0; i < report->study.epsilon_levels.n; i++)
		write_epsilon_level_row(d, report, &report->study.epsilon_levels.list[i]);
	doc_table_end(d);
}

/* Twice the standard error of the difference of two rows by their runs; NaN: unknown. */
static double epsilon_level_resolution(const struct report_epsilon_level *a,
				       const struct report_epsilon_level *b)
{
	return 2 * hypot(epsilon_level_std_error(a), epsilon_level_std_error(b));
}

/* Is the difference more than the noise of the runs explains? */
static bool epsilon_levels_differ(const struct report_epsilon_level *a,
				  const struct report_epsilon_level *b)
{
	return fabs(a->value - b->value) > epsilon_level_resolution(a, b);
}

static bool epsilon_levels_same_result(const struct report_epsilon_level *a,
				       const struct report_epsilon_level *b)
{
	return a->trial == b->trial && a->at == b->at;
}

/* What the noise lets one see of the difference. `enough` is the first row that cannot be
 * told from the last. */
static void append_level_resolution(struct dp_buf *out, const struct report_objective *o,
				    const struct report_epsilon_level *first,
				    const struct report_epsilon_level *enough,
				    const struct report_epsilon_level *last)
{
	char by[FORMAT_LEN], noise[FORMAT_LEN], from[FORMAT_LEN];

	dp_buf_printf(out, " They differ by %s",
		      format_objective_difference(o, fabs(first->value - last->value),
						  epsilon_level_resolution(first, last) / 2, by));
	if (isnan(epsilon_level_resolution(first, last))) {
		dp_buf_puts(out, "; whether that is more than luck is not known, since "
				 "nothing is known of the noise of one run.");
		return;
	}
	dp_buf_printf(
		out, "; two standard errors of that by the runs are %s, so ",
		format_objective_difference(o, epsilon_level_resolution(first, last), 0, noise));
	if (!epsilon_levels_differ(first, last))
		dp_buf_puts(out, "these runs do not show that more epsilon buys anything.");
	else
		dp_buf_puts(out, "it is more than their noise.");
	if (enough != first && !epsilon_levels_same_result(enough, last))
		dp_buf_printf(out,
			      " What is reached with at most %s cannot be told from what "
			      "is reached with more.",
			      format_short(enough->epsilon, from));
}

/* What more epsilon buys. */
static void write_epsilon_levels_summary(struct doc *d, const struct report_model *report)
{
	const struct report_epsilon_levels *all = &report->study.epsilon_levels;
	const struct report_objective *o = find_utility_objective(report);
	const struct report_epsilon_level *first = NULL, *enough = NULL, *last = NULL;
	char a[FORMAT_LEN], b[FORMAT_LEN], from[FORMAT_LEN], to[FORMAT_LEN];
	struct dp_buf noise = DP_BUF_INIT;

	for (size_t i = 0; i < all->n; i++) {
		if (all->list[i].trial < 0)
			continue;
		first = first ? first : &all->list[i];
		last = &all->list[i];
	}
	if (!first) {
		doc_paragraph(d, "No trial has an epsilon of 10 or less.");
		return;
	}
	if (epsilon_levels_same_result(first, last)) {
		doc_paragraph(
			d, "The best %s with an epsilon of %s or less is %s.",
			report->utility_objective, format_short(last->epsilon, to),
			format_objective_value(o, last->value, epsilon_level_std_error(last), a));
		return;
	}
	for (enough = first; epsilon_levels_differ(enough, last);)
		enough++;
	append_level_resolution(&noise, o, first, enough, last);
	doc_paragraph(d,
		      "With an epsilon of at most %s the best %s found is %s%s; "
		      "allowing %s it is %s.%s%s",
		      format_short(first->epsilon, from), report->utility_objective,
		      format_objective_value(o, first->value, epsilon_level_std_error(first), a),
		      first->no_better ? ", no better than the commonest class" : "",
		      format_short(last->epsilon, to),
		      format_objective_value(o, last->value, epsilon_level_std_error(last), b),
		      dp_buf_text(&noise),
		      report->nbaselines ? ""
					 : " What a training without privacy reaches is not "
					   "known here (--baseline tells the report).");
	dp_buf_free(&noise);
}

static void write_best_values(struct doc *d, const struct report_model *report)
{
	char s[FORMAT_LEN], point[RESULT_NAME_LEN];

	for (size_t i = 0; i < report->nbests; i++)
		doc_labelled_item(
			d, report->bests[i].objective, "at best %s, in trial %s",
			report->bests[i].is_privacy ? format_rounded_up(report->bests[i].value, s)
						    : format_short(report->bests[i].value, s),
			result_format_name(report->bests[i].trial, report->bests[i].at, point));
}

/* What guessing gives, and who does no better. */
static void write_majority_class(struct doc *d, const struct report_model *report)
{
	const struct report_majority_class *m = report->majority;
	char s[FORMAT_LEN], points[DP_PLURAL_LEN];

	if (!m)
		return;
	format_objective_value(find_utility_objective(report), m->value, 0, s);
	if (m->no_better == 0)
		doc_paragraph(d,
			      "Always answering the commonest class gives %s; every "
			      "point of the front is better, by more than two standard "
			      "errors of its runs.",
			      s);
	else
		doc_paragraph(d,
			      "Always answering the commonest class gives %s. That is as "
			      "good as %lld of %s of the front: %s not better by more "
			      "than two standard errors of %s runs, and of no use as far "
			      "as %s goes.",
			      s, (long long)m->no_better,
			      dp_plural_text(report->nfront, "point", points),
			      m->no_better == 1 ? "it is" : "they are",
			      m->no_better == 1 ? "its" : "their", report->utility_objective);
}

static void write_smoothing_note(struct doc *d, const struct report_model *report)
{
	if (report->study.uses_smoothed_front)
		doc_paragraph(d, "The front and these values are what models of all "
				 "results leave when the noise of the runs is taken out: "
				 "a front of observed means is a front of lucky runs.");
}

void write_epsilon_levels(struct doc *d, const struct report_model *report)
{
	if (report->study.epsilon_levels.n > 0) {
		write_epsilon_levels_summary(d, report);
		write_smoothing_note(d, report);
		write_epsilon_levels_table(d, report);
	} else {
		write_smoothing_note(d, report);
		write_best_values(d, report);
	}
	write_majority_class(d, report);
}
