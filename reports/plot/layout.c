/* layout.c - compute the positions of all parts of a figure; for paper, rearrange it to the column
 * width. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* CSS pixels. On paper the page provides the edge. */
static const double screen_edge = 12, print_edge = 3, between = 14;
/* Keeps the label of a bar closer to it than to the next axis. */
static const double after_bar = 8;
/* CSS pixels that a panel needs on paper: with axes only, with heat map cells, with a colour bar,
 * with names beside it. */
static const double plain_width = 150, cells_width = 185, bar_width = 215, names_width = 240;

static void layout_find_ranges(struct plot_panel *a)
{
	if (a->parallel) {
		parallel_find_ranges(a->parallel);
		return;
	}
	/* the axis range ends at the cells' edges */
	axis_reset_range(&a->axis[PLOT_X], a->heatmap != NULL);
	axis_reset_range(&a->axis[PLOT_Y], a->heatmap != NULL);
	if (a->heatmap)
		heatmap_find_ranges(a);
	series_find_ranges(a);
	axis_finish_range(&a->axis[PLOT_X]);
	axis_finish_range(&a->axis[PLOT_Y]);
}

/* Legends of single panels, or one for the figure if all are equal. */
static void collect_legends(struct plot *p)
{
	struct plot_panel *first = NULL, *a;
	bool same = true;

	legend_free(&p->legend);
	for (int i = 0; (a = plot_next_panel(p, &i));) {
		if (a->parallel)
			continue;
		legend_free(&a->legend);
		legend_collect(&a->legend, a, false);
		if (!first)
			first = a;
		same &= legend_is_equal(&first->legend, &a->legend);
	}
	if (!first || !same)
		return;
	p->legend = first->legend;
	first->legend = (struct legend){ 0 };
	for (int i = 0; (a = plot_next_panel(p, &i));)
		legend_free(&a->legend);
}

/* Places title, note and shared legend. Returns the remaining area. */
static struct rect layout_place_titles(struct canvas *c, struct plot *p)
{
	double edge = p->for_print ? print_edge : screen_edge;
	bool titled = !p->no_title && c->backend != &plot_backend_inline_svg;
	struct rect inner = { edge, edge * 0.75, p->width - edge, p->height - edge / 2 };
	double width = inner.x1 - inner.x0;

	p->frame = inner;
	/* a page has the title as its own heading */
	text_wrap(c, FONT_TITLE, titled ? p->title : NULL, width, 2, &p->heading);
	inner.y0 += (double)p->heading.n * text_line_height(c, FONT_TITLE) + (p->heading.n ? 6 : 0);
	text_wrap(c, FONT_NOTE, p->note, width, p->for_print ? 3 : 2, &p->notes);
	inner.y1 -= (double)p->notes.n * text_line_height(c, FONT_NOTE) + (p->notes.n ? 6 : 0);
	legend_measure(c, &p->legend, width, inner.y1 - inner.y0);
	p->legend_box = inner;
	if (p->legend.beside)
		p->legend_box.x0 = inner.x1 = inner.x1 - p->legend.width;
	else
		inner.y0 += p->legend.height;
	if (p->shared_colourbar)
		inner.x1 -= colourbar_width(c, p->shared_colourbar, inner.y1 - inner.y0);
	return inner;
}

/* The letter is beside the first line of the heading, or alone. */
double panel_heading_height(const struct canvas *c, const struct plot_panel *a)
{
	size_t n = a->heading.n || !a->letter[0] ? a->heading.n : 1;

	return (double)n * text_line_height(c, FONT_PANEL) + (n ? 2 : 0);
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
	m->top += panel_heading_height(c, a);
	legend_measure(c, &a->legend, width, height);
	if (a->legend.beside)
		m->right += a->legend.width;
	else
		m->top += a->legend.height;
}

/* Margins shared by the panels of each row and column. */
struct grid_margins {
	double *left, *right; /* by column */
	double *top, *bottom; /* by row */
};

/* The part of `size` that is left for each of n areas. */
static double layout_area_size(double size, const double *before, const double *after, int n)
{
	for (int i = 0; i < n; i++)
		size -= before[i] + after[i];
	return fmax((size - between * (n - 1)) / n, 8);
}

/* Snaps areas to whole pixels, so that axes and cells are sharp. */
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

/* Ticks and margins depend on the area sizes and vice versa: start without margins and iterate. */
static void layout_panels(struct canvas *c, struct plot *p)
{
	double *space = dp_calloc((size_t)(p->rows + p->columns), 2 * sizeof *space);
	struct grid_margins g = { space, space + p->columns, space + 2 * p->columns,
				  space + 2 * p->columns + p->rows };
	struct rect inner = layout_place_titles(c, p), *all = &p->colourbar_area;
	struct plot_panel *a;

	place_areas(p, &inner, &g);
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < 2 * (p->rows + p->columns); i++)
			space[i] = 0;
		for (int i = 0; (a = plot_next_panel(p, &i));) {
			int r = (i - 1) / p->columns, k = (i - 1) % p->columns;

			measure_panel(c, a);
			g.left[k] = fmax(g.left[k], a->margins.left);
			g.right[k] = fmax(g.right[k], a->margins.right);
			g.top[r] = fmax(g.top[r], a->margins.top);
			g.bottom[r] = fmax(g.bottom[r], a->margins.bottom);
		}
		place_areas(p, &inner, &g);
	}
	free(space);
	if (!p->shared_colourbar)
		return;
	/* the shared bar is as high as all rows together */
	*all = (struct rect){ 0, INFINITY, 0, -INFINITY };
	for (int i = 0; (a = plot_next_panel(p, &i));) {
		all->x1 = fmax(all->x1, a->area.x1);
		all->y0 = fmin(all->y0, a->area.y0);
		all->y1 = fmax(all->y1, a->area.y1);
	}
	colourbar_width(c, p->shared_colourbar, all->y1 - all->y0); /* ticks for this height */
}

/* Fills fewer columns row by row, without gaps. */
static void rearrange_panels(struct plot *p, int panels, int columns)
{
	int rows = panels > 0 ? (panels + columns - 1) / columns : 1;
	struct plot_panel **moved = arena_calloc(&p->mem, (size_t)(rows * columns), sizeof *moved);

	for (int i = 0, k = 0; k < panels;)
		moved[k++] = plot_next_panel(p, &i);
	p->panels = moved;
	p->rows = rows;
	p->columns = columns;
}

static double panel_min_print_width(const struct plot_panel *a)
{
	if (a->parallel)
		return INFINITY; /* always the full width: axes far apart are easier to read */
	if (a->axis[PLOT_Y].ncategories)
		return names_width;
	if (a->heatmap)
		return colourbar_find_shared(a->plot) ? cells_width : bar_width;
	return plain_width;
}

void plot_set_print_width(struct plot *p, double width)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	double cell = p->height / p->rows / (p->width / p->columns), need = plain_width;
	int panels = 0, columns, count = 0;
	struct plot_panel *a;

	if (p->for_print)
		return;
	for (int i = 0; (a = plot_next_panel(p, &i)); panels++)
		need = fmax(need, panel_min_print_width(a));
	columns = p->columns < panels ? p->columns : panels;
	while (columns > 1 && width / columns < need)
		columns--;
	columns = columns < 1 ? 1 : columns;
	if (columns != p->columns)
		rearrange_panels(p, panels, columns);
	p->for_print = true;
	p->width = width;
	/* many rows get flat panels, to fit on a page */
	p->panel_aspect = fmin(fmax(cell, 0.55), columns == 1 && p->rows > 2 ? 0.6 : 1);
	for (int i = 0; (a = plot_next_panel(p, &i)); count++) {
		/* a, b, ... z, aa, ab: letters to refer to panels */
		if (panels > 1)
			snprintf(a->letter, sizeof a->letter, "%.*s%c", count >= 26,
				 &letters[(count / 26 + 25) % 26], letters[count % 26]);
		/* smaller markers: paper is read closer */
		for (size_t k = 0; k < a->nseries; k++) {
			a->series[k].style.size *= 0.75;
			a->series[k].style.width *= 0.8;
		}
	}
}

/* Names beside an axis need one or two lines each. */
static double panel_min_height(const struct canvas *c, const struct plot_panel *a)
{
	double n = (double)a->axis[PLOT_Y].ncategories, lines = n < 12 ? 2.8 : n < 20 ? 2.2 : 1;
	double beside = 0; /* height of labels beside bars */

	for (size_t i = 0; i < a->nlabels; i++)
		beside += a->labels[i].is_fixed;
	return fmax(fmax(60, n * text_line_height(c, FONT_TICK) * lines),
		    1.3 * beside * text_line_height(c, FONT_SMALL));
}

/* The height that gives panels their aspect ratio, from their current positions. */
static double print_height(const struct canvas *c, const struct plot *p)
{
	double more = -INFINITY;
	const struct plot_panel *a;

	for (int i = 0; (a = plot_next_panel(p, &i));) {
		double want =
			fmax((a->area.x1 - a->area.x0) * p->panel_aspect, panel_min_height(c, a));

		more = fmax(more, want - (a->area.y1 - a->area.y0));
	}
	return more > -INFINITY ? ceil(p->height + more * p->rows) : p->height;
}

void plot_layout(struct canvas *c, struct plot *p)
{
	struct plot_panel *a;

	collect_legends(p);
	for (int i = 0; (a = plot_next_panel(p, &i));)
		layout_find_ranges(a);
	p->shared_colourbar = colourbar_find_shared(p);
	if (p->for_print) /* start from the same state for every format */
		p->height = p->width;
	layout_panels(c, p);
	for (int pass = 0; p->for_print && pass < 3; pass++) {
		p->height = print_height(c, p);
		layout_panels(c, p);
	}
	for (int i = 0; (a = plot_next_panel(p, &i));) {
		a->axis[PLOT_X].pixel_lo = a->area.x0;
		a->axis[PLOT_X].pixel_hi = a->area.x1;
		a->axis[PLOT_Y].pixel_lo = a->area.y1;
		a->axis[PLOT_Y].pixel_hi = a->area.y0;
	}
}
