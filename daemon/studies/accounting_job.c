/* accounting_job.c - computes epsilons off the loop for points that no proposer found. */
#include "daemon/studies/accounting_job.h"

#include "base/units.h"
#include "daemon/core/background_job.h"
#include "daemon/studies/external_accountants.h"
#include "daemon/studies/proposals/proposals.h"
#include "study/calibrated_params.h"
#include "study/learning_curve.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct accounting_job {
	struct background_job job;
	struct study *study;
	uint64_t client_id; /* the requester; 0: the job computes epsilons of `trial` */
	char requested_by[REQUESTER_LEN];
	json_t *(*answer)(struct study *, const struct dp_trial *);
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	char refusal[POINT_REFUSAL_LEN];
	struct dp_err err;
	int code;                   /* an external accountant could not be asked */
	struct dp_err point_err;    /* an error of the point; code DP_OK: none */
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
		return; /* point_privacy_compute() reports that */
	for (size_t i = 0; i < spec->nparams; i++)
		if (!isnan(given[i]) && given[i] != x[i])
			dp_fail(wrong, DP_E_INVALID,
				"parameter '%s' is calibrated: it is %s here, not %s; "
				"leave it out",
				spec->params[i].name, dp_num_text(x[i], text[0]),
				dp_num_text(given[i], text[1]));
}

static void accounting_worker(void *arg)
{
	struct accounting_job *job = arg;
	const struct dp_study *spec = job->study->state->spec;

	if (job->client_id)
		accounting_solve_calibrated(spec, job->x, &job->point_err);
	job->code = point_privacy_compute(job->study, NULL, job->x, job->privacy, job->refusal,
					  &job->err);
	if (point_privacy_renyi(spec, job->filter_order, job->x, NAN, &job->renyi, NULL) != DP_OK)
		job->renyi = INFINITY; /* so it does not fit */
}

/* Checks the budget again, because other runs may have used it meanwhile. */
static int accounting_record_enqueued(struct accounting_job *job, struct dp_err *err)
{
	struct study *study = job->study;
	struct proposal_source how = { .source = "enqueued",
				       .conditioned_on = study->state->next_seq,
				       .requested_by = job->requested_by };
	const struct dp_study *spec = study->state->spec;
	struct dp_expected_cost cost = { .next = NAN };
	int code;

	*err = job->code != DP_OK ? job->err : job->point_err;
	if (err->code != DP_OK)
		return err->code;
	code = dp_policy_check_enqueue(study->state, err);
	if (code == DP_OK && !job->refusal[0])
		code = dp_policy_check_budget(study->state, job->renyi, err);
	if (code == DP_OK && !job->refusal[0] && spec->search.max_cost > 0) {
		cost.spent = dp_state_cost_spent(study->state);
		if (dp_study_cost(spec) == DP_COST_PATH)
			cost.next = dp_learning_curve_end(spec, job->x);
		code = dp_policy_check_max_cost(study->state, &cost, err);
	}
	if (code == DP_OK)
		proposal_record_trial(study, job->x, &how, job->privacy, job->refusal, job->renyi);
	return code;
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

static void on_accounting_done(void *arg)
{
	struct accounting_job *job = arg;
	struct study *study = job->study;
	struct daemon *d = study->daemon;
	struct dp_err err;

	study->n_accounting_jobs--;
	accountants_stop_idle(study);
	if (!d->loop_ended) {
		if (job->client_id && accounting_record_enqueued(job, &err) != DP_OK)
			d->replies->error(d, job->client_id, &err);
		else if (job->client_id)
			d->replies->ok(
				d, job->client_id,
				job->answer(study,
					    study->state->trials[study->state->ntrials - 1]));
		else if (job->code != DP_OK)
			proposal_handle_no_point(study, &job->err);
		else
			accounting_record_trial(job);
		study_mark_changed(study);
	}
	free(job);
}

static struct accounting_job *accounting_new(struct study *study, const double *x)
{
	struct accounting_job *job = dp_calloc(1, sizeof *job);

	accountants_prepare(study);
	job->study = study;
	memcpy(job->x, x, study->state->spec->nparams * sizeof *x);
	if (study->state->accounting)
		job->filter_order = study->state->accounting->filter.order;
	study->n_accounting_jobs++;
	return job;
}

void accounting_enqueue_point(struct study *study, const double *x, uint64_t client_id,
			      const char *requested_by,
			      json_t *(*answer)(struct study *, const struct dp_trial *))
{
	struct accounting_job *job = accounting_new(study, x);

	job->client_id = client_id;
	snprintf(job->requested_by, sizeof job->requested_by, "%s", requested_by);
	job->answer = answer;
	background_job_start(study->daemon, &job->job, accounting_worker, on_accounting_done, job);
}

void accounting_start_trial(struct study *study, uint32_t trial)
{
	struct accounting_job *job;

	if (study->n_accounting_jobs)
		return; /* started again after that job */
	job = accounting_new(study, dp_state_find_trial(study->state, trial)->x);
	job->trial = trial;
	background_job_start(study->daemon, &job->job, accounting_worker, on_accounting_done, job);
}
