/* test_proposer_budget.c - what a search proposes within search.budget: never what does
 * not fit, something cheaper near the end, and with `cost: privacy` what is worth its
 * price. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "tests/unit/support/propose_once.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/search_budget.h"
#include "study/space.h"
#include "study/study_file.h"

enum {
	MOST = 60 /* results */
};

static struct dp_study *budget_study(const char *trainer, const char *space, const char *search)
{
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	char text[1024];
	int len =
		snprintf(text, sizeof text,
			 "study: t\nseed: 5\ntrainer: {command: [none], retries: "
			 "0%s}\nparameters:\n"
			 "%sobjectives:\n  e: {privacy: {mechanism: dp-sgd, records: 5000, "
			 "sampling: "
			 "without-replacement, lot: lot, epochs: epochs, noise_multiplier: sigma, "
			 "delta: 1.0e-5}}\n  u: {metric: u}\n"
			 "anti_ideal: {e: 10, u: 1}\n"
			 "search: {method: dpareto, initial: 4, budget: {epsilon: 3, delta: "
			 "1.0e-5}%s}\n",
			 trainer, space, search);

	if (dp_study_parse(text, (size_t)len, "t", "/", &s, &wrong, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&wrong);
	return s;
}

#define SPACE                                                                                      \
	"  epochs: {type: int, range: [1, 40], scale: log}\n"                                      \
	"  lot: {type: int, range: [16, 256], scale: log}\n"                                       \
	"  sigma: {type: float, range: [0.7, 12], scale: log}\n"                                   \
	"  kind: {type: categorical, values: [a, b]}\n"
#define WALK ", path: {parameter: epochs, points: 4}"

/* The error of a training: more steps with less noise are better. */
static double error_at(const double *x)
{
	double learned = 1 - exp(-x[0] / 8), noise = x[2] / x[1] * sqrt(x[0]);

	return fmin(1, 0.1 + 0.6 * (1 - learned) + 2 * noise + (x[3] == 1 ? 0.05 : 0));
}

struct search {
	struct dp_study *study;
	struct dp_filter filter;
	struct dp_renyi_cache *memory;
	struct dp_observation known[MOST * 6];
	size_t n;
	uint32_t trainings;
	double spent;
};

static void search_begin(struct search *s, const char *trainer, const char *space,
			 const char *search, double order)
{
	s->study = budget_study(trainer, space, search);
	s->memory = dp_renyi_cache_new();
	s->n = s->trainings = 0;
	s->spent = 0;
	assert_int_equal(dp_filter_init(3, 1e-5, order, &s->filter, NULL), DP_OK);
}

static void search_end(struct search *s)
{
	dp_renyi_cache_free(s->memory);
	dp_study_free(s->study);
}

static double k_of(struct search *s, const double *x)
{
	double k;

	assert_int_equal(dp_study_training_renyi(s->study, s->memory, 0, x, NAN, &s->filter.order,
						 1, &k, NULL),
			 DP_OK);
	return k;
}

static void result(struct search *s, const double *x, double at)
{
	struct dp_observation *k = &s->known[s->n++];
	struct dp_epsilon e;

	*k = (struct dp_observation){ .trial = s->trainings, .checkpoint = isnan(at) ? 0 : at };
	memcpy(k->x, x, sizeof k->x);
	if (!isnan(at))
		k->x[0] = at;
	assert_int_equal(dp_objective_epsilon(s->study, 0, k->x, &e, NULL), DP_OK);
	k->y[0] = e.epsilon;
	k->y[1] = error_at(k->x);
	k->var[0] = k->var[1] = NAN;
}

/* The next proposal with so much left, and what the answer was. */
static int ask(struct search *s, double left, struct dp_proposal *next, struct dp_err *err)
{
	struct dp_history h = { .observations = s->known,
				.n = s->n,
				.budget_order = s->filter.order,
				.budget_remaining = left };

	return propose_once(s->study, &h, s->trainings, NULL, next, err);
}

/* Trains until nothing fits; every proposal must. */
static void search_all(struct search *s, struct dp_err *err)
{
	struct dp_proposal next;

	while (s->trainings < MOST) {
		double left = dp_filter_remaining(&s->filter, s->spent, 0) * (1 - 1e-12), k;
		double at[DP_CHECKPOINTS_MAX];
		size_t n;
		int code = ask(s, left, &next, err);

		if (code == DP_E_LIMIT)
			return;
		assert_int_equal(code, DP_OK);
		k = k_of(s, next.x);
		assert_true(dp_filter_allows(&s->filter, s->spent, 0, k));
		n = dp_learning_curve_checkpoints(s->study, next.x, at);
		for (size_t i = 0; i < n; i++) /* free */
			result(s, next.x, at[i]);
		result(s, next.x, NAN);
		s->spent = dp_renyi_add(s->spent, k);
		s->trainings++;
	}
	err->msg[0] = '\0';
}

/* The whole budget is spent, down to what the cheapest training costs, and that is why it
 * ends. */
static void spends_all(void **state)
{
	static const char *const trainers[] = { "", WALK };
	static struct search s;
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(trainers); i++) {
		const double cheapest[DP_PARAMS_MAX] = { 1, 64, 4 };

		search_begin(&s, trainers[i],
			     "  epochs: {type: int, range: [1, 40], scale: log}\n"
			     "  lot: {type: int, range: [64, 256], scale: log}\n"
			     "  sigma: {type: float, range: [0.7, 4], scale: log}\n"
			     "  kind: {type: categorical, values: [a, b]}\n",
			     ", cost: none", 6);
		search_all(&s, &err);
		print_message("%u trainings, %.4f of the budget\n", s.trainings,
			      s.spent / s.filter.limit);
		assert_string_equal(err.msg, "search.budget: what is left of epsilon 3 at delta "
					     "1e-05 pays for no training of the parameter space");
		assert_true(s.trainings > 5);
		assert_true(s.filter.limit - s.spent < 1.0001 * k_of(&s, cheapest));
		search_end(&s);
	}
}

/* Proposals are pure functions, and what is left only cuts off. */
static void cheaper_near_the_end(void **state)
{
	static struct search s;
	struct dp_proposal next, again;
	struct dp_err err;

	(void)state;
	search_begin(&s, "", SPACE, ", cost: none", 6);
	for (uint32_t i = 0; i < 12; i++, s.trainings++) {
		double x[DP_PARAMS_MAX] = { 0 };

		dp_space_sample(s.study, i, true, x);
		result(&s, x, NAN);
	}
	for (double left = s.filter.limit; left > 1e-3; left /= 6) {
		assert_int_equal(ask(&s, left, &next, &err), DP_OK);
		assert_int_equal(ask(&s, left, &again, &err), DP_OK);
		assert_memory_equal(next.x, again.x, sizeof next.x);
		assert_true(k_of(&s, next.x) <= left);
	}
	assert_int_equal(ask(&s, 1e-9, &next, &err), DP_E_LIMIT);
	search_end(&s);
}

/* By gain alone the next training is dear; by gain for what it takes it is not. */
static void worth_its_price(void **state)
{
	static const char *const costs[] = { ", cost: none", ", cost: privacy" };
	static struct search s;
	struct dp_proposal next;
	struct dp_err err;
	double k[2];

	(void)state;
	for (size_t c = 0; c < 2; c++) {
		search_begin(&s, "", SPACE, costs[c], 6);
		for (uint32_t i = 0; i < 12; i++, s.trainings++) {
			double x[DP_PARAMS_MAX] = { 0 };

			dp_space_sample(s.study, i, true, x);
			result(&s, x, NAN);
		}
		assert_int_equal(ask(&s, s.filter.limit, &next, &err), DP_OK);
		k[c] = k_of(&s, next.x);
		if (c == 1) /* as a Renyi divergence */
			assert_true(fabs(next.cost / (k[c] / 5) - 1) < 1e-9);
		else
			assert_true(isnan(next.cost));
		search_end(&s);
	}
	print_message("K %.3g by gain, %.3g by gain for it\n", k[0], k[1]);
	assert_true(k[1] < 0.5 * k[0]);
}

/* The design takes at most half of the budget where privacy is the cost. */
static void a_cheap_design(void **state)
{
	static struct search s;
	struct dp_proposal next;
	struct dp_err err;

	(void)state;
	search_begin(&s, "", SPACE, ", cost: privacy", 6);
	for (; s.trainings < 4; s.trainings++) {
		assert_int_equal(ask(&s, dp_filter_remaining(&s.filter, s.spent, 0), &next, &err),
				 DP_OK);
		assert_string_equal(next.source, "initial");
		s.spent = dp_renyi_add(s.spent, k_of(&s, next.x));
		result(&s, next.x, NAN);
	}
	assert_true(s.spent > 0 && s.spent <= 0.5 * s.filter.limit * (1 + 1e-9));
	search_end(&s);
}

/* The gradient of what a training costs is that of its logarithm. */
static void gradient(void **state)
{
	static struct search s;
	struct dp_history h = { 0 };
	struct dp_proposer *p;
	double u[DP_PARAMS_MAX] = { 0.4, 0.6, 0.3, 1 }, by[DP_PARAMS_MAX] = { 0 }, slope;

	(void)state;
	search_begin(&s, "", SPACE, ", cost: privacy", 6);
	h.budget_order = 6;
	h.budget_remaining = 1; /* of which an evaluation takes a part, too */
	p = dp_proposer_new(s.study);
	p->history = &h;
	dp__encoding_round(&p->encoding, u);
	(void)dp__cost_log_at(p, u, by);
	u[2] += 1e-4;
	slope = dp__cost_log_at(p, u, NULL);
	u[2] -= 2e-4;
	slope = (slope - dp__cost_log_at(p, u, NULL)) / 2e-4;
	assert_true(fabs(slope + by[2]) < 1e-3 * fabs(slope));
	assert_true(by[0] < 0 && by[2] > 0); /* epochs cost, noise does not */
	p->history = NULL;
	dp_proposer_free(p);
	search_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spends_all),      cmocka_unit_test(cheaper_near_the_end),
		cmocka_unit_test(worth_its_price), cmocka_unit_test(a_cheap_design),
		cmocka_unit_test(gradient),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
