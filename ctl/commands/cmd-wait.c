/* cmd-wait.c - `wait`: waits until a study reaches a state. */
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/client/reconnect.h"
#include "ctl/study_status.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	POLL_MS = 20000
};

struct wait_condition {
	enum {
		WAIT_FINISHED,
		WAIT_ENDED_TRIALS,
		WAIT_HYPERVOLUME
	} kind;
	double bound;
	const char *text;
};

static int wait_parse_condition(const char *text, struct wait_condition *out, struct dp_err *err)
{
	out->text = text;
	out->kind = WAIT_FINISHED;
	if (strcmp(text, "finished") == 0)
		return DP_OK;
	if (strncmp(text, "ended=", 6) == 0 && dp_num_parse(text + 6, &out->bound) &&
	    isfinite(out->bound)) {
		out->kind = WAIT_ENDED_TRIALS;
		return DP_OK;
	}
	if (strncmp(text, "hypervolume=", 12) == 0 && dp_num_parse(text + 12, &out->bound) &&
	    isfinite(out->bound)) {
		out->kind = WAIT_HYPERVOLUME;
		return DP_OK;
	}
	return dp_fail(err, DP_E_USAGE,
		       "'%s' is not a condition; --for takes finished, ended=N or hypervolume=X",
		       text);
}

static bool wait_condition_met(const struct wait_condition *c, const json_t *summary)
{
	double volume;

	switch (c->kind) {
	case WAIT_ENDED_TRIALS:
		return (double)dp_json_int(summary, "ended", 0) >= c->bound;
	case WAIT_HYPERVOLUME:
		return dp_json_to_real(json_object_get(summary, "hypervolume"), &volume) &&
		       volume >= c->bound;
	default:
		return strcmp(dp_json_str(summary, "state", ""), "finished") == 0;
	}
}

static int wait_until_condition(struct ctl *ctl, const struct wait_condition *c, double seconds,
				struct ctl_reconnect *reconnect, json_t **status,
				struct dp_err *err)
{
	double patient = reconnect->max_seconds;
	int64_t start = dp_monotonic_us();
	int code = ctl_call_study(ctl, "status", ctl->argv[0], status, err);

	if (code == DP_OK)
		ctl_reconnect_enable(ctl, reconnect);
	while (code == DP_OK) {
		const json_t *summary = json_object_get(*status, "study");
		const char *name = dp_json_str(summary, "name", "?");
		double left = seconds - (double)(dp_monotonic_us() - start) / 1e6;
		int poll_ms = left * 1000 < POLL_MS ? (int)ceil(left * 1000) : POLL_MS;
		char text[DP_NUM_LEN];
		bool saved = ctl_status_is_durable(*status);
		json_t *next;

		if (saved && wait_condition_met(c, summary))
			return DP_OK;
		if (saved && ctl_study_has_ended(summary)) {
			code = ctl_study_check_finished(summary, err);
			return code != DP_OK
				       ? code
				       : dp_fail(err, DP_E_STUDY,
						 "study '%s' has finished without reaching %s",
						 name, c->text);
		}
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		if (left <= 0)
			return dp_fail(err, DP_E_TIMEOUT, "study '%s' did not reach %s within %s",
				       name, c->text, dp_duration_text(seconds, text));
		reconnect->max_seconds = left < patient ? left : patient;
		code = ctl_call_changes(ctl, name, ctl_status_version(*status), poll_ms, &next,
					err);
		if (code == DP_OK) {
			json_decref(*status);
			*status = next;
		}
		if (code == DP_E_NO_DAEMON && left <= patient)
			code = DP_OK; /* timed out: the next iteration reports it */
	}
	return code;
}

static int cmd_wait_run(struct ctl *ctl, struct dp_err *err)
{
	const char *text = ctl_get_option(ctl, "for"), *limit = ctl_get_option(ctl, "timeout");
	struct ctl_reconnect reconnect;
	struct wait_condition c = { 0 };
	double seconds = INFINITY;
	json_t *status = NULL;
	int code = wait_parse_condition(text ? text : "finished", &c, err);

	if (code != DP_OK)
		return code;
	if (limit && !dp_duration_parse(limit, &seconds))
		return dp_fail(err, DP_E_USAGE,
			       "'%s' is not a duration; give one like 90s, 30m or 2h30m", limit);
	code = ctl_reconnect_parse_option(ctl, &reconnect, err);
	if (code != DP_OK)
		return code;
	ctl_catch_signals();
	code = wait_until_condition(ctl, &c, seconds, &reconnect, &status, err);
	if (code == DP_OK && ctl->format == CTL_JSON)
		ctl_print_json(ctl, json_object_get(status, "study"));
	json_decref(status);
	return code;
}

static const struct ctl_option options[] = {
	{ "for", 0, "CONDITION",
	  "finished (the default), ended=N (so many trials have ended) or hypervolume=X" },
	{ "timeout", 0, "DURATION", "give up after this time: 90s, 30m, 2h30m" },
	CTL_PATIENCE_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_wait = {
	.name = "wait",
	.summary = "wait until a study has finished, or got so far",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Exit status: 0 when the condition holds; 6 when the study has ended without it "
		"(failed, stopped, paused by failures); 7 when the time is up; 5 when there is "
		"no such study, or it was deleted meanwhile; 3 when there is no daemon. A study "
		"that somebody paused is waited for, and so is a daemon that goes away "
		"meanwhile, which is told on standard error.",
	.examples = "dparetoctl wait adult && dparetoctl front adult\n"
		    "dparetoctl wait adult --for ended=50 --timeout 2h",
	.run = cmd_wait_run,
};
