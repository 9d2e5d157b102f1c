/* trial_rows.c - stores the rows of trials as text and columns. */
#include "serve/data/trial_rows.h"

#include "base/buf.h"
#include "base/json.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	STRING_HASH_SIZE = 256
};

static const char *const own_columns[] = { "trial",   "at",      "state", "source",  "attempts",
					   "seconds", "started", "ended", "feasible" };
static const char *const row_parts[] = { "objectives", "parameters" };

struct trial_value {
	double number;
	uint32_t string_offset; /* offset in the strings, plus 1; 0: none */
	uint32_t kind;
};

struct trial_column {
	const char *group; /* from sequence_work[], or NULL */
	char *name;
	struct trial_value *values; /* (n_values); later rows have no value */
	size_t n_values, capacity;
};

struct trial_rows {
	atomic_uint refcount;
	size_t n_rows, capacity;
	size_t *text_ends; /* (n) end of each row's text */
	struct dp_buf text, strings;
	uint32_t string_hash[STRING_HASH_SIZE]; /* offsets of strings, plus 1, by hash */
	struct trial_column *columns;
	size_t n_columns;
};

struct trial_rows *trial_rows_new(void)
{
	struct trial_rows *r = dp_calloc(1, sizeof *r);

	atomic_init(&r->refcount, 1);
	return r;
}

struct trial_rows *trial_rows_ref(struct trial_rows *r)
{
	atomic_fetch_add(&r->refcount, 1);
	return r;
}

void trial_rows_unref(struct trial_rows *r)
{
	if (!r || atomic_fetch_sub(&r->refcount, 1) > 1)
		return;
	for (size_t i = 0; i < r->n_columns; i++) {
		free(r->columns[i].name);
		free(r->columns[i].values);
	}
	free(r->columns);
	free(r->text_ends);
	dp_buf_free(&r->text);
	dp_buf_free(&r->strings);
	free(r);
}

/* Returns the offset of the string, plus 1. Most columns have few distinct strings. */
static uint32_t trial_rows_intern_string(struct trial_rows *r, const char *word)
{
	size_t len = strlen(word), hash = len;
	uint32_t *seen;

	for (size_t i = 0; i < len; i++)
		hash = hash * 31 + (unsigned char)word[i];
	seen = &r->string_hash[hash % STRING_HASH_SIZE];
	if (!*seen || strcmp(r->strings.data + *seen - 1, word) != 0) {
		*seen = (uint32_t)r->strings.len + 1;
		dp_buf_add(&r->strings, word, len + 1);
	}
	return *seen;
}

/* Returns the list with space for one more element. */
static void *grown_list(void *list, size_t n, size_t *room, size_t each)
{
	if (n < *room)
		return list;
	*room = *room ? *room + *room / 2 : 64;
	return dp_reallocarray(list, *room, each);
}

/* Sets the value of the current row in a column. Earlier rows without a value are null. */
static void trial_rows_set_value(struct trial_rows *r, const char *part, const char *name,
				 const json_t *v)
{
	int at = trial_rows_find_column(r, part, name);
	struct trial_value value = { .number = NAN };
	struct trial_column *c;

	if (at < 0) {
		at = (int)r->n_columns++;
		r->columns = dp_reallocarray(r->columns, r->n_columns, sizeof *r->columns);
		r->columns[at] = (struct trial_column){ .group = part, .name = dp_strdup(name) };
	}
	c = &r->columns[at];
	if (json_is_string(v))
		value.string_offset = trial_rows_intern_string(r, json_string_value(v));
	if (dp_json_to_real(v, &value.number)) {
		value.kind = CELL_NUMBER;
	} else if (json_is_string(v)) {
		value.kind = CELL_STRING;
	} else if (json_is_boolean(v)) {
		value.kind = CELL_BOOL;
		value.number = json_is_true(v);
	}
	do {
		c->values = grown_list(c->values, c->n_values, &c->capacity, sizeof *c->values);
		c->values[c->n_values] =
			c->n_values < r->n_rows ? (struct trial_value){ .number = NAN } : value;
	} while (c->n_values++ < r->n_rows);
}

void trial_rows_append(struct trial_rows *r, const json_t *row)
{
	const json_t *v;
	const char *name;

	for (size_t i = 0; i < DP_COUNT(own_columns); i++) {
		v = json_object_get(row, own_columns[i]);
		if (v)
			trial_rows_set_value(r, NULL, own_columns[i], v);
	}
	for (size_t i = 0; i < DP_COUNT(row_parts); i++)
		json_object_foreach (json_object_get(row, row_parts[i]), name, v)
			trial_rows_set_value(r, row_parts[i], name, v);
	dp_json_dump(&r->text, row, 0);
	r->text_ends = grown_list(r->text_ends, r->n_rows, &r->capacity, sizeof *r->text_ends);
	r->text_ends[r->n_rows++] = r->text.len;
}

struct trial_rows *trial_rows_from_json(const json_t *list)
{
	struct trial_rows *r = trial_rows_new();
	const json_t *row;
	size_t i;

	json_array_foreach (list, i, row)
		trial_rows_append(r, row);
	trial_rows_trim(r);
	return r;
}

static void shrink_buf(struct dp_buf *b)
{
	if (!b->data)
		return;
	b->cap = b->len + 1;
	b->data = dp_realloc(b->data, b->cap);
}

void trial_rows_trim(struct trial_rows *r)
{
	if (r->n_rows > 0) {
		r->capacity = r->n_rows;
		r->text_ends = dp_reallocarray(r->text_ends, r->capacity, sizeof *r->text_ends);
	}
	shrink_buf(&r->text);
	shrink_buf(&r->strings);
	for (size_t i = 0; i < r->n_columns; i++) {
		struct trial_column *c = &r->columns[i];

		c->capacity = c->n_values;
		c->values = dp_reallocarray(c->values, c->capacity, sizeof *c->values);
	}
}

size_t trial_rows_count(const struct trial_rows *r)
{
	return r->n_rows;
}

size_t trial_rows_memory_bytes(const struct trial_rows *r)
{
	size_t sum = sizeof *r + r->n_rows * sizeof *r->text_ends + r->text.len + r->strings.len +
		     r->n_columns * sizeof *r->columns;

	for (size_t i = 0; i < r->n_columns; i++)
		sum += r->columns[i].n_values * sizeof *r->columns[i].values;
	return sum;
}

const char *trial_rows_get_text(const struct trial_rows *r, size_t i, size_t *len)
{
	size_t from = i ? r->text_ends[i - 1] : 0;

	*len = r->text_ends[i] - from;
	return r->text.data + from;
}

int trial_rows_find_column(const struct trial_rows *r, const char *part, const char *name)
{
	for (size_t i = 0; i < r->n_columns; i++) {
		const struct trial_column *c = &r->columns[i];

		if ((part ? c->group && strcmp(c->group, part) == 0 : !c->group) &&
		    strcmp(c->name, name) == 0)
			return (int)i;
	}
	return -1;
}

struct trial_cell trial_rows_get_cell(const struct trial_rows *r, size_t i, int column)
{
	const struct trial_column *c = column < 0 ? NULL : &r->columns[column];
	const struct trial_value *v = c && i < c->n_values ? &c->values[i] : NULL;

	if (!v)
		return (struct trial_cell){ .kind = CELL_NONE, .number = NAN };
	return (struct trial_cell){ .kind = (enum trial_cell_kind)v->kind,
				    .number = v->number,
				    .string = v->string_offset
						      ? r->strings.data + v->string_offset - 1
						      : NULL };
}
