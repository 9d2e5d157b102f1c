/* layout.c - where everything stands, from measured text. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

/* CSS pixels; on paper the edge is the page's. */
static const double screen_edge = 12, print_edge = 3, between = 14;
/* So that the label of a bar is nearer to it than to the next axis. */
static const double after_bar = 8;

static void layout_find_ranges(struct plot_panel *a)
{
	if (a->parallel) {
		parallel_find_ranges(a->parallel);
		return;
	}
	/* cells end at their edges */
	axis_reset_range(&a->axis[PLOT_X], a->heatmap != NULL);
	axis_reset_range(&a->axis[PLOT_Y], a->heatmap != NULL);
	if (a->heatmap)
		heatmap_find_ranges(a);
	series_find_ranges(a);
	axis_finish_range(&a->axis[PLOT_X]);
	axis_finish_range(&a->axis[PLOT_Y]);
}

/* Legends of single panels, or one for the figure when all are the same. */
static void collect_legends(struct plot *p)
{
	struct plot_panel *first = NULL;
	bool same = true;

	legend_free(&p->legend);
	for (int i = 0; i < p->rows * p->columns; i++) {
		struct plot_panel *a = p->panels[i];

		if (!a || a->parallel)
			continue;
		legend_free(&a->legend);
		legend_collect(&a->legend, a);
		if (first && !legend_is_equal(&first->legend, &a->legend))
			same = false;
		if (!first)
			first = a;
	}
	if (!first || !same)
		return;
	p->legend = first->legend;
	first->legend = (struct legend){ 0 };
	for (int i = 0; i < p->rows * p->columns; i++) {
		if (p->panels[i])
			legend_free(&p->panels[i]->legend);
	}
}

/* Title, note and the common legend take their parts of the figure. */
static void layout_place_titles(struct canvas *c, struct plot *p, struct rect *inner)
{
	double width, edge = p->for_print ? print_edge : screen_edge;

	p->frame = (struct rect){ edge, edge * 0.75, p->width - edge, p->height - edge / 2 };
	*inner = p->frame;
	width = inner->x1 - inner->x0;
	/* a page has its title as a heading of its own */
	text_wrap(c, FONT_TITLE,
		  p->no_title || c->backend == &plot_backend_inline_svg ? NULL : p->title, width, 2,
		  &p->heading);
	inner->y0 +=
		(double)p->heading.n * text_line_height(c, FONT_TITLE) + (p->heading.n ? 6 : 0);
	text_wrap(c, FONT_NOTE, p->note, width, p->for_print ? 3 : 2, &p->notes);
	inner->y1 -= (double)p->notes.n * text_line_height(c, FONT_NOTE) + (p->notes.n ? 6 : 0);
	legend_measure(c, &p->legend, width, inner->y1 - inner->y0);
	p->legend_box = *inner;
	if (p->legend.beside)
		p->legend_box.x0 = inner->x1 = inner->x1 - p->legend.width;
	else
		inner->y0 += p->legend.height;
	if (p->shared_colourbar)
		inner->x1 -= colourbar_width(c, p->shared_colourbar, inner->y1 - inner->y0);
}

/* A letter stands beside the first line of the heading, or alone. */
size_t panel_heading_lines(const struct plot_panel *a)
{
	return a->heading.n || !a->letter[0] ? a->heading.n : 1;
}

static void measure_panel(struct canvas *c, struct plot_panel *a)
{
	struct margins *m = &a->margins;
	double width = a->area.x1 - a->area.x0, height = a->area.y1 - a->area.y0;

	if (a->parallel)
		parallel_measure(c, a->parallel, &a->area, m);
	else
		axes_measure(c, a, m);
	if (a->heatmap && !a->parallel && !a->plot->shared_colourbar)
		m->right = fmax(m->right, colourbar_width(c, &a->heatmap->bar, height) + after_bar);
	text_wrap(c, FONT_PANEL, a->title, width, 2, &a->heading);
	m->top += (double)panel_heading_lines(a) * text_line_height(c, FONT_PANEL) +
		  (panel_heading_lines(a) ? 2 : 0);
	legend_measure(c, &a->legend, width, height);
	if (a->legend.beside)
		m->right += a->legend.width;
	else
		m->top += a->legend.height;
}

/* Margins that the panels of each row and column have in common. */
struct grid_margins {
	double *left, *right; /* by column */
	double *top, *bottom; /* by row */
};

static void grid_margins_clear(const struct plot *p, const struct grid_margins *g)
{
	for (int r = 0; r < p->rows; r++)
		g->top[r] = g->bottom[r] = 0;
	for (int k = 0; k < p->columns; k++)
		g->left[k] = g->right[k] = 0;
}

static void common_margins(const struct plot *p, const struct grid_margins *g)
{
	grid_margins_clear(p, g);
	for (int i = 0; i < p->rows * p->columns; i++) {
		const struct plot_panel *a = p->panels[i];
		int r = i / p->columns, k = i % p->columns;

		if (!a)
			continue;
		g->left[k] = fmax(g->left[k], a->margins.left);
		g->right[k] = fmax(g->right[k], a->margins.right);
		g->top[r] = fmax(g->top[r], a->margins.top);
		g->bottom[r] = fmax(g->bottom[r], a->margins.bottom);
	}
}

/* What is left of `size` for each of n areas. */
static double layout_area_size(double size, const double *before, const double *after, int n)
{
	for (int i = 0; i < n; i++)
		size -= before[i] + after[i];
	return fmax((size - between * (n - 1)) / n, 8);
}

/* Snapped to whole pixels, so that axes and cells are sharp. */
static void place_areas(struct plot *p, const struct rect *inner, const struct grid_margins *g)
{
	double width = floor(
		       layout_area_size(inner->x1 - inner->x0, g->left, g->right, p->columns)),
	       height = floor(layout_area_size(inner->y1 - inner->y0, g->top, g->bottom, p->rows)),
	       y = inner->y0;

	for (int r = 0; r < p->rows; r++) {
		double x = inner->x0;

		for (int k = 0; k < p->columns; k++) {
			struct plot_panel *a = p->panels[r * p->columns + k];
			double x0 = round(x + g->left[k]) + 0.5, y0 = round(y + g->top[r]) + 0.5;

			if (a) {
				a->area = (struct rect){ x0, y0, x0 + width, y0 + height };
				a->left = x;
				a->top = y;
			}
			x += g->left[k] + width + g->right[k] + between;
		}
		y += g->top[r] + height + g->bottom[r] + between;
	}
}

static void panel_set_axis_pixels(struct plot_panel *a)
{
	a->axis[PLOT_X].pixel_lo = a->area.x0;
	a->axis[PLOT_X].pixel_hi = a->area.x1;
	a->axis[PLOT_Y].pixel_lo = a->area.y1;
	a->axis[PLOT_Y].pixel_hi = a->area.y0;
}

/* The common bar is as high as all rows together. */
static void place_bar(struct canvas *c, struct plot *p)
{
	struct rect *all = &p->colourbar_area;

	*all = (struct rect){ 0, INFINITY, 0, -INFINITY };
	for (int i = 0; i < p->rows * p->columns; i++) {
		const struct plot_panel *a = p->panels[i];

		if (!a)
			continue;
		all->x1 = fmax(all->x1, a->area.x1);
		all->y0 = fmin(all->y0, a->area.y0);
		all->y1 = fmax(all->y1, a->area.y1);
	}
	colourbar_width(c, p->shared_colourbar, all->y1 - all->y0); /* ticks for this height */
}

/* Ticks and margins depend on the size of the areas and they on the margins: begin
 * without margins, and repeat. */
static void layout_panels(struct canvas *c, struct plot *p, const struct grid_margins *g)
{
	int n = p->rows * p->columns;
	struct rect inner;

	layout_place_titles(c, p, &inner);
	grid_margins_clear(p, g);
	place_areas(p, &inner, g);
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < n; i++) {
			if (p->panels[i])
				measure_panel(c, p->panels[i]);
		}
		common_margins(p, g);
		place_areas(p, &inner, g);
	}
	if (p->shared_colourbar)
		place_bar(c, p);
}

void plot_layout(struct canvas *c, struct plot *p)
{
	int n = p->rows * p->columns;
	double *space = dp_calloc(2 * (size_t)(p->rows + p->columns), sizeof *space);
	struct grid_margins g = { space, space + p->columns, space + 2 * p->columns,
				  space + 2 * p->columns + p->rows };

	collect_legends(p);
	for (int i = 0; i < n; i++) {
		if (p->panels[i])
			layout_find_ranges(p->panels[i]);
	}
	p->shared_colourbar = colourbar_find_shared(p);
	if (p->for_print) /* the same beginning for every form of the picture */
		p->height = p->width;
	layout_panels(c, p, &g);
	for (int pass = 0; p->for_print && pass < 3; pass++) {
		p->height = print_compute_height(c, p);
		layout_panels(c, p, &g);
	}
	for (int i = 0; i < n; i++) {
		if (p->panels[i])
			panel_set_axis_pixels(p->panels[i]);
	}
	free(space);
}
