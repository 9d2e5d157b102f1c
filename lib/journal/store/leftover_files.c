/* leftover_files.c - removes what a killed compaction, restore or repair left in the directory. */
#include "journal/store/journal_internal.h"

#include "base/fs.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True for an unfinished dp_journal_backup() to DP__NEW_JOURNAL_FILE; *pid is the process. */
static bool is_unfinished_copy(const char *name, int64_t *pid)
{
	size_t before = strlen(DP__NEW_JOURNAL_FILE "."), after = strlen(".tmp"), n = strlen(name);
	char digits[16];

	if (strncmp(name, DP__NEW_JOURNAL_FILE ".", before) != 0 || n <= before + after ||
	    n - before - after >= sizeof digits || strcmp(name + n - after, ".tmp") != 0)
		return false;
	snprintf(digits, sizeof digits, "%.*s", (int)(n - before - after), name + before);
	return digits[strspn(digits, "0123456789")] == '\0' && dp_int_parse(digits, pid) &&
	       *pid > 0 && *pid <= INT32_MAX;
}

/* The lock excludes a running compaction. Where locks do not work, the pid is checked, too. */
static bool is_leftover_file(const char *name)
{
	int64_t pid;

	if (strcmp(name, DP__NEW_JOURNAL_FILE) == 0)
		return true;
	return is_unfinished_copy(name, &pid) &&
	       (pid == getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH));
}

void dp__remove_leftover_files(const char *dir)
{
	DIR *entries = opendir(dir);
	const struct dirent *e;
	struct stat st;

	while (entries && (e = readdir(entries)) != NULL) {
		bool is_repair = strcmp(e->d_name, DP__REPAIR_DIR) == 0;

		if ((!is_repair && !is_leftover_file(e->d_name)) ||
		    fstatat(dirfd(entries), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    (st.st_uid != geteuid() && st.st_uid != 0))
			continue;
		if (is_repair && S_ISDIR(st.st_mode)) {
			char *path = dp_path_join(dir, e->d_name);

			if (dp_remove_tree(path, NULL) != DP_OK) {
				/* the next start tries again */
			}
			free(path);
		} else if (!is_repair && S_ISREG(st.st_mode)) {
			unlinkat(dirfd(entries), e->d_name, 0);
		}
	}
	if (entries)
		closedir(entries);
}
