/* test_figure_render.c - how figures become pictures: made once, why there is none, chosen by name.
 */
#include "tests/unit/support/made_studies.h"
#include "reports/figures/figure_render.h"
#include "reports/model/report_data.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* A figure that counts how often it is made, and does what the test asks for. */
static struct {
	int made;
	const char *absent;
	int code;
} seen;

static int counted_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	(void)r;
	assert_non_null(arena_calloc(&f->mem, 3, 100)); /* figure_render() frees it */
	seen.made++;
	if (seen.absent)
		return dp_fail(err, DP_E_NOT_FOUND, "%s", seen.absent);
	if (seen.code != DP_OK)
		return dp_fail(err, seen.code, "out of ink");
	f->plot = plot_new(200, 100, "counted");
	dp_buf_printf(&f->caption, "It is %d.", 42);
	return DP_OK;
}

static const struct figure counted = {
	.name = "counted",
	.title = "Counted",
	.make = counted_make,
};

static struct rendered_figure draw_counted(const char *absent, int code)
{
	struct rendered_figure p;

	memset(&seen, 0, sizeof seen);
	seen.absent = absent;
	seen.code = code;
	figure_render(&made_report, &counted, &p);
	assert_int_equal(seen.made, 1);
	return p;
}

static void all_forms_are_of_one_making(void **s)
{
	struct rendered_figure p = draw_counted(NULL, DP_OK);

	(void)s;
	assert_true(p.png.len > 0 && !p.has_nothing_to_show && !p.reason[0]);
	assert_string_equal(dp_buf_text(&p.caption), "It is 42.");
	rendered_figure_free(&p);
}

static void nothing_to_show_is_a_reason(void **s)
{
	struct rendered_figure p = draw_counted("there is nothing", DP_OK);

	(void)s;
	assert_true(p.has_nothing_to_show && p.png.len == 0);
	assert_string_equal(p.reason, "there is nothing");
	rendered_figure_free(&p);
}

static void a_failure_is_a_sentence(void **s)
{
	struct rendered_figure p = draw_counted(NULL, DP_E_INVALID);

	(void)s;
	assert_true(!p.has_nothing_to_show && p.png.len == 0);
	assert_string_equal(p.reason, "out of ink");
	rendered_figure_free(&p);
}

/* Without a wish those that have nothing to show are left out; who asks for one by its
 * name is told. */
static void wishes(void **s)
{
	struct rendered_figure *list;
	struct dp_err err;
	size_t n;

	(void)s;
	made_study("s", LOWER_BOTH);
	made_subjects();
	assert_int_equal(figures_render(&made_report, NULL, &list, &n, &err), DP_OK);
	assert_int_equal(n, 0);
	rendered_figures_free(list, n);
	assert_int_equal(figures_render(&made_report, "clouds,front", &list, &n, &err), DP_OK);
	assert_int_equal(n, 2);
	assert_true(list[0].has_nothing_to_show && list[1].has_nothing_to_show &&
		    list[1].png.len == 0);
	assert_string_equal(list[0].reason, "no trial has given a result");
	assert_string_equal(list[1].figure->name, "clouds");
	assert_non_null(strstr(list[1].reason, "no two studies"));
	rendered_figures_free(list, n);
	assert_int_equal(figures_render(&made_report, "front,frnt", &list, &n, &err), DP_E_USAGE);
	assert_non_null(strstr(err.msg, "'frnt'"));
}

/* Only what was asked for is drawn; the page has its picture, and the numbers are there,
 * in any case. */
static void forms_that_were_asked_for(void **s)
{
	struct rendered_figure p;

	(void)s;
	for (unsigned formats = 0; formats < 8; formats++) {
		made_report.figure_output = (struct figure_output){ .formats = formats };
		p = draw_counted(NULL, DP_OK);
		assert_true(rendered_figure_is_drawn(&p) && p.csv.len && p.alt.len);
		assert_int_equal(p.png.len > 0, (formats & FIGURE_PNG) != 0);
		assert_int_equal(p.svg.len > 0, (formats & FIGURE_SVG) != 0);
		assert_int_equal(p.pdf.len > 0, (formats & FIGURE_PDF) != 0);
		assert_string_equal(rendered_figure_extension(&p), formats & FIGURE_PNG   ? "png"
								   : formats & FIGURE_SVG ? "svg"
								   : formats & FIGURE_PDF ? "pdf"
											  : "csv");
		rendered_figure_free(&p);
	}
}

/* What people call a study is in its pictures; a label for none is a mistake. */
static void labels_of_studies(void **s)
{
	struct study_label labels[] = { { "s", "LogReg + SGD" }, { "t", "x" } };
	struct rendered_figure *list;
	struct dp_err err;
	size_t n;

	(void)s;
	made_result(made_study("s", LOWER_BOTH), 1, 2);
	made_subjects();
	made_report.labels = labels;
	made_report.nlabels = 1;
	made_report.figure_output.formats = FIGURE_SVG;
	assert_int_equal(report_data_apply_labels(&made_report, &err), DP_OK);
	assert_string_equal(study_data_name(&made_report.studies[0]), "LogReg + SGD");
	assert_int_equal(figures_render(&made_report, "front", &list, &n, &err), DP_OK);
	assert_non_null(strstr(dp_buf_text(&list[0].svg), "LogReg + SGD</text>"));
	rendered_figures_free(list, n);
	made_report.nlabels = 2;
	assert_int_equal(report_data_apply_labels(&made_report, &err), DP_E_USAGE);
	assert_non_null(strstr(err.msg, "'t'"));
	made_report.labels = NULL;
	made_report.nlabels = 0;
}

static void names_are_whole(void **s)
{
	char file[FIGURE_FILENAME_LEN];

	(void)s;
	for (size_t i = 0; report_figures[i]; i++) {
		const struct figure *f = report_figures[i];

		assert_ptr_equal(figure_find(f->name, strlen(f->name)), f);
		assert_non_null(f->make);
	}
	assert_null(figure_find("fron", 4));
	assert_null(figure_find("", 0));
	assert_string_equal(figure_format_filename(&counted, "png", file), "counted.png");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, made_begin, made_free)
	const struct CMUnitTest tests[] = {
		T(all_forms_are_of_one_making),
		T(nothing_to_show_is_a_reason),
		T(a_failure_is_a_sentence),
		T(wishes),
		T(forms_that_were_asked_for),
		T(labels_of_studies),
		T(names_are_whole),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
