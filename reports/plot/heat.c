/* heat.c - coloured cells. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

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
	double *edges = malloc((h->nx + h->ny + 2) * sizeof *edges);
	plot_colour *colour = malloc((h->nx * h->ny + 1) * sizeof *colour);
	struct cells cells = { edges, edges + h->nx + 1, h->nx, h->ny, colour };

	if (!edges || !colour) {
		c->failed = true;
		free(edges);
		free(colour);
		return;
	}
	for (size_t i = 0; i <= h->nx; i++)
		edges[i] = heat_edge(&a->axis[PLOT_X], h->x[i]);
	for (size_t i = 0; i <= h->ny; i++)
		edges[h->nx + 1 + i] = heat_edge(&a->axis[PLOT_Y], h->y[i]);
	for (size_t i = 0; i < h->nx * h->ny; i++)
		colour[i] = axis_shows(&h->bar.axis, h->z[i]) ? colourbar_colour(&h->bar, h->z[i])
							      : NO_CELL;
	canvas_clip(c, &a->area);
	canvas_block(c, a->area, NO_VALUE, 1);
	canvas_cells(c, &cells);
	canvas_clip(c, NULL);
	free(edges);
	free(colour);
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
