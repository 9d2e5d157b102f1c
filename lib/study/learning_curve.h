/* learning_curve.h - trainer.path: the checkpoints of a training run. */
#ifndef DP_STUDY_LEARNING_CURVE_H
#define DP_STUDY_LEARNING_CURVE_H
#include "study/diagnostics.h"
#include "study/study.h"

/* The checkpoints of the run of x, as values of the path parameter. Returns their number. Ascending
 * whole numbers below x's own value, without repeats: about path.points of them, spaced evenly on
 * the log scale of the parameter's values in the search (from 1 if fixed). None without a path. */
size_t dp_learning_curve_checkpoints(const struct dp_study *s, const double *x,
				     double values[DP_CHECKPOINTS_MAX]);
/* The checkpoints of the run of x that may cost more than its end `at` (NaN: x's own value): all
 * before it, unless epsilon never falls as the parameter grows (dp_privacy_key.epsilon_trend),
 * which is unknown for an external accountant. A run costs the maximum over these and the end. */
size_t dp_learning_curve_costlier(const struct dp_study *s, size_t objective, const double *x,
				  double at, double values[DP_CHECKPOINTS_MAX]);
/* The one of these and the end with the largest epsilon; `at` if it is the end. */
double dp_learning_curve_costliest(const struct dp_study *s, size_t objective, const double *x,
				   double at);
/* Checks at submit that trainer.path gives a learning curve. DP_E_INVALID, with a diagnostic, if
 * epsilon may fall as its parameter grows. Studies that older versions accepted are not checked. */
DP_MUSTCHECK int dp_study_check_learning_curve(const struct dp_study *s, const char *text,
					       size_t len, struct dp_diagnostics *diagnostics,
					       struct dp_err *err);
/* The value of the path parameter at the end of the run of x, fixed or not. Only with a path. */
double dp_learning_curve_end(const struct dp_study *s, const double *x);

#endif
