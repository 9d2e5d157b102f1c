/* test_fold.c - records that do not fit what came before: refused with a sentence, and
 * nothing of them is left behind. Found by tests/fuzz/fuzz_state.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "course_story.h"

#define RANDOM "search: {method: random, evaluations: 9}"

static void refused(struct dp_event e, const char *words)
{
	uint32_t ntrials = st->ntrials, open = st->open, waiting = st->waiting;
	struct dp_err err = { 0 };

	e.study = 1;
	e.seq = seq;
	e.time = e.time ? e.time : now;
	assert_int_equal(dp_state_apply(&state, &e, &err), DP_E_CORRUPT);
	if (!strstr(err.msg, words))
		fail_msg("'%s' is not in '%s'", words, err.msg);
	assert_true(st->seq == seq && st->ntrials == ntrials && st->open == open &&
		    st->waiting == waiting);
}

static void a_study_is_created_by_record_0(void **s)
{
	struct dp_event e = { .type = DP_EV_STUDY_CREATED, .study = 2, .seq = 3 };
	struct dp_err err;

	(void)s;
	begin("", RANDOM);
	e.text = st->text;
	e.dir = "/";
	assert_int_equal(dp_state_apply(&state, &e, &err), DP_E_CORRUPT);
	assert_string_equal(err.msg, "study 2 is created by record 3");
	assert_int_equal(state.nstudies, 1);
	assert_null(dp_state_by_id(&state, 2));
}

static void times_are_possible(void **s)
{
	(void)s;
	begin("", RANDOM);
	refused((struct dp_event){ .type = DP_EV_TIME_NOTED, .time = INT64_MAX },
		"no possible time");
	refused((struct dp_event){ .type = DP_EV_TIME_NOTED, .time = -1 },
		"no possible time");
}

static void numbers_can_be_held(void **s)
{
	static const double odd[] = { -1, INFINITY, 1e300 };

	(void)s;
	begin("", RANDOM);
	for (size_t i = 0; i < DP_COUNT(odd); i++) {
		refused((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
					   .evaluations = odd[i],
					   .parallel = NAN,
					   .priority = NAN },
			"no number of");
		refused((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
					   .evaluations = 7,
					   .parallel = odd[i],
					   .priority = NAN },
			"no number of");
	}
	assert_int_equal(st->evaluations, 9);
	refused((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
				   .evaluations = 7,
				   .parallel = 1,
				   .priority = 1e10 },
		"no number of");
}

static void points_are_of_the_space(void **s)
{
	static const double odd[] = { NAN, INFINITY, 1e300 };
	double x[] = { 3, 2 };
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED, .params = x, .nparams = 2 };

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
	refused((struct dp_event){ .type = DP_EV_TRIAL_ENDED,
				   .state = "ok",
				   .objectives = y,
				   .nobjectives = 1 },
		"with 1 objectives");
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
		CASE(points_are_of_the_space),
		CASE(objectives_and_attempts_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
