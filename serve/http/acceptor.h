/* acceptor.h - accepts connections, and hands them over once their headers are complete,
 * and without the token also their body.
 *
 * One thread waits for all of them, so a connection that sends nothing costs a descriptor
 * and no more. The kernel says which user a local connection belongs to, before anything
 * is read from it; a user without a right to the page is refused at once. When there are
 * too many connections, the peer with the most loses its oldest (conn_limits.h). */
#ifndef DP_SERVE_HTTP_ACCEPTOR_H
#define DP_SERVE_HTTP_ACCEPTOR_H
#include "serve/http/conn_limits.h"
#include "serve/http/auth.h"
#include "serve/http/request_head.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	REQUEST_TIMEOUT_S = 15,    /* from the connection to the end of what is waited for */
	QUEUE_TIMEOUT_S = 15,      /* from there to a thread */
	REFUSED_TIMEOUT_S = 2,     /* for the peer to read why it was refused */
	UNTRUSTED_BODY_MAX = 4096, /* bytes of a body without the token: a sign-in form */
	PEEK_MAX = HEAD_MAX + UNTRUSTED_BODY_MAX,
	KNOWN_USERS_MAX = 64,
	KNOWN_USER_S = 30, /* a user's groups are looked up again after this */
};

struct known_user {
	uid_t uid;
	bool allowed, in_use;
	int64_t checked_us;
};

/* Takes over the connection and its descriptor. Called without the lock. */
typedef void acceptor_handoff_fn(void *arg, struct conn *c);

struct acceptor {
	const struct auth *auth;
	acceptor_handoff_fn *handoff;
	void *arg;
	pthread_mutex_t lock; /* of conns and users */
	struct conn_list conns;
	struct known_user users[KNOWN_USERS_MAX];
	int listen_fd, epoll_fd, wake_fd;
	pthread_t thread;
	atomic_bool stopping;
	char *head_buf; /* PEEK_MAX of them, for the thread */
};

/* `guard`, `handoff` and `arg` are set, the rest is zero. Owns the listening socket from
 * now on, also if it fails. */
DP_MUSTCHECK int acceptor_start(struct acceptor *acc, int fd, struct dp_err *err);
/* A running connection has ended or will: any thread. */
void acceptor_wake(struct acceptor *acc);
void conn_set_state(struct acceptor *acc, struct conn *c, enum conn_state state);
/* Shuts a running connection down, so that its thread ends. With the lock. */
void conn_evict(struct conn *c);
/* Notes whether a user may use the daemon's socket: any thread. */
void acceptor_remember_user(struct acceptor *acc, uid_t user, bool allowed);
/* Accepts no more, and closes the connections that have no thread. */
void acceptor_stop(struct acceptor *acc);
/* After all running connections have ended. */
void acceptor_free(struct acceptor *acc);

#endif
