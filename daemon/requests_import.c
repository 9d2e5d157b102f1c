/* requests_import.c - results of another study, taken over while this one runs. */
#include "daemon/origin.h"

#include "base/json.h"
#include "daemon/study.h"

/* The study is looked for again: it may be gone since somebody asked. */
static int import_from(struct request *r, const struct dp_state *there, json_t **ok,
		       struct dp_err *err)
{
	const char *from = dp_json_str(r->json, "origin", "");
	struct dp_asked asked = { .ask = DP_ASK_IMPORT };
	struct dp_study_state *origin;
	struct dp_orders none;
	int code = study_find(r->d, dp_json_str(r->json, "study", ""), &r->home, err);
	unsigned n;

	if (code == DP_OK)
		code = request_may_ask(r->home, &asked, &none, err);
	if (code == DP_OK)
		code = origin_find(there, from, r->home->state->spec, &origin, err);
	if (code != DP_OK)
		return code;
	if (origin == r->home->state)
		return dp_fail(err, DP_E_INVALID, "study '%s' knows its own results",
			       origin->spec->name);
	n = origin_import(r->home, origin, r->by);
	*ok = json_pack("{s:o, s:s, s:i}", "study", request_summary_json(r->home), "origin",
			origin->spec->name, "imported", (int)n);
	return DP_OK;
}

int request_import(struct request *r, json_t **ok, struct dp_err *err)
{
	const char *from = dp_json_str(r->json, "origin", NULL), *name;
	size_t folder = from ? dp_origin_folder(from, &name) : 0;

	if (!from || (folder && from[0] != '/'))
		return dp_fail(err, DP_E_PROTOCOL,
			       "import needs an 'origin': a study, or an absolute folder");
	return folder ? origin_read(r, "import", from, import_from, err)
		      : import_from(r, &r->d->state, ok, err);
}
