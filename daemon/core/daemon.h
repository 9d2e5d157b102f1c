/* daemon.h - dparetod: one struct, no globals, everything on one loop thread.
 *
 * Flow: requests and ended attempts -> study_record_event() -> journal -> (durable) -> act.
 * study_record_event() changes the state in memory at once, so that decisions are made in one
 * order, but nothing is shown, answered or started before the journal has it. What
 * follows from a record is decided once a turn of the loop, in scheduler.c, by asking
 * lib/course of every study that changed.
 *
 * Unless its header says otherwise, a function of this folder is for the loop thread
 * alone. Worker threads get copies, or what nobody else touches meanwhile. */
#ifndef DP_DAEMON_CORE_DAEMON_H
#define DP_DAEMON_CORE_DAEMON_H
#include "base/base.h"
#include "daemon/core/config/configuration.h"
#include "daemon/core/fd_limits.h"
#include "daemon/core/daemon_log.h"
#include "daemon/core/change_feed.h"
#include "daemon/api/status_cache.h"
#include "journal/journal.h"
#include "state/state.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

struct commit_callback;
struct executor;
struct client;
struct executor_ops;
struct hooks;
struct job;
struct report_writer;
struct daemon_options;
struct study;
struct queued_request;

/* Where the daemon's files are; all absolute. */
struct daemon_paths {
	char *state_dir, *bin_dir, *shim_path, *report_path;
	char *socket_path; /* NULL: none */
};

enum {
	CLIENT_BUCKETS = 256
};

struct daemon {
	uv_loop_t loop;
	bool loop_failed; /* it could not be made */
	struct config config;
	const struct daemon_options *options; /* the command line, read again at a reload */
	struct logger log;
	struct daemon_paths paths;
	int64_t started_us;

	/* clock.c */
	int64_t clock_base_us;
	struct clock_gap *clock_gaps; /* (ngaps) oldest first */
	unsigned n_clock_gaps;

	/* commit_queue.c: what is known, and its way to the disk */
	struct dp_journal *journal;
	struct dp_state state;
	uint32_t next_study_id;
	uint64_t last_ticket; /* of the newest record */
	struct commit_callback *commit_callbacks, **commit_callbacks_end;
	unsigned n_read_only_callbacks; /* of these that only look */
	uv_timer_t read_only_timer;     /* runs while there are any */
	uint64_t durable_ticket;        /* the newest ticket that the journal has confirmed */
	int64_t commit_wait_since_us;   /* dp_monotonic_us() since when it owes an answer */
	bool stall_logged;              /* in the log */
	uv_async_t journal_async;
	bool journal_failing; /* the journal cannot be written at present */

	/* study.c: the homes of all studies, by id */
	struct study **studies;
	uint32_t nstudies, studies_capacity;
	struct study *changed_studies; /* those to look at in this turn */
	struct change_feed change_feed;

	/* job.c, executor.c: attempts under way, and who runs them */
	struct job *jobs;
	struct job *finished_jobs;  /* of these, to be freed when the turn is over */
	struct executor *executors; /* one for each row of executors[] */

	/* scheduler.c */
	uint64_t n_launches;         /* counts launches, for fairness */
	unsigned n_hypervolume_jobs; /* studies that smoothed_hypervolume.c reckons for, at most one
				      */
	unsigned n_accountant_users; /* studies whose oracle programs are asked for points */
	atomic_uint n_accountant_programs; /* oracle programs that run: lib/oracle counts them */
	uv_idle_t sched_idle;

	struct report_writer *report_writer;
	struct hooks *hooks;

	/* housekeeping.c */
	uv_timer_t tick_timer;
	unsigned n_ticks;
	bool disk_low;
	uint64_t disk_free;
	char disk_reason[160];                         /* what there is too little of */
	bool retention_running, retention_kept_logged; /* retention.c */

	/* server.c, client.c */
	struct fd_limits fd_limits;
	uv_poll_t listen_poll;
	int listen_fd;
	uv_timer_t listen_timer;  /* runs while connections cannot be taken */
	unsigned listen_pause_ms; /* how long that was tried for last; 0: they can */
	bool owns_socket, listener_open;
	struct client *clients;
	struct client *client_buckets[CLIENT_BUCKETS]; /* the same, by number */
	unsigned nclients;
	uint64_t last_client_id; /* id of the newest connection */
	size_t client_bytes;     /* that all of them hold */
	/* requests that wait for their turn: with short answers, and with long ones */
	struct request_queue {
		struct queued_request *first, **last;
	} short_requests, long_requests;
	uv_idle_t requests_idle;
	uint64_t n_requests; /* that were handled so far */
	struct status_cache status_cache;

	pthread_mutex_t
		warm_start_mutex; /* origin.c's workers: one reads a state folder at a time */

	/* look.c: one that only looks at a folder records, starts and writes nothing */
	bool is_read_only;
	bool has_writer; /* another process writes the journal that it looks at */
	long writer_pid; /* its number; 0: not known, or there is none */

	/* lifecycle.c */
	uv_timer_t watchdog_timer;
	uv_signal_t sigterm, sigint, sighup;
	enum stop_policy stop_policy;
	bool stopping;
	bool loop_ended; /* the loop has ended; callbacks only clean up */
};

/* ---- lifecycle.c: ordered start, signals, ordered stop ---- */

/* What was said on the command line. */
struct daemon_options {
	const char *state_dir, *socket_path, *log_file;
	int control_fd; /* -1: none */
	bool read_only; /* only look at `state`: look.h */
	struct config_source config_source;
	const struct executor_ops *const *executors; /* NULL: those of executor.c */
	const int64_t *simulated_clock_us; /* clock_now() of a simulation; NULL: the machine's */
};

/* Opens everything up to the point where the loop may run. In either case
 * daemon_close() follows. */
DP_MUSTCHECK int daemon_open(struct daemon *d, const struct daemon_options *s, struct dp_err *err);
/* Journal and state: opened, replayed, and a home for each study. */
DP_MUSTCHECK int daemon_replay_journal(struct daemon *d, struct dp_err *err);
/* Frees what a leak checker would ask about; trainers that were left go on. */
void daemon_close(struct daemon *d);
void daemon_stop(struct daemon *d, enum stop_policy policy, const char *why);
/* While stopping: ends the loop when nothing is left to wait for. */
void daemon_finish_stop_if_idle(struct daemon *d);
/* Reads the configuration again; names what changed. On error the old one stays. */
DP_MUSTCHECK int daemon_reload(struct daemon *d, json_t *changed, struct dp_err *err);

/* ---- clock.c ---- */

/* A time in which no daemon ran, as far as is known, of an hour or more. */
struct clock_gap {
	int64_t end_us, length_us; /* microseconds; when the daemon after it started */
};

/* Starts the clock: at the wall's time, but not before the newest record. */
void clock_start(struct daemon *d);
/* Notes the time for the next daemon, and frees. */
void clock_stop(struct daemon *d);
/* Microseconds that a daemon ran between a time of the records and now. */
int64_t clock_running_time_since(const struct daemon *d, int64_t then);

/* The time for the next daemon. Made on the loop; written wherever waiting does no harm.
 * NULL without memory, which writing and freeing take. */
struct clock_file;
struct clock_file *clock_file_new(const struct daemon *d);
void clock_file_write(const struct clock_file *n);
void clock_file_free(struct clock_file *n);

/* Journals the time of every study that has a limit and runs. Not `counted`: no daemon
 * ran since the study's newest record, as a new daemon has to say before all else. */
void clock_record_study_times(struct daemon *d, bool counted);
/* Microseconds since 1970 as the daemon counts them: from clock_start() on it goes with
 * the machine's monotonic clock, so that no record is older than the one before it,
 * whatever is done to the wall's. */
int64_t clock_now(const struct daemon *d);

#endif
