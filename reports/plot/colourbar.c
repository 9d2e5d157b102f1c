/* colourbar.c - the key from colours to values. */
#include "reports/plot/plot_internal.h"

#include <math.h>

static const double before = 12, bar = 12, tick = 3, gap = 4;

double colourbar_width(struct canvas *c, struct colourbar *b, double height)
{
	struct lines l;

	axis_ticks(c, &b->axis, PLOT_Y, height);
	text_wrap(c, FONT_AXIS, b->axis.label, height, 2, &l);
	return before + bar + tick + gap + axis_widest(c, &b->axis) + gap +
	       (double)l.n * text_line_height(c, FONT_AXIS);
}

plot_colour colourbar_colour(const struct colourbar *b, double value)
{
	return plot_map_colour(b->map, axis_share(&b->axis, value));
}

/* From the lowest value at the bottom. */
static void colourbar_colours(struct canvas *c, const struct colourbar *b,
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
		colour[i] = plot_map_colour(b->map, (double)(i + 1) / (double)n);
	canvas_cells(c, &(struct cells){ across, edges, 1, n, colour });
}

void colourbar_draw(struct canvas *c, struct colourbar *b, const struct rect *area)
{
	struct axis *a = &b->axis;
	double right = area->x1 + before + bar, height = area->y1 - area->y0, text;
	struct lines l;

	a->from = area->y1;
	a->to = area->y0;
	colourbar_colours(c, b, area);
	for (size_t i = 0; i < a->ticks.n; i++) {
		double y = axis_at(a, a->ticks.at[i]);

		canvas_rule(c, (struct point){ right, y },
			    (struct point){ right + tick, y }, GREY);
	}
	for (size_t i = 0; i < a->ticks.n; i++)
		text_draw(
			c, FONT_TICK,
			(struct point){ right + tick + gap, axis_at(a, a->ticks.at[i]) },
			0, 0, a->ticks.label[i], GREY);
	text_wrap(c, FONT_AXIS, a->label, height, 2, &l);
	text = right + tick + gap + axis_widest(c, a) + gap;
	for (size_t i = 0; i < l.n; i++)
		text_draw(c, FONT_AXIS,
			  (struct point){ text + text_line_height(c, FONT_AXIS) *
							  ((double)i + 0.5),
					  (area->y0 + area->y1) / 2 },
			  0.5, 90, l.line[i], INK);
}
