/* test_rounding.c - epsilon of closed forms is an upper bound to the last digit.
 *
 * delta at the epsilon that is given, in extended precision, is at most the delta that
 * was asked for. tests/ref/rounding.py does the same with 60 digits for all mechanisms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "privacy/privacy_internal.h"
#include "tests/unit/support/privacy_query.h"

#include <float.h>
#include <math.h>

static uint64_t seed = 31;

/* Evenly on the log scale. */
static double between(double lo, double hi)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return lo * pow(hi / lo, (double)(seed >> 11) * 0x1p-53);
}

/* epsilon - a / b, where both are close to each other: the quotient as the sum of a
 * double and what that lacks, so that nothing is lost. */
static long double less_quotient(double epsilon, double a, double b)
{
	double q = a / b;
	long double lacks = (long double)fma(-q, b, a) / (long double)b;

	return (long double)epsilon - (long double)q - lacks;
}

/* delta(epsilon) = 1 - exp((epsilon - mu) / 2). */
static void check_laplace(double scale, double sensitivity, double delta)
{
	struct dp_epsilon e = ask("{\"mechanism\":\"laplace\",\"scale\":%.17g,"
				  "\"sensitivity\":%.17g,\"delta\":%.17g}",
				  scale, sensitivity, delta);
	long double less = less_quotient(e.epsilon, sensitivity, scale);
	long double real = less < 0 ? -expm1l(less / 2) : 0;

	if (real > (long double)delta * (1 + 64 * LDBL_EPSILON))
		fail_msg("laplace %.17g / %.17g: delta %.17g is %Lg more at %.17g", sensitivity,
			 scale, delta, real / (long double)delta - 1, e.epsilon);
	/* and not more than a few last places too large */
	if (e.epsilon > 0)
		assert_true(less <=
			    2 * log1pl(-(long double)delta) * (1 - 16 * (long double)DBL_EPSILON) +
				    3 * (long double)DBL_EPSILON *
					    (long double)(sensitivity / scale));
}

static void laplace(void **state)
{
	(void)state;
	check_laplace(1.720092492682352, 1, 6.728e-12);
	for (int i = 0; i < 20000; i++)
		check_laplace(between(1e-3, 1e6), i % 2 ? 1 : between(0.1, 10),
			      between(1e-18, 0.9));
}

/* Without delta the quotient itself: exact where it is a double, else just above. */
static void laplace_pure(void **state)
{
	(void)state;
	assert_true(ask("{\"mechanism\":\"laplace\",\"scale\":2}").epsilon == 0.5);
	for (int i = 0; i < 5000; i++) {
		double scale = between(1e-3, 1e6);
		struct dp_epsilon e = ask("{\"mechanism\":\"laplace\",\"scale\":%.17g}", scale);

		assert_true(less_quotient(e.epsilon, 1, scale) >= 0);
		assert_true(less_quotient(nextafter(e.epsilon, 0), 1, scale) < 0);
	}
}

static long double phi_l(long double x)
{
	return 0.5L * erfcl(-x * 0.70710678118654752440084436210484904L);
}

/* Balle and Wang 2018, Theorem 8. */
static void check_gaussian(double sigma, double delta)
{
	struct dp_epsilon e = ask("{\"mechanism\":\"gaussian\",\"sigma\":%.17g,"
				  "\"delta\":%.17g}",
				  sigma, delta);
	long double mu = 1 / (long double)sigma, x = (long double)e.epsilon;
	long double a = mu / 2 - x / mu;
	long double real = phi_l(a) - expl(x) * phi_l(a - mu);

	if (real > (long double)delta)
		fail_msg("gaussian %.17g: delta %.17g is %Lg more at %.17g", sigma, delta,
			 real / (long double)delta - 1, e.epsilon);
	assert_true(e.epsilon == 0 || real >= (long double)delta * (1 - 1e-7L));
}

static void gaussian(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++)
		check_gaussian(between(0.05, 500), between(1e-20, 0.5));
}

/* Least epsilons with 30 digits (tests/ref/rounding.py); terms cancel here most. */
static void gaussian_much_noise(void **state)
{
	static const struct {
		double sigma, delta, epsilon;
	} known[] = {
		{ 1e3, 1e-12, 0.005699546468426282099284683 },
		{ 1e5, 1e-30, 0.0001019547991912223972495201 },
		{ 1e8, 1e-20, 6.75715946522706390677771e-8 },
		{ 1e12, 1e-14, 1.938356307290470964793299e-12 },
		{ 1e12, 1e-40, 1.084084826988133014998698e-11 },
		{ 9097.618765844825, 1.5573905327395847e-117, 0.002471071843204689848239987 },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(known); i++) {
		struct dp_epsilon e = ask("{\"mechanism\":\"gaussian\",\"sigma\":%.17g,"
					  "\"delta\":%.17g}",
					  known[i].sigma, known[i].delta);

		assert_true(e.epsilon >= known[i].epsilon);
		assert_true(e.epsilon <= known[i].epsilon * (1 + 1e-9));
	}
}

/* One use of what is purely private, as a part: delta(x) = (1 - exp(x - mu)) p, where p
 * is 1 / (1 + exp(-mu)). Near delta 1 the logarithm has few digits left. */
static void pure_part(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct dp_privacy_component p = { .kind = &dp__component_pure,
						  .mu = between(1e-6, 60),
						  .count = 1 };
		double delta = i % 2 ? between(1e-18, 0.5) : 1 - between(1e-16, 0.1);
		double e = dp__component_pure.exact_epsilon(&p, delta);
		long double less = (long double)e - (long double)p.mu;
		long double real = -expm1l(less) / (1 + expl(-(long double)p.mu));

		if (real > (long double)delta * (1 + 64 * LDBL_EPSILON))
			fail_msg("pure %.17g: delta %.17g is %Lg more at %.17g", p.mu, delta,
				 real / (long double)delta - 1, e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laplace),   cmocka_unit_test(laplace_pure),
		cmocka_unit_test(gaussian),  cmocka_unit_test(gaussian_much_noise),
		cmocka_unit_test(pure_part),
	};

	return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
