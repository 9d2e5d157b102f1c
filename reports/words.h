/* words.h - facts as words: what the chapters of a report's text share. */
#ifndef DP_WORDS_H
#define DP_WORDS_H
#include "reports/text.h"

enum {
	SHORT_LEN = 48
};

/* A member of a fact, NULL if it has none. */
const json_t *fact(const json_t *o, const char *key);
double fact_number(const json_t *o, const char *key); /* NaN: unknown */
int64_t fact_count(const json_t *o, const char *key);
const char *fact_text(const json_t *o, const char *key); /* "": none */

/* Four digits for people; "-" for what is not known. */
const char *short_text(double x, char out[SHORT_LEN]);
/* The same, rounded up, for epsilon. */
const char *up_text(double x, char out[SHORT_LEN]);
/* "" or "s". */
const char *plural(int64_t n);
/* A JSON value in a table: a text without quotes, else four digits. */
void value_cell(struct doc *d, const json_t *v);

/* ---- chapters of text_privacy.c ---- */

/* What the search cost, and that the front does not show it. */
void write_warning(struct doc *d, const json_t *facts);
/* How far the best of many noisy values can be trusted. */
void write_optimism(struct doc *d, const json_t *facts);
/* What every epsilon rests on. */
void write_assumptions(struct doc *d, const json_t *facts);
/* A statement to copy for each point. */
void write_statements(struct doc *d, const json_t *facts);

#endif
