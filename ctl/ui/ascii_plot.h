/* ascii_plot.h - draws a scatter plot with text characters.
 *
 * Owns nothing: appends lines to a buffer. */
#ifndef DP_CTL_UI_ASCII_PLOT_H
#define DP_CTL_UI_ASCII_PLOT_H
#include "base/buf.h"

struct ctl_ascii_plot_axis {
	const char *name;
	bool is_log;   /* if all values are above 0 */
	bool round_up; /* of the end labels, as for an epsilon */
};

struct ctl_ascii_plot {
	struct ctl_ascii_plot_axis x, y;
	const double *points; /* (n x 2) */
	size_t n_points;
	int columns, rows; /* maximum, with labels */
	bool utf8;         /* braille dots, else plain characters */
};

enum {
	CTL_ASCII_PLOT_MIN_COLUMNS = 36,
	CTL_ASCII_PLOT_MIN_ROWS = 6
};

/* Appends at most `rows` lines of at most `columns` columns. Returns false and appends nothing if
 * that is too small or fewer than two points are finite. */
bool ctl_ascii_plot_draw(const struct ctl_ascii_plot *s, struct dp_buf *out);

#endif
