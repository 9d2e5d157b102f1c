/* restore.c - backup, restore and compaction: copies of a journal, and its replacement. */
#include "journal/maintenance/restore.h"
#include "journal/maintenance/maintenance.h"

#include "base/fs.h"
#include "base/units.h"
#include "journal/store/journal_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	COPY_CHUNK = 1 << 20
};

void dp__format_kept_name(const char *before, const char *after, char out[64])
{
	int64_t now = dp_now_us();
	time_t seconds = (time_t)(now / 1000000);
	struct tm tm;
	char when[32];

	gmtime_r(&seconds, &tm);
	strftime(when, sizeof when, "%Y%m%dT%H%M%S", &tm);
	snprintf(out, 64, "%s%s.%06dZ%s", before, when, (int)(now % 1000000), after);
}

/* Call after entries of the directory have changed. */
static int sync_dir_entries(const char *dir, struct dp_err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = DP_OK;

	if (fd < 0 || fsync(fd) != 0)
		code = dp_fail_errno(err, errno, "cannot sync %s", dir);
	if (fd >= 0)
		close(fd);
	return code;
}

int dp__replace_journal_file(const char *dir, const char *new, const char *keep, struct dp_err *err)
{
	char *data = dp_path_join(dir, "data.mdb"), *lock = dp_path_join(dir, "lock.mdb");
	char *kept = dp_path_join(dir, keep ? keep : "");
	int code = DP_OK;

	if (keep && link(data, kept) != 0 && errno != ENOENT)
		code = dp_fail_errno(err, errno, "cannot keep the old journal as %s", kept);
	else {
		/* The lock file belongs to the old data file. Open readers keep both old files. */
		unlink(lock);
		if (rename(new, data) != 0)
			code = dp_fail_errno(err, errno, "cannot put %s in place", new);
		unlink(lock);
	}
	free(data);
	free(lock);
	free(kept);
	return code == DP_OK ? sync_dir_entries(dir, err) : code;
}

static int copy_env(struct dp_journal *j, int fd, struct dp_err *err)
{
	int mdb_code = mdb_env_copyfd2(j->env, fd, MDB_CP_COMPACT);

	/* Compaction counts pages, and an old file may have leaked some: copy it unchanged then. */
	if (mdb_code == MDB_INCOMPATIBLE && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		mdb_code = mdb_env_copyfd2(j->env, fd, 0);
	if (mdb_code != 0)
		return dp__fail_mdb(j, err, mdb_code, "copy");
	return fsync(fd) == 0 ? DP_OK : dp_fail_errno(err, errno, "cannot write the copy");
}

int dp_journal_backup(struct dp_journal *j, const char *to, struct dp_err *err)
{
	char *temporary = dp_asprintf("%s.%ld.tmp", to, (long)getpid());
	int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), code;

	if (fd < 0) {
		code = dp_fail_errno(err, errno, "cannot create %s", temporary);
		free(temporary);
		return code;
	}
	code = copy_env(j, fd, err);
	close(fd);
	if (code == DP_OK && rename(temporary, to) != 0)
		code = dp_fail_errno(err, errno, "cannot create %s", to);
	if (code == DP_OK) {
		char *dir = dp_path_dir_absolute(to);

		code = dir ? sync_dir_entries(dir, err)
			   : dp_fail_errno(err, errno, "cannot find the directory of %s", to);
		free(dir);
	} else {
		unlink(temporary);
	}
	free(temporary);
	return code;
}

static int copy_bytes(int from, int to, struct dp_err *err)
{
	char *chunk = dp_malloc(COPY_CHUNK);
	ssize_t n = 0;
	int code = DP_OK;

	while (code == DP_OK && (n = read(from, chunk, COPY_CHUNK)) > 0)
		if (dp_write_all(to, chunk, (size_t)n) != 0)
			code = dp_fail_errno(err, errno, "cannot write the journal");
	if (n < 0)
		code = dp_fail_errno(err, errno, "cannot read the backup");
	else if (code == DP_OK && fsync(to) != 0)
		code = dp_fail_errno(err, errno, "cannot write the journal");
	free(chunk);
	return code;
}

static int check_no_faults(const char *path, const char *what, struct dp_err *err)
{
	struct dp_journal_verify_result r;
	int code = dp_journal_verify_path(path, NULL, NULL, &r, err);

	if (code == DP_OK && r.faults > 0)
		code = dp_fail(err, DP_E_CORRUPT, "%s has %llu faults", what,
			       (unsigned long long)r.faults);
	return code;
}

int dp_journal_restore(const char *dir, const char *file, char kept[64], struct dp_err *err)
{
	char *new = dp_path_join(dir, DP__NEW_JOURNAL_FILE);
	struct dp__writer_lock *lock = NULL;
	bool ours = false; /* `new` was created by this restore */
	int from = -1, to = -1, code;

	dp__format_kept_name("data-", ".mdb", kept);
	code = dp_mkdirs(dir, 0700, err);
	if (code == DP_OK)
		code = dp__writer_lock_acquire(dir, &lock, err);
	if (code == DP_OK) {
		from = dp_open_regular(file, err);
		if (from < 0)
			code = err->code;
	}
	if (code == DP_OK) {
		dp__remove_leftover_files(dir); /* `file` may be one of these; it is open already */
		code = dp_check_replaceable(new, err);
		ours = code == DP_OK;
	}
	if (code == DP_OK) {
		/* O_NONBLOCK: do not block if the file has become a FIFO meanwhile */
		to = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			  0600);
		if (to < 0)
			code = dp_fail_errno(err, errno, "cannot create %s", new);
	}
	if (code == DP_OK)
		code = copy_bytes(from, to, err);
	if (code == DP_OK) /* checks the copy, because that is what will be used */
		code = check_no_faults(new, file, err);
	if (code == DP_OK)
		code = dp__replace_journal_file(dir, new, kept, err);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	if (ours && code != DP_OK)
		unlink(new);
	dp__writer_lock_release(lock);
	free(new);
	return code;
}

int dp_journal_compact(const char *dir, struct dp_err *err)
{
	struct dp_journal_options readonly = { .readonly = true };
	char *new = dp_path_join(dir, DP__NEW_JOURNAL_FILE);
	struct dp_journal *j = NULL;
	struct dp__writer_lock *lock = NULL;
	bool ours = false; /* `new` was created by this compaction */
	struct stat st;
	int code;

	code = dp__writer_lock_acquire(dir, &lock, err);
	if (code == DP_OK) {
		dp__remove_leftover_files(dir);
		/* rename() replaces a symbolic link and does not follow it */
		if (lstat(new, &st) != 0 || !S_ISLNK(st.st_mode))
			code = dp_check_replaceable(new, err);
		ours = code == DP_OK;
	}
	if (code == DP_OK)
		code = dp_journal_open(dir, &readonly, &j, err);
	if (code == DP_OK)
		code = dp_journal_backup(j, new, err);
	dp_journal_close(j);
	if (code == DP_OK)
		code = check_no_faults(new, "the compact copy", err);
	if (code == DP_OK)
		code = dp__replace_journal_file(dir, new, NULL, err);
	if (ours && code != DP_OK)
		unlink(new);
	dp__writer_lock_release(lock);
	free(new);
	return code;
}
