/* test_figures_b.c - figures of the parameter space: cells, grids, slices, relevance and
 * the incumbent against values worked out by hand, and every picture on odd studies. */
#include "base/rng.h"
#include "linalg/linalg.h"
#include "recall/recall.h"
#include "reports/figures/space_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct figure *const figures[] = {
	&figure_oracles,         &figure_surrogates, &figure_pairs,
	&figure_hyperparameters, &figure_parallel,   &figure_relevance,
};

/* ---- a study made in memory ---- */

static struct report report;
static uint32_t seq;
static struct dp_err err;

static void apply(struct dp_event e)
{
	e.study = 1;
	e.seq = seq++;
	e.time = 1000000 + seq;
	if (dp_state_apply(&report.state, &e, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

#define HEAD   "study: s\ntrainer: {command: [x]}\n"
#define RANDOM "search: {method: random, evaluations: 100000}\n"
#define TWO_METRIC                                                                       \
	"objectives: {a: {metric: a}, b: {metric: b}}\nanti_ideal: {a: 10, b: 10}\n"
#define SVT                                                                              \
	"objectives: {epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}, "       \
	"error: {metric: error}}\nanti_ideal: {epsilon: 10, error: 1}\n"
#define SVT_SPACE                                                                        \
	"C: {type: int, range: [1, 30]}, b: {type: float, range: [0.01, 100], scale: "   \
	"log}"

static struct dp_study_state *create(const char *text)
{
	apply((struct dp_event){ .type = DP_EV_STUDY_CREATED,
				 .name = "s",
				 .text = text,
				 .path = "f",
				 .dir = "/" });
	return dp_state_by_id(&report.state, 1);
}

static void trial(const char *how, const double *x, const double *y)
{
	const struct dp_study_state *st = dp_state_by_id(&report.state, 1);

	apply((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
				 .trial = st->ntrials,
				 .source = "random",
				 .params = x,
				 .nparams = (uint32_t)st->spec->nparams });
	apply((struct dp_event){ .type = DP_EV_TRIAL_ENDED,
				 .trial = st->ntrials - 1,
				 .state = how,
				 .objectives = y,
				 .nobjectives = (uint32_t)st->spec->nobjectives });
}

#define TRIAL(x, y) trial("ok", (const double[])x, (const double[])y)
#define V(...)                                                                           \
	{                                                                                \
		__VA_ARGS__                                                              \
	}

/* The subject of what was applied so far; with models where they can be fitted. */
static struct subject *subject(bool models)
{
	struct subject *s = calloc(1, sizeof *s);

	s->s = dp_state_by_id(&report.state, 1);
	s->privacy = s->s->spec->objectives[0].mechanism ? 0 : -1;
	s->utility = s->privacy + 1;
	s->y = 1;
	assert_int_equal(dp_study_front(s->s, &err), DP_OK);
	s->known = dp_recall(s->s, false, &s->nknown);
	s->history = (struct dp_history){ .known = s->known, .n = s->nknown };
	s->models = models ? dp_proposer_new(s->s->spec) : NULL;
	if (models && dp_surrogate_fit(s->models, &s->history, NULL, &err) != DP_OK) {
		dp_proposer_free(s->models);
		s->models = NULL;
	}
	report.subjects = s;
	report.nsubjects = 1;
	return s;
}

static int clean(void **state)
{
	(void)state;
	report_free(&report);
	memset(&report, 0, sizeof report);
	seq = 0;
	return 0;
}

/* Random points of the study's space with objectives by this function. */
static void scatter(uint32_t n, void (*value)(const double *x, double *y))
{
	const struct dp_study *spec = dp_state_by_id(&report.state, 1)->spec;

	for (uint32_t i = 0; i < n; i++) {
		double x[DP_PARAMS_MAX], y[DP_OBJECTIVES_MAX];

		dp_space_sample(spec, i, true, x);
		value(x, y);
		trial("ok", x, y);
	}
}

/* The closed form of the sparse vector technique's epsilon. */
static double svt(double C, double b)
{
	double t = cbrt(2 * C);

	return (1 + t) * (1 + t * t) / b;
}

static void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

/* ---- cells ---- */

static void check_cells(const struct space_cells *c, const double *centre,
			const double *edge, size_t n)
{
	assert_int_equal(c->n, n);
	for (size_t i = 0; i < n; i++)
		assert_near(c->centre[i], centre[i], 1e-12);
	for (size_t i = 0; i <= n; i++)
		assert_near(c->edge[i], edge[i], 1e-12);
}

static void cells_of_every_kind(void **state)
{
	const double unit[] = { 0, 0.25, 0.5, 0.75, 1 };
	const double unit_edge[] = { -0.125, 0.125, 0.375, 0.625, 0.875, 1.125 };
	const double ten[] = { 0.01, 1, 100 };
	const double ten_edge[] = { 0.001, 0.1, 10, 1000 };
	const double few[] = { 1, 2, 3, 4 }, few_edge[] = { 0.5, 1.5, 2.5, 3.5, 4.5 };
	const double index[] = { 0, 1, 2 }, index_edge[] = { -0.5, 0.5, 1.5, 2.5 };
	const struct dp_study *s;
	struct space_cells c;

	(void)state;
	s = create(HEAD "parameters: {u: {type: float, range: [0, 1]}, t: {type: float, "
			"range: [0.01, 100], scale: log}, i: {type: int, range: [1, 4]}, "
			"k: {type: categorical, values: [x, y, z]}}\n" TWO_METRIC RANDOM)
		    ->spec;
	assert_int_equal(space_cells(s, 0, 5, &c, &err), DP_OK);
	check_cells(&c, unit, unit_edge, 5);
	space_cells_free(&c);
	assert_int_equal(space_cells(s, 1, 3, &c, &err), DP_OK);
	check_cells(&c, ten, ten_edge, 3);
	space_cells_free(&c);
	assert_int_equal(space_cells(s, 2, 10, &c, &err), DP_OK);
	check_cells(&c, few, few_edge, 4);
	space_cells_free(&c);
	assert_int_equal(space_cells(s, 3, 2, &c, &err), DP_OK);
	check_cells(&c, index, index_edge, 3);
	space_cells_free(&c);
}

/* Wide ranges of whole numbers: different whole centres, the ends among them, each
 * within its edges. */
static void cells_of_many_whole_numbers(void **state)
{
	const struct dp_study *s;

	(void)state;
	s = create(HEAD "parameters: {i: {type: int, range: [1, 1000]}, j: {type: int, "
			"range: [1, 1000], scale: log}}\n" TWO_METRIC RANDOM)
		    ->spec;
	for (size_t p = 0; p < 2; p++) {
		struct space_cells c;

		assert_int_equal(space_cells(s, p, 40, &c, &err), DP_OK);
		assert_true(c.n > 20 && c.n <= 40);
		assert_true(c.centre[0] == 1 && c.centre[c.n - 1] == 1000);
		for (size_t i = 0; i < c.n; i++) {
			assert_true(c.centre[i] == rint(c.centre[i]));
			assert_true(c.edge[i] < c.centre[i] &&
				    c.centre[i] < c.edge[i + 1]);
		}
		assert_true(p == 0 || c.edge[0] > 0);
		space_cells_free(&c);
	}
}

static void cells_around_values(void **state)
{
	const double seen[] = { 7, 1, 4, 7, 10, 1 }, one[] = { 5, 5 };
	const double centre[] = { 1, 4, 7, 10 };
	const double edge[] = { -0.5, 2.5, 5.5, 8.5, 11.5 };
	const double decades[] = { 100, 1, 10 }, decade[] = { 1, 10, 100 };
	const double decade_edge[] = { sqrt(0.1), sqrt(10), sqrt(1000), sqrt(1e5) };
	const double alone[] = { 5 }, alone_edge[] = { 4.5, 5.5 };
	const struct dp_study *s;
	struct space_cells c;

	(void)state;
	s = create(HEAD "parameters: {i: {type: int, range: [1, 30]}, t: {type: float, "
			"range: [0.01, 100], scale: log}}\n" TWO_METRIC RANDOM)
		    ->spec;
	assert_int_equal(space_cells_around(s, 0, seen, 6, &c, &err), DP_OK);
	check_cells(&c, centre, edge, 4);
	space_cells_free(&c);
	assert_int_equal(space_cells_around(s, 1, decades, 3, &c, &err), DP_OK);
	check_cells(&c, decade, decade_edge, 3);
	space_cells_free(&c);
	assert_int_equal(space_cells_around(s, 0, one, 2, &c, &err), DP_OK);
	check_cells(&c, alone, alone_edge, 1);
	space_cells_free(&c);
}

/* ---- grids ---- */

/* Points (i, j) of a grid with a = 10 i + j, as many as asked. */
static void make_grid(int columns, int rows, int count)
{
	for (int i = 0; i < columns; i++)
		for (int j = 0; j < rows && count > 0; j++, count--)
			TRIAL(V((double)i, (double)j), V(10.0 * i + j, 1));
}

#define SQUARE                                                                           \
	HEAD "parameters: {i: {type: int, range: [0, 20]}, j: {type: float, range: [0, " \
	     "20]}}\n" TWO_METRIC RANDOM

static void a_grid_shows_its_own_values(void **state)
{
	struct space_slice c;
	double z[12];

	(void)state;
	create(SQUARE);
	make_grid(3, 4, 11); /* the last one is missing */
	trial("ok", (const double[]){ 1, 2 }, (const double[]){ 14, 1 });
	assert_int_equal(space_slice(subject(false), true, &c, &err), DP_OK);
	assert_true(c.grid);
	assert_int_equal(c.x.n, 3);
	assert_int_equal(c.y.n, 4);
	assert_int_equal(space_source(&c, 0), SPACE_EVALUATED);
	assert_int_equal(space_values(&c, 0, z, &err), DP_OK);
	assert_true(z[3 * 3 + 1] == 13); /* row-major from the lowest j */
	assert_true(z[0 * 3 + 2] == 20);
	assert_true(z[2 * 3 + 1] == 13); /* the mean of 12 and 14 */
	assert_true(isnan(z[3 * 3 + 2]));
	space_slice_free(&c);
}

static void half_a_grid_is_one_and_less_is_not(void **state)
{
	struct space_slice c;

	(void)state;
	create(SQUARE);
	for (int i = 0; i < 6; i++) /* a diagonal: 6 of 36 */
		TRIAL(V((double)i, (double)i), V(1, 1));
	assert_int_equal(space_slice(subject(false), true, &c, &err), DP_OK);
	assert_false(c.grid);
	assert_int_equal(space_source(&c, 0), SPACE_NEAREST);
	space_slice_free(&c);
	clean(NULL);
	create(SQUARE);
	for (int i = 0; i < 4; i++) { /* and a second one: 8 of 16 */
		TRIAL(V((double)i, (double)i), V(1, 1));
		TRIAL(V((double)i, (double)((i + 1) % 4)), V(1, 1));
	}
	assert_int_equal(space_slice(subject(false), true, &c, &err), DP_OK);
	assert_true(c.grid);
	space_slice_free(&c);
}

/* ---- values over a slice ---- */

static void nothing_matters(const double *x, double *y)
{
	y[0] = svt(x[0], x[1]);
	y[1] = 0.5;
}

static void an_oracle_is_asked_in_every_cell(void **state)
{
	struct space_slice c;
	double *z;

	(void)state;
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	scatter(3, nothing_matters);
	assert_int_equal(space_slice(subject(true), true, &c, &err), DP_OK);
	assert_int_equal(space_source(&c, 0), SPACE_COMPUTED);
	assert_int_equal(c.x.n, 30);
	z = malloc(space_size(&c) * sizeof *z);
	assert_int_equal(space_values(&c, 0, z, &err), DP_OK);
	for (size_t i = 0; i < space_size(&c); i++)
		assert_near(z[i], svt(c.x.centre[i % 30], c.y.centre[i / 30]), 1e-9);
	free(z);
	space_slice_free(&c);
}

static void the_nearest_point_colours_its_surroundings(void **state)
{
	struct space_slice c;
	double *z;

	(void)state;
	create(HEAD "parameters: {t: {type: float, range: [0.01, 100], scale: log}, u: "
		    "{type: float, range: [0, 1]}}\n" TWO_METRIC RANDOM);
	TRIAL(V(0.1, 0.5), V(1, 5));
	TRIAL(V(10, 0.5), V(2, 4));
	assert_int_equal(space_slice(subject(false), true, &c, &err), DP_OK);
	z = malloc(space_size(&c) * sizeof *z);
	assert_int_equal(space_values(&c, 0, z, &err), DP_OK);
	for (size_t i = 0; i < space_size(&c); i++) /* half-way on the log scale is 1 */
		assert_true(z[i] == (c.x.centre[i % c.x.n] < 1 ? 1 : 2));
	free(z);
	space_slice_free(&c);
}

static void by_a_and_c(const double *x, double *y)
{
	y[0] = 3 + sin(6 * x[0]) + 2 * x[2];
	y[1] = 3 + cos(7 * x[2]) - x[0];
}

#define CUBE                                                                             \
	HEAD "parameters: {a: {type: float, range: [0, 1]}, b: {type: float, range: "    \
	     "[0, 1]}, c: {type: float, range: [0, 1]}}\n" TWO_METRIC RANDOM

static void slices_go_through_the_incumbent(void **state)
{
	const struct dp_trial *t;
	struct space_prediction p;
	struct dp_predicted one[2];
	struct space_slice c;
	struct subject *s;
	double x[3], *z;

	(void)state;
	create(CUBE);
	scatter(40, by_a_and_c);
	s = subject(true);
	assert_int_equal(space_incumbent(s, &t, &err), DP_OK);
	assert_int_equal(space_slice(s, true, &c, &err), DP_OK);
	assert_ptr_equal(c.through, t);
	assert_int_equal(c.x.param, 0); /* what matters, in the order of the file */
	assert_int_equal(c.y.param, 2);
	assert_int_equal(space_source(&c, 1), SPACE_PREDICTED);
	assert_int_equal(space_predict(&c, &p, &err), DP_OK);
	x[0] = c.x.centre[5];
	x[1] = t->x[1];
	x[2] = c.y.centre[7];
	assert_int_equal(dp_surrogate_eval(s->models, x, 1, one, NULL, NULL, &err),
			 DP_OK);
	/* predictions in blocks differ in the last bits */
	assert_near(p.y[(7 * c.x.n + 5) * 2 + 1].value, one[1].value, 1e-9);
	assert_near(one[1].value, 3 + cos(7 * x[2]) - x[0], 0.2);
	z = malloc(space_size(&c) * sizeof *z);
	assert_int_equal(space_values(&c, 1, z, &err), DP_OK);
	assert_true(z[7 * c.x.n + 5] == p.y[(7 * c.x.n + 5) * 2 + 1].value);
	free(z);
	space_prediction_free(&p);
	space_slice_free(&c);
}

static void other_parameters_are_the_incumbents(void **state)
{
	struct space_slice c;
	struct subject *s;
	double *z;

	(void)state;
	create(HEAD "parameters: {z: {type: float, range: [0, 10]}, " SVT_SPACE
		    "}\n" SVT RANDOM);
	TRIAL(V(5, 10, 1), V(1, 0.5));
	TRIAL(V(5, 10, 20), V(1, 0.5));
	s = subject(false);
	assert_int_equal(space_slice_over(s, s->s->trials[1], 0, 1, 12, &c, &err), DP_OK);
	z = malloc(space_size(&c) * sizeof *z);
	assert_int_equal(space_values(&c, 0, z, &err), DP_OK);
	for (size_t i = 0; i < space_size(&c); i++)
		assert_near(z[i], svt(c.y.centre[i / c.x.n], 20), 1e-9);
	free(z);
	space_slice_free(&c);
}

static void points_of_the_slice_are_found_again(void **state)
{
	struct space_slice c;
	bool taken[441];

	(void)state;
	create(HEAD "parameters: {i: {type: int, range: [0, 20]}, j: {type: int, range: "
		    "[0, 20]}}\n" TWO_METRIC RANDOM);
	TRIAL(V(3, 4), V(1, 1));
	TRIAL(V(3, 4), V(1, 1));
	TRIAL(V(20, 0), V(1, 1));
	assert_int_equal(space_slice(subject(false), false, &c, &err), DP_OK);
	assert_int_equal(space_size(&c), 441);
	assert_int_equal(space_taken(&c, taken), 2);
	assert_true(taken[4 * 21 + 3] && taken[20]);
	space_slice_free(&c);
}

/* ---- relevance ---- */

static void shares_of_a_model(void **state)
{
	struct subject *s;
	double share[3];

	(void)state;
	create(CUBE);
	scatter(40, by_a_and_c);
	s = subject(true);
	assert_true(space_model_shares(s, 1, share));
	assert_near(share[0] + share[1] + share[2], 1, 1e-12);
	assert_true(share[2] > share[0] && share[0] > share[1]);
	assert_false(space_oracle_shares(s, 1, s->known[0].x, share));
}

static void shares_of_an_oracle(void **state)
{
	const double at[] = { 5, 10, 1 };
	double share[3], c, b;
	struct subject *s;

	(void)state;
	create(HEAD "parameters: {z: {type: float, range: [0, 10]}, " SVT_SPACE
		    "}\n" SVT RANDOM);
	trial("ok", (const double[]){ 5, 10, 1 }, (const double[]){ 1, 0.5 });
	s = subject(true);
	assert_false(space_model_shares(s, 0, share));
	assert_true(space_oracle_shares(s, 0, at, share));
	assert_true(share[0] == 0);
	/* how far log epsilon goes, by the closed form */
	c = log(svt(30, 1) / svt(1, 1));
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
	create(HEAD "parameters: {n: {type: float, range: [1, 9]}, e: {type: int, range: "
		    "[1, 9]}}\nobjectives: {epsilon: {privacy: {mechanism: dp-sgd, "
		    "sampling: poisson, records: 1000, lot: 10, epochs: e, "
		    "noise_multiplier: n, delta: 1e-5, accountant: pld}}, error: "
		    "{metric: error}}\nanti_ideal: {epsilon: 10, error: 1}\n" RANDOM);
	TRIAL(V(2, 3), V(1, 0.5));
	s = subject(true);
	assert_null(s->models);
	assert_true(space_oracle_slow(s, 0));
	assert_false(space_oracle_shares(s, 0, s->known[0].x, share));
	assert_int_equal(space_slice(s, true, &c, &err), DP_OK);
	assert_int_equal(space_source(&c, 0), SPACE_NEAREST);
	space_slice_free(&c);
	TRIAL(V(3, 4), V(0.9, 0.6));
	TRIAL(V(4, 5), V(0.8, 0.7));
	free(s->known);
	free(s);
	s = subject(true);
	assert_true(space_oracle_slow(s, 0));
	assert_int_equal(space_slice(s, true, &c, &err), DP_OK);
	assert_int_equal(space_source(&c, 0), SPACE_PREDICTED);
	space_slice_free(&c);
}

static void what_is_shown_is_what_matters(void **state)
{
	size_t param[DP_PARAMS_MAX], all;
	struct subject *s;

	(void)state;
	create(CUBE);
	scatter(40, by_a_and_c);
	s = subject(true);
	assert_int_equal(space_rank(s, s->known[0].x, param), 3);
	assert_int_equal(param[2], 1);
	assert_int_equal(space_shown(s, s->known[0].x, 2, param, &all), 2);
	assert_int_equal(all, 3);
	assert_true(param[0] == 0 && param[1] == 2);
	/* without models and oracles: the order of the file */
	dp_proposer_free(s->models);
	s->models = NULL;
	assert_int_equal(space_rank(s, s->known[0].x, param), 3);
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
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	s = subject(false);
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
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	assert_int_equal(space_knee(subject(false), &front), 1);
}

static void the_knee_of_what_is_maximised(void **state)
{
	double x[] = { 1, 2, 9 }, y[] = { 0.1, 0.8, 0.9 };
	struct fig_points front = { .x = x, .y = y, .n = 3 };

	(void)state;
	create(HEAD "parameters: {u: {type: float, range: [0, 1]}}\nobjectives: {a: "
		    "{metric: a}, b: {metric: b, goal: maximize}}\nanti_ideal: {a: 10, "
		    "b: 0}\n" RANDOM);
	assert_int_equal(space_knee(subject(false), &front), 1);
}

static void an_incumbent_without_a_front(void **state)
{
	const struct dp_trial *t;
	struct subject *s;

	(void)state;
	create(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC
		    "constraints: {never: \"<= 0\"}\n" RANDOM);
	s = subject(false);
	assert_int_equal(space_incumbent(s, &t, &err), DP_OK);
	assert_null(t);
	clean(NULL);
	create(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC
		    "constraints: {never: \"<= 0\"}\n" RANDOM);
	trial("failed", (const double[]){ 0.5 }, (const double[]){ NAN, NAN });
	trial("ok", (const double[]){ 0.5 }, (const double[]){ 1, 2 });
	s = subject(false);
	assert_int_equal(space_incumbent(s, &t, &err), DP_OK);
	assert_int_equal(t->number, 1);
}

/* ---- points ---- */

static void many_points_are_thinned_out(void **state)
{
	struct space_where x = { false, 0 }, a = { true, 0 };
	struct fig_points p;
	struct subject *s;

	(void)state;
	create(CUBE);
	scatter(2500, by_a_and_c);
	trial("failed", (const double[]){ 0, 0, 0 }, (const double[]){ 0, 0 });
	trial("ok", (const double[]){ 0, 0, 0 }, (const double[]){ INFINITY, 0 });
	s = subject(false);
	assert_int_equal(space_places(s, NULL, x, a, &p, &err), DP_OK);
	assert_true(p.n == SPACE_POINTS_MAX || p.n == SPACE_POINTS_MAX - 1);
	for (size_t i = 0; i < p.n; i++) {
		assert_true(p.x[i] == s->s->trials[p.trial[i]]->x[0]);
		assert_true(isfinite(p.y[i]));
		/* evenly: the i-th of 1000 is about the 2.5 i-th trial */
		assert_true(fabs((double)p.trial[i] - 2.5 * (double)i) < 5);
	}
	fig_points_free(&p);
}

/* ---- every picture on odd studies ---- */

static void png_of(const struct figure *f, struct dp_buf *out)
{
	struct plot *p = NULL;

	if (f->draw(&report, &p, &err) != DP_OK || plot_png(p, out, &err) != DP_OK)
		fail_msg("%s: %s", f->file, err.msg);
	plot_free(p);
	assert_true(out->len > 1000 && memcmp(out->data, "\x89PNG", 4) == 0);
}

/* Draws those that `expected` names by their first letters, and no other applies. */
static void draw_all(const char *expected)
{
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct dp_buf png = DP_BUF_INIT, caption = DP_BUF_INIT;
		bool due = strstr(expected, figures[i]->file) != NULL;

		if (figures[i]->applies(&report) != due)
			fail_msg("%s applies: %d", figures[i]->file, !due);
		if (!due)
			continue;
		png_of(figures[i], &png);
		figures[i]->caption(&report, &caption);
		assert_true(caption.len > 20 && caption.data[caption.len - 1] == '.');
		dp_buf_free(&png);
		dp_buf_free(&caption);
	}
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
	create(HEAD "parameters: {u: {type: float, range: [0, 1]}}\n" TWO_METRIC RANDOM);
	scatter(12, smooth);
	subject(true);
	draw_all("oracles.png surrogates.png hyperparameters.png");
}

static void only_fixed_parameters(void **state)
{
	(void)state;
	create(HEAD "parameters: {u: {fixed: 1}}\n" TWO_METRIC RANDOM);
	scatter(3, smooth);
	subject(true);
	draw_all("");
}

static void thirteen_parameters_and_long_names(void **state)
{
	struct dp_buf text = DP_BUF_INIT;

	(void)state;
	dp_buf_puts(&text, HEAD "parameters:\n");
	for (int i = 0; i < 13; i++)
		dp_buf_printf(&text, "  %s%d: {%s}\n",
			      i == 5 ? "a_name_of_sixty_characters_and_more_and_more_and_"
				     : "p",
			      i,
			      i % 4 == 0   ? "type: int, range: [1, 9]"
			      : i % 4 == 1 ? "type: float, range: [1e-9, 1], scale: log"
			      : i % 4 == 2 ? "type: categorical, values: [x, 2, true]"
					   : "type: float, range: [-1, 1]");
	dp_buf_puts(&text, TWO_METRIC RANDOM);
	create(dp_buf_text(&text));
	dp_buf_free(&text);
	scatter(30, smooth);
	subject(true);
	draw_all("oracles.png surrogates.png pairs.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void only_categories_all_taken(void **state)
{
	(void)state;
	create(HEAD "parameters: {p: {type: categorical, values: [x, y]}, q: {type: "
		    "categorical, values: [u, v, w]}}\n" TWO_METRIC RANDOM);
	for (int i = 0; i < 6; i++)
		TRIAL(V((double)(i % 2), (double)(i / 2)), V(1.0 + i, 7.0 - i));
	subject(true);
	draw_all("oracles.png surrogates.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void three_objectives(void **state)
{
	(void)state;
	create(HEAD "parameters: {u: {type: float, range: [0, 1]}, i: {type: int, range: "
		    "[1, 9]}, j: {type: int, range: [1, 9]}}\nobjectives: {a: {metric: "
		    "a}, b: {metric: b, goal: maximize}, c: {metric: c}}\nanti_ideal: "
		    "{a: 10, b: 0, c: 10}\n" RANDOM);
	scatter(20, smooth);
	subject(true);
	draw_all("oracles.png surrogates.png pairs.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void one_point_is_too_few_for_models(void **state)
{
	(void)state;
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	scatter(1, nothing_matters);
	assert_null(subject(true)->models);
	draw_all("oracles.png hyperparameters.png");
}

static void no_point_at_all(void **state)
{
	(void)state;
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	trial("failed", (const double[]){ 3, 1 }, (const double[]){ NAN, NAN });
	trial("diverged", (const double[]){ 4, 1 }, (const double[]){ 5, NAN });
	subject(true);
	draw_all("");
	report.nsubjects = 0;
	draw_all("");
	report.nsubjects = 1;
}

static void to_infinity(const double *x, double *y)
{
	y[0] = x[1] < 1 ? INFINITY : svt(x[0], x[1]);
	y[1] = 0.5 + 0.4 * sin(x[0]);
}

static void an_infinite_epsilon(void **state)
{
	(void)state;
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	scatter(12, to_infinity);
	subject(true);
	draw_all("oracles.png surrogates.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void only_infinite_epsilons(void **state)
{
	(void)state;
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	trial("ok", (const double[]){ 3, 0.1 }, (const double[]){ INFINITY, 0.1 });
	trial("ok", (const double[]){ 9, 0.2 }, (const double[]){ INFINITY, 0.2 });
	subject(true);
	draw_all("oracles.png surrogates.png relevance.png");
}

static void ten_decades(const double *x, double *y)
{
	y[0] = pow(x[0], 2);
	y[1] = 1 / x[0];
}

static void values_over_ten_decades(void **state)
{
	(void)state;
	create(HEAD "parameters: {t: {type: float, range: [1e-5, 1e5], scale: log}, i: "
		    "{type: int, range: [1, 1000000], scale: log}}\nobjectives: {a: "
		    "{metric: a, transform: log}, b: {metric: b}}\nanti_ideal: {a: 1e9, "
		    "b: 1e9}\n" RANDOM);
	scatter(25, ten_decades);
	subject(true);
	draw_all("oracles.png surrogates.png hyperparameters.png parallel.png "
		 "relevance.png");
}

static void no_point_meets_the_constraints(void **state)
{
	(void)state;
	create(HEAD "parameters: {" SVT_SPACE "}\n" SVT
		    "constraints: {never: \"<= 0\"}\n" RANDOM);
	scatter(5, nothing_matters);
	subject(true);
	draw_all("oracles.png surrogates.png relevance.png");
}

static void the_same_study_gives_the_same_bytes(void **state)
{
	struct dp_buf once = DP_BUF_INIT, twice = DP_BUF_INIT;

	(void)state;
	create(CUBE);
	scatter(20, by_a_and_c);
	subject(true);
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		png_of(figures[i], &once);
		png_of(figures[i], &twice);
		assert_int_equal(once.len, twice.len);
		assert_memory_equal(once.data, twice.data, once.len);
		dp_buf_free(&once);
		dp_buf_free(&twice);
	}
}

static int forget_fonts(void **state)
{
	(void)state;
	plot_shutdown();
	return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, clean)
	const struct CMUnitTest tests[] = {
		TEST(cells_of_every_kind),
		TEST(cells_of_many_whole_numbers),
		TEST(cells_around_values),
		TEST(a_grid_shows_its_own_values),
		TEST(half_a_grid_is_one_and_less_is_not),
		TEST(an_oracle_is_asked_in_every_cell),
		TEST(the_nearest_point_colours_its_surroundings),
		TEST(slices_go_through_the_incumbent),
		TEST(other_parameters_are_the_incumbents),
		TEST(points_of_the_slice_are_found_again),
		TEST(shares_of_a_model),
		TEST(shares_of_an_oracle),
		TEST(a_slow_oracle_is_not_asked),
		TEST(what_is_shown_is_what_matters),
		TEST(the_knee),
		TEST(the_knee_counts_epsilon_by_its_logarithm),
		TEST(the_knee_of_what_is_maximised),
		TEST(an_incumbent_without_a_front),
		TEST(many_points_are_thinned_out),
		TEST(one_parameter),
		TEST(only_fixed_parameters),
		TEST(thirteen_parameters_and_long_names),
		TEST(only_categories_all_taken),
		TEST(three_objectives),
		TEST(one_point_is_too_few_for_models),
		TEST(no_point_at_all),
		TEST(an_infinite_epsilon),
		TEST(only_infinite_epsilons),
		TEST(values_over_ten_decades),
		TEST(no_point_meets_the_constraints),
		TEST(the_same_study_gives_the_same_bytes),
	};
#undef TEST
	dp_linalg_single_thread();
	return cmocka_run_group_tests(tests, NULL, forget_fonts);
}
