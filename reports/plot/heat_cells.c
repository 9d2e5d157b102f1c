/* heat_cells.c - coloured rectangles that share their edges. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

static bool edges_are_even(const double *edge, size_t n)
{
	double step = (edge[n] - edge[0]) / (double)n;

	for (size_t i = 1; i < n; i++)
		if (!(fabs(edge[i] - edge[0] - step * (double)i) < 0.05))
			return false;
	return fabs(step) > 0;
}

/* How many samples show the edges well. */
static size_t edges_count_samples(const double *edge, size_t n)
{
	return edges_are_even(edge, n) ? n : (size_t)fmax(ceil(fabs(edge[n] - edge[0]) * 2), 1);
}

/* Which cell each of m samples is in, for edges that go one way. */
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
