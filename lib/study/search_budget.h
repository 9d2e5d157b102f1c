/* search_budget.h - search.budget: what all trainings of a study may cost together. */
#ifndef DP_STUDY_SEARCH_BUDGET_H
#define DP_STUDY_SEARCH_BUDGET_H
#include "privacy/composition/adaptive_composition.h"

struct dp_study;

/* Is it known what the trainings of a privacy objective add up to? Not of a program, nor
 * of a mechanism that does not say how it composes. */
DP_MUSTCHECK int dp_study_check_composable(const struct dp_study *s, size_t objective,
					   struct dp_err *err);
/* The privacy objective that search.budget counts. */
size_t dp_budget_objective(const struct dp_study *s);
/* k[i] = K(orders[i]) of one training at x, which covers all of its waypoints; see
 * adaptive_composition.h. `at`: of one that ends there; NaN: at x itself. On error +inf. */
DP_MUSTCHECK int dp_study_training_renyi(const struct dp_study *s, struct dp_renyi_cache *m,
					 size_t objective, const double *x, double at,
					 const double *orders, size_t n, double *k,
					 struct dp_err *err);
/* The filter of search.budget. Its order is one of the odometer's, the best by
 * dp_filter_choose_order() for the first 64 points of random search with all their runs: a
 * pure function of the study file. DP_E_LIMIT if the budget pays for none of them. */
DP_MUSTCHECK int dp_budget_filter(const struct dp_study *s, const struct dp_odometer *o,
				  struct dp_filter *out, struct dp_err *err);

#endif
