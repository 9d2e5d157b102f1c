/* journal_place.h - a folder, records and helpers for the tests of the journal.
 *
 * LMDB must not open one environment twice in a process, so that tests with a second
 * party fork; a child checks with NEED() and tells by its exit code. */
#ifndef DP_TEST_JOURNAL_PLACE_H
#define DP_TEST_JOURNAL_PLACE_H
#include "base/fs.h"
#include "base/units.h"
#include "journal/maintenance/maintenance.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PATIENCE_US = 120 * 1000 * 1000, /* far more than anything here takes */
	NOBODY = 65534,
};

#define NEED(c)                                                                                    \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "child: line %d: %s\n", __LINE__, #c);                     \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* ---- a folder for each test ---- */

struct fixture {
	char root[PATH_MAX - 64], dir[PATH_MAX];
};

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	int code = dp_remove_tree(f->root, NULL);

	free(f);
	return code;
}

static inline const char *in_dir(const struct fixture *f, const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/%s", f->dir, name);
	return path;
}

/* ---- records ---- */

/* The same bytes for the same key every time. */
static inline void census_add_record(uint32_t study, uint32_t seq, struct dp_buf *out)
{
	double x[] = { seq + 0.1, study / 3.0 };
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED, .time_us = seq, .trial = seq };
	struct dp_err err;

	e.trial_proposed.point.source = "random";
	e.trial_proposed.point.params = x;
	e.trial_proposed.point.nparams = 2;
	if (dp_event_encode(&e, out, &err) != DP_OK)
		abort();
}

static inline uint64_t append(struct dp_journal *j, uint32_t study, uint32_t seq)
{
	struct dp_buf b = DP_BUF_INIT;
	uint64_t ticket;

	census_add_record(study, seq, &b);
	ticket = dp_journal_append(j, study, seq, b.data, b.len);
	dp_buf_free(&b);
	return ticket;
}

static inline bool wait_durable(struct dp_journal *j, uint64_t ticket)
{
	int64_t start = dp_monotonic_us();

	while (dp_journal_durable_ticket(j) < ticket) {
		if (dp_monotonic_us() - start > PATIENCE_US)
			return false;
		usleep(200);
	}
	return true;
}

static inline bool wait_trouble(struct dp_journal *j, struct dp_err *why)
{
	int64_t start = dp_monotonic_us();

	while (!dp_journal_get_write_error(j, why)) {
		if (dp_monotonic_us() - start > PATIENCE_US)
			return false;
		usleep(200);
	}
	return true;
}

static inline struct dp_journal *open_journal(const char *dir, bool readonly, size_t map)
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

static inline void count_wake(void *arg)
{
	__atomic_add_fetch((unsigned *)arg, 1, __ATOMIC_SEQ_CST);
}

static inline struct dp_journal *open_started(const char *dir, size_t map, unsigned *wakes)
{
	struct dp_journal *j = open_journal(dir, false, map);
	struct dp_err err;

	if (j && dp_journal_start_writer(j, wakes ? count_wake : NULL, wakes, &err) != DP_OK) {
		dp_journal_close(j);
		return NULL;
	}
	return j;
}

/* Walks and compares every record with what census_add_record() gives. */
struct tally {
	uint32_t records, wrong, study, seq;
	uint32_t stop_at; /* records, then return 42 */
};

static inline int count_one(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
			    struct dp_err *err)
{
	struct tally *t = arg;
	struct dp_buf b = DP_BUF_INIT;

	(void)err;
	census_add_record(study, seq, &b);
	if (b.len != len || memcmp(b.data, bytes, len) != 0)
		t->wrong++;
	dp_buf_free(&b);
	if (t->records && (study < t->study || (study == t->study && seq != t->seq + 1)))
		t->wrong++;
	t->study = study;
	t->seq = seq;
	return ++t->records == t->stop_at ? 42 : 0;
}

static inline uint32_t count(struct dp_journal *j, uint32_t study)
{
	struct tally t = { 0 };
	struct dp_err err;

	if (dp_journal_for_each(j, study, count_one, &t, &err) != DP_OK || t.wrong)
		return UINT32_MAX;
	return t.records;
}

static inline uint32_t next_study(struct dp_journal *j)
{
	uint32_t id = UINT32_MAX;
	struct dp_err err;

	assert_int_equal(dp_journal_next_study_id(j, &id, &err), DP_OK);
	return id;
}

/* These records have no study-created before them: that alone is no fault here. */
static inline bool is_missing_study(const char *fault)
{
	return strstr(fault, "which was never created") != NULL;
}

static inline void count_fault(void *arg, uint32_t study, uint32_t seq, const char *fault)
{
	(void)study;
	(void)seq;
	*(uint64_t *)arg += !is_missing_study(fault);
}

static inline uint64_t faults(const char *dir)
{
	struct dp_journal_verify_result r;
	uint64_t n = 0;
	struct dp_err err;

	assert_int_equal(dp_journal_verify_path(dir, count_fault, &n, &r, &err), DP_OK);
	return n;
}

static inline void assert_child_ok(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define JOURNAL_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
