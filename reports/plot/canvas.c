/* canvas.c - what all forms of a picture have in common. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

int canvas_open(struct canvas *c, const struct plot_backend *back, bool print, struct dp_err *err)
{
	*c = (struct canvas){ .backend = back, .for_print = print };
	return text_load_fonts(c, err);
}

void canvas_start_drawing(struct canvas *c, double width, double height)
{
	c->width = width;
	c->height = height;
	c->backend->open(c);
	canvas_clip(c, NULL);
}

void canvas_close(struct canvas *c)
{
	if (c->backend_data)
		c->backend->close(c);
	text_unload_fonts(c);
	free(c->line_points);
	*c = (struct canvas){ 0 };
}

double canvas_zoom(const struct canvas *c)
{
	return c->for_print ? 4 : 2; /* 384 and 192 pixels to the inch */
}

double canvas_snap_to_pixel(const struct canvas *c, double css)
{
	return round(css * canvas_zoom(c)) / canvas_zoom(c);
}

void canvas_clip(struct canvas *c, const struct rect *clip)
{
	c->clip = clip ? *clip : (struct rect){ 0, 0, c->width, c->height };
	c->backend->clip(c);
}

void canvas_set_tooltip(struct canvas *c, const char *tip, const char *link)
{
	c->tooltip = tip;
	c->link = link;
}

void canvas_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		    double opacity)
{
	c->backend->polygon(c, p, n, colour, opacity);
}

void canvas_fill_rect(struct canvas *c, struct rect b, plot_colour colour, double opacity)
{
	struct rect r = { canvas_snap_to_pixel(c, b.x0), canvas_snap_to_pixel(c, b.y0),
			  canvas_snap_to_pixel(c, b.x1), canvas_snap_to_pixel(c, b.y1) };

	c->backend->rect(c, r, colour, opacity);
}

void canvas_rule(struct canvas *c, struct point a, struct point b, plot_colour colour)
{
	struct rect r = { a.x, a.y, b.x, b.y };

	if (a.x == b.x)
		r.x1 = (r.x0 -= 0.5) + 1;
	else
		r.y1 = (r.y0 -= 0.5) + 1;
	canvas_fill_rect(c, r, colour, 1);
}

void canvas_markers(struct canvas *c, const struct point *at, size_t n, const struct plot_style *s)
{
	if (n)
		c->backend->markers(c, at, n, s);
}

void canvas_begin_light_background(struct canvas *c, struct rect r)
{
	if (c->backend->light_background)
		c->backend->light_background(c, r);
	c->keep_colours = true;
}

void canvas_end_light_background(struct canvas *c)
{
	c->keep_colours = false;
}

void canvas_cells(struct canvas *c, const struct heat_cells *cells)
{
	if (cells->nx && cells->ny)
		c->backend->cells(c, cells);
}
