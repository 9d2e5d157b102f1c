/* svg_backend.c - draw figures as SVG with real text and lines.
 *
 * Written by hand, since cairo's SVG turns text into shapes. Consecutive elements of one style
 * share a group, which keeps figures of thousands of points small. Ids begin with the figure's
 * name, because a page may embed many figures. Texts passed text_sanitized_copy() and need only
 * escaping.
 *
 * plot_backend_svg writes a file with a title and without links. plot_backend_inline_svg writes SVG
 * for a page, with an accessible name and links to places of the page. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers, attributes and bytes ---- */

static void svg_number(struct dp_buf *out, double x)
{
	const double far = 1e6; /* outside the picture, but exact in all SVG readers */
	long v = lrint(fmin(fmax(x, -far), far) * 100);
	char text[32];
	int n;

	if (v < 0) {
		dp_buf_putc(out, '-');
		v = -v;
	}
	n = v >= 100 || v == 0 ? snprintf(text, sizeof text, "%ld", v / 100) : 0;
	if (v % 100)
		n += snprintf(text + n, sizeof text - (size_t)n, v % 10 ? ".%02ld" : ".%ld",
			      v % 10 ? v % 100 : v % 100 / 10);
	dp_buf_add(out, text, (size_t)n);
}

static void svg_pair(struct dp_buf *out, struct point p)
{
	svg_number(out, p.x);
	dp_buf_putc(out, ' ');
	svg_number(out, p.y);
}

static void svg_attribute(struct dp_buf *out, const char *name, double x)
{
	dp_buf_printf(out, " %s=\"", name);
	svg_number(out, x);
	dp_buf_putc(out, '"');
}

static void svg_write_rect(struct dp_buf *out, struct rect r)
{
	svg_attribute(out, "x", r.x0);
	svg_attribute(out, "y", r.y0);
	svg_attribute(out, "width", fmax(r.x1 - r.x0, 0));
	svg_attribute(out, "height", fmax(r.y1 - r.y0, 0));
}

static void svg_write_colour(const struct canvas *c, struct dp_buf *out, const char *what,
			     plot_colour colour)
{
	const char *name = c->keep_colours ? NULL : dark_colour_class(colour);

	if (name)
		dp_buf_printf(out, " class=\"%c-%s\"", what[0], name);
	if ((colour >> 16) % 0x11 == 0 && (colour >> 8 & 255) % 0x11 == 0 &&
	    (colour & 255) % 0x11 == 0)
		dp_buf_printf(out, " %s=\"#%x%x%x\"", what, (colour >> 16 & 255) / 0x11,
			      (colour >> 8 & 255) / 0x11, (colour & 255) / 0x11);
	else
		dp_buf_printf(out, " %s=\"#%06x\"", what, colour);
}

static void svg_fill(const struct canvas *c, struct dp_buf *out, plot_colour colour, double opacity)
{
	svg_write_colour(c, out, "fill", colour);
	if (opacity < 1)
		svg_attribute(out, "fill-opacity", opacity);
}

static void svg_stroke(const struct canvas *c, struct dp_buf *out, plot_colour colour,
		       double opacity)
{
	svg_write_colour(c, out, "stroke", colour);
	if (opacity < 1)
		svg_attribute(out, "stroke-opacity", opacity);
}

static void svg_path(struct dp_buf *out, const struct point *p, size_t n)
{
	char last = 'M';

	dp_buf_putc(out, 'M');
	svg_pair(out, p[0]);
	for (size_t i = 1; i < n; i++) {
		char way = p[i].y == p[i - 1].y ? 'H' : p[i].x == p[i - 1].x ? 'V' : 'L';

		dp_buf_putc(out, way == last ? ' ' : way);
		last = way;
		if (way == 'L')
			svg_pair(out, p[i]);
		else
			svg_number(out, way == 'H' ? p[i].x : p[i].y);
	}
	if (n == 1) /* a dot, if ends are round */
		dp_buf_puts(out, "h0");
}

static void svg_base64(struct dp_buf *out, const struct dp_buf *bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const unsigned char *p = (const unsigned char *)bytes->data;
	size_t n = bytes->len;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;

		v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
		v |= i + 2 < n ? p[i + 2] : 0;
		dp_buf_putc(out, digits[v >> 18]);
		dp_buf_putc(out, digits[v >> 12 & 63]);
		dp_buf_putc(out, i + 1 < n ? digits[v >> 6 & 63] : '=');
		dp_buf_putc(out, i + 2 < n ? digits[v & 63] : '=');
	}
}

/* ---- the surface ---- */

enum {
	NO_CLIP = -1,
	MARKER_PATH_MIN = 400 /* from here on markers share one path, without tooltips */
};

struct svg_surface {
	struct dp_buf defs, body;
	struct dp_buf open_attributes; /* of the open group, or empty */
	struct dp_buf next_attributes; /* of the next element */
	struct dp_buf pending_rects;   /* path of rectangles not written yet */
	struct rect *clips;
	size_t nclips, clips_cap;
	int clip, open_clip; /* clip numbers, or NO_CLIP */
	struct svg_marker {
		struct plot_style style;
		bool on_colours;
	} * markers;
	size_t nmarkers, markers_cap, nmarker_paths;
	bool has_links; /* at least one item has a link */
};

static struct svg_surface *svg_get_surface(const struct canvas *c)
{
	return c->backend_data;
}

static void svg_open(struct canvas *c)
{
	struct svg_surface *s = c->backend_data = dp_calloc(1, sizeof *s);

	s->clip = s->open_clip = NO_CLIP;
}

static void svg_close(struct canvas *c)
{
	struct svg_surface *s = svg_get_surface(c);

	dp_buf_free(&s->defs);
	dp_buf_free(&s->body);
	dp_buf_free(&s->open_attributes);
	dp_buf_free(&s->next_attributes);
	dp_buf_free(&s->pending_rects);
	free(s->clips);
	free(s->markers);
	free(s);
}

/* ---- ids and groups ---- */

/* "front-m3" */
static void svg_id(const struct canvas *c, struct dp_buf *out, char kind, size_t i)
{
	dp_buf_printf(out, "%s-%c%zu", c->plot->id, kind, i);
}

static void svg_flush_rects(struct canvas *c)
{
	struct svg_surface *s = svg_get_surface(c);

	if (s->pending_rects.len)
		dp_buf_printf(&s->body, "<path d=\"%s\"/>\n", dp_buf_text(&s->pending_rects));
	dp_buf_clear(&s->pending_rects);
}

static void svg_end_group(struct canvas *c)
{
	struct svg_surface *s = svg_get_surface(c);

	svg_flush_rects(c);
	if (s->open_attributes.len)
		dp_buf_puts(&s->body, "</g>\n");
	dp_buf_clear(&s->open_attributes);
}

static void svg_end_clip(struct canvas *c)
{
	struct svg_surface *s = svg_get_surface(c);

	svg_end_group(c);
	if (s->open_clip != NO_CLIP)
		dp_buf_puts(&s->body, "</g>\n");
	s->open_clip = NO_CLIP;
}

/* Opens the clip and group that the current style needs, unless they are open. */
static void svg_open_group(struct canvas *c)
{
	struct svg_surface *s = svg_get_surface(c);

	if (s->clip != s->open_clip) {
		svg_end_clip(c);
		s->open_clip = s->clip;
		if (s->clip != NO_CLIP) {
			dp_buf_puts(&s->body, "<g clip-path=\"url(#");
			svg_id(c, &s->body, 'c', (size_t)s->clip);
			dp_buf_puts(&s->body, ")\">\n");
		}
	}
	if (strcmp(dp_buf_text(&s->open_attributes), dp_buf_text(&s->next_attributes)) != 0) {
		svg_end_group(c);
		dp_buf_puts(&s->open_attributes, dp_buf_text(&s->next_attributes));
		if (s->open_attributes.len)
			dp_buf_printf(&s->body, "<g%s>\n", s->open_attributes.data);
	}
	dp_buf_clear(&s->next_attributes);
}

/* The clip number of a rectangle, new or existing. */
static int svg_define_clip(struct canvas *c, struct rect r)
{
	struct svg_surface *s = svg_get_surface(c);

	for (size_t i = 0; i < s->nclips; i++)
		if (s->clips[i].x0 == r.x0 && s->clips[i].y0 == r.y0 && s->clips[i].x1 == r.x1 &&
		    s->clips[i].y1 == r.y1)
			return (int)i;
	s->clips = grow_array(s->clips, &s->clips_cap, s->nclips + 1, sizeof *s->clips);
	s->clips[s->nclips] = r;
	dp_buf_puts(&s->defs, "<clipPath id=\"");
	svg_id(c, &s->defs, 'c', s->nclips);
	dp_buf_puts(&s->defs, "\"><rect");
	svg_write_rect(&s->defs, r);
	dp_buf_puts(&s->defs, "/></clipPath>\n");
	return (int)s->nclips++;
}

static void svg_clip(struct canvas *c)
{
	bool all = c->clip.x0 == 0 && c->clip.y0 == 0 && c->clip.x1 == c->width &&
		   c->clip.y1 == c->height;

	svg_get_surface(c)->clip = all ? NO_CLIP : svg_define_clip(c, c->clip);
}

/* ---- items ---- */

static bool svg_has_link(const struct canvas *c)
{
	return c->link && c->backend == &plot_backend_inline_svg;
}

/* Opens the link of an item. Its element begins with "<use" and ends by name. */
static void svg_begin_link(struct canvas *c)
{
	struct svg_surface *s = svg_get_surface(c);

	if (!svg_has_link(c))
		return;
	s->has_links = true;
	dp_buf_puts(&s->body, "<a xlink:href=\"");
	dp_buf_add_xml_escaped(&s->body, c->link);
	dp_buf_puts(&s->body, "\">");
}

static void svg_end_element(struct canvas *c, const char *element)
{
	struct dp_buf *out = &svg_get_surface(c)->body;

	if (c->tooltip) {
		dp_buf_puts(out, "><title>");
		dp_buf_add_xml_escaped(out, c->tooltip);
		dp_buf_printf(out, "</title></%s>", element);
	} else {
		dp_buf_puts(out, "/>");
	}
	dp_buf_puts(out, svg_has_link(c) ? "</a>\n" : "\n");
}

/* ---- shapes ---- */

static void svg_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
			double opacity)
{
	struct svg_surface *s = svg_get_surface(c);

	if (!n)
		return;
	svg_fill(c, &s->next_attributes, colour, opacity);
	svg_open_group(c);
	svg_flush_rects(c);
	dp_buf_puts(&s->body, "<path d=\"");
	svg_path(&s->body, p, n);
	dp_buf_puts(&s->body, "z\"/>\n");
}

/* Collects opaque rectangles without tooltips in one path. */
static void svg_rect(struct canvas *c, struct rect r, plot_colour colour, double opacity)
{
	struct svg_surface *s = svg_get_surface(c);

	svg_fill(c, &s->next_attributes, colour, opacity);
	svg_open_group(c);
	if (!c->tooltip && opacity >= 1) {
		dp_buf_putc(&s->pending_rects, 'M');
		svg_pair(&s->pending_rects, (struct point){ r.x0, r.y0 });
		dp_buf_putc(&s->pending_rects, 'H');
		svg_number(&s->pending_rects, r.x1);
		dp_buf_putc(&s->pending_rects, 'V');
		svg_number(&s->pending_rects, r.y1);
		dp_buf_putc(&s->pending_rects, 'H');
		svg_number(&s->pending_rects, r.x0);
		dp_buf_putc(&s->pending_rects, 'z');
		return;
	}
	svg_flush_rects(c);
	svg_begin_link(c);
	dp_buf_puts(&s->body, "<rect");
	svg_write_rect(&s->body, r);
	svg_end_element(c, "rect");
}

/* Solid lines and dots have round ends, dashes do not. */
static void svg_pen(const struct canvas *c, struct dp_buf *out, const struct pen *pen)
{
	double on, period = pen_dash_period(pen, &on);

	dp_buf_puts(out, " fill=\"none\"");
	svg_stroke(c, out, pen->colour, pen->opacity);
	svg_attribute(out, "stroke-width", pen->width);
	dp_buf_puts(out, " stroke-linejoin=\"round\"");
	if (pen->dash != PLOT_DASHED)
		dp_buf_puts(out, " stroke-linecap=\"round\"");
	if (pen->dash == PLOT_SOLID)
		return;
	dp_buf_puts(out, " stroke-dasharray=\"");
	svg_number(out, on);
	dp_buf_putc(out, ' ');
	svg_number(out, period - on);
	dp_buf_putc(out, '"');
}

static void svg_line(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
		     double phase)
{
	struct svg_surface *s = svg_get_surface(c);

	svg_pen(c, &s->next_attributes, pen);
	svg_open_group(c);
	svg_flush_rects(c);
	svg_begin_link(c);
	dp_buf_puts(&s->body, "<path");
	if (pen->dash != PLOT_SOLID && phase > 0)
		svg_attribute(&s->body, "stroke-dashoffset", phase);
	dp_buf_puts(&s->body, " d=\"");
	svg_path(&s->body, p, n);
	if (n > 2 && p[0].x == p[n - 1].x && p[0].y == p[n - 1].y)
		dp_buf_putc(&s->body, 'z');
	dp_buf_putc(&s->body, '"');
	svg_end_element(c, "path");
}

/* ---- markers: each style is defined once ---- */

static void svg_write_marker_shape(struct dp_buf *out, const struct plot_style *s, double grow)
{
	struct point p[MARKER_CORNERS_MAX];

	if (marker_is_round(s->marker)) {
		dp_buf_puts(out, "<circle");
		svg_attribute(out, "r", s->size / 2 + grow);
	} else {
		dp_buf_puts(out, "<path d=\"");
		svg_path(out, p, marker_corners(s->marker, s->size / 2, grow, p));
		dp_buf_puts(out, "z\"");
	}
}

static void svg_write_marker(const struct canvas *c, struct dp_buf *out, const struct plot_style *s)
{
	double edge = fmin(s->width, s->size / 2);

	if (s->outline) {
		svg_write_marker_shape(out, s, 1);
		svg_fill(c, out, WHITE, s->opacity);
		dp_buf_puts(out, "/>");
	}
	if (s->marker == PLOT_RING) {
		svg_write_marker_shape(out, s, -edge / 2);
		dp_buf_puts(out, " fill=\"none\"");
		svg_stroke(c, out, s->colour, s->opacity);
		svg_attribute(out, "stroke-width", edge);
	} else {
		svg_write_marker_shape(out, s, 0);
		svg_fill(c, out, s->colour, s->opacity);
	}
	dp_buf_puts(out, "/>");
}

static size_t svg_define_marker(struct canvas *c, const struct plot_style *b)
{
	struct svg_surface *s = svg_get_surface(c);

	for (size_t i = 0; i < s->nmarkers; i++) {
		const struct plot_style *a = &s->markers[i].style;

		if (a->colour == b->colour && a->width == b->width && a->size == b->size &&
		    a->marker == b->marker && a->opacity == b->opacity &&
		    a->outline == b->outline && s->markers[i].on_colours == c->keep_colours)
			return i;
	}
	s->markers = grow_array(s->markers, &s->markers_cap, s->nmarkers + 1, sizeof *s->markers);
	s->markers[s->nmarkers] = (struct svg_marker){ *b, c->keep_colours };
	dp_buf_puts(&s->defs, "<g id=\"");
	svg_id(c, &s->defs, 'm', s->nmarkers);
	dp_buf_puts(&s->defs, "\">");
	svg_write_marker(c, &s->defs, b);
	dp_buf_puts(&s->defs, "</g>\n");
	return s->nmarkers++;
}

/* An invisible path; its corners carry the markers. */
static void svg_write_marker_path(struct canvas *c, const struct point *at, size_t n, size_t marker)
{
	static const char *const where[] = { "start", "mid", "end" };
	struct svg_surface *s = svg_get_surface(c);

	dp_buf_puts(&s->defs, "<marker id=\"");
	svg_id(c, &s->defs, 'p', s->nmarker_paths);
	dp_buf_puts(&s->defs, "\" markerUnits=\"userSpaceOnUse\" overflow=\"visible\"><use "
			      "xlink:href=\"#");
	svg_id(c, &s->defs, 'm', marker);
	dp_buf_puts(&s->defs, "\"/></marker>\n");
	dp_buf_puts(&s->body, "<path fill=\"none\"");
	for (size_t k = 0; k < DP_COUNT(where); k++) {
		dp_buf_printf(&s->body, " marker-%s=\"url(#", where[k]);
		svg_id(c, &s->body, 'p', s->nmarker_paths);
		dp_buf_puts(&s->body, ")\"");
	}
	dp_buf_puts(&s->body, " d=\"");
	svg_path(&s->body, at, n);
	dp_buf_puts(&s->body, "\"/>\n");
	s->nmarker_paths++;
}

static void svg_markers(struct canvas *c, const struct point *at, size_t n,
			const struct plot_style *style)
{
	struct svg_surface *s = svg_get_surface(c);
	size_t marker = svg_define_marker(c, style);

	svg_open_group(c);
	svg_flush_rects(c);
	if (n >= MARKER_PATH_MIN) {
		svg_write_marker_path(c, at, n, marker);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		svg_begin_link(c);
		dp_buf_puts(&s->body, "<use xlink:href=\"#");
		svg_id(c, &s->body, 'm', marker);
		dp_buf_putc(&s->body, '"');
		svg_attribute(&s->body, "x", at[i].x);
		svg_attribute(&s->body, "y", at[i].y);
		svg_end_element(c, "use");
	}
}

/* ---- cells: an embedded image ---- */

static void svg_cells(struct canvas *c, const struct heat_cells *cells)
{
	struct dp_buf png = DP_BUF_INIT, *out = &svg_get_surface(c)->body;
	struct heat_image image = heat_cells_to_image(cells);

	svg_open_group(c);
	svg_flush_rects(c);
	png_encode_cells(&image, &png);
	dp_buf_puts(out, "<image");
	svg_write_rect(out, canvas_snap_rect(c, image.place));
	dp_buf_puts(out, " preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" "
			 "style=\"image-rendering:pixelated\" "
			 "xlink:href=\"data:image/png;base64,");
	svg_base64(out, &png);
	dp_buf_puts(out, "\"/>\n");
	dp_buf_free(&png);
	free(image.colour);
}

/* Visible only if the page's style shows it. */
static void svg_light_background(struct canvas *c, struct rect r)
{
	struct svg_surface *s = svg_get_surface(c);

	svg_open_group(c);
	svg_flush_rects(c);
	dp_buf_puts(&s->body, "<rect class=\"f-card\" fill=\"none\"");
	svg_write_rect(&s->body, r);
	dp_buf_puts(&s->body, "/>\n");
}

/* ---- text ---- */

static void svg_text(struct canvas *c, enum font f, struct point at, double across, double angle,
		     const char *text, plot_colour colour)
{
	struct point base = text_baseline(c, f, at, angle);
	struct svg_surface *s = svg_get_surface(c);

	svg_attribute(&s->next_attributes, "font-size", text_size(c, f));
	if (text_is_bold(f))
		dp_buf_puts(&s->next_attributes, " font-weight=\"bold\"");
	if (across > 0)
		dp_buf_puts(&s->next_attributes,
			    across < 1 ? " text-anchor=\"middle\"" : " text-anchor=\"end\"");
	svg_fill(c, &s->next_attributes, colour, 1);
	svg_open_group(c);
	svg_flush_rects(c);
	dp_buf_puts(&s->body, "<text");
	if (angle == 0) {
		svg_attribute(&s->body, "x", base.x);
		svg_attribute(&s->body, "y", base.y);
	} else {
		dp_buf_puts(&s->body, " transform=\"translate(");
		svg_pair(&s->body, base);
		dp_buf_puts(&s->body, ") rotate(");
		svg_number(&s->body, -angle);
		dp_buf_puts(&s->body, ")\"");
	}
	dp_buf_putc(&s->body, '>');
	dp_buf_add_xml_escaped(&s->body, text);
	dp_buf_puts(&s->body, "</text>\n");
}

/* ---- document ---- */

/* Writes the accessible name. A figure with links has no role "img", which would hide its parts
 * from screen readers. */
static void svg_head(struct canvas *c, struct dp_buf *out)
{
	const struct svg_surface *s = svg_get_surface(c);
	struct dp_buf alt = DP_BUF_INIT;
	bool page = c->backend == &plot_backend_inline_svg;
	/* the requested size on paper, else CSS pixels */
	const char *unit = c->for_print ? "mm" : "";
	double scale = c->for_print ? 25.4 / 96 : 1;

	plot_write_alt_text(c->plot, &alt);
	dp_buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
			 "xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
	dp_buf_puts(out, " width=\"");
	svg_number(out, c->width * scale);
	dp_buf_printf(out, "%s\" height=\"", unit);
	svg_number(out, c->height * scale);
	dp_buf_printf(out, "%s\" viewBox=\"0 0 ", unit);
	svg_pair(out, (struct point){ c->width, c->height });
	dp_buf_puts(out, "\"");
	if (page) {
		dp_buf_printf(out, " role=\"%s\" aria-label=\"", s->has_links ? "group" : "img");
		dp_buf_add_xml_escaped(out, dp_buf_text(&alt));
		dp_buf_putc(out, '"');
	}
	dp_buf_puts(out, " font-family=\"'DejaVu Sans',Verdana,sans-serif\">\n");
	if (!page) {
		dp_buf_puts(out, "<title>");
		dp_buf_add_xml_escaped(out, c->plot->title ? c->plot->title : c->plot->id);
		dp_buf_puts(out, "</title>\n<desc>");
		dp_buf_add_xml_escaped(out, dp_buf_text(&alt));
		dp_buf_puts(out, "</desc>\n");
		dp_buf_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	}
	dp_buf_free(&alt);
}

static int svg_finish(struct canvas *c, struct dp_buf *out, struct dp_err *err)
{
	struct svg_surface *s = svg_get_surface(c);

	(void)err;
	svg_end_clip(c);
	svg_head(c, out);
	if (s->defs.len)
		dp_buf_printf(out, "<defs>\n%s</defs>\n", s->defs.data);
	dp_buf_puts(out, dp_buf_text(&s->body));
	dp_buf_puts(out, "</svg>\n");
	return DP_OK;
}

#define SVG_OPERATIONS                                                                             \
	.open = svg_open, .finish = svg_finish, .close = svg_close, .clip = svg_clip,              \
	.polygon = svg_polygon, .rect = svg_rect, .stroke = svg_line, .markers = svg_markers,      \
	.cells = svg_cells, .text = svg_text

const struct plot_backend plot_backend_svg = { SVG_OPERATIONS };
const struct plot_backend plot_backend_inline_svg = { SVG_OPERATIONS,
						      .light_background = svg_light_background };
