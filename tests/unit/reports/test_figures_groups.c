/* test_figures_groups.c - groups of seeds: their means and bands, what they attain, their
 * looks, the true front, and studies side by side; against hand computations. */
#include "tests/unit/support/made_studies.h"
#include "reports/model/report_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct figure *const figures[] = {
	&figure_hypervolume_groups,
	&figure_seeds,
	&figure_attainment,
	&figure_scatter,
	&figure_panels,
};

/* Asks for these groups, ends with NULL. */
static int make_groups(const char *const *groups, struct dp_err *err)
{
	size_t n = 0;

	while (groups[n])
		n++;
	made_report.group_specs = calloc(n + 1, sizeof *made_report.group_specs);
	assert_non_null(made_report.group_specs);
	for (; made_report.ngroup_specs < n; made_report.ngroup_specs++)
		assert_int_equal(dp_group_spec_parse(
					 groups[made_report.ngroup_specs],
					 &made_report.group_specs[made_report.ngroup_specs], err),
				 DP_OK);
	return study_groups_build(&made_report, err);
}

static void made_groups(const char *const *groups)
{
	struct dp_err err = { .msg = "" };

	if (make_groups(groups, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

/* ---- means ---- */

/* Two seeds with areas 0, 1, 5 and 0, 4, 7, 9 below (10, 10). */
static void two_seeds(const char *objectives)
{
	uint32_t a = made_study("a", objectives), b = made_study("b", objectives);

	made_result(a, 9, 9);
	made_result(a, 5, 9);
	made_result(b, 8, 8);
	made_result(b, 9, 5);
	made_result(b, 6, 9);
}

static void a_mean_and_its_band(void **state)
{
	static const char *const groups[] = { "g=a,b", "one=b", NULL };
	struct fig_band m;
	size_t evaluations;

	(void)state;
	two_seeds(LOWER_BOTH);
	made_subjects();
	made_groups(groups);
	m = fig_compute_mean_curve(&made_mem, made_report.groups, 0, &evaluations);
	assert_int_equal(evaluations, 2); /* the shorter one's */
	assert_int_equal(m.n, 3);
	assert_true(m.mid[0] == 0 && m.mid[1] == 2.5 && m.mid[2] == 6);
	/* sd of 1 and 4 is 3 / sqrt(2); t with one degree of freedom is 12.7062 */
	assert_true(fabs(m.to[1] - (2.5 + 12.7062047364 * 1.5)) < 1e-6);
	assert_true(fabs(m.from[2] - (6 - 12.7062047364)) < 1e-6);
	m = fig_compute_mean_curve(&made_mem, made_report.groups, 1, &evaluations);
	assert_int_equal(m.n, 4);
	assert_true(m.mid[3] == 9 && isnan(m.from[3]));
}

static void parts_of_a_study_grow_alone(void **state)
{
	static const char *const groups[] = { "parts=b/1", NULL };
	struct fig_band m;
	size_t evaluations;

	(void)state;
	two_seeds(LOWER_BOTH);
	made_subjects();
	made_groups(groups);
	assert_int_equal(made_report.groups->contests[0].groups[0].n, 3);
	assert_false(made_report.groups->has_basis[BASIS_SMOOTHED]);
	m = fig_compute_mean_curve(&made_mem, made_report.groups, 0, &evaluations);
	assert_true(m.n == 2 && m.mid[1] == (4.0 + 5 + 4) / 3);
}

/* ---- attainment ---- */

/* The corners of the middle line, which is what one of two seeds attains. */
static void check_corners(const char *objectives, const double (*points)[2],
			  const double (*corners)[2], size_t n)
{
	static const char *const groups[] = { "g=a,b", NULL };
	uint32_t a = made_study("a", objectives), b = made_study("b", objectives);
	struct fig_band at;

	made_result(a, points[0][0], points[0][1]);
	made_result(a, points[1][0], points[1][1]);
	made_result(b, points[2][0], points[2][1]);
	made_subjects();
	made_groups(groups);
	at = fig_compute_attainment(&made_mem, made_report.groups, 0, NAN);
	assert_int_equal(at.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_true(at.x[i] == corners[i][0]);
		assert_true(at.mid[i] == corners[i][1]);
		assert_true(at.from[i] == at.mid[i]); /* of two, one is half */
	}
	/* both attain only what the worse of them does */
	assert_true(fig_median_attainment_at(made_report.studies, &at, points[1][0]) ==
		    points[1][1]);
	made_free(NULL);
	made_begin(NULL);
}

static void staircases_for_every_goal(void **state)
{
	const double low[][2] = { { 1, 5 }, { 3, 2 }, { 2, 4 } };
	const double low_corners[][2] = { { 1, 5 }, { 2, 5 }, { 2, 4 }, { 3, 4 }, { 3, 2 } };
	const double raise[][2] = { { 9, 5 }, { 7, 8 }, { 8, 6 } };
	const double raise_corners[][2] = { { 7, 8 }, { 7, 6 }, { 8, 6 }, { 8, 5 }, { 9, 5 } };

	(void)state;
	check_corners(LOWER_BOTH, low, low_corners, 5);
	check_corners(RAISE_BOTH, raise, raise_corners, 5);
}

static void what_all_attain_begins_later(void **state)
{
	static const char *const groups[] = { "g=a,b", NULL };
	struct fig_band at;

	(void)state;
	made_result(made_study("a", LOWER_BOTH), 1, 5);
	made_result(made_study("b", LOWER_BOTH), 2, 4);
	made_subjects();
	made_groups(groups);
	at = fig_compute_attainment(&made_mem, made_report.groups, 0, 6);
	assert_int_equal(at.n, 4);
	assert_true(isnan(at.to[0]) && isnan(at.to[1]));
	assert_true(at.to[2] == 5 && at.x[3] == 6 && at.from[3] == 4);
}

/* ---- looks ---- */

static void colour_by_model_and_dash_by_method(void **state)
{
	struct study_group list[] = { { NULL, 0, DP_METHOD_DPARETO },
				      { NULL, 0, DP_METHOD_RANDOM },
				      { NULL, 1, DP_METHOD_DPARETO },
				      { NULL, 1, DP_METHOD_GRID } };
	struct study_groups g = { .list = list, .contests = { { .n = 4 } }, .ntrainers = 2 };
	struct plot_style of[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		of[i] = fig_group_style(&g, i);
	assert_true(of[0].colour == of[1].colour && of[2].colour == of[3].colour);
	assert_true(of[0].colour != of[2].colour);
	assert_true(of[0].dash == PLOT_SOLID && of[1].dash == PLOT_DASHED);
	assert_true(of[2].dash == PLOT_SOLID && of[3].dash == PLOT_DOTTED);
	list[3].method = DP_METHOD_DPARETO; /* then two would look alike */
	assert_true(fig_group_style(&g, 2).colour != fig_group_style(&g, 3).colour);
}

static void dashes_are_explained(void **state)
{
	struct study_group list[] = { { NULL, 0, DP_METHOD_DPARETO },
				      { NULL, 0, DP_METHOD_RANDOM },
				      { NULL, 1, DP_METHOD_DPARETO } };
	struct study_groups g = { .list = list, .contests = { { .n = 3 } }, .ntrainers = 2 };
	struct dp_buf b = DP_BUF_INIT;

	(void)state;
	fig_append_group_legend(&g, &b);
	assert_string_equal(dp_buf_text(&b),
			    " Colours: models. Lines, solid: model-based search; dashed: "
			    "random search.");
	dp_buf_clear(&b);
	list[1].method = DP_METHOD_DPARETO;
	fig_append_group_legend(&g, &b); /* all are solid */
	assert_int_equal(b.len, 0);
	dp_buf_free(&b);
}

/* Two methods on one model, which in other figures have its colour. */
static void clouds_of_one_model_differ(void **state)
{
	static const char *const groups[] = { "g=a", "h=b", "i=c", NULL };
	struct rendered_figure p;

	(void)state;
	two_seeds(LOWER_BOTH);
	made_result(made_study("c", LOWER_BOTH), 2, 2);
	made_subjects();
	made_groups(groups);
	made_report.groups->ntrainers = 2; /* a and b are of one, c of the other */
	made_report.groups->list[2].trainer_id = 1;
	made_report.groups->list[1].method = DP_METHOD_RANDOM;
	made_report.figure_output.formats = FIGURE_SVG;
	figure_render(&made_report, &figure_scatter, &p);
	assert_non_null(strstr(dp_buf_text(&p.svg), "stroke=\"#0072b2\"")); /* blue */
	assert_non_null(strstr(dp_buf_text(&p.svg), "stroke=\"#009e73\"")); /* green */
	assert_null(strstr(dp_buf_text(&p.svg), "stroke=\"#e69f00\""));     /* that of c */
	rendered_figure_free(&p);
}

/* The parameters of a study of a group are not ranked: figures that need that are not drawn. */
static void parameters_of_groups_are_not_ranked(void **state)
{
	static const struct figure *const needy[] = { &figure_objective_maps,
						      &figure_hyperparameters };
	static const char *const groups[] = { "g=a", "h=b", NULL };

	(void)state;
	two_seeds(LOWER_BOTH);
	made_subjects();
	made_groups(groups);
	made_report.studies[0].nranked = 0; /* as report_data_load_groups() leaves it */
	for (size_t i = 0; i < DP_COUNT(needy); i++) {
		struct rendered_figure p;

		figure_render(&made_report, needy[i], &p);
		assert_true(p.has_nothing_to_show);
		assert_string_equal(p.reason, "it is not known which parameters matter");
		rendered_figure_free(&p);
	}
}

static void a_model_is_a_trainer(void **state)
{
	static const char *const groups[] = { "g=a", "h=b", NULL };

	(void)state;
	two_seeds(LOWER_BOTH);
	made_subjects();
	made_groups(groups);
	assert_int_equal(made_report.groups->ntrainers, 1);
	assert_int_equal(made_report.groups->list[1].method, DP_METHOD_DPARETO);
}

/* ---- refusals ---- */

static void other_measures_are_refused(void **state)
{
	static const char *const groups[] = { "g=a,b", NULL };
	static const char *const twice[] = { "g=a,a", NULL };
	struct dp_err err;

	(void)state;
	made_result(made_study("a", LOWER_BOTH), 1, 5);
	made_result(made_study("b", LOWER_RAISE), 1, 5);
	made_subjects();
	assert_int_equal(make_groups(groups, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "'a' and 'b' cannot be compared"));
	made_free(NULL);
	made_begin(NULL);
	made_result(made_study("a", LOWER_BOTH), 1, 5);
	made_subjects();
	assert_int_equal(make_groups(twice, &err), DP_E_USAGE);
}

/* ---- facts ---- */

static void what_is_told(void **state)
{
	static const char *const groups[] = { "first=a", "second=b,c", NULL };
	struct report_model f = { 0 };
	struct dp_err err;
	uint32_t c;

	(void)state;
	two_seeds(LOWER_BOTH);
	c = made_study("c", LOWER_BOTH);
	made_result(c, 6, 7);
	made_subjects();
	made_groups(groups);
	made_report.at_option = "a=8";
	assert_int_equal(report_model_build(&made_report, NULL, 0, &f, &err), DP_OK);
	assert_int_equal(json_array_size(get_json(f.json, "members")), 3);
	assert_int_equal(f.groups->npairs, 1);
	/* 5 against 9 and 12 */
	assert_true(f.groups->pairs[0].tests[BASIS_OBSERVED].difference == 5 - 10.5);
	assert_int_equal(f.groups->pairs[0].tests[BASIS_OBSERVED].kind, DP_T_TEST_ONE_SAMPLE);
	assert_int_equal(f.groups->level_answers.n, 1);
	/* fixed seeds, unfinished, of different size, of the same seed */
	assert_int_equal(json_array_size(get_json(f.json, "warnings")), 4);
	assert_int_equal(json_object_size(get_json(f.json, "settings_that_differ")), 0);
	assert_string_equal(get_text(f.json, "command"), "dparetoctl compare --group first=a "
							 "--group second=b,c --at a=8");
	report_model_free(&f);
}

/* What is pasted is what was asked for, of the folder that was read. */
static void a_command_to_paste(void **state)
{
	static const char *const groups[] = { "it's $(here)=a", NULL };
	struct report_model f = { 0 };
	struct dp_err err;

	(void)state;
	two_seeds(LOWER_BOTH);
	made_subjects();
	made_groups(groups);
	made_report.at_option = "b=1";
	made_report.journal_path = "/my state/journal";
	assert_int_equal(report_model_build(&made_report, NULL, 0, &f, &err), DP_OK);
	assert_string_equal(get_text(f.json, "command"),
			    "dparetoctl compare --group 'it'\\''s $(here)=a' --at b=1 "
			    "--state '/my state'");
	report_model_free(&f);
	made_report.is_public = true; /* paths are not told */
	assert_int_equal(report_model_build(&made_report, NULL, 0, &f, &err), DP_OK);
	assert_null(strstr(get_text(f.json, "command"), "--state"));
	report_model_free(&f);
}

/* Parts are many, and their study is one: its settings are told from it. */
static void settings_of_parts(void **state)
{
	static const char *const groups[] = { "parts=b/1", "mixed=a,c", NULL };
	struct report_model f = { 0 };
	struct dp_err err;
	uint32_t c;
	bool mixed;

	(void)state;
	two_seeds(LOWER_BOTH);
	c = made_study("c", LOWER_BOTH "\npriority: 3");
	made_result(c, 6, 7);
	made_subjects();
	made_groups(groups);
	made_report.at_option = "a=8";
	assert_int_equal(report_model_build(&made_report, NULL, 0, &f, &err), DP_OK);
	assert_int_equal(json_array_size(get_json(f.json, "members")), 5);
	assert_int_equal(json_object_size(get_json(f.json, "settings_that_differ")), 1);
	report_group_setting(f.groups, &made_report, 0, "priority", &mixed);
	assert_false(mixed);
	report_group_setting(f.groups, &made_report, 1, "priority", &mixed);
	assert_true(mixed);
	report_model_free(&f);
}

/* ---- the true front ---- */

static void truth_has_the_same_plane(void **state)
{
	struct dp_err err;

	(void)state;
	made_result(made_study("a", LOWER_BOTH), 1, 5);
	made_result(made_study("t", LOWER_RAISE), 1, 5);
	made_subjects();
	assert_int_equal(report_check_reference_front(&made_report, &err), DP_OK);
	made_report.reference = malloc(sizeof *made_report.reference);
	assert_non_null(made_report.reference);
	*made_report.reference = made_report.studies[--made_report.nstudies];
	assert_int_equal(report_check_reference_front(&made_report, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "cannot be the true one"));
}

static void how_much_of_the_truth(void **state)
{
	uint32_t study = made_study("a", LOWER_BOTH), truth;
	struct rendered_figure p;

	(void)state;
	made_result(study, 5, 5); /* 25 of 50: */
	truth = made_study("t", LOWER_BOTH);
	made_result(truth, 5, 0);
	made_result(truth, 20, -1); /* beyond the anti-ideal */
	made_subjects();
	made_report.reference = malloc(sizeof *made_report.reference);
	assert_non_null(made_report.reference);
	*made_report.reference = made_report.studies[--made_report.nstudies];
	for (int i = 0; i < 2; i++) {
		figure_render(&made_report, i ? &figure_comparison : &figure_front, &p);
		assert_true(p.png.len > 0);
		assert_non_null(strstr(p.caption.data,
				       "true front, as far as study t knows it; the front "
				       "dominates 50.0 %"));
		rendered_figure_free(&p);
	}
}

/* ---- pictures ---- */

static size_t draw_all(void)
{
	size_t drawn = 0;

	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct rendered_figure p;

		figure_render(&made_report, figures[i], &p);
		if (p.has_nothing_to_show) {
			assert_true(strlen(p.reason) > 10);
			continue;
		}
		if (p.reason[0])
			fail_msg("%s: %s", figures[i]->name, p.reason);
		assert_true(p.png.len > 100);
		assert_true(p.caption.len > 20 && p.caption.data[p.caption.len - 1] == '.');
		assert_null(strstr(p.caption.data, "nan"));
		rendered_figure_free(&p);
		drawn++;
	}
	return drawn;
}

static void drawn_on_odd_studies(void **state)
{
	static const char *const groups[] = { "a group with a name that is longer than "
					      "any legend has room for, äöü=a,b",
					      "c", NULL };

	(void)state;
	made_study("a", LOWER_BOTH); /* nothing yet */
	made_study("b", LOWER_BOTH);
	made_study("c", LOWER_BOTH);
	made_subjects();
	made_groups(groups);
	assert_int_equal(draw_all(), 1); /* the seeds have a hypervolume of 0 */
	made_free(NULL);
	made_begin(NULL);
	made_result(made_study("a", LOWER_BOTH), 3, 4);
	made_result(made_study("b", LOWER_BOTH), INFINITY, 1);
	made_result(made_study("c", LOWER_BOTH), 12, 1);
	made_subjects();
	made_groups(groups);
	assert_int_equal(draw_all(), 5);
}

static void without_groups(void **state)
{
	(void)state;
	two_seeds(RAISE_LOWER);
	made_subjects();
	assert_int_equal(draw_all(), 2); /* clouds and panels */
}

int main(void)
{
#define MADE(test) cmocka_unit_test_setup_teardown(test, made_begin, made_free)
	const struct CMUnitTest tests[] = {
		MADE(a_mean_and_its_band),
		MADE(parts_of_a_study_grow_alone),
		MADE(staircases_for_every_goal),
		MADE(what_all_attain_begins_later),
		cmocka_unit_test(colour_by_model_and_dash_by_method),
		cmocka_unit_test(dashes_are_explained),
		MADE(clouds_of_one_model_differ),
		MADE(parameters_of_groups_are_not_ranked),
		MADE(a_model_is_a_trainer),
		MADE(other_measures_are_refused),
		MADE(what_is_told),
		MADE(a_command_to_paste),
		MADE(settings_of_parts),
		MADE(truth_has_the_same_plane),
		MADE(how_much_of_the_truth),
		MADE(drawn_on_odd_studies),
		MADE(without_groups),
	};

	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
