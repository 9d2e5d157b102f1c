/* choice.c - asks the front for the point to take. */
#include "serve/choice.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>

#define MEANINGLESS                                                                      \
	20.0 /* an epsilon above it protects nobody; the report's limit, too */

/* The highest epsilon that is worth taking; NaN: the study has none. */
static double choice_limit(const json_t *summary, const char **objective)
{
	double anti;

	*objective =
		json_string_value(json_array_get(json_object_get(summary, "privacy"), 0));
	if (!*objective ||
	    !dp_json_to_real(
		    json_object_get(json_object_get(summary, "anti_ideal"), *objective),
		    &anti))
		return NAN;
	return fmin(anti, MEANINGLESS);
}

/* The one point that a rule leaves; NULL: it leaves none, or cannot be followed. */
static json_t *choice_by(struct asking *k, const char *study, const char *rule,
			 const char *limit)
{
	struct ask ask = { .command = "front", .arg = { study } };
	struct dp_err none;
	json_t *front, *points;

	ask.option[ask.noptions++] = (struct ask_option){ rule, "" };
	if (limit)
		ask.option[ask.noptions++] = (struct ask_option){ "max", limit };
	if (ask_value(k, &ask, &front, &none) != DP_OK)
		return NULL;
	points = json_incref(json_object_get(front, "front"));
	json_decref(front);
	if (json_array_size(points) == 1)
		return points;
	json_decref(points);
	return NULL;
}

int choice_find(struct asking *k, const char *study, const json_t *summary, json_t **out,
		struct dp_err *err)
{
	static const char *const rules[] = { "one-se", "knee" };
	const char *objective, *rule = rules[0];
	double most = choice_limit(summary, &objective);
	char limit[DP_NAME_MAX + DP_NUM_LEN + 2], number[DP_NUM_LEN];
	json_t *points = NULL;
	bool within = false;

	if (!isnan(most))
		snprintf(limit, sizeof limit, "%s=%s", objective,
			 dp_num_text(most, number));
	for (int wide = isnan(most); wide < 2 && !points; wide++)
		for (size_t i = 0; i < DP_COUNT(rules) && !points; i++) {
			points = choice_by(k, study, rules[i], wide ? NULL : limit);
			rule = points ? rules[i] : rule;
			within = points && !wide;
		}
	*out = json_pack("{s:s, s:s?, s:o, s:o}", "rule", rule, "objective", objective,
			 "limit", within ? dp_json_real(most) : json_null(), "front",
			 points ? points : json_array());
	return *out ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for a choice");
}
