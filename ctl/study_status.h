/* study_status.h - what a study's status, as the protocol has it, says of its state. */
#ifndef DP_CTL_STUDY_STATUS_H
#define DP_CTL_STUDY_STATUS_H
#include "base/base.h"
#include "ctl/study_status.h"
#include <jansson.h>

/* Is all that a status shows on the disk? What is not may be undone by a crash: no wait
 * ends with it. */
bool ctl_status_is_durable(const json_t *status);
/* What to ask for changes since: the version that it shows, durably. */
int64_t ctl_status_version(const json_t *status);
/* Has the study of this summary ended for those who wait for it? */
bool ctl_study_has_ended(const json_t *summary);
/* DP_OK for a finished study, else DP_E_STUDY with what state it is in and why. */
DP_MUSTCHECK int ctl_study_check_finished(const json_t *summary, struct dp_err *err);
/* Has the trial, or measurement, of this row ended, however that was? */
bool ctl_trial_has_ended(const json_t *row);
/* Does a summary or a result hide how many trials there are? A private selection's. */
bool ctl_study_hides_trials(const json_t *study);
/* What ends the study besides a number of evaluations: search.max_cost, else search.budget. */
const json_t *ctl_study_cost_limit(const json_t *summary);
/* How far a study is, in 0..1: by the evaluations that have ended or, if that is further
 * (then true), by what of its search.max_cost is spent. */
bool ctl_study_progress(const json_t *summary, double *part);

#endif
