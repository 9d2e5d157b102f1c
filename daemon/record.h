/* record.h - the way of every decision: into the journal, then into the world. */
#ifndef DPARETOD_RECORD_H
#define DPARETOD_RECORD_H
#include "daemon/daemon.h"

/* Fills in study, seq and time, journals and applies; the study is looked at in this
 * turn. The event must fit the state: a failure here is a bug or no memory, and ends
 * the daemon before it can act on something that is not recorded. */
void record(struct study *h, struct dp_event *e);
/* The first record of a study, and its home. e->spec is taken over. */
struct study *record_created(struct dpd *d, struct dp_event *e);
/* The journal forgets the study; what is left of it in memory goes with its home. */
void record_forget(struct study *h);

/* No memory, and for what: ends the daemon. What is on the disk is right, and trainers
 * go on: the next daemon starts from there. */
_Noreturn void record_give_up(struct dpd *d, const char *what);

/* Calls fn when everything recorded so far is durable; at once if it is. */
void after_commit(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg);
/* The same for what only looks: it does not wait for a journal that is in trouble or
 * silent, because a person then most needs an answer. */
void after_commit_look(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg);
/* The same for what shows nothing newer than the ticket; in no order with the others. */
void after_ticket_look(struct dpd *d, uint64_t ticket, void (*fn)(struct dpd *d, void *arg),
		       void *arg);
/* Seconds that the journal has owed an answer; 0 if everything is durable. */
double record_silence(const struct dpd *d);
/* Is it time to say so? A disk that is merely slow is waited for. */
bool record_is_silent(const struct dpd *d);
/* Why nothing can be recorded at present, as a sentence; NULL if it can. */
const char *record_why_stuck(const struct dpd *d, char *out, size_t room);
/* Now and then: tells the log of a journal that does not answer. */
void record_watch(struct dpd *d);
/* The loop has ended: calls what still waits, so that it frees what it holds. */
void after_drop(struct dpd *d);

/* Starts the journal's writer; the state was replayed. */
DP_MUSTCHECK int record_start(struct dpd *d, struct dp_err *err);

#endif
