/* policy_internal.h - shared by the files of lib/policy. */
#ifndef DP_POLICY_POLICY_INTERNAL_H
#define DP_POLICY_POLICY_INTERNAL_H
#include "policy/policy.h"

/* ---- trial_outcome.c ---- */

/* How many attempts of this run, up to and including position `last`, are charged and failed in a
 * way that a retry may fix. */
int dp__count_retryable_failures(const struct dp_trial *t, int32_t run, uint32_t last);

/* The run of the trial that needs an attempt (DP_RUN_ALL for all in one); false if none
 * does. */
bool dp__trial_next_run(const struct dp_study_state *s, const struct dp_trial *t, int32_t *run);
/* The position behind the re-evaluations that may end or start now: of those that nothing has
 * happened to yet only the first is considered. */
uint32_t dp__reevals_end_position(const struct dp_reevals *m);
/* The trial ends with this status; step->reason explains it, or is "". */
void dp__step_end_trial(const struct dp_study_state *s, const struct dp_trial *t,
			enum dp_trial_status status, struct dp_step *step);
/* The end of the first trial that has ended; false if none has. */
bool dp__step_end_first_decided(const struct dp_study_state *s, struct dp_step *step);

/* ---- privacy_budget.c ---- */

/* Must odometer or filter be fixed before the first run? */
bool dp__needs_accounting_fixed(const struct dp_study_state *s);
/* DP_OK, or DP_E_LIMIT with why search.budget does not let another attempt of this run of
 * a trial begin. */
DP_MUSTCHECK int dp__check_attempt_budget(const struct dp_study_state *s, const struct dp_trial *t,
					  int32_t run, struct dp_err *err);

#endif
