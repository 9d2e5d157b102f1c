/* verify.c - verifies the file of a journal, its records, and the history of each study. */
#include "journal/store/journal_internal.h"
#include "journal/maintenance/maintenance.h"

#include "base/fs.h"
#include "base/units.h"
#include "journal/store/lmdb_check.h"
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct verifier {
	dp_journal_fault_fn *on_fault;
	void *arg;
	struct dp_journal_verify_result *result;
	struct dp_state state;
	struct dp_event event;    /* its memory is reused for each record */
	uint32_t study, next_seq; /* the expected key */
	bool is_broken;           /* the rest of this study is not replayed */
	int64_t next_study_id;    /* all study numbers are below it; 0: unknown */
	struct dp_err err;        /* why the iteration ended */
};

static void verify_report(struct verifier *v, uint32_t study, uint32_t seq, const char *fault)
{
	v->result->faults++;
	if (v->on_fault)
		v->on_fault(v->arg, study, seq, fault);
}

static void check_key(struct verifier *v, uint32_t study, uint32_t seq)
{
	char text[128];

	if (study != v->study) {
		v->result->studies++;
		dp_state_remove_study(&v->state, v->study);
		v->study = study;
		v->next_seq = 0;
		v->is_broken = false;
		if (study == 0)
			verify_report(v, study, seq, "studies are counted from 1");
	}
	if (seq != v->next_seq) {
		if (seq == v->next_seq + 1)
			snprintf(text, sizeof text, "record %u before it is missing", v->next_seq);
		else
			snprintf(text, sizeof text, "records %u to %u before it are missing",
				 v->next_seq, seq - 1);
		verify_report(v, study, seq, text);
		v->is_broken = true;
	}
	v->next_seq = seq + 1;
}

/* Applies a decoded record to the state. After a fault the rest of the study is not checked,
 * because that fault could be the cause of all later ones. */
static int verify_replay(struct verifier *v, uint32_t study, uint32_t seq)
{
	int code;

	if (v->is_broken)
		return DP_OK;
	v->event.study = study;
	v->event.seq = seq;
	code = dp_state_apply(&v->state, &v->event, &v->err);
	if (code != DP_E_CORRUPT)
		return code;
	v->is_broken = true;
	verify_report(v, study, seq, v->err.msg);
	return DP_OK;
}

static int verify_record(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len)
{
	struct verifier *v = arg;
	int code;

	v->result->records++;
	v->result->bytes += len;
	check_key(v, study, seq);
	code = dp_event_decode(bytes, len, &v->event, &v->err);
	if (code == DP_OK)
		return verify_replay(v, study, seq);
	if (code != DP_E_CORRUPT && code != DP_E_PROTOCOL)
		return code; /* not a fault of the record */
	v->is_broken = true;
	verify_report(v, study, seq, v->err.msg);
	return DP_OK;
}

static int verify_meta(void *arg, const void *name, size_t name_len, const void *value, size_t len)
{
	struct verifier *v = arg;
	char text[32] = "";

	if (name_len != strlen("next-study") || memcmp(name, "next-study", name_len) != 0)
		return DP_OK;
	if (len < sizeof text)
		memcpy(text, value, len);
	if (!dp_int_parse(text, &v->next_study_id) || v->next_study_id < 1 ||
	    v->next_study_id > UINT32_MAX) {
		v->next_study_id = 0;
		verify_report(v, 0, 0, "the number of the next study is damaged");
	}
	return DP_OK;
}

/* Keys have no checksum: a damaged one shows as a study number that was never given. */
static void verify_last_study(struct verifier *v)
{
	if (v->next_study_id && v->result->studies && v->study >= v->next_study_id)
		verify_report(v, v->study, 0, "no study was given this number");
}

static void on_verify_page_fault(void *arg, const char *fault)
{
	verify_report(arg, 0, 0, fault);
}

/* Verifies one snapshot of the file: the newest, or the one with this transaction. */
static int verify_file(int fd, uint64_t txn, dp_journal_fault_fn *bad, void *arg,
		       struct dp_journal_verify_result *out, struct dp_err *err)
{
	struct verifier v = { .on_fault = bad, .arg = arg, .result = out, .study = UINT32_MAX };
	struct dp__lmdb_visitor visitor = { .arg = &v,
					    .on_record = verify_record,
					    .on_meta = verify_meta,
					    .on_fault = on_verify_page_fault };
	struct dp__lmdb_file pages;
	int code;

	*out = (struct dp_journal_verify_result){ 0 };
	code = dp__lmdb_check_pages(&pages, fd, txn, &visitor, err);
	if (code == DP_OK)
		verify_last_study(&v);
	if (code != DP_OK && v.err.code == code && err)
		*err = v.err;
	dp__lmdb_file_clear(&pages);
	dp_event_clear(&v.event);
	dp_state_free(&v.state);
	return code;
}

/* Pins the newest snapshot while a daemon writes. LMDB reads only the headers for this. Returns
 * false if it cannot; then no other process can write, either. */
static bool hold_snapshot(const char *dir, MDB_env **env, MDB_txn **txn)
{
	*env = NULL;
	*txn = NULL;
	if (mdb_env_create(env) != 0)
		return false;
	if (mdb_env_open(*env, dir, MDB_RDONLY | MDB_NOTLS, 0600) == 0 &&
	    mdb_txn_begin(*env, NULL, MDB_RDONLY, txn) == 0)
		return true;
	mdb_env_close(*env);
	*env = NULL;
	return false;
}

static int verify_held_snapshot(const char *dir, int fd, dp_journal_fault_fn *bad, void *arg,
				struct dp_journal_verify_result *out, struct dp_err *err)
{
	MDB_env *env;
	MDB_txn *txn;
	bool held = dp__lmdb_has_headers(fd) && hold_snapshot(dir, &env, &txn);
	int code = verify_file(fd, held ? mdb_txn_id(txn) : 0, bad, arg, out, err);

	if (held) {
		mdb_txn_abort(txn);
		mdb_env_close(env);
	}
	return code;
}

/* LMDB would block on a FIFO. Without a regular lock file the journal cannot be opened. */
static int check_lock_file(const char *dir, struct dp_err *err)
{
	char *lock = dp_path_join(dir, "lock.mdb");
	struct stat st;
	int code = DP_OK;

	if (stat(lock, &st) == 0 && !S_ISREG(st.st_mode))
		code = dp_fail(err, DP_E_INVALID, "%s is %s, not a regular file", lock,
			       dp_special_file_kind(st.st_mode));
	free(lock);
	return code;
}

int dp_journal_verify_path(const char *path, dp_journal_fault_fn *bad, void *arg,
			   struct dp_journal_verify_result *out, struct dp_err *err)
{
	char *file = dp_path_join(path, "data.mdb");
	struct dp_err why;
	struct stat st;
	bool folder;
	int fd, code = DP_E_BUSY;

	folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	fd = dp_open_regular(folder ? file : path, &why);
	free(file);
	if (fd < 0 && why.code == DP_E_NOT_FOUND)
		return dp_fail(err, DP_E_NOT_FOUND, "there is no journal in %s", path);
	if (fd < 0) {
		if (err)
			*err = why;
		return why.code;
	}
	if (folder && check_lock_file(path, err) != DP_OK) {
		close(fd);
		return err ? err->code : DP_E_INVALID;
	}
	for (int tries = 0; code == DP_E_BUSY && tries < DP__SNAPSHOT_TRIES; tries++)
		code = folder && tries + 1 < DP__SNAPSHOT_TRIES
			       ? verify_held_snapshot(path, fd, bad, arg, out, err)
			       : verify_file(fd, 0, bad, arg, out, err);
	close(fd);
	return code;
}
