/* follow_study.h - follows a study to its end.
 *
 * Owns the terminal while it does, and gives it back as it was. */
#ifndef DP_CTL_UI_FOLLOW_STUDY_H
#define DP_CTL_UI_FOLLOW_STUDY_H
#include "ctl/ctl_command.h"
#include "ctl/client/reconnect.h"
#include <jansson.h>

/* How a followed study ended. */
enum ctl_follow_result {
	CTL_FOLLOW_ENDED, /* finished, failed, stopped or paused by failures */
	CTL_FOLLOW_QUIT,  /* q was pressed */
};
/* Shows a study until it ends: a view redrawn in place if `stream` is a terminal,
 * else one line for each ended trial and change of state. *summary is the last one
 * seen and the caller's. INT and TERM: DP_E_INTERRUPTED. `patience` is for a daemon
 * that goes away meanwhile; NULL: calls do what they did before. */
DP_MUSTCHECK int ctl_follow_study(struct ctl *ctl, const char *study, FILE *stream,
				  struct ctl_reconnect *reconnect, enum ctl_follow_result *how,
				  json_t **summary, struct dp_err *err);
/* Is all that a status shows on the disk? What is not may be undone by a crash: no wait
 * ends with it. */
bool ctl_status_is_durable(const json_t *status);
/* What to ask for changes since: the version that it shows, durably. */
int64_t ctl_status_version(const json_t *status);
/* Has the study of this summary ended for those who wait for it? */
bool ctl_study_has_ended(const json_t *summary);
/* DP_OK for a finished study, else DP_E_STUDY with what state it is in and why. */
DP_MUSTCHECK int ctl_study_check_finished(const json_t *summary, struct dp_err *err);

#endif
