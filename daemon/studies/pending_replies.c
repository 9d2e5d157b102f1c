/* pending_replies.c - clients whose answer waits for a worker thread. */
#include "daemon/studies/pending_replies.h"

#include "daemon/api/server.h"

#include <stdlib.h>

struct pending_reply {
	struct pending_reply *next;
	uint64_t client_id;
	reply_builder *build; /* NULL: pending_replies_send_all() has it */
};

bool pending_replies_add(struct pending_reply **list, uint64_t client, reply_builder *answer)
{
	struct pending_reply *one = dp_malloc(sizeof *one);

	*one = (struct pending_reply){ NULL, client, answer };
	while (*list)
		list = &(*list)->next;
	*list = one;
	return true;
}

void pending_replies_free(struct pending_reply **list)
{
	while (*list) {
		struct pending_reply *one = *list;

		*list = one->next;
		free(one);
	}
}

void pending_replies_build_each(struct pending_reply **list, struct study *study)
{
	struct pending_reply *told = *list;

	*list = NULL; /* whoever comes now waits for the next answer */
	for (struct pending_reply *one = told; one && !study->daemon->loop_ended; one = one->next)
		client_reply_ok(study->daemon, one->client_id, one->build(study));
	pending_replies_free(&told);
}

void pending_replies_send_all(struct pending_reply **list, struct study *study, json_t *ok,
			      const struct dp_err *err)
{
	struct pending_reply *told = *list;

	*list = NULL; /* likewise */
	for (struct pending_reply *one = told; one; one = one->next)
		if (ok)
			client_reply_ok(study->daemon, one->client_id, json_incref(ok));
		else
			client_reply_error(study->daemon, one->client_id, err);
	pending_replies_free(&told);
	json_decref(ok);
}
