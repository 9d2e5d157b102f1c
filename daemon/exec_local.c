/* exec_local.c - the local executor: a trainer is a process of this machine, under a
 * shim that outlives the daemon. */
#include "daemon/executor.h"

#include "base/fs.h"
#include "base/num.h"
#include "daemon/cgroup.h"
#include "daemon/leftover.h"
#include "daemon/sched.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds that a shim has beyond its grace time to end what it is to end, before it is
 * killed: more than it takes by itself (docs/trainer-protocol.md). */
#define END_MARGIN 10.0
/* Seconds after which a killed shim that is still there is reported. */
#define KILLED_SECONDS 5.0

enum {
	COMMAND_LINE_MAX = 64 << 10
};

/* The shim of one attempt. */
struct local {
	struct job *job;
	pid_t pid;
	int pidfd;       /* -1: a child whose number is all we have */
	bool watched;    /* by the loop; else it is asked for every tick */
	bool child;      /* ours to reap, not adopted */
	int status;      /* of a child that was reaped */
	bool cancelling; /* TERM was sent to it */
	bool continued;  /* CONT was: it was stopped */
	/* its limits in seconds, as it was given them; timeout 0: none */
	double timeout, grace;
	/* monotonic seconds: when it started, not later; when it must have ended because
	 * of its timeout, and because it was cancelled (INFINITY: not); when KILL was
	 * sent to it (0: not) */
	double began, timeout_by, cancel_by, killed_at;
	uv_poll_t poll; /* on pidfd */
};

/* ---- watching ---- */

/* A shim of ours that claimed nothing started nothing: the machine did not let it, or it
 * was killed before. */
static void local_never(struct job *j, int status)
{
	struct dp_err err;

	if (WIFSIGNALED(status)) {
		job_never_started(j);
		return;
	}
	dp_fail(&err, DP_E_IO, "dpareto-shim could not make its files in %s", j->folder);
	job_refused(j, &err);
}

/* The shim has ended and l is not watched any more: frees it. */
static void local_ended(struct local *l)
{
	struct job *j = l->job;
	bool failed = l->child && l->status != 0;
	int status = l->status;

	if (l->pidfd >= 0)
		close(l->pidfd);
	free(l);
	j->handle = NULL;
	if (failed && !claim_was_made(j->folder))
		local_never(j, status);
	else
		job_ended(j);
}

static void on_shim_closed(uv_handle_t *h)
{
	struct local *l = h->data;

	if (!l->job->d->closed) /* else local_release() does the rest */
		local_ended(l);
}

/* The pidfd became readable: the shim has ended. */
static void on_shim_end(uv_poll_t *poll, int status, int events)
{
	struct local *l = poll->data;

	(void)status;
	(void)events;
	if (l->child)
		waitpid(l->pid, &l->status, WNOHANG);
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, on_shim_closed);
}

/* Has the loop watch it, if the machine has room for one more. */
static void local_poll(struct local *l)
{
	if (l->pidfd < 0 || uv_poll_init(&l->job->d->loop, &l->poll, l->pidfd) != 0)
		return;
	l->poll.data = l;
	l->watched = true;
	uv_poll_start(&l->poll, UV_READABLE, on_shim_end);
}

static double local_now(void)
{
	return (double)dp_mono_us() / 1e6;
}

static void local_set_limits(struct local *l, double began, double timeout, double grace)
{
	l->began = began;
	l->timeout = timeout;
	l->grace = grace;
	l->cancel_by = INFINITY;
	l->timeout_by = timeout > 0 ? began + timeout + grace + END_MARGIN : INFINITY;
}

/* Takes l over. */
static void local_watch(struct job *j, struct local *l)
{
	char where[40];

	l->job = j;
	j->handle = l;
	local_poll(l);
	if (!l->watched) /* it runs all the same */
		job_log(j, LOG_WARN, "process %d cannot be watched; it is asked for instead",
			(int)l->pid);
	snprintf(where, sizeof where, "process %d", (int)l->pid);
	job_started(j, where);
}

/* Has one that is not watched ended, or can it be watched by now? */
static void local_ask(struct local *l)
{
	struct pollfd look = { .fd = l->pidfd, .events = POLLIN };
	/* the number of a child is its own until it is reaped */
	bool ended = l->child ? waitpid(l->pid, &l->status, WNOHANG) != 0 : poll(&look, 1, 0) == 1;

	if (ended) {
		local_ended(l);
		return;
	}
	if (l->pidfd < 0)
		l->pidfd = pidfd_open(l->pid, 0);
	local_poll(l);
}

/* By pidfd: the number may belong to another process by now, but of a child that is not
 * reaped. */
static bool local_signal(const struct local *l, int sig)
{
	return (l->pidfd < 0 ? kill(l->pid, sig) : pidfd_send_signal(l->pidfd, sig, NULL, 0)) == 0;
}

static void local_release(struct backend *b, struct job *j)
{
	struct local *l = j->handle;

	(void)b;
	if (l->pidfd >= 0)
		close(l->pidfd);
	free(l);
	j->handle = NULL;
}

/* ---- starting ---- */

/* posix_spawn, because uv_spawn of this libuv forks the whole heap. Every signal is
 * blocked, and the shim unblocks none: one that comes before it is ready waits for it. */
static int local_spawn(const char *shim, const struct launch *launch, pid_t *pid,
		       struct dp_err *err)
{
	posix_spawnattr_t attr;
	sigset_t all;
	int e;

	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &all);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	e = posix_spawn(pid, shim, NULL, &attr, launch->argv, launch->env);
	posix_spawnattr_destroy(&attr);
	if (e == 0)
		return DP_OK;
	dp_fail_errno(err, e, "cannot start %s", shim);
	return dp_hint(err, "install it there ('make install')");
}

static int local_start(struct backend *b, struct job *j, struct dp_err *err)
{
	struct launch launch = { 0 };
	struct local *l = calloc(1, sizeof *l);
	int code = l ? launch_prepare(j, err) : dp_fail(err, DP_E_NOMEM, "no memory to start");

	if (code == DP_OK)
		code = launch_command(j, &(struct launch_how){ .cgroup = b->self }, &launch, err);
	if (code == DP_OK)
		code = local_spawn(b->d->at.shim, &launch, &l->pid, err);
	launch_clear(&launch);
	if (code != DP_OK) {
		free(l);
		return code;
	}
	l->child = true;
	local_set_limits(l, local_now(), j->spec->trainer.timeout, j->spec->trainer.grace);
	l->pidfd = pidfd_open(l->pid, 0);
	local_watch(j, l);
	return DP_OK;
}

/* ---- after a restart ---- */

/* As claim_look(), with the shim's pidfd in *l where it lives. The claim is looked at
 * again after the pidfd is open: then the number cannot have been reused. */
static enum claim local_claim(const struct job *j, struct local *l)
{
	enum claim answer;
	long number, again;

	answer = claim_look(j->folder, &number);
	if (answer != CLAIM_HELD)
		return answer;
	l->pid = (pid_t)number;
	l->pidfd = pidfd_open(l->pid, 0);
	if (l->pidfd < 0 && errno != ESRCH)
		return CLAIM_UNKNOWN;
	answer = claim_look(j->folder, &again);
	if (answer == CLAIM_HELD && l->pidfd >= 0)
		return CLAIM_HELD;
	if (l->pidfd >= 0)
		close(l->pidfd);
	if (answer != CLAIM_HELD)
		return answer;
	errno = EAGAIN; /* held, but by no process of ours: look once more */
	return CLAIM_UNKNOWN;
}

/* The limits of an adopted shim are those on its command line: the study may have others
 * by now. Its start is in seconds since boot, which a suspended machine counts and the
 * monotonic clock does not: the limit is never early. */
static void local_find_limits(struct local *l)
{
	double timeout = 0, grace = l->job->spec->trainer.grace, began = local_now();
	struct dp_buf text = DP_BUF_INIT;
	const char *at, *end;
	char path[64];
	bool stopped;

	leftovers_process(l->pid, &stopped, &began);
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)l->pid);
	if (dp_read_start(path, COMMAND_LINE_MAX, &text) != 0)
		dp_buf_clear(&text);
	at = dp_buf_text(&text);
	end = at + text.len;
	while (at < end && strcmp(at, "--") != 0) {
		const char *next = at + strlen(at) + 1;

		if (next < end && strcmp(at, "--timeout") == 0)
			timeout = strtod(next, NULL);
		else if (next < end && strcmp(at, "--grace") == 0)
			grace = strtod(next, NULL);
		at = next;
	}
	dp_buf_free(&text);
	local_set_limits(l, began, timeout, grace);
}

static void local_adopt(struct backend *b, struct job *j)
{
	struct local *l = calloc(1, sizeof *l);
	struct dp_err err;

	(void)b;
	if (!l) {
		job_unknown(j, "out of memory");
	} else if (!claim_is_there(j->folder) && (dp_mkdirs(j->folder, 0755, &err) != DP_OK ||
						  claim_folder(j->folder, &err) != DP_OK)) {
		job_unknown(j, err.msg);
	} else {
		switch (local_claim(j, l)) {
		case CLAIM_OURS:
			job_never_started(j);
			break;
		case CLAIM_FREE:
			job_ended(j);
			break;
		case CLAIM_UNKNOWN:
			job_unknown(j, strerror(errno));
			break;
		case CLAIM_HELD:
			l->job = j;
			local_find_limits(l);
			local_watch(j, l);
			l = NULL;
			break;
		}
	}
	free(l);
}

/* ---- the rest of the table ---- */

static int local_open(struct backend *b, struct dp_err *err)
{
	b->self = cgroup_delegated();
	if (b->self)
		log_line(&b->d->log, LOG_INFO, "", "trainers get cgroups below %s%s",
			 (const char *)b->self,
			 cgroup_limit_memory(b->self) ? "; the kernel keeps their limits of memory"
						      : "");
	if (access(b->d->at.shim, X_OK) == 0)
		return DP_OK;
	dp_fail(err, DP_E_NOT_FOUND, "dpareto-shim is not at %s", b->d->at.shim);
	return dp_hint(err, "install it there ('make install')");
}

static void local_close(struct backend *b)
{
	free(b->self);
}

static bool local_end_leftovers(const struct backend *b, const char *folder, char *why, size_t room)
{
	(void)b;
	return leftovers_end(folder, why, room);
}

static void local_cancel(struct backend *b, struct job *j)
{
	struct local *l = j->handle;

	(void)b;
	if (!l || l->cancelling)
		return;
	l->cancelling = true;
	l->cancel_by = local_now() + l->grace + END_MARGIN;
	/* a stopped process sees no TERM before it runs again */
	if (!local_signal(l, SIGTERM) || !local_signal(l, SIGCONT))
		job_log(j, LOG_DEBUG, "the shim has ended already");
}

/* Kills a shim that does not end its trainer in time; what it leaves is ended once it is
 * gone, as after any killed shim. The record of the end is written first, so that a
 * daemon that is killed meanwhile changes no verdict. Where it cannot be written the shim
 * has more time, since it may wait for the same disk with its own; but not where the
 * journal has the verdict. */
static void local_kill(struct local *l, bool late)
{
	struct job *j = l->job;
	double now = local_now(), end = (double)clock_now(j->d) / 1e6;
	struct claim_killed record = { .timeout = late,
				       .cancelled = l->cancelling,
				       .start = end - (now - l->began),
				       .end = end };
	struct dp_err err;

	if (claim_write_killed(j->folder, &record, &err) != DP_OK) {
		job_log(j, LOG_WARN, "attempt %u: %s", j->attempt, err.msg);
		if (!l->cancelling) {
			l->timeout_by = now + END_MARGIN;
			return;
		}
	}
	job_log(j, LOG_WARN,
		"attempt %u: dpareto-shim (process %d) did not end its trainer in time "
		"and is killed",
		j->attempt, (int)l->pid);
	l->killed_at = now;
	local_signal(l, SIGKILL);
}

/* The shim keeps the limits of its trainer. What keeps the shim from it is undone, as
 * long as that helps. */
static void local_enforce(struct local *l)
{
	double now = local_now(), since;
	bool stopped;

	if (l->killed_at > 0) {
		if (now < l->killed_at + KILLED_SECONDS || l->job->trouble[0])
			return;
		snprintf(l->job->trouble, sizeof l->job->trouble,
			 "dpareto-shim (process %d) was killed and does not end", (int)l->pid);
		sched_kick(l->job->d); /* a daemon that stops need not wait for it */
	} else if (now >= l->timeout_by || now >= l->cancel_by) {
		local_kill(l, now >= l->timeout_by);
	} else if (leftovers_process(l->pid, &stopped, &since) && stopped) {
		job_log(l->job, l->continued ? LOG_DEBUG : LOG_WARN,
			"attempt %u: dpareto-shim (process %d) was stopped (SIGSTOP) and "
			"is continued: it keeps the limits of its trainer",
			l->job->attempt, (int)l->pid);
		l->continued = true;
		local_signal(l, SIGCONT);
	}
}

static unsigned local_places(const struct backend *b)
{
	return b->d->config.slots;
}

static void local_why_full(const struct backend *b, char *out, size_t room)
{
	if (b->d->config.slots == 1)
		snprintf(out, room, "the only slot is taken");
	else
		snprintf(out, room, "all %u slots are taken", b->d->config.slots);
}

static void local_tick(struct backend *b)
{
	for (struct job *j = b->d->jobs; j; j = j->next) {
		struct local *l = j->handle;

		if (j->home->backend != b)
			continue;
		if (l)
			local_enforce(l);
		if (l && !l->watched)
			local_ask(l);
		job_progress(j);
	}
}

const struct executor executor_local = {
	.name = "local",
	.slots = true,
	.open = local_open,
	.close = local_close,
	.places = local_places,
	.why_full = local_why_full,
	.start = local_start,
	.adopt = local_adopt,
	.cancel = local_cancel,
	.end_leftovers = local_end_leftovers,
	.tick = local_tick,
	.release = local_release,
};
