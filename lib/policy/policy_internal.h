/* policy_internal.h - functions shared by the files of lib/policy. */
#ifndef DP_POLICY_POLICY_INTERNAL_H
#define DP_POLICY_POLICY_INTERNAL_H
#include "policy/policy.h"

/* ---- trial_outcome.c ---- */

/* Charged attempts of this run, up to position `last`, with a failure that a retry may fix. */
int dp__count_retryable_failures(const struct dp_trial *t, int32_t run, uint32_t last);

/* The run of the trial that needs an attempt (DP_RUN_ALL: all in one); false if none does. */
bool dp__trial_next_run(const struct dp_study_state *s, const struct dp_trial *t, int32_t *run);
/* Position after the re-evaluation trials that may end or start now: of those without any event,
 * only the first. */
uint32_t dp__reevals_end_position(const struct dp_reevals *m);
/* Ends the trial with this status; step->reason is set by the caller or "". */
void dp__step_end_trial(const struct dp_study_state *s, const struct dp_trial *t,
			enum dp_trial_status status, struct dp_step *step);
/* Ends the first trial whose outcome is decided; false if there is none. */
bool dp__step_end_first_decided(const struct dp_study_state *s, struct dp_step *step);

/* ---- privacy_budget.c ---- */

/* True if odometer or filter must be fixed before the first run. */
bool dp__needs_accounting_fixed(const struct dp_study_state *s);
/* Returns DP_E_LIMIT if search.budget has no room for another attempt of this run. */
DP_MUSTCHECK int dp__check_attempt_budget(const struct dp_study_state *s, const struct dp_trial *t,
					  int32_t run, struct dp_err *err);

#endif
