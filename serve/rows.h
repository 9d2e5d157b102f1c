/* rows.h - the rows of a study's trials, compact: each row as the text that answers have,
 * and beside it the columns that tables sort and filter by and pictures are drawn from.
 * A row takes about a fifth of what it takes as a json_t.
 *
 * Whoever fills them is alone with them; afterwards nothing changes them, and any thread
 * may read. */
#ifndef DP_SERVE_ROWS_H
#define DP_SERVE_ROWS_H
#include "base/base.h"
#include <jansson.h>

struct rows;

/* With one reference; NULL without memory. */
struct rows *rows_new(void);
struct rows *rows_ref(struct rows *r);
/* Lets go of a reference; NULL is fine. */
void rows_unref(struct rows *r);
/* Appends a row of `trials`; false without memory. */
DP_MUSTCHECK bool rows_append(struct rows *r, const json_t *row);
/* All of a list; NULL without memory. */
struct rows *rows_from_json(const json_t *list);
/* Gives back memory that was kept for more rows. */
void rows_trim(struct rows *r);

size_t rows_count(const struct rows *r);
/* Of memory that the rows fill. */
size_t rows_bytes(const struct rows *r);
const char *rows_text(const struct rows *r, size_t i, size_t *len);

enum rows_kind {
	ROWS_NONE, /* null, or not there */
	ROWS_NUMBER,
	ROWS_WORD,
	ROWS_TRUTH, /* number: 0 or 1 */
};

struct rows_cell {
	enum rows_kind kind;
	double number;
	const char *word; /* also of a number that is not finite: "inf"; else NULL */
};

/* A column: `part` is "objectives", "parameters" or NULL for the row's own. -1: no row
 * has it. */
int rows_column(const struct rows *r, const char *part, const char *name);
/* ROWS_NONE of column -1. */
struct rows_cell rows_cell(const struct rows *r, size_t i, int column);

#endif
