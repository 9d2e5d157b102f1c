/* child_process.h - a program that the daemon runs beside its studies: a report, a hook. It has a
 * session of its own, a text on its standard input, a limit of time, and its last words
 * are kept. Nothing of it can hold up the loop. */
#ifndef DP_DAEMON_CORE_CHILD_PROCESS_H
#define DP_DAEMON_CORE_CHILD_PROCESS_H
#include "daemon/core/daemon.h"

#include <sys/types.h>

enum {
	CHILD_TAIL_MAX = 1024
};

struct child {
	struct daemon *daemon;
	/* Called once for each that was started; `status` is waitpid's. */
	void (*on_ended)(struct child *c, int status);

	pid_t pid; /* 0: none runs */
	int pidfd, output_fd;
	uv_poll_t poll;
	int64_t deadline_us; /* dp_monotonic_us() from which it is asked to end */
	int64_t grace_us;    /* microseconds from then until it is killed */
	bool timed_out;      /* it was asked to end */
	bool killed;         /* and then killed */
	char output_tail[CHILD_TAIL_MAX + 1];
	size_t tail_len;
};

void child_init(struct child *c, struct daemon *d, void (*ended)(struct child *, int));
/* Starts argv[0], looked for in PATH if it has no '/', for at most so many seconds.
 * `input` may be NULL. 0 or an errno. */
DP_MUSTCHECK int child_start(struct child *c, char *const *argv, const char *input, double seconds);
/* A file in memory with the text (NULL: nothing): a program that does not read it
 * delays nothing. -1 with errno. Any thread. */
int child_open_input(const char *text);
bool child_is_running(const struct child *c);
/* It ends no later than this; dp_monotonic_us(). */
void child_shorten_deadline(struct child *c, int64_t until);
/* SIGKILL for it and all it has started. ended() follows. */
void child_kill(struct child *c);
/* Twice a second: takes what it prints, and ends one that takes too long. */
void child_tick(struct child *c);
/* The last line that it printed, without control characters; "" if there is none. */
void child_last_line(const struct child *c, char *out, size_t room);
/* The loop has ended: kills it and waits; ended() is not called. */
void child_kill_and_wait(struct child *c);

#endif
