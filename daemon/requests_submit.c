/* requests_submit.c - new studies. */
#include "daemon/origin.h"
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

/* A study that nobody has submitted yet, which may start from one that is `there`. Takes
 * over e->spec if it is accepted. */
static int submit_new(struct request *r, const struct dp_state *there, struct dp_event *e,
		      struct study **made, struct dp_err *err)
{
	const char *from = e->spec->search.initial_from;
	struct dp_study_state *origin = NULL;
	char secret[DP_SECRET_TEXT] = "";
	int code = DP_OK;

	if (r->d->nstudies >= STUDIES_MAX)
		return dp_fail(err, DP_E_LIMIT, "there are %d studies already; delete some",
			       STUDIES_MAX);
	if (from)
		code = origin_find(there, from, e->spec, &origin, err);
	if (code != DP_OK)
		return dp_err_prefix(err, "search.initial_from");
	e->seeds = dp_seeds_text(dp_study_seeds(e->spec)); /* `data` may change later */
	if (dp_study_seeds(e->spec) == DP_SEEDS_SECRET || dp_study_needs_secret(e->spec)) {
		code = dp_secret_draw(secret, err);
		e->secret = secret;
	}
	if (code != DP_OK)
		return code;
	e->name = e->spec->name;
	*made = record_created(r->d, e);
	explicit_bzero(secret, sizeof secret);
	amend_executor(*made);
	if (origin) {
		origin_import(*made, origin, r->by);
		amend_initial(*made);
	}
	if (dp_json_bool(r->json, "paused", false))
		record(*made, &(struct dp_event){ .type = DP_EV_STUDY_MOVED,
						  .state = dp_study_status_text(DP_STUDY_PAUSED),
						  .reason = "submitted with --paused",
						  .by = r->by });
	log_line(&r->d->log, LOG_INFO, e->name, "submitted from %s by %s", e->path, r->by);
	return DP_OK;
}

/* Does the study start from one in a state folder? */
static bool starts_elsewhere(const struct dp_study *spec)
{
	const char *from = spec->search.initial_from, *name;

	return from && dp_origin_folder(from, &name) > 0;
}

/* `there`: where the study may start from; NULL: not known yet. */
static int submit(struct request *r, const struct dp_state *there, json_t **ok, struct dp_err *err)
{
	struct dp_problems problems = { 0 };
	struct dp_event e = { .type = DP_EV_STUDY_CREATED,
			      .text = dp_json_str(r->json, "text", NULL),
			      .path = dp_json_str(r->json, "path", "study"),
			      .dir = dp_json_str(r->json, "dir", NULL),
			      .by = r->by };
	struct dp_files files = { 0 };
	struct study *h = NULL;
	int code;

	if (!e.text || !e.dir || e.dir[0] != '/')
		return dp_fail(err, DP_E_PROTOCOL, "submit needs 'text' and an absolute 'dir'");
	code = dp_study_parse(e.text, strlen(e.text), e.path, e.dir, &e.spec, &problems, err);
	if (code == DP_OK)
		code = dp_study_find_files(e.spec, e.dir, &files, err);
	if (code == DP_OK)
		code = dp_study_startable(e.spec, e.dir, r->d->at.bin_dir, e.text, strlen(e.text),
					  &problems, err);
	if (code == DP_OK)
		code = dp_propose_check(e.spec, err);
	e.files = files.list;
	e.nfiles = files.n;
	if (code == DP_OK && (h = submit_find(r->d, e.spec->name)) != NULL) {
		code = request_resubmit(h, &e, ok, err);
		if (code == DP_OK)
			json_object_update_new(*ok, json_pack("{s:b, s:[]}", "new", 0, "warnings"));
		dp_study_free(e.spec);
	} else if (code == DP_OK && !there && starts_elsewhere(e.spec)) {
		code = origin_read(r, "search.initial_from", e.spec->search.initial_from, submit,
				   err);
		dp_study_free(e.spec);
	} else if (code == DP_OK &&
		   (code = dp_study_curve_check(e.spec, e.text, strlen(e.text), &problems, err)) ==
			   DP_OK &&
		   (code = submit_new(r, there ? there : &r->d->state, &e, &h, err)) == DP_OK) {
		*ok = json_pack("{s:o, s:b, s:o}", "study", request_summary_json(h), "new", 1,
				"warnings", warnings_json(&problems));
	} else {
		dp_study_free(e.spec);
	}
	dp_problems_free(&problems);
	free(files.list);
	return code;
}

int request_submit(struct request *r, json_t **ok, struct dp_err *err)
{
	return submit(r, NULL, ok, err);
}
