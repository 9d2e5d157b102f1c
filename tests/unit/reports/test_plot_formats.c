/* test_plot_formats.c - figures as SVG and PDF, their numbers as CSV, their words; on paper
 * and in the dark. */
#include "base/rng.h"
#include "tests/unit/support/made_plots.h"

#include "base/units.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct plot *(*const figures[])(void) = { front_figure, heat_figure, bands_figure,
						 parallel_figure, words_figure };

static struct dp_buf drawn(struct plot *p, enum plot_format form)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err = { 0 };

	if (plot_render(p, form, &out, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return out;
}

static size_t count(const struct dp_buf *b, const char *what)
{
	size_t n = 0;

	for (const char *at = dp_buf_text(b); (at = strstr(at, what)) != NULL; at++)
		n++;
	return n;
}

/* ---- XML, as far as SVG needs it ---- */

/* Every tag is closed by its own; attributes are quoted; no bare '<' or '&'. */
static void assert_well_formed(const struct dp_buf *b)
{
	const char *open[64], *at = dp_buf_text(b);
	size_t length[64], depth = 0;

	while (*at) {
		const char *end;

		if (*at == '&') {
			end = at + strcspn(at, ";");
			assert_true(end - at <= 5 && *end == ';');
		}
		if (*at++ != '<')
			continue;
		end = at;
		for (bool quoted = false; *end && (quoted || *end != '>'); end++) {
			quoted ^= *end == '"';
			assert_true(*end != '<');
		}
		assert_true(*end == '>');
		if (*at == '/') {
			assert_true(depth > 0);
			depth--;
			assert_int_equal((size_t)(end - at - 1), length[depth]);
			assert_memory_equal(at + 1, open[depth], length[depth]);
		} else if (end[-1] != '/') {
			assert_true(depth < 64);
			open[depth] = at;
			length[depth++] = strcspn(at, " >");
		}
		at = end + 1;
	}
	assert_int_equal(depth, 0);
}

static void every_form_is_the_same_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		for (int form = PLOT_PNG; form <= PLOT_PDF; form++) {
			struct plot *p = figures[i](), *q = figures[i]();
			struct dp_buf a = drawn(p, form), b = drawn(q, form),
				      again = drawn(p, form);

			assert_int_equal(a.len, b.len);
			assert_memory_equal(a.data, b.data, a.len);
			assert_int_equal(a.len, again.len);
			assert_memory_equal(a.data, again.data, a.len);
			dp_buf_free(&a);
			dp_buf_free(&b);
			dp_buf_free(&again);
			plot_free(p);
			plot_free(q);
		}
	}
}

static void svg_is_xml_with_real_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		for (int form = PLOT_SVG; form <= PLOT_INLINE_SVG; form++) {
			struct plot *p = figures[i]();
			struct dp_buf b = drawn(p, form);

			assert_well_formed(&b);
			assert_true(count(&b, "<text") > 3);
			assert_int_equal(count(&b, "<script") + count(&b, "onload"), 0);
			dp_buf_free(&b);
			plot_free(p);
		}
	}
}

/* Names are the user's: none of them becomes markup, in no form. */
static void hostile_names_stay_text(void **state)
{
	static const char *const hostile[] = {
		"</text><script>alert(1)</script>",
		"\"' onload=\"x\" a='&lt;",
		"]]>&#0;&nope;<!--",
		"a\x01\x1b[31mb\x7f\xc2\x85",
		"\xff\xfe\xc3(\xed\xa0\x80\xf0\x9f",
		"\xe2\x80\xaegpj.x\xef\xbf\xbe",
	};
	const double x[] = { 1, 2 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(hostile); i++) {
		const char *const tips[] = { hostile[i], NULL }, *const links[] = { hostile[i],
										    "#x" };
		struct plot *p = plot_new(300, 200, hostile[i]);
		struct plot_panel *a = plot_panel(p, 0, 0);
		struct plot_style s = { .colour = 0x123456 };
		struct dp_buf page, svg, pdf;

		plot_id(p, hostile[i]);
		panel_axis(a, PLOT_X, hostile[i], PLOT_LINEAR);
		panel_title(a, hostile[i]);
		panel_points(a, &s, hostile[i], x, x, 2);
		panel_add_tooltips(a, tips, links, 2);
		panel_label(a, 1, 1, hostile[i]);
		page = drawn(p, PLOT_INLINE_SVG);
		svg = drawn(p, PLOT_SVG);
		pdf = drawn(p, PLOT_PDF);
		assert_well_formed(&page);
		assert_well_formed(&svg);
		assert_int_equal(count(&page, "<script") + count(&svg, "<script"), 0);
		assert_int_equal(count(&page, "\" onload"), 0);
		assert_null(strpbrk(dp_buf_text(&page), "\x01\x1b\x7f"));
		assert_int_equal(count(&page, "\xe2\x80\xae"), 0);
		assert_int_equal(count(&svg, "\xef\xbf\xbe"), 0);
		dp_buf_free(&page);
		dp_buf_free(&svg);
		dp_buf_free(&pdf);
		plot_free(p);
	}
}

/* What is pointed at says something; only in a page does it lead somewhere, and then the
 * picture must not hide its parts from who has it read out. */
static void tips_and_links(void **state)
{
	const double x[] = { 1, 2, 3 };
	const char *const tips[] = { "trial 1", "trial 2", NULL }, *const links[] = { "#trial-1",
										      NULL, NULL };
	struct plot *p = plot_new(300, 200, "tips");
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style s = { .colour = 0x123456 };
	struct dp_buf b;

	(void)state;
	panel_points(a, &s, "points", x, x, 3);
	b = drawn(p, PLOT_INLINE_SVG);
	assert_int_equal(count(&b, "role=\"img\" aria-label=\"tips. Points"), 1);
	dp_buf_free(&b);
	panel_add_tooltips(a, tips, links, 3);
	b = drawn(p, PLOT_INLINE_SVG);
	assert_int_equal(count(&b, "<title>trial "), 2);
	assert_int_equal(count(&b, "<a xlink:href=\"#trial-1\">"), 1);
	assert_int_equal(count(&b, "role=\"group\""), 1);
	dp_buf_free(&b);
	b = drawn(p, PLOT_SVG);
	assert_int_equal(count(&b, "<title>trial "), 2);
	assert_int_equal(count(&b, "<a "), 0);
	dp_buf_free(&b);
	plot_free(p);
}

/* Thousands of points are one path, not thousands of elements. */
static void clouds_are_small(void **state)
{
	enum {
		N = 10000
	};
	double *x = calloc(2 * N, sizeof *x), *y = x + N;
	struct plot *p = plot_new(600, 400, NULL);
	struct plot_style s = { .colour = 0x123456, .size = 3, .opacity = 0.25 };
	struct dp_buf b;

	(void)state;
	for (int i = 0; i < N; i++) {
		x[i] = sin(i);
		y[i] = cos(3.7 * i);
	}
	panel_points(plot_panel(p, 0, 0), &s, NULL, x, y, N);
	b = drawn(p, PLOT_INLINE_SVG);
	assert_in_range(b.len, N * 5, N * 16);
	dp_buf_free(&b);
	plot_free(p);
	free(x);
}

static void heat_maps_are_small(void **state)
{
	enum {
		N = 60
	};
	double edge[N + 1], z[N * N];
	struct plot *p = plot_new(600, 400, NULL);
	struct dp_buf b;

	(void)state;
	for (int i = 0; i <= N; i++)
		edge[i] = i * i; /* uneven */
	for (int i = 0; i < N * N; i++)
		z[i] = i % 7 ? sin(i / 900.0) : NAN;
	panel_heat(plot_panel(p, 0, 0), PLOT_VIRIDIS, edge, N, edge, N, z, PLOT_LINEAR, "z");
	b = drawn(p, PLOT_INLINE_SVG);
	assert_int_equal(count(&b, "<image"), 2); /* with the bar */
	assert_in_range(b.len, 1000, 60000);
	dp_buf_free(&b);
	plot_free(p);
}

static void numbers_know_no_locale(void **state)
{
	struct plot *p = bands_figure();
	struct dp_buf before = drawn(p, PLOT_SVG), after;

	(void)state;
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
		print_message("with a comma for a point\n");
	after = drawn(p, PLOT_SVG);
	setlocale(LC_NUMERIC, "C");
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.data, after.data, before.len);
	dp_buf_free(&before);
	dp_buf_free(&after);
	plot_free(p);
}

static void pdf_has_text_and_no_date(void **state)
{
	struct plot *p = front_figure();
	struct dp_buf b = drawn(p, PLOT_PDF);

	(void)state;
	assert_memory_equal(b.data, "%PDF-", 5);
	assert_null(memmem(b.data, b.len, "CreationDate", 12));
	assert_null(memmem(b.data, b.len, "ModDate", 7));
	assert_non_null(memmem(b.data, b.len, "DejaVuSans", 10));
	dp_buf_free(&b);
	plot_free(p);
}

/* ---- lines ---- */

/* What a back end is given of a line. */
static struct {
	double length;
	double phase; /* of the last part */
	bool inside;
} seen_of_line;

static void see_line(struct canvas *c, const struct point *p, size_t n, const struct pen *pen,
		     double phase)
{
	double far = pen->width + 2 + 1e-9;

	seen_of_line.phase = phase;
	for (size_t i = 0; i < n; i++) {
		seen_of_line.inside &= p[i].x >= c->clip.x0 - far && p[i].x <= c->clip.x1 + far &&
				       p[i].y >= c->clip.y0 - far && p[i].y <= c->clip.y1 + far;
		if (i)
			seen_of_line.length += hypot(p[i].x - p[i - 1].x, p[i].y - p[i - 1].y);
	}
}

/* How much of a line is within the box, by many points of it; *to_first: how far along
 * it the last part begins that can be seen. */
static double sampled_length(const struct point *p, size_t n, const struct rect *box,
			     double *to_first)
{
	enum {
		SAMPLES = 4000
	};
	double inside = 0, along = 0;
	bool before = false;

	for (size_t i = 1; i < n; i++) {
		double step = hypot(p[i].x - p[i - 1].x, p[i].y - p[i - 1].y) / SAMPLES;

		for (int k = 0; k < SAMPLES; k++) {
			double t = (k + 0.5) / SAMPLES;
			double x = p[i - 1].x + t * (p[i].x - p[i - 1].x);
			double y = p[i - 1].y + t * (p[i].y - p[i - 1].y);
			bool now = x >= box->x0 && x <= box->x1 && y >= box->y0 && y <= box->y1;

			if (now && !before)
				*to_first = along;
			inside += now ? step : 0;
			along += step;
			before = now;
		}
	}
	return inside;
}

static void lines_are_cut_where_they_leave(void **state)
{
	const struct plot_backend eyes = { .stroke = see_line };
	const struct pen pen = { .width = 1, .dash = PLOT_DASHED, .opacity = 1 };
	const struct rect box = { -3, -3, 103, 53 };
	struct canvas c = { .backend = &eyes, .clip = { 0, 0, 100, 50 } };
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 5, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 300; i++) {
		struct point p[9];
		size_t n = 2 + (size_t)(7 * dp_rng_uniform(&rng));
		double length, begins = 0;

		for (size_t k = 0; k < n; k++)
			p[k] = (struct point){ 300 * dp_rng_uniform(&rng) - 100,
					       150 * dp_rng_uniform(&rng) - 50 };
		memset(&seen_of_line, 0, sizeof seen_of_line);
		seen_of_line.inside = true;
		canvas_line(&c, p, n, &pen);
		length = sampled_length(p, n, &box, &begins);
		assert_true(seen_of_line.inside);
		assert_true(fabs(seen_of_line.length - length) < 1.5);
		if (length > 1)
			assert_true(fabs(seen_of_line.phase - begins) < 0.5);
	}
	free(c.line_points);
}

/* ---- numbers ---- */

static struct dp_buf csv_of(struct plot *p)
{
	struct dp_buf out = DP_BUF_INIT;

	plot_csv(p, &out);
	plot_free(p);
	return out;
}

static void csv_has_what_is_drawn(void **state)
{
	const double x[] = { 0.1, 1.0 / 3, 3 }, y[] = { 1, NAN, INFINITY }, hi[] = { 2, 3, 4 };
	const char *const tips[] = { "say \"13\", please", NULL, NULL }, *const names[] = {
		"sgd", "adam"
	};
	struct plot *p = plot_new(300, 200, "numbers");
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style s = { 0 };
	struct dp_buf b;

	(void)state;
	panel_axis(a, PLOT_X, "a, b", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "error", PLOT_LINEAR);
	panel_set_categories(a, PLOT_Y, names, 2);
	panel_points(a, &s, "found", x, y, 3);
	panel_add_tooltips(a, tips, NULL, 3);
	panel_add_error_bars(a, &s, NULL, x, y, hi, 1);
	panel_add_rects(a, &s, "busy", x, x + 1, y, hi, 1);
	panel_add_reference_line(a, &s, PLOT_Y, 0.25, "line");
	b = csv_of(p);
	assert_string_equal(dp_buf_text(&b),
			    "panel,kind,series,x,x_to,y,y_to,value,x_name,y_name,text\r\n"
			    "1,panel,numbers,,,,,,,,\r\n"
			    "1,x axis,\"a, b\",,,,,,,,\r\n"
			    "1,y axis,error,,,,,,,,\r\n"
			    "1,points,found,0.1,,1,,,,adam,\"say \"\"13\"\", please\"\r\n"
			    "1,points,found,0.3333333333333333,,,,,,,\r\n"
			    "1,points,found,3,,inf,,,,,\r\n"
			    "1,bars,,0.1,,1,2,,,adam,\r\n"
			    "1,blocks,busy,0.1,0.3333333333333333,1,2,,,,\r\n"
			    "1,mark,line,,,0.25,,,,sgd,\r\n");
	dp_buf_free(&b);
}

/* What one calls a study shall not run in the spreadsheet of another. */
static void csv_has_no_formulas(void **state)
{
	const char *const names[] = { "-1", "=1+1", "+x", "-x", "@x", "x=1", "=\"a\",b" };
	struct plot *p = plot_new(300, 200, "numbers");
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style s = { 0 };
	struct dp_buf b;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(names); i++)
		panel_add_reference_line(a, &s, PLOT_Y, -2, names[i]);
	b = csv_of(p);
	assert_string_equal(strstr(dp_buf_text(&b), "1,mark"),
			    "1,mark,-1,,,-2,,,,,\r\n"
			    "1,mark,'=1+1,,,-2,,,,,\r\n"
			    "1,mark,'+x,,,-2,,,,,\r\n"
			    "1,mark,'-x,,,-2,,,,,\r\n"
			    "1,mark,'@x,,,-2,,,,,\r\n"
			    "1,mark,x=1,,,-2,,,,,\r\n"
			    "1,mark,\"'=\"\"a\"\",b\",,,-2,,,,,\r\n");
	dp_buf_free(&b);
}

static void csv_of_cells_and_of_parallel_lines(void **state)
{
	struct dp_buf b = csv_of(heat_figure());

	(void)state;
	assert_int_equal(count(&b, ",cell,"), 2 * 12 * 12);
	assert_int_equal(count(&b, "1,colours,ε,"), 1);
	dp_buf_free(&b);
	b = csv_of(parallel_figure());
	assert_int_equal(count(&b, ",parallel,"), 6 * 4);
	assert_int_equal(count(&b, ",optimiser,adam,"), 3);
	dp_buf_free(&b);
}

/* ---- words ---- */

static void alternatives_tell_kind_axes_and_series(void **state)
{
	struct plot *p = front_figure();
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	plot_write_alt_text(p, &out);
	assert_string_equal(dp_buf_text(&out),
			    "Pareto front. Points and lines of error against ε at δ = "
			    "10⁻⁵ (logarithmic): all points, front, non-private.");
	dp_buf_free(&out);
	plot_free(p);
	p = heat_figure();
	plot_write_alt_text(p, &out);
	assert_non_null(strstr(dp_buf_text(&out), "2 panels"));
	assert_non_null(strstr(dp_buf_text(&out),
			       "Privacy: heat map of ε over epochs against learning "
			       "rate (logarithmic)"));
	dp_buf_free(&out);
	plot_free(p);
}

/* ---- the dark ---- */

/* What the style of a page makes of a colour in the dark. */
static plot_colour in_the_dark(plot_colour colour)
{
	struct dp_buf css = DP_BUF_INIT;
	const char *name = dark_colour_class(colour), *rule;
	char selector[40];

	if (!name)
		return colour;
	plot_write_dark_css(&css);
	snprintf(selector, sizeof selector, ".f-%s{fill:#", name);
	rule = strstr(dp_buf_text(&css), selector);
	assert_non_null(rule);
	colour = (plot_colour)strtoul(rule + strlen(selector), NULL, 16);
	dp_buf_free(&css);
	return colour;
}

/* Luminances by the formula of WCAG 2, with numbers of its own. */
static void colours_are_seen_in_the_dark(void **state)
{
	static const plot_colour text[] = { TITLE_COLOUR, AXIS_COLOUR, NOTE_COLOUR };

	(void)state;
	assert_true(fabs(colour_contrast(0x000000, 0xffffff) - 21) < 1e-9);
	assert_true(fabs(colour_contrast(0x777777, 0xffffff) - 4.478) < 0.001);
	for (size_t i = 0; i < DP_COUNT(text); i++)
		assert_true(colour_contrast(in_the_dark(text[i]), DARK_BACKGROUND) >= 4.5);
	for (unsigned role = PLOT_BLUE; role <= PLOT_GREY; role++)
		if (colour_contrast(in_the_dark(plot_palette(role)), DARK_BACKGROUND) < 3)
			fail_msg("colour %u is lost in the dark", role);
	assert_true(colour_contrast(in_the_dark(plot_palette(PLOT_LIGHT)), DARK_BACKGROUND) > 1.4);
}

/* Colours of a map that a dark ground would swallow stand on a light one. */
static void colours_of_a_map_keep_a_light_ground(void **state)
{
	const double x[] = { 1, 2 };
	struct plot_style s = { .colour = plot_colourmap_lookup(PLOT_MAGMA, 0) };
	struct plot *p = plot_new(300, 200, NULL);
	struct dp_buf page, file;

	(void)state;
	panel_points(plot_panel(p, 0, 0), &s, NULL, x, x, 2);
	page = drawn(p, PLOT_INLINE_SVG);
	file = drawn(p, PLOT_SVG);
	assert_int_equal(count(&page, "class=\"f-card\""), 1);
	assert_int_equal(count(&file, "f-card"), 0);
	dp_buf_free(&page);
	dp_buf_free(&file);
	plot_free(p);
	/* white points on a heat map stay white */
	p = heat_figure();
	page = drawn(p, PLOT_INLINE_SVG);
	assert_int_equal(count(&page, "class=\"s-white\"") + count(&page, "class=\"f-white\""), 0);
	dp_buf_free(&page);
	plot_free(p);
}

/* ---- paper ---- */

static void paper_has_its_width(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct plot *p = figures[i]();
		struct dp_buf svg, png, pdf;
		gdImagePtr im;

		plot_set_print_width(p, 88 / 25.4 * 96);
		svg = drawn(p, PLOT_SVG);
		png = drawn(p, PLOT_PNG);
		pdf = drawn(p, PLOT_PDF);
		im = picture(&png);
		assert_int_equal(count(&svg, " width=\"88mm\" "), 1);
		assert_int_equal(gdImageSX(im), 1330); /* 384 to the inch */
		assert_true(gdImageSY(im) > 400 && gdImageSY(im) < 4000);
		assert_non_null(memmem(pdf.data, pdf.len, "[ 0 0 249.44", 12));
		gdImageDestroy(im);
		dp_buf_free(&svg);
		dp_buf_free(&png);
		dp_buf_free(&pdf);
		plot_free(p);
	}
}

/* Panels that would be too narrow stand below each other; letters name them. */
static void paper_has_fewer_columns(void **state)
{
	struct plot *p = heat_figure();
	struct dp_buf b;

	(void)state;
	plot_set_print_width(p, 333);
	b = drawn(p, PLOT_SVG);
	assert_int_equal(p->columns, 1);
	assert_int_equal(p->rows, 2);
	assert_int_equal(count(&b, ">a</text>"), 1);
	assert_int_equal(count(&b, ">b</text>"), 1);
	dp_buf_free(&b);
	plot_free(p);
	p = heat_figure();
	plot_set_print_width(p, 680);
	assert_int_equal(p->columns, 2);
	plot_free(p);
	p = front_figure();
	plot_set_print_width(p, 333);
	b = drawn(p, PLOT_SVG);
	assert_int_equal(count(&b, ">a</text>"), 0); /* one panel needs no letter */
	dp_buf_free(&b);
	plot_free(p);
}

/* Two heat maps over x from 1 to 2 with these limits of their colours. */
static struct plot *two_maps(double lo, double hi)
{
	const double x[] = { 1, 2 }, z[] = { 3, 4 };
	struct plot *p = plot_new(600, 300, "maps");

	plot_grid(p, 1, 2);
	for (int i = 0; i < 2; i++) {
		struct plot_panel *a = plot_panel(p, 0, i);

		panel_heat(a, PLOT_VIRIDIS, x, 1, x, 1, z + i, PLOT_LINEAR, "error");
		panel_heat_limits(a, PLOT_LINEAR, lo, i ? hi : 5);
	}
	return p;
}

/* Panels whose colours mean the same have one bar for all. */
static void the_same_bar_stands_once(void **state)
{
	const struct {
		double lo, hi;
		size_t bars;
	} cases[] = { { 0, 5, 1 }, { 0, 6, 2 }, { NAN, 5, 2 } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct plot *p = two_maps(cases[i].lo, cases[i].hi);
		struct dp_buf b = drawn(p, PLOT_SVG);

		assert_int_equal(count(&b, ">error</text>"), cases[i].bars);
		dp_buf_free(&b);
		plot_free(p);
	}
}

/* Numbers beside bars stand right of them, all of them, also where the panel ends. */
static void texts_beside_bars_have_room(void **state)
{
	const double x0 = 0, x1 = 10, y0[] = { 0, 0.05 }, y1[] = { 0.04, 0.09 };
	struct plot_style s = { 0 };

	(void)state;
	for (double width = 100; width <= 800; width *= 2) {
		struct plot *p = plot_new((int)width, 200, NULL);
		struct plot_panel *a = plot_panel(p, 0, 0);
		struct canvas c;
		struct dp_buf b;
		double needs;

		for (int i = 0; i < 2; i++) {
			panel_add_rects(a, &s, NULL, &x0, &x1, &y0[i], &y1[i], 1);
			panel_add_value_label(a, x1, (y0[i] + y1[i]) / 2, "98 %, in all 99 %");
		}
		b = drawn(p, PLOT_SVG);
		c = open_canvas(10, 10);
		needs = text_width(&c, FONT_SMALL, "98 %, in all 99 %");
		canvas_close(&c);
		assert_int_equal(count(&b, ">98 %, in all 99 %</text>"), 2);
		if (width > 2 * needs)
			assert_true(axis_to_pixel(&a->axis[PLOT_X], x1) + needs <= width);
		dp_buf_free(&b);
		plot_free(p);
	}
}

/* A box that is open ends nowhere in sight, and its table does not invent an end. */
static void a_box_may_be_open(void **state)
{
	const double x[] = { 1, 2 };
	struct plot *p = plot_new(300, 200, NULL);
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct plot_style s = { 0 };
	struct dp_buf b;

	(void)state;
	panel_axis(a, PLOT_X, NULL, PLOT_LOG);
	panel_points(a, &s, NULL, x, x, 2);
	panel_add_region(a, &s, "better", NAN, 1.5, NAN, 1.5);
	b = csv_of(p);
	assert_int_equal(count(&b, "1,box,better,,1.5,,1.5,,,,"), 1);
	dp_buf_free(&b);
}

/* Beyond z come aa and ab: no two panels have the same letters. */
static void many_panels_have_letters(void **state)
{
	const double x[] = { 0, 1 };
	struct plot *p = plot_new(900, 2000, "panels");

	(void)state;
	plot_grid(p, 19, 3);
	for (int i = 0; i < 57; i++)
		panel_line(plot_panel(p, i / 3, i % 3), &(struct plot_style){ 0 }, NULL, x, x, 2);
	plot_set_print_width(p, 680);
	assert_string_equal(p->panels[25]->letter, "z");
	assert_string_equal(p->panels[26]->letter, "aa");
	assert_string_equal(p->panels[27]->letter, "ab");
	assert_string_equal(p->panels[52]->letter, "ba");
	plot_free(p);
}

/* A page has them as headings; its picture is called so all the same. */
static void titles_can_be_left_out(void **state)
{
	struct plot *p = front_figure();
	struct dp_buf b = drawn(p, PLOT_INLINE_SVG);

	(void)state;
	assert_int_equal(count(&b, ">Pareto front</text>"), 0);
	assert_int_equal(count(&b, "aria-label=\"Pareto front"), 1);
	dp_buf_free(&b);
	b = drawn(p, PLOT_SVG);
	assert_int_equal(count(&b, ">Pareto front</text>"), 1);
	dp_buf_free(&b);
	plot_hide_title(p);
	b = drawn(p, PLOT_SVG);
	assert_int_equal(count(&b, ">Pareto front</text>"), 0);
	dp_buf_free(&b);
	plot_free(p);
}

/* xmllint and the DTD of SVG 1.1 may not be there. */
static void svg_is_valid(void **state)
{
	static const char dtd[] = "/usr/share/xml/w3c-sgml-lib/schema/dtd/"
				  "REC-SVG11-20110816/svg11.dtd";
	char path[] = "/tmp/dpareto-svg-XXXXXX", command[400];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	if (access(dtd, R_OK) != 0 || system("xmllint --version 2>/dev/null") != 0) {
		unlink(path);
		skip();
	}
	snprintf(command, sizeof command, "xmllint --noout --nonet --dtdvalid %s %s", dtd, path);
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		struct plot *p = figures[i]();
		struct dp_buf b = drawn(p, PLOT_SVG);
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		assert_int_equal(fwrite(b.data, 1, b.len, f), b.len);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(system(command), 0);
		dp_buf_free(&b);
		plot_free(p);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_is_the_same_twice),
		cmocka_unit_test(svg_is_xml_with_real_text),
		cmocka_unit_test(hostile_names_stay_text),
		cmocka_unit_test(tips_and_links),
		cmocka_unit_test(clouds_are_small),
		cmocka_unit_test(heat_maps_are_small),
		cmocka_unit_test(numbers_know_no_locale),
		cmocka_unit_test(pdf_has_text_and_no_date),
		cmocka_unit_test(csv_has_what_is_drawn),
		cmocka_unit_test(csv_has_no_formulas),
		cmocka_unit_test(many_panels_have_letters),
		cmocka_unit_test(lines_are_cut_where_they_leave),
		cmocka_unit_test(csv_of_cells_and_of_parallel_lines),
		cmocka_unit_test(alternatives_tell_kind_axes_and_series),
		cmocka_unit_test(colours_are_seen_in_the_dark),
		cmocka_unit_test(colours_of_a_map_keep_a_light_ground),
		cmocka_unit_test(paper_has_its_width),
		cmocka_unit_test(paper_has_fewer_columns),
		cmocka_unit_test(the_same_bar_stands_once),
		cmocka_unit_test(texts_beside_bars_have_room),
		cmocka_unit_test(a_box_may_be_open),
		cmocka_unit_test(titles_can_be_left_out),
		cmocka_unit_test(svg_is_valid),
	};

	return cmocka_run_group_tests(tests, NULL, shutdown_fonts);
}
