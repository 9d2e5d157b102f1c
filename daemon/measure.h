/* measure.h - points that are measured again: which they are and what they cost is found
 * by a worker thread, then they are journaled, all of them in one commit. */
#ifndef DPARETOD_MEASURE_H
#define DPARETOD_MEASURE_H
#include "daemon/study.h"

/* What somebody asks for. One of: `points`, a point of the space (x), or neither: the
 * study's front. */
struct measure_wish {
	uint32_t runs;
	const struct dp_point *points; /* (n) results of the study */
	size_t n;
	const double *x; /* calibrated parameters may be NaN */
	const char *by;  /* who asks; NULL: nobody */
};

/* Answers the client once all is recorded; what is being measured with as many runs
 * already is not asked for again. */
DP_MUSTCHECK int measure_asked(struct study *h, const struct measure_wish *wish, uint64_t client,
			       struct dp_err *err);
/* The worker thread gives up as soon as it can; the study or its daemon is about to go.
 */
void measure_cancel(struct study *h);
/* The search is over: has its front measured, as search.remeasure says. */
void measure_end(struct study *h);

#endif
