/* recommended_point.c - takes one point of a front. */
#include "serve/figures/recommended_point.h"

#include "base/json.h"
#include "base/units.h"
#include "serve/data/command_runner.h"

#include <math.h>
#include <stdio.h>

/* An epsilon above it protects nobody; it is the report's limit, too. */
#define MAX_MEANINGFUL_EPSILON 20.0

/* The highest epsilon that is worth taking; NaN: the study has none. */
static double recommended_epsilon_limit(const json_t *summary, const char **objective)
{
	double anti;

	*objective = json_string_value(json_array_get(json_object_get(summary, "privacy"), 0));
	if (!*objective ||
	    !dp_json_to_real(json_object_get(json_object_get(summary, "anti_ideal"), *objective),
			     &anti))
		return NAN;
	return fmin(anti, MAX_MEANINGFUL_EPSILON);
}

/* The one point that a rule leaves, in a list; *points NULL: it leaves none, or cannot be
 * followed, since nothing is known of the noise. */
static int recommended_point_by_rule(const json_t *summary, const json_t *front, const char *rule,
				     const char *limit, json_t **points, struct dp_err *err)
{
	struct command_line ask = { .command = "front" };
	json_t *left = json_copy((json_t *)front), *list;
	int code;

	*points = NULL;
	/* a list of its own, of the same points */
	if (!left ||
	    json_object_set_new(left, "front", json_copy(json_object_get(front, "front"))) != 0) {
		json_decref(left);
		return dp_fail(err, DP_E_NOMEM, "no memory for a choice");
	}
	ask.options[ask.n_options++] = (struct command_option){ rule, "" };
	if (limit)
		ask.options[ask.n_options++] = (struct command_option){ "max", limit };
	code = command_line_filter_front(&ask, left, summary, err);
	list = json_object_get(left, "front");
	if (code == DP_OK && json_array_size(list) == 1)
		*points = json_incref(list);
	json_decref(left);
	return code == DP_E_NOMEM ? code : DP_OK;
}

int recommended_point_find(const json_t *summary, const json_t *front, json_t **out,
			   struct dp_err *err)
{
	static const char *const rules[] = { "one-se", "knee" };
	const char *objective, *rule = rules[0];
	double most = recommended_epsilon_limit(summary, &objective);
	char limit[DP_NAME_MAX + DP_NUM_LEN + 2], number[DP_NUM_LEN];
	json_t *points = NULL;
	bool within = false;
	int code = DP_OK;

	if (!isnan(most))
		snprintf(limit, sizeof limit, "%s=%s", objective, dp_num_text(most, number));
	for (int wide = isnan(most); wide < 2 && !points; wide++)
		for (size_t i = 0; i < DP_COUNT(rules) && !points; i++) {
			code = recommended_point_by_rule(summary, front, rules[i],
							 wide ? NULL : limit, &points, err);
			if (code != DP_OK)
				return code;
			rule = points ? rules[i] : rule;
			within = points && !wide;
		}
	*out = json_pack("{s:s, s:s?, s:o, s:o}", "rule", rule, "objective", objective, "limit",
			 within ? dp_json_real(most) : json_null(), "front",
			 points ? points : json_array());
	return *out ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for a choice");
}
