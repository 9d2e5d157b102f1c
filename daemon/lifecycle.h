/* lifecycle.h - the life of a daemon: ordered start, signals, another configuration, ordered stop.
 */
#ifndef DP_DAEMON_LIFECYCLE_H
#define DP_DAEMON_LIFECYCLE_H
#include "daemon/core/daemon.h"

/* Opens everything up to the point where the loop may run. In either case daemon_close() follows.
 */
DP_MUSTCHECK int daemon_open(struct daemon *d, const struct daemon_options *s, struct dp_err *err);
/* It could not be opened to look at a state directory: the client at the other end of control_fd
 * gets the reason. */
void daemon_report_open_error(const struct daemon_options *s, const struct dp_err *err);
/* Frees what a leak checker would ask about; trainers that were left go on. */
void daemon_close(struct daemon *d);

#endif
