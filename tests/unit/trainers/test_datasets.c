/* test_datasets.c - the made-up set; and the real sets where DPARETO_DATA names them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "tests/unit/support/data_place.h"

static const uint32_t census_sum = 0xd3d17320; /* of the made-up records */

/* ---- the made-up set ---- */

static void census_is_as_promised(void **state)
{
	static const uint32_t sizes[CENSUS_GROUPS] = {
		5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41
	};
	struct data_options o = { .name = "census" };
	uint32_t group[CENSUS_FEATURES], used[CENSUS_FEATURES] = { 0 }, positive = 0, n = 0;
	uLong sum = crc32(0, NULL, 0);
	struct data_splits d;

	(void)state;
	for (uint32_t g = 0; g < CENSUS_GROUPS; g++)
		for (uint32_t c = 0; c < sizes[g]; c++)
			group[n++] = g;
	assert_int_equal(n, CENSUS_FEATURES);
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.train.n, 30956);
	assert_int_equal(d.test.n, 1605);
	assert_int_equal(d.train.nfeatures, 123);
	assert_int_equal(d.train.nclasses, 2);
	assert_null(d.train.value);
	for (uint32_t i = 0; i < d.train.n; i++) {
		assert_int_equal(d.train.start[i], 14 * i);
		for (uint32_t g = 0; g < CENSUS_GROUPS; g++) {
			uint16_t k = d.train.index[14 * i + g];

			assert_int_equal(group[k], g);
			used[k]++;
		}
		positive += d.train.label[i];
	}
	for (uint32_t k = 0; k < CENSUS_FEATURES; k++)
		assert_true(used[k] > 0);
	assert_float_equal(positive / 30956.0, 0.24, 0.01);
	assert_float_equal(d.majority_share, 0.76, 0.03);
	/* the same on every machine, for ever */
	sum = crc32(sum, (const Bytef *)d.train.index, 14 * 30956 * 2);
	sum = crc32(sum, (const Bytef *)d.train.label, 30956);
	sum = crc32(sum, (const Bytef *)d.test.index, 14 * 1605 * 2);
	sum = crc32(sum, (const Bytef *)d.test.label, 1605);
	assert_int_equal(sum, census_sum);
	data_splits_close(&d);
}

/* Logistic regression by plain gradient steps learns it: between 0.84 and 0.87. */
static void census_can_be_learnt(void **state)
{
	struct data_options o = { .name = "census" };
	double w[CENSUS_FEATURES + 1] = { 0 };
	uint32_t right = 0;
	struct data_splits d;

	(void)state;
	assert_int_equal(data_splits_open(&d, &o, NULL), DP_OK);
	for (uint32_t step = 0; step < 5 * d.train.n; step++) {
		const struct sparse_rows *r = step < 4 * d.train.n ? &d.train : &d.test;
		uint32_t i = step % r->n;
		double score = w[CENSUS_FEATURES], change;

		for (int g = 0; g < 14; g++)
			score += w[r->index[14 * i + g]];
		if (r == &d.test) {
			right += step < 4 * d.train.n + r->n && (score > 0) == d.test.label[i];
			continue;
		}
		change = 0.02 * (r->label[i] - 1 / (1 + exp(-score)));
		for (int g = 0; g < 14; g++)
			w[r->index[14 * i + g]] += change;
		w[CENSUS_FEATURES] += change;
	}
	assert_float_equal(right / (double)d.test.n, 0.85, 0.015);
	data_splits_close(&d);
}

/* ---- the real sets ---- */

static bool have_real(const struct place *p)
{
	if (!p->real) {
		print_message("skipped: DPARETO_DATA does not name the real sets\n");
		return false;
	}
	return true;
}

static uint32_t count_label(const struct sparse_rows *r, uint8_t label)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += r->label[i] == label;
	return n;
}

static void open_real(const struct place *p, const char *name, struct data_splits *d)
{
	/* nothing may be written where the user's data is */
	struct data_options o = { .name = name, .dir = p->real, .no_cache = true };
	struct dp_err err = { 0 };

	if (data_splits_open(d, &o, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

static void real_adult(void **state)
{
	struct place *p = *state;
	struct data_splits d;

	if (!have_real(p))
		skip();
	open_real(p, "adult", &d);
	assert_int_equal(d.train.n, 30956);
	assert_int_equal(d.test.n, 1605);
	assert_int_equal(d.train.nfeatures, 123);
	assert_int_equal(d.test.nfeatures, 123);
	assert_int_equal(d.train.max_row_entries, 14);
	assert_null(d.train.value);
	assert_int_equal(count_label(&d.train, 1), 7446);
	assert_int_equal(count_label(&d.test, 1), 395);
	data_splits_close(&d);
}

static void real_adult_is_encoded_as_a9a(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL, .no_cache = true };
	struct dp_err err = { 0 };
	struct data_splits libsvm, uci;
	char path[512];

	if (!have_real(p))
		skip();
	open_real(p, "adult-a9a", &libsvm);
	assert_int_equal(libsvm.train.n + libsvm.test.n, 48842);
	assert_int_equal(count_label(&libsvm.train, 1), 7841);
	assert_int_equal(count_label(&libsvm.test, 1), 3846);
	snprintf(path, sizeof path, "%s/adult/adult.data", p->real);
	o.name = path;
	if (data_splits_open(&uci, &o, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_same_rows(&uci.train, &libsvm.train);
	assert_same_rows(&uci.test, &libsvm.test);
	data_splits_close(&uci);
	data_splits_close(&libsvm);
}

static void real_mnist(void **state)
{
	static const uint32_t train[] = {
		5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949
	};
	static const uint32_t test[] = { 980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009 };
	struct place *p = *state;
	double sum = 0;
	struct data_splits d;

	if (!have_real(p))
		skip();
	open_real(p, "mnist", &d);
	assert_int_equal(d.train.n, 60000);
	assert_int_equal(d.test.n, 10000);
	assert_int_equal(d.train.nfeatures, 784);
	assert_int_equal(d.train.nclasses, 10);
	for (uint8_t c = 0; c < 10; c++) {
		assert_int_equal(count_label(&d.train, c), train[c]);
		assert_int_equal(count_label(&d.test, c), test[c]);
	}
	for (uint64_t k = 0; k < d.train.start[60000]; k++)
		sum += (double)d.train.value[k];
	assert_float_equal(sum / (60000.0 * 784), 0.1307, 5e-5);
	assert_float_equal(d.majority_share, 0.1135, 1e-12);
	data_splits_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(census_is_as_promised),        TEST(census_can_be_learnt), TEST(real_adult),
		TEST(real_adult_is_encoded_as_a9a), TEST(real_mnist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
