/* heatmap.c - coloured cells. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

void heatmap_find_ranges(struct plot_panel *a)
{
	struct heatmap *h = a->heatmap;

	for (size_t i = 0; i <= h->nx; i++)
		axis_include_value(&a->axis[PLOT_X], h->x[i]);
	for (size_t i = 0; i <= h->ny; i++)
		axis_include_value(&a->axis[PLOT_Y], h->y[i]);
	axis_reset_range(&h->bar.axis, true);
	for (size_t i = 0; i < h->nx * h->ny; i++)
		axis_include_value(&h->bar.axis, h->z[i]);
	axis_finish_range(&h->bar.axis);
}

static double heatmap_edge_pixel(const struct axis *a, double value)
{
	return axis_can_show(a, value) ? axis_to_pixel(a, value) : a->pixel_lo;
}

void heatmap_draw(struct canvas *c, struct plot_panel *a)
{
	const struct heatmap *h = a->heatmap;
	double *edges = dp_malloc((h->nx + h->ny + 2) * sizeof *edges);
	plot_colour *colour = dp_malloc((h->nx * h->ny + 1) * sizeof *colour);
	struct heat_cells cells = { edges, edges + h->nx + 1, h->nx, h->ny, colour };

	for (size_t i = 0; i <= h->nx; i++)
		edges[i] = heatmap_edge_pixel(&a->axis[PLOT_X], h->x[i]);
	for (size_t i = 0; i <= h->ny; i++)
		edges[h->nx + 1 + i] = heatmap_edge_pixel(&a->axis[PLOT_Y], h->y[i]);
	for (size_t i = 0; i < h->nx * h->ny; i++)
		colour[i] = axis_can_show(&h->bar.axis, h->z[i])
				    ? colourbar_colour(&h->bar, h->z[i])
				    : NO_CELL_COLOUR;
	canvas_clip(c, &a->area);
	canvas_fill_rect(c, a->area, NO_VALUE_COLOUR, 1);
	canvas_cells(c, &cells);
	canvas_clip(c, NULL);
	free(edges);
	free(colour);
}
