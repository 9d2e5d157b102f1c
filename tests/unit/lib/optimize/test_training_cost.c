/* test_training_cost.c - what a training costs: by its path, by what trainings before it took, and
 * what a search makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "tests/unit/support/propose_once.h"
#include "study/diagnostics.h"
#include "study/space.h"
#include "study/study_file.h"

enum {
	MOST = 160,
	UNKNOWN = 200, /* points at which predictions are judged */
	INITIAL = 8,
	SEEDS = 3,   /* of searches that are compared, */
	BUDGET = 60, /* after so many seconds */
};

static struct dp_study *cost_study(const char *path, const char *cost, unsigned seed)
{
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	char text[1024];
	int len = snprintf(text, sizeof text,
			   "study: t\nseed: %u\ntrainer: {command: [none]%s}\nparameters:\n"
			   "  epochs: {type: int, range: [1, 400]}\n"
			   "  lot: {type: int, range: [16, 4096], scale: log}\n"
			   "  sigma: {type: float, range: [0.5, 20], scale: log}\n"
			   "  rate: {type: float, range: [0, 1]}\n"
			   "  kind: {type: categorical, values: [a, b, c]}\n  f: {fixed: 64}\n"
			   "objectives: {e: {metric: e, transform: log}, u: {metric: u}}\n"
			   "anti_ideal: {e: 20, u: 1}\n"
			   "search: {method: dpareto, evaluations: 200, initial: %d%s}\n",
			   seed, path, INITIAL, cost);

	if (dp_study_parse(text, (size_t)len, "t", "/", &s, &wrong, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&wrong);
	return s;
}

#define SECONDS ", cost: seconds"

/* Set-up, and passes over data that small lots make slower; one kind takes longer. */
static double seconds_at(const double *x)
{
	return 0.3 + 0.02 * x[0] * pow(x[1] / 256, -0.4) * (x[4] == 2 ? 3 : 1);
}

/* n results at random points with these times, 20 % about, from this seed. */
static void measure_times(const struct dp_study *s, uint32_t seed, struct dp_observation *k,
			  size_t n)
{
	struct dp_rng r;

	dp_rng_init(&r, seed, DP_RNG_TEST, 0, 0);
	for (size_t i = 0; i < n; i++) {
		memset(&k[i], 0, sizeof k[i]);
		k[i].trial = (uint32_t)i;
		dp_space_sample(s, (uint32_t)i + 1000 * seed, true, k[i].x);
		k[i].seconds = seconds_at(k[i].x) * exp(0.2 * dp_rng_normal(&r));
	}
}

static void learn(struct dp_proposer *p, const struct dp_observation *k, size_t n)
{
	struct dp_history h = { .observations = k, .n = n };

	assert_non_null(p);
	dp__cost_model_fit(p, &h);
}

static double predict(struct dp_proposer *p, const double *x)
{
	double u[DP_PARAMS_MAX];

	dp__encoding_encode(&p->encoding, x, u);
	return exp(dp__cost_log_at(p, u, NULL));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median of the relative error at points that no training was at. */
static double median_error(struct dp_proposer *p)
{
	double off[UNKNOWN];

	for (size_t i = 0; i < UNKNOWN; i++) {
		double x[DP_PARAMS_MAX] = { 0 };

		dp_space_sample(p->study, (uint32_t)(500000 + i), true, x);
		off[i] = fabs(predict(p, x) / seconds_at(x) - 1);
	}
	qsort(off, UNKNOWN, sizeof *off, by_value);
	return off[UNKNOWN / 2];
}

static void test_accuracy(void **state)
{
	static const struct {
		size_t n;
		double most;
	} cases[] = { { 8, 0.6 }, { 16, 0.25 }, { 32, 0.2 }, { 128, 0.1 } };
	struct dp_study *s = cost_study("", SECONDS, 1);
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation k[MOST];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		double mean = 0;

		for (uint32_t seed = 0; seed < 10; seed++) {
			measure_times(s, seed, k, cases[i].n);
			learn(p, k, cases[i].n);
			mean += median_error(p) / 10;
		}
		print_message("%zu results: median error %.3f\n", cases[i].n, mean);
		assert_true(mean < cases[i].most);
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

/* A training that took a hundred times as long, or a hundredth, is not believed. */
static void test_outlier(void **state)
{
	static const double factors[] = { 100, 0.01 };
	struct dp_study *s = cost_study("", SECONDS, 1);
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation k[MOST];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(factors); i++) {
		double with = 0, without = 0;

		for (uint32_t seed = 0; seed < 10; seed++) {
			measure_times(s, seed, k, 24);
			learn(p, k, 24);
			without += median_error(p) / 10;
			k[5 + seed].seconds *= factors[i];
			learn(p, k, 24);
			with += median_error(p) / 10;
		}
		print_message("one of 24 times %g: median error %.3f, without %.3f\n", factors[i],
			      with, without);
		assert_true(with < 1.3 * without);
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

/* Few results, equal ones, none at all, and those that take no time. */
static void test_little_known(void **state)
{
	static const double few[] = { 3, 5, 500 };
	struct dp_study *s = cost_study("", SECONDS, 1);
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation k[MOST];
	double x[DP_PARAMS_MAX] = { 7, 100, 1, 0.3, 1 };

	(void)state;
	measure_times(s, 1, k, 40);
	learn(p, k, 0);
	assert_true(predict(p, x) == 1);
	for (size_t i = 0; i < 3; i++)
		k[i].seconds = few[i];
	learn(p, k, 3);
	assert_true(fabs(predict(p, x) - 5) < 1e-12);
	for (size_t i = 0; i < 40; i++)
		k[i].seconds = 0.25;
	learn(p, k, 40);
	assert_true(fabs(predict(p, x) - 0.25) < 1e-12);
	for (size_t i = 0; i < 40; i++)
		k[i].seconds = 1e-9 * (double)(i + 1);
	learn(p, k, 40);
	assert_true(fabs(predict(p, x) - 1e-3) < 1e-12);
	/* what has no time, is a waypoint's, or is not a result tells nothing */
	k[0].seconds = 0;
	k[1].checkpoint = 4;
	k[1].seconds = k[2].seconds = 1e6;
	k[2].status = DP_OBSERVATION_PENDING;
	learn(p, k, 3);
	assert_int_equal(p->time_model.n, 0);
	dp_proposer_free(p);
	dp_study_free(s);
}

static void check_gradient(struct dp_proposer *p)
{
	struct dp_rng r;

	dp_rng_init(&r, 4, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 50; i++) {
		double u[DP_PARAMS_MAX], g[DP_PARAMS_MAX], value;

		for (size_t k = 0; k < p->encoding.d; k++) {
			u[k] = 0.02 + 0.96 * dp_rng_uniform(&r);
			g[k] = 5;
		}
		u[4] = 1;
		value = dp__cost_log_at(p, u, g);
		assert_true(value == dp__cost_log_at(p, u, NULL));
		for (size_t k = 0; k < p->encoding.d; k++) {
			double h = k == 4 ? 0 : 1e-5, kept = u[k], up, down;

			u[k] = kept + h;
			up = dp__cost_log_at(p, u, NULL);
			u[k] = kept - h;
			down = dp__cost_log_at(p, u, NULL);
			u[k] = kept;
			if (h > 0 && fabs(5 - g[k] - (up - down) / (2 * h)) > 1e-5)
				fail_msg("input %zu: %g, not %g", k, 5 - g[k],
					 (up - down) / (2 * h));
			assert_true(h > 0 || g[k] == 5);
		}
	}
}

static void test_gradient(void **state)
{
	static const char *const path[] = { "", ", path: epochs", ", path: lot", "" };
	static const char *const cost[] = { SECONDS, "", "", "" };
	struct dp_observation k[MOST];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(path); i++) {
		struct dp_study *s = cost_study(path[i], cost[i], 1);
		struct dp_proposer *p = dp_proposer_new(s);

		measure_times(s, 2, k, 30);
		learn(p, k, 30);
		check_gradient(p);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* The path's value, fixed or not; nothing without a path. */
static void test_path(void **state)
{
	static const struct {
		const char *path, *cost;
		double expected;
	} cases[] = { { "", "", 1 },
		      { ", path: epochs", "", 7 },
		      { ", path: lot", ", cost: path", 100 },
		      { ", path: f", "", 64 },
		      { ", path: epochs", ", cost: none", 1 } };
	double x[DP_PARAMS_MAX] = { 7, 100, 1, 0.3, 1, 64 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_study *s = cost_study(cases[i].path, cases[i].cost, 1);
		struct dp_proposer *p = dp_proposer_new(s);

		assert_true(fabs(predict(p, x) - cases[i].expected) < 1e-9);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* ---- the search ---- */

static void reeval_values_json(struct dp_observation *k)
{
	double n = k->x[0], sigma = k->x[2], rate = k->x[3] + 0.01;

	k->y[0] = 0.4 * sqrt(n) / sigma;
	k->y[1] = fmin(0.08 + 0.5 / (1 + pow(2 * n * rate, 0.8)) + 0.015 * rate * sigma * sqrt(n) +
			       0.02 * fabs(k->x[4] - 1),
		       1);
	k->var[0] = k->var[1] = NAN;
	k->seconds = 0.05 + 0.02 * n;
}

/* Hypervolume of what trainings that took so many seconds in all have found. */
static double found_within(const struct dp_study *s, double seconds)
{
	static const double ref[] = { 20, 1 };
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation k[MOST];
	double y[2 * MOST], volume, spent = 0;
	size_t n = 0;

	while (n < MOST) {
		struct dp_history h = { .observations = k, .n = n };
		struct dp_proposal out;
		struct dp_err err;

		assert_int_equal(dp_proposer_propose(p, &h, (uint32_t)n, NULL, &out, &err), DP_OK);
		memset(&k[n], 0, sizeof k[n]);
		k[n].trial = (uint32_t)n;
		memcpy(k[n].x, out.x, s->nparams * sizeof *out.x);
		reeval_values_json(&k[n]);
		spent += k[n].seconds;
		if (spent > seconds)
			break;
		memcpy(y + 2 * n, k[n].y, 2 * sizeof *y);
		n++;
	}
	dp_proposer_free(p);
	volume = dp_hypervolume(y, n, 2, ref);
	return volume;
}

/* Time is in proportion to the epochs: gains for what they cost find more in the same
 * time. Of 20 seeds the means were 15.81 and 15.50 after 30 s, 17.24 and 16.77 after 60,
 * 17.39 and 17.23 after 120. */
static void test_search(void **state)
{
	static const char *const cost[] = { "", SECONDS };
	double mean[2] = { 0 };

	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++)
		for (int i = 0; i < 2; i++) {
			struct dp_study *s = cost_study("", cost[i], seed);

			mean[i] += found_within(s, BUDGET) / SEEDS;
			dp_study_free(s);
		}
	print_message("hypervolume after %d s: %.4f by seconds, %.4f without\n", BUDGET, mean[1],
		      mean[0]);
	assert_true(mean[1] > mean[0]);
}

/* A proposer that was asked before says the same as a new one, to the bit; and says what
 * the training costs, and those that are pending. */
static void test_warm(void **state)
{
	struct dp_study *s = cost_study("", SECONDS, 1);
	struct dp_proposer *warm = dp_proposer_new(s);
	struct dp_observation k[MOST];
	struct dp_err err;

	(void)state;
	measure_times(s, 3, k, 20);
	for (size_t i = 0; i < 20; i++) {
		double seconds = k[i].seconds;

		reeval_values_json(&k[i]);
		k[i].seconds = seconds;
	}
	for (size_t n = 10; n < 20; n++) {
		struct dp_history h = { .observations = k, .n = n };
		struct dp_proposal a, b;

		k[n - 1].status = k[n - 2].status = DP_OBSERVATION_PENDING;
		assert_int_equal(dp_proposer_propose(warm, &h, (uint32_t)n, NULL, &a, &err), DP_OK);
		assert_int_equal(propose_once(s, &h, (uint32_t)n, NULL, &b, &err), DP_OK);
		assert_memory_equal(a.x, b.x, s->nparams * sizeof *a.x);
		assert_true(a.cost == b.cost && a.pending_cost == b.pending_cost);
		learn(warm, k, n);
		assert_true(a.cost == predict(warm, a.x));
		assert_true(fabs(a.pending_cost - predict(warm, k[n - 1].x) -
				 predict(warm, k[n - 2].x)) < 1e-12);
		k[n - 2].status = DP_OBSERVATION_OK;
	}
	dp_proposer_free(warm);
	dp_study_free(s);
}

/* Trainings of 400 epochs, the dearest there are, get half of what is spent; waypoints
 * cost nothing. */
static void test_dear(void **state)
{
	struct dp_study *s = cost_study(", path: epochs", "", 1);
	struct dp_study *none = cost_study(", path: epochs", ", cost: none", 1);
	struct dp_proposer *p = dp_proposer_new(s), *q = dp_proposer_new(none);
	static struct dp_observation k[9];
	struct dp_history h = { .observations = k };

	(void)state;
	assert_true(p && q);
	for (size_t i = 0; i < DP_COUNT(k); i++)
		k[i] = (struct dp_observation){ .trial = (uint32_t)i, .x = { 100 } };
	k[2].checkpoint = 100; /* so that 800 are spent by all nine */
	for (h.n = 0; h.n <= DP_COUNT(k); h.n++) {
		assert_true(dp__cost_is_ignored_next(p, &h) == (h.n == DP_COUNT(k)));
		assert_false(dp__cost_is_ignored_next(q, &h));
	}
	h.n = DP_COUNT(k);
	k[8].x[0] = 400; /* it has been made: of 1,100 a second one is too much */
	assert_false(dp__cost_is_ignored_next(p, &h));
	k[8].x[0] = 199; /* and that was none of the dear ones */
	assert_true(dp__cost_is_ignored_next(p, &h));
	dp_proposer_free(p);
	dp_proposer_free(q);
	dp_study_free(s);
	dp_study_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accuracy),     cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_little_known), cmocka_unit_test(test_gradient),
		cmocka_unit_test(test_path),         cmocka_unit_test(test_search),
		cmocka_unit_test(test_warm),         cmocka_unit_test(test_dear),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
