/* legend.c - lay out and draw the legend, beside or above the data. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gap = 6, apart = 16, around = 8;
/* A narrower figure on paper needs its width for the data. */
static const double least_beside = 450;

static void legend_add(struct legend *l, const struct series *s)
{
	struct legend_entry *e;

	for (size_t i = 0; i < l->n; i++) {
		e = &l->entries[i];
		if (strcmp(e->name, s->name) == 0) {
			if (e->n < LEGEND_ENTRY_SERIES_MAX)
				e->series[e->n++] = s;
			return;
		}
	}
	e = dp_realloc(l->entries, (l->n + 1) * sizeof *e);
	l->entries = e;
	l->entries[l->n++] = (struct legend_entry){ .name = s->name, .series = { s }, .n = 1 };
}

void legend_collect(struct legend *l, const struct plot_panel *a, bool reference_lines)
{
	for (size_t i = 0; i < a->nseries; i++) {
		const struct series *s = &a->series[i];

		if ((reference_lines || s->kind != SERIES_REFERENCE_LINE) && s->name && *s->name)
			legend_add(l, s);
	}
}

static bool series_look_equal(const struct series *a, const struct series *b)
{
	const struct plot_style *s = &a->style, *t = &b->style;

	return a->kind == b->kind && s->colour == t->colour && s->width == t->width &&
	       s->size == t->size && s->marker == t->marker && s->dash == t->dash &&
	       s->opacity == t->opacity && s->outline == t->outline;
}

bool legend_is_equal(const struct legend *a, const struct legend *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct legend_entry *e = &a->entries[i], *f = &b->entries[i];

		if (strcmp(e->name, f->name) != 0 || e->n != f->n)
			return false;
		for (size_t k = 0; k < e->n; k++) {
			if (!series_look_equal(e->series[k], f->series[k]))
				return false;
		}
	}
	return true;
}

static double legend_sample_width(const struct legend_entry *e)
{
	double width = 0;

	for (size_t i = 0; i < e->n; i++) {
		enum series_kind kind = e->series[i]->kind;

		width = fmax(width, kind == SERIES_POINTS || kind == SERIES_ERROR_BARS ? 12 : 22);
	}
	return width;
}

/* The number of rows that a legend of this width needs. */
static size_t legend_rows(const struct legend *l, double width)
{
	size_t n = 1;
	double x = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (x > 0 && x + l->entries[i].width > width) {
			n++;
			x = 0;
		}
		x += l->entries[i].width + apart;
	}
	return n;
}

void legend_measure(struct canvas *c, struct legend *l, double width, double height)
{
	double widest = 0, line = text_line_height(c, FONT_LEGEND) + 2,
	       longest = c->for_print ? width - 30 : fmax(width * 0.6, fmin(width - 40, 200)),
	       above, column;

	l->width = l->height = l->sample = 0;
	if (!l->n)
		return;
	for (size_t i = 0; i < l->n; i++) {
		struct legend_entry *e = &l->entries[i];

		l->sample = fmax(l->sample, legend_sample_width(e));
		e->width = legend_sample_width(e) + gap +
			   fmin(text_width(c, FONT_LEGEND, e->name), longest);
		widest = fmax(widest, e->width);
	}
	column = fmin(widest + 10, width * 0.3) + 2 * around;
	above = (double)legend_rows(l, width) * line + around;
	l->beside = column * height < above * width && (double)l->n * line <= height &&
		    (!c->for_print || width > least_beside);
	l->width = l->beside ? column : width;
	l->height = l->beside ? (double)l->n * line : above;
}

static void draw_entry(struct canvas *c, const struct legend_entry *e, struct point at,
		       double picture, double width)
{
	double text_at = at.x + picture + gap;
	char text[PLOT_TEXT_LEN];

	for (size_t k = 0; k < e->n; k++)
		series_draw_legend_sample(c, e->series[k],
					  (struct point){ at.x + picture / 2, at.y }, picture);
	text_ellipsize(c, FONT_LEGEND, e->name, at.x + width - text_at, text);
	text_draw(c, FONT_LEGEND, (struct point){ text_at, at.y }, 0, 0, text, TITLE_COLOUR);
}

void legend_draw(struct canvas *c, const struct legend *l, const struct rect *box)
{
	double line = text_line_height(c, FONT_LEGEND) + 2, x = box->x0, y = box->y0 + line / 2;

	for (size_t i = 0; i < l->n; i++) {
		const struct legend_entry *e = &l->entries[i];

		if (l->beside) {
			double left = box->x0 + around * 1.5;
			struct point at = { left, box->y0 + line * ((double)i + 0.5) };

			draw_entry(c, e, at, l->sample, box->x1 - left);
			continue;
		}
		if (i > 0 && x + e->width > box->x1 + 0.5) {
			x = box->x0;
			y += line;
		}
		draw_entry(c, e, (struct point){ x, y }, legend_sample_width(e), e->width + 1);
		x += e->width + apart;
	}
}

void legend_free(struct legend *l)
{
	free(l->entries);
	*l = (struct legend){ 0 };
}
