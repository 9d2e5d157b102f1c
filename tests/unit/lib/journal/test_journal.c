/* test_journal.c - the journal's store: order, growth, several threads and processes. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "journal/store/journal_internal.h"
#include "tests/unit/support/journal_place.h"

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
	assert_false(dp_journal_get_write_error(j, &err));
	assert_int_equal(dp_journal_durable_ticket(j), 0);
	dp_journal_close(j);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 0);
	assert_int_equal(dp_journal_append(j, 1, 0, "x", 1), 0);
	assert_int_equal(dp_journal_start_writer(j, NULL, NULL, &err), DP_E_INVALID);
	dp_journal_close(j);
	dp_journal_close(NULL);
}

static int walk_again(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
		      struct dp_err *err)
{
	(void)study;
	(void)seq;
	(void)bytes;
	(void)len;
	return dp_journal_for_each(arg, 0, count_one, NULL, err);
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
	assert_int_equal(dp_journal_for_each(j, 0, count_one, &t, &err), DP_E_INVALID);
	append(j, 3, 300); /* closing commits what is queued */
	dp_journal_close(j);

	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 901);
	assert_int_equal(count(j, 1), 300);
	assert_int_equal(count(j, 3), 301);
	assert_int_equal(count(j, 4), 0);
	assert_int_equal(next_study(j), 4);
	assert_int_equal(dp_journal_for_each(j, 2, count_one, &t, &err), 42);
	assert_int_equal(t.records, 5);
	assert_int_equal(dp_journal_for_each(j, 0, walk_again, j, &err), DP_E_INVALID);
	assert_int_equal(dp_journal_stat(j, &size, &err), DP_OK);
	assert_int_equal(size.records, 901);
	dp_journal_close(j);
	assert_int_equal(faults(f->dir), 0);
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
	assert_false(dp_journal_get_write_error(j, &err));
	assert_int_equal(dp_journal_stat(j, &after, &err), DP_OK);
	assert_int_equal(after.records, 10000);
	assert_true(after.map_size >= after.bytes && after.bytes > 8 * before.map_size);
	dp_journal_close(j);
	j = open_journal(f->dir, false, 64 << 10); /* smaller than what is there */
	assert_non_null(j);
	assert_int_equal(count(j, 0), 10000);
	assert_int_equal(dp_journal_start_writer(j, NULL, NULL, &err), DP_OK);
	for (uint32_t i = 0; i < 5000; i++)
		ticket = append(j, 8, i);
	assert_true(wait_durable(j, ticket));
	dp_journal_close(j);
	j = open_journal(f->dir, true, 0);
	assert_non_null(j);
	assert_int_equal(count(j, 0), 15000);
	dp_journal_close(j);
	assert_int_equal(faults(f->dir), 0);
}

/* A record far larger than a page, and larger than the map. */
static void test_large_record(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_started(f->dir, 64 << 10, NULL);
	size_t len = 3 << 20;
	char *text = malloc(len + 1);
	struct dp_event e = { .type = DP_EV_RECORD_LOST, .reason = text };
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
	assert_int_equal(faults(f->dir), 0);
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
	dp_journal_delete_study(j, 2); /* one in the middle, while it is still queued */
	append(j, 3, 2000);
	dp_journal_delete_study(j, 4); /* the last one */
	ticket = dp_journal_delete_study(j, 99);
	assert_true(wait_durable(j, ticket));
	dp_journal_close(j);
	j = open_started(f->dir, 0, NULL);
	assert_non_null(j);
	append(j, 5, 0);
	ticket = dp_journal_delete_study(j, 5);
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
	assert_false(dp_journal_get_write_error(j, &err));
	dp_journal_append(j, 1, 1, "other bytes", 11);
	assert_true(wait_trouble(j, &err));
	assert_int_equal(err.code, DP_E_CORRUPT);
	assert_non_null(strstr(err.msg, "record 1 of study 1"));
	assert_int_equal(dp_journal_durable_ticket(j), ticket);
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
		dp_journal_durable_ticket(p->j);
		dp_journal_get_write_error(p->j, &err);
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

/* The writer notes each commit; nothing is known before the first. */
static void test_commits_are_timed(void **state)
{
	struct fixture *f = *state;
	unsigned wakes = 0;
	struct dp_journal *j = open_started(f->dir, 0, &wakes);
	struct dp_journal_commit_stats c;
	int64_t began = dp_monotonic_us();

	assert_non_null(j);
	dp_journal_get_commit_stats(j, &c);
	assert_true(c.count == 0 && c.total_seconds == 0);
	assert_true(isnan(c.median) && isnan(c.p90) && isnan(c.p99));
	for (uint32_t seq = 0; seq < 5; seq++)
		assert_true(wait_durable(j, append(j, 1, seq)));
	dp_journal_get_commit_stats(j, &c);
	assert_int_equal(c.count, 5);
	assert_true(0 < c.median && c.median <= c.p90 && c.p90 <= c.p99);
	assert_true(c.p99 <= c.total_seconds &&
		    c.total_seconds <= (double)(dp_monotonic_us() - began) / 1e6);
	dp_journal_close(j);
}

/* 1, 2, ..., n in an order that is not theirs: quantiles of the last 1,024. */
static void test_quantiles_of_commits(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j = open_journal(f->dir, false, 0);
	struct dp_journal_commit_stats c;

	assert_non_null(j);
	for (int i = 0; i < 100; i++)
		dp__commit_times_add(j, 1 + 37 * i % 100);
	dp_journal_get_commit_stats(j, &c);
	assert_true(c.count == 100 && c.total_seconds == 5050);
	assert_true(c.median == 50 && c.p90 == 90 && c.p99 == 99);
	for (int i = 0; i < 1024; i++) /* those before are forgotten, but for the sum */
		dp__commit_times_add(j, 1000 + i);
	dp_journal_get_commit_stats(j, &c);
	assert_int_equal(c.count, 1124);
	assert_true(c.total_seconds == 5050 + 1024 * 1000 + 1023 * 512);
	assert_true(c.median == 1511 && c.p90 == 1921 && c.p99 == 2013);
	dp_journal_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(test_fresh),
		JOURNAL_TEST(test_append_and_read),
		JOURNAL_TEST(test_map_grows),
		JOURNAL_TEST(test_large_record),
		JOURNAL_TEST(test_forget),
		JOURNAL_TEST(test_no_overwriting),
		JOURNAL_TEST(test_many_threads),
		JOURNAL_TEST(test_second_writer),
		JOURNAL_TEST(test_reader_beside_writer),
		JOURNAL_TEST(test_commits_are_timed),
		JOURNAL_TEST(test_quantiles_of_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
