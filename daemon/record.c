/* record.c - the way of every decision: into the journal, then into the world. */
#include "daemon/daemon.h"

#include "base/num.h"

#include <stdlib.h>

/* Memory or order is lost: what is on the disk is right, so the next daemon starts
 * from there. Trainers go on under their shims. */
static _Noreturn void give_up(struct dpd *d, const struct dp_err *err)
{
	log_line(&d->log, LOG_ERROR, "", "cannot go on: %s", err->msg);
	dp_journal_close(d->journal);
	exit(1);
}

void record(struct dpd *d, struct dp_study_state *s, struct dp_event *e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	if (s) {
		e->study = s->id;
		e->seq = s->seq;
	}
	e->time = dp_now_us();
	if (dp_event_encode(e, &bytes, &err) != DP_OK ||
	    dp_state_apply(&d->state, e, &err) != DP_OK)
		give_up(d, &err);
	/* the rest of this turn belongs to the same commit; the scheduler, kicked below,
	 * lets it go */
	dp_journal_hold(d->journal);
	d->last_ticket =
		dp_journal_append(d->journal, e->study, e->seq, bytes.data, bytes.len);
	if (d->last_ticket == 0) {
		dp_fail(&err, DP_E_NOMEM, "no memory for the journal's queue");
		give_up(d, &err);
	}
	dp_buf_free(&bytes);
	sched_kick(d);
}

static void wait_for_commit(struct dpd *d, bool looks,
			    void (*fn)(struct dpd *d, void *arg), void *arg)
{
	struct after *a;
	struct dp_err err;

	if ((looks && d->trouble) ||
	    (!d->after_first && dp_journal_durable(d->journal) >= d->last_ticket)) {
		fn(d, arg);
		return;
	}
	a = malloc(sizeof *a);
	if (!a) {
		dp_fail(&err, DP_E_NOMEM, "no memory to wait for the journal");
		give_up(d, &err);
	}
	*a = (struct after){
		.ticket = d->last_ticket, .looks = looks, .fn = fn, .arg = arg
	};
	*d->after_last = a;
	d->after_last = &a->next;
}

void after_commit(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg)
{
	wait_for_commit(d, false, fn, arg);
}

void after_commit_look(struct dpd *d, void (*fn)(struct dpd *d, void *arg), void *arg)
{
	wait_for_commit(d, true, fn, arg);
}

/* Does what is due: durable by now, or only looking while there is trouble. Taken off
 * the list before any of it is called, because a callback may add to the list. */
static void call_due(struct dpd *d)
{
	uint64_t durable = dp_journal_durable(d->journal);
	struct after *due = NULL, **due_last = &due, **p = &d->after_first, *a;

	while ((a = *p) != NULL) {
		if (a->ticket > durable && !(a->looks && d->trouble)) {
			p = &a->next;
			continue;
		}
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

/* The writer made tickets durable, or its trouble began or ended. */
void on_journal(uv_async_t *handle)
{
	struct dpd *d = handle->data;
	struct dp_err why;
	bool trouble = dp_journal_trouble(d->journal, &why);

	if (trouble && !d->trouble)
		log_line(
			&d->log, LOG_ERROR, "",
			"the journal cannot be written: %s; nothing starts until it can, "
			"trying again every second",
			why.msg);
	if (!trouble && d->trouble)
		log_line(&d->log, LOG_WARN, "", "the journal can be written again");
	d->trouble = trouble;
	call_due(d);
	sched_kick(d);
	daemon_stop_check(d);
}

void move_study(struct dpd *d, struct dp_study_state *s, enum dp_study_status to,
		bool by_failures, const char *reason)
{
	struct dp_event e = { .type = DP_EV_STUDY_MOVED,
			      .state = dp_study_status_text(to),
			      .counted = by_failures,
			      .reason = reason };

	record(d, s, &e);
	log_line(&d->log, by_failures ? LOG_WARN : LOG_INFO, s->spec->name, "%s%s%s",
		 dp_study_status_text(to), reason ? ": " : "", reason ? reason : "");
	if (to != DP_STUDY_RUNNING && !ask_busy(d, s->id))
		ask_forget(d, s->id);
}
