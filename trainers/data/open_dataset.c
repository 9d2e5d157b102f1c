/* open_dataset.c - opens a data set: loads its files, matches train and test, and splits them. */
#include "base/rng.h"
#include "trainers/data/dataset_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without a test file, this share of the records is the test set. The seed is fixed, so that all
 * trials are scored on the same records. */
static const double test_share = 0.2;
static const uint64_t test_seed = 1;

struct data_memory {
	struct dataset train, test, validation;
	uint8_t *test_label; /* labels of the test set, numbered like the classes of train */
};

void data_splits_close(struct data_splits *d)
{
	struct data_memory *m = d->memory;

	if (m) {
		dataset_free(&m->train);
		dataset_free(&m->test);
		dataset_free(&m->validation);
		free(m->test_label);
		free(m);
	}
	memset(d, 0, sizeof *d);
}

static void copy_marked_rows(const struct sparse_rows *all, const bool *marks, bool mark,
			     struct dataset *out)
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
}

int sparse_rows_split(const struct sparse_rows *all, double share, uint64_t seed,
		      enum split_purpose use, struct dataset *rest, struct dataset *part,
		      struct dp_err *err)
{
	uint32_t left; /* records still to be chosen */
	struct dp_rng rng;
	bool *chosen;

	if (all->n < 2)
		return dp_fail(err, DP_E_INVALID, "one record cannot be split in two parts");
	left = (uint32_t)fmin(fmax(rint(share * (double)all->n), 1), (double)(all->n - 1));
	chosen = dp_malloc(all->n);
	dp_rng_init(&rng, seed, DP_RNG_TRAIN, 0, (uint32_t)use);
	for (uint32_t i = 0; i < all->n; i++) { /* every subset of that size is equally likely */
		chosen[i] = dp_rng_below(&rng, all->n - i) < left;
		left -= chosen[i];
	}
	copy_marked_rows(all, chosen, false, rest);
	copy_marked_rows(all, chosen, true, part);
	free(chosen);
	return DP_OK;
}

static int split_train(struct data_memory *m, double share, uint64_t seed, enum split_purpose use,
		       struct dataset *part, struct dp_err *err)
{
	struct dataset all = m->train;
	int code;

	memset(&m->train, 0, sizeof m->train);
	code = sparse_rows_split(&all.rows, share, seed, use, &m->train, part, err);
	dataset_free(&all);
	return code;
}

/* Renumbers the test set's classes like the training set's: a file may lack some of them. */
static int match_classes(struct data_memory *m, struct dp_err *err)
{
	const struct class_labels *train = &m->train.classes, *test = &m->test.classes;
	uint8_t number[CLASSES_MAX];
	bool same = true;

	for (uint32_t i = 0; i < test->n; i++) {
		int found = class_labels_find(train, test->name[i]);

		if (found < 0)
			return dp_fail(err, DP_E_INVALID,
				       "the test set has the label '%s', which the "
				       "training set has not",
				       test->name[i]);
		number[i] = (uint8_t)found;
		same = same && number[i] == i;
	}
	m->test.rows.nclasses = train->n;
	if (same)
		return DP_OK;
	m->test_label = dp_malloc(m->test.rows.n);
	for (uint32_t i = 0; i < m->test.rows.n; i++)
		m->test_label[i] = number[m->test.rows.label[i]];
	return DP_OK;
}

static int match_features(struct dataset *train, struct dataset *test, struct dp_err *err)
{
	struct sparse_rows *a = &train->rows, *b = &test->rows;
	uint32_t wide = a->nfeatures > b->nfeatures ? a->nfeatures : b->nfeatures;

	if (train->column_checksum && test->column_checksum &&
	    train->column_checksum != test->column_checksum)
		return dp_fail(err, DP_E_INVALID,
			       "the columns of the test set have other names than those "
			       "of the training set, or another order");
	if ((a->nfeatures < wide && !train->can_widen) || (b->nfeatures < wide && !test->can_widen))
		return dp_fail(err, DP_E_INVALID,
			       "the test set has %u features, the training set %u", b->nfeatures,
			       a->nfeatures);
	a->nfeatures = b->nfeatures = wide;
	return DP_OK;
}

static int load_dataset_files(const struct data_options *o, struct data_memory *m,
			      struct dp_err *err)
{
	struct dataset_files files = { 0 };
	struct dataset *train = &m->train;
	int code = dataset_files_find(o, &files, err);

	if (code == DP_OK)
		code = dataset_load(files.train, o, train, err);
	if (code == DP_OK && train->rows.nclasses < 2)
		code = dp_fail(err, DP_E_INVALID,
			       "%s: every record has the label '%s', so there is nothing to learn",
			       files.train, train->classes.name[0]);
	if (code == DP_OK && !files.test) {
		code = split_train(m, test_share, test_seed, SPLIT_TEST, &m->test, err);
	} else if (code == DP_OK && (code = dataset_load(files.test, o, &m->test, err)) == DP_OK) {
		code = match_features(train, &m->test, err);
		if (code == DP_OK)
			code = match_classes(m, err);
		if (code != DP_OK)
			dp_err_prefix(err, "%s with %s", files.train, files.test);
	}
	dataset_files_free(&files);
	return code;
}

int data_splits_open(struct data_splits *d, const struct data_options *o, struct dp_err *err)
{
	uint32_t count[CLASSES_MAX] = { 0 }, most = 0;
	struct data_memory *m;
	int code;

	memset(d, 0, sizeof *d);
	if (!(o->holdout >= 0 && o->holdout < 1))
		return dp_fail(err, DP_E_INVALID,
			       "the share held out is %g; it must be at least 0 and below 1",
			       o->holdout);
	if (o->test && is_named_dataset(o->name))
		return dp_fail(
			err, DP_E_INVALID,
			"the data set '%s' has a test set of its own; %s cannot be used with it",
			o->name, o->test);
	d->memory = m = dp_calloc(1, sizeof *m);
	code = strcmp(o->name, "census") == 0 ? census_generate(&m->train, &m->test, err)
					      : load_dataset_files(o, m, err);
	if (code == DP_OK && o->holdout > 0)
		code = split_train(m, o->holdout, o->split_seed, SPLIT_HOLDOUT, &m->validation,
				   err);
	if (code != DP_OK) {
		data_splits_close(d);
		return code;
	}
	d->train = m->train.rows;
	d->validation = m->validation.rows;
	d->test = m->test.rows;
	if (m->test_label)
		d->test.label = m->test_label;
	for (uint32_t i = 0; i < d->test.n; i++)
		if (++count[d->test.label[i]] > most)
			most = count[d->test.label[i]];
	d->majority_share = (double)most / (double)d->test.n;
	return DP_OK;
}
