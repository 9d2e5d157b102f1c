/* test_journal_repair.c - records that are lost: the study is set apart, and a repair
 * keeps all that can be kept and makes up nothing. */
#include <lmdb.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "state/state.h"
#include "journal/maintenance/maintenance.h"
#include "tests/unit/support/journal_place.h"

enum {
	TRIALS = 4,
	PER_TRIAL = 4, /* proposed, planned, ended, trial ended */
	RECORDS = 1 + TRIALS * PER_TRIAL,
};

static const char text[] = "study: s\n"
			   "trainer: {command: [./t]}\n"
			   "parameters: {x: {type: float, range: [0, 1]}}\n"
			   "objectives: {a: {metric: a}, b: {metric: b}}\n"
			   "anti_ideal: {a: 2, b: 2}\n"
			   "search: {method: random, evaluations: 4}\n";

/* The record of a study in which every trial goes well. */
static void story(uint32_t seq, struct dp_buf *out)
{
	static const char *const names[] = { "a", "b" };
	uint32_t runs[] = { 0 }, trial = seq ? (seq - 1) / PER_TRIAL : 0;
	double x[] = { trial / 8.0 }, values[] = { 0.25 * trial, 1 };
	struct dp_event e = { .time_us = 1000 + seq, .trial = trial };
	struct dp_err err;

	if (seq == 0) {
		e.type = DP_EV_STUDY_CREATED;
		e.study_created.name = "s";
		e.study_created.text = text;
		e.study_created.dir = "/";
	} else if (seq % PER_TRIAL == 1) {
		e.type = DP_EV_TRIAL_PROPOSED;
		e.trial_proposed.point.source = "random";
		e.trial_proposed.point.params = x;
		e.trial_proposed.point.nparams = 1;
		e.trial_proposed.conditioned_on = seq;
	} else if (seq % PER_TRIAL == 2) {
		e.type = DP_EV_ATTEMPT_PLANNED;
		e.run = DP_RUN_ALL;
	} else if (seq % PER_TRIAL == 3) {
		e.type = DP_EV_ATTEMPT_ENDED;
		e.run = DP_RUN_ALL;
		e.attempt_ended.end_class = DP_END_OK;
		e.attempt_ended.metric_names = names;
		e.attempt_ended.nmetrics = 2;
		e.attempt_ended.runs = runs;
		e.attempt_ended.nruns = 1;
		e.attempt_ended.metrics = values;
		e.attempt_ended.declaration = (struct dp_declaration){ NULL, NAN, NAN, NAN, NAN };
	} else {
		e.type = DP_EV_TRIAL_ENDED;
		e.trial_ended.status = "ok";
		e.trial_ended.objectives = values;
		e.trial_ended.nobjectives = 2;
	}
	if (dp_event_encode(&e, out, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

static void fill(const char *dir)
{
	struct dp_journal *j = open_started(dir, 0, NULL);
	struct dp_buf b = DP_BUF_INIT;

	assert_non_null(j);
	for (uint32_t study = 1; study <= 2; study++)
		for (uint32_t seq = 0; seq < RECORDS; seq++) {
			story(seq, &b);
			dp_journal_append(j, study, seq, b.data, b.len);
		}
	dp_buf_free(&b);
	dp_journal_close(j);
}

/* Flips a bit of a record of study 1, or takes it away. */
static void hurt(const char *dir, uint32_t seq, bool take)
{
	unsigned char key[] = { 0, 0, 0, 1, 0, 0, 0, (unsigned char)seq };
	MDB_val k = { sizeof key, key }, v;
	struct dp_buf b = DP_BUF_INIT;
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;

	story(seq, &b);
	b.data[b.len / 2] = (char)(b.data[b.len / 2] ^ 4);
	v = (MDB_val){ b.len, b.data };
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 2), 0);
	assert_int_equal(mdb_env_open(env, dir, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "events", 0, &dbi), 0);
	assert_int_equal(take ? mdb_del(txn, dbi, &k, NULL) : mdb_put(txn, dbi, &k, &v, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	dp_buf_free(&b);
}

/* Leaves the file without pages that nothing leads to, where a repair would find older
 * copies of what was hurt. */
static void forget_copies(const struct fixture *f)
{
	struct dp_journal *j = open_journal(f->dir, true, 0);
	char from[PATH_MAX + 64];
	struct dp_err err;

	assert_non_null(j);
	assert_int_equal(dp_journal_backup(j, in_dir(f, "compact"), &err), DP_OK);
	dp_journal_close(j);
	assert_int_equal(unlink(in_dir(f, "lock.mdb")), 0);
	assert_int_equal(unlink(in_dir(f, "data.mdb")), 0);
	snprintf(from, sizeof from, "%s/compact", f->dir);
	assert_int_equal(rename(from, in_dir(f, "data.mdb")), 0);
}

static void recover(const char *dir, struct dp_state *s)
{
	struct dp_journal *j = open_journal(dir, true, 0);
	struct dp_err err;

	assert_non_null(j);
	assert_int_equal(dp_state_replay_tolerant(s, j, &err), DP_OK);
	dp_journal_close(j);
}

static uint64_t fault_count(const char *dir)
{
	struct dp_journal_verify_result r;
	struct dp_err err;

	assert_int_equal(dp_journal_verify_path(dir, NULL, NULL, &r, &err), DP_OK);
	return r.faults;
}

static json_t *repair(const char *dir)
{
	struct dp_err err;
	json_t *report;

	if (dp_journal_repair(dir, &report, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(fault_count(dir), 0);
	return report;
}

static json_int_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void test_study_is_set_apart(void **state)
{
	struct fixture *f = *state;
	struct dp_state s = { 0 };

	fill(f->dir);
	hurt(f->dir, 6, false);
	forget_copies(f);
	assert_int_equal(fault_count(f->dir), 1);
	recover(f->dir, &s);
	assert_int_equal(s.nstudies, 2);
	assert_false(dp_state_is_intact(&s));
	assert_true(s.studies[0]->quarantined);
	assert_int_equal(s.studies[0]->status, DP_STUDY_PAUSED);
	assert_true(s.studies[0]->moved_by_failures);
	assert_int_equal(s.studies[0]->next_seq, 6);
	assert_non_null(strstr(s.studies[0]->reason, "record 6"));
	assert_non_null(strstr(s.studies[0]->reason, "checksum"));
	assert_non_null(strstr(s.studies[0]->reason, "journal repair"));
	assert_false(s.studies[1]->quarantined);
	assert_int_equal(s.studies[1]->ok, TRIALS);
	dp_state_free(&s);
	/* nothing can be said of a study whose first record is gone but its number */
	hurt(f->dir, 0, false);
	recover(f->dir, &s);
	assert_int_equal(s.nstudies, 1);
	assert_int_equal(s.nunreadable, 1);
	assert_int_equal(s.unreadable[0].study, 1);
	dp_state_free(&s);
}

/* Whichever record is lost: everything else that means something stays. */
static void test_every_record(void **state)
{
	struct fixture *f = *state;
	struct dp_err err;

	for (uint32_t seq = 1; seq < RECORDS; seq++)
		for (int take = 0; take < 2; take++) {
			struct dp_state s = { 0 };
			struct dp_study_state *st;
			json_t *report;
			bool last = seq + 1 == RECORDS, point = seq % PER_TRIAL == 1;

			if (last && take)
				continue; /* nobody can know */
			fill(f->dir);
			hurt(f->dir, seq, take);
			forget_copies(f);
			report = repair(f->dir);
			recover(f->dir, &s);
			st = s.studies[0];
			assert_true(dp_state_is_intact(&s));
			assert_int_equal(s.studies[1]->ok, TRIALS);
			assert_int_equal(s.studies[1]->status, DP_STUDY_RUNNING);
			assert_int_equal(st->status, DP_STUDY_PAUSED);
			assert_non_null(strstr(st->reason, "lost in a damaged journal"));
			/* a lost point takes what came after with it */
			assert_int_equal(st->ok, point                  ? (seq - 1) / PER_TRIAL
						 : seq % PER_TRIAL == 0 ? TRIALS - 1
									: TRIALS);
			for (uint32_t i = 0; i < st->ntrials; i++)
				if (st->trials[i]->status == DP_TRIAL_OK)
					assert_true(st->trials[i]->objectives[0] == 0.25 * i);
			assert_int_equal(number(report, "set_aside") > 0, !take || point);
			json_decref(report);
			dp_state_free(&s);
			assert_int_equal(dp_remove_tree(f->dir, &err), DP_OK);
		}
}

/* A point is had from what was written for its trainer. */
static void test_point_from_request(void **state)
{
	static const char request[] =
		"{\"version\":1,\"study\":\"s\",\"trial\":1,\"attempt\":0,"
		"\"parameters\":{\"x\":0.125},\"runs\":[{\"run\":0,\"seed\":1}]}\n";
	struct fixture *f = *state;
	struct dp_state s = { 0 };
	struct dp_err err;
	json_t *report;
	char path[PATH_MAX + 64];

	fill(f->dir);
	hurt(f->dir, 5, false); /* the point of trial 1 */
	forget_copies(f);
	snprintf(path, sizeof path, "%s/studies/s/trials/1/0", f->root);
	assert_int_equal(dp_mkdirs(path, 0700, &err), DP_OK);
	strcat(path, "/request.json");
	assert_int_equal(dp_write_file(path, request, strlen(request), false, &err), DP_OK);
	report = repair(f->dir);
	assert_int_equal(number(report, "rebuilt"), 1);
	assert_int_equal(number(report, "set_aside"), 1);
	recover(f->dir, &s);
	assert_int_equal(s.studies[0]->ok, TRIALS);
	assert_true(s.studies[0]->trials[1]->x[0] == 0.125);
	assert_string_equal(s.studies[0]->trials[1]->source, "recovered");
	assert_true(s.studies[0]->trials[3]->x[0] == 0.375);
	dp_state_free(&s);
	json_decref(report);
}

/* Appends what a trial that measured trial 1 again left in study 1, m0 and m1. */
static void fill_measured(const char *dir)
{
	static const char *const names[] = { "a", "b" };
	static const uint32_t runs[] = { 0 };
	static const double x[] = { 0.125 }, values[] = { 0.5, 1 };
	struct dp_journal *j = open_started(dir, 0, NULL);
	struct dp_buf b = DP_BUF_INIT;
	struct dp_err err;

	for (uint32_t i = 0; i < 7; i++) {
		struct dp_event e = { .time_us = 2000 + i,
				      .trial = DP_REEVAL_TRIAL_FIRST + (i > 3),
				      .run = DP_RUN_ALL };

		if (i == 0 || i == 4) {
			e = (struct dp_event){ .type = DP_EV_MEASURE_ASKED,
					       .time_us = e.time_us,
					       .trial = e.trial,
					       .measure_asked = { .point = { .source = "remeasure",
									     .params = x,
									     .nparams = 1 },
								  .result_trial = 1,
								  .result_checkpoint = NAN,
								  .runs = 1 } };
		} else if (i == 1 || i == 5) {
			e.type = DP_EV_ATTEMPT_PLANNED;
		} else if (i == 2 || i == 6) {
			e.type = DP_EV_ATTEMPT_ENDED;
			e.attempt_ended.end_class = DP_END_OK;
			e.attempt_ended.metric_names = names;
			e.attempt_ended.nmetrics = 2;
			e.attempt_ended.runs = runs;
			e.attempt_ended.nruns = 1;
			e.attempt_ended.metrics = values;
			e.attempt_ended.declaration =
				(struct dp_declaration){ NULL, NAN, NAN, NAN, NAN };
		} else {
			e.type = DP_EV_TRIAL_ENDED;
			e.run = 0;
			e.trial_ended.status = "ok";
			e.trial_ended.objectives = values;
			e.trial_ended.nobjectives = 2;
		}
		if (dp_event_encode(&e, &b, &err) != DP_OK)
			fail_msg("%s", err.msg);
		dp_journal_append(j, 1, RECORDS + i, b.data, b.len);
	}
	dp_buf_free(&b);
	dp_journal_close(j);
}

/* What was to be measured is lost: the point is had from what was written for its
 * trainer, or the trial goes, too; never is its result taken for that of another. */
static void test_measure_lost(void **state)
{
	static const char request[] =
		"{\"version\":1,\"study\":\"s\",\"trial\":1000000000,\"attempt\":0,"
		"\"parameters\":{\"x\":0.125},\"runs\":[{\"run\":0,\"seed\":1}]}\n";
	struct fixture *f = *state;
	char path[PATH_MAX + 64];
	struct dp_err err;

	for (int known = 0; known < 2; known++) {
		const struct dp_reevals *m;
		struct dp_state s = { 0 };

		fill(f->dir);
		fill_measured(f->dir);
		hurt(f->dir, RECORDS, true);
		forget_copies(f);
		snprintf(path, sizeof path, "%s/studies/s/trials/1000000000/0", f->root);
		assert_int_equal(dp_mkdirs(path, 0700, &err), DP_OK);
		strcat(path, "/request.json");
		if (known)
			assert_int_equal(dp_write_file(path, request, strlen(request), false, &err),
					 DP_OK);
		json_decref(repair(f->dir));
		recover(f->dir, &s);
		m = &s.studies[0]->reevals;
		assert_int_equal(s.studies[0]->ok, TRIALS);
		assert_int_equal(m->count, known ? 2 : 1);
		assert_int_equal(m->trials[m->ntrials - 1]->number, DP_REEVAL_TRIAL_FIRST + 1);
		assert_int_equal(m->items[m->count - 1].trial, 1);
		if (known) {
			assert_string_equal(m->items[0].source, "recovered");
			assert_true(isnan(m->items[0].trial));
			assert_true(m->trials[0]->x[0] == 0.125);
			assert_int_equal(m->trials[0]->status, DP_TRIAL_OK);
		}
		dp_state_free(&s);
		assert_int_equal(dp_remove_tree(f->dir, &err), DP_OK);
	}
}

/* An older copy of a page has the record as it was. */
static void test_older_copy(void **state)
{
	struct fixture *f = *state;
	struct dp_state s = { 0 };
	json_t *report;

	fill(f->dir);
	hurt(f->dir, 6, false);
	report = repair(f->dir);
	assert_int_equal(number(report, "rebuilt"), 0);
	recover(f->dir, &s);
	assert_int_equal(s.studies[0]->status, DP_STUDY_RUNNING);
	assert_int_equal(s.studies[0]->ok, TRIALS);
	dp_state_free(&s);
	json_decref(report);
}

static void test_nothing_to_repair(void **state)
{
	struct fixture *f = *state;
	struct dp_journal *j;
	struct dp_err err;
	json_t *report;
	pid_t child;

	fill(f->dir);
	report = repair(f->dir);
	assert_false(json_is_true(json_object_get(report, "repaired")));
	json_decref(report);
	j = open_journal(f->dir, false, 0);
	child = fork(); /* another process: beside a writer nothing is repaired */
	if (child == 0) {
		char kept[64];

		NEED(dp_journal_repair(f->dir, &report, &err) == DP_E_BUSY);
		NEED(dp_journal_compact(f->dir, &err) == DP_E_BUSY);
		NEED(dp_journal_restore(f->dir, in_dir(f, "data.mdb"), kept, &err) == DP_E_BUSY);
		_exit(0);
	}
	assert_child_ok(child);
	dp_journal_close(j);
}

/* The name of the copy that a compaction of this process makes. */
static const char *copy_of(long pid)
{
	static char name[64];

	snprintf(name, sizeof name, "data.mdb.new.%ld.tmp", pid);
	return name;
}

static void put_left(const struct fixture *f, const char *name)
{
	struct dp_err err;

	assert_int_equal(dp_write_file(in_dir(f, name), "x", 1, false, &err), DP_OK);
}

static bool has_left(const struct fixture *f, const char *name)
{
	struct stat st;

	return lstat(in_dir(f, name), &st) == 0;
}

/* What a killed compaction, restore or repair left goes at the next start; what is not
 * ours, or of a process that lives, stays. */
static void test_left_files(void **state)
{
	static const char *const others[] = { "data.mdb.new.x1.tmp", "data-1.mdb",
					      "data.mdb.new.tmp" };
	struct fixture *f = *state;
	long live = (long)getppid(), dead = (long)fork();
	struct dp_err err;

	if (dead == 0)
		_exit(0);
	assert_child_ok((pid_t)dead);
	fill(f->dir);
	put_left(f, copy_of(dead));
	put_left(f, copy_of((long)getpid())); /* a number that was used before */
	put_left(f, copy_of(live));
	put_left(f, "data.mdb.new");
	for (size_t i = 0; i < DP_COUNT(others); i++)
		put_left(f, others[i]);
	assert_int_equal(dp_mkdirs(in_dir(f, "repair.tmp"), 0700, &err), DP_OK);
	put_left(f, "repair.tmp/data.mdb");

	dp_journal_close(open_journal(f->dir, true, 0)); /* readers change nothing */
	assert_true(has_left(f, copy_of(dead)) && has_left(f, "repair.tmp"));

	dp_journal_close(open_journal(f->dir, false, 0));
	assert_false(has_left(f, copy_of(dead)));
	assert_false(has_left(f, copy_of((long)getpid())));
	assert_false(has_left(f, "data.mdb.new"));
	assert_false(has_left(f, "repair.tmp"));
	assert_true(has_left(f, copy_of(live)));
	for (size_t i = 0; i < DP_COUNT(others); i++)
		assert_true(has_left(f, others[i]));

	/* a link is not ours; the next compaction cleans up, too */
	assert_int_equal(symlink("data.mdb", in_dir(f, "data.mdb.new")), 0);
	put_left(f, copy_of(dead));
	dp_journal_close(open_journal(f->dir, false, 0));
	assert_true(has_left(f, "data.mdb.new"));
	put_left(f, copy_of(dead));
	assert_int_equal(dp_journal_compact(f->dir, &err), DP_OK);
	assert_false(has_left(f, copy_of(dead)));
	dp_journal_close(open_journal(f->dir, true, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(test_study_is_set_apart), JOURNAL_TEST(test_every_record),
		JOURNAL_TEST(test_point_from_request), JOURNAL_TEST(test_older_copy),
		JOURNAL_TEST(test_nothing_to_repair),  JOURNAL_TEST(test_measure_lost),
		JOURNAL_TEST(test_left_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
