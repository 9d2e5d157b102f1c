/* importance.h - how much of what varies in an objective is due to which parameter.
 *
 * Sobol' indices (Sobol' 1993; Homma and Saltelli 1996) over the points that the study samples, on
 * the scale of the models: the logarithm of epsilon, the logit of a share. */
#ifndef DP_OPTIMIZE_RECOMMEND_IMPORTANCE_H
#define DP_OPTIMIZE_RECOMMEND_IMPORTANCE_H
#include "optimize/propose/proposer.h"

enum dp_importance_source {
	DP_IMPORTANCE_UNKNOWN,
	DP_IMPORTANCE_COMPUTED, /* from the very values: a privacy oracle */
	DP_IMPORTANCE_MODELLED  /* from the posterior mean of a model */
};

/* By parameter of the study: the share of the variance that it explains alone, and the share that
 * has to do with it in any way, together with others too. 0 of one that is not searched, or that
 * the objective does not depend on. First orders add up to at most 1, totals to at least 1; all are
 * 0 of an objective that does not vary. */
struct dp_importance {
	enum dp_importance_source source; /* unknown: nothing else is set */
	double variance;                  /* on the scale of the models */
	double first_order[DP_PARAMS_MAX], total_order[DP_PARAMS_MAX];
};

/* A value for each of m points x (m x nparams), calibrated parameters NaN; NaN where there is
 * none. */
typedef void dp_importance_fn(void *arg, const double *x, size_t m, double *z);
/* Of any function of the parameters in `varied` (nvaried), of others at their first value of
 * `points` quasi-random points, a power of two: points * (nvaried + 2) evaluations in all. A pure
 * function of study and values. Unknown if most points have no value. */
void dp_importance_find(const struct dp_study *study, const size_t *varied, size_t nvaried,
			size_t points, dp_importance_fn *value, void *arg,
			struct dp_importance *out);

/* Of an objective. A privacy accountant is asked itself, also before any fit, unless it takes
 * milliseconds or is external: then its model stands in, as for metrics, after dp_surrogate_fit().
 * Unknown where neither is available. */
void dp_surrogate_importance(struct dp_proposer *p, size_t objective, struct dp_importance *out);

#endif
