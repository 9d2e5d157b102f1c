/* plot.h - describe a figure of panels, axes and series, and render it in one or more formats.
 *
 * Sizes are in CSS pixels; a PNG has two pixels for each. plot_render() draws, so ranges, ticks and
 * margins consider all data. Functions copy their arguments. Points that are not finite, or not
 * positive on a log axis, are skipped; lines and bands have a gap there. The same description gives
 * the same bytes. Text is UTF-8, wrapped or shortened with an ellipsis if too long. */
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
	PLOT_LIGHT, /* for secondary marks */
};
plot_colour plot_palette(unsigned role);

/* Appends the dark mode style of pages with figures. */
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
/* Sets a grid of panels of equal size; call before the first panel (default: 1 x 1). */
void plot_grid(struct plot *p, int rows, int columns);
/* The panel at this place of the grid, created at the first call. */
struct plot_panel *plot_panel(struct plot *p, int row, int column);
/* A line of small text below the figure, such as the source of its data. */
void plot_note(struct plot *p, const char *text);
/* The prefix of ids in the SVG (letters, digits, '-'). */
void plot_id(struct plot *p, const char *id);
/* Whether the panels are too many to read at half a page's width. */
bool plot_is_wide(const struct plot *p);
/* Whether it is wide with one row of panels, and so suits the full width of a page. */
bool plot_is_single_row(const struct plot *p);
/* Omits the title, for a caller that writes a caption. */
void plot_hide_title(struct plot *p);

/* Lays the figure out for paper at this width; call after all panels exist. Fonts are 7 to 9
 * points, panels are lettered, as many stand in a row as stay readable, and the height follows. A
 * PNG has 384 pixels per inch. */
void plot_set_print_width(struct plot *p, double width);

enum plot_format {
	PLOT_PNG,
	PLOT_SVG,        /* SVG file */
	PLOT_INLINE_SVG, /* SVG for embedding in a page, with links and style classes */
	PLOT_PDF,
};
/* Appends the bytes of the picture to `out`. */
DP_MUSTCHECK int plot_render(struct plot *p, enum plot_format form, struct dp_buf *out,
			     struct dp_err *err);
/* Appends the plotted numbers as CSV (RFC 4180); plot_csv.c documents the columns. */
void plot_csv(const struct plot *p, struct dp_buf *out);
/* Appends alternative text: kind of figure, axes and series. The caption describes the content. */
void plot_write_alt_text(const struct plot *p, struct dp_buf *out);
/* Frees fonts that libraries cache. For leak checkers; call before exit. */
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
/* Fixed limits; the default is the data range with a margin. NaN: that end is free. */
void panel_limits(struct plot_panel *a, enum plot_side side, double lo, double hi);
/* Whole-number ticks only. */
void panel_set_integer_ticks(struct plot_panel *a, enum plot_side side);
/* Names at 0, 1, ..., n-1 instead of numbers. */
void panel_set_categories(struct plot_panel *a, enum plot_side side, const char *const *names,
			  size_t n);
/* Explains an empty panel in its middle. */
void panel_set_empty_text(struct plot_panel *a, const char *why);

/* ---- series ----
 *
 * `name` is the legend entry; NULL: none. x and y have n values. Series of one name (a line, its
 * points, its band) share a legend entry. If all panels have the same legend, the figure shows it
 * once. */

struct plot_style {
	plot_colour colour;
	double width; /* of lines; 0: 1.5 */
	double size;  /* diameter of markers; 0: 6 */
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
	bool outline; /* markers get a thin white edge (a ring is white inside), rectangles a gap to
			 the next one */
};

void panel_line(struct plot_panel *a, const struct plot_style *s, const char *name, const double *x,
		const double *y, size_t n);
/* A staircase: from each point horizontally, then vertically at the next x. */
void panel_steps(struct plot_panel *a, const struct plot_style *s, const char *name,
		 const double *x, const double *y, size_t n);
void panel_points(struct plot_panel *a, const struct plot_style *s, const char *name,
		  const double *x, const double *y, size_t n);
/* A bar from lo to hi in y; its caps are as wide as a marker. */
void panel_add_error_bars(struct plot_panel *a, const struct plot_style *s, const char *name,
			  const double *x, const double *lo, const double *hi, size_t n);
/* The area between two curves; `steps`: between staircases. */
void panel_band(struct plot_panel *a, const struct plot_style *s, const char *name, const double *x,
		const double *lo, const double *hi, size_t n, bool steps);
/* Filled rectangles x0..x1, y0..y1, for timelines and stacked bars. */
void panel_add_rects(struct plot_panel *a, const struct plot_style *s, const char *name,
		     const double *x0, const double *x1, const double *y0, const double *y1,
		     size_t n);
/* A line across the panel at x or y, with a small label at its end. The axis range includes it. */
void panel_add_reference_line(struct plot_panel *a, const struct plot_style *s, enum plot_side side,
			      double at, const char *label);
/* A shaded box with a dashed outline: the region bounded by a reference point. NaN: open on that
 * side. */
void panel_add_region(struct plot_panel *a, const struct plot_style *s, const char *name, double x0,
		      double x1, double y0, double y1);

enum {
	PLOT_TOOLTIPS_MAX = 2000 /* pages with more load too slowly */
};
/* Tooltips of the points or rectangles added last, and their link targets in a page ("#trial-13").
 * `links`, and each text, may be NULL. With more than PLOT_TOOLTIPS_MAX items there are no
 * tooltips. */
void panel_add_tooltips(struct plot_panel *a, const char *const *tips, const char *const *links,
			size_t n);
/* A label near a point. It moves, or is omitted, if it would cover text, markers or lines at least
 * one pixel wide. Earlier labels win. */
void panel_label(struct plot_panel *a, double x, double y, const char *text);
/* A label exactly right of a point, for values beside bars. The margin makes room for labels beyond
 * the panel. */
void panel_add_value_label(struct plot_panel *a, double x, double y, const char *text);

/* A heat map with cells between the edges x (nx + 1) and y (ny + 1). z (ny x nx) is row-major from
 * the lowest y; NaN stays empty. A colour bar with `label` is at the right. If all panels have the
 * same bar with fixed limits, the figure shows it once. */
void panel_heat(struct plot_panel *a, enum plot_colourmap map, const double *x, size_t nx,
		const double *y, size_t ny, const double *z, enum plot_scale scale,
		const char *label);

/* Fixed scale and limits of the colour bar; the default is the range of the cells. */
void panel_heat_limits(struct plot_panel *a, enum plot_scale scale, double lo, double hi);

/* Parallel coordinates: `n` axes, each with its own label and scale, and m lines with values (m x
 * n). `by` (m) sets the colours through the map, with a colour bar `by_label`. Takes the whole
 * panel. Names of each axis as in panel_set_categories(), or NULL. */
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
