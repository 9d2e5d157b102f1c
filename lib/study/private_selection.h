/* private_selection.h - method select: publish only the best of a secret number of trials.
 *
 * Settings are drawn independently from the parameters' distributions. The theorems are in
 * privacy/composition/adaptive_composition.h, their enforced conditions in docs/privacy.md. */
#ifndef DP_STUDY_PRIVATE_SELECTION_H
#define DP_STUDY_PRIVATE_SELECTION_H
#include "privacy/composition/adaptive_composition.h"

struct dp_study;

DP_MUSTCHECK int dp_select_rounds_law(const struct dp_study *s, struct dp_selection *out,
				      struct dp_err *err);
/* The one privacy objective, and the one metric objective that selects. */
size_t dp_select_privacy_objective(const struct dp_study *s);
size_t dp_select_utility_objective(const struct dp_study *s);
/* k[i] = K(orders[i]) of one trial with all its runs, the largest over all settings that can be
 * drawn. Tries all relevant settings; for a parameter with a known worse end, that end. May take
 * seconds. DP_E_INVALID if the maximum is unknown. *settings (may be NULL): the number tried. */
DP_MUSTCHECK int dp_select_worst_case_renyi(const struct dp_study *s, const double *orders,
					    size_t n, double *k, size_t *settings,
					    struct dp_err *err);
/* Checks at once, without the curve, that the maximum can be found. DP_OK, or the reason. */
DP_MUSTCHECK int dp_select_check_worst_case(const struct dp_study *s, struct dp_err *err);
/* The cost of a private selection: of the published setting, its utility and its model. */
struct dp_select_cost {
	double delta;
	double training_epsilon;   /* epsilon of one trial, maximum over the prior */
	double train_data_epsilon; /* of the selection, for training records */
	double order;              /* Renyi order of the bound */
	double eval_data_epsilon;  /* of the selection, for evaluation records */
	double epsilon;          /* the maximum of both: a fixed split puts a record on one side */
	double composed_epsilon; /* of publishing the average number of trials */
	double mean_trainings;   /* of the number of trials */
	const char *law;         /* "poisson" */
	const char *theorem;     /* citation: paper and number */
	size_t n_settings;       /* tried to find the maximum */
};
DP_MUSTCHECK int dp_select_compute_cost(const struct dp_study *s, struct dp_select_cost *out,
					struct dp_err *err);

#endif
