/* requests.c - the verbs of the control protocol, one row each; docs/protocol.md lists
 * them. A handler answers exactly once, now or later. */
#include "config.h"
#include "daemon/requests.h"

#include "base/json.h"
#include "daemon/server.h"

#include <string.h>

/* Fields by type; which of them a verb looks at is its own business, but none may
 * have the wrong type. */
static const struct {
	const char *name;
	json_type type; /* JSON_TRUE stands for both truth values */
} fields[] = {
	{ "study", JSON_STRING },       { "text", JSON_STRING },
	{ "path", JSON_STRING },        { "dir", JSON_STRING },
	{ "state", JSON_STRING },       { "policy", JSON_STRING },
	{ "trial", JSON_INTEGER },      { "from", JSON_INTEGER },
	{ "limit", JSON_INTEGER },      { "since", JSON_INTEGER },
	{ "timeout_ms", JSON_INTEGER }, { "evaluations", JSON_INTEGER },
	{ "parallel", JSON_INTEGER },   { "priority", JSON_INTEGER },
	{ "parameters", JSON_OBJECT },  { "denoised", JSON_TRUE },
	{ "now", JSON_TRUE },           { "full", JSON_TRUE },
};

static int request_check_fields(const json_t *json, struct dp_err *err)
{
	for (size_t i = 0; i < DP_COUNT(fields); i++) {
		const json_t *v = json_object_get(json, fields[i].name);

		if (!v || json_typeof(v) == fields[i].type ||
		    (json_is_false(v) && fields[i].type == JSON_TRUE))
			continue;
		return dp_fail(err, DP_E_PROTOCOL, "'%s' must be %s", fields[i].name,
			       fields[i].type == JSON_STRING    ? "a text"
			       : fields[i].type == JSON_INTEGER ? "a whole number"
			       : fields[i].type == JSON_OBJECT  ? "an object"
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

static const struct {
	const char *verb;
	enum needs needs;
	request_fn *fn;
} verbs[] = {
	{ "hello", NOTHING, request_hello },
	{ "submit", NOTHING, request_submit },
	{ "list", NOTHING, request_list },
	{ "status", MAYBE_A_STUDY, request_status },
	{ "changes", A_STUDY, request_changes },
	{ "pause", A_WHOLE_STUDY, request_pause },
	{ "resume", A_WHOLE_STUDY, request_resume },
	{ "stop", A_WHOLE_STUDY, request_stop },
	{ "set", A_WHOLE_STUDY, request_set },
	{ "delete", A_WHOLE_STUDY, request_delete },
	{ "front", A_STUDY, request_front },
	{ "trials", A_STUDY, request_trials },
	{ "trial", A_STUDY, request_trial },
	{ "retry", A_WHOLE_STUDY, request_retry },
	{ "cancel", A_WHOLE_STUDY, request_cancel },
	{ "propose", A_WHOLE_STUDY, request_propose },
	{ "enqueue", A_WHOLE_STUDY, request_enqueue },
	{ "reload", NOTHING, request_reload },
	{ "shutdown", NOTHING, request_shutdown },
};

/* Nothing can be added to a study one of whose records cannot be read. */
static int request_needs_whole(const struct request *r, const char *verb,
			       struct dp_err *err)
{
	const struct dp_study_state *s = r->home->state;

	return s->apart ? dp_fail(err, DP_E_CORRUPT, "cannot %s study '%s': %s", verb,
				  s->spec->name, s->reason)
			: DP_OK;
}

static int request_dispatch(struct request *r, const char *verb, json_t **ok,
			    struct dp_err *err)
{
	const char *selector = dp_json_str(r->json, "study", NULL);
	int code = request_check_fields(r->json, err);

	for (size_t i = 0; code == DP_OK && i < DP_COUNT(verbs); i++) {
		if (strcmp(verbs[i].verb, verb) != 0)
			continue;
		if ((verbs[i].needs == A_STUDY || verbs[i].needs == A_WHOLE_STUDY) &&
		    !selector)
			return dp_fail(err, DP_E_PROTOCOL, "'%s' needs a study", verb);
		if (verbs[i].needs != NOTHING && selector)
			code = study_find(r->d, selector, &r->home, err);
		if (code == DP_OK && verbs[i].needs == A_WHOLE_STUDY)
			code = request_needs_whole(r, verb, err);
		return code == DP_OK ? verbs[i].fn(r, ok, err) : code;
	}
	if (code != DP_OK)
		return code;
	dp_fail(err, DP_E_PROTOCOL, "this daemon does not know '%.40s'", verb);
	return dp_hint(err, "it is version %s; is dparetoctl newer?", PACKAGE_VERSION);
}

void request_handle(struct dpd *d, uint64_t client, const char *verb,
		    const json_t *request)
{
	struct request r = { .d = d, .client = client, .json = request };
	json_t *ok = NULL;
	struct dp_err err;
	int code = request_dispatch(&r, verb, &ok, &err);

	if (code == DP_OK && !r.later && !ok)
		code = dp_fail(&err, DP_E_NOMEM, "no memory for the answer");
	if (code != DP_OK)
		client_error(d, client, &err);
	else if (!r.later)
		client_ok(d, client, ok);
}
