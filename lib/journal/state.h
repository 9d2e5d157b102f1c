/* state.h - what is known now: the fold of the journal.
 *
 * The daemon, the reports and the tools all come to their picture of a study through
 * dp_state_apply(), one event after the other, so they cannot disagree. */
#ifndef DP_STATE_H
#define DP_STATE_H
#include "base/base.h"
#include "journal/journal.h"
#include "study/study.h"

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
	int32_t slot;    /* its DPARETO_SLOT; -1: none */
	enum dp_end end; /* DP_END_NONE: planned or running */
	enum dp_exit_kind exit_kind;
	int exit_value;
	bool counted;                    /* it costs a retry */
	bool unbegun;                    /* nothing ran, for certain */
	int64_t planned, started, ended; /* ended: by the trainer's own clock, if known */
	int64_t recorded;                /* when its end was journaled */
	float cpu_seconds;
	uint64_t peak_memory;
	char *message; /* NULL if there is nothing to say */
	char *place;   /* what its executor knows it by; NULL: nothing is said */
};

/* The waypoints of a training (trainer.path): what it would have been with a smaller
 * value of the parameter that it walks up. A run has a NaN where it did not tell a
 * metric. */
struct dp_way {
	uint32_t n;
	uint32_t nmetrics;  /* columns of metrics: the study's first so many */
	double *at;         /* (n) values of the parameter, ascending */
	double *objectives; /* (n x nobjectives), natural units; NaN: not known */
	double *runs;       /* (n x dp_trial_told_runs() x nmetrics); NULL once it cannot
			     * be retried */
	/* (n x nmetrics) while the trial has ended: the mean of each metric over the
	 * runs, and the variance of that mean, as dp_trial_mean() and
	 * dp_trial_mean_variance() */
	double *means, *variances;
};

struct dp_trial {
	uint32_t number;
	enum dp_trial_status status;
	bool cancel_asked;
	uint32_t basis; /* see trial-proposed in journal.h */
	double sought;  /* likewise; 0: not known */
	char source[16];
	uint32_t runs; /* asked of it: trainer.runs, or what it measures of a point */
	double *x;     /* (nparams) */
	double at;     /* it is trained up to this value of trainer.path's parameter, as only
			* one that measures a waypoint is; NaN: as x says */
	/* (nobjectives) epsilon of the privacy objectives, NaN for the others; NULL once
	 * `objectives` has them, and where version 0.1 proposed the trial */
	double *privacy;
	double renyi;       /* K of one training at the filter's order; NaN: no budget */
	char *refused;      /* why a privacy oracle has no answer at x; NULL */
	double *objectives; /* (nobjectives), or NULL: none known */
	double *metrics;    /* (dp_trial_told_runs() x nmetrics), or NULL; NaN: not
			     * reported */
	uint32_t nmetrics;  /* columns of `metrics`: the study's first so many */
	struct dp_way *way; /* NULL: it reached no waypoint */
	struct dp_attempt *attempts;
	uint32_t nattempts;
	uint32_t open; /* attempts planned and not ended */
	char *reason;  /* why it failed or diverged; NULL */
	int64_t proposed, ended;
};

/* A result: a trial's own, or what its training was at a waypoint. A waypoint is one
 * whatever became of the trial. */
struct dp_point {
	uint32_t trial;
	int32_t way; /* its position among the trial's waypoints; DP_OWN */
};
enum {
	DP_OWN = -1
};

/* A point that is measured again, by trials of at most trainer.runs runs each. */
struct dp_measure {
	char why[16];      /* "remeasure", "verify", "end" (search.remeasure) */
	double of, of_at;  /* the result that it measures again, and where on its path;
			    * NaN: none, and the trial's own */
	uint32_t runs;     /* of all of its trials */
	uint32_t first, n; /* its trials: positions in dp_measures.trials */
};

/* All that are measured again (fold_measure.c, measure.c). Their trials are no part of
 * the search: nothing that is proposed or shown of it depends on them, but for the
 * privacy that they cost. */
struct dp_measures {
	struct dp_measure *list; /* (n) */
	uint32_t n;
	struct dp_trial **trials; /* (ntrials), by number, which may leave some out */
	uint32_t ntrials;
	uint32_t first_live; /* every trial before this position has ended */
	uint32_t reached;    /* nothing has happened to one from this position on */
	uint32_t open, waiting, failures_in_row; /* as in dp_study_state */
	uint32_t batch; /* from this one on they were asked for while others were left */
	/* The study had come to this end when it was asked for. It goes back there, and
	 * until then nothing is searched for. */
	bool rests;
	enum dp_study_status rest;
	char *rest_reason;
	bool rest_by_failures;
	/* search.remeasure has asked for the front of these results */
	bool end_asked;
	uint32_t end_version;
	char *end_reason; /* what it left out, and why; NULL */
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
struct dp_imported {
	double *x, *objectives;
};

enum {
	DP_FAILING_MAX = 10,
	DP_ADDED_MAX = 64
};

struct dp_study_state {
	uint32_t id;
	char *text, *path, *dir;
	char *secret;          /* base/secret.h; NULL: neither its seeds nor
				* dp_study_needs_secret() ask for one */
	struct dp_study *spec; /* as created, for ever: worker threads read it */
	/* the same with what was changed since: where limits are looked up, by whoever
	 * folds. A pointer to it stays good as long as the study's state */
	const struct dp_study *now;
	struct dp__amended *amended; /* all versions of `now` but the first */
	bool exposed; /* a trial was proposed with fixed seeds while data was private */
	bool timed;   /* it has a search.max_time, or once had */
	enum dp_study_status status;
	char *reason;
	char *by;         /* who brought it there; NULL: nobody did, or it is older */
	bool by_failures; /* paused or failed by itself, not by request: exit code 6 */
	/* what `dparetoctl set` may have changed, too; not in `now` */
	uint32_t evaluations, parallel;
	int priority;
	char *budget_end; /* why no more trials can be proposed than there are, where
			   * `evaluations` was lowered for it; NULL */

	struct dp_trial **trials; /* (ntrials), by number */
	uint32_t ntrials, room;
	uint32_t first_live;           /* every trial before this one has ended */
	uint32_t ok, diverged, failed; /* failed: cancelled ones too */
	uint32_t open;                 /* attempts planned and not ended, over all trials */
	uint32_t waiting;              /* trials in that state */
	uint32_t first_waiting;        /* no trial before this one is in it */
	uint32_t failures_in_row;
	/* the highest numbers of trials that have a failed attempt, descending */
	uint32_t failing[DP_FAILING_MAX], nfailing;
	int64_t blocked; /* a trial whose trainer could not be started since the study was
			  * last set running; -1: none */
	struct dp_accounting *accounting; /* NULL: nothing was journaled */
	double begun; /* K of all attempts that were planned, also of those that could not
		       * be started: at least what is spent; +inf without a budget */
	struct dp_declarations declared;
	struct dp_imported *imported; /* (nimported) */
	uint32_t nimported;
	struct dp_measures measured;
	char **metrics; /* (nmetrics) names seen so far */
	uint32_t nmetrics;
	uint32_t seq; /* of the next event */
	bool apart;   /* a record of it cannot be read: it is paused, `reason` says why,
		       * and nothing may be added to it */
	int64_t created, updated;
	/* microseconds up to `updated` that it was running under a daemon: what there is
	 * between two records while it runs, but for what a time-noted takes out */
	int64_t active;

	uint32_t told;           /* records about the study itself: created, moved, amended */
	int64_t told_at;         /* when the newest of these was */
	struct dp__shown *shown; /* dp_study_shown()'s; NULL */

	uint32_t results_version; /* another one whenever the results are others */
	/* cached by dp_study_front(); invalid while front_valid is false */
	bool front_valid;
	struct dp_point *front;          /* (nfront) in the contract's order */
	struct dp_point *front_by_trial; /* the same points by trial; in front's memory */
	uint32_t nfront;
	double hypervolume;
	/* front_grows: since `front` was found, results of these trials were added and
	 * nothing else happened to the results */
	bool front_grows;
	uint32_t added[DP_ADDED_MAX], nadded;
};

/* A study of which not even the first record can be read. */
struct dp_unreadable {
	uint32_t study;
	char *why;
};

struct dp_state {
	struct dp_study_state **studies; /* by id */
	uint32_t nstudies, room;
	struct dp_unreadable *unreadable; /* (nunreadable), by dp_state_recover() */
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
 * dp_state_recover() otherwise. Never of the folder that this very process writes: LMDB
 * cannot open a file twice. *j may be NULL; it is closed then. On error there is
 * nothing to free. */
DP_MUSTCHECK int dp_state_look(struct dp_state *s, const char *dir, struct dp_journal **j,
			       struct dp_err *err);
/* Folds all studies in. One with a record that cannot be read or does not fit is set
 * apart with what came before it, and the others go on. */
DP_MUSTCHECK int dp_state_recover(struct dp_state *s, struct dp_journal *j, struct dp_err *err);
/* Is no study set apart or unreadable? */
bool dp_state_whole(const struct dp_state *s);
void dp_state_forget(struct dp_state *s, uint32_t study);

struct dp_study_state *dp_state_by_id(const struct dp_state *s, uint32_t id);
/* By name, number, or an unambiguous beginning of a name. */
DP_MUSTCHECK int dp_state_find(const struct dp_state *s, const char *selector,
			       struct dp_study_state **out, struct dp_err *err);
/* Is the result on the study's front? After dp_study_front(). */
bool dp_study_on_front(const struct dp_study_state *s, struct dp_point p);
/* Also one that measures; NULL: there is none. */
struct dp_trial *dp_study_trial(const struct dp_study_state *s, uint32_t number);
/* Is this the number of a trial that measures a point again? */
bool dp_is_measuring(uint32_t trial);
/* What people call it: "7", or "m7" of one that measures. Returns `out`. */
enum {
	DP_TRIAL_NAME = 16
};
const char *dp_trial_name(uint32_t trial, char out[DP_TRIAL_NAME]);
/* How many values it has of each metric: one of each run, or the one that is released. */
int dp_trial_told_runs(const struct dp_study_state *s, const struct dp_trial *t);
/* Attempts that are planned and not ended, of all trials. */
uint32_t dp_study_open(const struct dp_study_state *s);

/* ---- what anybody may see (shown.c) ---- */

/* The study as it may be shown: itself; but of a private selection (method select) one
 * without trials, or once it has finished with a single one, the selected, as number 0,
 * and with nothing from which the number of the others could be told. Whatever answers,
 * reports, tells hooks or exports looks at this one only. Valid until the study's next
 * record. */
struct dp_study_state *dp_study_shown(struct dp_study_state *s);
/* The trial that a finished private selection publishes; NULL: none came to a result. */
const struct dp_trial *dp_study_selected(const struct dp_study_state *s);
/* Is that how many trials there are, and all but the selected one, secret? */
bool dp_study_hides(const struct dp_study_state *s);

/* Trials that used up one of `evaluations`. */
uint32_t dp_study_ended(const struct dp_study_state *s);
/* dp_study_seeds_warning(), also of trials that were proposed before the data was
 * declared public. */
const char *dp_state_seeds_warning(const struct dp_study_state *s);
/* Column of a metric in the study's table, or -1. */
int dp_study_metric(const struct dp_study_state *s, const char *name);
/* Mean over the runs of the study's metric in this trial; NaN if a run is missing
 * or not finite. */
double dp_trial_mean(const struct dp_study_state *s, const struct dp_trial *t, int metric);
/* Variance of that mean, from the spread of the runs: 0 if all agree, NaN with one run.
 */
double dp_trial_mean_variance(const struct dp_study_state *s, const struct dp_trial *t, int metric);
/* Is the w-th waypoint of a trial that has ended a result? It is dropped if a run left it
 * out, a metric of an objective is not finite there, or an oracle had no answer. */
bool dp_way_stands(const struct dp_study_state *s, const struct dp_way *way, uint32_t w);
/* Are the epsilons of all of its waypoints known? */
bool dp_way_accounted(const struct dp_study_state *s, const struct dp_way *way);
/* Seconds that its process took; 0: it has not ended, or that is not known. */
double dp_attempt_seconds(const struct dp_attempt *a);
/* Seconds that the processes of its runs took, of those that came to a result; 0: not
 * known. */
double dp_trial_seconds(const struct dp_trial *t);
/* The same for people: of a trial that came to no result, all of its processes. */
double dp_trial_took(const struct dp_trial *t);
/* What the study's trainings cost so far, in search.cost's unit. Path: the values of all
 * that were proposed, whatever became of them, but for those that an oracle refused.
 * Seconds: of all processes that ended, however they did. 0: nothing counts. */
double dp_study_cost_spent(const struct dp_study_state *s);
/* May its trainer have seen the data? Not if it could not be executed, or if a daemon or
 * the machine ended before it was. */
bool dp_attempt_began(const struct dp_attempt *a);
/* Trainings that were begun for it, whatever became of them: runs of all attempts that
 * may have begun. */
uint32_t dp_trial_trainings(const struct dp_trial *t);
/* The Renyi divergence, at the filter's order, of all trainings that were begun, and what
 * it may reach; false without search.budget, or before its filter is chosen. */
bool dp_study_budget_spent(const struct dp_study_state *s, double *spent, double *limit);
/* Has this run of the trial been made? */
bool dp_trial_run_known(const struct dp_trial *t, uint32_t run);

/* ---- points that are measured again (measure.c) ---- */

/* What the runs of a point come to. (nobjectives) each, natural units; of an objective
 * that is no metric all but the value are NaN, and so they are with a single run. */
struct dp_measured {
	uint32_t runs;
	double objectives[DP_OBJECTIVES_MAX];
	double sd[DP_OBJECTIVES_MAX];                           /* of a run */
	double low[DP_OBJECTIVES_MAX], high[DP_OBJECTIVES_MAX]; /* of the mean, 95 % */
};
/* Of all trials that measured this result and came to one; false: none has. */
bool dp_point_remeasured(const struct dp_study_state *s, struct dp_point p,
			 struct dp_measured *out);
/* Of the trials of one measurement. */
bool dp_measure_value(const struct dp_study_state *s, const struct dp_measure *m,
		      struct dp_measured *out);
/* How far it is: waiting, running, ok, or failed if one of its trials has ended in any
 * other way; *reason says why that did, if one did. */
enum dp_trial_status dp_measure_status(const struct dp_study_state *s, const struct dp_measure *m,
				       const char **reason);
/* Runs of those of its trials that are ok, and of those that ended otherwise. */
void dp_measure_runs(const struct dp_study_state *s, const struct dp_measure *m, uint32_t *done,
		     uint32_t *failed);
/* Does it measure this result? */
bool dp_measure_is_of(const struct dp_study_state *s, const struct dp_measure *m,
		      struct dp_point p);
/* The number of the next trial that measures. */
uint32_t dp_study_next_measuring(const struct dp_study_state *s);
/* Has one of the trials that measure not ended? */
bool dp_study_measures(const struct dp_study_state *s);
/* Is the search over and nothing left but to measure its results? That takes none of
 * search.max_time. */
bool dp_study_searched(const struct dp_study_state *s);
/* Hypervolume of what was measured again of the points of a front, in its order; NaN:
 * nothing was. Where the first of two objectives is computed it is what the front, as it
 * was chosen, holds (dp_followed()). An error: no memory. */
DP_MUSTCHECK int dp_points_remeasured_volume(const struct dp_study_state *s,
					     const struct dp_point *points, size_t n,
					     double *volume);

/* ---- results (point.c) ---- */

/* All results by trial, then by value on its way, the trial's own last: ok trials and
 * waypoints that stand. The caller frees them; NULL without memory. */
struct dp_point *dp_study_points(const struct dp_study_state *s, size_t *n);
/* The result of a trial at this value of its path, NaN: its own; false: there is none. */
bool dp_study_point(const struct dp_study_state *s, uint32_t trial, double at,
		    struct dp_point *out);
/* The waypoint's value of trainer.path's parameter; NaN: the trial's own result. */
double dp_point_at(const struct dp_study_state *s, struct dp_point p);
/* Its parameters, of which trainer.path's has its value there even if it is fixed. */
void dp_point_x(const struct dp_study_state *s, struct dp_point p, double *x);
/* (nobjectives), natural units. */
const double *dp_point_objectives(const struct dp_study_state *s, struct dp_point p);
/* As dp_trial_mean() and dp_trial_mean_variance(). */
double dp_point_mean(const struct dp_study_state *s, struct dp_point p, int metric);
double dp_point_mean_variance(const struct dp_study_state *s, struct dp_point p, int metric);
/* Has the study a result, be it only a waypoint's? */
bool dp_study_has_results(const struct dp_study_state *s);
/* Has the trial, which has ended, waypoints that are results? */
bool dp_trial_has_way(const struct dp_study_state *s, const struct dp_trial *t);
/* What its trainings that have ended have walked of trainer.path, whatever came of them:
 * the sum of their values of its parameter. What an oracle refused is not trained. */
double dp_study_walked(const struct dp_study_state *s);
/* Does it meet the study's outcome constraints? */
bool dp_point_feasible(const struct dp_study_state *s, struct dp_point p);
/* Brings front and hypervolume up to date: of the feasible results. */
DP_MUSTCHECK int dp_study_front(struct dp_study_state *s, struct dp_err *err);

#endif
