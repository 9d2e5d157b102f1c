/* test_plot.c - ticks, ranges, colours and text of figures, the pixels that shapes
 * cover, hostile descriptions, and pictures against those in tests/ref/plots.
 *
 * DPARETO_GOLDEN=write makes those pictures again: look at them before you commit. */
#include "base/rng.h"
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- ticks ---- */

struct tick_case {
	double lo, hi;
	size_t most;
	bool whole;
	const char *labels; /* separated by a space */
};

static void join(const struct ticks *t, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < t->n; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "",
				      t->label[i]);
}

static void test_linear_ticks(void **state)
{
	static const struct tick_case cases[] = {
		{ 0, 1, 6, false, "0.0 0.2 0.4 0.6 0.8 1.0" },
		{ 0, 1, 11, false, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0" },
		{ 0, 10, 5, false, "0.0 2.5 5.0 7.5 10.0" },
		{ 0, 10, 6, false, "0 2 4 6 8 10" },
		{ 0, 10, 5, true, "0 5 10" },
		{ 1, 272, 6, false, "50 100 150 200 250" },
		{ -0.3, 0.3, 7, false, "−0.3 −0.2 −0.1 0.0 0.1 0.2 0.3" },
		{ 0.1523, 0.1671, 5, false, "0.155 0.160 0.165" },
		{ 0.1523, 0.1671, 6, false, "0.1525 0.1550 0.1575 0.1600 0.1625 0.1650" },
		{ 0, 99999, 5, false, "0 20000 40000 60000 80000" },
		{ 0, 3e6, 4, false, "0 10⁶ 2×10⁶ 3×10⁶" },
		{ 0, 9e-7, 4, false, "0 2.5×10⁻⁷ 5.0×10⁻⁷ 7.5×10⁻⁷" },
		{ 1e9, 1.00002e9, 3, false, "1000000000 1000010000 1000020000" },
		{ 0.2, 0.8, 5, true, "" },
		{ 0.5, 3.5, 9, true, "1 2 3" },
		{ -1e300, 1e300, 3, false, "−10³⁰⁰ 0 10³⁰⁰" },
		{ 1, 1, 5, false, "" },
	};
	struct ticks t;
	char got[1024];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		ticks_linear(&t, cases[i].lo, cases[i].hi, cases[i].most, cases[i].whole);
		join(&t, got, sizeof got);
		assert_string_equal(got, cases[i].labels);
	}
}

static void test_log_ticks(void **state)
{
	static const struct tick_case cases[] = {
		{ 0.001, 1, 8, false, "0.001 0.01 0.1 1" },
		{ 0.01, 100, 8, false, "0.01 0.1 1 10 100" },
		{ 1e-5, 1e5, 11, false, "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1 10 10² 10³ 10⁴ 10⁵" },
		{ 1e-5, 1e5, 5, false, "0.0001 0.01 1 100 10000" },
		{ 1e-5, 1e5, 2, false, "10⁻⁵ 1 10⁵" },
		{ 1e-5, 1e-2, 8, false, "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻²" },
		{ 0.1, 5, 8, false, "0.1 0.2 0.5 1 2 5" },
		{ 0.1, 5, 4, false, "0.1 0.3 1 3" },
		{ 12, 19, 5, false, "12 14 16 18" },
		{ 2e5, 2e6, 8, false, "2×10⁵ 5×10⁵ 10⁶ 2×10⁶" },
		{ 1e-300, 1e300, 8, false, "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 1 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰" },
		{ 0, 1, 8, false, "" },
		{ 3, 3, 8, false, "" },
	};
	struct ticks t;
	char got[1024];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		ticks_log(&t, cases[i].lo, cases[i].hi, cases[i].most);
		join(&t, got, sizeof got);
		assert_string_equal(got, cases[i].labels);
	}
}

/* 2 to 9 times the powers, where no label stands. */
static void test_minor_ticks(void **state)
{
	struct ticks t;

	(void)state;
	ticks_log(&t, 1, 1000, 8);
	assert_int_equal(t.nminor, 24);
	ticks_log(&t, 1, 10, 8);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.nminor, 6);
	ticks_log(&t, 1e-8, 1e8, 9); /* too many for those: the powers between labels */
	assert_int_equal(t.n + t.nminor, 17);
}

static bool is_round(double x)
{
	double m = x / pow(10, floor(log10(x) + 1e-9));

	return fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 || fabs(m - 2.5) < 1e-6 ||
	       fabs(m - 5) < 1e-6;
}

static void check_ticks(const struct ticks *t, double lo, double hi)
{
	double slack = 1e-5 * (hi - lo);

	assert_in_range(t->n, 2, 11);
	for (size_t i = 0; i < t->n; i++) {
		assert_true(t->at[i] >= lo - slack && t->at[i] <= hi + slack);
		assert_true(t->label[i][0]);
		assert_true(i == 0 || t->at[i] > t->at[i - 1]);
		assert_true(i == 0 || strcmp(t->label[i], t->label[i - 1]) != 0);
	}
}

static void test_ticks_of_random_ranges(void **state)
{
	struct dp_rng r;
	struct ticks t;

	(void)state;
	dp_rng_init(&r, 1, DP_RNG_TEST, 6, 0);
	for (int i = 0; i < 20000; i++) {
		double size = pow(10, 40 * dp_rng_uniform(&r) - 20),
		       lo = (dp_rng_uniform(&r) - 0.5) * size,
		       hi = lo + size * (1e-3 + dp_rng_uniform(&r));
		size_t most = 2 + (size_t)(9 * dp_rng_uniform(&r));

		ticks_linear(&t, lo, hi, most, false);
		check_ticks(&t, lo, hi);
		assert_true(is_round(t.at[1] - t.at[0]));
		lo = size;
		hi = lo * pow(10, 0.05 + 12 * dp_rng_uniform(&r));
		ticks_log(&t, lo, hi, most);
		check_ticks(&t, lo, hi);
	}
}

/* ---- ranges ---- */

static void check_range(enum plot_scale scale, bool whole, const double *values, size_t n,
			double want_lo, double want_hi, double lo, double hi)
{
	struct axis *a = calloc(1, sizeof *a);

	assert_non_null(a);
	a->scale = scale;
	a->whole = whole;
	a->want[0] = want_lo;
	a->want[1] = want_hi;
	axis_begin(a, false);
	for (size_t i = 0; i < n; i++)
		axis_see(a, values[i]);
	axis_settle(a);
	assert_true(fabs(a->lo - lo) <= 1e-9 * fabs(lo));
	assert_true(fabs(a->hi - hi) <= 1e-9 * fabs(hi));
	free(a);
}

static void test_ranges(void **state)
{
	static const double spread[] = { 3, 10, NAN, INFINITY, -INFINITY, 1e301 },
			    one[] = { 5 }, zero[] = { 0 }, from_zero[] = { 0, 10 },
			    below[] = { -10, -0.1 }, decades[] = { -1, 0, 0.01, 100 },
			    close[] = { 1, 1 + 1e-15 };

	(void)state;
	check_range(PLOT_LINEAR, false, spread, 6, NAN, NAN, 3 - 0.28, 10 + 0.28);
	check_range(PLOT_LINEAR, false, spread, 6, 0, NAN, 0, 10 + 0.4);
	check_range(PLOT_LINEAR, false, spread, 6, 0, 20, 0, 20);
	check_range(PLOT_LINEAR, false, spread, 6, 20, 0, 0, 20);
	check_range(PLOT_LINEAR, false, one, 1, NAN, NAN, 4.5, 5.5);
	check_range(PLOT_LINEAR, true, one, 1, NAN, NAN, 4, 6);
	check_range(PLOT_LOG, false, one, 1, NAN, NAN, 5 / sqrt(10), 5 * sqrt(10));
	check_range(PLOT_LINEAR, false, zero, 1, NAN, NAN, -1, 1);
	check_range(PLOT_LINEAR, false, from_zero, 2, NAN, NAN, 0, 10.4);
	check_range(PLOT_LINEAR, false, below, 2, NAN, NAN, -10 - 0.396, 0);
	check_range(PLOT_LOG, false, decades, 4, NAN, NAN, pow(10, -2.16), pow(10, 2.16));
	check_range(PLOT_LOG, false, decades, 4, -5, 1000, pow(10, -2.2), 1000);
	check_range(PLOT_LINEAR, false, close, 2, NAN, NAN, 0.9, 1.1);
	check_range(PLOT_LINEAR, false, NULL, 0, NAN, NAN, 0, 1);
	check_range(PLOT_LOG, false, zero, 1, NAN, NAN, 1, 10);
}

/* ---- colours ---- */

static double luminance(plot_colour c)
{
	static const double weight[] = { 0.2126, 0.7152, 0.0722 };
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double u = (c >> (16 - 8 * i) & 255) / 255.0;

		sum += weight[i] *
		       (u <= 0.04045 ? u / 12.92 : pow((u + 0.055) / 1.055, 2.4));
	}
	return sum;
}

static void test_colour_maps(void **state)
{
	static const plot_colour ends[][2] = { [PLOT_VIRIDIS] = { 0x440154, 0xfde725 },
					       [PLOT_CIVIDIS] = { 0x00224e, 0xfee838 },
					       [PLOT_MAGMA] = { 0x000004, 0xfcfdbf } };

	(void)state;
	for (int map = PLOT_VIRIDIS; map <= PLOT_MAGMA; map++) {
		double before = -1;

		assert_int_equal(plot_map_colour(map, 0), ends[map][0]);
		assert_int_equal(plot_map_colour(map, 1), ends[map][1]);
		assert_int_equal(plot_map_colour(map, -3), ends[map][0]);
		assert_int_equal(plot_map_colour(map, INFINITY), ends[map][1]);
		assert_int_equal(plot_map_colour(map, NAN), ends[map][0]);
		for (int i = 0; i <= 64; i++) {
			double l = luminance(plot_map_colour(map, i / 64.0));

			assert_true(l > before);
			before = l;
		}
	}
	/* published: entries 105 and 150 of 255 */
	assert_int_equal(plot_map_colour(PLOT_VIRIDIS, 105 / 255.0), 0x297b8e);
	assert_int_equal(plot_map_colour(PLOT_MAGMA, 150 / 255.0), 0xd9466b);
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

static struct canvas open_canvas(int width, int height)
{
	struct dp_err err;
	struct canvas c;

	assert_int_equal(canvas_open(&c, width, height, &err), 0);
	return c;
}

static int grey(const struct canvas *c, int x, int y)
{
	return c->im->tpixels[y][x] & 255;
}

/* Sum of how dark all pixels are, in whole black pixels. */
static double ink(const struct canvas *c)
{
	double sum = 0;

	for (int y = 0; y < c->im->sy; y++) {
		for (int x = 0; x < c->im->sx; x++)
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
	raster_add(&c.raster, a, 4);
	raster_add(&c.raster, b, 4);
	raster_cut(&c.raster, hole, 4);
	canvas_fill(&c, 0, 0.5);
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

		s = style_full(&s);
		c = open_canvas(40, 40);
		canvas_marker(&c, (struct point){ 20, 20 }, &s);
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
				 m == PLOT_TRIANGLE || m == PLOT_DIAMOND ||
					 m == PLOT_PLUS || m == PLOT_STAR);
		assert_int_equal(grey(&c, 31, 31) < 128,
				 m == PLOT_SQUARE || m == PLOT_CROSS);
		assert_int_equal(grey(&c, 49, 45) < 128,
				 m == PLOT_SQUARE || m == PLOT_DOT || m == PLOT_RING ||
					 m == PLOT_TRIANGLE || m == PLOT_DIAMOND);
		canvas_close(&c);
	}
}

/* ---- text ---- */

static void test_text_copy(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "ε ≤ 1 𝛿", "ε ≤ 1 𝛿" },
		{ "two\nlines\tand\x01", "two lines and " },
		{ "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "a\xc3(", "a\xef\xbf\xbd(" },
		{ "cut \xe2\x82", "cut \xef\xbf\xbd" },
		{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" }, /* overlong */
		{ "\xed\xa0\x80", "\xef\xbf\xbd" },         /* surrogate */
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd" },     /* beyond Unicode */
	};
	char longest[4000], *copy;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		copy = text_copy(cases[i].from);
		assert_non_null(copy);
		assert_string_equal(copy, cases[i].to);
		free(copy);
	}
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	copy = text_copy(longest);
	assert_true(strlen(copy) < TEXT_LEN);
	free(copy);
}

static void test_text_fit(void **state)
{
	static const char name[] = "εεεεεεεεεε a name of several words and αβγδ";
	struct canvas c = open_canvas(40, 40);
	struct lines l;
	char out[TEXT_LEN];
	size_t n;

	(void)state;
	for (double width = 0; width < 400; width += 7) {
		text_fit(&c, FONT_AXIS, name, width, out);
		assert_true(text_width(&c, FONT_AXIS, out) <= width || !*out);
		n = strlen(out);
		if (strcmp(out, name) == 0 || !n)
			continue;
		assert_string_equal(out + n - 3, "…");
		assert_memory_equal(out, name, n - 3);
		assert_true((name[n - 3] & 0xc0) != 0x80); /* whole characters */
		text_wrap(&c, FONT_AXIS, name, width, 3, &l);
		assert_in_range(l.n, 1, 3);
		for (size_t i = 0; i < l.n; i++)
			assert_true(text_width(&c, FONT_AXIS, l.line[i]) <= width);
	}
	text_wrap(&c, FONT_AXIS, NULL, 100, 3, &l);
	assert_int_equal(l.n, 0);
	/* libgd would make one character of the entity */
	assert_true(text_width(&c, FONT_AXIS, "&lt;") >
		    2 * text_width(&c, FONT_AXIS, "<"));
	canvas_close(&c);
}

/* ---- legends ---- */

static void test_legend(void **state)
{
	struct plot *p = plot_new(400, 300, NULL);
	struct canvas c = open_canvas(400, 300);
	struct plot_style s = { .colour = 0x123456 };
	double v[] = { 1, 2 };
	struct legend l = { 0 }, m = { 0 };
	struct plot_panel *a, *b;

	(void)state;
	plot_grid(p, 1, 2);
	a = plot_panel(p, 0, 0);
	b = plot_panel(p, 0, 1);
	panel_line(a, &s, "first", v, v, 2);
	panel_points(a, &s, "first", v, v, 2);
	panel_points(a, &s, NULL, v, v, 2);
	panel_mark(a, &s, PLOT_Y, 1, "not in the legend");
	panel_points(a, &s, "second", v, v, 2);
	assert_true(legend_collect(&l, a) && legend_collect(&m, a));
	assert_int_equal(l.n, 2);
	assert_int_equal(l.entries[0].n, 2);
	assert_true(legend_same(&l, &m));
	panel_line(b, &s, "first", v, v, 2);
	panel_points(b, &s, "first", v, v, 2);
	s.marker = PLOT_STAR;
	panel_points(b, &s, "second", v, v, 2);
	legend_free(&m);
	assert_true(legend_collect(&m, b));
	assert_false(legend_same(&l, &m));
	/* wide and low: at the side; narrow and tall: above */
	legend_measure(&c, &l, 2000, 60);
	assert_true(l.beside);
	legend_measure(&c, &l, 300, 900);
	assert_false(l.beside);
	legend_free(&l);
	legend_free(&m);
	canvas_close(&c);
	plot_free(p);
}

/* ---- whole figures ---- */

static const char long_name[] =
	"a-name-of-one-hundred-characters-as-programs-write-them-0123456789-"
	"0123456789-0123456789-0123456789";

static struct plot *front_figure(void)
{
	static const double x[] = { 0.05, 0.08, 0.12, 0.3, 0.35, 0.7,
				    1,    1.4,  2.2,  3.1, 5,    8 },
			    y[] = { 0.42, 0.35, 0.39, 0.27, 0.33, 0.24,
				    0.29, 0.21, 0.23, 0.19, 0.2,  0.18 },
			    fx[] = { 0.05, 0.08, 0.3, 0.7, 1.4, 3.1, 8 },
			    fy[] = { 0.42, 0.35, 0.27, 0.24, 0.21, 0.19, 0.18 };
	struct plot *p = plot_new(400, 260, "Pareto front");
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style box = { .colour = plot_palette(PLOT_GREY) },
			  cloud = { .colour = plot_palette(PLOT_GREY), .outline = true },
			  front = { .colour = plot_palette(PLOT_BLUE), .outline = true },
			  line = { .colour = plot_palette(PLOT_VERMILLION),
				   .dash = PLOT_DASHED };
	char text[32];

	panel_axis(a, PLOT_X, "ε at δ = 10⁻⁵", PLOT_LOG);
	panel_axis(a, PLOT_Y, "error", PLOT_LINEAR);
	panel_box(a, &box, NULL, 0.05, 10, 0.18, 0.45);
	panel_points(a, &cloud, "all points", x, y, DP_COUNT(x));
	panel_steps(a, &front, "front", fx, fy, DP_COUNT(fx));
	panel_points(a, &front, "front", fx, fy, DP_COUNT(fx));
	panel_mark(a, &line, PLOT_Y, 0.165, "non-private");
	for (size_t i = 0; i < DP_COUNT(fx); i++) {
		snprintf(text, sizeof text, "ε = %g", fx[i]);
		panel_label(a, fx[i], fy[i], text);
	}
	plot_note(p, "12 evaluations of a made-up study");
	return p;
}

static struct plot *heat_figure(void)
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

static struct plot *bands_figure(void)
{
	static const char *const names[] = { "DPareto", "random search", "grid" };
	enum {
		N = 40
	};
	double x[N], y[N], lo[N], hi[N];
	struct plot *p = plot_new(400, 260, "Hypervolume");
	struct plot_panel *a = plot_panel(p, 0, 0);

	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_whole(a, PLOT_X);
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

static struct plot *parallel_figure(void)
{
	static const char *const names[] = { "sgd", "adam" };
	const struct plot_parallel axes[] = {
		{ .label = "learning rate", .scale = PLOT_LOG, .lo = 1e-3, .hi = 1 },
		{ .label = "epochs", .lo = NAN, .hi = NAN },
		{ .label = "optimiser", .names = names, .nnames = 2 },
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

static struct plot *words_figure(void)
{
	static const char *const slots[] = { "slot 0", long_name };
	const double bad[] = { -1, 0, NAN }, one[] = { 3 }, x0[] = { 0, 4, 1 },
		     x1[] = { 3, 9, 7 }, y0[] = { -0.3, -0.3, 0.7 },
		     y1[] = { 0.3, 0.3, 1.3 };
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
	panel_names(a, PLOT_Y, slots, 2);
	panel_axis(a, PLOT_X, "minutes", PLOT_LINEAR);
	panel_blocks(a, &s, "training", x0, x1, y0, y1, 3);
	a = plot_panel(p, 1, 1);
	panel_axis(a, PLOT_X, long_name, PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "a label of many words beside a panel that is small",
		   PLOT_LINEAR);
	panel_empty(a, "All 17 trials failed: see the table of failures.");
	return p;
}

/* Renders and frees; the caller frees the bytes. */
static struct dp_buf png_of(struct plot *p)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err = { 0 };

	assert_non_null(p);
	if (plot_png(p, &out, &err))
		fail_msg("%s", err.msg);
	plot_free(p);
	return out;
}

static gdImagePtr picture(const struct dp_buf *png)
{
	gdImagePtr im = gdImageCreateFromPngPtr((int)png->len, png->data);

	assert_non_null(im);
	return im;
}

/* Neither white, black nor grey: of a series or a colour map. */
static bool is_coloured(int pixel)
{
	int r = pixel >> 16 & 255, g = pixel >> 8 & 255, b = pixel & 255;

	return abs(r - g) > 60 || abs(g - b) > 60 || abs(r - b) > 60;
}

/* Pixels of this colour, or coloured ones if it is negative. */
static size_t count_pixels(struct plot *p, int colour)
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

/* A wavy line through 30 points, with a label at each if `labels`. */
static struct plot *labelled(bool labels)
{
	double x[30], y[30];
	struct plot *p = plot_new(400, 300, NULL);
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style s = { .colour = 0xff0000 }, t = { .colour = 0x0000ff };

	for (int i = 0; i < 30; i++) {
		x[i] = i;
		y[i] = sin(i * 0.9);
	}
	panel_line(a, &s, NULL, x, y, 30);
	panel_points(a, &t, NULL, x, y, 30);
	panel_mark(a, &s, PLOT_Y, 0.3, NULL);
	for (int i = 0; labels && i < 30; i++)
		panel_label(a, x[i], y[i], "a label");
	return p;
}

static void test_labels_cover_nothing(void **state)
{
	struct dp_buf with = png_of(labelled(true)), without = png_of(labelled(false));
	gdImagePtr a = picture(&with), b = picture(&without);
	size_t text = 0;

	(void)state;
	for (int y = 0; y < gdImageSY(a); y++) {
		for (int x = 0; x < gdImageSX(a); x++) {
			int p = gdImageGetTrueColorPixel(a, x, y),
			    q = gdImageGetTrueColorPixel(b, x, y);

			if (is_coloured(q))
				assert_int_equal(p, q);
			text += p == INK && q != INK;
		}
	}
	assert_true(text > 400); /* several of them had room */
	gdImageDestroy(a);
	gdImageDestroy(b);
	dp_buf_free(&with);
	dp_buf_free(&without);
}

/* A point among others below a line, where only the far side of the line is free. */
static struct plot *hemmed_in(bool label)
{
	enum {
		N = 41
	};
	double x[N * N], y[N * N];
	struct plot *p = plot_new(300, 200, NULL);
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style s = { .colour = 0xff0000, .size = 8 };

	for (int i = 0; i < N * N; i++) {
		x[i] = i % N / (N - 1.0);
		y[i] = i / N / (N - 1.0) * 0.5;
	}
	panel_limits(a, PLOT_X, 0, 1);
	panel_limits(a, PLOT_Y, 0, 1);
	panel_points(a, &s, NULL, x, y, N * N);
	panel_mark(a, &s, PLOT_Y, 0.54, NULL);
	if (label)
		panel_label(a, 0.5, 0.5, "a label");
	return p;
}

static void test_labels_stay_on_their_side(void **state)
{
	struct dp_buf with = png_of(hemmed_in(true)), without = png_of(hemmed_in(false));

	(void)state;
	assert_int_equal(with.len, without.len);
	assert_memory_equal(with.data, without.data, with.len);
	dp_buf_free(&with);
	dp_buf_free(&without);
}

static struct plot *two_cells(double z)
{
	const double x[] = { 0, 1, 2 }, y[] = { 0, 1 }, values[] = { 1, z };
	struct plot *p = plot_new(200, 150, NULL);

	panel_heat(plot_panel(p, 0, 0), PLOT_VIRIDIS, x, 2, y, 1, values, PLOT_LOG, NULL);
	return p;
}

static struct plot *one_line(double second)
{
	const struct plot_parallel axes[] = { { .lo = 0, .hi = 1 },
					      { .lo = 0, .hi = 1 } };
	const double values[] = { 0.2, second }, by = 1;
	struct plot *p = plot_new(200, 150, NULL);

	panel_parallel(plot_panel(p, 0, 0), axes, 2, values, 1, &by, PLOT_LINEAR, NULL);
	return p;
}

/* What is not a number, or not positive on a log scale, stays empty. */
static void test_missing_values(void **state)
{
	const int empty = 0xf4f4f4;
	size_t line = count_pixels(one_line(0.9), -1);

	(void)state;
	assert_true(count_pixels(two_cells(2), empty) < 50); /* edges of letters */
	assert_true(count_pixels(two_cells(NAN), empty) > 1000);
	assert_true(count_pixels(two_cells(0), empty) > 1000);
	assert_true(count_pixels(two_cells(INFINITY), empty) > 1000);
	assert_true(count_pixels(one_line(NAN), -1) + 200 < line);
	assert_int_equal(count_pixels(one_line(INFINITY), -1),
			 count_pixels(one_line(NAN), -1));
}

static void test_same_bytes(void **state)
{
	struct plot *(*const figures[])(void) = { front_figure, heat_figure, bands_figure,
						  parallel_figure, words_figure };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct dp_buf a = png_of(figures[i]()), b = DP_BUF_INIT;
		struct plot *p = figures[i]();

		/* another one, and that one once more */
		for (int k = 0; k < 2; k++) {
			dp_buf_clear(&b);
			assert_int_equal(plot_png(p, &b, NULL), 0);
			assert_int_equal(a.len, b.len);
			assert_memory_equal(a.data, b.data, a.len);
		}
		plot_free(p);
		dp_buf_free(&a);
		dp_buf_free(&b);
	}
}

/* Twice the size, plain RGB, the resolution, and nothing else such as a time. */
static void test_png_chunks(void **state)
{
	struct dp_buf png = png_of(front_figure());
	const unsigned char *p = (const unsigned char *)png.data + 8,
			    *end = (const unsigned char *)png.data + png.len;
	char seen[64] = "";

	(void)state;
	while (p + 12 <= end) {
		size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 |
			   p[3];

		if (memcmp(p + 4, "IHDR", 4) == 0)
			assert_memory_equal(p + 8, "\0\0\3\x20\0\0\2\x08\x08\2\0\0\0",
					    13);
		if (memcmp(p + 4, "pHYs", 4) == 0) /* 7559 pixels a metre: 192 an inch */
			assert_memory_equal(p + 8, "\0\0\x1d\x87\0\0\x1d\x87\1", 9);
		if (!strstr(seen, "IDAT") || memcmp(p + 4, "IDAT", 4) != 0) {
			strcat(seen, " ");
			strncat(seen, (const char *)p + 4, 4);
		}
		p += n + 12;
	}
	assert_string_equal(seen, " IHDR pHYs IDAT IEND");
	dp_buf_free(&png);
}

/* Everything at once, with values from a hostile set. */
static struct plot *hostile_figure(const double *v, size_t n, enum plot_scale scale)
{
	static const char *const names[] = { "\xff", "", long_name, "&lt;b&gt;" };
	struct plot *p = plot_new(300, 200, "\xf0\x9f & \x80 title");
	struct plot_panel *a;

	plot_grid(p, 1, 2);
	a = plot_panel(p, 0, 0);
	panel_title(a, long_name);
	panel_axis(a, PLOT_X, long_name, scale);
	panel_axis(a, PLOT_Y, "\xc3", scale);
	for (int k = 0; k < 3; k++) {
		struct plot_style s = { .colour = plot_palette((unsigned)k),
					.dash = k,
					.marker = k + 2,
					.outline = true,
					.opacity = k * 0.4,
					.width = k == 2 ? 1e9 : 0 };

		panel_line(a, &s, names[k], v, v + 1, n - 3);
		panel_steps(a, &s, long_name, v + 1, v, n - 3);
		panel_points(a, &s, names[k + 1], v + 2, v, n - 3);
		panel_bars(a, &s, NULL, v, v + 1, v + 2, n - 3);
		panel_band(a, &s, "band", v, v + 1, v + 2, n - 3, k == 1);
		panel_blocks(a, &s, NULL, v, v + 1, v + 2, v + 3, n - 3);
		panel_box(a, &s, NULL, v[k], v[k + 1], v[k + 2], v[k + 3]);
		panel_mark(a, &s, k % 2 ? PLOT_X : PLOT_Y, v[k], names[k]);
	}
	for (size_t i = 0; i + 1 < n; i++)
		panel_label(a, v[i], v[i + 1], names[i % 4]);
	a = plot_panel(p, 0, 1);
	panel_names(a, PLOT_X, names, 4);
	panel_heat(a, PLOT_CIVIDIS, v, 2, v + 1, 2, v, scale, long_name);
	return p;
}

static void test_hostile_values(void **state)
{
	static const double values[][8] = {
		{ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN },
		{ INFINITY, -INFINITY, 0, 1, 2, INFINITY, NAN, 3 },
		{ 1, 1e300, -1e300, 5, 1e308, -1e308, 2, 3 },
		{ 0, 0, 0, 0, 0, 0, 0, 0 },
		{ 5e-324, 1e-310, 1e-300, 1e300, 1.7e308, 1, 2, 3 },
		{ -1, -2, -3, -1e-300, -5e-324, -1, -1, -1 },
		{ 1, 1 + 2e-16, 1, 1, 1 - 1e-16, 1, 1, 1 },
		{ 1e-5, 1e5, 1, 100, 1e-3, 10, 1e4, 1e-2 },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(values); i++) {
		for (int scale = PLOT_LINEAR; scale <= PLOT_LOG; scale++) {
			struct dp_buf png = png_of(hostile_figure(values[i], 8, scale));
			gdImagePtr im = picture(&png);

			assert_int_equal(gdImageSX(im), 600);
			assert_int_equal(gdImageSY(im), 400);
			gdImageDestroy(im);
			dp_buf_free(&png);
		}
	}
}

/* Figures too small for their text, without panels, and with nothing in them. */
static void test_small_and_empty(void **state)
{
	static const int sizes[] = { -5, 1, 7, 40, 90 };
	struct plot_parallel axis = { .label = long_name, .lo = NAN, .hi = NAN };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(sizes); i++) {
		double v[] = { 1, 2, 3, 4 };
		struct plot *p = plot_new(sizes[i], sizes[i], long_name);
		struct plot_panel *a;
		struct dp_buf png;

		plot_grid(p, 2, 2);
		a = plot_panel(p, 0, 0);
		panel_line(a, &(struct plot_style){ 0 }, long_name, v, v, 4);
		panel_mark(a, &(struct plot_style){ 0 }, PLOT_X, 2, long_name);
		panel_parallel(plot_panel(p, 0, 1), &axis, 1, v, 4, v, PLOT_LOG, NULL);
		panel_parallel(plot_panel(p, 1, 0), &axis, 0, v, 0, v, PLOT_LOG, "");
		png = png_of(p);
		dp_buf_free(&png);
		png = png_of(plot_new(sizes[i], sizes[i], NULL));
		dp_buf_free(&png);
	}
}

static void test_misuse_is_told(void **state)
{
	struct plot *p = plot_new(100, 100, NULL);
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err = { 0 };

	(void)state;
	plot_grid(p, 2, 2);
	assert_null(plot_panel(p, 2, 0));
	panel_title(plot_panel(p, 0, -1), "nowhere");
	panel_points(NULL, &(struct plot_style){ 0 }, NULL, NULL, NULL, 0);
	assert_int_equal(plot_png(p, &out, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "2 x 2"));
	plot_free(p);
	plot_grid(NULL, 1, 1);
	plot_note(NULL, "nowhere");
	assert_null(plot_panel(NULL, 0, 0));
	assert_int_equal(plot_png(NULL, &out, &err), DP_E_NOMEM);
	plot_free(NULL);
}

/* fontconfig reads its file once: in a process of its own, before the others. */
static void test_no_fonts(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char file[2048];
	int fd, status;
	pid_t child;

	(void)state;
	snprintf(file, sizeof file, "%s/dpareto-fonts-XXXXXX", tmp ? tmp : "/tmp");
	fd = mkstemp(file);
	assert_true(fd >= 0);
	assert_true(write(fd, "<fontconfig/>", 13) == 13);
	close(fd);
	child = fork();
	if (child == 0) {
		struct dp_buf out = DP_BUF_INIT;
		struct dp_err err = { 0 };
		struct plot *p = plot_new(100, 100, "title");

		setenv("FONTCONFIG_FILE", file, 1);
		_exit(p && plot_png(p, &out, &err) == DP_E_FAILED &&
				      strstr(err.msg, "font") &&
				      strstr(err.hint, "fonts-dejavu-core")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(file);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- pictures that were looked at ---- */

static void save(const char *path, const struct dp_buf *b)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->len, f), b->len);
	assert_int_equal(fclose(f), 0);
}

static gdImagePtr load(const char *path)
{
	FILE *f = fopen(path, "rb");
	gdImagePtr im;

	if (!f)
		return NULL;
	im = gdImageCreateFromPng(f);
	fclose(f);
	return im;
}

/* Fonts differ a little between machines, so some pixels may: at most 3 % of them
 * visibly, and all by less than 1.5 of 255 on the average. */
static bool alike(gdImagePtr a, gdImagePtr b, double *mean, double *share)
{
	double sum = 0, many = 0, n = (double)gdImageSX(a) * gdImageSY(a);

	*mean = *share = 255;
	if (gdImageSX(a) != gdImageSX(b) || gdImageSY(a) != gdImageSY(b))
		return false;
	for (int y = 0; y < gdImageSY(a); y++) {
		for (int x = 0; x < gdImageSX(a); x++) {
			int p = gdImageGetTrueColorPixel(a, x, y),
			    q = gdImageGetTrueColorPixel(b, x, y), most = 0;

			for (int shift = 0; shift <= 16; shift += 8) {
				int d = abs((p >> shift & 255) - (q >> shift & 255));

				most = d > most ? d : most;
			}
			sum += most;
			many += most > 40;
		}
	}
	*mean = sum / n;
	*share = many / n;
	return *mean < 1.5 && *share < 0.03;
}

static void compare(const char *name, struct plot *p)
{
	const char *srcdir = getenv("srcdir"), *tmp = getenv("TMPDIR"),
		   *mode = getenv("DPARETO_GOLDEN");
	struct dp_buf png = png_of(p);
	gdImagePtr now, then;
	char path[2048], other[2048];
	double mean = 255, share = 1;
	bool same;

	snprintf(path, sizeof path, "%s/tests/ref/plots/%s.png", srcdir ? srcdir : ".",
		 name);
	snprintf(other, sizeof other, "%s/dpareto-%s.png", tmp ? tmp : "/tmp", name);
	if (mode && strcmp(mode, "write") == 0) {
		save(path, &png);
		dp_buf_free(&png);
		return;
	}
	now = picture(&png);
	then = load(path);
	same = then && alike(now, then, &mean, &share);
	if (!same)
		save(other, &png); /* kept, to be looked at */
	gdImageDestroy(now);
	if (then)
		gdImageDestroy(then);
	dp_buf_free(&png);
	if (!same)
		fail_msg("the picture %s differs from %s (by %.2f of 255 on the average, "
			 "%.1f %% of its pixels visibly)",
			 other, path, mean, 100 * share);
}

static void test_golden_front(void **state)
{
	(void)state;
	compare("front", front_figure());
}

static void test_golden_heat(void **state)
{
	(void)state;
	compare("heat", heat_figure());
}

static void test_golden_bands(void **state)
{
	(void)state;
	compare("bands", bands_figure());
}

static void test_golden_parallel(void **state)
{
	(void)state;
	compare("parallel", parallel_figure());
}

static void test_golden_words(void **state)
{
	(void)state;
	compare("words", words_figure());
}

static int shutdown_fonts(void **state)
{
	(void)state;
	plot_shutdown();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_fonts),
		cmocka_unit_test(test_linear_ticks),
		cmocka_unit_test(test_log_ticks),
		cmocka_unit_test(test_minor_ticks),
		cmocka_unit_test(test_ticks_of_random_ranges),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_colour_maps),
		cmocka_unit_test(test_palette),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_clip_segment),
		cmocka_unit_test(test_markers),
		cmocka_unit_test(test_text_copy),
		cmocka_unit_test(test_text_fit),
		cmocka_unit_test(test_legend),
		cmocka_unit_test(test_labels_cover_nothing),
		cmocka_unit_test(test_labels_stay_on_their_side),
		cmocka_unit_test(test_missing_values),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_png_chunks),
		cmocka_unit_test(test_hostile_values),
		cmocka_unit_test(test_small_and_empty),
		cmocka_unit_test(test_misuse_is_told),
		cmocka_unit_test(test_golden_front),
		cmocka_unit_test(test_golden_heat),
		cmocka_unit_test(test_golden_bands),
		cmocka_unit_test(test_golden_parallel),
		cmocka_unit_test(test_golden_words),
	};

	return cmocka_run_group_tests_name("plot", tests, NULL, shutdown_fonts);
}
