/* filter.c - the privacy filter: a budget for a search; theorems in adaptive_composition.h. */
#include "privacy/composition/adaptive_composition.h"

#include <float.h>
#include <math.h>

/* The rounding error of a short formula. */
#define FILTER_ROUNDINGS (16 * DBL_EPSILON)

double dp_filter_bound(double epsilon, double delta, double order)
{
	double more, less, bound;

	if (!(epsilon > 0 && isfinite(epsilon) && delta > 0 && delta < 1 && order > 1 &&
	      isfinite(order)))
		return -INFINITY;
	more = -log1p(-1 / order);
	less = (log(delta) + log(order)) / (order - 1);
	bound = epsilon + more + less;
	return bound - FILTER_ROUNDINGS * (epsilon + more + fabs(less));
}

/* (order - 1) B, rounded down. 0: this order proves nothing. */
static double filter_renyi_limit(double epsilon, double delta, double order)
{
	double bound = dp_filter_bound(epsilon, delta, order);

	return bound > 0 ? bound * (order - 1) * (1 - FILTER_ROUNDINGS) : 0;
}

int dp_filter_init(double epsilon, double delta, double order, struct dp_filter *out,
		   struct dp_err *err)
{
	struct dp_filter f = { epsilon, delta, order, filter_renyi_limit(epsilon, delta, order) };

	if (!(f.limit > 0)) {
		dp_fail(err, DP_E_INVALID,
			"a budget of epsilon %g at delta %g allows nothing at order %g", epsilon,
			delta, order);
		dp_hint(err, "take a higher order, or a larger budget");
		return DP_E_INVALID;
	}
	*out = f;
	return DP_OK;
}

/* How often a setting can be trained. 0 if k is not a valid K. */
static double filter_affordable_runs(double limit, double k)
{
	if (!(k >= 0 && k < INFINITY && limit > 0))
		return 0;
	return k > 0 ? fmin(limit / k, DBL_MAX) : DBL_MAX;
}

/* Adds the share of runs that a setting keeps at each order. Nothing if no order affords one. */
static void filter_add_shares(const double *limits, size_t n, const double *k, double *shares)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, filter_affordable_runs(limits[i], k[i]));
	for (size_t i = 0; most >= 1 && i < n; i++)
		shares[i] += filter_affordable_runs(limits[i], k[i]) / most;
}

int dp_filter_choose_order(double epsilon, double delta, const double *orders, size_t n,
			   const double *k, size_t nsettings, struct dp_filter *out,
			   struct dp_err *err)
{
	double limits[DP_RENYI_ORDERS_MAX], shares[DP_RENYI_ORDERS_MAX] = { 0 };
	size_t best = 0;

	if (n < 1 || n > DP_RENYI_ORDERS_MAX)
		return dp_fail(err, DP_E_INVALID, "a filter chooses from 1 to %d orders",
			       DP_RENYI_ORDERS_MAX);
	for (size_t i = 0; i < n; i++)
		limits[i] = filter_renyi_limit(epsilon, delta, orders[i]);
	for (size_t s = 0; s < nsettings; s++)
		filter_add_shares(limits, n, &k[s * n], shares);
	for (size_t i = 1; i < n; i++)
		best = shares[i] > shares[best] ? i : best;
	if (!(shares[best] > 0)) {
		dp_fail(err, DP_E_LIMIT,
			"a budget of epsilon %g at delta %g pays for no training of "
			"this space",
			epsilon, delta);
		dp_hint(err, "widen the space to settings with more noise or fewer "
			     "steps, take fewer runs, or a larger budget");
		return DP_E_LIMIT;
	}
	return dp_filter_init(epsilon, delta, orders[best], out, err);
}

bool dp_filter_allows(const struct dp_filter *f, double spent, double pending, double next)
{
	return dp_renyi_add(dp_renyi_add(spent, pending), next) <= f->limit;
}

double dp_filter_remaining(const struct dp_filter *f, double spent, double pending)
{
	double left = f->limit - dp_renyi_add(spent, pending);

	left -= 4 * DBL_EPSILON * f->limit;
	return left > 0 ? left : 0;
}
