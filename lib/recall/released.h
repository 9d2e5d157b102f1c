/* released.h - what the records cost that utilities are measured on, in a study that
 * releases them with noise (objectives.NAME.release). */
#ifndef DP_RELEASED_H
#define DP_RELEASED_H
#include "journal/state.h"

enum dp_released_proof {
	/* at most so many releases as the study file allows, each a Gaussian mechanism:
	 * Dong, Roth and Su 2022, Corollary 3.3 */
	DP_RELEASED_FIXED,
	/* nothing limited their number beforehand, or a person raised it: the odometer of
	 * privacy/whole.h */
	DP_RELEASED_ODOMETER
};

struct dp_released {
	enum dp_released_proof proof;
	uint64_t points; /* that were released so far */
	double most;     /* that the study file allows; +inf: any number */
	double delta;    /* of the study's privacy objective, or 1e-5 */
	/* Of all of them, and of all metrics together: when one record is replaced. With
	 * DP_RELEASED_FIXED of as many as may still come. */
	double epsilon;
};

/* False in a study that releases nothing. */
bool dp_released_find(const struct dp_study_state *s, struct dp_released *out);

#endif
