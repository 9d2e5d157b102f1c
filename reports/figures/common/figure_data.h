/* figure_data.h - the numbers behind some figures, separate from drawing so that tests can check
 * them. */
#ifndef DP_REPORTS_FIGURES_COMMON_FIGURE_DATA_H
#define DP_REPORTS_FIGURES_COMMON_FIGURE_DATA_H
#include "reports/figures/common/figures_internal.h"
#include "reports/model/study_groups.h"

/* ---- hypervolume_by_cost.c ---- */

/* Hypervolume as a function of the cost of completed evaluations, from 0 on. */
enum fig_cost_axis {
	FIG_COST_EVALUATIONS, /* number of evaluations */
	FIG_COST_PATH,        /* sum of a parameter, such as epochs; NaN: unknown */
	FIG_COST_SECONDS,     /* duration of their attempts */
	FIG_COST_AXES
};
enum {
	FIG_CURVE_STEPS_MAX = 400
};
struct fig_hypervolume_curve {
	double *spent[FIG_COST_AXES], *volume; /* (n) */
	size_t n;
};
/* One step for each evaluation, or evenly spaced ones if there are many; always the last. `walked`:
 * the parameter to sum, or NULL. */
struct fig_hypervolume_curve
fig_compute_hypervolume_curve(struct arena *mem, const struct study_data *s, const char *walked);
/* The same for a subset of the trials, as if the study had no others. */
struct fig_trial_range {
	uint32_t from, end; /* trial numbers [from, end) */
	size_t max_count;   /* at most this many, in order of completion */
};
struct fig_hypervolume_curve fig_compute_trials_curve(struct arena *mem, const struct study_data *s,
						      const struct fig_trial_range *which,
						      const char *walked);

/* ---- variability.c ---- */

/* Attained values at each x for the mean (`mid`), best (`from`) and worst (`to`) run, as corners of
 * staircases. A checkpoint stores only mean and deviation of its runs; if runs have checkpoints,
 * best and worst are one standard deviation from the mean. */
struct fig_band fig_compute_run_band(struct arena *mem, const struct study_data *s);

/* ---- scatter.c ---- */

/* shared[i]: `b` also evaluated the point of result p->results[i] of `a`, or one study imported it
 * from the other. */
void fig_find_shared_points(const struct study_data *a, const struct fig_points *p,
			    const struct study_data *b, bool *shared);

/* ---- slot_usage.c ---- */

struct fig_time_unit {
	double seconds;
	const char *name;
};
/* The most readable unit for this duration. */
struct fig_time_unit fig_choose_time_unit(double seconds);
/* Sets up an x axis for a study of this duration, in its unit. */
void fig_set_time_axis(struct plot_panel *a, double length);

/* An attempt, which occupies a slot from plan to end, and the steps before it. Seconds since the
 * study was created; requested <= proposed <= planned <= start <= end. */
struct fig_attempt_span {
	double requested; /* start of the search for the trial's point */
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
	struct fig_attempt_span *list; /* (n) ordered by `planned` */
	size_t n, slots;
	double length; /* duration of the study so far */
	/* The journal lacks the duration of some proposals: assumes that they started at the
	 * previous event. */
	bool has_estimated_times;
};
/* All attempts, each in the first slot that is free when it is planned. DP_E_NOT_FOUND: none. */
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
/* Slot usage in each of `bins` equal time intervals: seconds[bin * FIG_USE_COUNT + use]. A bin sums
 * to slots x its duration. */
void fig_compute_slot_usage(const struct fig_attempt_spans *s, size_t bins, double *seconds);

/* ---- reference_front.c ---- */

/* The reference front, as far as the reference study knows it. */
struct fig_reference_front {
	const struct study_data *study; /* NULL: no reference study */
	struct fig_points front, staircase;
	double covered_fraction; /* share of its area that the compared front dominates, up to the
				    first study's reference point; NaN: unknown */
};
/* `x_to`: where fronts end in the figure. NaN: draws the whole front; otherwise only points better
 * than the reference point, so that the tail does not set the axes. `compared`: the front of the
 * report's first study, or NULL. */
struct fig_reference_front fig_reference_front_load(struct arena *mem, const struct report_data *r,
						    double x_to, const struct fig_points *compared);
void fig_reference_front_draw(struct plot_panel *a, const struct fig_reference_front *t);
/* Appends a sentence on the share that the compared front covers. */
void fig_reference_front_append(const struct fig_reference_front *t, struct dp_buf *out);

/* ---- figure_style.c: groups of studies ---- */

/* Why group figures have nothing to show. */
#define FIG_NO_GROUPS "the report has no groups of studies (--group)"

/* The style of a group in every figure. Colour: by model, or by group if there is only one model.
 * Dash: by method. */
struct plot_style fig_group_style(const struct study_groups *g, size_t group);
/* Explains colours and dashes, if lines have more than one dash. */
void fig_append_group_legend(const struct study_groups *g, struct dp_buf *out);
/* The group's name, shortened at the end. */
char *fig_format_group_name(const struct study_groups *g, size_t group,
			    char out[FIG_STUDY_NAME_LEN]);
/* Draws the bands of `n` groups, then their middle lines (staircases with `steps`) with the groups'
 * names. */
void fig_draw_group_bands(struct plot_panel *a, const struct study_groups *g,
			  const struct fig_band *bands, bool steps);

/* ---- hypervolume_groups.c ---- */

/* The mean hypervolume over a group's members with its 95% interval (NaN for a single member).
 * *evaluations: those of the shortest member, where the curve ends. */
struct fig_band fig_compute_mean_curve(struct arena *mem, const struct study_groups *g,
				       size_t group, size_t *evaluations);

/* ---- attainment_figure.c ---- */

/* Attainment of a group's members: median (`mid`), by few (`from`) and by most (`to`), as corners
 * of staircases in natural units, x ascending. NaN: too few members attain any value there. */
struct fig_band fig_compute_attainment(struct arena *mem, const struct study_groups *g,
				       size_t group, double x_to);
/* Median attainment at x; NaN: fewer than half attain any value. */
double fig_median_attainment_at(const struct study_data *s, const struct fig_band *a, double x);

#endif
