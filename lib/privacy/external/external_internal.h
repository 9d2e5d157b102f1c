/* external_internal.h - the process behind an oracle program. Whoever calls these functions
 * has the lock of its questions. */
#ifndef DP_PRIVACY_EXTERNAL_EXTERNAL_INTERNAL_H
#define DP_PRIVACY_EXTERNAL_EXTERNAL_INTERNAL_H
#include "base/buf.h"
#include "privacy/external/external.h"
#include <sys/types.h>

enum {
	DP__STDERR_TAIL_MAX = 500 /* the end of what it said on stderr */
};

struct dp__external_process {
	pid_t pid;                          /* of its dpareto-shim; 0: it does not run */
	int stdin_fd, stdout_fd, stderr_fd; /* our ends of its stdin, stdout and stderr */
	struct dp_buf reply;                /* what it wrote and nobody has read yet */
	char stderr_tail[DP__STDERR_TAIL_MAX + 1];
	size_t stderr_len;
	int status;                 /* how it ended, as of waitpid() */
	pid_t ending_pid;           /* one that was told to end, and is not reaped yet; 0: none */
	atomic_uint *running_count; /* counts those that run */
};

/* How long somebody waits for an answer. */
struct dp__external_wait {
	int64_t deadline_us;                /* dp_monotonic_us() */
	const atomic_bool *cancel, *closed; /* either: no longer; cancel may be NULL */
};
bool dp__external_is_cancelled(const struct dp__external_wait *p);

enum dp__external_reply {
	DP__REPLY_LINE,
	DP__REPLY_EXITED,     /* it has ended, and was reaped: see status and words */
	DP__REPLY_TIMEOUT,    /* the time is over */
	DP__REPLY_TOO_LONG,   /* a line beyond the limit */
	DP__REPLY_UNEXPECTED, /* something that nobody has asked for */
	DP__REPLY_CANCELLED,
};

/* Starts it, once one before it is gone. 0 or an errno. */
int dp__external_process_start(struct dp__external_process *p,
			       const struct dp_external_command *command);
/* Asks: `text` is a line. The answer, without its end, is in p->heard until the next
 * question. */
enum dp__external_reply dp__external_process_query(struct dp__external_process *p,
						   const struct dp_buf *text,
						   const struct dp__external_wait *wait_limit);
/* Tells it to end, by the end of its input or (now) at once, and does not wait. */
void dp__external_process_stop(struct dp__external_process *p, bool now);
/* Reaps what was told to end; `wait`: ends it at once, and waits for that. False: it is
 * not gone yet. */
bool dp__external_process_reap(struct dp__external_process *p, bool wait);
/* "exit code 3; its last line on stderr: ..." of one that has ended, or the latter alone;
 * may be "". */
void dp__external_process_end_text(const struct dp__external_process *p, bool ended, char *out,
				   size_t room);

#endif
