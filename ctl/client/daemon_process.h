/* daemon_process.h - dparetod as a child: its control connection becomes ctl->client.
 *
 * With --state DIR, commands that only read are answered from the journal in a state folder,
 * without its daemon and beside it: a read-only dparetod is started for the one command and ends
 * when the connection closes. A command gets that by CTL_STATE_DIR_OPTION among its options. */
#ifndef DP_CTL_CLIENT_DAEMON_PROCESS_H
#define DP_CTL_CLIENT_DAEMON_PROCESS_H
#include "ctl/ctl_command.h"
#include <jansson.h>
#include <signal.h>
#include <sys/types.h>

#define CTL_STATE_DIR_OPTION                                                                       \
	{                                                                                          \
		"state", 0, "DIR",                                                                 \
			"answer from the journal in this state folder, without a daemon"           \
	}

/* Starts a dparetod with these arguments (ended by NULL) whose control connection becomes
 * ctl->client. Its stdout and stderr go to the file `log`. */
DP_MUSTCHECK int ctl_daemon_spawn(struct ctl *ctl, char **arguments, const char *log, pid_t *pid,
				  struct dp_err *err);
/* Waits until it has replayed its journal and answers, or says why it cannot. */
DP_MUSTCHECK int ctl_daemon_wait_ready(struct ctl *ctl, json_t **hello, struct dp_err *err);

/* Connects ctl->client to a read-only daemon of the folder. */
DP_MUSTCHECK int ctl_readonly_daemon_open(struct ctl *ctl, const char *dir, struct dp_err *err);
/* Says whose journal this is, and whether a daemon works on it; nothing without --state. */
void ctl_readonly_print_source(struct ctl *ctl);

/* INT, TERM and HUP set this instead of ending the process, once ctl_catch_signals() was called. */
extern volatile sig_atomic_t ctl_interrupted;
void ctl_catch_signals(void);

#endif
