/* job.h - attempts that this daemon has planned or adopted, until their end is
 * recorded and the turn is over. */
#ifndef DPARETOD_JOB_H
#define DPARETOD_JOB_H
#include "base/sha256.h"
#include "daemon/study.h"
#include "trial/trial.h"

enum job_phase {
	JOB_PLANNED,    /* waits for its record to be durable */
	JOB_ADOPTING,   /* after a restart: its executor looks what became of it */
	JOB_STARTED,    /* its executor has it */
	JOB_UNKNOWN,    /* the executor cannot tell what became of it: asked again */
	JOB_COLLECTING, /* it has ended; its files are being read */
	JOB_OVER,       /* its end is recorded; freed when the turn is over */
};

/* What a worker thread reads of an attempt's files. */
struct job_files {
	struct dp_result *result;
	uint64_t seen;               /* bytes of result.jsonl that `result` has while it runs */
	bool recorded;               /* the record of its end was seen while it ran */
	int not_read;                /* why the file is no result: an errno, or 0 */
	bool removed;                /* its whole folder is not there any more */
	char sha256[DP_SHA256_TEXT]; /* of the whole file; "": there is none */
	struct dp_exit exit;
	char trouble[300];      /* of the machine, which kept it from being read; "" */
	struct dp_err oracle;   /* why its waypoints could not be accounted for; code 0 */
	char last_words[200];   /* the last line on stderr, printable; "" */
	char cannot_start[800]; /* what is wrong with the program, and what to do; "" */
	bool misplaced;         /* no run was reported, but stdout has lines like results */
	char mismatch[300];     /* what the trainer declared against the mechanism; "" */
	char warning[300];      /* what it declared and the number is not proven for; "" */
	/* (nway_privacy) epsilons at its waypoints, those of one after the other; NaN:
	 * not reached by every run, or no answer */
	double *way_privacy;
	uint32_t nway_privacy;
};

struct job {
	struct job *next, **link; /* of d->jobs; what points here */
	struct job *next_over;    /* of d->jobs_over */
	struct dpd *d;
	struct study *home;
	uint32_t trial, attempt;
	int32_t run;  /* DP_RUN_ALL or one run */
	int32_t slot; /* its DPARETO_SLOT, as journaled; -1: none */
	enum job_phase phase;
	char *folder;                                /* absolute */
	char about[DP_NAME_MAX + 1 + DP_TRIAL_NAME]; /* "study/trial" for the log */
	int64_t started;                             /* clock_now() */
	double progress;                             /* as last told; NaN */
	void *handle;                                /* the executor's own */
	char where[120];                             /* for people; "": this machine */
	enum dp_end fate; /* what its executor knows of its end; DP_END_NONE */
	char fate_why[300];

	uv_work_t work; /* reading files, off the loop; one read at a time */
	bool reading;   /* a worker thread has `files` */
	bool cleared;   /* nothing runs under its number */
	bool gone;      /* the attempt has ended: the next read is the last */
	bool final;     /* this read is the last */
	bool ran;       /* its trainer was started, which costs privacy */
	bool way_known; /* another run has told the epsilons of the trial's waypoints */
	bool given_up;  /* the trial was cancelled: nobody needs epsilons that are hard to
			 * come by */
	/* the machine's trouble with it, "" if none, and when it is looked at again */
	char trouble[300];
	double again_seconds;
	int64_t again; /* clock_now() */
	struct job_files files;
	const struct dp_study *spec; /* these two live as long as the attempt is open */
	const double *x;
	double at;     /* as in dp_trial */
	uint32_t runs; /* of the trial */
};

/* What an attempt reported, in the form of its record. */
struct reported {
	const char **names;
	double *metrics;
	uint32_t *runs;
	double waypoints[DP_WAYPOINTS_MAX];
	double *ways;
};

/* ---- job.c ---- */

/* A line of the log about an attempt, unless its study hides which there are. */
#define job_log(j, level, ...)                                                                     \
	do {                                                                                       \
		if (!dp_study_hides((j)->home->state))                                             \
			log_line(&(j)->d->log, level, (j)->about, __VA_ARGS__);                    \
	} while (0)

/* An attempt of the study, in the journal already or about to be. NULL without
 * memory. */
struct job *job_new(struct study *h, uint32_t trial, int32_t run, uint32_t attempt);
/* Plans the attempt that h->next is about and starts it once that is durable; false
 * without memory. */
bool job_launch(struct study *h);
/* After replay: looks what became of an attempt that is open in the journal. */
void job_recover(struct study *h, const struct dp_trial *t, const struct dp_attempt *a);
/* Asks the executors again about what they could not tell, and reads again what could not
 * be read. */
void jobs_ask_again(struct dpd *d);
/* The machine's trouble with an attempt of the study, as a sentence; NULL if none. */
const char *jobs_trouble(const struct study *h, char *out, size_t room);
/* Ends the trainers of a trial; t NULL: of all of the study's. */
void jobs_cancel(struct study *h, const struct dp_trial *t);
/* Its end is recorded: it is freed when the turn is over. */
void job_over(struct job *j);
/* Frees jobs that are over; with `all`, every one. */
void jobs_sweep(struct dpd *d, bool all);
struct dp_trial *job_trial(const struct job *j);

/* ---- job_read.c ---- */

/* Numbers of the runs asked of an attempt; `runs` has room for the trial's. */
uint32_t job_runs(const struct job *j, uint32_t *runs);
/* The waypoints asked of it: none where a point is measured again. How many. */
size_t job_waypoints(const struct job *j, double values[DP_WAYPOINTS_MAX]);
/* A reader for these runs and waypoints; NULL without memory. Any thread. */
struct dp_result *job_result(const struct job *j);
/* Reads what is new in the result file, off the loop; the last time once `gone`. */
void job_read(struct job *j);

/* ---- released.c: studies whose results are seen with noise only ---- */

/* In the form of its record: what is released, and nothing else. False: no memory. */
bool released_fill(const struct job *j, bool counted, struct reported *t, struct dp_event *e);
/* A metric that is no share, which noise does not cover; NULL: all are. */
const char *released_no_share(const struct job *j);
/* In place of a sentence that quotes the trainer. */
void released_why(char *why, size_t room);
/* Once what was recorded so far is durable, what the trainer told and printed goes. */
void released_forget(const struct job *j);
/* At the start: what a daemon that died left of attempts that have ended. */
void released_sweep(struct dpd *d);

/* ---- attempt.c ---- */

/* All files of an ended attempt are read: classifies it and records its end. */
void attempt_over(struct job *j);
/* Does what it reached of its path count, and is there no doubt about it? */
bool attempt_way_counts(const struct job *j, enum dp_end end, bool counted);
/* Records the end of an attempt. counted: it costs a retry. */
void attempt_close(struct job *j, enum dp_end end, bool counted, const char *why);

#endif
