/* ask.h - questions to the daemon, each over a connection of its own.
 *
 * Most are commands of dparetoctl, run here as they are: what the page is told is what
 * `-o json` prints. Any thread may ask; a few do so at a time, the others wait. */
#ifndef DP_SERVE_DATA_COMMAND_RUNNER_H
#define DP_SERVE_DATA_COMMAND_RUNNER_H
#include "base/base.h"
#include "base/buf.h"
#include "serve/data/trial_rows.h"
#include <jansson.h>
#include <pthread.h>

struct dp_client;

struct command_runner {
	const char *socket; /* of the daemon; NULL: as dparetoctl finds it */
	/* Where tests have a daemon of their own; NULL: at the socket. */
	int (*open_client)(void *arg, struct dp_client **client, struct dp_err *err);
	void *open_client_arg;
	pthread_mutex_t lock;
	pthread_cond_t slot_free; /* a place is */
	unsigned n_running;
};

void command_runner_init(struct command_runner *runner, const char *socket);
void command_runner_free(struct command_runner *runner);

enum {
	COMMAND_MAX_ARGS = 4,
	COMMAND_MAX_OPTIONS = 24
};

struct command_option {
	const char *name, *value; /* as in the command's table; value "" for a flag */
};

/* A command line. */
struct command_line {
	const char *command;
	const char *args[COMMAND_MAX_ARGS]; /* ended by NULL, unless all are there */
	struct command_option options[COMMAND_MAX_OPTIONS];
	size_t n_options;
	const char *via; /* by which way somebody changes something; or NULL */
};

/* Adds what a query gives for an option of the command. DP_E_USAGE if it has none of
 * that name. */
DP_MUSTCHECK int command_line_add_option(struct command_line *a, const char *name,
					 const char *value, struct dp_err *err);
/* Runs it; appends what it prints. */
DP_MUSTCHECK int runner_run_command(struct command_runner *runner, const struct command_line *a,
				    struct dp_buf *out, struct dp_err *err);
/* The same as a value, which the caller owns. */
DP_MUSTCHECK int runner_run_command_json(struct command_runner *runner,
					 const struct command_line *a, json_t **out,
					 struct dp_err *err);
/* A verb of the protocol. Takes the reference `fields`. */
DP_MUSTCHECK int runner_call_verb(struct command_runner *runner, const char *verb, json_t *fields,
				  const char *via, json_t **ok, struct dp_err *err);
/* All rows of a study's trials, waypoints before their trial. The caller owns a
 * reference. A page of them at a time is there as JSON. DP_E_LIMIT: they take more bytes
 * than `most`. */
DP_MUSTCHECK int runner_fetch_trials(struct command_runner *runner, const char *study, size_t most,
				     struct trial_rows **rows, struct dp_err *err);

/* Some rows of a study's trials in the order of their numbers. */
struct trial_page {
	int64_t from, limit; /* of the rows: the first one, and how many at most */
	bool newest_first;   /* counted from the last row, which comes first */
};

/* A part of the rows, fetched without the others: *rows is an array that the caller owns.
 * *rows is NULL if the daemon does not know how many rows there are. */
DP_MUSTCHECK int runner_fetch_trial_page(struct command_runner *runner, const char *study,
					 const struct trial_page *part, json_t **rows,
					 int64_t *total, struct dp_err *err);
/* The observed front of a study as its first reply has it: the first points in full, the
 * others in "more". */
DP_MUSTCHECK int runner_fetch_front_head(struct command_runner *runner, const char *study,
					 json_t **front, struct dp_err *err);
/* These points of it in full, at most 250; the caller owns the list. Takes the reference
 * `pairs`. */
DP_MUSTCHECK int runner_fetch_front_points(struct command_runner *runner, const char *study,
					   json_t *pairs, json_t **points, struct dp_err *err);
/* A study's status; *summary is borrowed from it. Of a long front it has the first points
 * only. */
DP_MUSTCHECK int runner_fetch_study(struct command_runner *runner, const char *study,
				    json_t **status, const json_t **summary, struct dp_err *err);

/* Leaves of a front that is at hand what the options of `front` ask for, as that command
 * does: no daemon is asked. */
DP_MUSTCHECK int command_line_filter_front(const struct command_line *a, json_t *front,
					   const json_t *summary, struct dp_err *err);
/* Waits so many milliseconds for changes of any study after a revision. Takes nobody's
 * turn. */
DP_MUSTCHECK int runner_wait_changes(struct command_runner *runner, int64_t since, int ms,
				     json_t **answer, struct dp_err *err);

#endif
