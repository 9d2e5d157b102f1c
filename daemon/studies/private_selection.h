/* private_selection.h - private selections (method select): what one costs, found off the loop,
 * once, when a client first wants to see it, because which of all settings that can be drawn is the
 * worst may take seconds to find; and the name of the directory that it publishes. */
#ifndef DP_DAEMON_STUDIES_PRIVATE_SELECTION_H
#define DP_DAEMON_STUDIES_PRIVATE_SELECTION_H
#include "daemon/studies/pending_replies.h"

/* As dp_selection_cost_json(); null of a study that is none, and until it is known. */
json_t *private_selection_json(struct study *study);
/* The client gets the answer once it is known; false: it is, and the client was not queued. */
bool private_selection_wait(struct study *study, uint64_t client_id, reply_builder *answer);
/* Of one that is finished: has a symbolic link made to the directory of what it publishes, whose
 * name does not tell which training that was. On a worker thread, once its records are durable. */
void private_selection_link_result(struct study *study);
/* Is a worker thread at work on it? The study must not be forgotten then. */
bool private_selection_is_busy(const struct study *study);
void private_selection_free(struct study *study);

#endif
