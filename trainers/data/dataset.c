/* dataset.c - builds and frees parsed data sets. */
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

static void dataset_builder_grow_entries(struct dataset_builder *b)
{
	b->entry_capacity = b->entry_capacity ? 2 * b->entry_capacity : 1024;
	b->index = dp_reallocarray(b->index, b->entry_capacity, sizeof *b->index);
	if (b->value)
		b->value = dp_reallocarray(b->value, b->entry_capacity, sizeof *b->value);
}

void dataset_builder_add_entry(struct dataset_builder *b, uint32_t index, float value)
{
	if (value == 0)
		return;
	value = value > VALUE_MAX ? VALUE_MAX : value < -VALUE_MAX ? -VALUE_MAX : value;
	if (b->nentries == b->entry_capacity)
		dataset_builder_grow_entries(b);
	if (value != 1 && !b->value) { /* the first entry other than 1: keep values from now on */
		b->value = dp_reallocarray(NULL, b->entry_capacity, sizeof *b->value);
		for (size_t i = 0; i < b->nentries; i++)
			b->value[i] = 1;
	}
	b->index[b->nentries] = (uint16_t)index;
	if (b->value)
		b->value[b->nentries] = value;
	b->nentries++;
}

void dataset_builder_end_row(struct dataset_builder *b, uint8_t label)
{
	if (b->nrows == b->row_capacity) {
		b->row_capacity = b->row_capacity ? 2 * b->row_capacity : 256;
		/* one more for the end of the last row */
		b->start = dp_reallocarray(b->start, b->row_capacity + 1, sizeof *b->start);
		b->label = dp_reallocarray(b->label, b->row_capacity, sizeof *b->label);
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

	if (b->nrows == 0)
		return dp_fail(err, DP_E_INVALID, "there are no records in it");
	if (b->nentries == 0)
		dataset_builder_grow_entries(b); /* `index` must not be NULL */
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
