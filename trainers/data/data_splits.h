/* data_splits.h - labelled records for the built-in trainers, from files of four formats or made
 * up, kept parsed in a memory-mapped cache that trainers share. */
#ifndef DP_TRAINERS_DATA_DATA_SPLITS_H
#define DP_TRAINERS_DATA_DATA_SPLITS_H
#include "base/base.h"

/* Records as sparse rows: row i has the entries start[i] .. start[i + 1]. Indices rise within a
 * row. */
struct sparse_rows {
	uint32_t n, nfeatures, nclasses;
	const uint64_t *start;    /* (n + 1) */
	const uint16_t *index;    /* from 0; nfeatures is at most 65535 */
	const float *value;       /* NULL: every entry is 1 */
	const uint8_t *label;     /* class, from 0; binary: 1 is the positive one */
	uint32_t max_row_entries; /* entries of the fullest row */
};

struct data_splits {
	struct sparse_rows train, test;
	struct sparse_rows validation; /* n = 0 without a holdout */
	double majority_share;         /* share of the commonest test class: the accuracy of
					* a constant answer */
	/* what owns the memory: opaque to users */
	struct data_memory *memory;
};

struct data_options {
	const char *name;         /* adult, adult-a9a, mnist, census, or a path */
	const char *test;         /* path of the test file where `name` is a path; or NULL */
	const char *label_column; /* CSV: name or number (from 1; -1: the last); NULL: last */
	const char *dir;          /* --data-dir or NULL */
	double holdout;           /* share of the training records held out, 0: none */
	uint64_t split_seed;      /* which ones */
	bool no_cache;            /* neither read nor write a cache */
};

/* Does record i have this feature, numbered from 0, other than as 0? */
bool sparse_rows_has_feature(const struct sparse_rows *rows, uint32_t i, uint32_t feature);

/* Opens a data set. The error names file, line or offset, and the reason; when a set is nowhere to
 * be found, all places that were looked at and what to do. */
DP_MUSTCHECK int data_splits_open(struct data_splits *d, const struct data_options *o,
				  struct dp_err *err);
void data_splits_close(struct data_splits *d);

#endif
