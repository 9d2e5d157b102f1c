/* test_max_time.c - search.max_time: what counts, what is journaled of it, and that no
 * clock that was set, no night and no pause uses it up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"

#define HOUR (3600 * SECOND)
#define DAY  (24 * HOUR)

/* A new daemon, so long after the last record of the one before. */
static void restarted(int64_t later)
{
	now += later;
	apply((struct dp_event){ .type = DP_EV_TIME_NOTED });
}

static void time_is_over(void **s)
{
	struct dp_step step;

	(void)s;
	begin("", "search: {method: random, evaluations: 9, parallel: 2, max_time: 60s}");
	whole_trial(DP_END_OK);
	propose(NULL);
	plan(1, DP_RUN_ALL, 0);
	propose(NULL);
	attempted(2, DP_END_SIGNAL, true);
	dp_policy_next_step(st, now, &step);
	assert_true(step.until_us <= st->created_us + 60 * SECOND);
	now = st->created_us + 60 * SECOND;
	assert_int_equal(dp_policy_count_proposals_left(st, now - 1), 6);
	assert_int_equal(dp_policy_count_proposals_left(st, now), 0);
	NEXT("wait last"); /* trial 1 runs to its end */
	end(1, DP_RUN_ALL, 0, DP_END_OK, true, 1);
	NEXT("1 ok");
	assert_true(record_step());
	NEXT("2 cancelled: search.max_time was over");
	assert_true(record_step());
	NEXT("finished: search.max_time was over");
}

/* What `set` orders of a max_time, in words. */
static const char *set_max_time(const char *change)
{
	struct dp_ev_study_amended a = { .evaluations = NAN,
					 .parallel = NAN,
					 .priority = NAN,
					 .changes = &change,
					 .nchanges = 1 };
	struct dp_transition_events orders;

	assert_int_equal(dp_policy_amend(st, &a, &orders, NULL), DP_OK);
	apply(orders.events[0]);
	if (orders.count == 2)
		apply(orders.events[1]);
	return orders.count == 2 ? orders.events[1].study_moved.state : "as it was";
}

static void more_time_wakes_a_study_that_ran_out_of_it(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9, max_time: 60s}");
	whole_trial(DP_END_OK);
	now = st->created_us + 60 * SECOND;
	NEXT("finished: search.max_time was over");
	assert_true(record_step());
	assert_string_equal(set_max_time("search.max_time=59s"), "as it was");
	assert_string_equal(set_max_time("trainer.timeout=59s"), "as it was");
	assert_string_equal(set_max_time("search.max_time=90s"), "running");
	NEXT("propose");
	now += 30 * SECOND;
	NEXT("finished: search.max_time was over");
	assert_true(record_step());
	assert_string_equal(set_max_time("search.max_time=none"), "running");
	now += 3600 * SECOND;
	NEXT("propose");
	while (st->ntrials < 9)
		whole_trial(DP_END_OK);
	NEXT("finished");
	assert_true(record_step());
	assert_string_equal(set_max_time("search.max_time=9h"), "as it was");
}

/* The same while its points are measured again, after which it would have gone back. */
static void more_time_wakes_a_study_that_is_measured(void **s)
{
	static const double x[] = { 3, 2 }, y[] = { 0.5, NAN };

	(void)s;
	begin("", "search: {method: random, evaluations: 9, max_time: 60s}");
	whole_trial(DP_END_OK);
	now = st->created_us + 60 * SECOND;
	assert_true(record_step());
	apply((struct dp_event){ .type = DP_EV_MEASURE_ASKED,
				 .trial = DP_REEVAL_TRIAL_FIRST,
				 .measure_asked = { .point = { .source = "remeasure",
							       .params = x,
							       .nparams = 2,
							       .privacy = y,
							       .nprivacy = 2 },
						    .result_checkpoint = NAN,
						    .runs = 1 } });
	move("running");
	assert_string_equal(set_max_time("search.max_time=59s"), "as it was");
	assert_true(st->reevals.has_resume_state);
	assert_string_equal(set_max_time("search.max_time=none"), "running");
	assert_false(st->reevals.has_resume_state);
	plan(DP_REEVAL_TRIAL_FIRST, DP_RUN_ALL, 0);
	st->parallel = 2;
	NEXT("propose");
}

static void only_time_under_a_daemon_counts(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9, max_time: 1h}");
	now += 1200 * SECOND;
	whole_trial(DP_END_OK);
	restarted(30 * DAY);
	assert_true(dp_policy_active_us(st, now) == 1200 * SECOND);
	NEXT("propose");
	restarted(365 * DAY); /* and once more, with nothing in between */
	restarted(0);
	assert_true(dp_policy_active_us(st, now + 5) == 1200 * SECOND + 5);
	now += 1200 * SECOND;
	whole_trial(DP_END_OK);
	restarted(DAY);
	now += 1200 * SECOND - 1;
	apply((struct dp_event){ .type = DP_EV_TIME_NOTED, .time_noted = { .daemon_ran = true } });
	NEXT("propose");
	now++;
	NEXT("finished: search.max_time was over");
}

static void a_pause_does_not_count(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9, max_time: 1h}");
	now += 600 * SECOND;
	whole_trial(DP_END_OK);
	move("paused");
	now += 10 * HOUR;
	assert_true(dp_policy_active_us(st, now) == 600 * SECOND);
	assert_false(dp_policy_is_time_limited(st));
	NEXT("wait"); /* and nothing is journaled meanwhile */
	move("running");
	assert_true(dp_policy_active_us(st, now + SECOND) == 601 * SECOND);
	NEXT("propose");
}

/* A daemon that is killed loses at most this much of the time. */
static void time_is_noted_now_and_then(void **s)
{
	static const struct {
		const char *limit;
		int64_t seconds;
	} rows[] = { { "5h", 180 }, { "1h", 60 }, { "2m", 60 }, { "1000h", 36000 } };
	struct dp_step step;

	(void)s;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		char search[100];

		snprintf(search, sizeof search,
			 "search: {method: random, evaluations: 9, max_time: %s}", rows[i].limit);
		begin("", search);
		running();
		dp_policy_next_step(st, now, &step);
		assert_true(step.until_us == now + rows[i].seconds * SECOND);
		now = step.until_us - 1;
		NEXT("wait parallel");
		now++;
		dp_policy_next_step(st, now, &step);
		assert_int_equal(step.kind, DP_STEP_RECORD);
		assert_int_equal(step.record, DP_EV_TIME_NOTED);
		assert_true(dp_step_event(&step).time_noted.daemon_ran);
		apply(dp_step_event(&step));
		assert_true(st->active_us == rows[i].seconds * SECOND);
		NEXT("wait parallel");
	}
}

/* What is over needs no more notes, and what has no limit none at all. */
static void nothing_is_noted_without_need(void **s)
{
	struct dp_step step;

	(void)s;
	begin("", "search: {method: random, evaluations: 9, max_time: 2m}");
	running();
	now += 60 * SECOND;
	assert_true(record_step());
	now += 60 * SECOND;
	NEXT("wait parallel");
	now += 30 * DAY;
	dp_policy_next_step(st, now, &step);
	assert_int_equal(step.kind, DP_STEP_WAIT);
	assert_true(step.until_us == INT64_MAX);
	begin("", "search: {method: random, evaluations: 9}");
	running();
	now += 30 * DAY;
	NEXT("wait parallel");
}

/* Records of version 0.1 and 0.2 have no notes: what lies between them counts, as it did
 * when they were written. */
static void old_journals_count_from_record_to_record(void **s)
{
	(void)s;
	begin("", "search: {method: random, evaluations: 9, max_time: 1h}");
	whole_trial(DP_END_OK);
	now += HOUR / 2;
	whole_trial(DP_END_OK);
	assert_true(st->active_us == HOUR / 2);
	restarted(DAY);
	NEXT("propose");
	now += HOUR / 2;
	NEXT("finished: search.max_time was over");
}

/* The trainer's own clock was set back or forward while it ran. */
static void spans_of_attempts_fit_the_records(void **s)
{
	static const struct {
		double start, end;      /* as the shim told */
		int64_t started, ended; /* from the record of the plan on */
	} rows[] = {
		{ 1002, 1009, 2, 9 },          /* as it should be */
		{ -2e9 + 1, -2e9 + 8, 0, 10 }, /* no time at all */
		{ 2, 9, 0, 7 },                /* set back before it began */
		{ 1002, 9, 0, 10 },            /* while it ran */
		{ 9e8 + 2, 9e8 + 9, 0, 7 },    /* set forward before */
		{ 1002, 9e8, 0, 10 },          /* while */
		{ 0, 1009, -1000, 9 },         /* no start is known */
		{ 0, 0, -1000, 10 },
	};

	(void)s;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		const struct dp_attempt *a;

		begin("", "search: {method: random, evaluations: 9}");
		running();
		now += 10 * SECOND;
		apply((struct dp_event){
			.type = DP_EV_ATTEMPT_ENDED,
			.run = DP_RUN_ALL,
			.attempt_ended = { .end_class = DP_END_SIGNAL,
					   .exit = { .start_seconds = rows[i].start,
						     .end_seconds = rows[i].end } } });
		a = &st->trials[0]->attempts[0];
		if (rows[i].start > 0)
			assert_int_equal(a->started_us / SECOND - 1000, rows[i].started);
		else
			assert_true(a->started_us == 0);
		assert_int_equal(a->ended_us / SECOND - 1000, rows[i].ended);
		assert_true(a->ended_us >= a->planned_us && a->ended_us <= a->recorded_us);
	}
}

#define CASE(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(time_is_over),
		CASE(more_time_wakes_a_study_that_ran_out_of_it),
		CASE(more_time_wakes_a_study_that_is_measured),
		CASE(only_time_under_a_daemon_counts),
		CASE(a_pause_does_not_count),
		CASE(time_is_noted_now_and_then),
		CASE(nothing_is_noted_without_need),
		CASE(old_journals_count_from_record_to_record),
		CASE(spans_of_attempts_fit_the_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
