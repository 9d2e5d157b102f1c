/* clip.c - lines, without what cannot be seen of them. */
#include "reports/plot/plot_internal.h"

#include <math.h>

/* One end of a-b is moved to where it crosses the edge; `inside` values are >= 0. */
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

/* Parts outside the clip are left out before they are cut into dashes: a segment to
 * 1e6 pixels would have 1e5 of them. */
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
