/* front_figure_internal.h - data of the Pareto front figure, gathered by front_figure.c and drawn
 * by front_draw.c. */
#ifndef DP_REPORTS_FIGURES_FRONT_FIGURE_INTERNAL_H
#define DP_REPORTS_FIGURES_FRONT_FIGURE_INTERNAL_H
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

enum {
	FRONT_COLOUR_BINS = 5, /* bins of the third objective */
	FRONT_PATHS_MAX =
		60, /* learning curves; if there are more, only those that reach the front */
	/* CSS pixels: fits next to text on the first screen, at most 24rem high */
	FRONT_WIDTH = 760,
	FRONT_HEIGHT = 384,
};

struct front_data {
	const struct study_data *study;
	struct fig_points all, front;
	/* (npaths) start indices in `all` of the points of each learning curve, which are adjacent;
	 * `ntrainings` have more than one point */
	size_t *path_starts, npaths, ntrainings;
	struct fig_points staircase; /* of the front */
	struct fig_points observed;  /* observed values of a smoothed front */
	struct fig_band band;        /* corners of the 95% interval */
	bool band_by_surrogates;     /* by the models, else by the runs */
	struct fig_band reevaluated; /* points that were re-evaluated with fresh seeds */
	struct choices choices;
	struct front_line { /* baseline or majority class */
		double at;
		const char *label;
		double error; /* two standard errors of a baseline that is a share of test records;
				 NaN: unknown */
		bool is_beaten; /* the front is better */
		bool is_shown;  /* near enough to the front */
	} * lines;              /* (nlines) */
	size_t nlines;
	struct fig_points infeasible; /* ok, but violates a constraint */
	struct fig_points diverged;   /* at the border with the worst utility */
	enum plot_scale scale[2];     /* of x and y */
	double lo[2], hi[2];
	size_t n_outside; /* points outside the limits */
	struct fig_reference_front reference;
	/* With three or more objectives: points of the front by the third. */
	int third_obj; /* or -1 */
	struct front_colour_bin {
		struct fig_points points;
		double from, to; /* of the third objective */
	} colour_bins[FRONT_COLOUR_BINS];
};

const struct dp_objective *front_side_objective(const struct study_data *s, enum plot_side side);
/* The number of points from this index on that belong to the same trial. */
size_t front_path_length(const struct fig_points *all, size_t first);
bool front_is_within_limits(const struct front_data *d, double x, double y);
/* The value of an objective that the study's front used. */
double front_member_value(const struct front_data *d, size_t place, enum plot_side side);
/* The range of an axis that is better than the reference point, possibly outside the limits. NaN:
 * open end. */
void front_reference_region(const struct front_data *d, enum plot_side side, double edge[2]);
/* Gathers the data. A linear x axis ends at the reference point. */
DP_MUSTCHECK int front_gather(const struct report_data *r, struct arena *mem, bool linear,
			      struct front_data *d, struct dp_err *err);
struct plot *front_draw(const struct front_data *d);
void front_append_caption(const struct front_data *d, struct dp_buf *out);

#endif
