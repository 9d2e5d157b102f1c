/* hook_backlog.h - notifications that found no place in the hooks' queue. They are not
 * kept in memory: each study has the number of its first record that was not queued, and
 * the journal is read from there when the queue has room. */
#ifndef DP_DAEMON_NOTIFY_HOOK_BACKLOG_H
#define DP_DAEMON_NOTIFY_HOOK_BACKLOG_H
#include "daemon/core/daemon.h"

struct hook_backlog {
	bool has_entries;      /* a study may have some */
	bool fetching;         /* records of `study` were asked for */
	bool was_durable;      /* all records up to `upto` were durable then */
	uint32_t study_id;     /* its number */
	uint32_t end_seq;      /* its next record when they were asked for */
	uint64_t after_ticket; /* not to be read before this ticket is durable */
	int64_t retry_at_us;   /* dp_monotonic_us(): the last read failed */
};

/* The study's notifications wait from this record on, whose time is at least `time`. */
void hook_backlog_add(struct hook_backlog *b, struct study *study, uint32_t seq, int64_t time);
/* All of a study that is set apart, and in the end that it is. */
void hook_backlog_add_quarantined(struct hook_backlog *b, struct study *study);
/* Queues what waits, the oldest first, as long as the queue has room. Returns when it
 * must wait for the journal, too. */
void hook_backlog_poll(struct hook_backlog *b, struct daemon *d);
/* There are no hooks any more. */
void hook_backlog_clear(struct hook_backlog *b, struct daemon *d);

#endif
