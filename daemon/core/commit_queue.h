/* commit_queue.h - the way of every decision: into the journal, then into the world. */
#ifndef DP_DAEMON_CORE_COMMIT_QUEUE_H
#define DP_DAEMON_CORE_COMMIT_QUEUE_H
#include "daemon/core/daemon.h"

struct commit_queue {
	uint64_t last_ticket;    /* of the newest record */
	uint64_t durable_ticket; /* the newest that the journal has confirmed */
	bool is_failing;         /* the journal cannot be written at present */
	struct commit_callback *callbacks, **callbacks_end;
	unsigned n_read_only_callbacks; /* of these that change nothing */
	uv_timer_t read_only_timer;     /* runs while there are any */
	int64_t wait_since_us;          /* dp_monotonic_us() since when it owes an answer */
	bool stall_logged;
	uv_async_t async;
};

void commit_queue_init(struct daemon *d);
/* Starts the journal's writer; the state was replayed. */
DP_MUSTCHECK int commit_queue_start(struct daemon *d, struct dp_err *err);
void commit_queue_free(struct daemon *d);

/* Journals the event, whose study and seq are filled in, and applies it to the state; it must fit
 * the state: a failure here is a bug, and ends the daemon before it can act on what is not
 * recorded. study_record_event() is the way to it. */
void commit_queue_append(struct daemon *d, struct dp_event *e);
/* The journal forgets the study. */
void commit_queue_delete_study(struct daemon *d, uint32_t study_id);

/* Calls fn when everything recorded so far is durable; at once if it is. */
void after_commit(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg);
/* The same for what changes nothing: it does not wait for a journal that is in trouble or silent,
 * because a person then most needs an answer. */
void after_commit_read_only(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg);
/* The same for what shows nothing newer than the ticket; in no order with the others. */
void after_ticket_read_only(struct daemon *d, uint64_t ticket,
			    void (*fn)(struct daemon *d, void *arg), void *arg);
/* The loop has ended: calls what still waits, so that it frees what it holds. */
void after_commit_run_all(struct daemon *d);

/* Is every record on the disk? */
bool commit_queue_is_durable(const struct daemon *d);
/* Seconds that the journal has owed an answer; 0 if everything is durable. */
double commit_queue_wait_seconds(const struct daemon *d);
/* Is it time to say so? A disk that is merely slow is waited for. */
bool commit_queue_is_stalled(const struct daemon *d);
/* Why nothing can be recorded at present, as a sentence; NULL if it can. */
const char *commit_queue_describe_trouble(const struct daemon *d, char *out, size_t room);
/* Now and then: logs a journal that does not answer. */
void commit_queue_log_stall(struct daemon *d);

#endif
