/* child_process.c - runs a helper program with a time limit. */
#include "daemon/core/child_process.h"

#include "base/fs.h"
#include "daemon/core/argv.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CHILD_GRACE_US = 5 * 1000000, /* most time from TERM to KILL; no more than its time limit */
	CHILD_PIPE_BYTES = 1 << 20    /* output between two ticks */
};

void child_init(struct child *c, struct daemon *d, void (*ended)(struct child *, int))
{
	*c = (struct child){ .daemon = d, .on_ended = ended, .pidfd = -1, .output_fd = -1 };
}

bool child_is_running(const struct child *c)
{
	return c->pid > 0;
}

/* ---- starting ---- */

int child_open_input(const char *text)
{
	int fd = text ? memfd_create("dpareto-input", MFD_CLOEXEC)
		      : open("/dev/null", O_RDONLY | O_CLOEXEC);
	int e;

	if (fd < 0 || !text)
		return fd;
	if (dp_write_all(fd, text, strlen(text)) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

static int child_spawn(struct child *c, char *const *argv, int input, int output)
{
	/* variables that a service manager set for the daemon only */
	static const char *const ours[] = { "NOTIFY_SOCKET=",  "LISTEN_",
					    "WATCHDOG_",       "CREDENTIALS_DIRECTORY=",
					    "JOURNAL_STREAM=", NULL };
	char **environment = argv_copy_environ(ours);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, 0);
	posix_spawn_file_actions_adddup2(&files, output, 1);
	posix_spawn_file_actions_adddup2(&files, output, 2);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	e = posix_spawnp(&c->pid, argv[0], &files, &attr, argv, environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	free(environment);
	if (e != 0)
		c->pid = 0;
	return e;
}

static void child_close(struct child *c)
{
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->output_fd >= 0)
		close(c->output_fd);
	c->pidfd = c->output_fd = -1;
	c->pid = 0;
}

static int child_spawn_and_watch(struct child *c, char *const *argv, const char *text)
{
	int input = child_open_input(text), output[2], e;

	if (input < 0)
		return errno;
	if (pipe2(output, O_CLOEXEC) != 0) {
		e = errno;
		close(input);
		return e;
	}
	fcntl(output[0], F_SETPIPE_SZ, CHILD_PIPE_BYTES); /* the default size works, too */
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	c->output_fd = output[0];
	e = child_spawn(c, argv, input, output[1]);
	close(input);
	close(output[1]);
	if (e != 0)
		return e;
	c->pidfd = pidfd_open(c->pid, 0);
	e = c->pidfd < 0 ? errno : -uv_poll_init(&c->daemon->loop, &c->poll, c->pidfd);
	if (e == 0)
		return 0;
	kill(-c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	return e;
}

/* ---- output ---- */

/* Keeps the end of the output; reads at most one tick's worth. */
static void child_read_output(struct child *c)
{
	char chunk[65536];
	size_t heard = 0, keep;
	ssize_t n;

	while (heard < CHILD_PIPE_BYTES && (n = read(c->output_fd, chunk, sizeof chunk)) > 0) {
		heard += (size_t)n;
		keep = (size_t)n < CHILD_TAIL_MAX ? CHILD_TAIL_MAX - (size_t)n : 0;
		keep = c->tail_len < keep ? c->tail_len : keep;
		memmove(c->output_tail, c->output_tail + c->tail_len - keep, keep);
		c->tail_len = keep;
		keep = (size_t)n < CHILD_TAIL_MAX ? (size_t)n : CHILD_TAIL_MAX;
		memcpy(c->output_tail + c->tail_len, chunk + n - keep, keep);
		c->tail_len += keep;
		c->output_tail[c->tail_len] = '\0';
	}
}

void child_last_line(const struct child *c, char *out, size_t room)
{
	const char *end = c->output_tail + c->tail_len, *line;

	while (end > c->output_tail && strchr("\n\r\t ", end[-1]))
		end--;
	for (line = end; line > c->output_tail && line[-1] != '\n'; line--)
		;
	snprintf(out, room, "%.*s", (int)(end - line), line);
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = ' ';
}

/* ---- the end ---- */

static void on_child_closed(uv_handle_t *handle)
{
	struct child *c = handle->data;
	int status = 0;

	if (c->daemon->loop_ended)
		return; /* child_kill_and_wait() cleans up */
	child_read_output(c);
	if (c->timed_out) /* kills its children; not reaped, so the pid is not reused */
		kill(-c->pid, SIGKILL);
	waitpid(c->pid, &status, 0);
	child_close(c);
	c->on_ended(c, status);
}

static void on_child_end(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, on_child_closed);
}

int child_start(struct child *c, char *const *argv, const char *input, double seconds)
{
	int e;

	c->tail_len = 0;
	c->output_tail[0] = '\0';
	c->timed_out = c->killed = false;
	e = child_spawn_and_watch(c, argv, input);
	if (e != 0) {
		child_close(c);
		return e;
	}
	fd_limits_restore_for_child(&c->daemon->fd_limits, c->pid);
	c->deadline_us = dp_monotonic_us() + (int64_t)(seconds * 1e6);
	c->grace_us = seconds * 1e6 < CHILD_GRACE_US ? (int64_t)(seconds * 1e6) : CHILD_GRACE_US;
	c->poll.data = c;
	uv_poll_start(&c->poll, UV_READABLE, on_child_end);
	return 0;
}

void child_shorten_deadline(struct child *c, int64_t until)
{
	if (until < c->deadline_us)
		c->deadline_us = until;
}

void child_kill(struct child *c)
{
	if (child_is_running(c))
		kill(-c->pid, SIGKILL); /* not reaped yet, so the pid is not reused */
}

void child_tick(struct child *c)
{
	int64_t now = dp_monotonic_us();

	if (!child_is_running(c))
		return;
	child_read_output(c);
	if (!c->timed_out && now >= c->deadline_us) {
		c->timed_out = true;
		kill(-c->pid, SIGTERM);
	} else if (c->timed_out && !c->killed && now >= c->deadline_us + c->grace_us) {
		c->killed = true;
		child_kill(c);
	}
}

void child_kill_and_wait(struct child *c)
{
	if (!child_is_running(c))
		return;
	child_kill(c);
	waitpid(c->pid, NULL, 0);
	child_close(c);
}
