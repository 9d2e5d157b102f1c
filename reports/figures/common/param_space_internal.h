/* param_space_internal.h - the parameter space in figures: relevant parameters, slices and their
 * cells. */
#ifndef DP_REPORTS_FIGURES_COMMON_PARAM_SPACE_INTERNAL_H
#define DP_REPORTS_FIGURES_COMMON_PARAM_SPACE_INTERNAL_H
#include "reports/figures/common/figures_internal.h"

enum {
	SPACE_POINTS_MAX = 1000, /* markers in one panel: more would merge */
};

/* ---- param_space.c: parameters ---- */

/* The searched parameters in the order of the file, which is also the order of the models' inputs.
 * Returns their number. */
size_t space_searched_params(const struct dp_study *s, size_t param[DP_PARAMS_MAX]);
/* The names of a categorical parameter's values; *n is 0 for others. */
const char **space_category_names(struct arena *mem, const struct dp_study *s, size_t param,
				  size_t *n);
enum plot_scale space_scale(const struct dp_param *p);
/* Sets up an axis for a parameter: name, scale, integer ticks or category names. */
void space_axis(struct plot_panel *a, enum plot_side side, const struct dp_study *s, size_t param);
/* Whether the objective has an external accountant, too slow for many points. A model replaces it
 * if there is one. */
bool space_is_accountant_slow(const struct study_data *s, size_t objective);
/* The `most` most relevant parameters (by ranking), in the order of the file, in `shown`. Returns
 * their number; *all: the number of ranked ones. */
size_t space_top_params(const struct study_data *s, size_t most, size_t *shown, size_t *all);
/* The same, including calibrated parameters, which follow from the others. */
size_t space_top_params_with_calibrated(const struct study_data *s, size_t most, size_t *shown,
					size_t *all);
/* Appends a parameter's value; real numbers have three digits. */
void space_append_value(const struct dp_study *s, size_t param, double x, struct dp_buf *out);
/* The accountant's epsilon at these parameters, with calibrated ones solved again. */
DP_MUSTCHECK int space_epsilon(const struct dp_study *s, size_t objective, const double *x,
			       struct dp_epsilon *out, struct dp_err *err);

/* Only the main study of a report has a ranking. */
#define SPACE_NO_RANKING "it is not known which parameters matter"

/* ---- param_space.c: points ---- */

/* Whether a point meets the constraints and has finite values. */
bool space_has_front(const struct study_data *s);
/* The index of the knee of a front: nearest to the best of both objectives, each scaled to 0..1
 * over the front; epsilon by its logarithm. Points beyond the reference point count only if there
 * are no others. The front is not empty. */
size_t space_knee(const struct study_data *s, const struct fig_points *front);
/* The result that slices pass through: the knee of the front, or the first result if there is no
 * front. */
struct space_anchor {
	bool is_known; /* false: no results */
	struct dp_result_id point;
	double x[DP_PARAMS_MAX]; /* its parameters, see dp_result_get_params() */
};
struct space_anchor space_find_anchor(const struct study_data *s);
/* "trial 34 (ε 0.5, error 12.3 %)", "trial 34@8 (...)" */
void space_append_result(const struct study_data *s, struct dp_result_id p, struct dp_buf *out);

/* A coordinate of a marker: a parameter, or an objective plus this offset. */
enum {
	SPACE_OBJECTIVE = DP_PARAMS_MAX
};
/* Positions of the given results, or of all (NULL), with finite values. All results are thinned out
 * evenly to SPACE_POINTS_MAX. */
struct fig_points space_collect_points(struct arena *mem, const struct study_data *s,
				       const struct fig_points *only, size_t x, size_t y);

/* ---- space_slice.c ---- */

/* A parameter's range, divided into cells. */
struct space_cells {
	size_t param, n;
	double *centre; /* (n) valid values of the parameter */
	double *edge;   /* (n + 1) */
};
/* At most `most` cells; one for every integer and category if they are few enough (categories
 * always). */
struct space_cells space_split_range(struct arena *mem, const struct dp_study *s, size_t param,
				     size_t most);
/* One cell around every distinct value, with edges halfway on the parameter's scale. */
struct space_cells space_split_around_values(struct arena *mem, const struct dp_study *s,
					     size_t param, const double *values, size_t n);

/* A plane (a line, with one free parameter) through the parameter space. */
struct space_slice {
	const struct study_data *s;
	struct space_anchor anchor; /* provides the other parameters */
	size_t nfree;
	struct space_cells x, y; /* y.n is 0 with one free parameter */
	bool is_grid;            /* cells are around evaluated values */
	/* After space_predict(): predictions (space_count_cells x nobjectives) and acquisition.
	 * Both are NaN in the n_blank cells that a model knows too little about. */
	struct dp_prediction *predictions;
	double *acquisition;
	size_t n_blank;
};
/* The slice over the two most relevant parameters, as fine as the models allow. With `grid`, cells
 * are the evaluated points if these fill at least half of a grid. Needs free parameters and a
 * result. */
struct space_slice space_slice(struct arena *mem, const struct study_data *s, bool grid);
/* The slice over two given parameters, with at most `most` cells each way. */
struct space_slice space_slice_over(struct arena *mem, const struct study_data *s,
				    const struct space_anchor *through, size_t x, size_t y,
				    size_t most);
size_t space_count_cells(const struct space_slice *c);
/* Marks the cells whose exact point was a trial or a checkpoint. Returns their number. */
size_t space_mark_evaluated_cells(const struct space_slice *c, bool *taken);
/* Cells each way that the models can predict in a fraction of a second, for `panels` slices. */
size_t space_choose_resolution(const struct study_data *s, size_t panels);

enum space_source {
	SPACE_EVALUATED, /* evaluations in the cell */
	SPACE_COMPUTED,  /* by the accountant */
	SPACE_NEAREST,   /* the nearest evaluation in the plane */
	SPACE_PREDICTED, /* by the model */
};
enum space_source space_source(const struct space_slice *c, size_t objective);
/* Values of an objective (space_count_cells) from that source; NaN: unknown. */
double *space_values(struct arena *mem, struct space_slice *c, size_t objective);
/* Predicts every cell, once. */
void space_predict(struct arena *mem, struct space_slice *c);

/* Colour scale: log for epsilon; for objectives with a log transform over one and a half decades;
 * for others over more. Shares stay linear: small model values near 0 mean little. */
enum plot_scale space_heat_scale(const struct dp_objective *o, const double *z, size_t n);
/* A heat map with both axes, of an objective, or (NULL) of another quantity. */
void space_heat(struct plot_panel *a, const struct space_slice *c, const double *z,
		const struct dp_objective *o, const char *label);
/* The same, labelled for an objective of the study. */
void space_objective_heat(struct plot_panel *a, const struct space_slice *c, size_t objective,
			  const double *z);
/* Draws a ring at the anchor of a slice through more parameters. */
void space_draw_anchor(struct plot_panel *a, const struct space_slice *c);
/* Appends a sentence on the plane shown; nothing if it is the whole space. */
void space_append_slice(const struct space_slice *c, struct dp_buf *out);

#endif
