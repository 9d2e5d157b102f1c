/* test_figures_slice.c - cells, grids and slices of the parameter space against values
 * worked out by hand. */
#include "tests/unit/support/made_space.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

/* ---- cells ---- */

static void check_cells(const struct space_cells *c, const double *centre, const double *edge,
			size_t n)
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
	s = made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}, t: {type: float, "
			    "range: [0.01, 100], scale: log}, i: {type: int, range: [1, 4]}, "
			    "k: {type: categorical, values: [x, y, z]}}\n" TWO_METRIC RANDOM)
		    ->spec;
	c = space_split_range(&made_mem, s, 0, 5);
	check_cells(&c, unit, unit_edge, 5);
	c = space_split_range(&made_mem, s, 1, 3);
	check_cells(&c, ten, ten_edge, 3);
	c = space_split_range(&made_mem, s, 2, 10);
	check_cells(&c, few, few_edge, 4);
	c = space_split_range(&made_mem, s, 3, 2);
	check_cells(&c, index, index_edge, 3);
}

/* Wide ranges of whole numbers: different whole centres, the ends among them, each
 * within its edges. */
static void cells_of_many_whole_numbers(void **state)
{
	const struct dp_study *s;

	(void)state;
	s = made_study(HEAD "parameters: {i: {type: int, range: [1, 1000]}, j: {type: int, "
			    "range: [1, 1000], scale: log}}\n" TWO_METRIC RANDOM)
		    ->spec;
	for (size_t p = 0; p < 2; p++) {
		struct space_cells c;

		c = space_split_range(&made_mem, s, p, 40);
		assert_true(c.n > 20 && c.n <= 40);
		assert_true(c.centre[0] == 1 && c.centre[c.n - 1] == 1000);
		for (size_t i = 0; i < c.n; i++) {
			assert_true(c.centre[i] == rint(c.centre[i]));
			assert_true(c.edge[i] < c.centre[i] && c.centre[i] < c.edge[i + 1]);
		}
		assert_true(p == 0 || c.edge[0] > 0);
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
	s = made_study(HEAD "parameters: {i: {type: int, range: [1, 30]}, t: {type: float, "
			    "range: [0.01, 100], scale: log}}\n" TWO_METRIC RANDOM)
		    ->spec;
	c = space_split_around_values(&made_mem, s, 0, seen, 6);
	check_cells(&c, centre, edge, 4);
	c = space_split_around_values(&made_mem, s, 1, decades, 3);
	check_cells(&c, decade, decade_edge, 3);
	c = space_split_around_values(&made_mem, s, 0, one, 2);
	check_cells(&c, alone, alone_edge, 1);
}

/* ---- grids ---- */

/* Points (i, j) of a grid with a = 10 i + j, as many as asked. */
static void make_grid(int columns, int rows, int count)
{
	for (int i = 0; i < columns; i++)
		for (int j = 0; j < rows && count > 0; j++, count--)
			TRIAL(V((double)i, (double)j), V(10.0 * i + j, 1));
}

#define SQUARE                                                                                     \
	HEAD "parameters: {i: {type: int, range: [0, 20]}, j: {type: float, range: [0, "           \
	     "20]}}\n" TWO_METRIC RANDOM

static void a_grid_shows_its_own_values(void **state)
{
	struct space_slice c;
	double *z;

	(void)state;
	made_study(SQUARE);
	make_grid(3, 4, 11); /* the last one is missing */
	made_trial("ok", (const double[]){ 1, 2 }, (const double[]){ 14, 1 });
	c = space_slice(&made_mem, made_subject(false), true);
	assert_true(c.is_grid);
	assert_int_equal(c.x.n, 3);
	assert_int_equal(c.y.n, 4);
	assert_int_equal(space_source(&c, 0), SPACE_EVALUATED);
	z = space_values(&made_mem, &c, 0);
	assert_true(z[3 * 3 + 1] == 13); /* row-major from the lowest j */
	assert_true(z[0 * 3 + 2] == 20);
	assert_true(z[2 * 3 + 1] == 13); /* the mean of 12 and 14 */
	assert_true(isnan(z[3 * 3 + 2]));
}

static void half_a_grid_is_one_and_less_is_not(void **state)
{
	struct space_slice c;

	(void)state;
	made_study(SQUARE);
	for (int i = 0; i < 6; i++) /* a diagonal: 6 of 36 */
		TRIAL(V((double)i, (double)i), V(1, 1));
	c = space_slice(&made_mem, made_subject(false), true);
	assert_false(c.is_grid);
	assert_int_equal(space_source(&c, 0), SPACE_NEAREST);
	made_free(NULL);
	made_study(SQUARE);
	for (int i = 0; i < 4; i++) { /* and a second one: 8 of 16 */
		TRIAL(V((double)i, (double)i), V(1, 1));
		TRIAL(V((double)i, (double)((i + 1) % 4)), V(1, 1));
	}
	c = space_slice(&made_mem, made_subject(false), true);
	assert_true(c.is_grid);
}

/* ---- values over a slice ---- */

static void an_oracle_is_asked_in_every_cell(void **state)
{
	struct space_slice c;
	double *z;

	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	made_scatter(3, nothing_matters);
	c = space_slice(&made_mem, made_subject(true), true);
	assert_int_equal(space_source(&c, 0), SPACE_COMPUTED);
	assert_int_equal(c.x.n, 30);
	z = space_values(&made_mem, &c, 0);
	for (size_t i = 0; i < space_count_cells(&c); i++)
		assert_near(z[i], made_svt(c.x.centre[i % 30], c.y.centre[i / 30]), 1e-9);
}

static void the_nearest_point_colours_its_surroundings(void **state)
{
	struct space_slice c;
	double *z;

	(void)state;
	made_study(HEAD "parameters: {t: {type: float, range: [0.01, 100], scale: log}, u: "
			"{type: float, range: [0, 1]}}\n" TWO_METRIC RANDOM);
	TRIAL(V(0.1, 0.5), V(1, 5));
	TRIAL(V(10, 0.5), V(2, 4));
	c = space_slice(&made_mem, made_subject(false), true);
	z = space_values(&made_mem, &c, 0);
	for (size_t i = 0; i < space_count_cells(&c); i++) /* half-way on the log scale is 1 */
		assert_true(z[i] == (c.x.centre[i % c.x.n] < 1 ? 1 : 2));
}

static void slices_go_through_the_incumbent(void **state)
{
	struct space_anchor t;
	struct dp_prediction one[2];
	struct space_slice c;
	struct study_data *s;
	double x[3], *z;

	(void)state;
	made_study(CUBE);
	made_scatter(40, by_a_and_c);
	s = made_subject(true);
	t = space_find_anchor(s);
	c = space_slice(&made_mem, s, true);
	assert_int_equal(c.anchor.point.trial, t.point.trial);
	assert_memory_equal(c.anchor.x, t.x, 3 * sizeof *t.x);
	assert_int_equal(c.x.param, 0); /* what matters, in the order of the file */
	assert_int_equal(c.y.param, 2);
	assert_int_equal(space_source(&c, 1), SPACE_PREDICTED);
	space_predict(&made_mem, &c);
	x[0] = c.x.centre[5];
	x[1] = t.x[1];
	x[2] = c.y.centre[7];
	dp_surrogate_predict(s->surrogates, x, 1, one, NULL, NULL);
	/* predictions in blocks differ in the last bits */
	assert_near(c.predictions[(7 * c.x.n + 5) * 2 + 1].value, one[1].value, 1e-9);
	assert_near(one[1].value, 3 + cos(7 * x[2]) - x[0], 0.2);
	z = space_values(&made_mem, &c, 1);
	assert_true(z[7 * c.x.n + 5] == c.predictions[(7 * c.x.n + 5) * 2 + 1].value);
}

static void other_parameters_are_the_incumbents(void **state)
{
	struct space_anchor through = { .is_known = true, .point = { 1, DP_CHECKPOINT_FINAL } };
	struct space_slice c;
	struct study_data *s;
	double *z;

	(void)state;
	made_study(HEAD "parameters: {z: {type: float, range: [0, 10]}, " SVT_SPACE
			"}\n" SVT RANDOM);
	TRIAL(V(5, 10, 1), V(1, 0.5));
	TRIAL(V(5, 10, 20), V(1, 0.5));
	s = made_subject(false);
	dp_result_get_params(s->state, through.point, through.x);
	c = space_slice_over(&made_mem, s, &through, 0, 1, 12);
	z = space_values(&made_mem, &c, 0);
	for (size_t i = 0; i < space_count_cells(&c); i++)
		assert_near(z[i], made_svt(c.y.centre[i / c.x.n], 20), 1e-9);
}

static void points_of_the_slice_are_found_again(void **state)
{
	struct space_slice c;
	bool taken[441];

	(void)state;
	made_study(HEAD "parameters: {i: {type: int, range: [0, 20]}, j: {type: int, range: "
			"[0, 20]}}\n" TWO_METRIC RANDOM);
	TRIAL(V(3, 4), V(1, 1));
	TRIAL(V(3, 4), V(1, 1));
	TRIAL(V(20, 0), V(1, 1));
	c = space_slice(&made_mem, made_subject(false), false);
	assert_int_equal(space_count_cells(&c), 441);
	assert_int_equal(space_mark_evaluated_cells(&c, taken), 2);
	assert_true(taken[4 * 21 + 3] && taken[20]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, made_free)
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
	};
#undef TEST
	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
