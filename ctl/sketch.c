/* sketch.c - a small picture of points, drawn in characters. */
#include "ctl/sketch.h"

#include "ctl/memory.h"
#include "ctl/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DOTS_ACROSS = 2, /* of a braille cell */
	DOTS_DOWN = 4,
	WIDEST = 64, /* cells: more would not show more */
	TALLEST = 14,
	DIGITS = 4
};

/* What an axis shows of the points: from and to on its scale. */
struct scale {
	bool log;
	double from, to;    /* on the scale */
	double least, most; /* as they are */
};

static double along_axis(const struct scale *s, double v)
{
	return s->log ? log(v) : v;
}

/* How many points are finite in both coordinates. */
static size_t find_scale(const struct ctl_sketch *k, size_t coordinate, bool log_wanted,
			 struct scale *out)
{
	size_t finite = 0;

	*out = (struct scale){ .least = INFINITY, .most = -INFINITY };
	for (size_t i = 0; i < k->n; i++) {
		const double *p = k->points + 2 * i;

		if (!isfinite(p[0]) || !isfinite(p[1]))
			continue;
		finite++;
		out->least = fmin(out->least, p[coordinate]);
		out->most = fmax(out->most, p[coordinate]);
	}
	out->log = log_wanted && out->least > 0;
	out->from = along_axis(out, out->least);
	out->to = along_axis(out, out->most);
	return finite;
}

/* Which of n dots along an axis a value falls on. */
static int dot_of(const struct scale *s, double v, int n)
{
	double wide = s->to - s->from;
	double part = wide > 0 ? (along_axis(s, v) - s->from) / wide : 0.5;

	return (int)lround(part * (n - 1));
}

/* The bits of a braille cell by dot, left column first, from top to bottom. */
static unsigned braille_bit(int x, int y)
{
	static const unsigned char bits[DOTS_ACROSS][DOTS_DOWN] = { { 0x01, 0x02, 0x04, 0x40 },
								    { 0x08, 0x10, 0x20, 0x80 } };

	return bits[x][y];
}

/* A cell in UTF-8: the characters from U+2800 on. */
static void put_cell_dots(struct dp_buf *out, unsigned bits, bool utf8)
{
	if (bits == 0)
		dp_buf_putc(out, ' ');
	else if (!utf8)
		dp_buf_putc(out, '*');
	else
		dp_buf_printf(out, "\xe2%c%c", (char)(0xa0 | (bits >> 6)),
			      (char)(0x80 | (bits & 0x3f)));
}

/* Marks the points in a field of cells; without braille a cell is one dot. */
static void mark_points(const struct ctl_sketch *k, const struct scale *x, const struct scale *y,
			unsigned char *cells, int wide, int high)
{
	int across = k->utf8 ? DOTS_ACROSS : 1, down = k->utf8 ? DOTS_DOWN : 1;

	for (size_t i = 0; i < k->n; i++) {
		const double *p = k->points + 2 * i;
		int u, v;

		if (!isfinite(p[0]) || !isfinite(p[1]))
			continue;
		u = dot_of(x, p[0], wide * across);
		v = high * down - 1 - dot_of(y, p[1], high * down);
		cells[v / down * wide + u / across] |=
			(unsigned char)braille_bit(u % across, v % down);
	}
}

/* The lines of the field: the ends of y at its left. */
static void put_field(const struct ctl_sketch *k, const unsigned char *cells, int wide, int high,
		      const char *top, const char *bottom, int label, struct dp_buf *out)
{
	for (int row = 0; row < high; row++) {
		struct dp_buf line = DP_BUF_INIT;
		size_t end;

		dp_buf_printf(&line, "%*s %s", label,
			      row == 0          ? top
			      : row == high - 1 ? bottom
						: "",
			      k->utf8 ? "│" : "|");
		for (int i = 0; i < wide; i++)
			put_cell_dots(&line, cells[row * wide + i], k->utf8);
		for (end = line.len; end > 0 && line.data[end - 1] == ' ';)
			end--;
		dp_buf_printf(out, "%.*s\n", (int)end, dp_buf_text(&line));
		dp_buf_free(&line);
	}
}

/* The axis below the field, and its ends. */
static void put_axis(const struct ctl_sketch *k, const struct scale *x, int wide, int label,
		     struct dp_buf *out)
{
	char from[CTL_TEXT_LEN], to[CTL_TEXT_LEN];
	int room, used;

	ctl_number(x->least, DIGITS, k->x.bound, from);
	ctl_number(x->most, DIGITS, k->x.bound, to);
	dp_buf_printf(out, "%*s %s", label, "", k->utf8 ? "└" : "+");
	for (int i = 0; i < wide; i++)
		dp_buf_puts(out, k->utf8 ? "─" : "-");
	dp_buf_putc(out, '\n');
	room = wide - (int)strlen(from) - (int)strlen(to);
	dp_buf_printf(out, "%*s  %s", label, "", from);
	used = ctl_width(k->x.name) + (x->log ? 6 : 0);
	if (used + 2 <= room) /* the name in the middle */
		dp_buf_printf(out, "%*s%s%s%*s", (room - used) / 2, "", k->x.name,
			      x->log ? " (log)" : "", room - used - (room - used) / 2, "");
	else
		dp_buf_printf(out, "%*s", room > 1 ? room : 1, "");
	dp_buf_printf(out, "%s\n", to);
}

bool ctl_sketch_draw(const struct ctl_sketch *k, struct dp_buf *out)
{
	char top[CTL_TEXT_LEN], bottom[CTL_TEXT_LEN];
	struct scale x, y;
	unsigned char *cells;
	int label, wide, high = k->rows - 3;

	if (k->columns < CTL_SKETCH_COLUMNS || k->rows < CTL_SKETCH_ROWS ||
	    find_scale(k, 0, k->x.log, &x) < 2)
		return false;
	find_scale(k, 1, k->y.log, &y);
	ctl_number(y.most, DIGITS, k->y.bound, top);
	ctl_number(y.least, DIGITS, k->y.bound, bottom);
	label = (int)strlen(top) > (int)strlen(bottom) ? (int)strlen(top) : (int)strlen(bottom);
	wide = k->columns - label - 2;
	wide = wide > WIDEST ? WIDEST : wide;
	high = high > TALLEST ? TALLEST : high;
	cells = ctl_alloc((size_t)(wide * high), 1);
	mark_points(k, &x, &y, cells, wide, high);
	ctl_cut(out, k->y.name, k->columns, k->utf8);
	dp_buf_printf(out, "%s\n", y.log && k->columns > ctl_width(k->y.name) + 6 ? " (log)" : "");
	put_field(k, cells, wide, high, top, bottom, label, out);
	put_axis(k, &x, wide, label, out);
	free(cells);
	return true;
}
