/* test_adaptive_composition_attack.c - attacks on what
 * lib/privacy/composition/adaptive_composition.h claims of whole searches.
 *
 * Thousands of studies on two data sets that differ in one record, each training a draw
 * of its own; an adversary picks settings and stops at will. What is claimed must hold,
 * as far as exact confidence bounds can tell, and what is wrong must be found by the same
 * code: no noise, an order chosen afterwards, a sum read off, pending trainings
 * forgotten, two releases for one, losers published. Streams are fixed, so a test that
 * passes once always does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/support/attack.h"
#include "privacy/composition/adaptive_composition.h"

enum {
	SETTINGS = 56,  /* to choose from */
	TRAININGS = 130 /* of a study at most */
};

/* All that can be trained, and what it costs at the orders of an odometer. */
struct menu {
	struct dp_odometer odometer;
	struct attack_setting setting[SETTINGS];
	double k[SETTINGS][DP_RENYI_ORDERS_MAX];
};

static double *key(const struct dp_mechanism *m, double *values, const char *name)
{
	return &values[dp_privacy_key_index(m, dp_privacy_key_find(m, name))];
}

/* One step of DP-SGD, as the library accounts for it: replace-one, sensitivity 1. */
static void account(struct dp_renyi_cache *memory, struct menu *menu, size_t i)
{
	const struct dp_mechanism *m = dp_mechanism_find("dp-sgd");
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item item = { m, v, 1 };
	struct dp_err err;

	for (size_t j = 0; j < m->nkeys; j++)
		v[j] = NAN;
	*key(m, v, "sampling") = 0; /* without replacement */
	*key(m, v, "records") = ATTACK_RECORDS;
	*key(m, v, "lot") = menu->setting[i].lot;
	*key(m, v, "steps") = 1;
	*key(m, v, "noise_multiplier") = menu->setting[i].sigma;
	assert_int_equal(dp_privacy_renyi_curve(memory, &item, 1, menu->odometer.order,
						menu->odometer.n, menu->k[i], &err),
			 DP_OK);
}

/* Settings whose (1 / sigma)^2 doubles with every other one, from 1e-5 on. */
static void menu_make(struct menu *menu, uint32_t lot)
{
	struct dp_renyi_cache *memory = dp_renyi_cache_new();

	assert_non_null(memory);
	dp_odometer_init_default(&menu->odometer);
	for (size_t i = 0; i < SETTINGS; i++) {
		menu->setting[i].lot = lot;
		menu->setting[i].sigma = sqrt(1e5 * pow(2, -0.5 * (double)i));
		account(memory, menu, i);
	}
	dp_renyi_cache_free(memory);
}

/* The setting whose 1 / sigma^2 is about `size`. */
static size_t menu_near(double size)
{
	double i = rint(2 * log2(size * 1e5));

	return (size_t)fmin(fmax(i, 0), SETTINGS - 1);
}

/* ---- the odometer ---- */

/* What a study says that it has cost, from the sums of K. */
typedef double lease_state(const struct dp_odometer *o, const double *sum, double delta);

static double claim_odometer(const struct dp_odometer *o, const double *sum, double delta)
{
	return dp_odometer_epsilon(o, sum, delta, NULL);
}

/* Mutant: the order that looks best afterwards, at no cost. */
static double claim_afterwards(const struct dp_odometer *o, const double *sum, double delta)
{
	double best = INFINITY;

	for (size_t i = 0; i < o->n; i++)
		best = fmin(best, (sum[i] - log(delta)) / (o->order[i] - 1));
	return best;
}

/* Mutant: the sum read off as if everything had been fixed before. */
static double claim_read_off(const struct dp_odometer *o, const double *sum, double delta)
{
	return dp_renyi_epsilon(o->order, sum, o->n, delta, NULL);
}

/* One study: ever larger trainings, small ones while the loss is near what is claimed,
 * so that no good moment is missed; it stops as soon as the loss is above the claim.
 * Claims only grow, hence one is asked for again only where it matters. Did it stop? */
static bool odometer_study(const struct menu *menu, lease_state *of, double delta, struct dp_rng *r,
			   double *loss, double *epsilon)
{
	struct attack_data with = attack_data(true);
	double sum[DP_RENYI_ORDERS_MAX] = { 0 }, size = 1e-4;

	*loss = *epsilon = 0;
	for (int t = 0; t < TRAININGS; t++) {
		double grow = *loss > 0.7 * *epsilon ? 0.06 : 0.2;
		size_t i = menu_near(grow * size);
		const struct attack_setting *s = &menu->setting[i];

		*loss += attack_loss(s, attack_train(&with, s, r));
		size += 1 / (s->sigma * s->sigma);
		for (size_t j = 0; j < menu->odometer.n; j++)
			sum[j] = dp_renyi_add(sum[j], menu->k[i][j]);
		if (*loss > *epsilon)
			*epsilon = of(&menu->odometer, sum, delta);
		if (*loss > *epsilon)
			return true;
	}
	return false;
}

static void tell(struct attack_count c, const char *what)
{
	print_message("%llu of %llu: %s is %.1e or more\n", (unsigned long long)c.hits,
		      (unsigned long long)c.n, what, attack_lower(c, ATTACK_SURE));
}

/* In how many studies the loss ever was above what was claimed. `real`: what that makes
 * as the delta of an (epsilon, delta) that is claimed when the study stops. */
static struct attack_count odometer_attack(const struct menu *menu, lease_state *of, double delta,
					   uint64_t studies, bool real)
{
	struct attack_count c = { 0, 0 };
	double loss, epsilon;
	struct dp_rng r;

	for (uint64_t i = 0; i < studies; i++) {
		bool over;

		dp_rng_init(&r, i, DP_RNG_TEST, 1, menu->setting[0].lot);
		over = odometer_study(menu, of, delta, &r, &loss, &epsilon);
		if (real)
			attack_delta(&c, over ? epsilon : INFINITY, loss, &r);
		else
			c = (struct attack_count){ c.hits + over, c.n + 1 };
	}
	tell(c, real ? "delta" : "the share of losses above the reading");
	return c;
}

static void odometer_holds(void **state)
{
	static const struct {
		uint32_t lot;
		double delta;
		uint64_t studies;
	} attacks[] = { { ATTACK_RECORDS, 1e-3, 5000 },
			{ ATTACK_RECORDS, 1e-2, 4000 },
			{ ATTACK_RECORDS, 1e-1, 1000 },
			{ 5, 1e-2, 1000 } };
	struct menu menu;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(attacks); i++) {
		struct attack_count c;

		menu_make(&menu, attacks[i].lot);
		c = odometer_attack(&menu, claim_odometer, attacks[i].delta, attacks[i].studies,
				    false);
		assert_true(attack_lower(c, ATTACK_SURE) <= attacks[i].delta);
	}
}

static void order_afterwards_is_found(void **state)
{
	struct menu menu;

	(void)state;
	menu_make(&menu, ATTACK_RECORDS);
	assert_true(attack_lower(odometer_attack(&menu, claim_afterwards, 1e-3, 12000, false),
				 ATTACK_SURE) > 1e-3);
}

static void sum_read_off_is_found(void **state)
{
	struct menu menu;

	(void)state;
	menu_make(&menu, ATTACK_RECORDS);
	assert_true(attack_lower(odometer_attack(&menu, claim_read_off, 1e-3, 16000, true),
				 ATTACK_SURE) > 1e-3);
}

/* ---- the filter ---- */

/* May this training start? */
typedef bool decide(const struct dp_filter *f, double spent, double pending, double next);

/* Mutants: what has started is forgotten; the training itself is. */
static bool without_pending(const struct dp_filter *f, double spent, double pending, double next)
{
	(void)pending;
	return dp_filter_allows(f, spent, 0, next);
}

static bool without_next(const struct dp_filter *f, double spent, double pending, double next)
{
	(void)next;
	return dp_filter_allows(f, spent, pending, 0);
}

struct budget {
	const struct menu *menu;
	struct dp_filter filter;
	size_t at; /* the place of the filter's order */
	decide *allows;
	bool noise;
};

/* The dearest training from `from` downwards that may start; SETTINGS: none. */
static size_t dearest(const struct budget *b, size_t from, double spent, double pending)
{
	for (size_t i = from + 1; i-- > 0;)
		if (b->allows(&b->filter, spent, pending, b->menu->k[i][b->at]))
			return i;
	return SETTINGS;
}

/* One study, three trainings side by side: as dear as allowed when the loss is behind,
 * small ones when it is ahead; it stops when the loss is above the budget's epsilon, or
 * nothing may start any more. Returns the loss. */
static double filter_study(const struct budget *b, bool with, struct dp_rng *r)
{
	struct attack_data data = attack_data(with);
	double loss = 0, spent = 0;

	while (loss <= b->filter.epsilon) {
		size_t from = loss > 0.5 * b->filter.epsilon ? SETTINGS / 2 : SETTINGS - 1;
		double pending = 0, seen = 0;

		for (int side = 0; side < 3; side++) {
			size_t i = dearest(b, from, spent, pending);
			struct attack_setting s;

			if (i == SETTINGS)
				break;
			s = b->menu->setting[i];
			s.sigma *= b->noise;
			seen += attack_loss(&b->menu->setting[i], attack_train(&data, &s, r));
			pending = dp_renyi_add(pending, b->menu->k[i][b->at]);
		}
		if (pending == 0)
			break;
		loss += seen;
		spent = dp_renyi_add(spent, pending);
	}
	return loss;
}

enum {
	FILTER_STUDIES = 20000
};

/* Breaks the budget: by the real delta of its epsilon, or by an epsilon at its delta that
 * somebody finds who knows nothing of losses. */
static bool filter_breaks(const struct budget *b, size_t studies, double *epsilon)
{
	static double with[FILTER_STUDIES], without[FILTER_STUDIES];
	struct attack_count delta = { 0, 0 };
	struct dp_rng r;

	for (size_t i = 0; i < studies; i++) {
		dp_rng_init(&r, i, DP_RNG_TEST, 2, 0);
		with[i] = filter_study(b, true, &r);
		attack_delta(&delta, b->filter.epsilon, with[i], &r);
		without[i] = filter_study(b, false, &r);
	}
	*epsilon = attack_epsilon(with, without, studies, b->filter.delta, ATTACK_SURE);
	tell(delta, "delta");
	print_message("epsilon is %.2f or more\n", *epsilon);
	return attack_lower(delta, ATTACK_SURE) > b->filter.delta || *epsilon > b->filter.epsilon;
}

static void budget_make(struct budget *b, struct menu *menu)
{
	static double k[SETTINGS * DP_RENYI_ORDERS_MAX];
	const struct dp_odometer *o = &menu->odometer;
	struct dp_err err;

	menu_make(menu, ATTACK_RECORDS);
	for (size_t s = 0; s < SETTINGS; s++)
		memcpy(&k[s * o->n], menu->k[s], o->n * sizeof *k);
	*b = (struct budget){ .menu = menu, .allows = dp_filter_allows, .noise = true };
	assert_int_equal(
		dp_filter_choose_order(2, 0.01, o->order, o->n, k, SETTINGS, &b->filter, &err),
		DP_OK);
	while (o->order[b->at] != b->filter.order)
		b->at++;
}

static void filter_holds(void **state)
{
	struct budget b;
	struct menu menu;
	double epsilon;

	(void)state;
	budget_make(&b, &menu);
	assert_false(filter_breaks(&b, FILTER_STUDIES, &epsilon));
	/* the attack is worth something */
	assert_true(epsilon > 0.4 * b.filter.epsilon);
}

static void broken_filters_are_found(void **state)
{
	decide *const mutants[] = { without_pending, without_next };
	struct budget b;
	struct menu menu;
	double epsilon;

	(void)state;
	budget_make(&b, &menu);
	for (size_t i = 0; i < DP_COUNT(mutants); i++) {
		b.allows = mutants[i];
		assert_true(filter_breaks(&b, 3000, &epsilon));
	}
}

static void trainings_without_noise_are_found(void **state)
{
	struct budget b;
	struct menu menu;
	double epsilon;

	(void)state;
	budget_make(&b, &menu);
	b.noise = false;
	assert_true(filter_breaks(&b, 3000, &epsilon));
}

/* ---- noise on what is released ---- */

enum {
	TEST_RECORDS = 100,
	POINTS = 25,
	RELEASE_STUDIES = 20000
};
#define RELEASE_SIGMA 0.05

/* The utility of a point: the share of records that its model gets right. The one record
 * that differs is right in one data set and wrong in the other. */
static double utility(bool with, struct dp_rng *r, double *of_others)
{
	int right = 0;

	for (int bits = 0; bits < TEST_RECORDS - 1; bits += 33)
		right += __builtin_popcountll(dp_rng_u64(r) >> 31);
	*of_others = (double)right / TEST_RECORDS;
	return *of_others + (double)with / TEST_RECORDS;
}

/* All points released `times` over; returns the privacy loss. */
static double release_study(bool with, int times, double sigma, struct dp_rng *r)
{
	double shift = 1. / TEST_RECORDS, var = RELEASE_SIGMA * RELEASE_SIGMA, loss = 0;

	for (int i = 0; i < POINTS; i++) {
		double others, share = utility(with, r, &others);

		for (int j = 0; j < times; j++) {
			double seen = share + sigma * dp_rng_normal(r);

			loss += shift * (seen - others - 0.5 * shift) / var;
		}
	}
	return loss;
}

static struct attack_count release_attack(int times, double delta)
{
	double epsilon = dp_noisy_release_epsilon(TEST_RECORDS, RELEASE_SIGMA, POINTS, delta);
	struct attack_count c = { 0, 0 };
	struct dp_rng r;

	for (uint64_t i = 0; i < RELEASE_STUDIES / (uint64_t)times; i++) {
		dp_rng_init(&r, i, DP_RNG_TEST, 3, 0);
		attack_delta(&c, epsilon, release_study(true, times, RELEASE_SIGMA, &r), &r);
	}
	tell(c, "delta");
	return c;
}

/* The claim is exact, so that the attack comes close to it. */
static void releases_hold(void **state)
{
	struct attack_count c = release_attack(1, 1e-2);

	(void)state;
	assert_true(attack_lower(c, ATTACK_SURE) <= 1e-2);
	assert_true(attack_upper(c, ATTACK_SURE) >= 1e-2);
	assert_true(attack_lower(c, ATTACK_SURE) > 0.5e-2);
}

static void second_releases_are_found(void **state)
{
	(void)state;
	assert_true(attack_lower(release_attack(2, 1e-2), ATTACK_SURE) > 1e-2);
}

static void releases_without_noise_are_found(void **state)
{
	enum {
		STUDIES = 4000
	};
	static double with[STUDIES], without[STUDIES];
	double claimed = dp_noisy_release_epsilon(TEST_RECORDS, RELEASE_SIGMA, POINTS, 1e-2);
	struct dp_rng r;

	(void)state;
	for (int noise = 1; noise >= 0; noise--) {
		double sigma = noise * RELEASE_SIGMA, epsilon;

		for (uint64_t i = 0; i < STUDIES; i++) {
			dp_rng_init(&r, i, DP_RNG_TEST, 4, 0);
			with[i] = release_study(true, 1, sigma, &r);
			without[i] = release_study(false, 1, sigma, &r);
		}
		epsilon = attack_epsilon(with, without, STUDIES, 1e-2, ATTACK_SURE);
		print_message("epsilon is %.2f or more; %.2f is claimed\n", epsilon, claimed);
		assert_int_equal(epsilon <= claimed, noise);
	}
}

/* ---- private selection ---- */

static double normal_cdf(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

/* ln of the derivative of the law's generating function, but for a constant: the density
 * of the best of all is that times the density of one. */
static double law_slope(const struct dp_selection *s, double below)
{
	return s->law == DP_SELECTION_POISSON ? s->mean * below
					      : -(1 + s->eta) * log1p(expm1(s->log_gamma) * below);
}

/* The loss of one selection: the best is the largest result. `all` are published by the
 * mutant. Nothing trained, nothing learned. */
static double select_study(const struct dp_selection *s, bool with, bool all, struct dp_rng *r)
{
	const struct attack_setting one = { ATTACK_RECORDS, 1 };
	struct attack_data data = attack_data(with);
	double best = -INFINITY, sum = 0;

	for (uint64_t left = dp_selection_draw(s, r); left; left--) {
		double result = attack_train(&data, &one, r);

		sum += attack_loss(&one, result);
		best = fmax(best, result);
	}
	if (all || best == -INFINITY)
		return sum;
	return attack_loss(&one, best) + law_slope(s, normal_cdf(best - 0.5)) -
	       law_slope(s, normal_cdf(best + 0.5));
}

/* The worse of both directions. */
static struct attack_count select_attack(const struct dp_selection *s, double epsilon, bool all)
{
	struct attack_count c[2] = { { 0, 0 }, { 0, 0 } };
	struct dp_rng r;

	for (uint64_t i = 0; i < 3000; i++) {
		dp_rng_init(&r, i, DP_RNG_TEST, 5, 0);
		attack_delta(&c[0], epsilon, -select_study(s, false, all, &r), &r);
		attack_delta(&c[1], epsilon, select_study(s, true, all, &r), &r);
	}
	tell(c[c[1].hits > c[0].hits], "delta");
	return c[c[1].hits > c[0].hits];
}

static void selection_holds(void **state)
{
	const struct attack_setting one = { ATTACK_RECORDS, 1 };
	struct dp_selection laws[3];
	struct menu menu = { .setting = { one } };
	const struct dp_odometer *o = &menu.odometer;
	struct dp_renyi_cache *memory = dp_renyi_cache_new();
	double k[DP_RENYI_ORDERS_MAX], alone;
	struct dp_err err;

	(void)state;
	assert_non_null(memory);
	dp_odometer_init_default(&menu.odometer);
	account(memory, &menu, 0);
	dp_renyi_cache_free(memory);
	assert_int_equal(dp_selection_init_neg_binomial(0, 20, &laws[0], &err), DP_OK);
	assert_int_equal(dp_selection_init_neg_binomial(1, 20, &laws[1], &err), DP_OK);
	assert_int_equal(dp_selection_init_poisson(20, &laws[2], &err), DP_OK);
	alone = dp_renyi_epsilon(o->order, menu.k[0], o->n, 1e-2, NULL);
	for (size_t i = 0; i < DP_COUNT(laws); i++) {
		double claimed;

		dp_selection_renyi(&laws[i], o->order, menu.k[0], NULL, o->n, k);
		claimed = dp_renyi_epsilon(o->order, k, o->n, 1e-2, NULL);
		print_message("epsilon %.2f of one, %.2f of the best\n", alone, claimed);
		assert_true(attack_lower(select_attack(&laws[i], claimed, false), ATTACK_SURE) <=
			    1e-2);
		/* mutants: what one training costs; losers published */
		assert_true(attack_lower(select_attack(&laws[i], alone, false), ATTACK_SURE) >
			    1e-2);
		assert_true(attack_lower(select_attack(&laws[i], claimed, true), ATTACK_SURE) >
			    1e-2);
	}
}

/* ---- the estimates themselves ---- */

/* Computed with mpmath at 30 digits. */
static void bounds_are_exact(void **state)
{
	struct attack_count none = { 0, 100 }, few = { 5, 100 }, all = { 10, 10 };

	(void)state;
	assert_true(attack_lower(none, 0.025) == 0);
	assert_true(fabs(attack_upper(none, 0.025) - 0.03621669) < 1e-7);
	assert_true(fabs(attack_lower(few, 0.025) - 0.01643188) < 1e-7);
	assert_true(fabs(attack_upper(few, 0.025) - 0.11283491) < 1e-7);
	assert_true(fabs(attack_lower(all, 0.025) - 0.69150289) < 1e-7);
	assert_true(attack_upper(all, 0.025) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_are_exact),
		cmocka_unit_test(odometer_holds),
		cmocka_unit_test(order_afterwards_is_found),
		cmocka_unit_test(sum_read_off_is_found),
		cmocka_unit_test(filter_holds),
		cmocka_unit_test(broken_filters_are_found),
		cmocka_unit_test(trainings_without_noise_are_found),
		cmocka_unit_test(releases_hold),
		cmocka_unit_test(second_releases_are_found),
		cmocka_unit_test(releases_without_noise_are_found),
		cmocka_unit_test(selection_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
