/* store.c - the journal's LMDB environment: opening, checking, sizes. */
#include "journal/store/journal_internal.h"

#include "base/fs.h"
#include "base/units.h"
#include "journal/store/lmdb_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAP_SIZE        ((size_t)256 << 20) /* address space, not memory or disk */
#define MAP_MIN         ((size_t)64 << 10)
#define DISK_FULL_BYTES (1u << 20) /* a disk with less free space counts as full */
#define PAD_MIN         ((off_t)1 << 20)
#define PAD_STEP        ((off_t)8 << 20)
#define FAULT_LEN       256

void dp__key_pack(uint32_t study, uint32_t seq, unsigned char key[DP__KEY_SIZE])
{
	for (int i = 0; i < 4; i++) {
		key[i] = (unsigned char)(study >> (24 - 8 * i));
		key[4 + i] = (unsigned char)(seq >> (24 - 8 * i));
	}
}

bool dp__key_read(const MDB_val *key, uint32_t *study, uint32_t *seq)
{
	const unsigned char *k = key->mv_data;

	if (key->mv_size != DP__KEY_SIZE)
		return false;
	*study = *seq = 0;
	for (int i = 0; i < 4; i++) {
		*study = *study << 8 | k[i];
		*seq = *seq << 8 | k[4 + i];
	}
	return true;
}

static int fail_damaged(const struct dp_journal *j, struct dp_err *err, const char *why)
{
	dp_fail(err, DP_E_CORRUPT, "%s/data.mdb is damaged or is no journal (%s)", j->dir, why);
	dp_hint(err, DP__REPAIR_HINT);
	return DP_E_CORRUPT;
}

int dp__fail_mdb(const struct dp_journal *j, struct dp_err *err, int mdb_code, const char *what)
{
	struct statvfs fs;
	uint64_t space;

	/* LMDB reports a short write on a full disk as EIO */
	if ((mdb_code == EIO || mdb_code == ENOSPC || mdb_code == EDQUOT) &&
	    statvfs(j->dir, &fs) == 0) {
		space = (uint64_t)fs.f_bavail * fs.f_frsize;
		if (mdb_code == ENOSPC || space < DISK_FULL_BYTES) {
			dp_fail(err, DP_E_IO, "the disk holding %s is full (%llu bytes free)",
				j->dir, (unsigned long long)space);
			dp_hint(err, "free some space there");
			return DP_E_IO;
		}
	}
	switch (mdb_code) {
	case MDB_VERSION_MISMATCH:
		dp_fail(err, DP_E_CORRUPT, "%s/data.mdb was written by another version of LMDB",
			j->dir);
		dp_hint(err, "use a DPareto with that version, or 'dparetoctl journal restore'");
		return DP_E_CORRUPT;
	case MDB_INVALID:
	case MDB_INCOMPATIBLE:
	case MDB_CORRUPTED:
	case MDB_PAGE_NOTFOUND:
		return fail_damaged(j, err, mdb_strerror(mdb_code));
	case MDB_READERS_FULL:
		return dp_fail(err, DP_E_BUSY, "too many programs read the journal in %s", j->dir);
	}
	if (mdb_code > 0)
		return dp_fail_errno(err, mdb_code, "cannot %s the journal in %s", what, j->dir);
	return dp_fail(err, DP_E_IO, "cannot %s the journal in %s: %s", what, j->dir,
		       mdb_strerror(mdb_code));
}

static void sync_journal_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), up;

	if (fd < 0)
		return;
	up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fsync(fd);
	if (up >= 0) {
		fsync(up);
		close(up);
	}
	close(fd);
}

static int open_lmdb_env(struct dp_journal *j, unsigned flags)
{
	int mdb_code = mdb_env_create(&j->env);

	if (mdb_code != 0) {
		j->env = NULL;
		return mdb_code;
	}
	mdb_code = mdb_env_set_maxdbs(j->env, 2);
	if (mdb_code == 0 && !j->readonly)
		mdb_code = mdb_env_set_mapsize(j->env, j->map_size);
	if (mdb_code == 0)
		mdb_code = mdb_env_open(j->env, j->dir, MDB_NOTLS | flags, 0600);
	if (mdb_code != 0)
		dp__env_close(j);
	return mdb_code;
}

/* False also if access is denied: errno is EACCES then. */
static bool has_file(const struct dp_journal *j, const char *name)
{
	int dir = open(j->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	bool there = dir >= 0 && fstatat(dir, name, &st, 0) == 0 && st.st_size > 0;

	if (dir >= 0)
		close(dir);
	return there;
}

/* Access to mapped pages after the end of the file would kill the process with SIGBUS. */
static int check_length(struct dp_journal *j, struct dp_err *err)
{
	MDB_envinfo info;
	MDB_stat db;
	struct stat st;
	int fd;

	mdb_env_info(j->env, &info);
	mdb_env_stat(j->env, &db);
	if (mdb_env_get_fd(j->env, &fd) == 0 && fstat(fd, &st) == 0 &&
	    (uint64_t)st.st_size / db.ms_psize < info.me_last_pgno + 1) {
		dp_fail(err, DP_E_CORRUPT, "%s/data.mdb is cut short: it has %lld bytes, of %llu",
			j->dir, (long long)st.st_size,
			(unsigned long long)(info.me_last_pgno + 1) * db.ms_psize);
		dp_hint(err, DP__REPAIR_HINT);
		return DP_E_CORRUPT;
	}
	return DP_OK;
}

void dp__pad_file(struct dp_journal *j)
{
	MDB_envinfo info;
	MDB_stat db;
	struct stat st;
	off_t need;
	int fd;

	mdb_env_info(j->env, &info);
	mdb_env_stat(j->env, &db);
	need = (off_t)(info.me_last_pgno + 1) * db.ms_psize;
	if (mdb_env_get_fd(j->env, &fd) == 0 && fstat(fd, &st) == 0 &&
	    st.st_size < need + PAD_MIN && ftruncate(fd, need + PAD_STEP) != 0)
		return; /* padding is optional; a later write reports the error */
}

int dp__meta_put(struct dp_journal *j, MDB_txn *txn, const char *name, const char *value)
{
	MDB_val k = { strlen(name), (void *)name }, v = { strlen(value), (void *)value };

	return mdb_put(txn, j->meta, &k, &v, 0);
}

int dp__meta_get_number(struct dp_journal *j, MDB_txn *txn, const char *name, uint32_t *out,
			struct dp_err *err)
{
	MDB_val k = { strlen(name), (void *)name }, v;
	char text[32];
	int64_t number;
	int mdb_code = mdb_get(txn, j->meta, &k, &v);

	*out = 0;
	if (mdb_code == MDB_NOTFOUND)
		return DP_OK;
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "read");
	if (v.mv_size < sizeof text) {
		memcpy(text, v.mv_data, v.mv_size);
		text[v.mv_size] = '\0';
		if (dp_int_parse(text, &number) && number >= 0 && number <= UINT32_MAX) {
			*out = (uint32_t)number;
			return DP_OK;
		}
	}
	return dp_fail(err, DP_E_CORRUPT, "the journal in %s has a damaged '%s'", j->dir, name);
}

static int create_databases(struct dp_journal *j, MDB_txn *txn)
{
	unsigned char r[16];
	char uuid[37], when[DP_NUM_LEN], format[16];
	int mdb_code;

	if (getrandom(r, sizeof r, 0) != sizeof r)
		return EIO;
	r[6] = (unsigned char)((r[6] & 0x0f) | 0x40); /* RFC 4122, version 4 */
	r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
	snprintf(uuid, sizeof uuid,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0], r[1],
		 r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14],
		 r[15]);
	snprintf(format, sizeof format, "%d", DP_JOURNAL_FORMAT);
	mdb_code = mdb_dbi_open(txn, "meta", MDB_CREATE, &j->meta);
	if (mdb_code == 0)
		mdb_code = mdb_dbi_open(txn, "events", MDB_CREATE, &j->events);
	if (mdb_code == 0)
		mdb_code = dp__meta_put(j, txn, "format", format);
	if (mdb_code == 0)
		mdb_code = dp__meta_put(j, txn, "uuid", uuid);
	if (mdb_code == 0)
		mdb_code = dp__meta_put(j, txn, "created", dp_time_text(dp_now_us(), when));
	return mdb_code;
}

static int find_databases(struct dp_journal *j, MDB_txn *txn, struct dp_err *err)
{
	uint32_t format;
	MDB_dbi root;
	MDB_stat st;
	int code, mdb_code;

	if (mdb_dbi_open(txn, NULL, 0, &root) == 0 && mdb_stat(txn, root, &st) == 0 &&
	    st.ms_entries == 0) {
		/* a running writer that reopens must not create a new journal */
		if (j->readonly || j->writer_started)
			return dp_fail(err, DP_E_NOT_FOUND, "there is no journal in %s", j->dir);
		mdb_code = create_databases(j, txn);
		return mdb_code == 0 ? DP_OK : dp__fail_mdb(j, err, mdb_code, "create");
	}
	mdb_code = mdb_dbi_open(txn, "meta", 0, &j->meta);
	if (mdb_code == 0)
		mdb_code = mdb_dbi_open(txn, "events", 0, &j->events);
	if (mdb_code == MDB_NOTFOUND || mdb_code == MDB_INCOMPATIBLE)
		return dp_fail(err, DP_E_CORRUPT, "%s/data.mdb is an LMDB file, but no journal",
			       j->dir);
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "open");
	code = dp__meta_get_number(j, txn, "format", &format, err);
	if (code != DP_OK)
		return code;
	if (format == 0)
		return dp_fail(err, DP_E_CORRUPT, "%s/data.mdb is an LMDB file, but no journal",
			       j->dir);
	if (format > DP_JOURNAL_FORMAT) {
		dp_fail(err, DP_E_CORRUPT,
			"the journal in %s has format %u, this program reads up to %d", j->dir,
			format, DP_JOURNAL_FORMAT);
		dp_hint(err, "use the newer version that wrote it");
		return DP_E_CORRUPT;
	}
	return DP_OK;
}

int dp__txn_begin(struct dp_journal *j, unsigned flags, MDB_txn **txn)
{
	int mdb_code = MDB_MAP_RESIZED, dead = 0;

	for (int tries = 0; mdb_code == MDB_MAP_RESIZED && tries < 100; tries++) {
		if (tries && (mdb_code = mdb_env_set_mapsize(j->env, 0)) != 0)
			return mdb_code;
		mdb_code = mdb_txn_begin(j->env, NULL, flags, txn);
		/* killed readers keep their slots until a check */
		if (mdb_code == MDB_READERS_FULL && mdb_reader_check(j->env, &dead) == 0 &&
		    dead > 0)
			mdb_code = mdb_txn_begin(j->env, NULL, flags, txn);
	}
	return mdb_code;
}

static int open_databases(struct dp_journal *j, struct dp_err *err)
{
	MDB_txn *txn;
	int code, mdb_code = dp__txn_begin(j, j->readonly ? MDB_RDONLY : 0, &txn);

	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "open");
	code = find_databases(j, txn, err);
	if (code != DP_OK) {
		mdb_txn_abort(txn);
		return code;
	}
	mdb_code = mdb_txn_commit(txn); /* keeps the database handles, also for a reader */
	return mdb_code == 0 ? DP_OK : dp__fail_mdb(j, err, mdb_code, "open");
}

/* LMDB would block on a FIFO. */
static int check_file_types(const struct dp_journal *j, struct dp_err *err)
{
	static const char *const names[] = { "data.mdb", "lock.mdb" };
	int dir = open(j->dir, O_PATH | O_DIRECTORY | O_CLOEXEC), code = DP_OK;
	struct stat st;

	for (size_t i = 0; dir >= 0 && code == DP_OK && i < DP_COUNT(names); i++)
		if (fstatat(dir, names[i], &st, 0) == 0 && !S_ISREG(st.st_mode))
			code = dp_fail(err, DP_E_INVALID, "%s/%s is %s, not a regular file", j->dir,
				       names[i], dp_special_file_kind(st.st_mode));
	if (dir >= 0)
		close(dir);
	return code;
}

/* LMDB must not open a file with foreign headers. */
static int check_headers(const struct dp_journal *j, struct dp_err *err)
{
	char *path = dp_path_join(j->dir, "data.mdb");
	struct dp_err ignored; /* LMDB reports why it cannot open the file */
	int fd = dp_open_regular(path, &ignored);
	bool sound = fd < 0 || !has_file(j, "data.mdb") || dp__lmdb_has_headers(fd) ||
		     !dp__lmdb_format_is_known(fd);

	free(path);
	if (fd >= 0)
		close(fd);
	return sound ? DP_OK : fail_damaged(j, err, "its headers");
}

static void keep_first_fault(void *arg, const char *fault)
{
	char *first = arg;

	if (!first[0])
		snprintf(first, FAULT_LEN, "%s", fault);
}

/* Checks the pages of one snapshot; `hold` pins it with a reader while a daemon writes. */
static int check_pages_of_snapshot(struct dp_journal *j, bool hold, char first[FAULT_LEN],
				   struct dp_err *err)
{
	struct dp__lmdb_visitor visitor = { .arg = first, .on_fault = keep_first_fault };
	struct dp__lmdb_file pages;
	MDB_txn *txn = NULL;
	int fd, code, mdb_code = mdb_env_get_fd(j->env, &fd);

	if (mdb_code == 0 && hold)
		mdb_code = dp__txn_begin(j, MDB_RDONLY, &txn);
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "read");
	code = dp__lmdb_check_pages(&pages, fd, txn ? mdb_txn_id(txn) : 0, &visitor, err);
	dp__lmdb_file_clear(&pages);
	if (txn)
		mdb_txn_abort(txn);
	return code;
}

/* LMDB trusts its pages, so damaged ones would lead it to invalid addresses. All pages are checked
 * unless the file cannot have changed: its writer closed it in order, or is a running daemon.
 * Formats that the check does not know are left to LMDB. */
static bool must_check_pages(const struct dp_journal *j)
{
	long pid;
	int fd;

	if (j->writer_started || dp__clean_mark_is_valid(j->dir, j->opened_txn_id))
		return false;
	if (j->readonly && dp_journal_has_writer(j->dir, &pid) && pid != (long)getpid())
		return false;
	return mdb_env_get_fd(j->env, &fd) != 0 || dp__lmdb_format_is_known(fd);
}

static int check_pages(struct dp_journal *j, struct dp_err *err)
{
	char first[FAULT_LEN] = "";
	int code = DP_E_BUSY;

	for (int tries = 0; code == DP_E_BUSY && tries < DP__SNAPSHOT_TRIES; tries++)
		code = check_pages_of_snapshot(j, j->readonly && tries + 1 < DP__SNAPSHOT_TRIES,
					       first, err);
	return code != DP_OK || !first[0] ? code : fail_damaged(j, err, first);
}

/* Opens read-only. A directory without a lock file has no writer, so if none can be created (a
 * copy, an archive) it is read without locking. A lock file that cannot be opened is an error,
 * unless the caller detects concurrent writes itself (no_lock_file). */
static int open_lmdb_env_readonly(struct dp_journal *j)
{
	int mdb_code = EACCES;

	j->is_unlocked = j->no_lock_file && !dp_journal_has_writer(j->dir, NULL);
	if (!j->is_unlocked)
		mdb_code = open_lmdb_env(j, MDB_RDONLY);
	if ((mdb_code == EACCES || mdb_code == EPERM || mdb_code == EROFS) &&
	    (j->no_lock_file || !has_file(j, "lock.mdb"))) {
		j->is_unlocked = true;
		mdb_code = open_lmdb_env(j, MDB_RDONLY | MDB_NOLOCK);
	}
	return mdb_code;
}

static size_t newest_txn(const struct dp_journal *j)
{
	MDB_envinfo info;

	mdb_env_info(j->env, &info);
	return info.me_last_txnid;
}

bool dp__snapshot_is_stale(const struct dp_journal *j)
{
	return j->is_unlocked && newest_txn(j) != j->opened_txn_id;
}

int dp__store_open(struct dp_journal *j, struct dp_err *err)
{
	int code = check_file_types(j, err), mdb_code, dead;

	if (code != DP_OK)
		return code;
	errno = 0;
	if (j->readonly && !has_file(j, "data.mdb"))
		return errno == EACCES
			       ? dp_fail_errno(err, errno, "cannot look into %s", j->dir)
			       : dp_fail(err, DP_E_NOT_FOUND, "there is no journal in %s", j->dir);
	code = check_headers(j, err);
	if (code != DP_OK)
		return code;
	mdb_code = j->readonly ? open_lmdb_env_readonly(j) : open_lmdb_env(j, 0);
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "open");
	j->opened_txn_id = newest_txn(j);
	code = check_length(j, err);
	if (code == DP_OK && must_check_pages(j))
		code = check_pages(j, err);
	if (code == DP_OK && !j->readonly && !j->writer_started)
		code = dp__clean_mark_remove(j->dir, err);
	if (code == DP_OK)
		code = open_databases(j, err);
	if (code != DP_OK) {
		dp__env_close(j);
		return code;
	}
	if (!j->readonly) {
		mdb_reader_check(j->env, &dead); /* slots of killed readers */
		dp__pad_file(j);
	}
	return DP_OK;
}

void dp__env_close(struct dp_journal *j)
{
	if (j->env)
		mdb_env_close(j->env);
	j->env = NULL;
}

int dp_journal_open(const char *dir, const struct dp_journal_options *opt, struct dp_journal **out,
		    struct dp_err *err)
{
	struct dp_journal *j = dp_calloc(1, sizeof *j);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = opt ? opt->map_size : 0;
	pthread_condattr_t attr;
	int code = DP_OK;

	j->dir = dp_strdup(dir);
	pthread_mutex_init(&j->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&j->cond, &attr);
	pthread_condattr_destroy(&attr);
	j->readonly = opt && opt->readonly;
	j->no_lock_file = j->readonly && opt->no_lock_file;
	size = size == 0 ? MAP_SIZE : size < MAP_MIN ? MAP_MIN : size;
	j->map_size = (size + page - 1) / page * page;
	j->queue_tail = &j->queue_head;
	if (!j->readonly) {
		code = dp_mkdirs(dir, 0700, err);
		if (code == DP_OK)
			code = dp__writer_lock_acquire(dir, &j->lock, err);
		if (code == DP_OK)
			dp__remove_leftover_files(dir);
	}
	if (code == DP_OK)
		code = dp__store_open(j, err);
	if (code != DP_OK) {
		dp_journal_close(j);
		return code;
	}
	if (!j->readonly)
		sync_journal_dir(dir);
	*out = j;
	return DP_OK;
}

void dp_journal_close(struct dp_journal *j)
{
	size_t txn_id;
	bool clean;

	if (!j)
		return;
	dp__writer_stop(j);
	clean = !j->readonly && j->env && !j->has_write_error;
	txn_id = clean ? newest_txn(j) : 0;
	dp__env_close(j);
	if (clean)
		dp__clean_mark_write(j->dir, txn_id);
	dp__writer_lock_release(j->lock);
	dp_buf_free(&j->read_request.batch);
	pthread_cond_destroy(&j->cond);
	pthread_mutex_destroy(&j->mutex);
	free(j->dir);
	free(j);
}

int dp__journal_read_stat(struct dp_journal *j, struct dp_journal_stat *out, struct dp_err *err)
{
	MDB_txn *txn;
	MDB_envinfo info;
	MDB_stat events;
	int mdb_code = dp__txn_begin(j, MDB_RDONLY, &txn);

	if (mdb_code == 0) {
		mdb_code = mdb_stat(txn, j->events, &events);
		mdb_txn_abort(txn);
	}
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "read");
	mdb_env_info(j->env, &info);
	out->records = events.ms_entries;
	out->bytes = (uint64_t)(info.me_last_pgno + 1) * events.ms_psize;
	out->map_size = info.me_mapsize;
	return DP_OK;
}

int dp_journal_stat(struct dp_journal *j, struct dp_journal_stat *out, struct dp_err *err)
{
	if (!j->writer_started)
		return dp__journal_read_stat(j, out, err);
	pthread_mutex_lock(&j->mutex);
	*out = j->stat;
	pthread_mutex_unlock(&j->mutex);
	return DP_OK;
}
