/* test_propose.c - proposals: repeatable, on the grid, never twice, never NaN. */
#include "base/rng.h"
#include "front/front.h"
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	MOST = 120
};

static struct dp_study *study(const char *params, const char *rest, const char *search)
{
	char text[2048];
	struct dp_problems wrong = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	int len = snprintf(
		text, sizeof text,
		"study: t\nseed: 5\ntrainer: {command: [none], runs: 4}\n"
		"parameters:\n%s%ssearch: {method: dpareto, evaluations: 100%s}\n",
		params, rest, search);

	if (dp_study_parse(text, (size_t)len, "t", "/", &s, &wrong, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_problems_free(&wrong);
	return s;
}

#define MIXED                                                                            \
	"  n: {type: int, range: [1, 40]}\n"                                             \
	"  r: {type: float, range: [1e-3, 10], scale: log}\n"                            \
	"  f: {fixed: 3}\n"                                                              \
	"  k: {type: categorical, values: [a, b, c]}\n"
#define TWO                                                                              \
	"objectives:\n  e: {metric: e, transform: log}\n"                                \
	"  u: {metric: u, transform: logit}\nanti_ideal: {e: 50, u: 1}\n"

/* Cheap with small n, good with large n, best with kind b and r near 0.1. */
static void mixed(const double *x, double *y)
{
	double lr = log10(x[1]) + 1;

	y[0] = 0.1 * x[0] * (1 + x[1]);
	y[1] = 1 / (1 + exp(2 - 3 / (1 + 0.2 * x[0]) - 0 * lr)) + 0.05 * lr * lr +
	       (x[3] == 1 ? 0 : 0.1);
	y[1] = fmin(y[1], 0.99);
}

struct run {
	struct dp_known known[MOST];
	size_t n;
};

typedef void fn(const double *x, double *y);

/* Proposes trials from..to-1, with `parallel` - 1 pending at each. */
static void go(struct run *r, const struct dp_study *s, struct dp_proposer *p, fn *f,
	       size_t from, size_t to, size_t parallel)
{
	for (size_t t = from; t < to; t++) {
		struct dp_history h = { r->known, t, 0, NULL, NULL };
		struct dp_proposal out;
		struct dp_err err;
		int code;

		for (size_t k = 0; k < t; k++)
			if (r->known[k].status <= DP_KNOWN_OK ||
			    r->known[k].status == DP_KNOWN_PENDING)
				r->known[k].status =
					k + parallel > t ? DP_KNOWN_PENDING : DP_KNOWN_OK;
		code = p ? dp_proposer_ask(p, &h, (uint32_t)t, NULL, &out, &err)
			 : dp_propose(s, &h, (uint32_t)t, NULL, &out, &err);
		if (code != DP_OK)
			fail_msg("%s", err.msg);
		memset(&r->known[t], 0, sizeof r->known[t]);
		r->known[t].trial = (uint32_t)t;
		memcpy(r->known[t].x, out.x, sizeof out.x);
		f(out.x, r->known[t].y);
		for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
			r->known[t].var[j] = NAN;
		r->n = t + 1;
	}
}

static bool same(const struct run *a, const struct run *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (memcmp(a->known[i].x, b->known[i].x, sizeof a->known[i].x))
			return false;
	return a->n == b->n;
}

static double reached(const struct run *r, const double *ref)
{
	double y[MOST * 2], v;

	for (size_t i = 0; i < r->n; i++)
		memcpy(y + 2 * i, r->known[i].y, 2 * sizeof *y);
	assert_int_equal(dp_hypervolume(y, r->n, 2, ref, &v), DP_OK);
	return v;
}

/* With a memory, without, and with one that was lost on the way. */
static void resumed_is_uninterrupted(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 8");
	static struct run warm, cold, resumed;
	struct dp_proposer *p = dp_proposer_new(s);

	(void)state;
	go(&warm, s, p, mixed, 0, 60, 1);
	go(&cold, s, NULL, mixed, 0, 60, 1);
	assert_true(same(&warm, &cold));
	go(&resumed, s, NULL, mixed, 0, 33, 1);
	dp_proposer_free(p);
	p = dp_proposer_new(s);
	go(&resumed, s, p, mixed, 33, 60, 1);
	assert_true(same(&warm, &resumed));
	/* a memory of another history is no harm */
	memset(&resumed, 0, sizeof resumed);
	go(&resumed, s, p, mixed, 0, 60, 1);
	assert_true(same(&warm, &resumed));
	dp_proposer_free(p);
	dp_study_free(s);
}

/* Results of earlier trials that come late, or change, are seen. */
static void late_results_are_seen(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 8");
	struct dp_proposer *p = dp_proposer_new(s);
	static struct run r;

	(void)state;
	go(&r, s, NULL, mixed, 0, 40, 1);
	for (size_t i = 0; i < 40; i++)
		r.known[i].status = DP_KNOWN_OK;
	for (size_t late = 2; late < 40; late += 9) {
		struct dp_history h = { r.known, 40, 0, NULL, NULL };
		struct dp_proposal warm, cold;
		struct dp_err err;

		for (int step = 0; step < 3; step++) {
			r.known[late].status = step == 0 ? DP_KNOWN_PENDING : DP_KNOWN_OK;
			if (step == 2)
				r.known[late].y[1] *= 0.7;
			assert_int_equal(dp_proposer_ask(p, &h, 40, NULL, &warm, &err),
					 DP_OK);
			assert_int_equal(dp_propose(s, &h, 40, NULL, &cold, &err), DP_OK);
			assert_memory_equal(warm.x, cold.x, sizeof warm.x);
			assert_memory_equal(warm.objective, cold.objective,
					    sizeof warm.objective);
		}
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

static void points_are_on_the_grid_and_differ(void **state)
{
	const double ref[2] = { 50, 1 };
	struct dp_study *s = study(MIXED, TWO, ", initial: 8"), *blind;
	static struct run r, chance;

	(void)state;
	go(&r, s, NULL, mixed, 0, 40, 1);
	for (size_t i = 0; i < r.n; i++) {
		const double *x = r.known[i].x;

		assert_true(x[0] == rint(x[0]) && x[0] >= 1 && x[0] <= 40);
		assert_true(x[1] >= 1e-3 && x[1] <= 10 && x[2] == 0);
		assert_true(x[3] == 0 || x[3] == 1 || x[3] == 2);
		for (size_t j = 0; j < i; j++)
			assert_true(memcmp(x, r.known[j].x, 4 * sizeof *x) != 0);
	}
	blind = study(MIXED, TWO, ", initial: 8, acquisition: random");
	go(&chance, blind, NULL, mixed, 0, 40, 1);
	assert_true(reached(&r, ref) > reached(&chance, ref));
	dp_study_free(s);
	dp_study_free(blind);
}

static void parallel_points_keep_apart(void **state)
{
	const double ref[2] = { 50, 1 };
	struct dp_study *s = study(MIXED, TWO, ", initial: 8");
	static struct run one, eight;

	(void)state;
	go(&one, s, NULL, mixed, 0, 48, 1);
	go(&eight, s, NULL, mixed, 0, 48, 8);
	assert_true(reached(&eight, ref) > 0.98 * reached(&one, ref));
	dp_study_free(s);
}

static void a_small_space_ends(void **state)
{
	struct dp_study *s = study("  n: {type: int, range: [1, 4]}\n"
				   "  k: {type: categorical, values: [a, b]}\n",
				   TWO, ", initial: 3");
	static struct run r;
	struct dp_history h = { r.known, 8, 0, NULL, NULL };
	struct dp_proposal out;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_propose_limit(s), 8);
	go(&r, s, NULL, mixed, 0, 8, 1);
	for (size_t i = 0; i < 8; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(memcmp(r.known[i].x, r.known[j].x, 16) != 0);
	assert_int_equal(dp_propose(s, &h, 8, NULL, &out, &err), DP_E_LIMIT);
	dp_study_free(s);
}

static void check_sane(const struct dp_study *s, const struct dp_known *known, size_t n)
{
	struct dp_history h = { known, n, 0, NULL, NULL };
	struct dp_proposal out;
	struct dp_err err;

	assert_int_equal(dp_propose(s, &h, 90, NULL, &out, &err), DP_OK);
	assert_true(isfinite(out.x[0]) && isfinite(out.x[1]));
	assert_true(out.x[0] >= 1 && out.x[0] <= 40 && out.x[1] >= 1e-3 &&
		    out.x[1] <= 10);
}

static void hard_histories_do_no_harm(void **state)
{
	struct dp_study *s = study(MIXED, TWO, "");
	struct dp_study *plain = study(MIXED,
				       "objectives:\n  a: {metric: a}\n  b: {metric: b}\n"
				       "anti_ideal: {a: 1, b: 1}\n",
				       "");
	static struct dp_known k[MOST];

	(void)state;
	check_sane(s, k, 0);
	for (size_t i = 0; i < MOST; i++) { /* all on one spot, constant */
		k[i] = (struct dp_known){ .trial = (uint32_t)i };
		k[i].x[0] = 3;
		k[i].x[1] = 0.1;
		k[i].y[0] = 2;
		k[i].y[1] = 0.4;
		for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
			k[i].var[j] = 0;
	}
	check_sane(s, k, 1);
	check_sane(s, k, MOST);
	check_sane(plain, k, MOST);
	for (size_t i = 0; i < MOST; i++) { /* huge range, both objectives beyond */
		k[i].x[0] = 1 + (double)(i % 40);
		k[i].y[0] = i % 2 ? 1e12 : 1e-12;
		k[i].y[1] = i % 3 ? 1e12 : -1e12;
		k[i].var[0] = i % 2 ? 1e300 : NAN;
	}
	check_sane(s, k, MOST);
	check_sane(plain, k, MOST);
	for (size_t i = 0; i < MOST; i++) {
		k[i].status = DP_KNOWN_DIVERGED;
		k[i].y[1] = i % 2 ? NAN : INFINITY;
	}
	check_sane(s, k, MOST);
	check_sane(plain, k, MOST);
	for (size_t i = 0; i < MOST; i++)
		k[i].status = DP_KNOWN_FAILED;
	check_sane(s, k, MOST);
	dp_study_free(s);
	dp_study_free(plain);
}

static void diverged_is_the_worst_known(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 2");
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_known k[3] = { { .x = { 1, 0.1 }, .y = { 1, 0.2 } },
				 { .x = { 9, 0.1 }, .y = { 2, 0.6 } },
				 { .x = { 20, 0.1 }, .y = { 3, NAN } } };
	struct dp_history h = { k, 3, 0, NULL, NULL };
	struct dp_err err;
	const struct dp__output *o = &p->output[1];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 2; j++)
			k[i].var[j] = NAN;
	k[2].status = DP_KNOWN_DIVERGED;
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	assert_true(fabs(o->y[2] - o->y[1]) < 1e-12);
	assert_true(fabs(o->shift + o->scale * o->y[1] - log(0.6 / 0.4)) < 1e-12);
	dp_proposer_free(p);
	dp_study_free(s);
}

static void constraint(const double *x, double *y)
{
	mixed(x, y);
}

/* Half of the space is forbidden: proposals learn to stay out. */
static void constraints_are_learned(void **state)
{
	struct dp_study *s =
		study(MIXED, TWO "constraints: {n: \"<= 20\"}\n", ", initial: 8");
	static struct run r;
	int outside = 0;

	(void)state;
	for (size_t t = 0; t < 40; t++) {
		go(&r, s, NULL, constraint, t, t + 1, 1);
		r.known[t].metric[0] = r.known[t].x[0];
		outside += t >= 20 && r.known[t].x[0] > 21;
	}
	assert_in_range(outside, 0, 2);
	dp_study_free(s);
}

/* Objective 1 of TWO, given exactly. */
static double exact(void *arg, size_t objective, const double *x)
{
	double y[2];

	(void)arg;
	(void)objective;
	mixed(x, y);
	return y[0];
}

static void exact_objectives_have_no_variance(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 8");
	static struct run r;
	struct dp_history h = { r.known, 20, 1, exact, NULL };
	struct dp_proposal out;
	struct dp_err err;

	(void)state;
	go(&r, s, NULL, mixed, 0, 20, 1);
	r.known[19].status = DP_KNOWN_OK;
	assert_int_equal(dp_propose(s, &h, 20, NULL, &out, &err), DP_OK);
	assert_true(out.modelled && out.objective[0].sd == 0);
	assert_true(fabs(out.objective[0].value - exact(NULL, 0, out.x)) <
		    1e-12 * out.objective[0].value);
	assert_true(out.objective[1].sd > 0 && out.acquisition > 0);
	assert_true(out.objective[1].lo < out.objective[1].hi);
	dp_study_free(s);
}

static void goals_can_be_maximised(void **state)
{
	struct dp_study *s = study(MIXED,
				   "objectives:\n  e: {metric: e, transform: log}\n"
				   "  a: {metric: a, transform: logit, goal: maximize}\n"
				   "anti_ideal: {e: 50, a: 0}\n",
				   ", initial: 8");
	struct dp_proposer *p = dp_proposer_new(s);
	static struct run r;
	struct dp_history h = { r.known, 0, 0, NULL, NULL };
	size_t index[MOST], count;
	double y[2 * MOST];
	struct dp_err err;

	(void)state;
	for (size_t t = 0; t < 30; t++) {
		go(&r, s, p, mixed, t, t + 1, 1);
		r.known[t].y[1] = 1 - r.known[t].y[1];
	}
	r.known[29].status = DP_KNOWN_OK;
	h.n = 30;
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	assert_int_equal(dp_surrogate_front(p, &h, index, y, &count, &err), DP_OK);
	assert_true(count > 2);
	for (size_t i = 1; i < count; i++) {
		assert_true(y[2 * i] > y[2 * i - 2] && y[2 * i + 1] > y[2 * i - 1]);
		assert_true(fabs(y[2 * i] / r.known[index[i]].y[0] - 1) < 0.1);
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

static void a_proposal_can_be_cancelled(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 8");
	static struct run r;
	struct dp_history h = { r.known, 20, 0, NULL, NULL };
	struct dp_proposal out;
	struct dp_err err;
	atomic_bool cancel = true;

	(void)state;
	go(&r, s, NULL, mixed, 0, 20, 1);
	assert_int_equal(dp_propose(s, &h, 20, &cancel, &out, &err), DP_E_INTERRUPTED);
	dp_study_free(s);
}

/* Each of 2^k equal slices of every axis holds one of the first 2^k points. */
static void sobol_points_are_stratified(void **state)
{
	(void)state;
	for (unsigned dim = 0; dim < 64; dim++) {
		unsigned char hit[256] = { 0 };

		for (uint32_t i = 0; i < 256; i++) {
			double t = dp__sobol(42, i, dim);

			assert_true(t > 0 && t < 1);
			assert_int_equal(hit[(int)(t * 256)]++, 0);
		}
	}
	assert_true(dp__sobol(1, 3, 2) != dp__sobol(2, 3, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resumed_is_uninterrupted),
		cmocka_unit_test(late_results_are_seen),
		cmocka_unit_test(points_are_on_the_grid_and_differ),
		cmocka_unit_test(parallel_points_keep_apart),
		cmocka_unit_test(a_small_space_ends),
		cmocka_unit_test(hard_histories_do_no_harm),
		cmocka_unit_test(diverged_is_the_worst_known),
		cmocka_unit_test(constraints_are_learned),
		cmocka_unit_test(exact_objectives_have_no_variance),
		cmocka_unit_test(goals_can_be_maximised),
		cmocka_unit_test(a_proposal_can_be_cancelled),
		cmocka_unit_test(sobol_points_are_stratified),
	};

	dp_linalg_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
