/* prefetch.c - computes points ahead of time, for methods that need no results. */
#include "daemon/studies/proposals/proposal_internal.h"

#include "daemon/studies/external_accountants.h"

#include <stdlib.h>
#include <string.h>

enum {
	PREFETCH_MAX = 32
};

/* Drops points for trials that exist already. */
static void prefetch_drop_before(struct proposal_job *job, uint32_t before)
{
	unsigned n = 0;

	while (n < job->n_prefetched && job->prefetched[n].trial < before)
		n++;
	job->n_prefetched -= n;
	if (n)
		memmove(job->prefetched, job->prefetched + n,
			job->n_prefetched * sizeof *job->prefetched);
}

void prefetch_finish(struct proposal_job *job)
{
	uint32_t next = job->study->state->ntrials;

	prefetch_drop_before(job, next);
	if (job->n_prefetched)
		next = job->prefetched[job->n_prefetched - 1].trial + 1;
	/* points that do not continue the list are computed again */
	if (job->n_points && job->points[0].trial == next) {
		job->prefetched =
			dp_reallocarray(job->prefetched, job->n_prefetched + job->n_points,
					sizeof *job->prefetched);
		memcpy(job->prefetched + job->n_prefetched, job->points,
		       job->n_points * sizeof *job->points);
		job->n_prefetched += job->n_points;
	}
	/* points found before the failure are used first */
	if (job->code != DP_OK && job->n_prefetched == 0 && job->n_points == 0 &&
	    job->trial == job->study->state->ntrials)
		proposal_handle_failure(job);
}

/* Starts a task for at least `least` points, or twice the last batch to save tasks. */
static void prefetch_start(struct study *study, unsigned least)
{
	struct proposal_job *job = study->proposal_job;
	uint32_t left = dp_policy_count_proposals_left(study->state, clock_now(study->daemon));
	unsigned there = job ? job->n_prefetched : 0, batch = job ? 2 * job->last_batch : 0;

	batch = batch < least ? least : batch;
	batch = batch > PREFETCH_MAX ? PREFETCH_MAX : batch;
	if (left <= there)
		return;
	if (batch > left - there)
		batch = left - there;
	proposal_start(study, PROPOSAL_PREFETCH, study->state->ntrials + there, batch);
	study->proposal_job->last_batch = batch;
}

void prefetch_next(struct study *study)
{
	struct proposal_job *job = study->proposal_job;
	unsigned slots = study->daemon->attempts->free_slots(study);
	unsigned own = study->state->parallel - dp_state_count_open_attempts(study->state);
	uint32_t left = dp_policy_count_proposals_left(study->state, clock_now(study->daemon));

	slots = own < slots ? own : slots; /* that the study could fill now */
	if (job)
		prefetch_drop_before(job, study->state->ntrials);
	if (!job || job->n_prefetched == 0) {
		/* a small batch, so that a trial starts soon; slots for all that could start */
		prefetch_start(study, 1);
		if (proposal_is_busy(study))
			proposal_reserve_slots(study, slots < left ? slots : left);
		else
			study_mark_changed(study); /* its time limit was just reached */
		return;
	}
	proposal_record_if_affordable(study, &job->prefetched[0], proposal_cost_spent(study),
				      study->state->next_seq);
	prefetch_drop_before(job, study->state->ntrials);
	if (job->n_prefetched <= job->last_batch / 2 && !job->job.is_running)
		prefetch_start(study, 1);
}

void prefetch_when_idle(struct study *study)
{
	/* not with an external accountant: each of a thousand waiting studies would start one */
	if (study->next_step.kind == DP_STEP_PROPOSE && !proposal_is_busy(study) &&
	    (!study->proposal_job || study->proposal_job->n_prefetched == 0) &&
	    study->state->spec->search.method != DP_METHOD_DPARETO &&
	    !accountants_are_external(study->state->spec))
		prefetch_start(study,
			       study->state->parallel - dp_state_count_open_attempts(study->state));
}
