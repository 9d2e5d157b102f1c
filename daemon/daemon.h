/* daemon.h - dparetod: one struct, no globals, everything on one loop thread.
 *
 * Flow: requests and ended attempts -> record() -> journal -> (durable) -> act.
 * record() changes the state in memory at once, so that decisions are made in one
 * order, but nothing is shown, answered or started before the journal has it. */
#ifndef DPARETOD_H
#define DPARETOD_H
#include "base/base.h"
#include "base/buf.h"
#include "daemon/configuration.h"
#include "daemon/log.h"
#include "journal/journal.h"
#include "journal/state.h"
#include "trial/trial.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <uv.h>

/* ---- jobs: attempts that this daemon has planned or adopted and not yet recorded
 * as ended ---- */

enum job_phase {
	JOB_PLANNED,    /* waits for its record to be durable */
	JOB_RUNNING,    /* its shim lives */
	JOB_COLLECTING, /* its shim has ended; its files are being read */
};

struct dpd;

struct job {
	struct dpd *d;
	struct job *next;
	enum job_phase phase;
	uint32_t study, trial, attempt;
	int32_t run;                  /* DP_RUN_ALL or one run */
	char *folder;                 /* absolute */
	char about[DP_NAME_MAX + 16]; /* "study/trial" for the log */

	pid_t pid; /* of the shim; 0: none */
	int pidfd;
	bool child;      /* ours to reap, not adopted */
	bool cancelling; /* TERM was sent to the shim */
	int64_t started; /* microseconds */
	uv_poll_t poll;  /* on pidfd */

	/* reading the result file, off the loop; one read at a time */
	uv_work_t work;
	bool reading; /* a worker thread has the fields below */
	bool gone;    /* the shim has ended: the next read is the last */
	bool final;   /* this read is the last */
	struct dp_result *result;
	int64_t offset;  /* bytes of result.jsonl given to `result` */
	int not_read;    /* why the file could not be read: an errno, or 0 */
	double progress; /* as last told; NaN */
	struct dp_exit exit;
	char last_words[200]; /* the last line on stderr, printable; "" */
	/* privacy objectives at the trial's point: accountants take their time */
	const struct dp_study *spec; /* live as long as the attempt is open */
	const double *x;
	double privacy[DP_OBJECTIVES_MAX]; /* NaN where none, or it failed */
	char mismatch[300]; /* what the trainer declared against the mechanism; "" */
	char warning[300];  /* what it declared and the number is not proven for; "" */
};

/* ---- the daemon ---- */

/* Something to do once a ticket of the journal is durable. */
struct after {
	struct after *next;
	uint64_t ticket;
	bool looks; /* changes nothing: need not wait while the journal is in trouble */
	void (*fn)(struct dpd *d, void *arg);
	void *arg;
};

/* A trial that may be tried again, but not before a time. */
struct backoff {
	struct backoff *next;
	uint32_t study, trial;
	int64_t until; /* dp_mono_us() */
};

/* A study that goes once its last trainer has ended. */
struct deletion {
	struct deletion *next;
	uint32_t study;
	uint64_t client; /* who gets the answer */
};

struct asker;
struct reporter;
struct client;
struct executor;

struct dpd {
	uv_loop_t loop;
	struct config config;
	const struct config_source *config_source; /* read again by a reload */
	struct logger log;
	char *state_dir, *bin_dir, *shim, *report, *socket_path;
	int64_t started;

	struct dp_journal *journal;
	struct dp_state state;
	uint32_t next_study;
	uint64_t last_ticket; /* of the newest record */
	struct after *after_first, **after_last;
	uv_async_t journal_async;
	bool trouble; /* the journal cannot be written at present */

	const struct executor *executor;
	struct job *jobs;
	unsigned njobs;
	struct backoff *backoffs;
	struct deletion *deletions;
	struct asker *askers;
	struct reporter *reporter;
	unsigned nasking; /* trials being proposed: each will want a slot */
	uint64_t turns;   /* counts launches, for fairness */
	uv_idle_t sched_idle;

	uv_timer_t tick;
	unsigned ticks;
	bool disk_low;
	uint64_t disk_free;
	uv_work_t sweep_work; /* retention */
	bool sweeping;

	uv_pipe_t listener;
	bool listening, listener_open;
	struct client *clients;
	unsigned nclients;
	uint64_t last_client; /* id of the newest connection */

	uv_timer_t watchdog;
	uv_signal_t on_term, on_int, on_hup;
	enum stop_policy stop_policy;
	bool stopping;
	bool closed; /* the loop has ended; callbacks only clean up */
};

/* ---- record.c ---- */

/* Fills in study, seq and time, journals and applies. The event must fit the state:
 * a failure here is a bug or no memory, and ends the daemon before it can act on
 * something that is not recorded. */
void record(struct dpd *d, struct dp_study_state *s, struct dp_event *e);
/* Calls fn when everything recorded so far is durable; at once if it is. */
void after_commit(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg);
/* The same for what only looks: it does not wait for a journal in trouble, because a
 * person then most needs an answer. */
void after_commit_look(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg);
void on_journal(uv_async_t *handle);
void move_study(struct dpd *d, struct dp_study_state *s, enum dp_study_status to,
		bool by_failures, const char *reason);

/* ---- sched.c ---- */

/* Something changed: look, once this turn of the loop, what can be started. */
void sched_kick(struct dpd *d);
void sched_init(struct dpd *d);
/* Why no more of this study's trials are running, as a sentence; NULL if they are. */
const char *sched_why_not(struct dpd *d, struct dp_study_state *s, char *out,
			  size_t room);

/* ---- ask.c: the next point ---- */

/* May another trial be proposed now? */
bool ask_possible(struct dpd *d, const struct dp_study_state *s);
/* Proposes the next trial, at once or when a worker thread has found it; false if
 * nothing was begun. */
bool ask_next(struct dpd *d, struct dp_study_state *s);
/* Journals a point as the study's next trial. */
void ask_record(struct dpd *d, struct dp_study_state *s, const double *x,
		const char *source, uint32_t basis);
/* Answers a client with what would be proposed next, and proposes nothing. */
DP_MUSTCHECK int ask_show(struct dpd *d, struct dp_study_state *s, uint64_t client,
			  struct dp_err *err);
/* Answers a client with the front of the models' values. */
DP_MUSTCHECK int ask_front(struct dpd *d, struct dp_study_state *s, uint64_t client,
			   struct dp_err *err);
/* Is a worker thread at work on the study? It must not be forgotten then. */
bool ask_busy(struct dpd *d, uint32_t study);
void ask_cancel(struct dpd *d, uint32_t study);
/* Gives up the models of a study that is not being worked on. */
void ask_forget(struct dpd *d, uint32_t study);

/* ---- report.c ---- */

/* False without memory. */
DP_MUSTCHECK bool report_start(struct dpd *d);
/* Ends what is being written; the loop has ended. */
void report_stop(struct dpd *d);
/* Starts the next report that is due, unless one is being written. */
void report_poll(struct dpd *d);
/* Is the study's report being written? Its folder must not go then. */
bool report_busy(const struct dpd *d, uint32_t study);
void report_cancel(struct dpd *d, uint32_t study);
void report_forget(struct dpd *d, uint32_t study);
/* Adds "report", the path of one that shows the study as it is now, and
 * "report_error". */
void report_view(struct dpd *d, struct dp_study_state *s, json_t *summary);

/* ---- trial.c: what follows from the end of an attempt ---- */

/* All files of an ended attempt are read: classifies it and goes on from there. */
void attempt_over(struct dpd *d, struct job *j);
/* Records the end of an attempt and what follows from it; frees the job. */
void attempt_close(struct dpd *d, struct job *j, enum dp_end end, bool counted,
		   const char *why);
/* The next run of the trial that needs an attempt (DP_RUN_ALL for all in one);
 * false if none does. */
bool trial_next_run(const struct dp_study_state *s, const struct dp_trial *t,
		    int32_t *run);
/* The trial is not tried again before so many seconds have passed. */
void back_off(struct dpd *d, struct dp_study_state *s, struct dp_trial *t,
	      double seconds);
/* How many trials may still be proposed. */
uint32_t study_proposals(const struct dp_study_state *s);
bool study_time_over(const struct dp_study_state *s);
/* The trial has no open attempt: it ends, if it can. `privacy` are its privacy
 * objectives where they are known (else NaN, or NULL). */
void trial_settle(struct dpd *d, struct dp_study_state *s, struct dp_trial *t,
		  const double *privacy);
void trial_cancel(struct dpd *d, struct dp_study_state *s, struct dp_trial *t);
/* Ends the study if nothing is left to do. */
void study_settle(struct dpd *d, struct dp_study_state *s);

/* ---- job.c ---- */

struct job *job_new(struct dpd *d, struct dp_study_state *s, uint32_t trial, int32_t run,
		    uint32_t attempt);
void job_free(struct job *j);
struct job *job_find(struct dpd *d, uint32_t study, uint32_t trial, int32_t run,
		     uint32_t attempt);
/* Watches the shim behind j->pidfd. */
void job_watch(struct job *j);
/* Reads what is new in the result file, off the loop. */
void job_read(struct job *j);
/* No process can write any more: reads the rest, then attempt_over(). */
void job_collect(struct job *j);
char *study_folder(const struct dpd *d, const char *name);
/* A reader for the runs of this job; also fills `runs` (room for the trial's). */
uint32_t job_runs(const struct dp_study_state *s, int32_t run, uint32_t *runs);

/* ---- executors: how an attempt gets a process. One const table each. ---- */

struct executor {
	const char *name;
	/* The attempt's record is durable: make its folder and start its shim.
	 * On failure the sentence says why; nothing was started. */
	int (*start)(struct job *j, struct dp_err *err);
	/* After a restart: look at a planned attempt. Sets the job's phase:
	 * JOB_RUNNING (adopted and watched) or JOB_COLLECTING (it has ended).
	 * *never_started: nothing ran, and nothing can any more. */
	int (*adopt)(struct job *j, bool *never_started, struct dp_err *err);
	/* Ask the trainer to end: TERM, its grace time, KILL. */
	void (*cancel)(struct job *j);
};
extern const struct executor executor_local;

/* ---- recover.c ---- */

/* After replay: every attempt that is open in the journal is adopted, collected or
 * taken as never started. */
void recover(struct dpd *d);

/* ---- housekeep.c ---- */

void housekeep_start(struct dpd *d);
/* Removes a folder on a worker thread; takes `folder` (NULL: does nothing). */
void remove_later(struct dpd *d, char *folder);

/* ---- server.c, requests.c ---- */

DP_MUSTCHECK int server_start(struct dpd *d, int systemd_fd, struct dp_err *err);
DP_MUSTCHECK int server_add_fd(struct dpd *d, int fd, bool lifeline, struct dp_err *err);
void server_stop(struct dpd *d);
/* Gives the socket's file to socket_group, or back to our own. */
void server_set_group(struct dpd *d);
void server_drop_clients(struct dpd *d);
/* Sends a reply once everything recorded so far is durable. Takes the reference. */
void client_ok(struct dpd *d, uint64_t client, json_t *ok);
void client_error(struct dpd *d, uint64_t client, const struct dp_err *err);
/* Long polls: answers those whose study has changed or whose time is over. */
void client_poll_changes(struct dpd *d);
/* A client waits until the study's version differs from `since`. */
void client_wait(struct dpd *d, uint64_t client, uint32_t study, uint32_t since,
		 int64_t timeout_us);
void request_handle(struct dpd *d, uint64_t client, const char *verb,
		    const json_t *request);
/* Answers requests that wait for trainers to end. */
void requests_poll(struct dpd *d);
json_t *request_status(struct dpd *d, struct dp_study_state *s);

/* ---- notify.c: systemd, where it is ---- */

void notify_state(const char *state);
/* The socket systemd opened for us, or -1; clears the variables. */
int notify_socket(void);
/* Microseconds between watchdog pings, or 0. */
uint64_t notify_watchdog(void);

/* ---- life.c: reload and stop ---- */

void daemon_stop(struct dpd *d, enum stop_policy policy, const char *why);
/* While stopping: ends the loop when nothing is left to wait for. */
void daemon_stop_check(struct dpd *d);
/* Reads the configuration again; names what changed. On error the old one stays. */
DP_MUSTCHECK int daemon_reload(struct dpd *d, json_t *changed, struct dp_err *err);

#endif
