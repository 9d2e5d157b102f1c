/* pending_replies.c - clients whose reply waits for a worker thread. */
#include "daemon/studies/pending_replies.h"

#include <stdlib.h>

struct pending_reply {
	struct pending_reply *next;
	uint64_t client_id;
	reply_builder *build; /* NULL: the sender has the reply */
};

void pending_replies_add(struct pending_reply **list, uint64_t client_id, reply_builder *build)
{
	struct pending_reply *one = dp_malloc(sizeof *one);

	*one = (struct pending_reply){ NULL, client_id, build };
	while (*list)
		list = &(*list)->next;
	*list = one;
}

static struct pending_reply *pending_replies_pop(struct pending_reply **list)
{
	struct pending_reply *first = *list;

	if (first)
		*list = first->next;
	return first;
}

void pending_replies_free(struct pending_reply **list)
{
	struct pending_reply *one;

	while ((one = pending_replies_pop(list)) != NULL)
		free(one);
}

void pending_replies_build_each(struct pending_reply **list, struct study *study)
{
	struct daemon *d = study->daemon;
	struct pending_reply *waiting = *list, *one;

	*list = NULL; /* new clients wait for the next answer */
	while ((one = pending_replies_pop(&waiting)) != NULL) {
		if (!d->loop_ended)
			d->replies->ok(d, one->client_id, one->build(study));
		free(one);
	}
}

void pending_replies_send_first(struct pending_reply **list, struct daemon *d, json_t *ok)
{
	struct pending_reply *first = pending_replies_pop(list);

	if (first)
		d->replies->ok(d, first->client_id, ok);
	else
		json_decref(ok);
	free(first);
}

void pending_replies_send_all(struct pending_reply **list, struct daemon *d, json_t *ok,
			      const struct dp_err *err)
{
	struct pending_reply *waiting = *list, *one;

	*list = NULL;
	while ((one = pending_replies_pop(&waiting)) != NULL) {
		if (ok)
			d->replies->ok(d, one->client_id, json_incref(ok));
		else
			d->replies->error(d, one->client_id, err);
		free(one);
	}
	json_decref(ok);
}
