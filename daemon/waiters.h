/* waiters.h - clients whose answer waits for something that a worker thread finds out
 * about their study. Lists are the loop's, and begin as NULL. */
#ifndef DPARETOD_WAITERS_H
#define DPARETOD_WAITERS_H
#include "daemon/study.h"

struct waiter;
/* What a client gets in the end. */
typedef json_t *waiter_answer(struct study *h);

/* At the end of the list; answer: for waiters_tell(), else NULL. False without memory. */
DP_MUSTCHECK bool waiters_add(struct waiter **list, uint64_t client, waiter_answer *answer);
/* Gives each one its answer, unless the loop has ended, and forgets them. */
void waiters_tell(struct waiter **list, struct study *h);
/* Gives all of them the same answer, whose reference is taken, and forgets them; ok NULL:
 * the error. */
void waiters_answer(struct waiter **list, struct study *h, json_t *ok, const struct dp_err *err);
/* Forgets them. */
void waiters_free(struct waiter **list);

#endif
