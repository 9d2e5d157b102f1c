/* test_figures_model_fit.c - whether models can be trusted, and what is shown where they
 * cannot.
 */
#include "base/rng.h"
#include "tests/unit/support/made_space.h"
#include "reports/figures/figure_render.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#define SQUARE                                                                                     \
	HEAD "parameters: {a: {type: float, range: [0, 1]}, b: {type: float, range: "              \
	     "[0, 1]}, c: {type: float, range: [0, 1]}}\n" TWO_METRIC RANDOM

static double noise(double sd)
{
	static uint32_t call;
	struct dp_rng r;

	dp_rng_init(&r, 11, DP_RNG_TEST, call++, 0);
	return sd * dp_rng_normal(&r);
}

static void noisy_waves(const double *x, double *y)
{
	y[0] = 3 + sin(4 * x[0]) + x[1] + noise(0.1);
	y[1] = 3 + cos(4 * x[0]) - x[1] + noise(0.1);
}

static void only_noise(const double *x, double *y)
{
	y[0] = 3 + 2 * x[0];
	y[1] = 3 + noise(1);
}

static bool is_figure_of(const struct rendered_figure *list, size_t n, const char *name, bool drawn)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].figure->name, name) == 0)
			return drawn == (list[i].png.len > 0);
	return false;
}

/* Noise of 0.1 in values whose variance is about 0.5. */
static void a_good_model(void **state)
{
	const struct surrogate_fit *fit;
	struct study_data *s;
	struct rendered_figure p;

	(void)state;
	made_study(SQUARE);
	made_scatter(80, noisy_waves);
	s = made_subject(true);
	fit = &s->fit[1];
	assert_true(fit->has_model && fit->trusted && fit->reason[0] == '\0');
	assert_int_equal(fit->n_left_out, 80);
	assert_true(fit->coverage >= 0.85);
	assert_true(fit->variance_explained > 0.9 && fit->variance_explained < 0.995);
	assert_true(fit->rmse > 0.08 && fit->rmse < 0.2);
	assert_null(study_data_find_untrusted(s));
	figure_render(&made_report, &figure_fit, &p);
	assert_true(p.png.len > 1000);
	assert_non_null(strstr(dp_buf_text(&p.caption), "Each of 80 results, left out"));
	assert_null(strstr(dp_buf_text(&p.caption), "not shown"));
	rendered_figure_free(&p);
}

/* A model that explains nothing: a sentence instead of pictures of it, and it has no say
 * in what matters. */
static void a_model_of_noise(void **state)
{
	struct study_data *s;
	struct rendered_figure *list;
	size_t n;

	(void)state;
	made_study(SQUARE);
	made_scatter(60, only_noise);
	s = made_subject(true);
	assert_true(s->fit[0].trusted && !s->fit[1].trusted);
	assert_true(s->fit[1].variance_explained < 0.5);
	assert_non_null(strstr(s->fit[1].reason, "the model of b is not to be trusted"));
	assert_int_equal(s->importance[0].source, DP_IMPORTANCE_MODELLED);
	assert_int_equal(s->importance[1].source, DP_IMPORTANCE_UNKNOWN);
	assert_int_equal(s->ranking[0], 0);
	assert_int_equal(figures_render(&made_report, NULL, &list, &n, &made_err), DP_OK);
	assert_true(is_figure_of(list, n, "fit", true));
	assert_true(is_figure_of(list, n, "relevance", true));
	assert_true(is_figure_of(list, n, "surrogates", false));
	assert_true(is_figure_of(list, n, "pairs", false));
	assert_true(is_figure_of(list, n, "oracles", true)); /* of what was evaluated */
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].figure->name, "surrogates") == 0)
			assert_string_equal(list[i].reason, s->fit[1].reason);
	rendered_figures_free(list, n);
}

static void too_few_results(void **state)
{
	struct study_data *s;

	(void)state;
	made_study(SQUARE);
	made_scatter(4, noisy_waves);
	s = made_subject(true);
	assert_non_null(s->surrogates);
	assert_string_equal(s->fit[0].reason, "the model of a has only 4 results to go by");
	assert_ptr_equal(study_data_find_untrusted(s), &s->fit[0]);
}

/* A result of another study is drawn as one without a checkpoint here. */
static void an_imported_result(void **state)
{
	double x[] = { 0.4, 0.4, 0.4 }, y[] = { 4, 3 };
	struct rendered_figure p;
	struct study_data *s;

	(void)state;
	made_study(SQUARE);
	made_scatter(12, noisy_waves);
	made_apply((struct dp_event){ .type = DP_EV_RESULT_IMPORTED,
				      .result_imported = { .study_name = "other",
							   .params = x,
							   .nparams = 3,
							   .objectives = y,
							   .nobjectives = 2 } });
	s = made_subject(true);
	assert_int_equal(s->results.nimported, 1);
	assert_int_equal(study_data_checkpoint_of(s, study_data_model_result(s, 0)), -1);
	figure_render(&made_report, &figure_fit, &p);
	assert_true(p.png.len > 1000);
	rendered_figure_free(&p);
}

/* What examples/svt-grid.yaml gave: a row for each C, from b = 0.01 to 100. With C = 1
 * most is missed whatever b is, with more the error goes to 0. What lies between nobody
 * has seen, and a model of logits dips there. */
static const double grid_C[10] = { 1, 4, 7, 11, 14, 17, 20, 24, 27, 30 };
static const double grid_error[10][10] = {
	{ 0.8182, 0.8182, 0.8182, 0.8473, 0.8945, 0.9527, 0.9673, 0.9782, 0.9818, 0.9745 },
	{ 0.4286, 0.4286, 0.4286, 0.5, 0.76, 0.8857, 0.92, 0.9257, 0.9343, 0.9229 },
	{ 0.1765, 0.1765, 0.1765, 0.3176, 0.7035, 0.8587, 0.8938, 0.8965, 0.8824, 0.9341 },
	{ 0, 0, 0, 0.1212, 0.6243, 0.7981, 0.8495, 0.8742, 0.8933, 0.9124 },
	{ 0, 0, 0, 0.1098, 0.5695, 0.7757, 0.867, 0.8733, 0.8833, 0.883 },
	{ 0, 0, 0, 0.1251, 0.5197, 0.7561, 0.8443, 0.8502, 0.8658, 0.8889 },
	{ 0, 0, 0.001053, 0.1152, 0.5413, 0.7883, 0.8464, 0.8427, 0.8663, 0.8816 },
	{ 0, 0, 0, 0.1291, 0.5302, 0.7493, 0.8316, 0.8339, 0.8635, 0.8702 },
	{ 0, 0, 0.001905, 0.121, 0.5566, 0.7593, 0.8317, 0.8665, 0.8493, 0.8534 },
	{ 0, 0, 0, 0.1112, 0.5066, 0.7476, 0.8274, 0.8537, 0.8428, 0.8602 },
};

static void between_the_columns_of_a_grid(void **state)
{
	double promised = 0;
	size_t in_sight = 0;
	struct study_data *s;
	struct space_slice c;

	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\nobjectives: {epsilon: {privacy: "
			"{mechanism: svt, cutoff: C, scale: b}}, error: {metric: error, "
			"transform: logit}}\nanti_ideal: {epsilon: 10, error: 1}\n" RANDOM);
	for (int i = 0; i < 100; i++) {
		double C = grid_C[i / 10], b = pow(10, -2 + 4.0 / 9 * (i % 10));

		TRIAL(V(C, b), V(made_svt(C, b), grid_error[i / 10][i % 10]));
	}
	s = made_subject(true);
	/* where straight lines join the logits of neighbours b alone explains 77 % of
	 * what varies over all C and b, and C alone 13 % */
	assert_near(s->importance[1].first_order[1], 0.774, 0.05);
	assert_near(s->importance[1].first_order[0], 0.129, 0.05);
	assert_int_equal(s->ranking[0], 1);
	c = space_slice(&made_mem, s, false);
	space_predict(&made_mem, &c);
	for (size_t i = 0; i < space_count_cells(&c); i++) {
		const struct dp_prediction *y = &c.predictions[2 * i + 1];

		if (isnan(y->value)) {
			assert_true(isnan(c.acquisition[i]));
			continue;
		}
		in_sight++;
		promised = fmax(promised, c.acquisition[i]);
		/* what is shown has an interval that says something */
		assert_true(y->hi - y->lo <= 0.5);
	}
	assert_int_equal(in_sight + c.n_blank, space_count_cells(&c));
	assert_true(in_sight > space_count_cells(&c) / 2 && c.n_blank > 0);
	assert_true(promised < 0.25 * s->state->hypervolume);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, made_free)
	const struct CMUnitTest tests[] = {
		TEST(a_good_model),
		TEST(a_model_of_noise),
		TEST(too_few_results),
		TEST(an_imported_result),
		TEST(between_the_columns_of_a_grid),
	};
#undef TEST
	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
