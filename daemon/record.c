/* record.c - the way of every decision: into the journal, then into the world. */
#include "daemon/record.h"

#include "base/num.h"
#include "daemon/happened.h"
#include "daemon/sched.h"
#include "daemon/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LOOK_PATIENCE_MS = 500, /* a look waits so long; commits take less */
	LOOK_TIMER_MS = 100,
	TELL_SILENCE_S = 5,
};

/* Something to do once a ticket of the journal is durable. */
struct after {
	struct after *next;
	uint64_t ticket;
	bool looks; /* changes nothing: need not wait while the journal is in trouble */
	void (*fn)(struct dpd *d, void *arg);
	void *arg;
};

/* Memory or order is lost: what is on the disk is right, so the next daemon starts
 * from there. Trainers go on under their shims. */
static _Noreturn void give_up(struct dpd *d, const struct dp_err *err)
{
	log_line(&d->log, LOG_ERROR, "", "cannot go on: %s", err->msg);
	dp_journal_close(d->journal);
	exit(1);
}

void record_give_up(struct dpd *d, const char *what)
{
	struct dp_err err;

	dp_fail(&err, DP_E_NOMEM, "no memory %s", what);
	give_up(d, &err);
}

/* Before a ticket is given out: from here on the journal owes an answer. */
static void silence_begins(struct dpd *d)
{
	if (d->durable == d->last_ticket)
		d->silent_since = dp_mono_us();
}

static void record_event(struct dpd *d, struct dp_event *e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e->time = clock_now(d);
	if (dp_event_encode(e, &bytes, &err) != DP_OK ||
	    dp_state_apply(&d->state, e, &err) != DP_OK)
		give_up(d, &err);
	/* the rest of this turn belongs to the same commit; the turn, kicked below, lets
	 * it go */
	dp_journal_hold(d->journal);
	silence_begins(d);
	d->last_ticket = dp_journal_append(d->journal, e->study, e->seq, bytes.data, bytes.len);
	if (d->last_ticket == 0)
		record_give_up(d, "for the journal's queue");
	dp_buf_free(&bytes);
	sched_kick(d);
}

void record(struct study *h, struct dp_event *e)
{
	e->study = h->state->id;
	e->seq = h->state->seq;
	record_event(h->d, e);
	revision_changed(h);
	happened_record(h, e);
	study_changed(h);
}

struct study *record_created(struct dpd *d, struct dp_event *e)
{
	struct study *h;

	e->study = d->next_study++;
	record_event(d, e);
	h = study_new(d, dp_state_by_id(&d->state, e->study));
	if (!h)
		record_give_up(d, "for a study");
	revision_changed(h);
	happened_record(h, e);
	study_changed(h);
	return h;
}

void record_forget(struct study *h)
{
	silence_begins(h->d);
	h->d->last_ticket = dp_journal_forget(h->d->journal, h->state->id);
	if (h->d->last_ticket == 0)
		record_give_up(h->d, "for the journal's queue");
}

/* ---- after a commit ---- */

double record_silence(const struct dpd *d)
{
	return d->durable < d->last_ticket ? (double)(dp_mono_us() - d->silent_since) / 1e6 : 0;
}

bool record_is_silent(const struct dpd *d)
{
	return record_silence(d) * 1000 >= LOOK_PATIENCE_MS;
}

const char *record_why_stuck(const struct dpd *d, char *out, size_t room)
{
	struct dp_err why;

	if (d->trouble && dp_journal_trouble(d->journal, &why))
		snprintf(out, room, "the journal cannot be written: %s", why.msg);
	else if (record_is_silent(d))
		snprintf(out, room, "the journal has not answered for %.0f s",
			 ceil(record_silence(d)));
	else
		return NULL;
	return out;
}

static void after_call_due(struct dpd *d);

static void on_look_timer(uv_timer_t *timer)
{
	struct dpd *d = timer->data;

	after_call_due(d);
	if (d->looks_waiting == 0)
		uv_timer_stop(timer);
}

static void wait_for_commit(struct dpd *d, bool looks, uint64_t ticket,
			    void (*fn)(struct dpd *d, void *arg), void *arg)
{
	struct after *a;

	a = malloc(sizeof *a);
	if (!a)
		record_give_up(d, "to wait for the journal");
	*a = (struct after){ .ticket = ticket, .looks = looks, .fn = fn, .arg = arg };
	*d->after_last = a;
	d->after_last = &a->next;
	if (looks && d->looks_waiting++ == 0 && !d->closed)
		uv_timer_start(&d->look_timer, on_look_timer, LOOK_TIMER_MS, LOOK_TIMER_MS);
}

static bool is_blocked(const struct dpd *d)
{
	return d->trouble || record_is_silent(d);
}

/* Is everything durable, and nothing left that has to be done before? */
static bool is_settled(const struct dpd *d)
{
	return !d->after_first && dp_journal_durable(d->journal) >= d->last_ticket;
}

void after_commit(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg)
{
	if (is_settled(d))
		fn(d, arg);
	else
		wait_for_commit(d, false, d->last_ticket, fn, arg);
}

void after_commit_look(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg)
{
	if (is_settled(d) || is_blocked(d))
		fn(d, arg);
	else
		wait_for_commit(d, true, d->last_ticket, fn, arg);
}

void after_ticket_look(struct dpd *d, uint64_t ticket, void (*fn)(struct dpd *d, void *arg),
		       void *arg)
{
	if (dp_journal_durable(d->journal) >= ticket || is_blocked(d))
		fn(d, arg);
	else
		wait_for_commit(d, true, ticket, fn, arg);
}

void after_drop(struct dpd *d)
{
	struct after *a;

	while ((a = d->after_first) != NULL) {
		d->after_first = a->next;
		a->fn(d, a->arg);
		free(a);
	}
	d->after_last = &d->after_first;
}

/* Does what is due: durable by now, or only looking while it cannot become so. Taken off
 * the list before any of it is called, because a callback may add to the list. */
static void after_call_due(struct dpd *d)
{
	uint64_t durable = dp_journal_durable(d->journal);
	bool blocked = is_blocked(d);
	struct after *due = NULL, **due_last = &due, **p = &d->after_first, *a;

	while ((a = *p) != NULL) {
		if (a->ticket > durable && !(a->looks && blocked)) {
			p = &a->next;
			continue;
		}
		d->looks_waiting -= a->looks;
		*p = a->next;
		a->next = NULL;
		*due_last = a;
		due_last = &a->next;
	}
	d->after_last = p;
	while ((a = due) != NULL) {
		due = a->next;
		a->fn(d, a->arg);
		free(a);
	}
}

/* ---- the writer ---- */

/* The journal has made something durable. */
static void silence_ends(struct dpd *d)
{
	uint64_t durable = dp_journal_durable(d->journal);

	if (durable == d->durable)
		return;
	if (d->silence_told)
		log_line(&d->log, LOG_WARN, "", "the journal answered after %.1f s",
			 record_silence(d));
	d->silence_told = false;
	d->durable = durable;
	d->silent_since = dp_mono_us();
}

void record_watch(struct dpd *d)
{
	if (d->silence_told || d->trouble || record_silence(d) < TELL_SILENCE_S)
		return;
	log_line(&d->log, LOG_WARN, "",
		 "the journal has not answered for %.0f s: does the disk hang? What "
		 "changes something waits for it",
		 record_silence(d));
	d->silence_told = true;
}

/* The writer made tickets durable, or its trouble began or ended. */
static void on_journal(uv_async_t *handle)
{
	struct dpd *d = handle->data;
	struct dp_err why;
	bool trouble = dp_journal_trouble(d->journal, &why);

	if (trouble && !d->trouble)
		log_line(&d->log, LOG_ERROR, "",
			 "the journal cannot be written: %s; nothing starts until it can, "
			 "trying again every second",
			 why.msg);
	if (!trouble && d->trouble)
		log_line(&d->log, LOG_WARN, "", "the journal can be written again");
	d->trouble = trouble;
	silence_ends(d);
	after_call_due(d);
	sched_kick(d);
	daemon_stop_check(d);
}

/* On the writer's thread. */
static void wake_loop(void *arg)
{
	uv_async_send(arg);
}

int record_start(struct dpd *d, struct dp_err *err)
{
	int e = uv_async_init(&d->loop, &d->journal_async, on_journal);

	if (e != 0)
		return dp_fail(err, DP_E_FAILED, "cannot listen to the journal: %s",
			       uv_strerror(e));
	d->journal_async.data = d;
	uv_timer_init(&d->loop, &d->look_timer);
	d->look_timer.data = d;
	return dp_journal_start(d->journal, wake_loop, &d->journal_async, err);
}
