/* data_splits.h - opens labelled data sets for the built-in trainers, as training and test records.
 *
 * Records come from files of four formats or are synthetic. Parsed files are kept in a
 * memory-mapped cache that trainers share. */
#ifndef DP_TRAINERS_DATA_DATA_SPLITS_H
#define DP_TRAINERS_DATA_DATA_SPLITS_H
#include "base/base.h"

/* Sparse rows: row i has the entries start[i] .. start[i + 1], with ascending indices. */
struct sparse_rows {
	uint32_t n, nfeatures, nclasses;
	const uint64_t *start;    /* (n + 1) */
	const uint16_t *index;    /* from 0; nfeatures is at most 65535 */
	const float *value;       /* NULL: every entry is 1 */
	const uint8_t *label;     /* class from 0; with two classes, 1 is the positive one */
	uint32_t max_row_entries; /* entries of the longest row */
};

struct data_splits {
	struct sparse_rows train, test;
	struct sparse_rows validation; /* n = 0 without a holdout */
	double majority_share;         /* test accuracy of always predicting the majority class */
	/* owns the arrays; opaque */
	struct data_memory *memory;
};

struct data_options {
	const char *name;         /* adult, adult-a9a, mnist, census, or a path */
	const char *test;         /* path of the test file if `name` is a path; or NULL */
	const char *label_column; /* CSV: name or number (from 1; -1: the last); NULL: last */
	const char *dir;          /* --data-dir or NULL */
	double holdout;           /* share of the training records held out; 0: none */
	uint64_t split_seed;      /* selects the held-out records */
	bool no_cache;            /* neither read nor write a cache */
};

/* True if record i has a value other than 0 for the feature, numbered from 0. */
bool sparse_rows_has_feature(const struct sparse_rows *rows, uint32_t i, uint32_t feature);

/* Opens a data set. The error names file, line or offset, and the reason; if the files are missing,
 * all directories that were searched and a remedy. */
DP_MUSTCHECK int data_splits_open(struct data_splits *d, const struct data_options *o,
				  struct dp_err *err);
void data_splits_close(struct data_splits *d);

#endif
