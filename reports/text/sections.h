/* sections.h - the sections of a report's text, in their order. */
#ifndef DP_REPORTS_TEXT_SECTIONS_H
#define DP_REPORTS_TEXT_SECTIONS_H
#include "reports/model/report_model.h"
#include "reports/text/doc.h"

/* The first screen: the recommendation, its picture, three points (summary.c). */
void write_summary(struct doc *d, const struct report_model *report);
/* What there is to choose from, and every point of it (section_front.c). */
void write_front(struct doc *d, const struct report_model *report);
/* What each level of epsilon buys (section_epsilon_levels.c). */
void write_epsilon_levels(struct doc *d, const struct report_model *report);
/* The figures that answer one question each; all of them, without chapters; one of them
 * (section_figures.c). */
void write_chapter(struct doc *d, const struct report_model *report, enum figure_chapter chapter);
void write_figures(struct doc *d, const struct report_model *report);
void write_all_figures(struct doc *d, const struct report_model *report);
void write_figure(struct doc *d, const struct rendered_figure *p);
/* What the search cost, and that the front does not show it; the same in a line
 * (section_publishing.c). */
void write_publishing_cost(struct doc *d, const struct report_model *report);
void write_search_cost(struct doc *d, const struct report_model *report);
/* How far the best of many noisy values can be trusted (section_trust.c). */
void write_selection_bias(struct doc *d, const struct report_model *report);
/* What every epsilon rests on (section_privacy.c). */
void write_assumptions(struct doc *d, const struct report_model *report);
/* A statement to copy, and how those of other points differ (section_statements.c). */
void write_statements(struct doc *d, const struct report_model *report);
/* Settings; attempts that did not end well, also without a section of their own; resources;
 * how to reproduce it (section_study.c). */
void write_settings(struct doc *d, const struct report_model *report);
void write_failures(struct doc *d, const struct report_model *report);
void write_failure_list(struct doc *d, const struct report_model *report);
void write_resources(struct doc *d, const struct report_model *report);
void write_reproduce(struct doc *d, const struct report_model *report);

/* All of the report of a private selection (selection_report.c). */
void write_selection(struct doc *d, const struct report_model *report);
/* The title and all of a report of groups (groups_report.c). */
void groups_report_title(const struct report_model *report, struct dp_buf *out);
void write_groups(struct doc *d, const struct report_model *report);

/* A column with values of an objective, "error, %" (section_epsilon_levels.c). */
void table_add_value_column(struct doc *d, const json_t *objective, const char *title);
/* A cell with "0.17 to 0.19"; "-" of a single run and where that is not kept; `runs` may be
 * NULL (section_epsilon_levels.c). */
void table_add_range_cell(struct doc *d, const json_t *objective, const json_t *runs);

#endif
