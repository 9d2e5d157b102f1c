/* look.h - --state DIR of commands that only read: answers from the journal in a state
 * folder, without its daemon and beside it.
 *
 * A dparetod that only looks is started for the one command (its --look) and answers the
 * same questions as any; it ends when the connection closes, however we end. A command
 * gets all that by CTL_STATE_DIR_OPTION among its options: the first call then connects there.
 */
#ifndef DP_CTL_CLIENT_READONLY_DAEMON_H
#define DP_CTL_CLIENT_READONLY_DAEMON_H
#include "ctl/ctl_command.h"

#define CTL_STATE_DIR_OPTION                                                                       \
	{                                                                                          \
		"state", 0, "DIR",                                                                 \
			"answer from the journal in this state folder, without a daemon"           \
	}

/* Connects ctl->client to one that looks at the folder. */
DP_MUSTCHECK int ctl_readonly_daemon_open(struct ctl *ctl, const char *dir, struct dp_err *err);
/* Says whose journal this is, and whether somebody works on it; nothing without --state.
 */
void ctl_readonly_print_source(struct ctl *ctl);

#endif
