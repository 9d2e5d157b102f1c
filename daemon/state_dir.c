/* state_dir.c - who else may write to the state directory. */
#include "daemon/state_dir.h"

#include "base/fs.h"
#include "daemon/who.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* root may do everything anyway. */
static int check_owner(const char *path, const struct stat *st, struct dp_err *err)
{
	char owner[WHO_NAME], self[WHO_NAME];

	if (st->st_uid == geteuid() || st->st_uid == 0)
		return DP_OK;
	who_named(st->st_uid, owner);
	who_named(geteuid(), self);
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

static int check_mode(struct dpd *d, const char *path, const struct stat *st,
		      struct dp_err *err)
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
			 "every user may create files in %s (mode %04o); 'chmod o-w %s'",
			 path, mode, path);
	else if (mode & S_IWGRP)
		log_line(
			&d->log, LOG_WARN, "",
			"members of group %u may write to %s (mode %04o) and so have the "
			"daemon run any program; if that is not intended, 'chmod g-w %s'",
			(unsigned)st->st_gid, path, mode, path);
	return DP_OK;
}

/* `name` NULL: the state directory itself. What does not exist yet is made by us. */
static int check_dir(struct dpd *d, const char *name, struct dp_err *err)
{
	char *path = dp_path_join(d->at.state_dir, name ? name : ".");
	struct stat st;
	int code = DP_OK;

	if (!path)
		return dp_fail(err, DP_E_NOMEM, "no memory for a path");
	if (stat(path, &st) == 0) {
		const char *shown = name ? path : d->at.state_dir;

		code = check_owner(shown, &st, err);
		if (code == DP_OK)
			code = check_mode(d, shown, &st, err);
	} else if (errno != ENOENT) {
		code = dp_fail_errno(err, errno, "cannot look at %s", path);
	}
	free(path);
	return code;
}

/* ---- links on the way to it ---- */

enum {
	MAX_LINKS = 40 /* as the kernel */
};

/* In a directory that others may write to, the owner of a link can replace it while the
 * daemon runs. */
static int check_link(const char *dir, const char *link, const struct stat *st,
		      struct dp_err *err)
{
	char owner[WHO_NAME];
	struct stat parent;

	if (st->st_uid == geteuid() || st->st_uid == 0 || stat(dir, &parent) != 0 ||
	    !(parent.st_mode & (S_IWGRP | S_IWOTH)))
		return DP_OK;
	who_named(st->st_uid, owner);
	dp_fail(err, DP_E_DENIED,
		"the symbolic link %s belongs to %s, who could lead the daemon to "
		"another state directory",
		link, owner);
	return dp_hint(err, "name the directory itself with --state");
}

/* One component `name` of a path whose part before it, `at`, has no links. A link puts
 * what it leads to before `rest`. */
static int check_component(char at[PATH_MAX], const char *name, char rest[PATH_MAX],
			   int *links, struct dp_err *err)
{
	char next[PATH_MAX], target[PATH_MAX], after[PATH_MAX];
	struct stat st;
	ssize_t n;
	int code;

	if (strcmp(name, ".") == 0)
		return DP_OK;
	if (strcmp(name, "..") == 0) {
		char *slash = strrchr(at, '/');

		if (slash)
			*slash = '\0';
		return DP_OK;
	}
	if (snprintf(next, sizeof next, "%s/%s", at, name) >= PATH_MAX)
		return dp_fail_errno(err, ENAMETOOLONG, "cannot look at %s", at);
	if (lstat(next, &st) != 0 || !S_ISLNK(st.st_mode)) {
		memcpy(at, next, sizeof next); /* what is missing is made by us */
		return DP_OK;
	}
	code = check_link(*at ? at : "/", next, &st, err);
	if (code != DP_OK)
		return code;
	n = readlink(next, target, sizeof target - 1);
	if (n < 0 || ++*links > MAX_LINKS)
		return dp_fail_errno(err, n < 0 ? errno : ELOOP, "cannot look at %s",
				     next);
	target[n] = '\0';
	memcpy(after, rest, sizeof after);
	if (snprintf(rest, PATH_MAX, "%s/%s", target, after) >= PATH_MAX)
		return dp_fail_errno(err, ENAMETOOLONG, "cannot look at %s", next);
	if (*target == '/')
		*at = '\0';
	return DP_OK;
}

int state_dir_check_links(const char *path, struct dp_err *err)
{
	char at[PATH_MAX] = "", rest[PATH_MAX] = "", name[PATH_MAX];
	int links = 0, code = DP_OK;

	if (*path != '/' && !getcwd(at, sizeof at))
		return dp_fail_errno(err, errno, "cannot look at %s", path);
	if (snprintf(rest, sizeof rest, "%s", path) >= PATH_MAX)
		return dp_fail_errno(err, ENAMETOOLONG, "cannot look at %s", path);
	while (code == DP_OK && *rest) {
		size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/");

		memcpy(name, rest + skip, n);
		name[n] = '\0';
		memmove(rest, rest + skip + n, strlen(rest + skip + n) + 1);
		if (n)
			code = check_component(at, name, rest, &links, err);
	}
	return code;
}

int state_dir_check(struct dpd *d, struct dp_err *err)
{
	int code = check_dir(d, NULL, err);

	if (code == DP_OK)
		code = check_dir(d, "journal", err);
	return code == DP_OK ? check_dir(d, "studies", err) : code;
}
