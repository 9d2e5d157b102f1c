/* model_queries.c - client queries for the next point, the front and recommendations. */
#include "daemon/studies/proposals/proposal_internal.h"

#include "base/json.h"
#include "state/state_json.h"
#include "study/space.h"

#include <math.h>
#include <stdlib.h>

/* ---- snapshots ---- */

/* Also builds the rest of the reply, from the same moment. */
void model_query_snapshot_front(struct proposal_job *job)
{
	smoothed_front_snapshot(job->study, &job->input);
	json_decref(job->front_reply);
	job->front_reply =
		dp_state_smoothed_result_json(study_public_view(job->study), 0, json_array());
}

void model_query_snapshot_recommend(struct proposal_job *job)
{
	smoothed_front_snapshot(job->study, &job->input);
	recommend_query_snapshot(job->later_recommend_queries, job->study->state);
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

void model_query_finish_point(struct proposal_job *job)
{
	pending_replies_send_all(&job->recipients, job->study->daemon,
				 job->code == DP_OK ? model_query_point_json(job->study->state, job)
						    : NULL,
				 &job->err);
}

/* ---- fronts and recommendations ---- */

/* Caches the front, and replies to the clients that asked before the snapshot. */
void model_query_finish_front(struct proposal_job *job)
{
	const struct smoothed_front *found = &job->input.found;

	if (job->code == DP_OK) {
		smoothed_front_store(job->study, found);
		json_object_set_new(job->front_reply, "hypervolume_denoised",
				    dp_json_real(found->hypervolume));
		json_object_set(job->front_reply, "front", found->rows);
		dp_front_json_add_reevals(study_public_view(job->study), job->front_reply);
	} else {
		json_decref(job->front_reply);
		job->front_reply = NULL;
	}
	pending_replies_send_all(&job->recipients, job->study->daemon, job->front_reply, &job->err);
	job->front_reply = NULL;
	smoothed_front_input_clear(&job->input);
}

void model_query_finish_recommend(struct proposal_job *job)
{
	recommend_query_reply(&job->recommend_queries, job->study,
			      job->code == DP_OK ? NULL : &job->err);
	smoothed_front_input_clear(&job->input);
}
