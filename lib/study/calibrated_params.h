/* calibrated_params.h - calibrated parameters: computed to keep a target epsilon, not searched. */
#ifndef DP_STUDY_CALIBRATED_PARAMS_H
#define DP_STUDY_CALIBRATED_PARAMS_H
#include "study/study.h"

/* Solves for the calibrated parameters of x that are NaN, a pure function of the others. At the
 * exact result the mechanism's epsilon is at most the target, and close to it. Takes about thirty
 * accountant evaluations, 0.1 s with loss distributions. DP_E_INVALID with a message if no noise
 * suffices; the parameters stay NaN. */
DP_MUSTCHECK int dp_space_solve_calibrated(const struct dp_study *s, double *x, struct dp_err *err);
/* True if epsilon of a privacy objective needs a calibrated value first. False where
 * dp_calibration_target_epsilon() knows it without. */
bool dp_objective_needs_calibration(const struct dp_study *s, size_t objective);
/* If the objective is the mechanism that calibrates a parameter, its epsilon equals the target at x
 * within 1e-5 of it: returns the target. NaN for other objectives. */
double dp_calibration_target_epsilon(const struct dp_study *s, size_t objective, const double *x);
/* The parameters, fixed ones included, that set an objective's privacy: its mechanisms' noise, or
 * the target epsilon of a calibrated noise. None for an external accountant. Returns their
 * number. */
size_t dp_objective_noise_params(const struct dp_study *s, size_t objective,
				 size_t params[DP_PRIVACY_ITEMS_MAX]);
enum dp_privacy_cost dp_objective_accounting_cost(const struct dp_study *s, size_t objective);
/* True if parameter `param` is uncalibrated in both studies, or calibrated in both by the same
 * mechanism, keys and epsilon. */
bool dp_calibration_equal(const struct dp_study *a, const struct dp_study *b, size_t param);

#endif
