/* test_importance.c - Sobol' indices against functions whose indices are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/linalg.h"
#include "optimize/recommend/importance.h"
#include "tests/unit/support/study_text.h"
#include "study/accounting.h"
#include "study/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STUDY(parameters, objectives)                                                              \
	"study: s\nseed: 3\ntrainer: {command: [x]}\nparameters: {" parameters                     \
	"}\nobjectives: {" objectives "}\nanti_ideal: {epsilon: 10, error: 1}\n"                   \
	"search: {method: random, evaluations: 1000}\n"
#define METRICS "epsilon: {metric: e}, error: {metric: f}"

enum {
	POINTS = 2048,
	WIDTH = 5 /* parameters at most */
};

typedef double one_fn(const double *x);

struct function {
	one_fn *value;
	size_t nparams, calls;
};

static void each_value(void *arg, const double *x, size_t m, double *z)
{
	struct function *f = arg;

	for (size_t i = 0; i < m; i++)
		z[i] = f->value(x + i * f->nparams);
	f->calls += m;
}

/* All parameters vary. */
static struct dp_importance indices(const char *study, one_fn *value)
{
	static const size_t all[WIDTH] = { 0, 1, 2, 3, 4 };
	struct dp_study *s = good(study);
	struct function f = { value, s->nparams, 0 };
	struct dp_importance out;

	dp_importance_find(s, all, s->nparams, POINTS, each_value, &f, &out);
	assert_int_equal(f.calls, POINTS * (s->nparams + 2));
	dp_study_free(s);
	return out;
}

static void near_to(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.6g is not %.6g", a, b);
}

static double ishigami(const double *x)
{
	return sin(x[0]) + 7 * pow(sin(x[1]), 2) + 0.1 * pow(x[2], 4) * sin(x[0]);
}

/* Ishigami and Homma 1990, a = 7, b = 0.1. */
static void a_known_function(void **state)
{
	static const double first[] = { 0.31391, 0.44241, 0 },
			    total[] = { 0.55759, 0.44241, 0.24368 };
	struct dp_importance i =
		indices(STUDY("a: {type: float, range: [-3.14159265358979, 3.14159265358979]}, "
			      "b: {type: float, range: [-3.14159265358979, 3.14159265358979]}, "
			      "c: {type: float, range: [-3.14159265358979, 3.14159265358979]}",
			      METRICS),
			ishigami);

	(void)state;
	assert_int_equal(i.source, DP_IMPORTANCE_COMPUTED);
	near_to(i.variance, 13.8446, 0.2);
	for (size_t k = 0; k < DP_COUNT(first); k++) {
		near_to(i.first_order[k], first[k], 0.015);
		near_to(i.total_order[k], total[k], 0.015);
	}
}

static const double g_weight[WIDTH] = { 0, 1, 4.5, 9, 99 };

static double g_function(const double *x)
{
	double product = 1;

	for (size_t k = 0; k < WIDTH; k++)
		product *= (fabs(4 * x[k] - 2) + g_weight[k]) / (1 + g_weight[k]);
	return product;
}

/* Sobol': variances of the factors are 1 / (3 (1 + a)^2). */
static void a_product(void **state)
{
	struct dp_importance i =
		indices(STUDY("a: {type: float, range: [0, 1]}, b: {type: float, range: "
			      "[0, 1]}, c: {type: float, range: [0, 1]}, d: {type: "
			      "float, range: [0, 1]}, e: {type: float, range: [0, 1]}",
			      METRICS),
			g_function);
	double whole = 1, own[WIDTH];

	(void)state;
	for (size_t k = 0; k < WIDTH; k++) {
		own[k] = 1 / (3 * pow(1 + g_weight[k], 2));
		whole *= 1 + own[k];
	}
	for (size_t k = 0; k < WIDTH; k++) {
		near_to(i.first_order[k], own[k] / (whole - 1), 0.015);
		near_to(i.total_order[k], own[k] * whole / (1 + own[k]) / (whole - 1), 0.015);
	}
}

static double sum_of_kinds(const double *x)
{
	return x[0] + (x[1] == 2 ? 3 : 0) + log(x[2]);
}

/* Variances of what adds up: whole numbers, categories and a logarithm, as they are
 * sampled. */
static void as_it_is_sampled(void **state)
{
	static const double own[] = { 35.0 / 12, 2, 1.7671 };
	struct dp_importance i =
		indices(STUDY("n: {type: int, range: [1, 6]}, k: {type: categorical, "
			      "values: [x, y, z]}, l: {type: float, range: [0.01, 1], "
			      "scale: log}",
			      METRICS),
			sum_of_kinds);

	(void)state;
	for (size_t k = 0; k < DP_COUNT(own); k++) {
		near_to(i.first_order[k], own[k] / (own[0] + own[1] + own[2]), 0.01);
		near_to(i.total_order[k], i.first_order[k], 0.01);
	}
}

static double flat(const double *x)
{
	(void)x;
	return 0.1;
}

static double mostly_nothing(const double *x)
{
	return x[0] < 0.6 ? NAN : x[0];
}

static double sometimes_nothing(const double *x)
{
	return x[0] < 0.1 ? NAN : x[0];
}

static void without_variation_and_without_values(void **state)
{
	static const char study[] = STUDY("a: {type: float, range: [0, 1]}, b: {type: "
					  "float, range: [0, 1]}",
					  METRICS);
	struct dp_importance i = indices(study, flat);

	(void)state;
	assert_int_equal(i.source, DP_IMPORTANCE_COMPUTED);
	assert_true(i.first_order[0] == 0 && i.total_order[0] == 0 && i.variance == 0);
	i = indices(study, sometimes_nothing);
	near_to(i.first_order[0], 1, 0.05);
	assert_true(i.first_order[1] == 0 && i.total_order[1] == 0);
}

static void mostly_without_a_value(void **state)
{
	struct dp_study *s = good(STUDY("a: {type: float, range: [0, 1]}", METRICS));
	static const size_t all[] = { 0 };
	struct function f = { mostly_nothing, 1, 0 };
	struct dp_importance i;

	(void)state;
	dp_importance_find(s, all, 1, POINTS, each_value, &f, &i);
	assert_int_equal(i.source, DP_IMPORTANCE_UNKNOWN);
	dp_study_free(s);
}

/* ---- oracles ---- */

static struct dp_importance of_epsilon(const char *text)
{
	struct dp_study *s = good(text);
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_importance once, twice;

	assert_non_null(p);
	dp_surrogate_importance(p, 0, &once);
	dp_surrogate_importance(p, 0, &twice);
	assert_memory_equal(&once, &twice, sizeof once);
	dp_proposer_free(p);
	dp_study_free(s);
	return once;
}

/* log epsilon = log((1 + t)(1 + t^2)) - log b with t = (2 C)^(1/3): variances add up. */
static void the_sparse_vector_technique(void **state)
{
	struct dp_importance i =
		of_epsilon(STUDY("C: {type: int, range: [1, 30]}, b: {type: float, range: [0.01, "
				 "100], scale: log}, z: {type: float, range: [0, 1]}",
				 "epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}, "
				 "error: {metric: f}"));
	double b = pow(log(1e4), 2) / 12, sum = 0, squares = 0, c;

	(void)state;
	for (int n = 1; n <= 30; n++) {
		double t = cbrt(2 * n), v = log((1 + t) * (1 + t * t));

		sum += v / 30;
		squares += v * v / 30;
	}
	c = squares - sum * sum;
	assert_int_equal(i.source, DP_IMPORTANCE_COMPUTED);
	near_to(i.variance, b + c, 0.02);
	near_to(i.first_order[0], c / (b + c), 0.01);
	near_to(i.total_order[0], c / (b + c), 0.01);
	near_to(i.first_order[1], b / (b + c), 0.01);
	near_to(i.total_order[1], b / (b + c), 0.01);
	assert_true(i.first_order[2] == 0 && i.total_order[2] == 0);
}

/* What epsilon does not depend on has nothing of it, not a little. */
static void clip_and_learning_rate(void **state)
{
	struct dp_importance i = of_epsilon(
		STUDY("epochs: {type: int, range: [1, 32]}, clip: {type: float, range: "
		      "[0.1, 4], scale: log}, rate: {type: float, range: [1e-3, 0.1], "
		      "scale: log}, noise: {type: float, range: [0.3, 8], scale: log}",
		      "epsilon: {privacy: {mechanism: dp-sgd, sampling: without-replacement, "
		      "records: 30956, lot: 64, epochs: epochs, noise_multiplier: "
		      "noise, delta: 1e-5, accountant: rdp}}, error: {metric: f}"));

	(void)state;
	assert_int_equal(i.source, DP_IMPORTANCE_COMPUTED);
	assert_true(i.first_order[1] == 0 && i.total_order[1] == 0);
	assert_true(i.first_order[2] == 0 && i.total_order[2] == 0);
	assert_true(i.first_order[3] > 0.8 && i.first_order[0] > 0.02 && i.first_order[0] < 0.15);
	assert_true(i.total_order[0] >= i.first_order[0] && i.total_order[3] >= i.first_order[3]);
}

/* Epsilon is the target itself there. */
static void noise_that_is_solved_for(void **state)
{
	struct dp_importance i =
		of_epsilon(STUDY("C: {type: int, range: [1, 30]}, b: {calibrate: {epsilon: t, "
				 "mechanism: svt, cutoff: C}}, t: {type: float, range: [0.1, 10], "
				 "scale: log}",
				 "epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}, "
				 "error: {metric: f}"));

	(void)state;
	assert_true(i.first_order[0] == 0 && i.total_order[0] == 0 && i.first_order[1] == 0);
	near_to(i.first_order[2], 1, 0.01);
	near_to(i.total_order[2], 1, 0.01);
}

/* ---- models ---- */

enum {
	RESULTS = 60
};

struct fitted {
	struct dp_study *study;
	struct dp_proposer *p;
	struct dp_observation known[RESULTS];
	struct dp_history h;
	struct dp_err err;
};

static void fit_study(struct fitted *f, const char *text, one_fn *error)
{
	memset(f, 0, sizeof *f);
	f->study = good(text);
	f->h = (struct dp_history){ .observations = f->known, .n = RESULTS };
	for (uint32_t i = 0; i < RESULTS; i++) {
		struct dp_observation *k = &f->known[i];

		k->trial = i;
		dp_space_sample(f->study, i, true, k->x);
		assert_int_equal(dp_objectives_epsilon(f->study, k->x, k->y, &f->err), DP_OK);
		if (isnan(k->y[0]))
			k->y[0] = 1;
		k->y[1] = error(k->x);
		k->var[0] = k->var[1] = NAN;
	}
	f->p = dp_proposer_new(f->study);
	assert_non_null(f->p);
	assert_int_equal(dp_surrogate_fit(f->p, &f->h, NULL, &f->err), DP_OK);
}

static void fitted_free(struct fitted *f)
{
	dp_proposer_free(f->p);
	dp_study_free(f->study);
}

/* A wiggle of one parameter beside the large slope of another: the inverse of a length
 * scale would put it first. */
static double wiggle(const double *x)
{
	return 0.5 + 0.4 * x[0] + 0.02 * sin(12 * x[1]);
}

static void the_mean_of_a_model(void **state)
{
	double slope = 0.16 / 12, waves = 0.0004 / 2;
	struct dp_surrogate_info info;
	struct dp_importance i;
	struct fitted f;

	(void)state;
	fit_study(&f,
		  STUDY("a: {type: float, range: [0, 1]}, b: {type: float, range: [0, "
			"1]}",
			METRICS),
		  wiggle);
	assert_int_equal(dp_surrogate_get_info(f.p, 1, &info), DP_OK);
	assert_true(info.length[1] < info.length[0]);
	dp_surrogate_importance(f.p, 1, &i);
	assert_int_equal(i.source, DP_IMPORTANCE_MODELLED);
	near_to(i.first_order[0], slope / (slope + waves), 0.01);
	near_to(i.total_order[0], slope / (slope + waves), 0.01);
	near_to(i.total_order[1], waves / (slope + waves), 0.01);
	fitted_free(&f);
}

/* Milliseconds an answer: the model stands in, and what epsilon cannot depend on has
 * nothing all the same. */
static void a_costly_oracle(void **state)
{
	struct dp_importance i;
	struct dp_proposer *p;
	struct fitted f;

	(void)state;
	fit_study(&f,
		  STUDY("a: {type: float, range: [0, 1]}, noise: {type: float, range: "
			"[0.8, 8], scale: log}",
			"epsilon: {privacy: {mechanism: dp-sgd, sampling: poisson, "
			"records: 1000, lot: 10, epochs: 2, noise_multiplier: noise, "
			"delta: 1e-5, accountant: pld}}, error: {metric: f}"),
		  wiggle);
	p = dp_proposer_new(f.study);
	assert_non_null(p);
	dp_surrogate_importance(p, 0, &i);
	assert_int_equal(i.source, DP_IMPORTANCE_UNKNOWN);
	dp_proposer_free(p);
	dp_surrogate_importance(f.p, 0, &i);
	assert_int_equal(i.source, DP_IMPORTANCE_MODELLED);
	assert_true(i.first_order[0] == 0 && i.total_order[0] == 0);
	near_to(i.total_order[1], 1, 0.02);
	fitted_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_function),
		cmocka_unit_test(a_product),
		cmocka_unit_test(as_it_is_sampled),
		cmocka_unit_test(without_variation_and_without_values),
		cmocka_unit_test(mostly_without_a_value),
		cmocka_unit_test(the_sparse_vector_technique),
		cmocka_unit_test(clip_and_learning_rate),
		cmocka_unit_test(noise_that_is_solved_for),
		cmocka_unit_test(the_mean_of_a_model),
		cmocka_unit_test(a_costly_oracle),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
