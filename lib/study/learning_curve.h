/* learning_curve.h - trainer.path: the checkpoints of a training. */
#ifndef DP_STUDY_LEARNING_CURVE_H
#define DP_STUDY_LEARNING_CURVE_H
#include "study/diagnostics.h"
#include "study/study.h"

/* The values of trainer.path's parameter at which the training of x is looked at on its
 * way, and their number: whole numbers below x's own value, ascending, without repeats,
 * about path.points of them evenly on the log scale of all values that the search gives
 * the parameter (a fixed one: from 1 on). None without a path. */
size_t dp_learning_curve_checkpoints(const struct dp_study *s, const double *x,
				     double values[DP_CHECKPOINTS_MAX]);
/* Checkpoints of the run of x that may cost more than where it ends, which is `at` (NaN:
 * x's own value): those before it, unless epsilon never falls as the parameter grows
 * (dp_privacy_key.worse). Of an external accountant that is not known. The cost of a run
 * is the maximum over these and its end. */
size_t dp_learning_curve_costlier(const struct dp_study *s, size_t objective, const double *x,
				  double at, double values[DP_CHECKPOINTS_MAX]);
/* Of these and the end, where epsilon is the largest; `at` where that is the end. */
double dp_learning_curve_costliest(const struct dp_study *s, size_t objective, const double *x,
				   double at);
/* When a study is submitted: is trainer.path a learning curve? DP_E_INVALID, and the
 * mistake among the problems, where epsilon may fall as its parameter grows. Studies that
 * older versions accepted are not asked. */
DP_MUSTCHECK int dp_study_check_learning_curve(const struct dp_study *s, const char *text,
					       size_t len, struct dp_diagnostics *diagnostics,
					       struct dp_err *err);
/* Where the training of x ends: its own value of that parameter, fixed or not. Only with
 * a path. */
double dp_learning_curve_end(const struct dp_study *s, const double *x);

#endif
