/* client_connection.h - client connections: reads request lines and writes replies. server.c
 * accepts connections. Other code knows a client by an id that is never reused, and replies through
 * d->replies. */
#ifndef DP_DAEMON_API_CLIENT_CONNECTION_H
#define DP_DAEMON_API_CLIENT_CONNECTION_H
#include "daemon/core/daemon.h"
#include "daemon/core/peer_name.h"

struct client {
	struct client *next, *next_in_bucket; /* in the list of all, and in its bucket */
	struct daemon *daemon;
	uint64_t id;
	uv_pipe_t pipe;
	bool is_owner; /* runs as the daemon's user, or as root */
	uid_t uid;
	char user_name[REQUESTER_NAME_LEN]; /* filled on first use */

	struct dp_buf input;
	size_t scanned;         /* bytes of `input` that hold no newline */
	int64_t input_since_us; /* dp_monotonic_us() when the first of these bytes arrived */
	bool reading_paused;    /* the client sent more than the limit */
	bool at_eof;            /* the client closed its sending side */
	bool processing_lines;  /* a caller up the stack takes lines from `input` */

	bool awaiting_reply; /* one request at a time, so that replies do not pile up */
	bool is_read_only;   /* the request changes nothing */
	size_t reply_bytes;
	int64_t reply_since_us; /* dp_monotonic_us() since when a reply is ready to write; 0: none
				 */
	int64_t last_active_us; /* dp_monotonic_us() of the connection or of the last reply */
	bool close_after_reply;
	bool closing;
	bool lifeline;
	size_t counted_bytes; /* its share of clients.bytes */

	bool long_polling;
	uint32_t study_id;        /* 0: any */
	int64_t since;            /* a study's version, or the daemon's revision */
	int64_t poll_deadline_us; /* dp_monotonic_us() */
};

enum {
	CLIENT_BUCKETS = 256,
	/* Requests in one round of the loop, so that other work gets its turn. */
	CLIENT_REQUESTS_PER_ROUND = 64,
};

struct clients {
	struct client *list;
	struct client *buckets[CLIENT_BUCKETS];
	unsigned n;
	uint64_t last_id;
	size_t bytes;
	/* requests that wait for their turn, by length of the reply */
	struct request_queue {
		struct queued_request *first, **last;
	} short_requests, long_requests;
	uv_idle_t requests_idle;
	uint64_t n_requests;
	void (*on_closed)(struct daemon *d); /* a descriptor became free; may be NULL */
};

/* Must come before the first client. d->replies works from here on. */
void clients_init(struct daemon *d);
/* Takes over the descriptor fd. NULL: fd is not a socket. */
struct client *client_open(struct daemon *d, int fd);
void client_start_reading(struct client *c);
void client_close(struct client *c);
/* Sends an error and closes the connection. */
void client_reject(struct client *c, int code, const char *why, const char *hint);
/* Answers long polls whose study changed or whose time is over. */
void clients_answer_long_polls(struct daemon *d);
/* Called periodically: closes idle clients, and clients that stall inside a request or reply. */
void clients_close_timed_out(struct daemon *d);
void clients_close_all(struct daemon *d);
/* Called after the loop has ended. */
void clients_free(struct daemon *d);

#endif
