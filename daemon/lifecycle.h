/* lifecycle.h - starts and stops the daemon in order, handles signals and reloads. */
#ifndef DP_DAEMON_LIFECYCLE_H
#define DP_DAEMON_LIFECYCLE_H
#include "daemon/core/daemon.h"

/* Opens everything; the loop may run afterwards. Call daemon_close() in either case. */
DP_MUSTCHECK int daemon_open(struct daemon *d, const struct daemon_options *s, struct dp_err *err);
/* Sends the error of a failed read-only open to the client on control_fd. */
void daemon_report_open_error(const struct daemon_options *s, const struct dp_err *err);
/* Frees everything. Trainers left behind keep running. */
void daemon_close(struct daemon *d);

#endif
