/* commit_queue.h - the way of every decision: into the journal, then into the world. */
#ifndef DP_DAEMON_CORE_COMMIT_QUEUE_H
#define DP_DAEMON_CORE_COMMIT_QUEUE_H
#include "daemon/core/daemon.h"

/* Fills in study, seq and time, journals and applies; the study is looked at in this
 * turn. The event must fit the state: a failure here is a bug or no memory, and ends
 * the daemon before it can act on something that is not recorded. */
void study_record_event(struct study *study, struct dp_event *e);
/* The first record of a study, and its home. e->spec is taken over. */
struct study *study_record_created(struct daemon *d, struct dp_event *e);
/* The journal forgets the study; what is left of it in memory goes with its home. */
void study_record_deletion(struct study *study);

/* No memory, and for what: ends the daemon. What is on the disk is right, and trainers
 * go on: the next daemon starts from there. */
_Noreturn void daemon_die_no_memory(struct daemon *d, const char *what);

/* Calls fn when everything recorded so far is durable; at once if it is. */
void after_commit(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg);
/* The same for what only looks: it does not wait for a journal that is in trouble or
 * silent, because a person then most needs an answer. */
void after_commit_read_only(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg);
/* The same for what shows nothing newer than the ticket; in no order with the others. */
void after_ticket_read_only(struct daemon *d, uint64_t ticket,
			    void (*fn)(struct daemon *d, void *arg), void *arg);
/* Seconds that the journal has owed an answer; 0 if everything is durable. */
double commit_queue_wait_seconds(const struct daemon *d);
/* Is it time to say so? A disk that is merely slow is waited for. */
bool commit_queue_is_stalled(const struct daemon *d);
/* Why nothing can be recorded at present, as a sentence; NULL if it can. */
const char *commit_queue_describe_trouble(const struct daemon *d, char *out, size_t room);
/* Now and then: tells the log of a journal that does not answer. */
void commit_queue_log_stall(struct daemon *d);
/* The loop has ended: calls what still waits, so that it frees what it holds. */
void after_commit_run_all(struct daemon *d);

/* Starts the journal's writer; the state was replayed. */
DP_MUSTCHECK int commit_queue_start(struct daemon *d, struct dp_err *err);

#endif
