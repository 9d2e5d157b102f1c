/* plot.h - figures: panels with axes, series in the order they were added, a legend
 * beside the data. Describe a figure, then ask for it in one form or several.
 *
 * Sizes are in CSS pixels; a PNG has twice as many each way. Nothing is drawn
 * before plot_render(), so ranges, ticks and margins are chosen from all there is to
 * show. Additions copy what they are given. Points
 * that are not finite, or not positive on a log axis, are left out; lines and bands
 * have a gap there. The same description gives the same bytes. Text is UTF-8; what is
 * too long for its place is wrapped or ends in an ellipsis. */
#ifndef DP_PLOT_H
#define DP_PLOT_H
#include "base/base.h"
#include "base/buf.h"

/* ---- colours ---- */

typedef uint32_t plot_colour; /* 0xRRGGBB */

enum plot_palette_role { /* Okabe and Ito's palette, safe for colour-blind readers */
	PLOT_BLUE,
	PLOT_ORANGE,
	PLOT_GREEN,
	PLOT_PURPLE,
	PLOT_SKY,
	PLOT_VERMILLION,
	PLOT_YELLOW,
	PLOT_BLACK,
	PLOT_GREY,
	PLOT_LIGHT, /* for what stands back */
};
plot_colour plot_palette(unsigned role);

/* Appends the style that a page with figures has in the dark. */
void plot_write_dark_css(struct dp_buf *out);

enum plot_colourmap {
	PLOT_VIRIDIS,
	PLOT_MAGMA
};
plot_colour plot_colourmap_lookup(enum plot_colourmap map, double t); /* t in [0, 1] */

/* ---- figure and panels ---- */

struct plot;
struct plot_panel;

/* `title` may be NULL. */
struct plot *plot_new(int width, int height, const char *title);
void plot_free(struct plot *p);
/* Panels stand in rows and columns of equal size; call before the first panel
 * (default: 1 x 1). */
void plot_grid(struct plot *p, int rows, int columns);
/* The panel there, within the grid; made at the first call. */
struct plot_panel *plot_panel(struct plot *p, int row, int column);
/* One line of small text below everything, such as where the numbers come from. */
void plot_note(struct plot *p, const char *text);
/* What it is called in a page: ids in its SVG begin with this (letters, digits, '-'). */
void plot_id(struct plot *p, const char *id);
/* Has it so many panels that half a page is too narrow to read them? */
bool plot_is_wide(const struct plot *p);
/* Is it wide and one row of panels, so that a whole line of paper is not too much? */
bool plot_is_single_row(const struct plot *p);
/* Leaves out the title, for who writes a caption instead. */
void plot_hide_title(struct plot *p);

/* Lays it out for paper at this width, once all panels are there: fonts of 7 to 9 points,
 * as many panels beside each other as can be read, letters to refer to them; the height
 * follows. A PNG has 384 pixels to the inch then. */
void plot_set_print_width(struct plot *p, double width);

enum plot_format {
	PLOT_PNG,
	PLOT_SVG,        /* a file */
	PLOT_INLINE_SVG, /* SVG to be put into a page, with links and classes for its style */
	PLOT_PDF,
};
/* Adds the bytes of the picture to `out`. */
DP_MUSTCHECK int plot_render(struct plot *p, enum plot_format form, struct dp_buf *out,
			     struct dp_err *err);
/* Adds the numbers that it draws as CSV (RFC 4180): see plot_csv.c for the columns. */
void plot_csv(const struct plot *p, struct dp_buf *out);
/* Appends what kind of picture it is and what its axes and series are: a text
 * alternative. What the picture shows is for a caption to say. */
void plot_write_alt_text(const struct plot *p, struct dp_buf *out);
/* Lets go of the fonts that libraries keep for the next figure. Before the end of a
 * program, for those who count what is left. */
void plot_shutdown(void);

/* ---- axes ---- */

enum plot_side {
	PLOT_X,
	PLOT_Y
};
enum plot_scale {
	PLOT_LINEAR,
	PLOT_LOG
};

void panel_title(struct plot_panel *a, const char *title);
void panel_axis(struct plot_panel *a, enum plot_side side, const char *label,
		enum plot_scale scale);
/* Fixed limits; without them the data's range and a margin. NaN: that end is free. */
void panel_limits(struct plot_panel *a, enum plot_side side, double lo, double hi);
/* Whole-number ticks only. */
void panel_set_integer_ticks(struct plot_panel *a, enum plot_side side);
/* Names at 0, 1, ..., n-1 instead of numbers. */
void panel_set_categories(struct plot_panel *a, enum plot_side side, const char *const *names,
			  size_t n);
/* Says in the middle of an empty panel why it is empty. */
void panel_set_empty_text(struct plot_panel *a, const char *why);

/* ---- series: `name` goes to the legend, NULL: not there. x and y have n values ----
 * Series of one name share its place in the legend: a line, its points, its band. Where
 * all panels have the same legend, the figure has it once. */

struct plot_style {
	plot_colour colour;
	double width; /* of lines, 0: 1.5 */
	double size;  /* of markers: diameter, 0: 6 */
	enum plot_marker {
		PLOT_DOT,
		PLOT_RING,
		PLOT_SQUARE,
		PLOT_TRIANGLE,
		PLOT_DIAMOND,
		PLOT_CROSS,
		PLOT_STAR
	} marker;
	enum plot_dash {
		PLOT_SOLID,
		PLOT_DASHED,
		PLOT_DOTTED
	} dash;
	double opacity; /* 0: 1, of bands 0.25 */
	bool outline;   /* markers get a thin white edge, so that they stay apart (a ring
			 * is white inside then), blocks a gap to the next one */
};

void panel_line(struct plot_panel *a, const struct plot_style *s, const char *name, const double *x,
		const double *y, size_t n);
/* A staircase: from each point across, then up or down at the next x. */
void panel_steps(struct plot_panel *a, const struct plot_style *s, const char *name,
		 const double *x, const double *y, size_t n);
void panel_points(struct plot_panel *a, const struct plot_style *s, const char *name,
		  const double *x, const double *y, size_t n);
/* A bar from lo to hi in y; its ends are as wide as a marker. */
void panel_add_error_bars(struct plot_panel *a, const struct plot_style *s, const char *name,
			  const double *x, const double *lo, const double *hi, size_t n);
/* The area between two curves; `steps`: between staircases. */
void panel_band(struct plot_panel *a, const struct plot_style *s, const char *name, const double *x,
		const double *lo, const double *hi, size_t n, bool steps);
/* Filled rectangles x0..x1, y0..y1, for timelines and stacked bars. */
void panel_add_rects(struct plot_panel *a, const struct plot_style *s, const char *name,
		     const double *x0, const double *x1, const double *y0, const double *y1,
		     size_t n);
/* A line across the whole panel at x or y, with a small label at its end. The range of
 * the axis is wide enough to show it. */
void panel_add_reference_line(struct plot_panel *a, const struct plot_style *s, enum plot_side side,
			      double at, const char *label);
/* A shaded box and a dashed outline: the region that a reference point bounds. NaN: it is
 * open on that side. */
void panel_add_region(struct plot_panel *a, const struct plot_style *s, const char *name, double x0,
		      double x1, double y0, double y1);

enum {
	PLOT_TOOLTIPS_MAX = 2000 /* a page with more would be too large to load */
};
/* What each item of the points or blocks added last says when one points at it, and where
 * it leads in a page ("#trial-13"). `links`, and each text, may be NULL. Of more items
 * than that nothing is said. */
void panel_add_tooltips(struct plot_panel *a, const char *const *tips, const char *const *links,
			size_t n);
/* Small text beside a point, moved or left out where it would cover other text,
 * markers or lines (of at least a pixel's width); earlier ones win. */
void panel_label(struct plot_panel *a, double x, double y, const char *text);
/* Small text right of a point, exactly there: for values beside bars. Where it is longer
 * than the panel goes, the margin makes room for it. */
void panel_add_value_label(struct plot_panel *a, double x, double y, const char *text);

/* Cells between the edges x (nx + 1) and y (ny + 1), z (ny x nx) row-major from the
 * lowest y; NaN stays empty. A colour bar with `label` stands at the right; where all
 * panels have the same one, with limits that were set, the figure has it once. */
void panel_heat(struct plot_panel *a, enum plot_colourmap map, const double *x, size_t nx,
		const double *y, size_t ny, const double *z, enum plot_scale scale,
		const char *label);

/* The scale of its colour bar and the values at its ends; without this those of its
 * cells. */
void panel_heat_limits(struct plot_panel *a, enum plot_scale scale, double lo, double hi);

/* Parallel coordinates: `n` axes side by side, each with its own label and scale;
 * m lines, values (m x n), coloured by `by` (m) through the map with a colour bar
 * `by_label`. Takes the whole panel. Names (or NULL) as in panel_set_categories, for each
 * axis. */
struct plot_parallel_axis {
	const char *label;
	enum plot_scale scale;
	double lo, hi;
	const char *const *categories;
	size_t ncategories;
};
void panel_parallel(struct plot_panel *a, const struct plot_parallel_axis *axes, size_t n,
		    const double *values, size_t m, const double *by, enum plot_scale scale,
		    const char *by_label);

#endif
