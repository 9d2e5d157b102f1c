/* words.h - numbers as words, and the chapters of a report's text. */
#ifndef DP_WORDS_H
#define DP_WORDS_H
#include "reports/text.h"

enum {
	SHORT_LEN = 48
};

/* Four digits for people; "-" for what is not known. */
const char *short_text(double x, char out[SHORT_LEN]);
/* To the digits that a standard error leaves; four where it is unknown. */
const char *measured_text(double x, double error, char out[SHORT_LEN]);
/* Two digits, for an error itself. */
const char *error_text(double x, char out[SHORT_LEN]);
/* Four digits, rounded up, for epsilon. */
const char *up_text(double x, char out[SHORT_LEN]);
/* A value of an objective: to the digits that a standard error leaves, epsilon rounded
 * up; shares as percent, but without the sign that objective_text() has. */
const char *amount_text(const struct fact_objective *o, double x, double error,
			char out[SHORT_LEN]);
const char *objective_text(const struct fact_objective *o, double x, double error,
			   char out[SHORT_LEN]);
/* A difference of two: "0.3 percentage points", "0.003". */
const char *difference_text(const struct fact_objective *o, double x, double error,
			    char out[SHORT_LEN]);
/* A column of its values, "error, %". */
void value_column(struct doc *d, const struct fact_objective *o, const char *title);
/* "epochs 4, clip 0.5" */
void settings_text(json_t *parameters, struct dp_buf *out);
/* ": no meaningful guarantee" of so large an epsilon, else "". */
const char *no_guarantee(double epsilon);
/* "" or "s". */
const char *plural_end(int64_t n);

/* A cell with "0.17 to 0.19"; "-" of a single run and where that is not kept. */
void spread_cell(struct doc *d, const struct fact_objective *o, const struct fact_spread *runs);

/* ---- chapters ---- */

/* What a board reads: the recommendation, its picture, three points (text_first.c). */
void write_first(struct doc *d, const struct facts *f);

/* ---- of text_front.c ---- */

/* What there is to choose from, and every point of it. */
void write_front(struct doc *d, const struct facts *f);
/* The figures that answer one question each. */
void write_figures(struct doc *d, const struct facts *f);
/* All of them, without chapters. */
void write_all_figures(struct doc *d, const struct facts *f);
/* One of them. */
void write_figure(struct doc *d, const struct picture *p);

/* What each level of epsilon buys (text_short.c). */
void write_headline(struct doc *d, const struct facts *f);

/* ---- of text_privacy.c ---- */

/* What the search cost, and that the front does not show it. */
void write_warning(struct doc *d, const struct facts *f);
/* The same in a line. */
void say_search_cost(struct doc *d, const struct facts *f);
/* What noise on utilities covers (release.c). */
void write_released(struct doc *d, const struct fact_released *f);
/* How far the best of many noisy values can be trusted. */
void write_optimism(struct doc *d, const struct facts *f);
/* What every epsilon rests on. */
void write_assumptions(struct doc *d, const struct facts *f);

/* A statement to copy, and how those of other points differ (text_statements.c). */
void write_statements(struct doc *d, const struct facts *f);

/* Attempts that did not end well (text.c). */
void say_failures(struct doc *d, const struct facts *f);

/* ---- of text_groups.c ---- */

/* What the report is called. */
void groups_title(const struct facts *f, struct dp_buf *out);
/* All of a report of groups. */
void write_groups(struct doc *d, const struct facts *f);

/* All of the report of a private selection (selection.c). */
void write_selection(struct doc *d, const struct facts *f);

#endif
