/* result_id.c - parses and formats result ids and values of results. */
#include "ctl/ui/result_id.h"

#include "base/json.h"
#include "base/units.h"
#include "journal/journal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int ctl_result_id_parse(const char *text, struct ctl_result_id *out, struct dp_err *err)
{
	size_t n = strcspn(text, "@");
	char trial[24];

	*out = (struct ctl_result_id){ 0 };
	snprintf(trial, sizeof trial, "%.*s", (int)(n < 23 ? n : 23), text);
	if (trial[0] == 'm' && !text[n] && dp_int_parse(trial + 1, &out->trial) &&
	    out->trial >= 0 && out->trial < DP_REEVAL_TRIAL_FIRST) {
		out->trial = dp_trial_number_join(DP_TRIAL_REEVAL, (uint32_t)out->trial);
		return DP_OK;
	}
	if (dp_int_parse(trial, &out->trial) && out->trial >= 0 &&
	    (!text[n] || (dp_int_parse(text + n + 1, &out->checkpoint) && out->checkpoint > 0)))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE,
		       "'%s' is not the number of a trial, like 7, of a waypoint of "
		       "one, like 7@4, or of a trial that measures again, like m3",
		       text);
}

json_t *ctl_result_id_checkpoint_json(const struct ctl_result_id *p)
{
	return p->checkpoint ? json_integer(p->checkpoint) : NULL;
}

char *ctl_format_result_id(const json_t *object, char out[CTL_TEXT_LEN])
{
	int64_t trial = dp_json_int(object, "trial", -1);
	bool is_reeval = trial >= 0 && dp_trial_number_kind((uint32_t)trial) == DP_TRIAL_REEVAL;
	int n = snprintf(out, CTL_TEXT_LEN, "%s%" PRId64, is_reeval ? "m" : "",
			 is_reeval ? (int64_t)dp_trial_number_index((uint32_t)trial) : trial);

	if (json_is_integer(json_object_get(object, "at")))
		snprintf(out + n, CTL_TEXT_LEN - (size_t)n, "@%" PRId64,
			 dp_json_int(object, "at", 0));
	return out;
}

static bool result_objective_is_privacy(const json_t *object, const char *name)
{
	const json_t *spread = json_object_get(object, "spread");

	return json_is_object(spread) && !json_object_get(spread, name);
}

char *ctl_format_objective(const json_t *object, const char *name, const json_t *value,
			   char out[CTL_TEXT_LEN])
{
	return result_objective_is_privacy(object, name) ? ctl_format_upper_bound(value, out)
							 : ctl_format_value(value, out);
}

void ctl_format_objectives(const json_t *object, const json_t *values, struct dp_buf *out)
{
	char text[CTL_TEXT_LEN];
	const char *name, *sep = "";
	json_t *value;

	json_object_foreach ((json_t *)values, name, value) {
		dp_buf_printf(out, "%s%s=%s", sep, name,
			      ctl_format_objective(object, name, value, text));
		sep = " ";
	}
}

double ctl_interval_half_width(const json_t *point, const char *name, bool denoised)
{
	const json_t *values = json_object_get(point, denoised ? "denoised" : "objectives"),
		     *spread = json_object_get(json_object_get(point, "spread"), name),
		     *low = json_object_get(spread, "low"), *high = json_object_get(spread, "high");
	double value, from, to;

	if (result_objective_is_privacy(point, name))
		return NAN;
	if (denoised) {
		low = json_object_get(json_object_get(point, "denoised_low"), name);
		high = json_object_get(json_object_get(point, "denoised_high"), name);
	}
	if (!dp_json_to_real(json_object_get(values, name), &value) ||
	    !dp_json_to_real(low, &from) || !dp_json_to_real(high, &to))
		return NAN;
	return fmax(value - from, to - value);
}

/* Counts the training runs of these points; 0 if there are no checkpoints. */
static size_t count_training_runs(const json_t *points)
{
	json_t *seen = json_object();
	const json_t *point;
	bool walked = false;
	size_t i, n;

	json_array_foreach (points, i, point) {
		char trial[24];

		walked |= json_is_integer(json_object_get(point, "at"));
		snprintf(trial, sizeof trial, "%" PRId64, dp_json_int(point, "trial", -1));
		json_object_set_new(seen, trial, json_true());
	}
	n = walked ? json_object_size(seen) : 0;
	json_decref(seen);
	return n;
}

void ctl_format_point_count(const json_t *points, struct dp_buf *out)
{
	size_t n = json_array_size(points), trainings = count_training_runs(points);
	char text[DP_PLURAL_LEN];

	dp_buf_puts(out, dp_plural_text(n, "point", text));
	if (trainings)
		dp_buf_printf(out, " of %s", dp_plural_text(trainings, "training", text));
}
