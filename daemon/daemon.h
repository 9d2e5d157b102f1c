/* daemon.h - dparetod: one struct, no globals, everything on one loop thread.
 *
 * Flow: requests and ended attempts -> record() -> journal -> (durable) -> act.
 * record() changes the state in memory at once, so that decisions are made in one
 * order, but nothing is shown, answered or started before the journal has it. What
 * follows from a record is decided once a turn of the loop, in sched.c, by asking
 * lib/course of every study that changed.
 *
 * Unless its header says otherwise, a function of this folder is for the loop thread
 * alone. Worker threads get copies, or what nobody else touches meanwhile. */
#ifndef DPARETOD_H
#define DPARETOD_H
#include "base/base.h"
#include "daemon/configuration.h"
#include "daemon/descriptors.h"
#include "daemon/log.h"
#include "daemon/revision.h"
#include "daemon/status_cache.h"
#include "journal/journal.h"
#include "journal/state.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

struct after;
struct backend;
struct client;
struct executor;
struct hooks;
struct job;
struct reporter;
struct settings;
struct study;
struct todo;

/* Where the daemon's files are; all absolute. */
struct places {
	char *state_dir, *bin_dir, *shim, *report;
	char *socket_path; /* NULL: none */
};

enum {
	CLIENT_BUCKETS = 256
};

struct dpd {
	uv_loop_t loop;
	bool no_loop; /* it could not be made */
	struct config config;
	const struct settings *settings; /* the command line, read again at a reload */
	struct logger log;
	struct places at;
	int64_t started;

	/* clock.c */
	int64_t clock_base;
	struct clock_gap *gaps; /* (ngaps) oldest first */
	unsigned ngaps;

	/* record.c: what is known, and its way to the disk */
	struct dp_journal *journal;
	struct dp_state state;
	uint32_t next_study;
	uint64_t last_ticket; /* of the newest record */
	struct after *after_first, **after_last;
	unsigned looks_waiting; /* of these that only look */
	uv_timer_t look_timer;  /* runs while there are any */
	uint64_t durable;       /* the newest ticket that the journal has confirmed */
	int64_t silent_since;   /* dp_mono_us() since when it owes an answer */
	bool silence_told;      /* in the log */
	uv_async_t journal_async;
	bool trouble; /* the journal cannot be written at present */

	/* study.c: the homes of all studies, by id */
	struct study **studies;
	uint32_t nstudies, studies_room;
	struct study *changed; /* those to look at in this turn */
	struct revisions revisions;

	/* job.c, executor.c: attempts under way, and who runs them */
	struct job *jobs;
	struct job *jobs_over;    /* of these, to be freed when the turn is over */
	struct backend *backends; /* one for each row of executors[] */

	/* sched.c */
	uint64_t turns;           /* counts launches, for fairness */
	unsigned volumes;         /* studies that volume.c reckons for, at most one */
	unsigned asking_programs; /* studies whose oracle programs are asked for points */
	atomic_uint programs;     /* oracle programs that run: lib/oracle counts them */
	uv_idle_t sched_idle;

	struct reporter *reporter;
	struct hooks *hooks;

	/* housekeep.c */
	uv_timer_t tick;
	unsigned ticks;
	bool disk_low;
	uint64_t disk_free;
	char disk_why[160];       /* what there is too little of */
	bool sweeping, told_kept; /* retention.c */

	/* server.c, client.c */
	struct descriptors descriptors;
	uv_poll_t listener;
	int listen_fd;
	uv_timer_t listen_timer;  /* runs while connections cannot be taken */
	unsigned listen_pause_ms; /* how long that was tried for last; 0: they can */
	bool listening, listener_open;
	struct client *clients;
	struct client *client_by_id[CLIENT_BUCKETS]; /* the same, by number */
	unsigned nclients;
	uint64_t last_client; /* id of the newest connection */
	size_t client_bytes;  /* that all of them hold */
	/* requests that wait for their turn: with short answers, and with long ones */
	struct todo_list {
		struct todo *first, **last;
	} todo_short, todo_long;
	uv_idle_t todo_idle;
	uint64_t requests; /* that were handled so far */
	struct status_cache status;

	pthread_mutex_t origins; /* origin.c's workers: one reads a state folder at a time */

	/* look.c: one that only looks at a folder records, starts and writes nothing */
	bool looking;
	bool written; /* another process writes the journal that it looks at */
	long writer;  /* its number; 0: not known, or there is none */

	/* life.c */
	uv_timer_t watchdog;
	uv_signal_t on_term, on_int, on_hup;
	enum stop_policy stop_policy;
	bool stopping;
	bool closed; /* the loop has ended; callbacks only clean up */
};

/* ---- life.c: ordered start, signals, ordered stop ---- */

/* What was said on the command line. */
struct settings {
	const char *state, *socket, *log_file;
	int control_fd; /* -1: none */
	bool look;      /* only look at `state`: look.h */
	struct config_source config;
	const struct executor *const *executors; /* NULL: those of executor.c */
	const int64_t *clock; /* clock_now() of a simulation; NULL: the machine's */
};

/* Opens everything up to the point where the loop may run. In either case
 * daemon_close() follows. */
DP_MUSTCHECK int daemon_open(struct dpd *d, const struct settings *s, struct dp_err *err);
/* Journal and state: opened, replayed, and a home for each study. */
DP_MUSTCHECK int daemon_read_journal(struct dpd *d, struct dp_err *err);
/* Frees what a leak checker would ask about; trainers that were left go on. */
void daemon_close(struct dpd *d);
void daemon_stop(struct dpd *d, enum stop_policy policy, const char *why);
/* While stopping: ends the loop when nothing is left to wait for. */
void daemon_stop_check(struct dpd *d);
/* Reads the configuration again; names what changed. On error the old one stays. */
DP_MUSTCHECK int daemon_reload(struct dpd *d, json_t *changed, struct dp_err *err);

/* ---- clock.c ---- */

/* A time in which no daemon ran, as far as is known, of an hour or more. */
struct clock_gap {
	int64_t end, length; /* microseconds; when the daemon after it started */
};

/* Starts the clock: at the wall's time, but not before the newest record. */
void clock_start(struct dpd *d);
/* Notes the time for the next daemon, and frees. */
void clock_stop(struct dpd *d);
/* Microseconds that a daemon ran between a time of the records and now. */
int64_t clock_ran_since(const struct dpd *d, int64_t then);

/* The time for the next daemon. Made on the loop; written wherever waiting does no harm.
 * NULL without memory, which writing and freeing take. */
struct clock_note;
struct clock_note *clock_note_new(const struct dpd *d);
void clock_note_write(const struct clock_note *n);
void clock_note_free(struct clock_note *n);

/* Journals the time of every study that has a limit and runs. Not `counted`: no daemon
 * ran since the study's newest record, as a new daemon has to say before all else. */
void clock_note_studies(struct dpd *d, bool counted);
/* Microseconds since 1970 as the daemon counts them: from clock_start() on it goes with
 * the machine's monotonic clock, so that no record is older than the one before it,
 * whatever is done to the wall's. */
int64_t clock_now(const struct dpd *d);

#endif
