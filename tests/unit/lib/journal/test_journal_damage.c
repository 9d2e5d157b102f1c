/* test_journal_damage.c - journals that were damaged, cut, are of another format or none
 * at all. */
#include <fcntl.h>
#include <grp.h>
#include <lmdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "tests/unit/support/journal_place.h"
#include "journal/maintenance/maintenance.h"

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

	if (is_missing_study(text))
		return;
	if (f->n < 8) {
		f->study[f->n] = study;
		f->seq[f->n] = seq;
		snprintf(f->text[f->n], sizeof f->text[0], "%s", text);
	}
	f->n++;
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

static void test_verify(void **state)
{
	struct fixture *f = *state;
	struct dp_journal_verify_result r;
	struct dp_buf b = DP_BUF_INIT;
	struct dp_journal *j;
	struct fault seen = { 0 };
	struct dp_err err;
	MDB_val bad;

	fill(f->dir);
	census_add_record(2, 5, &b);
	b.data[7] = (char)(b.data[7] ^ 0x10);
	bad = (MDB_val){ b.len, b.data };
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\2\0\0\0\5" }, &bad);
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\1\0\0\0\0" }, NULL);
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\3\0\0\0\7" }, NULL);
	tamper(f->dir, "events", (MDB_val){ 8, "\0\0\0\3\0\0\0\6" }, NULL);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	dp_journal_close(j);
	assert_int_equal(dp_journal_verify_path(f->dir, note_fault, &seen, &r, &err), DP_OK);
	assert_int_equal(r.records, 57);
	assert_int_equal(r.studies, 3);
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
	dp_buf_free(&b);
	/* a key that is none of ours is a fault of the file, which is not opened */
	bad = (MDB_val){ 1, "x" };
	tamper(f->dir, "events", (MDB_val){ 3, "odd" }, &bad);
	assert_true(refused(f->dir, true, DP_E_CORRUPT, "a key of 3 bytes"));
	seen = (struct fault){ 0 };
	assert_int_equal(dp_journal_verify_path(f->dir, note_fault, &seen, &r, &err), DP_OK);
	assert_int_equal(seen.study[seen.n - 1], 0);
	assert_non_null(strstr(seen.text[seen.n - 1], "a key of 3 bytes"));
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

static void print_file_bytes(const struct fixture *f, const char *name, const void *p, size_t n)
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
		print_file_bytes(f, "data.mdb", noise, n);
		assert_true(refused(f->dir, false, DP_E_CORRUPT, "data.mdb"));
		assert_true(refused(f->dir, true, DP_E_CORRUPT, "data.mdb"));
	}
	print_file_bytes(f, "data.mdb", "", 0);
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

/* Bytes that this process has read. */
static uint64_t bytes_read(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long long n = 0;

	if (f) {
		if (fscanf(f, "rchar: %llu", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n;
}

static uint64_t bytes_read_by_open(const char *dir, bool readonly)
{
	uint64_t before = bytes_read();
	struct dp_journal *j = open_journal(dir, readonly, 0);

	assert_non_null(j);
	before = bytes_read() - before;
	dp_journal_close(j);
	return before;
}

/* Only a file that its writer did not close in order, or that changed since, is read whole. */
static void test_open_after_orderly_end(void **state)
{
	enum {
		RECORD = 1000,
		RECORDS = 4000,
		FILE_BYTES = RECORD * RECORDS
	};
	struct fixture *f = *state;
	static char record[RECORD];
	struct dp_journal *j = open_started(f->dir, 0, NULL);
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct dp_err err;
	struct stat st;

	if (bytes_read() == 0)
		skip(); /* this kernel does not count */
	assert_non_null(j);
	for (uint32_t seq = 0; seq < RECORDS; seq++)
		assert_true(dp_journal_append(j, 1, seq, record, sizeof record) > 0);
	dp_journal_close(j);
	assert_int_equal(stat(in_dir(f, "clean"), &st), 0);
	assert_true(bytes_read_by_open(f->dir, true) < FILE_BYTES / 10);
	assert_true(bytes_read_by_open(f->dir, false) < FILE_BYTES / 10);
	/* a writer that runs, or was killed, leaves no mark; readers trust one that runs */
	j = open_started(f->dir, 0, NULL);
	assert_non_null(j);
	assert_int_equal(stat(in_dir(f, "clean"), &st), -1);
	dp_journal_close(j);
	assert_int_equal(unlink(in_dir(f, "clean")), 0);
	assert_true(bytes_read_by_open(f->dir, true) > FILE_BYTES);
	assert_int_equal(stat(in_dir(f, "clean"), &st), -1);
	assert_true(bytes_read_by_open(f->dir, false) > FILE_BYTES);
	assert_true(bytes_read_by_open(f->dir, false) < FILE_BYTES / 10);
	/* a mark that is not this file's */
	assert_int_equal(utimensat(AT_FDCWD, in_dir(f, "data.mdb"), times, 0), 0);
	assert_true(bytes_read_by_open(f->dir, true) > FILE_BYTES);
	assert_int_equal(dp_write_file(in_dir(f, "clean"), "x", 1, false, &err), DP_OK);
	assert_true(bytes_read_by_open(f->dir, false) > FILE_BYTES);
}

/* The format of a later LMDB is for LMDB to judge. */
static void test_newer_lmdb(void **state)
{
	struct fixture *f = *state;
	int fd;

	fill(f->dir);
	fd = open(in_dir(f, "data.mdb"), O_WRONLY);
	for (off_t page = 0; page < 2; page++) /* the version of both headers */
		assert_int_equal(pwrite(fd, "\2", 1, page * 4096 + 20), 1);
	close(fd);
	assert_true(refused(f->dir, true, DP_E_CORRUPT, "another version of LMDB"));
	assert_true(refused(f->dir, false, DP_E_CORRUPT, "another version of LMDB"));
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
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(test_verify),
		JOURNAL_TEST(test_other_formats),
		JOURNAL_TEST(test_not_a_journal),
		JOURNAL_TEST(test_cut_short),
		JOURNAL_TEST(test_open_after_orderly_end),
		JOURNAL_TEST(test_newer_lmdb),
		JOURNAL_TEST(test_unwritable_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
