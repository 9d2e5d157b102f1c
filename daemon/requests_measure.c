/* requests_measure.c - points that are measured again: asking for them, and looking. */
#include "daemon/measure.h"
#include "daemon/requests.h"

#include "base/json.h"
#include "journal/view.h"

#include <stdlib.h>

enum {
	MEASURES_MAX = 200 /* of one reply */
};

/* The results that [[trial, at], ...] names. */
static int wished_points(const struct dp_study_state *s, const json_t *pairs,
			 struct dp_point *points, struct dp_err *err)
{
	const json_t *pair;
	size_t i;

	json_array_foreach (pairs, i, pair) {
		const struct dp_trial *t;
		int code = request_named_point(s, pair, &points[i], err);

		if (code != DP_OK)
			return code;
		t = dp_study_trial(s, points[i].trial);
		if (dp_is_measuring(t->number))
			return dp_fail(err, DP_E_INVALID,
				       "trial m%u measures a point itself; name the "
				       "trial that it measures",
				       t->number - DP_MEASURING);
		if (points[i].way == DP_OWN && t->status != DP_TRIAL_OK)
			return dp_fail(err, DP_E_INVALID,
				       "trial %u is %s: only a result can be measured "
				       "again",
				       t->number, dp_trial_status_text(t->status));
	}
	return DP_OK;
}

static int wished_runs(const json_t *json, uint32_t *runs, struct dp_err *err)
{
	int64_t n = dp_json_int(json, "runs", 0);

	if (n < 1 || n > DP_MEASURE_RUNS_MAX)
		return dp_fail(err, DP_E_INVALID, "runs must be a whole number from 1 to %d",
			       DP_MEASURE_RUNS_MAX);
	*runs = (uint32_t)n;
	return DP_OK;
}

static int measure_named(struct request *r, const json_t *pairs, struct measure_wish *wish,
			 struct dp_err *err)
{
	size_t n = json_array_size(pairs);
	struct dp_point *points = calloc(n + 1, sizeof *points);
	int code;

	if (n == 0)
		code = dp_fail(err, DP_E_INVALID, "'points' names no point");
	else
		code = points ? wished_points(r->home->state, pairs, points, err)
			      : dp_fail(err, DP_E_NOMEM, "no memory to measure points");
	wish->points = points;
	wish->n = n;
	if (code == DP_OK)
		code = measure_asked(r->home, wish, r->client, err);
	free(points);
	return code;
}

int request_measure(struct request *r, json_t **ok, struct dp_err *err)
{
	const json_t *pairs = json_object_get(r->json, "points"),
		     *given = json_object_get(r->json, "parameters");
	struct dp_asked asked = { .ask = DP_ASK_MEASURE };
	struct measure_wish wish = { .by = r->by };
	struct dp_orders none;
	double x[DP_PARAMS_MAX];
	int code = wished_runs(r->json, &wish.runs, err);

	(void)ok;
	if (code == DP_OK) /* what cannot be asked for is told before anything is found */
		code = request_may_ask(r->home, &asked, &none, err);
	if (code == DP_OK && pairs && given)
		code = dp_fail(err, DP_E_PROTOCOL,
			       "either 'points' or 'parameters' can be measured");
	if (code != DP_OK)
		return code;
	r->later = true; /* the answer comes when all is recorded */
	if (pairs)
		return measure_named(r, pairs, &wish, err);
	if (given) {
		code = dp_space_from_json(r->home->state->spec, given, x, err);
		wish.x = x;
	}
	return code == DP_OK ? measure_asked(r->home, &wish, r->client, err) : code;
}

int request_measures(struct request *r, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = study_shown(r->home);
	int64_t from = dp_json_int(r->json, "from", 0), i;
	json_t *list = json_array();

	(void)err;
	for (i = from < 0 ? 0 : from; i < s->measured.n && i < from + MEASURES_MAX; i++)
		json_array_append_new(list, dp_view_measure(s, (uint32_t)i));
	*ok = json_pack("{s:o, s:o}", "measures", list, "next",
			i < s->measured.n ? json_integer(i) : json_null());
	return DP_OK;
}
