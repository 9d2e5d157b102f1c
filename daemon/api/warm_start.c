/* warm_start.c - imports the results of another study. */
#include "daemon/api/warm_start.h"

#include "base/fs.h"
#include "base/json.h"
#include "daemon/core/background_job.h"
#include "study/calibrated_params.h"
#include "study/warm_start_source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- a state directory ---- */

struct warm_start_read {
	struct background_job job;
	struct daemon *daemon;
	uint64_t client_id;
	json_t *request;
	warm_start_continuation *continuation;
	const char *option; /* that named the directory; static text */
	char *directory;
	char requested_by[REQUESTER_LEN];
	/* filled by the worker thread */
	bool is_own_directory; /* the directory is this daemon's own */
	struct dp_state state;
	int code;
	struct dp_err err;
};

static void warm_start_worker(void *arg)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct warm_start_read *o = arg;
	struct stat there, own;
	char *journal;

	o->is_own_directory = stat(o->directory, &there) == 0 &&
			      stat(o->daemon->paths.state_dir, &own) == 0 &&
			      there.st_dev == own.st_dev && there.st_ino == own.st_ino;
	if (o->is_own_directory)
		return;
	journal = dp_path_join(o->directory, "journal");
	/* parallel reads of one journal would share LMDB's reader slots */
	pthread_mutex_lock(&mutex);
	o->code = dp_state_open_readonly(&o->state, journal, NULL, &o->err);
	pthread_mutex_unlock(&mutex);
	if (o->code == DP_E_NOT_FOUND)
		dp_hint(&o->err, "a state folder has a folder 'journal'; a relative one "
				 "starts from where the study file is");
	free(journal);
}

static void on_warm_start_read(void *arg)
{
	struct warm_start_read *o = arg;
	struct request r = { .daemon = o->daemon, .client_id = o->client_id, .json = o->request };
	json_t *ok = NULL;

	memcpy(r.requested_by, o->requested_by, sizeof r.requested_by);
	if (!o->daemon->loop_ended) {
		if (o->code != DP_OK)
			dp_err_prefix(&o->err, "%s", o->option);
		else
			o->code = o->continuation(
				&r, o->is_own_directory ? &o->daemon->state : &o->state, &ok,
				&o->err);
		request_answer(&r, o->code, ok, &o->err);
	}
	dp_state_free(&o->state);
	json_decref(o->request);
	free(o->directory);
	free(o);
}

void warm_start_read_directory(struct request *r, const char *option, const char *origin,
			       warm_start_continuation *then)
{
	struct warm_start_read *o = dp_calloc(1, sizeof *o);
	const char *name;

	o->directory = dp_strndup(origin, dp_warm_start_parse(origin, &name));
	o->daemon = r->daemon;
	o->client_id = r->client_id;
	memcpy(o->requested_by, r->requested_by, sizeof o->requested_by);
	o->request = json_incref((json_t *)r->json);
	o->continuation = then;
	o->option = option;
	r->replies_later = true;
	background_job_start(r->daemon, &o->job, warm_start_worker, on_warm_start_read, o);
}

/* ---- finding the study ---- */

static bool warm_start_spaces_match(const struct dp_study *a, const struct dp_study *b)
{
	bool same = a->nparams == b->nparams && a->nobjectives == b->nobjectives;

	for (size_t i = 0; same && i < a->nparams; i++)
		same = strcmp(a->params[i].name, b->params[i].name) == 0 &&
		       a->params[i].kind == b->params[i].kind &&
		       (a->params[i].kind != DP_PARAM_CATEGORICAL ||
			json_equal(a->params[i].values, b->params[i].values)) &&
		       dp_calibration_equal(a, b, i);
	for (size_t i = 0; same && i < a->nobjectives; i++)
		same = strcmp(a->objectives[i].name, b->objectives[i].name) == 0;
	return same;
}

static int warm_start_only_study(const struct dp_state *there, const char *folder,
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

int warm_start_find_study(const struct dp_state *there, const char *origin,
			  const struct dp_study *spec, struct dp_study_state **out,
			  struct dp_err *err)
{
	const char *name;
	size_t folder = dp_warm_start_parse(origin, &name);
	int code = name ? dp_state_find_study(there, name, out, err)
			: warm_start_only_study(there, origin, out, err);

	if (code != DP_OK && folder && name)
		dp_hint(err, "'dparetoctl list --state %.*s' shows the studies there are",
			(int)folder, origin);
	if (code != DP_OK)
		return code;
	if (dp_state_is_private_selection(*out))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: its trainings are "
			       "secret",
			       (*out)->spec->name);
	if (!warm_start_spaces_match((*out)->spec, spec))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' has other parameters or objectives, or "
			       "calibrates them otherwise",
			       (*out)->spec->name);
	return DP_OK;
}

/* ---- importing results ---- */

struct import_job {
	struct study *study;
	const struct dp_study_state *origin;
	uint32_t n_before; /* number of results imported before, which are skipped */
	const char *requested_by;
};

static bool import_is_duplicate(const struct import_job *m, const double *x,
				const double *objectives)
{
	const struct dp_study_state *s = m->study->state;

	for (uint32_t i = 0; i < m->n_before; i++)
		if (!memcmp(s->imported[i].x, x, s->spec->nparams * sizeof *x) &&
		    !memcmp(s->imported[i].objectives, objectives,
			    s->spec->nobjectives * sizeof *objectives))
			return true;
	return false;
}

/* Records a copy, so that later changes of the other study have no effect here. */
static void import_result(const struct import_job *m, uint32_t trial, const double *x,
			  const double *objectives)
{
	const struct dp_study *spec = m->study->state->spec;
	struct dp_event e = { .type = DP_EV_RESULT_IMPORTED,
			      .trial = trial,
			      .requested_by = m->requested_by,
			      .result_imported = { .study_name = m->origin->spec->name,
						   .params = x,
						   .nparams = (uint32_t)spec->nparams,
						   .objectives = objectives,
						   .nobjectives = (uint32_t)spec->nobjectives } };

	if (!import_is_duplicate(m, x, objectives))
		study_record_event(m->study, &e);
}

static bool import_allows_value(const struct dp_param *p, double value)
{
	return p->kind != DP_PARAM_FIXED || json_number_value(p->values) == value;
}

/* Imports checkpoints as results, unless this study fixes the path parameter differently. */
static void import_checkpoints(const struct import_job *m, const struct dp_trial *t)
{
	const struct dp_study_state *origin = m->origin;
	const struct dp_param *walked =
		&m->study->state->spec->params[origin->spec->trainer.learning_curve.param];

	for (uint32_t w = 0; t->checkpoints && w < t->checkpoints->count; w++) {
		struct dp_result_id p = { t->number, (int32_t)w };
		double x[DP_PARAMS_MAX];

		if (!import_allows_value(walked, t->checkpoints->values[w]) ||
		    !dp_checkpoint_is_result(origin, t->checkpoints, w))
			continue;
		dp_result_get_params(origin, p, x);
		import_result(m, t->number, x, dp_result_get_objectives(origin, p));
	}
}

/* True unless both studies fix the parameter of a learning curve to different values. */
static bool import_allows_end(const struct dp_study *here, const struct dp_study *origin)
{
	const struct dp_learning_curve *path = origin->trainer.learning_curve.points
						       ? &origin->trainer.learning_curve
						       : &here->trainer.learning_curve;

	return path->points == 0 ||
	       import_allows_value(&here->params[path->param],
				   json_number_value(origin->params[path->param].values));
}

unsigned warm_start_import(struct study *study, const struct dp_study_state *origin, const char *by)
{
	struct import_job m = { study, origin, study->state->nimported, by };
	bool ends = import_allows_end(study->state->spec, origin->spec);

	for (uint32_t i = 0; i < origin->ntrials; i++) {
		const struct dp_trial *t = origin->trials[i];

		import_checkpoints(&m, t);
		if (ends && t->objectives &&
		    (t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED))
			import_result(&m, i, t->x, t->objectives);
	}
	return study->state->nimported - m.n_before;
}
