/* fs.h - files and directories: bounded reads, atomic writes, recursive removal, XDG paths. */
#ifndef DP_FS_H
#define DP_FS_H
#include "base/base.h"
#include "base/buf.h"

/* Opens a regular file for reading and follows links. Refuses a FIFO, socket, device or directory
 * with DP_E_INVALID and never blocks on one. -1 on failure. */
DP_MUSTCHECK int dp_open_regular(const char *path, struct dp_err *err);
/* The kind of a special file ("a FIFO"). NULL for a regular file. */
const char *dp_special_file_kind(unsigned mode);
/* For a path that is about to be replaced: DP_E_INVALID if it is not a regular file. Does not
 * follow a link. DP_OK if it does not exist. */
DP_MUSTCHECK int dp_check_replaceable(const char *path, struct dp_err *err);
/* Replaces *out by the content of a file (dp_open_regular()). DP_E_LIMIT if it is longer than max
 * bytes, DP_E_NOT_FOUND, DP_E_DENIED, DP_E_INVALID, DP_E_IO. */
DP_MUSTCHECK int dp_read_regular(const char *path, size_t max, struct dp_buf *out,
				 struct dp_err *err);
/* The same for a path that a user gave. It may also name an open descriptor (/dev/stdin, or
 * /dev/fd/N of a process substitution): a pipe there has a writer already, or is at its end. */
DP_MUSTCHECK int dp_read_file(const char *path, size_t max, struct dp_buf *out, struct dp_err *err);
/* Opens a file that another user may have created. It must be a regular file: a FIFO never blocks,
 * and links are not followed. -1 with errno: EINVAL for a special file, ELOOP for a link. */
int dp_open_untrusted(const char *path);
/* dp_read_file() through dp_open_untrusted(). */
DP_MUSTCHECK int dp_read_untrusted(const char *path, size_t max, struct dp_buf *out,
				   struct dp_err *err);
/* Reads the first max bytes. Returns 0 or an errno, for callers that decide on a retry. */
DP_MUSTCHECK int dp_read_untrusted_head(const char *path, size_t max, struct dp_buf *out);
/* Writes a file atomically: a temporary file in the same directory, then rename. With `sync` the
 * data is on disk before the name is. */
DP_MUSTCHECK int dp_write_file(const char *path, const void *data, size_t len, bool sync,
			       struct dp_err *err);
/* Creates a file that does not exist and that no other process reads before it is complete. */
DP_MUSTCHECK int dp_write_new_file(const char *path, const void *data, size_t len,
				   struct dp_err *err);
/* Writes all of it. -1 with errno on failure. */
DP_MUSTCHECK int dp_write_all(int fd, const void *data, size_t len);
/* mkdir -p. An existing directory is fine. */
DP_MUSTCHECK int dp_mkdirs(const char *path, unsigned mode, struct dp_err *err);
/* rm -r without following symbolic links. A missing path is fine. */
DP_MUSTCHECK int dp_remove_tree(const char *path, struct dp_err *err);
/* A condition of the machine that may pass: exhausted descriptors, memory, processes or disk space,
 * an interrupted call, a read-only disk, a server that does not answer. The same call may succeed
 * later. This is the only such list; callers decide how long to retry. */
bool dp_errno_is_transient(int errnum);
/* Fills an error for a failed system call. errnum selects the code. */
int dp_fail_errno(struct dp_err *err, int errnum, const char *fmt, ...) DP_PRINTF(3, 4);

/* The caller frees it. */
DP_ALLOCATES char *dp_path_join(const char *a, const char *b);
/* The directory of a path, absolute. The caller frees it. NULL on failure. */
char *dp_path_dir_absolute(const char *path);

/* Our directory below $variable ("XDG_CACHE_HOME"), else below that place in the home directory
 * (".cache"). The caller frees it. NULL if both are unset. */
char *dp_user_dir(const char *variable, const char *below_home);
/* Default paths by the XDG rules, or root's. The caller frees them. NULL without a home. */
char *dp_default_state_dir(void);   /* /var/lib/dpareto or ~/.local/state/dpareto */
char *dp_default_socket_path(void); /* /run/dpareto/dparetod.sock or under XDG_RUNTIME_DIR */

#endif
