/* clock.h - the time of the records, and how much of it a daemon ran. */
#ifndef DP_DAEMON_CORE_CLOCK_H
#define DP_DAEMON_CORE_CLOCK_H
#include "daemon/core/daemon.h"

/* An hour or more in which no daemon ran, as far as is known. */
struct clock_gap {
	int64_t end_us, length_us; /* microseconds; the end: when the daemon after it started */
};

struct daemon_clock {
	int64_t base_us;
	struct clock_gap *gaps; /* (n_gaps) oldest first */
	unsigned n_gaps;
};

void clock_init(struct daemon *d);
/* Starts the clock: at the wall's time, but not before the newest record. */
void clock_start(struct daemon *d);
/* Notes the time for the next daemon. */
void clock_stop(struct daemon *d);
void clock_free(struct daemon *d);
/* Microseconds since 1970 as the daemon counts them: from clock_start() on it goes with the
 * machine's monotonic clock, so that no record is older than the one before it, whatever is done to
 * the wall's. */
int64_t clock_now(const struct daemon *d);
/* Microseconds that a daemon ran between a time of the records and now. */
int64_t clock_running_time_since(const struct daemon *d, int64_t then);

/* The time for the next daemon. Made on the loop; written on any thread. */
struct clock_file;
struct clock_file *clock_file_new(const struct daemon *d);
void clock_file_write(const struct clock_file *file);
void clock_file_free(struct clock_file *file);

#endif
