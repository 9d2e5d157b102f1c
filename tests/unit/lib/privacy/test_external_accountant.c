/* test_external_accountant.c - oracle programs without a daemon: what a line says, what is kept,
 * who waits for whom. What a whole study makes of their faults is in tests/e2e/test_oracles.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "tests/unit/support/folder.h"
#include "privacy/external/external.h"
#include "tests/unit/support/study_text.h"

/* ---- lines ---- */

static void test_answers(void **state)
{
	static const struct {
		const char *line;
		double epsilon; /* NaN: none */
		int code;
		const char *words;
	} lines[] = {
		{ "{\"id\":7,\"epsilon\":0.42}", 0.42, DP_OK, "" },
		{ " { \"epsilon\" : 3 , \"more\":[1], \"id\": 7 } ", 3, DP_OK, "" },
		{ "{\"id\":7,\"epsilon\":\"inf\"}", INFINITY, DP_OK, "" },
		{ "{\"id\":7,\"epsilon\":0}", 0, DP_OK, "" },
		{ "{\"id\":7,\"error\":\"sigma is 0\"}", NAN, DP_E_INVALID, "sigma is 0" },
		{ "{\"id\":7,\"error\":\"a\\u0007\\nb\"}", NAN, DP_E_INVALID, "a??b" },
		{ "{\"id\":7,\"error\":\"\"}", NAN, DP_E_ORACLE, "no text" },
		{ "{\"id\":7,\"error\":null}", NAN, DP_E_ORACLE, "no text" },
		{ "{\"id\":7,\"epsilon\":1,\"error\":\"x\"}", NAN, DP_E_ORACLE, "both" },
		{ "{\"id\":7}", NAN, DP_E_ORACLE, "neither" },
		{ "{\"epsilon\":1}", NAN, DP_E_ORACLE, "without the question's id" },
		{ "{\"id\":\"7\",\"epsilon\":1}", NAN, DP_E_ORACLE, "without the" },
		{ "{\"id\":7.0,\"epsilon\":1}", NAN, DP_E_ORACLE, "without the" },
		{ "{\"id\":8,\"epsilon\":1}", NAN, DP_E_ORACLE, "id 8 to question 7" },
		{ "{\"id\":6,\"epsilon\":1}", NAN, DP_E_ORACLE, "an earlier one" },
		{ "{\"id\":-7,\"epsilon\":1}", NAN, DP_E_ORACLE, "id -7 to question 7" },
		{ "{\"id\":7,\"epsilon\":\"nan\"}", NAN, DP_E_ORACLE, "epsilon nan" },
		{ "{\"id\":7,\"epsilon\":\"-inf\"}", NAN, DP_E_ORACLE, "epsilon -inf" },
		{ "{\"id\":7,\"epsilon\":-1e-9}", NAN, DP_E_ORACLE, "epsilon -1e-09" },
		{ "{\"id\":7,\"epsilon\":NaN}", NAN, DP_E_ORACLE, "no JSON object" },
		{ "{\"id\":7,\"epsilon\":null}", NAN, DP_E_ORACLE, "neither a number" },
		{ "{\"id\":7,\"epsilon\":\"0.4\"}", NAN, DP_E_ORACLE, "neither a number" },
		{ "{\"id\":7,\"epsilon\":1,\"epsilon\":2}", NAN, DP_E_ORACLE, "no JSON" },
		{ "{\"id\":7,\"epsilon\":1} {}", NAN, DP_E_ORACLE, "no JSON" },
		{ "[7, 0.42]", NAN, DP_E_ORACLE, "no JSON object: '[7, 0.42]'" },
		{ "", NAN, DP_E_ORACLE, "no JSON object: ''" },
		{ "eps\t\xff", NAN, DP_E_ORACLE, "'eps?" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(lines); i++) {
		struct dp_err err = { 0 };
		double epsilon = NAN;
		int code = dp_external_answer_parse(lines[i].line, strlen(lines[i].line), 7,
						    &epsilon, &err);

		if (code != lines[i].code || !strstr(err.msg, lines[i].words))
			fail_msg("%s: %d, %s", lines[i].line, code, err.msg);
		if (code == DP_OK)
			assert_true(epsilon == lines[i].epsilon);
	}
}

/* ---- programs, here without their shim ---- */

struct asked {
	struct dp_study *study;
	struct dp_external_command command[2];
	struct dp_external_accountants *programs;
	char *argv[6], *questions;
	atomic_uint running;
};

/* A study of one program, a script that has the file of its questions as $1. */
static void begin(struct asked *a, const char *name, char *script)
{
	extern char **environ;
	char *text = edit("privacy: {mechanism: svt, cutoff: C, scale: b}",
			  "privacy: {command: [oracle], delta: 0.001}");

	*a = (struct asked){ .questions = strdup(in_folder(name)), .study = good(text) };
	memcpy(a->argv, (char *[]){ "/bin/sh", "-c", script, "oracle", a->questions },
	       5 * sizeof *a->argv);
	a->command[0] = (struct dp_external_command){ a->argv, environ };
	a->programs = dp_external_new(a->study, a->command, &a->running);
	assert_non_null(a->programs);
	free(text);
}

static void end(struct asked *a)
{
	dp_external_free(a->programs);
	assert_int_equal(atomic_load(&a->running), 0);
	dp_study_free(a->study);
	free(a->questions);
}

static int ask(struct asked *a, double c, double *epsilon, struct dp_err *err)
{
	struct dp_external_caller turn = { .accountants = a->programs };
	double x[2] = { c, 0.5 };

	return dp_external_epsilon(&turn, 0, x, NAN, epsilon, err);
}

static unsigned lines_of(const char *path)
{
	struct dp_buf text = DP_BUF_INIT;
	unsigned n = 0;

	assert_int_equal(dp_read_untrusted_head(path, 1 << 20, &text), 0);
	for (size_t i = 0; i < text.len; i++)
		n += text.data[i] == '\n';
	dp_buf_free(&text);
	return n;
}

/* Its epsilon is a tenth of C. */
static char tenth[] = "while read -r line; do echo \"$line\" >> \"$1\"; id=${line#*:}; "
		      "c=${line#*C\\\":}; "
		      "echo \"{\\\"id\\\":${id%%,*},\\\"epsilon\\\":${c%%,*}e-1}\"; done";

static void expect_tenth(struct asked *a, double c)
{
	double epsilon = NAN;
	struct dp_err err;

	if (ask(a, c, &epsilon, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_true(epsilon == c / 10);
}

static void test_answers_are_kept(void **state)
{
	struct dp_buf text = DP_BUF_INIT;
	unsigned asked;
	struct asked a;

	(void)state;
	begin(&a, "kept", tenth);
	for (int i = 0; i < 3; i++)
		expect_tenth(&a, 5);
	/* the first question of a process is asked twice */
	assert_int_equal(lines_of(a.questions), 2);
	assert_int_equal(dp_read_untrusted_head(a.questions, 1 << 20, &text), 0);
	assert_string_equal(dp_buf_text(&text),
			    "{\"id\":1,\"parameters\":{\"C\":5,\"b\":0.5},\"delta\":0.001}\n"
			    "{\"id\":2,\"parameters\":{\"C\":5,\"b\":0.5},\"delta\":0.001}\n");
	dp_buf_free(&text);
	for (int c = 1; c <= 30; c++)
		expect_tenth(&a, c);
	asked = lines_of(a.questions);
	assert_in_range(asked, 2 + 29 + 1, 2 + 29 + 12); /* some others, too */
	/* one that had nothing to do is started again, and nothing is asked for it */
	dp_external_stop_idle(a.programs, 3600);
	assert_int_equal(atomic_load(&a.running), 1);
	dp_external_stop_idle(a.programs, 0);
	assert_int_equal(atomic_load(&a.running), 0);
	for (int c = 1; c <= 30; c++)
		expect_tenth(&a, c);
	assert_int_equal(lines_of(a.questions), asked);
	/* a study that rests may come back with another program */
	while (!dp_external_stop(a.programs))
		;
	expect_tenth(&a, 5);
	assert_int_equal(lines_of(a.questions), asked + 2);
	end(&a);
}

static void test_a_refusal_is_the_programs(void **state)
{
	static char script[] = "while read -r line; do id=${line#*:}; "
			       "echo \"{\\\"id\\\":${id%%,*},\\\"error\\\":\\\"no\\\"}\"; "
			       "done";
	struct dp_err err;
	struct asked a;
	double epsilon;

	(void)state;
	begin(&a, "refuses", script);
	assert_int_equal(ask(&a, 5, &epsilon, &err), DP_E_INVALID);
	assert_string_equal(err.msg, "no");
	end(&a);
}

struct waiter {
	struct asked *asked;
	int code;
};

static void *wait_for_answer(void *arg)
{
	struct waiter *w = arg;
	struct dp_err err;
	double epsilon;

	w->code = ask(w->asked, 5, &epsilon, &err);
	return NULL;
}

/* One waits for a program that hangs; others need not. */
static void test_nobody_has_to_wait(void **state)
{
	static char script[] = "read -r line; echo asked >> \"$1\"; exec sleep 1000";
	struct timespec pause = { .tv_nsec = 1000000 };
	const atomic_bool cancel = true;
	struct asked a;
	struct waiter w = { .asked = &a };
	struct dp_external_caller hurry = { .no_wait = true };
	struct dp_external_caller cancelled = { .cancel = &cancel };
	double x[2] = { 6, 0.5 }, epsilon;
	struct dp_err err;
	pthread_t thread;

	(void)state;
	begin(&a, "hangs", script);
	hurry.accountants = cancelled.accountants = a.programs;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_answer, &w), 0);
	while (access(a.questions, F_OK) != 0)
		nanosleep(&pause, NULL);
	assert_int_equal(dp_external_epsilon(&hurry, 0, x, NAN, &epsilon, &err), DP_E_BUSY);
	assert_int_equal(dp_external_epsilon(&cancelled, 0, x, NAN, &epsilon, &err),
			 DP_E_INTERRUPTED);
	dp_external_stop_idle(a.programs, 0); /* it is not idle */
	assert_int_equal(atomic_load(&a.running), 1);
	assert_false(dp_external_stop(a.programs));
	dp_external_cancel_all(a.programs);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(w.code, DP_E_INTERRUPTED);
	end(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_answers_are_kept),
		cmocka_unit_test(test_a_refusal_is_the_programs),
		cmocka_unit_test(test_nobody_has_to_wait),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
