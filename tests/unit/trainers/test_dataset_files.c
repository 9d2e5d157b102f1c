/* test_dataset_files.c - where data files are looked for, and how records are split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/data_place.h"

/* ---- which files ---- */

static void open_sizes(const struct data_options *o, uint32_t train, uint32_t test)
{
	struct dp_err err = { 0 };
	struct data_splits d;

	if (data_splits_open(&d, o, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(d.train.n, train);
	assert_int_equal(d.test.n, test);
	data_splits_close(&d);
	assert_null(d.memory);
}

static void sets_are_looked_for_in_order(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = "adult" };
	char dir[96], env[96];

	snprintf(dir, sizeof dir, "%s/dir", p->top);
	snprintf(env, sizeof env, "%s/env", p->top);
	setenv("DPARETO_DATA", env, 1);
	expect_failure(&o, DP_E_NOT_FOUND, env);
	expect_failure(&o, DP_E_NOT_FOUND, ".local/share/dpareto/adult");
	shim_create_file(p, "home/.local/share/dpareto/adult/a1a.t", ROWS_4);
	expect_failure(&o, DP_E_NOT_FOUND, "but the test file a1a or a1a.gz is not");
	shim_create_file(p, "home/.local/share/dpareto/adult/a1a", ROWS_2);
	open_sizes(&o, 4, 2);
	shim_create_file(p, "env/a1a.t", ROWS_3);
	make_packed(p, "env/a1a.gz", ROWS_3, strlen(ROWS_3));
	open_sizes(&o, 3, 3);
	o.dir = dir;
	open_sizes(&o, 3, 3);
	shim_create_file(p, "dir/adult/a1a", ROWS_4);
	make_packed(p, "dir/adult/a1a.t.gz", ROWS_2, strlen(ROWS_2));
	open_sizes(&o, 2, 4);
}

static void names_and_hints(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = "mnist" };
	struct dp_err err = { 0 };
	struct data_splits d;

	assert_int_equal(data_splits_open(&d, &o, &err), DP_E_NOT_FOUND);
	assert_non_null(strstr(err.hint, "scripts/fetch-data mnist"));
	assert_non_null(strstr(err.hint, "--data census"));
	o.name = "mnits";
	assert_int_equal(data_splits_open(&d, &o, &err), DP_E_NOT_FOUND);
	assert_non_null(strstr(err.hint, "'mnist'"));
	o.name = path_of(p, "nothing");
	expect_failure(&o, DP_E_NOT_FOUND, "there is no file");
	o.name = "census";
	o.test = "x";
	expect_failure(&o, DP_E_INVALID, "has a test set of its own");
	/* adult-a9a can also be made from the original files */
	shim_create_file(p, "adult.data", ADULT_39 "25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K\n");
	shim_create_file(p, "adult.test", "|x\n25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K.\n");
	o = (struct data_options){ .name = "adult-a9a", .dir = p->top };
	open_sizes(&o, 2, 1);
	shim_create_file(p, "a9a", ROWS_4);
	shim_create_file(p, "a9a.t", ROWS_3);
	open_sizes(&o, 4, 3);
}

static void the_test_file_goes_with_its_name(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	char test[256];

	shim_create_file(p, "set.t", ROWS_2);
	o.name = shim_create_file(p, "set", ROWS_4);
	open_sizes(&o, 4, 2);
	strcpy(test, shim_create_file(p, "other", ROWS_3));
	o.test = test;
	o.name = path_of(p, "set");
	open_sizes(&o, 4, 3);
	o.test = NULL;
	make_packed(p, "zip.t.gz", ROWS_2, strlen(ROWS_2));
	make_packed(p, "zip.gz", ROWS_3, strlen(ROWS_3));
	o.name = path_of(p, "zip");
	open_sizes(&o, 3, 2);
	o.name = path_of(p, "zip.gz");
	open_sizes(&o, 3, 2);
	shim_create_file(p, "adult.test", "25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K.\n");
	o.name = shim_create_file(p, "adult.data", ADULT_39 "25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K\n");
	open_sizes(&o, 2, 1);
	make_bytes(p, "t10k-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
	make_bytes(p, "t10k-images-idx3-ubyte", idx_images, sizeof idx_images);
	make_bytes(p, "train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
	o.name = make_bytes(p, "train-images-idx3-ubyte", idx_images, sizeof idx_images);
	open_sizes(&o, 2, 2);
}

static void test_sets_are_matched(void **state)
{
	struct place *p = *state;
	struct data_options o = { .no_cache = true };
	struct data_splits d;
	char path[256];

	/* fewer classes and fewer features in a LIBSVM test file */
	shim_create_file(p, "a.t", "3 1:1\n1 1:1\n3 1:1\n");
	strcpy(path, shim_create_file(p, "a", "1 4:1\n2 1:1\n3 1:1\n"));
	o.name = path;
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.test.nclasses, 3);
	assert_int_equal(d.test.nfeatures, 4);
	assert_memory_equal(d.test.label, "\2\0\2", 3);
	assert_float_equal(d.majority_share, 2.0 / 3, 1e-15);
	data_splits_close(&d);
	/* more features in it */
	shim_create_file(p, "a.t", "3 6:1\n");
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.train.nfeatures, 6);
	data_splits_close(&d);
	shim_create_file(p, "a.t", "4 1:1\n");
	expect_failure(&o, DP_E_INVALID, "label '4', which the training set has not");
	strcpy(path, shim_create_file(p, "b", "x,y,c\n1,2,0\n1,2,1\n"));
	shim_create_file(p, "b.t", "x,z,c\n1,2,0\n");
	expect_failure(&o, DP_E_INVALID, "other names");
	shim_create_file(p, "b.t", "1,2,0\n");
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	data_splits_close(&d);
	shim_create_file(p, "b.t", "1,2,3,0\n");
	expect_failure(&o, DP_E_INVALID, "3 features, the training set 2");
}

/* ---- splits ---- */

/* Marks the records of a part; each once, with what belongs to it. */
static void mark(const struct sparse_rows *r, uint8_t *seen)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t id = r->index[r->start[i]];

		assert_int_equal(r->start[i + 1] - r->start[i], 2);
		assert_float_equal(r->value[r->start[i]], (id % 7 + 0.5), 0);
		assert_int_equal(r->label[i], id % 3);
		assert_int_equal(seen[id], 0);
		assert_true(i == 0 || id > last);
		last = id;
		seen[id] = 1;
	}
}

static void parts_are_disjoint_and_complete(void **state)
{
	struct data_options o = { .holdout = 0.25, .split_seed = 7 };
	uint8_t first[500] = { 0 }, seen[500], other[500] = { 0 };
	struct place *p = *state;
	struct data_splits d;

	make_numbered(p, "n", 500);
	o.name = path_of(p, "n");
	for (int round = 0; round < 2; round++) {
		memset(seen, 0, sizeof seen);
		assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
		assert_int_equal(d.test.n, 100);
		assert_int_equal(d.validation.n, 100);
		assert_int_equal(d.train.n, 300);
		assert_int_equal(d.train.max_row_entries, 2);
		assert_int_equal(d.validation.nclasses, 3);
		mark(&d.validation, seen);
		/* the same in every opening */
		if (round)
			assert_memory_equal(first, seen, sizeof seen);
		memcpy(first, seen, sizeof seen);
		mark(&d.train, seen);
		mark(&d.test, seen);
		for (int i = 0; i < 500; i++)
			assert_int_equal(seen[i], 1);
		data_splits_close(&d);
	}
	/* another seed: other records held out, but the same test set */
	o.split_seed = 8;
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	mark(&d.validation, other);
	assert_memory_not_equal(first, other, sizeof other);
	data_splits_close(&d);
}

static void shares_are_held_to(void **state)
{
	struct data_options o = { .holdout = 1 };
	struct place *p = *state;
	struct data_splits d;

	make_numbered(p, "n.t", 3);
	make_numbered(p, "n", 10);
	o.name = path_of(p, "n");
	expect_failure(&o, DP_E_INVALID, "share held out is 1");
	o.holdout = -0.1;
	expect_failure(&o, DP_E_INVALID, "share held out is -0.1");
	o.holdout = NAN;
	expect_failure(&o, DP_E_INVALID, "share held out is");
	o.holdout = 1e-9;
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.validation.n, 1);
	data_splits_close(&d);
	o.holdout = 0.999;
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.train.n, 1);
	data_splits_close(&d);
}

/* Every record is held out equally often: 400 seeds, 10 records, 4 held out. */
static void records_are_held_out_equally_often(void **state)
{
	struct dataset rests[2] = { { .map = NULL } }, parts[2] = { { .map = NULL } };
	uint32_t count[10] = { 0 };
	double chi2 = 0;
	struct place *p = *state;
	struct data_options o = { .no_cache = true };
	struct dataset *all;

	make_numbered(p, "n", 10);
	all = load(path_of(p, "n"), &o);
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct dataset rest = { .map = NULL }, part = { .map = NULL };

		assert_int_equal(
			sparse_rows_split(&all->rows, 0.4, seed, SPLIT_HOLDOUT, &rest, &part, NULL),
			DP_OK);
		assert_int_equal(part.rows.n, 4);
		for (uint32_t i = 0; i < 4; i++)
			count[part.rows.index[part.rows.start[i]]]++;
		dataset_free(&rest);
		dataset_free(&part);
	}
	/* the test set's stream is another one */
	assert_int_equal(
		sparse_rows_split(&all->rows, 0.5, 1, SPLIT_HOLDOUT, &rests[0], &parts[0], NULL),
		DP_OK);
	assert_int_equal(
		sparse_rows_split(&all->rows, 0.5, 1, SPLIT_TEST, &rests[1], &parts[1], NULL),
		DP_OK);
	assert_memory_not_equal(parts[0].rows.index, parts[1].rows.index, 20);
	for (int i = 0; i < 2; i++) {
		dataset_free(&rests[i]);
		dataset_free(&parts[i]);
	}
	unload(all);
	for (int i = 0; i < 10; i++)
		chi2 += (count[i] - 160.0) * (count[i] - 160.0) / 160.0;
	/* without replacement the sum is 0.6 * 10/9 times a chi-squared of 9: 99.9 % is
	 * below 18.6 */
	assert_true(chi2 < 18.6);
	assert_true(chi2 > 0.3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(sets_are_looked_for_in_order),       TEST(names_and_hints),
		TEST(the_test_file_goes_with_its_name),   TEST(test_sets_are_matched),
		TEST(parts_are_disjoint_and_complete),    TEST(shares_are_held_to),
		TEST(records_are_held_out_equally_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
