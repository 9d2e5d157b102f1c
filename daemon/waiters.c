/* waiters.c - clients whose answer waits for a worker thread. */
#include "daemon/waiters.h"

#include "daemon/server.h"

#include <stdlib.h>

struct waiter {
	struct waiter *next;
	uint64_t client;
	waiter_answer *answer; /* NULL: waiters_answer() has it */
};

bool waiters_add(struct waiter **list, uint64_t client, waiter_answer *answer)
{
	struct waiter *one = malloc(sizeof *one);

	if (!one)
		return false;
	*one = (struct waiter){ NULL, client, answer };
	while (*list)
		list = &(*list)->next;
	*list = one;
	return true;
}

void waiters_free(struct waiter **list)
{
	while (*list) {
		struct waiter *one = *list;

		*list = one->next;
		free(one);
	}
}

void waiters_tell(struct waiter **list, struct study *h)
{
	struct waiter *told = *list;

	*list = NULL; /* whoever comes now waits for the next answer */
	for (struct waiter *one = told; one && !h->d->closed; one = one->next)
		client_ok(h->d, one->client, one->answer(h));
	waiters_free(&told);
}

void waiters_answer(struct waiter **list, struct study *h, json_t *ok, const struct dp_err *err)
{
	struct waiter *told = *list;

	*list = NULL; /* likewise */
	for (struct waiter *one = told; one; one = one->next)
		if (ok)
			client_ok(h->d, one->client, json_incref(ok));
		else
			client_error(h->d, one->client, err);
	waiters_free(&told);
	json_decref(ok);
}
