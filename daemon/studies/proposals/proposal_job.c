/* proposal_job.c - proposes the next point of a study. Every task runs on a worker thread: even if
 * a point is found at once, its privacy accountants may be slow. Methods that need no results are
 * asked ahead of time, so that a free slot need not wait. */
#include "daemon/studies/proposals/proposal_internal.h"

#include "daemon/studies/external_accountants.h"

#include <math.h>
#include <stdlib.h>

static void proposal_job_free(struct proposal_job *job)
{
	if (!job)
		return;
	dp_proposer_free(job->proposer);
	free(job->prefetched);
	free(job->points);
	free(job->known);
	smoothed_front_input_clear(&job->input);
	json_decref(job->front_reply);
	pending_replies_free(&job->recipients);
	for (int wish = 0; wish < MODEL_QUERY_KINDS; wish++)
		pending_replies_free(&job->later_recipients[wish]);
	recommend_query_free(&job->recommend_queries);
	recommend_query_free(&job->later_recommend_queries);
	free(job);
}

static struct proposal_job *proposal_job_get_or_new(struct study *study)
{
	struct proposal_job *job = study->proposal_job;

	if (job)
		return job;
	job = dp_calloc(1, sizeof *job);
	job->study = study;
	job->blocked_at_seq = -1;
	study->proposal_job = job;
	return job;
}

bool proposal_is_busy(const struct study *study)
{
	return study->proposal_job && study->proposal_job->job.is_running;
}

bool proposal_is_blocked_by_budget(const struct study *study)
{
	return study->proposal_job && study->proposal_job->blocked_at_seq == study->state->next_seq;
}

bool proposal_is_ready(const struct study *study)
{
	const struct proposal_job *job = study->proposal_job;

	if (proposal_is_blocked_by_budget(study))
		return false;
	if (job && job->n_prefetched &&
	    job->prefetched[job->n_prefetched - 1].trial >= study->state->ntrials)
		return true;
	return !proposal_is_busy(study) &&
	       (study->daemon->studies->n_accountant_users < ACCOUNTANT_USERS_MAX ||
		!accountants_are_external(study->state->spec));
}

void proposal_cancel(struct study *study)
{
	if (study->proposal_job)
		background_job_cancel(&study->proposal_job->job);
}

void proposal_cancel_point(struct study *study)
{
	if (proposal_is_busy(study) && (study->proposal_job->task == PROPOSAL_NEXT_TRIAL ||
					study->proposal_job->task == PROPOSAL_PREFETCH))
		proposal_cancel(study);
}

void proposal_discard_job(struct study *study)
{
	proposal_job_free(study->proposal_job);
	study->proposal_job = NULL;
}

/* ---- recording ---- */

void proposal_record_trial(struct study *study, const double *x, const struct proposal_source *how,
			   const double *privacy, const char *refused, double renyi)
{
	const struct dp_study *spec = study->state->spec;
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
			      .trial = study->state->ntrials,
			      .requested_by = how->requested_by,
			      .trial_proposed = { .point = { .source = how->source,
							     .params = x,
							     .nparams = (uint32_t)spec->nparams,
							     .renyi = &renyi,
							     .nrenyi = isnan(renyi) ? 0 : 1 },
						  .conditioned_on = how->conditioned_on,
						  .proposal_seconds = how->proposal_seconds } };

	if (refused[0]) {
		e.reason = refused;
	} else if (dp_study_has_privacy(spec)) {
		e.trial_proposed.point.privacy = privacy;
		e.trial_proposed.point.nprivacy = (uint32_t)spec->nobjectives;
	}
	study_record_event(study, &e);
}

void proposal_handle_no_point(struct study *study, const struct dp_err *why)
{
	struct dp_transition_events orders;

	if (dp_policy_can_propose_later(study->state, why))
		study->proposal_job->blocked_at_seq = study->state->next_seq;
	dp_policy_on_no_proposal(study->state, why, &orders);
	study_apply_orders(study, &orders, NULL);
}

void proposal_record_if_affordable(struct study *study, const struct proposed_point *p,
				   double spent, uint32_t basis)
{
	struct dp_expected_cost expected = { spent, p->pending_cost, p->cost };
	struct proposal_source how = { .source = p->source,
				       .conditioned_on = basis,
				       .proposal_seconds = p->proposal_seconds };
	struct dp_err why;

	if (!p->refusal[0] && (dp_policy_check_max_cost(study->state, &expected, &why) != DP_OK ||
			       dp_policy_check_budget(study->state, p->renyi, &why) != DP_OK))
		proposal_handle_no_point(study, &why);
	else
		proposal_record_trial(study, p->x, &how, p->privacy, p->refusal, p->renyi);
}

void proposal_handle_failure(struct proposal_job *job)
{
	job->err.code = job->code; /* an interrupted one has no message */
	proposal_handle_no_point(job->study, &job->err);
}

/* Records the privacy filter before the first run, or that the budget covers no run. */
static void proposal_record_budget_filter(struct proposal_job *job)
{
	struct study *study = job->study;
	struct dp_event e;

	if (study->state->accounting || study->state->ntrials)
		return;
	if (job->code != DP_OK) {
		proposal_handle_failure(job);
		return;
	}
	e = dp_policy_accounting_event(&job->accounting.odometer, &job->accounting.filter);
	study_record_event(study, &e);
}

static void proposal_finish_trial(struct proposal_job *job)
{
	struct study *study = job->study;

	if (study->state->ntrials != job->trial ||
	    !dp_policy_count_proposals_left(study->state, clock_now(study->daemon)))
		return; /* the state changed; asked again when the step comes back */
	if (job->code != DP_OK) {
		proposal_handle_failure(job);
		return;
	}
	if (job->proposal.note[0])
		log_line(&study->daemon->log, LOG_WARN, study->state->spec->name, "proposal %u: %s",
			 job->trial, job->proposal.note);
	proposal_record_if_affordable(study, &job->points[0], job->cost_spent, job->conditioned_on);
}

/* ---- starting tasks ---- */

/* Starts queries that arrived during another task. */
static void proposal_start_waiting_queries(struct proposal_job *job)
{
	struct study *study = job->study;
	const char *end = study->delete_requests    ? "being deleted"
			  : study->daemon->stopping ? "stopping with its daemon"
						    : NULL;

	if (end) {
		dp_fail(&job->err, DP_E_BUSY, "study '%s' is %s", study->state->spec->name, end);
		for (int kind = 0; kind < MODEL_QUERY_KINDS; kind++)
			pending_replies_send_all(&job->later_recipients[kind], study->daemon, NULL,
						 &job->err);
		recommend_query_reply(&job->later_recommend_queries, study, &job->err);
		return;
	}
	if (job->later_recipients[MODEL_QUERY_FRONT] && !job->job.is_running)
		proposal_start(study, PROPOSAL_SMOOTHED_FRONT, study->state->ntrials, 1);
	if (job->later_recipients[MODEL_QUERY_NEXT_POINT] && !job->job.is_running)
		proposal_start(study, PROPOSAL_PREVIEW, study->state->ntrials, 1);
	if (job->later_recommend_queries && !job->job.is_running)
		proposal_start(study, PROPOSAL_RECOMMEND, study->state->ntrials, 1);
}

static void on_proposal_done(void *arg)
{
	struct proposal_job *job = arg;
	struct study *study = job->study;

	study->daemon->attempts->reserve_slots(study, -(int)job->reserved_slots);
	job->reserved_slots = 0;
	study->daemon->studies->n_accountant_users -= job->uses_accountant;
	job->uses_accountant = false;
	accountants_stop_idle(study);
	if (study->daemon->loop_ended)
		return;
	switch (job->task) {
	case PROPOSAL_NEXT_TRIAL:
		proposal_finish_trial(job);
		break;
	case PROPOSAL_PREFETCH:
		prefetch_finish(job);
		break;
	case PROPOSAL_PREVIEW:
		model_query_finish_point(job);
		break;
	case PROPOSAL_BUDGET_FILTER:
		proposal_record_budget_filter(job);
		break;
	case PROPOSAL_SMOOTHED_FRONT:
		model_query_finish_front(job);
		break;
	case PROPOSAL_RECOMMEND:
		model_query_finish_recommend(job);
		break;
	}
	/* clients follow a point of the study, and the study follows clients, so that neither
	 * starves the other: proposal_serve_queries() */
	if (job->task == PROPOSAL_NEXT_TRIAL || job->task == PROPOSAL_PREFETCH)
		proposal_start_waiting_queries(job);
	study_mark_changed(study);
}

double proposal_cost_spent(const struct study *study)
{
	return study->state->spec->search.max_cost > 0 ? dp_state_cost_spent(study->state) : 0;
}

/* Copies the results; none for a method that does not use them. */
static void proposal_snapshot_history(struct proposal_job *job, bool with_results)
{
	const struct dp_study_state *s = job->study->state;

	free(job->known);
	job->nknown = 0;
	job->known = with_results ? dp_history_load(s, true, &job->nknown) : NULL;
	job->conditioned_on = s->next_seq;
	job->cost_spent = proposal_cost_spent(job->study);
	job->filter_order = s->accounting ? s->accounting->filter.order : 0;
	job->budget_left = dp_policy_budget_per_run(s, dp_policy_visible_trials(s));
	job->final_budget_left =
		s->open_attempts || s->waiting_trials || dp_state_has_pending_reevals(s)
			? job->budget_left
			: dp_policy_budget_per_run(s, s->ntrials);
}

void proposal_start(struct study *study, enum proposal_task task, uint32_t trial, unsigned points)
{
	struct proposal_job *job = proposal_job_get_or_new(study);

	/* the input is copied now, and the clients that wait now get this answer */
	switch (task) {
	case PROPOSAL_SMOOTHED_FRONT:
		model_query_snapshot_front(job);
		job->recipients = job->later_recipients[MODEL_QUERY_FRONT];
		job->later_recipients[MODEL_QUERY_FRONT] = NULL;
		break;
	case PROPOSAL_RECOMMEND:
		model_query_snapshot_recommend(job);
		job->recommend_queries = job->later_recommend_queries;
		job->later_recommend_queries = NULL;
		break;
	case PROPOSAL_PREVIEW:
		job->recipients = job->later_recipients[MODEL_QUERY_NEXT_POINT];
		job->later_recipients[MODEL_QUERY_NEXT_POINT] = NULL;
		/* fall through */
	default:
		proposal_snapshot_history(job, task != PROPOSAL_PREFETCH &&
						       task != PROPOSAL_BUDGET_FILTER);
		job->points = dp_reallocarray(job->points, points, sizeof *job->points);
		job->points_capacity = points;
	}
	accountants_prepare(study);
	job->uses_accountant = study->accountants && task != PROPOSAL_SMOOTHED_FRONT;
	study->daemon->studies->n_accountant_users += job->uses_accountant;
	job->task = task;
	job->trial = trial;
	background_job_start(study->daemon, &job->job, proposal_worker, on_proposal_done, job);
}

void proposal_reserve_slots(struct study *study, unsigned n)
{
	study->proposal_job->reserved_slots = n;
	study->daemon->attempts->reserve_slots(study, (int)n);
}

void proposal_next(struct study *study)
{
	if (study->state->spec->search.method != DP_METHOD_DPARETO) {
		prefetch_next(study);
		return;
	}
	proposal_start(study, PROPOSAL_NEXT_TRIAL, study->state->ntrials, 1);
	proposal_reserve_slots(study, 1);
}

void proposal_choose_budget_filter(struct study *study)
{
	if (!proposal_is_busy(study)) /* else asked again afterwards */
		proposal_start(study, PROPOSAL_BUDGET_FILTER, 0, 1);
}

bool smoothed_front_start_final(struct study *study)
{
	struct proposal_job *job = study->proposal_job;

	if (!job || !job->proposer || job->task == PROPOSAL_SMOOTHED_FRONT /* already done */ ||
	    study->state->status != DP_STUDY_FINISHED ||
	    !dp_study_uses_smoothed_front(study->state->spec) || smoothed_front_current(study) ||
	    study->daemon->stopping || study->daemon->loop_ended)
		return false;
	proposal_start(study, PROPOSAL_SMOOTHED_FRONT, 0, 0);
	return true;
}

/* ---- for clients ---- */

void proposal_serve_queries(struct study *study)
{
	if (study->proposal_job && !study->proposal_job->job.is_running)
		proposal_start_waiting_queries(study->proposal_job);
}

static void model_query_add(struct study *study, enum model_query_kind kind, uint64_t client_id)
{
	struct proposal_job *job = proposal_job_get_or_new(study);

	pending_replies_add(&job->later_recipients[kind], client_id, NULL);
	proposal_serve_queries(study);
}

void model_query_next_point(struct study *study, uint64_t client_id)
{
	model_query_add(study, MODEL_QUERY_NEXT_POINT, client_id);
}

void model_query_front(struct study *study, uint64_t client_id)
{
	model_query_add(study, MODEL_QUERY_FRONT, client_id);
}

int model_query_recommend(struct study *study, uint64_t client_id, const json_t *levels,
			  struct dp_err *err)
{
	struct proposal_job *job = proposal_job_get_or_new(study);
	int code =
		recommend_query_add(&job->later_recommend_queries, study, client_id, levels, err);

	if (code == DP_OK)
		proposal_serve_queries(study);
	return code;
}
