/* volume.c - the hypervolume of a study with the noise taken out.
 *
 * Models of hundreds of results take seconds to fit, for a number on somebody's screen:
 * so it waits for nobody and takes nothing from the search, whose own models it leaves
 * alone. One study at a time; while a study runs, only when its results have grown by a
 * quarter, and after a rest of many times as long as the last one took. Whoever looks
 * meanwhile sees the last one, which says of how many results it is. */
#include "daemon/volume.h"

#include "base/json.h"
#include "base/num.h"
#include "daemon/ask.h"
#include "daemon/study.h"
#include "recall/denoised.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	VOLUME_REST = 20,  /* times as long as the last one took */
	VOLUME_GROWTH = 4, /* a new one when there are 1/4 more results */
};

struct volume {
	struct study *home;
	bool known;       /* what follows is there: */
	double value;     /* NaN: too little is known for models */
	uint32_t version; /* of the results that it is of, */
	size_t results;   /* and how many these are */
	int64_t rest;     /* dp_mono_us() before which none is found */

	bool busy; /* a worker thread has what follows */
	uv_work_t work;
	atomic_bool cancel;
	struct dp_results snapshot;
	uint32_t next_version;
	size_t next_results;
	double found;
	int code;
};

bool volume_busy(const struct study *h)
{
	return h->volume && h->volume->busy;
}

void volume_cancel(struct study *h)
{
	if (h->volume)
		atomic_store(&h->volume->cancel, true);
}

void volume_free(struct volume *v)
{
	if (v)
		dp_results_free(&v->snapshot);
	free(v);
}

/* On a worker thread. */
static void volume_work(uv_work_t *work)
{
	struct volume *v = work->data;
	const struct dp_study *spec = v->home->state->spec;
	struct dp_proposer *p = dp_proposer_new(spec);
	int64_t begun = dp_mono_us();
	struct dp_denoised d;
	struct dp_err err;

	v->code = p ? dp_denoised_find(p, spec, &v->snapshot, &v->cancel, &d, &err) : DP_E_NOMEM;
	if (v->code == DP_OK) {
		v->found = d.modelled ? d.hypervolume : NAN;
		dp_denoised_free(&d);
	}
	dp_proposer_free(p);
	v->rest = dp_mono_us() + VOLUME_REST * (dp_mono_us() - begun);
}

static void volume_keep(struct volume *v, double value, uint32_t version, size_t results)
{
	v->known = true;
	v->value = value;
	v->version = version;
	v->results = results;
}

static void volume_done(uv_work_t *work, int status)
{
	struct volume *v = work->data;

	(void)status; /* work is never cancelled */
	v->busy = false;
	v->home->d->volumes--;
	dp_results_free(&v->snapshot);
	if (v->code == DP_OK)
		volume_keep(v, v->found, v->next_version, v->next_results);
	study_reckoned(v->home);
	if (!v->home->d->closed)
		study_changed(v->home); /* who waits to delete it may */
}

static struct volume *volume_of(struct study *h)
{
	if (!h->volume)
		h->volume = calloc(1, sizeof *h->volume);
	if (h->volume)
		h->volume->home = h;
	return h->volume;
}

/* Are the results others than those that the volume is of, and by enough? */
static bool volume_is_due(const struct study *h)
{
	const struct volume *v = h->volume;
	size_t grown = v->results + v->results / VOLUME_GROWTH + 1;

	return !v->known || h->state->status != DP_STUDY_RUNNING ||
	       dp_results_count(h->state) >= grown;
}

/* The front that clients asked for, of all results, has it already. */
static bool volume_of_front(struct study *h)
{
	double value;

	if (!ask_front_volume(h, &value))
		return false;
	volume_keep(h->volume, value, h->state->results_version, dp_results_count(h->state));
	return true;
}

void volume_reckon(struct study *h)
{
	/* models would be of all that a private selection hides */
	struct volume *v = dp_study_hides(h->state) ? NULL : volume_of(h);
	struct dp_err err;

	/* without memory: when somebody asks again */
	if (!v || v->busy || (v->known && v->version == h->state->results_version) ||
	    volume_of_front(h) || !volume_is_due(h) || h->d->volumes > 0 ||
	    dp_mono_us() < v->rest || h->deleters || h->d->stopping ||
	    dp_results_recall(h->state, &v->snapshot, &err) != DP_OK)
		return;
	v->next_version = h->state->results_version;
	v->next_results = dp_results_count(h->state);
	atomic_store(&v->cancel, false);
	v->busy = true;
	h->d->volumes++;
	v->work.data = v;
	uv_queue_work(&h->d->loop, &v->work, volume_work, volume_done);
}

void volume_view(const struct study *h, json_t *summary)
{
	const struct volume *v = dp_study_hides(h->state) ? NULL : h->volume;
	bool known = v && v->known, current;
	double value = known ? v->value : NAN;
	size_t results = known ? v->results : 0;

	current = known && v->version == h->state->results_version;
	if (!current && !dp_study_hides(h->state) && ask_front_volume(h, &value)) {
		results = dp_results_count(h->state);
		current = true;
	}
	known = !isnan(value);
	json_object_set_new(summary, "hypervolume_denoised",
			    known ? dp_json_real(value) : json_null());
	json_object_set_new(summary, "denoised_results",
			    known ? json_integer((json_int_t)results) : json_null());
	json_object_set_new(summary, "denoised_current", json_boolean(known && current));
}
