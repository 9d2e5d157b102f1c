/* test_reducer_refusals.c - records that do not fit what came before: refused with a sentence, and
 * nothing of them is left behind. Found by tests/fuzz/fuzz_state.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"

#define RANDOM "search: {method: random, evaluations: 9}"

static void refused(struct dp_event e, const char *words)
{
	uint32_t ntrials = st->ntrials, open = st->open_attempts, waiting = st->waiting_trials;
	struct dp_err err = { 0 };

	e.study = 1;
	e.seq = seq;
	e.time_us = e.time_us ? e.time_us : now;
	assert_int_equal(dp_state_apply(&state, &e, &err), DP_E_CORRUPT);
	if (!strstr(err.msg, words))
		fail_msg("'%s' is not in '%s'", words, err.msg);
	assert_true(st->next_seq == seq && st->ntrials == ntrials && st->open_attempts == open &&
		    st->waiting_trials == waiting);
}

static void a_study_is_created_by_record_0(void **s)
{
	struct dp_event e = { .type = DP_EV_STUDY_CREATED, .study = 2, .seq = 3 };
	struct dp_err err;

	(void)s;
	begin("", RANDOM);
	e.study_created.text = st->text;
	e.study_created.dir = "/";
	assert_int_equal(dp_state_apply(&state, &e, &err), DP_E_CORRUPT);
	assert_string_equal(err.msg, "study 2 is created by record 3");
	assert_int_equal(state.nstudies, 1);
	assert_null(dp_state_get_study(&state, 2));
}

static void times_are_possible(void **s)
{
	(void)s;
	begin("", RANDOM);
	refused((struct dp_event){ .type = DP_EV_TIME_NOTED, .time_us = INT64_MAX },
		"no possible time");
	refused((struct dp_event){ .type = DP_EV_TIME_NOTED, .time_us = -1 }, "no possible time");
}

static void numbers_can_be_held(void **s)
{
	static const double odd[] = { -1, INFINITY, 1e300 };

	(void)s;
	begin("", RANDOM);
	for (size_t i = 0; i < DP_COUNT(odd); i++) {
		refused((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
					   .study_amended = { .evaluations = odd[i],
							      .parallel = NAN,
							      .priority = NAN } },
			"no number of");
		refused((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
					   .study_amended = { .evaluations = 7,
							      .parallel = odd[i],
							      .priority = NAN } },
			"no number of");
	}
	assert_int_equal(st->evaluations, 9);
	refused(
		(struct dp_event){
			.type = DP_EV_STUDY_AMENDED,
			.study_amended = { .evaluations = 7, .parallel = 1, .priority = 1e10 } },
		"no number of");
}

static struct dp_event amended(const char *const *changes, uint32_t n)
{
	return (struct dp_event){ .type = DP_EV_STUDY_AMENDED,
				  .study_amended = { .evaluations = NAN,
						     .parallel = NAN,
						     .priority = NAN,
						     .changes = changes,
						     .nchanges = n } };
}

/* All changes of a record or none; a version before stays for those who read it. */
static void changes_are_of_keys_that_may(void **s)
{
	static const char *const good[] = { "trainer.timeout=30s", "search.max_time=1h",
					    "trainer.log_limit=1M", "trainer.memory=2G",
					    "data=public" };
	static const char *const bad[][2] = {
		{ "trainer.timeout=1m", "seed=3" },
		{ "trainer.timeout=1m", "" },
		{ "trainer.timeout=1m", "timeout" },
		{ "trainer.timeout=1m", "timeout=5" },
		{ "trainer.timeout=1m", "trainer.retries=-1" },
	};
	static const char *const initial[] = { "search.initial=0" };
	const struct dp_study *before;
	struct dp_event file = amended(NULL, 0);

	(void)s;
	/* of a journal from before it was decided */
	begin("", "search: {method: dpareto, evaluations: 9, initial_from: other}");
	assert_int_equal(st->spec->search.initial, 16);
	begin("", RANDOM);
	apply(amended(initial, 1));
	assert_int_equal(st->spec->search.initial, 0);
	before = st->current_spec;
	assert_false(st->had_max_time);
	apply(amended(good, DP_COUNT(good)));
	assert_true(before->trainer.timeout == 0 && st->spec->trainer.timeout == 0);
	assert_true(st->current_spec->trainer.timeout == 30 &&
		    st->current_spec->search.max_time == 3600 &&
		    st->current_spec->trainer.log_limit == 1 << 20 &&
		    st->current_spec->trainer.memory_limit == 2ull << 30 &&
		    st->current_spec->public_data);
	assert_int_equal(st->current_spec->search.initial, 0);
	for (size_t i = 0; i < DP_COUNT(bad); i++)
		refused(amended(bad[i], 2), "cannot be changed as recorded");
	assert_true(st->current_spec->trainer.timeout == 30);
	apply(amended((const char *const[]){ "search.max_time=none" }, 1));
	assert_true(st->current_spec->search.max_time == 0 && st->had_max_time);
	file.study_amended.text = "study: s # edited\n";
	refused(file, "without its text or folder");
	file.study_amended.dir = "/elsewhere";
	apply(file);
	assert_string_equal(st->text, file.study_amended.text);
	assert_string_equal(st->dir, "/elsewhere");
	assert_null(st->path);
	propose(NULL);
	refused(amended((const char *const[]){ "search.initial=3" }, 1),
		"cannot be changed as recorded");
	assert_int_equal(st->spec->search.initial, 0);
}

static void points_are_of_the_space(void **s)
{
	static const double odd[] = { NAN, INFINITY, 1e300 };
	double x[] = { 3, 2 };
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
			      .trial_proposed = { .point = { .params = x, .nparams = 2 } } };

	(void)s;
	begin("", RANDOM);
	for (size_t i = 0; i < DP_COUNT(odd); i++) {
		x[0] = odd[i]; /* a whole number */
		refused(e, "no point of its space");
	}
}

static void objectives_and_attempts_fit(void **s)
{
	const double y[] = { 1, 2, 3 };

	(void)s;
	begin("", RANDOM);
	propose(NULL);
	refused((struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED, .run = 1 }, "run 1");
	refused((struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED, .run = -2 }, "run -2");
	refused(
		(struct dp_event){
			.type = DP_EV_TRIAL_ENDED,
			.trial_ended = { .status = "ok", .objectives = y, .nobjectives = 1 } },
		"with 1 objectives");
	refused((struct dp_event){ .type = DP_EV_ATTEMPT_PLACED,
				   .run = DP_RUN_ALL,
				   .attempt_placed = { .job_id = "314" } },
		"is placed, but is not open");
	plan(0, DP_RUN_ALL, 0);
	refused((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED, .run = DP_RUN_ALL },
		"not said how");
	end(0, DP_RUN_ALL, 0, DP_END_OK, true, 1);
	NEXT("0 ok");
}

#define CASE(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_study_is_created_by_record_0),
		CASE(times_are_possible),
		CASE(numbers_can_be_held),
		CASE(changes_are_of_keys_that_may),
		CASE(points_are_of_the_space),
		CASE(objectives_and_attempts_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
