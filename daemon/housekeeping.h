/* housekeeping.h - what a clock has to remind us of: progress of running trainers, free disk,
 * retries that are due, time limits of studies, old directories. */
#ifndef DP_DAEMON_HOUSEKEEPING_H
#define DP_DAEMON_HOUSEKEEPING_H
#include "daemon/core/daemon.h"

struct housekeeping {
	struct daemon *daemon;
	uv_timer_t timer;
	unsigned n_ticks;
};

/* The loop may run. */
void housekeeping_start(struct daemon *d);
void housekeeping_free(struct daemon *d);

#endif
