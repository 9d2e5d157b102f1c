/* test_privacy_budget.c - the privacy of a whole search: what is fixed before the first training,
 * which training search.budget lets begin, how a study ends by it, and what a study has
 * cost by which proof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/course_story.h"
#include "tests/unit/support/policy_requests.h"
#include "optimize/propose/proposer.h"
#include "tests/unit/support/propose_once.h"
#include "optimize/history/total_privacy_loss.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/diagnostics.h"
#include "study/search_budget.h"
#include "study/study_file.h"

#include <stdlib.h>

#define ORDER  9.0
#define BUDGET "budget: {epsilon: 2, delta: 1.0e-5}"

static struct dp_filter filter;
static struct dp_odometer odometer;

static void fix(void)
{
	dp_odometer_init_default(&odometer);
	assert_int_equal(dp_filter_init(2, 1e-5, ORDER, &filter, NULL), DP_OK);
	apply(dp_policy_accounting_event(&odometer, &filter));
}

/* A study with a budget whose filter is chosen; K is told as a share of its limit. */
static void begin_budget(const char *trainer, const char *search)
{
	char text[300];

	snprintf(text, sizeof text, "search: {method: random, " BUDGET "%s}", search);
	begin(trainer, text);
	fix();
}

/* The next trial, of which one training takes this share of the limit. */
static void propose_share(double share, const char *refused)
{
	const double x[] = { 3, 2 }, y[] = { 0.5, NAN }, k = share * filter.limit;

	apply((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
				 .trial = st->ntrials,
				 .reason = refused,
				 .trial_proposed = { .point = { .source = "random",
								.params = x,
								.nparams = 2,
								.privacy = y,
								.nprivacy = refused ? 0 : 2,
								.renyi = &k,
								.nrenyi = 1 } } });
}

static bool padded_rows_fit(double share)
{
	return dp_policy_check_budget(st, share * filter.limit, NULL) == DP_OK;
}

static double left(void)
{
	return dp_policy_budget_per_run(st, dp_policy_visible_trials(st)) / filter.limit;
}

#define SHARE(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

/* ---- what is fixed ---- */

static void fixed_before_anything(void **s)
{
	struct dp_event late = dp_policy_accounting_event(&odometer, &(struct dp_filter){ 0 });

	(void)s;
	/* an adaptive study records it itself */
	begin("", "search: {method: dpareto, evaluations: 3}");
	NEXT("accounting of 84 orders");
	assert_true(record_step());
	NEXT("propose");
	assert_true(st->accounting && st->accounting->odometer.n == 84);
	assert_true(st->accounting->filter.limit == 0);
	/* with a budget somebody has to choose */
	begin("", "search: {method: random, " BUDGET "}");
	NEXT("fix");
	assert_true(dp_policy_budget_per_run(st, 0) == 0 &&
		    !padded_rows_fit(1e-9)); /* until then nothing fits */
	fix();
	NEXT("propose");
	/* one whose settings are fixed, or an old one that has begun, has nothing to fix
	 */
	begin("", "search: {method: random, evaluations: 3}");
	NEXT("propose");
	begin("", "search: {method: dpareto, evaluations: 3}");
	propose(NULL);
	NEXT("attempt 0/-1/0");
	late.study = 1;
	late.seq = seq;
	assert_int_equal(dp_state_apply(&state, &late, NULL), DP_E_CORRUPT);
	assert_null(st->accounting);
}

/* Records that would prove nothing. */
static void refused_records(void **s)
{
	struct dp_filter larger, other;
	struct dp_odometer wrong;
	struct dp_event e[5];

	(void)s;
	begin("", "search: {method: random, " BUDGET "}");
	dp_odometer_init_default(&odometer);
	wrong = odometer;
	wrong.weight[0] = 0.5;
	assert_int_equal(dp_filter_init(2, 1e-5, ORDER, &filter, NULL), DP_OK);
	assert_int_equal(dp_filter_init(3, 1e-5, ORDER, &other, NULL), DP_OK);
	larger = filter;
	larger.limit *= 1.001;
	e[0] = dp_policy_accounting_event(&odometer, &(struct dp_filter){ 0 });
	e[1] = dp_policy_accounting_event(&odometer, &larger);
	e[2] = dp_policy_accounting_event(&odometer, &other);
	e[3] = dp_policy_accounting_event(&wrong, &filter);
	e[4] = dp_policy_accounting_event(&odometer, &filter);
	e[4].accounting_fixed.nweights--;
	for (size_t i = 0; i < DP_COUNT(e); i++) {
		e[i].study = 1;
		e[i].seq = seq;
		assert_int_equal(dp_state_apply(&state, &e[i], NULL), DP_E_CORRUPT);
		assert_null(st->accounting);
	}
	fix();
	e[0] = dp_policy_accounting_event(&odometer, &filter);
	e[0].study = 1;
	e[0].seq = seq;
	assert_int_equal(dp_state_apply(&state, &e[0], NULL), DP_E_CORRUPT); /* twice */
}

/* ---- what fits ---- */

/* An attempt of which it is certain that nothing ran. */
static void unbegun(uint32_t trial)
{
	uint32_t number = st->trials[trial]->nattempts;

	plan(trial, DP_RUN_ALL, number);
	apply((struct dp_event){
		.type = DP_EV_ATTEMPT_ENDED,
		.trial = trial,
		.run = DP_RUN_ALL,
		.attempt = number,
		.attempt_ended = { .end_class = DP_END_LOST, .never_ran = true } });
}

static void what_has_begun_counts(void **s)
{
	(void)s;
	begin_budget(", retries: 0", ", parallel: 3");
	SHARE(left(), 1);
	propose_share(0.3, NULL);
	SHARE(left(), 0.7); /* pending */
	attempted(0, DP_END_NOT_STARTED, false);
	SHARE(left(), 0.7); /* that cost nothing, and may be tried again */
	move("running");
	attempted(0, DP_END_LOST, false); /* it may have seen all of the data */
	SHARE(left(), 0.4);
	unbegun(0); /* a daemon was killed before it had begun */
	SHARE(left(), 0.4);
	attempted(0, DP_END_OK, true);
	settle();
	SHARE(left(), 0.4);
	propose_share(0.3, "an oracle says no"); /* is never trained */
	settle();
	SHARE(left(), 0.4);
	assert_true(padded_rows_fit(0.3999) && !padded_rows_fit(0.4001) && !padded_rows_fit(NAN) &&
		    !padded_rows_fit(INFINITY));
	propose_share(0.2, NULL);
	plan(2, DP_RUN_ALL, 0);
	propose_share(0.1999, NULL);
	assert_true(left() < 0.0002 && !padded_rows_fit(0.0002));
	apply((struct dp_event){ .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = 3 });
	SHARE(left(), 0.2); /* it will not begin */
	apply((struct dp_event){ .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = 2 });
	SHARE(left(), 0.2); /* it has */
}

static void retries_are_kept_room_for(void **s)
{
	(void)s;
	begin_budget(", retries: 2, runs: 2", ", parallel: 2");
	SHARE(left(), 1.0 / 6);
	propose_share(0.05, NULL); /* 0.3 at worst */
	SHARE(left(), 0.7 / 6);
	attempted(0, DP_END_SIGNAL, true);
	SHARE(left(), 0.7 / 6);
	now += 100 * SECOND;
	attempted(0, DP_END_LOST, false); /* costs no retry, but counts */
	SHARE(left(), 0.6 / 6);
	attempted(0, DP_END_OK, true);
	settle();
	SHARE(left(), 0.7 / 6);
	/* each run in a process of its own */
	begin_budget(", retries: 1, runs: 3, runs_per_process: 1", ", parallel: 9");
	propose_share(0.1, NULL); /* 0.6 at worst */
	SHARE(left(), 0.4 / 6);
	plan(0, 0, 0);
	plan(0, 1, 0);
	SHARE(left(), 0.4 / 6);
	end(0, 0, 0, DP_END_OK, true, 1);
	SHARE(left(), 0.5 / 6); /* that run needs no retry */
	end(0, 1, 0, DP_END_SIGNAL, true, 1);
	SHARE(left(), 0.5 / 6);
}

/* A point that is measured may need the retries of now, not those of the file. */
static void measuring_keeps_room_for_retries(void **s)
{
	const char *const changes[] = { "trainer.retries=1" };
	struct dp_err err;
	double half;

	(void)s;
	begin_budget(", retries: 0", "");
	half = 0.5 * filter.limit * (1 - 1e-12);
	assert_int_equal(dp_policy_check_reeval_budget(st, half, 2, &err), DP_OK);
	apply((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
				 .study_amended = { .evaluations = NAN,
						    .parallel = NAN,
						    .priority = NAN,
						    .changes = changes,
						    .nchanges = 1 } });
	assert_int_equal(dp_policy_check_reeval_budget(st, half, 2, &err), DP_E_LIMIT);
	assert_int_equal(dp_policy_check_reeval_budget(st, half, 1, &err), DP_OK);
}

/* A deterministic study may not know yet that a trial needed no retry. */
static void as_far_as_the_window(void **s)
{
	(void)s;
	begin_budget(", retries: 1", ", parallel: 2, order: deterministic");
	propose_share(0.1, NULL);
	propose_share(0.1, NULL);
	SHARE(left(), 0.6 / 2);
	attempted(1, DP_END_OK, true);
	settle();
	SHARE(left(), 0.6 / 2); /* 1 is not within the window of trial 2 */
	SHARE(dp_policy_budget_per_run(st, st->ntrials) / filter.limit, 0.7 / 2);
	attempted(0, DP_END_OK, true);
	settle();
	SHARE(left(), 0.7 / 2);
}

/* More attempts were lost than anybody reckoned with: what does not fit does not begin.
 */
static void an_attempt_that_does_not_fit(void **s)
{
	(void)s;
	begin_budget(", retries: 0", "");
	propose_share(0.4, NULL);
	attempted(0, DP_END_LOST, false);
	NEXT("attempt 0/-1/1");
	attempted(0, DP_END_CANCELLED, false);
	NEXT("0 cancelled: search.budget: epsilon 2 at delta 1e-05 would be exceeded: "
	     "the "
	     "Renyi divergence of order 9 would be 1.144 of at most 0.9533");
	settle();
	NEXT("propose");
	/* nor where the journal does not say what it costs */
	begin_budget(", retries: 0", "");
	propose(NULL);
	assert_true(strncmp(next(), "0 cancelled: search.budget", 26) == 0);
}

/* ---- how it ends, and what may be asked for then ---- */

static void no_point(void)
{
	struct dp_err why = { .code = DP_E_LIMIT, .msg = "search.budget: nothing fits" };
	struct dp_transition_events orders;

	dp_policy_on_no_proposal(st, &why, &orders);
	for (unsigned i = 0; i < orders.count; i++)
		apply(orders.events[i]);
}

static void refused(enum policy_request what, uint32_t trial)
{
	struct dp_transition_events orders;
	struct dp_err err;

	assert_int_equal(policy_request(st, what, &trial, 9, &orders, &err), DP_E_LIMIT);
	assert_non_null(strstr(err.msg, "search.budget"));
}

static void ends_with_that_reason(void **s)
{
	(void)s;
	begin_budget(", retries: 0", ", parallel: 2");
	propose_share(0.5, NULL);
	plan(0, DP_RUN_ALL, 0);
	no_point(); /* it may leave more than is known now: nothing is recorded */
	NEXT("propose");
	end(0, DP_RUN_ALL, 0, DP_END_OK, true, 1);
	settle();
	no_point();
	NEXT("finished: search.budget: nothing fits");
	settle();
	refused(REQUEST_AMEND, 0);
	refused(REQUEST_ENQUEUE, 0);
}

static void retrying(void **s)
{
	struct dp_transition_events orders;
	uint32_t trial = 0;
	bool has_more;

	(void)s;
	begin_budget(", retries: 0", "");
	for (int i = 0; i < 3; i++) {
		propose_share(i == 1 ? 0.3 : 0.1, NULL);
		attempted((uint32_t)i, DP_END_EXIT_CODE, true);
		settle();
	}
	move("running");
	SHARE(left(), 0.5);
	propose_share(0.25, NULL);
	SHARE(left(), 0.25);
	refused(REQUEST_RETRY, 1);
	/* of all that failed those that fit, together */
	assert_int_equal(dp_policy_retry_failed(st, &trial, &has_more, &orders, NULL), DP_OK);
	assert_int_equal(orders.events[0].trial, 0);
	assert_true(has_more && trial == 2);
	apply(orders.events[0]);
	SHARE(left(), 0.15);
	assert_int_equal(dp_policy_retry_failed(st, &trial, &has_more, &orders, NULL), DP_OK);
	assert_int_equal(orders.events[0].trial, 2);
	assert_false(has_more);
}

/* ---- what a study has cost ---- */

static void whole(struct dp_total_privacy *w)
{
	struct dp_err err;

	if (dp_total_privacy_of_study(st, 0, w, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

/* The parameters of propose() are C 3 and b 2. */
static double composed(double times)
{
	struct dp_composition_items uses;
	struct dp_epsilon e;

	assert_int_equal(dp_accounting_items(st->spec, 0, (double[]){ 3, 2 }, NAN, &uses, NULL),
			 DP_OK);
	uses.items[0].times = times;
	assert_int_equal(dp_privacy_compose(uses.items, 1, 0, false, &e, NULL), DP_OK);
	return e.epsilon;
}

static void proofs(void **s)
{
	struct dp_total_privacy w;

	(void)s;
	/* random search, from the first to the last of what was planned */
	begin(", runs: 2", "search: {method: random, evaluations: 2}");
	whole(&w);
	assert_true(w.epsilon == 0 && w.started_runs == 0);
	whole_trial(DP_END_OK);
	whole(&w); /* it may be stopped here, because of what came out */
	assert_int_equal(w.proof, DP_TOTAL_PRIVACY_ODOMETER);
	assert_true(w.started_runs == 2);
	whole_trial(DP_END_DIVERGED);
	whole(&w);
	assert_int_equal(w.proof, DP_TOTAL_PRIVACY_FIXED);
	assert_true(w.started_runs == 4 && w.epsilon == composed(4) && w.delta == 0);
	/* one that was tried again was not planned */
	begin("", "search: {method: random, evaluations: 1}");
	propose(NULL);
	attempted(0, DP_END_SIGNAL, true);
	attempted(0, DP_END_OK, true);
	settle();
	whole(&w);
	assert_int_equal(w.proof, DP_TOTAL_PRIVACY_ODOMETER);
	assert_true(w.started_runs == 2 && w.epsilon_if_fixed == composed(2));
	/* one that never started is nothing */
	begin("", "search: {method: random, evaluations: 1}");
	propose(NULL);
	attempted(0, DP_END_NOT_STARTED, false);
	move("running");
	unbegun(0);
	attempted(0, DP_END_OK, true);
	settle();
	whole(&w);
	assert_int_equal(w.proof, DP_TOTAL_PRIVACY_FIXED);
	assert_true(w.started_runs == 1);
	/* a budget says what it says, however much of it is spent */
	begin_budget(", retries: 0", "");
	propose_share(0.25, NULL);
	attempted(0, DP_END_OK, true);
	settle();
	whole(&w);
	assert_int_equal(w.proof, DP_TOTAL_PRIVACY_FILTER);
	assert_true(w.epsilon == 2 && w.delta == 1e-5 && w.order == ORDER &&
		    w.is_accounting_recorded);
	SHARE(w.renyi_spent, 0.25 * filter.limit / (ORDER - 1));
	SHARE(w.renyi_limit, filter.limit / (ORDER - 1));
}

static struct dp_study *study_of_gaussians(const char *search)
{
	static const char form[] =
		"study: s\ntrainer: {command: [x], retries: 0}\n"
		"parameters: {s: {type: float, range: [2, 50], scale: log}}\n"
		"objectives: {epsilon: {privacy: {mechanism: gaussian, sigma: s, "
		"delta: 1.0e-5}},\n  error: {metric: f1}}\n"
		"anti_ideal: {epsilon: 10, error: 1}\nsearch: {%s}\n";
	struct dp_diagnostics problems;
	struct dp_study *study;
	struct dp_err err;
	char text[1000];

	snprintf(text, sizeof text, form, search);
	if (dp_study_parse(text, strlen(text), "f", "/", &study, &problems, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&problems);
	return study;
}

/* The odometer by its formula: Gaussian mechanisms add up as sums of 1/sigma^2. An old
 * journal, which has no record of it, is read with the standard orders. */
static void the_odometer(void **s)
{
	struct dp_study *study = study_of_gaussians("method: dpareto, evaluations: 9");
	double x[] = { 10, 20, 5 }, best = INFINITY, rate = 0;
	uint32_t times[] = { 1, 4, 2 };
	double at[] = { NAN, NAN, NAN };
	struct dp_started_runs t = { .n = 3, .x = x, .stop_at = at, .counts = times, .total = 7 };
	struct dp_total_privacy w;

	(void)s;
	dp_odometer_init_default(&t.accounting.odometer);
	for (size_t i = 0; i < 3; i++)
		rate += times[i] / (2 * x[i] * x[i]);
	for (size_t i = 0; i < t.accounting.odometer.n; i++) {
		double a = t.accounting.odometer.order[i];
		double weight = t.accounting.odometer.weight[i];

		best = fmin(best, a * rate + log(1 / (weight * 1e-5)) / (a - 1));
	}
	assert_int_equal(dp_total_privacy_compute(study, &t, 0, &w, NULL), DP_OK);
	assert_int_equal(w.proof, DP_TOTAL_PRIVACY_ODOMETER);
	assert_true(w.epsilon >= best && w.epsilon < best * (1 + 1e-8));
	assert_true(w.epsilon_if_fixed < w.epsilon && w.delta == 1e-5 && !w.is_accounting_recorded);
	dp_study_free(study);
}

/* The filter's order is that of least waste over the space; a pure function of the file.
 */
static void the_filter(void **s)
{
	struct dp_study *study = study_of_gaussians("method: dpareto, " BUDGET);
	struct dp_filter a, b;
	double best = 0;

	(void)s;
	dp_odometer_init_default(&odometer);
	assert_int_equal(dp_budget_filter(study, &odometer, &a, NULL), DP_OK);
	assert_int_equal(dp_budget_filter(study, &odometer, &b, NULL), DP_OK);
	assert_memory_equal(&a, &b, sizeof a);
	/* Gaussian mechanisms all have the same best order: that of the largest B / a */
	for (size_t i = 0; i < odometer.n; i++)
		best = fmax(best, dp_filter_bound(2, 1e-5, odometer.order[i]) / odometer.order[i]);
	assert_true(dp_filter_bound(2, 1e-5, a.order) / a.order > best * (1 - 1e-12));
	dp_study_free(study);
	study = study_of_gaussians("method: random, budget: {epsilon: 1.0e-3, delta: 1.0e-9}");
	assert_int_equal(dp_budget_filter(study, &odometer, &a, NULL), DP_E_LIMIT);
	dp_study_free(study);
}

/* What a budget cannot be kept of is told when the file is read. */
static void no_budget_for(void **s)
{
	static const struct {
		const char *objectives, *why;
	} cases[] = {
		{ "a: {metric: a}, b: {metric: b}", "no objective has 'privacy'" },
		{ "a: {privacy: {mechanism: gaussian, sigma: s, delta: 0.1}}, b: "
		  "{privacy: "
		  "{mechanism: laplace, scale: s}}",
		  "can count one privacy objective; the study has 2" },
		{ "a: {privacy: {command: [prog], delta: 0.1}}, b: {metric: b}",
		  "is the answer of a program" },
	};

	(void)s;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_diagnostics problems;
		struct dp_study *study;
		struct dp_err err;
		char text[1000];

		snprintf(text, sizeof text,
			 "study: s\ntrainer: {command: [x], retries: 0}\n"
			 "parameters: {s: {type: float, range: [2, 50]}}\n"
			 "objectives: {%s}\nanti_ideal: {a: 1, b: 1}\n"
			 "search: {method: random, " BUDGET "}\n",
			 cases[i].objectives);
		assert_int_equal(
			dp_study_parse(text, strlen(text), "f", "/", &study, &problems, &err),
			DP_E_INVALID);
		if (!strstr(err.msg, cases[i].why))
			fail_msg("%s", err.msg);
		dp_diagnostics_free(&problems);
	}
}

/* Where the noise follows from a target, so does what a training costs. */
static void calibrated(void **s)
{
	static const char text[] =
		"study: s\ntrainer: {command: [x], retries: 0}\n"
		"parameters:\n  target: {type: float, range: [0.1, 2], scale: log}\n"
		"  sigma: {calibrate: {epsilon: target, mechanism: gaussian, delta: "
		"1.0e-5}}\n"
		"objectives: {a: {privacy: {mechanism: gaussian, sigma: sigma, delta: "
		"1.0e-5}}, b: {metric: b}}\n"
		"anti_ideal: {a: 3, b: 1}\nsearch: {method: dpareto, " BUDGET "}\n";
	struct dp_diagnostics problems;
	struct dp_proposal point;
	struct dp_history h = { 0 };
	struct dp_study *study;
	struct dp_err err;
	double k, sigma;

	(void)s;
	if (dp_study_parse(text, strlen(text), "f", "/", &study, &problems, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&problems);
	dp_odometer_init_default(&odometer);
	assert_int_equal(dp_budget_filter(study, &odometer, &filter, NULL), DP_OK);
	h.budget_order = filter.order;
	h.budget_remaining = filter.limit / 50;
	assert_int_equal(propose_once(study, &h, 0, NULL, &point, &err), DP_OK);
	assert_int_equal(dp_space_solve_calibrated(study, point.x, NULL), DP_OK);
	sigma = point.x[1];
	k = filter.order * (filter.order - 1) / (2 * sigma * sigma);
	assert_true(k <= h.budget_remaining && k > 0.01 * h.budget_remaining);
	dp_study_free(study);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_before_anything),
		cmocka_unit_test(refused_records),
		cmocka_unit_test(what_has_begun_counts),
		cmocka_unit_test(retries_are_kept_room_for),
		cmocka_unit_test(measuring_keeps_room_for_retries),
		cmocka_unit_test(as_far_as_the_window),
		cmocka_unit_test(an_attempt_that_does_not_fit),
		cmocka_unit_test(ends_with_that_reason),
		cmocka_unit_test(retrying),
		cmocka_unit_test(proofs),
		cmocka_unit_test(the_odometer),
		cmocka_unit_test(the_filter),
		cmocka_unit_test(no_budget_for),
		cmocka_unit_test(calibrated),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
