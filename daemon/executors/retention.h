/* retention.h - folders of ended attempts go when they are old enough.
 *
 * How old one is counts from the journaled end of its attempt, in time that a daemon ran
 * (clock.c): whatever the wall's clock says, nothing goes before its time. */
#ifndef DP_DAEMON_EXECUTORS_RETENTION_H
#define DP_DAEMON_EXECUTORS_RETENTION_H
#include "daemon/core/daemon.h"

/* Notes the time and removes what is due, both on a worker thread. Does nothing while the
 * last one is under way. */
void retention_sweep(struct daemon *d);

#endif
