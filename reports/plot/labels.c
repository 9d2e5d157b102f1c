/* labels.c - place small labels at points and lines without overlap.
 *
 * Everything drawn in the panel marks cells of an occupancy grid; a label needs free cells. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

static const double cell = 1; /* CSS pixels */

struct occupancy_map {
	struct rect area;
	int width, height;
	unsigned char *occupied;
};

static int occupancy_column(const struct occupancy_map *m, double x)
{
	return (int)floor(fmin(fmax((x - m->area.x0) / cell, -1), m->width));
}

static int occupancy_row(const struct occupancy_map *m, double y)
{
	return (int)floor(fmin(fmax((y - m->area.y0) / cell, -1), m->height));
}

/* Marks the cells. Always returns 0, as a callback of occupancy_visit_line() must. */
static int occupancy_mark_rect(struct occupancy_map *m, const struct rect *r)
{
	for (int y = occupancy_row(m, r->y0); y <= occupancy_row(m, r->y1); y++) {
		for (int x = occupancy_column(m, r->x0); x <= occupancy_column(m, r->x1); x++) {
			if (x >= 0 && y >= 0 && x < m->width && y < m->height)
				m->occupied[y * m->width + x] = 1;
		}
	}
	return 0;
}

/* Calls back for each position on the line from a to b, `half` wide on either side. */
static int occupancy_visit_line(struct occupancy_map *m, struct point a, struct point b,
				double half,
				int (*visit)(struct occupancy_map *, const struct rect *))
{
	double steps;
	int sum = 0;

	if (!clip_segment(&m->area, &a, &b))
		return 0;
	steps = fmax(ceil(hypot(b.x - a.x, b.y - a.y) / cell), 1);
	for (double i = 0; i <= steps; i++) {
		double x = a.x + (b.x - a.x) * i / steps, y = a.y + (b.y - a.y) * i / steps;

		sum += visit(m, &(struct rect){ x - half, y - half, x + half, y + half });
	}
	return sum;
}

static void occupancy_mark_line(struct occupancy_map *m, struct point a, struct point b,
				double width)
{
	occupancy_visit_line(m, a, b, width / 2 + 0.5, occupancy_mark_rect);
}

/* Counts occupied cells under a label. Cells outside the panel weigh more: labels must not leave
 * it. */
static int occupancy_count_covered(struct occupancy_map *m, const struct rect *r)
{
	int n = 0;

	if (r->x0 < m->area.x0 || r->y0 < m->area.y0 || r->x1 > m->area.x1 || r->y1 > m->area.y1)
		n += 10000;
	for (int y = occupancy_row(m, r->y0); y <= occupancy_row(m, r->y1); y++) {
		for (int x = occupancy_column(m, r->x0); x <= occupancy_column(m, r->x1); x++)
			n += x >= 0 && y >= 0 && x < m->width && y < m->height &&
			     m->occupied[y * m->width + x];
	}
	return n;
}

static void occupancy_mark_path(struct occupancy_map *m, const struct plot_panel *a,
				const struct series *s)
{
	struct point p, q, corner;
	bool before = false;

	for (size_t i = 0; i < s->n; i++, q = p) {
		if (!series_item_pixel(a, s, i, &p)) {
			before = false;
			continue;
		}
		corner = s->kind == SERIES_STEPS && before ? (struct point){ p.x, q.y } : p;
		if (before) {
			occupancy_mark_line(m, q, corner, s->style.width);
			occupancy_mark_line(m, corner, p, s->style.width);
		}
		before = true;
	}
}

static void occupancy_mark_series(struct occupancy_map *m, const struct plot_panel *a,
				  const struct series *s)
{
	double half = marker_reach(&s->style);
	struct point p, ends[2];

	/* labels may cover hairlines, which connect points and show no values */
	if ((s->kind == SERIES_LINE || s->kind == SERIES_STEPS) && s->style.width >= 1)
		occupancy_mark_path(m, a, s);
	if (s->kind == SERIES_REFERENCE_LINE && series_reference_line(a, s, ends))
		occupancy_mark_line(m, ends[s->side == PLOT_X], ends[s->side != PLOT_X],
				    s->style.width);
	if (s->kind != SERIES_POINTS && s->kind != SERIES_ERROR_BARS)
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (!series_item_pixel(a, s, i, &p))
			continue;
		if (s->kind == SERIES_POINTS)
			occupancy_mark_rect(m, &(struct rect){ p.x - half, p.y - half, p.x + half,
							       p.y + half });
		else
			occupancy_mark_line(m, p,
					    (struct point){ p.x, axis_to_pixel(&a->axis[PLOT_Y],
									       s->values[2][i]) },
					    s->style.width);
	}
}

/* A candidate position of a label. */
struct label_spot {
	struct rect box;
	struct point from, to;
	bool needs_leader_line; /* a thin line connects label and point */
};

static int label_spot_cost(struct occupancy_map *m, const struct label_spot *s)
{
	return occupancy_count_covered(m, &s->box) +
	       occupancy_visit_line(m, s->from, s->to, 0, occupancy_count_covered);
}

/* Draws at the best candidate. Draws nothing if label or leader line would cover something, unless
 * `needed`. */
static void label_draw_at_best_spot(struct canvas *c, struct occupancy_map *m,
				    const struct label_spot *spots, size_t n, const char *text,
				    plot_colour colour, bool needed)
{
	const struct pen thin = { NOTE_COLOUR, 0.75, PLOT_SOLID, 1 };
	const struct label_spot *best = spots;
	int least = label_spot_cost(m, best), k;

	for (size_t i = 1; i < n && least > 0; i++) {
		k = label_spot_cost(m, &spots[i]);
		if (k < least) {
			least = k;
			best = &spots[i];
		}
	}
	if (least > 0 && !needed)
		return;
	if (best->needs_leader_line) {
		canvas_line(c, (struct point[]){ best->from, best->to }, 2, &thin);
		occupancy_mark_line(m, best->from, best->to, thin.width);
	}
	canvas_fill_rect(c, best->box, WHITE, 0.8);
	text_draw(c, FONT_SMALL,
		  (struct point){ best->box.x0 + 1, (best->box.y0 + best->box.y1) / 2 }, 0, 0, text,
		  colour);
	occupancy_mark_rect(m, &best->box);
}

static struct rect make_label_box(double x, double y, double width, double height)
{
	return (struct rect){ x, y, x + width, y + height };
}

static void mark_label(struct canvas *c, struct occupancy_map *m, const struct plot_panel *a,
		       const struct series *s)
{
	const struct rect *r = &m->area;
	double at, width, height = text_line_height(c, FONT_SMALL);
	char text[PLOT_TEXT_LEN];
	struct label_spot spots[6] = { 0 };

	if (!s->name || !axis_can_show(&a->axis[s->side], s->values[0][0]))
		return;
	at = axis_to_pixel(&a->axis[s->side], s->values[0][0]);
	text_ellipsize(c, FONT_SMALL, s->name, (r->x1 - r->x0) * 0.6, text);
	width = text_width(c, FONT_SMALL, text) + 2;
	for (size_t i = 0; i < 6; i++) {
		double along = i < 2 ? 1 : i < 4 ? 0 : 0.5;

		/* on either side of the line: at its end, start and middle */
		spots[i].box =
			s->side == PLOT_Y
				? make_label_box(r->x0 + 2 + (r->x1 - r->x0 - width - 4) * along,
						 i % 2 ? at + 3 : at - 3 - height, width, height)
				: make_label_box(i % 2 ? at - 4 - width : at + 4,
						 r->y1 - height - (r->y1 - r->y0 - height) * along,
						 width, height);
	}
	label_draw_at_best_spot(c, m, spots, 6, text, s->style.colour, true);
}

enum {
	LABEL_DIRECTIONS = 8,
	LABEL_RINGS = 6
};

/* Extra distance between a marker and its label. */
static const double spare = 1.5;

/* Candidates in order: upper right, other corners, sides. `clear`: reach of the point's own marker
 * plus `spare`. */
static struct label_spot label_spot_near(struct point p, size_t i, double clear, double width,
					 double height)
{
	static const signed char way[LABEL_DIRECTIONS][2] = { { 1, -1 },  { 1, 1 },  { -1, 1 },
							      { -1, -1 }, { 0, -1 }, { 0, 1 },
							      { 1, 0 },   { -1, 0 } };
	static const double ring[LABEL_RINGS] = { 0, 5, 14, 26, 42, 60 };
	double x = way[i % LABEL_DIRECTIONS][0], y = way[i % LABEL_DIRECTIONS][1];
	/* corners are closer, but clear of the marker, which is `spare` smaller */
	double slope = x != 0 && y != 0 ? 0.8 : 1, near = fmax(clear * slope, clear - spare + 1.05),
	       away = near + ring[i / LABEL_DIRECTIONS] * slope;
	struct label_spot s = { .needs_leader_line = i / LABEL_DIRECTIONS > 1 };

	s.box = make_label_box(p.x + x * away + (x - 1) / 2 * width,
			       p.y + y * away + (y - 1) / 2 * height, width, height);
	s.from = (struct point){ p.x + x * near, p.y + y * near };
	near = fmax(near, away - 1);
	s.to = (struct point){ p.x + x * near, p.y + y * near };
	return s;
}

/* The largest reach of markers at this point, plus `spare`. */
static double label_clearance(const struct plot_panel *a, struct point p)
{
	double reach = 4.5;
	struct point q;

	for (size_t k = 0; k < a->nseries; k++) {
		const struct series *s = &a->series[k];

		for (size_t i = 0; s->kind == SERIES_POINTS && i < s->n; i++) {
			if (series_item_pixel(a, s, i, &q) && hypot(p.x - q.x, p.y - q.y) < 1)
				reach = fmax(reach, marker_reach(&s->style));
		}
	}
	return reach + spare;
}

static void point_label(struct canvas *c, struct occupancy_map *m, const struct plot_panel *a,
			const struct label *l)
{
	double width, height = text_size(c, FONT_SMALL) + 2, clear;
	struct label_spot spots[LABEL_DIRECTIONS * LABEL_RINGS];
	char text[PLOT_TEXT_LEN];
	struct point p;

	if (!axis_can_show(&a->axis[PLOT_X], l->x) || !axis_can_show(&a->axis[PLOT_Y], l->y))
		return;
	p = (struct point){ axis_to_pixel(&a->axis[PLOT_X], l->x),
			    axis_to_pixel(&a->axis[PLOT_Y], l->y) };
	if (p.x < m->area.x0 || p.x > m->area.x1 || p.y < m->area.y0 || p.y > m->area.y1)
		return;
	text_ellipsize(c, FONT_SMALL, l->text, (m->area.x1 - m->area.x0) * 0.4, text);
	width = text_width(c, FONT_SMALL, text) + 2;
	clear = label_clearance(a, p);
	for (size_t i = 0; i < DP_COUNT(spots); i++)
		spots[i] = label_spot_near(p, i, clear, width, height);
	label_draw_at_best_spot(c, m, spots, DP_COUNT(spots), text, TITLE_COLOUR, false);
}

/* Between a point and a fixed label. */
static const double fixed_gap = 5;

double labels_overhang(struct canvas *c, const struct plot_panel *a, double width)
{
	const struct axis *x = &a->axis[PLOT_X];
	double most = 0;

	for (size_t i = 0; i < a->nlabels; i++) {
		const struct label *l = &a->labels[i];

		if (l->is_fixed && axis_can_show(x, l->x))
			most = fmax(most, axis_fraction(x, l->x) * width + fixed_gap +
						  text_width(c, FONT_SMALL, l->text) - width);
	}
	return most;
}

static void fixed_label(struct canvas *c, struct occupancy_map *m, const struct plot_panel *a,
			const struct label *l)
{
	double height = text_size(c, FONT_SMALL) + 2, x, y;

	if (!l->text || !axis_can_show(&a->axis[PLOT_X], l->x) ||
	    !axis_can_show(&a->axis[PLOT_Y], l->y))
		return;
	x = axis_to_pixel(&a->axis[PLOT_X], l->x) + fixed_gap;
	y = axis_to_pixel(&a->axis[PLOT_Y], l->y);
	text_draw(c, FONT_SMALL, (struct point){ x, y }, 0, 0, l->text, TITLE_COLOUR);
	occupancy_mark_rect(m, &(struct rect){ x, y - height / 2,
					       x + text_width(c, FONT_SMALL, l->text),
					       y + height / 2 });
}

void labels_draw(struct canvas *c, struct plot_panel *a)
{
	struct occupancy_map m = { .area = a->area };

	m.width = (int)ceil((a->area.x1 - a->area.x0) / cell);
	m.height = (int)ceil((a->area.y1 - a->area.y0) / cell);
	m.occupied = dp_calloc((size_t)m.width * (size_t)m.height + 1, 1);
	for (size_t i = 0; i < a->nseries; i++)
		occupancy_mark_series(&m, a, &a->series[i]);
	for (size_t i = 0; i < a->nlabels; i++) {
		if (a->labels[i].is_fixed)
			fixed_label(c, &m, a, &a->labels[i]);
	}
	for (size_t i = 0; i < a->nseries; i++) {
		if (a->series[i].kind == SERIES_REFERENCE_LINE)
			mark_label(c, &m, a, &a->series[i]);
	}
	for (size_t i = 0; i < a->nlabels; i++) {
		if (!a->labels[i].is_fixed)
			point_label(c, &m, a, &a->labels[i]);
	}
	free(m.occupied);
}
