/* heat.c - coloured cells. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

#define NO_VALUE 0xf4f4f4

void heat_see(struct plot_panel *a)
{
	struct heat *h = a->heat;

	for (size_t i = 0; i <= h->nx; i++)
		axis_see(&a->axis[PLOT_X], h->x[i]);
	for (size_t i = 0; i <= h->ny; i++)
		axis_see(&a->axis[PLOT_Y], h->y[i]);
	axis_begin(&h->bar.axis, true);
	for (size_t i = 0; i < h->nx * h->ny; i++)
		axis_see(&h->bar.axis, h->z[i]);
	axis_settle(&h->bar.axis);
}

static double heat_edge(const struct axis *a, double value)
{
	return axis_shows(a, value) ? axis_at(a, value) : a->from;
}

void heat_draw(struct canvas *c, struct plot_panel *a)
{
	const struct heat *h = a->heat;
	const struct axis *x = &a->axis[PLOT_X], *y = &a->axis[PLOT_Y];

	canvas_clip(c, &a->area);
	canvas_block(c, a->area, NO_VALUE, 1);
	for (size_t j = 0; j < h->ny; j++) {
		for (size_t i = 0; i < h->nx; i++) {
			double z = h->z[j * h->nx + i];
			struct rect cell = { heat_edge(x, h->x[i]), heat_edge(y, h->y[j]),
					     heat_edge(x, h->x[i + 1]),
					     heat_edge(y, h->y[j + 1]) };

			if (axis_shows(&h->bar.axis, z))
				canvas_block(c, cell, colourbar_colour(&h->bar, z), 1);
		}
	}
	canvas_clip(c, NULL);
}

void heat_free(struct heat *h)
{
	if (!h)
		return;
	free(h->x);
	free(h->y);
	free(h->z);
	axis_free(&h->bar.axis);
	free(h);
}
