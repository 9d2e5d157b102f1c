/* cmd-watch.c - `watch`: shows a study live. */
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ui/follow_study.h"
#include "ctl/ctl_output.h"
#include "ctl/client/reconnect.h"
#include "ctl/study_status.h"

#include <jansson.h>
#include <stdlib.h>

enum {
	POLL_MS = 20000
};

/* Prints the status as a JSON line after each change. */
static int watch_print_json_lines(struct ctl *ctl, const char *study,
				  struct ctl_reconnect *reconnect, json_t **summary,
				  struct dp_err *err)
{
	json_t *status = NULL, *next;
	int64_t seen = -1, version;
	int code = ctl_call_study(ctl, "status", study, &status, err);

	if (code == DP_OK)
		ctl_reconnect_enable(ctl, reconnect);
	while (code == DP_OK) {
		const json_t *s = json_object_get(status, "study");

		version = dp_json_int(s, "version", 0);
		if (version != seen)
			ctl_print_json_line(ctl, status);
		seen = version;
		code = ctl_flush(ctl, err);
		if (code != DP_OK || ctl_study_has_ended(s) || ctl->out_closed)
			break;
		code = ctl_interrupted ? dp_fail(err, DP_E_INTERRUPTED, "interrupted")
				       : ctl_call_changes(ctl, dp_json_str(s, "name", study),
							  version, POLL_MS, &next, err);
		if (code == DP_OK) {
			json_decref(status);
			status = next;
		}
	}
	*summary = json_incref(json_object_get(status, "study"));
	json_decref(status);
	return code;
}

static int cmd_watch_run(struct ctl *ctl, struct dp_err *err)
{
	enum ctl_follow_result how = CTL_FOLLOW_ENDED;
	struct ctl_reconnect reconnect;
	json_t *summary = NULL;
	int code = ctl_reconnect_parse_option(ctl, &reconnect, err);

	if (code != DP_OK)
		return code;
	ctl_catch_signals();
	if (ctl->format == CTL_TABLE)
		code = ctl_follow_study(ctl, ctl->argv[0], ctl->out, &reconnect, &how, &summary,
					err);
	else
		code = watch_print_json_lines(ctl, ctl->argv[0], &reconnect, &summary, err);
	if (code == DP_E_INTERRUPTED) {
		ctl_print_message(ctl, "no longer watching; the study goes on");
		ctl->error_reported = true;
	}
	if (code == DP_OK && how == CTL_FOLLOW_ENDED && ctl_study_has_ended(summary)) {
		code = ctl_study_check_finished(summary, err);
		ctl->error_reported = ctl->format != CTL_TABLE; /* the last line has the error */
	}
	json_decref(summary);
	return code;
}

static const struct ctl_option options[] = {
	CTL_PATIENCE_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_watch = {
	.name = "watch",
	.summary = "follow a study live",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(JSONL),
	.options = options,
	.help = "On a terminal: a view that is redrawn in place and fits it, however small: "
		"state, progress and the time left, hypervolume (of observed means, and with the "
		"noise taken out once that is known), running trials, the last results and "
		"failures; where there is room, the front drawn in characters. Elsewhere: one "
		"line for each ended trial and each change of state. With -o json: the object of "
		"'status -o json' as one line for each change.\n\n"
		"q or Ctrl-C leave the view; the study goes on. The command ends with the study: "
		"exit status 0 if it finished, 6 if it failed, was stopped or was paused by "
		"failures. A daemon that goes away is waited for, which is told on standard "
		"error; exit status 3 when the patience is at an end.",
	.examples = "dparetoctl watch adult\n"
		    "dparetoctl watch adult >> adult.log",
	.run = cmd_watch_run,
};
