/* requests.c - the table of verbs of the control protocol, and how a request is dispatched. A
 * handler answers exactly once, now or later. */
#include "config.h"
#include "daemon/api/requests.h"

#include "base/json.h"
#include "daemon/api/status_cache.h"

#include <string.h>

/* Types of the fields; each verb reads those it needs, but none may have the wrong type. `at` may
 * be null as in replies: the trial's own result. */
static const struct {
	const char *name;
	json_type type; /* JSON_TRUE stands for both booleans */
} fields[] = {
	{ "study", JSON_STRING },       { "text", JSON_STRING },
	{ "path", JSON_STRING },        { "dir", JSON_STRING },
	{ "origin", JSON_STRING },      { "state", JSON_STRING },
	{ "policy", JSON_STRING },      { "trial", JSON_INTEGER },
	{ "at", JSON_INTEGER },         { "from", JSON_INTEGER },
	{ "limit", JSON_INTEGER },      { "since", JSON_INTEGER },
	{ "timeout_ms", JSON_INTEGER }, { "evaluations", JSON_INTEGER },
	{ "parallel", JSON_INTEGER },   { "priority", JSON_INTEGER },
	{ "runs", JSON_INTEGER },       { "parameters", JSON_OBJECT },
	{ "keys", JSON_OBJECT },        { "points", JSON_ARRAY },
	{ "levels", JSON_ARRAY },       { "denoised", JSON_TRUE },
	{ "now", JSON_TRUE },           { "full", JSON_TRUE },
	{ "failed", JSON_TRUE },        { "own", JSON_TRUE },
	{ "whole", JSON_TRUE },         { "metrics", JSON_TRUE },
	{ "paused", JSON_TRUE },        { "exact", JSON_TRUE },
	{ "via", JSON_STRING },
};

static int request_check_fields(const json_t *json, struct dp_err *err)
{
	for (size_t i = 0; i < DP_COUNT(fields); i++) {
		const json_t *v = json_object_get(json, fields[i].name);

		if (!v || json_typeof(v) == fields[i].type ||
		    (json_is_false(v) && fields[i].type == JSON_TRUE) ||
		    (json_is_null(v) && strcmp(fields[i].name, "at") == 0))
			continue;
		return dp_fail(err, DP_E_PROTOCOL, "'%s' must be %s", fields[i].name,
			       fields[i].type == JSON_STRING    ? "a text"
			       : fields[i].type == JSON_INTEGER ? "a whole number"
			       : fields[i].type == JSON_OBJECT  ? "an object"
			       : fields[i].type == JSON_ARRAY   ? "a list"
								: "true or false");
	}
	return DP_OK;
}

enum verb_study_need {
	NEEDS_NO_STUDY,
	NEEDS_STUDY,
	NEEDS_INTACT_STUDY, /* not quarantined */
	STUDY_OPTIONAL
};

enum verb_kind {
	VERB_CHANGES,   /* changes records or what the daemon does */
	VERB_READS,     /* answered at once */
	VERB_READS_ALL, /* the same, but long without a study */
	VERB_READS_LONG,
	VERB_CONTROLS_DAEMON, /* stops or reloads the daemon; does not need the journal, so a
				 hanging disk does not prevent it */
};

static const struct verb {
	const char *name;
	enum verb_study_need study_need;
	enum verb_kind kind;
	request_fn *handler;
} verbs[] = {
	{ "hello", NEEDS_NO_STUDY, VERB_READS, request_hello },
	{ "submit", NEEDS_NO_STUDY, VERB_CHANGES, request_submit },
	{ "list", NEEDS_NO_STUDY, VERB_READS_LONG, request_list },
	{ "status", STUDY_OPTIONAL, VERB_READS_ALL, request_status },
	{ "changes", STUDY_OPTIONAL, VERB_READS_ALL, request_changes },
	{ "pause", NEEDS_INTACT_STUDY, VERB_CHANGES, request_pause },
	{ "resume", NEEDS_INTACT_STUDY, VERB_CHANGES, request_resume },
	{ "stop", NEEDS_INTACT_STUDY, VERB_CHANGES, request_stop },
	{ "set", NEEDS_INTACT_STUDY, VERB_CHANGES, request_set },
	{ "delete", NEEDS_INTACT_STUDY, VERB_CHANGES, request_delete },
	{ "front", NEEDS_STUDY, VERB_READS_LONG, request_front },
	{ "trials", NEEDS_STUDY, VERB_READS_LONG, request_trials },
	{ "trial", NEEDS_STUDY, VERB_READS_LONG, request_trial },
	{ "retry", NEEDS_INTACT_STUDY, VERB_CHANGES, request_retry },
	{ "cancel", NEEDS_INTACT_STUDY, VERB_CHANGES, request_cancel },
	{ "propose", NEEDS_INTACT_STUDY, VERB_READS, request_propose },
	{ "recommend", NEEDS_STUDY, VERB_READS, request_recommend },
	{ "enqueue", NEEDS_INTACT_STUDY, VERB_CHANGES, request_enqueue },
	{ "import", NEEDS_INTACT_STUDY, VERB_CHANGES, request_import },
	{ "measure", NEEDS_INTACT_STUDY, VERB_CHANGES, request_measure },
	{ "measures", NEEDS_STUDY, VERB_READS_LONG, request_measures },
	{ "reload", NEEDS_NO_STUDY, VERB_CONTROLS_DAEMON, request_reload },
	{ "shutdown", NEEDS_NO_STUDY, VERB_CONTROLS_DAEMON, request_shutdown },
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < DP_COUNT(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

bool request_is_read_only(const char *verb)
{
	const struct verb *v = verb_find(verb);

	return v && v->kind != VERB_CHANGES;
}

bool request_is_long(const char *verb, const json_t *request)
{
	const struct verb *v = verb_find(verb);

	return v && (v->kind == VERB_READS_LONG ||
		     (v->kind == VERB_READS_ALL && !json_object_get(request, "study")));
}

int request_refuse_read_only(const struct daemon *d, const char *verb, struct dp_err *err)
{
	dp_fail(err, DP_E_INVALID, "this only looks at %s: it does not %s", d->paths.state_dir,
		verb);
	return dp_hint(err, "ask the daemon of that folder, or start one with 'dparetod "
			    "--state DIR'");
}

static int request_dispatch(struct request *r, const char *name, json_t **ok, struct dp_err *err)
{
	const char *selector = dp_json_str(r->json, "study", NULL);
	const struct verb *v = verb_find(name);
	int code = request_check_fields(r->json, err);

	if (code != DP_OK)
		return code;
	if (!v) {
		dp_fail(err, DP_E_PROTOCOL, "this daemon does not know '%.40s'", name);
		return dp_hint(err, "it is version %s; is dparetoctl newer?", PACKAGE_VERSION);
	}
	if (r->daemon->read_only.enabled &&
	    (v->kind == VERB_CHANGES || v->kind == VERB_CONTROLS_DAEMON))
		return request_refuse_read_only(r->daemon, name, err);
	if ((v->study_need == NEEDS_STUDY || v->study_need == NEEDS_INTACT_STUDY) && !selector)
		return dp_fail(err, DP_E_PROTOCOL, "'%s' needs a study", name);
	if (v->study_need != NEEDS_NO_STUDY && selector)
		code = study_find(r->daemon, selector, &r->study, err);
	/* `exact`: a page of one study must not switch to another of similar name */
	if (code == DP_OK && r->study && dp_json_bool(r->json, "exact", false) &&
	    strcmp(r->study->state->spec->name, selector) != 0)
		code = dp_fail(err, DP_E_NOT_FOUND, "there is no study '%s'", selector);
	if (code == DP_E_NOT_FOUND && r->daemon->read_only.enabled)
		return dp_hint(err, "'dparetoctl list --state %s' shows the studies there are",
			       r->daemon->paths.state_dir);
	/* a quarantined study has unreadable records, so nothing can be added */
	if (code == DP_OK && v->study_need == NEEDS_INTACT_STUDY && r->study->state->quarantined)
		code = dp_fail(err, DP_E_CORRUPT, "cannot %s study '%s': %s", name,
			       r->study->state->spec->name, r->study->state->reason);
	if (v->kind == VERB_CHANGES || v->kind == VERB_CONTROLS_DAEMON)
		r->daemon->status_cache->n_changes++;
	if (code == DP_OK && v->kind == VERB_CHANGES)
		code = peer_format_requester(r->user_name, dp_json_str(r->json, "via", NULL),
					     r->requested_by, err);
	return code == DP_OK ? v->handler(r, ok, err) : code;
}

void request_answer(struct request *r, int code, json_t *ok, struct dp_err *err)
{
	const struct reply_ops *replies = r->daemon->replies;

	if (code == DP_OK && !r->replies_later && !ok)
		code = dp_fail(err, DP_E_FAILED, "the answer has text that is not UTF-8");
	if (code != DP_OK) {
		json_decref(ok); /* a partial reply */
		replies->error(r->daemon, r->client_id, err);
	} else if (!r->replies_later) {
		replies->ok(r->daemon, r->client_id, ok);
	}
}

enum request_result request_handle(struct request *r, const char *verb)
{
	json_t *ok = NULL;
	struct dp_err err;
	int code = request_dispatch(r, verb, &ok, &err);

	if (code == DP_OK && r->wants_status)
		return REQUEST_WANTS_STATUS;
	if (code == DP_OK && r->wants_changes)
		return REQUEST_WANTS_CHANGES;
	request_answer(r, code, ok, &err);
	return REQUEST_ANSWERED;
}
