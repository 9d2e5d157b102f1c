/* state.h - the state of all studies, as a fold of the journal.
 *
 * The daemon, the reports and the tools all build it with dp_state_apply(), one event after the
 * other, so they cannot disagree. */
#ifndef DP_STATE_STATE_H
#define DP_STATE_STATE_H
#include "base/base.h"
#include "journal/journal.h"
#include "study/study.h"
#include "privacy/composition/adaptive_composition.h"

/* The texts are journaled and part of the contract. */
#define DP_STUDY_STATES(X)                                                                         \
	X(RUNNING, "running")                                                                      \
	X(PAUSED, "paused")                                                                        \
	X(FINISHED, "finished")                                                                    \
	X(FAILED, "failed")                                                                        \
	X(STOPPED, "stopped")

enum dp_study_status {
#define X(name, text) DP_STUDY_##name,
	DP_STUDY_STATES(X)
#undef X
};

/* States of a trial. The machine (docs/architecture.md draws it):
 *   waiting -> running -> ok | diverged | failed | cancelled
 *   running -> waiting   an attempt ended that may be tried again
 *   failed, cancelled -> waiting   a person asked for a retry */
#define DP_TRIAL_STATES(X)                                                                         \
	X(WAITING, "waiting")                                                                      \
	X(RUNNING, "running")                                                                      \
	X(OK, "ok")                                                                                \
	X(DIVERGED, "diverged")                                                                    \
	X(FAILED, "failed")                                                                        \
	X(CANCELLED, "cancelled")

enum dp_trial_status {
#define X(name, text) DP_TRIAL_##name,
	DP_TRIAL_STATES(X)
#undef X
};

const char *dp_study_status_text(enum dp_study_status s);
const char *dp_trial_status_text(enum dp_trial_status s);

/* One planned process of a trial. Times are in microseconds; 0: unknown. */
struct dp_attempt {
	int32_t run; /* DP_RUN_ALL or one run */
	uint32_t number;
	int32_t slot;                /* DPARETO_SLOT; -1: none */
	enum dp_end_class end_class; /* DP_END_NONE: planned or running */
	enum dp_exit_kind exit_kind;
	int exit_value;
	bool charged;                             /* counts as a retry */
	bool never_ran;                           /* it is certain that nothing ran */
	int64_t planned_us, started_us, ended_us; /* ended_us: by the trainer's clock if known */
	int64_t recorded_us;                      /* when the end was journaled */
	float cpu_seconds;
	uint64_t peak_memory;
	char *message; /* or NULL */
	char *job_id;  /* given by the executor, or NULL */
};

/* The checkpoints of a learning curve (trainer.path): the results of the training with smaller
 * values of the path parameter. A run has a NaN for a metric that it did not report. */
struct dp_checkpoints {
	uint32_t count;
	uint32_t nmetrics;  /* columns of the metric tables: the study's first nmetrics */
	double *values;     /* (count) path parameter, ascending */
	double *objectives; /* (count x nobjectives), natural units; NaN: unknown */
	/* (count x dp_trial_values_per_metric() x nmetrics); NULL once no retry is possible. */
	double *run_metrics;
	/* (count x nmetrics), set while the trial has ended: the mean of each metric over the runs
	 * and the variance of that mean, as dp_trial_metric_mean() and
	 * dp_trial_metric_mean_variance(). */
	double *metric_means, *metric_variances;
};

struct dp_trial {
	enum dp_trial_kind kind;
	uint32_t index;  /* among the trials of its kind */
	uint32_t number; /* number in records and requests: see enum dp_trial_kind */
	enum dp_trial_status status;
	bool cancel_requested;
	uint32_t conditioned_on; /* see trial-proposed in journal.h */
	double proposal_seconds; /* likewise; 0: unknown */
	char source[16];
	uint32_t runs;  /* requested: trainer.runs, or the share of a re-evaluation */
	double *x;      /* (nparams) */
	double stop_at; /* path value of a re-evaluated checkpoint; NaN: as x says */
	/* (nobjectives) epsilon of the privacy objectives, NaN for the others. NULL once
	 * `objectives` has them, and for trials that version 0.1 proposed. */
	double *privacy;
	double renyi_per_run; /* K of one run at the filter's order; NaN: no budget */
	char *refusal_reason; /* why an accountant has no answer at x, or NULL */
	double *objectives;   /* (nobjectives), or NULL: unknown */
	double *metrics;      /* (dp_trial_values_per_metric() x nmetrics), NULL; NaN: missing */
	uint32_t nmetrics;    /* columns of `metrics`: the study's first nmetrics */
	struct dp_checkpoints *checkpoints; /* NULL: no checkpoint was reached */
	struct dp_attempt *attempts;
	uint32_t nattempts;
	uint32_t open_attempts; /* planned and not ended */
	char *reason;           /* why it failed or diverged, or NULL */
	int64_t proposed_us, ended_us;
};

/* A result: the final one of a trial, or a checkpoint, which can be one however the trial ended. */
struct dp_result_id {
	uint32_t trial;
	int32_t checkpoint; /* position among the trial's checkpoints, or DP_CHECKPOINT_FINAL */
};
enum {
	DP_CHECKPOINT_FINAL = -1
};

/* A re-evaluation of one point, by trials of at most trainer.runs runs each. */
struct dp_reeval {
	char source[16]; /* "remeasure", "verify", "end" (search.remeasure) */
	/* The re-evaluated result; NaN: not a result of this study, or a final one. */
	double trial, checkpoint_value;
	uint32_t runs;                 /* of all its trials */
	uint32_t first_trial, ntrials; /* positions in dp_reevals.trials */
};

/* All re-evaluations (reducer_reeval.c, reeval_stats.c). Their trials are not part of the search:
 * no proposal and no result of the search depends on them. Only their privacy cost counts. */
struct dp_reevals {
	struct dp_reeval *items; /* (count) */
	uint32_t count;
	struct dp_trial **trials; /* (ntrials), by number; numbers may have gaps */
	uint32_t ntrials;
	uint32_t first_unfinished; /* all trials before this position have ended */
	uint32_t first_untouched;  /* no trial from this position on has an event */
	uint32_t open_attempts, waiting_trials, consecutive_failures; /* as in dp_study_state */
	uint32_t batch_start; /* first item since nothing was pending */
	/* The study had ended with this status when the re-evaluation was requested. It returns to
	 * it at the end of the re-evaluations; until then nothing is searched. */
	bool has_resume_state;
	enum dp_study_status resume_state;
	char *resume_reason;
	bool resume_by_failures;
	/* search.remeasure has requested the front of this version of the results. */
	bool final_requested;
	uint32_t final_results_version;
	char *final_reason; /* which points it left out, and why; NULL */
};

/* Fixed before the first run, to prove the total privacy loss of the search. */
struct dp_accounting {
	struct dp_odometer odometer;
	struct dp_filter filter; /* all 0 without search.budget */
};

/* How many attempts with a result declared which property of their training. A declaration that
 * contradicts the study's mechanism makes the attempt fail, so it is not counted here. */
struct dp_declarations {
	uint32_t attempts; /* with a result */
	uint32_t sampling, records, lot, steps, noise_over_clip;
	/* Of those that declared their sampling. No mechanism proves an epsilon for shuffling. */
	uint32_t shuffled;
};

/* A result of another study that this one starts from (search.initial_from). */
struct dp_imported_result {
	double *x, *objectives;
};

enum {
	DP_FAILED_TRIALS_MAX = 10,
	DP_FRONT_ADDED_MAX = 64
};

struct dp_study_state {
	uint32_t id;
	char *text, *path, *dir;
	char *secret;          /* base/secret.h; NULL: not needed */
	struct dp_study *spec; /* as created; never changes: worker threads read it */
	/* `spec` with later changes; limits are read from it, on the reducer's thread only. A
	 * pointer to it stays valid as long as the study's state. */
	const struct dp_study *current_spec;
	struct dp__spec_version *spec_versions; /* all versions of current_spec but the first */
	bool seeds_exposed; /* trials had fixed seeds while the data was private */
	bool had_max_time;  /* has, or had, a search.max_time */
	enum dp_study_status status;
	char *reason;
	char *moved_by;         /* user who requested the status; NULL: none, or unknown */
	bool moved_by_failures; /* paused or failed by itself: exit code 6 */
	/* `dparetoctl set` may have changed these, too. They are not in current_spec. */
	uint32_t evaluations, parallel;
	int priority;
	char *budget_end_reason; /* why no more than ntrials can be proposed, or NULL */

	struct dp_trial **trials; /* (ntrials), by number */
	uint32_t ntrials, capacity;
	uint32_t first_unfinished;     /* all trials before this one have ended */
	uint32_t ok, diverged, failed; /* failed: includes cancelled */
	uint32_t open_attempts;        /* planned and not ended, over all search trials */
	uint32_t waiting_trials;       /* search trials with DP_TRIAL_WAITING */
	uint32_t first_waiting;        /* no trial before this one is waiting */
	uint32_t consecutive_failures;
	/* The highest numbers of trials with a failed attempt, descending. */
	uint32_t newest_failed[DP_FAILED_TRIALS_MAX], nnewest_failed;
	/* Trial whose trainer could not start since the study last began to run; -1: none. */
	int64_t blocked_trial;
	struct dp_accounting *accounting; /* NULL: not journaled */
	/* K of all planned attempts, started or not: at least what is spent. +inf without a
	 * budget. */
	double planned_renyi;
	struct dp_declarations declarations;
	struct dp_imported_result *imported; /* (nimported) */
	uint32_t nimported;
	struct dp_reevals reevals;
	char **metrics; /* (nmetrics) names seen so far */
	uint32_t nmetrics;
	uint32_t next_seq; /* of the next event */
	/* A record cannot be read: paused, `reason` says why, no event may be added. */
	bool quarantined;
	int64_t created_us, updated_us;
	/* Microseconds up to updated_us that the study was running under a daemon: the time between
	 * two records while it ran, minus what a time-noted record excludes. */
	int64_t active_us;

	uint32_t study_records;              /* created, moved and amended records */
	int64_t last_study_record_us;        /* time of the newest of these */
	uint32_t changes;                    /* counts all changes, also those without a record */
	struct dp__public_view *public_view; /* of dp_state_public_view(), or NULL */

	uint32_t results_version; /* changes whenever the results change */
	/* Cached by dp_state_update_front(); invalid while front_valid is false. */
	bool front_valid;
	struct dp_result_id *front;          /* (nfront) in the contract's order */
	struct dp_result_id *front_by_trial; /* the same points by trial; in front's memory */
	uint32_t nfront;
	double hypervolume;
	/* front_is_extendable: since `front` was computed, the results of added_trials were added
	 * and nothing else about the results changed. */
	bool front_is_extendable;
	uint32_t added_trials[DP_FRONT_ADDED_MAX], nadded_trials;
};

/* A study whose first record cannot be read. */
struct dp_unreadable_study {
	uint32_t study;
	char *reason;
};

struct dp_state {
	struct dp_study_state **studies; /* by id */
	uint32_t nstudies, capacity;
	struct dp_unreadable_study *unreadable; /* (nunreadable), from dp_state_replay_tolerant() */
	uint32_t nunreadable;
};

void dp_state_free(struct dp_state *s);
/* Applies one event. Returns DP_E_CORRUPT with a message if the event does not fit the state, which
 * is then unchanged as far as the next event is concerned. */
DP_MUSTCHECK int dp_state_apply(struct dp_state *s, const struct dp_event *e, struct dp_err *err);
/* Applies a whole journal (study 0: all studies). */
DP_MUSTCHECK int dp_state_replay(struct dp_state *s, struct dp_journal *j, uint32_t study,
				 struct dp_err *err);
/* Opens the journal in the directory `dir` read-only and replays it as dp_state_replay_tolerant()
 * does. Writes nothing, so it works while a daemon runs, without one, and on a read-only disk.
 * Never call it for a directory that this process writes: LMDB cannot open a file twice. If j is
 * NULL, the journal is closed before the return. On error there is nothing to free. */
DP_MUSTCHECK int dp_state_open_readonly(struct dp_state *s, const char *dir, struct dp_journal **j,
					struct dp_err *err);
/* Applies all studies. A study with a record that cannot be read or does not fit is quarantined
 * with the state before that record; the others are complete. */
DP_MUSTCHECK int dp_state_replay_tolerant(struct dp_state *s, struct dp_journal *j,
					  struct dp_err *err);
/* True if no study is quarantined or unreadable. */
bool dp_state_is_intact(const struct dp_state *s);
void dp_state_remove_study(struct dp_state *s, uint32_t study);

struct dp_study_state *dp_state_get_study(const struct dp_state *s, uint32_t id);
/* Finds a study by name, number, or an unambiguous prefix of a name. */
DP_MUSTCHECK int dp_state_find_study(const struct dp_state *s, const char *selector,
				     struct dp_study_state **out, struct dp_err *err);
/* Requires dp_state_update_front(). */
bool dp_result_is_on_front(const struct dp_study_state *s, struct dp_result_id p);
/* Finds search trials and re-evaluations; NULL: no such trial. */
struct dp_trial *dp_state_find_trial(const struct dp_study_state *s, uint32_t number);
/* The name in messages: "7", or "m7" of a re-evaluation. Returns `out`. */
enum {
	DP_TRIAL_NAME_LEN = 16
};
const char *dp_trial_format_name(uint32_t trial, char out[DP_TRIAL_NAME_LEN]);
/* Values per metric: one for each run, or the single released one. */
int dp_trial_values_per_metric(const struct dp_study_state *s, const struct dp_trial *t);
/* Of the search and of re-evaluations. */
uint32_t dp_state_count_open_attempts(const struct dp_study_state *s);

/* ---- private selections: see state/public_view.h ---- */

/* The trial that a finished private selection publishes; NULL: no trial has a result. */
const struct dp_trial *dp_state_selected_trial(const struct dp_study_state *s);
/* True if the number of trials and all but the selected one are secret. */
bool dp_state_is_private_selection(const struct dp_study_state *s);

/* Trials that used up one of `evaluations`. */
uint32_t dp_state_count_ended_trials(const struct dp_study_state *s);
/* As dp_study_seeds_warning(); also covers trials from before the data was declared public. */
const char *dp_state_seeds_warning(const struct dp_study_state *s);
/* Column of a metric in the study's table, or -1. */
int dp_state_metric_column(const struct dp_study_state *s, const char *name);
/* Mean of a metric over the runs of a trial; NaN if a run is missing or not finite. */
double dp_trial_metric_mean(const struct dp_study_state *s, const struct dp_trial *t, int metric);
/* Variance of that mean, from the spread of the runs: 0 if all agree, NaN with one run. */
double dp_trial_metric_mean_variance(const struct dp_study_state *s, const struct dp_trial *t,
				     int metric);
/* Is checkpoint w of an ended trial a result? It is dropped if a run did not report it, a metric of
 * an objective is not finite there, or an accountant had no answer. */
bool dp_checkpoint_is_result(const struct dp_study_state *s,
			     const struct dp_checkpoints *checkpoints, uint32_t w);
bool dp_checkpoints_have_epsilons(const struct dp_study_state *s,
				  const struct dp_checkpoints *checkpoints);
/* Seconds that the process took; 0: it has not ended, or the time is unknown. */
double dp_attempt_seconds(const struct dp_attempt *a);
/* Total seconds of the attempts with a result; 0: unknown. */
double dp_trial_result_seconds(const struct dp_trial *t);
/* The same for display: for a trial without a result, of all attempts. */
double dp_trial_duration_seconds(const struct dp_trial *t);
/* What the runs of the study have cost, in search.cost's unit. Path: the path values of all
 * proposed trials, however they ended, except those that an accountant refused. Seconds: of all
 * ended processes, however they ended. 0: cost is not counted. */
double dp_state_cost_spent(const struct dp_study_state *s);
/* May the trainer have seen the data? Not if it could not be executed, or the daemon or machine
 * ended before it was. */
bool dp_attempt_may_have_run(const struct dp_attempt *a);
/* Runs that were started, however they ended: those of all attempts that may have run. */
uint32_t dp_trial_count_started_runs(const struct dp_trial *t);
/* The Renyi divergence, at the filter's order, of all runs that were started, and its limit. False
 * without search.budget, or before its filter is chosen. */
bool dp_state_budget_spent(const struct dp_study_state *s, double *spent, double *limit);
bool dp_trial_has_run_result(const struct dp_trial *t, uint32_t run);

/* ---- re-evaluations (reeval_stats.c) ---- */

/* Statistics of the runs of a re-evaluated point, (nobjectives) each, in natural units. sd, low and
 * high are NaN for an objective that is not a metric, and with a single run. */
struct dp_reeval_stats {
	uint32_t runs;
	double objectives[DP_OBJECTIVES_MAX];
	double sd[DP_OBJECTIVES_MAX];                           /* of one run */
	double low[DP_OBJECTIVES_MAX], high[DP_OBJECTIVES_MAX]; /* 95 % interval of the mean */
};
/* Over all ok trials that re-evaluated this result; false: there are none. */
bool dp_result_compute_reeval_stats(const struct dp_study_state *s, struct dp_result_id p,
				    struct dp_reeval_stats *out);
/* Over the trials of one re-evaluation. */
bool dp_reeval_compute_stats(const struct dp_study_state *s, const struct dp_reeval *m,
			     struct dp_reeval_stats *out);
/* Waiting, running or ok; failed if a trial ended in any other way, *reason then says why. */
enum dp_trial_status dp_reeval_get_status(const struct dp_study_state *s, const struct dp_reeval *m,
					  const char **reason);
/* Runs of its ok trials, and of those that ended otherwise. */
void dp_reeval_count_runs(const struct dp_study_state *s, const struct dp_reeval *m, uint32_t *done,
			  uint32_t *failed);
bool dp_reeval_is_of_result(const struct dp_study_state *s, const struct dp_reeval *m,
			    struct dp_result_id p);
uint32_t dp_state_next_reeval_trial(const struct dp_study_state *s);
bool dp_state_has_pending_reevals(const struct dp_study_state *s);
/* True if only re-evaluations are left. Their time does not count for search.max_time. */
bool dp_state_is_search_over(const struct dp_study_state *s);
/* Hypervolume of the re-evaluated means of a front's points, in the order of the front; NaN: no
 * point has any. If the first of two objectives is computed exactly, it is the volume that the
 * front as it was chosen realises (dp_pareto_realised_volume()). */
double dp_results_reeval_hypervolume(const struct dp_study_state *s,
				     const struct dp_result_id *points, size_t n);

/* ---- results (results.c) ---- */

/* All results by trial, then by checkpoint, the final one last. The caller frees the array. */
struct dp_result_id *dp_state_list_results(const struct dp_study_state *s, size_t *n);
/* The results of one trial in that order; returns the count. `out` (NULL: only count) has room for
 * its checkpoints and one more. with_diverged: includes the final result of a diverged trial. */
size_t dp_trial_list_results(const struct dp_study_state *s, const struct dp_trial *t,
			     bool with_diverged, struct dp_result_id *out);
/* The result of a trial at this path value, NaN: its final one; false: there is none. */
bool dp_state_find_result(const struct dp_study_state *s, uint32_t trial, double at,
			  struct dp_result_id *out);
/* The checkpoint's value of the path parameter; NaN: a final result. */
double dp_result_checkpoint_value(const struct dp_study_state *s, struct dp_result_id p);
/* Its parameters; the path parameter has its value there even if it is fixed. */
void dp_result_get_params(const struct dp_study_state *s, struct dp_result_id p, double *x);
/* (nobjectives), natural units. */
const double *dp_result_get_objectives(const struct dp_study_state *s, struct dp_result_id p);
/* As dp_trial_metric_mean() and dp_trial_metric_mean_variance(). */
double dp_result_metric_mean(const struct dp_study_state *s, struct dp_result_id p, int metric);
double dp_result_metric_mean_variance(const struct dp_study_state *s, struct dp_result_id p,
				      int metric);
/* True if the study has a result; a checkpoint is enough. */
bool dp_state_has_results(const struct dp_study_state *s);
bool dp_trial_has_checkpoint_results(const struct dp_study_state *s, const struct dp_trial *t);
/* Sum of the path parameter over all ended trials, however they ended. Trials that an accountant
 * refused were never trained and do not count. */
double dp_state_total_path_value(const struct dp_study_state *s);
bool dp_result_is_feasible(const struct dp_study_state *s, struct dp_result_id p);
/* Updates the front and hypervolume of the feasible results. */
void dp_state_update_front(struct dp_study_state *s);
/* Turns rows of objectives (n x nobjectives, natural units) into rows to be minimised, as
 * optimize/pareto expects; ref (nobjectives) receives the reference point on that scale. */
void dp_study_rows_to_minimize(const struct dp_study *spec, double *y, size_t n, double *ref);
/* Computes the front of rows of objectives, which dp_study_rows_to_minimize() modifies. Contract
 * order: best first objective first, then by order (n), or by position if order is NULL. front:
 * room for n positions. Returns their number. */
size_t dp_study_find_front(const struct dp_study *spec, double *y, size_t n, const size_t *order,
			   size_t *front, double *hypervolume);

#endif
