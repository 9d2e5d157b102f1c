/* filter.c - a budget for a whole search; the theorems are in whole.h. */
#include "privacy/whole.h"

#include <float.h>
#include <math.h>

/* A few roundings of a short formula. */
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

/* (order - 1) B, rounded down. */
static double filter_limit(double epsilon, double delta, double order)
{
	return dp_filter_bound(epsilon, delta, order) * (order - 1) *
	       (1 - FILTER_ROUNDINGS);
}

int dp_filter_at(double epsilon, double delta, double order, struct dp_filter *out,
		 struct dp_err *err)
{
	struct dp_filter f = { epsilon, delta, order,
			       filter_limit(epsilon, delta, order) };

	if (!(f.limit > 0)) {
		dp_fail(err, DP_E_INVALID,
			"a budget of epsilon %g at delta %g allows nothing at order %g",
			epsilon, delta, order);
		dp_hint(err, "take a higher order, or a larger budget");
		return DP_E_INVALID;
	}
	*out = f;
	return DP_OK;
}

/* How often a setting can be trained; anything that is no K: never. */
static double filter_times(double limit, double k)
{
	if (!(k >= 0 && k < INFINITY && limit > 0))
		return 0;
	return k > 0 ? fmin(limit / k, DBL_MAX) : DBL_MAX;
}

/* Of all orders, the most often that this setting can be trained. */
static double filter_most(double epsilon, double delta, const double *orders, size_t n,
			  const double *k)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most,
			    filter_times(filter_limit(epsilon, delta, orders[i]), k[i]));
	return most;
}

int dp_filter_choose(double epsilon, double delta, const double *orders, size_t n,
		     const double *k, size_t nsettings, struct dp_filter *out,
		     struct dp_err *err)
{
	double best = 0;
	struct dp_filter f;

	for (size_t i = 0; i < n; i++) {
		double limit = filter_limit(epsilon, delta, orders[i]), share = 0;

		for (size_t s = 0; s < nsettings; s++) {
			double most = filter_most(epsilon, delta, orders, n, &k[s * n]);

			if (most >= 1)
				share += filter_times(limit, k[s * n + i]) / most;
		}
		if (share > best) {
			best = share;
			f = (struct dp_filter){ epsilon, delta, orders[i], limit };
		}
	}
	if (!(best > 0)) {
		dp_fail(err, DP_E_LIMIT,
			"a budget of epsilon %g at delta %g pays for no training of "
			"this space",
			epsilon, delta);
		dp_hint(err, "widen the space to settings with more noise or fewer "
			     "steps, take fewer runs, or a larger budget");
		return DP_E_LIMIT;
	}
	*out = f;
	return DP_OK;
}

bool dp_filter_allows(const struct dp_filter *f, double spent, double pending,
		      double next)
{
	return dp_renyi_add(dp_renyi_add(spent, pending), next) <= f->limit;
}

double dp_filter_left(const struct dp_filter *f, double spent, double pending)
{
	double left = f->limit - dp_renyi_add(spent, pending);

	left -= 4 * DBL_EPSILON * f->limit;
	return left > 0 ? left : 0;
}
