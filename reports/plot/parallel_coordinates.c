/* parallel_coordinates.c - draw parallel coordinates: one vertical axis for each column of
 * values. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tick = 3, gap = 4, slant = 40, slanted_width = 110;

void parallel_find_ranges(struct parallel_coordinates *p)
{
	for (size_t i = 0; i < p->naxes; i++) {
		axis_reset_range(&p->axes[i], false);
		for (size_t j = 0; j < p->nlines; j++)
			axis_include_value(&p->axes[i], p->values[j * p->naxes + i]);
		axis_finish_range(&p->axes[i]);
	}
	axis_reset_range(&p->bar.axis, true);
	for (size_t j = 0; j < p->nlines; j++)
		axis_include_value(&p->bar.axis, p->colour_values[j]);
	axis_finish_range(&p->bar.axis);
}

static double parallel_spacing(const struct parallel_coordinates *p, const struct rect *area)
{
	return (area->x1 - area->x0) / (p->naxes > 1 ? (double)(p->naxes - 1) : 1);
}

static double parallel_axis_x(const struct parallel_coordinates *p, const struct rect *area,
			      size_t i)
{
	return p->naxes > 1 ? area->x0 + parallel_spacing(p, area) * (double)i
			    : (area->x0 + area->x1) / 2;
}

/* Wraps a label above its axis to at most three lines. */
static void parallel_wrap_label(struct canvas *c, const struct parallel_coordinates *p,
				const struct rect *area, size_t i, struct wrapped_text *l)
{
	text_wrap(c, FONT_LEGEND, p->axes[i].label, fmax(parallel_spacing(p, area) - 6, 30), 3, l);
}

/* Whether a word of any label is too wide for its place. All labels are slanted then. */
static bool parallel_slanted(struct canvas *c, const struct parallel_coordinates *p,
			     const struct rect *area)
{
	struct wrapped_text l;

	for (size_t i = 0; i < p->naxes; i++) {
		size_t length = 0;

		parallel_wrap_label(c, p, area, i, &l);
		for (size_t k = 0; k < l.n; k++)
			length += strlen(l.line[k]) + (k > 0);
		if (p->axes[i].label && length != strlen(p->axes[i].label))
			return true;
	}
	return false;
}

static void parallel_ellipsize_label(struct canvas *c, const struct axis *a,
				     char out[PLOT_TEXT_LEN])
{
	text_ellipsize(c, FONT_LEGEND, a->label ? a->label : "", slanted_width, out);
}

/* Measures the labels above the axes and beyond the first and last axis. */
static void parallel_measure_labels(struct canvas *c, const struct parallel_coordinates *p,
				    const struct rect *area, struct margins *m)
{
	bool slanted = parallel_slanted(c, p, area);
	char text[PLOT_TEXT_LEN];
	struct wrapped_text l;

	for (size_t i = 0; i < p->naxes; i++) {
		if (slanted) {
			double width;

			parallel_ellipsize_label(c, &p->axes[i], text);
			width = text_width(c, FONT_LEGEND, text);
			m->top = fmax(m->top, width * sin(slant * M_PI / 180) +
						      text_line_height(c, FONT_LEGEND));
			if (i + 1 == p->naxes)
				m->right = width * cos(slant * M_PI / 180);
			continue;
		}
		parallel_wrap_label(c, p, area, i, &l);
		m->top = fmax(m->top, (double)l.n * text_line_height(c, FONT_LEGEND) + 8);
		for (size_t k = 0; k < l.n; k++) {
			double half = text_width(c, FONT_LEGEND, l.line[k]) / 2;

			m->left = i == 0 ? fmax(m->left, half) : m->left;
			m->right = i + 1 == p->naxes ? fmax(m->right, half) : m->right;
		}
	}
}

void parallel_measure(struct canvas *c, struct parallel_coordinates *p, const struct rect *area,
		      struct margins *m)
{
	double height = area->y1 - area->y0;

	*m = (struct margins){ .top = 8, .bottom = 8 };
	parallel_measure_labels(c, p, area, m);
	for (size_t i = 0; i < p->naxes; i++)
		axis_ticks(c, &p->axes[i], PLOT_Y, height);
	if (p->naxes)
		m->left = fmax(m->left, axis_max_label_width(c, &p->axes[0]) + tick + gap);
	/* the bar is below the heading of the last axis */
	m->right = fmax(m->right, colourbar_width(c, &p->bar, height));
}

/* Lines break at values that cannot be shown. */
static void draw_parallel_line(struct canvas *c, const struct parallel_coordinates *p,
			       const struct rect *area, size_t j, struct point *run)
{
	struct pen pen = { AXIS_COLOUR, 1.1, PLOT_SOLID, 1 };
	size_t n = 0;

	if (!axis_can_show(&p->bar.axis, p->colour_values[j]))
		return;
	pen.colour = colourbar_colour(&p->bar, p->colour_values[j]);
	for (size_t i = 0; i < p->naxes; i++) {
		double value = p->values[j * p->naxes + i];

		if (axis_can_show(&p->axes[i], value)) {
			run[n++] = (struct point){ parallel_axis_x(p, area, i),
						   axis_to_pixel(&p->axes[i], value) };
		} else {
			canvas_line(c, run, n, &pen);
			n = 0;
		}
	}
	canvas_line(c, run, n, &pen);
}

static void draw_heading(struct canvas *c, const struct parallel_coordinates *p,
			 const struct rect *area, size_t i)
{
	double x = parallel_axis_x(p, area, i), line = text_line_height(c, FONT_LEGEND);
	char text[PLOT_TEXT_LEN];
	struct wrapped_text l;

	if (parallel_slanted(c, p, area)) {
		parallel_ellipsize_label(c, &p->axes[i], text);
		text_draw(c, FONT_LEGEND, (struct point){ x, area->y0 - 8 }, 0, slant, text,
			  TITLE_COLOUR);
		return;
	}
	parallel_wrap_label(c, p, area, i, &l);
	text_draw_lines(c, FONT_LEGEND, (struct point){ x, area->y0 - 8 - (double)l.n * line }, 0.5,
			&l, TITLE_COLOUR);
}

static void draw_axis(struct canvas *c, const struct parallel_coordinates *p,
		      const struct rect *area, size_t i)
{
	const struct axis *a = &p->axes[i];
	double x = parallel_axis_x(p, area, i), size = text_size(c, FONT_TICK) * 0.6;

	canvas_rule(c, (struct point){ x, area->y0 }, (struct point){ x, area->y1 }, AXIS_COLOUR);
	for (size_t k = 0; k < a->ticks.n; k++) {
		double y = axis_to_pixel(a, a->ticks.at[k]), right = x - tick - gap / 2, width;

		canvas_rule(c, (struct point){ x - tick, y }, (struct point){ x, y }, AXIS_COLOUR);
		width = text_width(c, FONT_TICK, a->ticks.label[k]);
		if (width > 0)
			canvas_fill_rect(
				c,
				(struct rect){ right - width - 1, y - size, right + 1, y + size },
				WHITE, 0.8);
		text_draw(c, FONT_TICK, (struct point){ right, y }, 1, 0, a->ticks.label[k],
			  TITLE_COLOUR);
	}
}

void parallel_draw(struct canvas *c, struct parallel_coordinates *p, const struct rect *area)
{
	struct rect clip = { area->x0 - 1, area->y0 - 1, area->x1 + 1, area->y1 + 1 };
	struct point *run = dp_malloc((p->naxes + 1) * sizeof *run);
	double first = p->naxes ? axis_max_label_width(c, &p->axes[0]) : 0;

	for (size_t i = 0; i < p->naxes; i++) {
		p->axes[i].pixel_lo = area->y1;
		p->axes[i].pixel_hi = area->y0;
	}
	/* includes the tick labels of the first axis */
	canvas_begin_light_background(c, (struct rect){ area->x0 - first - tick - gap, area->y0 - 6,
							area->x1 + 1, area->y1 + 6 });
	canvas_clip(c, &clip);
	for (size_t j = 0; j < p->nlines; j++)
		draw_parallel_line(c, p, area, j, run);
	canvas_clip(c, NULL);
	for (size_t i = 0; i < p->naxes; i++)
		draw_axis(c, p, area, i);
	canvas_end_light_background(c);
	for (size_t i = 0; i < p->naxes; i++)
		draw_heading(c, p, area, i);
	free(run);
}
