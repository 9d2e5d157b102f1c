/* test_adaptive_composition.c - what whole searches cost: reference values, edges, rounding,
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "privacy/privacy_internal.h"
#include "privacy/composition/adaptive_composition.h"
#include "tests/unit/support/privacy_query.h"
#include "tests/unit/support/reference.h"

/* ---- tests/ref/whole.tsv ---- */

enum {
	GIVEN_MAX = 5
};

/* The next row of a family: what is given, and last the value. */
static int next_row(FILE *f, const char *family, double given[GIVEN_MAX])
{
	char line[512], *p;
	int n = 0;

	while (fgets(line, sizeof line, f)) {
		p = line;
		if (strcmp(strsep(&p, "\t"), family) != 0)
			continue;
		for (char *field; (field = strsep(&p, "\t\n")) && *field;)
			given[n++] = strtod(field, NULL);
		return n;
	}
	return 0;
}

/* A bound is never below the true value, and above it by rounding only. */
static void assert_bound(const char *family, const double *given, double value, double truth,
			 double tolerance)
{
	if (!(value >= truth * (1 - 1e-15) && value <= truth * (1 + tolerance)))
		fail_msg("%s %g %g %g: %.17g, not %.17g", family, given[0], given[1], given[2],
			 value, truth);
}

/* Calls check() with each row of a family. */
static void check_rows(const char *family, int expected,
		       void (*check)(const char *family, const double *given))
{
	const char *dir = getenv("srcdir");
	double given[GIVEN_MAX];
	char path[4096];
	int rows = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/ref/whole.tsv", dir ? dir : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	for (; next_row(f, family, given) > 0; rows++)
		check(family, given);
	fclose(f);
	if (rows != expected)
		fail_msg("%d rows of %s, not %d", rows, family, expected);
}

/* ---- curves ---- */

static int renyi_of(const char *text, double times, const double *orders, size_t n, double *k)
{
	struct dp_renyi_cache *memory = dp_renyi_cache_new();
	double values[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item item = { query(text, values), values, times };
	struct dp_err err = { 0 };
	int code;

	assert_non_null(memory);
	code = dp_privacy_renyi_curve(memory, &item, 1, orders, n, k, &err);
	dp_renyi_cache_free(memory);
	return code;
}

#define GAUSSIAN(sigma) "{\"mechanism\":\"gaussian\",\"sigma\":" #sigma ",\"delta\":1e-5}"
#define LOTS(sampling, lot, sigma)                                                                 \
	"{\"mechanism\":\"dp-sgd\",\"sampling\":\"" sampling "\",\"records\":1000,"                \
	"\"lot\":" #lot ",\"steps\":100,\"noise_multiplier\":" #sigma ",\"delta\":1e-5}"

static void gaussian_curve(double mu, struct dp_odometer *o, double *k)
{
	char text[128];

	dp_odometer_init_default(o);
	snprintf(text, sizeof text,
		 "{\"mechanism\":\"gaussian\",\"sigma\":1,\"sensitivity\":%.17g,"
		 "\"delta\":1e-5}",
		 mu);
	assert_int_equal(renyi_of(text, 1, o->order, o->n, k), DP_OK);
}

static void check_poisson_lot(const char *family, const double *g)
{
	char text[256];
	double k;

	snprintf(text, sizeof text,
		 "{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":1000,"
		 "\"lot\":%.0f,\"steps\":%.0f,\"noise_multiplier\":%.17g,\"delta\":1e-5}",
		 1000 * g[0], g[2], g[1]);
	assert_int_equal(renyi_of(text, 1, &g[3], 1, &k), DP_OK);
	assert_bound(family, g, k, g[4], 3e-9);
}

static void check_fixed_lot(const char *family, const double *g)
{
	char text[256];
	double k;

	snprintf(text, sizeof text,
		 "{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		 "\"records\":1000,\"lot\":%.0f,\"steps\":%.0f,"
		 "\"noise_multiplier\":%.17g,\"delta\":1e-5}",
		 1000 * g[0], g[2], g[1]);
	assert_int_equal(renyi_of(text, 1, &g[3], 1, &k), DP_OK);
	assert_bound(family, g, k, g[4], 3e-9);
}

static void check_laplace(const char *family, const double *g)
{
	double k[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;
	char text[128];

	dp_odometer_init_default(&o);
	snprintf(text, sizeof text, "{\"mechanism\":\"laplace\",\"scale\":%g}", g[0]);
	assert_int_equal(renyi_of(text, 1, o.order, o.n, k), DP_OK);
	assert_bound(family, g, dp_odometer_epsilon(&o, k, g[1], NULL), g[2], 3e-9);
}

static void curves(void **state)
{
	(void)state;
	check_rows("poisson_lot", 8, check_poisson_lot);
	check_rows("fixed_lot", 8, check_fixed_lot);
	check_rows("laplace", 3, check_laplace);
}

static double lots_epsilon(const struct reference *r, const double *orders, size_t n)
{
	double k[DP_RENYI_ORDERS_MAX];
	char text[256];

	snprintf(text, sizeof text,
		 "{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		 "\"records\":%.0f,\"lot\":%.0f,\"steps\":%.0f,\"noise_multiplier\":%.17g,"
		 "\"delta\":1e-5}",
		 r->records, r->lot, r->steps, r->noise);
	assert_int_equal(renyi_of(text, 1, orders, n, k), DP_OK);
	return dp_renyi_epsilon(orders, k, n, r->delta, NULL);
}

/* Lots without replacement: below what the published Renyi bound gives at its best order,
 * above what loss distributions give. */
static void curves_without_replacement(void **state)
{
	FILE *f = reference_open();
	struct dp_odometer o;
	struct reference r;
	int n = 0;

	(void)state;
	assert_non_null(f);
	for (; reference_next(f, "wor_gaussian_rdp_tight_improved", &r); n++)
		assert_true(lots_epsilon(&r, &r.order, 1) <= r.epsilon * (1 + 3e-9));
	assert_int_equal(n, 42);
	rewind(f);
	dp_odometer_init_default(&o);
	for (n = 0; reference_next(f, "wor_gaussian_pld_replace_one", &r); n++) {
		double e = lots_epsilon(&r, o.order, o.n);

		if (!(e > r.extrapolated && e < 3 * r.extrapolated))
			fail_msg("%s: %g, where loss distributions say %g", r.id, e,
				 r.extrapolated);
	}
	fclose(f);
	assert_int_equal(n, 12);
}

/* The divergence of two mixtures of normals of deviation sigma, one of them at 0 and a
 * share q of it at a or b, by quadrature. */
static double mixture_cgf(double q, double sigma, double a, double b, double order)
{
	double sum = 0, step = 0.02 * sigma, c = 0.5 / (sigma * sigma);

	for (double x = -20 * sigma - order; x < 20 * sigma + order; x += step) {
		double zero = (1 - q) * exp(-x * x * c);
		double p = zero + q * exp(-(x - a) * (x - a) * c);
		double other = zero + q * exp(-(x - b) * (x - b) * c);

		if (p > 0 && other > 0)
			sum += p * pow(p / other, order - 1);
	}
	return log(sum * step / (sigma * sqrt(2 * M_PI)));
}

/* What one step really does to neighbours is covered: a record that moves from 0 to the
 * end of its range, the other way round, and from one end to the other. */
static void neighbours_are_covered(void **state)
{
	static const double moves[][2] = { { 1, 0 }, { 0, 1 }, { 0.5, -0.5 } };
	static const double settings[][3] = { { 0.05, 1, 2 },    { 0.05, 1, 5 },  { 0.2, 2, 12 },
					      { 0.5, 0.7, 1.5 }, { 0.01, 3, 30 }, { 0.9, 1, 3 },
					      { 0.02, 0.6, 1.1 } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(settings); i++) {
		const double *s = settings[i];
		double k, most = 0;
		char text[256];

		snprintf(text, sizeof text,
			 "{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
			 "\"records\":100,\"lot\":%.0f,\"steps\":1,"
			 "\"noise_multiplier\":%.17g,\"delta\":1e-5}",
			 100 * s[0], s[1]);
		assert_int_equal(renyi_of(text, 1, &s[2], 1, &k), DP_OK);
		for (size_t j = 0; j < DP_COUNT(moves); j++)
			most = fmax(most, mixture_cgf(s[0], s[1], moves[j][0], moves[j][1], s[2]));
		if (!(most <= k && most > 0.5 * k))
			fail_msg("q %g sigma %g order %g: %g is claimed, %g is true", s[0], s[1],
				 s[2], k, most);
	}
}

/* `times` and several items add up; every answer is the same with tables of any age. */
static void curves_add_up(void **state)
{
	static const char *const texts[] = {
		LOTS("without-replacement", 20, 1.5),
		LOTS("without-replacement", 50, 3),
		LOTS("poisson", 10, 0.9),
		LOTS("without-replacement", 7, 0.8),
		GAUSSIAN(2),
		"{\"mechanism\":\"laplace\",\"scale\":4}",
		LOTS("without-replacement", 20, 5),
		LOTS("without-replacement", 20, 6),
		LOTS("without-replacement", 20, 7),
		LOTS("without-replacement", 20, 8),
		LOTS("without-replacement", 20, 9),
		LOTS("without-replacement", 20, 10),
	};
	struct dp_renyi_cache *memory = dp_renyi_cache_new();
	double v[2][DP_PRIVACY_KEYS_MAX], k[DP_RENYI_ORDERS_MAX], l[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;
	struct dp_err err;
	struct dp_rng r;

	(void)state;
	assert_non_null(memory);
	dp_odometer_init_default(&o);
	dp_rng_init(&r, 1, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 60; i++) {
		const char *text = texts[dp_rng_below(&r, DP_COUNT(texts))];
		struct dp_composition_item item = { query(text, v[0]), v[0], 3 };

		assert_int_equal(dp_privacy_renyi_curve(memory, &item, 1, o.order, o.n, k, &err),
				 DP_OK);
		assert_int_equal(renyi_of(text, 3, o.order, o.n, l), DP_OK);
		assert_memory_equal(k, l, o.n * sizeof *k);
		assert_int_equal(renyi_of(text, 1, o.order, o.n, l), DP_OK);
		for (size_t j = 0; j < o.n; j++) {
			assert_true(k[j] > 0);
			assert_near(k[j] / (3 * l[j]), 1, 1e-14);
		}
	}
	{
		struct dp_composition_item items[] = { { query(texts[0], v[0]), v[0], 2 },
						       { query(texts[4], v[1]), v[1], 1 } };
		double a[DP_RENYI_ORDERS_MAX];

		assert_int_equal(dp_privacy_renyi_curve(memory, items, 2, o.order, o.n, k, &err),
				 DP_OK);
		assert_int_equal(renyi_of(texts[0], 2, o.order, o.n, l), DP_OK);
		assert_int_equal(renyi_of(texts[4], 1, o.order, o.n, a), DP_OK);
		for (size_t j = 0; j < o.n; j++)
			assert_near(k[j] / (l[j] + a[j]), 1, 1e-14);
	}
	dp_renyi_cache_free(memory);
}

/* The curve of one record is none of a person with three. */
static void groups_cost_more(void **state)
{
#define PERSON(group)                                                                              \
	"{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","                          \
	"\"records\":1000,\"lot\":20,\"steps\":100,\"noise_multiplier\":2,"                        \
	"\"delta\":1e-5,\"group\":" #group "}"
	double one[DP_RENYI_ORDERS_MAX], three[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;

	(void)state;
	dp_odometer_init_default(&o);
	assert_int_equal(renyi_of(PERSON(1), 1, o.order, o.n, one), DP_OK);
	assert_int_equal(renyi_of(PERSON(3), 1, o.order, o.n, three), DP_OK);
	for (size_t i = 0; i < o.n; i++)
		assert_true(three[i] > 3 * one[i]);
#undef PERSON
}

static void assert_refused(const struct dp_composition_item *items, size_t n, double order,
			   const char *why)
{
	struct dp_renyi_cache *memory = dp_renyi_cache_new();
	double v[DP_PRIVACY_KEYS_MAX], k = 0;
	struct dp_composition_item fine[2] = { { query(GAUSSIAN(1), v), v, 1 },
					       { query(GAUSSIAN(1), v), v, 1 } };
	double two = 2;
	struct dp_err err;

	assert_non_null(memory);
	/* what was asked before must not stand in for what is refused */
	assert_int_equal(dp_privacy_renyi_curve(memory, fine, 2, &two, 1, &k, &err), DP_OK);
	assert_int_equal(dp_privacy_renyi_curve(memory, items, n, &order, 1, &k, &err),
			 DP_E_INVALID);
	assert_non_null(strstr(err.msg, why));
	assert_true(k == INFINITY);
	dp_renyi_cache_free(memory);
}

static void refused_curves(void **state)
{
	double v[2][DP_PRIVACY_KEYS_MAX];
	struct dp_mechanism alone;
	struct dp_composition_item items[] = {
		{ query(LOTS("without-replacement", 20, 1), v[0]), v[0], 1 },
		{ query(LOTS("poisson", 20, 1), v[1]), v[1], 1 },
	};

	(void)state;
	assert_refused(items, 2, 2, "different neighbouring relations");
	assert_refused(items, 0, 2, "nothing");
	assert_refused(items, 1, 1, "orders lie above 1");
	assert_refused(items, 1, NAN, "orders lie above 1");
	assert_refused(items, 1, INFINITY, "orders lie above 1");
	items[0].times = 0.5;
	assert_refused(items, 1, 2, "'times'");
	alone = *items[1].mechanism;
	alone.component = NULL;
	items[1].mechanism = &alone;
	assert_refused(&items[1], 1, 2, "no way to compose");
}

/* Without noise to speak of there is no bound; with any it is never 0. */
static void ends_of_curves(void **state)
{
	const double orders[] = { 1.001, 2, 1000 };
	double k[3];

	(void)state;
	assert_int_equal(renyi_of(GAUSSIAN(1e-170), 1, orders, 3, k), DP_OK);
	for (int i = 0; i < 3; i++)
		assert_true(k[i] == INFINITY);
	/* squares that overflow are no reason for a small number */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(renyi_of(i ? LOTS("poisson", 20, 1e-200)
					    : LOTS("without-replacement", 20, 1e-200),
					  1, orders, 3, k),
				 DP_OK);
		for (int j = 0; j < 3; j++)
			assert_true(k[j] == INFINITY);
	}
	assert_int_equal(renyi_of(GAUSSIAN(1e170), 1, orders, 3, k), DP_OK);
	for (int i = 0; i < 3; i++)
		assert_true(k[i] > 0 && k[i] < 1e-300);
}

/* ---- sums ---- */

/* Never below the sum of the same numbers with 11 more bits. */
static void sums_round_up(void **state)
{
	double sum = 0, again[2] = { 0 };
	long double truth = 0;
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 2, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 20000; i++) {
		double k[2] = { exp(40 * dp_rng_uniform(&r) - 35), 0 };

		k[1] = k[0];
		sum = dp_renyi_add(sum, k[0]);
		for (size_t j = 0; j < 2; j++)
			again[j] = dp_renyi_add(again[j], k[j]);
		truth += k[0];
		assert_true((long double)sum >= truth * (1 - 1e-18L));
	}
	assert_true(again[0] == sum && again[1] == sum);
	assert_near((double)(sum / truth), 1, 1e-11);
	assert_true(dp_renyi_add(0, 0) == 0);
	assert_true(dp_renyi_add(NAN, 1) == INFINITY && dp_renyi_add(1, NAN) == INFINITY);
	assert_true(dp_renyi_add(-1, 2) == INFINITY && dp_renyi_add(2, -1) == INFINITY);
	assert_true(dp_renyi_add(INFINITY, 1) == INFINITY);
}

static void check_improved(const char *family, const double *g)
{
	double k[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;
	double e, d;

	gaussian_curve(g[0], &o, k);
	e = dp_renyi_epsilon(o.order, k, o.n, g[1], NULL);
	assert_bound(family, g, e, g[2], 1e-7);
	/* and the other way round */
	d = dp_renyi_delta(o.order, k, o.n, e);
	assert_true(d >= g[1] * (1 - 1e-9) && d <= g[1] * (1 + 1e-6));
}

static void conversions(void **state)
{
	const double orders[] = { 1.5, 2, 3 }, nothing[] = { NAN, INFINITY, -1 };
	const double k[] = { NAN, 3, INFINITY };
	double order = 0;

	(void)state;
	check_rows("improved", 15, check_improved);
	assert_true(dp_renyi_epsilon(orders, nothing, 3, 1e-5, &order) == INFINITY);
	assert_true(isnan(order));
	assert_true(isfinite(dp_renyi_epsilon(orders, k, 3, 1e-5, &order)));
	assert_true(order == 2);
	assert_true(dp_renyi_epsilon(orders, k, 3, 0, NULL) == INFINITY);
	assert_true(dp_renyi_epsilon(orders, k, 3, 1, NULL) == INFINITY);
	assert_true(dp_renyi_epsilon(orders, k, 3, NAN, NULL) == INFINITY);
	assert_true(dp_renyi_delta(orders, nothing, 3, 1) == 1);
	assert_true(dp_renyi_delta(orders, k, 3, NAN) == 1);
	assert_true(dp_renyi_delta(orders, k, 3, -1) == 1);
	assert_true(dp_renyi_delta(orders, k, 3, 0) == 1);
}

/* ---- the odometer ---- */

static void check_odometer(const char *family, const double *g)
{
	double k[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;

	gaussian_curve(g[0], &o, k);
	assert_bound(family, g, dp_odometer_epsilon(&o, k, g[1], NULL), g[2], 3e-9);
}

static void odometer(void **state)
{
	double sum[DP_RENYI_ORDERS_MAX] = { 0 }, k[DP_RENYI_ORDERS_MAX], last = 0, order;
	struct dp_odometer o;
	struct dp_err err;

	(void)state;
	check_rows("odometer", 15, check_odometer);
	gaussian_curve(0.3, &o, k);
	assert_int_equal(dp_odometer_check(&o, &err), DP_OK);
	assert_int_equal(o.n, 84);
	assert_true(dp_odometer_epsilon(&o, sum, 1e-5, &order) == 0);
	for (int t = 0; t < 50; t++) {
		double e;

		for (size_t j = 0; j < o.n; j++)
			sum[j] = dp_renyi_add(sum[j], k[j]);
		e = dp_odometer_epsilon(&o, sum, 1e-5, &order);
		assert_true(e > last && order > 1);
		/* it costs more than what is fixed before */
		assert_true(e > dp_renyi_epsilon(o.order, sum, o.n, 1e-5, NULL));
		last = e;
	}
	/* without its best order it takes another one */
	for (size_t i = 0; i < o.n; i++)
		sum[i] = o.order[i] == order ? NAN : sum[i];
	assert_true(dp_odometer_epsilon(&o, sum, 1e-5, NULL) > last);
	assert_true(dp_odometer_epsilon(&o, sum, 1e-5, NULL) < 1.2 * last);
	for (size_t i = 0; i < o.n; i++)
		sum[i] = i % 2 ? NAN : INFINITY;
	assert_true(dp_odometer_epsilon(&o, sum, 1e-5, &order) == INFINITY);
	assert_true(isnan(order));
	assert_true(dp_odometer_epsilon(&o, k, 0, NULL) == INFINITY);
	assert_true(dp_odometer_epsilon(&o, k, NAN, NULL) == INFINITY);
}

static void refused_odometers(void **state)
{
	struct dp_odometer o, fine = { 2, { 2, 3 }, { 0.5, 0.5 } };
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_odometer_check(&fine, &err), DP_OK);
#define REFUSED(change, why)                                                                       \
	o = fine;                                                                                  \
	o.change;                                                                                  \
	assert_int_equal(dp_odometer_check(&o, &err), DP_E_INVALID);                               \
	assert_non_null(strstr(err.msg, why))
	REFUSED(n = 0, "orders, not 0");
	REFUSED(n = DP_RENYI_ORDERS_MAX + 1, "orders, not 129");
	REFUSED(order[0] = 1, "rise from above 1");
	REFUSED(order[1] = 2, "number 2 is 2");
	REFUSED(order[1] = INFINITY, "number 2 is inf");
	REFUSED(order[0] = NAN, "number 1 is nan");
	REFUSED(weight[0] = 0, "above 0");
	REFUSED(weight[1] = NAN, "above 0");
	REFUSED(weight[1] = 0.6, "add up to 1.1");
#undef REFUSED
}

/* ---- the filter ---- */

/* B is rounded down. */
static void check_filter_bound(const char *family, const double *g)
{
	double b = dp_filter_bound(g[0], g[1], g[2]);

	if (!(b <= g[3] && b >= g[3] - 1e-13 * (1 + fabs(g[3]) + g[0])))
		fail_msg("%s %g %g %g: %.17g, not %.17g", family, g[0], g[1], g[2], b, g[3]);
}

/* What is spent up to the limit is worth the budget, to the last digits. */
static void filter_is_tight(void **state)
{
	struct dp_filter f;
	struct dp_err err;
	struct dp_rng r;
	int n = 0;

	(void)state;
	check_rows("bound", 7, check_filter_bound);
	dp_rng_init(&r, 3, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 3000; i++) {
		double epsilon = exp(10 * dp_rng_uniform(&r) - 3);
		double delta = exp(-30 * dp_rng_uniform(&r));
		double order = 1 + exp(12 * dp_rng_uniform(&r) - 5), e;

		if (dp_filter_init(epsilon, delta, order, &f, &err) != DP_OK)
			continue;
		e = dp_renyi_epsilon(&order, &f.limit, 1, delta, NULL);
		assert_true(e >= epsilon * (1 - 1e-9) - 1e-10);
		assert_true(e <= epsilon * (1 + 1e-9) + 1e-10);
		n++;
	}
	assert_true(n > 1000);
}

static void filter_decides(void **state)
{
	struct dp_filter f;
	struct dp_err err;
	struct dp_rng r;

	(void)state;
	assert_int_equal(dp_filter_init(8, 1e-5, 4, &f, &err), DP_OK);
	assert_true(dp_filter_allows(&f, 0, 0, 0.999999 * f.limit));
	assert_false(dp_filter_allows(&f, 0, 0, 1.000001 * f.limit));
	assert_false(dp_filter_allows(&f, 0.5 * f.limit, 0.3 * f.limit, 0.201 * f.limit));
	assert_true(dp_filter_allows(&f, 0.5 * f.limit, 0.3 * f.limit, 0.199 * f.limit));
	assert_false(dp_filter_allows(&f, NAN, 0, 0));
	assert_false(dp_filter_allows(&f, 0, NAN, 0));
	assert_false(dp_filter_allows(&f, 0, 0, NAN));
	assert_false(dp_filter_allows(&f, 0, 0, INFINITY));
	assert_false(dp_filter_allows(&f, -1, 0, 1));
	assert_true(dp_filter_remaining(&f, f.limit, 0) == 0);
	assert_true(dp_filter_remaining(&f, NAN, 0) == 0);
	assert_true(dp_filter_remaining(&f, 0, INFINITY) == 0);
	dp_rng_init(&r, 4, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 3000; i++) {
		double spent = f.limit * dp_rng_uniform(&r);
		double pending = (f.limit - spent) * dp_rng_uniform(&r);
		double left = dp_filter_remaining(&f, spent, pending);

		assert_true(dp_filter_allows(&f, spent, pending, left));
		assert_false(dp_filter_allows(&f, spent, pending, left + 1e-14 * f.limit));
	}
}

static void filter_refuses(void **state)
{
	static const double bad[][3] = { { 0, 1e-5, 2 },        { -1, 1e-5, 2 },  { NAN, 1e-5, 2 },
					 { INFINITY, 1e-5, 2 }, { 1, 0, 2 },      { 1, 1, 2 },
					 { 1, NAN, 2 },         { 1, 1e-5, 1 },   { 1, 1e-5, 0.5 },
					 { 1, 1e-5, INFINITY }, { 1, 1e-5, NAN }, { 1, 1e-5, 1.5 },
					 { 0.1, 1e-5, 20 } };
	struct dp_filter f;
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		assert_false(dp_filter_bound(bad[i][0], bad[i][1], bad[i][2]) > 0);
		assert_int_equal(dp_filter_init(bad[i][0], bad[i][1], bad[i][2], &f, &err),
				 DP_E_INVALID);
	}
}

/* The order follows what the settings of the space would need. */
static void filter_chooses(void **state)
{
	const double orders[] = { 1.01, 2, 4, 8, 16, 32 };
	double k[4][6], few[6] = { NAN, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY };
	struct dp_filter f;
	struct dp_err err;

	(void)state;
	for (int s = 0; s < 4; s++)
		for (int i = 0; i < 6; i++)
			k[s][i] = 1e-3 * (s + 1) * orders[i] * (orders[i] - 1);
	assert_int_equal(dp_filter_choose_order(8, 1e-5, orders, 6, k[0], 4, &f, &err), DP_OK);
	assert_true(f.order == 4 && f.limit > 0 && f.epsilon == 8 && f.delta == 1e-5);
	/* a smaller budget is spent at a higher order */
	assert_int_equal(dp_filter_choose_order(1, 1e-5, orders, 6, k[0], 4, &f, &err), DP_OK);
	assert_true(f.order == 16 || f.order == 32);
	/* settings that nobody can afford, or that have no K, do not count */
	for (int s = 1; s < 4; s++)
		for (int i = 0; i < 6; i++)
			k[s][i] = s == 1 ? 1e6 : few[i];
	assert_int_equal(dp_filter_choose_order(8, 1e-5, orders, 6, k[0], 4, &f, &err), DP_OK);
	assert_true(f.order == 4);
	/* those that do can turn it: one that only order 2 affords, twice over */
	few[1] = 1e-4;
	memcpy(k[2], few, sizeof few);
	memcpy(k[3], few, sizeof few);
	assert_int_equal(dp_filter_choose_order(12, 1e-5, orders, 6, k[0], 4, &f, &err), DP_OK);
	assert_true(f.order == 2);
	assert_int_equal(dp_filter_choose_order(8, 1e-5, orders, 6, k[1], 1, &f, &err), DP_E_LIMIT);
	assert_non_null(strstr(err.msg, "pays for no training"));
	assert_int_equal(dp_filter_choose_order(8, 1e-5, orders, 0, k[0], 4, &f, &err),
			 DP_E_INVALID);
	assert_int_equal(
		dp_filter_choose_order(8, 1e-5, orders, DP_RENYI_ORDERS_MAX + 1, k[0], 4, &f, &err),
		DP_E_INVALID);
}

/* ---- releases ---- */

static void check_release(const char *family, const double *g)
{
	assert_bound(family, g, dp_noisy_release_epsilon(g[2], g[1], g[0], g[3]), g[4], 1e-9);
}

static void releases(void **state)
{
	const double orders[] = { 1.5, 2, 64, 1, NAN };
	double k[5];

	(void)state;
	check_rows("release", 4, check_release);
	assert_near(dp_noisy_release_mu(1e4, 0.005, 250), 0.316228, 1e-6);
	dp_noisy_release_renyi(1605, 0.01, orders, 5, k);
	for (int i = 0; i < 3; i++) {
		double a = orders[i], truth = a * (a - 1) / (2 * 16.05 * 16.05);

		assert_true(k[i] >= truth * (1 - 1e-15) && k[i] <= truth * (1 + 1e-13));
	}
	assert_true(k[3] == INFINITY && k[4] == INFINITY);
	assert_true(dp_noisy_release_epsilon(1605, 0.01, 0, 1e-5) == 0);
	assert_true(dp_noisy_release_epsilon(1605, 0, 1, 1e-5) == INFINITY);
	assert_true(dp_noisy_release_epsilon(0, 1, 1, 1e-5) == INFINITY);
	assert_true(dp_noisy_release_epsilon(1605, NAN, 1, 1e-5) == INFINITY);
	assert_true(dp_noisy_release_epsilon(1605, 0.01, NAN, 1e-5) == INFINITY);
	assert_true(dp_noisy_release_epsilon(1605, 0.01, 1, 0) == INFINITY);
	dp_noisy_release_renyi(1605, -1, orders, 2, k);
	assert_true(k[0] == INFINITY && k[1] == INFINITY);
}

/* ---- selection ---- */

static void check_gamma(const char *family, const double *g)
{
	struct dp_selection s;
	struct dp_err err;

	assert_int_equal(dp_selection_init_neg_binomial(g[0], g[1], &s, &err), DP_OK);
	if (!(fabs(s.log_gamma / g[2] - 1) < 1e-13))
		fail_msg("%s %g %g: %.17g, not %.17g", family, g[0], g[1], s.log_gamma, g[2]);
}

/* The share of draws that are k, within six standard deviations. */
static void check_share(const struct dp_selection *s, double k, double mass)
{
	enum {
		DRAWS = 20000
	};
	double share = 0;
	struct dp_rng r;

	dp_rng_init(&r, (uint64_t)s->mean, DP_RNG_TEST, (uint32_t)k, 0);
	for (int i = 0; i < DRAWS; i++)
		share += (double)dp_selection_draw(s, &r) == k;
	share /= DRAWS;
	if (!(fabs(share - mass) <= 6 * sqrt(mass / DRAWS) + 6. / DRAWS))
		fail_msg("mean %g: %g of the draws are %g, not %g", s->mean, share, k, mass);
}

static void check_mass(const char *family, const double *g)
{
	struct dp_selection s;
	struct dp_err err;

	(void)family;
	assert_int_equal(dp_selection_init_neg_binomial(g[0], g[1], &s, &err), DP_OK);
	if (g[1] < 100)
		check_share(&s, g[2], g[3]);
}

static void check_poisson_mass(const char *family, const double *g)
{
	struct dp_selection s;
	struct dp_err err;

	(void)family;
	assert_int_equal(dp_selection_init_poisson(g[0], &s, &err), DP_OK);
	if (g[0] < 100)
		check_share(&s, g[1], g[2]);
}

/* Large numbers have the right mean; none is 0 but Poisson's. */
static void check_mean(const struct dp_selection *s, double sd)
{
	enum {
		DRAWS = 1000
	};
	double sum = 0;
	struct dp_rng r;

	dp_rng_init(&r, 5, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < DRAWS; i++) {
		uint64_t k = dp_selection_draw(s, &r);

		assert_true(k > 0 || s->law == DP_SELECTION_POISSON);
		sum += (double)k;
	}
	assert_near(sum / DRAWS, s->mean, 6 * sd / sqrt(DRAWS));
}

static void draws(void **state)
{
	struct dp_selection s;
	struct dp_err err;

	(void)state;
	check_rows("gamma", 15, check_gamma);
	check_rows("mass", 45, check_mass);
	check_rows("poisson_mass", 12, check_poisson_mass);
	assert_int_equal(dp_selection_init_neg_binomial(1, 1000, &s, &err), DP_OK);
	check_mean(&s, 1000);
	assert_int_equal(dp_selection_init_poisson(2400, &s, &err), DP_OK);
	check_mean(&s, sqrt(2400));
	assert_int_equal(dp_selection_init_poisson(0.01, &s, &err), DP_OK);
	check_mean(&s, 0.1);
}

static void refused_selections(void **state)
{
	static const double bad[][2] = { { -1, 20 }, { NAN, 20 }, { 101, 20 },  { 0, 1 },
					 { 0, NAN }, { 0, 1e6 },  { -0.99, 50 } };
	struct dp_selection s;
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++)
		assert_int_equal(dp_selection_init_neg_binomial(bad[i][0], bad[i][1], &s, &err),
				 DP_E_INVALID);
	assert_int_equal(dp_selection_init_poisson(0, &s, &err), DP_E_INVALID);
	assert_int_equal(dp_selection_init_poisson(NAN, &s, &err), DP_E_INVALID);
	assert_int_equal(dp_selection_init_poisson(1e6, &s, &err), DP_E_INVALID);
}

static double selection_epsilon(const struct dp_selection *s, double mu, double delta)
{
	double k[DP_RENYI_ORDERS_MAX], all[DP_RENYI_ORDERS_MAX];
	struct dp_odometer o;

	gaussian_curve(mu, &o, k);
	dp_selection_renyi(s, o.order, k, NULL, o.n, all);
	return dp_renyi_epsilon(o.order, all, o.n, delta, NULL);
}

static void check_select(const char *family, const double *g)
{
	struct dp_selection s;
	struct dp_err err;

	assert_int_equal(dp_selection_init_neg_binomial(g[1], g[2], &s, &err), DP_OK);
	assert_bound(family, g, selection_epsilon(&s, g[0], g[3]), g[4], 1e-8);
}

static void check_select_poisson(const char *family, const double *g)
{
	struct dp_selection s;
	struct dp_err err;

	assert_int_equal(dp_selection_init_poisson(g[1], &s, &err), DP_OK);
	assert_bound(family, g, selection_epsilon(&s, g[0], g[2]), g[3], 1e-7);
}

/* mu = 0.2: one run, the best of 20 on average, twenty published. */
static void selection(void **state)
{
	double k[DP_RENYI_ORDERS_MAX], all[DP_RENYI_ORDERS_MAX], none[2] = { NAN, 1 };
	const double two[] = { 2, 3 };
	struct dp_selection s;
	struct dp_odometer o;
	struct dp_err err;

	(void)state;
	check_rows("select", 18, check_select);
	check_rows("select_poisson", 9, check_select_poisson);
	assert_int_equal(dp_selection_init_neg_binomial(0, 20, &s, &err), DP_OK);
	assert_near(selection_epsilon(&s, 0.2, 1e-5), 1.51, 0.005);
	gaussian_curve(0.2, &o, k);
	assert_near(dp_renyi_epsilon(o.order, k, o.n, 1e-5, NULL), 0.79, 0.01);
	gaussian_curve(0.2 * sqrt(20), &o, k);
	assert_near(dp_renyi_epsilon(o.order, k, o.n, 1e-5, NULL), 4.16, 0.02);
	/* one training has no divergence at an order: neither has the best */
	dp_selection_renyi(&s, two, none, NULL, 2, all);
	assert_true(all[0] == INFINITY && isfinite(all[1]));
	/* a better delta than the curve's own; one that is none counts as 1 */
	assert_int_equal(dp_selection_init_poisson(20, &s, &err), DP_OK);
	dp_selection_renyi(&s, two, (double[]){ 0.1, 0.3 }, (double[]){ 0, NAN }, 2, all);
	assert_near(all[0], log(exp(-20) + 20 * exp(0.1)), 1e-13);
	assert_near(all[1], log(20) + 0.3 + 2 * 20, 1e-12);
}

/* The density of the largest of all results, where one is normal with this mean. */
static double best_density(const struct dp_selection *s, double mean, double y)
{
	double below = dp__normal_cdf(y - mean), one = exp(-0.5 * (y - mean) * (y - mean));
	double c = exp(log(s->mean) + (1 + s->eta) * s->log_gamma);

	one /= sqrt(2 * M_PI);
	if (s->law == DP_SELECTION_POISSON)
		return one * s->mean * exp(s->mean * (below - 1));
	return one * c * pow(1 + expm1(s->log_gamma) * below, -1 - s->eta);
}

/* The real delta of publishing the largest, by quadrature: the worse direction. */
static double best_delta(const struct dp_selection *s, double mu, double epsilon)
{
	double sum[2] = { 0, 0 }, step = 1e-3;

	for (double y = -9; y < 12; y += step) {
		double a = best_density(s, mu, y), b = best_density(s, 0, y);

		sum[0] += step * fmax(a - exp(epsilon) * b, 0);
		sum[1] += step * fmax(b - exp(epsilon) * a, 0);
	}
	return fmax(sum[0], sum[1]);
}

/* What is claimed holds for results that are normal, exactly. */
static void selection_holds_for_normals(void **state)
{
	static const struct {
		double mu, eta, mean, delta; /* eta NaN: Poisson */
	} cases[] = {
		{ 0.2, 0, 20, 1e-5 },   { 0.2, 1, 20, 1e-5 },  { 1, 0, 20, 1e-3 },
		{ 1, 1, 5, 1e-2 },      { 1, -0.5, 10, 1e-3 }, { 1, 2, 10, 1e-3 },
		{ 0.2, NAN, 20, 1e-5 }, { 0.5, NAN, 5, 1e-3 }, { 1, NAN, 2, 1e-2 },
		{ 2, NAN, 1, 1e-2 },    { 2, 1, 3, 1e-2 },
	};
	struct dp_selection s;
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		double mu = cases[i].mu, delta = cases[i].delta, e, d;

		assert_int_equal(isnan(cases[i].eta)
					 ? dp_selection_init_poisson(cases[i].mean, &s, &err)
					 : dp_selection_init_neg_binomial(cases[i].eta,
									  cases[i].mean, &s, &err),
				 DP_OK);
		e = selection_epsilon(&s, mu, delta);
		d = best_delta(&s, mu, e);
		if (!(d <= delta))
			fail_msg("case %zu: epsilon %g at delta %g, which is %g", i, e, delta, d);
		/* and a quarter of it would not */
		assert_true(best_delta(&s, mu, 0.25 * e) > delta);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(curves),
		cmocka_unit_test(curves_without_replacement),
		cmocka_unit_test(neighbours_are_covered),
		cmocka_unit_test(curves_add_up),
		cmocka_unit_test(groups_cost_more),
		cmocka_unit_test(refused_curves),
		cmocka_unit_test(ends_of_curves),
		cmocka_unit_test(sums_round_up),
		cmocka_unit_test(conversions),
		cmocka_unit_test(odometer),
		cmocka_unit_test(refused_odometers),
		cmocka_unit_test(filter_is_tight),
		cmocka_unit_test(filter_decides),
		cmocka_unit_test(filter_refuses),
		cmocka_unit_test(filter_chooses),
		cmocka_unit_test(releases),
		cmocka_unit_test(draws),
		cmocka_unit_test(refused_selections),
		cmocka_unit_test(selection),
		cmocka_unit_test(selection_holds_for_normals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
