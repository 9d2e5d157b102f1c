/* parallel.c - parallel coordinates: one upright axis for each column of values. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

static const double tick = 3, gap = 4;

void parallel_see(struct parallel *p)
{
	for (size_t i = 0; i < p->n; i++) {
		axis_begin(&p->axes[i], false);
		for (size_t j = 0; j < p->m; j++)
			axis_see(&p->axes[i], p->values[j * p->n + i]);
		axis_settle(&p->axes[i]);
	}
	axis_begin(&p->bar.axis, true);
	for (size_t j = 0; j < p->m; j++)
		axis_see(&p->bar.axis, p->by[j]);
	axis_settle(&p->bar.axis);
}

static double parallel_spacing(const struct parallel *p, const struct rect *area)
{
	return (area->x1 - area->x0) / (p->n > 1 ? (double)(p->n - 1) : 1);
}

static double parallel_place(const struct parallel *p, const struct rect *area, size_t i)
{
	return p->n > 1 ? area->x0 + parallel_spacing(p, area) * (double)i
			: (area->x0 + area->x1) / 2;
}

/* Labels stand above their axes in up to three lines. */
static void parallel_heading(struct canvas *c, const struct parallel *p,
			     const struct rect *area, size_t i, struct lines *l)
{
	text_wrap(c, FONT_LEGEND, p->axes[i].label,
		  fmax(parallel_spacing(p, area) - 6, 30), 3, l);
}

void parallel_measure(struct canvas *c, struct parallel *p, const struct rect *area,
		      struct margins *m)
{
	double height = area->y1 - area->y0, left = 0, right = 0;
	size_t lines = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct lines l;

		parallel_heading(c, p, area, i, &l);
		lines = l.n > lines ? l.n : lines;
		for (size_t k = 0; k < l.n; k++) {
			double half = text_width(c, FONT_LEGEND, l.line[k]) / 2;

			left = i == 0 ? fmax(left, half) : left;
			right = i + 1 == p->n ? fmax(right, half) : right;
		}
		axis_ticks(c, &p->axes[i], PLOT_Y, height);
	}
	if (p->n)
		left = fmax(left, axis_widest(c, &p->axes[0]) + tick + gap);
	m->left = left;
	/* the bar stands below the heading of the last axis */
	m->right = fmax(right, colourbar_width(c, &p->bar, height));
	m->top = (double)lines * text_line_height(c, FONT_LEGEND) + 8;
	m->bottom = 8;
}

/* Lines break at values that cannot be shown. */
static void draw_parallel_line(struct canvas *c, const struct parallel *p,
			       const struct rect *area, size_t j, struct point *run)
{
	struct pen pen = { GREY, 1.1, PLOT_SOLID, 1 };
	size_t n = 0;

	if (!axis_shows(&p->bar.axis, p->by[j]))
		return;
	pen.colour = colourbar_colour(&p->bar, p->by[j]);
	for (size_t i = 0; i < p->n; i++) {
		double value = p->values[j * p->n + i];

		if (axis_shows(&p->axes[i], value)) {
			run[n++] = (struct point){ parallel_place(p, area, i),
						   axis_at(&p->axes[i], value) };
		} else {
			canvas_line(c, run, n, &pen);
			n = 0;
		}
	}
	canvas_line(c, run, n, &pen);
}

static void draw_axis(struct canvas *c, const struct parallel *p, const struct rect *area,
		      size_t i)
{
	const struct axis *a = &p->axes[i];
	double x = parallel_place(p, area, i), size = text_size(c, FONT_TICK) * 0.6;
	struct lines l;

	canvas_rule(c, (struct point){ x, area->y0 }, (struct point){ x, area->y1 },
		    GREY);
	for (size_t k = 0; k < a->ticks.n; k++) {
		double y = axis_at(a, a->ticks.at[k]), right = x - tick - gap / 2, width;

		canvas_rule(c, (struct point){ x - tick, y }, (struct point){ x, y },
			    GREY);
		width = text_width(c, FONT_TICK, a->ticks.label[k]);
		if (width > 0)
			canvas_block(c,
				     (struct rect){ right - width - 1, y - size,
						    right + 1, y + size },
				     WHITE, 0.8);
		text_draw(c, FONT_TICK, (struct point){ right, y }, 1, 0,
			  a->ticks.label[k], INK);
	}
	parallel_heading(c, p, area, i, &l);
	text_lines(c, FONT_LEGEND,
		   (struct point){ x, area->y0 - 8 -
					      (double)l.n *
						      text_line_height(c, FONT_LEGEND) },
		   0.5, &l, INK);
}

void parallel_draw(struct canvas *c, struct parallel *p, const struct rect *area)
{
	struct rect clip = { area->x0 - 1, area->y0 - 1, area->x1 + 1, area->y1 + 1 };
	struct point *run = malloc((p->n + 1) * sizeof *run);

	if (!run) {
		c->failed = true;
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		p->axes[i].from = area->y1;
		p->axes[i].to = area->y0;
	}
	canvas_clip(c, &clip);
	for (size_t j = 0; j < p->m; j++)
		draw_parallel_line(c, p, area, j, run);
	canvas_clip(c, NULL);
	for (size_t i = 0; i < p->n; i++)
		draw_axis(c, p, area, i);
	free(run);
}

void parallel_free(struct parallel *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		axis_free(&p->axes[i]);
	free(p->axes);
	free(p->values);
	free(p->by);
	axis_free(&p->bar.axis);
	free(p);
}
