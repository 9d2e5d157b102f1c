/* canvas.c - what all forms of a picture have in common. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

int canvas_open(struct canvas *c, const struct back_end *back, bool print, struct dp_err *err)
{
	*c = (struct canvas){ .back = back, .print = print };
	return text_open(c, err);
}

int canvas_begin(struct canvas *c, double width, double height, struct dp_err *err)
{
	int code;

	c->width = width;
	c->height = height;
	code = c->back->open(c, err);
	if (code == DP_OK)
		canvas_clip(c, NULL);
	return code;
}

void canvas_close(struct canvas *c)
{
	if (c->ink)
		c->back->close(c);
	text_close(c);
	free(c->run);
	*c = (struct canvas){ 0 };
}

int canvas_finish(struct canvas *c, struct dp_buf *out, struct dp_err *err)
{
	if (c->failed)
		return dp_fail(err, DP_E_NOMEM, "out of memory while drawing");
	return c->back->finish(c, out, err);
}

double canvas_zoom(const struct canvas *c)
{
	return c->print ? 4 : 2; /* 384 and 192 pixels to the inch */
}

double canvas_sharp(const struct canvas *c, double css)
{
	return round(css * canvas_zoom(c)) / canvas_zoom(c);
}

void canvas_clip(struct canvas *c, const struct rect *clip)
{
	c->clip = clip ? *clip : (struct rect){ 0, 0, c->width, c->height };
	c->back->clip(c);
}

void canvas_item(struct canvas *c, const char *tip, const char *link)
{
	c->tip = tip;
	c->link = link;
}

void canvas_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		    double opacity)
{
	c->back->polygon(c, p, n, colour, opacity);
}

void canvas_block(struct canvas *c, struct rect b, plot_colour colour, double opacity)
{
	struct rect r = { canvas_sharp(c, b.x0), canvas_sharp(c, b.y0), canvas_sharp(c, b.x1),
			  canvas_sharp(c, b.y1) };

	c->back->block(c, r, colour, opacity);
}

void canvas_rule(struct canvas *c, struct point a, struct point b, plot_colour colour)
{
	struct rect r = { a.x, a.y, b.x, b.y };

	if (a.x == b.x)
		r.x1 = (r.x0 -= 0.5) + 1;
	else
		r.y1 = (r.y0 -= 0.5) + 1;
	canvas_block(c, r, colour, 1);
}

void canvas_markers(struct canvas *c, const struct point *at, size_t n, const struct plot_style *s)
{
	if (n)
		c->back->markers(c, at, n, s);
}

void canvas_begin_card(struct canvas *c, struct rect r)
{
	if (c->back->card)
		c->back->card(c, r);
	c->on_colours = true;
}

void canvas_end_card(struct canvas *c)
{
	c->on_colours = false;
}

void canvas_cells(struct canvas *c, const struct cells *cells)
{
	if (cells->nx && cells->ny)
		c->back->cells(c, cells);
}
