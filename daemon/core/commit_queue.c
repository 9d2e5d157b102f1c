/* commit_queue.c - the way of every decision: into the journal, then into the world. */
#include "daemon/core/commit_queue.h"

#include "base/units.h"
#include "daemon/notify/notification.h"
#include "daemon/studies/scheduler.h"
#include "daemon/studies/study_object.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	READ_ONLY_WAIT_MS = 500, /* a look waits so long; commits take less */
	READ_ONLY_TIMER_MS = 100,
	LOG_STALL_SECONDS = 5,
};

/* Something to do once a ticket of the journal is durable. */
struct commit_callback {
	struct commit_callback *next;
	uint64_t ticket;
	bool is_read_only; /* changes nothing: need not wait while the journal is in trouble */
	void (*fn)(struct daemon *d, void *arg);
	void *arg;
};

/* Memory or order is lost: what is on the disk is right, so the next daemon starts
 * from there. Trainers go on under their shims. */
static _Noreturn void daemon_die(struct daemon *d, const struct dp_err *err)
{
	log_line(&d->log, LOG_ERROR, "", "cannot go on: %s", err->msg);
	dp_journal_close(d->journal);
	exit(1);
}

void daemon_die_no_memory(struct daemon *d, const char *what)
{
	struct dp_err err;

	dp_fail(&err, DP_E_NOMEM, "no memory %s", what);
	daemon_die(d, &err);
}

/* Before a ticket is given out: from here on the journal owes an answer. */
static void commit_queue_start_waiting(struct daemon *d)
{
	if (d->durable_ticket == d->last_ticket)
		d->commit_wait_since_us = dp_monotonic_us();
}

static void commit_queue_append(struct daemon *d, struct dp_event *e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e->time_us = clock_now(d);
	if (dp_event_encode(e, &bytes, &err) != DP_OK ||
	    dp_state_apply(&d->state, e, &err) != DP_OK)
		daemon_die(d, &err);
	/* the rest of this turn belongs to the same commit; the turn, kicked below, lets
	 * it go */
	dp_journal_begin_batch(d->journal);
	commit_queue_start_waiting(d);
	d->last_ticket = dp_journal_append(d->journal, e->study, e->seq, bytes.data, bytes.len);
	if (d->last_ticket == 0)
		daemon_die_no_memory(d, "for the journal's queue");
	dp_buf_free(&bytes);
	scheduler_request_turn(d);
}

void study_record_event(struct study *study, struct dp_event *e)
{
	e->study = study->state->id;
	e->seq = study->state->next_seq;
	commit_queue_append(study->daemon, e);
	change_feed_note_change(study);
	notification_on_record(study, e);
	study_mark_changed(study);
}

struct study *study_record_created(struct daemon *d, struct dp_event *e)
{
	struct study *study;

	e->study = d->next_study_id++;
	commit_queue_append(d, e);
	study = study_new(d, dp_state_get_study(&d->state, e->study));
	if (!study)
		daemon_die_no_memory(d, "for a study");
	change_feed_note_change(study);
	notification_on_record(study, e);
	study_mark_changed(study);
	return study;
}

void study_record_deletion(struct study *study)
{
	commit_queue_start_waiting(study->daemon);
	study->daemon->last_ticket =
		dp_journal_delete_study(study->daemon->journal, study->state->id);
	if (study->daemon->last_ticket == 0)
		daemon_die_no_memory(study->daemon, "for the journal's queue");
}

/* ---- after a commit ---- */

double commit_queue_wait_seconds(const struct daemon *d)
{
	return d->durable_ticket < d->last_ticket
		       ? (double)(dp_monotonic_us() - d->commit_wait_since_us) / 1e6
		       : 0;
}

bool commit_queue_is_stalled(const struct daemon *d)
{
	return commit_queue_wait_seconds(d) * 1000 >= READ_ONLY_WAIT_MS;
}

const char *commit_queue_describe_trouble(const struct daemon *d, char *out, size_t room)
{
	struct dp_err why;

	if (d->journal_failing && dp_journal_get_write_error(d->journal, &why))
		snprintf(out, room, "the journal cannot be written: %s", why.msg);
	else if (commit_queue_is_stalled(d))
		snprintf(out, room, "the journal has not answered for %.0f s",
			 ceil(commit_queue_wait_seconds(d)));
	else
		return NULL;
	return out;
}

static void after_commit_run_due(struct daemon *d);

static void on_read_only_timer(uv_timer_t *timer)
{
	struct daemon *d = timer->data;

	after_commit_run_due(d);
	if (d->n_read_only_callbacks == 0)
		uv_timer_stop(timer);
}

static void after_commit_add(struct daemon *d, bool looks, uint64_t ticket,
			     void (*fn)(struct daemon *d, void *arg), void *arg)
{
	struct commit_callback *a;

	a = dp_malloc(sizeof *a);
	if (!a)
		daemon_die_no_memory(d, "to wait for the journal");
	*a = (struct commit_callback){
		.ticket = ticket, .is_read_only = looks, .fn = fn, .arg = arg
	};
	*d->commit_callbacks_end = a;
	d->commit_callbacks_end = &a->next;
	if (looks && d->n_read_only_callbacks++ == 0 && !d->loop_ended)
		uv_timer_start(&d->read_only_timer, on_read_only_timer, READ_ONLY_TIMER_MS,
			       READ_ONLY_TIMER_MS);
}

static bool commit_queue_is_blocked(const struct daemon *d)
{
	return d->journal_failing || commit_queue_is_stalled(d);
}

/* Is everything durable, and nothing left that has to be done before? */
static bool commit_queue_is_durable(const struct daemon *d)
{
	return !d->commit_callbacks && dp_journal_durable_ticket(d->journal) >= d->last_ticket;
}

void after_commit(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg)
{
	if (commit_queue_is_durable(d))
		fn(d, arg);
	else
		after_commit_add(d, false, d->last_ticket, fn, arg);
}

void after_commit_read_only(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg)
{
	if (commit_queue_is_durable(d) || commit_queue_is_blocked(d))
		fn(d, arg);
	else
		after_commit_add(d, true, d->last_ticket, fn, arg);
}

void after_ticket_read_only(struct daemon *d, uint64_t ticket,
			    void (*fn)(struct daemon *d, void *arg), void *arg)
{
	if (dp_journal_durable_ticket(d->journal) >= ticket || commit_queue_is_blocked(d))
		fn(d, arg);
	else
		after_commit_add(d, true, ticket, fn, arg);
}

void after_commit_run_all(struct daemon *d)
{
	struct commit_callback *a;

	while ((a = d->commit_callbacks) != NULL) {
		d->commit_callbacks = a->next;
		a->fn(d, a->arg);
		free(a);
	}
	d->commit_callbacks_end = &d->commit_callbacks;
}

/* Does what is due: durable by now, or only looking while it cannot become so. Taken off
 * the list before any of it is called, because a callback may add to the list. */
static void after_commit_run_due(struct daemon *d)
{
	uint64_t durable = dp_journal_durable_ticket(d->journal);
	bool blocked = commit_queue_is_blocked(d);
	struct commit_callback *due = NULL, **due_last = &due, **p = &d->commit_callbacks, *a;

	while ((a = *p) != NULL) {
		if (a->ticket > durable && !(a->is_read_only && blocked)) {
			p = &a->next;
			continue;
		}
		d->n_read_only_callbacks -= a->is_read_only;
		*p = a->next;
		a->next = NULL;
		*due_last = a;
		due_last = &a->next;
	}
	d->commit_callbacks_end = p;
	while ((a = due) != NULL) {
		due = a->next;
		a->fn(d, a->arg);
		free(a);
	}
}

/* ---- the writer ---- */

/* The journal has made something durable. */
static void commit_queue_note_durable(struct daemon *d)
{
	uint64_t durable = dp_journal_durable_ticket(d->journal);

	if (durable == d->durable_ticket)
		return;
	if (d->stall_logged)
		log_line(&d->log, LOG_WARN, "", "the journal answered after %.1f s",
			 commit_queue_wait_seconds(d));
	d->stall_logged = false;
	d->durable_ticket = durable;
	d->commit_wait_since_us = dp_monotonic_us();
}

void commit_queue_log_stall(struct daemon *d)
{
	if (d->stall_logged || d->journal_failing ||
	    commit_queue_wait_seconds(d) < LOG_STALL_SECONDS)
		return;
	log_line(&d->log, LOG_WARN, "",
		 "the journal has not answered for %.0f s: does the disk hang? What "
		 "changes something waits for it",
		 commit_queue_wait_seconds(d));
	d->stall_logged = true;
}

/* The writer made tickets durable, or its trouble began or ended. */
static void on_journal_progress(uv_async_t *handle)
{
	struct daemon *d = handle->data;
	struct dp_err why;
	bool trouble = dp_journal_get_write_error(d->journal, &why);

	if (trouble && !d->journal_failing)
		log_line(&d->log, LOG_ERROR, "",
			 "the journal cannot be written: %s; nothing starts until it can, "
			 "trying again every second",
			 why.msg);
	if (!trouble && d->journal_failing)
		log_line(&d->log, LOG_WARN, "", "the journal can be written again");
	d->journal_failing = trouble;
	commit_queue_note_durable(d);
	after_commit_run_due(d);
	scheduler_request_turn(d);
	daemon_finish_stop_if_idle(d);
}

/* On the writer's thread. */
static void journal_wake_loop(void *arg)
{
	uv_async_send(arg);
}

int commit_queue_start(struct daemon *d, struct dp_err *err)
{
	int e = uv_async_init(&d->loop, &d->journal_async, on_journal_progress);

	if (e != 0)
		return dp_fail(err, DP_E_FAILED, "cannot listen to the journal: %s",
			       uv_strerror(e));
	d->journal_async.data = d;
	uv_timer_init(&d->loop, &d->read_only_timer);
	d->read_only_timer.data = d;
	return dp_journal_start_writer(d->journal, journal_wake_loop, &d->journal_async, err);
}
