/* sched.c - slots: which study gets the next free one, and what it starts.
 *
 * Higher priority first; between equals the study with fewer running trainers, then
 * the one that was served longest ago. A study never has more trainers at once than
 * its `parallel`, and all together never more than `slots`. */
#include "daemon/daemon.h"

#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>

#define START_AGAIN_SECONDS 5.0 /* after the machine refused, say for a full disk */

/* What a study would start next. */
struct task {
	struct dp_trial *trial; /* NULL: a new one */
	int32_t run;
};

static int64_t backoff_until(const struct dpd *d, uint32_t study, uint32_t trial)
{
	for (const struct backoff *b = d->backoffs; b; b = b->next)
		if (b->study == study && b->trial == trial)
			return b->until;
	return 0;
}

static void drop_backoffs(struct dpd *d, int64_t now)
{
	struct backoff **p = &d->backoffs, *b;

	while ((b = *p) != NULL) {
		if (b->until <= now) {
			*p = b->next;
			free(b);
		} else
			p = &b->next;
	}
}

static bool next_task(struct dpd *d, struct dp_study_state *s, struct task *task)
{
	if (s->status != DP_STUDY_RUNNING || s->open >= s->parallel)
		return false;
	if (!study_time_over(s)) {
		for (uint32_t i = s->first_live; i < s->ntrials; i++) {
			task->trial = s->trials[i];
			if (trial_next_run(s, task->trial, &task->run) &&
			    backoff_until(d, s->id, i) == 0)
				return true;
		}
	}
	task->trial = NULL;
	task->run = s->spec->trainer.run_per_process ? 0 : DP_RUN_ALL;
	return ask_possible(d, s);
}

static bool goes_before(const struct dp_study_state *a, const struct dp_study_state *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->open != b->open)
		return a->open < b->open;
	return a->turn < b->turn;
}

static uint32_t next_attempt(const struct dp_trial *t, int32_t run)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		n += t->attempts[i].run == run;
	return n;
}

/* The attempt is on the disk: now it may start. */
static void start_job(struct dpd *d, void *arg)
{
	struct job *j = arg;
	struct dp_study_state *s = dp_state_by_id(&d->state, j->study);
	struct dp_trial *t = s ? dp_study_trial(s, j->trial) : NULL;
	struct dp_err err;
	int code;

	if (!t || d->stopping || d->closed) {
		/* planned and never claimed: the next daemon sees that nothing ran */
		job_free(j);
		return;
	}
	if (t->cancel_asked) {
		attempt_close(d, j, DP_END_CANCELLED, true,
			      "cancelled before it started");
		return;
	}
	code = d->executor->start(j, &err);
	if (code == DP_OK) {
		log_line(&d->log, LOG_DEBUG, j->about, "attempt %u started, process %d",
			 j->attempt, (int)j->pid);
		return;
	}
	if (code == DP_E_IO || code == DP_E_NOMEM) {
		/* the machine's trouble, not the trainer's: it costs no retry, only time
		 */
		back_off(d, s, t, START_AGAIN_SECONDS);
		attempt_close(d, j, DP_END_LOST, false, err.msg);
		return;
	}
	attempt_close(d, j, DP_END_NOT_STARTED, false, err.msg);
}

/* False if nothing could be planned. */
static bool launch(struct dpd *d, struct dp_study_state *s, struct task *task)
{
	struct dp_trial *t = task->trial;
	struct dp_event e = { .type = DP_EV_ATTEMPT_PLANNED, .run = task->run };
	struct job *j;

	if (!t) { /* the proposed trial waits, and is the next task */
		s->turn = ++d->turns;
		return ask_next(d, s);
	}
	e.trial = t->number;
	e.attempt = next_attempt(t, task->run);
	j = job_new(d, s, t->number, task->run, e.attempt);
	if (!j)
		return false; /* without memory: a later turn tries again */
	record(d, s, &e);
	s->turn = ++d->turns;
	after_commit(d, start_job, j);
	return true;
}

static void schedule(struct dpd *d)
{
	drop_backoffs(d, dp_mono_us());
	while (!d->stopping && !d->trouble && !d->disk_low &&

	       d->njobs + d->nasking < d->config.slots) {
		struct dp_study_state *best = NULL;
		struct task task = { 0 }, chosen = { 0 };

		for (uint32_t i = 0; i < d->state.nstudies; i++) {
			struct dp_study_state *s = d->state.studies[i];

			if (next_task(d, s, &task) && (!best || goes_before(s, best))) {
				best = s;
				chosen = task;
			}
		}
		if (!best || !launch(d, best, &chosen))
			break;
	}
	requests_poll(d);
	report_poll(d);
	client_poll_changes(d);
}

static void on_idle(uv_idle_t *idle)
{
	struct dpd *d = idle->data;

	uv_idle_stop(idle);
	schedule(d);
	dp_journal_release(d->journal);
}

void sched_init(struct dpd *d)
{
	uv_idle_init(&d->loop, &d->sched_idle);
	d->sched_idle.data = d;
}

void sched_kick(struct dpd *d)
{
	uv_idle_start(&d->sched_idle, on_idle);
}

const char *sched_why_not(struct dpd *d, struct dp_study_state *s, char *out, size_t room)
{
	char size[DP_NUM_LEN], mark[DP_NUM_LEN];
	struct dp_err why;
	struct task task;

	if (s->status != DP_STUDY_RUNNING)
		return NULL;
	if (d->trouble && dp_journal_trouble(d->journal, &why))
		snprintf(out, room, "the journal cannot be written: %s", why.msg);
	else if (s->open >= s->parallel)
		return NULL;
	else if (d->stopping)
		snprintf(out, room, "the daemon is stopping");
	else if (d->disk_low)
		snprintf(out, room, "only %s of disk are free, below disk_watermark (%s)",
			 dp_size_text(d->disk_free, size),
			 dp_size_text(d->config.disk_watermark, mark));
	else if (ask_busy(d, s->id))
		snprintf(out, room, "the next point is being chosen");
	else if (next_task(d, s, &task))
		snprintf(out, room, "all %u slots are taken", d->config.slots);
	else if (study_proposals(s))
		snprintf(out, room, "order: deterministic waits for trial %u",
			 s->first_live);
	else if (s->open)
		snprintf(out, room, "the last %u %s running", s->open,
			 s->open == 1 ? "trial is" : "trials are");
	else
		snprintf(out, room, "a failed attempt is tried again in a moment");
	return out;
}
