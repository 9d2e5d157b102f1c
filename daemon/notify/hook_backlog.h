/* hook_backlog.h - notifications that did not fit the hook queue. They are not kept in memory. Each
 * study has the seq of its first record that was not queued, and the journal is read from there
 * when the queue has room. */
#ifndef DP_DAEMON_NOTIFY_HOOK_BACKLOG_H
#define DP_DAEMON_NOTIFY_HOOK_BACKLOG_H
#include "daemon/notify/hook_queue.h"

struct backlog_entry {
	uint32_t study_id;
	bool is_quarantined; /* then notifies that the study is quarantined */
	uint32_t first_seq;  /* the first record that was not queued */
	int64_t time;        /* no unreported record is older */
};

struct hook_backlog {
	struct backlog_entry *entries; /* (n of capacity), by study */
	size_t n, capacity;
	bool fetching;    /* a read of study_id is in progress */
	bool was_durable; /* all records up to end_seq were durable then */
	uint32_t study_id, end_seq;
	uint64_t after_ticket; /* do not read before this ticket is durable */
	int64_t retry_at_us;   /* dp_monotonic_us(), after a failed read */
};

/* Adds the study's records from `seq` on, none of which is older than `time`. */
void hook_backlog_add(struct hook_backlog *b, const struct study *study, uint32_t seq,
		      int64_t time);
/* Adds all records of a quarantined study, and the notification of the quarantine. */
void hook_backlog_add_quarantined(struct hook_backlog *b, const struct study *study);
/* The study's first waiting record; UINT32_MAX: none. */
uint32_t hook_backlog_first_seq(const struct hook_backlog *b, uint32_t study_id);
/* Queues waiting notifications, oldest first, while the queue has room. Returns early if it must
 * wait for the journal. */
void hook_backlog_poll(struct hook_backlog *b, struct daemon *d, struct hook_queue *queue);
/* Called when no hooks are configured any more. */
void hook_backlog_clear(struct hook_backlog *b);

#endif
