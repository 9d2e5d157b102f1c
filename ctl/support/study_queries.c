/* study_queries.c - queries about a study as JSON, for commands and dpareto-serve. */
#include "ctl/support/study_queries.h"

#include "base/json.h"
#include "base/units.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/front_filter.h"
#include "ctl/ui/result_id.h"
#include "ctl/ui/result_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	RECOMMEND_TIMEOUT_MS = 600000
};

static int query_summary(struct ctl *ctl, const char *study, json_t **summary, struct dp_err *err)
{
	json_t *status;
	int code = ctl_call_study(ctl, "status", study, &status, err);

	if (code != DP_OK)
		return code;
	*summary = json_incref(json_object_get(status, "study"));
	json_decref(status);
	return DP_OK;
}

int ctl_query_front(struct ctl *ctl, const char *study, json_t **front, json_t **all,
		    struct dp_err *err)
{
	bool denoised = ctl_has_option(ctl, "denoised"), observed = ctl_has_option(ctl, "observed");
	json_t *summary = NULL, *metrics, *before, *point;
	size_t i;
	int code;

	if (denoised && observed)
		return dp_fail(err, DP_E_USAGE,
			       "--denoised and --observed ask for two "
			       "different fronts; give one of them");
	code = ctl_call_front(ctl, study,
			      denoised   ? "denoised"
			      : observed ? "observed"
					 : NULL,
			      front, err);
	if (code != DP_OK)
		return code;
	before = json_incref(json_object_get(*front, "front"));
	if (ctl_front_filter_requested(ctl)) {
		code = query_summary(ctl, study, &summary, err);
		if (code == DP_OK)
			code = ctl_front_filter_apply(ctl, *front, summary, err);
		json_decref(summary);
	}
	metrics = ctl_front_filter_metrics(ctl, *front);
	if (json_array_size(metrics) == 0)
		json_array_foreach (json_object_get(*front, "front"), i, point)
			json_object_del(point, "metrics");
	json_decref(metrics);
	if (code != DP_OK) {
		json_decref(*front);
	} else if (all) {
		*all = before;
		return DP_OK;
	}
	json_decref(before);
	return code;
}

static int fail_invalid_level(const char *text, struct dp_err *err)
{
	dp_fail(err, DP_E_USAGE,
		"--at takes NAME=NUMBER, as in --at epsilon=1 or --at epsilon=0.1,1,10, not '%s'",
		text);
	return dp_hint(err, "NAME is an objective, or the metric of a constraint");
}

/* Adds an object for each number in NAME=NUMBER,NUMBER,... */
static int parse_level_list(json_t *levels, const char *text, struct dp_err *err)
{
	size_t n = strcspn(text, "=");
	const char *at = text + n;
	char name[DP_NAME_MAX + 1], number[DP_NUM_LEN];

	if (!*at || n == 0 || n > DP_NAME_MAX)
		return fail_invalid_level(text, err);
	snprintf(name, sizeof name, "%.*s", (int)n, text);
	do {
		size_t len = strcspn(++at, ",");
		json_t *one;
		double x;

		snprintf(number, sizeof number, "%.*s", (int)len, at);
		if (len >= sizeof number || !dp_num_parse(number, &x) || !isfinite(x))
			return fail_invalid_level(text, err);
		one = json_pack("{s:f}", name, x);
		if (!one)
			return fail_invalid_level(text, err);
		json_array_append_new(levels, one);
		at += len;
	} while (*at);
	return DP_OK;
}

int ctl_parse_levels(const struct ctl *ctl, const char *study, json_t **levels, struct dp_err *err)
{
	int code = DP_OK;

	*levels = json_array();
	for (size_t i = 0; i < ctl->n_given_options && code == DP_OK; i++)
		if (strcmp(ctl->given_options[i].option->name, "at") == 0)
			code = parse_level_list(*levels, ctl->given_options[i].value, err);
	if (code == DP_OK && json_array_size(*levels) == 0) {
		code = dp_fail(err, DP_E_USAGE,
			       "--at is needed: which point of the front is meant");
		dp_hint(err, "for example: dparetoctl recommend %s --at epsilon=1", study);
	}
	if (code != DP_OK)
		json_decref(*levels);
	return code;
}

int ctl_query_recommendations(struct ctl *ctl, const char *study, json_t *levels, json_t **answer,
			      struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack_fields(&fields, err, "{s:s, s:O}", "study", study, "levels", levels);

	return code == DP_OK ? ctl_call_timeout(ctl, RECOMMEND_TIMEOUT_MS, "recommend", fields,
						answer, err)
			     : code;
}

int ctl_recommendations_error(const json_t *answer, struct dp_err *err)
{
	const json_t *found;
	size_t i;

	json_array_foreach (json_object_get(answer, "recommendations"), i, found)
		if (json_object_get(found, "error")) {
			dp_json_to_error(json_object_get(found, "error"), err);
			return err->code;
		}
	return DP_OK;
}

/* Returns the documented object, or {"at":...,"error":...}. */
static json_t *answered_level_json(const char *study, json_t *found)
{
	json_t *o;

	if (json_object_get(found, "error"))
		return json_incref(found);
	o = json_pack("{s:i, s:s}", "version", 1, "study", study);
	json_object_update(o, found);
	if (!json_object_get(o, "verified"))
		json_object_set_new(o, "verified", json_null());
	return o;
}

json_t *ctl_recommendations_json(const json_t *answer, const char *study)
{
	const json_t *list = json_object_get(answer, "recommendations");
	json_t *all, *found;
	size_t i;

	study = dp_json_str(answer, "study", study);
	if (json_array_size(list) == 1)
		return answered_level_json(study, json_array_get(list, 0));
	all = json_array();
	json_array_foreach (list, i, found)
		json_array_append_new(all, answered_level_json(study, found));
	return json_pack("{s:i, s:s, s:o}", "version", 1, "study", study, "recommendations", all);
}

/* Members of a point chosen by models: smoothed values and their 95 % intervals. */
static const char *const by_models[] = { "denoised", "denoised_low", "denoised_high" };

int ctl_fetch_smoothed_front(struct ctl *ctl, const json_t *summary, json_t **marks,
			     struct dp_err *err)
{
	json_t *front, *point;
	size_t i;
	int code;

	*marks = NULL;
	if (strcmp(dp_json_str(summary, "front_of", ""), "denoised") != 0)
		return DP_OK;
	code = ctl_call_front(ctl, dp_json_str(summary, "name", ""), NULL, &front, err);
	if (code != DP_OK)
		return code;
	*marks = json_object();
	json_array_foreach (json_object_get(front, "front"), i, point) {
		char name[CTL_TEXT_LEN];

		json_object_set(*marks, ctl_format_result_id(point, name), point);
	}
	json_decref(front);
	return DP_OK;
}

int ctl_query_summary(struct ctl *ctl, const char *study, json_t **summary, json_t **marks,
		      struct dp_err *err)
{
	int code = query_summary(ctl, study, summary, err);

	if (code != DP_OK)
		return code;
	code = ctl_fetch_smoothed_front(ctl, *summary, marks, err);
	if (code != DP_OK)
		json_decref(*summary);
	return code;
}

void ctl_trial_set_on_front(json_t *trial, const json_t *marks)
{
	char name[CTL_TEXT_LEN];
	json_t *point;

	if (!marks)
		return;
	point = json_object_get(marks, ctl_format_result_id(trial, name));
	json_object_set_new(trial, "on_front", json_boolean(point != NULL));
	for (size_t i = 0; i < DP_COUNT(by_models); i++) {
		json_t *values = json_object_get(point, by_models[i]);

		json_object_set_new(trial, by_models[i],
				    values ? json_incref(values) : json_null());
	}
}

int ctl_query_trial(struct ctl *ctl, const char *study, const char *name, json_t **trial,
		    struct dp_err *err)
{
	json_t *fields, *ok, *summary, *marks;
	struct ctl_result_id id;
	int code = ctl_result_id_parse(name, &id, err);

	if (code == DP_OK)
		code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:o*}", "study", study, "trial",
				       (json_int_t)id.trial, "at",
				       ctl_result_id_checkpoint_json(&id));
	if (code == DP_OK)
		code = ctl_call(ctl, "trial", fields, &ok, err);
	if (code != DP_OK)
		return code;
	*trial = json_incref(json_object_get(ok, "trial"));
	json_decref(ok);
	code = ctl_query_summary(ctl, study, &summary, &marks, err);
	if (code != DP_OK) {
		json_decref(*trial);
		return code;
	}
	ctl_trial_set_on_front(*trial, marks);
	json_decref(marks);
	json_decref(summary);
	return DP_OK;
}
