/* series.h - the numbers behind some figures, apart from their drawing so that tests
 * can ask for them. */
#ifndef DP_FIGURE_SERIES_H
#define DP_FIGURE_SERIES_H
#include "reports/figures/figures_internal.h"
#include "reports/groups.h"

/* ---- growth.c ---- */

/* The hypervolume after so much was spent on evaluations that had ended, from 0 on. */
enum fig_growth_by {
	FIG_GROWTH_EVALUATIONS, /* their number */
	FIG_GROWTH_WALKED,      /* the sum of a parameter, such as epochs; NaN: unknown */
	FIG_GROWTH_SECONDS,     /* that their attempts took */
	FIG_GROWTH_BY
};
enum {
	FIG_GROWTH_STEPS = 400 /* at most */
};
struct fig_growth {
	double *spent[FIG_GROWTH_BY], *volume; /* (n) */
	size_t n;
};
/* At every evaluation, or where there are many at evenly spaced ones; the last always.
 * `walked` names the parameter that is summed, or NULL. */
DP_MUSTCHECK int fig_growth(const struct subject *s, const char *walked, struct fig_growth *out,
			    struct dp_err *err);
/* The same of some of a study's trials alone, as if these were all there are. */
struct fig_trials {
	uint32_t from, end; /* by number; */
	size_t most;        /* so many of them, the first to end */
};
DP_MUSTCHECK int fig_growth_of(const struct subject *s, const struct fig_trials *which,
			       const char *walked, struct fig_growth *out, struct dp_err *err);
void fig_growth_free(struct fig_growth *g);

/* ---- variability.c ---- */

/* What is reached at each x in the best, the mean and the worst run. Where trainings have
 * waypoints, of whose runs only mean and deviation are kept, best and worst are a
 * standard deviation of the runs better and worse than the mean. */
struct fig_band {
	double *x, *best, *mean, *worst; /* (n) corners of staircases */
	size_t n;
};
DP_MUSTCHECK int fig_band(const struct subject *s, struct fig_band *out, struct dp_err *err);
void fig_band_free(struct fig_band *b);

/* ---- clouds.c ---- */

/* shared[i]: was the point of the result p->of[i] of `a` evaluated in `b`, too, or taken
 * over from one to the other? */
DP_MUSTCHECK int fig_shared(const struct subject *a, const struct fig_points *p,
			    const struct subject *b, bool *shared, struct dp_err *err);

/* ---- blocks.c ---- */

/* Why figures of attempts have nothing to show. */
#define FIG_NO_ATTEMPT "no attempt has been made"

struct fig_unit {
	double seconds;
	const char *name;
};
/* The unit in which a time of this length is read best. */
struct fig_unit fig_unit_for(double seconds);
/* An x axis over a study of this length, in its unit. */
void fig_time_axis(struct plot_panel *a, double length);

/* Rectangles x0..x1, y0..y1. */
struct fig_blocks {
	double *x0, *x1, *y0, *y1; /* (n) */
	size_t n;
};
/* An empty set with room for this many. False without memory. */
bool fig_blocks_room(struct fig_blocks *b, size_t room);
void fig_blocks_add(struct fig_blocks *b, double x0, double x1, double y0, double y1);
void fig_blocks_draw(struct plot_panel *a, const struct plot_style *style, const char *name,
		     const struct fig_blocks *b);
void fig_blocks_free(struct fig_blocks *b);

/* ---- spans.c ---- */

/* One attempt, which holds its slot from its plan to its end, and what came before it.
 * Seconds since the study was created; asked <= proposed <= planned <= start <= end. */
struct fig_span {
	double asked; /* when the search for the trial's point began */
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
struct fig_spans {
	struct fig_span *list; /* (n) by plan */
	size_t n, slots;
	double length; /* of the whole study so far */
	/* The journal does not tell how long some points took to find: until they were,
	 * from the last that happened before. */
	bool guessed;
};
/* All attempts, each in the first slot that is free when it is planned. */
DP_MUSTCHECK int fig_spans(const struct subject *s, struct fig_spans *out, struct dp_err *err);
void fig_spans_free(struct fig_spans *s);

enum fig_use {
	FIG_USE_TRAINING,
	FIG_USE_FAILED,
	FIG_USE_STARTING,
	FIG_USE_PROPOSING,
	FIG_USE_WAITING,
	FIG_USES
};
/* What the slots did in each of `bins` equal parts of the time: seconds[bin * FIG_USES
 * + use], which in each bin sum to slots x its length. */
DP_MUSTCHECK int fig_use_of_time(const struct fig_spans *s, size_t bins, double *seconds,
				 struct dp_err *err);

/* ---- truth.c ---- */

/* The true front, as far as another study knows it, under an empirical one. */
struct fig_truth {
	const struct subject *s; /* NULL: none was named */
	struct fig_points front, stairs;
	double volume; /* of the plane's two objectives, by the first study's anti-ideal
			*/
	double share;  /* of it that a front holds; NaN: unknown */
};
/* `x_to` is where fronts end in the picture; NaN: it is drawn to its own end. Else only
 * what is better than the anti-ideal is, so that its tail does not set the axes. */
DP_MUSTCHECK int fig_truth(const struct report *r, double x_to, struct fig_truth *out,
			   struct dp_err *err);
void fig_truth_draw(struct plot_panel *a, const struct fig_truth *t);
/* Finds how much of it a front of this study holds. */
DP_MUSTCHECK int fig_truth_weigh(struct fig_truth *t, const struct subject *s,
				 const struct fig_points *front, struct dp_err *err);
/* Appends a sentence on that. */
void fig_truth_say(const struct fig_truth *t, struct dp_buf *out);
void fig_truth_free(struct fig_truth *t);

/* ---- group_looks.c ---- */

/* Why figures of groups have nothing to show. */
#define FIG_NO_GROUPS "the report has no groups of studies (--group)"

/* The look of a group in every figure: its colour by model, or where there is one model
 * only by group, its dash by method. */
struct plot_style fig_group_style(const struct groups *g, size_t group);
/* Appends what colours and dashes stand for, where lines have more than one dash. */
void fig_group_key(const struct groups *g, struct dp_buf *out);
/* Its name, shortened in the middle. */
char *fig_group_name(const struct groups *g, size_t group, char out[FIG_NAME_LEN]);

/* ---- hypervolume_groups.c ---- */

/* The hypervolume of a group's members, on average, and where that mean lies with 95 %.
 */
struct fig_mean_growth {
	double *x, *mean, *lo, *hi; /* (n) lo and hi are NaN of a single member */
	size_t n;
	size_t evaluations; /* of the shortest member: no more are shown */
};
DP_MUSTCHECK int fig_mean_growth(const struct groups *g, size_t group, struct fig_mean_growth *out,
				 struct dp_err *err);
void fig_mean_growth_free(struct fig_mean_growth *m);

/* ---- attainment.c ---- */

/* What half of a group's members attain, and what nearly none and nearly all do: corners
 * of staircases in natural units, x ascending. NaN: fewer attain anything there. */
struct fig_attained {
	double *x, *best, *middle, *worst; /* (n) */
	size_t n, members;
};
DP_MUSTCHECK int fig_attained(const struct groups *g, size_t group, double x_to,
			      struct fig_attained *out, struct dp_err *err);
void fig_attained_free(struct fig_attained *a);
/* What half of them attain at this x; NaN: fewer do. */
double fig_attained_at(const struct subject *s, const struct fig_attained *a, double x);

#endif
