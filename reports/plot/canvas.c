/* canvas.c - drawing shared by all back ends: clipped lines, markers, sharp rectangles. */
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
	return c->for_print ? 4 : 2; /* 384 and 192 pixels per inch */
}

static double snap_to_pixel(const struct canvas *c, double css)
{
	return round(css * canvas_zoom(c)) / canvas_zoom(c);
}

struct rect canvas_snap_rect(const struct canvas *c, struct rect r)
{
	return (struct rect){ snap_to_pixel(c, r.x0), snap_to_pixel(c, r.y0),
			      snap_to_pixel(c, r.x1), snap_to_pixel(c, r.y1) };
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
	struct rect r = canvas_snap_rect(c, b);
	struct point p[4] = { { r.x0, r.y0 }, { r.x1, r.y0 }, { r.x1, r.y1 }, { r.x0, r.y1 } };

	if (c->backend->rect)
		c->backend->rect(c, r, colour, opacity);
	else
		c->backend->polygon(c, p, 4, colour, opacity);
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

/* Moves the end of a-b that is outside to the edge; `inside` values are >= 0. */
static bool clip_to_edge(double in_a, double in_b, double *from, double *to)
{
	double t;

	if (in_a < 0 && in_b < 0)
		return false;
	if (in_a >= 0 && in_b >= 0)
		return true;
	t = in_a / (in_a - in_b);
	if (in_a < 0)
		*from = fmax(*from, t);
	else
		*to = fmin(*to, t);
	return *from <= *to;
}

bool clip_segment(const struct rect *box, struct point *a, struct point *b)
{
	double from = 0, to = 1, dx = b->x - a->x, dy = b->y - a->y;
	struct point start = *a;

	if (!clip_to_edge(a->x - box->x0, b->x - box->x0, &from, &to) ||
	    !clip_to_edge(box->x1 - a->x, box->x1 - b->x, &from, &to) ||
	    !clip_to_edge(a->y - box->y0, b->y - box->y0, &from, &to) ||
	    !clip_to_edge(box->y1 - a->y, box->y1 - b->y, &from, &to))
		return false;
	if (from > 0)
		*a = (struct point){ start.x + from * dx, start.y + from * dy };
	if (to < 1)
		*b = (struct point){ start.x + to * dx, start.y + to * dy };
	return true;
}

static void line_append_point(struct canvas *c, size_t n, struct point p)
{
	c->line_points =
		grow_array(c->line_points, &c->line_points_cap, n + 1, sizeof *c->line_points);
	c->line_points[n] = p;
}

static void line_flush_stroke(struct canvas *c, size_t n, const struct pen *pen, double phase)
{
	if (n)
		c->backend->stroke(c, c->line_points, n, pen, phase);
}

/* Clips before the line is split into dashes: a segment to 1e6 pixels would have 1e5 of them. */
void canvas_line(struct canvas *c, const struct point *p, size_t n, const struct pen *pen)
{
	double far = pen->width + 2, along = 0, phase = 0;
	struct rect box = { c->clip.x0 - far, c->clip.y0 - far, c->clip.x1 + far,
			    c->clip.y1 + far };
	size_t k = 0;

	for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
		struct point from = p[i ? i - 1 : 0], a = from, b = p[i];

		if (clip_segment(&box, &a, &b)) {
			if (!k || c->line_points[k - 1].x != a.x ||
			    c->line_points[k - 1].y != a.y) {
				line_flush_stroke(c, k, pen, phase);
				phase = along + hypot(a.x - from.x, a.y - from.y);
				line_append_point(c, 0, a);
				k = 1;
			}
			line_append_point(c, k++, b);
		}
		along += hypot(p[i].x - from.x, p[i].y - from.y);
	}
	line_flush_stroke(c, k, pen, phase);
}

struct plot_style style_with_defaults(const struct plot_style *s)
{
	struct plot_style out = *s;

	if (!(out.width > 0))
		out.width = 1.5;
	if (!(out.size > 0))
		out.size = 6;
	if (!(out.opacity > 0) || out.opacity > 1)
		out.opacity = 1;
	out.width = fmin(out.width, 100);
	out.size = fmin(out.size, 100);
	return out;
}

struct pen style_pen(const struct plot_style *s)
{
	return (struct pen){ s->colour, s->width, s->dash, s->opacity };
}

double pen_dash_period(const struct pen *pen, double *on)
{
	double unit = fmax(pen->width, 1);

	*on = pen->dash == PLOT_DOTTED ? 0 : 3.5 * unit;
	return *on + (pen->dash == PLOT_DOTTED ? 2.2 : 2.4) * unit;
}

/* A polygon, or a star with every second corner at the inner radius. */
static size_t marker_star_corners(struct point *p, size_t n, double outer, double inner,
				  double turn)
{
	for (size_t i = 0; i < n; i++) {
		double angle = 2 * M_PI * (double)i / (double)n + turn,
		       radius = i % 2 ? inner : outer;

		p[i] = (struct point){ radius * sin(angle), -radius * cos(angle) };
	}
	return n;
}

/* A plus with arms of length `reach` and width 2 x `thick`, rotated by `turn`. */
static size_t marker_plus_corners(struct point *p, double reach, double thick, double turn)
{
	for (size_t i = 0; i < 12; i++) {
		/* three corners for each arm: left end, right end, inner corner */
		double angle = M_PI / 2 * (double)(i / 3) + turn, x = i % 3 == 0 ? -thick : thick,
		       y = i % 3 == 2 ? -thick : -reach;

		p[i] = (struct point){ x * cos(angle) - y * sin(angle),
				       x * sin(angle) + y * cos(angle) };
	}
	return 12;
}

/* Shapes of the same radius have about the same area. */
size_t marker_corners(enum plot_marker marker, double radius, double grow,
		      struct point p[MARKER_CORNERS_MAX])
{
	double thick = fmax(0.6, radius * 0.2) + grow;
	size_t round = radius > 6 ? MARKER_CORNERS_MAX : 20;

	switch (marker) {
	case PLOT_SQUARE:
		return marker_star_corners(p, 4, (radius * 0.88 + grow) * M_SQRT2,
					   (radius * 0.88 + grow) * M_SQRT2, M_PI / 4);
	case PLOT_TRIANGLE:
		return marker_star_corners(p, 3, radius * 1.25 + 2 * grow, radius * 1.25 + 2 * grow,
					   0);
	case PLOT_DIAMOND:
		return marker_star_corners(p, 4, radius * 1.25 + grow * M_SQRT2,
					   radius * 1.25 + grow * M_SQRT2, 0);
	case PLOT_CROSS:
		return marker_plus_corners(p, radius * 1.2 + grow, thick, M_PI / 4);
	case PLOT_STAR:
		return marker_star_corners(p, 10, radius * 1.5 + 2 * grow, radius * 0.62 + grow, 0);
	case PLOT_DOT:
	case PLOT_RING:
		break;
	}
	return marker_star_corners(p, round, radius + grow, radius + grow, 0);
}

double marker_reach(const struct plot_style *s)
{
	struct point p[MARKER_CORNERS_MAX];
	size_t n = marker_corners(s->marker, s->size / 2, s->outline ? 1 : 0, p);
	double reach = 0;

	for (size_t i = 0; i < n; i++)
		reach = fmax(reach, fmax(fabs(p[i].x), fabs(p[i].y)));
	return reach;
}
