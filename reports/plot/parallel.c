/* parallel.c - parallel coordinates: one upright axis for each column of values. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tick = 3, gap = 4, slant = 40, slanted_width = 110;

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
static void parallel_heading(struct canvas *c, const struct parallel *p, const struct rect *area,
			     size_t i, struct lines *l)
{
	text_wrap(c, FONT_LEGEND, p->axes[i].label, fmax(parallel_spacing(p, area) - 6, 30), 3, l);
}

/* Is some word of a label too long for its place? Then all are slanted. */
static bool parallel_slanted(struct canvas *c, const struct parallel *p, const struct rect *area)
{
	struct lines l;

	for (size_t i = 0; i < p->n; i++) {
		size_t length = 0;

		parallel_heading(c, p, area, i, &l);
		for (size_t k = 0; k < l.n; k++)
			length += strlen(l.line[k]) + (k > 0);
		if (p->axes[i].label && length != strlen(p->axes[i].label))
			return true;
	}
	return false;
}

static void parallel_heading_fit(struct canvas *c, const struct axis *a, char out[TEXT_LEN])
{
	text_fit(c, FONT_LEGEND, a->label ? a->label : "", slanted_width, out);
}

/* What the labels need above the axes, and beyond the first and the last. */
static void parallel_measure_headings(struct canvas *c, const struct parallel *p,
				      const struct rect *area, struct margins *m)
{
	bool slanted = parallel_slanted(c, p, area);
	char text[TEXT_LEN];
	struct lines l;

	for (size_t i = 0; i < p->n; i++) {
		if (slanted) {
			double width;

			parallel_heading_fit(c, &p->axes[i], text);
			width = text_width(c, FONT_LEGEND, text);
			m->top = fmax(m->top, width * sin(slant * M_PI / 180) +
						      text_line_height(c, FONT_LEGEND));
			if (i + 1 == p->n)
				m->right = width * cos(slant * M_PI / 180);
			continue;
		}
		parallel_heading(c, p, area, i, &l);
		m->top = fmax(m->top, (double)l.n * text_line_height(c, FONT_LEGEND) + 8);
		for (size_t k = 0; k < l.n; k++) {
			double half = text_width(c, FONT_LEGEND, l.line[k]) / 2;

			m->left = i == 0 ? fmax(m->left, half) : m->left;
			m->right = i + 1 == p->n ? fmax(m->right, half) : m->right;
		}
	}
}

void parallel_measure(struct canvas *c, struct parallel *p, const struct rect *area,
		      struct margins *m)
{
	double height = area->y1 - area->y0;

	*m = (struct margins){ .top = 8, .bottom = 8 };
	parallel_measure_headings(c, p, area, m);
	for (size_t i = 0; i < p->n; i++)
		axis_ticks(c, &p->axes[i], PLOT_Y, height);
	if (p->n)
		m->left = fmax(m->left, axis_widest(c, &p->axes[0]) + tick + gap);
	/* the bar stands below the heading of the last axis */
	m->right = fmax(m->right, colourbar_width(c, &p->bar, height));
}

/* Lines break at values that cannot be shown. */
static void draw_parallel_line(struct canvas *c, const struct parallel *p, const struct rect *area,
			       size_t j, struct point *run)
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

static void draw_heading(struct canvas *c, const struct parallel *p, const struct rect *area,
			 size_t i)
{
	double x = parallel_place(p, area, i), line = text_line_height(c, FONT_LEGEND);
	char text[TEXT_LEN];
	struct lines l;

	if (parallel_slanted(c, p, area)) {
		parallel_heading_fit(c, &p->axes[i], text);
		text_draw(c, FONT_LEGEND, (struct point){ x, area->y0 - 8 }, 0, slant, text, INK);
		return;
	}
	parallel_heading(c, p, area, i, &l);
	text_lines(c, FONT_LEGEND, (struct point){ x, area->y0 - 8 - (double)l.n * line }, 0.5, &l,
		   INK);
}

static void draw_axis(struct canvas *c, const struct parallel *p, const struct rect *area, size_t i)
{
	const struct axis *a = &p->axes[i];
	double x = parallel_place(p, area, i), size = text_size(c, FONT_TICK) * 0.6;

	canvas_rule(c, (struct point){ x, area->y0 }, (struct point){ x, area->y1 }, GREY);
	for (size_t k = 0; k < a->ticks.n; k++) {
		double y = axis_at(a, a->ticks.at[k]), right = x - tick - gap / 2, width;

		canvas_rule(c, (struct point){ x - tick, y }, (struct point){ x, y }, GREY);
		width = text_width(c, FONT_TICK, a->ticks.label[k]);
		if (width > 0)
			canvas_block(
				c,
				(struct rect){ right - width - 1, y - size, right + 1, y + size },
				WHITE, 0.8);
		text_draw(c, FONT_TICK, (struct point){ right, y }, 1, 0, a->ticks.label[k], INK);
	}
}

void parallel_draw(struct canvas *c, struct parallel *p, const struct rect *area)
{
	struct rect clip = { area->x0 - 1, area->y0 - 1, area->x1 + 1, area->y1 + 1 };
	struct point *run = malloc((p->n + 1) * sizeof *run);
	double first = p->n ? axis_widest(c, &p->axes[0]) : 0;

	if (!run) {
		c->failed = true;
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		p->axes[i].from = area->y1;
		p->axes[i].to = area->y0;
	}
	/* with room for the numbers of the first axis */
	canvas_begin_card(c, (struct rect){ area->x0 - first - tick - gap, area->y0 - 6,
					    area->x1 + 1, area->y1 + 6 });
	canvas_clip(c, &clip);
	for (size_t j = 0; j < p->m; j++)
		draw_parallel_line(c, p, area, j, run);
	canvas_clip(c, NULL);
	for (size_t i = 0; i < p->n; i++)
		draw_axis(c, p, area, i);
	canvas_end_card(c);
	for (size_t i = 0; i < p->n; i++)
		draw_heading(c, p, area, i);
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
