/* hub.h - what the daemon tells of changes, handed on to everybody who listens.
 *
 * One thread waits for the daemon's word; streams of events, each in a thread of its own,
 * wait for the hub's. What a stream has missed it is told at once and only once: of a
 * study that changed a hundred times, the last version. */
#ifndef DP_SERVE_HUB_H
#define DP_SERVE_HUB_H
#include "serve/ask.h"

struct hub;
/* Starts to listen. The caller frees it with hub_stop(), once no stream waits. */
DP_MUSTCHECK int hub_start(struct asking *k, struct hub **out, struct dp_err *err);
/* Lets every stream end, now and from now on. */
void hub_close(struct hub *h);
void hub_stop(struct hub *h);

/* A place in the stream of events; all zero at its beginning. */
struct hub_place {
	uint64_t seen;   /* the last change told of a study */
	uint64_t daemon; /* and of the daemon */
};
/* Waits at most so many milliseconds for something after that place and appends it as
 * server-sent events; nothing if nothing happened. False: there is no more to come. */
DP_MUSTCHECK bool hub_next(struct hub *h, struct hub_place *at, int ms, struct dp_buf *out);
/* What was last told of a study. */
struct hub_word {
	int64_t version; /* -1: nothing, or that it is gone */
	/* Which of all changes that was. A study that is deleted and submitted again
	 * comes to the same versions once more, but never to the same change. */
	uint64_t change;
};
struct hub_word hub_last(struct hub *h, const char *study);

#endif
