/* pdf_backend.c - draw figures as PDF by cairo, with text in an embedded font. */
#include "reports/plot/plot_internal.h"

#include <cairo-pdf.h>
#include <math.h>
#include <stdlib.h>

/* PDF units are points. */
static const double points_per_pixel = 0.75;

struct pdf_surface {
	cairo_surface_t *surface;
	cairo_t *cr;
	struct dp_buf bytes;
	bool has_pending_rects; /* the path has opaque rectangles not filled yet */
	plot_colour colour;
};

static struct pdf_surface *pdf_get_surface(const struct canvas *c)
{
	return c->backend_data;
}

static cairo_status_t pdf_write(void *to, const unsigned char *data, unsigned n)
{
	struct dp_buf *out = to;

	dp_buf_add(out, data, n);
	return CAIRO_STATUS_SUCCESS;
}

static void pdf_open(struct canvas *c)
{
	struct pdf_surface *p = c->backend_data = dp_calloc(1, sizeof *p);

	p->surface = cairo_pdf_surface_create_for_stream(
		pdf_write, &p->bytes, c->width * points_per_pixel, c->height * points_per_pixel);
	/* an invalid date makes cairo omit the date: the same figure gives the same bytes */
	cairo_pdf_surface_set_metadata(p->surface, CAIRO_PDF_METADATA_CREATE_DATE, "none");
	if (c->plot && c->plot->title)
		cairo_pdf_surface_set_metadata(p->surface, CAIRO_PDF_METADATA_TITLE,
					       c->plot->title);
	p->cr = cairo_create(p->surface);
	cairo_scale(p->cr, points_per_pixel, points_per_pixel);
	cairo_set_line_join(p->cr, CAIRO_LINE_JOIN_ROUND);
	cairo_save(p->cr);
}

static void pdf_close(struct canvas *c)
{
	struct pdf_surface *p = pdf_get_surface(c);

	cairo_destroy(p->cr);
	cairo_surface_destroy(p->surface);
	dp_buf_free(&p->bytes);
	free(p);
}

static void pdf_colour(cairo_t *cr, plot_colour colour, double opacity)
{
	cairo_set_source_rgba(cr, (colour >> 16 & 255) / 255.0, (colour >> 8 & 255) / 255.0,
			      (colour & 255) / 255.0, opacity);
}

static void pdf_flush_rects(struct pdf_surface *p)
{
	if (!p->has_pending_rects)
		return;
	pdf_colour(p->cr, p->colour, 1);
	cairo_fill(p->cr);
	p->has_pending_rects = false;
}

/* The cairo context, with pending rectangles filled. */
static cairo_t *pdf_get_cairo(struct canvas *c)
{
	pdf_flush_rects(pdf_get_surface(c));
	return pdf_get_surface(c)->cr;
}

static int pdf_finish(struct canvas *c, struct dp_buf *out, struct dp_err *err)
{
	struct pdf_surface *p = pdf_get_surface(c);
	cairo_status_t status;

	pdf_flush_rects(p);
	cairo_restore(p->cr);
	cairo_show_page(p->cr);
	cairo_surface_finish(p->surface);
	status = cairo_status(p->cr);
	if (status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_status(p->surface);
	if (status == CAIRO_STATUS_NO_MEMORY)
		dp_out_of_memory();
	if (status != CAIRO_STATUS_SUCCESS)
		return dp_fail(err, DP_E_FAILED, "cannot write a PDF: %s",
			       cairo_status_to_string(status));
	dp_buf_add(out, dp_buf_text(&p->bytes), p->bytes.len);
	return DP_OK;
}

static void pdf_clip(struct canvas *c)
{
	cairo_t *cr = pdf_get_cairo(c);

	/* a clip can only shrink: start again from the whole page */
	cairo_restore(cr);
	cairo_save(cr);
	cairo_rectangle(cr, c->clip.x0, c->clip.y0, c->clip.x1 - c->clip.x0,
			c->clip.y1 - c->clip.y0);
	cairo_clip(cr);
}

static void pdf_path(cairo_t *cr, struct point at, const struct point *p, size_t n)
{
	const double far = 1e5; /* cairo's coordinates end at 8e6 */

	cairo_new_path(cr);
	for (size_t i = 0; i < n; i++)
		cairo_line_to(cr, fmin(fmax(at.x + p[i].x, -far), far),
			      fmin(fmax(at.y + p[i].y, -far), far));
}

static void pdf_polygon(struct canvas *c, const struct point *p, size_t n, plot_colour colour,
			double opacity)
{
	cairo_t *cr = pdf_get_cairo(c);

	pdf_path(cr, (struct point){ 0, 0 }, p, n);
	cairo_close_path(cr);
	pdf_colour(cr, colour, opacity);
	cairo_fill(cr);
}

/* Collects opaque rectangles of one colour in one path, so that no seam shows between
 * neighbours. */
static void pdf_rect(struct canvas *c, struct rect r, plot_colour colour, double opacity)
{
	struct point p[4] = { { r.x0, r.y0 }, { r.x1, r.y0 }, { r.x1, r.y1 }, { r.x0, r.y1 } };
	struct pdf_surface *ink = pdf_get_surface(c);

	if (opacity < 1) {
		pdf_polygon(c, p, 4, colour, opacity);
		return;
	}
	if (ink->has_pending_rects && ink->colour != colour)
		pdf_flush_rects(ink);
	if (!ink->has_pending_rects)
		cairo_new_path(ink->cr);
	cairo_rectangle(ink->cr, r.x0, r.y0, r.x1 - r.x0, r.y1 - r.y0);
	ink->has_pending_rects = true;
	ink->colour = colour;
}

static void pdf_line(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
		     double phase)
{
	cairo_t *cr = pdf_get_cairo(c);
	double dash[2], period = pen_dash_period(pen, &dash[0]);

	dash[1] = period - dash[0];
	pdf_path(cr, (struct point){ 0, 0 }, p, n);
	if (n > 2 && p[0].x == p[n - 1].x && p[0].y == p[n - 1].y)
		cairo_close_path(cr);
	if (n == 1) /* a dot: line ends are round */
		cairo_close_path(cr);
	cairo_set_line_width(cr, pen->width);
	cairo_set_line_cap(cr,
			   pen->dash == PLOT_DASHED ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
	cairo_set_dash(cr, dash, pen->dash == PLOT_SOLID ? 0 : 2, phase);
	pdf_colour(cr, pen->colour, pen->opacity);
	cairo_stroke(cr);
}

static void pdf_add_marker_path(cairo_t *cr, const struct plot_style *s, struct point at,
				double grow)
{
	struct point p[MARKER_CORNERS_MAX];

	if (marker_is_round(s->marker)) {
		cairo_new_path(cr);
		cairo_arc(cr, at.x, at.y, s->size / 2 + grow, 0, 2 * M_PI);
	} else {
		pdf_path(cr, at, p, marker_corners(s->marker, s->size / 2, grow, p));
	}
	cairo_close_path(cr);
}

static void pdf_markers(struct canvas *c, const struct point *at, size_t n,
			const struct plot_style *s)
{
	cairo_t *cr = pdf_get_cairo(c);
	double edge = fmin(s->width, s->size / 2);

	for (size_t i = 0; i < n; i++) {
		if (s->outline) {
			pdf_add_marker_path(cr, s, at[i], 1);
			pdf_colour(cr, WHITE, s->opacity);
			cairo_fill(cr);
		}
		pdf_colour(cr, s->colour, s->opacity);
		pdf_add_marker_path(cr, s, at[i], s->marker == PLOT_RING ? -edge / 2 : 0);
		if (s->marker != PLOT_RING) {
			cairo_fill(cr);
			continue;
		}
		cairo_set_dash(cr, NULL, 0, 0);
		cairo_set_line_width(cr, edge);
		cairo_stroke(cr);
	}
}

static void pdf_cells(struct canvas *c, const struct heat_cells *cells)
{
	struct heat_image image = heat_cells_to_image(cells);
	const struct rect *r = &image.place;
	cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)image.width,
							(int)image.height);
	unsigned char *data = cairo_image_surface_get_data(s);
	size_t stride = (size_t)cairo_image_surface_get_stride(s);
	cairo_t *cr = pdf_get_cairo(c);

	for (size_t j = 0; data && j < image.height; j++) {
		uint32_t *row = (uint32_t *)(void *)(data + stride * j);

		for (size_t i = 0; i < image.width; i++) {
			plot_colour colour = image.colour[j * image.width + i];

			row[i] = colour == NO_CELL_COLOUR ? 0 : 0xff000000U | colour;
		}
	}
	cairo_surface_mark_dirty(s);
	cairo_save(cr);
	cairo_translate(cr, r->x0, r->y0);
	cairo_scale(cr, (r->x1 - r->x0) / (double)image.width,
		    (r->y1 - r->y0) / (double)image.height);
	cairo_set_source_surface(cr, s, 0, 0);
	cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
	cairo_paint(cr);
	cairo_restore(cr);
	cairo_surface_destroy(s);
	free(image.colour);
}

static void pdf_text(struct canvas *c, enum font f, struct point at, double across, double angle,
		     const char *text, plot_colour colour)
{
	struct point pen = text_pen_start(c, f, at, across, angle, text);
	cairo_t *cr = pdf_get_cairo(c);

	cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
			       text_is_bold(f) ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cr, text_size(c, f));
	pdf_colour(cr, colour, 1);
	cairo_save(cr);
	cairo_translate(cr, pen.x, pen.y);
	cairo_rotate(cr, -angle * M_PI / 180);
	cairo_move_to(cr, 0, 0);
	cairo_show_text(cr, text);
	cairo_restore(cr);
}

void pdf_shutdown(void)
{
	cairo_debug_reset_static_data();
}

const struct plot_backend plot_backend_pdf = {
	.open = pdf_open,
	.finish = pdf_finish,
	.close = pdf_close,
	.clip = pdf_clip,
	.polygon = pdf_polygon,
	.rect = pdf_rect,
	.stroke = pdf_line,
	.markers = pdf_markers,
	.cells = pdf_cells,
	.text = pdf_text,
};
