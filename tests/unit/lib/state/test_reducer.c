/* test_reducer.c - the fold of the journal: every event, what does not fit is refused,
 * fronts in the contract's order. */
#include "base/json.h"
#include "state/state.h"
#include "state/state_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char two[] = "study: two\n"
			  "trainer: {command: [x], runs: 2}\n"
			  "parameters: {x: {type: float, range: [0, 1]}}\n"
			  "objectives: {a: {metric: a}, b: {metric: b, goal: maximize}}\n"
			  "anti_ideal: {a: 10, b: 0}\n"
			  "constraints: {seconds: \"<= 5\"}\n"
			  "search: {method: random, evaluations: 10}\n";

static const char three[] = "study: three\n"
			    "trainer: {command: [x], runs: 3}\n"
			    "parameters: {x: {type: float, range: [0, 1]}}\n"
			    "objectives: {a: {metric: m}, b: {metric: m}}\n"
			    "anti_ideal: {a: 10, b: 10}\n"
			    "search: {method: random, evaluations: 10}\n";

static struct dp_state state;
static uint32_t seq;

/* Applies an event with the next sequence number; gives the code. */
static int apply(struct dp_event e)
{
	struct dp_err err = { .msg = "" };
	int code;

	e.study = 1;
	e.seq = seq;
	e.time_us = 1000000 + seq;
	code = dp_state_apply(&state, &e, &err);
	if (code == DP_OK)
		seq++;
	else
		assert_true(err.msg[0] != '\0');
	return code;
}

static int create(void)
{
	return apply((struct dp_event){
		.type = DP_EV_STUDY_CREATED,
		.study_created = { .name = "two", .text = two, .path = "f", .dir = "/" } });
}

static int propose(uint32_t trial)
{
	double x = trial;

	return apply((struct dp_event){
		.type = DP_EV_TRIAL_PROPOSED,
		.trial = trial,
		.trial_proposed = {
			.point = { .source = "random", .params = &x, .nparams = 1 } } });
}

static int plan(uint32_t trial, uint32_t attempt)
{
	return apply((struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
					.trial = trial,
					.run = DP_RUN_ALL,
					.attempt = attempt });
}

static int place(uint32_t trial, uint32_t attempt, const char *where)
{
	return apply((struct dp_event){ .type = DP_EV_ATTEMPT_PLACED,
					.trial = trial,
					.run = DP_RUN_ALL,
					.attempt = attempt,
					.attempt_placed = { .job_id = where } });
}

static int end_attempt(uint32_t trial, uint32_t attempt, enum dp_end_class end, double seconds)
{
	static const char *const names[] = { "a", "b", "seconds" };
	static const uint32_t runs[] = { 0, 1 };
	double metrics[] = { 1, 2, seconds, 3, 4, seconds };

	return apply((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
					.trial = trial,
					.run = DP_RUN_ALL,
					.attempt = attempt,
					.attempt_ended = { .end_class = end,
							   .charged = true,
							   .metric_names = names,
							   .nmetrics = 3,
							   .runs = runs,
							   .nruns = 2,
							   .metrics = metrics } });
}

static int end_trial(uint32_t trial, const char *how, double a, double b)
{
	double y[] = { a, b };

	return apply((struct dp_event){
		.type = DP_EV_TRIAL_ENDED,
		.trial = trial,
		.trial_ended = { .status = how, .objectives = y, .nobjectives = 2 } });
}

static int whole_trial(uint32_t trial, double a, double b, double seconds)
{
	return propose(trial) || plan(trial, 0) || end_attempt(trial, 0, DP_END_OK, seconds) ||
	       end_trial(trial, "ok", a, b);
}

static int setup(void **s)
{
	(void)s;
	seq = 0;
	return create();
}

static int teardown(void **s)
{
	(void)s;
	dp_state_free(&state);
	return 0;
}

/* The number of a cluster's job, also if it is found under another one later. */
static void an_attempt_is_placed(void **s)
{
	const struct dp_attempt *a;

	(void)s;
	assert_int_equal(propose(0), DP_OK);
	assert_int_equal(plan(0, 0), DP_OK);
	a = dp_state_find_trial(dp_state_get_study(&state, 1), 0)->attempts;
	assert_null(a->job_id);
	assert_int_equal(place(0, 0, "314"), DP_OK);
	assert_string_equal(a->job_id, "314");
	assert_int_equal(place(0, 0, "271_8"), DP_OK);
	assert_string_equal(a->job_id, "271_8");
	assert_int_equal(place(0, 1, "3"), DP_E_CORRUPT);
	assert_int_equal(end_attempt(0, 0, DP_END_OK, 1), DP_OK);
	assert_int_equal(place(0, 0, "3"), DP_E_CORRUPT);
}

static void a_trial_goes_its_way(void **s)
{
	struct dp_study_state *st = dp_state_get_study(&state, 1);
	struct dp_trial *t;

	(void)s;
	assert_int_equal(propose(0), DP_OK);
	t = dp_state_find_trial(st, 0);
	assert_int_equal(t->status, DP_TRIAL_WAITING);
	assert_int_equal(st->waiting_trials, 1);
	assert_int_equal(plan(0, 0), DP_OK);
	assert_int_equal(t->status, DP_TRIAL_RUNNING);
	assert_int_equal(st->open_attempts, 1);
	assert_int_equal(st->waiting_trials, 0);
	assert_int_equal(end_attempt(0, 0, DP_END_SIGNAL, 1), DP_OK);
	assert_int_equal(t->status, DP_TRIAL_WAITING);
	assert_null(t->metrics); /* a failed attempt's numbers are not results */
	assert_int_equal(plan(0, 1), DP_OK);
	assert_int_equal(end_attempt(0, 1, DP_END_OK, 1), DP_OK);
	assert_true(dp_trial_has_run_result(t, 1));
	assert_true(dp_trial_metric_mean(st, t, dp_state_metric_column(st, "a")) == 2);
	assert_true(isnan(dp_trial_metric_mean(st, t, dp_state_metric_column(st, "no such"))));
	assert_int_equal(end_trial(0, "ok", 2, 3), DP_OK);
	assert_int_equal(dp_state_count_ended_trials(st), 1);
	assert_int_equal(st->open_attempts + st->waiting_trials, 0);
	assert_int_equal(st->first_unfinished, 1);
}

/* Three runs of a study with these values of its metric. */
static double variance_of(double a, double b, double c)
{
	static const char *const names[] = { "m" };
	static const uint32_t runs[] = { 0, 1, 2 };
	double values[] = { a, b, c };
	const struct dp_study_state *st;

	dp_state_free(&state);
	seq = 0;
	assert_int_equal(apply((struct dp_event){ .type = DP_EV_STUDY_CREATED,
						  .study_created = { .name = "three",
								     .text = three,
								     .path = "f",
								     .dir = "/" } }),
			 DP_OK);
	assert_int_equal(propose(0), DP_OK);
	assert_int_equal(plan(0, 0), DP_OK);
	assert_int_equal(apply((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
						  .run = DP_RUN_ALL,
						  .attempt_ended = { .end_class = DP_END_OK,
								     .metric_names = names,
								     .nmetrics = 1,
								     .runs = runs,
								     .nruns = 3,
								     .metrics = values } }),
			 DP_OK);
	st = dp_state_get_study(&state, 1);
	return dp_trial_metric_mean_variance(st, st->trials[0], dp_state_metric_column(st, "m"));
}

/* Runs that agree have no spread, also where their mean is rounded: models take the
 * smallest for noise. */
static void runs_that_agree_have_no_variance(void **s)
{
	(void)s;
	assert_true(variance_of(1, 2, 3) == 1.0 / 3);
	assert_true(variance_of(0.1, 0.1, 0.1) == 0);
	assert_true(variance_of(0.1, 0.1, 0.1 + 1e-12) > 0);
}

static void what_does_not_fit_is_refused(void **s)
{
	(void)s;
	assert_int_equal(create(), DP_E_CORRUPT);   /* twice */
	assert_int_equal(propose(1), DP_E_CORRUPT); /* not the next one */
	assert_int_equal(plan(0, 0), DP_E_CORRUPT); /* never proposed */
	assert_int_equal(propose(0), DP_OK);
	assert_int_equal(end_attempt(0, 0, DP_END_OK, 1), DP_E_CORRUPT); /* not planned */
	assert_int_equal(plan(0, 0), DP_OK);
	assert_int_equal(end_trial(0, "ok", 1, 1), DP_E_CORRUPT); /* still running */
	assert_int_equal(end_attempt(0, 0, DP_END_OK, 1), DP_OK);
	assert_int_equal(end_attempt(0, 0, DP_END_OK, 1), DP_E_CORRUPT); /* ended */
	assert_int_equal(end_trial(0, "splendid", 1, 1), DP_E_CORRUPT);
	assert_int_equal(end_trial(0, "running", 1, 1), DP_E_CORRUPT);
	assert_int_equal(end_trial(0, "ok", 1, 1), DP_OK);
	assert_int_equal(plan(0, 1), DP_E_CORRUPT); /* ended */
	assert_int_equal(apply((struct dp_event){ .type = DP_EV_STUDY_MOVED,
						  .study_moved = { .state = "up" } }),
			 DP_E_CORRUPT);
	seq++; /* a gap */
	assert_int_equal(propose(1), DP_E_CORRUPT);
}

static void failures_in_a_row(void **s)
{
	struct dp_study_state *st = dp_state_get_study(&state, 1);

	(void)s;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(propose(i), DP_OK);
		assert_int_equal(end_trial(i, "failed", 0, 0), DP_OK);
		assert_int_equal(st->consecutive_failures, i + 1);
	}
	assert_int_equal(whole_trial(3, 1, 1, 1), DP_OK);
	assert_int_equal(st->consecutive_failures, 0);
	assert_int_equal(dp_state_count_ended_trials(st), 4);
	/* a retry gives back what the failure used up */
	assert_int_equal(apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED, .trial = 1 }),
			 DP_OK);
	assert_int_equal(dp_state_count_ended_trials(st), 3);
	assert_int_equal(st->first_unfinished, 1);
	assert_int_equal(dp_state_find_trial(st, 1)->status, DP_TRIAL_WAITING);
	assert_int_equal(apply((struct dp_event){ .type = DP_EV_TRIAL_RETRY_ASKED, .trial = 3 }),
			 DP_E_CORRUPT);
}

static void the_front_in_contract_order(void **s)
{
	struct dp_study_state *st = dp_state_get_study(&state, 1);

	(void)s;
	/* a is minimised, b maximised; reference (10, 0) */
	assert_int_equal(whole_trial(0, 4, 5, 1), DP_OK);
	assert_int_equal(whole_trial(1, 2, 3, 1), DP_OK);
	assert_int_equal(whole_trial(2, 2, 3, 1), DP_OK);  /* equal to 1: the lower number */
	assert_int_equal(whole_trial(3, 3, 3, 1), DP_OK);  /* dominated */
	assert_int_equal(whole_trial(4, 1, 9, 9), DP_OK);  /* splendid, but not feasible */
	assert_int_equal(whole_trial(5, 20, 6, 1), DP_OK); /* outside the box, on the front */
	dp_state_update_front(st);
	assert_int_equal(st->nfront, 3);
	assert_int_equal(st->front[0].trial, 1);
	assert_int_equal(st->front[1].trial, 0);
	assert_int_equal(st->front[2].trial, 5);
	/* (10-4) x 5 + (4-2) x 3 */
	assert_true(fabs(st->hypervolume - 36) < 1e-12);
}

static void amendments_and_moves(void **s)
{
	struct dp_study_state *st = dp_state_get_study(&state, 1);

	(void)s;
	assert_int_equal(
		apply((struct dp_event){
			.type = DP_EV_STUDY_AMENDED,
			.study_amended = { .evaluations = 50, .parallel = NAN, .priority = -3 } }),
		DP_OK);
	assert_int_equal(st->evaluations, 50);
	assert_int_equal(st->parallel, 1);
	assert_int_equal(st->priority, -3);
	assert_int_equal(apply((struct dp_event){
				 .type = DP_EV_STUDY_MOVED,
				 .reason = "why",
				 .study_moved = { .state = "paused", .by_failures = true } }),
			 DP_OK);
	assert_int_equal(st->status, DP_STUDY_PAUSED);
	assert_true(st->moved_by_failures);
	assert_string_equal(st->reason, "why");
	assert_int_equal(apply((struct dp_event){ .type = DP_EV_STUDY_MOVED,
						  .study_moved = { .state = "running" } }),
			 DP_OK);
	assert_null(st->reason);
	assert_false(st->moved_by_failures);
}

static void imported_results(void **s)
{
	struct dp_study_state *st = dp_state_get_study(&state, 1);
	const double x = 0.5, y[] = { 1, NAN };
	struct dp_event e = { .type = DP_EV_RESULT_IMPORTED,
			      .result_imported = { .study_name = "other",
						   .params = &x,
						   .nparams = 1,
						   .objectives = y,
						   .nobjectives = 2 } };

	(void)s;
	assert_int_equal(apply(e), DP_OK);
	assert_int_equal(st->nimported, 1);
	assert_true(st->imported[0].x[0] == 0.5 && st->imported[0].objectives[0] == 1);
	assert_int_equal(st->ntrials, 0); /* known, but no trial of this study */
	e.result_imported.nobjectives = 1;
	assert_int_equal(apply(e), DP_E_CORRUPT);
}

static void selectors(void **s)
{
	struct dp_study_state *found;
	struct dp_err err;

	(void)s;
	assert_int_equal(dp_state_find_study(&state, "two", &found, &err), DP_OK);
	assert_int_equal(dp_state_find_study(&state, "tw", &found, &err), DP_OK);
	assert_int_equal(dp_state_find_study(&state, "1", &found, &err), DP_OK);
	assert_int_equal(dp_state_find_study(&state, "2", &found, &err), DP_E_NOT_FOUND);
	assert_int_equal(dp_state_find_study(&state, "", &found, &err), DP_E_NOT_FOUND);
	assert_int_equal(dp_state_find_study(&state, "twp", &found, &err), DP_E_NOT_FOUND);
	assert_non_null(strstr(err.hint, "'two'"));
	dp_state_remove_study(&state, 1);
	assert_int_equal(dp_state_find_study(&state, "two", &found, &err), DP_E_NOT_FOUND);
}

static void the_result_object(void **s)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *v, *spread;

	(void)s;
	assert_int_equal(whole_trial(0, 0.5, 0.25, 1), DP_OK);
	v = dp_state_result_json(dp_state_public_view(dp_state_get_study(&state, 1)));
	spread = json_object_get(json_array_get(json_object_get(v, "front"), 0), "spread");
	assert_int_equal(json_object_size(spread), 2);
	json_object_del(spread, "b"); /* runs of -0.5 and 1.5, about 0.5 */
	spread = json_object_get(spread, "a");
	assert_float_equal(json_real_value(json_object_get(spread, "low")), 0.5 - 12.7062, 1e-4);
	assert_float_equal(json_real_value(json_object_get(spread, "high")), 0.5 + 12.7062, 1e-4);
	json_object_del(spread, "low");
	json_object_del(spread, "high");
	dp_json_dump(&out, v, 0);
	assert_string_equal(
		out.data, "{\"version\":1,\"study\":\"two\",\"state\":\"running\",\"reason\":null,"
			  "\"evaluations\":1,\"failed\":0,\"diverged\":0,\"hypervolume\":2.375,"
			  "\"anti_ideal\":{\"a\":10,\"b\":0},\"front\":[{\"trial\":0,\"at\":null,"
			  "\"parameters\":{\"x\":0},\"objectives\":{\"a\":0.5,\"b\":0.25},"
			  "\"spread\":{\"a\":{\"runs\":2,\"sd\":1.4142135623730951}},"
			  "\"remeasured\":null}]}");
	json_decref(v);
	dp_buf_free(&out);
}

/* A trainer's machine may say anything: what is no time is not known. */
static void times_that_are_none(void **s)
{
	static const double odd[] = { 1e300, -1e300, INFINITY, NAN, -1 };
	const struct dp_attempt *a;

	(void)s;
	assert_int_equal(propose(0), DP_OK);
	for (uint32_t i = 0; i < DP_COUNT(odd); i++) {
		assert_int_equal(plan(0, i), DP_OK);
		assert_int_equal(apply((struct dp_event){
					 .type = DP_EV_ATTEMPT_ENDED,
					 .trial = 0,
					 .run = DP_RUN_ALL,
					 .attempt = i,
					 .attempt_ended = { .end_class = DP_END_LOST,
							    .exit = { .start_seconds = odd[i],
								      .end_seconds = odd[i] } } }),
				 DP_OK);
		a = &dp_state_get_study(&state, 1)->trials[0]->attempts[i];
		assert_true(a->started_us == 0);
		assert_true(a->ended_us == a->recorded_us);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static int create_releasing(const char *secret)
{
	static const char text[] =
		"study: two\n"
		"trainer: {command: [./t], runs: 2}\n"
		"parameters: {x: {type: float, range: [0, 1]}}\n"
		"objectives: {a: {metric: a, release: {records: 100, sigma: 0.1}},\n"
		"  b: {metric: b, release: {records: 100, sigma: 0.1}}}\n"
		"anti_ideal: {a: 10, b: 10}\n"
		"search: {method: random, evaluations: 10}\n";

	return apply((struct dp_event){
		.type = DP_EV_STUDY_CREATED,
		.study_created = {
			.name = "two", .text = text, .path = "f", .dir = "/", .secret = secret } });
}

/* Another secret would be another noise on the same values. */
static void a_study_that_releases_has_a_secret(void **s)
{
	static const char secret[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

	(void)s;
	dp_state_free(&state);
	seq = 0;
	assert_int_equal(create_releasing(NULL), DP_E_CORRUPT);
	assert_int_equal(create_releasing(secret + 1), DP_E_CORRUPT);
	assert_int_equal(create_releasing(secret), DP_OK);
	assert_string_equal(dp_state_get_study(&state, 1)->secret, secret);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(times_that_are_none),
		CASE(an_attempt_is_placed),
		CASE(a_trial_goes_its_way),
		CASE(runs_that_agree_have_no_variance),
		CASE(what_does_not_fit_is_refused),
		CASE(failures_in_a_row),
		CASE(the_front_in_contract_order),
		CASE(amendments_and_moves),
		CASE(selectors),
		CASE(imported_results),
		CASE(the_result_object),
		CASE(a_study_that_releases_has_a_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
