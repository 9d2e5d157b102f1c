/* test_journal_faults.c - the journal's writer when things fail around it: kills, full
 * disks, lost folders, no threads. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "tests/unit/support/journal_place.h"

/* Appends for ever and tells the number of records that are durable. */
static void report_durable(const char *dir, int to)
{
	struct dp_journal *j = open_started(dir, 64 << 10, NULL);
	uint32_t appended, told;

	NEED(j);
	for (appended = told = 0;;) {
		uint64_t durable;

		for (int i = 0; i < 20; i++, appended++)
			NEED(append(j, 1, appended) == appended + 1);
		durable = dp_journal_durable_ticket(j);
		if (durable > told) {
			told = (uint32_t)durable;
			NEED(write(to, &told, sizeof told) == sizeof told);
		}
		while (appended - dp_journal_durable_ticket(j) > 200)
			usleep(50);
	}
}

static void test_kill(void **state)
{
	struct fixture *f = *state;
	char dir[PATH_MAX + 16];

	for (int round = 0; round < 6; round++) {
		uint32_t told = 0, got;
		struct dp_journal *j;
		int pipes[2], status;
		pid_t child;

		snprintf(dir, sizeof dir, "%s/%d", f->root, round);
		assert_int_equal(pipe(pipes), 0);
		child = fork();
		if (child == 0)
			report_durable(dir, pipes[1]);
		close(pipes[1]);
		for (int i = 0; i < 3 + 4 * round; i++)
			assert_int_equal(read(pipes[0], &told, sizeof told), sizeof told);
		usleep((useconds_t)(137 * round));
		kill(child, SIGKILL);
		while (read(pipes[0], &got, sizeof got) == sizeof got)
			told = got;
		close(pipes[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		j = open_journal(dir, false, 0);
		assert_non_null(j);
		assert_in_range(count(j, 0), told, UINT32_MAX - 1); /* and in order */
		dp_journal_close(j);
		assert_int_equal(faults(dir), 0);
	}
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* Writes fail for a while; nothing is lost, nothing is written twice. */
static void suffer_full_disk(const char *dir)
{
	unsigned wakes = 0, before;
	struct dp_journal *j = open_started(dir, 0, &wakes);
	struct dp_err err;
	uint64_t durable = 0, ticket = 0;

	NEED(j);
	signal(SIGXFSZ, SIG_IGN);
	for (uint32_t i = 0; i < 1000; i++)
		durable = append(j, 1, i);
	NEED(wait_durable(j, durable));
	limit_files(12 << 10);
	before = __atomic_load_n(&wakes, __ATOMIC_SEQ_CST);
	for (uint32_t i = 1000; i < 1500; i++)
		ticket = append(j, 1, i);
	NEED(wait_trouble(j, &err));
	NEED(err.code == DP_E_IO && strstr(err.msg, dir));
	NEED(dp_journal_durable_ticket(j) == durable);
	usleep(1200 * 1000); /* a retry that fails, too */
	for (uint32_t i = 0; i < 100; i++)
		ticket = append(j, 2, i);
	NEED(dp_journal_get_write_error(j, NULL) && dp_journal_durable_ticket(j) == durable);
	NEED(__atomic_load_n(&wakes, __ATOMIC_SEQ_CST) == before + 1);
	limit_files(RLIM_INFINITY);
	NEED(wait_durable(j, ticket));
	NEED(!dp_journal_get_write_error(j, &err));
	NEED(__atomic_load_n(&wakes, __ATOMIC_SEQ_CST) >= before + 2);
	dp_journal_close(j);

	/* Closing while the disk refuses gives up after one try. */
	j = open_started(dir, 0, NULL);
	NEED(j);
	limit_files(12 << 10);
	append(j, 1, 1500);
	NEED(wait_trouble(j, &err));
	dp_journal_close(j);
	limit_files(RLIM_INFINITY);
	_exit(0);
}

static void test_full_disk(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j;
	pid_t child = fork();

	if (child == 0)
		suffer_full_disk(f->dir);
	assert_child_ok(child);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 1), 1500);
	assert_int_equal(count(j, 2), 100);
	dp_journal_close(j);
	assert_int_equal(faults(f->dir), 0);
}

/* How many commits shall reach the disk and yet be told to have failed. */
static int lies;

/* Takes the place of the C library's for LMDB as well, which ends a commit by writing
 * one of the two meta pages; after a failure it tries to undo that. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	static bool undoing;

	if (at < 2 * 4096 && (undoing || __atomic_load_n(&lies, __ATOMIC_SEQ_CST) > 0)) {
		if (undoing)
			__atomic_sub_fetch(&lies, 1, __ATOMIC_SEQ_CST);
		else
			syscall(SYS_pwrite64, fd, bytes, n, at);
		undoing = !undoing;
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, n, at);
}

static void test_false_failures(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_started(f->dir, 0, NULL);
	struct dp_err err;
	uint64_t ticket;

	assert_non_null(j);
	append(j, 2, 0);
	dp_journal_close(j);
	j = open_journal(f->dir, false, 0);
	assert_non_null(j);
	/* all queued before the thread begins, so that units are made of many */
	for (uint32_t i = 0; i < 50; i++)
		append(j, 1, i);
	append(j, 2, 1);
	dp_journal_delete_study(j, 2);
	append(j, 3, 0);
	ticket = append(j, 1, 50);
	__atomic_store_n(&lies, 3, __ATOMIC_SEQ_CST);
	assert_int_equal(dp_journal_start_writer(j, NULL, NULL, &err), DP_OK);
	assert_true(wait_trouble(j, &err));
	assert_int_equal(err.code, DP_E_IO);
	assert_true(wait_durable(j, ticket));
	assert_false(dp_journal_get_write_error(j, &err));
	assert_int_equal(__atomic_load_n(&lies, __ATOMIC_SEQ_CST), 0);
	dp_journal_close(j);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 1), 51);
	assert_int_equal(count(j, 2), 0);
	assert_int_equal(count(j, 3), 1);
	dp_journal_close(j);
}

/* The folder vanishes under a running writer: it says so, and does not begin a new
 * history in its place. */
static void lose_folder(const char *dir)
{
	struct dp_journal *j = open_started(dir, 64 << 10, NULL);
	struct dp_err err;

	NEED(j && wait_durable(j, append(j, 1, 0)));
	signal(SIGXFSZ, SIG_IGN);
	limit_files(12 << 10);
	append(j, 1, 1);
	NEED(wait_trouble(j, &err));
	NEED(dp_remove_tree(dir, &err) == DP_OK);
	NEED(mkdir(dir, 0700) == 0);
	limit_files(RLIM_INFINITY);
	append(j, 2, 0);
	for (int64_t began = dp_monotonic_us(); err.code != DP_E_NOT_FOUND; usleep(1000)) {
		NEED(dp_monotonic_us() - began < PATIENCE_US);
		NEED(dp_journal_get_write_error(j, &err));
	}
	NEED(dp_journal_durable_ticket(j) == 1);
	dp_journal_close(j);
	_exit(0);
}

static void test_lost_folder(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();

	if (child == 0)
		lose_folder(f->dir);
	assert_child_ok(child);
}

/* Stands for the C library's in this program (the linker's --wrap). */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
static bool no_threads;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	return no_threads ? EAGAIN : __real_pthread_create(thread, attr, run, arg);
}

/* A journal whose writer could not be started can be read, started later, and closed. */
static void test_no_thread(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_journal(f->dir, false, 0);
	struct dp_err err;

	assert_non_null(j);
	no_threads = true;
	assert_int_equal(dp_journal_start_writer(j, NULL, NULL, &err), DP_E_FAILED);
	assert_non_null(strstr(err.msg, "thread"));
	assert_int_equal(count(j, 0), 0);
	append(j, 1, 0);
	dp_journal_close(j);
	/* nor can it be locked without one */
	assert_int_equal(dp_journal_open(f->dir, NULL, &j, &err), DP_E_FAILED);
	assert_non_null(strstr(err.msg, "thread"));
	no_threads = false;
	j = open_journal(f->dir, false, 0);
	assert_non_null(j);
	no_threads = true;
	assert_int_equal(dp_journal_start_writer(j, NULL, NULL, &err), DP_E_FAILED);
	no_threads = false;
	assert_int_equal(dp_journal_start_writer(j, NULL, NULL, &err), DP_OK);
	assert_true(wait_durable(j, append(j, 1, 0)));
	dp_journal_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(test_kill),           JOURNAL_TEST(test_full_disk),
		JOURNAL_TEST(test_false_failures), JOURNAL_TEST(test_lost_folder),
		JOURNAL_TEST(test_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
