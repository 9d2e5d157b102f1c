/* plot_internal.h - what the files of the plotting layer share.
 *
 * describe.c fills a struct plot; layout.c decides where everything stands, from
 * measured text; plot.c draws panel by panel: axes.c, series.c, heat.c, parallel.c,
 * labels.c, legend.c, all on a canvas (canvas.c, text.c) that one of the back ends
 * draws: gd.c as pixels (with stroke.c and raster.c), svg.c, pdf.c. csv.c and alt.c tell
 * the description itself. */
#ifndef DP_PLOT_INTERNAL_H
#define DP_PLOT_INTERNAL_H
#include "reports/plot/plot.h"

#include <gd.h>

enum {
	PLOT_ID_LEN = 64,
	TEXT_LEN = 512 /* bytes of one text, with its NUL; longer ones are cut */
};

struct point {
	double x, y;
};

struct rect { /* y grows downwards, as in the picture */
	double x0, y0, x1, y1;
};

#define INK      0x222222 /* titles and axis labels */
#define GREY     0x444444 /* axes and tick labels */
#define FAINT    0x777777 /* notes */
#define GRID     0xebebeb
#define WHITE    0xffffff
#define NO_VALUE 0xf4f4f4 /* where a heat map has none */

/* ---- room.c ---- */

/* The array, with room for `need` items of this size; *cap is its present room. NULL
 * without memory, and then the array is as it was. */
void *make_room(void *array, size_t *cap, size_t need, size_t size);

/* ---- raster.c: shapes, in CSS pixels, into pixels of the picture ---- */

struct raster {
	int width, height;
	double zoom;        /* pixels of the picture for one CSS pixel */
	int x0, y0, x1, y1; /* only pixels in [x0, x1) x [y0, y1) are painted */
	struct crossing *crossings;
	size_t n, cap;
	int *heads;           /* for each sub-row: its first crossing, or -1 */
	int first, last;      /* sub-rows with crossings: [first, last) */
	struct crossing *row; /* the crossings of one sub-row, in order */
	size_t row_cap;
	float *part, *rise; /* coverage of a row of pixels, see raster.c */
	unsigned char *touched;
	bool failed;
};

bool raster_open(struct raster *r, int width, int height, double zoom);
void raster_close(struct raster *r);
/* Adds a closed polygon to the shape. Those that overlap count once. */
void raster_add(struct raster *r, const struct point *p, size_t n);
/* The same as a hole. */
void raster_cut(struct raster *r, const struct point *p, size_t n);
/* Paints the shape and begins the next one. */
void raster_fill(struct raster *r, gdImagePtr im, plot_colour colour, double opacity);

/* ---- png.c ---- */

struct cells_image;
/* `zoom` pixels are a CSS pixel. */
DP_MUSTCHECK int png_bytes(const gdImagePtr im, double zoom, struct dp_buf *out,
			   struct dp_err *err);
/* Where there is no cell it is transparent. */
DP_MUSTCHECK int png_cells(const struct cells_image *cells, struct dp_buf *out, struct dp_err *err);

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

#define NO_CELL 0xff000000U /* instead of a colour: nothing is drawn there */

/* Coloured rectangles that share their edges. */
struct cells {
	const double *x; /* (nx + 1) edges in the picture, from the left */
	const double *y; /* (ny + 1) from the bottom */
	size_t nx, ny;
	const plot_colour *colour; /* (ny x nx) row by row, from the bottom */
};

struct canvas;

/* One form of picture. Additions cannot fail: memory that ran out is told by finish(). */
struct back_end {
	/* Makes what it draws on, as large as the canvas. */
	int (*open)(struct canvas *c, struct dp_err *err);
	/* Adds the bytes of the picture. */
	int (*finish)(struct canvas *c, struct dp_buf *out, struct dp_err *err);
	void (*close)(struct canvas *c); /* also what could not be opened */
	void (*clip)(struct canvas *c);  /* c->clip has changed */
	void (*polygon)(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
			double opacity);
	void (*block)(struct canvas *c, struct rect r, plot_colour colour, double opacity);
	/* A polyline that does not go far beyond the clip; `phase`: so long was what
	 * is left out before it. */
	void (*stroke)(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
		       double phase);
	/* Markers of one look. */
	void (*markers)(struct canvas *c, const struct point *at, size_t n,
			const struct plot_style *s);
	void (*cells)(struct canvas *c, const struct cells *cells);
	/* A ground that stays light where the page is dark; NULL: it is always light. */
	void (*card)(struct canvas *c, struct rect r);
	/* As in text_draw(); never empty. */
	void (*text)(struct canvas *c, enum font f, struct point at, double across, double angle,
		     const char *text, plot_colour colour);
};
extern const struct back_end back_end_gd, back_end_svg, back_end_page, back_end_pdf;

struct measured { /* one text that was measured before */
	char *text;
	uint32_t hash;
	int font;
	double left, right; /* of the ink, from the pen's start */
};

struct canvas {
	const struct back_end *back;
	void *ink; /* what the back end draws on, its own */
	const struct plot *plot;
	double width, height;
	bool print; /* fonts and lines as on paper */
	struct rect clip;
	bool on_colours;        /* what is drawn stands on a heat map, not on the ground */
	const char *tip, *link; /* of the item that is being drawn, or NULL */
	char *fonts[2];         /* files: regular, bold */
	struct measured *measured;
	size_t nmeasured, measured_cap;
	struct point *run; /* scratch of canvas_line() */
	size_t run_cap;
	bool failed; /* memory ran out */
};

/* A canvas on which text can be measured. */
DP_MUSTCHECK int canvas_open(struct canvas *c, const struct back_end *back, bool print,
			     struct dp_err *err);
/* From here on it has a size and can be drawn on. */
DP_MUSTCHECK int canvas_begin(struct canvas *c, double width, double height, struct dp_err *err);
void canvas_close(struct canvas *c);
DP_MUSTCHECK int canvas_finish(struct canvas *c, struct dp_buf *out, struct dp_err *err);
/* How many pixels of a PNG a CSS pixel is. */
double canvas_zoom(const struct canvas *c);
/* To the nearest edge of a pixel of a PNG, so that all forms look alike. */
double canvas_sharp(const struct canvas *c, double css);
/* Nothing is drawn outside; NULL: the whole picture. Text is not clipped. */
void canvas_clip(struct canvas *c, const struct rect *clip);
/* What comes next is an item of which this is told, and that leads somewhere; NULL: it
 * is none. */
void canvas_item(struct canvas *c, const char *tip, const char *link);
void canvas_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
		    double opacity);
/* A rectangle with its edges moved to whole pixels, so that they are sharp. */
void canvas_block(struct canvas *c, struct rect r, plot_colour colour, double opacity);
/* A sharp line of one CSS pixel, across or upright. */
void canvas_rule(struct canvas *c, struct point a, struct point b, plot_colour colour);
/* A polyline; closed when it ends where it began. */
void canvas_line(struct canvas *c, const struct point *p, size_t n, const struct pen *pen);
void canvas_markers(struct canvas *c, const struct point *at, size_t n, const struct plot_style *s);
void canvas_cells(struct canvas *c, const struct cells *cells);
/* What is drawn there until the end of it has colours that need a light ground. */
void canvas_begin_card(struct canvas *c, struct rect r);
void canvas_end_card(struct canvas *c);
/* The part of a-b in the box; false: none. */
bool clip_segment(const struct rect *box, struct point *a, struct point *b);

/* ---- cells.c ---- */

/* Pixels that show cells: one for each where they are equally wide and high, else as many
 * as show their edges. */
struct cells_image {
	struct rect place;
	size_t width, height;
	plot_colour *colour; /* (height x width) from the top; the caller frees it */
};
/* False without memory. */
bool cells_sample(const struct cells *cells, struct cells_image *out);
/* Draws each by itself. */
void cells_as_blocks(struct canvas *c, const struct cells *cells);

/* ---- shades.c ---- */

/* What a colour is called that is another one on a dark ground; NULL: it stays. */
const char *shade_name(plot_colour colour);

/* Could it not be seen on a dark ground, nor is it changed there? */
bool shade_lost(plot_colour colour);

/* ---- pdf.c ---- */

/* Lets go of fonts. */
void pdf_shutdown(void);

/* ---- gd.c, stroke.c: the back end that paints pixels ---- */

struct gd_ink {
	gdImagePtr im;
	struct raster raster;
};
struct gd_ink *gd_ink(const struct canvas *c);
/* Paints the shape that was added to the raster. */
void gd_fill(struct canvas *c, plot_colour colour, double opacity);
void gd_stroke(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
	       double phase);

/* ---- marker.c ---- */

enum {
	CORNERS_MAX = 32
};
/* The marker's corners around (0, 0), `grow` wider on all sides. */
size_t marker_corners(enum plot_marker marker, double radius, double grow,
		      struct point p[CORNERS_MAX]);
static inline bool marker_is_round(enum plot_marker m)
{
	return m == PLOT_DOT || m == PLOT_RING;
}
/* How far it reaches from its middle, across or upright. */
double marker_reach(const struct plot_style *s);

/* Style with defaults filled in. */
struct plot_style style_full(const struct plot_style *s);
struct pen style_pen(const struct plot_style *s);
/* The period of its dashes, and how much of that is drawn; 0: dots. */
double pen_dashes(const struct pen *pen, double *on);

/* ---- text.c ---- */

/* Finds the font files. */
DP_MUSTCHECK int text_open(struct canvas *c, struct dp_err *err);
void text_close(struct canvas *c);
/* Where text that stands there has its baseline. */
struct point text_baseline(const struct canvas *c, enum font f, struct point at, double angle);
/* Where its pen starts, as measured. */
struct point text_pen(struct canvas *c, enum font f, struct point at, double across, double angle,
		      const char *text);
/* Draws by libgd. */
void text_paint(struct canvas *c, gdImagePtr im, double zoom, enum font f, struct point pen,
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
void text_fit(struct canvas *c, enum font f, const char *text, double width, char out[TEXT_LEN]);

enum {
	LINES_MAX = 3
};
struct lines {
	char line[LINES_MAX][TEXT_LEN];
	size_t n;
};
/* Breaks at spaces into at most `most` lines; NULL gives none. */
void text_wrap(struct canvas *c, enum font f, const char *text, double width, size_t most,
	       struct lines *out);
/* Draws the lines one below the other from the top at y. */
void text_lines(struct canvas *c, enum font f, struct point at, double across,
		const struct lines *l, plot_colour colour);
/* A copy that is valid UTF-8 on one line; NULL without memory. */
char *text_copy(const char *text);

/* ---- ticks.c ---- */

enum {
	TICKS_MAX = 64,
	MINOR_MAX = 128,
	TICK_LEN = TEXT_LEN
};
struct ticks {
	size_t n, nminor;
	double at[TICKS_MAX];
	char label[TICKS_MAX][TICK_LEN]; /* empty: a mark alone */
	double minor[MINOR_MAX];
};
/* At most `most` (at least 2) round numbers in [lo, hi]. */
void ticks_linear(struct ticks *t, double lo, double hi, size_t most, bool whole);
void ticks_log(struct ticks *t, double lo, double hi, size_t most);

/* ---- axes.c ---- */

struct axis {
	char *label;
	enum plot_scale scale;
	double want[2]; /* fixed limits, NaN: free */
	bool whole;
	char **names;
	size_t nnames;

	bool any;        /* some value was seen that it can show */
	bool hidden;     /* some finite value was seen that a log axis cannot show */
	bool tight;      /* no margin around the values */
	double lo, hi;   /* of the values, then of the axis */
	double from, to; /* where lo and hi stand in the picture */
	bool slanted;    /* names at the x axis */
	struct ticks ticks;
};

bool axis_shows(const struct axis *a, double value);
/* Forgets the values it saw. */
void axis_begin(struct axis *a, bool tight);
void axis_see(struct axis *a, double value);
/* From the range of the values to the range of the axis. */
void axis_settle(struct axis *a);
/* 0 at lo, 1 at hi. */
double axis_share(const struct axis *a, double value);
double axis_at(const struct axis *a, double value);
/* Chooses ticks whose labels do not touch over `length`. */
void axis_ticks(struct canvas *c, struct axis *a, enum plot_side side, double length);
double axis_widest(struct canvas *c, const struct axis *a);

struct margins {
	double left, top, right, bottom;
};
void axes_measure(struct canvas *c, struct plot_panel *a, struct margins *m);
void axes_draw_grid(struct canvas *c, struct plot_panel *a);
void axes_draw(struct canvas *c, struct plot_panel *a);

/* ---- series.c ---- */

enum kind {
	LINE,
	STEPS,
	POINTS,
	BARS,
	BAND,
	BLOCKS,
	MARK,
	BOX
};

struct series {
	enum kind kind;
	struct plot_style style;
	char *name;          /* in the legend, or the label of a MARK */
	bool steps;          /* BAND */
	enum plot_side side; /* MARK */
	double *v[4];        /* as in the call */
	size_t n;
	char **tips, **links; /* (ntips) of items, or NULL; so may be each of them */
	size_t ntips;
};

/* Shows all values to the axes of the panel. */
void series_see(struct plot_panel *a);
void series_draw(struct canvas *c, struct plot_panel *a, const struct series *s);
/* Where item i of a line, staircase or points stands, the lower end of a bar; false:
 * not shown. */
bool series_place(const struct plot_panel *a, const struct series *s, size_t i, struct point *p);
/* Its look in a legend: in a box around `at`. */
void series_sample(struct canvas *c, const struct series *s, struct point at, double width);

/* ---- colourbar.c: the key of a heat map or of coloured lines ---- */

struct colourbar {
	enum plot_map map;
	struct axis axis; /* owns its label */
};
double colourbar_width(struct canvas *c, struct colourbar *b, double height);
/* At the right of the area. */
void colourbar_draw(struct canvas *c, struct colourbar *b, const struct rect *area);
plot_colour colourbar_colour(const struct colourbar *b, double value);
/* The bar that stands for all panels; NULL: colours do not mean the same in all. */
struct colourbar *colourbar_shared(const struct plot *p);

/* ---- heat.c, parallel.c ---- */

struct heat {
	double *x, *y, *z;
	size_t nx, ny;
	struct colourbar bar;
};
void heat_see(struct plot_panel *a);
void heat_draw(struct canvas *c, struct plot_panel *a);
void heat_free(struct heat *h);

struct parallel {
	struct axis *axes;
	size_t n, m;
	double *values, *by;
	struct colourbar bar;
};
void parallel_see(struct parallel *p);
void parallel_measure(struct canvas *c, struct parallel *p, const struct rect *area,
		      struct margins *m);
void parallel_draw(struct canvas *c, struct parallel *p, const struct rect *area);
void parallel_free(struct parallel *p);

/* ---- labels.c ---- */

struct label {
	double x, y;
	char *text;
	bool fixed; /* it stands right of its point, whatever is there */
};
/* All labels of a panel: of marks, then of points. */
void labels_draw(struct canvas *c, struct plot_panel *a);
/* How far fixed ones go beyond an area of this width. */
double labels_overhang(struct canvas *c, const struct plot_panel *a, double width);

/* ---- legend.c ---- */

enum {
	ENTRY_SERIES = 4
};
struct entry { /* series with the same name share it */
	const char *name;
	const struct series *series[ENTRY_SERIES];
	size_t n;
	double width;
};
struct legend {
	struct entry *entries;
	size_t n;
	bool beside;          /* a column at the right, else rows above */
	double width, height; /* that it takes */
	double sample;        /* widest picture before a name */
};
/* False without memory. */
bool legend_collect(struct legend *l, const struct plot_panel *a);
bool legend_same(const struct legend *a, const struct legend *b);
/* Chooses the form that takes less of a box of this size. */
void legend_measure(struct canvas *c, struct legend *l, double width, double height);
void legend_draw(struct canvas *c, const struct legend *l, const struct rect *box);
void legend_free(struct legend *l);

/* ---- the description ---- */

struct plot_panel {
	struct plot *plot;
	char *title, *empty;
	struct axis axis[2];
	struct series *series;
	size_t nseries, series_cap;
	struct label *labels;
	size_t nlabels, labels_cap;
	struct heat *heat;
	struct parallel *parallel;

	char letter[4]; /* on paper, by which a text refers to it; or empty */
	struct legend legend;
	struct lines heading;
	struct rect area; /* where data are drawn */
	double left, top; /* where its column and its row begin */
	struct margins margins;
};

struct plot {
	double width, height; /* CSS pixels */
	int rows, columns;
	bool print;    /* laid out for paper */
	double shape;  /* there: how high panels are, as a share of their width */
	bool untitled; /* the title is not drawn */
	char id[PLOT_ID_LEN];
	char *title, *note;
	struct plot_panel **panels; /* rows x columns, NULL where none was made */
	bool failed;                /* memory ran out */
	bool misused;               /* a panel outside the grid */

	struct legend legend;  /* of all panels together */
	struct colourbar *bar; /* of all panels together; NULL: each has its own */
	struct lines heading, notes;
	struct rect frame; /* all but a thin white edge */
	struct rect legend_box;
	struct rect bar_beside; /* what the common bar stands beside */
};

void axis_free(struct axis *a);

/* ---- layout.c ---- */

/* Lines above the panel for its title and letter. */
size_t heading_lines(const struct plot_panel *a);
/* Finds ranges, ticks, margins and areas. False without memory. */
DP_MUSTCHECK bool plot_layout(struct canvas *c, struct plot *p);
static inline bool panel_has_data(const struct plot_panel *a)
{
	return a->parallel || (a->axis[PLOT_X].any && a->axis[PLOT_Y].any);
}

/* ---- print.c ---- */

/* The height at which panels have their shape, from where they stand now. */
double print_height(const struct canvas *c, const struct plot *p);

#endif
