/* ascii_plot.h - a small picture of points, drawn in characters.
 *
 * Owns nothing: appends lines to a buffer. */
#ifndef DP_CTL_UI_ASCII_PLOT_H
#define DP_CTL_UI_ASCII_PLOT_H
#include "base/buf.h"

/* One axis: its objective, and how its ends are written. */
struct ctl_ascii_plot_axis {
	const char *name;
	bool is_log;   /* where all values are above 0 */
	bool round_up; /* ends are rounded up, as an epsilon is */
};

struct ctl_ascii_plot {
	struct ctl_ascii_plot_axis x, y;
	const double *points; /* (n x 2) */
	size_t n_points;
	int columns, rows; /* that it may take, labels and all */
	bool utf8;         /* braille dots, else plain characters */
};

/* The least that a picture is drawn on. */
enum {
	CTL_ASCII_PLOT_MIN_COLUMNS = 36,
	CTL_ASCII_PLOT_MIN_ROWS = 6
};

/* Appends at most `rows` lines of at most `columns`: false, and nothing, if that is too
 * small or there are fewer than two points with finite values. */
bool ctl_ascii_plot_draw(const struct ctl_ascii_plot *s, struct dp_buf *out);

#endif
