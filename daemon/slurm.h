/* slurm.h - what the files of the Slurm executor share; nobody else includes it. All of
 * it is the loop thread's, but for what a task runs. */
#ifndef DPARETOD_SLURM_H
#define DPARETOD_SLURM_H
#include "daemon/executor.h"
#include "daemon/slurm_command.h"
#include "daemon/slurm_option.h"
#include "daemon/strings.h"

#define SLURM_COMMAND_SECONDS                                                            \
	30.0 /* for an answer of Slurm's; its own limit is below it */

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
	enum slurm_phase phase;
	char name[SLURM_NAME], id[SLURM_ID];
	long task;      /* of an array; -1: a job of its own */
	int64_t since;  /* clock_now() of this phase */
	bool forgotten; /* SLURM_HAS_ENDED: squeue does not know it */
	bool asked;     /* nor does sacct, or it cannot be asked */
	enum slurm_state state;
	char word[40];   /* Slurm's own, of its state */
	char reason[80]; /* why it waits; "" */
	/* cancelling */
	bool cancelling, hard;
	int64_t cancel_at; /* clock_now() from when on scancel is due */
	bool looking;      /* a worker thread has `look` */
	bool take;         /* it takes the claim, if there is none */
	enum look {
		LOOK_RECORDED,
		LOOK_CLAIMED,
		LOOK_NOTHING, /* and nothing can start any more */
		LOOK_UNKNOWN
	} look;
	uv_work_t work;
	char folder[4096];
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
	uv_timer_t gather;
	atomic_bool stop;
	char shim[4096]; /* the copy that nodes see; "": not made yet */
	double pause;    /* seconds until the next question */
	int64_t ask_at;  /* clock_now() */
	bool silent;     /* the last question had no answer */
	bool told_none;  /* that there is no accounting, in the log */
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
bool slurm_task_start(struct slurm_task *t, void (*done)(struct slurm_task *),
		      bool parses);
void slurm_task_clear(struct slurm_task *t);
/* Something happens: Slurm is asked soon, and often for a while. */
void slurm_stir(struct slurm *s);
/* The attempt with a name and a place among ours; NULL without memory. */
struct slurm_job *slurm_job_new(struct backend *b, struct job *j);
/* Frees k, before the last report about its attempt. */
struct job *slurm_forget(struct slurm_job *k);
void slurm_enter(struct slurm_job *k, enum slurm_phase phase);
/* Tells people where it is. */
void slurm_tell_where(struct slurm_job *k, const char *nodes);
/* The gentle way first. */
void slurm_cancel_job(struct slurm_job *k);

/* ---- slurm_submit.c ---- */

DP_MUSTCHECK int slurm_start(struct backend *b, struct job *j, struct dp_err *err);
/* The next of the queue, unless something holds it back. */
void slurm_submit_next(struct slurm *s);

/* ---- slurm_ask.c ---- */

/* Looks at the attempt's files on a worker thread; `take`: and makes the claim, if nobody
 * has. */
void slurm_look(struct slurm_job *k, bool take);
/* The shim recorded the end, whatever Slurm says. */
void slurm_recorded(struct backend *b, struct job *j);
/* What is due: questions to Slurm, and looks at what it says has ended. */
void slurm_ask(struct slurm *s);

#endif
