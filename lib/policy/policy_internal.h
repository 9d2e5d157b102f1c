/* policy_internal.h - shared by the files of lib/course. */
#ifndef DP_POLICY_POLICY_INTERNAL_H
#define DP_POLICY_POLICY_INTERNAL_H
#include "policy/policy.h"

/* ---- trial_outcome.c ---- */

/* Attempts of this run, up to and including the last-th of the trial, that failed in a
 * way a retry may mend, and count. */
int dp__count_retryable_failures(const struct dp_trial *t, int32_t run, uint32_t last);

/* The run of the trial that needs an attempt (DP_RUN_ALL for all in one); false if none
 * does. */
bool dp__trial_next_run(const struct dp_study_state *s, const struct dp_trial *t, int32_t *run);
/* The position behind the trials that measure of which one can end or begin: of the many
 * to which nothing has happened yet the next one is enough. */
uint32_t dp__reevals_end_position(const struct dp_reevals *m);
/* The step that something is journaled, or is to be found out for that. */
void dp__step_set_event(struct dp_step *step, enum dp_step_kind kind, enum dp_event_type type);
/* The trial ends as `status`; step->reason says why, or is "". */
void dp__step_end_trial(const struct dp_study_state *s, const struct dp_trial *t,
			enum dp_trial_status status, struct dp_step *step);
/* The end of the first trial that has ended; false if none has. */
bool dp__step_end_first_decided(const struct dp_study_state *s, struct dp_step *step);

/* ---- budget.c ---- */

/* Must something be fixed before the first training that is not yet? */
bool dp__needs_accounting_fixed(const struct dp_study_state *s);
/* DP_OK, or DP_E_LIMIT with why search.budget does not let another attempt of this run of
 * a trial begin. */
DP_MUSTCHECK int dp__check_attempt_budget(const struct dp_study_state *s, const struct dp_trial *t,
					  int32_t run, struct dp_err *err);

#endif
