/* shades.c - what colours become on the dark ground of a page.
 *
 * Marks of one look on white need not be seen on a dark ground. SVG gives every such
 * colour a class beside the colour itself; the style below, in a page, changes it there.
 * Okabe and Ito's colours that are not in the table have enough contrast on both. Colours
 * of a map cannot be changed without the map; where they would be lost, they get a light
 * ground of their own. */
#include "reports/plot/plot_internal.h"

#include <math.h>

static const struct shade {
	plot_colour colour, dark;
	const char *name;
} shades[] = {
	{ INK, 0xe4e7ea, "ink" },
	{ GREY, 0xb9c0c8, "grey" },
	{ FAINT, 0x9aa2aa, "faint" },
	{ GRID, 0x2b3036, "grid" },
	{ WHITE, PLOT_DARK_GROUND, "white" },
	{ NO_VALUE, 0x24282d, "none" },
	{ 0x000000, 0xe4e7ea, "black" },
	{ 0xcfcfcf, 0x59616a, "light" },
	{ 0x0072b2, 0x3d9bd9, "blue" },
};

/* Of a dark page, behind colours of a map. */
static const plot_colour card = 0xeceef0;

static const struct shade *shade_find(plot_colour colour)
{
	for (size_t i = 0; i < DP_COUNT(shades); i++)
		if (shades[i].colour == colour)
			return &shades[i];
	return NULL;
}

const char *shade_name(plot_colour colour)
{
	const struct shade *s = shade_find(colour);

	return s ? s->name : NULL;
}

plot_colour plot_dark(plot_colour colour)
{
	const struct shade *s = shade_find(colour);

	return s ? s->dark : colour;
}

/* As WCAG 2 has it. */
static double shade_luminance(plot_colour colour)
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
	double x = shade_luminance(a), y = shade_luminance(b);

	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

bool shade_lost(plot_colour colour)
{
	return !shade_find(colour) && plot_contrast(colour, PLOT_DARK_GROUND) < 3;
}

void plot_dark_style(struct dp_buf *out)
{
	dp_buf_printf(out, ".f-card{fill:#%06x}", card);
	for (size_t i = 0; i < DP_COUNT(shades); i++)
		dp_buf_printf(out, ".f-%s{fill:#%06x}.s-%s{stroke:#%06x}", shades[i].name,
			      shades[i].dark, shades[i].name, shades[i].dark);
}
