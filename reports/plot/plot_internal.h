/* plot_internal.h - internals of the plotting layer.
 *
 * plot_builder.c fills a struct plot, and layout.c positions its parts by measured text.
 * plot_render.c draws each panel with axes.c (and ticks.c), series.c, heatmap.c,
 * parallel_coordinates.c, labels.c and legend.c on a canvas (canvas.c, plot_text.c). The canvas
 * draws through a back end: gd_backend.c (pixels, with raster.c), svg_backend.c or pdf_backend.c.
 * plot_csv.c writes the data. */
#ifndef DP_PLOT_INTERNAL_H
#define DP_PLOT_INTERNAL_H
#include "reports/plot/arena.h"
#include "reports/plot/plot.h"

#include <gd.h>

enum {
	PLOT_ID_LEN = 64,
	PLOT_TEXT_LEN = 512 /* bytes of one text with its NUL; longer texts are cut */
};

struct point {
	double x, y;
};

struct rect { /* y grows downwards */
	double x0, y0, x1, y1;
};

#define TITLE_COLOUR    0x222222 /* titles and axis labels */
#define AXIS_COLOUR     0x444444 /* axes and tick labels */
#define NOTE_COLOUR     0x777777 /* notes */
#define GRID_COLOUR     0xebebeb
#define WHITE           0xffffff
#define NO_VALUE_COLOUR 0xf4f4f4 /* heat map cells without a value */

/* ---- raster.c: shapes in CSS pixels to image pixels ---- */

struct raster {
	int width, height;
	double zoom;        /* image pixels per CSS pixel */
	int x0, y0, x1, y1; /* clip: [x0, x1) x [y0, y1) */
	struct crossing *crossings;
	size_t n, cap;
	int *subrow_heads;       /* index of the first crossing of each sub-row, or -1 */
	int first, last;         /* sub-rows with crossings: [first, last) */
	struct crossing *sorted; /* crossings of one sub-row, in order */
	size_t sorted_cap;
	float *partial_cover, *cover_step; /* coverage of a row of pixels, see raster.c */
	unsigned char *touched_blocks;
};

void raster_open(struct raster *r, int width, int height, double zoom);
void raster_close(struct raster *r);
/* Adds a closed polygon to the shape. Overlaps count once. */
void raster_add_polygon(struct raster *r, const struct point *p, size_t n);
void raster_add_hole(struct raster *r, const struct point *p, size_t n);
/* Paints the shape and starts a new one. */
void raster_fill(struct raster *r, gdImagePtr im, plot_colour colour, double opacity);

/* ---- png_encode.c ---- */

struct heat_image;
/* `zoom`: image pixels per CSS pixel. */
void png_encode_image(const gdImagePtr im, double zoom, struct dp_buf *out);
/* Transparent where there is no cell. */
void png_encode_cells(const struct heat_image *cells, struct dp_buf *out);

/* ---- canvas.c: drawing in CSS pixels through a back end ---- */

enum font {
	FONT_TITLE,
	FONT_PANEL,
	FONT_AXIS,
	FONT_LEGEND,
	FONT_TICK,
	FONT_NOTE,
	FONT_SMALL, /* at points and lines */
};

struct pen {
	plot_colour colour;
	double width;
	enum plot_dash dash;
	double opacity;
};

#define NO_CELL_COLOUR 0xff000000U /* in place of a colour: draws nothing */

/* Coloured rectangles that share edges. */
struct heat_cells {
	const double *x; /* (nx + 1) edges in CSS pixels, from the left */
	const double *y; /* (ny + 1) from the bottom */
	size_t nx, ny;
	const plot_colour *colour; /* (ny x nx) row-major from the bottom */
};

struct canvas;

struct plot_backend {
	/* Creates the drawing surface with the canvas size. */
	void (*open)(struct canvas *c);
	/* Appends the bytes of the picture. */
	int (*finish)(struct canvas *c, struct dp_buf *out, struct dp_err *err);
	void (*close)(struct canvas *c);
	void (*clip)(struct canvas *c); /* applies a changed c->clip */
	void (*polygon)(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
			double opacity);
	/* NULL: drawn as a polygon. */
	void (*rect)(struct canvas *c, struct rect r, plot_colour colour, double opacity);
	/* A polyline that stays near the clip. `phase`: length of the line clipped before it. */
	void (*stroke)(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
		       double phase);
	void (*markers)(struct canvas *c, const struct point *at, size_t n,
			const struct plot_style *s);
	void (*cells)(struct canvas *c, const struct heat_cells *cells);
	/* A background that stays light on a dark page; NULL: not needed. */
	void (*light_background)(struct canvas *c, struct rect r);
	/* As text_draw(); never empty. */
	void (*text)(struct canvas *c, enum font f, struct point at, double across, double angle,
		     const char *text, plot_colour colour);
};
extern const struct plot_backend plot_backend_gd, plot_backend_svg, plot_backend_inline_svg,
	plot_backend_pdf;

struct text_extent { /* cached measurement of one text */
	char *text;
	uint32_t hash;
	int font;
	double left, right; /* ink extent, from the start of the pen */
};

struct canvas {
	const struct plot_backend *backend;
	void *backend_data; /* owned by the back end */
	const struct plot *plot;
	double width, height;
	bool for_print; /* with fonts and lines for paper */
	struct rect clip;
	bool keep_colours;          /* drawing on a heat map: no dark mode colours */
	const char *tooltip, *link; /* of the current item, or NULL */
	char *fonts[2];             /* file names: regular, bold */
	struct text_extent *text_cache;
	size_t text_cache_len, text_cache_cap;
	struct point *line_points; /* scratch memory of canvas_line() */
	size_t line_points_cap;
};

/* Opens a canvas for measuring text. */
DP_MUSTCHECK int canvas_open(struct canvas *c, const struct plot_backend *back, bool print,
			     struct dp_err *err);
/* Sets the size and enables drawing. */
void canvas_start_drawing(struct canvas *c, double width, double height);
void canvas_close(struct canvas *c);
/* Image pixels of a PNG per CSS pixel. */
double canvas_zoom(const struct canvas *c);
/* Snaps to pixel edges of the PNG, so that all formats look alike. */
struct rect canvas_snap_rect(const struct canvas *c, struct rect r);
/* Restricts drawing; NULL: the whole picture. Does not clip text. */
void canvas_clip(struct canvas *c, const struct rect *clip);
/* Sets tooltip and link of the next item; NULL: none. */
void canvas_set_tooltip(struct canvas *c, const char *tip, const char *link);
void canvas_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		    double opacity);
/* Fills a rectangle, snapped to whole pixels. */
void canvas_fill_rect(struct canvas *c, struct rect r, plot_colour colour, double opacity);
/* A sharp horizontal or vertical line, one CSS pixel wide. */
void canvas_rule(struct canvas *c, struct point a, struct point b, plot_colour colour);
/* A polyline; closed if it ends where it starts. */
void canvas_line(struct canvas *c, const struct point *p, size_t n, const struct pen *pen);
void canvas_markers(struct canvas *c, const struct point *at, size_t n, const struct plot_style *s);
void canvas_cells(struct canvas *c, const struct heat_cells *cells);
/* Until the matching end, drawing has colours that need a light background. */
void canvas_begin_light_background(struct canvas *c, struct rect r);
void canvas_end_light_background(struct canvas *c);
/* Clips a-b to the box; false: nothing is left. */
bool clip_segment(const struct rect *box, struct point *a, struct point *b);

/* ---- heatmap.c: cells as an image ---- */

/* An image of cells: one pixel for each if they are equally large, else enough to show their
 * edges. */
struct heat_image {
	struct rect place;
	size_t width, height;
	plot_colour *colour; /* (height x width) from the top; the caller frees it */
};
struct heat_image heat_cells_to_image(const struct heat_cells *cells);
void heat_cells_draw_rects(struct canvas *c, const struct heat_cells *cells);

/* ---- palette.c ---- */

#define DARK_BACKGROUND 0x15181b /* of a dark page */
/* The contrast ratio of two colours, 1 to 21, as defined by WCAG 2. */
double colour_contrast(plot_colour a, plot_colour b);

/* The style class of a colour that changes in dark mode; NULL: it stays. */
const char *dark_colour_class(plot_colour colour);

/* Whether a colour is invisible on a dark page and does not change there. */
bool colour_invisible_on_dark(plot_colour colour);

/* ---- pdf_backend.c ---- */

/* Frees cached fonts. */
void pdf_shutdown(void);

/* ---- gd_backend.c ---- */

struct gd_surface {
	gdImagePtr im;
	struct raster raster;
};
struct gd_surface *gd_get_surface(const struct canvas *c);

/* ---- canvas.c: markers and styles ---- */

enum {
	MARKER_CORNERS_MAX = 32
};
/* The marker's corners around (0, 0), grown by `grow` on all sides. */
size_t marker_corners(enum plot_marker marker, double radius, double grow,
		      struct point p[MARKER_CORNERS_MAX]);
static inline bool marker_is_round(enum plot_marker m)
{
	return m == PLOT_DOT || m == PLOT_RING;
}
/* The marker's reach from its centre, horizontally or vertically. */
double marker_reach(const struct plot_style *s);

struct plot_style style_with_defaults(const struct plot_style *s);
struct pen style_pen(const struct plot_style *s);
/* The dash period, and the length *on drawn in it; 0: dots. */
double pen_dash_period(const struct pen *pen, double *on);

/* ---- plot_text.c ---- */

DP_MUSTCHECK int text_load_fonts(struct canvas *c, struct dp_err *err);
void text_unload_fonts(struct canvas *c);
/* The baseline of text drawn at this point. */
struct point text_baseline(const struct canvas *c, enum font f, struct point at, double angle);
/* The start of its pen, as measured. */
struct point text_pen_start(struct canvas *c, enum font f, struct point at, double across,
			    double angle, const char *text);
/* Draws by libgd. */
void text_draw_on_image(struct canvas *c, gdImagePtr im, double zoom, enum font f, struct point pen,
			double angle, const char *text, plot_colour colour);
double text_size(const struct canvas *c, enum font f); /* CSS pixels */
bool text_is_bold(enum font f);
double text_line_height(const struct canvas *c, enum font f); /* line height with leading */
double text_width(struct canvas *c, enum font f, const char *text);
/* Draws with the middle of the capitals at y. x is the left end (across 0), middle (0.5) or right
 * end (1). `angle` in degrees rotates about that point. */
void text_draw(struct canvas *c, enum font f, struct point at, double across, double angle,
	       const char *text, plot_colour colour);
void text_ellipsize(struct canvas *c, enum font f, const char *text, double width,
		    char out[PLOT_TEXT_LEN]);

enum {
	WRAPPED_LINES_MAX = 3
};
struct wrapped_text {
	char line[WRAPPED_LINES_MAX][PLOT_TEXT_LEN];
	size_t n;
};
/* Breaks at spaces into at most `most` lines; NULL gives none. */
void text_wrap(struct canvas *c, enum font f, const char *text, double width, size_t most,
	       struct wrapped_text *out);
/* Draws the lines from the top at y. */
void text_draw_lines(struct canvas *c, enum font f, struct point at, double across,
		     const struct wrapped_text *l, plot_colour colour);
/* A copy in valid UTF-8, on one line. */
char *text_sanitized_copy(const char *text);

/* ---- ticks.c ---- */

enum {
	TICKS_MAX = 64,
	MINOR_TICKS_MAX = 128,
	TICK_LABEL_LEN = PLOT_TEXT_LEN
};
struct ticks {
	size_t n, nminor;
	double at[TICKS_MAX];
	char label[TICKS_MAX][TICK_LABEL_LEN]; /* empty: mark only */
	double minor[MINOR_TICKS_MAX];
};
/* At most `most` (at least 2) round numbers in [lo, hi]. */
void ticks_linear(struct ticks *t, double lo, double hi, size_t most, bool whole);
void ticks_log(struct ticks *t, double lo, double hi, size_t most);

/* ---- axes.c ---- */

struct axis {
	char *label;
	enum plot_scale scale;
	double limits[2]; /* fixed limits; NaN: free */
	bool integer_ticks;
	char **categories;
	size_t ncategories;

	bool has_values;           /* has a value that can be shown */
	bool has_hidden_values;    /* has a finite value that a log axis cannot show */
	bool no_margin;            /* no margin around the values */
	double lo, hi;             /* range of the values, then of the axis */
	double pixel_lo, pixel_hi; /* pixel positions of lo and hi */
	bool labels_slanted;       /* x axis names */
	struct ticks ticks;
};

bool axis_can_show(const struct axis *a, double value);
/* Forgets the range of the values. */
void axis_reset_range(struct axis *a, bool tight);
void axis_include_value(struct axis *a, double value);
/* Turns the range of the values into the range of the axis. */
void axis_finish_range(struct axis *a);
/* 0 at lo, 1 at hi. */
double axis_fraction(const struct axis *a, double value);
double axis_to_pixel(const struct axis *a, double value);
/* Chooses ticks whose labels do not touch over `length`. */
void axis_ticks(struct canvas *c, struct axis *a, enum plot_side side, double length);
double axis_max_label_width(struct canvas *c, const struct axis *a);

struct margins {
	double left, top, right, bottom;
};
void axes_measure(struct canvas *c, struct plot_panel *a, struct margins *m);
void axes_draw_grid(struct canvas *c, struct plot_panel *a);
void axes_draw(struct canvas *c, struct plot_panel *a);

/* ---- series.c ---- */

enum series_kind {
	SERIES_LINE,
	SERIES_STEPS,
	SERIES_POINTS,
	SERIES_ERROR_BARS,
	SERIES_BAND,
	SERIES_RECTS,
	SERIES_REFERENCE_LINE,
	SERIES_REGION
};

struct series {
	enum series_kind kind;
	struct plot_style style;
	char *name;          /* legend entry, or label of a SERIES_REFERENCE_LINE */
	bool steps;          /* SERIES_BAND */
	enum plot_side side; /* SERIES_REFERENCE_LINE */
	double *values[4];   /* in the order of the public function's arguments */
	size_t n;
	char **tooltips, **links; /* (ntips) of items; the arrays and their entries may be NULL */
	size_t ntooltips;
};

/* Extends the panel's axes to all values. */
void series_find_ranges(struct plot_panel *a);
void series_draw(struct canvas *c, struct plot_panel *a, const struct series *s);
/* The pixel of item i of a line, staircase or points, or the lower end of a bar; false: not
 * shown. */
bool series_item_pixel(const struct plot_panel *a, const struct series *s, size_t i,
		       struct point *p);
bool series_reference_line(const struct plot_panel *a, const struct series *s,
			   struct point ends[2]);
/* Draws the legend sample in a box around `at`. */
void series_draw_legend_sample(struct canvas *c, const struct series *s, struct point at,
			       double width);

/* ---- colourbar.c: colour bar of a heat map or of coloured lines ---- */

struct colourbar {
	enum plot_colourmap map;
	struct axis axis; /* owns its label */
};
double colourbar_width(struct canvas *c, struct colourbar *b, double height);
/* Draws at the right of the area. */
void colourbar_draw(struct canvas *c, struct colourbar *b, const struct rect *area);
plot_colour colourbar_colour(const struct colourbar *b, double value);
/* The bar shared by all panels; NULL: they differ. */
struct colourbar *colourbar_find_shared(const struct plot *p);

/* ---- heatmap.c, parallel_coordinates.c ---- */

struct heatmap {
	double *x, *y, *z;
	size_t nx, ny;
	struct colourbar bar;
};
void heatmap_find_ranges(struct plot_panel *a);
void heatmap_draw(struct canvas *c, struct plot_panel *a);

struct parallel_coordinates {
	struct axis *axes;
	size_t naxes, nlines;
	double *values, *colour_values;
	struct colourbar bar;
};
void parallel_find_ranges(struct parallel_coordinates *p);
void parallel_measure(struct canvas *c, struct parallel_coordinates *p, const struct rect *area,
		      struct margins *m);
void parallel_draw(struct canvas *c, struct parallel_coordinates *p, const struct rect *area);

/* ---- labels.c ---- */

struct label {
	double x, y;
	char *text;
	bool is_fixed; /* right of its point, regardless of overlap */
};
/* Draws all labels of a panel: first of lines, then of points. */
void labels_draw(struct canvas *c, struct plot_panel *a);
/* How far fixed labels extend beyond an area of this width. */
double labels_overhang(struct canvas *c, const struct plot_panel *a, double width);

/* ---- legend.c ---- */

enum {
	LEGEND_ENTRY_SERIES_MAX = 4
};
struct legend_entry { /* shared by series of the same name */
	const char *name;
	const struct series *series[LEGEND_ENTRY_SERIES_MAX];
	size_t n;
	double width;
};
struct legend {
	struct legend_entry *entries;
	size_t n;
	bool beside;          /* a column at the right, else rows above */
	double width, height; /* total size */
	double sample;        /* width of the widest sample */
};
/* Collects series names; includes reference lines only if `reference_lines`. */
void legend_collect(struct legend *l, const struct plot_panel *a, bool reference_lines);
bool legend_is_equal(const struct legend *a, const struct legend *b);
/* Chooses the form that takes less of a box of this size. */
void legend_measure(struct canvas *c, struct legend *l, double width, double height);
void legend_draw(struct canvas *c, const struct legend *l, const struct rect *box);
void legend_free(struct legend *l);

/* ---- description of a figure ---- */

struct plot_panel {
	struct plot *plot;
	char *title, *empty_text;
	struct axis axis[2];
	struct series *series;
	size_t nseries, series_cap;
	struct label *labels;
	size_t nlabels, labels_cap;
	struct heatmap *heatmap;
	struct parallel_coordinates *parallel;

	char letter[4]; /* identifies the panel on paper; or empty */
	struct legend legend;
	struct wrapped_text heading;
	struct rect area; /* data area */
	double left, top; /* start of its column and row */
	struct margins margins;
};

struct plot {
	struct arena mem;     /* of panels, texts and numbers */
	double width, height; /* CSS pixels */
	int rows, columns;
	bool for_print;      /* laid out for paper */
	double panel_aspect; /* on paper: height / width of panels */
	bool no_title;       /* omit the title */
	char id[PLOT_ID_LEN];
	char *title, *note;
	struct plot_panel **panels; /* rows x columns, NULL if not created */

	struct legend legend;               /* shared by all panels */
	struct colourbar *shared_colourbar; /* shared by all panels; NULL: each has its own */
	struct wrapped_text heading, notes;
	struct rect frame; /* the picture inside its edge */
	struct rect legend_box;
	struct rect colourbar_area; /* area left of the shared bar */
};

/* Returns the panel at *i or the next existing one, and moves *i behind it; NULL: no more. */
static inline struct plot_panel *plot_next_panel(const struct plot *p, int *i)
{
	while (*i < p->rows * p->columns)
		if (p->panels[(*i)++])
			return p->panels[*i - 1];
	return NULL;
}

/* ---- layout.c ---- */

/* Height of the title and letter above the panel. */
double panel_heading_height(const struct canvas *c, const struct plot_panel *a);
/* Computes ranges, ticks, margins and areas. */
void plot_layout(struct canvas *c, struct plot *p);
static inline bool panel_has_data(const struct plot_panel *a)
{
	return a->parallel || (a->axis[PLOT_X].has_values && a->axis[PLOT_Y].has_values);
}

#endif
