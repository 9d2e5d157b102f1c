/* time_axis.c - what figures over time share: blocks, and axes in a fitting unit. */
#include "reports/figures/common/figure_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct fig_time_unit fig_choose_time_unit(double seconds)
{
	if (seconds < 180)
		return (struct fig_time_unit){ 1, "seconds" };
	if (seconds < 3 * 3600)
		return (struct fig_time_unit){ 60, "minutes" };
	if (seconds < 3 * 86400)
		return (struct fig_time_unit){ 3600, "hours" };
	return (struct fig_time_unit){ 86400, "days" };
}

void fig_set_time_axis(struct plot_panel *a, double length)
{
	struct fig_time_unit u = fig_choose_time_unit(length);
	char label[80];

	snprintf(label, sizeof label, "%s since the study was submitted", u.name);
	panel_axis(a, PLOT_X, label, PLOT_LINEAR);
	panel_limits(a, PLOT_X, 0, fmax(length, 1e-3) / u.seconds);
}

void fig_rects_free(struct fig_rects *b)
{
	free(b->x0);
	free(b->x1);
	free(b->y0);
	free(b->y1);
	*b = (struct fig_rects){ 0 };
}

bool fig_rects_alloc(struct fig_rects *b, size_t room)
{
	*b = (struct fig_rects){ .x0 = dp_malloc(room * sizeof *b->x0 + 1),
				 .x1 = dp_malloc(room * sizeof *b->x1 + 1),
				 .y0 = dp_malloc(room * sizeof *b->y0 + 1),
				 .y1 = dp_malloc(room * sizeof *b->y1 + 1) };
	return b->x0 && b->x1 && b->y0 && b->y1;
}

void fig_rects_add(struct fig_rects *b, double x0, double x1, double y0, double y1)
{
	b->x0[b->n] = x0;
	b->x1[b->n] = x1;
	b->y0[b->n] = y0;
	b->y1[b->n++] = y1;
}

void fig_rects_draw(struct plot_panel *a, const struct plot_style *style, const char *name,
		    const struct fig_rects *b)
{
	panel_add_rects(a, style, name, b->x0, b->x1, b->y0, b->y1, b->n);
}
