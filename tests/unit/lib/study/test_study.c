/* test_study.c - study files that are good: every key, its forms and its documentation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/support/study_text.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/objective.h"
#include "study/seeds.h"
#include "study/study_file.h"
#include "study/warm_start_source.h"

/* ---- good files ---- */

/* search.initial_from: names, and folders that cannot be taken for one. */
static void test_origins(void **state)
{
	static const struct {
		const char *given, *kept, *name, *shown;
		size_t folder;
	} cases[] = {
		{ "other", "other", "other", "other", 0 },
		{ "./old", "/dir/./old", NULL, "the only one in another state folder", 10 },
		{ "old/#a.b", "/dir/old/#a.b", "a.b", "a.b", 9 },
		{ "/x/y#a", "/x/y#a", "a", "a", 4 },
		{ "/x#y/z", "/x#y/z", NULL, "the only one in another state folder", 6 },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char search[100], *text;
		struct dp_study *s;
		const char *name;

		snprintf(search, sizeof search, "dpareto, initial_from: \"%s\"", cases[i].given);
		text = replace(base, "random", search);
		s = good(text);
		assert_string_equal(s->search.initial_from, cases[i].kept);
		assert_int_equal(dp_warm_start_parse(s->search.initial_from, &name),
				 cases[i].folder);
		assert_true(cases[i].name ? strcmp(name, cases[i].name) == 0 : !name);
		assert_string_equal(dp_warm_start_display_name(s->search.initial_from),
				    cases[i].shown);
		dp_study_free(s);
		free(text);
	}
	assert_null(dp_warm_start_display_name(NULL));
}

static void test_defaults(void **state)
{
	struct dp_study *s = good(base);

	(void)state;
	assert_string_equal(s->name, "s");
	assert_true(s->seed == 1 && s->priority == 0 && !s->public_data);
	assert_true(s->seeds == DP_SEEDS_DEFAULT && dp_study_seed_mode(s) == DP_SEEDS_SECRET);
	assert_string_equal(s->trainer.argv[0], "prog");
	assert_string_equal(s->trainer.argv[1], "a");
	assert_null(s->trainer.argv[2]);
	assert_true(s->trainer.runs == 2 && !s->trainer.run_per_process);
	assert_true(s->trainer.timeout == 0 && s->trainer.stall == 0 && s->trainer.grace == 10);
	assert_true(!s->trainer.cwd && !s->trainer.env);
	assert_true(s->trainer.retries == 3 && s->trainer.max_failures == 10 &&
		    s->trainer.log_limit == 16 << 20 && s->trainer.memory_limit == 0);
	assert_true(s->trainer.executor == DP_EXECUTOR_DEFAULT && s->trainer.gpus == 0 &&
		    !s->trainer.slurm.partition[0] && !s->trainer.slurm.options);
	assert_int_equal(s->nparams, 2);
	assert_true(s->params[0].kind == DP_PARAM_INT && !s->params[0].log_scale &&
		    s->params[0].lo == 1 && s->params[0].hi == 30 && s->params[0].accept_lo == 1 &&
		    s->params[0].accept_hi == 30 && s->params[0].dist == DP_DIST_SCALE &&
		    s->params[0].grid_points == 0);
	assert_true(s->params[1].kind == DP_PARAM_FLOAT && s->params[1].log_scale);
	assert_int_equal(s->nobjectives, 2);
	assert_string_equal(s->objectives[0].name, "epsilon");
	assert_ptr_equal(s->objectives[0].privacy->uses->mechanism, dp_mechanism_find("svt"));
	assert_true(s->objectives[0].transform == DP_TRANSFORM_LOG && !s->objectives[0].maximize &&
		    s->objectives[0].anti_ideal == 10);
	assert_true(s->objectives[0].privacy->uses->param[0] == 0 &&
		    s->objectives[0].privacy->uses->param[1] == 1 &&
		    s->objectives[0].privacy->uses->param[2] == -1 &&
		    isnan(s->objectives[0].privacy->uses->constant[2]));
	assert_string_equal(s->objectives[1].metric, "f1");
	assert_true(s->objectives[1].one_minus &&
		    s->objectives[1].transform == DP_TRANSFORM_LOGIT &&
		    s->objectives[1].anti_ideal == 1);
	assert_true(s->search.method == DP_METHOD_RANDOM && s->search.evaluations == 80 &&
		    s->search.initial == 16 && s->search.parallel == 1 && s->search.grid == 0 &&
		    !s->search.deterministic_order && s->search.max_time == 0 &&
		    s->search.acquisition == DP_ACQUISITION_DEFAULT &&
		    s->search.privacy_model == DP_PRIVACY_MODEL_DEFAULT &&
		    !s->search.sobol_design && !s->search.initial_from && !s->search.gain_model &&
		    !s->search.reference_front && s->search.front == DP_FRONT_DEFAULT &&
		    s->search.reevaluate_runs == 0);
	dp_study_free(s);
}

static const char everything[] =
	"study: all.keys-1\n"
	"seed: 9007199254740991\n"
	"priority: -3\n"
	"data: public\n"
	"seeds: secret\n"
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
	"  memory: 2.5G\n"
	"  executor: slurm\n"
	"  gpus: 1024\n"
	"  slurm: {partition: \"a,b\", account: x@y, time: 1d, options: [--x=1, -y]}\n"
	"  path: {parameter: n, points: 20}\n"
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
	"  design: sobol, initial_from: other, gain: model, reference: front,\n"
	"  front: observed, remeasure: 50}\n"
	"constraints: {seconds: \"<= 60\", acc: \">=0.5\"}\n";

static void test_all_keys(void **state)
{
	struct dp_study *s = good(everything);
	const struct dp_param *p = s->params;

	(void)state;
	assert_true(s->seed == 9007199254740991u && s->priority == -3 && s->public_data);
	assert_true(s->seeds == DP_SEEDS_SECRET);
	assert_string_equal(s->trainer.argv[0], "/dir/bin/train");
	assert_string_equal(s->trainer.argv[2], "5");
	assert_string_equal(s->trainer.argv[3], "");
	assert_true(s->trainer.runs == 10000 && s->trainer.run_per_process);
	assert_true(s->trainer.timeout == 9000 && s->trainer.grace == 0 && s->trainer.stall == 1.5);
	assert_string_equal(s->trainer.cwd, "/dir/work");
	assert_string_equal(s->trainer.env[0], "A=1");
	assert_string_equal(s->trainer.env[1], "_b2=x y");
	assert_string_equal(s->trainer.env[2], "EMPTY=");
	assert_null(s->trainer.env[3]);
	assert_true(s->trainer.retries == 0 && s->trainer.max_failures == 1 &&
		    s->trainer.log_limit == 3 << 19 && s->trainer.memory_limit == 5ull << 29);
	assert_true(s->trainer.executor == DP_EXECUTOR_SLURM && s->trainer.gpus == 1024 &&
		    s->trainer.slurm.time_limit == 86400);
	assert_string_equal(s->trainer.slurm.partition, "a,b");
	assert_string_equal(s->trainer.slurm.account, "x@y");
	assert_string_equal(s->trainer.slurm.options[0], "--x=1");
	assert_string_equal(s->trainer.slurm.options[1], "-y");
	assert_null(s->trainer.slurm.options[2]);
	assert_true(s->trainer.learning_curve.param == 1 && s->trainer.learning_curve.points == 20);
	assert_int_equal(s->nparams, 6);
	assert_true(p[0].dist == DP_DIST_UNIFORM && p[0].dist_a == 0 && p[0].dist_b == 2 &&
		    p[0].accept_lo == 0.5 && p[0].accept_hi == 1.5 && p[0].lo == 0);
	assert_true(p[1].dist == DP_DIST_NORMAL && p[1].dist_a == 20 && p[1].dist_b == 9 &&
		    p[1].grid_points == 7 && p[1].accept_hi == 64);
	assert_true(p[2].dist == DP_DIST_EXPONENTIAL && p[2].dist_a == 10 && p[2].dist_b == 0.001 &&
		    p[2].log_scale && p[2].hi == 0.1);
	assert_true(p[3].kind == DP_PARAM_CATEGORICAL);
	assert_int_equal(json_array_size(p[3].values), 5);
	assert_true(json_is_true(json_array_get(p[3].values, 3)));
	assert_true(p[4].kind == DP_PARAM_FIXED && json_integer_value(p[4].values) == 12);
	assert_string_equal(json_string_value(p[5].values), "text");
	assert_int_equal(s->nobjectives, 3);
	assert_true(s->objectives[0].transform == DP_TRANSFORM_NONE &&
		    s->objectives[0].privacy->uses->param[0] == 4 &&
		    s->objectives[0].privacy->uses->constant[1] == 2.5 &&
		    s->objectives[0].privacy->uses->constant[2] == 0);
	assert_true(s->objectives[1].maximize && !s->objectives[1].one_minus &&
		    s->objectives[1].transform == DP_TRANSFORM_LOG &&
		    s->objectives[1].anti_ideal == 0.5);
	assert_true(s->objectives[2].one_minus && s->objectives[2].anti_ideal == -5 &&
		    s->objectives[2].transform == DP_TRANSFORM_NONE);
	assert_true(s->search.method == DP_METHOD_DPARETO && s->search.evaluations == 272 &&
		    s->search.initial == 20 && s->search.parallel == 4096 && s->search.grid == 3 &&
		    s->search.acquisition == DP_ACQUISITION_RANDOM &&
		    s->search.privacy_model == DP_PRIVACY_MODEL_GP &&
		    s->search.deterministic_order && s->search.max_time == 28800 &&
		    s->search.sobol_design && s->search.gain_model && s->search.reference_front &&
		    s->search.front == DP_FRONT_OBSERVED && !dp_study_uses_smoothed_front(s) &&
		    s->search.reevaluate_runs == 50);
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
		{ "range: [1, 30]", "range: [1, 30], sample: {uniform: [0, 30], accept: [0.5, "
				    "30]}" },
	};
	static const char *const words[] = { "it's",  "t\tq\"e\xc3\xa9", "l1\nl2\n", "f1 f2",
					     "d1 d2", "p1 p2",           "007" };
	struct dp_study *s;
	char *text;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(same); i++) {
		text = edit(same[i][0], same[i][1]);
		s = good(text);
		assert_true(s->seed == 1 && s->trainer.runs == 2 && s->objectives[1].one_minus &&
			    strcmp(s->name, "s") == 0);
		dp_study_free(s);
		free(text);
	}
	/* every way to write a text */
	text = edit("[prog, a]", "\n    - 'it''s'\n    - \"t\\tq\\\"e\\u00e9\"\n    - |\n      "
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
	static const int places[][2] = { { 2, 10 }, { 1, 7 }, { 1, 9 }, { 3, 7 }, { 1, 14 } };

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
	assert_int_equal(dp_objective_epsilon(s, 0, x, &e, &err), DP_OK);
	assert_float_equal(e.epsilon, 1.5, 1e-15);
	assert_int_equal(dp_objective_epsilon(s, 1, x, &e, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "'error'"));
	/* fixed cutoff 12 and the constant scale 2.5:
	 * (1 + 24^(1/3)) (1 + 24^(2/3)) / 2.5 = 3.884499... * 9.320335... / 2.5 */
	assert_int_equal(dp_objective_epsilon(t, 0, y, &e, &err), DP_OK);
	assert_float_equal(e.epsilon, 14.481934, 1e-6);
	assert_float_equal(dp_objective_from_metric(&s->objectives[1], 0.75), 0.25, 0);
	assert_float_equal(dp_objective_from_metric(&t->objectives[1], 0.75), 0.75, 0);
	assert_true(isnan(dp_objective_from_metric(&s->objectives[1], NAN)));
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
	assert_int_equal(dp_objectives_epsilon(s, x, y, &err), DP_OK);
	assert_float_equal(y[0], 1.5, 1e-15);
	assert_true(isnan(y[1]));
	x[1] = -1;
	assert_int_equal(dp_objectives_epsilon(s, x, y, &err), DP_E_INVALID);
	assert_ptr_equal(strstr(err.msg, "objective 'epsilon': "), err.msg);
	assert_non_null(strstr(err.msg, "'scale' cannot be -1"));
	assert_int_equal(dp_objectives_epsilon(s, x, y, NULL), DP_E_INVALID);
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
		      { "svt-quick.yaml", "svt-quick", 24, 10 },
		      { "census-epsilon.yaml", "census-epsilon", 48, 5 } };
	const char *top = getenv("srcdir");
	struct dp_buf text = DP_BUF_INIT;
	struct result x;
	char path[4096];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(files); i++) {
		snprintf(path, sizeof path, "%s/examples/%s", top ? top : ".", files[i].file);
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
	bool nested = strncmp(path, "trainer.path.", 13) == 0,
	     named = strcmp(path, "trainer.path.parameter") == 0;
	char to[800];

	if (strncmp(path, "trainer.path", 12) == 0) {
		snprintf(to, sizeof to, "  %s%s%s\nparameters:\n  epochs: {fixed: 64}\n",
			 named    ? "path: {"
			 : nested ? "path: {parameter: epochs, "
				  : "",
			 line, nested ? "}" : "");
		return edit("  runs: 2\nparameters:\n", to);
	}
	if (strncmp(path, "trainer.slurm.", 14) == 0) {
		snprintf(to, sizeof to, "  slurm: {%s}\n", line);
		return edit("  runs: 2\n", to);
	}
	if (strncmp(path, "trainer.", 8) == 0) {
		snprintf(to, sizeof to, "  %s\n%s", line,
			 strcmp(path, "trainer.command") == 0 ? "" : "  command: [p]\n");
		return edit("  command: [prog, a]\n  runs: 2\n", to);
	}
	if (strncmp(path, "search.budget.", 14) == 0) {
		bool epsilon = strcmp(path, "search.budget.epsilon") == 0;

		snprintf(to, sizeof to, "search: {budget: {%s, %s}, method: random}\n", line,
			 epsilon ? "delta: 0.1" : "epsilon: 1");
		return edit("search: {method: random, evaluations: 80}\n", to);
	}
	if (strncmp(path, "search.rounds.", 14) == 0) {
		snprintf(to, sizeof to, "search: {rounds: {%s}, method: random, evaluations: 80}\n",
			 line);
		return edit("search: {method: random, evaluations: 80}\n", to);
	}
	if (strncmp(path, "search.", 7) == 0) {
		snprintf(to, sizeof to, "search:\n  %s\n%s%s%s%s", line,
			 strcmp(path, "search.initial") == 0 ? "  initial_from: a\n" : "",
			 strcmp(path, "search.max_cost") == 0 ? "  cost: seconds\n" : "",
			 strcmp(path, "search.method") == 0 ? "" : "  method: dpareto\n",
			 strcmp(path, "search.evaluations") == 0 ? "" : "  evaluations: 9999999\n");
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
		assert_true(*k->path && *k->type && *k->default_text && *k->help && *k->example);
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
		{ "epochs: epochs,", "epochs: epochs, steps: 5,", "exclude each other", false },
		{ "    noise_multiplier: noise, ", "    ",
		  "needs the key 'noise_multiplier' or 'noise_variance'", false },
		{ "accountant: rdp", "accountant: rpd", "rpd", false },
		{ "sampling: without-replacement,", "sampling: shuffle,", "shuffle", false },
		{ "delta: 1e-5", "delta: 1", "'delta' cannot be 1", false },
		{ "delta: 1e-5", "delta: 1e-3", "below 1/records", true },
	};
	const double x[] = { 30, 128, 1.5 };
	struct dp_declaration told = { NULL, NAN, NAN, NAN, NAN };
	char warning[DP_PRIVACY_WARNING_LEN];
	struct dp_epsilon e;
	struct dp_err err;
	struct result r;

	(void)state;
	r = parse(good, strlen(good));
	assert_int_equal(r.problems.count, 0);
	assert_int_equal(dp_objective_epsilon(r.s, 0, x, &e, &err), DP_OK);
	/* autodp 0.1 and mpmath: 2.3670 */
	assert_true(fabs(e.epsilon - 2.36703935477) < 1e-9);
	told.sampling = "poisson";
	assert_int_equal(dp_objective_check_declaration(r.s, 0, x, NAN, &told, warning, &err),
			 DP_E_INVALID);
	told.sampling = "without-replacement";
	told.steps = 30 * 312; /* 40000/128 = 312.5, half to even */
	assert_int_equal(dp_objective_check_declaration(r.s, 0, x, NAN, &told, warning, &err),
			 DP_OK);
	told.steps = 30 * 313;
	assert_int_equal(dp_objective_check_declaration(r.s, 0, x, NAN, &told, warning, &err),
			 DP_E_INVALID);
	dp_study_free(r.s);
	dp_diagnostics_free(&r.problems);
	for (size_t i = 0; i < DP_COUNT(changes); i++) {
		char text[2000], *at = strstr(good, changes[i].from);

		assert_non_null(at);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, changes[i].to,
			 at + strlen(changes[i].from));
		r = parse(text, strlen(text));
		assert_int_equal(r.problems.count, 1);
		assert_int_equal(r.problems.list[0].is_warning, changes[i].warning);
		assert_non_null(strstr(r.problems.list[0].message, changes[i].message));
		dp_study_free(r.s);
		dp_diagnostics_free(&r.problems);
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
		assert_string_equal(dp_acquisition_text(r.s->search.acquisition), words[i]);
		assert_string_equal(dp_method_text(r.s->search.method), "dpareto");
		dp_study_free(r.s);
		dp_diagnostics_free(&r.problems);
	}
	assert_string_equal(dp_acquisition_text(DP_ACQUISITION_DEFAULT), "ehvi");
	assert_string_equal(dp_method_text(DP_METHOD_RANDOM), "random");
	assert_string_equal(dp_method_text(DP_METHOD_GRID), "grid");
	/* one more than there are is no read past the end */
	assert_string_equal(dp_acquisition_text(DP_ACQUISITION_RANDOM + 1), "one that has no name");
	assert_string_equal(dp_method_text(DP_METHOD_SELECT + 1), "one that has no name");
}

/* Which front a study has, by its method and the word of its file. */
static void test_front(void **state)
{
	static const struct {
		const char *search;
		bool denoised;
	} rows[] = {
		{ "method: dpareto", true },
		{ "method: random", false },
		{ "method: grid, grid: 3", false },
		{ "method: dpareto, front: observed", false },
		{ "method: dpareto, front: denoised", true },
		{ "method: random, front: observed", false },
		{ "method: random, front: denoised", true },
		{ "method: grid, grid: 3, front: denoised", true },
	};
	char text[sizeof base + 80];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(rows); i++) {
		struct result r;

		snprintf(text, sizeof text, "%.*ssearch: {%s, evaluations: 9}\n",
			 (int)(strstr(base, "search:") - base), base, rows[i].search);
		r = parse(text, strlen(text));
		assert_non_null(r.s);
		assert_int_equal(r.problems.count, 0); /* no warning either */
		assert_int_equal(dp_study_uses_smoothed_front(r.s), rows[i].denoised);
		dp_study_free(r.s);
		dp_diagnostics_free(&r.problems);
	}
}

/* ---- oracles ---- */

static int answer_sum(void *arg, size_t objective, const double *x, double at, double *epsilon,
		      struct dp_err *err)
{
	(void)arg, (void)objective;
	if (x[0] > 20)
		return dp_fail(err, DP_E_INVALID, "too much");
	*epsilon = x[0] + x[1] + (isnan(at) ? 0 : at);
	return DP_OK;
}

/* A composition is what its items give when they are composed by hand, at a point and at
 * a waypoint of its training. */
static void test_composition(void **state)
{
	char *text = edit("{mechanism: svt, cutoff: C, scale: b}",
			  "{compose: [{mechanism: gaussian, sigma: 20, times: 3}, "
			  "{mechanism: dp-sgd, sampling: without-replacement, records: "
			  "1000, lot: 10, epochs: C, noise_multiplier: b}, {mechanism: "
			  "laplace, scale: 40, times: C}], delta: 1e-5}");
	struct dp_study *s = good(text);
	const struct dp_accounting_spec *o = s->objectives[0].privacy;
	double x[] = { 7, 2 }, v[3][DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item items[] = { { o->uses[0].mechanism, v[0], 3 },
					       { o->uses[1].mechanism, v[1], 1 },
					       { o->uses[2].mechanism, v[2], 7 } };
	struct dp_declaration told = { "without-replacement", 1000, 10, 700, 4 };
	struct dp_accounting_cache *prepared = dp_accounting_cache_open(s);
	char warning[DP_PRIVACY_WARNING_LEN];
	struct dp_epsilon e, again, by_hand;
	struct dp_err err;

	(void)state;
	assert_true(o->kind == DP_ACCOUNTING_COMPOSED && o->nuses == 3 && o->delta == 1e-5);
	assert_true(dp_accounting_delta(o) == 1e-5 && o->accountant == DP_PRIVACY_PLD);
	assert_true(dp_accounting_depends_on(o, 0) && dp_accounting_depends_on(o, 1));
	for (size_t i = 0; i < 3; i++)
		dp_mechanism_use_values(s, &o->uses[i], x, NAN, v[i]);
	assert_int_equal(dp_privacy_compose(items, 3, 1e-5, true, &by_hand, &err), DP_OK);
	assert_int_equal(dp_objective_epsilon(s, 0, x, &e, &err), DP_OK);
	assert_int_equal(dp_accounting_cache_epsilon(prepared, NULL, 0, x, NAN, &again, &err),
			 DP_OK);
	assert_true(e.epsilon == by_hand.epsilon && again.epsilon == e.epsilon);
	assert_true(e.epsilon > 0.1 && e.epsilon < 10);
	assert_int_equal(dp_objective_check_declaration(s, 0, x, NAN, &told, warning, &err), DP_OK);
	told.lot = 11;
	assert_int_equal(dp_objective_check_declaration(s, 0, x, NAN, &told, warning, &err),
			 DP_E_INVALID);
	dp_accounting_cache_close(prepared);
	dp_study_free(s);
	free(text);
}

static void test_program(void **state)
{
	char *text = edit("{mechanism: svt, cutoff: C, scale: b}",
			  "{command: [./ask, -v], delta: 1e-6}");
	struct dp_study *s = good(text);
	struct dp_external_callback asker = { answer_sum, NULL };
	double x[] = { 7, 2 }, y[2];
	struct dp_epsilon e;
	struct dp_composition_items uses;
	struct dp_err err;

	(void)state;
	assert_string_equal(s->objectives[0].privacy->argv[0], "/dir/ask");
	assert_string_equal(s->objectives[0].privacy->argv[1], "-v");
	assert_int_equal(dp_objective_epsilon_at(s, &asker, 0, x, NAN, &e, &err), DP_OK);
	assert_true(e.epsilon == 9 && e.delta == 1e-6);
	assert_string_equal(e.accountant, "program");
	assert_int_equal(dp_objectives_epsilon_at(s, &asker, x, NAN, y, &err), DP_OK);
	assert_true(y[0] == 9 && isnan(y[1]));
	x[0] = 21;
	assert_int_equal(dp_objectives_epsilon_at(s, &asker, x, NAN, y, &err), DP_E_INVALID);
	assert_string_equal(err.msg, "objective 'epsilon': too much");
	assert_int_equal(dp_objective_epsilon(s, 0, x, &e, &err), DP_E_FAILED);
	assert_int_equal(dp_accounting_items(s, 0, x, NAN, &uses, &err), DP_E_INVALID);
	dp_study_free(s);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),    cmocka_unit_test(test_origins),
		cmocka_unit_test(test_all_keys),    cmocka_unit_test(test_front),
		cmocka_unit_test(test_forms),       cmocka_unit_test(test_places),
		cmocka_unit_test(test_objectives),  cmocka_unit_test(test_objectives_privacy),
		cmocka_unit_test(test_examples),    cmocka_unit_test(test_documented),
		cmocka_unit_test(test_dp_sgd),      cmocka_unit_test(test_words_of_values),
		cmocka_unit_test(test_composition), cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
