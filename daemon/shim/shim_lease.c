/* shim_lease.c - dpareto-shim: the claim of an attempt, and the record of its end. The daemon
 * relies on both files, so with --beside they are outside of the attempt's directory, where no
 * trainer cleans up; the directory has them under their usual names, too. A random token in both
 * proves that the shim with the claim wrote the record, not a trainer. The record is made before
 * anything starts, at its largest size, so that a full disk cannot keep it from being written. */
#include "daemon/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYNC_MIN_SECONDS     1.0 /* results of longer runs are worth a disk sync */
#define RECORD_RETRY_SECONDS 3.0 /* time to retry writing exit.json */

enum {
	RECORD_LEN = 640, /* upper limit */
	UNIQUE_LEN = 80
};

/* This process's start time in clock ticks since boot, unique with the pid. 0 without /proc. */
static unsigned long long own_start_time(void)
{
	unsigned long long ticks = 0;
	char text[1024], *p;
	ssize_t n;
	int fd;

	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* the second field is the program's name and may contain spaces and ')' */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		sscanf(p, "%llu", &ticks);
	return ticks;
}

/* ---- the claim ---- */

/* The path of a file outside of the attempt's directory, or without --beside its name inside. */
static void shim_file_name(const struct shim *s, char out[PATH_MAX], const char *beside,
			   const char *inside)
{
	if (s->opt.lease_prefix)
		snprintf(out, PATH_MAX, "%s.%s", s->opt.lease_prefix, beside);
	else
		snprintf(out, PATH_MAX, "%s", inside);
}

/* A name unique to this process, also against the same pid on another machine. */
static void shim_unique_name(const struct shim *s, const char *what, char out[UNIQUE_LEN])
{
	struct utsname machine;

	if (uname(&machine) != 0)
		machine.nodename[0] = '\0';
	snprintf(out, UNIQUE_LEN, "%s.%d.%.40s", what, (int)s->own_pid, machine.nodename);
}

enum lock_mode {
	LOCK_NONE,
	LOCK_IF_POSSIBLE, /* network file systems may have no locks */
	LOCK_REQUIRED
};

static bool apply_lock_mode(int fd, enum lock_mode lock)
{
	return lock == LOCK_NONE || flock(fd, LOCK_EX | LOCK_NB) == 0 || lock == LOCK_IF_POSSIBLE;
}

/* Makes a new file with this content, optionally locked. An existing one can only be from a trainer
 * or an earlier process with this pid, and is replaced. */
static int shim_create_file(const char *name, const char *text, size_t len, enum lock_mode lock)
{
	int fd, e;

	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	if (apply_lock_mode(fd, lock) && write(fd, text, len) == (ssize_t)len)
		return fd;
	e = errno;
	close(fd);
	unlink(name);
	errno = e;
	return -1;
}

/* Without random numbers there is no token. */
static void shim_lease_draw_token(struct shim *s)
{
	unsigned char bytes[TOKEN_LEN / 2];

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return;
	for (size_t i = 0; i < sizeof bytes; i++)
		sprintf(s->lease_token + 2 * i, "%02x", bytes[i]);
}

static void shim_record_reserve(struct shim *s)
{
	char blanks[RECORD_LEN], beside[UNIQUE_LEN], inside[40];

	memset(blanks, ' ', sizeof blanks);
	shim_unique_name(s, "exit", beside);
	snprintf(inside, sizeof inside, "exit.json.%d.tmp", (int)s->own_pid);
	shim_file_name(s, s->record_path, beside, inside);
	s->record_fd = shim_create_file(s->record_path, blanks, sizeof blanks, LOCK_NONE);
	if (s->record_fd < 0)
		shim_die("cannot create", s->record_path);
}

/* The attempt is claimed: gives the record the name that the daemon knows. */
static void shim_record_take_name(struct shim *s)
{
	char name[PATH_MAX];

	if (!s->opt.lease_prefix)
		return;
	shim_file_name(s, name, "exit", "");
	if (rename(s->record_path, name) == 0)
		strcpy(s->record_path, name);
}

/* Undoes the preparations for an attempt that another process has claimed. */
static _Noreturn void shim_lease_abort(struct shim *s, const char *made, const char *name,
				       int error)
{
	unlink(made);
	unlink(s->record_path);
	shim_cgroup_remove(s);
	if (error == EEXIST)
		exit(EXIT_LEASE_TAKEN);
	errno = error;
	shim_die("cannot create", name);
}

/* link(), which refuses an existing name as O_EXCL does. A network file system may report failure
 * although it succeeded, if a reply was lost and the request repeated: the file then has two
 * names. */
static bool shim_lease_link(const char *made, const char *name)
{
	struct stat st;
	int e;

	if (link(made, name) == 0)
		return true;
	e = errno;
	if (stat(made, &st) == 0 && st.st_nlink == 2)
		return true;
	errno = e;
	return false;
}

/* The file is first written and locked under another name, so that a claim is never seen empty or
 * unlocked while its owner lives. The descriptor, and with it the lock, is kept until this process
 * ends. */
void shim_lease_acquire(struct shim *s)
{
	enum lock_mode lock = s->opt.is_remote ? LOCK_IF_POSSIBLE : LOCK_REQUIRED;
	unsigned long long start = own_start_time();
	char made[PATH_MAX], name[PATH_MAX], unique[UNIQUE_LEN], text[PATH_MAX + 128];
	int n;

	shim_record_reserve(s);
	shim_lease_draw_token(s);
	shim_cgroup_create(s, start);
	shim_unique_name(s, "claim", unique);
	shim_file_name(s, made, unique, unique);
	shim_file_name(s, name, "claim", "claim");
	n = snprintf(text, sizeof text, "%d %llu\n%s%s%s%s%s%s", (int)s->own_pid, start,
		     s->lease_token[0] ? "token " : "", s->lease_token,
		     s->lease_token[0] ? "\n" : "", s->cgroup_dir[0] ? "cgroup " : "",
		     s->cgroup_dir, s->cgroup_dir[0] ? "\n" : "");
	if (shim_create_file(made, text, (size_t)n, lock) < 0 || !shim_lease_link(made, name))
		shim_lease_abort(s, made, name, errno);
	/* an existing one was made by a version without --beside */
	if (s->opt.lease_prefix && link(made, "claim") != 0 && errno == EEXIST)
		shim_lease_abort(s, made, "claim", EEXIST);
	unlink(made);
	shim_record_take_name(s);
}

/* ---- the record ---- */

static const char *error_name(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "EUNKNOWN";
}

/* Why output of the trainer may be lost: it could not be kept, or the trainer failed while the disk
 * is not writable. A trainer that could not report may still exit with 0 on a read-only disk. An
 * errno, or 0. */
static int shim_lost_output_errno(const struct shim *s)
{
	struct statvfs v;

	for (int i = 0; i < 2; i++)
		if (s->outputs[i].first_errno)
			return s->outputs[i].first_errno;
	if (s->start_errno || statvfs(".", &v) != 0)
		return 0;
	if (v.f_flag & ST_RDONLY)
		return EROFS;
	if (s->exit_status == 0)
		return 0;
	return v.f_bavail == 0 || (v.f_files > 0 && v.f_favail == 0) ? ENOSPC : 0;
}

static double shim_timeval_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Formats exit.json as one line and returns its length. */
static int shim_record_format(const struct shim *s, char *text, size_t room)
{
	struct rusage used;
	char how[64], lost[64] = "", limit[48] = "", token[TOKEN_LEN + 16] = "";
	int trouble = shim_lost_output_errno(s);
	uint64_t peak;

	if (s->start_errno) {
		snprintf(how, sizeof how, "\"exec\":\"%s\"", error_name(s->start_errno));
	} else if (WIFSIGNALED(s->exit_status)) {
		snprintf(how, sizeof how, "\"signal\":%d", WTERMSIG(s->exit_status));
	} else {
		snprintf(how, sizeof how, "\"code\":%d", WEXITSTATUS(s->exit_status));
	}
	if (trouble)
		snprintf(lost, sizeof lost, ",\"output_lost\":\"%s\"", error_name(trouble));
	if (s->opt.memory_limit)
		snprintf(limit, sizeof limit, "\"memory_limit\":%llu,",
			 (unsigned long long)s->opt.memory_limit);
	if (s->lease_token[0])
		snprintf(token, sizeof token, ",\"token\":\"%s\"", s->lease_token);
	getrusage(RUSAGE_CHILDREN, &used);
	peak = (uint64_t)used.ru_maxrss * 1024; /* of one process */
	peak = s->memory.peak > peak ? s->memory.peak : peak;
	return snprintf(
		text, room,
		"{%s%s%s%s%s,\"start\":%lld.%06ld,\"end\":%lld.%06ld,"
		"\"cpu_seconds\":%.6f,%s\"peak_memory\":%llu,"
		"\"stdout_bytes\":%llu,\"stderr_bytes\":%llu%s%s%s}\n",
		s->timed_out ? "\"timeout\":true," : "",
		s->memory.exceeded ? "\"memory\":true," : "", s->stalled ? "\"stalled\":true," : "",
		s->cancelled ? "\"cancelled\":true," : "", how, (long long)s->wall_start.tv_sec,
		s->wall_start.tv_nsec / 1000, (long long)s->wall_end.tv_sec,
		s->wall_end.tv_nsec / 1000,
		shim_timeval_seconds(used.ru_utime) + shim_timeval_seconds(used.ru_stime), limit,
		(unsigned long long)peak, (unsigned long long)s->outputs[0].bytes_seen,
		(unsigned long long)s->outputs[1].bytes_seen, lost,
		s->orphans_left ? ",\"left_behind\":true" : "", token);
}

/* Renames the record to exit.json; moves a directory that a trainer made there out of the way. */
static bool shim_record_publish(const struct shim *s)
{
	return rename(s->record_path, "exit.json") == 0 ||
	       (rename("exit.json", "exit.json.moved") == 0 &&
		rename(s->record_path, "exit.json") == 0);
}

/* True if the path still leads to the reserved file. */
static bool shim_record_exists(const struct shim *s)
{
	struct stat ours, found;

	return fstat(s->record_fd, &ours) == 0 && lstat(s->record_path, &found) == 0 &&
	       ours.st_dev == found.st_dev && ours.st_ino == found.st_ino;
}

static bool shim_record_write(struct shim *s, const char *text, size_t len, bool sync)
{
	/* without --beside a trainer may have emptied its directory */
	if (!shim_record_exists(s)) {
		close(s->record_fd);
		s->record_fd = shim_create_file(s->record_path, text, len, LOCK_NONE);
	}
	return s->record_fd >= 0 && pwrite(s->record_fd, text, len, 0) == (ssize_t)len &&
	       ftruncate(s->record_fd, (off_t)len) == 0 && (!sync || fdatasync(s->record_fd) == 0);
}

static void sync_result(void)
{
	int fd = open("result.jsonl", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	fdatasync(fd);
	close(fd);
}

/* Waits for a read-only disk, where the reserved space does not help: without the record a finished
 * run would be repeated. */
bool shim_record_end(struct shim *s)
{
	double give_up = shim_now() + RECORD_RETRY_SECONDS;
	bool sync = shim_now() - s->started > SYNC_MIN_SECONDS, written;
	char text[RECORD_LEN];
	int len = shim_record_format(s, text, sizeof text), error;

	/* repeating a long run after a power cut costs more than a sync */
	if (sync)
		sync_result();
	for (;;) {
		written = shim_record_write(s, text, (size_t)len, sync);
		if (written && shim_record_publish(s))
			return true;
		error = errno;
		/* the trainer removed its directory: the daemon finds the record outside */
		if ((shim_now() >= give_up && error != EROFS) ||
		    (written && s->opt.lease_prefix && error == ENOENT))
			return written && s->opt.lease_prefix;
		sleep_ms(100);
	}
}
