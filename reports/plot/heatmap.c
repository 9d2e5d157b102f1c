/* heatmap.c - ranges and drawing of heat map cells, as rectangles or as a small image. */
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

static bool edges_are_even(const double *edge, size_t n)
{
	double step = (edge[n] - edge[0]) / (double)n;

	for (size_t i = 1; i < n; i++)
		if (!(fabs(edge[i] - edge[0] - step * (double)i) < 0.05))
			return false;
	return fabs(step) > 0;
}

/* The number of samples that places the edges accurately. */
static size_t edges_count_samples(const double *edge, size_t n)
{
	return edges_are_even(edge, n) ? n : (size_t)fmax(ceil(fabs(edge[n] - edge[0]) * 2), 1);
}

/* Assigns each of m samples to a cell. Edges are monotonic. */
static void edges_assign_samples(const double *edge, size_t n, size_t *of, size_t m)
{
	double way = edge[n] < edge[0] ? -1 : 1;

	for (size_t i = 0, k = 0; i < m; i++) {
		double at = edge[0] + (edge[n] - edge[0]) * ((double)i + 0.5) / (double)m;

		while (k + 1 < n && (at - edge[k + 1]) * way >= 0)
			k++;
		of[i] = k;
	}
}

struct heat_image heat_cells_to_image(const struct heat_cells *cells)
{
	size_t w = edges_count_samples(cells->x, cells->nx),
	       h = edges_count_samples(cells->y, cells->ny), *of = dp_calloc(w + h, sizeof *of);
	struct heat_image out = { { cells->x[0], cells->y[cells->ny], cells->x[cells->nx],
				    cells->y[0] },
				  w,
				  h,
				  dp_calloc(w * h, sizeof *out.colour) };

	edges_assign_samples(cells->x, cells->nx, of, w);
	edges_assign_samples(cells->y, cells->ny, of + w, h);
	for (size_t j = 0; j < h; j++)
		for (size_t i = 0; i < w; i++)
			out.colour[(h - 1 - j) * w + i] =
				cells->colour[of[w + j] * cells->nx + of[i]];
	free(of);
	return out;
}

void heat_cells_draw_rects(struct canvas *c, const struct heat_cells *cells)
{
	for (size_t j = 0; j < cells->ny; j++) {
		for (size_t i = 0; i < cells->nx; i++) {
			plot_colour colour = cells->colour[j * cells->nx + i];
			struct rect r = { cells->x[i], cells->y[j + 1], cells->x[i + 1],
					  cells->y[j] };

			if (colour != NO_CELL_COLOUR)
				canvas_fill_rect(c, r, colour, 1);
		}
	}
}
