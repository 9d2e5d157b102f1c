/* origin.c - a study whose results another one takes over. */
#include "daemon/origin.h"

#include "base/fs.h"
#include "base/json.h"
#include "daemon/record.h"
#include "daemon/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- a state folder ---- */

struct origin {
	uv_work_t work;
	struct dpd *d;
	uint64_t client;
	json_t *request;
	origin_then *then;
	const char *option; /* that named the folder: static text */
	char *folder;
	char by[WHO_LEN];
	/* what the worker finds: */
	bool own; /* the folder is this daemon's */
	struct dp_state state;
	int code;
	struct dp_err err;
};

static bool same_folder(const char *a, const char *b)
{
	struct stat s, t;

	return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static void origin_work(uv_work_t *w)
{
	struct origin *o = w->data;
	char *journal;

	o->own = same_folder(o->folder, o->d->at.state_dir);
	if (o->own)
		return;
	journal = dp_path_join(o->folder, "journal");
	if (!journal) {
		o->code = dp_fail(&o->err, DP_E_NOMEM, "no memory to read %s", o->folder);
		return;
	}
	/* two who read the same one at once would share LMDB's places of readers */
	pthread_mutex_lock(&o->d->origins);
	o->code = dp_state_look(&o->state, journal, NULL, &o->err);
	pthread_mutex_unlock(&o->d->origins);
	if (o->code == DP_E_NOT_FOUND)
		dp_hint(&o->err, "a state folder has a folder 'journal'; a relative one "
				 "starts from where the study file is");
	free(journal);
}

static void origin_free(struct origin *o)
{
	dp_state_free(&o->state);
	json_decref(o->request);
	free(o->folder);
	free(o);
}

static void origin_done(uv_work_t *w, int status)
{
	struct origin *o = w->data;
	struct request r = { .d = o->d, .client = o->client, .json = o->request };
	json_t *ok = NULL;

	memcpy(r.by, o->by, sizeof r.by);
	(void)status; /* work is never cancelled */
	if (!o->d->closed) {
		if (o->code != DP_OK)
			dp_err_prefix(&o->err, "%s", o->option);
		else
			o->code = o->then(&r, o->own ? &o->d->state : &o->state, &ok, &o->err);
		request_answer(&r, o->code, ok, &o->err);
	}
	origin_free(o);
}

int origin_read(struct request *r, const char *option, const char *origin, origin_then *then,
		struct dp_err *err)
{
	struct origin *o = calloc(1, sizeof *o);
	const char *name;

	if (o)
		o->folder = strndup(origin, dp_origin_folder(origin, &name));
	if (!o || !o->folder) {
		free(o);
		return dp_fail(err, DP_E_NOMEM, "no memory to read a state folder");
	}
	o->d = r->d;
	o->client = r->client;
	memcpy(o->by, r->by, sizeof o->by);
	o->request = json_incref((json_t *)r->json);
	o->then = then;
	o->option = option;
	o->work.data = o;
	r->later = true; /* origin_done() answers */
	uv_queue_work(&r->d->loop, &o->work, origin_work, origin_done);
	return DP_OK;
}

/* ---- the study ---- */

static bool same_space(const struct dp_study *a, const struct dp_study *b)
{
	bool same = a->nparams == b->nparams && a->nobjectives == b->nobjectives;

	for (size_t i = 0; same && i < a->nparams; i++)
		same = strcmp(a->params[i].name, b->params[i].name) == 0 &&
		       a->params[i].kind == b->params[i].kind &&
		       (a->params[i].kind != DP_PARAM_CATEGORICAL ||
			json_equal(a->params[i].values, b->params[i].values)) &&
		       dp_calibrated_alike(a, b, i);
	for (size_t i = 0; same && i < a->nobjectives; i++)
		same = strcmp(a->objectives[i].name, b->objectives[i].name) == 0;
	return same;
}

/* The only study there. */
static int origin_only(const struct dp_state *there, const char *folder,
		       struct dp_study_state **out, struct dp_err *err)
{
	if (there->nstudies == 1) {
		*out = there->studies[0];
		return DP_OK;
	}
	if (there->nstudies == 0)
		return dp_fail(err, DP_E_NOT_FOUND, "there is no study in %s", folder);
	dp_fail(err, DP_E_INVALID, "there are %u studies in %s", there->nstudies, folder);
	return dp_hint(err, "name one of them: %s#%s", folder, there->studies[0]->spec->name);
}

int origin_find(const struct dp_state *there, const char *origin, const struct dp_study *spec,
		struct dp_study_state **out, struct dp_err *err)
{
	const char *name;
	size_t folder = dp_origin_folder(origin, &name);
	int code =
		name ? dp_state_find(there, name, out, err) : origin_only(there, origin, out, err);

	if (code != DP_OK && folder && name)
		dp_hint(err, "'dparetoctl list --state %.*s' shows the studies there are",
			(int)folder, origin);
	if (code != DP_OK)
		return code;
	if (dp_study_hides(*out))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: its trainings are "
			       "secret",
			       (*out)->spec->name);
	if (!same_space((*out)->spec, spec))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' has other parameters or objectives, or "
			       "calibrates them otherwise",
			       (*out)->spec->name);
	return DP_OK;
}

/* ---- its results ---- */

struct import {
	struct study *home;
	const struct dp_study_state *origin;
	uint32_t before; /* so many were taken over before: none of them twice */
	const char *by;
};

static bool is_imported(const struct import *m, const double *x, const double *objectives)
{
	const struct dp_study_state *s = m->home->state;

	for (uint32_t i = 0; i < m->before; i++)
		if (!memcmp(s->imported[i].x, x, s->spec->nparams * sizeof *x) &&
		    !memcmp(s->imported[i].objectives, objectives,
			    s->spec->nobjectives * sizeof *objectives))
			return true;
	return false;
}

/* Copied, so that what happens to the other study later changes nothing here. */
static void import_result(const struct import *m, uint32_t trial, const double *x,
			  const double *objectives)
{
	const struct dp_study *spec = m->home->state->spec;
	struct dp_event e = { .type = DP_EV_RESULT_IMPORTED,
			      .name = m->origin->spec->name,
			      .trial = trial,
			      .by = m->by,
			      .params = x,
			      .nparams = (uint32_t)spec->nparams,
			      .objectives = objectives,
			      .nobjectives = (uint32_t)spec->nobjectives };

	if (!is_imported(m, x, objectives))
		record(m->home, &e);
}

static bool can_be(const struct dp_param *p, double value)
{
	return p->kind != DP_PARAM_FIXED || json_number_value(p->values) == value;
}

/* What a training was on its way, as results like any other: unless this study fixes the
 * parameter that it walked up to another value. */
static void import_waypoints(const struct import *m, const struct dp_trial *t)
{
	const struct dp_study_state *origin = m->origin;
	const struct dp_param *walked =
		&m->home->state->spec->params[origin->spec->trainer.path.param];

	for (uint32_t w = 0; t->way && w < t->way->n; w++) {
		struct dp_point p = { t->number, (int32_t)w };
		double x[DP_PARAMS_MAX];

		if (!can_be(walked, t->way->at[w]) || !dp_way_stands(origin, t->way, w))
			continue;
		dp_point_x(origin, p, x);
		import_result(m, t->number, x, dp_point_objectives(origin, p));
	}
}

/* Can the end of a training be here: is the parameter that trainings of one of both walk
 * up not fixed to different values? */
static bool end_can_be(const struct dp_study *here, const struct dp_study *origin)
{
	const struct dp_path *path =
		origin->trainer.path.points ? &origin->trainer.path : &here->trainer.path;

	return path->points == 0 || can_be(&here->params[path->param],
					   json_number_value(origin->params[path->param].values));
}

unsigned origin_import(struct study *h, const struct dp_study_state *origin, const char *by)
{
	struct import m = { h, origin, h->state->nimported, by };
	bool ends = end_can_be(h->state->spec, origin->spec);

	for (uint32_t i = 0; i < origin->ntrials; i++) {
		const struct dp_trial *t = origin->trials[i];

		import_waypoints(&m, t);
		if (ends && t->objectives &&
		    (t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED))
			import_result(&m, i, t->x, t->objectives);
	}
	return h->state->nimported - m.before;
}
