/* test_journal_lock.c - the lock of the one writer holds whatever becomes of its file,
 * and nobody inherits it; readers hold on to nothing, and one that does is named. */
#include <fcntl.h>
#include <lmdb.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "tests/unit/support/journal_place.h"

static bool is_busy(const char *dir)
{
	struct dp_journal *j = NULL;
	struct dp_err err;
	int code = dp_journal_open(dir, NULL, &j, &err);

	dp_journal_close(j);
	return code == DP_E_BUSY;
}

/* Opens the journal, tells so, and waits to be killed. */
static pid_t start_holder(const char *dir, void (*then)(const char *dir, int tell))
{
	int told[2];
	char c;
	pid_t child;

	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0) {
		struct dp_journal *j = open_started(dir, 0, NULL);

		NEED(j && wait_durable(j, append(j, 1, 0)));
		then(dir, told[1]);
		for (;;)
			pause();
	}
	close(told[1]);
	assert_int_equal(read(told[0], &c, 1), 1);
	close(told[0]);
	return child;
}

static void end_holder(pid_t child)
{
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void tell_only(const char *dir, int tell)
{
	(void)dir;
	NEED(write(tell, "x", 1) == 1);
}

static void test_lock_file_deleted(void **state)
{
	struct fixture *f = *state;
	pid_t child = start_holder(f->dir, tell_only);
	struct dp_err err;

	assert_true(is_busy(f->dir));
	assert_int_equal(unlink(in_dir(f, "writer.lock")), 0);
	assert_true(is_busy(f->dir));
	assert_int_equal(dp_write_file(in_dir(f, "writer.lock"), "1\n", 2, false, &err), DP_OK);
	assert_true(is_busy(f->dir));
	end_holder(child);
	assert_false(is_busy(f->dir));
}

/* A child that never comes to execute anything, as one that is stopped right after its
 * birth, has all that the parent had open. */
static void leave_child(const char *dir, int tell)
{
	pid_t child = fork();

	(void)dir;
	NEED(child >= 0);
	if (child > 0) {
		NEED(write(tell, &child, sizeof child) == sizeof child);
		return;
	}
	close(tell);
	for (;;)
		pause();
}

static void test_lock_is_not_inherited(void **state)
{
	struct fixture *f = *state;
	int told[2];
	pid_t holder, left;

	assert_int_equal(pipe(told), 0);
	holder = fork();
	if (holder == 0) {
		NEED(open_started(f->dir, 0, NULL));
		leave_child(f->dir, told[1]);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], &left, sizeof left), sizeof left);
	assert_true(is_busy(f->dir));
	end_holder(holder);
	assert_int_equal(kill(left, 0), 0); /* it lives */
	assert_false(is_busy(f->dir));
	assert_int_equal(kill(left, SIGKILL), 0);
	close(told[0]);
	close(told[1]);
}

/* ---- readers ---- */

static uint64_t journal_bytes(struct dp_journal *j)
{
	struct dp_journal_stat st;
	struct dp_err err;

	assert_int_equal(dp_journal_stat(j, &st, &err), DP_OK);
	return st.bytes;
}

/* Many small commits, as a daemon makes them. */
static void write_commits(struct dp_journal *j, uint32_t study, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_true(wait_durable(j, append(j, study, i)));
}

static int wait_in_record(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
			  struct dp_err *err)
{
	int *ends = arg;
	char c;

	(void)study, (void)seq, (void)bytes, (void)len, (void)err;
	if (seq == 0 && study == 1) {
		NEED(write(ends[1], "x", 1) == 1);
		NEED(read(ends[0], &c, 1) == 1);
	}
	return DP_OK;
}

/* A reader that never comes to its second record, as `journal dump | less`. */
static void test_slow_reader_holds_nothing(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_started(f->dir, 0, NULL);
	struct dp_journal_stat st;
	struct dp_err err;
	uint64_t before;
	int go[2], told[2];
	char c;
	pid_t child;

	write_commits(j, 1, 50);
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0) {
		int ends[2] = { go[0], told[1] };
		struct dp_journal *mine = open_journal(f->dir, true, 0);

		NEED(mine);
		NEED(dp_journal_for_each(mine, 0, wait_in_record, ends, &err) == DP_OK);
		_exit(0);
	}
	assert_int_equal(read(told[0], &c, 1), 1);
	before = journal_bytes(j);
	write_commits(j, 2, 1000);
	assert_true(journal_bytes(j) < before + (256 << 10));
	assert_int_equal(dp_journal_stat(j, &st, &err), DP_OK);
	assert_int_equal(st.stale_reader.pid, 0);
	assert_int_equal(write(go[1], &c, 1), 1);
	assert_child_ok(child);
	dp_journal_close(j);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(told[i]);
	}
}

/* Somebody else's program, which holds on. */
static void hold_on(const char *dir, int tell)
{
	MDB_env *env;
	MDB_txn *txn;

	NEED(mdb_env_create(&env) == 0);
	NEED(mdb_env_open(env, dir, MDB_RDONLY, 0600) == 0);
	NEED(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0);
	NEED(write(tell, "x", 1) == 1);
	for (;;)
		pause();
}

static bool wait_reader(struct dp_journal *j, pid_t pid)
{
	struct dp_journal_stat st = { 0 };
	struct dp_err err;

	for (int64_t start = dp_monotonic_us(); dp_monotonic_us() - start < PATIENCE_US;
	     usleep(10000))
		if (dp_journal_stat(j, &st, &err) == DP_OK && st.stale_reader.pid == pid &&
		    (pid == 0 || dp_journal_reader_is_stale(&st.stale_reader)))
			return pid == 0 || (st.stale_reader.commits_behind >= 1 &&
					    strstr(st.stale_reader.program, "test_journal"));
	return false;
}

static void test_reader_that_holds_on(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_started(f->dir, 0, NULL);
	int told[2];
	pid_t child;
	char c;

	write_commits(j, 1, 5);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0)
		hold_on(f->dir, told[1]);
	assert_int_equal(read(told[0], &c, 1), 1);
	assert_true(wait_reader(j, 0));
	usleep(1000); /* the writer looks once a second: these commits make it lag */
	for (uint32_t i = 5; i < 5000; i++) {
		struct dp_journal_stat st;
		struct dp_err err;

		assert_true(wait_durable(j, append(j, 1, i)));
		assert_int_equal(dp_journal_stat(j, &st, &err), DP_OK);
		if (st.stale_reader.pid)
			break;
		usleep(1000);
	}
	assert_true(wait_reader(j, child));
	end_holder(child); /* its place is freed with nothing being written */
	assert_true(wait_reader(j, 0));
	close(told[0]);
	close(told[1]);
	dp_journal_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(test_lock_file_deleted),
		JOURNAL_TEST(test_lock_is_not_inherited),
		JOURNAL_TEST(test_slow_reader_holds_nothing),
		JOURNAL_TEST(test_reader_that_holds_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
