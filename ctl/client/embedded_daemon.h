/* embedded_daemon.h - a private daemon for one study and one command.
 *
 * Owns the process from ctl_embedded_open() to ctl_embedded_stop(), and ctl->client in between. The
 * daemon stops itself and its trainers when the connection closes, even if dparetoctl crashes. It
 * is restarted after a crash or hang, as the systemd units do, and then adopts its running
 * trainers. */
#ifndef DP_CTL_CLIENT_EMBEDDED_DAEMON_H
#define DP_CTL_CLIENT_EMBEDDED_DAEMON_H
#include "ctl/ctl_command.h"

#include <jansson.h>
#include <sys/types.h>

enum {
	CTL_RESTART_BURST = 5 /* restarts within a minute, as in the systemd units */
};

struct ctl_embedded_daemon {
	struct ctl *ctl;
	char *state_dir; /* absolute */
	char *log_path;
	off_t log_offset; /* where the lines of this daemon begin */
	pid_t pid;        /* 0: not started, or ended */
	int wait_status;  /* as from waitpid() */
	/* ring buffer of restart times, dp_monotonic_us() */
	int64_t restart_times_us[CTL_RESTART_BURST];
	unsigned n_restarts;
};

/* Starts a daemon and waits until it answers, for an earlier one to end if needed. Calls through
 * ctl then survive its crash. */
DP_MUSTCHECK int ctl_embedded_open(struct ctl_embedded_daemon *p, struct dp_err *err);
/* Waits until the daemon has written the report of an ended study or has failed to, which only
 * prints a warning. Replaces *summary, which may be NULL. */
DP_MUSTCHECK int ctl_embedded_wait_report(struct ctl_embedded_daemon *p, const char *study,
					  json_t **summary, struct dp_err *err);
/* Stops the daemon and its trainers and waits for their end. */
void ctl_embedded_stop(struct ctl_embedded_daemon *p);

#endif
