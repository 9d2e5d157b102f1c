/* retention.h - removes directories of ended attempts after the retention time. The age counts from
 * the journaled end of the attempt, in time that a daemon ran (clock.c), so that a wrong wall clock
 * removes nothing early. */
#ifndef DP_DAEMON_EXECUTORS_RETENTION_H
#define DP_DAEMON_EXECUTORS_RETENTION_H
#include "daemon/core/daemon.h"

/* Saves the clock and removes what is due, on a worker thread; one sweep at a time. */
void retention_sweep(struct daemon *d);

#endif
