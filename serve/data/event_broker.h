/* event_broker.h - what the daemon tells of changes, handed on to everybody who listens.
 *
 * One thread waits for the daemon's word; streams of events, each in a thread of its own,
 * wait for the hub's. What a stream has missed it is told at once and only once: of a
 * study that changed a hundred times, the last version. */
#ifndef DP_SERVE_DATA_EVENT_BROKER_H
#define DP_SERVE_DATA_EVENT_BROKER_H
#include "serve/data/daemon_client.h"

struct event_broker;
/* Starts to listen. The caller frees it with event_broker_stop(), once no stream waits. */
DP_MUSTCHECK int event_broker_start(struct daemon_client *daemon, struct event_broker **out,
				    struct dp_err *err);
/* Lets every stream end, now and from now on. */
void event_broker_close(struct event_broker *broker);
void event_broker_stop(struct event_broker *broker);

/* A place in the stream of events; all zero at its beginning. */
struct event_cursor {
	uint64_t last_change;        /* the last change told of a study */
	uint64_t last_daemon_change; /* and of the daemon */
};
/* Waits at most so many milliseconds for something after that place and appends it as
 * server-sent events; nothing if nothing happened. False: there is no more to come. */
DP_MUSTCHECK bool event_broker_next(struct event_broker *broker, struct event_cursor *at, int ms,
				    struct dp_buf *out);
/* What was last told of a study. */
struct study_version {
	int64_t version; /* -1: nothing, or that it is gone */
	/* Which of all changes that was. A study that is deleted and submitted again
	 * comes to the same versions once more, but never to the same change. */
	uint64_t change_number;
};
struct study_version event_broker_study_version(struct event_broker *broker, const char *study);

#endif
