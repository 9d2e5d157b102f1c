/* table.h - the rows of a study's trials as a page shows them: filtered, sorted, a part.
 *
 * Columns are `trial`, `state`, `source`, `attempts`, `seconds`, `started`, `ended`, and
 * the study's objectives and parameters by their names; "objectives.x" and "parameters.x"
 * where a name is both. */
#ifndef DP_SERVE_TABLE_H
#define DP_SERVE_TABLE_H
#include "serve/ask.h"
#include "serve/http.h"
#include "serve/rows.h"

/* Is a part of the table asked for, or an order? Without either it is all of it. */
bool table_asked(const struct http_request *q);
/* Is it a part of all rows in the order of their numbers? */
bool table_is_plain(const struct http_request *q);
/* What such a query asks for. */
DP_MUSTCHECK int table_plain_part(const struct http_request *q, struct ask_part *out,
				  struct dp_err *err);
/* Appends the answer to it, as table_part() does. */
DP_MUSTCHECK int table_put_plain(const json_t *rows, const struct ask_part *part, int64_t total,
				 int64_t version, struct dp_buf *out, struct dp_err *err);
/* Appends {"trials":[...],"total":N,"from":F,"version":V}: total are those that the
 * filters leave; version: of the rows, -1: not known. */
DP_MUSTCHECK int table_part(const struct rows *rows, const struct http_request *q, int64_t version,
			    struct dp_buf *out, struct dp_err *err);

#endif
