/* objective_maps.c - the two objectives over the parameters that matter most, the front, and
 * where its points lie in the space. Its file is called oracles.png, as in the paper. */
#include "reports/figures/common/param_space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FRONT_COLOURS_MAX = 24, /* colours along the front */
};

/* Evaluated points and the front's at two coordinates. */
struct maps_points {
	struct fig_points all, front;
};

struct maps_data {
	const struct study_data *s;
	struct space_slice slice;
	struct fig_points all, front; /* on the plane of the objectives */
	struct maps_objective {
		size_t objective;
		enum space_source source;
		double *values; /* (cells of the slice), or NULL: only points are known */
		struct fig_points marked_points; /* of the points that colour their cells */
		struct maps_points points;       /* against the only parameter */
	} maps[2];
	struct fig_points staircase;                     /* of the front */
	struct maps_points on_objectives, on_parameters; /* on both planes */
};

/* ---- gathering ---- */

static int gather_front_and_all(const struct maps_data *d, struct space_coordinate x,
				struct space_coordinate y, struct maps_points *out,
				struct dp_err *err)
{
	int code = space_collect_points(d->s, NULL, x, y, &out->all, err);

	return code == DP_OK ? space_collect_points(d->s, &d->front, x, y, &out->front, err) : code;
}

/* The objective's values in every cell; `known` has what the models say, once it was
 * asked for. */
static int gather_values(const struct maps_data *d, struct maps_objective *m,
			 struct space_prediction *known, struct dp_err *err)
{
	int code = DP_OK;

	m->values = dp_malloc(space_count_cells(&d->slice) * sizeof *m->values);
	if (!m->values)
		return fig_nomem(err);
	if (m->source != SPACE_PREDICTED)
		return space_values(&d->slice, m->objective, m->values, err);
	if (!known->y)
		code = space_predict(&d->slice, known, err);
	if (code == DP_OK)
		space_predicted_objective(&d->slice, known, m->objective, m->values);
	return code;
}

/* With one parameter: a curve where an oracle or a model knows it, and all points. */
static int gather_line(const struct maps_data *d, struct maps_objective *m,
		       struct space_prediction *known, struct dp_err *err)
{
	int code = m->source == SPACE_COMPUTED || m->source == SPACE_PREDICTED
			   ? gather_values(d, m, known, err)
			   : DP_OK;

	if (code == DP_OK)
		code = gather_front_and_all(d, (struct space_coordinate){ false, d->slice.x.param },
					    (struct space_coordinate){ true, m->objective },
					    &m->points, err);
	return code;
}

/* A map, with the evaluated points where each colours its surroundings, or a model goes
 * by them and nothing is projected. */
static int gather_map(const struct maps_data *d, struct maps_objective *m,
		      struct space_prediction *known, struct dp_err *err)
{
	int code = gather_values(d, m, known, err);

	if (code == DP_OK &&
	    (m->source == SPACE_NEAREST || (m->source == SPACE_PREDICTED && d->slice.nfree == 2)))
		code = space_collect_points(d->s, NULL,
					    (struct space_coordinate){ false, d->slice.x.param },
					    (struct space_coordinate){ false, d->slice.y.param },
					    &m->marked_points, err);
	return code;
}

static int gather_objectives(struct maps_data *d, struct dp_err *err)
{
	const size_t objective[2] = { d->s->x_obj, d->s->y_obj };
	struct space_prediction known = { 0 };
	int code = DP_OK;

	for (int i = 0; code == DP_OK && i < 2; i++) {
		struct maps_objective *m = &d->maps[i];

		m->objective = objective[i];
		m->source = space_source(&d->slice, objective[i]);
		code = d->slice.nfree > 1 ? gather_map(d, m, &known, err)
					  : gather_line(d, m, &known, err);
	}
	space_prediction_free(&known);
	return code;
}

static int gather_maps(struct maps_data *d, struct dp_err *err)
{
	const struct study_data *s = d->s;
	int code;

	if ((code = space_slice(s, true, &d->slice, err)) != DP_OK ||
	    (code = fig_collect_points(s, &d->all, err)) != DP_OK ||
	    (code = fig_study_front(s, &d->front, err)) != DP_OK ||
	    (code = fig_staircase(s, &d->front, NAN, NAN, &d->staircase, err)) != DP_OK ||
	    (code = gather_objectives(d, err)) != DP_OK ||
	    (code = gather_front_and_all(d, (struct space_coordinate){ true, s->x_obj },
					 (struct space_coordinate){ true, s->y_obj },
					 &d->on_objectives, err)) != DP_OK)
		return code;
	if (d->slice.nfree == 1)
		return DP_OK;
	return gather_front_and_all(d, (struct space_coordinate){ false, d->slice.x.param },
				    (struct space_coordinate){ false, d->slice.y.param },
				    &d->on_parameters, err);
}

static int maps_gather(const struct report_data *r, void *data, const char **why,
		       struct dp_err *err)
{
	struct maps_data *d = data;
	size_t param[DP_PARAMS_MAX];

	d->s = fig_main_study(r, why);
	if (d->s && !d->s->npoints)
		*why = "no trial has given a result";
	else if (d->s && !space_searched_params(d->s->state->spec, param))
		*why = "all parameters are fixed";
	return *why ? DP_OK : gather_maps(d, err);
}

static void maps_points_free(struct maps_points *p)
{
	fig_points_free(&p->all);
	fig_points_free(&p->front);
}

static void maps_release(void *data)
{
	struct maps_data *d = data;

	space_slice_free(&d->slice);
	fig_points_free(&d->all);
	fig_points_free(&d->front);
	fig_points_free(&d->staircase);
	maps_points_free(&d->on_objectives);
	maps_points_free(&d->on_parameters);
	for (int i = 0; i < 2; i++) {
		free(d->maps[i].values);
		fig_points_free(&d->maps[i].marked_points);
		maps_points_free(&d->maps[i].points);
	}
}

/* ---- panels ---- */

/* Points of the front in colours that run along it, the same ones in every panel. */
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
	struct plot_style light = space_background_style(p->all.n, false);

	panel_points(a, &light, NULL, p->all.x, p->all.y, p->all.n);
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
		source = SPACE_EVALUATED; /* points on a line need no neighbours */
	snprintf(text, sizeof text, "%s, %s", d->s->state->spec->objectives[m->objective].name,
		 how[source]);
	panel_title(a, text);
}

static void draw_map(struct plot_panel *a, const struct maps_data *d,
		     const struct maps_objective *m)
{
	struct dp_buf label = DP_BUF_INIT;

	maps_title(a, d, m);
	fig_label(d->s, m->objective, &label);
	space_heat(a, &d->slice, m->values, &d->s->state->spec->objectives[m->objective],
		   panel_buf_text(a, &label));
	space_draw_anchor(a, &d->slice);
	if (m->marked_points.n) {
		struct plot_style white = space_background_style(m->marked_points.n, true);

		panel_points(a, &white, NULL, m->marked_points.x, m->marked_points.y,
			     m->marked_points.n);
	}
	dp_buf_free(&label);
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

static void draw_objective_plane(struct plot_panel *a, const struct maps_data *d)
{
	struct plot_style line = { .colour = plot_palette(PLOT_GREY), .width = 1.2 };

	panel_title(a, d->front.n ? "the front" : "no front: no point qualifies");
	fig_axis(a, PLOT_X, d->s, d->s->x_obj,
		 fig_objective_scale(d->s, d->s->x_obj, d->all.x, d->all.n));
	fig_axis(a, PLOT_Y, d->s, d->s->y_obj,
		 fig_objective_scale(d->s, d->s->y_obj, d->all.y, d->all.n));
	panel_line(a, &line, NULL, d->staircase.x, d->staircase.y, d->staircase.n);
	draw_front_and_all(a, &d->on_objectives);
}

static void draw_parameter_plane(struct plot_panel *a, const struct maps_data *d)
{
	const struct space_cells *x = &d->slice.x, *y = &d->slice.y;

	panel_title(a, "its points in the parameter space");
	space_axis(a, PLOT_X, d->s->state->spec, x->param);
	space_axis(a, PLOT_Y, d->s->state->spec, y->param);
	panel_limits(a, PLOT_X, x->edge[0], x->edge[x->n]);
	panel_limits(a, PLOT_Y, y->edge[0], y->edge[y->n]);
	draw_front_and_all(a, &d->on_parameters);
}

static struct plot *maps_draw(const void *data)
{
	const struct maps_data *d = data;
	bool plane = d->slice.nfree > 1;
	struct plot *p =
		fig_new(d->s, figure_objective_maps.title, plane ? 920 : 1080, plane ? 760 : 380);

	plot_grid(p, plane ? 2 : 1, plane ? 2 : 3);
	for (int i = 0; i < 2; i++) {
		struct plot_panel *a = plot_panel(p, 0, i);

		if (plane)
			draw_map(a, d, &d->maps[i]);
		else
			draw_objective_line(a, d, &d->maps[i]);
	}
	draw_objective_plane(plot_panel(p, plane ? 1 : 0, plane ? 0 : 2), d);
	if (plane)
		draw_parameter_plane(plot_panel(p, 1, 1), d);
	return p;
}

/* ---- in words ---- */

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

static void append_maps_sources(const struct maps_data *d, struct dp_buf *out)
{
	const struct dp_objective *o = d->s->state->spec->objectives;

	if (d->slice.nfree == 1) {
		dp_buf_printf(out, "Both objectives against %s for ",
			      d->s->state->spec->params[d->slice.x.param].name);
		fig_count_results(out, d->s);
	} else {
		dp_buf_printf(out, "Top: %s", o[d->s->x_obj].name);
		if (d->maps[0].source != d->maps[1].source)
			append_value_source(d, d->maps[0].source, out);
		dp_buf_printf(out, " and %s", o[d->s->y_obj].name);
		append_value_source(d, d->maps[1].source, out);
	}
	dp_buf_putc(out, '.');
}

static void maps_caption(const void *data, struct dp_buf *out)
{
	const struct maps_data *d = data;

	append_maps_sources(d, out);
	if (d->front.n) {
		dp_buf_puts(out, d->slice.nfree == 1 ? " Colours mark " : " Bottom: colours mark ");
		fig_count(out, d->front.n, "point");
		dp_buf_putc(out, ' ');
		fig_append_front_name(d->s, out);
		dp_buf_puts(out, ", the same in each panel.");
	} else {
		dp_buf_puts(out, " There is no front: no point meets the constraints "
				 "with finite values.");
	}
	space_append_slice(&d->slice, out);
}

const struct figure figure_objective_maps = {
	.name = "oracles",
	.title = "Objectives over the parameters",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.data_size = sizeof(struct maps_data),
	.gather = maps_gather,
	.draw = maps_draw,
	.caption = maps_caption,
	.free_data = maps_release,
};
