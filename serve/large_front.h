/* large_front.h - draws and filters fronts of many thousand points.
 *
 * A point in full takes 4 kB as a json_t. The daemon lists which points are on the front, their
 * values come from the trial cache, and only points that differ in a figure are built in full. */
#ifndef DP_SERVE_LARGE_FRONT_H
#define DP_SERVE_LARGE_FRONT_H
#include "serve/figures/study_figures.h"
#include "serve/data/trial_cache.h"

enum {
	LARGE_FRONT_MIN_POINTS = 2000,
	LARGE_FRONT_MAX_DRAWN = 4000,
};

struct large_front {
	json_t *head; /* the study's front, with its first points only */
	struct trial_rows *rows;
	size_t *member_rows; /* (n_members) rows on the front */
	size_t n_members;
};

/* Is the study's front a large one? Only an observed front can be. */
bool large_front_applies(const json_t *summary);
/* Finds the rows on the front. The caller always frees the result. */
DP_MUSTCHECK int large_front_load(struct trial_cache *cache, const char *study,
				  struct large_front *out, struct dp_err *err);
void large_front_free(struct large_front *f);

/* Returns a front with the points that are visible with these axes: the last point at each spot,
 * and the ends of both axes. The caller owns it. */
json_t *large_front_downsample(const struct large_front *f, const struct figure_axis *x,
			       const struct figure_axis *y);
/* Like ctl_front_recommend() over all points. *member: position of the chosen point, SIZE_MAX if
 * none. The point in the answer lacks some members of a front point. */
json_t *large_front_recommend_row(const struct large_front *f, const json_t *summary,
				  size_t *member);
/* The same with the point in full, fetched from the daemon. */
DP_MUSTCHECK int large_front_fetch_recommended(struct daemon_client *daemon,
					       const struct large_front *f, const char *study,
					       const json_t *summary, json_t **choice,
					       struct dp_err *err);

#endif
