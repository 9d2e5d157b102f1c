/* accounting_job.h - privacy accountants asked off the loop for points that no proposer found:
 * those that a person enqueued, and trials of version 0.1, which did not journal epsilon with the
 * point. */
#ifndef DP_DAEMON_STUDIES_ACCOUNTING_JOB_H
#define DP_DAEMON_STUDIES_ACCOUNTING_JOB_H
#include "daemon/core/peer_name.h"
#include "daemon/studies/study_object.h"

/* Records the point as the study's next trial once its epsilons are known, and answers the client
 * with what `answer` makes of that trial. */
void accounting_enqueue_point(struct study *study, const double *x, uint64_t client_id,
			      const char *requested_by,
			      json_t *(*answer)(struct study *, const struct dp_trial *));
/* On a worker thread: solves for calibrated parameters. One may be given, as part of a whole point
 * that a client was shown, but only as what it is calibrated to: else *wrong says so, which is left
 * alone otherwise. */
void accounting_solve_calibrated(const struct dp_study *spec, double *x, struct dp_err *wrong);
/* Finds and records the epsilons of a trial. */
void accounting_start_trial(struct study *study, uint32_t trial);

#endif
