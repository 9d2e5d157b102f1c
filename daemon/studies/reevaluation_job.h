/* reevaluation_job.h - points that are re-evaluated with fresh seeds: which they are and what they
 * cost is found by a worker thread, then they are journaled, all of them in one commit. */
#ifndef DP_DAEMON_STUDIES_REEVALUATION_JOB_H
#define DP_DAEMON_STUDIES_REEVALUATION_JOB_H
#include "daemon/studies/pending_replies.h"

/* What a client asks for. One of: `points`, a point of the space (x), or neither: the study's
 * front.
 */
struct reevaluation_request {
	uint32_t runs;
	const struct dp_result_id *points; /* (n_points) results of the study */
	size_t n_points;
	const double *x; /* calibrated parameters may be NaN */
	uint64_t client_id;
	const char *requested_by;
	reply_builder *summary; /* of the study, for the answer */
};

/* Answers the client once all is recorded; what is being re-evaluated with as many runs already is
 * not asked for again. */
void reevaluation_submit(struct study *study, const struct reevaluation_request *wish);
/* The worker thread gives up as soon as it can; the study or its daemon is about to go.
 */
void reevaluation_cancel(struct study *study);
/* The search is over: has its front re-evaluated, as search.remeasure says. */
void reevaluation_start_final(struct study *study);

#endif
