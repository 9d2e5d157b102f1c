/* test_group_privacy.c - persons with several records: profiles and Renyi divergences against
 * their definitions, and what must hold of any number of records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "privacy/privacy_internal.h"
#include "tests/unit/support/privacy_query.h"

#include <math.h>

static struct dp_privacy_component point_values_key(bool poisson, double q, double mu, double group)
{
	struct dp_privacy_component p = {
		.kind = poisson ? &dp__component_poisson : &dp__component_wor,
		.q = q,
		.mu = mu,
		.count = 1,
		.relation = poisson ? DP__RELATION_ADD_REMOVE : DP__RELATION_REPLACE_ONE,
		.group_size = group,
	};

	dp__component_set_group(&p, 1000, 1000 * q);
	return p;
}

/* A group of one is what component_gaussian.c knows, by other formulas. */
static void groups_of_one(void **state)
{
	static const double qs[] = { 0.001, 0.05, 0.6 }, mus[] = { 0.3, 1, 4 };

	(void)state;
	for (int i = 0; i < 18; i++) {
		bool poisson = i % 2;
		double q = qs[i / 2 % 3], mu = mus[i / 6], s;
		struct dp_privacy_component ours = point_values_key(poisson, q, mu, 1);
		struct dp_privacy_component other = {
			.kind = poisson ? &dp__component_poisson : &dp__component_wor,
			.q = q,
			.mu = mu,
			.count = 1,
		};

		assert_true(ours.kind != other.kind);
		for (int d = 0; d < 2; d++) {
			for (double x = 0; x < 6; x += 0.01) {
				double a = ours.kind->profile(&ours, d, x, &s);
				double b = other.kind->profile(&other, d, x, &s);

				if (!(fabs(a - b) <= 1e-11 * b + 1e-17))
					fail_msg("q %g mu %g x %g: %.17g, not %.17g", q, mu, x, a,
						 b);
			}
		}
		assert_near(ours.kind->tail_cutoff(&ours, DP__DIRECTION_REMOVE, -20),
			    other.kind->tail_cutoff(&other, DP__DIRECTION_REMOVE, -20), 1e-9);
	}
}

/* The likelihood ratio of the mixture at z, by its definition. */
static double mixture(const struct dp_privacy_component *p, double z)
{
	double sum = 0;

	for (int j = 0; j <= (int)p->group_size; j++)
		sum += p->weight[j] * exp(j * p->mu * (z - 0.5 * j * p->mu));
	return sum;
}

static double normal(double z)
{
	return exp(-0.5 * z * z) / sqrt(2 * M_PI);
}

/* Poisson: delta both ways and exp K by integrals over the outcomes. */
static void mixtures_by_integrals(void **state)
{
	const double step = 1e-4;

	(void)state;
	for (int k = 2; k <= 5; k++) {
		struct dp_privacy_component p = point_values_key(true, 0.02 * k, 0.5 + 0.1 * k, k);
		double sum = 0, slack;

		for (int j = 0; j <= k; j++)
			sum += p.weight[j];
		assert_near(sum, 1, 1e-14);
		for (double x = 0; x < 2; x += 0.37) {
			double removed = 0, added = 0;

			for (double z = -12; z < 16; z += step) {
				double q = normal(z) * step, l = mixture(&p, z);

				removed += fmax(l - exp(x), 0) * q;
				added += fmax(1 - exp(x) * l, 0) * q;
			}
			assert_near(p.kind->profile(&p, DP__DIRECTION_REMOVE, x, &slack), removed,
				    1e-7 * removed + 1e-13);
			assert_near(p.kind->profile(&p, DP__DIRECTION_ADD, x, &slack), added,
				    1e-7 * added + 1e-13);
		}
		for (double order = 1.5; order < 5; order += 1.25) {
			double one = 0, other = 0, cgf = p.kind->cgf(&p, NULL, order);

			for (double z = -12; z < 40; z += 0.01) {
				one += pow(mixture(&p, z), order) * normal(z) * 0.01;
				other += pow(mixture(&p, z), 1 - order) * normal(z) * 0.01;
			}
			one = log(fmax(one, other));
			/* chords lie above */
			assert_true(cgf >= one && cgf < one * 1.01);
		}
	}
}

/* Without replacement: probabilities by counting, and the sum's own definition. */
static void lots_by_counting(void **state)
{
	struct dp_privacy_component p = point_values_key(false, 0.1, 0.8, 3);
	struct dp_privacy_component most = {
		.kind = &dp__component_wor, .q = 0.5, .mu = 1, .group_size = 3
	};
	double any = 1 - 0.9 * 899 / 999 * 898 / 998, slack;

	(void)state;
	assert_near(p.weight[3], 0.1 * 99 / 999 * 98 / 998, 1e-16);
	assert_near(p.weight[1], 3 * 0.1 * 900 / 999 * 899 / 998, 1e-14);
	for (double x = 0; x < 3; x += 0.25) {
		double e = log1p(expm1(x) / any), sum = 0;

		for (int j = 1; j <= 3; j++)
			sum += p.weight[j] * dp__gaussian_delta(j * 0.8, e);
		assert_near(p.kind->profile(&p, DP__DIRECTION_REMOVE, x, &slack), sum, 1e-14);
	}
	/* four of five in a lot: two of three are always there, or all of them */
	dp__component_set_group(&most, 5, 4);
	assert_true(most.weight[0] == 0 && most.weight[1] == 0);
	assert_near(most.weight[2], 0.6, 1e-15);
	assert_near(most.weight[3], 0.4, 1e-15);
}

#define SGD                                                                                        \
	"{\"mechanism\":\"dp-sgd\",\"sampling\":\"%s\",\"records\":1000,\"lot\":%d,"               \
	"\"steps\":60,\"noise_multiplier\":%.17g,\"delta\":1e-5,\"accountant\":\"%s\","            \
	"\"group\":%d}"

/* More records of a person cost more, never more than without sampling; and Renyi curves
 * never less than loss distributions, which are tighter. */
static void groups_grow(void **state)
{
	static const char *const samplings[] = { "poisson", "without-replacement" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		double before = 0;

		for (int k = 1; k <= 4; k++) {
			double pld = ask(SGD, samplings[i], 20, 1.5, "pld", k).epsilon;
			double rdp = ask(SGD, samplings[i], 20, 1.5, "rdp", k).epsilon;
			double all = ask("{\"mechanism\":\"gaussian\",\"sigma\":%.17g,"
					 "\"group\":%d,\"delta\":1e-5}",
					 1.5 / sqrt(60), k)
					     .epsilon;

			assert_true(pld > before && pld < rdp && pld < all);
			before = pld;
		}
		/* lots of all records: no sampling */
		assert_near(ask(SGD, samplings[i], 1000, 8.0, "pld", 3).epsilon,
			    ask("{\"mechanism\":\"gaussian\",\"sigma\":%.17g,"
				"\"group\":3,\"delta\":1e-5}",
				8 / sqrt(60))
				    .epsilon,
			    1e-9);
	}
}

/* Sensitivities are multiplied. */
static void plain_groups(void **state)
{
	(void)state;
	assert_true(ask("{\"mechanism\":\"laplace\",\"scale\":3,\"group\":2}").epsilon ==
		    ask("{\"mechanism\":\"laplace\",\"scale\":3,\"sensitivity\":2}").epsilon);
	assert_true(ask("{\"mechanism\":\"gaussian\",\"sigma\":3,\"group\":4,"
			"\"delta\":1e-5}")
			    .epsilon == ask("{\"mechanism\":\"gaussian\",\"sigma\":3,"
					    "\"sensitivity\":4,\"delta\":1e-5}")
						.epsilon);
	assert_near(ask("{\"mechanism\":\"output-perturbation\",\"regularization\":0.01,"
			"\"records\":1000,\"sigma\":0.6,\"group\":3,\"delta\":1e-5}")
			    .epsilon,
		    ask("{\"mechanism\":\"output-perturbation\",\"regularization\":0.01,"
			"\"records\":1000,\"sigma\":0.2,\"delta\":1e-5}")
			    .epsilon,
		    1e-12);
}

static void group_refused(const char *text, const char *names)
{
	struct dp_err err = { 0 };
	json_t *q, *a = NULL;

	assert_int_equal(dp_json_parse(text, strlen(text), &q, NULL), DP_OK);
	assert_int_equal(dp_privacy_answer_query(q, &a, &err), DP_E_INVALID);
	if (!strstr(err.msg, names))
		fail_msg("%s: %s", text, err.msg);
	json_decref(q);
}

static void bad_groups(void **state)
{
	(void)state;
	group_refused("{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":3,"
		      "\"lot\":1,\"steps\":9,\"noise_multiplier\":1,\"delta\":1e-5,"
		      "\"group\":4}",
		      "'group' is 4, but there are only 3 records");
	group_refused("{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":99,"
		      "\"lot\":1,\"steps\":9,\"noise_multiplier\":1,\"delta\":1e-5,"
		      "\"group\":33}",
		      "'group' cannot be 33");
	/* what holds for three records is not added to what holds for one */
	group_refused("{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":9,\"group\":3},"
		      "{\"mechanism\":\"svt\",\"cutoff\":1,\"scale\":9}],\"delta\":0}",
		      "groups of 3 and svt for groups of 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_one),    cmocka_unit_test(mixtures_by_integrals),
		cmocka_unit_test(lots_by_counting), cmocka_unit_test(groups_grow),
		cmocka_unit_test(plain_groups),     cmocka_unit_test(bad_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
