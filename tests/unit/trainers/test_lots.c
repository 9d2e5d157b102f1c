/* test_lots.c - lots: distinct records, every set equally likely; Poisson samples: each
 * record by itself, with just its probability. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainers/learn/learn.h"

static struct lot_sampler open_lots(uint64_t seed, uint32_t n, uint32_t lot, bool poisson)
{
	const struct sgd how = { .lot_size = lot, .is_poisson = poisson };
	struct noise_stream stream;
	struct lot_sampler l;

	noise_stream_init_seeded(&stream, seed, NOISE_LOTS);
	assert_int_equal(lot_sampler_init(&l, &stream, n, &how, NULL), DP_OK);
	return l;
}

/* chi-square with so many degrees of freedom as a standard normal (Wilson-Hilferty) */
static double chi_score(double chi2, double freedom)
{
	double v = 2 / (9 * freedom);

	return (cbrt(chi2 / freedom) - (1 - v)) / sqrt(v);
}

static void test_distinct(void **state)
{
	static const uint32_t sizes[][2] = { { 1, 1 },     { 2, 1 },        { 2, 2 },    { 64, 64 },
					     { 1000, 16 }, { 30956, 4000 }, { 999, 998 } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(sizes); i++) {
		uint32_t n = sizes[i][0], lot = sizes[i][1], count;
		struct lot_sampler l = open_lots(i, n, lot, false);
		char *seen = malloc(n);

		for (int draw = 0; draw < 20; draw++) {
			const uint32_t *ids = lot_sampler_next(&l, &count);

			assert_int_equal(count, lot);
			memset(seen, 0, n);
			for (uint32_t k = 0; k < count; k++) {
				assert_true(ids[k] < n);
				assert_int_equal(seen[ids[k]]++, 0);
			}
		}
		free(seen);
		lot_sampler_free(&l);
	}
}

/* All 56 sets of 3 out of 8, so records, pairs and sets at once; and what a lot has in
 * common with the one before, which must be as much as with any other. */
static void test_every_set_equally_likely(void **state)
{
	enum {
		DRAWS = 112000
	};
	struct lot_sampler l = open_lots(5, 8, 3, false);
	/* of the sets that have 0, 1, 2 or 3 of 3 given ones: 10, 30, 15 and 1 */
	static const double common_sets[] = { 10, 30, 15, 1 };
	double sets[256] = { 0 }, common[4] = { 0 }, chi2 = 0, chi2_common = 0;
	double expect = DRAWS / 56.0;
	unsigned set, last = 7;
	uint32_t count;
	int kinds = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++, last = set) {
		const uint32_t *ids = lot_sampler_next(&l, &count);

		set = 1u << ids[0] | 1u << ids[1] | 1u << ids[2];
		sets[set]++;
		common[__builtin_popcount(set & last)]++;
	}
	for (unsigned s = 0; s < 256; s++) {
		if (__builtin_popcount(s) != 3) {
			assert_true(sets[s] == 0);
			continue;
		}
		kinds++;
		chi2 += pow(sets[s] - expect, 2) / expect;
	}
	for (int k = 0; k < 4; k++)
		chi2_common +=
			pow(common[k] - expect * common_sets[k], 2) / (expect * common_sets[k]);
	assert_int_equal(kinds, 56);
	assert_true(fabs(chi_score(chi2, 55)) < 4);
	assert_true(fabs(chi_score(chi2_common, 3)) < 4);
	lot_sampler_free(&l);
}

static void test_every_record_equally_often(void **state)
{
	enum {
		N = 997,
		LOT = 100,
		DRAWS = 5000
	};
	struct lot_sampler l = open_lots(6, N, LOT, false);
	static double seen[N];
	double p = (double)LOT / N, chi2 = 0;
	uint32_t count;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		const uint32_t *ids = lot_sampler_next(&l, &count);

		for (uint32_t k = 0; k < count; k++)
			seen[ids[k]]++;
	}
	for (int i = 0; i < N; i++)
		chi2 += pow(seen[i] - DRAWS * p, 2) / (DRAWS * p * (1 - p));
	/* the counts have a fixed sum */
	assert_true(fabs(chi_score(chi2 * (N - 1) / N, N - 1)) < 4);
	lot_sampler_free(&l);
}

/* 2^32 = 1 mod 3: the word 0 would make record 0 likelier, so it is drawn again. */
static void test_rejection(void **state)
{
	struct lot_sampler l = open_lots(7, 3, 1, false);
	uint32_t count;

	(void)state;
	lot_sampler_next(&l, &count);
	for (uint32_t i = 0; i < 3; i++)
		l.order[i] = i;
	l.words[l.n_words_used] = 0;
	l.words[l.n_words_used + 1] = UINT32_MAX;
	assert_int_equal(lot_sampler_next(&l, &count)[0], 2);
	for (uint32_t i = 0; i < 3; i++)
		l.order[i] = i;
	l.words[l.n_words_used] = 1;
	assert_int_equal(lot_sampler_next(&l, &count)[0], 0);
	lot_sampler_free(&l);
}

static void test_same_stream_same_lots(void **state)
{
	for (int poisson = 0; poisson < 2; poisson++) {
		struct lot_sampler a = open_lots(8, 500, 40, poisson);
		struct lot_sampler b = open_lots(8, 500, 40, poisson);
		struct lot_sampler c = open_lots(9, 500, 40, poisson);
		uint32_t na, nb, nc;
		int different = 0;

		(void)state;
		for (int i = 0; i < 50; i++) {
			const uint32_t *x = lot_sampler_next(&a, &na),
				       *y = lot_sampler_next(&b, &nb),
				       *z = lot_sampler_next(&c, &nc);

			assert_int_equal(na, nb);
			assert_memory_equal(x, y, na * sizeof *x);
			different += na != nc || memcmp(x, z, na * sizeof *x) != 0;
		}
		assert_int_equal(different, 50);
		lot_sampler_free(&a);
		lot_sampler_free(&b);
		lot_sampler_free(&c);
	}
}

/* Sizes, records and pairs of records against the binomial law. */
static void check_poisson(uint32_t n, uint32_t lot, int draws)
{
	struct lot_sampler l = open_lots(n + lot, n, lot, true);
	double p = (double)lot / n, sum = 0, squares = 0, chi2 = 0, both = 0, empty = 0;
	double *seen = calloc(n, sizeof *seen), mean, error, pairs;
	uint32_t count;

	for (int i = 0; i < draws; i++) {
		const uint32_t *ids = lot_sampler_next(&l, &count);

		for (uint32_t k = 0; k < count; k++) {
			assert_true(ids[k] < n && (k == 0 || ids[k] > ids[k - 1]));
			seen[ids[k]]++;
		}
		both += count >= 2 && ids[0] == 0 && ids[1] == 1;
		empty += count == 0;
		sum += count;
		squares += (double)count * count;
	}
	mean = sum / draws;
	error = sqrt(n * p * (1 - p) / draws);
	assert_true(fabs(mean - n * p) <= 4 * error);
	/* variance of a sample variance: about 2 v^2 / draws, a little more when small */
	assert_true(fabs(squares / draws - mean * mean - n * p * (1 - p)) <=
		    6 * n * p * (1 - p) * sqrt(2.0 / draws) + 1e-9);
	pairs = draws * p * p;
	assert_true(fabs(both - pairs) <= 4 * sqrt(pairs) + 1e-9);
	assert_true(fabs(empty - draws * pow(1 - p, n)) <= 4 * sqrt(draws * pow(1 - p, n)) + 1);
	for (uint32_t i = 0; i < n && p < 1; i++)
		chi2 += pow(seen[i] - draws * p, 2) / (draws * p * (1 - p));
	if (p < 1)
		assert_true(fabs(chi_score(chi2, n)) < 4);
	free(seen);
	lot_sampler_free(&l);
}

static void test_poisson(void **state)
{
	(void)state;
	check_poisson(20, 2, 100000); /* empty lots are one in eight */
	check_poisson(64, 16, 20000); /* a power of two: every candidate is taken */
	check_poisson(65, 1, 100000); /* a last block of one record */
	check_poisson(127, 64, 20000);
	check_poisson(1000, 700, 2000); /* no halving at all */
	check_poisson(30956, 64, 1000);
	check_poisson(10, 10, 10); /* everybody, always */
	check_poisson(1, 1, 10);
}

static void test_impossible(void **state)
{
	const struct sgd how = { .lot_size = 11 }, none = { .lot_size = 0 };
	struct noise_stream stream;
	struct dp_err err;
	struct lot_sampler l;

	(void)state;
	noise_stream_init_seeded(&stream, 1, NOISE_LOTS);
	assert_int_equal(lot_sampler_init(&l, &stream, 10, &how, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "11"));
	assert_non_null(strstr(err.msg, "10 training records"));
	assert_int_equal(lot_sampler_init(&l, &stream, 10, &none, &err), DP_E_INVALID);
	lot_sampler_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_every_set_equally_likely),
		cmocka_unit_test(test_every_record_equally_often),
		cmocka_unit_test(test_rejection),
		cmocka_unit_test(test_same_stream_same_lots),
		cmocka_unit_test(test_poisson),
		cmocka_unit_test(test_impossible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
