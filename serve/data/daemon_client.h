/* daemon_client.h - what dpareto-serve asks of the daemon, each request over a connection of
 * its own. Any thread may ask; a few do so at a time, the others wait. */
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
	const char *socket; /* of the daemon; NULL: as dparetoctl finds it */
	/* Where tests have a daemon of their own; NULL: at the socket. */
	int (*open_client)(void *arg, struct dp_client **client, struct dp_err *err);
	void *open_client_arg;
	pthread_mutex_t lock;
	pthread_cond_t slot_free;
	unsigned n_running;
};

void daemon_client_init(struct daemon_client *daemon, const char *socket);
void daemon_client_free(struct daemon_client *daemon);

/* A connection for the functions of ctl/ that ask the daemon: ctl prints nothing here. */
struct daemon_session {
	struct daemon_client *daemon;
	struct ctl ctl;
};

/* Waits for its turn. If it fails, there is nothing to end. */
DP_MUSTCHECK int daemon_session_begin(struct daemon_session *s, struct daemon_client *daemon,
				      struct dp_err *err);
void daemon_session_end(struct daemon_session *s);

/* A verb of the protocol, all pages of its answer. Takes the reference `fields`. */
DP_MUSTCHECK int daemon_call(struct daemon_client *daemon, const char *verb, json_t *fields,
			     json_t **ok, struct dp_err *err);
/* All rows of a study's trials, checkpoints before their trial. The caller owns a reference. A
 * page of them at a time is there as JSON. DP_E_LIMIT: they take more than `max_bytes`. */
DP_MUSTCHECK int daemon_fetch_trials(struct daemon_client *daemon, const char *study,
				     size_t max_bytes, struct trial_rows **rows,
				     struct dp_err *err);
/* The same as text: what `trials -o json` prints. */
DP_MUSTCHECK int daemon_append_trials(struct daemon_client *daemon, const char *study,
				      struct dp_buf *out, struct dp_err *err);

/* Some rows of a study's trials in the order of their numbers. */
struct trial_page {
	int64_t from, limit; /* of the rows: the first one, and how many at most */
	bool newest_first;   /* counted from the last row, which comes first */
};

/* A part of the rows, fetched without the others: *rows is an array that the caller owns.
 * *rows is NULL if the daemon does not know how many rows there are. */
DP_MUSTCHECK int daemon_fetch_trial_page(struct daemon_client *daemon, const char *study,
					 const struct trial_page *part, json_t **rows,
					 int64_t *total, struct dp_err *err);
/* The observed front of a study as its first reply has it: the first points in full, the
 * others in "more". */
DP_MUSTCHECK int daemon_fetch_front_head(struct daemon_client *daemon, const char *study,
					 json_t **front, struct dp_err *err);
/* These points of it in full, at most 250; the caller owns the list. Takes the reference
 * `pairs`. */
DP_MUSTCHECK int daemon_fetch_front_points(struct daemon_client *daemon, const char *study,
					   json_t *pairs, json_t **points, struct dp_err *err);
/* A study's status; *summary is borrowed from it. Of a long front it has the first points only. */
DP_MUSTCHECK int daemon_fetch_study(struct daemon_client *daemon, const char *study,
				    json_t **status, const json_t **summary, struct dp_err *err);
/* Waits so many milliseconds for changes of any study after a revision. Takes no turn. */
DP_MUSTCHECK int daemon_wait_changes(struct daemon_client *daemon, int64_t since, int ms,
				     json_t **answer, struct dp_err *err);

#endif
