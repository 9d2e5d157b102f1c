/* proposals.h - proposes points, computes their privacy and answers model queries. Worker threads
 * compute on a copied snapshot. */
#ifndef DP_DAEMON_STUDIES_PROPOSALS_PROPOSALS_H
#define DP_DAEMON_STUDIES_PROPOSALS_PROPOSALS_H
#include "daemon/studies/study_object.h"

/* ---- for studies ---- */

/* Proposes the next trial, at once or after a worker thread has found it. */
void proposal_next(struct study *study);
void proposal_choose_budget_filter(struct study *study);
/* Called when nothing can start now: prefetches points if the method allows. */
void prefetch_when_idle(struct study *study);
/* Computes and caches the smoothed front of a study that just finished and still has its models.
 * False: nothing was started. */
bool smoothed_front_start_final(struct study *study);
/* False while the next point is being computed. */
bool proposal_is_ready(const struct study *study);
/* True if no point fits search.budget until a pending run has ended. */
bool proposal_is_blocked_by_budget(const struct study *study);
/* True while a worker thread uses the study, which must not be freed then. */
bool proposal_is_busy(const struct study *study);
void proposal_cancel(struct study *study);
/* Cancels the task if it computes the next point, which is no longer needed. */
void proposal_cancel_point(struct study *study);
/* Handles that no next point exists or that its privacy cannot be computed: ends the study or
 * pauses it for the user. */
void proposal_handle_no_point(struct study *study, const struct dp_err *why);
/* Frees models and prefetched points. Nothing may be running. */
void proposal_discard_job(struct study *study);

/* ---- for clients ---- */

/* Sends the client the point that would be proposed next. Records nothing. */
void model_query_next_point(struct study *study, uint64_t client_id);
/* Sends the client the smoothed front, after the worker thread's current task. */
void model_query_front(struct study *study, uint64_t client_id);
/* Sends the client settings for these levels ("levels" in docs/protocol.md). */
DP_MUSTCHECK int model_query_recommend(struct study *study, uint64_t client_id,
				       const json_t *levels, struct dp_err *err);
/* Called at the end of a turn: starts waiting queries if the study itself needs nothing. */
void proposal_serve_queries(struct study *study);

/* ---- points from elsewhere ---- */

enum {
	POINT_REFUSAL_LEN = 300
};
/* On a worker thread: computes the epsilons of a point; NaN for other objectives. refused: why a
 * point has no answer, or "". Solves for unsolved calibrated parameters first. Call
 * accountants_prepare() before. Fails if an external accountant could not be asked. */
DP_MUSTCHECK int point_privacy_compute(const struct study *study, const atomic_bool *cancel,
				       double *x, double *privacy, char refused[POINT_REFUSAL_LEN],
				       struct dp_err *err);
/* On a worker thread: computes K of one training run at x, up to `at` on its learning curve (NaN:
 * as x says). +inf: no bound. order: the filter's; 0: *k is NaN. */
DP_MUSTCHECK int point_privacy_renyi(const struct dp_study *spec, double order, const double *x,
				     double at, double *k, struct dp_err *err);
struct proposal_source {
	const char *source;
	uint32_t conditioned_on;
	double proposal_seconds;
	const char *requested_by; /* NULL: no client */
};
/* Journals a point as the next trial. `privacy` has an entry for each objective, NaN without an
 * accountant. refused: why a point has no answer, or "". renyi: K of point_privacy_renyi(). */
void proposal_record_trial(struct study *study, const double *x, const struct proposal_source *how,
			   const double *privacy, const char *refused, double renyi);

#endif
