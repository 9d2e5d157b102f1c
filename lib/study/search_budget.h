/* search_budget.h - search.budget: the limit of a study's total privacy loss. */
#ifndef DP_STUDY_SEARCH_BUDGET_H
#define DP_STUDY_SEARCH_BUDGET_H
#include "privacy/composition/adaptive_composition.h"

struct dp_study;

/* Checks that the training runs of a privacy objective compose. External accountants and mechanisms
 * without composition do not. */
DP_MUSTCHECK int dp_study_check_composable(const struct dp_study *s, size_t objective,
					   struct dp_err *err);
size_t dp_budget_objective(const struct dp_study *s);
/* k[i] = K(orders[i]) of one run at x, with all of its checkpoints; see adaptive_composition.h.
 * `at`: the end of the run; NaN: x itself. +inf on error. */
DP_MUSTCHECK int dp_study_training_renyi(const struct dp_study *s, struct dp_renyi_cache *m,
					 size_t objective, const double *x, double at,
					 const double *orders, size_t n, double *k,
					 struct dp_err *err);
/* The privacy filter of search.budget. Its order is one of the odometer's: the best by
 * dp_filter_choose_order() for the first 64 points of random search with all their runs, so a pure
 * function of the study file. DP_E_LIMIT if the budget allows none of them. */
DP_MUSTCHECK int dp_budget_filter(const struct dp_study *s, const struct dp_odometer *o,
				  struct dp_filter *out, struct dp_err *err);

#endif
