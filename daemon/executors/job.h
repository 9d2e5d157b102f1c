/* job.h - an open attempt of this daemon: from planning or adoption until its end is recorded. */
#ifndef DP_DAEMON_EXECUTORS_JOB_H
#define DP_DAEMON_EXECUTORS_JOB_H
#include "base/sha256.h"
#include "daemon/core/background_job.h"
#include "daemon/executors/executor.h"
#include "protocol/trainer/trainer_protocol.h"

enum job_phase {
	JOB_PLANNED,    /* waits until its record is durable */
	JOB_ADOPTING,   /* after a restart: the executor looks for it */
	JOB_STARTED,    /* the executor has it */
	JOB_UNKNOWN,    /* the executor cannot find it now and is asked again */
	JOB_COLLECTING, /* it has ended; a worker thread reads its files */
	JOB_OVER,       /* its end is recorded; freed at the end of the turn */
};

/* What a worker thread reads from an attempt's files. */
struct job_files {
	struct dp_result_reader *result;
	uint64_t bytes_read;             /* of result.jsonl, while the attempt runs */
	bool end_recorded;               /* the end was recorded while it ran */
	int result_errno;                /* why the file cannot be read: an errno, or 0 */
	bool directory_removed;          /* the whole directory is gone */
	char sha256[DP_SHA256_HEX_SIZE]; /* of the whole file; "": no file */
	struct dp_exit_record exit;
	char trouble[300];            /* why reading failed on this machine; "" */
	struct dp_err accountant_err; /* why checkpoints have no epsilon; code 0 */
	char stderr_tail[200];        /* last line of stderr, printable; "" */
	char program_error[800];      /* what is wrong with the program, and a hint; "" */
	bool results_on_stdout;      /* no result was reported, but stdout has lines like results */
	char declared_mismatch[300]; /* trainer's declaration against the mechanism; "" */
	char warning[300];           /* declared values that the number is not proven for; "" */
	/* (n_checkpoint_privacy) epsilons at its checkpoints, one objective after the other; NaN:
	 * not reached by every run, or no answer */
	double *checkpoint_privacy;
	uint32_t n_checkpoint_privacy;
};

struct job {
	struct job *next, **prev_link; /* in executors.jobs; the link that points here */
	struct job *next_finished;     /* in executors.finished_jobs */
	struct daemon *daemon;
	struct study *study;
	uint32_t trial, attempt;
	int32_t run;  /* DP_RUN_ALL or one run */
	int32_t slot; /* DPARETO_SLOT, as journaled; -1: none */
	enum job_phase phase;
	char *directory;                                    /* absolute */
	char log_name[DP_NAME_MAX + 1 + DP_TRIAL_NAME_LEN]; /* "study/trial" for the log */
	int64_t started_us;                                 /* clock_now() */
	double progress;                                    /* last reported; NaN */
	void *executor_data;                                /* owned by the executor */
	char location[120];                                 /* for users; "": this machine */
	enum dp_end_class external_end; /* reported by the executor; DP_END_NONE */
	char external_end_reason[300];

	struct background_job reader;  /* while it runs, a worker thread owns `files` */
	bool orphans_cleared;          /* no process of the attempt is left */
	bool has_ended;                /* the attempt has ended: the next read is the last */
	bool is_final_read;            /* the current read is the last */
	bool has_run;                  /* the trainer started, which costs privacy */
	bool checkpoint_privacy_known; /* another run of the trial reported them */
	bool trial_cancelled;          /* the trial was cancelled: do not compute costly epsilons */
	/* a problem of the machine with this attempt, "" if none, and when it is retried */
	char trouble[300];
	double retry_seconds;
	int64_t retry_at_us; /* clock_now() */
	struct job_files files;
	const struct dp_study *spec; /* spec and x live as long as the attempt is open */
	const double *x;
	enum dp_trial_kind kind;
	double at;     /* as in dp_trial */
	uint32_t runs; /* of the trial */
};

struct attempt_report {
	const char **metric_names;
	double *metrics;
	uint32_t *runs;
	double checkpoints[DP_CHECKPOINTS_MAX];
	double *checkpoint_metrics;
};

/* ---- job.c ---- */

/* Logs a line about an attempt, unless it belongs to a private selection. */
#define job_log(j, level, ...)                                                                     \
	do {                                                                                       \
		if (!dp_state_is_private_selection((j)->study->state))                             \
			log_line(&(j)->daemon->log, level, (j)->log_name, __VA_ARGS__);            \
	} while (0)

struct job *job_new(struct study *study, uint32_t trial, int32_t run, uint32_t attempt);
/* Plans the attempt of study->next_step and starts it once that is durable. */
void job_launch(struct study *study);
/* After replay: finds out what became of an attempt that is open in the journal. */
void job_recover(struct study *study, const struct dp_trial *t, const struct dp_attempt *a);
/* Retries attempts in JOB_UNKNOWN, and files that could not be read. */
void jobs_retry_unresolved(struct daemon *d);
/* A sentence on a problem of the machine with an attempt of the study; false if none. */
bool jobs_describe_trouble(const struct study *study, char *out, size_t room);
/* Ends the trainers of a trial; t NULL: of the whole study. */
void jobs_cancel(struct study *study, const struct dp_trial *t);
/* True if the stop policy lets the daemon exit. The next one gets attempts in trouble. */
bool jobs_allow_stop(const struct daemon *d);
/* Marks a job whose end is recorded; it is freed at the end of the turn. */
void job_mark_over(struct job *j);
/* Frees jobs that are over; all: every job. */
void jobs_free_finished(struct daemon *d, bool all);
struct dp_trial *job_trial(const struct job *j);

/* ---- attempt_files.c ---- */

/* Lists the runs of an attempt; `runs` has room for the trial's. */
uint32_t job_list_runs(const struct job *j, uint32_t *runs);
/* Lists the checkpoints of an attempt, none for a re-evaluation. Returns their number. */
size_t job_list_checkpoints(const struct job *j, double values[DP_CHECKPOINTS_MAX]);
/* Makes a reader for these runs and checkpoints. Any thread. */
struct dp_result_reader *job_new_result(const struct job *j);
/* Reads new data of the result file off the loop; the last time if has_ended is set. */
void job_read_files(struct job *j);

/* ---- noisy_release.c: studies that publish results only with noise ---- */

/* Fills the record with the noisy values and nothing else. */
void noisy_release_fill(const struct job *j, bool counted, struct attempt_report *t,
			struct dp_ev_attempt_ended *end);
/* A metric outside [0, 1], which the noise does not cover; NULL: none. */
const char *noisy_release_find_bad_metric(const struct job *j);
/* Replaces a reason that quotes the trainer. */
void noisy_release_redact_reason(char *why, size_t room);
/* Removes the trainer's results and output once all records so far are durable. */
void noisy_release_remove_files(const struct job *j);
/* At start: removes such files of ended attempts that a former daemon left. */
void noisy_release_remove_leftovers(struct daemon *d);

/* ---- attempt_end.c ---- */

/* Classifies an attempt whose files were read, and records its end. */
void attempt_finish(struct job *j);
/* True if its learning curve counts and is not in doubt. */
bool attempt_checkpoints_are_valid(const struct job *j, enum dp_end_class end, bool counted);
/* Records the end of an attempt. counted: it costs a retry. */
void attempt_record_end(struct job *j, enum dp_end_class end, bool counted, const char *why);

#endif
