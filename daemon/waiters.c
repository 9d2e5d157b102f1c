/* waiters.c - clients whose answer waits for a worker thread. */
#include "daemon/waiters.h"

#include "daemon/server.h"

#include <stdlib.h>

struct waiter {
	struct waiter *next;
	uint64_t client;
	waiter_answer *answer;
};

bool waiters_add(struct waiter **list, uint64_t client, waiter_answer *answer)
{
	struct waiter *one = malloc(sizeof *one);

	if (!one)
		return false;
	*one = (struct waiter){ *list, client, answer };
	*list = one;
	return true;
}

void waiters_tell(struct waiter **list, struct study *h)
{
	struct waiter *told = *list, *next;

	*list = NULL; /* whoever comes now waits for the next answer */
	for (struct waiter *one = told; one; one = next) {
		next = one->next;
		if (!h->d->closed)
			client_ok(h->d, one->client, one->answer(h));
		free(one);
	}
}
