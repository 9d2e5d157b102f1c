/* trial_rows.h - the rows of a study's trials, compact: each row as the text that answers have,
 * and beside it the columns that tables sort and filter by and pictures are drawn from.
 * A row takes about a fifth of what it takes as a json_t.
 *
 * Whoever fills them is alone with them; afterwards nothing changes them, and any thread
 * may read. */
#ifndef DP_SERVE_DATA_TRIAL_ROWS_H
#define DP_SERVE_DATA_TRIAL_ROWS_H
#include "base/base.h"
#include <jansson.h>

struct trial_rows;

/* With one reference. */
struct trial_rows *trial_rows_new(void);
struct trial_rows *trial_rows_ref(struct trial_rows *r);
/* Lets go of a reference; NULL is fine. */
void trial_rows_unref(struct trial_rows *r);
/* Appends a row of `trials`. The caller keeps what trial_rows_memory_bytes() says below 4 GiB. */
void trial_rows_append(struct trial_rows *r, const json_t *row);
/* All of a list. */
struct trial_rows *trial_rows_from_json(const json_t *list);
/* Gives back memory that was kept for more rows. */
void trial_rows_trim(struct trial_rows *r);

size_t trial_rows_count(const struct trial_rows *r);
/* Of memory that the rows fill. */
size_t trial_rows_memory_bytes(const struct trial_rows *r);
const char *trial_rows_get_text(const struct trial_rows *r, size_t i, size_t *len);

enum trial_cell_kind {
	CELL_NONE, /* null, or not there */
	CELL_NUMBER,
	CELL_STRING,
	CELL_BOOL, /* number: 0 or 1 */
};

struct trial_cell {
	enum trial_cell_kind kind;
	double number;
	const char *string; /* also of a number that is not finite: "inf"; else NULL */
};

/* A column: `part` is "objectives", "parameters" or NULL for the row's own. -1: no row has it. */
int trial_rows_find_column(const struct trial_rows *r, const char *part, const char *name);
/* CELL_NONE of column -1. */
struct trial_cell trial_rows_get_cell(const struct trial_rows *r, size_t i, int column);

#endif
