/* hook_queue.h - the queue of hooks to run, in the order of their events. */
#ifndef DP_DAEMON_NOTIFY_HOOK_QUEUE_H
#define DP_DAEMON_NOTIFY_HOOK_QUEUE_H
#include "daemon/notify/notification.h"

enum {
	HOOK_QUEUE_MAX = 1000 /* further ones wait in the journal */
};

struct hook_run {
	struct hook_run *next;
	json_t *hook, *payload;
	enum hook_event event;
	uint32_t study_id, seq; /* as in struct notification */
	uint64_t ticket;
	int64_t queued_us; /* dp_monotonic_us() */
	char name[DP_NAME_MAX + 1];
};

struct hook_queue {
	struct hook_run *first, **last;
	unsigned n;
};

void hook_queue_init(struct hook_queue *q);
bool hook_queue_has_room(const struct hook_queue *q);
/* Queues the notification for each hook that wants it. Takes the reference of its payload. */
void hook_queue_add(struct hook_queue *q, const json_t *hooks, struct notification one);
struct hook_run *hook_queue_pop(struct hook_queue *q);
void hook_run_free(struct hook_run *r);

#endif
