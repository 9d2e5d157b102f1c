/* test_pld.c - loss distributions: reference values, exact cases, simulation, laws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <pthread.h>

#include "base/units.h"
#include "base/rng.h"
#include "privacy/accountants/pld_internal.h"
#include "tests/unit/support/reference.h"
#include "tests/unit/support/privacy_query.h"

static struct dp_epsilon dp_sgd(const char *sampling, const char *accountant, double records,
				double lot, double steps, double sigma, double delta)
{
	return ask("{\"mechanism\":\"dp-sgd\",\"accountant\":\"%s\",\"sampling\":\"%s\","
		   "\"records\":%.0f,\"lot\":%.0f,\"steps\":%.0f,\"noise_multiplier\":%.17g,"
		   "\"delta\":%.17g}",
		   accountant, sampling, records, lot, steps, sigma, delta);
}

/* Of this program: other ones on the machine do not count. */
static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* A trainer with hardly any noise must not look private: without it the record is seen as
 * soon as it is in a lot, and the loss of that one step alone is about mu^2 / 2. */
static void hardly_any_noise(void **state)
{
	static const char *const samplings[] = { "poisson", "without-replacement" };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(samplings); i++) {
		double before = 0;

		for (double sigma = 10; sigma > 1e-160; sigma /= sigma > 1e-9 ? 3 : 1e3) {
			int64_t began = cpu_us();
			struct dp_epsilon e =
				dp_sgd(samplings[i], "pld", 1000, 10, 100, sigma, 1e-5);

			if (!(e.epsilon >= before * (1 - 1e-3)) ||
			    !(sigma > 0.01 || e.epsilon >= 0.4 / (sigma * sigma)))
				fail_msg("%s, noise %g: %g after %g", samplings[i], sigma,
					 e.epsilon, before);
			assert_true(cpu_us() - began < 20000000);
			before = e.epsilon;
		}
	}
}

static void check_family(const char *family, const char *sampling)
{
	FILE *f = reference_open();
	struct reference r;
	double worst = 0;
	int n = 0;

	assert_non_null(f);
	for (; reference_next(f, family, &r); n++) {
		struct dp_epsilon e =
			dp_sgd(sampling, "pld", r.records, r.lot, r.steps, r.noise, r.delta);
		double above = e.epsilon / r.extrapolated - 1;

		worst = fmax(worst, above);
		assert_string_equal(e.accountant, "pld");
		if (!(fabs(e.epsilon / r.epsilon - 1) <= r.tolerance && above >= -1e-6 &&
		      above <= 5e-4))
			fail_msg("%s: %.9g, not %.9g", r.id, e.epsilon, r.epsilon);
		/* the estimate of the error is honest */
		assert_false(e.error_is_proved);
		assert_true(e.error >= e.epsilon - r.extrapolated);
		assert_true(e.error <= 3e-3 * e.epsilon);
	}
	fclose(f);
	print_message("%s: %d records, at most %.1e above the extrapolated value\n", family, n,
		      worst);
	assert_int_equal(n, 12);
}

static void reference_values(void **state)
{
	(void)state;
	check_family("poisson_gaussian_pld", "poisson");
	check_family("wor_gaussian_pld", "without-replacement");
}

/* Gaussian mechanisms compose to a Gaussian mechanism. Many parts that share no closed
 * form with the accountant, each on the grid, must come to the same. */
static void composed_gaussians(void **state)
{
	static const double deltas[] = { 1e-2, 1e-5, 1e-9, 1e-12, 1e-60, 1e-180 };
	const struct dp_privacy_component parts[3] = {
		{ .kind = &dp__component_wor, .q = 1, .mu = 0.1, .count = 300 },
		{ .kind = &dp__component_wor, .q = 1, .mu = 0.03, .count = 700 },
		{ .kind = &dp__component_wor, .q = 1, .mu = 0.2, .count = 10 }
	};
	double mu = sqrt(300 * 0.01 + 700 * 0.0009 + 10 * 0.04);
	struct dp__pld *w = dp__pld_new();

	(void)state;
	assert_non_null(w);
	for (size_t i = 0; i < DP_COUNT(deltas); i++) {
		double exact = dp__gaussian_epsilon(mu, log(deltas[i]));
		struct dp__pld_bound a;

		a = dp__pld_epsilon(w, parts, 3, deltas[i]);
		print_message("delta %g: %.9g, exactly %.9g\n", deltas[i], a.epsilon, exact);
		assert_true(a.epsilon >= exact * (1 - 1e-9));
		assert_true(a.epsilon <= exact * (1 + 3e-4));
	}
	dp__pld_free(w);
}

/* The spectrum of a part that is used once vanishes for good beyond some frequency, and
 * is made of rounding alone there: its modulus may be 0. */
static void parts_used_once(void **state)
{
	static const double mus[] = { 0.01, 0.02, 0.05, 0.1, 0.5, 1, 3 };
	struct dp_privacy_component parts[2] = {
		{ .kind = &dp__component_wor, .q = 1, .count = 1 },
		{ .kind = &dp__component_wor, .q = 1, .count = 1 }
	};
	struct dp__pld *w = dp__pld_new();
	struct dp__pld_bound a;

	(void)state;
	assert_non_null(w);
	for (size_t i = 0; i < DP_COUNT(mus) * DP_COUNT(mus); i++) {
		double exact;

		parts[0].mu = mus[i % DP_COUNT(mus)];
		parts[1].mu = mus[i / DP_COUNT(mus)];
		exact = dp__gaussian_epsilon(hypot(parts[0].mu, parts[1].mu), log(1e-5));
		a = dp__pld_epsilon(w, parts, 2, 1e-5);
		assert_true(a.epsilon >= exact * (1 - 1e-9));
		assert_true(a.epsilon <= exact * (1 + 1e-3));
	}
	/* a private mean, then DP-SGD, which alone costs 0.2944 */
	parts[0].mu = 0.02;
	parts[1] = (struct dp_privacy_component){
		.kind = &dp__component_poisson, .q = 54.0 / 30000, .mu = 1 / 1.0067, .count = 1112
	};
	a = dp__pld_epsilon(w, parts, 2, 1e-5);
	assert_true(a.epsilon > 0.2944 && a.epsilon < 0.303);
	dp__pld_free(w);
}

/* Renyi accounting of the same composition lies above, and not far. */
static void composed_gaussians_by_renyi(void **state)
{
	double values[DP_PRIVACY_KEYS_MAX];
	const struct dp_mechanism *m =
		query("{\"mechanism\":\"gaussian\",\"sigma\":10,\"delta\":1e-5}", values);
	struct dp_composition_item item = { m, values, 100 };
	double exact = dp__gaussian_epsilon(1, log(1e-5));
	struct dp_epsilon e;

	(void)state;
	assert_int_equal(dp_privacy_compose(&item, 1, 1e-5, false, &e, NULL), DP_OK);
	assert_true(e.epsilon > exact && e.epsilon < 1.1 * exact);
	assert_int_equal(dp_privacy_compose(&item, 1, 1e-5, true, &e, NULL), DP_OK);
	assert_near(e.epsilon, exact, 1e-9);
}

static double loss_after_sampling(double q, double mu, double z)
{
	return log1p(q * expm1(mu * (z - mu / 2)));
}

static double draw_poisson(struct dp_rng *rng, double q, double mu)
{
	double z = dp_rng_normal(rng) + (dp_rng_uniform(rng) < q ? mu : 0);

	return loss_after_sampling(q, mu, z);
}

/* The pieced pair without replacement: above zero like the mixture, below zero its
 * mirror image, which is the loss under N(0, 1) negated, and the rest at zero. */
static double draw_wor(struct dp_rng *rng, double q, double mu)
{
	double z = dp_rng_normal(rng) + (dp_rng_uniform(rng) < q ? mu : 0);
	double c = dp__normal_cdf(-mu / 2), rest = (1 - q) * (1 - c) + q * c;

	if (z > mu / 2)
		return loss_after_sampling(q, mu, z);
	if (dp_rng_uniform(rng) * rest > c)
		return 0;
	do
		z = dp_rng_normal(rng);
	while (z <= mu / 2);
	return -loss_after_sampling(q, mu, z);
}

/* delta(epsilon) of k steps by simulation: no grid, no tilt, no transform. */
static double simulate(double (*draw)(struct dp_rng *, double, double), double q, double mu, int k,
		       double epsilon, double *error)
{
	const int runs = 40000;
	double sum = 0, square = 0;
	struct dp_rng rng;

	dp_rng_init(&rng, 3, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < runs; i++) {
		double loss = 0, d;

		for (int j = 0; j < k; j++)
			loss += draw(&rng, q, mu);
		d = loss > epsilon ? -expm1(epsilon - loss) : 0;
		sum += d;
		square += d * d;
	}
	*error = sqrt(square) / runs;
	return sum / runs;
}

static void simulation(void **state)
{
	static const struct {
		const struct dp__component_kind *kind;
		double q, mu, epsilon;
		int k;
	} c[] = { { &dp__component_poisson, 0.05, 1, 1.0, 100 },
		  { &dp__component_poisson, 0.2, 0.5, 1.5, 50 },
		  { &dp__component_wor, 0.05, 1, 1.5, 100 },
		  { &dp__component_wor, 0.0128, 1, 0.3, 200 } };
	struct dp__pld *w = dp__pld_new();

	(void)state;
	assert_non_null(w);
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		bool wor = c[i].kind == &dp__component_wor;
		double error, d = simulate(wor ? draw_wor : draw_poisson, c[i].q, c[i].mu, c[i].k,
					   c[i].epsilon, &error);
		struct dp_privacy_component part = {
			.kind = c[i].kind, .q = c[i].q, .mu = c[i].mu, .count = c[i].k
		};
		struct dp__pld_bound low, high;

		/* the true delta is within four errors, so epsilon is in between */
		assert_true(d > 8 * error);
		low = dp__pld_epsilon(w, &part, 1, d + 4 * error);
		high = dp__pld_epsilon(w, &part, 1, d - 4 * error);
		print_message("delta %.4g +- %.1g: epsilon in %.4f..%.4f, is %.4f\n", d, error,
			      low.epsilon, high.epsilon, c[i].epsilon);
		assert_true(low.epsilon <= c[i].epsilon);
		assert_true(high.epsilon >= c[i].epsilon);
		assert_true(high.epsilon - low.epsilon < 0.2 * c[i].epsilon);
	}
	dp__pld_free(w);
}

/* A realisable pair of data sets (which is what Poisson sampling with the same noise
 * in units of the sensitivity comes to) <= loss distribution <= improved <= classic. */
static void bracket(void **state)
{
	static const double sigmas[] = { 0.7, 1, 1.5, 3 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(sigmas); i++) {
		double s = sigmas[i];
		double real = dp_sgd("poisson", "pld", 40000, 128, 9360, s, 1e-5).epsilon;
		double pld =
			dp_sgd("without-replacement", "pld", 40000, 128, 9360, s, 1e-5).epsilon;
		double improved =
			dp_sgd("without-replacement", "rdp", 40000, 128, 9360, s, 1e-5).epsilon;
		double classic = ask("{\"mechanism\":\"dp-sgd\",\"accountant\":\"rdp\","
				     "\"sampling\":"
				     "\"without-replacement\",\"records\":40000,\"lot\":128,"
				     "\"epochs\":30,\"noise_variance\":%.17g,\"delta\":1e-5,"
				     "\"conversion\":\"classic\"}",
				     s * s)
					 .epsilon;

		assert_true(real < pld && pld < improved && improved < classic);
	}
}

static double log_uniform(struct dp_rng *rng, double lo, double hi)
{
	return exp(log(lo) + log(hi / lo) * dp_rng_uniform(rng));
}

/* Everywhere a number, below Renyi's, in time, and moving the right way. */
static void any_setting(void **state)
{
	struct dp_rng rng;
	double slowest = 0;

	(void)state;
	dp_rng_init(&rng, 4, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 40; i++) {
		double records = floor(log_uniform(&rng, 100, 1e9));
		double lot = fmin(floor(log_uniform(&rng, 1, records + 1)), records);
		double steps = floor(log_uniform(&rng, 1, 1e7));
		double sigma = log_uniform(&rng, 0.05, 100);
		double delta = log_uniform(&rng, 1e-12, 1e-2);
		const char *s = dp_rng_u32(&rng) & 1 ? "poisson" : "without-replacement";
		int64_t start = cpu_us();
		struct dp_epsilon e = dp_sgd(s, "pld", records, lot, steps, sigma, delta);
		double slack = e.epsilon + 2 * e.error;

		slowest = fmax(slowest, (double)(cpu_us() - start) / 1e6);
		assert_true(e.epsilon >= 0);
		assert_true(e.epsilon <=
			    1.0005 * dp_sgd(s, "rdp", records, lot, steps, sigma, delta).epsilon);
		assert_true(dp_sgd(s, "pld", records, lot, steps, sigma * 1.1, delta).epsilon <=
			    slack);
		assert_true(dp_sgd(s, "pld", records, lot, steps, sigma, delta * 2).epsilon <=
			    slack);
		if (steps >= 2)
			assert_true(dp_sgd(s, "pld", records, lot, floor(steps / 2), sigma, delta)
					    .epsilon <= slack);
		if (lot >= 2)
			assert_true(dp_sgd(s, "pld", records, floor(lot / 2), steps, sigma, delta)
					    .epsilon <= slack);
	}
	print_message("slowest %.2f s\n", slowest);
	assert_true(slowest < 10); /* seconds, on a machine shared with others */
}

/* More steps never cost less, however small delta is: a delta far below what a picture of
 * the loss showed once overflowed, and no number passed for a small one. */
static void tiny_deltas(void **state)
{
	static const double steps[] = { 1, 2, 10, 300, 11019 };
	double before = 0;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(steps); i++) {
		double e = dp_sgd("without-replacement", "pld", 1e7, 4320, steps[i], 1.65, 1e-80)
				   .epsilon;

		assert_true(e >= before * (1 - 1e-3) && e < 4);
		before = fmax(before, e);
	}
	assert_true(before > 3.6);
	for (double delta = 1e-20; delta > 1e-300; delta *= 1e-20) {
		double e = dp_sgd("poisson", "pld", 60000, 600, 1000, 1, delta).epsilon;

		assert_true(e > before * (delta < 1e-20));
		assert_true(isfinite(e));
		before = e;
	}
}

/* A single loss may reach much further than what is composed: its grid counts, too. Two
 * of these took minutes and gigabytes. */
static void bounded_work(void **state)
{
	static const struct {
		double records, lot, steps, sigma, delta;
	} c[] = { { 159200274, 1848, 2, 0.5574046, 1e-80 },
		  { 143422, 3370, 2, 0.509293, 1.075e-72 },
		  { 473068035, 20, 4, 0.624623, 2.337e-102 } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		int64_t began = cpu_us();
		struct dp_epsilon e = dp_sgd("poisson", "pld", c[i].records, c[i].lot, c[i].steps,
					     c[i].sigma, c[i].delta);
		double more = dp_sgd("poisson", "rdp", c[i].records, c[i].lot, c[i].steps,
				     c[i].sigma, c[i].delta)
				      .epsilon;

		assert_true(cpu_us() - began < 20000000);
		assert_true(e.epsilon > 0.5 * more && e.epsilon <= more);
	}
}

/* The loss of adding a record has an end, which bounds it where no grid does. */
static void adding_a_record(void **state)
{
	double before = INFINITY;

	(void)state;
	for (double delta = 2.36e-5; delta < 2.45e-5; delta += 0.04e-5) {
		double e = dp_sgd("poisson", "pld", 3233034, 16, 5, 0.2118, delta).epsilon;

		assert_true(e <= before * (1 + 1e-3) && e < 1e-4);
		before = e;
	}
}

/* q (Phi(a) - exp(e) Phi(a - mu)) with twelve bits more. */
static long double long_profile(double q, double mu, double x)
{
	long double e = log1pl(expm1l(x) / (long double)q);
	long double a = mu / 2.0L - e / mu, root = sqrtl(0.5L);

	return (q * 0.5L) * (erfcl(-a * root) - expl(e) * erfcl((mu - a) * root));
}

/* What is said to bound the error of a profile does. */
static void slack_of_profiles(void **state)
{
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 5, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 20000; i++) {
		struct dp_privacy_component p = { .kind = &dp__component_wor,
						  .q = log_uniform(&rng, 1e-6, 1),
						  .mu = log_uniform(&rng, 0.03, 8) };
		double x = log_uniform(&rng, 1e-6, 20), slack, d;

		d = p.kind->profile(&p, DP__DIRECTION_REMOVE, x, &slack);
		if (!(fabsl(d - long_profile(p.q, p.mu, x)) <= slack + 1e-305))
			fail_msg("q %g mu %g x %g: %g is off by %Lg, not %g", p.q, p.mu, x, d,
				 d - long_profile(p.q, p.mu, x), slack);
	}
}

/* The cells of a grid hold what the profile's second differences say, within errors that
 * are in proportion to themselves: no tail is lost, and nothing is optimistic. */
static void check_cells(const struct dp_privacy_component *p, enum dp__direction d, double h)
{
	enum {
		N = 400
	};
	double a[N + 1] = { 0 }, b[N + 1] = { 0 }, sa[N + 1] = { 0 }, sb[N + 1] = { 0 };
	struct dp__loss_grid g = { .width = h,
				   .n_upper = N,
				   .n_lower = N,
				   .upper = a,
				   .lower = b,
				   .upper_slack = sa,
				   .lower_slack = sb };
	long double delta = 0, mass;

	p->kind->discretise(p, d, &g);
	delta = g.infinite_mass;
	mass = g.infinite_mass;
	/* the profile of the cells at i h, from the top */
	for (int i = N; i > 0; i--) {
		double slack, true_delta = p->kind->profile(p, d, i * h, &slack);
		long double far = 0;

		for (int k = N; k > i; k--)
			far += a[k] * -expm1l((i - k) * (long double)h);
		delta = far + g.infinite_mass;
		if (!(delta >= true_delta - slack - 1e-15 * true_delta - 1e-300 &&
		      delta <= true_delta + slack + 1e-11 * true_delta + 1e-300))
			fail_msg("q %g mu %g h %g at %d: %.17Lg, not %.17g", p->q, p->mu, h, i,
				 delta, true_delta);
		assert_true(a[i] >= 0 && b[i] >= 0 && sa[i] <= 1e-9 * a[i] + 1e-300);
		mass += a[i] + b[i];
	}
	assert_true(mass <= 1 + 1e-12L);
}

static void cells(void **state)
{
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 6, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 60; i++) {
		struct dp_privacy_component p = { .kind = i % 3 ? &dp__component_poisson
								: &dp__component_wor,
						  .q = log_uniform(&rng, 1e-5, 0.9),
						  .mu = log_uniform(&rng, 0.05, 4) };
		int power;
		double h = frexp(log_uniform(&rng, 1e-6, 0.05), &power);

		check_cells(&p, i % 3 == 1 ? DP__DIRECTION_ADD : DP__DIRECTION_REMOVE,
			    ldexp(ceil(h * 1024), power - 10));
	}
}

static void *one_thread(void *arg)
{
	struct dp_epsilon *e = arg;

	*e = dp_sgd("without-replacement", "pld", 40000, 100 + (e->epsilon > 0), 5000, 1.1, 1e-6);
	return NULL;
}

/* Several threads at once get the bits that one gets. */
static void threads(void **state)
{
	struct dp_epsilon alone[2] = { { .epsilon = 0 }, { .epsilon = 1 } }, e[6];
	pthread_t id[6];

	(void)state;
	one_thread(&alone[0]);
	one_thread(&alone[1]);
	for (int i = 0; i < 6; i++) {
		e[i] = (struct dp_epsilon){ .epsilon = i & 1 };
		assert_int_equal(pthread_create(&id[i], NULL, one_thread, &e[i]), 0);
	}
	for (int i = 0; i < 6; i++) {
		assert_int_equal(pthread_join(id[i], NULL), 0);
		assert_true(e[i].epsilon == alone[i & 1].epsilon);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference_values),
		cmocka_unit_test(composed_gaussians),
		cmocka_unit_test(parts_used_once),
		cmocka_unit_test(composed_gaussians_by_renyi),
		cmocka_unit_test(simulation),
		cmocka_unit_test(bracket),
		cmocka_unit_test(hardly_any_noise),
		cmocka_unit_test(any_setting),
		cmocka_unit_test(tiny_deltas),
		cmocka_unit_test(bounded_work),
		cmocka_unit_test(adding_a_record),
		cmocka_unit_test(slack_of_profiles),
		cmocka_unit_test(cells),
		cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
