/* embedded_daemon.h - a daemon of one's own, for one study and one command.
 *
 * Owns the process from ctl_embedded_open() to ctl_embedded_stop(), and ctl->client in between. It
 * ends with its trainers when the connection closes, however we end. We are its service manager:
 * one that crashes or hangs is started again, as the units do it, and takes up its trainers. */
#ifndef DP_CTL_CLIENT_EMBEDDED_DAEMON_H
#define DP_CTL_CLIENT_EMBEDDED_DAEMON_H
#include "ctl/ctl_command.h"

#include <jansson.h>
#include <sys/types.h>

enum {
	CTL_RESTART_BURST = 5 /* no more often than so within a minute, as in the units */
};

struct ctl_embedded_daemon {
	struct ctl *ctl;
	char *state_dir;  /* state folder, absolute */
	char *log_path;   /* the daemon's */
	off_t log_offset; /* where this daemon's lines begin */
	pid_t pid;        /* 0: none, or it has ended */
	int wait_status;  /* as of waitpid() */
	/* when it was started again, dp_monotonic_us(); the oldest is overwritten */
	int64_t restart_times_us[CTL_RESTART_BURST];
	unsigned n_restarts;
};

/* A daemon that answers: started, and once more if an earlier one had to end first.
 * From then on every call through ctl survives its crash. */
DP_MUSTCHECK int ctl_embedded_open(struct ctl_embedded_daemon *p, struct dp_err *err);
/* Waits until it has written the report of a study that has ended, or has given up; takes the place
 * of *summary, which may be NULL. Without a report the study is what it is: that is only told. */
DP_MUSTCHECK int ctl_embedded_wait_report(struct ctl_embedded_daemon *p, const char *study,
					  json_t **summary, struct dp_err *err);
/* Stops it with its trainers and waits for that. */
void ctl_embedded_stop(struct ctl_embedded_daemon *p);

#endif
