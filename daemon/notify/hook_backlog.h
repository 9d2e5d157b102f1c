/* hook_backlog.h - notifications that found no place in the hooks' queue. They are not kept in
 * memory: each study has the number of its first record that was not queued, and the journal is
 * read from there when the queue has room. */
#ifndef DP_DAEMON_NOTIFY_HOOK_BACKLOG_H
#define DP_DAEMON_NOTIFY_HOOK_BACKLOG_H
#include "daemon/notify/hook_queue.h"

/* Notifications of one study that wait in the journal. */
struct backlog_entry {
	uint32_t study_id;
	bool is_quarantined; /* at its end: that the study is set apart, which has no record */
	uint32_t first_seq;  /* the first record that was not queued */
	int64_t time;        /* no record to report from there on is older */
};

struct hook_backlog {
	struct backlog_entry *entries; /* (n of capacity), by study */
	size_t n, capacity;
	bool fetching;    /* records of study_id were asked for */
	bool was_durable; /* all records up to end_seq were durable then */
	uint32_t study_id, end_seq;
	uint64_t after_ticket; /* not to be read before this ticket is durable */
	int64_t retry_at_us;   /* dp_monotonic_us(): the last read failed */
};

/* The study's notifications wait from this record on, whose time is at least `time`. */
void hook_backlog_add(struct hook_backlog *b, const struct study *study, uint32_t seq,
		      int64_t time);
/* All of a study that is set apart, and in the end that it is. */
void hook_backlog_add_quarantined(struct hook_backlog *b, const struct study *study);
/* The first record of the study that waits; UINT32_MAX: none does. */
uint32_t hook_backlog_first_seq(const struct hook_backlog *b, uint32_t study_id);
/* Queues what waits, the oldest first, as long as the queue has room. Returns when it must wait for
 * the journal, too. */
void hook_backlog_poll(struct hook_backlog *b, struct daemon *d, struct hook_queue *queue);
/* There are no hooks any more. */
void hook_backlog_clear(struct hook_backlog *b);

#endif
