/* cgroup.c - version 2 control groups: finds the delegated one and removes those of trainers. */
#include "daemon/executors/local/cgroup.h"

#include "base/buf.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	PROC_FILE_MAX = 4 << 20
};

/* The mount point of the whole version 2 hierarchy; NULL: not mounted. */
static char *cgroup_find_mount(void)
{
	struct dp_buf text = DP_BUF_INIT;
	char root[4096], point[4096], *found = NULL, *rest = NULL;

	if (dp_read_file("/proc/self/mountinfo", PROC_FILE_MAX, &text, NULL) != DP_OK) {
		dp_buf_free(&text);
		return NULL;
	}
	for (char *line = strtok_r(text.data, "\n", &rest); line && !found;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(line, " - cgroup2 ") &&
		    sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) == 2 &&
		    strcmp(root, "/") == 0)
			found = dp_strdup(point);
	dp_buf_free(&text);
	return found;
}

/* The path after "0::" in /proc/self/cgroup; NULL: none. */
static char *cgroup_read_own_path(void)
{
	struct dp_buf text = DP_BUF_INIT;
	char *found = NULL, *rest = NULL;

	if (dp_read_file("/proc/self/cgroup", PROC_FILE_MAX, &text, NULL) == DP_OK)
		for (char *line = strtok_r(text.data, "\n", &rest); line && !found;
		     line = strtok_r(NULL, "\n", &rest))
			if (strncmp(line, "0::/", 4) == 0)
				found = dp_strdup(line + 4);
	dp_buf_free(&text);
	return found;
}

/* Checks more than write permission: root can write to trees that managers own. */
static bool cgroup_is_delegated(const char *folder)
{
	static const char *const marks[] = { "user.delegate", "trusted.delegate" };
	char value[8];

	if (access(folder, W_OK) != 0)
		return false;
	for (size_t i = 0; i < DP_COUNT(marks); i++)
		if (getxattr(folder, marks[i], value, sizeof value) == 1 && value[0] == '1')
			return true;
	return false;
}

static bool cgroup_has_suffix(const char *folder, const char *end)
{
	size_t n = strlen(folder), m = strlen(end);

	return n >= m && strcmp(folder + n - m, end) == 0;
}

/* If the directory is a subgroup of a service and no unit itself, cuts off its last part. */
static bool cgroup_strip_subgroup(char *folder)
{
	static const char *const units[] = { ".service", ".scope", ".slice" };
	char *slash = strrchr(folder, '/');

	for (size_t i = 0; slash && i < DP_COUNT(units); i++)
		if (cgroup_has_suffix(slash, units[i]))
			slash = NULL;
	if (!slash)
		return false;
	*slash = '\0';
	return cgroup_has_suffix(folder, units[0]);
}

char *cgroup_find_delegated(void)
{
	char *mount = cgroup_find_mount(), *path = cgroup_read_own_path(), *folder = NULL;

	if (mount && path)
		folder = dp_path_join(mount, path);
	free(mount);
	free(path);
	if (folder && (cgroup_is_delegated(folder) ||
		       (cgroup_strip_subgroup(folder) && cgroup_is_delegated(folder))))
		return folder;
	free(folder);
	return NULL;
}

/* ---- memory limits ---- */

/* True if a file of the cgroup contains this word. */
static bool cgroup_file_has_word(const char *folder, const char *file, const char *word)
{
	struct dp_buf text = DP_BUF_INIT;
	char *path = dp_path_join(folder, file), *rest = NULL;
	bool found = false;

	if (path && dp_read_file(path, PROC_FILE_MAX, &text, NULL) == DP_OK && text.len)
		for (char *w = strtok_r(text.data, " \n", &rest); w && !found;
		     w = strtok_r(NULL, " \n", &rest))
			found = strcmp(w, word) == 0;
	dp_buf_free(&text);
	free(path);
	return found;
}

/* Returns 0 or an errno. */
static int cgroup_write_file(const char *folder, const char *file, const char *text)
{
	char *path = dp_path_join(folder, file);
	int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	int e = path ? errno : ENOMEM;

	free(path);
	if (fd < 0)
		return e;
	e = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return e;
}

bool cgroup_enable_memory(const char *folder)
{
	return cgroup_file_has_word(folder, "cgroup.subtree_control", "memory") ||
	       (cgroup_file_has_word(folder, "cgroup.controllers", "memory") &&
		cgroup_write_file(folder, "cgroup.subtree_control", "+memory") == 0);
}

int cgroup_kill_and_remove(const char *folder)
{
	int e = cgroup_write_file(folder, "cgroup.kill", "1");

	if (e == ENOENT)
		return 0;
	if (rmdir(folder) == 0 || errno == ENOENT)
		return 0;
	return e ? e : errno;
}
