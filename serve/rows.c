/* rows.c - rows of trials as text and columns. */
#include "serve/rows.h"

#include "base/buf.h"
#include "base/json.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS_SEEN = 256 /* places to find words that were seen before */
};

static const char *const own_columns[] = { "trial",   "at",      "state", "source",  "attempts",
					   "seconds", "started", "ended", "feasible" };
static const char *const row_parts[] = { "objectives", "parameters" };

struct rows_value {
	double number;
	uint32_t word; /* its place among the words, plus 1; 0: none */
	uint32_t kind;
};

struct rows_list {
	const char *part; /* of row_parts[], or NULL */
	char *name;
	struct rows_value *value; /* (n) rows after these have none */
	size_t n, room;
};

struct rows {
	atomic_uint references;
	size_t n, room;
	size_t *end; /* (n) of each row's text */
	struct dp_buf text, words;
	uint32_t seen[WORDS_SEEN]; /* places of words, plus 1, by their hash */
	struct rows_list *column;
	size_t ncolumns;
};

struct rows *rows_new(void)
{
	struct rows *r = calloc(1, sizeof *r);

	if (r)
		atomic_init(&r->references, 1);
	return r;
}

struct rows *rows_ref(struct rows *r)
{
	atomic_fetch_add(&r->references, 1);
	return r;
}

void rows_unref(struct rows *r)
{
	if (!r || atomic_fetch_sub(&r->references, 1) > 1)
		return;
	for (size_t i = 0; i < r->ncolumns; i++) {
		free(r->column[i].name);
		free(r->column[i].value);
	}
	free(r->column);
	free(r->end);
	dp_buf_free(&r->text);
	dp_buf_free(&r->words);
	free(r);
}

/* ---- filling ---- */

/* The place of the word, plus 1; 0 without memory. Most words are few and come again. */
static uint32_t rows_word(struct rows *r, const char *word)
{
	size_t len = strlen(word), hash = len;
	uint32_t *seen;

	for (size_t i = 0; i < len; i++)
		hash = hash * 31 + (unsigned char)word[i];
	seen = &r->seen[hash % WORDS_SEEN];
	if (*seen && strcmp(r->words.data + *seen - 1, word) == 0)
		return *seen;
	if (r->words.len + len + 1 > UINT32_MAX)
		return 0;
	*seen = (uint32_t)r->words.len + 1;
	dp_buf_add(&r->words, word, len + 1);
	return r->words.failed ? 0 : *seen;
}

/* Makes room for one more, of so many bytes each. */
static bool rows_grow(void *list, size_t n, size_t *room, size_t each)
{
	size_t more = *room ? *room + *room / 2 : 64;
	void *grown;

	if (n < *room)
		return true;
	grown = realloc(*(void **)list, more * each);
	if (!grown)
		return false;
	*(void **)list = grown;
	*room = more;
	return true;
}

/* -1 without memory. */
static int column_new(struct rows *r, const char *part, const char *name)
{
	struct rows_list *grown = realloc(r->column, (r->ncolumns + 1) * sizeof *grown);
	char *copy = strdup(name);

	if (grown)
		r->column = grown;
	if (!grown || !copy) {
		free(copy);
		return -1;
	}
	grown[r->ncolumns] = (struct rows_list){ .part = part, .name = copy };
	return (int)r->ncolumns++;
}

/* The value of row r->n in a column; those of rows before it that have none are null. */
static bool column_set(struct rows *r, const char *part, const char *name, const json_t *v)
{
	int at = rows_column(r, part, name);
	struct rows_value value = { .number = NAN };
	struct rows_list *c;

	if (at < 0 && (at = column_new(r, part, name)) < 0)
		return false;
	c = &r->column[at];
	if (json_is_string(v) && (value.word = rows_word(r, json_string_value(v))) == 0)
		return false;
	if (v && dp_json_to_real(v, &value.number)) {
		value.kind = ROWS_NUMBER;
	} else if (json_is_string(v)) {
		value.kind = ROWS_WORD;
	} else if (json_is_boolean(v)) {
		value.kind = ROWS_TRUTH;
		value.number = json_is_true(v);
	}
	do {
		if (!rows_grow(&c->value, c->n, &c->room, sizeof *c->value))
			return false;
		c->value[c->n] = c->n < r->n ? (struct rows_value){ .number = NAN } : value;
	} while (c->n++ < r->n);
	return true;
}

bool rows_append(struct rows *r, const json_t *row)
{
	const json_t *v;
	const char *name;

	if (!rows_grow(&r->end, r->n, &r->room, sizeof *r->end))
		return false;
	for (size_t i = 0; i < DP_COUNT(own_columns); i++) {
		v = json_object_get(row, own_columns[i]);
		if (v && !column_set(r, NULL, own_columns[i], v))
			return false;
	}
	for (size_t i = 0; i < DP_COUNT(row_parts); i++)
		json_object_foreach (json_object_get(row, row_parts[i]), name, v)
			if (!column_set(r, row_parts[i], name, v))
				return false;
	dp_json_dump(&r->text, row, 0);
	if (r->text.failed)
		return false;
	r->end[r->n++] = r->text.len;
	return true;
}

struct rows *rows_from_json(const json_t *list)
{
	struct rows *r = rows_new();
	const json_t *row;
	size_t i;

	json_array_foreach (list, i, row)
		if (r && !rows_append(r, row)) {
			rows_unref(r);
			r = NULL;
		}
	if (r)
		rows_trim(r);
	return r;
}

static void trim(void *list, size_t n, size_t *room, size_t each)
{
	void *shorter = n ? realloc(*(void **)list, n * each) : NULL;

	if (!shorter)
		return; /* it stays as long as it is */
	*(void **)list = shorter;
	*room = n;
}

static void trim_text(struct dp_buf *b)
{
	if (b->data)
		trim(&b->data, b->len + 1, &b->cap, 1);
}

void rows_trim(struct rows *r)
{
	trim(&r->end, r->n, &r->room, sizeof *r->end);
	trim_text(&r->text);
	trim_text(&r->words);
	for (size_t i = 0; i < r->ncolumns; i++)
		trim(&r->column[i].value, r->column[i].n, &r->column[i].room,
		     sizeof *r->column[i].value);
}

/* ---- reading ---- */

size_t rows_count(const struct rows *r)
{
	return r->n;
}

size_t rows_bytes(const struct rows *r)
{
	size_t sum = sizeof *r + r->n * sizeof *r->end + r->text.len + r->words.len +
		     r->ncolumns * sizeof *r->column;

	for (size_t i = 0; i < r->ncolumns; i++)
		sum += r->column[i].n * sizeof *r->column[i].value;
	return sum;
}

const char *rows_text(const struct rows *r, size_t i, size_t *len)
{
	size_t from = i ? r->end[i - 1] : 0;

	*len = r->end[i] - from;
	return r->text.data + from;
}

int rows_column(const struct rows *r, const char *part, const char *name)
{
	for (size_t i = 0; i < r->ncolumns; i++) {
		const struct rows_list *c = &r->column[i];

		if ((part ? c->part && strcmp(c->part, part) == 0 : !c->part) &&
		    strcmp(c->name, name) == 0)
			return (int)i;
	}
	return -1;
}

struct rows_cell rows_cell(const struct rows *r, size_t i, int column)
{
	const struct rows_list *c = column < 0 ? NULL : &r->column[column];
	const struct rows_value *v = c && i < c->n ? &c->value[i] : NULL;

	if (!v)
		return (struct rows_cell){ .kind = ROWS_NONE, .number = NAN };
	return (struct rows_cell){ .kind = (enum rows_kind)v->kind,
				   .number = v->number,
				   .word = v->word ? r->words.data + v->word - 1 : NULL };
}
