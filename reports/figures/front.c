/* front.c - the Pareto front: all points, the front as a staircase, the anti-ideal box;
 * once with a linear first axis that ends at the anti-ideal, once over decades. */
#include "reports/figures/figures_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LABELS = 5,      /* front points with their values beside them; */
	MANY_LABELS = 9, /* to try on a crowded front, where some find no place */
	CROWDED = 30,
	SHADES = 5, /* of a third objective */
};

/* What is drawn, gathered before the first stroke. */
struct view {
	const struct subject *s;
	struct fig_points all, front;
	struct fig_points barred; /* ok, but a constraint is not met */
	enum plot_scale scale[2]; /* of x and y */
	double lo[2], hi[2];      /* limits of x and y */
	size_t outside;           /* points beyond them */
};

static void view_free(struct view *v)
{
	fig_points_free(&v->all);
	fig_points_free(&v->front);
	fig_points_free(&v->barred);
}

static const struct dp_objective *objective(const struct subject *s, enum plot_side side)
{
	return &s->s->spec->objectives[side == PLOT_X ? s->x : s->y];
}

static double to_scale(double v, enum plot_scale scale)
{
	return scale == PLOT_LOG ? log10(v) : v;
}

static double from_scale(double v, enum plot_scale scale)
{
	return scale == PLOT_LOG ? pow(10, v) : v;
}

/* ---- limits ---- */

/* Limits around the values of the points that stand (keep), with a margin; they reach
 * to the anti-ideal where it is near enough not to squeeze the points. */
static void fit(struct view *v, enum plot_side side, const bool *keep)
{
	const double *values = side == PLOT_X ? v->all.x : v->all.y;
	enum plot_scale scale = v->scale[side];
	double anti = objective(v->s, side)->anti_ideal, lo = INFINITY, hi = -INFINITY;
	double margin;

	for (size_t i = 0; i < v->all.n; i++) {
		if (!keep[i] || (scale == PLOT_LOG && values[i] <= 0))
			continue;
		lo = fmin(lo, to_scale(values[i], scale));
		hi = fmax(hi, to_scale(values[i], scale));
	}
	if (scale == PLOT_LINEAR || anti > 0) {
		double at = to_scale(anti, scale), near = 0.5 * (hi - lo);

		if (lo == hi || (at > lo - near && at < hi + near)) {
			lo = fmin(lo, at);
			hi = fmax(hi, at);
		}
	}
	margin = 0.04 * (hi - lo);
	if (margin == 0)
		margin = scale == PLOT_LOG || lo == 0 ? 0.5 : 0.1 * fabs(lo);
	/* linear axes of positive values do not start below zero for a margin's sake */
	v->lo[side] = scale == PLOT_LINEAR && lo >= 0 && lo < margin
			      ? 0
			      : from_scale(lo - margin, scale);
	v->hi[side] = from_scale(hi + margin, scale);
}

/* Which points have an x better than the anti-ideal's? False: none has. */
static bool keep_in_box(const struct view *v, bool *keep)
{
	const struct dp_objective *o = objective(v->s, PLOT_X);
	bool any = false;

	for (size_t i = 0; i < v->all.n; i++) {
		keep[i] = o->maximize ? v->all.x[i] >= o->anti_ideal
				      : v->all.x[i] <= o->anti_ideal;
		any |= keep[i];
	}
	return any;
}

/* A linear x goes from the best value to the anti-ideal. */
static void end_at_anti_ideal(struct view *v)
{
	const struct dp_objective *o = objective(v->s, PLOT_X);
	double best = o->maximize ? v->hi[PLOT_X] : v->lo[PLOT_X], margin;

	if (!o->maximize && best > 0 && best < 0.25 * o->anti_ideal)
		best = 0;
	margin = 0.03 * fabs(o->anti_ideal - best);
	if (o->maximize) {
		v->lo[PLOT_X] = o->anti_ideal - margin;
	} else {
		v->lo[PLOT_X] = best;
		v->hi[PLOT_X] = o->anti_ideal + margin;
	}
}

static bool shown(const struct view *v, double x, double y)
{
	return x >= v->lo[PLOT_X] && x <= v->hi[PLOT_X] && y >= v->lo[PLOT_Y] &&
	       y <= v->hi[PLOT_Y];
}

static int limits(struct view *v, enum plot_scale scale, struct dp_err *err)
{
	bool *keep = calloc(v->all.n + 1, sizeof *keep);
	bool in_box;

	if (!keep)
		return fig_nomem(err);
	v->scale[PLOT_X] = scale;
	v->scale[PLOT_Y] = fig_scale(v->all.y, v->all.n);
	in_box = keep_in_box(v, keep) && scale == PLOT_LINEAR;
	for (size_t i = 0; !in_box && i < v->all.n; i++)
		keep[i] = scale == PLOT_LINEAR || v->all.x[i] > 0;
	fit(v, PLOT_X, keep);
	if (in_box)
		end_at_anti_ideal(v);
	fit(v, PLOT_Y, keep);
	for (size_t i = 0; i < v->all.n; i++)
		v->outside += !shown(v, v->all.x[i], v->all.y[i]);
	free(keep);
	return DP_OK;
}

/* ---- gathering ---- */

static int gather_barred(struct view *v, struct dp_err *err)
{
	const struct dp_study_state *st = v->s->s;

	if (!fig_points_room(&v->barred, st->ok))
		return fig_nomem(err);
	for (uint32_t i = 0; st->spec->nconstraints && i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];
		struct fig_points *b = &v->barred;

		if (t->status != DP_TRIAL_OK || !t->objectives ||
		    dp_trial_feasible(st, t))
			continue;
		b->x[b->n] = t->objectives[v->s->x];
		b->y[b->n++] = t->objectives[v->s->y];
	}
	return DP_OK;
}

static int gather(const struct subject *s, enum plot_scale scale, struct view *v,
		  struct dp_err *err)
{
	int code;

	*v = (struct view){ .s = s };
	if ((code = fig_points(s, &v->all, err)) != DP_OK ||
	    (code = fig_front(s, &v->all, &v->front, err)) != DP_OK ||
	    (code = gather_barred(v, err)) != DP_OK)
		return code;
	return v->all.n ? limits(v, scale, err) : DP_OK;
}

/* ---- drawing ---- */

/* The region that the anti-ideal bounds, as far as it is in the picture. */
static void draw_box(struct plot_panel *a, const struct view *v)
{
	struct plot_style style = { .colour = plot_palette(PLOT_GREY), .opacity = 0.07 };
	double edge[2][2];

	for (int side = PLOT_X; side <= PLOT_Y; side++) {
		const struct dp_objective *o = objective(v->s, side);
		double anti = fmin(fmax(o->anti_ideal, v->lo[side]), v->hi[side]);

		edge[side][0] = o->maximize ? anti : v->lo[side];
		edge[side][1] = o->maximize ? v->hi[side] : anti;
	}
	panel_box(a, &style, "better than the anti-ideal", edge[PLOT_X][0],
		  edge[PLOT_X][1], edge[PLOT_Y][0], edge[PLOT_Y][1]);
}

/* Ticks at the border where utility is worst, for trials that diverged. */
static int draw_diverged(struct plot_panel *a, const struct view *v, struct dp_err *err)
{
	struct plot_style style = { .colour = plot_palette(PLOT_VERMILLION),
				    .marker = PLOT_CROSS };
	const struct dp_study_state *st = v->s->s;
	struct fig_points p = { 0 };
	enum plot_scale scale = v->scale[PLOT_Y];
	double lo = to_scale(v->lo[PLOT_Y], scale), hi = to_scale(v->hi[PLOT_Y], scale);
	double inside = objective(v->s, PLOT_Y)->maximize ? 0.02 : 0.98;
	double border = from_scale(lo + inside * (hi - lo), scale);

	if (!fig_points_room(&p, st->diverged))
		return fig_nomem(err);
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];

		if (t->status != DP_TRIAL_DIVERGED || !t->objectives ||
		    !(t->objectives[v->s->x] >= v->lo[PLOT_X] &&
		      t->objectives[v->s->x] <= v->hi[PLOT_X]))
			continue;
		p.x[p.n] = t->objectives[v->s->x];
		p.y[p.n++] = border;
	}
	if (p.n)
		panel_points(a, &style, "diverged (at the border)", p.x, p.y, p.n);
	fig_points_free(&p);
	return DP_OK;
}

/* The objective beyond the two that are shown, or -1. */
static int third_objective(const struct subject *s)
{
	for (size_t i = 0; i < s->s->spec->nobjectives; i++)
		if (i != s->x && i != s->y)
			return (int)i;
	return -1;
}

/* Limits of the third objective over the front. */
static void third_range(const struct subject *s, size_t third, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (uint32_t i = 0; i < s->s->nfront; i++) {
		double z = s->s->trials[s->s->front[i]]->objectives[third];

		if (isfinite(z)) {
			*lo = fmin(*lo, z);
			*hi = fmax(*hi, z);
		}
	}
}

/* With three and more objectives: the members of their front in shades of the third. */
static int draw_shades(struct plot_panel *a, const struct view *v, size_t third,
		       struct dp_err *err)
{
	const struct dp_study_state *st = v->s->s;
	struct fig_points p = { 0 };
	double lo, hi;

	third_range(v->s, third, &lo, &hi);
	if (!fig_points_room(&p, st->nfront))
		return fig_nomem(err);
	for (int shade = 0; lo <= hi && shade < SHADES; shade++) {
		double from = lo + (hi - lo) * shade / SHADES;
		double to = lo + (hi - lo) * (shade + 1) / SHADES;
		char name[200], low[FIG_TEXT_LEN], high[FIG_TEXT_LEN];
		struct plot_style style = {
			.colour =
				plot_map_colour(PLOT_VIRIDIS, 0.9 * shade / (SHADES - 1)),
			.size = 7,
			.outline = true,
		};

		p.n = 0;
		for (uint32_t i = 0; i < st->nfront; i++) {
			const double *y = st->trials[st->front[i]]->objectives;
			bool last = shade == SHADES - 1;

			if (!(y[third] >= from && (y[third] < to || last)))
				continue;
			p.x[p.n] = y[v->s->x];
			p.y[p.n++] = y[v->s->y];
		}
		snprintf(name, sizeof name, "%s %s to %s",
			 st->spec->objectives[third].name, fig_number(from, low),
			 fig_number(to, high));
		if (p.n)
			panel_points(a, &style, name, p.x, p.y, p.n);
	}
	fig_points_free(&p);
	return DP_OK;
}

/* The place of a front point in the picture, in parts of its width and height. */
static void place(const struct view *v, size_t i, double at[2])
{
	const double value[2] = { v->front.x[i], v->front.y[i] };

	for (int side = PLOT_X; side <= PLOT_Y; side++) {
		double lo = to_scale(v->lo[side], v->scale[side]);
		double hi = to_scale(v->hi[side], v->scale[side]);

		at[side] = (to_scale(value[side], v->scale[side]) - lo) / (hi - lo);
	}
}

static double step(const struct view *v, size_t from, size_t to)
{
	double a[2], b[2];

	place(v, from, a);
	place(v, to, b);
	return hypot(b[0] - a[0], b[1] - a[1]);
}

/* Writes the values beside a few points, spread evenly along the front. */
static void draw_labels(struct plot_panel *a, const struct view *v)
{
	size_t first = 0, end = v->front.n;
	int most = v->front.n > CROWDED ? MANY_LABELS : LABELS;
	double whole = 0, gone = 0;
	int written = 0;

	while (first < end && !shown(v, v->front.x[first], v->front.y[first]))
		first++;
	while (end > first && !shown(v, v->front.x[end - 1], v->front.y[end - 1]))
		end--;
	for (size_t i = first; i + 1 < end; i++)
		whole += step(v, i, i + 1);
	for (size_t i = first; i < end; i++) {
		char x[FIG_TEXT_LEN], y[FIG_TEXT_LEN], text[2 * FIG_TEXT_LEN + 3];

		if (i > first)
			gone += step(v, i - 1, i);
		if (gone < whole * written / (most - 1) - 1e-9)
			continue;
		while (written < most && gone >= whole * written / (most - 1) - 1e-9)
			written++;
		snprintf(text, sizeof text, "%s: %s",
			 fig_value(v->s, v->s->x, v->front.x[i], x),
			 fig_value(v->s, v->s->y, v->front.y[i], y));
		panel_label(a, v->front.x[i], v->front.y[i], text);
	}
}

static int draw_front(struct plot_panel *a, const struct view *v, struct dp_err *err)
{
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE),
				   .size = fig_marker_size(v->front.n),
				   .width = 2,
				   .outline = true };
	int third = third_objective(v->s);
	struct fig_points stairs;
	char name[80];
	int code = fig_stairs(v->s, &v->front, objective(v->s, PLOT_X)->anti_ideal,
			      objective(v->s, PLOT_Y)->anti_ideal, &stairs, err);

	if (code != DP_OK)
		return code;
	snprintf(name, sizeof name, "front (%zu point%s)", v->front.n,
		 v->front.n == 1 ? "" : "s");
	panel_line(a, &blue, name, stairs.x, stairs.y, stairs.n);
	if (third < 0)
		panel_points(a, &blue, name, v->front.x, v->front.y, v->front.n);
	else
		code = draw_shades(a, v, (size_t)third, err);
	fig_points_free(&stairs);
	draw_labels(a, v);
	return code;
}

/* Why there is nothing to see. */
static void say_empty(struct plot_panel *a, const struct view *v)
{
	const struct dp_study_state *st = v->s->s;
	const struct {
		size_t n;
		const char *what;
	} counts[] = { { st->diverged, "diverged" },
		       { st->failed, "failed" },
		       { v->all.not_finite, "not finite" },
		       { v->barred.n, "do not meet a constraint" } };
	struct dp_buf why = DP_BUF_INIT;
	int listed = 0;

	dp_buf_puts(&why, dp_study_ended(st) ? "No point to show"
					     : "No evaluation has ended yet");
	for (size_t i = 0; i < DP_COUNT(counts); i++) {
		if (counts[i].n)
			dp_buf_printf(&why, "%s %zu %s", listed++ ? "," : ":",
				      counts[i].n, counts[i].what);
	}
	panel_empty(a, dp_buf_text(&why));
	dp_buf_free(&why);
}

/* What the picture leaves out, and where it is a projection. */
static void note(struct plot *p, const struct view *v)
{
	struct dp_buf text = DP_BUF_INIT;
	int third = third_objective(v->s);

	if (v->outside + v->all.not_finite)
		dp_buf_puts(&text, "Not shown: ");
	if (v->outside) {
		fig_count(&text, v->outside, "point");
		dp_buf_puts(&text, v->all.not_finite ? " beyond the axes, "
						     : " beyond the axes. ");
	}
	if (v->all.not_finite) {
		fig_count(&text, v->all.not_finite, "point");
		dp_buf_printf(&text, " with an infinite %s. ",
			      objective(v->s, PLOT_X)->name);
	}
	if (third >= 0)
		dp_buf_printf(
			&text,
			"Projection of %zu objectives; the line is the front of the "
			"two shown.",
			v->s->s->spec->nobjectives);
	if (text.len)
		plot_note(p, dp_buf_text(&text));
	dp_buf_free(&text);
}

static int draw_points(struct plot_panel *a, const struct view *v, struct dp_err *err)
{
	struct plot_style light = fig_cloud(plot_palette(PLOT_GREY), v->all.n);
	struct plot_style ring = { .colour = plot_palette(PLOT_GREY),
				   .marker = PLOT_RING,
				   .opacity = 0.6 };

	panel_limits(a, PLOT_X, v->lo[PLOT_X], v->hi[PLOT_X]);
	panel_limits(a, PLOT_Y, v->lo[PLOT_Y], v->hi[PLOT_Y]);
	draw_box(a, v);
	panel_points(a, &light, "evaluated", v->all.x, v->all.y, v->all.n);
	if (v->barred.n)
		panel_points(a, &ring, "a constraint is not met", v->barred.x,
			     v->barred.y, v->barred.n);
	if (draw_diverged(a, v, err) != DP_OK)
		return DP_E_NOMEM;
	return draw_front(a, v, err);
}

static int draw(const struct report *r, enum plot_scale scale, const char *title,
		struct plot **out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	struct plot_panel *a;
	struct view v;
	int code;

	*out = NULL;
	code = gather(s, scale, &v, err);
	if (code == DP_OK)
		code = fig_new(r, title, FIG_WIDTH, FIG_HEIGHT, out, err);
	if (code != DP_OK)
		goto out;
	a = plot_panel(*out, 0, 0);
	fig_axis(a, PLOT_X, s, s->x, v.scale[PLOT_X]);
	fig_axis(a, PLOT_Y, s, s->y, v.scale[PLOT_Y]);
	if (v.all.n)
		code = draw_points(a, &v, err);
	else
		say_empty(a, &v);
	note(*out, &v);
out:
	view_free(&v);
	return fig_end(code, out);
}

static int draw_linear(const struct report *r, struct plot **out, struct dp_err *err)
{
	return draw(r, PLOT_LINEAR, figure_front.title, out, err);
}

static int draw_log(const struct report *r, struct plot **out, struct dp_err *err)
{
	return draw(r, PLOT_LOG, figure_front_log.title, out, err);
}

/* ---- when, and in words ---- */

static bool has_study(const struct report *r)
{
	return r->nsubjects > 0;
}

/* Decades need two points with a positive x. */
static bool has_decades(const struct report *r)
{
	const struct subject *s = r->nsubjects ? &r->subjects[0] : NULL;
	size_t positive = 0;

	for (uint32_t i = 0; has_study(r) && i < s->s->ntrials && positive < 2; i++) {
		const struct dp_trial *t = s->s->trials[i];

		positive += t->status == DP_TRIAL_OK && t->objectives &&
			    t->objectives[s->x] > 0 && isfinite(t->objectives[s->x]);
	}
	return positive == 2;
}

static void say_point(const struct subject *s, double x, double y, struct dp_buf *out)
{
	fig_say(s, s->y, y, out);
	dp_buf_puts(out, " at ");
	fig_say(s, s->x, x, out);
}

/* The front points that are better than the anti-ideal: from the first to the last. */
static void say_range(const struct subject *s, const struct fig_points *front,
		      struct dp_buf *out)
{
	size_t first = front->n, last = 0, n = 0;

	for (size_t i = 0; i < front->n; i++) {
		if (!fig_in_box(s, front->x[i], front->y[i]))
			continue;
		first = n++ ? first : i;
		last = i;
	}
	if (n == 0) {
		dp_buf_puts(out, ", none of them better than the anti-ideal.");
		return;
	}
	dp_buf_printf(out, ", %zu better than the anti-ideal: ", n);
	say_point(s, front->x[first], front->y[first], out);
	if (n > 1) {
		dp_buf_puts(out, " to ");
		say_point(s, front->x[last], front->y[last], out);
	}
	dp_buf_putc(out, '.');
}

static void caption(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	struct fig_points all = { 0 }, front = { 0 };
	char volume[FIG_TEXT_LEN];
	struct dp_err err;

	if (fig_points(s, &all, &err) == DP_OK &&
	    fig_front(s, &all, &front, &err) == DP_OK) {
		if (front.n) {
			dp_buf_printf(out, "%zu of %u points %s on the front", front.n,
				      s->s->ok, front.n == 1 ? "is" : "are");
			say_range(s, &front, out);
			dp_buf_printf(out, " Hypervolume: %s.",
				      fig_number(s->s->hypervolume, volume));
		} else if (all.not_finite) {
			dp_buf_printf(out, "None of %zu points has a finite %s and %s.",
				      all.not_finite, objective(s, PLOT_X)->name,
				      objective(s, PLOT_Y)->name);
		} else {
			dp_buf_puts(out, "There is no point to show yet.");
		}
	}
	fig_points_free(&all);
	fig_points_free(&front);
}

const struct figure figure_front = { "front.png", "Pareto front", has_study, draw_linear,
				     caption };
const struct figure figure_front_log = { "front-log.png", "Pareto front over decades",
					 has_decades, draw_log, caption };
