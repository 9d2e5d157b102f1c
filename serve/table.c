/* table.c - filters and sorts the rows of trials. */
#include "serve/table.h"

#include "base/json.h"
#include "base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	PART_MAX = 500, /* rows in one answer */
	PART = 50
};

static const char *const fixed_columns[] = { "trial",   "state",   "source", "attempts",
					     "seconds", "started", "ended" };
static const char *const parts[] = { "objectives", "parameters" };

bool table_asked(const struct http_request *q)
{
	return q->nquery > 0;
}

/* ---- columns ---- */

/* Finds it by its name in a query; -1: it is one, but no row has it. */
static bool column_find(const struct rows *rows, const char *name, int *column)
{
	for (size_t i = 0; i < DP_COUNT(fixed_columns); i++)
		if (strcmp(fixed_columns[i], name) == 0) {
			*column = rows_column(rows, NULL, name);
			return true;
		}
	for (size_t i = 0; i < DP_COUNT(parts); i++) {
		size_t n = strlen(parts[i]);
		bool whole = strncmp(name, parts[i], n) == 0 && name[n] == '.';

		*column = rows_column(rows, parts[i], whole ? name + n + 1 : name);
		if (*column >= 0)
			return true;
	}
	return false;
}

/* ---- filters ---- */

enum table_test {
	TEST_TEXT, /* somewhere in the row */
	TEST_IS,
	TEST_MOST,
	TEST_LEAST,
};

struct table_filter {
	enum table_test test;
	int column;
	const char *value;
	double number; /* the value, NaN if it is none */
};

/* "lr<=0.1", "state=ok"; what names no column is text to be found. */
static void filter_read(const struct rows *rows, const char *text, struct table_filter *f)
{
	char name[HTTP_TARGET_MAX];
	static const struct {
		const char *sign;
		enum table_test test;
	} signs[] = { { "<=", TEST_MOST }, { ">=", TEST_LEAST }, { "=", TEST_IS } };

	*f = (struct table_filter){ .test = TEST_TEXT, .value = text };
	for (size_t i = 0; i < DP_COUNT(signs); i++) {
		const char *at = strstr(text, signs[i].sign);

		if (!at || (size_t)(at - text) >= sizeof name)
			continue;
		memcpy(name, text, (size_t)(at - text));
		name[at - text] = '\0';
		if (!column_find(rows, name, &f->column))
			continue;
		f->test = signs[i].test;
		f->value = at + strlen(signs[i].sign);
		if (!dp_num_parse(f->value, &f->number))
			f->number = NAN;
		return;
	}
}

static bool cell_is(const struct rows_cell *c, const struct table_filter *f)
{
	if (c->word)
		return strcasecmp(c->word, f->value) == 0;
	if (c->kind == ROWS_TRUTH)
		return strcmp(f->value, c->number != 0 ? "true" : "false") == 0;
	return c->kind == ROWS_NUMBER && c->number == f->number;
}

/* Is the text in a value, or in one of an object's? */
static bool value_has(const json_t *v, const char *text)
{
	char number[DP_NUM_LEN];
	const char *key;
	const json_t *each;

	if (json_is_string(v))
		return strcasestr(json_string_value(v), text) != NULL;
	if (json_is_number(v))
		return strstr(dp_num_text(json_number_value(v), number), text) != NULL;
	json_object_foreach ((json_t *)v, key, each)
		if (value_has(each, text))
			return true;
	return false;
}

/* Can the text be in a value only if it is in the row as it is written? Not if it would
 * be escaped there, or is part of a large number. */
static bool is_as_written(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\' || *p == 0x7f)
			return false;
	return !strstr(text, "e+");
}

static bool bytes_have(const char *bytes, size_t n, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i + len <= n; i++)
		if (strncasecmp(bytes + i, text, len) == 0)
			return true;
	return false;
}

/* Is the text in one of the row's values? Reading a row takes long. */
static bool row_has(const struct rows *rows, size_t i, const char *text)
{
	size_t len;
	const char *bytes = rows_text(rows, i, &len);
	struct dp_err err;
	json_t *row;
	bool has;

	if ((is_as_written(text) && !bytes_have(bytes, len, text)) ||
	    dp_json_parse(bytes, len, &row, &err) != DP_OK)
		return false;
	has = value_has(row, text);
	json_decref(row);
	return has;
}

static bool filter_passes(const struct table_filter *f, const struct rows *rows, size_t i)
{
	struct rows_cell c;

	if (f->test == TEST_TEXT)
		return row_has(rows, i, f->value);
	c = rows_cell(rows, i, f->column);
	if (f->test == TEST_IS)
		return cell_is(&c, f);
	return c.kind == ROWS_NUMBER &&
	       (f->test == TEST_MOST ? c.number <= f->number : c.number >= f->number);
}

/* ---- order ---- */

struct table_row {
	const char *text;
	double number;
	bool none;    /* no value there: such rows come last, whatever the order */
	size_t place; /* among all rows */
};

struct table_order {
	int column;
	int sign; /* -1: the greatest first */
};

static int compare_keys(const void *a, const void *b, void *arg)
{
	const struct table_row *u = a, *v = b;
	const struct table_order *o = arg;
	int first = 0;

	if (u->none != v->none)
		return u->none ? 1 : -1;
	if (u->text && v->text)
		first = strcmp(u->text, v->text);
	else if (u->text || v->text)
		first = u->text ? 1 : -1; /* numbers before words */
	else
		first = (u->number > v->number) - (u->number < v->number);
	if (first == 0)
		first = (u->place > v->place) - (u->place < v->place);
	return o->sign * first;
}

static void row_key(struct table_row *r, const struct rows *rows, int column)
{
	struct rows_cell c = rows_cell(rows, r->place, column);

	r->text = c.kind == ROWS_WORD ? c.word : NULL;
	r->number = c.number;
	r->none = c.kind == ROWS_NONE || (c.kind == ROWS_NUMBER && isnan(c.number));
}

static int order_read(const struct rows *rows, const struct http_request *q, struct table_order *o,
		      struct dp_err *err)
{
	const char *sort = http_query(q, "sort");

	*o = (struct table_order){ rows_column(rows, NULL, "trial"), -1 };
	if (!sort)
		return DP_OK;
	o->sign = *sort == '-' ? -1 : 1;
	sort += *sort == '-';
	if (rows_count(rows) == 0 || column_find(rows, sort, &o->column))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE, "there is no column '%.80s' to sort by", sort);
}

/* ---- the part asked for ---- */

/* Rows that all filters of the query let through. */
static size_t filter_rows(const struct rows *rows, const struct http_request *q,
			  struct table_row *out)
{
	const char *status = http_query(q, "status");
	int state = rows_column(rows, NULL, "state");
	struct table_filter f;
	size_t n = 0;

	for (size_t i = 0; i < rows_count(rows); i++) {
		const char *is = status ? rows_cell(rows, i, state).word : NULL;

		if (!status || (is && strcmp(is, status) == 0))
			out[n++] = (struct table_row){ .place = i };
	}
	for (size_t k = 0; k < q->nquery; k++) {
		size_t kept = 0;

		if (strcmp(q->query[k].name, "where") != 0 || !*q->query[k].value)
			continue;
		filter_read(rows, q->query[k].value, &f);
		for (size_t i = 0; i < n; i++)
			if (filter_passes(&f, rows, out[i].place))
				out[kept++] = out[i];
		n = kept;
	}
	return n;
}

/* What was asked for. */
struct table_query {
	struct table_order order;
	int64_t from, limit;
};

static int limits_read(const struct http_request *q, int64_t *from, int64_t *limit,
		       struct dp_err *err)
{
	int code = http_query_int(q, "from", 0, 1000000000, 0, from, err);

	return code == DP_OK ? http_query_int(q, "limit", 1, PART_MAX, PART, limit, err) : code;
}

static int query_read(const struct rows *rows, const struct http_request *q, struct table_query *t,
		      struct dp_err *err)
{
	int code = limits_read(q, &t->from, &t->limit, err);

	return code == DP_OK ? order_read(rows, q, &t->order, err) : code;
}

/* Ends the answer that begins with the rows. */
static int table_end(size_t total, int64_t from, int64_t version, struct dp_buf *out,
		     struct dp_err *err)
{
	dp_buf_printf(out, "],\"total\":%zu,\"from\":%" PRId64 ",\"version\":", total, from);
	if (version < 0)
		dp_buf_puts(out, "null}\n");
	else
		dp_buf_printf(out, "%" PRId64 "}\n", version);
	return out->failed ? dp_fail(err, DP_E_NOMEM, "no memory for a table") : DP_OK;
}

bool table_is_plain(const struct http_request *q)
{
	const char *sort = http_query(q, "sort");

	for (size_t i = 0; i < q->nquery; i++)
		if (strcmp(q->query[i].name, "status") == 0 ||
		    (strcmp(q->query[i].name, "where") == 0 && *q->query[i].value))
			return false;
	return !sort || strcmp(sort, "trial") == 0 || strcmp(sort, "-trial") == 0;
}

int table_plain_part(const struct http_request *q, struct ask_part *out, struct dp_err *err)
{
	const char *sort = http_query(q, "sort");

	out->newest = !sort || *sort == '-';
	return limits_read(q, &out->from, &out->limit, err);
}

int table_put_plain(const json_t *rows, const struct ask_part *part, int64_t total, int64_t version,
		    struct dp_buf *out, struct dp_err *err)
{
	const json_t *row;
	size_t i;

	dp_buf_puts(out, "{\"trials\":[");
	json_array_foreach (rows, i, row) {
		dp_buf_puts(out, i ? "," : "");
		dp_json_dump(out, row, 0);
	}
	return table_end((size_t)total, part->from, version, out, err);
}

int table_part(const struct rows *rows, const struct http_request *q, int64_t version,
	       struct dp_buf *out, struct dp_err *err)
{
	struct table_query t;
	struct table_row *list;
	size_t n, end;
	int code = query_read(rows, q, &t, err);

	if (code != DP_OK)
		return code;
	list = malloc(rows_count(rows) * sizeof *list + 1);
	if (!list)
		return dp_fail(err, DP_E_NOMEM, "no memory for a table");
	n = filter_rows(rows, q, list);
	for (size_t i = 0; i < n; i++)
		row_key(&list[i], rows, t.order.column);
	qsort_r(list, n, sizeof *list, compare_keys, &t.order);
	end = n < (size_t)(t.from + t.limit) ? n : (size_t)(t.from + t.limit);
	dp_buf_puts(out, "{\"trials\":[");
	for (size_t i = (size_t)t.from; i < end; i++) {
		size_t len;
		const char *text = rows_text(rows, list[i].place, &len);

		dp_buf_puts(out, i > (size_t)t.from ? "," : "");
		dp_buf_add(out, text, len);
	}
	free(list);
	return table_end(n, t.from, version, out, err);
}
