/* large_front.h - a front of many thousand points, without all of them in full.
 *
 * A point in full takes 4 kB as a json_t. Which points are on the front comes from the
 * daemon, their values come from the rows on the shelf, and only the points that can be
 * told apart in a picture are made in full. */
#ifndef DP_SERVE_LARGE_FRONT_H
#define DP_SERVE_LARGE_FRONT_H
#include "serve/figures/study_figures.h"
#include "serve/data/trial_cache.h"

enum {
	LARGE_FRONT_MIN_POINTS = 2000, /* points; a front of up to so many is fetched whole */
	LARGE_FRONT_MAX_DRAWN = 4000,  /* points of a large one in a picture, at most */
};

struct large_front {
	json_t *head; /* of the study's front, with its first points */
	struct trial_rows *rows;
	size_t *member_rows; /* (n) rows that are on the front */
	size_t n_members;
};

/* Is the front that a study shows a large one? Only what was observed can be. */
bool large_front_applies(const json_t *summary);
/* Finds its points. The caller frees it, whatever is returned. */
DP_MUSTCHECK int large_front_load(struct trial_cache *cache, const char *study,
				  struct large_front *out, struct dp_err *err);
void large_front_free(struct large_front *f);

/* The front with the points that can be seen where x goes across and y up: of those that
 * share a spot the last, and the ends of both axes. The caller owns it. */
json_t *large_front_downsample(const struct large_front *f, const struct figure_axis *x,
			       const struct figure_axis *y);
/* As ctl_front_recommend(), of all points; *member is the chosen one's position, SIZE_MAX if
 * there is none, and the point in the answer has not all that a front shows of it. */
json_t *large_front_recommend_row(const struct large_front *f, const json_t *summary,
				  size_t *member);
/* The same with the point in full, which the daemon is asked for. */
DP_MUSTCHECK int large_front_recommend(struct daemon_client *daemon, const struct large_front *f,
				       const char *study, const json_t *summary, json_t **choice,
				       struct dp_err *err);

#endif
