/* front_figure_internal.h - what a picture of the Pareto front shows: gathered and described by
 * front_figure.c, drawn by front_draw.c. */
#ifndef DP_REPORTS_FIGURES_FRONT_FIGURE_INTERNAL_H
#define DP_REPORTS_FIGURES_FRONT_FIGURE_INTERNAL_H
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

enum {
	FRONT_COLOUR_BINS = 5, /* of a third objective */
	FRONT_PATHS_MAX = 60,  /* lines of trainings; of more, only those to the front */
	/* CSS pixels: it stands beside words on the first screen, not higher than 24rem */
	FRONT_WIDTH = 760,
	FRONT_HEIGHT = 384,
};

struct front_data {
	const struct study_data *study;
	struct fig_points all, front;
	/* (npaths) where in `all`, which has them side by side, the points of a training
	 * begin that are joined; `ntrainings` have several */
	size_t *path_starts, npaths, ntrainings;
	struct fig_points staircase; /* of the front */
	struct fig_points observed;  /* its points as observed, where it is the models' */
	struct fig_band band;        /* where it lies with 95 %: corners */
	bool band_by_surrogates;     /* by the models, else by the runs */
	struct fig_band reevaluated; /* points that were re-evaluated with fresh seeds */
	struct choices choices;
	struct front_line { /* to compare with */
		double at;
		const char *label;
		double error;   /* of a baseline: two standard errors of a share of the
				 * test records; NaN: unknown */
		bool is_beaten; /* the front is better than it */
		bool is_shown;  /* it is near enough */
	} * lines;              /* (nlines) */
	size_t nlines;
	struct fig_points infeasible; /* ok, but a constraint is not met */
	struct fig_points diverged;   /* at the border where utility is worst */
	enum plot_scale scale[2];     /* of x and y */
	double lo[2], hi[2];          /* limits of x and y */
	size_t n_outside;             /* points beyond them */
	struct fig_reference_front reference;
	/* With three and more objectives: the members of their front by the third. */
	int third_obj; /* or -1 */
	struct front_colour_bin {
		struct fig_points points;
		double from, to; /* of the third objective */
	} colour_bins[FRONT_COLOUR_BINS];
};

/* The objective that a side shows. */
const struct dp_objective *front_side_objective(const struct study_data *s, enum plot_side side);
/* So many points from this one on are of the same training. */
size_t front_path_length(const struct fig_points *all, size_t first);
/* Is the point within the limits? */
bool front_is_within_limits(const struct front_data *d, double x, double y);
/* The value of an objective that put a member of the study's front there. */
double front_member_value(const struct front_data *d, size_t place, enum plot_side side);
/* From where to where a side is better than the reference point, which need not be in sight;
 * NaN: there is no end. */
void front_reference_region(const struct front_data *d, enum plot_side side, double edge[2]);
/* Gathers all that is drawn. A linear x axis goes up to the reference point. */
DP_MUSTCHECK int front_gather(const struct report_data *r, struct arena *mem, bool linear,
			      struct front_data *d, struct dp_err *err);
struct plot *front_draw(const struct front_data *d);
void front_append_caption(const struct front_data *d, struct dp_buf *out);

#endif
