/* faulty.c - makes one system call fail, for LD_PRELOAD; faults.py steers it.
 *
 *   FAULTY="CALL NTH ERRNO COUNT"  the NTH call of this group fails with this error
 * number, and so do the next COUNT - 1 FAULTY_PROGRAM=NAME            in this program
 * alone FAULTY_NOTE=FILE               made when it happens; if FILE is there, nothing
 * happens: of all processes only one sees the fault
 *
 * Calls count from main() on: what libraries do before it is not the program's business.
 * What glibc does inside itself (stdio, malloc) cannot be reached this way. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
	char call[32];
	const char *note;
	long nth, count;
	int error;
	atomic_bool armed;
	atomic_bool ours;  /* this process has made the note */
	atomic_long calls; /* of the group */
} faulty;

static void faulty_read(void)
{
	const char *text = getenv("FAULTY"), *program = getenv("FAULTY_PROGRAM");

	faulty.note = getenv("FAULTY_NOTE");
	if (!text || !faulty.note ||
	    (program && strcmp(program, program_invocation_short_name) != 0))
		return;
	if (sscanf(text, "%31s %ld %d %ld", faulty.call, &faulty.nth, &faulty.error,
		   &faulty.count) == 4)
		atomic_store(&faulty.armed, true);
}

/* Of all processes, and all calls at once, one makes the note. */
static bool faulty_first(void)
{
	int before = errno;
	long fd;

	if (atomic_load(&faulty.ours))
		return true;
	fd = syscall(SYS_openat, AT_FDCWD, faulty.note, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		     0644);
	errno = before;
	if (fd < 0)
		return false;
	syscall(SYS_close, (int)fd);
	atomic_store(&faulty.ours, true);
	return true;
}

/* Shall this call fail? Then errno says with what. */
static bool faulty_now(const char *call)
{
	long n;

	if (!atomic_load(&faulty.armed) || strcmp(call, faulty.call) != 0)
		return false;
	n = atomic_fetch_add(&faulty.calls, 1) + 1;
	if (n < faulty.nth || n >= faulty.nth + faulty.count || !faulty_first())
		return false;
	errno = faulty.error;
	return true;
}

/* The next definition of the function that this one stands for. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/* Disks fail in other ways than sockets do, and an eventfd hardly at all. */
static bool faulty_at(int fd, const char *file, const char *socket, const char *other)
{
	struct stat st;
	int before = errno;

	if (!atomic_load(&faulty.armed))
		return false;
	if (fstat(fd, &st) != 0)
		st.st_mode = 0;
	errno = before;
	return faulty_now(S_ISREG(st.st_mode) ? file : S_ISSOCK(st.st_mode) ? socket : other);
}

/* TYPE NAME(PARAMETERS): fails with -1, otherwise is NAME(ARGUMENTS). */
#define CALL(group, type, name, parameters, arguments)                                             \
	__attribute__((visibility("default"))) type name parameters;                               \
	type name parameters                                                                       \
	{                                                                                          \
		static __typeof__(&(name)) next;                                                   \
                                                                                                   \
		if (faulty_now(group))                                                             \
			return (type)-1;                                                           \
		if (!next)                                                                         \
			next = NEXT(name);                                                         \
		return next arguments;                                                             \
	}

/* As CALL(), of a descriptor: the group is that of its kind. */
#define CALL_AT(file, sock, other, type, name, parameters, arguments)                              \
	__attribute__((visibility("default"))) type name parameters;                               \
	type name parameters                                                                       \
	{                                                                                          \
		static __typeof__(&(name)) next;                                                   \
                                                                                                   \
		if (faulty_at(fd, file, sock, other))                                              \
			return (type)-1;                                                           \
		if (!next)                                                                         \
			next = NEXT(name);                                                         \
		return next arguments;                                                             \
	}
#define READ(...)  CALL_AT("read", "recv", "pipe_read", ssize_t, __VA_ARGS__)
#define WRITE(...) CALL_AT("write", "send", "pipe_write", ssize_t, __VA_ARGS__)

typedef int (*main_fn)(int, char **, char **);
int __libc_start_main(main_fn program, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_fn program, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	faulty_read();
	return NEXT(__libc_start_main)(program, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- files ---- */

static mode_t faulty_mode(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = faulty_mode(flags, ap);                                                     \
		va_end(ap);                                                                        \
		return faulty_now("open") ? -1 : NEXT(name)(path, flags, mode);                    \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
	int name(int folder, const char *path, int flags, ...)                                     \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = faulty_mode(flags, ap);                                                     \
		va_end(ap);                                                                        \
		return faulty_now("open") ? -1 : NEXT(name)(folder, path, flags, mode);            \
	}
OPENAT(openat)
OPENAT(openat64)
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
CALL("open", int, __open_2, (const char *path, int flags), (path, flags))
CALL("open", int, __open64_2, (const char *path, int flags), (path, flags))
CALL("open", int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags))
DIR *opendir(const char *path)
{
	return faulty_now("open") ? NULL : NEXT(opendir)(path);
}
READ(read, (int fd, void *bytes, size_t n), (fd, bytes, n))
READ(pread, (int fd, void *bytes, size_t n, off_t at), (fd, bytes, n, at))
READ(pread64, (int fd, void *bytes, size_t n, off64_t at), (fd, bytes, n, at))
READ(readv, (int fd, const struct iovec *v, int n), (fd, v, n))
READ(recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
WRITE(write, (int fd, const void *bytes, size_t n), (fd, bytes, n))
WRITE(writev, (int fd, const struct iovec *v, int n), (fd, v, n))
WRITE(sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
CALL("pwrite", ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t at), (fd, bytes, n, at))
CALL("pwrite", ssize_t, pwrite64, (int fd, const void *bytes, size_t n, off64_t at),
     (fd, bytes, n, at))
CALL("pwrite", ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
CALL("sync", int, fdatasync, (int fd), (fd))
CALL("sync", int, fsync, (int fd), (fd))
CALL("sync", int, msync, (void *at, size_t n, int flags), (at, n, flags))
CALL("rename", int, rename, (const char *from, const char *to), (from, to))
CALL("rename", int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
CALL("rename", int, link, (const char *from, const char *to), (from, to))
CALL("mkdir", int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL("mkdir", int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
CALL("unlink", int, unlink, (const char *path), (path))
CALL("unlink", int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CALL("unlink", int, rmdir, (const char *path), (path))
CALL("ftruncate", int, ftruncate, (int fd, off_t size), (fd, size))
CALL("ftruncate", int, ftruncate64, (int fd, off64_t size), (fd, size))
CALL("flock", int, flock, (int fd, int how), (fd, how))
CALL("statvfs", int, statvfs, (const char *path, struct statvfs *out), (path, out))

/* ---- memory, processes, threads ---- */

CALL("mmap", void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t from),
     (at, n, protection, flags, fd, from))
CALL("mmap", void *, mmap64, (void *at, size_t n, int protection, int flags, int fd, off64_t from),
     (at, n, protection, flags, fd, from))
CALL("clone", pid_t, fork, (void), ())
CALL("pidfd_open", int, pidfd_open, (pid_t pid, unsigned flags), (pid, flags))

/* Must be left by a jump, not by a return: the child would use up the frame. */
__attribute__((optimize("O2", "no-stack-protector"))) pid_t vfork(void)
{
	pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "vfork");

	if (faulty_now("clone"))
		return -1;
	return next();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	return faulty_now("clone") ? faulty.error
				   : NEXT(posix_spawn)(pid, path, actions, attributes, argv, env);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *arg)
{
	return faulty_now("thread") ? faulty.error
				    : NEXT(pthread_create)(thread, attributes, run, arg);
}

/* ---- the loop ---- */

CALL("epoll_create", int, epoll_create1, (int flags), (flags))
CALL("epoll_ctl", int, epoll_ctl, (int e, int op, int fd, struct epoll_event *event),
     (e, op, fd, event))
CALL("epoll_wait", int, epoll_wait, (int e, struct epoll_event *v, int n, int timeout),
     (e, v, n, timeout))
CALL("epoll_wait", int, epoll_pwait,
     (int e, struct epoll_event *v, int n, int timeout, const sigset_t *mask),
     (e, v, n, timeout, mask))
CALL("accept", int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags),
     (fd, a, n, flags))
CALL("socket", int, socket, (int domain, int type, int protocol), (domain, type, protocol))
CALL("socket", int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
CALL("socket", int, listen, (int fd, int n), (fd, n))
CALL("pipe", int, pipe2, (int ends[2], int flags), (ends, flags))
CALL("pipe", int, eventfd, (unsigned start, int flags), (start, flags))
CALL("getrandom", ssize_t, getrandom, (void *bytes, size_t n, unsigned flags), (bytes, n, flags))
