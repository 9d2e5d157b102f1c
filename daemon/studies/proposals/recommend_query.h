/* recommend_query.h - settings that clients ask for, by levels of an objective: who asked, and what
 * they get. proposal_job.c says when, since models are its business. The loop's, but for
 * recommend_query_compute(). */
#ifndef DP_DAEMON_STUDIES_PROPOSALS_RECOMMEND_QUERY_H
#define DP_DAEMON_STUDIES_PROPOSALS_RECOMMEND_QUERY_H
#include "daemon/studies/study_object.h"
#include "optimize/history/level_queries.h"
#include "study/accounting.h"

/* Clients with their questions, first come first. */
struct recommend_query;

/* Adds a question; levels as the protocol has them. */
DP_MUSTCHECK int recommend_query_add(struct recommend_query **list, struct study *study,
				     uint64_t client, const json_t *levels, struct dp_err *err);
/* Looks at what is tested now. */
void recommend_query_snapshot(struct recommend_query *list, const struct dp_study_state *s);
/* On a worker thread: finds all answers. What fails for one fails for that one alone. */
void recommend_query_compute(struct recommend_query *list, struct dp_proposer *p,
			     const struct dp_study *spec, const struct dp_history_subset *r,
			     const struct dp_external_callback *programs,
			     const atomic_bool *cancel);
/* Answers all, and forgets them. why: nothing was found, since this went wrong; NULL:
 * each has an answer. */
void recommend_query_reply(struct recommend_query **list, struct study *study,
			   const struct dp_err *why);
void recommend_query_free(struct recommend_query **list);

#endif
