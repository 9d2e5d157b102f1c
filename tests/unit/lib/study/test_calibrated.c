/* test_calibrated.c - parameters that are solved for: never an epsilon above the target,
 * at every point that any method proposes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/propose/proposer_internal.h"
#include "tests/unit/support/propose_once.h"
#include "tests/unit/support/study_text.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/search_budget.h"
#include "study/space.h"

#define SVT      "{mechanism: svt, cutoff: C, scale: b}"
#define SVT_KEYS "mechanism: svt, cutoff: C"
/* rdp, so that a test takes milliseconds */
#define SGD_KEYS                                                                                   \
	"mechanism: dp-sgd, sampling: without-replacement, records: 20000, lot: 200, "             \
	"epochs: C, delta: 1e-5, accountant: rdp"

/* base with parameters C, b, t (a target), n (calibrated by these keys), with this oracle
 * and search. */
static struct dp_study *calibrated(const char *keys, const char *target, const char *oracle,
				   const char *search)
{
	struct dp_buf params = DP_BUF_INIT;
	struct dp_study *s;
	char *text, *both, *all;

	dp_buf_printf(&params,
		      "  t: %s\n"
		      "  n: {calibrate: {epsilon: t, %s}}\nobjectives:\n",
		      target, keys);
	text = edit("objectives:\n", dp_buf_text(&params));
	both = replace(text, SVT, oracle);
	all = replace(both, "method: random, evaluations: 80", search);
	s = good(all);
	dp_buf_free(&params);
	free(text);
	free(both);
	free(all);
	return s;
}

#define TARGET "{type: float, range: [0.05, 5], scale: log}"
enum {
	T = 2,
	N = 3
}; /* places of t and n */

static double epsilon_at_order(const struct dp_study *s, const double *x)
{
	struct dp_epsilon e;
	struct dp_err err;

	if (dp_objective_epsilon(s, 0, x, &e, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return e.epsilon;
}

/* Kept, and hardly more than that: a little less noise would be too little. */
static void check_kept(const struct dp_study *s, const double *x)
{
	double less[DP_PARAMS_MAX], e = epsilon_at_order(s, x);

	if (!(e <= x[T] && e >= (1 - 1e-5) * x[T]))
		fail_msg("epsilon %.17g where %.17g is asked for", e, x[T]);
	memcpy(less, x, s->nparams * sizeof *less);
	less[N] *= 1 - 2e-6;
	assert_true(epsilon_at_order(s, less) > x[T]);
}

/* ---- solving ---- */

static void the_target_is_kept(void **state)
{
	static const struct {
		const char *keys, *oracle;
		uint32_t points;
	} rows[] = {
		{ SVT_KEYS, "{mechanism: svt, cutoff: C, scale: n}", 200 },
		{ SGD_KEYS, "{" SGD_KEYS ", noise_multiplier: n}", 40 },
		{ "mechanism: gaussian, delta: 1e-6, sensitivity: b",
		  "{mechanism: gaussian, delta: 1e-6, sensitivity: b, sigma: n}", 100 },
		{ "mechanism: laplace, sensitivity: b, delta: 1e-3",
		  "{mechanism: laplace, sensitivity: b, delta: 1e-3, scale: n}", 100 },
		{ "mechanism: output-perturbation, regularization: b, records: 100, "
		  "delta: 1e-5",
		  "{mechanism: output-perturbation, regularization: b, records: 100, "
		  "delta: 1e-5, sigma: n}",
		  100 },
		/* loss distributions */
		{ "mechanism: dp-sgd, sampling: poisson, records: 5000, lot: 500, "
		  "epochs: "
		  "C, delta: 1e-5",
		  "{mechanism: dp-sgd, sampling: poisson, records: 5000, lot: 500, "
		  "epochs: C, delta: 1e-5, noise_multiplier: n}",
		  3 },
	};
	double x[DP_PARAMS_MAX], again[DP_PARAMS_MAX];
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		struct dp_study *s = calibrated(rows[i].keys, TARGET, rows[i].oracle,
						"method: random, evaluations: 80");

		assert_true(s->params[N].kind == DP_PARAM_CALIBRATED);
		for (uint32_t trial = 0; trial < rows[i].points; trial++) {
			dp_space_sample(s, trial, false, x);
			assert_true(isnan(x[N]));
			memcpy(again, x, sizeof x);
			assert_int_equal(dp_space_solve_calibrated(s, x, &err), DP_OK);
			check_kept(s, x);
			assert_true(dp_calibration_target_epsilon(s, 0, x) == x[T]);
			if (trial > 2)
				continue;
			assert_int_equal(dp_space_solve_calibrated(s, again, &err), DP_OK);
			assert_true(again[N] == x[N]); /* a pure function */
			again[N] = 7;                  /* what is there already stays */
			assert_int_equal(dp_space_solve_calibrated(s, again, &err), DP_OK);
			assert_true(again[N] == 7);
		}
		dp_study_free(s);
	}
}

/* A target that no noise keeps is refused, and says of which parameter. */
static void an_impossible_target(void **state)
{
	struct dp_study *s =
		calibrated("mechanism: laplace", "{type: float, range: [1e-30, 1e-20]}",
			   "{mechanism: laplace, scale: n}", "method: random, evaluations: 80");
	double x[DP_PARAMS_MAX];
	struct dp_proposal out;
	struct dp_err err;
	struct dp_history h = { .n = 0 };

	(void)state;
	assert_int_equal(propose_once(s, &h, 0, NULL, &out, &err), DP_OK);
	assert_true(isnan(out.x[N]) && !isnan(out.x[T]));
	memcpy(x, out.x, sizeof x);
	assert_int_equal(dp_space_solve_calibrated(s, x, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "parameter 'n'"));
	assert_non_null(strstr(err.msg, "no amount of noise"));
	dp_study_free(s);
}

static void as_json(void **state)
{
	struct dp_study *s =
		calibrated(SVT_KEYS, "{fixed: 0.5}", "{mechanism: svt, cutoff: C, scale: n}",
			   "method: random, evaluations: 80");
	double x[DP_PARAMS_MAX] = { 3, 1, 0, NAN }, back[DP_PARAMS_MAX];
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err;
	json_t *all;

	(void)state;
	assert_int_equal(dp_space_solve_calibrated(s, x, &err), DP_OK);
	assert_true(epsilon_at_order(s, x) <= 0.5 && epsilon_at_order(s, x) > 0.499999);
	all = dp_space_to_json(s, x);
	assert_true(json_real_value(json_object_get(all, "n")) == x[N]);
	dp_space_format_value(s, N, 12.3456789, &text);
	assert_string_equal(dp_buf_text(&text), "12.346");
	/* all that a trainer was given names the point again, bit for bit */
	assert_int_equal(dp_space_from_json(s, all, back, &err), DP_OK);
	assert_memory_equal(back, x, s->nparams * sizeof *x);
	json_object_del(all, "n");
	assert_int_equal(dp_space_from_json(s, all, back, &err), DP_OK);
	assert_true(isnan(back[N]));
	json_object_set_new(all, "n", json_real(-1));
	assert_int_equal(dp_space_from_json(s, all, back, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "'n' must be a number above 0"));
	json_object_set_new(all, "n", json_real(1));
	json_object_set_new(all, "t", json_real(0.25));
	assert_int_equal(dp_space_from_json(s, all, back, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "'t' is fixed"));
	json_decref(all);
	dp_buf_free(&text);
	dp_study_free(s);
}

/* ---- what is known without solving ---- */

static void the_same_mechanism(void **state)
{
	static const struct {
		const char *oracle;
		bool same;
	} rows[] = {
		{ "{" SGD_KEYS ", noise_multiplier: n}", true },
		{ "{" SGD_KEYS ", conversion: improved, noise_multiplier: n}", true },
		{ "{" SGD_KEYS ", conversion: classic, noise_multiplier: n}", false },
		{ "{" SGD_KEYS ", noise_multiplier: b}", false },
		{ "{mechanism: dp-sgd, sampling: without-replacement, records: 20001, "
		  "lot: 200, epochs: C, delta: 1e-5, accountant: rdp, noise_multiplier: "
		  "n}",
		  false },
		{ "{mechanism: dp-sgd, sampling: without-replacement, records: 20000, "
		  "lot: 200, epochs: 4, delta: 1e-5, accountant: rdp, noise_multiplier: "
		  "n}",
		  false },
		{ "{compose: [{mechanism: dp-sgd, sampling: without-replacement, "
		  "records: "
		  "20000, lot: 200, epochs: C, noise_multiplier: n}], delta: 1e-5}",
		  false },
		{ "{command: [prog], delta: 1e-5}", false },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		struct dp_study *s = calibrated(SGD_KEYS, TARGET, rows[i].oracle,
						"method: random, evaluations: 80");
		double x[] = { 3, 1, 0.7, NAN };
		bool other = strstr(rows[i].oracle, "noise_multiplier: b") != NULL;

		if (rows[i].same)
			assert_true(dp_calibration_target_epsilon(s, 0, x) == 0.7);
		else
			assert_true(isnan(dp_calibration_target_epsilon(s, 0, x)));
		assert_int_equal(dp_objective_needs_calibration(s, 0), !rows[i].same && !other);
		assert_int_equal(dp_objective_accounting_cost(s, 0),
				 rows[i].same ? DP_PRIVACY_COST_CLOSED_FORM
				 : other      ? DP_PRIVACY_COST_CACHED
					      : DP_PRIVACY_COST_EXPENSIVE);
		assert_false(dp_objective_needs_calibration(s, 1)); /* a metric */
		assert_true(dp_calibration_equal(s, s, N) && dp_calibration_equal(s, s, 0));
		dp_study_free(s);
	}
}

static void alike(void **state)
{
	static const char oracle[] = "{mechanism: svt, cutoff: C, scale: n}";
	struct dp_study *s =
		calibrated(SVT_KEYS, TARGET, oracle, "method: random, evaluations: 80");
	struct dp_study *other = calibrated("mechanism: svt, cutoff: 4", TARGET, oracle,
					    "method: random, evaluations: 80");

	(void)state;
	assert_false(dp_calibration_equal(s, other, N));
	assert_true(dp_calibration_equal(s, other, T));
	dp_study_free(other);
	other = calibrated(SVT_KEYS, TARGET, oracle, "method: grid, grid: 3");
	assert_true(dp_calibration_equal(s, other, N));
	dp_study_free(s);
	dp_study_free(other);
}

/* ---- proposals ---- */

enum {
	TRIALS = 28
};

/* Error falls with epsilon, and is least with b near 1. */
static void answer(const struct dp_study *s, struct dp_observation *k)
{
	double off = log10(k->x[1]);

	k->y[0] = epsilon_at_order(s, k->x);
	k->y[1] = fmin(0.95, 0.2 / (1 + k->x[T]) + 0.1 * off * off + 0.05);
	for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
		k->var[j] = NAN;
}

/* So many trials, each checked; p NULL: without a memory. `solves` gets how many
 * derivations the last proposal took. */
static void propose_all(const struct dp_study *s, struct dp_proposer *p,
			struct dp_observation *known, size_t *solves)
{
	for (uint32_t t = 0; t < TRIALS; t++) {
		struct dp_history h = { .observations = known, .n = t };
		struct dp_proposal out;
		size_t before = p ? p->calibration_cache->n : 0;
		struct dp_err err;
		int code = p ? dp_proposer_propose(p, &h, t, NULL, &out, &err)
			     : propose_once(s, &h, t, NULL, &out, &err);

		if (code != DP_OK)
			fail_msg("%s", err.msg);
		assert_true(s->search.method != DP_METHOD_DPARETO || t < 8 || out.has_prediction);
		*solves = p ? p->calibration_cache->n - before : 0;
		known[t] = (struct dp_observation){ .trial = t };
		memcpy(known[t].x, out.x, sizeof out.x);
		answer(s, &known[t]);
	}
}

static void every_method_solves(void **state)
{
	static const char *const searches[] = {
		"method: random, evaluations: 80", "method: grid, grid: 4",
		"method: dpareto, evaluations: 80, initial: 6",
		"method: dpareto, evaluations: 80, initial: 6, design: sobol"
	};
	struct dp_observation known[TRIALS], again[TRIALS];
	size_t solves;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(searches); i++) {
		struct dp_study *s = calibrated(SGD_KEYS, TARGET,
						"{" SGD_KEYS ", noise_multiplier: n}", searches[i]);
		struct dp_proposer *p = dp_proposer_new(s);

		assert_int_equal(p->encoding.d, 3); /* C, b and t */
		propose_all(s, p, known, &solves);
		assert_int_equal(solves, 1); /* of the one that was chosen */
		propose_all(s, NULL, again, &solves);
		for (size_t t = 0; t < TRIALS; t++) {
			check_kept(s, known[t].x);
			assert_memory_equal(known[t].x, again[t].x,
					    s->nparams * sizeof known[t].x[0]);
		}
		if (s->search.method == DP_METHOD_GRID)
			assert_int_equal(dp_space_grid_size(s), 64);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* Where epsilon is more than what the noise was solved for, models compare and a handful
 * of points is solved for. */
static void a_composition_with_a_calibrated_part(void **state)
{
	struct dp_study *s = calibrated(
		"mechanism: gaussian, delta: 1e-6", TARGET,
		"{compose: [{mechanism: gaussian, sigma: n}, {mechanism: laplace, scale: "
		"20, times: C}], delta: 1e-5, accountant: rdp}",
		"method: dpareto, evaluations: 80, initial: 6");
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_observation known[TRIALS], again[TRIALS];
	size_t solves;

	(void)state;
	propose_all(s, p, known, &solves);
	assert_true(p->output[0].is_exact && p->output[0].is_costly);
	assert_true(solves >= 1 && solves <= 4);
	propose_all(s, NULL, again, &solves);
	for (size_t t = 0; t < TRIALS; t++) {
		const struct dp_mechanism *m = s->params[N].calibrate->use.mechanism;
		double values[DP_PRIVACY_KEYS_MAX];
		struct dp_epsilon e;
		struct dp_err err;

		dp_mechanism_use_values(s, &s->params[N].calibrate->use, known[t].x, NAN, values);
		dp_privacy_set_value(m, values, m->noise, known[t].x[N]);
		assert_int_equal(dp_privacy_epsilon(m, values, &e, &err), DP_OK);
		assert_true(e.epsilon <= known[t].x[T]);
		assert_memory_equal(known[t].x, again[t].x, s->nparams * sizeof known[t].x[0]);
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

/* What is solved for once is remembered, by all that it follows from. */
static void a_memory_of_points(void **state)
{
	struct dp_study *s = calibrated(SVT_KEYS, TARGET, "{mechanism: svt, cutoff: C, scale: n}",
					"method: dpareto, evaluations: 80");
	struct dp_proposer *p = dp_proposer_new(s);
	double x[DP_PARAMS_MAX] = { 3, 1, 0.7, 5 }, solved;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp__proposer_calibrate(p, x, &err), DP_OK);
	assert_true(x[N] == 5 && p->calibration_cache->n == 0); /* it is there */
	dp_space_clear_calibrated(s, x);
	assert_int_equal(dp__proposer_calibrate(p, x, &err), DP_OK);
	check_kept(s, x);
	solved = x[N];
	x[N] = NAN;
	assert_int_equal(dp__proposer_calibrate(p, x, &err), DP_OK);
	assert_true(x[N] == solved && p->calibration_cache->n == 1);
	x[T] = 0.71;
	x[N] = NAN;
	assert_int_equal(dp__proposer_calibrate(p, x, &err), DP_OK);
	check_kept(s, x);
	assert_true(p->calibration_cache->n == 2);
	dp_proposer_free(p);
	dp_study_free(s);
}

/* What all trainings cost together is known of solved settings, too. Only where a search
 * would have to solve for too long is the file refused. */
static void under_a_budget(void **state)
{
	static const struct {
		const char *accountant, *search;
		bool good;
	} rows[] = {
		{ "accountant: rdp", "method: dpareto, evaluations: 9", true },
		{ "accountant: pld", "method: dpareto, evaluations: 9", false },
		{ "accountant: pld", "method: random, evaluations: 9", true },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		struct dp_buf file = DP_BUF_INIT;
		struct dp_err err;
		struct result x;

		dp_buf_printf(&file,
			      "study: s\ntrainer: {command: [x]}\nparameters:\n  t: " TARGET
			      "\n  n: {calibrate: {epsilon: t, mechanism: dp-sgd, sampling: "
			      "poisson, records: 900, lot: 9, epochs: 3, delta: 1e-5, %s}}\n"
			      "objectives:\n  e: {privacy: {mechanism: dp-sgd, sampling: "
			      "poisson, records: 900, lot: 9, epochs: 3, delta: 1e-5, "
			      "noise_multiplier: n}}\n  u: {metric: u}\nanti_ideal: {e: 9, u: "
			      "1}\nsearch: {%s, budget: {epsilon: 3, delta: 1e-5}}\n",
			      rows[i].accountant, rows[i].search);
		x = parse(dp_buf_text(&file), file.len);
		assert_int_equal(x.s != NULL, rows[i].good);
		if (x.s)
			assert_int_equal(dp_study_check_composable(x.s, 0, &err), DP_OK);
		else
			assert_non_null(strstr(x.err.msg, "takes too long to solve for"));
		done(&x);
		dp_buf_free(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_target_is_kept),
		cmocka_unit_test(an_impossible_target),
		cmocka_unit_test(as_json),
		cmocka_unit_test(the_same_mechanism),
		cmocka_unit_test(alike),
		cmocka_unit_test(every_method_solves),
		cmocka_unit_test(a_composition_with_a_calibrated_part),
		cmocka_unit_test(a_memory_of_points),
		cmocka_unit_test(under_a_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
