/* clean_mark.c - the file `clean`, which marks a journal that its writer closed in order.
 *
 * LMDB trusts its pages, so DPareto checks all of them before it opens a file that may be damaged.
 * That is slow for a large file. The mark identifies the file as the writer left it: if the file is
 * unchanged since, the check is skipped. A writer removes the mark before its first change, so a
 * killed writer leaves none. */
#include "journal/store/journal_internal.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_FILE "clean"

enum {
	MARK_LEN = 160
};

/* The text of the mark: identifies the file and its last change. */
static bool format_mark(int dir, size_t txn_id, char out[MARK_LEN])
{
	struct stat st;

	if (fstatat(dir, "data.mdb", &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return false;
	snprintf(out, MARK_LEN,
		 "inode %llu size %lld modified %lld.%09ld changed %lld.%09ld txn %zu\n",
		 (unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		 st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec, txn_id);
	return true;
}

bool dp__clean_mark_is_valid(const char *path, size_t txn_id)
{
	int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(dir, MARK_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char expected[MARK_LEN], found[MARK_LEN];
	ssize_t n = fd >= 0 ? read(fd, found, sizeof found) : -1;
	bool valid = n > 0 && format_mark(dir, txn_id, expected) && (size_t)n == strlen(expected) &&
		     memcmp(found, expected, (size_t)n) == 0;

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return valid;
}

void dp__clean_mark_write(const char *path, size_t txn_id)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char text[MARK_LEN];

	if (dir >= 0 && format_mark(dir, txn_id, text))
		fd = openat(dir, MARK_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) { /* without a mark the next start checks the pages */
		if (dp_write_all(fd, text, strlen(text)) == 0)
			fsync(fd);
		close(fd);
		fsync(dir);
	}
	if (dir >= 0)
		close(dir);
}

int dp__clean_mark_remove(const char *path, struct dp_err *err)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = DP_OK;

	/* fsync: a mark that reappeared after a power loss would vouch for a changed file */
	if (dir < 0 || (unlinkat(dir, MARK_FILE, 0) == 0 ? fsync(dir) != 0 : errno != ENOENT))
		code = dp_fail_errno(err, errno, "cannot remove %s/" MARK_FILE, path);
	if (dir >= 0)
		close(dir);
	return code;
}
