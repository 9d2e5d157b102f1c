/* executor.h - the interface of executors, which run attempts as processes: one const table for
 * each, one row in executors[].
 *
 * An executor owns j->executor_data. It reports through the functions below, on the loop thread, in
 * this order: job_on_started() or job_on_refused(); job_on_progress() any number of times; then
 * job_on_ended() once no process can write to the attempt's directory, or job_on_never_started() if
 * the attempt was taken back from a queue. After a restart, adopt() leads to job_on_started(),
 * job_on_ended(), job_on_never_started() or job_on_unknown(). Each may be reported within the call
 * or later.
 *
 * An executor never uses the journal: after a restart it finds its data by j->directory, which is
 * unique to the attempt. When the daemon ends, its handles on the loop are closed for it; their
 * callbacks then see d->loop_ended and report nothing. */
#ifndef DP_DAEMON_EXECUTORS_EXECUTOR_H
#define DP_DAEMON_EXECUTORS_EXECUTOR_H
#include "daemon/core/daemon.h"
#include "daemon/studies/study_object.h"

struct job;

/* Why nothing starts now although slots are free: the machine refused the last start (processes,
 * descriptors, space), or the last attempt ended for a reason that the next may meet, too. It
 * delays all studies alike. */
struct launch_hold {
	int64_t until_us; /* clock_now(); 0: not held */
	double seconds;
	char reason[400];
};

struct executor {
	const struct executor_ops *ops;
	struct daemon *daemon;
	void *data;          /* the executor's own, until the daemon ends */
	unsigned n_jobs;     /* including planned ones */
	unsigned n_reserved; /* trials being proposed for it */
	struct launch_hold hold;
};

struct executors {
	struct executor *list;     /* those in use; the last has no ops */
	struct job *jobs;          /* open attempts (job.c) */
	struct job *finished_jobs; /* those to be freed at the end of the turn */
	bool retention_running, retention_kept_logged; /* retention.c */
};

struct executor_ops {
	const char *name;
	/* Its attempts share this machine and have distinct numbers below `slots`. */
	bool uses_slots;
	/* Fills b->data; may be NULL. An error keeps the daemon from starting. */
	int (*open)(struct executor *b, struct dp_err *err);
	void (*close)(struct executor *b);
	/* The loop is about to end: its worker threads must give up. NULL: it has none. */
	void (*stop)(struct executor *b);
	/* How many attempts it runs at once, and a sentence on why not more. */
	unsigned (*capacity)(const struct executor *b);
	void (*explain_full)(const struct executor *b, char *out, size_t room);
	/* The attempt's record is durable: start it now or as soon as possible. An error has the
	 * effect of job_on_refused(). */
	int (*start)(struct executor *b, struct job *j, struct dp_err *err);
	/* Determines the attempt's state after a restart, and repeatedly after job_on_unknown(). */
	void (*adopt)(struct executor *b, struct job *j);
	/* Ends the trainer: TERM, grace time, KILL. May be called repeatedly, and while a start is
	 * in progress, which it then follows. */
	void (*cancel)(struct executor *b, struct job *j);
	/* On a worker thread, when no shim holds the claim but no end is recorded, or the record
	 * says that processes survived: kills what is left. False, with a sentence, if something
	 * survives or cannot be checked; the attempt then stays open and this is called again.
	 * `why` is "" otherwise. NULL: nothing outlives the shim. */
	bool (*kill_orphans)(const struct executor *b, const char *folder, char *why, size_t room);
	/* The shim's record of the end was seen while progress was read. NULL: this executor
	 * detects ends in another way. */
	void (*on_end_recorded)(struct executor *b, struct job *j);
	/* A sentence on why its attempts of the study do not run yet; false: no reason. NULL: its
	 * attempts always run. */
	bool (*explain_waiting)(const struct executor *b, const struct study *study, char *out,
				size_t room);
	void (*tick)(struct executor *b);
	/* Frees j->executor_data of a finished job. Processes keep running. */
	void (*release_handle)(struct executor *b, struct job *j);
};

extern const struct executor_ops executor_local, executor_slurm;
/* All executors, NULL-terminated. The first is the default. */
extern const struct executor_ops *const executors[];

DP_MUSTCHECK int executors_open(struct daemon *d, const struct executor_ops *const *list,
				struct dp_err *err);
void executors_stop(struct daemon *d);
void executors_close(struct daemon *d);
void executors_tick(struct daemon *d);
/* Requests a turn if a hold is over. */
void executors_wake_due(struct daemon *d);
unsigned executor_free_slots(const struct executor *b);
bool executor_is_held(const struct executor *b);
#define HOLD_REASON_NO_START "the machine could not start a trainer"
/* Starts nothing for a while because of `what`, for the reason `why` if known (or NULL). Each hold
 * is longer than the last. */
void executor_hold(struct executor *b, const char *what, const char *why);
/* Called after a normal end: the next hold is short again. */
void executor_release_hold(struct executor *b);
/* The table for studies (attempt_runner.c). */
extern const struct attempt_runner executors_runner;

/* ---- reports from executors (job.c) ---- */

/* A cluster accepted the attempt under the name `place`, which is journaled so that the next daemon
 * can ask for it. Call it before job_on_started(), or when the name changes. */
void job_on_placed(struct job *j, const char *place);
/* The attempt runs or waits in a queue. `where` is for the log: "process 123". */
void job_on_started(struct job *j, const char *where);
/* Sets the location that users see: "Slurm job 314 on n2". */
void job_set_location(struct job *j, const char *where);
/* The class and reason of the end that follows, for an attempt whose shim recorded no end or was
 * told to end it. DP_END_CANCELLED: from outside, which costs no retry. */
void job_set_external_end(struct job *j, enum dp_end_class end, const char *why);
/* Nothing was started. DP_E_IO and DP_E_NOMEM are problems of the machine and cost no retry; other
 * errors are the study's. */
void job_on_refused(struct job *j, const struct dp_err *err);
void job_on_progress(struct job *j);
/* No process can write any more: the files say how the attempt ended. */
void job_on_ended(struct job *j);
/* Nothing ran and nothing will. Costs no retry. */
void job_on_never_started(struct job *j);
/* The state of the attempt is unknown now, and why; adopt() is called again later. Not for a failed
 * poll of a running attempt, which is polled again. */
void job_on_unknown(struct job *j, const char *why);

/* ---- the claim of an attempt (lease.c): a shim makes it before it starts anything. Its holder
 * decides what became of an attempt that no daemon watched. ---- */

enum lease_state {
	LEASE_ACQUIRED, /* by the daemon: nothing ran and nothing will */
	LEASE_HELD,     /* by a living shim; *holder is its pid, possibly on another machine */
	LEASE_RELEASED, /* the shim has ended */
	LEASE_UNKNOWN   /* cannot be read now; see errno */
};
/* Reads the claim, and takes it if it is free. The directory must exist. */
enum lease_state lease_acquire(const char *folder, long *holder);
/* The path of a file kept outside of the attempt's directory, where the trainer does not clean up:
 * "s/trials/7/0" and ".claim" give "s/claims/7.0.claim". The caller frees it. */
char *lease_file_path(const char *folder, const char *what);
/* Makes the directory of those files if it is missing. */
DP_MUSTCHECK int lease_make_directory(const char *folder, struct dp_err *err);
/* True if the claim is visible. Any thread. */
bool lease_exists(const char *folder);
/* False if the shim, which has ended, made no claim and so started nothing. */
bool lease_may_exist(const char *folder);
/* Reads the record of the end from `path`. The text is empty unless the shim that made the claim
 * wrote it, which rules out files that a trainer wrote or copied. Returns 0 or an errno. Any
 * thread. */
int lease_read_end_record(const char *folder, const char *path, struct dp_buf *out);
/* The daemon's record of an attempt whose shim it is about to kill: why, and seconds since 1970.
 * Used if the shim leaves no record. */
struct lease_kill_record {
	bool timeout, cancelled;
	double start, end;
};
DP_MUSTCHECK int lease_write_kill_record(const char *folder, const struct lease_kill_record *k,
					 struct dp_err *err);

/* ---- starting an attempt (launch.c), for all executors ---- */

struct launch_command {
	char **argv, **env; /* of dpareto-shim; NULL-terminated */
};
/* Makes the attempt's directory, empty, and its request file. */
DP_MUSTCHECK int launch_prepare(const struct job *j, struct dp_err *err);
struct launch_options {
	const char *cgroup;    /* parent of the trainer's cgroup; NULL: none */
	const char *shim_path; /* NULL: the one next to the daemon */
	bool is_remote;        /* on another machine, with the directory on a shared disk */
};
void launch_build_attempt(const struct job *j, const struct launch_options *how,
			  struct launch_command *out);
/* Builds the command of an external accountant, which belongs to no attempt. */
void launch_build_accountant(const struct study *study, char *const *program,
			     struct launch_command *out);
void launch_clear(struct launch_command *l);

#endif
