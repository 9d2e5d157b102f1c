/* conn_limits.h - how many connections each peer may hold, and which one is closed when
 * there are too many.
 *
 * Connections count by user where the kernel knows the user (on this machine), and within
 * a user by address. The caller holds the lock of the list. */
#ifndef DP_SERVE_HTTP_CONN_LIMITS_H
#define DP_SERVE_HTTP_CONN_LIMITS_H
#include "serve/http/peer_user.h"

enum {
	CONN_PENDING_MAX = 256,    /* connections without a thread */
	CONN_THREADS_SHARED = 216, /* requests that run at the same time, one thread each */
	CONN_OWNER_RESERVE = 32,   /* more threads, for the server's user and root only */
	CONN_METRICS_RESERVE = 8,  /* more threads, for /metrics only */
	CONN_UNTRUSTED_MAX = 64,   /* shared threads that untrusted requests may use */
	CONN_SIGN_IN_RESERVE = 16, /* more of them for the server's user and root, who
				    * have no token before they sign in */
	CONN_THREADS_MAX = CONN_THREADS_SHARED + CONN_OWNER_RESERVE + CONN_METRICS_RESERVE,
};

enum conn_state {
	CONN_INCOMPLETE = 1 << 0,   /* the headers, or a body without the token */
	CONN_REFUSED = 1 << 1,      /* answered; open until the peer has read the answer */
	CONN_QUEUED = 1 << 2,       /* the request waits for a thread */
	CONN_READING_BODY = 1 << 3, /* has a thread from here on */
	CONN_ANSWERING = 1 << 4,
	CONN_SENDING = 1 << 5,
	CONN_STREAMING = 1 << 6, /* sends events */
};
#define CONN_PENDING (CONN_INCOMPLETE | CONN_REFUSED | CONN_QUEUED)
#define CONN_RUNNING (CONN_READING_BODY | CONN_ANSWERING | CONN_SENDING | CONN_STREAMING)

enum conn_trust {
	CONN_UNTRUSTED, /* not known yet whether it may read anything */
	CONN_TRUSTED,   /* may use the daemon's socket, or has the token */
	CONN_OWNER,     /* trusted, and the server's own user or root on this machine */
};

struct conn {
	struct conn *next, **prev_link;
	int fd;
	struct sockaddr_storage peer;
	socklen_t peer_len;
	bool is_local; /* `user` is known */
	uid_t uid;
	unsigned char address[16]; /* IPv6: the first 64 bits, one network */
	enum conn_state state;
	enum conn_trust trust;
	int64_t state_since_us; /* dp_monotonic_us() when the state began */
	/* while pending */
	bool has_unread;       /* bytes arrived after the last look at them */
	unsigned n_peeks;      /* how often the bytes were looked at, */
	int64_t last_peek_us;  /* and when last */
	bool continued;        /* "100 Continue" was sent if it was expected */
	bool asks_metrics;     /* the request is for /metrics */
	bool metrics_reserved; /* its thread is from the reserve for /metrics */
	/* while running */
	bool mhd_started;              /* libmicrohttpd has it */
	bool is_evicted;               /* shut down; its thread has not ended yet */
	bool user_checked;             /* `stranger` and `who` are known */
	bool user_denied;              /* its user may not use the daemon's socket */
	char user_name[PEER_NAME_LEN]; /* that user; "": known by the token alone */
};

struct conn_list {
	struct conn *newest; /* the newest */
};

void conn_list_add(struct conn_list *list, struct conn *c);
void conn_list_remove(struct conn *c);
/* Notes the other end. `local`: `user` is known. */
void conn_set_peer(struct conn *c, const struct sockaddr *peer, bool local, uid_t user);
bool conn_is_owner(const struct conn *c);
bool conn_same_peer(const struct conn *a, const struct conn *b);
/* Connections in these states, without evicted ones. */
size_t conn_count(const struct conn_list *list, unsigned states);
/* Connections in these states that have the same user and address, with evicted ones. */
size_t conn_count_of_peer(const struct conn_list *list, const struct conn *of, unsigned states);
size_t conn_count_evicted(const struct conn_list *list);
/* Has the peer of `a` more running requests than that of `b`, `b_more` added? Users are
 * compared first; addresses only within a user, since a local user has many. */
bool conn_peer_runs_more(const struct conn_list *list, const struct conn *a, const struct conn *b,
			 size_t b_more);
/* The connection to close: the oldest of the address with the most connections, of the
 * user with the most. The owner keeps CONN_OWNER_RESERVE of them. Only connections in
 * these states and up to this trust. NULL: there is none. */
struct conn *conn_to_evict(const struct conn_list *list, unsigned states, enum conn_trust max);

/* Threads in use. Those of the reserve for /metrics are not in `all`. */
struct conn_usage {
	size_t all, untrusted, metrics;
};
struct conn_usage conn_usage_of(const struct conn_list *list);
bool conn_thread_available(const struct conn_usage *u, const struct conn *c);
/* Would its thread be from the reserve for /metrics? */
bool conn_uses_metrics_reserve(const struct conn_usage *u, const struct conn *c);

#endif
