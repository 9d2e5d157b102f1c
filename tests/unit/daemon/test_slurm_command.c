/* test_slurm_command.c - running Slurm's commands, and what their answers mean. */
#include "daemon/executors/slurm/slurm_command.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const atomic_bool on = false;

/* A shell that says and does something. */
static void shell(struct slurm_output *r, const char *script, const char *input, double seconds)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };

	slurm_command_run(r, argv, NULL, input, seconds, &on);
}

static void test_run(void **state)
{
	struct slurm_output r;
	char why[300];

	(void)state;
	shell(&r, "cat; echo words >&2", "a script\n", 60);
	assert_true(slurm_output_ok(&r));
	assert_string_equal(dp_buf_text(&r.out), "a script\n");
	assert_string_equal(dp_buf_text(&r.err), "words\n");
	slurm_output_free(&r);

	shell(&r, "echo first >&2; echo 'squeue: error: last ' >&2; exit 1", NULL, 60);
	assert_false(slurm_output_ok(&r));
	slurm_output_describe_error(&r, "squeue", why, sizeof why);
	assert_string_equal(why, "squeue: error: last");
	slurm_output_describe_error(&r, "sacct", why, sizeof why);
	assert_string_equal(why, "sacct: squeue: error: last");
	slurm_output_free(&r);

	shell(&r, "kill -9 $$", NULL, 60);
	slurm_output_describe_error(&r, "squeue", why, sizeof why);
	assert_string_equal(why, "squeue was killed by signal 9");
	slurm_output_free(&r);
}

/* More than a pipe holds, on both. */
static void test_run_long(void **state)
{
	struct slurm_output r;

	(void)state;
	shell(&r,
	      "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo "
	      "0123456789012345678901234567890123456789012345678901; "
	      "echo x >&2; done",
	      NULL, 60);
	assert_true(slurm_output_ok(&r));
	assert_int_equal(r.out.len, 3000 * 53);
	slurm_output_free(&r);
}

/* Whatever it has started goes with it. */
static void test_run_late(void **state)
{
	struct slurm_output r;
	char why[300];

	(void)state;
	shell(&r, "echo no room >&2; sleep 600 & sleep 600", NULL, 0.2);
	assert_true(r.timed_out);
	slurm_output_describe_error(&r, "sbatch", why, sizeof why);
	assert_string_equal(why, "sbatch did not answer in time; it said: no room");
	slurm_output_free(&r);
}

static void test_run_missing(void **state)
{
	char *argv[] = { "no-such-command-of-slurm", NULL };
	struct slurm_output r;
	char why[300];

	(void)state;
	slurm_command_run(&r, argv, NULL, NULL, 60, &on);
	assert_int_equal(r.error, ENOENT);
	slurm_output_describe_error(&r, "sbatch", why, sizeof why);
	assert_non_null(strstr(why, "sbatch is not found"));
	slurm_output_free(&r);
}

/* What would have squeue leave jobs out does not reach it. */
static void test_run_environment(void **state)
{
	struct slurm_output r;

	(void)state;
	setenv("SQUEUE_PARTITION", "other", 1);
	setenv("SLURM_CONF", "kept", 1);
	shell(&r, "echo $SQUEUE_PARTITION$SLURM_CONF", NULL, 60);
	assert_string_equal(dp_buf_text(&r.out), "kept\n");
	slurm_output_free(&r);
	unsetenv("SQUEUE_PARTITION");
	unsetenv("SLURM_CONF");
}

static void test_submitted(void **state)
{
	static const struct {
		const char *script;
		enum slurm_submit_result answer;
	} cases[] = {
		{ "echo 314", SLURM_SUBMIT_ACCEPTED },
		{ "echo '314;cluster'", SLURM_SUBMIT_ACCEPTED },
		{ "echo 314 jobs", SLURM_SUBMIT_UNKNOWN },
		{ "", SLURM_SUBMIT_UNKNOWN },
		{ "kill -9 $$", SLURM_SUBMIT_UNKNOWN },
		{ "echo 'sbatch: error: Batch job submission failed: Socket timed out on "
		  "send/recv operation' >&2; exit 1",
		  SLURM_SUBMIT_UNKNOWN },
		{ "echo 'sbatch: error: Batch job submission failed: Job violates "
		  "accounting/QOS policy (job submit limit, user'\"'\"'s size and/or "
		  "time "
		  "limits)' >&2; exit 1",
		  SLURM_SUBMIT_BUSY },
		{ "echo 'sbatch: error: Batch job submission failed: Unable to contact "
		  "slurm controller (connect failure)' >&2; exit 1",
		  SLURM_SUBMIT_UNKNOWN },
		{ "echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping "
		  "and retrying' >&2; exit 1",
		  SLURM_SUBMIT_BUSY },
		{ "echo 'sbatch: error: Batch job submission failed: Requested node "
		  "configuration is not available' >&2; exit 1",
		  SLURM_SUBMIT_REFUSED },
		{ "echo \"sbatch: unrecognized option '--x'\" >&2; exit 255",
		  SLURM_SUBMIT_REFUSED },
		{ "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1",
		  SLURM_SUBMIT_REFUSED },
	};
	char id[SLURM_ID_LEN];
	struct slurm_output r;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		shell(&r, cases[i].script, NULL, 60);
		assert_int_equal(slurm_submit_parse(&r, id), cases[i].answer);
		if (cases[i].answer == SLURM_SUBMIT_ACCEPTED)
			assert_string_equal(id, "314");
		slurm_output_free(&r);
	}
	/* it found no room and tries again by itself: it may just have found some */
	shell(&r, "echo temporarily unable to accept >&2; sleep 600", NULL, 0.2);
	assert_int_equal(slurm_submit_parse(&r, id), SLURM_SUBMIT_UNKNOWN);
	slurm_output_free(&r);
}

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(slurm_state_parse("CANCELLED by 1000"), SLURM_CANCELLED);
	assert_int_equal(slurm_state_parse("CANCELLED+"), SLURM_CANCELLED);
	assert_int_equal(slurm_state_parse("COMPLETING"), SLURM_RUNNING);
	assert_int_equal(slurm_state_parse("NODE_FAIL"), SLURM_NODE_FAIL);
	assert_int_equal(slurm_state_parse("DANCING"), SLURM_UNRECOGNISED);
	assert_false(slurm_state_is_final(SLURM_UNRECOGNISED));
	assert_false(slurm_state_is_final(SLURM_PENDING));
	assert_true(slurm_state_is_final(SLURM_PREEMPTED));
}

static void test_rows(void **state)
{
	struct dp_buf text = DP_BUF_INIT;
	struct slurm_rows rows;
	const struct slurm_row *r;

	(void)state;
	dp_buf_puts(&text, "7|RUNNING|n1|b|None\n"
			   "9_11|PENDING||a|Resources|and more\n"
			   "9_2|COMPLETED|n[1-2]|a|None\n"
			   "9_[3-5]|PENDING||a|None\n"
			   "8|RUNNING|n1|name with\n"
			   "a line break|None\n");
	assert_int_equal(slurm_rows_parse(&text, &rows), 0);
	assert_int_equal(rows.n, 3);
	r = slurm_rows_find(&rows, "a", 11);
	assert_string_equal(r->id, "9_11");
	assert_string_equal(r->reason, "Resources|and more");
	assert_int_equal(r->state, SLURM_PENDING);
	assert_string_equal(slurm_rows_find(&rows, "b", -1)->nodes, "n1");
	assert_null(slurm_rows_find(&rows, "a", -1));
	assert_null(slurm_rows_find(&rows, "c", 0));
	slurm_rows_free(&rows);
	dp_buf_free(&text);
}

/* No job is an answer; words are none. */
static void test_rows_rubbish(void **state)
{
	struct dp_buf text = DP_BUF_INIT;
	struct slurm_rows rows;

	(void)state;
	assert_int_equal(slurm_rows_parse(&text, &rows), 0);
	assert_int_equal(rows.n, 0);
	slurm_rows_free(&rows);
	dp_buf_puts(&text, "please log in again\n||||\n");
	assert_int_equal(slurm_rows_parse(&text, &rows), EBADMSG);
	slurm_rows_free(&rows);
	dp_buf_free(&text);
}

static void test_quote(void **state)
{
	struct dp_buf script = DP_BUF_INIT;
	struct slurm_output r;

	(void)state;
	dp_buf_puts(&script, "printf %s ");
	slurm_shell_quote(&script, "it's $HOME `x` \\ \"q\"\n;");
	shell(&r, dp_buf_text(&script), NULL, 60);
	assert_string_equal(dp_buf_text(&r.out), "it's $HOME `x` \\ \"q\"\n;");
	slurm_output_free(&r);
	dp_buf_free(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_run_long),
		cmocka_unit_test(test_run_late),
		cmocka_unit_test(test_run_missing),
		cmocka_unit_test(test_run_environment),
		cmocka_unit_test(test_submitted),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rows_rubbish),
		cmocka_unit_test(test_quote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
