/* scheduler.c - applies the policy to changed studies and assigns free slots. Higher priority goes
 * first; among equals the study with fewer running trainers, then the one served longest ago. A
 * study never has more trainers than its `parallel`, and all together never more than their
 * executor takes. */
#include "daemon/studies/scheduler.h"

#include "daemon/studies/proposals/proposals.h"
#include "daemon/studies/study_lifecycle.h"

#include <stdio.h>

/* Visits changed studies until there are none, and adds them to *visited. */
static void scheduler_settle_changed(struct daemon *d, struct study **visited)
{
	struct study *study;

	while ((study = d->studies->changed) != NULL) {
		d->studies->changed = study->next_changed;
		study_apply_policy(study);
		study_start_due_work(study);
		/* clears changes by its own records; later ones count */
		study->is_changed = false;
		if (study->is_visited)
			continue;
		study->is_visited = true;
		study->next_visited = *visited;
		*visited = study;
	}
}

static bool scheduler_goes_first(const struct study *a, const struct study *b)
{
	if (a->state->priority != b->state->priority)
		return a->state->priority > b->state->priority;
	if (dp_state_count_open_attempts(a->state) != dp_state_count_open_attempts(b->state))
		return dp_state_count_open_attempts(a->state) <
		       dp_state_count_open_attempts(b->state);
	return a->last_served < b->last_served;
}

/* The study that gets the next free slot; NULL: none needs one. */
static struct study *scheduler_pick_study(const struct daemon *d)
{
	struct study *best = NULL;

	for (uint32_t i = 0; i < d->studies->n; i++) {
		struct study *study = d->studies->list[i];
		bool wants = study->next_step.kind == DP_STEP_ATTEMPT ||
			     (study->next_step.kind == DP_STEP_PROPOSE && proposal_is_ready(study));

		if (wants && !d->attempts->is_held(study) && d->attempts->free_slots(study) > 0 &&
		    (!best || scheduler_goes_first(study, best)))
			best = study;
	}
	return best;
}

/* Starts the next attempt, or proposes a point, which becomes an attempt in a later turn. */
static void scheduler_serve_study(struct study *study)
{
	struct daemon *d = study->daemon;

	if (study->next_step.until_us <= clock_now(d)) { /* no slot in time */
		study_mark_changed(study);
		return;
	}
	study->last_served = ++d->studies->n_launches;
	if (study->next_step.kind == DP_STEP_ATTEMPT)
		d->attempts->launch(study);
	else
		proposal_next(study);
}

struct study *scheduler_run(struct daemon *d)
{
	struct study *visited = NULL, *study;

	scheduler_settle_changed(d, &visited);
	while (!d->stopping && !d->commits->is_failing && !d->disk.is_low &&
	       (study = scheduler_pick_study(d)) != NULL) {
		scheduler_serve_study(study);
		scheduler_settle_changed(d, &visited);
	}
	for (study = visited; study; study = study->next_visited)
		prefetch_when_idle(study);
	return visited;
}

void scheduler_end_turn(struct study *visited)
{
	struct study *study;

	while ((study = visited) != NULL) {
		visited = study->next_visited;
		study->is_visited = false;
		study_end_turn(study);
	}
}

void scheduler_wake_due(struct daemon *d)
{
	int64_t now = clock_now(d);

	for (uint32_t i = 0; i < d->studies->n; i++)
		if (d->studies->list[i]->next_step.until_us <= now)
			study_mark_changed(d->studies->list[i]);
}

/* ---- reasons for waiting ---- */

/* What the policy waits for, as a sentence; NULL: nothing. */
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

const char *scheduler_waiting_reason(const struct study *study, char *out, size_t room)
{
	const struct daemon *d = study->daemon;
	const struct attempt_runner *attempts = d->attempts;
	enum dp_step_kind next = study->next_step.kind;

	if (study->state->status != DP_STUDY_RUNNING)
		return NULL;
	if (d->read_only.enabled)
		return d->read_only.has_writer ? NULL : "no daemon works on it";
	if (commit_queue_describe_trouble(d, out, room))
		return out;
	if (!dp_state_is_private_selection(study->state) &&
	    attempts->explain_trouble(study, out, room))
		return out;
	if (study->next_step.wait_reason == DP_WAIT_PARALLEL)
		return NULL;
	if (d->stopping)
		return "the daemon is stopping";
	if (d->disk.is_low) {
		snprintf(out, room, "only %s", d->disk.reason);
		return out;
	}
	if (attempts->explain_held(study, out, room))
		return out;
	if (next == DP_STEP_PROPOSE && !proposal_is_ready(study))
		return proposal_is_blocked_by_budget(study)
			       ? "search.budget has no room for another training "
				 "before one that is pending has ended"
			       : "the next point is being chosen";
	if (next == DP_STEP_REEVALUATE_FRONT)
		return "the front that is measured again is being found";
	if (next != DP_STEP_ATTEMPT && next != DP_STEP_PROPOSE)
		return scheduler_policy_reason(study, out, room);
	if (attempts->free_slots(study) > 0)
		return NULL; /* about to start */
	attempts->explain_full(study, out, room);
	return out;
}
