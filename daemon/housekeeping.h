/* housekeeping.h - the timer for progress, free disk, retries, time limits and retention. */
#ifndef DP_DAEMON_HOUSEKEEPING_H
#define DP_DAEMON_HOUSEKEEPING_H
#include "daemon/core/daemon.h"

struct housekeeping {
	struct daemon *daemon;
	uv_timer_t timer;
	unsigned n_ticks;
};

void housekeeping_start(struct daemon *d);
void housekeeping_free(struct daemon *d);

#endif
