/* proposal_internal.h - a study's proposal job, shared by the files of this directory. One task at
 * a time. While the job runs, a worker thread owns the fields marked below. All other fields, and
 * all functions except proposal_worker(), belong to the loop. */
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
	PROPOSAL_PREFETCH,       /* future points of a method that needs no results */
	PROPOSAL_PREVIEW,        /* the next point, for a client */
	PROPOSAL_BUDGET_FILTER,  /* the privacy filter of search.budget, to be recorded */
	PROPOSAL_SMOOTHED_FRONT, /* for clients and the cache */
	PROPOSAL_RECOMMEND,      /* for clients */
};

/* A point with its epsilons, not recorded yet. */
struct proposed_point {
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	const char *source; /* static text */
	char refusal[POINT_REFUSAL_LEN];
	double cost, pending_cost; /* as in dp_proposal */
	double renyi;              /* K at the filter's order; NaN without search.budget */
	double proposal_seconds;   /* time to find it and its epsilons */
};

/* Queries that share one answer; each recommendation has its own. */
enum model_query_kind {
	MODEL_QUERY_FRONT,
	MODEL_QUERY_NEXT_POINT,
	MODEL_QUERY_KINDS
};

struct proposal_job {
	struct study *study;
	struct dp_proposer *proposer;      /* keeps models between tasks */
	struct proposed_point *prefetched; /* (n_prefetched) by trial */
	unsigned n_prefetched;
	unsigned last_batch;

	struct background_job job; /* while it runs, a worker thread owns what follows */
	unsigned reserved_slots;   /* for the points of this task */
	bool uses_accountant;      /* counted in studies.n_accountant_users */
	enum proposal_task task;
	uint32_t trial, conditioned_on;
	double cost_spent;
	/* search.budget: the filter's order (0: no budget), and what one training run may use of
	 * it: by the results that the proposal sees, and once nothing is pending */
	double filter_order, budget_left, final_budget_left;
	int64_t blocked_at_seq; /* no point fits until a record after this one; -1 */
	struct dp_accounting accounting;
	struct dp_observation *known;
	size_t nknown;
	struct dp_proposal proposal;
	struct proposed_point *points; /* (n_points of points_capacity) */
	unsigned n_points, points_capacity;
	struct smoothed_front_input input; /* PROPOSAL_SMOOTHED_FRONT, PROPOSAL_RECOMMEND */
	struct recommend_query *recommend_queries, *later_recommend_queries; /* that came later */
	json_t *front_reply;              /* as of the snapshot; the front is added last */
	struct pending_reply *recipients; /* of the reply */
	struct pending_reply *later_recipients[MODEL_QUERY_KINDS];
	struct dp_err err;
	int code;
};

/* proposal_job.c: starts a task for `points` points from `trial` on. */
void proposal_start(struct study *study, enum proposal_task task, uint32_t trial, unsigned points);
/* Reserves slots while points for them are computed. */
void proposal_reserve_slots(struct study *study, unsigned n);
/* What trials used of search.max_cost; 0 without the key, to save the sum. */
double proposal_cost_spent(const struct study *study);
/* Records the point, or that it exceeds search.max_cost or search.budget. */
void proposal_record_if_affordable(struct study *study, const struct proposed_point *p,
				   double spent, uint32_t basis);
/* Handles a task without a point; job->err has the reason. */
void proposal_handle_failure(struct proposal_job *job);

void proposal_worker(void *arg);

/* model_queries.c: copy the input for a front or for recommendations. */
void model_query_snapshot_front(struct proposal_job *job);
void model_query_snapshot_recommend(struct proposal_job *job);
/* Reply to the clients after the worker thread is done. */
void model_query_finish_point(struct proposal_job *job);
void model_query_finish_front(struct proposal_job *job);
void model_query_finish_recommend(struct proposal_job *job);

void prefetch_finish(struct proposal_job *job);
/* proposal_next() for methods with prefetch: records a stored point, or starts a task. */
void prefetch_next(struct study *study);

#endif
