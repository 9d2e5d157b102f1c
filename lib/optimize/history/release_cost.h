/* release_cost.h - what the records cost that utilities are measured on, in a study that
 * releases them with noise (objectives.NAME.release). */
#ifndef DP_OPTIMIZE_HISTORY_RELEASE_COST_H
#define DP_OPTIMIZE_HISTORY_RELEASE_COST_H
#include "state/state.h"

enum dp_release_cost_proof {
	/* at most so many releases as the study file allows, each a Gaussian mechanism:
	 * Dong, Roth and Su 2022, Corollary 3.3 */
	DP_RELEASE_COST_FIXED,
	/* nothing limited their number beforehand, or a person raised it: the odometer of
	 * privacy/composition/adaptive_composition.h */
	DP_RELEASE_COST_ODOMETER
};

struct dp_release_cost {
	enum dp_release_cost_proof proof;
	uint64_t released_results; /* that were released so far */
	double max_results;        /* that the study file allows; +inf: any number */
	double delta;              /* of the study's privacy objective, or 1e-5 */
	/* Of all of them, and of all metrics together: when one record is replaced. With
	 * DP_RELEASE_COST_FIXED of as many as may still come. */
	double epsilon;
};

/* False in a study that releases nothing. */
bool dp_release_cost_compute(const struct dp_study_state *s, struct dp_release_cost *out);

#endif
