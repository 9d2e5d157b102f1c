/* exec_local.c - the local executor: a trainer is a process of this machine, under a
 * shim that outlives the daemon. */
#include "daemon/executor.h"

#include "base/fs.h"
#include "daemon/cgroup.h"
#include "daemon/leftover.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The shim of one attempt. */
struct local {
	struct job *job;
	pid_t pid;
	int pidfd;       /* -1: a child whose number is all we have */
	bool watched;    /* by the loop; else it is asked for every tick */
	bool child;      /* ours to reap, not adopted */
	int status;      /* of a child that was reaped */
	bool cancelling; /* TERM was sent to it */
	uv_poll_t poll;  /* on pidfd */
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

/* Takes l over. */
static void local_watch(struct job *j, struct local *l)
{
	char where[40];

	l->job = j;
	j->handle = l;
	local_poll(l);
	if (!l->watched) /* it runs all the same */
		job_log(j, LOG_WARN,
			"process %d cannot be watched; it is asked for instead",
			(int)l->pid);
	snprintf(where, sizeof where, "process %d", (int)l->pid);
	job_started(j, where);
}

/* Has one that is not watched ended, or can it be watched by now? */
static void local_ask(struct local *l)
{
	struct pollfd look = { .fd = l->pidfd, .events = POLLIN };
	/* the number of a child is its own until it is reaped */
	bool ended = l->child ? waitpid(l->pid, &l->status, WNOHANG) != 0
			      : poll(&look, 1, 0) == 1;

	if (ended) {
		local_ended(l);
		return;
	}
	if (l->pidfd < 0)
		l->pidfd = pidfd_open(l->pid, 0);
	local_poll(l);
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
	int code = l ? launch_prepare(j, err)
		     : dp_fail(err, DP_E_NOMEM, "no memory to start");

	if (code == DP_OK)
		code = launch_command(j, &(struct launch_how){ .cgroup = b->self },
				      &launch, err);
	if (code == DP_OK)
		code = local_spawn(b->d->at.shim, &launch, &l->pid, err);
	launch_clear(&launch);
	if (code != DP_OK) {
		free(l);
		return code;
	}
	l->child = true;
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

static void local_adopt(struct backend *b, struct job *j)
{
	struct local *l = calloc(1, sizeof *l);
	struct dp_err err;

	(void)b;
	if (!l) {
		job_unknown(j, "out of memory");
	} else if (!claim_is_there(j->folder) &&
		   (dp_mkdirs(j->folder, 0755, &err) != DP_OK ||
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
			 cgroup_limit_memory(b->self)
				 ? "; the kernel keeps their limits of memory"
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

static bool local_end_leftovers(const struct backend *b, const char *folder, char *why,
				size_t room)
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
	/* by pidfd: the number may belong to somebody else by now, but of a child that is
	 * not reaped */
	if ((l->pidfd < 0 ? kill(l->pid, SIGTERM)
			  : pidfd_send_signal(l->pidfd, SIGTERM, NULL, 0)) != 0)
		job_log(j, LOG_DEBUG, "the shim has ended already");
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
