/* test_report.c - the facts of a report against hand computations, what a public one
 * leaves out, and that no text becomes markup. */
#include "base/fs.h"
#include "base/json.h"
#include "privacy/privacy.h"
#include "reports/text.h"

#include <cmark.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED "987654321"

#define STUDY(objective, more)                                                           \
	"study: s\nseed: " SEED "\ntrainer: {command: [x], runs: 3}\n"                   \
	"parameters: {sigma: {type: float, range: [0.1, 100]}}\n"                        \
	"objectives:\n  epsilon: {privacy: {" objective "}}\n"                           \
	"  error: {metric: accuracy, of: \"1 - accuracy\"}\n"                            \
	"anti_ideal: {epsilon: 10, error: 1}\n"                                          \
	"search: {method: random, evaluations: 10}\n" more

static const char gaussian[] =
	STUDY("mechanism: gaussian, sigma: sigma, delta: 1e-5", "");
static const char svt[] = STUDY("mechanism: svt, cutoff: 1, scale: sigma", "");
static const char sgd[] = STUDY(
	"mechanism: dp-sgd, sampling: poisson, records: 10000, lot: 100, epochs: 2, "
	"noise_multiplier: sigma, delta: 1e-5, accountant: rdp",
	"data: public\n");

/* ---- a journal made by hand ---- */

static char folder[4096];
static struct dp_journal *journal;
static uint32_t seq;
static struct report report;
static const char *study_text;
static struct dp_study *spec;

static void wake(void *arg)
{
	(void)arg;
}

static void put(struct dp_event e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e.seq = seq;
	e.time = 1700000000000000 + seq * 1000;
	assert_int_equal(dp_event_encode(&e, &bytes, &err), DP_OK);
	assert_true(dp_journal_append(journal, 1, seq++, bytes.data, bytes.len) > 0);
	dp_buf_free(&bytes);
}

static void begin(const char *text)
{
	struct dp_journal_options options = { 0 };
	struct dp_problems problems = { 0 };
	struct dp_err err;

	snprintf(folder, sizeof folder, "%s/dpareto-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(folder));
	seq = 0;
	study_text = text;
	assert_int_equal(
		dp_study_parse(text, strlen(text), "f", "/", &spec, &problems, &err),
		DP_OK);
	dp_problems_free(&problems);
	assert_int_equal(dp_journal_open(folder, &options, &journal, &err), DP_OK);
	assert_int_equal(dp_journal_start(journal, wake, NULL, &err), DP_OK);
	put((struct dp_event){ .type = DP_EV_STUDY_CREATED,
			       .name = spec->name,
			       .text = text,
			       .path = "/secret/" SEED ".yaml",
			       .dir = "/" });
}

static void propose(uint32_t trial, double sigma)
{
	put((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
			       .trial = trial,
			       .source = "random",
			       .params = &sigma,
			       .nparams = 1 });
}

/* An attempt that makes all three runs; `accuracy` NULL: it reports nothing. */
static void attempt(uint32_t trial, uint32_t number, enum dp_end end,
		    const double *accuracy, const char *message)
{
	static const char *const names[] = { "accuracy", "test_records" };
	static const uint32_t runs[] = { 0, 1, 2 };
	double metrics[6];
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
			      .trial = trial,
			      .run = DP_RUN_ALL,
			      .attempt = number,
			      .end = end,
			      .counted = true,
			      .reason = message,
			      .exit = { .kind = DP_EXIT_CODE,
					.start = 1.7e9,
					.end = 1.7e9 + 2,
					.cpu = 1.5 } };

	put((struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
			       .trial = trial,
			       .run = DP_RUN_ALL,
			       .attempt = number });
	for (int i = 0; accuracy && i < 3; i++) {
		metrics[2 * i] = accuracy[i];
		metrics[2 * i + 1] = 400;
		e.metric_names = names;
		e.nmetrics = 2;
		e.runs = runs;
		e.nruns = 3;
		e.metrics = metrics;
	}
	put(e);
}

static double epsilon_at(double sigma)
{
	struct dp_epsilon e;

	assert_int_equal(dp_objective_privacy(spec, 0, &sigma, &e, NULL), DP_OK);
	return e.epsilon;
}

static void ended(uint32_t trial, const char *state, double epsilon, double error)
{
	double y[] = { epsilon, error };

	put((struct dp_event){ .type = DP_EV_TRIAL_ENDED,
			       .trial = trial,
			       .state = state,
			       .objectives = y,
			       .nobjectives = isnan(epsilon) ? 0 : 2 });
}

/* A trial with one good attempt. */
static void evaluate(uint32_t trial, double sigma, double a, double b, double c)
{
	double accuracy[] = { a, b, c };

	propose(trial, sigma);
	attempt(trial, 0, DP_END_OK, accuracy, NULL);
	ended(trial, "ok", epsilon_at(sigma), 1 - (a + b + c) / 3);
}

static void load(bool public)
{
	const char *const studies[] = { "s" };
	struct dp_err err;

	put((struct dp_event){ .type = DP_EV_STUDY_MOVED, .state = "finished" });
	dp_journal_close(journal);
	journal = NULL;
	report.public = public;
	assert_int_equal(report_load(&report, folder, studies, 1, &err), DP_OK);
}

static int finish(void **state)
{
	(void)state;
	if (journal)
		dp_journal_close(journal);
	journal = NULL;
	report_free(&report);
	memset(&report, 0, sizeof report);
	dp_study_free(spec);
	spec = NULL;
	return folder[0] ? dp_remove_tree(folder, NULL) : 0;
}

static double real(const json_t *o, const char *key)
{
	double x;

	assert_true(dp_json_to_real(json_object_get(o, key), &x));
	return x;
}

static void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

/* The first total of the first mechanism. */
static const json_t *composed(json_t *facts)
{
	return json_object_get(json_array_get(facts, 0), "composed");
}

static const json_t *total(json_t *facts, size_t i)
{
	return json_array_get(json_object_get(composed(facts), "totals"), i);
}

/* ---- numbers ---- */

static void test_headline(void **state)
{
	json_t *list, *row;

	(void)state;
	begin(gaussian);
	evaluate(0, 50, 0.5, 0.5, 0.5);   /* epsilon below 0.1 */
	evaluate(1, 8, 0.7, 0.8, 0.9);    /* about 0.5 */
	evaluate(2, 7, 0.6, 0.6, 0.6);    /* more epsilon, less accuracy */
	evaluate(3, 2, 0.85, 0.85, 0.85); /* about 2 */
	evaluate(4, 0.2, 1, 1, 1);        /* beyond 10 */
	load(false);
	list = facts_headline(&report.subjects[0]);
	assert_int_equal(json_array_size(list), 6);
	row = json_array_get(list, 0);
	assert_near(real(row, "epsilon"), 0.1, 0);
	assert_int_equal(json_integer_value(json_object_get(row, "trial")), 0);
	row = json_array_get(list, 2); /* at most 1 */
	assert_int_equal(json_integer_value(json_object_get(row, "trial")), 1);
	assert_near(real(row, "value"), 0.2, 1e-12);
	assert_near(real(row, "spent"), epsilon_at(8), 0);
	row = json_array_get(list, 5); /* at most 10 */
	assert_int_equal(json_integer_value(json_object_get(row, "trial")), 3);
	json_decref(list);
}

static void test_nothing_that_private(void **state)
{
	json_t *list;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.5, 0.5, 0.5);
	load(false);
	list = facts_headline(&report.subjects[0]);
	assert_true(json_is_null(json_object_get(json_array_get(list, 0), "trial")));
	assert_null(json_object_get(json_array_get(list, 0), "value"));
	json_decref(list);
}

static void test_spread(void **state)
{
	json_t *front, *runs;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.7, 0.8);
	load(false);
	front = facts_front(&report.subjects[0]);
	runs = json_object_get(json_object_get(json_array_get(front, 0), "runs"),
			       "error");
	assert_near(real(runs, "least"), 0.1, 1e-12);
	assert_near(real(runs, "most"), 0.3, 1e-12);
	assert_near(real(runs, "mean"), 0.2, 1e-12);
	assert_near(real(runs, "sd"), 0.1, 1e-12);
	assert_near(real(runs, "standard_error"), 0.1 / sqrt(3), 1e-12);
	json_decref(front);
}

static void test_sampling_error(void **state)
{
	json_t *o, *sampling;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.8, 0.8, 0.8);
	load(false);
	o = facts_optimism(&report.subjects[0]);
	sampling = json_object_get(json_array_get(json_object_get(o, "objectives"), 0),
				   "sampling");
	assert_near(real(sampling, "records"), 400, 0);
	assert_near(real(sampling, "error"), 0.4 / 20, 1e-12);
	assert_near(real(sampling, "error_at_10000"), 0.4 / 100, 1e-12);
	json_decref(o);
}

/* Everything that may have looked at the records counts, with all its runs. */
static void test_composition_counts(void **state)
{
	static const double bad[] = { NAN, 0.5, 0.5 };
	struct dp_privacy_item items[4];
	double values[4][DP_PRIVACY_KEYS_MAX];
	static const double sigma[] = { 2, 3, 4, 5 }, times[] = { 3, 9, 3, 3 };
	struct dp_epsilon expected;
	json_t *facts;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	propose(1, 3); /* two retries, then failed */
	attempt(1, 0, DP_END_SIGNAL, NULL, "a");
	attempt(1, 1, DP_END_LOST, NULL, "b");
	attempt(1, 2, DP_END_EXIT_CODE, NULL, "c");
	ended(1, "failed", NAN, NAN);
	propose(2, 4);
	attempt(2, 0, DP_END_DIVERGED, bad, NULL);
	ended(2, "diverged", epsilon_at(4), NAN);
	evaluate(3, 5, 0.1, 0.1, 0.1);
	propose(4, 6); /* could not even start */
	attempt(4, 0, DP_END_NOT_STARTED, NULL, "d");
	load(false);
	facts = facts_privacy(&report.subjects[0]);
	assert_near(real(composed(facts), "trainings"), 18, 0);
	assert_near(real(composed(facts), "evaluations"), 4, 0);
	assert_near(real(composed(facts), "not_started"), 1, 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(dp_objective_values(spec, 0, &sigma[i], values[i], NULL),
				 DP_OK);
		items[i] = (struct dp_privacy_item){ spec->objectives[0].mechanism,
						     values[i], times[i] };
	}
	assert_int_equal(dp_privacy_compose(items, 4, 1e-5, false, &expected, NULL),
			 DP_OK);
	assert_near(real(total(facts, 0), "epsilon"), expected.epsilon, 1e-12);
	assert_near(real(total(facts, 0), "delta"), 1e-5, 0);
	/* no less than the exact Gaussian of all that noise */
	double all = 1 / sqrt(3 / 4. + 9 / 9. + 3 / 16. + 3 / 25.);
	assert_true(real(total(facts, 0), "epsilon") >= epsilon_at(all));
	assert_true(real(total(facts, 0), "epsilon") < 1.2 * epsilon_at(all));
	json_decref(facts);
}

static void test_pure_composition(void **state)
{
	json_t *facts;

	(void)state;
	begin(svt);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	evaluate(1, 10, 0.5, 0.5, 0.5);
	load(false);
	facts = facts_privacy(&report.subjects[0]);
	assert_near(real(total(facts, 0), "delta"), 0, 0);
	assert_near(real(total(facts, 0), "epsilon"),
		    3 * (epsilon_at(2) + epsilon_at(10)), 1e-9);
	assert_true(real(total(facts, 1), "epsilon") < real(total(facts, 0), "epsilon"));
	json_decref(facts);
}

static void test_second_accountant(void **state)
{
	const struct subject *s = &report.subjects[0];
	json_t *check;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	evaluate(1, 4, 0.5, 0.5, 0.5);
	load(false);
	s = &report.subjects[0];
	check = facts_check(s, s->s->trials[0], 0);
	assert_true(json_is_true(json_object_get(check, "holds")));
	assert_near(real(check, "rdp_improved"), epsilon_at(1.2), 1e-12);
	assert_true(real(check, "pld") < real(check, "rdp_improved"));
	assert_true(real(check, "rdp_improved") < real(check, "rdp_classic"));
	json_decref(check);
	s->s->trials[0]->objectives[0] *= 0.99; /* a number that is too good */
	check = facts_check(s, s->s->trials[0], 0);
	assert_false(json_is_true(json_object_get(check, "recomputed")));
	assert_false(json_is_true(json_object_get(check, "holds")));
	json_decref(check);
}

static void test_statement(void **state)
{
	static const char *const words[] = { "one training record",
					     "add or remove one",
					     "poisson",
					     "10000",
					     "1e-05",
					     "Theorem 4",
					     "clipping norm L",
					     "200 steps",
					     "holdout",
					     "All 3 runs" };
	const struct subject *s;
	json_t *text;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	s = &report.subjects[0];
	text = facts_statement(s, s->s->trials[0], 0);
	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (!strstr(json_string_value(text), words[i]))
			fail_msg("no '%s' in %s", words[i], json_string_value(text));
	json_decref(text);
}

static void test_rounding_is_upward(void **state)
{
	static const struct {
		double x;
		const char *text;
	} cases[] = { { 1.00001, "1.001" }, { 0.25, "0.25" },    { 0.123412, "0.1235" },
		      { 91876.5, "91880" }, { INFINITY, "inf" }, { 0, "0" },
		      { 9.9999, "10" } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_buf b = DP_BUF_INIT;

		facts_round_up(cases[i].x, 4, &b);
		assert_string_equal(dp_buf_text(&b), cases[i].text);
		dp_buf_free(&b);
	}
}

/* ---- whole reports ---- */

/* The report's text in a form, without figures. */
static char *whole(enum doc_form form)
{
	json_t *facts = report_facts(&report, NULL, 0);
	struct doc *d = doc_new(form);
	struct dp_buf out = DP_BUF_INIT;

	assert_non_null(facts);
	report_text(d, facts, NULL);
	doc_render(d, &out);
	dp_json_dump(&out, facts, 0);
	doc_free(d);
	json_decref(facts);
	return dp_buf_detach(&out);
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
	report.public = false;
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
	assert_non_null(strstr(text, "it &lt;b&gt;broke&lt;/b&gt;"));
	free(text);
}

/* ---- text stays text ---- */

static const char *const hostile[] = {
	"<script>alert(1)</script>",
	"](javascript:alert(1))",
	"`code` ``x",
	"a|b|c",
	"one\ntwo\n\n# three",
	"--> <!--",
	"&#60;b&#62; &lt; &amp;",
	"*b* _i_ __x__ a_b",
	"1. item",
	"- item",
	"+ x",
	"> q",
	"    indented",
	"~~s~~",
	"![x](y)",
	"\\",
	"\\\\*",
	"<a href=\"x\">",
	"=====",
	"---",
	"\xff\xfe bad",
	"\x1b[31m",
	"#5 x",
	"x #",
	"[a]: b",
	"$x$",
	"***",
	"\"q\" 'z'",
	"&#x3c;script&#x3e;",
	"|---|",
	"~~~",
	"```",
	"<http://a.b>",
	"<!-- x",
	"]]>",
	"-",
	"1)",
	"\u202egpj",
	"a  b ",
	"</td></table>",
	"\" onload=\"x",
};

/* Both forms of a document that has the text everywhere but in tables. */
static void describe(struct doc *d, const char *text)
{
	doc_title(d, text);
	doc_paragraph(d, "%s", text);
	doc_note(d, "%s", text);
	doc_item(d, "%s", text);
	doc_field(d, text, "%s", text);
	doc_code(d, "text", text);
	doc_heading(d, text);
	doc_paragraph(d, "and %s", text);
}

/* What Markdown makes of ours is what HTML has at once. */
static void test_markdown_means_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(hostile); i++) {
		struct doc *md = doc_new(DOC_MARKDOWN), *html = doc_new(DOC_HTML);
		struct dp_buf a = DP_BUF_INIT, b = DP_BUF_INIT;
		char *again;

		describe(md, hostile[i]);
		describe(html, hostile[i]);
		doc_render(md, &a);
		doc_render(html, &b);
		again = cmark_markdown_to_html(dp_buf_text(&a), a.len, CMARK_OPT_UNSAFE);
		assert_string_equal(again, dp_buf_text(&b));
		free(again);
		dp_buf_free(&a);
		dp_buf_free(&b);
		doc_free(md);
		doc_free(html);
	}
}

/* Every '<' of the text begins a tag of this list, and no tag has an attribute that is
 * not ours. */
static void assert_only_our_tags(const char *html)
{
	static const char *const ours[] = {
		"<h1>",
		"</h1>",
		"<h3>",
		"</h3>",
		"<p>",
		"</p>",
		"<ul>",
		"</ul>",
		"<li>",
		"</li>",
		"<blockquote>",
		"</blockquote>",
		"<strong>",
		"</strong>",
		"<pre><code class=\"language-text\">",
		"</code>",
		"</pre>",
		"<table>",
		"</table>",
		"<thead>",
		"</thead>",
		"<tbody>",
		"</tbody>",
		"<tr>",
		"</tr>",
		"<th>",
		"</th>",
		"<td>",
		"</td>",
		"<code class=\"language-text\">",
		"<td class=\"n\">",
		"<th class=\"n\">",
		"</div>",
		"<div class=\"table\" tabindex=\"0\">",
		"<figure>",
		"</figure>",
		"<figcaption>",
		"</figcaption>",
		"<img alt=\"",
		"<!DOCTYPE",
	};

	for (const char *at = html; (at = strchr(at, '<')) != NULL; at++) {
		bool known = false;

		for (size_t i = 0; i < DP_COUNT(ours); i++)
			known |= strncmp(at, ours[i], strlen(ours[i])) == 0;
		if (!known)
			fail_msg("not our tag: %.60s", at);
	}
}

static void test_html_has_only_our_tags(void **state)
{
	struct dp_buf png = DP_BUF_INIT;

	(void)state;
	dp_buf_add(&png, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\0\0\0\1\0", 24);
	for (size_t i = 0; i < DP_COUNT(hostile); i++) {
		struct doc *d = doc_new(DOC_HTML);
		struct dp_buf out = DP_BUF_INIT;

		describe(d, hostile[i]);
		doc_table(d);
		doc_column(d, hostile[i], false);
		doc_column(d, "n", true);
		doc_cell(d, "%s", hostile[i]);
		doc_cell(d, "%d", 1);
		doc_table_end(d);
		doc_figure(d, "f.png", hostile[i], hostile[i], &png);
		doc_render(d, &out);
		assert_only_our_tags(dp_buf_text(&out));
		assert_null(strstr(dp_buf_text(&out), "\" onload"));
		assert_non_null(
			strstr(dp_buf_text(&out), "width=\"256\" height=\"128\""));
		dp_buf_free(&out);
		doc_free(d);
	}
	dp_buf_free(&png);
}

/* A cell cannot add cells or rows. */
static void test_markdown_tables_keep_their_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(hostile); i++) {
		struct doc *d = doc_new(DOC_MARKDOWN);
		struct dp_buf out = DP_BUF_INIT;
		size_t bars = 0, lines = 0;

		doc_table(d);
		doc_column(d, "one", false);
		doc_column(d, hostile[i], false);
		doc_cell(d, "%s", hostile[i]);
		doc_cell(d, "two");
		doc_table_end(d);
		doc_render(d, &out);
		for (const char *c = dp_buf_text(&out); *c; c++) {
			bars += *c == '|';
			lines += *c == '\n';
			if (*c == '\\' && c[1])
				c++;
		}
		assert_int_equal(bars, 9);
		assert_int_equal(lines, 4); /* an empty one ends the table */
		dp_buf_free(&out);
		doc_free(d);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, finish)
	const struct CMUnitTest tests[] = {
		T(test_headline),
		T(test_nothing_that_private),
		T(test_spread),
		T(test_sampling_error),
		T(test_composition_counts),
		T(test_pure_composition),
		T(test_second_accountant),
		T(test_statement),
		cmocka_unit_test(test_rounding_is_upward),
		T(test_public_has_no_seed),
		T(test_public_flow_style),
		T(test_data_public_changes_the_words),
		T(test_nothing_and_all_failed),
		cmocka_unit_test(test_markdown_means_the_same),
		cmocka_unit_test(test_html_has_only_our_tags),
		cmocka_unit_test(test_markdown_tables_keep_their_shape),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
