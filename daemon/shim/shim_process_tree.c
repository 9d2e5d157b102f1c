/* shim_process_tree.c - dpareto-shim: tracks and kills all descendants of the trainer. This process
 * is their subreaper, so orphans of any depth come to it. A cgroup, if available, also holds them
 * together when this process is killed. */
#include "daemon/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORPHAN_KILL_SECONDS 5.0 /* time to kill what the trainer left behind */

enum {
	REAP_BATCH = 1024,
	BOOT_LEN = 8 /* characters of the boot id in names */
};

/* ---- the cgroup ---- */

static void shim_read_boot_id(char out[BOOT_LEN + 1])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, BOOT_LEN);

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static int shim_cgroup_open(const struct shim *s, const char *file)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "%s/%s", s->cgroup_dir, file);
	return open(path, O_WRONLY | O_CLOEXEC);
}

void shim_cgroup_create(struct shim *s, unsigned long long start)
{
	char boot[BOOT_LEN + 1];
	int n;

	s->cgroup_procs_fd = -1;
	if (!s->opt.cgroup)
		return;
	shim_read_boot_id(boot);
	n = snprintf(s->cgroup_dir, sizeof s->cgroup_dir, "%s/dpareto-%s-%d-%llu", s->opt.cgroup,
		     boot, (int)s->own_pid, start);
	if (n >= (int)sizeof s->cgroup_dir || mkdir(s->cgroup_dir, 0755) != 0) {
		s->cgroup_dir[0] = '\0'; /* continues without a cgroup */
		return;
	}
	s->cgroup_procs_fd = shim_cgroup_open(s, "cgroup.procs");
	if (s->cgroup_procs_fd < 0)
		shim_cgroup_remove(s);
}

void shim_cgroup_remove(struct shim *s)
{
	if (!s->cgroup_dir[0])
		return;
	if (s->cgroup_procs_fd >= 0)
		close(s->cgroup_procs_fd);
	s->cgroup_procs_fd = -1;
	/* fails while a process lives in it; the daemon then removes it */
	rmdir(s->cgroup_dir);
	s->cgroup_dir[0] = '\0';
}

bool shim_cgroup_write(const struct shim *s, const char *file, const char *text)
{
	int fd = s->cgroup_dir[0] ? shim_cgroup_open(s, file) : -1;
	bool written;

	if (fd < 0)
		return false;
	written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return written;
}

/* ---- children ---- */

/* Reaps a batch at a time: a tree that forks fast must not block other work. */
enum reap_result shim_reap_children(struct shim *s)
{
	int status;
	pid_t pid;

	for (int n = 0; n < REAP_BATCH; n++) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return REAP_NO_CHILD_LEFT;
		if (pid == 0)
			return REAP_OTHERS_LIVE;
		if (pid != s->trainer_pid || s->trainer_ended)
			continue;
		clock_gettime(CLOCK_REALTIME, &s->wall_end);
		s->exit_status = status;
		s->trainer_ended = true;
	}
	return REAP_MAYBE_MORE;
}

/* Sends KILL to every child's process group: a group is killed as a whole, which a forking process
 * cannot outrun. An unreaped child keeps its group id from being reused, so no other process is
 * hit. */
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

/* Kills by the cgroup, and child by child in case there is none. */
void kill_tree(const struct shim *s)
{
	shim_cgroup_write(s, "cgroup.kill", "1");
	kill_children();
}

/* The trainer has ended: kills its descendants. Orphans of any depth come to this process as their
 * subreaper, so nothing is left when it has no child. */
void shim_kill_orphans(struct shim *s)
{
	double give_up = shim_now() + ORPHAN_KILL_SECONDS;
	enum reap_result reaped;

	while ((reaped = shim_reap_children(s)) != REAP_NO_CHILD_LEFT) {
		struct pollfd p = { .fd = s->signal_fd, .events = POLLIN };

		if (shim_now() >= give_up) {
			s->orphans_left = true;
			return;
		}
		kill_tree(s);
		if (reaped == REAP_OTHERS_LIVE && poll(&p, 1, 5) > 0)
			read_signals(s);
	}
}
