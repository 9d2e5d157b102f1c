/* trial_rows.h - a compact table of a study's trials.
 *
 * Keeps each row as JSON text, plus columns for sorting, filters and figures. A row takes about a
 * fifth of the memory of its json_t. One thread fills a table; after that it is constant and any
 * thread may read it. Reference counted: trial_rows_new() returns one reference. */
#ifndef DP_SERVE_DATA_TRIAL_ROWS_H
#define DP_SERVE_DATA_TRIAL_ROWS_H
#include "base/base.h"
#include <jansson.h>

struct trial_rows;

struct trial_rows *trial_rows_new(void);
struct trial_rows *trial_rows_ref(struct trial_rows *r);
void trial_rows_unref(struct trial_rows *r);
/* Appends a row of `trials`. The caller keeps trial_rows_memory_bytes() below 4 GiB. */
void trial_rows_append(struct trial_rows *r, const json_t *row);
struct trial_rows *trial_rows_from_json(const json_t *list);
void trial_rows_trim(struct trial_rows *r);

size_t trial_rows_count(const struct trial_rows *r);
size_t trial_rows_memory_bytes(const struct trial_rows *r);
const char *trial_rows_get_text(const struct trial_rows *r, size_t i, size_t *len);

enum trial_cell_kind {
	CELL_NONE, /* null or absent */
	CELL_NUMBER,
	CELL_STRING,
	CELL_BOOL, /* number: 0 or 1 */
};

struct trial_cell {
	enum trial_cell_kind kind;
	double number;
	const char *string; /* also for numbers that are not finite ("inf"); else NULL */
};

/* Finds a column. part: "objectives", "parameters" or NULL for the row's own members. -1: not
 * found. */
int trial_rows_find_column(const struct trial_rows *r, const char *part, const char *name);
/* Returns a value; CELL_NONE for column -1. */
struct trial_cell trial_rows_get_cell(const struct trial_rows *r, size_t i, int column);

#endif
