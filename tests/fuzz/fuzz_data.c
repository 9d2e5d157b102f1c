/* fuzz_data.c - files of any bytes to the parsers, and any rows to the reader of caches:
 * the first byte chooses which. What is accepted must be a set that a trainer can use. */
#include "base/base.h"
#include "trainers/data/dataset_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static void check_rows(const struct sparse_rows *r)
{
	demand(r->n > 0 && r->nfeatures > 0 && r->nfeatures <= FEATURES_MAX);
	demand(r->nclasses > 0 && r->nclasses <= CLASSES_MAX);
	demand(r->start[0] == 0);
	for (uint32_t i = 0; i < r->n; i++) {
		demand(r->label[i] < r->nclasses);
		demand(r->start[i] <= r->start[i + 1]);
		demand(r->start[i + 1] - r->start[i] <= r->max_row_entries);
		for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++) {
			demand(r->index[k] < r->nfeatures);
			demand(k == r->start[i] || r->index[k - 1] < r->index[k]);
		}
	}
}

static void check_set(const struct dataset *s)
{
	const struct sparse_rows *r = &s->rows;

	check_rows(r);
	demand(s->classes.n == r->nclasses);
	for (uint32_t i = 0; i < r->nclasses; i++)
		demand(strlen(s->classes.name[i]) > 0 &&
		       class_labels_find(&s->classes, s->classes.name[i]) == (int)i);
	for (uint64_t k = 0; r->value && k < r->start[r->n]; k++)
		demand(isfinite(r->value[k]) && r->value[k] != 0);
}

static void check_split(const struct sparse_rows *all)
{
	struct dataset rest = { .map = NULL }, part = { .map = NULL };

	if (sparse_rows_split(all, 0.2, 1, SPLIT_TEST, &rest, &part, NULL) == DP_OK) {
		check_rows(&rest.rows);
		check_rows(&part.rows);
		demand(rest.rows.n + part.rows.n == all->n);
	}
	dataset_free(&rest);
	dataset_free(&part);
}

static int parse(uint8_t how, const char *p, size_t len, struct dataset *s, struct dp_err *err)
{
	static const char *const columns[] = { NULL, "1", "-1", "y" };
	size_t half = len > 0 ? (uint8_t)p[0] : 0;

	switch (how % 4) {
	case 0:
		return libsvm_parse(p, len, s, err);
	case 1:
		return adult_parse(p, len, s, err);
	case 2:
		return csv_parse(p, len, columns[how / 4 % 4], s, err);
	default:
		/* so many bytes of images, then labels */
		if (len > 0 && half < len)
			return idx_parse(p + 1, half, p + 1 + half, len - 1 - half, s, err);
		return idx_parse(p, len, p, len, s, err);
	}
}

/* Rows that nobody checked, in a cache with good checksums: what is accepted must be
 * within bounds. The bytes are sizes, then labels, starts and indices. */
static void forge_cache(const uint8_t *p, size_t len, struct dataset *s)
{
	struct cache_source from = { .path = "f" };
	struct file_stamp stamps[2] = { { .size = 1 } };
	struct dp_buf cache = DP_BUF_INIT;
	uint64_t start[17];
	uint16_t index[64];
	struct sparse_rows *r = &s->rows;
	size_t nentries;
	bool encoded;

	if (len < 4 + 16 + 17 + 64)
		return;
	*r = (struct sparse_rows){ .n = p[0] % 16 + 1, .nfeatures = p[1], .nclasses = p[2] };
	nentries = p[3] % 65;
	r->max_row_entries = p[3] / 65 ? (uint32_t)nentries : p[0] / 16;
	r->label = p + 4;
	for (size_t i = 0; i < r->n; i++)
		start[i] = p[20 + i] == 255 ? UINT64_MAX : p[20 + i];
	start[r->n] = nentries;
	for (size_t i = 0; i < nentries; i++)
		index[i] = p[37 + i];
	r->start = start;
	r->index = index;
	encoded = dataset_cache_encode(&from, stamps, s, &cache);
	memset(s, 0, sizeof *s);
	if (encoded && dataset_cache_decode(cache.data, cache.len, s))
		check_rows(&s->rows);
	memset(s, 0, sizeof *s); /* nothing in it was its own */
	dp_buf_free(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dp_err err = { 0 };
	struct dataset *s;

	if (size == 0)
		return 0;
	s = calloc(1, sizeof *s);
	demand(s != NULL);
	(void)data_format_detect((const char *)data + 1, size - 1);
	if (data[0] == 255)
		forge_cache(data + 1, size - 1, s);
	else if (parse(data[0], (const char *)data + 1, size - 1, s, &err) == DP_OK) {
		check_set(s);
		check_split(&s->rows);
	} else {
		demand(err.code != DP_OK && err.msg[0] != '\0');
		for (const char *c = err.msg; *c; c++)
			demand(*c >= ' ' && *c < 0x7f);
	}
	dataset_free(s);
	free(s);
	return 0;
}
