/* oracles.c - the two objectives over the parameters that matter most, the front, and
 * where its points lie in the space. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SHADES = 24, /* colours along the front */
};

struct view {
	const struct subject *s;
	struct space_slice slice;
	struct fig_points all, front; /* on the plane of the objectives */
};

static bool applies(const struct report *r)
{
	size_t param[DP_PARAMS_MAX];

	return r->nsubjects && r->subjects[0].s->ok &&
	       space_free(r->subjects[0].s->spec, param);
}

static void view_free(struct view *v)
{
	space_slice_free(&v->slice);
	fig_points_free(&v->all);
	fig_points_free(&v->front);
}

static int gather(const struct subject *s, struct view *v, struct dp_err *err)
{
	int code;

	*v = (struct view){ .s = s };
	if ((code = space_slice(s, true, &v->slice, err)) != DP_OK ||
	    (code = fig_points(s, &v->all, err)) != DP_OK)
		return code;
	return fig_front(s, &v->all, &v->front, err);
}

/* ---- markers ---- */

/* Points of the front in colours that run along it, the same ones in every panel. */
static void front_points(struct plot_panel *a, const struct fig_points *p)
{
	size_t shades = p->n < SHADES ? p->n : SHADES;

	for (size_t k = 0; k < shades; k++) {
		size_t from = k * p->n / shades, to = (k + 1) * p->n / shades;
		double t = shades > 1 ? (double)k / (double)(shades - 1) : 0;
		struct plot_style style = {
			.colour = plot_map_colour(PLOT_MAGMA, 0.1 + 0.72 * t),
			.size = 8,
			.outline = true,
		};

		panel_points(a, &style, NULL, p->x + from, p->y + from, to - from);
	}
}

/* All evaluated points and the front's at two coordinates. */
static int both_points(struct plot_panel *a, const struct view *v, struct space_where x,
		       struct space_where y, struct dp_err *err)
{
	struct fig_points all = { 0 }, front = { 0 };
	int code = space_places(v->s, NULL, x, y, &all, err);

	if (code == DP_OK)
		code = space_places(v->s, &v->front, x, y, &front, err);
	if (code == DP_OK) {
		struct plot_style light = space_behind(all.n, false);

		panel_points(a, &light, NULL, all.x, all.y, all.n);
		front_points(a, &front);
	}
	fig_points_free(&all);
	fig_points_free(&front);
	return code;
}

/* ---- panels ---- */

static void title(struct plot_panel *a, const struct view *v, size_t objective)
{
	static const char *const how[] = {
		[SPACE_EVALUATED] = "as evaluated",
		[SPACE_COMPUTED] = "computed exactly",
		[SPACE_NEAREST] = "nearest evaluation",
		[SPACE_PREDICTED] = "mean of the model",
	};
	enum space_source source = space_source(&v->slice, objective);
	char text[DP_NAME_MAX + 40];

	if (v->slice.nfree == 1 && source == SPACE_NEAREST)
		source = SPACE_EVALUATED; /* points on a line need no neighbours */
	snprintf(text, sizeof text, "%s, %s", v->s->s->spec->objectives[objective].name,
		 how[source]);
	panel_title(a, text);
}

/* Values over the plane, with the evaluated points where each colours its
 * surroundings. */
static int draw_map(struct plot_panel *a, const struct view *v, size_t objective,
		    struct dp_err *err)
{
	const struct space_slice *c = &v->slice;
	double *z = malloc(space_size(c) * sizeof *z);
	struct dp_buf label = DP_BUF_INIT;
	struct fig_points at = { 0 };
	int code = z ? space_values(c, objective, z, err) : fig_nomem(err);

	if (code == DP_OK) {
		title(a, v, objective);
		fig_label(v->s, objective, &label);
		space_heat(a, c, z, &v->s->s->spec->objectives[objective],
			   dp_buf_text(&label));
		space_mark_through(a, c);
	}
	if (code == DP_OK && space_source(c, objective) == SPACE_NEAREST)
		code = space_places(v->s, NULL, (struct space_where){ false, c->x.param },
				    (struct space_where){ false, c->y.param }, &at, err);
	if (at.n) {
		struct plot_style white = space_behind(at.n, true);

		panel_points(a, &white, NULL, at.x, at.y, at.n);
	}
	fig_points_free(&at);
	dp_buf_free(&label);
	free(z);
	return code;
}

/* With one parameter: an objective against it, as a curve where an oracle knows it. */
static int draw_line(struct plot_panel *a, const struct view *v, size_t objective,
		     struct dp_err *err)
{
	const struct space_slice *c = &v->slice;
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE) };
	bool known = space_source(c, objective) == SPACE_COMPUTED;
	double *z = malloc(space_size(c) * sizeof *z);
	struct fig_points at = { 0 };
	int code = z ? space_places(v->s, NULL, (struct space_where){ false, c->x.param },
				    (struct space_where){ true, objective }, &at, err)
		     : fig_nomem(err);

	if (code == DP_OK && known)
		code = space_values(c, objective, z, err);
	if (code == DP_OK) {
		title(a, v, objective);
		space_axis(a, PLOT_X, v->s->s->spec, c->x.param);
		fig_axis(a, PLOT_Y, v->s, objective,
			 known ? fig_scale(z, c->x.n) : fig_scale(at.y, at.n));
		if (known)
			panel_line(a, &blue, NULL, c->x.centre, z, c->x.n);
		code = both_points(a, v, (struct space_where){ false, c->x.param },
				   (struct space_where){ true, objective }, err);
	}
	fig_points_free(&at);
	free(z);
	return code;
}

static int draw_front(struct plot_panel *a, const struct view *v, struct dp_err *err)
{
	struct plot_style line = { .colour = plot_palette(PLOT_GREY), .width = 1.2 };
	struct fig_points stairs = { 0 };
	int code = fig_stairs(v->s, &v->front, NAN, NAN, &stairs, err);

	if (code != DP_OK)
		return code;
	panel_title(a, v->front.n ? "the front" : "no front: no point qualifies");
	fig_axis(a, PLOT_X, v->s, v->s->x, fig_scale(v->all.x, v->all.n));
	fig_axis(a, PLOT_Y, v->s, v->s->y, fig_scale(v->all.y, v->all.n));
	panel_line(a, &line, NULL, stairs.x, stairs.y, stairs.n);
	fig_points_free(&stairs);
	return both_points(a, v, (struct space_where){ true, v->s->x },
			   (struct space_where){ true, v->s->y }, err);
}

static int draw_inputs(struct plot_panel *a, const struct view *v, struct dp_err *err)
{
	const struct space_slice *c = &v->slice;

	panel_title(a, "its points in the parameter space");
	space_axis(a, PLOT_X, v->s->s->spec, c->x.param);
	space_axis(a, PLOT_Y, v->s->s->spec, c->y.param);
	panel_limits(a, PLOT_X, c->x.edge[0], c->x.edge[c->x.n]);
	panel_limits(a, PLOT_Y, c->y.edge[0], c->y.edge[c->y.n]);
	return both_points(a, v, (struct space_where){ false, c->x.param },
			   (struct space_where){ false, c->y.param }, err);
}

static int draw_plane(struct plot *p, const struct view *v, struct dp_err *err)
{
	int code;

	plot_grid(p, 2, 2);
	if ((code = draw_map(plot_panel(p, 0, 0), v, v->s->x, err)) != DP_OK ||
	    (code = draw_map(plot_panel(p, 0, 1), v, v->s->y, err)) != DP_OK ||
	    (code = draw_front(plot_panel(p, 1, 0), v, err)) != DP_OK)
		return code;
	return draw_inputs(plot_panel(p, 1, 1), v, err);
}

static int draw_lines(struct plot *p, const struct view *v, struct dp_err *err)
{
	int code;

	plot_grid(p, 1, 3);
	if ((code = draw_line(plot_panel(p, 0, 0), v, v->s->x, err)) != DP_OK ||
	    (code = draw_line(plot_panel(p, 0, 1), v, v->s->y, err)) != DP_OK)
		return code;
	return draw_front(plot_panel(p, 0, 2), v, err);
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	struct view v;
	int code = gather(&r->subjects[0], &v, err);
	bool plane = v.slice.nfree > 1;

	*out = NULL;
	if (code == DP_OK)
		code = fig_new(r, figure_oracles.title, plane ? 920 : 1080,
			       plane ? 760 : 380, out, err);
	if (code == DP_OK)
		code = plane ? draw_plane(*out, &v, err) : draw_lines(*out, &v, err);
	view_free(&v);
	return fig_end(code, out);
}

/* ---- in words ---- */

static void say_source(const struct view *v, enum space_source source, struct dp_buf *out)
{
	switch (source) {
	case SPACE_EVALUATED:
		dp_buf_puts(out, " as evaluated at each point of the grid");
		break;
	case SPACE_COMPUTED:
		dp_buf_puts(out, " computed exactly");
		break;
	case SPACE_NEAREST:
		dp_buf_puts(out, " of the nearest of ");
		fig_count(out, v->s->s->ok, "evaluation");
		dp_buf_puts(out, " (white)");
		break;
	case SPACE_PREDICTED:
		dp_buf_puts(out, " as predicted by the model of ");
		fig_count(out, v->s->history.n, "result");
		break;
	}
}

static void say_maps(const struct view *v, struct dp_buf *out)
{
	const struct dp_objective *o = v->s->s->spec->objectives;
	enum space_source source = space_source(&v->slice, v->s->y);

	if (v->slice.nfree == 1) {
		dp_buf_printf(out, "Both objectives against %s for ",
			      v->s->s->spec->params[v->slice.x.param].name);
		fig_count(out, v->s->s->ok, "evaluation");
	} else {
		dp_buf_printf(out, "Top: %s", o[v->s->x].name);
		if (source != space_source(&v->slice, v->s->x))
			say_source(v, space_source(&v->slice, v->s->x), out);
		dp_buf_printf(out, " and %s", o[v->s->y].name);
		say_source(v, source, out);
	}
	dp_buf_putc(out, '.');
}

static void caption(const struct report *r, struct dp_buf *out)
{
	struct view v;
	struct dp_err err;

	if (gather(&r->subjects[0], &v, &err) == DP_OK) {
		say_maps(&v, out);
		if (v.front.n) {
			dp_buf_puts(out, v.slice.nfree == 1 ? " Colours mark "
							    : " Bottom: colours mark ");
			fig_count(out, v.front.n, "point");
			dp_buf_puts(out, " of the front, the same in each panel.");
		} else {
			dp_buf_puts(out, " There is no front: no point meets the "
					 "constraints with finite values.");
		}
		space_say_slice(&v.slice, out);
	}
	view_free(&v);
}

const struct figure figure_oracles = { "oracles.png", "Objectives over the parameters",
				       applies, draw, caption };
