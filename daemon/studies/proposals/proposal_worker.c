/* proposal_worker.c - computes points, fronts and recommendations on a worker thread, from the
 * snapshot that the loop copied. */
#include "daemon/studies/proposals/proposal_internal.h"

#include "daemon/studies/external_accountants.h"
#include "study/search_budget.h"

#include <math.h>
#include <string.h>

/* Computes the next point. While some results are not visible yet, less of search.budget is
 * available than at the end: a point that does not fit is retried with the final amount. */
static int proposal_worker_ask_proposer(struct proposal_job *job, uint32_t trial)
{
	struct accountants_turn turn;
	struct dp_history h = { .observations = job->known,
				.n = job->nknown,
				.external_accountants =
					accountants_get_asker(job->study, &job->job.cancel, &turn),
				.budget_order = job->filter_order,
				.budget_remaining = job->budget_left };
	int code = dp_proposer_propose(job->proposer, &h, trial, &job->job.cancel, &job->proposal,
				       &job->err);

	if (code != DP_E_LIMIT || !(job->final_budget_left > job->budget_left))
		return code;
	h.budget_remaining = job->final_budget_left;
	return dp_proposer_propose(job->proposer, &h, trial, &job->job.cancel, &job->proposal,
				   &job->err);
}

static int proposal_worker_find_point(struct proposal_job *job, uint32_t trial)
{
	const struct dp_study *spec = job->study->state->spec;
	struct proposed_point *p = &job->points[job->n_points];
	uint64_t begun = uv_hrtime(); /* excludes the wait for a worker thread */
	int code = proposal_worker_ask_proposer(job, trial);

	if (code != DP_OK)
		return code;
	*p = (struct proposed_point){ .trial = trial,
				      .source = job->proposal.source,
				      .cost = job->proposal.cost,
				      .pending_cost = job->proposal.pending_cost };
	memcpy(p->x, job->proposal.x, spec->nparams * sizeof p->x[0]);
	code = point_privacy_compute(job->study, &job->job.cancel, p->x, p->privacy, p->refusal,
				     &job->err);
	if (code == DP_OK)
		code = point_privacy_renyi(spec, job->filter_order, p->x, NAN, &p->renyi,
					   &job->err);
	p->proposal_seconds = (double)(uv_hrtime() - begun) / 1e9;
	job->n_points += code == DP_OK;
	return code;
}

/* Answers clients from models. Models of a subset of the results are no use for proposals, so they
 * get a temporary proposer. */
static int proposal_worker_model_query(struct proposal_job *job)
{
	const struct dp_study *spec = job->study->state->spec;
	struct dp_proposer *own = job->input.is_subset ? dp_proposer_new(spec) : NULL,
			   *p = own ? own : job->proposer;
	struct accountants_turn turn;
	int code = DP_OK; /* errors belong to each query */

	if (job->task == PROPOSAL_SMOOTHED_FRONT)
		code = smoothed_front_compute(spec, p, &job->job.cancel, &job->input, &job->err);
	else
		recommend_query_compute(job->recommend_queries, p, spec, &job->input.results,
					accountants_get_asker(job->study, &job->job.cancel, &turn),
					&job->job.cancel);
	dp_proposer_free(own);
	return code;
}

static int proposal_worker_run_task(struct proposal_job *job)
{
	bool is_query = job->task == PROPOSAL_SMOOTHED_FRONT || job->task == PROPOSAL_RECOMMEND;
	int code = DP_OK;

	if (job->task == PROPOSAL_BUDGET_FILTER) {
		dp_odometer_init_default(&job->accounting.odometer);
		return dp_budget_filter(job->study->state->spec, &job->accounting.odometer,
					&job->accounting.filter, &job->err);
	}
	if (!job->proposer && !(is_query && job->input.is_subset))
		job->proposer = dp_proposer_new(job->study->state->spec);
	if (is_query)
		return proposal_worker_model_query(job);
	for (unsigned i = 0; i < job->points_capacity && code == DP_OK; i++)
		code = proposal_worker_find_point(job, job->trial + i);
	return code;
}

void proposal_worker(void *arg)
{
	struct proposal_job *job = arg;

	job->n_points = 0;
	job->code = proposal_worker_run_task(job);
	if (job->task != PROPOSAL_PREFETCH)
		return;
	/* not cached: a thousand waiting studies would each hold one */
	dp_proposer_free(job->proposer);
	job->proposer = NULL;
}
