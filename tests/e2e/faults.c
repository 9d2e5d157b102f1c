/* faults.c - a preload that makes system calls fail, as the file $DPARETO_FAULTS says at
 * that moment: lines of a name and an errno. A name is the last part of a path that
 * cannot be opened or made, or "spawn", "pidfd", which fail, or "term": what was spawned
 * gets TERM at once. tests/e2e/test_trouble.py compiles and uses it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The errno for this name now; 0: none. */
static int fault(const char *name)
{
	const char *file = getenv("DPARETO_FAULTS");
	char text[512], *line, *rest = NULL;
	int fd = file ? (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t len = strlen(name);

		if (strncmp(line, name, len) == 0 && line[len] == ' ')
			return atoi(line + len + 1);
	}
	return 0;
}

static int fault_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return fault(slash ? slash + 1 : path);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	int e = fault_path(path);

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (e) {
		errno = e;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int mkdir(const char *path, mode_t mode)
{
	int e = fault("mkdir");

	if (e) {
		errno = e;
		return -1;
	}
	return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int pidfd_open(pid_t pid, unsigned flags)
{
	int e = fault("pidfd");

	if (e) {
		errno = e;
		return -1;
	}
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
		     const posix_spawnattr_t *, char *const[], char *const[]);

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
	spawn_fn *real = (spawn_fn *)dlsym(RTLD_NEXT, "posix_spawn");
	int e = fault("spawn");

	if (e)
		return e;
	e = real(pid, path, actions, attr, argv, env);
	if (e == 0 && fault("term"))
		kill(*pid, SIGTERM);
	return e;
}
