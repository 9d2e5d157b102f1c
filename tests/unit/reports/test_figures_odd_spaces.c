/* test_figures_odd_spaces.c - every picture of the parameter space on odd studies. */
#include "tests/unit/support/made_space.h"
#include "reports/figures/figure_render.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static const struct figure *const figures[] = {
	&figure_objective_maps,  &figure_surrogates, &figure_fit,       &figure_pairs,
	&figure_hyperparameters, &figure_parallel,   &figure_relevance, &figure_objectives,
};

/* ---- every picture on odd studies ---- */

static struct rendered_figure draw(const struct figure *f)
{
	struct rendered_figure p;

	figure_render(&made_report, f, &p);
	if (p.reason[0] && !p.has_nothing_to_show)
		fail_msg("%s: %s", f->name, p.reason);
	if (!p.has_nothing_to_show)
		assert_true(p.png.len > 1000 && memcmp(p.png.data, "\x89PNG", 4) == 0);
	return p;
}

/* Draws those that `expected` names; no other has anything to show. */
static void draw_all(const char *expected)
{
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct rendered_figure p = draw(figures[i]);
		char file[FIGURE_FILENAME_LEN];
		bool due =
			strstr(expected, figure_format_filename(figures[i], "png", file)) != NULL;

		if (p.has_nothing_to_show == due)
			fail_msg("%s is there: %d", figures[i]->name, !due);
		if (due)
			assert_true(p.caption.len > 20 && p.caption.data[p.caption.len - 1] == '.');
		else
			assert_true(strlen(p.reason) > 10);
		rendered_figure_free(&p);
	}
}

static void assert_caption(const struct figure *f, const char *words)
{
	struct rendered_figure p;

	made_report.figure_output.formats = 0; /* painting takes most of the time */
	figure_render(&made_report, f, &p);
	made_report.figure_output.formats = FIGURE_PNG;
	if (!strstr(dp_buf_text(&p.caption), words))
		fail_msg("%s: no '%s' in %s", f->name, words, dp_buf_text(&p.caption));
	rendered_figure_free(&p);
}

static void by_noise(const double *x, double *y)
{
	y[0] = made_svt(x[0], x[1]);
	y[1] = 0.5 - 0.4 / (1 + x[1]) + 0.01 * x[0];
}

static void smooth(const double *x, double *y)
{
	y[0] = 2 + sin(3 * x[0]);
	y[1] = 2 + cos(3 * x[0]);
	y[2] = 1 + x[0] * x[0];
}

static void one_parameter(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC RANDOM);
	made_scatter(12, smooth);
	made_subject(true);
	draw_all("oracles.png fit.png surrogates.png hyperparameters.png");
	assert_caption(&figure_objective_maps, "Both objectives against u for 12 evaluations");
}

static void only_fixed_parameters(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {u: {fixed: 1}}\n" TWO_METRIC RANDOM);
	made_scatter(3, smooth);
	made_subject(true);
	draw_all("");
}

static void slopes(const double *x, double *y)
{
	y[0] = 2 + x[0] / 9 + 0.2 * x[3];
	y[1] = 2 - x[0] / 9;
}

static void thirteen_parameters_and_long_names(void **state)
{
	struct dp_buf text = DP_BUF_INIT;

	(void)state;
	dp_buf_puts(&text, HEAD "parameters:\n");
	for (int i = 0; i < 13; i++)
		dp_buf_printf(&text, "  %s%d: {%s}\n",
			      i == 5 ? "a_name_of_sixty_characters_and_more_and_more_and_" : "p", i,
			      i % 4 == 0   ? "type: int, range: [1, 9]"
			      : i % 4 == 1 ? "type: float, range: [1e-9, 1], scale: log"
			      : i % 4 == 2 ? "type: categorical, values: [x, 2, true]"
					   : "type: float, range: [-1, 1]");
	dp_buf_puts(&text, TWO_METRIC RANDOM);
	made_study(dp_buf_text(&text));
	dp_buf_free(&text);
	made_scatter(30, slopes);
	made_subject(true);
	draw_all("oracles.png fit.png surrogates.png pairs.png hyperparameters.png "
		 "parallel.png "
		 "relevance.png");
}

static void only_categories_all_taken(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {p: {type: categorical, values: [x, y]}, q: {type: "
			"categorical, values: [u, v, w]}}\n" TWO_METRIC RANDOM);
	for (int i = 0; i < 6; i++)
		TRIAL(V((double)(i % 2), (double)(i / 2)), V(1.0 + i, 7.0 - i));
	made_subject(true);
	draw_all("oracles.png fit.png surrogates.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void three_objectives(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}, i: {type: int, range: "
			"[1, 9]}, j: {type: int, range: [1, 9]}}\nobjectives: {a: {metric: "
			"a}, b: {metric: b, goal: maximize}, c: {metric: c}}\nanti_ideal: "
			"{a: 10, b: 0, c: 10}\n" RANDOM);
	made_scatter(20, smooth);
	made_subject(true);
	draw_all("oracles.png fit.png surrogates.png pairs.png hyperparameters.png "
		 "parallel.png "
		 "relevance.png objectives.png");
}

/* All points are on the front, four of them on that of a and b alone; the third objective
 * rises or falls. */
static struct rendered_figure of_three(const struct figure *f, bool rises)
{
	struct rendered_figure p;

	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}, v: {type: float, "
			"range: [0, 1]}}\nobjectives: {a: {metric: a}, b: {metric: b}, "
			"c: {metric: c}}\nanti_ideal: {a: 99, b: 99, c: 99}\n" RANDOM);
	for (int i = 0; i < 8; i++)
		TRIAL(V(0.1 * i, 0.5),
		      V(1.0 + i, i < 4 ? 8.0 - i : 5.0 + i, rises ? 20.0 - i : 9.0 - i));
	made_subject(false);
	assert_int_equal(made_report.studies->state->nfront, 8);
	assert_caption(&figure_front, "8 of 8 points are on the front of all 3 "
				      "objectives, and 4 on that of a and b alone");
	assert_caption(&figure_parallel, "all 8 of the front below");
	assert_caption(&figure_objective_maps, "4 points of the front of a and b alone");
	assert_caption(&figure_objectives, "8 points of the front of all 3 objectives");
	p = draw(f);
	made_free(NULL);
	return p;
}

static void three_objectives_are_seen(void **state)
{
	static const struct figure *const seen[] = { &figure_parallel, &figure_objectives };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(seen); i++) {
		struct rendered_figure up = of_three(seen[i], true);
		struct rendered_figure down = of_three(seen[i], false);

		assert_true(up.png.len != down.png.len ||
			    memcmp(up.png.data, down.png.data, up.png.len) != 0);
		rendered_figure_free(&up);
		rendered_figure_free(&down);
	}
}

static void the_front_is_seen_whole(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}, v: {type: float, "
			"range: [0, 1]}}\n" TWO_METRIC RANDOM);
	for (int i = 0; i < 100; i++)
		TRIAL(V(0.01 * i, 0.5), V(1.0 + i, 100.0 - i));
	made_subject(false);
	assert_caption(&figure_parallel, "60 of 100 points above");
	assert_caption(&figure_parallel, "all 100 of the front below");
}

/* Of six parameters the last one falls along the front, and the words say so. */
static void the_clearest_trend_is_named(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {p: {type: float, range: [0, 1]}, q: {type: float, "
			"range: [0, 1]}, r: {type: float, range: [0, 1]}, s: {type: float, "
			"range: [0, 1]}, t: {type: float, range: [0, 1]}, noise: {type: "
			"float, range: [0, 1]}}\n" TWO_METRIC RANDOM);
	for (int i = 0; i < 9; i++)
		TRIAL(V(0.1 * (i * 2 % 9), 0.1 * (i * 4 % 9), 0.1 * (i * 5 % 9), 0.1 * (i * 7 % 9),
			0.5, 0.9 - 0.1 * i),
		      V(1.0 + i, 9.0 - i));
	made_subject(false);
	assert_caption(&figure_hyperparameters,
		       "to a 9: noise falls (0.9 to 0.1); the others show no clear trend.");
}

/* Four points in a row are no trend, whatever their order. */
static void few_points_are_no_trend(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	for (int i = 0; i < 4; i++)
		TRIAL(V(1, 100 / pow(10, i)), V(made_svt(1, 100 / pow(10, i)), 0.9 - 0.2 * i));
	made_subject(false);
	assert_caption(&figure_hyperparameters, "to ε 58.5, no meaningful guarantee: none "
						"shows a clear trend.");
}

/* Real numbers have three digits, and what the place promises is told in percent of what
 * there is; where that is next to nothing, that. */
static void a_promise_is_told(void **state)
{
	struct study_data *s;

	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT
			"search: {method: dpareto, evaluations: 100}\n");
	made_scatter(16, by_noise);
	s = made_subject(true);
	assert_caption(&figure_surrogates, "the star marks the most promising place, C ");
	s->state->hypervolume = s->smoothed.hypervolume = 1e9;
	assert_caption(&figure_surrogates, "less than 0.1 % more hypervolume is expected");
	s->state->hypervolume = s->smoothed.hypervolume = 1e-9;
	assert_caption(&figure_surrogates, "which is not to be believed.");
}

/* What has next to no part in anything has no bar. */
static void what_does_not_matter_is_counted(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {C: {type: int, range: [1, 30]}, p: {type: float, "
			"range: [0, 1]}, q: {type: float, range: [0, 1]}, b: {type: float, "
			"range: [0.01, 100], scale: log}}\n" SVT RANDOM);
	TRIAL(V(3, 0.5, 0.5, 1), V(made_svt(3, 1), 0.5));
	made_subject(false);
	assert_caption(&figure_relevance, "Not shown: 2 parameters with less than 1 % of any.");
}

/* What a model knows between the points is shown, with two parameters, too. */
static void a_model_is_better_than_the_nearest_point(void **state)
{
	struct space_slice c;

	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	made_scatter(16, by_noise);
	c = space_slice(&made_mem, made_subject(true), true);
	assert_int_equal(space_source(&c, 1), SPACE_PREDICTED);
	assert_caption(&figure_objective_maps, "as predicted by the model of 16 results (white)");
}

static void one_point_is_too_few_for_models(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	made_scatter(1, nothing_matters);
	assert_null(made_subject(true)->surrogates);
	draw_all("oracles.png hyperparameters.png relevance.png"); /* of epsilon alone */
}

static void no_point_at_all(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	made_trial("failed", (const double[]){ 3, 1 }, (const double[]){ NAN, NAN });
	made_trial("diverged", (const double[]){ 4, 1 }, (const double[]){ 5, NAN });
	made_subject(true);
	draw_all("");
	made_report.nstudies = 0;
	draw_all("");
	made_report.nstudies = 1;
}

static void to_infinity(const double *x, double *y)
{
	y[0] = x[1] < 1 ? INFINITY : made_svt(x[0], x[1]);
	y[1] = 0.5 + 0.4 * sin(x[0]);
}

static void an_infinite_epsilon(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	made_scatter(12, to_infinity);
	made_subject(true);
	draw_all("oracles.png fit.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void only_infinite_epsilons(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	made_trial("ok", (const double[]){ 3, 0.1 }, (const double[]){ INFINITY, 0.1 });
	made_trial("ok", (const double[]){ 9, 0.2 }, (const double[]){ INFINITY, 0.2 });
	made_subject(true);
	draw_all("oracles.png fit.png relevance.png");
}

static void ten_decades(const double *x, double *y)
{
	y[0] = pow(x[0], 2);
	y[1] = 1 / x[0];
}

static void values_over_ten_decades(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {t: {type: float, range: [1e-5, 1e5], scale: log}, i: "
			"{type: int, range: [1, 1000000], scale: log}}\nobjectives: {a: "
			"{metric: a, transform: log}, b: {metric: b}}\nanti_ideal: {a: 1e9, "
			"b: 1e9}\n" RANDOM);
	made_scatter(25, ten_decades);
	made_subject(true);
	draw_all("oracles.png fit.png surrogates.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void no_point_meets_the_constraints(void **state)
{
	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT
			"constraints: {never: \"<= 0\"}\n" RANDOM);
	made_scatter(5, nothing_matters);
	made_subject(true);
	draw_all("oracles.png fit.png surrogates.png relevance.png");
}

/* Noise that follows from C and t: axes of their own where points are shown, none where
 * the space is cut. */
#define FOLLOWING                                                                                  \
	HEAD "parameters: {C: {type: int, range: [1, 30]}, b: {calibrate: {epsilon: t, "           \
	     "mechanism: svt, cutoff: C}}, t: {type: float, range: [0.1, 10], scale: "             \
	     "log}}\n"

/* Epsilon over the plane is the target, without a training there or solving for it. */
static void check_targets(void)
{
	double x[] = { 7, NAN, 0.25 };
	struct dp_epsilon e;

	assert_false(space_is_accountant_slow(made_report.studies, 0));
	assert_int_equal(space_epsilon(made_report.studies->state->spec, 0, x, &e, &made_err),
			 DP_OK);
	assert_true(e.epsilon == 0.25);
}

static void check_following(bool models, const char *figures_due)
{
	size_t shown[DP_PARAMS_MAX], all;
	const struct study_data *s;

	made_study(FOLLOWING SVT RANDOM);
	made_scatter(16, by_noise);
	s = made_subject(models);
	assert_int_equal(space_searched_params(s->state->spec, shown), 2);
	assert_int_equal(space_top_params_with_calibrated(s, 12, shown, &all), 3);
	assert_true(all == 3 && shown[1] == 1);
	assert_int_equal(space_top_params_with_calibrated(s, 2, shown, &all), 2);
	assert_true(all == 3 && (shown[0] == 1 || shown[1] == 1));
	assert_int_equal(space_top_params(s, 12, shown, &all), 2);
	check_targets();
	draw_all(figures_due);
}

static void noise_that_follows(void **state)
{
	(void)state;
	check_following(true, "oracles.png fit.png surrogates.png hyperparameters.png "
			      "parallel.png relevance.png");
}

static void noise_that_follows_without_models(void **state)
{
	(void)state;
	check_following(false, "oracles.png hyperparameters.png parallel.png "
			       "relevance.png");
}

/* Where epsilon is more than the target it is solved for at the point itself. */
static void noise_that_follows_as_a_part(void **state)
{
	double x[] = { 7, 123, 0.25 }, solved[] = { 7, NAN, 0.25 };
	struct dp_epsilon e, by_hand;
	const struct dp_study *spec;

	(void)state;
	made_study(FOLLOWING
		   "objectives: {epsilon: {privacy: {compose: [{mechanism: laplace, scale: "
		   "b}, {mechanism: laplace, scale: 9}], delta: 0}}, error: {metric: "
		   "error}}\nanti_ideal: {epsilon: 10, error: 1}\n" RANDOM);
	made_scatter(16, by_noise);
	spec = made_subject(true)->state->spec;
	assert_true(space_is_accountant_slow(made_report.studies, 0));
	assert_int_equal(space_epsilon(spec, 0, x, &e, &made_err), DP_OK);
	assert_int_equal(dp_space_solve_calibrated(spec, solved, &made_err), DP_OK);
	assert_int_equal(dp_objective_epsilon(spec, 0, solved, &by_hand, &made_err), DP_OK);
	assert_true(e.epsilon == by_hand.epsilon);
	draw_all("oracles.png fit.png surrogates.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void the_same_study_gives_the_same_bytes(void **state)
{
	(void)state;
	made_study(CUBE);
	made_scatter(20, by_a_and_c);
	made_subject(true);
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct rendered_figure once = draw(figures[i]), twice = draw(figures[i]);

		assert_int_equal(once.png.len, twice.png.len);
		assert_memory_equal(once.png.data, twice.png.data, once.png.len);
		rendered_figure_free(&once);
		rendered_figure_free(&twice);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, made_free)
	const struct CMUnitTest tests[] = {
		TEST(one_parameter),
		TEST(only_fixed_parameters),
		TEST(thirteen_parameters_and_long_names),
		TEST(only_categories_all_taken),
		TEST(three_objectives),
		TEST(three_objectives_are_seen),
		TEST(the_front_is_seen_whole),
		TEST(the_clearest_trend_is_named),
		TEST(few_points_are_no_trend),
		TEST(a_promise_is_told),
		TEST(what_does_not_matter_is_counted),
		TEST(a_model_is_better_than_the_nearest_point),
		TEST(one_point_is_too_few_for_models),
		TEST(no_point_at_all),
		TEST(an_infinite_epsilon),
		TEST(only_infinite_epsilons),
		TEST(values_over_ten_decades),
		TEST(no_point_meets_the_constraints),
		TEST(noise_that_follows),
		TEST(noise_that_follows_without_models),
		TEST(noise_that_follows_as_a_part),
		TEST(the_same_study_gives_the_same_bytes),
	};
#undef TEST
	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
