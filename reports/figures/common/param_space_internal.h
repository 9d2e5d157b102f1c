/* param_space_internal.h - the parameter space in pictures: which parameters matter, the point
 * that slices go through, the cells of a slice, and what is known in each of them. */
#ifndef DP_REPORTS_FIGURES_COMMON_PARAM_SPACE_INTERNAL_H
#define DP_REPORTS_FIGURES_COMMON_PARAM_SPACE_INTERNAL_H
#include "reports/figures/common/figures_internal.h"

enum {
	SPACE_POINTS_MAX = 1000, /* markers in one panel: more would be a blot */
};

/* ---- param_space.c: parameters ---- */

/* The parameters that are searched, in the order of the file, which is also that of the
 * models' inputs. Returns how many. */
size_t space_searched_params(const struct dp_study *s, size_t param[DP_PARAMS_MAX]);
/* The names of a categorical parameter's values; *n is 0 for others. */
const char **space_category_names(struct arena *mem, const struct dp_study *s, size_t param,
				  size_t *n);
enum plot_scale space_scale(const struct dp_param *p);
/* An axis for a parameter: name, scale, whole numbers or the names of values. */
void space_axis(struct plot_panel *a, enum plot_side side, const struct dp_study *s, size_t param);
/* Is it an external accountant that may be too slow for many points? A model stands in for it where
 * there are models. */
bool space_is_accountant_slow(const struct study_data *s, size_t objective);
/* The first `most` of those that matter (struct study_data's ranking), in the order of the
 * file: in `shown`. Returns how many; *all gets how many there are. */
size_t space_top_params(const struct study_data *s, size_t most, size_t *shown, size_t *all);
/* Likewise, with calibrated parameters among them, which follow from the others. */
size_t space_top_params_with_calibrated(const struct study_data *s, size_t most, size_t *shown,
					size_t *all);
/* A parameter's value as people say it: real numbers with three digits. */
void space_append_value(const struct dp_study *s, size_t param, double x, struct dp_buf *out);
/* The accountant's epsilon at such parameters, calibrated ones solved for anew. */
DP_MUSTCHECK int space_epsilon(const struct dp_study *s, size_t objective, const double *x,
			       struct dp_epsilon *out, struct dp_err *err);

/* Why figures need parameters by relevance, which only the study of a report has. */
#define SPACE_NO_RANKING "it is not known which parameters matter"

/* ---- param_space.c: points ---- */

/* Is there a point that meets the constraints and has finite values? */
bool space_has_front(const struct study_data *s);
/* The position in a front of its knee: nearest to the best of both objectives, each
 * scaled to 0..1 over the front; epsilon by its logarithm. Points beyond the reference point
 * count only if there are no others. The front has points. */
size_t space_knee(const struct study_data *s, const struct fig_points *front);
/* The result that slices go through: the front's knee; where there is no front the first
 * that there is. */
struct space_anchor {
	bool is_known; /* false: there is none */
	struct dp_result_id point;
	double x[DP_PARAMS_MAX]; /* its parameters, see dp_result_get_params() */
};
struct space_anchor space_find_anchor(const struct study_data *s);
/* "trial 34 (ε 0.5, error 12.3 %)", "trial 34@8 (...)" */
void space_append_result(const struct study_data *s, struct dp_result_id p, struct dp_buf *out);

/* A coordinate of a marker: a parameter, or an objective plus this. */
enum {
	SPACE_OBJECTIVE = DP_PARAMS_MAX
};
/* Places of the given results, or of all (NULL) with a finite value; of more
 * than SPACE_POINTS_MAX of these one at each of as many even steps. */
struct fig_points space_collect_points(struct arena *mem, const struct study_data *s,
				       const struct fig_points *only, size_t x, size_t y);

/* ---- space_slice.c ---- */

/* A parameter's range cut into cells. */
struct space_cells {
	size_t param, n;
	double *centre; /* (n) values that the parameter can take */
	double *edge;   /* (n + 1) */
};
/* At most so many; one for every whole number and category where they are few enough
 * (categories always). */
struct space_cells space_split_range(struct arena *mem, const struct dp_study *s, size_t param,
				     size_t most);
/* One around every different value, with edges half-way on the parameter's scale. */
struct space_cells space_split_around_values(struct arena *mem, const struct dp_study *s,
					     size_t param, const double *values, size_t n);

/* A plane (a line, with one free parameter) through the space. */
struct space_slice {
	const struct study_data *s;
	struct space_anchor anchor; /* other parameters are as in this result */
	size_t nfree;
	struct space_cells x, y; /* y.n is 0 with one free parameter */
	bool is_grid;            /* cells are around values that were evaluated */
	/* What the models say in every cell, once it was predicted: predictions (space_count_cells
	 * x nobjectives) and acquisition, both NaN in cells that one of them knows too little of:
	 * n_blank. */
	struct dp_prediction *predictions;
	double *acquisition;
	size_t n_blank;
};
/* The slice over the two most relevant parameters, as fine as the models allow. With
 * `grid` its cells are the evaluated points where these fill at least half of a grid.
 * There are free parameters and a result. */
struct space_slice space_slice(struct arena *mem, const struct study_data *s, bool grid);
/* Over two parameters of choice, with at most `most` cells each way. */
struct space_slice space_slice_over(struct arena *mem, const struct study_data *s,
				    const struct space_anchor *through, size_t x, size_t y,
				    size_t most);
size_t space_count_cells(const struct space_slice *c);
/* Marks the cells whose very point is a trial or a checkpoint; returns how many. */
size_t space_mark_evaluated_cells(const struct space_slice *c, bool *taken);
/* Cells each way that the models can fill in a fraction of a second, for `panels`
 * slices. */
size_t space_choose_resolution(const struct study_data *s, size_t panels);

enum space_source {
	SPACE_EVALUATED, /* the cells' own evaluations */
	SPACE_COMPUTED,  /* by the accountant */
	SPACE_NEAREST,   /* of the evaluation that is nearest in the plane */
	SPACE_PREDICTED, /* by the model */
};
/* Where an objective's values over a slice come from. */
enum space_source space_source(const struct space_slice *c, size_t objective);
/* These values, NaN where unknown (space_count_cells). */
double *space_values(struct arena *mem, struct space_slice *c, size_t objective);
/* Predicts every cell, unless that was done. */
void space_predict(struct arena *mem, struct space_slice *c);

/* Colours of epsilon by the logarithm, those of what the study takes the logarithm of
 * where it covers one and a half decades; other values where they cover more. Shares stay
 * linear: how near to 0 a model puts one says little. */
enum plot_scale space_heat_scale(const struct dp_objective *o, const double *z, size_t n);
/* A heat map with both axes, of an objective or (NULL) something else. */
void space_heat(struct plot_panel *a, const struct space_slice *c, const double *z,
		const struct dp_objective *o, const char *label);
/* The same with the label of an objective of the study. */
void space_objective_heat(struct plot_panel *a, const struct space_slice *c, size_t objective,
			  const double *z);
/* A ring where a slice through more parameters passes its result. */
void space_draw_anchor(struct plot_panel *a, const struct space_slice *c);
/* A sentence about which plane is shown; nothing where it is the whole space. */
void space_append_slice(const struct space_slice *c, struct dp_buf *out);

#endif
