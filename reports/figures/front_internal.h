/* front_internal.h - what a picture of the Pareto front shows: gathered and told by
 * front.c, drawn by front_draw.c. */
#ifndef DP_FRONT_INTERNAL_H
#define DP_FRONT_INTERNAL_H
#include "reports/figures/series.h"

enum {
	FRONT_SHADES = 5, /* of a third objective */
	FRONT_PATHS = 60, /* lines of trainings; of more, only those to the front */
};

struct front_data {
	const struct subject *s;
	struct fig_points all, front;
	/* (npaths) where in `all`, which has them side by side, the points of a training
	 * begin that are joined; `paths` trainings have several */
	size_t *path, npaths, paths;
	struct fig_points stairs;   /* of the front */
	struct fig_points observed; /* its points as observed, where it is the models' */
	struct fig_points barred;   /* ok, but a constraint is not met */
	struct fig_points diverged; /* at the border where utility is worst */
	enum plot_scale scale[2];   /* of x and y */
	double lo[2], hi[2];        /* limits of x and y */
	size_t outside;             /* points beyond them */
	struct fig_truth truth;
	/* With three and more objectives: the members of their front by the third. */
	int third; /* or -1 */
	struct front_shade {
		struct fig_points at;
		double from, to; /* of the third objective */
	} shade[FRONT_SHADES];
};

/* The objective that a side shows. */
const struct dp_objective *front_objective(const struct subject *s, enum plot_side side);
/* A value as a place on an axis. */
double front_to_scale(double v, enum plot_scale scale);
/* So many points from this one on are of the same training. */
size_t front_path_length(const struct fig_points *all, size_t first);
/* Is the point within the limits? */
bool front_shown(const struct front_data *d, double x, double y);
/* From where to where a side is better than the anti-ideal: what is beyond the limits
 * ends out of sight, not at them. */
void front_region(const struct front_data *d, enum plot_side side, double edge[2]);
struct plot *front_draw(const void *data);

#endif
