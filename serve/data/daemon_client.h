/* daemon_client.h - requests of dpareto-serve to the daemon, one connection each.
 *
 * Any thread may call. A few requests run at a time; the others wait. */
#ifndef DP_SERVE_DATA_DAEMON_CLIENT_H
#define DP_SERVE_DATA_DAEMON_CLIENT_H
#include "base/base.h"
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include "serve/data/trial_rows.h"
#include <jansson.h>
#include <pthread.h>

struct dp_client;

struct daemon_client {
	const char *socket; /* of the daemon; NULL: the defaults of dparetoctl */
	/* A test's way to connect; NULL: by the socket. */
	int (*open_client)(void *arg, struct dp_client **client, struct dp_err *err);
	void *open_client_arg;
	pthread_mutex_t lock;
	pthread_cond_t slot_free;
	unsigned n_running;
};

void daemon_client_init(struct daemon_client *daemon, const char *socket);
void daemon_client_free(struct daemon_client *daemon);

/* A connection for functions of ctl/ that call the daemon. Its ctl prints nothing. */
struct daemon_session {
	struct daemon_client *daemon;
	struct ctl ctl;
};

/* Waits until another session may run. After a failure, do not end it. */
DP_MUSTCHECK int daemon_session_acquire(struct daemon_session *s, struct daemon_client *daemon,
					struct dp_err *err);
void daemon_session_release(struct daemon_session *s);

DP_MUSTCHECK int daemon_call(struct daemon_client *daemon, const char *verb, json_t *fields,
			     json_t **ok, struct dp_err *err);
/* Fetches all rows of a study's trials, checkpoints before their trial. The caller owns a
 * reference. Only one page at a time is held as JSON. DP_E_LIMIT: the rows take more than
 * `max_bytes`. */
DP_MUSTCHECK int daemon_fetch_trials(struct daemon_client *daemon, const char *study,
				     size_t max_bytes, struct trial_rows **rows,
				     struct dp_err *err);
/* Appends the rows as text, like `trials -o json`. */
DP_MUSTCHECK int daemon_append_trials(struct daemon_client *daemon, const char *study,
				      struct dp_buf *out, struct dp_err *err);

/* A range of a study's rows, in the order of trial numbers. */
struct trial_page {
	int64_t from, limit; /* first row, and maximum number of rows */
	bool newest_first;   /* count from the last row, and return it first */
};

/* Fetches only a part of the rows. The caller owns the array *rows. *rows is NULL if the daemon
 * does not know the number of rows. */
DP_MUSTCHECK int daemon_fetch_trial_page(struct daemon_client *daemon, const char *study,
					 const struct trial_page *part, json_t **rows,
					 int64_t *total, struct dp_err *err);
/* Fetches the first page of a study's observed front: the first points in full, the others in
 * "more". */
DP_MUSTCHECK int daemon_fetch_front_head(struct daemon_client *daemon, const char *study,
					 json_t **front, struct dp_err *err);
/* Fetches these points in full, at most 250. The caller owns the list. Takes the reference
 * `pairs`. */
DP_MUSTCHECK int daemon_fetch_front_points(struct daemon_client *daemon, const char *study,
					   json_t *pairs, json_t **points, struct dp_err *err);
/* Fetches a study's status, with only the first points of a long front. *summary is borrowed from
 * it. */
DP_MUSTCHECK int daemon_fetch_study(struct daemon_client *daemon, const char *study,
				    json_t **status, const json_t **summary, struct dp_err *err);
/* Waits at most `ms` milliseconds for a change of any study after revision `since`. Does not count
 * as a running request. */
DP_MUSTCHECK int daemon_wait_changes(struct daemon_client *daemon, int64_t since, int ms,
				     json_t **answer, struct dp_err *err);

#endif
