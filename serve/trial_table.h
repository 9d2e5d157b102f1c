/* trial_table.h - filters, sorts and pages the rows of a study's trials for a request.
 *
 * Columns: `trial`, `state`, `source`, `attempts`, `seconds`, `started`, `ended`, and the names of
 * objectives and parameters; "objectives.x" and "parameters.x" if a name is both. */
#ifndef DP_SERVE_TRIAL_TABLE_H
#define DP_SERVE_TRIAL_TABLE_H
#include "serve/data/daemon_client.h"
#include "serve/http/http_message.h"
#include "serve/data/trial_rows.h"

/* Does the query ask for a page of all rows in trial order? */
bool trial_table_is_unfiltered(const struct http_request *q);
/* Parses such a query. */
DP_MUSTCHECK int trial_table_parse_page(const struct http_request *q, struct trial_page *out,
					struct dp_err *err);
/* Appends its reply, in the form of trial_table_write_query(). */
void trial_table_write_page(const json_t *rows, const struct trial_page *part, int64_t total,
			    int64_t version, struct dp_buf *out);
/* Appends {"trials":[...],"total":N,"from":F,"version":V}. total: rows after filters; version: of
 * the rows, -1: unknown. */
DP_MUSTCHECK int trial_table_write_query(const struct trial_rows *rows,
					 const struct http_request *q, int64_t version,
					 struct dp_buf *out, struct dp_err *err);

#endif
