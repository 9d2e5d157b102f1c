/* scheduler.c - a turn of the loop: what follows from what was recorded, and which study
 * gets the next free place.
 *
 * Higher priority first; between equals the study with fewer running trainers, then
 * the one that was served longest ago. A study never has more trainers at once than
 * its `parallel`, and all together never more than their executor takes. */
#include "daemon/studies/scheduler.h"

#include "base/units.h"
#include "daemon/studies/proposals/proposal_job.h"
#include "daemon/executors/executor.h"
#include "daemon/notify/hooks.h"
#include "daemon/core/read_only.h"
#include "daemon/core/commit_queue.h"
#include "daemon/api/server.h"

#include <stdio.h>

#define HOLD_MIN_SECONDS 1.0 /* seconds after the machine refused a start, then doubling */
#define HOLD_MAX_SECONDS 32.0

/* ---- the machine's trouble ---- */

void scheduler_hold_executor(struct executor *b, const char *what, const char *why)
{
	struct launch_hold *hold = &b->hold;

	if (clock_now(b->daemon) < hold->until_us)
		return; /* planned with the one that was refused first */
	hold->seconds = dp_backoff_next(hold->seconds, HOLD_MIN_SECONDS, HOLD_MAX_SECONDS);
	hold->until_us = clock_now(b->daemon) + (int64_t)(hold->seconds * 1e6);
	snprintf(hold->reason, sizeof hold->reason, "%.90s%s%.300s%s", what, why ? " (" : "",
		 why ? why : "", why ? ")" : "");
	log_line(&b->daemon->log, LOG_WARN, "", "%s; nothing starts for %g s", hold->reason,
		 hold->seconds);
}

void scheduler_release_executor(struct executor *b)
{
	if (clock_now(b->daemon) >= b->hold.until_us)
		b->hold = (struct launch_hold){ 0 };
}

static bool scheduler_is_held(const struct executor *b)
{
	return clock_now(b->daemon) < b->hold.until_us;
}

/* ---- the turn ---- */

static bool scheduler_can_start(const struct daemon *d)
{
	return !d->stopping && !d->journal_failing && !d->disk_low;
}

/* Looks at every study that changed, until none has. They are added to *looked. */
static void scheduler_settle_changed(struct daemon *d, struct study **looked)
{
	struct study *study;

	while ((study = d->changed_studies) != NULL) {
		d->changed_studies = study->next_changed;
		study_apply_policy(study);
		/* what it recorded itself it has seen; only now may it change again */
		study->is_changed = false;
		if (study->is_visited)
			continue;
		study->is_visited = true;
		study->next_visited = *looked;
		*looked = study;
	}
}

static bool scheduler_study_wants_slot(const struct study *study)
{
	return (study->next_step.kind == DP_STEP_ATTEMPT ||
		(study->next_step.kind == DP_STEP_PROPOSE && proposal_is_ready(study))) &&
	       !scheduler_is_held(study->executor) && executor_free_slots(study->executor) > 0;
}

static bool scheduler_compare_studies(const struct study *a, const struct study *b)
{
	if (a->state->priority != b->state->priority)
		return a->state->priority > b->state->priority;
	if (dp_state_count_open_attempts(a->state) != dp_state_count_open_attempts(b->state))
		return dp_state_count_open_attempts(a->state) <
		       dp_state_count_open_attempts(b->state);
	return a->last_served < b->last_served;
}

static struct study *scheduler_pick_study(const struct daemon *d)
{
	struct study *best = NULL;

	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct study *study = d->studies[i];

		if (scheduler_study_wants_slot(study) &&
		    (!best || scheduler_compare_studies(study, best)))
			best = study;
	}
	return best;
}

/* A point that was proposed waits, and is an attempt in the next round. */
static bool scheduler_serve_study(struct study *study)
{
	if (study->next_step.until_us <=
	    clock_now(study->daemon)) { /* it waited for a place too long */
		study_mark_changed(study);
		return true;
	}
	study->last_served = ++study->daemon->n_launches;
	return study->next_step.kind == DP_STEP_ATTEMPT ? job_launch(study) : proposal_next(study);
}

static void scheduler_run_turn(struct daemon *d)
{
	struct study *looked = NULL, *study;

	scheduler_settle_changed(d, &looked);
	while (scheduler_can_start(d) && (study = scheduler_pick_study(d)) != NULL) {
		if (!scheduler_serve_study(study)) { /* without memory: the next tick tries again */
			study->next_step.until_us = clock_now(d);
			break;
		}
		scheduler_settle_changed(d, &looked);
	}
	for (study = looked; study; study = study->next_visited)
		prefetch_when_idle(study);
	report_writer_start_due(d);
	hooks_run_due(d);
	clients_answer_long_polls(d);
	/* nothing else is on the stack: what is over can be freed */
	jobs_free_finished(d, false);
	while ((study = looked) != NULL) {
		looked = study->next_visited;
		study->is_visited = false;
		study_end_turn(study);
	}
	daemon_finish_stop_if_idle(d);
}

static void on_idle(uv_idle_t *idle)
{
	struct daemon *d = idle->data;

	uv_idle_stop(idle);
	scheduler_run_turn(d);
	dp_journal_end_batch(d->journal);
}

void scheduler_init(struct daemon *d)
{
	uv_idle_init(&d->loop, &d->sched_idle);
	d->sched_idle.data = d;
}

void scheduler_request_turn(struct daemon *d)
{
	uv_idle_start(&d->sched_idle, on_idle);
}

void scheduler_wake_due(struct daemon *d)
{
	int64_t now = clock_now(d);

	for (uint32_t i = 0; i < d->nstudies; i++)
		if (d->studies[i]->next_step.until_us <= now)
			study_mark_changed(d->studies[i]);
	for (const struct executor *b = d->executors; b->ops; b++)
		if (b->hold.until_us && b->hold.until_us <= now)
			scheduler_request_turn(d);
}

/* ---- why not ---- */

/* What the course of the study waits for, as a sentence; NULL if it need not wait. */
static const char *scheduler_policy_reason(const struct study *study, char *out, size_t room)
{
	double seconds = (double)(study->next_step.until_us - clock_now(study->daemon)) / 1e6;

	if (study_public_view(study).hides_search)
		return NULL;
	switch (study->next_step.wait_reason) {
	case DP_WAIT_NOTHING:
	case DP_WAIT_PARALLEL:
		return NULL;
	case DP_WAIT_RETRY:
		snprintf(out, room, "a failed attempt is tried again in %.0f s",
			 seconds > 0 ? seconds : 0);
		break;
	case DP_WAIT_ORDER:
		snprintf(out, room, "order: deterministic waits for trial %u",
			 study->next_step.trial);
		break;
	case DP_WAIT_REEVALS:
		if (study->state->reevals.open_attempts == 0)
			return NULL;
		snprintf(out, room, "%u %s", study->state->reevals.open_attempts,
			 study->state->reevals.open_attempts == 1
				 ? "trainer measures its points again"
				 : "trainers measure its points again");
		break;
	case DP_WAIT_RUNNING_TRIALS:
		if (study->state->open_attempts == 0)
			return NULL;
		snprintf(out, room, "the last %u %s under way", study->state->open_attempts,
			 study->state->open_attempts == 1 ? "trainer is" : "trainers are");
		break;
	}
	return out;
}

/* What keeps the whole daemon from starting anything; NULL if nothing does. */
static const char *scheduler_daemon_reason(const struct daemon *d, char *out, size_t room)
{
	if (d->stopping)
		snprintf(out, room, "the daemon is stopping");
	else if (d->disk_low)
		snprintf(out, room, "only %s", d->disk_reason);
	else
		return NULL;
	return out;
}

const char *scheduler_waiting_reason(const struct study *study, char *out, size_t room)
{
	const struct daemon *d = study->daemon;
	bool hides = study_public_view(study).hides_search;

	if (study->state->status != DP_STUDY_RUNNING)
		return NULL;
	if (d->is_read_only)
		return read_only_waiting_reason(d);
	if (commit_queue_describe_trouble(d, out, room))
		return out;
	if (!hides && jobs_describe_trouble(study, out, room))
		return out;
	if (!hides && study->executor->ops->explain_waiting &&
	    study->executor->ops->explain_waiting(study->executor, study, out, room))
		return out;
	if (study->next_step.wait_reason == DP_WAIT_PARALLEL)
		return NULL;
	if (scheduler_daemon_reason(d, out, room))
		return out;
	if (scheduler_is_held(study->executor)) {
		snprintf(out, room, "%s; trying again in %.0f s", study->executor->hold.reason,
			 (double)(study->executor->hold.until_us - clock_now(d)) / 1e6);
		return out;
	}
	if (study->next_step.kind == DP_STEP_PROPOSE && !proposal_is_ready(study)) {
		snprintf(out, room, "%s",
			 proposal_is_blocked_by_budget(study)
				 ? "search.budget has no room for another training "
				   "before one that is pending has ended"
				 : "the next point is being chosen");
		return out;
	}
	if (study->next_step.kind == DP_STEP_REEVALUATE_FRONT) {
		snprintf(out, room, "the front that is measured again is being found");
		return out;
	}
	if (study->next_step.kind != DP_STEP_ATTEMPT && study->next_step.kind != DP_STEP_PROPOSE)
		return scheduler_policy_reason(study, out, room);
	if (executor_free_slots(study->executor) > 0)
		return NULL; /* it is about to */
	study->executor->ops->explain_full(study->executor, out, room);
	return out;
}
