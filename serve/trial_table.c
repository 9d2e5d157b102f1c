/* trial_table.c - filters, sorts and pages the rows of trials. */
#include "serve/trial_table.h"

#include "base/json.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MAX_PAGE_ROWS = 500,
	DEFAULT_PAGE_ROWS = 50
};

static const char *const fixed_columns[] = { "trial",   "state",   "source", "attempts",
					     "seconds", "started", "ended" };
static const char *const parts[] = { "objectives", "parameters" };

/* Finds a column by its query name. *column is -1 if it exists but no row has it. */
static bool find_query_column(const struct trial_rows *rows, const char *name, int *column)
{
	for (size_t i = 0; i < DP_COUNT(fixed_columns); i++)
		if (strcmp(fixed_columns[i], name) == 0) {
			*column = trial_rows_find_column(rows, NULL, name);
			return true;
		}
	for (size_t i = 0; i < DP_COUNT(parts); i++) {
		size_t n = strlen(parts[i]);
		bool whole = strncmp(name, parts[i], n) == 0 && name[n] == '.';

		*column = trial_rows_find_column(rows, parts[i], whole ? name + n + 1 : name);
		if (*column >= 0)
			return true;
	}
	return false;
}

enum filter_operator {
	FILTER_CONTAINS,
	FILTER_EQUALS,
	FILTER_AT_MOST,
	FILTER_AT_LEAST,
};

struct table_filter {
	enum filter_operator op;
	int column;
	const char *value;
	double number;
};

/* Parses "lr<=0.1" or "state=ok"; anything else is text to search for. */
static void filter_parse(const struct trial_rows *rows, const char *text, struct table_filter *f)
{
	char name[HTTP_TARGET_MAX];
	static const struct {
		const char *sign;
		enum filter_operator op;
	} signs[] = { { "<=", FILTER_AT_MOST }, { ">=", FILTER_AT_LEAST }, { "=", FILTER_EQUALS } };

	*f = (struct table_filter){ .op = FILTER_CONTAINS, .value = text };
	for (size_t i = 0; i < DP_COUNT(signs); i++) {
		const char *at = strstr(text, signs[i].sign);

		if (!at || (size_t)(at - text) >= sizeof name)
			continue;
		memcpy(name, text, (size_t)(at - text));
		name[at - text] = '\0';
		if (!find_query_column(rows, name, &f->column))
			continue;
		f->op = signs[i].op;
		f->value = at + strlen(signs[i].sign);
		if (!dp_num_parse(f->value, &f->number))
			f->number = NAN;
		return;
	}
}

/* Does the value, or a member of an object, contain the text? */
static bool json_value_contains(const json_t *v, const char *text)
{
	char number[DP_NUM_LEN];
	const char *key;
	const json_t *each;

	if (json_is_string(v))
		return strcasestr(json_string_value(v), text) != NULL;
	if (json_is_number(v))
		return strstr(dp_num_text(json_number_value(v), number), text) != NULL;
	json_object_foreach ((json_t *)v, key, each)
		if (json_value_contains(each, text))
			return true;
	return false;
}

/* Does any value of the row contain the text? Parsing a row is slow, so text that JSON would store
 * unchanged (no escapes, not part of a long number) is first searched in the raw row. */
static bool row_contains(const struct trial_rows *rows, size_t i, const char *text)
{
	size_t len, text_len = strlen(text), at = 0;
	const char *bytes = trial_rows_get_text(rows, i, &len);
	bool unescaped = !strstr(text, "e+"), has;
	struct dp_err err;
	json_t *row;

	for (const char *p = text; *p; p++)
		unescaped &= (unsigned char)*p >= ' ' && *p != '"' && *p != '\\' && *p != 0x7f;
	while (at + text_len <= len && strncasecmp(bytes + at, text, text_len) != 0)
		at++;
	if ((unescaped && at + text_len > len) || dp_json_parse(bytes, len, &row, &err) != DP_OK)
		return false;
	has = json_value_contains(row, text);
	json_decref(row);
	return has;
}

static bool filter_matches(const struct table_filter *f, const struct trial_rows *rows, size_t i)
{
	struct trial_cell c;

	if (f->op == FILTER_CONTAINS)
		return row_contains(rows, i, f->value);
	c = trial_rows_get_cell(rows, i, f->column);
	if (f->op != FILTER_EQUALS)
		return c.kind == CELL_NUMBER &&
		       (f->op == FILTER_AT_MOST ? c.number <= f->number : c.number >= f->number);
	if (c.string)
		return strcasecmp(c.string, f->value) == 0;
	if (c.kind == CELL_BOOL)
		return strcmp(f->value, c.number != 0 ? "true" : "false") == 0;
	return c.kind == CELL_NUMBER && c.number == f->number;
}

struct table_row {
	const char *text;
	double number;
	bool is_missing; /* such rows sort last in both directions */
	size_t row_index;
};

struct table_order {
	int column;
	int sign; /* -1: descending */
};

static int compare_table_rows(const void *a, const void *b, void *arg)
{
	const struct table_row *u = a, *v = b;
	const struct table_order *o = arg;
	int first = 0;

	if (u->is_missing != v->is_missing)
		return u->is_missing ? 1 : -1;
	if (u->text && v->text)
		first = strcmp(u->text, v->text);
	else if (u->text || v->text)
		first = u->text ? 1 : -1; /* numbers before strings */
	else
		first = (u->number > v->number) - (u->number < v->number);
	if (first == 0)
		first = (u->row_index > v->row_index) - (u->row_index < v->row_index);
	return o->sign * first;
}

static int parse_sort_order(const struct trial_rows *rows, const struct http_request *q,
			    struct table_order *o, struct dp_err *err)
{
	const char *sort = http_query_get(q, "sort");

	*o = (struct table_order){ trial_rows_find_column(rows, NULL, "trial"), -1 };
	if (!sort)
		return DP_OK;
	o->sign = *sort == '-' ? -1 : 1;
	sort += *sort == '-';
	if (trial_rows_count(rows) == 0 || find_query_column(rows, sort, &o->column))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE, "there is no column '%.80s' to sort by", sort);
}

static size_t filter_rows(const struct trial_rows *rows, const struct http_request *q,
			  struct table_row *out)
{
	const char *status = http_query_get(q, "status");
	int state = trial_rows_find_column(rows, NULL, "state");
	struct table_filter f;
	size_t n = 0;

	for (size_t i = 0; i < trial_rows_count(rows); i++) {
		const char *is = status ? trial_rows_get_cell(rows, i, state).string : NULL;

		if (!status || (is && strcmp(is, status) == 0))
			out[n++] = (struct table_row){ .row_index = i };
	}
	for (size_t k = 0; k < q->n_query; k++) {
		size_t kept = 0;

		if (strcmp(q->query[k].name, "where") != 0 || !*q->query[k].value)
			continue;
		filter_parse(rows, q->query[k].value, &f);
		for (size_t i = 0; i < n; i++)
			if (filter_matches(&f, rows, out[i].row_index))
				out[kept++] = out[i];
		n = kept;
	}
	return n;
}

static int parse_page_limits(const struct http_request *q, int64_t *from, int64_t *limit,
			     struct dp_err *err)
{
	int code = http_query_get_int(q, "from", 0, 1000000000, 0, from, err);

	return code == DP_OK ? http_query_get_int(q, "limit", 1, MAX_PAGE_ROWS, DEFAULT_PAGE_ROWS,
						  limit, err)
			     : code;
}

static void append_table_end(size_t total, int64_t from, int64_t version, struct dp_buf *out)
{
	dp_buf_printf(out, "],\"total\":%zu,\"from\":%" PRId64 ",\"version\":", total, from);
	if (version < 0)
		dp_buf_puts(out, "null}\n");
	else
		dp_buf_printf(out, "%" PRId64 "}\n", version);
}

bool trial_table_is_unfiltered(const struct http_request *q)
{
	const char *sort = http_query_get(q, "sort");

	for (size_t i = 0; i < q->n_query; i++)
		if (strcmp(q->query[i].name, "status") == 0 ||
		    (strcmp(q->query[i].name, "where") == 0 && *q->query[i].value))
			return false;
	return !sort || strcmp(sort, "trial") == 0 || strcmp(sort, "-trial") == 0;
}

int trial_table_parse_page(const struct http_request *q, struct trial_page *out, struct dp_err *err)
{
	const char *sort = http_query_get(q, "sort");

	out->newest_first = !sort || *sort == '-';
	return parse_page_limits(q, &out->from, &out->limit, err);
}

void trial_table_write_page(const json_t *rows, const struct trial_page *part, int64_t total,
			    int64_t version, struct dp_buf *out)
{
	const json_t *row;
	size_t i;

	dp_buf_puts(out, "{\"trials\":[");
	json_array_foreach (rows, i, row) {
		dp_buf_puts(out, i ? "," : "");
		dp_json_dump(out, row, 0);
	}
	append_table_end((size_t)total, part->from, version, out);
}

int trial_table_write_query(const struct trial_rows *rows, const struct http_request *q,
			    int64_t version, struct dp_buf *out, struct dp_err *err)
{
	struct table_order order;
	struct table_row *list;
	int64_t from, limit;
	size_t n, end;
	int code = parse_page_limits(q, &from, &limit, err);

	if (code == DP_OK)
		code = parse_sort_order(rows, q, &order, err);
	if (code != DP_OK)
		return code;
	list = dp_malloc(trial_rows_count(rows) * sizeof *list + 1);
	n = filter_rows(rows, q, list);
	for (size_t i = 0; i < n; i++) {
		struct trial_cell c = trial_rows_get_cell(rows, list[i].row_index, order.column);

		list[i].text = c.kind == CELL_STRING ? c.string : NULL;
		list[i].number = c.number;
		list[i].is_missing =
			c.kind == CELL_NONE || (c.kind == CELL_NUMBER && isnan(c.number));
	}
	qsort_r(list, n, sizeof *list, compare_table_rows, &order);
	end = n < (size_t)(from + limit) ? n : (size_t)(from + limit);
	dp_buf_puts(out, "{\"trials\":[");
	for (size_t i = (size_t)from; i < end; i++) {
		size_t len;
		const char *text = trial_rows_get_text(rows, list[i].row_index, &len);

		dp_buf_puts(out, i > (size_t)from ? "," : "");
		dp_buf_add(out, text, len);
	}
	free(list);
	append_table_end(n, from, version, out);
	return DP_OK;
}
