/* study_status.c - reads the state of a study from its JSON status. */
#include "ctl/study_status.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

bool ctl_status_is_durable(const json_t *status)
{
	return !json_object_get(status, "unsaved");
}

int64_t ctl_status_version(const json_t *status)
{
	return ctl_status_is_durable(status)
		       ? dp_json_int(json_object_get(status, "study"), "version", 0)
		       : 0;
}

bool ctl_study_has_ended(const json_t *summary)
{
	const char *state = dp_json_str(summary, "state", "");
	bool idle = dp_json_int(summary, "running", 0) == 0;

	if (strcmp(state, "finished") == 0 || strcmp(state, "failed") == 0)
		return true;
	if (strcmp(state, "stopped") == 0)
		return idle;
	return strcmp(state, "paused") == 0 && idle && dp_json_bool(summary, "by_failures", false);
}

int ctl_study_check_finished(const json_t *summary, struct dp_err *err)
{
	const char *state = dp_json_str(summary, "state", "");
	const char *reason = dp_json_str(summary, "reason", NULL);
	const char *name = dp_json_str(summary, "name", "?");

	if (strcmp(state, "finished") == 0)
		return DP_OK;
	dp_fail(err, DP_E_STUDY, "study '%s' %s%s%s%s", name,
		strcmp(state, "failed") == 0 ? "" : "is ", state, reason ? ": " : "",
		reason ? reason : "");
	if (ctl_study_hides_trials(summary))
		dp_hint(err, "what its trainers said is in the study's folder, which is "
			     "as secret as they are");
	else if (strcmp(state, "stopped") == 0)
		dp_hint(err, "'dparetoctl resume %s' takes it up again", name);
	else if (strcmp(state, "failed") == 0 && dp_json_int(summary, "failed", 0) == 0)
		dp_hint(err,
			"'dparetoctl trials %s' lists where it was tried; other ranges "
			"or another trainer are another study",
			name);
	else
		dp_hint(err,
			"'dparetoctl status %s' names the failures, 'dparetoctl logs %s TRIAL' "
			"shows what the trainer said; then 'dparetoctl retry %s --failed'",
			name, name, name);
	return DP_E_STUDY;
}

bool ctl_trial_has_ended(const json_t *row)
{
	const char *state = dp_json_str(row, "state", "waiting");

	return strcmp(state, "waiting") != 0 && strcmp(state, "running") != 0;
}

bool ctl_study_hides_trials(const json_t *study)
{
	return json_is_null(json_object_get(study, "evaluations"));
}

const json_t *ctl_study_cost_limit(const json_t *summary)
{
	const json_t *cost = json_object_get(summary, "cost");

	return json_is_object(cost) ? cost : json_object_get(summary, "budget");
}

bool ctl_study_progress(const json_t *summary, double *part)
{
	const json_t *cost = ctl_study_cost_limit(summary);
	int64_t ended = dp_json_int(summary, "ended", 0),
		all = dp_json_int(summary, "evaluations", 0);
	double spent, most;

	*part = all > 0 ? fmin((double)ended / (double)all, 1) : 0;
	if (ended >= all || !dp_json_to_real(json_object_get(cost, "spent"), &spent) ||
	    !dp_json_to_real(json_object_get(cost, "most"), &most) || spent / most < *part)
		return false;
	*part = fmin(spent / most, 1);
	return true;
}
