/* hook_backlog.c - reads notifications that had to wait from the journal, and queues
 * them: those of a study in the order of its records, those of several by their time. */
#include "daemon/hook_backlog.h"

#include "base/num.h"
#include "daemon/happened.h"
#include "daemon/hook.h"
#include "daemon/study.h"

enum {
	AGAIN_US = 1000000, /* after a read that failed */
	TURN_US = 10000     /* then the loop has other work */
};

void hook_backlog_add(struct hook_backlog *b, struct study *h, uint32_t seq, int64_t time)
{
	if (h->hook_wait.waits)
		return; /* from an earlier record on */
	h->hook_wait.waits = true;
	h->hook_wait.from = seq;
	h->hook_wait.time = time;
	b->any = true;
}

void hook_backlog_add_apart(struct hook_backlog *b, struct study *h)
{
	hook_backlog_add(b, h, h->state->seq, h->state->updated);
	h->hook_wait.apart = true;
}

void hook_backlog_clear(struct hook_backlog *b, struct dpd *d)
{
	for (uint32_t i = 0; i < d->nstudies; i++)
		d->studies[i]->hook_wait = (struct hook_wait){ 0 };
	b->any = false;
}

/* The study whose next notification may be the oldest, but for one; NULL: none waits. */
static struct study *oldest_waiting(const struct dpd *d, const struct study *except)
{
	struct study *oldest = NULL;

	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct study *h = d->studies[i];

		if (h != except && h->hook_wait.waits &&
		    (!oldest || h->hook_wait.time < oldest->hook_wait.time))
			oldest = h;
	}
	return oldest;
}

struct backlog_scan {
	struct study *home;
	int64_t limit; /* what is younger than this is another study's turn */
	int64_t until; /* dp_mono_us() */
	bool moved;    /* a record was seen */
	bool ended;    /* by backlog_record(), which needs no more of what was read */
	bool no_memory;
};

static int backlog_stop(struct backlog_scan *s)
{
	s->ended = true;
	return DP_E_BUSY; /* any code does; one of the read itself leaves `ended` alone */
}

/* Queues the record if it is its turn. False: not now. */
static bool backlog_queue(struct backlog_scan *s, const struct dp_event *e)
{
	if (e->time > s->limit || !hooks_have_room(s->home->d))
		return false;
	s->no_memory = !happened_queue(s->home, e, 0);
	return !s->no_memory;
}

static int backlog_record(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
			  struct dp_err *err)
{
	struct backlog_scan *s = arg;
	struct hook_wait *w = &s->home->hook_wait;
	struct dp_event e = { 0 };
	int code;

	/* beyond it: what a study that was set apart does not know */
	if (!w->waits || seq >= s->home->state->seq)
		return backlog_stop(s);
	if (seq < w->from)
		return DP_OK;
	s->moved = true;
	w->from = seq;
	code = dp_event_decode(bytes, len, &e, err);
	e.study = study;
	e.seq = seq;
	if (code == DP_OK) { /* else the fold says what is wrong with it */
		w->time = e.time;
		if (happened_concerns(s->home, &e) && !backlog_queue(s, &e))
			code = backlog_stop(s);
	} else if (code == DP_E_NOMEM) {
		s->no_memory = true;
		code = backlog_stop(s);
	}
	dp_event_clear(&e);
	if (s->ended)
		return code;
	w->from = seq + 1;
	return dp_mono_us() < s->until ? DP_OK : backlog_stop(s);
}

/* The study was deleted meanwhile. */
static int backlog_ignore(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
			  struct dp_err *err)
{
	(void)arg;
	(void)study;
	(void)seq;
	(void)bytes;
	(void)len;
	(void)err;
	return DP_E_BUSY;
}

/* Takes what was read. False while it is not there. */
static bool backlog_take(struct hook_backlog *b, struct dpd *d)
{
	struct study *h = study_by_id(d, b->study);
	const struct study *other = oldest_waiting(d, h);
	struct backlog_scan s = { .home = h,
				  .limit = other ? other->hook_wait.time : INT64_MAX,
				  .until = dp_mono_us() + TURN_US };
	struct dp_err err;
	int code;

	if (!dp_journal_fetched(d->journal, h ? backlog_record : backlog_ignore, &s, &code, &err))
		return false;
	b->reading = false;
	if (!h)
		return true;
	if (s.no_memory)
		b->not_until = dp_mono_us() + AGAIN_US;
	if (code != DP_OK && !s.ended) { /* nothing was read: nothing is skipped */
		b->not_until = dp_mono_us() + AGAIN_US;
		log_line(&d->log, LOG_WARN, h->state->spec->name,
			 "cannot read what hooks have not heard yet: %s; trying again", err.msg);
	} else if (!s.moved && b->complete) {
		if (h->hook_wait.from < b->upto)
			h->hook_wait.from = b->upto; /* there is nothing */
	} else if (!s.moved) {
		b->after = d->last_ticket;
	}
	return true;
}

/* All of the study is queued. */
static void backlog_end(struct study *h)
{
	struct dp_event e = { .type = DP_EV_STUDY_MOVED,
			      .study = h->state->id,
			      .seq = h->state->seq,
			      .time = h->state->updated,
			      .state = dp_study_status_text(DP_STUDY_PAUSED),
			      .reason = h->state->reason };
	bool apart = h->hook_wait.apart;

	h->hook_wait = (struct hook_wait){ 0 };
	if (apart && happened_concerns(h, &e) && !happened_queue(h, &e, 0))
		log_line(&h->d->log, LOG_WARN, h->state->spec->name, "no memory to run a hook");
}

static void backlog_ask(struct hook_backlog *b, struct study *h)
{
	b->study = h->state->id;
	b->upto = h->state->seq;
	b->complete = dp_journal_durable(h->d->journal) >= h->d->last_ticket;
	b->reading = dp_journal_fetch(h->d->journal, b->study, h->hook_wait.from);
}

void hook_backlog_poll(struct hook_backlog *b, struct dpd *d)
{
	struct study *h;

	while (b->any) {
		if (b->reading && !backlog_take(b, d))
			return;
		h = oldest_waiting(d, NULL);
		if (!h) {
			b->any = false;
			log_line(&d->log, LOG_INFO, "",
				 "no notification waits in the journal any more");
			return;
		}
		if (!hooks_have_room(d) || dp_mono_us() < b->not_until ||
		    dp_journal_durable(d->journal) < b->after)
			return;
		if (h->hook_wait.from >= h->state->seq)
			backlog_end(h);
		else
			backlog_ask(b, h);
	}
}
