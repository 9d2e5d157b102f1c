/* child_process.h - runs a helper program (a report writer, a hook) without blocking the loop. It
 * has its own session, input text and time limit. The end of its output is kept. */
#ifndef DP_DAEMON_CORE_CHILD_PROCESS_H
#define DP_DAEMON_CORE_CHILD_PROCESS_H
#include "daemon/core/daemon.h"

#include <sys/types.h>

enum {
	CHILD_TAIL_MAX = 1024
};

struct child {
	struct daemon *daemon;
	/* Called once for each started program; `status` is waitpid's. */
	void (*on_ended)(struct child *c, int status);

	pid_t pid; /* 0: not running */
	int pidfd, output_fd;
	uv_poll_t poll;
	int64_t deadline_us; /* dp_monotonic_us() when it gets SIGTERM */
	int64_t grace_us;    /* microseconds between SIGTERM and SIGKILL */
	bool timed_out;
	bool killed;
	char output_tail[CHILD_TAIL_MAX + 1];
	size_t tail_len;
};

void child_init(struct child *c, struct daemon *d, void (*ended)(struct child *, int));
/* Starts argv[0], searched in PATH if it has no '/', with a time limit in seconds. `input` may be
 * NULL. Returns 0 or an errno. */
DP_MUSTCHECK int child_start(struct child *c, char *const *argv, const char *input, double seconds);
/* Returns a memory file with the text (NULL: empty), so that a program that does not read its input
 * blocks nothing. -1 with errno. Any thread. */
int child_open_input(const char *text);
bool child_is_running(const struct child *c);
/* Makes the deadline `until` at the latest; dp_monotonic_us(). */
void child_shorten_deadline(struct child *c, int64_t until);
/* Sends SIGKILL to the program's process group. on_ended() follows. */
void child_kill(struct child *c);
/* Called twice a second: reads output and enforces the deadline. */
void child_tick(struct child *c);
/* The last line of output without control characters; "" if none. */
void child_last_line(const struct child *c, char *out, size_t room);
/* Called after the loop has ended: kills the program and waits for it. Does not call on_ended(). */
void child_kill_and_wait(struct child *c);

#endif
