/* sketch.h - a small picture of points, drawn in characters.
 *
 * Owns nothing: appends lines to a buffer. */
#ifndef DP_CTL_SKETCH_H
#define DP_CTL_SKETCH_H
#include "base/buf.h"

/* One axis: its objective, and how its ends are written. */
struct ctl_sketch_axis {
	const char *name;
	bool log;   /* where all values are above 0 */
	bool bound; /* ends are rounded up, as an epsilon is */
};

struct ctl_sketch {
	struct ctl_sketch_axis x, y;
	const double *points; /* (n x 2) */
	size_t n;
	int columns, rows; /* that it may take, labels and all */
	bool utf8;         /* braille dots, else plain characters */
};

/* The least that a picture is drawn on. */
enum {
	CTL_SKETCH_COLUMNS = 36,
	CTL_SKETCH_ROWS = 6
};

/* Appends at most `rows` lines of at most `columns`: false, and nothing, if that is too
 * small or there are fewer than two points with finite values. */
bool ctl_sketch_draw(const struct ctl_sketch *s, struct dp_buf *out);

#endif
