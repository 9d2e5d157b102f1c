/* test_study.c - study files, good, bad and hostile. */
#include "base/fs.h"
#include "base/json.h"
#include "study/study.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const char base[] = "study: s\n"
			   "seed: 1\n"
			   "trainer:\n"
			   "  command: [prog, a]\n"
			   "  runs: 2\n"
			   "parameters:\n"
			   "  C: {type: int, range: [1, 30]}\n"
			   "  b: {type: float, range: [0.01, 100], scale: log}\n"
			   "objectives:\n"
			   "  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}\n"
			   "  error: {metric: f1, of: \"1 - f1\", transform: logit}\n"
			   "anti_ideal: {epsilon: 10, error: 1}\n"
			   "search: {method: random, evaluations: 80}\n";

struct result {
	struct dp_study *s; /* NULL: refused */
	struct dp_problems problems;
	struct dp_err err;
};

static struct result parse(const char *text, size_t len)
{
	struct result x = { .s = NULL };
	int rc = dp_study_parse(text, len, "t.yaml", "/dir", &x.s, &x.problems, &x.err);

	/* errors and success exclude each other */
	assert_true(rc == DP_OK ? x.s && !x.problems.errors
				: rc == DP_E_INVALID && !x.s && x.problems.errors);
	return x;
}

static void done(struct result *x)
{
	dp_study_free(x->s);
	dp_problems_free(&x->problems);
}

static struct dp_study *good(const char *text)
{
	struct result x = parse(text, strlen(text));
	struct dp_study *s = x.s;

	if (!s)
		fail_msg("%s", x.err.msg);
	dp_problems_free(&x.problems);
	return s;
}

/* text with its first `from` replaced by `to`. */
static char *replace(const char *text, const char *from, const char *to)
{
	struct dp_buf out = DP_BUF_INIT;
	const char *at = strstr(text, from);

	assert_non_null(at);
	dp_buf_add(&out, text, (size_t)(at - text));
	dp_buf_puts(&out, to);
	dp_buf_puts(&out, at + strlen(from));
	return dp_buf_detach(&out);
}

static char *edit(const char *from, const char *to)
{
	return replace(base, from, to);
}

/* ---- bad files: one mistake each; '@' in the new text marks its place ---- */

struct mistake {
	const char *from, *to, *message;
};

static void check_mistake(const struct mistake *m, bool warning)
{
	char *text = edit(m->from, m->to), *mark = strchr(text, '@');
	int line = 1, column = 1;
	const struct dp_problem *p;
	struct result x;

	assert_non_null(mark);
	for (const char *c = text; c < mark; c++) {
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n';
	}
	memmove(mark, mark + 1, strlen(mark));
	x = parse(text, strlen(text));
	p = x.problems.list;
	if (x.problems.count != 1)
		fail_msg("'%s': %zu problems, the second: %s", m->to, x.problems.count,
			 x.problems.count > 1 ? p[1].message : "");
	if (!strstr(p->message, m->message))
		fail_msg("'%s': %s", m->to, p->message);
	if (p->line != line || p->column != column)
		fail_msg("'%s': at %d:%d, not %d:%d", m->to, p->line, p->column, line,
			 column);
	assert_int_equal(p->warning, warning);
	assert_int_equal(x.s != NULL, warning);
	done(&x);
	free(text);
}

#define PARAM_B "  b: {type: float, range: [0.01, 100], scale: log}\n"
/* one more parameter */
#define EXTRA(text, message)                                                             \
	{                                                                                \
		"objectives:\n", "  " text "\nobjectives:\n", message                    \
	}

static const struct mistake mistakes[] = {
	/* names and unknown keys */
	{ "study: s", "study: @../x", "'study' cannot be '../x'" },
	{ "study: s", "study: @a b", "'study' cannot be 'a b'" },
	{ "study: s", "study: @\"\"", "'study' cannot be ''" },
	{ "seed: 1", "@sed: 1", "unknown key 'sed'; did you mean 'seed'?" },
	{ "trainer:", "@trianer:", "did you mean 'trainer'?" },
	{ "seed: 1", "@runs: 1", "there is trainer.runs" },
	{ "seed: 1", "@zzzzzz: 1", "unknown key 'zzzzzz'" },
	{ "runs: 2", "@rnus: 2", "did you mean 'runs'?" },
	{ "search: {method", "search: {@evalutions: 3, method",
	  "did you mean 'evaluations'" },
	{ "evaluations: 80", "@evalutions: 80", "did you mean 'evaluations'?" },
	{ "seed: 1", "seed: 1\n@seed: two", "given twice; the first is in line 2" },
	{ "runs: 2", "runs: 2\n  @\"runs\": 3", "given twice; the first is in line 5" },
	/* missing keys, told where they belong */
	{ "trainer:\n  command: [prog, a]\n", "@trainer:\n",
	  "'trainer.command' is missing" },
	{ "search: {method: random, ", "@search: {", "'search.method' is missing" },
	{ "seed: 1", "@seed:", "'seed' has no value" },
	{ "seed: 1", "@seed: ~", "'seed' has no value" },
	/* types */
	{ "seed: 1", "seed: @\"1\"",
	  "is the text \"1\", not a number; remove the quotes" },
	{ "seed: 1", "seed: @one", "'seed' cannot be 'one'" },
	{ "seed: 1", "seed: @-1", "'seed' cannot be -1" },
	{ "seed: 1", "seed: @1.5", "'seed' cannot be 1.5" },
	{ "seed: 1", "seed: @9007199254740992", "'seed' cannot be 9007199254740992" },
	{ "seed: 1", "seed: @9007199254740993", "'seed' cannot be" },
	{ "seed: 1", "seed: @.inf", "'seed' cannot be" },
	{ "seed: 1", "seed: @1e400", "'seed' cannot be" },
	{ "seed: 1", "seed: @[1]", "'seed' cannot be a list" },
	{ "seed: 1", "seed: @{a: 1}", "'seed' cannot be a map" },
	{ "seed: 1", "data: @pubilc", "did you mean 'public'?" },
	{ "seed: 1", "priority: @1.5", "'priority' cannot be 1.5" },
	/* trainer */
	{ "[prog, a]", "@prog a", "'command' cannot be 'prog a'" },
	{ "[prog, a]", "@[]", "'command' is empty" },
	{ "[prog, a]", "[prog, @[a]]", "'command' cannot be a list" },
	{ "[prog, a]", "[@\"\"]", "program's name is empty" },
	{ "runs: 2", "runs: @0", "'runs' cannot be 0" },
	{ "runs: 2", "runs: @10001", "'runs' cannot be 10001" },
	{ "runs: 2", "runs_per_process: @2", "'runs_per_process' cannot be '2'" },
	{ "runs: 2", "timeout: @0", "'timeout' cannot be 0" },
	{ "runs: 2", "timeout: @-3", "'timeout' cannot be '-3'" },
	{ "runs: 2", "timeout: @30 m", "'timeout' cannot be '30 m'" },
	{ "runs: 2", "grace: @soon", "'grace' cannot be 'soon'" },
	{ "runs: 2", "retries: @-1", "'retries' cannot be -1" },
	{ "runs: 2", "max_failures: @0", "'max_failures' cannot be 0" },
	{ "runs: 2", "log_limit: @lots", "'log_limit' cannot be 'lots'" },
	{ "runs: 2", "cwd: @\"\"", "'cwd' is empty" },
	{ "runs: 2", "env: {@1A: x}", "cannot name an environment variable" },
	{ "runs: 2", "env: {@A=B: x}", "cannot name an environment variable" },
	{ "runs: 2", "env: {@DPARETO_X: x}", "are the trainer protocol's" },
	{ "runs: 2", "env: {A: @[x]}", "'A' cannot be a list" },
	/* parameters and samples */
	EXTRA("@x y: {fixed: 1}", "cannot name a parameter"),
	EXTRA("x: @3", "'x' cannot be '3'"),
	EXTRA("@x: {range: [1, 2]}", "needs the key 'type'"),
	EXTRA("x: {type: @flaot, range: [1, 2]}", "did you mean 'float'?"),
	EXTRA("@x: {type: float}", "needs the key 'range'"),
	EXTRA("x: {type: float, range: @[2, 1]}", "'range' is reversed"),
	EXTRA("x: {type: float, range: @[1, 1]}", "'range' is empty"),
	EXTRA("x: {type: float, range: @[1]}", "only one number"),
	EXTRA("x: {type: float, range: @[1, 2, 3]}", "3 entries"),
	EXTRA("x: {type: float, range: [1, @two]}", "'range' cannot be 'two'"),
	EXTRA("x: {type: float, range: [1, @.inf]}", "'range' cannot be '.inf'"),
	EXTRA("x: {type: float, range: @[-1e308, 1e308]}", "too wide"),
	EXTRA("x: {type: float, range: @[0, 1], scale: log}", "a log scale cannot"),
	EXTRA("x: {type: float, range: @[-1, 1], scale: log}", "a log scale cannot"),
	EXTRA("x: {type: float, range: @[1e-200, 1e200], scale: log}", "too wide"),
	EXTRA("x: {type: int, range: @[1.5, 3]}", "has whole ends"),
	EXTRA("x: {type: int, range: @[0, 1e17]}", "too wide for whole numbers"),
	EXTRA("x: {type: int, range: [0, 9], grid: @0}", "'grid' cannot be 0"),
	EXTRA("x: {type: int, range: [0, 9], @values: [1]}", "an int parameter has no"),
	EXTRA("x: {type: categorical, values: [1], @range: [0, 9]}", "has no 'range'"),
	EXTRA("@x: {type: categorical}", "needs the key 'values'"),
	EXTRA("x: {type: categorical, values: @[]}", "'values' is empty"),
	EXTRA("x: {type: categorical, values: [1, @1.0]}", "'1.0' is given twice"),
	EXTRA("x: {type: categorical, values: [a, @\"a\"]}", "'a' is given twice"),
	EXTRA("x: {type: categorical, values: [a, @~]}", "cannot hold '~'"),
	EXTRA("x: {fixed: 1, @type: int}", "a fixed parameter has no other key"),
	EXTRA("x: {fixed: @[1]}", "'fixed' cannot be a list"),
	EXTRA("x: {type: float, range: [0, 1], @sample: {accept: [0, 1]}}", "names no "),
	EXTRA("x: {type: float, range: [0, 1], @sample: {uniform: [0, 1], normal: {mean: "
	      "0, sd: 1}}}",
	      "names 2 distributions"),
	EXTRA("x: {type: float, range: [0, 1], sample: {uniform: @[1, 0]}}",
	      "'uniform' is "),
	EXTRA("x: {type: float, range: [0, 1], sample: {normal: {mean: 0, sd: @0}}}",
	      "'sd' "),
	EXTRA("x: {type: float, range: [0, 1], sample: {@normal: {mean: 0}}}", "sample."),
	EXTRA("x: {type: float, range: [0, 1], sample: {exponential: {rate: @-1}}}",
	      "'rate' "),
	EXTRA("x: {type: float, range: [0, 1], sample: {uniform: [0, 1], accept: @[1, "
	      "0]}}",
	      "'accept' is reversed"),
	EXTRA("x: {type: float, range: [0, 1], sample: {uniform: [0, 1], accept: @[2, "
	      "3]}}",
	      "with probability 0 only"),
	EXTRA("x: {type: float, range: [0, 1], @sample: {exponential: {rate: 1, shift: "
	      "5}}}",
	      "with probability 0 only"),
	/* 1 - Phi(4) = 3.167e-5 */
	EXTRA("x: {type: float, range: [4, 9], @sample: {normal: {mean: 0, sd: 1}}}",
	      "with probability 3.17e-05 only"),
	EXTRA("x: {type: int, range: [4, 9], sample: {uniform: [0, 9], accept: @[1.2, "
	      "1.8]}}",
	      "no whole number"),
	/* objectives */
	{ "{metric: f1, of: \"1 - f1\", transform: logit}", "@metric",
	  "'error' cannot be" },
	{ "  error: {metric: f1, of: \"1 - f1\", transform: logit}",
	  "  @error: {transform: logit}", "says neither 'privacy' nor 'metric'" },
	{ "scale: b}}", "scale: b}, @metric: f1}", "not both" },
	{ "scale: b}}", "scale: b}, goal: @maximize}", "cannot be maximized" },
	{ "scale: b}}", "scale: b}, @of: f1}", "'of' belongs to a metric" },
	{ "scale: b}}", "scale: b}, transform: @logit}", "epsilon has no logit" },
	{ "metric: f1, of: \"1 - f1\"", "metric: f1, of: @\"1 - f2\"", "'of' cannot be" },
	{ "metric: f1, of: \"1 - f1\"", "metric: f1, of: @\"2 - f1\"", "'of' cannot be" },
	{ "metric: f1, of: \"1 - f1\"", "metric: @f 1", "'metric' cannot be 'f 1'" },
	{ "transform: logit", "transform: @logti", "did you mean 'logit'?" },
	{ "mechanism: svt", "mechanism: @no-such", "unknown mechanism 'no-such'" },
	{ "mechanism: svt", "mechanism: @svtt", "did you mean 'svt'?" },
	{ "cutoff: C, ", "@cutof: C, cutoff: C, ", "did you mean 'cutoff'?" },
	{ "privacy: {mechanism: svt, cutoff: C, ", "@privacy: {mechanism: svt, ",
	  "mechanism svt needs the key 'cutoff'" },
	{ "cutoff: C", "cutoff: @Cc", "'Cc' names no parameter; did you mean 'C'?" },
	{ "cutoff: C", "cutoff: @0", "'cutoff' cannot be 0" },
	{ "cutoff: C", "cutoff: @2.5", "'cutoff' cannot be 2.5" },
	{ "cutoff: C", "cutoff: @b",
	  "needs whole numbers, but parameter 'b' is a float" },
	{ "cutoff: C", "cutoff: @[C]", "'cutoff' cannot be a list" },
	{ "cutoff: C", "cutoff: @true", "'cutoff' cannot be 'true'" },
	{ "scale: b}}", "scale: @0}}", "'scale' cannot be 0" },
	{ "scale: b}}", "scale: b, delta: @1e-5}}", "'delta' cannot be 1e-5" },
	{ "range: [1, 30]", "range: @[30, 1]", "'range' is reversed" },
	/* the anti-ideal point */
	{ "{epsilon: 10, error: 1}", "{epsilon: 10, @eror: 1}", "did you mean 'error'?" },
	{ "anti_ideal: {epsilon: 10, error: 1}", "@anti_ideal: {epsilon: 10}",
	  "no number for objective 'error'" },
	{ "epsilon: 10, error: 1", "epsilon: 10, error: 1, @fun: 3", "'fun' names no" },
	{ "epsilon: 10, error: 1", "epsilon: @.inf, error: 1", "'epsilon' cannot be" },
	{ "epsilon: 10, error: 1", "epsilon: @0, error: 1", "its transform is log" },
	{ "epsilon: 10, error: 1", "epsilon: 10, error: @2", "its transform is logit" },
	/* search */
	{ "method: random", "method: @randon", "did you mean 'random'?" },
	{ "evaluations: 80", "evaluations: @0", "'evaluations' cannot be 0" },
	{ "evaluations: 80", "evaluations: @10000001", "'evaluations' cannot be" },
	{ "evaluations: 80", "evaluations: 80, parallel: @0", "'parallel' cannot be 0" },
	{ "evaluations: 80", "evaluations: 80, parallel: @4097", "'parallel' cannot be" },
	{ "evaluations: 80", "evaluations: 80, max_time: @0", "'max_time' cannot be 0" },
	{ "evaluations: 80", "evaluations: 80, order: @quick", "'order' cannot be" },
	{ "method: random, evaluations: 80", "method: @grid, grid: 1000000",
	  "the grid has 30000000 points" },
	/* constraints */
	{ "search:", "constraints: {s: @\"< 3\"}\nsearch:", "cannot be '< 3'" },
	{ "search:", "constraints: {s: @\"<= x\"}\nsearch:", "cannot be '<= x'" },
	{ "search:", "constraints: {@s t: \"<= 3\"}\nsearch:", "cannot name a metric" },
	/* YAML */
	{ "seed: 1", "seed: @&a 1", "anchors (&name)" },
	{ "seed: 1", "seed: @*a", "aliases (*name)" },
	{ "seed: 1", "seed: @!!int 1", "tags (!name)" },
	{ "seed: 1", "seed: 1\n@--- \n", "a second document" },
	{ "seed: 1", "? @[a]\n: 1", "a key cannot be a list" },
	{ "seed: 1", "data: @\"a\\0b\"", "holds a NUL" },
};

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(mistakes); i++)
		check_mistake(&mistakes[i], false);
}

/* Mistakes whose place is outside of what was changed. */
static void test_missing(void **state)
{
	static const struct {
		const char *from, *to;
		int line, column;
		const char *message;
	} cases[] = {
		{ "study: s\n", "", 1, 1, "'study' is missing" },
		{ "anti_ideal: {epsilon: 10, error: 1}\n", "", 1, 1,
		  "'anti_ideal' is missing" },
		{ "search: {method: random, evaluations: 80}\n", "", 1, 1,
		  "'search' is missing" },
		{ ", evaluations: 80}", "}", 13, 1, "'search.evaluations' is missing" },
		{ "{mechanism: svt, ", "{", 10, 13, "privacy.mechanism' is missing" },
		{ "  error: {metric: f1, of: \"1 - f1\", transform: logit}\nanti_ideal: "
		  "{epsilon: 10, error: 1}",
		  "anti_ideal: {epsilon: 10}", 9, 1, "a front needs two objectives" },
		{ "method: random, evaluations: 80", "method: grid", 7, 3,
		  "no number of points for parameter 'C'" },
		{ "[1, 30]", "[0, 30]", 10, 47,
		  "parameter 'C' can be 0, but 'cutoff' cannot" },
		{ "{type: int, range: [1, 30]}", "{type: categorical, values: [1, 2]}",
		  10, 47, "parameter 'C' is categorical" },
		{ "{type: int, range: [1, 30]}", "{fixed: \"3\"}", 10, 47,
		  "parameter 'C' is not a number" },
		{ "{type: int, range: [1, 30]}", "{fixed: 3.5}", 10, 47,
		  "parameter 'C' can be 3.5, but 'cutoff' cannot" },
		{ "range: [0.01, 100], scale: log}",
		  "range: [0.01, 100], sample: {uniform: [0, 1], accept: [0, 1]}}", 10,
		  57, "parameter 'b' can be 0, but 'scale' cannot" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char *text = edit(cases[i].from, cases[i].to);
		struct result x = parse(text, strlen(text));
		const struct dp_problem *p = x.problems.list;

		assert_null(x.s);
		if (!strstr(p->message, cases[i].message) || p->line != cases[i].line ||
		    p->column != cases[i].column)
			fail_msg("%s: %d:%d: %s", cases[i].message, p->line, p->column,
				 p->message);
		done(&x);
		free(text);
	}
}

static void test_warnings(void **state)
{
	static const struct mistake cases[] = {
		{ "evaluations: 80", "evaluations: 80, @initial: 5",
		  "only for method dpareto" },
		{ "evaluations: 80", "evaluations: 80, @gain: model",
		  "only for method dpareto" },
		{ "method: random, evaluations: 80",
		  "method: grid, grid: 5, evaluations: @80", "has only 25 points" },
		{ "method: random, evaluations: 80",
		  "method: grid, grid: 10, evaluations: @80",
		  "first 80 of the grid's 100" },
		{ "method: random", "method: dpareto, initial: @81", "never chooses" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++)
		check_mistake(&cases[i], true);
}

/* What one method minds and another does not: a sample for b, and its mistake with
 * the method. */
static void check_method(const char *b, const char *search, const char *message)
{
	char *text = edit(", range: [0.01, 100], scale: log}", b);
	char *other = replace(text, "{method: random, evaluations: 80}", search);
	struct result x = parse(text, strlen(text));

	assert_non_null(x.s); /* random search does not mind */
	done(&x);
	x = parse(other, strlen(other));
	assert_null(x.s);
	assert_int_equal(x.problems.count, 1);
	assert_int_equal(x.problems.list[0].line, 8);
	assert_non_null(strstr(x.problems.list[0].message, message));
	done(&x);
	free(other);
	free(text);
}

static void test_methods(void **state)
{
	static const char dpareto[] = "{method: dpareto, evaluations: 80}";

	(void)state;
	check_method(", range: [1, 2], sample: {uniform: [0, 9], accept: [3, 4]}}",
		     dpareto, "have nothing in common");
	check_method(
		", range: [1, 2], sample: {normal: {mean: 6, sd: 1}, accept: [1, 9]}}",
		dpareto, "with probability 3.14e-05 only"); /* Phi(-4) - Phi(-5) */
}

static void test_grid_through_zero(void **state)
{
	char *text = edit(
		"objectives:\n",
		"  x: {type: float, range: [1, 2], scale: log, sample: {uniform: [0, "
		"1], accept: [0, 1]}}\nobjectives:\n");
	char *grid = replace(text, "random, evaluations: 80", "grid, grid: 2");
	struct result x = parse(text, strlen(text));

	(void)state;
	assert_non_null(x.s);
	done(&x);
	x = parse(grid, strlen(grid));
	assert_null(x.s);
	assert_non_null(strstr(x.problems.list[0].message, "a grid on a log scale"));
	assert_int_equal(x.problems.list[0].line, 9);
	done(&x);
	free(grid);
	free(text);
}

/* All at once, in the order of the file, each with line:column, caret and counts. */
static void test_all_in_one_go(void **state)
{
	static const char bad[] = "study: a/b\n"
				  "trainer: {command: [p], runs: \"3\"}\n"
				  "parameters:\n"
				  "  \xc3\xa9: {type: int, range: [1, 2]}\n"
				  "  C: {type: int, range: [1, 2], grdi: 4}\n"
				  "objectives:\n"
				  "  a: {metric: f1}\n"
				  "  b: {metric: f2}\n"
				  "anti_ideal: {a: 1, b: x}\n"
				  "search:\n"
				  "\tmethod: random\n";
	static const char right_indent[] = "  method: random\n  evalutions: 80\n";
	struct dp_buf text = DP_BUF_INIT, out = DP_BUF_INIT;
	static const char *const expected[] = {
		"t.yaml:1:8: error: 'study' cannot be 'a/b'\n   1 | study: a/b\n     |   "
		"    "
		" ^\n     = allowed: names start",
		"t.yaml:2:31: error: 'runs' is the text",
		"t.yaml:4:3: error: '\xc3\xa9' cannot name a parameter",
		"t.yaml:5:33: error: unknown key 'grdi'; did you mean 'grid'?",
		"t.yaml:9:23: error: 'b' cannot be 'x'",
		"t.yaml:12:3: error: unknown key 'evalutions'; did you mean "
		"'evaluations'?\n"
		"  12 |   evalutions: 80\n"
		"     |   ^\n",
		"t.yaml: 6 errors\n",
	};
	const char *at;
	struct result x;
	json_t *list;

	(void)state;
	/* a tab ends the reading of YAML itself */
	x = parse(bad, strlen(bad));
	assert_int_equal(x.problems.count, 1);
	assert_int_equal(x.problems.list[0].line, 11);
	assert_non_null(strstr(x.problems.list[0].message, "tab"));
	done(&x);

	dp_buf_add(&text, bad, (size_t)(strchr(bad, '\t') - bad));
	dp_buf_puts(&text, right_indent);
	x = parse(text.data, text.len);
	dp_problems_text(&x.problems, "t.yaml", text.data, text.len, &out);
	at = dp_buf_text(&out);
	for (size_t i = 0; i < DP_COUNT(expected); i++) {
		const char *found = strstr(at, expected[i]);

		if (!found)
			fail_msg("not there: %s\nin: %s", expected[i], at);
		at = found + 1;
	}
	assert_int_equal(x.err.code, DP_E_INVALID);
	assert_non_null(strstr(x.err.msg, "t.yaml:1:8"));
	assert_non_null(strstr(x.err.hint, "6 mistakes"));

	list = dp_problems_json(&x.problems, text.data, text.len);
	assert_int_equal(json_array_size(list), 6);
	assert_string_equal(dp_json_str(json_array_get(list, 5), "source", ""),
			    "  evalutions: 80");
	assert_string_equal(dp_json_str(json_array_get(list, 5), "severity", ""),
			    "error");
	assert_int_equal(dp_json_int(json_array_get(list, 5), "line", 0), 12);
	assert_int_equal(dp_json_int(json_array_get(list, 5), "column", 0), 3);
	assert_string_equal(dp_json_str(json_array_get(list, 4), "allowed", ""),
			    "number");
	json_decref(list);
	done(&x);
	dp_buf_free(&text);
	dp_buf_free(&out);
}

/* ---- good files ---- */

static void test_defaults(void **state)
{
	struct dp_study *s = good(base);

	(void)state;
	assert_string_equal(s->name, "s");
	assert_true(s->seed == 1 && s->priority == 0 && !s->public_data);
	assert_string_equal(s->trainer.argv[0], "prog");
	assert_string_equal(s->trainer.argv[1], "a");
	assert_null(s->trainer.argv[2]);
	assert_true(s->trainer.runs == 2 && !s->trainer.run_per_process);
	assert_true(s->trainer.timeout == 0 && s->trainer.stall == 0 &&
		    s->trainer.grace == 10);
	assert_true(!s->trainer.cwd && !s->trainer.env);
	assert_true(s->trainer.retries == 3 && s->trainer.max_failures == 10 &&
		    s->trainer.log_limit == 16 << 20);
	assert_int_equal(s->nparams, 2);
	assert_true(s->params[0].kind == DP_PARAM_INT && !s->params[0].log &&
		    s->params[0].lo == 1 && s->params[0].hi == 30 &&
		    s->params[0].accept_lo == 1 && s->params[0].accept_hi == 30 &&
		    s->params[0].dist == DP_DIST_SCALE && s->params[0].grid == 0);
	assert_true(s->params[1].kind == DP_PARAM_FLOAT && s->params[1].log);
	assert_int_equal(s->nobjectives, 2);
	assert_string_equal(s->objectives[0].name, "epsilon");
	assert_ptr_equal(s->objectives[0].mechanism, dp_mechanism_find("svt"));
	assert_true(s->objectives[0].transform == DP_TRANSFORM_LOG &&
		    !s->objectives[0].maximize && s->objectives[0].anti_ideal == 10);
	assert_true(s->objectives[0].param[0] == 0 && s->objectives[0].param[1] == 1 &&
		    s->objectives[0].param[2] == -1 &&
		    isnan(s->objectives[0].constant[2]));
	assert_string_equal(s->objectives[1].metric, "f1");
	assert_true(s->objectives[1].one_minus &&
		    s->objectives[1].transform == DP_TRANSFORM_LOGIT &&
		    s->objectives[1].anti_ideal == 1);
	assert_true(s->search.method == DP_METHOD_RANDOM && s->search.evaluations == 80 &&
		    s->search.initial == 16 && s->search.parallel == 1 &&
		    s->search.grid == 0 && !s->search.deterministic &&
		    s->search.max_time == 0 && s->search.acquisition == DP_ACQ_DEFAULT &&
		    s->search.privacy_model == DP_PRIVACY_MODEL_DEFAULT &&
		    !s->search.sobol && !s->search.initial_from &&
		    !s->search.gain_model && !s->search.reference_front);
	dp_study_free(s);
}

static const char everything[] =
	"study: all.keys-1\n"
	"seed: 9007199254740991\n"
	"priority: -3\n"
	"data: public\n"
	"trainer:\n"
	"  command: [./bin/train, --n, 5, \"\"]\n"
	"  runs: 10000\n"
	"  runs_per_process: 1\n"
	"  timeout: 2h30m\n"
	"  grace: 0\n"
	"  stall: 1.5\n"
	"  cwd: work\n"
	"  env: {A: 1, _b2: \"x y\", EMPTY: \"\"}\n"
	"  retries: 0\n"
	"  max_failures: 1\n"
	"  log_limit: 1.5M\n"
	"parameters:\n"
	"  u: {type: float, range: [0, 1], sample: {uniform: [0, 2], accept: [0.5, "
	"1.5]}}\n"
	"  n: {type: int, range: [1, 64], grid: 7, sample: {normal: {mean: 20, sd: 9}}}\n"
	"  e:\n"
	"    type: float\n"
	"    range: [1e-3, .1]\n"
	"    scale: log\n"
	"    sample:\n"
	"      exponential: {rate: 10, shift: 0.001}\n"
	"  c: {type: categorical, values: [relu, 3, 0.5, true, \"3\"]}\n"
	"  f: {fixed: 12}\n"
	"  g: {fixed: text}\n"
	"objectives:\n"
	"  epsilon: {privacy: {mechanism: svt, cutoff: f, scale: 2.5, delta: 0}, "
	"transform: "
	"none, goal: minimize}\n"
	"  accuracy: {metric: acc, of: acc, transform: log, goal: maximize}\n"
	"  time: {metric: 1-s, of: \"1 -1-s\"}\n"
	"anti_ideal: {time: -5, accuracy: 0.5, epsilon: 1e1}\n"
	"search: {method: dpareto, evaluations: 272, initial: 20, parallel: 4096, grid: "
	"3,\n"
	"  acquisition: random, privacy_model: gp, order: deterministic, max_time: 8h,\n"
	"  design: sobol, initial_from: other, gain: model, reference: front}\n"
	"constraints: {seconds: \"<= 60\", acc: \">=0.5\"}\n";

static void test_all_keys(void **state)
{
	struct dp_study *s = good(everything);
	const struct dp_param *p = s->params;

	(void)state;
	assert_true(s->seed == 9007199254740991u && s->priority == -3 && s->public_data);
	assert_string_equal(s->trainer.argv[0], "/dir/bin/train");
	assert_string_equal(s->trainer.argv[2], "5");
	assert_string_equal(s->trainer.argv[3], "");
	assert_true(s->trainer.runs == 10000 && s->trainer.run_per_process);
	assert_true(s->trainer.timeout == 9000 && s->trainer.grace == 0 &&
		    s->trainer.stall == 1.5);
	assert_string_equal(s->trainer.cwd, "/dir/work");
	assert_string_equal(s->trainer.env[0], "A=1");
	assert_string_equal(s->trainer.env[1], "_b2=x y");
	assert_string_equal(s->trainer.env[2], "EMPTY=");
	assert_null(s->trainer.env[3]);
	assert_true(s->trainer.retries == 0 && s->trainer.max_failures == 1 &&
		    s->trainer.log_limit == 3 << 19);
	assert_int_equal(s->nparams, 6);
	assert_true(p[0].dist == DP_DIST_UNIFORM && p[0].a == 0 && p[0].b == 2 &&
		    p[0].accept_lo == 0.5 && p[0].accept_hi == 1.5 && p[0].lo == 0);
	assert_true(p[1].dist == DP_DIST_NORMAL && p[1].a == 20 && p[1].b == 9 &&
		    p[1].grid == 7 && p[1].accept_hi == 64);
	assert_true(p[2].dist == DP_DIST_EXPONENTIAL && p[2].a == 10 && p[2].b == 0.001 &&
		    p[2].log && p[2].hi == 0.1);
	assert_true(p[3].kind == DP_PARAM_CATEGORICAL);
	assert_int_equal(json_array_size(p[3].values), 5);
	assert_true(json_is_true(json_array_get(p[3].values, 3)));
	assert_true(p[4].kind == DP_PARAM_FIXED && json_integer_value(p[4].values) == 12);
	assert_string_equal(json_string_value(p[5].values), "text");
	assert_int_equal(s->nobjectives, 3);
	assert_true(s->objectives[0].transform == DP_TRANSFORM_NONE &&
		    s->objectives[0].param[0] == 4 &&
		    s->objectives[0].constant[1] == 2.5 &&
		    s->objectives[0].constant[2] == 0);
	assert_true(s->objectives[1].maximize && !s->objectives[1].one_minus &&
		    s->objectives[1].transform == DP_TRANSFORM_LOG &&
		    s->objectives[1].anti_ideal == 0.5);
	assert_true(s->objectives[2].one_minus && s->objectives[2].anti_ideal == -5 &&
		    s->objectives[2].transform == DP_TRANSFORM_NONE);
	assert_true(s->search.method == DP_METHOD_DPARETO &&
		    s->search.evaluations == 272 && s->search.initial == 20 &&
		    s->search.parallel == 4096 && s->search.grid == 3 &&
		    s->search.acquisition == DP_ACQ_RANDOM &&
		    s->search.privacy_model == DP_PRIVACY_MODEL_GP &&
		    s->search.deterministic && s->search.max_time == 28800 &&
		    s->search.sobol && s->search.gain_model && s->search.reference_front);
	assert_string_equal(s->search.initial_from, "other");
	assert_int_equal(s->nconstraints, 2);
	assert_true(!s->constraints[0].at_least && s->constraints[0].bound == 60 &&
		    s->constraints[1].at_least && s->constraints[1].bound == 0.5);
	dp_study_free(s);
}

static void test_forms(void **state)
{
	static const char *const same[][2] = {
		{ "seed: 1", "seed: 1.0" },
		{ "seed: 1", "seed: +1 # one" },
		{ "runs: 2", "runs: 2e0" },
		{ "study: s", "study: 's'" },
		{ "of: \"1 - f1\"", "of: 1-f1" },
		{ "study: s", "%YAML 1.2\n---\nstudy: s" },
		{ "study: s", "\xef\xbb\xbfstudy: s" },
		/* 0.5 is no whole number: C is 1 at least */
		{ "range: [1, 30]",
		  "range: [1, 30], sample: {uniform: [0, 30], accept: [0.5, "
		  "30]}" },
	};
	static const char *const words[] = { "it's",  "t\tq\"e\xc3\xa9", "l1\nl2\n",
					     "f1 f2", "d1 d2",           "p1 p2",
					     "007" };
	struct dp_study *s;
	char *text;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(same); i++) {
		text = edit(same[i][0], same[i][1]);
		s = good(text);
		assert_true(s->seed == 1 && s->trainer.runs == 2 &&
			    s->objectives[1].one_minus && strcmp(s->name, "s") == 0);
		dp_study_free(s);
		free(text);
	}
	/* every way to write a text */
	text = edit("[prog, a]",
		    "\n    - 'it''s'\n    - \"t\\tq\\\"e\\u00e9\"\n    - |\n      "
		    "l1\n      l2\n    - >-\n      f1\n      f2\n    - \"d1\n      "
		    "d2\"\n    - p1\n      p2\n    - 007");
	s = good(text);
	for (size_t i = 0; i < DP_COUNT(words); i++)
		assert_string_equal(s->trainer.argv[i], words[i]);
	dp_study_free(s);
	free(text);
	/* lines that end with CR LF, and only fixed parameters */
	s = good("study: s\r\ntrainer: {command: [/p]}\r\nparameters: {a: {fixed: 1}}\r\n"
		 "objectives: {e: {metric: m}, f: {metric: n}}\r\n"
		 "anti_ideal: {e: 1, f: 1}\r\nsearch: {method: grid}\r\n");
	assert_string_equal(s->trainer.argv[0], "/p");
	assert_int_equal(s->search.evaluations, 1);
	dp_study_free(s);
}

/* Lines and columns are those of an editor, whatever the line ends and the mark that
 * some editors put at the start. */
static void test_places(void **state)
{
	static const char *const texts[] = {
		"study: s\nseed: \"\xc3\xa9\", a\n: {a: 1, a: 2}",
		"\xef\xbb\xbfseed: x\n",
		"\xef\xbb\xbf\"seed\": x\r\n",
		"a: 1\r\nb: 1\r\nseed: \xc3\xa9\xc3\xa9\r\n",
		"{a: \xe2\x82\xac, seed: x}",
	};
	static const int places[][2] = {
		{ 2, 10 }, { 1, 7 }, { 1, 9 }, { 3, 7 }, { 1, 14 }
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		struct result x = parse(texts[i], strlen(texts[i]));
		bool found = false;

		for (size_t k = 0; k < x.problems.count; k++)
			found |= x.problems.list[k].line == places[i][0] &&
				 x.problems.list[k].column == places[i][1];
		if (!found)
			fail_msg("text %zu: %d:%d: %s", i, x.problems.list[0].line,
				 x.problems.list[0].column, x.problems.list[0].message);
		done(&x);
	}
}

static void test_objectives(void **state)
{
	struct dp_study *s = good(base), *t = good(everything);
	double x[2] = { 4, 10 }, y[6] = { 0 };
	struct dp_epsilon e;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_objective_privacy(s, 0, x, &e, &err), DP_OK);
	assert_float_equal(e.epsilon, 1.5, 1e-15);
	assert_int_equal(dp_objective_privacy(s, 1, x, &e, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "'error'"));
	/* fixed cutoff 12 and the constant scale 2.5:
	 * (1 + 24^(1/3)) (1 + 24^(2/3)) / 2.5 = 3.884499... * 9.320335... / 2.5 */
	assert_int_equal(dp_objective_privacy(t, 0, y, &e, &err), DP_OK);
	assert_float_equal(e.epsilon, 14.481934, 1e-6);
	assert_float_equal(dp_objective_metric(&s->objectives[1], 0.75), 0.25, 0);
	assert_float_equal(dp_objective_metric(&t->objectives[1], 0.75), 0.75, 0);
	assert_true(isnan(dp_objective_metric(&s->objectives[1], NAN)));
	dp_study_free(s);
	dp_study_free(t);
}

/* All privacy objectives at once: epsilon, NaN for metrics, a sentence that says whose.
 */
static void test_objectives_privacy(void **state)
{
	struct dp_study *s = good(base);
	double x[2] = { 4, 10 }, y[2] = { 7, 7 };
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_objectives_privacy(s, x, y, &err), DP_OK);
	assert_float_equal(y[0], 1.5, 1e-15);
	assert_true(isnan(y[1]));
	x[1] = -1;
	assert_int_equal(dp_objectives_privacy(s, x, y, &err), DP_E_INVALID);
	assert_ptr_equal(strstr(err.msg, "objective 'epsilon': "), err.msg);
	assert_non_null(strstr(err.msg, "'scale' cannot be -1"));
	assert_int_equal(dp_objectives_privacy(s, x, y, NULL), DP_E_INVALID);
	dp_study_free(s);
}

static void test_examples(void **state)
{
	static const struct {
		const char *file, *name;
		uint32_t evaluations;
		int runs;
	} files[] = { { "svt-random.yaml", "svt-random", 80, 50 },
		      { "svt-grid.yaml", "svt-grid", 100, 50 },
		      { "svt-dpareto.yaml", "svt-dpareto", 80, 50 },
		      { "svt-quick.yaml", "svt-quick", 24, 10 } };
	const char *top = getenv("srcdir");
	struct dp_buf text = DP_BUF_INIT;
	struct result x;
	char path[4096];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(files); i++) {
		snprintf(path, sizeof path, "%s/examples/%s", top ? top : ".",
			 files[i].file);
		if (!top && access(path, R_OK) != 0)
			skip();
		assert_int_equal(dp_read_file(path, 1 << 20, &text, NULL), DP_OK);
		x = parse(text.data, text.len);
		assert_int_equal(x.problems.count, 0);
		assert_string_equal(x.s->name, files[i].name);
		assert_int_equal(x.s->search.evaluations, files[i].evaluations);
		assert_int_equal(x.s->trainer.runs, files[i].runs);
		assert_int_equal(x.s->search.parallel, 2);
		assert_string_equal(x.s->trainer.argv[0], "dpareto-train");
		done(&x);
	}
	dp_buf_free(&text);
}

/* ---- the documentation is what the parser does ---- */

/* base with this line among the keys of the path's section; NULL: in no section
 * that can be edited so. */
static char *with_line(const char *path, const char *line)
{
	char to[400];

	if (strncmp(path, "trainer.", 8) == 0) {
		snprintf(to, sizeof to, "  %s\n%s", line,
			 strcmp(path, "trainer.command") == 0 ? "" : "  command: [p]\n");
		return edit("  command: [prog, a]\n  runs: 2\n", to);
	}
	if (strncmp(path, "search.", 7) == 0) {
		snprintf(to, sizeof to, "search:\n  %s\n%s%s", line,
			 strcmp(path, "search.method") == 0 ? "" : "  method: dpareto\n",
			 strcmp(path, "search.evaluations") == 0
				 ? ""
				 : "  evaluations: 9999999\n");
		return edit("search: {method: random, evaluations: 80}\n", to);
	}
	if (strcmp(path, "seed") == 0 || strcmp(path, "priority") == 0 ||
	    strcmp(path, "data") == 0 || strcmp(path, "constraints") == 0) {
		snprintf(to, sizeof to, "%s\n", line);
		return edit("seed: 1\n", to);
	}
	return NULL;
}

static bool accepts(const char *path, const char *line)
{
	char *text = with_line(path, line);
	struct result x = parse(text, strlen(text));
	bool ok = x.s != NULL;

	done(&x);
	free(text);
	return ok;
}

static void test_documented(void **state)
{
	size_t count, examples = 0, limits = 0;
	const struct dp_key_doc *k = dp_study_keys(&count);
	long long lo, hi, edge[4];
	const char *name;
	char line[400];

	(void)state;
	for (; count > 0; count--, k++) {
		assert_true(*k->path && *k->type && *k->otherwise && *k->help &&
			    *k->example);
		name = strrchr(k->path, '.') ? strrchr(k->path, '.') + 1 : k->path;
		assert_memory_equal(k->example, name, strlen(name));
		if (strcmp(k->path, "constraints") != 0 && !strchr(k->path, '.') &&
		    strcmp(k->path, "seed") != 0)
			continue;
		if (strncmp(k->path, "parameters", 10) == 0 ||
		    strncmp(k->path, "objectives", 10) == 0)
			continue;
		examples++;
		if (!accepts(k->path, k->example))
			fail_msg("the example of %s is refused", k->path);
		if (sscanf(k->type, "whole number from %lld to %lld", &lo, &hi) != 2)
			continue;
		limits++;
		edge[0] = lo - 1, edge[1] = lo, edge[2] = hi, edge[3] = hi + 1;
		for (int i = 0; i < 4; i++) {
			snprintf(line, sizeof line, "%s: %lld", name, edge[i]);
			if (accepts(k->path, line) != (i == 1 || i == 2))
				fail_msg("%s, but %s", k->type, line);
		}
	}
	assert_true(examples >= 25 && limits >= 8);
}

/* ---- hostile files ---- */

static struct result parse_buf(struct dp_buf *b)
{
	struct dp_buf out = DP_BUF_INIT;
	struct result x = parse(dp_buf_text(b), b->len);

	/* whatever it is, it can be shown */
	dp_problems_text(&x.problems, "t", dp_buf_text(b), b->len, &out);
	assert_false(out.failed);
	for (size_t i = 0; i < out.len; i++)
		assert_true((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	assert_true(out.len < 100000);
	dp_buf_free(&out);
	json_decref(dp_problems_json(&x.problems, dp_buf_text(b), b->len));
	return x;
}

/* Is one of the problems this one? */
static void refused(struct dp_buf *b, int line, const char *message)
{
	struct result x = parse_buf(b);
	bool found = false;

	assert_null(x.s);
	for (size_t i = 0; i < x.problems.count; i++)
		found |= x.problems.list[i].line == line &&
			 strstr(x.problems.list[i].message, message);
	if (!found)
		fail_msg("not '%s' in line %d, but %d: %s", message, line,
			 x.problems.list[0].line, x.problems.list[0].message);
	done(&x);
	dp_buf_free(b);
}

static void repeat(struct dp_buf *b, const char *s, int times)
{
	for (int i = 0; i < times; i++)
		dp_buf_puts(b, s);
}

static void test_hostile_sizes(void **state)
{
	struct dp_buf b = DP_BUF_INIT;

	(void)state;
	repeat(&b, "# ten bytes\n", 10 << 20 >> 3);
	refused(&b, 0, "too large");
	repeat(&b, "[", 100000);
	refused(&b, 1, "nested too deeply");
	repeat(&b, "{a: ", 100000);
	refused(&b, 1, "nested too deeply");
	repeat(&b, "- ", 100000);
	refused(&b, 1, "nested too deeply");
	dp_buf_puts(&b, "a: [");
	repeat(&b, "1,", 500000);
	refused(&b, 1, "too long");
	for (int i = 0; i < 100000; i++)
		dp_buf_printf(&b, "k%d: 1\n", i);
	refused(&b, 1025, "too long");
	dp_buf_puts(&b, "seed: ");
	repeat(&b, "9", 1000000);
	refused(&b, 1, "'seed' cannot be '9999");
	dp_buf_puts(&b, "study: ");
	repeat(&b, "x", 300);
	refused(&b, 1, "'study' cannot be 'xxxx");
}

static void test_hostile_yaml(void **state)
{
	struct dp_buf b = DP_BUF_INIT;
	struct result x;

	(void)state;
	/* a billion laughs */
	dp_buf_puts(&b, "a0: &a0 [lol, lol]\n");
	for (int i = 1; i < 30; i++) {
		dp_buf_printf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			dp_buf_printf(&b, "%s*a%d", k ? "," : "", i - 1);
		dp_buf_puts(&b, "]\n");
	}
	x = parse_buf(&b);
	assert_null(x.s);
	assert_true(x.problems.errors > 300 && x.problems.count == 100);
	done(&x);
	dp_buf_free(&b);
	dp_buf_puts(&b, "<<: {study: s}\n");
	refused(&b, 1, "unknown key '<<'");
	/* more escapes than libfyaml reads without a leak by its own means */
	dp_buf_puts(&b, "seed: '");
	repeat(&b, "x''", 1000);
	dp_buf_puts(&b, "'\n");
	refused(&b, 1, "'seed' cannot be 'x'x'x'");
	dp_buf_puts(&b, "a: \"unfinished\n");
	refused(&b, 1, "not YAML");
	dp_buf_puts(&b, "constraints: {s: >= 3}\n");
	refused(&b, 1, "not YAML");
	refused(&b, 0, "empty");
	dp_buf_puts(&b, "# only a comment\n");
	refused(&b, 0, "empty");
	dp_buf_puts(&b, "- study: s\n");
	refused(&b, 1, "not a list");
	dp_buf_puts(&b, "study");
	refused(&b, 1, "not a single value");
	dp_buf_puts(&b, "*a : 1\n");
	refused(&b, 1, "aliases");
}

static void test_hostile_bytes(void **state)
{
	static const char *const bad[] = { "\x80",
					   "\xc0\xaf",
					   "\xed\xa0\x80",
					   "\xff",
					   "\xf5\x80\x80\x80",
					   "\xe2\x82",
					   "\x1b[31m",
					   "\x7f",
					   "\xe0\x80\xaf",
					   "\xc2\x9b" };
	struct dp_buf b = DP_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		dp_buf_puts(&b, "study: s\nseed: ");
		dp_buf_puts(&b, bad[i]);
		dp_buf_puts(&b, "\n");
		refused(&b, 2, "not text");
	}
	dp_buf_add(&b, "study: s\n\0", 10);
	refused(&b, 2, "byte 0x00");
	/* a terminal's escape sequence, hidden in YAML's own escapes */
	dp_buf_puts(&b, "\"\\e[31mred\": 1\n");
	refused(&b, 1, "unknown key");
	dp_buf_puts(&b, "study: \"\\ud800\"\n");
	refused(&b, 1, "not YAML");
}

/* The mistake is far right in a long line: the excerpt is cut around it. */
static void test_long_line(void **state)
{
	struct dp_buf b = DP_BUF_INIT, out = DP_BUF_INIT;
	const char *line, *caret;
	struct result x;

	(void)state;
	dp_buf_puts(&b, "{");
	repeat(&b, " ", 5000);
	dp_buf_puts(&b, "seed: wrong");
	repeat(&b, " ", 5000);
	dp_buf_puts(&b, "}");
	x = parse(b.data, b.len);
	dp_problems_text(&x.problems, "t", b.data, b.len, &out);
	line = strstr(dp_buf_text(&out), "1:5008: error: 'seed' cannot be 'wrong'");
	assert_non_null(line);
	line = strchr(line, '\n') + 1;
	caret = strchr(line, '\n') + 1;
	assert_true(caret - line < 130);
	assert_int_equal(strstr(line, "wrong") - line, strchr(caret, '^') - caret);
	done(&x);
	dp_buf_free(&b);
	dp_buf_free(&out);
}

/* A library that prints would spoil somebody's terminal or protocol: what arrives on
 * standard error during a test is shown after it, and fails it. */
static int silence(void **state)
{
	static int saved;
	int fd = memfd_create("stderr", 0);

	fflush(stderr);
	saved = dup(2);
	if (fd < 0 || saved < 0 || dup2(fd, 2) < 0)
		return -1;
	close(fd);
	*state = &saved;
	return 0;
}

static int silent(void **state)
{
	int *saved = *state;
	char text[4096];
	ssize_t n;

	fflush(stderr);
	n = pread(2, text, sizeof text, 0);
	dup2(*saved, 2);
	close(*saved);
	if (n > 0)
		fwrite(text, 1, (size_t)n, stderr);
	return n == 0 ? 0 : -1;
}

/* A study of DP-SGD: words, alternatives, a warning, and its value at a point. */
static void test_dp_sgd(void **state)
{
	static const char good[] =
		"study: s\ntrainer: {command: [x]}\nparameters:\n"
		"  epochs: {type: int, range: [1, 64]}\n"
		"  lot: {type: int, range: [8, 512]}\n"
		"  noise: {type: float, range: [0.1, 16]}\n"
		"objectives:\n"
		"  epsilon: {privacy: {mechanism: dp-sgd, sampling: "
		"without-replacement,\n"
		"    records: 40000, delta: 1e-5, lot: lot, epochs: epochs,\n"
		"    noise_multiplier: noise, accountant: rdp, conversion: classic}}\n"
		"  error: {metric: e}\n"
		"anti_ideal: {epsilon: 10, error: 1}\n"
		"search: {method: random, evaluations: 3}\n";
	static const struct {
		const char *from, *to, *message;
		bool warning;
	} changes[] = {
		{ "epochs: epochs,", "epochs: epochs, steps: 5,", "exclude each other",
		  false },
		{ "    noise_multiplier: noise, ", "    ",
		  "needs the key 'noise_multiplier' or 'noise_variance'", false },
		{ "accountant: rdp", "accountant: rpd", "rpd", false },
		{ "sampling: without-replacement,", "sampling: shuffle,", "shuffle",
		  false },
		{ "delta: 1e-5", "delta: 1", "'delta' cannot be 1", false },
		{ "delta: 1e-5", "delta: 1e-3", "not below 1/records", true },
	};
	const double x[] = { 30, 128, 1.5 };
	struct dp_privacy_declared told = { NULL, NAN, NAN, NAN, NAN };
	char warning[DP_PRIVACY_WARNING_LEN];
	struct dp_epsilon e;
	struct dp_err err;
	struct result r;

	(void)state;
	r = parse(good, strlen(good));
	assert_int_equal(r.problems.count, 0);
	assert_int_equal(dp_objective_privacy(r.s, 0, x, &e, &err), DP_OK);
	/* autodp 0.1 and mpmath: 2.3670 */
	assert_true(fabs(e.epsilon - 2.36703935477) < 1e-9);
	told.sampling = "poisson";
	assert_int_equal(dp_objective_declared(r.s, 0, x, &told, warning, &err),
			 DP_E_INVALID);
	told.sampling = "without-replacement";
	told.steps = 30 * 312; /* 40000/128 = 312.5, half to even */
	assert_int_equal(dp_objective_declared(r.s, 0, x, &told, warning, &err), DP_OK);
	told.steps = 30 * 313;
	assert_int_equal(dp_objective_declared(r.s, 0, x, &told, warning, &err),
			 DP_E_INVALID);
	dp_study_free(r.s);
	dp_problems_free(&r.problems);
	for (size_t i = 0; i < DP_COUNT(changes); i++) {
		char text[2000], *at = strstr(good, changes[i].from);

		assert_non_null(at);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good,
			 changes[i].to, at + strlen(changes[i].from));
		r = parse(text, strlen(text));
		assert_int_equal(r.problems.count, 1);
		assert_int_equal(r.problems.list[0].warning, changes[i].warning);
		assert_non_null(strstr(r.problems.list[0].message, changes[i].message));
		dp_study_free(r.s);
		dp_problems_free(&r.problems);
	}
}

/* The words that a file may have are those that programs say again. */
static void test_words_of_values(void **state)
{
	static const char *const words[] = { "hvpoi", "ehvi", "poi", "random" };
	char text[sizeof base + 80];
	struct result r;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(words); i++) {
		snprintf(text, sizeof text,
			 "%.*ssearch: {method: dpareto, evaluations: 80, "
			 "acquisition: %s}\n",
			 (int)(strstr(base, "search:") - base), base, words[i]);
		r = parse(text, strlen(text));
		assert_non_null(r.s);
		assert_string_equal(dp_acquisition_text(r.s->search.acquisition),
				    words[i]);
		assert_string_equal(dp_method_text(r.s->search.method), "dpareto");
		dp_study_free(r.s);
		dp_problems_free(&r.problems);
	}
	assert_string_equal(dp_acquisition_text(DP_ACQ_DEFAULT), "ehvi");
	assert_string_equal(dp_method_text(DP_METHOD_RANDOM), "random");
	assert_string_equal(dp_method_text(DP_METHOD_GRID), "grid");
	/* one more than there are is no read past the end */
	assert_string_equal(dp_acquisition_text(DP_ACQ_RANDOM + 1),
			    "one that has no name");
	assert_string_equal(dp_method_text(DP_METHOD_DPARETO + 1),
			    "one that has no name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_grid_through_zero),
		cmocka_unit_test(test_all_in_one_go),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_objectives),
		cmocka_unit_test(test_objectives_privacy),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_documented),
		cmocka_unit_test_setup_teardown(test_hostile_sizes, silence, silent),
		cmocka_unit_test_setup_teardown(test_hostile_yaml, silence, silent),
		cmocka_unit_test_setup_teardown(test_hostile_bytes, silence, silent),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_dp_sgd),
		cmocka_unit_test(test_words_of_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
