/* requests_front.c - the verb front: a study's best trade-offs, as observed or by models.
 */
#include "daemon/api/requests.h"

#include "base/json.h"
#include "daemon/studies/proposals/proposal_job.h"
#include "daemon/studies/private_selection.h"
#include "daemon/studies/study_object.h"
#include "state/state_json.h"

enum {
	REPLY_POINTS_MAX = 250 /* of one reply: a few milliseconds */
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

/* Is the point that is missing one of a training that is being made again? */
static bool point_is_retried(const struct dp_study_state *s, const json_t *pair)
{
	struct dp_trial *t;
	struct dp_err err;

	return dp_policy_find_trial(s, json_integer_value(json_array_get(pair, 0)), &t, &err) ==
		       DP_OK &&
	       t->nattempts > 0 && t->status < DP_TRIAL_OK;
}

/* A point, and the means of what its trainer told if that is asked for. */
static int front_append_point(struct dp_public_state view, struct dp_result_id p, bool metrics,
			      json_t *points, struct dp_err *err)
{
	json_t *point = dp_result_json(view, p);
	bool whole = !metrics ||
		     json_object_set_new(point, "metrics", dp_result_metrics_json(view, p)) == 0;

	if (json_array_append_new(points, point) != 0 || !whole)
		return dp_fail(err, DP_E_NOMEM, "no memory for the points");
	return DP_OK;
}

/* These points: what "more" of the first page listed. What is on a front once stays what
 * it is, so that all pages together are the front of one moment; but for waypoints of a
 * training that was retried meanwhile, which are left out. */
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
		int code = request_parse_point(view.state, pair, &p, err);

		if (code == DP_E_NOT_FOUND && point_is_retried(view.state, pair))
			continue;
		if (code == DP_OK)
			code = front_append_point(view, p, metrics, points, err);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

/* The front of the observed means, or its first part. */
static json_t *request_front_json(struct study *study)
{
	struct dp_public_state view = study_public_view(study);
	json_t *o = dp_state_result_page_json(view, REPLY_POINTS_MAX);

	if (view.hides_search)
		json_object_set_new(o, "selection", private_selection_json(study));
	return o;
}

int request_front(struct request *r, json_t **ok, struct dp_err *err)
{
	const json_t *points = json_object_get(r->json, "points");
	struct dp_public_state view = study_public_view(r->study);

	if (points)
		return front_reply_points(r, points, ok, err);
	if (view.hides_search) /* models would be of all that is hidden */
		return request_reply_selection(r, request_front_json, ok, err);
	if (!dp_json_bool(r->json, "denoised", dp_study_uses_smoothed_front(view.state->spec))) {
		*ok = request_front_json(r->study);
		return DP_OK;
	}
	*ok = smoothed_front_json(r->study);
	if (*ok)
		return DP_OK;
	r->replies_later = true; /* model_query_front() answers */
	return model_query_front(r->study, r->client_id, err);
}
