/* sections.h - the sections of a report's text, in their order. */
#ifndef DP_REPORTS_TEXT_SECTIONS_H
#define DP_REPORTS_TEXT_SECTIONS_H
#include "reports/model/report_model.h"
#include "reports/text/doc.h"

/* First screen: recommendation, figure, table of three points (summary.c). */
void write_summary(struct doc *d, const struct report_model *report);
/* The three fronts, and a table of every point (section_front.c). */
void write_front(struct doc *d, const struct report_model *report);
/* The best utility at each level of epsilon (section_epsilon_levels.c). */
void write_epsilon_levels(struct doc *d, const struct report_model *report);
/* The figures of one chapter; all figures without chapters; one figure (section_figures.c). */
void write_chapter(struct doc *d, const struct report_model *report, enum figure_chapter chapter);
void write_figures(struct doc *d, const struct report_model *report);
void write_all_figures(struct doc *d, const struct report_model *report);
void write_figure(struct doc *d, const struct rendered_figure *p);
/* The total privacy loss, which the front does not show; the same in one line
 * (section_publishing.c). */
void write_publishing_cost(struct doc *d, const struct report_model *report);
void write_search_cost(struct doc *d, const struct report_model *report);
/* Selection bias (section_trust.c). */
void write_selection_bias(struct doc *d, const struct report_model *report);
/* Assumptions behind every epsilon (section_privacy.c). */
void write_assumptions(struct doc *d, const struct report_model *report);
/* The privacy statement, and how those of other points differ (section_statements.c). */
void write_statements(struct doc *d, const struct report_model *report);
/* Settings; failed attempts, with and without a section of their own; resources; reproduction
 * (section_study.c). */
void write_settings(struct doc *d, const struct report_model *report);
void write_failures(struct doc *d, const struct report_model *report);
void write_failure_list(struct doc *d, const struct report_model *report);
void write_resources(struct doc *d, const struct report_model *report);
void write_reproduce(struct doc *d, const struct report_model *report);

/* The whole report of a private selection (selection_report.c). */
void write_selection(struct doc *d, const struct report_model *report);
/* Title and text of a group report (groups_report.c). */
void groups_report_title(const struct report_model *report, struct dp_buf *out);
void write_groups(struct doc *d, const struct report_model *report);

/* Adds a column for values of an objective: "error, %" (section_epsilon_levels.c). */
void table_add_value_column(struct doc *d, const json_t *objective, const char *title);
/* Adds a cell with the range over runs, "0.17 to 0.19", or "-" if unknown. `runs` may be NULL
 * (section_epsilon_levels.c). */
void table_add_range_cell(struct doc *d, const json_t *objective, const json_t *runs);

#endif
