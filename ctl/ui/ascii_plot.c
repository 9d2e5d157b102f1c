/* ascii_plot.c - draws a scatter plot with braille or plain characters. */
#include "ctl/ui/ascii_plot.h"

#include "ctl/text_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DOTS_ACROSS = 2,
	DOTS_DOWN = 4,
	MAX_PLOT_WIDTH = 64, /* cells; more add no detail */
	MAX_PLOT_HEIGHT = 14,
	LABEL_DIGITS = 4
};

/* The range of an axis, on its scale. */
struct ascii_scale {
	bool is_log;
	double scaled_min, scaled_max;
	double min_value, max_value;
};

static double scale_value(const struct ascii_scale *s, double v)
{
	return s->is_log ? log(v) : v;
}

/* Returns the number of points with two finite coordinates. */
static size_t find_scale(const struct ctl_ascii_plot *k, size_t coordinate, bool log_wanted,
			 struct ascii_scale *out)
{
	size_t finite = 0;

	*out = (struct ascii_scale){ .min_value = INFINITY, .max_value = -INFINITY };
	for (size_t i = 0; i < k->n_points; i++) {
		const double *p = k->points + 2 * i;

		if (!isfinite(p[0]) || !isfinite(p[1]))
			continue;
		finite++;
		out->min_value = fmin(out->min_value, p[coordinate]);
		out->max_value = fmax(out->max_value, p[coordinate]);
	}
	out->is_log = log_wanted && out->min_value > 0;
	out->scaled_min = scale_value(out, out->min_value);
	out->scaled_max = scale_value(out, out->max_value);
	return finite;
}

static int scale_to_dot(const struct ascii_scale *s, double v, int n)
{
	double wide = s->scaled_max - s->scaled_min;
	double part = wide > 0 ? (scale_value(s, v) - s->scaled_min) / wide : 0.5;

	return (int)lround(part * (n - 1));
}

static void put_axis(const struct ctl_ascii_plot *k, const struct ascii_scale *x, int wide,
		     int label, struct dp_buf *out)
{
	char from[CTL_TEXT_LEN], to[CTL_TEXT_LEN];
	int room, used;

	ctl_format_number(x->min_value, LABEL_DIGITS, k->x.round_up, from);
	ctl_format_number(x->max_value, LABEL_DIGITS, k->x.round_up, to);
	dp_buf_printf(out, "%*s %s", label, "", k->utf8 ? "└" : "+");
	for (int i = 0; i < wide; i++)
		dp_buf_puts(out, k->utf8 ? "─" : "-");
	dp_buf_putc(out, '\n');
	room = wide - (int)strlen(from) - (int)strlen(to);
	dp_buf_printf(out, "%*s  %s", label, "", from);
	used = ctl_text_width(k->x.name) + (x->is_log ? 6 : 0);
	if (used + 2 <= room)
		dp_buf_printf(out, "%*s%s%s%*s", (room - used) / 2, "", k->x.name,
			      x->is_log ? " (log)" : "", room - used - (room - used) / 2, "");
	else
		dp_buf_printf(out, "%*s", room > 1 ? room : 1, "");
	dp_buf_printf(out, "%s\n", to);
}

bool ctl_ascii_plot_draw(const struct ctl_ascii_plot *k, struct dp_buf *out)
{
	/* bits of a braille cell by dot: left column first, top to bottom */
	static const unsigned char dot_bits[DOTS_ACROSS][DOTS_DOWN] = {
		{ 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 }
	};
	/* without braille, one dot in a cell */
	int across = k->utf8 ? DOTS_ACROSS : 1, down = k->utf8 ? DOTS_DOWN : 1;
	char top[CTL_TEXT_LEN], bottom[CTL_TEXT_LEN];
	struct ascii_scale x, y;
	unsigned char *cells;
	int label, wide, high = k->rows - 3;

	if (k->columns < CTL_ASCII_PLOT_MIN_COLUMNS || k->rows < CTL_ASCII_PLOT_MIN_ROWS ||
	    find_scale(k, 0, k->x.is_log, &x) < 2)
		return false;
	find_scale(k, 1, k->y.is_log, &y);
	ctl_format_number(y.max_value, LABEL_DIGITS, k->y.round_up, top);
	ctl_format_number(y.min_value, LABEL_DIGITS, k->y.round_up, bottom);
	label = (int)strlen(top) > (int)strlen(bottom) ? (int)strlen(top) : (int)strlen(bottom);
	wide = k->columns - label - 2;
	wide = wide > MAX_PLOT_WIDTH ? MAX_PLOT_WIDTH : wide;
	high = high > MAX_PLOT_HEIGHT ? MAX_PLOT_HEIGHT : high;
	cells = dp_calloc((size_t)(wide * high), 1);
	for (size_t i = 0; i < k->n_points; i++) {
		const double *p = k->points + 2 * i;
		int u, v;

		if (!isfinite(p[0]) || !isfinite(p[1]))
			continue;
		u = scale_to_dot(&x, p[0], wide * across);
		v = high * down - 1 - scale_to_dot(&y, p[1], high * down);
		cells[v / down * wide + u / across] |= dot_bits[u % across][v % down];
	}
	ctl_text_truncate(out, k->y.name, k->columns, k->utf8);
	dp_buf_printf(out, "%s\n",
		      y.is_log && k->columns > ctl_text_width(k->y.name) + 6 ? " (log)" : "");
	for (int row = 0; row < high; row++) {
		const unsigned char *cell = cells + row * wide;
		int end = wide;

		dp_buf_printf(out, "%*s %s", label,
			      row == 0          ? top
			      : row == high - 1 ? bottom
						: "",
			      k->utf8 ? "│" : "|");
		while (end > 0 && cell[end - 1] == 0)
			end--;
		for (int i = 0; i < end; i++) {
			if (cell[i] == 0)
				dp_buf_putc(out, ' ');
			else if (!k->utf8)
				dp_buf_putc(out, '*');
			else /* the characters from U+2800 */
				dp_buf_printf(out, "\xe2%c%c", (char)(0xa0 | (cell[i] >> 6)),
					      (char)(0x80 | (cell[i] & 0x3f)));
		}
		dp_buf_putc(out, '\n');
	}
	put_axis(k, &x, wide, label, out);
	free(cells);
	return true;
}
