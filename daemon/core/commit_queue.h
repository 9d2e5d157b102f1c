/* commit_queue.h - journals events and calls back once they are durable. */
#ifndef DP_DAEMON_CORE_COMMIT_QUEUE_H
#define DP_DAEMON_CORE_COMMIT_QUEUE_H
#include "daemon/core/daemon.h"

struct commit_queue {
	uint64_t last_ticket;    /* of the newest record */
	uint64_t durable_ticket; /* newest confirmed by the journal */
	bool is_failing;         /* the journal cannot be written now */
	struct commit_callback *callbacks, **callbacks_end;
	unsigned n_read_only_callbacks; /* that change nothing */
	uv_timer_t read_only_timer;     /* runs while there are any */
	int64_t wait_since_us;          /* dp_monotonic_us() since when a commit is pending */
	bool stall_logged;
	uv_async_t async;
};

void commit_queue_init(struct daemon *d);
/* Starts the journal's writer thread, after replay. */
DP_MUSTCHECK int commit_queue_start(struct daemon *d, struct dp_err *err);
void commit_queue_free(struct daemon *d);

/* Journals the event, whose study and seq are set, and applies it to the state. The event must fit:
 * a failure is a bug and ends the daemon before it acts on what is not recorded. Call
 * study_record_event() instead. */
void commit_queue_append(struct daemon *d, struct dp_event *e);
void commit_queue_delete_study(struct daemon *d, uint32_t study_id);

/* Calls fn once every record so far is durable; at once if it already is. */
void after_commit(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg);
/* Like after_commit(), for read-only work: does not wait for a journal that fails or stalls,
 * because users need an answer most then. */
void after_commit_read_only(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg);
/* The same for work that shows nothing newer than the ticket; in no order. */
void after_ticket_read_only(struct daemon *d, uint64_t ticket,
			    void (*fn)(struct daemon *d, void *arg), void *arg);
/* Called after the loop has ended: calls all pending callbacks so that they free their memory. */
void after_commit_run_all(struct daemon *d);

bool commit_queue_is_durable(const struct daemon *d);
/* Seconds that a commit has been pending; 0 if everything is durable. */
double commit_queue_wait_seconds(const struct daemon *d);
/* True if the commit has taken too long even for a slow disk. */
bool commit_queue_is_stalled(const struct daemon *d);
/* Says why nothing can be recorded now; NULL if the journal works. */
const char *commit_queue_describe_trouble(const struct daemon *d, char *out, size_t room);
/* Called periodically: logs a journal that does not answer. */
void commit_queue_log_stall(struct daemon *d);

#endif
