/* pending_replies.h - clients whose answer waits for something that a worker thread finds out about
 * their study. Lists are the loop's, and begin as NULL. */
#ifndef DP_DAEMON_STUDIES_PENDING_REPLIES_H
#define DP_DAEMON_STUDIES_PENDING_REPLIES_H
#include "daemon/studies/study_object.h"

struct pending_reply;
/* Makes what a client gets in the end. */
typedef json_t *reply_builder(struct study *study);

/* At the end of the list; build: for pending_replies_build_each(), else NULL. */
void pending_replies_add(struct pending_reply **list, uint64_t client_id, reply_builder *build);
/* Gives each one its answer, unless the loop has ended, and forgets them. */
void pending_replies_build_each(struct pending_reply **list, struct study *study);
/* Gives the first one this answer, whose reference is taken, and forgets it. */
void pending_replies_send_first(struct pending_reply **list, struct daemon *d, json_t *ok);
/* Gives all of them the same answer, whose reference is taken, and forgets them; ok NULL: the
 * error.
 */
void pending_replies_send_all(struct pending_reply **list, struct daemon *d, json_t *ok,
			      const struct dp_err *err);
void pending_replies_free(struct pending_reply **list);

#endif
