/* proposal_worker.c - what a worker thread finds for a study: points, fronts, settings. It works
 * on the snapshot that the loop has copied, and nothing else of the asker is its own. */
#include "daemon/studies/proposals/proposal_internal.h"

#include "daemon/studies/external_accountants.h"
#include "daemon/studies/study_object.h"
#include "optimize/history/smoothed_front.h"

#include <math.h>
#include <string.h>

/* The next point. What no result may be known of yet leaves less of search.budget than
 * there is at the end. */
static int proposal_worker_ask_proposer(struct proposal_job *job, uint32_t trial)
{
	struct accountants_turn turn;
	struct dp_history h = { .observations = job->known,
				.n = job->nknown,
				.external_accountants =
					accountants_get_asker(job->study, &job->cancel, &turn),
				.budget_order = job->filter_order,
				.budget_remaining = job->budget_left };
	int code = dp_proposer_propose(job->proposer, &h, trial, &job->cancel, &job->proposal,
				       &job->err);

	if (code != DP_E_LIMIT || !(job->final_budget_left > job->budget_left))
		return code;
	h.budget_remaining = job->final_budget_left;
	return dp_proposer_propose(job->proposer, &h, trial, &job->cancel, &job->proposal,
				   &job->err);
}

/* The point of one trial, and its epsilons. */
static int proposal_worker_find_point(struct proposal_job *job, uint32_t trial)
{
	const struct dp_study *spec = job->study->state->spec;
	struct proposed_point *p = &job->points[job->n_points];
	uint64_t begun = uv_hrtime(); /* a thread had to be free first: that is no work */
	int code = proposal_worker_ask_proposer(job, trial);

	if (code != DP_OK)
		return code;
	*p = (struct proposed_point){ .trial = trial,
				      .source = job->proposal.source,
				      .cost = job->proposal.cost,
				      .pending_cost = job->proposal.pending_cost };
	memcpy(p->x, job->proposal.x, spec->nparams * sizeof p->x[0]);
	code = point_privacy_compute(job->study, &job->cancel, p->x, p->privacy, p->refusal,
				     &job->err);
	if (code == DP_OK)
		code = point_privacy_renyi(spec, job->filter_order, p->x, NAN, &p->renyi,
					   &job->err);
	p->proposal_seconds = (double)(uv_hrtime() - begun) / 1e9;
	job->n_points += code == DP_OK;
	return code;
}

static int proposal_worker_find_front(struct proposal_job *job, struct dp_proposer *p)
{
	const struct dp_study *spec = job->study->state->spec;
	struct dp_smoothed_front found;
	int code =
		dp_smoothed_front_compute(p, spec, &job->results, &job->cancel, &found, &job->err);

	if (code != DP_OK)
		return code;
	job->front.hypervolume = found.hypervolume;
	job->front.modelled = found.is_modelled;
	job->front.rows = dp_smoothed_front_json(spec, &job->results, &found);
	dp_smoothed_front_free(&found);
	return job->front.rows ? DP_OK : dp_fail(&job->err, DP_E_NOMEM, "no memory for the front");
}

static int proposal_worker_recommend(struct proposal_job *job, struct dp_proposer *p)
{
	struct accountants_turn turn;

	recommend_query_compute(job->recommend_queries, p, job->study->state->spec, &job->results,
				accountants_get_asker(job->study, &job->cancel, &turn),
				&job->cancel);
	return DP_OK; /* what went wrong is each one's own */
}

/* Is it about what models make of the results, for people? */
static bool proposal_worker_is_model_query(const struct proposal_job *job)
{
	return job->task == PROPOSAL_SMOOTHED_FRONT || job->task == PROPOSAL_RECOMMEND;
}

static int proposal_worker_model_query(struct proposal_job *job, struct dp_proposer *p)
{
	return job->task == PROPOSAL_SMOOTHED_FRONT ? proposal_worker_find_front(job, p)
						    : proposal_worker_recommend(job, p);
}

/* Models of some of the results only are of no use to proposals: they are fitted beside
 * those that are kept. */
static int proposal_worker_query_subset(struct proposal_job *job)
{
	struct dp_proposer *p = dp_proposer_new(job->study->state->spec);
	int code = p ? proposal_worker_model_query(job, p)
		     : dp_fail(&job->err, DP_E_NOMEM, "no memory for the models");

	dp_proposer_free(p);
	return code;
}

static int proposal_worker_run_task(struct proposal_job *job)
{
	int code = DP_OK;

	if (job->task == PROPOSAL_BUDGET_FILTER) {
		dp_odometer_init_default(&job->accounting.odometer);
		return dp_budget_filter(job->study->state->spec, &job->accounting.odometer,
					&job->accounting.filter, &job->err);
	}
	if (proposal_worker_is_model_query(job) && job->is_subset)
		return proposal_worker_query_subset(job);
	if (!job->proposer)
		job->proposer = dp_proposer_new(job->study->state->spec);
	if (!job->proposer)
		return dp_fail(&job->err, DP_E_NOMEM, "no memory to propose");
	if (proposal_worker_is_model_query(job))
		return proposal_worker_model_query(job, job->proposer);
	for (unsigned i = 0; i < job->points_capacity && code == DP_OK; i++)
		code = proposal_worker_find_point(job, job->trial + i);
	return code;
}

void proposal_worker(uv_work_t *w)
{
	struct proposal_job *job = w->data;

	job->n_points = 0;
	job->code = proposal_worker_run_task(job);
	if (job->task != PROPOSAL_PREFETCH)
		return;
	/* nothing to keep: a thousand studies that wait would each have one */
	dp_proposer_free(job->proposer);
	job->proposer = NULL;
}
