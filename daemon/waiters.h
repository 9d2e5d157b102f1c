/* waiters.h - clients whose answer waits for something that a worker thread finds out
 * about their study. */
#ifndef DPARETOD_WAITERS_H
#define DPARETOD_WAITERS_H
#include "daemon/study.h"

struct waiter;
/* What the client gets in the end. */
typedef json_t *waiter_answer(struct study *h);

/* False without memory. */
DP_MUSTCHECK bool waiters_add(struct waiter **list, uint64_t client,
			      waiter_answer *answer);
/* Answers them all, unless the loop has ended, and forgets them. */
void waiters_tell(struct waiter **list, struct study *h);

#endif
