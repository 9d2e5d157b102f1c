/* writer_lock.c - the lock of the one process that may write to a journal.
 *
 * The lock is on the directory, so that it holds whatever happens to the files in it, and on
 * `writer.lock`, as in version 0.1. flock() belongs to the open file description, which children
 * share until they exec; a child that is killed or stopped before that would hold the lock after
 * our death. So a thread with its own descriptor table holds the descriptors: children never share
 * them, and they close when the process ends. */
#include "journal/store/journal_internal.h"

#include "base/fs.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum {
	LOCK_PID_LEN = 32
};

struct dp__writer_lock {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	const char *dir; /* valid until is_answered */
	bool is_answered, release_requested;
	int error_number;              /* errno of the first failure; 0: locked */
	char holder_pid[LOCK_PID_LEN]; /* of another process that has the lock */
	int fds[2];                    /* directory and file */
};

enum {
	LOCK_TRIES = 5, /* dp_journal_has_writer() locks for a moment */
	LOCK_RETRY_NS = 2000000,
};

static int lock_fd(int fd)
{
	struct timespec nap = { .tv_nsec = LOCK_RETRY_NS };

	for (int tries = 1; fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
		if (fd < 0 || errno != EWOULDBLOCK || tries == LOCK_TRIES)
			return errno;
		nanosleep(&nap, NULL);
	}
	return 0;
}

static void lock_read_pid(int fd, char pid[LOCK_PID_LEN])
{
	ssize_t n = fd >= 0 ? pread(fd, pid, LOCK_PID_LEN - 1, 0) : 0;

	pid[n > 0 ? n : 0] = '\0';
	pid[strcspn(pid, "\n")] = '\0';
}

static bool lock_is_held(int fd)
{
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

bool dp_journal_has_writer(const char *dir, long *pid)
{
	int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int file = openat(folder, "writer.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool held = lock_is_held(folder) || lock_is_held(file);
	char text[LOCK_PID_LEN];
	int64_t number;

	lock_read_pid(file, text);
	if (pid)
		*pid = held && dp_int_parse(text, &number) && number > 0 ? (long)number : 0;
	if (file >= 0)
		close(file);
	if (folder >= 0)
		close(folder);
	return held;
}

static void lock_files(struct dp__writer_lock *l)
{
	int failure;

	l->fds[0] = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	failure = lock_fd(l->fds[0]);
	/* network file systems may not lock directories; the file lock must do there */
	if (failure == EBADF || failure == ENOLCK || failure == EOPNOTSUPP)
		failure = 0;
	l->fds[1] =
		openat(l->fds[0], "writer.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fds[1] < 0 && failure == 0)
		failure = errno;
	if (failure == 0)
		failure = lock_fd(l->fds[1]);
	if (failure != 0)
		lock_read_pid(l->fds[1], l->holder_pid);
	/* the pid is for display; only the lock counts */
	else if (ftruncate(l->fds[1], 0) == 0)
		dprintf(l->fds[1], "%ld\n", (long)getpid());
	l->error_number = failure;
}

static void *lock_thread(void *arg)
{
	struct dp__writer_lock *l = arg;

	/* Where this is not permitted, the lock is as good as that of any program. */
	if (unshare(CLONE_FILES) == 0)
		close_range(0, ~0U, 0);
	lock_files(l);
	pthread_mutex_lock(&l->mutex);
	l->is_answered = true;
	pthread_cond_broadcast(&l->cond);
	while (!l->release_requested)
		pthread_cond_wait(&l->cond, &l->mutex);
	pthread_mutex_unlock(&l->mutex);
	for (size_t i = 0; i < DP_COUNT(l->fds); i++)
		if (l->fds[i] >= 0)
			close(l->fds[i]);
	return NULL;
}

static int lock_start(struct dp__writer_lock *l)
{
	sigset_t all, before;
	int failure;

	sigfillset(&all); /* signals are handled by the program's other threads */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failure = pthread_create(&l->thread, NULL, lock_thread, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failure != 0)
		return failure;
	pthread_mutex_lock(&l->mutex);
	while (!l->is_answered)
		pthread_cond_wait(&l->cond, &l->mutex);
	pthread_mutex_unlock(&l->mutex);
	return 0;
}

int dp__writer_lock_acquire(const char *dir, struct dp__writer_lock **out, struct dp_err *err)
{
	struct dp__writer_lock *l = dp_calloc(1, sizeof *l);
	char pid[LOCK_PID_LEN];
	int failure;

	*l = (struct dp__writer_lock){ .mutex = PTHREAD_MUTEX_INITIALIZER,
				       .cond = PTHREAD_COND_INITIALIZER,
				       .dir = dir,
				       .fds = { -1, -1 } };
	failure = lock_start(l);
	if (failure != 0) {
		free(l);
		return dp_fail(err, DP_E_FAILED, "cannot start the journal's thread: %s",
			       strerror(failure));
	}
	failure = l->error_number;
	if (failure == 0) {
		*out = l;
		return DP_OK;
	}
	memcpy(pid, l->holder_pid, sizeof pid);
	dp__writer_lock_release(l);
	if (failure != EWOULDBLOCK)
		return dp_fail_errno(err, failure, "cannot lock the journal in %s", dir);
	dp_fail(err, DP_E_BUSY, "the journal in %s is being written by another process (pid %s)",
		dir, pid[0] ? pid : "unknown");
	dp_hint(err, "stop that process first, or use another folder");
	return DP_E_BUSY;
}

void dp__writer_lock_release(struct dp__writer_lock *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->mutex);
	l->release_requested = true;
	pthread_cond_broadcast(&l->cond);
	pthread_mutex_unlock(&l->mutex);
	pthread_join(l->thread, NULL);
	pthread_mutex_destroy(&l->mutex);
	pthread_cond_destroy(&l->cond);
	free(l);
}
