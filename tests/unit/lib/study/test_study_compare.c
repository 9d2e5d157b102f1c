/* test_study_compare.c - which study a file means: every key of the table is looked at,
 * those that may change while a study goes on are those of this list, and what has no
 * meaning makes no difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/study_text.h"
#include "study/study_change.h"
#include "study/study_file.h"

static const char every[] =
	"study: s\n"
	"seed: 1\n"
	"priority: 2\n"
	"data: public\n"
	"trainer:\n"
	"  command: [./prog, a]\n"
	"  runs: 2\n"
	"  runs_per_process: 1\n"
	"  timeout: 90\n"
	"  grace: 5s\n"
	"  stall: 10m\n"
	"  cwd: work\n"
	"  env: {A: x, B: y}\n"
	"  retries: 1\n"
	"  max_failures: 4\n"
	"  log_limit: 2M\n"
	"  memory: 4G\n"
	"  executor: slurm\n"
	"  gpus: 2\n"
	"  slurm: {partition: long, account: us, time: 2h, options: [-xn1]}\n"
	"  path: {parameter: n, points: 20}\n"
	"parameters:\n"
	"  u: {type: float, range: [1, 2], sample: {uniform: [0, 2], accept: [1, 1.5]}}\n"
	"  n: {type: int, range: [1, 64], grid: 7, sample: {normal: {mean: 20, sd: 9}}}\n"
	"  e: {type: float, range: [0.001, 1], scale: log,\n"
	"      sample: {exponential: {rate: 10, shift: 0.001}}}\n"
	"  c: {type: categorical, values: [relu, 3]}\n"
	"  f: {fixed: 12}\n"
	"  k: {calibrate: {epsilon: e, mechanism: gaussian, delta: 1e-5}}\n"
	"objectives:\n"
	"  epsilon: {privacy: {mechanism: svt, cutoff: f, scale: e}}\n"
	"  sum: {privacy: {compose: [{mechanism: laplace, scale: u, times: 2},\n"
	"                            {mechanism: gaussian, sigma: 3}], delta: 1e-6,\n"
	"                  accountant: rdp}}\n"
	"  told: {privacy: {command: [./oracle, -v], delta: 1e-7}}\n"
	"  error: {metric: f1, of: \"1 - f1\", transform: logit, goal: minimize}\n"
	"anti_ideal: {epsilon: 10, sum: 10, told: 9, error: 1}\n"
	"search: {method: dpareto, evaluations: 80, initial: 20, parallel: 2, grid: 3,\n"
	"  order: deterministic, max_time: 1h, cost: seconds, max_cost: 99,\n"
	"  remeasure: 50,\n"
	"  front: observed, design: sobol, initial_from: other, acquisition: ehvi,\n"
	"  privacy_model: gp, gain: model, reference: front}\n"
	"constraints: {seconds: \"<= 60\"}\n";

/* A private selection with noisy utilities, and a study with a budget. */
static const char selection[] =
	"study: s\n"
	"trainer: {command: [prog]}\n"
	"parameters:\n"
	"  C: {type: int, range: [1, 3]}\n"
	"objectives:\n"
	"  epsilon: {privacy: {mechanism: gaussian, sigma: C, delta: 1e-5}}\n"
	"  error: {metric: f1, release: {records: 1000, sigma: 0.1}}\n"
	"anti_ideal: {epsilon: 10, error: 1}\n"
	"search: {method: select, rounds: {geometric: 20}}\n";
static const char budget[] = "study: s\n"
			     "trainer: {command: [prog]}\n"
			     "parameters:\n"
			     "  b: {type: float, range: [1, 3]}\n"
			     "objectives:\n"
			     "  epsilon: {privacy: {mechanism: svt, cutoff: 1, scale: b}}\n"
			     "  error: {metric: f1}\n"
			     "anti_ideal: {epsilon: 10, error: 1}\n"
			     "search: {method: random, budget: {epsilon: 900, delta: 1e-5}}\n";

/* Another value of each key, and the keys in which the study differs then; it is live if
 * `live` says so. A key that is missing here fails the test: decide whether a study with
 * another value of it is the same one (LIVE in keys.def) or not. */
static const struct other {
	const char *path;
	const char *text, *from, *to;
	const char *differs;
	bool live;
} others[] = {
	{ "study", every, "study: s", "study: t", "study", false },
	{ "seed", every, "seed: 1", "seed: 2", "seed", false },
	{ "seeds", every, "seed: 1", "seed: 1\nseeds: secret", "seeds", false },
	{ "priority", every, "priority: 2", "priority: 3", "priority", true },
	{ "data", every, "data: public", "data: private", "data", true },
	{ "trainer.command", every, "./prog, a", "./prog, b", "trainer.command", false },
	{ "trainer", every, "./prog, a", "\"./prog, a\"", "trainer.command", false },
	{ "trainer.runs", every, "runs: 2", "runs: 3", "trainer.runs", false },
	{ "trainer.runs_per_process", every, "process: 1", "process: all",
	  "trainer.runs_per_process", false },
	{ "trainer.timeout", every, "timeout: 90", "timeout: 91", "trainer.timeout", true },
	{ "trainer.grace", every, "grace: 5s", "grace: 0", "trainer.grace", true },
	{ "trainer.stall", every, "  stall: 10m\n", "", "trainer.stall", true },
	{ "trainer.cwd", every, "cwd: work", "cwd: play", "trainer.cwd", false },
	{ "trainer.env", every, "B: y", "B: z", "trainer.env.B", false },
	{ "trainer.retries", every, "retries: 1", "retries: 0", "trainer.retries", true },
	{ "trainer.max_failures", every, "max_failures: 4", "max_failures: 5",
	  "trainer.max_failures", true },
	{ "trainer.log_limit", every, "2M", "3M", "trainer.log_limit", true },
	{ "trainer.memory", every, "4G", "5G", "trainer.memory", true },
	{ "trainer.executor", every, "executor: slurm", "executor: local", "trainer.executor",
	  false },
	{ "trainer.gpus", every, "gpus: 2", "gpus: 3", "trainer.gpus", true },
	{ "trainer.slurm", every, "options: [-xn1]", "options: [-xn2]", "trainer.slurm.options",
	  false },
	{ "trainer.slurm.partition", every, "partition: long", "partition: short",
	  "trainer.slurm.partition", true },
	{ "trainer.slurm.account", every, "account: us, ", "", "trainer.slurm.account", true },
	{ "trainer.slurm.time", every, "time: 2h", "time: 3h", "trainer.slurm.time", true },
	{ "trainer.slurm.options", every, ", options: [-xn1]", "", "trainer.slurm.options", false },
	{ "trainer.path", every, "  path: {parameter: n, points: 20}\n", "",
	  "trainer.path.points trainer.path.parameter", false },
	{ "trainer.path.parameter", every, "parameter: n", "parameter: f", "trainer.path.parameter",
	  false },
	{ "trainer.path.points", every, "points: 20", "points: 9", "trainer.path.points", false },
	{ "parameters", every, "  c: {type", "  C: {type", "parameters", false },
	{ "parameters.NAME.type", every, "u: {type: float", "u: {type: int", "parameters.u.type",
	  false },
	{ "parameters.NAME.range", every, "range: [1, 64]", "range: [1, 63]",
	  "parameters.n.range parameters.n.sample.accept", false },
	{ "parameters.NAME.scale", every, "scale: log", "scale: linear", "parameters.e.scale",
	  false },
	{ "parameters.NAME.grid", every, "grid: 7", "grid: 8", "parameters.n.grid", false },
	{ "parameters.NAME.sample", every, ", sample: {normal: {mean: 20, sd: 9}}", "",
	  "parameters.n.sample.normal.mean parameters.n.sample.normal.sd "
	  "parameters.n.sample.accept",
	  false },
	{ "parameters.NAME.sample.uniform", every, "uniform: [0, 2]", "uniform: [0, 3]",
	  "parameters.u.sample.uniform", false },
	{ "parameters.NAME.sample.normal", every, "normal: {mean: 20, sd: 9}", "uniform: [1, 9]",
	  "parameters.n.sample.normal.mean parameters.n.sample.normal.sd "
	  "parameters.n.sample.uniform",
	  false },
	{ "parameters.NAME.sample.normal.mean", every, "mean: 20", "mean: 21",
	  "parameters.n.sample.normal.mean", false },
	{ "parameters.NAME.sample.normal.sd", every, "sd: 9", "sd: 8",
	  "parameters.n.sample.normal.sd", false },
	{ "parameters.NAME.sample.exponential", every, "exponential: {rate: 10, shift: 0.001}",
	  "uniform: [0.001, 1]",
	  "parameters.e.sample.exponential.rate parameters.e.sample.exponential.shift "
	  "parameters.e.sample.uniform",
	  false },
	{ "parameters.NAME.sample.exponential.rate", every, "rate: 10", "rate: 11",
	  "parameters.e.sample.exponential.rate", false },
	{ "parameters.NAME.sample.exponential.shift", every, "shift: 0.001", "shift: 0.002",
	  "parameters.e.sample.exponential.shift", false },
	{ "parameters.NAME.sample.accept", every, "accept: [1, 1.5]", "accept: [1, 1.4]",
	  "parameters.u.sample.accept", false },
	{ "parameters.NAME.values", every, "[relu, 3]", "[relu, \"3\"]", "parameters.c.values",
	  false },
	{ "parameters.NAME.fixed", every, "fixed: 12", "fixed: 13", "parameters.f.fixed", false },
	{ "parameters.NAME.calibrate", every, "delta: 1e-5}}", "delta: 1e-4}}",
	  "parameters.k.calibrate.delta", false },
	{ "parameters.NAME.calibrate.epsilon", every, "epsilon: e,", "epsilon: 0.5,",
	  "parameters.k.calibrate.epsilon", false },
	{ "parameters.NAME.calibrate.mechanism", every, "mechanism: gaussian, delta: 1e-5",
	  "mechanism: laplace", "parameters.k.calibrate.mechanism parameters.k.calibrate.delta",
	  false },
	{ "objectives", every,
	  "  told: {privacy: {command: [./oracle, -v], delta: 1e-7}}\n"
	  "  error: {metric: f1, of: \"1 - f1\", transform: logit, goal: minimize}\n",
	  "  error: {metric: f1, of: \"1 - f1\", transform: logit, goal: minimize}\n"
	  "  told: {privacy: {command: [./oracle, -v], delta: 1e-7}}\n",
	  "objectives", false },
	{ "objectives.NAME.privacy", every, "scale: e}}", "scale: u}}",
	  "objectives.epsilon.privacy.scale", false },
	{ "objectives.NAME.privacy.mechanism", every, "svt, cutoff: f,", "laplace,", NULL, false },
	{ "objectives.NAME.privacy.compose", every, "sigma: 3", "sigma: 4",
	  "objectives.sum.privacy.compose[1].sigma", false },
	{ "objectives.NAME.privacy.compose.times", every, "times: 2", "times: 3",
	  "objectives.sum.privacy.compose[0].times", false },
	{ "objectives.NAME.privacy.command", every, "./oracle, -v", "./oracle",
	  "objectives.told.privacy.command", false },
	{ "objectives.NAME.privacy.delta", every, "delta: 1e-7", "delta: 1e-8",
	  "objectives.told.privacy.delta", false },
	{ "objectives.NAME.privacy.accountant", every, "accountant: rdp", "accountant: pld",
	  "objectives.sum.privacy.accountant", false },
	{ "objectives.NAME.metric", every, "metric: f1, of: \"1 - f1\"",
	  "metric: f2, of: \"1 - f2\"", "objectives.error.metric objectives.error.of", false },
	{ "objectives.NAME.of", every, "\"1 - f1\"", "f1", "objectives.error.of", false },
	{ "objectives.NAME.release", budget, "{metric: f1}",
	  "{metric: f1, release: {records: 10, sigma: 1}}",
	  "objectives.error.release.records objectives.error.release.sigma", false },
	{ "objectives.NAME.release.records", selection, "records: 1000", "records: 999",
	  "objectives.error.release.records", false },
	{ "objectives.NAME.release.sigma", selection, "sigma: 0.1", "sigma: 0.2",
	  "objectives.error.release.sigma", false },
	{ "objectives.NAME.transform", every, "transform: logit", "transform: none",
	  "objectives.error.transform", false },
	{ "objectives.NAME.goal", every, "goal: minimize", "goal: maximize",
	  "objectives.error.goal", false },
	{ "anti_ideal", every, "told: 9", "told: 8", "anti_ideal.told", false },
	{ "search", every, "grid: 3", "grid: 4", "search.grid", false },
	{ "search.method", every, "method: dpareto", "method: random", "search.method", false },
	{ "search.evaluations", every, "evaluations: 80", "evaluations: 81", "search.evaluations",
	  true },
	{ "search.parallel", every, "parallel: 2", "parallel: 3", "search.parallel", true },
	{ "search.grid", every, "grid: 3,", "", "search.grid", false },
	{ "search.order", every, "order: deterministic", "order: asap", "search.order", false },
	{ "search.max_time", every, "max_time: 1h", "max_time: 2h", "search.max_time", true },
	{ "search.cost", every, "cost: seconds", "cost: path", "search.cost", false },
	{ "search.max_cost", every, "max_cost: 99", "max_cost: 98", "search.max_cost", false },
	{ "search.rounds", selection, "geometric: 20", "poisson: 20",
	  "search.rounds.poisson search.rounds.geometric", false },
	{ "search.rounds.poisson", selection, "geometric: 20", "poisson: 20",
	  "search.rounds.poisson search.rounds.geometric", false },
	{ "search.rounds.geometric", selection, "geometric: 20", "geometric: 21",
	  "search.rounds.geometric", false },
	{ "search.rounds.logarithmic", selection, "geometric: 20", "logarithmic: 20",
	  "search.rounds.geometric search.rounds.logarithmic", false },
	{ "search.budget", budget, "budget: {epsilon: 900, delta: 1e-5}", "evaluations: 10000000",
	  NULL, false },
	{ "search.budget.epsilon", budget, "epsilon: 900", "epsilon: 901", "search.budget.epsilon",
	  false },
	{ "search.budget.delta", budget, "delta: 1e-5", "delta: 1e-6", "search.budget.delta",
	  false },
	{ "search.remeasure", every, "remeasure: 50", "remeasure: 60", "search.remeasure", false },
	{ "search.front", every, "front: observed", "front: denoised", "search.front", false },
	{ "search.initial", every, "initial: 20", "initial: 0", "search.initial", false },
	{ "search.design", every, "design: sobol", "design: random", "search.design", false },
	{ "search.initial_from", every, "from: other", "from: that", "search.initial_from", false },
	{ "search.acquisition", every, "ehvi", "hvpoi", "search.acquisition", false },
	{ "search.privacy_model", every, "model: gp", "model: exact", "search.privacy_model",
	  false },
	{ "search.gain", every, "gain: model", "gain: original", "search.gain", false },
	{ "search.reference", every, "reference: front", "reference: anti_ideal",
	  "search.reference", false },
	{ "constraints", every, "<= 60", "<= 61", "constraints.seconds", false },
};

/* The keys in which two texts differ, and whether any or all of them are live. */
static void compared(const char *a, const char *b, struct dp_buf *keys, bool *any, bool *all)
{
	struct dp_study *from = good(a), *to = good(b);
	json_t *out = dp_study_diff(from, to), *d;
	size_t i;

	assert_non_null(out);
	*any = false;
	*all = true;
	json_array_foreach (out, i, d) {
		bool live = json_is_true(json_object_get(d, "live"));

		dp_buf_printf(keys, "%s%s", i ? " " : "", dp_json_str(d, "key", "?"));
		*any |= live;
		*all &= live;
	}
	json_decref(out);
	dp_study_free(from);
	dp_study_free(to);
}

static void test_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(others); i++) {
		const struct other *o = &others[i];
		struct dp_buf keys = DP_BUF_INIT;
		char *text = replace(o->text, o->from, o->to);
		bool any, all;

		compared(o->text, text, &keys, &any, &all);
		if (keys.len == 0)
			fail_msg("another %s makes no difference", o->path);
		if (o->live ? !all : any)
			fail_msg("another %s: is it the same study?", o->path);
		if (o->differs && strcmp(dp_buf_text(&keys), o->differs) != 0)
			fail_msg("another %s: %s", o->path, dp_buf_text(&keys));
		dp_buf_free(&keys);
		free(text);
	}
}

/* Every row of keys.def is in the list, and what the list says of it is in the row. */
static void test_all_rows(void **state)
{
	const struct dp_key_doc *docs;
	size_t n;

	(void)state;
	docs = dp_study_keys(&n);
	for (size_t i = 0; i < n; i++) {
		const struct other *found = NULL;

		for (size_t k = 0; k < DP_COUNT(others); k++)
			if (strcmp(others[k].path, docs[i].path) == 0)
				found = &others[k];
		if (!found)
			fail_msg("what does another %s mean? See others[]", docs[i].path);
		assert_int_equal(docs[i].mutability == DP_KEY_LIVE, found->live);
	}
}

static void test_no_difference(void **state)
{
	static const char *const same[][2] = {
		{ "seed: 1\n", "# a word\nseed:    1 # more\n" },
		{ "timeout: 90", "timeout: 1m30s" },
		{ "log_limit: 2M", "log_limit: 2048K" },
		{ "runs: 2\n", "runs: 2.0\n" },
		{ "  grace: 5s\n  stall: 10m\n", "  stall: 600\n  grace: 5\n" },
		{ "env: {A: x, B: y}", "env: {B: y, A: \"x\"}" },
		{ "command: [./prog, a]", "command:\n    - /dir/prog\n    - a" },
		{ "cwd: work", "cwd: /dir/work" },
		{ "range: [0.001, 1]", "range: [1e-3, 1.0]" },
		{ "acquisition: ehvi,", "" }, /* the default */
		{ "{epsilon: 10, sum: 10, told: 9, error: 1}",
		  "{error: 1, told: 9, sum: 10, epsilon: 10}" },
		{ "svt, cutoff: f, scale: e", "svt, scale: e, cutoff: f" },
		{ "goal: minimize", "goal: 'minimize'" },
	};
	struct dp_buf keys = DP_BUF_INIT;
	bool any, all;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(same); i++) {
		char *text = replace(every, same[i][0], same[i][1]);

		compared(every, text, &keys, &any, &all);
		if (keys.len)
			fail_msg("'%s': %s", same[i][1], dp_buf_text(&keys));
		free(text);
	}
	dp_buf_free(&keys);
}

/* The order of parameters decides what is drawn, that of objectives how it is sorted. */
static void test_order(void **state)
{
	char *params = edit("  C: {type: int, range: [1, 30]}\n"
			    "  b: {type: float, range: [0.01, 100], scale: log}\n",
			    "  b: {type: float, range: [0.01, 100], scale: log}\n"
			    "  C: {type: int, range: [1, 30]}\n");
	struct dp_buf keys = DP_BUF_INIT;
	bool any, all;

	(void)state;
	compared(base, params, &keys, &any, &all);
	assert_string_equal(dp_buf_text(&keys), "parameters");
	assert_false(any);
	dp_buf_free(&keys);
	free(params);
}

/* A study may be called 0. */
static void test_zero_is_a_name(void **state)
{
	char *text = replace(every, "initial_from: other", "initial_from: 0");
	struct dp_study *s = good(text);
	json_t *meaning = dp_study_canonical_json(s);

	(void)state;
	assert_string_equal(dp_json_str(meaning, "search.initial_from", "?"), "0");
	json_decref(meaning);
	dp_study_free(s);
	free(text);
}

/* What is told of a key that may change is what sets it. */
static void test_values_read_back(void **state)
{
	struct dp_study *a = good(every), *b = good(base), copy = *b;
	const struct dp_key_doc *docs;
	json_t *meaning = dp_study_canonical_json(a), *again;
	struct dp_err err;
	size_t n;

	(void)state;
	docs = dp_study_keys(&n);
	for (size_t i = 0; i < n; i++)
		if (docs[i].mutability == DP_KEY_LIVE)
			assert_int_equal(dp_study_set_key(&copy, docs[i].path,
							  dp_json_str(meaning, docs[i].path, "?"),
							  &err),
					 DP_OK);
	again = dp_study_canonical_json(&copy);
	for (size_t i = 0; i < n; i++)
		if (docs[i].mutability == DP_KEY_LIVE)
			assert_string_equal(dp_json_str(again, docs[i].path, "?"),
					    dp_json_str(meaning, docs[i].path, "!"));
	assert_true(copy.trainer.timeout == 90 && copy.trainer.log_limit == 2 << 20 &&
		    copy.search.max_time == 3600 && copy.public_data);
	json_decref(meaning);
	json_decref(again);
	dp_study_free(a);
	dp_study_free(b);
}

/* `none` where there may be none; nothing is written by what is refused. */
static void test_changes(void **state)
{
	struct dp_study *s = good(every), *hidden = good(selection);
	const struct dp_key_doc *docs;
	struct dp_err err;
	size_t n;

	(void)state;
	docs = dp_study_keys(&n);
	for (size_t i = 0; i < n; i++) {
		bool may = docs[i].mutability == DP_KEY_LIVE &&
			   strcmp(docs[i].default_text, "none") == 0;
		int code = dp_study_set_key(s, docs[i].path, "none", &err);

		assert_int_equal(code, may ? DP_OK : DP_E_INVALID);
	}
	assert_true(s->trainer.timeout == 0 && s->trainer.stall == 0 &&
		    s->trainer.memory_limit == 0 && s->search.max_time == 0);
	assert_true(s->trainer.grace == 5 && s->trainer.retries == 1 && s->search.parallel == 2 &&
		    s->trainer.max_failures == 4);
	assert_int_equal(dp_study_set_key(s, "trainer.grace", "9y", &err), DP_E_INVALID);
	assert_string_equal(err.msg, "'grace' cannot be '9y'");
	assert_int_equal(dp_study_set_key(s, "seed", "9", &err), DP_E_INVALID);
	assert_int_equal(dp_study_set_key(s, "trainer.timeout.x", "9", &err), DP_E_INVALID);
	assert_int_equal(dp_study_set_key(hidden, "trainer.timeout", "9", &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "not possible with method select"));
	assert_int_equal(dp_study_set_key(hidden, "trainer.retries", "1", &err), DP_E_INVALID);
	assert_int_equal(dp_study_set_key(hidden, "trainer.grace", "1s", &err), DP_OK);
	dp_study_free(s);
	dp_study_free(hidden);
}

static void test_names(void **state)
{
	struct dp_err err;

	(void)state;
	assert_string_equal(dp_study_find_live_key("timeout", &err)->path, "trainer.timeout");
	assert_string_equal(dp_study_find_live_key("search.max_time", &err)->path,
			    "search.max_time");
	assert_null(dp_study_find_live_key("tmeout", &err));
	assert_int_equal(err.code, DP_E_USAGE);
	assert_string_equal(err.msg, "unknown key 'tmeout'; did you mean 'timeout'?");
	assert_non_null(strstr(err.hint, "evaluations, parallel, max_time"));
	assert_null(dp_study_find_live_key("initial", &err));
	assert_string_equal(err.msg, "'initial' cannot be set: with another one it would "
				     "be another study");
	assert_null(dp_study_find_live_key("", &err));
	assert_null(dp_study_find_live_key("trainer.", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),           cmocka_unit_test(test_all_rows),
		cmocka_unit_test(test_no_difference),  cmocka_unit_test(test_order),
		cmocka_unit_test(test_zero_is_a_name), cmocka_unit_test(test_values_read_back),
		cmocka_unit_test(test_changes),        cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
