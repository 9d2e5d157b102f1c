/* fs.h - files: whole reads with a limit, atomic writes, folders. */
#ifndef DP_FS_H
#define DP_FS_H
#include "base/base.h"
#include "base/buf.h"

/* Opens a regular file for reading; links are followed. A FIFO, a socket, a device and a
 * directory are refused and never waited for: DP_E_INVALID, with the kind of file in the
 * sentence. -1 on failure. */
DP_MUSTCHECK int dp_open_regular(const char *path, struct dp_err *err);
/* What else than a regular file it is ("a FIFO"); NULL for a regular file. */
const char *dp_special_file_kind(unsigned mode);
/* DP_E_INVALID if a file that is not a regular one has this name, which is about to be
 * replaced; a link is not followed. A name that does not exist is fine. */
DP_MUSTCHECK int dp_check_replaceable(const char *path, struct dp_err *err);
/* Reads a whole file into *out (replacing what it held), through dp_open_regular().
 * DP_E_LIMIT when it is longer than max bytes, DP_E_NOT_FOUND, DP_E_DENIED, DP_E_INVALID,
 * DP_E_IO. */
DP_MUSTCHECK int dp_read_regular(const char *path, size_t max, struct dp_buf *out,
				 struct dp_err *err);
/* The same for what a person names. Besides regular files, it takes what names an open
 * descriptor (/dev/stdin, /dev/fd/N as of a shell's process substitution): a pipe there
 * has a writer already, or ends at once. */
DP_MUSTCHECK int dp_read_file(const char *path, size_t max, struct dp_buf *out, struct dp_err *err);
/* Opens for reading what somebody else may have put there: a plain file or nothing. A
 * FIFO must not hang us, nor a link lead us away. -1 with errno, which is EINVAL for
 * what is no plain file and ELOOP for a link. */
int dp_open_untrusted(const char *path);
/* dp_read_file() through dp_open_untrusted(). */
DP_MUSTCHECK int dp_read_untrusted(const char *path, size_t max, struct dp_buf *out,
				   struct dp_err *err);
/* The first max bytes of it, for who must know whether a failure passes: 0 or an errno.
 */
DP_MUSTCHECK int dp_read_untrusted_head(const char *path, size_t max, struct dp_buf *out);
/* Writes a file whole or not at all: a temporary beside it, then rename; with
 * `sync` the data is on the disk before the name is. */
DP_MUSTCHECK int dp_write_file(const char *path, const void *data, size_t len, bool sync,
			       struct dp_err *err);
/* Writes a file that must not be there yet, and that nobody looks at before it is
 * whole. */
DP_MUSTCHECK int dp_write_new_file(const char *path, const void *data, size_t len,
				   struct dp_err *err);
/* The whole of it to a descriptor; -1 with errno if that fails. */
DP_MUSTCHECK int dp_write_all(int fd, const void *data, size_t len);
/* mkdir -p; what exists is fine if it is a folder. */
DP_MUSTCHECK int dp_mkdirs(const char *path, unsigned mode, struct dp_err *err);
/* rm -r, without following symbolic links; what is gone already is fine. */
DP_MUSTCHECK int dp_remove_tree(const char *path, struct dp_err *err);
/* Is this errno the machine's trouble, which may pass: out of something (descriptors,
 * memory, processes, space), interrupted, or a disk that is read-only or a server that
 * does not answer? Then
 * it says nothing about what was asked for, and the same call is worth another try. This
 * is the one list; who waits for how long is the caller's business. */
bool dp_errno_is_transient(int errnum);
/* An error for a failed system call: picks the code from errno. */
int dp_fail_errno(struct dp_err *err, int errnum, const char *fmt, ...) DP_PRINTF(3, 4);

/* a/b; the caller frees it. */
DP_ALLOCATES char *dp_path_join(const char *a, const char *b);
/* The folder part of a path, absolute; the caller frees it; NULL on failure. */
char *dp_path_dir_absolute(const char *path);

/* Our folder below what an XDG variable names ("XDG_CACHE_HOME"), else below that place
 * in the home (".cache"). The caller frees it; NULL if there is neither. */
char *dp_user_dir(const char *variable, const char *below_home);
/* Folders of the XDG base directory rules, or the system's for root. The caller
 * frees them; NULL if no home can be found. */
char *dp_default_state_dir(void);   /* /var/lib/dpareto or ~/.local/state/dpareto */
char *dp_default_socket_path(void); /* /run/dpareto/dparetod.sock or under XDG_RUNTIME_DIR */

#endif
