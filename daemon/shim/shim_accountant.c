/* shim_accountant.c - dpareto-shim --oracle: the parent of an external accountant. It kills the
 * program and all its children when no process can send queries any more, because the daemon closed
 * the socket or was killed. */
#include "daemon/shim/shim.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCOUNTANT_GRACE_SECONDS 0.5 /* for a program that exits at the end of its input */

enum {
	EXIT_NO_PROGRAM = 127 /* as in a shell */
};

/* Watches the program until it has ended, and kills it after its grace time. */
static void shim_watch_accountant(struct shim *s)
{
	struct pollfd p[2] = { { .fd = s->signal_fd, .events = POLLIN },
			       { .fd = STDIN_FILENO } /* reports only a hang-up */ };

	while (!s->trainer_ended) {
		int wait = s->kill_at > 0 ? (int)((s->kill_at - shim_now()) * 1e3) + 1 : -1;

		if (s->kill_at > 0 && (s->cancelled || shim_now() >= s->kill_at)) {
			signal_trainer(s, SIGKILL);
			wait = 100;
		}
		if (poll(p, 2, wait) < 0)
			continue;
		if (p[0].revents)
			read_signals(s); /* TERM: stop_trainer() sets kill_at */
		if (p[1].revents) {
			p[1].fd = -1;
			s->kill_at = shim_now() + ACCOUNTANT_GRACE_SECONDS;
		}
		shim_reap_children(s);
	}
}

int shim_run_accountant(struct shim *s)
{
	static const int outputs[] = { STDOUT_FILENO, STDERR_FILENO };
	static const struct rlimit no_core;
	sigset_t none;

	s->cgroup_procs_fd = -1;
	shim_open_signalfd(s);
	s->start_errno = shim_spawn_trainer(s, outputs);
	if (s->start_errno) {
		fprintf(stderr, "dpareto-shim: cannot start %s%s%s: %s\n", s->opt.argv[0],
			s->opt.cwd ? " in " : "", s->opt.cwd ? s->opt.cwd : "",
			strerror(s->start_errno));
		return EXIT_NO_PROGRAM;
	}
	shim_watch_accountant(s);
	shim_kill_orphans(s);
	if (!WIFSIGNALED(s->exit_status))
		return WEXITSTATUS(s->exit_status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(s->exit_status), SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(WTERMSIG(s->exit_status));
	return 128 + WTERMSIG(s->exit_status);
}
