/* test_reevaluation.c - points that are measured again, without a process: how they are spread
 * over trials, what they come to, where a study goes meanwhile and afterwards, and that
 * the search does not see them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"
#include "state/state_json.h"

#define TWO  "search: {method: random, evaluations: 2}"
#define M(k) (DP_REEVAL_TRIAL_FIRST + (k))

/* `of` < 0: a point of nobody's. */
static struct dp_event asked(double of, uint32_t runs, const char *why)
{
	static const double x[] = { 3, 2 }, y[] = { 0.5, NAN };

	return (struct dp_event){ .type = DP_EV_MEASURE_ASKED,
				  .trial = dp_state_next_reeval_trial(st),
				  .measure_asked = { .point = { .source = why,
								.params = runs ? x : NULL,
								.nparams = runs ? 2 : 0,
								.privacy = runs ? y : NULL,
								.nprivacy = runs ? 2 : 0 },
						     .result_trial = of < 0 ? NAN : of,
						     .result_checkpoint = NAN,
						     .runs = runs } };
}

static void measure(double of, uint32_t runs)
{
	apply(asked(of, runs, of < 0 ? "verify" : "remeasure"));
}

/* All runs of a trial at once, with these values. */
static void measured(uint32_t trial, enum dp_end_class how, const double *f1)
{
	static const char *const names[] = { "f1" };
	static const uint32_t runs[] = { 0, 1, 2, 3 };
	const struct dp_trial *t = dp_state_find_trial(st, trial);

	plan(trial, DP_RUN_ALL, t->nattempts);
	apply((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
				 .trial = trial,
				 .run = DP_RUN_ALL,
				 .attempt = t->nattempts - 1,
				 .reason = how == DP_END_OK ? NULL : "because",
				 .attempt_ended = { .end_class = how,
						    .charged = true,
						    .metric_names = names,
						    .nmetrics = 1,
						    .runs = runs,
						    .nruns = t->runs,
						    .metrics = f1 } });
}

/* A finished study of two evaluations. */
static void finished(const char *trainer, const char *search)
{
	begin(trainer, search);
	settle();
	for (uint32_t i = 0; i < 2; i++) {
		propose(NULL);
		measured(i, DP_END_OK, (const double[]){ 0.25, 0.25, 0.25 });
		settle();
	}
}

static const double low[] = { 0.5, 0.7, 0.6 }, high[] = { 0.9, 1.1 };

/* ---- the fold ---- */

static void spread_over_trials(void **s)
{
	static const uint32_t runs[] = { 3, 3, 2 };
	struct dp_trial *t;
	char name[DP_TRIAL_NAME_LEN];

	(void)s;
	finished(", runs: 3", TWO);
	measure(0, 8);
	assert_int_equal(st->reevals.ntrials, 3);
	for (uint32_t i = 0; i < 3; i++) {
		t = dp_state_find_trial(st, M(i));
		assert_non_null(t);
		assert_int_equal(t->number, M(i));
		assert_int_equal(t->runs, runs[i]);
	}
	assert_null(dp_state_find_trial(st, M(3)));
	assert_int_equal(st->ntrials, 2);
	assert_int_equal(st->waiting_trials, 0);
	assert_int_equal(st->reevals.waiting_trials, 3);
	assert_string_equal(dp_trial_format_name(M(12), name), "m12");
	assert_string_equal(dp_trial_format_name(12, name), "12");
	measure(-1, 1);
	assert_int_equal(dp_state_find_trial(st, M(3))->runs, 1);
}

static void refuses(struct dp_event e)
{
	struct dp_err err;

	e.study = 1;
	e.seq = seq;
	e.time_us = now;
	assert_int_equal(dp_state_apply(&state, &e, &err), DP_E_CORRUPT);
	assert_non_null(strstr(err.msg, "measured out of turn"));
	assert_int_equal(st->reevals.ntrials, 1);
	assert_int_equal(st->reevals.count, 1);
}

static void what_does_not_fit(void **s)
{
	struct dp_event e;

	(void)s;
	finished("", TWO);
	measure(0, 1);
	e = asked(0, 1, "remeasure");
	e.trial = M(0); /* is given already */
	refuses(e);
	e.trial = 7;
	refuses(e);
	refuses(asked(2, 1, "remeasure")); /* no such trial */
	refuses(asked(0, DP_REEVALUATE_RUNS_MAX + 1, "remeasure"));
	e = asked(0, 1, "remeasure");
	e.measure_asked.point.nparams = 1;
	refuses(e);
	e = asked(0, 1, "remeasure");
	e.measure_asked.result_checkpoint = 4; /* there is no trainer.path */
	refuses(e);
}

static void numbers_may_be_lost(void **s)
{
	struct dp_event e;

	(void)s;
	finished("", TWO);
	e = asked(0, 1, "remeasure");
	e.trial = M(7); /* a repaired journal */
	apply(e);
	assert_null(dp_state_find_trial(st, M(0)));
	assert_non_null(dp_state_find_trial(st, M(7)));
	assert_int_equal(dp_state_next_reeval_trial(st), M(8));
}

/* What is searched for is not changed by a record of what measures. */
static void the_search_does_not_see_it(void **s)
{
	double volume;

	(void)s;
	finished(", runs: 3", TWO);
	dp_state_update_front(st);
	volume = st->hypervolume;
	measure(0, 6);
	move("running");
	measured(M(0), DP_END_OK, (const double[]){ 0, 0, 0 });
	settle();
	measured(M(1), DP_END_EXIT_CODE, low);
	settle();
	assert_true(st->front_valid);
	assert_int_equal(st->ntrials, 2);
	assert_int_equal(st->ok, 2);
	assert_int_equal(dp_state_count_ended_trials(st), 2);
	assert_int_equal(st->failed, 0);
	assert_int_equal(st->consecutive_failures, 0);
	dp_state_update_front(st);
	assert_true(st->hypervolume == volume);
}

/* ---- values ---- */

static void runs_are_put_together(void **s)
{
	const struct dp_result_id first = { 0, DP_CHECKPOINT_FINAL },
				  second = { 1, DP_CHECKPOINT_FINAL };
	struct dp_reeval_stats v;
	const char *reason;
	uint32_t done, bad;
	double volume;

	(void)s;
	finished(", runs: 3", TWO);
	assert_false(dp_result_compute_reeval_stats(st, first, &v));
	measure(0, 3);
	measure(0, 5);
	measure(-1, 3);
	assert_int_equal(dp_reeval_get_status(st, &st->reevals.items[1], &reason),
			 DP_TRIAL_WAITING);
	move("running");
	measured(M(0), DP_END_OK, low);
	settle();
	measured(M(1), DP_END_EXIT_CODE, low);
	settle();
	assert_int_equal(dp_reeval_get_status(st, &st->reevals.items[1], &reason),
			 DP_TRIAL_RUNNING);
	measured(M(2), DP_END_OK, high);
	measured(M(3), DP_END_OK, (const double[]){ 0, 0, 0 });
	settle();
	/* 0.5 0.7 0.6 0.9 1.1: mean 0.76, variance 0.058 */
	assert_true(dp_result_compute_reeval_stats(st, first, &v));
	assert_int_equal(v.runs, 5);
	assert_float_equal(v.objectives[0], 0.5, 0);
	assert_float_equal(v.objectives[1], 0.76, 1e-15);
	assert_float_equal(v.sd[1], sqrt(0.058), 1e-15);
	assert_float_equal(v.high[1], 0.76 + 2.776 * sqrt(0.058 / 5), 1e-4);
	assert_float_equal(v.low[1], 0.76 - 2.776 * sqrt(0.058 / 5), 1e-4);
	assert_true(isnan(v.sd[0]) && isnan(v.low[0]) && isnan(v.high[0]));
	assert_false(dp_result_compute_reeval_stats(st, second, &v));
	assert_int_equal(dp_reeval_get_status(st, &st->reevals.items[1], &reason), DP_TRIAL_FAILED);
	assert_string_equal(reason, "exit-code: because");
	dp_reeval_count_runs(st, &st->reevals.items[1], &done, &bad);
	assert_int_equal(done, 2);
	assert_int_equal(bad, 3);
	volume = dp_results_reeval_hypervolume(st, &first, 1);
	assert_float_equal(volume, (10 - 0.5) * (1 - 0.76), 1e-12);
	volume = dp_results_reeval_hypervolume(st, &second, 1);
	assert_true(isnan(volume));
}

/* ---- where the study goes ---- */

static void it_goes_back(void **s)
{
	static const char *const ends[] = { "finished", "stopped", "failed" };

	(void)s;
	for (size_t i = 0; i < DP_COUNT(ends); i++) {
		finished("", TWO);
		apply((struct dp_event){
			.type = DP_EV_STUDY_MOVED,
			.reason = "so it was",
			.study_moved = { .state = ends[i], .by_failures = i == 2 } });
		measure(0, 1);
		assert_true(st->reevals.has_resume_state);
		NEXT("wait"); /* until it is set running */
		move("running");
		NEXT("attempt 1000000000/-1/0");
		measured(M(0), DP_END_OK, low);
		NEXT("1000000000 ok");
		assert_true(record_step());
		assert_int_equal(st->status, DP_STUDY_RUNNING);
		assert_true(record_step());
		assert_string_equal(dp_study_status_text(st->status), ends[i]);
		assert_string_equal(st->reason, "so it was");
		assert_int_equal(st->moved_by_failures, i == 2);
		assert_false(st->reevals.has_resume_state);
		NEXT("wait");
	}
}

/* A stopped study has a trial that waits and evaluations left: neither is for those who
 * only measure. */
static void nothing_is_searched_meanwhile(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9, parallel: 4}");
	whole_trial(DP_END_OK);
	propose(NULL);
	move("stopped");
	measure(0, 1);
	move("running");
	NEXT("attempt 1000000000/-1/0");
	plan(M(0), DP_RUN_ALL, 0);
	NEXT("wait measures");
	assert_int_equal(dp_policy_count_proposals_left(st, now), 0);
	/* somebody resumes it: now it is both */
	move("running");
	assert_false(st->reevals.has_resume_state);
	NEXT("attempt 1/-1/0");
}

static void paused_it_waits(void **s)
{
	(void)s;
	finished("", TWO);
	measure(0, 2);
	move("running");
	move("paused");
	NEXT("wait");
	move("running");
	assert_true(st->reevals.has_resume_state);
	NEXT("attempt 1000000000/-1/0");
}

static void more_is_searched(void **s)
{
	(void)s;
	finished("", TWO);
	measure(0, 1);
	move("running");
	apply((struct dp_event){
		.type = DP_EV_STUDY_AMENDED,
		.study_amended = { .evaluations = 3, .parallel = NAN, .priority = NAN } });
	assert_false(st->reevals.has_resume_state);
	measured(M(0), DP_END_OK, low);
	settle();
	NEXT("propose");
}

static void failures_pause_it(void **s)
{
	(void)s;
	finished("", TWO);
	measure(0, 5);
	move("running");
	for (uint32_t i = 0; i < 3; i++) {
		measured(M(i), DP_END_EXIT_CODE, low);
		assert_true(record_step());
	}
	assert_non_null(strstr(next(), "(failures) paused: 3 trials in a row that "
				       "measure points again failed; trial m2: "
				       "exit-code: because; 'dparetoctl logs s m2'"));
	assert_true(record_step());
	move("running");
	NEXT("attempt 1000000003/-1/0");
	measured(M(3), DP_END_NOT_STARTED, low);
	settle();
	assert_int_equal(st->status, DP_STUDY_PAUSED);
	assert_non_null(strstr(st->reason, "because; put it right"));
}

static void one_is_tried_again(void **s)
{
	(void)s;
	finished("", TWO);
	measure(0, 2);
	move("running");
	measured(M(0), DP_END_EXIT_CODE, low);
	settle();
	measured(M(1), DP_END_OK, low);
	settle();
	assert_int_equal(st->status, DP_STUDY_FINISHED);
	apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED, .trial = M(0) });
	assert_true(st->reevals.has_resume_state);
	assert_int_equal(st->reevals.first_unfinished, 0);
	assert_int_equal(st->failed, 0);
	move("running");
	NEXT("attempt 1000000000/-1/1");
	measured(M(0), DP_END_OK, low);
	settle();
	assert_int_equal(st->status, DP_STUDY_FINISHED);
}

/* One that is far from its turn ends at once when it is cancelled, and the others go on.
 */
static void a_far_one_is_cancelled(void **s)
{
	(void)s;
	finished("", TWO);
	measure(0, 9);
	move("running");
	assert_int_equal(st->reevals.first_untouched, 0);
	apply((struct dp_event){ .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = M(5) });
	assert_non_null(strstr(next(), "1000000005 cancelled"));
	assert_true(record_step());
	NEXT("attempt 1000000000/-1/0");
	for (uint32_t i = 0; i < 9; i++) {
		if (i == 5)
			continue;
		measured(M(i), DP_END_OK, low);
		settle();
	}
	assert_int_equal(st->reevals.first_untouched, 9);
	assert_int_equal(st->status, DP_STUDY_FINISHED);
}

/* ---- beside a search ---- */

static void beside_a_search(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9, parallel: 2}");
	whole_trial(DP_END_OK);
	NEXT("propose");
	measure(0, 3);
	assert_false(st->reevals.has_resume_state);
	/* half of the places, the other is the search's */
	NEXT("attempt 1000000000/-1/0");
	plan(M(0), DP_RUN_ALL, 0);
	NEXT("propose");
	propose(NULL);
	NEXT("attempt 1/-1/0");
	plan(1, DP_RUN_ALL, 0);
	NEXT("wait parallel");
}

/* With one place the search waits for what measures, and proposes what it would have:
 * never while a trial of its own has not ended. */
static void one_place(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9}");
	whole_trial(DP_END_OK);
	propose(NULL);
	measure(0, 1);
	NEXT("attempt 1/-1/0"); /* what was proposed goes first */
	attempted(1, DP_END_SIGNAL, true);
	NEXT("attempt 1000000000/-1/0"); /* while that one rests */
	plan(M(0), DP_RUN_ALL, 0);
	NEXT("wait parallel");
	end(M(0), DP_RUN_ALL, 0, DP_END_OK, true, 0.5);
	settle();
	NEXT("wait retry");
	now += SECOND;
	NEXT("attempt 1/-1/1");
}

static void at_the_end_of_a_search(void **s)
{
	(void)s;
	finished(", runs: 3", "search: {method: random, evaluations: 2, remeasure: 3}");
	NEXT("measure the front");
	apply(asked(1, 3, "end"));
	NEXT("measure the front"); /* a daemon died between the two records */
	apply(asked(-1, 0, "end"));
	NEXT("attempt 1000000000/-1/0");
	measured(M(0), DP_END_OK, low);
	settle();
	assert_int_equal(st->status, DP_STUDY_FINISHED);
	assert_null(st->reason);
	/* other results: it is asked for once more */
	apply((struct dp_event){
		.type = DP_EV_STUDY_AMENDED,
		.study_amended = { .evaluations = 3, .parallel = NAN, .priority = NAN } });
	move("running");
	NEXT("propose");
	propose(NULL);
	measured(2, DP_END_OK, low);
	settle();
	NEXT("measure the front");
	apply((struct dp_event){ .type = DP_EV_MEASURE_ASKED,
				 .reason = "search.remeasure left something out",
				 .measure_asked = { .point = { .source = "end" },
						    .result_trial = NAN,
						    .result_checkpoint = NAN } });
	NEXT("finished: search.remeasure left something out");
}

static void without_results_nothing_is_measured(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 1, remeasure: 3}");
	settle();
	whole_trial(DP_END_EXIT_CODE);
	assert_non_null(strstr(next(), "failed: not one evaluation succeeded"));
}

/* search.max_time stands still while points are measured, and what was over stays so. */
static void time_stands_still(void **s)
{
	int64_t active;

	(void)s;
	begin("", "search: {method: random, evaluations: 9, max_time: 10s, remeasure: 1}");
	settle();
	whole_trial(DP_END_OK);
	now += 11 * SECOND;
	NEXT("measure the front");
	apply(asked(0, 1, "end"));
	apply(asked(-1, 0, "end"));
	active = dp_policy_active_us(st, now);
	assert_true(active >= 10 * SECOND);
	now += 100 * SECOND;
	assert_true(dp_policy_active_us(st, now) == active);
	assert_false(dp_policy_is_time_limited(st));
	NEXT("attempt 1000000000/-1/0");
	measured(M(0), DP_END_OK, low);
	assert_true(st->active_us == active);
	settle();
	assert_int_equal(st->status, DP_STUDY_FINISHED);
	assert_string_equal(st->reason, "search.max_time was over");
}

/* ---- what it shows ---- */

static void progress_is_of_what_was_asked_together(void **s)
{
	json_t *v;

	(void)s;
	finished(", runs: 3", TWO);
	v = dp_state_reeval_progress_json(dp_state_public_view(st));
	assert_true(json_is_null(v));
	json_decref(v);
	measure(0, 3);
	move("running");
	measured(M(0), DP_END_OK, low);
	settle();
	measure(0, 4);
	measure(1, 3);
	move("running");
	measured(M(1), DP_END_OK, low);
	settle();
	v = dp_state_reeval_progress_json(dp_state_public_view(st));
	assert_int_equal(json_integer_value(json_object_get(v, "points")), 2);
	assert_int_equal(json_integer_value(json_object_get(v, "done")), 0);
	assert_int_equal(json_integer_value(json_object_get(v, "runs")), 7);
	assert_int_equal(json_integer_value(json_object_get(v, "runs_done")), 3);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread_over_trials),
		cmocka_unit_test(what_does_not_fit),
		cmocka_unit_test(numbers_may_be_lost),
		cmocka_unit_test(the_search_does_not_see_it),
		cmocka_unit_test(runs_are_put_together),
		cmocka_unit_test(it_goes_back),
		cmocka_unit_test(nothing_is_searched_meanwhile),
		cmocka_unit_test(paused_it_waits),
		cmocka_unit_test(more_is_searched),
		cmocka_unit_test(failures_pause_it),
		cmocka_unit_test(one_is_tried_again),
		cmocka_unit_test(a_far_one_is_cancelled),
		cmocka_unit_test(beside_a_search),
		cmocka_unit_test(one_place),
		cmocka_unit_test(at_the_end_of_a_search),
		cmocka_unit_test(without_results_nothing_is_measured),
		cmocka_unit_test(time_stands_still),
		cmocka_unit_test(progress_is_of_what_was_asked_together),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
