/* test_trainer_command.c - the words of a study's commands: files beside it, programs that cannot
 * be started; and the study of a single training. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/support/folder.h"
#include "tests/unit/support/study_text.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

/* A study of this trainer and this oracle program. */
static struct dp_study *parse_event_study(const char *trainer, const char *oracle, char text[1024])
{
	struct dp_diagnostics problems;
	struct dp_study *s;
	struct dp_err err;

	snprintf(text, 1024,
		 "study: s\ntrainer: {command: %s}\n"
		 "parameters: {b: {type: float, range: [1, 2]}}\n"
		 "objectives:\n"
		 "  epsilon: {privacy: {command: %s, delta: 1e-5}}\n"
		 "  error: {metric: e}\n"
		 "anti_ideal: {epsilon: 10, error: 1}\n"
		 "search: {method: random, evaluations: 8}\n",
		 trainer, oracle);
	if (dp_study_parse(text, strlen(text), "f", folder, &s, &problems, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(problems.count, 0); /* it looks at no file */
	dp_diagnostics_free(&problems);
	return s;
}

static void test_files_beside(void **state)
{
	struct dp_command_files files, none = { 0 };
	struct dp_study *s, *again;
	char text[1024];

	(void)state;
	file_of("train.py", "");
	file_of("acc.py", "");
	mkdir(in_folder("data"), 0755);
	assert_int_equal(symlink("train.py", in_folder("link.py")), 0);
	s = parse_event_study("[python3, ./train.py, link.py, data, none.py, --in=train.py, "
			      "/train.py, \"\"]",
			      "[train.py, acc.py]", text);
	dp_study_resolve_files(s, folder, &files);
	assert_string_equal(s->trainer.argv[0], "python3");
	assert_string_equal(s->trainer.argv[1], in_folder("train.py"));
	assert_string_equal(s->trainer.argv[2], in_folder("link.py"));
	assert_string_equal(s->trainer.argv[3], "data");
	assert_string_equal(s->trainer.argv[4], "none.py");
	assert_string_equal(s->trainer.argv[5], "--in=train.py");
	assert_string_equal(s->trainer.argv[6], "/train.py");
	assert_string_equal(s->trainer.argv[7], "");
	assert_string_equal(s->objectives[0].privacy->argv[0], "train.py");
	assert_string_equal(s->objectives[0].privacy->argv[1], in_folder("acc.py"));
	assert_int_equal(files.n, 3);

	/* later, whatever became of the files */
	unlink(in_folder("train.py"));
	file_of("none.py", "");
	again = parse_event_study("[python3, ./train.py, link.py, data, none.py]",
				  "[train.py, acc.py]", text);
	dp_study_restore_files(again, folder, &files);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(again->trainer.argv[i], s->trainer.argv[i]);
	assert_string_equal(again->objectives[0].privacy->argv[1],
			    s->objectives[0].privacy->argv[1]);
	dp_study_free(again);

	/* a study of before there were any */
	again = parse_event_study("[python3, none.py]", "[x]", text);
	dp_study_restore_files(again, folder, &none);
	assert_string_equal(again->trainer.argv[1], "none.py");
	dp_study_free(again);
	dp_study_free(s);
	free(files.list);
}

/* The warnings about a study's commands, one line each. */
static char *warnings(const char *trainer, const char *oracle)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_buf all = DP_BUF_INIT;
	struct dp_command_files files;
	char text[1024];
	struct dp_study *s = parse_event_study(trainer, oracle, text);

	dp_study_resolve_files(s, folder, &files);
	dp_study_preflight(s, folder, "/bin", text, strlen(text), &problems);
	assert_int_equal(problems.error_count, 0);
	for (size_t i = 0; i < problems.count; i++)
		dp_buf_printf(&all, "%d:%d %s\n", problems.list[i].line, problems.list[i].column,
			      problems.list[i].message);
	dp_diagnostics_free(&problems);
	dp_study_free(s);
	free(files.list);
	return all.data ? dp_buf_detach(&all) : strdup("");
}

static void warned(const char *trainer, const char *oracle, const char *expected)
{
	char *text = warnings(trainer, oracle);

	if (expected ? !strstr(text, expected) : *text)
		fail_msg("'%s' is not what is said: %s", expected ? expected : "", text);
	free(text);
}

static void test_startable(void **state)
{
	(void)state;
	file_of("train.py", "");
	warned("[sh, train.py]", "[sh]", NULL);
	warned("[./gone, x]", "[sh]", "2:20 /");
	warned("[./gone, x]", "[sh]", "/gone does not exist\n");
	warned("[sh]", "[./gone]", "5:32 /");
	warned("[train.py]", "[sh]", "there is one beside the study file: write ./train.py\n");
	warned("[sh, trian.py]", "[sh]",
	       "2:20 there is no file 'trian.py' beside the study file, so that the word "
	       "is passed on as it is; did you mean 'train.py'?\n");
	warned("[sh, x.py], cwd: elsewhere", "[sh]", "/elsewhere' cannot be entered");
	mkdir(in_folder("there"), 0755);
	warned("[sh, x.py], cwd: there", "[sh]", "there is no file 'x.py'");
	file_of("there/x.py", "");
	warned("[sh, x.py], cwd: there", "[sh]", NULL);
	warned("[sh, x.py], cwd: .", "[sh]", "there is no file 'x.py'");
	warned("[ownsh], env: {PATH: /nowhere}", "[sh]", "nor in PATH (/nowhere)");
}

static void test_once(void **state)
{
	static const char text[] = "# a comment\n"
				   "study: s\nseed: 5\n"
				   "trainer:\n  command: [./t, \"1\", 'it''s', a b]\n  runs: 10\n"
				   "  timeout: 1m30s\n  env: {A: \"1\", B: 2}\n  retries: 2\n"
				   "parameters:\n"
				   "  x: {type: float, range: [1e-3, 1.5e2], scale: log}\n"
				   "  k: {type: categorical, values: [a, 1, true, \"1\"]}\n"
				   "  f: {fixed: \"7\"}\n"
				   "objectives:\n"
				   "  a: {metric: a, of: \"1 - a\"}\n  b: {metric: b}\n"
				   "anti_ideal: {a: 2, b: .5}\n"
				   "constraints: {seconds: \"<= 60\"}\n"
				   "search: {method: dpareto, evaluations: 80, initial: 20}\n";
	struct dp_study *s = good(text), *once;
	struct dp_buf made = DP_BUF_INIT;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_study_smoke_variant(text, strlen(text), &made, &err), DP_OK);
	once = good(dp_buf_text(&made));
	assert_int_equal(once->trainer.runs, 1);
	assert_int_equal(once->trainer.retries, 0);
	assert_int_equal(once->search.method, DP_METHOD_RANDOM);
	assert_int_equal(once->search.evaluations, 1);
	assert_int_equal(once->seed, 5);
	assert_true(once->trainer.timeout == 90);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(once->trainer.argv[i], s->trainer.argv[i]);
	assert_string_equal(once->trainer.env[0], "A=1");
	assert_true(once->params[0].lo == s->params[0].lo);
	assert_true(once->params[0].hi == s->params[0].hi);
	assert_true(json_equal(once->params[1].values, s->params[1].values));
	assert_true(json_equal(once->params[2].values, s->params[2].values));
	assert_true(once->objectives[0].one_minus);
	assert_true(once->objectives[1].anti_ideal == 0.5);
	assert_true(once->constraints[0].bound == 60);
	dp_buf_free(&made);
	dp_study_free(once);
	dp_study_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_beside),
		cmocka_unit_test(test_startable),
		cmocka_unit_test(test_once),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
