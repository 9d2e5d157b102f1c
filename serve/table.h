/* table.h - the rows of a study's trials as a page shows them: filtered, sorted, a part.
 *
 * Columns are `trial`, `state`, `source`, `attempts`, `seconds`, `started`, `ended`, and
 * the study's objectives and parameters by their names; "objectives.x" and "parameters.x"
 * where a name is both. */
#ifndef DP_SERVE_TABLE_H
#define DP_SERVE_TABLE_H
#include "serve/http.h"

/* Is a part of the table asked for, or an order? Without either it is all of it. */
bool table_asked(const struct http_request *q);
/* {"trials":[...],"total":N,"from":F}: total are those that the filters leave. */
DP_MUSTCHECK int table_part(const json_t *rows, const struct http_request *q,
			    json_t **out, struct dp_err *err);

#endif
