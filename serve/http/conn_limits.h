/* conn_limits.h - limits the connections of each peer and chooses which one to close.
 *
 * Counts by user where the kernel knows the user (on this machine), and by address within a user.
 * The caller holds the lock of the list. */
#ifndef DP_SERVE_HTTP_CONN_LIMITS_H
#define DP_SERVE_HTTP_CONN_LIMITS_H
#include "serve/http/peer_user.h"

enum {
	CONN_PENDING_MAX = 256,    /* connections without a thread */
	CONN_THREADS_SHARED = 216, /* requests in parallel, one thread each */
	CONN_OWNER_RESERVE = 32,   /* extra threads for the server's user and root */
	CONN_METRICS_RESERVE = 8,  /* extra threads for /metrics */
	CONN_UNTRUSTED_MAX = 64,   /* shared threads for untrusted requests */
	CONN_SIGN_IN_RESERVE = 16, /* more, for the server's user and root before they sign in */
	CONN_THREADS_MAX = CONN_THREADS_SHARED + CONN_OWNER_RESERVE + CONN_METRICS_RESERVE,
};

enum conn_state {
	CONN_INCOMPLETE = 1 << 0, /* reading the headers, or a body without the token */
	CONN_REFUSED = 1 << 1,    /* answered; open until the peer has read the answer */
	CONN_QUEUED = 1 << 2,
	CONN_READING_BODY = 1 << 3, /* has a thread from this state on */
	CONN_ANSWERING = 1 << 4,
	CONN_SENDING = 1 << 5,
	CONN_STREAMING = 1 << 6,
};
#define CONN_PENDING (CONN_INCOMPLETE | CONN_REFUSED | CONN_QUEUED)
#define CONN_RUNNING (CONN_READING_BODY | CONN_ANSWERING | CONN_SENDING | CONN_STREAMING)

enum conn_trust {
	CONN_UNTRUSTED,
	CONN_TRUSTED, /* may use the daemon's socket, or has the token */
	CONN_OWNER,   /* trusted, and the server's own user or root on this machine */
};

struct conn {
	struct conn *next, **prev_link;
	int fd;
	struct sockaddr_storage peer;
	socklen_t peer_len;
	bool is_local; /* `uid` is known */
	uid_t uid;
	unsigned char address[16]; /* IPv6: the first 64 bits, one network */
	enum conn_state state;
	enum conn_trust trust;
	int64_t state_since_us;
	/* while pending */
	bool has_unread; /* bytes have arrived since the last peek */
	unsigned n_peeks;
	int64_t last_peek_us;
	bool continued; /* "100 Continue" was sent if expected */
	bool asks_metrics;
	bool metrics_reserved; /* its thread is from the /metrics reserve */
	/* while running */
	bool mhd_started;              /* libmicrohttpd owns it */
	bool is_evicted;               /* shut down; its thread has not ended yet */
	bool user_checked;             /* `user_denied` and `user_name` are known */
	bool user_denied;              /* the user may not use the daemon's socket */
	char user_name[PEER_NAME_LEN]; /* "": known by the token only */
};

struct conn_list {
	struct conn *newest;
};

void conn_list_add(struct conn_list *list, struct conn *c);
void conn_list_remove(struct conn *c);
/* Sets the peer. local: `user` is known. */
void conn_set_peer(struct conn *c, const struct sockaddr *peer, bool local, uid_t user);
bool conn_is_owner(const struct conn *c);
bool conn_same_peer(const struct conn *a, const struct conn *b);
/* Counts connections in these states, without evicted ones. */
size_t conn_count(const struct conn_list *list, unsigned states);
/* Counts connections in these states with the same user and address, including evicted ones. */
size_t conn_count_of_peer(const struct conn_list *list, const struct conn *of, unsigned states);
size_t conn_count_evicted(const struct conn_list *list);
/* Does the peer of `a` run more requests than that of `b` plus `b_more`? Compares users first, and
 * addresses only within a user because a local user has many. */
bool conn_peer_runs_more(const struct conn_list *list, const struct conn *a, const struct conn *b,
			 size_t b_more);
/* Chooses the connection to close: the oldest of the address with the most connections, within the
 * user with the most. Considers only these states and trust up to `max`. The owner keeps
 * CONN_OWNER_RESERVE connections. NULL: none. */
struct conn *conn_to_evict(const struct conn_list *list, unsigned states, enum conn_trust max);

/* Threads in use. `all` excludes the /metrics reserve. */
struct conn_usage {
	size_t all, untrusted, metrics;
};
struct conn_usage conn_usage_of(const struct conn_list *list);
bool conn_thread_available(const struct conn_usage *u, const struct conn *c);
/* Would its thread come from the /metrics reserve? */
bool conn_uses_metrics_reserve(const struct conn_usage *u, const struct conn *c);

#endif
