/* test_svt.c - the sparse vector trainer against closed forms and an independent
 * simulation, and its behaviour as a program of the trainer protocol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/unit/support/place.h"
#include "trainers/trainers.h"

enum {
	QUERIES = 100,
	ONES = 10
};

struct moments {
	double mean, error; /* standard error of the mean */
};

static struct moments moments_of(double sum, double squares, int n)
{
	double mean = sum / n;

	return (struct moments){ mean, sqrt(fmax(squares / n - mean * mean, 0) / n) };
}

static struct moments trainer_f1(int64_t cutoff, double noise, int n)
{
	struct svt_params s = { QUERIES, ONES, cutoff, noise };
	unsigned char answers[QUERIES];
	double sum = 0, squares = 0;

	for (int i = 0; i < n; i++) {
		struct dp_rng rng;
		double f1;

		dp_rng_init(&rng, (uint64_t)i, DP_RNG_TRAIN, 0, 0);
		f1 = svt_compute_f1(&s, &rng, answers);
		sum += f1;
		squares += f1 * f1;
	}
	return moments_of(sum, squares, n);
}

/* The oracle: another generator (drand48), Laplace as a difference of exponentials,
 * all noisy answers first and the cut-off applied to their running count afterwards,
 * ones placed by selection sampling, F1 as the harmonic mean of precision and
 * recall. */
static double oracle_once(int64_t cutoff, double noise)
{
	double b1 = noise / (1 + pow(2.0 * (double)cutoff, 1.0 / 3)), b2 = noise - b1;
	double rho = b1 * (log(1 - drand48()) - log(1 - drand48())), precision, recall;
	int one[QUERIES], above[QUERIES], count[QUERIES], left = ONES, found = 0, said = 0;

	for (int i = 0; i < QUERIES; i++) {
		one[i] = drand48() * (QUERIES - i) < left;
		left -= one[i];
		above[i] = one[i] - 0.5 - rho >= b2 * (log(1 - drand48()) - log(1 - drand48()));
		count[i] = above[i] + (i ? count[i - 1] : 0);
	}
	for (int i = 0; i < QUERIES; i++) {
		int released = above[i] && count[i] <= cutoff;

		said += released;
		found += released && one[i];
	}
	if (found == 0)
		return 0;
	precision = (double)found / said;
	recall = (double)found / ONES;
	return 2 / (1 / precision + 1 / recall);
}

static struct moments oracle_f1(int64_t cutoff, double noise, int n)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < n; i++) {
		double f1 = oracle_once(cutoff, noise);

		sum += f1;
		squares += f1 * f1;
	}
	return moments_of(sum, squares, n);
}

/* Without noise the first min(C, 10) ones are found and nothing else. */
static void test_no_noise(void **state)
{
	(void)state;
	for (int64_t cutoff = 1; cutoff <= 30; cutoff++) {
		double expect =
			cutoff < ONES ? 2.0 * (double)cutoff / (double)(cutoff + ONES) : 1.0;
		struct moments m = trainer_f1(cutoff, 1e-6, 50);

		assert_true(fabs(m.mean - expect) < 1e-12);
		assert_true(m.error < 1e-6); /* every run the same */
	}
}

/* With noise that drowns the answers, a positive is one in ten a hit. */
static void test_all_noise(void **state)
{
	struct moments m = trainer_f1(1, 1e9, 40000);

	(void)state;
	/* one positive but for a run in 700: F1 = 2/11 with probability 1/10 */
	assert_true(fabs(m.mean - 0.1 * 2 / 11) < 4 * m.error + 1e-4);
}

static void test_against_simulation(void **state)
{
	static const struct {
		int64_t cutoff;
		double noise;
	} points[] = { { 1, 0.5 },  { 3, 1 },  { 5, 0.3 },  { 10, 0.2 }, { 10, 1 },   { 10, 10 },
		       { 20, 0.5 }, { 30, 2 }, { 30, 100 }, { 7, 0.1 },  { 200, 0.4 } };

	(void)state;
	srand48(20201116);
	for (size_t i = 0; i < DP_COUNT(points); i++) {
		struct moments a = trainer_f1(points[i].cutoff, points[i].noise, 10000);
		struct moments b = oracle_f1(points[i].cutoff, points[i].noise, 10000);
		double error = hypot(a.error, b.error);

		if (!(fabs(a.mean - b.mean) < 4 * error))
			fail_msg("C=%lld b=%g: %.5f against %.5f +- %.5f",
				 (long long)points[i].cutoff, points[i].noise, a.mean, b.mean,
				 error);
	}
}

static void test_edges(void **state)
{
	unsigned char answers[4];
	struct svt_params none = { 4, 0, 2, 1e-9 }, all = { 4, 4, 4, 1e-9 };
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 1, DP_RNG_TRAIN, 0, 0);
	assert_true(svt_compute_f1(&none, &rng, answers) == 0);
	assert_true(svt_compute_f1(&all, &rng, answers) == 1);
}

/* ---- as a program ---- */

/* Runs the trainer on these parameters and returns its code; its lines in *out. */
static int train(const struct place *p, const char *parameters, const char *runs,
		 struct dp_buf *out, struct dp_err *err)
{
	char *argv[] = { "svt", NULL }, text[512];
	int code;

	unlink(p->result);
	snprintf(text, sizeof text,
		 "{\"version\":1,\"study\":\"s\",\"trial\":7,\"attempt\":0,"
		 "\"parameters\":%s,\"runs\":%s}",
		 parameters, runs);
	assert_int_equal(dp_write_file(p->request, text, strlen(text), false, NULL), DP_OK);
	code = svt_trainer.run(1, argv, err);
	if (out)
		assert_int_equal(dp_read_file(p->result, 1 << 20, out, NULL), DP_OK);
	return code;
}

#define TWO_RUNS "[{\"run\":0,\"seed\":123},{\"run\":1,\"seed\":9007199254740991}]"

static void test_program(void **state)
{
	const uint32_t asked[] = { 0, 1 };
	struct dp_buf first = DP_BUF_INIT, again = DP_BUF_INIT, one = DP_BUF_INIT;
	struct dp_result_reader *r = dp_result_reader_new(asked, 2);
	double f1;

	assert_int_equal(train(*state, "{\"C\":10,\"b\":0.5}", TWO_RUNS, &first, NULL), 0);
	assert_int_equal(
		train(*state, "{\"C\":10.0,\"b\":0.5,\"x\":\"y\"}", TWO_RUNS, &again, NULL), 0);
	assert_string_equal(first.data, again.data);
	dp_result_reader_feed(r, first.data, first.len);
	dp_result_reader_finish(r);
	assert_null(dp_result_reader_problem(r));
	assert_true(dp_result_reader_is_complete(r) && dp_result_reader_is_done(r));
	assert_true(dp_result_reader_run_value(r, 1, (size_t)dp_result_reader_find_metric(r, "f1"),
					       &f1));
	assert_true(f1 >= 0 && f1 <= 1);
	/* a run alone is what it is among others */
	assert_int_equal(train(*state, "{\"C\":10,\"b\":0.5}",
			       "[{\"run\":1,\"seed\":9007199254740991}]", &one, NULL),
			 0);
	assert_non_null(strstr(first.data, strtok(one.data, "\n")));
	dp_result_reader_free(r);
	dp_buf_free(&first);
	dp_buf_free(&again);
	dp_buf_free(&one);
}

static void test_bad_requests(void **state)
{
	static const struct {
		const char *parameters, *says;
	} cases[] = {
		{ "{\"b\":1}", "no parameter 'C'" },
		{ "{\"C\":1}", "no parameter 'b'" },
		{ "{\"C\":0,\"b\":1}", "'C' must be a number of at least 1" },
		{ "{\"C\":1.5,\"b\":1}", "'C' must be a whole number" },
		{ "{\"C\":\"1\",\"b\":1}", "'C' must be a number" },
		{ "{\"C\":1,\"b\":0}", "'b' must be a number above 0" },
		{ "{\"C\":1,\"b\":-1}", "'b' must be a number above 0" },
		{ "[]", "'parameters'" },
	};
	const struct place *p = *state;
	char *wrong[][3] = { { "svt", "--ones=11", "--queries=10" },
			     { "svt", "--queries", "0" },
			     { "svt", "--nothing", NULL },
			     { "svt", "word", NULL } };
	struct dp_err err;

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		assert_int_equal(train(p, cases[i].parameters, TWO_RUNS, NULL, &err), DP_E_INVALID);
		assert_non_null(strstr(err.msg, cases[i].says));
	}
	for (size_t i = 0; i < DP_COUNT(wrong); i++)
		assert_int_equal(svt_trainer.run(wrong[i][2] ? 3 : 2, wrong[i], &err), DP_E_USAGE);
	unsetenv("DPARETO_RESULT");
	assert_int_equal(train(p, "{\"C\":1,\"b\":1}", TWO_RUNS, NULL, &err), DP_E_USAGE);
	assert_non_null(strstr(err.hint, "by hand"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_noise),
		cmocka_unit_test(test_all_noise),
		cmocka_unit_test(test_against_simulation),
		cmocka_unit_test(test_edges),
		cmocka_unit_test_setup_teardown(test_program, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_bad_requests, make_place, remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
