/* batch_read.c - reads records in batches: copies them, then ends the transaction. */
#include "journal/store/journal_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	BATCH_BYTES = 1 << 20,
	BATCH_RECORDS = 4096,
	FETCH_RECORDS = 128, /* the caller is an event loop */
};

/* Header of a record in a batch; its bytes follow. */
struct batch_entry {
	uint32_t study, seq;
	size_t len;
};

static int begin_read(struct dp_journal *j, MDB_txn **txn, struct dp_err *err)
{
	int mdb_code;

	if (j->writer_started || j->is_reading)
		return dp_fail(err, DP_E_INVALID,
			       "the journal in %s is in use by this program's writer or "
			       "a walk: read it through a journal of its own",
			       j->dir);
	mdb_code = dp__txn_begin(j, MDB_RDONLY, txn);
	return mdb_code == 0 ? DP_OK : dp__fail_mdb(j, err, mdb_code, "read");
}

/* Copies at most `most` records from the key `from` on, as far as a batch has room. */
static int copy_batch(struct dp_journal *j, MDB_cursor *cur, const struct batch_entry *from,
		      int most, struct dp_buf *out, struct dp_err *err)
{
	unsigned char start[DP__KEY_SIZE];
	MDB_val k = { sizeof start, start }, v;
	struct batch_entry e;
	int n = 0, mdb_code;

	dp__key_pack(from->study, from->seq, start);
	for (mdb_code = mdb_cursor_get(cur, &k, &v, MDB_SET_RANGE);
	     mdb_code == 0 && n < most && out->len < BATCH_BYTES;
	     mdb_code = mdb_cursor_get(cur, &k, &v, MDB_NEXT), n++) {
		if (!dp__key_read(&k, &e.study, &e.seq))
			return dp_fail(err, DP_E_CORRUPT,
				       "the journal in %s has a key of %zu bytes", j->dir,
				       k.mv_size);
		e.len = v.mv_size;
		dp_buf_add(out, &e, sizeof e);
		dp_buf_add(out, v.mv_data, v.mv_size);
	}
	return mdb_code == 0 || mdb_code == MDB_NOTFOUND ? DP_OK
							 : dp__fail_mdb(j, err, mdb_code, "read");
}

/* Always ends the transaction. */
static int copy_batch_and_end_txn(struct dp_journal *j, MDB_txn *txn,
				  const struct batch_entry *from, int most, struct dp_buf *out,
				  struct dp_err *err)
{
	MDB_cursor *cur;
	int code, mdb_code = mdb_cursor_open(txn, j->events, &cur);

	dp_buf_clear(out);
	if (mdb_code == 0) {
		code = copy_batch(j, cur, from, most, out, err);
		mdb_cursor_close(cur);
	} else {
		code = dp__fail_mdb(j, err, mdb_code, "read");
	}
	mdb_txn_abort(txn);
	return code;
}

/* Passes the records of a batch to fn. *next is the start of the next batch; *done: no more. */
static int visit_batch(const struct dp_buf *batch, uint32_t only, dp_journal_record_fn *fn,
		       void *arg, struct batch_entry *next, bool *done, struct dp_err *err)
{
	struct batch_entry e;
	int code;

	*done = batch->len == 0;
	for (size_t at = 0; at < batch->len; at += sizeof e + e.len) {
		memcpy(&e, batch->data + at, sizeof e);
		if (only && e.study != only) {
			*done = true;
			return DP_OK;
		}
		code = fn(arg, e.study, e.seq, batch->data + at + sizeof e, e.len, err);
		if (code != 0)
			return code;
		next->study = e.seq < UINT32_MAX ? e.study : e.study + 1;
		next->seq = e.seq < UINT32_MAX ? e.seq + 1 : 0;
	}
	return DP_OK;
}

int dp_journal_for_each(struct dp_journal *j, uint32_t study, dp_journal_record_fn *fn, void *arg,
			struct dp_err *err)
{
	struct batch_entry from = { .study = study };
	struct dp_buf batch = DP_BUF_INIT;
	MDB_txn *txn;
	bool done = false;
	int code = DP_OK;

	while (code == DP_OK && !done) {
		code = begin_read(j, &txn, err);
		if (code == DP_OK)
			code = copy_batch_and_end_txn(j, txn, &from, BATCH_RECORDS, &batch, err);
		if (code != DP_OK)
			break;
		j->is_reading = true;
		code = visit_batch(&batch, study, fn, arg, &from, &done, err);
		j->is_reading = false;
	}
	dp_buf_free(&batch);
	return code;
}

void dp__read_request_serve(struct dp_journal *j, struct dp__read_request *f)
{
	struct batch_entry from = { .study = f->study, .seq = f->seq };
	MDB_txn *txn;
	int mdb_code;

	if (!j->env) {
		f->code = dp_fail(&f->err, DP_E_IO, "the journal in %s is not open", j->dir);
		return;
	}
	mdb_code = dp__txn_begin(j, MDB_RDONLY, &txn);
	f->code = mdb_code == 0
			  ? copy_batch_and_end_txn(j, txn, &from, FETCH_RECORDS, &f->batch, &f->err)
			  : dp__fail_mdb(j, &f->err, mdb_code, "read");
}

bool dp_journal_take_records(struct dp_journal *j, dp_journal_record_fn *fn, void *arg, int *code,
			     struct dp_err *err)
{
	struct dp__read_request *f = &j->read_request;
	struct batch_entry next;
	bool ready, done;

	pthread_mutex_lock(&j->mutex);
	ready = f->is_open && f->is_ready;
	pthread_mutex_unlock(&j->mutex);
	if (!ready)
		return false;
	*code = f->code;
	if (*code == DP_OK)
		*code = visit_batch(&f->batch, f->study, fn, arg, &next, &done, err);
	else if (err)
		*err = f->err;
	dp_buf_free(&f->batch);
	pthread_mutex_lock(&j->mutex);
	f->is_open = false;
	pthread_mutex_unlock(&j->mutex);
	return true;
}

/* The study of the last key; 0 if the journal is empty. */
static int last_study(struct dp_journal *j, MDB_txn *txn, uint32_t *study, struct dp_err *err)
{
	MDB_cursor *cur;
	MDB_val k, v;
	uint32_t seq;
	int mdb_code = mdb_cursor_open(txn, j->events, &cur);

	*study = 0;
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "read");
	mdb_code = mdb_cursor_get(cur, &k, &v, MDB_LAST);
	if (mdb_code == 0 && !dp__key_read(&k, study, &seq))
		mdb_code = MDB_CORRUPTED;
	mdb_cursor_close(cur);
	return mdb_code == 0 || mdb_code == MDB_NOTFOUND ? DP_OK
							 : dp__fail_mdb(j, err, mdb_code, "read");
}

int dp_journal_next_study_id(struct dp_journal *j, uint32_t *id, struct dp_err *err)
{
	MDB_txn *txn;
	uint32_t noted, last;
	int code = begin_read(j, &txn, err);

	if (code != DP_OK)
		return code;
	code = dp__meta_get_number(j, txn, "next-study", &noted, err);
	if (code == DP_OK)
		code = last_study(j, txn, &last, err);
	mdb_txn_abort(txn);
	if (code == DP_OK)
		*id = noted > last ? noted : last + 1;
	return code;
}
