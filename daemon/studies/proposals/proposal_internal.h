/* proposal_internal.h - a study's proposer: what the files of this directory share.
 *
 * One task at a time. While the job runs, a worker thread has what is marked so below; all else,
 * and every function but proposal_worker(), is the loop's. */
#ifndef DP_DAEMON_STUDIES_PROPOSALS_PROPOSAL_INTERNAL_H
#define DP_DAEMON_STUDIES_PROPOSALS_PROPOSAL_INTERNAL_H
#include "daemon/core/background_job.h"
#include "daemon/studies/pending_replies.h"
#include "daemon/studies/proposals/proposals.h"
#include "daemon/studies/proposals/recommend_query.h"
#include "daemon/studies/smoothed_front.h"
#include "optimize/propose/proposer.h"

enum proposal_task {
	PROPOSAL_NEXT_TRIAL,     /* the next point, to be recorded */
	PROPOSAL_PREFETCH,       /* points of a method that needs no results, before they are due */
	PROPOSAL_PREVIEW,        /* the next point, for a client */
	PROPOSAL_BUDGET_FILTER,  /* the filter of search.budget, to be recorded */
	PROPOSAL_SMOOTHED_FRONT, /* for clients and to be kept */
	PROPOSAL_RECOMMEND,      /* recommendations, for clients */
};

/* A point with its epsilons, not recorded yet. */
struct proposed_point {
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	const char *source; /* static text */
	char refusal[POINT_REFUSAL_LEN];
	double cost, pending_cost; /* of dp_proposal */
	double renyi;              /* K at the filter's order; NaN without search.budget */
	double proposal_seconds;   /* seconds that it took to find it, and its epsilons */
};

/* What clients wait for, beside recommendations, each of which is another one. */
enum model_query_kind {
	MODEL_QUERY_FRONT,
	MODEL_QUERY_NEXT_POINT,
	MODEL_QUERY_KINDS
};

/* A study's proposer, with the task under way. */
struct proposal_job {
	struct study *study;
	struct dp_proposer *proposer;      /* keeps models from one task to the next */
	struct proposed_point *prefetched; /* (n_prefetched) found ahead, by trial */
	unsigned n_prefetched;
	unsigned last_batch; /* so many were asked for last */

	struct background_job job; /* while it runs, a worker thread has what follows */
	unsigned reserved_slots;   /* that what is asked for will want */
	bool uses_accountant;      /* counted in studies.n_accountant_users */
	enum proposal_task task;
	uint32_t trial, conditioned_on;
	double cost_spent; /* dp_state_cost_spent() */
	/* search.budget: the filter's order, 0 without one; what a training may take of it as far
	 * as the proposal may know, and as soon as nothing is pending */
	double filter_order, budget_left, final_budget_left;
	int64_t blocked_at_seq; /* no point fits before there is a record after this one; -1 */
	struct dp_accounting accounting; /* PROPOSAL_BUDGET_FILTER */
	struct dp_observation *known;
	size_t nknown;
	struct dp_proposal proposal;
	struct proposed_point *points; /* (n_points of points_capacity) */
	unsigned n_points, points_capacity;
	struct smoothed_front_input input; /* PROPOSAL_SMOOTHED_FRONT, PROPOSAL_RECOMMEND */
	struct recommend_query *recommend_queries,
		*later_recommend_queries; /* and who came later */
	json_t *front_reply;              /* as of the snapshot; the front comes last */
	struct pending_reply *recipients; /* of the answer */
	struct pending_reply *later_recipients[MODEL_QUERY_KINDS];
	struct dp_err err;
	int code;
};

/* proposal_job.c: begins a task, of which `points` are wanted from `trial` on. */
void proposal_start(struct study *study, enum proposal_task task, uint32_t trial, unsigned points);
/* Nobody else gets these slots while the points for them are looked for. */
void proposal_reserve_slots(struct study *study, unsigned n);
/* What trials took of search.max_cost. Counted only where there is one: it is a sum over all
 * trials.
 */
double proposal_cost_spent(const struct study *study);
/* Records the point, or that search.max_cost or search.budget leaves no room for it. One that is
 * refused will not be trained. */
void proposal_record_if_affordable(struct study *study, const struct proposed_point *p,
				   double spent, uint32_t basis);
/* No point was found: job->err says why. */
void proposal_handle_failure(struct proposal_job *job);

/* proposal_worker.c: the worker's part. */
void proposal_worker(void *arg);

/* model_queries.c: copies what a front, or settings, are found from. */
void model_query_snapshot_front(struct proposal_job *job);
void model_query_snapshot_recommend(struct proposal_job *job);
/* The worker has answered: the clients get it. */
void model_query_finish_point(struct proposal_job *job);
void model_query_finish_front(struct proposal_job *job);
void model_query_finish_recommend(struct proposal_job *job);

/* prefetch.c: points were found. */
void prefetch_finish(struct proposal_job *job);
/* proposal_next() of a method whose points are found ahead: one that is there already, or the order
 * to find some. */
void prefetch_next(struct study *study);

#endif
