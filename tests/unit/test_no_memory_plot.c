/* test_no_memory_plot.c - figures when memory ends: every form of them tells it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "made_plots.h"

struct wish {
	struct plot *(*make)(void);
	enum plot_format form;
	bool paper;
};

static int draw_wish(void *arg)
{
	const char *const tips[] = { "a", "b" };
	const struct wish *w = arg;
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err = { 0 };
	struct plot *p = w->make();
	int code;

	panel_add_tooltips(plot_panel(p, 0, 0), tips, tips, 2);
	if (w->paper)
		plot_set_print_width(p, 333);
	code = plot_render(p, w->form, &out, &err);
	if (code == DP_OK)
		code = plot_csv(p, &out, &err);
	plot_free(p);
	dp_buf_free(&out);
	return code;
}

static void every_form_tells_that_memory_ran_out(void **state)
{
	struct wish wishes[] = { { heat_figure, PLOT_SVG, true },
				 { front_figure, PLOT_INLINE_SVG, false },
				 { parallel_figure, PLOT_PDF, false },
				 { parallel_figure, PLOT_PNG, false } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(wishes); i++)
		with_little_memory(draw_wish, &wishes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_form_tells_that_memory_ran_out, plenty_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, shutdown_fonts);
}
