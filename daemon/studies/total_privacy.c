/* whole.c - what all trainings of a study have cost together.
 *
 * A training takes about a millisecond to be reckoned, so this is no work for the loop;
 * and a study of thousands that somebody watches must not keep a worker thread to itself:
 * it rests for many times as long as the last reckoning took. Whoever looks meanwhile
 * sees the last one, which says of how many trainings it is. */
#include "daemon/studies/total_privacy.h"

#include "base/units.h"
#include "daemon/studies/study_object.h"
#include "optimize/history/total_privacy_loss.h"

#include <stdlib.h>

enum {
	TOTAL_PRIVACY_REST_FACTOR = 20 /* times as long as the last one took */
};

struct total_privacy {
	struct study *study;
	json_t *result;        /* what was found; NULL: nothing yet */
	uint32_t result_seq;   /* the seq that this is of */
	uint32_t next_seq;     /* what is reckoned now will be of */
	int64_t not_before_us; /* dp_monotonic_us() before which nothing is reckoned again */
	bool busy;             /* a worker thread has what follows */
	uv_work_t work;
	struct dp_started_runs trainings;
	json_t *found;
};

bool total_privacy_is_busy(const struct study *study)
{
	return study->total_privacy && study->total_privacy->busy;
}

void total_privacy_free(struct total_privacy *w)
{
	if (!w)
		return;
	json_decref(w->result);
	json_decref(w->found);
	dp_started_runs_free(&w->trainings);
	free(w);
}

/* On a worker thread. */
static void total_privacy_worker(uv_work_t *work)
{
	struct total_privacy *w = work->data;
	const struct dp_study *spec = w->study->state->spec;
	int64_t begun = dp_monotonic_us();
	struct dp_total_privacy one;

	w->found = json_object();
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy &&
		    dp_total_privacy_compute(spec, &w->trainings, i, &one, NULL) == DP_OK)
			json_object_set_new(w->found, spec->objectives[i].name,
					    dp_total_privacy_json(&one));
	w->not_before_us =
		dp_monotonic_us() + TOTAL_PRIVACY_REST_FACTOR * (dp_monotonic_us() - begun);
}

static void on_total_privacy_done(uv_work_t *work, int status)
{
	struct total_privacy *w = work->data;

	(void)status; /* work is never cancelled */
	w->busy = false;
	json_decref(w->result);
	w->result = w->found;
	w->found = NULL;
	w->result_seq = w->next_seq;
	dp_started_runs_free(&w->trainings);
	study_on_derived_done(w->study);
	if (!w->study->daemon->loop_ended)
		study_mark_changed(w->study); /* who waits to delete it may */
}

static struct total_privacy *total_privacy_get_or_new(struct study *study)
{
	if (!study->total_privacy)
		study->total_privacy = dp_calloc(1, sizeof *study->total_privacy);
	if (study->total_privacy)
		study->total_privacy->study = study;
	return study->total_privacy;
}

void total_privacy_start_if_due(struct study *study)
{
	/* of a private selection it is shown nowhere */
	bool wanted = dp_study_has_privacy(study->state->spec) &&
		      !dp_state_is_private_selection(study->state);
	struct total_privacy *w = wanted ? total_privacy_get_or_new(study) : NULL;

	/* without memory: when somebody asks again */
	if (!w || w->busy || dp_monotonic_us() < w->not_before_us || study->delete_requests ||
	    (w->result && w->result_seq == study->state->next_seq))
		return;
	w->trainings = dp_started_runs_collect(study->state);
	w->next_seq = study->state->next_seq;
	w->busy = true;
	w->work.data = w;
	uv_queue_work(&study->daemon->loop, &w->work, total_privacy_worker, on_total_privacy_done);
}

json_t *total_privacy_json(const struct study *study)
{
	return study->total_privacy && study->total_privacy->result
		       ? json_incref(study->total_privacy->result)
		       : json_null();
}
