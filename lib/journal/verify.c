/* verify.c - reads a whole journal and tells every fault: of the file, of each record,
 * and of studies whose records do not follow from each other. */
#include "journal/journal_internal.h"

#include "base/fs.h"
#include "base/num.h"
#include "journal/pages.h"
#include "journal/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct verify {
	dp_verify_fn *bad;
	void *arg;
	struct dp_verify_result *result;
	struct dp_state *state; /* NULL: whether studies fold is not asked */
	struct dp_event event;  /* its memory is used again for each record */
	uint32_t study, next;   /* the key that should come now */
	bool broken;            /* of this study no more is folded */
	int64_t given;          /* numbers of studies below it were given; 0: not known */
	struct dp_err why;      /* what ended the walk */
};

static void verify_report(struct verify *v, uint32_t study, uint32_t seq, const char *fault)
{
	v->result->faults++;
	if (v->bad)
		v->bad(v->arg, study, seq, fault);
}

static void check_key(struct verify *v, uint32_t study, uint32_t seq)
{
	char text[128];

	if (study != v->study) {
		v->result->studies++;
		if (v->state)
			dp_state_forget(v->state, v->study);
		v->study = study;
		v->next = 0;
		v->broken = false;
		if (study == 0)
			verify_report(v, study, seq, "studies are counted from 1");
	}
	if (seq == v->next + 1)
		snprintf(text, sizeof text, "record %u before it is missing", v->next);
	else
		snprintf(text, sizeof text, "records %u to %u before it are missing", v->next,
			 seq - 1);
	if (seq != v->next) {
		verify_report(v, study, seq, text);
		v->broken = true;
	}
	v->next = seq + 1;
}

/* A record that was read: does it follow from those before it? After a fault the rest of
 * the study is not asked, since all of it could be wrong for that reason alone. */
static int check_fold(struct verify *v, uint32_t study, uint32_t seq)
{
	int code;

	if (!v->state || v->broken)
		return DP_OK;
	v->event.study = study;
	v->event.seq = seq;
	code = dp_state_apply(v->state, &v->event, &v->why);
	if (code != DP_E_CORRUPT)
		return code;
	v->broken = true;
	verify_report(v, study, seq, v->why.msg);
	return DP_OK;
}

static int verify_one(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len)
{
	struct verify *v = arg;
	int code;

	v->result->records++;
	v->result->bytes += len;
	check_key(v, study, seq);
	code = dp_event_decode(bytes, len, &v->event, &v->why);
	if (code == DP_OK)
		return check_fold(v, study, seq);
	if (code != DP_E_CORRUPT && code != DP_E_PROTOCOL)
		return code; /* says nothing about the record */
	v->broken = true;
	verify_report(v, study, seq, v->why.msg);
	return DP_OK;
}

static int verify_fact(void *arg, const void *name, size_t name_len, const void *value, size_t len)
{
	struct verify *v = arg;
	char text[32] = "";

	if (name_len != strlen("next-study") || memcmp(name, "next-study", name_len) != 0)
		return DP_OK;
	if (len < sizeof text)
		memcpy(text, value, len);
	if (!dp_int_parse(text, &v->given) || v->given < 1 || v->given > UINT32_MAX) {
		v->given = 0;
		verify_report(v, 0, 0, "the number of the next study is damaged");
	}
	return DP_OK;
}

/* Keys have no checksum: one that is damaged shows as a study that never was. */
static void check_last(struct verify *v)
{
	if (v->given && v->result->studies && v->study >= v->given)
		verify_report(v, v->study, 0, "no study was given this number");
}

static void verify_page(void *arg, const char *fault)
{
	verify_report(arg, 0, 0, fault);
}

/* One state of the file: the newest, or the one that a reader holds. */
static int verify_file(int fd, uint64_t txn, dp_verify_fn *bad, void *arg, bool fold,
		       struct dp_verify_result *out, struct dp_err *err)
{
	struct dp_state state = { 0 };
	struct verify v = { .bad = bad,
			    .arg = arg,
			    .result = out,
			    .state = fold ? &state : NULL,
			    .study = UINT32_MAX };
	struct dp__visitor visitor = {
		.arg = &v, .record = verify_one, .fact = verify_fact, .fault = verify_page
	};
	struct dp__pages pages;
	int code;

	*out = (struct dp_verify_result){ 0 };
	code = dp__pages_walk(&pages, fd, txn, &visitor, err);
	if (code == DP_OK)
		check_last(&v);
	if (code != DP_OK && v.why.code == code && err)
		*err = v.why;
	dp__pages_clear(&pages);
	dp_event_clear(&v.event);
	dp_state_free(&state);
	return code;
}

int dp_journal_verify(struct dp_journal *j, dp_verify_fn *bad, void *arg,
		      struct dp_verify_result *out, struct dp_err *err)
{
	MDB_txn *txn;
	int fd, code = DP_E_BUSY, mdb_code;

	for (int tries = 0; code == DP_E_BUSY && tries < DP__TRIES; tries++) {
		mdb_code = dp__begin(j, MDB_RDONLY, &txn);
		if (mdb_code != 0)
			return dp__fail_mdb(j, err, mdb_code, "read");
		mdb_env_get_fd(j->env, &fd);
		code = verify_file(fd, mdb_txn_id(txn), bad, arg, false, out, err);
		mdb_txn_abort(txn);
	}
	return code;
}

/* ---- a journal that LMDB need not be able to open ---- */

/* Holds the newest state against a daemon that writes. LMDB looks at nothing but the
 * headers for this. False if it cannot: then nobody else can write, either. */
static bool hold_state(const char *dir, MDB_env **env, MDB_txn **txn)
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

static int verify_held(const char *dir, int fd, dp_verify_fn *bad, void *arg,
		       struct dp_verify_result *out, struct dp_err *err)
{
	MDB_env *env;
	MDB_txn *txn;
	bool held = dp__pages_have_headers(fd) && hold_state(dir, &env, &txn);
	int code = verify_file(fd, held ? mdb_txn_id(txn) : 0, bad, arg, true, out, err);

	if (held) {
		mdb_txn_abort(txn);
		mdb_env_close(env);
	}
	return code;
}

/* LMDB would wait for it, or fail; a journal beside it cannot be opened. */
static int check_lock_file(const char *dir, struct dp_err *err)
{
	char *lock = dp_path_join(dir, "lock.mdb");
	struct stat st;
	int code = DP_OK;

	if (!lock)
		return dp_fail(err, DP_E_NOMEM, "no memory to check a journal");
	if (stat(lock, &st) == 0 && !S_ISREG(st.st_mode))
		code = dp_fail(err, DP_E_INVALID, "%s is %s, not a regular file", lock,
			       dp_special_kind(st.st_mode));
	free(lock);
	return code;
}

int dp_journal_verify_at(const char *path, dp_verify_fn *bad, void *arg,
			 struct dp_verify_result *out, struct dp_err *err)
{
	char *file = dp_path_join(path, "data.mdb");
	struct dp_err why;
	struct stat st;
	bool folder;
	int fd, code = DP_E_BUSY;

	if (!file)
		return dp_fail(err, DP_E_NOMEM, "no memory to check a journal");
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
	for (int tries = 0; code == DP_E_BUSY && tries < DP__TRIES; tries++)
		code = folder && tries + 1 < DP__TRIES
			       ? verify_held(path, fd, bad, arg, out, err)
			       : verify_file(fd, 0, bad, arg, true, out, err);
	close(fd);
	return code;
}
