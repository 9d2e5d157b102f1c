/* gd_stroke.c - lines of the back end that paints: cut into dashes, and made into shapes. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

enum {
	STROKE_CROSSINGS_MAX = 1 << 19 /* crossings after which an opaque line is painted so far */
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

/* Unit direction from a to b; false where they are the same place. */
static bool stroke_direction(struct point a, struct point b, struct point *d)
{
	double length = hypot(b.x - a.x, b.y - a.y);

	if (!(length > 1e-9))
		return false;
	*d = (struct point){ (b.x - a.x) / length, (b.y - a.y) / length };
	return true;
}

static void stroke_add_segment(struct canvas *c, struct point a, struct point b, struct point d,
			       double half)
{
	double x = -d.y * half, y = d.x * half;
	struct point p[4] = { { a.x + x, a.y + y },
			      { b.x + x, b.y + y },
			      { b.x - x, b.y - y },
			      { a.x - x, a.y - y } };

	raster_add_polygon(&gd_get_surface(c)->raster, p, 4);
}

/* Fills the wedge between two bars that meet: pointed, or round at a sharp turn. */
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
	double half = pen->width / 2;
	struct point d, before = { 0, 0 }, first = { 0, 0 }, at = p[0];
	bool closed = n > 2 && p[0].x == p[n - 1].x && p[0].y == p[n - 1].y, any = false;

	for (size_t i = 1; i < n; i++) {
		if (!stroke_direction(at, p[i], &d))
			continue;
		stroke_add_segment(c, at, p[i], d, half);
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

/* A walk along a line that draws `on` of every `period`; an `on` of 0 makes dots. */
struct dash_walk {
	struct canvas *c;
	const struct pen *pen;
	double on, period;
	double pattern_offset; /* how far into the pattern */
	struct point *dash;    /* the one that is being drawn */
	size_t n;
};

/* A dash begins or ends here. */
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

/* `phase` is how far the line went before it begins here. */
static void stroke_dashed(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
			  double phase)
{
	struct dash_walk w = { .c = c, .pen = pen };

	w.period = pen_dash_period(pen, &w.on);
	w.pattern_offset = fmod(phase, w.period);
	w.dash = dp_malloc((n + 2) * sizeof *w.dash);
	if (w.pattern_offset < w.on)
		w.dash[w.n++] = p[0];
	for (size_t i = 1; i < n; i++)
		dash_walk_segment(&w, p[i - 1], p[i]);
	if (w.n > 1)
		stroke_solid(c, w.dash, w.n, pen, false);
	free(w.dash);
}

void gd_stroke(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
	       double phase)
{
	if (pen->dash == PLOT_SOLID)
		stroke_solid(c, p, n, pen, true);
	else
		stroke_dashed(c, p, n, pen, phase);
	gd_fill(c, pen->colour, pen->opacity);
}
