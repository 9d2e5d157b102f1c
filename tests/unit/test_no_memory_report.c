/* test_no_memory_report.c - reports when memory ends: what is told then is told whole, or
 * not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "made_studies.h"
#include "reports/figures/figure_list.h"
#include "reports/model/groups_model.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What an operation gave when there was memory enough. */
static struct dp_buf whole;

static int begin_short(void **state)
{
	dp_buf_free(&whole);
	plenty_of_memory(state);
	return made_begin(state);
}

/* Keeps the first, and holds all others against it; takes the text. */
static void assert_whole(struct dp_buf *text)
{
	memory_is_fine();
	assert_false(text->failed);
	if (whole.len == 0)
		dp_buf_puts(&whole, dp_buf_text(text));
	assert_string_equal(dp_buf_text(text), dp_buf_text(&whole));
	dp_buf_free(text);
	memory_is_short_again();
}

/* Three seeds and a grid, with runs that differ and a result that is lost. */
static void make_seeds(void)
{
	uint32_t id[4];

	for (int k = 0; k < 4; k++) {
		id[k] = made_study((const char *const[]){ "a", "b", "c", "grid" }[k], ACCURACY);
		for (int i = 0; i < 4; i++)
			made_result3(id[k], 1 + i + 0.1 * k, 0.9 - 0.1 * i + 0.02 * k, 0, 0.01);
	}
	made_failure(id[2]);
	made_subjects();
	made_report.nstudies = 3;
	made_report.reference = malloc(sizeof *made_report.reference);
	assert_non_null(made_report.reference);
	*made_report.reference = made_report.studies[3];
}

static void ask_groups_of_seeds(void)
{
	static const char *const asked[] = { "seeds=a,b", "parts=c/2", "one=a" };
	struct dp_err err;

	made_report.group_specs = calloc(DP_COUNT(asked), sizeof *made_report.group_specs);
	assert_non_null(made_report.group_specs);
	for (; made_report.ngroup_specs < DP_COUNT(asked); made_report.ngroup_specs++)
		assert_int_equal(dp_group_spec_parse(
					 asked[made_report.ngroup_specs],
					 &made_report.group_specs[made_report.ngroup_specs], &err),
				 DP_OK);
}

/* ---- groups ---- */

static int make_groups_again(void *arg)
{
	struct dp_err err = { 0 };
	int code = study_groups_build(&made_report, &err);

	(void)arg;
	study_groups_free(made_report.groups);
	made_report.groups = NULL;
	return code;
}

static int tell_groups(void *arg)
{
	struct dp_buf text = DP_BUF_INIT;
	struct report_model facts;
	struct dp_err err = { 0 };
	json_t *told;
	int code = report_model_build(&made_report, NULL, 0, &facts, &err);

	(void)arg;
	if (code != DP_OK)
		return code;
	told = groups_report_build_json(&facts);
	memory_is_fine();
	if (told) {
		char *dumped = json_dumps(told, JSON_SORT_KEYS);

		dp_buf_puts(&text, dumped);
		free(dumped);
		assert_whole(&text);
	}
	report_model_free(&facts);
	json_decref(told);
	memory_is_short_again();
	return told ? DP_OK : DP_E_NOMEM;
}

static void groups_are_told_whole(void **state)
{
	struct dp_err err;

	(void)state;
	make_seeds();
	ask_groups_of_seeds();
	with_little_memory(make_groups_again, NULL);
	assert_int_equal(study_groups_build(&made_report, &err), DP_OK);
	with_little_memory(tell_groups, NULL);
}

/* ---- figures ---- */

/* Gathers, describes and words a figure; it is not painted. */
static int describe_figure(void *arg)
{
	const struct figure *f = arg;
	struct dp_buf text = DP_BUF_INIT;
	const char *why = NULL;
	struct dp_err err = { 0 };
	void *data;
	int code;

	memory_is_fine();
	data = calloc(1, f->data_size);
	memory_is_short_again();
	code = f->gather(&made_report, data, &why, &err);
	assert_null(why);
	if (code == DP_OK) {
		struct plot *p = f->draw(data);

		code = plot_csv(p, &text, &err);
		plot_free(p);
	}
	if (code == DP_OK) {
		f->caption(data, &text);
		code = text.failed ? DP_E_NOMEM : DP_OK;
	}
	if (code == DP_OK)
		assert_whole(&text);
	dp_buf_free(&text);
	f->free_data(data);
	free(data);
	return code;
}

static void figures_are_described_whole(void **state)
{
	static const struct figure *const figures[] = {
		&figure_hypervolume_groups,
		&figure_seeds,
		&figure_attainment,
		&figure_panels,
		&figure_front,
		&figure_comparison,
		&figure_scatter,
	};
	struct dp_err err;

	(void)state;
	make_seeds();
	ask_groups_of_seeds();
	assert_int_equal(study_groups_build(&made_report, &err), DP_OK);
	for (size_t i = 0; i < DP_COUNT(figures); i++) {
		dp_buf_free(&whole);
		with_little_memory(describe_figure, (void *)(uintptr_t)figures[i]);
	}
}

/* ---- what to take ---- */

static int choose_again(void *arg)
{
	struct choices chosen;
	struct dp_err err = { 0 };
	int code = choices_find(&made_report.studies[0], &chosen, &err);

	(void)arg;
	if (code == DP_OK)
		assert_int_equal(chosen.recommended, 3);
	return code;
}

static int tell_study(void *arg)
{
	struct dp_buf text = DP_BUF_INIT;
	struct report_model facts;
	struct dp_err err = { 0 };
	int code = report_model_build(&made_report, NULL, 0, &facts, &err);

	(void)arg;
	if (code != DP_OK)
		return code;
	memory_is_fine();
	dp_buf_printf(&text, "%s %s %s", facts.recommendation->sentence,
		      facts.recommendation->query_command,
		      facts.recommendation->recommended->command);
	assert_whole(&text);
	report_model_free(&facts);
	memory_is_short_again();
	return DP_OK;
}

static void a_recommendation_is_told_whole(void **state)
{
	(void)state;
	make_seeds();
	with_little_memory(choose_again, NULL);
	with_little_memory(tell_study, NULL);
}

static int end_short(void **state)
{
	dp_buf_free(&whole);
	plenty_of_memory(state);
	return made_free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(groups_are_told_whole, begin_short, end_short),
		cmocka_unit_test_setup_teardown(figures_are_described_whole, begin_short,
						end_short),
		cmocka_unit_test_setup_teardown(a_recommendation_is_told_whole, begin_short,
						end_short),
	};

	return cmocka_run_group_tests(tests, NULL, made_forget_fonts);
}
