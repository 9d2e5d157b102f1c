/* variability.c - how far the runs of a point differ: fronts from the best, the mean and
 * the worst runs as a band, and the spread of each point on the front. */
#include "reports/figures/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	MOST_BARS = 40 /* more hide what is behind them */
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
struct spread {
	double x, mean, best, worst;
};

static bool spread_of(const struct subject *s, uint32_t trial, struct spread *out)
{
	const struct dp_trial *t = s->s->trials[trial];
	double lo, hi;
	bool up = fig_maximised(s, s->y);

	if (!subject_spread(s, t, s->y, &lo, &hi) || !isfinite(lo) || !isfinite(hi))
		return false;
	out->x = t->objectives[s->x];
	out->mean = t->objectives[s->y];
	out->best = up ? fmax(lo, hi) : fmin(lo, hi);
	out->worst = up ? fmin(lo, hi) : fmax(lo, hi);
	return true;
}

static int by_x(const void *a, const void *b)
{
	const struct spread *u = a, *v = b;

	return u->x < v->x ? -1 : u->x > v->x;
}

static int by_x_down(const void *a, const void *b)
{
	return by_x(b, a);
}

/* The points whose x is no worse than the anti-ideal's, the best x first. */
static int collect(const struct subject *s, struct spread **out, size_t *n,
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
		    spread_of(s, p.trial[i], &(*out)[*n]))
			(*n)++;
	fig_points_free(&p);
	if (!*out)
		return fig_nomem(err);
	qsort(*out, *n, sizeof **out, o->maximize ? by_x_down : by_x);
	return DP_OK;
}

static void add_corner(struct fig_band *b, double x, const struct spread *reached)
{
	b->x[b->n] = x;
	b->best[b->n] = reached->best;
	b->mean[b->n] = reached->mean;
	b->worst[b->n++] = reached->worst;
}

/* Improves what is reached by a point; true if that changed anything. */
static bool reach(struct spread *reached, const struct spread *p, bool up)
{
	struct spread before = *reached;

	reached->best = up ? fmax(before.best, p->best) : fmin(before.best, p->best);
	reached->mean = up ? fmax(before.mean, p->mean) : fmin(before.mean, p->mean);
	reached->worst = up ? fmax(before.worst, p->worst) : fmin(before.worst, p->worst);
	return reached->best != before.best || reached->mean != before.mean ||
	       reached->worst != before.worst;
}

static void reverse(double *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		double t = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* Walks from the best x to the worst: what was reached before counts on. */
static void walk(const struct subject *s, const struct spread *p, size_t n,
		 struct fig_band *out)
{
	struct spread reached = p[0];

	add_corner(out, p[0].x, &reached);
	for (size_t i = 1; i < n; i++) {
		struct spread before = reached;

		if (!reach(&reached, &p[i], fig_maximised(s, s->y)))
			continue;
		if (p[i].x == p[0].x) /* the staircase has no step at its start */
			out->n = 0;
		else
			add_corner(out, p[i].x, &before);
		add_corner(out, p[i].x, &reached);
	}
	add_corner(out, p[n - 1].x, &reached);
	if (fig_maximised(s, s->x)) {
		reverse(out->x, out->n);
		reverse(out->best, out->n);
		reverse(out->mean, out->n);
		reverse(out->worst, out->n);
	}
}

int fig_band(const struct subject *s, struct fig_band *out, struct dp_err *err)
{
	struct spread *p = NULL;
	size_t n, room;
	int code = collect(s, &p, &n, err);

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
		walk(s, p, n, out);
	}
	free(p);
	return code;
}

/* ---- the figure ---- */

static bool applies(const struct report *r)
{
	const struct subject *s = r->nsubjects ? &r->subjects[0] : NULL;
	struct spread spread;

	if (!s || s->s->spec->trainer.runs < 2)
		return false;
	for (uint32_t i = 0; i < s->s->nfront; i++)
		if (spread_of(s, s->s->front[i], &spread) && isfinite(spread.x) &&
		    spread.best != spread.worst)
			return true;
	return false;
}

/* The points of the front with their spread. */
struct front_spread {
	struct fig_points front;
	double *best, *worst; /* (front.n) */
};

static void front_spread_free(struct front_spread *f)
{
	fig_points_free(&f->front);
	free(f->best);
	free(f->worst);
}

static int front_spread(const struct subject *s, struct front_spread *out,
			struct dp_err *err)
{
	struct fig_points all = { 0 };
	size_t kept = 0;
	int code;

	*out = (struct front_spread){ 0 };
	code = fig_subject_front(s, &all, err);
	if (code != DP_OK)
		return code;
	out->front = all;
	out->best = malloc(all.n * sizeof *out->best + 1);
	out->worst = malloc(all.n * sizeof *out->worst + 1);
	if (!out->best || !out->worst) {
		front_spread_free(out);
		return fig_nomem(err);
	}
	for (size_t i = 0; i < all.n; i++) {
		struct spread spread;

		if (!fig_in_box(s, all.x[i], all.y[i]) ||
		    !spread_of(s, all.trial[i], &spread))
			continue;
		all.x[kept] = all.x[i];
		all.y[kept] = all.y[i];
		out->best[kept] = spread.best;
		out->worst[kept++] = spread.worst;
	}
	out->front.n = kept;
	return DP_OK;
}

static const char mean_name[] = "mean of the runs";

static void draw_band(struct plot_panel *a, const struct fig_band *b)
{
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.25 };
	struct plot_style best = { .colour = plot_palette(PLOT_GREEN), .width = 1.5 };
	struct plot_style mean = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	struct plot_style worst = { .colour = plot_palette(PLOT_ORANGE), .width = 1.5 };

	panel_band(a, &area, NULL, b->x, b->best, b->worst, b->n, false);
	panel_line(a, &best, "best runs", b->x, b->best, b->n);
	panel_line(a, &mean, mean_name, b->x, b->mean, b->n);
	panel_line(a, &worst, "worst runs", b->x, b->worst, b->n);
}

static void draw_spread(struct plot_panel *a, const struct front_spread *f)
{
	struct plot_style bar = { .colour = plot_palette(PLOT_BLACK),
				  .width = 1,
				  .opacity = 0.5 };
	struct plot_style dot = { .colour = plot_palette(PLOT_BLUE),
				  .size = fig_marker_size(f->front.n),
				  .outline = true };
	size_t every = (f->front.n + MOST_BARS - 1) / MOST_BARS;

	for (size_t i = 0; i < f->front.n; i += every)
		panel_bars(a, &bar, "spread of a point on the front", &f->front.x[i],
			   &f->best[i], &f->worst[i], 1);
	panel_points(a, &dot, mean_name, f->front.x, f->front.y, f->front.n);
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	struct front_spread f = { 0 };
	struct fig_band band = { 0 };
	struct plot_panel *a;
	int code;

	*out = NULL;
	if ((code = fig_band(s, &band, err)) != DP_OK ||
	    (code = front_spread(s, &f, err)) != DP_OK ||
	    (code = fig_new(r, figure_variability.title, FIG_WIDTH, FIG_HEIGHT, out,
			    err)) != DP_OK)
		goto out;
	a = plot_panel(*out, 0, 0);
	fig_axis(a, PLOT_X, s, s->x, fig_scale(band.x, band.n));
	fig_axis(a, PLOT_Y, s, s->y, fig_scale(band.worst, band.n));
	if (band.n) {
		draw_band(a, &band);
		draw_spread(a, &f);
	} else {
		panel_empty(a, "No point is better than the anti-ideal");
	}
out:
	fig_band_free(&band);
	front_spread_free(&f);
	return code;
}

static void caption(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	struct front_spread f;
	char middle[FIG_TEXT_LEN], most[FIG_TEXT_LEN];
	struct dp_err err;

	dp_buf_printf(out,
		      "What the best, the mean and the worst of %d runs of each point "
		      "reach.",
		      s->s->spec->trainer.runs);
	if (front_spread(s, &f, &err) != DP_OK)
		return;
	for (size_t i = 0; i < f.front.n; i++)
		f.best[i] = fabs(f.best[i] - f.worst[i]);
	qsort(f.best, f.front.n, sizeof *f.best, fig_by_value);
	if (f.front.n)
		dp_buf_printf(out,
			      " Between best and worst run of a point on the front lie "
			      "%s (median), at most %s.",
			      fig_value(s, s->y, f.best[f.front.n / 2], middle),
			      fig_value(s, s->y, f.best[f.front.n - 1], most));
	front_spread_free(&f);
}

const struct figure figure_variability = { "variability.png", "Variability of the front",
					   applies, draw, caption };
