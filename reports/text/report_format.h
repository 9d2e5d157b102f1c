/* report_format.h - numbers as words, and the chapters of a report's text. */
#ifndef DP_REPORTS_TEXT_REPORT_FORMAT_H
#define DP_REPORTS_TEXT_REPORT_FORMAT_H
#include "reports/text/report_document.h"

enum {
	FORMAT_LEN = 48
};

/* Four digits for people; "-" for what is not known. */
const char *format_short(double x, char out[FORMAT_LEN]);
/* To the digits that a standard error leaves; four where it is unknown. */
const char *format_with_error(double x, double error, char out[FORMAT_LEN]);
/* Two digits, for an error itself. */
const char *format_error(double x, char out[FORMAT_LEN]);
/* Four digits, rounded up, for epsilon. */
const char *format_rounded_up(double x, char out[FORMAT_LEN]);
/* A value of an objective: to the digits that a standard error leaves, epsilon rounded
 * up; shares as percent, but without the sign that format_objective_value() has. */
const char *format_objective_number(const struct report_objective *o, double x, double error,
				    char out[FORMAT_LEN]);
const char *format_objective_value(const struct report_objective *o, double x, double error,
				   char out[FORMAT_LEN]);
/* A difference of two: "0.3 percentage points", "0.003". */
const char *format_objective_difference(const struct report_objective *o, double x, double error,
					char out[FORMAT_LEN]);
/* A column of its values, "error, %". */
void table_add_value_column(struct doc *d, const struct report_objective *o, const char *title);
/* "epochs 4, clip 0.5" */
void format_parameter_list(json_t *parameters, struct dp_buf *out);
/* ": no meaningful guarantee" of so large an epsilon, else "". */
const char *guarantee_note(double epsilon);
/* "" or "s". */
const char *plural_suffix(int64_t n);

/* A cell with "0.17 to 0.19"; "-" of a single run and where that is not kept. */
void table_add_range_cell(struct doc *d, const struct report_objective *o,
			  const struct report_spread *runs);

/* ---- chapters ---- */

/* What a board reads: the recommendation, its picture, three points (summary.c). */
void write_summary(struct doc *d, const struct report_model *report);

/* ---- of section_front.c ---- */

/* What there is to choose from, and every point of it. */
void write_front(struct doc *d, const struct report_model *report);
/* The figures that answer one question each. */
void write_figures(struct doc *d, const struct report_model *report);
/* All of them, without chapters. */
void write_all_figures(struct doc *d, const struct report_model *report);
/* One of them. */
void write_figure(struct doc *d, const struct rendered_figure *p);

/* What each level of epsilon buys (section_epsilon_levels.c). */
void write_epsilon_levels(struct doc *d, const struct report_model *report);

/* ---- of section_privacy.c ---- */

/* What the search cost, and that the front does not show it. */
void write_publishing_cost(struct doc *d, const struct report_model *report);
/* The same in a line. */
void write_search_cost(struct doc *d, const struct report_model *report);
/* What noise on utilities covers (release.c). */
void write_release_cost(struct doc *d, const struct report_release_cost *f);
/* How far the best of many noisy values can be trusted. */
void write_selection_bias(struct doc *d, const struct report_model *report);
/* What every epsilon rests on. */
void write_assumptions(struct doc *d, const struct report_model *report);

/* A statement to copy, and how those of other points differ (section_statements.c). */
void write_statements(struct doc *d, const struct report_model *report);

/* Attempts that did not end well (text.c). */
void write_failure_list(struct doc *d, const struct report_model *report);

/* ---- of groups_report.c ---- */

/* What the report is called. */
void groups_report_title(const struct report_model *report, struct dp_buf *out);
/* All of a report of groups. */
void write_groups(struct doc *d, const struct report_model *report);

/* All of the report of a private selection (selection.c). */
void write_selection(struct doc *d, const struct report_model *report);

#endif
