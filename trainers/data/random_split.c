/* random_split.c - sets a random part of the records aside. */
#include "base/rng.h"
#include "trainers/data/dataset_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Marks `count` of n records, every set of so many equally likely. */
static void mark_random_rows(bool *chosen, uint32_t n, uint32_t count, uint64_t seed,
			     enum split_purpose use)
{
	struct dp_rng rng;

	dp_rng_init(&rng, seed, DP_RNG_TRAIN, 0, (uint32_t)use);
	for (uint32_t i = 0; i < n; i++) {
		chosen[i] = dp_rng_below(&rng, n - i) < count;
		count -= chosen[i];
	}
}

/* Copies the records whose mark is `mark`. */
static int copy_marked_rows(const struct sparse_rows *all, const bool *marks, bool mark,
			    struct dataset *out, struct dp_err *err)
{
	struct sparse_rows *r = &out->rows;
	uint64_t nentries = 0, *start;
	uint16_t *index;
	float *value = NULL;
	uint8_t *label;

	r->nfeatures = all->nfeatures;
	r->nclasses = all->nclasses;
	for (uint32_t i = 0; i < all->n; i++)
		if (marks[i] == mark) {
			r->n++;
			nentries += all->start[i + 1] - all->start[i];
		}
	r->start = start = dp_calloc((size_t)r->n + 1, sizeof *start);
	r->index = index = dp_malloc(nentries * sizeof *index + 1);
	r->label = label = dp_malloc((size_t)r->n + 1);
	if (all->value)
		r->value = value = dp_malloc(nentries * sizeof *value + 1);
	if (!start || !index || !label || (all->value && !value))
		return dp_fail(err, DP_E_NOMEM, "no memory for %u records", r->n);
	for (uint32_t i = 0; i < all->n; i++) {
		uint64_t from = all->start[i], len = all->start[i + 1] - from;

		if (marks[i] != mark)
			continue;
		memcpy(index + *start, all->index + from, len * sizeof *index);
		if (value)
			memcpy(value + *start, all->value + from, len * sizeof *value);
		*label++ = all->label[i];
		start[1] = start[0] + len;
		start++;
		if (len > r->max_row_entries)
			r->max_row_entries = (uint32_t)len;
	}
	return DP_OK;
}

int sparse_rows_split(const struct sparse_rows *all, double share, uint64_t seed,
		      enum split_purpose use, struct dataset *rest, struct dataset *part,
		      struct dp_err *err)
{
	double count = rint(share * (double)all->n);
	bool *chosen;
	int code;

	if (all->n < 2)
		return dp_fail(err, DP_E_INVALID, "one record cannot be split in two parts");
	count = fmin(fmax(count, 1), (double)(all->n - 1));
	chosen = dp_malloc(all->n);
	mark_random_rows(chosen, all->n, (uint32_t)count, seed, use);
	code = copy_marked_rows(all, chosen, false, rest, err);
	if (code == DP_OK)
		code = copy_marked_rows(all, chosen, true, part, err);
	free(chosen);
	return code;
}
