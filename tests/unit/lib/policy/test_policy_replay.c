/* test_policy_replay.c - a replayed journal has the same course as the daemon that wrote
 * it, at every moment of many random lives. */
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"
#include "tests/unit/support/policy_requests.h"

/* ---- one course, however often it is interrupted ---- */

struct log {
	struct dp_buf bytes[4000];
	uint32_t n;
};

static void keep(struct log *l, struct dp_event *e)
{
	struct dp_err err;

	e->study = 1;
	e->seq = seq;
	e->time_us = now;
	assert_true(l->n < DP_COUNT(l->bytes));
	assert_int_equal(dp_event_encode(e, &l->bytes[l->n++], &err), DP_OK);
	apply(*e);
}

/* The step that a daemon takes which has just read the journal. */
static void check_replayed(struct log *l)
{
	struct dp_state fresh = { 0 };
	struct dp_event e = { 0 };
	struct dp_step a, b;
	char one[1100], two[1100];

	for (uint32_t i = 0; i < l->n; i++) {
		assert_int_equal(dp_event_decode(l->bytes[i].data, l->bytes[i].len, &e, NULL),
				 DP_OK);
		e.study = 1;
		e.seq = i;
		assert_int_equal(dp_state_apply(&fresh, &e, NULL), DP_OK);
	}
	dp_event_clear(&e);
	dp_policy_next_step(st, now, &a);
	dp_policy_next_step(dp_state_get_study(&fresh, 1), now, &b);
	assert_string_equal(words(&a, one), words(&b, two));
	assert_true(a.until_us == b.until_us);
	dp_state_free(&fresh);
}

/* Ends the n-th open attempt in some way. */
static void end_some(struct log *l, uint32_t n, uint64_t dice)
{
	static const enum dp_end_class ends[] = {
		DP_END_OK,     DP_END_OK,   DP_END_OK,        DP_END_OK,        DP_END_DIVERGED,
		DP_END_SIGNAL, DP_END_LOST, DP_END_EXIT_CODE, DP_END_CANCELLED, DP_END_NOT_STARTED
	};
	static const char *const names[] = { "f1" };
	enum dp_end_class how = ends[dice % DP_COUNT(ends)];
	double f1 = how == DP_END_DIVERGED ? NAN : (double)(dice % 97);
	uint32_t run = 0;

	for (uint32_t i = 0; i < st->ntrials; i++)
		for (uint32_t k = 0; k < st->trials[i]->nattempts; k++) {
			struct dp_attempt *a = &st->trials[i]->attempts[k];
			struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
					      .trial = i,
					      .run = a->run,
					      .attempt = a->number,
					      .reason = "r",
					      .attempt_ended = { .end_class = how,
								 .charged =
									 how != DP_END_CANCELLED &&
									 how != DP_END_NOT_STARTED,
								 .metric_names = names,
								 .nmetrics = 1,
								 .runs = &run,
								 .nruns = 1,
								 .metrics = &f1 } };

			if (a->end_class != DP_END_NONE || n-- > 0)
				continue;
			run = a->run == DP_RUN_ALL ? 0 : (uint32_t)a->run;
			keep(l, &e);
			return;
		}
}

/* What a person does now and then. */
static void disturb(struct log *l, uint64_t dice)
{
	enum policy_request what = (enum policy_request)(dice % REQUEST_DELETE);
	uint32_t trial = st->ntrials ? (uint32_t)(dice / 7 % st->ntrials) : 0;
	struct dp_transition_events orders;

	if (policy_request(st, what, &trial, 20 + (double)(dice % 20), &orders, NULL) != DP_OK)
		return;
	for (unsigned i = 0; i < orders.count; i++)
		keep(l, &orders.events[i]);
}

static void one_life(struct log *l, uint64_t seed)
{
	const double x[] = { 3, 2 }, y[] = { 0.5, NAN };
	struct dp_step step;
	struct dp_rng rng;

	dp_rng_init(&rng, seed, DP_RNG_TEST, 0, 0);
	for (int turn = 0; turn < 300; turn++) {
		uint64_t dice = dp_rng_u64(&rng);

		now += (int64_t)(dice % (3 * SECOND));
		check_replayed(l);
		dp_policy_next_step(st, now, &step);
		if (dice % 29 == 0) {
			disturb(l, dice / 29);
		} else if (step.kind == DP_STEP_RECORD || step.kind == DP_STEP_ATTEMPT) {
			struct dp_event e = dp_step_event(&step);

			keep(l, &e);
		} else if (step.kind == DP_STEP_PROPOSE && dice % 3) {
			struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
					      .trial = st->ntrials,
					      .trial_proposed = { .point = { .source = "random",
									     .params = x,
									     .nparams = 2,
									     .privacy = y,
									     .nprivacy = 2 } } };

			keep(l, &e);
		} else if (st->open_attempts) {
			end_some(l, (uint32_t)(dice / 5 % st->open_attempts), dice / 11);
		}
		assert_true(st->open_attempts <= st->parallel);
		assert_true(st->ntrials <= st->evaluations || dice % 29 == 0 || st->ntrials <= 40);
	}
}

static void the_same_course_after_every_restart(void **s)
{
	static struct log l;
	static const char *const searches[] = {
		"search: {method: random, evaluations: 30, parallel: 3}",
		"search: {method: random, evaluations: 30}",
		"search: {method: dpareto, evaluations: 30, initial: 4, parallel: 2, "
		"order: deterministic, max_time: 200s}",
	};

	(void)s;
	for (uint64_t seed = 0; seed < 12; seed++) {
		const char *trainer = seed % 2 ? ", runs: 2, runs_per_process: 1, max_failures: 3"
					       : ", retries: 1, max_failures: 4";
		struct dp_event e = { .type = DP_EV_STUDY_CREATED,
				      .study_created = { .path = "f", .dir = "/" } };

		begin(trainer, searches[seed % DP_COUNT(searches)]);
		e.study_created.name = "s";
		e.study_created.text = st->text;
		e.study = 1;
		e.time_us = now;
		assert_int_equal(dp_event_encode(&e, &l.bytes[0], NULL), DP_OK);
		l.n = 1;
		one_life(&l, seed);
		for (uint32_t i = 0; i < l.n; i++)
			dp_buf_free(&l.bytes[i]);
	}
}

#define CASE(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_same_course_after_every_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
