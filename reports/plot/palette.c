/* palette.c - colour palette, colour maps, and their dark mode variants. */
#include "reports/plot/plot_internal.h"

#include <math.h>

plot_colour plot_palette(unsigned role)
{
	static const plot_colour colours[] = {
		[PLOT_BLUE] = 0x0072b2,   [PLOT_ORANGE] = 0xe69f00, [PLOT_GREEN] = 0x009e73,
		[PLOT_PURPLE] = 0xcc79a7, [PLOT_SKY] = 0x56b4e9,    [PLOT_VERMILLION] = 0xd55e00,
		[PLOT_YELLOW] = 0xf0e442, [PLOT_BLACK] = 0x000000,  [PLOT_GREY] = 0x8c8c8c,
		[PLOT_LIGHT] = 0xcfcfcf,
	};

	return colours[role % DP_COUNT(colours)];
}

/* Every 15th of the 256 published colours of each map. Linear interpolation stays within 5 of 255
 * of the others. The maps are by Smith and van der Walt. */
enum {
	STOPS = 18
};
static const plot_colour stops[][STOPS] = {
	[PLOT_VIRIDIS] = { 0x440154, 0x481769, 0x472a7a, 0x433d84, 0x3d4e8a, 0x355e8d, 0x2e6d8e,
			   0x297b8e, 0x23898e, 0x1f978b, 0x21a585, 0x2eb37c, 0x46c06f, 0x65cb5e,
			   0x89d548, 0xb0dd2f, 0xd8e219, 0xfde725 },
	[PLOT_MAGMA] = { 0x000004, 0x090720, 0x1a1042, 0x311165, 0x4a1079, 0x621980, 0x792282,
			 0x912b81, 0xaa337d, 0xc23b75, 0xd9466b, 0xec5860, 0xf7725c, 0xfc8e64,
			 0xfeaa74, 0xfec68a, 0xfde2a3, 0xfcfdbf },
};

plot_colour plot_colourmap_lookup(enum plot_colourmap map, double t)
{
	double place = fmin(fmax(t, 0), 1) * (STOPS - 1), share; /* NaN gives 0 */
	int i = place < STOPS - 2 ? (int)place : STOPS - 2;
	plot_colour a = stops[map][i], b = stops[map][i + 1], out = 0;

	share = place - i;
	for (int shift = 16; shift >= 0; shift -= 8) {
		double u = a >> shift & 255, v = b >> shift & 255;

		out |= (plot_colour)lrint(u + (v - u) * share) << shift;
	}
	return out;
}

/* Some colours on white are invisible on a dark background. SVG gives these a class as well as the
 * colour, and the page's style replaces them. Okabe and Ito's colours that are not in the table
 * have enough contrast on both. Colours of a map cannot change without the map; where they would be
 * invisible, they get a light background. */

static const struct dark_colour {
	plot_colour colour, dark;
	const char *name;
} dark_colours[] = {
	{ TITLE_COLOUR, 0xe4e7ea, "ink" },   { AXIS_COLOUR, 0xb9c0c8, "grey" },
	{ NOTE_COLOUR, 0x9aa2aa, "faint" },  { GRID_COLOUR, 0x2b3036, "grid" },
	{ WHITE, DARK_BACKGROUND, "white" }, { NO_VALUE_COLOUR, 0x24282d, "none" },
	{ 0x000000, 0xe4e7ea, "black" },     { 0xcfcfcf, 0x59616a, "light" },
	{ 0x0072b2, 0x3d9bd9, "blue" },
};

/* Background of colour maps on a dark page. */
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

double colour_contrast(plot_colour a, plot_colour b)
{
	double x = colour_luminance(a), y = colour_luminance(b);

	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

bool colour_invisible_on_dark(plot_colour colour)
{
	return !find_dark_colour(colour) && colour_contrast(colour, DARK_BACKGROUND) < 3;
}

void plot_write_dark_css(struct dp_buf *out)
{
	dp_buf_printf(out, ".f-card{fill:#%06x}", light_background_colour);
	for (size_t i = 0; i < DP_COUNT(dark_colours); i++)
		dp_buf_printf(out, ".f-%s{fill:#%06x}.s-%s{stroke:#%06x}", dark_colours[i].name,
			      dark_colours[i].dark, dark_colours[i].name, dark_colours[i].dark);
}
