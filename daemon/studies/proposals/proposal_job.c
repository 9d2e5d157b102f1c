/* ask.c - the next point of a study.
 *
 * Every question goes to a worker thread, because even where a point is found at once
 * its privacy oracles may take their time. Methods whose points depend on no result are
 * asked ahead of time, so that a free place need not wait for them. */
#include "daemon/studies/proposals/proposal_internal.h"

#include "daemon/executors/executor.h"
#include "daemon/studies/external_accountants.h"
#include "daemon/core/commit_queue.h"
#include "daemon/studies/study_object.h"

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
	dp_history_subset_free(&job->results);
	json_decref(job->front.rows);
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
	return study->proposal_job && study->proposal_job->busy;
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
	       (study->daemon->n_accountant_users < ACCOUNTANT_USERS_MAX ||
		!accountants_are_external(study->state->spec));
}

void proposal_cancel(struct study *study)
{
	if (study->proposal_job)
		atomic_store(&study->proposal_job->cancel, true);
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
	job->err.code = job->code; /* one that was interrupted has no words */
	proposal_handle_no_point(job->study, &job->err);
}

/* What is fixed before the first training is known, or that the budget pays for none. */
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
		return; /* things changed meanwhile; it is asked again when it fits */
	if (job->code != DP_OK) {
		proposal_handle_failure(job);
		return;
	}
	if (job->proposal.note[0])
		log_line(&study->daemon->log, LOG_WARN, study->state->spec->name, "proposal %u: %s",
			 job->trial, job->proposal.note);
	proposal_record_if_affordable(study, &job->points[0], job->cost_spent, job->conditioned_on);
}

/* ---- asking ---- */

/* Has a worker thread look for what clients want; false: it cannot, and a->err says why.
 */
static bool proposal_start_query(struct proposal_job *job, enum proposal_task question)
{
	struct study *study = job->study;

	if (study->daemon->stopping || study->delete_requests)
		job->code = dp_fail(
			&job->err, DP_E_BUSY, "study '%s' is %s", study->state->spec->name,
			study->delete_requests ? "being deleted" : "stopping with its daemon");
	else
		job->code = proposal_start(study, question, study->state->ntrials, 1, &job->err);
	return job->code == DP_OK;
}

/* Clients that came while something else was looked for. */
static void proposal_start_waiting_queries(struct proposal_job *job)
{
	static const enum proposal_task question[] = { [MODEL_QUERY_FRONT] =
							       PROPOSAL_SMOOTHED_FRONT,
						       [MODEL_QUERY_NEXT_POINT] =
							       PROPOSAL_PREVIEW };

	for (int wish = 0; wish < MODEL_QUERY_KINDS; wish++)
		if (job->later_recipients[wish] && !job->busy &&
		    !proposal_start_query(job, question[wish]))
			model_query_reply(job, &job->later_recipients[wish], NULL);
	if (job->later_recommend_queries && !job->busy &&
	    !proposal_start_query(job, PROPOSAL_RECOMMEND))
		recommend_query_reply(&job->later_recommend_queries, job->study, &job->err);
}

static void on_proposal_done(uv_work_t *w, int status)
{
	struct proposal_job *job = w->data;
	struct study *study = job->study;

	(void)status; /* work is never cancelled */
	job->busy = false;
	study->executor->n_reserved -= job->reserved_slots;
	job->reserved_slots = 0;
	study->daemon->n_accountant_users -= job->uses_accountant;
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
	/* it is the clients' turn after a point of the study, and the study's after
	 * something for clients, so that nobody keeps the other waiting: proposal_serve_queries()
	 */
	if (job->task == PROPOSAL_NEXT_TRIAL || job->task == PROPOSAL_PREFETCH)
		proposal_start_waiting_queries(job);
	study_mark_changed(study);
}

static bool proposal_alloc_points(struct proposal_job *job, unsigned points)
{
	if (points > job->points_capacity) {
		free(job->points);
		job->points = dp_calloc(points, sizeof *job->points);
	}
	job->points_capacity = job->points ? points : 0;
	return job->points != NULL;
}

double proposal_cost_spent(const struct study *study)
{
	return study->state->spec->search.max_cost > 0 ? dp_state_cost_spent(study->state) : 0;
}

/* Known results, copied; none for a method that does not look at them. */
static bool proposal_snapshot_history(struct proposal_job *job, bool results)
{
	const struct dp_study_state *s = job->study->state;
	struct dp_observation *known = NULL;
	size_t n = 0;

	if (results) {
		known = dp_history_load(s, true, &n);
		if (!known)
			return false;
	}
	free(job->known);
	job->known = known;
	job->nknown = n;
	job->conditioned_on = s->next_seq;
	job->cost_spent = proposal_cost_spent(job->study);
	job->filter_order = s->accounting ? s->accounting->filter.order : 0;
	job->budget_left = dp_policy_budget_per_run(s, dp_policy_visible_trials(s));
	job->final_budget_left =
		s->open_attempts || s->waiting_trials || dp_state_has_pending_reevals(s)
			? job->budget_left
			: dp_policy_budget_per_run(s, s->ntrials);
	return true;
}

/* All that the question is about, copied. */
static bool proposal_snapshot_task(struct proposal_job *job, enum proposal_task question,
				   unsigned points)
{
	if (question == PROPOSAL_SMOOTHED_FRONT)
		return model_query_snapshot_front(job);
	if (question == PROPOSAL_RECOMMEND)
		return model_query_snapshot_recommend(job);
	return proposal_snapshot_history(job, question != PROPOSAL_PREFETCH &&
						      question != PROPOSAL_BUDGET_FILTER) &&
	       proposal_alloc_points(job, points);
}

/* Those who wait for this question wait for this answer. */
static void proposal_take_waiters(struct proposal_job *job, enum proposal_task question)
{
	enum model_query_kind wish =
		question == PROPOSAL_PREVIEW ? MODEL_QUERY_NEXT_POINT : MODEL_QUERY_FRONT;

	if (question == PROPOSAL_RECOMMEND) {
		job->recommend_queries = job->later_recommend_queries;
		job->later_recommend_queries = NULL;
	}
	if (question != PROPOSAL_PREVIEW && question != PROPOSAL_SMOOTHED_FRONT)
		return;
	job->recipients = job->later_recipients[wish];
	job->later_recipients[wish] = NULL;
}

int proposal_start(struct study *study, enum proposal_task question, uint32_t trial,
		   unsigned points, struct dp_err *err)
{
	struct proposal_job *job = proposal_job_get_or_new(study);

	if (!job || !proposal_snapshot_task(job, question, points) ||
	    accountants_prepare(study, err) != DP_OK)
		return dp_fail(err, DP_E_NOMEM, "no memory to propose");
	proposal_take_waiters(job, question);
	atomic_store(&job->cancel, false);
	job->busy = true;
	job->uses_accountant = study->accountants && question != PROPOSAL_SMOOTHED_FRONT;
	study->daemon->n_accountant_users += job->uses_accountant;
	job->task = question;
	job->trial = trial;
	job->work.data = job;
	uv_queue_work(&study->daemon->loop, &job->work, proposal_worker, on_proposal_done);
	return DP_OK;
}

void proposal_reserve_slots(struct study *study, unsigned places)
{
	study->proposal_job->reserved_slots = places;
	study->executor->n_reserved += places;
}

bool proposal_next(struct study *study)
{
	struct dp_err err;

	if (study->state->spec->search.method != DP_METHOD_DPARETO)
		return prefetch_next(study);
	if (proposal_start(study, PROPOSAL_NEXT_TRIAL, study->state->ntrials, 1, &err) != DP_OK)
		return false;
	proposal_reserve_slots(study, 1);
	return true;
}

void proposal_choose_budget_filter(struct study *study)
{
	struct dp_err err;

	if (proposal_is_busy(study))
		return; /* it is asked again after that */
	if (proposal_start(study, PROPOSAL_BUDGET_FILTER, 0, 1, &err) != DP_OK)
		study->next_step.until_us =
			clock_now(study->daemon); /* the next tick tries again */
}

void proposal_serve_queries(struct study *study)
{
	if (study->proposal_job && !study->proposal_job->busy)
		proposal_start_waiting_queries(study->proposal_job);
}

static int model_query_add(struct study *study, enum model_query_kind wish, uint64_t client,
			   struct dp_err *err)
{
	struct proposal_job *job = proposal_job_get_or_new(study);

	if (!job || !pending_replies_add(&job->later_recipients[wish], client, NULL))
		return dp_fail(err, DP_E_NOMEM, "no memory for the question");
	proposal_serve_queries(study);
	return DP_OK;
}

int model_query_next_point(struct study *study, uint64_t client, struct dp_err *err)
{
	return model_query_add(study, MODEL_QUERY_NEXT_POINT, client, err);
}

int model_query_front(struct study *study, uint64_t client, struct dp_err *err)
{
	return model_query_add(study, MODEL_QUERY_FRONT, client, err);
}

int model_query_recommend(struct study *study, uint64_t client, const json_t *levels,
			  struct dp_err *err)
{
	struct proposal_job *job = proposal_job_get_or_new(study);
	int code =
		job ? recommend_query_add(&job->later_recommend_queries, study, client, levels, err)
		    : dp_fail(err, DP_E_NOMEM, "no memory for the question");

	if (code == DP_OK)
		proposal_serve_queries(study);
	return code;
}
