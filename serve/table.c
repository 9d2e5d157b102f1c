/* table.c - filters and sorts the rows of trials. */
#include "serve/table.h"

#include "base/json.h"
#include "base/num.h"

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

struct table_column {
	const char *part; /* of the row; NULL: the row itself */
	const char *name;
};

static const json_t *cell(const json_t *row, const struct table_column *c)
{
	return json_object_get(c->part ? json_object_get(row, c->part) : row, c->name);
}

static bool part_has(const json_t *rows, const char *part, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (json_object_get(json_object_get(row, part), name))
			return true;
	return false;
}

/* Finds it by its name in a query. */
static bool column_find(const json_t *rows, const char *name, struct table_column *c)
{
	for (size_t i = 0; i < DP_COUNT(fixed_columns); i++)
		if (strcmp(fixed_columns[i], name) == 0) {
			*c = (struct table_column){ NULL, fixed_columns[i] };
			return true;
		}
	for (size_t i = 0; i < DP_COUNT(parts); i++) {
		size_t n = strlen(parts[i]);
		bool whole = strncmp(name, parts[i], n) == 0 && name[n] == '.';

		*c = (struct table_column){ parts[i], whole ? name + n + 1 : name };
		if (part_has(rows, parts[i], c->name))
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
	struct table_column column;
	char name[HTTP_TARGET_MAX]; /* what column.name points into */
	const char *value;
	double number; /* the value, NaN if it is none */
};

/* "lr<=0.1", "state=ok"; what names no column is text to be found. */
static void filter_read(const json_t *rows, const char *text, struct table_filter *f)
{
	static const struct {
		const char *sign;
		enum table_test test;
	} signs[] = { { "<=", TEST_MOST }, { ">=", TEST_LEAST }, { "=", TEST_IS } };

	*f = (struct table_filter){ .test = TEST_TEXT, .value = text };
	for (size_t i = 0; i < DP_COUNT(signs); i++) {
		const char *at = strstr(text, signs[i].sign);

		if (!at || (size_t)(at - text) >= sizeof f->name)
			continue;
		memcpy(f->name, text, (size_t)(at - text));
		f->name[at - text] = '\0';
		if (!column_find(rows, f->name, &f->column))
			continue;
		f->test = signs[i].test;
		f->value = at + strlen(signs[i].sign);
		if (!dp_num_parse(f->value, &f->number))
			f->number = NAN;
		return;
	}
}

static bool value_is(const json_t *v, const struct table_filter *f)
{
	double number;

	if (json_is_string(v))
		return strcasecmp(json_string_value(v), f->value) == 0;
	if (json_is_boolean(v))
		return strcmp(f->value, json_is_true(v) ? "true" : "false") == 0;
	return dp_json_to_real(v, &number) && number == f->number;
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

static bool filter_passes(const struct table_filter *f, const json_t *row)
{
	const json_t *v = f->test == TEST_TEXT ? NULL : cell(row, &f->column);
	double number;

	switch (f->test) {
	case TEST_TEXT:
		return value_has(row, f->value);
	case TEST_IS:
		return value_is(v, f);
	case TEST_MOST:
		return v && dp_json_to_real(v, &number) && number <= f->number;
	case TEST_LEAST:
		return v && dp_json_to_real(v, &number) && number >= f->number;
	}
	return false;
}

/* ---- order ---- */

struct table_row {
	const json_t *row;
	const char *text;
	double number;
	bool none;    /* no value there: such rows come last, whatever the order */
	size_t place; /* as they came */
};

struct table_order {
	struct table_column column;
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

static void row_key(struct table_row *r, const struct table_column *c)
{
	const json_t *v = cell(r->row, c);

	r->text = NULL;
	r->none = false;
	if (v && dp_json_to_real(v, &r->number))
		r->none = isnan(r->number);
	else if (json_is_string(v))
		r->text = json_string_value(v);
	else if (json_is_boolean(v))
		r->number = json_is_true(v);
	else
		r->none = true;
}

static int order_read(const json_t *rows, const struct http_request *q,
		      struct table_order *o, struct dp_err *err)
{
	const char *sort = http_query(q, "sort");

	*o = (struct table_order){ { NULL, "trial" }, -1 };
	if (!sort)
		return DP_OK;
	o->sign = *sort == '-' ? -1 : 1;
	sort += *sort == '-';
	if (json_array_size(rows) == 0 || column_find(rows, sort, &o->column))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE, "there is no column '%.80s' to sort by", sort);
}

/* ---- the part asked for ---- */

/* Rows that all filters of the query let through. */
static size_t filter_rows(const json_t *rows, const struct http_request *q,
			  struct table_row *out)
{
	const char *status = http_query(q, "status");
	struct table_filter f;
	const json_t *row;
	size_t n = 0, i;

	json_array_foreach (rows, i, row)
		if (!status || strcmp(dp_json_str(row, "state", ""), status) == 0)
			out[n++] = (struct table_row){ .row = row, .place = i };
	for (size_t k = 0; k < q->nquery; k++) {
		size_t kept = 0;

		if (strcmp(q->query[k].name, "where") != 0 || !*q->query[k].value)
			continue;
		filter_read(rows, q->query[k].value, &f);
		for (i = 0; i < n; i++)
			if (filter_passes(&f, out[i].row))
				out[kept++] = out[i];
		n = kept;
	}
	return n;
}

static json_t *part_json(const struct table_row *list, size_t n, int64_t from,
			 int64_t limit)
{
	json_t *trials = json_array();

	for (size_t i = (size_t)from; i < n && i < (size_t)(from + limit); i++)
		json_array_append(trials, (json_t *)list[i].row);
	return json_pack("{s:o, s:I, s:I}", "trials", trials, "total", (json_int_t)n,
			 "from", (json_int_t)from);
}

int table_part(const json_t *rows, const struct http_request *q, json_t **out,
	       struct dp_err *err)
{
	struct table_row *list;
	struct table_order order;
	int64_t from, limit;
	size_t n;
	int code = http_query_int(q, "from", 0, 1000000000, 0, &from, err);

	if (code == DP_OK)
		code = http_query_int(q, "limit", 1, PART_MAX, PART, &limit, err);
	if (code == DP_OK)
		code = order_read(rows, q, &order, err);
	if (code != DP_OK)
		return code;
	list = malloc(json_array_size(rows) * sizeof *list + 1);
	if (!list)
		return dp_fail(err, DP_E_NOMEM, "no memory for a table");
	n = filter_rows(rows, q, list);
	for (size_t i = 0; i < n; i++)
		row_key(&list[i], &order.column);
	qsort_r(list, n, sizeof *list, compare_keys, &order);
	*out = part_json(list, n, from, limit);
	free(list);
	return DP_OK;
}
