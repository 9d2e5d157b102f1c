/* figures_internal.h - helpers shared by figures: points on the objective plane, staircases, bands,
 * labels and styles.
 *
 * The data of a figure is in its arena, which is freed after drawing. */
#ifndef DP_REPORTS_FIGURES_COMMON_FIGURES_INTERNAL_H
#define DP_REPORTS_FIGURES_COMMON_FIGURES_INTERNAL_H
#include "reports/model/study_data.h"

enum {
	FIG_WIDTH = 720, /* CSS pixels of a figure with one panel */
	FIG_HEIGHT = 460,
	FIG_STUDY_NAME_LEN = 64, /* bytes of a study's name in a legend */
	FIG_NUMBER_LEN = 48,     /* bytes of a number with its unit */
};

/* Fails with DP_E_NOT_FOUND: the figure has nothing to show. `why` ends a sentence. */
int fig_nothing(struct dp_err *err, const char *why);
/* The main study of the report; DP_E_NOT_FOUND: none. */
int fig_main_study(const struct report_data *r, const struct study_data **s, struct dp_err *err);

/* ---- plane_points.c ---- */

/* Points on the plane: x and y are the objectives s->x_obj and s->y_obj in natural units, all
 * finite. */
struct fig_points {
	double *x, *y;                /* (n) */
	struct dp_result_id *results; /* (n) results of the points; not for staircases */
	size_t n;
	size_t n_not_finite; /* omitted points: infinite epsilon */
};
/* An empty set with room for `room` points. */
struct fig_points fig_points_new(struct arena *mem, size_t room);
void fig_add_point(struct fig_points *p, double x, double y, struct dp_result_id result);
/* The result id of a point that is not a result. */
#define FIG_NO_RESULT ((struct dp_result_id){ 0 })
/* Results that meet the constraints, in the order of s->points. */
struct fig_points fig_collect_points(struct arena *mem, const struct study_data *s);
/* The points of p that are not dominated on the plane, x ascending. With two objectives this is the
 * study's front; with more, the front of the projection. */
struct fig_points fig_filter_front(struct arena *mem, const struct study_data *s,
				   const struct fig_points *p);
/* fig_collect_points() and fig_filter_front() in one call. */
struct fig_points fig_observed_front(struct arena *mem, const struct study_data *s);
/* The front of the smoothed values, if the study has models. */
struct fig_points fig_smoothed_front(struct arena *mem, const struct study_data *s);
/* The one of these two that is the study's front. */
struct fig_points fig_study_front(struct arena *mem, const struct study_data *s);
/* All points of the study's front, x ascending. With more than two objectives most are not on the
 * front of the plane. */
struct fig_points fig_front_members(struct arena *mem, const struct study_data *s);
/* The index of a result in the study's front, or SIZE_MAX. */
size_t fig_front_index(const struct study_data *s, struct dp_result_id p);
/* The corners of a front's staircase: the values attained at each x. Extends to x_to and y_to,
 * unless these are NaN or within its ends. */
struct fig_points fig_staircase(struct arena *mem, const struct study_data *s,
				const struct fig_points *front, double x_to, double y_to);
/* The area that the points dominate on the plane, up to the reference point of `s`. */
double fig_dominated_area(const struct study_data *s, const struct fig_points *p);
bool fig_is_maximised(const struct study_data *s, size_t objective);
/* Comparison function for qsort(). */
int fig_compare_doubles(const void *a, const void *b);
bool fig_beats_reference_point(const struct study_data *s, double x, double y);
/* Removes points worse than the reference point, so that the tail does not set the axes. A front
 * without better points stays whole. */
void fig_trim_front_tail(const struct study_data *s, struct fig_points *front);
/* Whether two objectives measure the same: name, goal, metric and its aggregate, delta. Their model
 * transforms may differ. */
bool fig_same_objective(const struct dp_objective *a, const struct dp_objective *b);
bool fig_same_plane(const struct study_data *a, const struct study_data *b);

/* A line with a band around it, from `from` to `to` at each x. */
struct fig_band {
	double *x, *mid, *from, *to; /* (n) */
	size_t n;
};
struct fig_band fig_band_new(struct arena *mem, size_t room);
void fig_band_add(struct fig_band *b, double x, double mid, double from, double to);
void fig_band_reverse(struct fig_band *b);

struct fig_rects {
	double *x0, *x1, *y0, *y1; /* (n) */
	size_t n;
};
struct fig_rects fig_rects_new(struct arena *mem, size_t room);
void fig_rects_add(struct fig_rects *b, double x0, double x1, double y0, double y1);

/* ---- figure_style.c: names and numbers ---- */

/* The label of an objective: "ε (δ = 1e-5)", "error (1 - accuracy)". */
void fig_label(const struct study_data *s, size_t objective, struct dp_buf *out);
/* Three significant digits: "0.0312", "12.5", "1500", "3.2e-7", "2.5e9". */
char *fig_number(double v, char out[FIG_NUMBER_LEN]);
/* A value of an objective with its unit: "ε 0.5", "12.3 %", "0.0312". */
char *fig_value(const struct study_data *s, size_t objective, double v, char out[FIG_NUMBER_LEN]);
/* A share in percent with two digits: "0.12", "3.4", "56". */
char *fig_percent(double share, char out[FIG_NUMBER_LEN]);
/* A difference of two values with two digits: "1.3 percentage points" of shares, "0.031". */
char *fig_difference(const struct study_data *s, size_t objective, double v,
		     char out[FIG_NUMBER_LEN]);
/* A value with the objective's name: "ε 0.5", "error 12.3 %", "ε 435, no meaningful guarantee". */
void fig_append_value(const struct study_data *s, size_t objective, double v, struct dp_buf *out);
/* The name of the study, shortened in the middle. */
char *fig_format_study_name(const struct study_data *s, char out[FIG_STUDY_NAME_LEN]);
/* "of the front", or with more than two objectives "of the front of a and b alone": describes
 * fig_study_front(). */
void fig_append_front_name(const struct study_data *s, struct dp_buf *out);
/* "1 point", "3 points". */
void fig_count(struct dp_buf *out, size_t n, const char *thing);
/* The number of results: "12 evaluations", with checkpoints "12 results of 3 evaluations". */
void fig_count_results(struct dp_buf *out, const struct study_data *s);

/* ---- figure_style.c: axes and styles ---- */

/* A new figure. The title includes the study's name; s is NULL for a figure of several studies. */
struct plot *fig_new(const struct study_data *s, const char *title, int width, int height);
/* Adds the text as a note below the figure, unless it is empty, and frees it. */
void fig_note(struct plot *p, struct dp_buf *text);
void fig_axis(struct plot_panel *a, enum plot_side side, const struct study_data *s,
	      size_t objective, enum plot_scale scale);
/* Log if all values are positive, span more than two decades, and a linear axis would squeeze half
 * of them into its first fifth. */
enum plot_scale fig_scale(const double *v, size_t n);
/* The same for an objective. Epsilon is always on a log axis, so that reports are comparable,
 * unless a value is 0. */
enum plot_scale fig_objective_scale(const struct study_data *s, size_t objective, const double *v,
				    size_t n);
/* Sets scale[PLOT_X] and scale[PLOT_Y] to log where the n values need it. */
void fig_widen_scales(enum plot_scale scale[2], const struct study_data *s, const double *x,
		      const double *y, size_t n);
/* Axes for the two objectives that the study shows. */
void fig_plane_axes(struct plot_panel *a, const struct study_data *s,
		    const enum plot_scale scale[2]);
/* The same, with scales chosen for n points. */
void fig_plane_axes_for(struct plot_panel *a, const struct study_data *s, const double *x,
			const double *y, size_t n);
/* The lower limit of a hypervolume axis. It is above zero if the curve would otherwise be flat at
 * the top, by `part` of the growth from `early` to `high`. */
double fig_hypervolume_axis_start(double early, double high, double part);
/* Marker diameter for this number of points: smaller if they would touch. */
double fig_marker_size(size_t points);
/* An outline separates few points; of many it would hide neighbours and lines. */
bool fig_outlined(size_t points);
/* Prominent dots, outlined if they are few. */
struct plot_style fig_dots(plot_colour colour, size_t points);
/* Faint dots for the background, fainter if there are thousands. */
struct plot_style fig_faint_dot_style(plot_colour colour, size_t points);
/* Background markers of evaluated points: grey, or white on a heat map; fainter if there are
 * many. */
struct plot_style fig_background_style(size_t n, bool on_heat);
/* Colour and dash of the i-th study, the same in every figure. */
struct plot_style fig_style(size_t i);
/* Its marker, which distinguishes it in greyscale. */
enum plot_marker fig_marker(size_t i);
/* Draws all evaluated points in the background. */
void fig_draw_background(struct plot_panel *a, const char *name, const struct fig_points *p);

enum fig_tooltip_flag {
	FIG_TOOLTIP_STUDY = 1, /* starts with the study's name */
	FIG_TOOLTIP_LINK = 2, /* links to the row of the front's table; only for front points of the
				 main study */
	FIG_TOOLTIP_OTHER_AXES = 4, /* the points are not on the plane of the two objectives */
};
/* Adds tooltips to the points that were added last: "trial 13: ε 0.42, error 15.5 %; lot 64, clip
 * 0.5". `p` holds these points and their results. */
void fig_add_tooltips(struct plot_panel *a, const struct study_data *s, const struct fig_points *p,
		      unsigned how);

#endif
