/* test_figures_odd_studies.c - every picture of fronts and of time on odd studies. */
#include "tests/unit/support/made_studies.h"
#include "reports/figures/figure_render.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct figure *const figures[] = {
	&figure_front,       &figure_front_linear, &figure_hypervolume,
	&figure_variability, &figure_scatter,      &figure_comparison,
	&figure_timeline,    &figure_time_spent,   &figure_objectives,
};

/* ---- pictures ---- */

/* Draws every figure that has something to show; gives how many have. */
static size_t draw_all(void)
{
	size_t drawn = 0;

	made_subjects();
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct rendered_figure p;

		figure_render(&made_report, figures[i], &p);
		if (p.has_nothing_to_show) {
			assert_true(strlen(p.reason) > 10);
			continue;
		}
		if (p.reason[0])
			fail_msg("%s: %s", figures[i]->name, p.reason);
		assert_true(p.png.len > 100 && memcmp(p.png.data, "\x89PNG", 4) == 0);
		assert_true(p.caption.len > 20 && p.caption.data[p.caption.len - 1] == '.');
		assert_null(strstr(p.caption.data, "nan"));
		rendered_figure_free(&p);
		drawn++;
	}
	return drawn;
}

static void nothing_yet(void **s)
{
	(void)s;
	made_study("s", LOWER_BOTH);
	assert_int_equal(draw_all(), 0);
}

static void all_failed(void **s)
{
	uint32_t study = made_study("s", LOWER_BOTH);

	(void)s;
	for (int i = 0; i < 3; i++)
		made_failure(study);
	assert_int_equal(draw_all(), 2); /* those of time, and no empty front */
}

static void one_point(void **s)
{
	(void)s;
	made_result(made_study("s", LOWER_BOTH), 1, 1);
	assert_int_equal(draw_all(), 5);
}

static void a_study_of_this_moment(void **s)
{
	uint32_t study = made_study("s", LOWER_BOTH);

	(void)s;
	made_attempt(study, made_trial(study, 0, 0), 0);
	assert_int_equal(draw_all(), 2);
}

static void only_infinite_points(void **s)
{
	uint32_t study = made_study("s", LOWER_BOTH);

	(void)s;
	made_result(study, INFINITY, 1);
	made_result(study, INFINITY, 2);
	assert_int_equal(draw_all(), 4);
}

static void points_all_over(void **s)
{
	uint32_t study = made_study("s", LOWER_RAISE), trial;
	double diverged[] = { 2, NAN };

	(void)s;
	for (int i = -5; i <= 5; i++)
		made_result3(study, pow(10, i), pow(10, i), 0, 0.3 * pow(10, i));
	made_result(study, 0, 0);
	made_result(study, INFINITY, 3);
	trial = made_trial(study, 0, 0);
	made_attempt(study, trial, 0);
	made_end(study, trial, 0, DP_END_DIVERGED, made_now, NULL);
	made_trial_end(study, trial, "diverged", diverged, 2);
	trial = made_trial(study, 0, 0);
	made_attempt(study, trial, 0); /* and is still running */
	assert_int_equal(draw_all(), 6);
}

/* Several studies, one of them not comparable, names as long as they can be. */
static void many_studies_with_long_names(void **s)
{
	struct baseline line = { strdup("non-private"), 1.5 };

	(void)s;
	for (uint32_t i = 0; i < 7; i++) {
		char name[65];
		uint32_t study;

		memset(name, 'W', 64);
		name[0] = (char)('a' + i);
		name[64] = '\0';
		study = made_study(name, i == 3 ? THREE : i == 4 ? ACCURACY : LOWER_BOTH);
		if (i == 2)
			continue; /* has no trials */
		for (int k = 1; k < 8; k++)
			made_result3(study, k + (double)i, (8 - k) / 8.0, k, 0.1);
	}
	made_report.baselines = malloc(sizeof line);
	assert_non_null(made_report.baselines);
	made_report.baselines[0] = line;
	made_report.nbaselines = 1;
	assert_int_equal(draw_all(), 8);
}

static void three_objectives(void **s)
{
	uint32_t study = made_study("s", THREE);

	(void)s;
	for (int i = 0; i < 9; i++)
		made_result3(study, 1 + i % 3, 1 + i / 3, 9 - i, 0.5);
	assert_int_equal(draw_all(), 7);
}

/* More slots than rows fit, and more attempts than blocks. */
static void many_attempts(void **s)
{
	uint32_t study = made_study("s", LOWER_BOTH);
	double metrics[] = { 1, 1, 1, 1 };

	(void)s;
	for (uint32_t i = 0; i < 3000; i++) {
		made_trial(study, i, 0);
		made_attempt(study, i, 0);
		made_now += i % 10 ? 0.5 : 2;
		made_end(study, i, 0, i % 500 ? DP_END_OK : DP_END_SIGNAL,
			 i < 100 ? 0 : made_now - 0.5, metrics);
		made_trial_end(study, i, "ok", metrics, 2);
	}
	assert_int_equal(draw_all(), 5);
}

/* Two studies with their majority classes, and between them one that has other
 * objectives and is not shown. */
static struct rendered_figure compare_around(double hidden)
{
	static const char other[] =
		"objectives: {z: {metric: a}, error: {metric: accuracy, of: \"1 - "
		"accuracy\"}}\nanti_ideal: {z: 10, error: 1}";
	struct rendered_figure p;

	made_result(made_study("first", ACCURACY), 1, 0.6);
	made_result(made_study("hidden", other), 1, hidden);
	made_result(made_study("third", ACCURACY), 2, 0.7);
	made_subjects();
	figure_render(&made_report, &figure_comparison, &p);
	assert_true(p.png.len > 0);
	made_free(NULL);
	made_begin(NULL);
	return p;
}

static void a_study_that_is_not_shown_hides_no_line(void **s)
{
	struct rendered_figure same = compare_around(0.7), apart = compare_around(0.8);

	(void)s;
	assert_int_equal(same.png.len, apart.png.len);
	assert_memory_equal(same.png.data, apart.png.data, same.png.len);
	rendered_figure_free(&same);
	rendered_figure_free(&apart);
}

static struct rendered_figure compare_with(double baseline)
{
	struct baseline line = { strdup("non-private"), baseline };
	struct rendered_figure p;

	made_result(made_study("s", ACCURACY), 1, 0.2);
	made_subjects();
	made_report.baselines = malloc(sizeof line);
	assert_non_null(made_report.baselines);
	made_report.baselines[0] = line;
	made_report.nbaselines = 1;
	figure_render(&made_report, &figure_comparison, &p);
	assert_true(p.png.len > 0);
	made_free(NULL);
	made_begin(NULL);
	return p;
}

static void a_front_beyond_a_baseline_is_explained(void **s)
{
	static const char words[] = "does not show that it is better";
	struct rendered_figure beyond = compare_with(0.25), not = compare_with(0.15);

	(void)s;
	assert_non_null(strstr(beyond.caption.data, words));
	assert_null(strstr(not .caption.data, words));
	rendered_figure_free(&beyond);
	rendered_figure_free(&not );
}

/* Between two shares there are percentage points. */
static void a_difference_of_shares_is_no_share(void **s)
{
	uint32_t study = made_study("s", ACCURACY);
	double metrics[] = { 0.9, 0.7, 0.8, 0.7 }, y[] = { 1, 0.15 };
	uint32_t trial = made_trial(study, 0, 0);
	struct rendered_figure p;

	(void)s;
	made_attempt(study, trial, 0);
	made_end(study, trial, 0, DP_END_OK, 0, metrics);
	made_trial_end(study, trial, "ok", y, 2);
	made_subjects();
	figure_render(&made_report, &figure_variability, &p);
	if (!strstr(dp_buf_text(&p.caption), "lie 10 percentage points (median)"))
		fail_msg("%s", dp_buf_text(&p.caption));
	rendered_figure_free(&p);
}

/* What one points at says which trial it is, or what it brought. */
static void blocks_and_gains_have_tips(void **s)
{
	static const struct {
		const struct figure *figure;
		const char *tip;
	} cases[] = {
		{ &figure_timeline, "<title>trial 0, ended well: 1.0s, " },
		{ &figure_hypervolume, "<title>after 2 evaluations: hypervolume 5</title>" },
	};
	uint32_t study = made_study("s", LOWER_BOTH);
	struct rendered_figure p;

	(void)s;
	made_result(study, 9, 9);
	made_result(study, 5, 9);
	made_subjects();
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		figure_render(&made_report, cases[i].figure, &p);
		if (!strstr(dp_buf_text(&p.page_svg), cases[i].tip))
			fail_msg("%s: no %s", cases[i].figure->name, cases[i].tip);
		rendered_figure_free(&p);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, made_begin, made_free)
	const struct CMUnitTest tests[] = {
		T(nothing_yet),
		T(all_failed),
		T(one_point),
		T(a_study_of_this_moment),
		T(only_infinite_points),
		T(points_all_over),
		T(many_studies_with_long_names),
		T(three_objectives),
		T(many_attempts),
		T(a_study_that_is_not_shown_hides_no_line),
		T(a_front_beyond_a_baseline_is_explained),
		T(a_difference_of_shares_is_no_share),
		T(blocks_and_gains_have_tips),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
