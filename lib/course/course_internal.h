/* course_internal.h - shared by the files of lib/course. */
#ifndef DP_COURSE_INTERNAL_H
#define DP_COURSE_INTERNAL_H
#include "course/course.h"

/* ---- course.c ---- */

/* Attempts of this run, up to and including the last-th of the trial, that failed in a
 * way a retry may mend, and count. */
int dp__mendable_failures(const struct dp_trial *t, int32_t run, uint32_t last);

/* ---- budget.c ---- */

/* Must something be fixed before the first training that is not yet? */
bool dp__accounting_due(const struct dp_study_state *s);
/* DP_OK, or DP_E_LIMIT with why search.budget does not let another attempt of this run of
 * a trial begin. */
DP_MUSTCHECK int dp__attempt_fits(const struct dp_study_state *s,
				  const struct dp_trial *t, int32_t run,
				  struct dp_err *err);

#endif
