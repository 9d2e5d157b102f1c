/* test_noisy_release.c - noise on utilities: its law, its key, its grid; and an attack on the
 * very values that a study releases. */
#include "base/rng.h"
#include "privacy/composition/adaptive_composition.h"
#include "optimize/history/release_cost.h"
#include "study/metric_release.h"
#include "study/study.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/support/attack.h"
#include "tests/unit/support/course_story.h"

static const struct dp_metric_release release = { .records = 100, .sigma = 0.05 };
static const char secret[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static double value(const char *metric, uint32_t trial, double at, double mean)
{
	return dp_metric_release_value(&release, secret, metric, trial, at, mean);
}

/* Kolmogorov and Smirnov's distance of n numbers, which are sorted, to the normal law. */
static double distance(double *x, size_t n)
{
	double worst = 0;

	qsort(x, n, sizeof *x, attack_by_size);
	for (size_t i = 0; i < n; i++) {
		double f = 0.5 * erfc(-x[i] * M_SQRT1_2), k = (double)i, all = (double)n;

		worst = fmax(worst, fmax(fabs(f - k / all), fabs(f - (k + 1) / all)));
	}
	return worst * sqrt((double)n);
}

/* Along each part of the key: trials, waypoints, means. */
static void noise_is_normal(void **s)
{
	enum {
		N = 3000
	};
	static double x[3][N];

	(void)s;
	for (uint32_t i = 0; i < N; i++) {
		double mean = (double)i / N;

		x[0][i] = (value("a", i, NAN, 0.5) - 0.5) / release.sigma;
		x[1][i] = (value("a", 0, i, 0.5) - 0.5) / release.sigma;
		x[2][i] = (value("a", 0, NAN, mean) - mean) / release.sigma;
	}
	for (int k = 0; k < 3; k++) /* passed by chance with probability 0.999 */
		assert_true(distance(x[k], N) < 1.95);
}

static void one_value_for_one_point(void **s)
{
	char other[sizeof secret];
	double all[6];

	(void)s;
	memcpy(other, secret, sizeof secret);
	other[0] = 'f';
	all[0] = value("a", 3, 8, 0.5);
	all[1] = value("b", 3, 8, 0.5);
	all[2] = value("a", 4, 8, 0.5);
	all[3] = value("a", 3, 9, 0.5);
	all[4] = value("a", 3, NAN, 0.5);
	all[5] = dp_metric_release_value(&release, other, "a", 3, 8, 0.5);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < i; k++)
			assert_true(all[i] != all[k]);
	assert_true(value("a", 3, 8, 0.5) == all[0]);
	/* two means of one point do not share their noise */
	assert_true(fabs(value("a", 3, 8, 0.51) - all[0] - 0.01) > 1e-9);
	assert_true(isnan(value("a", 3, 8, NAN)) && isnan(value("a", 3, 8, 1.01)) &&
		    isnan(value("a", 3, 8, -0.01)) && isnan(value("a", 3, 8, INFINITY)));
	assert_true(isfinite(value("a", 3, 8, 0)) && isfinite(value("a", 3, 8, 1)));
}

/* Whatever the mean was, only its multiple of a step below sigma / 2^29 shows, and one
 * minus it is exact. The accountant is told of that step. */
static void values_lie_on_a_grid(void **s)
{
	static const double sigmas[] = { 1e-6, 0.01, 0.05, 1, 1000 };

	(void)s;
	for (size_t k = 0; k < DP_COUNT(sigmas); k++) {
		struct dp_metric_release r = { 1e4, sigmas[k] };
		double step = exp2(floor(log2(sigmas[k])) - 30);

		for (uint32_t i = 0; i < 200; i++) {
			double v = dp_metric_release_value(&r, secret, "a", i, NAN, i / 199.);

			assert_true(v / step == rint(v / step));
			assert_true((1 - v) / step == rint((1 - v) / step));
		}
		assert_true(1 / dp_metric_release_records(&r) >= 1 / r.records + step);
		assert_true(dp_metric_release_records(&r) >
			    r.records * (1 - 1e-8 * (1 + sigmas[k] * r.records)));
	}
}

/* ---- an attack ---- */

#define DELTA 0.05

enum {
	POINTS = 16,
	STUDIES = 3000
};

static const char *secret_of(uint32_t study, char out[sizeof secret])
{
	snprintf(out, sizeof secret, "%064x", study);
	return out;
}

/* The privacy loss of a study on the data set with the record, which its models get right
 * at every point, each released `times` over. */
static double study_loss(uint32_t study, int times)
{
	double shift = 1 / release.records, var = release.sigma * release.sigma, loss = 0;
	char own[sizeof secret];

	for (int i = 0; i < POINTS * times; i++) {
		double others = 0.01 * (60 + i % POINTS);
		double seen = dp_metric_release_value(&release, secret_of(study, own), "a", 0, i,
						      others + shift);

		loss += shift * (seen - others - 0.5 * shift) / var;
	}
	return loss;
}

static struct attack_count attacked(int times)
{
	double records = dp_metric_release_records(&release);
	double epsilon = dp_noisy_release_epsilon(records, release.sigma, POINTS, DELTA);
	struct attack_count c = { 0, 0 };
	struct dp_rng r;

	dp_rng_init(&r, 0, DP_RNG_TEST, 0, 0);
	for (uint32_t i = 0; i < STUDIES; i++)
		attack_delta(&c, epsilon, study_loss(i, times), &r);
	return c;
}

/* The claim is exact, so that the attack comes close to it. */
static void the_claim_holds(void **s)
{
	struct attack_count c = attacked(1);

	(void)s;
	assert_true(attack_lower(c, ATTACK_SURE) <= DELTA);
	assert_true(attack_lower(c, ATTACK_SURE) > 0.5 * DELTA);
}

static void a_second_value_for_a_point_is_found(void **s)
{
	(void)s;
	assert_true(attack_lower(attacked(2), ATTACK_SURE) > DELTA);
}

/* The record is got right at every other point only: how far these are from the others.
 * shared: the mutant, whose noise is one for all points of a training. */
static double apart(uint32_t study, bool with, bool shared)
{
	char own[sizeof secret];
	double sum = 0;

	for (int i = 0; i < POINTS; i++) {
		double others = 0.01 * (60 + i), mean = others + (with && i % 2) * 0.01;
		double seen = dp_metric_release_value(&release, secret_of(study, own), "a", 0,
						      shared ? 0 : i, shared ? 0.5 : mean);

		sum += (i % 2 ? 1 : -1) * (seen - others + (shared ? mean - 0.5 : 0));
	}
	return sum;
}

static void noise_that_points_share_is_found(void **s)
{
	enum {
		N = 1000
	};
	static double with[N], without[N];
	double claimed = dp_noisy_release_epsilon(dp_metric_release_records(&release),
						  release.sigma, POINTS, DELTA);

	(void)s;
	for (int shared = 0; shared < 2; shared++) {
		for (uint32_t i = 0; i < N; i++) {
			with[i] = apart(2 * i, true, shared);
			without[i] = apart(2 * i + 1, false, shared);
		}
		assert_int_equal(attack_epsilon(with, without, N, DELTA, ATTACK_SURE) > claimed,
				 shared);
	}
}

/* ---- what it costs ---- */

static void amend(double evaluations)
{
	apply((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
				 .study_amended = { .evaluations = evaluations,
						    .parallel = NAN,
						    .priority = NAN } });
}

/* As many as the file allows hold from the start on; more than that, chosen by somebody
 * who has seen results, are read off the odometer. */
static void what_test_records_cost(void **s)
{
	double records = dp_metric_release_records(&release), fixed;
	struct dp_release_cost r;

	(void)s;
	begin(", runs: 2", "search: {method: dpareto, evaluations: 16}");
	assert_false(dp_release_cost_compute(st, &r));
	st->spec->objectives[1].release = release;
	assert_true(dp_release_cost_compute(st, &r));
	fixed = dp_noisy_release_epsilon(records, release.sigma, 16, 1e-5);
	assert_true(r.proof == DP_RELEASE_COST_FIXED && r.released_results == 0 &&
		    r.max_results == 16 && r.delta == 1e-5 && fabs(r.epsilon / fixed - 1) < 1e-12);
	for (uint32_t i = 0; i < 4; i++) {
		propose(NULL);
		attempted(i, i == 3 ? DP_END_EXIT_CODE : DP_END_OK, true);
	}
	amend(8);
	assert_true(dp_release_cost_compute(st, &r));
	assert_true(r.released_results == 3 && fabs(r.epsilon / fixed - 1) < 1e-12);
	amend(17);
	assert_true(dp_release_cost_compute(st, &r));
	assert_true(r.proof == DP_RELEASE_COST_ODOMETER && r.released_results == 3 &&
		    isinf(r.max_results));
	assert_true(r.epsilon > dp_noisy_release_epsilon(records, release.sigma, 3, 1e-5));
	assert_true(r.epsilon < fixed);
	for (uint32_t i = 4; i < 17; i++) {
		propose(NULL);
		attempted(i, DP_END_OK, true);
	}
	amend(16); /* does not take back that there were more */
	assert_true(dp_release_cost_compute(st, &r));
	assert_true(r.proof == DP_RELEASE_COST_ODOMETER && r.released_results == 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_is_normal),
		cmocka_unit_test(one_value_for_one_point),
		cmocka_unit_test(values_lie_on_a_grid),
		cmocka_unit_test(the_claim_holds),
		cmocka_unit_test(a_second_value_for_a_point_is_found),
		cmocka_unit_test(noise_that_points_share_is_found),
		cmocka_unit_test_teardown(what_test_records_cost, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
