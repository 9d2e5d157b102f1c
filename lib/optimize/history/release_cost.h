/* release_cost.h - the privacy loss of all noisy releases of a study (objectives.NAME.release). */
#ifndef DP_OPTIMIZE_HISTORY_RELEASE_COST_H
#define DP_OPTIMIZE_HISTORY_RELEASE_COST_H
#include "state/state.h"

enum dp_release_cost_proof {
	/* The study file limits the number of releases, each a Gaussian mechanism: Dong, Roth and
	 * Su 2022, Corollary 3.3. */
	DP_RELEASE_COST_FIXED,
	/* No limit was fixed beforehand, or a user raised it: the odometer of
	 * privacy/composition/adaptive_composition.h. */
	DP_RELEASE_COST_ODOMETER
};

struct dp_release_cost {
	enum dp_release_cost_proof proof;
	uint64_t released_results; /* so far */
	double max_results;        /* limit of the study file; +inf: none */
	double delta;              /* of the study's privacy objective, or 1e-5 */
	/* For all results and all metrics together, if one record is replaced.
	 * DP_RELEASE_COST_FIXED: for max_results. */
	double epsilon;
};

/* False for a study without noisy releases. */
bool dp_release_cost_compute(const struct dp_study_state *s, struct dp_release_cost *out);

#endif
