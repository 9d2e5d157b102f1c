/* daemon.h - what all parts of the daemon share: the loop, the configuration, the journaled state
 * and one opaque pointer for each part.
 *
 * Dependencies go in one direction: core <- studies <- executors, api, notify, with lifecycle.c on
 * top. A lower part calls a higher one through the tables below, which are registered while the
 * daemon opens.
 *
 * Flow: requests and ended attempts -> study_record_event() -> journal -> (durable) -> act. An
 * event changes the state in memory at once, so that decisions have one order. Nothing is shown,
 * answered or started before the journal has it. The scheduler decides what follows once in each
 * turn of the loop (scheduler.c, lib/policy).
 *
 * Functions of daemon/ are for the loop thread unless their header says otherwise. Worker threads
 * get copies, or data that no other thread uses meanwhile. */
#ifndef DP_DAEMON_CORE_DAEMON_H
#define DP_DAEMON_CORE_DAEMON_H
#include "base/base.h"
#include "daemon/core/config/configuration.h"
#include "daemon/core/daemon_log.h"
#include "daemon/core/fd_limits.h"
#include "journal/journal.h"
#include "state/state.h"

#include <jansson.h>
#include <uv.h>

struct daemon;
struct executor_ops;

struct daemon_options {
	const char *state_dir, *socket_path, *log_file;
	int control_fd; /* -1: none */
	bool read_only; /* only answer queries about state_dir */
	struct config_source config_source;
	const struct executor_ops *const *executors; /* NULL: those of executor.c */
	const int64_t *simulated_clock_us;           /* for simulations; NULL: the real clock */
};

struct daemon_paths {
	char *state_dir, *bin_dir, *shim_path, *report_path;
	char *socket_path; /* NULL: none */
};

/* A read-only daemon records, starts and writes nothing. */
struct read_only_mode {
	bool enabled;
	bool has_writer; /* another process writes the journal */
	long writer_pid; /* its pid; 0: unknown or none */
};

/* Free space of the state directory (housekeeping.c). */
struct disk_space {
	bool is_low; /* nothing new starts */
	uint64_t free_bytes;
	char reason[160]; /* says which resource is short */
};

/* Implemented by lifecycle.c. */
struct daemon_ops {
	void (*run_turn)(struct daemon *d);
	void (*stop)(struct daemon *d, enum stop_policy policy, const char *why);
	int (*reload)(struct daemon *d, json_t *changed, struct dp_err *err);
};

/* Implemented by api: sends a reply to a client. The reply to a request that changes something
 * waits until all records so far are durable. Does nothing if the client has gone. */
struct reply_ops {
	void (*ok)(struct daemon *d, uint64_t client_id, json_t *ok); /* takes the reference */
	void (*error)(struct daemon *d, uint64_t client_id, const struct dp_err *err);
};

struct daemon {
	uv_loop_t loop;
	bool loop_failed; /* uv_loop_init() failed */
	bool loop_ended;  /* callbacks only clean up */
	uv_idle_t turn_idle;
	unsigned n_background_jobs; /* running: background_job.c */

	const struct daemon_options *options; /* kept for reloads */
	struct config config;
	struct logger log;
	struct daemon_paths paths;
	struct fd_limits fd_limits;
	int64_t started_us;
	struct read_only_mode read_only;
	struct disk_space disk;
	bool stopping;
	enum stop_policy stop_policy;

	struct dp_journal *journal;
	struct dp_state state; /* changed only by commit_queue_append() */

	const struct daemon_ops *ops;
	const struct reply_ops *replies;
	const struct attempt_runner *attempts; /* implemented by executors */

	struct daemon_clock *clock;
	struct commit_queue *commits;
	struct studies *studies;
	struct report_writer *report_writer;
	struct executors *executors;
	struct hooks *hooks;
	struct clients *clients;
	struct status_cache *status_cache;
	struct server *server;
	struct housekeeping *housekeeping;
	struct lifecycle *lifecycle;
};

void daemon_init_turns(struct daemon *d);
/* Schedules a turn after the callbacks of this round of the loop. */
void daemon_request_turn(struct daemon *d);

#endif
