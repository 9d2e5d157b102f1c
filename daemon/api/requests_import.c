/* requests_import.c - results of another study, taken over while this one runs. */
#include "daemon/api/warm_start.h"

#include "base/json.h"

/* The study is looked for again: it may be gone since somebody asked. */
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
