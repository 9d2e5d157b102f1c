/* reevaluation_job.h - chooses points to re-evaluate, computes their cost on a worker thread and
 * journals them in one commit. */
#ifndef DP_DAEMON_STUDIES_REEVALUATION_JOB_H
#define DP_DAEMON_STUDIES_REEVALUATION_JOB_H
#include "daemon/studies/pending_replies.h"

/* A client's request: `points`, a point of the space (x), or neither for the study's front. */
struct reevaluation_request {
	uint32_t runs;
	const struct dp_result_id *points; /* (n_points) results of the study */
	size_t n_points;
	const double *x; /* calibrated parameters may be NaN */
	uint64_t client_id;
	const char *requested_by;
	reply_builder *summary; /* builds the reply */
};

/* Replies once all is recorded. Skips points already being re-evaluated with as many runs. */
void reevaluation_submit(struct study *study, const struct reevaluation_request *wish);
/* Asks the worker thread to give up, because the study is deleted or the daemon stops. */
void reevaluation_cancel(struct study *study);
/* Called when the search is over: re-evaluates the front as search.remeasure says. */
void reevaluation_start_final(struct study *study);

#endif
