/* private_selection.h - what a private selection (method select) costs, found off the loop, once,
 * when somebody first wants to see it. */
#ifndef DP_DAEMON_STUDIES_PRIVATE_SELECTION_H
#define DP_DAEMON_STUDIES_PRIVATE_SELECTION_H
#include "daemon/studies/pending_replies.h"

/* As dp_selection_cost_json(); null of a study that is none, and until it is known. */
json_t *private_selection_json(struct study *study);
/* Is there nothing to wait for? */
bool private_selection_is_known(struct study *study);
/* Answers the client once it is known; only where it is not. */
DP_MUSTCHECK int private_selection_add_waiter(struct study *study, uint64_t client,
					      reply_builder *answer, struct dp_err *err);
/* The study goes. */
void private_selection_free(struct study *study);

#endif
