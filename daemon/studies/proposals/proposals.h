/* proposals.h - the next point of a study and its privacy, and what clients ask its models, found
 * by worker threads on a copied snapshot. */
#ifndef DP_DAEMON_STUDIES_PROPOSALS_PROPOSALS_H
#define DP_DAEMON_STUDIES_PROPOSALS_PROPOSALS_H
#include "daemon/studies/study_object.h"

/* ---- for the study ---- */

/* Proposes the next trial, at once or when a worker thread has found it. */
void proposal_next(struct study *study);
/* Has the filter of search.budget chosen, and records it. */
void proposal_choose_budget_filter(struct study *study);
/* Nothing can start now: has points found ahead of time, where the method allows. */
void prefetch_when_idle(struct study *study);
/* Has the front found for later, of a study that just finished and still has its models; false:
 * nothing was begun. */
bool smoothed_front_start_final(struct study *study);
/* Can the next trial be asked for now? Not while it is being looked for. */
bool proposal_is_ready(const struct study *study);
/* Does nothing fit search.budget until something that is pending has ended? */
bool proposal_is_blocked_by_budget(const struct study *study);
/* Is a worker thread at work on the study? It must not be forgotten then. */
bool proposal_is_busy(const struct study *study);
/* A worker thread gives up what it does for the study as soon as it can. */
void proposal_cancel(struct study *study);
/* The same if it looks for the study's next point, which is not needed. */
void proposal_cancel_point(struct study *study);
/* There is no next point, or what is there cannot be accounted for, and why: the study ends here,
 * or waits for a person. */
void proposal_handle_no_point(struct study *study, const struct dp_err *why);
/* Gives up models and points found ahead; nothing is under way. */
void proposal_discard_job(struct study *study);

/* ---- for clients ---- */

/* Answers a client with what would be proposed next, and proposes nothing. */
void model_query_next_point(struct study *study, uint64_t client_id);
/* Answers a client with the smoothed front, once it is found; what a worker thread does already
 * goes first. */
void model_query_front(struct study *study, uint64_t client_id);
/* Answers a client with settings for these levels ("levels" of the protocol); likewise. */
DP_MUSTCHECK int model_query_recommend(struct study *study, uint64_t client_id,
				       const json_t *levels, struct dp_err *err);
/* The end of a turn: clients that wait get their turn, if the study has nothing of its own to ask.
 */
void proposal_serve_queries(struct study *study);

/* ---- points that others found ---- */

enum {
	POINT_REFUSAL_LEN = 300
};
/* On a worker thread: what the privacy accountants say of a point, NaN for the other objectives;
 * refused: why one has no answer, or "". Calibrated parameters that are not solved for yet are
 * solved for before. accountants_prepare() comes first. An error: a program could not be asked. */
DP_MUSTCHECK int point_privacy_compute(const struct study *study, const atomic_bool *cancel,
				       double *x, double *privacy, char refused[POINT_REFUSAL_LEN],
				       struct dp_err *err);
/* On a worker thread: K of one training at x, up to `at` on its path (NaN: as x says), +inf if
 * there is no bound; order: the filter's, or 0: *k is NaN. */
DP_MUSTCHECK int point_privacy_renyi(const struct dp_study *spec, double order, const double *x,
				     double at, double *k, struct dp_err *err);
/* How a point was found: as in struct dp_event. */
struct proposal_source {
	const char *source;
	uint32_t conditioned_on;
	double proposal_seconds;
	const char *requested_by; /* who asked for it; NULL: no client */
};
/* Journals a point as the study's next trial. `privacy` has an entry for each objective, NaN where
 * there is no accountant; refused: why one has no answer, or ""; renyi: K as point_privacy_renyi()
 * has it. */
void proposal_record_trial(struct study *study, const double *x, const struct proposal_source *how,
			   const double *privacy, const char *refused, double renyi);

#endif
