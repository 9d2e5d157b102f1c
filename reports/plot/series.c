/* series.c - ranges, pixel positions and drawing of all kinds of series. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const sides_of[] = {
	[SERIES_LINE] = "xy",         [SERIES_STEPS] = "xy",    [SERIES_POINTS] = "xy",
	[SERIES_ERROR_BARS] = "xyy",  [SERIES_BAND] = "xyy",    [SERIES_RECTS] = "xxyy",
	[SERIES_REFERENCE_LINE] = "", [SERIES_REGION] = "xxyy",
};

static bool series_can_show_item(const struct plot_panel *a, const struct series *s, size_t i)
{
	const char *sides = sides_of[s->kind];

	for (size_t k = 0; sides[k]; k++) {
		if (!axis_can_show(&a->axis[sides[k] == 'x' ? PLOT_X : PLOT_Y], s->values[k][i]))
			return false;
	}
	return true;
}

static void include_series_values(struct plot_panel *a, const struct series *s)
{
	const char *sides = sides_of[s->kind];

	for (size_t i = 0; i < s->n; i++) {
		bool ok = series_can_show_item(a, s, i);

		for (size_t k = 0; sides[k]; k++) {
			struct axis *x = &a->axis[sides[k] == 'x' ? PLOT_X : PLOT_Y];

			if (ok || !axis_can_show(x, s->values[k][i]))
				axis_include_value(x, s->values[k][i]);
		}
	}
}

/* Reference lines come last: alone they make no range. */
void series_find_ranges(struct plot_panel *a)
{
	for (size_t i = 0; i < a->nseries; i++)
		include_series_values(a, &a->series[i]);
	for (size_t i = 0; i < a->nseries; i++) {
		const struct series *s = &a->series[i];

		if (s->kind == SERIES_REFERENCE_LINE && a->axis[s->side].has_values)
			axis_include_value(&a->axis[s->side], s->values[0][0]);
	}
}

static struct point panel_to_pixel(const struct plot_panel *a, double x, double y)
{
	return (struct point){ axis_to_pixel(&a->axis[PLOT_X], x),
			       axis_to_pixel(&a->axis[PLOT_Y], y) };
}

bool series_item_pixel(const struct plot_panel *a, const struct series *s, size_t i,
		       struct point *p)
{
	if (!series_can_show_item(a, s, i))
		return false;
	*p = panel_to_pixel(a, s->values[0][i], s->values[1][i]);
	return true;
}

/* Corners of a staircase or line through items [from, to) of an array of y. */
static size_t series_path(const struct plot_panel *a, const double *x, const double *y, size_t from,
			  size_t to, bool steps, struct point *out)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		if (steps && i > from)
			out[n++] = panel_to_pixel(a, x[i], y[i - 1]);
		out[n++] = panel_to_pixel(a, x[i], y[i]);
	}
	return n;
}

/* Finds the next run of items that can be shown: sets *from, returns its end. */
static size_t next_run(const struct plot_panel *a, const struct series *s, size_t *from)
{
	size_t to;

	while (*from < s->n && !series_can_show_item(a, s, *from))
		++*from;
	for (to = *from; to < s->n && series_can_show_item(a, s, to); to++)
		;
	return to;
}

static void draw_series_line(struct canvas *c, const struct plot_panel *a, const struct series *s)
{
	struct pen pen = style_pen(&s->style);
	struct point *p = dp_malloc((2 * s->n + 1) * sizeof *p);

	for (size_t from = 0, to; from < s->n; from = to) {
		to = next_run(a, s, &from);
		canvas_line(c, p,
			    series_path(a, s->values[0], s->values[1], from, to,
					s->kind == SERIES_STEPS, p),
			    &pen);
	}
	free(p);
}

static void draw_band(struct canvas *c, const struct plot_panel *a, const struct series *s)
{
	struct point *p = dp_malloc((4 * s->n + 1) * sizeof *p), *back;
	size_t n, m;

	for (size_t from = 0, to; from < s->n; from = to) {
		to = next_run(a, s, &from);
		n = series_path(a, s->values[0], s->values[1], from, to, s->steps, p);
		back = p + n;
		m = series_path(a, s->values[0], s->values[2], from, to, s->steps, back);
		for (size_t i = 0; i < m / 2; i++) {
			struct point swap = back[i];

			back[i] = back[m - 1 - i];
			back[m - 1 - i] = swap;
		}
		canvas_polygon(c, p, n + m, s->style.colour, s->style.opacity);
	}
	free(p);
}

static void series_set_tooltip(struct canvas *c, const struct series *s, size_t i)
{
	canvas_set_tooltip(c, s->tooltips && i < s->ntooltips ? s->tooltips[i] : NULL,
			   s->links && i < s->ntooltips ? s->links[i] : NULL);
}

static void draw_points(struct canvas *c, const struct plot_panel *a, const struct series *s)
{
	struct point *p = dp_calloc(s->n + 1, sizeof *p);
	const struct rect *r = &a->area;
	size_t n = 0;

	canvas_clip(c, NULL);
	for (size_t i = 0; i < s->n; i++) {
		/* whole markers at the edge of the panel, none beyond it */
		if (!series_item_pixel(a, s, i, &p[n]) || p[n].x < r->x0 - 0.5 ||
		    p[n].x > r->x1 + 0.5 || p[n].y < r->y0 - 0.5 || p[n].y > r->y1 + 0.5)
			continue;
		if (!s->tooltips) {
			n++;
			continue;
		}
		series_set_tooltip(c, s, i);
		canvas_markers(c, p, 1, &s->style);
	}
	canvas_set_tooltip(c, NULL, NULL);
	canvas_markers(c, p, n, &s->style);
	free(p);
}

static void draw_error_bar(struct canvas *c, struct point lo, struct point hi,
			   const struct plot_style *s)
{
	struct pen pen = style_pen(s);
	double cap = s->size / 2;
	struct point p[3][2] = { { lo, hi },
				 { { lo.x - cap, lo.y }, { lo.x + cap, lo.y } },
				 { { hi.x - cap, hi.y }, { hi.x + cap, hi.y } } };

	for (size_t i = 0; i < DP_COUNT(p); i++)
		canvas_line(c, p[i], 2, &pen);
}

static void draw_error_bars(struct canvas *c, const struct plot_panel *a, const struct series *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (series_can_show_item(a, s, i))
			draw_error_bar(c, panel_to_pixel(a, s->values[0][i], s->values[1][i]),
				       panel_to_pixel(a, s->values[0][i], s->values[2][i]),
				       &s->style);
	}
}

static void draw_blocks(struct canvas *c, const struct plot_panel *a, const struct series *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct point p, q;
		struct rect r;

		if (!series_can_show_item(a, s, i))
			continue;
		p = panel_to_pixel(a, s->values[0][i], s->values[2][i]);
		q = panel_to_pixel(a, s->values[1][i], s->values[3][i]);
		r = (struct rect){ fmin(p.x, q.x), fmin(p.y, q.y), fmax(p.x, q.x), fmax(p.y, q.y) };
		if (s->style.outline && r.x1 - r.x0 > 3) /* gap to the next rectangle */
			r.x1 -= 1;
		r.x1 = fmax(r.x1, r.x0 + 0.75);
		r.y1 = fmax(r.y1, r.y0 + 0.75);
		series_set_tooltip(c, s, i);
		canvas_fill_rect(c, r, s->style.colour, s->style.opacity);
	}
	canvas_set_tooltip(c, NULL, NULL);
}

static void draw_region_rect(struct canvas *c, const struct rect *r, const struct plot_style *s)
{
	const struct pen pen = { s->colour, 1, PLOT_DASHED, 0.8 };
	const struct point outline[5] = { { r->x0, r->y0 },
					  { r->x1, r->y0 },
					  { r->x1, r->y1 },
					  { r->x0, r->y1 },
					  { r->x0, r->y0 } };

	canvas_fill_rect(c, *r, s->colour, 0.08);
	canvas_line(c, outline, DP_COUNT(outline), &pen);
}

/* The pixel of a region's edge. An open edge lies one panel length outside. */
static bool region_edge_pixel(const struct axis *a, double value, int open, double *at)
{
	*at = isnan(value) ? a->pixel_lo + open * (a->pixel_hi - a->pixel_lo)
			   : axis_to_pixel(a, value);
	return isnan(value) || axis_can_show(a, value);
}

static void draw_box(struct canvas *c, const struct plot_panel *a, const struct series *s)
{
	const struct axis *x = &a->axis[PLOT_X], *y = &a->axis[PLOT_Y];
	struct rect r;

	if (!region_edge_pixel(x, s->values[0][0], -1, &r.x0) ||
	    !region_edge_pixel(x, s->values[1][0], 2, &r.x1) ||
	    !region_edge_pixel(y, s->values[2][0], -1, &r.y1) ||
	    !region_edge_pixel(y, s->values[3][0], 2, &r.y0))
		return;
	r = (struct rect){ fmin(r.x0, r.x1), fmin(r.y0, r.y1), fmax(r.x0, r.x1), fmax(r.y0, r.y1) };
	draw_region_rect(c, &r, &s->style);
}

bool series_reference_line(const struct plot_panel *a, const struct series *s, struct point ends[2])
{
	const struct rect *r = &a->area;
	double at;

	if (!axis_can_show(&a->axis[s->side], s->values[0][0]))
		return false;
	at = axis_to_pixel(&a->axis[s->side], s->values[0][0]);
	ends[0] = s->side == PLOT_X ? (struct point){ at, r->y1 } : (struct point){ r->x0, at };
	ends[1] = s->side == PLOT_X ? (struct point){ at, r->y0 } : (struct point){ r->x1, at };
	return true;
}

static void draw_mark(struct canvas *c, const struct plot_panel *a, const struct series *s)
{
	struct pen pen = style_pen(&s->style);
	struct point ends[2];

	if (series_reference_line(a, s, ends))
		canvas_line(c, ends, 2, &pen);
}

static void (*const drawers[])(struct canvas *, const struct plot_panel *,
			       const struct series *) = {
	[SERIES_LINE] = draw_series_line,    [SERIES_STEPS] = draw_series_line,
	[SERIES_POINTS] = draw_points,       [SERIES_ERROR_BARS] = draw_error_bars,
	[SERIES_BAND] = draw_band,           [SERIES_RECTS] = draw_blocks,
	[SERIES_REFERENCE_LINE] = draw_mark, [SERIES_REGION] = draw_box,
};

void series_draw(struct canvas *c, struct plot_panel *a, const struct series *s)
{
	bool area = s->kind == SERIES_BAND || s->kind == SERIES_RECTS;
	/* areas end at the axes, which are one pixel wide; a line along an axis keeps its width */
	double wide = area ? -0.5 : s->style.width / 2 + 0.5;
	struct rect clip = { a->area.x0 - wide, a->area.y0 - fmax(wide, 0),
			     a->area.x1 + fmax(wide, 0), a->area.y1 + wide };

	canvas_clip(c, &clip);
	drawers[s->kind](c, a, s);
	canvas_clip(c, NULL);
}

void series_draw_legend_sample(struct canvas *c, const struct series *s, struct point at,
			       double width)
{
	struct rect swatch = { at.x - width / 2, at.y - 5, at.x + width / 2, at.y + 5 };
	struct rect card = { swatch.x0, at.y - 6, swatch.x1, at.y + 6 };
	struct point ends[2] = { { swatch.x0, at.y }, { swatch.x1, at.y } };
	struct pen pen = style_pen(&s->style);
	bool lost = colour_invisible_on_dark(s->style.colour);

	if (lost)
		canvas_begin_light_background(c, card);
	switch (s->kind) {
	case SERIES_LINE:
	case SERIES_STEPS:
	case SERIES_REFERENCE_LINE:
		canvas_line(c, ends, 2, &pen);
		break;
	case SERIES_POINTS:
		canvas_markers(c, &at, 1, &s->style);
		break;
	case SERIES_ERROR_BARS:
		draw_error_bar(c, (struct point){ at.x, swatch.y1 },
			       (struct point){ at.x, swatch.y0 }, &s->style);
		break;
	case SERIES_BAND:
	case SERIES_RECTS:
		canvas_fill_rect(c, swatch, s->style.colour, s->style.opacity);
		break;
	case SERIES_REGION:
		draw_region_rect(c, &swatch, &s->style);
		break;
	}
	if (lost)
		canvas_end_light_background(c);
}
