/* dataset.c - parsed records that own their memory, and how they are put together. */
#include "trainers/data/dataset_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void dataset_free(struct dataset *s)
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

bool sparse_rows_has_feature(const struct sparse_rows *rows, uint32_t i, uint32_t feature)
{
	for (uint64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
		if (rows->index[k] == feature)
			return !rows->value || rows->value[k] != 0;
	return false;
}

void dataset_builder_free(struct dataset_builder *b)
{
	free(b->start);
	free(b->index);
	free(b->value);
	free(b->label);
	memset(b, 0, sizeof *b);
}

/* realloc of the array that the pointer at `at` points to; false, with the old one
 * intact, without memory. */
static bool resize_array(void *at, size_t count, size_t size)
{
	void *p;

	memcpy(&p, at, sizeof p); /* of whatever type it is */
	p = dp_reallocarray(p, count, size);
	if (p)
		memcpy(at, &p, sizeof p);
	return p != NULL;
}

static bool dataset_builder_grow_entries(struct dataset_builder *b)
{
	size_t room = b->entry_capacity ? 2 * b->entry_capacity : 1024;

	if (!resize_array(&b->index, room, sizeof *b->index) ||
	    (b->value && !resize_array(&b->value, room, sizeof *b->value)))
		return false;
	b->entry_capacity = room;
	return true;
}

static bool dataset_builder_grow_rows(struct dataset_builder *b)
{
	size_t room = b->row_capacity ? 2 * b->row_capacity : 256;

	/* one more for the end of the last row */
	if (!resize_array(&b->start, room + 1, sizeof *b->start) ||
	    !resize_array(&b->label, room, sizeof *b->label))
		return false;
	b->row_capacity = room;
	return true;
}

/* The first entry that is not 1: from now on values are kept. */
static bool dataset_builder_start_values(struct dataset_builder *b)
{
	if (!resize_array(&b->value, b->entry_capacity, sizeof *b->value))
		return false;
	for (size_t i = 0; i < b->nentries; i++)
		b->value[i] = 1;
	return true;
}

void dataset_builder_add_entry(struct dataset_builder *b, uint32_t index, float value)
{
	if (value == 0 || b->failed)
		return;
	value = value > VALUE_MAX ? VALUE_MAX : value < -VALUE_MAX ? -VALUE_MAX : value;
	if ((b->nentries == b->entry_capacity && !dataset_builder_grow_entries(b)) ||
	    (value != 1 && !b->value && !dataset_builder_start_values(b))) {
		b->failed = true;
		return;
	}
	b->index[b->nentries] = (uint16_t)index;
	if (b->value)
		b->value[b->nentries] = value;
	b->nentries++;
}

void dataset_builder_end_row(struct dataset_builder *b, uint8_t label)
{
	if (b->failed)
		return;
	if (b->nrows == b->row_capacity && !dataset_builder_grow_rows(b)) {
		b->failed = true;
		return;
	}
	if (b->nrows == 0)
		b->start[0] = 0;
	b->label[b->nrows++] = label;
	b->start[b->nrows] = b->nentries;
}

int dataset_builder_finish(struct dataset_builder *b, uint32_t nfeatures, struct dataset *s,
			   struct dp_err *err)
{
	struct sparse_rows *r = &s->rows;

	if (!b->failed && b->nrows > 0 && b->nentries == 0)
		b->failed = !dataset_builder_grow_entries(b); /* so that `index` is never NULL */
	if (b->failed)
		return dp_fail(err, DP_E_NOMEM, "no memory for %zu records", b->nrows);
	if (b->nrows == 0)
		return dp_fail(err, DP_E_INVALID, "there are no records in it");
	class_labels_sort(&s->classes, b->label, b->nrows);
	for (size_t i = 0; i < b->nrows; i++) {
		uint64_t len = b->start[i + 1] - b->start[i];

		if (len > r->max_row_entries)
			r->max_row_entries = (uint32_t)len;
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
