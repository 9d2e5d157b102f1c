/* test_figures_importance.c - which parameters matter, the incumbent, and points that are
 * thinned out. */
#include "tests/unit/support/made_space.h"
#include "reports/figures/figure_render.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- relevance ---- */

/* y[1] = 3 + cos(7 c) - a on the unit cube: variances add up. */
static void shares_of_a_model(void **state)
{
	double waves = 0.5 + sin(14) / 28 - pow(sin(7) / 7, 2), slope = 1.0 / 12;
	const struct dp_importance *i;
	struct study_data *s;

	(void)state;
	made_study(CUBE);
	made_scatter(60, by_a_and_c);
	s = made_subject(true);
	i = &s->importance[1];
	assert_int_equal(i->source, DP_IMPORTANCE_MODELLED);
	assert_near(i->first_order[2], waves / (waves + slope), 0.03);
	assert_near(i->total_order[2], waves / (waves + slope), 0.03);
	assert_near(i->first_order[0], slope / (waves + slope), 0.03);
	assert_near(i->total_order[1], 0, 0.01);
}

static void shares_of_an_oracle(void **state)
{
	double b = pow(log(1e4), 2) / 12, sum = 0, squares = 0, c;
	struct study_data *s;

	(void)state;
	made_study(HEAD "parameters: {z: {type: float, range: [0, 10]}, " SVT_SPACE
			"}\n" SVT RANDOM);
	made_trial("ok", (const double[]){ 5, 10, 1 }, (const double[]){ 1, 0.5 });
	s = made_subject(true);
	assert_null(s->surrogates);
	for (int n = 1; n <= 30; n++) {
		sum += log(made_svt(n, 1)) / 30;
		squares += pow(log(made_svt(n, 1)), 2) / 30;
	}
	c = squares - sum * sum;
	assert_int_equal(s->importance[0].source, DP_IMPORTANCE_COMPUTED);
	assert_int_equal(s->importance[1].source, DP_IMPORTANCE_UNKNOWN);
	assert_true(s->importance[0].total_order[0] == 0);
	assert_near(s->importance[0].total_order[1], c / (b + c), 0.01);
	assert_near(s->importance[0].total_order[2], b / (b + c), 0.01);
	assert_false(space_is_accountant_slow(s, 0));
	/* b, C, z: by what is known */
	assert_true(s->nranked == 3 && s->ranking[0] == 2 && s->ranking[1] == 1);
}

/* Thousands of loss distributions would take half a minute. */
static void a_slow_oracle_is_not_asked(void **state)
{
	struct space_slice c;
	struct study_data *s;

	(void)state;
	made_study(HEAD "parameters: {n: {type: float, range: [1, 9]}, e: {type: int, range: "
			"[1, 9]}}\nobjectives: {epsilon: {privacy: {mechanism: dp-sgd, "
			"sampling: poisson, records: 1000, lot: 10, epochs: e, "
			"noise_multiplier: n, delta: 1e-5, accountant: pld}}, error: "
			"{metric: error}}\nanti_ideal: {epsilon: 10, error: 1}\n" RANDOM);
	TRIAL(V(2, 3), V(1, 0.5));
	s = made_subject(true);
	assert_null(s->surrogates);
	assert_true(space_is_accountant_slow(s, 0));
	assert_int_equal(s->importance[0].source, DP_IMPORTANCE_UNKNOWN);
	c = space_slice(&made_mem, s, true);
	assert_int_equal(space_source(&c, 0), SPACE_NEAREST);
	for (int i = 1; i < 9; i++)
		TRIAL(V(1.0 + i, 1.0 + i % 4), V(1 - 0.1 * i, 0.5 + 0.05 * i));
	dp_history_subset_free(&s->results);
	free(s->points);
	free(s);
	s = made_subject(true);
	assert_true(space_is_accountant_slow(s, 0));
	c = space_slice(&made_mem, s, true);
	assert_int_equal(space_source(&c, 0), SPACE_PREDICTED);
}

static void what_is_shown_is_what_matters(void **state)
{
	size_t param[DP_PARAMS_MAX], all;
	struct rendered_figure p;
	struct study_data *s;

	(void)state;
	made_study(CUBE);
	made_scatter(40, by_a_and_c);
	s = made_subject(true);
	assert_int_equal(s->nranked, 3);
	assert_int_equal(s->ranking[2], 1);
	assert_int_equal(space_top_params(s, 2, param, &all), 2);
	assert_int_equal(all, 3);
	assert_true(param[0] == 0 && param[1] == 2);
	/* the same one in words */
	figure_render(&made_report, &figure_relevance, &p);
	assert_non_null(strstr(dp_buf_text(&p.caption),
			       s->ranking[0] == 2 ? " c matters most: " : " a matters most: "));
	rendered_figure_free(&p);
	/* without models and oracles: the order of the file */
	dp_proposer_free(s->surrogates);
	s->surrogates = NULL;
	assert_int_equal(study_data_assess_surrogates(s, &made_err), DP_OK);
	assert_true(s->ranking[0] == 0 && s->ranking[1] == 1 && s->ranking[2] == 2);
}

/* ---- the incumbent ---- */

static void the_knee(void **state)
{
	double x[] = { 0.1, 1, 8, 1000 }, y[] = { 0.9, 0.2, 0.15, 0 };
	double far[] = { 20, 100, 1000 }, low[] = { 0.9, 0.1, 0 };
	struct fig_points front = { .x = x, .y = y, .n = 4 };
	struct fig_points outside = { .x = far, .y = low, .n = 3 };
	struct study_data *s;

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
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}}\nobjectives: {a: "
			"{metric: a}, b: {metric: b, goal: maximize}}\nanti_ideal: {a: 10, "
			"b: 0}\n" RANDOM);
	assert_int_equal(space_knee(made_subject(false), &front), 1);
}

static void an_incumbent_without_a_front(void **state)
{
	struct space_anchor t;
	struct study_data *s;

	(void)state;
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC
			"constraints: {never: \"<= 0\"}\n" RANDOM);
	s = made_subject(false);
	t = space_find_anchor(s);
	assert_false(t.is_known);
	made_free(NULL);
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC
			"constraints: {never: \"<= 0\"}\n" RANDOM);
	made_trial("failed", (const double[]){ 0.5 }, (const double[]){ NAN, NAN });
	made_trial("ok", (const double[]){ 0.5 }, (const double[]){ 1, 2 });
	s = made_subject(false);
	t = space_find_anchor(s);
	assert_true(t.is_known);
	assert_int_equal(t.point.trial, 1);
}

/* ---- points ---- */

static void many_points_are_thinned_out(void **state)
{
	struct fig_points p;
	struct study_data *s;

	(void)state;
	made_study(CUBE);
	made_scatter(2500, by_a_and_c);
	made_trial("failed", (const double[]){ 0, 0, 0 }, (const double[]){ 0, 0 });
	made_trial("ok", (const double[]){ 0, 0, 0 }, (const double[]){ INFINITY, 0 });
	s = made_subject(false);
	p = space_collect_points(&made_mem, s, NULL, 0, SPACE_OBJECTIVE);
	assert_true(p.n == SPACE_POINTS_MAX || p.n == SPACE_POINTS_MAX - 1);
	for (size_t i = 0; i < p.n; i++) {
		assert_true(p.x[i] == s->state->trials[p.results[i].trial]->x[0]);
		assert_true(isfinite(p.y[i]));
		/* evenly: the i-th of 1000 is about the 2.5 i-th trial */
		assert_true(fabs((double)p.results[i].trial - 2.5 * (double)i) < 5);
	}
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
	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
