/* state.h - what is known now: the fold of the journal.
 *
 * The daemon, the reports and the tools all come to their picture of a study through
 * dp_state_apply(), one event after the other, so they cannot disagree. */
#ifndef DP_STATE_STATE_H
#define DP_STATE_STATE_H
#include "base/base.h"
#include "journal/journal.h"
#include "study/study.h"
#include "privacy/composition/adaptive_composition.h"

/* States of a study; the texts are journaled and part of the contract. */
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

/* One process that was planned for a trial. Times in microseconds, 0: unknown. */
struct dp_attempt {
	int32_t run; /* DP_RUN_ALL or one run */
	uint32_t number;
	int32_t slot;                /* its DPARETO_SLOT; -1: none */
	enum dp_end_class end_class; /* DP_END_NONE: planned or running */
	enum dp_exit_kind exit_kind;
	int exit_value;
	bool charged;                             /* it costs a retry */
	bool never_ran;                           /* nothing ran, for certain */
	int64_t planned_us, started_us, ended_us; /* ended: by the trainer's own clock, if known */
	int64_t recorded_us;                      /* when its end was journaled */
	float cpu_seconds;
	uint64_t peak_memory;
	char *message; /* NULL if there is nothing to say */
	char *job_id;  /* what its executor knows it by; NULL: nothing is said */
};

/* The waypoints of a training (trainer.path): what it would have been with a smaller
 * value of the parameter that it walks up. A run has a NaN where it did not tell a
 * metric. */
struct dp_checkpoints {
	uint32_t count;
	uint32_t nmetrics;   /* columns of metrics: the study's first so many */
	double *values;      /* (n) values of the parameter, ascending */
	double *objectives;  /* (n x nobjectives), natural units; NaN: not known */
	double *run_metrics; /* (n x dp_trial_values_per_metric() x nmetrics); NULL once it cannot
			      * be retried */
	/* (n x nmetrics) while the trial has ended: the mean of each metric over the
	 * runs, and the variance of that mean, as dp_trial_metric_mean() and
	 * dp_trial_metric_mean_variance() */
	double *metric_means, *metric_variances;
};

struct dp_trial {
	enum dp_trial_kind kind;
	uint32_t index;  /* among those of its kind */
	uint32_t number; /* that records and requests name it by: see enum dp_trial_kind */
	enum dp_trial_status status;
	bool cancel_requested;
	uint32_t conditioned_on; /* see trial-proposed in journal.h */
	double proposal_seconds; /* likewise; 0: not known */
	char source[16];
	uint32_t runs;  /* asked of it: trainer.runs, or what it measures of a point */
	double *x;      /* (nparams) */
	double stop_at; /* it is trained up to this value of trainer.path's parameter, as only
			 * one that measures a waypoint is; NaN: as x says */
	/* (nobjectives) epsilon of the privacy objectives, NaN for the others; NULL once
	 * `objectives` has them, and where version 0.1 proposed the trial */
	double *privacy;
	double renyi_per_run; /* K of one training at the filter's order; NaN: no budget */
	char *refusal_reason; /* why a privacy oracle has no answer at x; NULL */
	double *objectives;   /* (nobjectives), or NULL: none known */
	double *metrics;      /* (dp_trial_values_per_metric() x nmetrics), or NULL; NaN: not
			       * reported */
	uint32_t nmetrics;    /* columns of `metrics`: the study's first so many */
	struct dp_checkpoints *checkpoints; /* NULL: it reached no waypoint */
	struct dp_attempt *attempts;
	uint32_t nattempts;
	uint32_t open_attempts; /* attempts planned and not ended */
	char *reason;           /* why it failed or diverged; NULL */
	int64_t proposed_us, ended_us;
};

/* A result: a trial's own, or what its training was at a waypoint. A waypoint is one
 * whatever became of the trial. */
struct dp_result_id {
	uint32_t trial;
	int32_t checkpoint; /* its position among the trial's waypoints; DP_CHECKPOINT_FINAL */
};
enum {
	DP_CHECKPOINT_FINAL = -1
};

/* A point that is measured again, by trials of at most trainer.runs runs each. */
struct dp_reeval {
	char source[16];                /* "remeasure", "verify", "end" (search.remeasure) */
	double trial, checkpoint_value; /* the result that it measures again, and where on its path;
					 * NaN: none, and the trial's own */
	uint32_t runs;                  /* of all of its trials */
	uint32_t first_trial, ntrials;  /* its trials: positions in dp_reevals.trials */
};

/* All that are measured again (reducer_reeval.c, measure.c). Their trials are no part of
 * the search: nothing that is proposed or shown of it depends on them, but for the
 * privacy that they cost. */
struct dp_reevals {
	struct dp_reeval *items; /* (n) */
	uint32_t count;
	struct dp_trial **trials; /* (ntrials), by number, which may leave some out */
	uint32_t ntrials;
	uint32_t first_unfinished; /* every trial before this position has ended */
	uint32_t first_untouched;  /* nothing has happened to one from this position on */
	uint32_t open_attempts, waiting_trials, consecutive_failures; /* as in dp_study_state */
	uint32_t batch_start; /* from this one on they were asked for while others were left */
	/* The study had come to this end when it was asked for. It goes back there, and
	 * until then nothing is searched for. */
	bool has_resume_state;
	enum dp_study_status resume_state;
	char *resume_reason;
	bool resume_by_failures;
	/* search.remeasure has asked for the front of these results */
	bool final_requested;
	uint32_t final_results_version;
	char *final_reason; /* what it left out, and why; NULL */
};

/* What was fixed before the first training, for the privacy of the whole search. */
struct dp_accounting {
	struct dp_odometer odometer;
	struct dp_filter filter; /* all 0 without search.budget */
};

/* How many of the attempts that came to a result declared what of their training. What
 * contradicts the study's mechanism comes to none. */
struct dp_declarations {
	uint32_t attempts; /* of so many */
	uint32_t sampling, records, lot, steps, noise_over_clip;
	uint32_t shuffled; /* that sampling was: no mechanism's epsilon is proven for it */
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
	char *secret;          /* base/secret.h; NULL: neither its seeds nor
				* dp_study_needs_secret() ask for one */
	struct dp_study *spec; /* as created, for ever: worker threads read it */
	/* the same with what was changed since: where limits are looked up, by whoever
	 * folds. A pointer to it stays good as long as the study's state */
	const struct dp_study *current_spec;
	struct dp__spec_version *spec_versions; /* all versions of `now` but the first */
	bool seeds_exposed; /* a trial was proposed with fixed seeds while data was private */
	bool had_max_time;  /* it has a search.max_time, or once had */
	enum dp_study_status status;
	char *reason;
	char *moved_by;         /* who brought it there; NULL: nobody did, or it is older */
	bool moved_by_failures; /* paused or failed by itself, not by request: exit code 6 */
	/* what `dparetoctl set` may have changed, too; not in `now` */
	uint32_t evaluations, parallel;
	int priority;
	char *budget_end_reason; /* why no more trials can be proposed than there are, where
				  * `evaluations` was lowered for it; NULL */

	struct dp_trial **trials; /* (ntrials), by number */
	uint32_t ntrials, capacity;
	uint32_t first_unfinished;     /* every trial before this one has ended */
	uint32_t ok, diverged, failed; /* failed: cancelled ones too */
	uint32_t open_attempts;        /* attempts planned and not ended, over all trials */
	uint32_t waiting_trials;       /* trials in that state */
	uint32_t first_waiting;        /* no trial before this one is in it */
	uint32_t consecutive_failures;
	/* the highest numbers of trials that have a failed attempt, descending */
	uint32_t newest_failed[DP_FAILED_TRIALS_MAX], nnewest_failed;
	int64_t blocked_trial; /* a trial whose trainer could not be started since the study was
				* last set running; -1: none */
	struct dp_accounting *accounting; /* NULL: nothing was journaled */
	double planned_renyi; /* K of all attempts that were planned, also of those that could not
			       * be started: at least what is spent; +inf without a budget */
	struct dp_declarations declarations;
	struct dp_imported_result *imported; /* (nimported) */
	uint32_t nimported;
	struct dp_reevals reevals;
	char **metrics; /* (nmetrics) names seen so far */
	uint32_t nmetrics;
	uint32_t next_seq; /* of the next event */
	bool quarantined;  /* a record of it cannot be read: it is paused, `reason` says why,
			    * and nothing may be added to it */
	int64_t created_us, updated_us;
	/* microseconds up to `updated` that it was running under a daemon: what there is
	 * between two records while it runs, but for what a time-noted takes out */
	int64_t active_us;

	uint32_t study_records;       /* records about the study itself: created, moved, amended */
	int64_t last_study_record_us; /* when the newest of these was */
	uint32_t changes;             /* counts all changes, also those without a record */
	struct dp__public_view *public_view; /* dp_state_public_view()'s; NULL */

	uint32_t results_version; /* another one whenever the results are others */
	/* cached by dp_state_update_front(); invalid while front_valid is false */
	bool front_valid;
	struct dp_result_id *front;          /* (nfront) in the contract's order */
	struct dp_result_id *front_by_trial; /* the same points by trial; in front's memory */
	uint32_t nfront;
	double hypervolume;
	/* front_grows: since `front` was found, results of these trials were added and
	 * nothing else happened to the results */
	bool front_is_extendable;
	uint32_t added_trials[DP_FRONT_ADDED_MAX], nadded_trials;
};

/* A study of which not even the first record can be read. */
struct dp_unreadable_study {
	uint32_t study;
	char *reason;
};

struct dp_state {
	struct dp_study_state **studies; /* by id */
	uint32_t nstudies, capacity;
	struct dp_unreadable_study *unreadable; /* (nunreadable), by dp_state_replay_tolerant() */
	uint32_t nunreadable;
};

void dp_state_free(struct dp_state *s);
/* Folds one event in. DP_E_CORRUPT with a sentence if it does not fit what came
 * before; the state is then unchanged as far as it matters to the next event. */
DP_MUSTCHECK int dp_state_apply(struct dp_state *s, const struct dp_event *e, struct dp_err *err);
/* Folds a whole journal in (study 0: all). */
DP_MUSTCHECK int dp_state_replay(struct dp_state *s, struct dp_journal *j, uint32_t study,
				 struct dp_err *err);
/* The journal in the folder `dir` and all that it says, of a folder in which nothing may
 * change: beside its daemon, without one, on a disk that cannot be written. As
 * dp_state_replay_tolerant() otherwise. Never of the folder that this very process writes: LMDB
 * cannot open a file twice. *j may be NULL; it is closed then. On error there is
 * nothing to free. */
DP_MUSTCHECK int dp_state_open_readonly(struct dp_state *s, const char *dir, struct dp_journal **j,
					struct dp_err *err);
/* Folds all studies in. One with a record that cannot be read or does not fit is set
 * apart with what came before it, and the others go on. */
DP_MUSTCHECK int dp_state_replay_tolerant(struct dp_state *s, struct dp_journal *j,
					  struct dp_err *err);
/* Is no study set apart or unreadable? */
bool dp_state_is_intact(const struct dp_state *s);
void dp_state_remove_study(struct dp_state *s, uint32_t study);

struct dp_study_state *dp_state_get_study(const struct dp_state *s, uint32_t id);
/* By name, number, or an unambiguous beginning of a name. */
DP_MUSTCHECK int dp_state_find_study(const struct dp_state *s, const char *selector,
				     struct dp_study_state **out, struct dp_err *err);
/* Is the result on the study's front? After dp_state_update_front(). */
bool dp_result_is_on_front(const struct dp_study_state *s, struct dp_result_id p);
/* Also one that measures; NULL: there is none. */
struct dp_trial *dp_state_find_trial(const struct dp_study_state *s, uint32_t number);
/* What people call it: "7", or "m7" of one that measures. Returns `out`. */
enum {
	DP_TRIAL_NAME_LEN = 16
};
const char *dp_trial_format_name(uint32_t trial, char out[DP_TRIAL_NAME_LEN]);
/* How many values it has of each metric: one of each run, or the one that is released. */
int dp_trial_values_per_metric(const struct dp_study_state *s, const struct dp_trial *t);
/* Attempts that are planned and not ended, of all trials. */
uint32_t dp_state_count_open_attempts(const struct dp_study_state *s);

/* ---- private selections: see state/public_view.h ---- */

/* The trial that a finished private selection publishes; NULL: none came to a result. */
const struct dp_trial *dp_state_selected_trial(const struct dp_study_state *s);
/* Is that how many trials there are, and all but the selected one, secret? */
bool dp_state_is_private_selection(const struct dp_study_state *s);

/* Trials that used up one of `evaluations`. */
uint32_t dp_state_count_ended_trials(const struct dp_study_state *s);
/* dp_study_seeds_warning(), also of trials that were proposed before the data was
 * declared public. */
const char *dp_state_seeds_warning(const struct dp_study_state *s);
/* Column of a metric in the study's table, or -1. */
int dp_state_metric_column(const struct dp_study_state *s, const char *name);
/* Mean over the runs of the study's metric in this trial; NaN if a run is missing
 * or not finite. */
double dp_trial_metric_mean(const struct dp_study_state *s, const struct dp_trial *t, int metric);
/* Variance of that mean, from the spread of the runs: 0 if all agree, NaN with one run.
 */
double dp_trial_metric_mean_variance(const struct dp_study_state *s, const struct dp_trial *t,
				     int metric);
/* Is the w-th waypoint of a trial that has ended a result? It is dropped if a run left it
 * out, a metric of an objective is not finite there, or an oracle had no answer. */
bool dp_checkpoint_is_result(const struct dp_study_state *s,
			     const struct dp_checkpoints *checkpoints, uint32_t w);
/* Are the epsilons of all of its waypoints known? */
bool dp_checkpoints_have_epsilons(const struct dp_study_state *s,
				  const struct dp_checkpoints *checkpoints);
/* Seconds that its process took; 0: it has not ended, or that is not known. */
double dp_attempt_seconds(const struct dp_attempt *a);
/* Seconds that the processes of its runs took, of those that came to a result; 0: not
 * known. */
double dp_trial_result_seconds(const struct dp_trial *t);
/* The same for people: of a trial that came to no result, all of its processes. */
double dp_trial_duration_seconds(const struct dp_trial *t);
/* What the study's trainings cost so far, in search.cost's unit. Path: the values of all
 * that were proposed, whatever became of them, but for those that an oracle refused.
 * Seconds: of all processes that ended, however they did. 0: nothing counts. */
double dp_state_cost_spent(const struct dp_study_state *s);
/* May its trainer have seen the data? Not if it could not be executed, or if a daemon or
 * the machine ended before it was. */
bool dp_attempt_may_have_run(const struct dp_attempt *a);
/* Trainings that were begun for it, whatever became of them: runs of all attempts that
 * may have begun. */
uint32_t dp_trial_count_started_runs(const struct dp_trial *t);
/* The Renyi divergence, at the filter's order, of all trainings that were begun, and what
 * it may reach; false without search.budget, or before its filter is chosen. */
bool dp_state_budget_spent(const struct dp_study_state *s, double *spent, double *limit);
/* Has this run of the trial been made? */
bool dp_trial_has_run_result(const struct dp_trial *t, uint32_t run);

/* ---- points that are measured again (measure.c) ---- */

/* What the runs of a point come to. (nobjectives) each, natural units; of an objective
 * that is no metric all but the value are NaN, and so they are with a single run. */
struct dp_reeval_stats {
	uint32_t runs;
	double objectives[DP_OBJECTIVES_MAX];
	double sd[DP_OBJECTIVES_MAX];                           /* of a run */
	double low[DP_OBJECTIVES_MAX], high[DP_OBJECTIVES_MAX]; /* of the mean, 95 % */
};
/* Of all trials that measured this result and came to one; false: none has. */
bool dp_result_compute_reeval_stats(const struct dp_study_state *s, struct dp_result_id p,
				    struct dp_reeval_stats *out);
/* Of the trials of one measurement. */
bool dp_reeval_compute_stats(const struct dp_study_state *s, const struct dp_reeval *m,
			     struct dp_reeval_stats *out);
/* How far it is: waiting, running, ok, or failed if one of its trials has ended in any
 * other way; *reason says why that did, if one did. */
enum dp_trial_status dp_reeval_get_status(const struct dp_study_state *s, const struct dp_reeval *m,
					  const char **reason);
/* Runs of those of its trials that are ok, and of those that ended otherwise. */
void dp_reeval_count_runs(const struct dp_study_state *s, const struct dp_reeval *m, uint32_t *done,
			  uint32_t *failed);
/* Does it measure this result? */
bool dp_reeval_is_of_result(const struct dp_study_state *s, const struct dp_reeval *m,
			    struct dp_result_id p);
/* The number of the next trial that measures. */
uint32_t dp_state_next_reeval_trial(const struct dp_study_state *s);
/* Has one of the trials that measure not ended? */
bool dp_state_has_pending_reevals(const struct dp_study_state *s);
/* Is the search over and nothing left but to measure its results? That takes none of
 * search.max_time. */
bool dp_state_is_search_over(const struct dp_study_state *s);
/* Hypervolume of what was measured again of the points of a front, in its order; NaN:
 * nothing was. Where the first of two objectives is computed it is what the front, as it
 * was chosen, holds (dp_pareto_realised_volume()). */
double dp_results_reeval_hypervolume(const struct dp_study_state *s,
				     const struct dp_result_id *points, size_t n);

/* ---- results (results.c) ---- */

/* All results by trial, then by checkpoint, the trial's own last: ok trials and
 * checkpoints that are results. The caller frees them. */
struct dp_result_id *dp_state_list_results(const struct dp_study_state *s, size_t *n);
/* Those of one trial in that order, and how many. `out` (NULL: only count) has room for its
 * checkpoints and one more. with_diverged: its own also if it diverged. */
size_t dp_trial_list_results(const struct dp_study_state *s, const struct dp_trial *t,
			     bool with_diverged, struct dp_result_id *out);
/* The result of a trial at this value of its path, NaN: its own; false: there is none. */
bool dp_state_find_result(const struct dp_study_state *s, uint32_t trial, double at,
			  struct dp_result_id *out);
/* The waypoint's value of trainer.path's parameter; NaN: the trial's own result. */
double dp_result_checkpoint_value(const struct dp_study_state *s, struct dp_result_id p);
/* Its parameters, of which trainer.path's has its value there even if it is fixed. */
void dp_result_get_params(const struct dp_study_state *s, struct dp_result_id p, double *x);
/* (nobjectives), natural units. */
const double *dp_result_get_objectives(const struct dp_study_state *s, struct dp_result_id p);
/* As dp_trial_metric_mean() and dp_trial_metric_mean_variance(). */
double dp_result_metric_mean(const struct dp_study_state *s, struct dp_result_id p, int metric);
double dp_result_metric_mean_variance(const struct dp_study_state *s, struct dp_result_id p,
				      int metric);
/* Has the study a result, be it only a waypoint's? */
bool dp_state_has_results(const struct dp_study_state *s);
/* Has the trial, which has ended, waypoints that are results? */
bool dp_trial_has_checkpoint_results(const struct dp_study_state *s, const struct dp_trial *t);
/* What its trainings that have ended have walked of trainer.path, whatever came of them:
 * the sum of their values of its parameter. What an oracle refused is not trained. */
double dp_state_total_path_value(const struct dp_study_state *s);
/* Does it meet the study's outcome constraints? */
bool dp_result_is_feasible(const struct dp_study_state *s, struct dp_result_id p);
/* Brings front and hypervolume up to date: of the feasible results. */
void dp_state_update_front(struct dp_study_state *s);
/* Turns rows of objectives (n x nobjectives, natural units) into rows to be minimised, as
 * optimize/pareto wants them; ref (nobjectives) gets the reference point for them. */
void dp_study_rows_to_minimize(const struct dp_study *spec, double *y, size_t n, double *ref);
/* The front of rows of objectives, which dp_study_rows_to_minimize() changes, in the
 * contract's order: the best first objective first, then by order (n), or by position if
 * that is NULL. front: room for n positions. Returns how many. */
size_t dp_study_find_front(const struct dp_study *spec, double *y, size_t n, const size_t *order,
			   size_t *front, double *hypervolume);

#endif
