/* event_broker.h - distributes the daemon's change notifications to all event streams.
 *
 * One thread waits for the daemon. Each stream has its own thread, which waits for the broker. A
 * stream that is late gets only the last version of each changed study. */
#ifndef DP_SERVE_DATA_EVENT_BROKER_H
#define DP_SERVE_DATA_EVENT_BROKER_H
#include "serve/data/daemon_client.h"

struct event_broker;
/* Starts the thread. The caller frees it with event_broker_stop(), after all streams have ended. */
DP_MUSTCHECK int event_broker_start(struct daemon_client *daemon, struct event_broker **out,
				    struct dp_err *err);
void event_broker_close(struct event_broker *broker);
void event_broker_stop(struct event_broker *broker);

/* A position in the stream of events; all zero at the start. */
struct event_cursor {
	uint64_t last_change;        /* number of the last study change seen */
	uint64_t last_daemon_change; /* and of the last daemon change */
};
/* Waits at most `ms` milliseconds for events after `at` and appends them as server-sent events.
 * Appends nothing on timeout. Returns false if the broker is closed. */
DP_MUSTCHECK bool event_broker_next(struct event_broker *broker, struct event_cursor *at, int ms,
				    struct dp_buf *out);
/* The latest known version of a study. */
struct study_version {
	int64_t version; /* -1: unknown or deleted */
	/* Unique number of the change. A deleted and resubmitted study repeats its versions, but
	 * never this number. */
	uint64_t change_number;
};
struct study_version event_broker_study_version(struct event_broker *broker, const char *study);

#endif
