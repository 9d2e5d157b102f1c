/* test_figures_learning_curves.c - figures of studies in which every training is a path: waypoints
 * are points, what trainings cost is added up, and every picture can be drawn. */
#include "tests/unit/support/made_studies.h"
#include "reports/figures/figure_render.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static const double first[2][2] = { { 2, 8 }, { 3, 5 } };
static const double second[2][2] = { { 1, 9 }, { 4, 4 } };

/* Two trainings: one that ends, with its end behind its own way, and one that does not.
 */
static uint32_t two_trainings(void)
{
	static const double end[] = { 6, 6 };
	uint32_t study = made_walk("s", LOWER_BOTH);

	made_walked(study, 8, first, end, 0.5);
	made_walked(study, 16, second, NULL, 0.5);
	return study;
}

static void waypoints_are_points(void **s)
{
	static const struct {
		double a, b;
		uint32_t trial;
		double at; /* 0: its own */
	} all[] = { { 2, 8, 0, 1 },
		    { 3, 5, 0, 4 },
		    { 6, 6, 0, 0 },
		    { 1, 9, 1, 1 },
		    { 4, 4, 1, 4 } },
	  front[] = { { 1, 9, 1, 1 }, { 2, 8, 0, 1 }, { 3, 5, 0, 4 }, { 4, 4, 1, 4 } };
	const struct study_data *subject;
	struct fig_points p, f;

	(void)s;
	two_trainings();
	subject = made_subjects();
	p = fig_collect_points(&made_mem, subject);
	f = fig_study_front(&made_mem, subject);
	assert_int_equal(p.n, DP_COUNT(all));
	assert_int_equal(f.n, DP_COUNT(front));
	for (size_t i = 0; i < p.n; i++) {
		assert_true(p.x[i] == all[i].a && p.y[i] == all[i].b);
		assert_int_equal(p.results[i].trial, all[i].trial);
		assert_true(all[i].at > 0 ? dp_result_checkpoint_value(subject->state,
								       p.results[i]) == all[i].at
					  : p.results[i].checkpoint == DP_CHECKPOINT_FINAL);
	}
	for (size_t i = 0; i < f.n; i++) {
		assert_true(f.x[i] == front[i].a && f.y[i] == front[i].b);
		assert_int_equal(f.results[i].trial, front[i].trial);
		assert_true(dp_result_checkpoint_value(subject->state, f.results[i]) ==
			    front[i].at);
	}
}

/* Every training counts in full, also the one that ran out of time. */
static void growth_by_what_was_spent(void **s)
{
	static const double walked[] = { 0, 8, 24 };
	/* below (10, 10): (2, 8), (3, 5); then with (1, 9), (4, 4) */
	static const double volume[] = { 0, 7 * 5 + 1 * 2, 6 * 6 + 1 * 5 + 1 * 2 + 1 * 1 };
	struct fig_hypervolume_curve g;

	(void)s;
	two_trainings();
	g = fig_compute_hypervolume_curve(&made_mem, made_subjects(), "q");
	assert_int_equal(g.n, 3);
	for (size_t i = 0; i < g.n; i++) {
		assert_true(g.spent[FIG_COST_EVALUATIONS][i] == (double)i);
		assert_true(g.spent[FIG_COST_PATH][i] == walked[i]);
		assert_true(fabs(g.spent[FIG_COST_SECONDS][i] - walked[i]) < 1e-6);
		assert_true(fabs(g.volume[i] - volume[i]) < 1e-9);
	}
	/* a parameter that the study does not have */
	g = fig_compute_hypervolume_curve(&made_mem, made_report.studies, "none");
	assert_true(isnan(g.spent[FIG_COST_PATH][2]));
}

/* Two runs that are 1 apart have a standard deviation of sqrt(0.5). */
static void bands_are_deviations(void **s)
{
	struct fig_band b;

	(void)s;
	two_trainings();
	b = fig_compute_run_band(&made_mem, made_subjects());
	assert_true(b.n > 0);
	assert_true(b.mid[0] == 9 && b.mid[b.n - 1] == 4);
	for (size_t i = 0; i < b.n; i++) {
		assert_true(fabs(b.mid[i] - b.from[i] - sqrt(0.5)) < 1e-9);
		assert_true(fabs(b.to[i] - b.mid[i] - sqrt(0.5)) < 1e-9);
	}
}

static void draw(const struct figure *f, const char *says)
{
	struct rendered_figure p;

	figure_render(&made_report, f, &p);
	if (p.has_nothing_to_show || p.reason[0])
		fail_msg("%s: %s", f->name, p.reason);
	assert_true(p.png.len > 100);
	if (!strstr(dp_buf_text(&p.caption), says))
		fail_msg("%s: %s", f->name, dp_buf_text(&p.caption));
	rendered_figure_free(&p);
}

/* Who points at a point is told which it is; those of the front lead to the table. */
static void points_say_what_they_are(void **s)
{
	struct rendered_figure p;
	const char *page;

	(void)s;
	two_trainings();
	made_subjects();
	figure_render(&made_report, &figure_front, &p);
	page = dp_buf_text(&p.page_svg);
	assert_non_null(strstr(page, "<a xlink:href=\"#trial-0-4\">"));
	assert_non_null(strstr(page, "<title>trial 0@4: "));
	assert_non_null(strstr(page, "<a xlink:href=\"#trial-1-1\">"));
	/* a trial's own result, which is not on the front */
	assert_non_null(strstr(page, "<title>trial 0: "));
	assert_null(strstr(page, "\"#trial-0\""));
	assert_non_null(strstr(page, ", q 8</title>"));
	assert_non_null(strstr(page, "role=\"group\""));
	assert_non_null(strstr(dp_buf_text(&p.csv), "trial 0@4: "));
	rendered_figure_free(&p);
}

static void pictures_tell_of_paths(void **s)
{
	(void)s;
	two_trainings();
	made_result(made_study("plain", LOWER_BOTH), 5, 5);
	made_subjects();
	draw(&figure_front, "4 of 5 points are on the front");
	draw(&figure_front, "2 trainings have such points.");
	draw(&figure_hypervolume, "after 2 evaluations, 24 q, 24 seconds of training");
	draw(&figure_variability, "one standard deviation (sd)");
	draw(&figure_scatter, "s: 5 of 5 points");
	draw(&figure_comparison, "fronts of several studies");
	draw(&figure_timeline, ".");
	draw(&figure_time_spent, ".");
	draw(&figure_hyperparameters, "From a 1 to a 4: ");
	draw(&figure_parallel, "Each line is one result");
	draw(&figure_objective_maps, "5 results of 2 evaluations");
}

/* Nothing but what was reached on the way. */
static void no_training_ended(void **s)
{
	uint32_t study = made_walk("s", LOWER_BOTH);

	(void)s;
	made_walked(study, 16, second, NULL, 0);
	made_subjects();
	draw(&figure_front, "2 of 2 points");
	draw(&figure_hypervolume, "after 1 evaluation, 16 q");
	draw(&figure_hyperparameters, "From a 1 to a 4: ");
	draw(&figure_parallel, "all 2 points");
}

/* Of many trainings only those with a point on the front are joined. */
static void many_paths(void **s)
{
	uint32_t study = made_walk("s", LOWER_BOTH);

	(void)s;
	made_walked(study, 16, second, NULL, 0);
	for (int i = 0; i < 80; i++)
		made_walked(study, 16, (const double[2][2]){ { 5, 9 }, { 6, 8 } }, NULL, 0);
	made_subjects();
	draw(&figure_front, "1 of 81 are drawn, those with a point on the front.");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, made_begin, made_free)
	const struct CMUnitTest tests[] = {
		T(waypoints_are_points),
		T(growth_by_what_was_spent),
		T(bands_are_deviations),
		T(points_say_what_they_are),
		T(pictures_tell_of_paths),
		T(no_training_ended),
		T(many_paths),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
