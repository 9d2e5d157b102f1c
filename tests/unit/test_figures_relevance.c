/* test_figures_relevance.c - which parameters matter, the incumbent, and points that are
 * thinned out. */
#include "made_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- relevance ---- */

static void shares_of_a_model(void **state)
{
	struct subject *s;
	double share[3];

	(void)state;
	made_study(CUBE);
	made_scatter(40, by_a_and_c);
	s = made_subject(true);
	assert_true(space_model_shares(s, 1, share));
	assert_near(share[0] + share[1] + share[2], 1, 1e-12);
	assert_true(share[2] > share[0] && share[0] > share[1]);
	assert_false(space_oracle_shares(s, 1, s->results.known[0].x, share));
}

static void shares_of_an_oracle(void **state)
{
	const double at[] = { 5, 10, 1 };
	double share[3], c, b;
	struct subject *s;

	(void)state;
	made_study(HEAD "parameters: {z: {type: float, range: [0, 10]}, " SVT_SPACE
			"}\n" SVT RANDOM);
	made_trial("ok", (const double[]){ 5, 10, 1 }, (const double[]){ 1, 0.5 });
	s = made_subject(true);
	assert_false(space_model_shares(s, 0, share));
	assert_true(space_oracle_shares(s, 0, at, share));
	assert_true(share[0] == 0);
	/* how far log epsilon goes, by the closed form */
	c = log(made_svt(30, 1) / made_svt(1, 1));
	b = log(1e4);
	assert_near(share[1], c / (c + b), 1e-9);
	assert_near(share[2], b / (c + b), 1e-9);
	assert_false(space_oracle_slow(s, 0));
}

/* Thousands of loss distributions would take half a minute. */
static void a_slow_oracle_is_not_asked(void **state)
{
	double share[2];
	struct space_slice c;
	struct subject *s;

	(void)state;
	made_study(HEAD
		   "parameters: {n: {type: float, range: [1, 9]}, e: {type: int, range: "
		   "[1, 9]}}\nobjectives: {epsilon: {privacy: {mechanism: dp-sgd, "
		   "sampling: poisson, records: 1000, lot: 10, epochs: e, "
		   "noise_multiplier: n, delta: 1e-5, accountant: pld}}, error: "
		   "{metric: error}}\nanti_ideal: {epsilon: 10, error: 1}\n" RANDOM);
	TRIAL(V(2, 3), V(1, 0.5));
	s = made_subject(true);
	assert_null(s->models);
	assert_true(space_oracle_slow(s, 0));
	assert_false(space_oracle_shares(s, 0, s->results.known[0].x, share));
	assert_int_equal(space_slice(s, true, &c, &made_err), DP_OK);
	assert_int_equal(space_source(&c, 0), SPACE_NEAREST);
	space_slice_free(&c);
	TRIAL(V(3, 4), V(0.9, 0.6));
	TRIAL(V(4, 5), V(0.8, 0.7));
	dp_results_free(&s->results);
	free(s->points);
	free(s);
	s = made_subject(true);
	assert_true(space_oracle_slow(s, 0));
	assert_int_equal(space_slice(s, true, &c, &made_err), DP_OK);
	assert_int_equal(space_source(&c, 0), SPACE_PREDICTED);
	space_slice_free(&c);
}

static void what_is_shown_is_what_matters(void **state)
{
	size_t param[DP_PARAMS_MAX], all;
	struct subject *s;

	(void)state;
	made_study(CUBE);
	made_scatter(40, by_a_and_c);
	s = made_subject(true);
	assert_int_equal(space_rank(s, s->results.known[0].x, param), 3);
	assert_int_equal(param[2], 1);
	assert_int_equal(space_shown(s, s->results.known[0].x, 2, param, &all), 2);
	assert_int_equal(all, 3);
	assert_true(param[0] == 0 && param[1] == 2);
	/* without models and oracles: the order of the file */
	dp_proposer_free(s->models);
	s->models = NULL;
	assert_int_equal(space_rank(s, s->results.known[0].x, param), 3);
	assert_true(param[0] == 0 && param[1] == 1 && param[2] == 2);
}

/* ---- the incumbent ---- */

static void the_knee(void **state)
{
	double x[] = { 0.1, 1, 8, 1000 }, y[] = { 0.9, 0.2, 0.15, 0 };
	double far[] = { 20, 100, 1000 }, low[] = { 0.9, 0.1, 0 };
	struct fig_points front = { .x = x, .y = y, .n = 4 };
	struct fig_points outside = { .x = far, .y = low, .n = 3 };
	struct subject *s;

	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	s = made_subject(false);
	assert_int_equal(space_knee(s, &front), 1);
	x[1] = 11; /* beyond the anti-ideal it does not count */
	assert_int_equal(space_knee(s, &front), 2);
	assert_int_equal(space_knee(s, &outside), 1); /* unless all are */
}

/* Between 0.1 and 8 epsilon 3 is in the middle by the number, 0.9 by the logarithm. */
static void the_knee_counts_epsilon_by_its_logarithm(void **state)
{
	double x[] = { 0.1, 0.3, 3, 8 }, y[] = { 0.9, 0.63, 0.315, 0 };
	struct fig_points front = { .x = x, .y = y, .n = 4 };

	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	assert_int_equal(space_knee(made_subject(false), &front), 1);
}

static void the_knee_of_what_is_maximised(void **state)
{
	double x[] = { 1, 2, 9 }, y[] = { 0.1, 0.8, 0.9 };
	struct fig_points front = { .x = x, .y = y, .n = 3 };

	(void)state;
	made_study(HEAD
		   "parameters: {u: {type: float, range: [0, 1]}}\nobjectives: {a: "
		   "{metric: a}, b: {metric: b, goal: maximize}}\nanti_ideal: {a: 10, "
		   "b: 0}\n" RANDOM);
	assert_int_equal(space_knee(made_subject(false), &front), 1);
}

static void an_incumbent_without_a_front(void **state)
{
	struct space_through t;
	struct subject *s;

	(void)state;
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC
			"constraints: {never: \"<= 0\"}\n" RANDOM);
	s = made_subject(false);
	assert_int_equal(space_incumbent(s, &t, &made_err), DP_OK);
	assert_false(t.known);
	made_free(NULL);
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC
			"constraints: {never: \"<= 0\"}\n" RANDOM);
	made_trial("failed", (const double[]){ 0.5 }, (const double[]){ NAN, NAN });
	made_trial("ok", (const double[]){ 0.5 }, (const double[]){ 1, 2 });
	s = made_subject(false);
	assert_int_equal(space_incumbent(s, &t, &made_err), DP_OK);
	assert_true(t.known);
	assert_int_equal(t.point.trial, 1);
}

/* ---- points ---- */

static void many_points_are_thinned_out(void **state)
{
	struct space_where x = { false, 0 }, a = { true, 0 };
	struct fig_points p;
	struct subject *s;

	(void)state;
	made_study(CUBE);
	made_scatter(2500, by_a_and_c);
	made_trial("failed", (const double[]){ 0, 0, 0 }, (const double[]){ 0, 0 });
	made_trial("ok", (const double[]){ 0, 0, 0 }, (const double[]){ INFINITY, 0 });
	s = made_subject(false);
	assert_int_equal(space_places(s, NULL, x, a, &p, &made_err), DP_OK);
	assert_true(p.n == SPACE_POINTS_MAX || p.n == SPACE_POINTS_MAX - 1);
	for (size_t i = 0; i < p.n; i++) {
		assert_true(p.x[i] == s->s->trials[p.of[i].trial]->x[0]);
		assert_true(isfinite(p.y[i]));
		/* evenly: the i-th of 1000 is about the 2.5 i-th trial */
		assert_true(fabs((double)p.of[i].trial - 2.5 * (double)i) < 5);
	}
	fig_points_free(&p);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, made_free)
	const struct CMUnitTest tests[] = {
		TEST(shares_of_a_model),
		TEST(shares_of_an_oracle),
		TEST(a_slow_oracle_is_not_asked),
		TEST(what_is_shown_is_what_matters),
		TEST(the_knee),
		TEST(the_knee_counts_epsilon_by_its_logarithm),
		TEST(the_knee_of_what_is_maximised),
		TEST(an_incumbent_without_a_front),
		TEST(many_points_are_thinned_out),
	};
#undef TEST
	dp_linalg_single_thread();
	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
