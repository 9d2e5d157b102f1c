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
	       (double)l.n * text_line_height(FONT_AXIS);
}

plot_colour colourbar_colour(const struct colourbar *b, double value)
{
	return plot_map_colour(b->map, axis_share(&b->axis, value));
}

void colourbar_draw(struct canvas *c, struct colourbar *b, const struct rect *area)
{
	struct axis *a = &b->axis;
	double left = area->x1 + before, right = left + bar, height = area->y1 - area->y0,
	       step = 1.0 / PLOT_ZOOM, text;
	struct lines l;

	a->from = area->y1;
	a->to = area->y0;
	for (double y = area->y0; y < area->y1; y += step)
		canvas_block(c, (struct rect){ left, y, right, fmin(y + step, area->y1) },
			     plot_map_colour(b->map, (area->y1 - y) / height), 1);
	for (size_t i = 0; i < a->ticks.n; i++) {
		double y = axis_at(a, a->ticks.at[i]);

		canvas_rule(c, (struct point){ right, y },
			    (struct point){ right + tick, y }, GREY);
		text_draw(c, FONT_TICK, (struct point){ right + tick + gap, y }, 0, 0,
			  a->ticks.label[i], GREY);
	}
	text_wrap(c, FONT_AXIS, a->label, height, 2, &l);
	text = right + tick + gap + axis_widest(c, a) + gap;
	for (size_t i = 0; i < l.n; i++)
		text_draw(c, FONT_AXIS,
			  (struct point){ text + text_line_height(FONT_AXIS) *
							  ((double)i + 0.5),
					  (area->y0 + area->y1) / 2 },
			  0.5, 90, l.line[i], INK);
}
