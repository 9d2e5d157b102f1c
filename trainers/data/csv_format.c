/* csv_format.c - parses CSV files (RFC 4180).
 *
 * One column has the labels, which may be text; the others are numeric. */
#include "base/units.h"
#include "trainers/data/dataset_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	COLUMNS_MAX = FEATURES_MAX + 1,
};

/* One record: its fields without quotes, concatenated in `bytes`. */
struct csv_record {
	struct dp_buf bytes;
	size_t *field_ends; /* end of each field in `bytes` */
	size_t n_fields, capacity;
	size_t line; /* its first line */
};

static struct text_span csv_get_field(const struct csv_record *r, size_t i)
{
	size_t from = i ? r->field_ends[i - 1] : 0;

	return (struct text_span){ dp_buf_text(&r->bytes) + from, r->field_ends[i] - from };
}

static int csv_end_field(struct csv_record *r, struct dp_err *err)
{
	if (r->n_fields == COLUMNS_MAX)
		return dp_fail(err, DP_E_INVALID, "line %zu has more than %d columns", r->line,
			       COLUMNS_MAX);
	if (r->n_fields == r->capacity) {
		size_t room = r->capacity ? 2 * r->capacity : 64;
		size_t *end = dp_reallocarray(r->field_ends, room, sizeof *end);

		r->field_ends = end;
		r->capacity = room;
	}
	r->field_ends[r->n_fields++] = r->bytes.len;
	return DP_OK;
}

/* Reads a quoted field after its opening quote; "" is a quote. */
static int csv_read_quoted_field(struct text_scanner *t, struct csv_record *r, struct dp_err *err)
{
	for (;; t->pos++) {
		if (t->pos == t->end)
			return dp_fail(err, DP_E_CORRUPT,
				       "line %zu: a quote is opened and never closed", r->line);
		if (*t->pos == '"' && (++t->pos == t->end || *t->pos != '"'))
			break;
		t->line += *t->pos == '\n';
		dp_buf_putc(&r->bytes, *t->pos);
	}
	if (t->pos < t->end && *t->pos == '\r' && t->pos + 1 < t->end && t->pos[1] == '\n')
		t->pos++;
	if (t->pos < t->end && *t->pos != ',' && *t->pos != '\n')
		return dp_fail(err, DP_E_INVALID,
			       "line %zu, column %zu: text after the closing quote", t->line,
			       r->n_fields + 1);
	return DP_OK;
}

static void csv_read_bare_field(struct text_scanner *t, struct csv_record *r)
{
	struct text_span w = { t->pos, 0 };

	while (t->pos < t->end && *t->pos != ',' && *t->pos != '\n')
		t->pos++;
	w.len = (size_t)(t->pos - w.p);
	if (w.len > 0 && w.p[w.len - 1] == '\r' && (t->pos == t->end || *t->pos == '\n'))
		w.len--;
	w = span_trim(w);
	dp_buf_add(&r->bytes, w.p, w.len);
}

/* Reads the next record, skipping empty lines. r->n_fields is 0 at the end. */
static int csv_next_record(struct text_scanner *t, struct csv_record *r, struct dp_err *err)
{
	int code = DP_OK;
	bool more = true;

	dp_buf_clear(&r->bytes);
	r->n_fields = 0;
	while (t->pos < t->end && (*t->pos == '\n' || *t->pos == '\r')) {
		t->line += *t->pos == '\n';
		t->pos++;
	}
	if (t->pos == t->end)
		return DP_OK;
	r->line = ++t->line;
	while (more && code == DP_OK) {
		if (t->pos < t->end && *t->pos == '"') {
			t->pos++;
			code = csv_read_quoted_field(t, r, err);
		} else {
			csv_read_bare_field(t, r);
		}
		if (code == DP_OK)
			code = csv_end_field(r, err);
		more = t->pos < t->end && *t->pos == ',';
		t->pos += t->pos < t->end;
	}
	return code;
}

/* Columns of a file, from its first record. */
struct csv_layout {
	size_t ncolumns, label_column;
	struct csv_record header; /* no fields if the file has none */
};

static int csv_find_label_column(struct csv_layout *l, const char *label_column, struct dp_err *err)
{
	int64_t number = -1;

	if (label_column && !dp_int_parse(label_column, &number)) {
		struct text_span name = { label_column, strlen(label_column) };
		char shown[SPAN_PRINTABLE_LEN], first[SPAN_PRINTABLE_LEN];

		for (l->label_column = 0; l->label_column < l->ncolumns; l->label_column++)
			if (span_equals(csv_get_field(&l->header, l->label_column), label_column))
				return DP_OK;
		dp_fail(err, DP_E_INVALID,
			"line %zu: none of the %zu columns is called '%s'; the first is '%s'",
			l->header.line, l->ncolumns, span_printable(name, shown),
			span_printable(csv_get_field(&l->header, 0), first));
		return dp_hint(err, "Give the label column's name as in the first line, "
				    "or its number from 1.");
	}
	if (number == -1)
		number = (int64_t)l->ncolumns;
	if (number < 1 || number > (int64_t)l->ncolumns)
		return dp_fail(err, DP_E_INVALID, "there is no column %s: the columns are 1 to %zu",
			       label_column, l->ncolumns);
	l->label_column = (size_t)number - 1;
	return DP_OK;
}

/* Checksum of the feature names, to detect a test file with other columns. */
static uint32_t csv_column_checksum(const struct csv_layout *l)
{
	uLong sum = crc32(0, NULL, 0);

	for (size_t i = 0; i < l->header.n_fields; i++) {
		struct text_span w = csv_get_field(&l->header, i);

		if (i == l->label_column)
			continue;
		sum = crc32(sum, (const Bytef *)w.p, (uInt)w.len);
		sum = crc32(sum, (const Bytef *)"", 1);
	}
	return (uint32_t)sum;
}

static int csv_fail_cell(const struct csv_layout *l, const struct csv_record *r, size_t i,
			 struct dp_err *err)
{
	struct text_span w = csv_get_field(r, i), name = { "", 0 };
	char shown[SPAN_PRINTABLE_LEN], called[SPAN_PRINTABLE_LEN];

	if (l->header.n_fields)
		name = csv_get_field(&l->header, i);
	dp_fail(err, DP_E_INVALID,
		w.len ? "line %zu, column %zu%s%s%s: '%s' is not a finite number"
		      : "line %zu, column %zu%s%s%s: the field is empty%s",
		r->line, i + 1, name.len ? " (" : "", span_printable(name, called),
		name.len ? ")" : "", span_printable(w, shown));
	return dp_hint(err, "All columns but the label must be numbers: fill gaps, and turn "
			    "text into columns of 0 and 1 or leave it out.");
}

static int csv_read_row(const struct csv_layout *l, const struct csv_record *r,
			struct dataset_builder *b, struct class_labels *c, struct dp_err *err)
{
	struct text_span w;
	uint8_t label;
	float value;
	int code;

	if (r->n_fields != l->ncolumns)
		return dp_fail(err, DP_E_INVALID, "line %zu has %zu columns, not %zu", r->line,
			       r->n_fields, l->ncolumns);
	for (size_t i = 0; i < r->n_fields; i++) {
		if (i == l->label_column)
			continue;
		if (!span_parse_float(csv_get_field(r, i), &value))
			return csv_fail_cell(l, r, i, err);
		dataset_builder_add_entry(b, (uint32_t)(i - (i > l->label_column)), value);
	}
	w = csv_get_field(r, l->label_column);
	code = class_labels_intern(c, w.p, w.len, &label, err);
	if (code != DP_OK)
		return dp_err_prefix(err, "line %zu, column %zu", r->line, l->label_column + 1);
	dataset_builder_end_row(b, label);
	return DP_OK;
}

/* Reads the first record. If it is a header, also reads the next one into *r. */
static int csv_read_layout(struct text_scanner *t, struct csv_record *r, const char *label_column,
			   struct csv_layout *l, struct dp_err *err)
{
	int64_t number;
	bool header = true;
	float x;
	int code = csv_next_record(t, r, err);

	if (code != DP_OK)
		return code;
	if (r->n_fields < 2)
		return dp_fail(err, DP_E_INVALID,
			       r->n_fields ? "line %zu has one column: a record needs a "
					     "feature and a label"
					   : "there are no records in it",
			       r->line);
	l->ncolumns = r->n_fields;
	/* a header has no number; with a named label column there is a header */
	if (!label_column || dp_int_parse(label_column, &number))
		for (size_t i = 0; i < r->n_fields && header; i++)
			header = !span_parse_float(csv_get_field(r, i), &x);
	if (header) {
		l->header = *r;
		memset(r, 0, sizeof *r);
	}
	code = csv_find_label_column(l, label_column, err);
	if (code == DP_OK && l->header.n_fields)
		code = csv_next_record(t, r, err);
	return code;
}

int csv_parse(const char *p, size_t len, const char *label_column, struct dataset *s,
	      struct dp_err *err)
{
	struct csv_record r = { .bytes = DP_BUF_INIT };
	struct dataset_builder b = { 0 };
	struct csv_layout l = { 0 };
	struct text_scanner text;
	int code;

	text_scanner_init(&text, p, len);
	code = csv_read_layout(&text, &r, label_column, &l, err);
	while (code == DP_OK && r.n_fields > 0) {
		code = csv_read_row(&l, &r, &b, &s->classes, err);
		if (code == DP_OK)
			code = csv_next_record(&text, &r, err);
	}
	if (code == DP_OK)
		code = dataset_builder_finish(&b, (uint32_t)(l.ncolumns - 1), s, err);
	if (code == DP_OK && l.header.n_fields)
		s->column_checksum = csv_column_checksum(&l);
	dataset_builder_free(&b);
	dp_buf_free(&r.bytes);
	free(r.field_ends);
	dp_buf_free(&l.header.bytes);
	free(l.header.field_ends);
	return code;
}
