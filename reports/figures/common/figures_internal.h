/* figures_internal.h - what the figures share: a study's points on the plane of its two
 * shown objectives, fronts as staircases, labels, colours. */
#ifndef DP_REPORTS_FIGURES_COMMON_FIGURES_INTERNAL_H
#define DP_REPORTS_FIGURES_COMMON_FIGURES_INTERNAL_H
#include "reports/figures/figure_list.h"

enum {
	FIG_WIDTH = 720, /* of a figure with one panel, CSS pixels */
	FIG_HEIGHT = 460,
	FIG_STUDY_NAME_LEN = 64, /* bytes of a study's name as a legend shows it */
	FIG_NUMBER_LEN = 48,     /* bytes of a number with its unit */
};

/* ---- points (points.c) ---- */

/* Points on the plane: x and y are the subject's objectives s->x and s->y in natural
 * units, all finite. */
struct fig_points {
	double *x, *y;                /* (n) */
	struct dp_result_id *results; /* (n) the results that they are; not of staircases */
	size_t n;
	size_t n_not_finite; /* so many others could not be shown: infinite epsilon */
};
void fig_points_free(struct fig_points *p);
/* An empty set with room for this many. False without memory. */
bool fig_points_alloc(struct fig_points *p, size_t room);
/* Results that meet the constraints, in the order of s->points. */
DP_MUSTCHECK int fig_collect_points(const struct study_data *s, struct fig_points *out,
				    struct dp_err *err);
/* The points of p that no other dominates on the plane, x ascending. With two
 * objectives that is the study's front; with more, its projection's own. */
DP_MUSTCHECK int fig_filter_front(const struct study_data *s, const struct fig_points *p,
				  struct fig_points *out, struct dp_err *err);
/* Both at once. */
DP_MUSTCHECK int fig_observed_front(const struct study_data *s, struct fig_points *out,
				    struct dp_err *err);
/* The same by the models, where the subject has them, at the values that they give. */
DP_MUSTCHECK int fig_smoothed_front(const struct study_data *s, struct fig_points *out,
				    struct dp_err *err);
/* The one of these that is the study's. */
DP_MUSTCHECK int fig_study_front(const struct study_data *s, struct fig_points *out,
				 struct dp_err *err);
/* All members of the study's front, x ascending: with more than two objectives most of
 * them are not on that of the plane. */
DP_MUSTCHECK int fig_front_members(const struct study_data *s, struct fig_points *out,
				   struct dp_err *err);
/* The corners of a front's staircase, to be drawn as a line: what is reached at each x
 * for the goals of the two objectives. It goes on to x_to and y_to, where these are not
 * NaN and beyond its ends. */
DP_MUSTCHECK int fig_staircase(const struct study_data *s, const struct fig_points *front,
			       double x_to, double y_to, struct fig_points *out,
			       struct dp_err *err);
bool fig_is_maximised(const struct study_data *s, size_t objective);
/* For qsort() of doubles. */
int fig_compare_doubles(const void *a, const void *b);
/* Is the point better than the anti-ideal in both objectives? */
bool fig_beats_reference_point(const struct study_data *s, double x, double y);
/* Keeps what is better than the anti-ideal, so that the tail of a front does not set the
 * axes; a front without such points stays whole. */
void fig_trim_front_tail(const struct study_data *s, struct fig_points *front);
/* Are the values of two objectives of the same kind: name, goal, metric and what is taken
 * of it, delta? How a model scales them does not matter. */
bool fig_same_objective(const struct dp_objective *a, const struct dp_objective *b);
/* Do two subjects show the same objectives, so that one plane can hold both? */
bool fig_same_plane(const struct study_data *a, const struct study_data *b);

/* ---- looks (figure_style.c) ---- */

/* What the report is about; NULL, and the reason, where it has no study. */
const struct study_data *fig_main_study(const struct report_data *r, const char **why);
/* A new figure; the title also names the study, unless s is NULL because the figure is
 * about several. */
struct plot *fig_new(const struct study_data *s, const char *title, int width, int height);
/* The label of an objective: "ε (δ = 1e-5)", "error (1 - accuracy)". */
void fig_label(const struct study_data *s, size_t objective, struct dp_buf *out);
/* An axis for an objective with its label. */
void fig_axis(struct plot_panel *a, enum plot_side side, const struct study_data *s,
	      size_t objective, enum plot_scale scale);
/* Log where all values are positive and cover more than two decades, and a linear axis
 * would push half of them into its first fifth. */
enum plot_scale fig_scale(const double *v, size_t n);
/* The same for values of an objective; epsilon is always shown over decades, so that two
 * reports look alike, but where a value is 0. */
enum plot_scale fig_objective_scale(const struct study_data *s, size_t objective, const double *v,
				    size_t n);
/* Three digits: "0.0312", "12.5", "1500", "3.2e-7", "2.5e9". */
char *fig_number(double v, char out[FIG_NUMBER_LEN]);
/* A value of an objective as people say it: "ε 0.5", "12.3 %", "0.0312". */
char *fig_value(const struct study_data *s, size_t objective, double v, char out[FIG_NUMBER_LEN]);
/* A share in percent with two digits: "0.12", "3.4", "56". */
char *fig_percent(double share, char out[FIG_NUMBER_LEN]);
/* A difference of two values, with two digits: "1.3 percentage points" of shares,
 * "0.031".
 */
char *fig_difference(const struct study_data *s, size_t objective, double v,
		     char out[FIG_NUMBER_LEN]);
/* The same in a sentence, with the objective's name: "ε 0.5", "error 12.3 %"; and "ε 435,
 * no meaningful guarantee". */
void fig_append_value(const struct study_data *s, size_t objective, double v, struct dp_buf *out);
/* The name of its study, shortened in the middle. */
char *fig_format_study_name(const struct study_data *s, char out[FIG_STUDY_NAME_LEN]);
/* Diameter of the markers of so many points: smaller where they would touch. */
double fig_marker_size(size_t points);
/* Are so few told apart by an outline? That of more would hide neighbours and lines. */
bool fig_outlined(size_t points);
/* Dots that are to be seen: with an outline where that helps. */
struct plot_style fig_dots(plot_colour colour, size_t points);
/* Dots that stand back, fainter where there are thousands. */
struct plot_style fig_faint_dot_style(plot_colour colour, size_t points);
/* Colour and dash of the i-th study: the same one in every figure. */
struct plot_style fig_style(size_t i);
/* Its marker, by which it is known in grey. */
enum plot_marker fig_marker(size_t i);
/* "of the front", and with more than two objectives "of the front of a and b alone": what
 * fig_study_front() has. */
void fig_append_front_name(const struct study_data *s, struct dp_buf *out);
/* "1 point", "3 points". */
void fig_count(struct dp_buf *out, size_t n, const char *thing);
/* How many results there are: "12 evaluations", with waypoints "12 results of 3
 * evaluations". */
void fig_count_results(struct dp_buf *out, const struct study_data *s);

/* ---- tips (tooltips.c) ---- */

enum fig_tooltip_flag {
	FIG_TOOLTIP_STUDY = 1,      /* names the study first */
	FIG_TOOLTIP_LINK = 2,       /* leads to the row of the front's table in the page: only for
				     * points of the front of the report's own study */
	FIG_TOOLTIP_OTHER_AXES = 4, /* the points are not on the plane of s->x and s->y */
};
/* Gives the points that were added last what is said when one points at them: "trial 13:
 * ε 0.42, error 15.5 %; lot 64, clip 0.5". They are these, with their results. */
void fig_add_tooltips(struct plot_panel *a, const struct study_data *s, const struct fig_points *p,
		      unsigned how);

/* Fails with "no memory for a figure". */
int fig_nomem(struct dp_err *err);

#endif
