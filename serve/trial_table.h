/* trial_table.h - the rows of a study's trials as a page shows them: filtered, sorted, a part.
 *
 * Columns are `trial`, `state`, `source`, `attempts`, `seconds`, `started`, `ended`, and
 * the study's objectives and parameters by their names; "objectives.x" and "parameters.x"
 * where a name is both. */
#ifndef DP_SERVE_TRIAL_TABLE_H
#define DP_SERVE_TRIAL_TABLE_H
#include "serve/data/daemon_client.h"
#include "serve/http/http_message.h"
#include "serve/data/trial_rows.h"

/* Is it a part of all rows in the order of their numbers? */
bool trial_table_is_unfiltered(const struct http_request *q);
/* What such a query asks for. */
DP_MUSTCHECK int trial_table_parse_page(const struct http_request *q, struct trial_page *out,
					struct dp_err *err);
/* Appends the answer to it, as trial_table_write_query() does. */
void trial_table_write_page(const json_t *rows, const struct trial_page *part, int64_t total,
			    int64_t version, struct dp_buf *out);
/* Appends {"trials":[...],"total":N,"from":F,"version":V}: total are those that the
 * filters leave; version: of the rows, -1: not known. */
DP_MUSTCHECK int trial_table_write_query(const struct trial_rows *rows,
					 const struct http_request *q, int64_t version,
					 struct dp_buf *out, struct dp_err *err);

#endif
