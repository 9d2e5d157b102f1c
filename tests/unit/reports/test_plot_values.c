/* test_plot_values.c - whole figures of hostile values, and of none; the bytes of a
 * picture. */
#include "tests/unit/support/made_plots.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- whole figures ---- */

static struct plot *two_cells(double z)
{
	const double x[] = { 0, 1, 2 }, y[] = { 0, 1 }, values[] = { 1, z };
	struct plot *p = plot_new(200, 150, NULL);

	panel_heat(plot_panel(p, 0, 0), PLOT_VIRIDIS, x, 2, y, 1, values, PLOT_LOG, NULL);
	return p;
}

/* Two panels, whose cells have values of their own. */
static struct plot *two_heats(bool same_colours)
{
	const double x[] = { 0, 1, 2 }, y[] = { 0, 1 };
	const double values[2][2] = { { 1, 2 }, { 3, 4 } };
	struct plot *p = plot_new(500, 150, NULL);

	plot_grid(p, 1, 2);
	for (int i = 0; i < 2; i++) {
		struct plot_panel *a = plot_panel(p, 0, i);

		panel_heat(a, PLOT_VIRIDIS, x, 2, y, 1, values[i], PLOT_LINEAR, NULL);
		if (same_colours)
			panel_heat_limits(a, PLOT_LINEAR, 1, 4);
	}
	return p;
}

/* With limits a colour means the same in each panel: only one has the darkest one. */
static void test_heat_limits(void **state)
{
	const int darkest = (int)plot_colourmap_lookup(PLOT_VIRIDIS, 0);
	size_t own = count_pixels(two_heats(false), darkest);
	size_t shared = count_pixels(two_heats(true), darkest);

	(void)state;
	assert_true(shared > 1000);
	assert_true(own > 3 * shared / 2);
}

static struct plot *one_line(double second)
{
	const struct plot_parallel_axis axes[] = { { .lo = 0, .hi = 1 }, { .lo = 0, .hi = 1 } };
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
	assert_int_equal(count_pixels(one_line(INFINITY), -1), count_pixels(one_line(NAN), -1));
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
			assert_int_equal(plot_render(p, PLOT_PNG, &b, NULL), 0);
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
		size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];

		if (memcmp(p + 4, "IHDR", 4) == 0)
			assert_memory_equal(p + 8, "\0\0\3\x20\0\0\2\x08\x08\2\0\0\0", 13);
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
		panel_add_error_bars(a, &s, NULL, v, v + 1, v + 2, n - 3);
		panel_band(a, &s, "band", v, v + 1, v + 2, n - 3, k == 1);
		panel_add_rects(a, &s, NULL, v, v + 1, v + 2, v + 3, n - 3);
		panel_add_region(a, &s, NULL, v[k], v[k + 1], v[k + 2], v[k + 3]);
		panel_add_reference_line(a, &s, k % 2 ? PLOT_X : PLOT_Y, v[k], names[k]);
	}
	for (size_t i = 0; i + 1 < n; i++)
		panel_label(a, v[i], v[i + 1], names[i % 4]);
	a = plot_panel(p, 0, 1);
	panel_set_categories(a, PLOT_X, names, 4);
	panel_heat(a, PLOT_MAGMA, v, 2, v + 1, 2, v, scale, long_name);
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
	struct plot_parallel_axis axis = { .label = long_name, .lo = NAN, .hi = NAN };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(sizes); i++) {
		double v[] = { 1, 2, 3, 4 };
		struct plot *p = plot_new(sizes[i], sizes[i], long_name);
		struct plot_panel *a;
		struct dp_buf png;

		plot_grid(p, 2, 2);
		a = plot_panel(p, 0, 0);
		panel_line(a, &(struct plot_style){ 0 }, long_name, v, v, 4);
		panel_add_reference_line(a, &(struct plot_style){ 0 }, PLOT_X, 2, long_name);
		panel_parallel(plot_panel(p, 0, 1), &axis, 1, v, 4, v, PLOT_LOG, NULL);
		panel_parallel(plot_panel(p, 1, 0), &axis, 0, v, 0, v, PLOT_LOG, "");
		png = png_of(p);
		dp_buf_free(&png);
		png = png_of(plot_new(sizes[i], sizes[i], NULL));
		dp_buf_free(&png);
	}
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
		_exit(p && plot_render(p, PLOT_PNG, &out, &err) == DP_E_FAILED &&
				      strstr(err.msg, "font") &&
				      strstr(err.hint, "fonts-dejavu-core")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(file);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_fonts),        cmocka_unit_test(test_missing_values),
		cmocka_unit_test(test_heat_limits),     cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_png_chunks),      cmocka_unit_test(test_hostile_values),
		cmocka_unit_test(test_small_and_empty),
	};

	return cmocka_run_group_tests(tests, NULL, shutdown_fonts);
}
