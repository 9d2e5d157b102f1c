/* smoothed_front.c - computes and caches the smoothed front of a study. */
#include "daemon/studies/smoothed_front.h"

#include "state/state_json.h"

#include <stdlib.h>

void smoothed_front_input_clear(struct smoothed_front_input *in)
{
	dp_history_subset_free(&in->results);
	json_decref(in->found.rows);
	free(in->result_index);
	*in = (struct smoothed_front_input){ .is_subset = false };
}

void smoothed_front_snapshot(struct study *study, struct smoothed_front_input *in)
{
	struct dp_study_state *s = study->state;

	smoothed_front_input_clear(in);
	in->results = dp_history_subset_load(s);
	in->found = (struct smoothed_front){ .results_version = s->results_version,
					     .n_results = dp_history_count_results(s) };
	in->is_subset = in->found.n_results > in->results.n;
}

int smoothed_front_compute(const struct dp_study *spec, struct dp_proposer *p,
			   const atomic_bool *cancel, struct smoothed_front_input *in,
			   struct dp_err *err)
{
	struct dp_proposer *own = p ? NULL : dp_proposer_new(spec);
	struct dp_smoothed_front front;
	int code = dp_smoothed_front_compute(p ? p : own, spec, &in->results, cancel, &front, err);

	dp_proposer_free(own);
	if (code != DP_OK)
		return code;
	in->found.hypervolume = front.hypervolume;
	in->found.is_modelled = front.is_modelled;
	in->found.rows = dp_smoothed_front_json(spec, &in->results, &front);
	in->n_points = front.n;
	in->result_index = front.result_index;
	front.result_index = NULL;
	dp_smoothed_front_free(&front);
	return DP_OK;
}

void smoothed_front_store(struct study *study, const struct smoothed_front *found)
{
	struct smoothed_front *kept = study->smoothed_front;

	if (!kept)
		kept = study->smoothed_front = dp_calloc(1, sizeof *kept);
	if (kept->rows && kept->results_version >= found->results_version)
		return;
	json_decref(kept->rows);
	*kept = *found;
	json_incref(kept->rows);
}

const struct smoothed_front *smoothed_front_current(const struct study *study)
{
	const struct smoothed_front *f = study->smoothed_front;

	return f && f->rows && f->results_version == study->state->results_version ? f : NULL;
}

json_t *smoothed_front_json(struct study *study)
{
	struct dp_public_state view = study_public_view(study);
	const struct smoothed_front *f = smoothed_front_current(study);
	json_t *o;

	if (!f)
		return NULL;
	o = dp_state_smoothed_result_json(view, f->hypervolume, json_incref(f->rows));
	dp_front_json_add_reevals(view, o);
	return o;
}

void smoothed_front_free(struct study *study)
{
	if (study->smoothed_front)
		json_decref(study->smoothed_front->rows);
	free(study->smoothed_front);
	study->smoothed_front = NULL;
}
