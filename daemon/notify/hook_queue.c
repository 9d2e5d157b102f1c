/* hook_queue.c - the queue of hooks to run. */
#include "daemon/notify/hook_queue.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>

void hook_queue_init(struct hook_queue *q)
{
	*q = (struct hook_queue){ .last = &q->first };
}

bool hook_queue_has_room(const struct hook_queue *q)
{
	return q->n < HOOK_QUEUE_MAX;
}

void hook_queue_add(struct hook_queue *q, const json_t *hooks, struct notification one)
{
	json_t *hook;
	size_t i;

	json_array_foreach (hooks, i, hook) {
		struct hook_run *r;

		if (!hook_wants_event(hook, one.event))
			continue;
		r = dp_calloc(1, sizeof *r);
		*r = (struct hook_run){ .hook = json_incref(hook),
					.payload = json_incref(one.payload),
					.event = one.event,
					.study_id = one.study_id,
					.seq = one.seq,
					.ticket = one.ticket,
					.queued_us = dp_monotonic_us() };
		snprintf(r->name, sizeof r->name, "%s", one.name);
		*q->last = r;
		q->last = &r->next;
		q->n++;
	}
	json_decref(one.payload);
}

struct hook_run *hook_queue_pop(struct hook_queue *q)
{
	struct hook_run *r = q->first;

	if (!r)
		return NULL;
	q->first = r->next;
	if (!q->first)
		q->last = &q->first;
	q->n--;
	return r;
}

void hook_run_free(struct hook_run *r)
{
	if (!r)
		return;
	json_decref(r->hook);
	json_decref(r->payload);
	free(r);
}
