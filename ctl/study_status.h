/* study_status.h - what the JSON status of a study says about its state. */
#ifndef DP_CTL_STUDY_STATUS_H
#define DP_CTL_STUDY_STATUS_H
#include "base/base.h"
#include "ctl/study_status.h"
#include <jansson.h>

/* Is everything in this status on disk? Waits do not end on other changes, which a crash may
 * undo. */
bool ctl_status_is_durable(const json_t *status);
/* The version after which to wait for changes: the latest durable one in this status. */
int64_t ctl_status_version(const json_t *status);
/* Has the study ended for commands that wait for it? */
bool ctl_study_has_ended(const json_t *summary);
/* DP_OK for a finished study, else DP_E_STUDY with its state and the reason. */
DP_MUSTCHECK int ctl_study_check_finished(const json_t *summary, struct dp_err *err);
/* Has this trial or re-evaluation ended, with any outcome? */
bool ctl_trial_has_ended(const json_t *row);
/* Does a summary or result hide the number of trials? True for a private selection. */
bool ctl_study_hides_trials(const json_t *study);
/* The limit besides the number of evaluations: search.max_cost, else search.budget. */
const json_t *ctl_study_cost_limit(const json_t *summary);
/* Sets the progress of a study in 0..1: the larger of ended evaluations and spent search.max_cost.
 * Returns true if it is the cost. */
bool ctl_study_progress(const json_t *summary, double *part);

#endif
