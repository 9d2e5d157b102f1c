/* requests_reevaluate.c - requests and lists re-evaluations. */
#include "daemon/api/requests.h"

#include "base/json.h"
#include "daemon/studies/reevaluation_job.h"
#include "state/state_json.h"
#include "study/space.h"

#include <stdlib.h>

enum {
	MEASURES_MAX = 200 /* in one reply */
};

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
		if (t->kind == DP_TRIAL_REEVAL)
			return dp_fail(err, DP_E_INVALID,
				       "trial m%u measures a point itself; name the "
				       "trial that it measures",
				       t->index);
		if (points[i].checkpoint == DP_CHECKPOINT_FINAL && t->status != DP_TRIAL_OK)
			return dp_fail(err, DP_E_INVALID,
				       "trial %u is %s: only a result can be measured "
				       "again",
				       t->number, dp_trial_status_text(t->status));
	}
	return DP_OK;
}

int request_measure(struct request *r, json_t **ok, struct dp_err *err)
{
	const json_t *pairs = json_object_get(r->json, "points"),
		     *given = json_object_get(r->json, "parameters");
	const struct dp_study_state *s = r->study->state;
	struct reevaluation_request wish = { .n_points = json_array_size(pairs),
					     .client_id = r->client_id,
					     .requested_by = r->requested_by,
					     .summary = request_summary_json };
	struct dp_result_id *points = NULL;
	struct dp_transition_events none;
	double x[DP_PARAMS_MAX];
	int64_t runs = dp_json_int(r->json, "runs", 0);
	int code;

	(void)ok;
	if (runs < 1 || runs > DP_REEVALUATE_RUNS_MAX)
		return dp_fail(err, DP_E_INVALID, "runs must be a whole number from 1 to %d",
			       DP_REEVALUATE_RUNS_MAX);
	wish.runs = (uint32_t)runs;
	code = study_check_not_deleted(r->study, err);
	if (code == DP_OK) /* refuse before computing anything */
		code = dp_policy_reevaluate(s, &none, err);
	if (code != DP_OK)
		return code;
	if (pairs && given)
		return dp_fail(err, DP_E_PROTOCOL,
			       "either 'points' or 'parameters' can be measured");
	if (pairs && wish.n_points == 0)
		return dp_fail(err, DP_E_INVALID, "'points' names no point");
	if (pairs) {
		wish.points = points = dp_calloc(wish.n_points, sizeof *points);
		code = reevaluate_parse_points(s, pairs, points, err);
	} else if (given) {
		wish.x = x;
		code = dp_space_from_json(s->spec, given, x, err);
	}
	if (code == DP_OK) {
		r->replies_later = true; /* the reply follows when everything is recorded */
		reevaluation_submit(r->study, &wish);
	}
	free(points);
	return code;
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
