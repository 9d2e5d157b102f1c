/* svg_internal.h - how the back end for SVG writes things down (svg_format.c). */
#ifndef DP_REPORTS_PLOT_BACKENDS_SVG_INTERNAL_H
#define DP_REPORTS_PLOT_BACKENDS_SVG_INTERNAL_H
#include "reports/plot/plot_internal.h"

/* With up to two decimals, whatever the locale. */
void svg_number(struct dp_buf *out, double x);
void svg_pair(struct dp_buf *out, struct point p);
/* ' name="1.5"' */
void svg_attribute(struct dp_buf *out, const char *name, double x);
/* x, y, width and height. */
void svg_write_rect(struct dp_buf *out, struct rect r);
/* ' class="f-ink" fill="#222" fill-opacity=".5"' */
void svg_fill(const struct canvas *c, struct dp_buf *out, plot_colour colour, double opacity);
void svg_stroke(const struct canvas *c, struct dp_buf *out, plot_colour colour, double opacity);
/* The commands of a path through n > 0 points. */
void svg_path(struct dp_buf *out, const struct point *p, size_t n);
void svg_base64(struct dp_buf *out, const struct dp_buf *bytes);

#endif
