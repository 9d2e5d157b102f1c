/* test_checkpoints.c - waypoints in the journal: what is known of them while a trial runs, and
 * what they come to once it has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"

#define SEARCH "search: {method: random, evaluations: 9}"
#define NONE   NAN

/* The waypoints 1 and 2 of trial 0, whose own C is 3, and their epsilons. */
static const double at[] = { 1, 2 }, epsilons[] = { 0.125, 0.25 };
static const char *const names[] = { "f1", "seconds" };
static const uint32_t both[] = { 0, 1 };

/* An attempt that made both runs; ways: by waypoint, run, metric. */
static struct dp_event ended(enum dp_end_class how, const double *ways)
{
	static const double own[] = { 0.5, 9, 0.75, 8 };

	return (struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
				  .run = DP_RUN_ALL,
				  .reason = how == DP_END_OK ? NULL : "because",
				  .attempt_ended = { .end_class = how,
						     .charged = true,
						     .metric_names = names,
						     .nmetrics = 2,
						     .runs = both,
						     .nruns = 2,
						     .metrics = own,
						     .checkpoints = at,
						     .ncheckpoints = 2,
						     .checkpoint_metrics = ways,
						     .ncheckpoint_metrics = 8,
						     .checkpoint_epsilons = epsilons,
						     .ncheckpoint_epsilons = 2 } };
}

static void begin_trial(const char *trainer)
{
	begin(trainer, SEARCH);
	propose(NULL);
}

static void trial_ended(const char *how)
{
	const double y[] = { 0.5, 0.625 };

	apply((struct dp_event){
		.type = DP_EV_TRIAL_ENDED,
		.trial_ended = { .status = how,
				 .objectives = y,
				 .nobjectives = strcmp(how, "ok") == 0 ? 2 : 0 } });
}

static void means_and_variances(void **s)
{
	static const double ways[] = { 0.25, 1, 0.75, 2, 0.5, 3, 0.5, 4 };
	const struct dp_checkpoints *way;

	(void)s;
	begin_trial(", runs: 2, path: C");
	plan(0, DP_RUN_ALL, 0);
	assert_null(st->trials[0]->checkpoints);
	apply(ended(DP_END_OK, ways));
	way = st->trials[0]->checkpoints;
	assert_false(dp_checkpoint_is_result(st, way, 0)); /* the trial has not ended */
	trial_ended("ok");
	assert_int_equal(way->count, 2);
	assert_true(way->values[0] == 1 && way->values[1] == 2);
	assert_true(way->objectives[0] == 0.125 && way->objectives[1] == 0.5);
	assert_true(way->objectives[2] == 0.25 && way->objectives[3] == 0.5);
	assert_int_equal(way->nmetrics, 2);
	assert_true(way->metric_means[0] == 0.5 && way->metric_means[1] == 1.5);
	assert_true(way->metric_variances[0] == 0.0625 && way->metric_variances[1] == 0.25);
	assert_true(way->metric_means[2] == 0.5 && way->metric_means[3] == 3.5);
	assert_true(way->metric_variances[2] == 0 && way->metric_variances[3] == 0.25);
	assert_true(dp_checkpoint_is_result(st, way, 0) && dp_checkpoint_is_result(st, way, 1));
	assert_null(way->run_metrics);
	assert_true(dp_trial_metric_mean(st, st->trials[0], 0) == 0.625); /* its own result */
}

/* Left out by one run, not finite, without an epsilon: dropped, and no others with it. A
 * metric that no objective uses may be anything. */
static void dropped(void **s)
{
	static const double cases[][8] = {
		{ 0.25, 1, NONE, 1, 0.5, 1, 0.5, 1 },
		{ 0.25, 1, INFINITY, 1, 0.5, NONE, 0.5, 1 },
		{ 0.25, 1, 0.5, 1, 0.5, 1, 0.5, INFINITY },
	};

	(void)s;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		const double unknown[] = { NAN, 0.25 };
		struct dp_event e = ended(DP_END_OK, cases[i]);

		if (i == 2)
			e.attempt_ended.checkpoint_epsilons = unknown;
		begin_trial(", runs: 2, path: C");
		plan(0, DP_RUN_ALL, 0);
		apply(e);
		trial_ended("ok");
		assert_false(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 0));
		assert_true(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 1));
	}
}

/* What a cancelled or timed-out training reached stays. While it is retried that is no
 * result, and is one again if the retry gets nowhere, or not as far. */
static void fail_file_truncated(void **s)
{
	static const enum dp_end_class ends[] = { DP_END_CANCELLED, DP_END_TIMEOUT };
	static const double ways[] = { 0.25, 1, 0.75, 2, 0.5, 3, NONE, NONE };
	static const double nowhere[] = { 0.25, 1, NONE, NONE, NONE, NONE, NONE, NONE };

	(void)s;
	for (size_t i = 0; i < DP_COUNT(ends); i++) {
		begin_trial(", runs: 2, path: C");
		plan(0, DP_RUN_ALL, 0);
		apply(ended(ends[i], ways));
		trial_ended(i ? "failed" : "cancelled");
		assert_true(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 0));
		assert_false(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 1));
		assert_null(st->trials[0]->metrics);
		apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED });
		assert_false(dp_trial_has_checkpoint_results(st, st->trials[0]));
		plan(0, DP_RUN_ALL, 1);
		if (i) {
			struct dp_event e = ended(DP_END_TIMEOUT, nowhere);

			e.attempt = 1;
			apply(e);
		} else {
			apply((struct dp_event){
				.type = DP_EV_ATTEMPT_ENDED,
				.attempt = 1,
				.run = DP_RUN_ALL,
				.attempt_ended = { .end_class = DP_END_EXIT_CODE } });
		}
		trial_ended("failed");
		assert_int_equal(st->consecutive_failures, i ? 0 : 1);
		assert_true(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 0));
		assert_true(st->trials[0]->checkpoints->metric_means[0] == 0.5);
		assert_false(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 1));
	}
}

/* runs_per_process: 1: a retry makes only the run that failed, and the waypoints of the
 * other are still there. */
static void one_run_again(void **s)
{
	static const double ways[2][2] = { { 0.25, 0.5 }, { 0.75, 0.5 } };

	(void)s;
	begin_trial(", runs: 2, runs_per_process: 1, path: C");
	for (uint32_t run = 0; run < 2; run++) {
		struct dp_event e = ended(DP_END_OK, ways[run]);

		plan(0, (int32_t)run, 0);
		if (run == 1) {
			apply((struct dp_event){
				.type = DP_EV_ATTEMPT_ENDED,
				.run = 1,
				.attempt_ended = { .end_class = DP_END_EXIT_CODE } });
			trial_ended("failed");
			apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED });
			plan(0, 1, 1);
			e.attempt = 1;
		}
		e.run = (int32_t)run;
		e.attempt_ended.runs = &both[run];
		e.attempt_ended.nruns = e.attempt_ended.nmetrics = 1;
		e.attempt_ended.ncheckpoint_metrics = 2;
		e.attempt_ended.ncheckpoint_epsilons = run ? 0 : 2; /* told already */
		apply(e);
	}
	trial_ended("ok");
	assert_true(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 0));
	assert_true(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 1));
	assert_true(st->trials[0]->checkpoints->metric_means[0] == 0.5);
	assert_null(st->trials[0]->checkpoints->run_metrics);
}

/* runs_per_process: 1: whichever run ends first, the sums are made in the runs' order;
 * a waypoint stands once every run has told it. */
static void one_run_each(void **s)
{
	static const double ways[2][2] = { { 0.1, 0.3 }, { 0.7, 0.9 } };
	double means[2] = { 0 };

	(void)s;
	for (uint32_t first = 0; first < 2; first++) {
		const struct dp_checkpoints *way;

		begin_trial(", runs: 2, runs_per_process: 1, path: C");
		for (uint32_t i = 0; i < 2; i++) {
			uint32_t run = i ^ first;
			struct dp_event e = ended(DP_END_OK, ways[run]);

			plan(0, (int32_t)run, 0);
			e.run = (int32_t)run;
			e.attempt_ended.runs = &both[run];
			e.attempt_ended.nruns = 1;
			e.attempt_ended.nmetrics = 1;
			e.attempt_ended.ncheckpoint_metrics = 2;
			e.attempt_ended.ncheckpoint_epsilons = i ? 0 : 2; /* told already */
			apply(e);
		}
		trial_ended("ok");
		way = st->trials[0]->checkpoints;
		assert_true(dp_checkpoint_is_result(st, way, 0) &&
			    dp_checkpoint_is_result(st, way, 1));
		assert_true(first == 0 || way->metric_means[0] == means[0]);
		means[0] = way->metric_means[0];
		assert_true(way->objectives[2] == 0.25);
	}
	assert_float_equal(means[0], 0.4, 1e-15);
}

/* A run that never came to it: the waypoint is dropped. */
static void a_run_is_missing(void **s)
{
	static const double ways[] = { 0.1, 0.3 };
	struct dp_event e = ended(DP_END_OK, ways);

	(void)s;
	begin_trial(", runs: 2, runs_per_process: 1, path: C");
	plan(0, 0, 0);
	e.run = 0;
	e.attempt_ended.nruns = e.attempt_ended.nmetrics = 1;
	e.attempt_ended.ncheckpoint_metrics = 2;
	apply(e);
	trial_ended("cancelled");
	assert_false(dp_checkpoint_is_result(st, st->trials[0]->checkpoints, 0));
}

/* One run, alone in its process; ways: of both waypoints. */
static void run_ended(uint32_t run, uint32_t attempt, enum dp_end_class how, const double *ways,
		      const double *costs)
{
	struct dp_event e = ended(how, ways);

	plan(0, (int32_t)run, attempt);
	e.run = (int32_t)run;
	e.attempt = attempt;
	e.attempt_ended.runs = &both[run];
	e.attempt_ended.nruns = e.attempt_ended.nmetrics = 1;
	e.attempt_ended.ncheckpoint_metrics = 2;
	e.attempt_ended.checkpoint_epsilons = costs;
	e.attempt_ended.ncheckpoint_epsilons = costs ? 2 : 0;
	apply(e);
}

/* A retry makes the runs again that are missing, and those only: what the others told on
 * their way is as good as their own results. */
static void a_retry_keeps_known_runs(void **s)
{
	static const double first[] = { 0.25, 0.5 }, cut[] = { 0.75, NONE },
			    second[] = { 0.5, 0.75 }, some[] = { 0.125, NONE };
	const struct dp_checkpoints *way;

	(void)s;
	begin_trial(", runs: 2, runs_per_process: 1, path: C");
	run_ended(1, 0, DP_END_TIMEOUT, cut, some);
	run_ended(0, 0, DP_END_OK, first, epsilons);
	trial_ended("failed");
	way = st->trials[0]->checkpoints;
	assert_true(dp_checkpoint_is_result(st, way, 0) && way->metric_means[0] == 0.5);
	assert_false(dp_checkpoint_is_result(st, way, 1));
	apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED });
	assert_false(dp_checkpoint_is_result(st, way, 0)); /* its run is made again */
	assert_true(dp_checkpoints_have_epsilons(st, way));
	run_ended(1, 1, DP_END_OK, second, some);
	trial_ended("ok");
	assert_true(dp_checkpoint_is_result(st, way, 0) && dp_checkpoint_is_result(st, way, 1));
	assert_true(way->metric_means[0] == 0.375 && way->metric_means[1] == 0.625);
	assert_true(way->objectives[0] == 0.125 && way->objectives[2] == 0.25);
	assert_null(way->run_metrics);
}

/* Results that go and others that come are told apart, though they are as many. */
static void results_have_a_version(void **s)
{
	static const double some[] = { 0.25, 1, 0.75, 2, 0.5, 3, NONE, NONE };
	static const double none[] = { 0.25, 1, NONE, NONE, 0.5, 3, NONE, NONE };
	uint32_t before;

	(void)s;
	begin_trial(", runs: 2, path: C");
	before = st->results_version;
	plan(0, DP_RUN_ALL, 0);
	apply(ended(DP_END_TIMEOUT, none));
	trial_ended("failed");
	apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED });
	assert_int_equal(st->results_version, before); /* nothing came of it */
	for (uint32_t i = 1; i < 3; i++) {
		struct dp_event e = ended(DP_END_TIMEOUT, some);

		plan(0, DP_RUN_ALL, i);
		e.attempt = i;
		apply(e);
		trial_ended("failed");
		assert_int_not_equal(st->results_version, before);
		before = st->results_version;
		apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED });
		assert_int_not_equal(st->results_version, before);
		before = st->results_version;
	}
}

/* A trial whose one attempt ends so, and what became of it. */
static void walked_trial(enum dp_end_class how, const double *ways)
{
	struct dp_event e = ended(how, ways);

	propose(NULL);
	e.trial = st->ntrials - 1;
	plan(e.trial, DP_RUN_ALL, 0);
	apply(e);
	assert_true(record_step());
}

/* A training that runs out of time has not been for nothing: it is not among the first
 * that all failed, nor among those in a row. */
static void out_of_time_is_no_failure_in_the_row(void **s)
{
	static const double some[] = { 0.25, 1, 0.75, 2, 0.5, 3, NONE, NONE };
	static const double none[] = { 0.25, 1, NONE, NONE, 0.5, 3, NONE, NONE };

	(void)s;
	begin(", runs: 2, path: C, max_failures: 5", SEARCH);
	for (int i = 0; i < 3; i++)
		walked_trial(DP_END_TIMEOUT, some);
	NEXT("propose");
	assert_int_equal(st->failed, 3);
	assert_int_equal(st->consecutive_failures, 0);
	for (int i = 0; i < 4; i++) /* but these come to nothing */
		walked_trial(DP_END_TIMEOUT, none);
	NEXT("propose");
	walked_trial(DP_END_TIMEOUT, none);
	assert_non_null(strstr(next(), "paused: 5 trials failed in a row"));
}

/* A study whose trainings were all cut short has results if one has a waypoint. */
static void waypoints_make_a_study_finish(void **s)
{
	static const double some[] = { 0.25, 1, 0.75, 2, 0.5, 3, NONE, NONE };
	static const double none[] = { 0.25, 1, NONE, NONE, 0.5, 3, NONE, NONE };

	(void)s;
	begin(", runs: 2, path: C", "search: {method: random, evaluations: 2}");
	walked_trial(DP_END_TIMEOUT, none);
	walked_trial(DP_END_TIMEOUT, some);
	NEXT("finished: no training came to its end (0 diverged, 2 failed or were "
	     "cancelled), but their waypoints are results");
	dp_state_update_front(st);
	assert_int_equal(st->nfront, 1);
	begin(", runs: 2, path: C", "search: {method: random, evaluations: 1}");
	walked_trial(DP_END_TIMEOUT, none);
	assert_non_null(strstr(next(), "failed: not one evaluation succeeded"));
}

static void refused_with(struct dp_event e)
{
	struct dp_err err = { 0 };

	e.study = 1;
	e.seq = seq;
	e.time_us = now;
	assert_int_equal(dp_state_apply(&state, &e, &err), DP_E_CORRUPT);
	assert_non_null(strstr(err.msg, "the waypoints of trial 0 of study 1"));
	assert_int_equal(st->open_attempts, 1);
	assert_int_equal(st->nmetrics, 0);
	assert_null(st->trials[0]->checkpoints);
}

static void what_does_not_fit(void **s)
{
	static const double ways[8] = { 0 }, down[] = { 2, 1 }, odd[] = { 1, NAN };
	struct dp_event e = ended(DP_END_OK, ways), bad;

	(void)s;
	begin_trial(", runs: 2");
	plan(0, DP_RUN_ALL, 0);
	refused_with(e); /* no path */
	begin_trial(", runs: 2, path: C");
	plan(0, DP_RUN_ALL, 0);
	bad = e, bad.attempt_ended.ncheckpoint_metrics = 7;
	refused_with(bad);
	bad = e, bad.attempt_ended.ncheckpoint_epsilons = 1;
	refused_with(bad);
	bad = e, bad.attempt_ended.checkpoints = down;
	refused_with(bad);
	bad = e, bad.attempt_ended.checkpoints = odd;
	refused_with(bad);
	bad = e, bad.attempt_ended.ncheckpoints = DP_CHECKPOINTS_MAX + 1;
	refused_with(bad);
	apply(e);
}

/* 12 waypoints, 10 runs, two metrics: what one training takes in the journal. */
static void bytes_of_a_record(void **s)
{
	double ways[240], own[20], waypoints[12], costs[12];
	uint32_t runs[10];
	struct dp_event e = ended(DP_END_OK, ways);
	struct dp_buf with = DP_BUF_INIT, without = DP_BUF_INIT;

	(void)s;
	for (uint32_t i = 0; i < 240; i++)
		ways[i] = 1 / (i + 3.0);
	for (uint32_t i = 0; i < 20; i++)
		own[i] = 1 / (i + 3.0);
	for (uint32_t i = 0; i < 12; i++) {
		waypoints[i] = i + 1;
		costs[i] = 1 / (i + 3.0);
	}
	for (uint32_t i = 0; i < 10; i++)
		runs[i] = i;
	e.attempt_ended.runs = runs;
	e.attempt_ended.nruns = 10;
	e.attempt_ended.metrics = own;
	e.attempt_ended.checkpoints = waypoints;
	e.attempt_ended.ncheckpoints = 12;
	e.attempt_ended.ncheckpoint_metrics = 240;
	e.attempt_ended.checkpoint_epsilons = costs;
	e.attempt_ended.ncheckpoint_epsilons = 12;
	assert_int_equal(dp_event_encode(&e, &with, NULL), DP_OK);
	e.attempt_ended.ncheckpoints = e.attempt_ended.ncheckpoint_metrics =
		e.attempt_ended.ncheckpoint_epsilons = 0;
	assert_int_equal(dp_event_encode(&e, &without, NULL), DP_OK);
	print_message("%zu bytes, %zu without waypoints\n", with.len, without.len);
	/* nine for each double, one for a small number, and the names of the fields */
	assert_true(with.len - without.len <= 252 * 9 + 12 + 30);
	dp_buf_free(&with);
	dp_buf_free(&without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(means_and_variances, teardown),
		cmocka_unit_test_teardown(dropped, teardown),
		cmocka_unit_test_teardown(fail_file_truncated, teardown),
		cmocka_unit_test_teardown(one_run_again, teardown),
		cmocka_unit_test_teardown(one_run_each, teardown),
		cmocka_unit_test_teardown(a_run_is_missing, teardown),
		cmocka_unit_test_teardown(a_retry_keeps_known_runs, teardown),
		cmocka_unit_test_teardown(results_have_a_version, teardown),
		cmocka_unit_test_teardown(out_of_time_is_no_failure_in_the_row, teardown),
		cmocka_unit_test_teardown(waypoints_make_a_study_finish, teardown),
		cmocka_unit_test_teardown(what_does_not_fit, teardown),
		cmocka_unit_test_teardown(bytes_of_a_record, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
