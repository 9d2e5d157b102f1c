/* accounting_job.c - privacy oracles asked off the loop, for points that no proposer found. */
#include "daemon/studies/accounting_job.h"

#include "base/units.h"
#include "daemon/studies/proposals/proposal_job.h"
#include "daemon/studies/external_accountants.h"
#include "daemon/core/commit_queue.h"
#include "daemon/api/requests.h"
#include "daemon/api/server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct accounting_job {
	uv_work_t work;
	struct study *study;
	uint64_t client_id; /* who enqueued the point; 0: `trial` wants its epsilons */
	char requested_by[REQUESTER_LEN];
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	char refusal[POINT_REFUSAL_LEN];
	struct dp_err err;
	int code;                   /* a program could not be asked */
	struct dp_err point_err;    /* with the point itself; its code is DP_OK: nothing */
	double filter_order, renyi; /* of search.budget: see point_privacy_renyi() */
};

void accounting_solve_calibrated(const struct dp_study *spec, double *x, struct dp_err *wrong)
{
	double given[DP_PARAMS_MAX];
	char text[2][DP_NUM_LEN];
	struct dp_err err;

	memcpy(given, x, spec->nparams * sizeof *given);
	dp_space_clear_calibrated(spec, x);
	if (dp_space_solve_calibrated(spec, x, &err) != DP_OK)
		return; /* the oracles are not asked, and that says why */
	for (size_t i = 0; i < spec->nparams; i++)
		if (!isnan(given[i]) && given[i] != x[i])
			dp_fail(wrong, DP_E_INVALID,
				"parameter '%s' is calibrated: it is %s here, not %s; "
				"leave it out",
				spec->params[i].name, dp_num_text(x[i], text[0]),
				dp_num_text(given[i], text[1]));
}

static void accounting_worker(uv_work_t *w)
{
	struct accounting_job *job = w->data;

	if (job->client_id)
		accounting_solve_calibrated(job->study->state->spec, job->x, &job->point_err);
	job->code = point_privacy_compute(job->study, NULL, job->x, job->privacy, job->refusal,
					  &job->err);
	if (point_privacy_renyi(job->study->state->spec, job->filter_order, job->x, NAN,
				&job->renyi, NULL) != DP_OK)
		job->renyi = INFINITY; /* without memory it does not fit */
}

/* Do search.max_cost and search.budget leave room for the training? */
static int accounting_check_budget(const struct study *study, const struct accounting_job *job,
				   struct dp_err *err)
{
	const struct dp_study *spec = study->state->spec;
	struct dp_expected_cost e = { .next = NAN };
	int code = dp_policy_check_budget(study->state, job->renyi, err);

	if (code != DP_OK || spec->search.max_cost == 0)
		return code;
	e.spent = dp_state_cost_spent(study->state);
	if (dp_study_cost(spec) == DP_COST_PATH)
		e.next = dp_learning_curve_end(spec, job->x);
	return dp_policy_check_max_cost(study->state, &e, err);
}

/* The budget may have been given out meanwhile. */
static void accounting_record_enqueued(struct accounting_job *job)
{
	struct study *study = job->study;
	struct proposal_source how = { .source = "enqueued",
				       .conditioned_on = study->state->next_seq,
				       .requested_by = job->requested_by };
	struct dp_err err;

	if (job->point_err.code != DP_OK) {
		client_reply_error(study->daemon, job->client_id, &job->point_err);
		return;
	}
	if (dp_policy_check_enqueue(study->state, &err) != DP_OK ||
	    (!job->refusal[0] && accounting_check_budget(study, job, &err) != DP_OK)) {
		client_reply_error(study->daemon, job->client_id, &err);
		return;
	}
	proposal_record_trial(study, job->x, &how, job->privacy, job->refusal, job->renyi);
	client_reply_ok(study->daemon, job->client_id,
			request_trial_json(study, study->state->trials[study->state->ntrials - 1]));
}

static void accounting_record_trial(struct accounting_job *job)
{
	struct dp_event e = { .type = DP_EV_TRIAL_ACCOUNTED, .trial = job->trial };

	if (job->refusal[0]) {
		e.reason = job->refusal;
	} else {
		e.trial_accounted.privacy = job->privacy;
		e.trial_accounted.nprivacy = (uint32_t)job->study->state->spec->nobjectives;
	}
	study_record_event(job->study, &e);
}

static void on_accounting_done(uv_work_t *w, int status)
{
	struct accounting_job *job = w->data;
	struct study *study = job->study;

	(void)status; /* work is never cancelled */
	study->n_accounting_jobs--;
	accountants_stop_idle(study);
	if (!study->daemon->loop_ended) {
		if (job->code != DP_OK && job->client_id)
			client_reply_error(study->daemon, job->client_id, &job->err);
		else if (job->code != DP_OK)
			proposal_handle_no_point(study, &job->err);
		else if (job->client_id)
			accounting_record_enqueued(job);
		else
			accounting_record_trial(job);
		study_mark_changed(study);
	}
	free(job);
}

static struct accounting_job *accounting_start(struct study *study, const double *x,
					       uint64_t client)
{
	struct accounting_job *job = dp_calloc(1, sizeof *job);
	struct dp_err err;

	if (!job || accountants_prepare(study, &err) != DP_OK) {
		free(job);
		return NULL;
	}
	job->study = study;
	job->client_id = client;
	memcpy(job->x, x, study->state->spec->nparams * sizeof *x);
	if (study->state->accounting)
		job->filter_order = study->state->accounting->filter.order;
	job->work.data = job;
	study->n_accounting_jobs++;
	uv_queue_work(&study->daemon->loop, &job->work, accounting_worker, on_accounting_done);
	return job;
}

int accounting_enqueue_point(struct study *study, const double *x, const struct request *r,
			     struct dp_err *err)
{
	struct accounting_job *job = accounting_start(study, x, r->client_id);

	if (!job)
		return dp_fail(err, DP_E_NOMEM, "no memory to ask for its epsilon");
	memcpy(job->requested_by, r->requested_by, sizeof job->requested_by);
	return DP_OK;
}

void accounting_start_trial(struct study *study, uint32_t trial)
{
	struct accounting_job *job;

	if (study->n_accounting_jobs)
		return; /* it is asked again once that is recorded */
	job = accounting_start(study, dp_state_find_trial(study->state, trial)->x, 0);
	if (job)
		job->trial = trial;
	else
		study->next_step.until_us =
			clock_now(study->daemon); /* the next tick tries again */
}
