/* smoothed_front.h - the smoothed front of a study: the front of the models' posterior means.
 *
 * A front of observed means has selection bias: the best of many noisy results is optimistic. The
 * smoothed front selects its points by the posterior means given all results. */
#ifndef DP_OPTIMIZE_HISTORY_SMOOTHED_FRONT_H
#define DP_OPTIMIZE_HISTORY_SMOOTHED_FRONT_H
#include "optimize/history/history.h"

/* The non-dominated trials in the contract's order; of equal parameters only the first trial. */
struct dp_smoothed_front {
	size_t n;
	size_t *result_index; /* (n) positions in the subset */
	/* (n x nobjectives), natural units; observed where computed, such as epsilon, or exact. */
	double *y;
	/* (n x nobjectives) 95 % intervals, of length 0 for exact values; NULL: no models. */
	double *lo, *hi;
	double hypervolume; /* of y */
	bool is_modelled;   /* false: too few results for models, so y is observed */
};

/* A pure function of study and results. Replaces the proposer's models, so fit it again before
 * other use. Runs on any thread with exclusive use of the proposer. DP_E_INTERRUPTED if *cancel
 * (may be NULL) became true. */
DP_MUSTCHECK int dp_smoothed_front_compute(struct dp_proposer *p, const struct dp_study *study,
					   const struct dp_history_subset *r,
					   const atomic_bool *cancel, struct dp_smoothed_front *out,
					   struct dp_err *err);
void dp_smoothed_front_free(struct dp_smoothed_front *d);
/* The rows of the contract's "front": those of dp_result_json() with "denoised", "denoised_low" and
 * "denoised_high"; the interval is null without models. */
json_t *dp_smoothed_front_json(const struct dp_study *study, const struct dp_history_subset *r,
			       const struct dp_smoothed_front *d);

#endif
