/* set.c - parsed records that own their memory, and how they are put together. */
#include "trainers/data/data_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void set_free(struct set *s)
{
	if (s->map) {
		munmap(s->map, s->map_len);
	} else {
		free((void *)s->rows.start);
		free((void *)s->rows.index);
		free((void *)s->rows.value);
		free((void *)s->rows.label);
	}
	memset(s, 0, sizeof *s);
}

bool rows_have(const struct rows *rows, uint32_t i, uint32_t feature)
{
	for (uint64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
		if (rows->index[k] == feature)
			return !rows->value || rows->value[k] != 0;
	return false;
}

void builder_free(struct builder *b)
{
	free(b->start);
	free(b->index);
	free(b->value);
	free(b->label);
	memset(b, 0, sizeof *b);
}

/* realloc of the array that the pointer at `at` points to; false, with the old one
 * intact, without memory. */
static bool set_resize(void *at, size_t count, size_t size)
{
	void *p;

	memcpy(&p, at, sizeof p); /* of whatever type it is */
	p = reallocarray(p, count, size);
	if (p)
		memcpy(at, &p, sizeof p);
	return p != NULL;
}

static bool more_entries(struct builder *b)
{
	size_t room = b->entry_room ? 2 * b->entry_room : 1024;

	if (!set_resize(&b->index, room, sizeof *b->index) ||
	    (b->value && !set_resize(&b->value, room, sizeof *b->value)))
		return false;
	b->entry_room = room;
	return true;
}

static bool more_rows(struct builder *b)
{
	size_t room = b->row_room ? 2 * b->row_room : 256;

	/* one more for the end of the last row */
	if (!set_resize(&b->start, room + 1, sizeof *b->start) ||
	    !set_resize(&b->label, room, sizeof *b->label))
		return false;
	b->row_room = room;
	return true;
}

/* The first entry that is not 1: from now on values are kept. */
static bool keep_values(struct builder *b)
{
	if (!set_resize(&b->value, b->entry_room, sizeof *b->value))
		return false;
	for (size_t i = 0; i < b->nentries; i++)
		b->value[i] = 1;
	return true;
}

void builder_entry(struct builder *b, uint32_t index, float value)
{
	if (value == 0 || b->failed)
		return;
	value = value > VALUE_MAX ? VALUE_MAX : value < -VALUE_MAX ? -VALUE_MAX : value;
	if ((b->nentries == b->entry_room && !more_entries(b)) ||
	    (value != 1 && !b->value && !keep_values(b))) {
		b->failed = true;
		return;
	}
	b->index[b->nentries] = (uint16_t)index;
	if (b->value)
		b->value[b->nentries] = value;
	b->nentries++;
}

void builder_row(struct builder *b, uint8_t label)
{
	if (b->failed)
		return;
	if (b->nrows == b->row_room && !more_rows(b)) {
		b->failed = true;
		return;
	}
	if (b->nrows == 0)
		b->start[0] = 0;
	b->label[b->nrows++] = label;
	b->start[b->nrows] = b->nentries;
}

int builder_finish(struct builder *b, uint32_t nfeatures, struct set *s, struct dp_err *err)
{
	struct rows *r = &s->rows;

	if (!b->failed && b->nrows > 0 && b->nentries == 0)
		b->failed = !more_entries(b); /* so that `index` is never NULL */
	if (b->failed)
		return dp_fail(err, DP_E_NOMEM, "no memory for %zu records", b->nrows);
	if (b->nrows == 0)
		return dp_fail(err, DP_E_INVALID, "there are no records in it");
	classes_sort(&s->classes, b->label, b->nrows);
	for (size_t i = 0; i < b->nrows; i++) {
		uint64_t len = b->start[i + 1] - b->start[i];

		if (len > r->row_max)
			r->row_max = (uint32_t)len;
	}
	r->n = (uint32_t)b->nrows;
	r->nfeatures = nfeatures;
	r->nclasses = s->classes.n;
	r->start = b->start;
	r->index = b->index;
	r->value = b->value;
	r->label = b->label;
	memset(b, 0, sizeof *b);
	return DP_OK;
}
