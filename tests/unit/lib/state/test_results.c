/* test_results.c - the results of a study with paths: which are on the front, which of
 * equal ones, and what constraints and retries mean for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"

#include <stdlib.h>

#define SEARCH "search: {method: random, evaluations: 9}"

static const double at[] = { 1, 2 };
static const char *const names[] = { "f1", "seconds" };
static const uint32_t only[] = { 0 };

/* A training whose path goes over 1 and 2 to its own C, which is 3: epsilons and, for
 * each, f1 (which is to be minimised) and seconds; the last are its own. */
struct training {
	double epsilon[3], values[3][2];
	enum dp_end_class end;
};

static void add_training(const struct training *t)
{
	const double own[] = { t->epsilon[2], t->values[2][0] };
	uint32_t trial = st->ntrials;

	propose(NULL);
	plan(trial, DP_RUN_ALL, 0);
	apply((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
				 .trial = trial,
				 .run = DP_RUN_ALL,
				 .reason = t->end == DP_END_OK ? NULL : "because",
				 .attempt_ended = { .end_class = t->end,
						    .charged = true,
						    .metric_names = names,
						    .nmetrics = 2,
						    .runs = only,
						    .nruns = 1,
						    .metrics = t->values[2],
						    .checkpoints = at,
						    .ncheckpoints = 2,
						    .checkpoint_metrics = t->values[0],
						    .ncheckpoint_metrics = 4,
						    .checkpoint_epsilons = t->epsilon,
						    .ncheckpoint_epsilons = 2 } });
	apply((struct dp_event){
		.type = DP_EV_TRIAL_ENDED,
		.trial = trial,
		.trial_ended = { .status = t->end == DP_END_OK ? "ok" : "cancelled",
				 .objectives = own,
				 .nobjectives = t->end == DP_END_OK ? 2 : 0 } });
}

static void begin_study(const char *constraints)
{
	char tail[200];

	snprintf(tail, sizeof tail, "%s" SEARCH, constraints);
	begin(", path: C", tail);
}

/* The front as text: "0@1 0 2@2"; a trial alone is its own result. */
static const char *front(void)
{
	static char out[200];
	size_t n = 0;

	out[0] = '\0';
	dp_state_update_front(st);
	for (uint32_t i = 0; i < st->nfront; i++) {
		struct dp_result_id p = st->front[i];

		n += (size_t)snprintf(out + n, sizeof out - n, "%s%u", i ? " " : "",
				      (unsigned)p.trial);
		if (p.checkpoint != DP_CHECKPOINT_FINAL)
			n += (size_t)snprintf(out + n, sizeof out - n, "@%g",
					      dp_result_checkpoint_value(st, p));
	}
	return out;
}

static const struct training falling = { { 1, 2, 3 },
					 { { 0.75, 1 }, { 0.5, 2 }, { 0.25, 3 } },
					 DP_END_OK };

static void whole_path(void **s)
{
	(void)s;
	begin_study("");
	add_training(&falling);
	assert_string_equal(front(), "0@1 0@2 0");
	/* the steps from (10, 1): 9 x 0.25 + 8 x 0.25 + 7 x 0.25 */
	assert_float_equal(st->hypervolume, 6, 1e-12);
}

/* Each result meets a constraint or misses it by itself. */
static void constraints(void **s)
{
	(void)s;
	begin_study("constraints: {seconds: \"<= 2\"}\n");
	add_training(&falling);
	assert_string_equal(front(), "0@1 0@2");
	begin_study("constraints: {seconds: \">= 3\"}\n");
	add_training(&falling);
	assert_string_equal(front(), "0");
	begin_study("constraints: {seconds: \"<= 0.5\"}\n");
	add_training(&falling);
	assert_string_equal(front(), "");
	assert_true(st->hypervolume == 0);
	/* a metric that nobody reported */
	begin_study("constraints: {memory: \"<= 5\"}\n");
	add_training(&falling);
	assert_string_equal(front(), "");
}

/* Of equal results the one of the lowest trial, and in it of the lowest value. */
static void equal_results(void **s)
{
	static const struct training level = { { 1, 1, 1 },
					       { { 0.5, 1 }, { 0.5, 1 }, { 0.5, 1 } },
					       DP_END_OK };
	static const struct training late = { { 9, 1, 1 },
					      { { 0.5, 1 }, { 0.5, 1 }, { 0.5, 1 } },
					      DP_END_OK };
	static const struct training last = { { 9, 9, 1 },
					      { { 0.5, 1 }, { 0.5, 1 }, { 0.5, 1 } },
					      DP_END_OK };

	(void)s;
	begin_study("");
	add_training(&last);
	assert_string_equal(front(), "0");
	add_training(&level);
	assert_string_equal(front(), "0");
	begin_study("");
	add_training(&late);
	add_training(&level);
	assert_string_equal(front(), "0@2");
	begin_study("");
	add_training(&level);
	add_training(&late);
	assert_string_equal(front(), "0@1");
}

/* What a cancelled training left is on the front; when somebody tries it again it is
 * gone, and what it dominated is back. */
static void retried(void **s)
{
	static const struct training cut = { { 0.5, 0.75, 0 },
					     { { 0.4, 1 }, { 0.3, 2 }, { NAN, NAN } },
					     DP_END_CANCELLED };

	(void)s;
	begin_study("");
	add_training(&falling);
	add_training(&cut);
	assert_string_equal(front(), "1@1 1@2 0");
	apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED, .trial = 1 });
	assert_string_equal(front(), "0@1 0@2 0");
	assert_float_equal(st->hypervolume, 6, 1e-12);
}

/* What trainings walked is the sum of their own values, but of those that were made. */
static void what_was_walked(void **s)
{
	static const struct training cut = { { 0.1, 0.2, 0.3 },
					     { { 0.5, 1 }, { 0.4, 1 }, { 0.3, 1 } },
					     DP_END_CANCELLED };

	(void)s;
	begin_study("");
	add_training(&cut);
	assert_true(dp_state_total_path_value(st) == 3);
	propose("no epsilon there");
	assert_true(dp_state_total_path_value(st) == 3);
	apply((struct dp_event){
		.type = DP_EV_TRIAL_ENDED, .trial = 1, .trial_ended = { .status = "failed" } });
	assert_true(dp_state_total_path_value(st) == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(whole_path, teardown),
		cmocka_unit_test_teardown(constraints, teardown),
		cmocka_unit_test_teardown(equal_results, teardown),
		cmocka_unit_test_teardown(retried, teardown),
		cmocka_unit_test_teardown(what_was_walked, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
