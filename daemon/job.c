/* job.c - one attempt under way: planned, started, watched by its executor, collected.
 * What an executor reports arrives here. */
#include "daemon/job.h"

#include "base/fs.h"
#include "daemon/executor.h"
#include "daemon/record.h"
#include "daemon/sched.h"
#include "journal/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- making and freeing ---- */

static void job_free(struct job *j)
{
	if (!j)
		return;
	if (j->home && j->handle)
		j->home->backend->table->release(j->home->backend, j);
	dp_result_free(j->files.result);
	free(j->files.way_privacy);
	free(j->folder);
	free(j);
}

static char *attempt_folder(const struct study *h, uint32_t trial, int32_t run, uint32_t attempt)
{
	char *folder = study_folder(h), *path = NULL, below[64];

	dp_attempt_folder(trial, run, attempt, below);
	if (folder)
		path = dp_path_join(folder, below);
	free(folder);
	return path;
}

struct job *job_new(struct study *h, uint32_t trial, int32_t run, uint32_t attempt)
{
	const struct dp_trial *t = dp_study_trial(h->state, trial);
	struct job *j = calloc(1, sizeof *j);
	char name[DP_TRIAL_NAME];

	if (!j)
		return NULL;
	j->spec = h->state->now;
	j->x = t->x;
	j->at = t->at;
	j->runs = t->runs;
	j->trial = trial;
	j->run = run;
	j->folder = attempt_folder(h, trial, run, attempt);
	j->files.result = job_result(j);
	if (!j->folder || !j->files.result) {
		job_free(j);
		return NULL;
	}
	snprintf(j->about, sizeof j->about, "%s/%s", h->state->spec->name,
		 dp_trial_name(trial, name));
	j->d = h->d;
	j->home = h;
	j->attempt = attempt;
	j->slot = -1;
	j->progress = NAN;
	j->next = h->d->jobs;
	j->link = &h->d->jobs;
	if (j->next)
		j->next->link = &j->next;
	h->d->jobs = j;
	h->backend->jobs++;
	return j;
}

void job_over(struct job *j)
{
	j->phase = JOB_OVER;
	j->home->backend->jobs--;
	j->next_over = j->d->jobs_over;
	j->d->jobs_over = j;
}

static void job_drop(struct job *j)
{
	*j->link = j->next;
	if (j->next)
		j->next->link = j->link;
	job_free(j);
}

void jobs_sweep(struct dpd *d, bool all)
{
	struct job *j;

	while ((j = d->jobs_over) != NULL) {
		d->jobs_over = j->next_over;
		job_drop(j);
	}
	while (all && d->jobs)
		job_drop(d->jobs);
}

struct dp_trial *job_trial(const struct job *j)
{
	return dp_study_trial(j->home->state, j->trial);
}

/* ---- starting ---- */

static void job_start(struct dpd *d, void *arg);

/* On a worker thread: ends what runs under the number of this attempt or of later ones,
 * as far as there are any. */
static void clear_work(uv_work_t *w)
{
	struct job *j = w->data;
	struct job_files *f = &j->files;
	const struct backend *b = j->home->backend;
	char *folder = NULL;

	for (uint32_t n = j->attempt;; n++) {
		f->trouble[0] = '\0';
		free(folder);
		folder = attempt_folder(j->home, j->trial, j->run, n);
		if (!folder || !claim_is_there(folder) ||
		    !b->table->end_leftovers(b, folder, f->trouble, sizeof f->trouble))
			break;
	}
	if (!folder)
		snprintf(f->trouble, sizeof f->trouble, "out of memory");
	free(folder);
}

static void clear_done(uv_work_t *w, int status)
{
	struct job *j = w->data;

	(void)status; /* work is never cancelled */
	j->reading = false;
	j->cleared = j->files.trouble[0] == '\0';
	snprintf(j->trouble, sizeof j->trouble, "%s", j->files.trouble);
	if (j->cleared) /* else it is asked again in a moment */
		job_start(j->d, j);
}

/* A journal that was restored or repaired may have lost an attempt that still runs, and
 * gives its number again: two must never run at once. True: that is looked for first. */
static bool job_clears(struct job *j)
{
	if (j->cleared || !j->home->backend->table->end_leftovers || !claim_is_there(j->folder))
		return false;
	if (!j->trouble[0])
		job_log(j, LOG_WARN,
			"attempt %u has run before, which the journal does not know: "
			"what is left of it is ended first",
			j->attempt);
	j->reading = true;
	j->work.data = j;
	uv_queue_work(&j->d->loop, &j->work, clear_work, clear_done);
	return true;
}

/* The lowest number that no attempt of the executor has, from its plan until its end is
 * recorded, when nothing of it runs any more. There is one below `slots`, since fewer
 * attempts than that are open when another is planned. */
static int32_t job_free_slot(const struct backend *b)
{
	bool taken[CONFIG_SLOTS_MAX] = { false };
	int32_t slot = 0;

	for (const struct job *j = b->d->jobs; j; j = j->next)
		if (j->home->backend == b && j->phase != JOB_OVER && j->slot >= 0 &&
		    j->slot < CONFIG_SLOTS_MAX)
			taken[j->slot] = true;
	while (slot < CONFIG_SLOTS_MAX && taken[slot])
		slot++;
	return slot < CONFIG_SLOTS_MAX ? slot : -1;
}

/* The attempt is on the disk: now it may start. */
static void job_start(struct dpd *d, void *arg)
{
	struct job *j = arg;
	struct backend *b = j->home->backend;
	struct dp_err err;

	if (d->stopping || d->closed)
		return; /* planned and never claimed: the next daemon sees that */
	if (job_trial(j)->cancel_asked) {
		attempt_close(j, DP_END_CANCELLED, true, "cancelled before it started");
		return;
	}
	if (j->slot >= (int32_t)d->config.slots) {
		attempt_close(j, DP_END_LOST, false, "its slot was taken away before it started");
		return;
	}
	if (job_clears(j))
		return;
	j->phase = JOB_STARTED;
	j->started = clock_now(d); /* until its executor knows better */
	if (b->table->start(b, j, &err) != DP_OK)
		job_refused(j, &err);
}

bool job_launch(struct study *h)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_PLANNED,
			      .trial = h->next.trial,
			      .run = h->next.run,
			      .attempt = h->next.attempt };
	struct job *j = job_new(h, e.trial, e.run, e.attempt);

	if (!j)
		return false;
	if (h->backend->table->slots)
		j->slot = job_free_slot(h->backend);
	e.slot = (uint32_t)(j->slot + 1);
	record(h, &e);
	after_commit(h->d, job_start, j);
	return true;
}

/* ---- what executors report ---- */

static void record_adopted(struct job *j, const char *where)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_ADOPTED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt };

	record(j->home, &e);
	job_log(j, LOG_INFO, "attempt %u still runs (%s): adopted", j->attempt, where);
}

void job_placed(struct job *j, const char *place)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_PLACED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt,
			      .place = place };

	record(j->home, &e);
}

void job_where(struct job *j, const char *where)
{
	snprintf(j->where, sizeof j->where, "%s", where);
}

void job_fate(struct job *j, enum dp_end end, const char *why)
{
	j->fate = end;
	snprintf(j->fate_why, sizeof j->fate_why, "%s", why);
}

void job_started(struct job *j, const char *where)
{
	struct backend *b = j->home->backend;

	if (j->phase == JOB_STARTED) { /* it was not running when the daemon came */
		j->started = clock_now(j->d);
		job_log(j, LOG_DEBUG, "attempt %u started, %s", j->attempt, where);
	} else {
		record_adopted(j, where);
	}
	j->phase = JOB_STARTED;
	j->trouble[0] = '\0';
	/* asked for while it was not known to run */
	if (job_trial(j)->cancel_asked || (j->d->stopping && j->d->stop_policy == STOP_KILL))
		b->table->cancel(b, j);
}

void job_refused(struct job *j, const struct dp_err *err)
{
	bool machine = err->code == DP_E_IO || err->code == DP_E_NOMEM;

	if (machine)
		sched_hold(j->home->backend, SCHED_NO_START, err->msg);
	attempt_close(j, machine ? DP_END_LOST : DP_END_NOT_STARTED, false, err->msg);
}

void job_progress(struct job *j)
{
	if (j->phase == JOB_STARTED)
		job_read(j);
}

void job_ended(struct job *j)
{
	if (j->phase == JOB_ADOPTING || j->phase == JOB_UNKNOWN)
		job_log(j, LOG_INFO, "attempt %u ended while no daemon ran: collecting",
			j->attempt);
	j->phase = JOB_COLLECTING;
	j->trouble[0] = '\0';
	j->gone = true;
	job_read(j);
}

void job_never_started(struct job *j)
{
	attempt_close(j, DP_END_LOST, false,
		      j->phase == JOB_STARTED ? "it was taken back before it started"
					      : "it had not started when the daemon ended");
}

void job_unknown(struct job *j, const char *why)
{
	if (j->phase != JOB_UNKNOWN)
		job_log(j, LOG_WARN, "attempt %u: cannot tell what became of it: %s; asking again",
			j->attempt, why);
	j->phase = JOB_UNKNOWN;
	snprintf(j->trouble, sizeof j->trouble, "cannot tell what became of it: %.200s", why);
}

/* ---- after a restart ---- */

void job_recover(struct study *h, const struct dp_trial *t, const struct dp_attempt *a)
{
	struct job *j = job_new(h, t->number, a->run, a->number);

	if (!j)
		record_give_up(h->d, "to recover an attempt");
	j->started = a->planned;
	j->slot = a->slot;
	j->phase = JOB_ADOPTING;
	h->backend->table->adopt(h->backend, j);
}

/* What an oracle program kept from being read waits for the study to be resumed, or for
 * the trial to be given up. */
static bool may_read_again(const struct job *j)
{
	return j->files.oracle.code != DP_E_ORACLE || j->home->state->status == DP_STUDY_RUNNING ||
	       job_trial(j)->cancel_asked;
}

void jobs_ask_again(struct dpd *d)
{
	for (struct job *j = d->jobs; j; j = j->next)
		if (j->phase == JOB_UNKNOWN)
			j->home->backend->table->adopt(j->home->backend, j);
		else if (j->phase == JOB_PLANNED && j->trouble[0] && !j->reading)
			job_start(d, j);
		else if (j->phase == JOB_COLLECTING && j->trouble[0] && !j->reading &&
			 j->again <= clock_now(d) && may_read_again(j))
			job_read(j);
}

const char *jobs_trouble(const struct study *h, char *out, size_t room)
{
	char name[DP_TRIAL_NAME];

	for (const struct job *j = h->d->jobs; j; j = j->next) {
		if (j->home != h || !j->trouble[0] || j->phase == JOB_OVER)
			continue;
		snprintf(out, room, "trial %s, attempt %u: %s; trying again",
			 dp_trial_name(j->trial, name), j->attempt, j->trouble);
		return out;
	}
	return NULL;
}

/* ---- cancelling ---- */

void jobs_cancel(struct study *h, const struct dp_trial *t)
{
	for (struct job *j = h->d->jobs; j; j = j->next)
		if (j->home == h && j->phase == JOB_STARTED && (!t || j->trial == t->number))
			h->backend->table->cancel(h->backend, j);
}
