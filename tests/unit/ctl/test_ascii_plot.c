/* test_ascii_plot.c - pictures in characters, and lines that give way. */
#include "ctl/ui/elastic_layout.h"
#include "ctl/ui/ascii_plot.h"
#include "ctl/text_format.h"
#include "tests/unit/support/ctl_run.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

static void sketch_is(const struct ctl_ascii_plot *s, const char *want)
{
	struct dp_buf out = DP_BUF_INIT;

	setlocale(LC_CTYPE, "C.UTF-8");
	assert_true(ctl_ascii_plot_draw(s, &out));
	assert_string_equal(dp_buf_text(&out), want);
	dp_buf_free(&out);
}

/* Ends at the ends of the axes, of a log axis at equal ratios; braille or plain. */
static void test_drawn(void **state)
{
	static const double points[] = { 0.1, 0.5, 1.2, 0.31, 10, 0.1, NAN, 0, INFINITY, 2 };
	struct ctl_ascii_plot s = { .x = { "epsilon", true, true },
				    .y = { "error", false, false },
				    .points = points,
				    .n_points = 5,
				    .columns = 36,
				    .rows = 8 };

	(void)state;
	sketch_is(&s, "error\n"
		      "0.5 |*\n"
		      "    |\n"
		      "    |                *\n"
		      "    |\n"
		      "0.1 |                              *\n"
		      "    +-------------------------------\n"
		      "     0.1      epsilon (log)       10\n");
	s.utf8 = true;
	sketch_is(&s, "error\n"
		      "0.5 │⠁\n"
		      "    │\n"
		      "    │                ⠐\n"
		      "    │\n"
		      "0.1 │                              ⢀\n"
		      "    └───────────────────────────────\n"
		      "     0.1      epsilon (log)       10\n");
}

/* An epsilon is never shown below what it is, at both ends. */
static void test_ends_are_rounded_up(void **state)
{
	static const double points[] = { 0.123412, 1, 9.87651, 0 };
	struct ctl_ascii_plot s = { .x = { "epsilon", true, true },
				    .y = { "error", false, false },
				    .points = points,
				    .n_points = 2,
				    .columns = 80,
				    .rows = 7 };
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	assert_true(ctl_ascii_plot_draw(&s, &out));
	assert_non_null(strstr(dp_buf_text(&out), " 0.1235 "));
	assert_non_null(strstr(dp_buf_text(&out), " 9.877\n"));
	dp_buf_free(&out);
}

/* Any size: no wider and no taller than it may be, or nothing. */
static void test_sizes(void **state)
{
	static const double points[] = { 1e-300, -1.2345e-300, 1e300, 1.2345e300, 1, 1, -5, 7 };

	(void)state;
	for (int columns = 0; columns < 120; columns += 3)
		for (int rows = 0; rows < 40; rows += 2) {
			struct ctl_ascii_plot s = { .x = { "epsilon", true, true },
						    .y = { "a_rather_long_name", true, false },
						    .points = points,
						    .n_points = 4,
						    .columns = columns,
						    .rows = rows,
						    .utf8 = rows % 4 == 0 };
			struct dp_buf out = DP_BUF_INIT;
			bool drawn = ctl_ascii_plot_draw(&s, &out);
			int lines = 0;

			assert_int_equal(drawn, columns >= CTL_ASCII_PLOT_MIN_COLUMNS &&
							rows >= CTL_ASCII_PLOT_MIN_ROWS);
			for (char *line = out.data ? strtok(out.data, "\n") : NULL; line;
			     line = strtok(NULL, "\n"), lines++)
				assert_true(ctl_text_width(line) <= columns);
			assert_true(drawn ? lines <= rows : out.len == 0);
			dp_buf_free(&out);
		}
}

static void test_too_little(void **state)
{
	static const double same[] = { 1, 2, 1, 2 }, one[] = { 1, 2, NAN, 3 };
	struct ctl_ascii_plot s = { .x = { "a", false, false },
				    .y = { "b", false, false },
				    .points = one,
				    .n_points = 2,
				    .columns = 40,
				    .rows = 8 };
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	assert_false(ctl_ascii_plot_draw(&s, &out));
	assert_int_equal(out.len, 0);
	s.points = same; /* no width: in the middle */
	assert_true(ctl_ascii_plot_draw(&s, &out));
	assert_non_null(strchr(dp_buf_text(&out), '*'));
	dp_buf_free(&out);
}

static void test_lines(void **state)
{
	struct ctl_layout l = { 0 };
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	ctl_layout_add_line(&l, 0, "first");
	ctl_layout_add_line(&l, 5, "least");
	ctl_layout_add_line(&l, 2, "second");
	ctl_layout_add_line(&l, 5, "least of all");
	ctl_layout_insert_lines(&l, 1, 1, "\nbetween\n");
	ctl_layout_format(&l, &out);
	assert_string_equal(dp_buf_text(&out), "first\n\nbetween\nleast\nsecond\nleast of all\n");
	for (size_t most = 9; most-- > 0;) {
		ctl_layout_fit_rows(&l, most);
		assert_true(l.n_lines <= most);
		if (most == 5)
			assert_string_equal(l.lines[3].text, "least");
		if (most == 4)
			assert_string_equal(l.lines[3].text, "second");
		if (most == 1)
			assert_string_equal(l.lines[0].text, "first");
	}
	ctl_layout_free(&l);
	dp_buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawn), cmocka_unit_test(test_ends_are_rounded_up),
		cmocka_unit_test(test_sizes), cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
