/* colourmap.c - colours for series and for values. */
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

/* Every 15th of the 256 published colours of each map; a straight line between them
 * stays within 5 of 255 of the rest. Viridis and magma are by Smith and van der Walt,
 * cividis by Nunez, Anderton and Renslow. */
enum {
	STOPS = 18
};
static const plot_colour stops[][STOPS] = {
	[PLOT_VIRIDIS] = { 0x440154, 0x481769, 0x472a7a, 0x433d84, 0x3d4e8a, 0x355e8d, 0x2e6d8e,
			   0x297b8e, 0x23898e, 0x1f978b, 0x21a585, 0x2eb37c, 0x46c06f, 0x65cb5e,
			   0x89d548, 0xb0dd2f, 0xd8e219, 0xfde725 },
	[PLOT_CIVIDIS] = { 0x00224e, 0x002d68, 0x163770, 0x2e416d, 0x3f4c6c, 0x4e566c, 0x5c616e,
			   0x696b71, 0x767676, 0x838179, 0x928c78, 0xa09875, 0xafa471, 0xbfb06b,
			   0xcfbd62, 0xdfca57, 0xf0d846, 0xfee838 },
	[PLOT_MAGMA] = { 0x000004, 0x090720, 0x1a1042, 0x311165, 0x4a1079, 0x621980, 0x792282,
			 0x912b81, 0xaa337d, 0xc23b75, 0xd9466b, 0xec5860, 0xf7725c, 0xfc8e64,
			 0xfeaa74, 0xfec68a, 0xfde2a3, 0xfcfdbf },
};

plot_colour plot_colourmap_lookup(enum plot_colourmap map, double t)
{
	double place = fmin(fmax(t, 0), 1) * (STOPS - 1), share; /* NaN: 0 */
	int i = place < STOPS - 2 ? (int)place : STOPS - 2;
	plot_colour a = stops[map][i], b = stops[map][i + 1], out = 0;

	share = place - i;
	for (int shift = 16; shift >= 0; shift -= 8) {
		double u = a >> shift & 255, v = b >> shift & 255;

		out |= (plot_colour)lrint(u + (v - u) * share) << shift;
	}
	return out;
}
