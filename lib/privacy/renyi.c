/* renyi.c - Renyi curves of whole trainings, their sums, and what a curve proves.
 *
 * Renyi divergences add up at every order (Mironov 2017, Proposition 1). */
#include "privacy/privacy_internal.h"
#include "privacy/whole.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Curves come from sums and quadratures that agree with each other to 1e-9 at worst
 * (tests/unit/test_rdp.c, test_whole.c); each K is raised by that much. */
#define RENYI_SLACK 1e-9
/* A few roundings of a short formula. */
#define RENYI_ROUNDINGS (16 * DBL_EPSILON)

/* A search asks for a handful of noises in turn: those that run, and the next ones. */
enum {
	RENYI_TABLES = 8
};

struct renyi_table {
	struct dp__wor *tables; /* NULL: never used */
	struct dp__dominated *dominated;
	const struct dp__part_kind *kind;
	double mu;
	bool tight;
	uint64_t used; /* when, counted in questions */
};

struct dp_renyi_memory {
	struct dp_privacy_part *parts;
	size_t room;
	struct renyi_table tables[RENYI_TABLES];
	uint64_t questions;
};

struct dp_renyi_memory *dp_renyi_memory_new(void)
{
	return calloc(1, sizeof(struct dp_renyi_memory));
}

void dp_renyi_memory_free(struct dp_renyi_memory *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < RENYI_TABLES; i++) {
		dp__wor_free(m->tables[i].tables);
		dp__dominated_free(m->tables[i].dominated);
	}
	free(m->parts);
	free(m);
}

/* The tables that were last filled for such a part, else those that were idle longest. */
static struct renyi_table *renyi_table(struct dp_renyi_memory *m, const struct dp_privacy_part *p)
{
	struct renyi_table *oldest = &m->tables[0];

	for (size_t i = 0; i < RENYI_TABLES; i++) {
		struct renyi_table *t = &m->tables[i];

		if (t->tables && t->kind == p->kind && t->mu == p->mu && t->tight == p->tight)
			return t;
		if (t->used < oldest->used)
			oldest = t;
	}
	return oldest;
}

/* NULL without memory. */
static struct renyi_table *renyi_set(struct dp_renyi_memory *m, const struct dp_privacy_part *p)
{
	struct renyi_table *t = renyi_table(m, p);

	if (!t->tables)
		t->tables = dp__wor_new();
	if (!t->dominated)
		t->dominated = dp__dominated_new();
	if (!t->tables || !t->dominated || !p->kind->set(p, t->tables))
		return NULL;
	dp__dominated_set(t->dominated, p->q, 1 / p->mu);
	t->kind = p->kind;
	t->mu = p->mu;
	t->tight = p->tight;
	t->used = ++m->questions;
	return t;
}

/* Of one use. Where lots are drawn without replacement, what the dominating pair proves
 * is the least of all, as far as it goes. */
static bool renyi_one(const struct dp_privacy_part *p, struct renyi_table *t, double order,
		      double *k)
{
	*k = INFINITY;
	if (p->kind == &dp__part_wor && p->q < 1 && !dp__dominated_cgf(t->dominated, order, k))
		return false;
	if (!(*k < INFINITY))
		*k = p->kind->cgf(p, t ? t->tables : NULL, order);
	return true;
}

/* Never 0, which would say that nothing was done: tiny divergences underflow. */
static double renyi_raised(double k)
{
	return k >= 0 ? k * (1 + RENYI_SLACK) + DBL_MIN : INFINITY;
}

static bool renyi_add_part(struct dp_renyi_memory *m, const struct dp_privacy_part *p,
			   const double *orders, size_t n, double *k)
{
	struct renyi_table *t = NULL;
	double one;

	if (!(p->kind->size(p) * p->count < DP__NO_NOISE)) {
		/* where squares overflow, sums of them are no numbers */
		for (size_t i = 0; i < n; i++)
			k[i] = INFINITY;
		return true;
	}
	if (p->kind->set) {
		t = renyi_set(m, p);
		if (!t)
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (!renyi_one(p, t, orders[i], &one))
			return false;
		k[i] = dp_renyi_add(k[i], renyi_raised(p->count * one));
	}
	return !t || dp__wor_whole(t->tables);
}

static bool renyi_room(struct dp_renyi_memory *m, size_t n)
{
	struct dp_privacy_part *more;

	if (n <= m->room)
		return true;
	more = realloc(m->parts, n * sizeof *more);
	if (!more)
		return false;
	m->parts = more;
	m->room = n;
	return true;
}

static int renyi_sum(struct dp_renyi_memory *m, const struct dp_privacy_item *items, size_t nitems,
		     const double *orders, size_t n, double *k, struct dp_err *err)
{
	bool ok = renyi_room(m, nitems);
	int code;

	if (ok) {
		code = dp__parts(items, nitems, 0, m->parts, err);
		if (code != DP_OK)
			return code;
	}
	for (size_t i = 0; i < n; i++) {
		if (!(orders[i] > 1 && orders[i] <= DP__ORDER_MAX))
			return dp_fail(err, DP_E_INVALID,
				       "orders lie above 1 and up to %d; %g does not",
				       DP__ORDER_MAX, orders[i]);
		k[i] = 0;
	}
	for (size_t i = 0; ok && i < nitems; i++)
		ok = renyi_add_part(m, &m->parts[i], orders, n, k);
	return ok ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
}

int dp_privacy_renyi(struct dp_renyi_memory *m, const struct dp_privacy_item *items, size_t nitems,
		     const double *orders, size_t n, double *k, struct dp_err *err)
{
	int code = nitems ? renyi_sum(m, items, nitems, orders, n, k, err)
			  : dp_fail(err, DP_E_INVALID, "a composition of nothing");

	for (size_t i = 0; code != DP_OK && i < n; i++)
		k[i] = INFINITY;
	return code;
}

/* A sum is rounded by half a unit of its last place, and this adds one or two. */
double dp_renyi_add(double sum, double k)
{
	return sum >= 0 && k >= 0 ? (sum + k) * (1 + DBL_EPSILON) : INFINITY;
}

double dp_renyi_times(double times, double k)
{
	if (times == 0)
		return 0;
	if (!(times > 0 && k >= 0))
		return INFINITY;
	return times == 1 ? k : nextafter(times * k, INFINITY);
}

void dp_renyi_add_all(double *sum, const double *k, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] = dp_renyi_add(sum[i], k[i]);
}

/* ---- what a curve proves ---- */

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
