/* dark_palette.c - what colours become on the dark ground of a page.
 *
 * Marks of one look on white need not be seen on a dark ground. SVG gives every such
 * colour a class beside the colour itself; the style below, in a page, changes it there.
 * Okabe and Ito's colours that are not in the table have enough contrast on both. Colours
 * of a map cannot be changed without the map; where they would be lost, they get a light
 * ground of their own. */
#include "reports/plot/plot_internal.h"

#include <math.h>

static const struct dark_colour {
	plot_colour colour, dark;
	const char *name;
} dark_colours[] = {
	{ TITLE_COLOUR, 0xe4e7ea, "ink" },        { AXIS_COLOUR, 0xb9c0c8, "grey" },
	{ NOTE_COLOUR, 0x9aa2aa, "faint" },       { GRID_COLOUR, 0x2b3036, "grid" },
	{ WHITE, PLOT_DARK_BACKGROUND, "white" }, { NO_VALUE_COLOUR, 0x24282d, "none" },
	{ 0x000000, 0xe4e7ea, "black" },          { 0xcfcfcf, 0x59616a, "light" },
	{ 0x0072b2, 0x3d9bd9, "blue" },
};

/* Of a dark page, behind colours of a map. */
static const plot_colour light_background_colour = 0xeceef0;

static const struct dark_colour *find_dark_colour(plot_colour colour)
{
	for (size_t i = 0; i < DP_COUNT(dark_colours); i++)
		if (dark_colours[i].colour == colour)
			return &dark_colours[i];
	return NULL;
}

const char *dark_colour_class(plot_colour colour)
{
	const struct dark_colour *s = find_dark_colour(colour);

	return s ? s->name : NULL;
}

plot_colour plot_dark_colour(plot_colour colour)
{
	const struct dark_colour *s = find_dark_colour(colour);

	return s ? s->dark : colour;
}

/* As WCAG 2 has it. */
static double colour_luminance(plot_colour colour)
{
	const double weight[] = { 0.0722, 0.7152, 0.2126 };
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double v = (colour >> 8 * i & 255) / 255.0;

		sum += weight[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
	}
	return sum;
}

double plot_contrast(plot_colour a, plot_colour b)
{
	double x = colour_luminance(a), y = colour_luminance(b);

	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

bool colour_invisible_on_dark(plot_colour colour)
{
	return !find_dark_colour(colour) && plot_contrast(colour, PLOT_DARK_BACKGROUND) < 3;
}

void plot_write_dark_css(struct dp_buf *out)
{
	dp_buf_printf(out, ".f-card{fill:#%06x}", light_background_colour);
	for (size_t i = 0; i < DP_COUNT(dark_colours); i++)
		dp_buf_printf(out, ".f-%s{fill:#%06x}.s-%s{stroke:#%06x}", dark_colours[i].name,
			      dark_colours[i].dark, dark_colours[i].name, dark_colours[i].dark);
}
