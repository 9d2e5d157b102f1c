/* print_layout.c - a figure laid out anew for the width of a column of text. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdio.h>

/* CSS pixels that a panel needs with its axes, with colours, with a bar of these, with
 * names beside it. */
static const double plain_width = 150, cells_width = 185, bar_width = 215, names_width = 240;

static double panel_min_print_width(const struct plot_panel *a)
{
	if (a->parallel)
		return INFINITY; /* each axis more makes it easier to read */
	if (a->axis[PLOT_Y].ncategories)
		return names_width;
	if (a->heatmap)
		return colourbar_find_shared(a->plot) ? cells_width : bar_width;
	return plain_width;
}

static int count_panels(const struct plot *p)
{
	int n = 0;

	for (int i = 0; i < p->rows * p->columns; i++)
		n += p->panels[i] != NULL;
	return n;
}

/* How many columns of panels there is room for. */
static int print_columns(const struct plot *p, double width)
{
	int panels = count_panels(p), n = p->columns < panels ? p->columns : panels;
	double need = plain_width;

	for (int i = 0; i < p->rows * p->columns; i++)
		if (p->panels[i])
			need = fmax(need, panel_min_print_width(p->panels[i]));
	while (n > 1 && width / n < need)
		n--;
	return n < 1 ? 1 : n;
}

/* Panels row by row in fewer columns, without gaps. */
static void print_rearrange_panels(struct plot *p, int columns)
{
	int n = count_panels(p), rows;
	struct plot_panel **panels;

	rows = n > 0 ? (n + columns - 1) / columns : 1;
	panels = arena_calloc(&p->mem, (size_t)(rows * columns), sizeof *panels);
	for (int i = 0, k = 0; i < p->rows * p->columns; i++)
		if (p->panels[i])
			panels[k++] = p->panels[i];
	p->panels = panels;
	p->rows = rows;
	p->columns = columns;
}

/* a, b, ... z, aa, ab: how a text refers to the panels, where there are several. */
static void print_letters(struct plot *p)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	int count = 0;

	for (int i = 0; count_panels(p) > 1 && i < p->rows * p->columns; i++) {
		struct plot_panel *a = p->panels[i];

		if (!a)
			continue;
		snprintf(a->letter, sizeof a->letter, "%.*s%c", count >= 26,
			 &letters[(count / 26 + 25) % 26], letters[count % 26]);
		count++;
	}
}

/* On paper marks are nearer to the eye. */
static void print_scale_styles(struct plot_panel *a)
{
	for (size_t i = 0; i < a->nseries; i++) {
		a->series[i].style.size *= 0.75;
		a->series[i].style.width *= 0.8;
	}
}

void plot_set_print_width(struct plot *p, double width)
{
	double cell;
	int columns;

	if (p->for_print)
		return;
	cell = p->height / p->rows / (p->width / p->columns);
	columns = print_columns(p, width);
	if (columns != p->columns)
		print_rearrange_panels(p, columns);
	p->for_print = true;
	p->width = width;
	/* many below each other are flat, to fit on a page */
	p->panel_aspect = fmin(fmax(cell, 0.55), columns == 1 && p->rows > 2 ? 0.6 : 1);
	print_letters(p);
	for (int i = 0; i < p->rows * p->columns; i++)
		if (p->panels[i])
			print_scale_styles(p->panels[i]);
}

/* Names beside an axis need a line or two each. */
static double panel_min_height(const struct canvas *c, const struct plot_panel *a)
{
	double line = text_line_height(c, FONT_TICK), n = (double)a->axis[PLOT_Y].ncategories;
	double beside = 0; /* texts beside bars, one below the other */

	for (size_t i = 0; i < a->nlabels; i++)
		beside += a->labels[i].is_fixed;
	return fmax(fmax(60, n * line *
				     (n < 12   ? 2.8
				      : n < 20 ? 2.2
					       : 1)),
		    1.3 * beside * text_line_height(c, FONT_SMALL));
}

double print_compute_height(const struct canvas *c, const struct plot *p)
{
	double more = -INFINITY;

	for (int i = 0; i < p->rows * p->columns; i++) {
		const struct plot_panel *a = p->panels[i];
		double want;

		if (!a)
			continue;
		want = fmax((a->area.x1 - a->area.x0) * p->panel_aspect, panel_min_height(c, a));
		more = fmax(more, want - (a->area.y1 - a->area.y0));
	}
	return more > -INFINITY ? ceil(p->height + more * p->rows) : p->height;
}
