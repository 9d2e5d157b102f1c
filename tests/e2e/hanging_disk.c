/* hanging_disk.c - preloaded: while the file that HANGING_DISK names exists, nothing that
 * was written reaches the disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void wait_for_disk(void)
{
	const char *file = getenv("HANGING_DISK");

	while (file && access(file, F_OK) == 0)
		poll(NULL, 0, 5);
}

int fdatasync(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");

	wait_for_disk();
	return next(fd);
}

int fsync(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");

	wait_for_disk();
	return next(fd);
}

int msync(void *p, size_t len, int flags)
{
	int (*next)(void *, size_t, int) = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "msync");

	wait_for_disk();
	return next(p, len, flags);
}
