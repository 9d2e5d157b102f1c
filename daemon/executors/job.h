/* job.h - attempts that this daemon has planned or adopted, until their end is
 * recorded and the turn is over. */
#ifndef DP_DAEMON_EXECUTORS_JOB_H
#define DP_DAEMON_EXECUTORS_JOB_H
#include "base/sha256.h"
#include "daemon/core/background_job.h"
#include "daemon/executors/executor.h"
#include "protocol/trainer/trainer_protocol.h"

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
	struct dp_result_reader *result;
	uint64_t bytes_read;             /* bytes of result.jsonl that `result` has while it runs */
	bool end_recorded;               /* the record of its end was seen while it ran */
	int result_errno;                /* why the file is no result: an errno, or 0 */
	bool directory_removed;          /* its whole folder is not there any more */
	char sha256[DP_SHA256_HEX_SIZE]; /* of the whole file; "": there is none */
	struct dp_exit_record exit;
	char trouble[300];            /* of the machine, which kept it from being read; "" */
	struct dp_err accountant_err; /* why its waypoints could not be accounted for; code 0 */
	char stderr_tail[200];        /* the last line on stderr, printable; "" */
	char program_error[800];      /* what is wrong with the program, and what to do; "" */
	bool results_on_stdout;       /* no run was reported, but stdout has lines like results */
	char declared_mismatch[300];  /* what the trainer declared against the mechanism; "" */
	char warning[300];            /* what it declared and the number is not proven for; "" */
	/* (nway_privacy) epsilons at its waypoints, those of one after the other; NaN:
	 * not reached by every run, or no answer */
	double *checkpoint_privacy;
	uint32_t n_checkpoint_privacy;
};

struct job {
	struct job *next, **prev_link; /* of executors.jobs; what points here */
	struct job *next_finished;     /* of d->jobs_over */
	struct daemon *daemon;
	struct study *study;
	uint32_t trial, attempt;
	int32_t run;  /* DP_RUN_ALL or one run */
	int32_t slot; /* its DPARETO_SLOT, as journaled; -1: none */
	enum job_phase phase;
	char *directory;                                    /* absolute */
	char log_name[DP_NAME_MAX + 1 + DP_TRIAL_NAME_LEN]; /* "study/trial" for the log */
	int64_t started_us;                                 /* clock_now() */
	double progress;                                    /* as last told; NaN */
	void *executor_data;                                /* the executor's own */
	char location[120];                                 /* for people; "": this machine */
	enum dp_end_class external_end; /* what its executor knows of its end; DP_END_NONE */
	char external_end_reason[300];

	struct background_job reader;  /* while it runs, a worker thread has `files` */
	bool orphans_cleared;          /* nothing runs under its number */
	bool has_ended;                /* the attempt has ended: the next read is the last */
	bool is_final_read;            /* this read is the last */
	bool has_run;                  /* its trainer was started, which costs privacy */
	bool checkpoint_privacy_known; /* another run has told the epsilons of the trial's waypoints
					*/
	bool trial_cancelled; /* the trial was cancelled: nobody needs epsilons that are hard to
			       * come by */
	/* the machine's trouble with it, "" if none, and when it is looked at again */
	char trouble[300];
	double retry_seconds;
	int64_t retry_at_us; /* clock_now() */
	struct job_files files;
	const struct dp_study *spec; /* these two live as long as the attempt is open */
	const double *x;
	enum dp_trial_kind kind;
	double at;     /* as in dp_trial */
	uint32_t runs; /* of the trial */
};

/* What an attempt reported, in the form of its record. */
struct attempt_report {
	const char **metric_names;
	double *metrics;
	uint32_t *runs;
	double checkpoints[DP_CHECKPOINTS_MAX];
	double *checkpoint_metrics;
};

/* ---- job.c ---- */

/* A line of the log about an attempt, unless its study hides which there are. */
#define job_log(j, level, ...)                                                                     \
	do {                                                                                       \
		if (!dp_state_is_private_selection((j)->study->state))                             \
			log_line(&(j)->daemon->log, level, (j)->log_name, __VA_ARGS__);            \
	} while (0)

/* An attempt of the study, in the journal already or about to be. */
struct job *job_new(struct study *study, uint32_t trial, int32_t run, uint32_t attempt);
/* Plans the attempt that study->next_step is about and starts it once that is durable. */
void job_launch(struct study *study);
/* After replay: looks what became of an attempt that is open in the journal. */
void job_recover(struct study *study, const struct dp_trial *t, const struct dp_attempt *a);
/* Asks the executors again about what they could not tell, and reads again what could not
 * be read. */
void jobs_retry_unresolved(struct daemon *d);
/* The machine's trouble with an attempt of the study, as a sentence; false if none. */
bool jobs_describe_trouble(const struct study *study, char *out, size_t room);
/* Ends the trainers of a trial; t NULL: of all of the study's. */
void jobs_cancel(struct study *study, const struct dp_trial *t);
/* May a daemon that stops go, by what its policy says of them? The next one goes on with one in
 * trouble. */
bool jobs_allow_stop(const struct daemon *d);
/* Its end is recorded: it is freed when the turn is over. */
void job_mark_over(struct job *j);
/* Frees jobs that are over; with `all`, every one. */
void jobs_free_finished(struct daemon *d, bool all);
struct dp_trial *job_trial(const struct job *j);

/* ---- attempt_files.c ---- */

/* Numbers of the runs asked of an attempt; `runs` has room for the trial's. */
uint32_t job_list_runs(const struct job *j, uint32_t *runs);
/* The waypoints asked of it: none where a point is measured again. How many. */
size_t job_list_checkpoints(const struct job *j, double values[DP_CHECKPOINTS_MAX]);
/* A reader for these runs and waypoints. Any thread. */
struct dp_result_reader *job_new_result(const struct job *j);
/* Reads what is new in the result file, off the loop; the last time once `gone`. */
void job_read_files(struct job *j);

/* ---- released.c: studies whose results are seen with noise only ---- */

/* In the form of its record: what is released, and nothing else. */
void noisy_release_fill(const struct job *j, bool counted, struct attempt_report *t,
			struct dp_ev_attempt_ended *end);
/* A metric that is no share, which noise does not cover; NULL: all are. */
const char *noisy_release_find_bad_metric(const struct job *j);
/* In place of a sentence that quotes the trainer. */
void noisy_release_redact_reason(char *why, size_t room);
/* Once what was recorded so far is durable, what the trainer told and printed goes. */
void noisy_release_remove_files(const struct job *j);
/* At the start: what a daemon that died left of attempts that have ended. */
void noisy_release_remove_leftovers(struct daemon *d);

/* ---- attempt_end.c ---- */

/* All files of an ended attempt are read: classifies it and records its end. */
void attempt_finish(struct job *j);
/* Does what it reached of its path count, and is there no doubt about it? */
bool attempt_checkpoints_are_valid(const struct job *j, enum dp_end_class end, bool counted);
/* Records the end of an attempt. counted: it costs a retry. */
void attempt_record_end(struct job *j, enum dp_end_class end, bool counted, const char *why);

#endif
