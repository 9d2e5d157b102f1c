/* gd_backend.c - draw figures as pixels for PNG: text by libgd, shapes by raster.c. */
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

/* Converts to image pixels, clamped to the range of int. */
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

static void gd_fill(struct canvas *c, plot_colour colour, double opacity)
{
	raster_fill(&gd_get_surface(c)->raster, gd_get_surface(c)->im, colour, opacity);
}

static void gd_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		       double opacity)
{
	raster_add_polygon(&gd_get_surface(c)->raster, p, n);
	gd_fill(c, colour, opacity);
}

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

static void gd_markers(struct canvas *c, const struct point *at, size_t n,
		       const struct plot_style *s)
{
	struct raster *r = &gd_get_surface(c)->raster;
	double radius = s->size / 2, inner = fmax(radius - s->width, 0);
	struct point p[MARKER_CORNERS_MAX];

	for (size_t i = 0; i < n; i++) {
		if (s->outline)
			gd_polygon(c, p, gd_corners(s, radius, 1, at[i], p), WHITE, s->opacity);
		raster_add_polygon(r, p, gd_corners(s, radius, 0, at[i], p));
		if (s->marker == PLOT_RING)
			raster_add_hole(r, p, gd_corners(s, inner, 0, at[i], p));
		gd_fill(c, s->colour, s->opacity);
	}
}

static void gd_text(struct canvas *c, enum font f, struct point at, double across, double angle,
		    const char *text, plot_colour colour)
{
	text_draw_on_image(c, gd_get_surface(c)->im, canvas_zoom(c), f,
			   text_pen_start(c, f, at, across, angle, text), angle, text, colour);
}

enum {
	STROKE_CROSSINGS_MAX = 1 << 19 /* paint an opaque line in parts after this many crossings */
};

static void stroke_disc(struct canvas *c, struct point at, double radius)
{
	enum {
		CORNERS = 16
	};
	struct point p[CORNERS];

	for (int i = 0; i < CORNERS; i++) {
		double turn = 2 * M_PI * i / CORNERS;

		p[i] = (struct point){ at.x + radius * cos(turn), at.y + radius * sin(turn) };
	}
	raster_add_polygon(&gd_get_surface(c)->raster, p, CORNERS);
}

/* Unit direction from a to b; false if the points coincide. */
static bool stroke_direction(struct point a, struct point b, struct point *d)
{
	double length = hypot(b.x - a.x, b.y - a.y);

	if (!(length > 1e-9))
		return false;
	*d = (struct point){ (b.x - a.x) / length, (b.y - a.y) / length };
	return true;
}

/* Fills the wedge between two segments: mitred, or round at a sharp turn. */
static void stroke_join(struct canvas *c, struct point at, struct point d, struct point e,
			double half)
{
	double along = d.x * e.x + d.y * e.y, side = d.x * e.y - d.y * e.x;
	double out = side > 0 ? -half : half;
	struct point m = { -d.y * out, d.x * out }, n = { -e.y * out, e.x * out };
	struct point p[4];

	if (along < -0.2) {
		stroke_disc(c, at, half);
		return;
	}
	p[0] = at;
	p[1] = (struct point){ at.x + m.x, at.y + m.y };
	p[2] = (struct point){ at.x + (m.x + n.x) / (1 + along), at.y + (m.y + n.y) / (1 + along) };
	p[3] = (struct point){ at.x + n.x, at.y + n.y };
	raster_add_polygon(&gd_get_surface(c)->raster, p, 4);
}

static void stroke_solid(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
			 bool caps)
{
	double half = pen->width / 2, x, y;
	struct point d, before = { 0, 0 }, first = { 0, 0 }, at = p[0];
	bool closed = n > 2 && p[0].x == p[n - 1].x && p[0].y == p[n - 1].y, any = false;

	for (size_t i = 1; i < n; i++) {
		if (!stroke_direction(at, p[i], &d))
			continue;
		x = -d.y * half;
		y = d.x * half;
		raster_add_polygon(&gd_get_surface(c)->raster,
				   (struct point[4]){ { at.x + x, at.y + y },
						      { p[i].x + x, p[i].y + y },
						      { p[i].x - x, p[i].y - y },
						      { at.x - x, at.y - y } },
				   4);
		if (any)
			stroke_join(c, at, before, d, half);
		else
			first = d;
		any = true;
		before = d;
		at = p[i];
		if (gd_get_surface(c)->raster.n > STROKE_CROSSINGS_MAX && pen->opacity >= 1)
			gd_fill(c, pen->colour, pen->opacity);
	}
	if (any && closed) {
		stroke_join(c, at, before, first, half);
	} else if (caps || !any) {
		stroke_disc(c, p[0], half);
		stroke_disc(c, at, half);
	}
}

/* Walks along a line and draws `on` of every `period`; an `on` of 0 makes dots. */
struct dash_walk {
	struct canvas *c;
	const struct pen *pen;
	double on, period;
	double pattern_offset; /* position within the pattern */
	struct point *dash;    /* the current dash */
	size_t n;
};

static void dash_walk_toggle(struct dash_walk *w, struct point here)
{
	if (w->pattern_offset < w->on) {
		w->dash[w->n++] = here;
		stroke_solid(w->c, w->dash, w->n, w->pen, false);
		w->n = 0;
		w->pattern_offset = w->on;
		return;
	}
	if (w->on > 0)
		w->dash[w->n++] = here;
	else
		stroke_disc(w->c, here, w->pen->width / 2);
	w->pattern_offset = 0;
}

static void dash_walk_segment(struct dash_walk *w, struct point a, struct point b)
{
	double length = hypot(b.x - a.x, b.y - a.y), gone = 0, next;
	struct point d;

	if (!stroke_direction(a, b, &d))
		return;
	for (;; gone = next) {
		next = gone + (w->pattern_offset < w->on ? w->on : w->period) - w->pattern_offset;
		if (next > length)
			break;
		dash_walk_toggle(w, (struct point){ a.x + d.x * next, a.y + d.y * next });
	}
	w->pattern_offset += length - gone;
	if (w->n)
		w->dash[w->n++] = b;
}

/* `phase`: the length of the line before its first point. */
static void gd_stroke(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
		      double phase)
{
	struct dash_walk w = { .c = c, .pen = pen };

	if (pen->dash == PLOT_SOLID) {
		stroke_solid(c, p, n, pen, true);
	} else {
		w.period = pen_dash_period(pen, &w.on);
		w.pattern_offset = fmod(phase, w.period);
		w.dash = dp_calloc(n + 2, sizeof *w.dash);
		if (w.pattern_offset < w.on)
			w.dash[w.n++] = p[0];
		for (size_t i = 1; i < n; i++)
			dash_walk_segment(&w, p[i - 1], p[i]);
		if (w.n > 1)
			stroke_solid(c, w.dash, w.n, pen, false);
		free(w.dash);
	}
	gd_fill(c, pen->colour, pen->opacity);
}

const struct plot_backend plot_backend_gd = {
	.open = gd_open,
	.finish = gd_finish,
	.close = gd_close,
	.clip = gd_clip,
	.polygon = gd_polygon,
	.stroke = gd_stroke,
	.markers = gd_markers,
	.cells = heat_cells_draw_rects,
	.text = gd_text,
};
