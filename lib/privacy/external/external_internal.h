/* external_internal.h - the process of an external accountant; callers hold query_lock. */
#ifndef DP_PRIVACY_EXTERNAL_EXTERNAL_INTERNAL_H
#define DP_PRIVACY_EXTERNAL_EXTERNAL_INTERNAL_H
#include "base/buf.h"
#include "privacy/external/external.h"
#include <sys/types.h>

enum {
	DP__STDERR_TAIL_MAX = 500 /* bytes kept of the end of stderr */
};

struct dp__external_process {
	pid_t pid;                          /* of its dpareto-shim; 0: not running */
	int stdin_fd, stdout_fd, stderr_fd; /* our ends of its pipes */
	struct dp_buf reply;                /* output not consumed yet */
	char stderr_tail[DP__STDERR_TAIL_MAX + 1];
	size_t stderr_len;
	int status;                 /* exit status from waitpid() */
	pid_t ending_pid;           /* a stopped process that is not reaped yet; 0: none */
	atomic_uint *running_count; /* counts running processes */
};

/* The limits of a wait for an answer. */
struct dp__external_wait {
	int64_t deadline_us;                /* dp_monotonic_us() */
	const atomic_bool *cancel, *closed; /* either one ends the wait; cancel may be NULL */
};
bool dp__external_is_cancelled(const struct dp__external_wait *p);

enum dp__external_reply {
	DP__REPLY_LINE,
	DP__REPLY_EXITED,     /* ended and reaped; see status and stderr_tail */
	DP__REPLY_TIMEOUT,    /* deadline reached */
	DP__REPLY_TOO_LONG,   /* a line over the limit */
	DP__REPLY_UNEXPECTED, /* output without a query */
	DP__REPLY_CANCELLED,
};

/* Starts the process after reaping an earlier one. Returns 0 or an errno. */
int dp__external_process_start(struct dp__external_process *p,
			       const struct dp_external_command *command);
/* Sends the line `text`. The answer, without its newline, is in p->reply until the next query. */
enum dp__external_reply dp__external_process_query(struct dp__external_process *p,
						   const struct dp_buf *text,
						   const struct dp__external_wait *wait_limit);
/* Closes its input or, with `now`, terminates it. Does not wait. */
void dp__external_process_stop(struct dp__external_process *p, bool now);
/* Reaps a stopped process. `wait`: terminates it and waits. False if it is not gone yet. */
bool dp__external_process_reap(struct dp__external_process *p, bool wait);
/* "exit code 3; its last line on stderr: ..." if it ended, else the last line alone. May be "". */
void dp__external_process_end_text(const struct dp__external_process *p, bool ended, char *out,
				   size_t room);

#endif
