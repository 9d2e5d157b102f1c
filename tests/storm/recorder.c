/* recorder.c - writes down what a daemon does to its journal file, for LD_PRELOAD;
 * powercut.py makes of it what a power cut could have left on the disk.
 *
 * RECORDER_LOG=FILE gets, for every call on a file named data.mdb that succeeded and
 * after it has: a struct tick_step and, of a write, its bytes. A daemon that has answered has
 * all its answer stands on before that length of FILE. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct step {
	char what;     /* 'w'rite, 's'ync, 't'runcate */
	char sync;     /* a write that is durable when it returns (O_DSYNC) */
	char pad[6];   /* zero */
	uint64_t at;   /* where it wrote; the new length */
	uint64_t size; /* bytes that follow */
};

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;

static bool is_journal(int fd)
{
	static const char name[] = "/data.mdb";
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path);
	return n >= (ssize_t)sizeof name &&
	       memcmp(path + n - (sizeof name - 1), name, sizeof name - 1) == 0;
}

static void recorder_put(const void *bytes, size_t n)
{
	if (NEXT(write)(log_fd, bytes, n) != (ssize_t)n)
		abort();
}

/* The buffers hold at least what was written. */
static void recorder_note(char what, int fd, uint64_t at, const struct iovec *v, uint64_t size)
{
	struct step step = { .what = what, .at = at, .size = size };
	int before = errno;

	step.sync = what == 'w' && (fcntl(fd, F_GETFL) & (O_DSYNC | O_SYNC)) != 0;
	pthread_mutex_lock(&mutex);
	if (log_fd < 0)
		log_fd = open(getenv("RECORDER_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			      0644);
	if (log_fd < 0)
		abort();
	recorder_put(&step, sizeof step);
	for (; size > 0; v++) {
		uint64_t n = v->iov_len < size ? v->iov_len : size;

		recorder_put(v->iov_base, n);
		size -= n;
	}
	pthread_mutex_unlock(&mutex);
	errno = before;
}

static ssize_t wrote(int fd, off_t at, const struct iovec *v, ssize_t n)
{
	if (n > 0 && is_journal(fd))
		recorder_note('w', fd, (uint64_t)at, v, (uint64_t)n);
	return n;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	struct iovec v = { (void *)bytes, n };

	return wrote(fd, at, &v, NEXT(pwrite)(fd, bytes, n, at));
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
	return wrote(fd, at, v, NEXT(pwritev)(fd, v, n, at));
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	struct iovec v = { (void *)bytes, n };
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t written = NEXT(write)(fd, bytes, n);

	return at < 0 ? written : wrote(fd, at, &v, written);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t written = NEXT(writev)(fd, v, n);

	return at < 0 ? written : wrote(fd, at, v, written);
}

static int done(char what, int fd, uint64_t at, int code)
{
	if (code == 0 && is_journal(fd))
		recorder_note(what, fd, at, NULL, 0);
	return code;
}

int fdatasync(int fd)
{
	return done('s', fd, 0, NEXT(fdatasync)(fd));
}

int fsync(int fd)
{
	return done('s', fd, 0, NEXT(fsync)(fd));
}

int ftruncate(int fd, off_t size)
{
	return done('t', fd, (uint64_t)size, NEXT(ftruncate)(fd, size));
}
