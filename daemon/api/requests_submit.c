/* requests_submit.c - creates studies, and imports results into existing ones. */
#include "daemon/api/warm_start.h"
#include "daemon/api/requests.h"

#include "base/json.h"
#include "base/secret.h"
#include "optimize/propose/proposer.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/metric_release.h"
#include "study/seeds.h"
#include "study/study_file.h"
#include "study/warm_start_source.h"

#include <stdlib.h>
#include <string.h>

enum {
	STUDIES_MAX = 100000
};

static json_t *warnings_json(const struct dp_diagnostics *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].is_warning)
			json_array_append_new(list, json_string(p->list[i].message));
	return list;
}

static struct study *submit_find(const struct daemon *d, const char *name)
{
	for (uint32_t i = 0; i < d->studies->n; i++)
		if (strcmp(d->studies->list[i]->state->spec->name, name) == 0)
			return d->studies->list[i];
	return NULL;
}

/* Creates a study, which may start from one of `there`. Takes e->spec on success. */
static int submit_create_study(struct request *r, const struct dp_state *there, struct dp_event *e,
			       struct study **made, struct dp_err *err)
{
	struct dp_ev_study_created *new = &e->study_created;
	const char *from = new->parsed_study->search.initial_from;
	struct dp_study_state *origin = NULL;
	char secret[DP_SECRET_SIZE] = "";
	int code = DP_OK;

	if (r->daemon->studies->n >= STUDIES_MAX)
		return dp_fail(err, DP_E_LIMIT, "there are %d studies already; delete some",
			       STUDIES_MAX);
	if (from)
		code = warm_start_find_study(there, from, new->parsed_study, &origin, err);
	if (code != DP_OK)
		return dp_err_prefix(err, "search.initial_from");
	new->seeds = dp_seed_mode_text(
		dp_study_seed_mode(new->parsed_study)); /* `data` may change later */
	if (dp_study_seed_mode(new->parsed_study) == DP_SEEDS_SECRET ||
	    dp_study_needs_secret(new->parsed_study)) {
		code = dp_secret_generate(secret, err);
		new->secret = secret;
	}
	if (code != DP_OK)
		return code;
	new->name = new->parsed_study->name;
	*made = study_record_created(r->daemon, e);
	explicit_bzero(secret, sizeof secret);
	amend_record_executor(*made);
	if (origin) {
		warm_start_import(*made, origin, r->requested_by);
		amend_record_initial(*made);
	}
	if (dp_json_bool(r->json, "paused", false))
		study_record_event(
			*made, &(struct dp_event){ .type = DP_EV_STUDY_MOVED,
						   .reason = "submitted with --paused",
						   .requested_by = r->requested_by,
						   .study_moved = { .state = dp_study_status_text(
									    DP_STUDY_PAUSED) } });
	log_line(&r->daemon->log, LOG_INFO, new->name, "submitted from %s by %s", new->path,
		 r->requested_by);
	return DP_OK;
}

/* Submits a study. `there`: the studies to start from; NULL: not read yet. */
static int submit_study(struct request *r, const struct dp_state *there, json_t **ok,
			struct dp_err *err)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_event e = { .type = DP_EV_STUDY_CREATED,
			      .requested_by = r->requested_by,
			      .study_created = { .text = dp_json_str(r->json, "text", NULL),
						 .path = dp_json_str(r->json, "path", "study"),
						 .dir = dp_json_str(r->json, "dir", NULL) } };
	struct dp_ev_study_created *new = &e.study_created;
	struct dp_command_files files = { 0 };
	struct study *study = NULL;
	const char *name;
	size_t len;
	int code;

	if (!new->text || !new->dir || new->dir[0] != '/')
		return dp_fail(err, DP_E_PROTOCOL, "submit needs 'text' and an absolute 'dir'");
	len = strlen(new->text);
	code = dp_study_parse(new->text, len, new->path, new->dir, &new->parsed_study, &problems,
			      err);
	if (code == DP_OK) {
		dp_study_resolve_files(new->parsed_study, new->dir, &files);
		dp_study_preflight(new->parsed_study, new->dir, r->daemon->paths.bin_dir, new->text,
				   len, &problems);
		code = dp_propose_check_method(new->parsed_study, err);
	}
	new->files = files.list;
	new->nfiles = files.n;
	if (code == DP_OK && (study = submit_find(r->daemon, new->parsed_study->name)) != NULL) {
		code = request_resubmit(study, &e, ok, err);
		if (code == DP_OK)
			json_object_update_new(*ok, json_pack("{s:b, s:[]}", "new", 0, "warnings"));
		dp_study_free(new->parsed_study);
	} else if (code == DP_OK && !there && new->parsed_study->search.initial_from &&
		   dp_warm_start_parse(new->parsed_study->search.initial_from, &name) > 0) {
		warm_start_read_directory(r, "search.initial_from",
					  new->parsed_study->search.initial_from, submit_study);
		dp_study_free(new->parsed_study);
	} else if (code == DP_OK &&
		   (code = dp_study_check_learning_curve(new->parsed_study, new->text, len,
							 &problems, err)) == DP_OK &&
		   (code = submit_create_study(r, there ? there : &r->daemon->state, &e, &study,
					       err)) == DP_OK) {
		*ok = json_pack("{s:o, s:b, s:o}", "study", request_summary_json(study), "new", 1,
				"warnings", warnings_json(&problems));
	} else {
		dp_study_free(new->parsed_study);
	}
	dp_diagnostics_free(&problems);
	free(files.list);
	return code;
}

int request_submit(struct request *r, json_t **ok, struct dp_err *err)
{
	return submit_study(r, NULL, ok, err);
}

/* ---- import ---- */

/* Finds the study again: it may have been deleted since the request. */
static int import_from(struct request *r, const struct dp_state *there, json_t **ok,
		       struct dp_err *err)
{
	const char *from = dp_json_str(r->json, "origin", "");
	struct dp_study_state *origin;
	int code = study_find(r->daemon, dp_json_str(r->json, "study", ""), &r->study, err);
	unsigned n;

	if (code == DP_OK)
		code = study_check_not_deleted(r->study, err);
	if (code == DP_OK)
		code = dp_policy_check_import(r->study->state, err);
	if (code == DP_OK)
		code = warm_start_find_study(there, from, r->study->state->spec, &origin, err);
	if (code != DP_OK)
		return code;
	if (origin == r->study->state)
		return dp_fail(err, DP_E_INVALID, "study '%s' knows its own results",
			       origin->spec->name);
	n = warm_start_import(r->study, origin, r->requested_by);
	*ok = json_pack("{s:o, s:s, s:i}", "study", request_summary_json(r->study), "origin",
			origin->spec->name, "imported", (int)n);
	return DP_OK;
}

int request_import(struct request *r, json_t **ok, struct dp_err *err)
{
	const char *from = dp_json_str(r->json, "origin", NULL), *name;
	size_t folder = from ? dp_warm_start_parse(from, &name) : 0;

	if (!from || (folder && from[0] != '/'))
		return dp_fail(err, DP_E_PROTOCOL,
			       "import needs an 'origin': a study, or an absolute folder");
	if (!folder)
		return import_from(r, &r->daemon->state, ok, err);
	warm_start_read_directory(r, "import", from, import_from);
	return DP_OK;
}
