/* pending_replies.h - clients whose answer waits for something that a worker thread finds out
 * about their study. Lists are the loop's, and begin as NULL. */
#ifndef DP_DAEMON_STUDIES_PENDING_REPLIES_H
#define DP_DAEMON_STUDIES_PENDING_REPLIES_H
#include "daemon/studies/study_object.h"

struct pending_reply;
/* What a client gets in the end. */
typedef json_t *reply_builder(struct study *study);

/* At the end of the list; answer: for pending_replies_build_each(), else NULL. False without
 * memory. */
DP_MUSTCHECK bool pending_replies_add(struct pending_reply **list, uint64_t client,
				      reply_builder *answer);
/* Gives each one its answer, unless the loop has ended, and forgets them. */
void pending_replies_build_each(struct pending_reply **list, struct study *study);
/* Gives all of them the same answer, whose reference is taken, and forgets them; ok NULL:
 * the error. */
void pending_replies_send_all(struct pending_reply **list, struct study *study, json_t *ok,
			      const struct dp_err *err);
/* Forgets them. */
void pending_replies_free(struct pending_reply **list);

#endif
