/* made_plots.h - figures to draw, and their pixels, for the tests of plots. */
#ifndef DP_TEST_MADE_PLOTS_H
#define DP_TEST_MADE_PLOTS_H
#include "reports/plot/plot_internal.h"
#include <gd.h>

extern const char long_name[]; /* longer than there is room for */

struct canvas open_canvas(int width, int height);
int grey(const struct canvas *c, int x, int y);
struct plot *front_figure(void);
struct plot *heat_figure(void);
struct plot *bands_figure(void);
struct plot *parallel_figure(void);
struct plot *words_figure(void);
/* Renders and frees; the caller frees the bytes. */
struct dp_buf png_of(struct plot *p);
gdImagePtr picture(const struct dp_buf *png);
/* Neither white, black nor grey: of a series or a colour map. */
bool is_coloured(int pixel);
/* Pixels of this colour, or coloured ones if it is negative. */
size_t count_pixels(struct plot *p, int colour);
int shutdown_fonts(void **state);

#endif
