/* client_connection.h - connections to the daemon: lines in, replies out. server.c lets them in;
 * others know a client by a number that is never used again, and reply through d->replies. */
#ifndef DP_DAEMON_API_CLIENT_CONNECTION_H
#define DP_DAEMON_API_CLIENT_CONNECTION_H
#include "daemon/core/daemon.h"
#include "daemon/core/peer_name.h"

struct client {
	struct client *next, *next_in_bucket; /* of all, and of its bucket */
	struct daemon *daemon;
	uint64_t id;
	uv_pipe_t pipe;
	bool is_owner; /* of the daemon's own user, or root */
	uid_t uid;
	char user_name[REQUESTER_NAME_LEN]; /* of its user, once it is needed */

	/* what it sends */
	struct dp_buf input;
	size_t scanned;         /* bytes of `input` that hold no newline */
	int64_t input_since_us; /* dp_monotonic_us() when the first of these bytes came */
	bool reading_paused;    /* not reading: it has sent more than is good for it */
	bool at_eof;            /* it will send no more */
	bool processing_lines;  /* lines are being taken from `input` further up the stack */

	/* what it gets */
	bool awaiting_reply; /* one request at a time, until its reply is written: what a
			      * client does not read cannot pile up */
	bool is_read_only;   /* the request changes nothing */
	size_t reply_bytes;
	int64_t reply_since_us; /* dp_monotonic_us() since when it could take the reply; 0: there
				 * is none */
	int64_t last_active_us; /* dp_monotonic_us() when it came, or had its last reply */
	bool close_after_reply; /* close once the reply is written */
	bool closing;
	bool lifeline;
	size_t counted_bytes; /* bytes of it that clients.bytes has counted */

	/* a long poll */
	bool long_polling;
	uint32_t study_id;        /* 0: any */
	int64_t since;            /* its version, or the daemon's revision */
	int64_t poll_deadline_us; /* dp_monotonic_us() */
};

enum {
	CLIENT_BUCKETS = 256,
	/* Requests that are handled in one round of the loop, at most: the scheduler, the journal
	 * and what trainers did have their turn between rounds. */
	CLIENT_REQUESTS_PER_ROUND = 64,
};

struct clients {
	struct client *list;
	struct client *buckets[CLIENT_BUCKETS]; /* the same, by number */
	unsigned n;
	uint64_t last_id; /* of the newest connection */
	size_t bytes;     /* that all of them hold */
	/* requests that wait for their turn: with short answers, and with long ones */
	struct request_queue {
		struct queued_request *first, **last;
	} short_requests, long_requests;
	uv_idle_t requests_idle;
	uint64_t n_requests;                 /* that were handled so far */
	void (*on_closed)(struct daemon *d); /* there is a descriptor free; or NULL */
};

/* Before the first of them. From here on d->replies can be used. */
void clients_init(struct daemon *d);
/* A connection with the number fd, which is taken over; NULL if it is no socket. */
struct client *client_open(struct daemon *d, int fd);
void client_start_reading(struct client *c);
void client_close(struct client *c);
/* Sends it a sentence and hangs up. */
void client_reject(struct client *c, int code, const char *why, const char *hint);
/* Long polls: answers those for whom something has changed or whose time is over. */
void clients_answer_long_polls(struct daemon *d);
/* Now and then: closes those that ask nothing, or do not go on with what they began. */
void clients_close_timed_out(struct daemon *d);
void clients_close_all(struct daemon *d);
/* The loop has ended. */
void clients_free(struct daemon *d);

#endif
