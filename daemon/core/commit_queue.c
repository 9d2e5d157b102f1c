/* commit_queue.c - journals events and calls back once they are durable. */
#include "daemon/core/commit_queue.h"

#include "base/units.h"
#include "daemon/core/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	READ_ONLY_WAIT_MS = 500, /* longest wait of a read-only request; commits take less */
	READ_ONLY_TIMER_MS = 100,
	LOG_STALL_SECONDS = 5,
};

struct commit_callback {
	struct commit_callback *next;
	uint64_t ticket;
	bool is_read_only; /* does not wait for a failing journal */
	void (*fn)(struct daemon *d, void *arg);
	void *arg;
};

void commit_queue_init(struct daemon *d)
{
	d->commits = dp_calloc(1, sizeof *d->commits);
	d->commits->callbacks_end = &d->commits->callbacks;
}

void commit_queue_free(struct daemon *d)
{
	free(d->commits);
}

/* Call it before a new ticket: from here on a commit is pending. */
static void commit_queue_start_waiting(struct commit_queue *q)
{
	if (q->durable_ticket == q->last_ticket)
		q->wait_since_us = dp_monotonic_us();
}

void commit_queue_append(struct daemon *d, struct dp_event *e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e->time_us = clock_now(d);
	if (dp_event_encode(e, &bytes, &err) != DP_OK ||
	    dp_state_apply(&d->state, e, &err) != DP_OK) {
		/* what is on disk is valid for the next daemon; trainers continue */
		log_line(&d->log, LOG_ERROR, "", "cannot go on: %s", err.msg);
		dp_journal_close(d->journal);
		exit(1);
	}
	/* the rest of this turn belongs to the same commit, which starts at the end of the turn */
	dp_journal_begin_batch(d->journal);
	commit_queue_start_waiting(d->commits);
	d->commits->last_ticket =
		dp_journal_append(d->journal, e->study, e->seq, bytes.data, bytes.len);
	dp_buf_free(&bytes);
	daemon_request_turn(d);
}

void commit_queue_delete_study(struct daemon *d, uint32_t study_id)
{
	commit_queue_start_waiting(d->commits);
	d->commits->last_ticket = dp_journal_delete_study(d->journal, study_id);
}

/* ---- after a commit ---- */

double commit_queue_wait_seconds(const struct daemon *d)
{
	const struct commit_queue *q = d->commits;

	return q->durable_ticket < q->last_ticket
		       ? (double)(dp_monotonic_us() - q->wait_since_us) / 1e6
		       : 0;
}

bool commit_queue_is_stalled(const struct daemon *d)
{
	return commit_queue_wait_seconds(d) * 1000 >= READ_ONLY_WAIT_MS;
}

const char *commit_queue_describe_trouble(const struct daemon *d, char *out, size_t room)
{
	const struct commit_queue *q = d->commits;
	struct dp_err why;

	if (q->is_failing && dp_journal_get_write_error(d->journal, &why))
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
	struct commit_queue *q = d->commits;

	after_commit_run_due(d);
	if (q->n_read_only_callbacks == 0)
		uv_timer_stop(timer);
}

static void after_commit_add(struct daemon *d, bool is_read_only, uint64_t ticket,
			     void (*fn)(struct daemon *d, void *arg), void *arg)
{
	struct commit_queue *q = d->commits;
	struct commit_callback *a = dp_malloc(sizeof *a);

	*a = (struct commit_callback){
		.ticket = ticket, .is_read_only = is_read_only, .fn = fn, .arg = arg
	};
	*q->callbacks_end = a;
	q->callbacks_end = &a->next;
	if (is_read_only && q->n_read_only_callbacks++ == 0 && !d->loop_ended)
		uv_timer_start(&q->read_only_timer, on_read_only_timer, READ_ONLY_TIMER_MS,
			       READ_ONLY_TIMER_MS);
}

static bool commit_queue_is_blocked(const struct daemon *d)
{
	const struct commit_queue *q = d->commits;

	return q->is_failing || commit_queue_is_stalled(d);
}

bool commit_queue_is_durable(const struct daemon *d)
{
	return dp_journal_durable_ticket(d->journal) >= d->commits->last_ticket;
}

/* True if everything is durable and no earlier callback is pending. */
static bool after_commit_is_due(const struct daemon *d)
{
	return !d->commits->callbacks && commit_queue_is_durable(d);
}

void after_commit(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg)
{
	struct commit_queue *q = d->commits;

	if (after_commit_is_due(d))
		fn(d, arg);
	else
		after_commit_add(d, false, q->last_ticket, fn, arg);
}

void after_commit_read_only(struct daemon *d, void (*fn)(struct daemon *d, void *arg), void *arg)
{
	struct commit_queue *q = d->commits;

	if (after_commit_is_due(d) || commit_queue_is_blocked(d))
		fn(d, arg);
	else
		after_commit_add(d, true, q->last_ticket, fn, arg);
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
	struct commit_queue *q = d->commits;
	struct commit_callback *a;

	while ((a = q->callbacks) != NULL) {
		q->callbacks = a->next;
		a->fn(d, a->arg);
		free(a);
	}
	q->callbacks_end = &q->callbacks;
}

/* Calls what is due: durable, or read-only while nothing can become durable. Removes all of them
 * from the list first, because a callback may add to it. */
static void after_commit_run_due(struct daemon *d)
{
	struct commit_queue *q = d->commits;
	uint64_t durable = dp_journal_durable_ticket(d->journal);
	bool blocked = commit_queue_is_blocked(d);
	struct commit_callback *due = NULL, **due_last = &due, **p = &q->callbacks, *a;

	while ((a = *p) != NULL) {
		if (a->ticket > durable && !(a->is_read_only && blocked)) {
			p = &a->next;
			continue;
		}
		q->n_read_only_callbacks -= a->is_read_only;
		*p = a->next;
		a->next = NULL;
		*due_last = a;
		due_last = &a->next;
	}
	q->callbacks_end = p;
	while ((a = due) != NULL) {
		due = a->next;
		a->fn(d, a->arg);
		free(a);
	}
}

/* ---- the writer thread ---- */

void commit_queue_log_stall(struct daemon *d)
{
	struct commit_queue *q = d->commits;

	if (q->stall_logged || q->is_failing || commit_queue_wait_seconds(d) < LOG_STALL_SECONDS)
		return;
	log_line(&d->log, LOG_WARN, "",
		 "the journal has not answered for %.0f s: does the disk hang? What "
		 "changes something waits for it",
		 commit_queue_wait_seconds(d));
	q->stall_logged = true;
}

/* Tickets became durable, or the writer's trouble began or ended. */
static void on_journal_progress(uv_async_t *handle)
{
	struct daemon *d = handle->data;
	struct commit_queue *q = d->commits;
	struct dp_err why;
	bool trouble = dp_journal_get_write_error(d->journal, &why);
	uint64_t durable = dp_journal_durable_ticket(d->journal);

	if (trouble && !q->is_failing)
		log_line(&d->log, LOG_ERROR, "",
			 "the journal cannot be written: %s; nothing starts until it can, "
			 "trying again every second",
			 why.msg);
	if (!trouble && q->is_failing)
		log_line(&d->log, LOG_WARN, "", "the journal can be written again");
	q->is_failing = trouble;
	if (durable != q->durable_ticket) {
		if (q->stall_logged)
			log_line(&d->log, LOG_WARN, "", "the journal answered after %.1f s",
				 commit_queue_wait_seconds(d));
		q->stall_logged = false;
		q->durable_ticket = durable;
		q->wait_since_us = dp_monotonic_us();
	}
	after_commit_run_due(d);
	daemon_request_turn(d);
}

/* Called on the writer thread. */
static void journal_wake_loop(void *arg)
{
	uv_async_send(arg);
}

int commit_queue_start(struct daemon *d, struct dp_err *err)
{
	struct commit_queue *q = d->commits;
	int e = uv_async_init(&d->loop, &q->async, on_journal_progress);

	if (e != 0)
		return dp_fail(err, DP_E_FAILED, "cannot listen to the journal: %s",
			       uv_strerror(e));
	q->async.data = d;
	uv_timer_init(&d->loop, &q->read_only_timer);
	q->read_only_timer.data = d;
	return dp_journal_start_writer(d->journal, journal_wake_loop, &q->async, err);
}
