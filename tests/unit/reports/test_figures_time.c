/* test_figures_time.c - attempts in slots and what the time went to, against brute force.
 */
#include "base/rng.h"
#include "tests/unit/support/made_studies.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* ---- numbers ---- */

/* Attempts that overlap at random, some of them failed and tried again. */
static void random_attempts(uint32_t study, int n)
{
	double metrics[] = { 1, 1, 1, 1 }, y[] = { 1, 1 }, start[3], end[3];
	struct dp_rng rng;

	dp_rng_init(&rng, 4, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < n; i++) {
		uint32_t trial[3];

		for (int k = 0; k < 3; k++) {
			made_now += dp_rng_uniform(&rng);
			trial[k] = made_trial(study, made_now, k);
			made_now += 0.1 * dp_rng_uniform(&rng);
			made_attempt(study, trial[k], 0);
			/* later than others that were planned later, or by a clock
			 * that was wrong */
			start[k] = i % 9 ? made_now + 2 * dp_rng_uniform(&rng) : made_now - 1;
			end[k] = fmax(made_now, start[k]) + 3 * dp_rng_uniform(&rng);
		}
		for (int k = 0; k < 3; k++) {
			made_now = fmax(made_now, end[k]);
			made_end(study, trial[k], 0, (i + k) % 5 ? DP_END_OK : DP_END_SIGNAL,
				 start[k], metrics);
			if ((i + k) % 5 == 0) { /* again, after others were planned */
				made_attempt(study, trial[k], 1);
				made_now += 1;
				made_end(study, trial[k], 1, DP_END_OK, made_now - 1, metrics);
			}
			made_trial_end(study, trial[k], "ok", y, 2);
		}
	}
}

static void slots_never_hold_two_attempts(void **s)
{
	uint32_t study = made_study("s", LOWER_BOTH);
	size_t most = 0;
	struct study_data *subject;
	struct fig_attempt_spans spans;
	struct dp_err err;

	(void)s;
	random_attempts(study, 40);
	subject = made_subjects();
	assert_int_equal(fig_collect_attempt_spans(&made_mem, subject, &spans, &err), DP_OK);
	assert_int_equal(spans.n, 120 + 24);
	for (size_t i = 0; i < spans.n; i++) {
		const struct fig_attempt_span *a = &spans.list[i];
		size_t at_once = 0;

		assert_true(i == 0 || a->planned >= spans.list[i - 1].planned);
		assert_true(a->slot < spans.slots);
		assert_true(a->requested <= a->proposed && a->proposed <= a->planned &&
			    a->planned <= a->start && a->start <= a->end && a->end <= spans.length);
		for (size_t k = 0; k < spans.n; k++) {
			const struct fig_attempt_span *b = &spans.list[k];

			at_once += b->planned <= a->planned && b->end > a->planned;
			assert_false(k != i && a->slot == b->slot && a->planned < b->end &&
				     b->planned < a->end);
		}
		most = at_once > most ? at_once : most;
	}
	assert_int_equal(spans.slots, most);
	/* what was measured again a day later is no part of it */
	subject->state->updated_us += 86400 * 1000000LL;
	subject->state->reevals.count = 1;
	assert_int_equal(fig_collect_attempt_spans(&made_mem, subject, &spans, &err), DP_OK);
	subject->state->reevals.count = 0;
	assert_true(spans.length < 86400);
}

static void time_is_spent_once(void **s)
{
	enum {
		BINS = 17
	};
	uint32_t study = made_study("s", LOWER_BOTH);
	double seconds[BINS * FIG_USE_COUNT], trained = 0, in_spans = 0;
	struct fig_attempt_spans spans;
	struct dp_err err;

	(void)s;
	random_attempts(study, 40);
	assert_int_equal(fig_collect_attempt_spans(&made_mem, made_subjects(), &spans, &err),
			 DP_OK);
	fig_compute_slot_usage(&spans, BINS, seconds);
	for (size_t i = 0; i < BINS; i++) {
		double sum = 0, width = spans.length / BINS;

		for (size_t use = 0; use < FIG_USE_COUNT; use++)
			sum += seconds[i * FIG_USE_COUNT + use];
		assert_true(fabs(sum - (double)spans.slots * width) < 1e-6 * width);
		trained += seconds[i * FIG_USE_COUNT + FIG_USE_TRAINING] +
			   seconds[i * FIG_USE_COUNT + FIG_USE_FAILED];
	}
	for (size_t i = 0; i < spans.n; i++)
		in_spans += spans.list[i].end - spans.list[i].start;
	assert_true(fabs(trained - in_spans) < 1e-6 * in_spans);
}

/* One slot: 1 s to propose, 2 s to plan, 3 s to start, 4 s that fail; again at once,
 * 5 s that work; then 6 s of nothing. What takes no time to propose waited that second
 * for a slot, and what took less time than there was waited for the rest. */
static void uses_of_time_by_hand(void **s)
{
	static const struct {
		const char *source;
		double sought, uses[FIG_USE_COUNT];
		bool guessed;
	} cases[] = {
		{ "ehvi", 0, { [FIG_USE_PROPOSING] = 1, [FIG_USE_WAITING] = 2 + 6 }, true },
		{ "ehvi",
		  0.25,
		  { [FIG_USE_PROPOSING] = 0.25, [FIG_USE_WAITING] = 0.75 + 2 + 6 },
		  false },
		{ "ehvi", 7, { [FIG_USE_PROPOSING] = 1, [FIG_USE_WAITING] = 2 + 6 }, false },
		{ "grid", 0, { [FIG_USE_WAITING] = 1 + 2 + 6 }, false },
		{ "grid", 0.25, { [FIG_USE_WAITING] = 1 + 2 + 6 }, false },
		{ "enqueued", 0, { [FIG_USE_WAITING] = 1 + 2 + 6 }, false },
	};
	double seconds[FIG_USE_COUNT], metrics[] = { 1, 1, 1, 1 };
	struct fig_attempt_spans spans;
	struct dp_err err;

	(void)s;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char name[] = { 's', (char)('0' + i), '\0' };
		uint32_t study, trial;

		made_now = 0;
		study = made_study(name, LOWER_BOTH);
		made_now = 1;
		trial = made_trial_by(study, cases[i].source, 0, 0);
		made_state(study)->trials[trial]->proposal_seconds = cases[i].sought;
		made_now = 3;
		made_attempt(study, trial, 0);
		made_now = 10;
		made_end(study, trial, 0, DP_END_SIGNAL, 6, NULL);
		made_attempt(study, trial, 1);
		made_now = 15;
		made_end(study, trial, 1, DP_END_OK, 10, metrics);
		made_now = 21;
		made_trial_end(study, trial, "ok", metrics, 2);
	}
	made_subjects();
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		double expected[FIG_USE_COUNT];

		memcpy(expected, cases[i].uses, sizeof expected);
		expected[FIG_USE_TRAINING] = 5;
		expected[FIG_USE_FAILED] = 4;
		expected[FIG_USE_STARTING] = 3;
		assert_int_equal(
			fig_collect_attempt_spans(&made_mem, &made_report.studies[i], &spans, &err),
			DP_OK);
		assert_int_equal(spans.slots, 1);
		assert_int_equal(spans.has_estimated_times, cases[i].guessed);
		fig_compute_slot_usage(&spans, 1, seconds);
		for (size_t use = 0; use < FIG_USE_COUNT; use++)
			assert_true(fabs(seconds[use] - expected[use]) < 1e-5);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, made_begin, made_free)
	const struct CMUnitTest tests[] = {
		T(slots_never_hold_two_attempts),
		T(time_is_spent_once),
		T(uses_of_time_by_hand),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
