/* follow_study.h - shows a study's progress until it ends.
 *
 * Owns the terminal during that time and restores it. */
#ifndef DP_CTL_UI_FOLLOW_STUDY_H
#define DP_CTL_UI_FOLLOW_STUDY_H
#include "ctl/ctl_command.h"
#include "ctl/client/reconnect.h"
#include <jansson.h>

enum ctl_follow_result {
	CTL_FOLLOW_ENDED, /* finished, failed, stopped or paused by failures */
	CTL_FOLLOW_QUIT,
};
/* Shows a study until it ends: on a terminal, a view redrawn in place; elsewhere, one line for each
 * ended trial and state change. The caller owns *summary, the last one seen. Returns
 * DP_E_INTERRUPTED on INT or TERM. `reconnect` handles a lost daemon; NULL: the setting stays as it
 * is. */
DP_MUSTCHECK int ctl_follow_study(struct ctl *ctl, const char *study, FILE *stream,
				  struct ctl_reconnect *reconnect, enum ctl_follow_result *how,
				  json_t **summary, struct dp_err *err);

#endif
