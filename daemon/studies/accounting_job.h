/* accounting_job.h - computes epsilons off the loop for points that no proposer found. These are
 * points that users enqueue, and trials of version 0.1, which did not journal epsilons. */
#ifndef DP_DAEMON_STUDIES_ACCOUNTING_JOB_H
#define DP_DAEMON_STUDIES_ACCOUNTING_JOB_H
#include "daemon/core/peer_name.h"
#include "daemon/studies/study_object.h"

/* Records the point as the next trial once its epsilons are known. Then sends the client what
 * `answer` makes of that trial. */
void accounting_enqueue_point(struct study *study, const double *x, uint64_t client_id,
			      const char *requested_by,
			      json_t *(*answer)(struct study *, const struct dp_trial *));
/* On a worker thread: solves for calibrated parameters. x may have a value for one only if it
 * equals the solution, as in a point that a client was shown; otherwise *wrong is set. Does not
 * clear *wrong. */
void accounting_solve_calibrated(const struct dp_study *spec, double *x, struct dp_err *wrong);
void accounting_start_trial(struct study *study, uint32_t trial);

#endif
