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

#endif
