/* test_figures_front.c - fronts, growth, spread, clouds and comparison: the numbers
 * behind the pictures against brute force. */
#include "base/rng.h"
#include "tests/unit/support/made_studies.h"
#include "reports/figures/front_figure_internal.h"
#include "reports/figures/figure_render.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* ---- numbers ---- */

/* Unit cells below (10, 10) that some of the first n trials dominates, for whole
 * objectives: an area without geometry. */
static int cells(const struct dp_study_state *st, uint32_t n)
{
	int count = 0;

	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 10; k++) {
			bool reached = false;

			for (uint32_t t = 0; t < n; t++)
				reached |= st->trials[t]->objectives &&
					   st->trials[t]->objectives[0] <= i &&
					   st->trials[t]->objectives[1] <= k;
			count += reached;
		}
	}
	return count;
}

static void growth_is_the_area_of_each_prefix(void **s)
{
	uint32_t study = made_study("s", LOWER_BOTH);
	struct fig_hypervolume_curve g;
	struct study_data *subject;
	struct dp_rng rng;

	(void)s;
	dp_rng_init(&rng, 1, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 40; i++) {
		if (i % 7 == 3)
			made_failure(study);
		made_result(study, floor(14 * dp_rng_uniform(&rng)),
			    floor(14 * dp_rng_uniform(&rng)));
	}
	subject = made_subjects();
	g = fig_compute_hypervolume_curve(&made_mem, subject, NULL);
	assert_int_equal(g.n, subject->state->ntrials + 1);
	for (uint32_t i = 0; i < g.n; i++) {
		assert_true(g.spent[FIG_COST_EVALUATIONS][i] == i);
		assert_true(fabs(g.volume[i] - cells(subject->state, i)) < 1e-9);
	}
}

static void growth_goes_by_the_order_of_ends(void **s)
{
	uint32_t study = made_study("s", LOWER_BOTH);
	double first[] = { 5, 5 }, second[] = { 9, 9 };
	struct fig_hypervolume_curve g;

	(void)s;
	made_trial(study, 0, 0);
	made_trial(study, 0, 1);
	made_now = 1;
	made_trial_end(study, 1, "ok", second, 2);
	made_now = 2;
	made_trial_end(study, 0, "ok", first, 2);
	g = fig_compute_hypervolume_curve(&made_mem, made_subjects(), NULL);
	assert_int_equal(g.n, 3);
	assert_true(g.volume[1] == 1);
	assert_true(g.volume[2] == 25);
}

/* Many evaluations and objectives of both goals: rising, and right at the end. */
static void long_growth_is_sampled(void **s)
{
	uint32_t studies[] = { made_study("two", LOWER_RAISE), made_study("three", THREE) };
	struct dp_rng rng;
	struct fig_hypervolume_curve g;

	(void)s;
	dp_rng_init(&rng, 2, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 1000; i++) {
		double a = 11 * dp_rng_uniform(&rng), b = 9 * dp_rng_uniform(&rng);

		made_result(studies[0], a, b);
		made_result3(studies[1], a, b, 11 * dp_rng_uniform(&rng), 0);
	}
	made_subjects();
	for (size_t i = 0; i < 2; i++) {
		double end = made_report.studies[i].state->hypervolume;

		g = fig_compute_hypervolume_curve(&made_mem, &made_report.studies[i], NULL);
		assert_int_equal(g.n, i == 0 ? 401 : 201);
		for (size_t k = 1; k < g.n; k++)
			assert_true(g.volume[k] >= g.volume[k - 1]);
		assert_true(g.spent[FIG_COST_EVALUATIONS][g.n - 1] == 1000);
		assert_true(fabs(g.volume[g.n - 1] - end) <= 1e-9 * end);
	}
}

/* A front of two points and a point behind it, for each pair of goals: the staircase
 * passes these corners, and no others, on its way between the anti-ideal's sides. */
static void staircases_follow_the_goals(void **s)
{
	static const struct {
		const char *objectives;
		double y[3][2], corner[5][2];
	} cases[] = {
		{ LOWER_BOTH,
		  { { 4, 2 }, { 1, 6 }, { 5, 7 } },
		  { { 1, 10 }, { 1, 6 }, { 4, 6 }, { 4, 2 }, { 10, 2 } } },
		{ LOWER_RAISE,
		  { { 4, 6 }, { 1, 2 }, { 5, 1 } },
		  { { 1, 0.5 }, { 1, 2 }, { 4, 2 }, { 4, 6 }, { 10, 6 } } },
		{ RAISE_LOWER,
		  { { 4, 6 }, { 1, 2 }, { 0.5, 7 } },
		  { { 0, 2 }, { 1, 2 }, { 1, 6 }, { 4, 6 }, { 4, 10 } } },
		{ RAISE_BOTH,
		  { { 4, 2 }, { 1, 6 }, { 0.5, 1 } },
		  { { 0, 6 }, { 1, 6 }, { 1, 2 }, { 4, 2 }, { 4, 0 } } },
	};

	(void)s;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char name[] = { 's', (char)('0' + i), '\0' };
		uint32_t study = made_study(name, cases[i].objectives);

		for (int k = 0; k < 3; k++)
			made_result(study, cases[i].y[k][0], cases[i].y[k][1]);
	}
	made_subjects();
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		const struct study_data *subject = &made_report.studies[i];
		const struct dp_objective *o = subject->state->spec->objectives;
		struct fig_points front, stairs;
		size_t k = 0;

		front = fig_study_front(&made_mem, subject);
		assert_int_equal(front.n, 2);
		assert_int_equal(front.results[0].trial, 1);
		stairs =
			fig_staircase(&made_mem, subject, &front, o[0].anti_ideal, o[1].anti_ideal);
		assert_int_equal(stairs.n, 5);
		for (; k < 5; k++) {
			assert_true(stairs.x[k] == cases[i].corner[k][0]);
			assert_true(stairs.y[k] == cases[i].corner[k][1]);
		}
		/* no way to go on: it ends at its points */
		stairs = fig_staircase(&made_mem, subject, &front, NAN, NAN);
		assert_true(stairs.x[0] == front.x[0] && stairs.y[0] == front.y[0]);
		assert_true(stairs.x[stairs.n - 1] == front.x[1]);
	}
}

/* What is reached at x by points as good as x in the first objective. */
static double reached(const struct study_data *s, double x, double spread)
{
	const struct dp_objective *o = s->state->spec->objectives;
	double best = o[1].maximize ? -INFINITY : INFINITY;

	for (uint32_t i = 0; i < s->state->ntrials; i++) {
		const double *y = s->state->trials[i]->objectives;

		if (o[0].maximize ? y[0] >= x : y[0] <= x)
			best = o[1].maximize ? fmax(best, y[1] + spread * y[0])
					     : fmin(best, y[1] + spread * y[0]);
	}
	return best;
}

static void bands_are_what_runs_reach(void **s)
{
	static const char *const goals[] = { LOWER_BOTH, LOWER_RAISE, RAISE_LOWER, RAISE_BOTH };
	struct dp_rng rng;

	(void)s;
	for (size_t i = 0; i < DP_COUNT(goals); i++) {
		char name[] = { 's', (char)('0' + i), '\0' };
		uint32_t study = made_study(name, goals[i]);

		dp_rng_init(&rng, 3, DP_RNG_TEST, (uint32_t)i, 0);
		for (int k = 0; k < 30; k++) {
			double a = ceil(8 * dp_rng_uniform(&rng));

			made_result3(study, a, 2 + 6 * dp_rng_uniform(&rng), 0, 0.2 * a);
		}
	}
	made_subjects();
	for (size_t i = 0; i < DP_COUNT(goals); i++) {
		const struct study_data *subject = &made_report.studies[i];
		double sign = subject->state->spec->objectives[1].maximize ? 0.2 : -0.2;
		struct fig_band b = fig_compute_run_band(&made_mem, subject);

		assert_true(b.n >= 4);
		for (size_t k = 1; k < b.n; k++)
			assert_true(b.x[k] >= b.x[k - 1]);
		/* between corners, where staircases are flat */
		for (size_t k = 1; k < b.n; k++) {
			double x = (b.x[k - 1] + b.x[k]) / 2;

			if (b.x[k] == b.x[k - 1])
				continue;
			assert_true(fabs(b.mid[k] - reached(subject, x, 0)) < 1e-12);
			assert_true(fabs(b.from[k] - reached(subject, x, sign)) < 1e-12);
			assert_true(fabs(b.to[k] - reached(subject, x, -sign)) < 1e-12);
			assert_true(b.mid[k - 1] == b.mid[k]);
		}
	}
}

/* The box of the anti-ideal has an edge at the anti-ideal and nowhere else in sight. */
static void anti_ideal_is_where_it_is(void **s)
{
	static const struct {
		double best, worst; /* of b */
		bool seen;
	} cases[] = { { 7, 8, false }, { 1, 9, true } };

	(void)s;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char name[] = { 's', (char)('0' + i), '\0' };
		uint32_t study = made_study(name, LOWER_BOTH);

		made_result(study, 1, cases[i].worst);
		made_result(study, 2, cases[i].best);
	}
	made_subjects();
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct report_data r = { .studies = &made_report.studies[i], .nstudies = 1 };
		struct front_data d = { 0 };
		double edge[2];
		struct dp_err err;

		assert_int_equal(front_gather(&r, &made_mem, false, &d, &err), DP_OK);
		front_reference_region(&d, PLOT_Y, edge);
		assert_true(isnan(edge[0])); /* what is better has no end */
		assert_true(edge[1] == 10);
		assert_int_equal(d.hi[PLOT_Y] >= 10, cases[i].seen);
	}
}

static void assert_close(double a, double b)
{
	if (!(fabs(a - b) < 1e-9))
		fail_msg("%.12g is not %.12g", a, b);
}

/* The band is what the runs leave open of each step of the staircase. */
static void the_band_follows_the_staircase(void **s)
{
	static const char *const goals[] = { LOWER_BOTH, RAISE_LOWER };

	(void)s;
	for (size_t i = 0; i < DP_COUNT(goals); i++) {
		char name[] = { 's', (char)('0' + i), '\0' };
		uint32_t study = made_study(name, goals[i]);

		made_result3(study, 1, i ? 2 : 6, 0, 0.1);
		made_result3(study, 4, i ? 6 : 2, 0, 0.2);
	}
	made_subjects();
	for (size_t i = 0; i < DP_COUNT(goals); i++) {
		struct report_data r = { .studies = &made_report.studies[i], .nstudies = 1 };
		struct front_data d = { 0 };
		double wide = 12.706205 * 0.1; /* two runs 0.1 around their mean */
		struct dp_err err;

		assert_int_equal(front_gather(&r, &made_mem, false, &d, &err), DP_OK);
		assert_int_equal(d.band.n, 3);
		assert_false(d.band_by_surrogates);
		/* where x is to be small a step goes on to the right */
		assert_true(d.band.x[0] == 1 && d.band.x[1] == (i ? 1 : 4) && d.band.x[2] == 4);
		assert_true(fabs(d.band.to[0] - d.band.from[0] - 2 * wide) < 1e-3);
		assert_close(d.band.to[1], i ? d.band.to[2] : d.band.to[0]);
	}
}

/* Lines that are near are shown; of those the front is better than there is a word. */
static void lines_to_compare_with(void **s)
{
	struct baseline lines[] = { { (char *)"non-private", 0.25 },
				    { (char *)"far", 0.99 },
				    { (char *)"ideal", 0.15 } };
	struct report_data r = { .nstudies = 1, .baselines = lines, .nbaselines = 3 };
	struct front_data d = { 0 };
	struct dp_buf words = DP_BUF_INIT;
	uint32_t study;
	struct dp_err err;

	(void)s;
	study = made_study("s", ACCURACY);
	made_result(study, 1, 0.3);
	made_result(study, 2, 0.2);
	made_subjects();
	r.studies = made_report.studies;
	assert_int_equal(front_gather(&r, &made_mem, false, &d, &err), DP_OK);
	for (size_t i = 0; i < d.nlines; i++) {
		bool far = strcmp(d.lines[i].label, "far") == 0,
		     ideal = strcmp(d.lines[i].label, "ideal") == 0;

		if (strcmp(d.lines[i].label, "commonest class") == 0)
			continue;
		assert_int_equal(d.lines[i].is_shown, !far);
		assert_int_equal(d.lines[i].is_beaten, !ideal);
		if (d.lines[i].is_shown)
			assert_true(d.lines[i].at > d.lo[PLOT_Y] && d.lines[i].at < d.hi[PLOT_Y]);
	}
	front_append_caption(&d, &words);
	assert_non_null(strstr(dp_buf_text(&words), "better than \"non-private\": the "
						    "noise of test records and runs"));
	assert_non_null(strstr(dp_buf_text(&words), "The star is recommended."));
	dp_buf_free(&words);
}

/* What guessing gives is a line of the front; alone it is nothing to compare with. */
static void guessing_alone_is_no_comparison(void **s)
{
	double metrics[] = { 0.9, 0.7, 0.8, 0.8 }, y[] = { 1, 0.15 };
	uint32_t study = made_study("s", ACCURACY), trial = made_trial(study, 0, 0);
	struct baseline line = { (char *)"non-private", 0.1 };
	struct report_data r = { .nstudies = 1, .baselines = &line };
	struct rendered_figure p;

	(void)s;
	made_attempt(study, trial, 0);
	made_end(study, trial, 0, DP_END_OK, 0, metrics);
	made_trial_end(study, trial, "ok", y, 2);
	made_subjects();
	r.studies = made_report.studies;
	for (r.nbaselines = 0; r.nbaselines < 2; r.nbaselines++) {
		figure_render(&r, &figure_comparison, &p);
		assert_int_equal(p.has_nothing_to_show, r.nbaselines == 0);
		if (!p.has_nothing_to_show)
			assert_non_null(strstr(dp_buf_text(&p.caption),
					       "non-private 10.0 %, commonest class "
					       "25.0 %"));
		rendered_figure_free(&p);
	}
}

static void shared_points_are_found(void **s)
{
	uint32_t a = made_study("a", LOWER_BOTH), b = made_study("b", LOWER_BOTH);
	bool shared[4];
	struct fig_points p;
	double x[] = { 0.4, 0.4 }, y[] = { 1, 1 };

	(void)s;
	made_result(a, 1, 2);
	made_result(a, 2, 1);
	made_result(a, 0.1, 9);
	made_result(a, 0.4, 0.4);
	made_result(b, 0.1, 9); /* the point is (a, b) in these studies */
	made_result(b, 2, 2);
	made_result(b, 1, 2);
	made_apply(b, (struct dp_event){ .type = DP_EV_RESULT_IMPORTED,
					 .result_imported = { .study_name = "a",
							      .params = x,
							      .nparams = 2,
							      .objectives = y,
							      .nobjectives = 2 } });
	made_subjects();
	p = fig_collect_points(&made_mem, &made_report.studies[0]);
	fig_find_shared_points(&made_report.studies[0], &p, &made_report.studies[1], shared);
	assert_true(shared[0] && !shared[1] && shared[2] && shared[3]);
}

static void majority_becomes_the_objective(void **s)
{
	uint32_t study = made_study("s", ACCURACY), none = made_study("none", LOWER_BOTH);
	double metrics[] = { 0.9, 0.7, 0.8, 0.8 }, y[] = { 1, 0.15 };
	uint32_t trial = made_trial(study, 0, 0);

	(void)s;
	made_attempt(study, trial, 0);
	made_end(study, trial, 0, DP_END_OK, 0, metrics);
	made_trial_end(study, trial, "ok", y, 2);
	made_result(none, 1, 1);
	made_subjects();
	assert_true(fabs(study_data_majority_value(&made_report.studies[0], 1) - 0.25) < 1e-12);
	assert_true(isnan(study_data_majority_value(&made_report.studies[1], 1)));
}

/* One plane holds only values of one kind: a name is not enough. */
static void planes_are_of_one_kind(void **s)
{
#define PRIVATE(delta, error)                                                                      \
	"objectives: {epsilon: {privacy: {mechanism: gaussian, sigma: 2, " delta "}}, "            \
	"error: {" error "}}\nanti_ideal: {epsilon: 10, error: 1}"
	static const char *const kinds[] = {
		PRIVATE("delta: 1e-6", "metric: accuracy, of: \"1 - accuracy\""),
		PRIVATE("delta: 0.000001",
			"metric: accuracy, of: \"1 - accuracy\", transform: logit"),
		PRIVATE("delta: 1e-5", "metric: accuracy, of: \"1 - accuracy\""),
		PRIVATE("delta: 1e-6", "metric: f1, of: \"1 - f1\""),
		PRIVATE("delta: 1e-6", "metric: accuracy"),
		PRIVATE("delta: 1e-6", "metric: accuracy, of: \"1 - accuracy\", goal: maximize"),
		"objectives: {epsilon: {metric: epsilon}, error: {metric: accuracy, of: "
		"\"1 - accuracy\"}}\nanti_ideal: {epsilon: 10, error: 1}",
	};
#undef PRIVATE

	(void)s;
	for (size_t i = 0; i < DP_COUNT(kinds); i++) {
		char name[] = { 's', (char)('0' + i), '\0' };

		made_study(name, kinds[i]);
	}
	made_subjects();
	for (size_t i = 0; i < DP_COUNT(kinds); i++) {
		bool same = fig_same_plane(made_report.studies, &made_report.studies[i]);

		if (same != (i < 2))
			fail_msg("study %zu: %d", i, same);
	}
}

static void numbers_are_short(void **s)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0.03123, "0.0312" }, { 12.49, "12.5" }, { 1500, "1500" }, { 999.7, "1000" },
		{ 3.21e-7, "3.2e-7" }, { 0, "0" },        { -4.5, "-4.5" }, { 2.5e9, "2.5e9" }
	};
	char text[FIG_NUMBER_LEN];

	(void)s;
	for (size_t i = 0; i < DP_COUNT(cases); i++)
		assert_string_equal(fig_number(cases[i].v, text), cases[i].text);
}

/* One digit more than the first, of which the second is in doubt already. */
static void shares_and_differences_have_two_digits(void **s)
{
	char text[FIG_NUMBER_LEN];

	(void)s;
	assert_string_equal(fig_percent(0.0012345, text), "0.12");
	assert_string_equal(fig_percent(0.0345, text), "3.5");
	assert_string_equal(fig_percent(0.4321, text), "43");
	made_study("s", "objectives: {a: {metric: a}, error: {metric: e, of: 1 - e}}\n"
			"anti_ideal: {a: 10, error: 1}");
	made_subjects();
	assert_string_equal(fig_difference(made_report.studies, 0, 0.031234, text), "0.031");
	assert_string_equal(fig_difference(made_report.studies, 1, 0.031234, text),
			    "3.1 percentage points");
}

/* White rings around hundreds of dots would leave nothing but white. */
static void many_dots_have_no_outlines(void **s)
{
	(void)s;
	assert_true(fig_dots(0, 60).outline);
	assert_false(fig_dots(0, 61).outline);
	assert_true(fig_dots(0, 61).size < fig_dots(0, 30).size);
}

/* A number that says nothing is told with that. */
static void no_guarantee_is_said(void **s)
{
	struct dp_buf text = DP_BUF_INIT;

	(void)s;
	made_study("s", "objectives: {epsilon: {privacy: {mechanism: gaussian, sigma: 2, "
			"delta: 1e-6}}, error: {metric: e}}\n"
			"anti_ideal: {epsilon: 10, error: 1}");
	made_subjects();
	fig_append_value(made_report.studies, 0, 19.94, &text);
	dp_buf_puts(&text, "; ");
	fig_append_value(made_report.studies, 0, 254213, &text);
	dp_buf_puts(&text, "; ");
	fig_append_value(made_report.studies, 1, 254213, &text);
	assert_string_equal(dp_buf_text(&text),
			    "ε 20; ε 255000, no meaningful guarantee; error 254213");
	dp_buf_free(&text);
}

static void scales_follow_the_decades(void **s)
{
	double narrow[] = { 0.2, 20, INFINITY }, wide[] = { 0.1, 1, 20, NAN };
	double late[] = { 0.1, 15, 18, 20 };
	double zero[] = { 0, 20000 };

	(void)s;
	assert_int_equal(fig_scale(narrow, 3), PLOT_LINEAR);
	assert_int_equal(fig_scale(wide, 4), PLOT_LOG);
	assert_int_equal(fig_scale(late, 4), PLOT_LINEAR);
	assert_int_equal(fig_scale(zero, 2), PLOT_LINEAR);
	assert_int_equal(fig_scale(NULL, 0), PLOT_LINEAR);
}

/* Two epsilons near each other are shown over decades as those far apart are. */
static void epsilon_is_shown_over_decades(void **s)
{
	static const double near[] = { 0.4, 0.5, INFINITY }, zero[] = { 0, 3 };

	(void)s;
	made_study("s", "objectives: {epsilon: {privacy: {mechanism: gaussian, sigma: 2, "
			"delta: 1e-6}}, error: {metric: e}}\n"
			"anti_ideal: {epsilon: 10, error: 1}");
	made_subjects();
	assert_int_equal(fig_objective_scale(made_report.studies, 0, near, 3), PLOT_LOG);
	assert_int_equal(fig_objective_scale(made_report.studies, 1, near, 3), PLOT_LINEAR);
	assert_int_equal(fig_objective_scale(made_report.studies, 0, zero, 2), PLOT_LINEAR);
	assert_int_equal(fig_objective_scale(made_report.studies, 0, near, 0), PLOT_LINEAR);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, made_begin, made_free)
	const struct CMUnitTest tests[] = {
		T(growth_is_the_area_of_each_prefix),
		T(growth_goes_by_the_order_of_ends),
		T(long_growth_is_sampled),
		T(staircases_follow_the_goals),
		T(bands_are_what_runs_reach),
		T(anti_ideal_is_where_it_is),
		T(the_band_follows_the_staircase),
		T(lines_to_compare_with),
		T(guessing_alone_is_no_comparison),
		T(shared_points_are_found),
		T(majority_becomes_the_objective),
		T(planes_are_of_one_kind),
		T(numbers_are_short),
		T(shares_and_differences_have_two_digits),
		T(many_dots_have_no_outlines),
		T(no_guarantee_is_said),
		T(scales_follow_the_decades),
		T(epsilon_is_shown_over_decades),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
