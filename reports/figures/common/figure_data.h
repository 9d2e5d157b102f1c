/* figure_data.h - the numbers behind some figures, apart from their drawing so that tests
 * can ask for them. */
#ifndef DP_REPORTS_FIGURES_COMMON_FIGURE_DATA_H
#define DP_REPORTS_FIGURES_COMMON_FIGURE_DATA_H
#include "reports/figures/common/figures_internal.h"
#include "reports/model/study_groups.h"

/* ---- hypervolume_by_cost.c ---- */

/* The hypervolume after so much was spent on evaluations that had ended, from 0 on. */
enum fig_cost_axis {
	FIG_COST_EVALUATIONS, /* their number */
	FIG_COST_PATH,        /* the sum of a parameter, such as epochs; NaN: unknown */
	FIG_COST_SECONDS,     /* that their attempts took */
	FIG_COST_AXES
};
enum {
	FIG_CURVE_STEPS_MAX = 400 /* at most */
};
struct fig_hypervolume_curve {
	double *spent[FIG_COST_AXES], *volume; /* (n) */
	size_t n;
};
/* At every evaluation, or where there are many at evenly spaced ones; the last always.
 * `walked` names the parameter that is summed, or NULL. */
void fig_compute_hypervolume_curve(const struct study_data *s, const char *walked,
				   struct fig_hypervolume_curve *out);
/* The same of some of a study's trials alone, as if these were all there are. */
struct fig_trial_range {
	uint32_t from, end; /* by number; */
	size_t max_count;   /* so many of them, the first to end */
};
void fig_compute_trials_curve(const struct study_data *s, const struct fig_trial_range *which,
			      const char *walked, struct fig_hypervolume_curve *out);
void fig_hypervolume_curve_free(struct fig_hypervolume_curve *g);

/* ---- variability.c ---- */

/* What is reached at each x in the best, the mean and the worst run. Where trainings have
 * waypoints, of whose runs only mean and deviation are kept, best and worst are a
 * standard deviation of the runs better and worse than the mean. */
struct fig_run_band {
	double *x, *best, *mean, *worst; /* (n) corners of staircases */
	size_t n;
};
DP_MUSTCHECK int fig_compute_run_band(const struct study_data *s, struct fig_run_band *out,
				      struct dp_err *err);
void fig_run_band_free(struct fig_run_band *b);

/* ---- scatter.c ---- */

/* shared[i]: was the point of the result p->of[i] of `a` evaluated in `b`, too, or taken
 * over from one to the other? */
DP_MUSTCHECK int fig_find_shared_points(const struct study_data *a, const struct fig_points *p,
					const struct study_data *b, bool *shared,
					struct dp_err *err);

/* ---- time_axis.c ---- */

/* Why figures of attempts have nothing to show. */
#define FIG_NO_ATTEMPT "no attempt has been made"

struct fig_time_unit {
	double seconds;
	const char *name;
};
/* The unit in which a time of this length is read best. */
struct fig_time_unit fig_choose_time_unit(double seconds);
/* An x axis over a study of this length, in its unit. */
void fig_set_time_axis(struct plot_panel *a, double length);

/* Rectangles x0..x1, y0..y1. */
struct fig_rects {
	double *x0, *x1, *y0, *y1; /* (n) */
	size_t n;
};
/* An empty set with room for this many. False without memory. */
bool fig_rects_alloc(struct fig_rects *b, size_t room);
void fig_rects_add(struct fig_rects *b, double x0, double x1, double y0, double y1);
void fig_rects_draw(struct plot_panel *a, const struct plot_style *style, const char *name,
		    const struct fig_rects *b);
void fig_rects_free(struct fig_rects *b);

/* ---- slot_usage.c ---- */

/* One attempt, which holds its slot from its plan to its end, and what came before it.
 * Seconds since the study was created; asked <= proposed <= planned <= start <= end. */
struct fig_attempt_span {
	double requested; /* when the search for the trial's point began */
	double proposed, planned, start, end;
	uint32_t trial;
	size_t slot;
	enum fig_span_kind {
		FIG_SPAN_OK,
		FIG_SPAN_DIVERGED,
		FIG_SPAN_FAILED,
		FIG_SPAN_RUNNING,
		FIG_SPAN_KINDS
	} kind;
};
struct fig_attempt_spans {
	struct fig_attempt_span *list; /* (n) by plan */
	size_t n, slots;
	double length; /* of the whole study so far */
	/* The journal does not tell how long some points took to find: until they were,
	 * from the last that happened before. */
	bool has_estimated_times;
};
/* All attempts, each in the first slot that is free when it is planned. */
DP_MUSTCHECK int fig_collect_attempt_spans(const struct study_data *s,
					   struct fig_attempt_spans *out, struct dp_err *err);
void fig_attempt_spans_free(struct fig_attempt_spans *s);

enum fig_slot_use {
	FIG_USE_TRAINING,
	FIG_USE_FAILED,
	FIG_USE_STARTING,
	FIG_USE_PROPOSING,
	FIG_USE_WAITING,
	FIG_USE_COUNT
};
/* What the slots did in each of `bins` equal parts of the time: seconds[bin * FIG_USE_COUNT
 * + use], which in each bin sum to slots x its length. */
DP_MUSTCHECK int fig_compute_slot_usage(const struct fig_attempt_spans *s, size_t bins,
					double *seconds, struct dp_err *err);

/* ---- reference_front.c ---- */

/* The true front, as far as another study knows it, under an empirical one. */
struct fig_reference_front {
	const struct study_data *study; /* NULL: none was named */
	struct fig_points front, staircase;
	double volume;           /* of the plane's two objectives, by the first study's anti-ideal
				  */
	double covered_fraction; /* of it that a front holds; NaN: unknown */
};
/* `x_to` is where fronts end in the picture; NaN: it is drawn to its own end. Else only
 * what is better than the anti-ideal is, so that its tail does not set the axes. */
DP_MUSTCHECK int fig_reference_front_load(const struct report_data *r, double x_to,
					  struct fig_reference_front *out, struct dp_err *err);
void fig_reference_front_draw(struct plot_panel *a, const struct fig_reference_front *t);
/* Finds how much of it a front of this study holds. */
void fig_reference_front_compare(struct fig_reference_front *t, const struct study_data *s,
				 const struct fig_points *front);
/* Appends a sentence on that. */
void fig_reference_front_append(const struct fig_reference_front *t, struct dp_buf *out);
void fig_reference_front_free(struct fig_reference_front *t);

/* ---- group_style.c ---- */

/* Why figures of groups have nothing to show. */
#define FIG_NO_GROUPS "the report has no groups of studies (--group)"

/* The look of a group in every figure: its colour by model, or where there is one model
 * only by group, its dash by method. */
struct plot_style fig_group_style(const struct study_groups *g, size_t group);
/* Appends what colours and dashes stand for, where lines have more than one dash. */
void fig_append_group_legend(const struct study_groups *g, struct dp_buf *out);
/* Its name, shortened in the middle. */
char *fig_format_group_name(const struct study_groups *g, size_t group,
			    char out[FIG_STUDY_NAME_LEN]);

/* ---- hypervolume_groups.c ---- */

/* The hypervolume of a group's members, on average, and where that mean lies with 95 %.
 */
struct fig_mean_curve {
	double *x, *mean, *lo, *hi; /* (n) lo and hi are NaN of a single member */
	size_t n;
	size_t max_evaluations; /* of the shortest member: no more are shown */
};
DP_MUSTCHECK int fig_compute_mean_curve(const struct study_groups *g, size_t group,
					struct fig_mean_curve *out, struct dp_err *err);
void fig_mean_curve_free(struct fig_mean_curve *m);

/* ---- attainment.c ---- */

/* What half of a group's members attain, and what nearly none and nearly all do: corners
 * of staircases in natural units, x ascending. NaN: fewer attain anything there. */
struct fig_attainment {
	double *x, *best, *median, *worst; /* (n) */
	size_t n, nmembers;
};
DP_MUSTCHECK int fig_compute_attainment(const struct study_groups *g, size_t group, double x_to,
					struct fig_attainment *out, struct dp_err *err);
void fig_attainment_free(struct fig_attainment *a);
/* What half of them attain at this x; NaN: fewer do. */
double fig_median_attainment_at(const struct study_data *s, const struct fig_attainment *a,
				double x);

#endif
