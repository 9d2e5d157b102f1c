/* calibrated_params.h - parameters that are not searched but solved for. */
#ifndef DP_STUDY_CALIBRATED_PARAMS_H
#define DP_STUDY_CALIBRATED_PARAMS_H
#include "study/study.h"

/* Solves for the calibrated parameters of x that are NaN: a pure function of the others.
 * At the very number that is put in their place the mechanism's epsilon is at most the
 * target, and nearly that. It takes some thirty evaluations of an accountant, 0.1 s with
 * loss distributions. DP_E_INVALID with a sentence if no noise is enough; they are NaN
 * then. */
DP_MUSTCHECK int dp_space_solve_calibrated(const struct dp_study *s, double *x, struct dp_err *err);
/* Does epsilon of a privacy objective depend on one that must be solved for first? Not
 * where it is known without: dp_calibration_target_epsilon(). */
bool dp_objective_needs_calibration(const struct dp_study *s, size_t objective);
/* The epsilon of a privacy objective that is the very mechanism that a parameter is
 * calibrated by: the target at x, which it comes up to within 1e-5 of it. NaN: of another
 * one. */
double dp_calibration_target_epsilon(const struct dp_study *s, size_t objective, const double *x);
/* The parameters that tune a privacy objective: its mechanisms' noise or, where that is
 * calibrated, the epsilon it is calibrated to. Those of a program are not known: none.
 * Returns their number; fixed ones are among them. */
size_t dp_objective_noise_params(const struct dp_study *s, size_t objective,
				 size_t params[DP_PRIVACY_ITEMS_MAX]);
/* What one evaluation of a privacy objective takes, with what is solved for before. */
enum dp_privacy_cost dp_objective_accounting_cost(const struct dp_study *s, size_t objective);
/* Are both studies' parameters of this number, if they are calibrated, so by the same
 * mechanism with the same keys, to the same epsilon? */
bool dp_calibration_equal(const struct dp_study *a, const struct dp_study *b, size_t param);

#endif
