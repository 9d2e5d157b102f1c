/* client_connection.h - one connection to the daemon, between server.c, which lets it in, and
 * client.c, which serves it. Everybody else knows clients by number (server.h). */
#ifndef DP_DAEMON_API_CLIENT_CONNECTION_H
#define DP_DAEMON_API_CLIENT_CONNECTION_H
#include "daemon/core/daemon.h"
#include "daemon/core/peer_name.h"

struct client {
	struct client *next, *next_in_bucket; /* of d->clients, and of its bucket */
	struct daemon *daemon;
	uint64_t id;
	uv_pipe_t pipe;
	bool is_owner; /* of the daemon's own user, or root */
	uid_t uid;
	char user_name[REQUESTER_NAME_LEN]; /* of its user, once it is needed */

	/* what it sends */
	struct dp_buf input;
	size_t scanned;         /* bytes of `in` that hold no newline */
	int64_t input_since_us; /* dp_monotonic_us() when the first of these bytes came */
	bool reading_paused;    /* not reading: it has sent more than is good for it */
	bool at_eof;            /* it will send no more */
	bool processing_lines;  /* lines are being taken from `in` further up the stack */

	/* what it gets */
	bool awaiting_reply; /* one request at a time, until its reply is written: what a
			      * client does not read cannot pile up */
	bool is_read_only;   /* the request changes nothing */
	size_t reply_bytes;
	int64_t reply_since_us; /* dp_monotonic_us() since when it could take the reply; 0: there is
				 * none */
	int64_t last_active_us; /* dp_monotonic_us() when it came, or had its last reply */
	bool close_after_reply; /* close once the reply is written */
	bool closing;
	bool lifeline;
	size_t counted_bytes; /* bytes of it that d->client_bytes has counted */

	/* a long poll */
	bool long_polling;
	uint32_t study_id;        /* or CLIENT_ANY_STUDY */
	int64_t since;            /* its version, or the daemon's revision */
	int64_t poll_deadline_us; /* dp_monotonic_us() */
};

enum {
	/* Requests that are handled in one round of the loop, at most: the scheduler, the
	 * journal and what trainers did have their turn between rounds. */
	CLIENT_REQUESTS_PER_ROUND = 64,
};

/* Before the first of them. */
void clients_init(struct daemon *d);
/* A connection with the number fd, which is taken over; NULL without memory, or if it is
 * no socket. */
struct client *client_open(struct daemon *d, int fd);
void client_start_reading(struct client *c);
void client_close(struct client *c);
/* Tells it a sentence and hangs up. */
void client_reject(struct client *c, int code, const char *why, const char *hint);

#endif
