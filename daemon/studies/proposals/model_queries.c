/* model_queries.c - what people ask of a study's models: the next point, the front,
 * settings. What they are told, and what of it is kept. */
#include "daemon/studies/proposals/proposal_internal.h"

#include "base/json.h"
#include "daemon/studies/study_object.h"
#include "state/state_json.h"

#include <math.h>
#include <stdlib.h>

/* ---- snapshots ---- */

/* The results as models for people take them. */
static void model_query_snapshot_results(struct proposal_job *job)
{
	struct dp_study_state *s = job->study->state;

	dp_history_subset_free(&job->results); /* of a question that could not be asked */
	job->results = dp_history_subset_load(s);
	job->is_subset = dp_history_count_results(s) > job->results.n;
}

/* With what else is shown at this moment. */
bool model_query_snapshot_front(struct proposal_job *job)
{
	struct dp_study_state *s = job->study->state;

	model_query_snapshot_results(job);
	json_decref(job->front_reply); /* likewise */
	job->front = (struct smoothed_front){ .results_version = s->results_version };
	job->front_reply =
		dp_state_smoothed_result_json(study_public_view(job->study), 0, json_array());
	return true;
}

bool model_query_snapshot_recommend(struct proposal_job *job)
{
	model_query_snapshot_results(job);
	recommend_query_snapshot(job->later_recommend_queries, job->study->state);
	return true;
}

/* ---- the next point ---- */

static json_t *model_query_predicted_json(const struct dp_study *spec, const struct dp_proposal *p)
{
	json_t *o = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++)
		json_object_set_new(o, spec->objectives[i].name,
				    dp_predicted_json(&p->predicted[i]));
	return o;
}

static json_t *model_query_point_json(const struct dp_study_state *s,
				      const struct proposal_job *job)
{
	const struct dp_proposal *p = &job->proposal;

	return json_pack(
		"{s:s, s:I, s:n, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "study", s->spec->name,
		"trial", (json_int_t)job->trial, "at", "source", p->source, "note",
		p->note[0] ? p->note : NULL, "parameters", dp_space_to_json(s->spec, p->x),
		"predicted",
		p->has_prediction ? model_query_predicted_json(s->spec, p) : json_null(),
		"feasible", p->has_prediction ? dp_json_real(p->feasible_probability) : json_null(),
		"acquisition", p->has_prediction ? dp_json_real(p->acquisition) : json_null(),
		"cost", isnan(p->cost) ? json_null() : dp_json_real(p->cost));
}

void model_query_reply(struct proposal_job *job, struct pending_reply **list, json_t *ok)
{
	if (job->code != DP_OK) {
		json_decref(ok);
		ok = NULL;
	}
	pending_replies_send_all(list, job->study, ok, &job->err);
}

void model_query_finish_point(struct proposal_job *job)
{
	json_t *ok = job->code == DP_OK ? model_query_point_json(job->study->state, job) : NULL;

	if (job->code == DP_OK && !ok)
		job->code = dp_fail(&job->err, DP_E_NOMEM, "no memory for the answer");
	model_query_reply(job, &job->recipients, ok);
}

/* ---- the front of the models' values ---- */

static void smoothed_front_clear(struct smoothed_front *f)
{
	json_decref(f->rows);
	*f = (struct smoothed_front){ 0 };
}

/* Is the front that is kept the one of all that is known? */
static bool smoothed_front_is_current(const struct study *study)
{
	return study->smoothed_front &&
	       study->smoothed_front->results_version == study->state->results_version;
}

void smoothed_front_free(struct smoothed_front *f)
{
	if (f)
		smoothed_front_clear(f);
	free(f);
}

/* Keeps what was found; without memory it is found again. */
static void smoothed_front_store(struct proposal_job *job)
{
	struct study *study = job->study;

	if (!study->smoothed_front)
		study->smoothed_front = dp_calloc(1, sizeof *study->smoothed_front);
	if (!study->smoothed_front)
		return;
	smoothed_front_clear(study->smoothed_front);
	*study->smoothed_front = job->front;
	json_incref(job->front.rows);
}

/* Keeps the front, and tells those who asked before the snapshot. */
void model_query_finish_front(struct proposal_job *job)
{
	if (job->code == DP_OK)
		smoothed_front_store(job);
	if (job->code == DP_OK &&
	    (json_object_set_new(job->front_reply, "hypervolume_denoised",
				 dp_json_real(job->front.hypervolume)) != 0 ||
	     json_object_set(job->front_reply, "front", job->front.rows) != 0))
		job->code = dp_fail(&job->err, DP_E_NOMEM, "no memory for the front");
	if (job->code == DP_OK)
		dp_front_json_add_reevals(study_public_view(job->study), job->front_reply);
	model_query_reply(job, &job->recipients, job->front_reply);
	job->front_reply = NULL;
	smoothed_front_clear(&job->front);
	dp_history_subset_free(&job->results);
}

json_t *smoothed_front_json(struct study *study)
{
	struct dp_public_state view = study_public_view(study);
	json_t *o;

	if (!smoothed_front_is_current(study))
		return NULL;
	o = dp_state_smoothed_result_json(view, study->smoothed_front->hypervolume,
					  json_incref(study->smoothed_front->rows));
	dp_front_json_add_reevals(view, o);
	return o;
}

const json_t *smoothed_front_rows(const struct study *study)
{
	return smoothed_front_is_current(study) ? study->smoothed_front->rows : NULL;
}

bool smoothed_front_hypervolume(const struct study *study, double *volume)
{
	if (!smoothed_front_is_current(study))
		return false;
	*volume = study->smoothed_front->modelled ? study->smoothed_front->hypervolume : NAN;
	return true;
}

bool smoothed_front_start_final(struct study *study)
{
	struct proposal_job *job = study->proposal_job;
	struct dp_err err;

	if (!job || !job->proposer || job->task == PROPOSAL_SMOOTHED_FRONT /* that was it */ ||
	    study->state->status != DP_STUDY_FINISHED ||
	    !dp_study_uses_smoothed_front(study->state->spec) || smoothed_front_is_current(study) ||
	    study->daemon->stopping || study->daemon->loop_ended)
		return false;
	return proposal_start(study, PROPOSAL_SMOOTHED_FRONT, 0, 0, &err) == DP_OK;
}

/* ---- settings ---- */

void model_query_finish_recommend(struct proposal_job *job)
{
	recommend_query_reply(&job->recommend_queries, job->study,
			      job->code == DP_OK ? NULL : &job->err);
	dp_history_subset_free(&job->results);
}
