/* propose.h - ask: which point comes next.
 *
 * A proposal is a pure function of what it is given: no clock, no address, no thread
 * count, no I/O. The daemon journals it before anything is done with it. */
#ifndef DP_PROPOSE_H
#define DP_PROPOSE_H
#include "base/base.h"
#include "study/study.h"

struct dp_proposal {
	double x[DP_PARAMS_MAX]; /* see study.h */
	const char *source; /* how it was found; static text */
};

/* Is there a proposer for the study's method? DP_OK, or a sentence why not. */
DP_MUSTCHECK int dp_propose_check(const struct dp_study *study, struct dp_err *err);
/* How many trials the method can offer at most (a grid ends). */
uint64_t dp_propose_limit(const struct dp_study *study);
/* The point of this trial (trial < dp_propose_limit()). */
DP_MUSTCHECK int dp_propose(const struct dp_study *study, uint32_t trial,
			    struct dp_proposal *out, struct dp_err *err);

#endif
