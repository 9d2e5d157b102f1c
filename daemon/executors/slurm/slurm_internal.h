/* slurm_internal.h - types and functions shared by the files of the Slurm executor. Loop thread
 * only, except for what tasks run. */
#ifndef DP_DAEMON_EXECUTORS_SLURM_SLURM_INTERNAL_H
#define DP_DAEMON_EXECUTORS_SLURM_SLURM_INTERNAL_H
#include "daemon/core/background_job.h"
#include "daemon/executors/executor.h"
#include "daemon/executors/job.h"
#include "daemon/executors/slurm/slurm_command.h"
#include "daemon/core/config/config_slurm.h"
#include "daemon/core/argv.h"

#define SLURM_COMMAND_SECONDS 30.0 /* time limit of a command; Slurm's own limit is shorter */

#define SLURM_LOST_SECONDS        30.0 /* until an unlisted job counts as lost */
#define SLURM_STRAY_WATCH_SECONDS 30.0 /* polls for stray jobs */

#define SLURM_LOG_NAME "slurm.log" /* the job's output, in the attempt's directory */

enum slurm_job_phase {
	SLURM_PHASE_QUEUED,
	SLURM_PHASE_SUBMITTING,
	SLURM_PHASE_SEARCHING, /* Slurm may have it or not: the next poll decides */
	SLURM_PHASE_ACTIVE,
	SLURM_PHASE_ENDED /* Slurm says so or does not know it; its files decide */
};

struct slurm_job {
	struct slurm_job *next;
	struct slurm_job *next_queued; /* in the queue, or in the same submission */
	struct slurm_executor *slurm;
	struct job *job;
	uint64_t serial; /* unique, in order of creation */
	enum slurm_job_phase phase;
	char name[SLURM_NAME_LEN], id[SLURM_ID_LEN];
	long task;              /* of an array; -1: not an array */
	int64_t phase_since_us; /* clock_now() */
	enum slurm_state state;
	char state_word[40];  /* Slurm's word for `state` */
	char reason[80];      /* why it waits; "" */
	int64_t last_seen_us; /* clock_now() of the last poll that listed it; 0 */
	bool was_running;
	bool requeued; /* it waits in the queue again */
	/* missing from Slurm: SLURM_PHASE_ENDED */
	bool unknown_to_squeue;  /* squeue does not list it */
	unsigned n_missed_polls; /* consecutive answers of squeue without it */
	bool sacct_asked;        /* sacct was asked, too */
	bool sacct_pending;      /* sacct is being asked */
	bool cancelling;
	int64_t next_cancel_us;   /* clock_now() when scancel is due */
	int64_t term_sent_us;     /* clock_now() of scancel with TERM; 0: not yet */
	int64_t next_check_us;    /* clock_now() of the next check */
	int64_t stopped_since_us; /* clock_now() since SLURM_FILES_MAYBE_STOPPED was seen; 0 */
	bool takes_lease;
	enum slurm_file_state {
		SLURM_FILES_NO_END,
		SLURM_FILES_END_RECORDED,
		SLURM_FILES_MAYBE_STOPPED, /* recorded, but possibly on a request to stop */
		SLURM_FILES_NEVER_STARTED, /* nothing ran and nothing will */
		SLURM_FILES_UNKNOWN        /* unknown now; see check_errno */
	} file_state;
	int check_errno;
	struct background_job files_job;
};

/* A command on a worker thread; one of each kind at a time. */
struct slurm_task {
	struct background_job job;
	struct slurm_executor *slurm;
	bool parse_rows;
	struct argv_list argv;
	char **env;  /* NULL: the daemon's */
	char *input; /* NULL: none */
	struct slurm_output output;
	struct slurm_rows rows;
	int64_t started_us; /* clock_now() */
	void (*on_done)(struct slurm_task *t);
};

struct slurm_executor {
	struct executor *executor;
	struct slurm_job *jobs;
	struct slurm_job *queue, **queue_tail;
	struct slurm_job *submitting; /* the jobs of submit_task */
	struct slurm_task submit_task, poll_task, sacct_task, cancel_task;
	uv_timer_t gather_timer, watch_timer;
	bool watch_running;         /* a worker thread looks for end records */
	unsigned watch_interval_ms; /* until the next look */
	uint64_t serial;
	atomic_bool stop_requested;
	atomic_uint n_orphan_queries; /* worker threads that query processes of an attempt */
	char shim_path[4096];         /* the copy for nodes; "": not made yet */
	double poll_seconds;          /* until the next poll */
	int64_t poll_asked_us, poll_answered_us; /* clock_now() of the last poll with an answer */
	int64_t next_poll_us;                    /* clock_now() */
	int64_t next_sacct_us;                   /* clock_now() of the next query of sacct */
	int64_t poll_until_us;        /* clock_now(): polls continue until then without jobs */
	int64_t unreachable_since_us; /* clock_now() of the first poll without an answer; 0 */
	int64_t stopping_since_us;    /* clock_now() when this daemon began to stop; 0 */
	bool no_accounting_logged;    /* logged that Slurm has no accounting */
	char trouble[300];
	unsigned progress_offset; /* where the last tick stopped checking progress */
};

/* ---- slurm_executor.c ---- */

int64_t slurm_now(const struct slurm_executor *s);
int64_t slurm_time_after(int64_t from, double seconds);
struct slurm_config slurm_get_config(const struct executor *b);
/* Runs t->argv. `done` may start the next task. parses: reads the output as rows. False if t->argv
 * is empty; t is then cleared. */
bool slurm_task_start(struct slurm_task *t, void (*done)(struct slurm_task *), bool parses);
void slurm_task_clear(struct slurm_task *t);
/* Polls Slurm soon, and often for a while. */
void slurm_poll_soon(struct slurm_executor *s);
/* Makes the job of an attempt and links it. */
struct slurm_job *slurm_job_new(struct executor *b, struct job *j);
/* True if the name belongs to a job of one of this daemon's studies. */
bool slurm_name_is_ours(const struct slurm_executor *s, const char *name);
/* Frees k and returns its attempt. Call it before the last report. */
struct job *slurm_job_detach(struct slurm_job *k);
void slurm_job_set_phase(struct slurm_job *k, enum slurm_job_phase phase);
void slurm_job_update_location(struct slurm_job *k, const char *nodes);
/* Cancels with TERM first. */
void slurm_job_cancel(struct slurm_job *k);
/* Cancels pending jobs that belong to no attempt, if scancel is not running. Takes ids. */
void slurm_cancel_strays(struct slurm_executor *s, struct argv_list *ids);

/* ---- slurm_submit.c ---- */

DP_MUSTCHECK int slurm_start(struct executor *b, struct job *j, struct dp_err *err);
/* Submits the next job of the queue, unless something holds it back. */
void slurm_submit_next(struct slurm_executor *s);

/* ---- slurm_poll.c ---- */

/* Starts squeue or sacct if due. */
void slurm_poll_if_due(struct slurm_executor *s);

/* ---- slurm_files.c ---- */

/* Checks the attempt's files on a worker thread; take: also takes the claim if it is free. */
void slurm_files_check(struct slurm_job *k, bool take);
void slurm_on_end_recorded(struct executor *b, struct job *j);
/* Starts due file checks of jobs that have ended or that Slurm does not list. */
void slurm_files_check_due(struct slurm_executor *s);
/* Looks for end records often for a while. */
void slurm_watch_soon(struct slurm_executor *s);

#endif
