/* marker.c - the shapes that stand for points, and styles with their defaults. */
#include "reports/plot/plot_internal.h"

#include <math.h>

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

/* A polygon or star with every second corner at the inner radius. */
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

/* A plus of arms `reach` long and 2 x `thick` wide, turned. */
static size_t marker_plus_corners(struct point *p, double reach, double thick, double turn)
{
	for (size_t i = 0; i < 12; i++) {
		/* three corners for each of the four arms: left end, right end, armpit */
		double angle = M_PI / 2 * (double)(i / 3) + turn, x = i % 3 == 0 ? -thick : thick,
		       y = i % 3 == 2 ? -thick : -reach;

		p[i] = (struct point){ x * cos(angle) - y * sin(angle),
				       x * sin(angle) + y * cos(angle) };
	}
	return 12;
}

/* The shapes have about the same area at the same radius. */
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
	case PLOT_PLUS:
		return marker_plus_corners(p, radius * 1.2 + grow, thick, 0);
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
