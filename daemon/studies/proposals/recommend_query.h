/* recommend_query.h - client queries for recommended settings at given levels of an objective.
 * proposal_job.c decides when they run. Loop thread only, except recommend_query_compute(). */
#ifndef DP_DAEMON_STUDIES_PROPOSALS_RECOMMEND_QUERY_H
#define DP_DAEMON_STUDIES_PROPOSALS_RECOMMEND_QUERY_H
#include "daemon/studies/study_object.h"
#include "optimize/history/level_queries.h"
#include "study/accounting.h"

/* A list of clients and their queries, in order of arrival. */
struct recommend_query;

/* Adds a query; levels as in docs/protocol.md. */
DP_MUSTCHECK int recommend_query_add(struct recommend_query **list, struct study *study,
				     uint64_t client, const json_t *levels, struct dp_err *err);
/* Copies which points are evaluated now. */
void recommend_query_snapshot(struct recommend_query *list, const struct dp_study_state *s);
/* On a worker thread: answers all queries. An error in one does not affect the others. */
void recommend_query_compute(struct recommend_query *list, struct dp_proposer *p,
			     const struct dp_study *spec, const struct dp_history_subset *r,
			     const struct dp_external_callback *programs,
			     const atomic_bool *cancel);
/* Replies to all clients and clears the list. why: an error for all; NULL: none. */
void recommend_query_reply(struct recommend_query **list, struct study *study,
			   const struct dp_err *why);
void recommend_query_free(struct recommend_query **list);

#endif
