/* writer.c - the thread that writes the journal; one commit for all that was queued meanwhile. */
#include "journal/store/journal_internal.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	COMMIT_BYTES_MAX = 16 << 20, /* record bytes per commit, to bound its size */
	RETRY_SECONDS = 1,
	READERS_CHECK_US = 1000 * 1000,
};

/* ---- one commit ---- */

static int update_next_study_id(struct dp_journal *j, MDB_txn *txn, uint32_t study)
{
	char text[16];
	uint32_t next;

	if (dp__meta_get_number(j, txn, "next-study", &next, NULL) != DP_OK)
		return MDB_CORRUPTED;
	if (next > study)
		return 0;
	snprintf(text, sizeof text, "%llu", (unsigned long long)study + 1);
	return dp__meta_put(j, txn, "next-study", text);
}

/* MDB_KEYEXIST: a different record has this key. MDB_NOTFOUND: the preceding record is missing. An
 * identical record is accepted: a commit that was reported as failed may have reached the disk. */
static int put_record(struct dp_journal *j, MDB_txn *txn, MDB_cursor *cur,
		      const struct dp__write_op *op)
{
	unsigned char key[DP__KEY_SIZE], before[DP__KEY_SIZE];
	MDB_val k = { sizeof key, key }, v = { op->len, (void *)op->bytes }, there;
	int mdb_code;

	dp__key_pack(op->study, op->seq, key);
	if (op->seq == 0) {
		mdb_code = update_next_study_id(j, txn, op->study);
	} else {
		dp__key_pack(op->study, op->seq - 1, before);
		mdb_code = mdb_get(txn, j->events, &(MDB_val){ sizeof before, before }, &there);
	}
	if (mdb_code != 0)
		return mdb_code;
	/* appended pages are filled completely, others are split */
	mdb_code = mdb_cursor_put(cur, &k, &v, MDB_APPEND);
	if (mdb_code != MDB_KEYEXIST)
		return mdb_code;
	there = v;
	mdb_code = mdb_cursor_put(cur, &k, &there, MDB_NOOVERWRITE);
	if (mdb_code == MDB_KEYEXIST && there.mv_size == op->len &&
	    memcmp(there.mv_data, op->bytes, op->len) == 0)
		return 0;
	return mdb_code;
}

static int delete_study_records(MDB_cursor *cur, uint32_t study)
{
	unsigned char start[DP__KEY_SIZE];
	uint32_t found, seq;
	MDB_val k, v;
	int mdb_code;

	for (;;) {
		dp__key_pack(study, 0, start);
		k = (MDB_val){ sizeof start, start };
		mdb_code = mdb_cursor_get(cur, &k, &v, MDB_SET_RANGE);
		if (mdb_code == MDB_NOTFOUND)
			return 0;
		if (mdb_code == 0 && !dp__key_read(&k, &found, &seq))
			return MDB_CORRUPTED;
		if (mdb_code == 0 && found != study)
			return 0;
		if (mdb_code == 0)
			mdb_code = mdb_cursor_del(cur, 0);
		if (mdb_code != 0)
			return mdb_code;
	}
}

/* One try with the current map size. *at: the operation that failed. */
static int write_commit_batch(struct dp_journal *j, const struct dp__write_op *unit,
			      const struct dp__write_op **at)
{
	MDB_txn *txn;
	MDB_cursor *cur;
	int mdb_code = mdb_txn_begin(j->env, NULL, 0, &txn);

	*at = unit;
	if (mdb_code != 0)
		return mdb_code;
	mdb_code = mdb_cursor_open(txn, j->events, &cur);
	if (mdb_code == 0) {
		while (mdb_code == 0 && *at) {
			mdb_code = (*at)->deletes_study ? delete_study_records(cur, (*at)->study)
							: put_record(j, txn, cur, *at);
			if (mdb_code == 0)
				*at = (*at)->next;
		}
		mdb_cursor_close(cur);
	}
	if (mdb_code == 0)
		return mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return mdb_code;
}

/* After MDB_MAP_FULL the transaction is dead, so the caller begins a new one. */
static int grow_map(struct dp_journal *j)
{
	int dead, mdb_code;

	if (j->map_size > SIZE_MAX / 2)
		return ENOMEM;
	mdb_reader_check(j->env, &dead); /* killed readers hold pages back */
	mdb_code = mdb_env_set_mapsize(j->env, 2 * j->map_size);
	if (mdb_code == 0)
		j->map_size *= 2;
	return mdb_code;
}

static int commit_batch_growing_map(struct dp_journal *j, const struct dp__write_op *unit,
				    struct dp_err *err)
{
	const struct dp__write_op *at = unit;
	int64_t began = dp_monotonic_us();
	int mdb_code;

	if (!j->env && dp__store_open(j, err) != DP_OK)
		return DP_E_IO;
	while ((mdb_code = write_commit_batch(j, unit, &at)) == MDB_MAP_FULL) {
		mdb_code = grow_map(j);
		if (mdb_code != 0)
			break;
		began = dp_monotonic_us();
	}
	j->last_commit_us = dp_monotonic_us() - began;
	if (mdb_code == MDB_KEYEXIST && at)
		return dp_fail(err, DP_E_CORRUPT,
			       "the journal in %s has another record %u of study %u", j->dir,
			       at->seq, at->study);
	if (mdb_code == MDB_NOTFOUND && at)
		return dp_fail(err, DP_E_CORRUPT,
			       "the journal in %s lacks the record before %u of study %u", j->dir,
			       at->seq, at->study);
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "write to");
	dp__pad_file(j);
	return DP_OK;
}

/* ---- the writer thread ---- */

static void call_wake(struct dp_journal *j)
{
	if (j->wake)
		j->wake(j->wake_arg);
}

static void free_ops(struct dp__write_op *op)
{
	while (op) {
		struct dp__write_op *next = op->next;

		free(op);
		op = next;
	}
}

/* At most once a second. */
static void update_stale_reader(struct dp_journal *j)
{
	struct dp_journal_stale_reader now, was;
	int64_t time = dp_monotonic_us();

	if (!j->env || time - j->readers_checked_us < READERS_CHECK_US)
		return;
	j->readers_checked_us = time;
	pthread_mutex_lock(&j->mutex);
	was = j->stat.stale_reader;
	pthread_mutex_unlock(&j->mutex);
	dp__stale_readers_check(j, &was, &now);
	pthread_mutex_lock(&j->mutex);
	j->stat.stale_reader = now;
	pthread_mutex_unlock(&j->mutex);
}

/* Waits for work with the mutex held. A lagging reader is checked every second, so that it is no
 * longer reported once it has let go. */
static void wait_for_work(struct dp_journal *j)
{
	struct timespec until;

	if (j->stat.stale_reader.pid == 0) {
		pthread_cond_wait(&j->cond, &j->mutex);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	if (pthread_cond_timedwait(&j->cond, &j->mutex, &until) == ETIMEDOUT) {
		pthread_mutex_unlock(&j->mutex);
		update_stale_reader(j);
		pthread_mutex_lock(&j->mutex);
	}
}

/* Between two commits, with the mutex held on entry and return. */
static void serve_read_request(struct dp_journal *j)
{
	if (!j->read_request.is_open || j->read_request.is_ready)
		return;
	pthread_mutex_unlock(&j->mutex);
	dp__read_request_serve(j, &j->read_request);
	pthread_mutex_lock(&j->mutex);
	j->read_request.is_ready = true;
	pthread_mutex_unlock(&j->mutex);
	call_wake(j);
	pthread_mutex_lock(&j->mutex);
}

/* Waits for work and takes it from the queue; NULL when the writer must stop and the queue is
 * empty. A removal is a unit of its own, so that a failed unit can be retried safely. */
static struct dp__write_op *dequeue_commit_batch(struct dp_journal *j)
{
	struct dp__write_op *unit, **end;
	size_t bytes = 0;

	pthread_mutex_lock(&j->mutex);
	serve_read_request(j);
	while ((!j->queue_head || j->batch_is_open) && !j->stop_requested) {
		wait_for_work(j);
		serve_read_request(j);
	}
	unit = j->queue_head;
	end = &j->queue_head;
	while (*end && bytes < COMMIT_BYTES_MAX && (!(*end)->deletes_study || *end == unit)) {
		bytes += (*end)->deletes_study ? COMMIT_BYTES_MAX : (*end)->len;
		end = &(*end)->next;
	}
	if (unit) {
		j->queue_head = *end;
		*end = NULL;
		if (!j->queue_head)
			j->queue_tail = &j->queue_head;
	}
	pthread_mutex_unlock(&j->mutex);
	return unit;
}

void dp__commit_times_add(struct dp_journal *j, double seconds)
{
	struct dp__commit_times *c = &j->commit_times;

	c->samples[c->count++ % DP__COMMIT_SAMPLES] = seconds;
	c->total_seconds += seconds;
}

static void writer_publish(struct dp_journal *j, const struct dp__write_op *unit)
{
	struct dp_journal_stat now = { 0 };
	bool measured = dp__journal_read_stat(j, &now, NULL) == DP_OK;

	while (unit->next)
		unit = unit->next;
	pthread_mutex_lock(&j->mutex);
	j->durable_ticket = unit->ticket;
	j->has_write_error = false;
	now.stale_reader = j->stat.stale_reader;
	if (measured)
		j->stat = now;
	dp__commit_times_add(j, (double)j->last_commit_us / 1e6);
	pthread_mutex_unlock(&j->mutex);
	call_wake(j);
	update_stale_reader(j);
}

/* Stores why a commit failed and waits. False: the journal is being closed, give the unit up. */
static bool wait_to_retry(struct dp_journal *j, const struct dp_err *why)
{
	struct timespec until;
	bool news, stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += RETRY_SECONDS;
	pthread_mutex_lock(&j->mutex);
	stop = j->stop_requested;
	news = !j->has_write_error;
	j->has_write_error = true;
	j->write_error = *why;
	pthread_mutex_unlock(&j->mutex);
	if (news)
		call_wake(j);
	if (stop)
		return false;
	pthread_mutex_lock(&j->mutex);
	while (!j->stop_requested &&
	       pthread_cond_timedwait(&j->cond, &j->mutex, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&j->mutex);
	return true;
}

static void *writer_thread(void *arg)
{
	struct dp_journal *j = arg;
	struct dp_err why;
	struct dp__write_op *unit;
	bool go_on = true;

	while (go_on && (unit = dequeue_commit_batch(j)) != NULL) {
		while (commit_batch_growing_map(j, unit, &why) != DP_OK) {
			/* after a failed write the environment cannot be trusted */
			dp__env_close(j);
			go_on = wait_to_retry(j, &why);
			if (!go_on)
				break;
		}
		if (go_on)
			writer_publish(j, unit);
		free_ops(unit);
	}
	return NULL;
}

int dp_journal_start_writer(struct dp_journal *j, dp_journal_wake_fn *wake, void *arg,
			    struct dp_err *err)
{
	sigset_t all, before;
	int code, failure;

	if (j->readonly || j->writer_started)
		return dp_fail(err, DP_E_INVALID,
			       "the journal in %s was opened for reading or is started", j->dir);
	code = dp__journal_read_stat(j, &j->stat, err);
	if (code != DP_OK)
		return code;
	j->wake = wake;
	j->wake_arg = arg;
	j->writer_started = true; /* before the thread reads it */
	/* signals are handled by the program's other threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failure = pthread_create(&j->thread, NULL, writer_thread, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failure == 0)
		return DP_OK;
	j->writer_started = false; /* no thread to join */
	return dp_fail(err, DP_E_FAILED, "cannot start the journal's thread: %s",
		       strerror(failure));
}

void dp__writer_stop(struct dp_journal *j)
{
	if (j->writer_started) {
		pthread_mutex_lock(&j->mutex);
		j->stop_requested = true;
		pthread_cond_signal(&j->cond);
		pthread_mutex_unlock(&j->mutex);
		pthread_join(j->thread, NULL);
		j->writer_started = false;
	}
	free_ops(j->queue_head);
	j->queue_head = NULL;
}

/* ---- other threads ---- */

static uint64_t writer_enqueue(struct dp_journal *j, uint32_t study, uint32_t seq,
			       bool deletes_study, const void *bytes, size_t len)
{
	struct dp__write_op *op;
	uint64_t ticket;

	if (j->readonly)
		return 0;
	op = dp_malloc(sizeof *op + len);
	*op = (struct dp__write_op){
		.study = study, .seq = seq, .deletes_study = deletes_study, .len = len
	};
	if (len)
		memcpy(op->bytes, bytes, len);
	pthread_mutex_lock(&j->mutex);
	ticket = op->ticket = ++j->last_ticket;
	*j->queue_tail = op;
	j->queue_tail = &op->next;
	pthread_cond_signal(&j->cond);
	pthread_mutex_unlock(&j->mutex);
	return ticket;
}

uint64_t dp_journal_append(struct dp_journal *j, uint32_t study, uint32_t seq, const void *bytes,
			   size_t len)
{
	return writer_enqueue(j, study, seq, false, bytes, len);
}

uint64_t dp_journal_delete_study(struct dp_journal *j, uint32_t study)
{
	return writer_enqueue(j, study, 0, true, NULL, 0);
}

bool dp_journal_request_records(struct dp_journal *j, uint32_t study, uint32_t seq)
{
	bool asked;

	pthread_mutex_lock(&j->mutex);
	asked = !j->read_request.is_open;
	if (asked) {
		j->read_request.is_open = true;
		j->read_request.is_ready = false;
		j->read_request.study = study;
		j->read_request.seq = seq;
		pthread_cond_signal(&j->cond);
	}
	pthread_mutex_unlock(&j->mutex);
	if (asked && !j->writer_started) {
		dp__read_request_serve(j, &j->read_request);
		j->read_request.is_ready = true;
	}
	return asked;
}

void dp_journal_begin_batch(struct dp_journal *j)
{
	pthread_mutex_lock(&j->mutex);
	j->batch_is_open = true;
	pthread_mutex_unlock(&j->mutex);
}

void dp_journal_end_batch(struct dp_journal *j)
{
	pthread_mutex_lock(&j->mutex);
	j->batch_is_open = false;
	pthread_cond_signal(&j->cond);
	pthread_mutex_unlock(&j->mutex);
}

uint64_t dp_journal_durable_ticket(struct dp_journal *j)
{
	uint64_t durable;

	pthread_mutex_lock(&j->mutex);
	durable = j->durable_ticket;
	pthread_mutex_unlock(&j->mutex);
	return durable;
}

bool dp_journal_get_write_error(struct dp_journal *j, struct dp_err *why)
{
	bool troubled;

	pthread_mutex_lock(&j->mutex);
	troubled = j->has_write_error;
	if (troubled && why)
		*why = j->write_error;
	pthread_mutex_unlock(&j->mutex);
	return troubled;
}

static int compare_commit_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Quantile by nearest rank: the smallest value that at least this share does not exceed. */
static double commit_quantile(const double *sorted, size_t n, double share)
{
	return n ? sorted[(size_t)ceil(share * (double)n) - 1] : NAN;
}

void dp_journal_get_commit_stats(struct dp_journal *j, struct dp_journal_commit_stats *out)
{
	struct dp__commit_times c;
	size_t n;

	pthread_mutex_lock(&j->mutex);
	c = j->commit_times;
	pthread_mutex_unlock(&j->mutex);
	n = c.count < DP__COMMIT_SAMPLES ? (size_t)c.count : DP__COMMIT_SAMPLES;
	qsort(c.samples, n, sizeof *c.samples, compare_commit_times);
	*out = (struct dp_journal_commit_stats){ .count = c.count,
						 .total_seconds = c.total_seconds,
						 .median = commit_quantile(c.samples, n, 0.5),
						 .p90 = commit_quantile(c.samples, n, 0.9),
						 .p99 = commit_quantile(c.samples, n, 0.99) };
}
