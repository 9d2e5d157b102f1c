/* executor.h - how an attempt gets a process: one const table an executor, one row in
 * executors[].
 *
 * An executor owns what j->handle points to and reports through the functions below,
 * on the loop thread, in this order: job_on_started() or job_on_refused(); job_on_progress() as
 * often as it likes; job_on_ended() once no process can write to the attempt's folder any
 * more, or job_on_never_started() if it was taken back from a queue. After a restart
 * adopt() leads to job_on_started(), job_on_ended(), job_on_never_started() or job_on_unknown().
 * Each may be reported from within the call or later. It never touches the journal:
 * what it wants to know after a restart it finds by j->folder, which no other attempt
 * has. Its handles on the loop are closed for it when the daemon ends; their callbacks
 * then see d->loop_ended and report nothing. */
#ifndef DP_DAEMON_EXECUTORS_EXECUTOR_H
#define DP_DAEMON_EXECUTORS_EXECUTOR_H
#include "daemon/core/daemon.h"
#include "daemon/studies/study_object.h"

struct job;

/* Why nothing is started at present though there is room: the machine refused the last
 * start (out of processes, descriptors, space), or what was started came to nothing for a
 * reason that the next one may meet, too. It delays every study alike. */
struct launch_hold {
	int64_t until_us; /* clock_now(); 0: nothing is held */
	double seconds;
	char reason[400];
};

/* An executor in use. */
struct executor {
	const struct executor_ops *ops;
	struct daemon *daemon;
	void *data;          /* the executor's own, for as long as the daemon runs */
	unsigned n_jobs;     /* that it has, planned ones too */
	unsigned n_reserved; /* trials being proposed that it will get */
	struct launch_hold hold;
};

/* What d->executors points to. */
struct executors {
	struct executor *list;     /* one for each that is in use; the last has no ops */
	struct job *jobs;          /* attempts under way (job.c), */
	struct job *finished_jobs; /* and of these, those to be freed when the turn is over */
	bool retention_running, retention_kept_logged; /* retention.c */
};

struct executor_ops {
	const char *name;
	/* Its attempts share this machine: each has a number below `slots` of the
	 * configuration that no other of them has while it is open (DPARETO_SLOT). */
	bool uses_slots;
	/* Fills b->self; NULL: there is nothing to. With an error no daemon starts. */
	int (*open)(struct executor *b, struct dp_err *err);
	void (*close)(struct executor *b);
	/* The loop is about to end: worker threads of its own give up what they wait
	 * for. NULL: it has none. */
	void (*stop)(struct executor *b);
	/* How many attempts it takes at once; the sentence says why no more. */
	unsigned (*capacity)(const struct executor *b);
	void (*explain_full)(const struct executor *b, char *out, size_t room);
	/* The attempt's record is durable: start it, now or as soon as can be. An error
	 * is the same as job_on_refused() with it. */
	int (*start)(struct executor *b, struct job *j, struct dp_err *err);
	/* After a restart, and twice a second after job_on_unknown() until there is another
	 * answer: what became of it? */
	void (*adopt)(struct executor *b, struct job *j);
	/* Ask the trainer to end: TERM, its grace time, KILL. More than once is fine.
	 * It may come while a start is under way: then it is for later. */
	void (*cancel)(struct executor *b, struct job *j);
	/* On a worker thread, once no shim has the attempt but none recorded its end, or
	 * recorded that something lives on: ends what is left of it, wherever it is.
	 * False if that does not end, or cannot be told, with a sentence, which is ""
	 * otherwise: asked again later, and the attempt is open until then. NULL: nothing
	 * outlives its shim. */
	bool (*kill_orphans)(const struct executor *b, const char *folder, char *why, size_t room);
	/* The shim's record of the end was seen, while its progress was read. NULL: this
	 * executor learns of ends in another way. */
	void (*on_end_recorded)(struct executor *b, struct job *j);
	/* Why attempts of the study that it has do not run yet, as a sentence; false if
	 * there is nothing to say. NULL: what it has runs. */
	bool (*explain_waiting)(const struct executor *b, const struct study *study, char *out,
				size_t room);
	/* Called twice a second. */
	void (*tick)(struct executor *b);
	/* The job is over, or the loop has ended: frees j->handle, if it is set; what
	 * runs goes on. */
	void (*release_handle)(struct executor *b, struct job *j);
};

extern const struct executor_ops executor_local, executor_slurm;
/* All executors; ends with NULL. The first is the default. */
extern const struct executor_ops *const executors[];

DP_MUSTCHECK int executors_open(struct daemon *d, const struct executor_ops *const *list,
				struct dp_err *err);
void executors_stop(struct daemon *d);
void executors_close(struct daemon *d);
void executors_tick(struct daemon *d);
/* A turn, if something is not held back any more. */
void executors_wake_due(struct daemon *d);
/* How many more attempts it takes now. */
unsigned executor_free_slots(const struct executor *b);
bool executor_is_held(const struct executor *b);
#define HOLD_REASON_NO_START "the machine could not start a trainer"
/* It starts nothing for a while, because of what happened, and why it did where that is known (or
 * NULL); longer each time. */
void executor_hold(struct executor *b, const char *what, const char *why);
/* An attempt ended as it should: the next hold is short again. */
void executor_release_hold(struct executor *b);
/* What studies need of all this (attempt_runner.c). */
extern const struct attempt_runner executors_runner;

/* ---- what an executor reports (job.c) ---- */

/* A cluster took it and knows it by this: journaled, so that the next daemon asks for it.
 * Before job_on_started(), or when it is found again under another name. */
void job_on_placed(struct job *j, const char *place);
/* It runs, or waits in a queue; `where` is for the log: "process 123". */
void job_on_started(struct job *j, const char *where);
/* For people: where it is now, "Slurm job 314 on n2". */
void job_set_location(struct job *j, const char *where);
/* What the executor knows of the end that comes next, if the shim recorded none or was
 * told to end it: a class and a sentence. DP_END_CANCELLED: from outside, which costs the
 * trial nothing. */
void job_set_external_end(struct job *j, enum dp_end_class end, const char *why);
/* It could not be started, and nothing was. DP_E_IO and DP_E_NOMEM are the machine's
 * trouble and cost the trial nothing; anything else is the study's. */
void job_on_refused(struct job *j, const struct dp_err *err);
/* There may be something new in its result file. */
void job_on_progress(struct job *j);
/* No process can write any more: its files say how it ended. */
void job_on_ended(struct job *j);
/* Nothing ran, and nothing can any more. It costs the trial nothing. */
void job_on_never_started(struct job *j);
/* It cannot be told at present, and why: adopt() is called again later. Of an attempt
 * that runs, a poll that failed is no reason: it is polled again. */
void job_on_unknown(struct job *j, const char *why);

/* ---- the claim of an attempt (lease.c), which a shim makes before it starts anything:
 * who has it tells what became of an attempt that nobody watched ---- */

enum lease_state {
	LEASE_ACQUIRED, /* the daemon took it: nothing ran, and nothing can any more */
	LEASE_HELD,     /* a shim lives; *holder is its process, on whatever machine */
	LEASE_RELEASED, /* its shim has ended */
	LEASE_UNKNOWN   /* cannot be told at present: errno says why */
};
/* Looks, and takes the claim if nobody has. The folder is there. */
enum lease_state lease_acquire(const char *folder, long *holder);
/* A file of the attempt outside of its folder, out of its trainer's way: "s/trials/7/0"
 * and ".claim" are "s/claims/7.0.claim". The caller frees it; NULL without memory. */
char *lease_file_path(const char *folder, const char *what);
/* Makes the folder of those files, if it is not there. */
DP_MUSTCHECK int lease_make_directory(const char *folder, struct dp_err *err);
/* A shim, or a daemon, has made it, as far as can be seen. Any thread. */
bool lease_exists(const char *folder);
/* False: its shim, which has ended, claimed nothing, and so started nothing. */
bool lease_may_exist(const char *folder);
/* The record of the attempt's end that this file holds. It is only one if the shim that
 * made the claim wrote it: what a trainer wrote, or copied from another attempt, gives an
 * empty text. 0 or an errno. Any thread. */
int lease_read_end_record(const char *folder, const char *path, struct dp_buf *out);
/* The daemon's own record of an attempt whose shim it is about to kill: why, and seconds
 * since 1970. It counts where the shim leaves none. */
struct lease_kill_record {
	bool timeout, cancelled;
	double start, end;
};
DP_MUSTCHECK int lease_write_kill_record(const char *folder, const struct lease_kill_record *k,
					 struct dp_err *err);

/* ---- what an attempt is given (launch.c), whoever starts it ---- */

struct launch_command {
	char **argv, **env; /* of the wrapper, dpareto-shim; each ends with NULL */
};
/* Makes the attempt's folder, anew, and its request. */
DP_MUSTCHECK int launch_prepare(const struct job *j, struct dp_err *err);
/* What an executor has to say about it. */
struct launch_options {
	const char *cgroup;    /* below which the trainer gets one of its own; NULL: none */
	const char *shim_path; /* the wrapper; NULL: the one beside the daemon */
	bool is_remote;        /* on another machine, with the folder on a shared disk */
};
void launch_build_attempt(const struct job *j, const struct launch_options *how,
			  struct launch_command *out);
/* The same for an external accountant of the study, which belongs to no attempt. */
void launch_build_accountant(const struct study *study, char *const *program,
			     struct launch_command *out);
void launch_clear(struct launch_command *l);

#endif
