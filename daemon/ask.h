/* ask.h - the next point of a study, and what its privacy oracles say of it, found by
 * worker threads: where models are fitted, on a copied snapshot. */
#ifndef DPARETOD_ASK_H
#define DPARETOD_ASK_H
#include "daemon/daemon.h"

#include <jansson.h>
#include <stdatomic.h>

struct asked_front;

/* Proposes the next trial, at once or when a worker thread has found it; false if
 * nothing was begun. */
bool ask_next(struct study *h);
/* Has the filter of search.budget chosen, and records it. */
void ask_fix(struct study *h);
/* Nothing can start now: has points found ahead of time, where the method allows. */
void ask_prepare(struct study *h);
/* Answers a client with what would be proposed next, and proposes nothing. */
DP_MUSTCHECK int ask_show(struct study *h, uint64_t client, struct dp_err *err);
/* Answers a client with the front of the models' values, once it is found; what a worker
 * thread does already goes first. */
DP_MUSTCHECK int ask_front(struct study *h, uint64_t client, struct dp_err *err);
/* Answers a client with settings for these levels ("levels" of the protocol), once they
 * are found; likewise. */
DP_MUSTCHECK int ask_recommend(struct study *h, uint64_t client, const json_t *levels,
			       struct dp_err *err);
/* The front of ask_front() if it is there: the last that was found is kept until there is
 * another result. NULL: it is not, or there is no memory for it. */
json_t *ask_front_kept(struct study *h);
/* The hypervolume of that front; NaN if models had too little to choose it by. False: it
 * is not there. */
bool ask_front_volume(const struct study *h, double *volume);
/* Its rows alone, which stay its own; NULL as above. */
const json_t *ask_front_rows(const struct study *h);
/* Has the front found for later, of a study that just finished and still has its models;
 * false: nothing was begun. */
bool ask_last_front(struct study *h);
void ask_front_free(struct asked_front *f);
/* The end of a turn: who waits for one of these answers gets it now, if the study has
 * nothing of its own to ask. */
void ask_serve(struct study *h);
/* Can the next trial be asked for now? Not while it is being looked for. */
bool ask_ready(const struct study *h);
/* Does nothing fit search.budget until something that is pending has ended? */
bool ask_stuck(const struct study *h);
/* Is a worker thread at work on the study? It must not be forgotten then. */
bool ask_busy(const struct study *h);
/* A worker thread gives up what it does for the study as soon as it can. */
void ask_cancel(struct study *h);
/* The same if it looks for the study's next point, which nobody needs. */
void ask_cancel_point(struct study *h);
/* There is no next point, or what is there cannot be accounted for, and why: the study
 * ends here, or waits for a person. */
void ask_no_point(struct study *h, const struct dp_err *why);
/* Gives up models and points found ahead; nothing is under way. */
void ask_forget(struct study *h);

enum {
	ASK_REFUSED_LEN = 300
};
/* On a worker thread: what the privacy oracles say of a point, NaN for the other
 * objectives; refused: why one has no answer, or "". Calibrated parameters that nobody
 * solved for yet are solved for before. oracles_prepare() comes first. An error: a
 * program could not be asked. */
DP_MUSTCHECK int ask_oracles(const struct study *h, const atomic_bool *cancel, double *x,
			     double *privacy, char refused[ASK_REFUSED_LEN], struct dp_err *err);
/* On a worker thread: K of one training at x, up to `at` on its path (NaN: as x says),
 * +inf if there is no bound; order: the filter's, or 0: *k is NaN. */
DP_MUSTCHECK int ask_renyi(const struct dp_study *spec, double order, const double *x, double at,
			   double *k, struct dp_err *err);
/* How a point was found: as in struct dp_event. */
struct ask_how {
	const char *source;
	uint32_t basis;
	double sought;
	const char *by; /* who asked for it; NULL: nobody */
};
/* Journals a point as the study's next trial. `privacy` has an entry for each objective,
 * NaN where there is no oracle; refused: why an oracle has no answer, or ""; renyi: K as
 * ask_renyi() has it. */
void ask_record(struct study *h, const double *x, const struct ask_how *how, const double *privacy,
		const char *refused, double renyi);

#endif
