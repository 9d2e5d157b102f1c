/* ask_people.c - what people ask of a study's models: the next point, the front,
 * settings. What they are told, and what of it is kept. */
#include "daemon/ask_internal.h"

#include "base/json.h"
#include "daemon/study.h"
#include "journal/view.h"

#include <math.h>
#include <stdlib.h>

/* ---- snapshots ---- */

/* The results as models for people take them. */
static bool ask_snapshot_results(struct asker *a)
{
	struct dp_study_state *s = a->home->state;
	struct dp_err err;

	dp_results_free(&a->results); /* of a question that could not be asked */
	if (dp_results_recall(s, &a->results, &err) != DP_OK)
		return false;
	a->some = dp_results_count(s) > a->results.n;
	return true;
}

/* With what else is shown at this moment. */
bool ask_snapshot_front(struct asker *a)
{
	struct dp_study_state *s = a->home->state;

	if (!ask_snapshot_results(a))
		return false;
	json_decref(a->shown); /* likewise */
	a->front = (struct asked_front){ .version = s->results_version };
	a->shown = dp_view_result_denoised(s, 0, json_array());
	if (!a->shown) {
		dp_results_free(&a->results);
		return false;
	}
	return true;
}

bool ask_snapshot_settings(struct asker *a)
{
	struct dp_err err;

	if (!ask_snapshot_results(a))
		return false;
	if (recommended_look(a->recommend_later, a->home->state, &err) == DP_OK)
		return true;
	dp_results_free(&a->results);
	return false;
}

/* ---- the next point ---- */

static json_t *predicted_json(const struct dp_study *spec, const struct dp_proposal *p)
{
	json_t *o = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++)
		json_object_set_new(o, spec->objectives[i].name,
				    dp_predicted_json(&p->objective[i]));
	return o;
}

static json_t *ask_shown_json(const struct dp_study_state *s, const struct asker *a)
{
	const struct dp_proposal *p = &a->answer;

	return json_pack("{s:s, s:I, s:n, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "study",
			 s->spec->name, "trial", (json_int_t)a->trial, "at", "source", p->source,
			 "note", p->note[0] ? p->note : NULL, "parameters",
			 dp_space_json(s->spec, p->x), "predicted",
			 p->modelled ? predicted_json(s->spec, p) : json_null(), "feasible",
			 p->modelled ? dp_json_real(p->feasible) : json_null(), "acquisition",
			 p->modelled ? dp_json_real(p->acquisition) : json_null(), "cost",
			 isnan(p->cost) ? json_null() : dp_json_real(p->cost));
}

void ask_tell(struct asker *a, struct waiter **list, json_t *ok)
{
	if (a->code != DP_OK) {
		json_decref(ok);
		ok = NULL;
	}
	waiters_answer(list, a->home, ok, &a->err);
}

void ask_point_shown(struct asker *a)
{
	json_t *ok = a->code == DP_OK ? ask_shown_json(a->home->state, a) : NULL;

	if (a->code == DP_OK && !ok)
		a->code = dp_fail(&a->err, DP_E_NOMEM, "no memory for the answer");
	ask_tell(a, &a->asked, ok);
}

/* ---- the front of the models' values ---- */

static void front_forget(struct asked_front *f)
{
	json_decref(f->rows);
	*f = (struct asked_front){ 0 };
}

/* Is the front that is kept the one of all that is known? */
static bool front_is_kept(const struct study *h)
{
	return h->front && h->front->version == h->state->results_version;
}

void ask_front_free(struct asked_front *f)
{
	if (f)
		front_forget(f);
	free(f);
}

/* Keeps what was found; without memory it is found again. */
static void front_keep(struct asker *a)
{
	struct study *h = a->home;

	if (!h->front)
		h->front = calloc(1, sizeof *h->front);
	if (!h->front)
		return;
	front_forget(h->front);
	*h->front = a->front;
	json_incref(a->front.rows);
}

/* Keeps the front, and tells those who asked before the snapshot. */
void ask_front_found(struct asker *a)
{
	if (a->code == DP_OK)
		front_keep(a);
	if (a->code == DP_OK && (json_object_set_new(a->shown, "hypervolume_denoised",
						     dp_json_real(a->front.hypervolume)) != 0 ||
				 json_object_set(a->shown, "front", a->front.rows) != 0))
		a->code = dp_fail(&a->err, DP_E_NOMEM, "no memory for the front");
	if (a->code == DP_OK && !dp_view_add_remeasured(a->home->state, a->shown))
		a->code = dp_fail(&a->err, DP_E_NOMEM, "no memory for the front");
	ask_tell(a, &a->asked, a->shown);
	a->shown = NULL;
	front_forget(&a->front);
	dp_results_free(&a->results);
}

json_t *ask_front_kept(struct study *h)
{
	json_t *o;

	if (!front_is_kept(h))
		return NULL;
	o = dp_view_result_denoised(h->state, h->front->hypervolume, json_incref(h->front->rows));
	if (o && !dp_view_add_remeasured(h->state, o)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

const json_t *ask_front_rows(const struct study *h)
{
	return front_is_kept(h) ? h->front->rows : NULL;
}

bool ask_front_volume(const struct study *h, double *volume)
{
	if (!front_is_kept(h))
		return false;
	*volume = h->front->modelled ? h->front->hypervolume : NAN;
	return true;
}

bool ask_last_front(struct study *h)
{
	struct asker *a = h->asker;
	struct dp_err err;

	if (!a || !a->proposer || a->question == ASK_DENOISED /* that was it */ ||
	    h->state->status != DP_STUDY_FINISHED || !dp_study_denoises(h->state->spec) ||
	    front_is_kept(h) || h->d->stopping || h->d->closed)
		return false;
	return ask_start(h, ASK_DENOISED, 0, 0, &err) == DP_OK;
}

/* ---- settings ---- */

void ask_settings_found(struct asker *a)
{
	recommended_tell(&a->recommend, a->home, a->code == DP_OK ? NULL : &a->err);
	dp_results_free(&a->results);
}
