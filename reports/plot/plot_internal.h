/* plot_internal.h - what the files of the plotting layer share.
 *
 * plot_builder.c fills a struct plot; layout.c decides where everything stands, from
 * measured text; plot_render.c draws panel by panel: axes.c (with ticks.c), series.c, heatmap.c,
 * parallel_coordinates.c, labels.c, legend.c, all on a canvas (canvas.c, plot_text.c) that one of
 * the back ends draws: gd_backend.c as pixels (with raster.c), svg_backend.c, pdf_backend.c.
 * plot_csv.c writes the description itself. */
#ifndef DP_PLOT_INTERNAL_H
#define DP_PLOT_INTERNAL_H
#include "reports/plot/arena.h"
#include "reports/plot/plot.h"

#include <gd.h>

enum {
	PLOT_ID_LEN = 64,
	PLOT_TEXT_LEN = 512 /* bytes of one text, with its NUL; longer ones are cut */
};

struct point {
	double x, y;
};

struct rect { /* y grows downwards, as in the picture */
	double x0, y0, x1, y1;
};

#define TITLE_COLOUR    0x222222 /* titles and axis labels */
#define AXIS_COLOUR     0x444444 /* axes and tick labels */
#define NOTE_COLOUR     0x777777 /* notes */
#define GRID_COLOUR     0xebebeb
#define WHITE           0xffffff
#define NO_VALUE_COLOUR 0xf4f4f4 /* where a heat map has none */

/* ---- raster.c: shapes, in CSS pixels, into pixels of the picture ---- */

struct raster {
	int width, height;
	double zoom;        /* pixels of the picture for one CSS pixel */
	int x0, y0, x1, y1; /* only pixels in [x0, x1) x [y0, y1) are painted */
	struct crossing *crossings;
	size_t n, cap;
	int *subrow_heads;       /* for each sub-row: its first crossing, or -1 */
	int first, last;         /* sub-rows with crossings: [first, last) */
	struct crossing *sorted; /* the crossings of one sub-row, in order */
	size_t sorted_cap;
	float *partial_cover, *cover_step; /* coverage of a row of pixels, see raster.c */
	unsigned char *touched_blocks;
};

void raster_open(struct raster *r, int width, int height, double zoom);
void raster_close(struct raster *r);
/* Adds a closed polygon to the shape. Those that overlap count once. */
void raster_add_polygon(struct raster *r, const struct point *p, size_t n);
/* The same as a hole. */
void raster_add_hole(struct raster *r, const struct point *p, size_t n);
/* Paints the shape and begins the next one. */
void raster_fill(struct raster *r, gdImagePtr im, plot_colour colour, double opacity);

/* ---- png_encode.c ---- */

struct heat_image;
/* `zoom` pixels are a CSS pixel. */
void png_encode_image(const gdImagePtr im, double zoom, struct dp_buf *out);
/* Where there is no cell it is transparent. */
void png_encode_cells(const struct heat_image *cells, struct dp_buf *out);

/* ---- canvas.c: drawing in CSS pixels, by one of several back ends ---- */

enum font {
	FONT_TITLE,
	FONT_PANEL,
	FONT_AXIS,
	FONT_LEGEND,
	FONT_TICK,
	FONT_NOTE,
	FONT_SMALL, /* beside points and lines */
};

struct pen {
	plot_colour colour;
	double width;
	enum plot_dash dash;
	double opacity;
};

#define NO_CELL_COLOUR 0xff000000U /* instead of a colour: nothing is drawn there */

/* Coloured rectangles that share their edges. */
struct heat_cells {
	const double *x; /* (nx + 1) edges in the picture, from the left */
	const double *y; /* (ny + 1) from the bottom */
	size_t nx, ny;
	const plot_colour *colour; /* (ny x nx) row by row, from the bottom */
};

struct canvas;

/* One form of picture. */
struct plot_backend {
	/* Makes what it draws on, as large as the canvas. */
	void (*open)(struct canvas *c);
	/* Adds the bytes of the picture. */
	int (*finish)(struct canvas *c, struct dp_buf *out, struct dp_err *err);
	void (*close)(struct canvas *c);
	void (*clip)(struct canvas *c); /* c->clip has changed */
	void (*polygon)(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
			double opacity);
	/* NULL: it is a polygon. */
	void (*rect)(struct canvas *c, struct rect r, plot_colour colour, double opacity);
	/* A polyline that does not go far beyond the clip; `phase`: so long was what
	 * is left out before it. */
	void (*stroke)(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
		       double phase);
	/* Markers of one look. */
	void (*markers)(struct canvas *c, const struct point *at, size_t n,
			const struct plot_style *s);
	void (*cells)(struct canvas *c, const struct heat_cells *cells);
	/* A ground that stays light where the page is dark; NULL: it is always light. */
	void (*light_background)(struct canvas *c, struct rect r);
	/* As in text_draw(); never empty. */
	void (*text)(struct canvas *c, enum font f, struct point at, double across, double angle,
		     const char *text, plot_colour colour);
};
extern const struct plot_backend plot_backend_gd, plot_backend_svg, plot_backend_inline_svg,
	plot_backend_pdf;

struct text_extent { /* one text that was measured before */
	char *text;
	uint32_t hash;
	int font;
	double left, right; /* of the ink, from the pen's start */
};

struct canvas {
	const struct plot_backend *backend;
	void *backend_data; /* what the back end draws on, its own */
	const struct plot *plot;
	double width, height;
	bool for_print; /* fonts and lines as on paper */
	struct rect clip;
	bool keep_colours;          /* what is drawn stands on a heat map, not on the ground */
	const char *tooltip, *link; /* of the item that is being drawn, or NULL */
	char *fonts[2];             /* files: regular, bold */
	struct text_extent *text_cache;
	size_t text_cache_len, text_cache_cap;
	struct point *line_points; /* scratch of canvas_line() */
	size_t line_points_cap;
};

/* A canvas on which text can be measured. */
DP_MUSTCHECK int canvas_open(struct canvas *c, const struct plot_backend *back, bool print,
			     struct dp_err *err);
/* From here on it has a size and can be drawn on. */
void canvas_start_drawing(struct canvas *c, double width, double height);
void canvas_close(struct canvas *c);
/* How many pixels of a PNG a CSS pixel is. */
double canvas_zoom(const struct canvas *c);
/* To the nearest edges of pixels of a PNG, so that all forms look alike. */
struct rect canvas_snap_rect(const struct canvas *c, struct rect r);
/* Nothing is drawn outside; NULL: the whole picture. Text is not clipped. */
void canvas_clip(struct canvas *c, const struct rect *clip);
/* What comes next is an item of which this is told, and that leads somewhere; NULL: it
 * is none. */
void canvas_set_tooltip(struct canvas *c, const char *tip, const char *link);
void canvas_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		    double opacity);
/* A rectangle with its edges moved to whole pixels, so that they are sharp. */
void canvas_fill_rect(struct canvas *c, struct rect r, plot_colour colour, double opacity);
/* A sharp line of one CSS pixel, across or upright. */
void canvas_rule(struct canvas *c, struct point a, struct point b, plot_colour colour);
/* A polyline; closed when it ends where it began. */
void canvas_line(struct canvas *c, const struct point *p, size_t n, const struct pen *pen);
void canvas_markers(struct canvas *c, const struct point *at, size_t n, const struct plot_style *s);
void canvas_cells(struct canvas *c, const struct heat_cells *cells);
/* What is drawn there until the end of it has colours that need a light ground. */
void canvas_begin_light_background(struct canvas *c, struct rect r);
void canvas_end_light_background(struct canvas *c);
/* The part of a-b in the box; false: none. */
bool clip_segment(const struct rect *box, struct point *a, struct point *b);

/* ---- heatmap.c: cells as an image ---- */

/* Pixels that show cells: one for each where they are equally wide and high, else as many
 * as show their edges. */
struct heat_image {
	struct rect place;
	size_t width, height;
	plot_colour *colour; /* (height x width) from the top; the caller frees it */
};
struct heat_image heat_cells_to_image(const struct heat_cells *cells);
/* Draws each by itself. */
void heat_cells_draw_rects(struct canvas *c, const struct heat_cells *cells);

/* ---- palette.c ---- */

#define DARK_BACKGROUND 0x15181b /* of a page */
/* The contrast of two colours, from 1 to 21, as WCAG 2 has it. */
double colour_contrast(plot_colour a, plot_colour b);

/* What a colour is called that is another one on a dark ground; NULL: it stays. */
const char *dark_colour_class(plot_colour colour);

/* Could it not be seen on a dark ground, nor is it changed there? */
bool colour_invisible_on_dark(plot_colour colour);

/* ---- pdf_backend.c ---- */

/* Lets go of fonts. */
void pdf_shutdown(void);

/* ---- gd_backend.c: the back end that paints pixels ---- */

struct gd_surface {
	gdImagePtr im;
	struct raster raster;
};
struct gd_surface *gd_get_surface(const struct canvas *c);

/* ---- canvas.c: markers and styles ---- */

enum {
	MARKER_CORNERS_MAX = 32
};
/* The marker's corners around (0, 0), `grow` wider on all sides. */
size_t marker_corners(enum plot_marker marker, double radius, double grow,
		      struct point p[MARKER_CORNERS_MAX]);
static inline bool marker_is_round(enum plot_marker m)
{
	return m == PLOT_DOT || m == PLOT_RING;
}
/* How far it reaches from its middle, across or upright. */
double marker_reach(const struct plot_style *s);

/* Style with defaults filled in. */
struct plot_style style_with_defaults(const struct plot_style *s);
struct pen style_pen(const struct plot_style *s);
/* The period of its dashes, and how much of that is drawn; 0: dots. */
double pen_dash_period(const struct pen *pen, double *on);

/* ---- plot_text.c ---- */

/* Finds the font files. */
DP_MUSTCHECK int text_load_fonts(struct canvas *c, struct dp_err *err);
void text_unload_fonts(struct canvas *c);
/* Where text that stands there has its baseline. */
struct point text_baseline(const struct canvas *c, enum font f, struct point at, double angle);
/* Where its pen starts, as measured. */
struct point text_pen_start(struct canvas *c, enum font f, struct point at, double across,
			    double angle, const char *text);
/* Draws by libgd. */
void text_draw_on_image(struct canvas *c, gdImagePtr im, double zoom, enum font f, struct point pen,
			double angle, const char *text, plot_colour colour);
double text_size(const struct canvas *c, enum font f); /* CSS pixels */
bool text_is_bold(enum font f);
double text_line_height(const struct canvas *c,
			enum font f); /* height of a line with its leading */
double text_width(struct canvas *c, enum font f, const char *text);
/* Draws with the middle of the capitals at y; x is the left end (across 0), middle
 * (0.5) or right end (1). `angle` in degrees turns it about that place. */
void text_draw(struct canvas *c, enum font f, struct point at, double across, double angle,
	       const char *text, plot_colour colour);
/* Shortened with an ellipsis to the width. */
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
/* Draws the lines one below the other from the top at y. */
void text_draw_lines(struct canvas *c, enum font f, struct point at, double across,
		     const struct wrapped_text *l, plot_colour colour);
/* A copy that is valid UTF-8 on one line. */
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
	char label[TICKS_MAX][TICK_LABEL_LEN]; /* empty: a mark alone */
	double minor[MINOR_TICKS_MAX];
};
/* At most `most` (at least 2) round numbers in [lo, hi]. */
void ticks_linear(struct ticks *t, double lo, double hi, size_t most, bool whole);
void ticks_log(struct ticks *t, double lo, double hi, size_t most);

/* ---- axes.c ---- */

struct axis {
	char *label;
	enum plot_scale scale;
	double limits[2]; /* fixed limits, NaN: free */
	bool integer_ticks;
	char **categories;
	size_t ncategories;

	bool has_values;           /* some value was seen that it can show */
	bool has_hidden_values;    /* some finite value was seen that a log axis cannot show */
	bool no_margin;            /* no margin around the values */
	double lo, hi;             /* of the values, then of the axis */
	double pixel_lo, pixel_hi; /* where lo and hi stand in the picture */
	bool labels_slanted;       /* names at the x axis */
	struct ticks ticks;
};

bool axis_can_show(const struct axis *a, double value);
/* Forgets the values it saw. */
void axis_reset_range(struct axis *a, bool tight);
void axis_include_value(struct axis *a, double value);
/* From the range of the values to the range of the axis. */
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
	char *name;          /* in the legend, or the label of a SERIES_REFERENCE_LINE */
	bool steps;          /* SERIES_BAND */
	enum plot_side side; /* SERIES_REFERENCE_LINE */
	double *values[4];   /* as in the call */
	size_t n;
	char **tooltips, **links; /* (ntips) of items, or NULL; so may be each of them */
	size_t ntooltips;
};

/* Shows all values to the axes of the panel. */
void series_find_ranges(struct plot_panel *a);
void series_draw(struct canvas *c, struct plot_panel *a, const struct series *s);
/* Where item i of a line, staircase or points stands, the lower end of a bar; false:
 * not shown. */
bool series_item_pixel(const struct plot_panel *a, const struct series *s, size_t i,
		       struct point *p);
/* Where a reference line begins and ends; false: it is not shown. */
bool series_reference_line(const struct plot_panel *a, const struct series *s,
			   struct point ends[2]);
/* Its look in a legend: in a box around `at`. */
void series_draw_legend_sample(struct canvas *c, const struct series *s, struct point at,
			       double width);

/* ---- colourbar.c: the key of a heat map or of coloured lines ---- */

struct colourbar {
	enum plot_colourmap map;
	struct axis axis; /* owns its label */
};
double colourbar_width(struct canvas *c, struct colourbar *b, double height);
/* At the right of the area. */
void colourbar_draw(struct canvas *c, struct colourbar *b, const struct rect *area);
plot_colour colourbar_colour(const struct colourbar *b, double value);
/* The bar that stands for all panels; NULL: colours do not mean the same in all. */
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
	bool is_fixed; /* it stands right of its point, whatever is there */
};
/* All labels of a panel: of marks, then of points. */
void labels_draw(struct canvas *c, struct plot_panel *a);
/* How far fixed ones go beyond an area of this width. */
double labels_overhang(struct canvas *c, const struct plot_panel *a, double width);

/* ---- legend.c ---- */

enum {
	LEGEND_ENTRY_SERIES_MAX = 4
};
struct legend_entry { /* series with the same name share it */
	const char *name;
	const struct series *series[LEGEND_ENTRY_SERIES_MAX];
	size_t n;
	double width;
};
struct legend {
	struct legend_entry *entries;
	size_t n;
	bool beside;          /* a column at the right, else rows above */
	double width, height; /* that it takes */
	double sample;        /* widest picture before a name */
};
/* The names of series, of reference lines only if asked. */
void legend_collect(struct legend *l, const struct plot_panel *a, bool reference_lines);
bool legend_is_equal(const struct legend *a, const struct legend *b);
/* Chooses the form that takes less of a box of this size. */
void legend_measure(struct canvas *c, struct legend *l, double width, double height);
void legend_draw(struct canvas *c, const struct legend *l, const struct rect *box);
void legend_free(struct legend *l);

/* ---- the description ---- */

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

	char letter[4]; /* on paper, by which a text refers to it; or empty */
	struct legend legend;
	struct wrapped_text heading;
	struct rect area; /* where data are drawn */
	double left, top; /* where its column and its row begin */
	struct margins margins;
};

struct plot {
	struct arena mem;     /* of the panels, texts and numbers */
	double width, height; /* CSS pixels */
	int rows, columns;
	bool for_print;      /* laid out for paper */
	double panel_aspect; /* there: how high panels are, as a share of their width */
	bool no_title;       /* the title is not drawn */
	char id[PLOT_ID_LEN];
	char *title, *note;
	struct plot_panel **panels; /* rows x columns, NULL where none was made */

	struct legend legend;               /* of all panels together */
	struct colourbar *shared_colourbar; /* of all panels together; NULL: each has its own */
	struct wrapped_text heading, notes;
	struct rect frame; /* all but a thin white edge */
	struct rect legend_box;
	struct rect colourbar_area; /* what the common bar stands beside */
};

/* The panel at *i or the next one that was made, and moves *i behind it; NULL: there is none. */
static inline struct plot_panel *plot_next_panel(const struct plot *p, int *i)
{
	while (*i < p->rows * p->columns)
		if (p->panels[(*i)++])
			return p->panels[*i - 1];
	return NULL;
}

/* ---- layout.c ---- */

/* Above the panel, of its title and letter. */
double panel_heading_height(const struct canvas *c, const struct plot_panel *a);
/* Finds ranges, ticks, margins and areas. */
void plot_layout(struct canvas *c, struct plot *p);
static inline bool panel_has_data(const struct plot_panel *a)
{
	return a->parallel || (a->axis[PLOT_X].has_values && a->axis[PLOT_Y].has_values);
}

#endif
