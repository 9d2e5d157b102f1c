/* requests_front.c - the observed and smoothed fronts, proposals and recommendations. */
#include "daemon/api/requests.h"

#include "base/json.h"
#include "daemon/studies/private_selection.h"
#include "daemon/studies/proposals/proposals.h"
#include "daemon/studies/smoothed_front.h"
#include "optimize/propose/proposer.h"
#include "state/state_json.h"

enum {
	REPLY_POINTS_MAX = 250 /* in one reply: a few milliseconds */
};

int request_parse_point(const struct dp_study_state *s, const json_t *pair, struct dp_result_id *p,
			struct dp_err *err)
{
	const json_t *number = json_array_get(pair, 0), *at = json_array_get(pair, 1);
	struct dp_trial *t;
	int code;

	if (json_array_size(pair) != 2 || !json_is_integer(number) ||
	    !(json_is_null(at) || json_is_integer(at)))
		return dp_fail(err, DP_E_PROTOCOL,
			       "each of 'points' must be a pair of a trial and where on "
			       "its path, like [7, 4], or [7, null] for its own result");
	code = dp_policy_find_trial(s, json_integer_value(number), &t, err);
	if (code != DP_OK)
		return code;
	*p = (struct dp_result_id){ t->number, DP_CHECKPOINT_FINAL };
	return json_is_null(at) ? DP_OK
				: dp_policy_find_checkpoint(s, t, json_integer_value(at), p, err);
}

/* True if the missing point belongs to a run that is being repeated. */
static bool point_is_retried(const struct dp_study_state *s, const json_t *pair)
{
	struct dp_trial *t;
	struct dp_err err;

	return dp_policy_find_trial(s, json_integer_value(json_array_get(pair, 0)), &t, &err) ==
		       DP_OK &&
	       t->nattempts > 0 && t->status < DP_TRIAL_OK;
}

/* Answers with the points that "more" of the first page listed. A point of a front does not change,
 * so all pages show the front of one moment; except for checkpoints of a run that was repeated
 * meanwhile, which are omitted. */
static int front_reply_points(struct request *r, const json_t *pairs, json_t **ok,
			      struct dp_err *err)
{
	struct dp_public_state view = study_public_view(r->study);
	bool metrics = dp_json_bool(r->json, "metrics", false);
	json_t *points = json_array();
	const json_t *pair;
	size_t i;

	*ok = json_pack("{s:o}", "front", points);
	if (json_array_size(pairs) > REPLY_POINTS_MAX)
		return dp_fail(err, DP_E_LIMIT, "at most %d points can be asked for",
			       REPLY_POINTS_MAX);
	json_array_foreach (pairs, i, pair) {
		struct dp_result_id p;
		json_t *point;
		int code = request_parse_point(view.state, pair, &p, err);

		if (code == DP_E_NOT_FOUND && point_is_retried(view.state, pair))
			continue;
		if (code != DP_OK)
			return code;
		point = dp_result_json(view, p);
		if (metrics)
			json_object_set_new(point, "metrics", dp_result_metrics_json(view, p));
		json_array_append_new(points, point);
	}
	return DP_OK;
}

/* The observed front, or its first part. */
static json_t *request_front_json(struct study *study)
{
	struct dp_public_state view = study_public_view(study);
	json_t *o = dp_state_result_page_json(view, REPLY_POINTS_MAX);

	if (dp_state_is_private_selection(study->state))
		json_object_set_new(o, "selection", private_selection_json(study));
	return o;
}

int request_front(struct request *r, json_t **ok, struct dp_err *err)
{
	const json_t *points = json_object_get(r->json, "points");
	struct dp_public_state view = study_public_view(r->study);

	if (points)
		return front_reply_points(r, points, ok, err);
	if (view.hides_search) { /* models would reveal hidden results */
		request_reply_selection(r, request_front_json, ok);
		return DP_OK;
	}
	if (!dp_json_bool(r->json, "denoised", dp_study_uses_smoothed_front(view.state->spec))) {
		*ok = request_front_json(r->study);
		return DP_OK;
	}
	*ok = smoothed_front_json(r->study);
	if (*ok)
		return DP_OK;
	r->replies_later = true;
	model_query_front(r->study, r->client_id);
	return DP_OK;
}

int request_propose(struct request *r, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = r->study->state;

	(void)ok;
	if (dp_state_is_private_selection(s))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: its points are "
			       "drawn in secret",
			       s->spec->name);
	if (s->ntrials >= dp_propose_max_trials(s->spec))
		return dp_fail(err, DP_E_LIMIT, "every point of study '%s' was proposed",
			       s->spec->name);
	r->replies_later = true;
	model_query_next_point(r->study, r->client_id);
	return DP_OK;
}

int request_recommend(struct request *r, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = r->study->state;
	const json_t *levels = json_object_get(r->json, "levels");

	(void)ok;
	if (dp_state_is_private_selection(s)) /* models would reveal hidden results */
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: it publishes one "
			       "setting, and nothing can be recommended beside it",
			       s->spec->name);
	if (!levels)
		return dp_fail(err, DP_E_PROTOCOL, "'recommend' needs 'levels'");
	r->replies_later = true;
	return model_query_recommend(r->study, r->client_id, levels, err);
}
