/* local_executor.c - runs trainers on this machine, under shims that outlive the daemon. */
#include "daemon/executors/job.h"

#include "base/fs.h"
#include "base/units.h"
#include "daemon/executors/local/cgroup.h"
#include "daemon/executors/local/orphans.h"

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

/* Seconds beyond the grace time before a shim is killed; longer than it needs
 * (docs/trainer-protocol.md). */
#define SHIM_END_MARGIN_SECONDS 10.0
/* Seconds after which a killed shim that still exists is reported. */
#define SHIM_KILLED_SECONDS 5.0

enum {
	COMMAND_LINE_MAX = 64 << 10
};

struct local_job {
	struct job *job;
	pid_t pid;
	int pidfd;       /* -1: a child that is known only by its pid */
	bool is_watched; /* by the loop; else polled every tick */
	bool is_child;   /* started by this daemon, not adopted */
	int status;      /* of a reaped child */
	bool cancelling; /* TERM was sent to it */
	bool continued;  /* CONT was sent: it was stopped */
	/* its own limits, in seconds; timeout 0: none */
	double timeout, grace;
	/* monotonic seconds: latest possible start; deadlines by timeout and by cancellation
	 * (INFINITY: none); when KILL was sent (0: not) */
	double started, timeout_deadline, cancel_deadline, killed_at;
	uv_poll_t poll; /* on pidfd */
};

/* ---- watching ---- */

/* A shim without a claim started nothing: the machine refused it, or it was killed. */
static void local_job_never_started(struct job *j, int status)
{
	struct dp_err err;

	if (WIFSIGNALED(status)) {
		job_on_never_started(j);
		return;
	}
	dp_fail(&err, DP_E_IO, "dpareto-shim could not make its files in %s", j->directory);
	job_on_refused(j, &err);
}

/* Reports the end of a shim that is not watched any more, and frees l. */
static void local_job_on_ended(struct local_job *l)
{
	struct job *j = l->job;
	bool failed = l->is_child && l->status != 0;
	int status = l->status;

	if (l->pidfd >= 0)
		close(l->pidfd);
	free(l);
	j->executor_data = NULL;
	if (failed && !lease_may_exist(j->directory))
		local_job_never_started(j, status);
	else
		job_on_ended(j);
}

static void on_shim_closed(uv_handle_t *h)
{
	struct local_job *l = h->data;

	if (!l->job->daemon->loop_ended) /* else local_release_handle() frees it */
		local_job_on_ended(l);
}

static void on_shim_end(uv_poll_t *poll, int status, int events)
{
	struct local_job *l = poll->data;

	(void)status;
	(void)events;
	if (l->is_child)
		waitpid(l->pid, &l->status, WNOHANG);
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, on_shim_closed);
}

/* Watches the shim on the loop if the machine has a descriptor for it. */
static void local_job_watch_pidfd(struct local_job *l)
{
	if (l->pidfd < 0 || uv_poll_init(&l->job->daemon->loop, &l->poll, l->pidfd) != 0)
		return;
	l->poll.data = l;
	l->is_watched = true;
	uv_poll_start(&l->poll, UV_READABLE, on_shim_end);
}

static double local_now(void)
{
	return (double)dp_monotonic_us() / 1e6;
}

static void local_job_set_limits(struct local_job *l, double began, double timeout, double grace)
{
	l->started = began;
	l->timeout = timeout;
	l->grace = grace;
	l->cancel_deadline = INFINITY;
	l->timeout_deadline =
		timeout > 0 ? began + timeout + grace + SHIM_END_MARGIN_SECONDS : INFINITY;
}

static void local_job_attach(struct job *j, struct local_job *l)
{
	char where[40];

	l->job = j;
	j->executor_data = l;
	local_job_watch_pidfd(l);
	if (!l->is_watched) /* it runs, but must be polled */
		job_log(j, LOG_WARN, "process %d cannot be watched; it is asked for instead",
			(int)l->pid);
	snprintf(where, sizeof where, "process %d", (int)l->pid);
	job_on_started(j, where);
}

/* Polls an unwatched shim, or starts to watch it. */
static void local_job_check_exit(struct local_job *l)
{
	struct pollfd look = { .fd = l->pidfd, .events = POLLIN };
	/* the pid of a child is not reused before it is reaped */
	bool ended =
		l->is_child ? waitpid(l->pid, &l->status, WNOHANG) != 0 : poll(&look, 1, 0) == 1;

	if (ended) {
		local_job_on_ended(l);
		return;
	}
	if (l->pidfd < 0)
		l->pidfd = pidfd_open(l->pid, 0);
	local_job_watch_pidfd(l);
}

/* By pidfd, because the pid may be reused, except that of an unreaped child. */
static bool local_job_signal(const struct local_job *l, int sig)
{
	return (l->pidfd < 0 ? kill(l->pid, sig) : pidfd_send_signal(l->pidfd, sig, NULL, 0)) == 0;
}

static void local_release_handle(struct executor *b, struct job *j)
{
	struct local_job *l = j->executor_data;

	(void)b;
	if (l->pidfd >= 0)
		close(l->pidfd);
	free(l);
	j->executor_data = NULL;
}

/* ---- starting ---- */

/* Uses posix_spawn because libuv's uv_spawn forks the whole heap. All signals are blocked and the
 * shim unblocks none: one that arrives early waits until the shim is ready. */
static int local_spawn(const char *shim, const struct launch_command *launch, pid_t *pid,
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

static int local_start(struct executor *b, struct job *j, struct dp_err *err)
{
	struct launch_command launch = { 0 };
	struct local_job *l = dp_calloc(1, sizeof *l);
	int code = launch_prepare(j, err);

	if (code == DP_OK) {
		launch_build_attempt(j, &(struct launch_options){ .cgroup = b->data }, &launch);
		code = local_spawn(b->daemon->paths.shim_path, &launch, &l->pid, err);
	}
	launch_clear(&launch);
	if (code != DP_OK) {
		free(l);
		return code;
	}
	l->is_child = true;
	local_job_set_limits(l, local_now(), j->spec->trainer.timeout, j->spec->trainer.grace);
	l->pidfd = pidfd_open(l->pid, 0);
	local_job_attach(j, l);
	return DP_OK;
}

/* ---- after a restart ---- */

/* As lease_acquire(); also opens the pidfd of a living shim in *l. Reads the claim again
 * afterwards, which proves that the pid was not reused. */
static enum lease_state local_acquire_lease(const struct job *j, struct local_job *l)
{
	enum lease_state answer;
	long number, again;

	answer = lease_acquire(j->directory, &number);
	if (answer != LEASE_HELD)
		return answer;
	l->pid = (pid_t)number;
	l->pidfd = pidfd_open(l->pid, 0);
	if (l->pidfd < 0 && errno != ESRCH)
		return LEASE_UNKNOWN;
	answer = lease_acquire(j->directory, &again);
	if (answer == LEASE_HELD && l->pidfd >= 0)
		return LEASE_HELD;
	if (l->pidfd >= 0)
		close(l->pidfd);
	if (answer != LEASE_HELD)
		return answer;
	errno = EAGAIN; /* held, but not by a process found here: try again */
	return LEASE_UNKNOWN;
}

/* Reads an adopted shim's limits from its command line, because the study's may have changed. Its
 * start is in seconds since boot, which include suspends; the monotonic clock does not, so the
 * deadline is never early. */
static void local_job_read_limits(struct local_job *l)
{
	double timeout = 0, grace = l->job->spec->trainer.grace, began = local_now();
	struct dp_buf text = DP_BUF_INIT;
	const char *at, *end;
	char path[64];
	bool stopped;

	process_get_state(l->pid, &stopped, &began);
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)l->pid);
	if (dp_read_untrusted_head(path, COMMAND_LINE_MAX, &text) != 0)
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
	local_job_set_limits(l, began, timeout, grace);
}

static void local_adopt(struct executor *b, struct job *j)
{
	struct local_job *l = dp_calloc(1, sizeof *l);
	struct dp_err err;

	(void)b;
	if (!l) {
		job_on_unknown(j, "out of memory");
	} else if (!lease_exists(j->directory) &&
		   (dp_mkdirs(j->directory, 0755, &err) != DP_OK ||
		    lease_make_directory(j->directory, &err) != DP_OK)) {
		job_on_unknown(j, err.msg);
	} else {
		switch (local_acquire_lease(j, l)) {
		case LEASE_ACQUIRED:
			job_on_never_started(j);
			break;
		case LEASE_RELEASED:
			job_on_ended(j);
			break;
		case LEASE_UNKNOWN:
			job_on_unknown(j, strerror(errno));
			break;
		case LEASE_HELD:
			l->job = j;
			local_job_read_limits(l);
			local_job_attach(j, l);
			l = NULL;
			break;
		}
	}
	free(l);
}

/* ---- the rest of the table ---- */

static int local_open(struct executor *b, struct dp_err *err)
{
	b->data = cgroup_find_delegated();
	if (b->data)
		log_line(&b->daemon->log, LOG_INFO, "", "trainers get cgroups below %s%s",
			 (const char *)b->data,
			 cgroup_enable_memory(b->data) ? "; the kernel keeps their limits of memory"
						       : "");
	if (access(b->daemon->paths.shim_path, X_OK) == 0)
		return DP_OK;
	dp_fail(err, DP_E_NOT_FOUND, "dpareto-shim is not at %s", b->daemon->paths.shim_path);
	return dp_hint(err, "install it there ('make install')");
}

static void local_close(struct executor *b)
{
	free(b->data);
}

static bool local_kill_orphans(const struct executor *b, const char *folder, char *why, size_t room)
{
	(void)b;
	return orphans_kill_all(folder, why, room);
}

static void local_cancel(struct executor *b, struct job *j)
{
	struct local_job *l = j->executor_data;

	(void)b;
	if (!l || l->cancelling)
		return;
	l->cancelling = true;
	l->cancel_deadline = local_now() + l->grace + SHIM_END_MARGIN_SECONDS;
	/* a stopped process receives TERM only when it runs again */
	if (!local_job_signal(l, SIGTERM) || !local_job_signal(l, SIGCONT))
		job_log(j, LOG_DEBUG, "the shim has ended already");
}

/* Kills a shim that does not end its trainer in time. Its orphans are killed afterwards, as for any
 * killed shim. The record is written first, so that a crash of the daemon in between does not
 * change the class. If it cannot be written, the shim gets more time, since it may wait for the
 * same disk; not if the journal already has the class. */
static void local_job_kill_shim(struct local_job *l, bool late)
{
	struct job *j = l->job;
	double now = local_now(), end = (double)clock_now(j->daemon) / 1e6;
	struct lease_kill_record record = { .timeout = late,
					    .cancelled = l->cancelling,
					    .start = end - (now - l->started),
					    .end = end };
	struct dp_err err;

	if (lease_write_kill_record(j->directory, &record, &err) != DP_OK) {
		job_log(j, LOG_WARN, "attempt %u: %s", j->attempt, err.msg);
		if (!l->cancelling) {
			l->timeout_deadline = now + SHIM_END_MARGIN_SECONDS;
			return;
		}
	}
	job_log(j, LOG_WARN,
		"attempt %u: dpareto-shim (process %d) did not end its trainer in time "
		"and is killed",
		j->attempt, (int)l->pid);
	l->killed_at = now;
	local_job_signal(l, SIGKILL);
}

/* The shim enforces its trainer's limits. This undoes what keeps the shim from doing so, and kills
 * it if that does not help. */
static void local_job_enforce_limits(struct local_job *l)
{
	double now = local_now(), since;
	bool stopped;

	if (l->killed_at > 0) {
		if (now < l->killed_at + SHIM_KILLED_SECONDS || l->job->trouble[0])
			return;
		snprintf(l->job->trouble, sizeof l->job->trouble,
			 "dpareto-shim (process %d) was killed and does not end", (int)l->pid);
		daemon_request_turn(l->job->daemon); /* a stopping daemon need not wait for it */
	} else if (now >= l->timeout_deadline || now >= l->cancel_deadline) {
		local_job_kill_shim(l, now >= l->timeout_deadline);
	} else if (process_get_state(l->pid, &stopped, &since) && stopped) {
		job_log(l->job, l->continued ? LOG_DEBUG : LOG_WARN,
			"attempt %u: dpareto-shim (process %d) was stopped (SIGSTOP) and "
			"is continued: it keeps the limits of its trainer",
			l->job->attempt, (int)l->pid);
		l->continued = true;
		local_job_signal(l, SIGCONT);
	}
}

static unsigned local_capacity(const struct executor *b)
{
	return b->daemon->config.slots;
}

static void local_explain_full(const struct executor *b, char *out, size_t room)
{
	if (b->daemon->config.slots == 1)
		snprintf(out, room, "the only slot is taken");
	else
		snprintf(out, room, "all %u slots are taken", b->daemon->config.slots);
}

static void local_tick(struct executor *b)
{
	for (struct job *j = b->daemon->executors->jobs; j; j = j->next) {
		struct local_job *l = j->executor_data;

		if (j->study->executor != b)
			continue;
		if (l)
			local_job_enforce_limits(l);
		if (l && !l->is_watched)
			local_job_check_exit(l);
		job_on_progress(j);
	}
}

const struct executor_ops executor_local = {
	.name = "local",
	.uses_slots = true,
	.open = local_open,
	.close = local_close,
	.capacity = local_capacity,
	.explain_full = local_explain_full,
	.start = local_start,
	.adopt = local_adopt,
	.cancel = local_cancel,
	.kill_orphans = local_kill_orphans,
	.tick = local_tick,
	.release_handle = local_release_handle,
};
