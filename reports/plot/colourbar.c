/* colourbar.c - draw the colour bar of a heat map or of coloured lines. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <string.h>

static const double before = 12, bar = 12, tick = 3, gap = 4, near = 2;

double colourbar_width(struct canvas *c, struct colourbar *b, double height)
{
	struct wrapped_text l;

	axis_ticks(c, &b->axis, PLOT_Y, height);
	text_wrap(c, FONT_AXIS, b->axis.label, height, 2, &l);
	return before + bar + tick + gap + axis_max_label_width(c, &b->axis) + near +
	       (double)l.n * text_line_height(c, FONT_AXIS);
}

/* Whether two bars map colours to values alike, with fixed limits. */
static bool colourbar_is_equal(const struct colourbar *a, const struct colourbar *b)
{
	return a->map == b->map && a->axis.scale == b->axis.scale &&
	       a->axis.limits[0] == b->axis.limits[0] && a->axis.limits[1] == b->axis.limits[1] &&
	       strcmp(a->axis.label ? a->axis.label : "", b->axis.label ? b->axis.label : "") == 0;
}

struct colourbar *colourbar_find_shared(const struct plot *p)
{
	struct colourbar *first = NULL;
	const struct plot_panel *a;
	int panels = 0;

	for (int i = 0; (a = plot_next_panel(p, &i));) {
		if (!a->heatmap || a->parallel ||
		    (first && !colourbar_is_equal(first, &a->heatmap->bar)))
			return NULL;
		first = &a->heatmap->bar;
		panels++;
	}
	return panels > 1 ? first : NULL;
}

plot_colour colourbar_colour(const struct colourbar *b, double value)
{
	return plot_colourmap_lookup(b->map, axis_fraction(&b->axis, value));
}

/* Draws from the lowest value at the bottom. */
static void colourbar_draw_gradient(struct canvas *c, const struct colourbar *b,
				    const struct rect *area)
{
	enum {
		STRIPS_MAX = 4096
	};
	double height = area->y1 - area->y0, edges[STRIPS_MAX + 1],
	       across[2] = { area->x1 + before, area->x1 + before + bar };
	size_t n = (size_t)fmin(ceil(height * 2), STRIPS_MAX);
	plot_colour colour[STRIPS_MAX];

	for (size_t i = 0; i <= n; i++)
		edges[i] = area->y1 - height * (double)i / (double)n;
	for (size_t i = 0; i < n; i++)
		colour[i] = plot_colourmap_lookup(b->map, (double)(i + 1) / (double)n);
	canvas_cells(c, &(struct heat_cells){ across, edges, 1, n, colour });
}

void colourbar_draw(struct canvas *c, struct colourbar *b, const struct rect *area)
{
	struct axis *a = &b->axis;
	double right = area->x1 + before + bar, height = area->y1 - area->y0, text;
	struct wrapped_text l;

	a->pixel_lo = area->y1;
	a->pixel_hi = area->y0;
	colourbar_draw_gradient(c, b, area);
	for (size_t i = 0; i < a->ticks.n; i++) {
		double y = axis_to_pixel(a, a->ticks.at[i]);

		canvas_rule(c, (struct point){ right, y }, (struct point){ right + tick, y },
			    AXIS_COLOUR);
	}
	for (size_t i = 0; i < a->ticks.n; i++)
		text_draw(c, FONT_TICK,
			  (struct point){ right + tick + gap, axis_to_pixel(a, a->ticks.at[i]) }, 0,
			  0, a->ticks.label[i], AXIS_COLOUR);
	text_wrap(c, FONT_AXIS, a->label, height, 2, &l);
	text = right + tick + gap + axis_max_label_width(c, a) + near;
	for (size_t i = 0; i < l.n; i++)
		text_draw(c, FONT_AXIS,
			  (struct point){ text + text_line_height(c, FONT_AXIS) * ((double)i + 0.5),
					  (area->y0 + area->y1) / 2 },
			  0.5, 90, l.line[i], TITLE_COLOUR);
}
