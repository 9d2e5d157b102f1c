/* smoothed_front.h - the front of a study by its models, kept until the results are others.
 *
 * A fit of hundreds of results takes seconds, and its front is a pure function of study and
 * results. So there is one for each version of the results: what was computed to show a front, to
 * find the hypervolume or to choose points to re-evaluate is kept here for all of them. */
#ifndef DP_DAEMON_STUDIES_SMOOTHED_FRONT_H
#define DP_DAEMON_STUDIES_SMOOTHED_FRONT_H
#include "daemon/studies/study_object.h"
#include "optimize/history/smoothed_front.h"

struct smoothed_front {
	uint32_t results_version; /* of the results that it is of, */
	size_t n_results;         /* and how many these are */
	double hypervolume;
	bool is_modelled; /* false: too few results for models, it is the observed one */
	json_t *rows;     /* NULL: nothing was found */
};

/* The results that models for people take, copied on the loop. */
struct smoothed_front_input {
	struct dp_history_subset results;
	bool is_subset; /* of more results that there are */
	/* what is found: */
	struct smoothed_front found;
	size_t *result_index, n_points; /* positions of its points in the results */
};

void smoothed_front_snapshot(struct study *study, struct smoothed_front_input *in);
/* On a worker thread: fills in->found. The proposer may keep models; NULL: made for this. */
DP_MUSTCHECK int smoothed_front_compute(const struct dp_study *spec, struct dp_proposer *p,
					const atomic_bool *cancel, struct smoothed_front_input *in,
					struct dp_err *err);
/* On the loop: keeps what was found, unless what is there is newer. */
void smoothed_front_store(struct study *study, const struct smoothed_front *found);
/* Clears what a snapshot or a computation left. */
void smoothed_front_input_clear(struct smoothed_front_input *in);
/* The front of all that is known, if it is there; NULL. */
const struct smoothed_front *smoothed_front_current(const struct study *study);
/* The same as the reply to `front`. */
json_t *smoothed_front_json(struct study *study);
void smoothed_front_free(struct study *study);

#endif
