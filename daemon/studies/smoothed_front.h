/* smoothed_front.h - the smoothed front of a study, cached for each version of its results. Fitting
 * hundreds of results takes seconds, and the front is a pure function of study and results. All
 * users share one computation: showing the front, the hypervolume, and the choice of points to
 * re-evaluate. */
#ifndef DP_DAEMON_STUDIES_SMOOTHED_FRONT_H
#define DP_DAEMON_STUDIES_SMOOTHED_FRONT_H
#include "daemon/studies/study_object.h"
#include "optimize/history/smoothed_front.h"

struct smoothed_front {
	uint32_t results_version; /* of the results that it covers, */
	size_t n_results;         /* and their number */
	double hypervolume;
	bool is_modelled; /* false: too few results for models; this is the observed front */
	json_t *rows;     /* NULL: not computed */
};

/* The results for the models, copied on the loop. */
struct smoothed_front_input {
	struct dp_history_subset results;
	bool is_subset; /* not all results were taken */
	/* filled by the worker thread */
	struct smoothed_front found;
	size_t *result_index, n_points; /* positions of the front's points in the results */
};

void smoothed_front_snapshot(struct study *study, struct smoothed_front_input *in);
/* On a worker thread: fills in->found. The proposer may keep models; NULL: a temporary one. */
DP_MUSTCHECK int smoothed_front_compute(const struct dp_study *spec, struct dp_proposer *p,
					const atomic_bool *cancel, struct smoothed_front_input *in,
					struct dp_err *err);
/* On the loop: caches `found`, unless the cache is newer. */
void smoothed_front_store(struct study *study, const struct smoothed_front *found);
void smoothed_front_input_clear(struct smoothed_front_input *in);
/* The front of all current results if cached, else NULL. */
const struct smoothed_front *smoothed_front_current(const struct study *study);
/* The same as a reply to `front`. */
json_t *smoothed_front_json(struct study *study);
void smoothed_front_free(struct study *study);

#endif
