/* requests.c - the verbs of the control protocol, one row each; docs/protocol.md lists
 * them. A handler answers exactly once, now or later. */
#include "config.h"
#include "daemon/requests.h"

#include "base/json.h"
#include "daemon/look.h"
#include "daemon/server.h"

#include <string.h>

/* Fields by type; which of them a verb looks at is its own business, but none may
 * have the wrong type. `at` may be null as in answers: a trial's own. */
static const struct {
	const char *name;
	json_type type; /* JSON_TRUE stands for both truth values */
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

enum needs {
	NOTHING,
	A_STUDY,
	A_WHOLE_STUDY, /* one that is not set apart */
	MAYBE_A_STUDY
};

enum manner {
	CHANGES,      /* what is recorded, or what the daemon does */
	LOOKS,        /* and is answered at once */
	LOOKS_AT_ALL, /* the same, but without a study the answer is long */
	LOOKS_LONG,
	LIVES, /* what becomes of the daemon itself: not the journal's business, a disk
		* that hangs keeps nobody from it */
};

static const struct verb {
	const char *verb;
	enum needs needs;
	enum manner manner;
	request_fn *fn;
} verbs[] = {
	{ "hello", NOTHING, LOOKS, request_hello },
	{ "submit", NOTHING, CHANGES, request_submit },
	{ "list", NOTHING, LOOKS_LONG, request_list },
	{ "status", MAYBE_A_STUDY, LOOKS_AT_ALL, request_status },
	{ "changes", MAYBE_A_STUDY, LOOKS_AT_ALL, request_changes },
	{ "pause", A_WHOLE_STUDY, CHANGES, request_pause },
	{ "resume", A_WHOLE_STUDY, CHANGES, request_resume },
	{ "stop", A_WHOLE_STUDY, CHANGES, request_stop },
	{ "set", A_WHOLE_STUDY, CHANGES, request_set },
	{ "delete", A_WHOLE_STUDY, CHANGES, request_delete },
	{ "front", A_STUDY, LOOKS_LONG, request_front },
	{ "trials", A_STUDY, LOOKS_LONG, request_trials },
	{ "trial", A_STUDY, LOOKS_LONG, request_trial },
	{ "retry", A_WHOLE_STUDY, CHANGES, request_retry },
	{ "cancel", A_WHOLE_STUDY, CHANGES, request_cancel },
	{ "propose", A_WHOLE_STUDY, LOOKS, request_propose },
	{ "recommend", A_STUDY, LOOKS, request_recommend },
	{ "enqueue", A_WHOLE_STUDY, CHANGES, request_enqueue },
	{ "import", A_WHOLE_STUDY, CHANGES, request_import },
	{ "measure", A_WHOLE_STUDY, CHANGES, request_measure },
	{ "measures", A_STUDY, LOOKS_LONG, request_measures },
	{ "reload", NOTHING, LIVES, request_reload },
	{ "shutdown", NOTHING, LIVES, request_shutdown },
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < DP_COUNT(verbs); i++)
		if (strcmp(verbs[i].verb, name) == 0)
			return &verbs[i];
	return NULL;
}

bool request_looks(const char *verb)
{
	const struct verb *v = verb_find(verb);

	return v && v->manner != CHANGES;
}

bool request_is_long(const char *verb, const json_t *request)
{
	const struct verb *v = verb_find(verb);

	return v && (v->manner == LOOKS_LONG ||
		     (v->manner == LOOKS_AT_ALL && !json_object_get(request, "study")));
}

/* Nothing can be added to a study one of whose records cannot be read. */
static int request_needs_whole(const struct request *r, const char *verb, struct dp_err *err)
{
	const struct dp_study_state *s = r->home->state;

	return s->apart ? dp_fail(err, DP_E_CORRUPT, "cannot %s study '%s': %s", verb,
				  s->spec->name, s->reason)
			: DP_OK;
}

/* The study that a request names; with `exact` neither by a number nor by the beginning
 * of its name: who shows a page of one must not be given another that looks like it. */
static int request_find_study(struct request *r, const char *selector, struct dp_err *err)
{
	int code = study_find(r->d, selector, &r->home, err);

	if (code == DP_OK && dp_json_bool(r->json, "exact", false) &&
	    strcmp(r->home->state->spec->name, selector) != 0)
		code = dp_fail(err, DP_E_NOT_FOUND, "there is no study '%s'", selector);
	return code;
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
	if (r->d->looking && (v->manner == CHANGES || v->manner == LIVES))
		return look_only(r->d, name, err);
	if ((v->needs == A_STUDY || v->needs == A_WHOLE_STUDY) && !selector)
		return dp_fail(err, DP_E_PROTOCOL, "'%s' needs a study", name);
	if (v->needs != NOTHING && selector)
		code = request_find_study(r, selector, err);
	if (code == DP_E_NOT_FOUND && r->d->looking)
		return look_unknown(r->d, err);
	if (code == DP_OK && v->needs == A_WHOLE_STUDY)
		code = request_needs_whole(r, name, err);
	if (v->manner == CHANGES || v->manner == LIVES)
		r->d->status.steered++;
	if (code == DP_OK && v->manner == CHANGES)
		code = who_asks(client_name(r->d, r->client), dp_json_str(r->json, "via", NULL),
				r->by, err);
	return code == DP_OK ? v->fn(r, ok, err) : code;
}

void request_answer(struct request *r, int code, json_t *ok, struct dp_err *err)
{
	if (code == DP_OK && !r->later && !ok)
		code = dp_fail(err, DP_E_NOMEM, "no memory for the answer");
	if (code == DP_OK) {
		if (!r->later)
			client_ok(r->d, r->client, ok);
		return;
	}
	json_decref(ok); /* half of an answer */
	client_error(r->d, r->client, err);
}

void request_handle(struct dpd *d, uint64_t client, const char *verb, const json_t *request)
{
	struct request r = { .d = d, .client = client, .json = request };
	json_t *ok = NULL;
	struct dp_err err;
	int code = request_dispatch(&r, verb, &ok, &err);

	request_answer(&r, code, ok, &err);
}
