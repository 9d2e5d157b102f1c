/* renyi_curve.c - Renyi curves of training runs, their sums, and their epsilon.
 *
 * Renyi divergences add up at every order (Mironov 2017, Proposition 1). */
#include "privacy/privacy_internal.h"
#include "privacy/composition/adaptive_composition.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Raises each K: sums and quadratures agree to 1e-9 at worst (tests/unit/lib/privacy/test_rdp.c,
 * test_adaptive_composition.c). */
#define RENYI_SLACK 1e-9
/* The rounding error of a short formula. */
#define RENYI_ROUNDINGS (16 * DBL_EPSILON)

/* A search alternates between a handful of noise levels: those of running and next trials. */
enum {
	RENYI_CACHE_ENTRIES = 8
};

struct renyi_cache_entry {
	struct dp__rdp_wor *tables; /* NULL: unused */
	struct dp__rdp_dominating *dominated;
	const struct dp__component_kind *kind;
	double mu;
	bool tight;
	uint64_t last_used; /* counted in queries */
};

struct dp_renyi_cache {
	struct dp_privacy_component *components;
	size_t capacity;
	struct renyi_cache_entry entries[RENYI_CACHE_ENTRIES];
	uint64_t query_count;
};

struct dp_renyi_cache *dp_renyi_cache_new(void)
{
	return dp_calloc(1, sizeof(struct dp_renyi_cache));
}

void dp_renyi_cache_free(struct dp_renyi_cache *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < RENYI_CACHE_ENTRIES; i++) {
		dp__rdp_wor_free(m->entries[i].tables);
		dp__rdp_dominating_free(m->entries[i].dominated);
	}
	free(m->components);
	free(m);
}

/* The entry last filled for this component, else the least recently used one. */
static struct renyi_cache_entry *renyi_cache_find(struct dp_renyi_cache *m,
						  const struct dp_privacy_component *p)
{
	struct renyi_cache_entry *oldest = &m->entries[0];

	for (size_t i = 0; i < RENYI_CACHE_ENTRIES; i++) {
		struct renyi_cache_entry *t = &m->entries[i];

		if (t->tables && t->kind == p->kind && t->mu == p->mu && t->tight == p->tight_bound)
			return t;
		if (t->last_used < oldest->last_used)
			oldest = t;
	}
	return oldest;
}

static struct renyi_cache_entry *renyi_cache_prepare(struct dp_renyi_cache *m,
						     const struct dp_privacy_component *p)
{
	struct renyi_cache_entry *t = renyi_cache_find(m, p);

	if (!t->tables)
		t->tables = dp__rdp_wor_new();
	if (!t->dominated)
		t->dominated = dp__rdp_dominating_new();
	p->kind->prepare_tables(p, t->tables);
	dp__rdp_dominating_set(t->dominated, p->q, 1 / p->mu);
	t->kind = p->kind;
	t->mu = p->mu;
	t->tight = p->tight_bound;
	t->last_used = ++m->query_count;
	return t;
}

/* K of one use. Without replacement, the dominating pair's bound is smallest where it applies. */
static double renyi_component_cgf(const struct dp_privacy_component *p, struct renyi_cache_entry *t,
				  double order)
{
	double k = INFINITY;

	if (p->kind == &dp__component_wor && p->q < 1)
		k = dp__rdp_dominating_cgf(t->dominated, order);
	return k < INFINITY ? k : p->kind->cgf(p, t ? t->tables : NULL, order);
}

/* Never 0, which would mean no use at all: tiny divergences underflow. */
static double renyi_round_up(double k)
{
	return k >= 0 ? k * (1 + RENYI_SLACK) + DBL_MIN : INFINITY;
}

static void renyi_add_component(struct dp_renyi_cache *m, const struct dp_privacy_component *p,
				const double *orders, size_t n, double *k)
{
	struct renyi_cache_entry *t = NULL;

	if (!(p->kind->loss_scale(p) * p->count < DP__MU2_MAX)) {
		/* where squares overflow, their sums are invalid */
		for (size_t i = 0; i < n; i++)
			k[i] = INFINITY;
		return;
	}
	if (p->kind->prepare_tables)
		t = renyi_cache_prepare(m, p);
	for (size_t i = 0; i < n; i++)
		k[i] = dp_renyi_add(
			k[i], renyi_round_up(p->count * renyi_component_cgf(p, t, orders[i])));
}

static int renyi_sum_items(struct dp_renyi_cache *m, const struct dp_composition_item *items,
			   size_t nitems, const double *orders, size_t n, double *k,
			   struct dp_err *err)
{
	int code;

	if (nitems > m->capacity) {
		m->components = dp_realloc(m->components, nitems * sizeof *m->components);
		m->capacity = nitems;
	}
	code = dp__components_from_items(items, nitems, 0, m->components, err);
	if (code != DP_OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		if (!(orders[i] > 1 && orders[i] <= DP__ORDER_MAX))
			return dp_fail(err, DP_E_INVALID,
				       "orders lie above 1 and up to %d; %g does not",
				       DP__ORDER_MAX, orders[i]);
		k[i] = 0;
	}
	for (size_t i = 0; i < nitems; i++)
		renyi_add_component(m, &m->components[i], orders, n, k);
	return DP_OK;
}

int dp_privacy_renyi_curve(struct dp_renyi_cache *m, const struct dp_composition_item *items,
			   size_t nitems, const double *orders, size_t n, double *k,
			   struct dp_err *err)
{
	int code = nitems ? renyi_sum_items(m, items, nitems, orders, n, k, err)
			  : dp_fail(err, DP_E_INVALID, "a composition of nothing");

	for (size_t i = 0; code != DP_OK && i < n; i++)
		k[i] = INFINITY;
	return code;
}

/* A sum rounds by half a unit in the last place, and this adds one or two. */
double dp_renyi_add(double sum, double k)
{
	return sum >= 0 && k >= 0 ? (sum + k) * (1 + DBL_EPSILON) : INFINITY;
}

double dp_renyi_multiply(double times, double k)
{
	if (times == 0)
		return 0;
	if (!(times > 0 && k >= 0))
		return INFINITY;
	return times == 1 ? k : nextafter(times * k, INFINITY);
}

/* ---- epsilon and delta of a curve ---- */

double dp_renyi_epsilon(const double *orders, const double *k, size_t n, double delta,
			double *order)
{
	double best = INFINITY, at = NAN;

	for (size_t i = 0; delta > 0 && delta < 1 && i < n; i++) {
		double a = orders[i], r = k[i] / (a - 1), less = log1p(-1 / a);
		double tail = -(log(delta) + log(a)) / (a - 1);
		double slack = RENYI_ROUNDINGS * (r - less + fabs(tail));
		double e = r + less + tail + slack;

		if (k[i] >= 0 && a > 1 && e < best) {
			best = fmax(e, 0);
			at = a;
		}
	}
	if (order)
		*order = at;
	return best;
}

double dp_renyi_delta(const double *orders, const double *k, size_t n, double epsilon)
{
	double best = 0; /* ln 1 */

	for (size_t i = 0; epsilon >= 0 && i < n; i++) {
		double a = orders[i], gap = a - 1, less = gap * log1p(-1 / a) - log(a);
		double slack = RENYI_ROUNDINGS * (k[i] + gap * epsilon - less);
		double log_delta = k[i] - gap * epsilon + less + slack;

		if (k[i] >= 0 && a > 1 && log_delta < best)
			best = log_delta;
	}
	return fmin(exp(best) * (1 + RENYI_ROUNDINGS), 1);
}
