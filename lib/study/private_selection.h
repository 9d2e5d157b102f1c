/* private_selection.h - method select.
 *
 * A secret number of trainings, with settings drawn independently from the parameters'
 * distributions, of which only the best is published.
 * privacy/composition/adaptive_composition.h has the theorems, docs/privacy.md what is
 * enforced of their conditions. */
#ifndef DP_STUDY_PRIVATE_SELECTION_H
#define DP_STUDY_PRIVATE_SELECTION_H
#include "privacy/composition/adaptive_composition.h"

struct dp_study;

/* The law of search.rounds. */
DP_MUSTCHECK int dp_select_rounds_law(const struct dp_study *s, struct dp_selection *out,
				      struct dp_err *err);
/* The one objective that is an epsilon, and the one that is a metric and chooses. */
size_t dp_select_privacy_objective(const struct dp_study *s);
size_t dp_select_utility_objective(const struct dp_study *s);
/* k[i] = K(orders[i]) of one training with all its runs, the largest over all settings
 * that can be drawn: those that matter are tried one by one, but for parameters of which
 * it is known which end is worse. It may take seconds. DP_E_INVALID if the largest is not
 * known. *settings (may be NULL): how many were tried. */
DP_MUSTCHECK int dp_select_worst_case_renyi(const struct dp_study *s, const double *orders,
					    size_t n, double *k, size_t *settings,
					    struct dp_err *err);
/* The same without the curve, at once: DP_OK, or why there is no way to find it. */
DP_MUSTCHECK int dp_select_check_worst_case(const struct dp_study *s, struct dp_err *err);
/* What a private selection costs: of the published setting, its utility and its model
 * together. */
struct dp_select_cost {
	double delta;
	double training_epsilon;   /* epsilon of one training, the worst that can be drawn */
	double train_data_epsilon; /* of the selection, for the records that are trained on */
	double order;              /* that proves it */
	double eval_data_epsilon;  /* of the selection, for those that the utility is measured on */
	double epsilon;            /* the larger: with a fixed split a record is on one side */
	double composed_epsilon;   /* what publishing as many as drawn on average would cost */
	double mean_trainings;     /* of the number of trainings */
	const char *law;           /* "poisson" */
	const char *theorem;       /* as a source: paper and number */
	size_t n_settings;         /* tried for the worst */
};
DP_MUSTCHECK int dp_select_compute_cost(const struct dp_study *s, struct dp_select_cost *out,
					struct dp_err *err);

#endif
