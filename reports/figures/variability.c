/* variability.c - how far the runs of a point differ: fronts from the best, the mean and
 * the worst runs as a band, and the spread of each point on the front. */
#include "reports/figures/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	MOST_BARS = 40 /* beside each other; more hide what is behind them */
};

void fig_band_free(struct fig_band *b)
{
	free(b->x);
	free(b->best);
	free(b->mean);
	free(b->worst);
	*b = (struct fig_band){ 0 };
}

/* One evaluated point with the spread of its runs. */
struct run_spread {
	double x, mean, best, worst;
};

static bool run_spread_of(const struct subject *s, struct dp_point p, struct run_spread *out)
{
	const double *y = dp_point_objectives(s->s, p);
	bool up = fig_maximised(s, s->y);
	double lo, hi;

	if (subject_walks(s)) { /* all by the one measure that all points have */
		double sd = subject_run_sd(s, p, s->y);

		lo = y[s->y] - sd;
		hi = y[s->y] + sd;
	} else if (!subject_spread(s, p, s->y, &lo, &hi)) {
		return false;
	}
	if (!isfinite(lo) || !isfinite(hi))
		return false;
	out->x = y[s->x];
	out->mean = y[s->y];
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
static int collect_runs(const struct subject *s, struct run_spread **out, size_t *n,
			struct dp_err *err)
{
	const struct dp_objective *o = &s->s->spec->objectives[s->x];
	struct fig_points p = { 0 };
	int code = fig_points(s, &p, err);

	*n = 0;
	if (code != DP_OK)
		return code;
	*out = malloc(p.n * sizeof **out + 1);
	for (size_t i = 0; *out && i < p.n; i++)
		if ((o->maximize ? p.x[i] >= o->anti_ideal : p.x[i] <= o->anti_ideal) &&
		    run_spread_of(s, p.of[i], &(*out)[*n]))
			(*n)++;
	fig_points_free(&p);
	if (!*out)
		return fig_nomem(err);
	qsort(*out, *n, sizeof **out, o->maximize ? by_run_x_down : by_run_x);
	return DP_OK;
}

static void add_band_corner(struct fig_band *b, double x, const struct run_spread *reached)
{
	b->x[b->n] = x;
	b->best[b->n] = reached->best;
	b->mean[b->n] = reached->mean;
	b->worst[b->n++] = reached->worst;
}

/* Improves what is reached by a point; true if that changed anything. */
static bool reach_with(struct run_spread *reached, const struct run_spread *p, bool up)
{
	struct run_spread before = *reached;

	reached->best = up ? fmax(before.best, p->best) : fmin(before.best, p->best);
	reached->mean = up ? fmax(before.mean, p->mean) : fmin(before.mean, p->mean);
	reached->worst = up ? fmax(before.worst, p->worst) : fmin(before.worst, p->worst);
	return reached->best != before.best || reached->mean != before.mean ||
	       reached->worst != before.worst;
}

static void turn_round(double *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		double t = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* Walks from the best x to the worst: what was reached before counts on. */
static void walk_runs(const struct subject *s, const struct run_spread *p, size_t n,
		      struct fig_band *out)
{
	struct run_spread reached = p[0];

	add_band_corner(out, p[0].x, &reached);
	for (size_t i = 1; i < n; i++) {
		struct run_spread before = reached;

		if (!reach_with(&reached, &p[i], fig_maximised(s, s->y)))
			continue;
		if (p[i].x == p[0].x) /* the staircase has no step at its start */
			out->n = 0;
		else
			add_band_corner(out, p[i].x, &before);
		add_band_corner(out, p[i].x, &reached);
	}
	add_band_corner(out, p[n - 1].x, &reached);
	if (fig_maximised(s, s->x)) {
		turn_round(out->x, out->n);
		turn_round(out->best, out->n);
		turn_round(out->mean, out->n);
		turn_round(out->worst, out->n);
	}
}

int fig_band(const struct subject *s, struct fig_band *out, struct dp_err *err)
{
	struct run_spread *p = NULL;
	size_t n, room;
	int code = collect_runs(s, &p, &n, err);

	*out = (struct fig_band){ 0 };
	if (code != DP_OK)
		return code;
	room = (2 * n + 1) * sizeof(double);
	out->x = malloc(room);
	out->best = malloc(room);
	out->mean = malloc(room);
	out->worst = malloc(room);
	if (!out->x || !out->best || !out->mean || !out->worst) {
		fig_band_free(out);
		code = fig_nomem(err);
	} else if (n) {
		walk_runs(s, p, n, out);
	}
	free(p);
	return code;
}

/* ---- the figure ---- */

struct variability_data {
	const struct subject *s;
	struct fig_band band;
	struct fig_points front; /* within the anti-ideal */
	double *best, *worst;    /* (front.n) of the runs of each */
	bool *drawn;             /* (front.n) as a bar */
	size_t bars;             /* so many are */
	double middle, most;     /* of the differences between best and worst */
};

static bool any_spread(const struct subject *s)
{
	struct run_spread spread;

	for (size_t i = 0; i < subject_front(s); i++)
		if (run_spread_of(s, subject_front_point(s, i), &spread) && isfinite(spread.x) &&
		    spread.best != spread.worst)
			return true;
	return false;
}

/* The points of the front with their spread. */
static int gather_front_spread(struct variability_data *d, struct dp_err *err)
{
	const struct subject *s = d->s;
	struct fig_points *front = &d->front;
	size_t kept = 0;
	int code = fig_subject_front(s, front, err);

	if (code != DP_OK)
		return code;
	d->best = malloc(front->n * sizeof *d->best + 1);
	d->worst = malloc(front->n * sizeof *d->worst + 1);
	if (!d->best || !d->worst)
		return fig_nomem(err);
	for (size_t i = 0; i < front->n; i++) {
		struct run_spread spread;

		if (!fig_in_box(s, front->x[i], front->y[i]) ||
		    !run_spread_of(s, front->of[i], &spread))
			continue;
		front->of[kept] = front->of[i];
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
	bool log = fig_objective_scale(d->s, d->s->x, d->band.x, d->band.n) == PLOT_LOG;
	double last = NAN, apart = 0;

	d->drawn = calloc(f->n + 1, sizeof *d->drawn);
	if (!d->drawn)
		return fig_nomem(err);
	if (f->n)
		apart = (log ? log10(f->x[f->n - 1] / f->x[0]) : f->x[f->n - 1] - f->x[0]) /
			MOST_BARS;
	for (size_t i = 0; i < f->n; i++) {
		double at = log ? log10(f->x[i]) : f->x[i];

		if (f->n > MOST_BARS && at - last < apart)
			continue;
		d->drawn[i] = true;
		d->bars++;
		last = at;
	}
	return DP_OK;
}

static int measure_spread(struct variability_data *d, struct dp_err *err)
{
	size_t n = d->front.n;
	double *apart = malloc(n * sizeof *apart + 1);

	if (!apart)
		return fig_nomem(err);
	for (size_t i = 0; i < n; i++)
		apart[i] = fabs(d->best[i] - d->worst[i]);
	qsort(apart, n, sizeof *apart, fig_by_value);
	if (n) {
		d->middle = apart[n / 2];
		d->most = apart[n - 1];
	}
	free(apart);
	return DP_OK;
}

static int variability_gather(const struct report *r, void *data, const char **why,
			      struct dp_err *err)
{
	struct variability_data *d = data;
	int code;

	d->s = fig_first(r, why);
	if (d->s && (dp_study_told_runs(d->s->s->spec) < 2 || !any_spread(d->s)))
		*why = "no point of the front has runs that differ";
	if (*why)
		return DP_OK;
	if ((code = fig_band(d->s, &d->band, err)) != DP_OK ||
	    (code = gather_front_spread(d, err)) != DP_OK || (code = choose_bars(d, err)) != DP_OK)
		return code;
	return measure_spread(d, err);
}

static void variability_release(void *data)
{
	struct variability_data *d = data;

	fig_band_free(&d->band);
	fig_points_free(&d->front);
	free(d->best);
	free(d->worst);
	free(d->drawn);
}

static const char mean_name[] = "mean of the runs";

static void draw_run_band(struct plot_panel *a, const struct fig_band *b, bool sd)
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
		if (d->drawn[i])
			panel_bars(a, &bar, "spread of a point on the front", &d->front.x[i],
				   &d->best[i], &d->worst[i], 1);
	panel_points(a, &dot, mean_name, d->front.x, d->front.y, d->front.n);
	fig_tips(a, d->s, &d->front, FIG_TIP_ELSEWHERE);
}

static struct plot *variability_draw(const void *data)
{
	const struct variability_data *d = data;
	const struct fig_band *b = &d->band;
	struct plot *p = fig_new(d->s, figure_variability.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);

	fig_axis(a, PLOT_X, d->s, d->s->x, fig_objective_scale(d->s, d->s->x, b->x, b->n));
	fig_axis(a, PLOT_Y, d->s, d->s->y, fig_objective_scale(d->s, d->s->y, b->worst, b->n));
	if (b->n) {
		draw_run_band(a, b, subject_walks(d->s));
		draw_spread(a, d);
	} else {
		panel_empty(a, "No point is better than the anti-ideal");
	}
	return p;
}

static void variability_caption(const void *data, struct dp_buf *out)
{
	const struct variability_data *d = data;
	const struct subject *s = d->s;
	char middle[FIG_TEXT_LEN], most[FIG_TEXT_LEN];

	if (subject_walks(s))
		dp_buf_printf(out,
			      "What the mean of %d runs of each point reaches, and what "
			      "it would if all were one standard deviation (sd) of the "
			      "runs better or worse.",
			      s->s->spec->trainer.runs);
	else
		dp_buf_printf(out,
			      "What the best, the mean and the worst of %d runs of each "
			      "point reach.",
			      s->s->spec->trainer.runs);
	if (d->front.n)
		dp_buf_printf(out,
			      " Between %s of a point on the front lie %s (median), "
			      "at most %s.",
			      subject_walks(s) ? "both" : "best and worst run",
			      fig_difference(s, s->y, d->middle, middle),
			      fig_difference(s, s->y, d->most, most));
	if (d->bars < d->front.n)
		dp_buf_printf(out,
			      " That of %zu of %zu points is drawn, for which there "
			      "is room.",
			      d->bars, d->front.n);
	if (d->front.n && s->denoises)
		dp_buf_puts(out, " Dots are points of the front that the models chose, "
				 "at the means of their runs, and need not lie on the "
				 "line of the luckiest means.");
}

const struct figure figure_variability = {
	.name = "variability",
	.title = "Variability of the front",
	.chapter = FIGURE_OF_FRONT,
	.size = sizeof(struct variability_data),
	.gather = variability_gather,
	.draw = variability_draw,
	.caption = variability_caption,
	.release = variability_release,
};
