/* shim_oracle.c - dpareto-shim --oracle: the parent of an oracle program, which answers
 * whoever has the other end of its stdin. When nobody has it any more - the daemon closed
 * it, or was killed in the middle of a question - the program and all that it has started
 * are ended. */
#include "daemon/shim.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_SECONDS                                                                              \
	0.5 /* for a program that ends by itself at the end of its input                           \
	     */

enum {
	EXIT_NO_PROGRAM = 127 /* as a shell says it */
};

/* Until it has ended, or has been told to often enough. */
static void watch_oracle(struct shim *s)
{
	struct pollfd p[2] = { { .fd = s->signals, .events = POLLIN },
			       { .fd = STDIN_FILENO } /* tells of a hang-up alone */ };

	while (!s->ended) {
		int wait = s->kill_at > 0 ? (int)((s->kill_at - monotonic()) * 1e3) + 1 : -1;

		if (s->kill_at > 0 && (s->cancelled || monotonic() >= s->kill_at)) {
			signal_trainer(s, SIGKILL);
			wait = 100;
		}
		if (poll(p, 2, wait) < 0)
			continue;
		if (p[0].revents)
			read_signals(s); /* TERM: stop_trainer() sets kill_at */
		if (p[1].revents) {
			p[1].fd = -1;
			s->kill_at = monotonic() + GRACE_SECONDS;
		}
		reap(s);
	}
}

int tend_oracle(struct shim *s)
{
	static const int outputs[] = { STDOUT_FILENO, STDERR_FILENO };
	static const struct rlimit no_core;
	sigset_t none;

	s->cgroup_procs = -1;
	watch_signals(s);
	s->start_error = spawn_expendable(s, outputs);
	if (s->start_error) {
		fprintf(stderr, "dpareto-shim: cannot start %s%s%s: %s\n", s->opt.argv[0],
			s->opt.cwd ? " in " : "", s->opt.cwd ? s->opt.cwd : "",
			strerror(s->start_error));
		return EXIT_NO_PROGRAM;
	}
	watch_oracle(s);
	kill_leftovers(s);
	if (!WIFSIGNALED(s->status))
		return WEXITSTATUS(s->status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(s->status), SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(WTERMSIG(s->status));
	return 128 + WTERMSIG(s->status);
}
