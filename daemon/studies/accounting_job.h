/* accounting_job.h - privacy oracles asked, off the loop, for points that no proposer found:
 * those that a person enqueued, and trials of version 0.1, which did not journal
 * epsilon with the point. */
#ifndef DP_DAEMON_STUDIES_ACCOUNTING_JOB_H
#define DP_DAEMON_STUDIES_ACCOUNTING_JOB_H
#include "daemon/api/requests.h"

/* Records the point as the study's next trial once its epsilons are known, and answers
 * the client. */
DP_MUSTCHECK int accounting_enqueue_point(struct study *study, const double *x,
					  const struct request *r, struct dp_err *err);
/* On a worker thread: solves for calibrated parameters. One may be given, as part of a
 * whole point that somebody was shown, but only as what it is calibrated to: else *wrong
 * says so, which is left alone otherwise. */
void accounting_solve_calibrated(const struct dp_study *spec, double *x, struct dp_err *wrong);
/* Finds and records the epsilons of a trial. */
void accounting_start_trial(struct study *study, uint32_t trial);

#endif
