/* importance.h - variance-based importance of each parameter for an objective.
 *
 * Sobol' indices (Sobol' 1993; Homma and Saltelli 1996) over the points that the study samples, in
 * model space: the logarithm of epsilon, the logit of a share. */
#ifndef DP_OPTIMIZE_RECOMMEND_IMPORTANCE_H
#define DP_OPTIMIZE_RECOMMEND_IMPORTANCE_H
#include "optimize/propose/proposer.h"

enum dp_importance_source {
	DP_IMPORTANCE_UNKNOWN,
	DP_IMPORTANCE_COMPUTED, /* exact values from a privacy accountant */
	DP_IMPORTANCE_MODELLED  /* the posterior mean of a surrogate */
};

/* Indices by parameter of the study. The first-order index is the share of the variance that the
 * parameter explains alone, the total index the share that it is involved in. 0 for a parameter
 * that is not searched or that the objective does not depend on. First-order indices add up to at
 * most 1, totals to at least 1; all are 0 if the objective does not vary. */
struct dp_importance {
	enum dp_importance_source source; /* if unknown, nothing else is set */
	double variance;                  /* in model space */
	double first_order[DP_PARAMS_MAX], total_order[DP_PARAMS_MAX];
};

/* Sets z[i] to the value at point i of x (m x nparams), or NaN. x has NaN for calibrated
 * parameters. */
typedef void dp_importance_fn(void *arg, const double *x, size_t m, double *z);
/* Indices of any function of the parameters in `varied` (nvaried); the others stay at their first
 * value. `points` is a power of two; takes points * (nvaried + 2) evaluations. A pure function of
 * study and values. The source is unknown if most points have no value. */
void dp_importance_find(const struct dp_study *study, const size_t *varied, size_t nvaried,
			size_t points, dp_importance_fn *value, void *arg,
			struct dp_importance *out);

/* Indices of an objective. For epsilon it evaluates the privacy accountant, also before any fit,
 * unless that takes milliseconds or is external. In that case, and for metrics, it uses the
 * surrogate and needs dp_surrogate_fit(). The source is unknown if neither is available. */
void dp_surrogate_importance(struct dp_proposer *p, size_t objective, struct dp_importance *out);

#endif
