/* test_slurm.c - Slurm's commands: how they are run, and what their answers mean. */
#include "daemon/slurm_command.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const atomic_bool on = false;

/* Runs a line of shell. */
static struct slurm_run shell(const char *line, const char *input, double seconds)
{
	char *argv[] = { "sh", "-c", (char *)line, NULL };
	struct slurm_run r;

	slurm_run(&r, argv, NULL, input, seconds, &on);
	return r;
}

static void test_run(void **state)
{
	struct slurm_run r = shell("cat; echo no >&2; exit 3", "in\n", 20);
	char why[200];

	(void)state;
	assert_string_equal(dp_buf_text(&r.out), "in\n");
	assert_string_equal(dp_buf_text(&r.err), "no\n");
	assert_false(slurm_run_ok(&r));
	slurm_run_why(&r, "squeue", why, sizeof why);
	assert_string_equal(why, "squeue: no");
	slurm_run_clear(&r);
	r = shell("exit 0", NULL, 20);
	assert_true(slurm_run_ok(&r));
	slurm_run_clear(&r);
	r = shell("kill -9 $$", NULL, 20);
	slurm_run_why(&r, "squeue", why, sizeof why);
	assert_string_equal(why, "squeue was killed by signal 9");
	slurm_run_clear(&r);
}

/* More than a pipe holds, on both. */
static void test_run_long(void **state)
{
	struct slurm_run r =
		shell("i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo "
		      "0123456789012345678901234567890123456789012345678901; "
		      "echo x >&2; done",
		      NULL, 60);

	(void)state;
	assert_true(slurm_run_ok(&r));
	assert_int_equal(r.out.len, 3000 * 53);
	slurm_run_clear(&r);
}

/* All that it has started ends with it, or the pipe would stay open. */
static void test_run_late(void **state)
{
	time_t began = time(NULL);
	struct slurm_run r = shell("sleep 100 & sleep 100", NULL, 0.2);
	char why[200];

	(void)state;
	assert_true(r.late && !slurm_run_ok(&r));
	assert_true(time(NULL) - began < 50);
	slurm_run_why(&r, "sbatch", why, sizeof why);
	assert_string_equal(why, "sbatch did not answer in time");
	slurm_run_clear(&r);
}

static void test_run_not_found(void **state)
{
	char *argv[] = { "dpareto-no-such-program", NULL }, why[200];
	struct slurm_run r;

	(void)state;
	slurm_run(&r, argv, NULL, NULL, 1, &on);
	assert_int_equal(r.error, ENOENT);
	slurm_run_why(&r, "sbatch", why, sizeof why);
	assert_non_null(strstr(why, "sbatch is not found"));
	slurm_run_clear(&r);
}

static void test_submitted(void **state)
{
	/* what sbatch of 22.05 prints, as seen */
	static const struct {
		const char *line;
		enum slurm_answer answer;
		const char *id;
	} cases[] = {
		{ "echo 314", SLURM_TAKEN, "314" },
		{ "echo '314;cluster'", SLURM_TAKEN, "314" },
		{ "echo 'sbatch: a word of a plugin' >&2; echo 7", SLURM_TAKEN, "7" },
		{ "echo 'sbatch: error: Batch job submission failed: Invalid partition "
		  "name "
		  "specified' >&2; exit 1",
		  SLURM_REFUSED, NULL },
		{ "echo 'sbatch: error: Batch job submission failed: Requested node "
		  "configuration is not available' >&2; exit 1",
		  SLURM_REFUSED, NULL },
		{ "echo \"sbatch: unrecognized option '--x'\" >&2; exit 255",
		  SLURM_REFUSED, NULL },
		{ "echo 'sbatch: error: Batch job submission failed: Unable to contact "
		  "slurm controller (connect failure)' >&2; exit 1",
		  SLURM_UNSURE, NULL },
		{ "echo 'sbatch: error: Batch job submission failed: Socket timed out on "
		  "send/recv operation' >&2; exit 1",
		  SLURM_UNSURE, NULL },
		{ "echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping "
		  "and retrying' >&2; exit 1",
		  SLURM_FULL, NULL },
		{ "echo 'sbatch: error: Batch job submission failed: Job violates "
		  "accounting/QOS policy (job submit limit, user'\"'\"'s size and/or "
		  "time "
		  "limits)' >&2; exit 1",
		  SLURM_FULL, NULL },
		{ "exit 0", SLURM_UNSURE, NULL }, /* it said nothing */
		{ "echo no number", SLURM_UNSURE, NULL },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct slurm_run r = shell(cases[i].line, NULL, 20);
		char id[SLURM_ID];

		if (slurm_submitted(&r, id) != cases[i].answer)
			fail_msg("%s", cases[i].line);
		if (cases[i].id)
			assert_string_equal(id, cases[i].id);
		slurm_run_clear(&r);
	}
}

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(slurm_state_parse("PENDING"), SLURM_PENDING);
	assert_int_equal(slurm_state_parse("COMPLETING"), SLURM_RUNNING);
	assert_int_equal(slurm_state_parse("COMPLETED"), SLURM_ENDED);
	assert_int_equal(slurm_state_parse("CANCELLED by 1000"), SLURM_CANCELLED);
	assert_int_equal(slurm_state_parse("NODE_FAIL"), SLURM_NODE_FAIL);
	assert_int_equal(slurm_state_parse("OUT_OF_MEMORY"), SLURM_NO_MEMORY);
	/* of a version to come: it is not taken for over */
	assert_int_equal(slurm_state_parse("EXPEDITING"), SLURM_STRANGE);
	assert_false(slurm_state_over(SLURM_STRANGE));
	assert_false(slurm_state_over(SLURM_RUNNING));
	assert_true(slurm_state_over(SLURM_ENDED) && slurm_state_over(SLURM_NODE_FAIL));
}

static void test_rows(void **state)
{
	static const char text[] =
		"929_3|RUNNING|n2|dp-x-s-7-0|None\n"
		"slurm_load_jobs error: Unable to contact slurm controller\n"
		"929_0|COMPLETED|n1|dp-x-s-7-0|None\n"
		"12|PENDING||dp-x-s-1-0|Resources, and | more\n"
		"929_[5-9]|PENDING||dp-x-s-7-0|Priority\n"
		"x|RUNNING|n1|dp-x-s-2-0|None\n"
		"5|RUNNING|n1\n"
		"|||\n"
		"7|FAILED|n1|somebody's|NonZeroExitCode";
	struct dp_buf b = DP_BUF_INIT;
	struct slurm_rows rows;
	const struct slurm_row *r;

	(void)state;
	dp_buf_puts(&b, text);
	assert_int_equal(slurm_rows_parse(&b, &rows), 0);
	assert_int_equal(rows.n, 4);
	r = slurm_rows_find(&rows, "dp-x-s-7-0", 3);
	assert_non_null(r);
	assert_string_equal(r->id, "929_3");
	assert_string_equal(r->nodes, "n2");
	assert_int_equal(r->state, SLURM_RUNNING);
	r = slurm_rows_find(&rows, "dp-x-s-1-0", -1);
	assert_non_null(r);
	assert_string_equal(r->reason, "Resources, and | more");
	assert_null(slurm_rows_find(&rows, "dp-x-s-7-0", 4));
	assert_null(slurm_rows_find(&rows, "dp-x-s-7-0", -1));
	assert_null(slurm_rows_find(&rows, "dp-x-s-7", -1));
	assert_non_null(slurm_rows_find(&rows, "somebody's", -1));
	slurm_rows_free(&rows);
	/* nothing but what is no row: not an answer that there is no job */
	dp_buf_clear(&b);
	dp_buf_puts(&b, "slurm_load_jobs error: Unable to contact slurm controller\n");
	assert_int_equal(slurm_rows_parse(&b, &rows), EBADMSG);
	slurm_rows_free(&rows);
	dp_buf_clear(&b);
	assert_int_equal(slurm_rows_parse(&b, &rows), 0);
	assert_int_equal(rows.n, 0);
	slurm_rows_free(&rows);
	dp_buf_free(&b);
}

/* A shell reads back what was quoted. */
static void test_quote(void **state)
{
	static const char odd[] = "a'b \"$HOME\" `x` \\ \n''*";
	struct dp_buf b = DP_BUF_INIT;
	struct slurm_run r;

	(void)state;
	dp_buf_puts(&b, "printf %s ");
	slurm_quote(&b, odd);
	r = shell(dp_buf_text(&b), NULL, 20);
	assert_string_equal(dp_buf_text(&r.out), odd);
	slurm_run_clear(&r);
	dp_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),       cmocka_unit_test(test_run_long),
		cmocka_unit_test(test_run_late),  cmocka_unit_test(test_run_not_found),
		cmocka_unit_test(test_submitted), cmocka_unit_test(test_states),
		cmocka_unit_test(test_rows),      cmocka_unit_test(test_quote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
