/* selection.h - what a private selection (method select) costs, found off the loop, once,
 * when somebody first wants to see it. */
#ifndef DPARETOD_SELECTION_H
#define DPARETOD_SELECTION_H
#include "daemon/waiters.h"

/* As dp_view_selection(); null of a study that is none, and until it is known. */
json_t *selection_json(struct study *h);
/* Is there nothing to wait for? */
bool selection_is_known(struct study *h);
/* Answers the client once it is known; only where it is not. */
DP_MUSTCHECK int selection_wait(struct study *h, uint64_t client, waiter_answer *answer,
				struct dp_err *err);
/* The study goes. */
void selection_free(struct study *h);

#endif
