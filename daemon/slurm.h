/* slurm.h - what the files of the Slurm executor share; nobody else includes it. All of
 * it is the loop thread's, but for what a task runs. */
#ifndef DPARETOD_SLURM_H
#define DPARETOD_SLURM_H
#include "daemon/executor.h"
#include "daemon/slurm_command.h"
#include "daemon/slurm_option.h"
#include "daemon/strings.h"

#define SLURM_COMMAND_SECONDS 30.0 /* for an answer of Slurm's; its own limit is below it */

#define SLURM_FORGOT_SECONDS 30.0 /* until a job that nobody knows is taken for lost */
#define WATCH_SECONDS        30.0 /* for what may turn up in the queue and is not needed */

#define SLURM_LOG "slurm.log" /* in an attempt's folder: what its job itself said */

enum slurm_phase {
	SLURM_QUEUED,     /* waits for its turn to be submitted */
	SLURM_SUBMITTING, /* sbatch runs */
	SLURM_SOUGHT,     /* Slurm may have it, or not: the next answer tells */
	SLURM_HAS_IT,
	SLURM_HAS_ENDED /* Slurm says so, or does not know it: its files tell */
};

/* One attempt. */
struct slurm_job {
	struct slurm_job *next;    /* of all */
	struct slurm_job *waiting; /* the next in the queue, or of the same submission */
	struct slurm *slurm;
	struct job *job;
	uint64_t serial; /* of all that there were */
	enum slurm_phase phase;
	char name[SLURM_NAME], id[SLURM_ID];
	long task;     /* of an array; -1: a job of its own */
	int64_t since; /* clock_now() of this phase */
	/* what Slurm said of it */
	enum slurm_state state;
	char word[40];   /* Slurm's own, of its state */
	char reason[80]; /* why it waits; "" */
	int64_t seen;    /* clock_now() of the last question whose answer named it; 0 */
	bool ran;        /* it was seen on a node */
	bool put_back;   /* and waits in the queue again */
	/* what Slurm did not say: SLURM_HAS_ENDED */
	bool forgotten;  /* squeue does not know it */
	unsigned misses; /* answers of squeue, one after the other, that do not name it */
	bool asked;      /* sacct was asked for it, too */
	bool asking;     /* it is now */
	/* cancelling */
	bool cancelling;
	int64_t cancel_at; /* clock_now() from when on scancel is due */
	int64_t term_at;   /* clock_now() of the gentle one; 0: not yet */
	/* its files */
	int64_t look_at;    /* clock_now() from when on they are looked at again */
	int64_t stopped_at; /* clock_now() since LOOK_STOPPED was seen; 0 */
	bool looking;       /* a worker thread has `look` */
	bool take;          /* it takes the claim, if there is none */
	enum look {
		LOOK_OPEN,     /* no end is recorded */
		LOOK_RECORDED, /* its end is */
		LOOK_STOPPED,  /* its end is, and somebody may have asked for it */
		LOOK_NOTHING,  /* nothing ran, and nothing can start any more */
		LOOK_UNKNOWN   /* it cannot be told at present: look_errno */
	} look;
	int look_errno;
	uv_work_t work;
};

/* A command under way on a worker thread; one of a kind at a time. */
struct slurm_task {
	uv_work_t work;
	struct slurm *slurm;
	bool busy, parses;
	struct strings argv;
	char **env;  /* NULL: the daemon's */
	char *input; /* NULL: none */
	struct slurm_run run;
	struct slurm_rows rows;
	int64_t asked; /* clock_now() when it was begun */
	void (*done)(struct slurm_task *t);
};

struct slurm {
	struct backend *b;
	struct slurm_job *jobs;
	struct slurm_job *queue, **queue_end; /* to be submitted, in order */
	struct slurm_job *submitted;          /* those that `submit` is about */
	struct slurm_task submit, poll, account, cancel;
	uv_timer_t gather, watch;
	bool watching;     /* a worker thread looks for records */
	unsigned watch_ms; /* until the next time */
	uint64_t serial;
	atomic_bool stop;
	atomic_uint leftovers;   /* worker threads that ask for those of an attempt */
	char shim[4096];         /* the copy that nodes see; "": not made yet */
	double pause;            /* seconds until the next question */
	int64_t asked, answered; /* clock_now() of the last one with an answer */
	int64_t ask_at;          /* clock_now() */
	int64_t account_at;      /* clock_now() of the next one of sacct */
	int64_t watch_until;     /* clock_now() until when it is asked though we have none */
	int64_t silent_since;    /* clock_now() of the first without an answer; 0 */
	int64_t stopping_since;  /* clock_now() when this daemon began to stop; 0 */
	bool told_none;          /* that there is no accounting, in the log */
	char trouble[300];
	unsigned looked; /* where the looks of the last tick ended */
};

/* ---- exec_slurm.c ---- */

int64_t slurm_now(const struct slurm *s);
int64_t slurm_after(int64_t from, double seconds);
struct slurm_option slurm_settings(const struct backend *b);
/* Runs t->argv, which is filled; `done` may start the next. With `parses` the answer is
 * read as rows. False, and t empty again: no memory; what is asked for again needs not
 * look. */
bool slurm_task_start(struct slurm_task *t, void (*done)(struct slurm_task *), bool parses);
void slurm_task_clear(struct slurm_task *t);
/* Something happens: Slurm is asked soon, and often for a while. */
void slurm_stir(struct slurm *s);
/* The attempt with a name and a place among ours; NULL without memory. */
struct slurm_job *slurm_job_new(struct backend *b, struct job *j);
/* Is it a job of a study that we have, by its name? */
bool slurm_is_ours(const struct slurm *s, const char *name);
/* Frees k, before the last report about its attempt. */
struct job *slurm_forget(struct slurm_job *k);
void slurm_enter(struct slurm_job *k, enum slurm_phase phase);
/* Tells people where it is. */
void slurm_tell_where(struct slurm_job *k, const char *nodes);
/* The gentle way first. */
void slurm_cancel_job(struct slurm_job *k);
/* The numbers of jobs that wait and that nobody needs, if scancel is free. Takes them. */
void slurm_cancel_strays(struct slurm *s, struct strings *ids);

/* ---- slurm_submit.c ---- */

DP_MUSTCHECK int slurm_start(struct backend *b, struct job *j, struct dp_err *err);
/* The next of the queue, unless something holds it back. */
void slurm_submit_next(struct slurm *s);

/* ---- slurm_ask.c ---- */

/* What is due of questions to Slurm. */
void slurm_ask(struct slurm *s);

/* ---- slurm_files.c ---- */

/* Looks at the attempt's files on a worker thread; `take`: and makes the claim, if nobody
 * has. */
void slurm_look(struct slurm_job *k, bool take);
/* The shim has recorded the end. */
void slurm_recorded(struct backend *b, struct job *j);
/* What is due of looks at what Slurm says has ended, or does not tell about. */
void slurm_look_at_files(struct slurm *s);
/* Something happens: for a while records are looked for often. */
void slurm_watch(struct slurm *s);

#endif
