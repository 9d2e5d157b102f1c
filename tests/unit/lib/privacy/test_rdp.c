/* test_rdp.c - Renyi accounting against high-precision values and its own laws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/rng.h"
#include "privacy/privacy_internal.h"
#include "tests/unit/support/reference.h"
#include "tests/unit/support/privacy_query.h"

static struct dp_epsilon ask_reference(const struct reference *r, const char *more)
{
	return ask("{\"mechanism\":\"dp-sgd\",\"accountant\":\"rdp\",\"sampling\":\"%s\","
		   "\"records\":%.0f,\"lot\":%.0f,\"steps\":%.0f,\"noise_multiplier\":%.17g,"
		   "\"delta\":%.17g,%s}",
		   strncmp(r->family, "wor", 3) ? "poisson" : "without-replacement", r->records,
		   r->lot, r->steps, r->noise, r->delta, more);
}

static void check_family(const char *family, const char *more, int expected)
{
	FILE *f = reference_open();
	struct reference r;
	double worst = 0;
	int n = 0;

	assert_non_null(f);
	for (; reference_next(f, family, &r); n++) {
		struct dp_epsilon e = ask_reference(&r, more);
		double miss = fabs(e.epsilon / r.epsilon - 1);

		worst = fmax(worst, miss);
		if (!(miss <= 1e-12) || e.order != r.order)
			fail_msg("%s: epsilon %.17g at order %g, not %.17g at %g", r.id, e.epsilon,
				 e.order, r.epsilon, r.order);
	}
	fclose(f);
	print_message("%s: %d records, worst relative error %.1e\n", family, n, worst);
	assert_int_equal(n, expected);
}

static void reference_values(void **state)
{
	(void)state;
	check_family("wor_gaussian_rdp_tight_classic", "\"conversion\":\"classic\"", 42);
	check_family("wor_gaussian_rdp_tight_improved", "\"conversion\":\"improved\"", 42);
	check_family("wor_gaussian_rdp_general_classic",
		     "\"bound\":\"general\",\"conversion\":\"classic\"", 18);
	check_family("poisson_gaussian_rdp_int_improved", "\"orders\":\"integer\"", 18);
	check_family("poisson_gaussian_rdp_int_classic",
		     "\"orders\":\"integer\",\"conversion\":\"classic\"", 18);
}

/* At the table's own, mostly fractional, order; and real orders never lose to it. */
static void real_orders(void **state)
{
	FILE *f = reference_open();
	struct reference r;
	int n = 0;

	(void)state;
	assert_non_null(f);
	for (; reference_next(f, "poisson_gaussian_rdp_default", &r); n++) {
		struct dp__rdp_poisson p = { r.lot / r.records, r.noise };
		double a = r.order, d = log(r.delta);
		double e = r.steps * dp__rdp_poisson_cgf(&p, a) / (a - 1) + log1p(-1 / a) -
			   (d + log(a)) / (a - 1);
		struct dp_epsilon real = ask_reference(&r, "\"orders\":\"real\"");
		struct dp_epsilon whole = ask_reference(&r, "\"orders\":\"integer\"");

		if (!(fabs(e / r.epsilon - 1) <= 1e-10))
			fail_msg("%s: %.17g, not %.17g", r.id, e, r.epsilon);
		assert_true(real.epsilon <= r.epsilon * (1 + 1e-12));
		assert_true(real.epsilon <= whole.epsilon);
		/* what an order in between can gain is limited by convexity */
		assert_true(real.epsilon > 0.6 * whole.epsilon);
	}
	fclose(f);
	assert_int_equal(n, 18);
}

/* The quadrature and the binomial sum are two ways to the same number. */
static void two_ways(void **state)
{
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 1, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 300; i++) {
		struct dp__rdp_poisson p = { exp(-21 * dp_rng_uniform(&rng)),
					     exp(-1.5 + 4 * dp_rng_uniform(&rng)) };
		double order = 2 + floor(30 * dp_rng_uniform(&rng));
		double sum = dp__rdp_poisson_cgf(&p, order);
		double integral = dp__rdp_poisson_cgf(&p, order * (1 + 4e-16) + 1e-15);

		if (!(fabs(integral / sum - 1) < 1e-9))
			fail_msg("q %g sigma %g order %g: %.17g and %.17g", p.q, p.sigma, order,
				 sum, integral);
	}
}

/* Without sampling both are the Gaussian mechanism's exact divergence. */
static void unsampled(void **state)
{
	struct dp__rdp_poisson p = { 1, 1.7 };
	struct dp__rdp_wor *w = dp__rdp_wor_new();

	(void)state;
	assert_non_null(w);
	dp__rdp_wor_set_noise(w, 1.7, true);
	for (double a = 2; a < 50; a++) {
		assert_near(dp__rdp_poisson_cgf(&p, a), a * (a - 1) / (2 * 1.7 * 1.7),
			    1e-12 * a * a);
		assert_near(dp__rdp_wor_cgf(w, 1, a), a * (a - 1) / (2 * 1.7 * 1.7), 1e-12 * a * a);
	}
	dp__rdp_wor_free(w);
}

struct setting {
	double records, lot, steps, sigma, delta;
	const char *sampling;
};

static double log_uniform(struct dp_rng *rng, double lo, double hi)
{
	return exp(log(lo) + log(hi / lo) * dp_rng_uniform(rng));
}

static struct setting random_setting(struct dp_rng *rng)
{
	struct setting s;

	s.records = floor(log_uniform(rng, 100, 1e9));
	s.lot = fmin(floor(log_uniform(rng, 1, s.records + 1)), s.records);
	s.steps = floor(log_uniform(rng, 1, 1e7));
	s.sigma = log_uniform(rng, 0.05, 100);
	s.delta = log_uniform(rng, 1e-12, 1e-2);
	s.sampling = dp_rng_u32(rng) & 1 ? "poisson" : "without-replacement";
	return s;
}

static double rdp(const struct setting *s)
{
	return ask("{\"mechanism\":\"dp-sgd\",\"accountant\":\"rdp\",\"sampling\":\"%s\","
		   "\"records\":%.0f,\"lot\":%.0f,\"steps\":%.0f,\"noise_multiplier\":%."
		   "17g,"
		   "\"delta\":%.17g}",
		   s->sampling, s->records, s->lot, s->steps, s->sigma, s->delta)
		.epsilon;
}

/* Everywhere a number, and one that moves the right way. */
static void any_setting(void **state)
{
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 2, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 1000; i++) {
		struct setting s = random_setting(&rng), t;
		double e = rdp(&s), slack = 1 + 1e-9;

		assert_true(e >= 0);
		t = s;
		t.steps = floor(s.steps * 1.1) + 1;
		assert_true(rdp(&t) * slack >= e);
		t = s;
		t.sigma *= 1.01;
		assert_true(rdp(&t) <= e * slack);
		t = s;
		t.delta *= 1.01;
		assert_true(rdp(&t) <= e * slack);
		t = s;
		t.lot = fmin(floor(s.lot * 1.1) + 1, s.records);
		assert_true(rdp(&t) * slack >= e);
	}
}

/* With little noise the best order lies between one and two, beyond a hump at two. What
 * an order gives is a bound, so the reference is the formula at one of them. */
static void search_orders_below_two(void **state)
{
	double v[DP_PRIVACY_KEYS_MAX], order = 1.25, gap = order - 1;
	struct dp_composition_item item = {
		query("{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		      "\"records\":30956,\"lot\":32,\"steps\":1000,"
		      "\"noise_multiplier\":0.3}",
		      v),
		v, 1
	};
	double one = 1000 * dp__rdp_sampled_cgf(32 / 30956., 1 / 0.3, order) / gap +
		     log1p(-1 / order) - (log(1e-5) + log(order)) / gap;
	struct dp_composition_item many[DP_PRIVACY_ITEMS_MAX + 1];
	struct dp_epsilon e;

	(void)state;
	assert_true(one < 65);
	assert_int_equal(dp_privacy_compose(&item, 1, 1e-5, false, &e, NULL), DP_OK);
	assert_true(e.epsilon <= one && e.order > 1.1 && e.order < 1.5);
	/* one step of it, a thousand times in a row, then so many that orders are fixed
	 */
	for (size_t i = 0; i < DP_COUNT(many); i++)
		many[i] = item;
	item.times = (double)DP_COUNT(many);
	assert_int_equal(dp_privacy_compose(&item, 1, 1e-5, false, &e, NULL), DP_OK);
	one = e.epsilon;
	assert_int_equal(dp_privacy_compose(many, DP_COUNT(many), 1e-5, false, &e, NULL), DP_OK);
	assert_true(e.epsilon >= one && e.epsilon < 1.05 * one);
	/* and one training, where loss distributions give way to the same curve */
	e = ask("{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		"\"records\":60000,\"lot\":256,\"steps\":1000,\"noise_multiplier\":3e-4,"
		"\"delta\":1e-5}");
	assert_true(e.epsilon < 1e8 && e.order < 1.01);
}

/* A question has an answer soon: this one took thirteen seconds of integrals. */
static void hardly_any_noise(void **state)
{
	struct timespec from, to;

	(void)state;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (double sigma = 1; sigma > 1e-9; sigma /= 3) {
		struct setting s = { 60000, 256, 1000, sigma, 1e-5, "poisson" };

		assert_true(rdp(&s) < 1e3 / (sigma * sigma));
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_true(to.tv_sec - from.tv_sec < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference_values), cmocka_unit_test(real_orders),
		cmocka_unit_test(two_ways),         cmocka_unit_test(unsampled),
		cmocka_unit_test(any_setting),      cmocka_unit_test(search_orders_below_two),
		cmocka_unit_test(hardly_any_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
