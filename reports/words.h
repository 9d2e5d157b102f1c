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
/* "" or "s". */
const char *plural_end(int64_t n);

/* A cell with "0.17 to 0.19"; "-" of a single run and where that is not kept. */
void spread_cell(struct doc *d, const struct fact_spread *runs);

/* ---- chapters ---- */

/* The state, and what there is to choose from (text_short.c). */
void write_headline(struct doc *d, const struct facts *f);

/* ---- of text_privacy.c ---- */

/* What the search cost, and that the front does not show it. */
void write_warning(struct doc *d, const struct facts *f);
/* What noise on utilities covers (release.c). */
void write_released(struct doc *d, const struct fact_released *f);
/* How far the best of many noisy values can be trusted. */
void write_optimism(struct doc *d, const struct facts *f);
/* What every epsilon rests on. */
void write_assumptions(struct doc *d, const struct facts *f);
/* A statement to copy for each point. */
void write_statements(struct doc *d, const struct facts *f);

/* The figures, each with its caption (text.c). */
void write_figures(struct doc *d, const struct facts *f);

/* ---- of text_groups.c ---- */

/* What the report is called. */
void groups_title(const struct facts *f, struct dp_buf *out);
/* All of a report of groups. */
void write_groups(struct doc *d, const struct facts *f);

/* All of the report of a private selection (selection.c). */
void write_selection(struct doc *d, const struct facts *f);

#endif
