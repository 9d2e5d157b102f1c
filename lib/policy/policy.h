/* policy.h - what happens next in a study: a pure function of its journaled state and
 * the time.
 *
 * Whoever runs studies does what dp_policy_next_step() says, journals it, and asks again. A
 * daemon that died between two records asks the same question of the same state, and
 * goes on as the other one would have. Nothing here has effects. */
#ifndef DP_POLICY_POLICY_H
#define DP_POLICY_POLICY_H
#include "base/base.h"
#include "journal/journal.h"
#include "state/state.h"

/* ---- the next step (policy.c) ---- */

enum dp_step_kind {
	DP_STEP_WAIT,             /* nothing, until something is recorded or `until` has come */
	DP_STEP_RECORD,           /* `event` follows from what is known: journal it, ask again */
	DP_STEP_ACCOUNT,          /* the epsilon of trial `event.trial` is not in the journal (its
				   * proposal is of version 0.1): ask the oracles, journal it */
	DP_STEP_CHOOSE_FILTER,    /* search.budget needs a filter, which takes a while to choose
				   * (dp_budget_filter()): journal it with the odometer */
	DP_STEP_ATTEMPT,          /* a process may be started: `event` plans it */
	DP_STEP_PROPOSE,          /* the study's next trial may be proposed */
	DP_STEP_REEVALUATE_FRONT, /* the search is over, and search.remeasure wants its front: find
				   * that and journal what is to be measured, a measure-asked
				   * without runs last */
};

/* What a study that runs waits for. */
enum dp_wait_reason {
	DP_WAIT_NOTHING,        /* it is not running, or it need not wait */
	DP_WAIT_PARALLEL,       /* as many trainers run as it may have */
	DP_WAIT_RETRY,          /* a failed attempt is tried again at `until` */
	DP_WAIT_ORDER,          /* order: deterministic, for the result of `trial` */
	DP_WAIT_RUNNING_TRIALS, /* nothing is left but what runs */
	DP_WAIT_REEVALS,        /* the same, and all of that measures points again */
};

struct dp_step {
	enum dp_step_kind kind;
	enum dp_wait_reason wait_reason;
	uint32_t trial;        /* DP_WAIT_ORDER: that is waited for */
	int64_t until_us;      /* microseconds; INT64_MAX: no time of its own */
	struct dp_event event; /* without study, seq and time; points into this struct */
	double objectives[DP_OBJECTIVES_MAX]; /* of a trial-ended */
	struct dp_odometer odometer;          /* of an accounting-fixed */
	char reason[900];
};

/* The next step of a study at the time `now` (microseconds, on the clock that the
 * records have, and never before the newest of them). Out of two steps that are
 * possible it is always the same one: ends of trials by number, then the study's own
 * fate, then trials of the search that wait, then those that measure points again, then
 * new ones. */
void dp_policy_next_step(const struct dp_study_state *s, int64_t now, struct dp_step *step);

/* ---- what a proposal may depend on ---- */

/* The next proposal depends on the results of the trials before this number, and on
 * no others: all there are, but with `order: deterministic` those that are `parallel`
 * back or more. */
uint32_t dp_policy_visible_trials(const struct dp_study_state *s);
/* Trials that may still be proposed, whatever runs now. */
uint32_t dp_policy_count_proposals_left(const struct dp_study_state *s, int64_t now);

/* ---- time ----
 *
 * search.max_time counts time that the study was running, not paused, under a daemon that
 * ran: what there is between its records, as the daemon's monotonic clock measured it. A
 * daemon that takes a study up again journals a time-noted that is not `counted` before
 * anything else, so that the time before it, when none ran, is left out. */

/* Does the time of the study count towards a limit now? */
bool dp_policy_is_time_limited(const struct dp_study_state *s);
/* Microseconds that have been counted up to `now`. */
int64_t dp_policy_active_us(const struct dp_study_state *s, int64_t now);

/* ---- cost (cost.c) ---- */

/* What the trainings of a study are expected to cost, in search.cost's unit. */
struct dp_expected_cost {
	double spent;   /* dp_state_cost_spent(), when the others were found */
	double pending; /* those that are pending; only of seconds */
	double next;    /* the next; NaN: as the mean of those before it, and so those that
			 * are pending */
};
/* The sum of all costs with the next training. */
double dp_policy_expected_cost(const struct dp_study_state *s, const struct dp_expected_cost *e);
/* DP_OK, or DP_E_LIMIT with why search.max_cost leaves no room for the next training. */
DP_MUSTCHECK int dp_policy_check_max_cost(const struct dp_study_state *s,
					  const struct dp_expected_cost *e, struct dp_err *err);

/* ---- the privacy of the whole search (budget.c) ----
 *
 * A study whose settings depend on results is accounted for by an odometer; one with
 * search.budget by a filter, too. Orders and weights are journaled as accounting-fixed
 * before the first trial. K is that of the filter's order everywhere here. */

struct dp_privacy_spending {
	double spent; /* K of all trainings that were begun, whatever became of them */
	double max;   /* that with what is pending, if each run of it fails as often as it
		       * may be tried */
};
/* `window`: trials from this number on count as if they had not ended, so that no result
 * of them shows: dp_policy_visible_trials(). */
void dp_policy_compute_spending(const struct dp_study_state *s, uint32_t window,
				struct dp_privacy_spending *out);
/* The largest K of one training that a new trial may have, with all its runs and
 * worst-case retries; 0: none, +inf: there is no budget. */
double dp_policy_budget_per_run(const struct dp_study_state *s, uint32_t window);
/* DP_OK, or DP_E_LIMIT with why search.budget leaves no room for a new trial whose
 * trainings have this K each. */
DP_MUSTCHECK int dp_policy_check_budget(const struct dp_study_state *s, double k,
					struct dp_err *err);
/* DP_OK, or DP_E_LIMIT with why search.budget leaves no room for measuring points so many
 * times each, of which K adds up to `k`, and what it has room for. */
DP_MUSTCHECK int dp_policy_check_reeval_budget(const struct dp_study_state *s, double k,
					       uint32_t runs, struct dp_err *err);
/* No point was found for the reason `why`: may one be, once what is pending has ended and
 * leaves more of search.budget than it might have? */
bool dp_policy_can_propose_later(const struct dp_study_state *s, const struct dp_err *why);
/* The record of what is fixed; it points into *o. filter: all 0 without a budget. */
struct dp_event dp_policy_accounting_event(const struct dp_odometer *o,
					   const struct dp_filter *filter);

/* ---- what others say, and what is journaled for it (transitions.c) ---- */

/* What a person may ask for. */
enum dp_transition_kind {
	DP_TRANSITION_PAUSE,
	DP_TRANSITION_RESUME,
	DP_TRANSITION_STOP,
	DP_TRANSITION_SET,
	DP_TRANSITION_RETRY,        /* `trial` */
	DP_TRANSITION_RETRY_FAILED, /* every failed trial from `trial` on that can be retried */
	DP_TRANSITION_CANCEL,       /* `trial` */
	DP_TRANSITION_ENQUEUE,      /* one more point */
	DP_TRANSITION_IMPORT,       /* results of another study */
	DP_TRANSITION_REEVALUATE,   /* a point again: what follows its measure-asked */
	DP_TRANSITION_DELETE,       /* `now`: also while trainers run */
};

struct dp_transition {
	enum dp_transition_kind kind;
	uint32_t trial;
	bool force;
	/* DP_TRANSITION_SET: */
	double evaluations, parallel, priority; /* NaN: unchanged */
	const char *const *changes;             /* (nchanges) "trainer.timeout=30s" */
	uint32_t nchanges;
	const char *text, *path, *dir; /* of a file that takes the place of the study's,
					* and changes no more than this; or NULL */
};

/* What is to be journaled for it, in this order; none where it is so already. */
struct dp_transition_events {
	struct dp_event events[2]; /* without study, seq and time */
	unsigned count;
	bool has_more;       /* once these are journaled, the same is to be asked again, */
	uint32_t next_trial; /* with this number as `trial` */
};

/* The trial of this number; DP_E_NOT_FOUND with the numbers that there are. */
DP_MUSTCHECK int dp_policy_find_trial(const struct dp_study_state *s, int64_t number,
				      struct dp_trial **t, struct dp_err *err);
/* The waypoint of a trial at this value, which is a result; DP_E_NOT_FOUND with those
 * that there are. */
DP_MUSTCHECK int dp_policy_find_checkpoint(const struct dp_study_state *s, const struct dp_trial *t,
					   int64_t at, struct dp_result_id *p, struct dp_err *err);
/* There is no next point, and why (DP_E_LIMIT: none is left, or affordable; DP_E_ORACLE:
 * its oracle program cannot be asked; else the proposer failed): the budget ends here,
 * the study pauses, or it fails. */
void dp_policy_on_no_proposal(const struct dp_study_state *s, const struct dp_err *why,
			      struct dp_transition_events *out);

/* DP_OK, or why it cannot be asked for in this state. */
DP_MUSTCHECK int dp_policy_plan_transition(const struct dp_study_state *s,
					   const struct dp_transition *a,
					   struct dp_transition_events *out, struct dp_err *err);

#endif
