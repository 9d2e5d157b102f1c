/* child.h - a program that the daemon runs beside its studies: a report, a hook. It has a
 * session of its own, a text on its standard input, a limit of time, and its last words
 * are kept. Nothing of it can hold up the loop. */
#ifndef DPARETOD_CHILD_H
#define DPARETOD_CHILD_H
#include "daemon/daemon.h"

#include <sys/types.h>

enum {
	CHILD_WORDS = 1024
};

struct child {
	struct dpd *d;
	/* Called once for each that was started; `status` is waitpid's. */
	void (*ended)(struct child *c, int status);

	pid_t pid; /* 0: none runs */
	int pidfd, output;
	uv_poll_t poll;
	int64_t until; /* dp_mono_us() from which it is told to end */
	int64_t grace; /* microseconds from then until it is killed */
	bool late;     /* it was told */
	bool killed;   /* and then killed */
	char words[CHILD_WORDS + 1];
	size_t nwords;
};

void child_init(struct child *c, struct dpd *d, void (*ended)(struct child *, int));
/* Starts argv[0], looked for in PATH if it has no '/', for at most so many seconds.
 * `input` may be NULL. 0 or an errno. */
DP_MUSTCHECK int child_start(struct child *c, char *const *argv, const char *input, double seconds);
/* A file in memory with the text (NULL: nothing): whoever does not read it holds up
 * nobody. -1 with errno. Any thread. */
int child_input(const char *text);
bool child_busy(const struct child *c);
/* It ends no later than this; dp_mono_us(). */
void child_hurry(struct child *c, int64_t until);
/* SIGKILL for it and all it has started. ended() follows. */
void child_kill(struct child *c);
/* Twice a second: takes what it prints, and ends one that takes too long. */
void child_tick(struct child *c);
/* The last line that it printed, without control characters; "" if there is none. */
void child_last_words(const struct child *c, char *out, size_t room);
/* The loop has ended: kills it and waits; ended() is not called. */
void child_stop(struct child *c);

#endif
