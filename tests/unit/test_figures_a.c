/* test_figures_a.c - fronts, growth, spread, clouds, comparison and time: the numbers
 * behind the pictures against brute force, and every picture on odd studies. */
#include "base/rng.h"
#include "front/front.h"
#include "reports/figures/series.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct figure *const figures[] = {
	&figure_front,  &figure_front_log,  &figure_hypervolume, &figure_variability,
	&figure_clouds, &figure_comparison, &figure_timeline,    &figure_time_spent,
};

/* ---- studies made in memory ---- */

static struct report report;
static uint32_t seq[8]; /* by study */
static double now;      /* seconds, of the next event */

static void apply(uint32_t study, struct dp_event e)
{
	struct dp_err err = { .msg = "" };

	e.study = study;
	e.seq = seq[study]++;
	e.time = (int64_t)((1000 + now) * 1e6);
	if (dp_state_apply(&report.state, &e, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

/* Creates the next study: with this name, these lines of objectives and anti-ideal. */
static uint32_t create(const char *name, const char *objectives)
{
	uint32_t study = report.state.nstudies + 1;
	char text[2000];

	snprintf(text, sizeof text,
		 "study: %s\ntrainer: {command: [x], runs: 2}\n"
		 "parameters: {p: {type: float, range: [0, 1]}, q: {type: float, range: "
		 "[0, 1]}}\n%s\n"
		 "search: {method: dpareto, initial: 2, evaluations: 100}\n",
		 name, objectives);
	seq[study] = 0;
	apply(study, (struct dp_event){ .type = DP_EV_STUDY_CREATED,
					.name = name,
					.text = text,
					.path = "f",
					.dir = "/" });
	return study;
}

#define LOWER_BOTH                                                                       \
	"objectives: {a: {metric: a}, b: {metric: b}}\nanti_ideal: {a: 10, b: 10}"
#define LOWER_RAISE                                                                      \
	"objectives: {a: {metric: a}, b: {metric: b, goal: maximize}}\n"                 \
	"anti_ideal: {a: 10, b: 0.5}"
#define RAISE_LOWER                                                                      \
	"objectives: {a: {metric: a, goal: maximize}, b: {metric: b}}\n"                 \
	"anti_ideal: {a: 0, b: 10}"
#define RAISE_BOTH                                                                       \
	"objectives: {a: {metric: a, goal: maximize}, b: {metric: b, goal: "             \
	"maximize}}\nanti_ideal: {a: 0, b: 0}"
#define THREE                                                                            \
	"objectives: {a: {metric: a}, b: {metric: b, goal: maximize}, c: {metric: c}}\n" \
	"anti_ideal: {a: 10, b: 0.5, c: 10}"
#define ACCURACY                                                                         \
	"objectives: {a: {metric: a}, error: {metric: accuracy, of: \"1 - "              \
	"accuracy\"}}\n"                                                                 \
	"anti_ideal: {a: 10, error: 1}"

static struct dp_study_state *state_of(uint32_t study)
{
	return dp_state_by_id(&report.state, study);
}

static uint32_t propose(uint32_t study, double p, double q)
{
	double x[] = { p, q };
	uint32_t trial = state_of(study)->ntrials;

	apply(study, (struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
					.trial = trial,
					.source = "random",
					.params = x,
					.nparams = 2 });
	return trial;
}

static void plan(uint32_t study, uint32_t trial, uint32_t attempt)
{
	apply(study, (struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
					.trial = trial,
					.run = DP_RUN_ALL,
					.attempt = attempt });
}

/* Ends an attempt that started at this second; metrics are those of two runs. */
static void end_attempt(uint32_t study, uint32_t trial, uint32_t attempt, enum dp_end end,
			double start, const double metrics[4])
{
	static const char *const names[] = { "a", "b" };
	static const char *const shares[] = { "accuracy", "majority_accuracy" };
	static const uint32_t runs[] = { 0, 1 };
	const char *second = state_of(study)->spec->objectives[1].metric;

	apply(study, (struct dp_event){
			     .type = DP_EV_ATTEMPT_ENDED,
			     .trial = trial,
			     .run = DP_RUN_ALL,
			     .attempt = attempt,
			     .end = end,
			     .counted = true,
			     .metric_names = strcmp(second, "accuracy") ? names : shares,
			     .nmetrics = metrics ? 2 : 0,
			     .runs = runs,
			     .nruns = metrics ? 2 : 0,
			     .metrics = metrics,
			     .exit = { .start = 1000 + start, .end = 1000 + now } });
}

static void end_trial(uint32_t study, uint32_t trial, const char *how, const double *y,
		      uint32_t n)
{
	apply(study, (struct dp_event){ .type = DP_EV_TRIAL_ENDED,
					.trial = trial,
					.state = how,
					.objectives = y,
					.nobjectives = n });
}

/* A whole trial that takes a second; the runs of b lie `spread` around its mean. */
static void evaluate3(uint32_t study, double a, double b, double c, double spread)
{
	double y[] = { a, b, c }, metrics[] = { a, b - spread, a, b + spread };
	uint32_t trial = propose(study, a, b);

	plan(study, trial, 0);
	now += 1;
	end_attempt(study, trial, 0, DP_END_OK, now - 1, metrics);
	end_trial(study, trial, "ok", y, (uint32_t)state_of(study)->spec->nobjectives);
}

static void evaluate(uint32_t study, double a, double b)
{
	evaluate3(study, a, b, 0, 0);
}

static void fail_trial(uint32_t study)
{
	uint32_t trial = propose(study, 0.5, 0.5);

	plan(study, trial, 0);
	now += 1;
	end_attempt(study, trial, 0, DP_END_SIGNAL, now - 0.5, NULL);
	end_trial(study, trial, "failed", NULL, 0);
}

/* Makes the subjects once all events are in. */
static struct subject *subjects(void)
{
	struct dp_err err;

	report.nsubjects = report.state.nstudies;
	report.subjects = calloc(report.nsubjects, sizeof *report.subjects);
	assert_non_null(report.subjects);
	for (size_t i = 0; i < report.nsubjects; i++) {
		struct dp_study_state *st = report.state.studies[i];

		assert_int_equal(dp_study_front(st, &err), DP_OK);
		report.subjects[i] = (struct subject){ .s = st, .privacy = -1, .y = 1 };
	}
	return report.subjects;
}

static int setup(void **s)
{
	(void)s;
	report = (struct report){ 0 };
	now = 0;
	return 0;
}

static int teardown(void **s)
{
	(void)s;
	report_free(&report);
	return 0;
}

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
	uint32_t study = create("s", LOWER_BOTH);
	struct fig_growth g;
	struct subject *subject;
	struct dp_rng rng;
	struct dp_err err;

	(void)s;
	dp_rng_init(&rng, 1, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 40; i++) {
		if (i % 7 == 3)
			fail_trial(study);
		evaluate(study, floor(14 * dp_rng_uniform(&rng)),
			 floor(14 * dp_rng_uniform(&rng)));
	}
	subject = subjects();
	assert_int_equal(fig_growth(subject, &g, &err), DP_OK);
	assert_int_equal(g.n, subject->s->ntrials + 1);
	for (uint32_t i = 0; i < g.n; i++) {
		assert_true(g.evaluations[i] == i);
		assert_true(fabs(g.volume[i] - cells(subject->s, i)) < 1e-9);
	}
	fig_growth_free(&g);
}

static void growth_goes_by_the_order_of_ends(void **s)
{
	uint32_t study = create("s", LOWER_BOTH);
	double first[] = { 5, 5 }, second[] = { 9, 9 };
	struct fig_growth g;
	struct dp_err err;

	(void)s;
	propose(study, 0, 0);
	propose(study, 0, 1);
	now = 1;
	end_trial(study, 1, "ok", second, 2);
	now = 2;
	end_trial(study, 0, "ok", first, 2);
	assert_int_equal(fig_growth(subjects(), &g, &err), DP_OK);
	assert_int_equal(g.n, 3);
	assert_true(g.volume[1] == 1);
	assert_true(g.volume[2] == 25);
	fig_growth_free(&g);
}

/* Many evaluations and objectives of both goals: rising, and right at the end. */
static void long_growth_is_sampled(void **s)
{
	uint32_t studies[] = { create("two", LOWER_RAISE), create("three", THREE) };
	struct dp_rng rng;
	struct fig_growth g;
	struct dp_err err;

	(void)s;
	dp_rng_init(&rng, 2, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 1000; i++) {
		double a = 11 * dp_rng_uniform(&rng), b = 9 * dp_rng_uniform(&rng);

		evaluate(studies[0], a, b);
		evaluate3(studies[1], a, b, 11 * dp_rng_uniform(&rng), 0);
	}
	subjects();
	for (size_t i = 0; i < 2; i++) {
		double end = report.subjects[i].s->hypervolume;

		assert_int_equal(fig_growth(&report.subjects[i], &g, &err), DP_OK);
		assert_int_equal(g.n, i == 0 ? 401 : 201);
		for (size_t k = 1; k < g.n; k++)
			assert_true(g.volume[k] >= g.volume[k - 1]);
		assert_true(g.evaluations[g.n - 1] == 1000);
		assert_true(fabs(g.volume[g.n - 1] - end) <= 1e-9 * end);
		fig_growth_free(&g);
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
		uint32_t study = create(name, cases[i].objectives);

		for (int k = 0; k < 3; k++)
			evaluate(study, cases[i].y[k][0], cases[i].y[k][1]);
	}
	subjects();
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		const struct subject *subject = &report.subjects[i];
		const struct dp_objective *o = subject->s->spec->objectives;
		struct fig_points front, stairs;
		size_t k = 0;
		struct dp_err err;

		assert_int_equal(fig_subject_front(subject, &front, &err), DP_OK);
		assert_int_equal(front.n, 2);
		assert_int_equal(front.trial[0], 1);
		assert_int_equal(fig_stairs(subject, &front, o[0].anti_ideal,
					    o[1].anti_ideal, &stairs, &err),
				 DP_OK);
		assert_int_equal(stairs.n, 5);
		for (; k < 5; k++) {
			assert_true(stairs.x[k] == cases[i].corner[k][0]);
			assert_true(stairs.y[k] == cases[i].corner[k][1]);
		}
		fig_points_free(&stairs);
		/* no way to go on: it ends at its points */
		assert_int_equal(fig_stairs(subject, &front, NAN, NAN, &stairs, &err),
				 DP_OK);
		assert_true(stairs.x[0] == front.x[0] && stairs.y[0] == front.y[0]);
		assert_true(stairs.x[stairs.n - 1] == front.x[1]);
		fig_points_free(&stairs);
		fig_points_free(&front);
	}
}

/* What is reached at x by points as good as x in the first objective. */
static double reached(const struct subject *s, double x, double spread)
{
	const struct dp_objective *o = s->s->spec->objectives;
	double best = o[1].maximize ? -INFINITY : INFINITY;

	for (uint32_t i = 0; i < s->s->ntrials; i++) {
		const double *y = s->s->trials[i]->objectives;

		if (o[0].maximize ? y[0] >= x : y[0] <= x)
			best = o[1].maximize ? fmax(best, y[1] + spread * y[0])
					     : fmin(best, y[1] + spread * y[0]);
	}
	return best;
}

static void bands_are_what_runs_reach(void **s)
{
	static const char *const goals[] = { LOWER_BOTH, LOWER_RAISE, RAISE_LOWER,
					     RAISE_BOTH };
	struct dp_rng rng;

	(void)s;
	for (size_t i = 0; i < DP_COUNT(goals); i++) {
		char name[] = { 's', (char)('0' + i), '\0' };
		uint32_t study = create(name, goals[i]);

		dp_rng_init(&rng, 3, DP_RNG_TEST, (uint32_t)i, 0);
		for (int k = 0; k < 30; k++) {
			double a = ceil(8 * dp_rng_uniform(&rng));

			evaluate3(study, a, 2 + 6 * dp_rng_uniform(&rng), 0, 0.2 * a);
		}
	}
	subjects();
	for (size_t i = 0; i < DP_COUNT(goals); i++) {
		const struct subject *subject = &report.subjects[i];
		double sign = subject->s->spec->objectives[1].maximize ? 0.2 : -0.2;
		struct fig_band b;
		struct dp_err err;

		assert_int_equal(fig_band(subject, &b, &err), DP_OK);
		assert_true(b.n >= 4);
		for (size_t k = 1; k < b.n; k++)
			assert_true(b.x[k] >= b.x[k - 1]);
		/* between corners, where staircases are flat */
		for (size_t k = 1; k < b.n; k++) {
			double x = (b.x[k - 1] + b.x[k]) / 2;

			if (b.x[k] == b.x[k - 1])
				continue;
			assert_true(fabs(b.mean[k] - reached(subject, x, 0)) < 1e-12);
			assert_true(fabs(b.best[k] - reached(subject, x, sign)) < 1e-12);
			assert_true(fabs(b.worst[k] - reached(subject, x, -sign)) <
				    1e-12);
			assert_true(b.mean[k - 1] == b.mean[k]);
		}
		fig_band_free(&b);
	}
}

static void shared_points_are_found(void **s)
{
	uint32_t a = create("a", LOWER_BOTH), b = create("b", LOWER_BOTH);
	bool shared[4];
	struct fig_points p;
	struct dp_err err;
	double x[] = { 0.4, 0.4 }, y[] = { 1, 1 };

	(void)s;
	evaluate(a, 1, 2);
	evaluate(a, 2, 1);
	evaluate(a, 0.1, 9);
	evaluate(a, 0.4, 0.4);
	evaluate(b, 0.1, 9); /* the point is (a, b) in these studies */
	evaluate(b, 2, 2);
	evaluate(b, 1, 2);
	apply(b, (struct dp_event){ .type = DP_EV_RESULT_IMPORTED,
				    .name = "a",
				    .params = x,
				    .nparams = 2,
				    .objectives = y,
				    .nobjectives = 2 });
	subjects();
	assert_int_equal(fig_points(&report.subjects[0], &p, &err), DP_OK);
	assert_int_equal(
		fig_shared(&report.subjects[0], &p, &report.subjects[1], shared, &err),
		DP_OK);
	assert_true(shared[0] && !shared[1] && shared[2] && shared[3]);
	fig_points_free(&p);
}

static void majority_becomes_the_objective(void **s)
{
	uint32_t study = create("s", ACCURACY), none = create("none", LOWER_BOTH);
	double metrics[] = { 0.9, 0.7, 0.8, 0.8 }, y[] = { 1, 0.15 };
	uint32_t trial = propose(study, 0, 0);

	(void)s;
	plan(study, trial, 0);
	end_attempt(study, trial, 0, DP_END_OK, 0, metrics);
	end_trial(study, trial, "ok", y, 2);
	evaluate(none, 1, 1);
	subjects();
	assert_true(fabs(fig_majority(&report.subjects[0]) - 0.25) < 1e-12);
	assert_true(isnan(fig_majority(&report.subjects[1])));
}

/* Attempts that overlap at random, some of them failed and tried again. */
static void random_attempts(uint32_t study, int n)
{
	double metrics[] = { 1, 1, 1, 1 }, y[] = { 1, 1 }, start[3], end[3];
	struct dp_rng rng;

	dp_rng_init(&rng, 4, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < n; i++) {
		uint32_t trial[3];

		for (int k = 0; k < 3; k++) {
			now += dp_rng_uniform(&rng);
			trial[k] = propose(study, now, k);
			now += 0.1 * dp_rng_uniform(&rng);
			plan(study, trial[k], 0);
			/* later than others that were planned later, or by a clock
			 * that was wrong */
			start[k] = i % 9 ? now + 2 * dp_rng_uniform(&rng) : now - 1;
			end[k] = fmax(now, start[k]) + 3 * dp_rng_uniform(&rng);
		}
		for (int k = 0; k < 3; k++) {
			now = fmax(now, end[k]);
			end_attempt(study, trial[k], 0,
				    (i + k) % 5 ? DP_END_OK : DP_END_SIGNAL, start[k],
				    metrics);
			if ((i + k) % 5 == 0) { /* again, after others were planned */
				plan(study, trial[k], 1);
				now += 1;
				end_attempt(study, trial[k], 1, DP_END_OK, now - 1,
					    metrics);
			}
			end_trial(study, trial[k], "ok", y, 2);
		}
	}
}

static void slots_never_hold_two_attempts(void **s)
{
	uint32_t study = create("s", LOWER_BOTH);
	size_t most = 0;
	struct fig_spans spans;
	struct dp_err err;

	(void)s;
	random_attempts(study, 40);
	assert_int_equal(fig_spans(subjects(), &spans, &err), DP_OK);
	assert_int_equal(spans.n, 120 + 24);
	for (size_t i = 0; i < spans.n; i++) {
		const struct fig_span *a = &spans.list[i];
		size_t at_once = 0;

		assert_true(i == 0 || a->planned >= spans.list[i - 1].planned);
		assert_true(a->slot < spans.slots);
		assert_true(a->asked <= a->proposed && a->proposed <= a->planned &&
			    a->planned <= a->start && a->start <= a->end &&
			    a->end <= spans.length);
		for (size_t k = 0; k < spans.n; k++) {
			const struct fig_span *b = &spans.list[k];

			at_once += b->planned <= a->planned && b->end > a->planned;
			assert_false(k != i && a->slot == b->slot &&
				     a->planned < b->end && b->planned < a->end);
		}
		most = at_once > most ? at_once : most;
	}
	assert_int_equal(spans.slots, most);
	fig_spans_free(&spans);
}

static void time_is_spent_once(void **s)
{
	enum {
		BINS = 17
	};
	uint32_t study = create("s", LOWER_BOTH);
	double seconds[BINS * FIG_USES], trained = 0, in_spans = 0;
	struct fig_spans spans;
	struct dp_err err;

	(void)s;
	random_attempts(study, 40);
	assert_int_equal(fig_spans(subjects(), &spans, &err), DP_OK);
	assert_int_equal(fig_use_of_time(&spans, BINS, seconds, &err), DP_OK);
	for (size_t i = 0; i < BINS; i++) {
		double sum = 0, width = spans.length / BINS;

		for (size_t use = 0; use < FIG_USES; use++)
			sum += seconds[i * FIG_USES + use];
		assert_true(fabs(sum - (double)spans.slots * width) < 1e-6 * width);
		trained += seconds[i * FIG_USES + FIG_USE_TRAINING] +
			   seconds[i * FIG_USES + FIG_USE_FAILED];
	}
	for (size_t i = 0; i < spans.n; i++)
		in_spans += spans.list[i].end - spans.list[i].start;
	assert_true(fabs(trained - in_spans) < 1e-6 * in_spans);
	fig_spans_free(&spans);
}

/* One slot: 1 s to propose, 2 s to plan, 3 s to start, 4 s that fail; again at once,
 * 5 s that work; then 6 s of nothing. */
static void uses_of_time_by_hand(void **s)
{
	static const double expected[FIG_USES] = { [FIG_USE_TRAINING] = 5,
						   [FIG_USE_FAILED] = 4,
						   [FIG_USE_STARTING] = 3,
						   [FIG_USE_PROPOSING] = 1,
						   [FIG_USE_WAITING] = 2 + 6 };
	uint32_t study = create("s", LOWER_BOTH), trial;
	double seconds[FIG_USES], metrics[] = { 1, 1, 1, 1 };
	struct fig_spans spans;
	struct dp_err err;

	(void)s;
	now = 1;
	trial = propose(study, 0, 0);
	now = 3;
	plan(study, trial, 0);
	now = 10;
	end_attempt(study, trial, 0, DP_END_SIGNAL, 6, NULL);
	plan(study, trial, 1);
	now = 15;
	end_attempt(study, trial, 1, DP_END_OK, 10, metrics);
	now = 21;
	end_trial(study, trial, "ok", metrics, 2);
	assert_int_equal(fig_spans(subjects(), &spans, &err), DP_OK);
	assert_int_equal(spans.slots, 1);
	assert_int_equal(fig_use_of_time(&spans, 1, seconds, &err), DP_OK);
	for (size_t use = 0; use < FIG_USES; use++)
		assert_true(fabs(seconds[use] - expected[use]) < 1e-5);
	fig_spans_free(&spans);
}

static void numbers_are_short(void **s)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = { { 0.03123, "0.0312" }, { 12.49, "12.5" },     { 1500, "1500" },
		      { 999.7, "1000" },     { 3.21e-7, "3.2e-7" }, { 0, "0" },
		      { -4.5, "-4.5" },      { 2.5e9, "2.5e9" } };
	char text[FIG_TEXT_LEN];

	(void)s;
	for (size_t i = 0; i < DP_COUNT(cases); i++)
		assert_string_equal(fig_number(cases[i].v, text), cases[i].text);
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

/* ---- pictures ---- */

/* Draws every figure that applies; gives how many did. */
static size_t draw_all(void)
{
	size_t drawn = 0;

	subjects();
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct dp_buf png = DP_BUF_INIT, words = DP_BUF_INIT;
		struct plot *p = NULL;
		struct dp_err err = { .msg = "" };

		if (!figures[i]->applies(&report))
			continue;
		if (figures[i]->draw(&report, &p, &err) != DP_OK ||
		    plot_png(p, &png, &err) != DP_OK)
			fail_msg("%s: %s", figures[i]->file, err.msg);
		assert_true(png.len > 100 && memcmp(png.data, "\x89PNG", 4) == 0);
		figures[i]->caption(&report, &words);
		assert_true(words.len > 20 && words.data[words.len - 1] == '.');
		assert_null(strstr(words.data, "nan"));
		plot_free(p);
		dp_buf_free(&png);
		dp_buf_free(&words);
		drawn++;
	}
	return drawn;
}

static void nothing_yet(void **s)
{
	(void)s;
	create("s", LOWER_BOTH);
	assert_int_equal(draw_all(), 1); /* the front says that there is nothing */
}

static void all_failed(void **s)
{
	uint32_t study = create("s", LOWER_BOTH);

	(void)s;
	for (int i = 0; i < 3; i++)
		fail_trial(study);
	assert_int_equal(draw_all(), 3); /* and the two of time */
}

static void one_point(void **s)
{
	(void)s;
	evaluate(create("s", LOWER_BOTH), 1, 1);
	assert_int_equal(draw_all(), 4);
}

static void a_study_of_this_moment(void **s)
{
	uint32_t study = create("s", LOWER_BOTH);

	(void)s;
	plan(study, propose(study, 0, 0), 0);
	assert_int_equal(draw_all(), 3);
}

static void only_infinite_points(void **s)
{
	uint32_t study = create("s", LOWER_BOTH);

	(void)s;
	evaluate(study, INFINITY, 1);
	evaluate(study, INFINITY, 2);
	assert_int_equal(draw_all(), 4);
}

static void points_all_over(void **s)
{
	uint32_t study = create("s", LOWER_RAISE), trial;
	double diverged[] = { 2, NAN };

	(void)s;
	for (int i = -5; i <= 5; i++)
		evaluate3(study, pow(10, i), pow(10, i), 0, 0.3 * pow(10, i));
	evaluate(study, 0, 0);
	evaluate(study, INFINITY, 3);
	trial = propose(study, 0, 0);
	plan(study, trial, 0);
	end_attempt(study, trial, 0, DP_END_DIVERGED, now, NULL);
	end_trial(study, trial, "diverged", diverged, 2);
	trial = propose(study, 0, 0);
	plan(study, trial, 0); /* and is still running */
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
		study = create(name, i == 3 ? THREE : i == 4 ? ACCURACY : LOWER_BOTH);
		if (i == 2)
			continue; /* has no trials */
		for (int k = 1; k < 8; k++)
			evaluate3(study, k + (double)i, (8 - k) / 8.0, k, 0.1);
	}
	report.baselines = malloc(sizeof line);
	assert_non_null(report.baselines);
	report.baselines[0] = line;
	report.nbaselines = 1;
	assert_int_equal(draw_all(), 8);
}

static void three_objectives(void **s)
{
	uint32_t study = create("s", THREE);

	(void)s;
	for (int i = 0; i < 9; i++)
		evaluate3(study, 1 + i % 3, 1 + i / 3, 9 - i, 0.5);
	assert_int_equal(draw_all(), 7 - 1);
}

/* More slots than rows fit, and more attempts than blocks. */
static void many_attempts(void **s)
{
	uint32_t study = create("s", LOWER_BOTH);
	double metrics[] = { 1, 1, 1, 1 };

	(void)s;
	for (uint32_t i = 0; i < 3000; i++) {
		propose(study, i, 0);
		plan(study, i, 0);
		now += i % 10 ? 0.5 : 2;
		end_attempt(study, i, 0, i % 500 ? DP_END_OK : DP_END_SIGNAL,
			    i < 100 ? 0 : now - 0.5, metrics);
		end_trial(study, i, "ok", metrics, 2);
	}
	assert_int_equal(draw_all(), 5);
}

static int forget_fonts(void **s)
{
	(void)s;
	plot_shutdown();
	return 0;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(growth_is_the_area_of_each_prefix),
		T(growth_goes_by_the_order_of_ends),
		T(long_growth_is_sampled),
		T(staircases_follow_the_goals),
		T(bands_are_what_runs_reach),
		T(shared_points_are_found),
		T(majority_becomes_the_objective),
		T(slots_never_hold_two_attempts),
		T(time_is_spent_once),
		T(uses_of_time_by_hand),
		T(numbers_are_short),
		T(scales_follow_the_decades),
		T(nothing_yet),
		T(all_failed),
		T(one_point),
		T(a_study_of_this_moment),
		T(only_infinite_points),
		T(points_all_over),
		T(many_studies_with_long_names),
		T(three_objectives),
		T(many_attempts),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, forget_fonts);
}
