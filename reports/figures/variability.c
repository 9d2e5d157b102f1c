/* variability.c - how far the runs of a point differ: fronts from the best, the mean and
 * the worst runs as a band, and the spread of each point on the front. */
#include "reports/figures/common/figure_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SPREAD_BARS_MAX = 40 /* beside each other; more hide what is behind them */
};

void fig_run_band_free(struct fig_run_band *b)
{
	free(b->x);
	free(b->best);
	free(b->mean);
	free(b->worst);
	*b = (struct fig_run_band){ 0 };
}

/* One evaluated point with the spread of its runs. */
struct run_spread {
	double x, mean, best, worst;
};

static bool run_spread_of(const struct study_data *s, struct dp_result_id p, struct run_spread *out)
{
	const double *y = dp_result_get_objectives(s->state, p);
	bool up = fig_is_maximised(s, s->y_obj);
	double lo, hi;

	if (study_data_has_checkpoints(s)) { /* all by the one measure that all points have */
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

/* The points whose x is no worse than the anti-ideal's, the best x first. */
static int collect_runs(const struct study_data *s, struct run_spread **out, size_t *n,
			struct dp_err *err)
{
	const struct dp_objective *o = &s->state->spec->objectives[s->x_obj];
	struct fig_points p = { 0 };
	int code = fig_collect_points(s, &p, err);

	*n = 0;
	if (code != DP_OK)
		return code;
	*out = dp_malloc(p.n * sizeof **out + 1);
	for (size_t i = 0; *out && i < p.n; i++)
		if ((o->maximize ? p.x[i] >= o->anti_ideal : p.x[i] <= o->anti_ideal) &&
		    run_spread_of(s, p.results[i], &(*out)[*n]))
			(*n)++;
	fig_points_free(&p);
	if (!*out)
		return fig_nomem(err);
	qsort(*out, *n, sizeof **out, o->maximize ? by_run_x_down : by_run_x);
	return DP_OK;
}

static void run_band_add_corner(struct fig_run_band *b, double x, const struct run_spread *reached)
{
	b->x[b->n] = x;
	b->best[b->n] = reached->best;
	b->mean[b->n] = reached->mean;
	b->worst[b->n++] = reached->worst;
}

/* Improves what is reached by a point; true if that changed anything. */
static bool improve_reached(struct run_spread *reached, const struct run_spread *p, bool up)
{
	struct run_spread before = *reached;

	reached->best = up ? fmax(before.best, p->best) : fmin(before.best, p->best);
	reached->mean = up ? fmax(before.mean, p->mean) : fmin(before.mean, p->mean);
	reached->worst = up ? fmax(before.worst, p->worst) : fmin(before.worst, p->worst);
	return reached->best != before.best || reached->mean != before.mean ||
	       reached->worst != before.worst;
}

static void reverse_values(double *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		double t = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* Walks from the best x to the worst: what was reached before counts on. */
static void build_run_band(const struct study_data *s, const struct run_spread *p, size_t n,
			   struct fig_run_band *out)
{
	struct run_spread reached = p[0];

	run_band_add_corner(out, p[0].x, &reached);
	for (size_t i = 1; i < n; i++) {
		struct run_spread before = reached;

		if (!improve_reached(&reached, &p[i], fig_is_maximised(s, s->y_obj)))
			continue;
		if (p[i].x == p[0].x) /* the staircase has no step at its start */
			out->n = 0;
		else
			run_band_add_corner(out, p[i].x, &before);
		run_band_add_corner(out, p[i].x, &reached);
	}
	run_band_add_corner(out, p[n - 1].x, &reached);
	if (fig_is_maximised(s, s->x_obj)) {
		reverse_values(out->x, out->n);
		reverse_values(out->best, out->n);
		reverse_values(out->mean, out->n);
		reverse_values(out->worst, out->n);
	}
}

int fig_compute_run_band(const struct study_data *s, struct fig_run_band *out, struct dp_err *err)
{
	struct run_spread *p = NULL;
	size_t n, room;
	int code = collect_runs(s, &p, &n, err);

	*out = (struct fig_run_band){ 0 };
	if (code != DP_OK)
		return code;
	room = (2 * n + 1) * sizeof(double);
	out->x = dp_malloc(room);
	out->best = dp_malloc(room);
	out->mean = dp_malloc(room);
	out->worst = dp_malloc(room);
	if (!out->x || !out->best || !out->mean || !out->worst) {
		fig_run_band_free(out);
		code = fig_nomem(err);
	} else if (n) {
		build_run_band(s, p, n, out);
	}
	free(p);
	return code;
}

/* ---- the figure ---- */

struct variability_data {
	const struct study_data *s;
	struct fig_run_band band;
	struct fig_points front;          /* within the anti-ideal */
	double *best, *worst;             /* (front.n) of the runs of each */
	bool *has_bar;                    /* (front.n) as a bar */
	size_t nbars;                     /* so many are */
	double median_spread, max_spread; /* of the differences between best and worst */
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

/* The points of the front with their spread. */
static int gather_front_spread(struct variability_data *d, struct dp_err *err)
{
	const struct study_data *s = d->s;
	struct fig_points *front = &d->front;
	size_t kept = 0;
	int code = fig_study_front(s, front, err);

	if (code != DP_OK)
		return code;
	d->best = dp_malloc(front->n * sizeof *d->best + 1);
	d->worst = dp_malloc(front->n * sizeof *d->worst + 1);
	if (!d->best || !d->worst)
		return fig_nomem(err);
	for (size_t i = 0; i < front->n; i++) {
		struct run_spread spread;

		if (!fig_beats_reference_point(s, front->x[i], front->y[i]) ||
		    !run_spread_of(s, front->results[i], &spread))
			continue;
		front->results[kept] = front->results[i];
		front->x[kept] = spread.x;
		front->y[kept] = spread.mean;
		d->best[kept] = spread.best;
		d->worst[kept++] = spread.worst;
	}
	front->n = kept;
	return DP_OK;
}

/* Those bars that stand far enough from the one before. */
static int choose_bars(struct variability_data *d, struct dp_err *err)
{
	const struct fig_points *f = &d->front;
	bool log = fig_objective_scale(d->s, d->s->x_obj, d->band.x, d->band.n) == PLOT_LOG;
	double last = NAN, apart = 0;

	d->has_bar = dp_calloc(f->n + 1, sizeof *d->has_bar);
	if (!d->has_bar)
		return fig_nomem(err);
	if (f->n)
		apart = (log ? log10(f->x[f->n - 1] / f->x[0]) : f->x[f->n - 1] - f->x[0]) /
			SPREAD_BARS_MAX;
	for (size_t i = 0; i < f->n; i++) {
		double at = log ? log10(f->x[i]) : f->x[i];

		if (f->n > SPREAD_BARS_MAX && at - last < apart)
			continue;
		d->has_bar[i] = true;
		d->nbars++;
		last = at;
	}
	return DP_OK;
}

static int compute_spread_stats(struct variability_data *d, struct dp_err *err)
{
	size_t n = d->front.n;
	double *apart = dp_malloc(n * sizeof *apart + 1);

	if (!apart)
		return fig_nomem(err);
	for (size_t i = 0; i < n; i++)
		apart[i] = fabs(d->best[i] - d->worst[i]);
	qsort(apart, n, sizeof *apart, fig_compare_doubles);
	if (n) {
		d->median_spread = apart[n / 2];
		d->max_spread = apart[n - 1];
	}
	free(apart);
	return DP_OK;
}

static int variability_gather(const struct report_data *r, void *data, const char **why,
			      struct dp_err *err)
{
	struct variability_data *d = data;
	int code;

	d->s = fig_main_study(r, why);
	if (d->s && (dp_study_reported_runs(d->s->state->spec) < 2 || !front_has_run_spread(d->s)))
		*why = "no point of the front has runs that differ";
	if (*why)
		return DP_OK;
	if ((code = fig_compute_run_band(d->s, &d->band, err)) != DP_OK ||
	    (code = gather_front_spread(d, err)) != DP_OK || (code = choose_bars(d, err)) != DP_OK)
		return code;
	return compute_spread_stats(d, err);
}

static void variability_release(void *data)
{
	struct variability_data *d = data;

	fig_run_band_free(&d->band);
	fig_points_free(&d->front);
	free(d->best);
	free(d->worst);
	free(d->has_bar);
}

static const char mean_name[] = "mean of the runs";

static void draw_run_band(struct plot_panel *a, const struct fig_run_band *b, bool sd)
{
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.25 };
	struct plot_style best = { .colour = plot_palette(PLOT_GREEN), .width = 1.5 };
	struct plot_style mean = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	struct plot_style worst = { .colour = plot_palette(PLOT_ORANGE), .width = 1.5 };

	panel_band(a, &area, NULL, b->x, b->best, b->worst, b->n, false);
	panel_line(a, &best, sd ? "one sd better" : "best runs", b->x, b->best, b->n);
	panel_line(a, &mean, mean_name, b->x, b->mean, b->n);
	panel_line(a, &worst, sd ? "one sd worse" : "worst runs", b->x, b->worst, b->n);
}

static void draw_spread(struct plot_panel *a, const struct variability_data *d)
{
	struct plot_style bar = { .colour = plot_palette(PLOT_BLACK), .width = 1, .opacity = 0.5 };
	struct plot_style dot = fig_dots(plot_palette(PLOT_BLUE), d->front.n);

	for (size_t i = 0; i < d->front.n; i++)
		if (d->has_bar[i])
			panel_add_error_bars(a, &bar, "spread of a point on the front",
					     &d->front.x[i], &d->best[i], &d->worst[i], 1);
	panel_points(a, &dot, mean_name, d->front.x, d->front.y, d->front.n);
	fig_add_tooltips(a, d->s, &d->front, FIG_TOOLTIP_OTHER_AXES);
}

static struct plot *variability_draw(const void *data)
{
	const struct variability_data *d = data;
	const struct fig_run_band *b = &d->band;
	struct plot *p = fig_new(d->s, figure_variability.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);

	fig_axis(a, PLOT_X, d->s, d->s->x_obj, fig_objective_scale(d->s, d->s->x_obj, b->x, b->n));
	fig_axis(a, PLOT_Y, d->s, d->s->y_obj,
		 fig_objective_scale(d->s, d->s->y_obj, b->worst, b->n));
	if (b->n) {
		draw_run_band(a, b, study_data_has_checkpoints(d->s));
		draw_spread(a, d);
	} else {
		panel_set_empty_text(a, "No point is better than the anti-ideal");
	}
	return p;
}

static void variability_caption(const void *data, struct dp_buf *out)
{
	const struct variability_data *d = data;
	const struct study_data *s = d->s;
	char middle[FIG_NUMBER_LEN], most[FIG_NUMBER_LEN];

	if (study_data_has_checkpoints(s))
		dp_buf_printf(out,
			      "What the mean of %d runs of each point reaches, and what "
			      "it would if all were one standard deviation (sd) of the "
			      "runs better or worse.",
			      s->state->spec->trainer.runs);
	else
		dp_buf_printf(out,
			      "What the best, the mean and the worst of %d runs of each "
			      "point reach.",
			      s->state->spec->trainer.runs);
	if (d->front.n)
		dp_buf_printf(out,
			      " Between %s of a point on the front lie %s (median), "
			      "at most %s.",
			      study_data_has_checkpoints(s) ? "both" : "best and worst run",
			      fig_difference(s, s->y_obj, d->median_spread, middle),
			      fig_difference(s, s->y_obj, d->max_spread, most));
	if (d->nbars < d->front.n)
		dp_buf_printf(out,
			      " That of %zu of %zu points is drawn, for which there "
			      "is room.",
			      d->nbars, d->front.n);
	if (d->front.n && s->uses_smoothed_front)
		dp_buf_puts(out, " Dots are points of the front that the models chose, "
				 "at the means of their runs, and need not lie on the "
				 "line of the luckiest means.");
}

const struct figure figure_variability = {
	.name = "variability",
	.title = "Variability of the front",
	.chapter = FIGURE_CHAPTER_FRONT,
	.data_size = sizeof(struct variability_data),
	.gather = variability_gather,
	.draw = variability_draw,
	.caption = variability_caption,
	.free_data = variability_release,
};
