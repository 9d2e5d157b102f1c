/* client.h - one connection to the daemon, between server.c, which lets it in, and
 * client.c, which serves it. Everybody else knows clients by number (server.h). */
#ifndef DPARETOD_CLIENT_H
#define DPARETOD_CLIENT_H
#include "daemon/daemon.h"
#include "daemon/who.h"

struct client {
	struct client *next, *next_same; /* of d->clients, and of its bucket */
	struct dpd *d;
	uint64_t id;
	uv_pipe_t pipe;
	bool own; /* of the daemon's own user, or root */
	uid_t user;
	char name[WHO_NAME]; /* of its user, once it is needed */

	/* what it sends */
	struct dp_buf in;
	size_t scanned; /* bytes of `in` that hold no newline */
	int64_t begun;  /* dp_mono_us() when the first of these bytes came */
	bool paused;    /* not reading: it has sent more than is good for it */
	bool ended;     /* it will send no more */
	bool handling;  /* lines are being taken from `in` further up the stack */

	/* what it gets */
	bool answering; /* one request at a time, until its reply is written: what a
			 * client does not read cannot pile up */
	bool looks;     /* the request changes nothing */
	size_t reply_bytes;
	int64_t writing; /* dp_mono_us() since when it could take the reply; 0: there is
			  * none */
	int64_t spoken;  /* dp_mono_us() when it came, or had its last reply */
	bool hang_up;    /* close once the reply is written */
	bool closing;
	bool lifeline;
	size_t held; /* bytes of it that d->client_bytes has counted */

	/* a long poll */
	bool waiting;
	uint32_t study; /* or CLIENT_ANY_STUDY */
	int64_t since;  /* its version, or the daemon's revision */
	int64_t until;  /* dp_mono_us() */
};

enum {
	/* Requests that are handled in one round of the loop, at most: the scheduler, the
	 * journal and what trainers did have their turn between rounds. */
	CLIENT_REQUESTS_A_ROUND = 64,
};

/* Before the first of them. */
void clients_init(struct dpd *d);
/* A connection with the number fd, which is taken over; NULL without memory, or if it is
 * no socket. */
struct client *client_open(struct dpd *d, int fd);
void client_read_on(struct client *c);
void client_close(struct client *c);
/* Tells it a sentence and hangs up. */
void client_refuse(struct client *c, int code, const char *why, const char *hint);

#endif
