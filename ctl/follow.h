/* follow.h - follows a study to its end.
 *
 * Owns the terminal while it does, and gives it back as it was. */
#ifndef DP_CTL_FOLLOW_H
#define DP_CTL_FOLLOW_H
#include "ctl/command.h"
#include "ctl/patience.h"
#include <jansson.h>

/* How a followed study ended. */
enum ctl_followed {
	CTL_FOLLOW_ENDED, /* finished, failed, stopped or paused by failures */
	CTL_FOLLOW_LEFT,  /* q was pressed */
};
/* Shows a study until it ends: a view redrawn in place if `stream` is a terminal,
 * else one line for each ended trial and change of state. *summary is the last one
 * seen and the caller's. INT and TERM: DP_E_INTERRUPTED. `patience` is for a daemon
 * that goes away meanwhile; NULL: calls do what they did before. */
DP_MUSTCHECK int ctl_follow(struct ctl *ctl, const char *study, FILE *stream,
			    struct ctl_patience *patience, enum ctl_followed *how, json_t **summary,
			    struct dp_err *err);
/* Is all that a status shows on the disk? What is not may be undone by a crash: no wait
 * ends with it. */
bool ctl_status_saved(const json_t *status);
/* What to ask for changes since: the version that it shows, durably. */
int64_t ctl_status_version(const json_t *status);
/* Has the study of this summary ended for those who wait for it? */
bool ctl_study_ended(const json_t *summary);
/* DP_OK for a finished study, else DP_E_STUDY with what state it is in and why. */
DP_MUSTCHECK int ctl_study_verdict(const json_t *summary, struct dp_err *err);

#endif
