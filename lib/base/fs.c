/* fs.c - files and directories: bounded reads, atomic writes, recursive removal, XDG paths. */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool dp_errno_is_transient(int errnum)
{
	switch (errnum) {
	case EMFILE: /* descriptors */
	case ENFILE:
	case ENOMEM: /* memory, processes */
	case ENOBUFS:
	case EAGAIN:
	case ENOSPC: /* space, inodes, locks */
	case EDQUOT:
	case ENOLCK:
	case EINTR:
	case EBUSY:
	case EROFS: /* set by the kernel on disk errors; an administrator can repair it */
	case EIO:   /* a disk, or the network to a file server */
	case EREMOTEIO:
	case ESTALE:
	case ETIMEDOUT:
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ENOTCONN:
	case ESHUTDOWN:
		return true;
	default:
		return false;
	}
}

int dp_fail_errno(struct dp_err *err, int errnum, const char *fmt, ...)
{
	char what[400];
	va_list ap;
	int code;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		code = DP_E_NOT_FOUND;
		break;
	case EACCES:
	case EPERM:
		code = DP_E_DENIED;
		break;
	case ENOMEM:
		code = DP_E_NOMEM;
		break;
	case EEXIST:
		code = DP_E_EXISTS;
		break;
	case E2BIG: /* permanent: a retry cannot help */
	case ENAMETOOLONG:
	case ELOOP:
		code = DP_E_INVALID;
		break;
	default:
		code = DP_E_IO;
	}
	return dp_fail(err, code, "%s: %s", what, strerror(errnum));
}

/* Reads to the end of the file or to `max`, and closes fd. */
static int fs_read_and_close(int fd, const char *path, size_t max, struct dp_buf *out,
			     struct dp_err *err)
{
	char chunk[65536];
	int code = DP_OK;
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			code = dp_fail_errno(err, errno, "cannot read %s", path);
			break;
		}
		if (out->len + (size_t)n > max) {
			code = dp_fail(err, DP_E_LIMIT, "%s is larger than %zu bytes", path, max);
			break;
		}
		dp_buf_add(out, chunk, (size_t)n);
	}
	close(fd);
	return code;
}

/* EINTR and ESTALE (a file server lost its handle) mostly pass at the next open. */
static int fs_open_retry(const char *path, int flags)
{
	int fd = -1;

	for (int i = 0; i < 3; i++) {
		fd = open(path, flags);
		if (fd >= 0 || (errno != EINTR && errno != ESTALE))
			break;
	}
	return fd;
}

const char *dp_special_file_kind(unsigned mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return NULL;
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
		return "a character device";
	case S_IFBLK:
		return "a block device";
	case S_IFDIR:
		return "a directory";
	case S_IFLNK:
		return "a symbolic link";
	default:
		return "a special file";
	}
}

static int fs_fail_not_regular(const char *path, unsigned mode, struct dp_err *err)
{
	return dp_fail(err, DP_E_INVALID, "%s is %s, not a regular file", path,
		       dp_special_file_kind(mode));
}

int dp_check_replaceable(const char *path, struct dp_err *err)
{
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return fs_fail_not_regular(path, st.st_mode, err);
	return DP_OK;
}

int dp_open_regular(const char *path, struct dp_err *err)
{
	struct stat st;
	int fd;

	/* before open(), which has side effects on some devices */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		fs_fail_not_regular(path, st.st_mode, err);
		return -1;
	}
	/* O_NONBLOCK: the file may have become a FIFO since */
	fd = fs_open_retry(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0) {
		dp_fail_errno(err, errno, "cannot open %s", path);
	} else if (!S_ISREG(st.st_mode)) {
		fs_fail_not_regular(path, st.st_mode, err);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

int dp_read_regular(const char *path, size_t max, struct dp_buf *out, struct dp_err *err)
{
	struct dp_err why;
	int fd = dp_open_regular(path, &why);

	dp_buf_clear(out);
	if (fd >= 0)
		return fs_read_and_close(fd, path, max, out, err);
	if (err)
		*err = why;
	return why.code;
}

/* True for the name of an open descriptor. "/dev/fd/../x" is an ordinary path. */
static bool path_is_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	for (size_t i = 0; i < DP_COUNT(folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0) {
			const char *number = path + strlen(folders[i]);

			return *number && number[strspn(number, "0123456789")] == '\0';
		}
	return strcmp(path, "/dev/stdin") == 0;
}

int dp_read_file(const char *path, size_t max, struct dp_buf *out, struct dp_err *err)
{
	struct stat st;
	int fd;

	if (!path_is_descriptor(path))
		return dp_read_regular(path, max, out, err);
	dp_buf_clear(out);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return dp_fail_errno(err, errno, "cannot open %s", path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return fs_fail_not_regular(path, st.st_mode, err);
	}
	return fs_read_and_close(fd, path, max, out, err);
}

int dp_open_untrusted(const char *path)
{
	int fd = fs_open_retry(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	int e;

	if (fd < 0)
		return errno == ENXIO ? (errno = EINVAL, -1) : -1; /* a socket */
	e = fstat(fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
	if (e == 0)
		return fd;
	close(fd);
	errno = e;
	return -1;
}

int dp_read_untrusted(const char *path, size_t max, struct dp_buf *out, struct dp_err *err)
{
	int fd = dp_open_untrusted(path);

	dp_buf_clear(out);
	if (fd < 0 && errno == EINVAL)
		return dp_fail(err, DP_E_INVALID, "%s is not a plain file", path);
	if (fd < 0)
		return dp_fail_errno(err, errno, "cannot open %s", path);
	return fs_read_and_close(fd, path, max, out, err);
}

int dp_read_untrusted_head(const char *path, size_t max, struct dp_buf *out)
{
	int fd = dp_open_untrusted(path), e = errno;
	char chunk[4096];
	ssize_t n = 1;

	dp_buf_clear(out);
	if (fd < 0)
		return e;
	while (n != 0 && out->len < max) {
		size_t room = max - out->len;

		n = read(fd, chunk, room < sizeof chunk ? room : sizeof chunk);
		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			dp_buf_add(out, chunk, (size_t)n);
	}
	e = n < 0 ? errno : 0;
	close(fd);
	return e;
}

int dp_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int dp_write_new_file(const char *path, const void *data, size_t len, struct dp_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), e;

	if (fd < 0)
		return dp_fail_errno(err, errno, "cannot create %s", path);
	e = dp_write_all(fd, data, len) == 0 ? 0 : errno;
	if (close(fd) != 0 && e == 0)
		e = errno;
	return e == 0 ? DP_OK : dp_fail_errno(err, e, "cannot write %s", path);
}

int dp_write_file(const char *path, const void *data, size_t len, bool sync, struct dp_err *err)
{
	size_t room = strlen(path) + sizeof ".tmp";
	char *tmp = dp_malloc(room);
	int fd, e;

	snprintf(tmp, room, "%s.tmp", path);
	/* O_NONBLOCK: a FIFO of that name must not block */
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644);
	e = 0;
	if (fd < 0 || dp_write_all(fd, data, len) != 0 || (sync && fdatasync(fd) != 0))
		e = errno;
	if (fd >= 0 && close(fd) != 0 && e == 0)
		e = errno;
	if (e == 0 && rename(tmp, path) != 0)
		e = errno;
	if (e != 0 && fd >= 0)
		unlink(tmp);
	free(tmp);
	return e == 0 ? DP_OK : dp_fail_errno(err, e, "cannot write %s", path);
}

/* Creates a directory and its missing parents. Starts at the end, because most parents exist.
 * Returns 0 or an errno. `path` is modified and restored. */
static int fs_make_dirs(char *path, unsigned mode)
{
	char *slash;
	int e;

	if (mkdir(path, mode) == 0 || errno == EEXIST)
		return 0;
	e = errno;
	slash = strrchr(path, '/');
	if (e != ENOENT || !slash || slash == path)
		return e;
	*slash = '\0';
	e = fs_make_dirs(path, mode);
	*slash = '/';
	return e == 0 && mkdir(path, mode) != 0 && errno != EEXIST ? errno : e;
}

int dp_mkdirs(const char *path, unsigned mode, struct dp_err *err)
{
	char *copy = dp_strdup(path);
	struct stat st;
	size_t n;
	int e;

	for (n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	e = fs_make_dirs(copy, mode);
	free(copy);
	if (e != 0)
		return dp_fail_errno(err, e, "cannot create the folder %s", path);
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return dp_fail(err, DP_E_EXISTS, "%s exists and is not a folder", path);
	return DP_OK;
}

int dp_remove_tree(const char *path, struct dp_err *err)
{
	char *roots[] = { (char *)path, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *e;
	int code = DP_OK;

	if (!walk)
		return dp_fail_errno(err, errno, "cannot remove %s", path);
	while ((e = fts_read(walk)) != NULL) {
		bool folder = e->fts_info == FTS_DP;

		if (e->fts_info == FTS_D)
			continue;
		if ((folder ? rmdir(e->fts_path) : unlink(e->fts_path)) != 0 && errno != ENOENT)
			code = dp_fail_errno(err, errno, "cannot remove %s", e->fts_path);
	}
	fts_close(walk);
	return code;
}

char *dp_path_join(const char *a, const char *b)
{
	size_t na = strlen(a);
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_puts(&out, a);
	if (na == 0 || a[na - 1] != '/')
		dp_buf_putc(&out, '/');
	dp_buf_puts(&out, b);
	return dp_buf_detach(&out);
}

char *dp_path_dir_absolute(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir, *real;

	if (!slash)
		return realpath(".", NULL);
	dir = dp_strndup(path, slash == path ? 1 : (size_t)(slash - path));
	real = realpath(dir, NULL);
	free(dir);
	return real;
}

/* The value of an XDG variable. The standard ignores relative paths. */
static const char *xdg_dir_from_env(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] == '/' ? v : NULL;
}

char *dp_user_dir(const char *variable, const char *below_home)
{
	const char *base = xdg_dir_from_env(variable), *home = xdg_dir_from_env("HOME");
	char *folder, *path;

	if (base || !home)
		return base ? dp_path_join(base, "dpareto") : NULL;
	folder = dp_path_join(home, below_home);
	path = dp_path_join(folder, "dpareto");
	free(folder);
	return path;
}

char *dp_default_state_dir(void)
{
	const char *base = xdg_dir_from_env("XDG_STATE_HOME"), *home = getenv("HOME");

	if (geteuid() == 0 && !base)
		return dp_strdup("/var/lib/dpareto");
	if (base)
		return dp_path_join(base, "dpareto");
	return home ? dp_path_join(home, ".local/state/dpareto") : NULL;
}

char *dp_default_socket_path(void)
{
	const char *base = xdg_dir_from_env("XDG_RUNTIME_DIR");
	char *dir, *path;

	if (base)
		return dp_path_join(base, "dpareto/dparetod.sock");
	if (geteuid() == 0)
		return dp_strdup("/run/dpareto/dparetod.sock");
	dir = dp_default_state_dir();
	path = dir ? dp_path_join(dir, "dparetod.sock") : NULL;
	free(dir);
	return path;
}
