/* plot_render.c - render a figure from its description. */
#include "reports/plot/plot_internal.h"

#include <math.h>

static void draw_panel_title_and_legend(struct canvas *c, const struct plot_panel *a)
{
	const struct rect *r = &a->area;
	struct rect box = *r;

	/* titles of a row are aligned; a legend is next to its panel */
	text_draw_lines(c, FONT_PANEL, (struct point){ r->x0, a->top }, 0, &a->heading,
			TITLE_COLOUR);
	text_draw(c, FONT_PANEL,
		  (struct point){ a->left, a->top + text_line_height(c, FONT_PANEL) / 2 }, 0, 0,
		  a->letter, TITLE_COLOUR);
	if (a->legend.beside) {
		box.x0 = r->x1 + a->margins.right - a->legend.width;
		box.x1 = r->x1 + a->margins.right;
	} else {
		box.y0 = r->y0 - a->margins.top + panel_heading_height(c, a);
	}
	legend_draw(c, &a->legend, &box);
}

static void draw_empty_panel_text(struct canvas *c, struct plot_panel *a)
{
	const struct rect *r = &a->area;
	double line = text_line_height(c, FONT_AXIS);
	const char *why = a->empty_text ? a->empty_text
			  : a->axis[PLOT_X].has_hidden_values || a->axis[PLOT_Y].has_hidden_values
				  ? "no positive values for a logarithmic axis"
				  : "nothing to show yet";
	size_t most = (size_t)fmin((r->y1 - r->y0) / line, WRAPPED_LINES_MAX);
	struct wrapped_text l;

	text_wrap(c, FONT_AXIS, why, (r->x1 - r->x0) * 0.85, most < 1 ? 1 : most, &l);
	text_draw_lines(
		c, FONT_AXIS,
		(struct point){ (r->x0 + r->x1) / 2, (r->y0 + r->y1) / 2 - (double)l.n * line / 2 },
		0.5, &l, NOTE_COLOUR);
}

static void draw_panel(struct canvas *c, struct plot_panel *a)
{
	bool card = false; /* needs a light background in dark mode */

	draw_panel_title_and_legend(c, a);
	if (a->parallel) {
		parallel_draw(c, a->parallel, &a->area);
		colourbar_draw(c, &a->parallel->bar, &a->area);
		return;
	}
	for (size_t i = 0; !a->heatmap && i < a->nseries; i++)
		card |= colour_invisible_on_dark(a->series[i].style.colour);
	if (card)
		canvas_begin_light_background(c, a->area);
	axes_draw_grid(c, a);
	canvas_end_light_background(c);
	if (a->heatmap && panel_has_data(a)) {
		heatmap_draw(c, a);
		if (!a->plot->shared_colourbar)
			colourbar_draw(c, &a->heatmap->bar, &a->area);
	}
	axes_draw(c, a);
	if (!panel_has_data(a)) {
		draw_empty_panel_text(c, a);
		return;
	}
	c->keep_colours = a->heatmap || card;
	for (size_t i = 0; i < a->nseries; i++)
		series_draw(c, a, &a->series[i]);
	labels_draw(c, a);
	c->keep_colours = false;
}

static const struct plot_backend *const plot_backends[] = {
	[PLOT_PNG] = &plot_backend_gd,
	[PLOT_SVG] = &plot_backend_svg,
	[PLOT_INLINE_SVG] = &plot_backend_inline_svg,
	[PLOT_PDF] = &plot_backend_pdf,
};

int plot_render(struct plot *p, enum plot_format form, struct dp_buf *out, struct dp_err *err)
{
	const struct rect *r = &p->frame;
	struct plot_panel *a;
	struct canvas c;
	double notes_height;
	int code = canvas_open(&c, plot_backends[form], p->for_print, err);

	if (code == DP_OK) {
		c.plot = p;
		plot_layout(&c, p);
		canvas_start_drawing(&c, p->width, p->height);
		notes_height = (double)p->notes.n * text_line_height(&c, FONT_NOTE);
		text_draw_lines(&c, FONT_TITLE, (struct point){ r->x0, r->y0 }, 0, &p->heading,
				TITLE_COLOUR);
		text_draw_lines(&c, FONT_NOTE, (struct point){ r->x0, r->y1 - notes_height }, 0,
				&p->notes, NOTE_COLOUR);
		legend_draw(&c, &p->legend, &p->legend_box);
		for (int i = 0; (a = plot_next_panel(p, &i));)
			draw_panel(&c, a);
		if (p->shared_colourbar)
			colourbar_draw(&c, p->shared_colourbar, &p->colourbar_area);
		code = c.backend->finish(&c, out, err);
	}
	canvas_close(&c);
	return code;
}
