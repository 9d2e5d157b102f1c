/* test_study_attack.c - attacks on whole studies: what is claimed of a search is claimed
 * of what the fold, the course of a study and the proposer really do.
 *
 * Thousands of studies on two data sets that differ in one record. The first trainings
 * are proposed; then an adversary who knows both data sets and all results enqueues what
 * it likes, lets attempts fail once they have seen the data, has two trainings run side
 * by side, and stops at will. Streams are fixed, so a test that passes once always does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/support/attack.h"
#include "policy/policy.h"
#include "optimize/propose/proposer.h"
#include "tests/unit/support/propose_once.h"
#include "optimize/history/total_privacy_loss.h"
#include "study/search_budget.h"

#include <stdio.h>

#define SIGMA_MOST 300.0
#define DELTA      0.01

enum {
	PROPOSED = 2,   /* trials before the adversary takes over */
	TRAININGS = 90, /* of a study without a budget at most */
};

static const char form[] =
	"study: s\ntrainer: {command: [x], retries: 1}\n"
	"parameters: {sigma: {type: float, range: [0.5, 300], scale: log}}\n"
	"objectives: {epsilon: {privacy: {mechanism: gaussian, sigma: sigma, delta: "
	"0.01}},\n"
	"  error: {metric: f1}}\n"
	"anti_ideal: {epsilon: 10, error: 1}\n"
	"search: {method: dpareto, initial: 2, parallel: 2, evaluations: 1000%s}\n";

/* What is wrong with the study, where something is. */
enum mutant {
	SOUND,
	SUM_READ_OFF,     /* composition of what was trained, read off at the end */
	ORDER_AFTERWARDS, /* the odometer's best order, at no cost */
	FAILURES_FREE,    /* an attempt that failed is told to have never started */
	HALF_COUNTED,     /* a proposal says half of what a training costs */
	TOGETHER,         /* what is enqueued together is decided upon together: what is
			   * too much must be found when it is to begin */
};

struct attacked {
	struct dp_state state;
	struct dp_study_state *st;
	struct dp_renyi_cache *memory;
	struct dp_rng rng;
	struct attack_data data;
	enum mutant mutant;
	double loss; /* of all that was trained */
	double size; /* sum of 1 / sigma^2 */
};

static void journaled(struct attacked *a, struct dp_event e)
{
	struct dp_err err;

	e.study = 1;
	e.seq = a->st ? a->st->next_seq : 0;
	e.time_us = 1000 + e.seq;
	if (dp_state_apply(&a->state, &e, &err) != DP_OK)
		fail_msg("%s: %s", dp_event_type_name(e.type), err.msg);
	a->st = dp_state_get_study(&a->state, 1);
}

/* One process: it sees the data, and what it came to is known whatever becomes of it. */
static void attempted(struct attacked *a, struct dp_event plan, bool fails)
{
	static const char *const names[] = { "f1" };
	const uint32_t run = 0;
	struct attack_setting s = { ATTACK_RECORDS, a->st->trials[plan.trial]->x[0] };
	double result = attack_train(&a->data, &s, &a->rng);
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
			      .trial = plan.trial,
			      .run = plan.run,
			      .attempt = plan.attempt,
			      .attempt_ended = { .end_class = DP_END_OK,
						 .charged = true,
						 .metric_names = names,
						 .nmetrics = 1,
						 .runs = &run,
						 .nruns = 1,
						 .metrics = &result } };

	a->loss += attack_loss(&s, result);
	a->size += 1 / (s.sigma * s.sigma);
	journaled(a, plan);
	if (fails)
		e.attempt_ended.end_class = DP_END_SIGNAL;
	if (fails && a->mutant == FAILURES_FREE) {
		e.attempt_ended.end_class = DP_END_NOT_STARTED;
		e.attempt_ended.charged = false;
	}
	journaled(a, e);
	if (e.attempt_ended.end_class == DP_END_NOT_STARTED) /* a person puts it right */
		journaled(a, (struct dp_event){ .type = DP_EV_STUDY_MOVED,
						.study_moved = { .state = "running" } });
}

/* Does what the course of the study says until it asks for another point, or ends. */
static bool runs_on(struct attacked *a, bool failing)
{
	struct dp_step step;
	int64_t now = INT64_C(1) << 50;
	int failures = !failing ? 0 : a->mutant == FAILURES_FREE ? 4 : 1;

	for (;;) {
		dp_policy_next_step(a->st, now, &step);
		if (step.kind == DP_STEP_RECORD)
			journaled(a, dp_step_event(&step));
		else if (step.kind == DP_STEP_ATTEMPT) {
			attempted(a, dp_step_event(&step), failures-- > 0);
		} else
			return step.kind == DP_STEP_PROPOSE;
	}
}

static void proposed(struct attacked *a, const double *x, const char *source, double k)
{
	const double y[] = { 1, NAN };

	journaled(a,
		  (struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
				     .trial = a->st->ntrials,
				     .trial_proposed = { .point = { .source = source,
								    .params = x,
								    .nparams = 1,
								    .privacy = y,
								    .nprivacy = 2,
								    .renyi = &k,
								    .nrenyi = k > 0 ? 1 : 0 } } });
}

/* K at the filter's order; 0 without a budget. */
static double k_of(struct attacked *a, const double *x)
{
	const struct dp_filter *f = &a->st->accounting->filter;
	double k = 0;

	if (f->limit > 0)
		assert_int_equal(dp_study_training_renyi(a->st->spec, a->memory, 0, x, NAN,
							 &f->order, 1, &k, NULL),
				 DP_OK);
	return a->mutant == HALF_COUNTED ? 0.5 * k : k;
}

static void study_begin(struct attacked *a, const char *search, uint64_t i, enum mutant mutant)
{
	static struct dp_odometer odometer;
	struct dp_history h = { 0 };
	struct dp_proposal point;
	struct dp_filter filter = { 0 };
	char text[1000];

	*a = (struct attacked){ .data = attack_data(true),
				.memory = dp_renyi_cache_new(),
				.mutant = mutant };
	dp_rng_init(&a->rng, i, DP_RNG_TEST, 3, mutant);
	snprintf(text, sizeof text, form, search);
	journaled(a,
		  (struct dp_event){ .type = DP_EV_STUDY_CREATED,
				     .study_created = { .name = "s", .text = text, .dir = "/" } });
	if (odometer.n == 0)
		dp_odometer_init_default(&odometer);
	if (a->st->spec->search.budget.epsilon > 0)
		assert_int_equal(dp_filter_init(a->st->spec->search.budget.epsilon,
						a->st->spec->search.budget.delta, 4, &filter, NULL),
				 DP_OK);
	journaled(a, dp_policy_accounting_event(&odometer, &filter));
	for (uint32_t t = 0; t < PROPOSED; t++) {
		h.budget_order = filter.order;
		h.budget_remaining = dp_policy_budget_per_run(a->st, a->st->ntrials);
		assert_int_equal(propose_once(a->st->spec, &h, t, NULL, &point, NULL), DP_OK);
		point.x[0] = fmax(point.x[0], 20); /* not all at once */
		proposed(a, point.x, point.source, k_of(a, point.x));
	}
	assert_true(runs_on(a, false));
}

static void study_end(struct attacked *a)
{
	dp_state_free(&a->state);
	dp_renyi_cache_free(a->memory);
}

static void tell(struct attack_count c, const char *what)
{
	print_message("%llu of %llu: %s is %.1e or more\n", (unsigned long long)c.hits,
		      (unsigned long long)c.n, what, attack_lower(c, ATTACK_SURE));
}

/* ---- a study without a budget: its odometer ---- */

static double claimed(struct attacked *a)
{
	struct dp_total_privacy w;

	if (a->mutant == ORDER_AFTERWARDS)
		for (size_t i = 0; i < a->st->accounting->odometer.n; i++)
			a->st->accounting->odometer.weight[i] = 1;
	assert_int_equal(dp_total_privacy_of_study(a->st, 0, &w, NULL), DP_OK);
	assert_int_equal(w.proof, DP_TOTAL_PRIVACY_ODOMETER);
	return a->mutant == SUM_READ_OFF ? w.epsilon_if_fixed : w.epsilon;
}

/* Ever larger trainings, small ones while the loss is near what is claimed; it stops as
 * soon as the loss is above. Claims only grow, so one is asked for again only then. */
static bool odometer_study(struct attacked *a, double *epsilon)
{
	*epsilon = 0;
	for (int t = 0; t < TRAININGS; t++) {
		double grow = a->loss > 0.7 * *epsilon ? 0.06 : 0.25;
		double x = fmax(fmin(1 / sqrt(grow * a->size), SIGMA_MOST), 0.5);

		proposed(a, &x, "enqueued", 0);
		assert_true(runs_on(a, t % 16 == 15));
		if (a->loss > *epsilon)
			*epsilon = claimed(a);
		if (a->loss > *epsilon)
			return true;
	}
	return false;
}

/* In how many studies the loss ever was above the claim. */
static double odometer_attack(enum mutant mutant, uint64_t studies)
{
	struct attack_count c = { 0, 0 };
	struct attacked a;
	double epsilon;

	for (uint64_t i = 0; i < studies; i++) {
		study_begin(&a, "", i, mutant);
		c.hits += odometer_study(&a, &epsilon);
		c.n++;
		study_end(&a);
	}
	tell(c, "the share of losses above the reading");
	return attack_lower(c, ATTACK_SURE);
}

static void odometer_holds(void **state)
{
	(void)state;
	assert_true(odometer_attack(SOUND, 300) <= DELTA);
}

static void order_afterwards_is_found(void **state)
{
	(void)state;
	assert_true(odometer_attack(ORDER_AFTERWARDS, 900) > DELTA);
}

static void sum_read_off_is_found(void **state)
{
	(void)state;
	assert_true(odometer_attack(SUM_READ_OFF, 400) > DELTA);
}

/* ---- a study with a budget ---- */

/* May it be enqueued? As the daemon asks. */
static bool may_enqueue(struct attacked *a, double sigma)
{
	return dp_policy_check_enqueue(a->st, NULL) == DP_OK &&
	       dp_policy_check_budget(a->st, k_of(a, &sigma), NULL) == DP_OK;
}

/* The least noise that may be enqueued; 0: none. */
static double dearest(struct attacked *a, double from)
{
	double sigma = from;

	while (sigma <= SIGMA_MOST && !may_enqueue(a, sigma))
		sigma *= 1.05;
	return sigma <= SIGMA_MOST ? sigma : 0;
}

/* As dear as allowed while the loss is behind, small ones when it is ahead, two at a time
 * of which one fails when it has seen the data; it stops when the loss is above the
 * budget's epsilon, or nothing may start any more. Returns the loss. */
static double budget_study(uint64_t i, enum mutant mutant, double *spent)
{
	struct attacked a;
	double most, loss;

	study_begin(&a, ", budget: {epsilon: 2, delta: 0.01}", i, mutant);
	while (a.loss <= 2) {
		double sigma = dearest(&a, a.loss > 1 ? 4 : 0.9), second = sigma;

		if (sigma == 0)
			break;
		proposed(&a, &sigma, "enqueued", k_of(&a, &sigma));
		if (mutant != TOGETHER)
			second = dearest(&a, sigma);
		if (second > 0)
			proposed(&a, &second, "enqueued", k_of(&a, &second));
		runs_on(&a, true);
	}
	assert_true(dp_state_budget_spent(a.st, spent, &most));
	*spent /= most;
	loss = a.loss;
	study_end(&a);
	return loss;
}

/* The real delta of the budget's epsilon, and whether ever more than all was spent. */
static double budget_attack(enum mutant mutant, size_t studies, double *share)
{
	struct attack_count c = { 0, 0 };
	double sum = 0, spent;
	struct dp_rng r;

	*share = 0;
	dp_rng_init(&r, mutant, DP_RNG_TEST, 4, 0);
	for (size_t i = 0; i < studies; i++) {
		attack_delta(&c, 2, budget_study(i, mutant, &spent), &r);
		sum += spent;
		*share = fmax(*share, spent);
	}
	tell(c, "delta");
	print_message("%.0f %% of the budget spent, %.0f %% at most\n", 100 * sum / (double)studies,
		      100 * *share);
	return attack_lower(c, ATTACK_SURE);
}

static void budget_holds(void **state)
{
	double share;

	(void)state;
	assert_true(budget_attack(SOUND, 1500, &share) <= DELTA);
	assert_true(share <= 1 && share > 0.9);
}

static void free_failures_are_found(void **state)
{
	double share;

	(void)state;
	assert_true(budget_attack(FAILURES_FREE, 500, &share) > DELTA);
}

static void half_counted_is_found(void **state)
{
	double share;

	(void)state;
	assert_true(budget_attack(HALF_COUNTED, 1000, &share) > DELTA);
}

/* Not a mutant that could be found: whoever lets too much in finds that it does not
 * begin.
 */
static void nothing_begins_beyond(void **state)
{
	double share;

	(void)state;
	assert_true(budget_attack(TOGETHER, 300, &share) <= DELTA);
	assert_true(share <= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odometer_holds),
		cmocka_unit_test(order_afterwards_is_found),
		cmocka_unit_test(sum_read_off_is_found),
		cmocka_unit_test(budget_holds),
		cmocka_unit_test(free_failures_are_found),
		cmocka_unit_test(half_counted_is_found),
		cmocka_unit_test(nothing_begins_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
