/* private_selection.h - the privacy cost of a private selection (method select), and the link to
 * its published directory. The cost is computed once, off the loop, when a client first asks:
 * finding the worst of all settings that can be drawn may take seconds. */
#ifndef DP_DAEMON_STUDIES_PRIVATE_SELECTION_H
#define DP_DAEMON_STUDIES_PRIVATE_SELECTION_H
#include "daemon/studies/pending_replies.h"

/* As dp_selection_cost_json(). Null for other studies, and until it is known. */
json_t *private_selection_json(struct study *study);
/* Queues the client until the cost is known. False: it is known, and the client was not queued. */
bool private_selection_wait(struct study *study, uint64_t client_id, reply_builder *answer);
/* For a finished study: makes a symbolic link to the directory of the published training run. The
 * name of the link does not reveal which run it was. Runs on a worker thread once the records are
 * durable. */
void private_selection_link_result(struct study *study);
/* True while a worker thread uses the study, which must not be freed then. */
bool private_selection_is_busy(const struct study *study);
void private_selection_free(struct study *study);

#endif
