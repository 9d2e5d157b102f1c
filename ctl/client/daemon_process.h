/* daemon_process.h - starts dparetod as a child process and connects ctl->client to it.
 *
 * With --state DIR, reading commands get their answers from a read-only dparetod. It reads the
 * journal in DIR, also while a daemon runs there, and ends when the connection closes. Commands
 * with CTL_STATE_DIR_OPTION in their option table support this. */
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

/* Starts dparetod with these arguments (NULL-terminated) and connects ctl->client to it. Its stdout
 * and stderr are appended to the file `log`. */
DP_MUSTCHECK int ctl_daemon_spawn(struct ctl *ctl, char **arguments, const char *log, pid_t *pid,
				  struct dp_err *err);
/* Waits until the daemon has replayed its journal, or returns its error. */
DP_MUSTCHECK int ctl_daemon_wait_ready(struct ctl *ctl, json_t **hello, struct dp_err *err);

/* Connects ctl->client to a read-only daemon of this directory. */
DP_MUSTCHECK int ctl_readonly_daemon_open(struct ctl *ctl, const char *dir, struct dp_err *err);
/* With --state, prints which journal is read and whether a daemon uses it. */
void ctl_readonly_print_source(struct ctl *ctl);

/* Set by INT, TERM and HUP after ctl_catch_signals(); they no longer end the process. */
extern volatile sig_atomic_t ctl_interrupted;
void ctl_catch_signals(void);

#endif
