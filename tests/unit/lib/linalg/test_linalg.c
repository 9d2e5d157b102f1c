/* test_linalg.c - factors and vector functions against direct sums and libm. */
#include "base/rng.h"
#include "linalg/linalg.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	N = 37,
	LD = 41
};

static void make_spd(double *a, double ridge)
{
	struct dp_rng r;
	double g[N * N];

	dp_rng_init(&r, 7, DP_RNG_TEST, 1, 0);
	for (size_t i = 0; i < N * N; i++)
		g[i] = dp_rng_normal(&r);
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++) {
			double s = i == j ? ridge : 0;

			for (size_t k = 0; k < N; k++)
				s += g[i * N + k] * g[j * N + k];
			a[i * LD + j] = s;
		}
}

static void exp_is_exp(void **state)
{
	double x[1401], y[1401];

	(void)state;
	for (int i = 0; i <= 1400; i++)
		x[i] = 700 - i + 0.37 * (i > 0 && i < 1400);
	dp_vec_exp(y, x, 1401);
	for (int i = 0; i <= 1400; i++)
		assert_true(fabs(y[i] / exp(x[i]) - 1) < 1e-15);
	x[0] = -1e300;
	dp_vec_exp(x, x, 1);
	assert_true(x[0] > 0 && x[0] < 1e-300);
}

static void factor_and_solves(void **state)
{
	double a[N * LD], l[N * LD], diag[N], jitter, x[N], b[N * 5];

	(void)state;
	make_spd(a, 1);
	memcpy(l, a, sizeof l);
	assert_int_equal(dp_chol_factor(l, N, LD, diag, &jitter), DP_OK);
	assert_true(jitter == 0);
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j <= i; j++) {
			double s = 0;

			for (size_t k = 0; k <= j; k++)
				s += l[i * LD + k] * l[j * LD + k];
			assert_true(fabs(s - a[i * LD + j]) < 1e-11);
		}
	/* A x = e_3 */
	memset(x, 0, sizeof x);
	x[3] = 1;
	dp_chol_forward(l, N, LD, x);
	dp_chol_backward(l, N, LD, x);
	for (size_t i = 0; i < N; i++) {
		double s = 0;

		for (size_t k = 0; k < N; k++)
			s += a[i * LD + k] * x[k];
		assert_true(fabs(s - (i == 3)) < 1e-10);
	}
	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < N; j++)
			b[i * N + j] = i == j;
	dp_chol_forward_rows(l, N, LD, b, 5);
	memset(x, 0, sizeof x);
	x[4] = 1;
	dp_chol_forward(l, N, LD, x);
	for (size_t i = 0; i < N; i++)
		assert_true(fabs(b[4 * N + i] - x[i]) < 1e-12);
}

static void growing_is_factorising(void **state)
{
	double a[N * LD], l[N * LD], whole[N * LD], diag[N], jitter, det = 0;

	(void)state;
	make_spd(a, 1);
	memcpy(whole, a, sizeof whole);
	assert_int_equal(dp_chol_factor(whole, N, LD, diag, &jitter), DP_OK);
	for (size_t i = 0; i < N; i++) {
		memcpy(l + i * LD, a + i * LD, (i + 1) * sizeof *l);
		assert_true(dp_chol_append(l, i, LD, l + i * LD, 0) > 0);
		for (size_t j = 0; j <= i; j++)
			assert_true(fabs(l[i * LD + j] - whole[i * LD + j]) < 1e-10);
		det += 2 * log(l[i * LD + i]);
	}
	assert_true(fabs(det - dp_chol_logdet(whole, N, LD)) < 1e-10);
	{ /* a second copy of a point leaves nothing: the floor stands in */
		double one[2] = { 1, 1 }, base = 1;

		assert_true(dp_chol_append(&base, 1, 1, one, 1e-12) <= 1e-12);
		assert_true(one[1] == 1e-6);
	}
	assert_int_equal(dp_chol_inverse(whole, N, LD), DP_OK);
	for (size_t i = 0; i < N; i++) { /* A^-1 A = 1 */
		double s = 0;

		for (size_t k = 0; k < N; k++)
			s += a[i * LD + k] * (k >= i ? whole[k * LD + i] : whole[i * LD + k]);
		assert_true(fabs(s - 1) < 1e-9);
	}
}

static void jitter_mends_what_it_can(void **state)
{
	double a[N * LD], diag[N], jitter;

	(void)state;
	for (size_t i = 0; i < N * LD; i++)
		a[i] = 1; /* rank one */
	assert_int_equal(dp_chol_factor(a, N, LD, diag, &jitter), DP_OK);
	assert_true(jitter > 0 && jitter < 1e-4);
	for (size_t i = 0; i < N * LD; i++)
		a[i] = -1;
	assert_int_equal(dp_chol_factor(a, N, LD, diag, &jitter), DP_E_FAILED);
	a[0] = NAN;
	assert_int_equal(dp_chol_factor(a, N, LD, diag, &jitter), DP_E_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exp_is_exp),
		cmocka_unit_test(factor_and_solves),
		cmocka_unit_test(growing_is_factorising),
		cmocka_unit_test(jitter_mends_what_it_can),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
