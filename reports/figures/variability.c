/* variability.c - figure: the spread of runs, as a band of fronts and at each point of the
 * front. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"
#include "study/metric_release.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SPREAD_BARS_MAX = 40 /* more bars would hide the background */
};

struct run_spread {
	double x, mean, best, worst;
};

static bool run_spread_of(const struct study_data *s, struct dp_result_id p, struct run_spread *out)
{
	const double *y = dp_result_get_objectives(s->state, p);
	bool up = fig_is_maximised(s, s->y_obj);
	double lo, hi;

	if (study_data_has_checkpoints(s)) { /* every point uses the spread that all points have */
		double sd = study_data_run_sd(s, p, s->y_obj);

		lo = y[s->y_obj] - sd;
		hi = y[s->y_obj] + sd;
	} else if (!study_data_run_range(s, p, s->y_obj, &lo, &hi)) {
		return false;
	}
	if (!isfinite(lo) || !isfinite(hi))
		return false;
	out->x = y[s->x_obj];
	out->mean = y[s->y_obj];
	out->best = up ? fmax(lo, hi) : fmin(lo, hi);
	out->worst = up ? fmin(lo, hi) : fmax(lo, hi);
	return true;
}

static int by_run_x(const void *a, const void *b)
{
	const struct run_spread *u = a, *v = b;

	return u->x < v->x ? -1 : u->x > v->x;
}

static int by_run_x_down(const void *a, const void *b)
{
	return by_run_x(b, a);
}

/* Improves the attained values by a point; true if anything changed. */
static bool improve_reached(struct run_spread *reached, const struct run_spread *p, bool up)
{
	struct run_spread before = *reached;

	reached->best = up ? fmax(before.best, p->best) : fmin(before.best, p->best);
	reached->mean = up ? fmax(before.mean, p->mean) : fmin(before.mean, p->mean);
	reached->worst = up ? fmax(before.worst, p->worst) : fmin(before.worst, p->worst);
	return reached->best != before.best || reached->mean != before.mean ||
	       reached->worst != before.worst;
}

static void add_reached(struct fig_band *b, double x, const struct run_spread *reached)
{
	fig_band_add(b, x, reached->mean, reached->best, reached->worst);
}

struct fig_band fig_compute_run_band(struct arena *mem, const struct study_data *s)
{
	const struct dp_objective *o = &s->state->spec->objectives[s->x_obj];
	struct fig_points all = fig_collect_points(mem, s);
	struct run_spread *p = arena_calloc(mem, all.n, sizeof *p), reached;
	struct fig_band out;
	size_t n = 0;

	/* points with x better than the reference point, best x first */
	for (size_t i = 0; i < all.n; i++)
		if ((o->maximize ? all.x[i] >= o->anti_ideal : all.x[i] <= o->anti_ideal) &&
		    run_spread_of(s, all.results[i], &p[n]))
			n++;
	qsort(p, n, sizeof *p, o->maximize ? by_run_x_down : by_run_x);
	out = fig_band_new(mem, 2 * n + 1);
	if (n == 0)
		return out;
	/* attained values carry over to worse x */
	reached = p[0];
	add_reached(&out, p[0].x, &reached);
	for (size_t i = 1; i < n; i++) {
		struct run_spread before = reached;

		if (!improve_reached(&reached, &p[i], fig_is_maximised(s, s->y_obj)))
			continue;
		if (p[i].x == p[0].x) /* the staircase does not step at its start */
			out.n = 0;
		else
			add_reached(&out, p[i].x, &before);
		add_reached(&out, p[i].x, &reached);
	}
	add_reached(&out, p[n - 1].x, &reached);
	if (o->maximize)
		fig_band_reverse(&out);
	return out;
}

/* Points of the front within the reference point: mean and range of their runs, and their
 * results. */
struct front_spread {
	struct fig_points front;
	double *best, *worst;             /* (front.n) of each point's runs */
	double median_spread, max_spread; /* of best minus worst */
};

static bool front_has_run_spread(const struct study_data *s)
{
	struct run_spread spread;

	for (size_t i = 0; i < study_data_front_size(s); i++)
		if (run_spread_of(s, study_data_front_point(s, i), &spread) && isfinite(spread.x) &&
		    spread.best != spread.worst)
			return true;
	return false;
}

static struct front_spread gather_front_spread(struct arena *mem, const struct study_data *s)
{
	struct front_spread d = { .front = fig_study_front(mem, s) };
	struct fig_points *front = &d.front;
	double *apart = arena_calloc(mem, front->n, sizeof *apart);
	size_t kept = 0;

	d.best = arena_calloc(mem, front->n, sizeof *d.best);
	d.worst = arena_calloc(mem, front->n, sizeof *d.worst);
	for (size_t i = 0; i < front->n; i++) {
		struct run_spread spread;

		if (!fig_beats_reference_point(s, front->x[i], front->y[i]) ||
		    !run_spread_of(s, front->results[i], &spread))
			continue;
		front->results[kept] = front->results[i];
		front->x[kept] = spread.x;
		front->y[kept] = spread.mean;
		d.best[kept] = spread.best;
		d.worst[kept] = spread.worst;
		apart[kept++] = fabs(spread.best - spread.worst);
	}
	front->n = kept;
	qsort(apart, kept, sizeof *apart, fig_compare_doubles);
	if (kept) {
		d.median_spread = apart[kept / 2];
		d.max_spread = apart[kept - 1];
	}
	return d;
}

/* Draws bars that are far enough from the previous one. Returns their number. */
static size_t draw_spread_bars(struct plot_panel *a, const struct front_spread *d, bool by_log)
{
	struct plot_style bar = { .colour = plot_palette(PLOT_BLACK), .width = 1, .opacity = 0.5 };
	const struct fig_points *f = &d->front;
	double last = NAN, apart = 0;
	size_t nbars = 0;

	if (f->n)
		apart = (by_log ? log10(f->x[f->n - 1] / f->x[0]) : f->x[f->n - 1] - f->x[0]) /
			SPREAD_BARS_MAX;
	for (size_t i = 0; i < f->n; i++) {
		double at = by_log ? log10(f->x[i]) : f->x[i];

		if (f->n > SPREAD_BARS_MAX && at - last < apart)
			continue;
		panel_add_error_bars(a, &bar, "spread of a point on the front", &f->x[i],
				     &d->best[i], &d->worst[i], 1);
		nbars++;
		last = at;
	}
	return nbars;
}

static int variability_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	static const char mean_name[] = "mean of the runs";
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.25 };
	struct plot_style best = { .colour = plot_palette(PLOT_GREEN), .width = 1.5 };
	struct plot_style mean = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	struct plot_style worst = { .colour = plot_palette(PLOT_ORANGE), .width = 1.5 }, dot;
	const struct study_data *s;
	char middle[FIG_NUMBER_LEN], most[FIG_NUMBER_LEN];
	struct front_spread d;
	enum plot_scale scale;
	struct plot_panel *a;
	struct fig_band b;
	size_t nbars = 0;
	int code = fig_main_study(r, &s, err);
	bool sd;

	if (code != DP_OK)
		return code;
	if (dp_study_reported_runs(s->state->spec) < 2 || !front_has_run_spread(s))
		return fig_nothing(err, "no point of the front has runs that differ");
	sd = study_data_has_checkpoints(s);
	b = fig_compute_run_band(&f->mem, s);
	d = gather_front_spread(&f->mem, s);
	dot = fig_dots(plot_palette(PLOT_BLUE), d.front.n);

	f->plot = fig_new(s, figure_variability.title, FIG_WIDTH, FIG_HEIGHT);
	a = plot_panel(f->plot, 0, 0);
	scale = fig_objective_scale(s, s->x_obj, b.x, b.n);
	fig_axis(a, PLOT_X, s, s->x_obj, scale);
	fig_axis(a, PLOT_Y, s, s->y_obj, fig_objective_scale(s, s->y_obj, b.to, b.n));
	if (b.n) {
		panel_band(a, &area, NULL, b.x, b.from, b.to, b.n, false);
		panel_line(a, &best, sd ? "one sd better" : "best runs", b.x, b.from, b.n);
		panel_line(a, &mean, mean_name, b.x, b.mid, b.n);
		panel_line(a, &worst, sd ? "one sd worse" : "worst runs", b.x, b.to, b.n);
		nbars = draw_spread_bars(a, &d, scale == PLOT_LOG);
		panel_points(a, &dot, mean_name, d.front.x, d.front.y, d.front.n);
		fig_add_tooltips(a, s, &d.front, FIG_TOOLTIP_OTHER_AXES);
	} else {
		panel_set_empty_text(a, "No point is better than the anti-ideal");
	}

	dp_buf_printf(&f->caption,
		      sd ? "What the mean of %d runs of each point reaches, and what it would if "
			   "all were one standard deviation (sd) of the runs better or worse."
			 : "What the best, the mean and the worst of %d runs of each point reach.",
		      s->state->spec->trainer.runs);
	if (d.front.n)
		dp_buf_printf(&f->caption,
			      " Between %s of a point on the front lie %s (median), at most %s.",
			      sd ? "both" : "best and worst run",
			      fig_difference(s, s->y_obj, d.median_spread, middle),
			      fig_difference(s, s->y_obj, d.max_spread, most));
	if (b.n && nbars < d.front.n)
		dp_buf_printf(&f->caption,
			      " That of %zu of %zu points is drawn, for which there is room.",
			      nbars, d.front.n);
	if (d.front.n && s->uses_smoothed_front)
		dp_buf_puts(&f->caption, " Dots are points of the front that the models chose, "
					 "at the means of their runs, and need not lie on the "
					 "line of the luckiest means.");
	return DP_OK;
}

const struct figure figure_variability = {
	.name = "variability",
	.title = "Variability of the front",
	.chapter = FIGURE_CHAPTER_FRONT,
	.make = variability_make,
};
