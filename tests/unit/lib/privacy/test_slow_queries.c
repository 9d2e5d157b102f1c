/* test_slow_queries.c - questions that once took the accountant up to a minute: what it
 * evaluates is limited, and the limits make no answer optimistic. Work is counted, not
 * timed: other programs on the machine change nothing. */
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

/* ---- counting ---- */

static struct {
	const struct dp__component_kind *real[DP__COMPONENTS_MAX];
	struct dp__component_kind copy[DP__COMPONENTS_MAX];
	size_t n;
	double terms; /* of profiles: one for each record of a person */
} counted;

static double counted_profile(const struct dp_privacy_component *p, enum dp__direction d, double x,
			      double *slack)
{
	counted.terms += fmax(p->group_size, 1);
	return counted.real[p->kind - counted.copy]->profile(p, d, x, slack);
}

static void count_profiles(struct dp_privacy_component *p)
{
	counted.real[counted.n] = p->kind;
	counted.copy[counted.n] = *p->kind;
	counted.copy[counted.n].profile = counted_profile;
	p->kind = &counted.copy[counted.n++];
}

static double counted_cgf(void *ctx, double order)
{
	const struct dp_privacy_component *p = ctx;

	return p->count * p->kind->cgf(p, NULL, order);
}

/* Both accountants' epsilon of a composition, the lesser; counted.terms is what it took.
 * Parts that need tables of their own for Renyi curves are left to the other tests. */
static double count_question(const char *text, double delta)
{
	struct dp_privacy_component parts[DP__COMPONENTS_MAX];
	struct dp_privacy_composition c = { 0 };
	struct dp__pld *loss = dp__pld_new();
	struct dp__pld_bound answer = { 0 };
	struct dp_err err = { 0 };
	double renyi = INFINITY, order;
	json_t *q = NULL;

	memset(&counted, 0, sizeof counted);
	assert_int_equal(dp_json_parse(text, strlen(text), &q, &err), DP_OK);
	assert_int_equal(dp_privacy_composition_parse(q, &c, &err), DP_OK);
	assert_int_equal(dp__components_from_items(c.items, c.n, delta, parts, &err), DP_OK);
	for (size_t i = 0; i < c.n; i++) {
		if (parts[i].kind->table_open)
			parts[i].kind->table_open(&parts[i]);
		count_profiles(&parts[i]);
		if (c.n == 1 && !parts[i].kind->prepare_tables)
			renyi = dp__rdp_curve_epsilon(
				&(struct dp__rdp_curve){ counted_cgf, &parts[i], true },
				DP_PRIVACY_CONVERSION_IMPROVED, log(delta), &order);
	}
	answer = dp__pld_epsilon(loss, parts, c.n, delta);
	for (size_t i = 0; i < c.n; i++)
		if (parts[i].table)
			parts[i].kind->table_close(&parts[i]);
	dp__pld_free(loss);
	dp_privacy_composition_free(&c);
	json_decref(q);
	return fmin(renyi, answer.epsilon);
}

/* ---- the limits ---- */

#define COMPOSE(delta, items) "{\"compose\":[" items "],\"delta\":" #delta "}"
#define SGD(rest)             "{\"mechanism\":\"dp-sgd\",\"sampling\":" rest "}"

/* Half a second's worth, or a little more. */
#define TERMS_MAX 25e6

static void questions_are_limited(void **state)
{
	static const struct {
		const char *text;
		double delta, least, most; /* epsilon */
	} rows[] = {
		{ COMPOSE(1e-6, SGD("\"without-replacement\",\"records\":41305379,"
				    "\"lot\":5251,\"epochs\":1002,"
				    "\"noise_multiplier\":1.66,\"group\":31")),
		  1e-6, 80.5, 81 },
		{ COMPOSE(1e-6, SGD("\"poisson\",\"records\":321,\"lot\":258,\"steps\":26,"
				    "\"noise_multiplier\":8e111,\"group\":31")),
		  1e-6, 0, 0 },
		{ COMPOSE(1e-6, SGD("\"poisson\",\"records\":34,\"lot\":1,\"epochs\":39,"
				    "\"noise_multiplier\":1e6,\"group\":3")),
		  1e-6, 6e-7, 6.1e-7 },
		{ COMPOSE(1e-6, SGD("\"without-replacement\",\"records\":34,\"lot\":1,"
				    "\"epochs\":39,\"noise_multiplier\":1e6,\"group\":3")),
		  1e-6, 6e-7, 7.1e-7 },
		{ COMPOSE(1e-6, SGD("\"poisson\",\"sample_rate\":0.03,\"steps\":1000,"
				    "\"noise_multiplier\":1000,\"group\":32")),
		  1e-6, 0.1109, 0.111 },
		{ COMPOSE(8.5e-115, SGD("\"poisson\",\"sample_rate\":5.436e-6,\"steps\":745,"
					"\"noise_multiplier\":8344") ",{\"mechanism\":\"laplace\","
								     "\"scale\":27.69,\"times\":27}"
								     ",{\"mechanism\":"
								     "\"discrete-laplace\","
								     "\"scale\":65.39,"
								     "\"sensitivity\":5372,"
								     "\"times\":5}"),
		  8.5e-115, 411, INFINITY },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		double e = count_question(rows[i].text, rows[i].delta);

		if (!(counted.terms <= TERMS_MAX) || !(e >= rows[i].least) || !(e <= rows[i].most))
			fail_msg("%s: epsilon %.17g, %g terms", rows[i].text, e, counted.terms);
	}
}

/* ---- solving ---- */

static int asked_pld;

static int counted_prepared(struct dp_privacy_workspace *memory, const double *v,
			    struct dp_epsilon *out, struct dp_err *err)
{
	const struct dp_mechanism *m = dp_mechanism_find("dp-sgd");

	asked_pld += dp_privacy_value(m, v, m->accountant) == DP_PRIVACY_PLD;
	return m->epsilon_cached(memory, v, out, err);
}

/* The Renyi accountant finds where to look: loss distributions are asked a few times. */
static void solving_asks_little(void **state)
{
	static const char *const questions[] = {
		"{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"sample_rate\":0.1,"
		"\"epochs\":10,\"noise_multiplier\":1.1,\"delta\":1e-6}",
		"{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":60000,"
		"\"lot\":60,\"epochs\":10,\"noise_multiplier\":1.1,\"delta\":1e-6}",
		"{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":60000,"
		"\"lot\":600,\"steps\":10,\"noise_multiplier\":1.1,\"delta\":1e-6}",
	};
	static const char *const keys[] = { "sample_rate", "lot", "steps" };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(questions); i++) {
		double v[DP_PRIVACY_KEYS_MAX], value = NAN;
		struct dp_mechanism m = *query(questions[i], v);
		const struct dp_privacy_key *k = dp_privacy_key_find(&m, keys[i]);
		struct dp_epsilon at;
		struct dp_err err = { 0 };

		m.epsilon_cached = counted_prepared;
		asked_pld = 0;
		assert_int_equal(dp_privacy_solve_max(&m, v, k, 2, &value, &at, &err), DP_OK);
		if (!(asked_pld <= 25) || !(at.epsilon <= 2 && at.epsilon > 1.99))
			fail_msg("%s: %g, epsilon %.9g, asked %d times", keys[i], value, at.epsilon,
				 asked_pld);
	}
}

/* ---- not optimistic ---- */

/* With hardly any noise a person is recognised in every lot that has one of the records:
 * with a chance above delta the loss is about half the square of 1 / noise. */
static void little_noise_hides_nothing(void **state)
{
	static const double noises[] = { 0.01, 3.3e-7, 1e-12 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(noises); i++) {
		double loss = 0.5 / (noises[i] * noises[i]);

		for (int poisson = 0; poisson < 2; poisson++) {
			struct dp_epsilon e =
				ask("{\"mechanism\":\"dp-sgd\",\"sampling\":\"%s\","
				    "\"records\":3563,\"lot\":1,\"steps\":518,"
				    "\"noise_multiplier\":%.17g,\"group\":31,"
				    "\"delta\":0.0348}",
				    poisson ? "poisson" : "without-replacement", noises[i]);

			if (!(e.epsilon >= 0.9 * loss))
				fail_msg("noise %g: epsilon %g", noises[i], e.epsilon);
		}
	}
}

/* Nor is the loss nothing where there is a great deal of noise: delta is far below what
 * one step may lose. */
static void much_noise_is_some_loss(void **state)
{
	static const double noises[] = { 1e6, 3.9e16, 1e100 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(noises); i++)
		for (int poisson = 0; poisson < 2; poisson++)
			assert_true(ask("{\"mechanism\":\"dp-sgd\",\"sampling\":\"%s\","
					"\"records\":49061,\"lot\":3,\"steps\":1968467,"
					"\"noise_multiplier\":%.17g,\"group\":8,"
					"\"delta\":6e-190}",
					poisson ? "poisson" : "without-replacement", noises[i])
					    .epsilon > 0);
}

/* ---- Renyi divergences of groups, by their definition ---- */

/* Mean over N(0, 1) of L^b - 1 - b (L - 1), L = sum of w_j exp(j mu z - (j mu)^2 / 2). */
static double excess_by_definition(const struct dp_privacy_component *p, long double b)
{
	long double all = p->group_size * p->mu, sum = 0;
	long double from = fminl(b * all, 0) - 14, to = fmaxl(b, 1) * all + 14;
	long double step = (to - from) / 6000;

	for (int i = 0; i <= 6000; i++) {
		long double z = from + i * step, t = 0, l;

		for (int j = 1; j <= (int)p->group_size; j++)
			t += p->weight[j] * expm1l(j * (long double)p->mu * (z - 0.5L * j * p->mu));
		l = log1pl(t);
		sum += (expm1l(b * l) - b * t) * expl(-0.5L * z * z);
	}
	return (double)(sum * step / sqrtl(2 * acosl(-1)));
}

static void poisson_groups_are_as_defined(void **state)
{
	static const struct {
		double q, mu, group, order;
	} rows[] = {
		{ 0.03, 0.001, 32, 140 }, { 0.0009, 2.42, 22, 1.11 }, { 0.0078, 1.956, 29, 1.03 },
		{ 0.2, 0.3, 5, 8 },       { 0.5, 1, 2, 3 },           { 0.01, 0.1, 31, 2 },
		{ 0.3, 0.02, 16, 60 },    { 0.001, 1, 4, 4.5 },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		struct dp_privacy_component p = { .kind = &dp__component_poisson,
						  .q = rows[i].q,
						  .mu = rows[i].mu,
						  .count = 1,
						  .group_size = rows[i].group };
		double a = rows[i].order, k, want;

		dp__component_set_group(&p, 0, 0);
		k = p.kind->cgf(&p, NULL, a);
		want = log1p(fmax(excess_by_definition(&p, a), excess_by_definition(&p, 1 - a)));
		if (!(k >= want * (1 - 1e-12) && k <= want * (1 + 1e-8)))
			fail_msg("row %zu: %.17g, not %.17g", i, k, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_are_limited),
		cmocka_unit_test(solving_asks_little),
		cmocka_unit_test(little_noise_hides_nothing),
		cmocka_unit_test(much_noise_is_some_loss),
		cmocka_unit_test(poisson_groups_are_as_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
