/* csv.c - comma-separated values (RFC 4180): numeric columns and one of labels, which may
 * be text. */
#include "base/num.h"
#include "trainers/data/data_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	COLUMNS_MAX = FEATURES_MAX + 1,
};

/* One record: its fields without quotes, one after the other in `bytes`. */
struct record {
	struct dp_buf bytes;
	size_t *end; /* of each field within `bytes` */
	size_t n, room;
	size_t line; /* where it begins */
};

static struct word field_of(const struct record *r, size_t i)
{
	size_t from = i ? r->end[i - 1] : 0;

	return (struct word){ dp_buf_text(&r->bytes) + from, r->end[i] - from };
}

static int end_field(struct record *r, struct dp_err *err)
{
	if (r->n == COLUMNS_MAX)
		return dp_fail(err, DP_E_INVALID, "line %zu has more than %d columns", r->line,
			       COLUMNS_MAX);
	if (r->n == r->room) {
		size_t room = r->room ? 2 * r->room : 64;
		size_t *end = reallocarray(r->end, room, sizeof *end);

		if (!end)
			return dp_fail(err, DP_E_NOMEM, "no memory for %zu columns", room);
		r->end = end;
		r->room = room;
	}
	r->end[r->n++] = r->bytes.len;
	return DP_OK;
}

/* A field in quotes, behind the first of them; "" means one. */
static int read_quoted(struct text *t, struct record *r, struct dp_err *err)
{
	for (;; t->at++) {
		if (t->at == t->end)
			return dp_fail(err, DP_E_CORRUPT,
				       "line %zu: a quote is opened and never closed", r->line);
		if (*t->at == '"' && (++t->at == t->end || *t->at != '"'))
			break;
		t->line += *t->at == '\n';
		dp_buf_putc(&r->bytes, *t->at);
	}
	if (t->at < t->end && *t->at == '\r' && t->at + 1 < t->end && t->at[1] == '\n')
		t->at++;
	if (t->at < t->end && *t->at != ',' && *t->at != '\n')
		return dp_fail(err, DP_E_INVALID,
			       "line %zu, column %zu: text after the closing quote", t->line,
			       r->n + 1);
	return DP_OK;
}

static void read_bare(struct text *t, struct record *r)
{
	struct word w = { t->at, 0 };

	while (t->at < t->end && *t->at != ',' && *t->at != '\n')
		t->at++;
	w.len = (size_t)(t->at - w.p);
	if (w.len > 0 && w.p[w.len - 1] == '\r' && (t->at == t->end || *t->at == '\n'))
		w.len--;
	w = word_trim(w);
	dp_buf_add(&r->bytes, w.p, w.len);
}

/* The next record that is not an empty line; none left: r->n is 0. */
static int next_record(struct text *t, struct record *r, struct dp_err *err)
{
	int code = DP_OK;
	bool more = true;

	dp_buf_clear(&r->bytes);
	r->n = 0;
	while (t->at < t->end && (*t->at == '\n' || *t->at == '\r')) {
		t->line += *t->at == '\n';
		t->at++;
	}
	if (t->at == t->end)
		return DP_OK;
	r->line = ++t->line;
	while (more && code == DP_OK) {
		if (t->at < t->end && *t->at == '"') {
			t->at++;
			code = read_quoted(t, r, err);
		} else {
			read_bare(t, r);
		}
		if (code == DP_OK)
			code = end_field(r, err);
		more = t->at < t->end && *t->at == ',';
		t->at += t->at < t->end;
	}
	if (code == DP_OK && r->bytes.failed)
		code = dp_fail(err, DP_E_NOMEM, "no memory for line %zu", r->line);
	return code;
}

/* The columns of a file, as its first record shows them. */
struct layout {
	size_t ncolumns, label;
	struct record header; /* without fields if the file has none */
};

static bool is_header(const struct record *first, bool label_by_name)
{
	float x;

	if (label_by_name)
		return true;
	for (size_t i = 0; i < first->n; i++)
		if (word_float(field_of(first, i), &x))
			return false;
	return true;
}

static int find_label(struct layout *l, const char *label_column, struct dp_err *err)
{
	int64_t number = -1;

	if (label_column && !dp_int_parse(label_column, &number)) {
		struct word name = { label_column, strlen(label_column) };
		char shown[SHOWN_LEN], first[SHOWN_LEN];

		for (l->label = 0; l->label < l->ncolumns; l->label++)
			if (word_is(field_of(&l->header, l->label), label_column))
				return DP_OK;
		dp_fail(err, DP_E_INVALID,
			"line %zu: none of the %zu columns is called '%s'; the first is "
			"'%s'",
			l->header.line, l->ncolumns, word_show(name, shown),
			word_show(field_of(&l->header, 0), first));
		return dp_hint(err, "Give the label column's name as in the first line, "
				    "or its number from 1.");
	}
	if (number == -1)
		number = (int64_t)l->ncolumns;
	if (number < 1 || number > (int64_t)l->ncolumns)
		return dp_fail(err, DP_E_INVALID, "there is no column %s: the columns are 1 to %zu",
			       label_column, l->ncolumns);
	l->label = (size_t)number - 1;
	return DP_OK;
}

/* A checksum of the features' names, so that a test file with other columns is seen. */
static uint32_t names_of(const struct layout *l)
{
	uLong sum = crc32(0, NULL, 0);

	for (size_t i = 0; i < l->header.n; i++) {
		struct word w = field_of(&l->header, i);

		if (i == l->label)
			continue;
		sum = crc32(sum, (const Bytef *)w.p, (uInt)w.len);
		sum = crc32(sum, (const Bytef *)"", 1);
	}
	return (uint32_t)sum;
}

static int fail_cell(const struct layout *l, const struct record *r, size_t i, struct dp_err *err)
{
	struct word w = field_of(r, i), name = { "", 0 };
	char shown[SHOWN_LEN], called[SHOWN_LEN];

	if (l->header.n)
		name = field_of(&l->header, i);
	dp_fail(err, DP_E_INVALID,
		w.len ? "line %zu, column %zu%s%s%s: '%s' is not a finite number"
		      : "line %zu, column %zu%s%s%s: the field is empty%s",
		r->line, i + 1, name.len ? " (" : "", word_show(name, called), name.len ? ")" : "",
		word_show(w, shown));
	return dp_hint(err, "All columns but the label must be numbers: fill gaps, and turn "
			    "text into columns of 0 and 1 or leave it out.");
}

static int csv_read_row(const struct layout *l, const struct record *r, struct builder *b,
			struct classes *c, struct dp_err *err)
{
	struct word w;
	uint8_t label;
	float value;
	int code;

	if (r->n != l->ncolumns)
		return dp_fail(err, DP_E_INVALID, "line %zu has %zu columns, not %zu", r->line,
			       r->n, l->ncolumns);
	for (size_t i = 0; i < r->n; i++) {
		if (i == l->label)
			continue;
		if (!word_float(field_of(r, i), &value))
			return fail_cell(l, r, i, err);
		builder_entry(b, (uint32_t)(i - (i > l->label)), value);
	}
	w = field_of(r, l->label);
	code = classes_number(c, w.p, w.len, &label, err);
	if (code != DP_OK)
		return dp_err_prefix(err, "line %zu, column %zu", r->line, l->label + 1);
	builder_row(b, label);
	return DP_OK;
}

/* Reads the first record. If it is a header, *r is then the one after it. */
static int read_layout(struct text *t, struct record *r, const char *label_column, struct layout *l,
		       struct dp_err *err)
{
	int64_t number;
	bool by_name = label_column && !dp_int_parse(label_column, &number);
	int code = next_record(t, r, err);

	if (code != DP_OK)
		return code;
	if (r->n < 2)
		return dp_fail(err, DP_E_INVALID,
			       r->n ? "line %zu has one column: a record needs a "
				      "feature and a label"
				    : "there are no records in it",
			       r->line);
	l->ncolumns = r->n;
	if (is_header(r, by_name)) {
		l->header = *r;
		memset(r, 0, sizeof *r);
	}
	code = find_label(l, label_column, err);
	if (code == DP_OK && l->header.n)
		code = next_record(t, r, err);
	return code;
}

int csv_parse(const char *p, size_t len, const char *label_column, struct set *s,
	      struct dp_err *err)
{
	struct record r = { .bytes = DP_BUF_INIT };
	struct builder b = { 0 };
	struct layout l = { 0 };
	struct text text;
	int code;

	text_init(&text, p, len);
	code = read_layout(&text, &r, label_column, &l, err);
	while (code == DP_OK && r.n > 0) {
		code = csv_read_row(&l, &r, &b, &s->classes, err);
		if (code == DP_OK)
			code = next_record(&text, &r, err);
	}
	if (code == DP_OK)
		code = builder_finish(&b, (uint32_t)(l.ncolumns - 1), s, err);
	if (code == DP_OK && l.header.n)
		s->columns = names_of(&l);
	builder_free(&b);
	dp_buf_free(&r.bytes);
	free(r.end);
	dp_buf_free(&l.header.bytes);
	free(l.header.end);
	return code;
}
