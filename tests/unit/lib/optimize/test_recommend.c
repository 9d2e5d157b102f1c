/* test_recommend.c - settings for a level, on functions whose best point is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "base/rng.h"
#include "linalg/linalg.h"
#include "optimize/recommend/recommend.h"
#include "tests/unit/support/study_text.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KNOWN_MAX = 200,
	EPSILON = 0,
	ERROR = 1
};

/* A study, results of it, and models of these. */
struct asked {
	struct dp_study *study;
	struct dp_observation known[KNOWN_MAX];
	struct dp_history h;
	struct dp_proposer *p;
	struct dp_err err;
};

/* What the trainer would report: metrics of objectives into y, of constraints into
 * metric. */
typedef void truth_fn(const double *x, double *y, double *metric);

#define ANTI "anti_ideal: {epsilon: 10, error: 1}\n"
#define STUDY(parameters, objectives)                                                              \
	"study: s\nseed: 3\ntrainer: {command: [x]}\nparameters: {" parameters                     \
	"}\nobjectives: {" objectives "}\n"
#define RANDOM_SEARCH "search: {method: random, evaluations: 1000}\n"
#define GAUSSIAN      "epsilon: {privacy: {mechanism: gaussian, sigma: s, delta: 1e-5}}"
#define ERROR_METRIC  "error: {metric: error}"
#define PLACE         "a: {type: float, range: [0, 1]}"
#define NOISE         "s: {type: float, range: [0.3, 300], scale: log}"

static void add_result(struct asked *a, truth_fn *truth, const double *x)
{
	struct dp_observation *k = &a->known[a->h.n];
	double metric[DP_CONSTRAINTS_MAX] = { 0 }, at[DP_PARAMS_MAX];

	memcpy(at, x, sizeof at);
	assert_int_equal(dp_space_solve_calibrated(a->study, at, &a->err), DP_OK);
	memset(k, 0, sizeof *k);
	k->trial = (uint32_t)a->h.n++;
	memcpy(k->x, at, sizeof k->x);
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++)
		k->var[i] = NAN;
	assert_int_equal(dp_objectives_epsilon_at(a->study, a->h.external_accountants, at, NAN,
						  k->y, &a->err),
			 DP_OK);
	truth(at, k->y, metric);
	memcpy(k->metrics, metric, sizeof k->metrics);
}

/* n random points of the space, measured without noise. */
static void ask_study_with(struct asked *a, const char *text, size_t n, truth_fn *truth,
			   const struct dp_external_callback *programs)
{
	memset(a, 0, sizeof *a);
	a->study = good(text);
	a->h.observations = a->known;
	a->h.external_accountants = programs;
	for (uint32_t i = 0; i < n; i++) {
		double x[DP_PARAMS_MAX] = { 0 };

		dp_space_sample(a->study, i, true, x);
		add_result(a, truth, x);
	}
	a->p = dp_proposer_new(a->study);
	assert_non_null(a->p);
	assert_int_equal(dp_surrogate_fit(a->p, &a->h, NULL, &a->err), DP_OK);
}

static void runner_fetch_study(struct asked *a, const char *text, size_t n, truth_fn *truth)
{
	ask_study_with(a, text, n, truth, NULL);
}

static void forget(struct asked *a)
{
	dp_proposer_free(a->p);
	dp_study_free(a->study);
}

static struct dp_recommendation recommend_at(struct asked *a, size_t output, double value)
{
	struct dp_recommend_level level = { output, value };
	struct dp_recommendation r;

	if (dp_recommend(a->p, &level, 0, NULL, &r, &a->err) != DP_OK)
		fail_msg("at %g: %s", value, a->err.msg);
	return r;
}

/* Epsilon is that of the very point, within 0.1 % of the level and not above it. */
static void check_tuned(struct asked *a, const struct dp_recommendation *r, double level)
{
	double y[DP_OBJECTIVES_MAX];

	assert_int_equal(dp_objectives_epsilon_at(a->study, a->h.external_accountants, r->x, NAN, y,
						  &a->err),
			 DP_OK);
	assert_true(y[EPSILON] == r->privacy[EPSILON]);
	if (!(y[EPSILON] <= level && y[EPSILON] >= 0.999 * level))
		fail_msg("epsilon %.17g at level %g", y[EPSILON], level);
}

static void check_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%g is not near %g", a, b);
}

/* ---- an epsilon that is computed ---- */

/* Best at a = 0.3, better with less noise. */
static void valley(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.2 + pow(x[0] - 0.3, 2) + 0.1 * log10(x[1] / 0.3);
}

static void epsilon_is_tuned_and_the_rest_is_best(void **state)
{
	static const double levels[] = { 0.02, 0.1, 0.5, 1, 2, 5 };
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   60, valley);
	for (size_t i = 0; i < DP_COUNT(levels); i++) {
		struct dp_recommendation r = recommend_at(&a, EPSILON, levels[i]);
		double y[2] = { 0 };

		check_tuned(&a, &r, levels[i]);
		check_near(r.x[0], 0.3, 0.03);
		valley(r.x, y, NULL);
		check_near(r.predicted[ERROR].value, y[ERROR], 0.005);
		assert_true(r.predicted[ERROR].lo <= r.predicted[ERROR].value &&
			    r.predicted[ERROR].value <= r.predicted[ERROR].hi);
		assert_true(isnan(r.privacy[ERROR]));
		assert_true(r.nearest_observation < a.h.n && r.distance < 0.3);
	}
	forget(&a);
}

static void lot_valley(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.15 + 0.1 * pow(log(x[0] / 8), 2) + 0.05 * pow(log(x[1] / 90), 2) + 0.05 * x[2];
}

#define LOTS                                                                                       \
	"n: {type: int, range: [1, 40]}, l: {type: int, range: [10, 400]}, "                       \
	"s: {type: float, range: [0.3, 9]}"
#define SGD                                                                                        \
	"epsilon: {privacy: {mechanism: dp-sgd, sampling: without-replacement, "                   \
	"records: 20000, lot: l, epochs: n, noise_multiplier: s, delta: 1e-5, "                    \
	"accountant: rdp}}"

static void whole_numbers_stay_whole(void **state)
{
	struct asked a;

	(void)state;
	runner_fetch_study(&a, STUDY(LOTS, SGD ", " ERROR_METRIC) ANTI RANDOM_SEARCH, 80,
			   lot_valley);
	for (double level = 0.3; level < 9; level *= 1.7) {
		struct dp_recommendation r = recommend_at(&a, EPSILON, level);

		check_tuned(&a, &r, level);
		assert_true(r.x[0] == rint(r.x[0]) && r.x[1] == rint(r.x[1]));
	}
	forget(&a);
}

#define PLD                                                                                        \
	"epsilon: {privacy: {mechanism: dp-sgd, sampling: poisson, records: 20000, "               \
	"lot: 200, epochs: n, noise_multiplier: s, delta: 1e-5}}"

static void fewer_epochs_less_noise(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.2 + 0.01 * pow(x[0] - 5, 2) + 0.02 * x[1];
}

/* A model stands in for an oracle that takes milliseconds, and the oracle decides; the
 * same where the file wants a model of epsilon. */
static void costly_oracles_decide_in_the_end(void **state)
{
	static const char *const searches[] = {
		RANDOM_SEARCH, "search: {method: dpareto, evaluations: 99, privacy_model: gp}\n"
	};
	char text[1000];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(searches); i++) {
		struct dp_recommendation r;
		struct asked a;

		snprintf(text, sizeof text,
			 STUDY("n: {type: int, range: [1, 20]}, "
			       "s: {type: float, range: [0.5, 8]}",
			       PLD ", " ERROR_METRIC) ANTI "%s",
			 searches[i]);
		runner_fetch_study(&a, text, 30, fewer_epochs_less_noise);
		r = recommend_at(&a, EPSILON, 1);
		check_tuned(&a, &r, 1);
		check_near(r.x[0], 5, 2);
		forget(&a);
	}
}

static void by_category(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.2 + 0.2 * fabs(x[2] - 1) + pow(x[0] - 0.3, 2) + 0.01 * x[1];
}

static void categories_are_compared(void **state)
{
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE ", k: {type: categorical, values: [x, y, z]}",
				 GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   80, by_category);
	r = recommend_at(&a, EPSILON, 0.5);
	check_tuned(&a, &r, 0.5);
	assert_true(r.x[2] == 1);
	check_near(r.x[0], 0.3, 0.05);
	forget(&a);
}

/* Noise that is a whole number comes as close as its values allow. */
static void noise_of_whole_numbers(void **state)
{
	struct dp_epsilon e;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", s: {type: int, range: [1, 50]}",
				 GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   60, valley);
	for (double level = 0.15; level < 3; level *= 2) {
		struct dp_recommendation r = recommend_at(&a, EPSILON, level);

		assert_true(r.privacy[EPSILON] <= level);
		r.x[1] -= 1; /* less noise would be too little */
		assert_int_equal(dp_objective_epsilon(a.study, EPSILON, r.x, &e, &a.err), DP_OK);
		assert_true(e.epsilon > level);
	}
	forget(&a);
}

/* Without noise to tune the level still holds. */
static void nothing_to_tune(void **state)
{
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY("n: {type: int, range: [1, 60]}, l: {type: int, range: [10, "
				 "400]}, s: {fixed: 2}",
				 SGD ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   60, lot_valley);
	r = recommend_at(&a, EPSILON, 0.8);
	assert_true(r.privacy[EPSILON] <= 0.8 && r.privacy[EPSILON] > 0);
	forget(&a);
}

static void by_regularization(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.2 + 0.1 * log10(x[0] / 1e-4);
}

/* Without noise that is searched, whatever else is: here the sensitivity. */
static void another_input_is_tuned(void **state)
{
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY("r: {type: float, range: [1e-4, 1], scale: log}, s: {fixed: 1}",
				 "epsilon: {privacy: {mechanism: output-perturbation, "
				 "regularization: r, records: 1000, sigma: s, delta: "
				 "1e-5}}, " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   30, by_regularization);
	for (double level = 0.1; level < 9; level *= 3) {
		struct dp_recommendation r = recommend_at(&a, EPSILON, level);

		check_tuned(&a, &r, level);
	}
	forget(&a);
}

/* Two mechanisms, two noises: together they reach the level. */
static void composed_noises(void **state)
{
	static const double levels[] = { 0.3, 1, 3 };
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE ", t: {type: float, range: [1, 50], scale: log}",
				 "epsilon: {privacy: {compose: [{mechanism: gaussian, sigma: s}, "
				 "{mechanism: laplace, scale: t}], delta: 1e-5}}, " ERROR_METRIC)
				   ANTI RANDOM_SEARCH,
			   40, valley);
	for (size_t i = 0; i < DP_COUNT(levels); i++) {
		struct dp_recommendation r = recommend_at(&a, EPSILON, levels[i]);

		check_tuned(&a, &r, levels[i]);
	}
	forget(&a);
}

static void by_target(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.2 + pow(x[0] - 0.3, 2) + 0.1 / x[1];
}

/* The epsilon that noise is calibrated to is a parameter like any other. */
static void calibrated_noise(void **state)
{
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", t: {type: float, range: [0.05, 9], scale: log}, "
				       "s: {calibrate: {epsilon: t, mechanism: gaussian, delta: "
				       "1e-5}}",
				 GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   50, by_target);
	for (double level = 0.1; level < 9; level *= 3) {
		struct dp_recommendation r = recommend_at(&a, EPSILON, level);

		check_tuned(&a, &r, level);
		check_near(r.x[0], 0.3, 0.05);
		assert_true(isfinite(r.x[2]));
	}
	forget(&a);
}

/* ---- programs ---- */

static int asked_programs;

static int inverse_noise(void *arg, size_t objective, const double *x, double at, double *epsilon,
			 struct dp_err *err)
{
	(void)objective;
	(void)at;
	asked_programs++;
	*epsilon = 3 / x[1];
	return *(bool *)arg ? dp_fail(err, DP_E_ORACLE, "it died") : DP_OK;
}

static void programs_are_asked(void **state)
{
	bool dead = false;
	struct dp_external_callback asker = { inverse_noise, &dead };
	struct dp_recommend_level level = { EPSILON, 1 };
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	ask_study_with(&a,
		       STUDY(PLACE ", " NOISE,
			     "epsilon: {privacy: {command: [y], delta: 1e-5}}, " ERROR_METRIC)
			       ANTI RANDOM_SEARCH,
		       40, valley, &asker);
	asked_programs = 0;
	r = recommend_at(&a, EPSILON, 1);
	check_tuned(&a, &r, 1);
	assert_in_range(asked_programs, 3, 200);
	dead = true;
	assert_int_equal(dp_recommend(a.p, &level, 0, NULL, &r, &a.err), DP_E_ORACLE);
	assert_non_null(strstr(a.err.msg, "it died"));
	forget(&a);
}

/* ---- other levels ---- */

/* The least epsilon for an error. */
static void a_metric_is_held(void **state)
{
	struct dp_recommendation r;
	struct asked a;
	double y[2] = { 0 }, best[2] = { 0.3, 0.3 * pow(10, 0.8) };
	struct dp_epsilon e;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   60, valley);
	r = recommend_at(&a, ERROR, 0.28);
	assert_true(r.predicted[ERROR].value <= 0.28);
	valley(r.x, y, NULL);
	check_near(y[ERROR], 0.28, 0.005);
	assert_int_equal(dp_objective_epsilon(a.study, EPSILON, best, &e, &a.err), DP_OK);
	check_near(r.privacy[EPSILON], e.epsilon, 0.15 * e.epsilon);
	assert_true(r.trust.output == ERROR);
	forget(&a);
}

static void two_metrics(const double *x, double *y, double *metric)
{
	(void)metric;
	y[EPSILON] = 4 / x[1];
	y[ERROR] = 0.2 + pow(x[0] - 0.3, 2) + 0.1 * log10(x[1] / 0.3);
}

/* An epsilon that the trainer reports is modelled. */
static void an_epsilon_that_is_a_metric(void **state)
{
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(
		&a,
		STUDY(PLACE ", " NOISE, "epsilon: {metric: epsilon, transform: log}, " ERROR_METRIC)
			ANTI RANDOM_SEARCH,
		60, two_metrics);
	r = recommend_at(&a, EPSILON, 1);
	assert_true(isnan(r.privacy[EPSILON]));
	assert_true(r.predicted[EPSILON].value <= 1);
	check_near(4 / r.x[1], 1, 0.05);
	check_near(r.x[0], 0.3, 0.05);
	forget(&a);
}

static void upside_down(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.8 - pow(x[0] - 0.3, 2) - 0.1 * log10(x[1] / 0.3);
}

static void what_is_maximised_is_held_from_below(void **state)
{
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE,
				 GAUSSIAN ", error: {metric: error, goal: "
					  "maximize}") "anti_ideal: {epsilon: 10, "
						       "error: 0}\n" RANDOM_SEARCH,
			   60, upside_down);
	r = recommend_at(&a, EPSILON, 1);
	check_tuned(&a, &r, 1);
	check_near(r.x[0], 0.3, 0.03);
	r = recommend_at(&a, ERROR, 0.7);
	assert_true(r.predicted[ERROR].value >= 0.7);
	check_near(r.predicted[ERROR].value, 0.7, 0.01);
	check_near(r.x[0], 0.3, 0.06);
	forget(&a);
}

static void with_seconds(const double *x, double *y, double *metric)
{
	valley(x, y, metric);
	metric[0] = 100 * x[0]; /* seconds */
	y[2] = 100 * x[0];
}

/* The best a = 0.3 takes 30 seconds. */
static void constraints_hold(void **state)
{
	static const char text[] = STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI
		"constraints: {seconds: \"<= 20\"}\n" RANDOM_SEARCH;
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a, text, 60, with_seconds);
	r = recommend_at(&a, EPSILON, 1);
	check_tuned(&a, &r, 1);
	check_near(r.x[0], 0.2, 0.02);
	assert_true(r.predicted[2].value <= 20.001 && r.feasible_probability > 0.5);
	/* and held at another level than the file's: epsilon and error both count */
	r = recommend_at(&a, 2, 10);
	assert_true(r.predicted[2].value <= 10.001);
	check_near(r.x[0], 0.1, 0.03);
	assert_true(r.privacy[EPSILON] < 9);
	forget(&a);
}

static void three_values(const double *x, double *y, double *metric)
{
	with_seconds(x, y, metric);
}

/* Of two other objectives the hypervolume counts. */
static void three_objectives(void **state)
{
	struct dp_recommend_level level = { EPSILON, 1 };
	const double worse[] = { 1, 0.3, 50 }, better[] = { 1, 0.3, 20 };
	struct dp_recommendation r;
	struct asked a;
	double most = 0, place = NAN;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN
				 ", " ERROR_METRIC
				 ", seconds: {metric: seconds}") "anti_ideal: {epsilon: 10, error: "
								 "1, seconds: 60}\n" RANDOM_SEARCH,
			   70, three_values);
	r = recommend_at(&a, EPSILON, 1);
	check_tuned(&a, &r, 1);
	for (double at = 0; at <= 1; at += 0.001) {
		double x[2] = { at, r.x[1] }, y[3], metric[1], volume;

		three_values(x, y, metric);
		volume = (1 - y[1]) * (60 - y[2]);
		if (volume > most) {
			most = volume;
			place = at;
		}
	}
	check_near(r.x[0], place, 0.03);
	assert_true(dp_recommend_level_cost(a.study, &level, better) <
		    dp_recommend_level_cost(a.study, &level, worse));
	forget(&a);
}

static void nothing_more(const double *x, double *y, double *metric)
{
	(void)x;
	(void)y;
	(void)metric;
}

/* Two epsilons, nothing is modelled: the other one is the least. */
static void all_is_computed(void **state)
{
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(NOISE ", t: {type: float, range: [1, 50]}",
				 GAUSSIAN ", error: {privacy: {mechanism: laplace, scale: t}}")
				   ANTI RANDOM_SEARCH,
			   10, nothing_more);
	r = recommend_at(&a, EPSILON, 1);
	check_tuned(&a, &r, 1);
	check_near(r.privacy[ERROR], 0.02, 1e-6);
	assert_true(r.trust.is_trusted && r.trust.n_neighbours == 0);
	forget(&a);
}

/* ---- paths ---- */

static void walked(const double *x, double *y, double *metric)
{
	(void)metric;
	y[ERROR] = 0.2 + 0.1 * pow(log(x[0] / 6), 2) + 0.05 * x[1];
}

#define WALKED                                                                                     \
	"epsilon: {privacy: {mechanism: dp-sgd, sampling: without-replacement, "                   \
	"records: 20000, lot: 200, epochs: n, noise_multiplier: s, delta: 1e-5, "                  \
	"accountant: rdp}}, " ERROR_METRIC

static void paths_are_parameters_here(void **state)
{
	static const char *const walks[] = { "n: {type: int, range: [1, 40]}", "n: {fixed: 12}" };
	char text[1200];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(walks); i++) {
		struct dp_recommendation r;
		struct asked a;
		json_t *values;

		snprintf(text, sizeof text,
			 "study: s\ntrainer: {command: [x], path: n}\nparameters: {%s, "
			 "s: {type: float, range: [0.5, 9]}}\nobjectives: {" WALKED "}\n" ANTI
			 "search: {method: dpareto, evaluations: 99}\n",
			 walks[i]);
		memset(&a, 0, sizeof a);
		a.study = good(text);
		a.h.observations = a.known;
		for (uint32_t t = 0; t < 20; t++) {
			double x[DP_PARAMS_MAX] = { 0 }, end;

			dp_space_sample(a.study, t, true, x);
			end = i == 0 ? x[0] : 12;
			x[0] = end;
			add_result(&a, walked, x);
		}
		a.p = dp_proposer_new(a.study);
		assert_int_equal(dp_surrogate_fit(a.p, &a.h, NULL, &a.err), DP_OK);
		r = recommend_at(&a, EPSILON, 1);
		check_tuned(&a, &r, 1);
		values = dp_space_to_json(a.study, r.x);
		if (i == 0)
			check_near(r.x[0], 6, 3);
		else
			assert_int_equal(json_integer_value(json_object_get(values, "n")), 12);
		json_decref(values);
		forget(&a);
	}
}

/* ---- what cannot be ---- */

/* The nearest level that is told can be had. */
static void impossible_levels(void **state)
{
	static const struct {
		size_t output;
		double value;
		const char *words;
	} rows[] = {
		{ EPSILON, 1e-4,
		  "no setting of this study has epsilon at most 0.0001: "
		  "the least is " },
		{ ERROR, 0.1,
		  "no setting of this study is predicted to have error at "
		  "most 0.1: the least is " },
	};
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   60, valley);
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		struct dp_recommend_level level = { rows[i].output, rows[i].value };
		struct dp_recommendation r;
		double least;

		assert_int_equal(dp_recommend(a.p, &level, 0, NULL, &r, &a.err), DP_E_LIMIT);
		assert_int_equal(strncmp(a.err.msg, rows[i].words, strlen(rows[i].words)), 0);
		assert_true(dp_num_parse(a.err.msg + strlen(rows[i].words), &least));
		assert_true(least > rows[i].value);
		assert_non_null(strstr(a.err.hint, "--at"));
		r = recommend_at(&a, rows[i].output, least);
		assert_true(rows[i].output == ERROR || r.privacy[EPSILON] <= least);
	}
	forget(&a);
}

static void never_within(const double *x, double *y, double *metric)
{
	valley(x, y, metric);
	metric[0] = 100 + x[0];
}

static void impossible_constraints(void **state)
{
	struct dp_recommend_level level = { EPSILON, 1 };
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI
			   "constraints: {seconds: \"<= 20\"}\n" RANDOM_SEARCH,
			   40, never_within);
	assert_int_equal(dp_recommend(a.p, &level, 0, NULL, &r, &a.err), DP_E_LIMIT);
	assert_non_null(strstr(a.err.msg, "constraints"));
	forget(&a);
}

/* Epsilons beyond where a logarithm is cut off are no way out. */
static void huge_levels(void **state)
{
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", s: {type: float, range: [1e-3, 300], scale: log}",
				 GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   60, valley);
	for (double level = 1e3; level < 1e8; level *= 10) {
		struct dp_recommendation r = recommend_at(&a, EPSILON, level);

		assert_true(r.privacy[EPSILON] <= level);
	}
	forget(&a);
}

static void a_cancelled_search_ends(void **state)
{
	struct dp_recommend_level level = { EPSILON, 1 };
	atomic_bool cancel = true;
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   30, valley);
	assert_int_equal(dp_recommend(a.p, &level, 0, &cancel, &r, &a.err), DP_E_INTERRUPTED);
	forget(&a);
}

/* ---- the same again ---- */

static void answers_repeat_bit_for_bit(void **state)
{
	static const char text[] = STUDY(LOTS, SGD ", " ERROR_METRIC) ANTI RANDOM_SEARCH;
	struct dp_recommendation first, again;
	struct asked a, b;

	(void)state;
	runner_fetch_study(&a, text, 50, lot_valley);
	first = recommend_at(&a, EPSILON, 1);
	recommend_at(&a, EPSILON, 2);
	recommend_at(&a, ERROR, 0.5);
	again = recommend_at(&a, EPSILON, 1);
	assert_memory_equal(first.x, again.x, 3 * sizeof *first.x);
	runner_fetch_study(&b, text, 50, lot_valley);
	again = recommend_at(&b, EPSILON, 1);
	assert_memory_equal(first.x, again.x, 3 * sizeof *first.x);
	assert_true(first.predicted[ERROR].hi == again.predicted[ERROR].hi);
	assert_true(first.trust.rms_error == again.trust.rms_error);
	forget(&a);
	forget(&b);
}

/* ---- trust ---- */

static void noisy_valley(const double *x, double *y, double *metric)
{
	static uint32_t call;
	struct dp_rng r;

	dp_rng_init(&r, 5, DP_RNG_TEST, call++, 0);
	valley(x, y, metric);
	y[ERROR] += 0.02 * dp_rng_normal(&r);
}

static void trust_is_what_left_out_results_say(void **state)
{
	struct dp_loo_prediction out[KNOWN_MAX];
	struct dp_recommendation r;
	size_t count, within = 0;
	double sum = 0;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   120, noisy_valley);
	a.known[7].status = DP_OBSERVATION_DIVERGED;
	assert_int_equal(dp_surrogate_fit(a.p, &a.h, NULL, &a.err), DP_OK);
	r = recommend_at(&a, EPSILON, 1);
	assert_true(r.trust.is_trusted && r.trust.reason[0] == '\0');
	assert_int_equal(r.trust.n_neighbours, 16);
	assert_true(r.trust.rms_error > 0.008 && r.trust.rms_error < 0.04);
	assert_int_equal(dp_surrogate_leave_one_out(a.p, ERROR, out, &count, &a.err), DP_OK);
	assert_int_equal(count, 119);
	for (size_t i = 0; i < count; i++) {
		assert_true(out[i].observed == a.known[out[i].observation].y[ERROR]);
		within += out[i].observed >= out[i].predicted.lo &&
			  out[i].observed <= out[i].predicted.hi;
		sum += pow(out[i].observed - out[i].predicted.value, 2) / (double)count;
	}
	assert_in_range(within, 106, 119);
	assert_true(sqrt(sum) > 0.012 && sqrt(sum) < 0.03);
	assert_int_equal(dp_surrogate_leave_one_out(a.p, EPSILON, out, &count, &a.err),
			 DP_E_FAILED);
	forget(&a);
}

static void few_results_are_not_trusted(void **state)
{
	struct dp_recommendation r;
	struct asked a;

	(void)state;
	runner_fetch_study(&a,
			   STUDY(PLACE ", " NOISE, GAUSSIAN ", " ERROR_METRIC) ANTI RANDOM_SEARCH,
			   3, valley);
	r = recommend_at(&a, EPSILON, 1);
	check_tuned(&a, &r, 1);
	assert_false(r.trust.is_trusted);
	assert_string_equal(r.trust.reason, "only 3 results are known");
	forget(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(epsilon_is_tuned_and_the_rest_is_best),
		cmocka_unit_test(whole_numbers_stay_whole),
		cmocka_unit_test(costly_oracles_decide_in_the_end),
		cmocka_unit_test(categories_are_compared),
		cmocka_unit_test(noise_of_whole_numbers),
		cmocka_unit_test(nothing_to_tune),
		cmocka_unit_test(another_input_is_tuned),
		cmocka_unit_test(composed_noises),
		cmocka_unit_test(calibrated_noise),
		cmocka_unit_test(programs_are_asked),
		cmocka_unit_test(a_metric_is_held),
		cmocka_unit_test(an_epsilon_that_is_a_metric),
		cmocka_unit_test(what_is_maximised_is_held_from_below),
		cmocka_unit_test(constraints_hold),
		cmocka_unit_test(three_objectives),
		cmocka_unit_test(all_is_computed),
		cmocka_unit_test(paths_are_parameters_here),
		cmocka_unit_test(impossible_levels),
		cmocka_unit_test(impossible_constraints),
		cmocka_unit_test(huge_levels),
		cmocka_unit_test(a_cancelled_search_ends),
		cmocka_unit_test(answers_repeat_bit_for_bit),
		cmocka_unit_test(trust_is_what_left_out_results_say),
		cmocka_unit_test(few_results_are_not_trusted),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
