/* lease.c - reads and takes the claim of an attempt. The claim is outside of the attempt's
 * directory, where a trainer does not clean up. Version 0.1 had it only inside; its shims may still
 * run, so that one is read and taken, too. */
#include "daemon/executors/executor.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LEASE_FILE_MAX = 8192,
	END_RECORD_MAX = 16 << 10,
	LEASE_TOKEN_LEN = 32
};

/* Makes the claim for the daemon, so that a late shim cannot start. */
static bool lease_create(const char *claim)
{
	int fd = open(claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return false;
	if (write(fd, "daemon\n", 7) < 0) {
		/* only the name matters */
	}
	close(fd);
	return true;
}

static enum lease_state lease_read_holder(int fd, long *holder)
{
	char text[64] = "";
	bool locked;

	if (pread(fd, text, sizeof text - 1, 0) < 0)
		return LEASE_UNKNOWN;
	if (strcmp(text, "daemon\n") == 0)
		return LEASE_ACQUIRED; /* also if the file system has no locks */
	locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
	if (locked && errno != EWOULDBLOCK)
		return LEASE_UNKNOWN;
	if (!locked)
		return LEASE_RELEASED;
	*holder = strtol(text, NULL, 10);
	if (*holder > 1)
		return LEASE_HELD;
	errno = EAGAIN; /* another process is checking it, too */
	return LEASE_UNKNOWN;
}

static enum lease_state lease_acquire_file(const char *claim, long *holder)
{
	enum lease_state answer;
	int fd, e;

	if (lease_create(claim))
		return LEASE_ACQUIRED;
	if (errno != EEXIST)
		return LEASE_UNKNOWN;
	fd = dp_open_untrusted(claim);
	if (fd < 0)
		return LEASE_UNKNOWN;
	answer = lease_read_holder(fd, holder);
	e = errno;
	close(fd);
	errno = e;
	return answer;
}

/* Length of a path up to its n-th slash from the end. */
static int lease_path_prefix_len(const char *path, int n)
{
	size_t len = strlen(path);

	while (len > 0 && (path[len] != '/' || --n > 0))
		len--;
	return (int)len;
}

char *lease_file_path(const char *folder, const char *what)
{
	int attempt = lease_path_prefix_len(folder, 1), trial = lease_path_prefix_len(folder, 2);
	char *path;

	return asprintf(&path, "%.*s/claims/%.*s.%s%s", lease_path_prefix_len(folder, 3), folder,
			attempt - trial - 1, folder + trial + 1, folder + attempt + 1, what) < 0
		       ? NULL
		       : path;
}

int lease_make_directory(const char *folder, struct dp_err *err)
{
	char *claims = lease_file_path(folder, "");
	int code;

	if (!claims)
		return dp_fail(err, DP_E_NOMEM, "no memory for a claim");
	*strrchr(claims, '/') = '\0';
	code = dp_mkdirs(claims, 0755, err);
	free(claims);
	return code;
}

enum lease_state lease_acquire(const char *folder, long *holder)
{
	char *beside = lease_file_path(folder, ".claim");
	char *inside = dp_path_join(folder, "claim");
	enum lease_state answer = LEASE_UNKNOWN;
	int e = ENOMEM;

	if (beside && inside) {
		answer = lease_acquire_file(beside, holder);
		if (answer == LEASE_ACQUIRED)
			answer = lease_acquire_file(inside, holder);
		e = errno;
	}
	free(beside);
	free(inside);
	errno = e;
	return answer;
}

bool lease_exists(const char *folder)
{
	char *beside = lease_file_path(folder, ".claim");
	bool there = beside && access(beside, F_OK) == 0;

	free(beside);
	return there;
}

bool lease_may_exist(const char *folder)
{
	char *beside = lease_file_path(folder, ".claim");
	bool made = !beside || access(beside, F_OK) == 0 || errno != ENOENT;

	free(beside);
	return made;
}

/* ---- the record of the end ---- */

/* The claim's token; "" before version 0.3, and of a daemon. 0 or a transient errno. */
static int lease_read_token(const char *folder, char token[LEASE_TOKEN_LEN + 1])
{
	char *path = lease_file_path(folder, ".claim");
	struct dp_buf text = DP_BUF_INIT;
	int e = path ? dp_read_untrusted_head(path, LEASE_FILE_MAX, &text) : ENOMEM;
	const char *line = e == 0 ? strstr(dp_buf_text(&text), "\ntoken ") : NULL;

	token[0] = '\0';
	if (line)
		sscanf(line, " token %32[0-9a-f]", token);
	dp_buf_free(&text);
	free(path);
	return dp_errno_is_transient(e) ? e : 0;
}

/* True while the shim's record waits outside of the attempt's directory to be renamed into it: a
 * file of that name in the directory is then the trainer's. A network file system may show the same
 * file under both names for a while. */
static bool lease_record_is_pending(const char *folder, const char *path)
{
	size_t len = strlen(folder);
	bool inside = strncmp(path, folder, len) == 0 && path[len] == '/';
	char *kept = inside ? lease_file_path(folder, ".exit") : NULL;
	struct stat ours, found;
	bool keeps = kept && lstat(kept, &ours) == 0 && lstat(path, &found) == 0 &&
		     ours.st_ino != found.st_ino;

	free(kept);
	return keeps;
}

int lease_read_end_record(const char *folder, const char *path, struct dp_buf *out)
{
	char token[LEASE_TOKEN_LEN + 1], field[LEASE_TOKEN_LEN + 16];
	int e;

	dp_buf_clear(out);
	if (lease_record_is_pending(folder, path))
		return 0;
	e = lease_read_token(folder, token);
	if (e == 0)
		e = dp_read_untrusted_head(path, END_RECORD_MAX, out);
	snprintf(field, sizeof field, "\"token\":\"%s\"", token);
	if (e != 0 || (token[0] && !strstr(dp_buf_text(out), field)))
		dp_buf_clear(out);
	return e;
}

int lease_write_kill_record(const char *folder, const struct lease_kill_record *k,
			    struct dp_err *err)
{
	char *path = lease_file_path(folder, ".killed"), token[LEASE_TOKEN_LEN + 1], text[256];
	int e = lease_read_token(folder, token), n, code;

	n = snprintf(text, sizeof text,
		     "{%s%s\"signal\":9,\"start\":%.6f,\"end\":%.6f,"
		     "\"left_behind\":true,\"token\":\"%s\"}\n",
		     k->timeout ? "\"timeout\":true," : "",
		     k->cancelled ? "\"cancelled\":true," : "", k->start, k->end, token);
	if (!path)
		code = dp_fail(err, DP_E_NOMEM, "no memory to record its end");
	else if (e != 0)
		code = dp_fail_errno(err, e, "cannot read the claim of %s", folder);
	else
		code = dp_write_file(path, text, (size_t)n, false, err);
	free(path);
	return code;
}
