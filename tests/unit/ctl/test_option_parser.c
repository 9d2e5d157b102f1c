/* test_option_parser.c - command lines: what is understood, and what is said about the
 * rest. */
#include "ctl/option_parser.h"
#include "ctl/ui/result_id.h"
#include "ctl/mechanism_query.h"
#include "tests/unit/support/ctl_run.h"

#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

/* Reads a line of words for a command (NULL: what stands before one). */
static int parse_line(struct ctl *ctl, const char *command, char *line, struct dp_err *err)
{
	static char *argv[64]; /* options point into it */
	int argc = 0;

	for (char *w = strtok(line, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	*ctl = (struct ctl){ .out = stdout, .err_stream = stderr };
	return ctl_parse_options(ctl, command ? ctl_command_find(command) : NULL, argc, argv, err);
}

static void parse_ok(struct ctl *ctl, const char *command, char *line)
{
	struct dp_err err;

	if (parse_line(ctl, command, line, &err) != DP_OK)
		fail_msg("%s: %s", line, err.msg);
}

#define LINE(text)                                                                                 \
	(char[])                                                                                   \
	{                                                                                          \
		text                                                                               \
	}

static void parse_bad(const char *command, char *line, const char *sentence, const char *hint)
{
	struct ctl ctl;
	struct dp_err err = { 0 };

	assert_int_equal(parse_line(&ctl, command, line, &err), DP_E_USAGE);
	assert_string_equal(err.msg, sentence);
	assert_string_equal(err.hint, hint);
	free(ctl.given_options);
}

static void test_before_command(void **state)
{
	struct ctl ctl;

	(void)state;
	parse_ok(&ctl, NULL, LINE("dparetoctl -q --socket /s list --best 1"));
	assert_true(ctl.quiet);
	assert_string_equal(ctl.socket, "/s");
	/* stops at the first word: what follows is the command's */
	assert_int_equal(ctl.argc, 3);
	assert_string_equal(ctl.argv[0], "list");
	assert_string_equal(ctl.argv[1], "--best");
	free(ctl.given_options);
}

static void test_of_command(void **state)
{
	struct ctl ctl;

	(void)state;
	parse_ok(&ctl, "logs", LINE("logs --tail 3 s --follow 7 -o table --tail=5"));
	/* options may stand anywhere; the last one counts */
	assert_int_equal(ctl.argc, 2);
	assert_string_equal(ctl.argv[0], "s");
	assert_string_equal(ctl.argv[1], "7");
	assert_string_equal(ctl_get_option(&ctl, "tail"), "5");
	assert_string_equal(ctl_get_option(&ctl, "follow"), "");
	assert_true(ctl_has_option(&ctl, "follow"));
	assert_null(ctl_get_option(&ctl, "attempt"));
	assert_false(ctl_has_option(&ctl, "quiet"));
	free(ctl.given_options);
	/* after -- everything is an argument */
	parse_ok(&ctl, "trial", LINE("trial -- -x --quiet"));
	assert_int_equal(ctl.argc, 2);
	assert_string_equal(ctl.argv[0], "-x");
	assert_false(ctl.quiet);
	free(ctl.given_options);
	/* getopt knows beginnings of names */
	parse_ok(&ctl, "list", LINE("list --out json"));
	assert_int_equal(ctl.format, CTL_JSON);
	free(ctl.given_options);
	/* the last one counts */
	parse_ok(&ctl, "list", LINE("list -o json -o name"));
	assert_int_equal(ctl.format, CTL_NAME);
	free(ctl.given_options);
}

static void test_unknown(void **state)
{
	(void)state;
	parse_bad("submit", LINE("submit --quite f"),
		  "unknown option '--quite'; did you mean '--quiet'?",
		  "'dparetoctl submit --help' lists its options");
	parse_bad("submit", LINE("submit --xyzzy=3 f"), "unknown option '--xyzzy'",
		  "'dparetoctl submit --help' lists its options");
	parse_bad(NULL, LINE("dparetoctl -Z"), "unknown option '-Z'",
		  "'dparetoctl --help' lists the options and commands");
	/* an option of another command */
	parse_bad("submit", LINE("submit --tail 3"), "unknown option '--tail'",
		  "'dparetoctl submit --help' lists its options");
}

static void test_values(void **state)
{
	(void)state;
	parse_bad("list", LINE("list --socket"),
		  "the option '--socket' needs a value: --socket PATH",
		  "'dparetoctl list --help' lists its options");
	parse_bad("list", LINE("list -o"),
		  "the option '--output' needs a value: --output "
		  "table|json|jsonl|csv|name",
		  "'dparetoctl list --help' lists its options");
	parse_bad("list", LINE("list --quiet=yes"), "the option '--quiet' takes no value",
		  "'dparetoctl list --help' lists its options");
	parse_bad("list", LINE("list -o jsn"),
		  "the option '--output' takes table|json|jsonl|csv|name, not 'jsn'; did "
		  "you mean 'json'?",
		  "");
	parse_bad("list", LINE("list -o xml"),
		  "the option '--output' takes table|json|jsonl|csv|name, not 'xml'", "");
	/* a beginning of a word is not the word, nor are two of them */
	parse_bad("list", LINE("list -o table|json"),
		  "the option '--output' takes table|json|jsonl|csv|name, not "
		  "'table|json'",
		  "");
}

static void test_counts(void **state)
{
	(void)state;
	parse_bad("submit", LINE("submit"), "'submit' is told too little: it needs FILE...",
		  "usage: dparetoctl submit [options] FILE...");
	parse_bad("trial", LINE("trial s 1 2"),
		  "'trial' takes only STUDY TRIAL[@AT]; '2' is one too many",
		  "usage: dparetoctl trial [options] STUDY TRIAL[@AT]");
	parse_bad("doctor", LINE("doctor me"), "'doctor' takes no arguments, but got 'me'",
		  "usage: dparetoctl doctor");
}

static void test_help_needs_nothing(void **state)
{
	struct ctl ctl;

	(void)state;
	parse_ok(&ctl, "submit", LINE("submit --help"));
	free(ctl.given_options);
	parse_ok(&ctl, "doctor", LINE("doctor --version a b"));
	free(ctl.given_options);
}

static void test_formats(void **state)
{
	struct ctl ctl;

	(void)state;
	parse_bad("status", LINE("status -o csv"),
		  "'status' cannot print csv; it prints table, json", "");
	setenv("DPARETO_OUTPUT", "json", 1);
	parse_ok(&ctl, "status", LINE("status"));
	assert_int_equal(ctl.format, CTL_JSON);
	free(ctl.given_options);
	parse_ok(&ctl, "status", LINE("status -o table"));
	assert_int_equal(ctl.format, CTL_TABLE);
	free(ctl.given_options);
	/* a general wish that a command cannot fulfil is no mistake */
	setenv("DPARETO_OUTPUT", "csv", 1);
	parse_ok(&ctl, "status", LINE("status"));
	assert_int_equal(ctl.format, CTL_TABLE);
	free(ctl.given_options);
	setenv("DPARETO_OUTPUT", "jsonl", 1);
	parse_ok(&ctl, "status", LINE("status"));
	assert_int_equal(ctl.format, CTL_JSON);
	free(ctl.given_options);
	setenv("DPARETO_OUTPUT", "", 1);
	parse_ok(&ctl, "status", LINE("status"));
	assert_int_equal(ctl.format, CTL_TABLE);
	free(ctl.given_options);
	setenv("DPARETO_OUTPUT", "xml", 1);
	parse_bad("status", LINE("status"),
		  "DPARETO_OUTPUT is 'xml'; it can be table, json, jsonl, csv or name", "");
	unsetenv("DPARETO_OUTPUT");
	assert_int_equal(ctl_parse_format_name("jsonl"), CTL_JSONL);
	assert_int_equal(ctl_parse_format_name("JSON"), -1);
	assert_int_equal(ctl_parse_format_name(NULL), -1);
}

static void test_environment(void **state)
{
	struct ctl ctl;

	(void)state;
	setenv("DPARETO_SOCKET", "/env", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	parse_ok(&ctl, "list", LINE("list"));
	assert_string_equal(ctl.socket, "/env");
	assert_true(ctl.color);
	free(ctl.given_options);
	parse_ok(&ctl, "list", LINE("list --socket /mine --no-color"));
	assert_string_equal(ctl.socket, "/mine");
	assert_false(ctl.color);
	free(ctl.given_options);
	setenv("DPARETO_SOCKET", "", 1);
	setenv("NO_COLOR", "1", 1);
	parse_ok(&ctl, "list", LINE("list"));
	assert_null(ctl.socket);
	assert_false(ctl.color);
	free(ctl.given_options);
	setenv("NO_COLOR", "", 1); /* set, but empty: as if it were not */
	setenv("TERM", "dumb", 1);
	parse_ok(&ctl, "list", LINE("list"));
	assert_false(ctl.color);
	free(ctl.given_options);
	unsetenv("DPARETO_SOCKET");
	unsetenv("NO_COLOR");
}

/* Every row of every table is one that the reader knows, however many there are. */
static size_t check_options(const struct ctl_command *c, const struct ctl_option *o)
{
	size_t seen = 0;

	for (; o && o->name; o++, seen++) {
		char flag[160], value[64];
		char *argv[] = { (char *)c->name, flag, "--help", NULL };
		struct ctl ctl = { 0 };
		struct dp_err err;

		snprintf(value, sizeof value, "%.*s", o->arg ? (int)strcspn(o->arg, "|") : 0,
			 o->arg ? o->arg : "");
		snprintf(flag, sizeof flag, "--%s%s%s", o->name, o->arg ? "=" : "", value);
		if (ctl_parse_options(&ctl, c, 3, argv, &err) != DP_OK)
			fail_msg("%s %s: %s", argv[0], flag, err.msg);
		assert_string_equal(ctl_get_option(&ctl, o->name), value);
		free(ctl.given_options);
		free(ctl.mechanism_options);
	}
	return seen;
}

static void test_every_option(void **state)
{
	struct ctl ctl = { 0 };
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; ctl_commands[i]; i++) {
		seen += check_options(ctl_commands[i], ctl_commands[i]->options);
		seen += check_options(ctl_commands[i],
				      ctl_mechanism_options(&ctl, ctl_commands[i]));
	}
	free(ctl.mechanism_options);
	assert_true(seen > 40);
}

/* More rows and words than any command has today. */
static void test_many_options(void **state)
{
	enum {
		MANY = 200
	};
	static char names[MANY][24];
	struct ctl_option options[MANY + 1] = { { 0 } };
	struct ctl_command command = { .name = "many", .args = "", .formats = CTL_TABLE_OR_JSON };
	struct dp_buf words = DP_BUF_INIT;
	struct dp_err err;
	struct ctl ctl;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof names[i], "option-%d", i);
		dp_buf_printf(&words, "%sw%d", i ? "|" : "", i);
		options[i] = (struct ctl_option){ names[i], 0, "X", "help" };
	}
	options[MANY - 1].arg = dp_buf_text(&words);
	command.options = options;
	ctl = (struct ctl){ 0 };
	assert_int_equal(ctl_parse_options(&ctl, &command, 2,
					   (char *[]){ "many", "--option-199=w199", NULL }, &err),
			 DP_OK);
	assert_string_equal(ctl_get_option(&ctl, "option-199"), "w199");
	free(ctl.given_options);
	ctl = (struct ctl){ 0 };
	assert_int_equal(ctl_parse_options(&ctl, &command, 2,
					   (char *[]){ "many", "--option-199=w200", NULL }, &err),
			 DP_E_USAGE);
	free(ctl.given_options);
	dp_buf_free(&words);
}

static void ranges_ok(const char *text, const uint32_t *want, size_t n)
{
	uint32_t *list = NULL;
	size_t count = 0;
	struct dp_err err;

	assert_int_equal(ctl_parse_trial_ranges(text, &list, &count, &err), DP_OK);
	assert_int_equal(count, n);
	assert_memory_equal(list, want, n * sizeof *want);
	free(list);
}

static void test_ranges(void **state)
{
	static const char *const bad[] = { "",
					   "x",
					   "1,",
					   "-1",
					   "3-",
					   "8-5",
					   "+3",
					   "1-+2",
					   "1.5",
					   "4294967296",
					   "1--2",
					   "0-1000000",
					   "0 - 1",
					   "1,x,2",
					   "1-2-3",
					   "0x10",
					   "m9223372036854775807",
					   "m0-9223372036854775807",
					   "0-9223372036854775807" };

	(void)state;
	ranges_ok("3,5-8", (const uint32_t[]){ 3, 5, 6, 7, 8 }, 5);
	ranges_ok("0", (const uint32_t[]){ 0 }, 1);
	ranges_ok("7-7,7", (const uint32_t[]){ 7, 7 }, 2);
	ranges_ok("4294967295", (const uint32_t[]){ UINT32_MAX }, 1);
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		uint32_t *list = NULL;
		size_t count = 0;
		struct dp_err err;

		if (ctl_parse_trial_ranges(bad[i], &list, &count, &err) != DP_E_USAGE)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(err.msg, "is not a "));
		free(list);
	}
}

static void test_points(void **state)
{
	static const char *const bad[] = { "",
					   "x",
					   "-1",
					   "7@",
					   "@4",
					   "7@0",
					   "7@x",
					   "7@-4",
					   "7@4@2",
					   "7,8",
					   "1000000000000000000000000" };
	struct ctl_result_id p;
	struct dp_err err;
	uint32_t *list = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(ctl_result_id_parse("7", &p, &err), DP_OK);
	assert_true(p.trial == 7 && p.checkpoint == 0);
	assert_null(ctl_result_id_checkpoint_json(&p));
	assert_int_equal(ctl_result_id_parse("7@4", &p, &err), DP_OK);
	assert_true(p.trial == 7 && p.checkpoint == 4);
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		if (ctl_result_id_parse(bad[i], &p, &err) != DP_E_USAGE)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(err.msg, "like 7@4"));
	}
	/* where a whole training is meant */
	assert_int_equal(ctl_parse_trial_ranges("3,7@4", &list, &count, &err), DP_E_USAGE);
	assert_non_null(strstr(err.msg, "'7@4' is not a trial but a waypoint of one"));
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_command), cmocka_unit_test(test_of_command),
		cmocka_unit_test(test_unknown),        cmocka_unit_test(test_values),
		cmocka_unit_test(test_counts),         cmocka_unit_test(test_help_needs_nothing),
		cmocka_unit_test(test_formats),        cmocka_unit_test(test_environment),
		cmocka_unit_test(test_every_option),   cmocka_unit_test(test_many_options),
		cmocka_unit_test(test_ranges),         cmocka_unit_test(test_points),
	};

	unsetenv("DPARETO_OUTPUT");
	unsetenv("DPARETO_SOCKET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
