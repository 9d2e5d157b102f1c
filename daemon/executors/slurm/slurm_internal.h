/* slurm_internal.h - what the files of the Slurm executor share; nobody else includes it. All of
 * it is the loop thread's, but for what a task runs. */
#ifndef DP_DAEMON_EXECUTORS_SLURM_SLURM_INTERNAL_H
#define DP_DAEMON_EXECUTORS_SLURM_SLURM_INTERNAL_H
#include "daemon/core/background_job.h"
#include "daemon/executors/executor.h"
#include "daemon/executors/job.h"
#include "daemon/executors/slurm/slurm_command.h"
#include "daemon/core/config/config_slurm.h"
#include "daemon/core/argv.h"

#define SLURM_COMMAND_SECONDS 30.0 /* for an answer of Slurm's; its own limit is below it */

#define SLURM_LOST_SECONDS        30.0 /* until a job that nobody knows is taken for lost */
#define SLURM_STRAY_WATCH_SECONDS 30.0 /* for what may turn up in the queue and is not needed */

#define SLURM_LOG_NAME "slurm.log" /* in an attempt's folder: what its job itself said */

enum slurm_job_phase {
	SLURM_PHASE_QUEUED,     /* waits for its turn to be submitted */
	SLURM_PHASE_SUBMITTING, /* sbatch runs */
	SLURM_PHASE_SEARCHING,  /* Slurm may have it, or not: the next answer tells */
	SLURM_PHASE_ACTIVE,
	SLURM_PHASE_ENDED /* Slurm says so, or does not know it: its files tell */
};

/* One attempt. */
struct slurm_job {
	struct slurm_job *next;        /* of all */
	struct slurm_job *next_queued; /* the next in the queue, or of the same submission */
	struct slurm_executor *slurm;
	struct job *job;
	uint64_t serial; /* of all that there were */
	enum slurm_job_phase phase;
	char name[SLURM_NAME_LEN], id[SLURM_ID_LEN];
	long task;              /* of an array; -1: a job of its own */
	int64_t phase_since_us; /* clock_now() of this phase */
	/* what Slurm said of it */
	enum slurm_state state;
	char state_word[40];  /* Slurm's own, of its state */
	char reason[80];      /* why it waits; "" */
	int64_t last_seen_us; /* clock_now() of the last question whose answer named it; 0 */
	bool was_running;     /* it was seen on a node */
	bool requeued;        /* and waits in the queue again */
	/* what Slurm did not say: SLURM_PHASE_ENDED */
	bool unknown_to_squeue;  /* squeue does not know it */
	unsigned n_missed_polls; /* answers of squeue, one after the other, that do not name it */
	bool sacct_asked;        /* sacct was asked for it, too */
	bool sacct_pending;      /* it is now */
	/* cancelling */
	bool cancelling;
	int64_t next_cancel_us; /* clock_now() from when on scancel is due */
	int64_t term_sent_us;   /* clock_now() of the gentle one; 0: not yet */
	/* its files */
	int64_t next_check_us;    /* clock_now() from when on they are looked at again */
	int64_t stopped_since_us; /* clock_now() since SLURM_FILES_MAYBE_STOPPED was seen; 0 */
	bool takes_lease;         /* it takes the claim, if there is none */
	enum slurm_file_state {
		SLURM_FILES_NO_END,        /* no end is recorded */
		SLURM_FILES_END_RECORDED,  /* its end is */
		SLURM_FILES_MAYBE_STOPPED, /* its end is, and somebody may have asked for it */
		SLURM_FILES_NEVER_STARTED, /* nothing ran, and nothing can start any more */
		SLURM_FILES_UNKNOWN        /* it cannot be told at present: look_errno */
	} file_state;
	int check_errno;
	struct background_job files_job;
};

/* A command under way on a worker thread; one of a kind at a time. */
struct slurm_task {
	struct background_job job;
	struct slurm_executor *slurm;
	bool parse_rows;
	struct argv_list argv;
	char **env;  /* NULL: the daemon's */
	char *input; /* NULL: none */
	struct slurm_output output;
	struct slurm_rows rows;
	int64_t started_us; /* clock_now() when it was begun */
	void (*on_done)(struct slurm_task *t);
};

struct slurm_executor {
	struct executor *executor;
	struct slurm_job *jobs;
	struct slurm_job *queue, **queue_tail; /* to be submitted, in order */
	struct slurm_job *submitting;          /* those that `submit` is about */
	struct slurm_task submit_task, poll_task, sacct_task, cancel_task;
	uv_timer_t gather_timer, watch_timer;
	bool watch_running;         /* a worker thread looks for records */
	unsigned watch_interval_ms; /* until the next time */
	uint64_t serial;
	atomic_bool stop_requested;
	atomic_uint n_orphan_queries; /* worker threads that ask for those of an attempt */
	char shim_path[4096];         /* the copy that nodes see; "": not made yet */
	double poll_seconds;          /* seconds until the next question */
	int64_t poll_asked_us, poll_answered_us; /* clock_now() of the last one with an answer */
	int64_t next_poll_us;                    /* clock_now() */
	int64_t next_sacct_us;                   /* clock_now() of the next one of sacct */
	int64_t poll_until_us;        /* clock_now() until when it is asked though we have none */
	int64_t unreachable_since_us; /* clock_now() of the first without an answer; 0 */
	int64_t stopping_since_us;    /* clock_now() when this daemon began to stop; 0 */
	bool no_accounting_logged;    /* that there is no accounting, in the log */
	char trouble[300];
	unsigned progress_offset; /* where the looks of the last tick ended */
};

/* ---- slurm_executor.c ---- */

int64_t slurm_now(const struct slurm_executor *s);
int64_t slurm_time_after(int64_t from, double seconds);
struct slurm_config slurm_get_config(const struct executor *b);
/* Runs t->argv, which is filled; `done` may start the next. With `parses` the answer is
 * read as rows. False, and t empty again: no memory; what is asked for again needs not
 * look. */
bool slurm_task_start(struct slurm_task *t, void (*done)(struct slurm_task *), bool parses);
void slurm_task_clear(struct slurm_task *t);
/* Something happens: Slurm is asked soon, and often for a while. */
void slurm_poll_soon(struct slurm_executor *s);
/* The attempt with a name and a place among ours; NULL without memory. */
struct slurm_job *slurm_job_new(struct executor *b, struct job *j);
/* Is it a job of a study that we have, by its name? */
bool slurm_name_is_ours(const struct slurm_executor *s, const char *name);
/* Frees k, before the last report about its attempt. */
struct job *slurm_job_detach(struct slurm_job *k);
void slurm_job_set_phase(struct slurm_job *k, enum slurm_job_phase phase);
/* Tells people where it is. */
void slurm_job_update_location(struct slurm_job *k, const char *nodes);
/* The gentle way first. */
void slurm_job_cancel(struct slurm_job *k);
/* The numbers of jobs that wait and that nobody needs, if scancel is free. Takes them. */
void slurm_cancel_strays(struct slurm_executor *s, struct argv_list *ids);

/* ---- slurm_submit.c ---- */

DP_MUSTCHECK int slurm_start(struct executor *b, struct job *j, struct dp_err *err);
/* The next of the queue, unless something holds it back. */
void slurm_submit_next(struct slurm_executor *s);

/* ---- slurm_poll_start.c ---- */

/* What is due of questions to Slurm. */
void slurm_poll_if_due(struct slurm_executor *s);

/* ---- slurm_files.c ---- */

/* Looks at the attempt's files on a worker thread; `take`: and makes the claim, if nobody
 * has. */
void slurm_files_check(struct slurm_job *k, bool take);
/* The shim has recorded the end. */
void slurm_on_end_recorded(struct executor *b, struct job *j);
/* What is due of looks at what Slurm says has ended, or does not tell about. */
void slurm_files_check_due(struct slurm_executor *s);
/* Something happens: for a while records are looked for often. */
void slurm_watch_soon(struct slurm_executor *s);

#endif
