/* clock.h - the daemon's clock for records, and how long a daemon has run since a given time. */
#ifndef DP_DAEMON_CORE_CLOCK_H
#define DP_DAEMON_CORE_CLOCK_H
#include "daemon/core/daemon.h"

/* A known period of at least an hour without a daemon. */
struct clock_gap {
	int64_t end_us, length_us; /* microseconds; the end is when the next daemon started */
};

struct daemon_clock {
	int64_t base_us;
	struct clock_gap *gaps; /* (n_gaps) oldest first */
	unsigned n_gaps;
};

void clock_init(struct daemon *d);
/* Starts at the wall clock, but not before the newest record. */
void clock_resume(struct daemon *d);
void clock_stop(struct daemon *d);
void clock_free(struct daemon *d);
/* Microseconds since 1970. Follows the monotonic clock from clock_resume() on, so that records stay
 * in order even if the wall clock is set. */
int64_t clock_now(const struct daemon *d);
/* Microseconds between `then` and now in which a daemon ran. */
int64_t clock_running_time_since(const struct daemon *d, int64_t then);

/* The saved time for the next daemon. Made on the loop, written on any thread. */
struct clock_file;
struct clock_file *clock_file_new(const struct daemon *d);
void clock_file_write(const struct clock_file *file);
void clock_file_free(struct clock_file *file);

#endif
