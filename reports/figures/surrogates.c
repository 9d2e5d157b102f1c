/* surrogates.c - what the models believe: both objectives over the parameters that matter
 * most, the front without its noise, and where to look next. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct view {
	const struct subject *s;
	struct space_slice slice;
	struct space_prediction p;
	bool *taken; /* cells: their very point was evaluated */
	struct fig_points all, front, denoised; /* on the plane of the objectives */
};

static bool applies(const struct report *r)
{
	return r->nsubjects && r->subjects[0].models && r->subjects[0].s->ok;
}

static void view_free(struct view *v)
{
	space_slice_free(&v->slice);
	space_prediction_free(&v->p);
	free(v->taken);
	fig_points_free(&v->all);
	fig_points_free(&v->front);
	fig_points_free(&v->denoised);
}

/* Keeps what is on the front of the two shown objectives, x ascending. With more than
 * two objectives the models' front has other points, too. */
static int shown_front(const struct subject *s, struct fig_points *p, struct dp_err *err)
{
	struct fig_points front = { 0 };
	int code = fig_front(s, p, &front, err);

	fig_points_free(p);
	*p = front;
	return code;
}

/* The front of the models' own values at the trials. */
static int denoise(const struct subject *s, struct fig_points *out, struct dp_err *err)
{
	size_t p = s->s->spec->nobjectives, count = 0;
	size_t *index = malloc(s->history.n * sizeof *index + 1);
	double *y = malloc(s->history.n * p * sizeof *y + 1);
	int code = DP_E_NOMEM;

	if (index && y && fig_points_room(out, s->history.n))
		code = dp_surrogate_front(s->models, &s->history, index, y, &count, err);
	else
		fig_nomem(err);
	for (size_t i = 0; code == DP_OK && i < count; i++) {
		if (!isfinite(y[i * p + s->x]) || !isfinite(y[i * p + s->y]))
			continue;
		out->x[out->n] = y[i * p + s->x];
		out->y[out->n] = y[i * p + s->y];
		out->trial[out->n++] = s->history.known[index[i]].trial;
	}
	free(index);
	free(y);
	return code == DP_OK ? shown_front(s, out, err) : code;
}

static bool is_real(const struct view *v, const struct space_cells *c)
{
	return c->n && v->s->s->spec->params[c->param].kind == DP_PARAM_FLOAT;
}

/* What has been evaluated is not proposed again. Among real numbers that says nothing
 * of a cell around, and it keeps its colour. */
static int leave_out_taken(struct view *v, struct dp_err *err)
{
	size_t n = space_size(&v->slice);

	v->taken = malloc(n * sizeof *v->taken);
	if (!v->taken)
		return fig_nomem(err);
	space_taken(&v->slice, v->taken);
	for (size_t i = 0; i < n; i++)
		if (v->taken[i] && !is_real(v, &v->slice.x) && !is_real(v, &v->slice.y))
			v->p.acquisition[i] = NAN;
	return DP_OK;
}

static int gather(const struct subject *s, struct view *v, struct dp_err *err)
{
	int code;

	*v = (struct view){ .s = s };
	if ((code = space_slice(s, false, &v->slice, err)) != DP_OK ||
	    (code = space_predict(&v->slice, &v->p, err)) != DP_OK ||
	    (code = leave_out_taken(v, err)) != DP_OK ||
	    (code = fig_points(s, &v->all, err)) != DP_OK ||
	    (code = fig_front(s, &v->all, &v->front, err)) != DP_OK)
		return code;
	return denoise(s, &v->denoised, err);
}

/* ---- the models ---- */

/* One objective's prediction, exact where there is no uncertainty. */
static bool is_exact(const struct view *v, size_t objective)
{
	return v->p.y[objective].sd == 0;
}

static void title(struct plot_panel *a, const struct view *v, size_t objective)
{
	char text[DP_NAME_MAX + 40];

	snprintf(text, sizeof text, "%s, %s", v->s->s->spec->objectives[objective].name,
		 is_exact(v, objective) ? "computed exactly" : "predicted by the model");
	panel_title(a, text);
}

/* Predictions of one objective over the cells. */
struct curve {
	double *mean, *lo, *hi;
};

static void curve_free(struct curve *c)
{
	free(c->mean);
	free(c->lo);
	free(c->hi);
}

static int curve_of(const struct view *v, size_t objective, struct curve *c,
		    struct dp_err *err)
{
	size_t n = space_size(&v->slice), p = v->s->s->spec->nobjectives;

	c->mean = malloc(n * sizeof *c->mean);
	c->lo = malloc(n * sizeof *c->lo);
	c->hi = malloc(n * sizeof *c->hi);
	if (!c->mean || !c->lo || !c->hi)
		return fig_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct dp_predicted *y = &v->p.y[i * p + objective];

		c->mean[i] = y->value;
		c->lo[i] = y->lo;
		c->hi[i] = y->hi;
	}
	return DP_OK;
}

static int sampled(const struct view *v, struct fig_points *out, struct dp_err *err)
{
	return space_places(v->s, NULL, (struct space_where){ false, v->slice.x.param },
			    (struct space_where){ false, v->slice.y.param }, out, err);
}

static int draw_mean(struct plot_panel *a, const struct view *v, size_t objective,
		     struct dp_err *err)
{
	struct dp_buf label = DP_BUF_INIT;
	struct fig_points at = { 0 };
	struct curve c;
	int code = curve_of(v, objective, &c, err);

	if (code == DP_OK)
		code = sampled(v, &at, err);
	if (code == DP_OK) {
		struct plot_style white = space_behind(at.n, true);

		title(a, v, objective);
		fig_label(v->s, objective, &label);
		space_heat(a, &v->slice, c.mean, &v->s->s->spec->objectives[objective],
			   dp_buf_text(&label));
		panel_points(a, &white, NULL, at.x, at.y, at.n);
		space_mark_through(a, &v->slice);
	}
	fig_points_free(&at);
	dp_buf_free(&label);
	curve_free(&c);
	return code;
}

/* With one parameter: mean, 95 % interval and the evaluations. */
static int draw_band(struct plot_panel *a, const struct view *v, size_t objective,
		     struct dp_err *err)
{
	const struct space_cells *x = &v->slice.x;
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.3 };
	struct plot_style dots = { .colour = plot_palette(PLOT_BLACK),
				   .size = 5,
				   .outline = true };
	struct fig_points at = { 0 };
	struct curve c;
	int code = curve_of(v, objective, &c, err);

	if (code == DP_OK)
		code = space_places(v->s, NULL, (struct space_where){ false, x->param },
				    (struct space_where){ true, objective }, &at, err);
	if (code == DP_OK) {
		title(a, v, objective);
		space_axis(a, PLOT_X, v->s->s->spec, x->param);
		fig_axis(a, PLOT_Y, v->s, objective, fig_scale(c.mean, x->n));
		if (!is_exact(v, objective))
			panel_band(a, &area, "95 % interval", x->centre, c.lo, c.hi, x->n,
				   false);
		panel_line(a, &blue, is_exact(v, objective) ? "computed" : "model",
			   x->centre, c.mean, x->n);
		panel_points(a, &dots, "evaluated", at.x, at.y, at.n);
	}
	fig_points_free(&at);
	curve_free(&c);
	return code;
}

/* ---- the fronts ---- */

/* A staircase with its points, which alone show where it has but one. */
static int draw_stairs(struct plot_panel *a, const struct view *v,
		       const struct fig_points *front, const struct plot_style *style,
		       const char *name, struct dp_err *err)
{
	struct fig_points stairs = { 0 };
	int code = fig_stairs(v->s, front, NAN, NAN, &stairs, err);

	if (code == DP_OK) {
		panel_line(a, style, name, stairs.x, stairs.y, stairs.n);
		panel_points(a, style, NULL, front->x, front->y, front->n);
	}
	fig_points_free(&stairs);
	return code;
}

static int draw_fronts(struct plot_panel *a, const struct view *v, struct dp_err *err)
{
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE),
				   .width = 3,
				   .size = 7 };
	struct plot_style orange = { .colour = plot_palette(PLOT_ORANGE),
				     .width = 1.5,
				     .size = 4 };
	struct plot_style light;
	struct fig_points all = { 0 };
	int code = space_places(v->s, NULL, (struct space_where){ true, v->s->x },
				(struct space_where){ true, v->s->y }, &all, err);

	if (code != DP_OK)
		return code;
	panel_title(a, v->front.n ? "observed front and the models'"
				  : "no front: no point qualifies");
	fig_axis(a, PLOT_X, v->s, v->s->x, fig_scale(v->all.x, v->all.n));
	fig_axis(a, PLOT_Y, v->s, v->s->y, fig_scale(v->all.y, v->all.n));
	light = space_behind(all.n, false);
	panel_points(a, &light, "evaluated", all.x, all.y, all.n);
	fig_points_free(&all);
	if (v->front.n)
		code = draw_stairs(a, v, &v->front, &blue, "observed", err);
	if (code == DP_OK && v->denoised.n)
		code = draw_stairs(a, v, &v->denoised, &orange, "without noise", err);
	return code;
}

/* ---- the acquisition ---- */

/* What the study maximises; NULL: it takes random points. */
static const char *acquisition_name(const struct dp_study *s)
{
	switch (s->search.acquisition) {
	case DP_ACQ_DEFAULT:
	case DP_ACQ_EHVI:
		return "expected gain of hypervolume";
	case DP_ACQ_HVPOI:
		return "hypervolume-based PoI";
	case DP_ACQ_POI:
		return "probability of improvement";
	case DP_ACQ_RANDOM:
		break;
	}
	return NULL;
}

/* The free cell where it is largest; the number of cells if it is as good as 0
 * everywhere. */
static size_t best_cell(const struct view *v)
{
	size_t n = space_size(&v->slice), best = n;
	double most = 1e-12;

	for (size_t i = 0; i < n; i++) {
		if (v->taken[i] || !(v->p.acquisition[i] > most) ||
		    isinf(v->p.acquisition[i]))
			continue;
		most = v->p.acquisition[i];
		best = i;
	}
	return best;
}

static void say_place(const struct view *v, size_t cell, struct dp_buf *out)
{
	const struct space_slice *c = &v->slice;
	const struct dp_study *spec = v->s->s->spec;

	dp_buf_printf(out, "%s ", spec->params[c->x.param].name);
	dp_space_text(spec, c->x.param, c->x.centre[cell % c->x.n], out);
	if (!c->y.n)
		return;
	dp_buf_printf(out, ", %s ", spec->params[c->y.param].name);
	dp_space_text(spec, c->y.param, c->y.centre[cell / c->x.n], out);
}

static void star(struct plot_panel *a, double x, double y)
{
	struct plot_style under = { .colour = 0xffffff, .marker = PLOT_STAR, .size = 20 };
	struct plot_style red = { .colour = plot_palette(PLOT_VERMILLION),
				  .marker = PLOT_STAR,
				  .size = 15 };

	panel_points(a, &under, NULL, &x, &y, 1);
	panel_points(a, &red, NULL, &x, &y, 1);
}

static void draw_acquisition(struct plot_panel *a, const struct view *v)
{
	const struct space_slice *c = &v->slice;
	struct plot_style line = { .colour = plot_palette(PLOT_PURPLE), .width = 2 };
	const char *name = acquisition_name(v->s->s->spec);
	size_t best = best_cell(v);

	panel_title(a, c->nfree > 2 ? "where in this plane to look next"
				    : "where to look next");
	if (!name || best == space_size(c)) {
		panel_empty(a, name ? "No new point promises anything here"
				    : "This study takes random points");
	} else if (c->y.n) {
		space_heat(a, c, v->p.acquisition, NULL, name);
		star(a, c->x.centre[best % c->x.n], c->y.centre[best / c->x.n]);
	} else {
		space_axis(a, PLOT_X, v->s->s->spec, c->x.param);
		panel_axis(a, PLOT_Y, name, PLOT_LINEAR);
		panel_limits(a, PLOT_Y, 0, 1.1 * v->p.acquisition[best]);
		panel_line(a, &line, NULL, c->x.centre, v->p.acquisition, c->x.n);
		star(a, c->x.centre[best], v->p.acquisition[best]);
	}
}

/* ---- the figure ---- */

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	const size_t shown[] = { s->x, s->y };
	struct view v;
	int code = gather(s, &v, err);

	*out = NULL;
	if (code == DP_OK)
		code = fig_new(r, figure_surrogates.title, 920, 760, out, err);
	if (code != DP_OK)
		goto out;
	plot_grid(*out, 2, 2);
	for (int i = 0; code == DP_OK && i < 2; i++) {
		struct plot_panel *a = plot_panel(*out, 0, i);

		code = v.slice.y.n ? draw_mean(a, &v, shown[i], err)
				   : draw_band(a, &v, shown[i], err);
	}
	if (code == DP_OK)
		code = draw_fronts(plot_panel(*out, 1, 0), &v, err);
	if (code == DP_OK)
		draw_acquisition(plot_panel(*out, 1, 1), &v);
out:
	view_free(&v);
	return fig_end(code, out);
}

static void say_fronts(const struct view *v, struct dp_buf *out)
{
	if (v->front.n) {
		dp_buf_puts(out, "the observed front of ");
		fig_count(out, v->front.n, "point");
		dp_buf_printf(out, ", and of %zu once the models take the noise away",
			      v->denoised.n);
	} else {
		dp_buf_puts(out, "there is no front yet");
	}
	if (acquisition_name(v->s->s->spec) && best_cell(v) < space_size(&v->slice)) {
		dp_buf_puts(out, "; the star marks the most promising place: ");
		say_place(v, best_cell(v), out);
	}
	dp_buf_putc(out, '.');
}

static void caption(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	struct view v;
	struct dp_err err;

	if (gather(s, &v, &err) == DP_OK) {
		dp_buf_puts(out, "Top: the models of ");
		fig_count(out, s->history.n, "result");
		dp_buf_printf(out, ", with the sampled points %s. Bottom: ",
			      v.slice.y.n ? "in white" : "in black");
		say_fronts(&v, out);
		space_say_slice(&v.slice, out);
	}
	view_free(&v);
}

const struct figure figure_surrogates = { "surrogates.png", "What the models believe",
					  applies, draw, caption };
