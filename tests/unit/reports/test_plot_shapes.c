/* test_plot_shapes.c - colours, lines and markers, pixel by pixel. */
#include "tests/unit/support/made_plots.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

/* ---- colours ---- */

static double luminance(plot_colour c)
{
	static const double weight[] = { 0.2126, 0.7152, 0.0722 };
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double u = (c >> (16 - 8 * i) & 255) / 255.0;

		sum += weight[i] * (u <= 0.04045 ? u / 12.92 : pow((u + 0.055) / 1.055, 2.4));
	}
	return sum;
}

static void test_colour_maps(void **state)
{
	static const plot_colour ends[][2] = {
		[PLOT_VIRIDIS] = { 0x440154, 0xfde725 }, [PLOT_MAGMA] = { 0x000004, 0xfcfdbf }
	};

	(void)state;
	for (int map = PLOT_VIRIDIS; map <= PLOT_MAGMA; map++) {
		double before = -1;

		assert_int_equal(plot_colourmap_lookup(map, 0), ends[map][0]);
		assert_int_equal(plot_colourmap_lookup(map, 1), ends[map][1]);
		assert_int_equal(plot_colourmap_lookup(map, -3), ends[map][0]);
		assert_int_equal(plot_colourmap_lookup(map, INFINITY), ends[map][1]);
		assert_int_equal(plot_colourmap_lookup(map, NAN), ends[map][0]);
		for (int i = 0; i <= 64; i++) {
			double l = luminance(plot_colourmap_lookup(map, i / 64.0));

			assert_true(l > before);
			before = l;
		}
	}
	/* published: entries 105 and 150 of 255 */
	assert_int_equal(plot_colourmap_lookup(PLOT_VIRIDIS, 105 / 255.0), 0x297b8e);
	assert_int_equal(plot_colourmap_lookup(PLOT_MAGMA, 150 / 255.0), 0xd9466b);
}

static void test_palette(void **state)
{
	(void)state;
	assert_int_equal(plot_palette(PLOT_BLUE), 0x0072b2);
	assert_int_equal(plot_palette(PLOT_VERMILLION), 0xd55e00);
	for (unsigned i = 0; i < PLOT_LIGHT; i++) {
		for (unsigned k = i + 1; k <= PLOT_LIGHT; k++)
			assert_int_not_equal(plot_palette(i), plot_palette(k));
	}
}

/* ---- shapes ---- */

/* Sum of how dark all pixels are, in whole black pixels. */
static double ink(const struct canvas *c)
{
	double sum = 0;

	for (int y = 0; y < gd_get_surface(c)->im->sy; y++) {
		for (int x = 0; x < gd_get_surface(c)->im->sx; x++)
			sum += (255 - grey(c, x, y)) / 255.0;
	}
	return sum;
}

static void test_coverage(void **state)
{
	struct canvas c = open_canvas(20, 20);
	struct point half[] = { { 1.25, 1 }, { 2, 1 }, { 2, 1.25 }, { 1.25, 1.25 } };
	struct point tilted[] = { { 8, 4 }, { 16, 8 }, { 12, 16 }, { 4, 12 } },
		     triangle[] = { { 2, 2 }, { 2, 18 }, { 18, 18 } },
		     wide[] = { { 15.5, 1 }, { 75, 1 }, { 75, 3 }, { 15.5, 3 } };

	(void)state;
	canvas_polygon(&c, half, 4, 0, 1);
	assert_int_equal(grey(&c, 1, 2), 255);
	assert_in_range(grey(&c, 2, 2), 190, 192); /* a quarter: half of each side */
	assert_in_range(grey(&c, 3, 2), 127, 128);
	assert_int_equal(grey(&c, 4, 2), 255);
	canvas_close(&c);

	c = open_canvas(20, 20);
	canvas_polygon(&c, tilted, 4, 0, 1);
	assert_true(fabs(ink(&c) - 4 * 80) < 1);
	canvas_close(&c);

	c = open_canvas(20, 20);
	canvas_polygon(&c, triangle, 3, 0, 1);
	assert_true(fabs(ink(&c) - 4 * 128) < 1);
	canvas_close(&c);

	c = open_canvas(80, 4);
	canvas_polygon(&c, wide, 4, 0, 1);
	assert_true(fabs(ink(&c) - 4 * 119) < 0.1);
	canvas_close(&c);
}

/* Parts that overlap are blended once, in whatever order their corners come. */
static void test_overlap(void **state)
{
	struct canvas c = open_canvas(20, 20);
	struct point a[] = { { 2, 2 }, { 10, 2 }, { 10, 10 }, { 2, 10 } },
		     b[] = { { 6, 6 }, { 6, 14 }, { 14, 14 }, { 14, 6 } },
		     hole[] = { { 3, 3 }, { 5, 3 }, { 5, 5 }, { 3, 5 } };

	(void)state;
	raster_add_polygon(&gd_get_surface(&c)->raster, a, 4);
	raster_add_polygon(&gd_get_surface(&c)->raster, b, 4);
	raster_add_hole(&gd_get_surface(&c)->raster, hole, 4);
	raster_fill(&gd_get_surface(&c)->raster, gd_get_surface(&c)->im, 0, 0.5);
	assert_in_range(grey(&c, 5, 14), 127, 128);
	assert_in_range(grey(&c, 16, 16), 127, 128);
	assert_int_equal(grey(&c, 8, 8), 255);
	assert_true(fabs(ink(&c) - 4 * (64 + 64 - 16 - 4) * 0.5) < 1);
	canvas_close(&c);
}

static void test_lines(void **state)
{
	struct canvas c = open_canvas(40, 40);
	struct point corner[] = { { 5, 5 }, { 30, 5 }, { 30, 30 } },
		     far[] = { { 10, 20 }, { 1e6, 20 } };
	struct pen pen = { 0, 4, PLOT_SOLID, 0.5 };
	struct rect clip = { 0, 0, 40, 40 };
	double solid;

	(void)state;
	canvas_line(&c, corner, 3, &pen);
	/* the join is pointed, no pixel is blended twice, the ends are round */
	assert_in_range(grey(&c, 62, 7), 127, 128);
	assert_in_range(grey(&c, 60, 10), 127, 128);
	solid = 4 * (25 * 4 + 25 * 4 + 4 * M_PI) * 0.5;
	assert_true(fabs(ink(&c) - solid) < 0.02 * solid);
	canvas_close(&c);

	c = open_canvas(40, 40);
	canvas_clip(&c, &clip);
	pen = (struct pen){ 0, 2, PLOT_DASHED, 1 };
	canvas_line(&c, far, 2, &pen);
	/* dashes of 3.5 widths at every 5.9: two whole ones, and 6.4 of the third's 7 */
	assert_true(fabs(ink(&c) - 4 * 2 * (7 + 7 + 6.4)) < 1);
	canvas_close(&c);
}

static void test_clip_segment(void **state)
{
	struct rect box = { 0, 0, 10, 10 };
	struct point a = { -5, 5 }, b = { 1e300, 5 };

	(void)state;
	assert_true(clip_segment(&box, &a, &b));
	assert_true(a.x == 0 && a.y == 5 && fabs(b.x - 10) < 1e-6 && b.y == 5);
	a = (struct point){ -5, 4 };
	b = (struct point){ 4, -5 };
	assert_false(clip_segment(&box, &a, &b));
	a = (struct point){ 1, 2 };
	b = (struct point){ 3, 4 };
	assert_true(clip_segment(&box, &a, &b));
	assert_true(a.x == 1 && a.y == 2 && b.x == 3 && b.y == 4);
}

/* All marker shapes are about as large as a disc, and in the middle. */
static void test_markers(void **state)
{
	struct canvas c;

	(void)state;
	for (int m = PLOT_DOT; m <= PLOT_STAR; m++) {
		struct plot_style s = { .size = 12, .marker = m };
		double disc = 4 * M_PI * 36, x = 0, y = 0, sum;

		s = style_with_defaults(&s);
		c = open_canvas(40, 40);
		canvas_markers(&c, &(struct point){ 20, 20 }, 1, &s);
		sum = ink(&c);
		assert_true(sum > 0.2 * disc && sum < 1.2 * disc);
		for (int j = 0; j < 80; j++) {
			for (int i = 0; i < 80; i++) {
				x += (i + 0.5) * (255 - grey(&c, i, j)) / 255.0 / sum;
				y += (j + 0.5) * (255 - grey(&c, i, j)) / 255.0 / sum;
			}
		}
		assert_true(fabs(x - 40) < 0.2 && fabs(y - 40) < 0.5);
		assert_int_equal(grey(&c, 40, 40), m == PLOT_RING ? 255 : 0);
		/* a point of the triangle is up, a corner of the square is filled */
		assert_int_equal(grey(&c, 40, 27) < 128,
				 m == PLOT_TRIANGLE || m == PLOT_DIAMOND || m == PLOT_STAR);
		assert_int_equal(grey(&c, 31, 31) < 128, m == PLOT_SQUARE || m == PLOT_CROSS);
		assert_int_equal(grey(&c, 49, 45) < 128,
				 m == PLOT_SQUARE || m == PLOT_DOT || m == PLOT_RING ||
					 m == PLOT_TRIANGLE || m == PLOT_DIAMOND);
		canvas_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_colour_maps), cmocka_unit_test(test_palette),
		cmocka_unit_test(test_coverage),    cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_lines),       cmocka_unit_test(test_clip_segment),
		cmocka_unit_test(test_markers),
	};

	return cmocka_run_group_tests(tests, NULL, shutdown_fonts);
}
