/* derived_results.c - computes the total privacy loss and the smoothed hypervolume of a study.
 * Fitting models of hundreds of results takes seconds, and the privacy loss of a run about a
 * millisecond. These numbers are only displayed: nothing waits for them, and they must not slow the
 * search. After each job there is a pause many times as long as the job. Clients meanwhile see the
 * last numbers, which say what they cover. */
#include "daemon/studies/derived_results.h"

#include "base/json.h"
#include "base/units.h"
#include "daemon/core/background_job.h"
#include "daemon/studies/smoothed_front.h"
#include "optimize/history/total_privacy_loss.h"

#include <math.h>
#include <stdlib.h>

enum {
	PAUSE_FACTOR = 20,           /* pause, in durations of the last job */
	HYPERVOLUME_GROWTH_PART = 4, /* while a study runs: wait for 1/4 more results */
};

struct total_privacy {
	struct background_job job;
	json_t *result;        /* NULL: none yet */
	uint32_t result_seq;   /* the seq that it covers */
	int64_t not_before_us; /* dp_monotonic_us(): no new job before */
	uint32_t next_seq;
	struct dp_started_runs runs;
	json_t *found;
};

struct smoothed_hypervolume {
	struct background_job job;
	bool is_known;
	struct smoothed_front last; /* its input and value; without rows */
	int64_t not_before_us;      /* dp_monotonic_us(): no new job before */
	struct smoothed_front_input input;
	struct dp_err err;
	int code;
};

struct derived_results {
	struct study *study;
	uint32_t version;
	struct pending_reply *waiters;
	struct total_privacy privacy;
	struct smoothed_hypervolume volume;
};

bool derived_results_are_busy(const struct study *study)
{
	const struct derived_results *r = study->derived;

	return r && (r->privacy.job.is_running || r->volume.job.is_running);
}

uint32_t derived_results_version(const struct study *study)
{
	return study->derived ? study->derived->version : 0;
}

void derived_results_cancel(struct study *study)
{
	if (study->derived)
		background_job_cancel(&study->derived->volume.job);
}

void derived_results_free(struct study *study)
{
	struct derived_results *r = study->derived;

	if (!r)
		return;
	json_decref(r->privacy.result);
	json_decref(r->privacy.found);
	dp_started_runs_free(&r->privacy.runs);
	smoothed_front_input_clear(&r->volume.input);
	pending_replies_free(&r->waiters);
	free(r);
	study->derived = NULL;
}

static void derived_results_on_done(struct derived_results *r)
{
	struct study *study = r->study;

	r->version++;
	if (!derived_results_are_busy(study))
		pending_replies_build_each(&r->waiters, study);
	if (!study->daemon->loop_ended)
		study_mark_changed(study); /* its deletion may wait for this */
}

/* ---- total privacy loss ---- */

static void total_privacy_worker(void *arg)
{
	struct derived_results *r = arg;
	struct total_privacy *w = &r->privacy;
	const struct dp_study *spec = r->study->state->spec;
	int64_t begun = dp_monotonic_us();
	struct dp_total_privacy one;

	w->found = json_object();
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy &&
		    dp_total_privacy_compute(spec, &w->runs, i, &one, NULL) == DP_OK)
			json_object_set_new(w->found, spec->objectives[i].name,
					    dp_total_privacy_json(&one));
	w->not_before_us = dp_monotonic_us() + PAUSE_FACTOR * (dp_monotonic_us() - begun);
}

static void on_total_privacy_done(void *arg)
{
	struct derived_results *r = arg;
	struct total_privacy *w = &r->privacy;

	json_decref(w->result);
	w->result = w->found;
	w->found = NULL;
	w->result_seq = w->next_seq;
	dp_started_runs_free(&w->runs);
	derived_results_on_done(r);
}

static void total_privacy_start_if_due(struct derived_results *r)
{
	const struct dp_study_state *s = r->study->state;
	struct total_privacy *w = &r->privacy;

	if (!dp_study_has_privacy(s->spec) || w->job.is_running ||
	    dp_monotonic_us() < w->not_before_us || (w->result && w->result_seq == s->next_seq))
		return;
	w->runs = dp_started_runs_collect(s);
	w->next_seq = s->next_seq;
	background_job_start(r->study->daemon, &w->job, total_privacy_worker, on_total_privacy_done,
			     r);
}

/* ---- smoothed hypervolume ---- */

static void hypervolume_worker(void *arg)
{
	struct derived_results *r = arg;
	struct smoothed_hypervolume *v = &r->volume;
	int64_t begun = dp_monotonic_us();

	v->code = smoothed_front_compute(r->study->state->spec, NULL, &v->job.cancel, &v->input,
					 &v->err);
	v->not_before_us = dp_monotonic_us() + PAUSE_FACTOR * (dp_monotonic_us() - begun);
}

static void hypervolume_store(struct smoothed_hypervolume *v, const struct smoothed_front *f)
{
	v->is_known = true;
	v->last = *f;
	v->last.rows = NULL;
}

static void on_hypervolume_done(void *arg)
{
	struct derived_results *r = arg;
	struct smoothed_hypervolume *v = &r->volume;

	r->study->daemon->studies->n_hypervolume_jobs--;
	if (v->code == DP_OK) {
		hypervolume_store(v, &v->input.found);
		smoothed_front_store(r->study, &v->input.found);
	}
	smoothed_front_input_clear(&v->input);
	derived_results_on_done(r);
}

static void hypervolume_start_if_due(struct derived_results *r)
{
	struct study *study = r->study;
	struct studies *all = study->daemon->studies;
	struct smoothed_hypervolume *v = &r->volume;
	const struct smoothed_front *front = smoothed_front_current(study);

	if (v->job.is_running ||
	    (v->is_known && v->last.results_version == study->state->results_version))
		return;
	if (front) {
		hypervolume_store(v, front);
		return;
	}
	/* while a study runs only after enough new results, and one study at a time */
	if ((v->is_known && study->state->status == DP_STUDY_RUNNING &&
	     dp_history_count_results(study->state) <=
		     v->last.n_results + v->last.n_results / HYPERVOLUME_GROWTH_PART) ||
	    all->n_hypervolume_jobs > 0 || dp_monotonic_us() < v->not_before_us ||
	    study->daemon->stopping)
		return;
	smoothed_front_snapshot(study, &v->input);
	all->n_hypervolume_jobs++;
	background_job_start(study->daemon, &v->job, hypervolume_worker, on_hypervolume_done, r);
}

/* ---- for clients ---- */

void derived_results_start_due(struct study *study)
{
	/* they would reveal what a private selection hides */
	if (dp_state_is_private_selection(study->state) || study->delete_requests)
		return;
	if (!study->derived) {
		study->derived = dp_calloc(1, sizeof *study->derived);
		study->derived->study = study;
	}
	total_privacy_start_if_due(study->derived);
	hypervolume_start_if_due(study->derived);
}

bool derived_results_wait(struct study *study, uint64_t client_id, reply_builder *answer)
{
	derived_results_start_due(study);
	if (!derived_results_are_busy(study))
		return false;
	pending_replies_add(&study->derived->waiters, client_id, answer);
	return true;
}

void derived_results_add_json(const struct study *study, json_t *summary)
{
	bool shown = !dp_state_is_private_selection(study->state), known;
	const struct derived_results *r = shown ? study->derived : NULL;
	const struct smoothed_front *front = shown ? smoothed_front_current(study) : NULL;

	if (!front && r && r->volume.is_known)
		front = &r->volume.last;
	known = front && front->is_modelled;
	json_object_set_new(summary, "hypervolume_denoised",
			    known ? dp_json_real(front->hypervolume) : json_null());
	json_object_set_new(summary, "denoised_results",
			    known ? json_integer((json_int_t)front->n_results) : json_null());
	json_object_set_new(
		summary, "denoised_current",
		json_boolean(known && front->results_version == study->state->results_version));
	/* only the best run of a private selection is published */
	json_object_set_new(summary, "whole",
			    r && r->privacy.result ? json_incref(r->privacy.result) : json_null());
}
