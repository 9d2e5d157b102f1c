/* layout.c - where everything stands, from measured text. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

/* CSS pixels; on paper the edge is the page's. */
static const double screen_edge = 12, print_edge = 3, between = 14;
/* So that the label of a bar is nearer to it than to the next axis. */
static const double after_bar = 8;

static void layout_see(struct plot_panel *a)
{
	if (a->parallel) {
		parallel_see(a->parallel);
		return;
	}
	/* cells end at their edges */
	axis_begin(&a->axis[PLOT_X], a->heat != NULL);
	axis_begin(&a->axis[PLOT_Y], a->heat != NULL);
	if (a->heat)
		heat_see(a);
	series_see(a);
	axis_settle(&a->axis[PLOT_X]);
	axis_settle(&a->axis[PLOT_Y]);
}

/* Legends of single panels, or one for the figure when all are the same. */
static bool collect_legends(struct plot *p)
{
	struct plot_panel *first = NULL;
	bool same = true;

	legend_free(&p->legend);
	for (int i = 0; i < p->rows * p->columns; i++) {
		struct plot_panel *a = p->panels[i];

		if (!a || a->parallel)
			continue;
		legend_free(&a->legend);
		if (!legend_collect(&a->legend, a))
			return false;
		if (first && !legend_same(&first->legend, &a->legend))
			same = false;
		if (!first)
			first = a;
	}
	if (!first || !same)
		return true;
	p->legend = first->legend;
	first->legend = (struct legend){ 0 };
	for (int i = 0; i < p->rows * p->columns; i++) {
		if (p->panels[i])
			legend_free(&p->panels[i]->legend);
	}
	return true;
}

/* Title, note and the common legend take their parts of the figure. */
static void place_surroundings(struct canvas *c, struct plot *p, struct rect *inner)
{
	double width, edge = p->print ? print_edge : screen_edge;

	p->frame = (struct rect){ edge, edge * 0.75, p->width - edge, p->height - edge / 2 };
	*inner = p->frame;
	width = inner->x1 - inner->x0;
	/* a page has its title as a heading of its own */
	text_wrap(c, FONT_TITLE, p->untitled || c->back == &back_end_page ? NULL : p->title, width,
		  2, &p->heading);
	inner->y0 +=
		(double)p->heading.n * text_line_height(c, FONT_TITLE) + (p->heading.n ? 6 : 0);
	text_wrap(c, FONT_NOTE, p->note, width, p->print ? 3 : 2, &p->notes);
	inner->y1 -= (double)p->notes.n * text_line_height(c, FONT_NOTE) + (p->notes.n ? 6 : 0);
	legend_measure(c, &p->legend, width, inner->y1 - inner->y0);
	p->legend_box = *inner;
	if (p->legend.beside)
		p->legend_box.x0 = inner->x1 = inner->x1 - p->legend.width;
	else
		inner->y0 += p->legend.height;
	if (p->bar)
		inner->x1 -= colourbar_width(c, p->bar, inner->y1 - inner->y0);
}

/* A letter stands beside the first line of the heading, or alone. */
size_t heading_lines(const struct plot_panel *a)
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
	if (a->heat && !a->parallel && !a->plot->bar)
		m->right = fmax(m->right, colourbar_width(c, &a->heat->bar, height) + after_bar);
	text_wrap(c, FONT_PANEL, a->title, width, 2, &a->heading);
	m->top += (double)heading_lines(a) * text_line_height(c, FONT_PANEL) +
		  (heading_lines(a) ? 2 : 0);
	legend_measure(c, &a->legend, width, height);
	if (a->legend.beside)
		m->right += a->legend.width;
	else
		m->top += a->legend.height;
}

/* Margins that the panels of each row and column have in common. */
struct grid {
	double *left, *right; /* by column */
	double *top, *bottom; /* by row */
};

static void no_margins(const struct plot *p, const struct grid *g)
{
	for (int r = 0; r < p->rows; r++)
		g->top[r] = g->bottom[r] = 0;
	for (int k = 0; k < p->columns; k++)
		g->left[k] = g->right[k] = 0;
}

static void common_margins(const struct plot *p, const struct grid *g)
{
	no_margins(p, g);
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
static double layout_share(double size, const double *before, const double *after, int n)
{
	for (int i = 0; i < n; i++)
		size -= before[i] + after[i];
	return fmax((size - between * (n - 1)) / n, 8);
}

/* Snapped to whole pixels, so that axes and cells are sharp. */
static void place_areas(struct plot *p, const struct rect *inner, const struct grid *g)
{
	double width = floor(layout_share(inner->x1 - inner->x0, g->left, g->right, p->columns)),
	       height = floor(layout_share(inner->y1 - inner->y0, g->top, g->bottom, p->rows)),
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

static void set_ends(struct plot_panel *a)
{
	a->axis[PLOT_X].from = a->area.x0;
	a->axis[PLOT_X].to = a->area.x1;
	a->axis[PLOT_Y].from = a->area.y1;
	a->axis[PLOT_Y].to = a->area.y0;
}

/* The common bar is as high as all rows together. */
static void place_bar(struct canvas *c, struct plot *p)
{
	struct rect *all = &p->bar_beside;

	*all = (struct rect){ 0, INFINITY, 0, -INFINITY };
	for (int i = 0; i < p->rows * p->columns; i++) {
		const struct plot_panel *a = p->panels[i];

		if (!a)
			continue;
		all->x1 = fmax(all->x1, a->area.x1);
		all->y0 = fmin(all->y0, a->area.y0);
		all->y1 = fmax(all->y1, a->area.y1);
	}
	colourbar_width(c, p->bar, all->y1 - all->y0); /* ticks for this height */
}

/* Ticks and margins depend on the size of the areas and they on the margins: begin
 * without margins, and repeat. */
static void layout_panels(struct canvas *c, struct plot *p, const struct grid *g)
{
	int n = p->rows * p->columns;
	struct rect inner;

	place_surroundings(c, p, &inner);
	no_margins(p, g);
	place_areas(p, &inner, g);
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < n; i++) {
			if (p->panels[i])
				measure_panel(c, p->panels[i]);
		}
		common_margins(p, g);
		place_areas(p, &inner, g);
	}
	if (p->bar)
		place_bar(c, p);
}

bool plot_layout(struct canvas *c, struct plot *p)
{
	int n = p->rows * p->columns;
	double *space = calloc(2 * (size_t)(p->rows + p->columns), sizeof *space);
	struct grid g = { space, space + p->columns, space + 2 * p->columns,
			  space + 2 * p->columns + p->rows };

	if (!space || !collect_legends(p)) {
		free(space);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (p->panels[i])
			layout_see(p->panels[i]);
	}
	p->bar = colourbar_shared(p);
	if (p->print) /* the same beginning for every form of the picture */
		p->height = p->width;
	layout_panels(c, p, &g);
	for (int pass = 0; p->print && pass < 3; pass++) {
		p->height = print_height(c, p);
		layout_panels(c, p, &g);
	}
	for (int i = 0; i < n; i++) {
		if (p->panels[i])
			set_ends(p->panels[i]);
	}
	free(space);
	return true;
}
