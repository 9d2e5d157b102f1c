/* figures_internal.h - what the figures share: points on the plane of the two objectives that a
 * study shows, fronts as staircases, bands, labels, numbers and colours.
 *
 * What a figure gathers lives in its arena, which is freed once the figure is drawn. */
#ifndef DP_REPORTS_FIGURES_COMMON_FIGURES_INTERNAL_H
#define DP_REPORTS_FIGURES_COMMON_FIGURES_INTERNAL_H
#include "reports/model/study_data.h"

enum {
	FIG_WIDTH = 720, /* of a figure with one panel, CSS pixels */
	FIG_HEIGHT = 460,
	FIG_STUDY_NAME_LEN = 64, /* bytes of a study's name as a legend shows it */
	FIG_NUMBER_LEN = 48,     /* bytes of a number with its unit */
};

/* Ends gathering: the figure has nothing to show. `why` ends a sentence. */
int fig_nothing(struct dp_err *err, const char *why);
/* The study that the report is about; DP_E_NOT_FOUND: it has none. */
int fig_main_study(const struct report_data *r, const struct study_data **s, struct dp_err *err);

/* ---- plane_points.c ---- */

/* Points on the plane: x and y are the study's objectives s->x_obj and s->y_obj in natural
 * units, all finite. */
struct fig_points {
	double *x, *y;                /* (n) */
	struct dp_result_id *results; /* (n) the results that they are; not of staircases */
	size_t n;
	size_t n_not_finite; /* others that cannot be shown: infinite epsilon */
};
/* An empty set with room for this many. */
struct fig_points fig_points_new(struct arena *mem, size_t room);
void fig_add_point(struct fig_points *p, double x, double y, struct dp_result_id result);
/* Of a point that is no result. */
#define FIG_NO_RESULT ((struct dp_result_id){ 0 })
/* Results that meet the constraints, in the order of s->points. */
struct fig_points fig_collect_points(struct arena *mem, const struct study_data *s);
/* The points of p that no other dominates on the plane, x ascending. With two objectives that is
 * the study's front; with more, its projection's own. */
struct fig_points fig_filter_front(struct arena *mem, const struct study_data *s,
				   const struct fig_points *p);
/* Both at once. */
struct fig_points fig_observed_front(struct arena *mem, const struct study_data *s);
/* The same by the models, where the study has them, at the smoothed values. */
struct fig_points fig_smoothed_front(struct arena *mem, const struct study_data *s);
/* The one of these that is the study's. */
struct fig_points fig_study_front(struct arena *mem, const struct study_data *s);
/* All members of the study's front, x ascending: with more than two objectives most of them are
 * not on that of the plane. */
struct fig_points fig_front_members(struct arena *mem, const struct study_data *s);
/* The place in the study's front of a result; SIZE_MAX: it is not there. */
size_t fig_front_index(const struct study_data *s, struct dp_result_id p);
/* The corners of a front's staircase, to be drawn as a line: what is reached at each x for the
 * goals of the two objectives. It goes on to x_to and y_to, where these are not NaN and beyond its
 * ends. */
struct fig_points fig_staircase(struct arena *mem, const struct study_data *s,
				const struct fig_points *front, double x_to, double y_to);
/* The area that the points dominate on the plane, up to the reference point of `s`. */
double fig_dominated_area(const struct study_data *s, const struct fig_points *p);
bool fig_is_maximised(const struct study_data *s, size_t objective);
/* For qsort() of doubles. */
int fig_compare_doubles(const void *a, const void *b);
/* Is the point better than the reference point in both objectives? */
bool fig_beats_reference_point(const struct study_data *s, double x, double y);
/* Keeps what is better than the reference point, so that the tail of a front does not set the
 * axes; a front without such points stays whole. */
void fig_trim_front_tail(const struct study_data *s, struct fig_points *front);
/* Are the values of two objectives of the same kind: name, goal, metric and what is taken of it,
 * delta? How a model scales them does not matter. */
bool fig_same_objective(const struct dp_objective *a, const struct dp_objective *b);
/* Do two studies show the same objectives, so that one plane can hold both? */
bool fig_same_plane(const struct study_data *a, const struct study_data *b);

/* A line in the middle of a band: at x the band reaches from one value to another. */
struct fig_band {
	double *x, *mid, *from, *to; /* (n) */
	size_t n;
};
struct fig_band fig_band_new(struct arena *mem, size_t room);
void fig_band_add(struct fig_band *b, double x, double mid, double from, double to);
void fig_band_reverse(struct fig_band *b);

/* Rectangles x0..x1, y0..y1. */
struct fig_rects {
	double *x0, *x1, *y0, *y1; /* (n) */
	size_t n;
};
struct fig_rects fig_rects_new(struct arena *mem, size_t room);
void fig_rects_add(struct fig_rects *b, double x0, double x1, double y0, double y1);

/* ---- figure_style.c: names and numbers ---- */

/* The label of an objective: "ε (δ = 1e-5)", "error (1 - accuracy)". */
void fig_label(const struct study_data *s, size_t objective, struct dp_buf *out);
/* Three digits: "0.0312", "12.5", "1500", "3.2e-7", "2.5e9". */
char *fig_number(double v, char out[FIG_NUMBER_LEN]);
/* A value of an objective as people say it: "ε 0.5", "12.3 %", "0.0312". */
char *fig_value(const struct study_data *s, size_t objective, double v, char out[FIG_NUMBER_LEN]);
/* A share in percent with two digits: "0.12", "3.4", "56". */
char *fig_percent(double share, char out[FIG_NUMBER_LEN]);
/* A difference of two values, with two digits: "1.3 percentage points" of shares, "0.031". */
char *fig_difference(const struct study_data *s, size_t objective, double v,
		     char out[FIG_NUMBER_LEN]);
/* A value in a sentence, with the objective's name: "ε 0.5", "error 12.3 %"; and "ε 435, no
 * meaningful guarantee". */
void fig_append_value(const struct study_data *s, size_t objective, double v, struct dp_buf *out);
/* The name of its study, shortened in the middle. */
char *fig_format_study_name(const struct study_data *s, char out[FIG_STUDY_NAME_LEN]);
/* "of the front", and with more than two objectives "of the front of a and b alone": what
 * fig_study_front() has. */
void fig_append_front_name(const struct study_data *s, struct dp_buf *out);
/* "1 point", "3 points". */
void fig_count(struct dp_buf *out, size_t n, const char *thing);
/* How many results there are: "12 evaluations", with checkpoints "12 results of 3
 * evaluations". */
void fig_count_results(struct dp_buf *out, const struct study_data *s);

/* ---- figure_style.c: axes and looks ---- */

/* A new figure; the title also names the study, unless s is NULL because the figure is about
 * several. */
struct plot *fig_new(const struct study_data *s, const char *title, int width, int height);
/* Puts the text below the figure, if there is any, and frees it. */
void fig_note(struct plot *p, struct dp_buf *text);
/* An axis for an objective with its label. */
void fig_axis(struct plot_panel *a, enum plot_side side, const struct study_data *s,
	      size_t objective, enum plot_scale scale);
/* Log where all values are positive and cover more than two decades, and a linear axis would push
 * half of them into its first fifth. */
enum plot_scale fig_scale(const double *v, size_t n);
/* The same for values of an objective; epsilon is always shown over decades, so that two reports
 * look alike, but where a value is 0. */
enum plot_scale fig_objective_scale(const struct study_data *s, size_t objective, const double *v,
				    size_t n);
/* Makes scale[PLOT_X] and scale[PLOT_Y] logarithmic where n values of the two objectives ask for
 * that. */
void fig_widen_scales(enum plot_scale scale[2], const struct study_data *s, const double *x,
		      const double *y, size_t n);
/* Axes for the two objectives that the study shows. */
void fig_plane_axes(struct plot_panel *a, const struct study_data *s,
		    const enum plot_scale scale[2]);
/* The same, with the scales that n points ask for. */
void fig_plane_axes_for(struct plot_panel *a, const struct study_data *s, const double *x,
			const double *y, size_t n);
/* Where the axis of a growing hypervolume begins: above zero where the rest would be a flat line
 * at the top, by `part` of the growth from `early` to `high`. */
double fig_hypervolume_axis_start(double early, double high, double part);
/* Diameter of the markers of so many points: smaller where they would touch. */
double fig_marker_size(size_t points);
/* Few points are told apart by an outline; that of more would hide neighbours and lines. */
bool fig_outlined(size_t points);
/* Dots that are to be seen: with an outline where that helps. */
struct plot_style fig_dots(plot_colour colour, size_t points);
/* Dots that stand back, fainter where there are thousands. */
struct plot_style fig_faint_dot_style(plot_colour colour, size_t points);
/* Markers of evaluated points behind others, in grey, or in white on a heat map; fainter where
 * they are many. */
struct plot_style fig_background_style(size_t n, bool on_heat);
/* Colour and dash of the i-th study: the same one in every figure. */
struct plot_style fig_style(size_t i);
/* Its marker, by which it is known in grey. */
enum plot_marker fig_marker(size_t i);
/* "evaluated": the points that all others are among. */
void fig_draw_background(struct plot_panel *a, const char *name, const struct fig_points *p);

enum fig_tooltip_flag {
	FIG_TOOLTIP_STUDY = 1,      /* names the study first */
	FIG_TOOLTIP_LINK = 2,       /* leads to the row of the front's table in the page: only for
				     * points of the front of the report's own study */
	FIG_TOOLTIP_OTHER_AXES = 4, /* the points are not on the plane of the two objectives */
};
/* The tooltips of the points that were added last: "trial 13: ε 0.42, error 15.5 %; lot 64, clip
 * 0.5". They are these, with their results. */
void fig_add_tooltips(struct plot_panel *a, const struct study_data *s, const struct fig_points *p,
		      unsigned how);

#endif
