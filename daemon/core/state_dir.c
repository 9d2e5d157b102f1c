/* state_dir.c - opens the state directory and checks who can write to it. */
#include "daemon/core/state_dir.h"

#include "base/fs.h"
#include "daemon/core/peer_name.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* root is accepted, because root can do everything anyway. */
static int check_owner(const char *path, const struct stat *st, struct dp_err *err)
{
	char owner[REQUESTER_NAME_LEN], self[REQUESTER_NAME_LEN];

	if (st->st_uid == geteuid() || st->st_uid == 0)
		return DP_OK;
	peer_name_format(st->st_uid, owner);
	peer_name_format(geteuid(), self);
	dp_fail(err, DP_E_DENIED,
		"%s belongs to %s, but the daemon runs as %s: the owner could have it "
		"run "
		"any program",
		path, owner, self);
	return dp_hint(err,
		       "start the daemon as that user, name another directory with "
		       "--state, or look at what is in it and then 'chown -R %u %s'",
		       (unsigned)geteuid(), path);
}

static int check_mode(struct daemon *d, const char *path, const struct stat *st, struct dp_err *err)
{
	unsigned mode = st->st_mode & 07777;

	if (mode & S_IWOTH && !(mode & S_ISVTX)) {
		dp_fail(err, DP_E_DENIED,
			"every user may write to %s (mode %04o): each could have the "
			"daemon run any program",
			path, mode);
		return dp_hint(err, "look at what is in it, then 'chmod o-w %s'", path);
	}
	if (mode & S_IWOTH)
		log_line(&d->log, LOG_WARN, "",
			 "every user may create files in %s (mode %04o); 'chmod o-w %s'", path,
			 mode, path);
	else if (mode & S_IWGRP)
		log_line(&d->log, LOG_WARN, "",
			 "members of group %u may write to %s (mode %04o) and so have the "
			 "daemon run any program; if that is not intended, 'chmod g-w %s'",
			 (unsigned)st->st_gid, path, mode, path);
	return DP_OK;
}

/* ---- the path ----
 *
 * Each component is opened and then checked, and the next one is opened below it. So what is
 * checked is what is used, even if a link is replaced meanwhile. */

enum {
	MAX_LINKS = 40 /* as in the kernel */
};

struct walk {
	int from, fd; /* the start directory, and the one reached so far */
	int links;
};

/* The real path of an open directory. The caller frees it. */
static char *path_of(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path);
	return n > 0 && n < PATH_MAX ? dp_strndup(path, (size_t)n) : NULL;
}

/* In a directory that others can write to, the owner of a link can replace it. */
static int check_link(int dir, const char *name, uid_t user, struct dp_err *err)
{
	char owner[REQUESTER_NAME_LEN], *path;
	struct stat st;

	if (user == geteuid() || user == 0 ||
	    (fstat(dir, &st) == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH))))
		return DP_OK;
	peer_name_format(user, owner);
	path = path_of(dir);
	dp_fail(err, DP_E_DENIED,
		"the symbolic link %s/%s belongs to %s, who could lead the daemon to "
		"another state directory",
		path ? path : "", name, owner);
	free(path);
	return dp_hint(err, "name the directory itself with --state");
}

static int walk(struct walk *w, const char *path, struct dp_err *err);

static int walk_link(struct walk *w, const char *name, int link, struct dp_err *err)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int code;

	if (fstat(link, &st) != 0 || !S_ISLNK(st.st_mode))
		return dp_fail_errno(err, ENOTDIR, "cannot open %s", name);
	code = check_link(w->fd, name, st.st_uid, err);
	if (code != DP_OK)
		return code;
	n = readlinkat(link, "", target, sizeof target);
	if (n < 0 || n == PATH_MAX || ++w->links > MAX_LINKS)
		return dp_fail_errno(err, n < 0 ? errno : ELOOP, "cannot open %s", name);
	target[n] = '\0';
	return walk(w, target, err);
}

static int walk_component(struct walk *w, const char *name, struct dp_err *err)
{
	int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, code = DP_OK;
	int fd = openat(w->fd, name, flags | O_DIRECTORY);

	if (fd < 0 && errno == ENOENT && mkdirat(w->fd, name, 0700) == 0)
		fd = openat(w->fd, name, flags | O_DIRECTORY);
	if (fd >= 0) {
		if (w->fd != w->from)
			close(w->fd);
		w->fd = fd;
		return DP_OK;
	}
	fd = errno == ENOTDIR ? openat(w->fd, name, flags) : -1;
	if (fd < 0)
		return dp_fail_errno(err, errno, "cannot open or create %s", name);
	code = walk_link(w, name, fd, err);
	close(fd);
	return code;
}

static int walk(struct walk *w, const char *path, struct dp_err *err)
{
	char name[NAME_MAX + 2]; /* a name that is too long stays too long */
	int code = *path == '/' ? walk_component(w, "/", err) : DP_OK;

	while (code == DP_OK && *(path += strspn(path, "/"))) {
		size_t n = strcspn(path, "/");

		snprintf(name, sizeof name, "%.*s", (int)n, path);
		code = walk_component(w, name, err);
		path += n;
	}
	return code;
}

static int state_dir_check_one(struct daemon *d, int state, const char *name, struct dp_err *err)
{
	struct walk w = { .from = state, .fd = state };
	int code = walk(&w, name, err);
	char *path = path_of(w.fd);
	struct stat st;

	if (code == DP_OK && (!path || fstat(w.fd, &st) != 0))
		code = dp_fail(err, DP_E_IO, "cannot examine %s", name);
	if (code == DP_OK)
		code = check_owner(path, &st, err);
	if (code == DP_OK)
		code = check_mode(d, path, &st, err);
	free(path);
	if (w.fd != state)
		close(w.fd);
	return code;
}

int state_dir_prepare(struct daemon *d, const char *path, struct dp_err *err)
{
	static const char *const names[] = { ".", "journal", "studies" };
	struct walk w = { .from = AT_FDCWD, .fd = AT_FDCWD };
	int code = walk(&w, path, err);
	struct stat st;

	if (code == DP_E_NOT_FOUND && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		code = dp_fail(err, DP_E_EXISTS, "%s is not a directory", path);
	for (size_t i = 0; i < DP_COUNT(names) && code == DP_OK; i++)
		if (fstatat(w.fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			code = state_dir_check_one(d, w.fd, names[i], err);
	if (code == DP_OK)
		d->paths.state_dir = path_of(w.fd);
	if (w.fd != AT_FDCWD)
		close(w.fd);
	return code;
}
