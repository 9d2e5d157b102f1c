/* calibrate_largest.c - the largest value of a key at a target epsilon, if epsilon is not monotone.
 *
 * Epsilon falls and rises again as some keys grow: a larger lot makes fewer steps of an epoch. */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6

struct largest_search {
	const struct dp_mechanism *mechanism;
	struct dp_mechanism_cache *cache;
	double values[DP_PRIVACY_KEYS_MAX];
	size_t key;
	double target;
	double before; /* work of the first search */
	double last;   /* of the last evaluation */
	bool cut;      /* the work limit is reached */
};

/* Evaluates one value; one that the mechanism refuses is too large. Does nothing once q->cut. */
static int largest_meets_target(struct largest_search *q, double value, bool *keeps,
				struct dp_epsilon *at, struct dp_err *err)
{
	double work = dp__prepared_work(q->cache);
	struct dp_epsilon e;
	int code;

	*keeps = false;
	q->cut |= q->before + work + q->last > DP__WORK_MOST;
	if (q->cut)
		return DP_OK;
	q->values[q->key] = value;
	code = dp_mechanism_cache_epsilon(q->cache, q->values, &e, err);
	q->last = dp__prepared_work(q->cache) - work;
	*keeps = code == DP_OK && e.epsilon <= q->target;
	if (*keeps)
		*at = e;
	return code == DP_E_INVALID ? DP_OK : code;
}

/* Between `lo`, which meets the target, and `hi`, in a range where epsilon never falls. */
static int largest_bisect(struct largest_search *q, double lo, double hi, double *value,
			  struct dp_epsilon *at, struct dp_err *err)
{
	const struct dp_privacy_key *k = &q->mechanism->keys[q->key];
	bool whole = dp_privacy_key_is_integer(q->mechanism, q->values, k), keeps;
	int code = largest_meets_target(q, hi, &keeps, at, err);

	if (code == DP_OK && keeps)
		lo = hi;
	while (code == DP_OK && !q->cut && hi - lo > (whole ? 1 : TOLERANCE * hi)) {
		double middle = 0.5 * (lo + hi);

		middle = whole ? floor(middle) : middle;
		code = largest_meets_target(q, middle, &keeps, at, err);
		*(keeps ? &lo : &hi) = middle;
	}
	*value = lo;
	return code;
}

/* Tries ranges from above down to that of `value` (NaN: none). *found: one has a larger value. */
static int largest_scan_ranges(struct largest_search *q, double *value, double *tried, bool *found,
			       struct dp_epsilon *at, struct dp_err *err)
{
	const struct dp_privacy_key *k = &q->mechanism->keys[q->key];
	double lo, hi;

	*found = false;
	*tried = INFINITY;
	for (size_t i = 0; i < DP_PRIVACY_MONOTONE_RANGES_MAX && !(*value >= *tried); i++) {
		int code = DP_OK;

		if (!q->mechanism->monotone_range(q->values, k, i, &lo, &hi)) {
			*tried = 0;
			return DP_OK;
		}
		if (lo <= hi && !(*value >= lo))
			code = largest_meets_target(q, lo, found, at, err);
		if (q->cut)
			return code;
		if (lo <= hi)
			*tried = lo;
		if (code == DP_OK && *found)
			code = largest_bisect(q, lo, hi, value, at, err);
		if (q->cut)
			*tried = hi;
		if (code != DP_OK || *found)
			return code;
	}
	return DP_OK;
}

int dp_privacy_solve_largest(const struct dp_mechanism *m, const double *values,
			     const struct dp_privacy_key *k, double target, double *value,
			     double *tried, bool *cut, struct dp_epsilon *at, struct dp_err *err)
{
	struct largest_search q = { .mechanism = m,
				    .key = dp_privacy_key_index(m, k),
				    .target = target };
	struct dp_err trouble; /* err holds why no value was found so far */
	struct dp_epsilon above;
	double larger, untried = 0;
	bool found;
	int code, first = dp__most(m, values, k, target, value, &untried, &q.before, at, err);

	*cut = first == DP_OK && untried > *value;
	*tried = *cut ? untried : 0;
	if (!m->monotone_range || (first != DP_OK && (first != DP_E_INVALID || !(target > 0))))
		return first;
	memcpy(q.values, values, m->nkeys * sizeof *values);
	dp_privacy_set_value(m, q.values, k, NAN);
	q.cache = dp_mechanism_cache_new(m);
	larger = first == DP_OK ? *value : NAN;
	code = largest_scan_ranges(&q, &larger, tried, &found, &above, &trouble);
	dp_mechanism_cache_free(q.cache);
	if (code != DP_OK) {
		if (err)
			*err = trouble;
		return code;
	}
	if (!found && *cut)
		*tried = fmax(*tried, untried);
	*cut = q.cut || (*cut && !found);
	if (found) {
		*value = larger;
		*at = above;
		return DP_OK;
	}
	return first;
}
