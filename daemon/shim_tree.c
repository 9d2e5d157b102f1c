/* shim_tree.c - dpareto-shim: everything that descends from the trainer. Orphans of any
 * depth come to this process as their subreaper; a cgroup, where there is one, also holds
 * them together when this process is killed. */
#include "daemon/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEFTOVER_SECONDS 5.0 /* how long to hunt what the trainer left behind */

enum {
	REAP_BATCH = 1024,
	BOOT_LEN = 8 /* characters of the boot's number that go into a name */
};

/* ---- the cgroup ---- */

static void boot_number(char out[BOOT_LEN + 1])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, BOOT_LEN);

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* A file of the cgroup, for writing. */
static int cgroup_open(const struct shim *s, const char *file)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "%s/%s", s->cgroup, file);
	return open(path, O_WRONLY | O_CLOEXEC);
}

void cgroup_make(struct shim *s, unsigned long long start)
{
	char boot[BOOT_LEN + 1];
	int n;

	s->cgroup_procs = -1;
	if (!s->opt.cgroup)
		return;
	boot_number(boot);
	n = snprintf(s->cgroup, sizeof s->cgroup, "%s/dpareto-%s-%d-%llu", s->opt.cgroup, boot,
		     (int)s->self, start);
	if (n >= (int)sizeof s->cgroup || mkdir(s->cgroup, 0755) != 0) {
		s->cgroup[0] = '\0'; /* then it goes without */
		return;
	}
	s->cgroup_procs = cgroup_open(s, "cgroup.procs");
	if (s->cgroup_procs < 0)
		cgroup_remove(s);
}

void cgroup_remove(struct shim *s)
{
	if (!s->cgroup[0])
		return;
	if (s->cgroup_procs >= 0)
		close(s->cgroup_procs);
	s->cgroup_procs = -1;
	/* not with something alive in it: the daemon goes on with that */
	rmdir(s->cgroup);
	s->cgroup[0] = '\0';
}

bool cgroup_write(const struct shim *s, const char *file, const char *text)
{
	int fd = s->cgroup[0] ? cgroup_open(s, file) : -1;
	bool written;

	if (fd < 0)
		return false;
	written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return written;
}

/* ---- children ---- */

/* Reaps what has ended, a batch at a time: a tree that forks and dies faster than it
 * can be reaped must not keep this process from its other duties. */
enum reaped reap(struct shim *s)
{
	int status;
	pid_t pid;

	for (int n = 0; n < REAP_BATCH; n++) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return REAPED_LAST;
		if (pid == 0)
			return REAPED_ENDED;
		if (pid != s->trainer || s->ended)
			continue;
		clock_gettime(CLOCK_REALTIME, &s->end);
		s->status = status;
		s->ended = true;
	}
	return REAPED_SOME;
}

/* KILL to every child, by groups: a group is killed whole, which a process that keeps
 * forking cannot outrun. A child pins its group's number until it is reaped, so no
 * stranger can be hit. */
static void kill_children(void)
{
	FILE *list = fopen("/proc/thread-self/children", "re");
	pid_t own = getpgrp();
	int pid;

	if (!list)
		return;
	while (fscanf(list, "%d", &pid) == 1) {
		pid_t group = getpgid(pid);

		kill(group > 1 && group != own ? -group : pid, SIGKILL);
	}
	fclose(list);
}

/* Where there is no cgroup, one by one. */
void kill_tree(const struct shim *s)
{
	cgroup_write(s, "cgroup.kill", "1");
	kill_children();
}

/* The trainer has ended; what descends from it has lost its purpose. Orphans of any
 * depth come to this process as their subreaper, so when it has no child there is
 * nothing left. */
void kill_leftovers(struct shim *s)
{
	double give_up = monotonic() + LEFTOVER_SECONDS;
	enum reaped reaped;

	while ((reaped = reap(s)) != REAPED_LAST) {
		struct pollfd p = { .fd = s->signals, .events = POLLIN };

		if (monotonic() >= give_up) {
			s->left_behind = true;
			return;
		}
		kill_tree(s);
		if (reaped == REAPED_ENDED && poll(&p, 1, 5) > 0)
			read_signals(s);
	}
}
