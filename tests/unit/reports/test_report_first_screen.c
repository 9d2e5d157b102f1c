/* test_report_first_screen.c - the first screen of a report: what it recommends, in which words,
 * and with which command. */
#include "tests/unit/support/made_journal.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct report_recommendation *recommended(void)
{
	const struct report_model *f = find_facts();

	assert_non_null(f->recommendation);
	assert_non_null(f->recommendation->recommended);
	return f->recommendation;
}

static const char *sentence(void)
{
	recommended();
	return fact_text("recommendation/sentence");
}

static void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("not there: '%s' in '%s'", words, text);
}

/* The report as Markdown, without its JSON. */
static char *words_of_report(enum doc_format form)
{
	struct doc *d = doc_new(form);
	struct dp_buf out = DP_BUF_INIT;

	report_document_write(d, find_facts());
	doc_render(d, &out);
	doc_free(d);
	return dp_buf_detach(&out);
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

/* Trials 1 and 2 cannot be told apart: the standard error of the best, 0.02 / sqrt(3), is
 * more than their difference; trial 0 costs less and is far worse. */
static void three_points(double best)
{
	begin(gaussian);
	evaluate(0, 50, 0.68, 0.7, 0.72);
	evaluate(1, 5, 0.88, 0.9, 0.92);
	evaluate(2, 1, best - 0.02, best, best + 0.02);
	load(false);
}

static void test_one_standard_error(void **state)
{
	const struct report_recommendation *r;

	(void)state;
	three_points(0.905);
	r = recommended();
	assert_int_equal(get_count(r->recommended->point, "trial"), 1);
	assert_int_equal(get_count(r->best_utility->point, "trial"), 2);
	assert_int_equal(r->rule, DP_POINT_ONE_SE);
	assert_string_equal(fact_text("recommendation/ask"), "dparetoctl front s --one-se");
	assert_string_equal(r->recommended->source, "runs");
	/* 4.303 standard errors of three runs */
	assert_near(r->recommended->value, 0.1, 1e-12);
	assert_near(r->recommended->high - r->recommended->low, 2 * 4.30265 * 0.02 / sqrt(3), 1e-5);
	assert_near(r->gain_to_best.gain, 0.005, 1e-12);
	assert_near(r->gain_to_best.noise, 2 * sqrt(2) * 0.02 / sqrt(3), 1e-9);
	assert_false(r->gain_to_best.resolved);
	assert_says(fact_text("recommendation/sentence"),
		    "the error is 10 % (95 %: 5 to 15, by the runs).");
	assert_says(fact_text("recommendation/sentence"),
		    "buys 0.5 percentage points, less than the runs can "
		    "resolve (3.3) and less than 400 test records can (3).");
	assert_says(fact_text("recommendation/sentence"), "Without privacy: not measured.");
	finish(state);
	three_points(0.95); /* more than one standard error: then that is taken */
	r = recommended();
	assert_int_equal(get_count(r->recommended->point, "trial"), 2);
	assert_false(r->has_better_utility);
	assert_says(fact_text("recommendation/sentence"),
		    "No larger epsilon that was tested is better.");
}

/* Half of what the best has over the anti-ideal is enough for the strict one. */
static void test_rows(void **state)
{
	const struct report_recommendation *r;
	char *text;

	(void)state;
	three_points(0.905);
	r = recommended();
	assert_int_equal(r->nchoices, 3);
	assert_string_equal(r->choices[0].name, "strict");
	assert_int_equal(get_count(r->choices[0].point, "trial"), 0);
	text = words_of_report(DOC_MARKDOWN);
	assert_says(text, "| strict | 0 |");
	assert_says(text, "| recommended | 1 |");
	assert_says(text, "| loose | 2 |");
	free(text);
	made_majority = 0.65; /* guessing: now it is too near to that */
	finish(state);
	begin(gaussian);
	made_majority = 0.65;
	evaluate(0, 50, 0.68, 0.7, 0.72);
	evaluate(1, 5, 0.88, 0.9, 0.92);
	load(false);
	r = recommended();
	assert_int_equal(get_count(r->choices[0].point, "trial"), 1);
	text = words_of_report(DOC_MARKDOWN);
	assert_says(text, "| strict, recommended, loose | 1 |");
	assert_says(text, "Always guessing the commonest class: 35.0 %.");
	free(text);
}

static void test_guessing_is_not_praised(void **state)
{
	(void)state;
	begin(gaussian);
	made_majority = 0.9;
	evaluate(0, 5, 0.8, 0.9, 0.95);
	load(false);
	assert_true(recommended()->recommended->no_better);
	assert_says(fact_text("recommendation/sentence"),
		    ", no better than always guessing the commonest class.");
}

static void test_no_meaningful_guarantee(void **state)
{
	const struct report_recommendation *r;

	(void)state;
	begin(svt);
	evaluate(0, 100, 0.5, 0.52, 0.54);
	evaluate(1, 0.1, 0.9, 0.9, 0.9);
	load(false);
	r = recommended();
	assert_int_equal(get_count(r->recommended->point, "trial"), 0);
	assert_int_equal(get_count(r->best_utility->point, "trial"), 0);
	assert_int_equal(get_count(r->best_over_limit->point, "trial"), 1);
	assert_true(r->best_over_limit->meaningless && !r->recommended->meaningless);
	assert_near(r->max_cost, 10, 0);
	assert_string_equal(fact_text("recommendation/ask"),
			    "dparetoctl front s --one-se --max epsilon=10");
	assert_says(fact_text("recommendation/sentence"),
		    "No larger epsilon up to 10 that was tested is better. "
		    "Beyond epsilon 10, the anti-ideal, the best is 10.0 %, "
		    "at epsilon 58.5: no meaningful guarantee.");
	finish(state);
	begin(svt); /* with nothing else to take, it is said of what is taken */
	evaluate(0, 0.1, 0.9, 0.9, 0.9);
	load(false);
	r = recommended();
	assert_true(r->recommended->meaningless);
	assert_true(isnan(r->max_cost) && !r->best_over_limit);
	assert_says(fact_text("recommendation/sentence"),
		    ", but such an epsilon is no meaningful guarantee.");
}

/* More than one standard error of the best, but no more than the noise of both: the best
 * is recommended, and the other has a row. */
static void test_enough(void **state)
{
	const struct report_recommendation *r;
	char *text;

	(void)state;
	three_points(0.92);
	r = recommended();
	assert_int_equal(r->nchoices, 4);
	assert_int_equal(get_count(r->cheaper_equivalent->point, "trial"), 1);
	assert_says(fact_text("recommendation/sentence"),
		    "it is 10 % already: 2 percentage points apart, less than "
		    "the runs can resolve (3.3)");
	text = words_of_report(DOC_MARKDOWN);
	assert_says(text, "| strict | 0 |");
	assert_says(text, "| enough | 1 |");
	assert_says(text, "| recommended, loose | 2 |");
	free(text);
	finish(state);
	begin(gaussian); /* the noise of a worse point does not make it as good */
	evaluate(0, 5, 0.4, 0.7, 1);
	evaluate(1, 1, 0.94, 0.95, 0.96);
	load(false);
	r = recommended();
	assert_int_equal(get_count(r->recommended->point, "trial"), 1);
	assert_null(r->cheaper_equivalent);
}

/* What it cost stands right below the rows. */
static void test_search_cost(void **state)
{
	const char *rows, *cost, *command;
	char *text;

	(void)state;
	three_points(0.905);
	text = words_of_report(DOC_MARKDOWN);
	rows = strstr(text, "| loose | 2 |");
	cost = strstr(text, "The search made 9 on the same records");
	command = strstr(text, "``` sh");
	assert_true(rows && cost && command && rows < cost && cost < command);
	free(text);
	text = words_of_report(DOC_HTML); /* a number keeps its sign */
	assert_says(text, "the error is 10\xc2\xa0% (95\xc2\xa0%: 5 to 15");
	free(text);
}

/* A line that the front is better than is not left without a word. */
static void test_beyond_a_baseline(void **state)
{
	struct baseline *line = calloc(1, sizeof *line);

	(void)state;
	three_points(0.905);
	*line = (struct baseline){ strdup("non-private"), 0.11 };
	report.baselines = line;
	report.nbaselines = 1;
	assert_says(sentence(),
		    "non-private: 11.0 %; the front is better by 1.5 percentage points, "
		    "within the noise of runs and test set.");
	report_model_free(&facts);
	line->value = 0.3;
	assert_says(sentence(), "more than its noise: was that measured on");
	report_model_free(&facts);
	line->value = 0.05;
	assert_null(strstr(sentence(), "the front is better"));
}

/* The command of what is recommended, where the trainer has this one. */
static char *command_with(char **argv, bool public)
{
	struct dp_trainer *t = &report.studies[0].state->spec->trainer;
	char **before = t->argv, *command;

	t->argv = argv;
	report.is_public = public;
	report_model_free(&facts);
	command = strdup((recommended(), fact_text("recommendation/command")));
	t->argv = before;
	report.is_public = false;
	return command;
}

static void test_command(void **state)
{
	static char *argv[] = { "dpareto-train", "linear", "--data", "my data", NULL };
	static char *own[] = { "./train.py", NULL };
	static const struct {
		char **argv;
		bool public;
		const char *command;
	} cases[] = {
		/* private data is not trained on with noise that everybody knows */
		{ argv, false, "dpareto-train linear --data 'my data' --secure --set sigma=5" },
		{ argv, true, "dparetoctl remeasure s --points 1" },
		{ own, false, "dparetoctl remeasure s --points 1" },
	};

	(void)state;
	three_points(0.905);
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char *command = command_with(cases[i].argv, cases[i].public);

		assert_string_equal(command, cases[i].command);
		free(command);
	}
}

/* What is the same of all points is said once, and that of any is in report.json. */
static void test_statements_once(void **state)
{
	char *text;

	(void)state;
	three_points(0.905);
	text = words_of_report(DOC_MARKDOWN);
	assert_int_equal(count_of(text, "Unit of privacy: one training record."), 1);
	assert_int_equal(count_of(text, "One training at trial 1 of study s"), 1);
	assert_int_equal(count_of(text, "One training at trial"), 1);
	assert_says(text, "| trial | epsilon | Noise | All 3 runs of this point together |");
	assert_null(strstr(text, "\xe2\x80\xa6"));
	assert_says(text, "select(.trial == 2 and .at == null) | .statements[\"epsilon\"]");
	for (size_t i = 0; i < json_array_size(fact("front")); i++)
		assert_says(get_text(get_json(json_array_get(fact("front"), i), "statements"),
				     "epsilon"),
			    "Unit of privacy: one");
	free(text);
}

/* One title, sections below it, and rows that can be linked to. */
static void test_page(void **state)
{
	char *text;

	(void)state;
	three_points(0.905);
	text = words_of_report(DOC_HTML);
	assert_int_equal(count_of(text, "<h1>"), 1);
	assert_int_equal(count_of(text, "<details>"), count_of(text, "<h2>"));
	assert_says(text, "<tr id=\"trial-2\"><th scope=\"row\" class=\"n\">2</th>");
	assert_int_equal(count_of(text, "<table>"), count_of(text, "<caption>"));
	assert_true(strstr(text, "class=\"badges\"") < strstr(text, "class=\"lead\""));
	assert_true(strstr(text, "Points to take") < strstr(text, "<details>"));
	assert_says(text, "<span class=\"badge good\">finished, 3 of 10 evaluations</span>");
	free(text);
}

/* Nothing of privacy stands before the cause. */
static void test_failed(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	propose(0, 3);
	attempt(0, 0, DP_END_EXIT_CODE, NULL, "no such data");
	ended(0, "failed", NAN, NAN);
	load(false);
	text = words_of_report(DOC_HTML);
	assert_says(text, "no such data");
	assert_true(strstr(text, "no such data") < strstr(text, "<details>"));
	assert_true(strstr(text, "no such data") < strstr(text, "rivacy"));
	assert_null(facts.recommendation);
	free(text);
}

/* Searched, without noise and measured again are three fronts. */
static void test_fronts_apart(void **state)
{
	(void)state;
	three_points(0.905);
	find_facts();
	assert_string_equal(fact_text("fronts/shown"), "searched");
	assert_int_equal(fact_count("fronts/searched/points"), 3);
	assert_true(json_is_null(fact("fronts/remeasured")));
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, finish)
	const struct CMUnitTest tests[] = {
		T(test_one_standard_error),
		T(test_rows),
		T(test_guessing_is_not_praised),
		T(test_no_meaningful_guarantee),
		T(test_enough),
		T(test_search_cost),
		T(test_beyond_a_baseline),
		T(test_command),
		T(test_statements_once),
		T(test_page),
		T(test_failed),
		T(test_fronts_apart),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
