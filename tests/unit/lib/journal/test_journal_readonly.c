/* test_journal_readonly.c - a journal of others is read without a trace, and never half of
 * one state and half of another. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "journal/store/journal_internal.h"
#include "state/state.h"
#include "tests/unit/support/journal_place.h"

/* Records 0 to n - 1 of study 1, by a process of its own. */
static void write_elsewhere(const char *dir, uint32_t from, uint32_t n)
{
	pid_t child = fork();

	if (child == 0) {
		struct dp_journal *j = open_started(dir, 0, NULL);

		NEED(j);
		for (uint32_t i = from; i < n; i++)
			NEED(wait_durable(j, append(j, 1, i)));
		dp_journal_close(j);
		_exit(0);
	}
	assert_child_ok(child);
}

/* The records of these tests are of no study, which the fold says. */
static uint32_t looked(const char *dir)
{
	struct dp_state s = { 0 };
	struct dp_journal *j;
	struct dp_err err;
	uint32_t n;

	assert_int_equal(dp_state_open_readonly(&s, dir, &j, &err), DP_OK);
	assert_int_equal(s.nstudies, 0);
	n = s.nunreadable;
	dp_state_free(&s);
	dp_journal_close(j);
	return n;
}

static void test_no_trace(void **state)
{
	struct fixture *f = *state;
	struct dp_state s = { 0 };
	struct stat before, after;
	struct dp_err err;
	long pid = -1;

	assert_int_equal(dp_state_open_readonly(&s, f->dir, NULL, &err), DP_E_NOT_FOUND);
	assert_int_not_equal(stat(f->dir, &before), 0);
	assert_false(dp_journal_has_writer(f->dir, &pid));
	assert_int_equal(pid, 0);
	write_elsewhere(f->dir, 0, 5);
	assert_int_equal(stat(in_dir(f, "lock.mdb"), &before), 0);
	assert_int_equal(looked(f->dir), 1);
	assert_int_equal(stat(in_dir(f, "lock.mdb"), &after), 0);
	assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
		    before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
	assert_int_equal(unlink(in_dir(f, "lock.mdb")), 0);
	assert_int_equal(unlink(in_dir(f, "writer.lock")), 0);
	assert_int_equal(looked(f->dir), 1);
	assert_int_not_equal(stat(in_dir(f, "lock.mdb"), &after), 0);
	assert_int_not_equal(stat(in_dir(f, "writer.lock"), &after), 0);
}

/* Without the lock, what is written meanwhile is noticed. */
static void test_disturbed(void **state)
{
	struct dp_journal_options options = { .readonly = true, .no_lock_file = true };
	struct fixture *f = *state;
	struct dp_journal *j;
	struct dp_err err;

	write_elsewhere(f->dir, 0, 5);
	assert_int_equal(dp_journal_open(f->dir, &options, &j, &err), DP_OK);
	assert_int_equal(count(j, 0), 5);
	assert_false(dp__snapshot_is_stale(j));
	write_elsewhere(f->dir, 5, 7);
	assert_true(dp__snapshot_is_stale(j));
	dp_journal_close(j);
}

/* Beside a writer that never rests, who is named. */
static void test_beside_a_writer(void **state)
{
	struct dp_journal_options options = { .readonly = true, .no_lock_file = true };
	struct fixture *f = *state;
	struct dp_journal *j;
	struct dp_err err;
	long writer;
	pid_t child;

	write_elsewhere(f->dir, 0, 1);
	child = fork();
	if (child == 0) {
		j = open_started(f->dir, 0, NULL);
		NEED(j);
		for (uint32_t i = 1;; i++)
			NEED(wait_durable(j, append(j, 1, i)));
	}
	while (!dp_journal_has_writer(f->dir, &writer) || writer != child)
		usleep(1000);
	for (int i = 0; i < 20; i++)
		assert_int_equal(looked(f->dir), 1);
	assert_int_equal(dp_journal_open(f->dir, &options, &j, &err), DP_OK);
	assert_false(j->is_unlocked); /* the writer knows */
	dp_journal_close(j);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_false(dp_journal_has_writer(f->dir, &writer));
	assert_int_equal(looked(f->dir), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(test_no_trace),
		JOURNAL_TEST(test_disturbed),
		JOURNAL_TEST(test_beside_a_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
