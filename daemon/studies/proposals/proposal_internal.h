/* proposal_internal.h - a study's asker: what ask*.c share.
 *
 * One question at a time. While `busy`, a worker thread has what is marked so below; all
 * else, and every function but proposal_worker(), is the loop's. */
#ifndef DP_DAEMON_STUDIES_PROPOSALS_PROPOSAL_INTERNAL_H
#define DP_DAEMON_STUDIES_PROPOSALS_PROPOSAL_INTERNAL_H
#include "daemon/studies/proposals/proposal_job.h"
#include "daemon/studies/proposals/recommend_query.h"
#include "daemon/studies/pending_replies.h"
#include "optimize/propose/proposer.h"

#include <stdatomic.h>

enum proposal_task {
	PROPOSAL_NEXT_TRIAL,     /* the next point, to be recorded */
	PROPOSAL_PREFETCH,       /* points of a method that needs no results, before they are due */
	PROPOSAL_PREVIEW,        /* the next point, for a client */
	PROPOSAL_BUDGET_FILTER,  /* the filter of search.budget, to be recorded */
	PROPOSAL_SMOOTHED_FRONT, /* the front of the models' values, for clients and to be kept */
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

/* Who wants to see the next point, and who a front. */
enum model_query_kind {
	MODEL_QUERY_FRONT,
	MODEL_QUERY_NEXT_POINT,
	MODEL_QUERY_KINDS /* beside these: recommendations, each of which is another one */
};

/* The front of the models' values. */
struct smoothed_front {
	uint32_t results_version; /* of the results */
	double hypervolume;
	bool modelled; /* false: too little was known, it is the observed one */
	json_t *rows;
};

/* A study's proposer, with the question under way. */
struct proposal_job {
	struct study *study;
	struct dp_proposer *proposer;      /* keeps models from one question to the next */
	struct proposed_point *prefetched; /* (nahead) found ahead, by trial */
	unsigned n_prefetched;
	unsigned last_batch; /* so many were asked for last */

	bool busy;               /* a worker thread has what follows */
	unsigned reserved_slots; /* places that what is asked for will want */
	bool uses_accountant;    /* counted in d->asking_programs */
	uv_work_t work;
	atomic_bool cancel;
	enum proposal_task task;
	uint32_t trial, conditioned_on;
	double cost_spent; /* dp_state_cost_spent() */
	/* search.budget: the filter's order, 0 without one; what a training may take of
	 * it as far as the proposal may know, and as soon as nothing is pending */
	double filter_order, budget_left, final_budget_left;
	int64_t blocked_at_seq; /* no point fits before there is a record after this one; -1 */
	struct dp_accounting accounting; /* PROPOSAL_BUDGET_FILTER */
	struct dp_observation *known;
	size_t nknown;
	struct dp_proposal proposal;
	struct proposed_point *points; /* (nfound of room) */
	unsigned n_points, points_capacity;
	/* PROPOSAL_SMOOTHED_FRONT, PROPOSAL_RECOMMEND: */
	struct dp_history_subset results;
	bool is_subset; /* of more results that there are */
	struct recommend_query *recommend_queries,
		*later_recommend_queries; /* asked, and who came later */
	/* PROPOSAL_SMOOTHED_FRONT: */
	struct smoothed_front front;
	json_t *front_reply; /* what clients get, as of the snapshot; the front comes last */
	struct pending_reply *recipients;                          /* who gets the answer */
	struct pending_reply *later_recipients[MODEL_QUERY_KINDS]; /* who came later */
	struct dp_err err;
	int code;
};

/* ask.c: begins a question, of which `points` are wanted from `trial` on. */
DP_MUSTCHECK int proposal_start(struct study *study, enum proposal_task question, uint32_t trial,
				unsigned points, struct dp_err *err);
/* Nobody else gets these places while the points for them are looked for. */
void proposal_reserve_slots(struct study *study, unsigned places);
/* What trials took of search.max_cost. Counted only where there is one: it is a sum over
 * all trials. */
double proposal_cost_spent(const struct study *study);
/* Records the point, or that search.max_cost or search.budget leaves no room for it. One
 * that is refused will not be trained. */
void proposal_record_if_affordable(struct study *study, const struct proposed_point *p,
				   double spent, uint32_t basis);
/* No point was found: a->err says why. */
void proposal_handle_failure(struct proposal_job *job);

/* proposal_worker.c: the worker's part, for uv_queue_work(). */
void proposal_worker(uv_work_t *w);

/* model_queries.c: copies what a front, or settings, are found from; false without memory.
 */
DP_MUSTCHECK bool model_query_snapshot_front(struct proposal_job *job);
DP_MUSTCHECK bool model_query_snapshot_recommend(struct proposal_job *job);
/* Tells them what was found, whose reference is taken, or a->err if a->code says so. */
void model_query_reply(struct proposal_job *job, struct pending_reply **list, json_t *ok);
/* The worker has answered: those who asked are told. */
void model_query_finish_point(struct proposal_job *job);
void model_query_finish_front(struct proposal_job *job);
void model_query_finish_recommend(struct proposal_job *job);

/* prefetch.c: points were found. */
void prefetch_finish(struct proposal_job *job);
/* proposal_next() of a method whose points are found ahead: one that is there already, or the
 * order to find some. */
bool prefetch_next(struct study *study);

#endif
