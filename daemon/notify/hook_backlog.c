/* hook_backlog.c - reads waiting notifications from the journal and queues them: in record order
 * within a study, by time between studies. */
#include "daemon/notify/hook_backlog.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum {
	RETRY_US = 1000000, /* after a failed read */
	TURN_US = 10000     /* then other work of the loop gets its turn */
};

/* ---- entries ---- */

/* Position of the first entry with this id or a larger one. */
static size_t hook_backlog_index(const struct hook_backlog *b, uint32_t study_id)
{
	size_t lo = 0, hi = b->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->entries[mid].study_id < study_id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct backlog_entry *hook_backlog_find(const struct hook_backlog *b, uint32_t study_id)
{
	size_t i = hook_backlog_index(b, study_id);

	return i < b->n && b->entries[i].study_id == study_id ? &b->entries[i] : NULL;
}

void hook_backlog_add(struct hook_backlog *b, const struct study *study, uint32_t seq, int64_t time)
{
	uint32_t id = study->state->id;
	size_t i = hook_backlog_index(b, id);

	if (i < b->n && b->entries[i].study_id == id)
		return; /* an earlier record is already waiting */
	if (b->n == b->capacity) {
		b->capacity = b->capacity ? 2 * b->capacity : 16;
		b->entries = dp_reallocarray(b->entries, b->capacity, sizeof *b->entries);
	}
	memmove(b->entries + i + 1, b->entries + i, (b->n - i) * sizeof *b->entries);
	b->entries[i] = (struct backlog_entry){ .study_id = id, .first_seq = seq, .time = time };
	b->n++;
}

static void hook_backlog_remove(struct hook_backlog *b, struct backlog_entry *e)
{
	b->n--;
	memmove(e, e + 1, (size_t)(b->entries + b->n - e) * sizeof *e);
}

void hook_backlog_add_quarantined(struct hook_backlog *b, const struct study *study)
{
	hook_backlog_add(b, study, study->state->next_seq, study->state->updated_us);
	hook_backlog_find(b, study->state->id)->is_quarantined = true;
}

uint32_t hook_backlog_first_seq(const struct hook_backlog *b, uint32_t study_id)
{
	const struct backlog_entry *e = hook_backlog_find(b, study_id);

	return e ? e->first_seq : UINT32_MAX;
}

void hook_backlog_clear(struct hook_backlog *b)
{
	free(b->entries);
	b->entries = NULL;
	b->n = b->capacity = 0;
}

/* The entry with the oldest notification, except `except`, or NULL. Drops deleted studies. */
static struct backlog_entry *hook_backlog_find_oldest(struct hook_backlog *b,
						      const struct daemon *d, uint32_t except)
{
	struct backlog_entry *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (study_by_id(d, b->entries[i].study_id))
			b->entries[n++] = b->entries[i];
	b->n = n;
	for (size_t i = 0; i < b->n; i++)
		if (b->entries[i].study_id != except &&
		    (!oldest || b->entries[i].time < oldest->time))
			oldest = &b->entries[i];
	return oldest;
}

/* ---- reading ---- */

struct backlog_scan {
	struct study *study;
	struct backlog_entry *entry;
	struct hook_queue *queue;
	int64_t max_time;    /* a newer record must wait for another study's */
	int64_t deadline_us; /* dp_monotonic_us() */
	bool saw_record;
	bool stopped; /* set by on_backlog_record(), which needs no more records */
};

static int backlog_scan_stop(struct backlog_scan *s)
{
	s->stopped = true;
	return DP_E_BUSY; /* any code works; an error of the read itself leaves `stopped` false */
}

static int on_backlog_record(void *arg, uint32_t study_id, uint32_t seq, const void *bytes,
			     size_t len, struct dp_err *err)
{
	struct backlog_scan *s = arg;
	struct dp_event e = { 0 };
	int code;

	/* beyond next_seq are records of a quarantined study that are not in the state */
	if (!s->entry || seq >= s->study->state->next_seq)
		return backlog_scan_stop(s);
	if (seq < s->entry->first_seq)
		return DP_OK;
	s->saw_record = true;
	s->entry->first_seq = seq;
	code = dp_event_decode(bytes, len, &e, err);
	e.study = study_id;
	e.seq = seq;
	if (code == DP_OK) { /* on an error the state has the reason */
		s->entry->time = e.time_us;
		if (!notification_record_is_wanted(s->study, &e))
			code = DP_OK;
		else if (e.time_us > s->max_time || !hook_queue_has_room(s->queue))
			code = backlog_scan_stop(s);
		else
			hook_queue_add(s->queue, s->study->daemon->config.hooks,
				       notification_of_record(s->study, &e, 0));
	}
	dp_event_clear(&e);
	if (s->stopped)
		return code;
	s->entry->first_seq = seq + 1;
	return dp_monotonic_us() < s->deadline_us ? DP_OK : backlog_scan_stop(s);
}

static bool hook_backlog_take_fetched(struct hook_backlog *b, struct daemon *d,
				      struct hook_queue *queue)
{
	const struct backlog_entry *other = hook_backlog_find_oldest(b, d, b->study_id);
	struct backlog_scan s = { .study = study_by_id(d, b->study_id),
				  .entry = hook_backlog_find(b, b->study_id),
				  .queue = queue,
				  .max_time = other ? other->time : INT64_MAX,
				  .deadline_us = dp_monotonic_us() + TURN_US };
	struct dp_err err;
	int code;

	if (!dp_journal_take_records(d->journal, on_backlog_record, &s, &code, &err))
		return false;
	b->fetching = false;
	if (!s.entry)
		return true;               /* the study was deleted meanwhile */
	if (code != DP_OK && !s.stopped) { /* nothing was read and nothing is skipped */
		b->retry_at_us = dp_monotonic_us() + RETRY_US;
		log_line(&d->log, LOG_WARN, s.study->state->spec->name,
			 "cannot read what hooks have not heard yet: %s; trying again", err.msg);
	} else if (!s.saw_record && b->was_durable) {
		if (s.entry->first_seq < b->end_seq)
			s.entry->first_seq = b->end_seq; /* the journal has no records there */
	} else if (!s.saw_record) {
		b->after_ticket = d->commits->last_ticket;
	}
	return true;
}

/* All records of the study are queued: adds the notification of a quarantine. */
static void hook_backlog_finish_study(struct hook_backlog *b, struct backlog_entry *entry,
				      struct study *study, struct hook_queue *queue)
{
	struct dp_event e = { .type = DP_EV_STUDY_MOVED,
			      .study = study->state->id,
			      .seq = study->state->next_seq,
			      .time_us = study->state->updated_us,
			      .reason = study->state->reason,
			      .study_moved = { .state = dp_study_status_text(DP_STUDY_PAUSED) } };

	if (entry->is_quarantined && notification_record_is_wanted(study, &e))
		hook_queue_add(queue, study->daemon->config.hooks,
			       notification_of_record(study, &e, 0));
	hook_backlog_remove(b, entry);
}

/* False if it must wait, for the journal or for room in the queue. */
static bool hook_backlog_step(struct hook_backlog *b, struct daemon *d, struct hook_queue *queue)
{
	struct backlog_entry *entry;
	struct study *study;

	if (b->fetching && !hook_backlog_take_fetched(b, d, queue))
		return false;
	entry = hook_backlog_find_oldest(b, d, 0);
	if (!entry || !hook_queue_has_room(queue) || dp_monotonic_us() < b->retry_at_us ||
	    dp_journal_durable_ticket(d->journal) < b->after_ticket)
		return false;
	study = study_by_id(d, entry->study_id);
	if (entry->first_seq >= study->state->next_seq) {
		hook_backlog_finish_study(b, entry, study, queue);
		return true;
	}
	b->study_id = entry->study_id;
	b->end_seq = study->state->next_seq;
	b->was_durable = commit_queue_is_durable(d);
	b->fetching = dp_journal_request_records(d->journal, b->study_id, entry->first_seq);
	return true;
}

void hook_backlog_poll(struct hook_backlog *b, struct daemon *d, struct hook_queue *queue)
{
	if (b->n == 0)
		return;
	while (b->n && hook_backlog_step(b, d, queue))
		;
	if (b->n == 0)
		log_line(&d->log, LOG_INFO, "", "no notification waits in the journal any more");
}
