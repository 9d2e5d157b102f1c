/* job.c - plans, starts and collects attempts; executors report here. */
#include "daemon/executors/job.h"

#include "base/fs.h"
#include "state/state_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- making and freeing ---- */

static void job_free(struct job *j)
{
	if (j->executor_data)
		j->study->executor->ops->release_handle(j->study->executor, j);
	dp_result_reader_free(j->files.result);
	free(j->files.checkpoint_privacy);
	free(j->directory);
	free(j);
}

static char *attempt_folder(const struct study *study, uint32_t trial, int32_t run,
			    uint32_t attempt)
{
	char *folder = study_folder(study), *path, below[64];

	dp_attempt_format_dir(trial, run, attempt, below);
	path = dp_path_join(folder, below);
	free(folder);
	return path;
}

struct job *job_new(struct study *study, uint32_t trial, int32_t run, uint32_t attempt)
{
	const struct dp_trial *t = dp_state_find_trial(study->state, trial);
	struct executors *all = study->daemon->executors;
	struct job *j = dp_calloc(1, sizeof *j);
	char name[DP_TRIAL_NAME_LEN];

	j->spec = study->state->current_spec;
	j->x = t->x;
	j->at = t->stop_at;
	j->kind = t->kind;
	j->runs = t->runs;
	j->trial = trial;
	j->run = run;
	j->directory = attempt_folder(study, trial, run, attempt);
	j->files.result = job_new_result(j);
	snprintf(j->log_name, sizeof j->log_name, "%s/%s", study->state->spec->name,
		 dp_trial_format_name(trial, name));
	j->daemon = study->daemon;
	j->study = study;
	j->attempt = attempt;
	j->slot = -1;
	j->progress = NAN;
	j->next = all->jobs;
	j->prev_link = &all->jobs;
	if (j->next)
		j->next->prev_link = &j->next;
	all->jobs = j;
	study->executor->n_jobs++;
	return j;
}

void job_mark_over(struct job *j)
{
	j->phase = JOB_OVER;
	j->study->executor->n_jobs--;
	j->next_finished = j->daemon->executors->finished_jobs;
	j->daemon->executors->finished_jobs = j;
}

static void job_unlink_and_free(struct job *j)
{
	*j->prev_link = j->next;
	if (j->next)
		j->next->prev_link = j->prev_link;
	job_free(j);
}

void jobs_free_finished(struct daemon *d, bool all)
{
	struct executors *e = d->executors;
	struct job *j;

	while (e && (j = e->finished_jobs) != NULL) {
		e->finished_jobs = j->next_finished;
		job_unlink_and_free(j);
	}
	while (e && all && e->jobs)
		job_unlink_and_free(e->jobs);
}

struct dp_trial *job_trial(const struct job *j)
{
	return dp_state_find_trial(j->study->state, j->trial);
}

/* ---- starting ---- */

static void job_start(struct daemon *d, void *arg);

/* On a worker thread: kills the processes of this attempt and of later ones with its number. */
static void job_orphans_worker(void *arg)
{
	struct job *j = arg;
	struct job_files *f = &j->files;
	const struct executor *b = j->study->executor;
	char *folder = NULL;

	for (uint32_t n = j->attempt;; n++) {
		f->trouble[0] = '\0';
		free(folder);
		folder = attempt_folder(j->study, j->trial, j->run, n);
		if (!lease_exists(folder) ||
		    !b->ops->kill_orphans(b, folder, f->trouble, sizeof f->trouble))
			break;
	}
	free(folder);
}

static void on_job_orphans_killed(void *arg)
{
	struct job *j = arg;

	j->orphans_cleared = j->files.trouble[0] == '\0';
	snprintf(j->trouble, sizeof j->trouble, "%s", j->files.trouble);
	if (j->orphans_cleared) /* else it is retried soon */
		job_start(j->daemon, j);
}

/* A restored or repaired journal may have lost an attempt that still runs, and may reuse its
 * number: two must never run at once. True: the check for such processes was started. */
static bool job_start_orphan_cleanup(struct job *j)
{
	if (j->orphans_cleared || !j->study->executor->ops->kill_orphans ||
	    !lease_exists(j->directory))
		return false;
	if (!j->trouble[0])
		job_log(j, LOG_WARN,
			"attempt %u has run before, which the journal does not know: "
			"what is left of it is ended first",
			j->attempt);
	background_job_start(j->daemon, &j->reader, job_orphans_worker, on_job_orphans_killed, j);
	return true;
}

/* The lowest slot that is free: no attempt of the executor has it, from its plan until its end is
 * recorded and none of its processes runs. One is free below `slots`, since fewer attempts are open
 * when another is planned. */
static int32_t job_find_free_slot(const struct executor *b)
{
	bool taken[CONFIG_SLOTS_MAX] = { false };
	int32_t slot = 0;

	for (const struct job *j = b->daemon->executors->jobs; j; j = j->next)
		if (j->study->executor == b && j->phase != JOB_OVER && j->slot >= 0 &&
		    j->slot < CONFIG_SLOTS_MAX)
			taken[j->slot] = true;
	while (slot < CONFIG_SLOTS_MAX && taken[slot])
		slot++;
	return slot < CONFIG_SLOTS_MAX ? slot : -1;
}

static void job_start(struct daemon *d, void *arg)
{
	struct job *j = arg;
	struct executor *b = j->study->executor;
	struct dp_err err;

	if (d->stopping || d->loop_ended)
		return; /* planned but never claimed: the next daemon sees that */
	if (job_trial(j)->cancel_requested) {
		attempt_record_end(j, DP_END_CANCELLED, true, "cancelled before it started");
		return;
	}
	if (j->slot >= (int32_t)d->config.slots) {
		attempt_record_end(j, DP_END_LOST, false,
				   "its slot was taken away before it started");
		return;
	}
	if (job_start_orphan_cleanup(j))
		return;
	j->phase = JOB_STARTED;
	j->started_us = clock_now(d); /* until the executor reports */
	if (b->ops->start(b, j, &err) != DP_OK)
		job_on_refused(j, &err);
}

void job_launch(struct study *study)
{
	struct dp_event e = dp_step_event(&study->next_step);
	struct job *j = job_new(study, e.trial, e.run, e.attempt);

	if (study->executor->ops->uses_slots)
		j->slot = job_find_free_slot(study->executor);
	e.attempt_planned.slot_plus_one = (uint32_t)(j->slot + 1);
	study_record_event(study, &e);
	after_commit(study->daemon, job_start, j);
}

/* ---- what executors report ---- */

static void job_record_adopted(struct job *j, const char *where)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_ADOPTED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt };

	study_record_event(j->study, &e);
	job_log(j, LOG_INFO, "attempt %u still runs (%s): adopted", j->attempt, where);
}

void job_on_placed(struct job *j, const char *place)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_PLACED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt,
			      .attempt_placed = { .job_id = place } };

	study_record_event(j->study, &e);
}

void job_set_location(struct job *j, const char *where)
{
	snprintf(j->location, sizeof j->location, "%s", where);
}

void job_set_external_end(struct job *j, enum dp_end_class end, const char *why)
{
	j->external_end = end;
	snprintf(j->external_end_reason, sizeof j->external_end_reason, "%s", why);
}

void job_on_started(struct job *j, const char *where)
{
	struct executor *b = j->study->executor;

	if (j->phase == JOB_STARTED) { /* it was not running when the daemon started */
		j->started_us = clock_now(j->daemon);
		job_log(j, LOG_DEBUG, "attempt %u started, %s", j->attempt, where);
	} else {
		job_record_adopted(j, where);
	}
	j->phase = JOB_STARTED;
	j->trouble[0] = '\0';
	/* requested before the attempt was known to run */
	if (job_trial(j)->cancel_requested ||
	    (j->daemon->stopping && j->daemon->stop_policy == STOP_KILL))
		b->ops->cancel(b, j);
}

void job_on_refused(struct job *j, const struct dp_err *err)
{
	bool machine = err->code == DP_E_IO || err->code == DP_E_NOMEM;

	if (machine)
		executor_hold(j->study->executor, HOLD_REASON_NO_START, err->msg);
	attempt_record_end(j, machine ? DP_END_LOST : DP_END_NOT_STARTED, false, err->msg);
}

void job_on_progress(struct job *j)
{
	if (j->phase == JOB_STARTED)
		job_read_files(j);
}

void job_on_ended(struct job *j)
{
	if (j->phase == JOB_ADOPTING || j->phase == JOB_UNKNOWN)
		job_log(j, LOG_INFO, "attempt %u ended while no daemon ran: collecting",
			j->attempt);
	j->phase = JOB_COLLECTING;
	j->trouble[0] = '\0';
	j->has_ended = true;
	job_read_files(j);
}

void job_on_never_started(struct job *j)
{
	attempt_record_end(j, DP_END_LOST, false,
			   j->phase == JOB_STARTED ? "it was taken back before it started"
						   : "it had not started when the daemon ended");
}

void job_on_unknown(struct job *j, const char *why)
{
	if (j->phase != JOB_UNKNOWN)
		job_log(j, LOG_WARN, "attempt %u: cannot tell what became of it: %s; asking again",
			j->attempt, why);
	j->phase = JOB_UNKNOWN;
	snprintf(j->trouble, sizeof j->trouble, "cannot tell what became of it: %.200s", why);
}

/* ---- after a restart ---- */

void job_recover(struct study *study, const struct dp_trial *t, const struct dp_attempt *a)
{
	struct job *j = job_new(study, t->number, a->run, a->number);

	j->started_us = a->planned_us;
	j->slot = a->slot;
	j->phase = JOB_ADOPTING;
	study->executor->ops->adopt(study->executor, j);
}

/* False after an accountant failed, until the study is resumed or the trial cancelled. */
static bool job_may_reread(const struct job *j)
{
	return j->files.accountant_err.code != DP_E_ORACLE ||
	       j->study->state->status == DP_STUDY_RUNNING || job_trial(j)->cancel_requested;
}

void jobs_retry_unresolved(struct daemon *d)
{
	for (struct job *j = d->executors->jobs; j; j = j->next)
		if (j->phase == JOB_UNKNOWN)
			j->study->executor->ops->adopt(j->study->executor, j);
		else if (j->phase == JOB_PLANNED && j->trouble[0] && !j->reader.is_running)
			job_start(d, j);
		else if (j->phase == JOB_COLLECTING && j->trouble[0] && !j->reader.is_running &&
			 j->retry_at_us <= clock_now(d) && job_may_reread(j))
			job_read_files(j);
}

bool jobs_describe_trouble(const struct study *study, char *out, size_t room)
{
	char name[DP_TRIAL_NAME_LEN];

	for (const struct job *j = study->daemon->executors->jobs; j; j = j->next) {
		if (j->study != study || !j->trouble[0] || j->phase == JOB_OVER)
			continue;
		snprintf(out, room, "trial %s, attempt %u: %s; trying again",
			 dp_trial_format_name(j->trial, name), j->attempt, j->trouble);
		return true;
	}
	return false;
}

bool jobs_allow_stop(const struct daemon *d)
{
	if (d->stop_policy == STOP_LEAVE)
		return true;
	for (struct job *j = d->executors->jobs; j; j = j->next)
		if (j->phase != JOB_PLANNED && j->phase != JOB_OVER &&
		    !((j->phase == JOB_COLLECTING || j->phase == JOB_STARTED) && j->trouble[0]))
			return false;
	return true;
}

/* ---- cancelling ---- */

void jobs_cancel(struct study *study, const struct dp_trial *t)
{
	for (struct job *j = study->daemon->executors->jobs; j; j = j->next)
		if (j->study == study && j->phase == JOB_STARTED && (!t || j->trial == t->number))
			study->executor->ops->cancel(study->executor, j);
}
