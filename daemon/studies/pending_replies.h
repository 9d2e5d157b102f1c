/* pending_replies.h - lists of clients whose reply waits for a worker thread. Loop thread only. An
 * empty list is NULL. */
#ifndef DP_DAEMON_STUDIES_PENDING_REPLIES_H
#define DP_DAEMON_STUDIES_PENDING_REPLIES_H
#include "daemon/studies/study_object.h"

struct pending_reply;
typedef json_t *reply_builder(struct study *study);

/* Appends a client. build: for pending_replies_build_each(), else NULL. */
void pending_replies_add(struct pending_reply **list, uint64_t client_id, reply_builder *build);
/* Sends each client the reply that it builds, unless the loop has ended, and clears the list. */
void pending_replies_build_each(struct pending_reply **list, struct study *study);
/* Sends `ok` to the first client and removes it. Takes the reference. */
void pending_replies_send_first(struct pending_reply **list, struct daemon *d, json_t *ok);
/* Sends all clients `ok`, or the error if ok is NULL, and clears the list. Takes the reference. */
void pending_replies_send_all(struct pending_reply **list, struct daemon *d, json_t *ok,
			      const struct dp_err *err);
void pending_replies_free(struct pending_reply **list);

#endif
