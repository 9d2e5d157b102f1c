/* slurm_poll.c - polls the state of jobs: squeue for all, sacct for those not listed. */
#include "daemon/executors/slurm/slurm_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SACCT_INTERVAL_SECONDS 5.0 /* between two queries of sacct */

enum {
	SACCT_NAMES_MAX = 200 /* in one query of sacct */
};

/* Ranks how well a row fits: living before ended, running before pending, then the known id. */
static int slurm_row_match_rank(const struct slurm_job *k, const struct slurm_row *r)
{
	return 4 * !slurm_state_is_final(r->state) + 2 * (r->state == SLURM_RUNNING) +
	       (strcmp(r->id, k->id) == 0);
}

/* Finds the best row of the job, which may have several, and marks all of them. */
static struct slurm_row *slurm_row_find_best(const struct slurm_rows *rows,
					     const struct slurm_job *k)
{
	struct slurm_row *r = slurm_rows_find(rows, k->name, k->task), *best = r;

	for (; r && r < rows->list + rows->n && r->task == k->task && strcmp(r->name, k->name) == 0;
	     r++) {
		r->is_matched = true;
		if (slurm_row_match_rank(k, r) > slurm_row_match_rank(k, best))
			best = r;
	}
	return best;
}

static void slurm_job_update_from_row(struct slurm_job *k, const struct slurm_row *r, int64_t asked)
{
	if (k->state != r->state)
		slurm_poll_soon(k->slurm);
	k->last_seen_us = asked;
	k->state = r->state;
	k->was_running |= r->state == SLURM_RUNNING && strcmp(r->state_word, "CONFIGURING") != 0;
	snprintf(k->state_word, sizeof k->state_word, "%s", r->state_word);
	snprintf(k->reason, sizeof k->reason, "%s",
		 strcmp(r->reason, "None") == 0 ? "" : r->reason);
	if (strcmp(k->id, r->id) != 0) {
		snprintf(k->id, sizeof k->id, "%s", r->id);
		job_on_placed(k->job, k->id);
	}
	slurm_job_update_location(k, r->nodes);
}

static void slurm_job_on_alive(struct slurm_job *k)
{
	char where[SLURM_ID_LEN + 20];

	slurm_job_set_phase(k, SLURM_PHASE_ACTIVE);
	k->unknown_to_squeue = k->sacct_asked = false;
	k->n_missed_polls = 0;
	if (k->job->phase != JOB_STARTED) {
		snprintf(where, sizeof where, "Slurm job %s", k->id);
		job_on_started(k->job, where);
	}
}

/* Slurm says that the job has ended; waiting times count from the first answer. */
static void slurm_job_on_ended(struct slurm_job *k)
{
	if (k->phase == SLURM_PHASE_ENDED && !k->unknown_to_squeue)
		return;
	k->unknown_to_squeue = false;
	k->phase = SLURM_PHASE_ACTIVE;
	slurm_job_set_phase(k, SLURM_PHASE_ENDED);
	k->next_check_us = 0;
}

/* True if the job ran and is pending again: it was requeued although jobs forbid that. It would
 * find the claim taken and end at once; slurm_poll_find_strays() cancels it. */
static bool slurm_job_check_requeued(struct slurm_job *k)
{
	bool recorded = k->stopped_since_us && k->last_seen_us > k->stopped_since_us;

	if (k->state != SLURM_PENDING || (!k->was_running && !recorded))
		return false;
	k->requeued = true;
	k->state = SLURM_PREEMPTED;
	snprintf(k->state_word, sizeof k->state_word, "put back into the queue");
	slurm_job_on_ended(k);
	return true;
}

static void slurm_job_on_row(struct slurm_job *k, struct slurm_row *r, int64_t asked)
{
	if (k->requeued) {
		r->is_matched = false; /* not needed any more */
		return;
	}
	slurm_job_update_from_row(k, r, asked);
	if (slurm_state_is_final(r->state))
		slurm_job_on_ended(k);
	else if (slurm_job_check_requeued(k))
		r->is_matched = false;
	else
		slurm_job_on_alive(k);
}

static void slurm_job_on_missing(struct slurm_job *k)
{
	k->n_missed_polls++;
	if (k->phase == SLURM_PHASE_ENDED)
		return;
	slurm_job_set_phase(k, SLURM_PHASE_ENDED);
	k->unknown_to_squeue = true;
	k->sacct_asked = false;
	k->n_missed_polls = 1;
}

/* True if the job was submitted, or its search began, before the query. */
static bool slurm_poll_concerns_job(const struct slurm_job *k, int64_t asked)
{
	return k->phase >= SLURM_PHASE_SEARCHING && k->phase_since_us < asked;
}

static void slurm_poll_on_failure(struct slurm_executor *s, const struct slurm_task *t)
{
	slurm_output_describe_error(&t->output, "squeue", s->trouble, sizeof s->trouble);
	if (!s->unreachable_since_us) {
		s->unreachable_since_us = slurm_now(s);
		log_line(&s->executor->daemon->log, LOG_WARN, "",
			 "Slurm does not tell what becomes of its jobs: %s; asking again",
			 s->trouble);
	}
	for (struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->phase == SLURM_PHASE_SEARCHING && k->job->phase == JOB_ADOPTING)
			job_on_unknown(k->job, s->trouble);
}

static void slurm_poll_on_recovery(struct slurm_executor *s)
{
	if (!s->unreachable_since_us)
		return;
	s->unreachable_since_us = 0;
	s->executor->hold = (struct launch_hold){ 0 };
	slurm_poll_soon(s);
	log_line(&s->executor->daemon->log, LOG_INFO, "", "Slurm answers again");
	daemon_request_turn(s->executor->daemon);
}

/* Finds pending jobs of this daemon that belong to no attempt: submitted twice or too late,
 * requeued, or of attempts that the journal has lost. */
static void slurm_poll_find_strays(struct slurm_executor *s, const struct slurm_rows *rows)
{
	struct argv_list ids = { 0 };

	for (size_t i = 0; i < rows->n; i++)
		if (!rows->list[i].is_matched && rows->list[i].state == SLURM_PENDING &&
		    slurm_name_is_ours(s, rows->list[i].name))
			argv_add(&ids, "%s", rows->list[i].id);
	if (ids.n == 0)
		return;
	s->poll_until_us = slurm_time_after(slurm_now(s), SLURM_STRAY_WATCH_SECONDS);
	slurm_cancel_strays(s, &ids);
}

static void on_slurm_poll_done(struct slurm_task *t)
{
	struct slurm_executor *s = t->slurm;

	s->next_poll_us = slurm_time_after(slurm_now(s), s->poll_seconds);
	s->poll_seconds =
		fmin(s->poll_seconds * 1.5, slurm_get_config(s->executor).max_poll_seconds);
	if (!slurm_output_ok(&t->output)) {
		slurm_poll_on_failure(s, t);
		return;
	}
	slurm_poll_on_recovery(s);
	s->poll_asked_us = t->started_us;
	s->poll_answered_us = slurm_now(s);
	for (struct slurm_job *k = s->jobs, *next; k; k = next) {
		struct slurm_row *r = slurm_row_find_best(&t->rows, k);

		next = k->next;
		if (!slurm_poll_concerns_job(k, t->started_us))
			continue;
		if (r)
			slurm_job_on_row(k, r, t->started_us);
		else
			slurm_job_on_missing(k);
	}
	slurm_poll_find_strays(s, &t->rows);
}

static void slurm_poll_start(struct slurm_executor *s)
{
	struct argv_list *argv = &s->poll_task.argv;

	argv_add(argv, "squeue");
	argv_add(argv, "--noheader");
	argv_add(argv, "--array");
	argv_add(argv, "--states=all");
	argv_add(argv, "--user=%u", (unsigned)getuid());
	argv_add(argv, "--format=%s", SLURM_ROW_FORMAT);
	slurm_task_start(&s->poll_task, on_slurm_poll_done, true);
}

static bool slurm_job_is_unknown(const struct slurm_job *k)
{
	return k->phase == SLURM_PHASE_ENDED && k->unknown_to_squeue;
}

/* Collects names not listed by squeue, those new to sacct first. Returns their number. */
static unsigned slurm_sacct_collect_names(struct slurm_executor *s, struct dp_buf *names)
{
	unsigned n = 0;

	for (int again = 0; again < 2; again++)
		for (struct slurm_job *k = s->jobs; k && n < SACCT_NAMES_MAX; k = k->next) {
			if (!slurm_job_is_unknown(k) || k->sacct_asked != again || k->sacct_pending)
				continue;
			dp_buf_printf(names, "%s%s", n++ ? "," : "--name=", k->name);
			k->sacct_pending = true;
		}
	return n;
}

static void slurm_sacct_log_failure(struct slurm_executor *s, const struct slurm_task *t)
{
	char why[300];

	slurm_output_describe_error(&t->output, "sacct", why, sizeof why);
	if (!s->no_accounting_logged)
		log_line(&s->executor->daemon->log, LOG_INFO, "",
			 "Slurm's accounting tells nothing (%s): jobs that Slurm does not "
			 "know any more are taken for lost after %.0f s",
			 why, SLURM_LOST_SECONDS);
	s->no_accounting_logged = true;
}

/* Without accounting there is no answer: the files decide after a while. */
static void on_slurm_sacct_done(struct slurm_task *t)
{
	struct slurm_executor *s = t->slurm;
	bool ok = slurm_output_ok(&t->output);

	if (!ok)
		slurm_sacct_log_failure(s, t);
	for (struct slurm_job *k = s->jobs; k; k = k->next) {
		bool concerns = k->sacct_pending && slurm_job_is_unknown(k);
		struct slurm_row *r = ok && concerns ? slurm_row_find_best(&t->rows, k) : NULL;

		k->sacct_pending = false;
		if (concerns)
			k->sacct_asked = true;
		/* a job that the database shows as running may be unknown to the controller */
		if (r && slurm_state_is_final(r->state))
			slurm_job_on_row(k, r, t->started_us);
	}
}

static void slurm_sacct_start(struct slurm_executor *s)
{
	struct dp_buf names = DP_BUF_INIT;
	struct argv_list *argv = &s->sacct_task.argv;

	if (slurm_sacct_collect_names(s, &names) > 0) {
		argv_add(argv, "sacct");
		argv_add(argv, "--noheader");
		argv_add(argv, "--allocations");
		argv_add(argv, "--parsable2");
		argv_add(argv, "--duplicates");
		argv_add(argv, "--starttime=now-30days");
		argv_add(argv, "--format=JobID,State,NodeList,JobName,ExitCode");
		argv_take(argv, dp_buf_detach(&names));
		s->next_sacct_us = slurm_time_after(slurm_now(s), SACCT_INTERVAL_SECONDS);
		if (!slurm_task_start(&s->sacct_task, on_slurm_sacct_done, true))
			for (struct slurm_job *k = s->jobs; k; k = k->next)
				k->sacct_pending = false;
	}
	dp_buf_free(&names);
}

static bool slurm_poll_is_needed(const struct slurm_executor *s)
{
	for (const struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->phase >= SLURM_PHASE_SEARCHING)
			return true;
	return slurm_now(s) < s->poll_until_us;
}

void slurm_poll_if_due(struct slurm_executor *s)
{
	if (!s->poll_task.job.is_running && slurm_now(s) >= s->next_poll_us &&
	    slurm_poll_is_needed(s))
		slurm_poll_start(s);
	if (!s->sacct_task.job.is_running && slurm_now(s) >= s->next_sacct_us)
		slurm_sacct_start(s);
}
