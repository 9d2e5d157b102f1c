/* objective_maps.c - figure: both objectives over the most relevant parameters, and the front.
 *
 * Its file is oracles.png, as in the paper. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>
#include <stdio.h>

enum {
	FRONT_COLOURS_MAX = 24, /* colours along the front */
};

/* Evaluated points and front points at two coordinates. */
struct maps_points {
	struct fig_points all, front;
};

struct maps_data {
	const struct study_data *s;
	struct space_slice slice;
	struct fig_points front;
	struct maps_objective {
		size_t objective;
		enum space_source source;
		double *values; /* (cells of the slice), or NULL: only points are known */
		struct fig_points marked_points; /* points that colour their cells */
		struct maps_points points;       /* against the only parameter */
	} maps[2];
};

static struct maps_points gather_front_and_all(struct arena *mem, const struct maps_data *d,
					       size_t x, size_t y)
{
	return (struct maps_points){ space_collect_points(mem, d->s, NULL, x, y),
				     space_collect_points(mem, d->s, &d->front, x, y) };
}

/* One parameter: a curve if an accountant or model knows it, and all points. Otherwise a map; it
 * shows the evaluated points if each colours its neighbourhood, or if a model uses them and the
 * slice is the whole space. */
static void gather_objective(struct arena *mem, struct maps_data *d, struct maps_objective *m)
{
	struct space_slice *c = &d->slice;
	bool line = c->nfree == 1, exact = m->source == SPACE_COMPUTED,
	     predicted = m->source == SPACE_PREDICTED;

	if (!line || exact || predicted)
		m->values = space_values(mem, c, m->objective);
	if (line)
		m->points =
			gather_front_and_all(mem, d, c->x.param, SPACE_OBJECTIVE + m->objective);
	else if (m->source == SPACE_NEAREST || (predicted && c->nfree == 2))
		m->marked_points = space_collect_points(mem, d->s, NULL, c->x.param, c->y.param);
}

/* Draws front points in colours along the front, the same in every panel. */
static void draw_front_points(struct plot_panel *a, const struct fig_points *p)
{
	size_t shades = p->n < FRONT_COLOURS_MAX ? p->n : FRONT_COLOURS_MAX;

	for (size_t k = 0; k < shades; k++) {
		size_t from = k * p->n / shades, to = (k + 1) * p->n / shades;
		double t = shades > 1 ? (double)k / (double)(shades - 1) : 0;
		struct plot_style style =
			fig_dots(plot_colourmap_lookup(PLOT_MAGMA, 0.1 + 0.72 * t), p->n);

		style.size += 1;
		panel_points(a, &style, NULL, p->x + from, p->y + from, to - from);
	}
}

static void draw_front_and_all(struct plot_panel *a, const struct maps_points *p)
{
	fig_draw_background(a, NULL, &p->all);
	draw_front_points(a, &p->front);
}

static void maps_title(struct plot_panel *a, const struct maps_data *d,
		       const struct maps_objective *m)
{
	static const char *const how[] = {
		[SPACE_EVALUATED] = "as evaluated",
		[SPACE_COMPUTED] = "computed exactly",
		[SPACE_NEAREST] = "nearest evaluation",
		[SPACE_PREDICTED] = "mean of the model",
	};
	enum space_source source = m->source;
	char text[DP_NAME_MAX + 40];

	if (d->slice.nfree == 1 && source == SPACE_NEAREST)
		source = SPACE_EVALUATED; /* points on a line have no cells */
	snprintf(text, sizeof text, "%s, %s", d->s->state->spec->objectives[m->objective].name,
		 how[source]);
	panel_title(a, text);
}

static void draw_map(struct plot_panel *a, const struct maps_data *d,
		     const struct maps_objective *m)
{
	maps_title(a, d, m);
	space_objective_heat(a, &d->slice, m->objective, m->values);
	space_draw_anchor(a, &d->slice);
	if (m->marked_points.n) {
		struct plot_style white = fig_background_style(m->marked_points.n, true);

		panel_points(a, &white, NULL, m->marked_points.x, m->marked_points.y,
			     m->marked_points.n);
	}
}

static void draw_objective_line(struct plot_panel *a, const struct maps_data *d,
				const struct maps_objective *m)
{
	const struct space_cells *x = &d->slice.x;
	const struct fig_points *at = &m->points.all;
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE) };

	maps_title(a, d, m);
	space_axis(a, PLOT_X, d->s->state->spec, x->param);
	fig_axis(a, PLOT_Y, d->s, m->objective,
		 fig_objective_scale(d->s, m->objective, m->values ? m->values : at->y,
				     m->values ? x->n : at->n));
	if (m->values)
		panel_line(a, &blue, NULL, x->centre, m->values, x->n);
	draw_front_and_all(a, &m->points);
}

static void append_value_source(const struct maps_data *d, enum space_source source,
				struct dp_buf *out)
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
		fig_count_results(out, d->s);
		dp_buf_puts(out, " (white)");
		break;
	case SPACE_PREDICTED:
		dp_buf_puts(out, " as predicted by the model of ");
		fig_count(out, d->s->history.n, "result");
		dp_buf_puts(out, d->slice.nfree == 2 ? " (white)" : "");
		break;
	}
}

static void draw_objective_plane(struct plot_panel *a, struct arena *mem, const struct maps_data *d)
{
	struct plot_style line = { .colour = plot_palette(PLOT_GREY), .width = 1.2 };
	struct fig_points all = fig_collect_points(mem, d->s);
	struct fig_points staircase = fig_staircase(mem, d->s, &d->front, NAN, NAN);
	struct maps_points shown = gather_front_and_all(mem, d, SPACE_OBJECTIVE + d->s->x_obj,
							SPACE_OBJECTIVE + d->s->y_obj);

	panel_title(a, d->front.n ? "the front" : "no front: no point qualifies");
	fig_plane_axes_for(a, d->s, all.x, all.y, all.n);
	panel_line(a, &line, NULL, staircase.x, staircase.y, staircase.n);
	draw_front_and_all(a, &shown);
}

static void draw_parameter_plane(struct plot_panel *a, struct arena *mem, const struct maps_data *d)
{
	const struct space_cells *x = &d->slice.x, *y = &d->slice.y;
	struct maps_points shown = gather_front_and_all(mem, d, x->param, y->param);

	panel_title(a, "its points in the parameter space");
	space_axis(a, PLOT_X, d->s->state->spec, x->param);
	space_axis(a, PLOT_Y, d->s->state->spec, y->param);
	panel_limits(a, PLOT_X, x->edge[0], x->edge[x->n]);
	panel_limits(a, PLOT_Y, y->edge[0], y->edge[y->n]);
	draw_front_and_all(a, &shown);
}

static int maps_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct maps_data d = { 0 };
	size_t param[DP_PARAMS_MAX];
	int code = fig_main_study(r, &d.s, err);
	bool plane;

	if (code != DP_OK)
		return code;
	if (!d.s->npoints)
		return fig_nothing(err, "no trial has given a result");
	if (!space_searched_params(d.s->state->spec, param))
		return fig_nothing(err, "all parameters are fixed");
	if (!d.s->nranked)
		return fig_nothing(err, SPACE_NO_RANKING);
	d.slice = space_slice(&f->mem, d.s, true);
	d.front = fig_study_front(&f->mem, d.s);
	for (int i = 0; i < 2; i++) {
		d.maps[i].objective = i == 0 ? d.s->x_obj : d.s->y_obj;
		d.maps[i].source = space_source(&d.slice, d.maps[i].objective);
		gather_objective(&f->mem, &d, &d.maps[i]);
	}

	plane = d.slice.nfree > 1;
	f->plot = fig_new(d.s, figure_objective_maps.title, plane ? 920 : 1080, plane ? 760 : 380);
	plot_grid(f->plot, plane ? 2 : 1, plane ? 2 : 3);
	for (int i = 0; i < 2; i++)
		(plane ? draw_map : draw_objective_line)(plot_panel(f->plot, 0, i), &d, &d.maps[i]);
	draw_objective_plane(plot_panel(f->plot, plane ? 1 : 0, plane ? 0 : 2), &f->mem, &d);
	if (plane)
		draw_parameter_plane(plot_panel(f->plot, 1, 1), &f->mem, &d);

	if (!plane) {
		dp_buf_printf(&f->caption, "Both objectives against %s for ",
			      d.s->state->spec->params[d.slice.x.param].name);
		fig_count_results(&f->caption, d.s);
	} else {
		const struct dp_objective *o = d.s->state->spec->objectives;

		dp_buf_printf(&f->caption, "Top: %s", o[d.s->x_obj].name);
		if (d.maps[0].source != d.maps[1].source)
			append_value_source(&d, d.maps[0].source, &f->caption);
		dp_buf_printf(&f->caption, " and %s", o[d.s->y_obj].name);
		append_value_source(&d, d.maps[1].source, &f->caption);
	}
	dp_buf_putc(&f->caption, '.');
	if (d.front.n) {
		dp_buf_puts(&f->caption, plane ? " Bottom: colours mark " : " Colours mark ");
		fig_count(&f->caption, d.front.n, "point");
		dp_buf_putc(&f->caption, ' ');
		fig_append_front_name(d.s, &f->caption);
		dp_buf_puts(&f->caption, ", the same in each panel.");
	} else {
		dp_buf_puts(&f->caption, " There is no front: no point meets the constraints "
					 "with finite values.");
	}
	space_append_slice(&d.slice, &f->caption);
	return DP_OK;
}

const struct figure figure_objective_maps = {
	.name = "oracles",
	.title = "Objectives over the parameters",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.make = maps_make,
};
