/* clean_mark.c - the file `clean` beside a journal that its writer closed in order.
 *
 * LMDB trusts its pages, so that all of them are checked before it is let near a file that may be
 * damaged; which takes a while where the file is large. The mark names the file as its writer left
 * it: while it is the same file, unchanged since, the check can be left out. A writer removes the
 * mark before it changes anything, so that one which is killed leaves none. */
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

/* The text of a mark: what tells this file from any other, and from itself after a change. */
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
	if (fd >= 0) { /* where it cannot be written the next start checks the pages */
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

	/* a mark that came back after a power loss would vouch for a file that was written */
	if (dir < 0 || (unlinkat(dir, MARK_FILE, 0) == 0 ? fsync(dir) != 0 : errno != ENOENT))
		code = dp_fail_errno(err, errno, "cannot remove %s/" MARK_FILE, path);
	if (dir >= 0)
		close(dir);
	return code;
}
