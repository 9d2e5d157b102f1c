/* hook_backlog.c - reads notifications that had to wait from the journal, and queues
 * them: those of a study in the order of its records, those of several by their time. */
#include "daemon/notify/hook_backlog.h"

#include "base/units.h"
#include "daemon/notify/notification.h"
#include "daemon/notify/hooks.h"
#include "daemon/studies/study_object.h"

enum {
	RETRY_US = 1000000, /* after a read that failed */
	TURN_US = 10000     /* then the loop has other work */
};

void hook_backlog_add(struct hook_backlog *b, struct study *study, uint32_t seq, int64_t time)
{
	if (study->hook_backlog.is_pending)
		return; /* from an earlier record on */
	study->hook_backlog.is_pending = true;
	study->hook_backlog.first_seq = seq;
	study->hook_backlog.time = time;
	b->has_entries = true;
}

void hook_backlog_add_quarantined(struct hook_backlog *b, struct study *study)
{
	hook_backlog_add(b, study, study->state->next_seq, study->state->updated_us);
	study->hook_backlog.is_quarantined = true;
}

void hook_backlog_clear(struct hook_backlog *b, struct daemon *d)
{
	for (uint32_t i = 0; i < d->nstudies; i++)
		d->studies[i]->hook_backlog = (struct hook_backlog_entry){ 0 };
	b->has_entries = false;
}

/* The study whose next notification may be the oldest, but for one; NULL: none waits. */
static struct study *hook_backlog_find_oldest(const struct daemon *d, const struct study *except)
{
	struct study *oldest = NULL;

	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct study *study = d->studies[i];

		if (study != except && study->hook_backlog.is_pending &&
		    (!oldest || study->hook_backlog.time < oldest->hook_backlog.time))
			oldest = study;
	}
	return oldest;
}

struct backlog_scan {
	struct study *study;
	int64_t max_time;    /* what is younger than this is another study's turn */
	int64_t deadline_us; /* dp_monotonic_us() */
	bool saw_record;     /* a record was seen */
	bool stopped;        /* by on_backlog_record(), which needs no more of what was read */
	bool no_memory;
};

static int backlog_scan_stop(struct backlog_scan *s)
{
	s->stopped = true;
	return DP_E_BUSY; /* any code does; one of the read itself leaves `ended` alone */
}

/* Queues the record if it is its turn. False: not now. */
static bool backlog_scan_enqueue(struct backlog_scan *s, const struct dp_event *e)
{
	if (e->time_us > s->max_time || !hooks_queue_has_room(s->study->daemon))
		return false;
	s->no_memory = !notification_enqueue(s->study, e, 0);
	return !s->no_memory;
}

static int on_backlog_record(void *arg, uint32_t study_id, uint32_t seq, const void *bytes,
			     size_t len, struct dp_err *err)
{
	struct backlog_scan *s = arg;
	struct hook_backlog_entry *w = &s->study->hook_backlog;
	struct dp_event e = { 0 };
	int code;

	/* beyond it: what a study that was set apart does not know */
	if (!w->is_pending || seq >= s->study->state->next_seq)
		return backlog_scan_stop(s);
	if (seq < w->first_seq)
		return DP_OK;
	s->saw_record = true;
	w->first_seq = seq;
	code = dp_event_decode(bytes, len, &e, err);
	e.study = study_id;
	e.seq = seq;
	if (code == DP_OK) { /* else the fold says what is wrong with it */
		w->time = e.time_us;
		if (notification_is_wanted(s->study, &e) && !backlog_scan_enqueue(s, &e))
			code = backlog_scan_stop(s);
	} else if (code == DP_E_NOMEM) {
		s->no_memory = true;
		code = backlog_scan_stop(s);
	}
	dp_event_clear(&e);
	if (s->stopped)
		return code;
	w->first_seq = seq + 1;
	return dp_monotonic_us() < s->deadline_us ? DP_OK : backlog_scan_stop(s);
}

/* The study was deleted meanwhile. */
static int on_backlog_record_ignored(void *arg, uint32_t study_id, uint32_t seq, const void *bytes,
				     size_t len, struct dp_err *err)
{
	(void)arg;
	(void)study_id;
	(void)seq;
	(void)bytes;
	(void)len;
	(void)err;
	return DP_E_BUSY;
}

/* Takes what was read. False while it is not there. */
static bool hook_backlog_take_fetched(struct hook_backlog *b, struct daemon *d)
{
	struct study *study = study_by_id(d, b->study_id);
	const struct study *other = hook_backlog_find_oldest(d, study);
	struct backlog_scan s = { .study = study,
				  .max_time = other ? other->hook_backlog.time : INT64_MAX,
				  .deadline_us = dp_monotonic_us() + TURN_US };
	struct dp_err err;
	int code;

	if (!dp_journal_take_records(d->journal,
				     study ? on_backlog_record : on_backlog_record_ignored, &s,
				     &code, &err))
		return false;
	b->fetching = false;
	if (!study)
		return true;
	if (s.no_memory)
		b->retry_at_us = dp_monotonic_us() + RETRY_US;
	if (code != DP_OK && !s.stopped) { /* nothing was read: nothing is skipped */
		b->retry_at_us = dp_monotonic_us() + RETRY_US;
		log_line(&d->log, LOG_WARN, study->state->spec->name,
			 "cannot read what hooks have not heard yet: %s; trying again", err.msg);
	} else if (!s.saw_record && b->was_durable) {
		if (study->hook_backlog.first_seq < b->end_seq)
			study->hook_backlog.first_seq = b->end_seq; /* there is nothing */
	} else if (!s.saw_record) {
		b->after_ticket = d->last_ticket;
	}
	return true;
}

/* All of the study is queued. */
static void hook_backlog_finish_study(struct study *study)
{
	struct dp_event e = { .type = DP_EV_STUDY_MOVED,
			      .study = study->state->id,
			      .seq = study->state->next_seq,
			      .time_us = study->state->updated_us,
			      .reason = study->state->reason,
			      .study_moved = { .state = dp_study_status_text(DP_STUDY_PAUSED) } };
	bool apart = study->hook_backlog.is_quarantined;

	study->hook_backlog = (struct hook_backlog_entry){ 0 };
	if (apart && notification_is_wanted(study, &e) && !notification_enqueue(study, &e, 0))
		log_line(&study->daemon->log, LOG_WARN, study->state->spec->name,
			 "no memory to run a hook");
}

static void hook_backlog_fetch(struct hook_backlog *b, struct study *study)
{
	b->study_id = study->state->id;
	b->end_seq = study->state->next_seq;
	b->was_durable =
		dp_journal_durable_ticket(study->daemon->journal) >= study->daemon->last_ticket;
	b->fetching = dp_journal_request_records(study->daemon->journal, b->study_id,
						 study->hook_backlog.first_seq);
}

void hook_backlog_poll(struct hook_backlog *b, struct daemon *d)
{
	struct study *study;

	while (b->has_entries) {
		if (b->fetching && !hook_backlog_take_fetched(b, d))
			return;
		study = hook_backlog_find_oldest(d, NULL);
		if (!study) {
			b->has_entries = false;
			log_line(&d->log, LOG_INFO, "",
				 "no notification waits in the journal any more");
			return;
		}
		if (!hooks_queue_has_room(d) || dp_monotonic_us() < b->retry_at_us ||
		    dp_journal_durable_ticket(d->journal) < b->after_ticket)
			return;
		if (study->hook_backlog.first_seq >= study->state->next_seq)
			hook_backlog_finish_study(study);
		else
			hook_backlog_fetch(b, study);
	}
}
