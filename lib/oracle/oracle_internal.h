/* oracle_internal.h - the process behind an oracle program. Whoever calls these functions
 * has the lock of its questions. */
#ifndef DP_ORACLE_INTERNAL_H
#define DP_ORACLE_INTERNAL_H
#include "base/buf.h"
#include "oracle/oracle.h"
#include <sys/types.h>

enum {
	DP__WORDS = 500 /* the end of what it said on stderr */
};

struct dp__process {
	pid_t pid;           /* of its dpareto-shim; 0: it does not run */
	int in, out, error;  /* our ends of its stdin, stdout and stderr */
	struct dp_buf heard; /* what it wrote and nobody has read yet */
	char words[DP__WORDS + 1];
	size_t nwords;
	int status;           /* how it ended, as of waitpid() */
	pid_t ending;         /* one that was told to end, and is not reaped yet; 0: none */
	atomic_uint *running; /* counts those that run */
};

/* How long somebody waits for an answer. */
struct dp__patience {
	int64_t until;                    /* dp_mono_us() */
	const atomic_bool *cancel, *over; /* either: no longer; cancel may be NULL */
};
bool dp__given_up(const struct dp__patience *p);

enum dp__heard {
	DP__HEARD_LINE,
	DP__HEARD_END,  /* it has ended, and was reaped: see status and words */
	DP__HEARD_NONE, /* the time is over */
	DP__HEARD_LONG, /* a line beyond the limit */
	DP__HEARD_MORE, /* something that nobody has asked for */
	DP__HEARD_GIVEN_UP,
	DP__HEARD_NO_MEMORY,
};

/* Starts it, once one before it is gone. 0 or an errno. */
int dp__process_start(struct dp__process *p, const struct dp_program_command *command);
/* Asks: `text` is a line. The answer, without its end, is in p->heard until the next
 * question. */
enum dp__heard dp__process_ask(struct dp__process *p, const struct dp_buf *text,
			       const struct dp__patience *patience);
/* Tells it to end, by the end of its input or (now) at once, and does not wait. */
void dp__process_end(struct dp__process *p, bool now);
/* Reaps what was told to end; `wait`: ends it at once, and waits for that. False: it is
 * not gone yet. */
bool dp__process_reap(struct dp__process *p, bool wait);
/* "exit code 3; its last line on stderr: ..." of one that has ended, or the latter alone;
 * may be "". */
void dp__process_words(const struct dp__process *p, bool ended, char *out, size_t room);

#endif
