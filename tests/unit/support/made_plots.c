/* made_plots.c - figures to draw, and their pixels, for the tests of plots. */
#include "tests/unit/support/made_plots.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct canvas open_canvas(int width, int height)
{
	struct dp_err err;
	struct canvas c;

	assert_int_equal(canvas_open(&c, &plot_backend_gd, false, &err), 0);
	canvas_start_drawing(&c, width, height);
	return c;
}

int grey(const struct canvas *c, int x, int y)
{
	return gd_get_surface(c)->im->tpixels[y][x] & 255;
}

const char long_name[] = "a-name-of-one-hundred-characters-as-programs-write-them-0123456789-"
			 "0123456789-0123456789-0123456789";

struct plot *front_figure(void)
{
	static const double x[] = { 0.05, 0.08, 0.12, 0.3, 0.35, 0.7, 1, 1.4, 2.2, 3.1, 5, 8 },
			    y[] = { 0.42, 0.35, 0.39, 0.27, 0.33, 0.24,
				    0.29, 0.21, 0.23, 0.19, 0.2,  0.18 },
			    fx[] = { 0.05, 0.08, 0.3, 0.7, 1.4, 3.1, 8 },
			    fy[] = { 0.42, 0.35, 0.27, 0.24, 0.21, 0.19, 0.18 };
	struct plot *p = plot_new(400, 260, "Pareto front");
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style box = { .colour = plot_palette(PLOT_GREY) },
			  cloud = { .colour = plot_palette(PLOT_GREY), .outline = true },
			  front = { .colour = plot_palette(PLOT_BLUE), .outline = true },
			  line = { .colour = plot_palette(PLOT_VERMILLION), .dash = PLOT_DASHED };
	char text[32];

	panel_axis(a, PLOT_X, "ε at δ = 10⁻⁵", PLOT_LOG);
	panel_axis(a, PLOT_Y, "error", PLOT_LINEAR);
	panel_add_region(a, &box, NULL, 0.05, 10, 0.18, 0.45);
	panel_points(a, &cloud, "all points", x, y, DP_COUNT(x));
	panel_steps(a, &front, "front", fx, fy, DP_COUNT(fx));
	panel_points(a, &front, "front", fx, fy, DP_COUNT(fx));
	panel_add_reference_line(a, &line, PLOT_Y, 0.165, "non-private");
	for (size_t i = 0; i < DP_COUNT(fx); i++) {
		snprintf(text, sizeof text, "ε = %g", fx[i]);
		panel_label(a, fx[i], fy[i], text);
	}
	plot_note(p, "12 evaluations of a made-up study");
	return p;
}

struct plot *heat_figure(void)
{
	enum {
		N = 12
	};
	double x[N + 1], y[N + 1], z[N * N], px[] = { 0.01, 0.3 }, py[] = { 20, 70 };
	struct plot *p = plot_new(440, 220, NULL);
	struct plot_style white = { .colour = 0xffffff, .marker = PLOT_RING },
			  star = { .colour = plot_palette(PLOT_VERMILLION),
				   .size = 10,
				   .marker = PLOT_STAR,
				   .outline = true };

	plot_grid(p, 1, 2);
	for (int k = 0; k <= N; k++) {
		x[k] = pow(10, -3 + 3.0 * k / N);
		y[k] = 100.0 * k / N;
	}
	for (int map = 0; map < 2; map++) {
		struct plot_panel *a = plot_panel(p, 0, map);

		for (int k = 0; k < N * N; k++)
			z[k] = map ? sin(k % N / 4.0) * cos(k / N / 5.0)
				   : pow(10, (k % N + k / N) / 6.0 - 2);
		z[N * N - 1] = NAN;
		panel_title(a, map ? "Utility" : "Privacy");
		panel_axis(a, PLOT_X, "learning rate", PLOT_LOG);
		panel_axis(a, PLOT_Y, "epochs", PLOT_LINEAR);
		panel_heat(a, map ? PLOT_MAGMA : PLOT_VIRIDIS, x, N, y, N, z,
			   map ? PLOT_LINEAR : PLOT_LOG, map ? "error" : "ε");
		panel_points(a, &white, NULL, px, py, 2);
		panel_points(a, &star, NULL, px, py, 1);
		panel_label(a, px[0], py[0], "next");
	}
	return p;
}

struct plot *bands_figure(void)
{
	static const char *const names[] = { "DPareto", "random search", "grid" };
	enum {
		N = 40
	};
	double x[N], y[N], lo[N], hi[N];
	struct plot *p = plot_new(400, 260, "Hypervolume");
	struct plot_panel *a = plot_panel(p, 0, 0);

	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_set_integer_ticks(a, PLOT_X);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	for (unsigned k = 0; k < DP_COUNT(names); k++) {
		struct plot_style s = { .colour = plot_palette(k), .dash = k % 3 };

		for (int i = 0; i < N; i++) {
			x[i] = i + 1;
			y[i] = 1 - exp(-floor(i / 2.0) / (8.0 + 5 * k));
			lo[i] = 0.9 * y[i];
			hi[i] = 1.05 * y[i];
		}
		panel_band(a, &s, names[k], x, lo, hi, N, k == 0);
		panel_steps(a, &s, names[k], x, y, N);
	}
	return p;
}

struct plot *parallel_figure(void)
{
	static const char *const names[] = { "sgd", "adam" };
	const struct plot_parallel_axis axes[] = {
		{ .label = "learning rate", .scale = PLOT_LOG, .lo = 1e-3, .hi = 1 },
		{ .label = "epochs", .lo = NAN, .hi = NAN },
		{ .label = "optimiser", .categories = names, .ncategories = 2 },
		{ .label = "noise multiplier σ", .lo = 0, .hi = NAN },
	};
	double v[6][4], by[6];
	struct plot *p = plot_new(340, 180, NULL);

	for (int i = 0; i < 6; i++) {
		v[i][0] = pow(10, -0.5 * i);
		v[i][1] = 5 + i * 7 % 10 * 3;
		v[i][2] = i % 2;
		v[i][3] = i == 2 ? NAN : 8 - 0.7 * i;
		by[i] = pow(10, i / 3.0 - 1);
	}
	panel_parallel(plot_panel(p, 0, 0), axes, 4, v[0], 6, by, PLOT_LOG, "ε");
	return p;
}

struct plot *words_figure(void)
{
	static const char *const slots[] = { "slot 0", long_name };
	const double bad[] = { -1, 0, NAN }, one[] = { 3 }, x0[] = { 0, 4, 1 }, x1[] = { 3, 9, 7 },
		     y0[] = { -0.3, -0.3, 0.7 }, y1[] = { 0.3, 0.3, 1.3 };
	struct plot *p = plot_new(440, 320, long_name);
	struct plot_style s = { .colour = plot_palette(PLOT_SKY), .outline = true };
	struct plot_panel *a;

	plot_grid(p, 2, 2);
	a = plot_panel(p, 0, 0);
	panel_title(a, "no positive values");
	panel_axis(a, PLOT_X, "x", PLOT_LOG);
	panel_points(a, &s, NULL, bad, bad, 3);
	a = plot_panel(p, 0, 1);
	panel_title(a, "one point");
	panel_axis(a, PLOT_X, "x", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "y", PLOT_LOG);
	panel_points(a, &s, "points", one, one, 1);
	a = plot_panel(p, 1, 0);
	panel_set_categories(a, PLOT_Y, slots, 2);
	panel_axis(a, PLOT_X, "minutes", PLOT_LINEAR);
	panel_add_rects(a, &s, "training", x0, x1, y0, y1, 3);
	a = plot_panel(p, 1, 1);
	panel_axis(a, PLOT_X, long_name, PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "a label of many words beside a panel that is small", PLOT_LINEAR);
	panel_set_empty_text(a, "All 17 trials failed: see the table of failures.");
	return p;
}

struct dp_buf png_of(struct plot *p)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err = { 0 };

	assert_non_null(p);
	if (plot_render(p, PLOT_PNG, &out, &err))
		fail_msg("%s", err.msg);
	plot_free(p);
	return out;
}

gdImagePtr picture(const struct dp_buf *png)
{
	gdImagePtr im = gdImageCreateFromPngPtr((int)png->len, png->data);

	assert_non_null(im);
	return im;
}

bool is_coloured(int pixel)
{
	int r = pixel >> 16 & 255, g = pixel >> 8 & 255, b = pixel & 255;

	return abs(r - g) > 60 || abs(g - b) > 60 || abs(r - b) > 60;
}

size_t count_pixels(struct plot *p, int colour)
{
	struct dp_buf png = png_of(p);
	gdImagePtr im = picture(&png);
	size_t n = 0;

	for (int y = 0; y < gdImageSY(im); y++) {
		for (int x = 0; x < gdImageSX(im); x++) {
			int pixel = gdImageGetTrueColorPixel(im, x, y);

			n += colour < 0 ? is_coloured(pixel) : pixel == colour;
		}
	}
	gdImageDestroy(im);
	dp_buf_free(&png);
	return n;
}

int shutdown_fonts(void **state)
{
	(void)state;
	plot_shutdown();
	return 0;
}
