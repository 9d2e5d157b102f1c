/* test_attainment.c - what several sets of points attain, against a count of the sets. */
#include "base/rng.h"
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
	SETS = 7,
	MOST_ROWS = 12,
};

/* How many sets have a row that is nowhere worse than (x, y). */
static size_t count_sets(const struct dp_pareto_points *sets, size_t m, double x, double y)
{
	size_t n = 0;

	for (size_t i = 0; i < m; i++) {
		bool attains = false;

		for (size_t k = 0; k < sets[i].n; k++)
			attains |= sets[i].y[2 * k] <= x && sets[i].y[2 * k + 1] <= y;
		n += attains;
	}
	return n;
}

/* Rows of whole numbers, so that many are equal; some cannot be placed. */
static void random_sets(struct dp_rng *rng, double rows[SETS][2 * MOST_ROWS],
			struct dp_pareto_points *sets)
{
	for (size_t i = 0; i < SETS; i++) {
		size_t n = (size_t)(MOST_ROWS * dp_rng_uniform(rng));

		for (size_t k = 0; k < 2 * n; k++)
			rows[i][k] =
				dp_rng_uniform(rng) < 0.05 ? NAN : floor(10 * dp_rng_uniform(rng));
		sets[i] = (struct dp_pareto_points){ rows[i], n };
	}
}

/* At every place of a fine grid as many sets attain as the answer says. */
static void check_grid_search(const struct dp_pareto_points *sets, const struct dp_attainment *a)
{
	for (double x = -0.5; x < 11; x += 0.5)
		for (double y = -0.5; y < 11; y += 0.5) {
			size_t said = 0;

			for (size_t i = 0; i < a->n_places; i++) {
				if (a->x[i] > x)
					break;
				said = 0;
				while (said < a->n_sets && a->y[i * a->n_sets + said] <= y)
					said++;
			}
			assert_int_equal(said, count_sets(sets, SETS, x, y));
		}
}

static void as_many_sets_as_it_says(void **state)
{
	double rows[SETS][2 * MOST_ROWS];
	struct dp_pareto_points sets[SETS];
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 3, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 60; i++) {
		struct dp_attainment a;

		random_sets(&rng, rows, sets);
		a = dp_attainment_compute(sets, SETS);
		check_grid_search(sets, &a);
		for (size_t k = 1; k < a.n_places; k++)
			assert_true(a.x[k - 1] < a.x[k]);
		dp_attainment_free(&a);
	}
}

static void request_from_options(void **state)
{
	const double one[] = { 1, 5, 3, 2 }, two[] = { 2, 4 };
	const struct dp_pareto_points sets[] = { { one, 2 }, { two, 1 }, { NULL, 0 } };
	struct dp_attainment a;

	(void)state;
	a = dp_attainment_compute(sets, 3);
	assert_int_equal(a.n_places, 3);
	assert_true(a.x[0] == 1 && a.y[0] == 5 && isinf(a.y[1]) && isinf(a.y[2]));
	assert_true(a.x[1] == 2 && a.y[3] == 4 && a.y[4] == 5 && isinf(a.y[5]));
	assert_true(a.x[2] == 3 && a.y[6] == 2 && a.y[7] == 4 && isinf(a.y[8]));
	dp_attainment_free(&a);
	a = dp_attainment_compute(sets + 2, 1);
	assert_int_equal(a.n_places, 0);
	dp_attainment_free(&a);
}

static void shares(void **state)
{
	(void)state;
	assert_int_equal(dp_attainment_rank(1, 0.1), 0);
	assert_int_equal(dp_attainment_rank(1, 0.9), 0);
	assert_int_equal(dp_attainment_rank(4, 0.5), 1);
	assert_int_equal(dp_attainment_rank(5, 0.5), 2);
	assert_int_equal(dp_attainment_rank(5, 0.1), 0);
	assert_int_equal(dp_attainment_rank(5, 0.9), 4);
	assert_int_equal(dp_attainment_rank(10, 0.1), 0);
	assert_int_equal(dp_attainment_rank(10, 0.9), 8);
	assert_int_equal(dp_attainment_rank(19, 0.1), 1);
	assert_int_equal(dp_attainment_rank(19, 0.9), 17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_sets_as_it_says),
		cmocka_unit_test(request_from_options),
		cmocka_unit_test(shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
