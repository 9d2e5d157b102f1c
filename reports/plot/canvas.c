/* canvas.c - a picture drawn in CSS pixels, and its PNG. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

int canvas_open(struct canvas *c, int width, int height, struct dp_err *err)
{
	int w = width * PLOT_ZOOM, h = height * PLOT_ZOOM;

	*c = (struct canvas){ .width = width, .height = height };
	c->im = gdImageCreateTrueColor(w, h);
	if (!c->im || !raster_open(&c->raster, w, h)) {
		canvas_close(c);
		return dp_fail(err, DP_E_NOMEM, "out of memory for a picture of %d x %d",
			       w, h);
	}
	for (int y = 0; y < h; y++) {
		for (int x = 0; x < w; x++)
			c->im->tpixels[y][x] = WHITE;
	}
	canvas_clip(c, NULL);
	return text_open(c, err);
}

void canvas_close(struct canvas *c)
{
	text_close(c);
	free(c->run);
	raster_close(&c->raster);
	if (c->im)
		gdImageDestroy(c->im);
	*c = (struct canvas){ 0 };
}

int canvas_png(struct canvas *c, struct dp_buf *out, struct dp_err *err)
{
	if (c->failed || c->raster.failed)
		return dp_fail(err, DP_E_NOMEM, "out of memory while drawing");
	return png_bytes(c->im, out, err);
}

/* Into the picture's pixels, without leaving what an int can hold. */
static int canvas_pixel(double css, int limit)
{
	return (int)lrint(fmin(fmax(css * PLOT_ZOOM, 0), limit));
}

void canvas_clip(struct canvas *c, const struct rect *clip)
{
	struct rect all = { 0, 0, c->width, c->height };
	struct raster *r = &c->raster;

	c->clip = clip ? *clip : all;
	r->x0 = canvas_pixel(c->clip.x0, r->width);
	r->x1 = canvas_pixel(c->clip.x1, r->width);
	r->y0 = canvas_pixel(c->clip.y0, r->height);
	r->y1 = canvas_pixel(c->clip.y1, r->height);
}

void canvas_fill(struct canvas *c, plot_colour colour, double opacity)
{
	raster_fill(&c->raster, c->im, colour, opacity);
}

void canvas_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		    double opacity)
{
	raster_add(&c->raster, p, n);
	canvas_fill(c, colour, opacity);
}

/* To the nearest edge of a pixel. */
static double canvas_sharp(double css)
{
	return round(css * PLOT_ZOOM) / PLOT_ZOOM;
}

void canvas_block(struct canvas *c, struct rect b, plot_colour colour, double opacity)
{
	double x0 = canvas_sharp(b.x0), y0 = canvas_sharp(b.y0), x1 = canvas_sharp(b.x1),
	       y1 = canvas_sharp(b.y1);
	struct point p[4] = { { x0, y0 }, { x1, y0 }, { x1, y1 }, { x0, y1 } };

	canvas_polygon(c, p, 4, colour, opacity);
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
