/* policy.h - the next step of a study, as a pure function of its journaled state and the time.
 *
 * The daemon journals and carries out what dp_policy_next_step() returns, then calls it again. A
 * daemon that restarts after a crash gets the same step for the same state, so it continues as the
 * old one would have. Nothing here has side effects. */
#ifndef DP_POLICY_POLICY_H
#define DP_POLICY_POLICY_H
#include "base/base.h"
#include "journal/journal.h"
#include "state/state.h"
#include "privacy/composition/adaptive_composition.h"

/* ---- the next step (next_step.c) ---- */

enum dp_step_kind {
	DP_STEP_WAIT,   /* until a record is journaled, or until_us */
	DP_STEP_RECORD, /* journal dp_step_event(), then call again */
	/* Compute and journal the epsilon of `trial`, which version 0.1 proposed without one. */
	DP_STEP_ACCOUNT,
	/* Choose the filter of search.budget (slow: dp_budget_filter()); journal it with the
	 * odometer. */
	DP_STEP_CHOOSE_FILTER,
	DP_STEP_ATTEMPT, /* a process may be started: journal dp_step_event() first */
	DP_STEP_PROPOSE, /* the next trial may be proposed */
	/* The search is over and search.remeasure is set: journal the points of the front to be
	 * re-evaluated, then a measure-asked without runs. */
	DP_STEP_REEVALUATE_FRONT,
};

/* What a running study waits for. */
enum dp_wait_reason {
	DP_WAIT_NOTHING,        /* not running, or no need to wait */
	DP_WAIT_PARALLEL,       /* search.parallel trainers run */
	DP_WAIT_RETRY,          /* until_us: the retry of a failed attempt */
	DP_WAIT_ORDER,          /* order: deterministic; the result of `trial` */
	DP_WAIT_RUNNING_TRIALS, /* only running trials are left */
	DP_WAIT_REEVALS,        /* only re-evaluations are left */
};

struct dp_step {
	enum dp_step_kind kind;
	enum dp_wait_reason wait_reason;
	int64_t until_us; /* microseconds; INT64_MAX: none */
	uint32_t trial;   /* subject of the step; DP_WAIT_ORDER: the trial waited for */
	int32_t run;      /* DP_STEP_ATTEMPT */
	uint32_t attempt;
	enum dp_event_type record;         /* DP_STEP_RECORD, DP_STEP_ATTEMPT */
	enum dp_study_status study_status; /* of a study-moved */
	bool by_failures;
	enum dp_trial_status trial_status; /* of a trial-ended */
	double objectives[DP_OBJECTIVES_MAX];
	uint32_t nobjectives;
	struct dp_odometer odometer; /* of an accounting-fixed */
	char reason[900];            /* of a record; "": none */
};

/* The record of a step, without study, seq and time; it points into *step. */
struct dp_event dp_step_event(const struct dp_step *step);

/* The next step of a study at the time `now` (microseconds on the clock of the records, not before
 * the newest record). The order is fixed: ends of trials by number, the study's own status, waiting
 * trials of the search, re-evaluations, proposals. */
void dp_policy_next_step(const struct dp_study_state *s, int64_t now, struct dp_step *step);

/* ---- what a proposal may depend on ---- */

/* The next proposal depends only on results of the trials before this number: all trials, or with
 * `order: deterministic` those at least `parallel` trials back. */
uint32_t dp_policy_visible_trials(const struct dp_study_state *s);
/* The number of trials that may still be proposed. */
uint32_t dp_policy_count_proposals_left(const struct dp_study_state *s, int64_t now);

/* ---- time ----
 *
 * search.max_time counts the time that the study was running under a running daemon: the time
 * between records, by the daemon's monotonic clock. When a daemon resumes a study, it first
 * journals a time-noted without `daemon_ran`, which excludes the time before it. */

/* True if the study's time counts towards a limit now. */
bool dp_policy_is_time_limited(const struct dp_study_state *s);
/* Microseconds counted up to `now`. */
int64_t dp_policy_active_us(const struct dp_study_state *s, int64_t now);

/* ---- cost (cost_limit.c) ---- */

/* Expected cost of the study's runs, in search.cost's unit. */
struct dp_expected_cost {
	double spent;   /* dp_state_cost_spent() when the others were computed */
	double pending; /* pending trials; seconds only */
	/* The next trial; NaN: use the mean of past trials for it and for pending ones. */
	double next;
};
/* Returns DP_E_LIMIT if the next run would exceed search.max_cost. */
DP_MUSTCHECK int dp_policy_check_max_cost(const struct dp_study_state *s,
					  const struct dp_expected_cost *e, struct dp_err *err);

/* ---- total privacy loss of the search (privacy_budget.c) ----
 *
 * An odometer accounts for a study whose parameters depend on results; with search.budget a filter
 * limits it. Orders and weights are journaled as accounting-fixed before the first trial. K is the
 * Renyi divergence at the filter's order throughout. */

struct dp_privacy_spending {
	double spent; /* K of all runs that were started, however they ended */
	double max;   /* spent, plus the worst case of pending trials: all runs use all retries */
};
/* Trials from number `window` on count as if they had not ended, so that their results have no
 * influence; see dp_policy_visible_trials(). */
void dp_policy_compute_spending(const struct dp_study_state *s, uint32_t window,
				struct dp_privacy_spending *out);
/* The largest K per run for a new trial, with all runs and worst-case retries; 0: none, +inf: no
 * budget. */
double dp_policy_budget_per_run(const struct dp_study_state *s, uint32_t window);
/* Returns DP_E_LIMIT if search.budget has no room for a new trial with this K per run. */
DP_MUSTCHECK int dp_policy_check_budget(const struct dp_study_state *s, double k,
					struct dp_err *err);
/* Returns DP_E_LIMIT if search.budget has no room to re-evaluate points with `runs` runs each; the
 * hint says what it has room for. k: sum of the points' K. */
DP_MUSTCHECK int dp_policy_check_reeval_budget(const struct dp_study_state *s, double k,
					       uint32_t runs, struct dp_err *err);
/* No point was found for the reason `why`. True if one may be found later, when pending trials have
 * ended and used less of search.budget than in the worst case. */
bool dp_policy_can_propose_later(const struct dp_study_state *s, const struct dp_err *why);
/* The accounting-fixed record, which points into *o. filter: all 0 without a budget. */
struct dp_event dp_policy_accounting_event(const struct dp_odometer *o,
					   const struct dp_filter *filter);

/* ---- user requests (transitions.c) ---- */

/* Events to journal for a request, in this order; none if the request changes nothing. */
struct dp_transition_events {
	struct dp_event events[2]; /* without study, seq and time */
	unsigned count;
};

/* Each returns an error if the request is not possible in the current state. */
DP_MUSTCHECK int dp_policy_pause(const struct dp_study_state *s, struct dp_transition_events *out,
				 struct dp_err *err);
DP_MUSTCHECK int dp_policy_resume(const struct dp_study_state *s, struct dp_transition_events *out,
				  struct dp_err *err);
void dp_policy_stop(const struct dp_study_state *s, struct dp_transition_events *out);
/* now: also while trainers run. */
DP_MUSTCHECK int dp_policy_delete(const struct dp_study_state *s, bool now,
				  struct dp_transition_events *out, struct dp_err *err);
/* `changes` as they will be journaled; a file in them must mean nothing beyond these changes. */
DP_MUSTCHECK int dp_policy_amend(const struct dp_study_state *s,
				 const struct dp_ev_study_amended *changes,
				 struct dp_transition_events *out, struct dp_err *err);
DP_MUSTCHECK int dp_policy_retry(const struct dp_study_state *s, uint32_t trial,
				 struct dp_transition_events *out, struct dp_err *err);
/* Retries the first failed trial from *trial on that can be retried. After journaling the events,
 * call again with the new *trial while *has_more. */
DP_MUSTCHECK int dp_policy_retry_failed(const struct dp_study_state *s, uint32_t *trial,
					bool *has_more, struct dp_transition_events *out,
					struct dp_err *err);
DP_MUSTCHECK int dp_policy_cancel(const struct dp_study_state *s, uint32_t trial,
				  struct dp_transition_events *out, struct dp_err *err);
/* May one more point be enqueued? Its trial-proposed is journaled once its epsilon is known. */
DP_MUSTCHECK int dp_policy_check_enqueue(const struct dp_study_state *s, struct dp_err *err);
DP_MUSTCHECK int dp_policy_check_import(const struct dp_study_state *s, struct dp_err *err);
/* Events that follow the measure-asked records of re-evaluated points. */
DP_MUSTCHECK int dp_policy_reevaluate(const struct dp_study_state *s,
				      struct dp_transition_events *out, struct dp_err *err);

/* There is no next point. DP_E_LIMIT (none left or affordable): the budget ends here. DP_E_ORACLE
 * (the external accountant does not answer): the study pauses. Else the proposer failed: it
 * fails. */
void dp_policy_on_no_proposal(const struct dp_study_state *s, const struct dp_err *why,
			      struct dp_transition_events *out);

/* The trial with this number; DP_E_NOT_FOUND lists the valid numbers. */
DP_MUSTCHECK int dp_policy_find_trial(const struct dp_study_state *s, int64_t number,
				      struct dp_trial **t, struct dp_err *err);
/* The checkpoint result of a trial at this path value; DP_E_NOT_FOUND lists those it has. */
DP_MUSTCHECK int dp_policy_find_checkpoint(const struct dp_study_state *s, const struct dp_trial *t,
					   int64_t at, struct dp_result_id *p, struct dp_err *err);

#endif
