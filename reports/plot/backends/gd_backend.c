/* gd_backend.c - the back end that paints pixels, for PNG: text by libgd, shapes by raster.c. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

struct gd_surface *gd_get_surface(const struct canvas *c)
{
	return c->backend_data;
}

static void gd_open(struct canvas *c)
{
	double zoom = canvas_zoom(c);
	int w = (int)lrint(c->width * zoom), h = (int)lrint(c->height * zoom);
	struct gd_surface *g = c->backend_data = dp_calloc(1, sizeof *g);

	g->im = gdImageCreateTrueColor(w, h);
	if (!g->im)
		dp_out_of_memory();
	raster_open(&g->raster, w, h, zoom);
	for (int y = 0; y < h; y++) {
		for (int x = 0; x < w; x++)
			g->im->tpixels[y][x] = WHITE;
	}
}

static void gd_close(struct canvas *c)
{
	struct gd_surface *g = gd_get_surface(c);

	raster_close(&g->raster);
	gdImageDestroy(g->im);
	free(g);
}

static int gd_finish(struct canvas *c, struct dp_buf *out, struct dp_err *err)
{
	(void)err;
	png_encode_image(gd_get_surface(c)->im, canvas_zoom(c), out);
	return DP_OK;
}

/* Into the picture's pixels, without leaving what an int can hold. */
static int gd_pixel(const struct canvas *c, double css, int limit)
{
	return (int)lrint(fmin(fmax(css * canvas_zoom(c), 0), limit));
}

static void gd_clip(struct canvas *c)
{
	struct raster *r = &gd_get_surface(c)->raster;

	r->x0 = gd_pixel(c, c->clip.x0, r->width);
	r->x1 = gd_pixel(c, c->clip.x1, r->width);
	r->y0 = gd_pixel(c, c->clip.y0, r->height);
	r->y1 = gd_pixel(c, c->clip.y1, r->height);
}

void gd_fill(struct canvas *c, plot_colour colour, double opacity)
{
	raster_fill(&gd_get_surface(c)->raster, gd_get_surface(c)->im, colour, opacity);
}

static void gd_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		       double opacity)
{
	raster_add_polygon(&gd_get_surface(c)->raster, p, n);
	gd_fill(c, colour, opacity);
}

static void gd_rect(struct canvas *c, struct rect r, plot_colour colour, double opacity)
{
	struct point p[4] = { { r.x0, r.y0 }, { r.x1, r.y0 }, { r.x1, r.y1 }, { r.x0, r.y1 } };

	gd_polygon(c, p, 4, colour, opacity);
}

/* The corners of a marker that stands there. */
static size_t gd_corners(const struct plot_style *s, double radius, double grow, struct point at,
			 struct point p[MARKER_CORNERS_MAX])
{
	size_t n = marker_corners(s->marker, radius, grow, p);

	for (size_t i = 0; i < n; i++) {
		p[i].x += at.x;
		p[i].y += at.y;
	}
	return n;
}

static void gd_marker(struct canvas *c, struct point at, const struct plot_style *s)
{
	struct point p[MARKER_CORNERS_MAX];
	double radius = s->size / 2;
	size_t n;

	if (s->outline) {
		n = gd_corners(s, radius, 1, at, p);
		gd_polygon(c, p, n, WHITE, s->opacity);
	}
	n = gd_corners(s, radius, 0, at, p);
	raster_add_polygon(&gd_get_surface(c)->raster, p, n);
	if (s->marker == PLOT_RING) {
		n = gd_corners(s, fmax(radius - s->width, 0), 0, at, p);
		raster_add_hole(&gd_get_surface(c)->raster, p, n);
	}
	gd_fill(c, s->colour, s->opacity);
}

static void gd_markers(struct canvas *c, const struct point *at, size_t n,
		       const struct plot_style *s)
{
	for (size_t i = 0; i < n; i++)
		gd_marker(c, at[i], s);
}

static void gd_text(struct canvas *c, enum font f, struct point at, double across, double angle,
		    const char *text, plot_colour colour)
{
	text_draw_on_image(c, gd_get_surface(c)->im, canvas_zoom(c), f,
			   text_pen_start(c, f, at, across, angle, text), angle, text, colour);
}

const struct plot_backend plot_backend_gd = {
	.open = gd_open,
	.finish = gd_finish,
	.close = gd_close,
	.clip = gd_clip,
	.polygon = gd_polygon,
	.rect = gd_rect,
	.stroke = gd_stroke,
	.markers = gd_markers,
	.cells = heat_cells_draw_rects,
	.text = gd_text,
};
