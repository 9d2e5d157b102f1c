/* test_study_diagnostics.c - study files with mistakes: what is said, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/study_text.h"
#include "study/diagnostics.h"

/* ---- bad files: one mistake each; '@' in the new text marks its place ---- */

struct mistake {
	const char *from, *to, *message;
};

static void check_mistake(const struct mistake *m, bool warning)
{
	char *text = edit(m->from, m->to), *mark = strchr(text, '@');
	int line = 1, column = 1;
	const struct dp_diagnostic *p;
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
		fail_msg("'%s': at %d:%d, not %d:%d", m->to, p->line, p->column, line, column);
	assert_int_equal(p->is_warning, warning);
	assert_int_equal(x.s != NULL, warning);
	done(&x);
	free(text);
}

#define PARAM_B "  b: {type: float, range: [0.01, 100], scale: log}\n"
/* one more parameter */
#define EXTRA(text, message)                                                                       \
	{                                                                                          \
		"objectives:\n", "  " text "\nobjectives:\n", message                              \
	}

#define SVT "{mechanism: svt, cutoff: C, scale: b}"

#define UNTIL_WORST "logit}\nanti_ideal: {epsilon: 10, error: 1}"
#define RELEASED    "logit, release: {records: 9, sigma: 1}}\n"
#define WORST       "anti_ideal: {epsilon: 10, error: 1, more: 1}"
#define ORACLE      "objectives:\n  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}\n"

static const struct mistake mistakes[] = {
	/* compositions and programs */
	{ SVT, "{mechanism: laplace, scale: b, group: @C}", "'group' cannot be 'C', which varies" },
	{ SVT, "{@mechanisn: svt, cutoff: C, scale: b}", "did you mean 'mechanism'" },
	{ SVT, "{@compos: [{mechanism: laplace, scale: b}], delta: 0}", "did you mean 'compose'" },
	{ SVT, "{compose: [@{scale: b}], delta: 0}", "'privacy.compose.mechanism' is missing" },
	{ SVT, "{compose: [@{compose: [{mechanism: laplace, scale: b}]}], delta: 0}",
	  "the key 'privacy.compose.mechanism' is missing" },
	{ SVT, "{compose: [{mechanism: @lplace, scale: b}], delta: 0}", "did you mean 'laplace'" },
	{ SVT, "{compose: [{mechanism: laplace, scale: b, @tims: 2}], delta: 0}",
	  "did you mean 'times'" },
	{ SVT, "{compose: [{mechanism: laplace, scale: b, times: @0}], delta: 0}",
	  "'times' cannot be 0" },
	{ SVT, "{compose: [{mechanism: laplace, scale: C, times: @b}], delta: 0}",
	  "'times' needs whole numbers" },
	{ SVT, "{compose: [{mechanism: laplace, scale: b, @delta: 0}], delta: 0}",
	  "'delta' is the whole composition's" },
	{ SVT, "{compose: [{mechanism: laplace, scale: b}], delta: @1}", "'delta' cannot be 1" },
	{ "privacy: {mechanism: svt, cutoff: C, scale: b}",
	  "@privacy: {compose: [{mechanism: laplace, scale: b}]}", "the key 'delta' is missing" },
	{ SVT, "{compose: [{mechanism: laplace, scale: b}], delta: 0, @accountent: rdp}",
	  "did you mean 'accountant'" },
	{ SVT, "{compose: @{mechanism: laplace, scale: b}, delta: 0}", "compose" },
	{ "privacy: {mechanism: svt, cutoff: C, scale: b}",
	  "@privacy: {compose: [{mechanism: gaussian, sigma: b}], delta: 0}",
	  "'delta' must be above 0" },
	{ "privacy: {mechanism: svt, cutoff: C, scale: b}",
	  "@privacy: {compose: [{mechanism: dp-sgd, sampling: poisson, records: 9, lot: "
	  "1, "
	  "epochs: C, noise_multiplier: b}, {mechanism: dp-sgd, sampling: "
	  "without-replacement, records: 9, lot: 1, epochs: C, noise_multiplier: b}], "
	  "delta: 0.001}",
	  "different neighbouring relations" },
	{ "privacy: {mechanism: svt, cutoff: C, scale: b}", "@privacy: {command: [prog]}",
	  "the key 'delta' is missing" },
	{ SVT, "{command: [prog], delta: 0, @scale: b}", "unknown key 'scale' beside 'command'" },
	/* calibrated parameters */
	EXTRA("n: {calibrate: {epsilon: @0, mechanism: svt, cutoff: C}}", "'epsilon' cannot be 0"),
	EXTRA("n: {calibrate: {epsilon: @f, mechanism: svt, cutoff: C}}", "'f' names no parameter"),
	EXTRA("n: {@calibrate: {mechanism: svt, cutoff: C}}",
	      "the key 'parameters.NAME.calibrate.epsilon' is missing"),
	EXTRA("n: {@calibrate: {epsilon: b, cutoff: C}}",
	      "the key 'calibrate.mechanism' is missing"),
	EXTRA("n: {calibrate: {epsilon: b, @mechanisn: svt, cutoff: C}}",
	      "did you mean 'mechanism'"),
	EXTRA("n: {calibrate: {epsilon: b, mechanism: @svn, cutoff: C}}", "did you mean 'svt'"),
	EXTRA("n: {@calibrate: {epsilon: b, mechanism: svt}}", "needs the key 'cutoff'"),
	EXTRA("n: {calibrate: {epsilon: b, mechanism: svt, cutoff: C, @scale: 3}}",
	      "'scale' is what the parameter is solved for"),
	EXTRA("n: {calibrate: {epsilon: b, mechanism: dp-sgd, sampling: poisson, "
	      "records: 9, lot: 1, epochs: C, delta: 1e-5, @noise_variance: 3}}",
	      "'noise_variance' is what the parameter is solved for"),
	EXTRA("n: {calibrate: {epsilon: b, mechanism: svt, cutoff: C, @cutof: 2}}",
	      "mechanism svt has no key 'cutof'"),
	EXTRA("n: {calibrate: {epsilon: b, mechanism: svt, cutoff: C}, @grid: 3}",
	      "a calibrated parameter has no other key than 'calibrate'"),
	EXTRA("n: {calibrate: @3}", "calibrate"),
	EXTRA("n: {calibrate: {epsilon: b, mechanism: svt, cutoff: C}}\n"
	      "  m: {calibrate: {epsilon: @n, mechanism: svt, cutoff: C}}",
	      "'epsilon' cannot be 'n', which is itself calibrated"),
	EXTRA("n: {calibrate: {epsilon: b, mechanism: gaussian, delta: 1e-5, "
	      "sensitivity: @n}}",
	      "'sensitivity' cannot be 'n', which is itself calibrated"),
	{ ORACLE,
	  "  n: {calibrate: {epsilon: b, mechanism: svt, cutoff: C}}\nobjectives:\n"
	  "  epsilon: {privacy: {mechanism: svt, cutoff: @n, scale: b}}\n",
	  "calibrated, to any number above 0, which 'cutoff' cannot be" },
	{ ORACLE,
	  "  n: {calibrate: {epsilon: b, mechanism: dp-sgd, sampling: poisson, records: "
	  "9, "
	  "lot: 1, epochs: C, delta: 1e-5}}\nobjectives:\n  epsilon: {privacy: "
	  "{mechanism: dp-sgd, sampling: poisson, records: 9, lot: 1, epochs: C, delta: "
	  "1e-5, noise_variance: @n}}\n",
	  "'n' is calibrated as 'noise_multiplier', not as 'noise_variance'" },
	{ "  runs: 2\nparameters:\n",
	  "  path: C\nparameters:\n"
	  "  n: {calibrate: {epsilon: b, mechanism: svt, cutoff: @C}}\n",
	  "'cutoff' cannot be 'C', which trainer.path walks up" },
	{ "  runs: 2\nparameters:\n",
	  "  path: C\nparameters:\n"
	  "  n: {calibrate: {epsilon: @C, mechanism: svt, cutoff: 3}}\n",
	  "'epsilon' cannot be 'C', which trainer.path walks up" },
	{ "  runs: 2\nparameters:\n",
	  "  path: @n\nparameters:\n"
	  "  n: {calibrate: {epsilon: b, mechanism: svt, cutoff: 3}}\n",
	  "cannot walk up 'n', which is a calibrated parameter" },
	/* lots of a fraction, and a rate in the place of lots */
	{ SVT,
	  "{mechanism: dp-sgd, sampling: without-replacement, records: 9, lot: @b, "
	  "epochs: C, noise_multiplier: 1, delta: 1e-5}",
	  "'lot' needs whole numbers here, but parameter 'b' is a float" },
	{ SVT,
	  "{mechanism: dp-sgd, sampling: without-replacement, records: 9, lot: @1.5, "
	  "epochs: C, noise_multiplier: b, delta: 1e-5}",
	  "'lot' cannot be 1.5" },
	{ SVT,
	  "{mechanism: dp-sgd, sampling: poisson, records: 9, @sample_rate: 0.1, "
	  "epochs: C, noise_multiplier: b, delta: 1e-5}",
	  "'records' and 'sample_rate' exclude each other" },
	/* names and unknown keys */
	{ "study: s", "study: @../x", "'study' cannot be '../x'" },
	{ "study: s", "study: @a b", "'study' cannot be 'a b'" },
	{ "study: s", "study: @\"\"", "'study' cannot be ''" },
	{ "seed: 1", "@sed: 1", "unknown key 'sed'; did you mean 'seed'?" },
	{ "trainer:", "@trianer:", "did you mean 'trainer'?" },
	{ "seed: 1", "@runs: 1", "there is trainer.runs" },
	{ "seed: 1", "@zzzzzz: 1", "unknown key 'zzzzzz'" },
	{ "runs: 2", "@rnus: 2", "did you mean 'runs'?" },
	{ "search: {method", "search: {@evalutions: 3, method", "did you mean 'evaluations'" },
	{ "evaluations: 80", "@evalutions: 80", "did you mean 'evaluations'?" },
	{ "seed: 1", "seed: 1\n@seed: two", "given twice; the first is in line 2" },
	{ "runs: 2", "runs: 2\n  @\"runs\": 3", "given twice; the first is in line 5" },
	/* missing keys, told where they belong */
	{ "trainer:\n  command: [prog, a]\n", "@trainer:\n", "'trainer.command' is missing" },
	{ "search: {method: random, ", "@search: {", "'search.method' is missing" },
	{ "seed: 1", "@seed:", "'seed' has no value" },
	{ "seed: 1", "@seed: ~", "'seed' has no value" },
	/* types */
	{ "seed: 1", "seed: @\"1\"", "is the text \"1\", not a number; remove the quotes" },
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
	{ "seed: 1", "seeds: @secrt", "did you mean 'secret'?" },
	{ "seed: 1", "seeds: @1", "'seeds' cannot be '1'" },
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
	{ "runs: 2", "executor: @pbs", "'executor' cannot be 'pbs'" },
	{ "runs: 2", "gpus: @1025", "'gpus' cannot be 1025" },
	{ "runs: 2", "slurm: @[a]", "'slurm' cannot be a list" },
	{ "runs: 2", "slurm: {partition: @'a b'}", "'partition' cannot be 'a b'" },
	{ "runs: 2", "slurm: {account: @-x}", "'account' cannot be '-x'" },
	{ "runs: 2", "slurm: {time: @0.5s}", "'time' cannot be 0.5s" },
	{ "runs: 2", "slurm: {options: @--x}", "'options' cannot be '--x'" },
	{ "runs: 2", "slurm: {options: [@'']}", "'options' has an entry without a value" },
	{ "runs: 2", "slurm: {options: [--x=1, @y]}",
	  "'options' cannot have 'y', which would be taken for the job's script" },
	{ "runs: 2", "slurm: {options: [@--wrap=y]}", "'options' cannot have '--wrap=y'" },
	{ "runs: 2", "slurm: {options: [-x, y, @-a0-3]}",
	  "'options' cannot have '-a0-3', which would have jobs that are not found" },
	{ "runs: 2", "slurm: {options: [@--wait]}", "'options' cannot have '--wait'" },
	{ "runs: 2", "slurm: {@partitoin: a}", "unknown key 'partitoin'" },
	{ "runs: 2", "memory: @much", "'memory' cannot be 'much'" },
	{ "runs: 2", "memory: @0", "'memory' cannot be '0'" },
	{ "runs: 2", "memory: @1023K", "'memory' cannot be '1023K'" },
	{ "runs: 2", "cwd: @\"\"", "'cwd' is empty" },
	{ "method: random", "method: dpareto, initial_from: @a b",
	  "'initial_from' cannot be 'a b'" },
	{ "method: random", "method: dpareto, initial_from: @./a#-b",
	  "what follows '#' is no name of a study" },
	{ "runs: 2", "path: @c", "'path' names no parameter 'c'" },
	{ "runs: 2", "path: @b", "cannot walk up 'b', which is a float parameter" },
	{ "runs: 2", "path: @[C]", "'path' cannot be a list" },
	{ "runs: 2", "path: @{}", "'path' is empty" },
	{ "runs: 2", "@path:", "'path' has no value" },
	{ "runs: 2", "@path: {points: 3}", "'trainer.path.parameter' is missing" },
	{ "runs: 2", "path: {parameter: @[C]}", "'parameter' cannot be a list" },
	{ "runs: 2", "path: {parameter: @x, points: 3}", "names no parameter 'x'" },
	{ "runs: 2", "path: {parameter: C, points: @0}", "'points' cannot be 0" },
	{ "runs: 2", "path: {parameter: C, points: @65}", "'points' cannot be 65" },
	{ "runs: 2", "path: {parameter: C, @point: 6}", "did you mean 'points'?" },
	{ "runs: 2\nparameters:\n", "path: @n\nparameters:\n  n: {fixed: 1}\n",
	  "cannot walk up 'n': on the way to its fixed value there is no other" },
	{ "runs: 2\nparameters:\n", "path: @n\nparameters:\n  n: {fixed: 2.5}\n",
	  "cannot walk up 'n'" },
	{ "runs: 2\nparameters:\n", "path: @n\nparameters:\n  n: {fixed: many}\n",
	  "cannot walk up 'n'" },
	{ "runs: 2\nparameters:\n", "path: @n\nparameters:\n  n: {type: int, range: [0, 9]}\n",
	  "cannot begin at 0" },
	{ "runs: 2\nparameters:\n", "path: @n\nparameters:\n  n: {type: int, range: [-3, 9]}\n",
	  "cannot begin at -3" },
	{ "runs: 2\nparameters:\n",
	  "path: @n\nparameters:\n  n: {type: categorical, values: [1, 2]}\n",
	  "which is a categorical parameter" },
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
	EXTRA("x: {type: float, range: [0, 1], sample: {uniform: @[1, 0]}}", "'uniform' is "),
	EXTRA("x: {type: float, range: [0, 1], sample: {normal: {mean: 0, sd: @0}}}", "'sd' "),
	EXTRA("x: {type: float, range: [0, 1], sample: {@normal: {mean: 0}}}", "sample."),
	EXTRA("x: {type: float, range: [0, 1], sample: {exponential: {rate: @-1}}}", "'rate' "),
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
	{ "{metric: f1, of: \"1 - f1\", transform: logit}", "@metric", "'error' cannot be" },
	{ "  error: {metric: f1, of: \"1 - f1\", transform: logit}", "  @error: {transform: logit}",
	  "says neither 'privacy' nor 'metric'" },
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
	{ "cutoff: C", "cutoff: @b", "needs whole numbers, but parameter 'b' is a float" },
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
	{ "method: random", "method: dpareto, initial: @0",
	  "'initial' can be 0 only with 'initial_from'" },
	{ "evaluations: 80", "evaluations: @0", "'evaluations' cannot be 0" },
	{ "evaluations: 80", "evaluations: @10000001", "'evaluations' cannot be" },
	{ "evaluations: 80", "evaluations: 80, parallel: @0", "'parallel' cannot be 0" },
	{ "evaluations: 80", "evaluations: 80, parallel: @4097", "'parallel' cannot be" },
	{ "evaluations: 80", "evaluations: 80, max_time: @0", "'max_time' cannot be 0" },
	{ "evaluations: 80", "evaluations: 80, order: @quick", "'order' cannot be" },
	{ "evaluations: 80", "evaluations: 80, cost: @privacy", "'cost' cannot be" },
	{ "evaluations: 80", "evaluations: 80, cost: @path", "has no trainer.path" },
	{ "evaluations: 80", "evaluations: 80, cost: seconds, max_cost: @0",
	  "'max_cost' cannot be 0" },
	{ "evaluations: 80", "evaluations: 80, @max_cost: 9",
	  "'cost' is none where there is no trainer.path" },
	{ "evaluations: 80", "evaluations: 80, cost: none, @max_cost: 9",
	  "'max_cost' has nothing to count: 'cost' is none" },
	{ "evaluations: 80", "evaluations: 80, cost: @privacy", "no search.budget to spend" },
	{ "evaluations: 80", "budget: {epsilon: 1, delta: 0.1}, cost: privacy, @max_cost: 9",
	  "what privacy may cost is 'budget'" },
	{ "evaluations: 80", "evaluations: 80, remeasure: @-1", "'remeasure' cannot be -1" },
	{ "evaluations: 80", "evaluations: 80, remeasure: @100001",
	  "'remeasure' cannot be 100001" },
	{ "evaluations: 80", "budget: @4", "'budget' cannot be" },
	{ "evaluations: 80", "@budget: {epsilon: 4}", "'search.budget.delta' is missing" },
	{ "evaluations: 80", "budget: {epsilon: @0, delta: 0.1}", "'epsilon' cannot be 0" },
	{ "evaluations: 80", "budget: {epsilon: 1, delta: @1}",
	  "'budget.delta' is 1, which promises nothing" },
	{ "evaluations: 80", "budget: {epsilon: 1, delta: 0.1, @order: 9}", "unknown key" },
	{ "method: random, evaluations: 80", "method: @grid, grid: 1000000",
	  "the grid has 30000000 points" },
	/* constraints */
	{ "search:", "constraints: {s: @\"< 3\"}\nsearch:", "cannot be '< 3'" },
	{ "search:", "constraints: {s: @\"<= x\"}\nsearch:", "cannot be '<= x'" },
	{ "search:", "constraints: {@s t: \"<= 3\"}\nsearch:", "cannot name a metric" },
	/* release */
	{ "logit}", "logit, release: {records: 100, sigma: @0}}", "'sigma' cannot be 0" },
	{ "logit}", "logit, release: {records: @0.5, sigma: 1}}", "share of 0.5 records" },
	{ "logit}", "logit, @release: {records: 100}}", "release.sigma' is missing" },
	{ "scale: b}}", "scale: b}, @release: {records: 9, sigma: 1}}", "for a metric" },
	{ UNTIL_WORST, RELEASED "  @more: {metric: t}\n" WORST,
	  "objective 'more' needs 'release'" },
	{ UNTIL_WORST, RELEASED "  @more: {metric: f1, release: {records: 9, sigma: 1}}\n" WORST,
	  "'error' and 'more' have the same metric" },
	{ "logit}\n", RELEASED "@constraints: {t: \"<= 3\"}\n", "exact values" },
	/* YAML */
	{ "seed: 1", "seed: @&a 1", "anchors (&name)" },
	{ "seed: 1", "seed: @*a", "aliases (*name)" },
	{ "seed: 1", "seed: @!!int 1", "tags (!name)" },
	{ "seed: 1", "seed: 1\n@--- \n", "a second document" },
	{ "seed: 1", "? @[a]\n: 1", "a key cannot be a list" },
	{ "seed: 1", "data: @\"a\\0b\"", "holds a NUL" },
};

/* What another study cost on the same records is not in the budget of this one. */
static void budget_is_of_one_study(void **state)
{
	char *text = edit("method: random, evaluations: 80",
			  "method: dpareto, initial_from: other, budget: {epsilon: 1, "
			  "delta: 0.1}");
	struct result x = parse(text, strlen(text));
	bool told = false;

	(void)state;
	assert_non_null(x.s);
	for (size_t i = 0; i < x.problems.count; i++)
		told |= strstr(x.problems.list[i].message, "'other' cost on the same") != NULL;
	assert_true(told);
	done(&x);
	free(text);
}

/* What must not stand beside it is told wherever it stands. */
static void release_stands_alone(void **state)
{
	static const struct mistake beside[] = {
		{ "runs: 2", "runs: 2\n  runs_per_process: 1", "all runs of an evaluation" },
		{ "random,", "dpareto, initial_from: other,", "'initial_from' cannot" },
	};
	char *one, *two;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(beside); i++) {
		struct result x;

		one = edit("logit}", "logit, release: {records: 9, sigma: 1}}");
		two = replace(one, beside[i].from, beside[i].to);
		x = parse(two, strlen(two));
		assert_int_equal(x.problems.error_count, 1);
		assert_non_null(strstr(x.problems.list[0].message, beside[i].message));
		done(&x);
		free(one);
		free(two);
	}
}

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
		{ "anti_ideal: {epsilon: 10, error: 1}\n", "", 1, 1, "'anti_ideal' is missing" },
		{ "search: {method: random, evaluations: 80}\n", "", 1, 1, "'search' is missing" },
		{ ", evaluations: 80}", "}", 13, 1, "'search.evaluations' is missing" },
		{ "{mechanism: svt, ", "{", 10, 13, "privacy.mechanism' is missing" },
		{ "  error: {metric: f1, of: \"1 - f1\", transform: logit}\nanti_ideal: "
		  "{epsilon: 10, error: 1}",
		  "anti_ideal: {epsilon: 10}", 9, 1, "a front needs two objectives" },
		{ "method: random, evaluations: 80", "method: grid", 7, 3,
		  "no number of points for parameter 'C'" },
		{ "[1, 30]", "[0, 30]", 10, 47, "parameter 'C' can be 0, but 'cutoff' cannot" },
		{ "{type: int, range: [1, 30]}", "{type: categorical, values: [1, 2]}", 10, 47,
		  "parameter 'C' is categorical" },
		{ "{type: int, range: [1, 30]}", "{fixed: \"3\"}", 10, 47,
		  "parameter 'C' is not a number" },
		{ "{type: int, range: [1, 30]}", "{fixed: 3.5}", 10, 47,
		  "parameter 'C' can be 3.5, but 'cutoff' cannot" },
		{ "range: [0.01, 100], scale: log}",
		  "range: [0.01, 100], sample: {uniform: [0, 1], accept: [0, 1]}}", 10, 57,
		  "parameter 'b' can be 0, but 'scale' cannot" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char *text = edit(cases[i].from, cases[i].to);
		struct result x = parse(text, strlen(text));
		const struct dp_diagnostic *p = x.problems.list;

		assert_null(x.s);
		if (!strstr(p->message, cases[i].message) || p->line != cases[i].line ||
		    p->column != cases[i].column)
			fail_msg("%s: %d:%d: %s", cases[i].message, p->line, p->column, p->message);
		done(&x);
		free(text);
	}
}

static void test_warnings(void **state)
{
	static const struct mistake cases[] = {
		{ "evaluations: 80", "evaluations: 80, @initial: 5", "only for method dpareto" },
		{ "evaluations: 80", "evaluations: 80, @gain: model", "only for method dpareto" },
		{ "method: random, evaluations: 80", "method: grid, grid: 5, evaluations: @80",
		  "has only 25 points" },
		{ "method: random, evaluations: 80", "method: grid, grid: 10, evaluations: @80",
		  "first 80 of the grid's 100" },
		{ "method: random", "method: dpareto, initial: @81", "never chooses" },
		{ "evaluations: 80", "evaluations: 80, @cost: seconds",
		  "only for method dpareto, or with 'max_cost'" },
		{ "evaluations: 80", "@budget: {epsilon: 1, delta: 0.1}",
		  "keeps room for the 3 times that trainer.retries" },
		{ "method: random", "method: dpareto, order: deterministic, cost: @seconds",
		  "seconds differ from one run" },
		{ "method: random",
		  "method: random, order: deterministic, max_cost: 9, cost: @seconds",
		  "seconds differ from one run" },
		{ "seed: 1", "seed: 1\nseeds: @fixed", "fixed on private data" },
		{ "runs: 2\nparameters:\n",
		  "path: @n\nparameters:\n  n: {type: int, range: [1, 9]}\n",
		  "no privacy objective depends on 'n'" },
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
	check_method(", range: [1, 2], sample: {uniform: [0, 9], accept: [3, 4]}}", dpareto,
		     "have nothing in common");
	check_method(", range: [1, 2], sample: {normal: {mean: 6, sd: 1}, accept: [1, 9]}}",
		     dpareto, "with probability 3.14e-05 only"); /* Phi(-4) - Phi(-5) */
}

static void test_grid_through_zero(void **state)
{
	char *text = edit("objectives:\n",
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
	dp_diagnostics_format(&x.problems, "t.yaml", text.data, text.len, &out);
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

	list = dp_diagnostics_to_json(&x.problems, text.data, text.len);
	assert_int_equal(json_array_size(list), 6);
	assert_string_equal(dp_json_str(json_array_get(list, 5), "source", ""), "  evalutions: 80");
	assert_string_equal(dp_json_str(json_array_get(list, 5), "severity", ""), "error");
	assert_int_equal(dp_json_int(json_array_get(list, 5), "line", 0), 12);
	assert_int_equal(dp_json_int(json_array_get(list, 5), "column", 0), 3);
	assert_string_equal(dp_json_str(json_array_get(list, 4), "allowed", ""), "number");
	json_decref(list);
	done(&x);
	dp_buf_free(&text);
	dp_buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),          cmocka_unit_test(budget_is_of_one_study),
		cmocka_unit_test(release_stands_alone),   cmocka_unit_test(test_missing),
		cmocka_unit_test(test_warnings),          cmocka_unit_test(test_methods),
		cmocka_unit_test(test_grid_through_zero), cmocka_unit_test(test_all_in_one_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
