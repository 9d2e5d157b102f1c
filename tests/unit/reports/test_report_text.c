/* test_report_text.c - what a report says, and what a public one leaves out. */
#include "tests/unit/support/made_journal.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A number that is no acquisition is told, not looked up beyond the end of the words. */
static void test_acquisition_without_a_name(void **state)
{
	struct dp_search *search;

	(void)state;
	begin(gaussian);
	load(false);
	search = &report.studies[0].state->spec->search;
	assert_null((find_facts(), fact_text("settings/acquisition"))); /* it takes random points */
	search->method = DP_METHOD_DPARETO;
	assert_string_equal((find_facts(), fact_text("settings/acquisition")), "ehvi");
	search->acquisition = DP_ACQUISITION_RANDOM;
	assert_string_equal((find_facts(), fact_text("settings/acquisition")), "random");
	search->acquisition = DP_ACQUISITION_RANDOM + 1;
	assert_string_equal((find_facts(), fact_text("settings/acquisition")),
			    "one that has no name");
}

/* The names of all members of an object, in their order. */
static void list_names(json_t *o, struct dp_buf *out)
{
	const char *name;
	json_t *v;

	dp_buf_clear(out);
	json_object_foreach (o, name, v)
		dp_buf_printf(out, "%s ", name);
}

/* report.json is read by programs: what it is made of keeps its names. */
static void test_names_in_json(void **state)
{
	static const struct {
		const char *list; /* a member, of a list its first element; NULL: all */
		const char *names;
	} parts[] = {
		{ NULL, "version study state reason evaluations failed diverged "
			"hypervolume anti_ideal front hypervolume_denoised label public "
			"data seeds seeds_warning budget "
			"privacy_objective utility_objective objectives recommendation "
			"rows fronts headline bests "
			"privacy declared released optimism models importance compared "
			"baselines majority "
			"figures "
			"settings "
			"failures "
			"spent reproduce " },
		{ "front", "trial at parameters objectives spread denoised interval runs "
			   "remeasured metrics "
			   "checks statements " },
		{ "recommendation",
		  "name trial at parameters objectives interval no_better meaningless "
		  "command rule ask limit beyond to_loose enough from_enough sentence " },
		{ "rows", "name trial at parameters objectives interval no_better "
			  "meaningless command " },
		{ "fronts", "shown searched denoised remeasured " },
		{ "headline", "epsilon trial at spent value runs " },
		{ "privacy", "objective mechanism summary parts unit relation sampling keys "
			     "records delta delta_times_records accountant "
			     "accountant_text theorem source noise warning composed " },
		{ "optimism", "chosen_from trials runs no_models objectives " },
		{ "settings", "method acquisition front evaluations parallel cost "
			      "max_cost order runs "
			      "one_run_per_process initial initial_from max_time timeout "
			      "memory retries path parameters constraints " },
		{ "failures", "failed diverged attempts waypoints_kept messages_left_out groups " },
		{ "spent", "evaluations attempts trainings walked elapsed_seconds "
			   "training_seconds cpu_seconds peak_memory " },
		{ "reproduce", "study_file command seed versions host path journal "
			       "created updated " },
	};
	struct dp_buf names = DP_BUF_INIT;

	(void)state;
	begin(gaussian);
	evaluate(0, 50, 0.9, 0.7, 0.8); /* epsilon below 0.1 */
	load(false);
	find_facts();
	for (size_t i = 0; i < DP_COUNT(parts); i++) {
		json_t *o = fact(parts[i].list ? parts[i].list : "");

		list_names(json_is_array(o) ? json_array_get(o, 0) : o, &names);
		assert_string_equal(dp_buf_text(&names), parts[i].names);
	}
	dp_buf_free(&names);
}

static bool every_trial_has_at(const json_t *v)
{
	bool good = !json_object_get(v, "trial") || json_object_get(v, "at");
	const char *name;
	json_t *part;
	size_t i;

	json_object_foreach ((json_t *)v, name, part)
		good = good && every_trial_has_at(part);
	json_array_foreach (v, i, part)
		good = good && every_trial_has_at(part);
	return good;
}

static void test_waypoints_in_words(void **state)
{
	static const char *const words[] = {
		"| 0@1 |",
		"| 1@4 |",
		"| 0 |",
		"trial 1@4 of study s",
		"Published: the model at epochs = 4. ",
		"Planned end: epochs = 32, epsilon ",
		"covers every iterate",
		"Each training counts in full",
		"5 results of 2 trials",
		"2 waypoints of them are among the results",
		"96 epochs in all",
		"epochs, in all at most 300",
	};
	char *text;

	(void)state;
	walk_facts();
	assert_true(every_trial_has_at(facts.json));
	assert_int_equal(fact_count("front/1/at"), 4);
	assert_true(json_is_null(fact("front/2/at")));
	text = whole(DOC_MARKDOWN);
	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (!strstr(text, words[i]))
			fail_msg("not there: %s", words[i]);
	free(text);
}

/* Two of ten trainings of a random search: the odometer, which nobody journaled. */
static void test_odometer_words(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	evaluate(1, 10, 0.5, 0.5, 0.5);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "Ville"));
	assert_non_null(strstr(text, "had all settings been fixed"));
	assert_non_null(strstr(text, "the journal of this study does not have them"));
	free(text);
}

/* Two of ten trainings were made; nothing about their sum is a matter of luck. */
static void test_pure_words(void **state)
{
	char *text;

	(void)state;
	begin(svt);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	evaluate(1, 10, 0.5, 0.5, 0.5);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "a sum: pure epsilons"));
	assert_null(strstr(text, "Ville"));
	assert_null(strstr(text, "had all settings been fixed"));
	free(text);
}

/* Messages that are no UTF-8 do not reach JSON, and do not end it either. */
static void test_broken_texts(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	propose(0, 3);
	attempt(0, 0, DP_END_EXIT_CODE, NULL, "\xff\xfe");
	ended(0, "failed", NAN, NAN);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "trial 0: (a text that is not UTF-8)"));
	assert_non_null(strstr(text, "\"message\":\"(a text that is not UTF-8)\""));
	free(text);
}

static void test_public_has_no_seed(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	propose(1, 3);
	attempt(1, 0, DP_END_EXIT_CODE, NULL, "run with seed " SEED " failed");
	ended(1, "failed", NAN, NAN);
	load(true);
	text = whole(DOC_MARKDOWN);
	assert_null(strstr(text, SEED));
	assert_non_null(strstr(text, "The seed is left out"));
	assert_non_null(strstr(text, "mechanism: gaussian")); /* the rest of the file */
	free(text);
	report.is_public = false;
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "seed " SEED " failed"));
	assert_non_null(strstr(text, "Keep it to yourself"));
	free(text);
}

/* The seed and the rest on one line: then nothing of the file is shown. */
static void test_public_flow_style(void **state)
{
	static const char flow[] =
		"{study: s, \"se\\x65d\": " SEED ", trainer: {command: [x], runs: 3}, "
		"parameters: {sigma: {type: float, range: [0.1, 100]}}, objectives: "
		"{epsilon: {privacy: {mechanism: gaussian, sigma: sigma, delta: 1e-5}}, "
		"error: {metric: accuracy, of: \"1 - accuracy\"}}, anti_ideal: {epsilon: "
		"10, error: 1}, search: {method: random, evaluations: 10}}\n";
	char *text;

	(void)state;
	begin(flow);
	assert_true(spec->seed == strtoull(SEED, NULL, 10));
	evaluate(0, 2, 0.9, 0.9, 0.9);
	load(true);
	text = whole(DOC_HTML);
	assert_null(strstr(text, SEED));
	assert_non_null(strstr(text, "could not be taken out"));
	free(text);
}

static void test_data_public_changes_the_words(void **state)
{
	char *text;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "declares its data public"));
	free(text);
}

/* Public in the file, but private since: of trials that measure again, too, neither words
 * nor times are told. */
static void test_public_is_what_it_is_now(void **state)
{
	static const char *const changes[] = { "data=private" };
	const double x = 1.2, y[] = { 1, NAN };
	const struct dp_trial *t;

	(void)state;
	begin(sgd);
	evaluate(0, x, 0.9, 0.9, 0.9);
	put((struct dp_event){ .type = DP_EV_STUDY_AMENDED,
			       .study_amended = { .evaluations = NAN,
						  .parallel = NAN,
						  .priority = NAN,
						  .changes = changes,
						  .nchanges = 1 } });
	put((struct dp_event){ .type = DP_EV_MEASURE_ASKED,
			       .trial = DP_REEVAL_TRIAL_FIRST,
			       .measure_asked = { .point = { .source = "remeasure",
							     .params = &x,
							     .nparams = 1,
							     .privacy = y,
							     .nprivacy = 2 },
						  .result_trial = 0,
						  .result_checkpoint = NAN,
						  .runs = 3 } });
	attempt(DP_REEVAL_TRIAL_FIRST, 0, DP_END_EXIT_CODE, NULL, "what the trainer said");
	ended(DP_REEVAL_TRIAL_FIRST, "failed", NAN, NAN);
	load(true);
	t = report.studies[0].state->reevals.trials[0];
	assert_string_equal(t->attempts[0].message, "what the trainer said");
	redaction_strip_private(&report);
	assert_null(t->attempts[0].message);
	assert_true(t->attempts[0].started_us == 0 && t->ended_us == 0);
}

static void test_nothing_and_all_failed(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	load(false);
	text = whole(DOC_HTML);
	assert_non_null(strstr(text, "no front"));
	free(text);
	finish(state);
	begin(gaussian);
	propose(0, 3);
	attempt(0, 0, DP_END_EXIT_CODE, NULL, "it <b>broke</b>");
	ended(0, "failed", NAN, NAN);
	load(false);
	text = whole(DOC_HTML);
	/* the cause stands before everything else */
	assert_non_null(strstr(text, "it &lt;b&gt;broke&lt;/b&gt;"));
	assert_true(strstr(text, "it &lt;b&gt;broke&lt;/b&gt;") <
		    strstr(text, "What may be published"));
	assert_null(strstr(text, "hypervolume of 0"));
	free(text);
}

/* What more epsilon buys is held against the noise of the runs, and no row is taken for a
 * training without privacy. */
static void test_noise_of_the_headline(void **state)
{
	static const struct {
		double spread;
		const char *words, *others;
	} cases[] = {
		/* standard errors are the spread / sqrt(3), of both rows */
		{ 0.3,
		  "They differ by 30 percentage points; two standard errors of that "
		  "by the runs are 49 percentage points, so these runs do not show that "
		  "more epsilon buys",
		  "more than their noise" },
		{ 0.03,
		  "are 4.9 percentage points, so it is more than their noise. What is "
		  "reached "
		  "with at most 1 cannot be told from what is reached with more.",
		  "do not show" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		double by = cases[i].spread;
		char *text;

		begin(gaussian);
		evaluate(0, 50, 0.6 - by, 0.6, 0.6 + by); /* epsilon below 0.1 */
		evaluate(1, 5, 0.88 - by, 0.88, 0.88 + by);
		evaluate(2, 1, 0.9 - by, 0.9, 0.9 + by);
		load(false);
		text = whole(DOC_MARKDOWN);
		if (!strstr(text, cases[i].words))
			fail_msg("not there: %s in %s", cases[i].words, text);
		assert_null(strstr(text, cases[i].others));
		assert_null(strstr(text, "what privacy costs"));
		assert_non_null(strstr(text, "without privacy reaches is not known"));
		free(text);
		finish(state);
	}
}

/* Points that guessing equals are named so, where a trainer tells what guessing gives. */
static void test_majority(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	made_majority = 0.75;
	evaluate(0, 50, 0.7, 0.7, 0.7);  /* epsilon below 0.1 */
	evaluate(1, 5, 0.6, 0.75, 0.99); /* better, but not by its noise */
	evaluate(2, 1, 0.9, 0.9, 0.91);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_near(fact_number("majority/value"), 0.25, 1e-12);
	assert_int_equal(fact_count("majority/no_better"), 2);
	assert_non_null(strstr(text, "| 30.0 (as the commonest class) |"));
	assert_non_null(strstr(text, "found is 30.0 %, no better than the commonest class"));
	assert_non_null(strstr(text, "| 22 (as the commonest class) |"));
	assert_non_null(strstr(text, "| 9.7 |"));
	assert_non_null(strstr(text, "That is as good as 2 of 3 points of the front"));
	free(text);
	finish(state);
	begin(gaussian);
	evaluate(0, 50, 0.7, 0.7, 0.7);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_null(strstr(text, "commonest class"));
	free(text);
}

/* An epsilon of thousands is not told like one that protects. */
static void test_no_meaningful_guarantee(void **state)
{
	char *text;

	(void)state;
	begin(svt);
	evaluate(0, 100, 0.5, 0.5, 0.5);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_null(strstr(text, "meaningful"));
	free(text);
	finish(state);
	begin(svt);
	evaluate(0, 100, 0.5, 0.5, 0.5);
	evaluate(1, 0.1, 0.9, 0.9, 0.9);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "along the front; beyond 20 there is no meaningful"));
	assert_non_null(strstr(text, "at delta 0: no meaningful guarantee"));
	assert_non_null(strstr(text, "private, which is no meaningful guarantee"));
	free(text);
}

/* Of public data there is nobody to warn for. */
static void test_public_data_needs_no_warning(void **state)
{
	char *text;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_null(strstr(text, "Test and holdout records get no guarantee"));
	free(text);
}

/* A comparison has the names of all that it compares. */
static void test_title_of_a_comparison(void **state)
{
	static const char *const labels[] = { NULL, "t", "u", "v", "w" };
	struct study_data studies[5], *all;
	static const char volumes[] = "hypervolume as observed | without the noise | "
				      "measured again |";
	static const char *const titles[] = { "# Study s\n", "# Study s beside t\n",
					      "# Study s beside t and u\n",
					      "# Study s beside t, u and v\n",
					      "# Study s beside 4 others\n" };

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	load(false);
	all = report.studies;
	report.studies = studies;
	for (size_t n = 0; n < DP_COUNT(titles); n++) {
		struct doc *d = doc_new(DOC_MARKDOWN);
		struct dp_buf out = DP_BUF_INIT;

		for (size_t i = 0; i <= n; i++) {
			studies[i] = *all;
			studies[i].label = labels[i];
		}
		report.nstudies = n + 1;
		find_facts();
		if (n >= 2) {
			put_number(fact("compared/1"), "hypervolume_denoised", 1.5);
			put_number(fact("compared/1"), "hypervolume_remeasured", 1.25);
		}
		report_document_write(d, &facts);
		doc_render(d, &out);
		doc_free(d);
		if (strncmp(dp_buf_text(&out), titles[n], strlen(titles[n])) != 0)
			fail_msg("%.60s", dp_buf_text(&out));
		/* luck is told apart where something is known of it */
		assert_int_equal(strstr(dp_buf_text(&out), volumes) != NULL, n >= 2);
		assert_int_equal(strstr(dp_buf_text(&out), " | 1.5 | 1.25 |") != NULL, n >= 2);
		dp_buf_free(&out);
	}
	report.studies = all;
	report.nstudies = 1;
}

/* No more digits than the noise leaves. */
static void test_digits(void **state)
{
	static const struct {
		double value, error;
		const char *text;
	} cases[] = { { 0.193617, 0.0035, "0.194" },
		      { 0.193617, 0.0012, "0.1936" },
		      { 0.2, 0.004, "0.200" },
		      { 1234.5, 30, "1234" },
		      { 0.193617, NAN, "0.1936" },
		      { 0.193617, 0, "0.1936" },
		      { 1e60, 0.1, "1e+60" },
		      { INFINITY, 0.1, "inf" },
		      { NAN, 0.1, "-" } };
	char text[FORMAT_LEN];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++)
		assert_string_equal(format_with_error(cases[i].value, cases[i].error, text),
				    cases[i].text);
	assert_string_equal(format_error(0.0070634, text), "0.0071");
	assert_string_equal(format_error(123.4, text), "123");
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, finish)
	const struct CMUnitTest tests[] = {
		T(test_waypoints_in_words),
		T(test_pure_words),
		T(test_odometer_words),
		T(test_acquisition_without_a_name),
		T(test_broken_texts),
		T(test_names_in_json),
		T(test_public_has_no_seed),
		T(test_public_flow_style),
		T(test_data_public_changes_the_words),
		T(test_public_is_what_it_is_now),
		T(test_nothing_and_all_failed),
		T(test_noise_of_the_headline),
		T(test_majority),
		T(test_no_meaningful_guarantee),
		T(test_public_data_needs_no_warning),
		T(test_title_of_a_comparison),
		cmocka_unit_test(test_digits),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
