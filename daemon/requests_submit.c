/* requests_submit.c - new studies. */
#include "daemon/record.h"
#include "daemon/requests.h"

#include "base/json.h"
#include "base/secret.h"
#include "propose/propose.h"

#include <stdlib.h>
#include <string.h>

enum {
	STUDIES_MAX = 100000
};

static json_t *warnings_json(const struct dp_problems *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].warning)
			json_array_append_new(list, json_string(p->list[i].message));
	return list;
}

static struct study *submit_find(const struct dpd *d, const char *name)
{
	for (uint32_t i = 0; i < d->nstudies; i++)
		if (strcmp(d->studies[i]->state->spec->name, name) == 0)
			return d->studies[i];
	return NULL;
}

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

/* The study that search.initial_from names, or NULL where it names none. */
static int find_origin(struct dpd *d, const struct dp_study *spec,
		       struct dp_study_state **origin, struct dp_err *err)
{
	int code;

	*origin = NULL;
	if (!spec->search.initial_from)
		return DP_OK;
	code = dp_state_find(&d->state, spec->search.initial_from, origin, err);
	if (code != DP_OK)
		return dp_err_prefix(err, "search.initial_from");
	if (dp_study_hides(*origin))
		return dp_fail(err, DP_E_INVALID,
			       "search.initial_from: study '%s' is a private selection: "
			       "its trainings are secret",
			       (*origin)->spec->name);
	if (!same_space((*origin)->spec, spec))
		return dp_fail(err, DP_E_INVALID,
			       "search.initial_from: study '%s' has other parameters or "
			       "objectives, or calibrates them otherwise",
			       (*origin)->spec->name);
	return DP_OK;
}

/* Copied, so that what happens to the other study later changes nothing here. */
static void import_result(struct study *h, const struct dp_study_state *origin,
			  uint32_t trial, const double *x, const double *objectives)
{
	struct dp_event e = { .type = DP_EV_RESULT_IMPORTED,
			      .name = origin->spec->name,
			      .trial = trial,
			      .params = x,
			      .nparams = (uint32_t)h->state->spec->nparams,
			      .objectives = objectives,
			      .nobjectives = (uint32_t)h->state->spec->nobjectives };

	record(h, &e);
}

static bool can_be(const struct dp_param *p, double value)
{
	return p->kind != DP_PARAM_FIXED || json_number_value(p->values) == value;
}

/* What a training was on its way, as results like any other: unless this study fixes the
 * parameter that it walked up to another value. */
static void import_waypoints(struct study *h, const struct dp_study_state *origin,
			     const struct dp_trial *t)
{
	const struct dp_param *walked =
		&h->state->spec->params[origin->spec->trainer.path.param];

	for (uint32_t w = 0; t->way && w < t->way->n; w++) {
		struct dp_point p = { t->number, (int32_t)w };
		double x[DP_PARAMS_MAX];

		if (!can_be(walked, t->way->at[w]) || !dp_way_stands(origin, t->way, w))
			continue;
		dp_point_x(origin, p, x);
		import_result(h, origin, t->number, x, dp_point_objectives(origin, p));
	}
}

/* Can the end of a training be here: is the parameter that trainings of one of both walk
 * up not fixed to different values? */
static bool end_can_be(const struct dp_study *here, const struct dp_study *origin)
{
	const struct dp_path *path =
		origin->trainer.path.points ? &origin->trainer.path : &here->trainer.path;

	return path->points == 0 ||
	       can_be(&here->params[path->param],
		      json_number_value(origin->params[path->param].values));
}

static void import_results(struct study *h, const struct dp_study_state *origin)
{
	bool ends = end_can_be(h->state->spec, origin->spec);

	for (uint32_t i = 0; i < origin->ntrials; i++) {
		const struct dp_trial *t = origin->trials[i];

		import_waypoints(h, origin, t);
		if (ends && t->objectives &&
		    (t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED))
			import_result(h, origin, i, t->x, t->objectives);
	}
}

/* A study that nobody has submitted yet. Takes over e->spec if it is accepted. */
static int submit_new(struct request *r, struct dp_event *e, struct study **made,
		      struct dp_err *err)
{
	struct dp_study_state *origin;
	char secret[DP_SECRET_TEXT] = "";
	int code;

	if (r->d->nstudies >= STUDIES_MAX)
		return dp_fail(err, DP_E_LIMIT,
			       "there are %d studies already; delete some", STUDIES_MAX);
	code = find_origin(r->d, e->spec, &origin, err);
	if (code == DP_OK && dp_study_needs_secret(e->spec)) {
		code = dp_secret_draw(secret, err);
		e->secret = secret;
	}
	if (code != DP_OK)
		return code;
	e->name = e->spec->name;
	*made = record_created(r->d, e);
	explicit_bzero(secret, sizeof secret);
	if (origin) {
		import_results(*made, origin);
		amend_initial(*made);
	}
	if (dp_json_bool(r->json, "paused", false))
		record(*made,
		       &(struct dp_event){ .type = DP_EV_STUDY_MOVED,
					   .state = dp_study_status_text(DP_STUDY_PAUSED),
					   .reason = "submitted with --paused" });
	log_line(&r->d->log, LOG_INFO, e->name, "submitted from %s", e->path);
	return DP_OK;
}

int request_submit(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_problems problems = { 0 };
	struct dp_event e = { .type = DP_EV_STUDY_CREATED,
			      .text = dp_json_str(r->json, "text", NULL),
			      .path = dp_json_str(r->json, "path", "study"),
			      .dir = dp_json_str(r->json, "dir", NULL) };
	struct dp_files files = { 0 };
	struct study *h = NULL;
	int code;

	if (!e.text || !e.dir || e.dir[0] != '/')
		return dp_fail(err, DP_E_PROTOCOL,
			       "submit needs 'text' and an absolute 'dir'");
	code = dp_study_parse(e.text, strlen(e.text), e.path, e.dir, &e.spec, &problems,
			      err);
	if (code == DP_OK)
		code = dp_study_find_files(e.spec, e.dir, &files, err);
	if (code == DP_OK)
		code = dp_study_startable(e.spec, e.dir, r->d->at.bin_dir, e.text,
					  strlen(e.text), &problems, err);
	if (code == DP_OK)
		code = dp_propose_check(e.spec, err);
	e.files = files.list;
	e.nfiles = files.n;
	if (code == DP_OK && (h = submit_find(r->d, e.spec->name)) != NULL) {
		code = request_resubmit(h, &e, ok, err);
		if (code == DP_OK)
			json_object_update_new(
				*ok, json_pack("{s:b, s:[]}", "new", 0, "warnings"));
		dp_study_free(e.spec);
	} else if (code == DP_OK && (code = submit_new(r, &e, &h, err)) == DP_OK) {
		*ok = json_pack("{s:o, s:b, s:o}", "study", request_summary_json(h),
				"new", 1, "warnings", warnings_json(&problems));
	} else {
		dp_study_free(e.spec);
	}
	dp_problems_free(&problems);
	free(files.list);
	return code;
}
