/* requests_reevaluate.c - points that are measured again: asking for them, and looking. */
#include "daemon/studies/reevaluation_job.h"
#include "daemon/api/requests.h"

#include "base/json.h"
#include "state/state_json.h"

#include <stdlib.h>

enum {
	MEASURES_MAX = 200 /* of one reply */
};

/* The results that [[trial, at], ...] names. */
static int reevaluate_parse_points(const struct dp_study_state *s, const json_t *pairs,
				   struct dp_result_id *points, struct dp_err *err)
{
	const json_t *pair;
	size_t i;

	json_array_foreach (pairs, i, pair) {
		const struct dp_trial *t;
		int code = request_parse_point(s, pair, &points[i], err);

		if (code != DP_OK)
			return code;
		t = dp_state_find_trial(s, points[i].trial);
		if (dp_trial_is_reeval(t->number))
			return dp_fail(err, DP_E_INVALID,
				       "trial m%u measures a point itself; name the "
				       "trial that it measures",
				       t->number - DP_REEVAL_TRIAL_FIRST);
		if (points[i].checkpoint == DP_CHECKPOINT_FINAL && t->status != DP_TRIAL_OK)
			return dp_fail(err, DP_E_INVALID,
				       "trial %u is %s: only a result can be measured "
				       "again",
				       t->number, dp_trial_status_text(t->status));
	}
	return DP_OK;
}

static int reevaluate_parse_runs(const json_t *json, uint32_t *runs, struct dp_err *err)
{
	int64_t n = dp_json_int(json, "runs", 0);

	if (n < 1 || n > DP_REEVALUATE_RUNS_MAX)
		return dp_fail(err, DP_E_INVALID, "runs must be a whole number from 1 to %d",
			       DP_REEVALUATE_RUNS_MAX);
	*runs = (uint32_t)n;
	return DP_OK;
}

static int reevaluate_named_points(struct request *r, const json_t *pairs,
				   struct reevaluation_request *wish, struct dp_err *err)
{
	size_t n = json_array_size(pairs);
	struct dp_result_id *points = dp_calloc(n + 1, sizeof *points);
	int code;

	if (n == 0)
		code = dp_fail(err, DP_E_INVALID, "'points' names no point");
	else
		code = points ? reevaluate_parse_points(r->study->state, pairs, points, err)
			      : dp_fail(err, DP_E_NOMEM, "no memory to measure points");
	wish->points = points;
	wish->n_points = n;
	if (code == DP_OK)
		code = reevaluation_submit(r->study, wish, r->client_id, err);
	free(points);
	return code;
}

int request_measure(struct request *r, json_t **ok, struct dp_err *err)
{
	const json_t *pairs = json_object_get(r->json, "points"),
		     *given = json_object_get(r->json, "parameters");
	struct reevaluation_request wish = { .requested_by = r->requested_by };
	struct dp_transition_events none;
	double x[DP_PARAMS_MAX];
	int code = reevaluate_parse_runs(r->json, &wish.runs, err);

	(void)ok;
	if (code == DP_OK)
		code = request_check_not_deleted(r->study, err);
	if (code == DP_OK) /* refused before anything is computed */
		code = dp_policy_reevaluate(r->study->state, &none, err);
	if (code == DP_OK && pairs && given)
		code = dp_fail(err, DP_E_PROTOCOL,
			       "either 'points' or 'parameters' can be measured");
	if (code != DP_OK)
		return code;
	r->replies_later = true; /* the answer comes when all is recorded */
	if (pairs)
		return reevaluate_named_points(r, pairs, &wish, err);
	if (given) {
		code = dp_space_from_json(r->study->state->spec, given, x, err);
		wish.x = x;
	}
	return code == DP_OK ? reevaluation_submit(r->study, &wish, r->client_id, err) : code;
}

int request_measures(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_public_state view = study_public_view(r->study);
	uint32_t count = view.state->reevals.count;
	int64_t from = dp_json_int(r->json, "from", 0), i;
	json_t *list = json_array();

	(void)err;
	for (i = from < 0 ? 0 : from; i < count && i < from + MEASURES_MAX; i++)
		json_array_append_new(list, dp_reeval_json(view, (uint32_t)i));
	*ok = json_pack("{s:o, s:o}", "measures", list, "next",
			i < count ? json_integer(i) : json_null());
	return DP_OK;
}
