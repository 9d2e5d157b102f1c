/* made_rows.h - made-up records for tests of the models. */
#ifndef DP_TEST_MADE_ROWS_H
#define DP_TEST_MADE_ROWS_H
#include "base/rng.h"
#include "trainers/data/data_splits.h"

#include <stdlib.h>

/* n records with some of `nfeatures` features each, `most` at most, values 1 or in
 * -1..1, and a label that follows the first features. */
static inline struct sparse_rows made_rows(uint32_t n, uint32_t nfeatures, uint32_t most,
					   bool values, uint64_t seed)
{
	uint64_t *start = calloc((size_t)n + 1, sizeof *start);
	uint16_t *index = calloc((size_t)n * most + 1, sizeof *index);
	float *value = calloc((size_t)n * most + 1, sizeof *value);
	uint8_t *label = calloc((size_t)n + 1, 1);
	struct dp_rng rng;
	uint64_t k = 0;

	dp_rng_init(&rng, seed, DP_RNG_TEST, 0, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t room = most;
		double score = -0.3;

		for (uint32_t f = 0; f < nfeatures && room > 0; f++) {
			if (dp_rng_uniform(&rng) >= 0.9 * most / nfeatures)
				continue;
			index[k] = (uint16_t)f;
			value[k] = (float)(2 * dp_rng_uniform(&rng) - 1);
			score += f % 3 ? -0.5 : 0.7;
			room--;
			k++;
		}
		start[i + 1] = k;
		label[i] = score + dp_rng_normal(&rng) > 0;
	}
	if (!values) {
		free(value);
		value = NULL;
	}
	return (struct sparse_rows){ .n = n,
				     .nfeatures = nfeatures,
				     .nclasses = 2,
				     .start = start,
				     .index = index,
				     .value = value,
				     .label = label,
				     .max_row_entries = most };
}

static inline void free_rows(struct sparse_rows *r)
{
	free((void *)r->start);
	free((void *)r->index);
	free((void *)r->value);
	free((void *)r->label);
}

/* Row i as a dense vector with the bias at its end. */
static inline void dense_row(const struct sparse_rows *r, uint32_t i, double *x)
{
	for (uint32_t f = 0; f < r->nfeatures; f++)
		x[f] = 0;
	for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++)
		x[r->index[k]] = r->value ? r->value[k] : 1;
	x[r->nfeatures] = 1;
}

#endif
