/* smoothed_hypervolume.c - the hypervolume of a study with the noise taken out.
 *
 * Models of hundreds of results take seconds to fit, for a number on somebody's screen:
 * so it waits for nobody and takes nothing from the search, whose own models it leaves
 * alone. One study at a time; while a study runs, only when its results have grown by a
 * quarter, and after a rest of many times as long as the last one took. Whoever looks
 * meanwhile sees the last one, which says of how many results it is. */
#include "daemon/studies/smoothed_hypervolume.h"

#include "base/json.h"
#include "base/units.h"
#include "daemon/studies/proposals/proposal_job.h"
#include "daemon/studies/study_object.h"
#include "optimize/history/smoothed_front.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	HYPERVOLUME_REST_FACTOR = 20, /* times as long as the last one took */
	HYPERVOLUME_GROWTH_PART = 4,  /* a new one when there are 1/4 more results */
};

struct hypervolume_job {
	struct study *study;
	bool is_known;            /* what follows is there: */
	double value;             /* NaN: too little is known for models */
	uint32_t results_version; /* of the results that it is of, */
	size_t n_results;         /* and how many these are */
	int64_t not_before_us;    /* dp_monotonic_us() before which none is found */

	bool busy; /* a worker thread has what follows */
	uv_work_t work;
	atomic_bool cancel;
	struct dp_history_subset snapshot;
	uint32_t next_version;
	size_t next_n_results;
	double found;
	int code;
};

bool hypervolume_job_is_busy(const struct study *study)
{
	return study->hypervolume_job && study->hypervolume_job->busy;
}

void hypervolume_job_cancel(struct study *study)
{
	if (study->hypervolume_job)
		atomic_store(&study->hypervolume_job->cancel, true);
}

void hypervolume_job_free(struct hypervolume_job *v)
{
	if (v)
		dp_history_subset_free(&v->snapshot);
	free(v);
}

/* On a worker thread. */
static void hypervolume_job_worker(uv_work_t *work)
{
	struct hypervolume_job *v = work->data;
	const struct dp_study *spec = v->study->state->spec;
	struct dp_proposer *p = dp_proposer_new(spec);
	int64_t begun = dp_monotonic_us();
	struct dp_smoothed_front d;
	struct dp_err err;

	v->code = p ? dp_smoothed_front_compute(p, spec, &v->snapshot, &v->cancel, &d, &err)
		    : DP_E_NOMEM;
	if (v->code == DP_OK) {
		v->found = d.is_modelled ? d.hypervolume : NAN;
		dp_smoothed_front_free(&d);
	}
	dp_proposer_free(p);
	v->not_before_us =
		dp_monotonic_us() + HYPERVOLUME_REST_FACTOR * (dp_monotonic_us() - begun);
}

static void hypervolume_job_store(struct hypervolume_job *v, double value, uint32_t version,
				  size_t results)
{
	v->is_known = true;
	v->value = value;
	v->results_version = version;
	v->n_results = results;
}

static void on_hypervolume_job_done(uv_work_t *work, int status)
{
	struct hypervolume_job *v = work->data;

	(void)status; /* work is never cancelled */
	v->busy = false;
	v->study->daemon->n_hypervolume_jobs--;
	dp_history_subset_free(&v->snapshot);
	if (v->code == DP_OK)
		hypervolume_job_store(v, v->found, v->next_version, v->next_n_results);
	study_on_derived_done(v->study);
	if (!v->study->daemon->loop_ended)
		study_mark_changed(v->study); /* who waits to delete it may */
}

static struct hypervolume_job *hypervolume_job_get_or_new(struct study *study)
{
	if (!study->hypervolume_job)
		study->hypervolume_job = dp_calloc(1, sizeof *study->hypervolume_job);
	if (study->hypervolume_job)
		study->hypervolume_job->study = study;
	return study->hypervolume_job;
}

/* Are the results others than those that the volume is of, and by enough? */
static bool hypervolume_job_is_due(const struct study *study)
{
	const struct hypervolume_job *v = study->hypervolume_job;
	size_t grown = v->n_results + v->n_results / HYPERVOLUME_GROWTH_PART + 1;

	return !v->is_known || study->state->status != DP_STUDY_RUNNING ||
	       dp_history_count_results(study->state) >= grown;
}

/* The front that clients asked for, of all results, has it already. */
static bool hypervolume_job_from_front(struct study *study)
{
	double value;

	if (!smoothed_front_hypervolume(study, &value))
		return false;
	hypervolume_job_store(study->hypervolume_job, value, study->state->results_version,
			      dp_history_count_results(study->state));
	return true;
}

void hypervolume_job_start_if_due(struct study *study)
{
	/* models would be of all that a private selection hides */
	struct hypervolume_job *v = dp_state_is_private_selection(study->state)
					    ? NULL
					    : hypervolume_job_get_or_new(study);

	/* without memory: when somebody asks again */
	if (!v || v->busy || (v->is_known && v->results_version == study->state->results_version) ||
	    hypervolume_job_from_front(study) || !hypervolume_job_is_due(study) ||
	    study->daemon->n_hypervolume_jobs > 0 || dp_monotonic_us() < v->not_before_us ||
	    study->delete_requests || study->daemon->stopping)
		return;
	v->snapshot = dp_history_subset_load(study->state);
	v->next_version = study->state->results_version;
	v->next_n_results = dp_history_count_results(study->state);
	atomic_store(&v->cancel, false);
	v->busy = true;
	study->daemon->n_hypervolume_jobs++;
	v->work.data = v;
	uv_queue_work(&study->daemon->loop, &v->work, hypervolume_job_worker,
		      on_hypervolume_job_done);
}

void hypervolume_job_add_json(const struct study *study, json_t *summary)
{
	const struct hypervolume_job *v =
		dp_state_is_private_selection(study->state) ? NULL : study->hypervolume_job;
	bool known = v && v->is_known, current;
	double value = known ? v->value : NAN;
	size_t results = known ? v->n_results : 0;

	current = known && v->results_version == study->state->results_version;
	if (!current && !dp_state_is_private_selection(study->state) &&
	    smoothed_front_hypervolume(study, &value)) {
		results = dp_history_count_results(study->state);
		current = true;
	}
	known = !isnan(value);
	json_object_set_new(summary, "hypervolume_denoised",
			    known ? dp_json_real(value) : json_null());
	json_object_set_new(summary, "denoised_results",
			    known ? json_integer((json_int_t)results) : json_null());
	json_object_set_new(summary, "denoised_current", json_boolean(known && current));
}
