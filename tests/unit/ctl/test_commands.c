/* test_commands.c - whole command lines that need no daemon: help, completion,
 * explanations, questions of privacy, study files; and what is said when one is wrong. */
#include "ctl/help.h"
#include "ctl/option_parser.h"
#include "tests/unit/support/ctl_run.h"
#include "privacy/privacy.h"
#include "study/study_file.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/support/folder.h"

#define RUN(...) ctl_run(__VA_ARGS__, NULL)

/* The command line ends well; what it printed. The caller frees it. */
#define OUT_OF(...) ended_well(RUN(__VA_ARGS__))

static char *ended_well(struct ctl_run r)
{
	if (r.code != DP_OK)
		fail_msg("%s", r.err.msg);
	free(r.talk);
	return r.out;
}

static void ended_badly(struct ctl_run r, int code, const char *told)
{
	assert_int_equal(r.code, code);
	assert_string_equal(r.talk, told);
	assert_string_equal(r.out, "");
	ctl_run_free(&r);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

/* Same, and frees the text. */
static void is_free(char *text, const char *whole)
{
	assert_string_equal(text, whole);
	free(text);
}

static void has_free(char *text, const char *part)
{
	has(text, part);
	free(text);
}

/* ---- the table ---- */

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; ctl_commands[i]; i++) {
		const struct ctl_command *c = ctl_commands[i];

		assert_ptr_equal(ctl_command_find(c->name), c);
		if (c->alias)
			assert_ptr_equal(ctl_command_find(c->alias), c);
		assert_true(c->max_args < 0 || c->min_args <= c->max_args);
		assert_true(*c->args || c->max_args == 0);
		assert_true((c->formats & CTL_TABLE_OR_JSON) == CTL_TABLE_OR_JSON);
		/* a line that fits into the list, no sentence */
		assert_true(strlen(c->summary) < 66);
		assert_true(c->summary[strlen(c->summary) - 1] != '.');
		for (const struct ctl_option *o = c->options; o && o->name; o++) {
			for (const struct ctl_option *g = ctl_global_options; g->name; g++)
				assert_true(strcmp(o->name, g->name) != 0 &&
					    (!o->letter || o->letter != g->letter));
		}
		if (!c->hidden && c != &ctl_cmd_help)
			assert_non_null(c->examples);
	}
	assert_null(ctl_command_find("lis"));
	assert_null(ctl_command_find(""));
}

static void test_dispatch(void **state)
{
	(void)state;
	has_free(OUT_OF("--help"), "usage: dparetoctl [options] COMMAND");
	has_free(OUT_OF("-q"), "The five commands to begin with");
	ended_badly(RUN("submt"), DP_E_USAGE,
		    "dparetoctl: there is no command 'submt'; did you mean 'submit'?\n"
		    "hint: 'dparetoctl --help' lists the commands\n");
	ended_badly(RUN("xyzzy"), DP_E_USAGE,
		    "dparetoctl: there is no command 'xyzzy'\n"
		    "hint: 'dparetoctl --help' lists the commands\n");
	/* options of every command may stand before it, too */
	has_free(OUT_OF("-o", "json", "--version"), "\"protocol\":1");
	has_free(OUT_OF("-o", "name", "explain"), "trainer.timeout\n");
	has_free(OUT_OF("list", "--version"), "dparetoctl ");
}

/* A program that asks for JSON gets its errors as JSON, even if the line is beyond
 * reading. */
static void test_format_of_errors(void **state)
{
	struct ctl_run r = RUN("-o", "json", "submt");

	(void)state;
	has(r.out, "{\"error\":{\"code\":2,\"kind\":\"usage\",");
	assert_string_equal(r.talk, "");
	ctl_run_free(&r);
	r = RUN("list", "--nonsense", "--output=jsonl");
	has(r.out, "\"kind\":\"usage\"");
	ctl_run_free(&r);
	r = RUN("list", "--nonsense", "--", "-ojson"); /* an argument, not an option */
	assert_string_equal(r.out, "");
	ctl_run_free(&r);
	setenv("DPARETO_OUTPUT", "json", 1);
	r = RUN("--nonsense");
	has(r.out, "\"kind\":\"usage\"");
	ctl_run_free(&r);
	r = RUN("--nonsense", "-otable");
	assert_string_equal(r.out, "");
	ctl_run_free(&r);
	unsetenv("DPARETO_OUTPUT");
}

static void test_no_daemon(void **state)
{
	struct ctl_run r = RUN("list", "--socket", "/nowhere/s");

	(void)state;
	assert_int_equal(r.code, DP_E_NO_DAEMON);
	assert_int_equal(dp_code_exit(r.code), 3);
	has(r.talk, "dparetoctl: no daemon is running (no socket at /nowhere/s)\nhint: ");
	assert_string_equal(r.out, "");
	ctl_run_free(&r);
	r = RUN("list", "--socket", "/nowhere/s", "-o", "json");
	has(r.out, "\"kind\":\"no-daemon\"");
	assert_string_equal(r.talk, "");
	ctl_run_free(&r);
	/* bytes that no name can have are refused before anybody is asked */
	r = RUN("status", "\xff\xfe", "--socket", "/nowhere/s");
	assert_int_equal(r.code, DP_E_INVALID);
	ctl_run_free(&r);
}

/* ---- help ---- */

static void test_help(void **state)
{
	char *all = OUT_OF("help");

	(void)state;
	for (size_t i = 0; ctl_commands[i]; i++) {
		const struct ctl_command *c = ctl_commands[i];
		struct dp_buf line = DP_BUF_INIT;
		char *one;

		dp_buf_printf(&line, "  %-12s%s\n", c->name, c->summary);
		assert_int_equal(strstr(all, dp_buf_text(&line)) == NULL, c->hidden);
		one = OUT_OF(c->name, "--help");
		dp_buf_clear(&line);
		dp_buf_puts(&line, "usage: ");
		ctl_format_usage(c, &line);
		assert_memory_equal(one, dp_buf_text(&line), line.len);
		for (const struct ctl_option *o = c->options; o && o->name; o++) {
			dp_buf_clear(&line);
			dp_buf_printf(&line, "--%s", o->name);
			has(one, dp_buf_text(&line));
		}
		for (char *p = strtok(one, "\n"); p; p = strtok(NULL, "\n"))
			assert_false(isspace((unsigned char)p[strlen(p) - 1]));
		dp_buf_free(&line);
		free(one);
	}
	free(all);
	has_free(OUT_OF("help", "ls"), "Short form: dparetoctl ls\n");
	ended_badly(RUN("help", "nope"), DP_E_USAGE,
		    "dparetoctl: there is no command 'nope'\n"
		    "hint: 'dparetoctl --help' lists the commands\n");
}

static void test_roff(void **state)
{
	char *roff = OUT_OF("help-man");

	(void)state;
	has(roff, ".SS \"submit FILE...\"\n");
	has(roff, "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fItable|json|jsonl|csv|name\\fR\n");
	has(roff, "the daemon\\(aqs socket");
	assert_null(strstr(roff, "help-man"));
	assert_null(strstr(roff, "help\\-man"));
	/* no line of text is taken for a request */
	for (char *line = strtok(roff, "\n"); line; line = strtok(NULL, "\n"))
		if (line[0] == '.' || line[0] == '\'')
			assert_true(strncmp(line, ".SS ", 4) == 0 || strcmp(line, ".TP") == 0 ||
				    strcmp(line, ".PP") == 0 || strcmp(line, ".EX") == 0 ||
				    strcmp(line, ".EE") == 0);
	free(roff);
}

/* ---- completion ---- */

/* Every command and option is offered where it can stand. */
static void test_completion_options(void **state)
{
	(void)state;
	for (size_t i = 0; ctl_commands[i]; i++) {
		const struct ctl_command *c = ctl_commands[i];
		char *offered = OUT_OF("complete-words", "--", c->name);
		char *options = OUT_OF("complete-words", "--", c->name, "-");
		char word[80];

		if (c->hidden)
			assert_string_equal(offered, "");
		else
			has(offered, c->name);
		for (const struct ctl_option *o = c->options; o && o->name; o++) {
			snprintf(word, sizeof word, "--%s\t%s\n", o->name, o->help);
			has(options, word);
		}
		has(options, "\n-o\thow to print");
		free(offered);
		free(options);
	}
}

/* What the words of the tables stand for, where no daemon is needed. */
static void test_completion_words(void **state)
{
	static const struct {
		const char *before, *word, *offered;
	} lines[] = {
		{ "daemon", "", "status\nreload\nstop\n" },
		{ "daemon", "s", "status\nstop\n" },
		{ "completion", "f", "fish\n" },
		{ "validate", "", ":files\n" },
		{ "journal", "d", "dump\n" },
		{ "list", "", "" },
		{ "list", "-o",
		  "-o\thow to print the result; table is for people (see "
		  "DPARETO_OUTPUT)\n" },
		{ "list", "--output=n", "--output=name\n" },
		{ "front", "-o",
		  "-o\thow to print the result; table is for people (see "
		  "DPARETO_OUTPUT)\n" },
		{ "stop", "--no", "--now\t" },
		{ "nothing", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(lines); i++) {
		char *text = OUT_OF("complete-words", "--", lines[i].before, lines[i].word);

		if (*lines[i].offered)
			has(text, lines[i].offered);
		else
			assert_string_equal(text, "");
		free(text);
	}
	/* after a value, after "--", within a list, of the command's own formats */
	has_free(OUT_OF("complete-words", "--", "daemon", "stop", "--policy", "f"), "finish\n");
	has_free(OUT_OF("complete-words", "--", "-o", "json", "daemon", "re"), "reload\n");
	is_free(OUT_OF("complete-words", "--", "daemon", "--", "--q"), "");
	is_free(OUT_OF("complete-words", "--", "front", "-o", "js"), "json\n");
	is_free(OUT_OF("complete-words", "--", "trials", "-o", "js"), "json\njsonl\n");
	has_free(OUT_OF("complete-words", "--", "set", "s", ""), "parallel=\t");
	has_free(OUT_OF("complete-words", "--", "set", "s", "parallel="), "parallel=\t");
	is_free(OUT_OF("complete-words", "--", "set", "s", "parallel=4"), "");
	has_free(OUT_OF("complete-words", "--", "explain", "search.met"), "search.method\t");
}

static void test_completion_scripts(void **state)
{
	static const char *const shells[] = { "bash", "zsh", "fish" };

	(void)state;
	for (size_t k = 0; k < DP_COUNT(shells); k++)
		has_free(OUT_OF("completion", shells[k]), " complete-words -- ");
	ended_badly(RUN("completion", "tcsh"), DP_E_USAGE,
		    "dparetoctl: there is completion for bash, zsh and fish, not for "
		    "'tcsh'\n");
	ended_badly(RUN("completion"), DP_E_USAGE,
		    "dparetoctl: 'completion' is told too little: it needs "
		    "bash|zsh|fish\n"
		    "hint: usage: dparetoctl completion bash|zsh|fish\n");
}

/* Every mechanism that there is can be completed. */
static void test_completion_mechanisms(void **state)
{
	char *list = OUT_OF("complete-words", "--", "epsilon", "--mechanism", "");

	(void)state;
	for (size_t i = 0; dp_mechanisms[i]; i++)
		has(list, dp_mechanisms[i]->name);
	free(list);
}

/* ---- explain ---- */

static void test_explain(void **state)
{
	size_t count;
	const struct dp_key_doc *keys = dp_study_keys(&count);
	char *names = OUT_OF("explain", "-o", "name"), *table = OUT_OF("explain");

	(void)state;
	assert_true(count > 20);
	for (size_t i = 0; i < count; i++) {
		char *one = OUT_OF("explain", keys[i].path);

		has(names, keys[i].path);
		has(one, keys[i].path);
		has(one, "\n  type     ");
		free(one);
	}
	has(table, "\n  timeout ");
	free(names);
	free(table);
	/* by its end, by its section, with a name where the table says NAME */
	has_free(OUT_OF("explain", "timeout"), "trainer.timeout\n");
	has_free(OUT_OF("explain", "trainer"), "\ntimeout ");
	has_free(OUT_OF("explain", "parameters.clip.range"), "parameters.NAME.range\n");
	ended_badly(RUN("explain", "timeuot"), DP_E_NOT_FOUND,
		    "dparetoctl: study files have no key 'timeuot'; did you mean "
		    "'timeout'?\n"
		    "hint: 'dparetoctl explain' lists all keys\n");
	ended_badly(RUN("explain", "a", "b"), DP_E_USAGE,
		    "dparetoctl: 'explain' takes only [KEY]; 'b' is one too many\n"
		    "hint: usage: dparetoctl explain [KEY]\n");
}

static void test_explain_mechanisms(void **state)
{
	struct ctl_run r = RUN("explain", "mechanism");

	(void)state;
	for (size_t i = 0; dp_mechanisms[i]; i++) {
		const struct dp_mechanism *m = dp_mechanisms[i];
		json_t *object, *list;
		char *text = OUT_OF("explain", m->name);

		has(text, m->name);
		for (size_t k = 0; k < m->nkeys; k++)
			has(text, m->keys[k].name);
		free(text);
		text = OUT_OF("explain", m->name, "-o", "json");
		object = json_loads(text, 0, NULL);
		list = json_object_get(object, "keys");
		assert_int_equal(json_array_size(list), m->nkeys);
		json_decref(object);
		free(text);
		has(r.talk, m->name); /* "Each mechanism has keys of its own; ..." */
	}
	ctl_run_free(&r);
}

/* ---- epsilon and noise ---- */

static double dump_field(char *text, const char *name)
{
	json_t *object = json_loads(text, 0, NULL);
	double x = json_number_value(json_object_get(object, name));

	json_decref(object);
	free(text);
	return x;
}

static void test_query(void **state)
{
	char *text =
		OUT_OF("epsilon", "--mechanism", "laplace", "--scale", "2", "--sensitivity", "1");

	(void)state;
	has(text, "epsilon 0.5 at delta 0 (closed-form)\n");
	/* what it holds for, with what was not said */
	has(text, "\nholds for\n  laplace ");
	has(text, "\n  neighbours        ");
	has(text, "\n  sensitivity       1\n");
	free(text);
	/* a name that fills its column stands on a line of its own */
	has_free(OUT_OF("epsilon", "--mechanism", "output-perturbation", "--regularization", "0.01",
			"--records", "1000", "--sigma", "1", "--delta", "1e-6"),
		 "\n  output-perturbation\n                    Gaussian noise on the ");
	has_free(OUT_OF("epsilon", "--mechanism", "laplace", "--scale", "2"), "(default)\n");
	assert_true(dump_field(OUT_OF("epsilon", "--mechanism", "laplace", "--scale", "2",
				      "--sensitivity", "1", "-o", "json"),
			       "epsilon") == 0.5);
	/* what noise answers, epsilon confirms */
	assert_true(dump_field(OUT_OF("noise", "--mechanism", "gaussian", "--delta", "1e-5",
				      "--epsilon", "1", "-o", "json"),
			       "epsilon") <= 1);
	/* '-' stands for '_' */
	has_free(OUT_OF("epsilon", "--mechanism", "dp-sgd", "--sampling", "poisson", "--records",
			"1000", "--lot", "10", "--epochs", "1", "--noise-multiplier", "2",
			"--delta", "1e-5"),
		 "\n  noise_multiplier  2\n");
}

/* Backwards: the delta of an epsilon, the most steps of a target. */
static void test_query_solved(void **state)
{
	char *text =
		OUT_OF("epsilon", "--mechanism", "laplace", "--scale", "2", "--at-epsilon", "0.5");

	(void)state;
	has(text, "delta 0 at epsilon 0.5 (closed-form)\n");
	has(text, "\nholds for\n  laplace ");
	free(text);
	assert_true(fabs(dump_field(OUT_OF("epsilon", "--mechanism", "gaussian", "--sigma", "2",
					   "--at-epsilon", "1", "-o", "json"),
				    "delta") /
				 0.00682959498 -
			 1) < 1e-4);
	text = OUT_OF("noise", "--epsilon", "2", "--solve", "cutoff", "--mechanism", "svt",
		      "--scale", "100");
	has(text, "cutoff 81\nepsilon 1.9"); /* the next costs 2.004 */
	free(text);
	assert_true(
		dump_field(OUT_OF("noise", "--epsilon", "2", "--solve", "sample-rate",
				  "--mechanism", "dp-sgd", "--sampling", "poisson", "--steps", "1",
				  "--noise-multiplier", "1", "--delta", "1e-5", "-o", "json"),
			   "sample_rate") > 0);
	ended_badly(RUN("noise", "--epsilon", "2", "--solve", "sigma", "--mechanism", "svt",
			"--scale", "1"),
		    DP_E_USAGE,
		    "dparetoctl: --solve cannot be 'sigma' with mechanism svt\n"
		    "hint: for example: --solve cutoff\n");
	ended_badly(RUN("epsilon", "--at-epsilon", "x", "--mechanism", "svt"), DP_E_USAGE,
		    "dparetoctl: --at-epsilon takes an epsilon\n");
}

/* What is told of a composition that is refused; the caller frees it. */
static char *errors_of(const char *yaml)
{
	struct ctl_run r = RUN("epsilon", "--compose", file_of("wrong.yaml", yaml));

	assert_int_equal(r.code, DP_E_INVALID);
	assert_string_equal(r.out, "");
	free(r.out);
	return r.talk;
}

static void test_query_composed(void **state)
{
	static const char yaml[] = "compose: # twice, then once\n"
				   "  - {mechanism: laplace, scale: 10, times: 2}\n"
				   "  - mechanism: exponential\n"
				   "    scale: 4\n"
				   "delta: 0\n";
	static const char json[] = "{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":"
				   "10,\"times\":2}],\"delta\":0}";
	char *text = OUT_OF("epsilon", "--compose", file_of("c.yaml", yaml));

	(void)state;
	has(text, "epsilon 0.7");
	has(text, " at delta 0 (closed-form)\n\nholds for all of these on the same data\n"
		  "  2 x laplace, neighbours: ");
	has(text, "\n  1 x exponential, neighbours: ");
	free(text);
	assert_true(
		dump_field(OUT_OF("epsilon", "-o", "json", "--compose", file_of("c.json", json)),
			   "epsilon") == 0.2);
	has_free(OUT_OF("epsilon", "--compose", file_of("c.json", json), "--at-epsilon", "0.3"),
		 "delta 0 at epsilon 0.3 (closed-form)\n");
	assert_true(dump_field(OUT_OF("epsilon", "--compose", file_of("c.json", json),
				      "--at-epsilon", "0.1", "-o", "json"),
			       "delta") > 0.01);
	ended_badly(RUN("epsilon", "--compose", "/nowhere/c.yaml"), DP_E_NOT_FOUND,
		    "dparetoctl: cannot open /nowhere/c.yaml: No such file or directory\n");
	ended_badly(RUN("epsilon", "--compose", "x", "--delta", "1e-3"), DP_E_USAGE,
		    "dparetoctl: 'delta' is not taken beside --compose\n"
		    "hint: the file has it\n");
	has_free(errors_of("compose: [{mechanism: laplace, scale: 9, often: 9}]\n"
			   "delta: 0\n"),
		 ": compose[0]: mechanism laplace has no key 'often'\n"
		 "hint: 'dparetoctl explain laplace' lists its keys; 'times' may stand "
		 "beside them\n");
	has_free(errors_of("compose: [{mechanism: laplace, scale: 9}]\ndelta: 0\n"
			   "remark: 1\n"),
		 ": a composition has no key 'remark'\n");
	ended_badly(RUN("epsilon", "--compose", "x", "--mechanism", "svt"), DP_E_USAGE,
		    "dparetoctl: --compose names all mechanisms in its file: leave out "
		    "--mechanism\n");
}

static void test_query_mistakes(void **state)
{
	(void)state;
	ended_badly(RUN("epsilon"), DP_E_USAGE,
		    "dparetoctl: --mechanism is needed\n"
		    "hint: for example: --mechanism dp-sgd\n");
	ended_badly(RUN("epsilon", "--mechanism", "svt", "--scale", "2"), DP_E_INVALID,
		    "dparetoctl: mechanism svt needs the key 'cutoff'\n"
		    "hint: cutoff is: C: the algorithm stops after this many answers "
		    "above the threshold.\n");
	ended_badly(RUN("epsilon", "--mechanism", "laplace", "--scale", "x"), DP_E_INVALID,
		    "dparetoctl: 'scale' must be a number\n");
	/* an option of another mechanism would go unheard */
	ended_badly(RUN("epsilon", "--mechanism", "laplace", "--scale", "1", "--sigma", "3"),
		    DP_E_USAGE,
		    "dparetoctl: mechanism laplace has no sigma\n"
		    "hint: it belongs to mechanism gaussian\n");
}

/* ---- study files ---- */

static const char good_study[] = "study: s\n"
				 "trainer: {command: [prog]}\n"
				 "parameters: {b: {type: float, range: [0.01, 100], scale: log}}\n"
				 "objectives:\n"
				 "  epsilon: {privacy: {mechanism: laplace, scale: b}}\n"
				 "  error: {metric: e}\n"
				 "anti_ideal: {epsilon: 10, error: 1}\n"
				 "search: {method: random, evaluations: 8}\n";

static void test_validate(void **state)
{
	struct ctl_run r = RUN("validate", file_of("good.yaml", good_study));
	json_t *object;

	(void)state;
	assert_int_equal(r.code, DP_OK);
	has(r.out, "good.yaml: study 's' is valid\n");
	ctl_run_free(&r);
	r = RUN("validate", file_of("bad.yaml", "study: 'a b'\n"));
	assert_int_equal(r.code, DP_E_INVALID);
	has(r.out, "bad.yaml:1:8: error: 'study' cannot be 'a b'\n"
		   "   1 | study: 'a b'\n"
		   "     |        ^\n");
	ctl_run_free(&r);
	r = RUN("validate", "-o", "json", file_of("bad.yaml", "study: 'a b'\n"));
	object = json_loads(r.out, 0, NULL);
	assert_true(json_is_false(json_object_get(object, "valid")));
	assert_int_equal(json_array_size(json_object_get(object, "problems")), 6);
	json_decref(object);
	ctl_run_free(&r);
	/* one that cannot be read does not keep the others from being checked, and its
	 * code is the one that counts, since it came first */
	r = RUN("validate", "/nowhere/a.yaml", file_of("bad.yaml", "study: 'a b'\n"));
	assert_int_equal(r.code, DP_E_NOT_FOUND);
	has(r.talk, "dparetoctl: ");
	has(r.out, "bad.yaml:1:8: error:");
	ctl_run_free(&r);
}

/* A bad file is refused here, with line and caret, before a daemon is looked for. */
static void test_submit_checks_first(void **state)
{
	struct ctl_run r =
		RUN("submit", "--socket", "/nowhere/s", file_of("bad.yaml", "study: 'a b'\n"));

	(void)state;
	assert_int_equal(r.code, DP_E_INVALID);
	assert_string_equal(r.out, "");
	has(r.talk, "     |        ^\n");
	has(r.talk, "is not a valid study file (6 problems)\n"
		    "hint: 'dparetoctl explain KEY' documents a key\n");
	ctl_run_free(&r);
	r = RUN("submit", "--socket", "/nowhere/s", "-o", "json",
		file_of("bad.yaml", "study: 'a b'\n"));
	has(r.out, "\"problems\":[{\"line\":1,");
	ctl_run_free(&r);
	/* a good one gets as far as the daemon */
	r = RUN("submit", "--socket", "/nowhere/s", file_of("good.yaml", good_study));
	assert_int_equal(r.code, DP_E_NO_DAEMON);
	ctl_run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_dispatch),
		cmocka_unit_test(test_format_of_errors),
		cmocka_unit_test(test_no_daemon),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_roff),
		cmocka_unit_test(test_completion_options),
		cmocka_unit_test(test_completion_words),
		cmocka_unit_test(test_completion_scripts),
		cmocka_unit_test(test_completion_mechanisms),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_mechanisms),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_query_solved),
		cmocka_unit_test(test_query_composed),
		cmocka_unit_test(test_query_mistakes),
		cmocka_unit_test(test_validate),
		cmocka_unit_test(test_submit_checks_first),
	};

	unsetenv("DPARETO_OUTPUT");
	unsetenv("DPARETO_SOCKET");
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
