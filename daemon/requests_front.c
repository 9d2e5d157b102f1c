/* requests_front.c - the verb front: a study's best trade-offs, as observed or by models.
 */
#include "daemon/requests.h"

#include "base/json.h"
#include "daemon/ask.h"
#include "daemon/selection.h"
#include "daemon/study.h"
#include "journal/view.h"

enum {
	POINTS_MAX = 250 /* of one reply: a few milliseconds */
};

int request_named_point(const struct dp_study_state *s, const json_t *pair, struct dp_point *p,
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
	code = dp_course_trial(s, json_integer_value(number), &t, err);
	if (code != DP_OK)
		return code;
	*p = (struct dp_point){ t->number, DP_OWN };
	return json_is_null(at) ? DP_OK : dp_course_waypoint(s, t, json_integer_value(at), p, err);
}

/* Is the point that is missing one of a training that is being made again? */
static bool is_retried(const struct dp_study_state *s, const json_t *pair)
{
	struct dp_trial *t;
	struct dp_err err;

	return dp_course_trial(s, json_integer_value(json_array_get(pair, 0)), &t, &err) == DP_OK &&
	       t->nattempts > 0 && t->status < DP_TRIAL_OK;
}

/* A point, and the means of what its trainer told if that is asked for. */
static int push_point(const struct dp_study_state *s, struct dp_point p, bool metrics,
		      json_t *points, struct dp_err *err)
{
	json_t *point = dp_view_point(s, p);
	bool whole = !metrics || json_object_set_new(point, "metrics", dp_view_metrics(s, p)) == 0;

	if (json_array_append_new(points, point) != 0 || !whole)
		return dp_fail(err, DP_E_NOMEM, "no memory for the points");
	return DP_OK;
}

/* These points: what "more" of the first page listed. What is on a front once stays what
 * it is, so that all pages together are the front of one moment; but for waypoints of a
 * training that was retried meanwhile, which are left out. */
static int front_points(struct request *r, const json_t *pairs, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = study_shown(r->home);
	bool metrics = dp_json_bool(r->json, "metrics", false);
	json_t *points = json_array();
	const json_t *pair;
	size_t i;

	*ok = json_pack("{s:o}", "front", points);
	if (json_array_size(pairs) > POINTS_MAX)
		return dp_fail(err, DP_E_LIMIT, "at most %d points can be asked for", POINTS_MAX);
	json_array_foreach (pairs, i, pair) {
		struct dp_point p;
		int code = request_named_point(s, pair, &p, err);

		if (code == DP_E_NOT_FOUND && is_retried(s, pair))
			continue;
		if (code == DP_OK)
			code = push_point(s, p, metrics, points, err);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

/* The front of the observed means, or its first part. */
static json_t *request_front_json(struct study *h)
{
	json_t *o = dp_view_result_part(study_shown(h), POINTS_MAX);

	if (o && dp_study_hides(h->state))
		json_object_set_new(o, "selection", selection_json(h));
	return o;
}

int request_front(struct request *r, json_t **ok, struct dp_err *err)
{
	const json_t *points = json_object_get(r->json, "points");
	struct dp_study_state *s = study_shown(r->home);

	if (points)
		return front_points(r, points, ok, err);
	if (dp_study_hides(s)) /* models would be of all that is hidden */
		return request_selection(r, request_front_json, ok, err);
	if (!dp_json_bool(r->json, "denoised", dp_study_denoises(s->spec))) {
		*ok = request_front_json(r->home);
		return DP_OK;
	}
	*ok = ask_front_kept(r->home);
	if (*ok)
		return DP_OK;
	r->later = true; /* ask_front() answers */
	return ask_front(r->home, r->client, err);
}
