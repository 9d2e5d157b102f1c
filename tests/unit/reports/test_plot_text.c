/* test_plot_text.c - text, legends and labels: what is cut, where it finds a place. */
#include "tests/unit/support/made_plots.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
		copy = text_sanitized_copy(cases[i].from);
		assert_non_null(copy);
		assert_string_equal(copy, cases[i].to);
		free(copy);
	}
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	copy = text_sanitized_copy(longest);
	assert_true(strlen(copy) < PLOT_TEXT_LEN);
	free(copy);
}

static void test_text_fit(void **state)
{
	static const char name[] = "εεεεεεεεεε a name of several words and αβγδ";
	struct canvas c = open_canvas(40, 40);
	struct wrapped_text l;
	char out[PLOT_TEXT_LEN];
	size_t n;

	(void)state;
	for (double width = 0; width < 400; width += 7) {
		text_ellipsize(&c, FONT_AXIS, name, width, out);
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
	assert_true(text_width(&c, FONT_AXIS, "&lt;") > 2 * text_width(&c, FONT_AXIS, "<"));
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
	panel_add_reference_line(a, &s, PLOT_Y, 1, "not in the legend");
	panel_points(a, &s, "second", v, v, 2);
	legend_collect(&l, a, false);
	legend_collect(&m, a, false);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.entries[0].n, 2);
	assert_true(legend_is_equal(&l, &m));
	panel_line(b, &s, "first", v, v, 2);
	panel_points(b, &s, "first", v, v, 2);
	s.marker = PLOT_STAR;
	panel_points(b, &s, "second", v, v, 2);
	legend_free(&m);
	legend_collect(&m, b, false);
	assert_false(legend_is_equal(&l, &m));
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
	panel_add_reference_line(a, &s, PLOT_Y, 0.3, NULL);
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
			text += p == TITLE_COLOUR && q != TITLE_COLOUR;
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
	panel_add_reference_line(a, &s, PLOT_Y, 0.54, NULL);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_copy),
		cmocka_unit_test(test_text_fit),
		cmocka_unit_test(test_legend),
		cmocka_unit_test(test_labels_cover_nothing),
		cmocka_unit_test(test_labels_stay_on_their_side),
	};

	return cmocka_run_group_tests(tests, NULL, shutdown_fonts);
}
