/* process.c - a process that stays alive and answers lines.
 *
 * It runs below dpareto-shim --oracle, which ends it with all that it has started once
 * the other end of its stdin is closed: by us, or by a kernel that has killed us. */
#include "oracle/oracle_internal.h"

#include "base/num.h"

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
	LOOK_MS = 50, /* so often it is looked whether the question is given up */
	CHUNK = 4096,
	CHUNKS = 64 /* of stderr at a time: one that never stops talking has its limit,
		       too */
};

bool dp__given_up(const struct dp__patience *p)
{
	return atomic_load(p->over) || (p->cancel && atomic_load(p->cancel));
}

/* ---- its beginning ---- */

/* Three pipes, our ends first. 0 or an errno. */
static int process_pipes(int ours[3], int theirs[3])
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

static int process_spawn(struct dp__process *p, const struct dp_program_command *command,
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

int dp__process_start(struct dp__process *p, const struct dp_program_command *command)
{
	int ours[3], theirs[3], e;

	dp__process_reap(p, true); /* never two at once */
	e = process_pipes(ours, theirs);
	if (e != 0)
		return e;
	e = process_spawn(p, command, theirs);
	for (int i = 0; i < 3; i++) {
		close(theirs[i]);
		if (e != 0)
			close(ours[i]);
	}
	if (e != 0)
		return e;
	atomic_fetch_add(p->running, 1);
	p->in = ours[0];
	p->out = ours[1];
	p->error = ours[2];
	p->heard.len = 0;
	p->nwords = 0;
	return 0;
}

/* ---- its end ---- */

static void process_close(struct dp__process *p)
{
	close(p->in);
	close(p->out);
	close(p->error);
	p->ending = p->pid;
	p->pid = 0;
	atomic_fetch_sub(p->running, 1);
}

bool dp__process_reap(struct dp__process *p, bool wait)
{
	pid_t gone;

	if (p->ending == 0)
		return true;
	if (wait) /* no longer than it must */
		kill(p->ending, SIGTERM);
	do
		gone = waitpid(p->ending, &p->status, wait ? 0 : WNOHANG);
	while (gone < 0 && errno == EINTR);
	if (gone == 0)
		return false;
	p->ending = 0;
	return true;
}

/* ---- what it says ---- */

/* Keeps the end of what it says on stderr. */
static void process_words(struct dp__process *p)
{
	char chunk[CHUNK];
	ssize_t n;

	for (int i = 0; i < CHUNKS && (n = read(p->error, chunk, sizeof chunk)) > 0; i++) {
		size_t most = (size_t)n < DP__WORDS ? (size_t)n : DP__WORDS;
		size_t keep = p->nwords < DP__WORDS - most ? p->nwords : DP__WORDS - most;

		memmove(p->words, p->words + p->nwords - keep, keep);
		memcpy(p->words + keep, chunk + n - most, most);
		p->nwords = keep + most;
	}
}

/* The last line of them, printable. */
static void process_last_line(const struct dp__process *p, char *out, size_t room)
{
	size_t end = p->nwords, from, n;

	while (end > 0 && strchr("\n\r\t ", p->words[end - 1]))
		end--;
	for (from = end; from > 0 && p->words[from - 1] != '\n'; from--)
		;
	n = end - from < room - 1 ? end - from : room - 1;
	memcpy(out, p->words + from, n);
	out[n] = '\0';
	for (char *c = out; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

void dp__process_words(const struct dp__process *p, bool ended, char *out, size_t room)
{
	char line[200];
	int n = 0;

	process_last_line(p, line, sizeof line);
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

/* It has closed its stdout, which its shim has open as long as it lives. */
static enum dp__heard process_ended(struct dp__process *p)
{
	process_words(p);
	process_close(p);
	dp__process_reap(p, true);
	return DP__HEARD_END;
}

void dp__process_end(struct dp__process *p, bool now)
{
	if (p->pid == 0)
		return;
	process_words(p);
	if (now)
		kill(p->pid, SIGTERM); /* not reaped yet: the number is its own */
	process_close(p);
}

/* Takes in what it has written; DP__HEARD_NONE: no whole line yet. */
static enum dp__heard process_listen(struct dp__process *p)
{
	char chunk[CHUNK];
	ssize_t n;
	char *end;

	while ((n = read(p->out, chunk, sizeof chunk)) > 0) {
		dp_buf_add(&p->heard, chunk, (size_t)n);
		if (p->heard.failed)
			return DP__HEARD_NO_MEMORY;
		end = memchr(p->heard.data + p->heard.len - n, '\n', (size_t)n);
		if (end && end + 1 < p->heard.data + p->heard.len)
			return DP__HEARD_MORE;
		if (p->heard.len > DP_ANSWER_LINE_MAX)
			return DP__HEARD_LONG;
		if (end) {
			p->heard.len--;
			return DP__HEARD_LINE;
		}
	}
	if (n == 0)
		return process_ended(p);
	return DP__HEARD_NONE;
}

/* What it has said before the question is too much. */
static enum dp__heard process_is_silent(struct dp__process *p)
{
	enum dp__heard heard;

	p->heard.len = 0;
	heard = process_listen(p);
	if (heard == DP__HEARD_END || heard == DP__HEARD_NO_MEMORY)
		return heard;
	return p->heard.len > 0 ? DP__HEARD_MORE : DP__HEARD_NONE;
}

/* Writes what it takes of the question. One that has ended takes nothing: its stdout
 * tells. */
static void process_tell(struct dp__process *p, const struct dp_buf *text, size_t *told)
{
	ssize_t n = write(p->in, text->data + *told, text->len - *told);

	if (n > 0)
		*told += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		*told = text->len;
}

enum dp__heard dp__process_ask(struct dp__process *p, const struct dp_buf *text,
			       const struct dp__patience *patience)
{
	enum dp__heard heard = process_is_silent(p);
	size_t told = 0;

	while (heard == DP__HEARD_NONE) {
		struct pollfd f[3] = {
			{ .fd = p->out, .events = POLLIN },
			{ .fd = p->error, .events = POLLIN },
			{ .fd = told < text->len ? p->in : -1, .events = POLLOUT },
		};
		int64_t left = (patience->until - dp_mono_us()) / 1000;

		if (dp__given_up(patience))
			return DP__HEARD_GIVEN_UP;
		if (left <= 0)
			break;
		if (poll(f, 3, left < LOOK_MS ? (int)left + 1 : LOOK_MS) <= 0)
			continue;
		if (f[1].revents)
			process_words(p);
		if (f[2].revents)
			process_tell(p, text, &told);
		if (f[0].revents)
			heard = process_listen(p);
	}
	return heard;
}
