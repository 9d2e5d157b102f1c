/* smoothed_front.h - the front of a study by what models make of its results.
 *
 * A front of observed means has selection bias: the best of many noisy results is
 * optimistic. Here its points are chosen by the posterior means of models of all results. */
#ifndef DP_OPTIMIZE_HISTORY_SMOOTHED_FRONT_H
#define DP_OPTIMIZE_HISTORY_SMOOTHED_FRONT_H
#include "optimize/history/history.h"

/* Trials of which none is better than another by the models, in the contract's order. Of
 * trials with the same parameters the first stands for all. */
struct dp_smoothed_front {
	size_t n;
	size_t *result_index; /* (n) positions in the results */
	double *y;            /* (n x nobjectives) natural units; as observed of an objective
			       * that is computed from the point, such as epsilon, or has no
			       * noise */
	double *lo, *hi;      /* (n x nobjectives) where the value lies with 95 % by the
			       * models; itself where there is no doubt. NULL: no models */
	double hypervolume;   /* of these values */
	bool is_modelled;     /* false: too little is known for models, all is as observed */
};

/* A pure function of study and results; the proposer may keep models from before, and is
 * then to be fitted or asked anew. On any thread that has the proposer to itself.
 * DP_E_INTERRUPTED if *cancel (may be NULL) became true. */
DP_MUSTCHECK int dp_smoothed_front_compute(struct dp_proposer *p, const struct dp_study *study,
					   const struct dp_history_subset *r,
					   const atomic_bool *cancel, struct dp_smoothed_front *out,
					   struct dp_err *err);
void dp_smoothed_front_free(struct dp_smoothed_front *d);
/* The rows of the contract's "front": those of dp_result_json(), with "denoised" and its
 * interval, "denoised_low" and "denoised_high": null without models. */
json_t *dp_smoothed_front_json(const struct dp_study *study, const struct dp_history_subset *r,
			       const struct dp_smoothed_front *d);

#endif
