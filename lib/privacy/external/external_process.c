/* external_process.c - the process of an external accountant: start, query, stop.
 *
 * It runs below dpareto-shim --oracle. The shim ends it and all its children when the other end of
 * the shim's stdin closes, which also happens when this process is killed. */
#include "privacy/external/external_internal.h"

#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CANCEL_POLL_MS = 50, /* interval of checks for cancellation */
	CHUNK = 4096,
	STDERR_CHUNKS_MAX = 64 /* of stderr at a time, in case it never stops writing */
};

bool dp__external_is_cancelled(const struct dp__external_wait *p)
{
	return atomic_load(p->closed) || (p->cancel && atomic_load(p->cancel));
}

/* ---- start ---- */

/* Opens three pipes. Returns 0 or an errno. */
static int external_open_pipes(int ours[3], int theirs[3])
{
	int ends[2], n = 0, e = 0;

	for (; n < 3 && e == 0; n++) {
		if (pipe2(ends, O_CLOEXEC) != 0) {
			e = errno;
			break;
		}
		ours[n] = ends[n == 0];
		theirs[n] = ends[n != 0];
		if (fcntl(ours[n], F_SETFL, O_NONBLOCK) != 0)
			e = errno;
	}
	for (int i = 0; i < n && e != 0; i++) {
		close(ours[i]);
		close(theirs[i]);
	}
	return e;
}

static int external_spawn(struct dp__external_process *p, const struct dp_external_command *command,
			  const int theirs[3])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_adddup2(&files, theirs[fd], fd);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	e = posix_spawn(&p->pid, command->argv[0], &files, &attr, command->argv, command->env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (e != 0)
		p->pid = 0;
	return e;
}

int dp__external_process_start(struct dp__external_process *p,
			       const struct dp_external_command *command)
{
	int ours[3], theirs[3], e;

	dp__external_process_reap(p, true); /* never two processes at once */
	e = external_open_pipes(ours, theirs);
	if (e != 0)
		return e;
	e = external_spawn(p, command, theirs);
	for (int i = 0; i < 3; i++) {
		close(theirs[i]);
		if (e != 0)
			close(ours[i]);
	}
	if (e != 0)
		return e;
	atomic_fetch_add(p->running_count, 1);
	p->stdin_fd = ours[0];
	p->stdout_fd = ours[1];
	p->stderr_fd = ours[2];
	p->reply.len = 0;
	p->stderr_len = 0;
	return 0;
}

/* ---- stop ---- */

static void external_close_pipes(struct dp__external_process *p)
{
	close(p->stdin_fd);
	close(p->stdout_fd);
	close(p->stderr_fd);
	p->ending_pid = p->pid;
	p->pid = 0;
	atomic_fetch_sub(p->running_count, 1);
}

bool dp__external_process_reap(struct dp__external_process *p, bool wait)
{
	pid_t gone;

	if (p->ending_pid == 0)
		return true;
	if (wait) /* terminate now, to keep the wait short */
		kill(p->ending_pid, SIGTERM);
	do
		gone = waitpid(p->ending_pid, &p->status, wait ? 0 : WNOHANG);
	while (gone < 0 && errno == EINTR);
	if (gone == 0)
		return false;
	p->ending_pid = 0;
	return true;
}

/* ---- output ---- */

static void external_read_stderr(struct dp__external_process *p)
{
	char chunk[CHUNK];
	ssize_t n;

	for (int i = 0; i < STDERR_CHUNKS_MAX && (n = read(p->stderr_fd, chunk, sizeof chunk)) > 0;
	     i++) {
		size_t most = (size_t)n < DP__STDERR_TAIL_MAX ? (size_t)n : DP__STDERR_TAIL_MAX;
		size_t keep = p->stderr_len < DP__STDERR_TAIL_MAX - most
				      ? p->stderr_len
				      : DP__STDERR_TAIL_MAX - most;

		memmove(p->stderr_tail, p->stderr_tail + p->stderr_len - keep, keep);
		memcpy(p->stderr_tail + keep, chunk + n - most, most);
		p->stderr_len = keep + most;
	}
}

/* The last line of stderr, printable. */
static void external_stderr_last_line(const struct dp__external_process *p, char *out, size_t room)
{
	size_t end = p->stderr_len, from, n;

	while (end > 0 && strchr("\n\r\t ", p->stderr_tail[end - 1]))
		end--;
	for (from = end; from > 0 && p->stderr_tail[from - 1] != '\n'; from--)
		;
	n = end - from < room - 1 ? end - from : room - 1;
	memcpy(out, p->stderr_tail + from, n);
	out[n] = '\0';
	for (char *c = out; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

void dp__external_process_end_text(const struct dp__external_process *p, bool ended, char *out,
				   size_t room)
{
	char line[200];
	int n = 0;

	external_stderr_last_line(p, line, sizeof line);
	out[0] = '\0';
	if (ended && WIFSIGNALED(p->status))
		n = snprintf(out, room, "signal %d, %s", WTERMSIG(p->status),
			     strsignal(WTERMSIG(p->status)));
	else if (ended)
		n = snprintf(out, room, "exit code %d", WEXITSTATUS(p->status));
	if (line[0] && n >= 0 && (size_t)n < room)
		snprintf(out + n, room - (size_t)n, "%sits last line on stderr: %s", n ? "; " : "",
			 line);
}

/* Its stdout is closed. The shim keeps it open for as long as it lives. */
static enum dp__external_reply external_on_eof(struct dp__external_process *p)
{
	external_read_stderr(p);
	external_close_pipes(p);
	dp__external_process_reap(p, true);
	return DP__REPLY_EXITED;
}

void dp__external_process_stop(struct dp__external_process *p, bool now)
{
	if (p->pid == 0)
		return;
	external_read_stderr(p);
	if (now)
		kill(p->pid, SIGTERM); /* not reaped yet, so the pid is still valid */
	external_close_pipes(p);
}

/* Reads its output. DP__REPLY_TIMEOUT: no complete line yet. */
static enum dp__external_reply external_read_stdout(struct dp__external_process *p)
{
	char chunk[CHUNK];
	ssize_t n;
	char *end;

	while ((n = read(p->stdout_fd, chunk, sizeof chunk)) > 0) {
		dp_buf_add(&p->reply, chunk, (size_t)n);
		end = memchr(p->reply.data + p->reply.len - n, '\n', (size_t)n);
		if (end && end + 1 < p->reply.data + p->reply.len)
			return DP__REPLY_UNEXPECTED;
		if (p->reply.len > DP_EXTERNAL_LINE_MAX)
			return DP__REPLY_TOO_LONG;
		if (end) {
			p->reply.len--;
			return DP__REPLY_LINE;
		}
	}
	if (n == 0)
		return external_on_eof(p);
	return DP__REPLY_TIMEOUT;
}

/* Output before a query is an error. */
static enum dp__external_reply external_check_silent(struct dp__external_process *p)
{
	enum dp__external_reply reply;

	p->reply.len = 0;
	reply = external_read_stdout(p);
	if (reply == DP__REPLY_EXITED)
		return reply;
	return p->reply.len > 0 ? DP__REPLY_UNEXPECTED : DP__REPLY_TIMEOUT;
}

/* Writes as much of the query as the pipe takes. If the process has ended, its stdout shows it. */
static void external_write_query(struct dp__external_process *p, const struct dp_buf *text,
				 size_t *told)
{
	ssize_t n = write(p->stdin_fd, text->data + *told, text->len - *told);

	if (n > 0)
		*told += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		*told = text->len;
}

enum dp__external_reply dp__external_process_query(struct dp__external_process *p,
						   const struct dp_buf *text,
						   const struct dp__external_wait *wait_limit)
{
	enum dp__external_reply reply = external_check_silent(p);
	size_t told = 0;

	while (reply == DP__REPLY_TIMEOUT) {
		struct pollfd f[3] = {
			{ .fd = p->stdout_fd, .events = POLLIN },
			{ .fd = p->stderr_fd, .events = POLLIN },
			{ .fd = told < text->len ? p->stdin_fd : -1, .events = POLLOUT },
		};
		int64_t left = (wait_limit->deadline_us - dp_monotonic_us()) / 1000;

		if (dp__external_is_cancelled(wait_limit))
			return DP__REPLY_CANCELLED;
		if (left <= 0)
			break;
		if (poll(f, 3, left < CANCEL_POLL_MS ? (int)left + 1 : CANCEL_POLL_MS) <= 0)
			continue;
		if (f[1].revents)
			external_read_stderr(p);
		if (f[2].revents)
			external_write_query(p, text, &told);
		if (f[0].revents)
			reply = external_read_stdout(p);
	}
	return reply;
}
