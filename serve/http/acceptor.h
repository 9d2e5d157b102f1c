/* acceptor.h - accepts connections and hands each over when its request may get a thread.
 *
 * A connection is handed over when its headers are complete and, for a peer without the token, its
 * body too. One thread polls all of them, so an idle connection costs only a descriptor. The kernel
 * tells the user of a local connection before any byte is read; a user without access is refused at
 * once. With too many connections, the peer with the most loses its oldest (conn_limits.h). */
#ifndef DP_SERVE_HTTP_ACCEPTOR_H
#define DP_SERVE_HTTP_ACCEPTOR_H
#include "serve/http/conn_limits.h"
#include "serve/http/auth.h"
#include "serve/http/request_head.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	REQUEST_TIMEOUT_S = 15, /* from accept to the end of the headers, or body */
	QUEUE_TIMEOUT_S = 15,   /* from then until it gets a thread */
	REFUSED_TIMEOUT_S = 2,
	UNTRUSTED_BODY_MAX = 4096, /* bytes of a body without the token: a sign-in form */
	PEEK_MAX = HEAD_MAX + UNTRUSTED_BODY_MAX,
	KNOWN_USERS_MAX = 64,
	KNOWN_USER_S = 30, /* after this, look up a user's groups again */
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
	pthread_mutex_t lock; /* protects conns and users */
	struct conn_list conns;
	struct known_user users[KNOWN_USERS_MAX];
	int listen_fd, epoll_fd, wake_fd;
	pthread_t thread;
	atomic_bool stopping;
	char *head_buf; /* PEEK_MAX bytes, for the thread */
};

/* The caller sets `auth`, `handoff` and `arg`; the rest is zero. Takes over the listening socket,
 * even on failure. */
DP_MUSTCHECK int acceptor_start(struct acceptor *acc, int fd, struct dp_err *err);
/* Reports that a running connection has ended or will end. Any thread. */
void acceptor_wake(struct acceptor *acc);
void conn_set_state(struct acceptor *acc, struct conn *c, enum conn_state state);
/* Shuts down a running connection, which ends its thread. Caller holds the lock. */
void conn_evict(struct conn *c);
/* Records whether a user may use the daemon's socket. Any thread. */
void acceptor_remember_user(struct acceptor *acc, uid_t user, bool allowed);
/* Stops accepting, and closes connections without a thread. */
void acceptor_stop(struct acceptor *acc);
/* Call after all running connections have ended. */
void acceptor_free(struct acceptor *acc);

#endif
