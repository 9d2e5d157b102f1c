/* recommended_point.c - takes one point of a front. */
#include "serve/figures/recommended_point.h"

#include "base/json.h"
#include "base/units.h"
#include "ctl/support/front_filter.h"

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

/* The one point that a rule leaves, in a list; NULL: it leaves none, or cannot be followed,
 * since nothing is known of the noise. */
static json_t *recommended_point_by_rule(const json_t *summary, const json_t *front,
					 const char *rule, const char *limit)
{
	const struct ctl_option rows[] = { { .name = rule }, { .name = "max" } };
	struct ctl_given_option given[] = { { &rows[0], "" }, { &rows[1], limit } };
	struct ctl ctl = { .quiet = true,
			   .given_options = given,
			   .n_given_options = limit ? 2 : 1 };
	json_t *left = json_copy((json_t *)front), *list, *points = NULL;
	struct dp_err ignored;

	/* a list of its own, of the same points */
	json_object_set_new(left, "front", json_copy(json_object_get(front, "front")));
	if (ctl_front_filter_apply(&ctl, left, summary, &ignored) == DP_OK) {
		list = json_object_get(left, "front");
		points = json_array_size(list) == 1 ? json_incref(list) : NULL;
	}
	json_decref(left);
	return points;
}

json_t *recommended_point_find(const json_t *summary, const json_t *front)
{
	static const char *const rules[] = { "one-se", "knee" };
	const char *objective, *rule = rules[0];
	double most = recommended_epsilon_limit(summary, &objective);
	char limit[DP_NAME_MAX + DP_NUM_LEN + 2], number[DP_NUM_LEN];
	json_t *points = NULL;
	bool within = false;

	if (!isnan(most))
		snprintf(limit, sizeof limit, "%s=%s", objective, dp_num_text(most, number));
	for (int wide = isnan(most); wide < 2 && !points; wide++)
		for (size_t i = 0; i < DP_COUNT(rules) && !points; i++) {
			points = recommended_point_by_rule(summary, front, rules[i],
							   wide ? NULL : limit);
			rule = points ? rules[i] : rule;
			within = points && !wide;
		}
	return json_pack("{s:s, s:s?, s:o, s:o}", "rule", rule, "objective", objective, "limit",
			 within ? dp_json_real(most) : json_null(), "front",
			 points ? points : json_array());
}
