/* test_journal.c - the journal's store: order, growth, crashes, full disks, damage.
 *
 * LMDB must not open one environment twice in a process, so that tests with a second
 * party fork; a child checks with NEED() and tells by its exit code. */
#include "base/fs.h"
#include "base/num.h"
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lmdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum {
	PATIENCE_US = 30 * 1000 * 1000, /* far more than anything here takes */
	NOBODY = 65534,
};

#define NEED(c)                                                                          \
	do {                                                                             \
		if (!(c)) {                                                              \
			fprintf(stderr, "child: line %d: %s\n", __LINE__, #c);           \
			_exit(1);                                                        \
		}                                                                        \
	} while (0)

/* ---- a folder for each test ---- */

struct fixture {
	char root[PATH_MAX - 64], dir[PATH_MAX];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	const char *tmp = getenv("TMPDIR");

	if (!f)
		return -1;
	snprintf(f->root, sizeof f->root, "%s/dp-journal-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(f->root))
		return -1;
	snprintf(f->dir, sizeof f->dir, "%s/journal", f->root);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int code = dp_remove_tree(f->root, NULL);

	free(f);
	return code;
}

static const char *in_dir(const struct fixture *f, const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/%s", f->dir, name);
	return path;
}

/* ---- records ---- */

/* The same bytes for the same key every time. */
static void make_record(uint32_t study, uint32_t seq, struct dp_buf *out)
{
	double x[] = { seq + 0.1, study / 3.0 };
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED, .time = seq, .trial = seq };
	struct dp_err err;

	e.source = "random";
	e.params = x;
	e.nparams = 2;
	if (dp_event_encode(&e, out, &err) != DP_OK)
		abort();
}

static uint64_t append(struct dp_journal *j, uint32_t study, uint32_t seq)
{
	struct dp_buf b = DP_BUF_INIT;
	uint64_t ticket;

	make_record(study, seq, &b);
	ticket = dp_journal_append(j, study, seq, b.data, b.len);
	dp_buf_free(&b);
	return ticket;
}

static bool wait_durable(struct dp_journal *j, uint64_t ticket)
{
	int64_t start = dp_mono_us();

	while (dp_journal_durable(j) < ticket) {
		if (dp_mono_us() - start > PATIENCE_US)
			return false;
		usleep(200);
	}
	return true;
}

static bool wait_trouble(struct dp_journal *j, struct dp_err *why)
{
	int64_t start = dp_mono_us();

	while (!dp_journal_trouble(j, why)) {
		if (dp_mono_us() - start > PATIENCE_US)
			return false;
		usleep(200);
	}
	return true;
}

static struct dp_journal *open_journal(const char *dir, bool readonly, size_t map)
{
	struct dp_journal_options opt = { .readonly = readonly, .map_size = map };
	struct dp_journal *j = NULL;
	struct dp_err err;

	if (dp_journal_open(dir, &opt, &j, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return NULL;
	}
	return j;
}

static void count_wake(void *arg)
{
	__atomic_add_fetch((unsigned *)arg, 1, __ATOMIC_SEQ_CST);
}

static struct dp_journal *open_started(const char *dir, size_t map, unsigned *wakes)
{
	struct dp_journal *j = open_journal(dir, false, map);
	struct dp_err err;

	if (j && dp_journal_start(j, wakes ? count_wake : NULL, wakes, &err) != DP_OK) {
		dp_journal_close(j);
		return NULL;
	}
	return j;
}

/* Walks and compares every record with what make_record() gives. */
struct tally {
	uint32_t records, wrong, study, seq;
	uint32_t stop_at; /* records, then return 42 */
};

static int count_one(void *arg, uint32_t study, uint32_t seq, const void *bytes,
		     size_t len, struct dp_err *err)
{
	struct tally *t = arg;
	struct dp_buf b = DP_BUF_INIT;

	(void)err;
	make_record(study, seq, &b);
	if (b.len != len || memcmp(b.data, bytes, len) != 0)
		t->wrong++;
	dp_buf_free(&b);
	if (t->records && (study < t->study || (study == t->study && seq != t->seq + 1)))
		t->wrong++;
	t->study = study;
	t->seq = seq;
	return ++t->records == t->stop_at ? 42 : 0;
}

static uint32_t count(struct dp_journal *j, uint32_t study)
{
	struct tally t = { 0 };
	struct dp_err err;

	if (dp_journal_each(j, study, count_one, &t, &err) != DP_OK || t.wrong)
		return UINT32_MAX;
	return t.records;
}

static uint32_t next_study(struct dp_journal *j)
{
	uint32_t id = UINT32_MAX;
	struct dp_err err;

	assert_int_equal(dp_journal_next_study(j, &id, &err), DP_OK);
	return id;
}

static uint64_t faults(struct dp_journal *j, dp_verify_fn *bad, void *arg)
{
	struct dp_verify_result r;
	struct dp_err err;

	assert_int_equal(dp_journal_verify(j, bad, arg, &r, &err), DP_OK);
	return r.faults;
}

static void assert_child_ok(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- tests ---- */

static void test_fresh(void **state)
{
	struct fixture *f = *state;
	struct dp_journal_stat size;
	struct dp_journal *j = open_journal(f->dir, false, 0);
	struct stat st;
	struct dp_err err;

	assert_non_null(j);
	assert_int_equal(stat(f->dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(in_dir(f, "data.mdb"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(next_study(j), 1);
	assert_int_equal(count(j, 0), 0);
	assert_int_equal(dp_journal_stat(j, &size, &err), DP_OK);
	assert_true(size.records == 0 && size.bytes > 0 && size.map_size >= 64 << 20);
	assert_false(dp_journal_trouble(j, &err));
	assert_int_equal(dp_journal_durable(j), 0);
	dp_journal_close(j);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 0);
	assert_int_equal(dp_journal_append(j, 1, 0, "x", 1), 0);
	assert_int_equal(dp_journal_start(j, NULL, NULL, &err), DP_E_INVALID);
	dp_journal_close(j);
	dp_journal_close(NULL);
}

static int walk_again(void *arg, uint32_t study, uint32_t seq, const void *bytes,
		      size_t len, struct dp_err *err)
{
	(void)study;
	(void)seq;
	(void)bytes;
	(void)len;
	return dp_journal_each(arg, 0, count_one, NULL, err);
}

static void test_append_and_read(void **state)
{
	struct fixture *f = *state;
	unsigned wakes = 0;
	struct dp_journal *j = open_started(f->dir, 0, &wakes);
	struct dp_journal_stat size;
	struct tally t = { .stop_at = 5 };
	uint64_t ticket = 0, previous = 0;
	struct dp_err err;

	assert_non_null(j);
	for (uint32_t seq = 0; seq < 300; seq++) /* 256 and 257 differ in a high byte */
		for (uint32_t study = 1; study <= 3; study++) {
			ticket = append(j, study, seq);
			assert_true(ticket > previous);
			previous = ticket;
		}
	assert_true(wait_durable(j, ticket));
	assert_true(__atomic_load_n(&wakes, __ATOMIC_SEQ_CST) >= 1);
	assert_int_equal(dp_journal_stat(j, &size, &err), DP_OK);
	assert_int_equal(size.records, 900);
	assert_int_equal(dp_journal_each(j, 0, count_one, &t, &err), DP_E_INVALID);
	append(j, 3, 300); /* closing commits what is queued */
	dp_journal_close(j);

	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 901);
	assert_int_equal(count(j, 1), 300);
	assert_int_equal(count(j, 3), 301);
	assert_int_equal(count(j, 4), 0);
	assert_int_equal(next_study(j), 4);
	assert_int_equal(dp_journal_each(j, 2, count_one, &t, &err), 42);
	assert_int_equal(t.records, 5);
	assert_int_equal(dp_journal_each(j, 0, walk_again, j, &err), DP_E_INVALID);
	assert_int_equal(dp_journal_stat(j, &size, &err), DP_OK);
	assert_int_equal(size.records, 901);
	assert_int_equal(faults(j, NULL, NULL), 0);
	dp_journal_close(j);
}

static void test_map_grows(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_started(f->dir, 64 << 10, NULL);
	struct dp_journal_stat before, after;
	uint64_t ticket = 0;
	struct dp_err err;

	assert_non_null(j);
	assert_int_equal(dp_journal_stat(j, &before, &err), DP_OK);
	assert_int_equal(before.map_size, 64 << 10);
	for (uint32_t i = 0; i < 10000; i++) {
		ticket = append(j, 1 + i % 7, i / 7);
		if (i % 500 == 0)
			assert_true(wait_durable(j, ticket));
	}
	assert_true(wait_durable(j, ticket));
	assert_false(dp_journal_trouble(j, &err));
	assert_int_equal(dp_journal_stat(j, &after, &err), DP_OK);
	assert_int_equal(after.records, 10000);
	assert_true(after.map_size >= after.bytes && after.bytes > 8 * before.map_size);
	dp_journal_close(j);
	j = open_journal(f->dir, false, 64 << 10); /* smaller than what is there */
	assert_non_null(j);
	assert_int_equal(count(j, 0), 10000);
	assert_int_equal(dp_journal_start(j, NULL, NULL, &err), DP_OK);
	for (uint32_t i = 0; i < 5000; i++)
		ticket = append(j, 8, i);
	assert_true(wait_durable(j, ticket));
	dp_journal_close(j);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 15000);
	assert_int_equal(faults(j, NULL, NULL), 0);
	dp_journal_close(j);
}

/* A record far larger than a page, and larger than the map. */
static void test_large_record(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_started(f->dir, 64 << 10, NULL);
	size_t len = 3 << 20;
	char *text = malloc(len + 1);
	struct dp_event e = { .type = DP_EV_STUDY_CREATED, .name = "n", .text = text };
	struct dp_buf b = DP_BUF_INIT;
	struct dp_err err;
	uint64_t ticket;

	assert_non_null(j);
	assert_non_null(text);
	memset(text, 'x', len);
	text[len] = '\0';
	assert_int_equal(dp_event_encode(&e, &b, &err), DP_OK);
	ticket = dp_journal_append(j, 1, 0, b.data, b.len);
	assert_true(wait_durable(j, ticket));
	dp_journal_close(j);
	dp_buf_free(&b);
	free(text);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(faults(j, NULL, NULL), 0);
	dp_journal_close(j);
}

static void test_forget(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_started(f->dir, 0, NULL);
	uint64_t ticket;

	assert_non_null(j);
	for (uint32_t study = 1; study <= 4; study++)
		for (uint32_t seq = 0; seq < 2000; seq++)
			append(j, study, seq);
	dp_journal_forget(j, 2); /* one in the middle, while it is still queued */
	append(j, 3, 2000);
	dp_journal_forget(j, 4); /* the last one */
	ticket = dp_journal_forget(j, 99);
	assert_true(wait_durable(j, ticket));
	dp_journal_close(j);
	j = open_started(f->dir, 0, NULL);
	assert_non_null(j);
	append(j, 5, 0);
	ticket = dp_journal_forget(j, 5);
	append(j, 3, 2001);
	dp_journal_close(j);
	j = open_journal(f->dir, false, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 1), 2000);
	assert_int_equal(count(j, 2), 0);
	assert_int_equal(count(j, 3), 2002);
	assert_int_equal(count(j, 0), 4002);
	assert_int_equal(next_study(j), 6); /* numbers are not used again */
	dp_journal_close(j);
}

/* Appends what is there already: harmless if it is the same, else refused. */
static void test_no_overwriting(void **state)
{
	struct fixture *f = *state;
	unsigned wakes = 0;
	struct dp_journal *j = open_started(f->dir, 0, &wakes);
	struct dp_err err;
	uint64_t ticket;

	assert_non_null(j);
	append(j, 1, 0);
	append(j, 1, 1);
	append(j, 2, 0);
	append(j, 1, 0);
	append(j, 2, 0);
	ticket = append(j, 1, 1);
	assert_true(wait_durable(j, ticket));
	assert_false(dp_journal_trouble(j, &err));
	dp_journal_append(j, 1, 1, "other bytes", 11);
	assert_true(wait_trouble(j, &err));
	assert_int_equal(err.code, DP_E_CORRUPT);
	assert_non_null(strstr(err.msg, "record 1 of study 1"));
	assert_int_equal(dp_journal_durable(j), ticket);
	assert_true(__atomic_load_n(&wakes, __ATOMIC_SEQ_CST) >= 2);
	dp_journal_close(j);
	j = open_started(f->dir, 0, NULL);
	assert_non_null(j);
	append(j, 1, 7); /* 2 to 6 are missing */
	assert_true(wait_trouble(j, &err));
	assert_int_equal(err.code, DP_E_CORRUPT);
	dp_journal_close(j);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 3);
	dp_journal_close(j);
}

struct producer {
	struct dp_journal *j;
	uint32_t study, n;
	uint64_t ticket;
};

static void *produce(void *arg)
{
	struct producer *p = arg;
	struct dp_journal_stat size;
	struct dp_err err;

	for (uint32_t seq = 0; seq < p->n; seq++) {
		p->ticket = append(p->j, p->study, seq);
		dp_journal_durable(p->j);
		dp_journal_trouble(p->j, &err);
		if (dp_journal_stat(p->j, &size, &err) != DP_OK)
			p->ticket = 0;
	}
	return NULL;
}

static void test_many_threads(void **state)
{
	struct fixture *f = *state;
	unsigned wakes = 0;
	struct dp_journal *j = open_started(f->dir, 64 << 10, &wakes);
	struct producer p[4];
	pthread_t thread[4];

	assert_non_null(j);
	for (uint32_t i = 0; i < 4; i++) {
		p[i] = (struct producer){ j, i + 1, 500, 0 };
		assert_int_equal(pthread_create(&thread[i], NULL, produce, &p[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		assert_true(p[i].ticket > 0 && wait_durable(j, p[i].ticket));
	}
	/* commits are shared: far fewer than records */
	assert_true(__atomic_load_n(&wakes, __ATOMIC_SEQ_CST) <= 2000);
	dp_journal_close(j);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 2000);
	dp_journal_close(j);
}

static void try_second_writer(const char *dir, pid_t owner)
{
	struct dp_journal *j = NULL;
	struct dp_err err;
	char pid[32];

	snprintf(pid, sizeof pid, "pid %ld", (long)owner);
	NEED(dp_journal_open(dir, NULL, &j, &err) == DP_E_BUSY);
	NEED(strstr(err.msg, dir) && strstr(err.msg, pid));
	NEED(err.hint[0]);
	_exit(0);
}

static void test_second_writer(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j;
	int go[2];
	char c = 0;
	pid_t self = getpid(), child;

	assert_int_equal(pipe(go), 0);
	child = fork(); /* before the journal is there: it is no child's to inherit */
	if (child == 0) {
		NEED(read(go[0], &c, 1) == 1);
		try_second_writer(f->dir, self);
	}
	j = open_journal(f->dir, false, 0);
	assert_non_null(j);
	assert_int_equal(write(go[1], &c, 1), 1);
	assert_child_ok(child);
	dp_journal_close(j);
	j = open_journal(f->dir, false, 0); /* the lock is gone with its owner */
	assert_non_null(j);
	dp_journal_close(j);
	close(go[0]);
	close(go[1]);
}

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
		durable = dp_journal_durable(j);
		if (durable > told) {
			told = (uint32_t)durable;
			NEED(write(to, &told, sizeof told) == sizeof told);
		}
		while (appended - dp_journal_durable(j) > 200)
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
		assert_int_equal(faults(j, NULL, NULL), 0);
		dp_journal_close(j);
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
	NEED(dp_journal_durable(j) == durable);
	usleep(1200 * 1000); /* a retry that fails, too */
	for (uint32_t i = 0; i < 100; i++)
		ticket = append(j, 2, i);
	NEED(dp_journal_trouble(j, NULL) && dp_journal_durable(j) == durable);
	NEED(__atomic_load_n(&wakes, __ATOMIC_SEQ_CST) == before + 1);
	limit_files(RLIM_INFINITY);
	NEED(wait_durable(j, ticket));
	NEED(!dp_journal_trouble(j, &err));
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
	assert_int_equal(faults(j, NULL, NULL), 0);
	dp_journal_close(j);
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
	dp_journal_forget(j, 2);
	append(j, 3, 0);
	ticket = append(j, 1, 50);
	__atomic_store_n(&lies, 3, __ATOMIC_SEQ_CST);
	assert_int_equal(dp_journal_start(j, NULL, NULL, &err), DP_OK);
	assert_true(wait_trouble(j, &err));
	assert_int_equal(err.code, DP_E_IO);
	assert_true(wait_durable(j, ticket));
	assert_false(dp_journal_trouble(j, &err));
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
	usleep(1500 * 1000);
	NEED(dp_journal_trouble(j, &err) && dp_journal_durable(j) == 1);
	NEED(err.code == DP_E_NOT_FOUND);
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

/* Writes n more records for every number it reads. */
static void write_on_demand(const char *dir, int from, int to)
{
	struct dp_journal *j = open_started(dir, 64 << 10, NULL);
	uint32_t n, seq = 0;

	NEED(j);
	while (read(from, &n, sizeof n) == sizeof n) {
		uint64_t ticket = 0;

		while (n--)
			ticket = append(j, 1, seq++);
		NEED(wait_durable(j, ticket));
		NEED(write(to, &seq, sizeof seq) == sizeof seq);
	}
	dp_journal_close(j);
	_exit(0);
}

static void test_reader_beside_writer(void **state)
{
	struct fixture *f = *state;
	static const uint32_t more[] = { 10, 100, 3000, 1, 20000 };
	struct dp_journal *j = NULL;
	struct dp_journal_stat size;
	struct dp_err err;
	uint32_t there;
	int ask[2], told[2];
	pid_t child;

	assert_int_equal(pipe(ask), 0);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0) {
		close(ask[1]);
		write_on_demand(f->dir, ask[0], told[1]);
	}
	close(ask[0]);
	close(told[1]);
	for (size_t i = 0; i < DP_COUNT(more); i++) {
		assert_int_equal(write(ask[1], &more[i], 4), 4);
		assert_int_equal(read(told[0], &there, sizeof there), sizeof there);
		if (!j)
			j = open_journal(f->dir, true, 0);
		assert_non_null(j);
		assert_int_equal(count(j, 0), there);
		assert_int_equal(dp_journal_stat(j, &size, &err), DP_OK);
		assert_int_equal(size.records, there);
	}
	assert_true(size.map_size > 16 * (64 << 10)); /* so it was resized */
	close(ask[1]);
	assert_child_ok(child);
	assert_int_equal(count(j, 0), there);
	dp_journal_close(j);
	close(told[0]);
}

/* ---- damage ---- */

static void fill(const char *dir)
{
	struct dp_journal *j = open_started(dir, 0, NULL);

	assert_non_null(j);
	for (uint32_t study = 1; study <= 3; study++)
		for (uint32_t seq = 0; seq < 20; seq++)
			append(j, study, seq);
	dp_journal_close(j);
}

/* Changes the environment behind the journal's back. */
static void tamper(const char *dir, const char *db, MDB_val key, const MDB_val *value)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val copy;

	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 2), 0);
	assert_int_equal(mdb_env_open(env, dir, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, db, MDB_CREATE, &dbi), 0);
	if (value) {
		copy = *value;
		assert_int_equal(mdb_put(txn, dbi, &key, &copy, 0), 0);
	} else {
		assert_int_equal(mdb_del(txn, dbi, &key, NULL), 0);
	}
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

struct fault {
	uint32_t n, study[8], seq[8];
	char text[8][600];
};

static void note_fault(void *arg, uint32_t study, uint32_t seq, const char *text)
{
	struct fault *f = arg;

	if (f->n < 8) {
		f->study[f->n] = study;
		f->seq[f->n] = seq;
		snprintf(f->text[f->n], sizeof f->text[0], "%s", text);
	}
	f->n++;
}

static void test_verify(void **state)
{
	struct fixture *f = *state;
	struct dp_verify_result r;
	struct dp_buf b = DP_BUF_INIT;
	struct dp_journal *j;
	struct fault seen = { 0 };
	struct dp_err err;
	MDB_val bad;

	fill(f->dir);
	make_record(2, 5, &b);
	b.data[7] = (char)(b.data[7] ^ 0x10);
	bad = (MDB_val){ b.len, b.data };
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\2\0\0\0\5" }, &bad);
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\1\0\0\0\0" }, NULL);
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\3\0\0\0\7" }, NULL);
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\3\0\0\0\6" }, NULL);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(dp_journal_verify(j, note_fault, &seen, &r, &err), DP_OK);
	assert_int_equal(r.records, 57);
	assert_int_equal(r.studies, 3);
	assert_int_equal(r.faults, 3);
	assert_int_equal(seen.n, 3);
	assert_true(r.bytes > 57 * 20);
	assert_int_equal(seen.study[0], 1);
	assert_int_equal(seen.seq[0], 1);
	assert_string_equal(seen.text[0], "record 0 before it is missing");
	assert_int_equal(seen.study[1], 2);
	assert_int_equal(seen.seq[1], 5);
	assert_non_null(strstr(seen.text[1], "checksum"));
	assert_int_equal(seen.study[2], 3);
	assert_int_equal(seen.seq[2], 8);
	assert_string_equal(seen.text[2], "records 6 to 7 before it are missing");
	dp_journal_close(j);
	dp_buf_free(&b);
	/* a key that is none of ours ends the walk with a sentence */
	bad = (MDB_val){ 1, "x" };
	tamper(f->dir, "events", (MDB_val){ 3, "odd" }, &bad);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(dp_journal_verify(j, NULL, NULL, &r, &err), DP_E_CORRUPT);
	dp_journal_close(j);
}

static bool refused(const char *dir, bool readonly, int code, const char *word)
{
	struct dp_journal_options opt = { .readonly = readonly };
	struct dp_journal *j = NULL;
	struct dp_err err;
	int got = dp_journal_open(dir, &opt, &j, &err);

	if (got == code && !j && strstr(err.msg, word) && strstr(err.msg, dir))
		return dp_journal_open(dir, &opt, &j, NULL) == code;
	fprintf(stderr, "got %d: %s\n", got, got ? err.msg : "");
	dp_journal_close(j);
	return false;
}

static void test_other_formats(void **state)
{
	struct fixture *f = *state;
	MDB_val v = { 1, "2" };

	fill(f->dir);
	tamper(f->dir, "meta", (MDB_val){ 6, "format" }, &v);
	assert_true(refused(f->dir, false, DP_E_CORRUPT, "format 2"));
	assert_true(refused(f->dir, true, DP_E_CORRUPT, "format 2"));
	v = (MDB_val){ 3, "new" };
	tamper(f->dir, "meta", (MDB_val){ 6, "format" }, &v);
	assert_true(refused(f->dir, true, DP_E_CORRUPT, "format"));
	tamper(f->dir, "meta", (MDB_val){ 6, "format" }, NULL);
	assert_true(refused(f->dir, false, DP_E_CORRUPT, "no journal"));
}

static void put_file(const struct fixture *f, const char *name, const void *p, size_t n)
{
	struct dp_err err;

	assert_int_equal(dp_mkdirs(f->dir, 0700, &err), DP_OK);
	assert_int_equal(dp_write_file(in_dir(f, name), p, n, false, &err), DP_OK);
}

static void test_not_a_journal(void **state)
{
	struct fixture *f = *state;
	char noise[20000];
	MDB_val v = { 1, "x" };
	struct dp_err err;
	char file[PATH_MAX + 8];

	assert_true(refused(f->dir, true, DP_E_NOT_FOUND, "no journal"));
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (char)(i * 2654435761u >> 13);
	for (size_t n = 1; n <= sizeof noise; n = n * 3 + 7) {
		put_file(f, "data.mdb", noise, n);
		assert_true(refused(f->dir, false, DP_E_CORRUPT, "data.mdb"));
		assert_true(refused(f->dir, true, DP_E_CORRUPT, "data.mdb"));
	}
	put_file(f, "data.mdb", "", 0);
	assert_true(refused(f->dir, true, DP_E_NOT_FOUND, "no journal"));
	/* a database of somebody else */
	assert_int_equal(dp_remove_tree(f->dir, &err), DP_OK);
	assert_int_equal(dp_mkdirs(f->dir, 0700, &err), DP_OK);
	tamper(f->dir, "theirs", (MDB_val){ 1, "k" }, &v);
	assert_true(refused(f->dir, false, DP_E_CORRUPT, "no journal"));
	assert_true(refused(f->dir, true, DP_E_CORRUPT, "no journal"));
	/* a file where the folder should be */
	snprintf(file, sizeof file, "%s/file", f->root);
	assert_int_equal(dp_write_file(file, "x", 1, false, &err), DP_OK);
	assert_true(refused(file, false, DP_E_EXISTS, "not a folder"));
	assert_true(refused(file, true, DP_E_NOT_FOUND, "no journal"));
}

static void test_cut_short(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j;
	struct dp_journal_stat size;
	struct dp_err err;
	struct stat st;

	fill(f->dir);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(dp_journal_stat(j, &size, &err), DP_OK);
	dp_journal_close(j);
	assert_int_equal(stat(in_dir(f, "data.mdb"), &st), 0);
	assert_true((uint64_t)st.st_size > size.bytes);
	for (uint64_t n = size.bytes - 1; n > 4096; n -= 4096) {
		assert_int_equal(truncate(in_dir(f, "data.mdb"), (off_t)n), 0);
		assert_true(refused(f->dir, true, DP_E_CORRUPT, "data.mdb"));
		assert_true(refused(f->dir, false, DP_E_CORRUPT, "data.mdb"));
	}
}

/* An archive: no lock file, and none can be made. */
static void test_unwritable_folder(void **state)
{
	struct fixture *f = *state;
	pid_t child;

	fill(f->dir);
	assert_int_equal(unlink(in_dir(f, "lock.mdb")), 0);
	assert_int_equal(chmod(f->root, 0755), 0);
	assert_int_equal(chmod(in_dir(f, "data.mdb"), 0444), 0);
	assert_int_equal(chmod(f->dir, 0555), 0);
	child = fork();
	if (child == 0) {
		struct dp_journal *j;

		if (geteuid() == 0)
			NEED(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
		if (access(f->dir, X_OK) != 0)
			_exit(0); /* TMPDIR is closed to others */
		j = open_journal(f->dir, true, 0);
		NEED(j && count(j, 0) == 60);
		dp_journal_close(j);
		NEED(refused(f->dir, false, DP_E_DENIED, "lock"));
		_exit(0);
	}
	assert_child_ok(child);
	assert_int_equal(chmod(f->dir, 0755), 0);
	/* a lock file that may not be opened might be in use */
	fill(in_dir(f, "other"));
	assert_int_equal(chmod(in_dir(f, "other"), 0755), 0);
	assert_int_equal(chmod(in_dir(f, "other/data.mdb"), 0444), 0);
	child = fork();
	if (child == 0) {
		if (geteuid() == 0) {
			NEED(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
			NEED(refused(in_dir(f, "other"), true, DP_E_DENIED, "open"));
		}
		_exit(0);
	}
	assert_child_ok(child);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fresh),
		TEST(test_append_and_read),
		TEST(test_map_grows),
		TEST(test_large_record),
		TEST(test_forget),
		TEST(test_no_overwriting),
		TEST(test_many_threads),
		TEST(test_second_writer),
		TEST(test_kill),
		TEST(test_full_disk),
		TEST(test_false_failures),
		TEST(test_lost_folder),
		TEST(test_reader_beside_writer),
		TEST(test_verify),
		TEST(test_other_formats),
		TEST(test_not_a_journal),
		TEST(test_cut_short),
		TEST(test_unwritable_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
