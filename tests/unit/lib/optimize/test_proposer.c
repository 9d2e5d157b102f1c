/* test_proposer.c - proposals: repeatable, on the grid, never twice, never NaN. */
#include "base/rng.h"
#include "optimize/pareto/pareto.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "tests/unit/support/propose_once.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

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
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	int len = snprintf(text, sizeof text,
			   "study: t\nseed: 5\ntrainer: {command: [none], runs: 4}\n"
			   "parameters:\n%s%ssearch: {method: dpareto, evaluations: 100%s}\n",
			   params, rest, search);

	if (dp_study_parse(text, (size_t)len, "t", "/", &s, &wrong, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&wrong);
	return s;
}

#define MIXED                                                                                      \
	"  n: {type: int, range: [1, 40]}\n"                                                       \
	"  r: {type: float, range: [1e-3, 10], scale: log}\n"                                      \
	"  f: {fixed: 3}\n"                                                                        \
	"  k: {type: categorical, values: [a, b, c]}\n"
#define TWO                                                                                        \
	"objectives:\n  e: {metric: e, transform: log}\n"                                          \
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
	struct dp_observation known[MOST];
	size_t n;
};

typedef void fn(const double *x, double *y);

/* Proposes trials from..to-1, with `parallel` - 1 pending at each. */
static void go(struct run *r, const struct dp_study *s, struct dp_proposer *p, fn *f, size_t from,
	       size_t to, size_t parallel)
{
	for (size_t t = from; t < to; t++) {
		struct dp_history h = { .observations = r->known, .n = t };
		struct dp_proposal out;
		struct dp_err err;
		int code;

		for (size_t k = 0; k < t; k++)
			if (r->known[k].status <= DP_OBSERVATION_OK ||
			    r->known[k].status == DP_OBSERVATION_PENDING)
				r->known[k].status = k + parallel > t ? DP_OBSERVATION_PENDING
								      : DP_OBSERVATION_OK;
		code = p ? dp_proposer_propose(p, &h, (uint32_t)t, NULL, &out, &err)
			 : propose_once(s, &h, (uint32_t)t, NULL, &out, &err);
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
	v = dp_hypervolume(y, r->n, 2, ref);
	return v;
}

/* With a memory, without, and with one that was lost on the way. */
static void check_resumed(size_t trials, size_t parallel)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 8");
	static struct run warm, cold, resumed;
	struct dp_proposer *p = dp_proposer_new(s);
	size_t lost = trials * 5 / 9;

	go(&warm, s, p, mixed, 0, trials, parallel);
	go(&cold, s, NULL, mixed, 0, trials, parallel);
	assert_true(same(&warm, &cold));
	go(&resumed, s, NULL, mixed, 0, lost, parallel);
	dp_proposer_free(p);
	p = dp_proposer_new(s);
	go(&resumed, s, p, mixed, lost, trials, parallel);
	assert_true(same(&warm, &resumed));
	/* a memory of another history is no harm */
	memset(&resumed, 0, sizeof resumed);
	go(&resumed, s, p, mixed, 0, trials, parallel);
	assert_true(same(&warm, &resumed));
	dp_proposer_free(p);
	dp_study_free(s);
}

static void resumed_is_uninterrupted(void **state)
{
	(void)state;
	check_resumed(60, 1);
}

static void resumed_with_pending_points(void **state)
{
	(void)state;
	check_resumed(36, 8);
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
		r.known[i].status = DP_OBSERVATION_OK;
	for (size_t late = 2; late < 40; late += 9) {
		struct dp_history h = { .observations = r.known, .n = 40 };
		struct dp_proposal warm, cold;
		struct dp_err err;

		for (int step = 0; step < 3; step++) {
			r.known[late].status =
				step == 0 ? DP_OBSERVATION_PENDING : DP_OBSERVATION_OK;
			if (step == 2)
				r.known[late].y[1] *= 0.7;
			assert_int_equal(dp_proposer_propose(p, &h, 40, NULL, &warm, &err), DP_OK);
			assert_int_equal(propose_once(s, &h, 40, NULL, &cold, &err), DP_OK);
			assert_memory_equal(warm.x, cold.x, sizeof warm.x);
			assert_memory_equal(warm.predicted, cold.predicted, sizeof warm.predicted);
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
	struct dp_history h = { .observations = r.known, .n = 8 };
	struct dp_proposal out;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_propose_max_trials(s), 8);
	go(&r, s, NULL, mixed, 0, 8, 1);
	for (size_t i = 0; i < 8; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(memcmp(r.known[i].x, r.known[j].x, 16) != 0);
	assert_int_equal(propose_once(s, &h, 8, NULL, &out, &err), DP_E_LIMIT);
	dp_study_free(s);
}

static void check_sane(const struct dp_study *s, const struct dp_observation *known, size_t n)
{
	struct dp_history h = { .observations = known, .n = n };
	struct dp_proposal out;
	struct dp_err err;

	assert_int_equal(propose_once(s, &h, 90, NULL, &out, &err), DP_OK);
	assert_true(isfinite(out.x[0]) && isfinite(out.x[1]));
	assert_true(out.x[0] >= 1 && out.x[0] <= 40 && out.x[1] >= 1e-3 && out.x[1] <= 10);
}

static void hard_histories_do_no_harm(void **state)
{
	struct dp_study *s = study(MIXED, TWO, "");
	struct dp_study *plain = study(MIXED,
				       "objectives:\n  a: {metric: a}\n  b: {metric: b}\n"
				       "anti_ideal: {a: 1, b: 1}\n",
				       "");
	static struct dp_observation k[MOST];

	(void)state;
	check_sane(s, k, 0);
	for (size_t i = 0; i < MOST; i++) { /* all on one spot, constant */
		k[i] = (struct dp_observation){ .trial = (uint32_t)i };
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
		k[i].status = DP_OBSERVATION_DIVERGED;
		k[i].y[1] = i % 2 ? NAN : INFINITY;
	}
	check_sane(s, k, MOST);
	check_sane(plain, k, MOST);
	for (size_t i = 0; i < MOST; i++)
		k[i].status = DP_OBSERVATION_FAILED;
	check_sane(s, k, MOST);
	dp_study_free(s);
	dp_study_free(plain);
}

static void diverged_is_the_worst_known(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 2");
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation k[3] = { { .x = { 1, 0.1 }, .y = { 1, 0.2 } },
				       { .x = { 9, 0.1 }, .y = { 2, 0.6 } },
				       { .x = { 20, 0.1 }, .y = { 3, NAN } } };
	struct dp_history h = { .observations = k, .n = 3 };
	struct dp_err err;
	const struct dp__surrogate_output *o = &p->output[1];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 2; j++)
			k[i].var[j] = NAN;
	k[2].status = DP_OBSERVATION_DIVERGED;
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
	struct dp_study *s = study(MIXED, TWO "constraints: {n: \"<= 20\"}\n", ", initial: 8");
	static struct run r;
	int outside = 0;

	(void)state;
	for (size_t t = 0; t < 40; t++) {
		go(&r, s, NULL, constraint, t, t + 1, 1);
		r.known[t].metrics[0] = r.known[t].x[0];
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
	struct dp_history h = {
		.observations = r.known, .n = 20, .exact_objectives = 1, .exact_fn = exact
	};
	struct dp_proposal out;
	struct dp_err err;

	(void)state;
	go(&r, s, NULL, mixed, 0, 20, 1);
	r.known[19].status = DP_OBSERVATION_OK;
	assert_int_equal(propose_once(s, &h, 20, NULL, &out, &err), DP_OK);
	assert_true(out.has_prediction && out.predicted[0].model_sd == 0);
	assert_true(fabs(out.predicted[0].value - exact(NULL, 0, out.x)) <
		    1e-12 * out.predicted[0].value);
	assert_true(out.predicted[1].model_sd > 0 && out.acquisition > 0);
	assert_true(out.predicted[1].lo < out.predicted[1].hi);
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
	struct dp_history h = { .observations = r.known, .n = 0 };
	size_t index[MOST], count;
	double y[2 * MOST];
	struct dp_err err;

	(void)state;
	for (size_t t = 0; t < 30; t++) {
		go(&r, s, p, mixed, t, t + 1, 1);
		r.known[t].y[1] = 1 - r.known[t].y[1];
	}
	r.known[29].status = DP_OBSERVATION_OK;
	h.n = 30;
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	count = dp_surrogate_posterior_front(p, &h, index, y);
	assert_true(count > 2);
	for (size_t i = 1; i < count; i++) {
		assert_true(y[2 * i] > y[2 * i - 2] && y[2 * i + 1] > y[2 * i - 1]);
		assert_true(fabs(y[2 * i] / r.known[index[i]].y[0] - 1) < 0.1);
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

static const char *const hvpoi_options[] = {
	", initial: 8, acquisition: hvpoi",
	", initial: 8, acquisition: hvpoi, gain: model",
	", initial: 8, acquisition: hvpoi, reference: front",
	", initial: 8, acquisition: hvpoi, gain: model, reference: front",
};

static void gains_and_references_propose_well(void **state)
{
	(void)state;
	for (size_t k = 1; k < DP_COUNT(hvpoi_options); k++) {
		struct dp_study *s = study(MIXED, TWO, hvpoi_options[k]);
		struct dp_proposer *p = dp_proposer_new(s);
		static struct run warm, cold;

		assert_true(s->search.gain_model == (k % 2 == 1));
		assert_true(s->search.reference_front == (k >= 2));
		memset(&warm, 0, sizeof warm);
		memset(&cold, 0, sizeof cold);
		go(&warm, s, p, mixed, 0, 24, 2);
		go(&cold, s, NULL, mixed, 0, 24, 2);
		assert_true(same(&warm, &cold));
		for (size_t i = 0; i < warm.n; i++) {
			const double *x = warm.known[i].x;

			assert_true(x[0] == rint(x[0]) && x[0] >= 1 && x[0] <= 40);
			assert_true(x[1] >= 1e-3 && x[1] <= 10 && x[2] == 0);
			assert_true(x[3] == 0 || x[3] == 1 || x[3] == 2);
			for (size_t j = 0; j < i; j++)
				assert_true(memcmp(x, warm.known[j].x, 4 * sizeof *x) != 0);
		}
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* Gain of the point m over a staircase of n steps (first value ascending) below ref,
 * all to minimise. */
static double stair_gain(double (*step)[2], size_t n, const double *ref, const double *m)
{
	double area = 0, left = -INFINITY, top = ref[1];

	for (size_t i = 0; i <= n; i++) {
		double right = i < n ? step[i][0] : ref[0];
		double width = right - fmax(left, m[0]), height = top - m[1];

		area += width > 0 && height > 0 ? width * height : 0;
		left = right;
		top = i < n ? step[i][1] : top;
	}
	return area;
}

/* Probability that two independent normals fall below it. */
static double stair_probability(double (*step)[2], size_t n, const double *ref,
				const struct dp_prediction *f)
{
	double sum = 0, before = 0, top = ref[1];

	for (size_t i = 0; i <= n; i++) {
		double right = i < n ? step[i][0] : ref[0];
		double upto = 0.5 * erfc((f[0].model_mean - right) / (f[0].model_sd * M_SQRT2));

		sum += (upto - before) * 0.5 *
		       erfc((f[1].model_mean - top) / (f[1].model_sd * M_SQRT2));
		before = upto;
		top = i < n ? step[i][1] : top;
	}
	return sum;
}

/* The front's worst and twice its range over its size. */
static void stair_reference(double (*step)[2], size_t n, double *ref)
{
	for (size_t j = 0; j < 2; j++) {
		double range = fabs(step[n - 1][j] - step[0][j]);

		ref[j] = fmax(step[0][j], step[n - 1][j]) + 2 * range / (double)n;
	}
}

static double logit(double y)
{
	return y >= 1 ? INFINITY : log(y / (1 - y));
}

static void check_hvpoi(const struct dp_study *s, struct dp_proposer *p, const struct dp_history *h)
{
	double y[MOST][2], z[MOST][2], ref[2] = { 50, 1 }, zref[2];
	bool model = s->search.gain_model, front = s->search.reference_front;
	size_t index[MOST], n, positive = 0;
	struct dp_prediction f[2];
	struct dp_err err;

	assert_int_equal(dp_surrogate_fit(p, h, NULL, &err), DP_OK);
	n = dp_surrogate_posterior_front(p, h, index, y[0]);
	assert_true(n > 2);
	for (size_t i = 0; i < n; i++) {
		z[i][0] = log(y[i][0]);
		z[i][1] = logit(y[i][1]);
	}
	/* in model space an anti-ideal of 1 counts as 0.999 */
	zref[0] = log(50);
	zref[1] = log(999);
	if (front)
		stair_reference(model ? z : y, n, model ? zref : ref);
	if (!model) {
		zref[0] = log(ref[0]);
		zref[1] = logit(ref[1]);
	}
	for (size_t i = 0; i < 40; i++) {
		double x[4] = { 1 + (double)i, pow(10, -3 + 0.1 * (double)i), 0, 1 };
		double got, want, m[2];

		dp_surrogate_predict(p, x, 1, f, NULL, &got);
		for (size_t j = 0; j < 2; j++)
			m[j] = model ? f[j].model_mean : f[j].value;
		want = stair_gain(model ? z : y, n, model ? zref : ref, m) *
		       stair_probability(z, n, zref, f);
		assert_true(fabs(got - want) < 1e-9 * (1 + want));
		positive += want > 1e-6;
	}
	assert_true(positive > 0);
}

static void gains_and_references_by_hand(void **state)
{
	(void)state;
	for (size_t k = 0; k < DP_COUNT(hvpoi_options); k++) {
		struct dp_study *s = study(MIXED, TWO, hvpoi_options[k]);
		struct dp_proposer *p = dp_proposer_new(s);
		static struct run r;
		struct dp_history h = { .observations = r.known, .n = 14 };

		go(&r, s, NULL, mixed, 0, 14, 1);
		r.known[13].status = DP_OBSERVATION_OK;
		check_hvpoi(s, p, &h);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* Results k[0..n-1] with one that is better than all others in everything, and
 * better ones next to it. */
static void one_is_best(struct dp_observation *k, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		k[i] = (struct dp_observation){ .trial = (uint32_t)i };
		k[i].x[0] = 1 + 4 * (double)i;
		k[i].x[1] = 0.1;
		k[i].y[0] = 1 + 0.05 * pow(k[i].x[0] - 18.5, 2);
		k[i].y[1] = 0.1 + 0.002 * pow(k[i].x[0] - 18.5, 2);
		for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
			k[i].var[j] = NAN;
	}
}

static void a_front_of_one_point_keeps_the_anti_ideal(void **state)
{
	struct dp_observation known[9];
	struct dp_history h = { .observations = known, .n = 9 };

	(void)state;
	one_is_best(known, 9);
	for (size_t k = 0; k < DP_COUNT(hvpoi_options); k++) {
		struct dp_study *s = study(MIXED, TWO, hvpoi_options[k]);
		struct dp_proposer *p = dp_proposer_new(s);
		const double worst = k % 2 ? 0.999 : 1;
		struct dp_proposal warm, cold;
		struct dp_err err;

		assert_int_equal(dp_proposer_propose(p, &h, 9, NULL, &warm, &err), DP_OK);
		assert_int_equal(p->n_front, 1);
		for (size_t j = 0; j < 2; j++) {
			const struct dp__box_edges *side = &p->partitioning.edges[j];

			assert_true(fabs(side->values[side->n_edges - 1] - (j ? worst : 50)) <
				    1e-12 * 50);
		}
		assert_int_equal(propose_once(s, &h, 9, NULL, &cold, &err), DP_OK);
		assert_memory_equal(warm.x, cold.x, sizeof warm.x);
		assert_true(warm.has_prediction && warm.acquisition > 0);
		for (size_t j = 0; j < 2; j++)
			assert_true(isfinite(warm.predicted[j].value) &&
				    warm.predicted[j].model_sd > 0);
		for (size_t i = 0; i < 9; i++)
			assert_true(memcmp(warm.x, known[i].x, 4 * sizeof *warm.x) != 0);
		check_sane(s, known, 9);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

#define CUBE                                                                                       \
	"  a: {type: float, range: [0, 1]}\n  b: {type: float, range: [0, 1]}\n"                   \
	"  c: {type: float, range: [0, 1]}\n"
#define PLAIN(ref)                                                                                 \
	"objectives:\n  p: {metric: p}\n  q: {metric: q}\nanti_ideal: {p: " ref ", q: " ref "}\n"

/* Flat but for a small ball. */
static void needle(const double *x, double *y)
{
	double r2 = 0;

	for (size_t k = 0; k < 3; k++)
		r2 += (x[k] - 0.3) * (x[k] - 0.3);
	y[0] = 1 - exp(-60 * r2);
	y[1] = x[0];
}

static void sample_cube(struct dp_observation *known, size_t n, fn *f)
{
	memset(known, 0, n * sizeof *known);
	for (size_t i = 0; i < n; i++) {
		known[i].trial = (uint32_t)i;
		for (unsigned k = 0; k < 3; k++)
			known[i].x[k] = dp__sobol_coordinate(7, (uint32_t)i, k);
		f(known[i].x, known[i].y);
		for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
			known[i].var[j] = NAN;
	}
}

/* Each input goes up and down several times. */
static void waves(const double *x, double *y)
{
	y[0] = y[1] = 0;
	for (size_t k = 0; k < 3; k++) {
		y[0] += sin(40 * x[k] + (double)k);
		y[1] += x[k];
	}
}

/* The first 24 results look like anything: fits that only went on from the ones before
 * would never see the sum of rapid waves that 100 results show. */
static void a_fit_starts_from_elsewhere_too(void **state)
{
	struct dp_study *s = study(CUBE, PLAIN("1"), "");
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation known[100];
	struct dp_history h = { .observations = known, .n = 100 };
	struct dp_err err;
	double wrong = 0;

	(void)state;
	sample_cube(known, 100, waves);
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	for (uint32_t i = 0; i < 50; i++) {
		double x[3], u[3], y[2];
		struct dp__normal f[2];

		for (unsigned k = 0; k < 3; k++)
			x[k] = dp__sobol_coordinate(8, i, k);
		waves(x, y);
		dp__encoding_encode(&p->encoding, x, u);
		dp__predict_outputs(p, u, 1, 1, true, true, f, NULL);
		wrong += (f[0].mean - y[0]) * (f[0].mean - y[0]) / 50;
	}
	assert_true(wrong < 0.15); /* the variance of y is 1.5 */
	dp_proposer_free(p);
	dp_study_free(s);
}

/* While nothing is inside the anti-ideal point the reference is further out, and points
 * promise a gain; as soon as something is, it is the anti-ideal point. */
static void nothing_inside_moves_the_reference(void **state)
{
	struct dp_study *s = study(CUBE, PLAIN("0.5"), "");
	struct dp_observation known[20];
	struct dp_history h = { .observations = known, .n = 19 };

	(void)state;
	sample_cube(known, 20, needle);
	known[19].x[0] = known[19].x[1] = known[19].x[2] = 0.3;
	needle(known[19].x, known[19].y);
	for (; h.n <= 20; h.n++) {
		struct dp_proposer *p = dp_proposer_new(s);
		struct dp_proposal out;
		struct dp_err err;
		bool moved = false;

		assert_int_equal(dp_proposer_propose(p, &h, 20, NULL, &out, &err), DP_OK);
		for (size_t j = 0; j < 2; j++) {
			const struct dp__box_edges *side = &p->partitioning.edges[j];

			assert_true(side->values[side->n_edges - 1] >= 0.5);
			moved |= side->values[side->n_edges - 1] > 0.5;
		}
		assert_true(moved == (h.n < 20));
		assert_true(out.has_prediction && out.acquisition > 0 && out.note[0] == '\0');
		dp_proposer_free(p);
	}
	dp_study_free(s);
}

/* Nor is a gain infinite there, where a logit's reference would be beyond 1. */
static void a_moved_reference_is_no_infinite_gain(void **state)
{
	struct dp_observation known[20];
	struct dp_history h = { .observations = known, .n = 20 };

	(void)state;
	sample_cube(known, 20, needle);
	for (size_t k = 0; k < 2; k++) {
		struct dp_study *s =
			study(CUBE,
			      k ? "objectives:\n  p: {metric: p, transform: logit, goal: "
				  "maximize}\n  q: {metric: q}\nanti_ideal: {p: 0.9, q: "
				  "0}\n"
				: "objectives:\n  p: {metric: p, transform: logit}\n  q: "
				  "{metric: q}\nanti_ideal: {p: 0.1, q: 0.5}\n",
			      ", acquisition: hvpoi, gain: model");
		struct dp_proposer *p = dp_proposer_new(s);
		const struct dp__box_edges *side = &p->partitioning.edges[0];
		struct dp_proposal out;
		struct dp_err err;

		for (size_t i = 0; i < 20 && k; i++)
			known[i].y[0] = 1 - known[i].y[0];
		assert_int_equal(dp_proposer_propose(p, &h, 20, NULL, &out, &err), DP_OK);
		assert_true(side->n_edges > 0 && isfinite(side->model_values[side->n_edges - 1]));
		assert_true(out.has_prediction && out.acquisition > 0 && out.note[0] == '\0');
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

static void check_model_slope(struct dp_proposer *p, const double *u, size_t *unsure)
{
	double g[DP_PARAMS_MAX], other[DP_PARAMS_MAX], feas;
	double value = dp__acquisition_gradient(p, u, g), eval;

	if (isinf(value))
		return;
	dp__acquisition_eval(p, u, 1, 1, false, &eval, NULL, &feas);
	assert_true(fabs(eval - value) < 1e-8 * (1 + fabs(value)));
	*unsure += feas > 1e-6 && feas < 0.99; /* where constraints bend the slope */
	for (size_t k = 0; k < p->spec.d; k++) {
		double a[DP_PARAMS_MAX], b[DP_PARAMS_MAX], step = 1e-5, slope;

		if (p->encoding.inputs[k].kind == DP__INPUT_CATEGORY) {
			assert_true(g[k] == 0);
			continue;
		}
		memcpy(a, u, p->spec.d * sizeof *a);
		memcpy(b, u, p->spec.d * sizeof *b);
		a[k] -= step;
		b[k] += step;
		slope = (dp__acquisition_gradient(p, b, other) -
			 dp__acquisition_gradient(p, a, other)) /
			(2 * step);
		assert_true(fabs(slope - g[k]) < 1e-3 * (1 + fabs(g[k])));
	}
}

static void slopes_with_constraints(void **state)
{
	static const char *const search[] = { ", initial: 8, acquisition: ehvi",
					      ", initial: 8, acquisition: hvpoi",
					      ", initial: 8, acquisition: hvpoi, "
					      "gain: model, reference: front" };

	(void)state;
	for (size_t q = 0; q < DP_COUNT(search); q++) {
		struct dp_study *s =
			study(MIXED, TWO "constraints: {a: \"<= 20\", b: \">= -2\"}\n", search[q]);
		struct dp_proposer *p = dp_proposer_new(s);
		static struct run r;
		struct dp_history h = { .observations = r.known, .n = 12 };
		size_t unsure = 0;
		struct dp_err err;

		for (size_t t = 0; t < 12; t++) {
			go(&r, s, NULL, mixed, t, t + 1, 1);
			r.known[t].metrics[0] = r.known[t].x[0] + (double)(t % 3);
			r.known[t].metrics[1] = log10(r.known[t].x[1]) - 0.1 * (t % 2);
		}
		r.known[11].status = DP_OBSERVATION_OK;
		assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
		dp__predict_reserve(p, 1);
		for (size_t i = 0; i < 60; i++) {
			double u[3],
				x[4] = { 2 + (double)(7 * i % 13) * 3,
					 pow(10, -2.9 + 0.06 * (double)i), 0, (double)(i % 3) };

			dp__encoding_encode(&p->encoding, x, u);
			check_model_slope(p, u, &unsure);
		}
		assert_true(unsure >= 4);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* The privacy objective of accountant: pld is searched with a model, and told as it
 * is. */
static void loss_distributions_are_exact_objectives(void **state)
{
	struct dp_study *s =
		study("  lot: {type: int, range: [10, 200]}\n  steps: {fixed: 100}\n"
		      "  noise: {type: float, range: [0.7, 5]}\n",
		      "objectives:\n  e: {privacy: {mechanism: dp-sgd, sampling: poisson, "
		      "records: 1000, delta: 1e-4,\n    lot: lot, steps: steps, "
		      "noise_multiplier: noise, "
		      "accountant: pld}}\n"
		      "  u: {metric: u, transform: logit}\nanti_ideal: {e: 20, u: 1}\n",
		      ", initial: 4");
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation k[8];
	struct dp_history h = { .observations = k, .n = 0 };
	struct dp_proposal warm, cold;
	struct dp_epsilon e;
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		k[i] = (struct dp_observation){ .trial = (uint32_t)i };
		k[i].x[0] = 10 + 27 * (double)((3 * i) % 8);
		k[i].x[2] = 0.8 + 0.5 * (double)i;
		assert_int_equal(dp_objective_epsilon(s, 0, k[i].x, &e, &err), DP_OK);
		k[i].y[0] = e.epsilon;
		k[i].y[1] = 1 / (1 + 0.02 * k[i].x[0] / k[i].x[2]);
		for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
			k[i].var[j] = NAN;
	}
	for (h.n = 7; h.n <= 8; h.n++)
		assert_int_equal(dp_proposer_propose(p, &h, (uint32_t)h.n, NULL, &warm, &err),
				 DP_OK);
	h.n = 8;
	assert_true(dp__proposer_has_costly(p));
	assert_int_equal(propose_once(s, &h, 8, NULL, &cold, &err), DP_OK);
	assert_memory_equal(warm.x, cold.x, sizeof warm.x);
	assert_memory_equal(warm.predicted, cold.predicted, sizeof warm.predicted);
	assert_true(warm.x[0] == rint(warm.x[0]) && warm.x[0] >= 10 && warm.x[0] <= 200);
	assert_true(warm.x[1] == 0 && warm.x[2] >= 0.7 && warm.x[2] <= 5);
	assert_true(warm.has_prediction && warm.predicted[1].model_sd > 0 && warm.acquisition > 0);
	assert_int_equal(dp_objective_epsilon(s, 0, warm.x, &e, &err), DP_OK);
	assert_true(warm.predicted[0].model_sd == 0);
	assert_true(fabs(warm.predicted[0].value - e.epsilon) < 1e-12 * e.epsilon);
	dp_proposer_free(p);
	dp_study_free(s);
}

/* A program whose answer is 10 / n, until it has been asked often enough. */
struct program {
	unsigned asked, enough;
	int code;
};

static int external_epsilon(void *arg, size_t objective, const double *x, double at,
			    double *epsilon, struct dp_err *err)
{
	struct program *p = arg;

	assert_int_equal(objective, 0);
	assert_true(isnan(at));
	if (++p->asked > p->enough)
		return dp_fail(err, p->code, "it is tired");
	*epsilon = 10 / x[0];
	return DP_OK;
}

/* A program is asked about the best only; one that cannot be asked ends the proposal, and
 * one that refuses all of them does not. */
static void programs_are_exact_objectives(void **state)
{
	struct dp_study *s = study("  n: {type: float, range: [1, 50], scale: log}\n"
				   "  m: {type: float, range: [0, 1]}\n",
				   "objectives:\n  e: {privacy: {command: [prog], delta: 0}}\n"
				   "  u: {metric: u}\nanti_ideal: {e: 20, u: 1}\n",
				   ", initial: 4");
	struct program program = { .enough = 1000, .code = DP_E_ORACLE };
	struct dp_external_callback asker = { external_epsilon, &program };
	struct dp_observation k[8];
	struct dp_history h = { .observations = k, .n = 8, .external_accountants = &asker };
	struct dp_proposal out, again;
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		k[i] = (struct dp_observation){ .trial = (uint32_t)i };
		k[i].x[0] = 1 + 6 * (double)((3 * i) % 8);
		k[i].x[1] = 0.1 * (double)i;
		k[i].y[0] = 10 / k[i].x[0];
		k[i].y[1] = 0.01 * k[i].x[0] + 0.1 * k[i].x[1];
		for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
			k[i].var[j] = NAN;
	}
	assert_int_equal(propose_once(s, &h, 8, NULL, &out, &err), DP_OK);
	assert_in_range(program.asked, 2, 40);
	assert_true(fabs(out.predicted[0].value - 10 / out.x[0]) < 1e-12 * 20);
	program = (struct program){ .enough = 1, .code = DP_E_ORACLE };
	assert_int_equal(propose_once(s, &h, 8, NULL, &again, &err), DP_E_ORACLE);
	assert_string_equal(err.msg, "objective 'e': it is tired");
	assert_int_equal(program.asked, 2); /* and no more */
	program = (struct program){ .enough = 0, .code = DP_E_INVALID };
	assert_int_equal(propose_once(s, &h, 8, NULL, &again, &err), DP_OK);
	dp_study_free(s);
}

static void a_proposal_can_be_cancelled(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 8");
	static struct run r;
	struct dp_history h = { .observations = r.known, .n = 20 };
	struct dp_proposal out;
	struct dp_err err;
	atomic_bool cancel = true;

	(void)state;
	go(&r, s, NULL, mixed, 0, 20, 1);
	assert_int_equal(propose_once(s, &h, 20, &cancel, &out, &err), DP_E_INTERRUPTED);
	dp_study_free(s);
}

/* Each of 2^k equal slices of every axis holds one of the first 2^k points. */
/* Where the design's point was proposed before, the trial gets a random one, not that point
 * again. */
static void a_taken_design_point_is_redrawn(void **state)
{
	struct dp_study *s = study(MIXED, TWO, ", initial: 8, design: sobol");
	struct dp_observation taken = { .trial = 0, .status = DP_OBSERVATION_PENDING };
	struct dp_history none = { 0 }, h = { .observations = &taken, .n = 1 };
	struct dp_proposal first, again;
	struct dp_err err;

	(void)state;
	assert_int_equal(propose_once(s, &none, 3, NULL, &first, &err), DP_OK);
	memcpy(taken.x, first.x, sizeof taken.x);
	assert_int_equal(propose_once(s, &h, 3, NULL, &again, &err), DP_OK);
	assert_string_equal(again.source, "initial");
	assert_true(first.x[1] != again.x[1]);
	dp_study_free(s);
}

static void sobol_points_are_stratified(void **state)
{
	(void)state;
	for (unsigned dim = 0; dim < 64; dim++) {
		unsigned char hit[256] = { 0 };

		for (uint32_t i = 0; i < 256; i++) {
			double t = dp__sobol_coordinate(42, i, dim);

			assert_true(t > 0 && t < 1);
			assert_int_equal(hit[(int)(t * 256)]++, 0);
		}
	}
	assert_true(dp__sobol_coordinate(1, 3, 2) != dp__sobol_coordinate(2, 3, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resumed_is_uninterrupted),
		cmocka_unit_test(resumed_with_pending_points),
		cmocka_unit_test(late_results_are_seen),
		cmocka_unit_test(points_are_on_the_grid_and_differ),
		cmocka_unit_test(parallel_points_keep_apart),
		cmocka_unit_test(a_small_space_ends),
		cmocka_unit_test(hard_histories_do_no_harm),
		cmocka_unit_test(diverged_is_the_worst_known),
		cmocka_unit_test(constraints_are_learned),
		cmocka_unit_test(exact_objectives_have_no_variance),
		cmocka_unit_test(goals_can_be_maximised),
		cmocka_unit_test(gains_and_references_propose_well),
		cmocka_unit_test(gains_and_references_by_hand),
		cmocka_unit_test(a_front_of_one_point_keeps_the_anti_ideal),
		cmocka_unit_test(a_fit_starts_from_elsewhere_too),
		cmocka_unit_test(nothing_inside_moves_the_reference),
		cmocka_unit_test(a_moved_reference_is_no_infinite_gain),
		cmocka_unit_test(slopes_with_constraints),
		cmocka_unit_test(loss_distributions_are_exact_objectives),
		cmocka_unit_test(programs_are_exact_objectives),
		cmocka_unit_test(a_proposal_can_be_cancelled),
		cmocka_unit_test(a_taken_design_point_is_redrawn),
		cmocka_unit_test(sobol_points_are_stratified),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
