/* whole.c - what all trainings of a study have cost together.
 *
 * A training takes about a millisecond to be reckoned, so this is no work for the loop;
 * and a study of thousands that somebody watches must not keep a worker thread to itself:
 * it rests for many times as long as the last reckoning took. Whoever looks meanwhile
 * sees the last one, which says of how many trainings it is. */
#include "daemon/whole.h"

#include "base/num.h"
#include "daemon/study.h"
#include "recall/whole.h"

#include <stdlib.h>

enum {
	WHOLE_REST = 20 /* times as long as the last one took */
};

struct whole {
	struct study *home;
	json_t *shown;  /* what was found; NULL: nothing yet */
	uint32_t shows; /* the seq that this is of */
	uint32_t seq;   /* what is reckoned now will be of */
	int64_t rest;   /* dp_mono_us() before which nothing is reckoned again */
	bool busy;      /* a worker thread has what follows */
	uv_work_t work;
	struct dp_trainings trainings;
	json_t *found;
};

bool whole_busy(const struct study *h)
{
	return h->whole && h->whole->busy;
}

void whole_free(struct whole *w)
{
	if (!w)
		return;
	json_decref(w->shown);
	json_decref(w->found);
	dp_trainings_free(&w->trainings);
	free(w);
}

/* On a worker thread. */
static void whole_work(uv_work_t *work)
{
	struct whole *w = work->data;
	const struct dp_study *spec = w->home->state->spec;
	int64_t begun = dp_mono_us();
	struct dp_whole one;

	w->found = json_object();
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy &&
		    dp_whole_reckon(spec, &w->trainings, i, &one, NULL) == DP_OK)
			json_object_set_new(w->found, spec->objectives[i].name,
					    dp_whole_json(&one));
	w->rest = dp_mono_us() + WHOLE_REST * (dp_mono_us() - begun);
}

static void whole_done(uv_work_t *work, int status)
{
	struct whole *w = work->data;

	(void)status; /* work is never cancelled */
	w->busy = false;
	json_decref(w->shown);
	w->shown = w->found;
	w->found = NULL;
	w->shows = w->seq;
	dp_trainings_free(&w->trainings);
	study_reckoned(w->home);
	if (!w->home->d->closed)
		study_changed(w->home); /* who waits to delete it may */
}

static struct whole *whole_of(struct study *h)
{
	if (!h->whole)
		h->whole = calloc(1, sizeof *h->whole);
	if (h->whole)
		h->whole->home = h;
	return h->whole;
}

void whole_reckon(struct study *h)
{
	/* of a private selection it is shown nowhere */
	bool wanted = dp_study_accounts(h->state->spec) && !dp_study_hides(h->state);
	struct whole *w = wanted ? whole_of(h) : NULL;

	/* without memory: when somebody asks again */
	if (!w || w->busy || dp_mono_us() < w->rest || h->deleters ||
	    (w->shown && w->shows == h->state->seq) ||
	    dp_trainings_take(h->state, &w->trainings, NULL) != DP_OK)
		return;
	w->seq = h->state->seq;
	w->busy = true;
	w->work.data = w;
	uv_queue_work(&h->d->loop, &w->work, whole_work, whole_done);
}

json_t *whole_view(const struct study *h)
{
	return h->whole && h->whole->shown ? json_incref(h->whole->shown) : json_null();
}
