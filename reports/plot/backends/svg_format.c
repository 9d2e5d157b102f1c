/* svg_format.c - numbers, words and bytes as SVG has them. */
#include "reports/plot/backends/svg_internal.h"

#include <math.h>
#include <stdio.h>

void svg_number(struct dp_buf *out, double x)
{
	const double far = 1e6; /* out of sight, and still exact for all readers */
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

void svg_pair(struct dp_buf *out, struct point p)
{
	svg_number(out, p.x);
	dp_buf_putc(out, ' ');
	svg_number(out, p.y);
}

void svg_attribute(struct dp_buf *out, const char *name, double x)
{
	dp_buf_printf(out, " %s=\"", name);
	svg_number(out, x);
	dp_buf_putc(out, '"');
}

void svg_write_rect(struct dp_buf *out, struct rect r)
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

void svg_fill(const struct canvas *c, struct dp_buf *out, plot_colour colour, double opacity)
{
	svg_write_colour(c, out, "fill", colour);
	if (opacity < 1)
		svg_attribute(out, "fill-opacity", opacity);
}

void svg_stroke(const struct canvas *c, struct dp_buf *out, plot_colour colour, double opacity)
{
	svg_write_colour(c, out, "stroke", colour);
	if (opacity < 1)
		svg_attribute(out, "stroke-opacity", opacity);
}

void svg_path(struct dp_buf *out, const struct point *p, size_t n)
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
	if (n == 1) /* a dot, where ends are round */
		dp_buf_puts(out, "h0");
}

void svg_base64(struct dp_buf *out, const struct dp_buf *bytes)
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
