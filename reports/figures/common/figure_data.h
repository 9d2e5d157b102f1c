/* figure_data.h - the numbers behind some figures, apart from their drawing so that tests can ask
 * for them. */
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
struct fig_hypervolume_curve
fig_compute_hypervolume_curve(struct arena *mem, const struct study_data *s, const char *walked);
/* The same of some of a study's trials alone, as if these were all there are. */
struct fig_trial_range {
	uint32_t from, end; /* by number; */
	size_t max_count;   /* so many of them, the first to end */
};
struct fig_hypervolume_curve fig_compute_trials_curve(struct arena *mem, const struct study_data *s,
						      const struct fig_trial_range *which,
						      const char *walked);

/* ---- variability.c ---- */

/* What is reached at each x in the mean run (`mid`), the best (`from`) and the worst (`to`):
 * corners of staircases. Where trainings have checkpoints, whose runs are known by mean and
 * deviation only, best and worst are a standard deviation of the runs better and worse than the
 * mean. */
struct fig_band fig_compute_run_band(struct arena *mem, const struct study_data *s);

/* ---- scatter.c ---- */

/* shared[i]: was the point of the result p->results[i] of `a` evaluated in `b`, too, or taken over
 * from one to the other? */
void fig_find_shared_points(const struct study_data *a, const struct fig_points *p,
			    const struct study_data *b, bool *shared);

/* ---- slot_usage.c ---- */

struct fig_time_unit {
	double seconds;
	const char *name;
};
/* The unit in which a time of this length is read best. */
struct fig_time_unit fig_choose_time_unit(double seconds);
/* An x axis over a study of this length, in its unit. */
void fig_set_time_axis(struct plot_panel *a, double length);

/* One attempt, which holds its slot from its plan to its end, and what came before it.
 * Seconds since the study was created; requested <= proposed <= planned <= start <= end. */
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
	/* The journal does not say how long some points took to find: it is assumed that they
	 * were searched from the last event before on. */
	bool has_estimated_times;
};
/* All attempts, each in the first slot that is free when it is planned. DP_E_NOT_FOUND: there are
 * none. */
DP_MUSTCHECK int fig_collect_attempt_spans(struct arena *mem, const struct study_data *s,
					   struct fig_attempt_spans *out, struct dp_err *err);

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
void fig_compute_slot_usage(const struct fig_attempt_spans *s, size_t bins, double *seconds);

/* ---- reference_front.c ---- */

/* The reference front, as far as another study knows it, under an empirical one. */
struct fig_reference_front {
	const struct study_data *study; /* NULL: none was named */
	struct fig_points front, staircase;
	double covered_fraction; /* of its area on the plane, by the first study's reference
				  * point, that the compared front holds; NaN: unknown */
};
/* `x_to` is where fronts end in the picture; NaN: it is drawn to its own end. Else only what is
 * better than the reference point is, so that its tail does not set the axes. `compared` is the
 * front of the report's first study, or NULL. */
struct fig_reference_front fig_reference_front_load(struct arena *mem, const struct report_data *r,
						    double x_to, const struct fig_points *compared);
void fig_reference_front_draw(struct plot_panel *a, const struct fig_reference_front *t);
/* Appends a sentence on how much of it the compared front holds. */
void fig_reference_front_append(const struct fig_reference_front *t, struct dp_buf *out);

/* ---- figure_style.c: groups of studies ---- */

/* Why figures of groups have nothing to show. */
#define FIG_NO_GROUPS "the report has no groups of studies (--group)"

/* The look of a group in every figure: its colour by model, or where there is one model only by
 * group, its dash by method. */
struct plot_style fig_group_style(const struct study_groups *g, size_t group);
/* Appends what colours and dashes stand for, where lines have more than one dash. */
void fig_append_group_legend(const struct study_groups *g, struct dp_buf *out);
/* Its name, shortened at the end. */
char *fig_format_group_name(const struct study_groups *g, size_t group,
			    char out[FIG_STUDY_NAME_LEN]);
/* The bands of `n` groups, then the lines in their middle (staircases with `steps`) with the names
 * of the groups. */
void fig_draw_group_bands(struct plot_panel *a, const struct study_groups *g,
			  const struct fig_band *bands, bool steps);

/* ---- hypervolume_groups.c ---- */

/* The mean hypervolume of a group's members, and where that mean lies with 95 % (NaN of a single
 * member). *evaluations gets those of the shortest member: no more are shown. */
struct fig_band fig_compute_mean_curve(struct arena *mem, const struct study_groups *g,
				       size_t group, size_t *evaluations);

/* ---- attainment_figure.c ---- */

/* What half of a group's members attain (`mid`), and what nearly none (`from`) and nearly all do
 * (`to`): corners of staircases in natural units, x ascending. NaN: fewer attain anything there. */
struct fig_band fig_compute_attainment(struct arena *mem, const struct study_groups *g,
				       size_t group, double x_to);
/* What half of them attain at this x; NaN: fewer do. */
double fig_median_attainment_at(const struct study_data *s, const struct fig_band *a, double x);

#endif
