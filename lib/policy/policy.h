/* policy.h - what happens next in a study: a pure function of its journaled state and the time.
 *
 * The daemon does what dp_policy_next_step() returns, journals it, and asks again. A daemon that
 * died between two records asks the same question of the same state, and goes on as the other one
 * would have. Nothing here has effects. */
#ifndef DP_POLICY_POLICY_H
#define DP_POLICY_POLICY_H
#include "base/base.h"
#include "journal/journal.h"
#include "state/state.h"
#include "privacy/composition/adaptive_composition.h"

/* ---- the next step (next_step.c) ---- */

enum dp_step_kind {
	DP_STEP_WAIT,             /* nothing, until something is recorded or `until_us` has come */
	DP_STEP_RECORD,           /* journal dp_step_event(), and ask again */
	DP_STEP_ACCOUNT,          /* the epsilon of `trial` is not in the journal (version 0.1
				   * proposed it): compute and journal it */
	DP_STEP_CHOOSE_FILTER,    /* search.budget needs a filter, which takes a while to choose
				   * (dp_budget_filter()): journal it with the odometer */
	DP_STEP_ATTEMPT,          /* a process may be started: journal dp_step_event() first */
	DP_STEP_PROPOSE,          /* the study's next trial may be proposed */
	DP_STEP_REEVALUATE_FRONT, /* the search is over, and search.remeasure asks for its front:
				   * journal the points to be re-evaluated, a measure-asked
				   * without runs last */
};

/* What a running study waits for. */
enum dp_wait_reason {
	DP_WAIT_NOTHING,        /* it is not running, or it need not wait */
	DP_WAIT_PARALLEL,       /* search.parallel trainers run */
	DP_WAIT_RETRY,          /* a failed attempt is tried again at `until_us` */
	DP_WAIT_ORDER,          /* order: deterministic, for the result of `trial` */
	DP_WAIT_RUNNING_TRIALS, /* only running trials are left */
	DP_WAIT_REEVALS,        /* only re-evaluations are left */
};

struct dp_step {
	enum dp_step_kind kind;
	enum dp_wait_reason wait_reason;
	int64_t until_us; /* microseconds; INT64_MAX: no time of its own */
	uint32_t trial;   /* to account for, to attempt, to end; DP_WAIT_ORDER: waited for */
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

/* The next step of a study at the time `now` (microseconds, on the clock of the records, and never
 * before the newest of them). The order is fixed: ends of trials by number, then the study's own
 * status, then waiting trials of the search, then re-evaluations, then proposals. */
void dp_policy_next_step(const struct dp_study_state *s, int64_t now, struct dp_step *step);

/* ---- what a proposal may depend on ---- */

/* The next proposal depends on the results of the trials before this number only: all trials, or
 * with `order: deterministic` those that are `parallel` back or more. */
uint32_t dp_policy_visible_trials(const struct dp_study_state *s);
/* How many trials may still be proposed. */
uint32_t dp_policy_count_proposals_left(const struct dp_study_state *s, int64_t now);

/* ---- time ----
 *
 * search.max_time counts the time that the study was running under a daemon that ran: the time
 * between its records, by the daemon's monotonic clock. A daemon that takes a study up again first
 * journals a time-noted without `daemon_ran`, which leaves out the time before it. */

/* Does the time of the study count towards a limit now? */
bool dp_policy_is_time_limited(const struct dp_study_state *s);
/* Microseconds that have been counted up to `now`. */
int64_t dp_policy_active_us(const struct dp_study_state *s, int64_t now);

/* ---- cost (cost_limit.c) ---- */

/* What the runs of a study are expected to cost, in search.cost's unit. */
struct dp_expected_cost {
	double spent;   /* dp_state_cost_spent(), when the others were found */
	double pending; /* of pending trials; only for seconds */
	double next;    /* of the next; NaN: the mean of those before it, also for pending ones */
};
/* DP_OK, or DP_E_LIMIT with why search.max_cost leaves no room for the next run. */
DP_MUSTCHECK int dp_policy_check_max_cost(const struct dp_study_state *s,
					  const struct dp_expected_cost *e, struct dp_err *err);

/* ---- total privacy loss of the search (privacy_budget.c) ----
 *
 * An odometer accounts for a study whose settings depend on results, and with search.budget a
 * filter. Orders and weights are journaled as accounting-fixed before the first trial. K is the
 * Renyi divergence at the filter's order everywhere here. */

struct dp_privacy_spending {
	double spent; /* K of all runs that were started, whatever became of them */
	double max;   /* with pending trials, if each of their runs uses all its retries */
};
/* `window`: trials from this number on count as if they had not ended, so that their results
 * have no influence: dp_policy_visible_trials(). */
void dp_policy_compute_spending(const struct dp_study_state *s, uint32_t window,
				struct dp_privacy_spending *out);
/* The largest K of one run that a new trial may have, with all its runs and worst-case retries;
 * 0: none, +inf: there is no budget. */
double dp_policy_budget_per_run(const struct dp_study_state *s, uint32_t window);
/* DP_OK, or DP_E_LIMIT with why search.budget leaves no room for a new trial with this K per run.
 */
DP_MUSTCHECK int dp_policy_check_budget(const struct dp_study_state *s, double k,
					struct dp_err *err);
/* DP_OK, or DP_E_LIMIT with why search.budget leaves no room to re-evaluate points with `runs` runs
 * each, where `k` is the sum of their K, and what it has room for. */
DP_MUSTCHECK int dp_policy_check_reeval_budget(const struct dp_study_state *s, double k,
					       uint32_t runs, struct dp_err *err);
/* No point was found for the reason `why`: may one be found once pending trials have ended and
 * leave more of search.budget than in the worst case? */
bool dp_policy_can_propose_later(const struct dp_study_state *s, const struct dp_err *why);
/* The accounting-fixed record; it points into *o. filter: all 0 without a budget. */
struct dp_event dp_policy_accounting_event(const struct dp_odometer *o,
					   const struct dp_filter *filter);

/* ---- requests of people, and what is journaled for them (transitions.c) ---- */

/* What is to be journaled for a request, in this order; nothing where it is so already. */
struct dp_transition_events {
	struct dp_event events[2]; /* without study, seq and time */
	unsigned count;
};

/* DP_OK, or why it cannot be requested in this state. */
DP_MUSTCHECK int dp_policy_pause(const struct dp_study_state *s, struct dp_transition_events *out,
				 struct dp_err *err);
DP_MUSTCHECK int dp_policy_resume(const struct dp_study_state *s, struct dp_transition_events *out,
				  struct dp_err *err);
void dp_policy_stop(const struct dp_study_state *s, struct dp_transition_events *out);
/* `now`: also while trainers run. */
DP_MUSTCHECK int dp_policy_delete(const struct dp_study_state *s, bool now,
				  struct dp_transition_events *out, struct dp_err *err);
/* `changes` as they are to be journaled; a file in it changes nothing else than they say. */
DP_MUSTCHECK int dp_policy_amend(const struct dp_study_state *s,
				 const struct dp_ev_study_amended *changes,
				 struct dp_transition_events *out, struct dp_err *err);
DP_MUSTCHECK int dp_policy_retry(const struct dp_study_state *s, uint32_t trial,
				 struct dp_transition_events *out, struct dp_err *err);
/* The first failed trial from *trial on that can be retried. Once the events are journaled, *trial
 * is the next one to call it with, if *has_more. */
DP_MUSTCHECK int dp_policy_retry_failed(const struct dp_study_state *s, uint32_t *trial,
					bool *has_more, struct dp_transition_events *out,
					struct dp_err *err);
DP_MUSTCHECK int dp_policy_cancel(const struct dp_study_state *s, uint32_t trial,
				  struct dp_transition_events *out, struct dp_err *err);
/* One more point, whose trial-proposed is journaled once its epsilon is known. */
DP_MUSTCHECK int dp_policy_check_enqueue(const struct dp_study_state *s, struct dp_err *err);
/* Results of another study. */
DP_MUSTCHECK int dp_policy_check_import(const struct dp_study_state *s, struct dp_err *err);
/* Points are re-evaluated: what follows their measure-asked. */
DP_MUSTCHECK int dp_policy_reevaluate(const struct dp_study_state *s,
				      struct dp_transition_events *out, struct dp_err *err);

/* There is no next point, and why (DP_E_LIMIT: none is left, or affordable; DP_E_ORACLE: its
 * external accountant does not answer; else the proposer failed): the budget ends here, the study
 * pauses, or it fails. */
void dp_policy_on_no_proposal(const struct dp_study_state *s, const struct dp_err *why,
			      struct dp_transition_events *out);

/* The trial of this number; DP_E_NOT_FOUND with the numbers that there are. */
DP_MUSTCHECK int dp_policy_find_trial(const struct dp_study_state *s, int64_t number,
				      struct dp_trial **t, struct dp_err *err);
/* The checkpoint of a trial at this value, which is a result; DP_E_NOT_FOUND with those that there
 * are. */
DP_MUSTCHECK int dp_policy_find_checkpoint(const struct dp_study_state *s, const struct dp_trial *t,
					   int64_t at, struct dp_result_id *p, struct dp_err *err);

#endif
